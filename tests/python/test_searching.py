# tests/python/test_searching.py: where, compress, take, searchsorted, and the elementwise functions written in Python.
from __future__ import annotations

import warnings

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import check


@pytest.mark.parametrize("condition", [[True, False, True], (True,), np.array([True, False, True]), "yes", range(3)])
def test_where_takes_no_strangers(condition):
    x = pp.asarray([1.0, 2.0, 3.0])
    if isinstance(condition, str):
        with pytest.raises(TypeError, match=r"^where: operand 1 is of type str"):
            pp.where(condition, x, 0)
    else:
        check(pp.where(condition, x, 0), np.where(condition, [1.0, 2.0, 3.0], 0.0))
    if isinstance(condition, str):
        for others in ((), (1.0, 2.0)):
            with pytest.raises(TypeError, match=r"^where: "):
                pp.where(condition, *others)
    else:
        check(pp.where(condition)[0], np.where(condition)[0])
        check(pp.where(condition, 1.0, 2.0), np.where(condition, 1.0, 2.0))
    with pytest.raises(TypeError, match=r"^where: "):
        pp.where(x > 1, {1: 2}, x)


@pytest.mark.parametrize("condition", [True, False, 0, 2.5, np.float64(0), np.bool_(True)])
def test_where_by_a_number(condition):
    host = np.array([1.0, 2.0, 3.0])
    check(pp.where(condition, pp.asarray(host), 0), np.where(condition, host, 0))
    check(pp.where(condition, 1, 2), np.where(condition, 1, 2))


def test_0d_arrays_have_an_axis_to_search():
    host = np.array(3.0)
    for name in ("argmax", "argmin"):
        for axis in (0, -1):
            check(getattr(pp, name)(pp.asarray(host), axis=axis), np.asarray(getattr(np, name)(host, axis=axis)))
        with pytest.raises(np.exceptions.AxisError, match=rf"^{name}: "):
            getattr(pp, name)(pp.asarray(host), axis=1)
    for axis in (None, 0, -1):
        check(pp.take(pp.asarray(host), 0, axis), np.asarray(np.take(host, 0, axis)))


def test_indices_of_0d_arrays():
    for name in ("nonzero", "where"):
        with pytest.raises(ValueError, match=rf"^{name}: .*pardo.atleast_1d"):
            getattr(pp, name)(pp.asarray(1))


@given(hnp.arrays(np.bool_, st.integers(0, 5)), st.sampled_from([None, 0, 1, -1]), st.booleans())
def test_compress(condition, axis, on_host):
    host = np.arange(12).reshape(3, 4)
    given_condition = condition if on_host else pp.asarray(condition)
    try:
        expected = np.compress(condition, host, axis)
    except IndexError:
        with pytest.raises(IndexError, match=r"^compress: index"):
            pp.compress(given_condition, pp.asarray(host), axis)
        return
    check(pp.compress(given_condition, pp.asarray(host), axis), expected)
    out = pp.zeros(expected.shape)
    assert pp.compress(given_condition, pp.asarray(host), axis, out) is out
    check(out, expected.astype(float))


def test_wrong_conditions_of_compress():
    x = pp.zeros((2, 2))
    for condition in (pp.ones((2, 2), bool), True, [[True]]):
        with pytest.raises(ValueError, match=r"^compress: condition has \d dimensions"):
            pp.compress(condition, x)
    with pytest.raises(TypeError, match=r"^compress: "):
        pp.compress(["a"], x)
    with pytest.raises(TypeError, match=r"^compress: an array, a number or a sequence of numbers is expected"):
        pp.compress([True], "ab")
    check(pp.compress([True], [1, 2]), np.array([1]))


@given(st.sampled_from(["wrap", "clip"]), hnp.arrays(np.int64, st.integers(0, 5), elements=st.integers(-20, 20)), st.booleans())
def test_modes_of_take(mode, indices, on_host):
    host = np.arange(12.0).reshape(3, 4)
    given_indices = indices if on_host else pp.asarray(indices)
    for axis in (None, 0, 1):
        check(pp.take(pp.asarray(host), given_indices, axis, mode=mode), np.take(host, indices, axis, mode=mode))


def test_wrong_modes_of_take():
    with pytest.raises(ValueError, match=r"^take: mode is 'around'"):
        pp.take(pp.zeros(3), [0], mode="around")
    with pytest.raises(IndexError, match=r"^take: "):
        pp.take(pp.zeros(0), [0], mode="wrap")


def test_names_of_numpy():
    host = np.array([3, 1, 2])
    x = pp.asarray(host)
    check(pp.take(x, indices=[0, 1]), np.take(host, indices=[0, 1]))
    check(pp.take_along_axis(x, indices=pp.asarray([0])), np.array([3]))
    check(pp.searchsorted(pp.sort(x), v=2), np.asarray(1))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "uint64"])
@pytest.mark.parametrize("value", [300, -1, -300, 2**63, -(2**63) - 1, 2**70])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_beyond_the_dtype(dtype, value, side):
    host = np.arange(5).astype(dtype)
    check(pp.searchsorted(pp.asarray(host), value, side), np.asarray(0 if value < 0 else 5))
    check(pp.searchsorted(pp.asarray(host.astype("f8")), value, side), np.asarray(0 if value < 0 else 5))


def test_round_beyond_the_range_of_floats():
    host = np.array([1.5, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for decimals in (400, -400):
            check(pp.round(pp.asarray(host), decimals), np.round(host, decimals))
    check(pp.round(pp.asarray([5, 15]), 400), np.array([5, 15]))
    for decimals in (1, -1):
        with pytest.raises(TypeError, match=r"^round: bools"):
            pp.round(pp.asarray([True]), decimals)
    check(pp.round(pp.asarray([True])), np.round(np.array([True])))


def test_clip_takes_a_limit_once():
    x = pp.asarray([0, 5, 9])
    for keywords in ({"min": 1, "a_min": 0}, {"max": 1, "a_max": 0}):
        with pytest.raises(ValueError, match=r"^clip: "):
            pp.clip(x, **keywords)
    with pytest.raises(TypeError, match=r"^clip: an array, a number or a sequence of numbers is expected, not str"):
        pp.clip(x, "low")
    check(pp.clip(x, [1, 2, 3]), np.clip([0, 5, 9], [1, 2, 3], None))
    for limits in ((1, 7), (None, 7), (1, None)):
        check(pp.clip(x, *limits, dtype="f4"), np.clip(np.array([0, 5, 9]), *limits, dtype="f4"))
    with pytest.raises(TypeError, match=r"^clip: .*same_kind"):
        pp.clip(pp.asarray([1.5]), 0, 1, dtype="i8")


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "complex64"])
def test_angle(dtype):
    host = np.array([0, 1, 1]).astype(dtype)
    check(pp.angle(pp.asarray(host)), np.angle(host), ulp=2)
