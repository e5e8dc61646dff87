// include/pardo/queue.h: where work is submitted, in order or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pardo/device.h>
#include <pardo/event.h>
#include <pardo/export.h>

namespace pardo {

namespace device {
class Queue;
}

enum class QueueOrder : std::uint8_t { InOrder, OutOfOrder };

/// A queue of one device; a cheap, copyable handle, safe from any thread.
class PARDO_API Queue {
public:
    /// The canonical queue of the default device.
    Queue();
    /// The canonical queue of a device.
    static Queue of(const Device& device);
    /// A new queue.
    explicit Queue(const Device& device, QueueOrder order = QueueOrder::InOrder, bool profiling = false);
    explicit Queue(device::Queue* impl);
    Queue(const Queue&);
    Queue& operator=(const Queue&);
    ~Queue();

    Device device() const;
    QueueOrder order() const;
    bool profiling() const;
    /// Blocks until everything submitted is complete; raises the first failure nobody has heard of, once.
    void wait() const;
    /// An event that completes after everything submitted so far.
    Event submit_barrier() const;
    friend bool operator==(const Queue& a, const Queue& b) { return a.impl_ == b.impl_; }
    device::Queue* impl() const { return impl_; }

private:
    device::Queue* impl_;
};

}  // namespace pardo
