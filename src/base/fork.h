// src/base/fork.h: what fork() has to find at rest, in one order for all layers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

namespace pardo {

/// Prepared from the first to the last: a thread that holds something of one stage may wait for a later one, never the other way round.
enum class ForkStage : std::uint8_t {
    Graphs,     // under a graph lock work is compiled, submitted and waited for
    Launches,   // launches that are queued and have no program yet
    Compilers,  // threads that compile without a graph lock, and those that launch kernels
    Programs,   // the program cache
    Queues,     // queues run empty, threads end, allocators rest
    Moments,    // locks under which no thread waits for anything
};
/// What happens before fork() and after it, on the thread that calls it. Each may be empty.
struct ForkHandler {
    std::function<void()> prepare, parent, child;
};
/// Adds a handler; it stays for ever. A fork that has begun does not know it: what has handlers is made when the library is loaded, by a
/// reference at its side, not by the thread that needs it first.
void at_fork(ForkStage stage, ForkHandler handler);
/// Holds a lock of the last stage while the process forks; the lock lives as long as the process.
void hold_at_fork(std::mutex& mutex);
/// A lock that is held so, made for ever.
struct HeldMutex : std::mutex {
    HeldMutex() { hold_at_fork(*this); }
};
/// Makes a lock anew in the child, whoever held it: of what is no use there, or is made once more. It lives as long as the process.
void renew_at_fork(std::mutex& mutex);

/// What pardo::set_blocking_hooks has been given; null without.
struct BlockingHooks {
    std::atomic<void* (*)()> leave{nullptr};
    std::atomic<void (*)(void*)> enter{nullptr};
};
BlockingHooks& blocking_hooks();
/// True on a thread that forks, from the first handler to the last: no other thread may come in between, and no hook is called.
bool& forking_here();

}  // namespace pardo
