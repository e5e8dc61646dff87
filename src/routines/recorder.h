// src/routines/recorder.h: takes routines in the place of computing them, for programs that leave the process.
#pragma once

#include <atomic>
#include <functional>

#include "routines/fields.h"

namespace pardo::routines {

class RoutineBase;

/// While it lives, routines on its device are given to it.
class Recorder {
public:
    explicit Recorder(const device::Device* device);
    virtual ~Recorder();
    Recorder(const Recorder&) = delete;
    /// A call whose arguments `walk` gives.
    virtual void take(const RoutineBase& routine, const std::function<void(Fields&)>& walk) = 0;
    /// Throws: a call of which values decide how many elements its result has.
    [[noreturn]] virtual void refuse_count(const char* op_name) = 0;

    /// Null: there is none.
    static Recorder* of(const device::Queue* queue) { return count.load(std::memory_order_relaxed) == 0 ? nullptr : find(queue->device()); }

private:
    static Recorder* find(const device::Device* device);
    inline static constinit std::atomic<int> count{0};
    const device::Device* device_;
};

}  // namespace pardo::routines
