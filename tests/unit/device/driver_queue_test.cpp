// tests/unit/device/driver_queue_test.cpp: order, holding back, failures, callbacks and fork of queues of a driver.
#include "device/queue/queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "../message_of.h"
#include "fake_driver.h"

namespace pardo::device {
namespace {

using namespace std::chrono_literals;

TEST(DriverQueue, RunsInOrderAndSaysWhenItIsOver) {
    for (const bool late : {false, true}) {
        const Ref<Queue> q = new_queue(QueueOrder::InOrder, false, late);
        std::vector<int> seen;
        Gate gate;
        launch(q.get(), [&] { gate.pass(); });
        Event last;
        for (int i = 0; i < 100; ++i) last = launch(q.get(), [&seen, i] { seen.push_back(i); });
        EXPECT_FALSE(last.done());
        EXPECT_FALSE(last.wait_for(1));
        gate.open = true;
        last.wait();
        EXPECT_EQ(last.status(), EventStatus::Complete);
        ASSERT_EQ(seen.size(), 100u);
        EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
        q->wait();
        EXPECT_EQ(q->barrier().state(), nullptr);
    }
}

TEST(DriverQueue, EventsAreSeenToBeOverByAskingAlone) {
    const Ref<Queue> q = new_queue();
    const Event e = launch(q.get(), [] {});
    while (!e.done()) std::this_thread::yield();
    EXPECT_EQ(e.status(), EventStatus::Complete);
}

TEST(DriverQueue, WhatADriverCannotWaitForIsHeldBack) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<Queue> q = new_queue(order);
        UserEvent user;
        std::atomic<int> ran{0};
        const Event depends[] = {user.event()};
        const Event deferred = launch(
            q.get(), [&] { ++ran; }, {}, depends);
        const Event behind = launch(q.get(), [&] { ++ran; });
        const Event free = order == QueueOrder::OutOfOrder ? behind : Event();
        free.wait();
        EXPECT_FALSE(deferred.wait_for(5));
        EXPECT_EQ(behind.done(), order == QueueOrder::OutOfOrder);
        EXPECT_EQ(ran, order == QueueOrder::OutOfOrder ? 1 : 0);
        user.state->set_complete();
        q->wait();
        EXPECT_EQ(ran, 2);
        EXPECT_TRUE(deferred.done() && behind.done());
    }
}

TEST(DriverQueue, OtherQueuesOfTheDriverAreWaitedForByTheDriver) {
    const Ref<Queue> one = new_queue(), two = new_queue(QueueOrder::InOrder, false, true);
    Gate gate;
    std::vector<int> seen;
    const Event first = launch(one.get(), [&] {
        gate.pass();
        seen.push_back(1);
    });
    const Event second = launch(two.get(), [&] { seen.push_back(2); }, {}, {&first, 1});
    const Event third = launch(one.get(), [&] { seen.push_back(3); }, {}, {&second, 1});
    EXPECT_EQ(third.state()->known_status(), EventStatus::Running);  // all of it is at the driver
    gate.open = true;
    third.wait();
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TEST(DriverQueue, BuffersOrderQueuesAndOutOfOrderWork) {
    const Ref<Queue> q = new_queue(QueueOrder::OutOfOrder), other = new_queue();
    const Ref<Buffer> b = new_buffer();
    const int value = 7;
    for (int i = 0; i < 50; ++i) {
        q->fill(b.get(), 0, 64, &value, 4);
        const BufferUse uses[] = {{b.get(), Access::ReadWrite}};
        launch(
            other.get(), [&] { ++*static_cast<int*>(b->data()); }, uses);
        launch(
            q.get(), [&] { *static_cast<int*>(b->data()) *= 2; }, uses);
        int got = 0;
        q->read(&got, b.get(), 0, 4);
        ASSERT_EQ(got, 16);
    }
}

TEST(DriverQueue, HostTasksKeepTheirPlace) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<Queue> q = new_queue(order);
        const Ref<Buffer> b = new_buffer();
        const BufferUse uses[] = {{b.get(), Access::ReadWrite}};
        std::vector<int> seen;
        std::thread::id where;
        launch(
            q.get(), [&] { seen.push_back(1); }, uses);
        q->host_task(
            [&] {
                seen.push_back(2);
                where = std::this_thread::get_id();
            },
            uses, {"task", ""}, 0);
        launch(
            q.get(), [&] { seen.push_back(3); }, uses)
            .wait();
        EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
        EXPECT_NE(where, std::this_thread::get_id());
        EXPECT_NE(where, std::thread::id());
    }
}

