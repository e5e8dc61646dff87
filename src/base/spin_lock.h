// src/base/spin_lock.h: a lock for a few instructions.
#pragma once

#include <atomic>
#include <thread>

namespace pardo {

/// Held for a few instructions at a time. A thread that waits longer yields the processor.
class SpinLock {
public:
    void lock() noexcept {
        for (int spins = 0; locked_.exchange(true, std::memory_order_acquire); ++spins) {
            if (spins > 64) std::this_thread::yield();
        }
    }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> locked_{false};
};

}  // namespace pardo
