// tests/unit/backend_opencl/opencl_test.cpp: kernels, copies, order, times and messages on every OpenCL device of the machine.
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "support.h"

namespace pardo::opencl {
namespace {

using device::Access;
using device::Buffer;
using device::BufferUse;

constexpr std::int64_t count = 1000;

device::SourceKernel add_kernel() {
    device::SourceKernel k;
    k.name = "add";
    k.text =
        "KERNEL(64) add(ARG(f32, out), CONST_ARG(f32, a), CONST_ARG(f32, b), f32 bias, i32 step, i64 n) {\n"
        "    PTR(f32, out); CONST_PTR(f32, a); CONST_PTR(f32, b);\n"
        "    const i64 i = GROUP_ID * 64 + LOCAL_ID;\n"
        "    if (i < n) out[i] = a[i] + b[i] + bias * (f32)step;\n"
        "}\n";
    k.group_size = 64;
    k.params = "pppfil";
    return k;
}

std::uint64_t bits(const void* p) { return reinterpret_cast<std::uint64_t>(p); }
std::uint64_t bits(float x) {
    std::uint32_t b;
    std::memcpy(&b, &x, sizeof b);
    return b;
}

/// out = a + b + bias, all of `count` floats.
Event add(device::Queue* q, Buffer* out, Buffer* a, Buffer* b, float bias, std::span<const Event> depends = {}) {
    const Ref<device::Program> p = q->device()->compile_source(add_kernel());
    const std::uint64_t args[] = {bits(out->data()), bits(a->data()), bits(b->data()), bits(bias), 1, count};
    const std::int64_t extents[] = {(count + 63) / 64};
    const BufferUse uses[] = {{out, Access::Write}, {a, Access::Read}, {b, Access::Read}};
    device::Launch l;
    l.program = p.get();
    l.extents = extents;
    l.args = args;
    l.uses = uses;
    return q->launch(l, depends);
}

Ref<Buffer> floats(device::Queue* q, float value) {
    Ref<Buffer> b = q->device()->allocate(count * sizeof(float), MemoryKind::Device, q);
    q->fill(b.get(), 0, count * sizeof(float), &value, sizeof value);
    return b;
}

std::vector<float> values(device::Queue* q, const Ref<Buffer>& b) {
    std::vector<float> out(count);
    q->read(out.data(), b.get(), 0, count * sizeof(float));
    return out;
}

TEST_F(OpenCl, KernelsReadAndWriteWhatTheyAreGiven) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        std::vector<float> a(count), b(count, 0.5f);
        std::iota(a.begin(), a.end(), 0.f);
        const Ref<Buffer> da = d->allocate(count * 4, MemoryKind::Device, q), db = floats(q, 0.5f), out = floats(q, -1);
        q->write(da.get(), 0, a.data(), count * 4);
        add(q, out.get(), da.get(), db.get(), 2).wait();
        const std::vector<float> got = values(q, out);
        for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], static_cast<float>(i) + 2.5f);
    });
}

TEST_F(OpenCl, PointersIntoTheMiddleOfABuffer) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        const Ref<Buffer> a = floats(q, 1), b = floats(q, 2), out = floats(q, 0);
        const Ref<device::Program> p = d->compile_source(add_kernel());
        const std::uint64_t args[] = {bits(out->data()) + 40, bits(a->data()) + 4, bits(b->data()), bits(0.f), 0, 5};
        const std::int64_t extents[] = {1};
        const BufferUse uses[] = {{out.get(), Access::Write}, {a.get(), Access::Read}, {b.get(), Access::Read}};
        device::Launch l;
        l.program = p.get();
        l.extents = extents;
        l.args = args;
        l.uses = uses;
        q->launch(l).wait();
        const std::vector<float> got = values(q, out);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], i >= 10 && i < 15 ? 3.f : 0.f) << i;
    });
}

TEST_F(OpenCl, FillsOfEveryPattern) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        const Ref<Buffer> b = d->allocate(256, MemoryKind::Device, q);
        for (const std::size_t size : {1, 2, 4, 8, 16}) {
            unsigned char pattern[16], got[256];
            std::iota(pattern, pattern + 16, static_cast<unsigned char>(size));
            const unsigned char zero = 0;
            q->fill(b.get(), 0, 256, &zero, 1);
            q->fill(b.get(), 32, 64, pattern, size).wait();
            q->read(got, b.get(), 0, 256);
            for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(got[i], i >= 32 && i < 96 ? pattern[(i - 32) % size] : 0) << size << " " << i;
        }
        EXPECT_TRUE(q->fill(b.get(), 0, 0, "", 1).wait_for(10'000));
    });
}

