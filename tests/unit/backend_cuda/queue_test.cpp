// tests/unit/backend_cuda/queue_test.cpp: copies, fills, launches and events in order and out of order.
#include <atomic>
#include <optional>
#include <thread>

#include "backend/cuda/queue.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using namespace test;
using device::Buffer;

TEST(CudaQueue, WritesAndReadsOfAllSizes) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{70000}, std::size_t{700001}, std::size_t{6000001}}) {
        const std::vector<float> values = ramp(n);
        const Ref<Buffer> b = buffer_of(values);
        EXPECT_FALSE(b->host_visible());
        EXPECT_EQ(values_of(b.get()), values) << n;
    }
}

TEST(CudaQueue, FillsWithPatternsOfAllSizes) {
    CudaDevice* d = device();
    const Ref<Buffer> b = d->allocate(256, MemoryKind::Device, d->queue());
    for (const std::size_t size : {1u, 2u, 4u, 8u, 16u}) {
        for (const bool same : {false, true}) {
            unsigned char pattern[16], bytes[256];
            for (std::size_t i = 0; i < size; ++i) pattern[i] = static_cast<unsigned char>(same ? 7 : 3 * i + size);
            d->queue()->fill(b.get(), 0, 256, pattern, size);
            d->queue()->read(bytes, b.get(), 0, 256);
            for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(bytes[i], pattern[i % size]) << size << " at " << i;
        }
    }
}

TEST(CudaQueue, CopiesWithinAndBetweenKindsAndDevices) {
    CudaDevice *d = device(), *other = device(1);
    const std::vector<float> values = ramp(1000);
    const Ref<Buffer> a = buffer_of(values);
    const Ref<Buffer> targets[] = {d->allocate(4000, MemoryKind::Device, d->queue()), d->allocate(4000, MemoryKind::Host, d->queue()),
                                   d->allocate(4000, MemoryKind::Shared, d->queue()),
                                   other->allocate(4000, MemoryKind::Device, other->queue()),
                                   other->allocate(4000, MemoryKind::Shared, other->queue())};
    for (const Ref<Buffer>& t : targets) {
        t->device()->queue()->copy(t.get(), 0, a.get(), 0, 4000).wait();
        EXPECT_EQ(values_of(t.get(), static_cast<CudaDevice*>(t->device())), values);
        EXPECT_EQ(t->host_visible(), t->kind() != MemoryKind::Device);
    }
    // Back, from the other queue, and without waiting.
    const Ref<Buffer> back = d->allocate(4000, MemoryKind::Device, d->queue());
    d->queue()->copy(back.get(), 0, targets[3].get(), 0, 4000);
    EXPECT_EQ(values_of(back.get()), values);
}

TEST(CudaQueue, CopiesToAndFromTheCpu) {
    device::Device* cpu = device::select("cpu");
    const std::vector<float> values = ramp(100000);
    const Ref<Buffer> a = buffer_of(values);
    const Ref<Buffer> host = cpu->allocate(400000, MemoryKind::Device, cpu->queue());
    cpu->queue()->copy(host.get(), 0, a.get(), 0, 400000).wait();
    EXPECT_EQ(std::memcmp(host->data(), values.data(), 400000), 0);
    const Ref<Buffer> b = device()->allocate(400000, MemoryKind::Device, device()->queue());
    device()->queue()->copy(b.get(), 0, host.get(), 0, 400000);
    EXPECT_EQ(values_of(b.get()), values);
}

TEST(CudaQueue, LaunchesWithItsParameters) {
    NEEDS_NVRTC();
    fake_cuda_on_launch("axpy", run_axpy);
    fake_cuda_forget_launches();
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<Buffer> x = buffer_of(ramp(100)), y = buffer_of(ramp(100));
    const Event e = launch_axpy(d->queue(), program.get(), x.get(), y.get(), 2.0f);
    e.wait();
    EXPECT_EQ(e.status(), EventStatus::Complete);
    ASSERT_EQ(fake_cuda_launches(), 1);
    const FakeLaunch* l = fake_cuda_launch(0);
    EXPECT_EQ(l->grid[0], 2u);
    EXPECT_EQ(l->block[0], 64u);
    ASSERT_EQ(l->param_count, 4);
    EXPECT_EQ(l->params[0], reinterpret_cast<std::uint64_t>(x->data()));
    EXPECT_EQ(l->params[3], 100u);
    EXPECT_EQ(values_of(y.get())[99], 297.0f);
}

