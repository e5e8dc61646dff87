// examples/cpp/k_means.cpp: clusters points by k-means: a kernel finds the nearest centre of each point and adds it up there by atomics.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include <pardo/ops.h>
#include <pardo/random.h>
#include <pardo/recorded_kernel.h>

#include "timing.h"

using namespace pardo;

namespace {

constexpr std::int64_t points = 200'000, clusters = 8;
constexpr int rounds = 20;

/// Coordinates are read d by d: both arrays have two columns.
const auto assign_points =
    kernel([](Item i, In<double> x, In<double> centres, Out<std::int32_t> labels, InOut<double> sums, InOut<std::int64_t> counts) {
        Var<double> best = std::numeric_limits<double>::infinity();
        Var<std::int32_t> nearest = 0;
        For(0, centres.extent(), [&](Value c) {
            const Value dx = x[{i, 0}] - centres[{c, 0}], dy = x[{i, 1}] - centres[{c, 1}], square = dx * dx + dy * dy;
            If(square < best, [&] {
                best = square;
                nearest = c;
            });
        });
        labels[i] = nearest;
        atomic_add(counts[nearest], 1);
        for (int d = 0; d < 2; ++d) atomic_add(sums[{nearest, d}], x[{i, d}]);
    });

struct Clusters {
    Array centres, labels;
};

Clusters by_kernel(const Array& x, Array centres) {
    const Array labels = empty(points, DType::Int32);
    for (int round = 0; round < rounds; ++round) {
        const Array sums = zeros({clusters, 2}), counts = zeros(clusters, DType::Int64);
        assign_points(points, x, centres, labels, sums, counts);
        centres = sums / counts[{all, NewAxis{}}];
    }
    return {centres.wait(), labels};
}

/// By whole arrays: the distances from all points to all centres.
Array by_arrays(const Array& x, Array centres) {
    for (int round = 0; round < rounds; ++round) {
        const Array labels = argmin(sum(square(x[{all, NewAxis{}}] - centres), -1), 1);
        const Array mine = labels[{all, NewAxis{}}] == arange(0, clusters, 1);
        const Array sums = sum(where(mine[{all, all, NewAxis{}}], x[{all, NewAxis{}}], 0), 0);
        centres = sums / sum(mine, 0)[{all, NewAxis{}}];
    }
    return centres.wait();
}

}  // namespace

int main() {
    const random::Generator rng(0);
    const Array middles = 20 * rng.random({clusters, 2}) - 10;
    const Array own = rng.integers(0, clusters, points);  // apart: within one expression compilers choose the order of draws
    const Array x = (middles[own] + rng.standard_normal({points, 2})).copy().wait();
    const Array start = middles + rng.standard_normal({clusters, 2});
    Clusters found = by_kernel(x, start);  // compiles
    const double ms = best_ms(1, [&] { found = by_kernel(x, start); });
    const double difference = max(absolute(found.centres - by_arrays(x, start))).item<double>();
    const double cost = mean(sum(square(x - found.centres[found.labels]), 1)).item<double>();
    std::printf("%lld points, %lld clusters, %d rounds on %s: %.1f ms, mean squared distance %.4f, difference %.1g\n",
                static_cast<long long>(points), static_cast<long long>(clusters), rounds, x.device().id().c_str(), ms, cost, difference);
    return difference < 1e-6 && std::abs(cost - 1.7553) < 1e-4 ? 0 : 1;  // as of the points that Python's default_rng(0) draws
}
