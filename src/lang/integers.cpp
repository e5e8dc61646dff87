// src/lang/integers.cpp: Python's integers, which have no limit: how large they may become, and what is done where they would not fit.
#include <algorithm>
#include <bit>

#include "lang/lowering.h"

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

/// Whether an operation leaves the low bits of its result to the low bits of its operands.
bool keeps_low_bits(const Tree& t) {
    const auto is = [&](std::initializer_list<const char*> names) {
        return std::ranges::any_of(names, [&](const char* name) { return t.name == name; });
    };
    return (t.form == Form::Binary && is({"+", "-", "*", "<<", "&", "|", "^"})) || (t.form == Form::Unary && is({"-", "~"}));
}

/// A number, or made of numbers alone.
bool is_literal(const Tree& t) {
    return t.form == Form::Number || ((t.form == Form::Binary || t.form == Form::Unary) && std::ranges::all_of(t.parts, is_literal));
}

/// Where x op y, whose low 64 bits are `result`, does not fit an int64. `real`: the device's widest float.
Value overflows(ir::Builder& builder, DType real, Opcode op, Value x, Value y, Value result) {
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
            const Value b = builder.cast(y, real), about = builder.call(ir::Math::pow, builder.cast(x, real), b);
            const Value large = builder.ge(builder.abs(about), builder.constant(real, 0x1p63));
            return builder.bit_and(builder.gt(y, builder.i64(1)), large);
        }
    }
}

}  // namespace

/// True in serial loops: their integers are Python's, which do not wrap.
bool Lowering::exact_integers() const { return loop_ && !loop_->parallel; }

/// What an operation on Python's integers gives: as large as its operands say, and else checked.
void Lowering::bound(TypedExpr& result, Opcode op, const TypedExpr& a, const TypedExpr& b, const Place& place, bool wraps) {
    if (!exact_integers() || !result.number().type.weak || !is_integer(result.number().type.dtype) || result.number().constant) return;
    if (result.number().type.dtype == DType::UInt64) fail(ErrorCode::Overflow, place, "Python integers beyond int64 are left to Python");
    const int bits = bits_after(op, a, b);
    result.number().bits = static_cast<std::uint8_t>(std::min(bits, any));
    if (bits != too_many || wraps) return;
    TypedExpr bad = number({DType::Bool, false}, walk_.value([&] {
        const Value z = value(result, DType::Int64), y = value(b, DType::Int64), x = value(a, DType::Int64);
        return overflows(builder_, weak_dtype(DType::Float64, options_.fp64), op, x, y, z);
    }));
    fail_when(bad, ErrorCode::Overflow,
              std::string(symbol(op)) +
                  " does not fit an int64, which loops that are compiled compute Python's integers in; begin with np.int64(…) "
                  "where it is to wrap around, or with a float",
              place, {a, b});
}

/// Of arguments beyond int64 a kernel makes integers of 64 bits too: one that is larger would be another number.
void Lowering::keep_large(const TypedExpr& result, Opcode op, const TypedExpr& a, const TypedExpr& b, const Place& place) {
    if (exact_integers() || !result.number().given || result.number().constant ||
        !(result.number().type == NumberType{DType::UInt64, true}))
        return;
    if (op != Opcode::Add && op != Opcode::Sub && op != Opcode::Mul && op != Opcode::Shl) return;
    TypedExpr bad = number({DType::Bool, false}, ir::no_value);
    if (walk_.builds()) {
        const Value x = value(a, DType::UInt64), y = value(b, DType::UInt64), z = value(result);
        const auto lost = [&] {
            const Value differs = builder_.ne(builder_.floor_div(z, y), x);
            return builder_.bit_and(builder_.ne(y, builder_.constant(DType::UInt64, Scalar(std::uint64_t{0}))), differs);
        };
        bad.number().value = op == Opcode::Add   ? builder_.lt(z, x)
                             : op == Opcode::Sub ? builder_.lt(x, y)
                             : op == Opcode::Shl ? builder_.ne(builder_.shr(z, y), x)
                                                 : lost();
    }
    const auto shown = [](const TypedExpr& t, const char* as_large, const char* otherwise) {
        return t.number().type.dtype == DType::UInt64 ? as_large : otherwise;
    };
    std::string text = symbol(op);
    text.replace(text.find("$0"), 2, shown(a, "$u0", "$0"));
    text.replace(text.find("$1"), 2, shown(b, "$u1", "$1"));
    fail_when(bad, ErrorCode::Overflow, text + " does not fit a uint64; begin with np.uint64(…) where it is to wrap around", place, {a, b});
}

/// A Python integer that becomes one of a narrower dtype. NumPy refuses what does not fit, and so does the launch for its arguments, a
/// serial loop where it happens, and a kernel for what is made of arguments; others that it computes wrap.
void Lowering::narrowed(const TypedExpr& t, DType to) {
    TypedExpr bounds = t;
    bounds.number().assumed = false;
    if (fits(bounds, to)) return;
    if (t.number().argument >= 0 && (t.number().assumed || !exact_integers())) {
        const Fit fit{t.number().argument, to, at_, source_.function};
        if (std::ranges::none_of(out_.fits, [&](const Fit& f) { return f.argument == fit.argument && f.dtype == fit.dtype; }))
            out_.fits.push_back(fit);
        return;
    }
    const bool large = t.number().type.dtype == DType::UInt64;  // beyond int64: in serial loops they are left to Python
    if (exact_integers() ? large : !checks_range(rules(), t, to) || host_.status == ir::no_value) return;
    const bool is_signed = kind_of(to) == DKind::Signed;
    const int bits = 8 * itemsize(to) - (is_signed ? 1 : 0);
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
    TypedExpr bad = number({DType::Bool, false}, ir::no_value);
    bad.number().value = large ? builder_.gt(t.number().value, builder_.constant(DType::UInt64, Scalar(most)))
                               : builder_.lt(t.number().value, builder_.i64(is_signed ? -(std::int64_t{1} << bits) : 0));
    if (!large && bits < any)
        bad.number().value =
            builder_.bit_or(bad.number().value, builder_.gt(t.number().value, builder_.i64((std::int64_t{1} << bits) - 1)));
    fail_when(bad, ErrorCode::Overflow,
              std::string(large ? "Python integer $u0" : "Python integer $0") + " out of bounds for " + std::string(dtype_name(to)), at_,
              {t});
}

