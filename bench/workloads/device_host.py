# bench/workloads/device_host.py: what the host pays for a device's work, and the first result of a process.
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from workloads import host


@dataclass(frozen=True)
class Cost:
    title: str
    unit: str
    asked: float | None = None  # on an H200; at most, or at least where the unit is GB/s


# Rows that a worker times; each library says how, in its function `cost`.
COSTS = {
    "launch": Cost("a + b on 16 elements, handed over", "µs", 3.5),
    "launch_wait": Cost("the same and waited for", "µs", 9),
    "allocate": Cost("allocate and free 1 MiB", "µs", 0.3),
    "to_device": Cost("copy a NumPy array to the device", "GB/s", 30),
    "from_device": Cost("copy an array back to NumPy", "GB/s", 35),
    "await": Cost("from submission to what awaits its event", "µs", 30),
}
# Rows that are a process each: seconds of the first a + b, beyond import, context and the copy of the operands.
FIRST_COSTS = {
    "first_cold": Cost("first a + b of a process, empty caches", "ms", 30),
    "first_cached": Cost("first a + b of a process, kept caches", "ms", 3),
}


def copied_bytes(whole: bool) -> int:
    return 1 << 30 if whole else 1 << 28


FIRST = """
import time, numpy as np
{prepare}
v = np.arange(1000.0)
a = {copy}
{wait}
start = time.perf_counter()
b = a + a
{finish}
print(time.perf_counter() - start)
"""
PROGRAMS = {
    "pardo": {"prepare": "import pardo as pp", "copy": "pp.asarray(v)", "wait": "a.wait()", "finish": "b.wait()"},
    "cupy": {
        "prepare": "import cupy",
        "copy": "cupy.asarray(v)",
        "wait": "cupy.cuda.get_current_stream().synchronize()",
        "finish": "cupy.cuda.get_current_stream().synchronize()",
    },
    "torch": {
        "prepare": "import os, torch\nd = 'cuda' if os.environ['BENCH_KIND'] == 'cuda' else 'cpu'",
        "copy": "torch.from_numpy(v).to(d)",
        "wait": "torch.cuda.synchronize() if d == 'cuda' else None",
        "finish": "torch.cuda.synchronize() if d == 'cuda' else None",
    },
    "jax": {
        "prepare": "import os, jax\njax.config.update('jax_enable_x64', True)\n"
        "jax.config.update('jax_platforms', 'cuda' if os.environ['BENCH_KIND'] == 'cuda' else 'cpu')",
        "copy": "jax.numpy.asarray(v)",
        "wait": "a.block_until_ready()",
        "finish": "b.block_until_ready()",
    },
    "pyopencl": {
        "prepare": "import sys\nsys.path.insert(0, {folder!r})\nfrom peers.pyopencl import QUEUE, cla",
        "copy": "cla.to_device(QUEUE, v)",
        "wait": "QUEUE.finish()",
        "finish": "QUEUE.finish()",
    },
}


def first_results(peers: list[str], folder: str) -> dict[str, dict[str, float | str]]:
    """Rows of FIRST_COSTS for the libraries that have them; a text where a probe failed."""
    report: dict[str, dict[str, float | str]] = {name: {} for name in FIRST_COSTS}

    def note(row: str, peer: str, probe: Callable[[], float]) -> None:
        try:
            report[row][peer] = probe()
        except RuntimeError as error:
            report[row][peer] = str(error)[:300]

    for peer in peers:
        if peer not in PROGRAMS:
            continue
        program = FIRST.format(**{key: part.format(folder=folder) for key, part in PROGRAMS[peer].items()})

        def cold(program: str = program) -> float:
            values = []
            for _ in range(3):
                with tempfile.TemporaryDirectory() as empty:
                    values.append(host.run(program, empty))
            return statistics.median(values)

        def cached(program: str = program) -> float:
            with tempfile.TemporaryDirectory() as warm:
                host.run(program, warm)
                return host.median(program, warm, 5)

        note("first_cold", peer, cold)
        note("first_cached", peer, cached)
    return report
