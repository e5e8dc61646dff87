// tests/unit/device/task_test.cpp: user events, host tasks, taking callbacks back, waiting for the first, regions, and the allocator hook.
#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/error.h>
#include <pardo/event.h>
#include <pardo/memory.h>
#include <pardo/ops.h>
#include <pardo/queue.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>

#include "device/device.h"

namespace pardo::device {
namespace {

using Value = std::shared_ptr<void>;

/// Every back end of this machine, in both orders.
class Queues : public testing::TestWithParam<std::tuple<const char*, QueueOrder>> {
protected:
    pardo::Device device{std::get<0>(GetParam())};
    pardo::Queue queue{device, std::get<1>(GetParam())};
    bool in_order = std::get<1>(GetParam()) == QueueOrder::InOrder;
};
INSTANTIATE_TEST_SUITE_P(All, Queues,
                         testing::Combine(testing::Values("cpu", "null"), testing::Values(QueueOrder::InOrder, QueueOrder::OutOfOrder)),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param)) +
                                    (std::get<1>(info.param) == QueueOrder::InOrder ? "InOrder" : "OutOfOrder");
                         });

TEST(UserEvents, AreSetOnce) {
    const UserEvent gate;
    EXPECT_FALSE(gate.event().done());
    EXPECT_TRUE(gate.set_complete(std::make_shared<int>(3)));
    EXPECT_FALSE(gate.set_complete());
    EXPECT_FALSE(gate.set_failed(Error(ErrorCode::Value, "late")));
    EXPECT_EQ(*std::static_pointer_cast<int>(gate.event().value()), 3);
    EXPECT_FALSE(gate.event().failure());
}

TEST(UserEvents, FailWhenDropped) {
    Event event;
    {
        const UserEvent gate("file.py:3");
        event = gate.event();
    }
    const std::optional<Error> failure = event.failure();
    ASSERT_TRUE(failure);
    EXPECT_NE(failure->message().find("dropped before it was set (at file.py:3)"), std::string::npos) << failure->message();
    EXPECT_NO_THROW(event.wait());  // acknowledged
}

TEST(Callbacks, CanBeTakenBack) {
    const UserEvent gate;
    std::atomic<int> called = 0;
    const std::uint64_t id = gate.event().add_done_callback([&] { ++called; });
    std::promise<void> other;
    gate.event().add_done_callback([&] { other.set_value(); });
    EXPECT_TRUE(gate.event().remove_done_callback(id));
    EXPECT_FALSE(gate.event().remove_done_callback(id));
    gate.set_complete();
    other.get_future().wait();
    EXPECT_EQ(called, 0);
    EXPECT_FALSE(gate.event().remove_done_callback(id));
    EXPECT_FALSE(Event().remove_done_callback(1));
}

TEST(WaitAny, FindsTheFirst) {
    const UserEvent a, b;
    const Event events[] = {a.event(), b.event()};
    EXPECT_EQ(wait_any(events, 0), -1);
    EXPECT_EQ(wait_any(events, 1), -1);
    std::thread setter([&] { b.set_complete(); });
    EXPECT_EQ(wait_any(events), 1);
    setter.join();
    a.set_complete();
    EXPECT_EQ(wait_any(events), 0);
    EXPECT_THROW(wait_any({}), Error);
}

TEST_P(Queues, HostTaskGivesItsValue) {
    const Event task = queue.host_task([]() -> Value { return std::make_shared<int>(5); }, "five");
    task.wait();
    EXPECT_EQ(*std::static_pointer_cast<int>(task.value()), 5);
    queue.wait();
}

TEST_P(Queues, FailureOfAHostTaskNamesIt) {
    const Event task = queue.host_task([]() -> Value { throw Error(ErrorCode::Value, "no"); }, "broken");
    try {
        task.wait();
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Value);
        EXPECT_NE(e.message().find("broken"), std::string::npos) << e.message();
    }
    EXPECT_NO_THROW(queue.wait());
}

