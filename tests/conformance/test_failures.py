# tests/conformance/test_failures.py: what failed, or came late, is never taken for a value.
import contextlib
import operator
import threading
import time

import numpy as np
import pardo as pp
import pytest


@pytest.mark.parametrize(("dtype", "wide"), [("int32", "int64"), ("float32", "float64"), ("uint8", "uint64"), ("bool", "uint8")])
def test_there_and_back_is_a_copy(dtype, wide, device):
    if wide == "float64" and not device.has_fp64:
        pytest.skip("the device has no float64")
    for back in (lambda x: x.astype(wide).astype(dtype), lambda x: pp.asarray(pp.asarray(x, dtype=wide), dtype=dtype)):
        x = pp.zeros(5, dtype=dtype, device=device)
        y = back(x)
        x[...] = 1
        z = back(x)
        z[0] = 0
        assert y.tolist() == [0] * 5
        assert x.tolist() == [1] * 5


def test_what_was_never_computed_has_no_value(device):
    queue = pp.Queue(device)
    x = pp.asarray(np.arange(6, dtype="float32"), queue=queue)
    (pp.full(6, 123.0, dtype="float32", queue=queue) + 0).wait()  # what the memory held before
    late = pp.UserEvent()
    y = x + 1
    event = queue.submit(y, depends=late)
    z = y * 2
    queue.submit(z)
    late.set_failed(KeyError("boom"))
    with pytest.raises(KeyError, match="boom"):
        event.wait()
    for read in (y.tolist, y.wait, z.tolist, lambda: (y + 1).wait(), lambda: y.as_future().result(20), lambda: float(y[0])):
        with pytest.raises(KeyError, match="boom"):
            read()
    assert y.event.status == "failed"
    y[...] = 5
    assert y.tolist() == [5] * 6
    assert x.tolist() == list(range(6))


def test_a_host_task_that_failed_leaves_no_values_behind_it(device):
    queue = pp.Queue(device)
    task = queue.host_task(lambda: operator.truediv(1, 0))
    y = pp.ones(6, dtype="float32", queue=queue) * 3
    queue.submit(y, depends=task)
    with pytest.raises(ZeroDivisionError):
        queue.wait()
    with pytest.raises(ZeroDivisionError):
        y.tolist()


def test_what_was_to_be_changed_in_place_is_as_it_was_once_it_is_accepted(device):
    queue = pp.Queue(device)
    x = pp.asarray(np.arange(6, dtype="float32"), queue=queue)
    late = pp.UserEvent()
    y = pp.ones(6, dtype="float32", queue=queue) + 1
    queue.submit(y, depends=late)
    where = pp.asarray([0, 9], queue=queue)
    x[2:] = y[2:]
    pp.force(x)
    late.set_failed(KeyError("boom"))
    with pytest.raises(KeyError, match="boom"):
        x.wait()
    with pytest.raises(KeyError, match="boom"):
        x.tolist()
    assert x[:2].tolist() == [0, 1]
    x.accept()
    assert x.tolist() == list(range(6))

    def assign():
        x[where] = 7.0
        x.wait()

    with pytest.raises(IndexError, match="index 9"):
        assign()
    x.accept()  # where the host reads the indices, nothing was submitted
    assert x.tolist() == list(range(6))


def test_values_that_failed_a_check_are_never_there(device):
    rates = np.ones(5000)
    rates[3] = -2
    with pp.device_context(device), contextlib.suppress(ValueError):  # where it is known at once, the call raises
        rates = pp.asarray(rates.astype("float32"))
        drawn = pp.random.default_rng(1).poisson(rates)  # two checks, of which the first fails
        for read in (drawn.tolist, (drawn + 1).tolist, drawn.tolist, (drawn * 2).wait, lambda: int(drawn[0])):
            with pytest.raises(ValueError, match="poisson: lam must not be negative or nan"):
                read()
        drawn[...] = 4
        assert drawn.tolist() == [4] * 5000


def test_a_kernel_that_failed_by_a_check_has_run(device):
    @pp.kernel(bounds_check=True)
    def shifted(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i + 1]

    x = pp.arange(5, dtype="int32", device=device)
    y = pp.zeros(5, dtype="int32", device=device)
    with pytest.raises(IndexError):
        shifted[5](x, y).wait()
    with pytest.raises(IndexError):
        y.tolist()
    y.accept()
    assert y.tolist()[:4] == [1, 2, 3, 4]  # to look at


def test_copies_to_other_devices_do_not_wait_for_what_comes_later(device):
    for other in pp.get_devices():
        if other.backend == "null" or other == device:
            continue
        x = pp.ones(200_000, dtype="float32", device=device)
        late = pp.UserEvent()
        x.queue.fill(x, 2, depends=late)
        y = x.to_device(other)
        x += 1
        pp.force(x)
        late.set_complete()
        assert y[:3].tolist() == [2] * 3
        assert x[:3].tolist() == [3] * 3


def test_memory_of_work_out_of_order_is_used_again(device):
    queue = pp.Queue(device, order="out_of_order")
    y = pp.ones(50_000, dtype="float32", queue=queue)
    queue.wait()
    pp.trim_memory(device)
    before = pp.memory_stats(device).cached
    for _ in range(6):
        for i in range(100):
            queue.submit(y * i)
        queue.wait()
    assert pp.memory_stats(device).cached - before < 450 * y.nbytes  # of 600


def test_queues_out_of_order_come_and_go(device):
    for _ in range(20):
        queue = pp.Queue(device, order="out_of_order")
        x = pp.ones(3, dtype="float32", queue=queue)
        late = pp.UserEvent()
        first = queue.fill(x, 1, depends=late)
        for _ in range(100):
            queue.fill(x, 1, depends=first)
        late.set_complete()
        queue.wait(60)


@pytest.mark.parametrize("prints", [False, True])
def test_launches_behind_a_host_task_do_not_wait_for_it(capfd, prints, device):
    """It may wait for the thread that launches; also where the host does not see whether a kernel failed, or what it prints."""
    if prints and device.backend == "null":
        pytest.skip("print needs atomics of 64 bits")

    @pp.kernel
    def at(item: pp.Item, x, y):
        y[item.get_id(0)] = x[item.get_id(0) + 1]

    @pp.kernel
    def says(item: pp.Item, x, y):
        print(x[item.get_id(0)])
        y[item.get_id(0)] = x[item.get_id(0) + 1]

    queue = pp.Queue(device)
    x, y = pp.zeros(3, dtype="float32", queue=queue), pp.zeros(2, dtype="float32", queue=queue)
    go = threading.Event()
    came: list[bool] = []
    queue.host_task(lambda: came.append(go.wait(20)))
    event = (says if prints else at)[2](x, y)
    go.set()
    event.wait()
    assert came == [True]
    assert capfd.readouterr().out == ("0.0\n0.0\n" if prints else "")


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_profiles_see_host_tasks(order, device):
    queue = pp.Queue(device, order=order)
    with pp.profile() as p:
        task = queue.host_task(lambda: time.sleep(0.02))
        task.wait()
    (record,) = [r for r in p.records if r["activity"] == "host task"]
    assert record["end"] - record["start"] >= 20_000_000
    assert task.profiling["end"] - task.profiling["start"] >= 20_000_000