TEST_F(OpenCl, CopiesWithinADeviceOverlappingOrNot) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        std::vector<unsigned char> in(300), got(300);
        std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
        const Ref<Buffer> a = d->allocate(300, MemoryKind::Device, q), b = d->allocate(300, MemoryKind::Device, q);
        q->write(a.get(), 0, in.data(), 300);
        q->copy(b.get(), 10, a.get(), 20, 200);
        q->read(got.data(), b.get(), 10, 200);
        EXPECT_EQ(std::memcmp(got.data(), in.data() + 20, 200), 0);
        q->copy(a.get(), 1, a.get(), 0, 250).wait();
        q->read(got.data(), a.get(), 0, 300);
        EXPECT_EQ(std::memcmp(got.data() + 1, in.data(), 250), 0);
        EXPECT_EQ(got[299], in[299]);
    });
}

TEST_F(OpenCl, CopiesBetweenAllDevices) {
    std::vector<device::Device*> all = devices();
    all.push_back(device::select("cpu"));
    std::vector<unsigned char> in(100'000), got(100'000);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);
    for (device::Device* from : all) {
        for (device::Device* to : all) {
            for (device::Device* by : {from, to}) {
                SCOPED_TRACE(from->id() + " to " + to->id() + " by " + by->id());
                const Ref<Buffer> a = from->allocate(in.size(), MemoryKind::Device, from->queue()),
                                  b = to->allocate(in.size(), MemoryKind::Device, to->queue());
                from->queue()->write(a.get(), 0, in.data(), in.size());
                by->queue()->copy(b.get(), 3, a.get(), 5, in.size() - 5);
                std::fill(got.begin(), got.end(), static_cast<unsigned char>(0));
                to->queue()->read(got.data(), b.get(), 3, in.size() - 5);
                EXPECT_EQ(std::memcmp(got.data(), in.data() + 5, in.size() - 5), 0);
                by->queue()->wait();
            }
        }
    }
}

TEST_F(OpenCl, OutOfOrderQueuesFollowTheBuffers) {
    on_each([](device::Device* d) {
        const Ref<device::Queue> q = d->create_queue(QueueOrder::OutOfOrder, false);
        for (int round = 0; round < 20; ++round) {
            const Ref<Buffer> a = floats(q.get(), 1), b = floats(q.get(), 2), c = floats(q.get(), 0);
            add(q.get(), c.get(), a.get(), b.get(), 0);
            add(q.get(), a.get(), c.get(), c.get(), 1);  // 7
            add(q.get(), b.get(), a.get(), c.get(), 0);  // 10
            q->copy(c.get(), 0, b.get(), 0, count * 4);
            ASSERT_EQ(values(q.get(), c), std::vector<float>(count, 10.f));
        }
        q->wait();
        EXPECT_TRUE(q->barrier().wait_for(10'000));
    });
}

TEST_F(OpenCl, QueuesWaitForEachOtherByEventsAndBuffers) {
    on_each([](device::Device* d) {
        const Ref<device::Queue> one = d->create_queue(QueueOrder::InOrder, false), two = d->create_queue(QueueOrder::InOrder, false);
        const Ref<Buffer> a = floats(one.get(), 1), b = floats(two.get(), 2), c = floats(one.get(), 0);
        for (int round = 0; round < 50; ++round) {
            const Event first = add(one.get(), c.get(), a.get(), b.get(), 0);
            add(two.get(), a.get(), c.get(), c.get(), -5, {&first, 1});
        }
        EXPECT_EQ(values(two.get(), a), std::vector<float>(count, 1.f));
    });
}

TEST_F(OpenCl, HostTasksRunBetweenKernels) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        const Ref<Buffer> a = floats(q, 1), b = floats(q, 2), c = floats(q, 0);
        std::vector<float> seen(count);
        add(q, c.get(), a.get(), b.get(), 0);
        const BufferUse uses[] = {{c.get(), Access::ReadWrite}};
        const Event task = q->host_task(
            [&, q] {
                EXPECT_TRUE(device::inside_task());
                q->read(seen.data(), c.get(), 0, 4);
            },
            {}, {"look", "here.py:1"}, 0);
        add(q, a.get(), c.get(), c.get(), 0);
        EXPECT_EQ(values(q, a)[7], 6.f);
        task.wait();
        EXPECT_EQ(seen[0], 3.f);
        const Event bad = q->host_task([] { throw Error(ErrorCode::Value, "sort: no"); }, uses, {"sort", "here.py:2"}, 0);
        const Event after = add(q, a.get(), c.get(), c.get(), 0);  // reads what the task did not write
        EXPECT_EQ(message_of([&] { after.wait(); }), "sort: no (at here.py:2)");
        EXPECT_EQ(after.status(), EventStatus::Failed);
        EXPECT_EQ(bad.status(), EventStatus::Failed);
        q->wait();  // acknowledged already
    });
}

