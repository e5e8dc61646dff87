# tests/python/test_devices.py: devices, queues, events, memory, counters, plans, and `python -m pardo`.
from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pardo as pp
import pytest
from support import check

pytestmark = pytest.mark.once


def test_devices():
    cpu = pp.Device("cpu")
    assert cpu in pp.get_devices()
    assert cpu == pp.Device(cpu.id) == pp.Device(cpu)
    assert hash(cpu) == hash(pp.Device("cpu"))
    assert cpu != "cpu"
    assert cpu.type == "cpu"
    assert cpu.backend == "cpu"
    assert cpu.max_compute_units >= 1
    assert cpu.global_mem_size > 0
    assert cpu.supports("float64")
    with pytest.raises(ValueError, match="cpu"):
        pp.Device("no such device")


def test_placement():
    x = pp.zeros(3)
    assert x.device == pp.Device()
    assert x.to_device("cpu") is not None
    assert x.to_device(x.device).queue == x.queue
    with pytest.raises(ValueError, match="stream"):
        x.to_device(x.device, stream=1)
    for make in (lambda: pp.zeros(3, device="cpu"), lambda: pp.asarray([1.0], device="cpu"), lambda: pp.arange(3, device=pp.Device("cpu"))):
        assert make().device == pp.Device("cpu")


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_queues(order):
    queue = pp.Queue(pp.Device("cpu"), order=order)
    assert queue.order == order
    assert queue != pp.Queue.of(pp.Device("cpu"))
    x = pp.asarray(np.arange(1000.0), queue=queue)
    y = x
    for _ in range(5):
        y = y * 2 + x
        y.force()
    check(y, np.arange(1000.0) * 63)
    assert y.queue == queue
    other = pp.zeros(1000)
    with pytest.raises(pp.ExecutionPlacementError, match="add"):
        x + other
    with pytest.raises(ValueError):
        pp.concat([x, other])
    check(x + other.to_queue(queue), np.arange(1000.0))
    queue.wait()
    with pytest.raises(ValueError, match="order"):
        pp.Queue(order="sideways")


def test_events():
    x = pp.ones(1_000_000)
    y = (pp.sin(x) + 1).force()
    event = y.event
    event.wait()
    assert event.done()
    assert event.status == "complete"
    called = threading.Event()
    event.add_done_callback(called.set)
    assert called.wait(10)
    with pytest.raises(ValueError, match="profiling"):
        event.profiling
    queue = pp.Queue(profiling=True)
    (pp.asarray(np.ones(1_000_000), queue=queue) * 3).force()
    barrier = queue.barrier()
    barrier.wait()
    assert barrier.done()
    times = barrier.profiling
    assert 0 < times["start"] <= times["end"]
    assert pp.Event().done()


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
@pytest.mark.parametrize("size", [10, 1_000_000])
def test_times_of_an_array_that_is_done(size, order):
    queue = pp.Queue(profiling=True, order=order)
    x = (pp.asarray(np.ones(size), queue=queue) * 3).wait()
    gate = pp.UserEvent()
    gate.set_complete()
    for event in (x.event, queue.submit(x), queue.submit(x, depends=[gate]), queue.copy(pp.empty(size, queue=queue), x)):
        event.wait()
        times = event.profiling
        assert 0 < times["queued"] <= times["start"] <= times["end"]


def test_wait_returns_the_array():
    x = pp.ones(3) + 1
    assert x.pending
    assert x.wait() is x
    assert not x.pending
    assert x.force() is x
    a, b = x + 1, x + 2
    pp.wait(a, b)
    assert not a.pending
    assert not b.pending
    pp.wait()


def test_counters():
    before = pp.counters()
    names = "recorded forced planned flushed launched compiled from_disk from_pack bytes_read bytes_written copies copied_bytes fallbacks"
    names += " handles handles_back unasked_between_devices"
    assert set(before) == set(names.split())
    x = pp.asarray(np.ones(1000))
    ((x + 1) * 2).wait()
    after = pp.counters()
    assert after["recorded"] >= before["recorded"] + 2
    assert after["launched"] == before["launched"] + 1 or after["launched"] == before["launched"] + 2
    assert after["bytes_written"] > before["bytes_written"]


