// src/array/lend.h: memory of arrays that other code uses, where nothing has to be computed or waited for.
#pragma once

#include "device/buffer.h"
#include "graph/node.h"

namespace pardo::arrays {

/// Lends the memory of a Leaf to code that writes it too, or reads alone: the buffer has a reference more, and knows of it. False, and
/// nothing is done, where something that is recorded reads it, work uses it, or another thread has the lock.
inline bool lend_at_once(const graph::Node& leaf, bool writable) {
    device::Buffer& buffer = *leaf.buffer;
    bool lent = false;
    if (writable) {
        const auto add = [&]() noexcept {
            lent = buffer.readers.empty() && !buffer.busy();
            if (lent) buffer.add_external_writer();
        };
        (void)graph::state_of(leaf.queue.get()).lock.try_briefly(add);
    } else {
        lent = !buffer.written();
        if (lent) buffer.add_external_reader();
    }
    if (lent) buffer.retain();
    return lent;
}

inline void take_back(device::Buffer& buffer, bool writable) noexcept {
    writable ? buffer.drop_external_writer() : buffer.drop_external_reader();
    buffer.release();
}

}  // namespace pardo::arrays
