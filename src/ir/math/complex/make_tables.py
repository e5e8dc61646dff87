# src/ir/math/complex/make_tables.py: fits the sums of partial fractions that functions of complex numbers are approximated by.
"""python src/ir/math/complex/make_tables.py: writes tables.h beside it. It needs mpmath and SciPy, and takes some minutes.

exp(z) E1(z) for Im z >= 0 and abs(z + 1) >= 1.7. The poles are those of a rational approximation of (z + 1) times that by the AAA algorithm
(Y. Nakatsukasa, O. Sete, L. Trefethen, 2018), in 50 digits, and -1. They lie along a curve in the third quadrant, away from the half-plane
and from the negative real axis; the numerators are fitted to them by least squares. Terms add up to 2.3 times their sum at most. What is
printed is the largest relative error, between the points of the fit.
"""

from __future__ import annotations

from pathlib import Path

import mpmath as mp
import numpy as np
import scipy.linalg

CENTER, RADIUS = -1.0, 1.7
TERMS = {64: 23, 32: 11}  # of the approximation; the pole at -1 comes on top
mp.mp.dps = 50


def scaled_e1(z):
    return mp.exp(z) * mp.e1(z) if abs(z) < 400 else mp.fsum((-1) ** k * mp.factorial(k) / z ** (k + 1) for k in range(20))


def border(count):
    """Points on the boundary of the region."""
    points = [CENTER + RADIUS * np.exp(1j * (k + 0.5) / count * np.pi) for k in range(count)]
    for r in RADIUS * np.geomspace(1, 1e4, count):
        points += [complex(CENTER + r, 1e-30), complex(CENTER - r, 1e-30)]
    return [mp.mpc(z) for z in points]


def least(matrix):
    """The vector that the matrix makes smallest, by inverse iteration."""
    square, n = matrix.H * matrix, matrix.cols
    for k in range(n):
        square[k, k] += mp.mpf(10) ** -44
    x = mp.matrix([1 + mp.mpf(k) / 7 for k in range(n)])
    for _ in range(4):
        x = mp.lu_solve(square, x)
        x /= mp.norm(x)
    return list(x)


def poles_of(points, values, terms):
    support, found = [], [sum(values) / len(values)] * len(points)
    for _ in range(terms):
        rest = [i for i in range(len(points)) if i not in support]
        support.append(max(rest, key=lambda i: abs(1 - found[i] / values[i])))
        rest.remove(support[-1])
        weights = least(mp.matrix([[(values[i] - values[j]) / (points[i] - points[j]) for j in support] for i in rest]))
        for i in rest:
            q = [w / (points[i] - points[j]) for w, j in zip(weights, support, strict=True)]
            found[i] = mp.fdot(q, [values[j] for j in support]) / mp.fsum(q)
    # Zeros of the sum of weights / (z - point): eigenvalues, then Newton's method.
    n = len(support)
    left, right = np.zeros((n + 1, n + 1), complex), np.eye(n + 1, dtype=complex)
    left[0, 1:], left[1:, 0], right[0, 0] = [complex(w) for w in weights], 1, 0
    left[1:, 1:] = np.diag([complex(points[j]) for j in support])
    poles = []
    for start in scipy.linalg.eigvals(left, right):
        if np.isfinite(start) and abs(start) < 1e6:
            z = mp.mpc(start)
            for _ in range(8):
                q = [w / (z - points[j]) for w, j in zip(weights, support, strict=True)]
                z += mp.fsum(q) / mp.fsum(v / (z - points[j]) for v, j in zip(q, support, strict=True))
            poles.append(mp.mpc(complex(z)))
    return sorted(poles, key=abs)


def main() -> None:
    points, tests = border(70), border(83)
    values, exact = [scaled_e1(z) for z in points], [scaled_e1(z) for z in tests]
    tables = []
    for bits, terms in TERMS.items():
        poles = [*poles_of(points, [v * (z - CENTER) for v, z in zip(values, points, strict=True)], terms), mp.mpc(-1)]
        matrix = mp.matrix([[1 / (z - p) / v for p in poles] for z, v in zip(points, values, strict=True)])
        with mp.workdps(80):
            numerators = mp.lu_solve(matrix.H * matrix, matrix.H * mp.ones(len(points), 1))
        numerators = [mp.mpc(complex(c)) for c in numerators]
        found = [mp.fsum(c / (z - p) for c, p in zip(numerators, poles, strict=True)) for z in tests]
        print(f"{bits}: {len(poles)} terms, error {float(max(abs(1 - a / b) for a, b in zip(found, exact, strict=True))):.3g}", flush=True)
        digits = 17 if bits == 64 else 10
        numbers = [[p.real, p.imag, c.real, c.imag] for p, c in zip(poles, numerators, strict=True)]
        lines = ",\n".join("    {" + ", ".join(mp.nstr(x, digits) for x in four) + "}" for four in numbers)
        tables.append(f"inline constexpr Fraction scaled_e1_{bits}[] = {{\n{lines}}};\n")
    Path(__file__).with_name("tables.h").write_text(
        "// src/ir/math/complex/tables.h: sums of partial fractions, made by make_tables.py, which tells what they approximate.\n"
        "#pragma once\n\nnamespace pardo::ir::math {\n\n/// Numerator / (z - pole).\n"
        "struct Fraction {\n    double pole_re, pole_im, re, im;\n};\n\n"
        "// clang-format off\n" + "\n".join(tables) + "// clang-format on\n\n}  // namespace pardo::ir::math\n"
    )


if __name__ == "__main__":
    main()
