# tests/python/test_queues.py: copies, fills, boxes, barriers, host tasks, contexts and timers, on queues of every device and order.
from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pardo as pp
import pytest
from support import DTYPES, check, samples


@pytest.fixture(params=["in_order", "out_of_order"])
def queue(request):
    return pp.Queue("cpu", order=request.param)


@pytest.fixture(params=["cpu", "null"])
def any_queue(request):
    return pp.Queue(request.param)


def _fail_in_block(queue):
    with queue:
        queue.host_task(lambda: 1 / 0)
        raise KeyError


def test_context_manager():
    with pp.Queue("cpu") as queue:
        x = (pp.asarray(np.ones(1_000_000), queue=queue) + 1).force()
    assert x.event.done()
    with pytest.raises(ZeroDivisionError), pp.Queue("cpu") as queue:
        queue.host_task(lambda: 1 / 0)
    queue = pp.Queue("cpu")
    with pytest.raises(KeyError):
        _fail_in_block(queue)
    with pytest.raises(ZeroDivisionError):
        queue.wait()


@pytest.mark.parametrize("dtype", DTYPES)
def test_copy_and_fill_of_every_dtype(any_queue, dtype, rng):
    values = samples(dtype, (5, 7), rng)
    source = pp.asarray(values, queue=any_queue)
    target = pp.empty((5, 7), dtype, queue=any_queue)
    any_queue.copy(target, source).wait()
    check(target, values)
    value = values[2, 3].item()
    any_queue.fill(target, value).wait()
    check(target, np.full((5, 7), value, dtype))


