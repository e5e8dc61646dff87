# tests/python/test_indices.py: x[…] and x[…] = y against NumPy, with any mix of indices; views write through.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import check

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def numbered(shape):
    return np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)


@st.composite
def basic(draw):
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, max_dims=6, allow_newaxis=True))


@given(basic())
def test_basic_indices(case):
    shape, index = case
    host = numbered(shape)
    check(pp.asarray(host)[index], np.asarray(host[index]))


@given(basic())
def test_views_write_through(case):
    shape, index = case
    host = numbered(shape)
    x = pp.asarray(host)
    host[index] = -1
    x[index] = -1
    check(x, host)
    y = pp.asarray(numbered(shape))
    view = y[index]
    if view.ndim:
        view[...] = -1
        check(y, host)


@given(basic())
def test_pending_values_are_indexed_too(case):
    shape, index = case
    host = numbered(shape)
    check((pp.asarray(host) * 2 + 1)[index], np.asarray((host * 2 + 1)[index]))


@st.composite
def advanced(draw):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    parts, result_shape = [], draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3))
    for extent in shape:
        kind = draw(st.sampled_from(["int", "slice", "array", "all"]))
        if kind == "int":
            parts.append(draw(st.integers(-extent, extent - 1)))
        elif kind == "slice":
            parts.append(draw(st.slices(extent)))
        elif kind == "array":
            parts.append(draw(hnp.arrays(np.int64, result_shape, elements=st.integers(-extent, extent - 1))))
        else:
            parts.append(slice(None))
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return shape, tuple(parts)


def device_index(parts):
    return tuple(pp.asarray(p) if isinstance(p, np.ndarray) else p for p in parts)


@given(advanced())
def test_integer_arrays(case):
    shape, index = case
    host = numbered(shape)
    x = pp.asarray(host)
    expected = np.asarray(host[index])
    check(x[index], expected)
    check(x[device_index(index)], expected)
    check((x + 1)[device_index(index)], expected + 1)


@given(advanced())
def test_assignment_by_integer_arrays(case):
    shape, index = case
    host, x = numbered(shape), pp.asarray(numbered(shape))
    host[index] = -5
    x[index] = -5
    check(x, host)


@given(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5), st.data())
def test_masks(shape, data):
    host = numbered(shape)
    depth = data.draw(st.integers(1, len(shape)))
    mask = data.draw(hnp.arrays(np.bool_, shape[:depth]))
    x = pp.asarray(host)
    check(x[pp.asarray(mask)], host[mask])
    check(x[mask], host[mask])
    values = np.arange(int(mask.sum()), dtype=np.float64)
    if depth == len(shape):
        host[mask] = values
        x[pp.asarray(mask)] = pp.asarray(values)
        check(x, host)
    host[mask] = 7
    x[pp.asarray(mask)] = 7
    check(x, host)


@pytest.mark.parametrize(
    ("shape", "mask"), [((1,), (0,)), ((3,), (0,)), ((2, 3), (0,)), ((2, 3), (2, 0)), ((2, 3), (0, 3)), ((2, 3), (0, 0))]
)
def test_empty_masks_select_nothing(shape, mask):
    """As NumPy and the array API have it: an extent of a mask may be 0 where the array's is not."""
    host, chosen = numbered(shape), np.zeros(mask, bool)
    x = pp.asarray(host)
    for index in (chosen, pp.asarray(chosen)):
        check(x[index], host[chosen])
        x[index] = 7
        x[index] = pp.zeros(host[chosen].shape)
    check(x, host)
    with pytest.raises(IndexError, match="boolean index did not match"):
        x[np.zeros((*mask[:-1], 5), bool)]


def test_booleans_and_empty_lists():
    host = numbered((3, 4))
    x = pp.asarray(host)
    check(x[True], host[True])
    check(x[False], host[False])
    check(x[None, True, ..., 1], host[None, True, ..., 1])
    check(x[[]], host[[]])
    check(x[[0, 2]], host[[0, 2]])
    check(x[[True, False, True]], host[[True, False, True]])
    check(x[np.int64(1), np.uint8(2)], np.asarray(host[1, 2]))
    check(x[pp.asarray(2)], host[2])
    check(x[()], host[()])


@pytest.mark.parametrize("index", [5, -4, (0, 7), [0, 3], np.array([[-4]]), (slice(None), [4]), (..., [-5])])
def test_out_of_bounds(index):
    with pytest.raises(IndexError, match="out of bounds for axis"):
        numbered((3, 4))[index]
    with pytest.raises(IndexError, match="out of bounds for axis"):
        pp.asarray(numbered((3, 4)))[index]
    with pytest.raises(IndexError, match="out of bounds"):
        pp.asarray(numbered((3, 4)))[index] = 1


@pytest.mark.parametrize("index", [(0, 0, 0), (..., ...), 1.5, "a", [1.5], {}, np.array([1.0]), (0, 1.0), np.ones(2, bool), 10**30])
def test_wrong_indices(index):
    with pytest.raises(IndexError):
        pp.asarray(numbered((3, 4)))[index]


def test_late_bounds_check():
    x, index = pp.arange(4.0), pp.asarray([0, 9])
    with pytest.raises(IndexError):
        x[index].wait()
    check(x + 1, np.arange(4.0) + 1)


def test_assignment_values():
    host, x = numbered((3, 4)), pp.asarray(numbered((3, 4)))
    for index, value in [(0, [1, 2, 3, 4]), ((slice(None), 1), np.array([7, 8, 9])), (..., 2.5), ((1, 1), np.float32(3))]:
        host[index] = value
        x[index] = value
        check(x, host)
    x[2] = pp.asarray([1, 2, 3, 4], dtype="int8")
    assert x[2].tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError):
        x[0] = [1, 2, 3]
    with pytest.raises(ValueError):
        x[0] = "text"
    with pytest.raises(ValueError, match="delete"):
        del x[0]
    small = pp.zeros(2, dtype="uint8")
    with pytest.raises(OverflowError):
        small[0] = 300


def test_overlapping_assignment():
    host, x = numbered((10,)), pp.asarray(numbered((10,)))
    host[2:] = host[:-2].copy()
    x[2:] = x[:-2]
    check(x, host)
    x[:] = x[::-1]
    check(x, host[::-1])


def test_write_is_ordered_after_pending_readers():
    x = pp.arange(5.0)
    y = x * 10
    x[...] = 0
    check(y, np.arange(5.0) * 10)
    z = x[1:3] + 1
    x[1] = 5
    check(z, np.ones(2))


def test_take(rng):
    host = numbered((4, 5))
    x = pp.asarray(host)
    index = rng.integers(-4, 4, (2, 3))
    check(pp.take(x, pp.asarray(index), axis=0), np.take(host, index, axis=0))
    check(x.take([1, -1]), host.take([1, -1]))
    along = rng.integers(0, 4, (2, 5))
    check(pp.take_along_axis(x, pp.asarray(along), axis=0), np.take_along_axis(host, along, axis=0))
    with pytest.raises(IndexError, match="out of bounds"):
        pp.take(x, [9], axis=0)
    with pytest.raises(TypeError, match="integers"):
        pp.take(x, [0.5], axis=0)


def test_sequences_are_indices():
    host = np.arange(5.0)
    x = pp.asarray(host)
    check(x[range(2)], host[range(2)])
    check(x[range(0)], host[range(0)])
    x[range(1, 3)] = 7.0
    host[range(1, 3)] = 7.0
    check(x, host)
    for bad in ("a", b"a", {1}):
        with pytest.raises(IndexError):
            x[bad]