TEST(CudaQueue, TwoDevicesShareOneProgram) {
    NEEDS_NVRTC();
    fake_cuda_on_launch("axpy", run_axpy);
    const Ref<device::Program> first = device(0)->compile_source(axpy), second = device(1)->compile_source(axpy);
    EXPECT_EQ(first.get(), second.get());
    for (CudaDevice* d : {device(0), device(1)}) {
        const Ref<Buffer> x = buffer_of(ramp(10), d), y = buffer_of(ramp(10), d);
        launch_axpy(d->queue(), first.get(), x.get(), y.get(), 1.0f).wait();
        EXPECT_EQ(values_of(y.get(), d)[9], 18.0f);
    }
}

TEST(CudaQueue, EventsOfOneDeviceHoldWorkOnAnother) {
    NEEDS_NVRTC();
    fake_cuda_on_launch("axpy", run_axpy);
    CudaDevice *d = device(0), *e = device(1);
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<Buffer> x = buffer_of(ramp(10)), y = buffer_of(ramp(10));
    const Ref<Buffer> copy = e->allocate(40, MemoryKind::Device, e->queue());
    for (int i = 0; i < 50; ++i) {
        launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f);
        e->queue()->copy(copy.get(), 0, y.get(), 0, 40);
        EXPECT_EQ(values_of(copy.get(), e)[9], 9.0f * static_cast<float>(i + 2));
    }
}

TEST(CudaQueue, OutOfOrderWorkIsOrderedByItsBuffers) {
    NEEDS_NVRTC();
    fake_cuda_on_launch("axpy", run_axpy);
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<device::Queue> q = d->create_queue(QueueOrder::OutOfOrder, false);
    const Ref<Buffer> x = buffer_of(ramp(64)), y = buffer_of(ramp(64));
    std::vector<Ref<Buffer>> others;
    for (int i = 0; i < 8; ++i) others.push_back(buffer_of(ramp(64)));
    for (int i = 0; i < 100; ++i) {
        launch_axpy(q.get(), program.get(), x.get(), y.get(), 1.0f);
        launch_axpy(q.get(), program.get(), x.get(), others[static_cast<std::size_t>(i) % 8].get(), 1.0f);
    }
    q->wait();
    EXPECT_EQ(values_of(y.get())[1], 101.0f);
    EXPECT_EQ(values_of(others[3].get())[1], 14.0f);
}

TEST(CudaQueue, HostTasksTakeTheirTurn) {
    NEEDS_NVRTC();
    fake_cuda_on_launch("axpy", run_axpy);
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<Buffer> x = buffer_of(ramp(8)), y = d->allocate(32, MemoryKind::Host, d->queue());
    std::memset(y->data(), 0, 32);
    std::atomic<float> seen{0};
    {
        const Hold hold;
        launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f);
        const device::BufferUse uses[] = {{y.get(), device::Access::ReadWrite}};
        d->queue()->host_task(
            [&] {
                auto* values = static_cast<float*>(y->data());
                seen = values[7];
                values[7] = 100;
            },
            uses, {"task", "model.py:7"}, 1000);
        launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f);
    }
    d->queue()->wait();
    EXPECT_EQ(seen, 7.0f);
    EXPECT_EQ(static_cast<float*>(y->data())[7], 107.0f);
}

TEST(CudaQueue, EventsTellWhereWorkIs) {
    NEEDS_NVRTC();
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<Buffer> x = buffer_of(ramp(8)), y = buffer_of(ramp(8));
    d->queue()->wait();
    Event e;
    std::atomic<int> called{0};
    {
        const Hold hold;
        e = launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f);
        EXPECT_FALSE(e.done());
        EXPECT_FALSE(e.wait_for(5));
        e.add_done_callback([&] { ++called; });
    }
    e.wait();
    EXPECT_TRUE(e.done());
    for (int i = 0; i < 2000 && called == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(called, 1);
    EXPECT_THROW(e.profiling(), Error);
}

TEST(CudaQueue, ProfilingIsOnTheHostsClock) {
    NEEDS_NVRTC();
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = d->create_queue(order, true);
        const Ref<Buffer> x = buffer_of(ramp(8)), y = buffer_of(ramp(8));
        const std::int64_t before = device::now_ns();
        const Event e = launch_axpy(q.get(), program.get(), x.get(), y.get(), 1.0f);
        e.wait();
        const std::int64_t after = device::now_ns();
        const Profiling p = e.profiling();
        EXPECT_LE(before, p.queued);
        EXPECT_LE(p.queued, p.submitted);
        EXPECT_LE(p.submitted, p.start);
        EXPECT_LE(p.start, p.end);
        EXPECT_LE(p.end, after + 1'000'000'000);  // how near depends on what else the machine does; another clock is far away
    }
}

