// tests/unit/backend_cpu/queue_test.cpp: launches, order, dependencies, copies, times and shared loops of CPU queues.
#include "backend/cpu/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <span>
#include <thread>

#include "base/counters.h"
#include "queue_support.h"

namespace pardo::cpu {
namespace {

TEST(Launch, SmallWorkRunsAtOnce) {
    ran = 0;
    const Ref<device::Program> p = program(mark, 1);
    const std::int64_t extents[] = {16};
    device::Launch l;
    l.program = p.get();
    l.extents = extents;
    const auto launched = counters.launched.load();
    const Event e = new_queue()->launch(l);
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(e.state(), nullptr);
    EXPECT_EQ(counters.launched.load(), launched + 1);
}

TEST(Launch, WhatIsToBeCompiledIsCompiledAtItsTurn) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        ran = 0;
        Gate gate;
        std::atomic<int> compiled{0};
        const Ref<device::PendingProgram> p(new device::PendingProgram("later", [&] {
            gate.pass();
            ++compiled;
            return program(mark, 1);
        }));
        const Ref<device::Queue> q = new_queue(order);
        const std::int64_t extents[] = {16};
        device::Launch l;
        l.program = p.get();
        l.extents = extents;
        const Event first = q->launch(l), second = q->launch(l);
        EXPECT_FALSE(first.wait_for(5));  // a wait with a limit takes nothing of unknown length
        EXPECT_EQ(ran, 0);
        gate.open = true;
        q->wait();
        EXPECT_EQ(ran, 2);
        EXPECT_EQ(compiled, 1);
        EXPECT_EQ(q->launch(l).state(), nullptr);  // it is there, and small work runs at once
        EXPECT_EQ(ran, 3);
    }
}

TEST(Launch, WhatCannotBeCompiledFailsAtItsTurn) {
    const Ref<device::PendingProgram> p(
        new device::PendingProgram("later", []() -> Ref<device::Program> { throw Error(ErrorCode::Compile, "later: no compiler"); }));
    const Ref<device::Queue> q = new_queue();
    const std::int64_t extents[] = {16};
    device::Launch l;
    l.program = p.get();
    l.extents = extents;
    l.label = [](const void*) { return Label{"later", "here.py:3"}; };
    const Ref<Buffer> b = new_buffer(8);
    const BufferUse use[] = {{b.get(), Access::Write}};
    l.uses = use;
    const Event e = q->launch(l);
    EXPECT_EQ(message_of([&] { e.wait(); }), "later: no compiler (at here.py:3)");
    EXPECT_TRUE(b->has_failed({}));
    q->wait();
}

TEST(Launch, EveryItemRunsOnceWhateverTheShape) {
    const Ref<device::Queue> q = new_queue();
    const Ref<device::Program> p = program(count_items, 2);
    const std::int64_t shapes[][2] = {{1, 1}, {3, 100'000}, {100'000, 3}, {1, 64}, {1, 65}, {2, 1}, {7, 129}, {0, 5}, {5, 0}, {1000, 1000}};
    for (const auto& shape : shapes) {
        for (double cost : {quick, slow}) {
            std::vector<std::int64_t> items(static_cast<std::size_t>(shape[0] * shape[1]) + 1);
            const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(items.data())};
            device::Launch l;
            l.program = p.get();
            l.extents = shape;
            l.args = args;
            l.cost_ns = cost;
            q->launch(l).wait();
            EXPECT_EQ(items.back(), 0);
            items.pop_back();
            EXPECT_EQ(std::count(items.begin(), items.end(), 1), shape[0] * shape[1]);
        }
    }
}

std::atomic<bool> whole_groups{true};
void count_groups(const std::uint64_t* args, const std::int64_t* extents, const std::int64_t* begin, const std::int64_t* end,
                  const std::uint8_t*) {
    if (begin[0] % 5 || end[0] % 5 || begin[1] % 48 || end[1] % 48) whole_groups = false;
    count_items(args, extents, begin, end, nullptr);
}

