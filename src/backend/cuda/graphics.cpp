// src/backend/cuda/graphics.cpp: buffers and textures of OpenGL as CUDA's graphics resources.
#include "device/graphics.h"

#include <algorithm>
#include <vector>

#include "backend/cuda/queue.h"
#include "base/env.h"
#include "device/queue/queue.h"

namespace pardo::cuda {
namespace {

using device::ImageShape;

class GraphicsResource final : public device::GraphicsObject {
public:
    GraphicsResource(CudaDevice& device, GraphicsHandle handle) : device_(device), handle_(handle), stream_(device.graphics_stream()) {}

    void map() override {
        device::check_not_forked("map", &device_);
        const ContextScope scope(device_);
        device_.check_foreign(driver().cuGraphicsMapResources(1, &handle_, stream_), "cuGraphicsMapResources");
        mapped_ = true;
    }

    void unmap() override {
        const ContextScope scope(device_);
        mapped_ = false;
        device_.check_foreign(driver().cuGraphicsUnmapResources(1, &handle_, stream_), "cuGraphicsUnmapResources");
    }

    std::uintptr_t stream() override { return reinterpret_cast<std::uintptr_t>(stream_); }

    Memory memory() override {
        const ContextScope scope(device_);
        DevicePointer pointer = 0;
        std::size_t bytes = 0;
        device_.check_foreign(driver().cuGraphicsResourceGetMappedPointer(&pointer, &bytes, handle_), "cuGraphicsResourceGetMappedPointer");
        return {reinterpret_cast<void*>(pointer), bytes};
    }

    void open_level(int level, const ImageShape& shape) override {
        const ContextScope scope(device_);
        shape_ = shape;
        arrays_.clear();
        const auto extent = [&](int d) { return d < shape.dimensions() ? shape.extents[static_cast<std::size_t>(d)] : 1; };
        const auto layers = shape.layered ? static_cast<std::size_t>(extent(shape.rank)) : 1;
        const auto depth = shape.layered ? layers : static_cast<std::size_t>(extent(2));
        for (std::size_t layer = 0; layer < layers; ++layer) {
            ArrayHandle array = nullptr;
            ArrayDescriptor d{};
            device_.check_foreign(
                driver().cuGraphicsSubResourceGetMappedArray(&array, handle_, static_cast<unsigned>(layer), static_cast<unsigned>(level)),
                "cuGraphicsSubResourceGetMappedArray");
            device_.check_foreign(driver().cuArray3DGetDescriptor(&d, array), "cuArray3DGetDescriptor");
            const auto is = [](std::size_t described, std::size_t wanted) { return std::max<std::size_t>(described, 1) == wanted; };
            const bool whole = is(d.depth, depth);  // a driver may give all layers at once
            if (!is(d.width, static_cast<std::size_t>(extent(0))) ||
                !is(d.height, static_cast<std::size_t>(shape.rank > 1 ? extent(1) : 1)) || !(whole || (shape.layered && is(d.depth, 1))) ||
                d.channels != static_cast<unsigned>(shape.channels)) {
                throw Error(ErrorCode::Value, "the driver has it with " + std::to_string(d.width) + " x " + std::to_string(d.height) +
                                                  " x " + std::to_string(d.depth) + " texels of " + std::to_string(d.channels) +
                                                  " channels, and not as " + shape.text());
            }
            arrays_.push_back(array);
            if (whole) break;
        }
    }

