// src/lang/numbers/integers.cpp: Python's integers, which have no limit: how large they may become, and what is done where they would not
// fit.
#include <algorithm>

#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

constexpr int any = 63;       // bits of the magnitude of any int64
constexpr int too_many = 64;  // the result may not fit
constexpr int sums = 62;      // what grows by small steps is taken to end here: from there to the limit it takes 2^46 steps
constexpr int small_step = 16;

/// The bits of a result, too_many if nothing says that it fits an int64.
int bits_after(Opcode op, const TypedExpr& a, const TypedExpr& b) {
    const int x = bits_of(a), y = bits_of(b), most = std::max(x, y), least = std::min(x, y);
    const bool shifts = b.number().constant && b.number().scalar.as_int() >= 0 && b.number().scalar.as_int() < any;
    switch (op) {
        case Opcode::Add:
        case Opcode::Sub: return most < sums ? most + 1 : most == sums && least <= small_step ? sums : too_many;
        case Opcode::Mul: return x == 0 || y == 0 ? 0 : x + y <= sums ? x + y : too_many;
        case Opcode::Shl:
            return shifts && x + b.number().scalar.as_int() <= sums ? x + static_cast<int>(b.number().scalar.as_int()) : too_many;
        case Opcode::Shr: return shifts ? std::max(x - static_cast<int>(b.number().scalar.as_int()), 1) : x;
        case Opcode::FloorDiv:
            return x < any || b.number().least >= 0 || (b.number().constant && b.number().scalar.as_int() != -1) ? x : too_many;
        case Opcode::Rem: return y;
        case Opcode::And:
            return a.number().least >= 0 && b.number().least >= 0 ? least : a.number().least >= 0 ? x : b.number().least >= 0 ? y : most;
        case Opcode::Neg:
        case Opcode::Abs: return x < any ? x : too_many;
        case Opcode::Call:
            return b.number().constant && b.number().scalar.as_int() >= 0 && b.number().scalar.as_int() * x <= sums
                       ? static_cast<int>(b.number().scalar.as_int()) * x
                       : too_many;
        default: return most;
    }
}

const char* symbol(Opcode op) {
    switch (op) {
        case Opcode::Add: return "$0 + $1";
        case Opcode::Sub: return "$0 - $1";
        case Opcode::Mul: return "$0 * $1";
        case Opcode::Shl: return "$0 << $1";
        case Opcode::FloorDiv: return "$0 // $1";
        case Opcode::Neg: return "-($0)";
        case Opcode::Abs: return "abs($0)";
        default: return "$0 ** $1";
    }
}

/// Where x op y, whose low 64 bits are `result`, does not fit an int64. `real`: the device's widest float.
Value overflows(Code& builder, DType real, Opcode op, Value x, Value y, Value result) {
    const Value zero = builder.i64(0);
    const auto least = [&](Value v) { return builder.eq(v, builder.i64(unknown_least)); };
    switch (op) {
        case Opcode::Add: {
            const Value of_y = builder.bit_xor(y, result);
            return builder.lt(builder.bit_and(builder.bit_xor(x, result), of_y), zero);
        }
        case Opcode::Sub: {
            const Value of_result = builder.bit_xor(x, result);
            return builder.lt(builder.bit_and(builder.bit_xor(x, y), of_result), zero);
        }
        case Opcode::Neg:
        case Opcode::Abs: return least(x);
        case Opcode::FloorDiv: {
            const Value negates = builder.eq(y, builder.i64(-1));
            return builder.bit_and(least(x), negates);
        }
        case Opcode::Shl: return builder.ne(builder.shr(result, y), x);
        case Opcode::Mul: {  // far below the limit in floats: certainly not; else by a division
            const Value b = builder.cast(y, real), a = builder.cast(x, real), about = builder.abs(builder.mul(a, b));
            const auto closely = [&] {
                const Value differs = builder.ne(builder.floor_div(result, x), y);
                const Value is_least = least(y);
                return ir::Builder::Values{builder.bit_or(differs, builder.bit_and(builder.eq(x, builder.i64(-1)), is_least))};
            };
            return builder.if_else(builder.ge(about, builder.constant(real, 0x1p61)), closely,
                                   [&] { return ir::Builder::Values{builder.boolean(false)}; })[0];
        }
        default: {  // powers: those of integers that come near the limit are further from it than floats are inexact
            const Value b = builder.cast(y, real), operands[] = {builder.cast(x, real), b}, about = builder.call(ir::Math::pow, operands);
            const Value large = builder.ge(builder.abs(about), builder.constant(real, 0x1p63));
            return builder.bit_and(builder.gt(y, builder.i64(1)), large);
        }
    }
}

}  // namespace

