# bench/workloads/device_host.py: what the host pays for a device's work, and the first result of a process.
import statistics
import tempfile
from dataclasses import dataclass

from workloads import host


@dataclass(frozen=True)
class Cost:
    title: str
    unit: str
    asked: float | None = None  # at most, or at least where the unit is GB/s
    asked_of: str = "H200"  # a part of the name of the device, or a back end


# Rows that a worker times; each library says how, in its function `cost`.
COSTS = {
    "launch": Cost("a + b on 16 elements, handed over", "µs", 3.5),
    "launch_wait": Cost("the same and waited for", "µs", 9),
    "allocate": Cost("allocate and free 1 MiB", "µs", 0.3),
    "to_device": Cost("copy a NumPy array to the device", "GB/s", 30),
    "from_device": Cost("copy an array back to NumPy", "GB/s", 35),
    "await": Cost("from submission to what awaits its event", "µs", 30),
}
# A row made of another: "launch" without what pyopencl's bare enqueue of a built kernel with its arguments costs.
OVER_ENQUEUE = Cost("the same, over the bare enqueue", "µs", 3, "opencl")
# Rows that are a process each. The first ones are seconds of the first a + b, beyond import, context and the copy of the operands; the
# next two all that is beyond import, without the bare context that the last one shows.
FIRST_COSTS = {
    "first_cold": Cost("first a + b of a process, empty caches", "ms"),
    "first_cached": Cost("first a + b of a process, kept caches", "ms"),
    "beyond_cold": Cost("import to first a + b less bare context, empty", "ms", 30),
    "beyond_cached": Cost("import to first a + b less bare context, kept", "ms", 3),
    "context": Cost("bare context of the driver, by ctypes", "ms"),
}


def copied_bytes(whole: bool) -> int:
    return 1 << 30 if whole else 1 << 28


FIRST = """
import time, numpy as np
{prepare}
v = np.arange(1000.0)
begin = time.perf_counter()
a = {copy}
{wait}
start = time.perf_counter()
b = a + a
{finish}
end = time.perf_counter()
print([end - start, end - begin])
"""
PROGRAMS = {
    "pardo": {"prepare": "import pardo as pp", "copy": "pp.asarray(v)", "wait": "a.wait()", "finish": "b.wait()"},
    "cupy": {
        "prepare": "import cupy",
        "copy": "cupy.asarray(v)",
        "wait": "cupy.cuda.get_current_stream().synchronize()",
        "finish": "cupy.cuda.get_current_stream().synchronize()",
    },
    "torch": {
        "prepare": "import os, torch\nd = 'cuda' if os.environ['BENCH_KIND'] == 'cuda' else 'cpu'",
        "copy": "torch.from_numpy(v).to(d)",
        "wait": "torch.cuda.synchronize() if d == 'cuda' else None",
        "finish": "torch.cuda.synchronize() if d == 'cuda' else None",
    },
    "jax": {
        "prepare": "import os, jax\njax.config.update('jax_enable_x64', True)\n"
        "jax.config.update('jax_platforms', 'cuda' if os.environ['BENCH_KIND'] == 'cuda' else 'cpu')",
        "copy": "jax.numpy.asarray(v)",
        "wait": "a.block_until_ready()",
        "finish": "b.block_until_ready()",
    },
    "pyopencl_array": {
        "prepare": "import sys\nsys.path.insert(0, {folder!r})\nfrom peers.pyopencl import QUEUE, cla",
        "copy": "cla.to_device(QUEUE, v)",
        "wait": "QUEUE.finish()",
        "finish": "QUEUE.finish()",
    },
    "dpnp": {"prepare": "import dpnp", "copy": "dpnp.asarray(v)", "wait": "a.sycl_queue.wait()", "finish": "b.sycl_queue.wait()"},
}

CONTEXT = """
import ctypes, time
cuda = ctypes.CDLL("libcuda.so.1")
device, context = ctypes.c_int(), ctypes.c_void_p()
start = time.perf_counter()
failed = cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), {ordinal})
failed = failed or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
end = time.perf_counter()
if failed: raise SystemExit(f"the driver says {{failed}}")
print(end - start)
"""
REPEATS = 7  # of processes; less for the others, whose imports take seconds


def bare_context(backend: str, ordinal: int) -> float:
    """Seconds; 0 where a context is nothing that is made."""
    if backend != "cuda":
        return 0.0
    with tempfile.TemporaryDirectory() as empty:
        return host.run(CONTEXT.format(ordinal=ordinal), empty)


def first_result(peer: str, folder: str, device: tuple[str, int], python: str, variables: dict[str, str]) -> dict[str, float]:
    """Rows of FIRST_COSTS: processes in turn with nothing but a context, which takes 10 ms more or less from one minute to the next, with
    empty caches, and with the caches that they leave."""
    program = FIRST.format(**{key: part.format(folder=folder) for key, part in PROGRAMS[peer].items()})
    times = {name: [] for name in ("first_cold", "beyond_cold", "first_cached", "beyond_cached", "context")}
    for _ in range(REPEATS if peer == "pardo" else 2):
        with tempfile.TemporaryDirectory() as cache:
            for name in ("cold", "cached"):
                context = bare_context(*device)
                first, everything = host.run(program, cache, python, variables)
                times[f"first_{name}"].append(first)
                times[f"beyond_{name}"].append(everything - context)
                times["context"].append(context)
    return {name: statistics.median(kept) for name, kept in times.items()}
