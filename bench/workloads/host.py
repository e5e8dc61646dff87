# bench/workloads/host.py: what pardo costs beside computing. Each probe is a program, run in a process of its own.
import json
import os
import statistics
import subprocess
import sys
import tempfile

TIMED_IMPORT = """
import time, {before}
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""

RECORD = """
import time
import pardo as pp
a, b = pp.ones(16).wait(), pp.ones(16).wait()
def loop(n):
    start = time.perf_counter()
    for _ in range(n): a + b
    return (time.perf_counter() - start) / n
loop(1000)
print(min(loop(20_000) for _ in range(9)))
"""

# Functions and methods that are written in Python, called as users do, and the function inside: pairs that take turns.
SHOWN = """
import time
import pardo as pp
from pardo import _core
def inner(x, axis=None): return x
class Plain:
    def method(self, x): return x
class Shown:
    method = _core._show(Plain.method, "method", "Shown.method", "bench", True)
shown, plain, mine = _core._show(inner, "inner", "inner", "bench", True), Plain(), Shown()
def functions(f, n):
    start = time.perf_counter()
    for _ in range(n): f(1)
    return (time.perf_counter() - start) / n
def methods(o, n):
    start = time.perf_counter()
    for _ in range(n): o.method(1)
    return (time.perf_counter() - start) / n
n = 20_000
pairs = [(functions(inner, n), functions(shown, n), methods(plain, n), methods(mine, n)) for _ in range(30)]
f, g, m, s = map(min, zip(*pairs))
print(max(g - f, s - m))
"""

FIRST = {
    "pardo": """
import time, numpy as np
import pardo as pp
v = np.arange(1000.0)
start = time.perf_counter()
x = pp.asarray(v)
float((x * x + x).sum())
print(time.perf_counter() - start)
""",
    "numba": """
import time, numpy as np
import numba
v = np.arange(1000.0)
start = time.perf_counter()
numba.njit(lambda x: (x * x + x).sum())(v)
print(time.perf_counter() - start)
""",
    "numexpr": """
import time, numpy as np
import numexpr
v = np.arange(1000.0)
start = time.perf_counter()
float(numexpr.evaluate("sum(x * x + x)", {"x": v}))
print(time.perf_counter() - start)
""",
    "jax": """
import time, numpy as np
import jax
jax.config.update("jax_enable_x64", True)
v = np.arange(1000.0)
start = time.perf_counter()
float(jax.jit(lambda x: (x * x + x).sum())(v))
print(time.perf_counter() - start)
""",
    "drjit": """
import time, numpy as np
import drjit as dr
from drjit.llvm import Float64
v = np.arange(1000.0)
start = time.perf_counter()
x = Float64(v)
dr.sum(x * x + x)[0]
print(time.perf_counter() - start)
""",
}

# Kernels of ten operations that differ in structure; with one that was compiled before, the compiler itself is up.
COMPILE = """
import statistics, time
import pardo as pp
x, y = pp.ones(64).wait(), pp.ones(64).wait()
((x - y) * x).wait()
unary = [pp.sin, pp.cos, pp.exp, pp.tanh, pp.sqrt, pp.log1p, pp.arctan, pp.expm1, pp.sinh]
def ten(f, g):
    t = f(x) * y
    t = t + g(y)
    t = t * x - y
    t = t * t + 1.0
    return t * 0.5 - x
before = pp.counters()["compiled"]
times = []
for f in unary:
    for g in unary[:3]:
        start = time.perf_counter()
        ten(f, g).wait()
        first = time.perf_counter() - start
        start = time.perf_counter()
        ten(f, g).wait()
        times.append(first - (time.perf_counter() - start))
assert pp.counters()["compiled"] - before == len(times), "kernels were not compiled anew"
print(statistics.median(times))
"""

# In turns, so that what else the machine does meets both. The two kinds of programs differ in one sign.
COMPILE_THREADS = """
import threading, time
import pardo as pp
x, y = pp.ones(64).wait(), pp.ones(64).wait()
((x - y) * x).wait()
unary = [pp.sin, pp.cos, pp.exp, pp.tanh, pp.sqrt, pp.log1p, pp.arctan, pp.expm1]
def six(f, g, sign):
    t = f(x) * y + g(y)
    t = t * x - y
    return t * t + x if sign else t * t - x
def work(pairs, sign):
    for f, g in pairs: six(f, g, sign).wait()
before = pp.counters()["compiled"]
one = many = 0.0
for f in unary:
    pairs = [(f, g) for g in unary]
    start = time.perf_counter()
    work(pairs, False)
    one += time.perf_counter() - start
    threads = [threading.Thread(target=work, args=([pair], True)) for pair in pairs]
    start = time.perf_counter()
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    many += time.perf_counter() - start
assert pp.counters()["compiled"] - before == 2 * len(unary) ** 2, "kernels were not compiled anew"
print(many / one)
"""

PEAK = """
import pathlib
import pardo as pp
def chain(x, y):
    t = pp.sin(x) * y
    t = t + pp.cos(y)
    t = t * pp.exp(x) - y
    t = t * t
    return t + 1.0
