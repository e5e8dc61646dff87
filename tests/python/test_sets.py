# tests/python/test_sets.py: sets, partitions and products: what NumPy's take in addition to the standard's.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy_names import BEFORE_2_1
from support import DTYPES, check

SMALL = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)


@given(hnp.arrays(np.int16, SMALL, elements=st.integers(0, 2)), st.data())
def test_unique_along_an_axis(host, data):
    axis = data.draw(st.integers(-host.ndim, host.ndim - 1))
    if host.size == 0 and host.ndim > 1:
        host = np.zeros((3, 0), np.int16) if axis == 0 else np.zeros((0, 3), np.int16)
        axis = 0
    expected = np.unique(host, True, True, True, axis)
    for ours, theirs in zip(pp.unique(pp.asarray(host), True, True, True, axis), expected, strict=True):
        check(ours, theirs)
    check(pp.unique(pp.asarray(host), axis=axis), expected[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique_rows_of_all_dtypes(dtype, rng):
    host = rng.integers(0, 2, (20, 3)).astype(dtype)
    for ours, theirs in zip(pp.unique(pp.asarray(host), True, True, True, 0), np.unique(host, True, True, True, 0), strict=True):
        check(ours, theirs)


@pytest.mark.skipif(BEFORE_2_1, reason="NumPy 2.0 takes rows with NaN for different ones")
def test_unique_nan_and_order():
    host = np.array([[1, 2], [1, 2], [0, np.nan], [0, np.nan]])
    for x, axis in ((host, 0), (host, 1), (host[:, 1], 0)):
        check(pp.unique(pp.asarray(x), axis=axis), np.unique(x, axis=axis))
    check(pp.unique(pp.asarray([3, 1, 3]), sorted=False), np.array([1, 3]))
    with pytest.raises(np.exceptions.AxisError, match=r"^unique: axis 2"):
        pp.unique(pp.asarray(host), axis=2)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "uint64"])
@pytest.mark.parametrize("value", [300, -1, 2**63, 2**70])
def test_isin_beyond_the_dtype(dtype, value):
    host = np.arange(3).astype(dtype)
    x = pp.asarray(host)
    for invert in (False, True):
        check(pp.isin(x, value, invert=invert), np.full(3, invert))
        check(pp.isin(value, x, invert=invert), np.asarray(invert))
    check(pp.isin(pp.asarray([1.0, 2.0**70]), 2**70), np.array([False, True]))


@pytest.mark.parametrize(
    ("dtype", "element", "value"),
    [
        ("float16", np.inf, 2**53), ("float16", 0.1, 0.1), ("float32", 2.0**24, 2**24 + 1), ("float32", np.inf, 1e39),
        ("float32", 0.1, 0.1), ("float32", 0.5, 0.5), ("float32", 2.0**70, 2**70),
        ("float32", np.inf, 10**400), ("complex64", 0.1, 0.1), ("bool", True, 2**63),
    ],
)  # fmt: skip
def test_isin_of_numbers_between_elements(dtype, element, value):
    """A number that the elements' dtype would round is compared as it is, as in NumPy."""
    host = np.array([0, element]).astype(dtype)
    x = pp.asarray(host)
    for invert in (False, True):
        check(pp.isin(x, value, invert=invert), np.isin(host, value, invert=invert))
        check(pp.isin(value, x, invert=invert), np.asarray(np.isin(value, host, invert=invert)))


def test_keywords_of_isin():
    x = pp.asarray([1, 2, 3])
    for kind in (None, "sort", "table"):
        check(pp.isin(x, test_elements=pp.asarray([2]), assume_unique=True, kind=kind), np.array([False, True, False]))
    with pytest.raises(ValueError, match=r"^isin: kind is 'hash'"):
        pp.isin(x, x, kind="hash")
    with pytest.raises(ValueError, match=r"^isin: kind 'table'"):
        pp.isin(pp.asarray([1.5]), x, kind="table")
    with pytest.raises(pp.ExecutionPlacementError, match=r"^isin: "):
        pp.isin(x, x.to_queue(pp.Queue(x.device)))


INTEGERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def _some_of(dtype, rng):
    """Integers near both ends of a dtype, and near zero."""
    if dtype == "bool":
        return np.array([False, True, True])
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return np.array([*range(low, low + 4), *range(high - 3, high + 1), *range(-4 if low else 0, 5), *rng.integers(0, 100, 9)], dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_isin_of_integers(dtype, rng):
    """By a table and by a sort, between all dtypes: integers are compared as such."""
    host = rng.permuted(np.tile(_some_of(dtype, rng), 60))
    x = pp.asarray(host)
    for other in INTEGERS:
        every = _some_of(other, rng)
        for elements in (every[:3], every[-9:], every[5:8], every[::-1][:2]):
            expected = np.array([int(v) in set(map(int, elements)) for v in host])
            for kind in (None, "table", "sort"):
                check(pp.isin(x, pp.asarray(elements), kind=kind), expected, label=f"{dtype} {other} {kind} {elements}")
            check(pp.isin(x, elements, invert=True), ~expected)
    some = np.s_[::-2, ::3]
    check(pp.isin(x.reshape(-1, 12)[some], pp.bitwise_or(x, x)[7:9]), np.isin(host.reshape(-1, 12)[some], host[7:9]))
    for shape in ((0,), (3, 0), ()):
        few = np.zeros(shape, dtype)
        check(pp.isin(pp.asarray(few), x), np.isin(few, host))
        check(pp.isin(x, pp.asarray(few)), np.isin(host, few))


def test_isin_of_integers_far_from_each_other():
    host = np.array([-(2**63), 0, 5, 2**63 - 1])
    x = pp.asarray(host)
    check(pp.isin(x, x[::3]), np.isin(host, host[::3]))
    check(pp.isin(x, pp.asarray(np.array([0, 2**64 - 1], np.uint64))), host == 0)
    with pytest.raises(RuntimeError, match=r"^isin: kind 'table' is given, and the test elements reach from -9223372036854775808 to 9"):
        pp.isin(x, x, kind="table")


def test_places_of_partitions(rng):
    host = rng.standard_normal(30)
    x = pp.asarray(host)
    for kth, last in ((np.array([3, 9]), 9), (pp.asarray([3, 9]), 9), ([3, 9], 9), (range(3, 9), 8), (np.int64(3), 3), (np.array(3), 3)):
        for places in (pp.asnumpy(pp.partition(x, kth=kth, kind="introselect")), host[pp.asnumpy(pp.argpartition(x, kth=kth))]):
            assert places[last] == np.sort(host)[last]
    check(pp.argpartition(pp.asarray(2.0), 0), np.argpartition(np.array(2.0), 0))
    for axis in (0, -1):
        check(pp.argsort(pp.asarray(2.0), axis), np.argsort(np.array(2.0), axis))
    for wrong in (1.5, "a", [1.5]):
        with pytest.raises(TypeError, match=r"^partition: kth"):
            pp.partition(x, wrong)
    with pytest.raises(ValueError, match=r"^partition: kth"):  # as NumPy
        pp.partition(x, True)
    with pytest.raises(ValueError, match=r"^partition: kind is 'quicksort'; it must be 'introselect'"):
        pp.partition(x, 1, kind="quicksort")


def test_keywords_of_products(rng):
    a, b = rng.standard_normal((3, 4)), rng.standard_normal((4, 3))
    x, y = pp.asarray(a), pp.asarray(b)
    check(pp.tensordot(x, y, 1), np.tensordot(a, b, 1), ulp=64)
    check(pp.matmul(x, y, dtype="complex128"), np.matmul(a, b, dtype="complex128"), ulp=64)
    with pytest.raises(TypeError, match=r"^matmul: cannot cast from float64 to int64"):
        pp.matmul(x, y, dtype="i8")
    out = pp.zeros((12, 12))
    assert pp.outer(x, y, out) is out
    check(out, np.outer(a, b))
    out = pp.zeros(())
    assert pp.trace(x, out=out) is out
    check(out, np.asarray(np.trace(a)), ulp=4)


def test_messages_name_the_product():
    v, m = pp.zeros(3), pp.zeros((3, 3))
    for error, call in [
        (ValueError, lambda: pp.trace(v)),
        (ValueError, lambda: pp.trace(m, axis1=0, axis2=-2)),
        (TypeError, lambda: pp.trace(m, axis1=1.5)),
        (np.exceptions.AxisError, lambda: pp.trace(m, axis2=2)),
    ]:
        with pytest.raises(error, match=r"^trace: "):
            call()
    with pytest.raises(TypeError, match=r"^dot: an array, a number or a sequence of numbers is expected, not str"):
        pp.dot("abc", [1, 2, 3])
    assert int(pp.dot([1, 2, 3], [1, 2, 3])) == 14
    with pytest.raises(pp.ExecutionPlacementError, match=r"^outer: "):
        pp.outer(v, v.to_queue(pp.Queue(v.device)))
