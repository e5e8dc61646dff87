# bench/kernels/histogram.py: how often each of 256 values occurs; groups count in local memory, and add to the result once.
import numpy as np
from workloads.kernels import Problem

BINS, GROUP, GROUPS = 256, 256, 64  # each item of a group clears one bin, and adds one to the result


def problem(rng, n):
    values = rng.integers(0, BINS, n, dtype="uint8")
    return Problem((values, np.zeros(BINS, "int32")), {1: np.bincount(values, minlength=BINS)})


def on_pardo(values, bins):
    import pardo as pp

    @pp.kernel
    def histogram(item: pp.NdItem, values, bins):
        own = pp.local_array(BINS, np.int32)
        k = item.get_local_id(0)
        own[k] = 0
        pp.group_barrier(item.get_group())
        for i in range(item.get_global_id(0), values.shape[0], item.get_global_range(0)):
            pp.atomic.add(own, values[i], 1)
        pp.group_barrier(item.get_group())
        pp.atomic.add(bins, k, own[k])

    def run():
        bins[...] = 0
        return histogram[pp.NdRange(GROUPS * GROUP, GROUP)](values, bins)

    return run


def on_numba(values, bins):
    import numba as nb

    @nb.njit(parallel=True)
    def histogram(values, bins):
        parts = nb.get_num_threads()
        own = np.zeros((parts, BINS), np.int32)
        for part in nb.prange(parts):
            for i in range(part * values.size // parts, (part + 1) * values.size // parts):
                own[part, values[i]] += 1
        for k in range(BINS):
            bins[k] = own[:, k].sum()

    return lambda: histogram(values, bins)


OPENCL = """
kernel void histogram(global const uchar* values, global int* bins, int n) {
    local int own[BINS];
    size_t k = get_local_id(0);
    own[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[values[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[k], own[k]);
}
"""


def on_pyopencl(values, bins):
    from peers.pyopencl import launcher

    count = launcher(OPENCL, "histogram", (GROUPS * GROUP,), (GROUP,), values, bins, np.int32(values.size), BINS=BINS)

    def run():
        bins.fill(0)
        return count()

    return run
