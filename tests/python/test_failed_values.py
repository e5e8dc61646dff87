# tests/python/test_failed_values.py: a value that cannot be computed fails where it is used, and nowhere else.
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pardo as pp
import pytest

HUGE = 2**46


@pp.kernel
def double(item: pp.Item, x):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    x[i] = x[i] * 2.0


def fill(x: pp.Array) -> None:
    x.queue.fill(x, 4.0)


def add_in_place(x: pp.Array) -> None:
    x += 1.0


WRITES: dict[str, Callable[[pp.Array], object]] = {
    "element": lambda x: x.__setitem__(0, 5.0),
    "all": lambda x: x.__setitem__(..., 5.0),
    "in place": add_in_place,
    "out": lambda x: pp.add(x, 1.0, out=x),
    "mask": lambda x: x.__setitem__(pp.asarray(np.array([True, False, True])), 2.0),
    "indices": lambda x: x.__setitem__(pp.asarray(np.array([1, 2])), 2.0),
    "kernel": lambda x: double[pp.Range(3)](x),
    "fill": fill,
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_does_not_fail_for_a_value_that_cannot_be_computed(write: str) -> None:
    x = pp.asarray([1.0, 2.0, 3.0])
    big = pp.ones(HUGE) + x[:1]
    after = (big * 2.0)[:4]  # depends on it, and has no memory yet
    other = x + 10.0
    before = pp.asnumpy(x).copy()
    WRITES[write](x)
    assert not np.array_equal(pp.asnumpy(x), before)
    np.testing.assert_array_equal(pp.asnumpy(other), before + 10.0)
    for _ in range(2):  # at each use, its own error
        for use in (
            lambda: big.wait(),
            lambda: big + 1.0,
            lambda: big[:3],
            lambda: pp.asnumpy(big),
            lambda: float(big[7]),
            lambda: big.sum(),
        ):
            with pytest.raises(MemoryError, match="cannot allocate"):
                use()
    with pytest.raises(MemoryError, match="cannot allocate"):
        pp.asnumpy(after)
    x[...] = 1.0  # still writable
    np.testing.assert_array_equal(pp.asnumpy(x), [1.0, 1.0, 1.0])


def test_a_failed_value_cannot_be_written_or_read_by_others() -> None:
    x = pp.asarray([1.0, 2.0, 3.0])
    big = pp.ones(HUGE) * x[:1]
    x[0] = 5.0
    for use in (
        lambda: big.__setitem__(0, 1.0),
        lambda: x.__setitem__(..., big[:3]),
        lambda: pp.add(x[0], 1.0, out=big),
        lambda: pp.sort(big),
        lambda: pp.take(big, pp.asarray([0])),
        lambda: pp.asarray(big, copy=True).wait(),
        lambda: pp.asnumpy(big),
        lambda: repr(big),
        lambda: double[pp.Range(3)](big),
        lambda: big.queue.submit(big),
    ):
        with pytest.raises(MemoryError, match="allocate"):
            use()
    assert big.shape == (HUGE,)
    np.testing.assert_array_equal(pp.asnumpy(x), [5.0, 2.0, 3.0])


def test_a_value_that_was_asked_for_can_be_asked_for_again() -> None:
    x = pp.asarray(np.arange(1 << 16, dtype=np.float64))
    y = x * 2.0
    pp.trim_memory()
    pp.set_memory_limit(max(pp.memory_stats().in_use, 1))
    try:
        with pytest.raises(MemoryError):
            y.wait()
    finally:
        pp.set_memory_limit(0)
    np.testing.assert_array_equal(pp.asnumpy(y), np.arange(1 << 16) * 2.0)


def test_too_much_that_is_pending_fails_for_itself_only() -> None:
    x = pp.asarray([1.0, 2.0, 3.0])
    big = pp.ones(HUGE) * x[:1]
    values = [x + float(k) for k in range(5000)]  # beyond the bound on pending nodes: all is handed over
    np.testing.assert_array_equal(pp.asnumpy(values[-1]), np.array([1.0, 2.0, 3.0]) + 4999.0)
    with pytest.raises(MemoryError, match="cannot allocate"):
        big.wait()


def test_the_value_of_a_write_that_fails_changes_nothing() -> None:
    x = pp.asarray(np.arange(3.0))
    before = pp.asnumpy(x).copy()
    with pytest.raises(MemoryError):
        x[...] = (
            (pp.ones((HUGE, 3)) + x).cumsum(axis=0)[0] if hasattr(x, "cumsum") else pp.cumulative_sum(pp.ones((HUGE, 3)) + x, axis=0)[0]
        )
    np.testing.assert_array_equal(pp.asnumpy(x), before)


def test_empty_arrays_of_huge_extents_are_computed_at_once() -> None:
    x = pp.zeros((1 << 62, 0))
    assert (x + 1).wait().shape == (1 << 62, 0)
    assert pp.exp(x * 2.0)[:, None].wait().shape == (1 << 62, 1, 0)
    assert x.sum(axis=0).shape == (0,)
    assert float(x.sum()) == 0.0
    assert x.T.wait().shape == (0, 1 << 62)
    assert (x[::3] - 1).wait().shape == ((1 << 62) // 3 + 1, 0)
    x[...] = 1.0
    x += 1.0
    assert bool((x == 0).all())
    assert pp.asnumpy(pp.zeros((0, 1 << 40)) + 1).shape == (0, 1 << 40)


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
@pytest.mark.parametrize("early", [True, False])
def test_what_is_written_anew_forgets_older_failures(order, early):
    queue, gate = pp.Queue("cpu", order=order), pp.UserEvent()
    x = pp.asarray(np.arange(6), queue=queue)
    queue.fill(x, 3, depends=[gate])
    if early:
        gate.set_failed(KeyError("gone"))
    queue.fill(x, 4)
    if not early:
        gate.set_failed(KeyError("gone"))
    assert x.tolist() == [4] * 6
    with pytest.raises(KeyError, match="gone"):
        queue.wait()
    queue.wait()


def test_failed_values_of_out_of_order_queues_wait_for_nothing_else():
    queue, gate = pp.Queue("cpu", order="out_of_order"), pp.UserEvent()
    x, y = (pp.asarray(np.arange(6), queue=queue) for _ in range(2))

    def broken():
        raise KeyError("gone")

    failed = queue.host_task(broken)
    queue.fill(x, -6, depends=[failed])
    y[...] = x * 2
    queue.fill(x, 6, depends=[gate])
    with pytest.raises(KeyError, match="gone"):
        pp.asnumpy(y)
    assert y.event.done()
    gate.set_complete()
    assert x.tolist() == [6] * 6
