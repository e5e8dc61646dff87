// tests/unit/ir/groups_test.cpp: groups, arrays of kernels, atomics and barriers: their text, their rules, what they compute.
#include <gtest/gtest.h>

#include <functional>

#include <pardo/error.h>

#include "harness.h"

namespace pardo::ir::test {
namespace {

/// All that is new, once each.
Kernel sample() {
    Builder m("k", 2, true);
    const std::int64_t size[] = {4, 16};
    m.set_groups(size);
    const Value x = m.pointer("x", I32, Access::ReadWrite, true);
    const Value tile = m.array("tile", I32, 64, Space::Group), mine = m.array("mine", F32, 3, Space::Private);
    const Value row = m.local_dim(0), column = m.local_dim(1), group = m.group_dim(1);
    const Value own = m.add(m.mul(row, m.i64(16)), column), v = m.load(x, group);
    m.store(tile, own, v);
    const Value place = m.i64(1);
    m.store(mine, place, m.cast(v, F32));
    m.barrier();
    const Value before = m.atomic(AtomicOp::Max, x, group, m.load(tile, column), MemoryOrder::AcqRel, MemoryScope::System);
    m.compare_exchange(tile, row, before, m.cast(m.load(mine, place), I32), MemoryOrder::Relaxed, MemoryScope::Group);
    return m.finish();
}

std::string message_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Internal);
        return e.message();
    }
    return "nothing was thrown";
}

Instr& find(Kernel& k, Opcode op) {
    for (Instr& in : k.instrs)
        if (in.op == op) return in;
    throw std::logic_error("no such instruction");
}

TEST(GroupsIr, GoldenText) {
    EXPECT_EQ(print(sample()), R"(kernel "k" rank 2 lanes groups 4 x 16 (
  %0 "x" pointer int32 readwrite noalias
  %1 "tile" group array int32 64
  %2 "mine" private array float32 3
) {
  %3 = local_dim 0
  %4 = local_dim 1
  %5 = group_dim 1
  %6 = const int64 16
  %7 = mul int64 %3, %6
  %8 = add int64 %4, %7
  %9 = load int32 %0, %5
  store %1, %8, %9
  %10 = const int64 1
  %11 = cast float32 %9
  store %2, %10, %11
  barrier
  %12 = load int32 %1, %4
  %13 = atomic max acq_rel system int32 %0, %5, %12
  %14 = load float32 %2, %10
  %15 = cast int32 %14
  %16 = compare_exchange relaxed group int32 %1, %3, %13, %15
}
)");
}

TEST(GroupsIr, TextTellsKernelsApart) {  // it is the key of the program cache
    const Kernel kernel = sample();
    const std::function<void(Kernel&)> changes[] = {
        [](Kernel& k) { k.group_size[1] = 8; },
        [](Kernel& k) { k.arrays[0].count = 65; },
        [](Kernel& k) { k.arrays[1].space = Space::Group; },
        [](Kernel& k) { std::get<Atomic>(find(k, Opcode::Atomic).attribute).op = AtomicOp::Min; },
        [](Kernel& k) { std::get<Atomic>(find(k, Opcode::Atomic).attribute).ordering.order = MemoryOrder::SeqCst; },
        [](Kernel& k) { std::get<Atomic>(find(k, Opcode::Atomic).attribute).ordering.scope = MemoryScope::Device; },
        [](Kernel& k) { std::get<Ordering>(find(k, Opcode::CompareExchange).attribute).order = MemoryOrder::Acquire; },
        [](Kernel& k) { find(k, Opcode::LocalDim).attribute = Index{1}; },
    };
    for (const auto& change : changes) {
        Kernel other = kernel;
        change(other);
        EXPECT_NE(print(other), print(kernel));
    }
}

