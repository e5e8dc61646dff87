# tests/conformance/test_reductions.py: every row of reductions.def, and means, on every dtype, layout and axis, against NumPy.
import warnings

import numpy as np
import numpy_names  # noqa: F401 (what NumPy 2.0 lacks)
import pardo as pp
import pytest
from data import DTYPES, FLOATS, INTEGERS, assert_close, assert_same, float_of, layouts_for, make, rng_for, values
from pardo._base.rows import ROWS

FOLD = {row.name: row.fold for row in ROWS}
REDUCTIONS = [row.name for row in ROWS if row.kind == "REDUCTION"] + ["mean"]
POSITIONS = [row.name for row in ROWS if row.kind == "POSITION"]
SCANS = [row.name for row in ROWS if row.kind == "SCAN"]
SELECTIONS = [row.name for row in ROWS if row.keywords == "EXTREME"]
RTOL = {"float16": 5e-3, "float32": 2e-6, "float64": 1e-14, "complex64": 2e-6, "complex128": 1e-14}


def axes_of(ndim):
    if ndim == 0:
        return [None, ()]
    return [None, *range(-1, ndim)] + ([(0, 1)] if ndim > 1 else []) + ([(0, -1)] if ndim > 2 else []) + [()]


def compare(name, mine, reference, dtype, absolute, what):
    """Integers and selections are exact; float sums differ by the order, within the sum of magnitudes."""
    reference = np.asarray(reference)
    if reference.dtype.kind in "biu" or name in SELECTIONS:
        return assert_same(mine, reference, what)
    return assert_close(mine, reference, RTOL[str(reference.dtype)], RTOL[str(reference.dtype)] * absolute, what)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_reduction(name, dtype, device):
    for layout in layouts_for(device, name, dtype):
        a, x = make(layout, dtype, rng_for(name, dtype, layout.name), device, small=True)
        if FOLD.get(name) == "prod" and np.dtype(dtype).kind in "fc":
            if a.ndim == 0:
                continue
            a, x = a[..., :5], x[..., :5]
        for axis in axes_of(a.ndim):
            for keepdims in (False, True):
                what = f"{name}, {dtype}, {layout.name}, axis={axis}, keepdims={keepdims}"
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", RuntimeWarning)  # mean of an empty slice
                        expected = getattr(np, name)(a, axis=axis, keepdims=keepdims)
                except ValueError:
                    with pytest.raises(ValueError, match=name):
                        getattr(pp, name)(x, axis=axis, keepdims=keepdims)
                    continue
                except TypeError:
                    with pytest.raises(TypeError):
                        getattr(pp, name)(x, axis=axis, keepdims=keepdims)
                    return
                magnitude = float(np.abs(a).astype("f8").sum() if np.dtype(dtype).kind != "c" else np.abs(a).sum()) + 1
                compare(name, getattr(pp, name)(x, axis=axis, keepdims=keepdims), expected, dtype, magnitude if name != "mean" else 1, what)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, -1, 1, (0,), ()])
def test_axes_of_no_dimensions(name, axis, device):
    a = np.array(3, float_of(device))
    x = pp.asarray(a, device=device)
    try:
        expected = getattr(np, name)(a, axis=axis)
    except np.exceptions.AxisError:
        with pytest.raises(np.exceptions.AxisError):
            getattr(pp, name)(x, axis=axis)
        return
    assert_same(getattr(pp, name)(x, axis=axis), np.asarray(expected), f"{name}, axis={axis}")


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + ["bool", "complex128"])
@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("name", ["var", "std"])
def test_variance(name, correction, dtype, device):
    a = values(dtype, 5 * 40, rng_for(dtype), special=False, small=True).reshape(5, 40)
    x = pp.asarray(a, device=device)
    for axis in (None, 0, 1, (0, 1)):
        expected = np.asarray(getattr(np, name)(a, axis=axis, ddof=correction))
        got = getattr(pp, name)(x, axis=axis, correction=correction)
        assert_close(got, expected, 5 * RTOL[str(expected.dtype)], RTOL[str(expected.dtype)], f"{name}, {dtype}, {axis}")


@pytest.mark.parametrize("dtype", [name for name in DTYPES if not name.startswith("complex")])
@pytest.mark.parametrize("name", POSITIONS)
def test_positions(name, dtype, device):
    for layout in layouts_for(device, name, dtype):
        a, x = make(layout, dtype, rng_for(name, dtype, layout.name), device)
        for axis in [None, *range(a.ndim)]:
            what = f"{name}, {dtype}, {layout.name}, axis={axis}"
            try:
                expected = getattr(np, name)(a, axis=axis)
            except ValueError:
                with pytest.raises(ValueError, match=name):
                    getattr(pp, name)(x, axis=axis)
                continue
            assert_same(getattr(pp, name)(x, axis=axis), expected, what)


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values(dtype, device):
    a = np.array([1.0, np.nan, 3.0, np.inf], dtype)
    x = pp.asarray(a, device=device)
    for name in REDUCTIONS + POSITIONS:
        assert_same(getattr(pp, name)(x), getattr(np, name)(a), name)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SCANS)
def test_scans(name, dtype, device):
    for layout in layouts_for(device, name, dtype):
        a, x = make(layout, dtype, rng_for(name, dtype, layout.name), device, small=True)
        if FOLD[name] == "prod" and a.ndim and np.dtype(dtype).kind in "fc":
            a, x = a[..., :9], x[..., :9]
        if a.ndim == 0:
            continue
        for axis in range(a.ndim):
            expected = getattr(np, name)(a, axis=axis)
            compare(
                name,
                getattr(pp, name)(x, axis=axis),
                expected,
                dtype,
                float(np.abs(a).astype("c16").sum().real) + 1,
                f"{name}, {layout.name}",
            )


