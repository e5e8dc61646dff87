# tests/conformance/test_indexing.py: reading and writing by every kind of index, against NumPy.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, assert_same

SHAPE = (4, 5, 6)
N = None
BASIC = [
    ...,
    (),
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    slice(None),
    slice(1, 3),
    slice(None, None, -1),
    slice(3, None, -2),
    slice(10, 20),
    slice(2, 2),
    (slice(None), 2),
    (..., 2),
    (..., slice(None, None, 2)),
    (0, ..., 1),
    (N, 1),
    (slice(1), N, ..., N),
    (slice(None), slice(4, 0, -2), -1),
    (slice(None, None, 3), slice(1, -1), slice(-2, None)),
    (N, N, 2, N, slice(None), N),
]


def integers(values):
    return np.array(values)


ADVANCED = [
    [0, 2, 3],
    [-1, 0, -4],
    integers([[0, 1], [3, -2]]),
    ([0, 1], [2, 3]),
    ([0, 1], slice(None), [2, 3]),
    (slice(None), [0, 4]),
    (..., [5, 0, 0]),
    (1, slice(None), [0, 1, 2]),
    ([[0], [1]], [0, 4]),
    (N, [1, 2]),
    ([0, 3], N, [1, 1]),
    (slice(None, None, -1), [0, 1], slice(2)),
    integers([]).astype(int),
    True,
    False,
]


def arrays():
    a = np.arange(np.prod(SHAPE), dtype="float64").reshape(SHAPE)
    return a, pp.asarray(a)


def for_pardo(index):
    """Index arrays as pardo arrays, the rest as it is."""
    if isinstance(index, tuple):
        return tuple(for_pardo(part) for part in index)
    return pp.asarray(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("index", BASIC, ids=repr)
def test_basic_reads_are_views(index):
    a, x = arrays()
    assert_same(x[index], a[index])
    if np.ndim(a[index]):
        a[index][...] = -1
        x[index][...] = -1
        assert_same(x, a)


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=repr)
def test_writes(index):
    a, x = arrays()
    a[index], x[for_pardo(index)] = 7, 7
    assert_same(x, a)
    shape = a[index].shape
    value = np.arange(int(np.prod(shape)), dtype="float64").reshape(shape)
    a[index], x[for_pardo(index)] = value, pp.asarray(value)
    assert_same(x, a)
    if shape:
        a[index], x[for_pardo(index)] = value[..., :1] - 1, pp.asarray(value[..., :1] - 1)
        assert_same(x, a)


@pytest.mark.parametrize("index", ADVANCED, ids=repr)
def test_advanced_reads_are_copies(index):
    a, x = arrays()
    for form in (index, for_pardo(index)):
        got = x[form]
        assert_same(got, a[index])
    if got.ndim and got.size:
        got[...] = -1
        assert_same(x, a)


def test_masks():
    a, x = arrays()
    for mask in (a > 50, a < -1, a[:, :, 0] % 2 == 0, np.array([True, False, True, True])):
        m = pp.asarray(mask)
        assert_same(x[m], a[mask])
        assert_same(x[mask], a[mask])
    a[a > 50], x[x > 50] = 0, 0
    assert_same(x, a)
    a[a == 0], x[x == 0] = np.arange((a == 0).sum()), pp.arange(int((x == 0).sum()), dtype="float64")
    assert_same(x, a)
    a[1, a[1] > 30], x[1, x[1] > 30] = -2, -2
    assert_same(x, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    a = np.arange(20).reshape(4, 5).astype(dtype)
    x = pp.asarray(a)
    assert_same(x[[2, 0]], a[[2, 0]])
    assert_same(x[x != 0], a[a != 0])
    assert_same(x[::2, ::-1], a[::2, ::-1])
    a[[0, 1], [1, 2]], x[[0, 1], [1, 2]] = 1, 1
    a[::2], x[::2] = a[1::2], x[1::2]
    assert_same(x, a)
    assert_same(pp.take(x, pp.asarray([3, 1]), axis=1), np.take(a, [3, 1], axis=1))
    order = np.argsort(a.real, axis=1)
    assert_same(pp.take_along_axis(x, pp.asarray(order), axis=1), np.take_along_axis(a, order, axis=1))


def test_reads_before_a_write_keep_their_values():
    a, x = arrays()
    b, y = a[0] + 1, x[0] + 1
    c, z = a.sum(axis=0), x.sum(axis=0)
    a[0], x[0] = 0, 0
    assert_same(y, b)
    assert_same(z, c)
    assert_same(x, a)


def test_overlapping_assignment():
    a, x = np.arange(1000.0), pp.arange(1000.0)
    a[1:], x[1:] = a[:-1], x[:-1]
    assert_same(x, a)
    a[:], x[:] = a[::-1].copy(), x[::-1]
    assert_same(x, a)
    a[2:], x[2:] = (a[:-2] + a[2:]), x[:-2] + x[2:]
    assert_same(x, a)


def test_single_values_are_values():
    x = pp.arange(4.0)
    t = x[1]
    x[1] = x[2]
    x[2] = t
    assert x.tolist() == [0, 2, 1, 3]
    total = x.sum()
    kept = [total]
    total += 1
    assert float(kept[0]) == 6
    assert float(total) == 7


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (4, IndexError),
        (-5, IndexError),
        ((0, 0, 0, 0), IndexError),
        ([9], IndexError),
        (1.5, IndexError),
        ("a", IndexError),
        (np.ones(3, bool), IndexError),
        (([0, 1], [0, 1, 2]), IndexError),
        ((..., ...), IndexError),
    ],
    ids=repr,
)
def test_wrong_indices(index, error):
    a, x = arrays()
    with pytest.raises(error):
        a[index]
    with pytest.raises(error):
        x[for_pardo(index)]
    with pytest.raises(error):
        x[for_pardo(index)] = 0


@pytest.mark.parametrize("bad", [4, -5, 10**12])
@pytest.mark.parametrize("count", [1, 5000])
def test_indices_of_the_device_are_checked_there(device, bad, count):
    a, _ = arrays()
    x = pp.asarray(a, device=device)
    index = np.zeros(count, np.int64)
    index[count // 2] = bad
    where = pp.asarray(index, device=device)
    message = rf"index {bad} is out of bounds for axis {{}} with size 4"
    for read in (
        lambda: x[where],
        lambda: x[where, :, where * 0],
        lambda: pp.take(x, where, axis=0),
        lambda: pp.take_along_axis(x[:, 0, 0], where, axis=0),
    ):
        with pytest.raises(IndexError, match=message.format(0)):
            (read() + 1).wait()

    def write(view, index, value):
        view[index] = value
        view.wait()

    with pytest.raises(IndexError, match=message.format(0)):
        write(x, where, 7)
    x.accept()  # the elements have failed where a device has looked at the indices
    assert_same(x, a)  # nothing was written
    with pytest.raises(IndexError, match=message.format(1)):
        write(x.swapaxes(0, 1), (where * 0, where), pp.ones((count, 6), dtype=x.dtype, device=device))
    x.accept()
    assert_same(x, a)
    good = pp.asarray(index * 0 + 3, device=device)
    assert_same(x[good], a[index * 0 + 3])


def test_wrong_values():
    x = pp.ones((3, 4))
    with pytest.raises(ValueError, match="broadcast"):
        x[...] = pp.ones((2, 4))
    with pytest.raises(ValueError, match="broadcast"):
        x[0] = pp.ones(3)
