# examples/k_means.py: clusters points by k-means, with parallel loops, reductions, atomics and arrays in one function.
"""`lloyd` runs as it stands on arrays of any device; on NumPy arrays it works in their memory, on the CPU."""

import time

import numpy as np
import pardo as pp

POINTS, CLUSTERS, ROUNDS = 200_000, 8, 20


@pp.jit
def lloyd(points, centres, labels, sums, counts, rounds):
    for _ in range(rounds):
        sums[...] = 0.0
        counts[...] = 0
        cost = 0.0
        for i in pp.prange(points.shape[0]):
            best, nearest = np.inf, 0
            for c in range(centres.shape[0]):
                square = 0.0
                for d in range(points.shape[1]):
                    square += (points[i, d] - centres[c, d]) ** 2
                if square < best:
                    best, nearest = square, c
            labels[i] = nearest
            cost += best
        for i in pp.prange(points.shape[0]):
            pp.atomic.add(counts, labels[i], 1)
            for d in range(points.shape[1]):
                pp.atomic.add(sums, (labels[i], d), points[i, d])
        centres[...] = sums / counts[:, None]
    return cost


def with_pardo(points, start):
    x, centres = pp.asarray(points), pp.asarray(start)
    labels, counts = pp.zeros(POINTS, dtype=np.int32), pp.zeros(CLUSTERS, dtype=np.int32)
    cost = lloyd(x, centres, labels, pp.zeros(start.shape, dtype=start.dtype), counts, ROUNDS)
    return pp.asnumpy(centres), float(cost)


def with_numpy(points, centres):
    for _ in range(ROUNDS):
        squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=-1)
        labels, cost = squares.argmin(axis=1), squares.min(axis=1).sum()
        centres = np.stack([points[labels == c].mean(axis=0) for c in range(CLUSTERS)])
    return centres, cost


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    rng = np.random.default_rng(0)
    middles = rng.uniform(-10, 10, (CLUSTERS, 2))
    points = middles[rng.integers(0, CLUSTERS, POINTS)] + rng.normal(size=(POINTS, 2))
    start = middles + rng.normal(size=middles.shape)
    with_pardo(points, start)  # compiles
    pardo_time, (centres, cost) = seconds(with_pardo, points, start)
    numpy_time, (expected, expected_cost) = seconds(with_numpy, points, start)
    np.testing.assert_allclose(centres, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(cost, expected_cost, rtol=1e-6)
    print(f"{POINTS} points, {CLUSTERS} clusters, {ROUNDS} rounds on {pp.Device()}: mean squared distance {cost / POINTS:.4f}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
