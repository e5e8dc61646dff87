// src/lang/numbers/checks.cpp: what is checked of numbers besides indices: integer division, shifts, ranges that would wrap.
#include <limits>

#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
constexpr int far_below = 62;  // bits: of steps and bounds that together stay within an int64

ir::Builder::Values nothing() { return {}; }

}  // namespace

void check_operands(Emit& l, Opcode op, const TypedExpr& a, const TypedExpr& b, DType computed, const Place& place) {
    const bool python = l.rules.exact && a.number().type.weak && b.number().type.weak;
    if (!is_integer(computed) || !(python || l.task.options.check_all)) return;
    TypedExpr bad = number({DType::Bool, false}, ir::no_value);
    if (op == Opcode::FloorDiv || op == Opcode::Rem || op == Opcode::Fmod) {
        if (b.number().constant)
            bad = flag(b.number().scalar.cast(DType::Int64).i == 0);
        else if (b.number().least > 0)
            return;
        else
            bad.number().value = l.builder.eq(value(l, b, computed), l.builder.constant(computed, 0.0));
        fail_when(l, bad, ErrorCode::Division, "integer division or modulo of $0 by zero", place, {a});
    } else if (op == Opcode::Shl || op == Opcode::Shr) {
        const std::int64_t bits = python ? greatest : 8 * itemsize(computed);
        if (b.number().constant)
            bad = flag(b.number().scalar.cast(DType::Int64).i < 0 || b.number().scalar.cast(DType::Int64).i >= bits);
        else if (python && b.number().least >= 0)
            return;
        else
            bad.number().value =
                l.builder.bit_not(l.builder.lt(l.builder.cast(value(l, b, DType::Int64), DType::UInt64),
                                               l.builder.constant(DType::UInt64, Scalar(static_cast<std::uint64_t>(bits)))));
        fail_when(
            l, bad, ErrorCode::Value,
            python ? std::string("negative shift count: $0")
                   : "the shift count $0 is not in 0 … " + std::to_string(bits - 1) + ", the bits of " + std::string(dtype_name(computed)),
            place, {b});
    }
}

void guard_range(Emit& l, const TypedExpr& start, TypedExpr& stop, const TypedExpr& step, const Place& place) {
    if (step.number().constant && (step.number().scalar.i == 1 || step.number().scalar.i == -1)) return;
    if (bits_of(step) < far_below && bits_of(stop) < far_below) return;
    constexpr const char* message = "range($0, $1, $2) ends within a step of the limits of int64, where its counter would wrap around";
    if (l.walk.finds_types()) {
        l.host.uses_status = true;
        stop = number({DType::Int64, true}, ir::no_value, stop.number().least);
        return;
    }
    // Downwards it is the same of -1 - stop and -step.
    const Value s = value(l, step, DType::Int64), end = value(l, stop, DType::Int64), minus_one = l.builder.i64(-1);
    const bool up = step.number().least > 0, down = step.number().constant && step.number().scalar.i < 0;
    const auto choose = [&](const std::function<Value()>& ascending, const std::function<Value()>& descending) {
        return up ? ascending() : down ? descending() : l.builder.select(l.builder.gt(s, l.builder.i64(0)), ascending(), descending());
    };
    const Value size = choose([&] { return s; }, [&] { return l.builder.neg(s); });
    const Value most = l.builder.sub(l.builder.i64(greatest), l.builder.sub(size, l.builder.i64(1)));
    const Value reached = choose([&] { return end; }, [&] { return l.builder.sub(minus_one, end); });
    const Value before = l.builder.sub(l.builder.max(reached, l.builder.i64(1)), l.builder.i64(1));
    l.builder.if_else(l.builder.inside(before, most), nothing, [&] {
        const Value values[] = {value(l, start, DType::Int64), end, s};
        report(l, ErrorCode::Overflow, message, place, values, l.source.function);
        return nothing();
    });
    const Value kept = choose([&] { return l.builder.min(end, most); }, [&] { return l.builder.max(end, l.builder.sub(minus_one, most)); });
    stop = number({DType::Int64, true}, kept, stop.number().least);
}

}  // namespace pardo::lang
