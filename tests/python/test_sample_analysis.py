# tests/python/test_sample_analysis.py: histograms, counts, differences, interpolation, convolution, sets and windows, against NumPy's.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from against_numpy import compare
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy_names import BEFORE_2_2
from pardo._analysis import counting
from support import DTYPES, check, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

V, M = (7,), (3, 5)
CASES = {
    "ediff1d": [
        (lambda m, x: m.ediff1d(x), V),
        (lambda m, x: m.ediff1d(x, to_end=[1, 0], to_begin=1), M),
        (lambda m, x: m.ediff1d(x), (0,)),
        (lambda m, x: m.ediff1d(x, to_begin=1.5), V),
    ],
    "gradient": [(lambda m, x, e=e: m.gradient(x, edge_order=e), s) for e in (1, 2, 3) for s in (V, M, (2,), (1,))]
    + [(lambda m, x, e=e: m.gradient(x, 2.0, edge_order=e), M) for e in (1, 2)]
    + [(lambda m, x, e=e: m.gradient(x, [0.0, 1.0, 2.5, 3, 4, 6, 7], edge_order=e), V) for e in (1, 2)]
    + [
        (lambda m, x: m.gradient(x, axis=-1), M),
        (lambda m, x: m.gradient(x, 1.0, [0, 1, 2, 3, 4]), M),
        (lambda m, x: m.gradient(x, axis=2), M),
        (lambda m, x: m.gradient(x, 1, 2, 3), M),
        (lambda m, x: m.gradient(x, [1, 2], axis=0), M),
        (lambda m, x: m.gradient(x, axis=(1, 0)), M),
    ],
    "trapezoid": [(lambda m, x: m.trapezoid(x), s) for s in (V, M)]
    + [
        (lambda m, x: m.trapezoid(x, dx=0.5, axis=0), M),
        (lambda m, x: m.trapezoid(x, x=[0, 1, 3, 4, 9]), M),
        (lambda m, x: m.trapezoid(x, x=x, axis=0), M),
        (lambda m, x: m.trapezoid(x, axis=2), M),
    ],
    "unwrap": [(lambda m, x: m.unwrap(x), s) for s in (V, M)]
    + [
        (lambda m, x: m.unwrap(x, period=4, axis=0), M),
        (lambda m, x: m.unwrap(x, discont=4.0, period=5), V),
        (lambda m, x: m.unwrap(x, axis=2), M),
    ],
    "convolve": [
        (lambda m, x, y, k=k: m.convolve(x, y, k), s, t)
        for k in ("full", "same", "valid", "x")
        for s in (V, (1,), (40,), ())
        for t in (V, (2,), (3,), (0,), (20,), (21,))
    ]
    + [(lambda m, x, y: m.convolve(x, y), M, V)],
    "correlate": [
        (lambda m, x, y, k=k: m.correlate(x, y, k), s, t)
        for k in ("full", "same", "valid")
        for s in (V, (1,), (40,), (4,))
        for t in (V, (2,), (3,), (4,), (0,), (20,))
    ],
    "sets": [
        (lambda m, x, y, f=f, u=u: getattr(m, f)(x, y, **({} if f == "union1d" else {"assume_unique": u})), s, t)
        for f in ("union1d", "intersect1d", "setdiff1d", "setxor1d")
        for u in (False,)
        for s in (V, M, (0,))
        for t in (V, (2,), (0,))
    ]
    + [(lambda m, x, y: m.intersect1d(x, y, return_indices=True), V, M), (lambda m, x, y: m.setdiff1d(x, y, assume_unique=True), V, (2,))],
    "sort_complex": [(lambda m, x: m.sort_complex(x), s) for s in (V, M, ())],
    "lexsort": [
        (lambda m, x, y: m.lexsort((x, y)), V, V),
        (lambda m, x, y: m.lexsort(x), M, V),
        (lambda m, x, y: m.lexsort((x, y), axis=0), M, M),
        (lambda m, x, y: m.lexsort((x, y)), V, M),
        (lambda m, x, y: m.lexsort(()), V, M),
        (lambda m, x, y: m.lexsort((x, y), axis=2), M, M),
    ],
}
ROUNDED = ("gradient", "trapezoid", "unwrap", "convolve", "correlate")


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.varied("dtype")
def test_analysis(name, dtype, rng):
    for number, (expression, *shapes) in enumerate(CASES[name]):
        hosts = [samples(dtype, s, rng) for s in shapes]
        if name in ("sets", "lexsort"):
            hosts = [(h % 4).astype(dtype) if h.dtype.kind in "iu" else np.round(h) + np.zeros((), dtype) for h in hosts]
            hosts = [h.astype(dtype) for h in hosts]
        compare(expression, *hosts, ulp=128 if name in ROUNDED else 0, label=f"{name}[{number}] of {dtype}")


