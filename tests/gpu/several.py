# tests/gpu/several.py: programs of arrays over several devices against the same on one: values first, then times. Not a test of pytest.
"""Prints a row for each program: the ratio of one device's time to that of all, median and least of rounds that alternate.

    python tests/gpu/several.py cuda:0 cuda:1              # several GPUs
    python tests/gpu/several.py cuda:0 cuda:0              # two queues of one: what the split costs
    python tests/gpu/several.py cpu:0/2.0 cpu:0/2.1 --one cpu:0 --scale 0.01

Each device that is named twice gets a queue of its own. `--scale` makes the problems smaller: the number of elements, roughly.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp

Run = Callable[[], Any]


def even(x: float) -> int:
    """A size that is not tiny and can be halved often."""
    return max(64, int(x) // 64 * 64)


BLOCKS = 8  # of bodies whose forces are added up apart, so that a GPU has enough to do with half of them


@pp.jit
def near_forces(own, all_places, out):
    for k in pp.prange(BLOCKS * own.shape[0]):
        b, i = k // own.shape[0], k % own.shape[0]
        first, last = b * all_places.shape[0] // BLOCKS, (b + 1) * all_places.shape[0] // BLOCKS
        ax = ay = az = np.float32(0)
        for j in range(first, last):
            dx = all_places[j, 0] - own[i, 0]
            dy = all_places[j, 1] - own[i, 1]
            dz = all_places[j, 2] - own[i, 2]
            d = dx * dx + dy * dy + dz * dz + np.float32(1e-3)
            w = np.float32(1) / (d * np.sqrt(d))
            ax += w * dx
            ay += w * dy
            az += w * dz
        out[b, i, 0] = ax
        out[b, i, 1] = ay
        out[b, i, 2] = az


def black_scholes(price: Any, strike: Any, years: Any) -> Any:
    rate, vol = 0.02, 0.3
    root = vol * pp.sqrt(years)
    d1 = (pp.log(price / strike) + (rate + 0.5 * vol * vol) * years) / root
    half = 0.5 * pp.scipy.special.erfc(-d1 * 0.7071067811865476)
    other = 0.5 * pp.scipy.special.erfc(-(d1 - root) * 0.7071067811865476)
    return price * half - strike * pp.exp(-rate * years) * other


def k_means(x: Any, centers: Any, rounds: int) -> Any:
    """Centers of (k, d), which each device has."""
    k = centers.shape[0]
    numbers = pp.arange(k, device=x.device)
    for _ in range(rounds):
        far = (centers * centers).sum(axis=1) - 2 * (x @ centers.T)
        member = (pp.argmin(far, axis=1)[:, None] == numbers).astype("float32")
        centers = (member.T @ x) / pp.maximum(member.sum(axis=0), 1)[:, None]
    return centers


def relaxed(u: Any) -> Any:
    """A sweep of Jacobi's method with the rows of the neighbours; ends of the array stay."""
    v = pp.empty_like(u)
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    rows, columns = slice(None, None, u.shape[0] - 1), slice(None, None, u.shape[1] - 1)  # the first and the last
    v[rows], v[:, columns] = u[rows], u[:, columns]
    return v


def jacobi(u: Any, sweeps: int) -> Any:
    for _ in range(sweeps):
        u = u.map_shards(relaxed, halo=1) if isinstance(u, pp.ShardedArray) else relaxed(u)
    return u


def n_body(places: Any) -> Any:
    def part(own: Any, whole: Any) -> Any:
        out = pp.empty((BLOCKS, *own.shape), dtype=own.dtype, queue=own.queue)
        near_forces(own, whole, out)
        return out.sum(axis=0)

    if isinstance(places, pp.ShardedArray):
        return places.map_shards(part, places.reshard(None))
    return part(places, places)


class Problem:
    """A program on one device and on several, of the same data."""

    def __init__(self, name: str, make: Callable[[np.random.Generator], dict[str, Any]], run: Callable[..., Any], whole: str = "",
                 rtol: float = 1e-5, axis: int = 0) -> None:  # fmt: skip
        self.name, self.make, self.run, self.whole, self.rtol, self.axis = name, make, run, whole.split(), rtol, axis

    def on_one(self, data: dict[str, Any], device: Any) -> Run:
        given = {k: pp.asarray(v, device=device) if isinstance(v, np.ndarray) else v for k, v in data.items()}
        [x.wait() for x in given.values() if isinstance(x, pp.Array)]
        return lambda: self.run(**given)

    def on_several(self, data: dict[str, Any], devices: list[Any]) -> Run:
        given = {}
        for k, v in data.items():
            if not isinstance(v, np.ndarray):
                given[k] = v
            else:
                given[k] = pp.shard(v, devices, axis=None if k in self.whole else self.axis)
                given[k].wait()
        return lambda: self.run(**given)


