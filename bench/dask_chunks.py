# bench/dask_chunks.py: Dask with a worker on each GPU: chunks of pardo beside chunks of CuPy, in the same run.
"""Prints a row for a product and for standardized columns: seconds of both, medians and least, and the ratio.

    python bench/dask_chunks.py cuda:0 --gib 16             # a worker process each
    python bench/dask_chunks.py cuda:0 cuda:1 --gib 64      # two
    python bench/dask_chunks.py cuda:0 --gib 16 --threads   # Dask's threads in this process, one at a time

Needs dask, distributed and CuPy. Results stay on the worker; each round makes them anew.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import statistics
import time
from typing import Any

import numpy as np


def columns(x: Any) -> Any:
    return (x - x.mean(axis=0)) / x.std(axis=0)


def product(x: Any) -> Any:
    return x @ x.T


PROGRAMS = {"x @ x.T": product, "standardize": columns}


def block(module: str, shape: tuple[int, int], seed: int) -> Any:
    """A chunk, made on the worker's device by its own library."""
    if module == "cupy":
        import cupy

        return cupy.random.default_rng(seed).random(shape, dtype="float32")
    import pardo

    return pardo.random.default_rng(seed).random(shape, dtype="float32")


def value(x: Any) -> Any:
    """One element of a chunk, once the device is done with all of it."""
    if hasattr(x, "wait"):
        x.wait()
    else:
        import cupy

        cupy.cuda.runtime.deviceSynchronize()
    return float(x[0, 0])


def given(module: str, rows: int, inner: int, down: int, across: int) -> Any:
    import dask
    import dask.array as da

    shape = rows // down, inner // across
    meta: Any = importlib.import_module(module).asarray(np.empty((0, 0), "float32"))
    blocks = [
        [da.from_delayed(dask.delayed(block)(module, shape, i * across + j), shape, meta=meta) for j in range(across)] for i in range(down)
    ]
    return da.block(blocks)


def on_workers(client: Any) -> Any:
    """Computes an array on the workers of a client, where it stays."""
    from distributed import futures_of, wait

    def run(x: Any) -> Any:
        with client.as_current():
            made = x.persist()
            wait(made)
            client.gather(client.map(value, futures_of(made), pure=False))
            return made

    return run


def cluster_of_cupy(numbers: list[str]) -> Any:
    """A worker for each GPU, which is the only one that it sees."""
    import distributed

    workers: dict[Any, Any] = {
        k: {"cls": distributed.Nanny, "options": {"nthreads": 1, "host": "127.0.0.1", "env": {"CUDA_VISIBLE_DEVICES": number}}}
        for k, number in enumerate(numbers)
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"host": "127.0.0.1", "dashboard": False}}
    return distributed.SpecCluster(workers=workers, scheduler=scheduler)


def here(x: Any) -> Any:
    """Computes an array in this process, by one thread beside this one."""
    import dask

    with dask.config.set(scheduler="threads", num_workers=1):
        made = x.persist()
    for chunk in made.__dask_graph__().values():
        value(chunk)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("devices", nargs="+", help="one for each worker; the workers of CuPy have the GPUs of the same numbers")
    parser.add_argument("--gib", type=float, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--alone", action="store_true", help="without CuPy")
    options = parser.parse_args()
    import dask
    import distributed
    import pardo
    from pardo.dask import LocalCluster

    names_of = ", ".join(f"{d} ({pardo.Device(d).name})" for d in options.devices)
    print(f"{platform.node()}: {names_of}; pardo {pardo.__version__}, dask {dask.__version__}, {options.gib} GiB")
    inner = 131072
    rows = max(int(options.gib * 2**30 / 4 / inner) // 16 * 16, 16)
    clusters: dict[str, Any] = {}
    names = ["pardo"] if options.alone else ["pardo", "cupy"]
    if options.threads:
        pardo.set_default_device(options.devices[0])
        run = dict.fromkeys(names, here)
    else:
        clusters["pardo"] = LocalCluster(options.devices)
        if not options.alone:
            clusters["cupy"] = cluster_of_cupy([pardo.Device(d).id.rpartition(":")[2] for d in options.devices])
        run = {name: on_workers(distributed.Client(cluster, set_as_default=False)) for name, cluster in clusters.items()}
    arrays = {name: run[name](given(name, rows, inner, 4, 4)) for name in names}
    for title, program in PROGRAMS.items():
        times: dict[str, list[float]] = {name: [] for name in names}
        for k in range(options.rounds + 1):
            for name in names:
                start = time.perf_counter()
                made = run[name](program(arrays[name]))
                if k:  # the first compiles
                    times[name].append(time.perf_counter() - start)
                del made
        print(f"{title:14}", ", ".join(f"{name} {statistics.median(t):.3f} s" for name, t in times.items()), end="")
        if options.alone:
            print()
            continue
        median = statistics.median(times["cupy"]) / statistics.median(times["pardo"])
        print(f": x {median:.2f} by medians, {min(times['cupy']) / min(times['pardo']):.2f} by least")
    for cluster in clusters.values():
        cluster.close()


if __name__ == "__main__":  # workers import this file
    main()
