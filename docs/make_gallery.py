# docs/make_gallery.py: runs the programs of examples/ that have something to show, and makes the pictures of gallery.md of their results.
import importlib
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pardo as pp

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples"))

game_of_life, heat, k_means, mandelbrot, median_filter, n_body = map(
    importlib.import_module, ("game_of_life", "heat", "k_means", "mandelbrot", "median_filter", "n_body")
)

# From dark to bright: five colours, and all between them.
COLOURS = np.array([(20, 16, 60), (74, 50, 130), (180, 60, 110), (240, 130, 60), (252, 240, 180)])
# A colour for each cluster.
LABELS = np.array(
    [(230, 80, 70), (70, 150, 230), (90, 190, 110), (240, 180, 60), (160, 110, 220), (80, 200, 200), (230, 120, 180), (150, 150, 150)]
)
WIDTH = 480


def write_png(name, pixels):
    """An image of 8 bits each for red, green and blue."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    rows = np.pad(pixels.reshape(height, 3 * width), ((0, 0), (1, 0)))  # before each row: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows.astype(np.uint8).tobytes(), 9)), chunk(b"IEND", b"")]
    (HERE / "gallery" / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def coloured(values):
    """Colours of values from 0 to 1, in 64 steps: pictures stay small."""
    place = np.round(np.clip(values, 0, 1) * 63) / 63 * (len(COLOURS) - 1)
    return np.stack([np.interp(place, range(len(COLOURS)), COLOURS[:, c]) for c in range(3)], axis=-1).round()


def grey(values):
    return np.repeat(np.asarray(values)[:, :, None], 3, axis=-1)


def of_mandelbrot():
    steps = mandelbrot.with_pardo(pp.zeros((mandelbrot.HEIGHT, mandelbrot.WIDTH), dtype="int32"))
    return coloured(np.log1p(steps) / np.log1p(mandelbrot.LIMIT))


def of_game_of_life():
    world = np.random.default_rng(0).integers(0, 2, (game_of_life.ROWS, game_of_life.COLUMNS), dtype=np.int32)
    return coloured(np.kron(game_of_life.with_pardo(world)[:120, : WIDTH // 3], np.ones((3, 3))))


def of_heat():
    heat.STEPS = 4000
    return coloured(heat.with_pardo(heat.hot_plate())[::2, ::2])


def of_median_filter():
    clean = 128 + 100 * np.sin(np.arange(200)[:, None] / 20) * np.cos(np.arange(WIDTH // 2) / 30)
    noise = np.random.default_rng(0).random(clean.shape)
    image = np.where(noise < 0.03, 0, np.where(noise > 0.97, 255, clean)).astype(np.uint8)
    x = pp.asarray(image)
    return grey(np.hstack([image, median_filter.with_pardo(x, pp.zeros_like(x))]))


def of_n_body():
    rng = np.random.default_rng(0)
    position = rng.normal(size=(n_body.BODIES, 3)).astype(np.float32)
    mass = rng.random(n_body.BODIES, dtype=np.float32)
    pull = np.linalg.norm(n_body.with_pardo(pp.asarray(position), pp.asarray(mass), pp.zeros(position.shape, dtype="float32")), axis=1)
    values = np.zeros((360, WIDTH))
    row, column = (np.clip((position[:, d] + 3) / 6 * n, 1, n - 2).astype(int) for d, n in enumerate(values.shape))
    order = np.argsort(pull)  # where bodies cover each other, the strongest pull is seen
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        values[row[order] + i, column[order] + j] = 0.3 + 0.7 * pull[order] / np.quantile(pull, 0.98)
    return coloured(values)


def of_k_means():
    rng = np.random.default_rng(0)
    middles = rng.uniform(-10, 10, (k_means.CLUSTERS, 2))
    points = middles[rng.integers(0, k_means.CLUSTERS, 20_000)] + rng.normal(size=(20_000, 2))
    x, centres = pp.asarray(points), pp.asarray(middles + rng.normal(size=middles.shape))
    labels, counts = pp.zeros(len(points), dtype="int32"), pp.zeros(len(middles), dtype="int32")
    k_means.lloyd(x, centres, labels, pp.zeros(centres.shape), counts, k_means.ROUNDS)
    pixels = np.full((360, WIDTH, 3), 250)
    row, column = (((points[:, d] + 13) / 26 * (n - 1)).clip(0, n - 1).astype(int) for d, n in enumerate(pixels.shape[:2]))
    pixels[row, column] = LABELS[pp.asnumpy(labels)]
    return pixels


def main():
    (HERE / "gallery").mkdir(exist_ok=True)
    for picture in (of_mandelbrot, of_game_of_life, of_heat, of_median_filter, of_n_body, of_k_means):
        write_png(picture.__name__.removeprefix("of_"), picture())


if __name__ == "__main__":
    main()
