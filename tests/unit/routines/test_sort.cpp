// tests/unit/routines/test_sort.cpp: sort, argsort, partition, argpartition and top_k against the standard library.
#include <algorithm>
#include <numeric>

#include "support.h"

namespace pardo::test {

template <class T> class Sort : public ::testing::Test {};
TYPED_TEST_SUITE(Sort, Numbers);

/// Calls f(line) with the positions of each line along an axis.
template <class F> void for_lines(const Longs& shape, int axis, F&& f) {
    std::int64_t inner = 1, outer = 1;
    for (std::size_t d = 0; d < shape.size(); ++d)
        (static_cast<int>(d) < axis ? outer : inner) *= static_cast<int>(d) == axis ? 1 : shape[d];
    const std::int64_t n = shape[static_cast<std::size_t>(axis)];
    for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t j = 0; j < inner; ++j) {
            std::vector<std::size_t> line;
            for (std::int64_t i = 0; i < n; ++i) line.push_back(static_cast<std::size_t>((o * n + i) * inner + j));
            f(line);
        }
    }
}

template <class T> void check_sort(const std::vector<T>& host, const Longs& shape, int axis, bool descending) {
    const Array x = make(host, shape);
    const std::vector<T> sorted = values_of<T>(sort(x, axis, descending));
    const Longs positions = longs_of(argsort(x, axis, descending));
    for_lines(shape, axis, [&](const std::vector<std::size_t>& line) {
        Longs expected(line.size());
        std::iota(expected.begin(), expected.end(), 0);
        std::ranges::stable_sort(expected, [&](std::int64_t a, std::int64_t b) {
            const T left = host[line[static_cast<std::size_t>(a)]], right = host[line[static_cast<std::size_t>(b)]];
            return descending ? less(right, left) : less(left, right);
        });
        for (std::size_t i = 0; i < line.size(); ++i) {
            ASSERT_EQ(positions[line[i]], expected[i]) << "position " << i << " of " << line.size();
            ASSERT_TRUE(same(sorted[line[i]], host[line[static_cast<std::size_t>(expected[i])]])) << "value " << i << " of " << line.size();
        }
    });
}

TYPED_TEST(Sort, ValuesAndPositions) {
    using T = TypeParam;
    for (const std::int64_t n : {0, 1, 2, 3, 7, 17, 31, 64, 65, 127, 129, 257, 1000, 5000}) {
        for (const bool descending : {false, true}) check_sort(random_values<T>(n), {n}, 0, descending);
    }
    // All threads on one line.
    for (const std::int64_t n : {65536, 65537, 200000}) {
        check_sort(random_values<T>(n), {n}, 0, false);
    }
    check_sort(random_values<T>(70001), {70001}, 0, true);
}

TYPED_TEST(Sort, EveryAxis) {
    using T = TypeParam;
    const Longs shape = {5, 33, 19};
    const std::vector<T> host = random_values<T>(5 * 33 * 19);
    for (int axis = 0; axis < 3; ++axis) check_sort(host, shape, axis, axis == 1);
}

TYPED_TEST(Sort, HardPatterns) {
    using T = TypeParam;
    const std::int64_t n = 100000;
    std::vector<T> equal(n, random_value<T>(false)), few = random_values<T>(n, false, 2), ascending = random_values<T>(n, false),
                                                     mostly = random_values<T>(n, false);
    std::ranges::sort(ascending, less<T>);
    std::vector<T> descending(ascending.rbegin(), ascending.rend());
    for (std::size_t i = 0; i < mostly.size(); ++i) {
        if (i % 100) mostly[i] = mostly[0];
    }
    for (const auto* host : {&equal, &few, &ascending, &descending, &mostly}) check_sort(*host, {n}, 0, false);
}

