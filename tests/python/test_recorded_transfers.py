# tests/python/test_recorded_transfers.py: pending arrays that go to another queue: computed when they are needed, with the old values.
from __future__ import annotations

import gc
import os
import threading
import warnings
from typing import Any

import numpy as np
import pardo as pp
import pytest

DEVICES = sorted({"cpu", "null:1", *(d.id for d in pp.get_devices() if d.backend == "opencl")})


@pytest.fixture(params=DEVICES)
def there(request: pytest.FixtureRequest) -> pp.Queue:
    return pp.Queue(request.param)


@pytest.fixture
def here() -> pp.Queue:
    return pp.Queue("cpu")


def line(queue: pp.Queue, n: int = 1000) -> tuple[pp.Array, np.ndarray]:
    values = np.arange(n, dtype="float32")
    return pp.asarray(values, queue=queue), values


def counted(name: str, run: Any) -> int:
    before = pp.counters()[name]
    run()
    return pp.counters()[name] - before


def test_nothing_is_computed_by_the_call(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    x = a * 3 + 1
    before = pp.counters()
    y = x.to_queue(there)
    after = pp.counters()
    assert x.pending
    assert y.pending
    assert [after[k] - before[k] for k in ("forced", "launched", "copies")] == [0, 0, 0]
    assert (y.queue, y.shape, y.dtype) == (there, x.shape, x.dtype)
    np.testing.assert_array_equal(pp.asnumpy(y), values * 3 + 1)
    assert not y.pending
    assert y.queue == there


@pytest.mark.parametrize("door", ["asarray", "astype", "to_device"])
def test_other_doors(here: pp.Queue, door: str) -> None:
    a, values = line(here)
    x = a - 2
    y = {
        "asarray": lambda: pp.asarray(x, device="null:1"),
        "astype": lambda: x.astype("int32", device="null:1"),
        "to_device": lambda: x.to_device("null:1"),
    }[door]()
    assert y.pending
    assert x.pending
    assert y.device == pp.Device("null:1")
    np.testing.assert_array_equal(pp.asnumpy(y), values - 2)


def test_what_was_read_may_be_written(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    y = (a * 2).to_queue(there)
    a[...] = 0
    np.testing.assert_array_equal(pp.asnumpy(y), values * 2)


@pytest.mark.parametrize("view", [False, True])
def test_the_source_may_change(here: pp.Queue, there: pp.Queue, view: bool) -> None:
    a, values = line(here)
    x = a * 2
    source = x[::-3] if view else x
    wanted = values * 2
    y = source.to_queue(there)
    x += 1
    x[5:9] = -1
    np.testing.assert_array_equal(pp.asnumpy(y), wanted[::-3] if view else wanted)


def test_a_computed_source_is_copied_at_once(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    y = a.to_queue(there)
    assert not y.pending
    a += 1
    np.testing.assert_array_equal(pp.asnumpy(y), values)


def test_what_nobody_uses_never_runs(here: pp.Queue, there: pp.Queue) -> None:
    a, _ = line(here)

    def run() -> None:
        y = (a + 7).to_queue(there)
        del y
        gc.collect()
        a[0] = 5
        here.submit().wait()
        there.submit().wait()

    assert counted("copies", run) == 0


@pytest.mark.parametrize("which", ["source", "target", "array"])
def test_submitting(here: pp.Queue, there: pp.Queue, which: str) -> None:
    a, values = line(here)
    y = (a * 5).to_queue(there)

    def run() -> None:
        if which == "source":
            here.submit().wait()
        elif which == "target":
            there.submit().wait()
        else:
            there.submit(y).wait()

    assert counted("copies", run) == 1
    assert y.pending == (which == "source")
    assert counted("launched", lambda: y.wait()) <= (which != "source")
    np.testing.assert_array_equal(pp.asnumpy(y), values * 5)


def test_many_are_carried_out_together(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    all_ = [(a + k).to_queue(there) for k in range(6)]
    there.submit().wait()
    assert not any(y.pending for y in all_)
    for k, y in enumerate(all_):
        np.testing.assert_array_equal(pp.asnumpy(y), values + k)


def test_chains(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    back = ((a + 1).to_queue(there) * 2).to_queue(here)
    assert back.pending
    assert back.queue == here
    np.testing.assert_array_equal(pp.asnumpy(back + a), (values + 1) * 2 + values)
    twice = (a + 1).to_queue(there).to_queue(here)
    np.testing.assert_array_equal(pp.asnumpy(twice), values + 1)


def test_two_queues_of_one_device() -> None:
    for device in DEVICES:
        first, second = pp.Queue(device), pp.Queue(device, order="out_of_order")
        a, values = line(first)
        y = (a + 1).to_queue(second)
        assert y.pending
        np.testing.assert_array_equal(pp.asnumpy(y * 2), (values + 1) * 2)


USES: dict[str, tuple[Any, Any]] = {
    "add": (lambda y: y + 1, lambda v: v + 1),
    "negative": (lambda y: -y, lambda v: -v),
    "view": (lambda y: y[2:7], lambda v: v[2:7]),
    "reshape": (lambda y: y.reshape(10, 100).T, lambda v: v.reshape(10, 100).T),
    "mask": (lambda y: y[y > 5], lambda v: v[v > 5]),
    "index": (lambda y: y[pp.asarray([3, 1], queue=y.queue)], lambda v: v[[3, 1]]),
    "as index": (lambda y: pp.arange(2000, queue=y.queue)[y.astype("int64")], lambda v: np.arange(2000)[v.astype("int64")]),
    "sum": (lambda y: y.sum(), lambda v: v.sum()),
    "copy": (lambda y: y.copy(), lambda v: v.copy()),
    "astype": (lambda y: y.astype("int16"), lambda v: v.astype("int16")),
    "sort": (lambda y: pp.sort(-y), lambda v: np.sort(-v)),
    "cumsum": (lambda y: pp.cumsum(y[:9]), lambda v: np.cumsum(v[:9])),
    "matmul": (lambda y: y[:9] @ y[:9], lambda v: v[:9] @ v[:9]),
    "where": (lambda y: pp.where(y > 3, y, 0), lambda v: np.where(v > 3, v, 0)),
    "concatenate": (lambda y: pp.concatenate([y, y]), lambda v: np.concatenate([v, v])),
    "broadcast": (lambda y: pp.broadcast_to(y, (2, 1000)), lambda v: np.broadcast_to(v, (2, 1000))),
    "item": (lambda y: y[3].item(), lambda v: v[3]),
    "tolist": (lambda y: y.tolist(), lambda v: v),
    "strides": (lambda y: y.strides, lambda v: v.strides),
    "view as": (lambda y: y.view("int32"), lambda v: v.view("int32")),
    "complex": (lambda y: (y + 1j * y).imag, lambda v: v),
}


@pytest.mark.parametrize("use", USES)
def test_uses(here: pp.Queue, there: pp.Queue, use: str) -> None:
    a, values = line(here)
    ours, theirs = USES[use]
    y = (a + 1).to_queue(there)
    assert y.pending
    got = ours(y)
    np.testing.assert_array_equal(pp.asnumpy(got) if isinstance(got, pp.Array) else got, theirs(values + 1))


def test_stores(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    target = pp.zeros(1000, "float32", queue=there)
    target[...] = (a + 1).to_queue(there)
    np.testing.assert_array_equal(pp.asnumpy(target), values + 1)
    target += (a + 2).to_queue(there)
    np.testing.assert_array_equal(pp.asnumpy(target), 2 * values + 3)
    target[(a > 5).to_queue(there)] = 0
    pp.add(target, (a + 1).to_queue(there), out=target)
    wanted = np.where(values > 5, 0, 2 * values + 3) + values + 1
    np.testing.assert_array_equal(pp.asnumpy(target), wanted)
    y = (a + 1).to_queue(there)
    y += 1
    y[0] = 9
    np.testing.assert_array_equal(pp.asnumpy(y), [9, *(values + 2)[1:]])
    out = (a + 1).to_queue(there)
    pp.multiply(out, 2, out=out)
    np.testing.assert_array_equal(pp.asnumpy(out), (values + 1) * 2)
    pp.add(1, 2, out=out)
    assert set(out.tolist()) == {3.0}
    to = pp.empty(1000, "float32", queue=there)
    there.copy(to, (a * 7).to_queue(there)).wait()
    np.testing.assert_array_equal(pp.asnumpy(to), values * 7)


@pp.kernel
def added(item: pp.Item, x: Any, y: Any) -> None:
    i = item.get_id(0)
    x[i] += y[i]


@pp.jit
def looped(x: Any, y: Any) -> None:
    for i in pp.prange(len(x)):
        x[i] += y[i]


def test_kernels_and_loops(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    x, y = (a + 1).to_queue(there), (a + 2).to_queue(there)
    added[1000](x, y)
    looped(x, (a + 3).to_queue(there))
    np.testing.assert_array_equal(pp.asnumpy(x), values * 3 + 6)


def test_other_libraries(here: pp.Queue) -> None:
    a, values = line(here)
    other = pp.Queue("cpu")
    np.testing.assert_array_equal(np.from_dlpack((a + 1).to_queue(other)), values + 1)
    np.testing.assert_array_equal(np.asarray((a + 2).to_queue(other)), values + 2)


def test_numbers_and_empty_arrays(here: pp.Queue, there: pp.Queue) -> None:
    a, _ = line(here, 4)
    total = a.sum()
    y = total.to_queue(there)
    assert y.pending
    assert y.shape == ()
    assert type(y[()]) is type(total[()])
    assert float(y) == 6
    constant = pp.full(3, 2.0, "float32", queue=here).to_queue(there)
    assert counted("copies", lambda: constant.wait()) == 0
    empty = (pp.zeros((0, 3), "float32", queue=here)[:] + a[:3]).to_queue(there)
    assert empty.shape == (0, 3)
    assert empty.queue == there
    assert (empty + 1).tolist() == []


def test_what_cannot_be_copied_fails_at_the_call(here: pp.Queue) -> None:
    a, _ = line(here, 1 << 20)
    x = pp.broadcast_to(a, (1 << 25, 1 << 20)) + 1  # more than any device has
    with pytest.raises(MemoryError):
        x.to_queue(pp.Queue("cpu"))  # worth it, so it starts
    with pytest.raises(MemoryError):
        x.wait()
    assert a.tolist()[:2] == [0, 1]


def test_explain(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    y = (a * 3).to_queue(there)
    text = str(pp.explain(y))
    assert f"copy to {there.device.id}" in text
    assert "multiply" in text
    assert y.pending
    np.testing.assert_array_equal(pp.asnumpy(y), values * 3)


def test_events(here: pp.Queue) -> None:
    a, _ = line(here)
    there = pp.Queue("cpu", profiling=True)
    y = (a + 1).to_queue(there)
    event = y.event
    event.wait()
    assert event.profile is not None if hasattr(event, "profile") else True


def test_bounds_on_pending_work(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here, 3)
    kept = [(a + k).to_queue(there) for k in range(4500)]
    assert sum(y.pending for y in kept) < 4500
    for k in (0, 17, 4499):
        np.testing.assert_array_equal(pp.asnumpy(kept[k]), values + k)


def test_eight_threads_use_one(here: pp.Queue, there: pp.Queue) -> None:
    a, values = line(here)
    for round_ in range(20):
        y = (a + round_).to_queue(there)
        start = threading.Barrier(8)
        found: list[np.ndarray] = []

        def use(k: int, y: pp.Array = y, start: threading.Barrier = start, found: list[np.ndarray] = found) -> None:
            start.wait()
            found.append(pp.asnumpy(y * 1) if k % 2 else pp.asnumpy(y))

        threads = [threading.Thread(target=use, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        assert len(found) == 8
        for f in found:
            np.testing.assert_array_equal(f, values + round_)


def test_two_threads_cross(here: pp.Queue, there: pp.Queue) -> None:
    wrong: list[str] = []

    def go(one: pp.Queue, other: pp.Queue) -> None:
        a, values = line(one)
        for k in range(200):
            y = (a + k).to_queue(other)
            if k % 3 == 0:
                other.submit()
            if k % 5 == 0:
                one.submit()
            if not np.array_equal(pp.asnumpy(y + 1), values + k + 1):
                wrong.append(f"{k}")

    threads = [threading.Thread(target=go, args=q) for q in ((here, there), (there, here)) * 2]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert not any(t.is_alive() for t in threads)
    assert not wrong


def test_an_error_of_the_copy_names_its_line(here: pp.Queue) -> None:
    a, values = line(here)
    x = a + 1
    with pytest.raises(MemoryError, match=r"\(at .*test_recorded_transfers\.py:\d+"):
        pp.broadcast_to(x, (1 << 35, 1000)).to_queue(pp.Queue("cpu"))  # the copy is more than any device has
    np.testing.assert_array_equal(pp.asnumpy(x), values + 1)


def test_a_child_process_has_it_too(here: pp.Queue) -> None:
    a, values = line(here)
    y = (a + 1).to_queue(pp.Queue("cpu"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's own, of forks beside threads
        child = os.fork()
    same = np.array_equal(pp.asnumpy(y), values + 1)
    if child == 0:
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert same
