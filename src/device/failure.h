// src/device/failure.h: why work failed, and which failures of a queue are not acknowledged. docs/design/errors.md has the states.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <pardo/binding/hooks.h>
#include <pardo/error.h>
#include <pardo/event.h>

#include "base/ref.h"
#include "base/text.h"

namespace pardo::device {

class FailureLog;

/// Why work failed. Work that depended on it shares the record, so that waits raise it once.
struct Failure : std::enable_shared_from_this<Failure> {
    explicit Failure(Error e) : error(std::move(e)) {}  // NOLINT(bugprone-throw-keyword-missing): not thrown, kept
    /// A failure by its handle, which events hold. When the last copy goes without an acknowledgement, it is lost.
    static std::shared_ptr<Failure> make(Error error, bool acknowledged = false);
    Error error;
    Text location;  // of the submission; set before others see it
    std::atomic<bool> acknowledged{false};
    std::atomic<bool> reported{false};  // as one that was not observed
    std::atomic<bool> of_data{false};   // elements have failed by it; one of no data has its queue for a handle besides
    std::atomic<bool> held{true};       // by events
    std::atomic<bool> queue_gone{false};
    const FailureLog* home = nullptr;  // where it was noted first; set before others see it
};

/// The failures of one queue that are not acknowledged, oldest first; it is no handle to them. It outlives the queue while there are some,
/// and belongs to nothing else: a runaway loop fills its own log, which keeps the first ones and counts the rest.
class FailureLog : public RefCounted<FailureLog> {
public:
    static constexpr std::size_t most = 1024;

    /// Of work that belongs to no queue: user events.
    static FailureLog& of_no_queue();
    /// Before the event that failed is complete for any thread. The same failure is kept once.
    void note(const std::shared_ptr<Failure>& failure);
    /// Raises the oldest one, which names how many there are besides: from then on all are acknowledged. Cheap when there is none.
    void raise();
    /// Lets go of those that are acknowledged, `seen` among them.
    void prune(const Failure* seen = nullptr);
    /// The queue is gone: failures of no data, for which no wait can be made any more, are lost ones.
    void lose();
    /// As pardo::take_unseen_failures.
    static std::vector<UnseenFailure> take_unseen(Unseen which);

private:
    void prune_locked();
    std::vector<std::shared_ptr<Failure>> entries_;
    std::uint64_t dropped_ = 0;
    std::unordered_map<std::size_t, std::uint64_t> dropped_kinds_;  // how many of each, by their message's hash; of so many kinds
    std::atomic<bool> any_{false};                                  // entries_ or dropped_, readable without the lock
};

}  // namespace pardo::device
