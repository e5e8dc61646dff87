# examples/ray_marching.py: spheres on a plane with soft shadows, by rays that go as far as the distance to the scene allows.
"""Functions of numbers are the scene. A kernel calls them for each pixel; NumPy computes them, as they are, for all pixels at once."""

import argparse
import math
import time

import numpy as np
import pardo as pp

# Middle (x, y, z), radius and colour (red, green, blue) of each sphere; the ground is y = 0.
SPHERES = ((-1.3, 0.8, 0.9, 0.8, 0.9, 0.3, 0.25), (0.1, 0.5, -0.4, 0.5, 0.95, 0.75, 0.3), (1.3, 0.7, 0.6, 0.7, 0.3, 0.5, 0.9))
EYE, LIGHT = (0.0, 1.5, -4.5), (-0.557, 0.743, -0.371)
STEPS, NEAR, FAR, SHARPNESS = 96, 1e-3, 20.0, 10.0


def distance(x, y, z):
    """From a point to the nearest surface."""
    nearest = y
    for a, b, c, radius, _, _, _ in SPHERES:
        nearest = np.minimum(nearest, np.sqrt((x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2) - radius)
    return nearest


def march(x, y, z, dx, dy, dz):
    """How far a ray goes, and how much light comes along it: less where it passes a surface closely (Quilez 2010)."""
    gone, light = 0.02, 1.0
    for _ in range(STEPS):
        room = distance(x + gone * dx, y + gone * dy, z + gone * dz)
        light = min(light, SHARPNESS * (room - NEAR) / gone)
        if room < NEAR or gone > FAR:
            break
        gone += room
    return gone, light


def march_all(x, y, z, dx, dy, dz):
    """The same, for arrays of NumPy."""
    gone, light = np.full_like(x + dx, 0.02), np.ones_like(x + dx)
    goes = np.full(gone.shape, True)
    for _ in range(STEPS):
        room = distance(x + gone * dx, y + gone * dy, z + gone * dz)
        light = np.where(goes, np.minimum(light, SHARPNESS * (room - NEAR) / gone), light)
        goes &= (room >= NEAR) & (gone <= FAR)
        gone = np.where(goes, gone + room, gone)
    return gone, light


def colour(u, v, light_x, light_y, light_z, march):
    """Red, green and blue of the ray through a point of the screen, whose v goes from -1 to 1; light comes from a direction."""
    length = np.sqrt(u * u + (v - 0.45) ** 2 + 4.0)
    dx, dy, dz = u / length, (v - 0.45) / length, 2.0 / length
    gone, _ = march(EYE[0], EYE[1], EYE[2], dx, dy, dz)
    x, y, z = EYE[0] + gone * dx, EYE[1] + gone * dy, EYE[2] + gone * dz
    # The direction away from the surface, by differences.
    nx = distance(x + 0.01, y, z) - distance(x - 0.01, y, z)
    ny = distance(x, y + 0.01, z) - distance(x, y - 0.01, z)
    nz = distance(x, y, z + 0.01) - distance(x, y, z - 0.01)
    facing = (nx * light_x + ny * light_y + nz * light_z) / np.sqrt(nx * nx + ny * ny + nz * nz)
    _, light = march(x + nx, y + ny, z + nz, light_x, light_y, light_z)
    bright = 0.2 + 0.8 * np.maximum(facing, 0.0) * np.maximum(light, 0.0)
    red = 0.45 + 0.3 * ((np.floor(x) + np.floor(z)) % 2.0)  # a checkered ground
    green, blue = red, red
    for a, b, c, radius, sphere_red, sphere_green, sphere_blue in SPHERES:
        on = (x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2 < (radius + 0.01) ** 2
        red, green, blue = np.where(on, sphere_red, red), np.where(on, sphere_green, green), np.where(on, sphere_blue, blue)
    sky = np.minimum(gone / FAR, 1.0) ** 2
    bright = bright * (1.0 - sky)
    return bright * red + 0.6 * sky, bright * green + 0.75 * sky, bright * blue + 0.9 * sky


@pp.kernel
def render(item: pp.Item, light_x, light_y, light_z, colours):
    row, column = item.get_id(0), item.get_id(1)
    rows, columns = colours.shape[0], colours.shape[1]
    u, v = np.float32((2 * column + 1 - columns) / rows), np.float32((rows - 1 - 2 * row) / rows)
    colours[row, column, 0], colours[row, column, 1], colours[row, column, 2] = colour(u, v, light_x, light_y, light_z, march)


def light_of(turn):
    """The direction to the light, as float32, after so many turns around the scene."""
    c, s = math.cos(2 * math.pi * turn), math.sin(2 * math.pi * turn)
    return tuple(map(np.float32, (c * LIGHT[0] - s * LIGHT[2], LIGHT[1], s * LIGHT[0] + c * LIGHT[2])))


def with_pardo(rows, columns, device=None, turn=0.0):
    colours = pp.empty((rows, columns, 3), dtype=np.float32, device=device)
    render[pp.Range(rows, columns)](*light_of(turn), colours)
    return colours


def with_numpy(rows, columns, turn=0.0):
    u = ((2 * np.arange(columns) + 1 - columns) / rows).astype(np.float32)
    v = ((rows - 1 - 2 * np.arange(rows)) / rows).astype(np.float32)[:, None]
    return np.stack(colour(u, v, *light_of(turn), march_all), axis=-1)


def picture(device=None, size=480):
    """Colours of `size` columns: pardo.show(picture()) shows them in a notebook."""
    return pp.plot.pixels(with_pardo(3 * size // 4, size, device))


def watch(device=None, size=480, **where):
    """The light goes around the scene, by pardo.live: in a window, in a notebook, or in files (frames=, to=)."""
    return pp.live(lambda frame: with_pardo(3 * size // 4, size, device, frame / 240), title="ray marching", **where)


def seconds(function, *arguments):
    start = time.perf_counter()
    result = pp.asnumpy(function(*arguments))
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="for example opencl:gpu")
    parser.add_argument("--size", type=int, default=480, help="columns of the picture")
    parser.add_argument("--picture", metavar="FILE.png", help="where a picture is written")
    parser.add_argument("--window", action="store_true", help="show the scene, whose light moves, in a window, until it is closed")
    given = parser.parse_args()
    if given.window:
        print(f"{watch(given.device, given.size, window=True)} frames")
        return

    rows, columns = 3 * given.size // 4, given.size
    device = with_pardo(rows, columns, given.device).wait().device  # compiles
    pardo_time, result = seconds(with_pardo, rows, columns, given.device)
    numpy_time, expected = seconds(with_numpy, rows, columns)
    assert (abs(result - expected) > 0.02).mean() < 0.01  # at edges a rounding decides what a ray meets
    print(f"{columns} x {rows} pixels on {device}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")
    if given.picture:
        pp.show(picture(given.device, given.size), path=given.picture)


if __name__ == "__main__":
    main()
