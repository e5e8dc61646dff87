# bench/kernels/n_body.py: accelerations by gravity between all pairs of bodies, 20 operations a pair; tiled: by local memory.
import math

import numpy as np
from workloads.kernels import Problem

SOFTENING = 1e-3
TILE = 256


def problem(rng, n):
    x, y, z = (rng.normal(size=n).astype("float32") for _ in range(3))
    mass = rng.random(n, dtype="float32")
    rows = slice(None, None, n // 256)
    wanted = accelerations(*(each.astype("float64") for each in (x, y, z, mass)), rows)
    size = max(float(np.abs(each).max()) for each in wanted)
    zeros = (np.zeros(n, "float32") for _ in range(3))
    return Problem((x, y, z, mass, *zeros), dict(enumerate(wanted, start=4)), rows, rtol=1e-3, atol=1e-4 * size)


def accelerations(x, y, z, mass, rows):
    dx, dy, dz = (each[None, :] - each[rows, None] for each in (x, y, z))
    force = mass * (dx * dx + dy * dy + dz * dz + SOFTENING) ** -1.5
    return tuple((force * each).sum(axis=1) for each in (dx, dy, dz))


def on_pardo(x, y, z, mass, ax, ay, az, fast, tiled):
    import pardo as pp

    @pp.kernel(fastmath=fast)
    def forces(item: pp.Item, x, y, z, mass, ax, ay, az):
        i = item.get_id(0)
        sx, sy, sz = 0.0, 0.0, 0.0
        for j in range(x.shape[0]):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            inverse = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            force = mass[j] * inverse * inverse * inverse
            sx += force * dx
            sy += force * dy
            sz += force * dz
        ax[i], ay[i], az[i] = sx, sy, sz

    @pp.kernel(fastmath=fast)
    def forces_by_tiles(item: pp.NdItem, x, y, z, mass, ax, ay, az):
        i, k = item.get_global_id(0), item.get_local_id(0)
        group = item.get_group()
        tile = pp.local_array((TILE, 4), np.float32)
        px, py, pz = x[i], y[i], z[i]
        sx, sy, sz = 0.0, 0.0, 0.0
        for first in range(0, x.shape[0], TILE):
            tile[k, 0], tile[k, 1], tile[k, 2], tile[k, 3] = x[first + k], y[first + k], z[first + k], mass[first + k]
            pp.group_barrier(group)
            for j in range(TILE):
                dx, dy, dz = tile[j, 0] - px, tile[j, 1] - py, tile[j, 2] - pz
                inverse = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
                force = tile[j, 3] * inverse * inverse * inverse
                sx += force * dx
                sy += force * dy
                sz += force * dz
            pp.group_barrier(group)
        ax[i], ay[i], az[i] = sx, sy, sz

    launch = forces_by_tiles[pp.NdRange(x.size, TILE)] if tiled else forces[pp.Range(x.size)]
    return lambda: launch(x, y, z, mass, ax, ay, az)


def on_numba(x, y, z, mass, ax, ay, az, fast, tiled):
    import numba as nb

    one, softening = np.float32(1), np.float32(SOFTENING)

    @nb.njit(parallel=True, fastmath=bool(fast))
    def forces(x, y, z, mass, ax, ay, az):
        for i in nb.prange(x.size):
            sx, sy, sz = np.float32(0), np.float32(0), np.float32(0)
            for j in range(x.size):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                inverse = one / np.sqrt(dx * dx + dy * dy + dz * dz + softening)
                force = mass[j] * inverse * inverse * inverse
                sx += force * dx
                sy += force * dy
                sz += force * dz
            ax[i], ay[i], az[i] = sx, sy, sz

    return lambda: forces(x, y, z, mass, ax, ay, az)


OPENCL = """
kernel void forces(
    global const float* x, global const float* y, global const float* z, global const float* mass,
    global float* ax, global float* ay, global float* az) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float px = x[i], py = y[i], pz = z[i], sx = 0, sy = 0, sz = 0;
    for (size_t j = 0; j < n; ++j) {
        float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
        float inverse = rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING), force = mass[j] * inverse * inverse * inverse;
        sx += force * dx;
        sy += force * dy;
        sz += force * dz;
    }
    ax[i] = sx; ay[i] = sy; az[i] = sz;
}
kernel void forces_by_tiles(
    global const float* x, global const float* y, global const float* z, global const float* mass,
    global float* ax, global float* ay, global float* az) {
    size_t i = get_global_id(0), k = get_local_id(0), n = get_global_size(0);
    local float4 tile[TILE];
    float px = x[i], py = y[i], pz = z[i], sx = 0, sy = 0, sz = 0;
    for (size_t first = 0; first < n; first += TILE) {
        tile[k] = (float4)(x[first + k], y[first + k], z[first + k], mass[first + k]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < TILE; ++j) {
            float4 b = tile[j];
            float dx = b.x - px, dy = b.y - py, dz = b.z - pz;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING), force = b.w * inverse * inverse * inverse;
            sx += force * dx;
            sy += force * dy;
            sz += force * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    ax[i] = sx; ay[i] = sy; az[i] = sz;
}
"""


def on_pyopencl(x, y, z, mass, ax, ay, az, fast, tiled):
    from peers.pyopencl import launcher

    name, group = ("forces_by_tiles", (TILE,)) if tiled else ("forces", None)
    options = ["-cl-fast-relaxed-math"] if fast else []
    defines = {"TILE": TILE, "SOFTENING": f"{SOFTENING}f"}
    return launcher(OPENCL, name, (x.size,), group, x, y, z, mass, ax, ay, az, options=options, **defines)


CUDA = """
extern "C" __global__ void forces(
    const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z, const float* __restrict__ mass,
    float* ax, float* ay, float* az, int n) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float px = x[i], py = y[i], pz = z[i], sx = 0, sy = 0, sz = 0;
    for (int first = threadIdx.x; first < n; first += TILE) {
        tile[threadIdx.x] = make_float4(x[first], y[first], z[first], mass[first]);
        __syncthreads();
        #pragma unroll 32
        for (int j = 0; j < TILE; ++j) {
            float4 b = tile[j];
            float dx = b.x - px, dy = b.y - py, dz = b.z - pz;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING), force = b.w * inverse * inverse * inverse;
            sx += force * dx;
            sy += force * dy;
            sz += force * dz;
        }
        __syncthreads();
    }
    ax[i] = sx; ay[i] = sy; az[i] = sz;
}
"""


def on_cupy(x, y, z, mass, ax, ay, az, fast, tiled):
    import cupy

    kernel = cupy.RawKernel(CUDA, "forces", (f"-DTILE={TILE}", f"-DSOFTENING={SOFTENING}f", "--use_fast_math"))
    n = x.size
    return lambda: kernel((n // TILE,), (TILE,), (x, y, z, mass, ax, ay, az, np.int32(n)))


def on_numba_cuda(x, y, z, mass, ax, ay, az, fast, tiled):
    from numba import cuda, float32

    @cuda.jit(fastmath=bool(fast))
    def forces(x, y, z, mass, ax, ay, az):
        tile = cuda.shared.array((TILE, 4), float32)
        i, k = cuda.grid(1), cuda.threadIdx.x
        px, py, pz = x[i], y[i], z[i]
        sx, sy, sz = float32(0), float32(0), float32(0)
        for first in range(0, x.shape[0], TILE):
            tile[k, 0], tile[k, 1], tile[k, 2], tile[k, 3] = x[first + k], y[first + k], z[first + k], mass[first + k]
            cuda.syncthreads()
            for j in range(TILE):
                dx, dy, dz = tile[j, 0] - px, tile[j, 1] - py, tile[j, 2] - pz
                inverse = float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + float32(SOFTENING))
                force = tile[j, 3] * inverse * inverse * inverse
                sx += force * dx
                sy += force * dy
                sz += force * dz
            cuda.syncthreads()
        ax[i], ay[i], az[i] = sx, sy, sz

    launch = forces[x.size // TILE, TILE]
    return lambda: launch(x, y, z, mass, ax, ay, az)


def on_triton(x, y, z, mass, ax, ay, az, fast, tiled):
    import triton
    import triton.language as tl

    @triton.jit
    def forces(x, y, z, mass, ax, ay, az, n, SOFTENING: tl.constexpr, BODIES: tl.constexpr, OTHERS: tl.constexpr):
        i = tl.program_id(0) * BODIES + tl.arange(0, BODIES)
        px, py, pz = tl.load(x + i)[:, None], tl.load(y + i)[:, None], tl.load(z + i)[:, None]
        sx = tl.zeros((BODIES, OTHERS), tl.float32)
        sy = tl.zeros((BODIES, OTHERS), tl.float32)
        sz = tl.zeros((BODIES, OTHERS), tl.float32)
        for first in range(0, n, OTHERS):
            j = first + tl.arange(0, OTHERS)
            dx = tl.load(x + j)[None, :] - px
            dy = tl.load(y + j)[None, :] - py
            dz = tl.load(z + j)[None, :] - pz
            inverse = tl.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            force = tl.load(mass + j)[None, :] * inverse * inverse * inverse
            sx += force * dx
            sy += force * dy
            sz += force * dz
        tl.store(ax + i, tl.sum(sx, axis=1))
        tl.store(ay + i, tl.sum(sy, axis=1))
        tl.store(az + i, tl.sum(sz, axis=1))

    n, bodies, others = x.numel(), 64, 32
    launch = forces[(n // bodies,)]
    return lambda: launch(x, y, z, mass, ax, ay, az, n, SOFTENING, bodies, others)