TEST(DriverQueue, AFailureIsRaisedOnceAndSpreadsToWhatNeedsIt) {
    const Ref<Queue> q = new_queue(), other = new_queue();
    const Ref<Buffer> b = new_buffer();
    const BufferUse writes[] = {{b.get(), Access::Write}}, reads[] = {{b.get(), Access::Read}};
    Gate gate;
    const Event bad = launch(
        q.get(),
        [&] {
            gate.pass();
            throw Error(ErrorCode::Device, "illegal address");
        },
        writes, {}, "scale");
    const Event same = launch(
                    q.get(), [] {}, reads),
                elsewhere = launch(
                    other.get(), [] {}, reads),
                unrelated = launch(q.get(), [] {});
    gate.open = true;
    EXPECT_EQ(message_of([&] { elsewhere.wait(); }), "illegal address (in kernel scale)");
    unrelated.wait();
    EXPECT_EQ(message_of([&] { same.wait(); }), "illegal address (in kernel scale)");  // it did not run either
    same.wait();
    bad.wait();  // acknowledged
    EXPECT_EQ(same.status(), EventStatus::Failed);
    EXPECT_EQ(bad.status(), EventStatus::Failed);
    q->wait();
    other->wait();
}

TEST(DriverQueue, WhatACheckThrowsIsTheFailureOfTheLaunchAndOfWhatNeedsIt) {
    for (const bool late : {false, true}) {
        for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
            for (const bool deferred : {false, true}) {
                const Ref<Queue> q = new_queue(order, false, late);
                const Ref<Buffer> b = new_buffer(), c = new_buffer();
                const BufferUse writes[] = {{b.get(), Access::Write}};
                const BufferUse copies[] = {{b.get(), Access::Read}, {c.get(), Access::Write}}, reads[] = {{c.get(), Access::Read}};
                UserEvent user;
                const Event depends[] = {user.event()};
                Gate gate;
                int left = 0, checks = 0;
                const auto check = [&] {
                    ++checks;
                    if (left == 7) throw Error(ErrorCode::Index, "index 7 is wrong");
                };
                const auto work = [&] {
                    gate.pass();
                    left = 7;
                };
                const Event bad = launch(q.get(), work, writes, std::span(depends, deferred ? 1 : 0), "look", 0, check);
                const Event next = launch(
                                q.get(), [] {}, copies),
                            third = launch(
                                q.get(), [] {}, reads);
                const Event unrelated = launch(q.get(), [] {});
                user.state->set_complete();
                gate.open = true;
                EXPECT_EQ(message_of([&] { third.wait(); }), "index 7 is wrong (in kernel look)");
                unrelated.wait();
                EXPECT_EQ(message_of([&] { next.wait(); }), "index 7 is wrong (in kernel look)");
                next.wait();
                bad.wait();  // acknowledged
                EXPECT_EQ(bad.status(), EventStatus::Failed);
                EXPECT_EQ(next.status(), EventStatus::Failed);
                EXPECT_EQ(unrelated.status(), EventStatus::Complete);
                EXPECT_EQ(checks, 1);
                left = 0;
                launch(
                    q.get(), [] {}, writes, {}, "look", 0, check)
                    .wait();
                EXPECT_EQ(checks, 2);
                q->wait();
            }
        }
    }
}

