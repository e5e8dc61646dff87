# bench/harness.py: how one thing is timed, and what is written down beside the time.
"""Calibrated loops and medians. The CPU time of other processes is recorded, so that a disturbed figure can be told from a clean one."""

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


def measure(function: Callable[[], object], budget: float, least: int = 5) -> dict:
    """Times `function`, which waits for its own result: the first call alone, then the median of samples that fill `budget` seconds.

    Short functions are looped until a sample lasts a millisecond. Times in seconds a call.
    """
    start = time.perf_counter()
    function()
    first = time.perf_counter() - start

    loops = 1
    while True:
        start = time.perf_counter()
        for _ in range(loops):
            function()
        passed = time.perf_counter() - start
        if passed > 1e-3 or loops >= 1 << 20:
            break
        loops = max(loops * 2, min(loops * 100, int(loops * 1.2e-3 / max(passed, 1e-9))))

    gc.collect()
    gc.disable()
    samples = []
    others, wall = machine_busy() - own_busy(), time.perf_counter()
    try:
        while len(samples) < least or (time.perf_counter() - wall < budget and len(samples) < 10_000):
            start = time.perf_counter()
            for _ in range(loops):
                function()
            samples.append((time.perf_counter() - start) / loops)
    finally:
        gc.enable()
    wall = time.perf_counter() - wall
    others = machine_busy() - own_busy() - others
    return {
        "median": statistics.median(samples),
        "best": min(samples),
        "spread": statistics.pstdev(samples) / statistics.mean(samples),
        "first": first,
        "samples": len(samples),
        "loops": loops,
        "others_cpu": max(0.0, others / (wall * (os.cpu_count() or 1))),  # of the machine
    }


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
