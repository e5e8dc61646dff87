// tests/unit/plan/program_key_test.cpp: programs are shared by kernels that are the same in all that is compiled.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "ir/builder.h"
#include "plan/plan.h"

namespace pardo::plan {
namespace {

using ir::AtomicOp;
using ir::MemoryOrder;
using ir::MemoryScope;

ir::Kernel sample() {
    ir::Builder m("k", 1, true);
    const std::int64_t size[] = {4};
    m.set_groups(size);
    const ir::Value x = m.pointer("x", DType::Int32, ir::Access::ReadWrite, true);
    const ir::Value tile = m.array("tile", DType::Int32, 64, ir::Space::Group);
    const ir::Value k = m.local_dim(0);
    m.store(tile, k, m.load(x, k));
    m.barrier();
    m.atomic(AtomicOp::Add, x, k, m.load(tile, k), MemoryOrder::Relaxed, MemoryScope::Device);
    return m.finish();
}

ir::Instr& atomic_of(ir::Kernel& kernel) {
    for (ir::Instr& in : kernel.instrs)
        if (in.op == ir::Opcode::Atomic) return in;
    throw std::logic_error("no atomic");
}

TEST(ProgramKey, EachFieldCounts) {
    const std::function<void(ir::Kernel&)> changes[] = {
        [](ir::Kernel& k) { k.group_size = {8}; },
        [](ir::Kernel& k) { k.sub_group = 4; },
        [](ir::Kernel& k) { k.fast_math = 1; },
        [](ir::Kernel& k) { k.arrays[0].count = 65; },
        [](ir::Kernel& k) { k.arrays[0].space = ir::Space::Private; },
        [](ir::Kernel& k) { k.arrays[0].whole = true; },
        [](ir::Kernel& k) { atomic_of(k).atomic = AtomicOp::Max; },
        [](ir::Kernel& k) { atomic_of(k).order = MemoryOrder::SeqCst; },
        [](ir::Kernel& k) { atomic_of(k).scope = MemoryScope::System; },
        [](ir::Kernel& k) { k.params[0].noalias = false; },
    };
    std::vector<Hash128> keys{program_key(sample(), {})};
    EXPECT_EQ(keys[0], program_key(sample(), {}));
    for (const auto& change : changes) {
        ir::Kernel k = sample();
        change(k);
        const Hash128 key = program_key(k, {});
        for (const Hash128& other : keys) EXPECT_NE(key, other) << "change " << keys.size();
        keys.push_back(key);
    }
}

}  // namespace
}  // namespace pardo::plan
