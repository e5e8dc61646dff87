// tests/unit/routines/test_search.cpp: searchsorted, nonzero and unique against plain loops.
#include <algorithm>

#include "support.h"

namespace pardo::test {

template <class T> class Search : public ::testing::Test {};
TYPED_TEST_SUITE(Search, Numbers);

TYPED_TEST(Search, Searchsorted) {
    using T = TypeParam;
    for (const std::int64_t n : {0, 1, 2, 3, 17, 1000}) {
        std::vector<T> table = random_values<T>(n);
        std::ranges::sort(table, less<T>);
        const std::vector<T> wanted = random_values<T>(333);
        for (const bool right : {false, true}) {
            Longs expected;
            for (const T v : wanted)
                expected.push_back((right ? std::ranges::upper_bound(table, v, less<T>) : std::ranges::lower_bound(table, v, less<T>)) -
                                   table.begin());
            EXPECT_EQ(longs_of(searchsorted(make(table, {n}), make(wanted, {9, 37}), right)), expected);
        }
    }
}

TEST(Search, SearchsortedWithSorterAndErrors) {
    const Array x = make<double>({3, 1, 2}, {3}), order = make({1, 2, 0});
    EXPECT_EQ(longs_of(searchsorted(x, make<std::int32_t>({1, 2, 3, 4}, {4}), false, &order)), (Longs{0, 1, 2, 3}));
    EXPECT_EQ(longs_of(searchsorted(sort(x), sum(x))), (Longs{3}));
    const Array shorter = make({1, 2});
    EXPECT_ERROR(searchsorted(x, x, false, &shorter), Value, "sorter.size must equal a.size");
    EXPECT_ERROR(searchsorted(x, x, false, &x), Type, "sorter must only contain integers");
    EXPECT_ERROR(searchsorted(make<double>({1}, {1, 1}), x), Value, "1-d");
}

TYPED_TEST(Search, Nonzero) {
    using T = TypeParam;
    const std::vector<Longs> shapes = {{0}, {1}, {3}, {17}, {1000}, {65537}, {3, 5}, {7, 1, 90}, {2, 3, 4, 5}, {300, 400}};
    for (const Longs& shape : shapes) {
        std::int64_t n = 1;
        for (const auto extent : shape) n *= extent;
        std::vector<T> host = random_values<T>(n);
        for (T& v : host) {
            if (generator()() % 3 == 0) v = T();
        }
        std::vector<Longs> expected(shape.size());
        for (std::int64_t i = 0; i < n; ++i) {
            if (plain(host[static_cast<std::size_t>(i)]) == plain(T())) continue;
            std::int64_t rest = i;
            for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) expected[d].push_back(rest % shape[d]);
        }
        const std::vector<Array> got = nonzero(make(host, shape));
        ASSERT_EQ(got.size(), shape.size());
        for (std::size_t d = 0; d < shape.size(); ++d) EXPECT_EQ(longs_of(got[d]), expected[d]) << n << " dimension " << d;
    }
    EXPECT_ERROR(nonzero(sum(make<double>({1}, {1}))), Value, "0d arrays");
}

TYPED_TEST(Search, Unique) {
    using T = TypeParam;
    for (const std::int64_t n : {0, 1, 2, 17, 1000, 65537}) {
        const std::vector<T> host = random_values<T>(n, true, 300);
        for (const bool equal_nan : {false, true}) {
            const auto differ = [&](T a, T b) {
                if (is_nan(a) && is_nan(b)) return !equal_nan;
                return !same(a, b);
            };
            Longs order(static_cast<std::size_t>(n));
            for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
            std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
                return less(host[static_cast<std::size_t>(a)], host[static_cast<std::size_t>(b)]);
            });
            std::vector<T> values;
            Longs indices, counts, inverse(static_cast<std::size_t>(n));
            for (std::size_t i = 0; i < order.size(); ++i) {
                const T v = host[static_cast<std::size_t>(order[i])];
                if (i == 0 || differ(host[static_cast<std::size_t>(order[i - 1])], v)) {
                    values.push_back(v);
                    indices.push_back(order[i]);
                    counts.push_back(0);
                }
                ++counts.back();
                inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(values.size()) - 1;
            }
            const Unique got = unique(make(host, {n}), equal_nan);
            const std::vector<T> got_values = values_of<T>(got.values),
                                 only = values_of<T>(unique(make(host, {n}), equal_nan, true).values);
            ASSERT_EQ(got_values.size(), values.size());
            ASSERT_EQ(only.size(), values.size());
            for (std::size_t i = 0; i < values.size(); ++i) ASSERT_TRUE(same(got_values[i], values[i]) && same(only[i], values[i]));
            EXPECT_EQ(longs_of(got.indices), indices);
            EXPECT_EQ(longs_of(got.counts), counts);
            EXPECT_EQ(longs_of(got.inverse), inverse);
        }
    }
    EXPECT_EQ(shape_of(unique(make<double>({2, 1, 2, 3}, {2, 2})).inverse), (Longs{2, 2}));
}

}  // namespace pardo::test