VIEWS = {
    "row": (slice(2, 3), slice(None), slice(None)),
    "inner": (slice(None), slice(None), slice(1, 4)),
    "step": (slice(None), slice(None), slice(None, None, 2)),
    "reversed": (slice(None, None, -1), slice(None), slice(None)),
    "all reversed": (slice(None, None, -1), slice(None, None, -2), slice(None, None, -1)),
    "middle": (slice(None), slice(1, 3), slice(None)),
    "point": (2, 1, 3),
    "empty": (slice(0, 0), slice(None), slice(None)),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_copies_of_strided_arrays(any_queue, view):
    values = np.arange(4 * 5 * 6.0).reshape(4, 5, 6)
    source = pp.asarray(values, queue=any_queue)
    if any_queue.device.backend != "null" or values[view].ndim:  # x[i, j, k] is a kernel, and the null device computes nothing
        plain = pp.empty(values[view].shape, queue=any_queue)
        any_queue.copy(plain, source[view])
        check(plain, np.asarray(values[view]))
    target = pp.asarray(-values, queue=any_queue)
    expected = -values
    expected[view] = values[view]
    place = view if values[view].ndim else tuple(slice(i, i + 1) for i in view)  # x[i, j, k] is a value, not a place
    any_queue.copy(target[place], source[place])
    check(target, expected)
    if values[view].ndim:
        any_queue.fill(target[view], 9)
        expected[view] = 9
        check(target, expected)


def test_copies_of_five_dimensions(any_queue, rng):
    values = rng.random((3, 4, 5, 6, 7))
    source = pp.asarray(values, queue=any_queue)
    view = (slice(1, 3), slice(None, None, 2), slice(1, 4), slice(2, 5), slice(1, 6))
    target = pp.empty(values[view].shape, queue=any_queue)
    any_queue.copy(target, source[view])
    check(target, values[view])


def test_copy_computes_what_is_pending(queue):
    x = pp.asarray(np.arange(1000.0), queue=queue) * 2
    before = pp.asarray(np.zeros(1000), queue=queue)
    reader = before + 1
    queue.copy(before, x)
    check(reader, np.ones(1000))
    check(before, np.arange(1000.0) * 2)


def test_overlapping_copy(queue):
    x = pp.asarray(np.arange(1000.0), queue=queue)
    queue.copy(x[1:], x[:-1])
    check(x, np.concatenate([[0], np.arange(999.0)]))


def test_copy_between_queues_and_devices():
    a, b = pp.Queue("cpu"), pp.Queue("null")
    x = pp.asarray(np.arange(100.0), queue=a)
    y = pp.empty(100, queue=b)
    z = pp.empty(100, queue=a)
    b.copy(y, x).wait()
    a.copy(z, y).wait()
    check(z, np.arange(100.0))
    with pytest.raises(pp.ExecutionPlacementError, match=r"Queue\.copy"):
        pp.Queue("null").copy(x, z)


def test_copies_of_the_hosts_memory(any_queue):
    host = np.arange(12.0).reshape(3, 4)
    x = pp.empty((3, 4), queue=any_queue)
    event = any_queue.copy(x, host)
    host[:] = 0  # the host's memory is read when copy returns
    event.wait()
    check(x, np.arange(12.0).reshape(3, 4))
    back = np.zeros((4, 3)).T
    any_queue.copy(back, x)
    np.testing.assert_array_equal(back, np.arange(12.0).reshape(3, 4))
    raw = bytearray(96)
    any_queue.copy_rect(raw, x, region=(96, 1))
    assert bytes(raw) == np.arange(12.0).tobytes()
    with pytest.raises(ValueError, match="read-only"):
        any_queue.copy(b"12345678", pp.zeros(8, "uint8", queue=any_queue))


def test_wrong_copies(any_queue):
    x = pp.zeros((2, 3), queue=any_queue)
    for dst, src, error, match in (
        (x, pp.zeros((2, 3), "float32", queue=any_queue), TypeError, "float32"),
        (x, pp.zeros((3, 2), queue=any_queue), ValueError, "shape"),
        (x, [1, 2], TypeError, "list"),
        (3, x, TypeError, "int"),
        (pp.broadcast_to(x, (4, 2, 3)), pp.zeros((4, 2, 3), queue=any_queue), ValueError, "read-only"),
    ):
        with pytest.raises(error, match=match):
            any_queue.copy(dst, src)
    x = pp.zeros(3, "uint8", queue=any_queue)
    for value, error in (("x", TypeError), (300, OverflowError), (1j, TypeError), (3 + 2j, TypeError), (np.complex64(1), TypeError)):
        with pytest.raises(error, match=r"Queue\.fill"):
            any_queue.fill(x, value)
    for value, error in ((np.nan, ValueError), (1e30, OverflowError), (1j, TypeError)):  # as x[...] = value
        with pytest.raises(error, match=r"Queue\.fill"):
            any_queue.fill(x, value)
        with pytest.raises(error):
            x[...] = value
    any_queue.fill(x, np.int64(301)).wait()
    assert x.tolist() == [45] * 3
    with pytest.raises(pp.ExecutionPlacementError, match=r"Queue\.fill"):
        any_queue.fill(pp.zeros(3, device="null" if any_queue.device.id == "cpu:0" else "cpu"), 0)
    with pytest.raises(TypeError, match=r"Queue\.prefetch"):
        any_queue.prefetch(3)


def test_rectangles(any_queue):
    host = np.arange(8 * 10, dtype=np.uint8).reshape(8, 10)
    x = pp.asarray(host, queue=any_queue)
    y = pp.asarray(np.zeros((5, 6), np.uint8), queue=any_queue)
    any_queue.copy_rect(y, x, region=(3, 4), dst_origin=(2, 1), src_origin=(5, 3), dst_pitches=(6,), src_pitches=(10,)).wait()
    expected = np.zeros((5, 6), np.uint8)
    expected[1:5, 2:5] = host[3:7, 5:8]
    check(y, expected)


def test_boxes(any_queue):
    host = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)
    x = pp.asarray(host, queue=any_queue)
    y = pp.asarray(np.zeros((3, 4, 5), np.float32), queue=any_queue)
    any_queue.copy_rect(
        y, x, region=(8, 3, 2), dst_origin=(4, 1, 1), src_origin=(12, 2, 1), dst_pitches=(20, 80), src_pitches=(24, 120)
    ).wait()
    expected = np.zeros((3, 4, 5), np.float32)
    expected[1:3, 1:4, 1:3] = host[1:3, 2:5, 3:5]
    check(y, expected)
    packed = np.zeros(12, np.float32)
    any_queue.copy_rect(packed, x, region=(8, 3, 2), src_origin=(12, 2, 1), src_pitches=(24, 120))
    np.testing.assert_array_equal(packed.reshape(2, 3, 2), host[1:3, 2:5, 3:5])
    any_queue.copy_rect(packed, x, region=(0, 3, 2)).wait()


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"region": (4, 4)}, ValueError, "beyond"),
        ({"region": (4, 2), "src_origin": (0, 3), "src_pitches": (4,)}, ValueError, "src: the region reaches beyond"),
        ({"region": (4, 2), "dst_origin": (-1, 0)}, ValueError, "negative"),
        ({"region": (-4, 2)}, ValueError, "region"),
        ({"region": (4, 2), "dst_pitches": (3,)}, ValueError, "dst_pitches"),
        ({"region": (4, 2, 2), "dst_pitches": (4, 7)}, ValueError, "planes"),
        ({"region": (4,)}, ValueError, "region has 1"),
        ({"region": (2**62, 2**62, 2**62)}, ValueError, "beyond"),
        ({"region": (4, 1, 1), "src_origin": (0, 1, 0), "src_pitches": (-4096, 0)}, ValueError, "src_pitches: -4096 is negative"),
        ({"region": (4, 1, 1), "dst_origin": (0, 1, 0), "dst_pitches": (-(1 << 40), 0)}, ValueError, "dst_pitches"),
        ({"region": (4, 1, 1), "dst_origin": (0, 0, 1), "dst_pitches": (0, -4)}, ValueError, "dst_pitches"),
        ({"region": (4, 2, 1), "src_pitches": (2**62,)}, ValueError, "beyond"),
        ({"region": (4, 1, 2), "src_pitches": (4, 2**62)}, ValueError, "beyond"),
        ({"region": (4, 1, 1), "src_origin": (0, 2**62, 0), "src_pitches": (2**62,)}, ValueError, "beyond"),
        ({"region": (4, 1, 1), "src_origin": (2**63 - 1, 2**63 - 1, 2**63 - 1)}, ValueError, "beyond"),
        ({"region": (4, 1, 1), "src_origin": (0, 0, 2**62), "src_pitches": (2**61, 2**62)}, ValueError, "beyond"),
        ({"region": (2**63, 1, 1)}, (ValueError, TypeError, OverflowError), None),
        ({"region": (4.5, 2)}, TypeError, "region"),
        ({"region": 4}, TypeError, "sequence"),
    ],
)
def test_wrong_rectangles(any_queue, arguments, error, match):
    x, y = pp.zeros(15, "uint8", queue=any_queue), pp.zeros(12, "uint8", queue=any_queue)
    with pytest.raises(error, match=match):
        any_queue.copy_rect(y, x, **arguments)
    with pytest.raises(ValueError, match="overlap"):
        any_queue.copy_rect(x, x, region=(4, 1), dst_origin=(2, 0))
    with pytest.raises(ValueError, match="contiguous"):
        any_queue.copy_rect(y, x[::2], region=(4, 1))


