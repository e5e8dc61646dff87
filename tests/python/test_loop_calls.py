"""Calls of jit functions with arrays and numbers, which the core makes by itself once it has seen one: what it keeps must not show."""

import gc
import threading
import weakref

import numpy as np
import pardo as pp
import pytest
from pardo.compat import numba

factor = 3.0


@pp.jit
def scaled(x, y, by):
    for i in range(x.shape[0]):
        y[i] = x[i] * by


@pp.jit
def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    return s


@pp.jit
def total_in_parallel(x):
    s = 0.0
    for i in pp.prange(x.shape[0]):
        s += x[i]
    return s


@pp.jit
def added(x, n):
    for i in pp.prange(n):
        x[i] += 1


def test_arrays_at_other_places_and_of_other_shapes():
    for n in (5, 5, 3, 0, 5, 8):
        x, y = np.arange(n, dtype=np.float64), np.zeros(n)
        scaled(x, y, 2.0)
        assert np.array_equal(y, 2 * x)
        assert total(x) == total_in_parallel(x) == x.sum()
    memory = np.arange(24.0)
    for x in (memory[:6], memory[6:12], memory[::4], memory[:6][::-1], memory[3::-1], memory[:6]):
        y = np.zeros(x.size)
        scaled(x, y, 2)
        assert np.array_equal(y, 2 * x)
        assert total(x) == x.sum()


@pytest.mark.parametrize("dtype", "?bhilqBHILQefdFD")
def test_the_dtype_of_the_same_memory_changes(dtype):
    memory = np.zeros(4)
    assert total(memory) == 0
    x = memory.view(dtype)[:4] if dtype != "D" else memory.view(dtype)
    x[...] = 1
    assert total(x) == x.sum()
    assert total(memory) == memory.sum()


def test_memory_that_overlaps_and_memory_that_does_not():
    x = np.ones(9)
    scaled(x[:8], np.zeros(8), 2.0)
    scaled(x[:8], x[1:], 2.0)
    assert np.array_equal(x, 2.0 ** np.arange(9))


def test_an_array_becomes_read_only_and_writeable_again():
    x, y = np.ones(4), np.zeros(4)
    for _ in range(2):
        scaled(x, y, 2.0)
        y.setflags(write=False)
        with pytest.raises(ValueError, match="y"):
            scaled(x, y, 2.0)
        y.setflags(write=True)


def test_arrays_that_the_core_leaves_to_the_package():
    class Kept(np.ndarray):
        pass

    for _ in range(2):
        assert total(np.arange(4.0)) == 6
        assert total(np.arange(4.0).view(Kept)) == 6
        assert total(np.broadcast_arrays(np.ones(1), np.ones(4))[0]) == 4
        assert total(np.ones(33, np.uint8)[1:].view(np.float64)) == 4 * np.frombuffer(bytes([1] * 8))[0]
        assert total(np.arange(4.0).astype(">f8")) == 6


@pytest.mark.parametrize("by", [2, 2.5, True, np.float32(2.5), np.int8(2), np.uint64(2), np.longlong(2), np.array(2.0)])
def test_numbers(by):
    x, y = np.arange(4.0), np.zeros(4)
    for given in (2.0, by, by, 2.0):
        scaled(x, y, given)
        assert np.array_equal(y, x * given)


def test_a_loop_that_has_failed_runs_again():
    @pp.jit
    def picked(x, places):
        s = 0.0
        for i in range(places.shape[0]):
            s += x[places[i]]
        return s

    x, places = np.arange(4.0), np.array([1, 2])
    for _ in range(3):
        assert picked(x, places) == 3
        places[1] = 9
        with pytest.raises(IndexError, match="9"):
            picked(x, places)
        places[1] = 2


def test_memory_is_let_go():
    class Owner(np.ndarray):
        pass

    for f in (total, total_in_parallel):
        base = np.arange(4.0).view(Owner)
        alive, x = weakref.ref(base), np.asarray(base)
        f(x)
        f(pp.asarray(x))
        del base, x
        gc.collect()
        assert alive() is None


def test_values_from_outside_change(monkeypatch):
    by = 2.0

    @pp.jit
    def outer(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i] * by + factor
        return s

    x = np.arange(3.0)
    assert outer(x) == 6 + 9
    monkeypatch.setitem(globals(), "factor", 1.0)
    assert outer(x) == 6 + 3
    by = 4.0
    assert outer(x) == 12 + 3
    monkeypatch.undo()
    assert outer(x) == 12 + 9


def test_threads_call_one_function():
    wrong = []

    def run(k):
        x, y = np.full(64, float(k)), np.zeros(64)
        for _ in range(200):
            scaled(x, y, k)
            if not (y == k * k).all() or total(x) != 64 * k:
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_bounds_of_parallel_loops():
    x = np.zeros(6, np.int64)
    for n in (6, 3, 0, -2, np.int64(4), True):
        added(x, n)
    assert x.tolist() == [4, 3, 3, 2, 1, 1]
    with pytest.raises(TypeError, match="stop"):
        added(x, 2.0)
    with pytest.raises(IndexError):
        added(x, 7)
    with pytest.raises(OverflowError):
        added(x, 2**64)


def test_the_environment_is_asked_at_each_call(monkeypatch):
    @pp.jit
    def seen(x):
        for i in range(x.shape[0]):
            x[i] = 1 if isinstance(x, np.ndarray) else 2

    x = np.zeros(3)
    total(x)
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    seen(x)
    assert x.tolist() == [1, 1, 1]
    assert total(x) == 3
    monkeypatch.undo()
    assert total(x) == 3


def test_arrays_of_pardo_and_mapped_ones():
    x, y = np.arange(4.0), np.zeros(4)
    scaled(x, y, 2.0)
    shared = pp.zeros(4)
    scaled(pp.asarray(x), shared, 3.0)
    assert pp.asnumpy(shared).tolist() == [0, 3, 6, 9]
    with pp.data(to=(x,), tofrom=(y,), device="cpu"):
        scaled(x, y, 4.0)
    assert y.tolist() == [0, 4, 8, 12]
    scaled(x, y, 5.0)
    assert y.tolist() == [0, 5, 10, 15]


def test_a_part_of_the_processor():
    x = np.arange(4.0)
    before = numba.get_num_threads()
    assert total_in_parallel(x) == 6
    numba.set_num_threads(1)
    try:
        assert total_in_parallel(x) == total(x) == 6
    finally:
        numba.set_num_threads(before)
    assert total_in_parallel(x) == 6
