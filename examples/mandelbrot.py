# examples/mandelbrot.py: the Mandelbrot set by a kernel over two dimensions, and a zoom to its border.
"""One item a pixel; items that are done early do not wait for others. A zoom changes numbers alone: nothing is compiled again."""

import argparse
import math
import time

import numpy as np
import pardo as pp

LIMIT = 200  # steps; more of them deep in the set
MIDDLE, POINT = complex(-0.7, 0), complex(-0.743643887, 0.131825904)  # of the whole picture, and what the zoom keeps in its place


@pp.kernel
def mandelbrot(item: pp.Item, steps, real, imaginary, width, limit):
    row, column = item.get_id(0), item.get_id(1)
    a, b = real + width * column, imaginary + width * row
    x, y, n = 0.0, 0.0, 0
    while n < limit and x * x + y * y <= 4.0:
        x, y = x * x - y * y + a, 2.0 * x * y + b
        n += 1
    steps[row, column] = n


def view(rows, columns, zoom):
    """The first pixel, the distance of pixels, and the most steps."""
    width = 2.4 / rows / zoom
    corner = POINT + (MIDDLE - POINT) / zoom - width * complex(columns, rows) / 2
    return corner.real, corner.imag, width, int(LIMIT * (1 + math.log2(zoom) / 3))


def with_pardo(steps, zoom=1.0):
    mandelbrot[pp.Range(*steps.shape)](steps, *view(*steps.shape, zoom))
    return steps


def zoomed(real, imaginary, width, row, column, factor):
    """The first pixel and the distance of pixels of a view that is nearer, around one of its pixels."""
    return real + width * column * (1 - 1 / factor), imaginary + width * row * (1 - 1 / factor), width / factor


def with_numpy(rows, columns, zoom=1.0):
    real, imaginary, width, limit = view(rows, columns, zoom)
    c = real + width * np.arange(columns) + 1j * (imaginary + width * np.arange(rows))[:, None]
    z, n = np.zeros_like(c), np.zeros(c.shape, np.int32)
    inside = np.full(c.shape, True)
    for _ in range(limit):
        z[inside] = z[inside] ** 2 + c[inside]
        n[inside] += 1
        inside &= z.real**2 + z.imag**2 <= 4.0
    return n


def picture(device=None, size=640, zoom=1.0):
    """Colours of `size` columns, by the number of steps: pardo.show(picture()) shows them in a notebook."""
    rows = 3 * size // 4
    steps = with_pardo(pp.empty((rows, size), dtype=np.int32, device=device), zoom)
    limit = view(rows, size, zoom)[-1]
    return pp.plot.pixels(pp.where(steps < limit, steps, math.nan), norm="log", cmap="inferno", bad="#000000")


def watch(device=None, size=640, **where):
    """A zoom, by pardo.live: in a window, in a notebook, or in files (frames=, to=).

    In a window the wheel zooms at the mouse and dragging moves the set; until then the zoom goes on by itself.
    """
    steps = pp.empty((3 * size // 4, size), dtype=np.int32, device=device)
    corner, by_itself = view(*steps.shape, 1.0)[:3], True

    def update(frame, window):
        nonlocal corner, by_itself
        by_itself = by_itself and not (window.wheel or any(window.drag))
        if by_itself:
            corner = view(*steps.shape, 1.02 ** (frame % 1000))[:3]  # the width of a pixel then nears the last bits of float64
        else:
            real, imaginary, width = corner
            corner = real - width * window.drag[1], imaginary - width * window.drag[0], width
            if window.wheel and window.mouse:
                corner = zoomed(*corner, *window.mouse, 1.2**window.wheel)
        zoom = 2.4 / len(steps) / corner[2]
        limit = int(LIMIT * (1 + max(math.log2(zoom), 0.0) / 3))
        mandelbrot[pp.Range(*steps.shape)](steps, *corner, limit)
        return pp.where(steps < limit, steps, math.nan)

    return pp.live(update, norm="log", cmap="inferno", title="Mandelbrot", **where)


def seconds(function, *arguments):
    start = time.perf_counter()
    result = pp.asnumpy(function(*arguments))
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="for example opencl:gpu")
    parser.add_argument("--size", type=int, default=640, help="columns of the picture")
    parser.add_argument("--zoom", type=float, default=1.0, help="1 shows all of the set")
    parser.add_argument("--picture", metavar="FILE.png", help="where a picture is written")
    parser.add_argument("--window", action="store_true", help="show a zoom in a window: the wheel zooms, dragging moves")
    given = parser.parse_args()
    if given.window:
        print(f"{watch(given.device, given.size, window=True)} frames")
        return

    rows, columns = 3 * given.size // 4, given.size
    steps = pp.zeros((rows, columns), dtype=np.int32, device=given.device)
    with_pardo(steps, given.zoom).wait()  # compiles
    pardo_time, result = seconds(with_pardo, steps, given.zoom)
    numpy_time, expected = seconds(with_numpy, rows, columns, given.zoom)
    assert (result != expected).mean() < 1e-3 * given.zoom  # points on the border escape earlier or later by roundings
    print(f"{columns} x {rows} pixels, {int(result.sum())} steps on {steps.device}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")
    if given.picture:
        pp.show(picture(given.device, given.size, given.zoom), path=given.picture)


if __name__ == "__main__":
    main()
