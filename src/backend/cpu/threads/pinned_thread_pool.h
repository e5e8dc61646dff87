// src/backend/cpu/threads/pinned_thread_pool.h: threads that stay on their cores: those of a sub-device.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "base/affinity.h"

namespace pardo::cpu {

/// One thread a core, the caller counted, started at first use and kept. They are not threads of oneTBB: its workers serve every arena of
/// the process in turn, and would carry one sub-device's work to another's cores.
class PinnedThreadPool {
public:
    explicit PinnedThreadPool(CoreList cores) : cores_(std::move(cores)) {}
    const CoreList& cores() const noexcept { return cores_; }
    /// Calls f(data, part) for each part on the pool's cores, and rethrows the first exception. One call at a time; others wait.
    void run(int parts, void (*f)(void*, int), void* data);
    /// After fork(), in the child: the threads are not there any more.
    void revive_in_child();

private:
    void start_threads();  // with mutex_ held
    void serve();
    void work();

    const CoreList cores_;
    std::mutex turn_;  // held by the caller of run
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    int threads_ = 0;  // started, without callers
    bool started_ = false;
    std::uint64_t generation_ = 0;  // of jobs
    int wanted_ = 0;                // threads that may still join the job
    int working_ = 0;               // threads that have joined and not left
    // The job; written under mutex_ while no thread works.
    void (*f_)(void*, int) = nullptr;
    void* data_ = nullptr;
    int parts_ = 0;
    std::atomic<int> next_{0};
    std::exception_ptr raised_;
};

}  // namespace pardo::cpu