def test_explain():
    x = pp.asarray(np.ones((30, 40)))
    y = pp.exp(x - x.max(axis=1, keepdims=True))
    y = y / y.sum(axis=1, keepdims=True)
    before = pp.counters()["launched"]
    text = pp.explain(y)
    assert "kernel" in text.lower()
    assert pp.counters()["launched"] == before
    assert y.pending


def test_memory():
    pp.wait()
    pp.reset_memory_peak()
    used = pp.memory_stats().in_use
    x = pp.empty(1_000_000).wait()
    stats = pp.memory_stats()
    assert stats.in_use >= used + 8_000_000
    assert stats.peak >= stats.in_use
    del x
    assert pp.memory_stats("cpu").in_use <= stats.in_use - 8_000_000
    pp.trim_memory()
    assert pp.memory_stats().cached < 100_000
    with pytest.raises(ValueError):
        pp.set_memory_limit(-1)


def test_memory_limit():
    pp.trim_memory()
    pp.set_memory_limit(pp.memory_stats().in_use + 1_000_000)
    try:
        with pytest.raises(MemoryError, match="bytes"):
            pp.empty(1_000_000).wait()
        check(pp.ones(10) + 1, np.full(10, 2.0))
    finally:
        pp.set_memory_limit(0)
    pp.empty(1_000_000).wait()


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


def test_command():
    done = run("-m", "pardo")
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("Versions", "NumPy", "Devices", "cpu", "Cache", "PASSED"):
        assert word in done.stdout
    done = run("-m", "pardo", "--list")
    assert "Versions" not in done.stdout
    assert "cpu" in done.stdout


def test_command_whose_reader_stops():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "pardo", "--list"], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_import_touches_no_device():
    code = "import pardo, threading; assert threading.active_count() == 1; import os; assert len(os.listdir('/proc/self/task')) == 1"
    done = run("-c", code, OPENBLAS_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr


def test_openblas_is_missing():
    code = (
        "import sys, importlib.abc\n"
        "class Hide(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.startswith('scipy_openblas'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hide())\n"
        "import pardo as pp\n"
        "try: (pp.ones((200, 200)) @ pp.ones((200, 200))).wait()\n"
        "except ImportError as e: assert 'scipy-openblas32' in str(e), e\n"
        "else: raise SystemExit('no error')\n"
        "assert pp.ones(3).sum().item() == 3\n"
    )
    done = run("-c", code)
    assert done.returncode == 0, done.stderr


def test_devices_by_name_everywhere():
    device = pp.Device("cpu")
    assert pp.Device(None) == pp.Device()
    assert pp.Device(device) == device
    assert pp.Queue("cpu").device == device
    assert pp.Queue.of("cpu") == pp.Queue.of(device)
    x = pp.zeros(2)
    assert x.to_device("cpu") is x
    assert x.to_queue(x.queue) is x


def test_placement_error_says_what_helps():
    """Two queues of one device: to_device would change nothing."""
    queue = pp.Queue()
    x = pp.zeros(2)
    with pytest.raises(pp.ExecutionPlacementError, match="to_queue") as caught:
        x + pp.zeros(2, queue=queue)
    address = repr(queue).split()[1]
    assert address in str(caught.value)
    assert repr(x.queue).split()[1] in str(caught.value)
    check(x + pp.zeros(2, queue=queue).to_queue(x.queue), np.zeros(2))


def test_wait_takes_numbers():
    pp.wait(3, pp.zeros(2))


def command(arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "pardo", *arguments], capture_output=True, text=True, env=os.environ | environment, timeout=300
    )
    assert "Traceback" not in done.stderr
    return done


