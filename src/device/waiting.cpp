// src/device/waiting.cpp: how threads wait: interruptibly, without the caller's language's lock, and never while they hold a graph lock.
#include "device/waiting.h"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "device/event.h"

namespace pardo::device {
namespace {

std::atomic<std::optional<Error> (*)(bool)> interrupt_hook{nullptr};

/// Of the calling thread. Trivial, so that no access has to look whether it was constructed: each launch takes several locks.
struct Held {
    int locks;
    std::vector<Event>* owed;  // null: nothing
};
thread_local Held held{};

void settle(Held& here) noexcept {
    while (here.owed) {
        const std::unique_ptr<std::vector<Event>> owed(std::exchange(here.owed, nullptr));
        for (const Event& e : *owed) (void)e.state()->wait_or_ask(true);
    }
}

}  // namespace

bool interruptible() noexcept { return interrupt_hook.load(std::memory_order_acquire) != nullptr; }

std::optional<Error> interruption(bool later) {
    auto* hook = interrupt_hook.load(std::memory_order_acquire);
    return hook ? hook(later) : std::nullopt;
}

Blocking::Blocking() {
    if (forking_here()) return;
    if (auto* leave = blocking_hooks().leave.load(std::memory_order_acquire)) state_ = leave();
}

Blocking::~Blocking() {
    auto* enter = blocking_hooks().enter.load(std::memory_order_acquire);
    if (state_ && enter) enter(state_);
}

void note_locks(int count) noexcept { held.locks += count; }

int locks_held() noexcept { return held.locks; }

void drop_lock() noexcept {
    Held& here = held;
    if (--here.locks == 0 && here.owed) settle(here);
}

void wait_without_locks(const Event& event) {
    if (known_done(event)) return;
    Held& here = held;
    if (!here.owed) here.owed = new std::vector<Event>;
    here.owed->push_back(event);
    if (here.locks == 0) settle(here);
}

void finish_without_locks(const Event& event) {
    if (!event.state() || held.locks == 0) return event.wait();
    check_wait(*event.state());
    wait_without_locks(event);
}

}  // namespace pardo::device

namespace pardo {

void set_interrupt_hook(std::optional<Error> (*asked)(bool later)) { device::interrupt_hook.store(asked, std::memory_order_release); }

}  // namespace pardo
