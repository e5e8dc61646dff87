# python/pardo/_sparse/construction.py: sparse arrays made of diagonals, random numbers and blocks.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo._array.interop import asarray
from pardo._array.joining import concat
from pardo._array.ranges import arange
from pardo._base import promotion
from pardo._base.arguments import DeviceLike, default_on, index, optional_dtype, queue_of
from pardo._base.promotion import kind_of
from pardo._core import Array, Queue, _full
from pardo._random.generator import Generator, default_rng
from pardo._sparse.coordinates import as_coo, coo_array, home_of
from pardo._sparse.stored import extent_of
from pardo._sparse.structure import cast, index_dtype

__all__ = ["block_array", "block_diag", "diags_array", "eye_array", "hstack", "kron", "random_array", "vstack"]


def eye_array(
    m: int,
    n: int | None = None,
    *,
    k: int = 0,
    dtype: Any = None,
    format: str | None = None,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Any:
    """Sparse array of chosen shape with ones on the kth diagonal and zeros elsewhere.

    Parameters
    ----------
    m : int
        Number of rows.
    n : int, optional
        Number of columns. Default: `m`.
    k : int
        Which diagonal: the main one is 0, those above it are positive.
    dtype : data type, optional
        Default: float64 (float32 on a device that has no float64).
    format : {'csr', 'csc', 'coo'}, optional
        Default: 'csr'.
    device : Device or str, optional
        Where it is made.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    csr_array, csc_array or coo_array
        The array.

    Raises
    ------
    ValueError
        A number is negative, or there is no such format.

    See Also
    --------
    diags_array

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.eye_array(2, 3, k=1).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    extent = extent_of((m, m if n is None else n), "eye_array")
    k = index(k, "eye_array: k")
    target = queue_of(device, queue, None, "eye_array")
    wanted = optional_dtype(dtype, "eye_array") or default_on(target, np.float64)
    size = _diagonal_size(extent, k)
    value = _full([size], 1, wanted, target)
    row = arange(size, dtype=index_dtype(*extent), queue=target) + max(-k, 0)
    return coo_array._of(row, row + k, value, extent, True).asformat(format or "csr")


def _diagonal_size(extent: tuple[int, int], k: int) -> int:
    return max(0, min(extent[0] + min(k, 0), extent[1] - max(k, 0)))


def diags_array(
    diagonals: Any,
    /,
    *,
    offsets: Any = 0,
    shape: Any = None,
    format: str | None = None,
    dtype: Any = None,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Any:
    """Construct a sparse array from diagonals.

    Parameters
    ----------
    diagonals : sequence of arrays
        The diagonals; a number, or an array of one element, fills a diagonal if `shape` is given.
    offsets : int or sequence of int
        Which they are: the main one is 0, those above it are positive.
    shape : tuple of int, optional
        Default: square, and large enough for the first diagonal.
    format : {'csr', 'csc', 'coo'}, optional
        Default: 'csr'.
    dtype : data type, optional
        Default: what the diagonals are promoted to.
    device : Device or str, optional
        Where it is made. Default: where the diagonals are.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    csr_array, csc_array or coo_array
        The array; zeros of the diagonals are not stored.

    Raises
    ------
    ValueError
        There are not as many offsets as diagonals, an offset is given twice, or a diagonal does not fit the shape.

    See Also
    --------
    eye_array

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.diags_array([1, -2, 1], offsets=[-1, 0, 1], shape=(3, 3)).toarray()
    array([[-2,  1,  0],
           [ 1, -2,  1],
           [ 0,  1, -2]])
    """
    if isinstance(offsets, (int, np.integer)):
        if len(diagonals) == 0 or np.ndim(diagonals[0] if type(diagonals) is not Array else 0) == 0:
            diagonals = [diagonals]
        places = [int(offsets)]
    else:
        places = [index(k, "diags_array: offsets") for k in offsets]
    if len(diagonals) != len(places):
        raise ValueError(f"diags_array: different number of diagonals and offsets: {len(diagonals)} and {len(places)}")
    if len(set(places)) != len(places):
        raise ValueError(f"diags_array: an offset is given twice in {places}")
    home = next((d.queue for d in diagonals if type(d) is Array), None)
    target = queue_of(device, queue, home, "diags_array")
    given = [asarray(d, queue=target).reshape(-1) for d in diagonals]
    if not given:
        raise ValueError("diags_array: at least one diagonal is needed")
    if shape is None:
        size = given[0].size + abs(places[0])
        shape = (size, size)
    extent = extent_of(shape, "diags_array")
    wanted = optional_dtype(dtype, "diags_array") or default_on(target, promotion.result_type(*(d.dtype for d in given)))
    rows, columns, values = [], [], []
    for number, (diagonal, k) in enumerate(zip(given, places, strict=True)):
        size = _diagonal_size(extent, k)
        if diagonal.size not in (size, 1) or (size == 0 and not -extent[0] <= k <= extent[1]):
            raise ValueError(
                f"diags_array: diagonal length (index {number}: {diagonal.size} at offset {k}) does not agree with array size {extent}"
            )
        row = arange(size, dtype=index_dtype(*extent), queue=target) + max(-k, 0)
        rows.append(row)
        columns.append(row + k)
        value = cast(diagonal, wanted)
        values.append(value if value.size == size else value + _full([size], 0, wanted, target))
    made = coo_array._of(concat(rows), concat(columns), concat(values), extent)
    made.eliminate_zeros()
    return made.asformat(format or "csr")


def random_array(
    shape: Any,
    *,
    density: float = 0.01,
    format: str = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Any = None,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Any:
    """Return a sparse array of uniformly random numbers in [0, 1).

    Parameters
    ----------
    shape : tuple of int
        Two numbers.
    density : float
        The share of elements that are stored, from 0 to 1.
    format : {'coo', 'csr', 'csc'}
        The format.
    dtype : data type, optional
        Default: float64 (float32 on a device that has no float64). Integers are of the whole range of the dtype, both parts of complex
        numbers in [0, 1).
    rng : pardo.random.Generator or int, optional
        What draws, or a seed for it.
    data_sampler : callable, optional
        Takes the keyword `size` and gives so many values, in place of random numbers.
    device : Device or str, optional
        Where it is made.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    coo_array, csr_array or csc_array
        The numbers differ from SciPy's; a seed gives the same ones on every device.

    Raises
    ------
    ValueError
        `density` is not between 0 and 1, or there is no such format.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.random_array((50, 40), density=0.1, rng=1).nnz
    200
    """
    extent = extent_of(shape, "random_array")
    if not 0 <= density <= 1:
        raise ValueError(f"random_array: density must be between 0 and 1, and is {density}")
    target = queue_of(device, queue, None, "random_array")
    wanted = optional_dtype(dtype, "random_array") or default_on(target, np.float64)
    draw = rng if isinstance(rng, Generator) else default_rng(rng)
    total = extent[0] * extent[1]
    count = round(density * total)
    place = draw.choice(total, count, replace=False, queue=target) if count else _full([0], 0, np.int64, target)
    if data_sampler is not None:
        value = cast(asarray(data_sampler(size=count), queue=target), wanted)
    else:
        value = _drawn(draw, count, wanted, target)
    row = place // max(extent[1], 1)
    indices = index_dtype(*extent)
    made = coo_array._of(cast(row, indices), cast(place - row * extent[1], indices), value, extent)
    return made.asformat(format)


def _drawn(draw: Generator, count: int, dtype: np.dtype[Any], queue: Queue) -> Array:
    """Random values of a dtype."""
    if kind_of(dtype) == "b":
        return _full([count], True, dtype, queue)
    if kind_of(dtype) in "iu":
        limits = np.iinfo(dtype)
        return draw.integers(int(limits.min), int(limits.max), count, dtype, endpoint=True, queue=queue)
    part = np.float32 if dtype.itemsize <= 4 or dtype == np.complex64 else np.float64
    real = draw.random(count, part, queue=queue)
    return cast(real + 1j * draw.random(count, part, queue=queue) if kind_of(dtype) == "c" else real, dtype)


# --- made of others


def block_array(blocks: Any, *, format: str | None = None, dtype: Any = None) -> Any:
    """Build a sparse array from sparse sub-blocks.

    Parameters
    ----------
    blocks : sequence of sequences
        Sparse arrays, dense ones of two dimensions, or None for a block of zeros; rows of blocks.
    format : {'coo', 'csr', 'csc'}, optional
        Default: 'coo'.
    dtype : data type, optional
        Default: what the blocks are promoted to.

    Returns
    -------
    coo_array, csr_array or csc_array
        The array.

    Raises
    ------
    ValueError
        Blocks do not fit each other, or a whole row or column of blocks is None.

    See Also
    --------
    hstack, vstack, block_diag

    Examples
    --------
    >>> import pardo as pp
    >>> eye = pp.sparse.eye_array(2, dtype="int64")
    >>> pp.sparse.block_array([[eye, None], [None, 3 * eye]]).toarray()
    array([[1, 0, 0, 0],
           [0, 1, 0, 0],
           [0, 0, 3, 0],
           [0, 0, 0, 3]])
    """
    return _joined(blocks, format, dtype, "block_array")


def _joined(blocks: Any, format: str | None, dtype: Any, op_name: str) -> Any:
    grid = [list(line) for line in blocks]
    if not grid or any(len(line) != len(grid[0]) for line in grid) or not grid[0]:
        raise ValueError(f"{op_name}: blocks must be rows of the same number of blocks, and at least one")
    home = home_of(x for line in grid for x in line)
    heights: list[Any] = [None] * len(grid)
    widths: list[Any] = [None] * len(grid[0])
    parts: list[tuple[int, int, coo_array]] = []
    for i, line in enumerate(grid):
        for j, x in enumerate(line):
            if x is None:
                continue
            block = as_coo(x, home, op_name)
            parts.append((i, j, block))
            for sizes, at, size, what in ((heights, i, block.shape[0], "rows"), (widths, j, block.shape[1], "columns")):
                if sizes[at] not in (None, size):
                    raise ValueError(f"{op_name}: incompatible {what} of blocks[{i}][{j}]: expected {sizes[at]}, got {size}")
                sizes[at] = size
    for sizes, what in ((heights, "row"), (widths, "column")):
        if None in sizes:
            raise ValueError(f"{op_name}: blocks: all blocks of {what} {sizes.index(None)} are None")
    tops, lefts = ([sum(sizes[:at]) for at in range(len(sizes))] for sizes in (heights, widths))
    extent = (sum(heights), sum(widths))
    indices = index_dtype(*extent, like=[x.row for _, _, x in parts])
    queue = parts[0][2].queue
    wanted = optional_dtype(dtype, op_name) or default_on(queue, promotion.result_type(*(x.dtype for _, _, x in parts)))
    made = coo_array._of(
        concat([cast(x.row, indices) + tops[i] for i, _, x in parts]),
        concat([cast(x.col, indices) + lefts[j] for _, j, x in parts]),
        concat([cast(x.data, wanted) for _, _, x in parts]),
        extent,
    )
    return made.asformat(format)


def hstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Stack sparse arrays horizontally (column wise).

    Parameters
    ----------
    blocks : sequence of sparse arrays
        With the same number of rows; dense arrays of two dimensions are taken too.
    format : {'coo', 'csr', 'csc'}, optional
        Default: 'csc' if all are of that format, else 'coo'.
    dtype : data type, optional
        Default: what they are promoted to.

    Returns
    -------
    coo_array, csr_array or csc_array
        The array.

    Raises
    ------
    ValueError
        Numbers of rows differ, or there are no blocks.

    See Also
    --------
    vstack, block_array

    Examples
    --------
    >>> import pardo as pp
    >>> eye = pp.sparse.eye_array(2, dtype="int64")
    >>> pp.sparse.hstack([eye, 2 * eye]).toarray()
    array([[1, 0, 2, 0],
           [0, 1, 0, 2]])
    """
    blocks = list(blocks)
    if format is None and blocks and all(getattr(x, "format", None) == "csc" for x in blocks):
        format = "csc"
    return _joined([blocks], format, dtype, "hstack")


def vstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Stack sparse arrays vertically (row wise).

    Parameters
    ----------
    blocks : sequence of sparse arrays
        With the same number of columns; dense arrays of two dimensions are taken too.
    format : {'coo', 'csr', 'csc'}, optional
        Default: 'csr' if all are of that format, else 'coo'.
    dtype : data type, optional
        Default: what they are promoted to.

    Returns
    -------
    coo_array, csr_array or csc_array
        The array.

    Raises
    ------
    ValueError
        Numbers of columns differ, or there are no blocks.

    See Also
    --------
    hstack, block_array

    Examples
    --------
    >>> import pardo as pp
    >>> eye = pp.sparse.eye_array(2, dtype="int64")
    >>> pp.sparse.vstack([eye, 2 * eye]).shape
    (4, 2)
    """
    blocks = list(blocks)
    if format is None and blocks and all(getattr(x, "format", None) == "csr" for x in blocks):
        format = "csr"
    return _joined([[x] for x in blocks], format, dtype, "vstack")


def block_diag(mats: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Build a block diagonal sparse array from provided matrices.

    Parameters
    ----------
    mats : sequence of sparse arrays
        The blocks; dense arrays of two dimensions are taken too.
    format : {'coo', 'csr', 'csc'}, optional
        Default: 'coo'.
    dtype : data type, optional
        Default: what they are promoted to.

    Returns
    -------
    coo_array, csr_array or csc_array
        The array.

    Raises
    ------
    ValueError
        There are no blocks.

    See Also
    --------
    block_array

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.block_diag([pp.ones((1, 2)), pp.ones((1, 1))]).toarray()
    array([[1., 1., 0.],
           [0., 0., 1.]])
    """
    mats = list(mats)
    grid = [[x if i == j else None for j in range(len(mats))] for i, x in enumerate(mats)]
    return _joined(grid, format, dtype, "block_diag")


def kron(A: Any, B: Any, format: str | None = None) -> Any:
    """Kronecker product of sparse arrays A and B.

    Parameters
    ----------
    A, B : sparse arrays
        Dense arrays of two dimensions are taken too.
    format : {'coo', 'csr', 'csc'}, optional
        Default: 'coo'.

    Returns
    -------
    coo_array, csr_array or csc_array
        An entry for each pair of entries.

    Raises
    ------
    TypeError
        One is something else.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.kron(pp.sparse.eye_array(2), pp.ones((1, 2))).toarray()
    array([[1., 1., 0., 0.],
           [0., 0., 1., 1.]])
    """
    home = home_of((A, B))
    a, b = as_coo(A, home, "kron"), as_coo(B, home, "kron")
    extent = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    indices = index_dtype(*extent, like=[a.row, b.row])

    def pairs(x: Array, y: Array, factor: int) -> Array:
        return (cast(x, indices)[:, None] * factor + cast(y, indices)).reshape(-1)

    value = (a.data[:, None] * b.data).reshape(-1)
    return coo_array._of(pairs(a.row, b.row, b.shape[0]), pairs(a.col, b.col, b.shape[1]), value, extent).asformat(format)
