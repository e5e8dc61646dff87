// tests/unit/ir/reports_test.cpp: reports that wait for the end of their loop say what they would have said in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "harness.h"
#include "ir/rules.h"

namespace pardo::ir::test {
namespace {

using Values = Builder::Values;

/// A kernel over rows of indices, any of which may be wrong: out[i] = the sum over k of x[index[i * n + k]].
class Reports : public testing::Test {
protected:
    Builder m{"k", 1, true};
    Value x = m.pointer("x", I64, Access::Read, true), index = m.pointer("index", I64, Access::Read, true);
    Value out = m.pointer("out", I64, Access::ReadWrite, true), status = m.pointer("status", I64, Access::ReadWrite, true);
    Value size = m.scalar_param("size", I64), n = m.scalar_param("n", I64);
    Value i = m.dim(0);

    Value inside(Value at) { return m.lt(m.cast(at, DType::UInt64), m.cast(size, DType::UInt64)); }
    void tell(std::int64_t code, Value at, Value counter) {
        const Value words[] = {m.i64(code), at, size, counter, i};
        m.report(status, words);
    }
    Value checked_load(std::int64_t code, Value at, Value counter) {
        return m.if_else(
            inside(at), [&] { return Values{m.load(x, at)}; },
            [&] {
                tell(code, at, counter);
                return Values{m.i64(0)};
            })[0];
    }
    Value row_sum(const std::function<Value(Value counter, Value sum)>& step) {
        const Value initial[] = {m.i64(0)};
        return m.for_loop(m.i64(0), n, m.i64(1), initial,
                          [&](Value k, std::span<const Value> carried) { return Values{step(k, carried[0])}; })[0];
    }
    Value index_at(Value k) { return m.load(index, m.add(m.mul(i, n), k)); }

    /// out and status, of one item after the other.
    static std::vector<std::int64_t> run(const Kernel& kernel, const std::vector<std::int64_t>& indices, std::int64_t size,
                                         std::int64_t n) {
        std::vector<std::int64_t> x(static_cast<std::size_t>(size)), all;
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<std::int64_t>(k * k + 1);
        const auto row = static_cast<std::size_t>(n);
        for (std::size_t item = 0; item * row < indices.size(); ++item) {
            std::vector<std::int64_t> out(1), status(8);
            const std::uint64_t args[] = {
                std::bit_cast<std::uint64_t>(x.data()),   std::bit_cast<std::uint64_t>(indices.data() + item * row),
                std::bit_cast<std::uint64_t>(out.data()), std::bit_cast<std::uint64_t>(status.data()),
                static_cast<std::uint64_t>(size),         static_cast<std::uint64_t>(n)};
            const std::int64_t extents[] = {1};
            interpret(kernel, args, extents);
            all.insert(all.end(), out.begin(), out.end());
            all.insert(all.end(), status.begin(), status.end());
        }
        return all;
    }

    /// Compares the kernel with what the pass makes of it; how many reports are in loops then.
    int deferred(const Kernel& kernel) {
        const Kernel after = defer_reports(kernel);
        verify(after);
        std::mt19937 random(7);
        for (const std::int64_t size : {0, 1, 5}) {
            for (const std::int64_t n : {0, 1, 6}) {
                std::vector<std::int64_t> indices(static_cast<std::size_t>(40 * n));
                for (auto& v : indices) v = static_cast<std::int64_t>(random() % 12) - (random() % 4 == 0 ? 6 : 0);
                EXPECT_EQ(run(after, indices, size, n), run(kernel, indices, size, n));
            }
        }
        return in_loops(after);
    }

