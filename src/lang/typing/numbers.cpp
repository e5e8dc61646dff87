// src/lang/typing/numbers.cpp: what is known of numbers before anything is built.
#include "lang/typing/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "ir/eval.h"

namespace pardo::lang {

using ir::Opcode;

namespace {

constexpr int any = 63;  // bits of the magnitude of any int64

int width(std::uint64_t magnitude) { return static_cast<int>(std::bit_width(magnitude)); }

bool adds_overflow(std::int64_t a, std::int64_t b, std::int64_t& sum) { return __builtin_add_overflow(a, b, &sum); }

std::string shown(const TypedExpr& t) {
    const std::string text =
        t.number().type.dtype == DType::UInt64 ? std::to_string(t.number().scalar.u) : std::to_string(t.number().scalar.as_int());
    return text.starts_with('-') ? "(" + text + ")" : text;
}

}  // namespace

int bits_of(const TypedExpr& t) {
    if (t.number().type.dtype == DType::Bool) return 1;
    if (!is_integer(t.number().type.dtype)) return any;
    int bits = std::min<int>(t.number().bits, any);
    if (!t.number().type.weak)
        bits = std::min(bits, 8 * itemsize(t.number().type.dtype) - (kind_of(t.number().type.dtype) == DKind::Signed ? 1 : 0));
    if (t.number().least != unknown_least && t.number().most != unknown_most) {
        const auto magnitude = [](std::int64_t v) { return v < 0 ? ~static_cast<std::uint64_t>(v) + 1 : static_cast<std::uint64_t>(v); };
        bits = std::min(bits, std::max(width(magnitude(t.number().least)), width(magnitude(t.number().most))));
    }
    return bits;
}

bool fits(const TypedExpr& weak, DType dtype) {
    if (weak.number().assumed) return true;
    if (weak.number().type.dtype == DType::UInt64) return dtype == DType::UInt64;
    if (dtype == DType::Int64) return true;
    if (dtype == DType::UInt64) return weak.number().least >= 0;
    const bool is_signed = kind_of(dtype) == DKind::Signed;
    const int bits = 8 * itemsize(dtype) - (is_signed ? 1 : 0);
    if (bits_of(weak) <= bits) return is_signed || weak.number().least >= 0;
    const std::int64_t high = (std::int64_t{1} << bits) - 1;
    return weak.number().least >= (is_signed ? -high - 1 : 0) && weak.number().most <= high;
}

bool is_given(const TypedExpr& t) { return t.number().constant || t.number().given || !t.number().type.weak; }

bool outgrows(const TypedExpr& a, const TypedExpr& b) {
    if (a.number().type.weak == b.number().type.weak || !is_integer(a.number().type.dtype) || !is_integer(b.number().type.dtype))
        return false;
    return a.number().type.weak ? !fits(a, b.number().type.dtype) : !fits(b, a.number().type.dtype);
}

std::int64_t least_of(Opcode op, const TypedExpr& a, const TypedExpr& b) {
    const bool both = a.number().least != unknown_least && b.number().least != unknown_least;
    std::int64_t least = 0;
    switch (op) {
        case Opcode::Add: return both && !adds_overflow(a.number().least, b.number().least, least) ? least : unknown_least;
        case Opcode::Sub:
            if (b.number().constant && a.number().least != unknown_least &&
                !__builtin_sub_overflow(a.number().least, b.number().scalar.i, &least))
                return least;
            return unknown_least;
        case Opcode::Mul:
            if (both && a.number().least >= 0 && b.number().least >= 0 &&
                !__builtin_mul_overflow(a.number().least, b.number().least, &least))
                return least;
            return unknown_least;
        case Opcode::FloorDiv: return a.number().least >= 0 && b.number().least >= 1 ? 0 : unknown_least;
        case Opcode::Rem: return b.number().least >= 1 ? 0 : unknown_least;
        case Opcode::Shr: return a.number().least >= 0 ? 0 : unknown_least;
        case Opcode::And: return a.number().least >= 0 || b.number().least >= 0 ? 0 : unknown_least;
        case Opcode::Min: return both ? std::min(a.number().least, b.number().least) : unknown_least;
        case Opcode::Max: return std::max(a.number().least, b.number().least);
        default: return unknown_least;
    }
}

std::string too_large(const std::string& expression) {
    return expression +
           " does not fit an int64 or a uint64, in which Python's integers are computed here; write one of its numbers as a "
           "float, or, where it is to wrap around, begin with np.int64(…)";
}

bool holds_least(const Rules& rules, const TypedExpr& t, DType to) {
    const DType from = rules.dtype(t.number().type);
    if (!is_integer(from) || !is_integer(to)) return false;
    const bool gains_sign = kind_of(from) == DKind::Unsigned && kind_of(to) == DKind::Signed;
    if (kind_of(to) == DKind::Unsigned && t.number().least < 0) return false;
    return itemsize(to) > itemsize(from) || (itemsize(to) == itemsize(from) && !gains_sign);
}

NumberType promoted(const Rules& rules, const TypedExpr& a, const TypedExpr& b, const Place& place) {
    const NumberType x = a.number().type, y = b.number().type;
    if (x.weak && y.weak) {
        const auto is_small = [](const TypedExpr& t) {
            return t.number().type.dtype == DType::Bool || kind_of(t.number().type.dtype) == DKind::Signed;
        };
        const auto negative = [&](const TypedExpr& large, const TypedExpr& other) {
            return large.number().type.dtype == DType::UInt64 && is_small(other) && !(other.number().constant && other.number().least >= 0);
        };
        if (negative(a, b) || negative(b, a))
            rules.source.fail(
                ErrorCode::Overflow, place,
                (x.dtype == DType::UInt64 ? a : b).number().constant
                    ? "Python integer " + shown(x.dtype == DType::UInt64 ? a : b) + " out of bounds for int64; write np.uint64(…) of both"
                    : "a Python integer here is out of bounds for int64; write np.uint64(…) of both");
        if (x.dtype == DType::UInt64 && is_small(b)) return x;
        NumberType out;
        join({x.dtype == DType::Bool ? DType::Int64 : x.dtype, true}, {y.dtype == DType::Bool ? DType::Int64 : y.dtype, true}, out);
        return out;
    }
    if (!x.weak && !y.weak) return {promote(x.dtype, y.dtype), false};
    const TypedExpr &strong = x.weak ? b : a, &weak = x.weak ? a : b;
    Scalar example = weak.number().constant ? weak.number().scalar : Scalar(0).cast(weak.number().type.dtype);
    // One that is computed may be as large as can be; of an argument the launch tells what has come.
    const bool launch_checks = weak.number().argument >= 0 && !rules.exact;
    if (!weak.number().constant && weak.number().type.dtype == DType::UInt64 && !launch_checks)
        example.u = std::numeric_limits<std::uint64_t>::max();
    example.weak = true;
    try {
        DType result = promote_weak(strong.number().type.dtype, example, rules.source.function->name.c_str());
        if (!rules.fp64 && result == DType::Float64) result = DType::Float32;
        if (!rules.fp64 && result == DType::Complex128) result = DType::Complex64;
        return {result, false};
    } catch (const Error& e) {
        const std::string& text = e.message();
        const std::string prefix = rules.source.function->name + ": ";
        rules.source.fail(e.code(), place, text.starts_with(prefix) ? text.substr(prefix.size()) : text);
    }
}

TypedExpr folded(const Rules& rules, Opcode op, ir::Math fn, NumberType type, std::span<const TypedExpr> operands) {
    std::vector<Scalar> scalars;
    DType in = rules.dtype(operands[0].number().type);
    for (const TypedExpr& t : operands) scalars.push_back(t.number().scalar);
    (void)in;
    Scalar s = ir::evaluate(op, fn, rules.dtype(type), scalars);
    s.weak = type.weak;
    return number(s);
}

std::optional<TypedExpr> exact_constant(const Rules& rules, Opcode op, const char* symbol, const TypedExpr& a, const TypedExpr& b,
                                        const Place& place) {
    const auto is_large = [](const TypedExpr& t) { return t.number().type.dtype == DType::UInt64; };
    const auto wide = [&](const TypedExpr& t) -> __int128 {
        return is_large(t) ? static_cast<__int128>(t.number().scalar.u) : t.number().scalar.as_int();
    };
    const __int128 x = wide(a), y = wide(b);
    __int128 out = 0;
    bool fits = true;
    switch (op) {
        case Opcode::Add: out = x + y; break;
        case Opcode::Sub: out = x - y; break;
        case Opcode::Mul: fits = !__builtin_mul_overflow(x, y, &out); break;
        case Opcode::Shl: fits = x == 0 || (y >= 0 && y < 64 && !__builtin_mul_overflow(x, static_cast<__int128>(1) << y, &out)); break;
        case Opcode::And: out = x & y; break;
        case Opcode::Or: out = x | y; break;
        case Opcode::Xor: out = x ^ y; break;
        case Opcode::Call:  // power
            out = 1;
            for (__int128 k = 0; fits && k < y && (x > 1 || x < -1 || k < 2); ++k) fits = !__builtin_mul_overflow(out, x, &out);
            if (x == -1 && y % 2 == 0) out = 1;
            if (x == -1 && y % 2 == 1) out = -1;
            break;
        default:
            if ((op == Opcode::FloorDiv || op == Opcode::Rem) && y != 0) {
                const __int128 down = x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
                out = op == Opcode::FloorDiv ? down : x - down * y;
            } else if (op == Opcode::Shr && y >= 0) {
                out = x >> (y < 127 ? y : 127);
            } else {
                return {};
            }
    }
    if (fits && out == static_cast<std::int64_t>(out)) return integer(static_cast<std::int64_t>(out));
    if (!fits || out != static_cast<__int128>(static_cast<std::uint64_t>(out))) {
        rules.source.fail(ErrorCode::Overflow, place, too_large(shown(a) + " " + symbol + " " + shown(b)));
    }
    return number(Scalar(static_cast<std::uint64_t>(out)));
}

void check_range(const Rules& rules, const TypedExpr& t, DType to, const Place& place) {
    const DType from = rules.dtype(t.number().type);
    if (!t.number().constant || !t.number().type.weak || !is_integer(to)) return;
    std::string shown;
    if (is_float(from)) {
        const double v = std::trunc(t.number().scalar.cast(DType::Float64).f);
        const bool is_signed = kind_of(to) == DKind::Signed;
        const double end = std::ldexp(1.0, 8 * itemsize(to) - (is_signed ? 1 : 0));
        if (v != v) rules.source.fail(ErrorCode::Value, place, "cannot convert float NaN to integer");
        if (std::isinf(v)) rules.source.fail(ErrorCode::Overflow, place, "cannot convert float infinity to integer");
        if (v < end && v >= (is_signed ? -end : 0)) return;
        std::ostringstream digits;
        digits << std::fixed << std::setprecision(0) << v;
        shown = digits.str();
    } else if (from == DType::UInt64) {
        if (to == DType::UInt64) return;
        shown = std::to_string(t.number().scalar.u);
    } else if (is_integer(from)) {
        if (t.number().scalar.cast(to).i == t.number().scalar.i && !(to == DType::UInt64 && t.number().scalar.i < 0)) return;
        shown = std::to_string(t.number().scalar.i);
    } else {
        return;
    }
    rules.source.fail(ErrorCode::Overflow, place, "Python integer " + shown + " out of bounds for " + std::string(dtype_name(to)));
}

void require_fits(const Rules& rules, const View& v, const TypedExpr& stored, const Place& place) {
    if (stored.kind() != Kind::Number)
        rules.source.wrong_type(place, "an element of `" + v.name + "` is a number, not " + describe(stored));
    const DType from = rules.dtype(stored.number().type);
    bool fits = can_cast_same_kind(from, v.dtype);
    if (stored.number().type.weak && is_integer(from) && is_integer(v.dtype)) fits = true;
    if (rules.truncates && is_float(from) && is_integer(v.dtype)) fits = true;
    if (!fits) {
        const std::string how = v.dtype == DType::Bool ? "compare it: `… != 0`"
                                : is_complex(from)     ? "take .real or abs(…)"
                                                       : "convert it: np." + std::string(dtype_name(v.dtype)) + "(…)";
        rules.source.wrong_type(place, "`" + v.name + "` holds " + std::string(dtype_name(v.dtype)) + ", which cannot take " +
                                           describe(stored) + " without loss; " + how);
    }
    check_range(rules, stored, v.dtype, place);
}

bool checks_range(const Rules& rules, const TypedExpr& t, DType to) {
    return t.number().given && !t.number().constant && t.number().argument < 0 && !rules.exact && t.number().type.weak &&
           is_integer(t.number().type.dtype) && is_integer(to) && itemsize(to) < 8 && !fits(t, to);
}

std::vector<std::int64_t> constant_extents(const Rules& rules, const TypedExpr& t, const Place& place, const char* op_name) {
    std::vector<std::int64_t> extents;
    const auto take = [&](const TypedExpr& e) {
        if (e.kind() != Kind::Number || !e.number().constant || !is_integer(e.number().type.dtype))
            rules.source.fail(
                ErrorCode::Type, place,
                std::string(op_name) + ": the shape must be known before the kernel runs: integers, or arguments annotated as Const");
        if (e.number().scalar.i <= 0)
            rules.source.fail(ErrorCode::Value, place,
                              std::string(op_name) + ": extents are positive, not " + std::to_string(e.number().scalar.i));
        extents.push_back(e.number().scalar.i);
    };
    if (t.kind() == Kind::Tuple) {
        for (const TypedExpr& e : t.tuple().items) take(e);
    } else {
        take(t);
    }
    if (extents.empty()) rules.source.fail(ErrorCode::Value, place, std::string(op_name) + ": the shape is empty");
    return extents;
}

}  // namespace pardo::lang
