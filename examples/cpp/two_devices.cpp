// examples/cpp/two_devices.cpp: one kernel on two devices at once, the CPU and the first one of OpenCL or CUDA: each has a share of the
// rows, as large as it is fast.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <pardo/ops.h>
#include <pardo/recorded_kernel.h>

#include "timing.h"

using namespace pardo;

namespace {

constexpr std::int64_t rows = 512, columns = 768;

/// How many steps points take to leave a circle: the rows from `first` on.
const auto escape = kernel(
    [](Item i, Param<std::int64_t> first, Out<std::int32_t> steps) {
        const Value re = i[1].as<float>() * (3.f / columns) - 2.25f, im = (first + i[0]).as<float>() * (2.5f / rows) - 1.25f;
        Var<float> x = 0, y = 0;
        Var<std::int32_t> n = 0;
        While([&] { return (n < 500) & (x * x + y * y < 4); },
              [&] {
                  const Value next = x * x - y * y + re;
                  y = 2 * x * y + im;
                  x = next;
                  n += 1;
              });
        steps[{i[0], i[1]}] = n;
    },
    {.name = "escape"});

Array part(const Device& device, std::int64_t first, std::int64_t count) {
    const Array steps = empty({count, columns}, DType::Int32, Queue::of(device));
    escape({count, columns}, first, steps);  // under way from here on
    return steps;
}

}  // namespace

int main() {
    const Device cpu("cpu");
    std::vector<Device> others = get_devices("cuda");
    for (const Device& device : get_devices("opencl")) others.push_back(device);
    if (others.empty()) {
        std::printf("there is only %s here: see docs/install.md for OpenCL and CUDA\n", cpu.id().c_str());
        return 0;
    }
    const Device& other = others.front();
    const Array expected = part(cpu, 0, rows).wait();
    part(other, 0, rows).wait();  // compiles
    const double alone = best_ms(3, [&] { part(cpu, 0, rows).wait(); }), there = best_ms(3, [&] { part(other, 0, rows).wait(); });
    const std::int64_t share = std::clamp<std::int64_t>(static_cast<std::int64_t>(rows * there / (alone + there)), 1, rows - 1);
    Array upper, lower;
    const double both = best_ms(3, [&] {
        lower = part(other, share, rows - share);
        upper = part(cpu, 0, share);
        lower.wait();
        upper.wait();
    });
    const Array steps = concat({upper, lower.to_device(cpu)});
    const double differ = mean(steps != expected).item<double>();  // compilers round differently
    std::printf("%s %.1f ms, %s %.1f ms; both, with %lld and %lld rows, %.1f ms; %.2g of the points differ\n", cpu.id().c_str(), alone,
                other.id().c_str(), there, static_cast<long long>(share), static_cast<long long>(rows - share), both, differ);
    return differ < 1e-3 ? 0 : 1;
}
