// tests/unit/plan/size_test.cpp: numbers that know how they were computed, and what was decided by them.
#include "plan/size.h"

#include <gtest/gtest.h>

#include <limits>

namespace pardo::plan {
namespace {

/// The value of an expression for other numbers; nothing where something would be decided otherwise.
template <class F> std::optional<std::int64_t> replay(std::vector<std::int64_t> numbers, const std::vector<std::int64_t>& others, F f) {
    Trace trace(numbers);
    const std::int32_t result = trace.expression(f());
    if (!trace.adaptable()) return {};
    const Sizing left = trace.take();
    std::vector<std::int64_t> values;
    if (!left.run(others, values)) return {};
    return values[result];
}

TEST(Size, WithoutATraceItIsANumber) {
    const Size a = Size::given(7);
    EXPECT_TRUE(a.literal());
    EXPECT_EQ((a * 3 + 1 - 4) / 2 % 5, Size(4));
    EXPECT_EQ(Trace::current(), nullptr);
}

TEST(Size, ExpressionsAreComputedAgain) {
    const auto f = [] {
        const Size n = Size::given(10), m = Size::given(-4);
        return max(n * 3 + abs(m), 5) + min(n, 7) - n / 3 + n % 4 + m;
    };
    EXPECT_EQ(replay({10, -4}, {10, -4}, f), 34 + 7 - 3 + 2 - 4);
    EXPECT_EQ(replay({10, -4}, {23, -9}, f), 78 + 7 - 7 + 3 - 9);
    EXPECT_EQ(replay({10, -4}, {5, 2}, f), 17 + 5 - 1 + 1 + 2);
}

TEST(Size, ADecisionHoldsOrNothingDoes) {
    const auto f = [] {
        const Size n = Size::given(10);
        return n * 2 < 50 ? n : Size(0);
    };
    EXPECT_EQ(replay({10}, {24}, f), 24);
    EXPECT_EQ(replay({10}, {25}, f), std::nullopt);
    const auto equal = [] {
        const Size rows = Size::given(6), columns = Size::given(4), step = Size::given(24);
        return rows * columns == step ? Size(7) : Size(8);
    };
    EXPECT_EQ(replay({6, 4, 24}, {5, 3, 15}, equal), 7);
    EXPECT_EQ(replay({6, 4, 24}, {5, 3, 16}, equal), std::nullopt);
}

TEST(Size, DifferentNumbersOfAWalkNeedNoGuard) {
    const std::int64_t numbers[] = {10, 20};
    Trace trace(numbers);
    EXPECT_FALSE(Size::given(10) == Size::given(20));
    EXPECT_TRUE(Size::given(10) == Size::given(10));
    EXPECT_FALSE(Size::given(10) == 1);
    EXPECT_FALSE(Size::given(20) == 0);
    EXPECT_EQ(Size::given(1).literal(), true);
    EXPECT_EQ(trace.take().guards.size(), 0u);
}

TEST(Size, APinnedNumberIsForItAlone) {
    const auto f = [] { return Size(Size::given(3).pinned()); };
    EXPECT_EQ(replay({3}, {3}, f), 3);
    EXPECT_EQ(replay({3}, {4}, f), std::nullopt);
}

TEST(Size, WhatOverflowsOrDividesByZeroIsNotAdapted) {
    const auto product = [] {
        const Size n = Size::given(10);
        return n * n * n;
    };
    EXPECT_EQ(replay({10}, {100}, product), 1'000'000);
    EXPECT_EQ(replay({10}, {3'000'000}, product), std::nullopt);
    const auto quotient = [] { return Size(100) / (Size::given(10) - 5); };
    EXPECT_EQ(replay({10}, {25}, quotient), 5);
    EXPECT_EQ(replay({10}, {5}, quotient), std::nullopt);
    const auto turned = [] { return abs(Size::given(-10)) / -1; };
    EXPECT_EQ(replay({-10}, {-7}, turned), -7);
    EXPECT_EQ(replay({-10}, {std::numeric_limits<std::int64_t>::min()}, turned), std::nullopt);
}

TEST(Size, ANumberThatIsNotInTheKeyGivesUp) {
    const auto f = [] { return Size::given(11) + Size::given(10); };
    EXPECT_EQ(replay({10}, {10}, f), std::nullopt);
}

TEST(Size, TracesNest) {
    const std::int64_t outer_numbers[] = {10}, inner_numbers[] = {20};
    Trace outer(outer_numbers);
    {
        Trace inner(inner_numbers);
        EXPECT_EQ(Trace::current(), &inner);
        EXPECT_FALSE(Size::given(20).literal());
        EXPECT_TRUE(inner.adaptable());
    }
    EXPECT_EQ(Trace::current(), &outer);
    EXPECT_FALSE(Size::given(10).literal());
    EXPECT_TRUE(outer.adaptable());
}

}  // namespace
}  // namespace pardo::plan
