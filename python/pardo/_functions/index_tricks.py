# python/pardo/_functions/index_tricks.py: objects that make arrays from what stands between brackets: r_, c_, mgrid, ogrid.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy import index_exp, s_
from pardo import _core
from pardo._array.creation import zeros
from pardo._array.interop import asarray
from pardo._array.joining import concatenate, stack
from pardo._array.ranges import arange, linspace, meshgrid
from pardo._base import promotion
from pardo._base.arguments import SCALARS, home_queue, not_an_array, on_queue
from pardo._core import Array, Queue, _pull
from pardo._functions.operands import cast

__all__ = ["c_", "index_exp", "mgrid", "ogrid", "r_", "s_"]


def _home(items: Iterable[Any]) -> Queue | None:
    """The queue of the arrays among what stands between brackets, ends and steps of slices included."""
    return home_queue(*(part for x in items for part in ((x.start, x.stop, x.step) if isinstance(x, slice) else (x,))))


def _range(s: slice, queue: Queue | None = None) -> Array:
    """The numbers of a slice: a step, or as an imaginary number the count of them, both ends included."""
    start: Any = 0 if s.start is None else s.start
    step: Any = 1 if s.step is None else s.step
    if s.stop is None:
        raise TypeError("a slice without an end makes no numbers: write start:stop or start:stop:step")
    if isinstance(step, (complex, np.complexfloating)):
        return linspace(start, s.stop, int(abs(complex(step))), queue=queue)
    return arange(start, s.stop, step, queue=queue)


def _dtype_of(lines: Sequence[Array], slices: Sequence[slice]) -> np.dtype[Any]:
    """The dtype of a grid: that of its lines, but for a count of elements in single precision that of ends and counts, as in NumPy."""
    if any(isinstance(s.step, np.complexfloating) for s in slices):
        parts = [p for s in slices for p in (s.start, s.stop, abs(s.step) if np.iscomplexobj(s.step) else s.step) if p is not None]
        return promotion.result_type(*(p.dtype if type(p) is Array else p for p in parts))
    return promotion.result_type(*(x.dtype for x in lines))


class _Named:
    """An object that shows and pickles itself by its public name."""

    __module__ = "pardo"

    def __init__(self, name: str, doc: str) -> None:
        self.__name__, self.__doc__ = name, doc

    def __repr__(self) -> str:
        return f"pardo.{self.__name__}"

    def __reduce__(self) -> str:
        return self.__name__


class _Joined(_Named):
    """The class of `r_` and `c_`."""

    __module__ = "pardo"

    def __init__(self, name: str, doc: str, axis: int = 0, ndmin: int = 1, first: int = -1) -> None:
        super().__init__(name, doc)
        self._axis, self._ndmin, self._first = axis, ndmin, first

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Array:
        axis, ndmin, first = self._axis, self._ndmin, self._first
        items = key if isinstance(key, tuple) else (key,)
        if items and isinstance(items[0], str):
            axis, ndmin, first = self._directive(items[0])
            items = items[1:]
        if not items:
            raise ValueError(f"{self.__name__}: at least one array is needed")
        home = _home(items)
        weak = [x for x in items if type(x) in SCALARS]
        made = [self._part(x, home, ndmin, first) for x in items]
        # Numbers of Python follow the dtype of what they stand beside.
        strong = [x.dtype for x, item in zip(made, items, strict=True) if type(item) not in SCALARS]
        dtype = promotion.result_type(*strong, *weak)
        return concatenate([cast(x, dtype) for x in made], axis=axis)

    def _part(self, item: Any, home: Queue | None, ndmin: int, first: int) -> Array:
        if isinstance(item, str):
            raise ValueError(f"{self.__name__}: the string that says how to join must be the first item")
        if isinstance(item, slice):
            x = _range(item, home)
        elif type(item) is Array:
            x = item._to_queue(home) if home is not None and _pull(item) < 2 else item
        elif home is not None and type(item) not in SCALARS:
            x = on_queue(item, home, self.__name__)  # it meets arrays: a copy that a guard of transfers sees
        else:
            x = asarray(item, queue=home)
            if type(x) is not Array:  # one over several devices
                raise not_an_array(x, self.__name__)
        ndim = 0 if type(item) in SCALARS else x.ndim
        if ndim >= ndmin:
            return x
        if ndim == 0:
            return _core._reshape(x, [1] * ndmin)
        # Where the axes of the array come to stand among those of extent one.
        k = first + ndmin - ndim + 1 if first < 0 else first
        return _core._reshape(x, [1] * k + list(x.shape) + [1] * (ndmin - ndim - k))

    def _directive(self, text: str) -> tuple[int, int, int]:
        if text in ("r", "c"):
            raise ValueError(f"{self.__name__}: {text!r} makes a numpy.matrix, for which there is none here; use reshape on the result")
        try:
            numbers = [int(n) for n in text.split(",")]
            axis, ndmin, first = (*numbers, *(self._axis, self._ndmin, self._first)[len(numbers) :])
        except ValueError:
            raise ValueError(
                f"{self.__name__}: unknown special directive {text!r}; expected 'axis', 'axis,ndmin' or 'axis,ndmin,first'"
            ) from None
        return axis, ndmin, first


