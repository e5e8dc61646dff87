// src/saved/sizing.h: how the numbers of a saved plan come from the sizes of its arguments.
// This folder: what a saved program is, its file, and machine code without a compiler; it needs no device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pardo::saved {

/// A number of a plan: itself, or the value of an expression.
struct Number {
    std::int64_t literal = 0;
    std::int32_t expression = -1;
    std::int64_t in(std::span<const std::int64_t> values) const { return expression < 0 ? literal : values[expression]; }
};

/// A straight program over the sizes of a call, and what has to hold of its values. It is what src/plan's Trace leaves.
struct Sizing {
    enum class Op : std::uint8_t { Literal, Add, Sub, Mul, Div, Mod, Min, Max, Abs };
    struct Step {
        Op op;
        std::int32_t a, b;  // earlier values: the sizes, and behind them the steps
        std::int64_t literal;
    };
    /// a < b, or a == b.
    struct Guard {
        std::int32_t a, b;
        bool less, outcome;
    };
    std::int32_t sizes = 0;
    std::vector<Step> steps;
    std::vector<Guard> guards;

    /// All values; false if a guard does not hold, or a value overflows.
    bool run(std::span<const std::int64_t> given, std::vector<std::int64_t>& values) const;
    /// Whether every step and guard names earlier values: of files.
    bool sound() const;
    std::int32_t values() const { return sizes + static_cast<std::int32_t>(steps.size()); }
};

}  // namespace pardo::saved
