# tests/conformance/test_sorting.py: sorting, searching and sets on every dtype, against NumPy.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, assert_same, rng_for, values

REAL = [name for name in DTYPES if not name.startswith("complex")]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("shape", [(0,), (1,), (17,), (1000,), (6, 7), (3, 4, 50)], ids=str)
def test_sort(shape, dtype, device):
    a = values(dtype, int(np.prod(shape)), rng_for(shape, dtype)).reshape(shape)
    x = pp.asarray(a, device=device)
    for axis in range(-1, len(shape)):
        assert_same(pp.sort(x, axis=axis), np.sort(a, axis=axis, kind="stable"), f"sort, axis={axis}")
        assert_same(pp.argsort(x, axis=axis), np.argsort(a, axis=axis, kind="stable"), f"argsort, axis={axis}")
    assert_same(pp.sort(x[..., ::-1]), np.sort(a[..., ::-1], kind="stable"))


@pytest.mark.parametrize("dtype", REAL)
def test_descending(dtype, device):
    a = values(dtype, 100, rng_for(dtype), special=False)
    x = pp.asarray(a, device=device)
    assert_same(pp.sort(x, descending=True), np.sort(a)[::-1])
    order = pp.asnumpy(pp.argsort(x, descending=True))
    assert_same(a[order], np.sort(a)[::-1])


@pytest.mark.parametrize("dtype", REAL)
def test_partition(dtype, device):
    a = values(dtype, 7 * 31, rng_for(dtype), special=False).reshape(7, 31)
    x = pp.asarray(a, device=device)
    for k in (0, 5, 30, -1):
        parted = pp.asnumpy(pp.partition(x, k, axis=1))
        np.testing.assert_array_equal(parted[:, k], np.partition(a, k, axis=1)[:, k])
        np.testing.assert_array_equal(np.sort(parted, axis=1), np.sort(a, axis=1))
        where = pp.asnumpy(pp.argpartition(x, k, axis=1))
        np.testing.assert_array_equal(np.take_along_axis(a, where, 1)[:, k], np.partition(a, k, axis=1)[:, k])
        at = k % 31
        assert (np.take_along_axis(a, where, 1)[:, :at] <= parted[:, k][:, None]).all()


@pytest.mark.parametrize("dtype", REAL)
def test_top_k(dtype, device):
    a = values(dtype, 5 * 40, rng_for(dtype), special=False).reshape(5, 40)
    x = pp.asarray(a, device=device)
    top, where = pp.top_k(x, 6, axis=1)
    np.testing.assert_array_equal(pp.asnumpy(top), np.sort(a, axis=1)[:, ::-1][:, :6])
    np.testing.assert_array_equal(np.take_along_axis(a, pp.asnumpy(where), 1), pp.asnumpy(top))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(20001,), (3, 5000)], ids=str)
def test_long_lines(shape, dtype, device):
    a = values(dtype, int(np.prod(shape)), rng_for(shape, dtype)).reshape(shape)
    x = pp.asarray(a, device=device)
    assert_same(pp.sort(x), np.sort(a, kind="stable"))
    assert_same(pp.argsort(x), np.argsort(a, kind="stable"))
    with np.errstate(invalid="ignore"):
        few = (a.real % 3).astype(dtype) if dtype != "bool" else a  # ties, and digits that are the same everywhere
    order = np.argsort(few, kind="stable")
    assert_same(pp.argsort(pp.asarray(few, device=device)), order)
    if dtype.startswith("complex"):
        return
    largest, where = pp.top_k(pp.asarray(few, device=device), 700, largest=False)
    assert_same(where, order[..., :700])
    assert_same(largest, np.take_along_axis(few, order[..., :700], -1))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("shape", [(20001,), (3, 5000)], ids=str)
def test_long_partitions(shape, dtype, device):
    a = values(dtype, int(np.prod(shape)), rng_for(shape, dtype)).reshape(shape)
    x = pp.asarray(a, device=device)
    expected = np.sort(a)
    n = shape[-1]
    for kth in (0, n // 2, -1, [n // 2, n // 2 + 1, 7], list(range(0, n, 500))):
        places = np.unique(np.asarray(kth) % n)
        for got in (pp.asnumpy(pp.partition(x, kth)), np.take_along_axis(a, pp.asnumpy(pp.argpartition(x, kth)), -1)):
            np.testing.assert_array_equal(got[..., places], expected[..., places])
            for begin, end in zip([0, *places], [*places, n], strict=True):
                np.testing.assert_array_equal(np.sort(got[..., begin:end]), expected[..., begin:end])
    if dtype != "bool":
        columns = pp.median(pp.asarray(np.ascontiguousarray(a.T), device=device), axis=0)
        np.testing.assert_allclose(pp.asnumpy(columns), np.median(a, axis=-1), rtol=0 if device.has_fp64 else 1e-6)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side, dtype, device):
    a = np.sort(values(dtype, 50, rng_for(dtype), special=False))
    v = values(dtype, 33, rng_for(dtype, 1), special=False).reshape(3, 11)
    got = pp.searchsorted(pp.asarray(a, device=device), pp.asarray(v, device=device), side=side)
    assert_same(got, np.searchsorted(a, v, side=side))


@pytest.mark.parametrize("dtype", REAL)
def test_sets(dtype, device):
    a = values(dtype, 300, rng_for(dtype), special=False, small=True)
    x = pp.asarray(a, device=device)
    assert_same(pp.unique_values(x), np.unique_values(a) if dtype == "bool" else np.unique(a))
    found = pp.unique_all(x)
    expected = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    for mine, theirs in zip(found, expected, strict=True):
        assert_same(mine, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero(dtype, device):
    a = values(dtype, 60, rng_for(dtype), small=True).reshape(3, 4, 5)
    for mine, theirs in zip(pp.nonzero(pp.asarray(a, device=device)), np.nonzero(a), strict=True):
        assert_same(mine, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_members(dtype, device):
    """In a table where the elements are integers that lie near together, else in what is sorted."""
    rng = rng_for(dtype)
    a = values(dtype, 2000, rng, special=False, small=True)
    for elements in (a[:5], values(dtype, 7, rng, special=False), values("int32", 9, rng, special=False, small=True)):
        x, y = pp.asarray(a, device=device), pp.asarray(elements, device=device)
        for invert in (False, True):
            assert_same(pp.isin(x, y, invert=invert), np.isin(a, elements, invert=invert, kind="sort"), f"{dtype} {elements}")
