# tests/python/test_bounds_of_loops.py: parallel and serial loops touch no memory outside of their arrays, and say which index would have.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal
from test_bounds import assert_untouched, guarded, raises

pytestmark = pytest.mark.once


@pytest.fixture(params=DEVICES, ids=str)
def device(request):
    return request.param


def test_parallel_loops(device):
    @pp.jit
    def shift(x, y, by):
        for i in pp.prange(len(x)):
            y[i] = x[i + by]

    x = pp.arange(6.0, device=device)
    y, whole = guarded(device, np.zeros(6))

    def run(by):
        shift(x, y, by)
        y.queue.wait()

    run(0)
    run(-2)
    assert_array_equal(pp.asnumpy(y), np.arange(6.0)[np.arange(6) - 2])
    raises(lambda: run(2), r"(6|7)", 6, line="y[i] = x[i + by]")
    raises(lambda: run(-7), -7, 6, 0)
    assert_untouched(whole, (6,))


def test_parallel_loops_with_bounds(device):
    @pp.jit
    def fill(x, start, stop, step):
        for i in pp.prange(start, stop, step):
            x[i] = i

    x, whole = guarded(device, np.zeros(12, "int64"))

    def run(*bounds):
        fill(x, *bounds)
        x.queue.wait()

    run(0, 12, 1)
    run(1, 12, 5)
    run(11, -1, -1)
    run(0, -5, 1)
    raises(lambda: run(0, 13, 4), 12, 12)
    raises(lambda: run(13, 0, -1), r"1[23]", 12)
    assert_untouched(whole, (12,))


def test_reductions(device):
    @pp.jit
    def total(x, index):
        s = 0.0
        for i in pp.prange(len(index)):
            s += x[index[i]]
        return s

    x = np.arange(100.0)
    index = np.arange(5000) % 100
    given = pp.asarray(x, device=device)
    assert total(given, pp.asarray(index, device=device)) == x[index].sum()
    index[4321] = 100
    raises(lambda: total(given, pp.asarray(index, device=device)), 100, 100, 4321)


def test_numpy_arrays_and_serial_loops():
    @pp.jit
    def prefix(x, y, n):
        s = 0.0
        for i in range(n):
            s += x[i]
            y[i] = s
        return s

    whole = np.full(30, -1.0)
    x, y = np.arange(10.0), whole[10:20]
    assert prefix(x, y, 10) == 45
    assert_array_equal(y, np.cumsum(x))
    with pytest.raises(IndexError, match=r"index 10 is out of bounds for an axis of size 10\n[\s\S]*s \+= x\[i\]"):
        prefix(x, y, 11)
    with pytest.raises(IndexError, match="index 10 is out of bounds for an axis of size 10"):
        prefix(np.arange(20.0), y, 20)
    assert (whole[:10] == -1).all()
    assert (whole[20:] == -1).all()


def test_serial_loops_on_data():
    @pp.jit
    def follow(following, start, steps):
        k = start
        for _ in range(steps):
            k = following[k]
        return k

    following = np.array([3, 0, 1, 2])
    assert follow(following, 0, 6) == 2
    following[1] = 4
    with pytest.raises(IndexError, match="index 4 is out of bounds for an axis of size 4"):
        follow(following, 0, 6)


def test_serial_loops_over_two_arrays():
    @pp.jit
    def merged(a, b, out):
        i = j = 0
        for k in range(len(out)):
            if j >= len(b) or (i < len(a) and a[i] <= b[j]):
                out[k] = a[i]
                i += 1
            else:
                out[k] = b[j]
                j += 1

    a, b = np.array([1, 4, 6]), np.array([2, 3, 9, 10])
    out = np.zeros(7, "int64")
    merged(a, b, out)
    assert_array_equal(out, np.sort(np.concatenate([a, b])))
    with pytest.raises(IndexError, match="index 3 is out of bounds for an axis of size 3"):
        merged(a, b, np.zeros(8, "int64"))
