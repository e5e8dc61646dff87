# tests/gpu/copies.py: how fast arrays come to a device and back to the host, in GB/s; not a test.
"""Usage: python tests/gpu/copies.py [DEVICE] [--all], default cuda:0.

Copies 64 MiB and 1 GiB both ways, from and to memory that is there already, and to a new NumPy array. With --all it runs once for each
of several settings of PARDO_CUDA_TRANSFER; otherwise with that of the environment.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pardo as pp

SETTINGS = [
    "",
    *(f"threads={threads},piece={piece}" for threads in (8, 12, 16) for piece in (1024, 2048, 4096)),
    *(f"threads={threads},piece=2048,populate=0" for threads in (8, 12, 16)),
    "register",
]
ROUNDS = 7


def rate(size: int, body: Callable[[], object]) -> str:
    """The first call's and the median of the later calls' GB/s."""
    rates = []
    for _ in range(ROUNDS + 1):
        begin = time.perf_counter()
        result = body()
        rates.append(size / (time.perf_counter() - begin) / 1e9)
        del result  # outside the time: giving memory back is not copying
    return f"{statistics.median(rates[1:]):6.1f} (first {rates[0]:5.1f})"


def measure(device: str) -> None:
    for size in (64 << 20, 1 << 30):
        host = np.ones(size // 4, np.float32)
        x = pp.asarray(host, device=device).wait()
        y = pp.empty_like(x)
        target = np.zeros(size // 4, np.float32)

        def write(y: pp.Array = y, host: np.ndarray = host) -> None:
            y[...] = host
            y.queue.wait()

        cases = [
            ("to a new array", lambda host=host: pp.asarray(host, device=device).wait()),
            ("to an array", write),
            ("to new memory", lambda x=x: pp.asnumpy(x)),
            ("to memory in use", lambda x=x, target=target: x._copy_to(target)),
            ("fresh pages only", lambda size=size: np.empty(size // 4, np.float32).fill(0)),
        ]
        for name, body in cases:
            print(f"  {size >> 20:5d} MiB  {name:18s} {rate(size, body)}", flush=True)


def main() -> None:
    words = [w for w in sys.argv[1:] if w != "--all"]
    device = words[0] if words else "cuda:0"
    if "--all" not in sys.argv:
        print(f"{device}, PARDO_CUDA_TRANSFER={os.environ.get('PARDO_CUDA_TRANSFER', '')}")
        measure(device)
        return
    for setting in SETTINGS:
        subprocess.run([sys.executable, __file__, device], env={**os.environ, "PARDO_CUDA_TRANSFER": setting}, check=True)


if __name__ == "__main__":
    main()
