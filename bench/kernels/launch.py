# bench/kernels/launch.py: what the host pays for a launch with three arrays and two numbers.
"""`waits`: each launch is waited for. `anew`: the range or grid is made at each launch, as one writes it in a program; otherwise the launch
holds it, where the library has such a thing."""

import numpy as np
from workloads.kernels import Problem


def problem(rng, n):
    x, y = rng.random(n), rng.random(n)
    return Problem((x, y, np.zeros(n)), {2: 2.0 * x + 3.0 * y})


def on_pardo(x, y, out, waits=False, anew=False):
    import pardo as pp

    @pp.kernel
    def combine(item: pp.Item, a, x, b, y, out):
        i = item.get_id(0)
        out[i] = a * x[i] + b * y[i]

    n = out.size
    if anew:
        return (lambda: combine[pp.Range(n)](2.0, x, 3.0, y, out).wait()) if waits else lambda: combine[pp.Range(n)](2.0, x, 3.0, y, out)
    launch = combine[pp.Range(n)]
    return (lambda: launch(2.0, x, 3.0, y, out).wait()) if waits else lambda: launch(2.0, x, 3.0, y, out)


def on_numba(x, y, out, waits=False, anew=False):
    import numba as nb

    @nb.njit(parallel=True)
    def combine(a, x, b, y, out):
        for i in nb.prange(out.size):
            out[i] = a * x[i] + b * y[i]

    return None if anew else lambda: combine(2.0, x, 3.0, y, out)


def on_numba_dpex(x, y, out, waits=False, anew=False):
    import numba_dpex as dpex
    from numba_dpex import kernel_api as api

    @dpex.kernel
    def combine(item: api.Item, a, x, b, y, out):
        i = item.get_id(0)
        out[i] = a * x[i] + b * y[i]

    n, items = out.size, dpex.Range(out.size)
    if anew:
        return lambda: dpex.call_kernel(combine, dpex.Range(n), 2.0, x, 3.0, y, out)
    return lambda: dpex.call_kernel(combine, items, 2.0, x, 3.0, y, out)


def on_warp(x, y, out, waits=False, anew=False):
    import warp as wp

    Values = wp.array(dtype=wp.float64)

    @wp.kernel
    def combine(a: wp.float64, x: Values, b: wp.float64, y: Values, out: Values):
        i = wp.tid()
        out[i] = a * x[i] + b * y[i]

    return None if anew else lambda: wp.launch(combine, dim=16, inputs=[2.0, x, 3.0, y, out], device="cpu")


OPENCL = """
kernel void combine(double a, global const double* x, double b, global const double* y, global double* out) {
    size_t i = get_global_id(0);
    out[i] = a * x[i] + b * y[i];
}
"""


def on_pyopencl(x, y, out, waits=False, anew=False):
    """The bare enqueue of a kernel that is built and has its arguments."""
    from peers.pyopencl import QUEUE, launcher

    if anew:
        return None
    enqueue = launcher(OPENCL, "combine", (out.size,), None, np.float64(2.0), x, np.float64(3.0), y, out)

    def enqueue_and_wait():
        enqueue()
        QUEUE.finish()

    return enqueue_and_wait if waits else enqueue


CUDA = """
extern "C" __global__ void combine(double a, const double* x, double b, const double* y, double* out) {
    int i = threadIdx.x;
    out[i] = a * x[i] + b * y[i];
}
"""


def on_cupy(x, y, out, waits=False, anew=False):
    import cupy

    kernel, n = cupy.RawKernel(CUDA, "combine"), out.size
    return None if anew else lambda: kernel((1,), (n,), (2.0, x, 3.0, y, out))


def on_numba_cuda(x, y, out, waits=False, anew=False):
    from numba import cuda

    @cuda.jit
    def combine(a, x, b, y, out):
        i = cuda.threadIdx.x
        out[i] = a * x[i] + b * y[i]

    n, launch = out.size, combine[1, out.size]
    return (lambda: combine[1, n](2.0, x, 3.0, y, out)) if anew else lambda: launch(2.0, x, 3.0, y, out)


def on_triton(x, y, out, waits=False, anew=False):
    import triton
    import triton.language as tl

    @triton.jit
    def combine(a, x, b, y, out, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out + i, a * tl.load(x + i) + b * tl.load(y + i))

    n, launch = out.numel(), combine[(1,)]
    return (lambda: combine[(1,)](2.0, x, 3.0, y, out, n)) if anew else lambda: launch(2.0, x, 3.0, y, out, n)