def test_rectangles_touch_nothing_else(queue):
    """Every small box against NumPy's, in a frame that must not change; what is refused has touched nothing."""
    rng = np.random.default_rng(5)
    for _ in range(400):
        source = rng.integers(0, 255, 60).astype(np.uint8)
        x, frame = pp.asarray(source, queue=queue), pp.asarray(np.full(100, 77, np.uint8), queue=queue)
        y = frame[20:80]
        region = rng.integers(0, 6, 3).tolist()
        origins = rng.integers(-1, 5, (2, 3)).tolist()
        pitches = [rng.choice([-8, 0, 3, 4, 6, 9, 20], 2).tolist() for _ in range(2)]
        expected = np.full(100, 77, np.uint8)

        def rows(origin, given, region=region):
            row = given[0] or region[0]
            plane = given[1] or row * region[1]
            first = origin[0] + origin[1] * row + origin[2] * plane
            return [(first + b * row + c * plane) for c in range(region[2]) for b in range(region[1])]

        try:
            queue.copy_rect(
                y, x, region=region, dst_origin=origins[0], src_origin=origins[1], dst_pitches=pitches[0], src_pitches=pitches[1]
            ).wait()
        except ValueError:
            pass
        else:
            for to, origin in zip(rows(origins[0], pitches[0]), rows(origins[1], pitches[1]), strict=True):
                assert region[0] == 0 or (0 <= to <= 60 - region[0] and 0 <= origin <= 60 - region[0])
                expected[20 + to : 20 + to + region[0]] = source[origin : origin + region[0]]
        check(frame, expected)