TEST_F(OpenCl, ProfilingTimesAreOnTheHostsClock) {
    on_each([](device::Device* d) {
        if (!d->info().has_queue_profiling) return;
        const Ref<device::Queue> q = d->create_queue(QueueOrder::InOrder, true);
        const Ref<Buffer> a = floats(q.get(), 1), b = floats(q.get(), 2);
        const std::int64_t before = device::now_ns();
        const Event e = add(q.get(), b.get(), a.get(), a.get(), 0);
        e.wait();
        const std::int64_t after = device::now_ns();
        const Profiling t = e.profiling();
        EXPECT_LE(before, t.queued);
        EXPECT_LE(t.queued, t.submitted);
        EXPECT_LE(t.submitted, t.start);
        EXPECT_LE(t.start, t.end);
        EXPECT_LE(t.end, after + 1'000'000'000);  // another clock is far away
    });
}

TEST_F(OpenCl, CallbacksAndSubscriptionsHearOfCompletion) {
    on_each([](device::Device* d) {
        for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
            const Ref<device::Queue> q = d->create_queue(order, false);
            const Ref<Buffer> a = floats(q.get(), 1), b = floats(q.get(), 2);
            std::atomic<int> called{0};
            for (int i = 0; i < 10; ++i) add(q.get(), b.get(), a.get(), a.get(), 0).add_done_callback([&] { ++called; });
            for (int i = 0; i < 1000 && called < 10; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
            EXPECT_EQ(called, 10);
        }
    });
}

TEST_F(OpenCl, AFailedBuildShowsTheCompilersWords) {
    on_each([](device::Device* d) {
        device::SourceKernel k = add_kernel();
        k.name = "broken";
        k.text = "KERNEL(64) broken(i64 n) { this is no C; }\n";
        k.params = "l";
        const std::string message = message_of([&] { d->compile_source(k); });
        EXPECT_EQ(message.rfind("broken: ", 0), 0u) << message;
        EXPECT_NE(message.find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos) << message;
        EXPECT_NE(message.find("error"), std::string::npos) << message;
        EXPECT_LT(message.size(), 3000u);
    });
}

TEST_F(OpenCl, MemoryIsCountedKeptAndLimited) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        q->wait();
        d->trim_memory();
        const MemoryStats before = d->memory_stats();
        void* first;
        {
            const Ref<Buffer> b = d->allocate(1 << 20, MemoryKind::Device, q);
            first = b->data();
            EXPECT_EQ(d->memory_stats().in_use, before.in_use + (1 << 20));
        }
        EXPECT_EQ(d->memory_stats().cached, before.cached + (1 << 20));
        EXPECT_EQ(d->allocate(1 << 20, MemoryKind::Device, q)->data(), first);
        d->set_memory_limit(before.in_use + before.cached + (2 << 20));
        const std::string message = message_of([&] { d->allocate(64 << 20, MemoryKind::Device, q); });
        d->set_memory_limit(0);
        EXPECT_NE(message.find("cannot allocate 67108864 bytes of device memory on " + d->id()), std::string::npos) << message;
        EXPECT_THROW(d->allocate(std::size_t{1} << 60, MemoryKind::Device, q), Error);
        d->trim_memory();
        EXPECT_EQ(d->memory_stats().in_use, before.in_use);
    });
}

TEST_F(OpenCl, PartsOfADeviceComputeAndShare) {
    on_each([](device::Device* d) {
        const NameSet& how = d->info().partition_properties;
        if (!how || std::find(how->begin(), how->end(), "partition_equally") == how->end() || d->info().max_compute_units < 2) return;
        Partition p;
        p.units = 1;
        const std::vector<device::Device*>& parts = d->sub_devices(p);
        ASSERT_GE(parts.size(), 2u);
        EXPECT_EQ(parts[0]->parent(), d);
        EXPECT_EQ(parts[0]->id(), d->id() + "/1.0");
        EXPECT_EQ(parts[0]->info().max_compute_units, 1);
        for (device::Device* part : parts) {
            device::Queue* q = part->queue();
            const Ref<Buffer> a = floats(q, 1), b = floats(q, 2), c = floats(q, 0);
            add(q, c.get(), a.get(), b.get(), 4);
            EXPECT_EQ(values(q, c), std::vector<float>(count, 7.f));
            const Ref<Buffer> back = floats(d->queue(), 0);
            d->queue()->copy(back.get(), 0, c.get(), 0, count * 4);
            EXPECT_EQ(values(d->queue(), back)[999], 7.f);
        }
    });
}

TEST_F(OpenCl, FactsAreThere) {
    on_each([](device::Device* d) {
        EXPECT_FALSE(d->info().name.empty());
        EXPECT_GT(d->info().max_compute_units, 0);
        EXPECT_GT(d->info().global_mem_size, 0);
        EXPECT_EQ(d->supports(DType::Float64), d->info().has_fp64);
        EXPECT_TRUE(d->supports(DType::Float32));
        EXPECT_EQ(device::select(d->id()), d);
    });
}

}  // namespace
}  // namespace pardo::opencl
