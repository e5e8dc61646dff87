// tests/unit/backend_cuda/image_test.cpp: images on the fake driver: arrays, surfaces, textures, copies, when they go.
#include <cstring>

#include <pardo/binding/exchange.h>
#include <pardo/ops.h>
#include <pardo/program.h>

#include "device/image.h"
#include "device/queue/queue.h"
#include "graph/node.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using namespace test;
using device::ImageShape;

ImageShape shape_of(int rank, bool layered, std::array<std::int64_t, 3> extents, int channels, DType dtype, bool normalized = false) {
    ImageShape s;
    s.rank = rank;
    s.layered = layered;
    s.extents = extents;
    s.channels = channels;
    s.dtype = dtype;
    s.normalized = normalized;
    return s;
}

Event copy(const Ref<device::Image>& image, const Ref<device::Buffer>& texels, bool to_image) {
    const device::BufferUse uses[] = {{texels.get(), device::Access::ReadWrite}};
    auto* queue = static_cast<device::DriverQueue*>(device()->queue());
    return queue->submit_native(
        [=](device::Stream& stream, const device::NativeOrder& order) { image->copy(stream, texels.get(), 0, to_image, order); }, uses,
        {"image", {}});
}

TEST(CudaImage, TexelsGoThereAndBack) {
    for (const ImageShape& s : {shape_of(1, false, {24, 1, 1}, 1, DType::Float32), shape_of(1, true, {6, 4, 1}, 1, DType::Float32),
                                shape_of(2, false, {3, 4, 1}, 2, DType::Float32), shape_of(2, true, {3, 2, 2}, 2, DType::Float32),
                                shape_of(3, false, {2, 3, 1}, 4, DType::Float32)}) {
        const std::vector<float> values = ramp(24);
        const Ref<device::Buffer> texels = buffer_of(values), back = buffer_of(std::vector<float>(24));
        const Ref<device::Image> image = device()->make_image(s, texels.get());
        copy(image, texels, true).wait();
        EXPECT_EQ(std::memcmp(fake_cuda_array_of(image->handle(nullptr)), values.data(), s.bytes()), 0) << s.text();
        copy(image, back, false).wait();
        EXPECT_EQ(values_of(back.get()), values) << s.text();
    }
}

TEST(CudaImage, TexturesSampleAsAsked) {
    const Ref<device::Buffer> texels = buffer_of(ramp(16));
    const Ref<device::Image> image = device()->make_image(shape_of(2, false, {4, 4, 1}, 4, DType::UInt8, true), texels.get());
    const Sampler linear{true, Addressing::MirroredRepeat, true}, border{false, Addressing::Clamp, false};
    const std::uint64_t texture = image->handle(&linear);
    EXPECT_EQ(image->handle(&linear), texture);
    EXPECT_NE(image->handle(&border), texture);
    EXPECT_EQ(image->handle(nullptr), image->handle(nullptr));
    EXPECT_EQ(fake_cuda_texture(texture).address_mode, address_mirror);
    EXPECT_EQ(fake_cuda_texture(texture).filter, 1);
    EXPECT_EQ(fake_cuda_texture(texture).flags, texture_normalized);
    EXPECT_EQ(fake_cuda_texture(image->handle(&border)).address_mode, address_border);
    const Ref<device::Image> integers = device()->make_image(shape_of(2, false, {4, 4, 1}, 4, DType::UInt8), texels.get());
    EXPECT_EQ(fake_cuda_texture(integers->handle(&border)).flags, texture_of_integers);
    EXPECT_THROW(integers->handle(&linear), Error);
}

TEST(CudaImage, TooLargeIsSaid) {
    const Ref<device::Buffer> texels = buffer_of(ramp(1));
    try {
        device()->make_image(shape_of(2, false, {40000, 4, 1}, 1, DType::UInt8), texels.get());
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Value);
        EXPECT_NE(e.message().find("a 2-D image of 40000 x 4 texels"), std::string::npos) << e.message();
    }
}

