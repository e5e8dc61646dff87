# tests/python/test_poly1d.py: pardo.poly1d, and functions of polynomials that take and give it, against NumPy's.
from __future__ import annotations

import copy
import operator
import pickle

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_allclose

DTYPES = ["bool", "int8", "uint32", "int64", "float32", "float64", "complex64", "complex128"]
COEFFICIENTS = [[1, 2, 3], [0, 0, 2, 0, 1], [0, 0], [], [4], [1.5, -2.0, 0.0], [1 + 2j, 0, -1j], [-1, 1, -0.25]]


def same(ours, theirs):
    """Of one kind each, with the same coefficients, dtypes and texts."""
    if isinstance(theirs, tuple):
        assert isinstance(ours, tuple)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
    elif isinstance(theirs, np.poly1d):
        assert type(ours) is pp.poly1d
        assert ours.variable == theirs.variable
        same(ours.coeffs, theirs.coeffs)
    else:
        assert type(ours) is pp.Array
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert_allclose(pp.asnumpy(ours), theirs, rtol=1e-6 if theirs.dtype.char in "fF" else 1e-12, atol=1e-12)


@pytest.mark.parametrize("coefficients", COEFFICIENTS, ids=str)
def test_construction_and_what_it_is_made_of(coefficients):
    for r in (False, True):
        theirs, ours = np.poly1d(coefficients, r), pp.poly1d(coefficients, r)
        same(ours, theirs)
        assert (ours.order, ours.o, len(ours)) == (theirs.order, theirs.o, len(theirs))
        assert (repr(ours), str(ours)) == (repr(theirs), str(theirs))
        same(ours.roots, theirs.roots)
        same(ours.r, theirs.r)
        for name in ("c", "coef", "coefficients"):
            assert getattr(ours, name) is ours.coeffs
        for k in (-1, 0, 1, 2, 9):
            same(ours[k], np.asarray(theirs[k]))
        assert [complex(x) for x in ours] == [complex(x) for x in theirs]
        assert np.array_equal(np.asarray(ours), np.asarray(theirs))
        assert np.asarray(ours, "complex128").dtype == np.complex128


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_arrays_of_each_dtype(dtype):
    host = np.array([0, 1, 0, 3], dtype)
    for make in (pp.asarray, np.asarray, pp.poly1d, np.poly1d):
        same(pp.poly1d(make(host)), np.poly1d(host))
    same(pp.poly1d(host) ** 2, np.poly1d(host) ** 2)
    same(pp.poly1d(host) + pp.poly1d(host[::-1]), np.poly1d(host) + np.poly1d(host[::-1]))
    same(pp.poly1d(host) / 2, np.poly1d(host) / 2)


def test_variable():
    p = pp.poly1d([1, 2], variable="z")
    assert str(p) == str(np.poly1d([1, 2], variable="z"))
    assert [pp.poly1d(q).variable for q in (p, np.poly1d([1], variable="y"))] == ["z", "y"]
    assert pp.poly1d(p, variable="w").variable == "w"
    assert (p + 1).variable == "x"


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
OTHERS = [2, 2.5, 1j, np.float32(2), np.int64(3), [1, 2], (3.0, 1, 0, 2, 1), np.array([2, 1]), np.array(2), [1 + 1j, 2]]


@pytest.mark.parametrize("apply", OPERATORS)
@pytest.mark.parametrize("coefficients", [[1, 2, 3], [2.0, 0.0, -1.5, 4.0], np.array([1, 2], "f4")], ids=str)
def test_arithmetic(apply, coefficients):
    theirs, ours = np.poly1d(coefficients), pp.poly1d(coefficients)
    reflected = getattr(theirs, f"__r{apply.__name__}__")  # which operators of NumPy's numbers and arrays do not ask
    with np.errstate(all="ignore"):
        for other in OTHERS:
            same(apply(ours, other), apply(theirs, other))
            same(apply(other, ours), reflected(other))
            if isinstance(other, np.ndarray):
                same(apply(ours, pp.asarray(other)), apply(theirs, other))
                same(apply(pp.asarray(other), ours), reflected(other))
    for other in ([1, 1], [3.0, 0.0, 1.0]):
        same(apply(ours, pp.poly1d(other)), apply(theirs, np.poly1d(other)))
        same(apply(ours, np.poly1d(other)), apply(theirs, np.poly1d(other)))