TEST(GroupsIr, BuilderRefusesMistakes) {
    const std::int64_t size[] = {8}, two[] = {8, 8}, none[] = {0};
    auto says = [](const std::function<void(Builder&)>& build, const char* rule) {
        Builder m("k", 1, true);
        const std::string message = message_of([&] { build(m); });
        EXPECT_NE(message.find(rule), std::string::npos) << message;
    };
    says([&](Builder& m) { m.set_groups(two); }, "a group has a size in each dimension");
    says([&](Builder& m) { m.set_groups(none); }, "a group has at least one item in each dimension");
    says([](Builder& m) { m.local_dim(0); }, "the groups have no such dimension");
    says([](Builder& m) { m.group_dim(0); }, "the groups have no such dimension");
    says([&](Builder& m) { m.set_groups(size), m.local_dim(1); }, "the groups have no such dimension");
    says([](Builder& m) { m.barrier(); }, "only kernels in groups have barriers");
    says([](Builder& m) { m.array("a", F32, 4, Space::Group); }, "only kernels in groups have arrays of the group");
    says([](Builder& m) { m.array("a", F32, -1, Space::Private); }, "an array has no negative number of elements");
    says([&](Builder& m) { m.set_groups(size), m.array("a", F32, 0, Space::Group); }, "an array of the group has at least one element");
    auto atomic = [](AtomicOp op, DType t) {
        return [=](Builder& m) { m.atomic(op, m.pointer("p", t, Access::ReadWrite, true), m.i64(0), m.constant(t, 1.0)); };
    };
    says(atomic(AtomicOp::Add, DType::Int8), "atomics are for int32, uint32, int64, uint64, float32 and float64");
    says(atomic(AtomicOp::Add, DType::Float16), "atomics are for");
    says(atomic(AtomicOp::Add, DType::Bool), "atomics are for");
    says(atomic(AtomicOp::Add, DType::Complex64), "atomics are for");
    says(atomic(AtomicOp::And, F32), "and, or, xor are for integers");
    says([](Builder& m) { m.atomic(AtomicOp::Add, m.pointer("p", I32, Access::ReadWrite, true), m.i64(0), m.i64(1)); },
         "the value must have the pointer's element dtype");
    says([](Builder& m) { m.compare_exchange(m.i64(0), m.i64(0), m.i64(1), m.i64(1)); }, "the first operand must be a pointer");
}

TEST(GroupsIr, VerifierRefusesDamage) {
    const std::pair<std::function<void(Kernel&)>, const char*> cases[] = {
        {[](Kernel& k) { k.group_size = {4}; }, "groups need a size in each dimension"},
        {[](Kernel& k) { k.group_size[0] = 0; }, "groups have at least one item in each dimension"},
        {[](Kernel& k) { k.lanes = false; }, "the items of groups are lanes"},
        {[](Kernel& k) { k.group_size = {}; }, "array 0 'tile': the kernel has no groups"},
        {[](Kernel& k) { k.arrays[0].count = 0; }, "array 0 'tile': it has no elements"},
        {[](Kernel& k) { k.arrays[0].type = F32; }, "array 0 'tile': its value has another type"},
        {[](Kernel& k) { k.arrays[0].value = k.arrays[1].value; }, "array 0 'tile': its value"},
        {[](Kernel& k) { find(k, Opcode::LocalDim).attribute = Index{2}; }, "the groups have no such dimension"},
        {[](Kernel& k) { find(k, Opcode::GroupDim).attribute = Index{2}; }, "the groups have no such dimension"},
        {[](Kernel& k) { find(k, Opcode::Array).attribute = Index{7}; }, ""},
        {[](Kernel& k) { k.params[0].access = Access::Read; }, "parameter 'x' is not declared for reading and writing"},
        {[](Kernel& k) { find(k, Opcode::Atomic).operands[1] = find(k, Opcode::Atomic).operands[2]; }, "the index must be int64"},
        {[](Kernel& k) { find(k, Opcode::Atomic).operands[2] = find(k, Opcode::GroupDim).results[0]; },
         "the value must have the pointer's element dtype"},
        {[](Kernel& k) { find(k, Opcode::CompareExchange).operands.pop_back(); }, "wrong number of operands"},
        {[](Kernel& k) { find(k, Opcode::Barrier).operands.push_back(0); }, ""},
    };
    for (const auto& [damage, rule] : cases) {
        Kernel kernel = sample();
        damage(kernel);
        const std::string message = message_of([&] { verify(kernel); });
        EXPECT_EQ(message.rfind("verify: kernel 'k': ", 0), 0u) << rule << ": " << message;
        EXPECT_NE(message.find(rule), std::string::npos) << message;
    }
}

