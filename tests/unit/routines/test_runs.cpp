// tests/unit/routines/test_runs.cpp: sorted runs, cut and merged, against a stable sort of all together.
#include <pardo/binding/runs.h>
#include <pardo/device.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "support.h"

namespace pardo::test {

namespace {

/// Two sorted runs of these lengths, and what a stable sort makes of both.
template <class T> struct Case {
    std::vector<T> a, b, values;
    Longs a_places, b_places, places;

    Case(std::int64_t n, std::int64_t m, bool descending, bool special, int range) {
        const auto before = [&](T x, T y) { return descending ? less(y, x) : less(x, y); };
        a = random_values<T>(n, special, range);
        b = random_values<T>(m, special, range);
        std::ranges::stable_sort(a, before);
        std::ranges::stable_sort(b, before);
        std::vector<T> both = a;
        both.insert(both.end(), b.begin(), b.end());
        places.resize(both.size());
        std::iota(places.begin(), places.end(), 0);
        a_places.assign(places.begin(), places.begin() + n);
        b_places.assign(places.begin() + n, places.end());
        std::ranges::stable_sort(places, [&](std::int64_t i, std::int64_t j) {
            return before(both[static_cast<std::size_t>(i)], both[static_cast<std::size_t>(j)]);
        });
        for (const std::int64_t k : places) values.push_back(both[static_cast<std::size_t>(k)]);
    }
};

/// Bit by bit: which of equal zeros and NaN come first is part of the answer.
template <class T> bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

template <class T> void expect_merged(std::int64_t n, std::int64_t m, bool descending, bool special, int range) {
    const Case<T> c(n, m, descending, special, range);
    const Array a = make(c.a, {n}), b = make(c.b, {m}), p = make(c.a_places), q = make(c.b_places);
    const auto both = merge_runs(a, b, &p, &q, descending, a.queue()), alone = merge_runs(a, b, nullptr, nullptr, descending, a.queue());
    ASSERT_TRUE(both && alone);
    const auto text = [&] { return std::to_string(n) + " and " + std::to_string(m) + (descending ? ", descending" : ""); };
    EXPECT_TRUE(same_bits(values_of<T>(both->first), c.values)) << text();
    EXPECT_TRUE(longs_of(both->second) == c.places) << text();
    EXPECT_TRUE(same_bits(values_of<T>(alone->first), c.values)) << text() << ", alone";
}

}  // namespace

template <class T> class Merge : public ::testing::Test {};
TYPED_TEST_SUITE(Merge, Numbers);

TYPED_TEST(Merge, LengthsOfAllKinds) {
    const std::pair<int, int> lengths[] = {{0, 0},   {0, 1},    {1, 0},      {1, 1},       {2, 3},      {300, 211},
                                           {511, 1}, {1, 2000}, {1500, 900}, {20000, 100}, {17, 20000}, {70001, 66000}};
    for (const auto& [n, m] : lengths) {
        for (const bool descending : {false, true}) expect_merged<TypeParam>(n, m, descending, true, 1000);
    }
}

TYPED_TEST(Merge, FewDifferentElements) {
    for (const int range : {1, 2, 5}) {
        for (const bool descending : {false, true}) expect_merged<TypeParam>(9000, 12345, descending, range == 5, range);
    }
}

TEST(Merge, RunsThatDoNotOverlap) {
    std::vector<float> low(50000), high(70000);
    std::iota(low.begin(), low.end(), -50000.0f);
    std::iota(high.begin(), high.end(), 0.0f);
    std::vector<float> expected = low;
    expected.insert(expected.end(), high.begin(), high.end());
    const Array a = make(low, {50000}), b = make(high, {70000});
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
        EXPECT_EQ(values_of<float>(merge_runs(x, y, nullptr, nullptr, false, a.queue())->first), expected);
}

TEST(Merge, SignsOfZerosAndNanStayInTheOrderOfTheRuns) {
    // Zeros are most of both runs, so vectors meet them everywhere; each run's are of one sign.
    std::vector<float> first(40000, 0.0f), second(40000, -0.0f);
    for (std::size_t i = 0; i < 100; ++i) first[i] = -2.0f, second[i] = -1.0f;
    first.back() = second.back() = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> expected(100, -2.0f);
    expected.insert(expected.end(), 100, -1.0f);
    expected.insert(expected.end(), 40000 - 101, 0.0f);
    expected.insert(expected.end(), 40000 - 101, -0.0f);
    expected.insert(expected.end(), 2, first.back());
    const Array a = make(first, {40000}), b = make(second, {40000});
    EXPECT_TRUE(same_bits(values_of<float>(merge_runs(a, b, nullptr, nullptr, false, a.queue())->first), expected));
}

TEST(Merge, Bools) {
    const Array a = make_mask(std::vector<std::uint8_t>{0, 0, 1}, {3}), b = make_mask(std::vector<std::uint8_t>{0, 1, 1, 1}, {4});
    const Array p = make({0, 1, 2}), q = make({3, 4, 5, 6});
    const auto found = merge_runs(a, b, &p, &q, false, a.queue());
    EXPECT_EQ(longs_of(found->second), (Longs{0, 1, 3, 2, 4, 5, 6}));
    EXPECT_EQ(longs_of(found->first.astype(DType::Int64)), (Longs{0, 0, 0, 1, 1, 1, 1}));
}

TEST(Merge, ReadsRunsOfOtherQueuesInPlace) {
    const Case<double> c(30000, 20000, false, true, 1000);
    const Queue here(Device("cpu")), there(Device("cpu"));
    const Array a = make(c.a, {30000}).to_queue(here), b = make(c.b, {20000}).to_queue(there);
    EXPECT_TRUE(reached_in_place(b, here));
    const auto found = merge_runs(a, b, nullptr, nullptr, false, here);
    EXPECT_TRUE(found->first.queue() == here);
    EXPECT_TRUE(same_bits(values_of<double>(found->first), c.values));
}

TYPED_TEST(Merge, CutsAreExact) {
    using T = TypeParam;
    for (const bool descending : {false, true}) {
        for (const int range : {1, 3, 1000}) {
            // Equal elements come in the order of the runs; one run is empty.
            const auto before = [&](T x, T y) { return descending ? less(y, x) : less(x, y); };
            std::vector<Array> runs;
            std::vector<std::pair<T, std::size_t>> all;
            for (const std::int64_t n : {500, 0, 1, 317, 1200}) {
                std::vector<T> run = random_values<T>(n, range > 3, range);
                std::ranges::stable_sort(run, before);
                for (const T v : run) all.emplace_back(v, runs.size());
                runs.push_back(make(run, {n}));
            }
            std::ranges::stable_sort(all, [&](const auto& x, const auto& y) { return before(x.first, y.first); });
            const Longs targets = {0, 1, 777, 778, 1500, 2017, 2018};
            Longs expected;
            for (const std::int64_t target : targets) {
                Longs counts(runs.size());
                for (std::int64_t k = 0; k < target; ++k) ++counts[all[static_cast<std::size_t>(k)].second];
                expected.insert(expected.end(), counts.begin(), counts.end());
            }
            const auto found = cut_runs(runs, targets, descending, runs[0].queue());
            ASSERT_TRUE(found);
            EXPECT_EQ(longs_of(*found), expected) << range;
        }
    }
}

TEST(Merge, Errors) {
    const Array x = make<double>({1, 2}, {2}), table = make<double>({1, 2}, {1, 2}), whole = make({1, 2}), less = make({1});
    EXPECT_ERROR(merge_runs(x, whole, nullptr, nullptr, false, x.queue()), Value, "one dtype");
    EXPECT_ERROR(merge_runs(x, table, nullptr, nullptr, false, x.queue()), Value, "one dimension");
    EXPECT_ERROR(merge_runs(x, x, &whole, nullptr, false, x.queue()), Value, "an int64 for each element");
    EXPECT_ERROR(merge_runs(x, x, &whole, &less, false, x.queue()), Value, "an int64 for each element");
    EXPECT_ERROR(merge_runs(x, x, &x, &x, false, x.queue()), Value, "an int64 for each element");
    EXPECT_ERROR(cut_runs({}, {}, false, x.queue()), Value, "at least one run");
    const Array runs[] = {x, whole};
    EXPECT_ERROR(cut_runs(runs, {}, false, x.queue()), Value, "one dtype");
}

}  // namespace pardo::test
