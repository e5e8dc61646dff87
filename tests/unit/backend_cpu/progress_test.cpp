// tests/unit/backend_cpu/progress_test.cpp: many threads on CPU queues at once, work that is stopped, and tasks that wait for each other.
#include "backend/cpu/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <span>
#include <thread>

#include <pardo/binding/hooks.h>

#include "device/waiting.h"
#include "queue_support.h"

namespace pardo::cpu {
namespace {

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
    unseen_failures();
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
        EXPECT_EQ(message_of([&] { q->wait(); }), "nothing was thrown");  // the caller knows
        for (int i = 0; i < 3; ++i) EXPECT_NE(message_of([&] { x->wait_for_read(); }).find("undefined"), std::string::npos);
        bool ran_after = false;
        q->host_task([&] { ran_after = true; }, {}, {"after", ""}, slow).wait();
        EXPECT_TRUE(ran_after);
        const BufferUse fills_x[] = {{x.get(), Access::Write}};
        q->host_task([] {}, fills_x, {"fill", ""}, slow).wait();
        EXPECT_EQ(message_of([&] { x->wait_for_read(); }), "nothing was thrown");  // written anew
    }
    EXPECT_TRUE(unseen_failures().empty());
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

TEST(Stopping, EndsAllWaitsThatWereOwedForLocks) {
    // A routine of many launches owes a wait for each of those that are far ahead: one signal ends them together.
    const Ref<device::Queue> q = new_queue();
    Gate gate;
    std::atomic<bool> begun{false};
    std::thread other([&] {  // its work is not this thread's to stop
        q->host_task(
            [&] {
                begun = true;
                gate.pass();
            },
            {}, {"theirs", ""}, slow);
    });
    other.join();
    while (!begun) std::this_thread::yield();  // on the worker: a wait before that runs the task on its own thread
    static int asked;
    asked = 0;
    set_interrupt_hook([](bool later) -> std::optional<Error> {
        EXPECT_TRUE(later);
        ++asked;
        return Error(ErrorCode::Internal, "interrupted");
    });
    device::HeldLocks& here = device::held_locks();
    ++here.count;
    for (int i = 0; i < 5; ++i) device::wait_without_locks(q->host_task([] {}, {}, {"mine", ""}, slow));
    EXPECT_EQ(asked, 0);
    --here.count;
    device::wait_for_owed(here);
    set_interrupt_hook(nullptr);
    EXPECT_EQ(asked, 1);
    gate.open = true;
    q->wait_quietly();
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