def status(name):
    line = next(l for l in pathlib.Path("/proc/self/status").read_text().splitlines() if l.startswith(name))
    return int(line.split()[1]) * 1024
n = 20_000_000
x, y = pp.full(n, 0.5).wait(), pp.full(n, 0.25).wait()
chain(x, y).wait()
pp.trim_memory()
pathlib.Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
result = chain(x, y).wait()
print(status("VmHWM") - before - result.nbytes)
"""

LOOP = """
import pathlib, json
import pardo as pp
def rss():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
def kernels():
    return pp.counters()["compiled"] + pp.counters()["from_disk"]
x, a, b = pp.full(1000, 0.5).wait(), pp.full(1000, 0.999).wait(), pp.full(1000, 0.001).wait()
before = kernels()
for _ in range(10_000): x = x * a + b
start = rss()
for _ in range(90_000): x = x * a + b
x.wait()
print(json.dumps([rss() - start, kernels() - before]))
"""

LIMITS = {  # what is asked for; the unit of the table
    "import": (0.040, "ms"),
    "record": (0.3e-6, "µs"),
    "shown": (0.03e-6, "µs"),
    "small_chain": (6e-6, "µs"),
    "small_add": (1.6e-6, "µs"),
    "first_cold": (0.015, "ms"),
    "first_disk": (0.002, "ms"),
    "compile": (0.010, "ms"),
    "compile_threads": (0.65, ""),
    "peak": (1e6, "MB"),
    "loop_memory": (1e6, "MB"),
    "loop_kernels": (1, ""),
}
TITLES = {
    "import": "import, beyond NumPy",
    "record": "record one operation on 16 elements",
    "shown": "a call of a Python function, beyond the function",
    "small_chain": "ten operations on 16 elements, then one value read",
    "small_add": "a + b on 16 elements, each forced",
    "first_cold": "first result in a fresh process, empty cache",
    "first_disk": "first result in a fresh process, from disk",
    "compile": "compile one fused kernel of ten operations",
    "compile_threads": "8 threads compile 8 programs, of the time that one takes",
    "peak": "peak memory of a fused chain of ten, beyond inputs and output",
    "loop_memory": "memory that 10⁵ times x = x * a + b leaves behind",
    "loop_kernels": "kernels that this loop compiles",
}


CACHES = ("PARDO_CACHE_DIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH", "HOME")


def run(program: str, cache: str, python: str = sys.executable, variables: dict[str, str] | None = None):
    """What a program prints, in a process of its own with its caches in one folder."""
    done = subprocess.run(
        [python, "-c", program],
        env={**(variables or os.environ), **dict.fromkeys(CACHES, cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    return json.loads(done.stdout)


def median(program: str, cache: str, times: int) -> float:
    return statistics.median(run(program, cache) for _ in range(times))


def probe_all(peers: list[str], times: int = 9) -> dict[str, dict[str, float | str]]:
    """Rows of LIMITS for every peer that has them; seconds, bytes or counts; a text where a probe failed."""
    report: dict[str, dict[str, float | str]] = {name: {} for name in LIMITS}

    def note(row, peer, probe):
        try:
            report[row][peer] = probe()
        except Exception as error:
            report[row][peer] = f"{type(error).__name__}: {error}"[:300]

    with tempfile.TemporaryDirectory() as warm:
        for peer in peers:
            if peer == "numpy":
                note("import", peer, lambda: median(TIMED_IMPORT.format(before="sys", module="numpy"), warm, times))
                continue
            module = "drjit.llvm" if peer == "drjit" else peer
            run_import = TIMED_IMPORT.format(before="numpy", module=module)
            note("import", peer, lambda program=run_import: median(program, warm, times))

            def cold(program=FIRST[peer]):
                values = []
                for _ in range(3):
                    with tempfile.TemporaryDirectory() as empty:
                        values.append(run(program, empty))
                return statistics.median(values)

            note("first_cold", peer, cold)
        if "pardo" in peers:
            run(FIRST["pardo"], warm)
            note("first_disk", "pardo", lambda: median(FIRST["pardo"], warm, times))
            note("record", "pardo", lambda: run(RECORD, warm))
            note("shown", "pardo", lambda: run(SHOWN, warm))
            note("peak", "pardo", lambda: run(PEAK, warm))

            def uncached(program):
                with tempfile.TemporaryDirectory() as empty:
                    return run(program, empty)

            note("compile", "pardo", lambda: uncached(COMPILE))
            note("compile_threads", "pardo", lambda: uncached(COMPILE_THREADS))
            try:
                report["loop_memory"]["pardo"], report["loop_kernels"]["pardo"] = run(LOOP, warm)
            except RuntimeError as error:
                report["loop_memory"]["pardo"] = str(error)[:300]
    return report
