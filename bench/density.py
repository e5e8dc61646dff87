# bench/density.py: how long it takes to count many points in the pixels of a picture: pardo.plot.density, on any device.
"""python bench/density.py [DEVICE]: default cpu; exits with 1 where values differ or a bound is missed.

Counts of a million points are compared with numpy.histogram2d first, all of them. Then 10**8 points (--points) of a normal distribution,
which lie on the device, are counted in 1024 x 1024 pixels (--pixels): with a range, without one, and with weights; median and least of
--rounds calls, each of which is waited for. At most 5 ms on a GPU, with a range; on the CPU at least twice as fast as datashader, if that
is installed, and as many threads. --kernels prints what the device took for each kernel.
"""

import argparse
import gc
import importlib.util
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
import pardo as pp

RANGE = ((-4.0, 4.0), (-4.0, 4.0))
MOST = 5.0  # milliseconds on a GPU
TIMES = 2.0  # as fast as datashader


def same_as_numpy(device: pp.Device, dtype: str, pixels: int) -> bool:
    """Whether each pixel has the count of NumPy's histogram, some points being outside, on edges, or NaN."""
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 1_000_000)).astype(dtype)
    x[:1000] = np.linspace(-4, 4, 1000)
    y[500:2000] = np.nan
    seen = ~np.isnan(y)
    good = True
    for range_ in (RANGE, None):
        found = pp.asnumpy(pp.plot.density(pp.asarray(x, device=device), pp.asarray(y, device=device), (pixels, pixels), range=range_))
        if range_ is None:
            (left, right), (low, high) = (float(x.min()), float(x.max())), (float(y[seen].min()), float(y[seen].max()))
        else:
            (left, right), (low, high) = range_
        good &= bool((found == np.histogram2d(y[seen], x[seen], pixels, ((low, high), (left, right)))[0]).all())
    return good


def times_of(run: Callable[[], Any], rounds: int) -> list[float]:
    """Milliseconds of each call, the first one left out."""
    found = []
    gc.collect()
    for _ in range(rounds + 1):
        start = time.perf_counter()
        run()
        found.append((time.perf_counter() - start) * 1e3)
    return found[1:]


def print_row(name: str, found: list[float], points: int, note: str = "") -> None:
    median, least = statistics.median(found), min(found)
    print(f"{name:44} {median:10.3f} {least:10.3f} {median * 1e6 / points:9.4f}   {note}", flush=True)


def print_kernels(run: Callable[[], Any]) -> None:
    with pp.profile() as profile:
        run()
    for record in profile.records:
        if record["activity"] == "kernel":
            print(f"    {record['name']:40} {(record['end'] - record['start']) * 1e-6:10.3f}")


def by_datashader(x: Any, y: Any, pixels: int) -> dict[str, Callable[[], Any]]:
    """What counts the same points, by one thread, and by as many as there are processors if Dask's tables are installed."""
    if not importlib.util.find_spec("datashader"):
        print("datashader is not installed: nothing to compare with")
        return {}
    import datashader
    import pandas as pd

    canvas = datashader.Canvas(plot_width=pixels, plot_height=pixels, x_range=RANGE[0], y_range=RANGE[1])
    table = pd.DataFrame({"x": x, "y": y})
    ways: dict[str, Callable[[], Any]] = {"datashader": lambda: canvas.points(table, "x", "y")}
    try:
        import dask.dataframe as dd
    except ImportError:
        print("dask.dataframe is not installed: datashader has one thread")
    else:
        count = len(os.sched_getaffinity(0))
        parts = dd.from_pandas(table, npartitions=count).persist()
        ways[f"datashader, Dask with {count} threads"] = lambda: canvas.points(parts, "x", "y")
    return ways


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device", nargs="?", default="cpu")
    parser.add_argument("--points", type=float, default=1e8)
    parser.add_argument("--pixels", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=0, help="default: 20 on a GPU, else 3")
    parser.add_argument("--dtypes", default="float32,float64")
    parser.add_argument("--kernels", action="store_true")
    options = parser.parse_args()
    device, points, pixels = pp.Device(options.device), int(options.points), options.pixels
    is_gpu = device.type == "gpu"
    rounds = options.rounds or (20 if is_gpu else 3)
    versions = [f"{name} {metadata.version(name)}" for name in ("pardo", "numpy", "datashader") if importlib.util.find_spec(name)]
    print(f"{device.id}: {device.name}, driver {device.driver_version}; {len(os.sched_getaffinity(0))} of {os.cpu_count()} processors,")
    print(f"{platform.machine()}, Python {platform.python_version()}, {', '.join(versions)}; load {os.getloadavg()[0]:.2f}")
    missed, shape = False, (pixels, pixels)
    for dtype in options.dtypes.split(","):
        same = same_as_numpy(device, dtype, pixels)
        missed |= not same
        print(f"{dtype}: a million points, {pixels} x {pixels} pixels: {'as' if same else 'NOT as'} numpy.histogram2d")
    print(f"\n{f'{points:.3g} points, {pixels} x {pixels} pixels':44} {'median ms':>10} {'least ms':>10} {'ns/point':>9}")
    for dtype in options.dtypes.split(","):
        rng = pp.random.default_rng(7)
        x, y = (rng.standard_normal(points, dtype=dtype, device=device).wait() for _ in range(2))
        ways = {
            f"{dtype}, range given": lambda x=x, y=y: pp.plot.density(x, y, shape, range=RANGE).wait(),
            f"{dtype}, range found": lambda x=x, y=y: pp.plot.density(x, y, shape).wait(),
            f"{dtype}, sums of weights, range given": lambda x=x, y=y: pp.plot.density(x, y, shape, range=RANGE, weights=x).wait(),
        }
        for k, (name, run) in enumerate(ways.items()):
            found = times_of(run, rounds)
            late = is_gpu and k == 0 and statistics.median(found) > MOST
            missed |= late
            print_row(name, found, points, f"asked: {MOST} ms{', MISSED' if late else ''}" if is_gpu and k == 0 else "")
            if k == 0:
                first = statistics.median(found)
            if options.kernels:
                print_kernels(run)
        if device.id.startswith("cpu"):
            own = np.asarray(x), np.asarray(y)
            for name, run in by_datashader(*own, pixels).items():
                found = times_of(run, rounds)
                ratio = statistics.median(found) / first
                missed |= ratio < TIMES
                print_row(f"{dtype}, {name}", found, points, f"{ratio:.2f} times as long; asked: {TIMES}")
        del x, y, ways
        gc.collect()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
