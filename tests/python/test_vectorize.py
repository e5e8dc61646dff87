# tests/python/test_vectorize.py: pardo.vectorize compiles what numpy.vectorize calls.
from __future__ import annotations

import inspect
import math

import numpy as np
import pardo as pp
import pytest
from support import check


def step(a, b):
    return a - b if a > b else a + b


def both(x):
    return x * 2, x > 1


def polynomial(p, x):
    value = p[0]
    for k in range(1, len(p)):
        value = value * x + p[k]
    return value


def shifted(x, by=10, *, factor=2):
    return x * factor + by


def dot(a, b):
    total = a[0] * b[0]
    for k in range(1, len(a)):
        total += a[k] * b[k]
    return total


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64"])
def test_as_numpy(dtype, rng):
    a, b = rng.integers(0, 9, (3, 1)).astype(dtype), rng.integers(0, 9, (4,)).astype(dtype)
    ours, theirs = pp.vectorize(step), np.vectorize(step)
    check(ours(pp.asarray(a), pp.asarray(b)), theirs(a, b))
    check(ours(pp.asarray(a), 2), theirs(a, 2).astype(dtype))
    check(pp.vectorize(step, otypes="d")(pp.asarray(a), pp.asarray(b)), np.vectorize(step, otypes="d")(a, b))
    check(pp.vectorize(step, otypes=["float32"])(pp.asarray(a[:0]), 1), np.vectorize(step, otypes=["float32"])(a[:0], 1))


def test_several_results(rng):
    x = rng.random((2, 3)) * 2
    for mine, its in zip(pp.vectorize(both)(pp.asarray(x)), np.vectorize(both)(x), strict=True):
        check(mine, its)
    first, second = pp.vectorize(both, otypes="fi")(pp.asarray(x))
    assert (first.dtype, second.dtype) == (np.float32, np.int32)
    with pytest.raises(ValueError, match="2 results, but there are 1 otypes"):
        pp.vectorize(both, otypes="f")(pp.asarray(x))


@pytest.mark.parametrize("excluded", [{0}, ["p"]])
def test_excluded(excluded, rng):
    p, x = np.array([1.0, -2.0, 3.0]), rng.random(5)
    check(pp.vectorize(polynomial, excluded=excluded)(pp.asarray(p), pp.asarray(x)), np.polyval(p, x), ulp=2)
    check(pp.vectorize(polynomial, excluded=excluded)(x=pp.asarray(x), p=pp.asarray(p)), np.polyval(p, x), ulp=2)


def test_keywords_and_defaults():
    x = np.arange(4)
    f = pp.vectorize(shifted)
    check(f(pp.asarray(x)), x * 2 + 10)
    check(f(pp.asarray(x), 3), x * 2 + 3)
    check(f(pp.asarray(x), by=pp.asarray(x)), x * 3)
    check(f(pp.asarray(x), factor=pp.asarray(x)), x * x + 10)
    check(f(3, factor=pp.asarray(x)), 3 * x + 10)
    with pytest.raises(TypeError, match="nonsense"):
        f(pp.asarray(x), nonsense=1)


def test_signature(rng):
    a, b = rng.random((2, 1, 3)), rng.random((4, 3))
    f = pp.vectorize(dot, signature="(n),(n)->()")
    check(f(pp.asarray(a), pp.asarray(b)), np.vectorize(dot, signature="(n),(n)->()")(a, b), ulp=2)
    same = pp.vectorize(lambda v: v, otypes="f", signature="(n)->(n)")
    check(same(pp.asarray(b)), b.astype("f"))
    with pytest.raises(ValueError, match="dimension n is 3 and 2"):
        f(pp.asarray(a), pp.asarray(b[:, :2]))
    with pytest.raises(ValueError, match="need otypes"):
        pp.vectorize(lambda v: v, signature="(n)->(n)")(pp.asarray(b))
    for wrong in ("(n)", "(n)->(m)", "n->n"):
        with pytest.raises(ValueError, match="signature"):
            pp.vectorize(dot, signature=wrong)


def test_as_a_decorator():
    @pp.vectorize(otypes="i", doc="Squares.")
    def square(x):
        return x * x

    assert square.__doc__ == "Squares."
    assert square.__name__ == "square"
    assert list(inspect.signature(square).parameters) == ["x"]
    check(square(pp.arange(3)), np.array([0, 1, 4], np.int32))
    check(pp.vectorize(math.sqrt)(pp.asarray([4.0, 9.0])), np.array([2.0, 3.0]))
    check(square(3), np.array(9, np.int32))


def test_what_cannot_be_compiled_is_an_error():
    def wrong(x):
        return {"a": x}["a"]

    with pytest.raises(pp.CompileError, match="wrong"):
        pp.vectorize(wrong)(pp.arange(3))
    with pytest.raises(TypeError, match="a function is expected"):
        pp.vectorize(3)
    with pytest.raises(TypeError, match="argument 0: an array or a number is expected, not list"):
        pp.vectorize(step)([1, 2], 1)
    with pytest.raises(ValueError, match="at least one argument"):
        pp.vectorize(step, excluded={0, 1})(1, 2)
    with pytest.raises(AttributeError, match=r"use pardo\.vectorize"):
        pp.frompyfunc
