# src/ir/math/special/make_tables.py: fits the approximations of special functions, and writes tables.h and tables.cpp.
"""python src/ir/math/special/make_tables.py [NAME ...]: all tables, or shows those named. It needs mpmath.

A row of FITS is a function of u on an interval, approximated by a polynomial in u - center, or by a quotient of two, for each dtype. The
coefficients interpolate at the Chebyshev nodes of the interval, with 60 digits; the degree is the least that keeps the relative error below
the limit, which is measured between the nodes. Of a quotient both degrees are alike. `of bounded`: the error counts next to the largest
value; `times 2^-n`: what it is for is so much larger. What is printed last tells how far rounding errors grow.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60
FOLDER = Path(__file__).parent
LIMITS = {64: mp.mpf(2) ** -56.5, 32: mp.mpf(2) ** -27.5}


def stirling(x):
    return (x - mp.mpf(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2


def at(x, f, limit):
    """f(x), and its limit at zero."""
    return limit if x == 0 else f(x)


def hankel(n, u, second):
    """The amplitudes P, and x Q, of the Bessel functions of large arguments; u = 1 / x^2."""
    if u == 0:
        return mp.mpf(4 * n * n - 1) / 8 if second else mp.mpf(1)
    x = 1 / mp.sqrt(u)
    chi = x - (mp.mpf(n) / 2 + mp.mpf(1) / 4) * mp.pi
    j, y, scale = mp.besselj(n, x), mp.bessely(n, x), mp.sqrt(mp.pi * x / 2)
    if second:
        return x * scale * (y * mp.cos(chi) - j * mp.sin(chi))
    return scale * (j * mp.cos(chi) + y * mp.sin(chi))


def zero_of(f, guess):
    return mp.findroot(f, guess)


J0 = [zero_of(lambda x: mp.besselj(0, x), g) for g in (2.4, 5.5)]
J1 = [zero_of(lambda x: mp.besselj(1, x), g) for g in (3.8, 7.0)]
PSI = zero_of(mp.digamma, 1.46)
EI = zero_of(mp.ei, 0.3725)


def inverse_tail(r):
    """y / r with erfc(y) = e^(-r^2)."""
    y = r - mp.log(r * mp.sqrt(mp.pi) + 1) / (2 * r + 1)
    for _ in range(60):
        c = mp.erfc(y)
        step = (mp.log(c) + r * r) * c * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
        y += step
        if abs(step) < mp.mpf(10) ** -36:
            break
    return y / r


def scaled_erfc(t, k=4):
    x = k * (1 + t) / (1 - t)
    value = mp.erfc(x) * mp.exp(x * x)
    return (1 + 2 * x) * value


def k_small(m1, of):
    """What is left of an elliptic integral besides the logarithm of m1 = 1 - m."""
    if m1 == 0:
        return mp.log(16) / 2 if of == "k" else mp.mpf(1)
    q = mp.ellipk(m1) / mp.pi if of == "k" else (mp.ellipk(m1) - mp.ellipe(m1)) / mp.pi
    whole = mp.ellipk(1 - m1) if of == "k" else mp.ellipe(1 - m1)
    return whole + mp.log(m1) * q


def zeta_rest(s):
    """(zeta(s) - 1) 2^s"""
    return (mp.zeta(s) - 1) * mp.mpf(2) ** s


def temme(k, order=40):
    """Taylor coefficients of the k-th function of Temme's expansion in eta, eta^2 / 2 = mu - log(1 + mu); DLMF 8.12.10 and 8.12.11."""
    mu = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, order + 3):
        known = sum(mu[i] * (n + 1 - i) * mu[n + 1 - i] for i in range(2, n))
        mu.append((mu[n - 1] - known) / (n + 1))
    inverse = [mp.mpf(1)]  # of mu / eta
    for n in range(1, order + 2):
        inverse.append(-sum(mu[i + 1] * inverse[n - i] for i in range(1, n + 1)))
    first = inverse[1:]
    c = first
    for _ in range(k):
        pole = -c[1]
        c = [n * c[n] + pole * first[n - 2] for n in range(2, len(c))]
    return c


