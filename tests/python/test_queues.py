# tests/python/test_queues.py: copies, fills, boxes and barriers on queues of every device and order.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from support import DTYPES, check, samples


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


def test_a_writer_of_a_part_waits_for_readers_of_all():
    """Also where another writer, of another part, waits for them already."""
    for order in ("in_order", "out_of_order"):
        one, two, three = (pp.Queue("cpu", order=order) for _ in range(3))
        x, seen, gate = pp.zeros(600, queue=one).wait(), pp.ones(600, queue=one).wait(), pp.UserEvent()
        one.copy(seen, x, depends=gate)
        two.fill(x[:300], 1.0)
        three.fill(x[300:], 2.0)
        gate.set_complete()
        check(seen, np.zeros(600))
        check(x, np.repeat([1.0, 2.0], 300))


def _part(rng, size):
    begin, end = np.sort(rng.choice(size + 1, 2, replace=False))
    return slice(int(begin), int(end), int(rng.integers(1, 4)))


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_queues_that_write_parts_of_arrays_keep_the_order_of_the_program(order, rng):
    """Random copies and fills, of which some are held back, as by NumPy."""
    queues = [pp.Queue("cpu", order=order) for _ in range(4)]
    for _ in range(40):
        hosts = [rng.integers(0, 100, 240).astype("int16") for _ in range(2)]
        arrays = [pp.asarray(host, queue=queue).wait() for host, queue in zip(hosts, queues, strict=False)]
        gates = []
        for step in range(15):
            k, queue, part = rng.integers(2), queues[rng.integers(4)], _part(rng, 240)
            if rng.random() < 0.3:
                gates.append(pp.UserEvent())
                depends = gates[-1]
            else:
                depends = None
            if rng.random() < 0.4:
                queue.fill(arrays[k][part], step, depends=depends)
                hosts[k][part] = step
            else:
                count = len(hosts[k][part])
                begin = int(rng.integers(240 - count + 1))
                queue.copy(arrays[k][part], arrays[1 - k][begin : begin + count], depends=depends)
                hosts[k][part] = hosts[1 - k][begin : begin + count]
        for gate in rng.permutation(np.array(gates, object)):
            gate.set_complete()
        for x, host in zip(arrays, hosts, strict=True):
            check(x, host)


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
