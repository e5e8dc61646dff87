// tests/unit/backend_cpu/queue_test.cpp: order, dependencies, failures, copies, profiling, and many threads at once on CPU queues.
#include "backend/cpu/queue.h"

#include <pardo/array.h>
#include <pardo/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <latch>
#include <numeric>
#include <span>
#include <thread>

#include "backend/cpu/cpu.h"
#include "base/counters.h"

namespace pardo::cpu {
namespace {

using namespace std::chrono_literals;
using device::Access;
using device::Buffer;
using device::BufferUse;
using device::Label;

constexpr double slow = 1e6, quick = 0;  // estimated costs

device::Device* cpu_device() { return device::select("cpu"); }
Ref<device::Queue> new_queue(QueueOrder order = QueueOrder::InOrder, bool profiling = false) {
    return cpu_device()->create_queue(order, profiling);
}
Ref<Buffer> new_buffer(std::size_t bytes) { return cpu_device()->allocate(bytes, MemoryKind::Device, cpu_device()->queue()); }
template <class T> T* data(const Ref<Buffer>& b) { return static_cast<T*>(b->data()); }

/// args: pointer to int64 counters, one an item (row-major), each increased once.
void count_items(const std::uint64_t* args, const std::int64_t* extents, const std::int64_t* begin, const std::int64_t* end,
                 const std::uint8_t*) {
    auto* items = reinterpret_cast<std::int64_t*>(args[0]);
    for (std::int64_t i = begin[0]; i < end[0]; ++i) {
        for (std::int64_t j = begin[1]; j < end[1]; ++j) ++items[i * extents[1] + j];
    }
}

std::atomic<int> ran{0};
void mark(const std::uint64_t*, const std::int64_t*, const std::int64_t*, const std::int64_t*, const std::uint8_t*) { ++ran; }

Ref<device::Program> program(CpuProgram::Entry entry, int rank) { return new CpuProgram("hand_made", entry, rank, 64, nullptr); }

template <class F> std::string message_of(F f) {
    try {
        f();
    } catch (const Error& e) {
        return e.message();
    }
    return "nothing was thrown";
}

/// A gate that a task waits at.
struct Gate {
    std::atomic<bool> open{false};
    void pass() const {
        while (!open) std::this_thread::yield();
    }
};

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
    EXPECT_NE(message_of([&] { new_queue()->launch(l); }).find("0 dimensions"), std::string::npos);
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

TEST(Failures, AreRaisedOnceAtTheEventOrTheQueue) {
    take_unacknowledged_failures();
    set_location_hook([] { return std::make_shared<const std::string>("user.py:12"); });
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        const auto failing = [&] { return q->host_task([] { throw Error(ErrorCode::Value, "sort: bad"); }, {}, {"sort_f64", ""}, slow); };
        const std::string text = "sort: bad (in kernel sort_f64, at user.py:12)";
        Event e = failing();
        EXPECT_EQ(message_of([&] { e.wait(); }), text);
        EXPECT_EQ(message_of([&] { e.wait(); }), "nothing was thrown");
        EXPECT_EQ(message_of([&] { q->wait(); }), "nothing was thrown");
        e = failing();
        EXPECT_EQ(message_of([&] { q->wait(); }), text);
        EXPECT_EQ(message_of([&] { e.wait(); }), "nothing was thrown");
        failing();
        q->host_task([] { throw std::runtime_error("odd"); }, {}, {"k", "a.py:1"}, slow);
        new_queue(order)->wait();  // another queue's failures are not its business
        // Once, however many there were.
        EXPECT_EQ(message_of([&] { q->wait(); }), "sort: bad (in kernel sort_f64, at user.py:12; 1 more failure of this queue)");
        EXPECT_EQ(message_of([&] { q->wait(); }), "nothing was thrown");
    }
    set_location_hook(nullptr);
    new_queue()->host_task([] { throw Error(ErrorCode::Value, "never acknowledged"); }, {}, {"k", "b.py:2"}, slow);
    EXPECT_EQ(take_unacknowledged_failures(),
              std::vector<std::string>{"never acknowledged (in kernel k, at b.py:2)"});  // the queue was waited for at its end
}

TEST(Failures, BelongToTheirQueueHoweverManyOthersThereAre) {
    take_unacknowledged_failures();
    const Ref<device::Queue> loud = new_queue(), quiet = new_queue();
    const auto fail = [](device::Queue& q, const char* why) {
        q.host_task([why] { throw Error(ErrorCode::Value, why); }, {}, {"k", "a.py:1"}, slow);
    };
    for (int i = 0; i < 1100; ++i) fail(*loud, "loud");
    loud->wait_quietly();
    fail(*quiet, "quiet");
    EXPECT_EQ(message_of([&] { quiet->wait(); }), "quiet (in kernel k, at a.py:1)");
    EXPECT_EQ(message_of([&] { quiet->wait(); }), "nothing was thrown");
    EXPECT_EQ(message_of([&] { loud->wait(); }), "loud (in kernel k, at a.py:1; 1099 more failures of this queue)");
    EXPECT_EQ(message_of([&] { loud->wait(); }), "nothing was thrown");
    EXPECT_TRUE(take_unacknowledged_failures().empty());
}

TEST(Failures, ReachTheNextWaitOfAQueueThatDependsOnThem) {
    take_unacknowledged_failures();
    const Ref<device::Queue> first = new_queue(), second = new_queue();
    const Event failed = first->host_task([] { throw Error(ErrorCode::Value, "bad"); }, {}, {"k", ""}, slow);
    const Event depends[] = {failed};
    (void)second->host_task([] {}, {}, {"after", ""}, slow, depends);
    EXPECT_EQ(message_of([&] { second->wait(); }), "bad (in kernel k)");
    EXPECT_EQ(message_of([&] { first->wait(); }), "nothing was thrown");  // it is acknowledged
}

TEST(Failures, SmallWorkThrowsAtTheCall) {
    EXPECT_EQ(message_of([] { new_queue()->host_task([] { throw Error(ErrorCode::Value, "now"); }, {}, {"k", ""}, quick); }), "now");
}

TEST(Failures, ReachWhatDependsOnTheData) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        const Ref<Buffer> x = new_buffer(8), y = new_buffer(8), z = new_buffer(8);
        const BufferUse make_x[] = {{x.get(), Access::Write}}, x_to_y[] = {{x.get(), Access::Read}, {y.get(), Access::Write}};
        const BufferUse make_z[] = {{z.get(), Access::Write}};
        Gate gate;
        bool consumed = false, unrelated = false, rewritten = false;
        q->host_task(
            [&] {
                gate.pass();
                throw Error(ErrorCode::Value, "bad");
            },
            make_x, {"make", ""}, slow);
        q->host_task([&] { consumed = true; }, x_to_y, {"use", ""}, slow);
        q->host_task([&] { unrelated = true; }, make_z, {"other", ""}, slow);
        q->host_task([&] { rewritten = true; }, make_x, {"again", ""}, slow);  // only an order: it does not read
        gate.open = true;
        EXPECT_EQ(message_of([&] { y->wait_for_read(); }), "bad (in kernel make)");
        q->wait();
        EXPECT_FALSE(consumed);
        EXPECT_TRUE(unrelated);
        EXPECT_TRUE(rewritten);
    }
}

