# python/pardo/_functions/grids.py: indices of grids, flat indices and tuples of them, and numbers at equal ratios.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.interop import asarray
from pardo._array.ranges import linspace
from pardo._base import promotion
from pardo._base.arguments import (
    SCALARS,
    DeviceLike,
    Shape,
    array,
    axis_index,
    default_on,
    home_among,
    home_queue,
    index,
    not_an_array,
    optional_dtype,
    queue_for,
    queue_of,
    word,
)
from pardo._base.arguments import shape as read_shape
from pardo._base.orders import read_order
from pardo._core import Array, Queue
from pardo._core import any as any_of
from pardo._functions.operands import cast, operand, operands, taken

__all__ = [
    "fromfunction",
    "geomspace",
    "indices",
    "ix_",
    "logspace",
    "ravel_multi_index",
    "unravel_index",
]


def indices(
    dimensions: Shape,
    dtype: DTypeLike | None = int,
    sparse: bool = False,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Any:
    """Return an array representing the indices of a grid.

    Parameters
    ----------
    dimensions : sequence of int
        The shape of the grid.
    dtype : data type, optional
        Default: int64.
    sparse : bool
        Whether a tuple is returned, of arrays that have extent 1 where they do not vary.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array or tuple of Array
        Of shape ``(len(dimensions), *dimensions)``: along each axis in turn, the index.

    Raises
    ------
    TypeError
        `dimensions` is not a sequence of integers, or the dtype is not supported.
    ValueError
        An extent is negative, or no such device exists.

    See Also
    --------
    meshgrid, ix_, fromfunction

    Examples
    --------
    >>> import pardo as pp
    >>> pp.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])
    """
    if isinstance(dimensions, (int, np.integer)):
        raise TypeError("indices: dimensions must be a sequence of integers, not an integer")
    extents, target = read_shape(dimensions, "indices"), queue_of(device, queue)
    wanted = optional_dtype(np.int64 if dtype is int else dtype, "indices") or default_on(target, np.float64)
    n = len(extents)
    lines = []
    for d, extent in enumerate(extents):
        line = cast(_core._arange(0, extent, 1, np.int64, target), wanted)
        lines.append(_core._reshape(line, [extent if k == d else 1 for k in range(n)]))
    if sparse:
        return tuple(lines)
    if not n:
        return _core._empty([0], wanted, target)
    return _core._stack([_core._broadcast_to(line, extents) for line in lines], 0)


def fromfunction(
    function: Callable[..., Any],
    shape: Shape,
    *,
    dtype: DTypeLike | None = float,
    device: DeviceLike = None,
    queue: Queue | None = None,
    **kwargs: Any,
) -> Any:
    """Construct an array by executing a function over each coordinate.

    Parameters
    ----------
    function : callable
        Called once, with an array of coordinates for each axis.
    shape : sequence of int
        The shape of these arrays.
    dtype : data type, optional
        Their dtype. Default: float64; float32 on a device that has no float64.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.
    **kwargs : optional
        Passed to `function`.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    TypeError
        `shape` is not a sequence of integers, or the dtype is not supported.
    ValueError
        An extent is negative, or no such device exists.

    See Also
    --------
    indices, meshgrid

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fromfunction(lambda i, j: i + j, (2, 3), dtype=int)
    array([[0, 1, 2],
           [1, 2, 3]])
    """
    target = queue_of(device, queue)
    wanted = default_on(target, np.float64) if dtype is float else np.int64 if dtype is int else dtype
    return function(*indices(shape, wanted, queue=target), **kwargs)


def ix_(*args: Any) -> tuple[Array, ...]:
    """Construct an open mesh from multiple sequences.

    Parameters
    ----------
    *args : Array
        One-dimensional; those of bools stand for the indices where they are true. Lists and NumPy arrays are taken too.

    Returns
    -------
    tuple of Array
        One array a sequence, that varies along one axis: ``x[pp.ix_(rows, columns)]`` is a part of a matrix.

    Raises
    ------
    TypeError
        An argument holds something else than numbers.
    ValueError
        A sequence has not one dimension.

    See Also
    --------
    meshgrid, indices

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(10).reshape(2, 5)
    >>> x[pp.ix_([0, 1], [2, 4])]
    array([[2, 4],
           [7, 9]])
    """
    home = home_queue(*args)
    made = []
    for k, given in enumerate(args):
        if type(given) is not Array and isinstance(given, (list, tuple)) and not len(given):
            given = np.asarray(given, np.int64)  # NumPy's default would be float64
        x = taken(given, home, "ix_")
        if x.size == 0 and x._kind == "f":
            x = cast(x, np.int64)
        if x.ndim != 1:
            raise ValueError("ix_: cross index must be 1 dimensional")
        if x.dtype == np.bool_:
            (x,) = _core._nonzero(x)
        made.append(_core._reshape(x, [x.size if d == k else 1 for d in range(len(args))]))
    return tuple(made)


def _wrapped(x: Array, extent: int, mode: str) -> Array:
    if mode == "wrap":
        return _core.remainder(x, extent) if extent else x
    return _core.minimum(_core.maximum(x, 0), extent - 1)


def ravel_multi_index(multi_index: Any, dims: Shape, mode: Any = "raise", order: str = "C") -> Array:
    """Convert a tuple of index arrays into an array of flat indices, applying boundary modes to the multi-index.

    Parameters
    ----------
    multi_index : tuple of Array, or Array
        An array of integers for each dimension. Lists and NumPy arrays are taken too.
    dims : int or sequence of int
        The shape that is indexed.
    mode : {'raise', 'wrap', 'clip'} or tuple of them
        What happens to indices that are out of bounds, for all dimensions or each; 'raise' waits.
    order : {'C', 'F'}
        Whether the flat indices count row by row or column by column.

    Returns
    -------
    Array
        Of int64 and the shape that the index arrays broadcast to.

    Raises
    ------
    TypeError
        Indices are not integers.
    ValueError
        An index is out of bounds, there is not one array for each dimension, or `mode` or `order` is something else.

    See Also
    --------
    unravel_index

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ravel_multi_index((pp.asarray([3, 6]), pp.asarray([4, 5])), (7, 6))
    array([22, 41])
    """
    op_name = "ravel_multi_index"
    extents = read_shape(dims, op_name)
    modes = list(mode) if isinstance(mode, (tuple, list)) else [mode] * len(extents)
    for each in modes:
        word(each, f"{op_name}: mode", ("raise", "wrap", "clip"))
    order = read_order(order, op_name, "CF", "C")
    if type(multi_index) is not Array and isinstance(multi_index, np.ndarray):
        multi_index = tuple(multi_index)
    given = [multi_index[d] for d in range(len(multi_index))]
    if len(given) != len(extents) or len(modes) != len(extents):
        raise ValueError(f"{op_name}: parameter multi_index must be a sequence of length {len(extents)}")
    home = home_queue(*given)
    arrays = [taken(x, home, op_name) for x in given]
    if any(x._kind not in "iu" for x in arrays):
        raise TypeError(f"{op_name}: only int indices permitted")
    arrays = _core._broadcast_arrays([cast(x, np.int64) for x in arrays], op_name)
    if math.prod(extents) >= 2**63:
        raise ValueError(f"{op_name}: invalid dims: array size defined by dims is larger than the maximum possible size")
    outside = [
        any_of(_core.logical_or(_core.less(x, 0), _core.greater_equal(x, extent)))
        for x, extent, m in zip(arrays, extents, modes, strict=True)
        if m == "raise" and x.size
    ]
    if any(bool(o) for o in outside):
        raise ValueError(f"{op_name}: invalid entry in coordinates array")
    total, step = None, 1
    rank = range(len(extents))
    for d in rank if order == "F" else reversed(rank):
        part = arrays[d] if modes[d] == "raise" else _wrapped(arrays[d], extents[d], modes[d])
        part = _core.multiply(part, step)
        total = part if total is None else _core.add(total, part)
        step *= extents[d]
    assert total is not None
    return total


def unravel_index(indices: Any, shape: Shape, order: str = "C") -> tuple[Array, ...]:
    """Convert a flat index or array of flat indices into a tuple of coordinate arrays.

    Parameters
    ----------
    indices : Array of int
        Flat indices. Lists, numbers and NumPy arrays are taken too.
    shape : int or sequence of int
        The shape that is indexed.
    order : {'C', 'F'}
        Whether the flat indices count row by row or column by column.

    Returns
    -------
    tuple of Array
        An array of int64 for each dimension. Waits, to check the indices.

    Raises
    ------
    TypeError
        Indices are not integers.
    ValueError
        An index is out of bounds, or `order` is something else.

    See Also
    --------
    ravel_multi_index

    Examples
    --------
    >>> import pardo as pp
    >>> pp.unravel_index(pp.asarray([22, 41, 37]), (7, 6))
    (array([3, 6, 6]), array([4, 5, 1]))
    """
    op_name = "unravel_index"
    extents = read_shape(shape, op_name)
    order = read_order(order, op_name, "CF", "C")
    x = taken(indices, None, op_name)
    if x._kind not in "biu":
        raise TypeError(f"{op_name}: only int indices permitted")
    total = math.prod(extents)
    if total >= 2**63:
        raise ValueError(f"{op_name}: dimensions are too large: an array of shape {tuple(extents)} would have 2**63 elements or more")
    if x.size and bool(any_of(_core.logical_or(_core.less(x, 0), _core.greater_equal(x, total)))):
        raise ValueError(f"{op_name}: an index is out of bounds for array with size {total}")
    if not extents and x.ndim:
        raise ValueError(f"{op_name}: multiple indices are not supported for 0d array")
    x = cast(x, np.int64)
    parts: list[Array] = []
    for extent in extents if order == "F" else reversed(extents):
        parts.append(_core.remainder(x, max(extent, 1)))
        x = _core.floor_divide(x, max(extent, 1))
    return tuple(parts if order == "F" else reversed(parts))


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Array:
    """Return numbers spaced evenly on a log scale.

    Parameters
    ----------
    start, stop : number or Array
        The exponents of the first and of the last number.
    num : int
        How many numbers.
    endpoint : bool
        Whether ``base**stop`` is the last one.
    base : number or Array
        What is raised to the powers.
    dtype : data type, optional
        Default: what `linspace` and `base` promote to.
    axis : int
        Where the numbers are in the result, when the ends or the bases are arrays.
    device : Device or str, optional
        Default: that of the ends if they are arrays, else the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The `num` numbers.

    Raises
    ------
    TypeError
        A bound is neither a number nor an Array, `num` is not an integer, or the dtype is not supported.
    ValueError
        `num` is negative.

    See Also
    --------
    linspace, geomspace, arange

    Examples
    --------
    >>> import pardo as pp
    >>> pp.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    wanted = optional_dtype(dtype, "logspace")
    if np.ndim(base):
        like = home_among((start, stop, base))
        home = queue_for("logspace", device, queue, start, stop, base)
        base = asarray(base, queue=home) if like is None else operand(base, like, "logspace")._to_queue(home)
        first, last = ((x._to_queue(home) if type(x) is Array else operand(x, base, "logspace")) for x in (start, stop))
        ndim = len(np.broadcast_shapes(first.shape, last.shape, base.shape))
        start, stop, base = (_core._reshape(x, [1] * (ndim - x.ndim) + list(x.shape)) for x in (first, last, base))
        base = _core._expand_dims(base, [axis_index(axis, ndim + 1, "logspace")])
    if home_among((start, stop, base)) is not None:  # else linspace looks into lists
        device, queue = None, queue_for("logspace", device, queue, start, stop, base)
    y = linspace(start, stop, num, endpoint, axis=axis, device=device, queue=queue)
    result = _core.power(base._to_queue(y.queue) if type(base) is Array else base, y)
    return result if wanted is None else cast(result, wanted)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Array:
    """Return numbers spaced evenly on a log scale (a geometric progression).

    Parameters
    ----------
    start, stop : number or Array
        The first and the last number; not zero. Complex ones lie on a spiral.
    num : int
        How many numbers.
    endpoint : bool
        Whether `stop` is the last one.
    dtype : data type, optional
        Default: what the ends and floats promote to.
    axis : int
        Where the numbers are in the result, when the ends are arrays.
    device : Device or str, optional
        Default: that of the ends if they are arrays, else the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The `num` numbers; the ends exactly.

    Raises
    ------
    TypeError
        A bound is neither a number nor an Array, `num` is not an integer, or the dtype is not supported.
    ValueError
        A bound is zero, or `num` is negative. Waits for bounds that are arrays.

    See Also
    --------
    logspace, linspace, arange

    Examples
    --------
    >>> import pardo as pp
    >>> pp.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """
    op_name = "geomspace"
    count = index(num, "geomspace: num")
    if count < 0:
        raise ValueError(f"{op_name}: num is {count}; it must not be negative")
    wanted = optional_dtype(dtype, op_name)
    target = queue_for(op_name, device, queue, start, stop)
    for x in (start, stop):
        if type(x) is not Array and not isinstance(x, SCALARS):
            raise not_an_array(x, op_name)
    common = promotion.result_type(
        *(x.dtype if type(x) is Array else x for x in (start, stop)), float(count), np.zeros((), wanted or float)
    )
    common = default_on(target, common)
    first, last = (cast(array(x, op_name)._to_queue(target), common) for x in (start, stop))
    if bool(any_of(_core.equal(first, 0))) or bool(any_of(_core.equal(last, 0))):
        raise ValueError(f"{op_name}: geometric sequence cannot include zero")
    first, last = _core._broadcast_arrays(operands([first, last], op_name), op_name)
    sign = _core.sign(first)
    one, two = _core.divide(first, sign), _core.divide(last, sign)
    exponents = [_core.log10(x) for x in (one, two)]
    if first.ndim == 0:
        exponents = [_core._reshape(x, [1]) for x in exponents]
    inner = linspace(exponents[0], exponents[1], count, endpoint)
    result = _core._reshape(_core.power(10.0, inner), [count, *first.shape])
    if count > 0:
        steps = _core._reshape(_core._arange(0, count, 1, np.int64, target), [count] + [1] * first.ndim)
        result = _core._where(_core.equal(steps, 0), one, result)
        if count > 1 and endpoint:
            result = _core._where(_core.equal(steps, count - 1), two, result)
    result = _core._moveaxis(_core.multiply(result, sign), [0], [axis_index(axis, result.ndim, op_name)])
    return cast(result, wanted or common)