/// A stream of another library on the first device.
struct OtherStream {
    const ContextScope scope{*device()};
    StreamHandle handle = nullptr;
    OtherStream() { EXPECT_EQ(driver().cuStreamCreate(&handle, stream_non_blocking), 0); }
    ~OtherStream() { driver().cuStreamDestroy(handle); }
    std::uintptr_t number() const { return reinterpret_cast<std::uintptr_t>(handle); }
    void wait() const {
        EventHandle event = nullptr;
        EXPECT_EQ(driver().cuEventCreate(&event, event_disable_timing), 0);
        EXPECT_EQ(driver().cuEventRecord(event, handle), 0);
        EXPECT_EQ(driver().cuEventSynchronize(event), 0);
        driver().cuEventDestroy(event);
    }
};

TEST(CudaQueue, AnotherLibrarysStreamWaitsForOurs) {
    CudaDevice* d = device();
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = d->create_queue(order, false);
        EXPECT_EQ(q->native_stream() != 0, order == QueueOrder::InOrder);
        const Ref<Buffer> a = buffer_of(ramp(64)), b = buffer_of(ramp(64));
        const OtherStream other;
        const int seven = 7;
        q->fill(a.get(), 0, 256, &seven, 4);
        q->signal_stream(other.number());
        EXPECT_EQ(driver().cuMemcpyDtoDAsync(address_of(b.get(), 0), address_of(a.get(), 0), 256, other.handle), 0);
        other.wait();
        EXPECT_EQ(*static_cast<int*>(fake_cuda_host_address(address_of(b.get(), 252), 4)), 7);
    }
}

TEST(CudaQueue, AnotherLibrarysStreamWaitsForWorkThatIsHeldBack) {
    CudaDevice* d = device();
    const Ref<Buffer> a = buffer_of(ramp(64)), b = buffer_of(ramp(64));
    const OtherStream other;
    const int eight = 8;
    const device::BufferUse uses[] = {{a.get(), device::Access::Write}};
    d->queue()->host_task([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, uses, {"task", {}}, 1e7);
    d->queue()->fill(a.get(), 0, 256, &eight, 4);
    d->queue()->signal_stream(other.number());
    EXPECT_EQ(driver().cuMemcpyDtoDAsync(address_of(b.get(), 0), address_of(a.get(), 0), 256, other.handle), 0);
    other.wait();
    EXPECT_EQ(*static_cast<int*>(fake_cuda_host_address(address_of(b.get(), 0), 4)), 8);
}

TEST(CudaQueue, OursWaitForAnotherLibrarysStream) {
    CudaDevice* d = device();
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = d->create_queue(order, false);
        const Ref<Buffer> a = buffer_of(ramp(64)), b = buffer_of(ramp(64));
        const OtherStream other;
        for (unsigned i = 0; i < 20; ++i) {
            EXPECT_EQ(driver().cuMemsetD32Async(address_of(a.get(), 0), i, 64, other.handle), 0);
            q->wait_for_stream(other.number());
            q->copy(b.get(), 0, a.get(), 0, 256).wait();
            EXPECT_EQ(*static_cast<unsigned*>(fake_cuda_host_address(address_of(b.get(), 252), 4)), i);
        }
    }
}

TEST(CudaQueue, OtherLibrariesWorkIsFollowedWithoutStoppingAnything) {
    CudaDevice* d = device();
    const OtherStream other;
    const Ref<Buffer> a = buffer_of(ramp(64));
    d->queue()->wait();
    const long stops = fake_cuda_calls("cuCtxSynchronize");
    fake_cuda_hold(1);
    EXPECT_EQ(driver().cuMemsetD32Async(address_of(a.get(), 0), 7, 64, other.handle), 0);
    const Event any = d->foreign_work(0), legacy = d->foreign_work(1);
    EXPECT_FALSE(any.done());
    fake_cuda_hold(0);
    any.wait();
    legacy.wait();
    EXPECT_EQ(*static_cast<unsigned*>(fake_cuda_host_address(address_of(a.get(), 252), 4)), 7u);
    EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), stops);
    // A driver that refuses, or is too old: a thread of the library waits.
    fake_cuda_fail_next("cuCtxRecordEvent", 900, 0);
    d->foreign_work(0).wait();
    EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), stops + 1);
}

