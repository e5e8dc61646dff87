// src/backend/cuda/image.cpp: images as CUDA arrays, with the surfaces and textures that programs see them by.
#include <algorithm>
#include <mutex>

#include "backend/cuda/device.h"
#include "backend/cuda/submission.h"
#include "base/env.h"
#include "device/queue/queue.h"

namespace pardo::cuda {
namespace {

using device::ImageShape;

int format_of(const ImageShape& s) {
    switch (s.dtype) {
        case DType::UInt8: return 0x01;
        case DType::UInt16: return 0x02;
        case DType::UInt32: return 0x03;
        case DType::Int8: return 0x08;
        case DType::Int16: return 0x09;
        case DType::Int32: return 0x0a;
        case DType::Float16: return 0x10;
        default: return 0x20;
    }
}

int address_mode_of(Addressing a) {
    switch (a) {
        case Addressing::Repeat: return address_wrap;
        case Addressing::MirroredRepeat: return address_mirror;
        case Addressing::Clamp: return address_border;
        default: return address_clamp;
    }
}

/// What belongs to an image.
struct Objects {
    ArrayHandle array = nullptr;
    std::uint64_t surface = 0;
    std::vector<std::pair<Sampler, std::uint64_t>> textures;

    void destroy(CudaDevice& device) noexcept {
        if (device::driver_gone() || !device.known_context()) return;
        const ContextScope scope(device.known_context());
        for (const auto& [sampler, texture] : textures) driver().cuTexObjectDestroy(texture);
        if (surface) driver().cuSurfObjectDestroy(surface);
        if (array) driver().cuArrayDestroy(array);
    }
};

/// Images that are not referred to any more, until their work is complete.
class Left {
public:
    void take(CudaDevice& device, Objects&& objects, std::vector<Event>&& unfinished) {
        sweep();
        const std::lock_guard lock(mutex_);
        left_.push_back({&device, std::move(objects), std::move(unfinished)});
        sweep_locked();
    }
    void sweep() {
        const std::lock_guard lock(mutex_);
        sweep_locked();
    }

private:
    struct One {
        CudaDevice* device;
        Objects objects;
        std::vector<Event> unfinished;
    };
    void sweep_locked() {
        std::erase_if(left_, [](One& one) {
            const bool over = std::all_of(one.unfinished.begin(), one.unfinished.end(), [](const Event& e) { return e.done(); });
            if (over) one.objects.destroy(*one.device);
            return over;
        });
    }
    std::mutex mutex_;
    std::vector<One> left_;
};
Left& left() {
    static auto* const made = new Left;  // images may go at the end of the process
    return *made;
}

class CudaImage final : public device::Image {
public:
    CudaImage(CudaDevice& device, const ImageShape& shape, device::Buffer* texels) : Image(shape), device_(device), texels_(texels) {
        left().sweep();
        const ContextScope scope(device);
        const auto extent = [&](int d) { return static_cast<std::size_t>(shape.extents[static_cast<std::size_t>(d)]); };
        ArrayDescriptor descriptor{
            extent(0),        shape.rank > 1 ? extent(1) : 0,        0,
            format_of(shape), static_cast<unsigned>(shape.channels), array_surfaces | (shape.layered ? array_layers : 0)};
        if (shape.rank > 2 || shape.layered) descriptor.depth = extent(shape.dimensions() - 1);
        const Result failed = driver().cuArray3DCreate(&objects_.array, &descriptor);
        if (failed == result::success) return;
        const Error error = device.failure(failed, "cuArray3DCreate");
        if (failed == result::invalid_value)
            throw Error(ErrorCode::Value, shape.text() + ": " + device.id() + " has no images of this size (" + error.message() + ")");
        throw error.with_message(shape.text() + ": " + error.message());
    }
    ~CudaImage() override {
        std::vector<Event> unfinished;
        if (!texels_->retired()) {
            texels_->collect_for_write(unfinished);
        } else if (!device::driver_gone() && !device_.lost()) {
            try {
                unfinished.push_back(device_.foreign_work(0));  // the owner of the texels knows what was under way
            } catch (const Error& e) {
                log(LogLevel::Info, "cuda: an image that has ended: " + e.message());
            }
        }
        left().take(device_, std::move(objects_), std::move(unfinished));
    }

    std::uint64_t handle(const Sampler* sampler) override {
        const std::lock_guard lock(mutex_);
        ResourceDescriptor resource{};
        resource.array = objects_.array;
        if (!sampler) {
            if (!objects_.surface) {
                const ContextScope scope(device_);
                device_.check(driver().cuSurfObjectCreate(&objects_.surface, &resource), "cuSurfObjectCreate");
            }
            return objects_.surface;
        }
        for (const auto& [known, texture] : objects_.textures)
            if (known == *sampler) return texture;
        const bool floats = shape().normalized || is_float(shape().dtype);
        TextureDescriptor descriptor{};
        std::fill_n(descriptor.address_mode, 3, address_mode_of(sampler->addressing));
        descriptor.filter = sampler->linear ? 1 : 0;
        descriptor.flags = (floats ? 0 : texture_of_integers) | (sampler->normalized ? texture_normalized : 0);
        const ContextScope scope(device_);
        std::uint64_t made = 0;
        device_.check(driver().cuTexObjectCreate(&made, &resource, &descriptor, nullptr), "cuTexObjectCreate");
        objects_.textures.emplace_back(*sampler, made);
        return made;
    }

    void copy(device::Stream& stream, device::Buffer* texels, std::size_t offset, bool to_image,
              const device::NativeOrder& order) override {
        const ImageShape& s = shape();
        const auto width = static_cast<std::size_t>(s.extents[0]) * s.texel_bytes();
        // Layers are planes: of 1-D images too.
        const auto height = static_cast<std::size_t>(s.rank > 1 ? s.extents[1] : 1);
        const auto depth = static_cast<std::size_t>(s.rank > 1 ? s.extents[2] : s.extents[1]);
        Copy3DSide memory{}, image{};
        memory.memory_type = texels->kind() == MemoryKind::Device ? memory_type_device : memory_type_unified;
        memory.device = address_of(texels, offset);
        memory.pitch = width;
        memory.height = height;
        image.memory_type = memory_type_array;
        image.array = objects_.array;
        const Copy3D c{to_image ? memory : image, to_image ? image : memory, width, height, depth};
        static_cast<CudaStream&>(stream).copy_image({&c, 1}, order);
    }

private:
    CudaDevice& device_;
    const Ref<device::Buffer> texels_;  // whose uses are the image's
    std::mutex mutex_;
    Objects objects_;
};

}  // namespace

Ref<device::Image> CudaDevice::make_image(const ImageShape& shape, device::Buffer* texels) {
    device::check_not_forked("Image", this);
    return new CudaImage(*this, shape, texels);
}

void CudaStream::copy_image(std::span<const Copy3D> copies, const device::NativeOrder& order) {
    Submission submission(*this, order);
    for (const Copy3D& copy : copies) submission.check(driver().cuMemcpy3DAsync(&copy, submission.stream()), "cuMemcpy3DAsync");
    submission.finish();
}

}  // namespace pardo::cuda