TEST(Failures, OutliveAPartialWriteOverThem) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        const Ref<Buffer> x = new_buffer(800);
        const BufferUse write[] = {{x.get(), Access::Write}}, some[] = {{x.get(), Access::WriteSome}}, read[] = {{x.get(), Access::Read}};
        Gate gate;
        bool consumed = false, stored = false;
        q->host_task(
            [&] {
                gate.pass();
                throw Error(ErrorCode::Value, "bad");
            },
            write, {"sort", ""}, slow);
        q->host_task([&] { stored = true; }, some, {"store", ""}, slow);
        const Event last = q->host_task([&] { consumed = true; }, read, {"use", ""}, slow);
        gate.open = true;
        EXPECT_EQ(message_of([&] { last.wait(); }), "bad (in kernel sort)");
        EXPECT_TRUE(stored);
        EXPECT_FALSE(consumed);
        EXPECT_NO_THROW(x->wait_for_read());  // acknowledged
    }
}

TEST(Failures, EndAtAWholeWriteOverThem) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        const Ref<Buffer> x = new_buffer(800);
        const BufferUse write[] = {{x.get(), Access::Write}}, read[] = {{x.get(), Access::Read}};
        Gate gate;
        bool consumed = false, stored = false;
        q->host_task(
            [&] {
                gate.pass();
                throw Error(ErrorCode::Value, "bad");
            },
            write, {"sort", ""}, slow);
        q->host_task([&] { stored = true; }, write, {"store", ""}, slow);
        const Event last = q->host_task([&] { consumed = true; }, read, {"use", ""}, slow);
        gate.open = true;
        EXPECT_NO_THROW(last.wait());
        EXPECT_TRUE(stored);
        EXPECT_TRUE(consumed);
        EXPECT_NO_THROW(x->wait_for_read());
        EXPECT_EQ(message_of([&] { q->wait(); }), "bad (in kernel sort)");
    }
}