/// A whole number as an int64; of uint64, whose upper half has no such value, it fails there.
TypedExpr Lowering::whole_to_int(const TypedExpr& x, const Place& place, const std::string& op_name) {
    const NumberType type{DType::Int64, true};
    check_range(rules(), x, DType::Int64, place);
    if (exact_integers() && x.number().type == NumberType{DType::UInt64, true})
        fail(ErrorCode::Overflow, place, "Python integers beyond int64 are left to Python");
    if (dtype(x.number().type) == DType::UInt64 && !source_.function->library) {
        TypedExpr bad = number({DType::Bool, false}, ir::no_value);
        if (x.number().constant)
            bad = flag(x.number().scalar.cast(DType::UInt64).u > static_cast<std::uint64_t>(unknown_most));
        else if (walk_.builds())
            bad.number().value = builder_.lt(builder_.cast(value(x), DType::Int64), builder_.i64(0));
        fail_when(bad, ErrorCode::Overflow, op_name + "the uint64 $u0 does not fit an int64", place, {x});
        if (x.number().constant && bad.number().scalar.b) return cast(integer(0), type);
    }
    TypedExpr out = cast(x, type);
    // What is below zero here has failed.
    if (!out.number().constant && is_integer(x.number().type.dtype)) out.number().least = std::max(out.number().least, x.number().least);
    return out;
}

/// int(x): of a float the part before the point; NaN and what is too large fail as in Python.
TypedExpr Lowering::to_int(const TypedExpr& x, const Place& place) {
    if (!is_inexact(x.number().type.dtype)) return whole_to_int(x, place, "");
    const NumberType type{DType::Int64, true};
    const char* nan = "cannot convert float NaN to integer";
    const char* large = "cannot convert a float that is infinite or does not fit an int64 to integer";
    if (x.number().constant) {
        const double v = x.number().scalar.cast(DType::Float64).f;
        if (v != v) fail(ErrorCode::Value, place, nan);
        if (!(v >= -0x1p63 && v < 0x1p63)) fail(ErrorCode::Overflow, place, large);
        return cast(x, type);
    }
    if (source_.function->library) return cast(x, type);
    const auto failed = [&](Value nan_here, Value large_here) {
        fail_when(number({DType::Bool, false}, nan_here), ErrorCode::Value, nan, place, {});
        fail_when(number({DType::Bool, false}, large_here), ErrorCode::Overflow, large, place, {});
        return ir::Builder::Values();
    };
    if (walk_.finds_types()) {
        failed(ir::no_value, ir::no_value);
        return cast(x, type);
    }
    const DType wide = dtype(x.number().type) == DType::Float64 ? DType::Float64 : DType::Float32;
    const Value v = value(x, wide);
    const Value below = builder_.lt(v, builder_.constant(wide, 0x1p63));
    const Value fits = builder_.bit_and(builder_.ge(v, builder_.constant(wide, -0x1p63)), below);
    builder_.if_else(
        builder_.bit_not(fits),
        [&] {
            const Value is_one = builder_.eq(v, v);
            return failed(builder_.ne(v, v), is_one);
        },
        [] { return ir::Builder::Values(); });
    return cast(x, type);
}

/// a op b. Where a mask leaves only low bits of the result, those of sums and products inside may wrap as they like; so may it if `wraps`.
TypedExpr Lowering::binary_of(const Tree& t, bool wraps) {
    const auto masked_by = [&](const Tree& other) {
        if (!is_literal(other)) return false;
        const TypedExpr mask = expression(other);
        if (!mask.number().constant || !is_integer(mask.number().type.dtype) || mask.number().least < 0) return false;
        return t.name == "&" || std::has_single_bit(static_cast<std::uint64_t>(mask.number().scalar.i));
    };
    const auto operand = [&](std::size_t k) {
        const bool counts = t.name == "<<" && k == 1;
        const bool masked = (t.name == "&" || (t.name == "%" && k == 0)) && masked_by(t.parts[1 - k]);
        wraps_ = keeps_low_bits(t.parts[k]) && !counts && (masked || (wraps && keeps_low_bits(t)));
        return expression(t.parts[k]);
    };
    TypedExpr a = operand(0);
    if (a.kind() == Kind::Rows && contains(t.parts[1], Form::Apply, true)) a = settled(a, t.place);  // which might change what it reads
    const TypedExpr b = operand(1);
    wraps_ = wraps;
    TypedExpr out = binary(t.name, a, b, t.place);
    wraps_ = false;
    return out;
}

/// The index of an array: sums and products that leave int64 are far out of any range.
TypedExpr Lowering::index_expression(const Tree& t) {
    wraps_ = keeps_low_bits(t);
    return expression(t);
}

}  // namespace pardo::lang