def test_failures_belong_to_their_queue():
    loud, quiet = pp.Queue("cpu"), pp.Queue("cpu")

    def fail():
        raise KeyError("mine")

    for _ in range(1100):
        loud.host_task(lambda: 1 / 0)
    quiet.host_task(fail)
    with pytest.raises(KeyError, match="mine"):
        quiet.wait()
    quiet.wait()
    with pytest.raises(ZeroDivisionError):
        loud.wait()
    loud.wait()  # once, however many there were


@pytest.mark.parametrize("local", [None, (1, 1)])
def test_ranges_that_nobody_can_count(queue, local):
    y = pp.zeros(4, queue=queue)
    for extents in [(2**32, 2**32), (2**40, 2**40), (2**62, 2), (2**21, 2**21, 2**21)]:
        space = pp.Range(*extents) if local is None else pp.NdRange(extents, (1,) * len(extents))
        launch = _first[space] if local is None else _first_of_group[space]
        with pytest.raises(ValueError, match="more items than"):
            launch(y)
    launch = _first[pp.Range(2**32, 0)]
    launch(y).wait()
    check(y, np.zeros(4))


@pp.kernel
def _first(item: pp.Item, y):
    y[0] = 1


@pp.kernel
def _first_of_group(item: pp.NdItem, y):
    y[0] = 1


def test_prefetch(any_queue):
    x = pp.asarray(np.arange(10.0), queue=any_queue) + 1
    any_queue.prefetch(x[2:]).wait()
    gate = pp.UserEvent()
    event = any_queue.prefetch(x, depends=gate)
    assert not event.done()
    gate.set_complete()
    event.wait(10)


def test_submit(queue):
    gate = pp.UserEvent()
    x = pp.asarray(np.arange(10.0), queue=queue)
    y, z = x + 1, x + 2
    event = queue.submit(y, z, depends=gate)
    assert not y.pending
    assert not event.done()
    gate.set_complete()
    event.wait(10)
    check(y, np.arange(10.0) + 1)
    a = x * 3
    queue.submit().wait()
    assert not a.pending
    assert queue.submit(a).wait() is None
    with pytest.raises(pp.ExecutionPlacementError, match=r"Queue\.submit"):
        queue.submit(pp.zeros(3) + 1)
    with pytest.raises(TypeError, match=r"Queue\.submit"):
        queue.submit([1])


def test_barrier_holds_up_what_comes_later(queue):
    gate = pp.UserEvent()
    x = pp.asarray(np.arange(1000.0), queue=queue)
    barrier = queue.barrier(depends=gate)
    y = (x + 1).force()
    assert not barrier.done()
    assert not y.event.done()
    gate.set_complete()
    check(y, np.arange(1000.0) + 1)
    assert barrier.done()


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
@pytest.mark.parametrize("device", ["cpu", "null", "opencl"])
def test_barrier_holds_up_host_tasks_of_every_order(device, order):
    if not pp.get_devices(device):
        pytest.skip("there is no device of OpenCL")
    queue, gate, log = pp.Queue(device, order=order), pp.UserEvent(), []
    barrier = queue.barrier(depends=gate)
    task = queue.host_task(lambda: log.append(barrier.done()))
    with pytest.raises(TimeoutError):
        task.wait(0.2)
    assert log == []
    gate.set_complete()
    task.wait(10)
    assert log == [True]


