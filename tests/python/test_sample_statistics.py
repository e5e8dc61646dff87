# tests/python/test_sample_statistics.py: quantiles, averages, covariances and functions that leave NaN out, against NumPy's.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from against_numpy import compare
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy_names import BEFORE_2_2
from support import DTYPES, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]
NAN = st.one_of(st.floats(-4, 4).map(np.float32).map(float), st.sampled_from([np.nan, 0.0, 1.0]))
AXES = st.none() | st.integers(-2, 1) | st.just((0, 1)) | st.just((1,))
MATRICES = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=5)


@pytest.mark.skipif(BEFORE_2_2, reason="NumPy before 2.2 gives integers for some methods and arrays of integers")
@pytest.mark.parametrize("method", METHODS)
@given(data=st.data())
def test_quantiles(method, data):
    dtype = data.draw(st.sampled_from(["float64", "float32", "int16", "uint8", "float16"]))
    elements = NAN if dtype.startswith("float") else st.integers(0, 9)
    host = data.draw(hnp.arrays(dtype, MATRICES, elements=elements))
    axis, keepdims = data.draw(AXES), data.draw(st.booleans())
    q = data.draw(st.sampled_from([0.5, 0, 1, 0.3, [0.0, 0.25, 1.0], [[0.1], [0.9]], np.float32([0.4]), []]))
    options = {"axis": axis, "method": method, "keepdims": keepdims}
    # Of nothing but NaN, NumPy's nanquantile has the dtype of the elements, whatever q is.
    nothing = host.dtype.kind == "f" and bool(np.isnan(host).all(axis=axis).any())
    names = ("quantile",) if nothing and host.dtype != np.float64 and not isinstance(q, (int, float)) else ("quantile", "nanquantile")
    for name in names:
        compare(lambda m, x: getattr(m, name)(x, q, **options), host, ulp=2, label=f"{name} {q} {options} {host!r}")  # noqa: B023
    compare(
        lambda m, x: m.percentile(x, 100 * q if isinstance(q, (int, float)) else np.asarray(q) * 100, **options),
        host,
        ulp=2,
        label=f"{q} {options}",
    )


@given(data=st.data())
def test_weighted_quantiles(data):
    host = data.draw(hnp.arrays("float64", MATRICES, elements=NAN)) + 0.0  # which of two zeros comes first is not said
    weights = data.draw(hnp.arrays("float64", host.shape, elements=st.integers(0, 3).map(float)))
    axis = data.draw(st.none() | st.integers(-2, 1))
    q = data.draw(st.sampled_from([0.5, 0.0, 1.0, 0.3, [0.0, 0.25, 1.0]]))
    compare(
        lambda m, x, w: m.quantile(x, q, axis=axis, method="inverted_cdf", weights=w),
        host,
        weights + 1,
        label=f"{q} {axis} {host!r} {weights!r}",
    )


@given(data=st.data())
def test_medians(data):
    dtype = data.draw(st.sampled_from(["float64", "float32", "int16", "uint8", "float16", "bool"]))
    elements = NAN if dtype.startswith("float") else st.integers(0, 1)
    host = data.draw(hnp.arrays(dtype, MATRICES, elements=elements))
    axis, keepdims = data.draw(AXES), data.draw(st.booleans())
    for name in ("median", "nanmedian"):
        compare(lambda m, x: getattr(m, name)(x, axis=axis, keepdims=keepdims), host, ulp=1, label=f"{name} {axis} {host!r}")  # noqa: B023


@pytest.mark.parametrize("dtype", DTYPES)
def test_quantiles_of_dtypes(dtype, rng):
    for shape in ((3, 4), (5,), (), (0,), (0, 3), (3, 0)):
        host = samples(dtype, shape, rng)
        for name in ("median", "nanmedian"):
            compare(lambda m, x: getattr(m, name)(x), host, ulp=2, label=f"{name} {shape}")  # noqa: B023
            compare(lambda m, x: getattr(m, name)(x, axis=-1), host, ulp=2, label=f"{name} {shape} -1")  # noqa: B023
        for name in ("quantile", "nanquantile", "percentile", "nanpercentile"):
            compare(lambda m, x: getattr(m, name)(x, 0.5), host, ulp=2, label=f"{name} {shape}")  # noqa: B023


