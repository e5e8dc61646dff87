# bench/workloads/kernels.py: the table of kernels: how large each is, and what is asked for; kernels/*.py say them for every library.
"""A file of kernels/ has `problem`, which makes the arrays and says what shall stand in them, and `on_<library>` for each library that has
a natural form of it. That takes the library's own arrays and gives a function that does the work once and does not wait; or None."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    arrays: tuple[np.ndarray, ...]  # as the forms take them, in this order
    written: dict[int, np.ndarray]  # number of an array -> what NumPy says shall stand in it after the first run
    rows: slice = field(default_factory=lambda: slice(None))  # of the written arrays: those that NumPy has computed
    rtol: float = 1e-9
    atol: float = 1e-9
    differ: float = 0.0  # the share of elements that may be something else

    def agrees(self, number: int, result: np.ndarray, done: float) -> bool:
        """Whether a written array is right; `done`: the share of the work that was done, from the first row on."""
        wanted = self.written[number]
        result = result.reshape(self.arrays[number].shape)[self.rows]
        if result.shape != wanted.shape:
            return False
        length = round(len(wanted) * done)
        wrong = sum(int((~self._close(result[part], wanted[part])).sum()) for part in blocks(length))
        return wrong <= self.differ * wanted.size

    def _close(self, mine: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        if wanted.dtype.kind in "iu":
            return np.asarray(mine == wanted)
        return np.asarray(np.abs(mine - wanted) <= self.atol + self.rtol * np.abs(wanted))


def blocks(length: int, size: int = 1 << 20) -> Iterator[slice]:
    for first in range(0, length, size):
        yield slice(first, min(first + size, length))


@dataclass(frozen=True)
class Row:
    title: str
    module: str
    size: dict[str, Any]  # what `problem` takes
    options: dict[str, Any] = field(default_factory=dict)  # what the forms take beside the arrays
    unit: str = "ms"
    times: float | None = None  # pardo is at least so many times as fast as the fastest of these
    than: tuple[str, ...] = ()
    limit: float | None = None  # in the unit: at most, or at least such a rate
    of: str = ""  # a part of the name of the device, or a back end, that `limit` is asked of
    work: float = 0.0  # where the unit is a rate: floating-point operations, or bytes that have to move
    # "each": every call is waited for. "last": calls back to back, and the last one is waited for, so that the figure is the device's.
    # "itself": the function waits for itself. "outside": what handing over takes; the wait is not timed.
    waited: str = "each"
    only: str = ""  # a part of the name of the columns that it is for


RATES = {"TFLOP/s": 1e12, "TB/s": 1e12}  # units of which more is better
POCL, INTEL = "pyopencl@pocl", "pyopencl@intel"
N_BODY, N_BODY_GPU = 16384, 65536
LAUNCH = {"n": 16}
OPTIONS = 1 << 26  # of Black and Scholes, on GPUs

# Two CPU cores; float64 unless the title says otherwise.
CPU = {
    "add": Row("vector add, existing array, 10⁷", "add", {"n": 10_000_000}, times=1, than=("numba", POCL, "numba_dpex")),
    "pairwise": Row(
        "pairwise distance by loops, (3000, 3) twice",
        "pairwise",
        {"n": 3000, "dtype": "float64"},
        {"loops": True},
        times=1.5,
        than=(POCL, "numba_dpex", INTEL, "numba", "warp"),
    ),
    "mandelbrot": Row(
        "Mandelbrot 1000², 200 steps",
        "mandelbrot",
        {"n": 1000, "dtype": "float64"},
        {"fast": False},
        times=1,
        than=(INTEL, "numba_dpex", "drjit", POCL, "numba", "warp"),
    ),
    "black_scholes": Row(
        "Black-Scholes by a loop, 4·10⁶",
        "black_scholes",
        {"n": 4_000_000, "dtype": "float64"},
        {"kernel": False},
        times=1,
        than=("drjit", "numba_dpex", INTEL, "numba", "warp"),
    ),
    "jacobi": Row(
        "Jacobi 1000², 50 sweeps",
        "jacobi",
        {"n": 1000, "sweeps": 50, "dtype": "float64"},
        {"sweeps": 50},
        times=1,
        than=(POCL, INTEL, "numba"),
    ),
    "n_body": Row("n-body 16384 float32, all pairs", "n_body", {"n": N_BODY}, {"fast": False, "tiled": False}, times=2, than=("numba",)),
    "n_body_fast": Row("the same, fast math", "n_body", {"n": N_BODY}, {"fast": True, "tiled": False}, times=1, than=(INTEL, "numba")),
    "n_body_estimates": Row(
        "the same, roots as estimates, as Intel's are",
        "n_body",
        {"n": N_BODY},
        {"fast": "estimates", "tiled": False},
        times=0.9,
        than=(INTEL,),
    ),
    "reduction": Row("tree reduction of groups, 16·10⁶ float32", "reduction", {"n": 16_000_000}, times=6, than=(POCL,)),
    "matmul": Row("tiled matmul, local memory, 512 float32", "matmul", {"n": 512}, times=6, than=(POCL,)),
    "scan": Row("scan of groups, 16·10⁶ float32", "scan", {"n": 16_000_000}, times=5, than=(POCL,)),
    "histogram": Row("histogram, local atomics, 10⁷, 256 bins", "histogram", {"n": 10_000_000}, times=1, than=("numba",)),
    "article": Row("the article's c[i] = a[i] + b[i], 10⁸", "article", {"n": 100_000_000}, times=1000, than=("python",)),
    "launch": Row(
        "launch, 3 arrays, 2 numbers, 16 items, waited for", "launch", LAUNCH, {"waits": True}, "µs", limit=2, of="cpu", waited="itself"
    ),
    "launch_anew": Row(
        "the same, its range made anew",
        "launch",
        LAUNCH,
        {"waits": True, "anew": True},
        "µs",
        waited="itself",
    ),
    "enqueue": Row("the same launch, handed over", "launch", LAUNCH, unit="µs", waited="outside", only="@"),
}

GPU = {
    "pairwise": Row(
        "pairwise distance, (20000, 3) twice, float32",
        "pairwise",
        {"n": 20000, "dtype": "float32"},
        limit=0.595,
        of="H200",
        waited="last",
    ),
    "mandelbrot": Row(
        "Mandelbrot 4096², 200 steps, float32, sums and products fused",
        "mandelbrot",
        {"n": 4096, "dtype": "float32"},
        {"fast": True},
        limit=0.416,
        of="H200",
        waited="last",
    ),
    "jacobi": Row(
        "Jacobi 8192², 20 sweeps, float32",
        "jacobi",
        {"n": 8192, "sweeps": 20, "dtype": "float32"},
        {"sweeps": 20},
        limit=3.58,
        of="H200",
        waited="last",
    ),
    "n_body": Row(
        "n-body 65536 float32, local memory, fast math",
        "n_body",
        {"n": N_BODY_GPU},
        {"fast": True, "tiled": True},
        "TFLOP/s",
        limit=32,
        of="H200",
        work=20.0 * N_BODY_GPU**2,
        waited="last",
    ),
    # Of an H200's 4.8 TB/s these are 80 % and 55 %.
    "black_scholes_f32": Row(
        "Black-Scholes by a kernel, 2²⁶ options, float32",
        "black_scholes",
        {"n": OPTIONS, "dtype": "float32"},
        {"kernel": True},
        "TB/s",
        limit=3.84,
        of="H200",
        work=20.0 * OPTIONS,
        waited="last",
    ),
    "black_scholes_f64": Row(
        "the same, float64",
        "black_scholes",
        {"n": OPTIONS, "dtype": "float64"},
        {"kernel": True},
        "TB/s",
        limit=2.64,
        of="H200",
        work=40.0 * OPTIONS,
        waited="last",
    ),
    "launch": Row(
        "launch, 3 arrays, 2 numbers, 16 items, handed over", "launch", LAUNCH, unit="µs", limit=3.2, of="cuda", waited="outside"
    ),
    "launch_anew": Row("the same, its range made anew", "launch", LAUNCH, {"anew": True}, unit="µs", waited="outside"),
}


def rows(whole: bool) -> dict[str, Row]:
    """Those for a whole GPU, or for two CPU cores."""
    return GPU if whole else CPU


def module(row: Row) -> ModuleType:
    return importlib.import_module(f"kernels.{row.module}")
