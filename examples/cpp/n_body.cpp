// examples/cpp/n_body.cpp: gravity between all pairs of bodies; a group shares each tile of positions in local memory.
#include <cstdint>
#include <cstdio>

#include <pardo/ops.h>
#include <pardo/random.h>
#include <pardo/recorded_kernel.h>

#include "timing.h"

using namespace pardo;

namespace {

constexpr std::int64_t bodies = 4096, tile_size = 64;
constexpr float softening = 1e-3f;

const auto accelerations = kernel(
    [](NdItem item, In<float> position, In<float> mass, Out<float> out) {
        const Value i = item, k = item.get_local_id();
        const auto tile = local_memory<float>({4, tile_size});
        const Value x = position[{i, 0}], y = position[{i, 1}], z = position[{i, 2}];
        Var<float> ax = 0, ay = 0, az = 0;
        For(0, position.extent(), tile_size, [&](Value first) {
            for (int d = 0; d < 3; ++d) tile[{d, k}] = position[{first + k, d}];
            tile[{3, k}] = mass[first + k];
            item.barrier();  // the tile is whole
            For(0, tile_size, [&](Value j) {
                const Value dx = tile[{0, j}] - x, dy = tile[{1, j}] - y, dz = tile[{2, j}] - z;
                const Value distance = sqrt(dx * dx + dy * dy + dz * dz + softening);
                const Value force = tile[{3, j}] / (distance * distance * distance);
                ax += force * dx;
                ay += force * dy;
                az += force * dz;
            });
            item.barrier();  // no item needs the tile any more
        });
        out[{i, 0}] = ax;
        out[{i, 1}] = ay;
        out[{i, 2}] = az;
    },
    {.name = "accelerations", .fast_math = 1});

/// By whole arrays: all pairs at once.
Array by_arrays(const Array& position, const Array& mass) {
    const Array apart = position - position[{all, NewAxis{}}];
    const Array distance = sqrt(sum(square(apart), -1) + softening);
    return sum((mass / power(distance, 3))[{Ellipsis{}, NewAxis{}}] * apart, 1);
}

}  // namespace

int main() {
    const random::Generator rng(1);
    const Array position = rng.standard_normal({bodies, 3}, DType::Float32), mass = rng.random(bodies, DType::Float32);
    const Array out = empty({bodies, 3}, DType::Float32);
    const auto run = [&] { accelerations(NdRange{{bodies}, {tile_size}}, position, mass, out).wait(); };
    run();  // compiles
    const double ms = best_ms(3, run);
    const Array expected = by_arrays(position, mass);
    const double difference = (max(absolute(out - expected)) / max(absolute(expected))).item<double>();
    std::printf("%lld bodies on %s: %.1f ms, %.1f billion pairs a second, relative difference %.1g\n", static_cast<long long>(bodies),
                out.device().id().c_str(), ms, static_cast<double>(bodies * bodies) / ms / 1e6, difference);
    return difference < 1e-4 ? 0 : 1;
}