TEST(GroupsIr, InterpreterRunsGroupsFromBarrierToBarrier) {
    Builder m("k", 1, true);
    const std::int64_t size[] = {4};
    m.set_groups(size);
    const Value x = m.pointer("x", I64, Access::ReadWrite, true), tile = m.array("tile", I64, 4, Space::Group);
    const Value lid = m.local_dim(0);
    const Value start[] = {m.load(x, m.dim(0))};
    const auto end = m.for_loop(m.i64(0), m.i64(3), m.i64(1), start, [&](Value, std::span<const Value> c) {
        m.store(tile, lid, c[0]);
        m.barrier();
        const Value next = m.load(tile, m.rem(m.add(lid, m.i64(1)), m.i64(4)));
        m.barrier();
        return Builder::Values{m.add(m.mul(next, m.i64(10)), m.group_dim(0))};
    });
    m.store(x, m.dim(0), end[0]);
    std::vector<std::int64_t> data{1, 2, 3, 4, 5, 6, 7, 8};
    const std::uint64_t args[] = {std::bit_cast<std::uint64_t>(data.data())};
    const std::int64_t extents[] = {8}, odd[] = {6};
    const Kernel kernel = m.finish();
    EXPECT_NE(message_of([&] { interpret(kernel, args, odd); }).find("multiples of the group size"), std::string::npos);
    interpret(kernel, args, extents);
    EXPECT_EQ(data, (std::vector<std::int64_t>{4000, 1000, 2000, 3000, 8111, 5111, 6111, 7111}));
}

/// x[i] = the value of item 3 - lane of the sub-group, where it is there, as a complex number.
Kernel exchange() {
    Builder m("k", 2, true);
    const std::int64_t size[] = {3, 2};
    m.set_groups(size, 4);
    const Value x = m.pointer("x", DType::Complex128, Access::ReadWrite, true);
    const Value at = m.add(m.mul(m.dim(0), m.i64(2)), m.dim(1));
    const Value place = m.add(m.mul(m.local_dim(0), m.i64(2)), m.local_dim(1)), lane = m.rem(place, m.i64(4));
    const Value there = m.lt(place, m.i64(4));  // the second sub-group has two items
    m.store(x, at, m.shuffle(m.load(x, at), m.select(there, m.sub(m.i64(3), lane), m.i64(0))));
    return m.finish();
}

TEST(GroupsIr, ShufflesAndTheirExpansionGiveTheSame) {
    const Kernel kernel = exchange();
    EXPECT_NE(print(kernel).find(" groups 3 x 2 sub-groups 4 ("), std::string::npos);
    EXPECT_NE(print(kernel).find("= shuffle complex128 "), std::string::npos);
    const Kernel pairs = lower_complex(kernel), expanded = expand_shuffles(pairs);
    verify(expanded);
    EXPECT_EQ(print(expanded).find("shuffle"), std::string::npos);
    const std::int64_t extents[] = {6, 2};
    for (const Kernel* k : {&kernel, &pairs, &expanded}) {
        std::vector<std::complex<double>> data(12);
        for (std::size_t i = 0; i < 12; ++i) data[i] = {static_cast<double>(i), 10.0 * static_cast<double>(i)};
        const std::uint64_t args[] = {std::bit_cast<std::uint64_t>(data.data())};
        interpret(*k, args, extents);
        const int from[] = {3, 2, 1, 0, 4, 4, 9, 8, 7, 6, 10, 10};
        for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(data[i], std::complex<double>(from[i], 10 * from[i])) << i;
    }
}

