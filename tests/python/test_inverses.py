# tests/python/test_inverses.py: f(inverse(p)) = p over parameters of all magnitudes; quotients of gamma functions up to the ends of the
# exponents, against mpmath.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pardo as pp
import pytest
import sampling

mp = pytest.importorskip("mpmath")
SIZE = 300 if sampling.SEED else 3000
S = pp.special


def on(f: Callable[..., Any], *operands: np.ndarray) -> np.ndarray:
    return pp.asnumpy(f(*map(pp.asarray, operands)))


def spread(rng: np.random.Generator, low: float, high: float) -> np.ndarray:
    return 10.0 ** rng.uniform(low, high, SIZE)


def probabilities(rng: np.random.Generator, dtype: str) -> np.ndarray:
    part = SIZE // 3
    p = rng.uniform(0, 1, SIZE)
    p[:part] = 10.0 ** rng.uniform(-30 if dtype == "f4" else -290, 0, part)
    p[part : 2 * part] = 10.0 ** rng.uniform(-8, 0, part)
    return p.astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("exponents", [(-3, 0), (-3, 3), (-1, 5), (-8, 2)])
@pytest.mark.parametrize("name", ["gammaincinv", "gammainccinv", "betaincinv", "betainccinv"])
def test_inverse(name: str, exponents: tuple[int, int], dtype: str) -> None:
    """What is a few last places below and above of what comes out has p between; or what comes out is too small for a number."""
    rng = np.random.default_rng(len(name) * 100 + exponents[1])
    complement, beta = name.endswith("ccinv"), name.startswith("beta")
    parameters = [spread(rng, *exponents).astype(dtype) for _ in range(2 if beta else 1)]
    p, info = probabilities(rng, dtype), np.finfo(dtype)
    x = on(getattr(S, name), *parameters, p)
    assert not np.isnan(x).any()
    lower, upper = (S.betainc, S.betaincc) if beta else (S.gammainc, S.gammaincc)
    # Of parameters that are close to 0 the functions themselves lose digits of what is small.
    near = info.eps * max(1e5, 100 / min(float(v.min()) for v in parameters))
    below, above = x * (1 - 64 * info.eps), x * (1 + 64 * info.eps)
    above = np.maximum(np.minimum(above, 1) if beta else above, info.tiny)
    least, most = on(lower, *parameters, below), on(lower, *parameters, above)
    few, many = on(upper, *parameters, above), on(upper, *parameters, below)
    small, large = (1 - p, p) if complement else (p, 1 - p)
    tiny = x < info.tiny
    by_lower = (tiny | (least <= small * (1 + near))) & (most >= small * (1 - near))
    by_upper = (few <= large * (1 + near)) & (tiny | (many >= large * (1 - near)))
    wrong = ~(by_lower | by_upper)
    assert not wrong.any(), [(*(v[wrong][:3] for v in parameters), p[wrong][:3], x[wrong][:3])]


@pytest.mark.parametrize(
    ("inverse", "f"),
    [("erfinv", "erf"), ("erfcinv", "erfc"), ("ndtri", "ndtr"), ("logit", "expit")],
)
def test_inverse_of_one(inverse: str, f: str) -> None:
    p = probabilities(np.random.default_rng(3), "f8")
    p = p[p < 1]
    x = on(getattr(S, inverse), p)
    size = np.abs(x) + 1 / np.maximum(np.abs(x), 1e-300) if inverse != "erfinv" else 1
    np.testing.assert_array_less(np.abs(on(getattr(S, f), x) - p) / p, 1e-14 * (1 + size * np.abs(x)) + 1e-13)


def test_what_was_wrong() -> None:
    rows = [(0.007, 9.9, 0.657, 6.4e-28), (0.00144, 0.497, 0.5085, 4.7e-204)]
    for a, b, p, x in rows:
        assert float(S.betaincinv(pp.asarray(a), pp.asarray(b), pp.asarray(p))) == pytest.approx(x, rel=0.02)
    assert float(S.gammainccinv(pp.asarray(291.0), pp.asarray(1e-190))) < 2000
    wide = pp.asarray([1e20, np.inf, 1e-5], dtype="f4")
    np.testing.assert_array_equal(pp.asnumpy(S.pseudo_huber(pp.asarray(1.0, dtype="f4"), wide))[:2], np.array([1e20, np.inf], "f4"))
    assert float(S.binom(pp.asarray(5.5), pp.asarray(190.0))) == pytest.approx(1.554e-13, rel=1e-3)
    x = pp.asarray([-200.5, -201.5, -0.0, 0.0])
    assert on(S.rgamma, pp.asnumpy(x)).tolist() == [-np.inf, np.inf, 0.0, 0.0]
    assert np.signbit(on(S.gamma, pp.asnumpy(x))).tolist() == [True, False, True, False]


