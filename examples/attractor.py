# examples/attractor.py: how often a strange attractor visits each pixel: points of a kernel, counted and coloured on its device.
"""Many walkers follow the map of Clifford Pickover; `pp.plot.density` counts their points, and `pp.show` writes a PNG of the counts."""

import sys
import time

import numpy as np
import pardo as pp

A, B, C, D = -1.4, 1.6, 1.0, 0.7
WALKERS, STEPS, FIRST = 10_000, 200, 20  # the first steps lead to the attractor
SHAPE, RANGE = (600, 800), ((-2.1, 2.1), (-1.8, 2.1))


@pp.kernel
def walk(item: pp.Item, x, y):
    k = item.get_id(0)
    u, v = pp.random.philox_uniform((k, 0), (1,))
    for step in range(-FIRST, x.shape[0]):
        u, v = np.sin(A * v) + C * np.cos(A * u), np.sin(B * u) + D * np.cos(B * v)
        if step >= 0:
            x[step, k] = u
            y[step, k] = v


def with_numpy(x, y):
    return np.histogram2d(y.ravel(), x.ravel(), SHAPE, (RANGE[1], RANGE[0]))[0]


def seconds(function, *arguments, **keywords):
    start = time.perf_counter()
    result = function(*arguments, **keywords)
    if isinstance(result, pp.ndarray):
        result.wait()
    return time.perf_counter() - start, result


def main(path="attractor.png"):
    x, y = pp.empty((STEPS, WALKERS)), pp.empty((STEPS, WALKERS))
    walk[pp.Range(WALKERS)](x, y)
    pp.plot.density(x, y, SHAPE, range=RANGE).wait()  # compiles
    pardo_time, counts = seconds(pp.plot.density, x, y, SHAPE, range=RANGE)
    numpy_time, expected = seconds(with_numpy, pp.asnumpy(x), pp.asnumpy(y))
    np.testing.assert_array_equal(pp.asnumpy(counts), expected)
    pp.show(counts, path=path, norm="log", cmap="inferno", origin="lower", bad="#000000")
    with open(path, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    print(f"{path}: {int(counts.sum())} points in {SHAPE[1]} x {SHAPE[0]} pixels on {counts.device}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