@given(st.data())
def test_interpolation(data):
    n = data.draw(st.integers(1, 6))
    points = np.sort(data.draw(hnp.arrays("float64", n, elements=st.integers(0, 8).map(float))))
    values = data.draw(hnp.arrays("float64", n, elements=st.floats(-4, 4) | st.sampled_from([np.inf, np.nan])))
    x = data.draw(hnp.arrays("float64", hnp.array_shapes(min_dims=0, max_dims=2, max_side=4), elements=st.floats(-1, 9) | st.just(np.nan)))
    options = data.draw(st.sampled_from([{}, {"left": -1, "right": 9.5}, {"left": np.nan}]))
    if len(set(points)) == n:
        compare(lambda m, x, p, f: m.interp(x, p, f, **options), x, points, values, ulp=2, label=f"{x!r} {points!r} {values!r}")
        compare(lambda m, x, p, f: m.interp(x, p, f + 1j * f, **options), x, points, np.where(np.isfinite(values), values, 1), ulp=16)
        compare(lambda m, x, p, f: m.interp(x, p, f, period=9.5), x, points, np.where(np.isfinite(values), values, 1), ulp=16)


def test_interpolation_of_other_values():
    compare(lambda m, x: m.interp(x, [1, 2, 3], [3, 2, 0]), np.array([0, 1, 2, 5]), ulp=1)
    compare(lambda m, x: m.interp(2.5, x, x), np.array([0.0, 1.0, 3.0]), ulp=1)
    for wrong in (
        lambda m, x: m.interp(x, [1, 2], [1, 2, 3]),
        lambda m, x: m.interp(x, [], []),
        lambda m, x: m.interp(x, [[1]], [[1]]),
        lambda m, x: m.interp(x, [1, 2], [1, 2], period=0),
    ):
        compare(wrong, np.array([0.0, 1.0]))


@pytest.mark.skipif(BEFORE_2_2, reason="NumPy before 2.2 takes no uint64 to count")
@pytest.mark.parametrize("dtype", DTYPES)
def test_counts(dtype, rng):
    host = np.abs(samples(dtype, (50,), rng)).astype(dtype)
    compare(lambda m, x: m.bincount(x), host)
    compare(lambda m, x: m.bincount(x, minlength=120), host)
    compare(lambda m, x, w: m.bincount(x, w), host, rng.standard_normal(50))
    compare(lambda m, x, w: m.bincount(x, weights=w), host, samples("float32", (50,), rng))
    compare(lambda m, x: m.bincount(x[:0], minlength=3), host)
    for bins in ([0.0, 1.5, 9.0], [9, 5, 1], [3, 3], [1], [2, 1, 3], [[1]], []):
        for right in (False, True):
            compare(lambda m, x: m.digitize(x, bins, right), samples(dtype, (4, 5), rng), label=f"{bins}")  # noqa: B023


@pytest.mark.parametrize(
    "wrong",
    [
        lambda m, x: m.bincount(x - 5),
        lambda m, x: m.bincount(x[None]),
        lambda m, x: m.bincount(x, minlength=-1),
        lambda m, x: m.bincount(x, [1.0]),
        lambda m, x: m.bincount(x, x * 1j),
        lambda m, x: m.bincount(x * 1.0),
    ],
)
def test_wrong_counts(wrong):
    compare(wrong, np.arange(4))


BINS = [
    10,
    1,
    [0, 1, 2, 5],
    [-3.0, 0.0, 3.0],
    [1, 1, 1],
    [1],
    "auto",
    "fd",
    "doane",
    "scott",
    "stone",
    "rice",
    "sturges",
    "sqrt",
    "x",
    0,
    2.5,
    [3, 1],
]


