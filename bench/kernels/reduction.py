# bench/kernels/reduction.py: each group adds its part of an array up by a tree in local memory, with a barrier a level.
import numpy as np
from workloads.kernels import Problem

GROUP = 256


def problem(rng, n):
    x = rng.random(n, dtype="float32")
    return Problem((x, np.zeros(n // GROUP, "float32")), {1: x.reshape(-1, GROUP).sum(axis=1, dtype="float64")}, rtol=1e-5)


def on_pardo(x, sums):
    import pardo as pp

    @pp.kernel
    def group_sums(item: pp.NdItem, x, sums):
        shared = pp.local_array(GROUP, np.float32)
        k = item.get_local_id(0)
        shared[k] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        width = GROUP // 2
        while width > 0:
            if k < width:
                shared[k] += shared[k + width]
            pp.group_barrier(item.get_group())
            width //= 2
        if k == 0:
            sums[item.get_group_id(0)] = shared[0]

    return lambda: group_sums[pp.NdRange(x.size, GROUP)](x, sums)


OPENCL = """
kernel void group_sums(global const float* x, global float* sums) {
    local float shared[GROUP];
    size_t k = get_local_id(0);
    shared[k] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = GROUP / 2; width > 0; width /= 2) {
        if (k < width) shared[k] += shared[k + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (k == 0) sums[get_group_id(0)] = shared[0];
}
"""


def on_pyopencl(x, sums):
    from peers.pyopencl import launcher

    return launcher(OPENCL, "group_sums", (x.size,), (GROUP,), x, sums, GROUP=GROUP)
