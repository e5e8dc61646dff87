# docs/make_gallery.py: runs the programs of examples/ that have something to show, and makes the pictures of gallery.md of their results.
import importlib
import sys
from pathlib import Path

import numpy as np
import pardo as pp

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples"))

game_of_life, heat, k_means, mandelbrot, median_filter, n_body, ray_marching, shallow_water = map(
    importlib.import_module,
    ("game_of_life", "heat", "k_means", "mandelbrot", "median_filter", "n_body", "ray_marching", "shallow_water"),
)

# A colour for each cluster.
LABELS = np.array(
    [(230, 80, 70), (70, 150, 230), (90, 190, 110), (240, 180, 60), (160, 110, 220), (80, 200, 200), (230, 120, 180), (150, 150, 150)]
)
WIDTH = 480


def of_mandelbrot():
    return mandelbrot.picture(size=WIDTH)


def of_mandelbrot_zoom():
    return mandelbrot.picture(size=WIDTH, zoom=1000.0)


def of_game_of_life():
    return game_of_life.picture(size=WIDTH // 3)[:120]


def of_heat():
    heat.STEPS = 4000
    return pp.plot.pixels(pp.asarray(heat.with_pardo(heat.hot_plate())), size=WIDTH, cmap="inferno")


def of_median_filter():
    return median_filter.picture(size=WIDTH // 2)


def of_n_body():
    return n_body.picture()


def of_ray_marching():
    return ray_marching.picture()


def of_shallow_water():
    return shallow_water.picture()


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
    return pp.asarray(pixels.astype(np.uint8))


PICTURES = (
    of_mandelbrot,
    of_mandelbrot_zoom,
    of_game_of_life,
    of_heat,
    of_shallow_water,
    of_median_filter,
    of_n_body,
    of_ray_marching,
    of_k_means,
)


def main():
    (HERE / "gallery").mkdir(exist_ok=True)
    for picture in PICTURES:
        pp.show(picture(), path=HERE / "gallery" / f"{picture.__name__.removeprefix('of_')}.png", size=WIDTH)


if __name__ == "__main__":
    main()
