// tests/unit/backend_opencl/text_test.cpp: the user's own text on every OpenCL device of the machine: what is known of it, and its
// launches.
#include <algorithm>
#include <array>
#include <cstring>

#include "device/text.h"
#include "support.h"

namespace pardo::opencl {
namespace {

using device::TextArgument;
using device::TextKernel;
using device::TextParameter;
using Kind = TextParameter::Kind;

const device::ProgramText text = {
    "__kernel void axpy(__global const float *x, __global float *y, float a) {\n"
    "    size_t i = get_global_id(0);\n"
    "    y[i] += a * x[i];\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(4, 2, 1)))\n"
    "void shared(__constant uchar *t, __local float4 *own, float4 v, ulong n) {\n"
    "    __local int declared[100];\n"
    "    declared[get_local_id(0)] = v.x + t[0] + n;\n"
    "    own[0] = declared[0];\n"
    "}\n",
    {}};

const TextKernel& kernel(const device::TextProgram& program, std::string_view name) {
    const auto at =
        std::find_if(program.kernels().begin(), program.kernels().end(), [&](const TextKernel& k) { return k.name.str() == name; });
    return *at;
}

TEST_F(OpenCl, ParametersOfTextAreKnown) {
    on_each([](device::Device* d) {
        EXPECT_EQ(d->text_language(), "opencl");
        const Ref<device::TextProgram> program = d->compile_program(text);
        EXPECT_FALSE(program->local_apart());
        ASSERT_EQ(program->kernels().size(), 2u);
        const TextKernel& axpy = kernel(*program, "axpy");
        ASSERT_EQ(axpy.parameters.size(), 3u);
        const TextParameter &x = axpy.parameters[0], &y = axpy.parameters[1], &a = axpy.parameters[2];
        EXPECT_EQ(x.kind, Kind::Pointer);
        EXPECT_TRUE(x.read_only);
        EXPECT_EQ(x.name, "x");
        EXPECT_EQ(x.type, "float*");
        EXPECT_EQ(x.dtype, DType::Float32);
        EXPECT_FALSE(y.read_only);
        EXPECT_EQ(a.kind, Kind::Value);
        EXPECT_EQ(a.bytes, 4u);
        EXPECT_EQ(a.dtype, DType::Float32);
        EXPECT_GT(axpy.most_items, 0);
        EXPECT_EQ(axpy.most_local, d->info().local_mem_size);
        EXPECT_EQ(axpy.group[0], 0);
        const TextKernel& shared = kernel(*program, "shared");
        ASSERT_EQ(shared.parameters.size(), 4u);
        EXPECT_EQ(shared.parameters[0].kind, Kind::Pointer);
        EXPECT_TRUE(shared.parameters[0].read_only);
        EXPECT_EQ(shared.parameters[0].dtype, DType::UInt8);
        EXPECT_EQ(shared.parameters[1].kind, Kind::Local);
        EXPECT_EQ(shared.parameters[2].bytes, 16u);
        EXPECT_FALSE(shared.parameters[2].dtype);
        EXPECT_EQ(shared.parameters[3].dtype, DType::UInt64);
        EXPECT_EQ(shared.group, (std::array<std::int64_t, 3>{4, 2, 1}));
        EXPECT_LE(shared.most_local, d->info().local_mem_size - 400);
    });
}

TEST_F(OpenCl, TextRunsOnItsBuffers) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        const Ref<device::TextProgram> program = d->compile_program(text);
        const auto at = static_cast<std::size_t>(&kernel(*program, "axpy") - program->kernels().data());
        constexpr std::size_t count = 256;
        const float one = 1, two = 2, factor = 3;
        const Ref<device::Buffer> x = d->allocate(count * 4, MemoryKind::Device, q), y = d->allocate(count * 4, MemoryKind::Device, q);
        q->fill(x.get(), 0, count * 4, &one, 4);
        q->fill(y.get(), 0, count * 4, &two, 4);
        const auto pointer = [](const Ref<device::Buffer>& b, std::uint64_t offset) {
            TextArgument a;
            a.kind = TextArgument::Kind::Pointer;
            a.bytes = b->bytes() - offset;
            a.words.push_back(reinterpret_cast<std::uint64_t>(b->data()) + offset);
            a.buffer = b.get();
            return a;
        };
        TextArgument number;
        number.bytes = sizeof factor;
        std::uint64_t word = 0;
        std::memcpy(&word, &factor, sizeof factor);
        number.words.push_back(word);
        device::TextLaunch launch;
        launch.arguments = {pointer(x, 0), pointer(y, 512), number};
        launch.global = {100, 1, 1};
        const device::BufferUse uses[] = {{x.get(), device::Access::Read}, {y.get(), device::Access::ReadWrite}};
        program->launch(q, at, launch, uses, {});
        launch.local = {20, 1, 1};
        program->launch(q, at, launch, uses, {}).wait();
        std::vector<float> got(count);
        q->read(got.data(), y.get(), 0, count * 4);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], i >= 128 && i < 228 ? 8.f : 2.f) << i;
    });
}

TEST_F(OpenCl, TextThatIsWrongIsExplained) {
    on_each([](device::Device* d) {
        const std::string message = message_of([&] { d->compile_program({"__kernel void f() {\n  int i = nothing;\n}\n", {}}); });
        EXPECT_EQ(message.rfind("Program: the compiler of " + d->id(), 0), 0u) << message;
        EXPECT_NE(message.find("\nline 2:   int i = nothing;\n"), std::string::npos) << message;
        EXPECT_NE(message_of([&] { d->compile_program({"void f() {}\n", {}}); }).find("no kernel in the text"), std::string::npos);
        EXPECT_TRUE(d->compile_program({"__kernel void f(__global int *x) { *x = V W; }\n", {"-DV=1", "-DW=+2"}}));
    });
}

}  // namespace
}  // namespace pardo::opencl