def pole(x: Any) -> bool:
    return bool(x <= 0 and x == mp.floor(x))


def quotient(above: list[Any], below: list[Any]) -> Any:
    """Products of gamma functions, or None where one above is infinite."""
    if any(map(pole, above)):
        return None
    if any(map(pole, below)):
        return mp.mpf(0)
    total, sign = mp.mpf(0), 1
    for direction, operands in ((1, above), (-1, below)):
        for x in operands:
            if x > 0:
                total += direction * mp.re(mp.loggamma(x))
            else:
                total += direction * (mp.log(mp.pi) - mp.log(abs(mp.sinpi(x))) - mp.re(mp.loggamma(1 - x)))
                sign = sign if int(mp.floor(x)) % 2 == 0 else -sign
    return sign * mp.exp(total) if total > -1e6 else mp.mpf(0)


QUOTIENTS: dict[str, tuple[int, Callable[..., Any]]] = {
    "gamma": (1, lambda x: quotient([x], [])),
    "rgamma": (1, lambda x: quotient([], [x])),
    "beta": (2, lambda a, b: quotient([a, b], [a + b])),
    "poch": (2, lambda a, m: quotient([a + m], [a])),
    "binom": (2, lambda n, k: None if pole(n + 1) else quotient([n + 1], [k + 1, n - k + 1])),
}
KINDS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "small": lambda rng, n: rng.uniform(-12, 12, n),
    "large": lambda rng, n: rng.uniform(-250, 250, n),
    "halves": lambda rng, n: rng.integers(-500, 500, n) / 2,
    "wide": lambda rng, n: 10.0 ** rng.uniform(-15, 8, n) * rng.choice([-1, 1], n),
}


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotient_of_gammas(name: str, left: str, right: str) -> None:
    """Nothing between overflows or is lost; as precise as the operands allow."""
    count, exact = QUOTIENTS[name]
    if count == 1 and left != right:
        pytest.skip("has one operand")
    rng, size = np.random.default_rng([len(name), len(left), len(right)]), 40 if sampling.SEED else 150
    operands = [KINDS[kind](rng, size) for kind in (left, right)[:count]]
    info = np.finfo("f8")
    for *x, got in zip(*operands, on(getattr(S, name), *operands), strict=True):
        with mp.workdps(60):
            value = exact(*map(mp.mpf, x))
            if value is None:
                continue
            theirs = float(value)
        at = [*x, x[0] + x[-1], x[0] - x[-1]]
        beside = sum(abs(v / (v - round(v))) for v in at if v < 0 and v != round(v))  # poles are near
        near = min(0.5, 64 * info.eps * (1 + beside + sum(abs(v) * (np.log(abs(v) + 2) + 1) for v in x)))
        if abs(theirs) > info.max * (1 - near):
            assert abs(got) > info.max * (1 - 2 * near), (name, x, got, theirs)
            assert np.sign(got) == np.sign(theirs), (name, x, got, theirs)
        else:
            assert abs(got - theirs) <= near * abs(theirs) + 8 * info.tiny, (name, x, got, theirs)


@pytest.mark.parametrize("name", ["beta", "poch", "binom"])
def test_quotient_of_gammas_of_single_precision(name: str) -> None:
    """Of float32 numbers of any size: what float32 can say of the exact value, but for some places where its logarithm is large."""
    rng, size = np.random.default_rng(len(name)), 100 if sampling.SEED else 1000
    a, b = 10.0 ** rng.uniform(-10, 30, (2, size))
    if name == "poch":
        b = 10.0 ** rng.uniform(-10, np.minimum(np.log10(np.maximum(1, 88 / np.maximum(np.log(a), 1e-3))) + 0.3, 8))
    if name == "binom":
        near = np.where(rng.uniform(size=size) < 0.5, a * (1 - 10.0 ** rng.uniform(-7, 0, size)), 10.0 ** rng.uniform(-5, 2, size))
        b = np.minimum(a, near)
    operands = [x.astype("f4") for x in (a, b)]
    info = np.finfo("f4")
    for *x, got in zip(*operands, on(getattr(S, name), *operands), strict=True):
        with mp.workdps(60):
            value = QUOTIENTS[name][1](*(mp.mpf(float(v)) for v in x))
        if value is not None and info.tiny < abs(value) < info.max:
            assert abs(mp.mpf(float(got)) - value) <= 128 * float(info.eps) * abs(value), (name, x, got, float(value))
