# tests/python/test_failed_values.py: a value that cannot be computed fails where it is used, and nowhere else.
from __future__ import annotations

import contextlib
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from traceback import walk_tb
from typing import Any

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


# --- what failed work was to write


@pytest.fixture(autouse=True)
def _no_failure_stays() -> Iterator[None]:
    yield
    for name in ("cpu", "null:1"):
        with contextlib.suppress(IndexError, ValueError):
            pp.zeros(1, device=name).queue.wait()


@pp.kernel
def put(item: pp.Item, x, beyond):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    x[i + beyond] = 7.0


@pp.kernel
def add(item: pp.Item, x, beyond):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    x[i + beyond] = x[i] + 1.0


@pp.jit
def add_loop(x, y, beyond):  # type: ignore[no-untyped-def]
    for i in pp.prange(x.shape[0]):
        x[i] = x[i] + y[i + beyond]


def by_loop(x: pp.Array) -> None:
    with pytest.raises(IndexError):
        add_loop(x, pp.ones(x.size, device=x.device), 3)


def by_a_late_check(x: pp.Array) -> None:
    index = pp.asarray(np.arange(x.size) + 1, device=x.device)
    x[...] = pp.take(x + 0.0, index)


def by_a_dependency(x: pp.Array) -> None:
    gate = pp.UserEvent()
    x.queue.fill(x, 3.0, depends=[gate])
    gate.set_failed(IndexError("gate"))


FAILING: dict[str, Callable[[pp.Array], object]] = {
    "kernel that writes": lambda x: put[pp.Range(x.size)](x, 3),
    "kernel that changes": lambda x: add[pp.Range(x.size)](x, 3),
    "loop": by_loop,
    "routine": by_a_late_check,
    "dependency": by_a_dependency,
}


def refused(x: pp.Array) -> None:
    """Each read raises, whatever it is, and however often, and says what can be done."""
    for _ in range(2):
        for use in (
            lambda: pp.asnumpy(x),
            lambda: x.wait(),
            lambda: float(x.sum()),
            lambda: repr(x),
            lambda: (x * 2.0).wait(),
            lambda: pp.asnumpy(pp.sort(x)),
            lambda: x.tolist(),
            lambda: pp.asnumpy(x[-3:] + 1.0),
        ):
            with pytest.raises(IndexError) as caught:
                use()
            text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
            assert text.count("x.failure() gives") == text.count("call x.accept()") == 1
    assert isinstance(x.failure(), IndexError)


