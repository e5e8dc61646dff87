// tests/unit/backend_cpu/process_test.cpp: fork(), exit with work in flight, and the environment of a CPU device.
#include <pardo/error.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "backend/cpu/cpu.h"
#include "backend/cpu/threads/threads.h"
#include "device/device.h"
#include "jit/compiling.h"
#include "queue_support.h"

namespace pardo::cpu {
namespace {

using device::BufferUse;

device::Device* this_cpu() { return device::select("cpu"); }

/// Threads that take part when every part waits for company, for at most a second.
std::size_t threads_at_work() {
    device::Device* d = this_cpu();
    std::mutex mutex;
    std::set<std::thread::id> ids;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    parallel_for(d, thread_count(d), 1e9, [&](std::int64_t, std::int64_t) {
        for (;;) {
            std::unique_lock lock(mutex);
            ids.insert(std::this_thread::get_id());
            if (static_cast<int>(ids.size()) == thread_count(d) || std::chrono::steady_clock::now() > end) return;
            lock.unlock();
            std::this_thread::yield();
        }
    });
    return ids.size();
}

/// Runs `f` in a forked child and gives its exit status; -1 when it did not exit by itself.
template <class F> int in_child(F f) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(f());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#if defined(__SANITIZE_THREAD__)
#define SKIP_UNDER_TSAN() GTEST_SKIP() << "the sanitizer does not follow threads into a forked child"
#else
#define SKIP_UNDER_TSAN()
#endif

TEST(Fork, ChildAndParentComputeOn) {
    SKIP_UNDER_TSAN();
    device::Device* d = this_cpu();
    device::Queue* q = d->queue();
    const std::size_t before = threads_at_work();
    const Ref<device::Buffer> b = d->allocate(8, MemoryKind::Device, q);
    auto* value = static_cast<std::int64_t*>(b->data());
    *value = 0;
    const BufferUse use[] = {{b.get(), device::Access::ReadWrite}};
    const auto add = [&] { return q->host_task([value] { ++*value; }, use, {"add", ""}, 1e9); };
    for (int i = 0; i < 100; ++i) add();  // in flight: the fork waits for them
    for (int round = 0; round < 3; ++round) {
        const int status = in_child([&] {
            if (*value != 100 + round) return 1;
            add().wait();
            if (*value != 101 + round) return 2;
            if (threads_at_work() != before) return 3;
            const Ref<device::Buffer> fresh = d->allocate(100, MemoryKind::Device, q);
            std::atomic<bool> called{false};
            add().add_done_callback([&] { called = true; });
            for (int i = 0; i < 5000 && !called; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return called ? in_child([&] { return threads_at_work() == before ? 0 : 1; }) : 4;
        });
        EXPECT_EQ(status, 0);
        EXPECT_EQ(threads_at_work(), before);
        add().wait();
        EXPECT_EQ(*value, 101 + round);
    }
}

TEST(Fork, WhatIsToBeCompiledIsCompiledBefore) {
    SKIP_UNDER_TSAN();
    device::Device* d = this_cpu();
    std::vector<std::int64_t> items(1000);
    for (int round = 0; round < 20; ++round) {
        std::fill(items.begin(), items.end(), 0);
        std::vector<Ref<device::PendingProgram>> programs;
        const std::int64_t extents[] = {1, 1000};
        const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(items.data())};
        for (int i = 0; i < 5; ++i) {
            programs.push_back(new device::PendingProgram("later", [] {
                const jit::Compiling compiling;
                std::this_thread::sleep_for(std::chrono::microseconds(300));
                return program(count_items, 2);
            }));
            device::Launch l;
            l.program = programs.back().get();
            l.extents = extents;
            l.args = args;
            d->queue()->launch(l);
        }
        EXPECT_EQ(in_child([&] { return std::count(items.begin(), items.end(), 5) == 1000 ? 0 : 1; }), 0);
        EXPECT_EQ(std::count(items.begin(), items.end(), 5), 1000);
    }
}

TEST(Fork, WhileOtherThreadsSubmit) {
    SKIP_UNDER_TSAN();
    device::Device* d = this_cpu();
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        const Ref<device::Queue> q = d->create_queue(QueueOrder::InOrder, false);
        while (!stop) {
            q->host_task([&] { parallel_for(d, 1000, 1e9, [](std::int64_t, std::int64_t) {}); }, {}, {"t", ""}, 1e9).wait();
            const Ref<device::Buffer> b = d->allocate(1000, MemoryKind::Device, q.get());
        }
    });
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(in_child([&] {
                      const Ref<device::Buffer> b = d->allocate(1000, MemoryKind::Device, d->queue());
                      std::atomic<int> ran{0};
                      d->queue()
                          ->host_task(
                              [&] { parallel_for(d, 64, 1e9, [&](std::int64_t i, std::int64_t j) { ran += static_cast<int>(j - i); }); },
                              {}, {"t", ""}, 1e9)
                          .wait();
                      return ran == 64 ? 0 : 1;
                  }),
                  0);
    }
    stop = true;
    busy.join();
}

