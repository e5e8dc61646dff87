// src/ir/special/integrals.cpp: exponential integrals and complete elliptic integrals.
// exp1: P(x) - log x up to 1, e^-x / x times a function of 1 / x beyond. K and E, by m1 = 1 - m: a polynomial in m for m1 >= 1/2,
// P(m1) - log(m1) Q(m1) below; m < 0 is taken to m / (m - 1).
#include "ir/special/expr.h"

namespace pardo::ir::special {
namespace {

/// K for 0 < m1 <= 1, or E.
Expr complete(Expr m1, bool first_kind) {
    return branch(
        m1 >= 0.5, [&] { return fitted(first_kind ? ellipk_plain : ellipe_plain, 1.0 - m1); },
        [&] {
            if (first_kind) return fitted(ellipk_rest, m1) - log(m1) * fitted(ellipk_log, m1);
            return fitted(ellipe_rest, m1) - select(m1 == 0.0, m1, m1 * log(m1)) * fitted(ellipe_log, m1);
        });
}

/// By m1, which may be above 1.
Expr of_complement(Expr m1, bool first_kind) {
    const Expr negative = m1 > 1.0, inside = select(negative, 1.0 / m1, m1), root = sqrt(most(m1, 1.0));
    const Expr value = complete(inside, first_kind);
    const Expr result = first_kind ? value / root : value * root;
    const Expr at_end = m1 == m1.infinity();  // m = -inf
    return select(m1 < 0.0, m1.nan(), select(at_end, first_kind ? m1(0.0) : m1, result));
}

}  // namespace

Expr exp1(Args a) {
    const Expr x = a[0];
    const Expr value = branch(
        x <= 1.0, [&] { return fitted(exp1_near, x) - log(x); }, [&] { return exp(-x) / x * fitted(exp1_far, 1.0 / x); });
    return select(x < 0.0, x.nan(), select(x == 0.0, x.infinity(), value));
}

Expr ellipk(Args a) { return of_complement(1.0 - a[0], true); }
Expr ellipkm1(Args a) { return of_complement(a[0], true); }
Expr ellipe(Args a) { return of_complement(1.0 - a[0], false); }

}  // namespace pardo::ir::special
