# python/pardo/_functions/triangles.py: diagonals and triangles of matrices: made, and the places of their elements.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.interop import stored
from pardo._array.manipulation import diagonal
from pardo._array.searching import nonzero_of
from pardo._base import promotion
from pardo._base.arguments import DeviceLike, array, default_on, index, optional_dtype, queue_of
from pardo._base.arguments import shape as read_shape
from pardo._core import Array, Queue
from pardo._functions.assignment import target
from pardo._functions.operands import cast

__all__ = [
    "diag",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "fill_diagonal",
    "mask_indices",
    "tri",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "vander",
]


def diag(v: Any, k: int = 0) -> Array:
    """Extract a diagonal or construct a diagonal array.

    Parameters
    ----------
    v : Array
        A matrix whose diagonal is wanted, or a vector that becomes the diagonal of a matrix of zeros.
    k : int
        The diagonal: 0 is the main one, positive ones are above it.

    Returns
    -------
    Array
        A view of the diagonal, or a new matrix.

    Raises
    ------
    TypeError
        `v` is not an Array, or `k` is not an integer.
    ValueError
        `v` has not one or two dimensions.

    See Also
    --------
    diagonal, diagflat, trace, triu, tril

    Examples
    --------
    >>> import pardo as pp
    >>> pp.diag(pp.asarray([1, 2]))
    array([[1, 0],
           [0, 2]])
    >>> pp.diag(pp.arange(9).reshape(3, 3), k=1)
    array([1, 5])
    """
    v, k = array(v, "diag"), index(k, "diag: k")
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("diag: input must be 1- or 2-d")
    return _on_diagonal(v, k)


def _on_diagonal(v: Array, k: int) -> Array:
    n = v.size + abs(k)
    made = _core._full([n, n], 0, v.dtype, v.queue)
    if v.size:
        _core._diagonal(made, k, 0, 1)._assign(v)
    return made


