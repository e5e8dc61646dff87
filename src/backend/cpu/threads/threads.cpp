// src/backend/cpu/threads/threads.cpp: parts of a kernel on the cores, by oneTBB.
#include "backend/cpu/threads/threads.h"

#include <sched.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pardo/error.h>

#include "backend/cpu/container.h"
#include "backend/cpu/threads/pinned_thread_pool.h"
#include "base/counters.h"
#include "base/env.h"
#include "device/event.h"

namespace pardo::cpu {
namespace {

constexpr int max_threads = 4096;

thread_local int depth = 0;  // of parts on this thread

struct Inside {
    Inside() { ++depth; }
    ~Inside() { --depth; }
};

/// Of the affinity mask of a process, 0: this one; 0 where it cannot be read.
int cores_of_process(pid_t process) {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// More threads than a container's share of time would be stopped in turn, at any place; 0: it has no such limit.
int cores_of_container() {
    static const double share = container_limits().cores;
    return static_cast<int>(std::ceil(share));
}

/// The number that a variable of other programs begins with, "4" and "4,2"; 0 for what is none.
int leading_number(const char* name) {
    int value = 0;
    if (const std::optional<std::string> text = env(name)) std::from_chars(text->data(), text->data() + text->size(), value);
    return std::clamp(value, 0, max_threads);
}

}  // namespace

int available_cores() {
    int cores = cores_of_process(0);
    if (cores == 0) cores = static_cast<int>(std::thread::hardware_concurrency());  // more cores than a cpu_set_t holds
    if (const int share = cores_of_container()) cores = std::min(cores, share);
    return std::max(cores, 1);
}

int default_threads(const ThreadLimits& limits) {
    int threads = limits.cores;
    if (limits.neighbours > 1) {  // bound to cores of its own, or left to share those that its launcher has
        const int all = std::max(limits.launcher_cores, limits.cores);
        threads = std::min(threads, std::max(all / limits.neighbours, 1));
    }
    if (limits.wish > 0) threads = std::min(threads, limits.wish);
    return std::max(threads, 1);
}

ThreadLimits thread_limits() {
    ThreadLimits limits;
    limits.cores = available_cores();
    // Open MPI, MPICH and Intel MPI, MVAPICH, torchrun.
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "LOCAL_WORLD_SIZE"}) {
        if (limits.neighbours < 2) limits.neighbours = leading_number(name);
    }
    if (limits.neighbours > 1) {
        limits.launcher_cores = cores_of_process(::getppid());
        if (const int share = cores_of_container()) limits.launcher_cores = std::min(limits.launcher_cores, share);
    }
    limits.wish = leading_number("OMP_NUM_THREADS");
    return limits;
}

int configured_threads() {
    const std::optional<std::string> wish = env("PARDO_NUM_THREADS");
    if (!wish) return default_threads(thread_limits());
    int value = 0;
    const char* last = wish->data() + wish->size();
    const auto [end, error] = std::from_chars(wish->data(), last, value);
    if (error != std::errc() || end != last || value < 1 || value > max_threads) {
        throw Error(ErrorCode::Value,
                    "PARDO_NUM_THREADS=" + *wish + ": expected a whole number of threads from 1 to " + std::to_string(max_threads));
    }
    return value;
}

struct ThreadPool::Arena {
    explicit Arena(int threads) : handle(tbb::attach{}), arena(threads, 1) {
        if (threads > tbb::info::default_concurrency())
            limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    }
    tbb::task_scheduler_handle handle;
    tbb::task_arena arena;
    std::unique_ptr<tbb::global_control> limit;  // lets TBB make more threads than there are cores
};

ThreadPool::ThreadPool(int threads) : threads_(threads) {}
ThreadPool::ThreadPool(CoreList cores)
    : cores_(std::move(cores)), pinned_(std::make_unique<PinnedThreadPool>(cores_)), threads_(static_cast<int>(cores_.size())) {}
ThreadPool::~ThreadPool() { delete arena_; }

bool ThreadPool::inside() noexcept { return depth > 0; }

#if defined(__SANITIZE_THREAD__)
// The sanitizer does not see how oneTBB, which is not built with it, hands work from thread to thread.
void ThreadPool::run_on_arena(int parts, void (*f)(void*, int), void* data, Schedule) {
    std::unique_lock turn(turn_);
    const std::shared_lock lock(running_);
    turn.unlock();
    std::exception_ptr raised;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (int i = 0; i < parts; ++i) {
        threads.emplace_back([&, i] {
            Inside inside;
            try {
                f(data, i);
            } catch (...) {
                std::lock_guard lock(mutex);
                raised = std::current_exception();
            }
        });
    }
    for (std::thread& t : threads) t.join();
    if (raised) std::rethrow_exception(raised);
}
#else
void ThreadPool::run_on_arena(int parts, void (*f)(void*, int), void* data, Schedule schedule) {
    std::unique_lock turn(turn_);
    const std::shared_lock lock(running_);
    const Bound anywhere(any_core());  // oneTBB's threads inherit from the one that asks for them
    if (!arena_) arena_ = new Arena(threads_);
    tbb::task_arena& arena = arena_->arena;
    turn.unlock();
    arena.execute([&] {
        const auto body = [&](const tbb::blocked_range<int>& range) {
            Inside inside;
            for (int i = range.begin(); i < range.end(); ++i) f(data, i);
        };
        const tbb::blocked_range<int> all(0, parts, 1);
        const auto evenly = [&] { tbb::parallel_for(all, body, tbb::static_partitioner()); };
        if (schedule == Schedule::Static)
            evenly();
        else if (schedule == Schedule::Isolated)
            tbb::this_task_arena::isolate(evenly);
        else
            tbb::parallel_for(all, body, tbb::simple_partitioner());
    });
}
#endif

void ThreadPool::run_parallel(int parts, void (*f)(void*, int), void* data, Schedule schedule) {
    if (!pinned_) return run_on_arena(parts, f, data, schedule);
    std::unique_lock turn(turn_);
    const std::shared_lock lock(running_);
    turn.unlock();
    struct Parts {
        void (*f)(void*, int);
        void* data;
    } all{f, data};
    const auto run_part = [](void* p, int part) {
        const Inside inside;
        static_cast<Parts*>(p)->f(static_cast<Parts*>(p)->data, part);
    };
    pinned_->run(parts, run_part, &all);
}

void ThreadPool::stop_for_fork() {
    if (inside() || device::inside_task()) return;
    turn_.lock();
    running_.lock();
    stopped_ = true;
    Arena* a = std::exchange(arena_, nullptr);
    if (!a) return;
    a->arena.terminate();
    a->limit.reset();
    finalized_ = tbb::finalize(a->handle, std::nothrow);
    if (!finalized_) {
        counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
        log(LogLevel::Info, "fork: other users of oneTBB are active, so the child computes on one thread");
    }
    delete a;
}

void ThreadPool::go_on_after_fork() {
    if (!std::exchange(stopped_, false)) return;
    running_.unlock();
    turn_.unlock();
}

void ThreadPool::revive_in_child() {
    // They may be held by threads that are not here, and the shared one knows its holder by a thread id that is another one here.
    new (&running_) std::shared_mutex;
    new (&turn_) std::mutex;
    if (pinned_) pinned_->revive_in_child();
    // oneTBB that was not ended may have locks held by threads that are not here either: it is not called again.
    if (!std::exchange(stopped_, false) || !finalized_) threads_ = 1;
}

}  // namespace pardo::cpu