def test_failed_barrier_does_not_fail_host_tasks_behind_it():
    queue = pp.Queue("cpu", order="out_of_order")
    gate = pp.UserEvent()
    barrier = queue.barrier(depends=gate)
    task = queue.host_task(lambda: 7)
    gate.set_failed(KeyError("gone"))
    assert task.as_future().result(10) == 7
    with pytest.raises(KeyError, match="gone"):
        barrier.wait(10)


def test_marker_holds_nothing_up():
    queue = pp.Queue("cpu", order="out_of_order")
    gate = pp.UserEvent()
    x = pp.asarray(np.arange(1000.0), queue=queue)
    task = queue.host_task(lambda: None, depends=gate)
    marker = queue.marker()
    y = (x + 1).wait()
    assert not task.done()
    assert not marker.done()
    gate.set_complete()
    marker.wait(10)
    assert task.done()
    check(y, np.arange(1000.0) + 1)


def test_host_tasks_run_in_order(any_queue):
    log = []
    gate = pp.UserEvent()
    first = any_queue.host_task(lambda: log.append(1), depends=gate)
    for i in range(2, 20):
        any_queue.host_task(lambda i=i: log.append(i))
    x = pp.empty(10, queue=any_queue)
    any_queue.fill(x, 3)
    last = any_queue.host_task(lambda: (log.append(20), threading.get_ident())[1])
    assert log == []
    assert not first.done()
    gate.set_complete()
    any_queue.wait(20)
    assert log == list(range(1, 21))
    assert last.as_future().result() != threading.get_ident()


def test_host_tasks_see_and_make_values(queue):
    x = pp.asarray(np.arange(1_000_000.0), queue=queue)
    y = x * 2
    other = pp.Queue("cpu")
    task = queue.host_task(lambda: float(np.asarray(y)[-1]) + float(pp.ones(5, queue=other).sum()), depends=y)
    assert task.as_future().result(20) == 1_999_998 + 5


def test_host_task_takes_no_async_function(queue):
    async def later():
        pass

    with pytest.raises(TypeError, match="an async one"):
        queue.host_task(later)


def test_host_tasks_of_several_queues_may_wait_for_each_other():
    a, b = pp.Queue("cpu"), pp.Queue("cpu")
    second = pp.UserEvent()
    first = a.host_task(lambda: second.wait(20))
    b.host_task(lambda: second.set_complete(), depends=[])
    first.wait(20)


def test_failed_host_task_names_the_line(queue):
    def broken():
        raise KeyError("gone")

    event = queue.host_task(broken)
    dependent = queue.host_task(lambda: 1, depends=event)
    with pytest.raises(KeyError, match="gone") as caught:
        event.wait(10)
    notes = " ".join(caught.value.__notes__)
    assert "in host task" in notes
    assert "broken" in notes
    assert f"{__file__}:" in notes
    assert caught.traceback[-1].name == "broken"
    dependent.as_future().exception(10)
    queue.wait()
    assert queue.host_task(lambda: "goes on").as_future().result(10) == "goes on"


def test_failure_reaches_what_depends_on_it(queue):
    gate = pp.UserEvent()
    event = queue.host_task(lambda: 1 / 0, depends=gate)
    ran = []
    dependent = queue.host_task(lambda: ran.append(1), depends=event)
    gate.set_complete()
    with pytest.raises(ZeroDivisionError):
        dependent.wait(10)
    event.wait(10)
    queue.wait()
    assert ran == []