def diagflat(v: Any, k: int = 0) -> Array:
    """Create a two-dimensional array with the flattened input as a diagonal.

    Parameters
    ----------
    v : Array
        The elements of the diagonal.
    k : int
        The diagonal: 0 is the main one, positive ones are above it.

    Returns
    -------
    Array
        A matrix with zeros beside the diagonal.

    Raises
    ------
    TypeError
        `v` is neither an Array nor a number, or `k` is not an integer.

    See Also
    --------
    diag

    Examples
    --------
    >>> import pardo as pp
    >>> pp.diagflat(pp.asarray([[1, 2]]), 1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return _on_diagonal(_core._reshape(array(v, "diagflat"), [-1]), index(k, "diagflat: k"))


def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike | None = float,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Array:
    """Return an array with ones at and below the given diagonal and zeros elsewhere.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int, optional
        Number of columns. Default: as many as rows.
    k : int
        The diagonal: 0 is the main one, positive ones are above it.
    dtype : data type, optional
        Default: float64; float32 on a device that has no float64.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        Of shape ``(N, M)``.

    Raises
    ------
    TypeError
        `N`, `M` or `k` is not an integer, or the dtype is not supported.
    ValueError
        `N` or `M` is negative, or no such device exists.

    See Also
    --------
    tril, triu, eye

    Examples
    --------
    >>> import pardo as pp
    >>> pp.tri(2, 3, k=1, dtype=int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    target = queue_of(device, queue)
    wanted = optional_dtype(None if dtype is float else dtype, "tri") or default_on(target, np.float64)
    return cast(_triangle(N, M, k, target, "tri"), wanted)


def _triangle(n: Any, m: Any, k: Any, queue: Queue, op_name: str) -> Array:
    """True at and below the diagonal."""
    rows, columns = read_shape((n, n if m is None else m), op_name)
    k = max(-rows, min(index(k, f"{op_name}: k"), columns))
    down, across = (_core._arange(0, e, 1, np.int64, queue) for e in (rows, columns))
    return _core.greater_equal(_core.add(down[:, None], k), across[None, :])


def tril_indices(n: int, k: int = 0, m: int | None = None, *, device: DeviceLike = None, queue: Queue | None = None) -> tuple[Array, ...]:
    """Return the indices for the lower-triangle of an (n, m) array.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int
        The diagonal above which elements do not belong to the triangle.
    m : int, optional
        Number of columns. Default: as many as rows.
    device, queue : optional
        Where the indices are made; as for `tri`.

    Returns
    -------
    tuple of Array
        Rows and columns, of int64. Waits: they are found like those of `nonzero`.

    Raises
    ------
    TypeError
        `n`, `k` or `m` is not an integer.
    ValueError
        `n` or `m` is negative, or no such device exists.

    See Also
    --------
    triu_indices, tril_indices_from, mask_indices

    Examples
    --------
    >>> import pardo as pp
    >>> pp.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return tuple(_core._nonzero(_triangle(n, m, k, queue_of(device, queue), "tril_indices")))


def triu_indices(n: int, k: int = 0, m: int | None = None, *, device: DeviceLike = None, queue: Queue | None = None) -> tuple[Array, ...]:
    """Return the indices for the upper-triangle of an (n, m) array.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int
        The diagonal below which elements do not belong to the triangle.
    m : int, optional
        Number of columns. Default: as many as rows.
    device, queue : optional
        Where the indices are made; as for `tri`.

    Returns
    -------
    tuple of Array
        Rows and columns, of int64. Waits: they are found like those of `nonzero`.

    Raises
    ------
    TypeError
        `n`, `k` or `m` is not an integer.
    ValueError
        `n` or `m` is negative, or no such device exists.

    See Also
    --------
    tril_indices, triu_indices_from, mask_indices

    Examples
    --------
    >>> import pardo as pp
    >>> pp.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    below = _triangle(n, m, index(k, "triu_indices: k") - 1, queue_of(device, queue), "triu_indices")
    return tuple(_core._nonzero(_core.logical_not(below)))


def _matrix(arr: Any, op_name: str) -> Array:
    x = array(arr, op_name)
    if x.ndim != 2:
        raise ValueError(f"{op_name}: input array must be 2-d")
    return x


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """Return the indices for the lower-triangle of arr.

    Parameters
    ----------
    arr : Array
        The matrix, on whose queue the indices are made.
    k : int
        The diagonal above which elements do not belong to the triangle.

    Returns
    -------
    tuple of Array
        Rows and columns, as `tril_indices` gives them.

    Raises
    ------
    TypeError
        `arr` is not an Array, or `k` is not an integer.
    ValueError
        `arr` has not two dimensions.

    See Also
    --------
    tril_indices, triu_indices_from

    Examples
    --------
    >>> import pardo as pp
    >>> pp.tril_indices_from(pp.zeros((2, 2)), k=-1)
    (array([1]), array([0]))
    """
    x = _matrix(arr, "tril_indices_from")
    return tril_indices(x.shape[0], k, x.shape[1], queue=x.queue)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """Return the indices for the upper-triangle of arr.

    Parameters
    ----------
    arr : Array
        The matrix, on whose queue the indices are made.
    k : int
        The diagonal below which elements do not belong to the triangle.

    Returns
    -------
    tuple of Array
        Rows and columns, as `triu_indices` gives them.

    Raises
    ------
    TypeError
        `arr` is not an Array, or `k` is not an integer.
    ValueError
        `arr` has not two dimensions.

    See Also
    --------
    triu_indices, tril_indices_from

    Examples
    --------
    >>> import pardo as pp
    >>> pp.triu_indices_from(pp.zeros((2, 2)), k=1)
    (array([0]), array([1]))
    """
    x = _matrix(arr, "triu_indices_from")
    return triu_indices(x.shape[0], k, x.shape[1], queue=x.queue)


def diag_indices(n: int, ndim: int = 2, *, device: DeviceLike = None, queue: Queue | None = None) -> tuple[Array, ...]:
    """Return the indices to access the main diagonal of an array.

    Parameters
    ----------
    n : int
        The extent of each dimension.
    ndim : int
        The number of dimensions.
    device, queue : optional
        Where the indices are made; as for `tri`.

    Returns
    -------
    tuple of Array
        The same indices, of int64, for each dimension.

    Raises
    ------
    TypeError
        `n` or `ndim` is not an integer.
    ValueError
        No such device exists.

    See Also
    --------
    diag_indices_from, fill_diagonal

    Examples
    --------
    >>> import pardo as pp
    >>> pp.diag_indices(2)
    (array([0, 1]), array([0, 1]))
    """
    places = _core._arange(0, index(n, "diag_indices: n"), 1, np.int64, queue_of(device, queue))
    return (places,) * index(ndim, "diag_indices: ndim")


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """Return the indices to access the main diagonal of an n-dimensional array.

    Parameters
    ----------
    arr : Array
        Of two or more dimensions, all of one extent.

    Returns
    -------
    tuple of Array
        The same indices, of int64, for each dimension, on the queue of `arr`.

    Raises
    ------
    TypeError
        `arr` is not an Array.
    ValueError
        There are less than two dimensions, or their extents differ.

    See Also
    --------
    diag_indices

    Examples
    --------
    >>> import pardo as pp
    >>> pp.diag_indices_from(pp.zeros((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    x = array(arr, "diag_indices_from")
    if x.ndim < 2:
        raise ValueError("diag_indices_from: input array must be at least 2-d")
    if len(set(x.shape)) != 1:
        raise ValueError("diag_indices_from: all dimensions of input must be of equal length")
    return diag_indices(x.shape[0], x.ndim, queue=x.queue)


def mask_indices(
    n: int, mask_func: Callable[..., Any], k: Any = 0, *, device: DeviceLike = None, queue: Queue | None = None
) -> tuple[Array, ...]:
    """Return the indices to access (n, n) arrays, given a masking function.

    Parameters
    ----------
    n : int
        Rows and columns.
    mask_func : callable
        Called as ``mask_func(ones, k)`` with a matrix of ones; gives a matrix that is zero where elements are left out: `triu`, `tril`.
    k : object
        Passed to `mask_func`.
    device, queue : optional
        Where the indices are made; as for `tri`.

    Returns
    -------
    tuple of Array
        Rows and columns, of int64. Waits for what `mask_func` computes.

    Raises
    ------
    TypeError
        `n` is not an integer.
    ValueError
        `n` is negative, or no such device exists.

    See Also
    --------
    triu_indices, tril_indices

    Examples
    --------
    >>> import pardo as pp
    >>> pp.mask_indices(2, pp.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    (extent,) = read_shape(n, "mask_indices")
    ones = _core._full([extent, extent], 1, np.int64, queue_of(device, queue))
    return nonzero_of(_core.not_equal(mask_func(ones, k), 0), "mask_indices")


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Fill the main diagonal of the given array of any dimensionality, in place.

    Parameters
    ----------
    a : Array
        Of two or more dimensions, which are of one extent if there are more than two.
    val : number or Array
        What is written along the diagonal; repeated from the start if it is shorter. Lists and NumPy arrays are taken too.
    wrap : bool
        Whether the diagonal of a matrix with more rows than columns begins again below a row that is left out.

    Raises
    ------
    TypeError
        `a` is not an Array, or the values are of a kind that its dtype cannot hold.
    ValueError
        There are less than two dimensions, their extents differ, or `a` is read-only.

    See Also
    --------
    diag_indices, diag

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.zeros((2, 2), dtype=int)
    >>> pp.fill_diagonal(x, 5)
    >>> x
    array([[5, 0],
           [0, 5]])
    """
    a = target(a, "fill_diagonal")
    if a.ndim < 2:
        raise ValueError("fill_diagonal: array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError("fill_diagonal: all dimensions of input must be of equal length")
    rows, columns = a.shape[0], a.shape[1]
    tall = columns + 1 if wrap and a.ndim == 2 else max(rows, 1)
    blocks = [a[start : start + tall] for start in range(0, rows, tall)] if wrap and a.ndim == 2 else [a]
    count = sum(min(b.shape[0], columns) for b in blocks)
    if count == 0:
        return
    values = stored(val, a, "fill_diagonal")
    if values.ndim and values.size == 0:
        raise ValueError("fill_diagonal: there are no values")
    flat = _core._reshape(values, [-1])
    if flat.size > 1:
        flat = _core._tile(flat, [-(-count // flat.size)])[:count]
    first = 0
    for block in blocks:
        n = min(block.shape[0], columns)
        places = _core._arange(0, n, 1, np.int64, a.queue)
        block[(places,) * a.ndim] = flat[first : first + n] if flat.size > 1 else _core._reshape(flat, [])
        first += n


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Generate a Vandermonde matrix: each column is a power of the input vector.

    Parameters
    ----------
    x : Array
        One-dimensional.
    N : int, optional
        Number of columns. Default: as many as elements.
    increasing : bool
        Whether powers rise from left to right.

    Returns
    -------
    Array
        Of shape ``(x.size, N)``, in the dtype that `x` and int64 promote to.

    Raises
    ------
    TypeError
        `x` is not an Array, or `N` is not an integer.
    ValueError
        `x` has not one dimension, or `N` is negative.

    See Also
    --------
    polyval

    Examples
    --------
    >>> import pardo as pp
    >>> pp.vander(pp.asarray([1, 2, 3]), 3)
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    x = array(x, "vander")
    if x.ndim != 1:
        raise ValueError("vander: x must be a one-dimensional array or sequence")
    (columns,) = read_shape(x.size if N is None else N, "vander")
    x = cast(x, default_on(x.queue, promotion.promote_types(x.dtype, np.int64)))
    first = _core._full([x.size, min(columns, 1)], 1, x.dtype, x.queue)
    if columns > 1:
        rest = _core._cumulative(_core._PROD, _core._broadcast_to(x[:, None], [x.size, columns - 1]), 1, x.dtype, False)
        first = _core._concat([first, rest] if increasing else [_core._flip(rest, [1]), first], 1)
    return first
