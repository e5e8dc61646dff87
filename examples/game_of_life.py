# examples/game_of_life.py: Conway's game of life on a torus, one launch a generation.
"""The kernel writes each generation into the other of two arrays; launches that follow each other wait by themselves."""

import time

import numpy as np
import pardo as pp

ROWS, COLUMNS, GENERATIONS = 1000, 1000, 50


@pp.kernel
def generation(item: pp.Item, now, then):
    i, j = item.get_id(0), item.get_id(1)
    below = i + 1 if i + 1 < now.shape[0] else 0
    right = j + 1 if j + 1 < now.shape[1] else 0
    neighbours = 0
    for r in (i - 1, i, below):  # an index of -1 is the last one, as everywhere in Python
        for c in (j - 1, j, right):
            neighbours += now[r, c]
    alive = now[i, j]
    neighbours -= alive
    then[i, j] = 1 if neighbours == 3 or (neighbours == 2 and alive == 1) else 0


def with_pardo(world):
    now = pp.asarray(world)
    then = pp.empty_like(now)
    for _ in range(GENERATIONS):
        generation[pp.Range(ROWS, COLUMNS)](now, then)
        now, then = then, now
    return pp.asnumpy(now)


def with_numpy(world):
    for _ in range(GENERATIONS):
        columns = world + np.roll(world, 1, axis=1) + np.roll(world, -1, axis=1)
        neighbours = columns + np.roll(columns, 1, axis=0) + np.roll(columns, -1, axis=0) - world
        world = ((neighbours == 3) | ((neighbours == 2) & (world == 1))).astype(world.dtype)
    return world


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    world = np.random.default_rng(0).integers(0, 2, (ROWS, COLUMNS), dtype=np.int32)
    with_pardo(world)  # compiles
    pardo_time, result = seconds(with_pardo, world)
    numpy_time, expected = seconds(with_numpy, world)
    np.testing.assert_array_equal(result, expected)
    print(f"{GENERATIONS} generations of {ROWS} x {COLUMNS} cells on {pp.Device()}: {result.sum()} are alive")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