def test_host_task_that_waits_for_itself_is_refused(any_queue):
    caught = []

    def waits(wait):
        def task():
            try:
                wait()
            except Exception as e:
                caught.append(e)

        return task

    event = []
    gate = pp.UserEvent()
    event.append(any_queue.host_task(waits(lambda: event[0].wait()), depends=gate))
    gate.set_complete()
    event[0].wait(10)
    any_queue.host_task(waits(any_queue.wait)).wait(10)
    x = pp.empty(100_000, queue=any_queue)
    any_queue.host_task(waits(lambda: (any_queue.fill(x, 1), x.wait()))).wait(10)
    any_queue.host_task(waits(lambda: any_queue.host_task(lambda: 1).wait())).wait(10)
    assert len(caught) == 4
    for e in caught:
        assert isinstance(e, pp.DeviceError)
        assert "host task" in str(e)
    any_queue.wait(10)


def test_wrong_host_tasks(queue):
    with pytest.raises(TypeError, match="host_task"):
        queue.host_task(3)
    with pytest.raises(TypeError, match="host_task"):
        queue.host_task(print, depends=3)


def test_small_arrays_behind_a_host_task():
    """Memory of work that waits for Python is reused by Python: neither may wait for the other with the GIL held."""
    queue = pp.Queue("cpu")
    gate = pp.UserEvent()
    for _ in range(20):
        queue.host_task(lambda: gate.wait(20) if not gate.done() else None)
        y = (pp.asarray(np.arange(100.0), queue=queue) + 1).force()
        del y
        threading.Timer(0.005, lambda: gate.done() or gate.set_complete()).start()
        check(pp.asarray([1.0, 2.0], queue=queue), np.array([1.0, 2.0]))
    queue.wait(20)


def test_held_work_does_not_stop_the_submitter():
    """More than a queue lets run ahead: the gate is opened by the thread that submits."""
    queue = pp.Queue("cpu")
    gate = pp.UserEvent()
    queue.barrier(depends=gate)
    x = pp.asarray(np.zeros(10), queue=queue)
    for _ in range(6000):
        queue.fill(x, 1)
    gate.set_complete()
    queue.wait(60)
    check(x, np.ones(10))


def test_queue_that_is_dropped_with_held_work():
    queue = pp.Queue("cpu")
    gate = pp.UserEvent()
    x = pp.asarray(np.zeros(10), queue=queue)
    queue.barrier(depends=gate)
    event = queue.fill(x, 5)
    del queue, x
    gc.collect()
    gate.set_complete()
    event.wait(10)


