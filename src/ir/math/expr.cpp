// src/ir/math/expr.cpp: what recipes are made of: calls, loops, polynomials.
#include "ir/math/expr.h"

#include "ir/eval.h"
#include "ir/math/table.h"

namespace pardo::ir::math {
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

Builder::Values values_of(Args operands) {
    Builder::Values values;
    for (const Expr& e : operands) values.push_back(e.v);
    return values;
}

}  // namespace

Expr Expr::whole(std::int64_t number) const { return {m, m->constant(type(), make_integer(type(), static_cast<std::uint64_t>(number)))}; }

Expr call(Math fn, Args operands) { return {operands[0].m, operands[0].m->call(fn, values_of(operands))}; }

Expr expanded(Math fn, std::initializer_list<Expr> given) {
    const Args operands(given.begin(), given.size());
    const Row* row = find(fn, operands[0].type(), {});
    const Expr value = row && row->recipe.real ? row->recipe.real(operands) : nothing;
    return value.v == no_value ? call(fn, operands) : value;
}

Expr lookup(Expr index, std::span<const double> numbers, Expr like) {
    Builder::Values values;
    for (const double number : numbers) values.push_back(like(number).v);
    return {index.m, index.m->lookup(index.v, values)};
}

std::vector<Expr> loop(std::initializer_list<Expr> initial, const std::function<Expr(Args)>& goes_on,
                       const std::function<std::vector<Expr>(Args)>& step) {
    Builder* m = initial.begin()->m;
    const auto exprs = [m](std::span<const Value> values) {
        std::vector<Expr> out;
        for (const Value v : values) out.push_back({m, v});
        return out;
    };
    return exprs(m->while_loop(
        values_of({initial.begin(), initial.size()}), [&](std::span<const Value> v) { return goes_on(exprs(v)).v; },
        [&](std::span<const Value> v) { return values_of(step(exprs(v))); }));
}

Expr horner(Expr x, std::span<const double> c) { return horner(x, c, 0, 1); }

/// Every second power apart, of long ones every fourth: chains of a half or a quarter of the length. Processors wait for these chains.
Expr polynomial(Expr x, std::span<const double> c) {
    if (c.size() < 6) return horner(x, c);
    const Expr x2 = x * x;
    if (c.size() < 12) return fma(horner(x2, c, 1, 2), x, horner(x2, c, 0, 2));
    const Expr x4 = x2 * x2;
    const auto pair = [&](std::size_t first) { return fma(horner(x4, c, first + 1, 4), x, horner(x4, c, first, 4)); };
    return fma(fma(pair(3), x2, pair(1)), x, c[0]);  // the first term, usually the largest, is rounded once
}

}  // namespace pardo::ir::math
