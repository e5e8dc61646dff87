# python/pardo/_sorting.py: sort, partition, top_k.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pardo import _core
from pardo._arguments import array, axis_index, index
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


_KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")


def _prepare(who: str, x: Any, axis: int | None, kind: str | None) -> tuple[Array, int]:
    if kind not in _KINDS:
        raise ValueError(f"{who}: kind is {kind!r}; it must be one of 'quicksort', 'heapsort', 'mergesort', 'stable'")
    x = array(x, who)
    if axis is None:
        return _core._reshape(x, [-1]), 0
    return x, axis_index(axis, x.ndim, who)


def sort(x: Any, /, axis: int | None = -1, kind: str | None = None, *, descending: bool = False, stable: bool = True) -> Array:
    """Return the elements in order; NaN comes last.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int, optional
        The axis; None flattens the array first.
    kind : str, optional
        NumPy's choice of algorithm; all of them give the same result.
    descending : bool
        Whether the largest element comes first.
    stable : bool
        Whether equal elements keep their order.

    Returns
    -------
    Array
        A new array.
    """
    y, a = _prepare("sort", x, axis, kind)
    return _core._sort(y, a, bool(descending), bool(stable))


def argsort(x: Any, /, axis: int | None = -1, kind: str | None = None, *, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that put the elements in order; NaN comes last.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int, optional
        The axis; None flattens the array first.
    kind : str, optional
        NumPy's choice of algorithm.
    descending : bool
        Whether the largest element comes first.
    stable : bool
        Whether equal elements keep their order.

    Returns
    -------
    Array
        Of int64.
    """
    y, a = _prepare("argsort", x, axis, kind)
    return _core._argsort(y, a, bool(descending), bool(stable))


def _places(who: str, kth: int | Sequence[int]) -> list[int]:
    return [index(k, f"{who}: kth") for k in (kth if isinstance(kth, (tuple, list)) else [kth])]


def partition(x: Any, kth: int | Sequence[int], /, axis: int | None = -1) -> Array:
    """Return the elements so that those at some places are where sorting puts them: smaller ones before, larger ones behind.

    Parameters
    ----------
    x : Array
        The elements.
    kth : int or sequence of int
        The places.
    axis : int, optional
        The axis; None flattens the array first.

    Returns
    -------
    Array
        A new array.
    """
    y, a = _prepare("partition", x, axis, None)
    return _core._partition(y, _places("partition", kth), a)


def argpartition(x: Any, kth: int | Sequence[int], /, axis: int | None = -1) -> Array:
    """Return the indices that partition the elements, as `partition` does.

    Parameters
    ----------
    x : Array
        The elements.
    kth : int or sequence of int
        The places.
    axis : int, optional
        The axis; None flattens the array first.

    Returns
    -------
    Array
        Of int64.
    """
    y, a = _prepare("argpartition", x, axis, None)
    return _core._argpartition(y, _places("argpartition", kth), a)


def top_k(x: Any, k: int, /, *, axis: int | None = -1, largest: bool = True) -> TopK:
    """Return the largest or smallest elements along an axis, in order.

    Parameters
    ----------
    x : Array
        The elements.
    k : int
        How many.
    axis : int, optional
        The axis; None flattens the array first.
    largest : bool
        Whether the largest or the smallest are wanted.

    Returns
    -------
    TopK
        Their values and their indices.
    """
    y, a = _prepare("top_k", x, axis, None)
    return TopK(*_core._top_k(y, index(k, "top_k: k"), a, bool(largest)))
