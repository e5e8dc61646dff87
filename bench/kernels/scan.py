# bench/kernels/scan.py: running sums inside each group (Hillis and Steele), by two buffers in local memory.
import numpy as np
from workloads.kernels import Problem

GROUP = 256


def problem(rng, n):
    x = rng.random(n, dtype="float32")
    wanted = x.reshape(-1, GROUP).cumsum(axis=1, dtype="float64").astype("float32").ravel()
    return Problem((x, np.zeros(n, "float32")), {1: wanted}, rtol=1e-5)


def on_pardo(x, out):
    import pardo as pp

    @pp.kernel
    def scan(item: pp.NdItem, x, out):
        shared = pp.local_array((2, GROUP), np.float32)
        k, now, step = item.get_local_id(0), 0, 1
        shared[0, k] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        while step < GROUP:
            if k >= step:
                shared[1 - now, k] = shared[now, k] + shared[now, k - step]
            else:
                shared[1 - now, k] = shared[now, k]
            now = 1 - now
            step *= 2
            pp.group_barrier(item.get_group())
        out[item.get_global_id(0)] = shared[now, k]

    return lambda: scan[pp.NdRange(x.size, GROUP)](x, out)


OPENCL = """
kernel void scan(global const float* x, global float* out) {
    local float shared[2][GROUP];
    size_t k = get_local_id(0);
    int now = 0;
    shared[0][k] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < GROUP; step *= 2) {
        if (k >= step) shared[1 - now][k] = shared[now][k] + shared[now][k - step];
        else shared[1 - now][k] = shared[now][k];
        now = 1 - now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = shared[now][k];
}
"""


def on_pyopencl(x, out):
    from peers.pyopencl import launcher

    return launcher(OPENCL, "scan", (x.size,), (GROUP,), x, out, GROUP=GROUP)
