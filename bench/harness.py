# bench/harness.py: how one thing is timed, and what is written down beside the time.
"""Calibrated loops and medians, in rounds.

The CPU time of other processes is recorded, so that a disturbed figure can be told from a clean one.
"""

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def machine_busy() -> float:
    """CPU seconds that all processes of the machine have used."""
    user, nice, system, _idle, _wait, irq, softirq, steal, *_ = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + irq + softirq + steal) / TICK


def own_busy() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Timer:
    """Times a function: the first call alone, then samples whenever asked.

    Short functions are looped until a sample lasts `shortest` seconds; the first request for samples finds out how often. Times in
    seconds a call. The function waits for its own result, or `settle` waits for that of the last call of a sample; with `outside`, the
    clock has stopped by then.
    """

    def __init__(
        self,
        function: Callable[[], object],
        settle: Callable[[object], object] | None = None,
        *,
        outside: bool = False,
        shortest: float = 1e-3,
        most_loops: int = 1 << 20,
    ) -> None:
        self.function = function
        self.settle = settle
        self.outside = outside
        self.shortest = shortest
        self.most_loops = most_loops
        self.first = self._run(1)
        self.loops = 0

    def _calibrate(self) -> None:
        self.loops = 1
        shortest, most_loops = self.shortest, self.most_loops
        while (passed := self._run(self.loops)) <= shortest and self.loops < most_loops:
            wanted = max(self.loops * 2, min(self.loops * 100, int(self.loops * 1.2 * shortest / max(passed, 1e-9))))
            self.loops = min(wanted, most_loops)

    def _run(self, loops: int) -> float:
        result = None
        start = time.perf_counter()
        for _ in range(loops):
            result = self.function()
        if self.settle and not self.outside:
            self.settle(result)
        passed = time.perf_counter() - start
        if self.settle and self.outside:
            self.settle(result)
        return passed

    def sample(self, budget: float) -> dict:
        """Samples that fill `budget` seconds, after one that is left out: others have used the caches since the last time."""
        if not self.loops:
            self._calibrate()
        gc.collect()
        gc.disable()
        samples = []
        self._run(self.loops)
        others, start = machine_busy() - own_busy(), time.perf_counter()
        try:
            while not samples or (time.perf_counter() - start < budget and len(samples) < 10_000):
                samples.append(self._run(self.loops) / self.loops)
        finally:
            gc.enable()
        wall = time.perf_counter() - start
        others = machine_busy() - own_busy() - others
        return {"samples": samples, "loops": self.loops, "others_cpu": max(0.0, others / (wall * (os.cpu_count() or 1)))}  # of the machine


def summary(rounds: list[dict]) -> dict:
    """What is kept of a function's rounds."""
    samples = [sample for each in rounds for sample in each["samples"]]
    return {
        "median": statistics.median(samples),
        "best": min(samples),
        "spread": statistics.pstdev(samples) / statistics.mean(samples),
        "rounds": [statistics.median(each["samples"]) for each in rounds],
        "samples": len(samples),
        "loops": rounds[0]["loops"],
        "others_cpu": statistics.mean(each["others_cpu"] for each in rounds),
    }


def ratio(theirs: dict, mine: dict) -> float:
    """Their time divided by mine: the median over rounds, in each of which both ran one after the other."""
    return statistics.median(a / b for a, b in zip(theirs["rounds"], mine["rounds"], strict=True))


def touch_memory(megabytes: int) -> None:
    """Makes the machine give us pages now: a virtual machine's first touch of memory is dear, and would fall on whoever is first."""
    block = bytearray(megabytes << 20)
    block[::4096] = b"\1" * len(block[::4096])


def describe_machine() -> dict:
    def read(path: str) -> str:
        try:
            return Path(path).read_text().strip()
        except OSError:
            return ""

    model = next(
        (line.split(":", 1)[1].strip() for line in read("/proc/cpuinfo").splitlines() if line.startswith("model name")),
        platform.machine(),
    )
    flags = next((line.split() for line in read("/proc/cpuinfo").splitlines() if line.startswith("flags")), [])
    memory = next((int(line.split()[1]) >> 20 for line in read("/proc/meminfo").splitlines() if line.startswith("MemTotal")), 0)
    return {
        "cpu": model,
        "cores_used": len(os.sched_getaffinity(0)),
        "cores": os.cpu_count(),
        "vector": next((name for name in ("avx512f", "avx2", "sse4_2") if name in flags), ""),
        "memory_gib": memory,
        "kernel": platform.release(),
        "huge_pages": read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "python": platform.python_version(),
    }


def versions(names: list[str]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = ""
    return found