TEST(DriverQueue, AHostTaskDoesNotRunOnFailedResultsWhoeverHasSeenTheFailure) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<Queue> q = new_queue(order);
        const Ref<Buffer> b = new_buffer();
        const BufferUse writes[] = {{b.get(), Access::Write}}, reads[] = {{b.get(), Access::Read}};
        UserEvent user;
        const Event depends[] = {user.event()};
        Gate gate;
        const auto check = [] { throw Error(ErrorCode::Index, "index 7 is wrong"); };
        const Event bad = launch(
            q.get(), [&] { gate.pass(); }, writes, {}, "look", 0, check);
        bool ran = false;
        const Event task = q->host_task([&] { ran = true; }, reads, {}, 0, depends);
        EXPECT_TRUE(q->may_last());
        gate.open = true;
        EXPECT_EQ(message_of([&] { bad.wait(); }), "index 7 is wrong (in kernel look)");
        user.state->set_complete();
        task.state()->wait_quietly();
        EXPECT_FALSE(ran);
        EXPECT_EQ(message_of([&] { b->wait_for_read(); }), "index 7 is wrong (in kernel look)");
        EXPECT_FALSE(q->may_last());
        q->wait();
    }
}

TEST(DriverQueue, AWaitDoesNotReturnBeforeFailuresAreNoted) {
    unseen_failures();
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        Ref<Queue> q = new_queue(order);
        std::mutex mutex;
        std::condition_variable changed;
        bool checking = false, go_on = false;
        const Event work = launch(
            q.get(), [] {}, {}, {}, "work", 0,
            [&] {
                std::unique_lock lock(mutex);
                checking = true;
                changed.notify_all();
                changed.wait(lock, [&] { return go_on; });
                throw Error(ErrorCode::Index, "out of range");
            });
        std::thread asks([&] {  // whoever asks completes the work, and is held up in the middle of that
            while (!work.done()) std::this_thread::sleep_for(1ms);
        });
        {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return checking; });
        }
        std::atomic<bool> returned{false};
        std::string said = "nothing was thrown";
        std::thread waits([&] {
            try {
                q->wait();
            } catch (const Error& e) {
                said = e.message();
            }
            returned = true;
        });
        std::this_thread::sleep_for(50ms);
        EXPECT_FALSE(returned);
        {
            std::lock_guard lock(mutex);
            go_on = true;
        }
        changed.notify_all();
        asks.join();
        waits.join();
        EXPECT_EQ(said, "out of range (in kernel work)");
    }
    EXPECT_TRUE(unseen_failures().empty());
}

TEST(DriverQueue, AQueueHearsOfItsOwnFailuresOnly) {
    unseen_failures();
    for (int i = 0; i < 20; ++i) {  // queues come and go at the same addresses
        {
            const Ref<Queue> q = new_queue();
            (void)launch(
                q.get(), [] {}, {}, {}, "old", 0, [] { throw Error(ErrorCode::Index, "of an old queue"); });
        }
        const Ref<Queue> q = new_queue();
        q->wait();
    }
    const std::vector<std::string> unseen = unseen_failures();
    ASSERT_EQ(unseen.size(), 1u);
    EXPECT_EQ(unseen[0], "of an old queue (in kernel old; 19 more failures of this kind)");
}

TEST(DriverQueue, WorkHeldBackForSomethingThatFailsDoesNotRun) {
    const Ref<Queue> q = new_queue();
    UserEvent user;
    bool ran = false;
    const Event depends[] = {user.event()};
    const Event deferred = launch(
        q.get(), [&] { ran = true; }, {}, depends);
    const Event task = q->host_task([&] { ran = true; }, {}, {"task", ""}, 0, {&deferred, 1});
    user.state->set_failed(Error(ErrorCode::Value, "no"), {"user", ""});
    EXPECT_EQ(message_of([&] { task.wait(); }), "no (in kernel user)");
    EXPECT_FALSE(ran);
    EXPECT_EQ(deferred.status(), EventStatus::Failed);
}

TEST(DriverQueue, WhatTheDriverRefusesIsSaidAtOnceOrLater) {
    const Ref<Queue> q = new_queue();
    EXPECT_EQ(message_of([&] {
                  launch(
                      q.get(), [] {}, {}, {}, "refused");
              }),
              "refused: the driver refuses");
    UserEvent user;
    const Event depends[] = {user.event()};
    const Event deferred = launch(
        q.get(), [] {}, {}, depends, "refused");
    user.state->set_complete();
    EXPECT_EQ(message_of([&] { q->wait(); }), "the driver refuses (in kernel refused)");
    launch(q.get(), [] {}).wait();
}

