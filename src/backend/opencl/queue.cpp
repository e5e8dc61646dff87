// src/backend/opencl/queue.cpp: copies, fills and events of a command queue.
#include "backend/opencl/queue.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include <pardo/error.h>

#include "device/queue/queue.h"

namespace pardo::opencl {

using device::Buffer;
using device::NativeEvent;
using device::NativeOrder;
using device::NativeStatus;

namespace {

cl_event event_of(NativeEvent e) { return static_cast<cl_event>(e); }

}  // namespace

OpenClStream::Wait::Wait(const NativeOrder& order)
    : count(static_cast<cl_uint>(order.after.size())),
      events(order.after.empty() ? nullptr : reinterpret_cast<const cl_event*>(order.after.data())),
      marker(reinterpret_cast<cl_event*>(order.marker)) {}

std::unique_ptr<device::Stream> make_stream(OpenClDevice& device, QueueOrder order, bool profiling) {
    return std::make_unique<OpenClStream>(device, order, profiling);
}

void OpenClStream::learn_device() {
    runs_on_host_ =
        device_.features().cpu &&
        (device_value<cl_device_exec_capabilities>(api_, device_.handle(), CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL);
    migrates_svm_ = api_.clEnqueueSVMMigrateMem && has_version(api_, device_.handle(), 2, 1);
}

OpenClStream::OpenClStream(OpenClDevice& device, cl_command_queue queue, QueueOrder order, std::shared_ptr<void> owner)
    : device_(device),
      api_(device.api()),
      path_(device.path()),
      owner_(std::move(owner)),
      in_order_(order == QueueOrder::InOrder),
      borrowed_(true) {
    learn_device();
    check(api_.clRetainCommandQueue(queue), "clRetainCommandQueue");
    queue_ = queue;
}

OpenClStream::OpenClStream(OpenClDevice& device, QueueOrder order, bool profiling)
    : device_(device), api_(device.api()), path_(device.path()) {
    const auto offered = device_value<cl_command_queue_properties>(api_, device.handle(), CL_DEVICE_QUEUE_PROPERTIES);
    cl_command_queue_properties wanted = 0;
    if (profiling) {
        if (!(offered & CL_QUEUE_PROFILING_ENABLE))
            throw Error(ErrorCode::Device, "Queue: " + device.id() + " has no profiling queues; make it without profiling");
    }
    wanted |= offered & CL_QUEUE_PROFILING_ENABLE;  // always: a profile may be opened when the queue is there already
    // A device without out-of-order queues runs in order what could have run in any.
    if (order == QueueOrder::OutOfOrder) wanted |= offered & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    in_order_ = !(wanted & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    learn_device();
    if (!in_order_) queue_ = device.take_idle_queue();
    if (queue_) return;
    cl_int code = CL_SUCCESS;
    queue_ = api_.clCreateCommandQueue(device.context().handle(), device.handle(), wanted, &code);
    check(code, "clCreateCommandQueue");
}

// Intel's runtime ends an out-of-order queue on the thread that notifies of its last command, and waits there for itself, for ever: such
// queues are used again instead.
OpenClStream::~OpenClStream() {
    libraries_.clear();
    if (in_order_ || borrowed_) {
        api_.clReleaseCommandQueue(queue_);
    } else {
        device_.keep_idle_queue(queue_);
    }
}

void OpenClStream::close() noexcept {
    if (!borrowed_) return;
    libraries_.clear();
    owner_ = nullptr;
}

void OpenClStream::enqueue_copy(void* to, const void* from, std::size_t bytes, const NativeOrder& order) {
    const Wait w(order);
    if (path_ == MemoryPath::Usm) {
        check(device_.context().usm().copy(queue_, CL_FALSE, to, from, bytes, w.count, w.events, w.marker), "clEnqueueMemcpyINTEL");
    } else {
        check(api_.clEnqueueSVMMemcpy(queue_, CL_FALSE, to, from, bytes, w.count, w.events, w.marker), "clEnqueueSVMMemcpy");
    }
}

void OpenClStream::enqueue_copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                                const NativeOrder& order) {
    const Wait w(order);
    check(api_.clEnqueueCopyBuffer(queue_, object_of(from), object_of(to), begin_of(from) + from_offset, begin_of(to) + to_offset, bytes,
                                   w.count, w.events, w.marker),
          "clEnqueueCopyBuffer");
}

void OpenClStream::enqueue_write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes, const NativeOrder& order) {
    const Wait w(order);
    check(api_.clEnqueueWriteBuffer(queue_, object_of(to), CL_FALSE, begin_of(to) + offset, bytes, from, w.count, w.events, w.marker),
          "clEnqueueWriteBuffer");
}

void OpenClStream::enqueue_read(void* to, Buffer* from, std::size_t offset, std::size_t bytes, const NativeOrder& order) {
    const Wait w(order);
    check(api_.clEnqueueReadBuffer(queue_, object_of(from), CL_FALSE, begin_of(from) + offset, bytes, to, w.count, w.events, w.marker),
          "clEnqueueReadBuffer");
}

void OpenClStream::copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                        const NativeOrder& order) {
    const char *target = address(to, to_offset), *source = address(from, from_offset);
    if (target < source + bytes && source < target + bytes) return copy_overlapping(to, to_offset, from_offset, bytes, order);
    if (path_ == MemoryPath::Buffer) {
        enqueue_copy(to, to_offset, from, from_offset, bytes, order);
    } else {
        enqueue_copy(address(to, to_offset), source, bytes, order);
    }
    flush();
}

