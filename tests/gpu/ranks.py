# tests/gpu/ranks.py: the programs of several.py with a process for each device, started by mpiexec. Not a test of pytest.
"""Prints times by rank 0, and their ratio to those of one process with all devices, which `several.py --out` has written.

    python tests/gpu/several.py cuda:0 cuda:1 --out rows.json
    mpiexec -n 2 --bind-to none python -m mpi4py tests/gpu/ranks.py --device 'cuda:*' --against rows.json
    mpiexec -n 2 --bind-to none python -m mpi4py tests/gpu/ranks.py --device cpu --scale 0.001        # a try

Values are checked against those of one device, on rank 0.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp
from mpi4py import MPI
from pardo import mpi

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from workloads.split import close, finished, problems, values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="cuda:*")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="names of programs, by comma")
    parser.add_argument("--against", help="rows of several.py")
    options = parser.parse_args()
    comm = MPI.COMM_WORLD
    rows = json.loads(Path(options.against).read_text()) if options.against else {}
    wrong = 0
    if comm.rank == 0:
        print(f"{platform.node()}: {comm.size} processes, {options.device}; pardo {pp.__version__}, scale {options.scale}")
    for problem in problems(options.scale, [n for n in options.only.split(",") if n]):
        data = problem.make(np.random.default_rng(7))
        given: dict[str, Any] = {}
        for k, v in data.items():
            axis = None if k in problem.whole else problem.axis
            given[k] = mpi.shard(v, comm, device=options.device, axis=axis) if isinstance(v, np.ndarray) else v
        split = functools.partial(problem.run, **given)
        found = values(split())
        if comm.rank == 0:
            place = next(x for x in given.values() if isinstance(x, pp.ShardedArray)).shards[0].device
            fault = close(found, values(problem.on_one(data, place)()), problem.rtol)
            wrong += bool(fault)
            if fault:
                print(f"{problem.name}: WRONG: {fault}")
        del data, found
        times = []
        for _ in range(options.rounds):
            gc.collect()
            comm.Barrier()
            start = time.perf_counter()
            finished(split())
            comm.Barrier()
            times.append(time.perf_counter() - start)
        if comm.rank == 0:
            ratio = ""
            if problem.name in rows:
                several = rows[problem.name]["several"]
                ratio = f"   x {statistics.median(several) / statistics.median(times):.2f} of one process by medians"
            print(f"{problem.name:16} {comm.size} processes {statistics.median(times) * 1e3:10.2f} ms{ratio}", flush=True)
        del given, split
        pp.trim_memory()
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