def test_many_submissions_leave_nothing():
    queue = pp.Queue("cpu")
    arrays = [pp.asarray(np.zeros(100), queue=queue) for _ in range(50)]
    pp.wait()
    gc.collect()
    pp.trim_memory("cpu")

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def submit(count):
        for _ in range(count // 2000):
            gate = pp.UserEvent()
            queue.barrier(depends=gate)  # so that they are queued, and not run at once
            for i in range(2000):
                event = queue.fill(arrays[i % 50], i % 7)
            event.add_done_callback(lambda: None)
            gate.set_complete()
            queue.wait()

    submit(20_000)
    before, used = resident(), pp.memory_stats("cpu").in_use
    submit(200_000)
    assert pp.memory_stats("cpu").in_use == used
    assert resident() < before + 20_000_000


def test_many_host_tasks_leave_nothing():
    queue = pp.Queue("cpu")
    count = 0

    def one():
        nonlocal count
        count += 1

    for _ in range(20):
        for _ in range(250):
            queue.host_task(one)
        queue.wait(60)
    assert count == 5000


def test_contexts():
    cpu = pp.Device("cpu")
    context = pp.Context([cpu])
    assert context.devices == (cpu,)
    assert context == pp.Context("cpu") == pp.Context(cpu)
    assert hash(context) == hash(pp.Context("cpu"))
    assert cpu in context
    assert len(context) == 1
    assert "cpu" in repr(context)
    assert context.platform == cpu.platform
    queue = pp.Queue(context=context)
    assert queue.context == context
    assert queue.device == cpu
    assert cpu in pp.Queue("cpu").context
    with pytest.raises(pp.ExecutionPlacementError, match="not in the context"):
        pp.Queue("null", context=context)
    for wrong, match in (([], "at least one"), (["cpu", "cpu"], "twice"), (["cpu", "null"], "different platforms")):
        with pytest.raises(ValueError, match=match):
            pp.Context(wrong)
    with pytest.raises(TypeError):
        pp.Context([3])
    far = pp.zeros(10, device="null")
    with pytest.raises(pp.ExecutionPlacementError, match="another context"):
        queue.copy(pp.empty(10, queue=queue), far)
    pp.Queue("cpu").copy(pp.empty(10, device="cpu"), far).wait()


def test_wrong_order():
    for wrong, error in (("sideways", ValueError), (3, TypeError)):
        with pytest.raises(error, match="order"):
            pp.Queue(order=wrong)


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_timer(device):
    queue = pp.Queue(device, profiling=True)
    x = pp.asarray(np.ones(100_000), queue=queue)
    timer = pp.Timer(queue)
    for _ in range(2):
        with timer as same:
            y = pp.sqrt(x) + 1
        assert same is timer
        assert not y.pending
    assert timer.host_time > 0
    assert timer.device_time >= 0
    assert timer.dt == (timer.host_time, timer.device_time)
    with pytest.raises(ValueError, match="profiling=True"):
        pp.Timer(pp.Queue(device))
    with pytest.raises(TypeError, match="queue"):
        pp.Timer(3)


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


def test_exit_with_work_in_flight():
    done = run(
        """
        import asyncio, threading, time
        import numpy as np
        import pardo as pp
        queue, other = pp.Queue("cpu"), pp.Queue("cpu", order="out_of_order")
        gate = pp.UserEvent()
        for q in (queue, other):
            q.barrier(depends=gate)
            for _ in range(10):
                q.host_task(lambda: print("never"), depends=gate)
            x = (pp.asarray(np.ones(100_000), queue=q) + 1).force()
        gate.add_done_callback(lambda: print("never"))
        future = gate.as_future()
        pp.Queue("cpu").host_task(lambda: time.sleep(0.1))
        async def wait(): await gate
        async def main():
            task = asyncio.create_task(wait())
            await asyncio.sleep(0.01)
        asyncio.run(main())
        keep = threading.Thread(target=gate.wait, daemon=True)
        keep.start()
        print("end")
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "end\n"
    assert done.stderr == ""


def test_failure_nobody_waited_for_is_told_at_exit():
    done = run("import pardo as pp, time; q = pp.Queue('cpu'); e = q.host_task(lambda: 1 / 0); pp.wait_any([e])")
    assert done.returncode == 0
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert "was never waited for" in done.stderr


def test_fork_with_held_work():
    done = run(
        """
        import os, sys
        import numpy as np
        import pardo as pp
        queue, loose = pp.Queue("cpu"), pp.Queue("cpu", order="out_of_order")
        gate = pp.UserEvent()
        ran = []
        event = queue.host_task(lambda: ran.append(os.getpid()), depends=gate)
        other = loose.host_task(lambda: ran.append(os.getpid()), depends=gate)
        x = (pp.asarray(np.ones(1000), queue=queue) + 1).force()
        pid = os.fork()
        if pid == 0:
            queue.wait(10)
            y = pp.asarray(np.ones(1000), queue=queue) + 1
            assert float(y.sum()) == 2000
            assert queue.host_task(lambda: 5).as_future().result(10) == 5
            assert loose.host_task(lambda: 5).as_future().result(10) == 5
            assert ran == []
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        gate.set_complete()
        queue.wait(10)
        loose.wait(10)
        assert ran == [os.getpid()] * 2
        assert float(x.sum()) == 2000
        """
    )
    assert done.returncode == 0, done.stderr


def test_fork_while_a_host_task_runs():
    done = run(
        """
        import os, sys, threading
        import pardo as pp
        queue = pp.Queue("cpu")
        go, started = threading.Event(), threading.Event()
        event = queue.host_task(lambda: (started.set(), go.wait(20)))
        started.wait(20)
        pid = os.fork()
        if pid == 0:
            assert pp.Queue("cpu").host_task(lambda: 5).as_future().result(10) == 5
            try:
                event.wait(10)
            except pp.DeviceError as error:
                assert "belongs to the parent process" in str(error)
                sys.exit(7)
            sys.exit(8)
        go.set()
        event.wait(10)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        """
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "what",
    [
        "gate.wait()",
        "pp.wait_any([gate])",
        "pp.wait_all([gate])",
        "queue.wait()",
        "x.wait()",
        "float(x[0])",
        "np.asarray(x)",
        "memoryview(x)",
    ],
)
def test_interrupted_wait(what):
    done = run(
        f"""
        import os, signal, threading, time
        import numpy as np
        import pardo as pp
        queue = pp.Queue("cpu")
        gate = pp.UserEvent()
        x = pp.asarray(np.ones(10), queue=queue)
        queue.barrier(depends=gate)
        x = (x + 1).force()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            {what}
        except KeyboardInterrupt:
            gate.set_complete()
            queue.wait(10)
            assert float(x[0]) == 2
            print("interrupted")
        """
    )
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_own_allocator(device):
    libc = ctypes.CDLL(None)
    libc.aligned_alloc.restype = ctypes.c_void_p
    libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    blocks, kinds, other = {}, set(), []

    def allocate(nbytes, kind):
        address = libc.aligned_alloc(64, (nbytes + 63) // 64 * 64)
        blocks[address] = nbytes
        kinds.add(kind)
        return address

    def free(address, nbytes):
        assert blocks.pop(address) == nbytes
        libc.free(address)

    pp.set_allocator(device, allocate, free)
    try:
        x = pp.empty(1000, device=device)
        pp.Queue(device).fill(x, 2).wait()
        y = pp.empty(10, device=device, usm_type="host")
        assert sorted(blocks.values()) == [80, 8000]
        assert kinds == {"device", "host"}
        check(x, np.full(1000, 2.0))
        pp.set_allocator(device, lambda nbytes, kind: None, lambda address, nbytes: other.append(address))
        with pytest.raises(MemoryError, match=r"empty: cannot allocate 80 bytes .*set_allocator"):
            pp.empty(10, device=device)
        pp.set_allocator(device, lambda nbytes, kind: 1 / 0, free)
        with pytest.raises(ZeroDivisionError):
            pp.empty(10, device=device)
        pp.set_allocator(device, lambda nbytes, kind: "address", free)
        with pytest.raises(TypeError, match="address"):
            pp.empty(10, device=device)
        del x
        y = None  # noqa: F841
        pp.set_allocator(device, None)
        for _ in range(100):
            if not blocks:
                break
            pp.wait()
        assert blocks == {}
        assert other == []
        pp.empty(10, device=device)
    finally:
        pp.set_allocator(device, None)
    for wrong in ((3.5, free), (allocate, None), ("x", free), (0, free), (True, free)):
        with pytest.raises((TypeError, ValueError), match="set_allocator"):
            pp.set_allocator(device, *wrong)


def test_own_allocator_in_c():
    libc = ctypes.CDLL(None)

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    def allocate(nbytes, kind):
        seen.append((nbytes, kind))
        return ctypes.cast(libc.malloc(ctypes.c_size_t(nbytes)), ctypes.c_void_p).value

    seen: list[tuple[int, int]] = []
    libc.malloc.restype = ctypes.c_void_p
    address = ctypes.cast(allocate, ctypes.c_void_p).value
    pp.set_allocator("cpu", address, ctypes.cast(libc.free, ctypes.c_void_p).value)
    try:
        x = pp.ones(1000, device="cpu") * 2
        check(x, np.full(1000, 2.0))
        del x
    finally:
        pp.set_allocator("cpu", None)
    assert (8000, 0) in seen
