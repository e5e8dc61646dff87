// src/backend/opencl/images/image.cpp: images and samplers, and copies between images and memory.
#include <algorithm>
#include <memory>
#include <utility>

#include <pardo/error.h>

#include "backend/opencl/kernel_info.h"
#include "backend/opencl/program.h"
#include "backend/opencl/queue.h"
#include "backend/opencl/quirks.h"
#include "device/queue/queue.h"

namespace pardo::opencl {
namespace {

using device::ImageShape;
using device::NativeOrder;

/// Memory with an address is no buffer that images are copied from: the first kernel copies it to one, the second one back. One kernel for
/// both ways would be given an address where it has been given a buffer: NVIDIA's driver has answered that with CL_INVALID_KERNEL_ARGS.
constexpr const char *copy_text = R"(
#define COPY                                                                                                      \
    const ulong i = get_global_id(0);                                                                             \
    if (i < whole) {                                                                                              \
        to[i] = from[i];                                                                                          \
        return;                                                                                                   \
    }                                                                                                             \
    for (ulong k = whole * 16; k < bytes; ++k) ((__global uchar*)to)[k] = ((__global const uchar*)from)[k];
__kernel void to_buffer(__global const uint4* from, __global uint4* to, ulong whole, ulong bytes) { COPY }
__kernel void from_buffer(__global const uint4* from, __global uint4* to, ulong whole, ulong bytes) { COPY }
)",
                     *to_buffer = "to_buffer", *from_buffer = "from_buffer";

/// The number of a kernel of a program.
std::size_t number_of(const OpenClTextProgram& program, const char* kernel) {
    std::size_t k = 0;
    while (program.kernels()[k].name.str() != kernel) ++k;
    return k;
}

cl_mem_object_type type_of(const ImageShape& s) {
    if (s.rank == 3) return CL_MEM_OBJECT_IMAGE3D;
    if (s.rank == 2) return s.layered ? CL_MEM_OBJECT_IMAGE2D_ARRAY : CL_MEM_OBJECT_IMAGE2D;
    return s.layered ? CL_MEM_OBJECT_IMAGE1D_ARRAY : CL_MEM_OBJECT_IMAGE1D;
}

cl_image_format format_of(const ImageShape& s) {
    cl_image_format format{};
    format.image_channel_order = s.channels == 1 ? CL_R : s.channels == 2 ? CL_RG : CL_RGBA;
    switch (s.dtype) {
        case DType::Int8: format.image_channel_data_type = CL_SIGNED_INT8; break;
        case DType::Int16: format.image_channel_data_type = CL_SIGNED_INT16; break;
        case DType::Int32: format.image_channel_data_type = CL_SIGNED_INT32; break;
        case DType::UInt8: format.image_channel_data_type = s.normalized ? CL_UNORM_INT8 : CL_UNSIGNED_INT8; break;
        case DType::UInt16: format.image_channel_data_type = s.normalized ? CL_UNORM_INT16 : CL_UNSIGNED_INT16; break;
        case DType::UInt32: format.image_channel_data_type = CL_UNSIGNED_INT32; break;
        case DType::Float16: format.image_channel_data_type = CL_HALF_FLOAT; break;
        default: format.image_channel_data_type = CL_FLOAT;
    }
    return format;
}

/// Throws what the device lacks.
void check_image(const OpenClDevice& device, const ImageShape& s) {
    const Api& api = device.api();
    if (!device.info().has_image) throw Error(ErrorCode::Device, s.text() + ": " + device.id() + " has no images for programs");
    const cl_device_info limits[3][3] = {
        {CL_DEVICE_IMAGE2D_MAX_WIDTH, 0, 0},
        {CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT, 0},
        {CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_DEPTH},
    };
    constexpr const char* names[] = {"width", "height", "depth"};
    for (int d = 0; d < s.dimensions(); ++d) {
        const bool layers = d == s.rank;
        const auto at = static_cast<std::size_t>(d);
        const cl_device_info limit = layers ? CL_DEVICE_IMAGE_MAX_ARRAY_SIZE : limits[s.rank - 1][d];
        const auto most = device_value<std::size_t>(api, device.handle(), limit);
        if (most > 0 && static_cast<std::size_t>(s.extents[at]) > most)
            throw Error(ErrorCode::Value,
                        s.text() + ": " + device.id() + " takes " + (layers ? "at most " : "a ") +
                            (layers ? std::to_string(most) + " layers" : std::string(names[d]) + " of at most " + std::to_string(most)));
    }
    cl_context context = device.context().handle();
    cl_uint count = 0;
    check(api.clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, type_of(s), 0, nullptr, &count), "clGetSupportedImageFormats");
    std::vector<cl_image_format> formats(count);
    if (count > 0)
        check(api.clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, type_of(s), count, formats.data(), nullptr),
              "clGetSupportedImageFormats");
    const bool wrong_halves = has_quirk(Quirk::HalfImages, device.context().name(), device.context().version(), false, false);
    const auto has = [&](int channels) {
        ImageShape other = s;
        other.channels = channels;
        const cl_image_format wanted = format_of(other);
        const auto same = [&](const cl_image_format& f) {
            return f.image_channel_order == wanted.image_channel_order && f.image_channel_data_type == wanted.image_channel_data_type;
        };
        return std::any_of(formats.begin(), formats.end(), same) && !(wrong_halves && channels == 1 && s.dtype == DType::Float16);
    };
    if (has(s.channels)) return;
    std::string others;
    for (const int channels : {1, 2, 4})
        if (has(channels)) others += (others.empty() ? "" : " or ") + std::to_string(channels);
    throw Error(ErrorCode::Device, s.text() + ": the driver of " + device.id() + " has no such images for programs" +
                                       (others.empty() ? "" : "; it has those of " + others + (others == "1" ? " channel" : " channels")));
}