TEST(Launch, IsCutAtWholeGroups) {
    const Ref<device::Queue> q = new_queue();
    const Ref<device::Program> p = new CpuProgram("in_groups", count_groups, 2, 64, nullptr, {5, 48});
    const std::int64_t shapes[][2] = {{5, 48}, {5, 48 * 1001}, {5 * 999, 48}, {35, 48 * 7}, {0, 48}};
    device::Launch l;
    l.program = p.get();
    for (const auto& shape : shapes) {
        for (double cost : {quick, slow}) {
            std::vector<std::int64_t> items(static_cast<std::size_t>(shape[0] * shape[1]));
            const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(items.data())};
            l.extents = shape;
            l.args = args;
            l.cost_ns = cost;
            q->launch(l).wait();
            EXPECT_EQ(std::count(items.begin(), items.end(), 1), shape[0] * shape[1]);
        }
    }
    EXPECT_TRUE(whole_groups);
    const std::int64_t odd[] = {5, 50};
    l.extents = odd;
    l.cost_ns = quick;
    EXPECT_NE(message_of([&] { q->launch(l).wait(); }).find("groups of 48 items in dimension 1, and 50 items"), std::string::npos);
}

TEST(Launch, RankZeroIsOneItem) {
    ran = 0;
    const Ref<device::Program> p = program(mark, 0);
    device::Launch l;
    l.program = p.get();
    for (double cost : {quick, slow}) {
        l.cost_ns = cost;
        new_queue()->launch(l).wait();
    }
    EXPECT_EQ(ran, 2);
    const std::int64_t extents[] = {4};
    l.extents = extents;
    l.cost_ns = quick;
    EXPECT_NE(message_of([&] { new_queue()->launch(l).wait(); }).find("0 dimensions"), std::string::npos);
}