WRONG = [
    lambda m, x: m.quantile(x, 1.5),
    lambda m, x: m.quantile(x, -0.1),
    lambda m, x: m.percentile(x, 101),
    lambda m, x: m.quantile(x, np.nan),
    lambda m, x: m.quantile(x, 0.5, method="x"),
    lambda m, x: m.quantile(x, 0.5, axis=3),
    lambda m, x: m.median(x, axis=3),
    lambda m, x: m.median(x, axis=(0, 0)),
    lambda m, x: m.quantile(x, 0.5, weights=x),
    lambda m, x: m.quantile(x, [[[0.5]]]),
    lambda m, x: m.quantile(x, 0.5, method="inverted_cdf", weights=-x * x - 1),
    lambda m, x: m.average(x, weights=[1, 2]),
    lambda m, x: m.average(x, axis=0, weights=[1, 2]),
    lambda m, x: m.average(x, axis=0, weights=[0, 0, 0]),
    lambda m, x: m.average(x, axis=5),
    lambda m, x: m.cov(x[None]),
    lambda m, x: m.cov(x, ddof=1.5),
    lambda m, x: m.cov(x, fweights=[1.5, 1, 1, 1]),
    lambda m, x: m.cov(x, fweights=[1, 1, 1]),
    lambda m, x: m.cov(x, aweights=[1, -1, 1, 1]),
    lambda m, x: m.cov(x, aweights=[[1, 1, 1, 1]]),
    lambda m, x: m.nanargmax(x * np.nan),
    lambda m, x: m.nanargmin(x * np.nan, axis=0),
    lambda m, x: m.nanmean(x, dtype=int),
    lambda m, x: m.nanvar(x, dtype=int),
    lambda m, x: m.nanvar(x, ddof=1, correction=1),
    lambda m, x: m.nanmax(x[:0]),
    lambda m, x: m.nanargmax(x[:0]),
    lambda m, x: m.nansum(x, axis=2),
    lambda m, x: m.nanstd(x, axis=2),
    lambda m, x: m.nancumsum(x, axis=2),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_wrong_calls(case):
    compare(WRONG[case], np.arange(12.0).reshape(3, 4), label=str(case))


@pytest.mark.parametrize("dtype", DTYPES)
def test_averages(dtype, rng):
    host, weights = samples(dtype, (3, 4), rng), np.abs(samples("float32", (3, 4), rng))
    for axis in (None, 0, -1, (0, 1)):
        for keepdims in (False, True):
            for returned in (False, True):
                options = {"axis": axis, "keepdims": keepdims, "returned": returned}
                compare(lambda m, x: m.average(x, **options), host, ulp=8, label=str(options))  # noqa: B023
                compare(lambda m, x, w: m.average(x, weights=w, **options), host, weights, ulp=64, label=str(options))  # noqa: B023
    compare(lambda m, x: m.average(x, axis=1, weights=[1, 2, 3, 4]), host, ulp=64)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex64", "complex128"])
def test_covariances(dtype, rng):
    a, b = samples(dtype, (3, 6), rng), samples(dtype, (2, 6), rng)
    a[:, 0], a[:, 1] = 0, 1
    for options in (
        {},
        {"bias": True},
        {"ddof": 2},
        {"rowvar": False},
        {"fweights": [1, 2, 1, 3, 1, 1]},
        {"aweights": [1, 2.5, 1, 3, 1, 1]},
        {"fweights": [1, 2, 1, 3, 1, 1], "aweights": [1, 2.5, 1, 3, 1, 1]},
        {"dtype": "complex128"},
        {"ddof": 9} if a.dtype.kind != "c" else {"ddof": 5},  # a complex number over zero: NaN or infinity, as the last bit falls
    ):
        if options.get("rowvar") is False:
            compare(lambda m, x, y, o=options: m.cov(x.T, y.T, **o), a, b, ulp=256, label=str(options))
            continue
        for f in (
            lambda m, x, y, o=options: m.cov(x, y, **o),
            lambda m, x, y, o=options: m.cov(x, **o),
            lambda m, x, y, o=options: m.cov(x[0], y[1], **o),
            lambda m, x, y, o=options: m.cov(x[0], **o),
        ):
            compare(f, a, b, ulp=512, label=str(options))
    compare(lambda m, x, y: m.corrcoef(x, y[:1]), a, b, ulp=256)
    compare(lambda m, x, y: m.corrcoef(x[0]), a, b, ulp=256)
    compare(lambda m, x, y: m.corrcoef(x[0], y[0]), a, b, ulp=256)


NAN_REDUCTIONS = ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanargmax", "nanargmin"]


@pytest.mark.parametrize("name", NAN_REDUCTIONS)
@pytest.mark.parametrize("dtype", ["bool", "int16", "uint64", "float16", "float32", "float64", "complex128"])
def test_reductions_without_nan(name, dtype, rng):
    host = samples(dtype, (4, 5), rng)
    if host.dtype.kind in "fc":
        host[1, :3], host[:, 2], host[0, 0] = np.nan, np.nan, 7
        host[3, 1] = np.inf if host.dtype.kind == "f" else 1
    for axis in (None, 0, -1, (0, 1)):
        if isinstance(axis, tuple) and "arg" in name:
            continue
        for keepdims in (False, True):
            compare(lambda m, x: getattr(m, name)(x, axis=axis, keepdims=keepdims), host, ulp=64, label=f"{name} {axis}")  # noqa: B023
    if "arg" in name:
        return
    mask = rng.integers(0, 2, (4, 5)).astype(bool)
    extra = {"initial": 2} if name in ("nanmax", "nanmin") else {}
    compare(lambda m, x: getattr(m, name)(x, axis=0, where=m.asarray(mask), **extra), host, ulp=64, label=name)
    if name in ("nanvar", "nanstd"):
        compare(lambda m, x: getattr(m, name)(x, axis=0, ddof=1), host, ulp=64)
        compare(lambda m, x: getattr(m, name)(x, axis=0, correction=3), host, ulp=64)
        compare(lambda m, x: getattr(m, name)(x, axis=0, mean=m.nanmean(x, axis=0, keepdims=True)), host, ulp=64)
    if host.dtype.kind == "f" and name not in ("nanmax", "nanmin"):
        compare(lambda m, x: getattr(m, name)(x, axis=0, dtype="float64"), host, ulp=2**33)
    expected = getattr(np, name)(host, axis=1)
    out = pp.zeros(4, dtype=expected.dtype)
    assert getattr(pp, name)(pp.asarray(host), axis=1, out=out) is out


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float16", "float64", "complex128"])
def test_running_sums_without_nan(name, dtype, rng):
    host = samples(dtype, (3, 4), rng)
    if host.dtype.kind in "fc":
        host[1, :2] = np.nan
    for axis in (None, 0, -1):
        compare(lambda m, x: getattr(m, name)(x, axis=axis), host, ulp=16, label=f"{name} {axis}")  # noqa: B023


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16"])
def test_probabilities_of_float16(dtype, rng):
    # float16 holds no whole numbers beyond 65,504 and not all beyond 2,048: places in a line are to be found in float64.
    host = (rng.random(70_000) * 1000).astype(dtype)
    mine = pp.asarray(host)
    for name in ("quantile", "nanquantile"):
        for method in ("linear", "nearest", "midpoint", "hazen", "inverted_cdf"):
            for q in (np.float16(0.5), np.array([0.1, 0.9, 1.0], "float16")):
                got = getattr(pp, name)(mine, pp.asarray(q), method=method)
                expected = getattr(np, name)(host.astype("float64"), np.asarray(q, "float64"), method=method)
                np.testing.assert_allclose(pp.asnumpy(got), expected, rtol=2e-3, err_msg=f"{name} {method} {q}")
    assert float(pp.percentile(mine, 100)) == host.max()


def test_extremes_leave_out_an_initial_nan():
    for values in ([1.0], [np.nan], [2.0, np.nan], []):
        host = np.array(values)
        for name in ("nanmax", "nanmin"):
            for initial in (np.nan, 0.0, 5):
                compare(lambda m, x: getattr(m, name)(x, initial=initial), host, label=f"{name} {values} {initial}")  # noqa: B023


def test_digitize_with_nan_in_bins():
    x = np.array([1.0, 2.0, np.nan, 9.0])
    for bins in ([0.0, 1.5, np.nan], [np.nan, 1.5, 0.0], [1.0, 1.0, 0.0], [2.0, 2.0]):
        for right in (False, True):
            compare(lambda m, x, b: m.digitize(x, b, right), x, np.array(bins), label=f"{bins} {right}")  # noqa: B023
