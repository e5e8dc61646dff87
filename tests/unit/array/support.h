// tests/unit/array/support.h: arrays on a device that records launches and computes nothing.
#pragma once

#include <pardo/ops.h>
#include <pardo/queue.h>

namespace pardo::arrays {

inline Queue null_queue() {
    static const Queue queue = Queue::of(Device("null"));
    return queue;
}

inline Array make(std::initializer_list<std::int64_t> shape, DType t = DType::Float64) { return empty(shape, t, null_queue()); }

/// An array of ones.
inline Array sample(DType t, std::initializer_list<std::int64_t> shape = {1}) { return full(shape, Scalar(1), t, null_queue()); }

}  // namespace pardo::arrays