@pytest.mark.skipif(BEFORE_2_2, reason="NumPy before 2.2 makes bins of integers that are narrower than one")
@pytest.mark.parametrize("dtype", ["bool", "int16", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("bins", BINS, ids=str)
def test_histograms(dtype, bins, rng):
    host = samples(dtype, (6, 20), rng)
    for options in ({}, {"range": (-2, 9)}, {"range": (9, 1)}, {"density": True}):
        compare(lambda m, x: m.histogram(x, bins, **options), host, ulp=16, label=str(options))  # noqa: B023
    compare(lambda m, x: m.histogram_bin_edges(x, bins), host, ulp=16)
    for kind in ("float64", "int64", "complex128", "float32"):
        compare(
            lambda m, x, w: m.histogram(x, bins, weights=w), host, samples(kind, (6, 20), rng), ulp=2**10 if kind != "float32" else 2**6
        )


@pytest.mark.parametrize(
    "host", [np.zeros(0), np.zeros(3), np.array([1.0, np.nan]), np.array([1.0, np.inf]), np.array(3), np.array([1j])], ids=str
)
def test_histograms_of_few(host):
    if host.dtype.kind != "c":
        compare(lambda m, x: m.histogram(x), host)
        compare(lambda m, x: m.histogram(x, range=(0, 2)), host)
        compare(lambda m, x: m.histogram(x, bins="auto"), host)


def test_histograms_of_points(rng):
    points = rng.standard_normal((40, 3))
    for options in (
        {},
        {"bins": 3},
        {"bins": [2, 3, 4]},
        {"bins": [[-1, 0, 1], 3, [0.0, 0.5]]},
        {"density": True, "bins": 3},
        {"bins": [2, 3]},
        {"range": [(-1, 1), None, (0, 2)], "bins": 3},
        {"range": [(0, 1)]},
        {"bins": 0},
        {"bins": [[1, 0], 2, 2]},
    ):
        compare(lambda m, x: m.histogramdd(x, **options), points, ulp=16, label=str(options))  # noqa: B023
    compare(lambda m, x, w: m.histogramdd(x, 3, weights=w), points, rng.standard_normal(40), ulp=256)
    for options in ({}, {"bins": 3}, {"bins": (2, 3)}, {"bins": [-1, 0, 1, 2]}, {"bins": [[-1, 0, 1], 3]}, {"density": True}):
        compare(lambda m, x: m.histogram2d(x[:, 0], x[:, 1], **options), points, ulp=16, label=str(options))  # noqa: B023
    compare(lambda m, x: m.histogram2d(x[:, 0], x[:3, 1]), points)
    compare(lambda m, x: m.histogramdd(x, 2), points.astype("f4"), ulp=16)  # edges are of the dtype of the points
    compare(lambda m, x, y: m.histogram2d(x[:, 0], y[:, 1], 2), points.astype("f4"), points, ulp=16)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
@pytest.mark.parametrize("count", [-1, 0, 1, 2, 5, 12, 6.5])
def test_windows(name, count):
    check(getattr(pp, name)(count), getattr(np, name)(count), ulp=8)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 12])
def test_kaiser(count):
    for beta in (0, 5, 14.0):
        check(pp.kaiser(count, beta), np.kaiser(count, beta), ulp=8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_i0(dtype, rng):
    compare(lambda m, x: m.i0(x), samples(dtype, (3, 4), rng) if dtype not in ("float16",) else np.float16([0, 1, 8]), ulp=16)
    compare(lambda m, x: m.i0(x), np.array([0.0, -9.0, np.nan, np.inf, 8.0, 700.0]), ulp=2**20)


# --- counting by groups, as on GPUs


@pytest.fixture
def groups(monkeypatch):
    """Devices count in groups of 64 items."""
    monkeypatch.setattr(counting, "group_size", lambda device: 64)


@pytest.mark.varied("dtype")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_even_bins_are_exact_where_groups_count(groups, dtype):
    """Values at edges, next to them and far away; bins from wide ones to those that are as narrow as rounding lets them be."""
    rng = np.random.default_rng(5)
    looked_at = set()
    for low, high, bins in [
        (0, 1, 100), (-3.3, 7.7, 129), (0, 1e-3, 1000), (1e6, 1e6 + 5000, 5000), (-1e-20, 1e-20, 7), (1e30, 3e30, 33), (0, 1, 1),
    ]:  # fmt: skip
        x = np.asarray(low + (high - low) * rng.random(9000), dtype)
        edges = np.histogram_bin_edges(x, bins).astype(dtype)
        below, above = (np.nextafter(edges, np.asarray(side, dtype)) for side in (-np.inf, np.inf))
        x = np.r_[x, np.clip(np.r_[edges, below, above], edges[0], edges[-1])].astype(dtype)
        wild = np.r_[x, np.asarray([np.nan, np.inf, -np.inf] * 9, dtype)]
        looked_at.add(float(counting.formula_of(edges)[3]) < 1)
        assert np.array_equal(pp.asnumpy(pp.histogram(pp.asarray(x), bins=bins)[0]), np.histogram(x, bins=bins)[0])
        inside = (low + 0.25 * (high - low), low + 0.7 * (high - low))
        assert np.array_equal(pp.asnumpy(pp.histogram(pp.asarray(wild), bins, inside)[0]), np.histogram(wild, bins, inside)[0])
    assert looked_at == {True, False} if dtype == "float32" else looked_at == {True}


def test_integers_where_groups_count(groups):
    rng = np.random.default_rng(6)
    for most in (1, 5, 128, 129, 1025, 4096):
        x = rng.integers(0, most, 9000)
        assert np.array_equal(pp.asnumpy(pp.bincount(pp.asarray(x), minlength=most)), np.bincount(x, minlength=most))
    small = x.astype("int16")
    assert np.array_equal(pp.asnumpy(pp.histogram(pp.asarray(small), 300)[0]), np.histogram(small, 300)[0])