TEST(Launch, AsynchronousWorkReturnsAtOnce) {
    const Ref<device::Queue> q = new_queue();
    Gate gate;
    std::thread::id worker;
    const Event e = q->host_task(
        [&] {
            gate.pass();
            worker = std::this_thread::get_id();
        },
        {}, {"slow", ""}, slow);
    EXPECT_FALSE(e.done());
    EXPECT_FALSE(e.wait_for(1));
    gate.open = true;
    EXPECT_TRUE(e.wait_for(60'000));
    EXPECT_EQ(e.status(), EventStatus::Complete);
}

TEST(Launch, WaitersLendThemselvesToQuickTasks) {
    // The worker is held by the gate of another task; an out-of-order queue lets the waiter run its own.
    const Ref<device::Queue> q = new_queue(QueueOrder::OutOfOrder);
    Gate gate;
    std::atomic<bool> started{false};
    const Event held = q->host_task(
        [&] {
            started = true;
            gate.pass();
        },
        {}, {"held", ""}, slow);
    while (!started) std::this_thread::yield();
    std::thread::id ran_on;
    q->host_task([&] { ran_on = std::this_thread::get_id(); }, {}, {"mine", ""}, slow).wait();
    EXPECT_EQ(ran_on, std::this_thread::get_id());
    gate.open = true;
    held.wait();
}

TEST(Order, InOrderQueuesKeepIt) {
    const Ref<device::Queue> q = new_queue();
    std::vector<int> seen;
    for (int i = 0; i < 300; ++i) q->host_task([&seen, i] { seen.push_back(i); }, {}, {"t", ""}, i % 3 ? slow : quick);
    q->wait();
    std::vector<int> expected(300);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(seen, expected);
    EXPECT_TRUE(q->barrier().done());
}

TEST(Order, FarAheadSubmittersHelp) {
    const Ref<device::Queue> q = new_queue();
    int count = 0;
    for (int i = 0; i < 20'000; ++i) q->host_task([&] { ++count; }, {}, {"t", ""}, slow);
    q->wait();
    EXPECT_EQ(count, 20'000);
}

TEST(Order, SubmittersAreNotFarAheadOfCostlyWork) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        Gate gate;
        std::atomic<int> submitted{0}, ran_now{0};
        const auto task = [&] {
            gate.pass();
            ++ran_now;
        };
        std::thread submitter([&] {
            for (; submitted < 20; ++submitted) q->host_task(task, {}, {"t", ""}, 0.4e9);
        });
        while (submitted < 3) std::this_thread::yield();
        std::this_thread::sleep_for(50ms);
        EXPECT_LE(submitted, 6);  // a second of work, what runs already, and the one that waits
        gate.open = true;
        submitter.join();
        q->wait();
        EXPECT_EQ(ran_now, 20);
    }
}

TEST(Order, BuffersOrderQueuesAmongEachOther) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> a = new_queue(order), b = new_queue(order);
        const Ref<Buffer> x = new_buffer(8), y = new_buffer(8);
        *data<std::int64_t>(x) = 0;
        Gate gate;
        const BufferUse write_x[] = {{x.get(), Access::ReadWrite}};
        const BufferUse x_to_y[] = {{x.get(), Access::Read}, {y.get(), Access::Write}};
        a->host_task(
            [&] {
                gate.pass();
                *data<std::int64_t>(x) = 5;
            },
            write_x, {"first", ""}, slow);
        const Event copied = b->host_task([&] { *data<std::int64_t>(y) = *data<std::int64_t>(x); }, x_to_y, {"second", ""}, quick);
        const Event third = a->host_task([&] { *data<std::int64_t>(x) = 9; }, write_x, {"third", ""}, quick);  // after the reader
        EXPECT_FALSE(copied.done());
        EXPECT_FALSE(third.done());
        gate.open = true;
        y->wait_for_read();
        EXPECT_EQ(*data<std::int64_t>(y), 5);
        x->wait_for_write();
        EXPECT_EQ(*data<std::int64_t>(x), 9);
    }
}

TEST(Order, OutOfOrderRunsWhatIsReady) {
    const Ref<device::Queue> q = new_queue(QueueOrder::OutOfOrder), other = new_queue();
    Gate gate;
    const Event blocked = other->host_task([&] { gate.pass(); }, {}, {"gate", ""}, slow);
    std::vector<int> seen;
    const Event depends[] = {blocked};
    const Event late = q->host_task([&] { seen.push_back(1); }, {}, {"late", ""}, slow, depends);
    const Event early = q->host_task([&] { seen.push_back(2); }, {}, {"early", ""}, slow);
    early.wait();
    EXPECT_FALSE(late.done());
    const Event all = q->barrier();
    EXPECT_FALSE(all.done());
    gate.open = true;
    all.wait();
    EXPECT_TRUE(late.done());
    EXPECT_EQ(seen, (std::vector<int>{2, 1}));
}

