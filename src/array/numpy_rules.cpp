// src/array/numpy_rules.cpp: what NumPy does with operands beyond what a row of ops.def says.
#include "array/numpy_rules.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/checked.h"
#include "array/record.h"

namespace pardo::arrays {
namespace {

/// Whether `a op b` holds for numbers of which only the order is known.
bool holds(Op op, int order) {
    switch (op) {
        case Op::equal: return order == 0;
        case Op::not_equal: return order != 0;
        case Op::less: return order < 0;
        case Op::less_equal: return order <= 0;
        case Op::greater: return order > 0;
        default: return order >= 0;
    }
}

/// -1 or 1 for a Python integer below or above all values of an integer dtype, 0 for one that fits.
int out_of_range(const Scalar& s, DType t) {
    const int bits = 8 * itemsize(t);
    const bool is_signed = kind_of(t) == DKind::Signed;
    if (s.dtype == DType::UInt64) {
        const std::uint64_t top = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed ? 1 : 0));
        return s.u > top ? 1 : 0;
    }
    if (s.dtype != DType::Int64) return 0;
    if (!is_signed) return s.i < 0 ? -1 : bits < 64 && s.i > (std::int64_t{1} << bits) - 1 ? 1 : 0;
    if (bits == 64) return 0;
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    return s.i < -half ? -1 : s.i > half - 1 ? 1 : 0;
}

/// `uint8_array < 300`: the answer is known without a look at the array.
std::optional<Array> compare_beyond_range(Op op, std::span<const Operand> operands) {
    const int scalar_at = operands[0].array() ? 1 : 0;
    const Array* x = operands[1 - scalar_at].array();
    const Scalar& s = operands[scalar_at].scalar();
    if (!x || operands[scalar_at].array() || !s.weak || !is_integer(x->dtype())) return {};
    const int beyond = out_of_range(s, x->dtype());
    if (beyond == 0) return {};
    const int order = scalar_at == 1 ? -beyond : beyond;
    std::lock_guard guard(state_of(x->node()->queue.get()).lock);
    return finish(with_scalar_value(make_constant(x->node()->queue, Scalar(holds(op, order)), x->node()->shape)));
}

/// int64 against uint64: no dtype holds both, so the negative numbers are settled apart, as NumPy does.
std::optional<Array> compare_mixed_signs(Op op, std::span<const Operand> operands) {
    const Array *a = operands[0].array(), *b = operands[1].array();
    if (!a || !b || !is_integer(a->dtype()) || !is_integer(b->dtype())) return {};
    const DKind ka = kind_of(a->dtype()), kb = kind_of(b->dtype());
    if (ka == kb || promote(a->dtype(), b->dtype()) != DType::Float64) return {};
    const bool a_signed = ka == DKind::Signed;
    const Array below = less(a_signed ? *a : *b, 0);
    const Array a64 = cast(*a, DType::UInt64), b64 = cast(*b, DType::UInt64);
    const Operand both[] = {a64, b64};
    const Array same_sign = record(op, both);
    const bool answer = holds(op, a_signed ? -1 : 1);  // when the signed one is negative
    if (answer) return logical_or(below, same_sign);
    return logical_and(logical_not(below), same_sign);
}

std::optional<Array> compared(Op op, std::span<const Operand> operands, std::optional<DType>) {
    if (auto known = compare_beyond_range(op, operands)) return known;
    return compare_mixed_signs(op, operands);
}

/// x ** 2 and its like, by a Python number: the cheaper operation that NumPy takes too. `power` itself when there is none.
Op simpler_power(std::span<const Operand> operands, DType loop) {
    if (!operands[0].array() || operands[1].array() || !operands[1].scalar().weak) return Op::power;
    const Scalar& exponent = operands[1].scalar();
    const DKind kind = kind_of(exponent.dtype);
    if (kind == DKind::Complex || kind == DKind::Bool) return Op::power;
    const double value = exponent.as_double();
    if (value == 2.0) return Op::square;
    if (value == 1.0) return Op::positive;
    if (is_integer(loop)) return Op::power;
    if (value == 0.5) return Op::sqrt;
    return value == -1.0 ? Op::reciprocal : Op::power;
}

