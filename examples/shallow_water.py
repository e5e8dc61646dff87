# examples/shallow_water.py: waves around an island, by slices of arrays alone.
"""The linear equations of shallow water: waves are slower where the sea is less deep, which bends them; land and walls reflect them."""

import argparse
import time

import numpy as np
import pardo as pp

COURANT = 0.5  # the part of a cell that a wave goes in one step, where the sea is 1 deep


def sea(rows, columns):
    """Depths between columns and between rows, zero at land; the land; the height of the water: one hill of it."""
    y, x = np.linspace(-0.75, 0.75, rows, dtype=np.float32)[:, None], np.linspace(-1, 1, columns, dtype=np.float32)
    depth = 1 - 1.2 * np.exp(-8 * ((x - 0.2) ** 2 + (y + 0.05) ** 2))
    depth[depth < 0.2] = 0  # an island with steep coasts
    height = np.exp(-300 * ((x + 0.55) ** 2 + (y - 0.15) ** 2))
    return np.minimum(depth[:, 1:], depth[:, :-1]), np.minimum(depth[1:], depth[:-1]), depth == 0, height


def steps(columns):
    """So many that the wave is around the island."""
    return 5 * columns // 4


def flow(right, down, height, u, v):
    """Heights after all steps, of arrays of NumPy or of pardo: water flows (u, v) between cells, and each line is one kernel."""
    for _ in range(steps(height.shape[1])):
        step(right, down, height, u, v)
    return height


def step(right, down, height, u, v):
    u[:, 1:-1] -= COURANT * right * (height[:, 1:] - height[:, :-1])
    v[1:-1] -= COURANT * down * (height[1:] - height[:-1])
    height -= COURANT * (u[:, 1:] - u[:, :-1] + v[1:] - v[:-1])


def with_numpy(right, down, height):
    rows, columns = height.shape
    return flow(right, down, height.copy(), np.zeros((rows, columns + 1), np.float32), np.zeros((rows + 1, columns), np.float32))


def with_pardo(right, down, height):
    """The same of arrays on a device."""
    (rows, columns), like = height.shape, {"dtype": height.dtype, "device": height.device}
    return flow(right, down, height.copy(), pp.zeros((rows, columns + 1), **like), pp.zeros((rows + 1, columns), **like))


def picture(device=None, size=480):
    """Colours of the heights, and of land: pardo.show(picture()) shows them in a notebook."""
    right, down, land, height = (pp.asarray(x, device=device) for x in sea(3 * size // 4, size))
    height = with_pardo(right, down, height)
    return pp.plot.pixels(pp.where(land, np.nan, height), cmap="coolwarm", norm="centered", percentiles=(1, 99), bad="#50603c")


def watch(device=None, size=480, **where):
    """The waves, by pardo.live: in a window, in a notebook, or in files (frames=, to=). A click lets a drop fall."""
    right, down, land, height = (pp.asarray(x, device=device) for x in sea(3 * size // 4, size))
    (rows, columns), like = height.shape, {"dtype": height.dtype, "device": height.device}
    u, v = pp.zeros((rows, columns + 1), **like), pp.zeros((rows + 1, columns), **like)
    row, column = pp.arange(rows, **like)[:, None], pp.arange(columns, **like)

    def update(frame, view):
        for _, (i, j) in view.clicks:
            height[...] += pp.exp(-300 * ((row - i) ** 2 + (column - j) ** 2) * (2 / columns) ** 2)
        for _ in range(4 if frame else 0):
            step(right, down, height, u, v)
        return pp.where(land, np.nan, height)

    return pp.live(update, title="shallow water", cmap="coolwarm", vmin=-0.4, vmax=0.4, bad="#50603c", **where)


def seconds(function, *arguments):
    start = time.perf_counter()
    result = pp.asnumpy(function(*arguments))
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="for example opencl:gpu")
    parser.add_argument("--size", type=int, default=480, help="columns of the sea")
    parser.add_argument("--picture", metavar="FILE.png", help="where a picture is written")
    parser.add_argument("--window", action="store_true", help="show the waves in a window, until it is closed")
    given = parser.parse_args()
    if given.window:
        print(f"{watch(given.device, given.size, window=True)} frames")
        return

    right, down, _, height = sea(3 * given.size // 4, given.size)
    arguments = [pp.asarray(x, device=given.device) for x in (right, down, height)]
    with_pardo(*arguments).wait()  # compiles
    pardo_time, result = seconds(with_pardo, *arguments)
    numpy_time, expected = seconds(with_numpy, right, down, height)
    np.testing.assert_allclose(result, expected, atol=1e-6 * steps(given.size))  # roundings of float32 add up
    np.testing.assert_allclose(result.sum(dtype=float), height.sum(dtype=float), rtol=1e-4)  # no water is lost
    print(f"{steps(given.size)} steps of {height.size} cells on {arguments[0].device}: the highest wave is at {result.max():.3f}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")
    if given.picture:
        pp.show(picture(given.device, given.size), path=given.picture)


if __name__ == "__main__":
    main()
