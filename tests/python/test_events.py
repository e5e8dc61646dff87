# tests/python/test_events.py: waiting with a limit, for the first of several, futures, user events; failures are raised once, never lost.
from __future__ import annotations

import concurrent.futures
import gc
import threading
import weakref

import groups
import numpy as np
import pardo as pp
import pytest

DEVICES = ["cpu", "null"]
PLACES = [d.id for d in groups.DEVICES]


@pytest.fixture(params=DEVICES)
def queue(request):
    return pp.Queue(request.param)


def held(queue):
    """A user event, and an event of the queue that waits for it."""
    gate = pp.UserEvent()
    return gate, queue.barrier(depends=gate)


def test_wait_with_a_limit(queue):
    gate, event = held(queue)
    with pytest.raises(TimeoutError, match="goes on"):
        event.wait(timeout=0)
    with pytest.raises(TimeoutError, match=r"Queue\.wait"):
        queue.wait(timeout=0.01)
    assert not event.done()
    assert event.status in ("queued", "running")
    gate.set_complete()
    event.wait(timeout=10)
    queue.wait()
    assert event.status == "complete"
    assert event.wait(1e300) is None
    for wrong, error in (("soon", TypeError), (float("nan"), ValueError)):
        with pytest.raises(error, match="timeout"):
            event.wait(wrong)
    event.wait(-1)


def test_user_event_is_set_once():
    event = pp.UserEvent()
    assert not event.done()
    event.set_complete(3)
    assert event.done()
    with pytest.raises(ValueError, match="only once"):
        event.set_complete()
    with pytest.raises(ValueError, match="only once"):
        event.set_failed(KeyError("x"))
    with pytest.raises(TypeError, match="exception"):
        pp.UserEvent().set_failed("no exception")
    assert event.as_future().result() == 3
    assert isinstance(event, pp.Event)


def test_failure_of_a_user_event_reaches_what_waits(queue):
    gate, event = held(queue)
    mine = KeyError("mine")
    gate.set_failed(mine)
    with pytest.raises(KeyError, match="mine") as caught:
        event.wait()
    assert caught.value is mine
    assert any(f"{__file__}:" in note for note in caught.value.__notes__)
    event.wait()  # once
    gate.wait()
    queue.wait()


# Orders that need an event, which they are given.
NEEDY = {
    "barrier": lambda x, e: x.queue.barrier(depends=e),
    "copy": lambda x, e: x.queue.copy(x, pp.ones(8, queue=x.queue), depends=e),
    "empty copy": lambda x, e: x.queue.copy(x[:0], x[:0], depends=e),
    "empty fill": lambda x, e: x.queue.fill(x[:0], 1, depends=e),
    "fill": lambda x, e: x.queue.fill(x, 1, depends=e),
    "host task": lambda x, e: x.queue.host_task(lambda: None, depends=e),
    "kernel": lambda x, e: put[pp.Range(8), None, e](x),
    "prefetch": lambda x, e: x.queue.prefetch(x, depends=e),
    "strided fill": lambda x, e: x.queue.fill(x[::2], 1, depends=e),
    "submit": lambda x, e: x.queue.submit(x * 2, depends=e),
    "submit all": lambda x, e: x.queue.submit(depends=e),
}


@pp.kernel
def put(item: pp.Item, x):
    x[item.get_id(0)] = 1.0


def seen_failure():
    event = pp.UserEvent()
    event.set_failed(KeyError("mine"))
    with pytest.raises(KeyError):
        event.wait()
    event.wait()
    return event


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
@pytest.mark.parametrize("name", NEEDY)
def test_work_that_needs_a_failure_that_was_seen_raises(device, order, name):
    x = pp.zeros(8, queue=pp.Queue(device, order=order))
    event = NEEDY[name](x, seen_failure())
    with pytest.raises(KeyError, match="mine"):
        event.wait()
    event.wait()  # once
    x.queue.wait()
    NEEDY[name](x, seen_failure())
    with pytest.raises(KeyError, match="mine"):
        x.queue.wait()
    x.queue.wait()
    with pytest.raises(KeyError, match="mine"):
        NEEDY[name](x, seen_failure()).as_future().result()


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_each_event_that_did_not_run_raises(device, order):
    queue = pp.Queue(device, order=order)
    x, gate = pp.zeros(8, queue=queue), pp.UserEvent()
    first = queue.fill(x, 1, depends=gate)
    second = queue.host_task(lambda: None, depends=first)
    gate.set_failed(KeyError("mine"))
    for event in (gate, first, second):
        with pytest.raises(KeyError, match="mine"):
            event.wait()
        event.wait()  # once
    queue.wait()  # what was to be said has been said
    with pytest.raises(KeyError, match="mine"):
        x.tolist()


