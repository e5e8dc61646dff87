# bench/workloads/devices.py: the array programs for any device: float32 beside float64, sizes by the device's kind, bytes that must move.
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from workloads import arrays

SWEEPS = 20
PERIOD, PERIOD_OF_ROWS = 262_147, 67  # primes, so that no stride of a kernel falls together with the repetition


@dataclass(frozen=True)
class Workload:
    """`size` stands for a whole GPU; CPUs get a share of it."""

    title: str
    program: str  # its name in ALL
    dtype: str
    size: int | tuple[int, ...]
    shrink: int  # CPUs: the first extent divided by this; square problems: both
    count: int  # arrays that go in; for programs that write into an array, this one is the last
    traffic: Callable[..., float]  # least bytes that move, from the extents; operations where `unit` is TFLOP/s
    asked: float | None  # on an H200: share of the nominal bandwidth; with unit "ms" or "TFLOP/s" the time in ms, at most
    low: float = 0.0
    high: float = 1.0
    rtol: float = 2e-5
    atol: float = 2e-5
    unit: str = "GB/s"

    def shape(self, whole: bool) -> tuple[int, ...]:
        extents = (self.size,) if isinstance(self.size, int) else self.size
        if whole:
            return extents
        square = len(extents) == 2 and extents[0] == extents[1]
        return tuple(n // self.shrink if i == 0 or square else n for i, n in enumerate(extents))

    def title_for(self, whole: bool) -> str:
        return f"{self.title} {self.dtype}, {' × '.join(f'{n:_}' for n in self.shape(whole))}"

    def blocks(self, rng: np.random.Generator, whole: bool) -> tuple[np.ndarray, ...]:
        """What the inputs repeat along their first axis: see tiled.py."""
        rows, *rest = self.shape(whole)
        low, high = (10.0, 100.0) if self.program == "black_scholes" else (self.low, self.high)
        made = []
        for i in range(self.count):
            first, last = (0.1, 3.0) if self.program == "black_scholes" and i == 2 else (low, high)
            values = rng.random((min(rows, PERIOD_OF_ROWS if rest else PERIOD), *rest), dtype=self.dtype)
            made.append((values * (last - first) + first).astype(self.dtype))
        return tuple(made)

    def moved(self, whole: bool) -> float:
        return self.traffic(*self.shape(whole)) * (1 if self.unit == "TFLOP/s" else np.dtype(self.dtype).itemsize)


def jacobi_20(xp, u):
    u, v = u.copy(), u.copy()
    for _ in range(SWEEPS):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


def pairwise_self(xp, x):
    return xp.sqrt(((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=-1))


def total(xp, a):
    return a.sum()


def add_into(xp, a, b, out):
    return xp.add(a, b, out=out)


def ten(xp, x, y):
    """Ten operations that leave numbers of ordinary size."""
    t = x * y
    t = t + x
    t = t - y
    t = t * t
    t = t + 1.0
    t = t * 0.5
    t = xp.sqrt(t)
    t = t - x
    t = t * y
    return t + 2.0


# One table for both sets, so that a library says each program once.
ALL = {**arrays.ALL, "add_into": add_into, "jacobi_20": jacobi_20, "pairwise_self": pairwise_self, "sum": total, "ten": ten}

M = 1 << 20
WORKLOADS = {
    "add_f32": Workload("a + b", "add", "float32", 256 * M, 16, 2, lambda n: 3 * n, 0.90),
    "add_f64": Workload("a + b", "add", "float64", 128 * M, 16, 2, lambda n: 3 * n, 0.90),
    # 10⁷ everywhere: on OpenCL devices it has to be as fast as a kernel written by hand.
    "add_into_f64": Workload("a + b, existing array", "add_into", "float64", 10_000_000, 1, 3, lambda n: 3 * n, None, unit="ms"),
    "sum_f32": Workload("a.sum()", "sum", "float32", 256 * M, 16, 1, lambda n: n, 0.92),
    "saxpy_sum_f64": Workload("(a * b + a).sum()", "saxpy_sum", "float64", 128 * M, 16, 2, lambda n: 2 * n, 0.84, rtol=1e-9),
    "black_scholes_f32": Workload("Black-Scholes", "black_scholes", "float32", 64 * M, 16, 3, lambda n: 5 * n, 0.83, rtol=1e-3, atol=2e-3),
    "black_scholes_f64": Workload("Black-Scholes", "black_scholes", "float64", 64 * M, 16, 3, lambda n: 5 * n, 0.52, rtol=1e-8, atol=1e-8),
    "ten_f32": Workload("ten operations", "ten", "float32", 64 * M, 4, 2, lambda n: 3 * n, 0.90),
    "softmax_f32": Workload("softmax of rows", "softmax", "float32", (16384, 4096), 4, 1, lambda n, m: 2 * n * m, 0.84, low=-5, high=5),
    "pairwise_f32": Workload("pairwise distance", "pairwise_self", "float32", (20000, 3), 5, 1, lambda n, _: n * n, 0.75, atol=1e-3),
    "jacobi_f32": Workload("Jacobi, 20 sweeps", "jacobi_20", "float32", (8192, 8192), 4, 1, lambda n, m: 2 * n * m * SWEEPS, 0.69),
    "cumsum_f32": Workload("cumsum", "cumsum", "float32", 128 * M, 8, 1, lambda n: 2 * n, 0.53, rtol=1e-4),
    "compress_f32": Workload("a[a > 0.5]", "compress", "float32", 128 * M, 8, 1, lambda n: 1.5 * n, 1.0, unit="ms"),
    "argmax_f32": Workload("argmax", "argmax", "float32", 128 * M, 8, 1, lambda n: n, 0.86),
    # cuBLAS needs 21.5 and 17.1 ms; 1 % is allowed.
    "matmul_f32": Workload(
        "matmul", "matmul", "float32", (8192, 8192), 8, 2, lambda n, _: 2 * n**3, 21.5 * 1.01, rtol=1e-3, unit="TFLOP/s"
    ),
    "matmul_f64": Workload(
        "matmul", "matmul", "float64", (8192, 8192), 8, 2, lambda n, _: 2 * n**3, 17.1 * 1.01, rtol=1e-9, unit="TFLOP/s"
    ),
}

# Bytes a second as the maker states them, by a part of the device's name.
NOMINAL = {"H200": 4.8e12, "H100 PCIe": 2.0e12, "H100": 3.35e12, "A100-SXM4-80GB": 2.04e12}


def nominal(name: str) -> float | None:
    return next((rate for part, rate in NOMINAL.items() if part in name), None)