    static int in_loops(const Kernel& kernel) {
        int found = 0;
        for (const Instr& in : kernel.instrs)
            if (in.op == Opcode::For) found += reports_in(kernel, kernel.regions[in.regions[0]]);
        return found;
    }
    static int reports_in(const Kernel& kernel, const Region& region) {
        int found = 0;
        for (const InstrId id : region.body) {
            found += kernel.instrs[id].op == Opcode::Report;
            for (const RegionId inner : kernel.instrs[id].regions) found += reports_in(kernel, kernel.regions[inner]);
        }
        return found;
    }
};

TEST_F(Reports, OfLoadsWait) {
    m.store(out, m.i64(0), row_sum([&](Value k, Value sum) { return m.add(sum, checked_load(1, index_at(k), k)); }));
    EXPECT_EQ(deferred(m.finish()), 0);
}

TEST_F(Reports, OfSeveralChecksTheFirstWins) {
    const Value sum = row_sum([&](Value k, Value sum) {
        const Value at = index_at(k), first = checked_load(1, at, k);
        const Value second = checked_load(2, m.add(first, m.i64(-3)), m.i64(-1));
        return m.add(sum, m.add(first, second));
    });
    m.store(out, m.i64(0), sum);
    EXPECT_EQ(deferred(m.finish()), 0);
}

TEST_F(Reports, InBranchesWait) {
    const Value sum = row_sum([&](Value k, Value sum) {
        const Value at = index_at(k);
        const Value added = m.if_else(
            m.lt(m.i64(2), at), [&] { return Values{checked_load(1, at, k)}; },
            [&] { return Values{m.add(sum, checked_load(2, m.add(at, m.i64(1)), k))}; })[0];
        return m.add(sum, added);
    });
    m.store(out, m.i64(0), sum);
    EXPECT_EQ(deferred(m.finish()), 0);
}

TEST_F(Reports, OfStoresAndOfConditionsThatShouldHoldWait) {
    row_sum([&](Value k, Value sum) {
        const Value at = index_at(k);
        m.if_else(
            inside(at),
            [&] {
                m.store(out, m.i64(0), m.add(m.load(out, m.i64(0)), at));
                return Values();
            },
            [&] {
                tell(1, at, k);
                return Values();
            });
        m.if_else(
            m.eq(at, m.i64(3)),
            [&] {
                tell(2, m.i64(9), k);
                return Values();
            },
            [] { return Values(); });
        return sum;
    });
    EXPECT_EQ(deferred(m.finish()), 0);
}

TEST_F(Reports, OfOuterLoopsStay) {
    const Value sum = row_sum([&](Value k, Value sum) {
        const Value at = index_at(k), loaded = checked_load(1, at, k);
        const Value inner = row_sum([&](Value j, Value s) { return m.add(s, checked_load(2, m.sub(index_at(j), k), j)); });
        return m.add(sum, m.add(inner, loaded));
    });
    m.store(out, m.i64(0), sum);
    // That of the outer loop, and that of the inner one, which waits there. Reports in loops are counted once a loop around them.
    EXPECT_EQ(deferred(m.finish()), 2);
}

TEST_F(Reports, OfLoopsInBranchesWait) {
    const Value sum = m.if_else(
        m.lt(m.i64(1), n), [&] { return Values{row_sum([&](Value k, Value sum) { return m.add(sum, checked_load(1, index_at(k), k)); })}; },
        [&] { return Values{checked_load(2, n, n)}; })[0];
    m.store(out, m.i64(0), sum);
    EXPECT_EQ(deferred(m.finish()), 0);
}

TEST_F(Reports, WithOtherEffectsStay) {
    const Value sum = row_sum([&](Value k, Value sum) {
        const Value at = index_at(k);
        return m.if_else(
            inside(at), [&] { return Values{m.add(sum, m.load(x, at))}; },
            [&] {
                tell(1, at, k);
                m.store(out, m.i64(0), m.i64(-1));
                return Values{sum};
            })[0];
    });
    m.store(out, m.i64(0), m.add(m.load(out, m.i64(0)), sum));
    EXPECT_EQ(deferred(m.finish()), 1);
}

}  // namespace
}  // namespace pardo::ir::test
