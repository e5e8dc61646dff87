# tests/python/test_data_queues.py: data contexts: copies on queues, what the host writes meanwhile, and how messages name arrays.
import threading
import time

import pardo as pp
import pytest
from mapped import OWN, floats, image, increase
from pardo._data import tables

pytestmark = pytest.mark.once


def test_a_context_on_a_queue():
    queue, go = pp.Queue(OWN), pp.UserEvent()
    x, y = floats(4), floats(4)
    context = pp.data(tofrom=(x,), to=(y,), queue=queue, after=go)
    timer = threading.Timer(0.05, go.set_complete, (None,))
    with context as device:
        assert device == pp.Device(OWN)
        assert not context.event.done()
        timer.start()
        increase(x)  # waits for the copy
        assert context.event.done()
    assert x.tolist() == [1, 2, 3, 4]


def test_updates_on_a_queue():
    queue, go = pp.Queue(OWN), pp.UserEvent()
    x = floats(4)
    with pp.data(to=(x,), device=OWN):
        x[:] = 10
        event = pp.update_to(x[1:3], queue=queue, after=go)
        assert not event.done()
        go.set_complete(None)
        assert image(x).tolist() == [0, 10, 10, 3]
        back = pp.update_from(x, queue=queue, after=[event])
        back.wait()
        assert x.tolist() == [0, 10, 10, 3]
        assert pp.update_to(x).done()


def test_a_copy_that_fails_is_told_at_the_use():
    queue, go = pp.Queue(OWN), pp.UserEvent()
    x = floats(3)

    @pp.data(to=(x,), queue=queue, after=go)
    def block():
        go.set_failed(ValueError("no data today"))
        increase(x)

    with pytest.raises(ValueError, match="no data today"):
        block()


def test_wrong_arguments():
    x = floats(3)
    with pytest.raises(TypeError, match="after= goes with queue="):
        pp.data(to=(x,), after=pp.Event())
    with pytest.raises(TypeError, match="update_to: after= goes with queue="):
        pp.update_to(x, after=pp.Event())
    with pytest.raises(ValueError, match="queue belongs to"):
        pp.data(to=(x,), device="cpu", queue=pp.Queue(OWN))
    context = pp.data(to=(x,), device=OWN)
    with context:
        pass
    with pytest.raises(RuntimeError, match="has not entered it, or has left it already"):
        context.__exit__(None, None, None)


def test_what_the_host_writes_is_found():
    x, y = floats(3), floats(3)
    written = r"the host has written .* `y`, to\[1\] at test_data_queues.py:\d+, float32 of shape \(3,\)"
    with pytest.raises(RuntimeError, match=written), pp.data(to=(x, y), device=OWN, check=True):
        y[1] = 9
    with pp.data(tofrom=(x,), device=OWN, check=True):
        x[0] = 5
        pp.update_to(x)
        increase(x)
    assert x.tolist() == [6, 2, 3]
    with pp.data(tofrom=(x,), device="cpu", check=True):
        x[0] = 0
        increase(x)


def test_names_as_they_were_written():
    x, arrays = floats(8), (floats(2),)
    with pp.data(tofrom=(x[2:6], arrays[0]), device=OWN):
        with pytest.raises(ValueError, match=r"`x\[1:2 \+ 2\]`, argument\[0\] at test_data_queues.py:\d+, .* is not present"):
            pp.update_to(x[1 : 2 + 2], device=OWN)
        with pytest.raises(ValueError, match=r"`x`, to\[0\] at .*, would extend what is mapped: `x\[2:6\]`, tofrom\[0\] at"):
            pp.enter_data((x,), device=OWN)
    with pytest.raises(ValueError, match=r"exit_data: `arrays\[0\]`, from_\[0\] at .* is not present on null:1"):
        pp.exit_data(from_=arrays, device=OWN)


def test_memory_that_does_not_fit(monkeypatch):
    x, y = floats(3), floats(4)
    monkeypatch.setattr("pardo._core._empty", _no_memory)
    monkeypatch.setattr("pardo._core._copy_buffer", _no_memory)
    message = r"`y`, to\[0\] at .*, needs 16 bytes on null:1: none is left\. Present there: nothing"
    with pytest.raises(MemoryError, match=message), pp.data(to=(y, x), device=OWN):
        pass


def _no_memory(*_):
    raise MemoryError("none is left")


def test_threads_wait_for_one_copy_together():
    queue, go = pp.Queue(OWN), pp.UserEvent()
    x, failures = floats(4), []

    def use():
        try:
            assert image(x).tolist() == [0, 1, 2, 3]
        except BaseException as error:
            failures.append(error)

    with pp.data(to=(x,), queue=queue, after=go):
        threads = [threading.Thread(target=use) for _ in range(4)]
        for t in threads:
            t.start()
        go.set_complete(None)
        for t in threads:
            t.join()
    assert failures == []


def test_other_threads_find_no_array_whose_copy_is_still_to_be_submitted(monkeypatch):
    found, x = [], floats(4)
    put = tables.Table.put

    def seen(table, entries):
        put(table, entries)
        found.extend(entry.ready for entry in table.entries)

    monkeypatch.setattr(tables.Table, "put", seen)
    with pp.data(to=(x,), queue=pp.Queue(OWN)):
        assert found == [False]
        assert image(x).tolist() == [0, 1, 2, 3]


def test_queues_that_are_gone_leave_nothing_behind():
    x = floats(4)
    for _ in range(3):
        with pp.data(tofrom=(x,), queue=pp.Queue(OWN)):
            pass
    end = time.monotonic() + 10
    while tables._workers and time.monotonic() < end:  # the last one goes when its task has ended
        time.sleep(0.001)
    assert not tables._workers
