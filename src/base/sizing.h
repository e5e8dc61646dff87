// src/base/sizing.h: how numbers come from others: a small program without branches, and what has to hold of its values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pardo {

/// What src/plan's Trace leaves of a plan, for other sizes of the same arrays; files of exported programs have it too.
struct Sizing {
    enum class Op : std::uint8_t { Literal, Add, Sub, Mul, Div, Mod, Min, Max, Abs };
    struct Step {
        Op op;
        std::int32_t a, b;  // earlier values: the numbers that are given, and behind them the steps
        std::int64_t literal;
        friend bool operator==(const Step&, const Step&) = default;
    };
    struct Guard {
        std::int32_t a, b;
        bool less, outcome;  // a < b, else a == b
        friend bool operator==(const Guard&, const Guard&) = default;
    };
    std::int32_t sizes = 0;  // how many numbers are given
    std::vector<Step> steps;
    std::vector<Guard> guards;

    /// False where the result overflows, or there is none; a literal leaves it as it is.
    static bool compute(Op op, std::int64_t a, std::int64_t b, std::int64_t& result);
    /// All values for other numbers; false if a guard does not hold, or a value overflows.
    bool run(std::span<const std::int64_t> given, std::vector<std::int64_t>& values) const;
    /// Whether every step and guard names earlier values: of files.
    bool sound() const;
    std::int32_t values() const { return sizes + static_cast<std::int32_t>(steps.size()); }
};

}  // namespace pardo
