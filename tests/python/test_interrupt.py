# tests/python/test_interrupt.py: Ctrl-C ends any wait and any launch on the CPU, and leaves queues and arrays usable.
from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

PRELUDE = """
import os, signal, sys, threading
import numpy as np
import pardo as pp

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it

@pp.kernel
def steps(item: pp.Item, n, y):
    i = item.get_id(0)
    s = 0.0
    for k in range(n):
        s = s * 0.5 + k
    y[i] = s

@pp.kernel
def grouped(item: pp.NdItem, n, y):
    i = item.get_global_id(0)
    s = 0.0
    for k in range(n):
        s = s * 0.5 + k
        if k % 1000 == 0:
            pp.group_barrier(item.get_group())
    y[i] = s

@pp.kernel
def until(item: pp.Item, limit, y):
    i = item.get_id(0)
    s = 1.0
    while s < limit[0]:
        s = s * 0.5 + 1.0
    y[i] = s

@pp.jit
def serial(n):
    s = 0.0
    for k in range(n):
        s = s * 0.5 + k
    return s

@pp.jit
def parallel(x, n):
    for i in pp.prange(x.shape[0]):
        s = 0.0
        for k in range(n):
            s = s * 0.5 + k
        x[i] = s

def warm():
    y = pp.zeros(4)
    steps[pp.Range(4)](3, y).wait()
    until[pp.Range(4)](pp.zeros(1), y).wait()
    grouped[pp.NdRange((64,), (16,))](3, pp.zeros(64)).wait()
    serial(3)
    parallel(y, 3)
    (pp.arange(8) + 1).sum().wait()

def soon():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

def usable():
    x = pp.arange(1000.0) * 2 + 1
    assert float(x.sum()) == 1000.0 * 1000.0
    y = pp.zeros(4)
    steps[pp.Range(4)](1, y).wait()
    pp.Queue.of("cpu").wait()
    assert float(y.sum()) == 0.0

def stopped(y):
    for use in (lambda: y.wait(), lambda: (y + 1).wait(), lambda: np.asarray(y), lambda: float(y.ravel()[0])):
        try:
            use()
        except pp.DeviceError as e:
            assert "interrupted" in str(e) and "undefined" in str(e), e
        else:
            raise AssertionError("a stopped value was read")
"""


def interrupted(tmp_path: Path, body: str, after: str = "") -> None:
    """Run `body`, which Ctrl-C has to end, and then `after`; nothing hangs, and the process ends by itself."""
    lines = [
        PRELUDE,
        "warm()",
        "soon()",
        "try:",
        textwrap.indent(textwrap.dedent(body), "    "),
        "    print('not interrupted')",
        "except KeyboardInterrupt:",
        "    print('interrupted')",
        "usable()",
        textwrap.dedent(after),
    ]
    program = tmp_path / "program.py"  # kernels read their source
    program.write_text("\n".join(lines))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
    assert done.stderr == ""


@pytest.mark.varied("launch")
@pytest.mark.parametrize(
    "launch",
    [
        "steps[pp.Range(64)](10**8 * 40, y)",
        "steps[pp.Range(1)](10**11, y)",
        "grouped[pp.NdRange((64,), (16,))](10**10, y)",
        "until[pp.Range(1)](pp.full(1, 1e9), y)",
        "until[pp.Range(64)](pp.full(1, 1e9), y)",
    ],
)
@pytest.mark.parametrize("wait", ["y.wait()", "pp.Queue.of('cpu').wait()", "float(y[0])", "e.wait(60)", "np.asarray(y)"])
def test_long_kernels(tmp_path, launch, wait):
    interrupted(tmp_path, f"y = pp.zeros(64).force()\ny.wait()\ne = {launch}\n{wait}", "stopped(y)\ny[...] = 3\nassert float(y[5]) == 3")


def test_long_loops(tmp_path):
    interrupted(tmp_path, "serial(10**11)")
    interrupted(tmp_path, "y = pp.zeros(64)\nparallel(y, 10**10)\ny.wait()", "stopped(y)")


@pytest.mark.skipif(os.environ.get("PARDO_FUSION") == "off", reason="without fusion the values of such a program have memory each: 800 GB")
def test_long_array_programs(tmp_path):
    interrupted(tmp_path, "x = (pp.sqrt(pp.arange(10**11) * 1.0) + 1).sum()\nx.wait()", "stopped(x)")
    interrupted(tmp_path, "float((pp.broadcast_to(pp.asarray(np.ones(1)), (10**6, 10**5)) + 1).max())")


def test_dependents_fail_and_others_go_on(tmp_path):
    interrupted(
        tmp_path,
        """
        y, other = pp.zeros(64), pp.zeros(64)
        steps[pp.Range(64)](10**10, y)
        z = (y + 1).force()
        steps[pp.Range(64)](2, other)
        z.wait()
        """,
        "stopped(y)\nstopped(z)\nassert float(other[3]) == 1.0",
    )


