# tests/gpu/several.py: programs of arrays over several devices against the same on one: values first, then times. Not a test of pytest.
"""Prints a row for each program: the ratio of one device's time to that of all, median and least of rounds that alternate.

    python tests/gpu/several.py cuda:0 cuda:1              # several GPUs
    python tests/gpu/several.py cuda:0 cuda:0              # two queues of one: what the split costs
    python tests/gpu/several.py cpu:0/2.0 cpu:0/2.1 --one cpu:0 --scale 0.01

    python tests/gpu/several.py cuda:0 cuda:1 --digests a.json                     # and with PARDO_PEER=off, then b.json:
    diff a.json b.json                                                             # the same bits

Each device that is named twice gets a queue of its own. `--scale` makes the problems smaller: the number of elements, roughly.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from workloads.split import Run, close, even, finished, problems, values


def timed(run: Run) -> float:
    gc.collect()
    start = time.perf_counter()
    finished(run())
    return time.perf_counter() - start


def two_products(devices: list[Any], one: Any, scale: float) -> tuple[Run, Run]:
    """One product on each device, recorded and then waited for, and as many on one device."""
    n = even(12288 * scale ** (1 / 3))
    host = np.random.default_rng(1).random((n, n), dtype="float32")
    there = [pp.asarray(host, queue=d) for d in devices]
    here = pp.asarray(host, device=one)
    [x.wait() for x in (*there, here)]
    return (lambda: tuple(here @ here for _ in devices)), (lambda: tuple(x @ x for x in there))


def product_beside_python(one: Any, scale: float) -> tuple[float, float, float]:
    """Seconds of a product, of as long a piece of Python, and of both: the product recorded, the Python, the wait."""
    n = even(8192 * scale ** (1 / 3))
    x = pp.asarray(np.random.default_rng(1).random((n, n), dtype="float32"), device=one)
    x.wait()
    [timed(lambda: x @ x) for _ in range(3)]
    product = statistics.median(timed(lambda: x @ x) for _ in range(5))

    def python(seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            sum(range(100))

    both = []
    for _ in range(5):
        start = time.perf_counter()
        y = x @ x
        python(product)
        y.wait()
        both.append(time.perf_counter() - start)
    return product, product, statistics.median(both)


def moves(devices: list[Any], scale: float) -> dict[str, float]:
    """Microseconds of an exchange of edges, GB/s of a reshard."""
    s = pp.shard(pp.zeros((len(devices) * 64, 16384), dtype="float32"), devices, axis=0)
    u = s.map_shards(lambda x: x * 1, halo=1)
    for _ in range(20):
        u = u.map_shards(lambda x: x * 1, halo=1)
    u.wait()
    rounds = 200
    start = time.perf_counter()
    for _ in range(rounds):
        u = u.map_shards(lambda x: x * 1, halo=1)
    u.wait()
    edges = (time.perf_counter() - start) / rounds * 1e6
    n = even(32768 * scale**0.5)
    big = pp.shard(np.ones((n, n), dtype="float32"), devices, axis=0)
    big.reshard(1).wait()
    passed = min(timed(lambda: big.reshard(1)) for _ in range(5))
    crossing = big.nbytes * (len(devices) - 1) / len(devices)
    small = pp.shard(pp.zeros(1000), devices, axis=0)
    [(small + 1.0) for _ in range(100)]
    start = time.perf_counter()
    for _ in range(1000):
        small + 1.0
    overhead = (time.perf_counter() - start) / 1000 * 1e6
    return {"map_shards with edges of 16,384 floats, us": edges, "reshard, GB/s that cross": crossing / passed / 1e9,
            "reshard, bytes": big.nbytes, "small operation, us": overhead}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("devices", nargs="+")
    parser.add_argument("--one", help="the device of the other side; default: the first")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="names of programs, by comma")
    parser.add_argument("--seconds", type=float, default=420, help="no program begins later")
    parser.add_argument("--out", help="a file for the rows, as JSON")
    parser.add_argument("--digests", help="a file for digests of all results; nothing is timed")
    options = parser.parse_args()
    begun = time.perf_counter()
    devices = [pp.Queue(d) if options.devices.index(d) != i else pp.Queue.of(pp.Device(d)) for i, d in enumerate(options.devices)]
    one = pp.Device(options.one or options.devices[0])
    print(f"{platform.node()}: {', '.join(f'{d} ({pp.Device(d).name})' for d in options.devices)}; one: {one}; pardo {pp.__version__}, "
          f"NumPy {np.__version__}, scale {options.scale}")  # fmt: skip
    rows: dict[str, Any] = {}
    digests: dict[str, str] = {}
    wrong = 0
    for problem in problems(options.scale, [n for n in options.only.split(",") if n]):
        if time.perf_counter() - begun > options.seconds:
            print(f"{problem.name}: not run, for want of time")
            continue
        try:
            data = problem.make(np.random.default_rng(7))
            alone, split = problem.on_one(data, one), problem.on_several(data, devices)
            del data
            first, second = alone(), split()
            found = values(second)
            fault = close(found, values(first), problem.rtol)
            del first, second
            if fault:
                wrong += 1
                print(f"{problem.name}: WRONG: {fault}")
                continue
            if options.digests:
                digests[problem.name] = hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in found)).hexdigest()
                print(f"{problem.name:16} {digests[problem.name]}")
                continue
            del found
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(options.rounds):
                times[0].append(timed(alone))
                times[1].append(timed(split))
            median = statistics.median(times[0]) / statistics.median(times[1])
            least = min(times[0]) / min(times[1])
            rows[problem.name] = {"one": times[0], "several": times[1]}
            one_ms, all_ms = (statistics.median(t) * 1e3 for t in times)
            print(f"{problem.name:16} one {one_ms:10.2f} ms   several {all_ms:10.2f} ms   x {median:.2f} by medians, {least:.2f} by least",
                  flush=True)  # fmt: skip
        except Exception as error:
            wrong += 1
            print(f"{problem.name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
        finally:
            alone = split = None
            gc.collect()
            pp.trim_memory()
    if options.digests:
        Path(options.digests).write_text(json.dumps(digests, indent=1))
        sys.exit(wrong > 0)
    if not options.only or "products" in options.only:
        alone, split = two_products(devices, one, options.scale)
        [finished(r()) for r in (alone, split)]
        times = ([timed(alone) for _ in range(5)], [timed(split) for _ in range(5)])
        rows["products"] = {"one": times[0], "several": times[1]}
        print(f"products         x {statistics.median(times[0]) / statistics.median(times[1]):.2f} by medians")
        product, python, both = product_beside_python(one, options.scale)
        rows["beside Python"] = [product, python, both]
        print(
            f"product beside Python: {product * 1e3:.2f} ms each, {both * 1e3:.2f} ms both: {both / max(product, python):.2f} of the longer"
        )
    if not options.only or "moves" in options.only:
        found = moves(devices, options.scale)
        rows["moves"] = found
        for name, value in found.items():
            print(f"{name}: {value:.4g}")
    if options.out:
        Path(options.out).write_text(json.dumps(rows))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