/// A launch of a program that is still to be compiled.
Event launch_pending(Queue* q, const Ref<PendingProgram>& p, std::span<const BufferUse> uses = {}) {
    const std::int64_t extents[] = {1};
    Launch l;
    l.program = p.get();
    l.extents = extents;
    l.uses = uses;
    l.label = [](const void*) { return Label{"later", "here.py:3"}; };
    return q->launch(l, {});
}

TEST(DriverQueue, WhatIsToBeCompiledIsCompiledAtItsTurn) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<Queue> q = new_queue(order);
        Gate gate;
        std::vector<int> seen;
        std::atomic<int> compiled{0};
        std::thread::id compiler;
        const Ref<PendingProgram> p(new PendingProgram("later", [&]() -> Ref<Program> {
            gate.pass();
            ++compiled;
            compiler = std::this_thread::get_id();
            return new FakeProgram("later", [&] { seen.push_back(static_cast<int>(seen.size())); });
        }));
        const Ref<Buffer> b = new_buffer();
        const BufferUse use[] = {{b.get(), Access::ReadWrite}};
        const Event first = launch_pending(q.get(), p, use), second = launch_pending(q.get(), p, use);
        const Event behind = launch(
            q.get(), [&] { seen.push_back(10); }, use);
        EXPECT_FALSE(first.wait_for(5));
        EXPECT_FALSE(behind.done());
        EXPECT_EQ(compiled, 0);
        gate.open = true;
        q->wait();
        EXPECT_EQ(seen, (std::vector{0, 1, 10}));
        EXPECT_EQ(compiled, 1);
        EXPECT_NE(compiler, std::this_thread::get_id());
        launch_pending(q.get(), p, use).wait();  // it is there now
        EXPECT_EQ(seen.size(), 4u);
        EXPECT_EQ(compiled, 1);
    }
}

TEST(DriverQueue, WhatCannotBeCompiledFailsTheLaunchesThatThereAre) {
    const Ref<Queue> q = new_queue();
    int tried = 0;
    Gate gate;
    const Ref<PendingProgram> p(new PendingProgram("later", [&]() -> Ref<Program> {
        gate.pass();
        if (++tried == 1) throw Error(ErrorCode::Compile, "later: no compiler");
        return new FakeProgram("later", [] {});
    }));
    const Ref<Buffer> b = new_buffer();
    const BufferUse use[] = {{b.get(), Access::Write}}, read[] = {{b.get(), Access::Read}};
    const Event first = launch_pending(q.get(), p, use), second = launch_pending(q.get(), p);
    const Event reader = launch(
        q.get(), [] {}, read);
    gate.open = true;
    EXPECT_EQ(message_of([&] { first.wait(); }), "later: no compiler (at here.py:3)");
    EXPECT_EQ(message_of([&] { second.wait(); }), "later: no compiler (at here.py:3)");
    EXPECT_EQ(message_of([&] { reader.wait(); }), "later: no compiler (at here.py:3)");
    EXPECT_EQ(tried, 1);
    launch_pending(q.get(), p, use).wait();  // another try
    EXPECT_EQ(tried, 2);
    (void)message_of([&] { q->wait(); });
}

TEST(DriverQueue, CallbacksComeWithoutAsking) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<Queue> q = new_queue(order);
        Gate gate;
        std::atomic<int> called{0};
        for (int i = 0; i < 20; ++i) launch(q.get(), [&] { gate.pass(); }).add_done_callback([&] { ++called; });
        EXPECT_EQ(called, 0);
        gate.open = true;
        for (int i = 0; i < 1000 && called < 20; ++i) std::this_thread::sleep_for(10ms);
        EXPECT_EQ(called, 20);
    }
}

TEST(DriverQueue, ProfilingTimesAreInOrder) {
    const Ref<Queue> q = new_queue(QueueOrder::InOrder, true);
    for (const Event& e : {launch(q.get(), [] {}), q->host_task([] {}, {}, {"task", ""}, 0), q->barrier()}) {
        e.wait();
        const Profiling t = e.profiling();
        EXPECT_GT(t.queued, 0);
        EXPECT_LE(t.queued, t.submitted);
        EXPECT_LE(t.submitted, t.start);
        EXPECT_LE(t.start, t.end);
    }
}

