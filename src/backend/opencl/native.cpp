// src/backend/opencl/native.cpp: the driver's objects as native code of others gets and gives them.
#include <memory>

#include "backend/opencl/library_queue.h"
#include "backend/opencl/opencl.h"
#include "backend/opencl/queue.h"
#include "device/queue/queue.h"

namespace pardo::opencl {

device::NativeDevice OpenClDevice::native() {
    PlatformContext& of = context();
    return {handle_, of.handle(), of.platform().id};
}

Ref<device::Queue> OpenClDevice::adopt_queue(void* stream, const std::shared_ptr<void>& owner) {
    device::check_not_forked("Queue", this);
    if (!stream) throw Error(ErrorCode::Value, "the stream is NULL; a cl_command_queue of " + id() + " is expected");
    const auto queue = static_cast<cl_command_queue>(stream);
    const auto ask = [&](cl_command_queue_info what, auto& value) {
        check(api().clGetCommandQueueInfo(queue, what, sizeof value, &value, nullptr), "clGetCommandQueueInfo");
    };
    cl_context of = nullptr;
    cl_device_id on = nullptr;
    cl_command_queue_properties properties = 0;
    ask(CL_QUEUE_CONTEXT, of);
    ask(CL_QUEUE_DEVICE, on);
    ask(CL_QUEUE_PROPERTIES, properties);
    if (on != handle()) throw Error(ErrorCode::Value, "the stream is of another device than " + id());
    if (of != context().handle())
        throw Error(ErrorCode::Value, "the stream is of another context than " + id() + "'s; make it in the one that device_native gives");
    const QueueOrder order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE ? QueueOrder::OutOfOrder : QueueOrder::InOrder;
    (void)path();
    return new device::DriverQueue(this, order, (properties & CL_QUEUE_PROFILING_ENABLE) != 0,
                                   std::make_unique<OpenClStream>(*this, queue, order, owner));
}

// It is what tells of the turn's end: no command has to be enqueued.
void OpenClDevice::await_native(device::NativeTurn& turn, void* event) {
    const auto native = static_cast<cl_event>(event);
    cl_context of = nullptr;
    check(api().clGetEventInfo(native, CL_EVENT_CONTEXT, sizeof of, &of, nullptr), "clGetEventInfo");
    if (of != context().handle())
        throw Error(ErrorCode::Value, "the event is of another context than " + id() + "'s; make it in the one that device_native gives");
    check(api().clRetainEvent(native), "clRetainEvent");
    turn.done = native;
}

void* OpenClDevice::native_marker(device::NativeTurn& turn) {
    cl_event event = nullptr;
    if (turn.after.empty()) {  // a marker without a list would come after all that the queue has
        cl_int code = CL_SUCCESS;
        event = api().clCreateUserEvent(context().handle(), &code);
        check(code, "clCreateUserEvent");
        check(api().clSetUserEventStatus(event, CL_COMPLETE), "clSetUserEventStatus");
    } else {
        check(api().clEnqueueMarkerWithWaitList(static_cast<cl_command_queue>(turn.stream), static_cast<cl_uint>(turn.after.size()),
                                                reinterpret_cast<const cl_event*>(turn.after.data()), &event),
              "clEnqueueMarkerWithWaitList");
    }
    check(api().clRetainEvent(event), "clRetainEvent");
    turn.done = event;
    return event;
}

device::NativePlace OpenClDevice::native_place(const device::Buffer* buffer, std::size_t offset) const {
    if (path() != MemoryPath::Buffer) return Device::native_place(buffer, offset);
    const auto* block = static_cast<const device::CachedBuffer*>(buffer);
    return {nullptr, block->handle(), static_cast<std::int64_t>(block->handle_offset() + offset)};
}

std::shared_ptr<void> OpenClDevice::set_native_argument(void* kernel, unsigned index, const device::Buffer* buffer, std::size_t offset,
                                                        std::size_t bytes) {
    const auto native = static_cast<cl_kernel>(kernel);
    if (bytes == 0 || path() != MemoryPath::Buffer) {
        const void* address = bytes == 0 ? nullptr : static_cast<const char*>(buffer->data()) + offset;
        check(set_address(*this, native, index, address), "clSetKernelArg of a pointer");
        return nullptr;
    }
    cl_mem part = part_of(*this, buffer, offset, bytes);
    std::shared_ptr<void> kept(part, [&api = api()](void* object) { api.clReleaseMemObject(static_cast<cl_mem>(object)); });
    check(api().clSetKernelArg(native, index, sizeof part, &part), "clSetKernelArg");
    return kept;
}

}  // namespace pardo::opencl