/// Drivers do not copy a range onto itself shifted: this goes through the host, and blocks.
void OpenClStream::copy_overlapping(Buffer* buffer, std::size_t to_offset, std::size_t from_offset, std::size_t bytes,
                                    const NativeOrder& order) {
    if (to_offset == from_offset) return marker(order);
    const std::unique_ptr<char[]> staging(new char[bytes]);
    NativeEvent done = nullptr;
    read(staging.get(), buffer, from_offset, bytes, {order.after, &done});
    wait(done);
    release(done);
    NativeEvent written = nullptr;
    write(buffer, to_offset, staging.get(), bytes, {{}, &written});
    wait(written);
    if (order.marker) {
        *order.marker = written;
    } else {
        release(written);
    }
}

void OpenClStream::write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes, const NativeOrder& order) {
    if (path_ == MemoryPath::Buffer) {
        enqueue_write(to, offset, from, bytes, order);
    } else {
        enqueue_copy(address(to, offset), from, bytes, order);
    }
    flush();
}

void OpenClStream::read(void* to, Buffer* from, std::size_t offset, std::size_t bytes, const NativeOrder& order) {
    if (path_ == MemoryPath::Buffer) {
        enqueue_read(to, from, offset, bytes, order);
    } else {
        enqueue_copy(to, address(from, offset), bytes, order);
    }
    flush();
}

namespace {

struct HostFill {
    char* to;
    std::size_t bytes;
    device::FillPattern pattern;
};
/// The driver calls it, on a thread of the device, with its own copy of the HostFill.
void CL_CALLBACK run_host_fill(void* arguments) {
    HostFill f;
    std::memcpy(&f, arguments, sizeof f);
    f.pattern.repeat(f.to, f.bytes);
}

}  // namespace

/// Drivers fill memory of their own alone: PoCL ends the process where it knows no object behind an address.
void OpenClStream::fill_on_host(char* to, std::size_t bytes, const void* pattern, std::size_t pattern_bytes, const NativeOrder& order) {
    const Wait w(order);
    HostFill f{to, bytes, {{}, pattern_bytes}};
    std::memcpy(f.pattern.bytes, pattern, pattern_bytes);
    check(api_.clEnqueueNativeKernel(queue_, run_host_fill, &f, sizeof f, 0, nullptr, nullptr, w.count, w.events, w.marker),
          "clEnqueueNativeKernel");
}

