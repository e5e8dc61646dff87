# tests/python/test_early_start.py: work that starts when it is worth it, by a rule of the program: the same groups, counters and bits.
from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp
import pytest

DEVICES = ["cpu", *(d.id for d in pp.get_devices() if d.backend in ("opencl", "cuda"))]
COUNTED = ("recorded", "forced", "planned", "flushed", "launched", "compiled", "bytes_read", "bytes_written", "copies", "copied_bytes")

# A program of many kinds of work, which says what was counted and which bits came out. `other` is a second device, if there is one.
PROGRAM = """
import hashlib, json, sys
import numpy as np
import pardo as pp

def program(device, other):
    host = np.random.default_rng(3).random((300, 400))
    x, w = pp.asarray(host, device=device), pp.asarray(host.T.copy(), device=device)
    parts = [x @ w, pp.sort(x * 3 - 1, axis=0), pp.cumsum(pp.sqrt(x) + 1, axis=1), pp.fft.rfft(x + 1), (x @ w).to_device(other) * 2]
    y = x.copy()
    for _ in range(5):
        y = pp.tanh(y * 0.5 + x)
        y[1:] = y[:-1] + x[1:]
    parts += [y, y @ w, (y * 2).to_device(other), pp.linalg.qr(x[:100, :100])[1]]
    parts += [(x - x.mean(axis=0)) / x.std(axis=0), pp.sort(y.ravel())[::7]]
    return [hashlib.sha256(pp.asnumpy(p).tobytes()).hexdigest()[:16] for p in parts]

def counted(device, other):
    before = pp.counters()
    bits = program(device, other)
    after = pp.counters()
    return {k: after[k] - before[k] for k in COUNTED}, bits
"""


def run_program(device: str, other: str) -> tuple[dict[str, int], list[str]]:
    scope: dict[str, Any] = {"COUNTED": COUNTED}
    exec(PROGRAM, scope)
    return scope["counted"](device, other)


@pytest.mark.parametrize("device", ["cpu", *(pytest.param(d, marks=pytest.mark.slow) for d in DEVICES[1:])])
def test_a_hundred_runs_under_load_are_one(device: str) -> None:
    other = DEVICES[(DEVICES.index(device) + 1) % len(DEVICES)]
    run_program(device, other)  # which plans and compiles
    busy = threading.Event()

    def load() -> None:
        values = np.random.default_rng(0).random(100_000)
        while not busy.is_set():
            np.sort(values)

    threads = [threading.Thread(target=load) for _ in range(2)]
    for t in threads:
        t.start()
    try:
        runs = [run_program(device, other) for _ in range(100 if device == "cpu" else 20)]
    finally:
        busy.set()
        for t in threads:
            t.join()
    assert len({json.dumps(run) for run in runs}) == 1


def run_in_process(device: str, what: str, **environment: str) -> Any:
    other = DEVICES[(DEVICES.index(device) + 1) % len(DEVICES)]
    code = f"COUNTED = {COUNTED!r}\n{PROGRAM}\nprint(json.dumps({what}({device!r}, {other!r})))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("device", DEVICES)
def test_the_bits_are_those_of_late_starts(device: str) -> None:
    assert run_in_process(device, "program", PARDO_EAGER="on") == run_in_process(device, "program", PARDO_EAGER="off")


@pytest.mark.parametrize("device", ["cpu", *(pytest.param(d, marks=pytest.mark.slow) for d in DEVICES[1:])])
def test_first_runs_are_one(device: str, tmp_path: Path) -> None:
    """What is compiled by other threads, while the program goes on, changes neither groups nor counters nor bits."""
    runs = [run_in_process(device, "counted", PARDO_CACHE_DIR=str(tmp_path / str(i))) for i in range(3)]
    assert runs[0][0]["compiled"] > 5
    assert runs[1] == runs[0]
    assert runs[2] == runs[0]


@pytest.mark.parametrize("device", DEVICES)
def test_a_call_starts_when_it_is_recorded(device: str) -> None:
    x = pp.ones((700, 700), device=device) + 0
    y = x + 1
    small, large = y[:3, :300] @ y[:300, :3], y @ y
    assert small.pending
    assert not large.pending
    np.testing.assert_array_equal(pp.asnumpy(large), np.full((700, 700), 2800.0))


def test_explain_names_the_row() -> None:
    x = pp.ones((30, 40)) + 0
    text = str(pp.explain(x @ x.T))
    assert "a product of matrices, 7.2e+04 operations" in text
    assert "starts when it is recorded from 200 us on" in text