TEST(DriverQueue, LateMarksAreMadeWhenSomebodyAsks) {
    const Ref<Queue> q = new_queue(QueueOrder::InOrder, false, true);
    q->wait();
    const int before = made_events;
    Event first;
    for (int i = 0; i < 10; ++i) {
        const Event e = launch(q.get(), [] {});
        if (i == 0) first = e;
    }
    EXPECT_EQ(made_events, before);
    first.wait();
    EXPECT_EQ(made_events, before + 1);
    const auto large = [&] {
        launch(
            q.get(), [] {}, {}, {}, "large", 1e9);
    };
    launch(q.get(), [] {});
    large();  // one before it: who waits for the small one is not to wait for this
    EXPECT_EQ(made_events, before + 2);
    launch(q.get(), [] {});
    EXPECT_EQ(made_events, before + 2);
    large();
    large();
    EXPECT_EQ(made_events, before + 4);
    q->wait();
}

TEST(DriverQueue, AWriteStandsForOlderOnesThatCannotFailAlone) {
    const auto pending_writes = [](Buffer* b) {
        std::vector<Event> found, others;
        b->collect_for_read({}, found, others);
        return found.size();
    };
    const Ref<Queue> q = new_queue(QueueOrder::InOrder, false, true);
    const Ref<Buffer> b = new_buffer();
    const BufferUse uses[] = {{b.get(), Access::Write}};
    Gate gate;
    launch(q.get(), [&] { gate.pass(); });
    for (int i = 0; i < 20; ++i)
        launch(
            q.get(), [] {}, uses);
    EXPECT_EQ(pending_writes(b.get()), 1U);
    UserEvent user;
    const Event after[] = {user.event()};
    for (int i = 0; i < 3; ++i)
        launch(
            q.get(), [] {}, uses, after);  // may come to nothing, and what reads the memory then fails with the last of them
    EXPECT_EQ(pending_writes(b.get()), 1U);
    gate.open = true;
    user.state->set_complete();
    q->wait();
    EXPECT_EQ(pending_writes(b.get()), 0U);
}

TEST(DriverQueue, DependenciesDoNotPileUpOnOneBuffer) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        for (const Access access : {Access::Write, Access::ReadWrite, Access::WriteSome}) {
            const Ref<Queue> q = new_queue(order);
            const Ref<Buffer> b = new_buffer();
            const BufferUse uses[] = {{b.get(), access}};
            UserEvent user;
            const Event first[] = {user.event()};
            std::atomic<int> ran{0};
            for (int i = 0; i < 500; ++i)
                launch(
                    q.get(), [&ran, i] { ran += ran == i; }, uses, i == 0 ? std::span<const Event>(first) : std::span<const Event>());
            std::vector<Event> read, write, others;
            b->collect_for_read({}, read, others);
            b->collect_for_write(write);
            EXPECT_LE(read.size(), 40U);
            EXPECT_LE(write.size(), 80U);
            user.state->set_complete();
            q->wait();
            EXPECT_EQ(ran, 500);
        }
    }
}

TEST(DriverQueue, AChainThatIsHeldBackDrainsWithoutLookingAtAllOfIt) {
    const Ref<Queue> q = new_queue(QueueOrder::OutOfOrder);
    UserEvent user;
    Event last = user.event();
    std::atomic<int> ran{0};
    constexpr int count = 20'000;  // takes minutes where each step looks at all
    for (int i = 0; i < count; ++i) {
        const Event after[] = {last};
        if (i % 2 == 0) {
            last = launch(
                q.get(), [&ran] { ++ran; }, {}, after);
        } else {
            last = q->host_task([&ran] { ++ran; }, {}, {"step", ""}, 0, after);
        }
    }
    user.state->set_complete();
    q->wait();
    EXPECT_EQ(ran, count);
}

TEST(DriverQueue, ManySubmissionsLeakNothing) {
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        for (const bool late : {false, true}) {
            const int events = live_events;
            const Ref<Queue> q = fake_device().make(order, false, late);
            const Ref<Buffer> b = new_buffer();
            const BufferUse uses[] = {{b.get(), Access::Read}};
            std::atomic<int> ran{0};
            int most = 0;
            for (int i = 0; i < 250'000; ++i) {
                launch(
                    q.get(), [&] { ++ran; }, i % 4 == 0 ? std::span<const BufferUse>(uses) : std::span<const BufferUse>());
                most = std::max(most, live_events - events);
            }
            q->wait();
            EXPECT_EQ(ran, 250'000);
            EXPECT_LE(most, 1200);
            for (int i = 0; i < 500 && live_events > events; ++i) std::this_thread::sleep_for(10ms);
            EXPECT_LE(live_events, events);  // those of earlier tests may have gone, too
        }
    }
}

