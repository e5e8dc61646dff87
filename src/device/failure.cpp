// src/device/failure.cpp: which failures of a queue are not acknowledged.
#include "device/failure.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include <pardo/binding/hooks.h>

#include "base/fork.h"

namespace pardo::device {
namespace {

/// One lock for all logs: failures are rare, and fork() has to hold it.
struct Logs {
    HeldMutex mutex;
    std::vector<Ref<FailureLog>> unacknowledged;  // those that hold something
    std::vector<std::shared_ptr<Failure>> lost;   // without handles, and not reported yet
    std::unordered_set<std::size_t> told;         // messages that have been reported, their hashes; the first ones, so many
};
constexpr std::size_t most_told = std::size_t{1} << 16;

std::atomic<void (*)()> lost_hook{nullptr};

Logs& logs() {
    static auto* const instance = new Logs;  // never destroyed: work may be in flight at exit
    return *instance;
}
[[maybe_unused]] const Logs& logs_at_start = logs();  // see at_fork

bool is_known(const Failure& failure) {
    return failure.acknowledged.load(std::memory_order_acquire) || failure.reported.load(std::memory_order_acquire);
}

/// What events share; Failure itself is shared with the logs.
struct FailureHandle {
    std::shared_ptr<Failure> failure;
    explicit FailureHandle(std::shared_ptr<Failure> f) : failure(std::move(f)) {}
    FailureHandle(const FailureHandle&) = delete;
    ~FailureHandle() {
        failure->held = false;
        if ((!failure->of_data && !failure->queue_gone) || is_known(*failure)) return;
        {
            const std::lock_guard lock(logs().mutex);
            if (logs().lost.size() >= FailureLog::most) return;  // the logs know of them
            logs().lost.push_back(std::move(failure));
        }
        if (auto* hook = lost_hook.load(std::memory_order_acquire)) hook();
    }
};

/// True for who is the first to acknowledge it.
bool acknowledge(Failure& failure) { return !failure.acknowledged.exchange(true, std::memory_order_acq_rel); }

/// Failures of one kind have one message.
std::size_t kind_of(const Error& error) { return std::hash<std::string>()(error.message()); }

Error with_count(const Error& error, std::uint64_t others, const char* where) {
    if (others == 0) return error;
    const std::string text = std::to_string(others) + (others == 1 ? " more failure " : " more failures ") + where;
    const std::string& message = error.message();
    if (message.empty() || message.back() != ')') return error.with_message(message + " (" + text + ")");
    return error.with_message(message.substr(0, message.size() - 1) + "; " + text + ")");
}

}  // namespace

std::shared_ptr<Failure> Failure::make(Error error, bool acknowledged) {
    const auto handle = std::make_shared<FailureHandle>(std::make_shared<Failure>(std::move(error)));
    handle->failure->acknowledged = acknowledged;
    return {handle, handle->failure.get()};
}

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
        const std::size_t kind = kind_of(failure->error);
        if (dropped_kinds_.size() < most || dropped_kinds_.contains(kind)) ++dropped_kinds_[kind];
    } else {
        entries_.push_back(failure->shared_from_this());
    }
    any_.store(true, std::memory_order_release);
}

void FailureLog::prune_locked() {
    std::erase_if(entries_, [](const auto& failure) { return failure->acknowledged.load(std::memory_order_acquire); });
    if (!entries_.empty() || dropped_ > 0 || !any_.load(std::memory_order_relaxed)) return;
    any_.store(false, std::memory_order_release);
    std::erase_if(logs().unacknowledged, [this](const Ref<FailureLog>& log) { return log.get() == this; });
}

void FailureLog::prune(const Failure* seen) {
    if (!any_.load(std::memory_order_acquire)) return;
    const Ref<FailureLog> alive(this);
    std::lock_guard lock(logs().mutex);
    const auto kind = seen && !dropped_kinds_.empty() ? dropped_kinds_.find(kind_of(seen->error)) : dropped_kinds_.end();
    if (kind != dropped_kinds_.end() && --kind->second == 0) dropped_kinds_.erase(kind);
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
        dropped_kinds_.clear();
        prune_locked();
    }
    if (first) throw with_count(first->error, others, "of this queue");
}

void FailureLog::lose() {
    if (!any_.load(std::memory_order_acquire)) return;
    bool some = false;
    {
        const std::lock_guard lock(logs().mutex);
        for (const std::shared_ptr<Failure>& failure : entries_) {
            if (failure->of_data || is_known(*failure)) continue;
            failure->queue_gone = true;
            if (failure->held) continue;  // its event may still be waited for
            logs().lost.push_back(failure);
            some = true;
        }
    }
    auto* hook = some ? lost_hook.load(std::memory_order_acquire) : nullptr;
    if (hook) hook();
}

std::vector<UnseenFailure> FailureLog::take_unseen(Unseen which) {
    struct Kind {
        const Failure* first;
        std::uint64_t more = 0;
    };
    std::vector<Kind> kinds;
    std::unordered_map<std::size_t, std::size_t> places;  // in that list, by kind
    std::unordered_map<std::size_t, std::uint64_t> dropped;
    std::vector<std::shared_ptr<Failure>> lost;  // let go of after the lock, as the logs
    std::vector<Ref<FailureLog>> all;
    const auto take = [&](const std::shared_ptr<Failure>& failure) {
        if (failure->acknowledged.load(std::memory_order_acquire)) return;
        if (failure->reported.exchange(true, std::memory_order_acq_rel)) return;
        const std::size_t kind = kind_of(failure->error);
        if (logs().told.size() < most_told) logs().told.insert(kind);
        const auto [place, is_new] = places.emplace(kind, kinds.size());
        is_new ? kinds.push_back({failure.get()}) : void(++kinds[place->second].more);
    };
    std::vector<UnseenFailure> failures;
    {
        const std::lock_guard lock(logs().mutex);
        lost.swap(logs().lost);
        for (const auto& failure : lost) take(failure);
        if (which != Unseen::Lost) all = logs().unacknowledged;
        for (const Ref<FailureLog>& log : all) {
            for (const auto& failure : log->entries_) take(failure);
            if (which != Unseen::Last) continue;
            for (const auto& [kind, count] : std::exchange(log->dropped_kinds_, {})) dropped[kind] += count;
        }
        for (const auto& [kind, place] : places) {
            if (const auto more = dropped.find(kind); more != dropped.end()) kinds[place].more += more->second;
        }
        std::erase_if(dropped, [](const auto& kind) { return logs().told.contains(kind.first); });
        for (const Kind& kind : kinds)
            failures.push_back({with_count(kind.first->error, kind.more, "of this kind"), kind.first->location.str()});
    }
    if (!dropped.empty()) {
        const std::string text = "and " + std::to_string(dropped.size()) + " more kinds of failures of submitted work";
        failures.push_back({Error(ErrorCode::Internal, text), {}});
    }
    return failures;
}

}  // namespace pardo::device

namespace pardo {

std::vector<UnseenFailure> take_unseen_failures(Unseen which) { return device::FailureLog::take_unseen(which); }
void set_lost_failure_hook(void (*hook)()) { device::lost_hook.store(hook, std::memory_order_release); }

}  // namespace pardo
