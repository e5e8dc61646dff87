// src/base/scalar.cpp: single values: conversion as NumPy's astype on x86-64, and to and from their bits.
#include <algorithm>
#include <bit>
#include <cmath>

#include <pardo/dtype.h>

#include "base/narrow.h"
#include "base/scalar_words.h"

namespace pardo {
namespace {

/// What cvttsd2si gives: truncation, and the smallest value for everything that does not fit, NaN included.
std::int64_t truncate64(double f) {
    if (!(f >= -0x1p63 && f < 0x1p63)) return INT64_MIN;
    return static_cast<std::int64_t>(f);
}
std::int32_t truncate32(double f) {
    if (!(f > -0x1p31 - 1.0 && f < 0x1p31)) return INT32_MIN;
    return static_cast<std::int32_t>(f);
}

/// Float to uint64 as compilers lower it for x86-64: values from 2^63 on are shifted down and back, the rest goes through int64.
std::uint64_t truncate_unsigned64(double f) {
    if (f >= 0x1p63) return static_cast<std::uint64_t>(truncate64(f - 0x1p63)) ^ (std::uint64_t{1} << 63);
    return static_cast<std::uint64_t>(truncate64(f));
}

Scalar float_to_integer(DType to, double f) {
    switch (to) {
        case DType::Int64:
        case DType::UInt32: return scalar_of_words(to, static_cast<std::uint64_t>(truncate64(f)));
        case DType::UInt64: return scalar_of_words(to, truncate_unsigned64(f));
        default: return scalar_of_words(to, static_cast<std::uint64_t>(static_cast<std::int64_t>(truncate32(f))));
    }
}

/// The word of a float of that dtype, and its number: a dtype of 16 bits by its row's facts.
std::uint64_t float_word(DType dtype, double value) {
    if (dtype == DType::Float64) return std::bit_cast<std::uint64_t>(value);
    if (dtype == DType::Float32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return to_narrow(value, facts_of(dtype).exponent, facts_of(dtype).mantissa);
}
double float_of_word(DType dtype, std::uint64_t word) {
    if (dtype == DType::Float64) return std::bit_cast<double>(word);
    if (dtype == DType::Float32) return std::bit_cast<float>(static_cast<std::uint32_t>(word));
    return from_narrow(static_cast<std::uint16_t>(word), facts_of(dtype).exponent, facts_of(dtype).mantissa);
}

double round_to(DType real, double f) {
    if (real == DType::Float32) return static_cast<float>(f);
    return is_narrow_float(real) ? float_of_word(real, float_word(real, f)) : f;
}

template <class Int> double integer_to(DType real, Int v) {
    // One rounding for float32; what is narrower goes through that, as in NumPy.
    return computed_in(real) == DType::Float32 ? round_to(real, static_cast<float>(v)) : static_cast<double>(v);
}

}  // namespace

Scalar Scalar::cast(DType to) const {
    const DKind from = kind_of(dtype);
    if (to == DType::Bool) {
        switch (from) {
            case DKind::Bool: return Scalar(b);
            case DKind::Signed:
            case DKind::Unsigned: return Scalar(u != 0);
            case DKind::Float: return Scalar(f != 0);
            default: return Scalar(c.re != 0 || c.im != 0);
        }
    }
    if (is_integer(to)) {
        switch (from) {
            case DKind::Bool: return scalar_of_words(to, b ? 1 : 0);
            case DKind::Signed:
            case DKind::Unsigned: return scalar_of_words(to, u);
            case DKind::Float: return float_to_integer(to, f);
            default: return float_to_integer(to, c.re);
        }
    }
    const DType real = real_of(to);
    double re = 0, im = 0;
    switch (from) {
        case DKind::Bool: re = b ? 1 : 0; break;
        case DKind::Signed: re = integer_to(real, i); break;
        case DKind::Unsigned: re = integer_to(real, u); break;
        case DKind::Float: re = round_to(real, f); break;
        default: re = round_to(real, c.re); im = round_to(real, c.im);
    }
    Scalar s;
    s.dtype = to;
    s.c.re = re;  // s.f is the same storage for float kinds
    s.c.im = im;
    return s;
}

double Scalar::as_double() const {
    switch (kind_of(dtype)) {
        case DKind::Bool: return b ? 1 : 0;
        case DKind::Signed: return static_cast<double>(i);
        case DKind::Unsigned: return static_cast<double>(u);
        case DKind::Float: return f;
        default: return c.re;
    }
}

std::int64_t Scalar::as_int() const { return cast(DType::Int64).i; }

float half_to_float(Half h) { return widened_to_float(h); }
Half double_to_half(double d) { return narrowed_to<Half>(d); }
Half float_to_half(float f) { return narrowed_to<Half>(f); }
float bfloat16_to_float(BFloat16 b) { return widened_to_float(b); }
BFloat16 double_to_bfloat16(double d) { return narrowed_to<BFloat16>(d); }
BFloat16 float_to_bfloat16(float f) { return narrowed_to<BFloat16>(f); }

ScalarWords scalar_words(const Scalar& s) {
    switch (kind_of(s.dtype)) {
        case DKind::Bool: return {{s.b ? 1u : 0u, 0}};
        case DKind::Signed: return {{static_cast<std::uint64_t>(s.i), 0}};
        case DKind::Unsigned: return {{s.u, 0}};
        case DKind::Float: return {{float_word(s.dtype, s.f), 0}};
        case DKind::Complex: break;
    }
    return {{float_word(real_of(s.dtype), s.c.re), float_word(real_of(s.dtype), s.c.im)}, 2};
}

Scalar scalar_of_words(DType dtype, std::uint64_t first, std::uint64_t second) {
    Scalar s;
    s.dtype = dtype;
    const int unused = 64 - 8 * std::min(itemsize(dtype), 8);
    switch (kind_of(dtype)) {
        case DKind::Bool: s.b = first & 1; break;
        case DKind::Signed: s.i = static_cast<std::int64_t>(first << unused) >> unused; break;
        case DKind::Unsigned: s.u = first << unused >> unused; break;
        case DKind::Float: s.f = float_of_word(dtype, first); break;
        case DKind::Complex: s.c = {float_of_word(real_of(dtype), first), float_of_word(real_of(dtype), second)}; break;
    }
    return s;
}

}  // namespace pardo
