# python/pardo/_filters/ranks.py: ndimage: the smallest, the largest and the middle element of windows, and those of other ranks.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._array.contexts import public
from pardo._base.arguments import axis_index, integer, warn
from pardo._base.promotion import is_narrow, kind_of
from pardo._core import Array
from pardo._filters import arguments as read
from pardo._filters import runs, selection, windows
from pardo._filters.arguments import Output
from pardo._filters.linear import check_cval
from pardo._functions.operands import cast, parameters_on_host

__all__ = [
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "rank_filter",
]

_MIDPOINTS = {
    "b": selection.midpoint_of_bools, "i": selection.midpoint_of_integers, "u": selection.midpoint_of_integers,
    "f": selection.midpoint_of_floats,
}  # fmt: skip


def _select(x: Array, out: Array, offsets: NDArray[Any], modes: Sequence[int], cval: Any, rank: int) -> None:
    """Stores the elements of a rank among those at offsets."""
    count = len(offsets)
    x = cast(x, np.float32) if is_narrow(x.dtype) else x  # few devices compare halves
    if rank in (0, count - 1):
        fold = windows.least if rank == 0 else windows.greatest

        def taps(at: Any, first: int, dtype: Any) -> Any:
            return at, first

    elif count <= selection.MOST:
        fold = selection.sorted_to(count, rank)

        def taps(at: Any, first: int, dtype: Any) -> Any:
            return at

    else:
        fold = selection.counted

        def taps(at: Any, first: int, dtype: Any) -> Any:
            return at, first, rank, _MIDPOINTS[kind_of(dtype)]

    windows.fold_windows(x, out, offsets, modes, cval, read.wide_of(x), fold, taps, rank)


def _extreme(x: Array, out: Array, size: int, axis: int, mode: int, cval: Any, origin: int, largest: bool) -> None:
    """Stores the smallest or the largest elements of windows along an axis."""
    if not runs.are_long(x, size, axis):
        _select(x, out, read.offsets_along(size, origin, axis, x.ndim), [mode] * x.ndim, cval, size - 1 if largest else 0)
        return
    x = cast(x, np.float32) if is_narrow(x.dtype) else x
    wide, value = windows.beyond_edges(x.dtype, [mode], cval, read.wide_of(x))
    runs.fold_runs(x, out, size, axis, origin, mode, value, wide, runs.larger if largest else runs.smaller, runs.as_it_is)


def _along(op_name: str, input: Any, size: Any, axis: Any, output: Any, mode: Any, cval: Any, origin: Any, largest: bool) -> Array:
    x = read.read_input(input, op_name, real=True)
    axis = axis_index(axis, x.ndim, op_name)
    n = read.read_size(size, op_name)
    where = Output(output, x, op_name)
    shift = read.read_origin(origin, n, op_name)
    code = read.read_mode(mode, op_name)
    check_cval(x, cval, op_name)
    out = where.new()
    _extreme(x, out, n, axis, code, cval, shift, largest)
    return where.given(out)


def _window(op_name: str, size: Any, footprint: Any, axes: Sequence[int]) -> NDArray[Any]:
    """Which elements count, by a dimension for each axis."""
    if footprint is None:
        if size is None:
            raise RuntimeError(f"{op_name}: no footprint or filter size provided")
        return np.ones(read.read_sizes(size, len(axes), op_name), np.bool_)
    if size is not None:
        warn(f"{op_name}: ignoring size because footprint is set", UserWarning)
    window = parameters_on_host(footprint, op_name).astype(np.bool_)
    if window.ndim != len(axes):
        raise RuntimeError(f"{op_name}: footprint has {window.ndim} dimensions; {len(axes)} are expected")
    if not window.any():
        raise ValueError(f"{op_name}: all-zero footprint is not supported")
    return window


def _ranked(
    op_name: str,
    input: Any,
    rank: Any,
    size: Any,
    footprint: Any,
    output: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
) -> Array:
    """`rank` gives the rank among so many elements."""
    x = read.read_input(input, op_name, real=True)
    where = Output(output, x, op_name)
    axes = read.read_axes(axes, x, op_name)
    window = _window(op_name, size, footprint, axes)
    origins = [
        read.read_origin(o, n, op_name) for o, n in zip(read.each(origin, len(axes), f"{op_name}: origin"), window.shape, strict=True)
    ]
    codes = read.read_modes(mode, len(axes), op_name)
    check_cval(x, cval, op_name)
    count = int(np.count_nonzero(window))
    place = rank(count)
    if window.all() and place in (0, count - 1):  # one axis after the other
        steps = [step for step in zip(window.shape, origins, axes, codes, strict=True) if step[0] > 1]
        for n, shift, axis, code in steps:
            out = where.new()
            _extreme(x, out, n, axis, code, cval, shift, place > 0)
            x = out
        return where.given(x if steps else x._astype(where.dtype, True))
    window, axes, origins, codes = read.sorted_window(window, axes, origins, codes)
    modes = [windows.NEAREST] * max(x.ndim, 1)
    for d, code in zip(axes, codes, strict=True):
        modes[d] = code
    out = where.new()
    _select(x, out, read.offsets_in(window, origins, axes, x.ndim), modes, cval, place)
    return where.given(out)


def _first(count: int) -> int:
    return 0


def _last(count: int) -> int:
    return count - 1