def test_dropped_user_event_fails_what_waits(queue):
    gate, event = held(queue)
    del gate
    gc.collect()
    with pytest.raises(pp.DeviceError, match="dropped before it was set"):
        event.wait(10)


def test_failure_is_given_to_everyone_who_asks_a_future():
    event = pp.UserEvent()
    first, second = event.as_future(), event.as_future()
    event.set_failed(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        first.result(10)
    assert isinstance(second.exception(10), ValueError)
    with pytest.raises(ValueError, match="no"):
        event.as_future().result()
    event.wait()  # asking the future has acknowledged it


def test_failure_that_nobody_asked_the_future_for_is_still_raised():
    event = pp.UserEvent()
    future = event.as_future()
    event.set_failed(ValueError("no"))
    concurrent.futures.wait([future], timeout=10)
    with pytest.raises(ValueError, match="no"):
        event.wait()


def test_future_of_what_is_done():
    future = pp.Event().as_future()
    assert isinstance(future, concurrent.futures.Future)
    assert future.done()
    assert future.result(0) is None


def test_cancelled_future_leaves_the_event():
    event = pp.UserEvent()
    future, other = event.as_future(), event.as_future()
    assert future.cancel()
    event.set_complete("value")
    assert other.result(10) == "value"
    with pytest.raises(concurrent.futures.CancelledError):
        future.result(0)
    assert event.done()


def test_futures_work_with_the_standard_library():
    events = [pp.UserEvent() for _ in range(3)]
    futures = [e.as_future() for e in events]
    for i in (2, 0, 1):
        events[i].set_complete(i)
    assert {f.result() for f in concurrent.futures.as_completed(futures, timeout=10)} == {0, 1, 2}


def test_future_of_an_array():
    x = pp.asarray(np.arange(1000.0)) * 2
    assert x.as_future().result(10) is x
    assert float(x[3]) == 6
    with pytest.raises(MemoryError):
        (pp.zeros((1 << 20, 1 << 20)) + pp.asarray(np.ones(1 << 20))).as_future().result(10)


def test_waiting_for_a_future_in_a_callback_is_refused():
    gate, caught, over = pp.UserEvent(), [], threading.Event()
    done = pp.UserEvent()

    def callback():
        try:
            gate.as_future().result()
        except BaseException as e:
            caught.append(e)
        over.set()

    done.add_done_callback(callback)
    done.set_complete()
    assert over.wait(10)
    assert isinstance(caught[0], RuntimeError)
    assert "done-callback" in str(caught[0])
    gate.set_complete()


def test_waiting_for_work_in_a_callback():
    """The CPU's work needs no callback to go on, so waiting for it there is no deadlock."""
    got, over = [], threading.Event()
    x = pp.asarray(np.ones(1_000_000))

    def callback():
        got.append(float((x * 2).sum()))
        over.set()

    done = pp.UserEvent()
    done.add_done_callback(callback)
    done.set_complete()
    assert over.wait(10)
    assert got == [2e6]


def test_exception_in_a_callback_is_reported(monkeypatch):
    import sys

    told, over = [], threading.Event()
    monkeypatch.setattr(sys, "unraisablehook", lambda info: (told.append(info.exc_value), over.set()))
    pp.Event().add_done_callback(lambda: 1 / 0)
    assert over.wait(10)
    assert isinstance(told[0], ZeroDivisionError)


def test_wait_any():
    events = [pp.UserEvent() for _ in range(3)]
    with pytest.raises(TimeoutError, match="none of 3"):
        pp.wait_any(events, timeout=0.01)
    events[1].set_complete()
    assert pp.wait_any(events) is events[1]
    threading.Timer(0.0, events[0].set_failed, [ValueError("late")]).start()
    assert pp.wait_any([events[2], events[0]], timeout=10) is events[0]
    with pytest.raises(ValueError, match="late"):
        events[0].wait()
    with pytest.raises(ValueError, match="no events"):
        pp.wait_any([])
    with pytest.raises(TypeError, match="wait_any"):
        pp.wait_any([3])
    events[2].set_complete()


def test_wait_any_and_all_take_arrays():
    x = pp.asarray(np.arange(10.0)) + 1
    y = pp.asarray(np.arange(10.0)) + 2
    first = pp.wait_any([x, y])
    assert first is x or first is y
    pp.wait_all([x, y, pp.Event()], timeout=10)
    assert not x.pending
    assert not y.pending


def test_wait_all():
    events = [pp.UserEvent() for _ in range(3)]
    events[0].set_complete()
    with pytest.raises(TimeoutError, match="2 of 3"):
        pp.wait_all(events, timeout=0.01)
    events[1].set_failed(ValueError("one"))
    events[2].set_failed(ValueError("two"))
    with pytest.raises(ValueError, match="one"):
        pp.wait_all(events)
    with pytest.raises(ValueError, match="two"):
        pp.wait_all(events)
    pp.wait_all(events)
    pp.wait_all([])


def test_as_completed():
    events = [pp.UserEvent() for _ in range(4)]
    order = [2, 0, 3, 1]
    seen = []
    events[order[0]].set_complete()
    for k, event in enumerate(pp.as_completed(events, timeout=10)):
        seen.append(next(i for i, e in enumerate(events) if e is event))
        if k + 1 < len(order):
            events[order[k + 1]].set_complete()
    assert seen == order
    rest = pp.as_completed([pp.Event(), pp.UserEvent()], timeout=0.01)
    assert next(rest).done()
    with pytest.raises(TimeoutError, match="1 of 2"):
        next(rest)
    assert list(pp.as_completed([])) == []


def test_waiting_leaves_nothing_behind():
    """A wait that has timed out takes its callback back."""
    event = pp.UserEvent()
    other = pp.UserEvent()

    class Marker:
        def __call__(self):
            pass

    marker = Marker()
    alive = weakref.ref(marker)
    token = event._notify(marker, None)
    del marker
    assert event._forget(token)
    assert not event._forget(token)
    for _ in range(5):
        with pytest.raises(TimeoutError):
            pp.wait_any([event, other], timeout=0)
    for _ in range(100):
        if alive() is None:
            break
        pp.Event().wait()
    assert alive() is None
    event.set_complete()
    other.set_complete()


def test_event_outlives_its_queue():
    queue = pp.Queue("cpu")
    gate = pp.UserEvent()
    event = queue.barrier(depends=gate)
    del queue
    gc.collect()
    assert not event.done()
    gate.set_complete()
    event.wait(10)


def test_depends_takes_events_and_arrays(queue):
    x = pp.ones(10, queue=queue) + 1
    for depends in (None, pp.Event(), x, [pp.Event(), x], (pp.UserEvent(),)[:0], iter([x])):
        queue.barrier(depends=depends).wait(10)
    with pytest.raises(TypeError, match=r"Queue\.barrier.*int"):
        queue.barrier(depends=3)
    with pytest.raises(TypeError, match=r"Queue\.barrier.*str"):
        queue.barrier(depends=["x"])


@pytest.mark.parametrize("wait", [pp.wait_any, pp.wait_all, pp.as_completed])
@pytest.mark.parametrize("what", [3, None])
def test_waiting_for_what_is_no_list(wait, what):
    with pytest.raises(TypeError, match=rf"^{wait.__name__}: a list of events and arrays is expected, not {type(what).__name__}"):
        wait(what)