    void copy(device::Stream& stream, device::Buffer* texels, std::size_t offset, bool to_texture,
              const device::NativeOrder& order) override {
        const auto width = static_cast<std::size_t>(shape_.extents[0]) * shape_.texel_bytes();
        const auto height = static_cast<std::size_t>(shape_.rank > 1 ? shape_.extents[1] : 1);
        const auto planes = static_cast<std::size_t>(shape_.rank > 1 ? shape_.extents[2] : shape_.extents[1]);
        const std::size_t each = planes / arrays_.size();
        std::vector<Copy3D> copies;
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            Copy3DSide memory{}, image{};
            memory.memory_type = texels->kind() == MemoryKind::Device ? memory_type_device : memory_type_unified;
            memory.device = address_of(texels, offset + i * each * height * width);
            memory.pitch = width;
            memory.height = height;
            image.memory_type = memory_type_array;
            image.array = arrays_[i];
            copies.push_back({to_texture ? memory : image, to_texture ? image : memory, width, height, each});
        }
        static_cast<CudaStream&>(stream).copy_image(copies, order);
    }

    // The context of OpenGL's may have lost the object, or be about to go: what the driver says to that changes nothing.
    void close() noexcept override {
        if (!handle_ || device::driver_gone() || !device_.known_context() || device_.lost()) return;
        const ContextScope scope(device_.known_context());
        if (mapped_) (void)driver().cuGraphicsUnmapResources(1, &handle_, stream_);
        const Result failed = driver().cuGraphicsUnregisterResource(handle_);
        if (failed != result::success) log(LogLevel::Debug, "cuda: cuGraphicsUnregisterResource: " + driver().describe(failed));
        mapped_ = false;
        handle_ = nullptr;
    }

private:
    CudaDevice& device_;
    GraphicsHandle handle_;
    StreamHandle stream_;
    bool mapped_ = false;
    ImageShape shape_;
    std::vector<ArrayHandle> arrays_;  // of the level that is open: one of all layers, or one a layer
};

}  // namespace

StreamHandle CudaDevice::graphics_stream() {
    const ContextScope scope(*this);
    const std::lock_guard lock(mutex_);
    if (!graphics_stream_) {
        if (const Result failed = driver().cuStreamCreate(&graphics_stream_, stream_non_blocking); failed != result::success)
            throw error_of(failed, "cuStreamCreate");
    }
    return graphics_stream_;
}

std::vector<device::Device*> CudaDevice::graphics_devices() {
    device::check_not_forked("Device", this);
    const Driver& d = driver();
    if (!d.cuGLGetDevices) return {};
    const ContextScope scope(*this);
    constexpr unsigned room = 64;
    DeviceHandle handles[room] = {};
    unsigned count = 0;
    if (const Result failed = d.cuGLGetDevices(&count, handles, room, graphics_devices_all); failed != result::success) {
        if (failed != result::unknown && loses_context(failed)) fail(failed, "cuGLGetDevices");
        log(LogLevel::Debug, "cuda: the OpenGL context is of no device of CUDA's: cuGLGetDevices: " + d.describe(failed));
        return {};
    }
    std::vector<device::Device*> found;
    for (const device::Platform& platform : device::platforms_of(*backend_)) {
        for (device::Device* one : platform.devices) {
            const DeviceHandle handle = static_cast<CudaDevice*>(one)->handle();
            if (std::find(handles, handles + std::min(count, room), handle) != handles + std::min(count, room)) found.push_back(one);
        }
    }
    return found;
}

std::unique_ptr<device::GraphicsObject> CudaDevice::share_graphics(unsigned name, unsigned target) {
    device::check_not_forked("Device", this);
    const Driver& d = driver();
    if (target == 0 ? !d.cuGraphicsGLRegisterBuffer : !d.cuGraphicsGLRegisterImage) return Device::share_graphics(name, target);
    const ContextScope scope(*this);
    GraphicsHandle handle = nullptr;
    const Result failed =
        target == 0 ? d.cuGraphicsGLRegisterBuffer(&handle, name, 0) : d.cuGraphicsGLRegisterImage(&handle, name, target, 0);
    const char* const call = target == 0 ? "cuGraphicsGLRegisterBuffer" : "cuGraphicsGLRegisterImage";
    check_foreign(failed, call);
    return std::make_unique<GraphicsResource>(*this, handle);
}

}  // namespace pardo::cuda
