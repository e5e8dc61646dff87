# bench/workloads/tiled.py: large inputs that repeat a small random block, and what NumPy says of them, computed on the block alone.
"""Random gigabytes, and NumPy's own way through them, would take most of a run. All values of a result are still compared."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from peers import numpy as reference
from workloads import devices
from workloads.devices import SWEEPS, Workload

Parts = Iterable[np.ndarray]  # a result, cut along its first axis


def repeat(block: np.ndarray, rows: int) -> np.ndarray:
    """The block one time after the other, `rows` rows of it."""
    values = np.empty((rows, *block.shape[1:]), block.dtype)
    for first in range(0, rows, len(block)):
        values[first : first + len(block)] = block[: rows - first]
    return values


def expected(workload: Workload, blocks: tuple[np.ndarray, ...], whole: bool) -> tuple[Parts, ...]:
    """NumPy's results in float64, stored in the workload's dtype where a kernel's results are."""
    wide = [block.astype("float64") for block in blocks]
    rows = workload.shape(whole)[0]
    if workload.program in SPECIAL:
        return (SPECIAL[workload.program](rows, *wide),)
    made = reference.prepare(workload.program, wide)()
    return tuple(repeated(part.astype(workload.dtype), rows) for part in (made if isinstance(made, tuple) else (made,)))


def agrees(result: np.ndarray, parts: Parts, workload: Workload) -> bool:
    """Whether all values are right, within the workload's tolerances."""
    first = 0
    for part in parts:
        mine = result.reshape(1)[first:] if result.ndim == 0 else result[first : first + len(part)]
        tolerance = 0 if part.dtype.kind == "i" else workload.atol + workload.rtol * np.abs(part)
        if mine.shape != part.shape or not (np.abs(mine - part) <= tolerance).all():
            return False
        first += len(part)
    return first == (len(result) if result.ndim else 1)


def repeated(block: np.ndarray, rows: int) -> Iterator[np.ndarray]:
    for first in range(0, rows, len(block)):
        yield block[: rows - first]


# Programs whose rows depend on other rows than their own.


def total_of(function: Callable[..., np.ndarray]) -> Callable[..., Parts]:
    def parts(rows: int, *blocks: np.ndarray) -> Parts:
        values = function(*blocks)
        count, rest = divmod(rows, len(values))
        yield np.array([count * values.sum() + values[:rest].sum()])

    return parts


def cumsum(rows: int, a: np.ndarray) -> Parts:
    sums = np.cumsum(a)
    for i, part in enumerate(repeated(sums, rows)):
        yield part + i * sums[-1]


def compress(rows: int, a: np.ndarray) -> Parts:
    for part in repeated(a, rows):
        yield part[part > 0.5]


def argmax(rows: int, a: np.ndarray) -> Parts:
    yield np.array([np.argmax(a)])  # the first of equals


def matmul(rows: int, a: np.ndarray, b: np.ndarray) -> Parts:
    """b repeats its rows as well: columns of a that meet the same row are added first."""
    columns = np.pad(a, [(0, 0), (0, -a.shape[1] % len(b))]).reshape(len(a), -1, len(b)).sum(axis=1)
    return repeated(columns @ b, rows)


def pairwise(rows: int, x: np.ndarray) -> Parts:
    return repeated(repeat(devices.pairwise_self(np, x).T, rows).T, rows)


def jacobi(rows: int, block: np.ndarray) -> Parts:
    """A row knows of others as far as there are sweeps; farther from both ends the result repeats itself."""
    height = len(block) + 2 * SWEEPS
    top = devices.jacobi_20(np, repeat(block, height))
    yield top[:SWEEPS]
    yield from repeated(top[SWEEPS:-SWEEPS], rows - 2 * SWEEPS)
    last = repeat(np.roll(block, -((rows - 2 * SWEEPS) % len(block)), axis=0), 2 * SWEEPS)
    yield devices.jacobi_20(np, last)[SWEEPS:]


SPECIAL: dict[str, Callable[..., Parts]] = {
    "sum": total_of(lambda a: a),
    "saxpy_sum": total_of(lambda a, b: a * b + a),
    "cumsum": cumsum,
    "compress": compress,
    "argmax": argmax,
    "matmul": matmul,
    "pairwise_self": pairwise,
    "jacobi_20": jacobi,
}