TEST_P(Queues, OriginSurvivesTheWay) {
    const auto origin = std::make_shared<int>(1);
    const Event task = queue.host_task([&]() -> Value { throw Error(ErrorCode::Internal, "no", origin); }, "broken");
    const Event follows = queue.host_task([]() -> Value { return nullptr; }, "after", {&task, 1});
    while (!follows.done()) std::this_thread::yield();
    const std::optional<Error> failure = follows.failure();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->origin(), origin);
    queue.wait();
}

TEST_P(Queues, WhatWaitsForAUserEventIsGated) {
    const UserEvent gate;
    const Event depends[] = {gate.event()};
    const Event barrier = queue.barrier(depends);
    EXPECT_TRUE(queue.impl()->waits_for_host());
    EXPECT_TRUE(barrier.state()->waits_for_host());
    EXPECT_TRUE(barrier.state()->waits_for(gate.event().state()));
    const Event task = queue.host_task([]() -> Value { return nullptr; }, "after", {&barrier, 1});
    const Event last = queue.barrier({&task, 1});
    EXPECT_TRUE(last.state()->waits_for(gate.event().state()));
    EXPECT_TRUE(last.state()->waits_for(task.state()));
    EXPECT_FALSE(barrier.state()->waits_for(task.state()));
    gate.set_complete();
    last.wait();
    queue.wait();
    EXPECT_FALSE(barrier.state()->waits_for_host());
    EXPECT_FALSE(queue.impl()->waits_for_host());
}

TEST_P(Queues, WaitingForWhatComesLaterIsRefused) {
    std::atomic<int> refused = 0;
    const auto refuses = [&](auto f) {
        try {
            f();
        } catch (const Error& e) {
            refused += e.message().find("host task") != std::string::npos;
        }
    };
    const UserEvent gate;
    std::promise<Event> self;
    const Event depends[] = {gate.event()};
    const Event task = queue.host_task(
        [&, future = self.get_future().share()]() -> Value {
            refuses([&] { future.get().wait(); });
            refuses([&] { queue.wait(); });
            const Event own[] = {future.get()};
            refuses([&] { (void)wait_any(own); });
            return nullptr;
        },
        "waits", depends);
    self.set_value(task);
    gate.set_complete();
    task.wait();
    EXPECT_EQ(refused, 3);
    queue.wait();
}

TEST_P(Queues, DroppedWithHeldWork) {
    const UserEvent gate;
    Event event;
    {
        const pardo::Queue dropped(device, std::get<1>(GetParam()));
        const Event depends[] = {gate.event()};
        event = dropped.barrier(depends);
    }
    EXPECT_FALSE(event.done());
    gate.set_complete();
    event.wait();
}

TEST_P(Queues, BoxesAsRowsAndAtOnce) {
    pardo::device::Device* d = device.impl();
    pardo::device::Queue* q = queue.impl();
    const Ref<Buffer> from = d->allocate(4 * 5 * 6, MemoryKind::Device, q);
    std::vector<char> source(from->bytes());
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i);
    q->write(from.get(), 0, source.data(), source.size());
    StridedCopy region;
    region.extents[0] = 3, region.extents[1] = 2, region.extents[2] = 2;
    region.from_offset = 4 * 30 - 20, region.from_pitches[0] = 6, region.from_pitches[1] = -30;
    region.to_offset = 1, region.to_pitches[0] = 4, region.to_pitches[1] = 10;
    std::vector<char> results[2];
    for (int own = 0; own < 2; ++own) {
        const Ref<Buffer> to = d->allocate(30, MemoryKind::Device, q);
        const char zero = 0;
        (void)q->fill(to.get(), 0, 30, &zero, 1);
        const Event event = own ? q->copy_strided(to.get(), from.get(), region) : q->Queue::copy_strided(to.get(), from.get(), region);
        event.wait();
        results[own].resize(30);
        q->read(results[own].data(), to.get(), 0, 30);
    }
    EXPECT_EQ(results[0], results[1]);
    std::vector<char> expected(30, 0);
    for (int z = 0; z < 2; ++z) {
        for (int y = 0; y < 2; ++y) {
            for (int x = 0; x < 3; ++x)
                expected[static_cast<std::size_t>(1 + 4 * y + 10 * z + x)] = source[static_cast<std::size_t>(100 + 6 * y - 30 * z + x)];
        }
    }
    EXPECT_EQ(results[1], expected);
}

