# tests/python/test_device_context.py: `with device_context(...)`: the default device of a thread or task, and NumPy arrays in and out.
from __future__ import annotations

import asyncio
import contextvars
import pickle
import threading

import numpy as np
import pardo as pp
import pytest

X = np.linspace(1.0, 2.0, 12).reshape(3, 4)


def test_sets_the_default_device_and_nests():
    before = pp.Device()
    with pp.device_context("null") as device:
        assert device == pp.Device() == pp.Device("null")
        assert pp.zeros(3).device.backend == "null"
        assert pp.__array_namespace_info__().default_device() == device
        with pp.device_context(pp.Device("cpu")):
            assert pp.ones(3).device == pp.Device("cpu")
        assert pp.Device() == device
        with pytest.raises(KeyError), pp.device_context("cpu"):
            raise KeyError
        assert pp.Device() == device
    assert pp.Device() == before


def test_wrong_devices():
    for wrong, error in (("nonsense", ValueError), (None, TypeError), (3, TypeError)):
        with pytest.raises(error, match="device"), pp.device_context(wrong):
            raise AssertionError
    assert pp.Device() == pp.Device()


def test_as_a_decorator():
    @pp.device_context("null")
    def where():
        return pp.Device().backend

    assert where() == where() == "null"
    assert pp.Device().backend != "null"


def test_numpy_arrays_go_in_and_come_out():
    with pp.device_context("cpu"):
        for got, expected in (
            (pp.sqrt(X), np.sqrt(X)),
            (pp.add(X, X), X + X),
            (pp.add(X, 1), X + 1),
            (pp.sum(X, axis=0), X.sum(axis=0)),
            (pp.concat([X, X]), np.concatenate([X, X])),
            (pp.where(X > 1.5, X, 0.0), np.where(X > 1.5, X, 0.0)),
            (pp.matmul(X, X.T), X @ X.T),
            (pp.reshape(X, (4, 3)), X.reshape(4, 3)),
            (pp.sort(X, axis=0), np.sort(X, axis=0)),
            (pp.zeros_like(X), np.zeros_like(X)),
            (pp.astype(X, "float32"), X.astype("float32")),
            (pp.sqrt(X.astype(">f8")), np.sqrt(X)),
            (pp.sqrt(X[::-1, ::2]), np.sqrt(X[::-1, ::2])),
            (pp.special.erf(np.zeros(3)), np.zeros(3)),
        ):
            assert type(got) is np.ndarray
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-14)
        assert type(pp.sum(X)) is np.float64
        values, counts = pp.unique_counts(np.array([3, 1, 3]))
        assert type(values) is np.ndarray
        assert counts.tolist() == [1, 2]
        assert all(type(piece) is np.ndarray for piece in pp.unstack(X))


def test_out():
    with pp.device_context("cpu"):
        out = np.zeros_like(X)
        assert pp.sqrt(X, out=out) is out
        np.testing.assert_allclose(out, np.sqrt(X))
        assert pp.add(X, pp.asarray(X), out=out) is out
        np.testing.assert_allclose(out, X + X)
        out = np.full_like(X, -1)
        assert pp.sqrt(X, out=(out,), where=X > 1.5) is out
        np.testing.assert_allclose(out, np.where(X > 1.5, np.sqrt(X), -1))
        out = np.zeros(4)
        assert pp.sum(X, axis=0, out=out) is out
        np.testing.assert_allclose(out, X.sum(axis=0))


STORING = [
    lambda p, x, m: p.add(x, 1, x),
    lambda p, x, m: p.divmod(m[2] + 7, 2, out=(m[0], m[1])),
    lambda p, x, m: p.matmul(m + 1, m + 2, m),
    lambda p, x, m: p.sum(m + x, 0, None, x),
    lambda p, x, m: p.cumsum(x, None, None, x),
    lambda p, x, m: p.clip(x, 1, 2, x),
    lambda p, x, m: p.take(x, [2, 0, 1], None, m[0]),
    lambda p, x, m: p.stack([x, x, x], 0, m),
    lambda p, x, m: p.copyto(m, x),
    lambda p, x, m: p.put(x, [0], [9.0]),
    lambda p, x, m: p.place(x, x > 1, [9.0]),
    lambda p, x, m: p.putmask(x, x > 1, 9.0),
    lambda p, x, m: p.copyto(dst=m, src=x),
    lambda p, x, m: p.fill_diagonal(m, 5),
    lambda p, x, m: p.put_along_axis(m, np.array([[0], [1], [2]]), 4.0, 1),
    lambda p, x, m: p.nan_to_num(x, copy=False, posinf=7),
]


