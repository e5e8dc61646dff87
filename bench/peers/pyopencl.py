# bench/peers/pyopencl.py: kernels written by hand for each program, into arrays that are there; BENCH_OPENCL chooses the device by name.
from __future__ import annotations

import asyncio
import os

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
from workloads import device_host, devices

PACKAGES = ["pyopencl"]


def choose() -> cl.Device:
    """The device whose platform and name pardo told; the first one if it told nothing."""
    wanted = os.environ.get("BENCH_OPENCL", "")
    every = [d for p in cl.get_platforms() for d in p.get_devices()]
    found = [d for d in every if f"{d.platform.name.strip()}|{d.name.strip()}" == wanted] if wanted else every
    if not found:
        raise RuntimeError(f"pyopencl: no device '{wanted}'; it sees {', '.join(d.name.strip() for d in every) or 'none'}")
    return found[0]


CONTEXT = cl.Context([choose()])
QUEUE = cl.CommandQueue(CONTEXT)

# One item an element; T is the dtype.
TEXT = """
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
kernel void add(global const T* a, global const T* b, global T* out) {
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
kernel void ten(global const T* x, global const T* y, global T* out) {
    size_t i = get_global_id(0);
    T a = x[i], b = y[i], t = a * b;
    t = t + a; t = t - b; t = t * t; t = t + (T)1; t = t * (T)0.5; t = sqrt(t); t = t - a; t = t * b;
    out[i] = t + (T)2;
}
kernel void black_scholes(global const T* price, global const T* strike, global const T* years, global T* call, global T* put) {
    size_t i = get_global_id(0);
    T p = price[i], k = strike[i], y = years[i], width = (T)0.3 * sqrt(y);
    T d1 = (log(p / k) + (T)0.065 * y) / width, d2 = d1 - width, discounted = k * exp((T)-0.02 * y);
    T c = p * ((T)0.5 + (T)0.5 * erf(d1 * (T)0.7071067811865476)) - discounted * ((T)0.5 + (T)0.5 * erf(d2 * (T)0.7071067811865476));
    call[i] = c;
    put[i] = c - p + discounted;
}
kernel void pairwise(global const T* x, global T* out) {
    size_t i = get_global_id(1), j = get_global_id(0), n = get_global_size(0);
    T a = x[3 * i] - x[3 * j], b = x[3 * i + 1] - x[3 * j + 1], c = x[3 * i + 2] - x[3 * j + 2];
    out[i * n + j] = sqrt(a * a + b * b + c * c);
}
kernel void jacobi(global const T* u, global T* v) {
    size_t j = get_global_id(0), i = get_global_id(1), n = get_global_size(0), m = get_global_size(1);
    if (i > 0 && i < m - 1 && j > 0 && j < n - 1)
        v[i * n + j] = (T)0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]);
}
"""
KERNELS = {
    "add": "add",
    "add_into": "add",
    "ten": "ten",
    "black_scholes": "black_scholes",
    "pairwise_self": "pairwise",
    "jacobi_20": "jacobi",
}
OUTPUTS = {"black_scholes": 2}


def array(value):
    return cla.to_device(QUEUE, value)


def launcher(text, name, items, group, *arguments, options=(), **defines):
    """A function that enqueues a kernel of a text; it is built here, and has its arguments."""
    program = cl.Program(CONTEXT, text).build(options=[*options, *(f"-D{key}={value}" for key, value in defines.items())])
    kernel = cl.Kernel(program, name)
    kernel.set_args(*(a.data if isinstance(a, cla.Array) else a for a in arguments))

    def enqueue(kept=arguments):  # a kernel does not keep its arguments alive
        return cl.enqueue_nd_range_kernel(QUEUE, kernel, items, group)

    return enqueue


def elementwise(kernel, values, out):
    count = len(out)
    buffers = [v.data for v in (*values, *out)]

    def run():
        kernel(QUEUE, (values[0].size,), None, *buffers)
        return out if count > 1 else out[0]

    return run


def pairwise(kernel, x):
    n = x.shape[0]
    out = cla.empty(QUEUE, (n, n), x.dtype)

    def run():
        kernel(QUEUE, (n, n), None, x.data, out.data)
        return out

    return run


def jacobi(kernel, start):
    m, n = start.shape

    def run():
        u, v = start.copy(), start.copy()
        for _ in range(devices.SWEEPS):
            kernel(QUEUE, (n, m), None, u.data, v.data)
            u, v = v, u
        return u

    return run


def prepare(name, inputs):
    values = [cla.to_device(QUEUE, value) for value in inputs]
    if name in ("sum", "saxpy_sum"):
        if name == "sum":
            return lambda: cla.sum(values[0])
        from pyopencl.reduction import ReductionKernel

        t = cl.tools.dtype_to_ctype(values[0].dtype)
        reduce = ReductionKernel(
            CONTEXT, values[0].dtype, "0", "a+b", "x[i] * y[i] + x[i]", f"__global const {t}* x, __global const {t}* y"
        )
        return lambda: reduce(*values)
    if name == "cumsum":
        from pyopencl.scan import GenericScanKernel

        t = cl.tools.dtype_to_ctype(values[0].dtype)
        out = cla.empty_like(values[0])
        scan = GenericScanKernel(
            CONTEXT, values[0].dtype, f"__global const {t}* x, __global {t}* y", "x[i]", "a+b", "0", output_statement="y[i] = item;"
        )

        def run():
            scan(values[0], out)
            return out

        return run
    if name not in KERNELS:
        return None
    ctype = cl.tools.dtype_to_ctype(np.dtype(values[0].dtype))
    program = cl.Program(CONTEXT, TEXT).build(options=[f"-DT={ctype}"])
    kernel = cl.Kernel(program, KERNELS[name])
    if name == "pairwise_self":
        return pairwise(kernel, *values)
    if name == "jacobi_20":
        return jacobi(kernel, *values)
    if name == "add_into":
        return elementwise(kernel, values[:2], values[2:])
    return elementwise(kernel, values, tuple(cla.empty_like(values[0]) for _ in range(OUTPUTS.get(name, 1))))


def wait(result):
    QUEUE.finish()
    return result


def to_numpy(result):
    return result.get()


def cost(name, whole):
    """As that of peers/pardo.py; what is handed over is the bare enqueue of a kernel that is built and has its arguments."""
    if name in ("launch", "launch_wait", "await"):
        enqueue = small_kernel()
        if name == "launch":
            return enqueue, wait
        return (lambda: wait(enqueue()), None) if name == "launch_wait" else awaited(enqueue)
    if name == "allocate":
        pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(QUEUE))
        return lambda: pool.allocate(1 << 20).release(), None
    values = np.ones(device_host.copied_bytes(whole) // 4, dtype="float32")
    if name == "to_device":
        return lambda: wait(cla.to_device(QUEUE, values)), None
    x = cla.to_device(QUEUE, values)
    return lambda: x.get(), None


def small_kernel():
    buffers = [array(np.ones(16, dtype="float32")) for _ in range(3)]
    return launcher(TEXT, "add", (16,), None, *buffers, T="float")


def awaited(enqueue):
    """An event's callback sets a future of asyncio."""
    loop = asyncio.new_event_loop()

    async def once():
        done = loop.create_future()
        event = enqueue()
        event.set_callback(cl.command_execution_status.COMPLETE, lambda _: loop.call_soon_threadsafe(done.set_result, None))
        QUEUE.flush()
        await done

    return lambda: loop.run_until_complete(once()), None
