// tests/unit/backend_null/null_test.cpp: the null device records what it is given, keeps memory, and fails on request.
#include "backend/null/null.h"

#include <pardo/error.h>

#include <gtest/gtest.h>

#include <numeric>

namespace pardo::null {
namespace {

using device::BufferUse;

device::Device* null_device() { return device::select("null"); }

TEST(Null, RecordsLaunches) {
    device::Device* d = null_device();
    take_records(d);
    ir::Kernel kernel;
    kernel.name = "add_f64";
    const Ref<device::Program> program = d->compile(kernel, 0);
    const std::int64_t extents[] = {3, 4};
    const std::uint64_t args[] = {7, 8};
    device::Launch l;
    l.program = program.get();
    l.extents = extents;
    l.args = args;
    l.bytes_read = 96;
    EXPECT_TRUE(d->queue()->launch(l).done());
    const std::vector<Record> records = take_records(d);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].kind, "launch");
    EXPECT_EQ(records[0].name, "add_f64");
    EXPECT_NE(records[0].ir.find("add_f64"), std::string::npos);
    EXPECT_EQ(records[0].extents, (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(records[0].args, (std::vector<std::uint64_t>{7, 8}));
    EXPECT_EQ(records[0].bytes_read, 96);
    EXPECT_TRUE(take_records(d).empty());
}

TEST(Null, MemoryIsReal) {
    device::Device* d = null_device();
    device::Queue* q = d->queue();
    const std::int64_t before = d->memory_stats().in_use;
    {
        const Ref<device::Buffer> a = d->allocate(64, MemoryKind::Device, q), b = d->allocate(64, MemoryKind::Device, q);
        EXPECT_EQ(d->memory_stats().in_use, before + 128);
        std::vector<int> in(16), out(16);
        std::iota(in.begin(), in.end(), 0);
        q->write(a.get(), 0, in.data(), 64);
        q->copy(b.get(), 0, a.get(), 0, 64);
        const int minus = -1;
        q->fill(b.get(), 0, 8, &minus, 4);
        q->read(out.data(), b.get(), 0, 64);
        in[0] = in[1] = -1;
        EXPECT_EQ(in, out);
    }
    EXPECT_EQ(d->memory_stats().in_use, before);
    EXPECT_THROW(d->allocate(std::size_t{1} << 62, MemoryKind::Device, q), Error);
}

TEST(Null, ImportsLetGoAtTheEnd) {
    int released = 0;
    char memory[8];
    Ref<device::Buffer> b = null_device()->import(memory, 8, MemoryKind::Host, [&] { ++released; });
    EXPECT_EQ(b->data(), memory);
    b = nullptr;
    EXPECT_EQ(released, 1);
}

TEST(Null, InjectedFailuresArriveLateAndReachDependents) {
    device::Device* d = null_device();
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = d->create_queue(order, false);
        const Ref<device::Buffer> a = d->allocate(8, MemoryKind::Device, q.get()), b = d->allocate(8, MemoryKind::Device, q.get());
        const BufferUse first[] = {{a.get(), device::Access::Write}};
        const BufferUse second[] = {{a.get(), device::Access::Read}, {b.get(), device::Access::Write}};
        fail_next(d, Error(ErrorCode::Device, "lost"));
        bool ran = false;
        EXPECT_EQ(q->host_task([&] { ran = true; }, first, {"one", "f.py:1"}, 0).status(), EventStatus::Failed);
        const Event e = q->host_task([&] { ran = true; }, second, {"two", "f.py:2"}, 0);
        EXPECT_FALSE(ran);
        EXPECT_EQ(e.status(), EventStatus::Failed);
        try {
            b->wait_for_read();
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.message(), "lost (in kernel one, at f.py:1)");
        }
        EXPECT_NO_THROW(q->wait());
        q->host_task([&] { ran = true; }, second, {"three", ""}, 0);
        EXPECT_FALSE(ran);  // nobody has written `a` since
        q->host_task([&] { ran = true; }, first, {"four", ""}, 0).wait();
        EXPECT_TRUE(ran);
    }
}

TEST(Null, IsHiddenAndProfiles) {
    device::Device* d = null_device();
    EXPECT_EQ(d->info().type, DeviceType::Gpu);
    const Ref<device::Queue> q = d->create_queue(QueueOrder::InOrder, true);
    const Profiling p = q->barrier().profiling();
    EXPECT_GT(p.queued, 0);
    EXPECT_LE(p.start, p.end);
}

}  // namespace
}  // namespace pardo::null
