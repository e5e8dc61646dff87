# bench/kernels/mandelbrot.py: how many steps each point takes to leave the circle; items that are done early do not wait for others. fast:
# products and sums may be one operation, which compilers of CUDA do without being asked.
import numpy as np
from workloads.kernels import Problem

LIMIT = 200
REAL, IMAGINARY = (-2.0, 0.5), (-1.25, 1.25)  # a quarter of these points never leaves
TYPES = {"float32": "float", "float64": "double"}


def problem(rng, n, dtype):
    real, imaginary = (np.linspace(*interval, n, dtype=dtype) for interval in (REAL, IMAGINARY))
    rows = slice(None, None, max(1, n // 100))
    wanted = steps_of(real, imaginary[rows])
    # Points on the border take a step more or less by one rounding.
    return Problem((real, imaginary, np.zeros((n, n), "int32")), {2: wanted}, rows, differ=2e-3)


def steps_of(real, imaginary):
    """By whole arrays."""
    a, b = (part.ravel() for part in np.broadcast_arrays(real, imaginary[:, None]))
    steps, index = np.zeros(a.shape, "int32"), np.arange(a.size)
    x, y = np.zeros_like(a), np.zeros_like(a)
    for _ in range(LIMIT):
        inside = x * x + y * y <= 4
        a, b, x, y, index = (each[inside] for each in (a, b, x, y, index))
        steps[index] += 1
        x, y = x * x - y * y + a, 2 * x * y + b
    return steps.reshape(len(imaginary), len(real))


def on_pardo(real, imaginary, steps, fast):
    import pardo as pp

    @pp.kernel(fastmath=fast)
    def mandelbrot(item: pp.Item, real, imaginary, steps):
        row, column = item.get_id(0), item.get_id(1)
        a, b = real[column], imaginary[row]
        x, y, n = 0.0, 0.0, np.int32(0)
        while n < LIMIT and x * x + y * y <= 4.0:
            x, y = x * x - y * y + a, 2.0 * x * y + b
            n += 1
        steps[row, column] = n

    return lambda: mandelbrot[pp.Range(*steps.shape)](real, imaginary, steps)


def on_numba(real, imaginary, steps, fast):
    import numba as nb

    @nb.njit(parallel=True, fastmath=fast)
    def mandelbrot(real, imaginary, steps):
        for row in nb.prange(steps.shape[0]):
            for column in range(steps.shape[1]):
                a, b = real[column], imaginary[row]
                x, y, n = 0.0, 0.0, 0
                while n < LIMIT and x * x + y * y <= 4.0:
                    x, y = x * x - y * y + a, 2.0 * x * y + b
                    n += 1
                steps[row, column] = n

    return lambda: mandelbrot(real, imaginary, steps)


def on_numba_dpex(real, imaginary, steps, fast):
    import numba_dpex as dpex
    from numba_dpex import kernel_api as api

    @dpex.kernel
    def mandelbrot(item: api.Item, real, imaginary, steps):
        row, column = item.get_id(0), item.get_id(1)
        a, b = real[column], imaginary[row]
        x, y, n = 0.0, 0.0, 0
        while n < LIMIT and x * x + y * y <= 4.0:
            x, y = x * x - y * y + a, 2.0 * x * y + b
            n += 1
        steps[row, column] = n

    return lambda: dpex.call_kernel(mandelbrot, dpex.Range(*steps.shape), real, imaginary, steps)


def on_warp(real, imaginary, steps, fast):
    import warp as wp

    @wp.kernel
    def mandelbrot(real: wp.array(dtype=wp.float64), imaginary: wp.array(dtype=wp.float64), steps: wp.array2d(dtype=wp.int32)):
        row, column = wp.tid()
        a, b = real[column], imaginary[row]
        x, y, n = wp.float64(0.0), wp.float64(0.0), wp.int32(0)
        while n < LIMIT and x * x + y * y <= wp.float64(4.0):
            t = x * x - y * y + a
            y = wp.float64(2.0) * x * y + b
            x = t
            n += 1
        steps[row, column] = n

    return lambda: wp.launch(mandelbrot, dim=steps.shape, inputs=[real, imaginary, steps], device="cpu")


def on_drjit(real, imaginary, steps, fast):
    import drjit as dr
    from drjit.llvm import Float64, Int32, UInt32

    width, count = len(real), len(real) * len(imaginary)

    def run():
        item = dr.arange(UInt32, count)
        a, b = dr.gather(Float64, real, item % width), dr.gather(Float64, imaginary, item // width)

        def goes_on(x, y, n):
            return (n < LIMIT) & (x * x + y * y <= 4.0)

        def step(x, y, n):
            return x * x - y * y + a, 2.0 * x * y + b, n + 1

        *_, n = dr.while_loop((Float64(0), Float64(0), Int32(0)), goes_on, step)
        return (n,)

    return run


OPENCL = """
kernel void mandelbrot(global const T* real, global const T* imaginary, global int* steps) {
    size_t row = get_global_id(1), column = get_global_id(0);
    T a = real[column], b = imaginary[row], x = 0, y = 0;
    int n = 0;
    while (n < LIMIT && x * x + y * y <= 4) {
        T t = x * x - y * y + a;
        y = 2 * x * y + b;
        x = t;
        ++n;
    }
    steps[row * get_global_size(0) + column] = n;
}
"""


def on_pyopencl(real, imaginary, steps, fast):
    from peers.pyopencl import launcher

    return launcher(OPENCL, "mandelbrot", steps.shape[::-1], None, real, imaginary, steps, T=TYPES[str(real.dtype)], LIMIT=LIMIT)


CUDA = """
extern "C" __global__ void mandelbrot(const float* real, const float* imaginary, int* steps, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float a = real[column], b = imaginary[row], x = 0, y = 0;
    int n = 0;
    while (n < LIMIT && x * x + y * y <= 4.0f) {
        float t = x * x - y * y + a;
        y = 2.0f * x * y + b;
        x = t;
        ++n;
    }
    steps[row * width + column] = n;
}
"""


def on_cupy(real, imaginary, steps, fast):
    import cupy

    height, width = steps.shape
    kernel = cupy.RawKernel(CUDA, "mandelbrot", (f"-DLIMIT={LIMIT}",))
    grid, block = (-(-width // 32), -(-height // 8)), (32, 8)
    return lambda: kernel(grid, block, (real, imaginary, steps, np.int32(width), np.int32(height)))


def on_numba_cuda(real, imaginary, steps, fast):
    from numba import cuda, float32, int32

    @cuda.jit
    def mandelbrot(real, imaginary, steps):
        column, row = cuda.grid(2)
        if row < steps.shape[0] and column < steps.shape[1]:
            a, b = real[column], imaginary[row]
            x, y, n = float32(0), float32(0), int32(0)
            while n < LIMIT and x * x + y * y <= float32(4):
                x, y = x * x - y * y + a, float32(2) * x * y + b
                n += 1
            steps[row, column] = n

    height, width = steps.shape
    launch = mandelbrot[(-(-width // 32), -(-height // 8)), (32, 8)]
    return lambda: launch(real, imaginary, steps)


def on_triton(real, imaginary, steps, fast):
    import triton
    import triton.language as tl

    @triton.jit
    def mandelbrot(real, imaginary, steps, width, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
        row, column = tl.program_id(1), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        a, b = tl.load(real + column, column < width), tl.load(imaginary + row)
        x, y = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
        n = tl.zeros((BLOCK,), tl.int32)
        step, going = 0, 1
        while (step < LIMIT) & (going > 0):  # a block goes on until all of it is done
            inside = x * x + y * y <= 4.0
            n += inside.to(tl.int32)
            t = tl.where(inside, x * x - y * y + a, x)
            y = tl.where(inside, 2.0 * x * y + b, y)
            x = t
            going = tl.max(inside.to(tl.int32), axis=0)
            step += 1
        tl.store(steps + row * width + column, n, column < width)

    height, width = steps.shape
    block = 128
    grid = (triton.cdiv(width, block), height)
    return lambda: mandelbrot[grid](real, imaginary, steps, width, LIMIT, block)
