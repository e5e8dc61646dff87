// src/launch/lock.cpp: locks of functions and of their variants.
#include "launch/lock.h"

#include <cstddef>
#include <cstdint>

#include "base/fork.h"

namespace pardo::launch {
namespace {

/// Enough of them that threads seldom meet.
struct Locks {
    static constexpr int bits = 6;
    struct alignas(64) Lock {
        std::mutex mutex;
    };
    Lock all[std::size_t{1} << bits];
    Locks() {
        for (Lock& lock : all) hold_at_fork(lock.mutex);
    }
};

[[maybe_unused]] const std::mutex& locks_at_start = lock_of(nullptr);  // see at_fork

}  // namespace

std::mutex& lock_of(const void* object) {
    static Locks* const locks = new Locks;  // never destroyed: threads may launch while the process ends
    // Spread by a multiplication: neighbours get different locks.
    const std::uint64_t spread = reinterpret_cast<std::uintptr_t>(object) / alignof(std::max_align_t) * 0x9e3779b97f4a7c15u;
    return locks->all[spread >> (64 - Locks::bits)].mutex;
}

}  // namespace pardo::launch
