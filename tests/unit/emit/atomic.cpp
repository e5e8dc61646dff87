// tests/unit/emit/atomic.cpp: atomics of each operation and dtype, in memory of the range and of groups; private arrays of plain ranges.
#include <pardo/error.h>

#include <functional>

#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::AtomicOp;
using ir::Builder;
using ir::MemoryOrder;
using ir::MemoryScope;
using ir::Space;
using ir::Value;
using Values = Builder::Values;

constexpr DType dtypes[] = {i32, DType::UInt32, i64, DType::UInt64, DType::Float32, f64};
constexpr AtomicOp ops[] = {AtomicOp::Add, AtomicOp::Sub, AtomicOp::Min, AtomicOp::Max,
                            AtomicOp::And, AtomicOp::Or,  AtomicOp::Xor, AtomicOp::Exchange};

bool has(AtomicOp op, DType t) { return is_integer(t) || op < AtomicOp::And || op == AtomicOp::Exchange; }

/// Where a kernel's atomics go.
enum class Target { Scattered, Same, SameUnderMask, Neighbours };
constexpr Target targets[] = {Target::Scattered, Target::Same, Target::SameUnderMask, Target::Neighbours};

Values none() { return {}; }

/// memory[where] op= x[i]; if `old`, out[i] = what was there before. With `groups`, memory is an array of the group, copied out afterwards.
ir::Kernel kernel(AtomicOp op, DType t, Target target, bool old, bool groups, bool lanes = true) {
    Builder b("atomic", 1, lanes);
    const std::int64_t size[] = {21};
    if (groups) b.set_groups(size);
    const Value x = b.pointer("x", t, Access::Read, true), memory = b.pointer("memory", t, Access::ReadWrite, true),
                out = b.pointer("out", t, Access::Write, true);
    const Value i = b.dim(0), v = b.load(x, i);
    const Value tile = groups ? b.array("tile", t, 21, Space::Group) : memory;
    const Value own = groups ? b.local_dim(0) : i;
    if (groups) {
        b.store(tile, own, b.load(memory, i));
        b.barrier();
    }
    const Value where = target == Target::Scattered ? b.rem(b.mul(own, b.i64(5)), b.i64(7)) : target == Target::Neighbours ? own : b.i64(3);
    auto act = [&] {
        const Value before = b.atomic(op, tile, where, v, MemoryOrder::AcqRel, MemoryScope::Device);
        if (old) b.store(out, i, before);
        return Values{};
    };
    if (target == Target::SameUnderMask)
        b.if_else(b.ne(b.rem(i, b.i64(3)), b.i64(1)), act, none);
    else
        act();
    if (groups) {
        b.barrier();
        b.store(memory, i, b.load(tile, own));
    }
    return b.finish();
}

/// Numbers whose sums are exact in any order.
Argument numbers(DType t, std::int64_t count, int first) {
    Argument a = array(t, count);
    for (std::int64_t k = 0; k < count; ++k) {
        const double v = static_cast<double>((first + k * 37) % 101) - 50;
        std::uint8_t* at = a.bytes.data() + k * itemsize(t);
        const auto f = static_cast<float>(v);
        const auto n = static_cast<std::int64_t>(v);
        std::memcpy(at,
                    t == f64              ? static_cast<const void*>(&v)
                    : t == DType::Float32 ? static_cast<const void*>(&f)
                                          : &n,
                    static_cast<std::size_t>(itemsize(t)));
    }
    return a;
}

TEST(Atomic, EveryOperationAndDtypeInBothSpaces) {
    int turn = 0;  // each kernel for one of the widths: what differs between them is tested often enough
    for (DType t : dtypes)
        for (AtomicOp op : ops)
            for (Target target : targets)
                for (bool groups : {false, true}) {
                    if (!has(op, t)) continue;
                    const bool old = target == Target::Scattered || target == Target::Neighbours;
                    const ir::Kernel k = kernel(op, t, target, old, groups);
                    std::vector<Argument> reference{numbers(t, 63, 5), numbers(t, 63, 11), array(t, 63)}, native = reference;
                    interpret(k, reference, {63});
                    run_native(compile(k, widths[turn++ % 3]), native, {63});
                    expect_same(native, reference, 0,
                                std::string(name(op)) + " " + std::string(dtype_name(t)) + (groups ? " group" : " range") + " target " +
                                    std::to_string(static_cast<int>(target)));
                    if (testing::Test::HasFailure()) return;
                }
}

TEST(Atomic, WhatWasThereBeforeAtOneAddress) {
    for (DType t : {i32, DType::UInt64, f64})
        for (AtomicOp op : {AtomicOp::Add, AtomicOp::Sub, AtomicOp::Exchange, AtomicOp::Max})
            for (bool groups : {false, true})
                for (Target target : {Target::Same, Target::SameUnderMask})
                    check(kernel(op, t, target, true, groups), {numbers(t, 63, 5), numbers(t, 63, 11), array(t, 63)}, {63});
}

