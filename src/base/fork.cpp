// src/base/fork.cpp: runs the handlers of all layers around fork().
#include "base/fork.h"

#include <pthread.h>

#include <array>
#include <new>
#include <vector>

namespace pardo {
namespace {

constexpr std::size_t stage_count = static_cast<std::size_t>(ForkStage::Moments) + 1;
using Stages = std::array<std::vector<ForkHandler>, stage_count>;

struct Handlers {
    std::mutex forking;  // held from the first preparation to the last release
    Stages prepared;     // those of the fork that is going on
    std::mutex mutex;    // guards `stages`; taken last, for handlers are added under other locks
    Stages stages;
};

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

Handlers& handlers() {
    static Handlers* const instance = [] {
        auto* made = new Handlers;  // never destroyed: threads may fork while the process ends
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        return made;
    }();
    return *instance;
}

/// Another thread that forks may have to wait for a lock of the caller's language that this one holds.
void lock_forking(std::mutex& mutex) {
    auto* leave = blocking_hooks().leave.load(std::memory_order_acquire);
    auto* enter = blocking_hooks().enter.load(std::memory_order_acquire);
    while (!mutex.try_lock()) {
        void* const state = leave && enter ? leave() : nullptr;
        mutex.lock();
        mutex.unlock();
        if (state) enter(state);
    }
}

void before_fork() {
    Handlers& h = handlers();
    lock_forking(h.forking);
    forking_here() = true;
    {
        const std::lock_guard lock(h.mutex);
        h.prepared = h.stages;
    }
    for (const auto& stage : h.prepared) {
        for (const ForkHandler& handler : stage) {
            if (handler.prepare) handler.prepare();
        }
    }
    h.mutex.lock();
}

/// The other way round, so that what was taken last is free first.
template <class Which> void after_fork(Which which) {
    Handlers& h = handlers();
    h.mutex.unlock();
    for (auto stage = h.prepared.rbegin(); stage != h.prepared.rend(); ++stage) {
        for (auto handler = stage->rbegin(); handler != stage->rend(); ++handler) {
            if (const auto& f = which(*handler)) f();
        }
    }
    forking_here() = false;
    h.forking.unlock();
}
void after_fork_in_parent() {
    after_fork([](const ForkHandler& h) -> const std::function<void()>& { return h.parent; });
}
void after_fork_in_child() {
    after_fork([](const ForkHandler& h) -> const std::function<void()>& { return h.child; });
}

}  // namespace

BlockingHooks& blocking_hooks() {
    static BlockingHooks hooks;
    return hooks;
}

bool& forking_here() {
    thread_local bool forking = false;
    return forking;
}

void at_fork(ForkStage stage, ForkHandler handler) {
    Handlers& h = handlers();
    const std::lock_guard lock(h.mutex);
    h.stages[static_cast<std::size_t>(stage)].push_back(std::move(handler));
}

void hold_at_fork(std::mutex& mutex) {
    at_fork(ForkStage::Moments, {[&mutex] { mutex.lock(); }, [&mutex] { mutex.unlock(); }, [&mutex] { mutex.unlock(); }});
}

void renew_at_fork(std::mutex& mutex) {
    at_fork(ForkStage::Moments, {{}, {}, [&mutex] { new (&mutex) std::mutex; }});
}

}  // namespace pardo
