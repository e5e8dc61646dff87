# bench/kernels/pairwise.py: the distances between all points of x and all of y.
import math

import numpy as np
from workloads.kernels import Problem

TYPES = {"float32": "float", "float64": "double"}


def problem(rng, n, dtype):
    x, y = (rng.random((n, 3)).astype(dtype) for _ in range(2))
    rows = slice(None, None, max(1, n // 300))  # NumPy's share: some hundred rows
    wanted = np.sqrt(((x[rows, None, :].astype("float64") - y[None, :, :]) ** 2).sum(axis=-1))
    tolerance = 1e-9 if dtype == "float64" else 1e-5
    return Problem((x, y, np.zeros((n, n), dtype)), {2: wanted}, rows, rtol=tolerance, atol=tolerance)


def on_pardo(x, y, out, loops=False):
    import pardo as pp

    @pp.jit
    def by_loops(x, y, out):
        for i in pp.prange(x.shape[0]):
            for j in range(y.shape[0]):
                square = 0.0
                for k in range(x.shape[1]):
                    square += (x[i, k] - y[j, k]) ** 2
                out[i, j] = math.sqrt(square)

    @pp.kernel
    def by_items(item: pp.Item, x, y, out):
        i, j = item.get_id(0), item.get_id(1)
        square = 0.0
        for k in range(x.shape[1]):
            square += (x[i, k] - y[j, k]) ** 2
        out[i, j] = math.sqrt(square)

    def run():
        by_loops(x, y, out)
        return out

    return run if loops else lambda: by_items[pp.Range(*out.shape)](x, y, out)


def on_numba(x, y, out, loops=True):
    import numba as nb

    @nb.njit(parallel=True)
    def pairwise(x, y, out):
        for i in nb.prange(x.shape[0]):
            for j in range(y.shape[0]):
                square = 0.0
                for k in range(x.shape[1]):
                    square += (x[i, k] - y[j, k]) ** 2
                out[i, j] = math.sqrt(square)

    return lambda: pairwise(x, y, out)


def on_numba_dpex(x, y, out, loops=False):
    import numba_dpex as dpex
    from numba_dpex import kernel_api as api

    @dpex.kernel
    def pairwise(item: api.Item, x, y, out):
        i, j = item.get_id(0), item.get_id(1)
        square = 0.0
        for k in range(x.shape[1]):
            difference = x[i, k] - y[j, k]
            square += difference * difference
        out[i, j] = math.sqrt(square)

    return lambda: dpex.call_kernel(pairwise, dpex.Range(*out.shape), x, y, out)


def on_warp(x, y, out, loops=False):
    import warp as wp

    @wp.kernel
    def pairwise(x: wp.array2d(dtype=wp.float64), y: wp.array2d(dtype=wp.float64), out: wp.array2d(dtype=wp.float64)):
        i, j = wp.tid()
        square = wp.float64(0.0)
        for k in range(x.shape[1]):
            difference = x[i, k] - y[j, k]
            square += difference * difference
        out[i, j] = wp.sqrt(square)

    return lambda: wp.launch(pairwise, dim=out.shape, inputs=[x, y, out], device="cpu")


OPENCL = """
kernel void pairwise(global const T* x, global const T* y, global T* out, int dimensions) {
    size_t i = get_global_id(1), j = get_global_id(0), n = get_global_size(0);
    T square = 0;
    for (int k = 0; k < dimensions; ++k) {
        T difference = x[i * dimensions + k] - y[j * dimensions + k];
        square += difference * difference;
    }
    out[i * n + j] = sqrt(square);
}
"""


def on_pyopencl(x, y, out, loops=False):
    from peers.pyopencl import launcher

    return launcher(OPENCL, "pairwise", out.shape[::-1], None, x, y, out, np.int32(x.shape[1]), T=TYPES[str(x.dtype)])


# Eight rows a thread: one takes twice as long.
CUDA = """
extern "C" __global__ void pairwise(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 8;
    if (j >= n) return;
    float a = y[3 * j], b = y[3 * j + 1], c = y[3 * j + 2];
    #pragma unroll
    for (int i = first; i < first + 8; ++i) {
        if (i >= n) return;
        float p = x[3 * i] - a, q = x[3 * i + 1] - b, r = x[3 * i + 2] - c;
        out[(long long)i * n + j] = sqrtf(p * p + q * q + r * r);
    }
}
"""


def on_cupy(x, y, out):
    import cupy

    n = len(x)
    kernel = cupy.RawKernel(CUDA, "pairwise")
    return lambda: kernel((-(-n // 256), -(-n // 8)), (256,), (x, y, out, np.int32(n)))


def on_numba_cuda(x, y, out):
    from numba import cuda, float32

    @cuda.jit
    def pairwise(x, y, out):
        i, j = cuda.blockIdx.y, cuda.grid(1)
        if j < y.shape[0]:
            square = float32(0)
            for k in range(3):
                difference = x[i, k] - y[j, k]
                square += difference * difference
            out[i, j] = math.sqrt(square)

    launch = pairwise[(-(-len(y) // 256), len(x)), 256]
    return lambda: launch(x, y, out)


def on_triton(x, y, out):
    import triton
    import triton.language as tl

    @triton.jit
    def pairwise(x, y, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
        i = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        j = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
        square = tl.zeros((ROWS, COLUMNS), tl.float32)
        for k in tl.static_range(3):
            difference = tl.load(x + 3 * i + k, i < n)[:, None] - tl.load(y + 3 * j + k, j < n)[None, :]
            square += difference * difference
        tl.store(out + i[:, None] * n + j[None, :], tl.sqrt(square), (i[:, None] < n) & (j[None, :] < n))

    n, rows, columns = len(x), 8, 256
    grid = (triton.cdiv(n, columns), triton.cdiv(n, rows))
    return lambda: pairwise[grid](x, y, out, n, rows, columns)
