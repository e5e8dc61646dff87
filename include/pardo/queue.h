// include/pardo/queue.h: where work is submitted, in order or not.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pardo/device.h>
#include <pardo/event.h>
#include <pardo/export.h>
#include <pardo/extents.h>

namespace pardo {

namespace device {
class Queue;
}
class Array;

/// Whether work runs in the order in which it was submitted.
enum class QueueOrder : std::uint8_t { InOrder, OutOfOrder };

/// Devices of one platform that work together. Two contexts of the same devices are equal.
class PARDO_API Context {
public:
    /// Throws Value when there is none, one is given twice, or they are of different platforms.
    explicit Context(ListOf<Device> devices);
    explicit Context(std::initializer_list<Device> devices) : Context(ListOf<Device>(devices)) {}  ///< the same from devices in braces
    Context(const Context&) = default;  // moves copy: no handle is without devices
    Context& operator=(const Context&) = default;
    const std::vector<Device>& devices() const noexcept { return *devices_; }  ///< in the order in which they were given
    bool contains(const Device& device) const;                                 ///< true of its devices
    friend bool operator==(const Context& a, const Context& b) { return *a.devices_ == *b.devices_; }

private:
    std::shared_ptr<const std::vector<Device>> devices_;
};

/// A box of bytes in two blocks: `region` is bytes a row, rows, and planes; origins are in bytes, rows and planes; pitches in bytes from
/// row to row and from plane to plane, 0 where rows and planes are contiguous.
struct Rect {
    std::int64_t region[3] = {0, 1, 1};                                 ///< bytes a row, rows, planes
    std::int64_t to_origin[3] = {0, 0, 0}, from_origin[3] = {0, 0, 0};  ///< bytes, rows, planes
    std::int64_t to_pitches[2] = {0, 0}, from_pitches[2] = {0, 0};      ///< bytes from row to row, from plane to plane
};

/// A queue of one device; a cheap, copyable handle, safe from any thread.
class PARDO_API Queue {
public:
    /// The canonical queue of the default device.
    Queue();
    /// The canonical queue of a device, or the one that it remembers (Array::device).
    static Queue of(const Device& device);
    /// A new queue.
    explicit Queue(const Device& device, QueueOrder order = QueueOrder::InOrder, bool profiling = false);
    /// A new queue that touches memory of the context's devices only. Throws Placement when `device` is not one of them.
    Queue(const Context& context, const Device& device, QueueOrder order = QueueOrder::InOrder, bool profiling = false);
    explicit Queue(device::Queue* impl);  ///< internal
    Queue(const Queue&);
    Queue& operator=(const Queue&);
    ~Queue();

    Device device() const;     ///< where its work runs
    QueueOrder order() const;  ///< in order or not
    bool profiling() const;    ///< true where events have times
    /// Blocks until everything submitted is complete; raises the first failure that is not acknowledged yet, once.
    void wait() const;
    /// The devices that it was made for; those of its device's platform if it was made without a context.
    Context context() const;

    /// Completes after everything submitted so far, and `depends`; all that is submitted later waits for it.
    Event barrier(ListOf<Event> depends = {}) const;
    /// Completes after everything submitted so far; later work does not wait for it.
    Event marker() const;
    /// Runs `f` on a thread of the library after `depends`, in this queue's order; the result is the event's value(), an exception its
    /// failure. `f` may use the library, but must not wait for what comes after it. Where it throws NotRun, the waits for its event and for
    /// what depends on it raise that; it is not reported where there are none.
    Event host_task(std::function<std::shared_ptr<void>()> f, const std::string& name, ListOf<Event> depends = {}) const;

    // On arrays, and asynchronous: what they still are to be computed from is handed over first. Defined in src/array/commands.cpp.
    /// Hands over what has been recorded for `arrays`, after `depends`; all that is pending on this queue if there are none. The event
    /// completes when they are computed; without arrays, after everything submitted so far.
    Event submit(ListOf<Array> arrays, ListOf<Event> depends = {}) const;
    /// The elements of one array into another of the same shape and dtype, on any device; either may be strided.
    Event copy(const Array& to, const Array& from, ListOf<Event> depends = {}) const;
    /// A box of bytes; both arrays are row-major and taken as blocks of bytes.
    Event copy_rect(const Array& to, const Array& from, const Rect& rect, ListOf<Event> depends = {}) const;
    Event fill(const Array& to, const Scalar& value, ListOf<Event> depends = {}) const;  ///< one value into all elements
    /// A hint that this queue's device reads the array next.
    Event prefetch(const Array& x, ListOf<Event> depends = {}) const;
    friend bool operator==(const Queue& a, const Queue& b) { return a.impl_ == b.impl_; }
    device::Queue* impl() const { return impl_; }  ///< internal

private:
    device::Queue* impl_;
};

}  // namespace pardo
