// tests/unit/backend_cpu/failure_test.cpp: failures of work on CPU queues: who hears of them, and what they reach.
#include "backend/cpu/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <pardo/binding/hooks.h>

#include "queue_support.h"

namespace pardo::cpu {
namespace {

/// Hands work over that fails once the gate is open.
void fail_after(const Gate& gate, device::Queue& q, std::span<const BufferUse> uses, const char* name) {
    q.host_task(
        [&gate] {
            gate.pass();
            throw Error(ErrorCode::Value, "bad");
        },
        uses, {name, ""}, slow);
}

TEST(Failures, AreRaisedOnceAtTheEventOrTheQueue) {
    unseen_failures();
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
    EXPECT_EQ(unseen_failures(),
              std::vector<std::string>{"never acknowledged (in kernel k, at b.py:2)"});  // the queue was waited for at its end
}

TEST(Failures, BelongToTheirQueueHoweverManyOthersThereAre) {
    unseen_failures();
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
    EXPECT_TRUE(unseen_failures().empty());
}

TEST(Failures, ReachTheNextWaitOfAQueueThatDependsOnThem) {
    unseen_failures();
    const Ref<device::Queue> first = new_queue(), second = new_queue();
    const Event failed = first->host_task([] { throw Error(ErrorCode::Value, "bad"); }, {}, {"k", ""}, slow);
    const Event depends[] = {failed};
    (void)second->host_task([] {}, {}, {"after", ""}, slow, depends);
    EXPECT_EQ(message_of([&] { second->wait(); }), "bad (in kernel k)");
    EXPECT_EQ(message_of([&] { first->wait(); }), "nothing was thrown");  // it is acknowledged
}

TEST(Failures, OfSmallWorkComeLateToo) {
    const Ref<device::Queue> q = new_queue();
    const Ref<Buffer> x = new_buffer(64);
    const BufferUse half[] = {{x.get(), Access::ReadWrite, device::View::bytes(0, 32)}};
    const Event e = q->host_task([] { throw Error(ErrorCode::Value, "bad"); }, half, {"k", ""}, quick);
    EXPECT_EQ(e.status(), EventStatus::Failed);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(message_of([&] { x->wait_for_read(); }), "bad (in kernel k)");
        EXPECT_NO_THROW(x->wait_for_read(device::View::bytes(32, 32)));
    }
    const BufferUse again[] = {{x.get(), Access::Write, device::View::bytes(0, 32)}};
    q->host_task([] {}, again, {"k", ""}, quick);
    EXPECT_NO_THROW(x->wait_for_read());
    EXPECT_NO_THROW(q->wait());
}

TEST(Failures, ReachWhatDependsOnTheData) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        const Ref<Buffer> x = new_buffer(8), y = new_buffer(8), z = new_buffer(8);
        const BufferUse make_x[] = {{x.get(), Access::Write}}, x_to_y[] = {{x.get(), Access::Read}, {y.get(), Access::Write}};
        const BufferUse make_z[] = {{z.get(), Access::Write}};
        Gate gate;
        bool consumed = false, unrelated = false, rewritten = false;
        fail_after(gate, *q, make_x, "make");
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
        fail_after(gate, *q, write, "sort");
        q->host_task([&] { stored = true; }, some, {"store", ""}, slow);
        const Event last = q->host_task([&] { consumed = true; }, read, {"use", ""}, slow);
        gate.open = true;
        EXPECT_EQ(message_of([&] { last.wait(); }), "bad (in kernel sort)");
        EXPECT_TRUE(stored);
        EXPECT_FALSE(consumed);
        EXPECT_EQ(message_of([&] { x->wait_for_read(); }), "bad (in kernel sort)");  // each time
    }
}

TEST(Failures, EndAtAWholeWriteOverThem) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<device::Queue> q = new_queue(order);
        const Ref<Buffer> x = new_buffer(800);
        const BufferUse write[] = {{x.get(), Access::Write}}, read[] = {{x.get(), Access::Read}};
        Gate gate;
        bool consumed = false, stored = false;
        fail_after(gate, *q, write, "sort");
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

}  // namespace
}  // namespace pardo::cpu