@pytest.mark.parametrize("size", [6, 200_000])
@pytest.mark.parametrize("how", FAILING)
def test_elements_fail_with_the_work_that_was_to_write_them(device: str, how: str, size: int) -> None:
    whole = pp.zeros((3, size), device=device)
    FAILING[how](whole[1])  # no exception at the call, whatever the size
    refused(whole[1])
    refused(whole[:, 2])
    for k in (0, 2):  # bystanders
        assert whole[k].failure() is None
        assert float(whole[k].sum()) == 0
    double_of = whole * 2.0
    assert isinstance(double_of[1].failure(), IndexError)
    whole[1, : size // 2] = 4.0
    assert float(whole[1, : size // 2].sum()) == 4.0 * (size // 2)
    refused(whole[1])
    whole.queue.fill(whole[1, size // 2 :], 4.0)
    assert whole.failure() is None
    assert float(whole.sum()) == 4.0 * size
    FAILING[how](whole[1])
    assert whole.accept() is whole
    assert whole.failure() is None
    assert pp.asnumpy(whole)[0].sum() == 0


def test_strided_views_fail_and_are_mended_exactly(device: str) -> None:
    x = pp.zeros((6, 6), device=device)
    add[pp.Range(3)](x[::2, 1], 1)
    assert isinstance(x[:, 1].failure(), IndexError)
    assert x[1::2, 1].failure() is None
    assert x[:, 0].failure() is None
    assert x[:, 2:].failure() is None
    x[::2, 1] = 1.0
    assert x.failure() is None
    assert float(x.sum()) == 3.0


def test_memory_that_was_given_back_brings_no_failure(device: str) -> None:
    for _ in range(3):
        x = pp.zeros(1000, device=device)
        put[pp.Range(1000)](x, 5)
        assert x.failure() is not None
        del x
        y = pp.empty(1000, device=device)
        assert y.failure() is None
        y[...] = 1.0
        assert float(y.sum()) == 1000.0


def test_values_computed_with_failed_ones_are_spared(device: str) -> None:
    x, y = pp.zeros(8, device=device), pp.ones(8, device=device)
    put[pp.Range(8)](x, 5)
    assert x.failure() is not None
    shared = y * 2.0
    bad, good = shared + x, shared + 1.0
    with pytest.raises(IndexError):
        bad.wait()
    assert good.tolist() == [3.0] * 8
    assert shared.tolist() == [2.0] * 8


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_a_queue_raises_nothing_again_of_what_was_needed_besides(device: str, order: Any) -> None:
    queue = pp.Queue(device, order=order)
    x, y = pp.zeros(8, queue=queue), pp.zeros(8, queue=queue)
    for failed in (x, y):
        put[pp.Range(8)](failed, 5)
        with pytest.raises(IndexError):
            failed.wait()
    with pytest.raises(IndexError):  # for one of the two
        (x + y).wait()
    queue.wait()
    tasks = [queue.host_task(lambda: 1 / 0) for _ in range(2)]
    for task in tasks:
        with pytest.raises(ZeroDivisionError):
            task.wait()
    assert x.event.done()
    queue.wait()  # to ask for the event has submitted nothing
    with pytest.raises(ZeroDivisionError):
        queue.fill(pp.zeros(8, queue=queue), 1.0, depends=tasks).wait()
    queue.wait()


def test_memory_of_others_raises_once_more() -> None:
    memory = np.zeros(8)
    x = pp.asarray(memory, copy=False)
    with pytest.raises(IndexError):  # waited for: others may read it
        put[pp.Range(8)](x, 5)
    memory[:] = 2.0  # they mend it, and nobody tells
    with pytest.raises(IndexError):
        pp.asnumpy(x + 1.0)
    assert pp.asnumpy(x + 1.0).tolist() == [3.0] * 8


@pytest.mark.parametrize("write", ["indices", "out"])
def test_operations_on_memory_of_others_raise_at_the_next_one(write: str) -> None:
    memory = np.zeros(8)
    x, outside = pp.asarray(memory, copy=False), pp.asarray(np.full(8, 9))
    if write == "indices":
        x[outside] = 1.0
    else:
        pp.take(pp.zeros(8), outside, out=x)
    with pytest.raises(IndexError):
        x.wait()
    x.wait()
    assert x.tolist() == memory.tolist()


def test_a_failed_value_without_memory_cannot_be_accepted() -> None:
    x = pp.ones(HUGE)
    assert isinstance(x.failure(), MemoryError)
    with pytest.raises(MemoryError):
        x.accept()


# --- kernels and loops that write all elements make them whole


@pp.kernel
def each(item: pp.Item, x, y, by):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    x[i] = y[i + by]


@pp.kernel
def each_of_two(item: pp.NdItem, x, y, by):  # type: ignore[no-untyped-def]
    i, j = item.get_global_id(0), item.get_global_id(1)
    x[i, j] = y[i + by, j]


@pp.kernel
def each_but(item: pp.Item, x, y, by):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    if i == by:
        return
    x[i] = y[i]


@pp.kernel
def each_where(item: pp.Item, x, y, by):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    if y[i] >= 0:
        x[i] = y[i + by]


@pp.kernel
def each_moved(item: pp.Item, x, y, by):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    i = i * by
    x[i] = y[i]


@pp.kernel
def each_of_part(item: pp.Item, x, y, by):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    part = x[by:]
    part[i] = y[i + by]


@pp.jit
def each_round(x, y, by):  # type: ignore[no-untyped-def]
    for i in pp.prange(x.shape[0]):
        x[i] = y[i + by]


@pp.jit
def each_round_of_two(x, y, by):  # type: ignore[no-untyped-def]
    for i in pp.prange(x.shape[0]):
        for j in pp.prange(x.shape[1]):
            x[i, j] = y[i + by, j]


@pp.jit
def rounds_from(x, y, first, step):  # type: ignore[no-untyped-def]
    for i in pp.prange(first, 6, step):
        x[i] = y[i]


def failed(device: str, shape: tuple[int, ...]) -> pp.Array:
    x = pp.zeros(shape, device=device)
    put[pp.Range(x.size + 1)](x.reshape(-1), 1)
    assert isinstance(x.failure(), IndexError)
    return x


@pytest.mark.parametrize("size", [6, 200_000])
def test_a_kernel_that_is_mended_and_run_again_makes_its_result_whole(device: str, size: int) -> None:
    out, y = pp.zeros(size, device=device), pp.ones(size, device=device)
    each[pp.Range(size)](out, y, 1)
    refused(out)
    each[pp.Range(size)](out, y, 0)
    assert out.failure() is None
    assert float(out.sum()) == size
    event = each[pp.Range(size)](out, y, 1)
    each[pp.Range(size)](out, y, 0)  # before anybody has looked
    assert float(out.sum()) == size
    with pytest.raises(IndexError):
        event.wait()
    each[pp.Range(size)](out, y, 0)
    each[pp.Range(size)](out, y, 1)  # and the other way round
    refused(out)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_launches_over_all_places_of_an_array_make_it_whole(device: str, dtype: str) -> None:
    y, space = pp.ones((4, 4), dtype=dtype, device=device), pp.NdRange((4, 4), (2, 2))
    views: tuple[Callable[[pp.Array], pp.Array], ...] = (lambda x: x, lambda x: x.T, lambda x: x[::-1])
    for view in views:
        x = pp.zeros((4, 4), dtype=dtype, device=device)
        each_of_two[space](x, y, 1)
        assert x.failure() is not None
        each_of_two[space](view(x), y, 0)
        assert x.failure() is None
        assert x.sum().item() == 16


def test_launches_over_all_places_of_a_part_leave_the_rest_failed(device: str) -> None:
    y = pp.ones((4, 4), device=device)
    bystander = failed(device, (4, 4))
    each_of_two[pp.NdRange((2, 4), (2, 2))](bystander[1:3], y, 0)
    assert bystander[1:3].failure() is None
    assert bystander[0].failure() is not None
    assert bystander[3].failure() is not None


def test_loops_over_all_places_of_an_array_make_it_whole(device: str) -> None:
    y = pp.ones((6, 4), device=device)
    with pytest.raises(IndexError):
        each_round(x := pp.zeros(6, device=device), y[:, 0], 1)
    each_round(x, y[:, 0], 0)
    assert x.tolist() == [1.0] * 6
    with pytest.raises(IndexError):
        each_round_of_two(x := pp.zeros((6, 4), device=device), y, 1)
    each_round_of_two(x, y, 0)
    assert float(x.sum()) == 24
    x = failed(device, (6,))
    for first, step in ((1, 1), (0, 2), (5, 1)):
        rounds_from(x, y[:, 0], first, step)
        assert x.failure() is not None, (first, step)
    rounds_from(x, y[:, 0], 0, 1)
    assert x.tolist() == [1.0] * 6


@pytest.mark.parametrize(
    ("kernel", "items", "by"),
    [(each, 5, 0), (each_but, 6, 3), (each_but, 6, 9), (each_where, 6, 0), (each_moved, 6, 0), (each_moved, 6, 1), (each_of_part, 6, 0)],
)
def test_kernels_that_may_leave_elements_out_make_none_whole(device: str, kernel: Any, items: int, by: int) -> None:
    x, y = failed(device, (6,)), pp.ones(6, device=device)
    kernel[pp.Range(items)](x, y, by).wait()
    assert isinstance(x.failure(), IndexError)


def test_a_kernel_that_also_reads_the_memory_fails_with_it(device: str) -> None:
    x = failed(device, (6,))
    each[pp.Range(6)](x, x[::-1], 0)
    refused(x)


# --- failures that nobody saw


def reports(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: told.append(info.exc_value))
    return told


def fails() -> None:
    raise KeyError("of the task")


def last_report(told: list[Any], begin: Callable[[], object]) -> Any:
    """What sys.unraisablehook is given of work that `begin` hands over, and lets go of."""
    event = begin()
    pp.wait_any([event])
    del event
    for _ in range(1000):
        if told:
            return told.pop()
        time.sleep(0.001)
    raise AssertionError("nothing was told")


def test_reports_name_the_line_that_submitted(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not the line that runs when the last handle goes, which Python takes for that of an exception without a traceback."""
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: told.append((info.object, info.exc_traceback)))
    line = sys._getframe().f_lineno
    kinds: list[Callable[[], object]] = [
        lambda: put[pp.Range(8)](pp.zeros(8, device=device), 5),
        lambda: pp.Queue(device).host_task(fails),
        lambda: pp.Queue(device).host_task(print, depends=pp.UserEvent()),
    ]
    work = f"work submitted by pardo ({__file__}:{{}}) that was never waited for"
    for number, kind in enumerate(kinds):
        text, traceback = last_report(told, kind)
        assert text == work.format(line + 2 + number)
        frames = [] if traceback is None else [frame.f_code.co_name for frame, _ in walk_tb(traceback)]
        assert frames == (["fails"] if number == 1 else [])


def test_user_events_that_nothing_waits_for_go_in_silence() -> None:
    program = """
import asyncio, gc, pardo as pp
e = pp.UserEvent(); del e
e = pp.UserEvent(); f = e; del e, f
e = pp.UserEvent(); e.add_done_callback(lambda: None); del e
e = pp.UserEvent(); f = e.as_future(); del e, f
for wait in (lambda e: e.wait(0.001), lambda e: pp.wait_any([e], 0.001), lambda e: pp.wait_all([e], 0.001)):
    e = pp.UserEvent()
    try: wait(e)
    except TimeoutError: pass
    del e
list_of_itself = [pp.UserEvent()]
list_of_itself.append(list_of_itself)
del list_of_itself
gc.collect()
async def waits(): await asyncio.wait_for(awaited(pp.UserEvent()), 0.001)
async def awaited(e): await e
try: asyncio.run(waits())
except TimeoutError: pass
kept = pp.UserEvent()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_what_nobody_saw_is_reported_with_its_own_type(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = reports(monkeypatch)
    x = pp.zeros(8, device=device)
    event = put[pp.Range(8)](x, 5)
    while not event.done():
        time.sleep(0.001)
    assert not told
    del event
    del x
    pp.zeros(8, device=device).wait()
    for _ in range(1000):
        if told:
            break
        time.sleep(0.001)
    (error,) = told
    assert type(error) is IndexError
    assert "put: index" in str(error)
    assert "x[i + beyond] = 7.0" in str(error)
    told.clear()
    y = pp.zeros(8, device=device)
    put[pp.Range(8)](y, 5)
    assert y.failure() is not None  # seen
    del y
    for _ in range(20):
        time.sleep(0.001)
    assert not told


def run_script(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, check=True)


def test_at_exit_all_that_is_left_is_reported() -> None:
    done = run_script(
        """
        import pardo as pp
        def broken():
            raise KeyError("task")
        event = pp.zeros(1).queue.host_task(broken)
        while not event.done():
            pass
        print("end")
        """
    )
    assert done.stdout == "end\n"
    assert "KeyError: 'task'" in done.stderr


def test_a_task_whose_queue_is_gone_is_waited_for_through_its_event(monkeypatch: pytest.MonkeyPatch) -> None:
    told = reports(monkeypatch)

    def broken() -> None:
        raise KeyError("task")

    for _ in range(300):
        with pytest.raises(KeyError):
            pp.Queue("cpu").host_task(broken).wait()
    pp.Queue("cpu").host_task(lambda: None).wait()
    assert told == []
    event = pp.Queue("cpu").host_task(broken)
    while not event.done():
        time.sleep(0.001)
    time.sleep(0.01)
    assert told == []
    del event
    for _ in range(1000):
        if told:
            break
        time.sleep(0.001)
    assert [type(e) for e in told] == [KeyError]


@pytest.mark.parametrize("kept", [True, False])
def test_reports_count_each_kind_of_failure_once(kept: bool) -> None:
    done = run_script(
        f"""
        import pardo as pp
        events, queue = [], pp.Queue("cpu")
        for k in range(1500):
            event = pp.UserEvent()
            event.set_failed(KeyError("same" if k else "first"))
            events += [event, queue.barrier(depends=event)]
            if not {kept}:
                event.wait() if event._failure() is None else None
        """
    )
    assert done.stderr.count("KeyError: 'first'") == done.stderr.count("KeyError: 'same'") == int(kept)
    assert "more kinds" not in done.stderr


def test_cells_report_what_nobody_saw_and_show_a_failure_once() -> None:
    pytest.importorskip("IPython")
    done = run_script(
        """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        def cell(text):
            print("<cell>", flush=True)
            shell.run_cell(text, store_history=True)
        cell("import pardo as pp")
        cell("def broken():\\n    raise KeyError('task')")
        cell("e = pp.zeros(1).queue.host_task(broken)\\nwhile not e.done(): pass")
        cell("g = pp.UserEvent()\\nx = pp.zeros(3)\\nq = x.queue.fill(x, 1.0, depends=[g])")
        cell("g.set_failed(IndexError('shown'))\\nx.queue.wait()")
        cell("a = 1\\nx")
        cell("x[...] = 2.0\\nx")
        """
    )
    assert done.stderr.count("KeyError: 'task'") == 1
    out = done.stdout.split("<cell>")
    assert out[6].count(": shown") == 1
    assert "x" in out[6]
    assert "array([2., 2., 2.])" in out[7]


def test_an_exception_that_is_raised_again_begins_anew() -> None:
    """A user's exception is one object, whoever reads what has failed with it: its traceback and context are those of the last read."""
    x = pp.zeros(4, queue=pp.Queue("cpu"))
    ready = pp.UserEvent()
    x.queue.fill(x, 1.0, depends=ready)
    ready.set_failed(LookupError("of the user"))
    with contextlib.suppress(ZeroDivisionError):
        try:
            raise ZeroDivisionError
        except ZeroDivisionError:
            with pytest.raises(LookupError) as raised:
                x.tolist()
            raise
    assert type(raised.value.__context__) is ZeroDivisionError
    for _ in range(5):
        with pytest.raises(LookupError) as raised:
            x.tolist()
        traceback = raised.value.__traceback__
        assert traceback is not None
        assert traceback.tb_next is None
        assert raised.value.__context__ is None
    x.accept()
