# tests/python/test_shared_orders.py: orders on memory that others share, behind a UserEvent that this thread sets later.
from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal

SIZE = 8


class BrokenError(Exception):
    """What a user event fails with."""


@pp.kernel
def put(item: pp.Item, x, value):
    x[item.get_id(0)] = value


@pp.kernel
def says(item: pp.Item, x, value):
    i = item.get_id(0)
    if i == 0:
        print("", end="")
    x[i] = value


@pp.kernel
def put_checked(item: pp.Item, x, at, value):
    x[at[item.get_id(0)]] = value


TEXT = {
    "opencl": "__kernel void put(__global float* x, float value) { x[get_global_id(0)] = value; }",
    "cuda": 'extern "C" __global__ void put(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }',
}


def by_text(queue, x, gate):
    """A raw program; on devices that compile none, a kernel."""
    if queue.device.backend not in TEXT:
        return put[pp.Range(SIZE), None, gate](x, 1.0)
    return pp.Program(queue.device, TEXT[queue.device.backend]).put[pp.Range(SIZE), None, gate](x, np.float32(1.0))


def numbers(queue, dtype="float32"):
    return pp.arange(SIZE, dtype=dtype, queue=queue)


# What is ordered, which gives an event, and what it leaves in the shared memory, which held zeros.
ORDERS = {
    "fill": (lambda q, x, g: q.fill(x, 1, depends=g), np.ones(SIZE)),
    "strided fill": (lambda q, x, g: q.fill(x[::2], 1, depends=g), np.arange(SIZE) % 2 == 0),
    "copy into it": (lambda q, x, g: q.copy(x, numbers(q), depends=g), np.arange(SIZE)),
    "copy of it": (lambda q, x, g: q.copy(numbers(q), x, depends=g), np.zeros(SIZE)),
    "copy of NumPy's": (lambda q, x, g: q.copy(x, np.arange(SIZE, dtype="f4"), depends=g), np.arange(SIZE)),
    "copy inside of it": (lambda q, x, g: q.copy(x[1:], x[:-1], depends=g), np.zeros(SIZE)),
    "region": (lambda q, x, g: q.copy_rect(x, numbers(q), region=(16, 2), depends=g), np.arange(SIZE)),
    "prefetch": (lambda q, x, g: q.prefetch(x, depends=g), np.zeros(SIZE)),
    "kernel": (lambda q, x, g: put[pp.Range(SIZE), None, g](x, 1), np.ones(SIZE)),
    "kernel that prints": (lambda q, x, g: says[pp.Range(SIZE), None, g](x, 1), np.ones(SIZE)),
    "kernel with a check": (lambda q, x, g: put_checked[pp.Range(SIZE), None, g](x, numbers(q, "int64"), 1), np.ones(SIZE)),
    "raw program": (by_text, np.ones(SIZE)),
    "host task": (lambda q, x, g: q.host_task(lambda: None, depends=[g, x]), np.zeros(SIZE)),
    "barrier": (lambda q, x, g: q.barrier(depends=[g, x]), np.zeros(SIZE)),
    "behind a host task": (lambda q, x, g: q.fill(x, 1, depends=q.host_task(lambda: None, depends=g)), np.ones(SIZE)),
    "behind an order": (lambda q, x, g: (q.fill(x, 3, depends=g), put[pp.Range(SIZE)](x, 1))[1], np.ones(SIZE)),
}


@pytest.fixture(params=[(d, order) for d in DEVICES for order in ("in_order", "out_of_order")], ids=lambda p: f"{p[0]}-{p[1]}")
def queue(request: pytest.FixtureRequest) -> pp.Queue:
    device, order = request.param
    made = pp.Queue(device, order=order)
    try:
        pp.asarray(np.zeros(SIZE, "float32"), copy=False, queue=made)
    except ValueError as e:
        pytest.skip(str(e))
    return made


@pytest.fixture
def gate() -> Iterator[pp.UserEvent]:
    """Set after a while by another thread, so that a call that waits for it fails the test and does not hang."""
    event = pp.UserEvent()

    def rescue() -> None:
        if not event.done():
            event.set_complete()

    timer = threading.Timer(20, rescue)
    timer.daemon = True
    timer.start()
    yield event
    timer.cancel()


@pytest.mark.parametrize("name", ORDERS)
def test_orders_do_not_wait_for_user_events(queue, gate, name):
    order, expected = ORDERS[name]
    host = np.zeros(SIZE, "float32")
    event = order(queue, pp.asarray(host, copy=False, queue=queue), gate)
    assert not gate.done()
    assert not event.done()
    assert_array_equal(host, 0)
    gate.set_complete()
    event.wait()
    assert_array_equal(host, expected)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("name", ORDERS)
def test_memory_of_our_own(device, gate, name):
    order, expected = ORDERS[name]
    queue = pp.Queue(device)
    x = pp.zeros(SIZE, dtype="float32", queue=queue)
    event = order(queue, x, gate)
    assert not gate.done()
    assert not event.done()
    gate.set_complete()
    event.wait()
    if name != "copy of it":
        assert_array_equal(pp.asnumpy(x), expected)


