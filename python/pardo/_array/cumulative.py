# python/pardo/_array/cumulative.py: cumulative sums and products, and differences of neighbours.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import DTypeLike
from pardo import _core
from pardo._base.arguments import array, array_like, axis_index, index, loop_dtype, store_reduced
from pardo._base.docstrings import filled
from pardo._base.orders import keeping_order
from pardo._base.rows import Row, functions_of
from pardo._core import Array


def _standard(row: Row) -> Callable[..., Array]:
    op, op_name = row.id, row.name

    def scan(
        x: Any,
        /,
        *,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        include_initial: bool = False,
    ) -> Array:
        """{doc}

        Parameters
        ----------
        x : Array
            The elements.
        axis : int, optional
            The axis along which is {done}; may be left out for arrays of at most one dimension.
        dtype : data type, optional
            The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
        {out_cast}
        include_initial : bool
            Whether a {first} is put in front.

        Returns
        -------
        Array
            Of the same shape, one longer along the axis with `include_initial`.

        Raises
        ------
        {cumulative_raises}
            Or `axis` is left out and `x` has more than one dimension.
        """
        x = array(x, op_name)
        if axis is None and x.ndim > 1:
            raise ValueError(f"{op_name}: axis must be given for an array of {x.ndim} dimensions")
        return _cumulate(op, op_name, x, axis, dtype, out, include_initial)

    return scan


def _flat(row: Row) -> Callable[..., Array]:
    op, op_name = row.id, row.name

    def scan(x: Any, /, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
        """{doc}

        Parameters
        ----------
        x : Array
            The elements.
        axis : int, optional
            The axis along which is {done}. Default: the array is flattened.
        dtype : data type, optional
            The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
        {out_cast}

        Returns
        -------
        Array
            Of the same shape, or flat.

        Raises
        ------
        {cumulative_raises}
        """
        return _cumulate(op, op_name, array(x, op_name), axis, dtype, out, False)

    return scan


def _cumulate(op: int, op_name: str, x: Array, axis: int | None, dtype: Any, out: Any, include_initial: Any) -> Array:
    if axis is None or x.ndim == 0:
        x = _core._reshape(x, [-1])
    along = 0 if axis is None else axis_index(axis, x.ndim, op_name)
    wanted = loop_dtype(x, dtype, out, op_name)
    return store_reduced(keeping_order(x, along, lambda y, a: _core._cumulative(op, y, a, wanted, bool(include_initial))), out, op_name)


_made = functions_of("SCAN", {"STANDARD": _standard, "FLAT": _flat})
globals().update(_made)
__all__ = ["diff", *_made]


@filled
def diff(x: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Calculate the n-th discrete difference along the given axis.

    Parameters
    ----------
    x : Array
        The elements, of one or more dimensions.
    n : int
        How often differences are taken.
    axis : int
        The axis.
    prepend, append : Array or number, optional
        What is put before and after `x` along the axis before.

    Returns
    -------
    Array
        Shorter by `n` along the axis. Of bools: True where neighbours differ.

    Raises
    ------
    {no_axis}
    TypeError
        `x`, `prepend` or `append` is neither an Array nor a number, or `n` or `axis` is not an integer.
    ValueError
        `x` has no dimensions, `n` is negative, or the shape of `prepend` or `append` does not fit.
    """
    x = array(x, "diff")
    times = index(n, "diff: n")
    if times < 0:
        raise ValueError(f"diff: n is {times}; it must not be negative")
    if times == 0:
        return array(x, "diff")
    if x.ndim == 0:
        raise ValueError("diff: the array has no dimensions; at least one is needed")
    axis = axis_index(axis, x.ndim, "diff")
    ends = [None if e is None else _end(x, e, axis) for e in (prepend, append)]
    return _core._diff(x, times, axis, ends[0], ends[1])


def _end(x: Array, end: Any, axis: int) -> Array:
    """A number stands for one layer of it."""
    e = array_like(end, x, "diff", own_dtype=True)
    if e.ndim and [s for d, s in enumerate(e.shape) if d != axis] != [s for d, s in enumerate(x.shape) if d != axis]:
        raise ValueError(f"diff: an array of shape {e.shape} cannot be put before or after one of shape {x.shape} along axis {axis}")
    return e if e.ndim else _core._broadcast_to(e, [1 if d == axis else s for d, s in enumerate(x.shape)])