bool shapes_fit(std::span<const Operand> operands) {
    Shape shape;
    return std::ranges::all_of(operands, [&](const Operand& o) { return !o.array() || broadcast_into(shape, o.array()->shape()); });
}

/// Exponents of integers are checked, numbers here and arrays on the device; then the cheaper row.
Op checked_power(Op op, std::span<const Operand>& operands, DType loop, CheckedOperands& checked) {
    const auto has_elements = [](const Operand& o) { return !o.array() || o.array()->size() > 0; };
    if (kind_of(loop) == DKind::Signed && std::ranges::all_of(operands, has_elements)) {  // NumPy's error is that of an element
        const Array* exponents = operands[1].array();
        if (exponents && kind_of(exponents->dtype()) == DKind::Signed) {
            if (!shapes_fit(operands)) return op;  // no check is submitted: to record the operation raises
            checked.array = checked_exponents(*exponents);
            checked.operands = {operands[0], Operand(std::as_const(*checked.array))};
            operands = *checked.operands;
            return op;
        }
        if (!exponents && operands[1].scalar().as_double() < 0) throw Error(ErrorCode::Value, negative_power);
    }
    op = simpler_power(operands, loop);
    if (op != Op::power) operands = operands.first(1);
    return op;
}

/// The largest (or smallest) value of an integer dtype.
Scalar extreme_of(DType t, bool largest) {
    const int bits = 8 * itemsize(t);
    Scalar s(std::int64_t{0});
    if (kind_of(t) == DKind::Unsigned) {
        s = largest ? Scalar(std::numeric_limits<std::uint64_t>::max() >> (64 - bits)) : Scalar(std::uint64_t{0});
    } else {
        const std::int64_t top = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
        s = Scalar(largest ? top : -top - 1);
    }
    s.weak = false;
    return s.cast(t);
}

/// Python numbers outside an integer dtype are not bounds: NumPy's clip lets them pass too.
std::optional<Array> clip_beyond_range(std::span<const Operand> operands) {
    const Array* x = operands[0].array();
    if (!x || !is_integer(x->dtype())) return {};
    const auto beyond = [&](const Operand& o) { return o.array() || !o.scalar().weak ? 0 : out_of_range(o.scalar(), x->dtype()); };
    const bool low = beyond(operands[1])<0, high = beyond(operands[2])> 0;
    if (!low && !high) return {};
    const Operand bounds[] = {*x, low ? Operand(extreme_of(x->dtype(), false)) : operands[1],
                              high ? Operand(extreme_of(x->dtype(), true)) : operands[2]};
    return record(Op::clip, bounds);
}

/// Between two numbers NumPy lets elements stay that are equal to one of them: zeros of either sign. (Arrays as limits give theirs.)
bool keeps_ties(std::span<const Operand> operands, DType loop) {
    const auto is_number = [](const Operand& o) { return !o.array() || o.array()->ndim() == 0; };
    return (loop == DType::Float32 || loop == DType::Float64) && is_number(operands[1]) && is_number(operands[2]);
}

std::optional<Array> clipped(Op, std::span<const Operand> operands, std::optional<DType> dtype) {
    return dtype ? std::nullopt : clip_beyond_range(operands);
}

Op clip_between(Op op, std::span<const Operand>& operands, DType loop, CheckedOperands&) {
    return keeps_ties(operands, loop) ? Op::clip_within : op;
}

/// Rows with rules.
constexpr struct {
    Op op;
    NumpyRule rule;
} rows_with_rules[] = {
    {Op::equal, {compared, nullptr}},      {Op::not_equal, {compared, nullptr}},  {Op::less, {compared, nullptr}},
    {Op::less_equal, {compared, nullptr}}, {Op::greater, {compared, nullptr}},    {Op::greater_equal, {compared, nullptr}},
    {Op::clip, {clipped, clip_between}},   {Op::power, {nullptr, checked_power}},
};

constexpr std::size_t op_count = static_cast<std::size_t>(Op::clip_within) + 1;
constexpr auto rules = [] {
    std::array<NumpyRule, op_count> all{};
    for (const auto& row : rows_with_rules) all[static_cast<std::size_t>(row.op)] = row.rule;
    return all;
}();

}  // namespace

const NumpyRule& numpy_rule(Op op) noexcept { return rules[static_cast<std::size_t>(op)]; }

}  // namespace pardo::arrays