void OpenClStream::fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                        const NativeOrder& order) {
    if (runs_on_host_ && path_ != MemoryPath::Buffer && is_imported(to)) {
        fill_on_host(address(to, offset), bytes, pattern, pattern_bytes, order);
        return flush();
    }
    const Wait w(order);
    switch (path_) {
        case MemoryPath::Usm:
            check(device_.context().usm().fill(queue_, address(to, offset), pattern, pattern_bytes, bytes, w.count, w.events, w.marker),
                  "clEnqueueMemFillINTEL");
            break;
        case MemoryPath::SvmFine:
        case MemoryPath::SvmCoarse:
            check(api_.clEnqueueSVMMemFill(queue_, address(to, offset), pattern, pattern_bytes, bytes, w.count, w.events, w.marker),
                  "clEnqueueSVMMemFill");
            break;
        case MemoryPath::Buffer:
            check(api_.clEnqueueFillBuffer(queue_, object_of(to), pattern, pattern_bytes, begin_of(to) + offset, bytes, w.count, w.events,
                                           w.marker),
                  "clEnqueueFillBuffer");
            break;
    }
    flush();
}

void OpenClStream::marker(const NativeOrder& order) {
    const Wait w(order);
    check(api_.clEnqueueMarkerWithWaitList(queue_, w.count, w.events, w.marker), "clEnqueueMarkerWithWaitList");
    flush();
}

// Other queues may wait for what was enqueued here, and some drivers begin only after a flush.
void OpenClStream::flush() { check(api_.clFlush(queue_), "clFlush"); }

NativeStatus OpenClStream::query(NativeEvent event, std::optional<Error>& error) noexcept {
    cl_int status = CL_QUEUED;
    const cl_int code = api_.clGetEventInfo(event_of(event), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (code == CL_SUCCESS && status == CL_COMPLETE) return NativeStatus::Complete;
    if (code == CL_SUCCESS && status > 0) return NativeStatus::Unfinished;
    const cl_int failure = code == CL_SUCCESS ? status : code;
    const bool memory = failure == CL_MEM_OBJECT_ALLOCATION_FAILURE || failure == CL_OUT_OF_HOST_MEMORY;
    error = Error(memory ? ErrorCode::Memory : ErrorCode::Device, device_.id() + " failed: " + error_name(failure));
    return NativeStatus::Failed;
}

void OpenClStream::wait(NativeEvent event) noexcept {
    cl_event e = event_of(event);
    api_.clWaitForEvents(1, &e);  // a failure shows in the event's status
}

void OpenClStream::release(NativeEvent event) noexcept { api_.clReleaseEvent(event_of(event)); }

void OpenClStream::times(NativeEvent event, std::int64_t& submitted, std::int64_t& start, std::int64_t& end) noexcept {
    const auto stamp = [&](cl_profiling_info what) {
        cl_ulong ns = 0;
        api_.clGetEventProfilingInfo(event_of(event), what, sizeof ns, &ns, nullptr);
        return static_cast<std::int64_t>(ns);
    };
    // The driver stamped the command's arrival a moment after the host did: that ties its clock to ours.
    const std::int64_t arrived = stamp(CL_PROFILING_COMMAND_QUEUED), begun = stamp(CL_PROFILING_COMMAND_START),
                       over = stamp(CL_PROFILING_COMMAND_END);
    if (arrived == 0 || begun < arrived || over < begun) {
        start = end = device::now_ns();
        return;
    }
    start = submitted + (begun - arrived);
    end = submitted + (over - arrived);
}

namespace {

struct Callback {
    void (*f)(void*);
    void* context;
};
void CL_CALLBACK call_back(cl_event, cl_int, void* data) {
    const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
    callback->f(callback->context);
}

}  // namespace

bool OpenClStream::notify(NativeEvent event, void (*f)(void*), void* context) noexcept {
    auto* callback = new (std::nothrow) Callback{f, context};
    if (!callback) return false;
    if (api_.clSetEventCallback(event_of(event), CL_COMPLETE, call_back, callback) == CL_SUCCESS) return true;
    delete callback;
    return false;
}

bool OpenClStream::understands(const device::Stream& other) const noexcept {
    const auto* same = dynamic_cast<const OpenClStream*>(&other);
    return same && &same->device_.context() == &device_.context();
}

bool OpenClStream::copies(const Buffer* to, const Buffer* from) const noexcept {
    const auto mine = [&](const Buffer* b) {
        if (b->device() == &device_) return true;
        if (b->device()->backend() != device_.backend()) return false;
        const auto* other = static_cast<const OpenClDevice*>(b->device());
        return &other->context() == &device_.context() && (other->path() == MemoryPath::Buffer) == (path_ == MemoryPath::Buffer);
    };
    return mine(to) && mine(from);
}

}  // namespace pardo::opencl
