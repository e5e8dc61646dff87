# tests/python/test_vectorize.py: pardo.vectorize compiles what numpy.vectorize calls.
from __future__ import annotations

import functools
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
    check(ours(pp.asarray(a), 2), theirs(a, 2))
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
    with pytest.raises(TypeError, match="argument 0: an array or a number is expected, not str"):
        pp.vectorize(step)("ab", 1)
    check(pp.vectorize(step)([1, 2], 1), [2, 1])
    with pytest.raises(ValueError, match="at least one argument"):
        pp.vectorize(step, excluded={0, 1})(1, 2)
    with pytest.raises(AttributeError, match=r"use pardo\.vectorize"):
        pp.frompyfunc


class Scale:
    """Has a function in each way that a class can have one."""

    kind = 3

    def __init__(self, factor):
        self.factor = factor

    def times(self, a, b=2):
        """Of one element."""
        return a * self.factor + b

    def __call__(self, a):
        return a * self.factor

    @staticmethod
    def more(a):
        return a + 1

    @classmethod
    def kinds(cls, a):
        return a + cls.kind

    shift = lambda self, a: a - self.factor


def weighted(a, b, c):
    return a + b * c


def around(depth):
    class Inner:
        def deep(self, a):
            return a * depth + self.own

        own = 4

    return Inner().deep


CALLABLES = {
    "method": lambda: Scale(2.5).times,
    "method that is a lambda": lambda: Scale(2.5).shift,
    "object": lambda: Scale(2.5),
    "static": lambda: Scale.more,
    "of the class": lambda: Scale.kinds,
    "method of a class in a function": lambda: around(3),
    "partial by name": lambda: functools.partial(weighted, b=3.0, c=2),
    "partial by place": lambda: functools.partial(weighted, 2, 3),
    "partial of a method": lambda: functools.partial(Scale(2.5).times, b=1),
    "partial of an object": lambda: functools.partial(Scale(2.5)),
    "partial of a partial": lambda: functools.partial(functools.partial(weighted, 2), 0.5),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_what_can_be_called(name):
    f = CALLABLES[name]()
    x = np.array([1.0, -2.0, 3.5])
    for make in (pp.vectorize, pp.elementwise) if name != "method" else (pp.vectorize,):  # which alone takes defaults
        check(make(f)(pp.asarray(x)), np.vectorize(f)(x))
    made = pp.vectorize(f)
    assert made.pyfunc is f
    check(made(x.tolist()), np.vectorize(f)(x))


def test_methods_read_their_object_at_each_call():
    scale, x = Scale(2.0), pp.arange(3.0)
    f = pp.vectorize(scale.times)
    assert f.__name__ == "times"
    assert f.__doc__ == "Of one element."
    check(f(x), np.arange(3.0) * 2 + 2)
    scale.factor = 5.0
    check(f(x, b=1), np.arange(3.0) * 5 + 1)
    assert scale.times(2.0) == 12.0  # the method itself is as it was


def test_errors_in_methods_show_their_line():
    class Wrong:
        def broken(self, a):
            return a.nothing(self)

    with pytest.raises((pp.CompileError, TypeError), match=r"broken: (?s:.*)return a\.nothing\(self\)"):
        pp.vectorize(Wrong().broken)(pp.arange(3.0))


def test_numbers_beside_arrays_are_elements():
    """They have dtypes of their own, as NumPy's elements have; numbers inside of a function take the dtype that they meet."""
    for dtype, number in (("i1", 3), ("f4", 2.5), ("u2", True), ("i8", 1j)):
        x = np.array([1, 2], dtype)
        check(pp.vectorize(lambda a, b: a + b)(pp.asarray(x), number), np.vectorize(lambda a, b: a + b)(x, number))
        check(pp.vectorize(lambda a: a + 3)(pp.asarray(x)), np.vectorize(lambda a: a + 3)(x))
    assert pp.vectorize(lambda a: a, otypes="df").otypes == "df"
    assert pp.vectorize(lambda a: a).otypes is None
    with pytest.raises(ValueError, match=r"^vectorize: otypes must be a text of type characters or a sequence of data types, not"):
        pp.vectorize(lambda a: a, otypes=int)
