// src/backend/cpu/threads/threads.h: the threads of a CPU device: one oneTBB arena, made at first use and again after fork(), or pinned
// threads. This folder: who computes: threads, where they run, and how they share work.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <type_traits>

#include "base/affinity.h"

namespace pardo::cpu {

/// Work below this runs on the calling thread alone: waking others costs about as much.
inline constexpr double serial_limit_ns = 20'000;

/// What is known of the threads that this process may have on a machine that others use too; 0: nothing.
struct ThreadLimits {
    int cores = 0;           // available_cores()
    int neighbours = 0;      // processes, this one among them, that a launcher such as mpiexec says it has started on this machine
    int launcher_cores = 0;  // which they share
    int wish = 0;            // OMP_NUM_THREADS, which joblib, Dask and torchrun set for the processes that they start
};
ThreadLimits thread_limits();
/// One a core of the process; its share of the launcher's cores, if that is less, and no more than it is wished.
int default_threads(const ThreadLimits& limits);
/// PARDO_NUM_THREADS, else default_threads(). Throws Value when the variable is nonsense.
int configured_threads();
/// Cores this process may run on: of its affinity mask, and no more than its container's share of time.
int available_cores();

/// How parts come to threads.
enum class Schedule : std::uint8_t {
    Static,        // each thread gets as many
    WorkStealing,  // a thread that is done takes work of others
    Isolated,      // as Static, and the caller takes nothing of other calls while it waits: it is in the middle of a part itself
};

class PinnedThreadPool;

/// Runs numbered parts in parallel. Safe from any thread; a part that calls run() again runs its parts serially.
class ThreadPool {
public:
    explicit ThreadPool(int threads);
    /// One thread a core, bound to these.
    explicit ThreadPool(CoreList cores);
    ~ThreadPool();

    int threads() const noexcept { return threads_; }
    /// Cores that work has to stay on; empty when it may go anywhere.
    const CoreList& cores() const noexcept { return cores_; }
    /// Calls f(part) for each part in [0, parts), part i on thread i as far as that can be had; rethrows the first exception.
    template <class F> void run(int parts, F&& f, Schedule schedule = Schedule::Static) {
        if (parts <= 1 || threads_ <= 1 || inside()) {
            for (int i = 0; i < parts; ++i) f(i);
            return;
        }
        run_parallel(
            parts, [](void* data, int part) { (*static_cast<std::remove_reference_t<F>*>(data))(part); }, &f, schedule);
    }
    /// True inside a part, on any pool.
    static bool inside() noexcept;

    /// Ends the threads, so that fork() copies none of their state, and holds run() up until the fork is over; then it starts new ones.
    /// Does nothing on a thread that computes.
    void stop_for_fork();
    void go_on_after_fork();
    void revive_in_child();

private:
    struct Arena;
    void run_on_arena(int parts, void (*f)(void*, int), void* data, Schedule schedule);
    void run_parallel(int parts, void (*f)(void*, int), void* data, Schedule schedule);

    const CoreList cores_;
    std::unique_ptr<PinnedThreadPool> pinned_;  // of a bound pool
    int threads_;                               // 1 in a child that cannot have more
    std::mutex turn_;                           // taken before `running_`, so that a fork comes next
    std::shared_mutex running_;                 // shared by those that use the arena
    bool stopped_ = false;                      // both are held for a fork
    bool finalized_ = true;                     // oneTBB's threads ended for it
    Arena* arena_ = nullptr;                    // made under turn_
};

}  // namespace pardo::cpu
