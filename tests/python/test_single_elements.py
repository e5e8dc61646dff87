# tests/python/test_single_elements.py: x[i, j] and x[i, j] = v of single elements, which need no kernel where nothing is under way.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest

DTYPES = ["bool", "int8", "int64", "uint16", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_read_and_written(dtype):
    host = np.arange(24).reshape(2, 3, 4).astype(dtype)
    x = pp.asarray(host)
    for view, expected in ((x, host), (x[::-1, 1:, ::2], host[::-1, 1:, ::2]), (x.T, host.T)):
        for index in np.ndindex(expected.shape):
            got = view[index]
            assert got.dtype == dtype
            assert got.shape == ()
            assert got.item() == expected[index]
            negative = tuple(i - n for i, n in zip(index, expected.shape, strict=True))
            assert view[negative].item() == expected[index]
        view[1, -1, 0] = expected[1, -1, 0] = 1
        np.testing.assert_array_equal(pp.asnumpy(view), expected)


def test_what_was_read_is_a_value():
    x = pp.asarray([1.0, 2.0, 3.0])
    t, view, sum_before = x[0], x[1:], x + 1
    x[0] = 5
    x[1] = 7.0
    assert float(t) == 1
    assert view.tolist() == [7, 3]
    assert sum_before.tolist() == [2, 3, 4]
    t += 1
    assert (float(t), float(x[0])) == (2, 5)
    y = x * 2
    y[2] = 0
    assert y.tolist() == [10, 14, 0]
    assert (x[0] + x[1:]).dtype == np.float64
    assert (pp.asarray([1, 2], dtype="int8")[0] + pp.asarray([1], dtype="float32")).dtype == np.float32


def test_wrong_elements():
    x = pp.zeros((2, 3))
    for index in ((2, 0), (0, -4)):
        with pytest.raises(IndexError, match="out of bounds"):
            _ = x[index]
        with pytest.raises(IndexError, match="out of bounds"):
            x[index] = 1
    with pytest.raises(OverflowError):
        pp.zeros(2, dtype="int8")[0] = 300
    with pytest.raises(TypeError, match="complex"):
        x[0, 0] = 1j
    with pytest.raises(ValueError, match="read-only"):
        pp.broadcast_to(x, (4, 2, 3))[0, 0, 0] = 1


def test_memory_of_others():
    host = np.zeros(4)
    x = pp.asarray(host, copy=False) if pp.Device().backend == "cpu" else pp.asarray(host)
    y = x + 1
    x[1] = 3
    assert y.tolist() == [1, 1, 1, 1]
    assert x.tolist() == [0, 3, 0, 0]


def test_hashes():
    x = pp.asarray([1.5, 2.0, 2.0])
    assert {x[1]: "two", 1.5: "more"}[2.0] == "two"
    assert x[2] in {2.0}
    assert hash(pp.asarray([True])[0]) == hash(1)
    for array in (x, x[:1]):
        with pytest.raises(TypeError, match="unhashable"):
            hash(array)