def test_a_copy_to_another_queue_starts() -> None:
    queue = pp.Queue("cpu")
    x = pp.ones(1_000_000) * 2
    y = x.to_queue(queue)
    assert not x.pending  # it is held, and computed on the way
    assert not y.pending
    z = (pp.ones(1000) * 2).to_queue(queue)
    assert z.pending
    np.testing.assert_array_equal(pp.asnumpy(y), np.full(1_000_000, 2.0))
    np.testing.assert_array_equal(pp.asnumpy(z), np.full(1000, 2.0))


def test_what_fails_fails_at_the_line_of_the_call() -> None:
    x = pp.ones((2000, 2000), device="cpu") + 0
    x.wait()
    pp.set_memory_limit(pp.memory_stats("cpu").in_use + 10_000_000, "cpu")
    try:
        with pytest.raises(MemoryError, match="matmul"):
            x @ x
    finally:
        pp.set_memory_limit(0, "cpu")
    np.testing.assert_array_equal(pp.asnumpy((x @ x)[0, :3]), [2000.0] * 3)


EXIT = """
import pardo as pp
x = pp.ones((600, 600), device={device!r}) + 0
x.wait()
y = pp.sort(pp.tanh(x * 3 + 1) @ x, axis=0)
assert not y.pending
{end}
"""


@pytest.mark.parametrize(
    "end", ["", "import os; os._exit(0)", "import sys; sys.exit(0)", "y.wait(); z = pp.cumsum(pp.exp(y * 2 + x), axis=1)"]
)
@pytest.mark.parametrize("device", DEVICES)
def test_a_process_ends_while_kernels_are_compiled(device: str, end: str, tmp_path: Path) -> None:
    code = EXIT.format(device=device, end=end)
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PARDO_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("device", DEVICES)
def test_what_waits_for_a_compiler_refers_to_nothing(device: str, tmp_path: Path) -> None:
    """Whether an array is the only one with its memory does not depend on how far a compiler is."""
    code = f"""
import pardo as pp
x, out = pp.ones((600, 600), device={device!r}) + 0, pp.ones((600, 600), device={device!r}) + 0
x.wait(), out.wait()
w = pp.sort(pp.tanh(x * 3 + 1), axis=0)
out[...] = x
out.resize((300, 300))
print(out.shape, float(out.sum()))
"""
    environment = {**os.environ, "PARDO_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("(300, 300) 90000.0\n", "")


def test_an_exit_waits_for_compilers(tmp_path: Path) -> None:
    """Compilers make things that are destroyed at exit."""
    lines = "".join(f"pp.sort({'pp.exp(' * i}x * {i}.5{')' * i} @ x, axis=0)\n" for i in range(1, 10))
    code = f"""
import atexit
def late():
    print(float((pp.sort(x * 9 + 1, axis=0) @ x).sum() > 0))
atexit.register(late)
import pardo as pp
x = pp.ones((300, 300)) + 0
x.wait()
kept = [{lines.replace(chr(10), ", ")}]
"""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PARDO_CACHE_DIR": str(tmp_path / str(i))},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(6)  # at once: the threads of each are then far apart
    ]
    for process in processes:
        assert (*process.communicate(timeout=300), process.returncode) == ("1.0\n", "", 0)


FORK = """
import os
import numpy as np
import pardo as pp

x = pp.ones((600, 600)) + 0
x.wait()
for i in range(1, 13):
    values = x
    for k in range(i):
        values = pp.exp(values * 0.25) if k % 2 else values * 0.5 + 1
    y = pp.sort(values @ x, axis=0)
    child = os.fork()
    total = float((y * 2 + i).sum())
    if child == 0:
        os._exit(7 if total == float((pp.sort(values @ x, axis=0) * 2 + i).sum()) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7, i
"""


def test_a_fork_finds_compilers_at_rest(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        env={**os.environ, "PARDO_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_record_fresh_calls_at_once(tmp_path: Path) -> None:
    code = """
import threading
import numpy as np
import pardo as pp

x = pp.asarray(np.random.default_rng(1).random((300, 300)))
found = {}

def work(i):
    values = x
    for k in range(i + 1):
        values = pp.exp(values * 0.25) if k % 2 else values * 0.5 + 1
    found[i] = pp.asnumpy(pp.sort(values @ x, axis=0))

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for i in range(8):
    values = np.asarray(x)
    for k in range(i + 1):
        values = np.exp(values * 0.25) if k % 2 else values * 0.5 + 1
    np.testing.assert_allclose(found[i], np.sort(values @ np.asarray(x), axis=0), rtol=1e-12)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PARDO_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
