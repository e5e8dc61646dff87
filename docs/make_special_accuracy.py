# docs/make_special_accuracy.py: measures special functions against mpmath, for docs/reference/special.md and the tests.
"""python docs/make_special_accuracy.py [NAME ...] [--size N] [--write] [--values]: needs mpmath.

Prints the largest error of each function, or of those named, on the CPU. `--write` puts them into the table of docs/reference/special.md;
`--values` writes tests/python/special_values.txt, the exact values that tests compare with, which needs no device.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "special.md"
VALUES = ROOT / "tests" / "python" / "special_values.txt"
mp.mp.dps = 50

Interval = tuple[float, float]


@dataclass
class Row:
    exact: Callable[..., Any]
    places: list[tuple[Interval, ...]]  # for each, an interval of each operand: even if it contains 0, else by magnitude
    scale: Callable[..., Any] | None = None  # what errors are measured by where the function has zeros
    told: str = ""
    whole: tuple[int, ...] = ()  # operands that are whole numbers
    parts: bool = False  # of complex numbers: intervals are of real and imaginary parts in turns


def one(*places: Interval) -> list[tuple[Interval, ...]]:
    return [(p,) for p in places]


def wave(x: Any, *_: Any) -> Any:
    """The size of an oscillation."""
    return mp.sqrt(2 / (mp.pi * max(abs(x), mp.mpf(1))))


def erfc_inverse(x: Any) -> Any:
    if x > 1:
        return -erfc_inverse(2 - x)
    if x > 0.1:
        return mp.erfinv(1 - x)
    r = mp.sqrt(-mp.log(x))
    y = r - mp.log(r * mp.sqrt(mp.pi) + 1) / (2 * r + 1)
    for _ in range(60):
        c = mp.erfc(y)
        step = mp.log(c / x) * c * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
        y += step
        if abs(step) < mp.mpf(10) ** -45:
            break
    return y


def log_gamma(x: Any) -> Any:
    return mp.log(abs(mp.gamma(x))) if abs(x) < 100 else mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


def at_least_one(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: max(abs(f(*x)), mp.mpf(1))


def by_logarithm(f: Callable[..., Any]) -> Callable[..., Any]:
    """Where the result is the exponential of a number: its size tells how far errors grow."""

    def scale(*x: Any) -> Any:
        value = abs(f(*x))
        return value * max(1, abs(mp.log(value))) if value else value

    return scale


def relative_entropy(x: Any, y: Any) -> Any:
    return x * mp.log(x / y)


def kl(x: Any, y: Any) -> Any:
    return relative_entropy(x, y) - x + y


def incomplete(*x: Any) -> Any:
    return mp.gammainc(x[0], 0, x[1], regularized=True)


def upper(*x: Any) -> Any:
    return mp.gammainc(x[0], x[1], mp.inf, regularized=True)


def beta_lower(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def beta_upper(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(b, a, 0, 1 - x, regularized=True)


def dawson(x: Any) -> Any:
    with mp.workdps(80):
        return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def at_most_size(x: Any) -> Any:
    return min(abs(x - mp.mpf("0.3725074107813666")), mp.mpf(1))


def inverse(f: Callable[..., Any], place: int, falling: bool) -> Callable[..., Any]:
    """x, the last operand of f, by its value."""

    def root(*given: Any) -> Any:
        *first, wanted = given
        low, high = (mp.mpf(10) ** -30, mp.mpf(1)) if place == 2 else (mp.mpf(10) ** -30, mp.mpf(1000))
        with mp.workdps(30):
            for _ in range(100):
                middle = mp.sqrt(low * high) if high > 2 * low else (low + high) / 2
                above = f(*first, middle) > wanted
                low, high = (low, middle) if above != falling else (middle, high)
        return (low + high) / 2

    return root


TAILS = "in ulp of the result times the size of its logarithm, if that is above 1"
GAMMAS = [((0.01, 1), (0.01, 2)), ((0.5, 20), (0.1, 30)), ((20, 100), (10, 150)), ((100, 1e4), (90, 1e4))]
BETAS = [((0.1, 8), (0.1, 8), (0, 1)), ((0.1, 8), (8, 50), (0, 0.5)), ((8, 100), (8, 100), (0, 1))]
SQUARES = [((-1, 1), (-1, 1)), ((-6, 6), (-6, 6)), ((-25, 25), (-25, 25)), ((-5, 5), (1e-8, 1)), ((1e-8, 1), (-5, 5))]
MODULUS = "in ulp of the modulus"


def by_modulus(exact: Callable[..., Any], scale: Callable[..., Any] | None = None, told: str = MODULUS) -> Row:
    """A function of one complex number."""
    return Row(exact, SQUARES, scale, told, parts=True)


def complex_log_ndtr(z: Any) -> Any:
    with mp.workdps(150):
        tail = mp.erfc(z / mp.sqrt(2)) / 2
        return mp.log1p(-tail) if mp.re(z) > 0 and abs(tail) < 1 else mp.log(mp.erfc(-z / mp.sqrt(2)) / 2)


def complex_expi(z: Any) -> Any:
    return mp.mpc(0, mp.pi if mp.im(z) > 0 else -mp.pi) - mp.e1(-z)


def by_log_gamma(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda z: abs(f(z)) * max(1, abs(mp.loggamma(z)))


LIMITS = {  # what tests hold float64 and float32 to, where 4 ulp is not enough
    "erfcx": (5, 6),
    "erfi": (8, 8),
    "dawsn": (8, 8),
    "ndtr": (5, 5),
    "log_ndtr": (5, 5),
    "gammaln of negative numbers": (10, 10),
    "digamma of negative numbers": (10, 10),
    "gammainc": (12, 12),
    "gammaincc": (24, 16),
    "beta": (6, 8),
    "betaln": (8, 8),
    "gammaincinv": (12, 8),
    "gammainccinv": (12, 8),
    "betaincinv": (24, 24),
    "betainccinv": (32, 40),
    "binom": (48, 48),
    "expn": (32, 12),
    "jn": (24, 8),
    "yn": (48, 12),
    "betainc": (32, 40),
    "betaincc": (64, 40),
    "riemann_zeta of negative numbers": (40, 60),
    "j0": (6, 6),
    "j1": (8, 6),
    "y0": (6, 8),
    "y1": (6, 8),
    "k0": (5, 5),
    "k0e": (5, 5),
}
FIRST_ZEROS = "in ulp of the envelope, the root of 2 / (pi x), beyond 1"
ROWS: dict[str, Row] = {
    "erfcx": Row(lambda x: mp.exp(x * x) * mp.erfc(x), one((-5, 5), (1e-10, 1), (0.5, 100), (1, 1e6))),
    "erfi": Row(mp.erfi, one((-1, 1), (-5, 5), (1e-10, 1), (5, 26))),
    "dawsn": Row(dawson, one((-1, 1), (-5, 5), (1e-10, 1), (5, 100))),
    "erfinv": Row(lambda y: mp.sign(y) * erfc_inverse(1 - abs(y)), one((-1, 1), (1e-10, 1), (0.9, 1), (0.9999, 1))),
    "erfcinv": Row(erfc_inverse, one((0, 2), (1e-30, 1), (1e-300, 1))),
    "ndtr": Row(mp.ncdf, one((-1, 1), (-5, 5), (-12, 0), (-37, 0))),
    "log_ndtr": Row(lambda x: mp.log(mp.ncdf(x)) if x < 0 else mp.log1p(-mp.ncdf(-x)), one((-1, 1), (-5, 5), (-40, 0), (-1e10, -1))),
    "ndtri": Row(lambda p: -mp.sqrt(2) * erfc_inverse(2 * p), one((0, 1), (1e-30, 1), (1e-300, 1))),
    "gamma": Row(mp.gamma, one((0, 10), (-10, 0), (1e-10, 1), (10, 33), (33, 170))),
    "gammaln": Row(log_gamma, one((0, 3), (0.5, 10), (1e-30, 1), (1, 1e6), (1e6, 1e30))),
    "gammaln of negative numbers": Row(
        log_gamma, one((-5, 0), (-50, -5)), at_least_one(log_gamma), "in ulp of the larger of the result and 1"
    ),
    "rgamma": Row(mp.rgamma, one((0, 10), (-10, 0), (10, 33), (33, 160))),
    "digamma": Row(mp.digamma, one((0, 3), (1, 2), (1e-30, 1), (1, 1e6))),
    "digamma of negative numbers": Row(
        mp.digamma, one((-5, 0), (-50, -5)), at_least_one(mp.digamma), "in ulp of the larger of the result and 1"
    ),
    "gammainc": Row(incomplete, GAMMAS, by_logarithm(incomplete), TAILS),
    "gammaincc": Row(upper, GAMMAS, by_logarithm(upper), TAILS),
    "beta": Row(mp.beta, [((0.01, 8), (0.01, 8)), ((0.1, 8), (8, 100)), ((8, 30), (8, 30))], by_logarithm(mp.beta), TAILS),
    "betaln": Row(
        lambda a, b: mp.log(mp.beta(a, b)),
        [((0.01, 8), (0.01, 8)), ((0.1, 8), (8, 1e6)), ((8, 1e6), (8, 1e6))],
        at_least_one(lambda a, b: mp.log(mp.beta(a, b))),
        "in ulp of the larger of the result and 1",
    ),
    "betainc": Row(beta_lower, BETAS, by_logarithm(beta_lower), TAILS),
    "betaincc": Row(beta_upper, BETAS, by_logarithm(beta_upper), TAILS),
    "zeta": Row(lambda x, q: mp.zeta(x, q), [((1.01, 10), (0.01, 10)), ((10, 30), (0.5, 5)), ((1.5, 5), (10, 1e6))]),
    "riemann_zeta": Row(mp.zeta, one((0, 1), (1.001, 5), (3, 60))),
    "riemann_zeta of negative numbers": Row(mp.zeta, one((-10, 0), (-30, -10)), None, "the error grows with the size of x"),
    "gammaincinv": Row(inverse(incomplete, 1, False), [((0.2, 5), (0.01, 0.99)), ((5, 100), (0.01, 0.99))]),
    "gammainccinv": Row(inverse(upper, 1, True), [((0.2, 5), (0.01, 0.99)), ((5, 100), (1e-6, 0.5))]),
    "betaincinv": Row(inverse(beta_lower, 2, False), [((0.5, 8), (0.5, 8), (0.01, 0.99)), ((8, 50), (8, 50), (0.01, 0.99))]),
    "betainccinv": Row(inverse(beta_upper, 2, True), [((0.5, 8), (0.5, 8), (0.01, 0.99))]),
    "poch": Row(lambda a, m: mp.gamma(a + m) / mp.gamma(a), [((0.1, 8), (-1, 5)), ((8, 1e4), (-1, 5))]),
    "binom": Row(mp.binomial, [((1, 50), (0, 20)), ((0.1, 10), (0.1, 5))], None, "relative: most where it is close to zero, k above n"),
    "j0": Row(lambda x: mp.besselj(0, x), one((0, 10), (5, 100), (1e-10, 1), (100, 1e5)), wave, FIRST_ZEROS),
    "j1": Row(lambda x: mp.besselj(1, x), one((1, 10), (5, 100), (100, 1e5)), wave, FIRST_ZEROS),
    "y0": Row(lambda x: mp.bessely(0, x), one((1, 10), (5, 100), (100, 1e5)), wave, FIRST_ZEROS),
    "y1": Row(lambda x: mp.bessely(1, x), one((1, 10), (5, 100), (100, 1e5)), wave, FIRST_ZEROS),
    "i0": Row(lambda x: mp.besseli(0, x), one((-10, 10), (1e-10, 1), (7, 85), (85, 700))),
    "i0e": Row(lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), one((-10, 10), (1e-10, 1), (7, 100), (100, 1e6))),
    "i1": Row(lambda x: mp.besseli(1, x), one((-10, 10), (1e-10, 1), (7, 85), (85, 700))),
    "i1e": Row(lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), one((-10, 10), (1e-10, 1), (7, 100), (100, 1e6))),
    "k0": Row(lambda x: mp.besselk(0, x), one((0, 2), (1e-30, 1), (0.5, 80), (80, 700))),
    "k0e": Row(lambda x: mp.besselk(0, x) * mp.exp(x), one((0, 2), (1e-30, 1), (0.5, 100), (100, 1e4))),
    "k1": Row(lambda x: mp.besselk(1, x), one((0, 2), (1e-30, 1), (0.5, 80), (80, 700))),
    "k1e": Row(lambda x: mp.besselk(1, x) * mp.exp(x), one((0, 2), (1e-30, 1), (0.5, 100), (100, 1e4))),
    "exp1": Row(mp.e1, one((0, 2), (1e-30, 1), (0.5, 80), (80, 700))),
    "expi": Row(
        mp.ei, one((0, 1), (-5, 0), (0.5, 80), (80, 700)), at_most_size, "in ulp of the larger of the result and |x - 0.3725|, below 1"
    ),
    "expn": Row(lambda n, x: mp.expint(n, x), [((0, 10), (0.01, 1)), ((0, 30), (1, 80))], whole=(0,)),
    "jn": Row(lambda n, x: mp.besselj(n, x), [((2, 10), (0.1, 30)), ((10, 50), (10, 100))], wave, FIRST_ZEROS, (0,)),
    "yn": Row(
        lambda n, x: mp.bessely(n, x),
        [((2, 10), (0.5, 30)), ((10, 30), (10, 100))],
        lambda n, x: max(abs(mp.bessely(n, x)), wave(x)),
        "in ulp of the larger of the result and the envelope",
        (0,),
    ),
    "ellipkinc": Row(mp.ellipf, [((-1.5, 1.5), (-3, 0.99)), ((1, 10), (0, 0.99))]),
    "ellipeinc": Row(mp.ellipe, [((-1.5, 1.5), (-3, 0.99)), ((1, 10), (0, 0.99))]),
    "ellipk": Row(mp.ellipk, one((0, 1), (-1, 1), (0.999, 1), (-1e6, -1))),
    "ellipkm1": Row(lambda p: mp.ellipk(1 - p), one((0, 1), (1e-30, 1), (1, 100))),
    "ellipe": Row(mp.ellipe, one((0, 1), (-1, 1), (0.999, 1), (-1e6, -1))),
    "expit": Row(lambda x: 1 / (1 + mp.exp(-x)), one((-5, 5), (-80, 80), (-700, 0))),
    "logit": Row(lambda x: mp.log(x / (1 - x)), one((0, 1), (1e-30, 1), (0.49, 0.51))),
    "log_expit": Row(lambda x: -mp.log1p(mp.exp(-x)), one((-5, 5), (-80, 80), (-700, 30))),
    "exprel": Row(lambda x: mp.expm1(x) / x, one((-5, 5), (1e-10, 1), (-80, 80))),
    "cosm1": Row(lambda x: -2 * mp.sin(x / 2) ** 2, one((-3, 3), (1e-10, 1))),
    "exp10": Row(lambda x: mp.mpf(10) ** x, one((-1, 1), (-30, 30), (-300, 300))),
    "xlogy": Row(lambda x, y: x * mp.log(y), [((-10, 10), (0.001, 100))]),
    "xlog1py": Row(lambda x, y: x * mp.log1p(y), [((-10, 10), (-0.9, 10)), ((0.1, 10), (1e-10, 1))]),
    "entr": Row(lambda x: -x * mp.log(x), one((0, 2), (1e-30, 1), (1, 1e10))),
    "rel_entr": Row(
        relative_entropy,
        [((0.01, 10), (0.01, 10)), ((0.9, 1.1), (0.9, 1.1))],
        lambda x, y: max(abs(relative_entropy(x, y)), x / 10),
        "in ulp of the larger of the result and x1 / 10",
    ),
    "kl_div": Row(
        kl, [((0.01, 10), (0.01, 10))], lambda x, y: max(abs(kl(x, y)), x, y), "in ulp of the larger of the result and the operands"
    ),
    "huber": Row(lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2), [((0.1, 10), (-20, 20))]),
    "pseudo_huber": Row(lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), [((0.1, 10), (-20, 20)), ((1, 2), (1e-6, 1))]),
}


ROWS |= {
    f"{name} of complex numbers": row
    for name, row in {
        "erf": by_modulus(mp.erf),
        "erfc": by_modulus(mp.erfc),
        "erfcx": by_modulus(lambda z: mp.exp(z * z) * mp.erfc(z)),
        "erfi": by_modulus(mp.erfi),
        "dawsn": by_modulus(dawson),
        "wofz": by_modulus(lambda z: mp.exp(-z * z) * mp.erfc(-1j * z)),
        "ndtr": by_modulus(lambda z: mp.erfc(-z / mp.sqrt(2)) / 2),
        "log_ndtr": by_modulus(complex_log_ndtr),
        "gamma": by_modulus(mp.gamma, by_log_gamma(mp.gamma), TAILS),
        "loggamma": by_modulus(mp.loggamma),
        "rgamma": by_modulus(mp.rgamma, by_log_gamma(mp.rgamma), TAILS),
        "exp1": by_modulus(mp.e1),
        "expi": by_modulus(complex_expi, lambda z: mp.mpf(1) / 2, "in ulp of the larger of the modulus and 1/2"),
        "digamma": by_modulus(mp.digamma, at_least_one(mp.digamma), "in ulp of the larger of the modulus and 1"),
    }.items()
}
ROWS["xlogy of complex numbers"] = Row(lambda x, y: x * mp.log(y), [((-5, 5),) * 4], None, MODULUS, parts=True)
ROWS["xlog1py of complex numbers"] = Row(lambda x, y: x * mp.log1p(y), [((-5, 5),) * 4], None, MODULUS, parts=True)


def sample(interval: Interval, count: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers that float32 holds, unless they are too small or too large for it."""
    low, high = interval
    if low <= 0 <= high or max(abs(low), abs(high)) <= 10 * min(abs(low), abs(high)):
        x = rng.uniform(low, high, count)
    else:
        x = np.sign(low) * np.exp(rng.uniform(np.log(min(abs(low), abs(high))), np.log(max(abs(low), abs(high))), count))
    with np.errstate(all="ignore"):
        single = x.astype("f4").astype("f8")
    single = np.where(np.isfinite(single) & (abs(single) > 1e-37), single, x)
    return np.where((single > max(low, high)) | (single < min(low, high)), (low + high) / 2, single)