def test_powers_signs_and_comparison():
    theirs, ours = np.poly1d([1, -2, 3]), pp.poly1d([1, -2, 3])
    for power in (0, 1, 3, 2.0, np.int8(2)):
        same(ours**power, theirs ** int(power))
    same(-ours, -theirs)
    same(+ours, +theirs)
    assert ours == pp.poly1d([0, 1, -2, 3])
    assert ours == theirs
    assert ours != pp.poly1d([1, -2])
    assert ours != pp.poly1d([1, -2, 4])
    assert ours != [1, -2, 3]
    with pytest.raises(TypeError):
        hash(ours)
    for power in (-1, 1.5, [2], 1j):
        with pytest.raises((ValueError, TypeError), match="poly1d: powers are of integers that are not negative"):
            ours**power


def test_values_calculus_and_functions():
    theirs, ours = np.poly1d([3.0, 1.0, -2.0]), pp.poly1d([3.0, 1.0, -2.0])
    for x in (2, 2.5, 1j, [1, 2], np.arange(6.0).reshape(2, 3)):
        same(ours(x), np.asarray(theirs(x)))
    same(ours(ours), theirs(theirs))
    same(pp.polyval([1, 2, 3], ours), np.polyval([1, 2, 3], theirs))
    for m in (0, 1, 2, 3):
        same(ours.deriv(m), theirs.deriv(m))
        same(ours.integ(m), theirs.integ(m))
    same(ours.integ(2, [1, 2]), theirs.integ(2, [1, 2]))
    for name in ("polyadd", "polysub", "polymul", "polydiv"):
        for other in (2.0, [1.0, 1.0], np.poly1d([1.0, 2.0])):
            mine = pp.poly1d(other) if isinstance(other, np.poly1d) else other
            same(getattr(pp, name)(ours, mine), getattr(np, name)(theirs, other))
            same(getattr(pp, name)(mine, ours), getattr(np, name)(other, theirs))
    for name in ("polyder", "polyint"):
        same(getattr(pp, name)(ours), getattr(np, name)(theirs))
    for name in ("poly", "roots"):
        same(getattr(pp, name)(ours), getattr(np, name)(theirs))


def test_setting():
    theirs, ours = np.poly1d([1, 2, 3]), pp.poly1d([1, 2, 3])
    for k in (0, 2, 6):
        theirs[k] = ours[k] = 7
        same(ours, theirs)
    theirs.coeffs += 1
    ours.coeffs += 1
    same(ours, theirs)
    with pytest.raises(ValueError, match=r"^poly1d: there are no negative powers"):
        ours[-1] = 2
    with pytest.raises(AttributeError, match=r"^poly1d: coefficients cannot be replaced"):
        ours.coeffs = pp.zeros(3)
    ours.set(np.poly1d([9, 8, 7, 6, 5, 4, 3], variable="y"))
    assert ours.get() == np.poly1d([9, 8, 7, 6, 5, 4, 3])
    assert ours.variable == "y"
    with pytest.raises(ValueError, match=r"^poly1d\.set: 7 coefficients are expected, not 1$"):
        ours.set(np.poly1d([1]))


def test_refused():
    for wrong in ([[1, 2]], pp.zeros((2, 2))):
        with pytest.raises(ValueError, match=r"^poly1d: polynomial must be 1d only: coefficients have one dimension, not shape"):
            pp.poly1d(wrong)
    for wrong in ("ab", None, {}):
        with pytest.raises(TypeError, match=r"^poly1d: "):
            pp.poly1d(wrong)
    with pytest.raises(ValueError, match="must be positive"):
        pp.poly1d([1, 2]).deriv(-1)


@pytest.mark.parametrize("device", DEVICES)
def test_stays_on_its_device(device):
    p = pp.poly1d(pp.asarray(np.array([0, 1, 2, 3], "f4"), device=device))
    for made in (p + 1, p * p, p**2, (p / [1, 1])[0], p.deriv(), 2 * p, pp.poly1d(p), -p, pp.polyadd(p, [1])):
        assert made.coeffs.device == device
    assert p(2).device == device
    assert p == pp.poly1d([1, 2, 3]).get()
    for other in (copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(other) is pp.poly1d
        assert other == p.get()
