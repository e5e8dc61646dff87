# examples/n_body.py: gravity between all pairs of bodies; a group shares each tile of positions in local memory.
"""Each group loads a tile of bodies together, waits, and uses it for all of its items."""

import time

import numpy as np
import pardo as pp

BODIES, TILE, SOFTENING = 4096, 64, np.float32(1e-3)


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


def with_pardo(position, mass, out):
    accelerations[pp.NdRange(BODIES, TILE)](position, mass, out).wait()
    return pp.asnumpy(out)


def with_numpy(position, mass):
    out = np.empty_like(position)
    for first in range(0, BODIES, 256):  # in blocks: all pairs at once are 200 MB for each temporary
        d = position[None, :, :] - position[first : first + 256, None, :]
        square = (d * d).sum(axis=-1) + SOFTENING
        out[first : first + 256] = (d * (mass / (square * np.sqrt(square)))[:, :, None]).sum(axis=1)
    return out


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    rng = np.random.default_rng(0)
    position = rng.normal(size=(BODIES, 3)).astype(np.float32)
    mass = rng.random(BODIES, dtype=np.float32)
    arguments = pp.asarray(position), pp.asarray(mass), pp.zeros((BODIES, 3), dtype=np.float32)
    with_pardo(*arguments)  # compiles
    pardo_time, result = seconds(with_pardo, *arguments)
    numpy_time, expected = seconds(with_numpy, position, mass)
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    print(f"accelerations of {BODIES} bodies, {BODIES**2 / pardo_time / 1e9:.2f} billion pairs a second on {arguments[0].device}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
