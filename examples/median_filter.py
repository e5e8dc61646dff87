# examples/median_filter.py: the median of each pixel's 3 x 3 neighbours, by a sorting network in private memory, for a stream of frames.
"""Takes salt and pepper out of what a camera sees. While a device filters a frame, the host makes the next one."""

import argparse
import itertools
import time

import numpy as np
import pardo as pp

FRAMES = 8
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


def seen(k, rows, columns):
    """Frame k without noise: a ball moves over a pattern that moves too."""
    row, column = np.ogrid[:rows, :columns]
    pattern = 110 + 80 * np.sin((row + 2 * k) / 20) * np.cos((column - k) / 30)
    ball = (row - rows // 2) ** 2 + (column - columns // 4 - 8 * k) ** 2 < (rows // 5) ** 2
    return np.where(ball, 220, pattern).astype(np.uint8)


def camera(size, numbers=range(FRAMES)):
    """The frames, one after the other, of NumPy: some pixels are black or white."""
    rng = np.random.default_rng(0)
    for k in numbers:
        frame = seen(k, 3 * size // 4, size)
        noise = rng.random(frame.shape)
        yield np.where(noise < 0.03, 0, np.where(noise > 0.97, 255, frame)).astype(np.uint8)


def with_pardo(frames, device=None):
    """Each frame on the device, and its median: neither is waited for."""
    for frame in frames:
        image = pp.asarray(frame, device=device)
        out = pp.empty_like(image)
        median_filter[pp.Range(*image.shape)](image, out)
        yield image, out


def with_numpy(image):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1, mode="edge"), (3, 3))
    return np.median(windows, axis=(2, 3)).astype(image.dtype)


def picture(device=None, size=800):
    """Colours of the last frame, and beside it of its median: pardo.show(picture()) shows them in a notebook."""
    *_, last = with_pardo(camera(size), device)
    grey = pp.concat(last, axis=1)
    return pp.stack([grey, grey, grey], axis=-1)


def watch(device=None, size=800, **where):
    """Frames and their medians beside them, by pardo.live: in a window, in a notebook, or in files (frames=, to=)."""
    forth_and_back = itertools.cycle([*range(90), *range(90, 0, -1)])
    stream = with_pardo(camera(size, forth_and_back), device)
    return pp.live(lambda frame: pp.concat(next(stream), axis=1), title="median filter", cmap="gray", vmin=0, vmax=255, **where)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="for example opencl:gpu")
    parser.add_argument("--size", type=int, default=800, help="columns of a frame")
    parser.add_argument("--picture", metavar="FILE.png", help="where a picture is written")
    parser.add_argument("--window", action="store_true", help="show frames and their medians in a window, until it is closed")
    given = parser.parse_args()
    if given.window:
        print(f"{watch(given.device, given.size, window=True)} frames")
        return

    frames = list(camera(given.size))
    _, out = next(with_pardo(frames, given.device))
    device = out.wait().device  # compiles
    start = time.perf_counter()
    results = [pp.asnumpy(out) for _, out in list(with_pardo(frames, given.device))]
    between = time.perf_counter()
    expected = [with_numpy(frame) for frame in frames]
    end = time.perf_counter()
    np.testing.assert_array_equal(results, expected)
    clean = [seen(k, *frame.shape) for k, frame in enumerate(frames)]
    before, after = (np.abs(np.subtract(images, clean, dtype=int)).mean() for images in (frames, results))
    print(f"{FRAMES} frames of {given.size} columns on {device}: mean error {before:.2f} before, {after:.2f} after")
    print(f"NumPy {(end - between) * 1e3:.0f} ms, pardo {(between - start) * 1e3:.1f} ms")
    if given.picture:
        pp.show(picture(given.device, given.size), path=given.picture)


if __name__ == "__main__":
    main()
