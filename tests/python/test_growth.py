# tests/python/test_growth.py: nothing grows: what a program makes and drops is freed, with all that was made of it.
from __future__ import annotations

import gc
import linecache
import os
import subprocess
import sys
import textwrap
import weakref

import pardo as pp
import pytest
from pardo._compiler import frontend

pytestmark = pytest.mark.once

KERNEL = """
import pardo as pp
@pp.kernel
def k(item: pp.Item, y):
    y[item.get_id(0)] = {number}.0
"""
LOOP = """
import pardo as pp
@pp.jit
def k(y):
    for i in pp.prange(y.shape[0]):
        y[i] = {number}.0
"""
SERIAL = """
import pardo as pp
@pp.jit
def k(y):
    s = 0.0
    for i in range(5):
        s += {number}.0
    return s
"""
HELPER = """
import pardo as pp
@pp.func
def f(x):
    return x + {number}.0
@pp.kernel
def k(item: pp.Item, y):
    y[item.get_id(0)] = f(y[item.get_id(0)])
"""


def executed(text: str, number: int):
    name = f"<executed {number}>"
    text = text.format(number=number)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict = {}
    exec(compile(text, name, "exec"), space)
    return space["k"], name


def use(k, text: str, y) -> None:
    if text in (KERNEL, HELPER):
        k[pp.Range(4)](y)
        k[pp.Range(4), pp.Queue.of("cpu")](y)
    else:
        k(y)


@pytest.mark.parametrize("text", [KERNEL, LOOP, SERIAL, HELPER], ids=["kernel", "loop", "serial", "helper"])
def test_executed_functions_are_freed(text, monkeypatch):
    monkeypatch.setattr(frontend, "MOST_TRANSLATIONS", 4)
    y = pp.zeros(4)
    alive = []
    for number in range(40):
        k, name = executed(text, number)
        use(k, text, y)
        alive.append(weakref.ref(k))
        del k, linecache.cache[name]
    y.wait()
    gc.collect()
    assert sum(ref() is not None for ref in alive) <= 4


def test_many_kernels_and_submissions_keep_the_memory_flat():
    """By the process's own count of pages after a warm-up; far fewer iterations than would be seen as growth by hand."""
    program = """
        import gc, linecache
        import pardo as pp
        y = pp.zeros(4)
        def pages():
            gc.collect()
            return int(open("/proc/self/statm").read().split()[1])
        def make(number):
            text = f"import pardo as pp\\n@pp.kernel\\ndef k(item: pp.Item, y):\\n    y[item.get_id(0)] *= {number % 7}.0\\n"
            name = f"<executed {number}>"
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
            space = {}
            exec(compile(text, name, "exec"), space)
            space["k"][pp.Range(4)](y)
            del linecache.cache[name]
        for number in range(300):
            make(number)
        y.wait()
        before = pages()
        for number in range(300, 1500):
            make(number)
        y.wait()
        kernels = (pages() - before) * 4 / 1200
        queue = pp.Queue.of("cpu")
        for _ in range(20_000):
            queue.fill(y, 1.0)
            y += 1
        y.wait()
        before = pages()
        for _ in range(100_000):
            queue.fill(y, 1.0)
            y += 1
        y.wait()
        submissions = (pages() - before) * 4 / 100_000
        assert kernels < 8, f"{kernels} KiB a kernel"
        assert submissions < 0.02, f"{submissions} KiB a submission"
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_exit_without_a_word(tmp_path):
    """Kernels, launchers, functions, events, queues and arrays that live in modules until the end, and in cycles."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import pardo as pp

            @pp.kernel
            def k(item: pp.Item, y):
                y[item.get_id(0)] = 1.0

            @pp.jit
            def f(y):
                for i in pp.prange(y.shape[0]):
                    y[i] = 2.0

            y = pp.zeros(4)
            launcher = k[pp.Range(4), pp.Queue.of("cpu"), [pp.UserEvent() for _ in range(0)]]
            launcher(y)
            k[pp.Range(4)](y)
            f(y)
            queue = pp.Queue("cpu")

            class Holder:
                def __init__(self):
                    self.me = self
                    self.launcher = k[pp.Range(4)]
                    self.event = queue.host_task(lambda: self.launcher)
                    self.event.add_done_callback(lambda: self.event)
                    self.pending = pp.ones(3) + 1

            holder = Holder()
            queue.wait()
            """
        )
    )
    reporting = os.environ | {"PARDO_LEAK_REPORT": "1"}  # by nanobind, of objects that are still there
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False, env=reporting)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_exit_without_a_word_after_a_failed_test(tmp_path):
    """pytest keeps the frames of failures until the process ends, and with them arrays."""
    tests = tmp_path / "test_failing.py"
    tests.write_text(
        textwrap.dedent(
            """
            import pardo as pp

            KEPT = []

            def test_wrong():
                x = pp.zeros(3)
                KEPT.append((x, KEPT))
                assert pp.asnumpy(x).sum() == 1
            """
        )
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark", str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "nanobind" not in done.stdout


@pytest.mark.varied("order")
@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_queues_with_barriers_are_freed(order):
    """A queue keeps its last barrier, whose event keeps what the queue is made of: until the queue is dropped, on every device."""
    program = f"""
        import pardo as pp
        def pages():
            return int(open("/proc/self/statm").read().split()[1])
        for device in pp.get_devices():
            def one():
                q = pp.Queue(device, order={order!r})
                task = q.host_task(lambda: None)
                q.barrier([task])
                q.wait()
            for _ in range(300):
                one()
            before = pages()
            for _ in range(1500):
                one()
            grown = (pages() - before) * 4 / 1500
            assert grown < 0.7, f"{{grown}} KiB a queue of {{device.id}}"
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
