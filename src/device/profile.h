// src/device/profile.h: how queues and compilers report to open profiles.
//
// A queue asks `recording()` once a submission and keeps the answer: if it is true, it makes the work's event keep times as on a profiling
// queue, and then calls `record` in one line:
//
//     const bool noted = device::recording();
//     Event event = submit(…, /*timed=*/profiling_ || noted);
//     if (noted) device::record({Activity::Kernel, this, device::label_of(launch), device::amount_of(launch)}, event);
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include <pardo/profile.h>

#include "device/device.h"

namespace pardo::device {

/// How many profiles are open.
extern std::atomic<int> open_profiles;
inline bool recording() noexcept { return open_profiles.load(std::memory_order_relaxed) != 0; }

/// What a queue says of a submission. A label without a location gets that of the calling thread's line.
struct Submission {
    Activity activity;
    Queue* queue;
    Label label;
    Amount amount{};
};

/// Notes work whose times its event has, now or when it is complete.
void record(Submission submission, const Event& event);
/// Notes work that is over and ran between two times of now_ns().
void record(Submission submission, std::int64_t start, std::int64_t end);
/// Notes that a program was made on the calling thread: Compile or Load.
void record_program(Activity activity, std::string_view kernel, std::int64_t start, std::int64_t end);

/// Runs `f` on the calling thread; `describe` makes the Submission, if a profile is open.
template <class F, class Describe> void record_around(F&& f, Describe&& describe) {
    if (!recording()) return f();
    const std::int64_t start = now_ns();
    f();
    const std::int64_t end = now_ns();
    record(describe(), start, end);
}

/// Name and line of a launch, as messages and profiles show them.
Label label_of(const Launch& launch);
inline Amount amount_of(const Launch& launch) noexcept { return {launch.bytes_read, launch.bytes_written, launch.operations}; }

}  // namespace pardo::device
