# bench/kernels/add.py: out[i] = a[i] + b[i] into an array that is there.
import numpy as np
from workloads.kernels import Problem


def problem(rng, n):
    a, b = rng.random(n), rng.random(n)
    return Problem((a, b, np.zeros(n)), {2: a + b})


def on_pardo(a, b, out):
    import pardo as pp

    @pp.kernel
    def add(item: pp.Item, a, b, out):
        i = item.get_id(0)
        out[i] = a[i] + b[i]

    return lambda: add[pp.Range(out.size)](a, b, out)


def on_numba(a, b, out):
    import numba as nb

    @nb.njit(parallel=True)
    def add(a, b, out):
        for i in nb.prange(out.size):
            out[i] = a[i] + b[i]

    return lambda: add(a, b, out)


def on_numba_dpex(a, b, out):
    import numba_dpex as dpex
    from numba_dpex import kernel_api as api

    @dpex.kernel
    def add(item: api.Item, a, b, out):
        i = item.get_id(0)
        out[i] = a[i] + b[i]

    return lambda: dpex.call_kernel(add, dpex.Range(out.size), a, b, out)


def on_warp(a, b, out):
    import warp as wp

    @wp.kernel
    def add(a: wp.array(dtype=wp.float64), b: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
        i = wp.tid()
        out[i] = a[i] + b[i]

    return lambda: wp.launch(add, dim=out.size, inputs=[a, b, out], device="cpu")


OPENCL = """
kernel void add(global const double* a, global const double* b, global double* out) {
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
"""


def on_pyopencl(a, b, out):
    from peers.pyopencl import launcher

    return launcher(OPENCL, "add", (out.size,), None, a, b, out)
