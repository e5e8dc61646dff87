// src/routines/cpu/fft/fft.cpp: Fourier transforms on the CPU by ducc0, by the device's threads.
#include <algorithm>
#include <cmath>

#include "routines/cpu/fft/job.h"
#include "routines/cpu/task.h"

namespace pardo::routines {
namespace {

using Run = void (*)(const FftJob&);

Run run_of(DType dtype) {
    const bool narrow = dtype == DType::Float32 || dtype == DType::Complex64;
#if defined(PARDO_FFT_AVX2)
    if (host_simd() != Simd::Portable) return narrow ? pardo_fft_avx2_float : pardo_fft_avx2_double;
#endif
    return narrow ? pardo_fft_portable_float : pardo_fft_portable_double;
}

/// The job without dimensions that have one element, as far as the transform can do without: what is one line is to be seen as one.
FftJob job_of(const Memory& x, const Memory& out, const Fourier& what, std::span<const int> axes) {
    FftJob job;
    job.what = what;
    job.in = x.address();
    job.out = out.address();
    // The element of a complex transform of length one is itself, times the factor; of others the last axis tells the sides apart, and
    // types of sine and cosine transforms are not all the same.
    const bool complex = what.transform == Transform::Complex,
               plain = what.transform != Transform::Cosine && what.transform != Transform::Sine;
    SmallVector<bool, 8> stays(x.shape.size(), false);
    for (int d = 0; d < x.shape.size(); ++d) stays[d] = x.shape[d] != 1 || out.shape[d] != 1;
    for (const int axis : axes) stays[axis] |= !plain;
    if (!complex || std::ranges::none_of(axes, [&](int axis) { return stays[axis]; })) stays[axes.back()] = true;
    SmallVector<int, 8> place(x.shape.size(), 0);
    for (int d = 0; d < x.shape.size(); ++d) {
        if (!stays[d]) continue;
        place[d] = static_cast<int>(job.in_shape.size());
        job.in_shape.push_back(static_cast<std::size_t>(x.shape[d]));
        job.in_strides.push_back(x.strides[d]);
        job.out_shape.push_back(static_cast<std::size_t>(out.shape[d]));
        job.out_strides.push_back(out.strides[d]);
    }
    for (const int axis : axes) {
        if (stays[axis]) job.axes.push_back(static_cast<std::size_t>(place[axis]));
    }
    return job;
}

/// By the threads of `device`, which is a CPU: the queue's, or the host's.
void fft_by(device::Device* device, device::Queue* queue, const Memory& x, const Memory& out, const Fourier& what,
            std::span<const int> axes) {
    // 5 n log2(n) operations, as is usual.
    const auto count = static_cast<double>(std::max(x.size(), out.size()));
    double points = 1;
    for (const int axis : axes) points *= static_cast<double>(std::max(x.shape[axis], out.shape[axis]));
    const double operations = count * std::log2(points + 1) * (what.transform == Transform::Complex ? 5 : 2.5);
    const double cost = operations * 0.2 + 300;  // ns on one core
    const SmallVector<int, 8> along(axes);
    const auto task = [=] {
        FftJob job = job_of(x, out, what, along);
        job.threads = static_cast<std::size_t>(cpu::thread_count(device));
        job.run = [&](std::size_t parts, const std::function<void(std::size_t)>& f) {
            cpu::parallel_for(device, static_cast<std::int64_t>(parts), cost, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) f(static_cast<std::size_t>(i));
            });
        };
        run_of(out.dtype)(job);
    };
    submit(queue, "fft", cost, {&x}, {&out}, task, static_cast<std::int64_t>(operations));
}

void cpu_fft(device::Queue* queue, const Memory& x, const Memory& out, const Fourier& what, std::span<const int> axes) {
    fft_by(queue->device(), queue, x, out, what, axes);
}
/// Of a device that is the host's processor, in its memory.
void shared_fft(device::Queue* queue, const Memory& x, const Memory& out, const Fourier& what, std::span<const int> axes) {
    fft_by(cpu::whole_cpu(), queue, x, out, what, axes);
}

const Registered by_ducc(routines::fft, {"ducc0", DeviceKinds::Host, cpu_fft});
const Registered at_once(routines::fft_in_parts, {"ducc0", DeviceKinds::Host, [](device::Queue*, Transform) { return false; }});
const Registered in_place(routines::fft, {"ducc0", DeviceKinds::HostProcessor, shared_fft});
const Registered in_place_at_once(routines::fft_in_parts,
                                  {"ducc0", DeviceKinds::HostProcessor, [](device::Queue*, Transform) { return false; }});
// As it is with cuFFT: tests ask for it by name.
const Registered by_parts(routines::fft_in_parts,
                          {"parts", DeviceKinds::Host,
                           [](device::Queue*, Transform transform) { return transform <= Transform::ComplexToReal; }, nullptr, 2});

}  // namespace
}  // namespace pardo::routines
