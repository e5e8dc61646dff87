# examples/game_of_life.py: Conway's game of life on a torus, one launch a generation.
"""The kernel writes each generation into the other of two arrays; launches that follow each other wait by themselves."""

import argparse
import time

import numpy as np
import pardo as pp

GENERATIONS = 50


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


def random_world(size):
    return np.random.default_rng(0).integers(0, 2, (size, size), dtype=np.int32)


def with_pardo(world, device=None):
    now = pp.asarray(world, device=device)
    then = pp.empty_like(now)
    for _ in range(GENERATIONS):
        generation[pp.Range(*now.shape)](now, then)
        now, then = then, now
    return now


def with_numpy(world):
    for _ in range(GENERATIONS):
        columns = world + np.roll(world, 1, axis=1) + np.roll(world, -1, axis=1)
        neighbours = columns + np.roll(columns, 1, axis=0) + np.roll(columns, -1, axis=0) - world
        world = ((neighbours == 3) | ((neighbours == 2) & (world == 1))).astype(world.dtype)
    return world


def picture(device=None, size=1000):
    """Colours of the cells: pardo.show(picture()) shows them in a notebook."""
    return pp.plot.pixels(with_pardo(random_world(size), device) == 1, cmap="gray")


def watch(device=None, size=1000, **where):
    """Generation after generation, by pardo.live: in a window, in a notebook, or in files (frames=, to=). The mouse makes cells alive."""
    now = pp.asarray(random_world(size), device=device)
    then = pp.empty_like(now)

    def update(frame, view):
        nonlocal now, then
        if frame > 0:
            generation[pp.Range(*now.shape)](now, then)
            now, then = then, now
        if view.mouse and "left" in view.buttons:
            row, column = map(int, view.mouse)
            now[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3] = 1
        return now

    return pp.live(update, title="game of life", cmap="gray", vmin=0, vmax=1, **where)


def seconds(function, *arguments):
    start = time.perf_counter()
    result = pp.asnumpy(function(*arguments))
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="for example opencl:gpu")
    parser.add_argument("--size", type=int, default=1000, help="rows and columns of the world")
    parser.add_argument("--picture", metavar="FILE.png", help="where a picture is written")
    parser.add_argument("--window", action="store_true", help="show generations in a window, until it is closed")
    given = parser.parse_args()
    if given.window:
        print(f"{watch(given.device, given.size, window=True)} frames")
        return

    world = random_world(given.size)
    device = with_pardo(world, given.device).wait().device  # compiles
    pardo_time, result = seconds(with_pardo, world, given.device)
    numpy_time, expected = seconds(with_numpy, world)
    np.testing.assert_array_equal(result, expected)
    print(f"{GENERATIONS} generations of {given.size} x {given.size} cells on {device}: {result.sum()} are alive")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")
    if given.picture:
        pp.show(picture(given.device, given.size), path=given.picture)


if __name__ == "__main__":
    main()