class OpenClImage final : public device::Image {
public:
    OpenClImage(OpenClDevice& device, const ImageShape& shape) : Image(shape), device_(device) {
        check_image(device, shape);
        if (device.path() != MemoryPath::Buffer) copier_ = device.compile_program({copy_text, {}});
        cl_image_desc description{};
        description.image_type = type_of(shape);
        const auto extent = [&](int d) { return static_cast<std::size_t>(shape.extents[static_cast<std::size_t>(d)]); };
        description.image_width = extent(0);
        description.image_height = shape.rank > 1 ? extent(1) : 0;
        description.image_depth = shape.rank > 2 ? extent(2) : 0;
        if (shape.layered) description.image_array_size = extent(shape.rank);
        const cl_image_format format = format_of(shape);
        cl_int code = CL_SUCCESS;
        image_ = device.api().clCreateImage(device.context().handle(), CL_MEM_READ_WRITE, &format, &description, nullptr, &code);
        if (code == CL_SUCCESS) return;
        try {
            check(code, "clCreateImage");
        } catch (const Error& e) {
            throw e.with_message(shape.text() + ": " + e.message());
        }
    }
    ~OpenClImage() override {
        if (!device::driver_gone()) device_.api().clReleaseMemObject(image_);  // commands keep it until they are complete
    }

    std::uint64_t handle(const Sampler* sampler) override {
        if (sampler)
            throw Error(ErrorCode::Type, "OpenCL C takes an image and a sampler as two arguments: give the image, and the sampler");
        return reinterpret_cast<std::uint64_t>(image_);
    }

    void copy(device::Stream& stream, device::Buffer* texels, std::size_t offset, bool to_image, const NativeOrder& order) override {
        static_cast<OpenClStream&>(stream).copy_image(image_, shape(), static_cast<OpenClTextProgram*>(copier_.get()), texels, offset,
                                                      to_image, order);
    }

private:
    OpenClDevice& device_;
    cl_mem image_ = nullptr;
    Ref<device::TextProgram> copier_;  // where memory has addresses
};

/// Memory of a driver's that goes at the end.
class Staging {
public:
    Staging(const OpenClDevice& device, std::size_t bytes) : api_(device.api()) {
        cl_int code = CL_SUCCESS;
        object = api_.clCreateBuffer(device.context().handle(), CL_MEM_READ_WRITE, (bytes + 15) / 16 * 16, nullptr, &code);
        check(code, "clCreateBuffer");
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    ~Staging() { api_.clReleaseMemObject(object); }
    cl_mem object = nullptr;

private:
    const Api& api_;
};

}  // namespace

Ref<device::Image> OpenClDevice::make_image(const ImageShape& shape, device::Buffer*) {
    device::check_not_forked("Image", this);
    (void)path();
    return new OpenClImage(*this, shape);
}

