# examples/median_filter.py: the median of each pixel's 3 x 3 neighbours, by a sorting network in private memory.
"""Takes salt and pepper out of an image. `order` is an ordinary function that the kernel calls."""

import time

import numpy as np
import pardo as pp

ROWS, COLUMNS = 600, 800
# Nine values: after these exchanges the middle one is the median (Smith 1996).
NETWORK = ((1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3), (5, 8), (4, 7), (3, 6))
NETWORK += ((1, 4), (2, 5), (4, 7), (4, 2), (6, 4), (4, 2))


@pp.func
def order(values, a, b):
    """Put the smaller of two elements first."""
    low, high = min(values[a], values[b]), max(values[a], values[b])
    values[a], values[b] = low, high


@pp.kernel
def median_filter(item: pp.Item, image, out):
    i, j = item.get_id(0), item.get_id(1)
    around = pp.private_array(9, image.dtype)
    for r in range(3):
        for c in range(3):
            row = min(max(i + r - 1, 0), image.shape[0] - 1)  # the border is repeated
            column = min(max(j + c - 1, 0), image.shape[1] - 1)
            around[3 * r + c] = image[row, column]
    for a, b in NETWORK:
        order(around, a, b)
    out[i, j] = around[4]


def with_pardo(image, out):
    median_filter[pp.Range(*image.shape)](image, out).wait()
    return pp.asnumpy(out)


def with_numpy(image):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1, mode="edge"), (3, 3))
    return np.median(windows, axis=(2, 3)).astype(image.dtype)


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    rng = np.random.default_rng(0)
    clean = (128 + 100 * np.sin(np.arange(ROWS)[:, None] / 40) * np.cos(np.arange(COLUMNS) / 60)).astype(np.uint8)
    noise = rng.random(clean.shape)
    image = np.where(noise < 0.03, 0, np.where(noise > 0.97, 255, clean)).astype(np.uint8)
    x, out = pp.asarray(image), pp.zeros(image.shape, dtype=np.uint8)
    with_pardo(x, out)  # compiles
    pardo_time, result = seconds(with_pardo, x, out)
    numpy_time, expected = seconds(with_numpy, image)
    np.testing.assert_array_equal(result, expected)
    before, after = (np.abs(a.astype(int) - clean).mean() for a in (image, result))
    print(f"{ROWS} x {COLUMNS} pixels on {x.device}: mean error {before:.2f} before, {after:.2f} after")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
