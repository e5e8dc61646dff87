# examples/n_body.py: gravity between all pairs of bodies; a group shares each tile of positions in local memory.
"""Each group loads a tile of bodies together, waits, and uses it for all of its items. Steps of time are expressions of arrays."""

import argparse
import time

import numpy as np
import pardo as pp

TILE, SOFTENING = 64, np.float32(1e-3)
STEPS, STEP = 120, np.float32(0.025)
SHAPE, RANGE = (120, 160), ((-2.4, 2.4), (-1.8, 1.8))  # of the picture: pixels, and what they show of x and y


@pp.kernel(fastmath=True)
def accelerations(item: pp.NdItem, position, mass, out):
    i, k = item.get_global_id(0), item.get_local_id(0)
    group = item.get_group()
    tile = pp.local_array((4, TILE), np.float32)
    x, y, z = position[i, 0], position[i, 1], position[i, 2]
    ax, ay, az = np.float32(0), np.float32(0), np.float32(0)
    for first in range(0, position.shape[0], TILE):
        for d in range(3):
            tile[d, k] = position[first + k, d]
        tile[3, k] = mass[first + k]
        pp.group_barrier(group)  # the tile is whole
        for j in range(TILE):
            dx, dy, dz = tile[0, j] - x, tile[1, j] - y, tile[2, j] - z
            distance = np.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            force = tile[3, j] / (distance * distance * distance)
            ax += force * dx
            ay += force * dy
            az += force * dz
        pp.group_barrier(group)  # no item needs the tile any more
    out[i, 0], out[i, 1], out[i, 2] = ax, ay, az


def with_pardo(position, mass):
    out = pp.empty_like(position)
    accelerations[pp.NdRange(len(position), TILE)](position, mass, out)
    return out


def with_numpy(position, mass):
    out = np.empty_like(position)
    for first in range(0, len(position), 256):  # in blocks: all pairs of 4096 bodies at once are 200 MB for each temporary
        d = position[None, :, :] - position[first : first + 256, None, :]
        square = (d * d).sum(axis=-1) + SOFTENING
        out[first : first + 256] = (d * (mass / (square * np.sqrt(square)))[:, :, None]).sum(axis=1)
    return out


def galaxies(bodies):
    """Two discs of light bodies around a heavy one, which pass each other: positions, velocities, masses."""
    rng = np.random.default_rng(0)
    radius, angle = rng.uniform(0.15, 1, bodies), rng.uniform(0, 2 * np.pi, bodies)
    radius[:2] = 0  # the heavy ones
    speed = np.sqrt(radius**2 / (radius**2 + SOFTENING) ** 1.5)
    position = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.02 * rng.standard_normal(bodies)], axis=-1)
    velocity = np.stack([-speed * np.sin(angle), speed * np.cos(angle), 0 * speed], axis=-1)
    side = np.where(np.arange(bodies) % 2, 1, -1)[:, None]
    position += side * (1.2, 0.8, 0.1)
    velocity += side * (-0.5, 0, 0)
    mass = np.full(bodies, 0.1 / bodies)
    mass[:2] = 1
    return position.astype(np.float32), velocity.astype(np.float32), mass.astype(np.float32)


def move(position, velocity, mass, accelerations, steps=STEPS):
    """Positions after all steps (leapfrog), of arrays of NumPy or of pardo."""
    for _ in range(steps):
        position, velocity = moved(position, velocity, mass, accelerations)
    return position


def moved(position, velocity, mass, accelerations):
    """Positions and velocities after one step."""
    position = position + STEP / 2 * velocity
    velocity = velocity + STEP * accelerations(position, mass)
    return position + STEP / 2 * velocity, velocity


def picture(device=None, size=4096):
    """Colours of how many bodies are where: pardo.show(picture()) shows them in a notebook."""
    position, velocity, mass = (pp.asarray(x, device=device) for x in galaxies(size))
    position = move(position, velocity, mass, with_pardo)
    counts = pp.plot.density(position[:, 0], position[:, 1], SHAPE, range=RANGE)
    return pp.plot.pixels(counts, size=3 * SHAPE[1], norm="log", cmap="inferno", bad="#000000", origin="lower")


def watch(device=None, size=4096, **where):
    """The bodies, by pardo.live: in a window, in a notebook, or in files (frames=, to=)."""
    position, velocity, mass = (pp.asarray(x, device=device) for x in galaxies(size))

    def update(frame):
        nonlocal position, velocity
        if frame > 0:
            position, velocity = moved(position, velocity, mass, with_pardo)
        return position

    return pp.live(update, kind="points", range=RANGE, color="#ffd9a0c0", title="n bodies", **where)


def seconds(function, *arguments):
    start = time.perf_counter()
    result = pp.asnumpy(function(*arguments))
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="for example opencl:gpu")
    parser.add_argument("--size", type=int, default=4096, help=f"bodies, a multiple of {TILE}")
    parser.add_argument("--picture", metavar="FILE.png", help="where a picture is written")
    parser.add_argument("--window", action="store_true", help="show the bodies in a window, until it is closed")
    given = parser.parse_args()
    if given.window:
        print(f"{watch(given.device, given.size, window=True)} frames")
        return

    position, _, mass = galaxies(given.size)
    arguments = pp.asarray(position, device=given.device), pp.asarray(mass, device=given.device)
    with_pardo(*arguments).wait()  # compiles
    pardo_time, result = seconds(with_pardo, *arguments)
    numpy_time, expected = seconds(with_numpy, position, mass)
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    print(f"accelerations of {given.size} bodies, {given.size**2 / pardo_time / 1e9:.2f} billion pairs a second on {arguments[0].device}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")
    if given.picture:
        pp.show(picture(given.device, given.size), path=given.picture)


if __name__ == "__main__":
    main()
