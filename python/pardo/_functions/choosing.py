# python/pardo/_functions/choosing.py: elements chosen from several arrays, and functions applied to parts of an array.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import asarray
from pardo._base import face, promotion
from pardo._base.arguments import SCALARS, Axis, array, axis_index, default_on, number, same_queue, store_back, word
from pardo._base.docstrings import filled
from pardo._base.promotion import kind_of
from pardo._base.records import Records
from pardo._core import Array
from pardo._core import any as any_of
from pardo._functions.operands import cast, operand, operands, weak_operand

__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "choose",
    "piecewise",
    "select",
]


@filled
def choose(a: Any, choices: Any, out: Array | None = None, mode: str = "raise") -> Array:
    """Construct an array from an index array and a list of arrays to choose from.

    Parameters
    ----------
    a : Array of int
        For each element, from which choice it is taken.
    choices : sequence of Array or number
        Broadcast against `a` and each other; an Array is taken for the sequence along its first axis. Lists and NumPy arrays are
        taken too.
    {out_back}
    mode : {'raise', 'wrap', 'clip'}
        What happens to indices that are out of bounds; 'raise' waits.

    Returns
    -------
    Array
        The chosen elements, in the dtype that the choices promote to.

    Raises
    ------
    TypeError
        `a` holds something else than integers, or `out` is not an Array or of a dtype that is refused.
    ValueError
        An index is out of bounds, there are no choices, `mode` is something else, or shapes do not fit.

    See Also
    --------
    select, where, take

    Examples
    --------
    >>> import pardo as pp
    >>> pp.choose(pp.asarray([1, 0, 1]), [pp.asarray([1, 2, 3]), pp.asarray([10, 20, 30])])
    array([10,  2, 30])
    """
    given = [choices[k] for k in range(len(choices))]
    a, *_ = operands([a, *(c for c in given if type(c) is Array)], "choose")
    word(mode, "choose: mode", ("raise", "wrap", "clip"))
    if kind_of(a.dtype) not in "biu" or a.dtype == np.uint64:
        raise TypeError(f"choose: indices must be integers that int64 can hold, not {a.dtype}")
    if not given:
        raise ValueError("choose: there is nothing to choose from")
    dtype = promotion.result_type(
        *(c.dtype if type(c) is Array else c if type(c) in (int, float, complex) else np.asarray(c).dtype for c in given)
    )
    if all(type(c) in (int, float, complex) for c in given):
        dtype = promotion.result_type(*map(np.asarray, given))
    parts = [cast(operand(c, a, "choose"), default_on(a.queue, dtype)) for c in given]
    place, *parts = _core._broadcast_arrays([cast(a, np.int64), *parts], "choose")
    n = len(parts)
    if mode == "raise":
        if place.size and bool(any_of(_core.logical_or(_core.less(place, 0), _core.greater_equal(place, n)))):
            raise ValueError("choose: invalid entry in choice array")
    else:
        place = _core.remainder(place, n) if mode == "wrap" else _core.minimum(_core.maximum(place, 0), n - 1)
    result = parts[-1]
    for k in reversed(range(n - 1)):
        result = _core._where(_core.equal(place, k), parts[k], result)
    return store_back(result, out, "choose")


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Return an array drawn from elements in choicelist, depending on conditions.

    Parameters
    ----------
    condlist : sequence of Array of bool
        The conditions; where several hold, the first counts.
    choicelist : sequence of Array or number
        What is taken where the condition holds; all are broadcast against each other. Lists and NumPy arrays are taken too.
    default : Array or number
        What is taken where none holds.

    Returns
    -------
    Array
        In the dtype that the choices and the default promote to.

    Raises
    ------
    TypeError
        A condition is not of bools, or none is an Array.
    ValueError
        There are no conditions, not as many as choices, or shapes do not fit.

    See Also
    --------
    where, choose, piecewise

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(6)
    >>> pp.select([x < 3, x > 3], [x, x**2], 42)
    array([ 0,  1,  2, 42, 16, 25])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("select: list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    n = len(condlist)
    given = [*(choicelist[k] for k in range(n)), default]
    weak = [type(c) in (int, float, complex) for c in given]
    found = operands([*(condlist[k] for k in range(n)), *(c for c, w in zip(given, weak, strict=True) if not w)], "select")
    conditions, strong = found[:n], iter(found[n:])
    for k, c in enumerate(conditions):
        if c.dtype != np.bool_:
            raise TypeError(f"select: invalid entry {k} in condlist: should be boolean ndarray")
    queue = conditions[0].queue
    values = [c if w else next(strong) for c, w in zip(given, weak, strict=True)]
    dtype = default_on(queue, promotion.result_type(*(v if w else v.dtype for v, w in zip(values, weak, strict=True))))
    parts = [number(dtype.type(v), dtype, queue, "select") if w else cast(v, dtype) for v, w in zip(values, weak, strict=True)]
    everything = _core._broadcast_arrays([*conditions, *parts], "select")
    result = everything[-1]
    for c, v in reversed(list(zip(everything[:n], everything[n:-1], strict=True))):
        result = _core._where(c, v, result)
    return result


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """Evaluate a piecewise-defined function.

    Parameters
    ----------
    x : Array
        The elements.
    condlist : sequence of Array of bool, or one
        Where each function is evaluated; where several conditions hold, the last counts.
    funclist : sequence of callable or number
        One for each condition, and one more for where none holds (default: 0). Functions are called with all elements that the
        condition holds for, as an array of one dimension.
    *args, **kw : optional
        Passed to the functions.

    Returns
    -------
    Array
        Of the shape and the dtype of `x`. Waits: which elements are passed on depends on the values.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number.
    ValueError
        There is not one function for each condition, or one more; or shapes do not fit.

    See Also
    --------
    select, choose, where

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([-2.0, -1.0, 1.0, 2.0])
    >>> pp.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: 10 * x])
    array([ 2.,  1., 10., 20.])
    """
    x = array(x, "piecewise")
    dimensions = 0 if isinstance(condlist, SCALARS) else getattr(condlist, "ndim", 1)
    if dimensions:
        of_numbers = (condlist.ndim == 1) if type(condlist) is Array else not isinstance(condlist[0], (list, np.ndarray, Array))
    else:
        of_numbers = True
    if of_numbers and (x.ndim or dimensions == 0):
        condlist = [condlist]
    conditions = [cast(operand(condlist[k], x, "piecewise"), np.bool_) for k in range(len(condlist))]
    functions, n = len(funclist), len(conditions)
    if n == functions - 1:
        none = conditions[0]
        for c in conditions[1:]:
            none = _core.logical_or(none, c)
        conditions.append(_core.logical_not(none))
    elif n != functions:
        raise ValueError(f"piecewise: with {n} condition(s), either {n} or {n + 1} functions are expected")
    y = _core._full(list(x.shape), 0, x.dtype, x.queue)
    for condition, function in zip(conditions, funclist, strict=True):
        if condition.ndim and condition.shape != x.shape[: condition.ndim]:
            raise IndexError(f"piecewise: a condition has shape {condition.shape}, but x has shape {x.shape}")
        if condition.shape != x.shape:
            condition = _core._reshape(condition, [*condition.shape, *[1] * (x.ndim - condition.ndim)])
            condition = _core._broadcast_to(condition, list(x.shape))
        if not callable(function):
            y[condition] = function
            continue
        some = x[condition]
        if some.size:
            y[condition] = weak_operand(function(some, *args, **kw), y, "piecewise")
    return y


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Array:
    """Apply a function to 1-D slices along the given axis.

    Parameters
    ----------
    func1d : callable
        Takes an array of one dimension, and gives an array or a number.
    axis : int
        The axis of the slices.
    arr : Array
        The elements; records too.
    *args, **kwargs : optional
        Passed to the function.

    Returns
    -------
    Array
        With the dimensions of the function's results in place of the axis, in the dtype of the first.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `arr` is neither an Array nor a number, or `axis` is not an integer.
    ValueError
        There are no slices, or the results differ in shape.

    See Also
    --------
    apply_over_axes

    Notes
    -----
    The function is called once for each slice, as Python does it; what it records is computed together.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.apply_along_axis(lambda v: v.max() - v.min(), 1, pp.asarray([[8, 1, 7], [4, 3, 9]]))
    array([7, 6])
    """
    x: Any = arr if isinstance(arr, Records) else array(arr, "apply_along_axis")
    pardo = face.namespace()  # whose functions take records too
    a = axis_index(axis, x.ndim, "apply_along_axis")
    turned = pardo.moveaxis(x, a, -1)
    outer = turned.shape[:-1]
    results: list[Any] = []
    for place in np.ndindex(*outer):
        r = _result(func1d(turned[place], *args, **kwargs), x, "apply_along_axis")
        if results:  # the first one says what the others become
            first = results[0]
            r = r if r.dtype == first.dtype else r.astype(first.dtype)
            r = r if r.shape == first.shape else pardo.broadcast_to(r, first.shape)
        results.append(r)
    if not results:
        raise ValueError("apply_along_axis: cannot be applied when any iteration dimensions are 0")
    inner = results[0].ndim
    made = pardo.stack(results).reshape((*outer, *results[0].shape))
    return pardo.moveaxis(made, list(range(len(outer), made.ndim)), list(range(a, a + inner)))  # type: ignore[no-any-return]


def _result(r: Any, like: Any, op_name: str) -> Any:
    """What a function has given, as an array on the queue of another; records of the host too."""
    if isinstance(r, Records):
        same_queue(like, r, op_name)  # type: ignore[arg-type]
        return r
    if isinstance(r, (np.ndarray, np.void)) and r.dtype.names is not None:
        return asarray(r, queue=like.queue)
    return operand(r, like, op_name)


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Axis) -> Array:
    """Apply a function repeatedly over multiple axes.

    Parameters
    ----------
    func : callable
        Called as ``func(x, axis)``; gives an array of as many dimensions, or one less.
    a : Array
        The elements.
    axes : int or sequence of int
        The axes, one after the other.

    Returns
    -------
    Array
        Of as many dimensions as `a`.

    Raises
    ------
    TypeError
        `a` is neither an Array nor a number.
    ValueError
        A result has another number of dimensions.

    See Also
    --------
    apply_along_axis

    Examples
    --------
    >>> import pardo as pp
    >>> pp.apply_over_axes(pp.sum, pp.arange(24).reshape(2, 3, 4), [0, 2])
    array([[[ 60],
            [ 92],
            [124]]])
    """
    x: Any = a if isinstance(a, Records) else array(a, "apply_over_axes")
    value = x
    given: Any = axes if isinstance(axes, (tuple, list)) else [axes]
    for axis in given:
        place = axis + x.ndim if axis < 0 else axis
        result = func(value, place)
        if result.ndim != value.ndim:
            result = face.namespace().expand_dims(result, axis=place)
            if result.ndim != value.ndim:
                raise ValueError("apply_over_axes: function is not returning an array of the correct shape")
        value = result
    return value  # type: ignore[no-any-return]
