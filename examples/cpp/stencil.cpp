// examples/cpp/stencil.cpp: Jacobi's iteration for the heat equation by slices of arrays, checked against plain loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/ops.h>

#include "timing.h"

namespace {

constexpr std::int64_t n = 1000;
constexpr int sweeps = 50;

/// A plate of which one edge is hot.
std::vector<double> plate() {
    std::vector<double> u(n * n, 0.0);
    for (std::int64_t j = 0; j < n; ++j) u[j] = std::sin(0.01 * static_cast<double>(j));
    return u;
}

std::vector<double> plain() {
    std::vector<double> u = plate(), v = u;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (std::int64_t i = 1; i < n - 1; ++i) {
            for (std::int64_t j = 1; j < n - 1; ++j) {
                const std::int64_t at = i * n + j;
                v[at] = 0.25 * (u[at - n] + u[at + n] + u[at - 1] + u[at + 1]);
            }
        }
        std::swap(u, v);
    }
    return u;
}

/// u[rows, columns], a view.
pardo::Array part(const pardo::Array& u, std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
    return u[{pardo::Slice{i0, i1}, pardo::Slice{j0, j1}}];
}

pardo::Array sliced() {
    pardo::Array u = pardo::reshape(pardo::array(plate()), {n, n}), v = u.copy();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        part(v, 1, n - 1, 1, n - 1)
            .assign(0.25 * (part(u, 0, n - 2, 1, n - 1) + part(u, 2, n, 1, n - 1) + part(u, 1, n - 1, 0, n - 2) + part(u, 1, n - 1, 2, n)));
        std::swap(u, v);
    }
    u.wait();
    return u;
}

}  // namespace

int main() {
    std::vector<double> expected;
    pardo::Array u;
    const double plain_ms = best_ms(3, [&] { expected = plain(); });
    const double sliced_ms = best_ms(3, [&] { u = sliced(); });

    double difference = 0;
    const auto* values = static_cast<const double*>(u.data());
    for (std::int64_t i = 0; i < n * n; ++i) difference = std::max(difference, std::abs(values[i] - expected[i]));
    std::printf("%s: %d sweeps over %lld x %lld, plain loops %.1f ms, pardo %.1f ms, largest difference %.2g\n", u.device().id().c_str(),
                sweeps, static_cast<long long>(n), static_cast<long long>(n), plain_ms, sliced_ms, difference);
    return difference < 1e-12 ? 0 : 1;
}