TEST(Order, ExplicitEventsCrossQueues) {
    const Ref<device::Queue> a = new_queue(), b = new_queue();
    std::vector<int> seen;
    Event last;
    for (int i = 0; i < 100; ++i) {
        const Event depends[] = {last};
        last = (i % 2 ? a : b)->host_task([&seen, i] { seen.push_back(i); }, {}, {"ping", ""}, slow, depends);
    }
    last.wait();
    EXPECT_EQ(seen.size(), 100u);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(Order, WhatComesAfterAFenceOfAnotherQueueMayLast) {
    const Ref<device::Queue> first = new_queue(), q = new_queue(QueueOrder::OutOfOrder);
    Gate gate;
    const Event held = first->host_task([&] { gate.pass(); }, {}, Label{"held"}, slow);
    q->order_after(held);
    EXPECT_FALSE(q->may_last());
    std::atomic<bool> begun{false};
    const Event after = q->host_task([&] { begun = held.done(); }, {}, Label{"after"}, quick);
    EXPECT_TRUE(q->may_last());
    gate.open = true;
    after.wait();
    EXPECT_TRUE(begun);
    q->wait();
    EXPECT_FALSE(q->may_last());
    first->wait();
}

TEST(Copies, CopyFillReadWrite) {
    const Ref<device::Queue> q = new_queue();
    for (std::size_t n : {std::size_t{5}, std::size_t{1} << 20}) {
        std::vector<std::int64_t> in(n), out(n);
        std::iota(in.begin(), in.end(), 1);
        const Ref<Buffer> a = new_buffer(8 * n), b = new_buffer(8 * n);
        q->write(a.get(), 0, in.data(), 8 * n);
        q->copy(b.get(), 8, a.get(), 0, 8 * (n - 1));
        const std::int64_t seven = 7;
        q->fill(b.get(), 0, 8, &seven, 8);
        q->read(out.data(), b.get(), 0, 8 * n);
        EXPECT_EQ(out[0], 7);
        EXPECT_TRUE(std::equal(out.begin() + 1, out.end(), in.begin()));
        q->copy(a.get(), 0, a.get(), 8, 8 * (n - 1));  // overlapping
        q->read(out.data(), a.get(), 0, 8);
        EXPECT_EQ(out[0], 2);
    }
    EXPECT_THROW(q->fill(new_buffer(8).get(), 0, 16, "x", 1), Error);
    EXPECT_THROW(q->copy(new_buffer(8).get(), 4, new_buffer(8).get(), 0, 8), Error);
}

TEST(Copies, PatternsOfAllSizes) {
    const Ref<device::Queue> q = new_queue();
    const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    for (std::size_t size : {1, 2, 4, 8, 16}) {
        for (std::size_t count : {0, 1, 3, 17, 1000, 200'000}) {
            const Ref<Buffer> b = new_buffer(size * count + 1);
            data<unsigned char>(b)[size * count] = 99;
            q->fill(b.get(), 0, size * count, pattern, size).wait();
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < size * count; ++i) wrong += data<unsigned char>(b)[i] != pattern[i % size];
            EXPECT_EQ(wrong, 0u);
            EXPECT_EQ(data<unsigned char>(b)[size * count], 99);
        }
    }
}

TEST(Copies, BetweenBackEnds) {
    device::Device* null = device::select("null");
    const Ref<Buffer> far = null->allocate(800, MemoryKind::Device, null->queue()), near = new_buffer(800);
    std::memset(far->data(), 3, 800);
    const Ref<device::Queue> q = new_queue();
    q->copy(near.get(), 0, far.get(), 0, 800).wait();
    EXPECT_EQ(data<char>(near)[799], 3);
}

TEST(Copies, OtherDevicesMemoryIsKeptUntilTheyAreOver) {
    device::Device* null = device::select("null");
    std::vector<char> bytes(800, 3);
    std::atomic<bool> released{false};
    Ref<Buffer> far = null->import(bytes.data(), 800, MemoryKind::Host, [&] { released = true; });
    const Ref<Buffer> near = new_buffer(800);
    const Ref<device::Queue> q = new_queue();
    Gate gate;
    q->host_task([&] { gate.pass(); }, {}, {"gate", ""}, slow);
    const Event copied = q->copy(near.get(), 0, far.get(), 0, 800);
    far = nullptr;
    EXPECT_FALSE(released);
    gate.open = true;
    copied.wait();
    EXPECT_TRUE(released);
    EXPECT_EQ(data<char>(near)[799], 3);
}

TEST(Dependencies, QueuesWriteElementsBesideEachOther) {
    const Ref<device::Queue> one = new_queue(QueueOrder::InOrder), two = new_queue(QueueOrder::InOrder);
    const Ref<Buffer> x = new_buffer(64);
    const auto written = [&](device::Queue* queue, Access access, std::size_t from, std::size_t bytes, std::span<const Event> needs) {
        const BufferUse use[] = {{x.get(), access, device::View::bytes(from, bytes)}};
        return queue->host_task([] {}, use, {"write", ""}, slow, needs);
    };
    const UserEvent gate;
    const Event closed[] = {gate.event()};
    const Event first = written(one.get(), Access::Write, 0, 32, closed);
    written(two.get(), Access::Write, 32, 32, {}).wait();  // the gate is closed
    EXPECT_NE(first.status(), EventStatus::Complete);
    const Event across = written(two.get(), Access::Write, 24, 16, {});
    const Ref<device::Queue> three = new_queue(QueueOrder::InOrder);
    const Event reader = written(three.get(), Access::Read, 40, 8, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_NE(across.status(), EventStatus::Complete);
    gate.set_complete();
    across.wait();
    reader.wait();
    EXPECT_EQ(first.status(), EventStatus::Complete);
}

/// How many events the next reader and the next writer would wait for after `count` uses of one buffer behind a gate.
std::pair<std::size_t, std::size_t> waited_for(QueueOrder order, std::span<const Access> pattern, int count) {
    const Ref<device::Queue> q = new_queue(order);
    const Ref<Buffer> x = new_buffer(64);
    const UserEvent gate;
    const Event first[] = {gate.event()};
    std::vector<Event> reads_, writes_;
    std::atomic<int> done{0};
    for (int i = 0; i < count; ++i) {
        const BufferUse use[] = {{x.get(), pattern[static_cast<std::size_t>(i) % pattern.size()]}};
        q->host_task([&done, i] { done += done == i; }, use, {"step", ""}, slow,
                     i == 0 ? std::span<const Event>(first) : std::span<const Event>());
    }
    std::vector<Event> others;
    x->collect_for_read({}, reads_, others);
    x->collect_for_write(writes_);
    gate.set_complete();
    q->wait();
    EXPECT_EQ(done, count);
    EXPECT_TRUE([&] {
        std::vector<Event> left;
        x->collect_for_write(left);
        return left.empty();
    }());
    return {reads_.size(), writes_.size()};
}

TEST(Dependencies, DoNotPileUpOnOneBuffer) {
    const std::vector<std::vector<Access>> patterns = {{Access::Write},
                                                       {Access::ReadWrite},
                                                       {Access::WriteSome},
                                                       {Access::Write, Access::Read},
                                                       {Access::WriteSome, Access::ReadWrite},
                                                       {Access::ReadWrite, Access::WriteSome, Access::Write, Access::Read}};
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        for (const auto& pattern : patterns) {
            const auto [read, write] = waited_for(order, pattern, 3000);
            EXPECT_LE(read, 40u);
            EXPECT_LE(write, 80u);
        }
    }
}

TEST(Dependencies, AWriteThatFailsBehindManyReachesTheReader) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        for (const Access access : {Access::ReadWrite, Access::WriteSome}) {
            const Ref<device::Queue> q = new_queue(order);
            const Ref<Buffer> x = new_buffer(64);
            const UserEvent gate;
            const Event first[] = {gate.event()};
            const BufferUse use[] = {{x.get(), access}};
            for (int i = 0; i < 100; ++i) {
                q->host_task(
                    [i] {
                        if (i == 5) throw Error(ErrorCode::Value, "the fifth");
                    },
                    use, {"", ""}, slow, i == 0 ? std::span<const Event>(first) : std::span<const Event>());
            }
            gate.set_complete();
            EXPECT_EQ(message_of([&] { x->wait_for_read(); }), "the fifth");
            q->wait();  // acknowledged already
        }
    }
}