TEST(Failures, OfReadersAreNotTheWriters) {
    const Ref<device::Queue> q = new_queue();
    const Ref<Buffer> x = new_buffer(8);
    const BufferUse read[] = {{x.get(), Access::Read}};
    Gate gate;
    const Event failed = q->host_task(
        [&] {
            gate.pass();
            throw Error(ErrorCode::Value, "bad");
        },
        read, {"use", ""}, slow);
    std::thread opener([&] { gate.open = true; });
    EXPECT_NO_THROW(x->wait_for_write());
    EXPECT_TRUE(failed.done());
    EXPECT_EQ(message_of([&] { failed.wait(); }), "bad (in kernel use)");
    opener.join();
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
    x->collect_for_read(reads_);
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
        std::vector<Event> unfinished;
        x->collect_for_read(unfinished);
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

TEST(Stress, ManyThreadsManyQueues) {
    // Each buffer holds a counter that tasks of all threads increase, each reading what the last one wrote: a lost order loses counts.
    constexpr int threads = 4, tasks = 400, buffers = 3;
    std::vector<Ref<Buffer>> shared;
    std::mutex submitting[buffers];  // a buffer's users submit one after another, as arrays do under their queue's lock
    for (int i = 0; i < buffers; ++i) {
        shared.push_back(new_buffer(8));
        *data<std::int64_t>(shared.back()) = 0;
    }
    const Ref<device::Queue> queues[] = {new_queue(), new_queue(), new_queue(QueueOrder::OutOfOrder)};
    std::vector<std::thread> users;
    for (int t = 0; t < threads; ++t) {
        users.emplace_back([&, t] {
            for (int i = 0; i < tasks; ++i) {
                const auto k = static_cast<std::size_t>((t + i) % buffers);
                const BufferUse use[] = {{shared[k].get(), Access::ReadWrite}};
                Event e;
                {
                    std::lock_guard lock(submitting[k]);
                    e = queues[(t + i / 7) % 3]->host_task([p = data<std::int64_t>(shared[k])] { ++*p; }, use, {"inc", ""},
                                                           i % 2 ? slow : quick);
                }
                if (i % 5 == 0) e.wait();
                if (i % 50 == 0) queues[i % 3]->wait();
            }
        });
    }
    for (auto& u : users) u.join();
    std::int64_t total = 0;
    for (auto& b : shared) {
        b->wait_for_read();
        total += *data<std::int64_t>(b);
    }
    EXPECT_EQ(total, threads * tasks);
}

TEST(Stress, QueuesComeAndGo) {
    std::atomic<int> done{0};
    for (int i = 0; i < 50; ++i) {
        const Ref<device::Queue> q = new_queue(i % 2 ? QueueOrder::InOrder : QueueOrder::OutOfOrder);
        for (int k = 0; k < 5; ++k) q->host_task([&] { ++done; }, {}, {"t", ""}, slow);
    }
    EXPECT_EQ(done, 250);  // a queue waits at its end
}

// ---- stopping

std::atomic<int> pieces{0};
/// Runs until it is told to stop.
void endless(const std::uint64_t*, const std::int64_t*, const std::int64_t*, const std::int64_t*, const std::uint8_t* stop) {
    ++pieces;
    while (__atomic_load_n(stop, __ATOMIC_RELAXED) == 0) std::this_thread::yield();
}

std::atomic<bool> asked{false};

TEST(Stopping, EndsTheKernelThatAnInterruptedWaitIsFor) {
    take_unacknowledged_failures();
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        const Ref<device::Program> p = program(endless, 1);
        const Ref<Buffer> x = new_buffer(8);
        const BufferUse writes_x[] = {{x.get(), Access::ReadWrite}};
        const std::int64_t extents[] = {64 * 100};
        device::Launch launch;
        launch.program = p.get();
        launch.extents = extents;
        launch.uses = writes_x;
        launch.cost_ns = 1e12;
        const Event endless_work = q->launch(launch);
        pieces = 0;
        asked = false;
        set_interrupt_hook([](bool) -> std::optional<Error> {
            if (!asked.exchange(true)) return std::nullopt;
            return Error(ErrorCode::Internal, "interrupted");
        });
        EXPECT_EQ(message_of([&] { endless_work.wait(); }), "interrupted");
        set_interrupt_hook(nullptr);
        endless_work.state()->wait_quietly();
        EXPECT_EQ(endless_work.state()->reach, device::Reach::Part);
        EXPECT_EQ(message_of([&] { q->wait(); }), "nothing was thrown");  // the caller knows
        for (int i = 0; i < 3; ++i) EXPECT_NE(message_of([&] { x->wait_for_read(); }).find("undefined"), std::string::npos);
        bool ran_after = false;
        q->host_task([&] { ran_after = true; }, {}, {"after", ""}, slow).wait();
        EXPECT_TRUE(ran_after);
        const BufferUse fills_x[] = {{x.get(), Access::Write}};
        q->host_task([] {}, fills_x, {"fill", ""}, slow).wait();
        EXPECT_EQ(message_of([&] { x->wait_for_read(); }), "nothing was thrown");  // written anew
    }
    EXPECT_TRUE(take_unacknowledged_failures().empty());
}

