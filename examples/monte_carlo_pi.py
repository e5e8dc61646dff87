# examples/monte_carlo_pi.py: pi by random points, drawn by a counter-based generator that is written in Python.
"""Each round's numbers depend on its own number alone, so rounds may run anywhere and the count is the same everywhere."""

import time

import numpy as np
import pardo as pp

POINTS, KEY = 4_000_000, 2024
MULTIPLIER, WEYL, LOW = 0xD256D193, 0x9E3779B9, 0xFFFFFFFF


@pp.func
def philox(counter, key):
    """Two numbers of 32 bits: Philox 2x32-10 (Salmon et al. 2011), for a number or, with NumPy, for a whole array."""
    left, right, key = counter & LOW, counter >> 32, np.uint64(key)
    for _ in range(10):
        product = left * MULTIPLIER
        left, right = (product >> 32) ^ key ^ right, product & LOW
        key = (key + WEYL) & LOW
    return left, right


@pp.jit
def inside(points, key):
    count = 0
    for i in pp.prange(points):
        x, y = philox(np.uint64(i), key)
        u, v = x * 2.0**-32, y * 2.0**-32
        if u * u + v * v < 1.0:
            count += 1
    return count


def with_numpy(points, key):
    count = 0
    for first in range(0, points, 1_000_000):
        x, y = philox(np.arange(first, min(first + 1_000_000, points), dtype=np.uint64), key)
        count += np.count_nonzero((x * 2.0**-32) ** 2 + (y * 2.0**-32) ** 2 < 1.0)
    return count


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    assert philox(np.uint64(0), 0) == (0xFF1DAE59, 0x6CD10DF2)  # a known answer of Random123
    inside(POINTS, KEY)  # compiles
    pardo_time, count = seconds(inside, POINTS, KEY)
    numpy_time, expected = seconds(with_numpy, POINTS, KEY)
    assert count == expected
    print(f"pi is about {4 * count / POINTS:.5f}, by {POINTS} points; an error of {2 / np.sqrt(POINTS):.5f} is to be expected")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
