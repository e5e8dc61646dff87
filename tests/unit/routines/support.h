// tests/unit/routines/support.h: random arrays of every dtype, and NumPy's order in plain loops to compare with.
#pragma once

#include <gtest/gtest.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "base/narrow.h"

namespace pardo::test {

using Longs = std::vector<std::int64_t>;

template <class T> Array make(const std::vector<T>& values, const Longs& shape) {
    Longs strides(shape.size());
    std::int64_t step = sizeof(T);
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = step;
        step *= std::max<std::int64_t>(shape[d], 1);
    }
    return from_host(values.data(), dtype_of<T>, shape, strides);
}
inline Array make(const Longs& values) { return make(values, {static_cast<std::int64_t>(values.size())}); }
// std::vector<bool> has no memory of bools.
inline Array make_mask(const std::vector<std::uint8_t>& values, const Longs& shape) { return make(values, shape).astype(DType::Bool); }

template <class T> std::vector<T> values_of(const Array& x) {
    EXPECT_EQ(x.dtype(), dtype_of<T>);
    std::vector<T> out(static_cast<std::size_t>(x.size()));
    if (!out.empty()) x.copy_to(out.data());
    return out;
}
inline Longs longs_of(const Array& x) { return values_of<std::int64_t>(x); }
inline Longs shape_of(const Array& x) { return {x.shape().begin(), x.shape().end()}; }

/// Types with memory of their own in a vector; bool is tested as its bytes.
using Numbers = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                                 std::uint64_t, Half, BFloat16, float, double, std::complex<float>, std::complex<double>>;

template <class T> inline constexpr bool is_complex_type = false;
template <class T> inline constexpr bool is_complex_type<std::complex<T>> = true;

inline std::mt19937_64& generator() {
    static std::mt19937_64 g(12345);
    return g;
}

/// A random element: many duplicates, some NaN, infinities and both zeros when `special`.
template <class T> T random_value(bool special, int range = 1000) {
    auto& g = generator();
    if constexpr (NarrowFloat<T>) {
        return narrowed_to<T>(random_value<float>(special, range));
    } else if constexpr (is_complex_type<T>) {
        using R = typename T::value_type;
        return T(random_value<R>(special, 6), random_value<R>(special, 6));
    } else if constexpr (std::is_floating_point_v<T>) {
        const auto pick = g() % 40;
        if (special && pick < 6) {
            const T odd[] = {std::numeric_limits<T>::quiet_NaN(),
                             -std::numeric_limits<T>::quiet_NaN(),
                             std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity(),
                             T(0),
                             -T(0)};
            return odd[pick];
        }
        return static_cast<T>(static_cast<double>(g() % static_cast<unsigned>(2 * range)) - range) / 8;
    } else {
        return special ? static_cast<T>(g()) : static_cast<T>(g() % static_cast<unsigned>(range));
    }
}
template <class T> std::vector<T> random_values(std::int64_t n, bool special = true, int range = 1000) {
    std::vector<T> out(static_cast<std::size_t>(n));
    for (T& v : out) v = random_value<T>(special, range);
    return out;
}

template <NarrowFloat T> float plain(T v) { return widened_to_float(v); }
template <class T> T plain(T v) { return v; }

template <class T> bool is_nan(T v) {
    if constexpr (NarrowFloat<T>)
        return is_nan(widened_to_float(v));
    else
        return v != v;
}
/// NumPy's order: NaN last; complex by real, then imaginary part, those with NaN behind.
template <class T> bool less(T a, T b) {
    if constexpr (NarrowFloat<T>)
        return less(widened_to_float(a), widened_to_float(b));
    else if constexpr (is_complex_type<T>) {
        const auto group = [](T v) { return 2 * (v.real() != v.real()) + (v.imag() != v.imag()); };
        if (group(a) != group(b)) return group(a) < group(b);
        if (group(a) < 2 && a.real() != b.real()) return a.real() < b.real();
        return group(a) % 2 == 0 && a.imag() < b.imag();
    } else {
        return a < b || (b != b && a == a);
    }
}
template <class T> bool same(T a, T b) { return !less(a, b) && !less(b, a); }

template <class F> ErrorCode error_of(F&& f, std::string* text = nullptr) {
    try {
        f();
    } catch (const Error& e) {
        if (text) *text = e.message();
        return e.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::Internal;
}
#define EXPECT_ERROR(statement, error_code, part)                                                   \
    do {                                                                                            \
        std::string error_text;                                                                     \
        EXPECT_EQ(::pardo::test::error_of([&] { statement; }, &error_text), ErrorCode::error_code); \
        EXPECT_NE(error_text.find(part), std::string::npos) << error_text;                          \
    } while (false)

}  // namespace pardo::test
