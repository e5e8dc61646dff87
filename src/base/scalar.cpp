// src/base/scalar.cpp: single values: conversion as NumPy's astype on x86-64, and float16 to and from its bits.
#include <bit>
#include <cmath>

#include <pardo/dtype.h>

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

/// Wraps to the width of an integer dtype.
Scalar wrapped(DType to, std::uint64_t bits) {
    Scalar s;
    s.dtype = to;
    switch (to) {
        case DType::Int8: s.i = static_cast<std::int8_t>(bits); break;
        case DType::Int16: s.i = static_cast<std::int16_t>(bits); break;
        case DType::Int32: s.i = static_cast<std::int32_t>(bits); break;
        case DType::Int64: s.i = static_cast<std::int64_t>(bits); break;
        case DType::UInt8: s.u = static_cast<std::uint8_t>(bits); break;
        case DType::UInt16: s.u = static_cast<std::uint16_t>(bits); break;
        case DType::UInt32: s.u = static_cast<std::uint32_t>(bits); break;
        default: s.u = bits; break;
    }
    return s;
}

Scalar float_to_integer(DType to, double f) {
    switch (to) {
        case DType::Int64:
        case DType::UInt32: return wrapped(to, static_cast<std::uint64_t>(truncate64(f)));
        case DType::UInt64: return wrapped(to, truncate_unsigned64(f));
        default: return wrapped(to, static_cast<std::uint64_t>(static_cast<std::int64_t>(truncate32(f))));
    }
}

double round_to(DType real, double f) {
    if (real == DType::Float32) return static_cast<float>(f);
    if (real == DType::Float16) return half_to_float(double_to_half(f));
    return f;
}

template <class Int> double integer_to(DType real, Int v) {
    // One rounding for float32; float16 goes through float32, as in NumPy.
    if (real == DType::Float32) return static_cast<float>(v);
    if (real == DType::Float16) return half_to_float(float_to_half(static_cast<float>(v)));
    return static_cast<double>(v);
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
            case DKind::Bool: return wrapped(to, b ? 1 : 0);
            case DKind::Signed:
            case DKind::Unsigned: return wrapped(to, u);
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

float half_to_float(Half h) {
    const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000) << 16;
    const std::uint32_t exponent = (h.bits >> 10) & 31, mantissa = h.bits & 0x3ff;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // subnormals and zero are exact
    return sign ? -magnitude : magnitude;
}

Half double_to_half(double d) {
    const auto bits = std::bit_cast<std::uint64_t>(d);
    const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000);
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    if (magnitude > 0x7ff0000000000000u) {
        const auto payload = static_cast<std::uint16_t>(magnitude >> 42 & 0x3ff);
        return {static_cast<std::uint16_t>(sign | 0x7c00 | (payload != 0 ? payload : 1))};
    }
    if (magnitude >= std::bit_cast<std::uint64_t>(65520.0)) return {static_cast<std::uint16_t>(sign | 0x7c00)};
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;
    if (exponent < -25) return {sign};
    const std::uint64_t significand = (magnitude & 0xfffffffffffffu) | std::uint64_t{1} << 52;
    // Keep 11 bits of a normal number, fewer of a subnormal; round to nearest even. A carry moves into the exponent by itself.
    const int drop = exponent >= -14 ? 42 : 42 - 14 - exponent;
    std::uint64_t kept = significand >> drop;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1), half = std::uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (kept & 1))) ++kept;
    const std::uint64_t base = exponent >= -14 ? static_cast<std::uint64_t>(exponent + 14) << 10 : 0;
    return {static_cast<std::uint16_t>(sign | (base + kept))};
}

Half float_to_half(float f) { return double_to_half(f); }

namespace {

std::uint64_t float_word(DType dtype, double value) {
    switch (dtype) {
        case DType::Float16: return double_to_half(value).bits;
        case DType::Float32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        default: return std::bit_cast<std::uint64_t>(value);
    }
}

}  // namespace

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

}  // namespace pardo
