// tests/unit/ir/narrow_floats_test.cpp: floats of 16 bits become float32, round where they did, and keep their bits where they are only
// moved.
#include <gtest/gtest.h>

#include "base/narrow.h"
#include "harness.h"

namespace pardo::ir::test {
namespace {

constexpr DType narrow_dtypes[] = {DType::Float16, DType::BFloat16};

std::uint16_t bits_of(DType t, double value) { return to_narrow(value, facts_of(t).exponent, facts_of(t).mantissa); }

int count(const Kernel& kernel, Opcode op) {
    return static_cast<int>(std::ranges::count_if(kernel.instrs, [op](const Instr& in) { return in.op == op; }));
}

TEST(NarrowFloats, OnlyConversionsAndMemoryHaveThem) {
    for (const DType t : narrow_dtypes) {
        const Kernel kernel = lower_narrow_floats(elementwise(t, t, 3, [&](Builder& m, std::span<const Value> v) {
            const Value sum = m.add(m.call(Math::exp, v[0]), m.fma(v[0], v[1], v[2]));
            return m.select(m.lt(v[0], v[1]), m.neg(sum), m.call(Math::nextafter, v[1], m.max(v[2], m.constant(t, 0.5))));
        }));
        for (const Instr& in : kernel.instrs) {
            const bool may = in.op == Opcode::Load || in.op == Opcode::Cast || in.op == Opcode::Bitcast || in.op == Opcode::Const;
            for (const Value v : in.results)
                EXPECT_TRUE(may || kernel.values[v].pointer || !is_narrow_float(kernel.values[v].type)) << name(in.op);
        }
    }
}

TEST(NarrowFloats, WhatIsMovedKeepsItsBits) {
    for (const DType t : narrow_dtypes) {
        const Kernel kernel = lower_narrow_floats(elementwise(t, t, 1, [](Builder&, std::span<const Value> v) { return v[0]; }));
        const auto store = std::ranges::find(kernel.instrs, Opcode::Store, &Instr::op);
        ASSERT_NE(store, kernel.instrs.end());
        EXPECT_EQ(kernel.instrs[kernel.values[store->operands[2]].def].op, Opcode::Load);
    }
}

TEST(NarrowFloats, EachOperationRounds) {
    for (const DType t : narrow_dtypes) {
        const Kernel plain = elementwise(t, t, 2, [&](Builder& m, std::span<const Value> v) {
            return m.sub(m.add(v[0], v[1]), v[0]);  // 0, where the sum rounds to its first operand
        });
        const std::vector<std::uint16_t> large{bits_of(t, 2048)}, small{bits_of(t, 1)};
        const auto lowered = run<std::uint16_t, std::uint16_t>(lower_narrow_floats(plain), {large, small});
        EXPECT_EQ(lowered, (run<std::uint16_t, std::uint16_t>(plain, {large, small})));
        EXPECT_EQ(lowered[0], 0);
    }
}

TEST(NarrowFloats, SumsOfLanesRoundOnce) {
    for (const DType t : narrow_dtypes) {
        Builder b("sum", 1, false);
        const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true);
        const Reduction sum{Combine::Add, b.constant(t, 0.0)};
        b.store(o, b.dim(0), b.for_lanes(b.i64(0), b.i64(4096), {&sum, 1}, [&](Value j) { return Builder::Values{b.load(x, j)}; })[0]);
        const Kernel kernel = lower_narrow_floats(b.finish());
        std::vector<std::uint16_t> ones(4096, bits_of(t, 1)), total(1);
        const std::vector<std::uint64_t> memory{reinterpret_cast<std::uint64_t>(ones.data()),
                                                reinterpret_cast<std::uint64_t>(total.data())};
        interpret(kernel, memory, std::vector<std::int64_t>{1});
        EXPECT_EQ(total[0], bits_of(t, 4096)) << dtype_name(t);
        EXPECT_EQ(count(kernel, Opcode::For), 1);
    }
}

TEST(NarrowFloats, NeighboursAreOfTheirOwnDtype) {
    for (const DType t : narrow_dtypes) {
        const Kernel kernel = lower_narrow_floats(
            elementwise(t, t, 2, [](Builder& m, std::span<const Value> v) { return m.call(Math::nextafter, v[0], v[1]); }));
        const std::vector<std::uint16_t> from{bits_of(t, 1), bits_of(t, 1), 0, 0, bits_of(t, -1), bits_of(t, nan_value)};
        const std::vector<std::uint16_t> to{bits_of(t, 2), 0, bits_of(t, 1), bits_of(t, -1), 0, 0};
        const auto one = bits_of(t, 1), minus = bits_of(t, -1);
        const auto next = run<std::uint16_t, std::uint16_t>(kernel, {from, to});
        const std::vector<std::uint16_t> want{static_cast<std::uint16_t>(one + 1),
                                              static_cast<std::uint16_t>(one - 1),
                                              1,
                                              0x8001,
                                              static_cast<std::uint16_t>(minus - 1),
                                              bits_of(t, nan_value)};
        EXPECT_EQ(next, want) << dtype_name(t);
    }
}

}  // namespace
}  // namespace pardo::ir::test
