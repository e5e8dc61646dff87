// src/lang/checks.cpp: what is checked besides indices: integer division, shifts, ranges that would wrap, own memory that nothing has
// written.
#include <limits>

#include "lang/lowering.h"

namespace pardo::lang {
namespace {

constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
constexpr int far_below = 62;  // bits: of steps and bounds that together stay within an int64

ir::Builder::Values nothing() { return {}; }

}  // namespace

/// Python's integers, in serial loops, fail as in Python; others do so if everything is checked.
void Lowering::check_operands(Opcode op, const TypedExpr& a, const TypedExpr& b, DType computed, const Place& place) {
    const bool python = exact_integers() && a.number().type.weak && b.number().type.weak;
    if (!is_integer(computed) || !(python || options_.check_all)) return;
    TypedExpr bad = number({DType::Bool, false}, ir::no_value);
    if (op == Opcode::FloorDiv || op == Opcode::Rem || op == Opcode::Fmod) {
        if (b.number().constant)
            bad = flag(b.number().scalar.cast(DType::Int64).i == 0);
        else if (b.number().least > 0)
            return;
        else if (walk_.builds())
            bad.number().value = builder_.eq(value(b, computed), builder_.constant(computed, 0.0));
        fail_when(bad, ErrorCode::Division, "integer division or modulo of $0 by zero", place, {a});
    } else if (op == Opcode::Shl || op == Opcode::Shr) {
        const std::int64_t bits = python ? greatest : 8 * itemsize(computed);
        if (b.number().constant)
            bad = flag(b.number().scalar.cast(DType::Int64).i < 0 || b.number().scalar.cast(DType::Int64).i >= bits);
        else if (python && b.number().least >= 0)
            return;
        else if (walk_.builds())
            bad.number().value = builder_.bit_not(builder_.lt(builder_.cast(value(b, DType::Int64), DType::UInt64),
                                                              builder_.constant(DType::UInt64, Scalar(static_cast<std::uint64_t>(bits)))));
        fail_when(
            bad, ErrorCode::Value,
            python ? std::string("negative shift count: $0")
                   : "the shift count $0 is not in 0 … " + std::to_string(bits - 1) + ", the bits of " + std::string(dtype_name(computed)),
            place, {b});
    }
}

/// A loop ends before its counter wraps around, and says so: it would never end. What a launch shows of the bounds costs nothing.
void Lowering::guard_range(const TypedExpr& start, TypedExpr& stop, const TypedExpr& step, const Place& place) {
    if (step.number().constant && (step.number().scalar.i == 1 || step.number().scalar.i == -1)) return;
    if (bits_of(step) < far_below && bits_of(stop) < far_below) return;
    constexpr const char* message = "range($0, $1, $2) ends within a step of the limits of int64, where its counter would wrap around";
    if (walk_.finds_types()) {
        host_.uses_status = true;
        stop = number({DType::Int64, true}, ir::no_value, stop.number().least);
        return;
    }
    // Downwards it is the same of -1 - stop and -step.
    const Value s = value(step, DType::Int64), end = value(stop, DType::Int64), minus_one = builder_.i64(-1);
    const bool up = step.number().least > 0, down = step.number().constant && step.number().scalar.i < 0;
    const auto choose = [&](const std::function<Value()>& ascending, const std::function<Value()>& descending) {
        return up ? ascending() : down ? descending() : builder_.select(builder_.gt(s, builder_.i64(0)), ascending(), descending());
    };
    const Value size = choose([&] { return s; }, [&] { return builder_.neg(s); });
    const Value most = builder_.sub(builder_.i64(greatest), builder_.sub(size, builder_.i64(1)));
    const Value reached = choose([&] { return end; }, [&] { return builder_.sub(minus_one, end); });
    const Value before = builder_.sub(builder_.max(reached, builder_.i64(1)), builder_.i64(1));
    builder_.if_else(builder_.inside(before, most), nothing, [&] {
        const Value values[] = {value(start, DType::Int64), end, s};
        report(ErrorCode::Overflow, message, place, values, source_.function);
        return nothing();
    });
    const Value kept = choose([&] { return builder_.min(end, most); }, [&] { return builder_.max(end, builder_.sub(minus_one, most)); });
    stop = number({DType::Int64, true}, kept, stop.number().least);
}

/// From here on reads of an array of a group or an item are checked: a flag for each element says whether it was written.
void Lowering::track_writes(const View& v, std::int64_t count, ir::Space space) {
    if (!options_.check_all) return;
    host_.uses_status = true;
    if (walk_.finds_types()) return;
    const Value flags = builder_.array(v.name + ".written", DType::Int32, count, space);
    written_[v.pointer] = flags;
    if (space == ir::Space::Group) return group_flags_.push_back(flags);
    builder_.for_loop(builder_.i64(0), builder_.i64(count), builder_.i64(1), {}, [&](Value k, std::span<const Value>) {
        builder_.store(flags, k, builder_.constant(DType::Int32, 0.0));
        return nothing();
    });
}

void Lowering::mark_written(const View& v, Value place) {
    if (const auto flags = written_.find(v.pointer); flags != written_.end())
        builder_.store(flags->second, place, builder_.constant(DType::Int32, 1.0));
}

void Lowering::check_written(const View& v, Value place) {
    const auto flags = written_.find(v.pointer);
    if (flags == written_.end()) return;
    const Value is_unset = builder_.eq(builder_.load(flags->second, place), builder_.constant(DType::Int32, 0.0));
    builder_.if_else(
        is_unset,
        [&] {
            const Value values[] = {place};
            report(ErrorCode::Value, "element $0 of the memory `" + v.name + "` is read, and nothing has written it", at_, values,
                   source_.function);
            return nothing();
        },
        nothing);
}

}  // namespace pardo::lang
