// src/ir/eval.cpp: arithmetic on single values, as the IR defines it.
#include "ir/eval.h"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>

#include <pardo/error.h>

#include "base/narrow.h"
#include "base/scalar_words.h"

namespace pardo::ir {
namespace {

using Scalars = std::span<const Scalar>;

// ---- integers: 64 bits wide, wrapped to the dtype by make_integer

std::uint64_t integer_power(DType type, std::uint64_t base, std::uint64_t exponent, bool negative_exponent) {
    if (negative_exponent) {
        const bool odd = exponent & 1;
        if (base == 1) return 1;
        return kind_of(type) == DKind::Signed && base == ~std::uint64_t{0} ? (odd ? base : 1) : 0;
    }
    std::uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/// Quotient rounded down and remainder with the divisor's sign, or truncated and with the dividend's.
template <class Int> std::uint64_t integer_divide(Opcode op, Int a, Int b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<Int>) {
        if (b == -1) return op == Opcode::FloorDiv ? std::uint64_t{0} - static_cast<std::uint64_t>(a) : 0;
    }
    const Int quotient = a / b, remainder = a % b;
    const bool adjust = remainder != 0 && (remainder < 0) != (b < 0);
    switch (op) {
        case Opcode::FloorDiv: return static_cast<std::uint64_t>(adjust ? quotient - 1 : quotient);
        case Opcode::Rem: return static_cast<std::uint64_t>(adjust ? remainder + b : remainder);
        default: return static_cast<std::uint64_t>(remainder);
    }
}

std::uint64_t shift(Opcode op, DType type, const Scalar& a, const Scalar& b) {
    const bool is_signed = kind_of(type) == DKind::Signed;
    const bool in_range = b.u < static_cast<std::uint64_t>(8 * itemsize(type));  // negative counts are large ones
    if (op == Opcode::Shl) return in_range ? a.u << b.u : 0;
    if (is_signed) return static_cast<std::uint64_t>(in_range ? a.i >> b.i : a.i < 0 ? -1 : 0);
    return in_range ? a.u >> b.u : 0;
}

template <class T> bool ordered(Opcode op, T a, T b) {
    switch (op) {
        case Opcode::Eq: return a == b;
        case Opcode::Ne: return a != b;
        case Opcode::Lt: return a < b;
        case Opcode::Le: return a <= b;
        case Opcode::Gt: return a > b;
        default: return a >= b;
    }
}

Scalar integer_op(Opcode op, Math fn, DType type, Scalars v) {
    const bool is_signed = kind_of(type) == DKind::Signed;
    const std::uint64_t a = v[0].u, b = v.size() > 1 ? v[1].u : 0;
    const bool less = v.size() > 1 && (is_signed ? v[0].i < v[1].i : a < b);
    std::uint64_t bits = 0;
    switch (op) {
        case Opcode::Add: bits = a + b; break;
        case Opcode::Sub: bits = a - b; break;
        case Opcode::Mul: bits = a * b; break;
        case Opcode::FloorDiv:
        case Opcode::Rem:
        case Opcode::Fmod: bits = is_signed ? integer_divide(op, v[0].i, v[1].i) : integer_divide(op, a, b); break;
        case Opcode::Neg: bits = 0 - a; break;
        case Opcode::Abs: bits = is_signed && v[0].i < 0 ? 0 - a : a; break;
        case Opcode::Min:
        case Opcode::Fmin: bits = less ? a : b; break;
        case Opcode::Max:
        case Opcode::Fmax: bits = less ? b : a; break;
        case Opcode::And: bits = a & b; break;
        case Opcode::Or: bits = a | b; break;
        case Opcode::Xor: bits = a ^ b; break;
        case Opcode::Not: bits = ~a; break;
        case Opcode::Shl:
        case Opcode::Shr: bits = shift(op, type, v[0], v[1]); break;
        case Opcode::Call:
            if (fn == Math::pow) {
                bits = integer_power(type, a, b, is_signed && v[1].i < 0);
                break;
            }
            [[fallthrough]];
        default: throw Error(ErrorCode::Internal, std::string("evaluate: ") + name(op) + " has no integer form");
    }
    return make_integer(type, bits);
}

Scalar bool_op(Opcode op, Scalars v) {
    const bool a = v[0].b, b = v.size() > 1 && v[1].b;
    switch (op) {
        case Opcode::Add:
        case Opcode::Or:
        case Opcode::Max: return Scalar(a || b);
        case Opcode::Mul:
        case Opcode::And:
        case Opcode::Min: return Scalar(a && b);
        case Opcode::Sub:
        case Opcode::Xor: return Scalar(a != b);
        case Opcode::Not: return Scalar(!a);
        default: throw Error(ErrorCode::Internal, std::string("evaluate: ") + name(op) + " has no bool form");
    }
}

// ---- floats; F is the type that the operation is computed in

/// NumPy's divmod: the quotient rounded down, and the remainder with the divisor's sign.
template <class F> F floor_quotient(F a, F b, F& remainder) {
    remainder = std::fmod(a, b);
    if (b == 0) return a / b;
    F quotient = (a - remainder) / b;
    if (remainder != 0) {
        if ((b < 0) != (remainder < 0)) {
            remainder += b;
            quotient -= 1;
        }
    } else {
        remainder = std::copysign(F(0), b);
    }
    if (quotient == 0) return std::copysign(F(0), a / b);
    const F floored = std::floor(quotient);
    return quotient - floored > F(0.5) ? floored + 1 : floored;
}

double next_after(DType type, double from, double to) {
    if (type == DType::Float64) return std::nextafter(from, to);
    if (type == DType::Float32) return std::nextafterf(static_cast<float>(from), static_cast<float>(to));
    if (std::isnan(from) || std::isnan(to)) return from + to;
    if (from == to) return to;
    const DTypeFacts& facts = facts_of(type);
    if (from == 0) return std::copysign(from_narrow(1, facts.exponent, facts.mantissa), to);
    const bool outward = (from < to) == (from > 0);
    const std::uint16_t bits = to_narrow(from, facts.exponent, facts.mantissa);
    return from_narrow(static_cast<std::uint16_t>(outward ? bits + 1 : bits - 1), facts.exponent, facts.mantissa);
}

double log_add(double a, double b, bool base_two) {
    if (a == b) return a + (base_two ? 1.0 : std::log(2.0));  // also equal infinities
    const double high = std::fmax(a, b), low = std::fmin(a, b);
    if (std::isnan(a) || std::isnan(b)) return a + b;
    return base_two ? high + std::log1p(std::exp2(low - high)) / std::log(2.0) : high + std::log1p(std::exp(low - high));
}

/// The functions that C++ has for real and complex numbers alike.
template <class T> std::optional<T> common_call(Math fn, T a) {
    switch (fn) {
        case Math::sqrt: return std::sqrt(a);
        case Math::exp: return std::exp(a);
        case Math::log: return std::log(a);
        case Math::log10: return std::log10(a);
        case Math::sin: return std::sin(a);
        case Math::cos: return std::cos(a);
        case Math::tan: return std::tan(a);
        case Math::asin: return std::asin(a);
        case Math::acos: return std::acos(a);
        case Math::atan: return std::atan(a);
        case Math::sinh: return std::sinh(a);
        case Math::cosh: return std::cosh(a);
        case Math::tanh: return std::tanh(a);
        case Math::asinh: return std::asinh(a);
        case Math::acosh: return std::acosh(a);
        case Math::atanh: return std::atanh(a);
        default: return std::nullopt;
    }
}

double call(DType type, Math fn, double a, double b) {
    if (const auto value = common_call(fn, a)) return *value;
    switch (fn) {
        case Math::cbrt: return std::cbrt(a);
        case Math::exp2: return std::exp2(a);
        case Math::expm1: return std::expm1(a);
        case Math::log2: return std::log2(a);
        case Math::log1p: return std::log1p(a);
        case Math::atan2: return std::atan2(a, b);
        case Math::hypot: return std::hypot(a, b);
        case Math::pow: return std::pow(a, b);
        case Math::copysign: return std::copysign(a, b);
        case Math::nextafter: return next_after(type, a, b);
        case Math::floor: return std::floor(a);
        case Math::ceil: return std::ceil(a);
        case Math::trunc: return std::trunc(a);
        case Math::rint: return std::nearbyint(a);
        case Math::erf: return std::erf(a);
        case Math::erfc: return std::erfc(a);
        case Math::logaddexp: return log_add(a, b, false);
        case Math::logaddexp2: return log_add(a, b, true);
        case Math::tgamma: return std::tgamma(a);
        case Math::lgamma: return std::lgamma(a);
        default: throw Error(ErrorCode::Internal, std::string("evaluate: ") + name(fn) + " has no floating form");
    }
}

// Sums, products and quotients of two floats or halves round twice without harm when computed in float64.
Scalar float_op(Opcode op, Math fn, DType type, Scalars v) {
    const double a = v[0].f, b = v.size() > 1 ? v[1].f : 0;
    double r = 0;
    switch (op) {
        case Opcode::Add: r = a + b; break;
        case Opcode::Sub: r = a - b; break;
        case Opcode::Mul: r = a * b; break;
        case Opcode::Div: r = a / b; break;
        case Opcode::FloorDiv:
        case Opcode::Rem:
            if (type == DType::Float64) {
                double remainder;
                const double quotient = floor_quotient(a, b, remainder);
                r = op == Opcode::Rem ? remainder : quotient;
            } else {
                float remainder;
                const float quotient = floor_quotient(static_cast<float>(a), static_cast<float>(b), remainder);
                r = op == Opcode::Rem ? remainder : quotient;
            }
            break;
        case Opcode::Fmod: r = std::fmod(a, b); break;
        case Opcode::Neg: r = -a; break;
        case Opcode::Abs: r = std::fabs(a); break;
        case Opcode::Min: r = a < b || std::isnan(a) ? a : b; break;
        case Opcode::Max: r = a > b || std::isnan(a) ? a : b; break;
        case Opcode::Fmin: r = a < b || std::isnan(b) ? a : b; break;
        case Opcode::Fmax: r = a > b || std::isnan(b) ? a : b; break;
        case Opcode::Fma:
            r = computed_in(type) == DType::Float32 ? std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(v[2].f))
                                                    : std::fma(a, b, v[2].f);
            break;
        case Opcode::Call: r = call(type, fn, a, b); break;
        default: throw Error(ErrorCode::Internal, std::string("evaluate: ") + name(op) + " has no floating form");
    }
    return make_float(type, r);
}

// ---- complex

template <class F> std::complex<F> complex_call(Math fn, std::complex<F> a, std::complex<F> b) {
    const std::complex<F> one(1);
    if (fn == Math::tanh && std::isinf(a.real())) return {std::copysign(F(1), a.real()), std::copysign(F(0), a.imag())};
    if (const auto value = common_call(fn, a)) return *value;
    switch (fn) {
        case Math::exp2: return std::pow(std::complex<F>(2), a);
        case Math::expm1:
            if (!std::isfinite(a.real()) || !std::isfinite(a.imag())) return std::exp(a) - one;
            return {std::expm1(a.real()) * std::cos(a.imag()) - 2 * std::pow(std::sin(a.imag() / 2), F(2)),
                    std::exp(a.real()) * std::sin(a.imag())};
        case Math::log2: return std::log(a) / std::log(F(2));
        case Math::log1p: return {std::log(std::hypot(a.real() + 1, a.imag())), std::atan2(a.imag(), a.real() + 1)};
        case Math::pow: return b == std::complex<F>(0) ? one : std::pow(a, b);
        default: throw Error(ErrorCode::Internal, std::string("evaluate: ") + name(fn) + " has no complex form");
    }
}

/// NumPy's order: real parts first, then imaginary ones.
bool complex_less(std::complex<double> a, std::complex<double> b) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
bool complex_nan(std::complex<double> a) { return std::isnan(a.real()) || std::isnan(a.imag()); }

Scalar complex_op(Opcode op, Math fn, DType type, Scalars v) {
    const std::complex<double> a(v[0].c.re, v[0].c.im), b = v.size() > 1 ? std::complex<double>(v[1].c.re, v[1].c.im) : 0.0;
    std::complex<double> r;
    switch (op) {
        case Opcode::Add: r = a + b; break;
        case Opcode::Sub: r = a - b; break;
        case Opcode::Mul: r = a * b; break;
        case Opcode::Div: r = a / b; break;
        case Opcode::Neg: r = -a; break;
        case Opcode::Min: r = complex_nan(a) || (!complex_nan(b) && !complex_less(b, a)) ? a : b; break;
        case Opcode::Max: r = complex_nan(a) || (!complex_nan(b) && !complex_less(a, b)) ? a : b; break;
        case Opcode::Call: r = complex_call(fn, a, b); break;
        default: throw Error(ErrorCode::Internal, std::string("evaluate: ") + name(op) + " has no complex form");
    }
    return make_complex(type, r.real(), r.imag());
}

// ---- comparison and conversion

Scalar compare(Opcode op, const Scalar& a, const Scalar& b) {
    switch (kind_of(a.dtype)) {
        case DKind::Bool: return Scalar(ordered(op, a.b, b.b));
        case DKind::Signed: return Scalar(ordered(op, a.i, b.i));
        case DKind::Unsigned: return Scalar(ordered(op, a.u, b.u));
        case DKind::Float: return Scalar(ordered(op, a.f, b.f));
        default: {
            const bool equal = a.c.re == b.c.re && a.c.im == b.c.im;
            return Scalar(op == Opcode::Eq ? equal : !equal);
        }
    }
}

/// The low bytes of a word from memory: 1, 2, 4 or 8 of them. Where the compiler knows how many, the copy is one load.
std::uint64_t bytes_at(const void* at, std::size_t size) {
    std::uint64_t word = 0;
    switch (size) {
        case 1: std::memcpy(&word, at, 1); break;
        case 2: std::memcpy(&word, at, 2); break;
        case 4: std::memcpy(&word, at, 4); break;
        default: std::memcpy(&word, at, 8); break;
    }
    return word;
}

}  // namespace

