// src/routines/recorder.h: takes routines in the place of computing them, for programs that leave the process.
#pragma once

#include <atomic>
#include <functional>

#include "routines/fields.h"

namespace pardo::routines {

class RoutineBase;

/// While it is current, routines on its device are given to it.
class Recorder {
public:
    explicit Recorder(const device::Device* device) : device_(device) {}
    virtual ~Recorder() = default;
    Recorder(const Recorder&) = delete;
    /// A call whose arguments `walk` gives.
    virtual void take(const RoutineBase& routine, const std::function<void(Fields&)>& walk) = 0;
    /// Throws: a call of which values decide how many elements its result has.
    [[noreturn]] virtual void refuse_count(const char* op_name) = 0;

    /// Null: none.
    static void set(Recorder* recorder) { current.store(recorder, std::memory_order_release); }
    static Recorder* of(const device::Queue* queue) {
        Recorder* const recorder = current.load(std::memory_order_acquire);
        return recorder && recorder->device_ == queue->device() ? recorder : nullptr;
    }

private:
    inline static constinit std::atomic<Recorder*> current{nullptr};
    const device::Device* device_;
};

}  // namespace pardo::routines