@public
def minimum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    """Calculate a 1-D minimum filter along the given axis.

    Parameters
    ----------
    {real_filter_input}
    size : int
        How many elements are compared.
    {filter_axis}
    {filter_output}
    {filter_mode}
    {filter_cval}
    {filter_origin}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    maximum_filter1d, minimum_filter

    Notes
    -----
    {ranks_of_nan}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.minimum_filter1d(pp.asarray([2, 8, 0, 4, 1, 9, 9, 0]), 3)
    array([2, 0, 0, 0, 1, 1, 0, 0])
    """
    return _along("minimum_filter1d", input, size, axis, output, mode, cval, origin, False)


@public
def maximum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    """Calculate a 1-D maximum filter along the given axis.

    Parameters
    ----------
    {real_filter_input}
    size : int
        How many elements are compared.
    {filter_axis}
    {filter_output}
    {filter_mode}
    {filter_cval}
    {filter_origin}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    minimum_filter1d, maximum_filter

    Notes
    -----
    {ranks_of_nan}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.maximum_filter1d(pp.asarray([2, 8, 0, 4, 1, 9, 9, 0]), 3)
    array([8, 8, 8, 4, 9, 9, 9, 9])
    """
    return _along("maximum_filter1d", input, size, axis, output, mode, cval, origin, True)


@public
def minimum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Calculate a multidimensional minimum filter.

    Parameters
    ----------
    {real_filter_input}
    {size_and_footprint}
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_origins}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    maximum_filter, rank_filter

    Notes
    -----
    {ranks_of_nan}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[7, 2, 9], [4, 5, 8], [3, 6, 1]])
    >>> pp.ndimage.minimum_filter(x, footprint=[[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    array([[2, 2, 2],
           [3, 2, 1],
           [3, 1, 1]])
    """
    return _ranked("minimum_filter", input, _first, size, footprint, output, mode, cval, origin, axes)


@public
def maximum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Calculate a multidimensional maximum filter.

    Parameters
    ----------
    {real_filter_input}
    {size_and_footprint}
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_origins}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    minimum_filter, rank_filter

    Notes
    -----
    {ranks_of_nan}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[7, 2, 9], [4, 5, 8], [3, 6, 1]])
    >>> pp.ndimage.maximum_filter(x, footprint=[[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    array([[7, 9, 9],
           [7, 8, 9],
           [6, 6, 8]])
    """
    return _ranked("maximum_filter", input, _last, size, footprint, output, mode, cval, origin, axes)


@public
def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Calculate a multidimensional median filter.

    Parameters
    ----------
    {real_filter_input}
    {size_and_footprint}
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_origins}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise: element ``n // 2`` of the n in a window, in order.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    rank_filter, percentile_filter

    Notes
    -----
    {ranks_of_nan}

    {selection}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[1, 2, 3], [4, 99, 6], [7, 8, 9]])
    >>> pp.ndimage.median_filter(x, size=3)
    array([[2, 3, 3],
           [4, 6, 6],
           [7, 8, 9]])
    """
    return _ranked("median_filter", input, lambda count: count // 2, size, footprint, output, mode, cval, origin, axes)


@public
def rank_filter(
    input: Any,
    rank: int,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Calculate a multidimensional rank filter.

    Parameters
    ----------
    {real_filter_input}
    rank : int
        Which element of a window is taken, in order: 0 for the smallest, -1 for the largest.
    {size_and_footprint}
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_origins}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    median_filter, percentile_filter

    Notes
    -----
    {ranks_of_nan}

    {selection}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.rank_filter(pp.asarray([2, 8, 0, 4, 1, 9, 9, 0]), 1, 3)
    array([2, 2, 4, 1, 4, 9, 9, 0])
    """
    place = integer(rank, "rank_filter: rank")

    def chosen(count: int) -> int:
        if not -count <= place < count:
            raise RuntimeError(f"rank_filter: rank not within filter footprint size: rank is {place}, of {count} elements")
        return place % count

    return _ranked("rank_filter", input, chosen, size, footprint, output, mode, cval, origin, axes)


@public
def percentile_filter(
    input: Any,
    percentile: float,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Calculate a multidimensional percentile filter.

    Parameters
    ----------
    {real_filter_input}
    percentile : number
        From 0 to 100; -20 means 80.
    {size_and_footprint}
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_origins}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise: element ``int(n * percentile / 100)`` of the n in a
        window, in order; the last one for 100.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    median_filter, rank_filter

    Notes
    -----
    {ranks_of_nan}

    {selection}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.percentile_filter(pp.asarray([2, 8, 0, 4, 1, 9, 9, 0]), 50, 3)
    array([2, 2, 4, 1, 4, 9, 9, 0])
    """
    try:
        share = float(percentile)
    except (TypeError, ValueError):
        raise TypeError(f"percentile_filter: percentile must be a number, not {type(percentile).__name__}") from None
    share = share + 100.0 if share < 0 else share
    if not 0 <= share <= 100:
        raise RuntimeError(f"percentile_filter: invalid percentile {percentile}; it must be from -100 to 100")
    return _ranked(
        "percentile_filter",
        input,
        lambda count: count - 1 if share == 100 else int(float(count) * share / 100.0),
        size,
        footprint,
        output,
        mode,
        cval,
        origin,
        axes,
    )
