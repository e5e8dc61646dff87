// src/routines/cpu/fft/job.h: a Fourier transform of the CPU's memory, as the code that ducc.cpp makes for each instruction set takes it.
// This folder: Fourier transforms by ducc0: what is compiled of it, its threads and its plans, which are ours.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <pardo/fft.h>
#include <pardo/ops.h>

namespace pardo::routines {

/// Shapes are those of the two sides; axes differ, and there is one at least. Strides in elements.
struct FftJob {
    Fourier what;
    const void* in = nullptr;
    void* out = nullptr;
    std::vector<std::size_t> in_shape, out_shape, axes;
    std::vector<std::ptrdiff_t> in_strides, out_strides;
    std::size_t threads = 1;
    /// Runs f(0) … f(parts - 1), shared out among the threads.
    std::function<void(std::size_t parts, const std::function<void(std::size_t)>& f)> run;
};

/// What a plan is for: its type, by the address of something that the type alone has, and its length.
struct FftPlanKey {
    const void* type;
    std::size_t length;
    bool vectorized;
    bool operator==(const FftPlanKey&) const = default;
};
struct FftPlan {
    std::shared_ptr<void> plan;
    std::size_t bytes;
};
/// The plan for a key, kept from before or made. What is kept has a bound; those that were used last stay.
std::shared_ptr<void> find_plan(const FftPlanKey& key, const std::function<FftPlan()>& make);

}  // namespace pardo::routines

extern "C" {
void pardo_fft_portable_float(const pardo::routines::FftJob& job);
void pardo_fft_portable_double(const pardo::routines::FftJob& job);
#if defined(PARDO_FFT_AVX2)
void pardo_fft_avx2_float(const pardo::routines::FftJob& job);
void pardo_fft_avx2_double(const pardo::routines::FftJob& job);
#endif
}