TEST_P(Queues, ManySubmissionsBehindAGate) {
    const UserEvent gate;
    const Event depends[] = {gate.event()};
    (void)queue.barrier(depends);
    const Array x = zeros(std::initializer_list<std::int64_t>{4}, DType::Float64, queue).force();
    const int count = in_order && device.info().backend == "cpu" ? 5000 : 300;  // more than the CPU lets run ahead
    for (int i = 0; i < count; ++i) (void)queue.fill(x, Scalar(1.0));
    gate.set_complete();
    queue.wait();
}

TEST(Contexts, AreOfOnePlatform) {
    const pardo::Device cpu("cpu"), null("null");
    const pardo::Device both[] = {cpu, null}, twice[] = {cpu, cpu}, one[] = {cpu};
    EXPECT_THROW(pardo::Context{both}, Error);
    EXPECT_THROW(pardo::Context{twice}, Error);
    EXPECT_THROW(pardo::Context({}), Error);
    const pardo::Context context(one);
    EXPECT_TRUE(context.contains(cpu));
    EXPECT_THROW(pardo::Queue(context, null), Error);
    EXPECT_EQ(pardo::Queue(context, cpu).context(), context);
}

TEST(AllocatorHooks, FreeWhatTheyMade) {
    static std::atomic<int> live[2];
    const pardo::Device cpu("cpu");
    const auto hook = [](int n) {
        return AllocatorHook{[n](std::size_t bytes, MemoryKind) {
                                 ++live[n];
                                 return std::malloc(bytes);
                             },
                             [n](void* p, std::size_t) {
                                 --live[n];
                                 std::free(p);
                             }};
    };
    set_allocator(cpu, hook(0));
    Array x = empty(std::initializer_list<std::int64_t>{100}, DType::Float64, pardo::Queue::of(cpu));
    set_allocator(cpu, hook(1));
    Array y = empty(std::initializer_list<std::int64_t>{0}, DType::Float64, pardo::Queue::of(cpu));
    EXPECT_EQ(live[0], 1);
    EXPECT_EQ(live[1], 1);
    x = Array();
    EXPECT_EQ(live[0], 0);
    set_allocator(cpu, {});
    y = Array();
    EXPECT_EQ(live[1], 0);
    set_allocator(cpu, {[](std::size_t, MemoryKind) -> void* { return nullptr; }, [](void*, std::size_t) {}});
    EXPECT_THROW(empty(std::initializer_list<std::int64_t>{1}, DType::Float64, pardo::Queue::of(cpu)), Error);
    set_allocator(cpu, {});
    EXPECT_THROW(set_allocator(cpu, {[](std::size_t, MemoryKind) -> void* { return nullptr; }, nullptr}), Error);
}

TEST(Kinds, OfResults) {
    const std::int64_t shape[] = {3};
    const Array host = in_memory(ones(shape), MemoryKind::Host), shared = in_memory(ones(shape), MemoryKind::Shared), plain = ones(shape);
    EXPECT_EQ(host.memory_kind(), MemoryKind::Host);
    EXPECT_EQ((host + 1.0).memory_kind(), MemoryKind::Host);
    EXPECT_EQ((host + shared).memory_kind(), MemoryKind::Shared);
    EXPECT_EQ((host + empty(shape)).memory_kind(), MemoryKind::Device);
    EXPECT_EQ((host + plain).memory_kind(), MemoryKind::Host);
}

}  // namespace
}  // namespace pardo::device
