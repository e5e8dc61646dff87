// src/device/failure.h: why work failed, and which failures of a queue are not acknowledged. docs/design/errors.md has the states.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <pardo/error.h>

#include "base/ref.h"

namespace pardo::device {

class FailureLog;

/// Why work failed. Work that depended on it shares the record, so that it is raised once, by the first wait.
struct Failure {
    explicit Failure(Error e) : error(std::move(e)) {}
    Error error;
    std::atomic<bool> acknowledged{false};
    const FailureLog* home = nullptr;  // where it was noted first; set before others see it
};

/// How far work came that failed.
enum class Reach : std::uint8_t {
    Nothing,     // it never ran: its memory holds what was there before
    Everything,  // it ran to its end and noted a failure: what it writes is there, as far as it went
    Part,        // it was stopped in the middle: its memory holds neither
};

/// The failures of one queue that are not acknowledged, oldest first. It outlives the queue while there are some, and belongs to nothing
/// else: a runaway loop fills its own log, which keeps the first ones and counts the rest.
class FailureLog : public RefCounted<FailureLog> {
public:
    static constexpr std::size_t most = 1024;

    /// Of work that belongs to no queue: user events.
    static FailureLog& of_no_queue();
    /// Before the event that failed is complete for anybody. The same failure is kept once.
    void note(const std::shared_ptr<Failure>& failure);
    /// Raises the oldest one, which names how many there are besides: from then on all are acknowledged. Cheap when there is none.
    void raise();
    /// Lets go of those that are acknowledged.
    void prune();
    /// Messages of all logs, of queues that are gone too; each is given once.
    static std::vector<std::string> take_all();

private:
    void prune_locked();
    std::vector<std::shared_ptr<Failure>> entries_;
    std::uint64_t dropped_ = 0;
    std::atomic<bool> any_{false};  // entries_ or dropped_, readable without the lock
};

}  // namespace pardo::device