Row = tuple[Callable, float, float, float, str]
FITS: dict[str, Row] = {
    # name: function of u, interval, center, kind
    "lgamma_at_1": (lambda y: at(y, lambda y: mp.loggamma(1 + y) / y, -mp.euler), 0, 0.5, 0.25, "polynomial"),
    "lgamma_at_2": (lambda y: at(y, lambda y: mp.loggamma(2 + y) / y, 1 - mp.euler), -0.5, 0.5, 0, "polynomial"),
    "stirling_terms": (
        lambda z: at(z, lambda z: (mp.loggamma(1 / mp.sqrt(z)) - stirling(1 / mp.sqrt(z))) / mp.sqrt(z), mp.mpf(1) / 12),
        0,
        1 / 56.25,
        0,
        "polynomial",
    ),
    "digamma_near": (lambda x: mp.digamma(x) / (x - PSI), 1, 2, 1.5, "polynomial"),
    "digamma_far": (
        lambda z: at(z, lambda z: (mp.log(1 / mp.sqrt(z)) - mp.sqrt(z) / 2 - mp.digamma(1 / mp.sqrt(z))) / z, mp.mpf(1) / 12),
        0,
        0.25,
        0,
        "quotient",
    ),
    "sine_pi": (lambda z: at(z, lambda z: mp.sinpi(mp.sqrt(z)) / mp.sqrt(z), mp.pi), 0, 0.25, 0, "polynomial"),
    "cosine_pi": (lambda z: mp.cospi(mp.sqrt(z)) / (mp.mpf(1) / 4 - z), 0, 0.25, 0, "polynomial"),
    "erfc_scaled": (scaled_erfc, -1, 1, 0, "polynomial"),
    "erf_inverse": (lambda z: at(z, lambda z: mp.erfinv(mp.sqrt(z)) / mp.sqrt(z), mp.sqrt(mp.pi) / 2), 0, 0.25, 0, "quotient"),
    "erfc_inverse_near": (inverse_tail, 0.8325, 2.5, 1.6, "polynomial"),
    "erfc_inverse_far": (inverse_tail, 2.5, 7, 4.5, "polynomial"),
    "erfc_inverse_end": (inverse_tail, 7, 27.5, 14, "polynomial"),
    "atanh_rest": (lambda y: at(y, lambda y: (mp.atanh(mp.sqrt(y)) / mp.sqrt(y) - 1) / y, mp.mpf(1) / 3), 0, 1 / 9, 0, "polynomial"),
    "i0_near": (lambda a: at(a, lambda a: (mp.besseli(0, 2 * mp.sqrt(a)) - 1) / a, mp.mpf(1)), 0, 15.1, 0, "polynomial"),
    "i1_near": (lambda a: at(a, lambda a: (mp.besseli(1, 2 * mp.sqrt(a)) / mp.sqrt(a) - 1) / a, mp.mpf(1) / 2), 0, 15.1, 0, "polynomial"),
    "i0_far": (
        lambda u: at(u, lambda u: mp.besseli(0, 1 / u) * mp.exp(-1 / u) / mp.sqrt(u), 1 / mp.sqrt(2 * mp.pi)),
        0,
        1 / 7.75,
        0.0625,
        "polynomial",
    ),
    "i1_far": (
        lambda u: at(u, lambda u: mp.besseli(1, 1 / u) * mp.exp(-1 / u) / mp.sqrt(u), 1 / mp.sqrt(2 * mp.pi)),
        0,
        1 / 7.75,
        0.0625,
        "polynomial",
    ),
    "i0_unit": (lambda z: mp.besseli(0, mp.sqrt(z)), 0, 1, 0, "polynomial"),
    "i1_unit": (lambda z: at(z, lambda z: mp.besseli(1, mp.sqrt(z)) / mp.sqrt(z), mp.mpf(1) / 2), 0, 1, 0, "polynomial"),
    "k0_near": (
        lambda z: at(z, lambda z: mp.besselk(0, mp.sqrt(z)) + mp.log(z) / 2 * mp.besseli(0, mp.sqrt(z)), mp.log(2) - mp.euler),
        0,
        1,
        0,
        "polynomial",
    ),
    "k1_near": (
        lambda z: at(
            z,
            lambda z: (mp.besselk(1, mp.sqrt(z)) - 1 / mp.sqrt(z)) / mp.sqrt(z) - mp.log(z) / 2 * mp.besseli(1, mp.sqrt(z)) / mp.sqrt(z),
            (2 * mp.euler - 1 - 2 * mp.log(2)) / 4,
        ),
        0,
        1,
        0,
        "polynomial",
    ),
    "k0_far": (lambda u: at(u, lambda u: mp.besselk(0, 1 / u) * mp.exp(1 / u) / mp.sqrt(u), mp.sqrt(mp.pi / 2)), 0, 1, 0, "quotient"),
    "k1_far": (lambda u: at(u, lambda u: mp.besselk(1, 1 / u) * mp.exp(1 / u) / mp.sqrt(u), mp.sqrt(mp.pi / 2)), 0, 1, 0, "quotient"),
    "j0_near": (lambda z: mp.besselj(0, mp.sqrt(z)) / ((z - J0[0] ** 2) * (z - J0[1] ** 2)), 0, 25, 12.5, "polynomial"),
    "j1_near": (
        lambda z: at(
            z, lambda z: mp.besselj(1, mp.sqrt(z)) / mp.sqrt(z) / ((z - J1[0] ** 2) * (z - J1[1] ** 2)), 1 / (2 * J1[0] ** 2 * J1[1] ** 2)
        ),
        0,
        25,
        12.5,
        "polynomial",
    ),
    "y0_near": (
        lambda z: at(
            z, lambda z: mp.bessely(0, mp.sqrt(z)) - mp.log(z) / mp.pi * mp.besselj(0, mp.sqrt(z)), 2 / mp.pi * (mp.euler - mp.log(2))
        ),
        0,
        25,
        12.5,
        "polynomial of bounded",
    ),
    "y1_near": (
        lambda z: at(
            z,
            lambda z: (mp.bessely(1, mp.sqrt(z)) - 2 / mp.pi * (mp.log(z) / 2 * mp.besselj(1, mp.sqrt(z)) - 1 / mp.sqrt(z))) / mp.sqrt(z),
            (2 * mp.euler - 1 - 2 * mp.log(2)) / (2 * mp.pi),
        ),
        0,
        25,
        12.5,
        "polynomial of bounded",
    ),
    "j0_p": (lambda u: hankel(0, u, False), 0, 0.04, 0, "quotient"),
    "j0_q": (lambda u: hankel(0, u, True), 0, 0.04, 0, "quotient"),
    "j1_p": (lambda u: hankel(1, u, False), 0, 0.04, 0, "quotient"),
    "j1_q": (lambda u: hankel(1, u, True), 0, 0.04, 0, "quotient"),
    **{f"temme_{k}": (temme, k, 0, 0, "series") for k in range(10)},
    "zeta_near": (lambda s: (s - 1) * mp.zeta(s) if s != 1 else mp.mpf(1), -1, 5, 0, "polynomial"),
    "zeta_middle": (zeta_rest, 5, 14, 9, "polynomial times 2^-4"),
    "zeta_end": (zeta_rest, 14, 60, 30, "polynomial times 2^-13"),
    "exp1_near": (lambda x: at(x, lambda x: mp.e1(x) + mp.log(x), -mp.euler), 0, 1, 1, "polynomial of bounded"),
    "exp1_far": (lambda u: at(u, lambda u: mp.e1(1 / u) * mp.exp(1 / u) / u, mp.mpf(1)), 0, 1, 0, "quotient"),
    "expi_near": (lambda x: at(x, lambda x: (mp.ei(x) - mp.log(x / EI)) / (x - EI), -(mp.euler + mp.log(EI)) / EI), 0, 6, 3, "polynomial"),
    "expi_middle": (lambda u: mp.ei(1 / u) * mp.exp(-1 / u) / u, 1 / 14, 1 / 6, 0.12, "polynomial"),
    "expi_far": (lambda u: mp.ei(1 / u) * mp.exp(-1 / u) / u, 1 / 50, 1 / 14, 0.045, "polynomial"),
    "expi_end": (lambda u: at(u, lambda u: mp.ei(1 / u) * mp.exp(-1 / u) / u, mp.mpf(1)), 0, 1 / 50, 0, "polynomial"),
    "ellipk_plain": (mp.ellipk, 0, 0.5, 0.25, "polynomial"),
    "ellipk_rest": (lambda x: k_small(x, "k"), 0, 0.5, 0, "polynomial"),
    "ellipk_log": (lambda x: mp.ellipk(x) / mp.pi, 0, 0.5, 0, "polynomial"),
    "ellipe_plain": (mp.ellipe, 0, 0.5, 0.25, "polynomial"),
    "ellipe_rest": (lambda x: k_small(x, "e"), 0, 0.5, 0, "polynomial"),
    "ellipe_log": (lambda x: at(x, lambda x: (mp.ellipk(x) - mp.ellipe(x)) / mp.pi / x, mp.mpf(1) / 4), 0, 0.5, 0, "polynomial"),
}


