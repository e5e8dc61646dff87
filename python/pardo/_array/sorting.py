# python/pardo/_array/sorting.py: sort, partition, top_k.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pardo import _core
from pardo._base.arguments import array, axis_index, index, word
from pardo._base.docstrings import filled
from pardo._base.orders import keeping_order
from pardo._core import Array

__all__ = [
    "TopK",
    "argpartition",
    "argsort",
    "partition",
    "sort",
    "top_k",
]


class TopK(NamedTuple):
    """What `top_k` returns."""

    values: Array
    indices: Array


_SORTS = ("quicksort", "heapsort", "mergesort", "stable")
_PARTITIONS = ("introselect",)


def _prepare(
    op_name: str, x: Any, axis: int | None, kind: str | None, order: Any = None, kinds: tuple[str, ...] = _SORTS
) -> tuple[Array, int]:
    if kind is not None:
        short = kind.lower() if isinstance(kind, str) and kind else None  # NumPy takes beginnings of the words
        word(next((k for k in kinds if short and k.startswith(short)), kind), f"{op_name}: kind", kinds)
    x = array(x, op_name)
    if order is not None:
        raise ValueError(f"{op_name}: Cannot specify order when the array has no fields: {order!r}")
    # As in NumPy, what gives indices takes an array without dimensions for one of one element.
    if axis is None or (x.ndim == 0 and op_name.startswith("arg")):
        return _core._reshape(x, [-1]), 0 if axis is None else axis_index(axis, 1, op_name)
    return x, axis_index(axis, x.ndim, op_name)


@filled
def sort(
    x: Any, /, axis: int | None = -1, kind: str | None = None, order: Any = None, *, descending: bool = False, stable: bool = True
) -> Array:
    """Return a sorted copy of an array; NaN comes last.

    Parameters
    ----------
    x : Array
        The elements, of one or more dimensions.
    {flat_axis}
    {kind}
    {order_of_fields}
    descending : bool
        Whether the largest element comes first.
    stable : bool
        Whether equal elements keep their order.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    {sort_raises}
    """
    y, a = _prepare("sort", x, axis, kind, order)
    return keeping_order(y, a, lambda values, along: _core._sort(values, along, bool(descending), bool(stable)))


@filled
def argsort(
    x: Any, /, axis: int | None = -1, kind: str | None = None, order: Any = None, *, descending: bool = False, stable: bool = True
) -> Array:
    """Return the indices that would sort an array; NaN comes last.

    Parameters
    ----------
    x : Array
        The elements.
    {flat_axis}
    {kind}
    {order_of_fields}
    descending : bool
        Whether the largest element comes first.
    stable : bool
        Whether equal elements keep their order.

    Returns
    -------
    Array
        Of int64.

    Raises
    ------
    {sort_raises}
    """
    y, a = _prepare("argsort", x, axis, kind, order)
    return _core._argsort(y, a, bool(descending), bool(stable))


def _places(op_name: str, kth: Any) -> list[int]:
    places = list(kth) if isinstance(kth, Iterable) and getattr(kth, "ndim", None) != 0 else [kth]
    if any(isinstance(k, bool) for k in places):
        raise ValueError(f"{op_name}: kth must be integers, not bool: booleans are unacceptable as partition index")
    return [index(k, f"{op_name}: kth") for k in places]


@filled
def partition(x: Any, /, kth: int | Sequence[int], axis: int | None = -1, kind: str | None = None, order: Any = None) -> Array:
    """Return a partitioned copy of an array: smaller elements before those at `kth`, larger ones after.

    Parameters
    ----------
    x : Array
        The elements, of one or more dimensions.
    kth : int or sequence of int
        The places.
    {flat_axis}
    kind : {'introselect'}, optional
        NumPy's choice of algorithm; there is one.
    {order_of_fields}

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    {sort_raises}
        Or a place is out of bounds.
    """
    y, a = _prepare("partition", x, axis, kind, order, _PARTITIONS)
    places = _places("partition", kth)
    return keeping_order(y, a, lambda values, along: _core._partition(values, places, along))


@filled
def argpartition(x: Any, /, kth: int | Sequence[int], axis: int | None = -1, kind: str | None = None, order: Any = None) -> Array:
    """Return the indices that would partition an array, as `partition` does.

    Parameters
    ----------
    x : Array
        The elements.
    kth : int or sequence of int
        The places.
    {flat_axis}
    kind : {'introselect'}, optional
        NumPy's choice of algorithm; there is one.
    {order_of_fields}

    Returns
    -------
    Array
        Of int64.

    Raises
    ------
    {sort_raises}
        Or a place is out of bounds.
    """
    y, a = _prepare("argpartition", x, axis, kind, order, _PARTITIONS)
    return _core._argpartition(y, _places("argpartition", kth), a)


@filled
def top_k(x: Any, k: int, /, *, axis: int | None = -1, largest: bool = True) -> TopK:
    """Return the largest or smallest elements along an axis, in order.

    Parameters
    ----------
    x : Array
        The elements, of one or more dimensions.
    k : int
        How many.
    {flat_axis}
    largest : bool
        Whether the largest or the smallest are wanted.

    Returns
    -------
    TopK
        Their values and their indices.

    Raises
    ------
    {no_axis}
    TypeError
        `x` is neither an Array nor a number, or `k` or `axis` is not an integer.
    ValueError
        `k` is negative or more than there are.
    """
    y, a = _prepare("top_k", x, axis, None)
    return TopK(*_core._top_k(y, index(k, "top_k: k"), a, bool(largest)))
