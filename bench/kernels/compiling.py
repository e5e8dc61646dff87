# bench/kernels/compiling.py: what compiling a kernel of thirty lines takes, and loading it from the disk cache. Processes of pardo alone.
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workloads import host


@dataclass(frozen=True)
class Cost:
    title: str
    limit: float  # seconds, at most


COSTS = {"compile": Cost("compile a kernel of 30 lines, empty caches", 0.020), "from_disk": Cost("load it from disk", 0.001)}
PROCESSES = 7

# The first kernel of a process starts the compiler, so another one goes before. A call less a later one is what the launch takes.
PROGRAM = """
import sys, time
sys.path.insert(0, {folder!r})
import pardo as pp
from kernels import thirty_lines
x, y, u, v = (pp.zeros(64).wait() for _ in range(4))
thirty_lines.another[pp.Range(64)](x, y).wait()
def seconds():
    start = time.perf_counter()
    thirty_lines.step[pp.Range(64)](x, y, u, v, 0.01).wait()
    return time.perf_counter() - start
first = seconds()
print(first - seconds())
"""


def measure(variables: dict[str, str]) -> dict[str, float | dict[str, str]]:
    """Seconds by the names of COSTS."""
    program = PROGRAM.format(folder=str(Path(__file__).resolve().parent.parent))
    times: dict[str, list[float]] = {name: [] for name in COSTS}
    try:
        for _ in range(PROCESSES):
            with tempfile.TemporaryDirectory() as cache:
                for kept in times.values():
                    kept.append(host.run(program, cache, variables=variables))
    except RuntimeError as error:
        return {name: {"error": str(error)[:300]} for name in COSTS}
    return {name: statistics.median(kept) for name, kept in times.items()}
