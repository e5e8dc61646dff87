// tests/unit/plan/adaptable_test.cpp: plans that are made of plans for other sizes, on the null device.
#include "support.h"

namespace pardo::test {
namespace {

class Adaptable : public ::testing::Test {
protected:
    /// Plans made, and the last launch, for sizes from `first` on.
    template <class F> std::uint64_t plans(std::int64_t first, std::int64_t step, F f) {
        const std::uint64_t before = counters.planned.load();
        for (std::int64_t i = 0; i < 50; ++i) f(first + i * step);
        return counters.planned.load() - before;
    }
    std::vector<null::Record> launches() {
        std::vector<null::Record> kept;
        for (null::Record& r : null::take_records(m.queue->device())) {
            if (r.kind == "launch") kept.push_back(std::move(r));
        }
        return kept;
    }
    Maker m{"null"};
};

TEST_F(Adaptable, AChainIsPlannedOnce) {
    EXPECT_EQ(plans(1000, 1, [&](std::int64_t n) { m.run([&] { return m.exp(m.mul(m.leaf({n}), m.leaf({n}))); }); }), 1u);
    const std::vector<null::Record> all = launches();
    EXPECT_EQ(all.back().extents, std::vector<std::int64_t>{1049});
    EXPECT_EQ(all.back().bytes_read, 2 * 8 * 1049);
    EXPECT_EQ(all.back().bytes_written, 8 * 1049);
    EXPECT_EQ(all.back().operations, 2 * 1049);
}

TEST_F(Adaptable, ASumIsPlannedOnceForEachWayToSplitIt) {
    EXPECT_EQ(plans(5000, 100, [&](std::int64_t n) { m.run([&] { return m.sum(m.sqrt(m.leaf({n})), 1); }); }), 1u);
    EXPECT_EQ(plans(100'000, 1000, [&](std::int64_t n) { m.run([&] { return m.sum(m.sqrt(m.leaf({n})), 1); }); }), 1u);
}

TEST_F(Adaptable, ExtentsThatBecomeEqualAreAnotherClass) {
    const auto f = [&](std::int64_t a, std::int64_t b) { m.run([&] { return m.add(m.leaf({a, 1}), m.leaf({1, b})); }); };
    const std::uint64_t before = counters.planned.load();
    f(100, 200);
    f(300, 120);
    EXPECT_EQ(counters.planned.load(), before + 1);
    f(150, 150);
    EXPECT_EQ(counters.planned.load(), before + 2);
}

TEST_F(Adaptable, AnExtentOfOneOrNoneIsPlannedByItself) {
    const auto f = [&](std::int64_t n) { m.run([&] { return m.mul(m.leaf({n, 40}), m.leaf({n, 40})); }); };
    f(7);
    const std::uint64_t before = counters.planned.load();
    f(9);
    EXPECT_EQ(counters.planned.load(), before);
    f(1);
    f(0);
    EXPECT_EQ(counters.planned.load(), before + 2);
}

/// More classes than the cache keeps: new ones push out old ones, not each other.
TEST_F(Adaptable, ProgramsTakeTurnsInAFullCache) {
    const auto chain = [&](int length, std::int64_t n) {
        m.run([&] {
            N y = m.leaf({n});
            for (int i = 0; i < length; ++i) y = i % 3 ? m.exp(y) : m.sqrt(y);
            return y;
        });
    };
    for (int length = 1; length < 200; ++length) chain(length, 500);
    EXPECT_LE(plans(1000, 1,
                    [&](std::int64_t n) {
                        chain(7, n);
                        chain(8, n);
                    }),
              2u);
}

TEST_F(Adaptable, SeveralKernelsAndSlots) {
    const auto f = [&](std::int64_t n) {
        N x = m.leaf({n, n + 1});
        N e = m.exp(m.sub(x, m.reduce(ReduceOp::Max, x, 1)));
        m.run([&] { return m.div(e, m.sum(e, 1)); });
    };
    EXPECT_EQ(plans(600, 3, f), 1u);
}

TEST_F(Adaptable, ShortReductionsAreWrittenOutForTheirLengthAlone) {
    const auto f = [&](std::int64_t n, std::int64_t k) { m.run([&] { return m.sum(m.leaf({n, k}), 2); }); };
    f(1000, 3);
    const std::uint64_t before = counters.planned.load();
    f(2000, 3);
    EXPECT_EQ(counters.planned.load(), before);
    f(2000, 5);
    EXPECT_EQ(counters.planned.load(), before + 1);
}

}  // namespace
}  // namespace pardo::test