TEST(CudaQueue, AnOpenProfileTimesQueuesThatDoNotProfile) {
    NEEDS_NVRTC();
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = d->create_queue(order, false);
        const Ref<Buffer> x = buffer_of(ramp(8)), y = buffer_of(ramp(8));
        launch_axpy(q.get(), program.get(), x.get(), y.get(), 1.0f);
        Profile profile;
        launch_axpy(q.get(), program.get(), x.get(), y.get(), 1.0f);
        q->host_task([] {}, {}, {"task", {}, {1, 2, 3}}, 10);
        profile.stop();
        launch_axpy(q.get(), program.get(), x.get(), y.get(), 1.0f).wait();
        q->wait();
        const std::vector<ProfileRecord> all = profile.records();
        ASSERT_EQ(all.size(), 2u);
        const bool kernel_first = all[0].activity == Activity::Kernel;
        const ProfileRecord &kernel = all[kernel_first ? 0 : 1], &task = all[kernel_first ? 1 : 0];
        EXPECT_EQ(kernel.activity, Activity::Kernel);
        EXPECT_LE(profile.started(), kernel.queued);
        EXPECT_LE(kernel.queued, kernel.start);
        EXPECT_LE(kernel.start, kernel.end);
        EXPECT_EQ(task.activity, Activity::HostTask);
        EXPECT_EQ(task.operations, 3);
        EXPECT_FALSE(kernel.failed || task.failed);
    }
}

TEST(CudaQueue, ManySubmissionsLeakNothing) {
    NEEDS_NVRTC();
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<Buffer> x = buffer_of(ramp(8)), y = buffer_of(ramp(8));
    const auto submit = [&](int count) {
        for (int i = 0; i < count; ++i) launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f);
        d->queue()->wait();
        fake_cuda_forget_launches();
    };
    submit(10000);
    const long events = fake_cuda_live("event"), blocks = fake_cuda_live("device memory");
    const MemoryStats before = d->memory_stats();
    submit(1000000);
    EXPECT_LE(fake_cuda_live("event"), events + 64);
    EXPECT_EQ(fake_cuda_live("device memory"), blocks);
    EXPECT_EQ(d->memory_stats().in_use, before.in_use);
}

TEST(CudaQueue, WaitingForTheYoungestWorkRecordsNoEvent) {
    CudaDevice* d = device();
    const Ref<device::Queue> q = d->create_queue(QueueOrder::InOrder, false);
    const Ref<Buffer> b = d->allocate(64, MemoryKind::Device, q.get());
    const int zero = 0;
    const long before = fake_cuda_calls("cuEventRecord");
    Event first, last;
    for (int i = 0; i < 20; ++i) {
        last = q->fill(b.get(), 0, 64, &zero, 4);
        if (i == 0) first = last;
        while (!last.done()) std::this_thread::yield();
    }
    EXPECT_EQ(fake_cuda_calls("cuEventRecord"), before);
    EXPECT_TRUE(first.done());
    // Work behind it is not waited for: its event is asked for from then on.
    std::optional<Hold> hold(std::in_place);
    const Event held = q->fill(b.get(), 0, 64, &zero, 4);
    EXPECT_FALSE(held.wait_for(1));
    const Event behind = q->fill(b.get(), 0, 64, &zero, 4);
    EXPECT_FALSE(held.done());
    hold.reset();
    EXPECT_TRUE(held.wait_for(60000));
    EXPECT_TRUE(behind.wait_for(60000));
}

TEST(CudaQueue, QueuesComeAndGo) {
    CudaDevice* d = device();
    const long before = fake_cuda_live("stream");
    for (int i = 0; i < 100; ++i) {
        const Ref<device::Queue> q = d->create_queue(i % 2 ? QueueOrder::OutOfOrder : QueueOrder::InOrder, i % 4 > 1);
        const Ref<Buffer> b = d->allocate(64, MemoryKind::Device, q.get());
        const int zero = 0;
        q->fill(b.get(), 0, 64, &zero, 4);
    }
    d->trim_memory();                                 // freed blocks remember the queues that used them
    EXPECT_LE(fake_cuda_live("stream"), before + 1);  // the clock of timed events has one
}

}  // namespace
}  // namespace pardo::cuda
