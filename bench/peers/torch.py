# bench/peers/torch.py: torch.compile where it fuses, plain torch for what is one operation; no TF32. BENCH_KIND chooses the device.
from __future__ import annotations

import functools
import os

import numpy as np
import torch
from workloads import device_host, devices

PACKAGES = ["torch", "triton"]
torch.backends.cuda.matmul.allow_tf32 = False
DEVICE = torch.device("cuda" if os.environ.get("BENCH_KIND") == "cuda" else "cpu")
PLAIN = ("add", "add_into", "sum", "cumsum", "compress", "argmax", "matmul", "small_add", "small_chain")


class Names:
    """NumPy's spelling of what torch calls otherwise."""

    add, sqrt, log, exp, argmax = torch.add, torch.sqrt, torch.log, torch.exp, torch.argmax

    @staticmethod
    def cumsum(x):
        return torch.cumsum(x, 0)


def softmax(xp, x):
    e = torch.exp(x - x.amax(dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)


def pairwise(xp, x):
    return torch.sqrt(((x[:, None, :] - x[None, :, :]) ** 2).sum(dim=-1))


def sweep(u, v):
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def jacobi(xp, u):
    u, v = u.clone(), u.clone()
    step = compiled_sweep()
    for _ in range(devices.SWEEPS):
        step(u, v)
        u, v = v, u
    return u


@functools.cache
def compiled_sweep():
    return torch.compile(sweep)


def prepare(name, inputs):
    function = {"softmax": softmax, "pairwise_self": pairwise, "jacobi_20": jacobi}.get(name, devices.ALL[name])
    if name == "black_scholes":
        function = functools.partial(function, erf=torch.erf)
    values = tuple(torch.from_numpy(value).to(DEVICE) for value in inputs)
    bound = functools.partial(function, Names)
    if name not in PLAIN and name != "jacobi_20":
        bound = torch.compile(bound)
    return lambda: bound(*values)


def wait(result):
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return result


def to_numpy(result):
    return result if isinstance(result, float) else result.cpu().numpy()


def trim():
    if DEVICE.type == "cuda":
        torch.cuda.empty_cache()


def cost(name, whole):
    """As that of peers/pardo.py."""
    a, b = torch.ones(16, device=DEVICE), torch.ones(16, device=DEVICE)
    if name == "launch":
        return lambda: a + b, wait
    if name == "launch_wait":
        return lambda: wait(a + b), None
    if name == "allocate":
        return lambda: torch.empty(1 << 20, dtype=torch.uint8, device=DEVICE) is None, None
    if name == "await" or DEVICE.type == "cpu":
        return None
    values = torch.from_numpy(np.ones(device_host.copied_bytes(whole) // 4, dtype="float32"))
    if name == "to_device":
        return lambda: wait(values.to(DEVICE)), None
    x = values.to(DEVICE)
    return lambda: x.cpu(), None
