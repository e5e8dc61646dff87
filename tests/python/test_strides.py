# tests/python/test_strides.py: windows and strides, and the constructor of arrays, against NumPy's.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once
tricks = pp.lib.stride_tricks
HOST = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize(("window", "axis"), [(2, 0), ((2, 3), (1, -1)), ((1, 2, 3), None), (5, 2), (0, 1), ((2, 2), (2, 2))], ids=str)
@pytest.mark.parametrize("change", [lambda x: x, lambda x: x * 2, lambda x: x[:, ::-1], lambda x: x.T], ids=["", "pending", "flip", "T"])
def test_windows(window, axis, change, device):
    x = change(pp.asarray(HOST, device=device))
    try:
        wanted = sliding_window_view(change(HOST), window, axis)
    except ValueError:
        with pytest.raises(ValueError, match="window"):
            tricks.sliding_window_view(x, window, axis)
        return
    found = tricks.sliding_window_view(x, window, axis)
    assert_array_equal(pp.asnumpy(found), wanted)
    assert_array_equal(pp.asnumpy((found * 3).sum(axis=-1)), (wanted * 3).sum(axis=-1))
    assert_array_equal(pp.asnumpy(sliding_window_view(x, window, axis)), wanted)  # NumPy's own function
    assert not found.writeable
    x[...] = 0
    assert not pp.any(found)


def test_strides_in_memory():
    host = np.arange(12)
    x = pp.asarray(host, device="cpu")
    for shape, strides in [((3, 4), (32, 8)), ((5, 2), (16, 8)), ((4,), (0,)), ((2, 3), (8, 8)), ((0, 4), (1 << 40, 8)), (None, None)]:
        assert_array_equal(pp.asnumpy(tricks.as_strided(x, shape, strides)), as_strided(host, shape, strides))
    assert_array_equal(pp.asnumpy(tricks.as_strided(x[11:], (12,), (-8,))), host[::-1])
    view = tricks.as_strided(x, (3,), (32,))
    view[...] = -1
    assert x.tolist() == [-1, 1, 2, 3, -1, 5, 6, 7, -1, 9, 10, 11]
    assert not tricks.as_strided(x, (3,), (8,), writeable=False).writeable


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda x: tricks.sliding_window_view(x, 9, 0), ValueError, "window shape cannot be larger than input array shape: axis 0"),
        (lambda x: tricks.sliding_window_view(x, -1, 0), ValueError, "cannot contain negative values"),
        (lambda x: tricks.sliding_window_view(x, (1, 1), 0), ValueError, "got 2 window_shape elements and 1 axes"),
        (lambda x: tricks.sliding_window_view(x, 2, 5), ValueError, "axis 5 is out of bounds"),
        (lambda x: tricks.sliding_window_view(x, 2, 0, writeable=True), ValueError, "writeable must be False"),
        (lambda x: tricks.sliding_window_view(x, 2, 0, subok=True), TypeError, "subok must be False"),
        (lambda x: tricks.as_strided(x, (100,), (8,)), ValueError, "would lie outside of the 240 bytes of memory"),
        (lambda x: tricks.as_strided(x, (2,), (-4,)), ValueError, "would lie outside"),
        (lambda x: tricks.as_strided(x, (2,), (3,)), ValueError, "strides must be multiples of the 4 bytes"),
        (lambda x: tricks.as_strided(x, (2,), (4, 4)), ValueError, "there are 2 strides for 1 dimensions"),
        (lambda x: tricks.as_strided(x, (1 << 62, 8), (1 << 60, 8)), (ValueError, MemoryError), "as_strided"),
        (lambda x: pp.Array((2,), strides=(8,)), TypeError, "offset and strides are for a buffer"),
        (lambda x: pp.Array((9,), "f8", b"1234"), TypeError, "buffer is too small"),
    ],
)
def test_what_is_refused(wrong, error, text):
    with pytest.raises(error, match=text):
        wrong(pp.asarray(HOST, device="cpu"))


def test_arrays_are_constructed_as_numpys():
    made = pp.ndarray((2, 3), dtype="f4", order="F")
    assert (type(made), made.shape, made.dtype, made.flags.f_contiguous) == (pp.Array, (2, 3), np.float32, True)
    assert pp.ndarray(shape=3).shape == (3,)
    records = pp.ndarray(3, dtype=[("a", "f4")])
    assert (type(records), records.shape) == (pp.StructuredArray, (3,))
    with pytest.raises(TypeError, match=r"missing required argument 'shape' \(pos 0\)"):
        pp.ndarray()
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        pp.ndarray(3, size=2)
    memory = np.arange(6.0)
    with pp.device_context("cpu"):
        shown = pp.ndarray((2, 2), float, memory, offset=8, strides=(16, 8))
    assert shown.tolist() == [[1, 2], [3, 4]]
    memory[1] = 9
    assert shown[0, 0] == 9
