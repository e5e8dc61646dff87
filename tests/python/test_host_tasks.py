# tests/python/test_host_tasks.py: host tasks, and the life of queues: contexts, timers, fork, exit, allocators.
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
from support import check


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
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
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
