// examples/cpp/devices.cpp: the same computation on each device of the machine, and how much memory it took there.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/memory.h>
#include <pardo/ops.h>
#include <pardo/queue.h>

#include "timing.h"

int main() {
    constexpr std::int64_t n = 1'000'000;
    const double expected = n / 2.0;
    bool right = true;
    for (const pardo::Device& device : pardo::get_devices()) {
        const pardo::DType dtype = device.supports(pardo::DType::Float64) ? pardo::DType::Float64 : pardo::DType::Float32;
        const pardo::Array angle = pardo::linspace(0, 3.14159265358979, n, true, dtype, pardo::Queue::of(device)).copy().force();
        double total = 0;
        const double ms = best_ms(3, [&] { total = pardo::sum(pardo::square(pardo::sin(angle))).item<double>(); });
        right &= std::abs(total - expected) < 1e-4 * expected;
        std::printf("%-12s %-40s %8.2f ms, %lld bytes at most\n", device.id().c_str(), device.info().name.c_str(), ms,
                    static_cast<long long>(pardo::memory_stats(device).peak));
    }
    const pardo::Device fastest = pardo::select_device({}, {pardo::Aspect::Accelerator});
    std::printf("select_device: %s\n", fastest.id().c_str());
    return right ? 0 : 1;
}