def test_another_threads_work_goes_on(tmp_path):
    interrupted(
        tmp_path,
        """
        y = pp.zeros(8)
        queue = pp.Queue.of("cpu")
        thread = threading.Thread(target=lambda: steps[pp.Range(8)](3 * 10**8, y))
        thread.start()
        thread.join()
        queue.wait()
        """,
        "assert float(y[7]) > 0",
    )


def test_waits_for_others(tmp_path):
    gate = (
        "gate = pp.UserEvent()\nqueue = pp.Queue('cpu')\nqueue.barrier(depends=gate)\n"
        "x = (pp.asarray(np.ones(3), queue=queue) + 1).force()\n"
    )
    for wait in ("gate.wait()", "queue.wait()", "x.wait()", "float(x[0])", "pp.wait_any([gate])"):
        interrupted(tmp_path, gate + wait, "gate.set_complete()\nqueue.wait()\nassert float(x[0]) == 2")
    task = "hold = threading.Event()\nqueue = pp.Queue('cpu')\ne = queue.host_task(lambda: hold.wait(60))\n"
    for wait in ("e.wait()", "queue.wait()"):
        interrupted(tmp_path, task + wait, "hold.set()\ne.wait()\nqueue.wait()")


@pytest.mark.parametrize(
    "wait", ["pp.wait_all([done, e])", "pp.wait_any([e])", "list(pp.as_completed([done, e]))", "pp.wait_all([y])", "pp.wait_all([e], 100)"]
)
def test_waits_for_several(tmp_path, wait):
    body = "y = pp.zeros(64).force()\ny.wait()\ndone = pp.Queue.of('cpu').marker()\ne = until[pp.Range(64)](pp.full(1, 1e9), y)\n"
    interrupted(tmp_path, body + wait, "stopped(y)")


@pytest.mark.parametrize("use", ["copy(z, y)", "fill(z, 1, depends=[y])", "barrier(depends=[e])", "host_task(int, depends=[e])"])
def test_queues_that_wait_for_a_kernel_without_end(tmp_path, use):
    body = "y, z = pp.zeros(64).force(), pp.zeros(64).force()\npp.wait_all([y, z])\ne = until[pp.Range(64)](pp.full(1, 1e9), y)\n"
    # One that is dropped does not hold up who drops it.
    interrupted(tmp_path, body + f"pp.Queue('cpu').{use}\ny.wait()", "stopped(y)")
    if "task" not in use:  # that is the user's own code
        interrupted(tmp_path, body + f"queue = pp.Queue('cpu')\nqueue.{use}.wait()", "stopped(y)")


def test_many_dropped_queues(tmp_path):
    body = "y, z = pp.zeros(64).force(), pp.zeros(64).force()\npp.wait_all([y, z])\ne = until[pp.Range(64)](pp.full(1, 1e9), y)\n"
    interrupted(tmp_path, body + "for _ in range(1000):\n    pp.Queue('cpu').barrier(depends=[e])", "e.wait() if not e.done() else None")


def test_memory_of_strangers(tmp_path):
    interrupted(
        tmp_path,
        """
        hold = threading.Event()
        queue = pp.Queue("cpu")
        shared = pp.asarray(np.ones(1000), copy=False, queue=queue)
        e = queue.host_task(lambda: hold.wait(60))
        y = shared + 1
        pp.zeros(1).wait()
        """,
        "hold.set()\nqueue.wait()\nassert float((shared + 1).sum()) == 2000",
    )


def test_a_queue_full_of_work(tmp_path):
    interrupted(
        tmp_path,
        """
        y = pp.zeros(64)
        for _ in range(20000):
            steps[pp.Range(64)](2 * 10**5, y)
        y.wait()
        """,
    )


@pytest.mark.parametrize(
    "use",
    [
        "",
        "queue = pp.Queue('cpu'); queue.copy(z, y)",
        "queue = pp.Queue('cpu'); queue.fill(z, 1, depends=[y])",
        "queue = pp.Queue('cpu'); queue.barrier(depends=[e])",
        "queue = pp.Queue('cpu', order='out_of_order'); event = queue.copy(z, y)",
        "pp.Queue('cpu').copy(z, y)",
        "queue = pp.Queue('cpu'); until[pp.Range(64)](pp.full(1, 1e9, queue=queue), pp.zeros(64, queue=queue))",
    ],
)
def test_exit_with_a_kernel_without_end(tmp_path, use):
    program = tmp_path / "program.py"
    start = "\nwarm()\ny, z = pp.zeros(64), pp.zeros(64)\npp.wait_all([y, z])\ne = until[pp.Range(64)](pp.full(1, 1e9), y)\n"
    program.write_text(f"{PRELUDE}{start}{use}\nprint('end')\n")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_an_interrupted_export_is_not_that_of_the_next_array(tmp_path):
    interrupted(
        tmp_path,
        """
        gate, queue = threading.Event(), pp.Queue("cpu")
        x = pp.zeros(3, queue=queue)
        queue.host_task(gate.wait)
        queue.fill(x, 2)
        memoryview(x)
        """,
        """
        gate.set()
        queue.wait()
        del x
        assert [y.__array_interface__["shape"] for y in [pp.zeros(3) for _ in range(20)]] == [(3,)] * 20
        """,
    )
