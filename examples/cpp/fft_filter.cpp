// examples/cpp/fft_filter.cpp: takes the noise out of a signal: its Fourier transform without high frequencies.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <numbers>

#include <pardo/fft.h>
#include <pardo/ops.h>
#include <pardo/random.h>

#include "timing.h"

using namespace pardo;

namespace {

constexpr std::int64_t samples = 1 << 20, kept = 64;  // frequencies

/// The same in two passes over memory: what is left of the spectrum is chosen as it is read.
Array smooth(const Array& signal) {
    const Array spectrum = fft::rfft(signal);
    return fft::irfft(where(arange(0, spectrum.size(), 1) < kept, spectrum, 0), samples);
}

double deviation(const Array& x) { return stddev(x).item<double>(); }

}  // namespace

int main() {
    const Array turn = linspace(0, 2 * std::numbers::pi, samples, false);
    const Array pure = sin(3 * turn) + 0.5 * cos(40 * turn);
    const Array noisy = (pure + 0.3 * random::Generator(5).standard_normal(samples)).copy().wait();
    Array smoothed = smooth(noisy).wait();  // compiles
    const double ms = best_ms(3, [&] { smoothed = smooth(noisy).wait(); });
    const double before = deviation(noisy - pure), after = deviation(smoothed - pure);
    std::cout << "noisy    " << noisy[slice(4)] << "\nsmoothed " << smoothed[slice(4)] << "\npure     " << pure[slice(4)] << '\n';
    std::printf("%lld samples on %s: %.1f ms, deviation %.4f before and %.4f after\n", static_cast<long long>(samples),
                noisy.device().id().c_str(), ms, before, after);
    return after < before / 50 ? 0 : 1;
}
