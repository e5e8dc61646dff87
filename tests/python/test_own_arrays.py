# tests/python/test_own_arrays.py: arrays that jit functions make between their loops by NumPy's names lie where their arguments do.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal

PLACES = [*map(str, DEVICES), "null:1"]


def moved(x, device):
    return pp.asarray(np.asarray(x, dtype="float32"), device=device)


@pp.jit
def made(x, n):
    a, b, c, d = np.zeros(n, dtype=x.dtype), np.empty((n, 2), x.dtype), np.ones((n, n), dtype=np.float32, order="F"), np.full(n, 3, x.dtype)
    e, f, g = np.eye(n, dtype=x.dtype), np.arange(n, dtype=x.dtype), np.linspace(0.0, 1.0, n, dtype=np.float32)
    h, p, q = np.array([1, 2, 3, 4], dtype=np.float32), np.zeros_like(a), x.copy()
    for i in pp.prange(n):
        a[i] += x[i] + d[i] + f[i] + h[i]
        b[i, 0] = b[i, 1] = e[i, i] + c[i, 0] + g[i]
        p[i] = q[i]
    for i in range(1, n):
        a[i] += a[i - 1]
    return a, b, p


@pytest.mark.parametrize("device", PLACES)
def test_they_lie_where_the_arguments_do(device):
    x = moved([1, 2, 3, 4], device)
    results = made(x, 4)
    for got, wanted in zip(results, made.interpret(pp.asnumpy(x), 4), strict=True):
        assert isinstance(got, pp.Array)
        assert got.queue == x.queue
        assert_array_equal(pp.asnumpy(got), wanted)
    queue = pp.Queue(device)
    y = pp.asarray(pp.asnumpy(x), queue=queue)
    assert {a.queue for a in made(y, 4)} == {queue}


def test_with_arguments_of_numpy_they_are_numpy_s():
    results = made(np.arange(4, dtype="float32"), 4)
    assert {type(a) for a in results} == {np.ndarray}


@pp.jit
def counted(n):
    a = np.zeros(n, "float32")
    for i in pp.prange(n):
        a[i] = i
    return a


def test_without_arrays_the_default_device_has_them():
    assert type(counted(3)) is np.ndarray
    with pp.device_context("null:1"):
        a = counted(3)
        assert (a.device, list(pp.asnumpy(a))) == (pp.Device("null:1"), [0, 1, 2])


@pp.jit
def of_nested(x, *rest, **named):
    y, z = rest[0], named["y"]

    def doubled(n):
        y = np.zeros(n, x.dtype)
        for i in pp.prange(n):
            y[i] = 2 * i
        return y

    def plain(n):
        return np.ones(n, x.dtype)

    total = plain(3)
    for i in range(2):  # Python's: it is over no elements
        total = total + np.full(3, i, x.dtype)
    texts = np.array(["a", "b"])
    for k in pp.prange(3):
        total[k] += x[k] + y[k] + z[k]
    return total, texts, doubled


@pp.jit
def steps(n):
    t = np.empty(n, np.float32)
    for i in pp.prange(n):
        t[i] = i
    return t


@pp.jit
def with_steps(x):
    t = steps(len(x))
    for i in pp.prange(len(x)):
        t[i] += x[i]
    return t


def test_functions_that_are_called_make_theirs_there_too():
    x = moved([1, 2, 3], "null:1")
    assert with_steps(x).device == x.device
    assert list(pp.asnumpy(with_steps(x))) == [1, 3, 5]
    assert type(with_steps(pp.asnumpy(x))) is type(steps(3)) is np.ndarray


@pp.jit
def of_parts(pair):
    y = np.zeros(3, pair[1].dtype)
    for k in pp.prange(3):
        y[k] = pair[1][k]
    return y


def test_where_functions_have_them():
    device = "null:1"
    x = moved([1, 2, 3], device)
    total, texts, doubled = of_nested(x, x, y=x)
    assert total.device == x.device
    assert list(pp.asnumpy(total)) == [5, 8, 11]
    assert list(texts) == ["a", "b"]
    assert of_parts((1, x)).device == x.device
    with pp.device_context(device):
        assert list(pp.asnumpy(doubled(3))) == [0, 2, 4]


@pp.jit
def of_two(x, y, makes):
    for i in pp.prange(len(x)):
        x[i] += 1
    for i in pp.prange(len(y)):
        y[i] += 1
    return np.zeros(3) if makes else None


def test_arguments_on_two_queues_leave_it_open():
    x, y = moved([1], "null:1"), pp.asarray(np.ones(1, "float32"), queue=pp.Queue("null:1"))
    assert of_two(x, y, False) is None
    with pytest.raises(pp.ExecutionPlacementError, match="of_two: zeros: operands are on different queues"):
        of_two(x, y, True)
