// src/ir/passes/checks.h: checks of indices: what a launch's scalars prove of them, and kernels without those that are proven.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "ir/ir.h"

namespace pardo::ir {

/// An interval of integers; the type's own limits stand for "unknown". Empty (of code that never runs) if low > high.
struct Range {
    static constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
    std::int64_t low = 0, high = 0;
    bool empty() const noexcept { return low > high; }
    friend bool operator==(const Range&, const Range&) = default;
};

/// One step of a RangeProgram; operands are earlier steps.
struct RangeStep {
    enum class Op : std::uint8_t {
        Constant,  // range
        Input,     // index: of RangeProgram::inputs
        Add,       // of int64: unknown if it may wrap
        Sub,
        Mul,
        FloorDiv,
        Rem,
        Shr,
        And,
        Min,
        Max,
        Abs,
        Hull,        // what is in one or the other
        Meet,        // what is in both
        Fit,         // a if it is within `range`, else `range`
        Signed,      // a, of uint64, as int64
        Wrap,        // index a of an axis of b: plus b where it is negative
        Below,       // what may be less than something in a
        AtMost,      // what may be less or equal
        Above,       // what may be greater than something in a
        AtLeast,     // what may be greater or equal
        Except,      // a without the one value of b, if that is an end of a
        Minuend,     // x, where x + b is in c and x was in a; a if the sum may wrap
        Remnant,     // x, where x - b is in c and x was in a; a if the difference may wrap
        Negated,     // x, where b - x is in c and x was in a; a if the difference may wrap
        Factor,      // x, where x * b is in c and x was in a; a if the product may wrap or b may be less than 1
        Count,       // 0 … a - 1
        Counter,     // of a loop from a to b in steps of c
        Iterations,  // how often such a loop runs: 0 … at most
        Carried,     // what starts in a and grows by b in each of c iterations
        Climbs,      // what starts in a, grows by b while it is in c, as an iteration begins
        Doubles,     // the same, times b
        Shrinks,     // what starts in a and falls towards 0
        IsInside,    // verdict: whether a is always in 0 … b - 1
        IsNatural    // verdict: whether a is never negative
    };
    Op op = Op::Constant;
    std::uint32_t a = 0, b = 0, c = 0;
    Range range;
};

/// What a launch knows: a scalar parameter of an integer dtype, or an extent of the range.
struct RangeInput {
    bool extent = false;
    std::uint32_t index = 0;
    friend bool operator==(const RangeInput&, const RangeInput&) = default;
};

/// Answers for each Wrap and Inside of a kernel whether it is needed in a launch.
struct RangeProgram {
    std::vector<RangeInput> inputs;
    std::vector<RangeStep> steps;
    std::vector<InstrId> checks;          // Wrap and Inside, in the kernel's order
    std::vector<std::uint32_t> verdicts;  // one a check: a step IsInside or IsNatural, or no_verdict
    static constexpr std::uint32_t no_verdict = ~0u;

    /// One a check: true if it holds for all items. `inputs`: their values.
    std::vector<bool> evaluate(std::span<const Range> inputs) const;
};

/// What is known of a kernel's checks before it is launched.
RangeProgram range_program(const Kernel& kernel);

/// The kernel without the checks that hold (one a check of `program`), the others as plain arithmetic.
Kernel resolve_checks(const Kernel& kernel, const RangeProgram& program, const std::vector<bool>& holds);
/// Whether a kernel reports failures.
bool reports(const Kernel& kernel);
/// The kernel without a parameter that nothing uses.
Kernel without_param(const Kernel& kernel, std::size_t param);

}  // namespace pardo::ir
