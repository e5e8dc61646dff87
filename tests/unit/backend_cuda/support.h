// tests/unit/backend_cuda/support.h: the fake driver's devices, and kernels that it can run.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <pardo/error.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/device.h"
#include "backend/cuda/libraries/nvrtc.h"
#include "device/device.h"
#include "device/queue/queue.h"
#include "fake_cuda.h"

namespace pardo::cuda::test {

/// Two devices; the second one is for what breaks a device.
inline CudaDevice* device(int i = 0) { return static_cast<CudaDevice*>(device::select("cuda:" + std::to_string(i))); }

inline Ref<device::Buffer> buffer_of(const std::vector<float>& values, CudaDevice* d = device()) {
    Ref<device::Buffer> b = d->allocate(values.size() * 4, MemoryKind::Device, d->queue());
    d->queue()->write(b.get(), 0, values.data(), values.size() * 4);
    b->wait_for_read();  // other streams may use it
    return b;
}
inline std::vector<float> values_of(device::Buffer* b, CudaDevice* d = device()) {
    std::vector<float> values(b->bytes() / 4);
    d->queue()->read(values.data(), b, 0, b->bytes());
    return values;
}
inline std::vector<float> ramp(std::size_t n) {
    std::vector<float> v(n);
    std::iota(v.begin(), v.end(), 0.0f);
    return v;
}

/// y += a * x; the fake driver runs it by `run_axpy`.
inline const device::SourceKernel axpy = {
    "axpy",
    "KERNEL(64) axpy(CONST_ARG(f32, x), ARG(f32, y), f32 a, i64 n) {\n"
    "    CONST_PTR(f32, x);\n"
    "    PTR(f32, y);\n"
    "    const i64 i = GROUP_ID * 64 + LOCAL_ID;\n"
    "    if (i < n) y[i] += a * x[i];\n"
    "}\n",
    64,
    "ppfl",
};
inline void run_axpy(const FakeLaunch* l) {
    const auto n = static_cast<std::size_t>(l->params[3]);
    const auto* x = static_cast<const float*>(fake_cuda_host_address(l->params[0], n * 4));
    auto* y = static_cast<float*>(fake_cuda_host_address(l->params[1], n * 4));
    float a = 0;
    std::memcpy(&a, &l->params[2], sizeof a);
    for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

inline device::Label model_label(const void*) { return {"axpy", "model.py:42"}; }

inline Event launch_axpy(device::Queue* q, device::Program* program, device::Buffer* x, device::Buffer* y, float a,
                         std::span<const Event> depends = {}) {
    const std::int64_t n = static_cast<std::int64_t>(y->bytes() / 4), extents[] = {(n + 63) / 64};
    std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(x->data()), reinterpret_cast<std::uint64_t>(y->data()), 0,
                            static_cast<std::uint64_t>(n)};
    std::memcpy(&args[2], &a, sizeof a);
    const device::BufferUse uses[] = {{x, device::Access::Read}, {y, device::Access::ReadWrite}};
    device::Launch l;
    l.program = program;
    l.extents = extents;
    l.args = args;
    l.uses = uses;
    l.label = model_label;
    return q->launch(l, depends);
}

/// Skips the test where NVRTC is not installed.
#define NEEDS_NVRTC() \
    if (const std::string why = nvrtc_unavailable(); !why.empty()) GTEST_SKIP() << why

/// Streams take no new work while it lives.
struct Hold {
    Hold() { fake_cuda_hold(1); }
    ~Hold() { fake_cuda_hold(0); }
};

}  // namespace pardo::cuda::test
