# python/pardo/_polynomials/families.py: what tells the families of polynomials apart: a row of formulas each.
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# Formulas take arrays of any queue, or NumPy's: their functions are called by NumPy's names.
Spread = Callable[[Any, Any], tuple[Any, Any, Any]]


@dataclass(frozen=True)
class Family:
    """One family of polynomials P_0, P_1, … . `k` is an array of degrees, `c` the coefficients of these."""

    prefix: str  # of its functions: "cheb"
    module: str
    kind: str  # of its class
    title: str
    basis_name: str | None
    domain: tuple[float, float]
    # P_(k+1)(x) = (a x + b) P_k(x) - g P_(k-1)(x), of one degree.
    step: Callable[[int], tuple[float, float, float]]
    # What x P_k, and the integral of P_k, add to the coefficients of P_(k+1), P_k and P_(k-1).
    times_x: Spread
    integral: Spread
    # The derivative has the coefficients after(u, k): u_k is the sum of weighted(c, k) over k+1, k+1+stride, … (stride 0: k+1 alone).
    weighted: Callable[[Any, Any], Any]
    stride: int
    after: Callable[[Any, Any], Any]
    line: Callable[[Any, Any], list[Any]]  # coefficients of off + scl x
    # The companion matrix is symmetric: its diagonal, what stands beside it, and what c_k / c_n is times in the last column.
    companion: Callable[[Any, int], tuple[Any, Any, Any]]
    weight: Callable[[Any], Any] | None


ROOT_HALF = 0.5**0.5


def _same(u: Any, _k: Any) -> Any:
    return u


def _plain_line(off: Any, scl: Any) -> list[Any]:
    return [off, scl]


def _tail_products(k: Any, factor: Any, n: int) -> Any:
    """For each k the product of 1 / sqrt(factor j) over k < j < n."""
    if n == 1:
        return k + 1
    steps = np.concatenate([k[:1] + 1, 1 / np.sqrt(factor * k[:0:-1])])
    return np.multiply.accumulate(steps)[::-1]


POLYNOMIAL = Family(
    "poly", "polynomial", "Polynomial", "power", None, (-1.0, 1.0),
    step=lambda _: (1, 0, 0),
    times_x=lambda c, _: (c, None, None),
    integral=lambda c, k: (c / (k + 1), None, None),
    weighted=lambda c, k: c * k, stride=0, after=_same,
    line=_plain_line,
    companion=lambda k, _: (0 * k, 0 * k + 1, 0 * k + 1),
    weight=None,
)  # fmt: skip
CHEBYSHEV = Family(
    "cheb", "chebyshev", "Chebyshev", "Chebyshev", "T", (-1.0, 1.0),
    step=lambda k: (2 if k else 1, 0, 1),
    times_x=lambda c, k: (c * (1 + (k == 0)) / 2, None, c / 2),
    integral=lambda c, k: (c * (1 + (k == 0)) / (2 * (k + 1)), None, -c * (k > 1) / (2 * np.maximum(k - 1, 1))),
    weighted=lambda c, k: 2 * k * c, stride=2, after=lambda u, k: u / (1 + (k == 0)),
    line=_plain_line,
    companion=lambda k, n: (
        0 * k, np.where(k == 0, ROOT_HALF, 0.5), np.where(k == 0, ROOT_HALF, 0.5) if n > 1 else k + 1
    ),
    weight=lambda x: 1 / (np.sqrt(1 + x) * np.sqrt(1 - x)),
)  # fmt: skip
LEGENDRE = Family(
    "leg", "legendre", "Legendre", "Legendre", "P", (-1.0, 1.0),
    step=lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1)),
    times_x=lambda c, k: (c * (k + 1) / (2 * k + 1), None, c * k / (2 * k + 1)),
    integral=lambda c, k: (c / (2 * k + 1), None, -c * (k > 1) / (2 * k + 1)),
    weighted=lambda c, _: c, stride=2, after=lambda u, k: u * (2 * k + 1),
    line=_plain_line,
    companion=lambda k, n: (
        0 * k, (k + 1) / np.sqrt((2 * k + 1) * (2 * k + 3)), np.sqrt((2 * n - 1) / (2 * k + 1)) * (n / (2 * n - 1))
    ),
    weight=lambda x: x * 0.0 + 1.0,
)  # fmt: skip
LAGUERRE = Family(
    "lag", "laguerre", "Laguerre", "Laguerre", "L", (0.0, 1.0),
    step=lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)),
    times_x=lambda c, k: (-c * (k + 1), c * (2 * k + 1), -c * k),
    integral=lambda c, _: (-c, c, None),
    weighted=lambda c, _: -c, stride=1, after=_same,
    line=lambda off, scl: [off + scl, -scl],
    companion=lambda k, n: (2 * k + 1, -(k + 1), 0 * k - n),
    weight=lambda x: np.exp(-x),
)  # fmt: skip
HERMITE = Family(
    "herm", "hermite", "Hermite", "Hermite", "H", (-1.0, 1.0),
    step=lambda k: (2, 0, 2 * k),
    times_x=lambda c, k: (c / 2, None, c * k),
    integral=lambda c, k: (c / (2 * (k + 1)), None, None),
    weighted=lambda c, k: 2 * k * c, stride=0, after=_same,
    line=lambda off, scl: [off, scl / 2],
    companion=lambda k, n: (0 * k, np.sqrt((k + 1) / 2), _tail_products(k, 2, n) / 2),
    weight=lambda x: np.exp(-(x**2)),
)  # fmt: skip
HERMITE_E = Family(
    "herme", "hermite_e", "HermiteE", "Hermite (of probability)", "He", (-1.0, 1.0),
    step=lambda k: (1, 0, k),
    times_x=lambda c, k: (c, None, c * k),
    integral=lambda c, k: (c / (k + 1), None, None),
    weighted=lambda c, k: c * k, stride=0, after=_same,
    line=_plain_line,
    companion=lambda k, n: (0 * k, np.sqrt(k + 1), _tail_products(k, 1, n)),
    weight=lambda x: np.exp(-0.5 * x**2),
)  # fmt: skip
FAMILIES = {f.module: f for f in (POLYNOMIAL, CHEBYSHEV, LEGENDRE, LAGUERRE, HERMITE, HERMITE_E)}
