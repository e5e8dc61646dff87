# tests/python/test_named_often.py: what indices name again and again: ufunc.at, bincount and histogram, by all paths that sizes decide.
from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# (of the array, of the indices): in order, in copies that are interleaved, in copies; by more than two threads in ranges of it, in few.
SIZES = [(7, 100), (10, 40_000), (1000, 150_000), (2000, 70_000), (5000, 40_000), (300_000, 50_000)]
NULLS = [pp.Device("null:1")]
FUNCTIONS = ["add", "subtract", "multiply", "minimum", "maximum", "fmin", "fmax", "bitwise_and", "bitwise_or", "bitwise_xor"]
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def numbers(dtype, count, rng):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if kind in "iu":
        return rng.integers(0, 100, count).astype(dtype)
    return rng.integers(-8, 9, count).astype(dtype)  # sums of floats are exact


def applied(name, x, indices, second):
    """What NumPy and pardo make of an array."""
    mine, theirs = pp.asarray(x), x.copy()
    getattr(np, name).at(theirs, indices, second)
    getattr(pp, name).at(mine, pp.asarray(indices), pp.asarray(second) if isinstance(second, np.ndarray) else second)
    return pp.asnumpy(mine), theirs


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["bool", *DTYPES, "complex64", "complex128"])
def test_sums(dtype, sizes, rng):
    size, count = sizes
    x, indices = numbers(dtype, size, rng), rng.integers(-size, size, count)
    np.testing.assert_array_equal(*applied("add", x, indices, numbers(dtype, count, rng)))
    if dtype != "bool":
        np.testing.assert_array_equal(*applied("subtract", x, indices, np.asarray(3, dtype)[()]))


