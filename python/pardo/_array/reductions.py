# python/pardo/_array/reductions.py: functions that reduce axes to one value.
from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._base.arguments import (
    SCALARS,
    Axis,
    array,
    array_like,
    axes,
    axis_index,
    axis_number,
    default_on,
    keeps_dimensions,
    loop_dtype,
    mask,
    optional_dtype,
    store,
    store_reduced,
)
from pardo._base.docstrings import filled
from pardo._base.promotion import is_narrow, is_number_of_bfloat16, kind_of
from pardo._base.rows import Row, functions_of
from pardo._core import Array


def _numeric(row: Row) -> Callable[..., Array]:
    op, op_name = row.id, row.name

    def reduction(
        x: Any,
        /,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        """{doc}

        Parameters
        ----------
        x : Array
            The elements.
        {axes}
        dtype : data type, optional
            The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
        {out_cast}
        {keepdims}
        initial : number, optional
            Where the {total} starts.
        {where}

        Returns
        -------
        Array
            {gives}

        Raises
        ------
        {reduction_raises}
        """
        return _reduce(op, op_name, x, axis, dtype, out, keepdims, initial, where)

    return reduction


def _extreme(row: Row) -> Callable[..., Array]:
    op, op_name = row.id, row.name

    def reduction(
        x: Any, /, axis: Axis = None, out: Array | None = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Array:
        """{doc}

        Parameters
        ----------
        x : Array
            The elements; complex numbers are compared by their real, then by their imaginary part.
        {axes}
        {out_cast}
        {keepdims}
        initial : number, optional
            Takes part as one more element; needed with `where`, and when there may be no elements.
        {where}

        Returns
        -------
        Array
            {gives}

        Raises
        ------
        {reduction_raises}
            Or there are no elements, or `where` is given, without `initial`.
        """
        if where is not None and where is not True and initial is None:
            mask(where, array(x, op_name), op_name)  # raises
            raise ValueError(f"{op_name}: the reduction has no identity, so to use where, initial has to be given")
        return _reduce(op, op_name, x, axis, None, out, keepdims, initial, where)

    return reduction


def _logical(row: Row) -> Callable[..., Array]:
    op, op_name = row.id, row.name

    def reduction(x: Any, /, axis: Axis = None, out: Array | None = None, keepdims: bool = False, *, where: Any = None) -> Array:
        """{doc}

        Parameters
        ----------
        x : Array
            The elements; numbers count as true when they are not zero.
        {axes}
        {out_cast}
        {keepdims}
        {where}

        Returns
        -------
        Array
            {gives}

        Raises
        ------
        {reduction_raises}
        """
        return _reduce(op, op_name, x, axis, None, out, keepdims, None, where)

    return reduction


def _count(row: Row) -> Callable[..., Array]:
    op, op_name = row.id, row.name

    def reduction(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
        """{doc}

        Parameters
        ----------
        x : Array
            The elements.
        {axes}
        {keepdims}

        Returns
        -------
        Array
            {gives}

        Raises
        ------
        {no_axis}
        TypeError
            `x` is neither an Array nor a number, or an axis is not an integer.
        ValueError
            An axis is given twice.
        """
        return _reduce(op, op_name, x, axis, None, None, keepdims, None, None)

    return reduction


_made = functions_of("REDUCTION", {"NUMERIC": _numeric, "EXTREME": _extreme, "LOGICAL": _logical, "COUNT": _count})
globals().update(_made)
__all__ = ["amax", "amin", "mean", "ptp", "std", "var", *_made]


def _reduce(op: int, op_name: str, x: Any, axis: Axis, dtype: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> Array:
    x = array(x, op_name)
    places = None if axis is None else _reduced(x, axis, op_name)
    m = None if where is None else mask(where, x, op_name)
    start = None if initial is None else _start(initial, op_name)
    loop = loop_dtype(x, dtype, out, op_name) if op in (_core._SUM, _core._PROD) else optional_dtype(dtype, op_name)
    return store_reduced(_core._reduce(op, x, places, keeps_dimensions(keepdims, op_name), loop, m, start), out, op_name)


def _of_floats(x: Array, dtype: Any, out: Any, op_name: str) -> np.dtype[Any] | None:
    """As `loop_dtype`; means of integers are of float64 anyway, whatever `out` is."""
    into_inexact = type(out) is Array and out._kind in "fc" and x._kind in "fc"
    return loop_dtype(x, dtype, out if into_inexact else None, op_name)


def _reduced(x: Array, axis: Axis, op_name: str) -> list[int] | None:
    """The axes to reduce. As in NumPy, an array without dimensions may be reduced along 0 and -1."""
    if x.ndim == 0 and axis is not None and not isinstance(axis, (tuple, list)) and axis_number(axis, op_name) in (0, -1):
        return []
    return axes(axis, op_name)


def _start(initial: Any, op_name: str) -> Any:
    """The `initial` keyword: a number."""
    if isinstance(initial, SCALARS):
        return initial
    if is_number_of_bfloat16(initial) or (type(initial) is Array and initial.ndim == 0):
        return initial.item()
    if type(initial) is Array or isinstance(initial, (str, list, tuple, np.ndarray)):
        raise ValueError(f"{op_name}: initial must be a single number, not {type(initial).__name__}")
    raise TypeError(f"{op_name}: initial must be a number, not {type(initial).__name__}")


@filled
def mean(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Array:
    """Compute the arithmetic mean along the specified axis.

    Parameters
    ----------
    x : Array
        The elements.
    {axis}
    dtype : data type, optional
        The dtype of the result, in which is also accumulated (float16 in float32). Default: that of `x`, float64 for integers.
    {out_cast}
    {keepdims}
    {where}

    Returns
    -------
    Array
        The means; NaN where there are no elements.

    Raises
    ------
    {reduction_raises}
    """
    x = array(x, "mean")
    loop = _of_floats(x, dtype, out, "mean")
    return store_reduced(_core._mean(x, axes(axis, "mean"), keeps_dimensions(keepdims, "mean"), loop, mask(where, x, "mean")), out, "mean")


@filled
def var(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Compute the variance along the specified axis: the mean of the squared distances to the mean.

    Parameters
    ----------
    x : Array
        The elements.
    {axis}
    dtype : data type, optional
        The dtype to compute in. Default: that of `x`, float64 for integers.
    {out_cast}
    ddof, correction : float
        What is subtracted from the number of elements in the divisor; 1 estimates the variance of what a sample was drawn
        from. Two names of the same; only one may be given.
    {keepdims}
    {where}
    mean : Array or number, optional
        The means, if they are known already: as `mean` gives them with `keepdims=True`.

    Returns
    -------
    Array
        The variances, real; NaN where there are no elements.

    Raises
    ------
    {reduction_raises}
        Or `ddof` and `correction` are both given, or `mean` does not broadcast to the shape of `x`.
    """
    dtype = _of_floats(array(x, "var"), dtype, out, "var")
    return store_reduced(_variance("var", x, axis, dtype, ddof, keepdims, where, mean, correction), out, "var")


@filled
def std(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Compute the standard deviation along the specified axis: the square root of the variance.

    Parameters
    ----------
    x : Array
        The elements.
    {axis}
    dtype : data type, optional
        The dtype to compute in. Default: that of `x`, float64 for integers.
    {out}
    ddof, correction : float
        What is subtracted from the number of elements in the divisor of the variance. Two names of the same; only one may
        be given.
    {keepdims}
    {where}
    mean : Array or number, optional
        The means, if they are known already: as `mean` gives them with `keepdims=True`.

    Returns
    -------
    Array
        The standard deviations, real; NaN where there are no elements.

    Raises
    ------
    {reduction_raises}
        Or `ddof` and `correction` are both given, or `mean` does not broadcast to the shape of `x`.
    """
    dtype = _of_floats(array(x, "std"), dtype, out, "std")
    return store(_variance("std", x, axis, dtype, ddof, keepdims, where, mean, correction), out, "std")


def _variance(
    op_name: str, x: Any, axis: Axis, dtype: Any, ddof: float, keepdims: Any, where: Any, center: Any, correction: float | None
) -> Array:
    """The variance, or its root when std asks."""
    x, dtype = array(x, op_name), optional_dtype(dtype, op_name)
    c, places, m = correction_of(op_name, ddof, correction), axes(axis, op_name), mask(where, x, op_name)
    for a in places or ():
        axis_index(a, x.ndim, op_name)  # raises
    if center is None:
        return (_core._var if op_name == "var" else _core._std)(x, places, c, keeps_dimensions(keepdims, op_name), dtype, m)
    real = default_on(x.queue, np.float64)
    result = dtype or (x.dtype if kind_of(x.dtype) in "fc" else real)
    wide = np.dtype(np.float32 if is_narrow(result) else real if kind_of(result) not in "fc" else result)
    off: Array = x._astype(wide, False) - array_like(center, x, op_name)
    if off.shape != x.shape:
        raise ValueError(f"{op_name}: mean does not broadcast to the array's shape {x.shape}; compute it with keepdims=True")
    squares = off * off if off._kind != "c" else _core.square(_core.real(off)) + _core.square(_core.imag(off))
    total = _core._reduce(_core._SUM, squares, places, keeps_dimensions(keepdims, op_name), None, m)
    if m is None:
        count: Any = builtins.max(x.size // builtins.max(total.size, 1) - c, 0.0)
    else:
        counts = _core._reduce(_core._COUNT_NONZERO, _core._broadcast_to(m, x.shape), places, keeps_dimensions(keepdims, op_name))
        count = _core.maximum(counts - c, 0.0)
    variance = _core.divide(total, count)
    target = {"complex64": "float32", "complex128": "float64"}.get(result.name, result)
    return (variance if op_name == "var" else _core.sqrt(variance))._astype(target, False)


def correction_of(op_name: str, ddof: float, correction: float | None) -> float:
    """What is subtracted from the number of elements: `correction`, or `ddof` where that is not given."""
    name, value = ("ddof", ddof) if correction is None else ("correction", correction)
    if not isinstance(value, SCALARS) or isinstance(value, (complex, np.complexfloating)):
        raise TypeError(f"{op_name}: {name} must be a real number, not {type(value).__name__}")
    if correction is not None and ddof != 0:
        raise ValueError(f"{op_name}: ddof and correction mean the same; only one of them may be given")
    return float(value)


@filled
def ptp(x: Any, /, axis: Axis = None, out: Array | None = None, keepdims: bool = False) -> Array:
    """Range of values (maximum - minimum) along an axis.

    Parameters
    ----------
    x : Array
        The elements, of any dtype but bool.
    {axes}
    {out}
    {keepdims}

    Returns
    -------
    Array
        The distances, in the dtype of `x`; they wrap around where that cannot hold them.

    Raises
    ------
    {reduction_raises}
        Or there are no elements.
    """
    x = array(x, "ptp")
    if x.dtype == np.bool_:
        raise TypeError("ptp: bools have no distance; cast them with astype")
    places = _reduced(x, axis, "ptp")
    along = range(x.ndim) if places is None else [axis_index(a, x.ndim, "ptp") for a in places]
    if math.prod(x.shape[a] for a in along) == 0:
        raise ValueError("ptp: zero-size array to reduction operation maximum which has no identity")
    high, low = (_core._reduce(op, x, places, keeps_dimensions(keepdims, "ptp")) for op in (_core._MAX, _core._MIN))
    wide = loop_dtype(x, None, out, "ptp")
    if wide is not None and (kind_of(wide) == kind_of(x.dtype) or (type(out) is Array and out._kind in "fc")):
        high, low = high._astype(wide, False), low._astype(wide, False)
    return store(_core.subtract(high, low), out, "ptp")


amax = _core.max
amin = _core.min
