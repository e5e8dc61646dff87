# tests/python/test_numpy_edges.py: calls at the edges of what NumPy takes: what other libraries' own tests ask.
from __future__ import annotations

import itertools

import numpy as np
import pardo as pp
import pytest
from against_numpy import compare
from support import check

ROW, MATRIX = np.array([1, 2, 3]), np.arange(6.0).reshape(2, 3)
MASK = np.array([True, False, True])


def changed(x, change):
    """The array after a method has changed it."""
    change(x)
    return x


def resized(x, *shape):
    x = x.copy()
    x.resize(*shape, refcheck=False)
    return x


CALLS = {
    "arange to an infinite step": lambda xp: [xp.arange(0, 1, s) for s in (np.inf, -np.inf, 1e300)] + [xp.arange(0, 0, np.inf)],
    "arange back by an infinite step": lambda xp: [xp.arange(3, 1, s) for s in (np.inf, -np.inf)] + [xp.arange(2.5, 9, np.inf, dtype="i4")],
    "array by name": lambda xp: xp.array(object=[1, 2], dtype="f4"),
    "bincount of nothing": lambda xp: [xp.bincount([]), xp.bincount([], weights=[]), xp.bincount([], minlength=3)],
    "grid of single precision": lambda xp: [xp.mgrid[0 : 1 : np.complex64(3j)], xp.mgrid[0 : np.float32(1) : np.complex128(3j)]],
    "grids of two precisions": lambda xp: xp.mgrid[0 : 1 : np.complex64(3j), 0:1:3j],
    "open grid": lambda xp: list(xp.ogrid[0 : 1 : np.complex64(3j), 0:2:3j]),
    "row of an imaginary step": lambda xp: xp.r_[0 : 1 : np.complex64(3j)],
    "too many places": lambda xp: xp.unravel_index(0, (2**31, 2**31, 2)),
    "places in small letters": lambda xp: [*xp.unravel_index(3, (2, 3), order="f"), xp.ravel_multi_index(([1], [1]), (2, 3), order="f")],
    "places beyond 32 bits": lambda xp: list(xp.unravel_index(2**33 + 5, (2**20, 2**20))),
    "blocks of two depths": lambda xp: xp.block([1, [2]]),
    "empty shape by True": lambda xp: xp.zeros((True, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    compare(CALLS[name])


EXPRESSIONS = {
    "resize to no dimensions": lambda xp, x: resized(x, ()),
    "resize by nothing": lambda xp, x: resized(x),
    "flat, all": lambda xp, x: x.flat[()],
    "set flat, all": lambda xp, x: x.flat.__setitem__((), 3),
    "reshape by True": lambda xp, x: xp.reshape(x, (True, -1)),
    "method reshape by True": lambda xp, x: x.reshape(True, -1),
    "transpose by True": lambda xp, x: xp.transpose(x, (True, False)),
    "order of reshape": lambda xp, x: [xp.reshape(x, (3, 2), order="f"), xp.ravel(x, order="f"), x.flatten("f"), x.reshape(-1, order="a")],
    "order of ravel": lambda xp, x: [xp.ravel(x, order="k"), xp.ravel(x.T, order="K"), xp.reshape(x, (6,), order=None)],
    "no such order": lambda xp, x: xp.reshape(x, 6, order="K"),
    "put by bools": lambda xp, x: changed(x, lambda x: xp.put(x, [True, False], 9.0)),
    "put by an array of bools": lambda xp, x: changed(x, lambda x: x.put(xp.asarray(MASK), 9.0)),
    "take by bools": lambda xp, x: [xp.take(x, xp.asarray(MASK)), xp.take(x, [True, False]), x.take(True)],
    "roll by an array": lambda xp, x: [xp.roll(x, xp.asarray(2)), xp.roll(x, xp.asarray([1, 2]), axis=1), xp.roll(x, xp.asarray([1, 2]))],
    "digitize": lambda xp, x: [xp.digitize(x, xp.asarray([0, 1, np.nan])), xp.digitize(x, xp.asarray([0, 1, np.nan]), right=True)],
    "clip of a number": lambda xp, x: xp.clip(x, None, xp.asarray(2.0)),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name):
    compare(EXPRESSIONS[name], MATRIX, label=name, views="resize" not in name)


VALUES = [7.5, 300, -1, 1j, True, [7.5], [1j], [300], [1, 2.5], [], (1, 2), np.float64(7.5), np.int64(300), np.array(3)]
VALUES += [np.array([3], "u1"), np.array([2.5, 3.5], "f4"), [np.float32(2.5)], np.nan, [np.nan], np.inf, 2**64]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32", "complex64"])
@pytest.mark.parametrize("name", ["putmask", "place"])
def test_what_putmask_and_place_cast(name, dtype):
    """Arrays where nothing is lost, numbers and lists in any case; each function as the other."""
    for value in VALUES:
        compare(lambda xp, x, value=value: changed(x, lambda x: getattr(xp, name)(x, MASK, value)), ROW.astype(dtype), label=repr(value))
        if isinstance(value, np.ndarray):
            compare(
                lambda xp, x, value=value: changed(x, lambda x: getattr(xp, name)(x, MASK, xp.asarray(value))),
                ROW.astype(dtype),
                label=f"array of {value}",
            )


def test_results_lie_as_numpys():
    x, y = np.arange(1.0, 4), np.arange(2.0, 9)
    for f in (
        lambda xp, x, y: xp.vander(x),
        lambda xp, x, y: xp.correlate(x, y, "full"),
        lambda xp, x, y: xp.correlate(x, y, "same"),
        *(lambda xp, x, y, q=q, a=a: xp.percentile(xp.outer(x, y), q, axis=a) for q in ([10, 50], [[10], [50]]) for a in (0, 1, None)),
        lambda xp, x, y: xp.quantile(xp.multiply.outer(xp.outer(x, y), x), [0.1, 0.2], axis=1),
        lambda xp, x, y: xp.nanquantile(xp.multiply.outer(xp.outer(x, y), x), [0.1, 0.2], axis=1),
    ):
        ours, theirs = f(pp, pp.asarray(x), pp.asarray(y)), f(np, x, y)
        check(ours, theirs, ulp=4)
        assert ours.strides == theirs.strides


def test_what_stays_the_array_itself():
    x = pp.asarray(MATRIX)
    assert pp.astype(x, x.dtype, copy=False) is x
    assert x.astype("f8", copy=False) is x
    for subscripts in ("ij", "ij->ij", "...->...", "ji"):
        view = pp.einsum(subscripts, x)
        assert view is not x
        assert view.base is not None
    z = pp.asarray([1 + 2j])
    out = pp.zeros(1, dtype="c16")
    assert z.conj(out) is out
    assert z.conjugate(out=out) is out
    assert out[0] == 1 - 2j
    assert pp.linalg.lstsq(pp.eye(3), pp.ones(3))[2].dtype == np.int32
    check(np.arange(3.0).clip(pp.asarray(1.0), 5), np.arange(3.0).clip(1.0, 5))


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("name", ["nanquantile", "quantile", "nanpercentile"])
def test_weights_that_are_all_zero(name):
    x = np.array([[1.0, 2, 3], [1, np.nan, 2], [np.nan, np.nan, np.nan]])
    for rows, weights in itertools.product(([0], [1], [2], [0, 2]), ([0.0, 0, 0], [0.0, 1, 0], [1.0, 1, 1], [np.inf, 1, 1])):
        with np.errstate(all="ignore"):
            compare(
                lambda xp, x, w: getattr(xp, name)(x, 0.5, axis=1, weights=w, method="inverted_cdf"),
                x[rows],
                np.array([weights] * len(rows)),
                label=f"{rows} {weights}",
            )