TEST(Stopping, LeavesWhatOtherThreadsSubmitted) {
    const Ref<device::Queue> q = new_queue();
    Gate gate;
    std::atomic<bool> begun{false}, finished{false};
    std::thread other([&] {
        q->host_task(
            [&] {
                begun = true;
                gate.pass();
                finished = true;
            },
            {}, {"theirs", ""}, slow);
    });
    other.join();
    while (!begun) std::this_thread::yield();  // on the worker: a wait before that runs the task on its own thread
    const Event mine = q->host_task([] {}, {}, {"mine", ""}, slow);
    set_interrupt_hook([](bool) -> std::optional<Error> { return Error(ErrorCode::Internal, "interrupted"); });
    EXPECT_EQ(message_of([&] { mine.wait(); }), "interrupted");
    set_interrupt_hook(nullptr);
    gate.open = true;
    mine.wait();
    EXPECT_TRUE(finished);
}

// ---- progress: threads, tasks that wait for each other, memory, and submitters that are far ahead

TEST(Progress, OfEightThreadsOnThreeQueues) {
    const Ref<device::Queue> queues[] = {new_queue(), new_queue(), new_queue(QueueOrder::OutOfOrder)};
    const Ref<Buffer> shared[] = {new_buffer(4096), new_buffer(4096), new_buffer(4096)};
    std::atomic<int> done{0};
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < 8; ++n) {
        threads.emplace_back([&, n] {
            unsigned random = n * 2654435761u + 1;
            Event last;
            for (int step = 0; step < 150; ++step) {
                random = random * 1664525u + 1013904223u;
                const std::size_t k = random >> 20 & 1023, q = k % 3, other = k / 3 % 3;
                const BufferUse moves[] = {{shared[q].get(), Access::Read}, {shared[other].get(), Access::ReadWrite}};
                const Event depends[] = {last};
                switch (k / 9 % 5) {
                    case 0: last = queues[q]->host_task([&] { ++done; }, {}, {"task", ""}, slow, depends); break;
                    case 1: (void)queues[q]->host_task([&] { ++done; }, std::span(moves, q == other ? 1 : 2), {"move", ""}, slow); break;
                    case 2:
                        for (int i = 0; i < 60; ++i) (void)queues[q]->host_task([&] { ++done; }, {}, {"many", ""}, 1e8);
                        break;
                    case 3: queues[q]->wait(); break;
                    default: {
                        const Event task = device::user_task(queues[q].get(),
                                                             [&, other] {
                                                                 (void)queues[other]->host_task([&] { ++done; }, {}, {"inner", ""}, slow);
                                                                 return std::shared_ptr<void>();
                                                             },
                                                             {"user", ""}, {});
                        if (k % 2) task.wait();
                    }
                }
            }
        });
    }
    for (std::thread& t : threads) t.join();
    for (const auto& q : queues) q->wait();
    EXPECT_GT(done, 0);
}

