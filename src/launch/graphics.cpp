// src/launch/graphics.cpp: memory of OpenGL in the order of a queue's work: mapped before it, unmapped after it.
#include <pardo/binding/graphics.h>

#include <utility>

#include <pardo/binding/exchange.h>
#include <pardo/error.h>

#include "array/record.h"
#include "base/env.h"
#include "device/device.h"
#include "device/graphics.h"
#include "device/queue/queue.h"
#include "launch/image.h"
#include "plan/force.h"

namespace pardo {
namespace {

/// Complete when what the stream of maps has so far is; the queue's work comes after it where the queue has an order.
Event ordered_after(device::GraphicsObject& object, device::Queue* queue) {
    return queue->order() == QueueOrder::InOrder ? queue->wait_for_stream(object.stream()) : queue->device()->foreign_work(object.stream());
}

/// Copies all texels of the level that is open.
void copy_texels(const std::shared_ptr<device::GraphicsObject>& object, const Array& texels, bool to_texture) {
    const std::lock_guard lock(arrays::graph_of(texels).lock);
    arrays::ensure_leaf(texels);
    const graph::Node& leaf = *texels.node();
    device::Buffer* const buffer = leaf.buffer.get();
    const std::size_t offset = static_cast<std::size_t>(leaf.offset * itemsize(leaf.dtype));
    if (!to_texture) plan::force_readers(buffer);
    const device::BufferUse uses[] = {{buffer, to_texture ? device::Access::Read : device::Access::Write, graph::view_of(leaf)}};
    // Devices that share textures have queues of a driver.
    static_cast<device::DriverQueue*>(leaf.queue.get())
        ->submit_native(
            [object, buffer, offset, to_texture](device::Stream& stream, const device::NativeOrder& order) {
                object->copy(stream, buffer, offset, to_texture, order);
            },
            uses, {"image", device::current_location()});
}

/// Names the function that was called in what the driver says.
template <class F> auto told(const char* op_name, F&& f) {
    try {
        return f();
    } catch (const Error& e) {
        throw e.with_message(std::string(op_name) + ": " + e.message());
    }
}

/// Runs f, and unmaps also when that throws.
template <class F> void unmap_after(const char* op_name, device::GraphicsObject& object, F&& f) {
    try {
        f();
    } catch (...) {
        try {
            object.unmap();
        } catch (const Error& e) {
            log(LogLevel::Info, "OpenGL: " + e.message());  // a lost device, which the first failure tells
        }
        throw;
    }
    told(op_name, [&] { object.unmap(); });
}

}  // namespace

std::vector<Device> graphics_devices(const Device& device) {
    std::vector<Device> found;
    for (device::Device* d : device.impl()->graphics_devices()) found.emplace_back(d);
    return found;
}

GraphicsObject::GraphicsObject(const char* op_name, const Device& device, std::uint32_t name, std::uint32_t target)
    : object_(told(op_name, [&] { return device.impl()->share_graphics(name, target); })) {}

Array GraphicsObject::map(const char* op_name, std::size_t offset, DType dtype, Extents shape, bool read_only,
                          std::function<void()> release, const Queue& queue) {
    told(op_name, [&] { object_->map(); });
    try {
        const device::GraphicsObject::Memory memory = told(op_name, [&] { return object_->memory(); });
        std::int64_t bytes = itemsize(dtype);
        for (const std::int64_t extent : shape) bytes *= extent;
        if (offset > memory.bytes || static_cast<std::size_t>(bytes) > memory.bytes - offset) {
            throw Error(ErrorCode::Buffer, std::string(op_name) + ": the driver knows OpenGL's buffer with " +
                                               std::to_string(memory.bytes) +
                                               " bytes, less than the array needs: it has other memory since");
        }
        const Event mapped = told(op_name, [&] { return ordered_after(*object_, queue.impl()); });
        Array x = borrow_memory(op_name, static_cast<char*>(memory.address) + offset, dtype, shape, read_only, std::move(release), queue);
        x.node()->buffer->note_write(mapped, device::Access::WriteSome);  // for other queues too
        return x;
    } catch (...) {
        object_->unmap();
        throw;
    }
}

void GraphicsObject::unmap(const char* op_name, const Array& x, std::string message) {
    unmap_after(op_name, *object_, [&] { retire_memory(x, std::move(message), object_->stream()); });
}

void GraphicsObject::map_image(const char* op_name, const Image& image, int level, bool read) {
    told(op_name, [&] {
        object_->map();
        try {
            object_->open_level(level, image.state()->shape);
            const Array& texels = image.texels(true);
            arrays::ensure_leaf(texels);
            const graph::Node& leaf = *texels.node();
            leaf.buffer->note_write(ordered_after(*object_, leaf.queue.get()), device::Access::WriteSome);
            if (read) copy_texels(object_, texels, false);
        } catch (...) {
            object_->unmap();
            throw;
        }
    });
}

void GraphicsObject::unmap_image(const char* op_name, const Image& image, bool write, std::string message) {
    unmap_after(op_name, *object_, [&] {
        const Array& texels = image.texels(true);
        if (write) copy_texels(object_, texels, true);
        retire_memory(texels, std::move(message), object_->stream());
    });
}

void GraphicsObject::close() noexcept { object_->close(); }

}  // namespace pardo
