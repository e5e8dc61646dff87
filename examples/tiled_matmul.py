# examples/tiled_matmul.py: a product of matrices by tiles in local memory, and the size of a tile as a constant of the program.
"""How groups share what they load. For products in earnest, `a @ b` calls a tuned library; this prints how far it is."""

import time

import numpy as np
import pardo as pp

N = 512


@pp.kernel
def matmul(item: pp.NdItem, a, b, c, tile: pp.Const[int]):
    row, column = item.get_global_id(0), item.get_global_id(1)
    i, j = item.get_local_id(0), item.get_local_id(1)
    part_a = pp.local_array((tile, tile), a.dtype)
    part_b = pp.local_array((tile, tile), b.dtype)
    total = 0.0
    for first in range(0, a.shape[1], tile):
        part_a[i, j] = a[row, first + j]
        part_b[i, j] = b[first + i, column]
        pp.group_barrier(item.get_group())
        for k in range(tile):
            total += part_a[i, k] * part_b[k, j]
        pp.group_barrier(item.get_group())
    c[row, column] = total


def with_pardo(a, b, c, tile):
    matmul[pp.NdRange(pp.Range(N, N), pp.Range(tile, tile))](a, b, c, tile).wait()
    return pp.asnumpy(c)


def with_numpy(a, b):
    return a @ b


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    rng = np.random.default_rng(0)
    a, b = rng.random((N, N), dtype=np.float32), rng.random((N, N), dtype=np.float32)
    x, y, c = pp.asarray(a), pp.asarray(b), pp.zeros((N, N), dtype=np.float32)
    with_numpy(a, b)  # starts its threads
    numpy_time, expected = seconds(with_numpy, a, b)
    print(f"{N} x {N} float32 on {x.device}")
    print(f"NumPy, by its BLAS    {numpy_time * 1e3:6.1f} ms")
    for tile in (8, 16, 32):
        if tile * tile > x.device.max_work_group_size:
            continue
        with_pardo(x, y, c, tile)  # compiles
        pardo_time, result = seconds(with_pardo, x, y, c, tile)
        np.testing.assert_allclose(result, expected, rtol=1e-4)
        print(f"pardo, tiles of {tile:2}    {pardo_time * 1e3:6.1f} ms")


if __name__ == "__main__":
    main()
