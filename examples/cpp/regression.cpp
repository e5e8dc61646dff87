// examples/cpp/regression.cpp: a polynomial through noisy points: least squares, the normal equations, and singular values.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <vector>

#include <pardo/array.h>
#include <pardo/linalg.h>
#include <pardo/ops.h>

int main() {
    constexpr std::int64_t n = 10'000;
    const pardo::Array x = pardo::linspace(-1, 1, n);
    const pardo::Array noise = 1e-3 * pardo::sin(1e4 * x);
    const pardo::Array y = 1.0 - 2.0 * x + 0.5 * x * x + noise;

    const pardo::Array a = pardo::stack({pardo::ones(n), x, x * x}, 1);
    const pardo::linalg::LeastSquares fit = pardo::linalg::lstsq(a, pardo::reshape(y, {n, 1}));
    const pardo::Array coefficients = fit.x[{pardo::Slice{}, 0}];

    // The same from (A^T A) c = A^T y.
    const pardo::Array at = pardo::permute_dims(a, {1, 0});
    const pardo::Array normal = pardo::linalg::solve(pardo::matmul(at, a), pardo::matmul(at, y));
    const double apart = pardo::max(pardo::absolute(normal - coefficients)).item<double>();

    std::cout << "coefficients " << coefficients << "\nsingular values " << pardo::linalg::svdvals(a) << "\nrank " << fit.rank
              << ", both ways differ by " << apart << '\n';
    const std::vector<double> c = coefficients.to_vector<double>();
    return apart < 1e-9 && std::abs(c[0] - 1) < 1e-3 && std::abs(c[1] + 2) < 1e-3 && std::abs(c[2] - 0.5) < 1e-3 ? 0 : 1;
}
