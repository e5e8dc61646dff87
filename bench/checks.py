# bench/checks.py: what the checks of indices cost: each program with and without them, in turns, in one process.
import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pardo as pp

# What a row's accesses depend on decides what it may cost: `affine` ones are shown to be in range before a launch.
LIMITS = {"affine": 1.05, "data": 1.15}


def pairwise(item: pp.Item, x, d):
    i, j = item.get_id(0), item.get_id(1)
    s = 0.0
    for k in range(x.shape[1]):
        t = x[i, k] - x[j, k]
        s += t * t
    d[i, j] = np.sqrt(s)


def jacobi(item: pp.Item, a, b):
    i, j = item.get_id(0), item.get_id(1)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def gather(item: pp.Item, x, index, y):
    i = item.get_id(0)
    y[i] = x[index[i]]


def scatter(item: pp.Item, x, index, y):
    i = item.get_id(0)
    y[index[i]] = x[i]


def histogram(item: pp.Item, bins, h):
    pp.atomic.add(h, bins[item.get_id(0)], 1)


def matmul(item: pp.Item, a, b, c):
    i, j = item.get_id(0), item.get_id(1)
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


def saxpy(item: pp.Item, a, x, y):
    i = item.get_id(0)
    y[i] = a * x[i] + y[i]


def mandelbrot(item: pp.Item, out, steps):
    i, j = item.get_id(0), item.get_id(1)
    cr, ci = -2.0 + 3.0 * j / out.shape[1], -1.5 + 3.0 * i / out.shape[0]
    zr = zi = 0.0
    n = 0
    while n < steps and zr * zr + zi * zi <= 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        n += 1
    out[i, j] = n


def black_scholes(item: pp.Item, price, strike, t, call, put, rate, vol):
    i = item.get_id(0)
    root = vol * np.sqrt(t[i])
    d1 = (np.log(price[i] / strike[i]) + (rate + 0.5 * vol * vol) * t[i]) / root
    d2 = d1 - root
    n1, n2 = 0.5 + 0.5 * pp.special.erf(d1 * 0.7071067811865476), 0.5 + 0.5 * pp.special.erf(d2 * 0.7071067811865476)
    e = strike[i] * np.exp(-rate * t[i])
    call[i] = price[i] * n1 - e * n2
    put[i] = e * (1.0 - n2) - price[i] * (1.0 - n1)


def n_body(item: pp.Item, p, v, dt):
    i = item.get_id(0)
    x, y, z = p[i, 0], p[i, 1], p[i, 2]
    ax = ay = az = 0.0
    for j in range(p.shape[0]):
        dx, dy, dz = p[j, 0] - x, p[j, 1] - y, p[j, 2] - z
        r = dx * dx + dy * dy + dz * dz + 1e-9
        w = 1.0 / (r * np.sqrt(r))
        ax += w * dx
        ay += w * dy
        az += w * dz
    v[i, 0] += dt * ax
    v[i, 1] += dt * ay
    v[i, 2] += dt * az