Scalar make_integer(DType type, std::uint64_t bits) { return scalar_of_words(type, bits); }

Scalar make_float(DType type, double value) { return Scalar(value).cast(type); }

Scalar make_complex(DType type, double re, double im) { return Scalar(std::complex<double>(re, im)).cast(type); }

bool same_bits(const Scalar& a, const Scalar& b) {
    if (a.dtype != b.dtype) return false;
    switch (kind_of(a.dtype)) {
        case DKind::Bool: return a.b == b.b;
        case DKind::Complex:
            return std::bit_cast<std::uint64_t>(a.c.re) == std::bit_cast<std::uint64_t>(b.c.re) &&
                   std::bit_cast<std::uint64_t>(a.c.im) == std::bit_cast<std::uint64_t>(b.c.im);
        default: return a.u == b.u;
    }
}

bool Constant::operator==(const Constant& other) const { return same_bits(value, other.value); }

bool is_evaluable(Math fn, DType t) noexcept { return is_complex(t) ? fn < Math::erf : fn <= Math::lgamma; }

Scalar evaluate(Opcode op, Math fn, DType result, Scalars v) {
    const DType type = v[0].dtype;
    switch (op) {
        case Opcode::Select: return v[0].b ? v[1] : v[2];
        case Opcode::Cast: return v[0].cast(result);
        case Opcode::Bitcast: return scalar_of_words(result, scalar_words(v[0]).words[0]);
        case Opcode::Complex: return make_complex(result, v[0].f, v[1].f);
        case Opcode::Real: return make_float(result, v[0].c.re);
        case Opcode::Imag: return make_float(result, v[0].c.im);
        case Opcode::Wrap: return v[0].i < 0 ? make_integer(result, v[0].u + v[1].u) : v[0];
        case Opcode::Inside: return Scalar(v[0].i >= 0 && v[0].i < v[1].i);
        case Opcode::Lookup: return v[1 + (v[0].u & (v.size() - 2))];
        default: break;
    }
    if (op >= Opcode::Eq && op <= Opcode::Ge) return compare(op, v[0], v[1]);
    switch (kind_of(type)) {
        case DKind::Bool: return bool_op(op, v);
        case DKind::Signed:
        case DKind::Unsigned: return integer_op(op, fn, type, v);
        case DKind::Float: return float_op(op, fn, type, v);
        default: break;
    }
    if (op == Opcode::Abs) return make_float(result, std::hypot(v[0].c.re, v[0].c.im));
    return complex_op(op, fn, type, v);
}

Scalar read_element(DType type, const void* at) {
    const auto size = static_cast<std::size_t>(itemsize(real_of(type)));
    const std::uint64_t first = bytes_at(at, size);
    if (type == DType::Bool) return Scalar(first != 0);
    return scalar_of_words(type, first, is_complex(type) ? bytes_at(static_cast<const std::byte*>(at) + size, size) : 0);
}

void write_element(const Scalar& s, void* at) {
    const auto size = static_cast<std::size_t>(itemsize(real_of(s.dtype)));
    const ScalarWords words = scalar_words(s);
    for (std::size_t k = 0; k < static_cast<std::size_t>(words.count); ++k)
        std::memcpy(static_cast<std::byte*>(at) + k * size, &words.words[k], size);
}

}  // namespace pardo::ir
