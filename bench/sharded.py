# bench/sharded.py: what it costs to split an array over several devices: programs over two halves of the CPU, against the whole of it.
"""python bench/sharded.py: a row a program; exits with 1 where a bound is missed. `--loose` reports alone, for machines that are busy;
`--queues cuda:0` takes two queues of a device against one in place of halves of the CPU; `--size 0.1` makes arrays smaller."""

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pardo as pp
from workloads.split import finished, problems

SIDES = 2
OF_A_GPU = 0.02  # the size of the programs, of that which several GPUs are given (tests/gpu/several.py)


def _medians(budget: float, *runs: Callable[[], Any]) -> list[float]:
    """The median of each, in turns, in milliseconds."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(times[0]) < 5:
        for run, found in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            found.append((time.perf_counter() - start) * 1e3)
    return [statistics.median(found) for found in times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loose", action="store_true")
    parser.add_argument("--queues")
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--budget", type=float, default=3.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.queues:
        whole, bound = pp.Device(options.queues), 0.95
        sides: list[Any] = [pp.Queue(whole) for _ in range(SIDES)]
    else:
        whole, bound = pp.Device("cpu"), 0.9
        sides = list(whole.create_sub_devices(whole.max_compute_units // SIDES))
    missed = 0
    print(f"{'':28} {whole!s:>12} {'split':>12} {'ratio':>7}   at least {bound}")
    for problem in problems(options.size * OF_A_GPU, []):
        if options.only not in problem.name:
            continue
        host = problem.make(np.random.default_rng(1))
        alone, together = problem.on_one(host, whole), problem.on_several(host, sides)
        del host
        single, split = _medians(options.budget, lambda run=alone: finished(run()), lambda run=together: finished(run()))
        good = split * bound <= single
        missed += not good
        print(f"{problem.name:28} {single:9.2f} ms {split:9.2f} ms {single / split:7.2f}{'' if good else '   missed'}")
        del alone, together
        gc.collect()
    small = pp.shard(np.arange(1000.0), [pp.Queue(whole) for _ in range(4)], axis=0)
    own = min(_medians(0.3, lambda: [small + 1.0 for _ in range(100)])) * 10
    print(f"{'recording of s + 1, 4 shards':28} {own:9.2f} us   at most 25")
    missed += own > 25
    return 0 if options.loose else int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
