# bench/kernels/jacobi.py: each inner element becomes the mean of its four neighbours, there and back between two arrays.
import numpy as np
from workloads.kernels import Problem

TYPES = {"float32": "float", "float64": "double"}
CHECKED = 256  # rows in the middle that NumPy computes


def problem(rng, n, sweeps, dtype):
    u = rng.random((n, n)).astype(dtype)
    first = (n - CHECKED) // 2
    # What the cut-out's edges do wrong moves on by one row a sweep, and is left out.
    wanted = swept(u[first - sweeps : first + CHECKED + sweeps], sweeps)[sweeps:-sweeps]
    tolerance = 1e-9 if dtype == "float64" else 1e-5
    return Problem((u, u.copy()), {0: wanted}, slice(first, first + CHECKED), rtol=tolerance, atol=tolerance)


def swept(u, sweeps):
    u, v = u.copy(), u.copy()
    for _ in range(sweeps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


def there_and_back(there, back, sweeps):
    """Runs the two in turns; gives what the last one gave."""

    def run():
        result = None
        for _ in range(sweeps // 2):
            there()
            result = back()
        return result

    return run


def on_pardo(u, v, sweeps):
    import pardo as pp

    @pp.kernel
    def sweep(item: pp.Item, u, v):
        i, j = item.get_id(0) + 1, item.get_id(1) + 1
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    launch = sweep[pp.Range(u.shape[0] - 2, u.shape[1] - 2)]
    return there_and_back(lambda: launch(u, v), lambda: launch(v, u), sweeps)


def on_numba(u, v, sweeps):
    import numba as nb

    @nb.njit(parallel=True)
    def sweep(u, v):
        for i in nb.prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    return there_and_back(lambda: sweep(u, v), lambda: sweep(v, u), sweeps)


def on_numba_dpex(u, v, sweeps):
    import numba_dpex as dpex
    from numba_dpex import kernel_api as api

    @dpex.kernel
    def sweep(item: api.Item, u, v):
        i, j = item.get_id(0) + 1, item.get_id(1) + 1
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    items = dpex.Range(u.shape[0] - 2, u.shape[1] - 2)
    return there_and_back(lambda: dpex.call_kernel(sweep, items, u, v), lambda: dpex.call_kernel(sweep, items, v, u), sweeps)


OPENCL = """
kernel void sweep(global const T* u, global T* v, int width) {
    size_t i = get_global_id(1) + 1, j = get_global_id(0) + 1, k = i * width + j;
    v[k] = (T)0.25 * (u[k - width] + u[k + width] + u[k - 1] + u[k + 1]);
}
"""


def on_pyopencl(u, v, sweeps):
    from peers.pyopencl import launcher

    height, width = u.shape
    items, number = (width - 2, height - 2), np.int32(width)
    there, back = (launcher(OPENCL, "sweep", items, None, *pair, number, T=TYPES[str(u.dtype)]) for pair in ((u, v), (v, u)))
    return there_and_back(there, back, sweeps)


# Four rows a thread, each element read once by it: one row takes a third longer.
CUDA = """
extern "C" __global__ void sweep(const float* __restrict__ u, float* __restrict__ v, int width, int height) {
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1, first = blockIdx.y * 4 + 1;
    if (j >= width - 1) return;
    size_t k = (size_t)first * width + j;
    float above = u[k - width], here = u[k];
    #pragma unroll
    for (int i = first; i < first + 4; ++i, k += width) {
        if (i >= height - 1) return;
        float below = u[k + width];
        v[k] = 0.25f * (above + below + u[k - 1] + u[k + 1]);
        above = here;
        here = below;
    }
}
"""


def on_cupy(u, v, sweeps):
    import cupy

    height, width = u.shape
    kernel = cupy.RawKernel(CUDA, "sweep")
    grid, numbers = (-(-(width - 2) // 256), -(-(height - 2) // 4)), (np.int32(width), np.int32(height))
    return there_and_back(lambda: kernel(grid, (256,), (u, v, *numbers)), lambda: kernel(grid, (256,), (v, u, *numbers)), sweeps)


def on_numba_cuda(u, v, sweeps):
    from numba import cuda, float32

    @cuda.jit
    def sweep(u, v):
        j, i = cuda.grid(2)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            v[i, j] = float32(0.25) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    launch = sweep[(-(-u.shape[1] // 32), -(-u.shape[0] // 8)), (32, 8)]
    return there_and_back(lambda: launch(u, v), lambda: launch(v, u), sweeps)


def on_triton(u, v, sweeps):
    import triton
    import triton.language as tl

    @triton.jit
    def sweep(u, v, width, height, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
        i = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None] + 1
        j = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :] + 1
        inside = (i < height - 1) & (j < width - 1)
        k = i * width + j
        total = tl.load(u + k - width, inside) + tl.load(u + k + width, inside) + tl.load(u + k - 1, inside) + tl.load(u + k + 1, inside)
        tl.store(v + k, 0.25 * total, inside)

    (height, width), rows, columns = u.shape, 4, 256
    launch = sweep[(triton.cdiv(width - 2, columns), triton.cdiv(height - 2, rows))]
    return there_and_back(lambda: launch(u, v, width, height, rows, columns), lambda: launch(v, u, width, height, rows, columns), sweeps)
