// tests/unit/backend_cuda/text_test.cpp: the user's own text: what PTX tells of its kernels, compiling, launches on the fake driver.
#include <algorithm>

#include "backend/cuda/ptx.h"
#include "device/text.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using namespace test;
using device::TextArgument;
using device::TextKernel;
using device::TextParameter;
using Kind = TextParameter::Kind;

constexpr const char* ptx = R"(
//
// Generated: .entry is no declaration here (
.version 8.5
.target sm_90
.visible .func (.param .b32 r) helper(.param .b64 p) { ret; }
	// .globl	add
.visible .entry add(
	.param .u64 .ptr .global .align 4 add_param_0,
	.param .u64 add_param_1,
	.param .f32 add_param_2,
	.param .u32 add_param_3,
	.param .align 8 .b8 add_param_4[16],
	.param .u8 add_param_5,
	.param .f64 add_param_6
)
.maxntid 64, 1, 1
{
	ret;
}
.weak .entry _Z4noneIiEvv()
{ ret; }
)";

TEST(CudaText, PtxTellsOfKernels) {
    const std::string declarations = declarations_of(ptx);
    EXPECT_EQ(declarations.find("helper"), std::string::npos);
    EXPECT_EQ(declarations.find("ret"), std::string::npos);
    for (const std::string& text : {declarations, std::string(ptx)}) {
        const std::vector<TextKernel> kernels = kernels_of(text);
        ASSERT_EQ(kernels.size(), 2u);
        EXPECT_EQ(kernels[0].name.str(), "add");
        EXPECT_EQ(kernels[1].name.str(), "_Z4noneIiEvv");
        EXPECT_TRUE(kernels[1].parameters.empty());
        const std::vector<TextParameter>& p = kernels[0].parameters;
        ASSERT_EQ(p.size(), 7u);
        EXPECT_EQ(p[0].kind, Kind::Pointer);
        EXPECT_FALSE(p[0].dtype);
        EXPECT_EQ(p[1].kind, Kind::Any);
        EXPECT_EQ(p[1].dtype, DType::Int64);
        EXPECT_TRUE(p[1].any_sign);
        EXPECT_EQ(p[2].dtype, DType::Float32);
        EXPECT_EQ(p[3].dtype, DType::Int32);
        EXPECT_EQ(p[4].kind, Kind::Value);
        EXPECT_EQ(p[4].bytes, 16u);
        EXPECT_FALSE(p[4].dtype);
        EXPECT_EQ(p[5].dtype, DType::Int8);
        EXPECT_EQ(p[6].bytes, 8u);
        EXPECT_EQ(p[6].dtype, DType::Float64);
    }
    EXPECT_EQ(declarations_of("int main() {}"), "");
    EXPECT_EQ(declarations_of(""), "");
    EXPECT_TRUE(kernels_of(".visible .entry cut(").empty());
}

const device::ProgramText text = {
    "extern \"C\" __global__ void __launch_bounds__(128) scale(float *x, float a, long long n) {\n"
    "    extern __shared__ float own[];\n"
    "    own[threadIdx.x] = a;\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    if (i < n) x[i] *= own[threadIdx.x];\n"
    "}\n",
    {"-DUNUSED"}};

TEST(CudaText, NvrtcGivesPtxBesideMachineCode) {
    NEEDS_NVRTC();
    for (const char* arch : {"sm_80", "sm_90", "compute_90"}) {
        const UserImage made = compile_user_text(text, arch);
        EXPECT_EQ(std::equal(made.image.begin(), made.image.begin() + 4,
                             "\x7f"
                             "ELF"),
                  std::string_view(arch).starts_with("sm_"));
        const std::vector<TextKernel> kernels = kernels_of(made.ptx);
        ASSERT_EQ(kernels.size(), 1u);
        ASSERT_EQ(kernels[0].parameters.size(), 3u);
        EXPECT_EQ(kernels[0].parameters[1].dtype, DType::Float32);
        EXPECT_EQ(kernels[0].parameters[2].bytes, 8u);
    }
}

TEST(CudaText, LaunchesAsTheTextAndTheCallSay) {
    NEEDS_NVRTC();
    CudaDevice* d = device();
    const Ref<device::TextProgram> program = d->compile_program(text);
    EXPECT_EQ(d->compile_program(text).get(), program.get());
    EXPECT_TRUE(program->local_apart());
    ASSERT_EQ(program->kernels().size(), 1u);
    EXPECT_EQ(program->kernels()[0].most_items, 128);
    EXPECT_EQ(program->kernels()[0].most_local, d->most_shared());
    const Ref<device::Buffer> x = buffer_of(ramp(1000));
    const auto word = [](TextArgument::Kind kind, std::size_t bytes, std::uint64_t bits) {
        TextArgument a;
        a.kind = kind;
        a.bytes = bytes;
        a.words.push_back(bits);
        return a;
    };
    device::TextLaunch launch;
    launch.arguments = {word(TextArgument::Kind::Pointer, 4000, reinterpret_cast<std::uint64_t>(x->data()) + 8),
                        word(TextArgument::Kind::Local, 100'000, 0), word(TextArgument::Kind::Value, 4, 0x40000000),
                        word(TextArgument::Kind::Value, 8, 998)};
    launch.arguments[0].buffer = x.get();
    launch.global = {1000, 1, 1};
    launch.local = {100, 1, 1};
    const device::BufferUse uses[] = {{x.get(), device::Access::ReadWrite}};
    fake_cuda_forget_launches();
    program->launch(d->queue(), 0, launch, uses, {});
    launch.local = {};
    program->launch(d->queue(), 0, launch, uses, {}).wait();
    ASSERT_EQ(fake_cuda_launches(), 2);
    const FakeLaunch* l = fake_cuda_launch(0);
    EXPECT_EQ(l->grid[0], 10u);
    EXPECT_EQ(l->block[0], 100u);
    EXPECT_EQ(l->shared_bytes, 100'000u);
    ASSERT_EQ(l->param_count, 3);
    EXPECT_EQ(l->params[0], launch.arguments[0].words[0]);
    EXPECT_EQ(l->params[1], 0x40000000u);
    EXPECT_EQ(l->params[2], 998u);
    EXPECT_EQ(fake_cuda_launch(1)->block[0], 125u);  // the largest divisor of 1000 that the kernel takes
}

TEST(CudaText, ModulesGoWithTheirPrograms) {
    NEEDS_NVRTC();
    const long before = fake_cuda_live("module");
    {
        const Ref<device::TextProgram> program = device()->compile_program({text.text + "// may include files: not kept\n", {}});
        EXPECT_EQ(fake_cuda_live("module"), before + 1);
    }
    EXPECT_EQ(fake_cuda_live("module"), before);
}

}  // namespace
}  // namespace pardo::cuda