def spmv(item: pp.Item, start, column, value, x, y):
    i = item.get_id(0)
    s = 0.0
    for k in range(start[i], start[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


def reversed_rows(item: pp.Item, x, y):
    i, n = item.get_id(0), x.shape[0]
    for k in range(x.shape[1]):
        y[n - 1 - i, k] = x[i, k]


def stencil(x, y):
    for i in pp.prange(2, x.shape[0] - 2):
        y[i] = x[i - 2] + x[i - 1] + x[i] + x[i + 1] + x[i + 2]


def total(x):
    s = 0.0
    for i in pp.prange(x.shape[0]):
        s += x[i]
    return s


def prefix(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        y[i] = s


def bisect(x, wanted, found):
    for i in pp.prange(wanted.shape[0]):
        low, high = 0, x.shape[0]
        while low < high:
            middle = (low + high) // 2
            if x[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low


def rows(size: float, device: str | None) -> list[tuple[str, str, Callable, Any, tuple]]:
    """Name, kind, function, range (None: a function for `jit`), arguments."""
    rng = np.random.default_rng(1)
    n, side = int(4_000_000 * size), int(2000 * size**0.5)

    def on(a: Any) -> Any:
        return pp.asarray(np.ascontiguousarray(a), device=device)

    points, square = rng.random((side, 3)), rng.random((side, side))
    block = rng.random((side // 4, side // 4))
    x, index = rng.random(n), rng.integers(0, n, n)
    near = np.clip(np.arange(n) + rng.integers(-64, 64, n), 0, n - 1)
    start = np.arange(0, n // 2 + 1, 10)
    zeros = np.zeros(n)
    return [
        ("pairwise distance", "affine", pairwise, (side, side), (on(points), on(square))),
        ("Jacobi", "affine", jacobi, (side, side), (on(square), on(square))),
        ("gather", "data", gather, n, (on(x), on(index), on(zeros))),
        ("gather, near", "data", gather, n, (on(x), on(near), on(zeros))),
        ("scatter", "data", scatter, n, (on(x), on(index), on(zeros))),
        ("histogram", "data", histogram, n // 4, (on(rng.integers(0, 4096, n // 4)), on(np.zeros(4096, "int64")))),
        ("matrix product by loops", "affine", matmul, block.shape, (on(block), on(block), on(block))),
        ("saxpy", "affine", saxpy, n, (2.5, on(x), on(x))),
        ("Mandelbrot", "affine", mandelbrot, (side // 2, side // 2), (on(np.zeros((side // 2, side // 2), "int64")), 200)),
        ("Black-Scholes", "affine", black_scholes, n // 4, (*(on(x[: n // 4] + 0.5) for _ in range(5)), 0.02, 0.3)),
        ("n-body", "affine", n_body, side, (on(points), on(points), 1e-3)),
        ("CSR times vector", "data", spmv, len(start) - 1, (on(start), on(index[: n // 2]), on(x[: n // 2]), on(x), on(zeros))),
        ("rows in reverse", "affine", reversed_rows, side, (on(square), on(square))),
        ("stencil, prange", "affine", stencil, None, (on(x), on(zeros))),
        ("sum, prange", "affine", total, None, (on(x),)),
        ("prefix sums, serial", "affine", prefix, None, (on(x), on(zeros))),
        ("bisection, prange", "data", bisect, None, (on(np.sort(x)), on(rng.random(n // 16)), on(np.zeros(n // 16, "int64")))),
    ]


def measured(calls: list[Callable[[], Any]], budget: float) -> tuple[float, float, float]:
    """Seconds of the first, of the second, and their ratio: medians, the last one of neighbouring pairs, which share the machine's mood."""
    for call in calls:
        call()
        call()
    samples: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + budget * len(calls)
    while time.perf_counter() < end or len(samples[0]) < 5:
        for k, call in enumerate(calls):
            begin = time.perf_counter()
            call()
            samples[k].append(time.perf_counter() - begin)
    off, on = samples
    return statistics.median(off), statistics.median(on), statistics.median(b / a for a, b in zip(off, on, strict=True))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench checks", description="What the checks of indices cost.")
    parser.add_argument("--device", help="a selection string; default: the default device")
    parser.add_argument("--size", type=float, default=1.0, help="share of the usual number of elements")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of samples each")
    parser.add_argument("--rows", help="comma-separated beginnings of names")
    options = parser.parse_args(arguments)
    device = pp.zeros(1, device=options.device).queue.device
    print(device)
    print(f"{'':26}{'off, ms':>10}{'on, ms':>10}{'on/off':>8}  kind")
    ratios = []
    for name, kind, function, space, arguments in rows(options.size, options.device):
        if options.rows and not any(name.startswith(r) for r in options.rows.split(",")):
            continue
        if device.backend != "cpu" and "serial" in name:
            continue  # one thread of a device is not what anybody waits for
        calls = []
        for check in (False, True):
            if space is None:
                loop = pp.jit(function, bounds_check=check)
                calls.append(lambda loop=loop, a=arguments: (loop(*a), a[-1].queue.wait()))
            else:
                launcher = pp.kernel(function, bounds_check=check)[pp.Range(*(space if isinstance(space, tuple) else (space,)))]
                calls.append(lambda launch=launcher, a=arguments: launch(*a).wait())
        off, on, ratio = measured(calls, options.budget)
        ratios.append(ratio)
        mark = "" if ratio <= LIMITS[kind] else "  above its limit"
        print(f"{name:26}{off * 1e3:10.3f}{on * 1e3:10.3f}{ratio:8.3f}  {kind}{mark}", flush=True)
    print(f"median {statistics.median(ratios):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