std::uint64_t OpenClDevice::sampler_handle(const Sampler& sampler) {
    if (!info_.has_image) throw Error(ErrorCode::Device, id_ + " has no images, and no samplers, for programs");
    const std::lock_guard lock(samplers_mutex_);
    for (const auto& [known, handle] : samplers_)
        if (known == sampler) return reinterpret_cast<std::uint64_t>(handle);
    cl_addressing_mode addressing = CL_ADDRESS_NONE;
    switch (sampler.addressing) {
        case Addressing::None: break;
        case Addressing::ClampToEdge: addressing = CL_ADDRESS_CLAMP_TO_EDGE; break;
        case Addressing::Clamp: addressing = CL_ADDRESS_CLAMP; break;
        case Addressing::Repeat: addressing = CL_ADDRESS_REPEAT; break;
        case Addressing::MirroredRepeat: addressing = CL_ADDRESS_MIRRORED_REPEAT; break;
    }
    cl_int code = CL_SUCCESS;
    cl_sampler made = api().clCreateSampler(context_->handle(), sampler.normalized ? CL_TRUE : CL_FALSE, addressing,
                                            sampler.linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &code);
    check(code, "clCreateSampler");
    samplers_.emplace_back(sampler, made);
    return reinterpret_cast<std::uint64_t>(made);
}

/// By way of the host, and blocks: NVIDIA's driver copies a first layer alone between such images and buffers, refuses the others, and
/// takes what it is to write from the host when it is told so, whatever the write waits for.
void OpenClStream::copy_lines(cl_mem image, const ImageShape& shape, cl_mem buffer, std::size_t at, bool to_image,
                              const NativeOrder& order) {
    const std::size_t origin[3] = {}, bytes = shape.bytes();
    std::size_t region[3];
    std::copy(shape.extents.begin(), shape.extents.end(), region);
    const auto texels = std::make_unique<char[]>(bytes);
    const Wait w(order);
    if (to_image) {
        check(api_.clEnqueueReadBuffer(queue_, buffer, CL_TRUE, at, bytes, texels.get(), w.count, w.events, nullptr),
              "clEnqueueReadBuffer");
        check(api_.clEnqueueWriteImage(queue_, image, CL_TRUE, origin, region, 0, 0, texels.get(), 0, nullptr, w.marker),
              "clEnqueueWriteImage");
    } else {
        check(api_.clEnqueueReadImage(queue_, image, CL_TRUE, origin, region, 0, 0, texels.get(), w.count, w.events, nullptr),
              "clEnqueueReadImage");
        check(api_.clEnqueueWriteBuffer(queue_, buffer, CL_TRUE, at, bytes, texels.get(), 0, nullptr, w.marker), "clEnqueueWriteBuffer");
    }
}

void OpenClStream::copy_image(cl_mem image, const ImageShape& shape, OpenClTextProgram* copier, device::Buffer* texels, std::size_t offset,
                              bool to_image, const NativeOrder& order) {
    const std::size_t origin[3] = {}, bytes = shape.bytes();
    std::size_t region[3];
    std::copy(shape.extents.begin(), shape.extents.end(), region);
    const auto enqueue = [&](cl_mem buffer, std::size_t at, const NativeOrder& here) {
        if (shape.rank == 1 && shape.layered) return copy_lines(image, shape, buffer, at, to_image, here);
        const Wait w(here);
        to_image ? check(api_.clEnqueueCopyBufferToImage(queue_, buffer, image, at, origin, region, w.count, w.events, w.marker),
                         "clEnqueueCopyBufferToImage")
                 : check(api_.clEnqueueCopyImageToBuffer(queue_, image, buffer, origin, region, at, w.count, w.events, w.marker),
                         "clEnqueueCopyImageToBuffer");
    };
    if (path_ == MemoryPath::Buffer) {
        enqueue(object_of(texels), begin_of(texels) + offset, order);
        return flush();
    }
    const Staging staging(device_, bytes);
    const auto word = [](std::uint64_t value) {
        device::TextArgument a;
        a.bytes = sizeof value;
        a.words.push_back(value);
        return a;
    };
    device::TextArgument memory = word(reinterpret_cast<std::uint64_t>(address(texels, offset)));
    memory.kind = device::TextArgument::Kind::Pointer;
    device::TextLaunch launch;
    launch.arguments = {memory, word(reinterpret_cast<std::uint64_t>(staging.object)), word(bytes / 16), word(bytes)};
    if (!to_image) std::swap(launch.arguments[0], launch.arguments[1]);
    launch.global[0] = static_cast<std::int64_t>(bytes / 16 + 1);
    device::NativeEvent first = nullptr;
    const std::size_t kernel = number_of(*copier, to_image ? to_buffer : from_buffer);
    const auto copy_memory = [&](const NativeOrder& here) { copier->enqueue(*this, kernel, launch, here); };
    const NativeOrder begins{order.after, &first, order.timed};
    to_image ? copy_memory(begins) : enqueue(staging.object, 0, begins);
    const NativeOrder ends{{&first, 1}, order.marker, order.timed};
    to_image ? enqueue(staging.object, 0, ends) : copy_memory(ends);
    api_.clReleaseEvent(static_cast<cl_event>(first));
    flush();
}

}  // namespace pardo::opencl