TEST(Tasks, MayBeTheLastOwnersOfTheirQueue) {
    constexpr auto moment = std::chrono::milliseconds(50);
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        Ref<device::Queue> q = new_queue(order);
        const Event before = q->host_task([&] { std::this_thread::sleep_for(moment); }, {}, {"before", ""}, slow);
        const Event needed[] = {before};
        const Event task = device::user_task(
            q.get(), [] { return std::shared_ptr<void>(); }, {"user", ""}, needed);
        // The thread that tells the task that nothing is missing goes on when the task has run.
        (void)before.state()->subscribe([&] { std::this_thread::sleep_for(moment); });
        q = nullptr;
        task.wait();
        std::this_thread::sleep_for(2 * moment);
    }
    device::wait_for_queues(device::Runner::Process);
}

TEST(Barriers, OfAQueueWithoutOrderWaitForEachOther) {
    const Ref<device::Queue> q = new_queue(QueueOrder::OutOfOrder);
    const UserEvent gate;
    const Event depends[] = {gate.event()};
    std::atomic<int> ran_tasks{0};
    std::latch called(400);
    std::vector<Event> barriers;
    std::vector<int> seen(400);
    for (int i = 0; i < 400; ++i) {
        (void)q->host_task([&] { ++ran_tasks; }, {}, {"task", ""}, slow,
                           i % 3 ? std::span<const Event>(depends) : std::span<const Event>());
        barriers.push_back(q->barrier(i % 5 ? std::span<const Event>() : std::span<const Event>(depends)));
        barriers.back().state()->subscribe([&, i] {
            seen[static_cast<std::size_t>(i)] = ran_tasks;
            called.count_down();
        });
    }
    EXPECT_FALSE(barriers.back().done());
    gate.set_complete();
    q->wait();
    called.wait();  // q->wait() may return before the subscribers are called
    for (int i = 0; i < 400; ++i) EXPECT_GE(seen[static_cast<std::size_t>(i)], i + 1) << i;
}

}  // namespace
}  // namespace pardo::cpu
