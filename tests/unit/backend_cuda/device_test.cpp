// tests/unit/backend_cuda/device_test.cpp: finding the driver and devices, and what is said when there are none.
#include <cstdlib>
#include <iostream>

#include <pardo/device.h>

#include "base/env.h"
#include "device/graphics.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using test::device;

/// Sets a variable while it lives.
struct Variable {
    const char* name;
    std::string before;
    Variable(const char* n, const char* value) : name(n), before(std::getenv(n) ? std::getenv(n) : "") { setenv(n, value, 1); }
    ~Variable() {
        if (before.empty()) {
            unsetenv(name);
        } else {
            setenv(name, before.c_str(), 1);
        }
    }
};

/// In a process of its own, which has not loaded a driver yet.
void print_reason() {
    for (const BackendInfo& b : get_backends()) {
        if (b.name == "cuda") std::cerr << b.unavailable << '\n';
    }
    std::exit(0);
}
#define EXPECT_REASON(regex)                        \
    GTEST_FLAG_SET(death_test_style, "threadsafe"); \
    EXPECT_EXIT(print_reason(), testing::ExitedWithCode(0), regex)

TEST(CudaDeath, SaysThatThereIsNoDriver) {
    const Variable v("PARDO_CUDA_DRIVER", "/nowhere/libcuda.so.1");
    EXPECT_REASON("PARDO_CUDA_DRIVER=/nowhere/libcuda.so.1 cannot be loaded");
}
TEST(CudaDeath, SaysThatALibraryIsNoDriver) {
    const Variable v("PARDO_CUDA_DRIVER", "libm.so.6");
    EXPECT_REASON("libm.so.6 is not a CUDA driver");
}
TEST(CudaDeath, SaysThatTheDriverIsTooOld) {
    const Variable v("FAKE_CUDA_VERSION", "11080");
    EXPECT_REASON("too old: it knows CUDA 11.8, pardo needs 12.0 or newer");
}
TEST(CudaDeath, NamesTheFailureOfInit) {
    const Variable v("FAKE_CUDA_INIT", "803");
    EXPECT_REASON("cuInit failed: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH .* reboot after an update");
}
TEST(CudaDeath, NamesAMachineWithoutDevices) {
    const Variable v("FAKE_CUDA_INIT", "100");
    EXPECT_REASON("CUDA_ERROR_NO_DEVICE .*CUDA_VISIBLE_DEVICES");
}
TEST(CudaDeath, NamesADriverWithoutDevices) {
    const Variable v("FAKE_CUDA_DEVICES", "0");
    EXPECT_REASON("has no devices");
}

TEST(CudaDriver, TheToolkitsStubHasEveryFunctionUnderItsName) {
    // The fake driver has whatever names we think of; the stub has the real ones.
    std::string error;
    const DynamicLibrary stub = DynamicLibrary::open({"/usr/local/cuda/lib64/stubs/libcuda.so", "libcuda.so.1"}, &error);
    if (!stub) GTEST_SKIP() << error;
#define EXPECT_SYMBOL(name, symbol_name, params) EXPECT_NE(stub.symbol(symbol_name), nullptr) << symbol_name;
    PARDO_CUDA_FUNCTIONS(EXPECT_SYMBOL)
    PARDO_CUDA_GRAPHICS_FUNCTIONS(EXPECT_SYMBOL)
#undef EXPECT_SYMBOL
#define EXPECT_SYMBOL(name, symbol_name, since, params) EXPECT_NE(stub.symbol(symbol_name), nullptr) << symbol_name;
    PARDO_CUDA_NEWER_FUNCTIONS(EXPECT_SYMBOL)
#undef EXPECT_SYMBOL
}

void list_devices() {
    const std::size_t count = get_devices("cuda").size();
    std::cerr << count << " devices, " << fake_cuda_live("context") << " contexts\n";
    std::exit(0);
}
TEST(CudaDeath, ListingMakesNoContext) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(list_devices(), testing::ExitedWithCode(0), "2 devices, 0 contexts");
}

TEST(CudaDevice, TellsItsFacts) {
    const DeviceInfo& info = device()->info();
    EXPECT_EQ(info.backend, "cuda");
    EXPECT_EQ(info.name, "Fake GPU 0");
    EXPECT_EQ(info.type, DeviceType::Gpu);
    EXPECT_EQ(info.version, "CUDA 13.0, sm_90");
    EXPECT_EQ(info.pci_address, "0000:18:00.0");
    EXPECT_EQ(info.architecture, "sm_90");
    EXPECT_EQ(info.uuid, "00010203-0405-0607-0809-0a0b0c0d0e0f");
    EXPECT_EQ(info.max_compute_units, 132);
    EXPECT_EQ(info.sub_group_sizes, std::vector<int>{32});
    EXPECT_EQ(info.global_mem_size, std::int64_t{1} << 30);
    EXPECT_EQ(device(1)->id(), "cuda:1");
    EXPECT_NE(device(1)->info().uuid, info.uuid);
    EXPECT_TRUE(is_cuda(device()));
    EXPECT_FALSE(is_cuda(device::select("cpu")));
    EXPECT_EQ(device()->execution(), device::Execution::Groups);
    EXPECT_TRUE(device()->supports(DType::Float64));
}

TEST(CudaDevice, SharesNothingWithoutAContextOfOpenGl) {
    EXPECT_TRUE(device()->graphics_devices().empty());
    EXPECT_TRUE(device::select("cpu")->graphics_devices().empty());
    for (device::Device* d : {static_cast<device::Device*>(device()), device::select("cpu")})
        EXPECT_THROW((void)d->share_graphics(1, 0), Error) << d->id();
    EXPECT_FALSE(device()->lost());
}

TEST(CudaDevice, FreeMemoryFallsWithAllocations) {
    device()->queue()->wait();
    device()->trim_memory();  // what other tests have left
    const std::int64_t before = *device()->free_memory();
    const auto block = device()->allocate(32 << 20, MemoryKind::Device, device()->queue());
    EXPECT_LE(*device()->free_memory(), before - (32 << 20));
}

TEST(CudaDevice, LeavesTheThreadsContextAlone) {
    ContextHandle before = nullptr, after = nullptr;
    const ContextHandle own = device(1)->context();  // loads the driver, whose functions are null before
    driver().cuCtxSetCurrent(own);
    driver().cuCtxGetCurrent(&before);
    (void)test::buffer_of(test::ramp(16));
    driver().cuCtxGetCurrent(&after);
    EXPECT_EQ(before, after);
    driver().cuCtxSetCurrent(nullptr);
}

}  // namespace
}  // namespace pardo::cuda
