// src/device/failure.cpp: which failures of a queue are not acknowledged.
#include "device/failure.h"

#include <algorithm>
#include <mutex>

#include "base/fork.h"

namespace pardo::device {
namespace {

/// One lock for all logs: failures are rare, and fork() has to hold it.
struct Logs {
    std::mutex mutex;
    std::vector<Ref<FailureLog>> unacknowledged;  // those that hold something
};

Logs& logs() {
    static Logs* const instance = [] {
        auto* made = new Logs;  // never destroyed: work may be in flight at exit
        hold_at_fork(made->mutex);
        return made;
    }();
    return *instance;
}

/// True for who is the first to acknowledge it.
bool acknowledge(Failure& failure) { return !failure.acknowledged.exchange(true, std::memory_order_acq_rel); }

Error with_count(const Error& error, std::uint64_t others) {
    if (others == 0) return error;
    const std::string text = std::to_string(others) + (others == 1 ? " more failure" : " more failures") + " of this queue";
    const std::string& message = error.message();
    if (message.empty() || message.back() != ')') return Error(error.code(), message + " (" + text + ")", error.origin());
    return Error(error.code(), message.substr(0, message.size() - 1) + "; " + text + ")", error.origin());
}

}  // namespace

FailureLog& FailureLog::of_no_queue() {
    static auto* const log = new Ref<FailureLog>(new FailureLog);  // never destroyed
    return **log;
}

void FailureLog::note(const std::shared_ptr<Failure>& failure) {
    if (failure->home == this || failure->acknowledged.load(std::memory_order_acquire)) return;
    if (!failure->home) failure->home = this;
    std::lock_guard lock(logs().mutex);
    if (failure->home != this && std::find(entries_.begin(), entries_.end(), failure) != entries_.end()) return;
    if (entries_.empty() && dropped_ == 0) logs().unacknowledged.emplace_back(this);
    if (entries_.size() >= most) {
        ++dropped_;
    } else {
        entries_.push_back(failure);
    }
    any_.store(true, std::memory_order_release);
}

void FailureLog::prune_locked() {
    std::erase_if(entries_, [](const auto& failure) { return failure->acknowledged.load(std::memory_order_acquire); });
    if (!entries_.empty() || dropped_ > 0 || !any_.load(std::memory_order_relaxed)) return;
    any_.store(false, std::memory_order_release);
    std::erase_if(logs().unacknowledged, [this](const Ref<FailureLog>& log) { return log.get() == this; });
}

void FailureLog::prune() {
    if (!any_.load(std::memory_order_acquire)) return;
    const Ref<FailureLog> alive(this);
    std::lock_guard lock(logs().mutex);
    prune_locked();
}

void FailureLog::raise() {
    if (!any_.load(std::memory_order_acquire)) return;
    const Ref<FailureLog> alive(this);
    std::shared_ptr<Failure> first;
    std::uint64_t others = 0;
    {
        std::lock_guard lock(logs().mutex);
        for (const std::shared_ptr<Failure>& failure : entries_) {
            if (!acknowledge(*failure)) continue;
            others += first != nullptr;
            if (!first) first = failure;
        }
        others += std::exchange(dropped_, 0);
        prune_locked();
    }
    if (first) throw with_count(first->error, others);
}

std::vector<std::string> FailureLog::take_all() {
    std::vector<std::string> messages;
    std::uint64_t dropped = 0;
    std::vector<Ref<FailureLog>> all;  // let go of after the lock
    {
        std::lock_guard lock(logs().mutex);
        all = logs().unacknowledged;
        for (const Ref<FailureLog>& log : all) {
            for (const std::shared_ptr<Failure>& failure : log->entries_) {
                if (acknowledge(*failure)) messages.push_back(failure->error.message());
            }
            dropped += std::exchange(log->dropped_, 0);
            log->prune_locked();
        }
    }
    if (dropped) messages.push_back("and " + std::to_string(dropped) + " more failures of submitted work");
    return messages;
}

}  // namespace pardo::device