@pytest.mark.parametrize("sizes", SIZES[1:5:2], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, sizes, rng):
    size, count = sizes
    indices = rng.integers(0, size, count)
    for dtype in ["bool", *DTYPES]:
        if (name.startswith("bitwise") and dtype.startswith("float")) or (name == "subtract" and dtype == "bool"):
            continue
        x, second = numbers(dtype, size, rng), numbers(dtype, count, rng)
        if name == "multiply" and dtype.startswith("float"):
            second = np.where(second > 0, 2, -1).astype(dtype)[:: max(count // 20, 1)]  # neither overflow nor order
            indices = indices[:: max(count // 20, 1)][: second.size]
        if name.startswith("f") and dtype.startswith("float"):
            second[::7] = np.nan
        np.testing.assert_array_equal(*applied(name, x, indices, second), err_msg=f"{name} {dtype}")
        indices = rng.integers(0, size, count)


@pytest.mark.parametrize("name", ["minimum", "maximum", "fmin", "fmax"])
def test_nan(name, rng):
    x, second, indices = np.full(50, np.nan), rng.random(40_000), rng.integers(0, 50, 40_000)
    x[::3] = 0.5
    np.testing.assert_array_equal(*applied(name, x, indices, second))
    second[indices < 10] = np.nan
    second[::4001] = np.nan
    np.testing.assert_array_equal(*applied(name, x, indices, second))


def test_zeros_keep_their_sign():
    x = np.full(10, -0.0)
    mine, theirs = applied("add", x, np.arange(40_000) % 9, np.full(40_000, -0.0))
    assert np.signbit(mine).all()
    assert np.signbit(theirs).all()


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_floats_differ_by_rounding_only(sizes, rng):
    size, count = sizes
    indices, second = rng.integers(0, size, count), rng.random(count)
    mine, theirs = applied("add", np.zeros(size), indices, second)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    again, _ = applied("add", np.zeros(size), indices, second)
    np.testing.assert_array_equal(mine, again)


@pytest.mark.parametrize("count", [50, 40_000])
def test_indices_of_any_kind(count, rng):
    host = rng.integers(0, 5, (40, 60)).astype(float)
    rows, columns = rng.integers(-40, 40, count), rng.integers(0, 60, count).astype(np.int16)
    ones = np.ones(count)
    for view in (lambda x: x, lambda x: x.T[:, ::-1].T, lambda x: x[::2]):
        x, y = pp.asarray(host), host.copy()
        i = rows // 2
        pp.add.at(view(x), (pp.asarray(i), pp.asarray(columns)), pp.asarray(ones))
        np.add.at(view(y), (i, columns), ones)
        np.testing.assert_array_equal(pp.asnumpy(x), y)
        pp.add.at(view(x), pp.asarray(i), 2)
        np.add.at(view(y), i, 2)
        np.testing.assert_array_equal(pp.asnumpy(x), y)
    x, y = pp.zeros(60), np.zeros(60)
    for index in (columns, columns.tolist(), columns.reshape(-1, 2), columns.astype(np.uint16), np.zeros(0, int)):
        second = np.arange(np.size(index), dtype=float).reshape(np.shape(index))
        pp.add.at(x, index, second)
        np.add.at(y, index, second)
        np.testing.assert_array_equal(pp.asnumpy(x), y)
    pp.add.at(x[::3], pp.asarray(columns % 20), x[pp.asarray(columns % 20)] * 0 + 1)
    np.add.at(y[::3], columns % 20, 1)
    np.testing.assert_array_equal(pp.asnumpy(x), y)


def test_the_operands_may_be_the_array_itself():
    x, y = pp.arange(40_000), np.arange(40_000)
    pp.add.at(x, x, x)
    np.add.at(y, y.copy(), y.copy())
    np.testing.assert_array_equal(pp.asnumpy(x), y)


@pytest.mark.parametrize("count", [3, 40_000])
def test_wrong_indices_write_nothing(count):
    x = pp.zeros(5)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        (pp.add.at(x, pp.asarray(np.r_[np.zeros(count, int), 5]), 1.0), x.wait())
    y = pp.zeros(5)
    with pytest.raises(IndexError, match="index -6 is out of bounds for axis 0 with size 5"):
        pp.add.at(y, np.r_[np.zeros(count, int), -6], 1.0)
    assert pp.asnumpy(y).tolist() == [0] * 5
    with pytest.raises(ValueError, match="does not broadcast"):
        pp.add.at(y, pp.asarray([0, 1]), pp.zeros(3))
    with pytest.raises(IndexError):
        pp.add.at(y, pp.asarray([0.0, 1.0]), 1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ldexp(dtype, rng):
    x = rng.standard_normal(6).astype(dtype)
    for wide in (3, 60, 900, 3000):
        indices, exponents = rng.integers(0, 6, 40), rng.integers(-wide, wide, 40)
        np.testing.assert_array_equal(*applied("ldexp", x, indices, exponents), err_msg=str(wide))
        np.testing.assert_array_equal(*applied("ldexp", x, np.array([0, 1]), np.array([-wide, wide])), err_msg=str(wide))
    np.testing.assert_array_equal(*applied("ldexp", x, np.zeros(5000, int), np.where(np.arange(5000) % 2, 3, -3)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_spacing(dtype):
    info = np.finfo(dtype)
    x = np.array([1, info.max, info.tiny, 0, -1, np.inf, np.nan], dtype)
    indices = np.repeat(np.arange(7), [1, 3000, 2, 5, 60, 2, 2])
    mine, theirs = pp.asarray(x), x.copy()
    np.spacing.at(theirs, indices)
    pp.spacing.at(mine, pp.asarray(indices))
    np.testing.assert_array_equal(pp.asnumpy(mine), theirs)


def test_bitwise_count():
    x = np.array([[0, 1, 2, 3], [255, 2**62 - 1, -(2**63), 7]])
    indices = np.repeat([0, 1, 1], 1000)
    mine, theirs = pp.asarray(x), x.copy()
    np.bitwise_count.at(theirs, indices)
    pp.bitwise_count.at(mine, pp.asarray(indices))
    np.testing.assert_array_equal(pp.asnumpy(mine), theirs)


@pytest.mark.varied("device")
@pytest.mark.parametrize("device", [d for d in [*DEVICES, *NULLS] if d.backend != "cpu"], ids=str)
def test_counts_in_the_memory_of_groups(device, rng):
    for n in (1, 5, 128, 129, 1000, 4096, 4097):
        for count in (0, 100, 60_000):
            x = rng.integers(0, n, count)
            found = pp.asnumpy(pp.bincount(pp.asarray(x, device=device), minlength=n))
            np.testing.assert_array_equal(found, np.bincount(x, minlength=n))
            assert found.dtype == np.int64
    x = rng.random(60_000, dtype=np.float32)
    found = pp.asnumpy(pp.histogram(pp.asarray(x, device=device), 100, (0, 1))[0])
    np.testing.assert_array_equal(found, np.histogram(x, 100, (0, 1))[0])


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_bincount(sizes, rng):
    size, count = sizes
    x, weights = rng.integers(0, size, count), rng.integers(0, 9, count).astype(float)
    for dtype in ("int64", "int32", "uint16") if size < 65536 else ("int64",):
        np.testing.assert_array_equal(pp.asnumpy(pp.bincount(pp.asarray(x.astype(dtype)))), np.bincount(x))
    np.testing.assert_array_equal(pp.asnumpy(pp.bincount(pp.asarray(x), pp.asarray(weights), size + 3)), np.bincount(x, weights, size + 3))


@pytest.mark.parametrize("count", [0, 30, 100_000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8"])
def test_histogram(dtype, count, rng):
    x = (rng.standard_normal(count) * 20 + 40).clip(0, 250).astype(dtype)
    weights = rng.integers(0, 4, count)
    for keywords in (
        {"bins": 7},
        {"bins": 100, "range": (10, 90)},
        {"bins": [0, 1, 1, 30, 200, 200]},
        {"bins": np.array([0.0, 0.5, 33, 34, 1000])},
        {"bins": np.linspace(0, 250, 2000)},
        {"bins": [3.0]},
    ):
        for w in (None, weights):
            expected, edges = np.histogram(x, weights=w, **keywords)
            got, at = pp.histogram(pp.asarray(x), weights=None if w is None else pp.asarray(w), **keywords)
            np.testing.assert_array_equal(pp.asnumpy(got), expected)
            np.testing.assert_allclose(pp.asnumpy(at), edges, rtol=1e-6)
    if dtype.startswith("float") and count:
        x[:5] = np.nan
        np.testing.assert_array_equal(
            pp.asnumpy(pp.histogram(pp.asarray(x), bins=9, range=(0, 90))[0]), np.histogram(x, bins=9, range=(0, 90))[0]
        )


TABLES = [
    np.linspace(-3, 3, 65),
    np.arange(5.0),
    np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.0]),
    np.r_[np.linspace(0, 1e-9, 50), 5],
    np.array([-np.inf, 0, 1, 2, np.inf]),
    np.array([0, 1, 2, 3, np.nan]),
    np.array([1e308, 1.5e308]) * np.array([-1, 1]),
    np.zeros(8),
]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("table", TABLES, ids=len)
def test_searches_in_short_tables(table, right, rng):
    side = "right" if right else "left"
    x = np.r_[rng.standard_normal(3000) * 2, table, np.nextafter(table, 9), np.nextafter(table, -9), np.inf, -np.inf, np.nan, -0.0]
    for dtype in ("float64", "float32", "float16"):
        t, v = table.astype(dtype), x.astype(dtype)
        t.sort()
        np.testing.assert_array_equal(pp.asnumpy(pp.searchsorted(pp.asarray(t), pp.asarray(v), side)), np.searchsorted(t, v, side))
    for dtype in ("int64", "int8", "uint64"):
        t, v = np.arange(0, 120, 3).astype(dtype), rng.integers(0, 127, 3000).astype(dtype)
        np.testing.assert_array_equal(pp.asnumpy(pp.searchsorted(pp.asarray(t), pp.asarray(v), side)), np.searchsorted(t, v, side))
    t, v = np.array([-(2**63), -5, 0, 3, 2**63 - 1]), np.r_[rng.integers(-(2**63), 2**63 - 1, 3000), 2**63 - 1, -(2**63)]
    np.testing.assert_array_equal(pp.asnumpy(pp.searchsorted(pp.asarray(t), pp.asarray(v), side)), np.searchsorted(t, v, side))


def laid_out(name, count, rng):
    match name:
        case "random":
            return rng.standard_normal(count)
        case "sorted":
            return np.arange(float(count))
        case "falling":
            return -np.arange(float(count))
        case "few":
            return rng.integers(0, 3, count).astype(float)
        case "equal":
            return np.full(count, 2.5)
        case "one":
            return np.r_[np.full(count - 1, 1.0), -7.0]
        case "periodic":
            return (np.arange(count) % 128).astype(float)
        case _:
            return np.where(rng.random(count) < 0.001, 1e300, rng.random(count))


LAYOUTS = ["random", "sorted", "falling", "few", "equal", "one", "periodic", "mixed"]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16", "uint8", "bool"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_quantiles_of_long_lines(name, dtype, rng):
    for count in (300_000, 300_001):
        x = laid_out(name, count, rng)
        with np.errstate(all="ignore"):
            host = np.nan_to_num(x, posinf=0).clip(-30_000, 30_000).astype(dtype) if dtype != "float64" else x
        mine = pp.asarray(host)
        np.testing.assert_array_equal(pp.asnumpy(pp.median(mine)), np.median(host), err_msg=str(count))
        if dtype == "bool":
            continue
        for q in ([5, 50, 95], [0, 100], [0.001, 99.999], np.linspace(0, 100, 41)):
            np.testing.assert_allclose(pp.asnumpy(pp.percentile(mine, q)), np.percentile(host, q), rtol=1e-6, err_msg=str(q))
            np.testing.assert_array_equal(
                pp.asnumpy(pp.percentile(mine, q, method="lower")), np.percentile(host, q, method="lower"), err_msg=str(q)
            )


@pytest.mark.parametrize("name", LAYOUTS)
def test_quantiles_of_long_lines_with_nan(name, rng):
    x = laid_out(name, 300_000, rng)
    x[1234] = np.nan
    assert np.isnan(pp.asnumpy(pp.median(pp.asarray(x))))
    assert np.isnan(pp.asnumpy(pp.percentile(pp.asarray(x), [1, 50]))).all()


@pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
def test_medians_of_many_lines(axis, rng):
    for dtype in ("float64", "float32", "float16", "int32", "uint8", "complex128"):
        x = (rng.random((6, 70, 9)) * 100).astype(dtype)
        np.testing.assert_allclose(
            pp.asnumpy(pp.median(pp.asarray(x), axis)), np.median(x, axis), rtol=1e-3 if dtype == "float16" else 1e-6
        )


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_extremes_without_nan(name, rng):
    x = rng.standard_normal((60, 70))
    x[rng.random(x.shape) < 0.3] = np.nan
    x[5] = np.nan
    x[:, 6] = np.nan
    where = rng.random(x.shape) < 0.5
    for dtype in ("float64", "float32", "float16"):
        host = x.astype(dtype)
        for keywords in (
            {"axis": 0},
            {"axis": 1, "keepdims": True},
            {"axis": None},
            {"axis": (0, 1)},
            {"axis": 0, "initial": 0.25},
            {"axis": 0, "initial": np.nan},
            {"axis": 1, "initial": -0.5, "where": where},
            {"axis": 1, "initial": np.nan, "where": where},
        ):
            mine = keywords | ({"where": pp.asarray(where)} if "where" in keywords else {})
            np.testing.assert_array_equal(
                pp.asnumpy(getattr(pp, name).reduce(pp.asarray(host), **mine)),
                getattr(np, name).reduce(host, **keywords),
                err_msg=str(keywords),
            )
    for dtype in ("int8", "uint64", "bool"):
        host = rng.integers(0, 2, (3, 4)).astype(dtype)
        np.testing.assert_array_equal(pp.asnumpy(getattr(pp, name).reduce(pp.asarray(host))), getattr(np, name).reduce(host))


def test_more_threads_add_in_ranges():
    """With more than two threads places are put in order by ranges of the array: the same bits."""
    code = """
import numpy as np, pardo as pp
rng = np.random.default_rng(5)
for size, count in ((5000, 40_000), (300_000, 50_000)):
    where = rng.integers(-size, size, count)
    for dtype in ("int8", "float16", "uint32", "float64", "complex64", "complex128"):
        a, what = rng.random(size).astype(dtype), rng.random(count).astype(dtype)
        for second in (what, what[0]):
            x, y = pp.asarray(a), a.copy()
            pp.add.at(x, pp.asarray(where), second if second.ndim == 0 else pp.asarray(second))
            np.add.at(y, where, second)
            assert pp.asnumpy(x).tobytes() == y.tobytes(), (size, dtype)
    x = pp.zeros(size)
    try:
        pp.add.at(x, pp.asarray(np.where(np.arange(count) == count - 3, size, where)), 1.0)
        x.wait()
    except IndexError:
        x.accept()
        assert not pp.asnumpy(x).any()
    else:
        raise AssertionError("a place is outside")
"""
    variables = {**os.environ, "PARDO_NUM_THREADS": "4", "PARDO_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=variables)
    assert done.returncode == 0, done.stderr
