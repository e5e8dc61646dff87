# bench/sharded.py: what it costs to split an array over several devices: programs over two halves of the CPU, against the whole of it.
"""python bench/sharded.py: a row a program; exits with 1 where a bound is missed. `--loose` reports alone, for machines that are busy;
`--queues cuda:0` takes two queues of a device against one in place of halves of the CPU; `--size 0.1` makes arrays smaller."""

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pardo as pp

SIDES = 2
CENTRES = 16
STEPS = 20


class Row(NamedTuple):
    make: Callable[[np.random.Generator, float], tuple[np.ndarray, ...]]  # the arrays, of a size
    run: Callable[..., Any]  # of arrays that are split along their first axis, or not


def _black_scholes(price: Any, strike: Any, years: Any) -> Any:
    root = pp.sqrt(years)
    a = (pp.log(price / strike) + 0.07 * years) / (0.3 * root)
    b = a - 0.3 * root
    ends = 0.5 + 0.5 * pp.special.erf(a / math.sqrt(2)), 0.5 + 0.5 * pp.special.erf(b / math.sqrt(2))
    return price * ends[0] - strike * pp.exp(-0.025 * years) * ends[1]


def _everywhere(x: Any) -> Any:
    return x.reshard(None) if type(x) is pp.ShardedArray else x


def _k_means(points: Any) -> Any:
    """Five steps of Lloyd's, from the first points."""
    centres = _everywhere(points[:CENTRES])
    for _ in range(5):
        near = pp.argmin((centres * centres).sum(axis=1) - 2 * (points @ centres.T), axis=1)
        member = (near[:, None] == np.arange(CENTRES)).astype(points.dtype)
        centres = (member.T @ points) / pp.maximum(member.sum(axis=0), 1)[:, None]
    return centres


def _relaxed(u: Any) -> Any:
    inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return pp.concat([u[:, :1], pp.concat([u[:1, 1:-1], inner, u[-1:, 1:-1]], axis=0), u[:, -1:]], axis=1)


def _jacobi(u: Any) -> Any:
    for _ in range(STEPS):
        u = u.map_shards(_relaxed, halo=1) if type(u) is pp.ShardedArray else _relaxed(u)
    return u


def _bodies(place: Any, speed: Any) -> Any:
    for _ in range(2):
        d = _everywhere(place)[None, :, :] - place[:, None, :]
        speed = speed + 1e-3 * (d / ((d * d).sum(axis=2) + 1e-3)[:, :, None] ** 1.5).sum(axis=1)
        place = place + 1e-3 * speed
    return place


ROWS = {
    "Black-Scholes, float64": Row(lambda r, s: tuple(r.uniform(1, 3, int(s * 4e6)) for _ in range(3)), _black_scholes),
    "k-means, 16 centres": Row(lambda r, s: (r.random((int(s * 4e5), 8)),), _k_means),
    "Jacobi, 20 steps": Row(lambda r, s: (r.random((int(s**0.5 * 2000), 2000)),), _jacobi),
    "n-body": Row(lambda r, s: tuple(r.random((int(s**0.5 * 3000), 3)) for _ in range(2)), _bodies),
    "matmul": Row(lambda r, s: tuple(r.random((int(s ** (1 / 3) * 1500),) * 2) for _ in range(2)), lambda a, b: a @ b),
    "sort": Row(lambda r, s: (r.random(int(s * 1e7)),), pp.sort),
    "fft2": Row(lambda r, s: (r.random((int(s**0.5 * 2000),) * 2),), pp.fft.fft2),
}


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
    for name, row in ROWS.items():
        if options.only not in name:
            continue
        host = row.make(np.random.default_rng(1), options.size)
        one, many = [pp.asarray(x, device=whole) for x in host], [pp.shard(x, sides, axis=0) for x in host]
        if name == "matmul":
            many[1] = pp.shard(host[1], sides, axis=None)
        single, split = _medians(
            options.budget, lambda row=row, one=one: row.run(*one).wait(), lambda row=row, many=many: row.run(*many).wait()
        )
        good = split * bound <= single
        missed += not good
        print(f"{name:28} {single:9.2f} ms {split:9.2f} ms {single / split:7.2f}{'' if good else '   missed'}")
    small = pp.shard(np.arange(1000.0), [pp.Queue(whole) for _ in range(4)], axis=0)
    own = min(_medians(0.3, lambda: [small + 1.0 for _ in range(100)])) * 10
    print(f"{'recording of s + 1, 4 shards':28} {own:9.2f} us   at most 25")
    missed += own > 25
    return 0 if options.loose else int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
