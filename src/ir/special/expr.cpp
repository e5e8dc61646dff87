// src/ir/special/expr.cpp: what recipes are made of: calls, loops, polynomials.
#include "ir/special/expr.h"

namespace pardo::ir::special {
namespace {

/// Every `step`-th coefficient from the first on.
Expr horner(Expr x, std::span<const double> c, std::size_t first, std::size_t step) {
    if (c.size() <= first) return x(0.0);
    std::size_t k = first + (c.size() - 1 - first) / step * step;
    Expr sum = x(c[k]);
    while (k > first) {
        k -= step;
        sum = fma(sum, x, c[k]);
    }
    return sum;
}

}  // namespace

Expr call(Math fn, std::initializer_list<Expr> operands) {
    Builder& m = *operands.begin()->m;
    Builder::Values values;
    for (const Expr& e : operands) values.push_back(e.v);
    return {&m, call_expanded(m, fn, m.type(values[0]), values)};
}

std::vector<Expr> loop(std::initializer_list<Expr> initial, const std::function<Expr(Args)>& goes_on,
                       const std::function<std::vector<Expr>(Args)>& step) {
    Builder* m = initial.begin()->m;
    const auto exprs = [m](std::span<const Value> values) {
        std::vector<Expr> out;
        for (const Value v : values) out.push_back({m, v});
        return out;
    };
    const auto values = [](const std::vector<Expr>& given) {
        Builder::Values out;
        for (const Expr& e : given) out.push_back(e.v);
        return out;
    };
    const Builder::Values first = values(std::vector<Expr>(initial));
    return exprs(m->while_loop(
        first, [&](std::span<const Value> v) { return goes_on(exprs(v)).v; },
        [&](std::span<const Value> v) { return values(step(exprs(v))); }));
}

/// Every second power apart, of long ones every fourth: chains of a half or a quarter of the length. Processors wait for these chains.
Expr polynomial(Expr x, std::span<const double> c) {
    if (c.size() < 6) return horner(x, c, 0, 1);
    const Expr x2 = x * x;
    if (c.size() < 12) return fma(horner(x2, c, 1, 2), x, horner(x2, c, 0, 2));
    const Expr x4 = x2 * x2;
    const auto pair = [&](std::size_t first) { return fma(horner(x4, c, first + 1, 4), x, horner(x4, c, first, 4)); };
    return fma(fma(pair(3), x2, pair(1)), x, c[0]);  // the first term, usually the largest, is rounded once
}

Expr fitted(const Fit& fit, Expr u) {
    const Expr x = fit.center == 0.0 ? u : u - fit.center;
    const Expr top = polynomial(x, u.single() ? fit.top32 : fit.top64);
    const std::span<const double> below = u.single() ? fit.below32 : fit.below64;
    return below.empty() ? top : top / polynomial(x, below);
}

}  // namespace pardo::ir::special
