// tests/unit/ir/ranges_test.cpp: what launches show of indices: programs written out, and random ones against what really happens.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "harness.h"
#include "ir/passes/checks.h"

namespace pardo::ir::test {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();

/// A kernel of one dimension with scalars n, a, b; what a launch says of its checks.
class RangesTest : public testing::Test {
protected:
    Builder m{"k", 1, true};
    Value out = m.pointer("out", I64, Access::ReadWrite, true);
    Value n = m.scalar_param("n", I64), a = m.scalar_param("a", I64), b = m.scalar_param("b", I64);
    Value i = m.dim(0);
    int checks = 0;

    Builder::Values nothing() { return {}; }
    /// Checks an index, in a way that is not swept away.
    void check(Value index, Value extent) { m.store(out, m.i64(checks++), m.cast(m.inside(index, extent), I64)); }
    void check(Value index) { check(index, n); }
    template <class Body> void when(Value condition, Body body) {
        m.if_else(
            condition,
            [&] {
                body();
                return nothing();
            },
            [&] { return nothing(); });
    }
    std::vector<bool> verdicts(const Kernel& kernel, std::int64_t items, std::int64_t n, std::int64_t a = 0, std::int64_t b = 0) {
        const RangeProgram program = range_program(kernel);
        std::vector<Range> inputs;
        for (const RangeInput& input : program.inputs) {
            const std::int64_t scalars[] = {0, n, a, b};
            const std::int64_t v = input.extent ? items : scalars[input.index];
            inputs.push_back({v, v});
        }
        return program.evaluate(inputs);
    }
    using Bools = std::vector<bool>;
};

TEST_F(RangesTest, ItemsAndOffsets) {
    check(i);
    check(m.add(i, a));
    check(m.sub(m.sub(n, m.i64(1)), i));
    const Kernel k = m.finish();
    EXPECT_EQ(verdicts(k, 10, 10, 0), (Bools{true, true, true}));
    EXPECT_EQ(verdicts(k, 10, 10, 1), (Bools{true, false, true}));
    EXPECT_EQ(verdicts(k, 9, 10, 1), (Bools{true, true, true}));
    EXPECT_EQ(verdicts(k, 9, 10, -1), (Bools{true, false, true}));
    EXPECT_EQ(verdicts(k, 11, 10, 0), (Bools{false, false, false}));
    EXPECT_EQ(verdicts(k, 0, 0, 5), (Bools{true, true, true}));  // nothing runs
    EXPECT_EQ(verdicts(k, 10, 10, most), (Bools{true, false, true}));
    EXPECT_EQ(verdicts(k, 10, 10, least), (Bools{true, false, true}));
}

TEST_F(RangesTest, ConditionsAroundIt) {
    when(m.lt(i, n), [&] { check(i); });
    when(m.bit_and(m.lt(m.i64(0), i), m.lt(i, m.sub(n, m.i64(1)))), [&] {
        check(m.sub(i, m.i64(1)));
        check(m.add(i, m.i64(1)));
    });
    m.if_else(
        m.ge(m.add(i, m.i64(2)), n), [&] { return nothing(); },
        [&] {
            check(m.add(i, m.i64(2)));
            return nothing();
        });
    when(m.bit_not(m.bit_or(m.lt(a, m.i64(0)), m.ge(a, n))), [&] { check(a); });
    when(m.eq(a, i), [&] { check(m.sub(a, i)); });
    when(m.ne(i, m.i64(0)), [&] { check(m.sub(i, m.i64(1))); });
    const Kernel k = m.finish();
    EXPECT_EQ(verdicts(k, 100, 10, 50), (Bools{true, true, true, true, true, true, false}));
    EXPECT_EQ(verdicts(k, 10, 10, 50), (Bools{true, true, true, true, true, true, true}));
    EXPECT_EQ(verdicts(k, 10, 0, 50)[0], true);
}

TEST_F(RangesTest, LoopsAndWhatTheyCarry) {
    const Value zero = m.i64(0), one = m.i64(1);
    const auto loop = [&](Value from, Value to, Value by, auto body) {
        const Value initial[] = {a};
        m.for_loop(from, to, by, initial, [&](Value k, std::span<const Value> carried) {
            body(k, carried[0]);
            return Builder::Values{m.add(carried[0], b)};
        });
    };
    loop(zero, n, one, [&](Value k, Value) { check(k); });
    loop(m.sub(n, one), m.i64(-1), m.i64(-1), [&](Value k, Value) { check(k); });
    loop(zero, n, m.i64(3), [&](Value k, Value) { check(m.add(k, m.i64(2))); });
    loop(zero, m.floor_div(n, m.i64(2)), one, [&](Value, Value carried) { check(carried); });
    loop(i, n, one, [&](Value k, Value) { check(k); });
    loop(one, n, one, [&](Value k, Value) { check(m.sub(k, one)); });
    const Kernel k = m.finish();
    EXPECT_EQ(verdicts(k, 10, 12, 0, 2), (Bools{true, true, true, true, true, true}));
    EXPECT_EQ(verdicts(k, 10, 13, 0, 2), (Bools{true, true, false, true, true, true}));
    EXPECT_EQ(verdicts(k, 10, 12, 2, 2), (Bools{true, true, true, false, true, true}));
    EXPECT_EQ(verdicts(k, 10, 12, 0, most), (Bools{true, true, true, false, true, true}));
    EXPECT_EQ(verdicts(k, 10, 0), (Bools{true, true, true, true, true, true}));
}

TEST_F(RangesTest, WhileLoopsThatCount) {
    const Value initial[] = {m.i64(0)};
    const auto loop = [&](Value step) {
        m.while_loop(
            initial, [&](std::span<const Value> v) { return m.lt(v[0], n); },
            [&](std::span<const Value> v) {
                check(v[0]);
                return Builder::Values{m.add(v[0], step)};
            });
    };
    loop(m.i64(1));
    loop(a);
    const Kernel k = m.finish();
    EXPECT_EQ(verdicts(k, 1, 10, 3), (Bools{true, true}));
    EXPECT_EQ(verdicts(k, 1, 10, -1), (Bools{true, false}));
    EXPECT_EQ(verdicts(k, 1, 10, most), (Bools{true, false}));  // the sum wraps
}

TEST_F(RangesTest, RemaindersMasksAndNarrowNumbers) {
    const Value x = m.load(out, i), byte = m.cast(m.cast(x, DType::UInt8), I64);
    check(m.rem(x, n));
    check(m.bit_and(x, m.i64(7)), m.i64(8));
    check(byte, m.i64(256));
    check(byte, m.i64(255));
    check(m.min(m.max(x, m.i64(0)), m.sub(n, m.i64(1))));
    check(x);
    check(m.cast(m.cast(x, DType::UInt64), I64));
    check(m.cast(m.floor_div(m.cast(x, DType::UInt64), m.constant(DType::UInt64, Scalar(std::uint64_t(1) << 60))), I64), m.i64(8));
    const Kernel k = m.finish();
    EXPECT_EQ(verdicts(k, 10, 10), (Bools{true, true, true, false, true, false, false, false}));
    EXPECT_EQ(verdicts(k, 10, 0)[0], false);
    EXPECT_EQ(verdicts(k, 10, 0)[4], false);
}

TEST_F(RangesTest, WhatHoldsIsLeftOut) {
    const Value w = m.wrap(m.add(i, a), n);
    m.store(out, m.i64(9), w);
    check(w);
    const Kernel k = m.finish();
    const RangeProgram program = range_program(k);
    EXPECT_EQ(verdicts(k, 10, 10, 0), (Bools{true, true}));
    EXPECT_EQ(verdicts(k, 10, 10, -3), (Bools{false, true}));  // counts from the end, and is in range
    EXPECT_EQ(verdicts(k, 10, 10, -11), (Bools{false, false}));
    const auto has = [](const Kernel& kernel, Opcode op) {
        return std::any_of(kernel.body.body.begin(), kernel.body.body.end(), [&](InstrId id) { return kernel.instrs[id].op == op; });
    };
    const Kernel none = resolve_checks(k, program, {true, true}), wraps = resolve_checks(k, program, {false, true}),
                 all = resolve_checks(k, program, {false, false});
    EXPECT_FALSE(has(none, Opcode::Select) || has(none, Opcode::Lt));
    EXPECT_TRUE(has(wraps, Opcode::Select) && !has(wraps, Opcode::Cast));
    EXPECT_TRUE(has(all, Opcode::Select) && has(all, Opcode::Cast));
    for (const Kernel* each : {&none, &wraps, &all}) EXPECT_FALSE(has(*each, Opcode::Wrap) || has(*each, Opcode::Inside));
}

/// Kernels of random arithmetic, branches and loops.
class RandomKernel {
public:
    explicit RandomKernel(unsigned seed) : random_(seed) {
        for (const char* name : {"n", "a", "b", "c"}) pool_.push_back(m_.scalar_param(name, I64));
        for (const std::int64_t v : {std::int64_t(0), std::int64_t(1), std::int64_t(2), std::int64_t(-1), std::int64_t(7)})
            pool_.push_back(m_.i64(v));
        pool_.push_back(m_.dim(0));
        pool_.push_back(m_.dim(1));
        pool_.push_back(m_.extent(1));
        pool_.push_back(m_.load(in_, m_.dim(0)));
        pool_.push_back(m_.i64(pick(2) ? most : least + 1));
    }

