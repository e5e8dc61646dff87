// tests/unit/ir/teams_test.cpp: which kernels pass elements between the lanes of their loops.
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/rules.h"

namespace pardo::ir::test {
namespace {

/// Rows of `n` elements: y[i, k] = x[i, k] for all k from `from` on, and what `rest` adds.
Kernel rows(const std::function<void(Builder& m, Value x, Value y, Value row, Value n)>& rest) {
    Builder m("rows", 1, false);
    const Value x = m.pointer("x", DType::Float64, Access::ReadWrite, true), y = m.pointer("y", DType::Float64, Access::ReadWrite, true),
                n = m.scalar_param("n", DType::Int64), row = m.mul(m.dim(0), n);
    m.for_lanes(m.i64(0), n, {}, [&](Value k) {
        m.store(y, m.add(row, k), m.load(x, m.add(row, k)));
        return Builder::Values{};
    });
    rest(m, x, y, row, n);
    return m.finish();
}

bool passes(const std::function<void(Builder& m, Value x, Value y, Value row, Value n)>& rest) { return passes_elements(rows(rest)); }

/// A loop that stores x[row + k] = y[row + k + shift].
void next_loop(Builder& m, Value x, Value y, Value row, Value n, std::int64_t from, std::int64_t shift) {
    m.for_lanes(m.i64(from), n, {}, [&](Value k) {
        m.store(x, m.add(row, k), m.load(y, m.add(m.add(row, k), m.i64(shift))));
        return Builder::Values{};
    });
}

TEST(Teams, OneLoopKeepsItsElements) {
    EXPECT_FALSE(passes([](Builder&, Value, Value, Value, Value) {}));
}

TEST(Teams, LoopsThatTakeTheSameElementsInTheSameRounds) {
    EXPECT_FALSE(passes([](Builder& m, Value x, Value y, Value row, Value n) {
        m.for_lanes(m.i64(0), n, {}, [&](Value k) {
            m.store(y, m.add(row, k), m.add(m.load(y, m.add(row, k)), m.load(x, m.add(row, k))));
            return Builder::Values{};
        });
    }));
}

TEST(Teams, LoopsThatTakeThemInOtherRounds) {
    EXPECT_TRUE(passes([](Builder& m, Value x, Value y, Value row, Value n) { next_loop(m, x, y, row, n, 0, 1); }));
    EXPECT_TRUE(passes([](Builder& m, Value x, Value y, Value row, Value n) { next_loop(m, x, y, row, n, 1, 0); }));
}

TEST(Teams, WhatIsStoredOutsideOfLoops) {
    EXPECT_TRUE(passes([](Builder& m, Value, Value y, Value row, Value) { m.store(y, row, m.constant(DType::Float64, 0.0)); }));
    EXPECT_TRUE(passes([](Builder& m, Value x, Value, Value row, Value) { m.store(x, row, m.constant(DType::Float64, 0.0)); }));
    EXPECT_FALSE(passes([](Builder& m, Value, Value, Value row, Value) {
        const Value z = m.pointer("z", DType::Float64, Access::Write, true);
        m.store(z, row, m.constant(DType::Float64, 0.0));
    }));
}

TEST(Teams, KernelsWithoutLanesLoopsHaveNone) {
    Builder m("serial", 1, true);
    const Value x = m.pointer("x", DType::Float64, Access::ReadWrite, true);
    m.store(x, m.dim(0), m.load(x, m.i64(0)));
    EXPECT_FALSE(passes_elements(m.finish()));
}

}  // namespace
}  // namespace pardo::ir::test
