// src/base/narrow.h: floats of 16 bits, however many of them are the exponent's, from numbers and to numbers.
#pragma once

#include <bit>
#include <cstdint>

#include <pardo/dtype.h>

namespace pardo {

/// The number that bits stand for; all of them are float32's too.
constexpr float from_narrow(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
    if (exponent_bits == 8) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << (23 - mantissa_bits));  // the top of a float32
    const int top = (1 << exponent_bits) - 1, bias = top / 2;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    const int exponent = bits >> mantissa_bits & top;
    const auto mantissa = static_cast<std::uint32_t>(bits & ((1 << mantissa_bits) - 1));
    const std::uint32_t fraction = mantissa << (23 - mantissa_bits);
    if (exponent == top) return std::bit_cast<float>(sign | 0x7f800000u | fraction);
    if (exponent != 0) return std::bit_cast<float>(sign | static_cast<std::uint32_t>(exponent - bias + 127) << 23 | fraction);
    // Subnormals and zero are exact: an integer times their unit.
    const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(1 - bias - mantissa_bits + 1023) << 52);
    const auto magnitude = static_cast<float>(mantissa * unit);
    return sign ? -magnitude : magnitude;
}

/// The bits of what a number is rounded to, once, ties to even; of a NaN the top of its bits.
constexpr std::uint16_t to_narrow(double value, int exponent_bits, int mantissa_bits) {
    const int top = (1 << exponent_bits) - 1, bias = top / 2, least = 1 - bias, dropped = 52 - mantissa_bits;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000);
    const auto infinity = static_cast<std::uint16_t>(sign | top << mantissa_bits);
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    if (magnitude > 0x7ff0000000000000u) {
        const auto payload = static_cast<std::uint16_t>(magnitude >> dropped & ((1u << mantissa_bits) - 1));
        return static_cast<std::uint16_t>(infinity | (payload != 0 ? payload : 1));
    }
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;
    if (exponent > bias) return infinity;
    if (exponent < least - mantissa_bits - 1) return sign;
    const std::uint64_t significand = (magnitude & 0xfffffffffffffu) | std::uint64_t{1} << 52;
    // Keeps all bits of a normal number, fewer of a subnormal. A carry moves into the exponent by itself, and from the largest to infinity.
    const int drop = exponent >= least ? dropped : dropped + least - exponent;
    std::uint64_t kept = significand >> drop;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1), half = std::uint64_t{1} << (drop - 1);
    kept += rest + (kept & 1) > half;  // to even where it lies in the middle; no branch, which would be taken half of the times
    const std::uint64_t base = exponent >= least ? static_cast<std::uint64_t>(exponent - least) << mantissa_bits : 0;
    return static_cast<std::uint16_t>(sign | (base + kept));
}

/// The C++ types of elements that are floats of 16 bits.
template <class T>
concept NarrowFloat = OneOf<T, Half, BFloat16>;

/// An element's number, and the element that a number is rounded to.
template <NarrowFloat T> constexpr float widened_to_float(T x) {
    return from_narrow(x.bits, facts_of(dtype_of<T>).exponent, facts_of(dtype_of<T>).mantissa);
}
template <NarrowFloat T> constexpr T narrowed_to(double value) {
    return {to_narrow(value, facts_of(dtype_of<T>).exponent, facts_of(dtype_of<T>).mantissa)};
}

}  // namespace pardo
