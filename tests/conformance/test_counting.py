# tests/conformance/test_counting.py: counting and adding many elements onto few places, on every device, against NumPy.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, assert_same, rng_for, values

MANY = 40_003


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["add", "multiply", "minimum", "fmax"])
def test_at_few_places(op, dtype, device):
    if dtype == "float16" or (dtype.startswith("complex") and op != "add"):
        return  # by another way, which has tests of its own
    rng = rng_for(op, dtype)
    a = values(dtype, 300, rng, special=False, small=True)
    inexact = a.dtype.kind in "fc"
    what = values(dtype, MANY, rng, special=op == "fmax", small=True)
    if inexact and op != "fmax":
        what = (1 + what / 1000).astype(dtype)
    where = rng.integers(-300, 300, MANY)
    x = pp.asarray(a, device=device)
    getattr(pp, op).at(x, pp.asarray(where, device=device), pp.asarray(what, device=device))
    expected = a.copy()
    with np.errstate(all="ignore"):
        getattr(np, op).at(expected, where, what)
    if not inexact:
        assert_same(x, expected)
    else:
        np.testing.assert_allclose(pp.asnumpy(x), expected, rtol=2e-4 if expected.real.dtype == np.float32 else 1e-11)
    again = pp.asarray(a, device=device)
    getattr(pp, op).at(again, pp.asarray(where, device=device), pp.asarray(what, device=device))
    assert pp.asnumpy(again).tobytes() == pp.asnumpy(x).tobytes(), "the same bits each time"


@pytest.mark.slow
@pytest.mark.varied("dtype", "spread")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int8", "int64", "bool"])
@pytest.mark.parametrize("spread", ["even", "one", "few", "sorted", "short"])
@pytest.mark.parametrize("op", ["add", "fmin"])
def test_at_many_places(op, spread, dtype, device):
    """Targets of several blocks, where a block is named by none, by few, by all."""
    if dtype.startswith("complex") and op != "add":
        return  # by another way
    rng = rng_for(op, dtype, spread)
    size = 70_001
    a = values(dtype, size, rng, special=False, small=True)
    where = rng.integers(-size, size, 7 if spread == "short" else MANY)
    where = {"one": where * 0 + 40_000, "few": where % 11 * 6000, "sorted": np.sort(where % size)}.get(spread, where)
    what = values(dtype, where.size, rng, special=op == "fmin", small=True)
    x = pp.asarray(a, device=device)
    getattr(pp, op).at(x, pp.asarray(where, device=device), pp.asarray(what, device=device))
    expected = a.copy()
    with np.errstate(all="ignore"):
        getattr(np, op).at(expected, where, what)
    if expected.dtype.kind in "fc" and op == "add":
        scale = 1e-3 if expected.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(pp.asnumpy(x), expected, rtol=scale, atol=scale)
    else:
        assert_same(x, expected)
    again = pp.asarray(a, device=device)
    getattr(pp, op).at(again, pp.asarray(where, device=device), pp.asarray(what, device=device))
    assert pp.asnumpy(again).tobytes() == pp.asnumpy(x).tobytes(), "the same bits each time"


@pytest.mark.varied("places")
@pytest.mark.parametrize("places", [[3, -301], [300, 1], [3, -30_001], [30_000, 1]])
def test_places_outside_change_nothing(places, device):
    size = abs(max(places, key=abs)) - (min(places) < 0)
    x = pp.zeros(size, dtype="float32", device=device)

    def add():
        pp.add.at(x, pp.asarray(places * 5000, device=device), 1.0)
        x.wait()

    with pytest.raises(IndexError, match=f"out of bounds for axis 0 with size {size}"):
        add()
    x.accept()  # the elements have failed where the check was submitted with the additions
    if device.backend != "null":  # there the additions are a value of their own, which has no memory
        assert not pp.asnumpy(x).any()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64"])
def test_histogram_of_many(dtype, device):
    a = (rng_for(dtype).standard_normal(MANY) * 50).astype(dtype)
    x = pp.asarray(a, device=device)
    for keywords in ({"bins": 10}, {"bins": 37, "range": (-20, 20)}, {"bins": 900, "range": (0, 3)}):
        counts, edges = np.histogram(a, **keywords)
        got = pp.histogram(x, **keywords)
        np.testing.assert_allclose(pp.asnumpy(got[1]), edges, rtol=0 if device.has_fp64 else 1e-6, atol=0 if device.has_fp64 else 1e-6)
        np.testing.assert_array_equal(pp.asnumpy(got[0]), counts)
    if a.dtype.kind == "f":
        odd = np.array([np.nan, 0.0, 1.0, np.inf, 0.5, -0.0, -np.inf, np.nextafter(a.dtype.type(1), 2)] * 5000, dtype)
        got = pp.histogram(pp.asarray(odd, device=device), bins=7, range=(0, 1))[0]
        np.testing.assert_array_equal(pp.asnumpy(got), np.histogram(odd, bins=7, range=(0, 1))[0])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64"])
def test_unique_of_many(dtype, device):
    info, rng = np.iinfo(dtype), rng_for(dtype)
    for low, high in ((0, 100), (info.min, info.min + 50), (info.max - 50, info.max), (info.min, info.max)):
        a = rng.integers(low, high, MANY, dtype=dtype, endpoint=True)
        assert_same(pp.unique(pp.asarray(a, device=device)), np.unique(a))