@pytest.mark.parametrize("size", [1, 7, 8, 9, 63, 64, 65, 1000, 4097, 100_003, 1_000_003])
def test_sums_of_every_length(size, device):
    for dtype in ("float32", float_of(device), "int32", "uint8"):
        a = values(dtype, size, rng_for(size), special=False, small=True)
        x = pp.asarray(a, device=device)
        expected = a.sum(dtype="f8" if a.dtype.kind == "f" else None)
        assert float(x.sum()) == pytest.approx(float(expected), rel=1e-6 if dtype == "float32" else 1e-13, abs=1e-5 * size**0.5)
        assert_same(x.max(), a.max())
        assert_same(x[::2].min(), a[::2].min())


def test_float_sums_are_pairwise_or_better(device):
    a = np.full(10_000_000, 0.1, np.float32)
    assert float(pp.asarray(a, device=device).sum()) == pytest.approx(1e6, rel=1e-6)


def test_same_bits_every_time(device):
    a = values(float_of(device), 1_000_003, rng_for("bits"), special=False)
    x = pp.asarray(a, device=device)
    assert len({float(x.sum()) for _ in range(20)}) == 1
    assert len({float((x * 1.5).sum()) for _ in range(20)}) == 1


def test_dtype_where_initial(device):
    a = np.arange(12, dtype="int8").reshape(3, 4)
    x = pp.asarray(a, device=device)
    mask = a % 2 == 0
    m = pp.asarray(mask, device=device)
    assert_same(pp.sum(x, dtype="float32"), np.sum(a, dtype="float32"))
    assert_same(pp.sum(x, axis=0, where=m), np.sum(a, axis=0, where=mask))
    assert_same(pp.max(x, where=m, initial=3), np.max(a, where=mask, initial=3))
    assert_same(pp.mean(x, axis=1, where=m), np.mean(a, axis=1, where=mask))
    assert_same(pp.any(x > 100, axis=1), np.any(a > 100, axis=1))


@pytest.mark.parametrize("axis", [2, -3, (0, 0), (0, 5)])
def test_wrong_axes(axis, device):
    with pytest.raises((ValueError, IndexError), match="sum"):
        pp.sum(pp.ones((2, 3), device=device), axis=axis)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("size", [4096, 5000, 300_007])
def test_many_narrow_elements(dtype, size, device):
    """What decides may be the first element, the last one, one of several, or none; the CPU does not look at those after it."""
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    some = rng_for("narrow", dtype).integers(low, high, size, dtype="int64", endpoint=True).astype(dtype)
    hosts = [some, np.zeros(size, dtype), np.ones(size, dtype), np.full(size, low, dtype), np.full(size, high, dtype)]
    for places in ([0], [size - 1], [size // 2], [size // 3, size // 2, size - 1]):
        for fill, other in ((0, 1), (1, 0), (low, high), (high, low)):
            hosts.append(np.full(size, fill, dtype))
            hosts[-1][places] = other
    for host in hosts:
        x = pp.asarray(host, device=device)
        for name in ("any", "all", "count_nonzero", "max", "min", "argmax", "argmin"):
            for mine, theirs in ((x, host), (x[::-1], host[::-1])):
                expected = getattr(np, name)(theirs)
                assert_same(getattr(pp, name)(mine), np.int64(expected) if name == "count_nonzero" else expected, f"{name}, {dtype}")
            if name != "count_nonzero":
                kept = getattr(host, name)(keepdims=True)
                assert_same(getattr(pp, name)(x, axis=0, keepdims=True), kept, f"{name}, {dtype}, keepdims")


def test_bytes_that_are_no_bools(device):
    """Memory of others may hold any byte where a bool is."""
    host = np.zeros(5000, "uint8")
    host[[7, 4000]] = 5, 2
    x = pp.asarray(host.view(bool), device=device)
    assert [int(f(x)) for f in (pp.any, pp.all, pp.count_nonzero, pp.argmax, pp.argmin)] == [1, 0, 2, 7, 0]


def test_an_answer_is_of_the_time_of_the_call(device):
    x = pp.zeros(10_000, dtype="bool", device=device)
    none = x.any()
    x[5] = True
    assert not none
    place = x.argmax()
    place += 1
    assert int(place) == 6


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_views_of_long_sums_are_stored(dtype, device):
    """A sum that is cut into blocks, of which a view is all that is stored: the view has no part of its own in the blocks."""
    a = values(dtype, 50_000, rng_for("views of sums", dtype), special=False, small=True)
    x = pp.asarray(a, device=device)
    joined = pp.concatenate([(x + k).sum(keepdims=True) for k in range(3)])
    assert_close(joined, np.stack([(a + k).sum() for k in range(3)]), 1e-5, 1e-3 * float(np.abs(a.astype("f8")).sum()), dtype)
    table = pp.zeros((2, 3), dtype="float32" if dtype == "bool" else dtype, device=device)
    table[1, 1:2] = x.sum(keepdims=True)[::-1]
    assert_close(table[1, 1], a.sum(dtype=str(table.dtype)), 1e-5, 1e-3 * float(np.abs(a.astype("f8")).sum()), dtype)