class _Grid(_Named):
    """The class of `mgrid` and `ogrid`."""

    __module__ = "pardo"

    def __init__(self, name: str, doc: str, sparse: bool) -> None:
        super().__init__(name, doc)
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return cast(x := _range(key), _dtype_of([x], [key]))
        if not isinstance(key, tuple) or not all(isinstance(s, slice) for s in key):
            raise TypeError(f"{self.__name__}: expected a slice for each dimension, not {key!r}")
        home = _home(key)
        lines = [_range(s, home) for s in key]
        if not lines:
            return () if self._sparse else zeros((0,), dtype=np.int64)
        dtype = _dtype_of(lines, key)
        grids = meshgrid(*(cast(x, dtype) for x in lines), sparse=self._sparse, indexing="ij")
        return grids if self._sparse else stack(grids)


r_ = _Joined(
    "r_",
    """Join slices, arrays and numbers along the first axis.

    Between brackets stand, with commas: slices ``start:stop:step`` for `arange`, slices ``start:stop:count*1j`` for `linspace`, arrays,
    lists and numbers. A text in front of them, ``'axis'``, ``'axis,ndmin'`` or ``'axis,ndmin,first'``, says along which axis they are
    joined, how many dimensions each gets at least, and at which of these its own begin.

    Raises
    ------
    ValueError
        The text says something else, or shapes do not agree.
    TypeError
        A slice has no end.
    ExecutionPlacementError
        Arrays are on different queues.

    See Also
    --------
    concatenate, c_

    Examples
    --------
    >>> import pardo as pp
    >>> pp.r_[pp.asarray([1, 2, 3]), 0, 0, 4:6]
    array([1, 2, 3, 0, 0, 4, 5])
    >>> pp.r_["0,2", [1, 2], [3, 4]]
    array([[1, 2],
           [3, 4]])
    """,
)
c_ = _Joined(
    "c_",
    """Join slices, arrays and numbers along the last axis, arrays of one dimension as columns.

    ``c_[...]`` is ``r_['-1,2,0', ...]``.

    Raises
    ------
    ValueError, TypeError, ExecutionPlacementError
        As `r_`.

    See Also
    --------
    column_stack, r_

    Examples
    --------
    >>> import pardo as pp
    >>> pp.c_[pp.asarray([1, 2, 3]), pp.asarray([4, 5, 6])]
    array([[1, 4],
           [2, 5],
           [3, 6]])
    """,
    axis=-1,
    ndmin=2,
    first=0,
)
mgrid = _Grid(
    "mgrid",
    """Return a dense grid of what slices say.

    Between brackets stands a slice ``start:stop:step`` for `arange` or ``start:stop:count*1j`` for `linspace` for each dimension; one slice
    alone gives its numbers.

    Raises
    ------
    TypeError
        There is something else than slices, or a slice has no end.

    See Also
    --------
    ogrid, meshgrid

    Examples
    --------
    >>> import pardo as pp
    >>> pp.mgrid[0:2, 0:3]
    array([[[0, 0, 0],
            [1, 1, 1]],
    <BLANKLINE>
           [[0, 1, 2],
            [0, 1, 2]]])
    """,
    sparse=False,
)
ogrid = _Grid(
    "ogrid",
    """Return an open grid of what slices say: a tuple of arrays that have extent 1 where they do not vary.

    Between brackets stands a slice ``start:stop:step`` for `arange` or ``start:stop:count*1j`` for `linspace` for each dimension; one slice
    alone gives its numbers.

    Raises
    ------
    TypeError
        There is something else than slices, or a slice has no end.

    See Also
    --------
    mgrid, ix_

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ogrid[0:2, 0:3]
    (array([[0],
           [1]]), array([[0, 1, 2]]))
    """,
    sparse=True,
)
