// tests/unit/backend_null/interpreted_test.cpp: the device that lacks what a device may lack: what it refuses, and that it computes.
#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include <pardo/error.h>

#include "device/device.h"
#include "ir/builder.h"

namespace pardo::null {
namespace {

using device::Access;

device::Device* interpreter() { return device::select("null:1"); }

/// Reverses the items of each group by memory that they share.
ir::Kernel reversed_in_groups(std::int64_t size, DType dtype) {
    ir::Builder m("reversed", 1, true);
    m.set_groups(std::span(&size, 1));
    const ir::Value x = m.pointer("x", dtype, ir::Access::ReadWrite, false), shared = m.array("shared", dtype, size, ir::Space::Group);
    const ir::Value i = m.dim(0), l = m.local_dim(0);
    m.store(shared, l, m.load(x, i));
    m.barrier();
    m.store(x, i, m.load(shared, m.sub(m.i64(size - 1), l)));
    return m.finish();
}

ErrorCode refused(const ir::Kernel& kernel) {
    try {
        (void)interpreter()->compile(kernel, interpreter()->shape_class(kernel, {}));
    } catch (const Error& e) {
        return e.code();
    }
    return ErrorCode::Internal;
}

TEST(Interpreted, IsThereWhenAskedForByName) {
    for (const device::Device* d : device::visible_devices()) EXPECT_NE(d, interpreter());
    const DeviceInfo& info = interpreter()->info();
    EXPECT_FALSE(info.has_fp64 || info.has_fp16 || info.has_atomic64 || info.has_usm_host_allocations || info.has_usm_shared_allocations);
    for (const auto feature : {device::Feature::HostCode, device::Feature::HostMemory, device::Feature::TakesHostMemory})
        EXPECT_FALSE(interpreter()->can(feature));
    EXPECT_TRUE(interpreter()->text_language().empty());
    EXPECT_EQ(info.max_work_group_size, 16);
}

TEST(Interpreted, ItsMemoryIsReachedByCommandsAlone) {
    device::Queue* q = interpreter()->queue();
    const Ref<device::Buffer> x = interpreter()->allocate(64, MemoryKind::Device, q);
    EXPECT_FALSE(x->host_visible());
    EXPECT_GE(std::bit_cast<std::uint64_t>(x->data()), std::uint64_t{1} << 60);
    for (const MemoryKind kind : {MemoryKind::Shared, MemoryKind::Host}) EXPECT_THROW((void)interpreter()->allocate(64, kind, q), Error);
    char host[8];
    EXPECT_THROW((void)interpreter()->import(host, 8, MemoryKind::Host, {}), Error);
}

TEST(Interpreted, ComputesInGroups) {
    device::Queue* q = interpreter()->queue();
    const ir::Kernel kernel = reversed_in_groups(16, DType::Int32);
    const Ref<device::Program> program = interpreter()->compile(kernel, interpreter()->shape_class(kernel, {}));
    std::vector<std::int32_t> host(32);
    for (int i = 0; i < 32; ++i) host[static_cast<std::size_t>(i)] = i;
    const Ref<device::Buffer> x = interpreter()->allocate(128, MemoryKind::Device, q);
    q->write(x.get(), 0, host.data(), 128);
    const std::int64_t extents[] = {32};
    const std::uint64_t args[] = {std::bit_cast<std::uint64_t>(x->data())};
    const device::BufferUse uses[] = {{x.get(), Access::ReadWrite}};
    device::Launch launch;
    launch.program = program.get();
    launch.extents = extents;
    launch.args = args;
    launch.uses = uses;
    q->launch(launch).wait();
    q->read(host.data(), x.get(), 0, 128);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(host[static_cast<std::size_t>(i)], i / 16 * 16 + 15 - i % 16);
}

TEST(Interpreted, RefusesWhatItLacks) {
    EXPECT_EQ(refused(reversed_in_groups(32, DType::Int32)), ErrorCode::Value);      // items
    EXPECT_EQ(refused(reversed_in_groups(16, DType::Float64)), ErrorCode::Compile);  // float64
}

}  // namespace
}  // namespace pardo::null