@pytest.mark.parametrize("device", ["cpu", "null:1"])
@pytest.mark.parametrize("store", STORING)
def test_what_functions_store_is_in_the_callers_arrays(store, device):
    wanted, got = ((np.array([3, 1, np.inf], "float32"), np.zeros((3, 3), "float32")) for _ in range(2))
    expected = store(np, *wanted)
    with pp.device_context(device):
        result = store(pp, *got)
    for mine, theirs in zip((*got, result), (*wanted, expected), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    if expected is wanted[0]:
        assert result is got[0]


def test_nothing_is_stored_in_a_copy(monkeypatch):
    monkeypatch.setattr("pardo._array.contexts.IN_PLACE", set())  # as of a function that nobody thought of
    x = np.zeros(3)
    with pp.device_context("cpu"), pytest.raises(ValueError, match="read-only"):
        pp.put(x, [0], [1.0])
    with pytest.raises(TypeError, match="fill_diagonal: expected a pardo\\.Array to write to"):
        pp.fill_diagonal(np.zeros((3, 3)), pp.ones(3))


def test_with_an_array_of_pardo_the_result_stays():
    queue = pp.Queue()
    x = pp.asarray(X, queue=queue)
    with pp.device_context("cpu"):
        for result in (pp.add(x, X), pp.add(X, x), x + X, X + x, pp.concat([X, x])):
            assert type(result) is pp.Array
            assert result.queue == queue
        np.testing.assert_allclose(pp.asnumpy(x + X), 2 * X)
        x += X
        np.testing.assert_allclose(pp.asnumpy(x), 2 * X)
    assert (x == x).all()


def test_outside_numpy_arrays_alone_go_to_the_default_device():
    with pp.device_context("cpu"):
        pass
    for call in (lambda: pp.sqrt(X), lambda: pp.sum(X), lambda: pp.add(X, X), lambda: pp.concat([X, X])):
        result = call()
        assert type(result) is pp.Array
        assert result.queue == pp.Queue.of(pp.Device())


def test_threads_have_their_own():
    seen = {}
    entered, done = threading.Event(), threading.Event()

    def inside():
        with pp.device_context("null"):
            entered.set()
            done.wait(30)
            seen["inside"] = pp.Device().backend

    thread = threading.Thread(target=inside)
    thread.start()
    assert entered.wait(30)
    assert pp.Device().backend != "null"
    with pp.device_context("cpu"):
        other = threading.Thread(target=lambda: seen.update(fresh=pp.Device().backend))
        other.start()
        other.join()
    done.set()
    thread.join()
    assert seen == {"inside": "null", "fresh": pp.Device().backend}


def test_tasks_have_their_own():
    async def inside(name, steps):
        with pp.device_context(name):
            for _ in range(steps):
                await asyncio.sleep(0)
                assert pp.Device().backend == name
            child = asyncio.create_task(look())  # inherits, as all context variables
            assert await child == name

    async def look():
        return pp.Device().backend

    async def main():
        await asyncio.gather(*(inside(name, 5 + i) for i, name in enumerate(["null", "cpu"] * 3)))
        with pp.device_context("null"):
            assert await asyncio.to_thread(lambda: pp.Device().backend) == "null"
        return pp.Device()

    assert asyncio.run(main()) == pp.Device()


def test_copied_contexts():
    with pp.device_context("null"):
        context = contextvars.copy_context()
    assert context.run(lambda: pp.Device().backend) == "null"
    assert pp.Device().backend != "null"


def test_one_context_is_entered_again():
    context = pp.device_context("null")
    with context as outer:
        with pp.device_context("cpu"), context:
            assert pp.Device() == outer
        assert pp.Device() == outer
    assert pp.Device().backend != "null"


def test_masked_arrays_are_refused():
    with pp.device_context("cpu"), pytest.raises(TypeError, match=r"masked arrays are not supported.*filled"):
        pp.add(np.ma.array([1, 2], mask=[0, 1]), 1)


def test_functions_are_what_they_were():
    assert pickle.loads(pickle.dumps(pp.concat)) is pp.concat
    assert pp.concat.__name__ == "concat"
    assert pp.concat.__doc__


def test_kernels_that_write_two_arrays_that_overlap_are_refused():
    @pp.kernel
    def both(item: pp.Item, a, b, c):
        i = item.get_id(0)
        a[i] = 1
        b[i] = c[i]

    x = np.zeros(8, "float32")
    with pp.device_context("null:1"):
        with pytest.raises(ValueError, match="both: two of the NumPy arrays that it writes overlap"):
            both[4](x[:5], x[3:], x)
        both[4](x[::2], x[1::2], x[:4] + 2)
        assert x.tolist() == [1, 2] * 4
        both[4](x[4:], x[:4], x[2:])  # what it reads may be a part of what it writes
    assert x.tolist() == [1, 2, 1, 2, 1, 1, 1, 1]