TEST(CudaImage, GoesWhenItsWorkIsComplete) {
    const long arrays = fake_cuda_live("array"), surfaces = fake_cuda_live("surface");
    const Ref<device::Buffer> texels = buffer_of(ramp(16));
    const auto make = [&] { return device()->make_image(shape_of(2, false, {4, 4, 1}, 1, DType::Float32), texels.get()); };
    fake_cuda_hold(1);
    Event event;
    {
        const Ref<device::Image> image = make();
        (void)image->handle(nullptr);
        event = copy(image, texels, true);
    }
    EXPECT_EQ(fake_cuda_live("array"), arrays + 1);
    fake_cuda_hold(0);
    event.wait();
    (void)make();
    EXPECT_EQ(fake_cuda_live("array"), arrays);
    EXPECT_EQ(fake_cuda_live("surface"), surfaces);
}

TEST(CudaImage, GoesAfterItsTexelsWereGivenBack) {
    const long arrays = fake_cuda_live("array");
    const Array texels = zeros({4, 4, 1}, DType::Float32, Queue::of(Device("cuda:0")));
    texels.wait();
    Ref<device::Image> image = device()->make_image(shape_of(2, false, {4, 4, 1}, 1, DType::Float32), texels.node()->buffer.get());
    retire_memory(texels, "it is over");
    image = nullptr;
    for (int i = 0; i < 1000 && fake_cuda_live("array") > arrays; ++i) {
        device()->queue()->wait();
        (void)device()->make_image(shape_of(1, false, {4, 1, 1}, 1, DType::Float32), buffer_of(ramp(4)).get());  // looks after others
    }
    EXPECT_EQ(fake_cuda_live("array"), arrays);
}

constexpr const char* copy_text =
    "extern \"C\" __global__ void turn(cudaTextureObject_t from, cudaSurfaceObject_t to) {\n"
    "    surf2Dwrite(tex2D<float>(from, threadIdx.x + 0.5f, 0.5f), to, threadIdx.x * 4, 0);\n"
    "}\n";

/// The fake driver's: the texels in reverse order.
void run_turn(const FakeLaunch* l) {
    const auto* from = static_cast<const float*>(fake_cuda_array_of(l->params[0]));
    auto* to = static_cast<float*>(fake_cuda_array_of(l->params[1]));
    for (int i = 0; i < 4; ++i) to[i] = from[3 - i];
}

TEST(CudaImage, ProgramsTakeTexturesAndSurfaces) {
    NEEDS_NVRTC();
    fake_cuda_on_launch("turn", run_turn);
    const Queue queue = Queue::of(Device("cuda:0"));
    const std::int64_t shape[] = {1, 4, 1};
    const auto write = [&](const Array& to, const std::vector<float>& values) {
        queue.impl()->write(to.node()->buffer.get(), 0, values.data(), 16);
    };
    const auto read = [](const Image& image) {
        std::vector<float> values(4);
        image.texels(false).copy_to(values.data());
        return values;
    };
    const Image source(empty(shape, DType::Float32, queue), 2, false, false), target(empty(shape, DType::Float32, queue), 2, false, false);
    write(source.texels(true), {1, 2, 3, 4});
    const Program program(Device("cuda:0"), copy_text);
    const ProgramArgument arguments[] = {SampledImage{source, {false, Addressing::Clamp, true}}, target};
    EXPECT_EQ(program.uses("turn", arguments), (std::vector<ArgumentUse>{ArgumentUse::None, ArgumentUse::None}));
    program.launch("turn", arguments, {{4}, {}});
    EXPECT_EQ(read(target), (std::vector<float>{4, 3, 2, 1}));
    EXPECT_EQ(read(source), (std::vector<float>{1, 2, 3, 4}));
    const ProgramArgument back[] = {SampledImage{target, {false, Addressing::Clamp, true}}, source};
    write(source.texels(true), {5, 6, 7, 8});
    program.launch("turn", arguments, {{4}, {}});
    program.launch("turn", back, {{4}, {}});
    EXPECT_EQ(read(source), (std::vector<float>{5, 6, 7, 8}));
    EXPECT_EQ(read(target), (std::vector<float>{8, 7, 6, 5}));
    const ProgramArgument sampler[] = {Sampler{}, target};
    EXPECT_THROW(program.launch("turn", sampler, {{4}, {}}), Error);
}

}  // namespace
}  // namespace pardo::cuda
