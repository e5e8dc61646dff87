// tests/unit/routines/test_scan.cpp: running sums, products, minima and maxima against plain loops.
#include "support.h"

namespace pardo::test {

template <class T> class Scan : public ::testing::Test {};
TYPED_TEST_SUITE(Scan, Numbers);

template <class T> T combine(Reduction op, T a, T b) {
    if constexpr (is_complex_type<T>) {
        if (op == Reduction::Prod) return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
        if (op == Reduction::Sum) return a + b;
        if (is_nan(a) || is_nan(b)) return is_nan(a) ? a : b;
        return (op == Reduction::Max) == less(a, b) ? b : a;
    } else {
        using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;  // products wrap
        if (op == Reduction::Sum) return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
        if (op == Reduction::Prod) return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
        if (a != a || b != b) return a != a ? a : b;
        return op == Reduction::Max ? std::max(a, b) : std::min(a, b);
    }
}

/// Checks one axis of one array; sums of the small values used here are exact.
template <class T> void check_scan(Reduction op, const std::vector<T>& host, const Array& x, Longs shape, int axis) {
    const Array result = cumulative(op, x, axis, dtype_of<T>);
    ASSERT_EQ(shape_of(result), shape);
    const std::vector<T> got = values_of<T>(result);
    std::int64_t inner = 1, outer = 1;
    for (std::size_t d = 0; d < shape.size(); ++d)
        (static_cast<int>(d) < axis ? outer : inner) *= static_cast<int>(d) == axis ? 1 : shape[d];
    const std::int64_t n = shape[static_cast<std::size_t>(axis)];
    using P = decltype(plain(T()));
    for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t j = 0; j < inner; ++j) {
            P value{};
            for (std::int64_t i = 0; i < n; ++i) {
                const auto at = static_cast<std::size_t>((o * n + i) * inner + j);
                value = i == 0 ? plain(host[at]) : combine(op, value, plain(host[at]));
                T expected;
                if constexpr (NarrowFloat<T>)
                    expected = narrowed_to<T>(value);
                else
                    expected = value;
                ASSERT_TRUE(same(got[at], expected)) << "axis " << axis << " o " << o << " i " << i << " j " << j;
            }
        }
    }
}

TYPED_TEST(Scan, AllOperationsSizesAndAxes) {
    using T = TypeParam;
    const std::vector<Longs> shapes = {{0},    {1},       {2},        {3},        {17},       {1000},     {65537},   {100000},
                                       {3, 5}, {4, 0, 3}, {5, 33, 7}, {2, 40000}, {3, 40001}, {40000, 3}, {70, 2000}};
    for (const Longs& shape : shapes) {
        std::int64_t n = 1;
        for (const auto extent : shape) n *= extent;
        // Multiples of 1/8 below 2^53 / 8 in sum; half and float get small integers so that sums stay exact.
        std::vector<T> host = random_values<T>(n, false, 4);
        for (T& v : host) {
            if constexpr (NarrowFloat<T>) v = narrowed_to<T>(static_cast<float>(static_cast<int>(generator()() % 3)) - 1);
        }
        const Array x = make(host, shape);
        for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
            check_scan(Reduction::Sum, host, x, shape, axis);
            if (n < 20000) {
                check_scan(Reduction::Min, host, x, shape, axis);
                check_scan(Reduction::Max, host, x, shape, axis);
            }
        }
        std::vector<T> signs(host.size());
        for (T& v : signs) {
            if constexpr (NarrowFloat<T>)
                v = narrowed_to<T>(generator()() % 2 ? 1.0f : -1.0f);
            else if constexpr (std::is_integral_v<T>)
                v = static_cast<T>(2 * (generator()() % 100) + 1);
            else
                v = generator()() % 2 ? T(1) : T(-1);
        }
        for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
            check_scan(Reduction::Prod, signs, make(signs, shape), shape, axis);
    }
}

TEST(Scan, DtypesAsNumPy) {
    EXPECT_EQ(cumulative(Reduction::Sum, make<std::int8_t>({100, 100}, {2})).dtype(), DType::Int64);
    EXPECT_EQ(cumulative(Reduction::Sum, make<std::uint16_t>({1, 2}, {2})).dtype(), DType::UInt64);
    EXPECT_EQ(cumulative(Reduction::Sum, make<float>({1, 2}, {2})).dtype(), DType::Float32);
    EXPECT_EQ(longs_of(cumulative(Reduction::Sum, make<std::int8_t>({100, 100}, {2}))), (Longs{100, 200}));
    EXPECT_EQ(longs_of(cumulative(Reduction::Sum, make_mask({1, 0, 1}, {3}))), (Longs{1, 1, 2}));
    EXPECT_EQ(cumulative(Reduction::Max, make<std::int8_t>({1, 2}, {2})).dtype(), DType::Int8);
    EXPECT_EQ(values_of<double>(cumulative(Reduction::Sum, make<std::int32_t>({1, 2}, {2}), 0, DType::Float64)),
              (std::vector<double>{1, 3}));
}

TEST(Scan, FlattensWithoutAxisAndTakesStridedInput) {
    const Array x = make<double>({1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_EQ(values_of<double>(cumulative(Reduction::Sum, x)), (std::vector<double>{1, 3, 6, 10, 15, 21}));
    const std::int64_t swap[] = {1, 0};
    EXPECT_EQ(values_of<double>(cumulative(Reduction::Sum, permute_dims(x, swap), 1)), (std::vector<double>{1, 5, 2, 7, 3, 9}));
    EXPECT_EQ(values_of<double>(cumulative(Reduction::Sum, flip(x), -1)), (std::vector<double>{6, 11, 15, 3, 5, 6}));
    EXPECT_EQ(shape_of(cumulative(Reduction::Sum, sum(x))), Longs{1});
}

TEST(Scan, IncludesInitial) {
    const Array x = make<double>({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(values_of<double>(cumulative(Reduction::Sum, x, 1, {}, true)), (std::vector<double>{0, 1, 3, 0, 3, 7}));
    EXPECT_EQ(values_of<double>(cumulative(Reduction::Prod, x, 0, {}, true)), (std::vector<double>{1, 1, 1, 2, 3, 8}));
    EXPECT_EQ(values_of<double>(cumulative(Reduction::Sum, make<double>({}, {0}), 0, {}, true)), (std::vector<double>{0}));
    EXPECT_ERROR(cumulative(Reduction::Min, x, 1, {}, true), Value, "identity");
    EXPECT_ERROR(cumulative(Reduction::Sum, x, 2), Axis, "axis 2 is out of bounds for array of dimension 2");
}

TEST(Scan, KeepsNaNAndSignOfZero) {
    const double nan = std::nan("");
    const std::vector<double> got = values_of<double>(cumulative(Reduction::Max, make<double>({1, nan, 3}, {3})));
    EXPECT_TRUE(got[0] == 1 && std::isnan(got[1]) && std::isnan(got[2]));
    std::vector<double> zeros(20, -0.0);
    for (const double v : values_of<double>(cumulative(Reduction::Sum, make(zeros, {20})))) EXPECT_TRUE(std::signbit(v));
}

TEST(Scan, IsNearTheTrueSumForLongFloats) {
    std::vector<float> host = random_values<float>(300001, false);
    const std::vector<float> got = values_of<float>(cumulative(Reduction::Sum, make(host, {300001})));
    double value = 0, largest = 0;
    for (std::size_t i = 0; i < host.size(); ++i) {
        value += host[i];
        largest = std::max(largest, std::abs(value - got[i]));
    }
    EXPECT_LT(largest, 0.1);
}

}  // namespace pardo::test
