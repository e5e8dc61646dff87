// tests/unit/backend_cuda/error_test.cpp: calls that fail, kernels that fail, and a device whose context is lost.
#include <cstdlib>
#include <iostream>

#include "support.h"

namespace pardo::cuda {
namespace {

using namespace test;
using device::Buffer;

std::string message_of(const std::function<void()>& f, ErrorCode code = ErrorCode::Device) {
    try {
        f();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), code) << e.message();
        return e.message();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(CudaErrors, AFailedCallNamesItself) {
    NEEDS_NVRTC();
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<Buffer> x = buffer_of(ramp(8)), y = buffer_of(ramp(8));
    d->queue()->wait();
    fake_cuda_fail_next("cuLaunchKernel", 701, 0);
    const std::string message = message_of([&] {
        launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f).wait();
        d->queue()->wait();
    });
    EXPECT_NE(message.find("cuLaunchKernelEx failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), std::string::npos) << message;
    EXPECT_FALSE(d->lost());
    launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f).wait();
}

TEST(CudaErrors, FailedCopiesFillsAndEventsAreHeardOf) {
    CudaDevice* d = device();
    const Ref<Buffer> a = buffer_of(ramp(8)), b = buffer_of(ramp(8));
    const int zero = 0;
    std::vector<float> host(8);
    struct Case {
        const char* call;
        std::function<void()> act;
    };
    const Case cases[] = {
        {"cuMemcpyDtoDAsync", [&] { d->queue()->copy(a.get(), 0, b.get(), 0, 32).wait(); }},
        {"cuMemsetD8Async", [&] { d->queue()->fill(a.get(), 0, 32, &zero, 4).wait(); }},
        {"cuMemcpyHtoDAsync", [&] { d->queue()->write(a.get(), 0, host.data(), 32); }},
        {"cuMemcpyDtoHAsync", [&] { d->queue()->read(host.data(), a.get(), 0, 32); }},
    };
    for (const Case& c : cases) {
        fake_cuda_fail_next(c.call, 1, 0);
        const std::string message = message_of([&] {
            c.act();
            d->queue()->wait();
        });
        EXPECT_NE(message.find(std::string(c.call) + " failed: CUDA_ERROR_INVALID_VALUE"), std::string::npos) << message;
        c.act();  // and the queue goes on
    }
}

TEST(CudaErrors, AModuleThatDoesNotLoadSaysWhatToDo) {
    NEEDS_NVRTC();
    device::SourceKernel kernel = axpy;
    kernel.text += "// not loaded before\n";
    fake_cuda_fail_next("cuModuleLoadDataEx", 200, 0);
    const std::string message = message_of([&] { (void)device()->compile_source(kernel); });
    EXPECT_NE(message.find("axpy: cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_IMAGE"), std::string::npos) << message;
    EXPECT_NE(message.find("the driver knows CUDA 13.0"), std::string::npos) << message;
    EXPECT_TRUE(device()->compile_source(kernel));
}

TEST(CudaErrors, AContextThatCannotBeMadeIsHeardOf) {
    const std::string message = message_of(
        [] {
            CudaDevice fresh(device()->backend(), 0, device()->handle());
            fake_cuda_fail_next("cuDevicePrimaryCtxRetain", 2, 0);
            (void)fresh.context();
        },
        ErrorCode::Memory);
    EXPECT_NE(message.find("cuda:0 cannot be used: cuDevicePrimaryCtxRetain failed"), std::string::npos) << message;
}

/// In a process of its own: the device does not come back.
void lose_a_device() {
    fake_cuda_on_launch("axpy", run_axpy);
    CudaDevice *d = device(1), *other = device(0);
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<Buffer> x = buffer_of(ramp(8), d), y = buffer_of(ramp(8), d);
    d->queue()->wait();
    const Ref<device::Queue> second = d->create_queue(QueueOrder::InOrder, false);
    Event bad, behind;
    {
        const Hold hold;
        fake_cuda_fail_kernel("axpy", 700);
        bad = launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f);
        behind = launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f);
    }
    std::cerr << "bad: " << message_of([&] { bad.wait(); }) << '\n';
    EXPECT_EQ(behind.status(), EventStatus::Failed);
    // What uses the memory that `behind` was to write inherits its failure; other work fails at the call.
    std::cerr << "later launch: " << message_of([&] { launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f).wait(); }) << '\n';
    std::cerr << "allocation: " << message_of([&] { (void)d->allocate(64, MemoryKind::Device, d->queue()); }) << '\n';
    std::cerr << "other queue: " << message_of([&] { launch_axpy(second.get(), program.get(), x.get(), y.get(), 1.0f).wait(); }) << '\n';
    std::cerr << "compile: " << message_of([&] { (void)d->compile_source(axpy); }) << '\n';
    const Ref<Buffer> p = buffer_of(ramp(8), other), q = buffer_of(ramp(8), other);
    launch_axpy(other->queue(), program.get(), p.get(), q.get(), 1.0f).wait();
    std::cerr << "other device: " << values_of(q.get(), other)[7] << '\n';
    std::exit(testing::Test::HasFailure());
}

TEST(CudaErrorsDeath, AnIllegalAddressLosesTheContextAndNothingElse) {
    NEEDS_NVRTC();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(lose_a_device(), testing::ExitedWithCode(0),
                "bad: .*CUDA_ERROR_ILLEGAL_ADDRESS .*the context of cuda:1 is lost.*the process must be restarted .in kernel axpy, at "
                "model.py:42.\n"
                "later launch: .*the context of cuda:1 is lost.*\n"
                "allocation: .*the context of cuda:1 is lost.*\n"
                "other queue: .*the context of cuda:1 is lost.*\n"
                "compile: .*the context of cuda:1 is lost.*\n"
                "other device: 14");
}

/// With work in flight; the streams never run it.
void exit_with_work_in_flight() {
    CudaDevice* d = device();
    const Ref<device::Program> program = d->compile_source(axpy);
    const Ref<Buffer> x = buffer_of(ramp(8)), y = buffer_of(ramp(8));
    for (int i = 0; i < 100; ++i) launch_axpy(d->queue(), program.get(), x.get(), y.get(), 1.0f);
    std::exit(3);
}
TEST(CudaErrorsDeath, TheProcessEndsWithWorkInFlight) {
    NEEDS_NVRTC();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_with_work_in_flight(), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace pardo::cuda