TYPED_TEST(Sort, Partition) {
    using T = TypeParam;
    for (const std::int64_t n : {1, 2, 17, 1000, 65537}) {
        const std::vector<T> host = random_values<T>(n);
        std::vector<T> sorted = host;
        std::ranges::sort(sorted, less<T>);
        const Longs kth = {n / 2, 0, n - 1, n / 3, -1};
        const std::vector<T> values = values_of<T>(partition(make(host, {n}), kth));
        const Longs positions = longs_of(argpartition(make(host, {n}), kth));
        std::vector<T> all = values;
        std::ranges::sort(all, less<T>);
        Longs seen = positions;
        std::ranges::sort(seen);
        for (std::int64_t i = 0; i < n; ++i) {
            ASSERT_TRUE(same(all[static_cast<std::size_t>(i)], sorted[static_cast<std::size_t>(i)]));
            ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
        }
        for (std::int64_t k : kth) {
            if (k < 0) k += n;
            const T at = sorted[static_cast<std::size_t>(k)];
            ASSERT_TRUE(same(values[static_cast<std::size_t>(k)], at));
            ASSERT_TRUE(same(host[static_cast<std::size_t>(positions[static_cast<std::size_t>(k)])], at));
            for (std::int64_t i = 0; i < n; ++i) {
                const auto s = static_cast<std::size_t>(i);
                ASSERT_FALSE(i < k ? less(at, values[s]) : less(values[s], at));
                const T by_position = host[static_cast<std::size_t>(positions[s])];
                ASSERT_FALSE(i < k ? less(at, by_position) : less(by_position, at));
            }
        }
    }
}

TYPED_TEST(Sort, TopK) {
    using T = TypeParam;
    for (const std::int64_t n : {1, 3, 17, 1000, 70000}) {
        const std::vector<T> host = random_values<T>(n);
        for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 100, n / 2, n}) {
            for (const bool largest : {true, false}) {
                const auto [values, indices] = top_k(make(host, {n}), k, -1, largest);
                Longs expected(static_cast<std::size_t>(n));
                std::iota(expected.begin(), expected.end(), 0);
                std::ranges::stable_sort(expected, [&](std::int64_t a, std::int64_t b) {
                    const T left = host[static_cast<std::size_t>(a)], right = host[static_cast<std::size_t>(b)];
                    return largest ? less(right, left) : less(left, right);
                });
                expected.resize(static_cast<std::size_t>(k));
                ASSERT_EQ(longs_of(indices), expected);
                const std::vector<T> got = values_of<T>(values);
                for (std::size_t i = 0; i < got.size(); ++i) ASSERT_TRUE(same(got[i], host[static_cast<std::size_t>(expected[i])]));
            }
        }
    }
    const auto [values, indices] = top_k(make(random_values<T>(60), {3, 5, 4}), 2, 1);
    EXPECT_EQ(shape_of(values), (Longs{3, 2, 4}));
    EXPECT_EQ(shape_of(indices), (Longs{3, 2, 4}));
}

TEST(Sort, Bools) {
    const Array x = make_mask({1, 0, 1, 0, 0}, {5});
    EXPECT_EQ(longs_of(sort(x).astype(DType::Int64)), (Longs{0, 0, 0, 1, 1}));
    EXPECT_EQ(longs_of(sort(x, -1, true).astype(DType::Int64)), (Longs{1, 1, 0, 0, 0}));
    EXPECT_EQ(longs_of(argsort(x)), (Longs{1, 3, 4, 0, 2}));
}

TEST(Sort, StridedInputAndErrors) {
    const Array x = make<double>({3, 1, 2, 6, 5, 4}, {2, 3});
    EXPECT_EQ(values_of<double>(sort(flip(x))), (std::vector<double>{4, 5, 6, 1, 2, 3}));
    EXPECT_EQ(values_of<double>(x), (std::vector<double>{3, 1, 2, 6, 5, 4}));
    EXPECT_ERROR(sort(x, 2), Axis, "axis 2 is out of bounds for array of dimension 2");
    EXPECT_ERROR(sort(sum(x)), Axis, "array of dimension 0");
    const std::int64_t beyond[] = {3};
    EXPECT_ERROR(partition(x, beyond), Value, "kth(=3) out of bounds (3)");
    EXPECT_ERROR(top_k(x, 4), Value, "k = 4");
}

}  // namespace pardo::test
