# examples/mandelbrot.py: the Mandelbrot set by a kernel over two dimensions, written to mandelbrot.png.
"""One item a pixel; items that are done early do not wait for others. Writes a PNG with zlib alone."""

import struct
import sys
import time
import zlib

import numpy as np
import pardo as pp

HEIGHT, WIDTH, LIMIT = 480, 640, 200
REAL, IMAGINARY = (-2.1, 0.7), (-1.05, 1.05)


@pp.kernel
def mandelbrot(item: pp.Item, steps, real, imaginary, width, height, limit):
    row, column = item.get_id(0), item.get_id(1)
    a, b = real + width * column, imaginary + height * row
    x, y, n = 0.0, 0.0, 0
    while n < limit and x * x + y * y <= 4.0:
        x, y = x * x - y * y + a, 2.0 * x * y + b
        n += 1
    steps[row, column] = n


def with_pardo(steps):
    width, height = (REAL[1] - REAL[0]) / WIDTH, (IMAGINARY[1] - IMAGINARY[0]) / HEIGHT
    mandelbrot[pp.Range(HEIGHT, WIDTH)](steps, REAL[0], IMAGINARY[0], width, height, LIMIT).wait()
    return pp.asnumpy(steps)


def with_numpy():
    a = REAL[0] + (REAL[1] - REAL[0]) / WIDTH * np.arange(WIDTH)
    b = IMAGINARY[0] + (IMAGINARY[1] - IMAGINARY[0]) / HEIGHT * np.arange(HEIGHT)
    c = a + 1j * b[:, None]
    z, n = np.zeros_like(c), np.zeros(c.shape, np.int32)
    inside = np.full(c.shape, True)
    for _ in range(LIMIT):
        z[inside] = z[inside] ** 2 + c[inside]
        n[inside] += z.real[inside] ** 2 + z.imag[inside] ** 2 <= 4.0
        inside &= z.real**2 + z.imag**2 <= 4.0
    return np.where(inside, LIMIT, n + 1)


def write_png(path, pixels):
    """An image of 8-bit grey values."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.pad(pixels, ((0, 0), (1, 0)))  # before each row: no filter
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b""))


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main(path="mandelbrot.png"):
    steps = pp.zeros((HEIGHT, WIDTH), dtype="int32")
    with_pardo(steps)  # compiles
    pardo_time, result = seconds(with_pardo, steps)
    numpy_time, expected = seconds(with_numpy)
    assert (result != expected).mean() < 1e-3  # points on the border escape a step earlier or later by one rounding
    write_png(path, (255 * (1 - np.log1p(result) / np.log1p(LIMIT))).astype(np.uint8))
    print(f"{path}: {WIDTH} x {HEIGHT} pixels, {int(result.sum())} steps on {steps.device}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