TEST(Dependencies, AWriteThatWasStoppedLeavesNothingForTheReaderWhateverCameAfter) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        const Ref<Buffer> x = new_buffer(64);
        const Event stopped(new device::EventState(q.get()));
        x->note_write(stopped, Access::ReadWrite);
        const BufferUse use[] = {{x.get(), Access::ReadWrite}};
        for (int i = 0; i < 100; ++i) (void)q->host_task([] {}, use, {"", ""}, slow);
        stopped.state()->set_stopped({});
        q->wait_quietly();
        for (int i = 0; i < 2; ++i) EXPECT_NE(message_of([&] { x->wait_for_read(); }), "nothing was thrown");
    }
}

TEST(Times, StayWithTheMemoryThatWasWritten) {
    for (double cost : {quick, slow}) {
        const Ref<device::Queue> q = new_queue(QueueOrder::InOrder, true);
        const Ref<Buffer> x = new_buffer(8);
        const BufferUse write[] = {{x.get(), Access::Write}};
        EXPECT_EQ(x->timed_write().state(), nullptr);
        q->host_task([] { std::this_thread::sleep_for(2ms); }, write, {"nap", ""}, cost).wait();
        std::vector<Event> unfinished, others;
        x->collect_for_read({}, unfinished, others);
        EXPECT_TRUE(unfinished.empty());
        const Profiling t = x->timed_write().profiling();
        EXPECT_GE(t.end - t.start, 1'500'000);
    }
}

