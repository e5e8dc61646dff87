# tests/python/test_accuracy.py: functions that pardo computes itself keep the accuracy that is promised, rare arguments included.
from __future__ import annotations

import math

import numpy as np
import pardo as pp
import pytest

with_wider_reference = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="the reference needs long double to be wider than double"
)


@with_wider_reference
@pytest.mark.parametrize("name", ["sin", "cos", "exp"])
def test_inline_functions_stay_within_one_ulp(name):
    rng = np.random.default_rng(0)
    quarters = np.arange(-4000, 4000) * (np.pi / 2)  # where most of the argument cancels
    x = np.concatenate([quarters, np.nextafter(quarters, np.inf), *(rng.uniform(-s, s, 20_000) for s in (1e-3, 1, 700, 1e5, 1e6))])
    if name == "exp":
        x = x[np.abs(x) < 708]
    exact = getattr(np, name)(x.astype(np.longdouble))
    got = pp.asnumpy(getattr(pp, name)(pp.asarray(x)))
    ulp = np.spacing(np.abs(exact.astype(np.float64)))
    assert np.max(np.abs(got - exact) / ulp) < 1


FLOATS = ["cbrt", "expm1", "sinh", "cosh", "tanh", "arcsinh", "log", "log2", "log10"]


@with_wider_reference
@pytest.mark.parametrize(
    ("name", "dtype"), [(n, "float32") for n in FLOATS] + [(n, "float64") for n in ("cbrt", "sinh", "cosh", "log", "log1p")]
)
def test_inline_functions_of_all_magnitudes_stay_within_one_ulp(name, dtype):
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    integers = np.dtype(f"i{info.bits // 8}")
    x = np.concatenate(
        [
            rng.integers(0, np.iinfo(integers).max, 20_000).astype(integers).view(dtype),  # bits: all magnitudes, and some NaN
            *(rng.uniform(0, s, 10_000).astype(dtype) for s in (0.01, 0.4, 1.1, 3, 15, 100, 700)),
            np.exp(rng.uniform(-0.4, 0.4, 10_000)).astype(dtype),
            np.array([0, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal], dtype),
        ]
    )
    x = np.concatenate([x, -x])
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64 if dtype == "float32" else np.longdouble))
        expected = exact.astype(dtype)
    got = pp.asnumpy(getattr(pp, name)(pp.asarray(x)))
    finite = np.isfinite(expected)
    assert np.max(np.abs(got[finite] - exact[finite]) / np.spacing(np.abs(expected[finite]))) < 1
    np.testing.assert_array_equal(got[~finite], expected[~finite])
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(expected[known]))


@with_wider_reference
def test_erf_stays_within_one_ulp():
    rng = np.random.default_rng(0)
    edges = np.arange(0.5, 16) * 0.384  # of the cells of its table
    x = np.concatenate([rng.uniform(0, 0.7, 100_000), rng.uniform(0, 6, 50_000), 10 ** rng.uniform(-300, 0, 2000), edges])
    x = np.concatenate([x, np.nextafter(edges, 0), np.nextafter(edges, 9)])
    wide = x.astype(np.longdouble)  # erf x = 2 / sqrt pi e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + …), all terms positive
    term = total = wide
    for n in range(1, 160):
        term = term * (2 * wide * wide / (2 * n + 1))
        total = total + term
    exact = 2 / np.sqrt(np.longdouble("3.14159265358979323846264338")) * np.exp(-wide * wide) * total
    got = pp.asnumpy(pp.special.erf(pp.asarray(x)))
    assert np.max(np.abs(got - exact) / np.spacing(exact.astype(np.float64))) < 1
    assert np.array_equal(pp.asnumpy(pp.special.erf(pp.asarray(-x))), -got)
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 6, -7, 1e308, 5e-324] * 3)
    expected = np.array([0.0, -0.0, 1, -1, np.nan, 1, -1, 1, 5e-324] * 3)
    found = pp.asnumpy(pp.special.erf(pp.asarray(ends)))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "sinh", "cosh"])
def test_one_rare_argument_does_not_touch_its_neighbours(name):
    x = np.linspace(-3, 3, 40)
    for rare in (np.inf, -np.inf, np.nan, 1e22, -1e22, 708.5, -745.0, 5e-324):
        for at in (0, 7, 8, 39):
            y = x.copy()
            y[at] = rare
            with np.errstate(all="ignore"):
                expected = getattr(np, name)(y)
            np.testing.assert_allclose(pp.asnumpy(getattr(pp, name)(pp.asarray(y))), expected, rtol=3e-16)


def test_erf_of_one_item_and_beside_narrower_types():
    @pp.kernel
    def rows(item: pp.Item, x, y):
        i = item.get_id(0)
        scale = math.erf(x[i])  # of one item: the lanes are those of the loop
        for j in range(y.shape[1]):
            y[i, j] = scale * j

    @pp.kernel
    def mixed(item: pp.Item, x, small, y):
        i = item.get_id(0)
        y[i] = math.erf(x[i]) + small[i] + np.float32(math.erf(small[i]))

    x = np.linspace(-4, 4, 37)
    exact = np.array([math.erf(v) for v in x])
    y = np.zeros((37, 21))
    with pp.device_context("cpu"):
        rows[pp.Range(37)](x, y)
        np.testing.assert_allclose(y, exact[:, None] * np.arange(21), rtol=3e-16)
        small, z = x.astype("float32"), np.zeros(37)
        mixed[pp.Range(37)](x, small, z)
    np.testing.assert_allclose(z, exact + small + np.array([math.erf(v) for v in small]), rtol=1e-6)


def test_powers_of_floats():
    """Rounded from what is exact to 2^-31; signs, zeros, infinities and NaN as NumPy's in float64."""
    rng = np.random.default_rng(0)
    info = np.finfo(np.float32)
    ends = np.array([0, 1, 2, 0.5, 3, 1 / 3, 1e-40, info.tiny, info.max, np.inf, np.nan, 127, 128, 149, 2**24, 2**24 + 2], np.float32)
    ends = np.concatenate([ends, -ends])
    some = rng.integers(0, 2**32 - 1, (2, 100_000), dtype=np.uint32, endpoint=True).view(np.float32)
    pairs = [
        np.meshgrid(ends, ends),
        some,
        (rng.random(100_000) * 10, rng.normal(size=100_000) * 20),
        (1 + rng.normal(size=100_000) * 1e-4, rng.normal(size=100_000) * 2e5),
        (-np.exp(rng.normal(size=100_000) * 5), rng.integers(-30, 30, 100_000)),
    ]
    for pair in pairs:
        x, y = (np.asarray(v, np.float32).ravel() for v in pair)
        with np.errstate(all="ignore"):
            exact = np.power(x.astype(np.float64), y.astype(np.float64))
            rounded = exact.astype(np.float32)
        got = pp.asnumpy(pp.power(pp.asarray(x), pp.asarray(y)))
        np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
        finite = np.isfinite(rounded)
        np.testing.assert_array_equal(got[~finite], rounded[~finite])
        np.testing.assert_array_equal(np.signbit(got[finite]), np.signbit(rounded[finite]))
        ulp = np.spacing(np.clip(np.abs(rounded[finite]), info.tiny, np.nextafter(info.max, np.float32(0)))).astype(np.float64)
        assert np.max(np.abs(got[finite] - exact[finite]) / ulp) < 0.6
