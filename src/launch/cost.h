// src/launch/cost.h: estimates how long a kernel of the user takes, which decides whether other threads are worth it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/ir.h"

namespace pardo::launch {

/// Made once a kernel; says what a launch of it costs from its arguments and extents.
class Cost {
public:
    Cost() = default;
    explicit Cost(const ir::Kernel& kernel);

    struct Estimate {
        double item_ns;  // one item, on one core
        bool guessed;    // the length of a loop depends on data: it is assumed to run a hundred times
    };
    /// `words` and `extents` as in device::Launch.
    Estimate of(std::span<const std::uint64_t> words, std::span<const std::int64_t> extents) const;
    /// Of all lanes loops, roughly.
    std::int64_t lane_rounds() const noexcept { return lane_rounds_; }

private:
    /// Where a value lies, as far as arguments tell: one operation of a formula in postfix order.
    struct Term {
        enum class Kind : std::uint8_t { Constant, Word, Extent, Index, Counter, Operation, Either, Unknown } kind;
        ir::Opcode op{};
        DType dtype = DType::Int64;
        std::uint32_t at = 0;  // the word, the dimension, the loop
        std::int64_t value = 0;
    };
    using Formula = std::vector<Term>;
    struct Loop {
        double own_ns = 0;  // an iteration, without the loops in it
        std::vector<std::uint32_t> inner;
        Formula lower, upper, step;
        bool counted = false;
    };
    struct Between {
        double low, high;
    };
    struct Maker;
    struct Reader;
    Estimate estimated(std::span<const std::uint64_t> words, std::span<const std::int64_t> extents) const;
    std::vector<Loop> loops_;        // the first is the item itself
    std::optional<Estimate> fixed_;  // where no launch has to be asked for the lengths of loops
    std::int64_t lane_rounds_ = 1;
};

}  // namespace pardo::launch
