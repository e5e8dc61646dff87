// tests/unit/api/arrays_test.cpp: arrays from values of C++, their parts, and values of C++ from arrays.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <list>
#include <ranges>
#include <vector>

#include <pardo/linalg.h>
#include <pardo/ops.h>

#include "../message_of.h"
#include "values.h"

namespace pardo {
namespace {

TEST(FromValues, BracesVectorsAndNumbers) {
    EXPECT_EQ(shown(array({1, 2, 3})), "int32 (3,) [1 2 3]");
    EXPECT_EQ(shown(array({1.5, 2.0})), "float64 (2,) [1.5 2. ]");
    EXPECT_EQ(shown(array<float>({1, 2})), "float32 (2,) [1. 2.]");
    EXPECT_EQ(shown(array({true, false})), "bool (2,) [ True False]");
    EXPECT_EQ(shown(array({{1, 2, 3}, {4, 5, 6}})), "int32 (2,3,) [[1 2 3]\n [4 5 6]]");
    EXPECT_EQ(shown(array(std::vector<std::int64_t>{1, 2})), "int64 (2,) [1 2]");
    EXPECT_EQ(shown(array(std::vector<bool>{true, false, true})), "bool (3,) [ True False  True]");
    EXPECT_EQ(shown(array(std::array<float, 2>{1, 2})), "float32 (2,) [1. 2.]");
    const std::uint8_t plain[] = {1, 255};
    EXPECT_EQ(shown(array(plain)), "uint8 (2,) [  1 255]");
    EXPECT_EQ(shown(array({std::complex<float>(1, -2)})), "complex64 (1,) [1.-2.j]");
    EXPECT_EQ(shown(array(2.5)), "float64 () 2.5");
    EXPECT_EQ(shown(array(std::vector<double>{})), "float64 (0,) []");
    EXPECT_EQ(shown(array({2ULL, 3ULL})), "uint64 (2,) [2 3]");
    EXPECT_EQ(message_of([] { array({{1, 2}, {3}}); }), "array: rows are of different lengths");
    EXPECT_EQ(shown(array(std::list<double>{1, 2})), "float64 (2,) [1. 2.]");
#if !defined(__clang__) || __clang_major__ >= 16  // older ones take no views of GCC's library
    EXPECT_EQ(shown(array(std::views::iota(0, 4))), "int32 (4,) [0 1 2 3]");
    EXPECT_EQ(shown(array(std::vector{1, 2, 3, 4} | std::views::filter([](int n) { return n % 2 == 0; }))), "int32 (2,) [2 4]");
#endif
}

template <class... T>
concept MakesArray = requires(T... values) {
    array({values...});
};

TEST(FromValues, OfSeveralTypesDoNotCompile) {
    static_assert(MakesArray<int, int> && MakesArray<bool, bool> && MakesArray<float>);
    static_assert(!MakesArray<int, long> && !MakesArray<float, double> && !MakesArray<> && !MakesArray<char>);
}

TEST(FromNothing, ShapesInBraces) {
    EXPECT_EQ(shown(zeros({2, 3})), "float64 (2,3,) [[0. 0. 0.]\n [0. 0. 0.]]");
    EXPECT_EQ(shown(zeros(3)), "float64 (3,) [0. 0. 0.]");
    EXPECT_EQ(shown(zeros({})), "float64 () 0.0");
    EXPECT_EQ(shown(ones(std::vector<std::int64_t>{1, 2}, DType::Int8)), "int8 (1,2,) [[1 1]]");
    EXPECT_EQ(shown(ones(std::vector<int>(2).size())), "float64 (2,) [1. 1.]");
    EXPECT_EQ(shown(full({2}, 2u)), "int64 (2,) [2 2]");
    EXPECT_EQ(shown(arange(0, 5, 1)), "int64 (5,) [0 1 2 3 4]");
    EXPECT_EQ(shown(reshape(arange(0, 4, 1), {2, 2})), "int64 (2,2,) [[0 1]\n [2 3]]");
    EXPECT_EQ(shown(reshape(zeros({2, 1}), -1)), "float64 (2,) [0. 0.]");
    EXPECT_EQ(shown(permute_dims(array({{1, 2}}), {1, 0})), "int32 (2,1,) [[1]\n [2]]");
    static_assert(!std::is_constructible_v<Extents, double> && !std::is_constructible_v<Extents, bool>);
    static_assert(!std::is_constructible_v<Axes, double> && !std::is_constructible_v<Axes, bool>);
}

TEST(Parts, AreThoseOfNumPy) {
    const Array x = arange(0, 6, 1), m = reshape(x, {2, 3});
    const std::vector<int> v{1, 2, 3};
    EXPECT_EQ(shown(x[Slice{0, 2, {}}]), "int64 (2,) [0 1]");
    EXPECT_EQ(shown(x[Slice{4}]), "int64 (2,) [4 5]");
    EXPECT_EQ(shown(x[-1]), "int64 () 5");
    EXPECT_EQ(shown(x[v.size()]), "int64 () 3");
    EXPECT_EQ(shown(x[true]), "int64 (1,6,) [[0 1 2 3 4 5]]");
    EXPECT_EQ(shown(x[false]), "int64 (0,6,) []");
    EXPECT_EQ(shown(x[NewAxis{}]), "int64 (1,6,) [[0 1 2 3 4 5]]");
    EXPECT_EQ(shown(x[x > 3]), "int64 (2,) [4 5]");
    EXPECT_EQ(shown(x[array({5, 0})]), "int64 (2,) [5 0]");
    EXPECT_EQ(shown(m[{1, Slice{0, 2}}]), "int64 (2,) [3 4]");
    EXPECT_EQ(shown(m[{Ellipsis{}, 0}]), "int64 (2,) [0 3]");
    EXPECT_EQ(shown(m.at(Slice{}, 2)), "int64 (2,) [2 5]");
    EXPECT_EQ(shown(m[{all, slice(0, 2)}]), "int64 (2,2,) [[0 1]\n [3 4]]");
    EXPECT_EQ(shown(m[{slice(1), all}]), "int64 (1,3,) [[0 1 2]]");
    EXPECT_EQ(shown(m[all]), shown(m));
    EXPECT_EQ(shown(m.at(all, -1)), "int64 (2,) [2 5]");
    EXPECT_EQ(shown(x[slice({}, {}, -2)]), "int64 (3,) [5 3 1]");
    EXPECT_EQ(message_of([&] { (void)m[any]; }), "x[...]: of functions only `all` is an index: every position of an axis");
    EXPECT_NE(message_of([&] { (void)x[std::numeric_limits<std::uint64_t>::max()]; }).find("out of bounds"), std::string::npos);
    m.set({0, Slice{1}}, 9);
    EXPECT_EQ(shown(m), "int64 (2,3,) [[0 9 9]\n [3 4 5]]");
    m.set({1}, m[0] + 1);
    EXPECT_EQ(shown(m), "int64 (2,3,) [[ 0  9  9]\n [ 1 10 10]]");
}

/// Whether x[i] is an expression.
template <class T>
concept Indexes = requires(const Array& x, T i) {
    x[i];
};

TEST(Parts, OfOtherTypesDoNotCompile) {
    static_assert(Indexes<int> && Indexes<std::size_t> && Indexes<bool> && Indexes<Slice> && Indexes<Array>);
    static_assert(!Indexes<double> && !Indexes<float> && !Indexes<char> && !Indexes<const char*> && !Indexes<std::nullptr_t>);
}

TEST(ToValues, ItemsAndVectors) {
    EXPECT_EQ(array({2.5}).item<float>(), 2.5f);
    EXPECT_EQ(array({2.5}).item<int>(), 2);
    EXPECT_EQ(array({2.5}).item<bool>(), true);
    EXPECT_EQ(array({2.5f}).item<std::complex<double>>(), std::complex<double>(2.5));
    const std::int64_t large = (std::int64_t{1} << 53) + 1;
    EXPECT_EQ(array({large}).item<std::int64_t>(), large);
    EXPECT_EQ(array({~std::uint64_t{0}}).item<std::uint64_t>(), ~std::uint64_t{0});
    EXPECT_EQ((array({1, 2}) + 0.5).to_vector<double>(), (std::vector{1.5, 2.5}));
    EXPECT_EQ((array({{1, 2}, {3, 4}})[{Slice{}, 1}].to_vector<long long>()), (std::vector<long long>{2, 4}));
    EXPECT_EQ((array({1, 2}) > 1).to_vector<bool>(), (std::vector{false, true}));
    EXPECT_EQ(zeros({0, 3}).to_vector<float>(), std::vector<float>());
    EXPECT_EQ(message_of([] {
                  array({1, 2}).item<int>();
              }),
              "item: can only convert an array of size 1 to a Python scalar, got shape (2,)");
}

TEST(ToValues, ElementsWhereTheyAre) {
    const Array x = reshape(arange(0, 6, 1, DType::Float32), {2, 3}).copy();
    EXPECT_TRUE(std::ranges::equal(x.span<float>(), std::vector{0.f, 1.f, 2.f, 3.f, 4.f, 5.f}));
    EXPECT_EQ(x.span<float>().data(), x.data());
    EXPECT_EQ(std::ranges::max(x[1].span<float>()), 5.f);
    EXPECT_EQ(message_of([&] { (void)x.span<double>(); }), "span: the elements are float32, not float64: astype converts them");
    EXPECT_EQ(message_of([&] { (void)x[{all, 0}].span<float>(); }), "span: the elements are not contiguous: copy() has them so");
#ifdef __cpp_lib_mdspan
    const auto view = x[{all, slice(1, 3)}].mdspan<float, 2>();
    EXPECT_EQ(view.extent(1), 2);
    EXPECT_EQ((view[1, 0]), 4.f);
    EXPECT_EQ(message_of([&] { (void)x.mdspan<float, 1>(); }), "mdspan: the array has 2 dimensions, not 1");
#endif
}

TEST(ToValues, RowsOfALoop) {
    std::vector<float> sums;
    const Array x = reshape(arange(0, 6, 1, DType::Float32), {3, 2});
    for (const Array& row : x) sums.push_back(sum(row).item<float>());
    EXPECT_EQ(sums, (std::vector{1.f, 5.f, 9.f}));
    static_assert(std::ranges::input_range<const Array>);
    EXPECT_EQ(std::ranges::distance(zeros({0, 2})), 0);
    EXPECT_EQ(message_of([] { (void)array(1).end(); }), "iteration: an array without dimensions has no parts");
}

TEST(Views, ListsOfOtherLengthsAreErrors) {
    const Array x = array({1, 2, 3});
    EXPECT_EQ(message_of([&] { as_strided(x, {1, 1}, {1}); }), "as_strided: 1 strides for 2 extents");
    EXPECT_EQ(message_of([&] { sliding_windows(x, {1}, {0, 0}); }), "sliding_window_view: 1 extents of a window for 2 axes");
}

TEST(WithoutValue, SaysWhatWasCalled) {
    const Array none;
    const std::string why = ": the array has no value: it was made without one, or moved from";
    EXPECT_EQ(message_of([&] { (void)none.dtype(); }), "dtype" + why);
    EXPECT_EQ(message_of([&] { (void)none[0]; }), "x[...]" + why);
    EXPECT_EQ(message_of([&] { matmul(array({1.0}), none); }), "matmul" + why);
    EXPECT_EQ(message_of([&] { linalg::inv(none); }), "inv" + why);
    EXPECT_EQ(message_of([&] { Queue().fill(none, 1.0); }), "Queue.fill" + why);
    EXPECT_EQ(message_of([&] { none + 1; }), "add: an operand has no value: it was made without one, or moved from");
}

}  // namespace
}  // namespace pardo