TEST(GroupsIr, ShufflesHaveRules) {
    const std::int64_t size[] = {8};
    Builder m("k", 1, true);
    m.set_groups(size);
    EXPECT_NE(message_of([&] { m.shuffle(m.i64(0), m.i64(0)); }).find("only kernels with sub-groups have shuffles"), std::string::npos);
    EXPECT_NE(message_of([&] { m.set_groups(size, 6); }).find("a power of two of items"), std::string::npos);
    m.set_groups(size, 4);
    EXPECT_NE(message_of([&] { m.shuffle(m.i64(0), m.constant(I32, 0.0)); }).find("the index must be int64"), std::string::npos);
    const std::pair<std::function<void(Kernel&)>, const char*> cases[] = {
        {[](Kernel& k) { k.sub_group = 0; }, "only kernels with sub-groups have shuffles"},
        {[](Kernel& k) { k.sub_group = 12; }, "a sub-group has a power of two of items"},
        {[](Kernel& k) { find(k, Opcode::Shuffle).operands.pop_back(); }, "it takes a value and an index"},
        {[](Kernel& k) { find(k, Opcode::Shuffle).operands[1] = find(k, Opcode::Shuffle).operands[0]; }, "the index is int64"},
    };
    for (const auto& [damage, rule] : cases) {
        Kernel kernel = exchange();
        damage(kernel);
        EXPECT_NE(message_of([&] { verify(kernel); }).find(rule), std::string::npos) << rule;
    }
}

TEST(GroupsIr, InterpreterFindsBarriersThatNotAllPass) {
    Builder m("k", 1, true);
    const std::int64_t size[] = {4};
    m.set_groups(size);
    m.if_else(
        m.lt(m.local_dim(0), m.i64(2)),
        [&] {
            m.barrier();
            return Builder::Values{};
        },
        [] { return Builder::Values{}; });
    const std::int64_t extents[] = {4};
    const Kernel kernel = m.finish();
    EXPECT_NE(message_of([&] { interpret(kernel, {}, extents); }).find("items of one group take different branches around a barrier"),
              std::string::npos);
}

TEST(GroupsIr, InterpreterKnowsAtomicsAndArrays) {
    Builder m("k", 1, true);
    const Value n = m.pointer("n", I32, Access::ReadWrite, true), f = m.pointer("f", F32, Access::ReadWrite, true),
                o = m.pointer("o", I32, Access::Write, true), i = m.dim(0), v = m.cast(i, I32);
    const AtomicOp ops[] = {AtomicOp::Add, AtomicOp::Sub, AtomicOp::Min, AtomicOp::Max,
                            AtomicOp::And, AtomicOp::Or,  AtomicOp::Xor, AtomicOp::Exchange};
    for (int k = 0; k < 8; ++k) m.atomic(ops[k], n, m.i64(k), v);
    const Value nan = m.div(m.constant(F32, 0.0), m.constant(F32, 0.0));
    m.atomic(AtomicOp::Max, f, m.i64(0), m.select(m.eq(i, m.i64(1)), nan, m.cast(i, F32)));
    const Value mine = m.array("mine", I32, 2, Space::Private);
    m.store(mine, m.i64(1), v);
    m.store(o, i, m.add(m.compare_exchange(n, m.i64(8), v, m.constant(I32, 100.0)), m.load(mine, m.i64(1))));
    std::vector<std::int32_t> numbers{10, 10, 2, 2, 6, 8, 5, 9, 1}, out(4);
    std::vector<float> largest{std::numeric_limits<float>::quiet_NaN()};
    const std::uint64_t args[] = {std::bit_cast<std::uint64_t>(numbers.data()), std::bit_cast<std::uint64_t>(largest.data()),
                                  std::bit_cast<std::uint64_t>(out.data())};
    const std::int64_t extents[] = {4};
    interpret(m.finish(), args, extents);
    EXPECT_EQ(numbers, (std::vector<std::int32_t>{16, 4, 0, 3, 0, 11, 5, 3, 100}));
    EXPECT_EQ(largest[0], 3);
    EXPECT_EQ(out, (std::vector<std::int32_t>{1, 2, 102, 103}));
}

}  // namespace
}  // namespace pardo::ir::test