def nodes(low, high, count):
    return [(high + low) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def value(c, x):
    return mp.polyval(c[::-1], x)


def polynomial(f, low, high, center, degree):
    xs = nodes(low, high, degree + 1)
    matrix = mp.matrix([[(x - center) ** k for k in range(degree + 1)] for x in xs])
    return list(mp.lu_solve(matrix, mp.matrix([f(x) for x in xs]))), []


def quotient(f, low, high, center, degree):
    n = degree
    xs = nodes(low, high, 2 * n + 1)
    rows, right = [], []
    for x in xs:
        y, t = f(x), x - center
        rows.append([t**k for k in range(n + 1)] + [-y * t**k for k in range(1, n + 1)])
        right.append(y)
    c = list(mp.lu_solve(mp.matrix(rows), mp.matrix(right)))
    return c[: n + 1], [mp.mpf(1), *c[n + 1 :]]


PARTS = {  # numbers in two parts for each dtype
    "digamma_root": PSI,
    "expi_root": EI,
    "j0_first": J0[0],
    "j0_second": J0[1],
    "j1_first": J1[0],
    "j1_second": J1[1],
}


def parts_of(number):
    """High and low part in float64, and those in float32."""
    high64 = mp.mpf(float(number))
    mantissa, exponent = mp.frexp(number)
    high32 = mp.ldexp(mp.nint(mantissa * 2**24), exponent - 24)
    return high64, number - high64, high32, number - high32


def series(k: int, bits: int):
    """As many terms as matter for |eta| < 0.345 and a > 20."""
    terms = temme(k)
    limit = LIMITS[bits] / 12
    least = max((n for n, c in enumerate(terms) if abs(c) * mp.mpf("0.345") ** n * mp.mpf(20) ** -k > limit), default=0)
    return terms[: least + 1], [], limit


def fit(name: str, bits: int):
    if FITS[name][4] == "series":
        return series(FITS[name][1], bits)
    f, low, high, center, kind = FITS[name]
    low, high, center = mp.mpf(low), mp.mpf(high), mp.mpf(center)
    known: dict = {}

    def cached(x):
        if x not in known:
            known[x] = f(x)
        return known[x]

    tests = [low + (high - low) * (1 - mp.cos(mp.pi * k / 61)) / 2 for k in range(1, 61)]
    make = polynomial if kind.startswith("polynomial") else quotient
    bound = max(abs(cached(x)) for x in tests) if kind.endswith("bounded") else None
    small = re.search(r"times 2\^-(\d+)", kind)
    limit = LIMITS[bits] * 2 ** int(small[1]) if small else LIMITS[bits]
    for degree in range(2, 40):
        top, below = make(cached, low, high, center, degree)
        worst = mp.mpf(0)
        for x in tests:
            exact, t = cached(x), x - center
            got = value(top, t) / (value(below, t) if below else 1)
            worst = max(worst, abs(got - exact) / (bound or abs(exact)))
        if worst < limit:
            return top, below, worst
    raise SystemExit(f"{name}: no degree below 40 gives {bits} bits; the last {mp.nstr(worst, 3)}")


def growth(top, below, low, high, center) -> float:
    """How much larger the terms are than their sum, at most: rounding errors grow by that."""
    worst = mp.mpf(1)
    for k in range(41):
        t = low + (high - low) * mp.mpf(k) / 40 - center
        for c in (top, below):
            if c:
                worst = max(worst, sum(abs(x * t**n) for n, x in enumerate(c)) / abs(value(c, t)))
    return float(worst)


def text_of(numbers, bits) -> str:
    return ", ".join(repr(float(n)) if bits == 64 else mp.nstr(n, 11) for n in numbers)


def main() -> None:
    names = sys.argv[1:] or list(FITS)
    rows, tables = [], []
    for name in names:
        parts = {}
        for bits in (64, 32):
            top, below, worst = fit(name, bits)
            low, high, center = FITS[name][1:4]
            grows = growth(top, below, low, high, center) if FITS[name][4].endswith(("l", "t")) else 1.0
            print(f"{name} {bits}: {len(top) - 1}/{max(len(below) - 1, 0)}, 2^{mp.nstr(mp.log(worst, 2), 4)}, {grows:.2f}", flush=True)
            parts[bits] = [text_of(top, bits), text_of(below, bits)]
        for part, index in (("top", 0), ("below", 1)):
            made = [(bits, parts[bits][index]) for bits in (64, 32) if parts[bits][index]]
            tables += [f"constexpr double {name}_{part}{bits}[] = {{{numbers}}};" for bits, numbers in made]
        spans = [f"{name}_{part}{bits}" if parts[bits][index] else "{}" for bits in (64, 32) for part, index in (("top", 0), ("below", 1))]
        rows.append(f"const Fit {name}{{{float(FITS[name][3])!r}, {', '.join(spans)}}};")
    rows += [f"const Parts {name}{{{', '.join(repr(float(n)) for n in parts_of(number))}}};" for name, number in PARTS.items()]
    if sys.argv[1:]:
        print("\n".join(tables))
        return
    note = "made by make_tables.py, which tells what is approximated, where, and how well"
    declared = "\n".join([f"extern const Fit {name};" for name in names] + [f"extern const Parts {name};" for name in PARTS])
    (FOLDER / "tables.h").write_text(
        f"// src/ir/math/special/tables.h: approximations of special functions, {note}.\n#pragma once\n\n#include <span>\n\n"
        "namespace pardo::ir::math {\n\n"
        "/// A polynomial in u - center, or a quotient of two, for each dtype; lowest power first.\nstruct Fit {\n    double center;\n"
        "    std::span<const double> top64, below64, top32, below32;\n};\n"
        "/// A number that no float is, as a sum of two.\nstruct Parts {\n    double high64, low64, high32, low32;\n};\n\n"
        f"{declared}\n\n}}  // namespace pardo::ir::math\n"
    )
    body = "\n".join(tables)
    (FOLDER / "tables.cpp").write_text(
        f'// src/ir/math/special/tables.cpp: approximations of special functions, {note}.\n#include "ir/math/special/tables.h"\n\n'
        "namespace pardo::ir::math {\nnamespace {\n\n// clang-format off\n"
        + body
        + "\n// clang-format on\n\n}  // namespace\n\n"
        + "\n".join(rows)
        + "\n\n}  // namespace pardo::ir::math\n"
    )


if __name__ == "__main__":
    main()