TEST(Fork, WhileOtherThreadsCopy) {
    SKIP_UNDER_TSAN();
    device::Device* d = this_cpu();
    std::atomic<bool> stop{false};
    const std::vector<char> source(1 << 20, 7);
    const auto copy = [&] {
        const Ref<device::Buffer> b = d->allocate(source.size(), MemoryKind::Device, d->queue());
        d->queue()->write(b.get(), 0, source.data(), source.size());
        return static_cast<const char*>(b->data())[source.size() - 1];
    };
    std::vector<std::thread> busy;
    for (int i = 0; i < 2; ++i) {
        busy.emplace_back([&] {
            while (!stop) copy();
        });
    }
    for (int i = 0; i < 100; ++i) ASSERT_EQ(in_child([&] { return copy() == 7 ? 0 : 1; }), 0);
    stop = true;
    for (std::thread& t : busy) t.join();
}

TEST(Fork, FromATask) {
    SKIP_UNDER_TSAN();
    device::Queue* q = this_cpu()->queue();
    int status = -1;
    const auto task = [&] {
        status = in_child([] {
            std::int64_t sum = 0;
            parallel_for(this_cpu(), 10'000, 1e9, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });  // on one thread
            return sum == 10'000 ? 0 : 1;
        });
    };
    q->host_task(task, {}, {"t", ""}, 1e6).wait();
    EXPECT_EQ(status, 0);
}

TEST(Exit, WithWorkInFlight) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            device::Queue* q = this_cpu()->queue();
            for (int i = 0; i < 100; ++i) {
                q->host_task(
                    [] {
                        std::this_thread::sleep_for(std::chrono::milliseconds(5));
                        parallel_for(this_cpu(), 1000, 1e9, [](std::int64_t, std::int64_t) {});
                    },
                    {}, {"t", ""}, 1e9);
            }
            std::exit(7);
        },
        testing::ExitedWithCode(7), "");
}

TEST(Environment, NumThreadsIsChecked) {
    const char* old = std::getenv("PARDO_NUM_THREADS");
    const std::string kept = old ? old : "";
    for (const char* nonsense : {"0", "-2", "two", "3x", "99999999", "1.5"}) {
        setenv("PARDO_NUM_THREADS", nonsense, 1);
        try {
            configured_threads();
            ADD_FAILURE() << nonsense;
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Value);
            EXPECT_EQ(e.message().find("PARDO_NUM_THREADS=" + std::string(nonsense) + ": expected a whole number of threads"), 0u);
        }
    }
    setenv("PARDO_NUM_THREADS", "3", 1);
    EXPECT_EQ(configured_threads(), 3);
    unsetenv("PARDO_NUM_THREADS");
    EXPECT_EQ(configured_threads(), default_threads(thread_limits()));
    if (old) setenv("PARDO_NUM_THREADS", kept.c_str(), 1);
}

TEST(Environment, SharesOfSeveralProcesses) {
    const auto threads = [](int cores, int neighbours, int launcher_cores, int wish) {
        return default_threads({.cores = cores, .neighbours = neighbours, .launcher_cores = launcher_cores, .wish = wish});
    };
    EXPECT_EQ(threads(16, 0, 0, 0), 16);
    EXPECT_EQ(threads(16, 1, 16, 0), 16);
    EXPECT_EQ(threads(16, 4, 16, 0), 4);  // not bound: the cores are shared
    EXPECT_EQ(threads(4, 4, 16, 0), 4);   // bound to a fourth of them
    EXPECT_EQ(threads(1, 4, 16, 0), 1);   // bound to one core
    EXPECT_EQ(threads(16, 3, 16, 0), 5);  // no more than there are
    EXPECT_EQ(threads(2, 8, 2, 0), 1);    // more processes than cores
    EXPECT_EQ(threads(16, 4, 0, 0), 4);   // a launcher that cannot be asked
    EXPECT_EQ(threads(16, 0, 0, 3), 3);
    EXPECT_EQ(threads(2, 0, 0, 3), 2);  // a wish is no reason for more threads than cores
    EXPECT_EQ(threads(16, 4, 16, 1), 1);
}

TEST(Environment, VariablesOfOtherPrograms) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto in_environment = [](const char* name, const char* value, auto&& right) {
        setenv(name, value, 1);
        EXPECT_EXIT(std::exit(right(thread_limits()) ? 0 : 1), testing::ExitedWithCode(0), "") << name << "=" << value;
        unsetenv(name);
    };
    for (const char* value : {"3", "3,2", "3 "}) in_environment("OMP_NUM_THREADS", value, [](ThreadLimits l) { return l.wish == 3; });
    for (const char* value : {"", "0", "-1", "many"}) in_environment("OMP_NUM_THREADS", value, [](ThreadLimits l) { return l.wish == 0; });
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "LOCAL_WORLD_SIZE"})
        in_environment(name, "2", [](ThreadLimits l) { return l.neighbours == 2 && l.launcher_cores >= 1; });
}

TEST(Environment, MoreThreadsThanCores) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setenv("PARDO_NUM_THREADS", "3", 1);
    EXPECT_EXIT(std::exit(thread_count(this_cpu()) == 3 && threads_at_work() == 3 ? 0 : 1), testing::ExitedWithCode(0), "");
    unsetenv("PARDO_NUM_THREADS");
}

TEST(Environment, DiscreteMemoryIsNotVisible) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setenv("PARDO_CPU_DISCRETE", "1", 1);
    EXPECT_EXIT(std::exit(this_cpu()->allocate(8, MemoryKind::Device, nullptr)->host_visible() ? 1 : 0), testing::ExitedWithCode(0), "");
    unsetenv("PARDO_CPU_DISCRETE");
    EXPECT_TRUE(this_cpu()->allocate(8, MemoryKind::Device, nullptr)->host_visible());
}

}  // namespace
}  // namespace pardo::cpu
