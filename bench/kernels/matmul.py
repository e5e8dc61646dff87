# bench/kernels/matmul.py: a product of matrices by tiles in local memory, one element an item.
import numpy as np
from workloads.kernels import Problem

TILE = 16


def problem(rng, n):
    a, b = rng.random((n, n), dtype="float32"), rng.random((n, n), dtype="float32")
    return Problem((a, b, np.zeros((n, n), "float32")), {2: a.astype("float64") @ b}, rtol=1e-4)


def on_pardo(a, b, c):
    import pardo as pp

    @pp.kernel
    def matmul(item: pp.NdItem, a, b, c):
        row, column = item.get_global_id(0), item.get_global_id(1)
        i, j = item.get_local_id(0), item.get_local_id(1)
        part_a, part_b = pp.local_array((TILE, TILE), np.float32), pp.local_array((TILE, TILE), np.float32)
        total = 0.0
        for first in range(0, a.shape[1], TILE):
            part_a[i, j] = a[row, first + j]
            part_b[i, j] = b[first + i, column]
            pp.group_barrier(item.get_group())
            for k in range(TILE):
                total += part_a[i, k] * part_b[k, j]
            pp.group_barrier(item.get_group())
        c[row, column] = total

    return lambda: matmul[pp.NdRange(c.shape, (TILE, TILE))](a, b, c)


OPENCL = """
kernel void matmul(global const float* a, global const float* b, global float* c, int n) {
    local float part_a[TILE][TILE], part_b[TILE][TILE];
    size_t row = get_global_id(1), column = get_global_id(0), i = get_local_id(1), j = get_local_id(0);
    float total = 0;
    for (int first = 0; first < n; first += TILE) {
        part_a[i][j] = a[row * n + first + j];
        part_b[i][j] = b[(first + i) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k) total += part_a[i][k] * part_b[k][j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = total;
}
"""


def on_pyopencl(a, b, c):
    from peers.pyopencl import launcher

    return launcher(OPENCL, "matmul", c.shape[::-1], (TILE, TILE), a, b, c, np.int32(a.shape[1]), TILE=TILE)
