# bench/workloads/beside.py: what a device does side by side: parts of it at the same time, and copies beside computing. pardo alone.
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Pair:
    title: str
    parts: tuple[str, ...]  # names of the times, as the rows show them
    share: str  # what the two say together
    asked: float  # at least
    asked_of: tuple[str, ...]  # types of devices that it is asked of


PAIRS = {
    "sub_devices": Pair(
        "compute-bound work, 2 sub-devices", ("whole device, work of both", "both parts at once"), "of the whole's rate", 0.95, ("cpu",)
    ),
    "overlap": Pair("copies there and back, kernels", ("copies alone", "kernels alone", "at once"), "of the sum saved", 0.40, ("gpu",)),
}
ITEMS = 2_000_000
LEAST, MOST = 3, 4  # turns at least, but none begins after so many budgets


def long(pp, x):
    """Much to compute for each element, in one kernel; the numbers stay of ordinary size."""
    for _ in range(8):
        x = pp.exp(pp.sin(x) - x)
    return x


def medians(budget: float, *runs: Callable[[], object]) -> list[list[float]]:
    """Times of functions that take turns, after a call each that is left out."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    begin = time.perf_counter()
    while not times[0] or time.perf_counter() - begin < (budget if len(times[0]) >= LEAST else MOST * budget):
        for run, kept in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            kept.append(time.perf_counter() - start)
    return times


def report(times: list[list[float]], share: Callable[..., float]) -> dict:
    """The median times, and the median of what each turn says."""
    return {"times": [statistics.median(each) for each in times], "share": statistics.median(map(share, *times)), "samples": len(times[0])}


def sub_devices(pp, whole: bool, budget: float) -> dict | None:
    """Two parts, each on half of the work, beside the whole device on all of it; None where it cannot be cut in two."""
    device = pp.Device()
    units = device.max_compute_units
    if units < 2 or not device.has_aspect("partitionable"):
        return None
    parts = device.create_sub_devices(units // 2)[:2]
    start = np.random.default_rng(1).random(ITEMS, dtype="float32")

    def work(queues: list) -> Callable[[], object]:
        length = len(start) // len(queues)
        inputs = [pp.asarray(start[i * length : (i + 1) * length], queue=queue).wait() for i, queue in enumerate(queues)]

        def run() -> None:
            for result in [long(pp, x).force() for x in inputs]:
                result.wait()

        return run

    # With an odd number of units one is left over, and the whole has that much more.
    times = medians(budget, work([pp.Queue(device)]), work([pp.Queue(part) for part in parts]))
    return report(times, lambda one, both: one / both * units / (2 * (units // 2)))


def overlap(pp, whole: bool, budget: float) -> dict:
    """Pinned host memory to the device and back on one queue, kernels on another, about as long."""
    copying, computing = pp.Queue(), pp.Queue()
    items, kernel_items = (1 << 26, 1 << 24) if whole else (1 << 23, 1 << 16)
    there, back = (pp.full(items, 0.5, dtype="float32", queue=copying, usm_type="host").wait() for _ in range(2))
    x, y = (pp.full(items, 0.5, dtype="float32", queue=copying).wait() for _ in range(2))
    z = pp.full(kernel_items, 0.5, dtype="float32", queue=computing).wait()

    def copies():
        copying.copy(x, there)
        return copying.copy(back, y)

    def kernels(count: int):
        result = z
        for _ in range(count):
            result = long(pp, result).force()
        return result

    def both() -> None:
        event = copies()  # first: handing over the kernels takes a while
        kernels(count).wait()
        event.wait()

    wanted, count = min(medians(0.02, lambda: copies().wait())[0]), 1
    for _ in range(3):
        count = max(1, round(count * wanted / min(medians(0.02, lambda n=count: kernels(n).wait())[0])))
    times = medians(budget, lambda: copies().wait(), lambda: kernels(count).wait(), both)
    return report(times, lambda copy, compute, together: 1 - together / (copy + compute)) | {"kernels": count}


RUNS = {"sub_devices": sub_devices, "overlap": overlap}
