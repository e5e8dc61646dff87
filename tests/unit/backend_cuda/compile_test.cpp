// tests/unit/backend_cuda/compile_test.cpp: text and kernels through NVRTC for the architectures that matter; needs no driver.
#include "backend/cuda/libraries/search.h"
#include "emit/c/family.h"
#include "emit/c/target.h"
#include "ir/builder.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using namespace test;

std::string text_of(const device::SourceKernel& kernel) {
    emit::CFeatures features;
    features.target = &emit::cuda_cpp;
    features.sub_group = 32;
    features.max_group_size = 1024;
    return emit::c_macros(features) + kernel.text;
}

TEST(CudaCompile, TextBecomesMachineCodeForEachArchitecture) {
    NEEDS_NVRTC();
    for (const char* arch : {"sm_80", "sm_90"}) {
        const jit::Binary cubin = compile_text("axpy", text_of(axpy), default_options(), arch);
        ASSERT_GT(cubin.size(), 4u);
        EXPECT_EQ(std::memcmp(cubin.data(),
                              "\x7f"
                              "ELF",
                              4),
                  0);
    }
    const jit::Binary ptx = compile_text("axpy", text_of(axpy), default_options(), "compute_80");
    EXPECT_NE(std::string(ptx.begin(), ptx.end()).find(".entry axpy"), std::string::npos);
}

TEST(CudaCompile, ProductsAndSumsAreNotContracted) {
    NEEDS_NVRTC();
    const jit::Binary ptx = compile_text("axpy", text_of(axpy), default_options(), "compute_90");
    EXPECT_EQ(std::string(ptx.begin(), ptx.end()).find("fma"), std::string::npos);
}

TEST(CudaCompile, ErrorsShowTheMessageAndTheLine) {
    NEEDS_NVRTC();
    const std::string text = "extern \"C\" __global__ void f(float* x) {\n    x[0] = wrong_name;\n}\n";
    try {
        (void)compile_text("f", text, default_options(), "sm_90");
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Compile);
        EXPECT_NE(e.message().find("f: NVRTC "), std::string::npos) << e.message();
        EXPECT_NE(e.message().find("\"wrong_name\" is undefined"), std::string::npos) << e.message();
        EXPECT_NE(e.message().find("\n    "
                                   "    x[0] = wrong_name;"),
                  std::string::npos)
            << e.message();
    }
}

TEST(CudaCompile, KnowsWhatNvrtcCanMake) {
    NEEDS_NVRTC();
    EXPECT_EQ(target_for(9, 0).arch, "sm_90");
    EXPECT_EQ(target_for(9, 0).reason, "");
    const Target later = target_for(99, 0);  // of the far future
    EXPECT_EQ(later.arch.substr(0, 8), "compute_");
    EXPECT_NE(later.reason.find("does not know sm_990"), std::string::npos);
    EXPECT_THROW((void)target_for(2, 0), Error);
}

TEST(CudaCompile, PackedCodeServesLaterDevicesOfTheSameMajor) {
    const std::vector<std::string> targets = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "compute_90"};
    const auto target = [&](int major, int minor) {
        const auto found = packed_target(targets, major, minor);
        return found ? targets[*found] : "none";
    };
    EXPECT_EQ(target(7, 0), "none");
    EXPECT_EQ(target(7, 5), "sm_75");
    EXPECT_EQ(target(8, 0), "sm_80");
    EXPECT_EQ(target(8, 9), "sm_80");
    EXPECT_EQ(target(9, 0), "sm_90");
    EXPECT_EQ(target(10, 3), "sm_100");
    EXPECT_EQ(target(11, 0), "compute_90");
    EXPECT_EQ(target(12, 1), "sm_120");
    EXPECT_EQ(target(13, 0), "compute_90");
    EXPECT_FALSE(packed_target({}, 9, 0));
}

TEST(CudaCompile, KernelsOfTheIrRunByTheirGeometry) {
    NEEDS_NVRTC();
    ir::Builder b("double_it", 1, true);
    const ir::Value x = b.pointer("x", DType::Float32, ir::Access::ReadWrite, true);
    const ir::Value i = b.dim(0);
    const ir::Value v = b.load(x, i);
    b.store(x, i, b.add(v, v));
    const ir::Kernel kernel = b.finish();
    CudaDevice* d = device();
    const std::int64_t extents[] = {1000};
    const device::ShapeClass shape = d->shape_class(kernel, {extents, 1, 1});
    const Ref<device::Program> program = d->compile(kernel, shape);
    EXPECT_EQ(d->compile(kernel, shape).get(), program.get());
    EXPECT_NE(d->inspect(kernel, shape, "cuda").find("double_it"), std::string::npos);
    EXPECT_NE(d->inspect(kernel, shape, "ptx").find(".target sm_90"), std::string::npos);
    EXPECT_NE(d->inspect(kernel, shape, "ir").find("double_it"), std::string::npos);
    EXPECT_THROW((void)d->inspect(kernel, shape, "llvm"), Error);
    const Ref<device::Buffer> buffer = buffer_of(ramp(1000));
    fake_cuda_forget_launches();
    const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(buffer->data())};
    const device::BufferUse uses[] = {{buffer.get(), device::Access::ReadWrite}};
    device::Launch l;
    l.program = program.get();
    l.extents = extents;
    l.args = args;
    l.uses = uses;
    d->queue()->launch(l);
    d->queue()->launch(l).wait();
    ASSERT_EQ(fake_cuda_launches(), 2);
    const FakeLaunch* recorded = fake_cuda_launch(0);
    EXPECT_GE(recorded->grid[0] * recorded->block[0], 250u);
    ASSERT_EQ(recorded->param_count, 3);
    EXPECT_EQ(recorded->params[0], args[0]);
    EXPECT_EQ(recorded->params[1], 1000u);
    EXPECT_NE(recorded->params[2], fake_cuda_launch(1)->params[2]);  // the groups of every other launch come in reverse order
    l.extents = {};
    EXPECT_THROW(d->queue()->launch(l), Error);
}

TEST(CudaLibraries, AreLookedForWhereTheVariableSays) {
    setenv("PARDO_TEST_LIBRARY", "/some/where/libnvrtc.so", 1);
    EXPECT_EQ(library_candidates("PARDO_TEST_LIBRARY", "libnvrtc", 0), std::vector<std::string>{"/some/where/libnvrtc.so"});
    EXPECT_EQ(searched_places("PARDO_TEST_LIBRARY", "libnvrtc"), "PARDO_TEST_LIBRARY=/some/where/libnvrtc.so");
    unsetenv("PARDO_TEST_LIBRARY");
    const std::string places = searched_places("PARDO_TEST_LIBRARY", "libnvrtc");
    for (const char* place : {"PARDO_TEST_LIBRARY (not set)", "/usr/local/cuda/lib64", "/opt/cuda/lib64", "the system's loader"})
        EXPECT_NE(places.find(place), std::string::npos) << places;
    // cuFFT's and cuSOLVER's own versions are one less than CUDA's.
    EXPECT_EQ(cuda_major("libcufft.so.11", "libcufft", 1), 12);
    EXPECT_EQ(cuda_major("/some/where/libcufft.so", "libcufft", 1), 0);
    EXPECT_TRUE(searched_places("PARDO_TEST_LIBRARY", "libcufft", 1).ends_with("libcufft.so.12, .so.11)"));
    EXPECT_EQ(library_candidates("PARDO_TEST_LIBRARY", "libnowhere", 12, 1),
              (std::vector<std::string>{"libnowhere.so.11", "libnowhere.so.12"}));
}

}  // namespace
}  // namespace pardo::cuda