TEST(Atomic, ScalarCode) {
    for (DType t : dtypes)
        for (AtomicOp op : ops)
            if (has(op, t))
                check(kernel(op, t, Target::Scattered, true, false, false), {numbers(t, 9, 5), numbers(t, 9, 1), array(t, 9)}, {9});
}

TEST(Atomic, InLoopsOfLanes) {
    for (bool lanes : {true, false}) {
        Builder b("loop", 1, lanes);
        const Value x = b.pointer("x", i32, Access::Read, true), bins = b.pointer("bins", i32, Access::ReadWrite, true),
                    o = b.pointer("o", i32, Access::Write, true);
        const ir::Reduction sum[] = {{ir::Combine::Add, b.constant(i32, 0.0)}};
        const Values r = b.for_lanes(b.i64(0), b.add(b.dim(0), b.i64(33)), sum, [&](Value k) {
            const Value v = b.load(x, k);
            const Value old = b.atomic(AtomicOp::Xor, bins, b.rem(k, b.i64(7)), v);
            b.atomic(AtomicOp::Add, bins, b.i64(7), v);
            return Values{b.sub(old, v)};
        });
        b.store(o, b.dim(0), lanes ? b.constant(i32, 0.0) : r[0]);  // with lanes, items take turns in another order
        check(b.finish(), {numbers(i32, 40, 3), array(i32, 8), array(i32, 5)}, {5});
    }
}

TEST(Atomic, NanLosesInMinAndMax) {
    for (DType t : {DType::Float32, f64})
        for (AtomicOp op : {AtomicOp::Min, AtomicOp::Max})
            for (bool groups : {false, true}) {
                Argument x = numbers(t, 63, 5), memory = numbers(t, 63, 9);
                for (std::int64_t k = 0; k < 63; k += 2) {
                    const double d = NAN;
                    const float f = NAN;
                    std::memcpy(x.bytes.data() + k * itemsize(t), t == f64 ? static_cast<const void*>(&d) : &f,
                                static_cast<std::size_t>(itemsize(t)));
                    if (k < 8)
                        std::memcpy(memory.bytes.data() + k * itemsize(t), t == f64 ? static_cast<const void*>(&d) : &f,
                                    static_cast<std::size_t>(itemsize(t)));
                }
                for (Target target : {Target::Scattered, Target::Same})
                    check(kernel(op, t, target, false, groups), {x, memory, array(t, 63)}, {63});
            }
}

TEST(Atomic, CompareExchange) {
    for (DType t : dtypes)
        for (bool groups : {false, true})
            for (bool masked : {false, true}) {
                Builder b("cas", 1, true);
                const std::int64_t size[] = {21};
                if (groups) b.set_groups(size);
                const Value x = b.pointer("x", t, Access::Read, true), memory = b.pointer("memory", t, Access::ReadWrite, true),
                            out = b.pointer("out", t, Access::Write, true);
                const Value i = b.dim(0), tile = groups ? b.array("tile", t, 21, Space::Group) : memory, own = groups ? b.local_dim(0) : i;
                if (groups) {
                    b.store(tile, own, b.load(memory, i));
                    b.barrier();
                }
                auto act = [&] {
                    const Value at = b.rem(own, b.i64(6));
                    b.store(out, i,
                            b.compare_exchange(tile, at, b.load(x, at), b.add(b.load(x, i), b.constant(t, 1.0)), MemoryOrder::SeqCst));
                    return Values{};
                };
                masked ? static_cast<void>(b.if_else(b.eq(b.rem(i, b.i64(4)), b.i64(1)), act, none)) : static_cast<void>(act());
                if (groups) {
                    b.barrier();
                    b.store(memory, i, b.load(tile, own));
                }
                Argument start = numbers(t, 63, 5);
                check(b.finish(), {start, start, array(t, 63)}, {63}, 0, std::string(dtype_name(t)));
            }
}

TEST(Atomic, EveryOrder) {
    for (MemoryOrder order : {MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release, MemoryOrder::AcqRel, MemoryOrder::SeqCst}) {
        Builder b("orders", 1, true);
        const Value n = b.pointer("n", i64, Access::ReadWrite, true), f = b.pointer("f", f64, Access::ReadWrite, true), i = b.dim(0);
        b.atomic(AtomicOp::Add, n, b.i64(0), i, order, MemoryScope::System);
        b.atomic(AtomicOp::Max, f, b.i64(0), b.cast(i, f64), order, MemoryScope::Group);
        b.compare_exchange(n, b.i64(1), b.i64(0), i, order, MemoryScope::Device);
        if (order != MemoryOrder::Relaxed) b.fence(order, MemoryScope::System);
        check(b.finish(), {array(i64, 2), array(f64, 1)}, {37});
    }
}