TEST(Times, MayBeReadWhileTheWorkRuns) {
    const Ref<device::Queue> q = new_queue(QueueOrder::InOrder, true);
    const Event e = q->host_task([] { std::this_thread::sleep_for(2ms); }, {}, {"nap", ""}, slow);
    while (!e.done()) EXPECT_GT(e.profiling().queued, 0);
    EXPECT_GT(e.profiling().end, 0);
}

TEST(Times, ProfilingQueuesFillThem) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order, true);
        for (double cost : {quick, slow}) {
            const Event e = q->host_task([] { std::this_thread::sleep_for(2ms); }, {}, {"nap", ""}, cost);
            e.wait();
            const Profiling t = e.profiling();
            EXPECT_GT(t.queued, 0);
            EXPECT_LE(t.queued, t.submitted);
            EXPECT_LE(t.submitted, t.start);
            EXPECT_GE(t.end - t.start, 1'500'000);
        }
    }
    EXPECT_THROW(new_queue()->host_task([] {}, {}, {"t", ""}, slow).profiling(), Error);
}

TEST(ParallelFor, CoversTheRangeOnceAndPassesExceptionsOn) {
    device::Device* d = cpu_device();
    EXPECT_TRUE(is_cpu(d));
    EXPECT_FALSE(is_cpu(device::select("null")));
    EXPECT_GE(thread_count(d), 1);
    for (std::int64_t count : {0, 1, 2, 63, 4096, 100'001}) {
        std::vector<std::atomic<int>> hits(static_cast<std::size_t>(count));
        parallel_for(d, count, slow, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) ++hits[static_cast<std::size_t>(i)];
            parallel_for(d, 3, slow, [](std::int64_t, std::int64_t) {});  // nested: serial
        });
        for (const auto& h : hits) ASSERT_EQ(h, 1);
    }
    EXPECT_EQ(message_of([&] { parallel_for(d, 1000, slow, [](std::int64_t, std::int64_t) { throw Error(ErrorCode::Value, "inside"); }); }),
              "inside");
    int calls = 0;
    parallel_for(d, 1'000'000, quick, [&](std::int64_t begin, std::int64_t end) { calls += begin == 0 && end == 1'000'000; });
    EXPECT_EQ(calls, 1);
}

TEST(ParallelFor, RunsOnTheCallerForOtherBackEnds) {
    device::Device* null = device::select("null");
    EXPECT_EQ(thread_count(null), 1);
    const auto caller = std::this_thread::get_id();
    std::int64_t covered = 0;
    parallel_for(null, 1000, slow, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        covered += end - begin;
    });
    EXPECT_EQ(covered, 1000);
    parallel_for(null, 0, slow, [](std::int64_t, std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace pardo::cpu