@pytest.mark.parametrize("device", [d for d in DEVICES if d.backend == "opencl"], ids=str)
def test_where_the_host_sees_no_memory(device):
    """What kernels print, and their checks, are copied to the host."""
    code = f"""
        import pardo as pp, pytest
        from test_shared_orders import put_checked, says
        queue = pp.Queue({device.id!r})
        x, at = pp.zeros(8, queue=queue), pp.arange(8, dtype="int64", queue=queue)
        for by in (0, 1):
            for kernel, *arguments in ((says, x, 1), (put_checked, x, at + by, 1)):
                gate = pp.UserEvent()
                event = kernel[pp.Range(8), None, gate](*arguments)
                assert not event.done()
                gate.set_complete()
                if by and kernel is put_checked:
                    with pytest.raises(IndexError, match="put_checked: index 8 is out of bounds"):
                        event.wait()
                    with pytest.raises(IndexError, match="put_checked: index 8 is out of bounds"):
                        x.wait()
                else:
                    event.wait()
        print("ends")
        """
    environment = {**os.environ, "PARDO_OPENCL_MEMORY": "buffer", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=100, env=environment, check=False
    )
    assert done.stdout == "ends\n", done.stderr


@pp.kernel(bounds_check=True)
def says_and_puts(item: pp.Item, x, at, value):
    if item.get_id(0) == 0:
        print("here")
    x[at[item.get_id(0)]] = value


@pp.kernel
def turns(item: pp.Item, y, n):
    s = y[0]
    for k in range(n):
        s = s * 0.5 + k
    y[0] = s


@pytest.mark.parametrize("device", [d for d in DEVICES if d.backend == "opencl"], ids=str)
def test_checks_are_read_where_a_wait_for_them_ends_or_may_not_be(device):
    """The call waits there: a Ctrl-C ends that, and host tasks of the same queue must not wait."""
    code = f"""
        import os, signal, threading, pardo as pp, pytest
        from test_shared_orders import put_checked, says_and_puts, turns
        queue = pp.Queue({device.id!r})
        y = pp.zeros(1, queue=queue)
        turns[1, queue](y, 1).wait()
        at = pp.arange(8, dtype="int64", queue=queue) + 1

        def fails(x):
            for _ in range(2):
                with pytest.raises(IndexError, match="index 8 is out of bounds"):
                    pp.asnumpy(x)

        for kernel in (put_checked, says_and_puts):
            x = pp.zeros(8, queue=queue)
            x.wait()
            queue.host_task(lambda: kernel[8, queue](x, at, 1)).wait()
            fails(x)

            x = pp.zeros(8, queue=queue)
            x.wait()
            stopped, before = threading.Event(), None

            def interrupt():
                while not stopped.wait(0.02):
                    os.kill(os.getpid(), signal.SIGINT)

            def handler(*_):
                if before is not None and pp.counters()["launched"] > before and not stopped.is_set():
                    stopped.set()
                    raise KeyboardInterrupt

            signal.signal(signal.SIGINT, handler)
            turns[1, queue](y, 5 * 10**8)  # most of a second, which the call waits for
            before = pp.counters()["launched"]
            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                kernel[8, queue](x, at, 1)
            thread.join()
            fails(x)
        """
    environment = {**os.environ, "PARDO_OPENCL_MEMORY": "buffer", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=100, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["fill", "copy into it", "kernel"])
def test_views_of_numpys_over_our_memory(gate, name):
    order, expected = ORDERS[name]
    queue = pp.Queue("cpu")
    x = pp.zeros(SIZE, dtype="float32", queue=queue)
    seen = np.asarray(x)
    event = order(queue, x, gate)
    assert not gate.done()
    gate.set_complete()
    event.wait()
    assert_array_equal(seen, expected)


def test_failure_is_raised_by_the_event_and_by_the_next_reader(queue, gate):
    host = np.zeros(SIZE, "float32")
    x = pp.asarray(host, copy=False, queue=queue)
    event = queue.fill(x, 1, depends=gate)
    gate.set_failed(BrokenError("no"))
    with pytest.raises(BrokenError):
        event.wait()
    with pytest.raises(BrokenError):
        pp.asnumpy(x + 1)
    assert_array_equal(pp.asnumpy(x + 1), 1)
    assert_array_equal(host, 0)


def test_memory_lives_as_long_as_the_order(queue, gate):
    host = np.zeros(SIZE, "float32")
    seen = weakref.ref(host)
    event = queue.fill(pp.asarray(host, copy=False, queue=queue), 1, depends=gate)
    del host
    gc.collect()
    assert seen() is not None
    gate.set_complete()
    event.wait()
    for _ in range(1000):  # the memory is given back on the helper thread
        if seen() is None:
            break
        pp.Queue("cpu").host_task(lambda: None).wait()
    assert seen() is None


def test_without_a_user_event_all_is_over(queue):
    host = np.zeros(SIZE, "float32")
    x = pp.asarray(host, copy=False, queue=queue)
    queue.fill(x, 1, depends=queue.host_task(lambda: None))
    assert_array_equal(host, 1)
    put[pp.Range(SIZE), None, queue.host_task(lambda: None)](x, 2)
    assert_array_equal(host, 2)
