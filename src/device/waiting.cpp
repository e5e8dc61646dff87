// src/device/waiting.cpp: how threads wait: interruptibly, without the caller's language's lock, and never while they hold a graph lock.
#include "device/waiting.h"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include <pardo/binding/hooks.h>

#include "base/fork.h"
#include "device/event.h"

namespace pardo::device {
namespace {

std::atomic<std::optional<Error> (*)(bool)> interrupt_hook{nullptr};

thread_local HeldLocks held{};  // trivial, so that no access has to look whether it was constructed

}  // namespace

bool interruptible() noexcept { return interrupt_hook.load(std::memory_order_acquire) != nullptr; }

std::optional<Error> interruption(bool later) {
    auto* hook = interrupt_hook.load(std::memory_order_acquire);
    return hook ? hook(later) : std::nullopt;
}

double& WaitsNext::left_ns() noexcept {
    thread_local double left = 0;
    return left;
}
WaitsNext::WaitsNext(bool waits) noexcept : before_(left_ns()) {
    if (waits) left_ns() = 100'000;
}
WaitsNext::~WaitsNext() { left_ns() = before_; }

Blocking::Blocking() {
    if (forking_here()) return;
    if (auto* leave = blocking_hooks().leave.load(std::memory_order_acquire)) state_ = leave();
}

Blocking::~Blocking() {
    auto* enter = blocking_hooks().enter.load(std::memory_order_acquire);
    if (state_ && enter) enter(state_);
}

HeldLocks& held_locks() noexcept { return held; }

void wait_for_owed(HeldLocks& here) noexcept {
    while (here.owed) {
        const std::unique_ptr<std::vector<Event>> owed(std::exchange(here.owed, nullptr));
        bool interrupted = false;  // ends all of these waits: a routine of many launches owes one for each
        for (const Event& e : *owed) {
            if (interrupted) {
                e.abandon();
            } else {
                interrupted = e.state()->wait_or_ask(true).has_value();
            }
        }
    }
}

void wait_without_locks(const Event& event) {
    if (known_done(event)) return;
    HeldLocks& here = held;
    if (!here.owed) here.owed = new std::vector<Event>;
    here.owed->push_back(event);
    if (here.count == 0) wait_for_owed(here);
}

void finish_without_locks(const Event& event) {
    if (!event.state() || held.count == 0) {
        event.wait();
        if (const std::shared_ptr<Failure> failure = failure_of(event)) throw Error(failure->error);
        return;
    }
    check_wait(*event.state());
    wait_without_locks(event);
}

void finish_order(const Event& event) {
    if (!event.state() || !event.state()->waits_for_user_event()) finish_without_locks(event);
}

}  // namespace pardo::device

namespace pardo {

void set_interrupt_hook(std::optional<Error> (*asked)(bool later)) { device::interrupt_hook.store(asked, std::memory_order_release); }

}  // namespace pardo
