// src/backend/opencl/library_queue.cpp: the order of libraries' commands, and memory as they take it.
#include "backend/opencl/library_queue.h"

#include <utility>

#include "backend/opencl/opencl.h"
#include "backend/opencl/queue.h"

namespace pardo::opencl {

LibraryQueue::LibraryQueue(OpenClDevice& device, cl_command_queue handle, const device::NativeOrder& order)
    : device_(device), handle_(handle), order_(order) {
    for (const device::NativeEvent event : order.after) after_.push_back(static_cast<cl_event>(event));
}

LibraryQueue::~LibraryQueue() {
    const Api& api = device_.api();
    if (last_) api.clReleaseEvent(last_);
    for (cl_mem part : parts_) api.clReleaseMemObject(part);  // commands keep it until they are complete
}

void LibraryQueue::take(cl_event event) {
    if (last_) device_.api().clReleaseEvent(last_);
    last_ = event;
    after_.assign(1, event);
}

cl_mem part_of(const OpenClDevice& device, const device::Buffer* buffer, std::size_t offset, std::size_t bytes) {
    const auto* block = static_cast<const device::CachedBuffer*>(buffer);
    const cl_buffer_region region{block->handle_offset() + offset, bytes};
    cl_int code = CL_SUCCESS;
    cl_mem part = device.api().clCreateSubBuffer(static_cast<cl_mem>(block->handle()), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    check(code, "clCreateSubBuffer");
    return part;
}

cl_mem LibraryQueue::part(const device::Buffer* buffer, std::size_t offset, std::size_t bytes) {
    parts_.push_back(part_of(device_, buffer, offset, bytes));
    return parts_.back();
}

void LibraryQueue::finish(device::Stream& stream) {
    if (!last_) return stream.marker(order_);
    if (order_.marker) *order_.marker = std::exchange(last_, nullptr);
    stream.flush();
}

device::NativeTurn OpenClStream::begin_turn(const device::NativeOrder&) {
    device::NativeTurn turn;
    turn.stream = queue_;
    return turn;
}

void OpenClStream::end_turn(device::NativeTurn& turn, const device::NativeOrder& order) {
    if (turn.done) {
        const auto done = static_cast<cl_event>(turn.done);
        if (order.marker) {
            *order.marker = done;
        } else {
            api_.clReleaseEvent(done);
        }
        return flush();
    }
    // Of code that has enqueued nothing what it was to wait for; a marker without a list comes after all that has been enqueued.
    if (!turn.after.empty()) marker({turn.after});
    marker({{}, order.marker, order.timed});
}

void OpenClStream::call_library(const LibraryCall& call, const device::NativeOrder& order) {
    LibraryQueue queue(device_, queue_, order);
    call(&queue, libraries_);
    queue.finish(*this);
}

}  // namespace pardo::opencl