    Kernel make() {
        statements(4, 0);
        return m_.finish();
    }
    int checks() const { return checks_; }

private:
    int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
    Value any() { return pool_[static_cast<std::size_t>(pick(static_cast<int>(pool_.size())))]; }
    Value natural() { return m_.max(any(), m_.i64(0)); }
    Value small() { return m_.min(m_.max(any(), m_.i64(-4)), m_.i64(9)); }

    Value number() {
        const Value x = any(), y = any();
        switch (pick(16)) {
            case 0:
            case 1:
            case 2: return m_.add(x, y);
            case 3:
            case 4: return m_.sub(x, y);
            case 5: return m_.mul(x, y);
            case 6: return m_.floor_div(x, y);
            case 7: return m_.rem(x, y);
            case 8: return m_.min(x, y);
            case 9: return m_.max(x, y);
            case 10: return m_.select(condition(2), x, y);
            case 11: return m_.wrap(x, natural());
            case 12: return m_.abs(x);
            case 13: return pick(2) ? m_.shr(x, y) : m_.shl(x, m_.i64(pick(4)));
            case 14: return m_.bit_and(x, y);
            default: {
                constexpr DType narrow[] = {DType::Int8, DType::UInt8, DType::UInt16, DType::Int32, DType::UInt64, DType::Bool};
                const DType t = narrow[pick(6)];
                Value v = m_.cast(x, t);
                if (t != DType::Bool && pick(2)) v = pick(2) ? m_.add(v, m_.cast(y, t)) : m_.floor_div(v, m_.cast(y, t));
                return m_.cast(v, I64);
            }
        }
    }