void bound(Emit& l, TypedExpr& result, Opcode op, const TypedExpr& a, const TypedExpr& b, const Place& place, bool wraps) {
    if (!l.rules.exact || !result.number().type.weak || !is_integer(result.number().type.dtype) || result.number().constant) return;
    if (result.number().type.dtype == DType::UInt64)
        l.source.fail(ErrorCode::Overflow, place, "Python integers beyond int64 are left to Python");
    const int bits = bits_after(op, a, b);
    result.number().bits = static_cast<std::uint8_t>(std::min(bits, any));
    if (bits != too_many || wraps) return;
    const Value z = value(l, result, DType::Int64), y = value(l, b, DType::Int64), x = value(l, a, DType::Int64);
    TypedExpr bad = number({DType::Bool, false}, ir::no_value);
    if (l.walk.builds()) bad.number().value = overflows(l.builder, weak_dtype(DType::Float64, l.task.options.fp64), op, x, y, z);
    fail_when(l, bad, ErrorCode::Overflow,
              std::string(symbol(op)) +
                  " does not fit an int64, which loops that are compiled compute Python's integers in; begin with np.int64(…) "
                  "where it is to wrap around, or with a float",
              place, {a, b});
}

void keep_large(Emit& l, const TypedExpr& result, Opcode op, const TypedExpr& a, const TypedExpr& b, const Place& place) {
    if (l.rules.exact || !result.number().given || result.number().constant || !(result.number().type == NumberType{DType::UInt64, true}))
        return;
    if (op != Opcode::Add && op != Opcode::Sub && op != Opcode::Mul && op != Opcode::Shl) return;
    TypedExpr bad = number({DType::Bool, false}, ir::no_value);
    const Value x = value(l, a, DType::UInt64), y = value(l, b, DType::UInt64), z = value(l, result);
    const auto lost = [&] {
        const Value differs = l.builder.ne(l.builder.floor_div(z, y), x);
        return l.builder.bit_and(l.builder.ne(y, l.builder.constant(DType::UInt64, Scalar(std::uint64_t{0}))), differs);
    };
    bad.number().value = op == Opcode::Add   ? l.builder.lt(z, x)
                         : op == Opcode::Sub ? l.builder.lt(x, y)
                         : op == Opcode::Shl ? l.builder.ne(l.builder.shr(z, y), x)
                                             : lost();
    const auto shown = [](const TypedExpr& t, const char* as_large, const char* otherwise) {
        return t.number().type.dtype == DType::UInt64 ? as_large : otherwise;
    };
    std::string text = symbol(op);
    text.replace(text.find("$0"), 2, shown(a, "$u0", "$0"));
    text.replace(text.find("$1"), 2, shown(b, "$u1", "$1"));
    fail_when(l, bad, ErrorCode::Overflow, text + " does not fit a uint64; begin with np.uint64(…) where it is to wrap around", place,
              {a, b});
}