def test_command_with_a_wrong_device():
    done = command(["--list"], PARDO_DEVICE="foo")
    assert 'no device matches "foo"' in done.stdout
    assert "cpu:0" in done.stdout
    done = command([], PARDO_DEVICES="!cpu,!opencl,!cuda")
    assert "leaves no device visible" in done.stdout
    assert "no device to test" in done.stdout
    assert done.returncode == 1


def test_command_says_how_many_kernels_it_deletes(tmp_path):
    for count in (1, 0):
        if count:
            assert command(["--self-test"], PARDO_CACHE_DIR=str(tmp_path), PARDO_DEVICES="cpu", PARDO_KERNEL_PACK="off").returncode == 0
        done = command(["--clear-cache"], PARDO_CACHE_DIR=str(tmp_path), PARDO_DEVICES="cpu")
        found = re.match(r"(\d+) files? deleted in ", done.stdout)
        assert found is not None, done.stdout
        assert (int(found[1]) > 0) == (count > 0)


def test_command_without_openblas(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nreal = u.find_spec\nu.find_spec = lambda n, *a: None if n == 'scipy_openblas32' else real(n, *a)\n"
    )
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = command(["--self-test"], PYTHONPATH=path, PARDO_OPENBLAS="", PARDO_DEVICES="cpu")
    assert "cpu:0: PASSED" in done.stdout
    if "skipped" not in done.stdout:
        pytest.skip("the system has an OpenBLAS of its own")
    assert "product skipped: " in done.stdout


@pytest.mark.parametrize(
    ("name", "value", "line", "text"),
    [
        ("PARDO_OPENBLAS", "/nonexistent.so", "[34]", "PARDO_OPENBLAS=/nonexistent.so: expected the path of OpenBLAS"),
        ("PARDO_TRACEBACK", "short", "1", "PARDO_TRACEBACK=short: expected full"),
    ],
)
def test_wrong_variables_are_not_ignored_in_silence(tmp_path, name, value, line, text):
    file = tmp_path / "program.py"
    file.write_text("import pardo as pp\nx = pp.ones((300, 300))\nassert (x @ x)[0, 0] == 300\nfor _ in range(10): pass\n")
    environment = os.environ | {name: value, "PARDO_DEVICE": "cpu", "PARDO_ROUTINES": ""}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, timeout=300)
    if name == "PARDO_OPENBLAS" and "needs OpenBLAS" in done.stderr:
        pytest.skip("there is no OpenBLAS")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"{re.escape(str(file))}:{line}: RuntimeWarning: pardo: {re.escape(text)}", done.stderr), done.stderr


def test_warnings_name_the_users_line(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("import pardo as pp\ny = (pp.ones(7) * 2).wait()\nfor _ in range(10): pass\n")
    environment = {k: v for k, v in os.environ.items() if k != "PARDO_CACHE_DIR"} | {"XDG_CACHE_HOME": str(file)}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, timeout=300)
    assert f"{file}:2: RuntimeWarning" in done.stderr or f"{file}:3: RuntimeWarning" in done.stderr
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=os.environ | {"PARDO_LOG": "banana"}, timeout=300
    )
    assert "PARDO_LOG=banana: expected off, warn, info or debug" in done.stderr


def test_memory_by_the_environment():
    program = """
        import pardo as pp
        print(pp.memory_stats("cpu").limit)
        print((pp.ones(10**6, device="cpu") + 1).sum())
        x = pp.ones(10**7, device="cpu") + 1
        try:
            x.wait()
        except MemoryError as e:
            print(e)
        pp.set_memory_limit(0, "cpu")
        print(x[0])
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PARDO_MEMORY": "64MiB"}, check=True)
    limit, total, refused, first = done.stdout.splitlines()
    assert (limit, total, first) == (str(64 << 20), "2000000.0", "2.0")
    assert refused.startswith("add_f64: cannot allocate 80000000 bytes on cpu:0 (")
    assert "limit 64.0 MiB" in refused