    Value condition(int depth) {
        if (depth > 0 && pick(3) == 0) {
            const Value x = condition(depth - 1), y = condition(depth - 1);
            return pick(3) == 0 ? m_.bit_not(x) : pick(2) ? m_.bit_and(x, y) : m_.bit_or(x, y);
        }
        const Value x = any(), y = any();
        switch (pick(7)) {
            case 0: return m_.eq(x, y);
            case 1: return m_.ne(x, y);
            case 2: return m_.lt(x, y);
            case 3: return m_.le(x, y);
            case 4: return m_.gt(x, y);
            case 5: return m_.inside(x, natural());
            default: return m_.ge(x, y);
        }
    }

    void check() {
        const Value index = any(), extent = natural(), at = m_.i64(checks_++);
        m_.store(out_, at, m_.bit_and(m_.load(out_, at), m_.cast(m_.inside(index, extent), I64)));
    }

    void statements(int count, int depth) {
        for (int k = 0; k < count; ++k) {
            const int what = pick(10);
            if (what < 5 || depth > 2)
                pool_.push_back(number());
            else if (what < 7)
                branch(depth);
            else if (what < 9)
                loop(depth);
            else
                while_loop(depth);
            check();
        }
    }

    /// Runs `body`, and forgets what it has defined.
    template <class Body> Builder::Values scoped(Body body) {
        const std::size_t size = pool_.size();
        Builder::Values out = body();
        pool_.resize(size);
        return out;
    }

