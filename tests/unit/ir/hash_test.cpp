// tests/unit/ir/hash_test.cpp: programs are shared by kernels that are the same in all that is compiled.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "ir/builder.h"
#include "ir/hash.h"

namespace pardo::ir {
namespace {

Kernel sample() {
    Builder m("k", 1, true);
    const std::int64_t size[] = {4};
    m.set_groups(size);
    const Value x = m.pointer("x", DType::Int32, Access::ReadWrite, true);
    const Value tile = m.array("tile", DType::Int32, 64, Space::Group);
    const Value k = m.local_dim(0);
    m.store(tile, k, m.load(x, k));
    m.barrier();
    m.atomic(AtomicOp::Add, x, k, m.load(tile, k), MemoryOrder::Relaxed, MemoryScope::Device);
    return m.finish();
}

Instr& atomic_of(Kernel& kernel) {
    for (Instr& in : kernel.instrs)
        if (in.op == Opcode::Atomic) return in;
    throw std::logic_error("no atomic");
}

TEST(Hash, EachFieldCounts) {
    const std::function<void(Kernel&)> changes[] = {
        [](Kernel& k) { k.group_size = {8}; },
        [](Kernel& k) { k.sub_group = 4; },
        [](Kernel& k) { k.fast_math = 1; },
        [](Kernel& k) { k.arrays[0].count = 65; },
        [](Kernel& k) { k.arrays[0].space = Space::Private; },
        [](Kernel& k) { k.arrays[0].whole = true; },
        [](Kernel& k) { std::get<Atomic>(atomic_of(k).attribute).op = AtomicOp::Max; },
        [](Kernel& k) { std::get<Atomic>(atomic_of(k).attribute).ordering.order = MemoryOrder::SeqCst; },
        [](Kernel& k) { std::get<Atomic>(atomic_of(k).attribute).ordering.scope = MemoryScope::System; },
        [](Kernel& k) { k.params[0].noalias = false; },
    };
    std::vector<Hash128> keys{hash(sample())};
    EXPECT_EQ(keys[0], hash(sample()));
    for (const auto& change : changes) {
        Kernel k = sample();
        change(k);
        const Hash128 key = hash(k);
        for (const Hash128& other : keys) EXPECT_NE(key, other) << "change " << keys.size();
        keys.push_back(key);
    }
}

}  // namespace
}  // namespace pardo::ir