def arguments(row: Row, count: int) -> list[tuple[float, ...]]:
    rng = np.random.default_rng(1)
    out: list[tuple[float, ...]] = []
    for place in row.places:
        columns = [sample(interval, count, rng) for interval in place]
        columns = [np.rint(c) if k in row.whole else c for k, c in enumerate(columns)]
        out += [tuple(map(float, x)) for x in zip(*columns, strict=True)]
    return out


def exact_values(row: Row, points: list[tuple[float, ...]]) -> list[tuple[Any, Any]]:
    """Results and what errors are measured by."""
    out = []
    for x in points:
        try:
            given = [mp.mpc(*x[k : k + 2]) for k in range(0, len(x), 2)] if row.parts else [mp.mpf(v) for v in x]
            value = row.exact(*given)
            value = mp.mpc(value) if row.parts else mp.re(value)
            out.append((value, abs(value) if row.scale is None else max(abs(value), abs(row.scale(*given)))))
        except (ZeroDivisionError, ValueError, mp.NoConvergence):
            out.append((mp.nan, mp.nan))
    return out


def function_of(name: str) -> Callable[..., Any]:
    import pardo as pp
    from pardo import _core

    plain = name.split()[0]
    return getattr(pp.special, plain, None) or getattr(_core, "_" + plain)