    void branch(int depth) {
        const auto side = [&] {
            return scoped([&] {
                check();
                statements(2, depth + 1);
                return Builder::Values{any()};
            });
        };
        pool_.push_back(m_.if_else(condition(1), side, side)[0]);
    }

    Value changed(Value v) {
        switch (pick(5)) {
            case 0: return any();
            case 1: return m_.sub(v, small());
            case 2: return m_.select(condition(1), m_.add(v, small()), v);
            default: return m_.add(v, pick(2) ? small() : any());
        }
    }

    void loop(int depth) {
        const Value initial[] = {any()}, from = small(), to = small();
        const Value step = pick(2) ? m_.i64(1) : m_.i64(pick(2) ? 2 : -1);
        pool_.push_back(m_.for_loop(from, to, step, initial, [&](Value k, std::span<const Value> carried) {
            return scoped([&] {
                pool_.push_back(k);
                pool_.push_back(carried[0]);
                statements(2, depth + 1);
                return Builder::Values{changed(carried[0])};
            });
        })[0]);
    }

    /// At most a dozen iterations.
    void while_loop(int depth) {
        const Value initial[] = {any(), m_.i64(0)};
        const auto test = [&](std::span<const Value> v) {
            return scoped([&] {
                pool_.push_back(v[0]);
                const Value limit = any();
                const Value test = pick(2) ? m_.lt(v[0], limit) : m_.ge(v[0], limit);
                return Builder::Values{m_.bit_and(test, m_.lt(v[1], m_.i64(12)))};
            })[0];
        };
        pool_.push_back(m_.while_loop(initial, test, [&](std::span<const Value> v) {
            return scoped([&] {
                pool_.push_back(v[0]);
                pool_.push_back(v[1]);
                statements(2, depth + 1);
                return Builder::Values{changed(v[0]), m_.add(v[1], m_.i64(1))};
            });
        })[0]);
    }

    std::mt19937 random_;
    Builder m_{"random", 2, true};
    Value in_ = m_.pointer("in", I64, Access::Read, true), out_ = m_.pointer("out", I64, Access::ReadWrite, true);
    std::vector<Value> pool_;
    int checks_ = 0;
};

/// What is said to hold holds for each item; and enough is said.
TEST(Ranges, RandomKernels) {
    int held = 0, could = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        RandomKernel random(seed);
        const Kernel kernel = random.make();
        const RangeProgram program = range_program(kernel);
        std::mt19937 numbers(seed);
        for (int launch = 0; launch < 3; ++launch) {
            const auto number = [&](int low, int high) {
                return low + static_cast<std::int64_t>(numbers() % static_cast<unsigned>(high - low));
            };
            const std::int64_t extents[] = {number(0, 5), number(1, 6)};
            std::int64_t scalars[] = {number(0, 12), number(-3, 6), number(-12, 12), number(0, 3)};
            if (launch == 2) scalars[2] = numbers() % 2 ? most - number(0, 3) : least + number(0, 3);
            std::vector<std::int64_t> in{3, -2, 5, 100, 1}, out(static_cast<std::size_t>(random.checks()), 1);
            std::vector<std::uint64_t> args{std::bit_cast<std::uint64_t>(in.data()), std::bit_cast<std::uint64_t>(out.data())};
            for (const std::int64_t s : scalars) args.push_back(static_cast<std::uint64_t>(s));
            interpret(kernel, args, extents);
            std::vector<Range> inputs;
            for (const RangeInput& input : program.inputs) {
                const std::int64_t v = input.extent ? extents[input.index] : scalars[input.index - 2];
                inputs.push_back({v, v});
            }
            const std::vector<bool> holds = program.evaluate(inputs);
            // The kernel in which what holds is left out leaves the same.
            std::vector<std::int64_t> left(out.size(), 1);
            args[1] = std::bit_cast<std::uint64_t>(left.data());
            interpret(resolve_checks(kernel, program, holds), args, extents);
            ASSERT_EQ(left, out) << "seed " << seed << ", launch " << launch << "\n"
                                 << print(kernel) << print(resolve_checks(kernel, program, holds));
            for (const std::int64_t each : out) could += each != 0;
            held += static_cast<int>(std::count(holds.begin(), holds.end(), true));
        }
    }
    EXPECT_GT(held, could / 8);
}

}  // namespace
}  // namespace pardo::ir::test