void narrowed(Emit& l, const TypedExpr& t, DType to) {
    TypedExpr bounds = t;
    bounds.number().assumed = false;
    if (fits(bounds, to)) return;
    if (t.number().argument >= 0 && (t.number().assumed || !l.rules.exact)) {
        const Fit fit{t.number().argument, to, l.at, l.source.function};
        if (std::ranges::none_of(l.out.fits, [&](const Fit& f) { return f.argument == fit.argument && f.dtype == fit.dtype; }))
            l.out.fits.push_back(fit);
        return;
    }
    const bool large = t.number().type.dtype == DType::UInt64;  // beyond int64: in serial loops they are left to Python
    if (l.rules.exact ? large : !checks_range(l.rules, t, to) || l.host.status == ir::no_value) return;
    const bool is_signed = kind_of(to) == DKind::Signed;
    const int bits = 8 * itemsize(to) - (is_signed ? 1 : 0);
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
    TypedExpr bad = number({DType::Bool, false}, ir::no_value);
    bad.number().value = large ? l.builder.gt(t.number().value, l.builder.constant(DType::UInt64, Scalar(most)))
                               : l.builder.lt(t.number().value, l.builder.i64(is_signed ? -(std::int64_t{1} << bits) : 0));
    if (!large && bits < any)
        bad.number().value =
            l.builder.bit_or(bad.number().value, l.builder.gt(t.number().value, l.builder.i64((std::int64_t{1} << bits) - 1)));
    fail_when(l, bad, ErrorCode::Overflow,
              std::string(large ? "Python integer $u0" : "Python integer $0") + " out of bounds for " + std::string(dtype_name(to)), l.at,
              {t});
}

TypedExpr whole_to_int(Emit& l, const TypedExpr& x, const Place& place, const std::string& op_name) {
    const NumberType type{DType::Int64, true};
    check_range(l.rules, x, DType::Int64, place);
    if (l.rules.exact && x.number().type == NumberType{DType::UInt64, true})
        l.source.fail(ErrorCode::Overflow, place, "Python integers beyond int64 are left to Python");
    if (l.rules.dtype(x.number().type) == DType::UInt64 && !l.source.function->library) {
        TypedExpr bad = number({DType::Bool, false}, ir::no_value);
        if (x.number().constant)
            bad = flag(x.number().scalar.cast(DType::UInt64).u > static_cast<std::uint64_t>(unknown_most));
        else
            bad.number().value = l.builder.lt(l.builder.cast(value(l, x), DType::Int64), l.builder.i64(0));
        fail_when(l, bad, ErrorCode::Overflow, op_name + "the uint64 $u0 does not fit an int64", place, {x});
        if (x.number().constant && bad.number().scalar.b) return cast(l, integer(0), type);
    }
    TypedExpr out = cast(l, x, type);
    // What is below zero here has failed.
    if (!out.number().constant && is_integer(x.number().type.dtype)) out.number().least = std::max(out.number().least, x.number().least);
    return out;
}

TypedExpr to_int(Emit& l, const TypedExpr& x, const Place& place) {
    if (!is_inexact(x.number().type.dtype)) return whole_to_int(l, x, place, "");
    const NumberType type{DType::Int64, true};
    const char* nan = "cannot convert float NaN to integer";
    const char* large = "cannot convert a float that is infinite or does not fit an int64 to integer";
    if (x.number().constant) {
        const double v = x.number().scalar.cast(DType::Float64).f;
        if (v != v) l.source.fail(ErrorCode::Value, place, nan);
        if (!(v >= -0x1p63 && v < 0x1p63)) l.source.fail(ErrorCode::Overflow, place, large);
        return cast(l, x, type);
    }
    if (l.source.function->library) return cast(l, x, type);
    const auto failed = [&](Value nan_here, Value large_here) {
        fail_when(l, number({DType::Bool, false}, nan_here), ErrorCode::Value, nan, place, {});
        fail_when(l, number({DType::Bool, false}, large_here), ErrorCode::Overflow, large, place, {});
        return ir::Builder::Values();
    };
    if (l.walk.finds_types()) {
        failed(ir::no_value, ir::no_value);
        return cast(l, x, type);
    }
    const DType wide = l.rules.dtype(x.number().type) == DType::Float64 ? DType::Float64 : DType::Float32;
    const Value v = value(l, x, wide);
    const Value below = l.builder.lt(v, l.builder.constant(wide, 0x1p63));
    const Value fits = l.builder.bit_and(l.builder.ge(v, l.builder.constant(wide, -0x1p63)), below);
    l.builder.if_else(
        l.builder.bit_not(fits),
        [&] {
            const Value is_one = l.builder.eq(v, v);
            return failed(l.builder.ne(v, v), is_one);
        },
        [] { return ir::Builder::Values(); });
    return cast(l, x, type);
}

}  // namespace pardo::lang