def errors(name: str, dtype: str, points: list[tuple[float, ...]], exact: list[tuple[Any, Any]]) -> tuple[float, tuple[float, ...]]:
    """The largest in ulp, and where."""
    import pardo as pp

    info = np.finfo(dtype)
    chosen = [
        (x, e)
        for x, e in zip(points, exact, strict=True)
        if mp.isfinite(e[0])
        and float(info.tiny) < abs(e[0]) <= e[1] < float(info.max)
        and all(float(np.dtype(dtype).type(v)) == v for v in x)
    ]
    if not chosen:
        return 0.0, ()
    columns = [np.array([x[k] for x, _ in chosen], dtype) for k in range(len(chosen[0][0]))]
    if ROWS[name].parts:
        columns = [columns[k] + np.array(1j, f"c{2 * info.dtype.itemsize}") * columns[k + 1] for k in range(0, len(columns), 2)]
    found = pp.asnumpy(function_of(name)(*map(pp.asarray, columns)))
    worst, where = 0.0, ()
    for value, (x, (right, scale)) in zip(found.tolist(), chosen, strict=True):
        unit = float(np.spacing(np.dtype(dtype).type(float(scale))))
        error = float(abs(mp.mpmathify(value) - right) / unit) if np.isfinite(value) else np.inf
        if error > worst:
            worst, where = error, x
    return worst, where


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--size", type=int, default=1000, help="arguments of each interval")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--values", action="store_true")
    options = parser.parse_args()
    rows = {name: row for name, row in ROWS.items() if not options.names or name.split()[0] in options.names}
    if options.values:
        lines = ["# tests/python/special_values.txt: exact values of special functions; written by docs/make_special_accuracy.py --values."]
        lines += ["# [function, limits of float64 and float32 in ulp]; then operands, result, and what an ulp is measured by;"]
        lines += ["# complex numbers are two numbers each."]
        for name, row in rows.items():
            points = arguments(row, max(3, 24 // len(row.places)))
            double, single = LIMITS.get(name, (10, 10) if row.parts else (4, 4))
            lines.append(f"[{name}, {double:g}, {single:g}]")
            for x, (value, scale) in zip(points, exact_values(row, points), strict=True):
                results = [value.real, value.imag] if row.parts else [value]
                lines.append(" ".join([*map(repr, x), *(mp.nstr(v, 20) for v in results), mp.nstr(scale, 6)]))
        VALUES.write_text("\n".join(lines) + "\n")
        return 0
    table = {}
    for name, row in rows.items():
        points = arguments(row, options.size)
        exact = exact_values(row, points)
        single, double = errors(name, "float32", points, exact), errors(name, "float64", points, exact)
        print(f"{name}: float32 {single[0]:.2f} at {single[1]}, float64 {double[0]:.2f} at {double[1]}", flush=True)
        table[name] = f"| {name} | {single[0]:.2f} | {double[0]:.2f} | {row.told} |"
    if options.write:
        page = PAGE.read_text()
        found = re.search(r"((?:^\|.*\n)+)", page[page.index("## Errors") :], re.MULTILINE)
        if found is None:
            raise SystemExit(f"make_special_accuracy: {PAGE} has no table after '## Errors'")
        lines = found[1].splitlines()
        there = {line.split("|")[1].strip(): line for line in lines[2:]} | table
        begin = page.index("## Errors") + found.start(1)
        kept = [there[name] for name in ROWS if name in there]  # rows that were not named stay
        PAGE.write_text(page[:begin] + "\n".join([*lines[:2], *kept]) + "\n" + page[begin + len(found[1]) :])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
