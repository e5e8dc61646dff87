// tests/unit/backend_cuda/groups_test.cpp: kernels in groups and atomics through NVRTC for the architectures that matter, and their
// launches.
#include "emit/c/family.h"
#include "ir/builder.h"
#include "ir/rules.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using namespace test;
using ir::Access;
using ir::AtomicOp;
using ir::Space;
using ir::Value;

constexpr DType f32 = DType::Float32;

void compile_for_all(const ir::Kernel& kernel) {
    const CudaDevice* d = device();
    const std::int64_t extents[] = {1024, 1024, 1024};
    const device::LaunchShape shape{.extents = std::span<const std::int64_t>(extents).first(static_cast<std::size_t>(kernel.rank))};
    const emit::CText text =
        emit::emit_c(emit::lowered_for_c(kernel, d->features()), d->features(), emit::choose_geometry(kernel, shape, d->features()));
    for (const char* arch : {"sm_80", "sm_90"}) EXPECT_GT(compile_text(kernel.name, text.text, default_options(), arch).size(), 4u);
}

TEST(CudaGroups, AtomicsOfEveryKindCompile) {
    NEEDS_NVRTC();
    for (const DType t : {DType::Int32, DType::UInt32, DType::Int64, DType::UInt64, f32, DType::Float64}) {
        ir::Builder m("atomics", 1, true);
        const std::int64_t size[] = {64};
        m.set_groups(size);
        const Value x = m.pointer("x", t, Access::ReadWrite, true), out = m.pointer("out", t, Access::Write, true),
                    own = m.array("own", t, 64, Space::Group), mine = m.array("mine", t, 8, Space::Private);
        const Value v = m.load(x, m.dim(0)), at = m.rem(m.dim(0), m.i64(8));
        Value sum = v;
        for (const Value place : {x, own, mine}) {
            for (const auto scope : {ir::MemoryScope::Group, ir::MemoryScope::Device, ir::MemoryScope::System}) {
                for (const auto order : {ir::MemoryOrder::Relaxed, ir::MemoryOrder::SeqCst}) {
                    for (int op = 0; op < 8; ++op) {
                        if (ir::broken_atomic_rule(static_cast<AtomicOp>(op), t)) continue;
                        sum = m.add(sum, m.atomic(static_cast<AtomicOp>(op), place, at, v, order, scope));
                        m.atomic(static_cast<AtomicOp>(op), place, at, v, order, scope);
                    }
                    sum = m.add(sum, m.compare_exchange(place, at, v, sum, order, scope));
                }
            }
        }
        m.barrier();
        m.store(out, m.dim(0), m.add(sum, m.load(mine, at)));
        compile_for_all(m.finish());
    }
}

/// out = the item's neighbour's element, by way of `count` elements that the group shares.
ir::Kernel trade(const std::vector<std::int64_t>& size, std::int64_t count) {
    ir::Builder m("trade", static_cast<int>(size.size()), true);
    m.set_groups(size);
    const Value x = m.pointer("x", f32, Access::ReadWrite, true), flags = m.array("flags", DType::Bool, 3, Space::Group),
                tile = m.array("tile", f32, count, Space::Group), l = m.local_dim(m.kernel().rank - 1);
    m.store(flags, m.i64(0), m.boolean(true));
    m.store(tile, l, m.load(x, m.dim(0)));
    m.barrier();
    m.store(x, m.dim(0), m.select(m.load(flags, m.i64(0)), m.load(tile, m.bit_xor(l, m.i64(1))), m.constant(f32, 0.0)));
    return m.finish();
}

TEST(CudaGroups, LaunchesHaveTheKernelsGroups) {
    NEEDS_NVRTC();
    struct Case {
        std::vector<std::int64_t> size, extents;
        unsigned grid, block[3];
    };
    const Case cases[] = {{{64}, {640}, 10, {64, 1, 1}},
                          {{7}, {70}, 10, {7, 1, 1}},
                          {{4, 16}, {8, 160}, 20, {16, 4, 1}},
                          {{2, 3, 8}, {200000, 6, 8}, 200000, {8, 3, 2}},
                          {{128, 2, 2}, {256, 2, 4}, 4, {512, 1, 1}}};
    CudaDevice* d = device();
    const Ref<device::Buffer> buffer = buffer_of(ramp(1000));
    for (const Case& c : cases) {
        const ir::Kernel kernel = trade(c.size, 64);
        compile_for_all(kernel);
        const std::span<const std::int64_t> extents = c.extents;
        const Ref<device::Program> program = d->compile(kernel, d->shape_class(kernel, {.extents = extents}));
        const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(buffer->data())};
        const device::BufferUse uses[] = {{buffer.get(), device::Access::ReadWrite}};
        device::Launch l;
        l.program = program.get();
        l.extents = extents;
        l.args = args;
        l.uses = uses;
        fake_cuda_forget_launches();
        d->queue()->launch(l).wait();
        ASSERT_EQ(fake_cuda_launches(), 1);
        const FakeLaunch* seen = fake_cuda_launch(0);
        EXPECT_EQ(seen->grid[0], c.grid);
        EXPECT_EQ(seen->grid[1] * seen->grid[2], 1u);
        for (int k = 0; k < 3; ++k) EXPECT_EQ(seen->block[k], c.block[k]);
        EXPECT_EQ(seen->shared_bytes, 0u);
        ASSERT_EQ(seen->param_count, static_cast<int>(1 + extents.size()));
    }
}

TEST(CudaGroups, LargeSharedArraysAreAskedFor) {
    NEEDS_NVRTC();
    CudaDevice* d = device();
    const Ref<device::Buffer> buffer = buffer_of(ramp(1000));
    const std::int64_t extents[] = {128};
    const auto launch = [&](std::int64_t count) {
        const ir::Kernel kernel = trade({64}, count);
        const Ref<device::Program> program = d->compile(kernel, d->shape_class(kernel, {.extents = extents}));
        const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(buffer->data())};
        const device::BufferUse uses[] = {{buffer.get(), device::Access::ReadWrite}};
        device::Launch l;
        l.program = program.get();
        l.extents = extents;
        l.args = args;
        l.uses = uses;
        fake_cuda_forget_launches();
        d->queue()->launch(l).wait();
        return fake_cuda_launch(0)->shared_bytes;
    };
    EXPECT_EQ(launch(12284), 0u);  // with the flags' 16 bytes: 48 KiB
    EXPECT_EQ(launch(12288), 4 * 12288u + 16);
    EXPECT_EQ(launch(58000), 4 * 58000u + 16);
    try {
        launch(60000);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Compile);
        EXPECT_NE(e.message().find("trade: the arrays that a group shares take 240016 bytes: cuda"), std::string::npos) << e.message();
        EXPECT_NE(e.message().find("has 232448"), std::string::npos) << e.message();
    }
    EXPECT_THROW((void)d->compile(trade({2048}, 64), 0), Error);
}

}  // namespace
}  // namespace pardo::cuda
