# tests/python/test_blas_threads.py: threads of OpenBLAS, NumPy's and ours, leave the processors to others when they have nothing to do.
from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from support import check

pytestmark = pytest.mark.once
CPU = pp.Device("cpu")
UNITS = CPU.max_compute_units

SPINNING = """
import os, sys, time
{first}
import numpy as np
{last}
def running():
    "How many other threads run without an end."
    count = 0
    for thread in os.listdir("/proc/self/task"):
        if int(thread) != os.getpid():
            with open(f"/proc/self/task/{{thread}}/stat") as file:
                count += file.read().rpartition(")")[2].split()[0] == "R"
    return count
A = np.ones((300, 300))
seen = []
for _ in range(10):
    A @ A
    time.sleep(0.02)
    seen.append(running())
print(min(seen), os.environ.get("OPENBLAS_THREAD_TIMEOUT"))
"""


def seen_running(first: str, last: str, **variables: str) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_THREAD_TIMEOUT"} | variables
    command = [sys.executable, "-c", SPINNING.format(first=first, last=last)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(("first", "last"), [("import pardo", ""), ("", "import pardo")], ids=["pardo first", "NumPy first"])
def test_idle_threads_of_numpy_sleep(first, last):
    """Whichever of the two is imported first; and the environment is as it was."""
    assert seen_running(first, last) == ["0", "None"]


def test_a_time_of_the_users_own_stays():
    assert seen_running("import pardo", "", OPENBLAS_THREAD_TIMEOUT="5")[1] == "5"


def test_numpy_is_left_alone_while_other_threads_run():
    """One of them could be in a product, and NumPy's threads would go away under it."""
    program = """
import threading, numpy as np
from concurrent.futures import ThreadPoolExecutor
A = np.ones((200, 200))
stop = threading.Event()
def work():
    while not stop.is_set(): assert (A @ A)[0, 0] == 200
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads: t.start()
import pardo as pp
x = pp.asarray(A)
for _ in range(20): assert (x @ x)[7, 7] == 200
stop.set()
for t in threads: t.join()
print("done")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize(
    "shape", [(256, 256, 256), (300, 257, 300), (260, 2000, 259), (2000, 100, 260), (259, 333, 1201), (1201, 300, 257)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_large_products(shape, dtype):
    """Each thread computes a part of the longer edge; of a matrix times its own transposed, a part of one triangle."""
    m, n, k = shape
    rng = np.random.default_rng(m + n)
    a = rng.integers(-8, 8, (m, k)).astype(dtype)
    b = rng.integers(-8, 8, (k, n)).astype(dtype)
    x, y = pp.asarray(a), pp.asarray(b)
    check(x @ y, a @ b)
    check(y.T @ x.T, b.T @ a.T)
    check(x @ x.T, a @ a.T)
    check(x.T @ x, a.T @ a)
    check(pp.stack([x, x + 1]) @ y, np.stack([a, a + 1]) @ b)


def used_processors() -> dict[int, tuple[int, set[int]]]:
    """For each thread of the process its ticks of processor time, and the processors that it may use."""
    found = {}
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/stat") as file:
            ticks = int(file.read().rpartition(")")[2].split()[11])
        found[int(thread)] = ticks, os.sched_getaffinity(int(thread))
    return found


@pytest.mark.skipif(UNITS < 2, reason="one core")
def test_products_of_a_sub_device_stay_on_its_cores():
    """So products on two sub-devices do not take each other's cores."""
    for part in CPU.create_sub_devices(1)[:2]:
        x = pp.ones((700, 700), device=part)
        (x @ x).wait()
        before = used_processors()
        end = time.monotonic() + 20
        while True:
            product = (x @ x).force()
            while not product.event.done():  # a thread that waited would compute it, on these cores for that time alone
                time.sleep(0.001)
            worked = {t: cores for t, (ticks, cores) in used_processors().items() if ticks - before.get(t, (0, None))[0] >= 10}
            if worked or time.monotonic() > end:
                break
        assert worked
        assert all(len(cores) == 1 for cores in worked.values()), worked


ON_WHEELS = "numpy.libs" in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("shape", [(724, 724), (7200, 64), (64, 7200), (2, 300000), (300000, 2), (1448, 1448), (2050, 2050)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_matrices_times_vectors(shape, dtype):
    """By NumPy's OpenBLAS where it is the one of its wheels: rows, columns, parts of rows, vectors with steps."""
    m, k = shape
    rng = np.random.default_rng(m)
    wide = rng.integers(-8, 8, (m, 2 * k)).astype(dtype)
    v = rng.integers(-8, 8, 2 * k).astype(dtype)
    if wide.dtype.kind == "c":
        wide += 1j * rng.integers(-8, 8, wide.shape).astype(wide.real.dtype)
    x, y = pp.asarray(wide), pp.asarray(v)
    for a, b in ((wide[:, :k], x[:, :k]), (np.asfortranarray(wide[:, k:]), pp.asarray(np.asfortranarray(wide[:, k:])))):
        for part in (slice(0, k), slice(0, 2 * k, 2), slice(None, None, -2)):
            check(b @ y[part], a @ v[part])
            check(y[part] @ b.T, v[part] @ a.T)
            check((b @ y[part][:, None])[:, 0], a @ v[part])


VECTORS = """
import os, sys, threading
import numpy as np
import pardo as pp
a = np.random.default_rng(1).integers(-8, 8, (1000, 1000)).astype("float32")
v, want = a[0].copy(), a @ a[0]
x, y = pp.asarray(a), pp.asarray(v)
def right(): return bool((pp.asnumpy(x @ y) == want).all())
assert right()
child = os.fork()
if child == 0:
    os._exit(0 if right() and (a @ v == want).all() else 1)
assert os.waitpid(child, 0)[1] == 0
found = []
def work():
    for _ in range(200):
        found.append(right() and bool((a @ v == want).all()))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(all(found), len(found), pp._core._use_openblas_of_numpy())
"""


@pytest.mark.parametrize("threads", [None, "1"])
def test_vectors_in_threads_and_forked_children(threads):
    variables = dict(os.environ) | ({"OPENBLAS_NUM_THREADS": threads} if threads else {})
    done = subprocess.run([sys.executable, "-c", VECTORS], env=variables, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == f"True 800 {ON_WHEELS}\n", done.stderr
