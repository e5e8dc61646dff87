# python/pardo/_generate/algorithms.py: what scans make possible: packing, splitting, runs of equal elements.
from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from pardo._array import contexts
from pardo._array.creation import empty
from pardo._base.arguments import array
from pardo._core import Array
from pardo._generate.generators import Scan, scan
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Item, Range

__all__ = ["copy_if", "partition", "remove_if", "unique"]

KEPT = 256  # functions whose programs are kept


@functools.lru_cache(KEPT)
def _counted(predicate: Callable[[Any], Any]) -> Scan:
    """How many elements up to each are selected."""
    made: Scan = scan(lambda v: 1 if predicate(v) else 0, operator.add, 0, name="count_selected")
    return made


@functools.lru_cache(KEPT)
def _numbered(equal: Callable[[Any, Any], Any]) -> Scan:
    """The number of the run that each element but the first belongs to; that of the first is 0."""
    made: Scan = scan(lambda v, before: 0 if equal(before, v) else 1, operator.add, 0, name="number_runs")
    return made


@kernel
def _pack(item: Item, predicate: Any, wanted: Any, x: Any, count: Any, out: Any) -> None:
    i = item.get_id(0)
    if bool(predicate(x[i])) == wanted:
        out[(count[i] if wanted else i + 1 - count[i]) - 1] = x[i]


@kernel
def _first_of_runs(item: Item, x: Any, number: Any, out: Any) -> None:
    i = item.get_id(0)
    if i == 0:
        out[0] = x[0]
        if number[0] > 0:
            out[number[0]] = x[1]
    elif number[i] > number[i - 1]:
        out[number[i]] = x[i + 1]


def _selected(x: Any, predicate: Any, op_name: str, sides: tuple[bool, ...]) -> tuple[Array, ...]:
    flat = array(x, op_name).reshape(-1)
    if not callable(predicate):
        raise TypeError(f"{op_name}: predicate: a function is expected, not {type(predicate).__name__}")
    n = flat.size
    count = _counted(predicate)(flat)
    yes = int(count[-1]) if n else 0
    out = []
    for wanted in sides:
        part = empty(yes if wanted else n - yes, flat.dtype, queue=flat.queue)
        if part.size:
            _pack[Range(n)](predicate, wanted, flat, count, part)
        out.append(part)
    return tuple(out)


@contexts.copying
def copy_if(x: Any, predicate: Any) -> Array:
    """Pack the elements for which a function is true.

    Parameters
    ----------
    x : Array
        The elements, in row-major order.
    predicate : callable
        Takes an element.

    Returns
    -------
    Array
        Of one dimension, in the order of `x`.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.algorithm.copy_if(pp.arange(10), lambda v: v % 3 == 0)
    array([0, 3, 6, 9])
    """
    return _selected(x, predicate, "copy_if", (True,))[0]


@contexts.copying
def remove_if(x: Any, predicate: Any) -> Array:
    """Pack the elements for which a function is false.

    Parameters
    ----------
    x : Array
        The elements, in row-major order.
    predicate : callable
        Takes an element.

    Returns
    -------
    Array
        Of one dimension, in the order of `x`.

    See Also
    --------
    copy_if, partition

    Examples
    --------
    >>> import pardo as pp
    >>> pp.algorithm.remove_if(pp.arange(10), lambda v: v % 3 == 0)
    array([1, 2, 4, 5, 7, 8])
    """
    return _selected(x, predicate, "remove_if", (False,))[0]


@contexts.copying
def partition(x: Any, predicate: Any) -> tuple[Array, Array]:
    """Split an array into the elements for which a function is true, and the others.

    Parameters
    ----------
    x : Array
        The elements, in row-major order.
    predicate : callable
        Takes an element.

    Returns
    -------
    tuple of Array
        Both of one dimension, in the order of `x`.

    See Also
    --------
    copy_if, remove_if

    Examples
    --------
    >>> import pardo as pp
    >>> pp.algorithm.partition(pp.arange(6), lambda v: v % 2 == 0)
    (array([0, 2, 4]), array([1, 3, 5]))
    """
    yes, no = _selected(x, predicate, "partition", (True, False))
    return yes, no


@contexts.copying
def unique(x: Any, equal: Any = operator.eq) -> Array:
    """Take the first element of each run of equal ones.

    Parameters
    ----------
    x : Array
        The elements, in row-major order.
    equal : callable, optional
        Takes an element and the one after it. Default: ``==``.

    Returns
    -------
    Array
        Of one dimension, in the order of `x`. Of a sorted array: each value once.

    See Also
    --------
    pardo.unique

    Examples
    --------
    >>> import pardo as pp
    >>> pp.algorithm.unique(pp.asarray([1, 1, 2, 2, 1]))
    array([1, 2, 1])
    """
    flat = array(x, "unique").reshape(-1)
    if not callable(equal):
        raise TypeError(f"unique: equal must be a function of two elements, not {type(equal).__name__}")
    if flat.size < 2:
        return flat.copy()
    number = _numbered(equal)(flat[1:], flat[:-1])
    out = empty(int(number[-1]) + 1, flat.dtype, queue=flat.queue)
    _first_of_runs[Range(flat.size - 1)](flat, number, out)
    return out
