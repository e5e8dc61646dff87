// src/ir/math/special/fitted.cpp: evaluates an approximation of the tables.
#include "ir/math/special/special.h"

namespace pardo::ir::math {

Expr fitted(const Fit& fit, Expr u) {
    const Expr x = fit.center == 0.0 ? u : u - fit.center;
    const Expr top = polynomial(x, u.single() ? fit.top32 : fit.top64);
    const std::span<const double> below = u.single() ? fit.below32 : fit.below64;
    return below.empty() ? top : top / polynomial(x, below);
}

}  // namespace pardo::ir::math