TEST(Atomic, HistogramInGroups) {
    const std::int64_t size[] = {64};
    Builder b("histogram", 1, true);
    b.set_groups(size);
    const Value x = b.pointer("x", DType::UInt8, Access::Read, true), bins = b.pointer("bins", i32, Access::ReadWrite, true);
    const Value own = b.array("own", i32, 16, Space::Group), lid = b.local_dim(0);
    b.if_else(
        b.lt(lid, b.i64(16)),
        [&] {
            b.store(own, lid, b.constant(i32, 0.0));
            return Values{};
        },
        none);
    b.barrier();
    b.atomic(AtomicOp::Add, own, b.cast(b.bit_and(b.load(x, b.dim(0)), b.constant(DType::UInt8, 15.0)), i64), b.constant(i32, 1.0));
    b.barrier();
    b.if_else(
        b.lt(lid, b.i64(16)),
        [&] {
            b.atomic(AtomicOp::Add, bins, lid, b.load(own, lid));
            return Values{};
        },
        none);
    std::vector<std::uint8_t> values;
    std::vector<std::int32_t> counts(16);
    for (int k = 0; k < 640; ++k) {
        values.push_back(static_cast<std::uint8_t>(k * k % 251));
        ++counts[values.back() & 15];
    }
    const ir::Kernel kernel = b.finish();
    check(kernel, {array_of(values), array(i32, 16)}, {640});
    std::vector<Argument> arguments{array_of(values), array(i32, 16)};
    run_native(compile(kernel, 64), arguments, {640});
    EXPECT_EQ(test::values<std::int32_t>(arguments[1]), counts);
}

TEST(PrivateArray, OfARange) {  // a polynomial by lanes; indices the same for all lanes, neighbours, and anything
    for (DType t : {DType::Float32, f64, DType::Int8, DType::Bool, DType::Float16, DType::BFloat16, i64})
        for (bool lanes : {true, false}) {
            Builder b("private", 1, lanes);
            const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true);
            const Value mine = b.array("mine", t, 5, Space::Private), i = b.dim(0), v = b.load(x, i);
            auto plus = [&](Value p, Value q) { return t == DType::Bool ? b.bit_xor(p, q) : b.add(p, q); };
            b.for_loop(b.i64(0), b.i64(5), b.i64(1), {}, [&](Value k, std::span<const Value>) {
                b.store(mine, k, plus(v, b.cast(k, t)));
                return Values{};
            });
            b.store(mine, b.i64(2), b.constant(t, 1.0));
            const Value any = b.rem(b.mul(i, b.i64(3)), b.i64(5));
            b.if_else(
                b.eq(b.rem(i, b.i64(4)), b.i64(2)),
                [&] {
                    b.store(mine, b.i64(1), b.constant(t, 0.0));
                    b.store(mine, any, v);
                    return Values{};
                },
                none);
            Value sum = b.load(mine, any);
            for (int k = 0; k < 5; ++k) sum = plus(sum, b.load(mine, b.i64(k)));
            b.store(o, i, sum);
            const ir::Kernel kernel = b.finish();
            for (std::int64_t n : {1, 8, 70})
                check(kernel, {interesting(t, n, 3, 20), array(t, n)}, {n}, 0, std::string(dtype_name(t)) + (lanes ? " lanes" : " scalar"));
        }
}

TEST(PrivateArray, SeenByALoopOfLanes) {
    for (bool lanes : {true, false}) {
        Builder b("inner", 1, lanes);
        const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true);
        const Value mine = b.array("mine", f64, 33, Space::Private), i = b.dim(0), v = b.load(x, i);
        b.for_lanes(b.i64(0), b.i64(33), {}, [&](Value k) {
            b.store(mine, k, b.add(v, b.cast(k, f64)));
            return Values{};
        });
        const ir::Reduction largest[] = {{ir::Combine::Max, b.constant(f64, -1e9)}};
        const Values r = b.for_lanes(b.i64(0), b.i64(33), largest, [&](Value k) { return Values{b.load(mine, b.sub(b.i64(32), k))}; });
        b.store(o, i, b.add(r[0], b.load(mine, b.i64(7))));
        check(b.finish(), {numbers(f64, 19, 3), array(f64, 19)}, {19});
    }
}

TEST(PrivateArray, ThatIsTooLarge) {
    Builder b("large", 1, true);
    const Value o = b.pointer("o", f64, Access::Write, true), mine = b.array("mine", f64, std::int64_t(1) << 60, Space::Private);
    b.store(mine, b.dim(0), b.constant(f64, 1.0));
    b.store(o, b.dim(0), b.load(mine, b.i64(0)));
    const ir::Kernel kernel = b.finish();
    try {
        compile(kernel, 64);
        ADD_FAILURE() << "compiled";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Compile);
        EXPECT_NE(e.message().find("262144"), std::string::npos) << e.message();
    }
}

}  // namespace
}  // namespace pardo::test