def finished(x: Any) -> None:
    for one in x if isinstance(x, tuple) else (x,):
        one.wait()


def values(x: Any) -> list[np.ndarray]:
    return [pp.asnumpy(one) for one in (x if isinstance(x, tuple) else (x,))]


def problems(scale: float, names: list[str]) -> list[Problem]:
    def f(*shape: int, dtype: str = "float32", low: float = 0.0) -> Callable[[np.random.Generator], Any]:
        return lambda rng: (rng.random(shape, dtype=dtype if dtype in ("float32", "float64") else "float64") + low).astype(dtype)

    n, side, half = even(2**29 * scale), even(16384 * scale**0.5), even(16384 * scale ** (1 / 3))
    rows, bodies, tall, lines = even(1e7 * scale), even(2**18 * scale**0.5), even(1e7 * scale), even(1e9 * scale)

    def drawn(**what: Any) -> Callable[[np.random.Generator], dict[str, Any]]:
        return lambda rng: {k: v(rng) if callable(v) else v for k, v in what.items()}

    def qr(x: Any) -> Any:
        q, r = pp.linalg.qr(x)
        return pp.abs(r), pp.abs(q[:2])

    def sorted_(x: Any) -> Any:
        return pp.sort(x)

    def fft2(x: Any) -> Any:
        if isinstance(x, pp.ShardedArray):  # the result stays split along the other axis
            return pp.fft.fft(pp.fft.fft(x, axis=1).reshard(1), axis=0)
        return pp.fft.fft2(x)

    centers = f(64, 16)
    found = [
        Problem("Black-Scholes", drawn(price=f(n, dtype="float64", low=10), strike=f(n, dtype="float64", low=10),
                                       years=f(n, dtype="float64", low=1)), black_scholes, rtol=1e-12),
        Problem("k-means", drawn(x=f(rows, 16), centers=centers, rounds=20), k_means, "centers", rtol=3e-2),
        Problem("Jacobi", drawn(u=f(side, side, dtype="float64"), sweeps=100 if scale >= 0.5 else 20), jacobi, rtol=0),
        Problem("n-body", drawn(places=f(bodies, 3)), n_body, rtol=1e-3),
        Problem("matmul", drawn(a=f(half, half), b=f(half, half)), lambda a, b: a @ b, "b", rtol=1e-4),
        Problem("sort", drawn(x=f(lines)), sorted_, rtol=0),
        Problem("fft2", drawn(x=f(side, side, dtype="complex64")), fft2, rtol=1e-2),
        Problem("TSQR", drawn(x=f(tall, 64, low=-0.5)), qr, rtol=1e-2),
    ]  # fmt: skip
    return [p for p in found if not names or p.name in names]


def timed(run: Run) -> float:
    gc.collect()
    start = time.perf_counter()
    finished(run())
    return time.perf_counter() - start


def close(got: list[np.ndarray], wanted: list[np.ndarray], rtol: float) -> str:
    """Empty where all is as wanted."""
    for a, b in zip(got, wanted, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype} {a.shape} in place of {b.dtype} {b.shape}"
        if rtol == 0:
            if not np.array_equal(a, b):
                return "other values"
        else:
            scale = float(np.max(np.abs(b))) or 1.0
            off = float(np.max(np.abs(a - b))) / scale
            if not off <= rtol:
                return f"off by {off:.2g} of the largest value"
    return ""


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
    options = parser.parse_args()
    begun = time.perf_counter()
    devices = [pp.Queue(d) if options.devices.index(d) != i else pp.Queue.of(pp.Device(d)) for i, d in enumerate(options.devices)]
    one = pp.Device(options.one or options.devices[0])
    print(f"{platform.node()}: {', '.join(f'{d} ({pp.Device(d).name})' for d in options.devices)}; one: {one}; pardo {pp.__version__}, "
          f"NumPy {np.__version__}, scale {options.scale}")  # fmt: skip
    rows: dict[str, Any] = {}
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
            fault = close(values(second), values(first), problem.rtol)
            del first, second
            if fault:
                wrong += 1
                print(f"{problem.name}: WRONG: {fault}")
                continue
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