TEST(DriverQueue, CopiesBetweenDriversGoThroughTheHost) {
    const Ref<Buffer> a = new_buffer(1000), b = other_fake_device().allocate(1000, MemoryKind::Device, nullptr);
    std::vector<char> in(1000), out(1000);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i);
    for (Device* by : {static_cast<Device*>(&fake_device()), static_cast<Device*>(&other_fake_device())}) {
        fake_device().queue()->write(a.get(), 0, in.data(), 1000);
        by->queue()->copy(b.get(), 0, a.get(), 0, 1000);
        std::fill(out.begin(), out.end(), 0);
        other_fake_device().queue()->read(out.data(), b.get(), 0, 1000);
        EXPECT_EQ(in, out);
        by->queue()->wait();
    }
}

TEST(DriverQueue, ABlockingReadWaitsForARunningHostTask) {
    const Ref<Queue> q = new_queue();
    const Ref<Buffer> b = new_buffer();
    const BufferUse uses[] = {{b.get(), Access::Write}};
    std::atomic<bool> started{false};
    q->host_task(
        [&] {
            started = true;
            std::this_thread::sleep_for(10ms);
            *static_cast<int*>(b->data()) = 5;
        },
        uses, {"task", ""}, 0);
    while (!started) std::this_thread::yield();
    int got = 0;
    q->read(&got, b.get(), 0, 4);
    EXPECT_EQ(got, 5);
}

TEST(DriverQueue, ManyThreadsSubmitAndWait) {
    const Ref<Queue> one = new_queue(), two = new_queue(QueueOrder::OutOfOrder);
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            Event last;
            for (int i = 0; i < 500; ++i) {
                Queue* q = i % 3 ? one.get() : two.get();
                last =
                    i % 10 == 9 ? q->host_task([&] { ++ran; }, {}, {"task", ""}, 0, {&last, 1}) : launch(q, [&] { ++ran; }, {}, {&last, 1});
                if (i % 50 == 0) last.wait();
                if (i % 7 == 0) (void)last.done();
            }
            last.wait();
        });
    }
    for (std::thread& t : threads) t.join();
    one->wait();
    two->wait();
    EXPECT_EQ(ran, 2000);
}

TEST(DriverQueue, AnEventOutlivesItsQueue) {
    Event e;
    {
        const Ref<Queue> q = new_queue();
        e = launch(q.get(), [] { std::this_thread::sleep_for(1ms); });
    }
    EXPECT_TRUE(e.done());
    e.wait();
}

/// Last: the child sees the parent's threads gone.
TEST(DriverQueueFork, AChildHearsThatItCannotUseTheQueue) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a fork holds all of pardo's mutexes, and the thread sanitizer knows at most 64 at once";
#endif
    const Ref<Queue> q = new_queue();
    const Ref<Buffer> b = new_buffer();
    Gate gate;
    const BufferUse uses[] = {{b.get(), Access::Write}};
    const Event e = launch(
        q.get(), [&] { gate.pass(); }, uses);
    const pid_t child = fork();
    if (child == 0) {
        int wrong = 0;
        const auto expect = [&](int bit, const std::string& message) {
            if (message.find("cannot be used after fork()") == std::string::npos) wrong |= bit;
        };
        expect(1, message_of([&] { e.wait(); }));
        expect(2, message_of([&] { launch(q.get(), [] {}); }));
        expect(4, message_of([&] { q->wait(); }));
        expect(8, message_of([&] { fake_device().allocate(64, MemoryKind::Device, q.get()); }));
        expect(16, message_of([&] { q->read(&wrong, b.get(), 0, 4); }));
        if (!e.done()) wrong |= 32;
        _exit(wrong);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_FALSE(e.done());
    gate.open = true;
    e.wait();
}

}  // namespace
}  // namespace pardo::device
