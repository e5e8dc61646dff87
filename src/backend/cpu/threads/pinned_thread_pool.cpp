// src/backend/cpu/threads/pinned_thread_pool.cpp: threads that stay on their cores, and share the parts of one job after another.
#include "backend/cpu/threads/pinned_thread_pool.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/counters.h"
#include "base/env.h"

namespace pardo::cpu {

void PinnedThreadPool::run(int parts, void (*f)(void*, int), void* data) {
    const std::lock_guard turn(turn_);
    const Bound bound(cores_);
    int wanted = 0;
    {
        const std::lock_guard lock(mutex_);
        if (!started_) start_threads();
        f_ = f;
        data_ = data;
        parts_ = parts;
        next_.store(0, std::memory_order_relaxed);
        raised_ = nullptr;
        wanted = wanted_ = std::min(parts - 1, threads_);
        ++generation_;
    }
    if (wanted == 1) {
        wake_.notify_one();
    } else {
        wake_.notify_all();
    }
    work();
    std::unique_lock lock(mutex_);
    wanted_ = 0;  // a thread that has not woken up by now has nothing left to do
    done_.wait(lock, [this] { return working_ == 0; });
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

void PinnedThreadPool::work() {
    for (int part = next_.fetch_add(1, std::memory_order_relaxed); part < parts_; part = next_.fetch_add(1, std::memory_order_relaxed)) {
        try {
            f_(data_, part);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!raised_) raised_ = std::current_exception();
        }
    }
}

void PinnedThreadPool::start_threads() {
    started_ = true;
    for (std::size_t i = 1; i < cores_.size(); ++i) {
        try {
            std::thread([this] { serve(); }).detach();
            ++threads_;
        } catch (const std::system_error& e) {  // those that there are do all parts
            counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
            warn_once("cpu pool thread", std::string("no thread for a sub-device's core: ") + e.what());
            return;
        }
    }
}

void PinnedThreadPool::serve() {
    const Bound bound(cores_);
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [&] { return generation_ != seen && wanted_ > 0; });
        seen = generation_;
        --wanted_;
        ++working_;
        lock.unlock();
        work();
        lock.lock();
        if (--working_ == 0) done_.notify_one();
    }
}

void PinnedThreadPool::revive_in_child() {
    // Locks may be held, and conditions count waiters, by threads that are not here.
    new (&turn_) std::mutex;
    new (&mutex_) std::mutex;
    new (&wake_) std::condition_variable;
    new (&done_) std::condition_variable;
    started_ = false;
    threads_ = wanted_ = working_ = 0;
}

}  // namespace pardo::cpu
