// tests/unit/api/operators_test.cpp: operators of arrays and numbers: their dtypes, on either side, and what they write in place.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include <pardo/ops.h>

#include "../message_of.h"
#include "values.h"

namespace pardo {
namespace {

TEST(Operators, TheSideOfANumberDoesNotMatter) {
    const Array x = array<std::int64_t>({1, 2, 3});
    EXPECT_EQ(shown(x * 2), "int64 (3,) [2 4 6]");
    EXPECT_EQ(shown(2 * x), "int64 (3,) [2 4 6]");
    EXPECT_EQ(shown(1 - x), "int64 (3,) [ 0 -1 -2]");
    EXPECT_EQ(shown(2 + x), "int64 (3,) [3 4 5]");
    EXPECT_EQ(shown(x * 2.0), "float64 (3,) [2. 4. 6.]");
    EXPECT_EQ(shown(2.0f * x), "float64 (3,) [2. 4. 6.]");
    EXPECT_EQ(shown(2 * array({1.5f})), "float32 (1,) [3.]");
    EXPECT_EQ(shown(0.5 * array({1.5f})), "float32 (1,) [0.75]");
    EXPECT_EQ(shown(6 / x), "float64 (3,) [6. 3. 2.]");
    const std::int64_t large = (std::int64_t{1} << 53) + 1;
    EXPECT_EQ((large * array<std::int64_t>({1})).item<std::int64_t>(), large);
    EXPECT_EQ((array<std::int64_t>({1}) * large).item<std::int64_t>(), large);
}

TEST(Operators, NumbersOfEveryType) {
    const Array x = array({1.0, 2.0}), i = array<std::int64_t>({1, 2});
    const std::vector<int> v{1, 2, 3};
    EXPECT_EQ(shown(x * 2u), "float64 (2,) [2. 4.]");
    EXPECT_EQ(shown(x * v.size()), "float64 (2,) [3. 6.]");
    EXPECT_EQ(shown(i * v.size()), "int64 (2,) [3 6]");
    EXPECT_EQ(shown(x * 2LL), "float64 (2,) [2. 4.]");
    EXPECT_EQ(shown(i * 2ULL), "int64 (2,) [2 4]");
    EXPECT_EQ(shown(i * std::int8_t{2}), "int64 (2,) [2 4]");
    EXPECT_EQ(shown(x * true), "float64 (2,) [1. 2.]");
    EXPECT_EQ(shown(x * std::complex<double>(0, 1)), "complex128 (2,) [0.+1.j 0.+2.j]");
    EXPECT_EQ(shown(std::complex<float>(0, 1) * x), "complex128 (2,) [0.+1.j 0.+2.j]");
    EXPECT_EQ(shown(std::complex<double>(0, 1) * array({1.f})), "complex64 (1,) [0.+1.j]");
    EXPECT_EQ(shown(x * Scalar(2.0)), "float64 (2,) [2. 4.]");
    EXPECT_EQ(message_of([] { array<std::int8_t>({1}) * 1000; }), "multiply: Python integer 1000 out of bounds for int8");
}

TEST(Operators, ComparisonsOnEitherSide) {
    const Array x = array({1.0, 2.0, 3.0});
    EXPECT_EQ((x < 2.0).to_vector<bool>(), (std::vector{true, false, false}));
    EXPECT_EQ((2.0 < x).to_vector<bool>(), (std::vector{false, false, true}));
    EXPECT_EQ((x <= 2).to_vector<bool>(), (std::vector{true, true, false}));
    EXPECT_EQ((2 >= x).to_vector<bool>(), (std::vector{true, true, false}));
    EXPECT_EQ((x == 2).to_vector<bool>(), (std::vector{false, true, false}));
    EXPECT_EQ((2 == x).to_vector<bool>(), (std::vector{false, true, false}));
    EXPECT_EQ((x != x).to_vector<bool>(), (std::vector{false, false, false}));
    EXPECT_EQ((x == x.copy()).to_vector<bool>(), (std::vector{true, true, true}));
}

TEST(Operators, RemaindersAndBits) {
    const Array x = array({-7, 7});
    EXPECT_EQ(shown(x % 3), "int32 (2,) [2 1]");
    EXPECT_EQ(shown(x % x), "int32 (2,) [0 0]");
    EXPECT_EQ(shown(-7 % array({3})), "int32 (1,) [2]");
    EXPECT_EQ(shown(x & 3), "int32 (2,) [1 3]");
    EXPECT_EQ(shown(x | 8), "int32 (2,) [-7 15]");
    EXPECT_EQ(shown(x ^ x), "int32 (2,) [0 0]");
    EXPECT_EQ(shown(x << 1), "int32 (2,) [-14  14]");
    EXPECT_EQ(shown(x >> 1), "int32 (2,) [-4  3]");
    EXPECT_EQ(shown(1 << array({3})), "int32 (1,) [8]");
    EXPECT_EQ(shown(~x), "int32 (2,) [ 6 -8]");
    EXPECT_EQ(shown(+x), "int32 (2,) [-7  7]");
    EXPECT_EQ(shown(-x), "int32 (2,) [ 7 -7]");
}

TEST(Operators, InPlace) {
    Array x = array({1.0, 2.0, 3.0, 4.0}), part = x[Slice{0, 2}];
    part += 1.0;
    EXPECT_EQ(shown(x), "float64 (4,) [2. 3. 3. 4.]");
    x *= 2;
    x -= x[0];
    x /= array({1.0, 2.0, 2.0, 4.0});
    EXPECT_EQ(shown(x), "float64 (4,) [0. 1. 1. 1.]");
    Array i = array({5, 6});
    ((i %= 4) <<= 2) |= 1;
    EXPECT_EQ(shown(i), "int32 (2,) [5 9]");
    i &= 3;
    i ^= 1;
    i >>= 0u;
    EXPECT_EQ(shown(i), "int32 (2,) [0 0]");
    EXPECT_NE(message_of([&] { i += 0.5; }), "");
    i += std::move(i);
    EXPECT_EQ(shown(i), "int32 (2,) [0 0]");
    Array total = sum(x);
    total += 1;
    EXPECT_EQ(shown(total), "float64 () 4.0");
}

template <class A, class B>
concept Adds = requires(A a, B b) {
    a + b;
};
template <class A>
concept Conditions = requires(A a) {
    a ? 1 : 0;
};
template <class A>
concept AddsInPlace = requires(A&& a) {
    std::forward<A>(a) += 1;
};

TEST(Operators, OfOtherTypesDoNotCompile) {
    static_assert(Adds<Array, int> && Adds<double, Array> && Adds<const Array&, Array>);
    static_assert(!Adds<Array, char> && !Adds<Array, const char*> && !Adds<Array, std::nullptr_t> && !Adds<Array, int*>);
    static_assert(!Conditions<Array>);                          // of which element?
    static_assert(AddsInPlace<Array&> && !AddsInPlace<Array>);  // x[3] += 1 would be lost
}

}  // namespace
}  // namespace pardo
