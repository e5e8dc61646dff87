# python/pardo/_functions/closeness.py: whether arrays have the same elements, or nearly so.
from __future__ import annotations

import builtins
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import SCALARS, array, default_on, home_among, not_an_array, on_queue, same_queue, warn
from pardo._core import Array
from pardo._core import all as all_of
from pardo._functions.operands import operands

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "isclose",
]


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Return a boolean array where two arrays are element-wise equal within a tolerance.

    Parameters
    ----------
    a, b : Array or number
        What is compared; `b` is the reference, which the relative tolerance is a part of.
    rtol, atol : number or Array
        The relative and the absolute tolerance.
    equal_nan : bool
        Whether NaN is close to NaN.

    Returns
    -------
    Array
        Of bools; infinities are close where they are equal.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number.
    ValueError
        The shapes cannot be broadcast.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    allclose, array_equal

    Notes
    -----
    True where ``abs(a - b) <= atol + rtol * abs(b)``, which is not symmetric in `a` and `b`. A RuntimeWarning is given for tolerances
    that are numbers and not finite.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.isclose(pp.asarray([1e10, 1e-7]), pp.asarray([1.00001e10, 1e-8]))
    array([ True, False])
    """
    return _close("isclose", a, b, rtol, atol, equal_nan)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Return True if two arrays are element-wise equal within a tolerance.

    Parameters
    ----------
    a, b : Array or number
        What is compared; `b` is the reference, which the relative tolerance is a part of.
    rtol, atol : number or Array
        The relative and the absolute tolerance.
    equal_nan : bool
        Whether NaN is close to NaN.

    Returns
    -------
    bool
        Whether all pairs of elements are close, as `isclose` has it. Waits for them.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number.
    ValueError
        The shapes cannot be broadcast.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    isclose, array_equal, array_equiv

    Examples
    --------
    >>> import pardo as pp
    >>> pp.allclose(pp.asarray([1e10, 1e-8]), pp.asarray([1.00001e10, 1e-9]))
    True
    """
    return bool(all_of(_close("allclose", a, b, rtol, atol, equal_nan)))


def _close(op_name: str, a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Array:
    like = home_among((a, b))
    first, second = (x if type(x) is Array else _number(x, op_name, like) for x in (a, b))
    if type(first) is not Array and type(second) is not Array:
        first, second = array(first, op_name), array(second, op_name)
    if type(first) is Array and type(second) is Array:
        same_queue(first, second, op_name)
    tolerances = [x if type(x) is Array else _number(x, op_name, like) for x in (rtol, atol)]
    if any(type(x) is not Array and not np.isfinite(x) for x in tolerances):
        warn(f"{op_name}: rtol and atol should be finite; they are {rtol} and {atol}", RuntimeWarning)
    if type(second) is Array:
        if second._kind not in "fc":
            second = second._astype(default_on(second.queue, np.float64), False)
    elif isinstance(second, (builtins.int, np.integer, np.bool_)):
        second = builtins.float(second)
    allowed = _core.add(tolerances[1], _core.multiply(tolerances[0], _core.absolute(second) if type(second) is Array else abs(second)))
    near = _core.less_equal(_core.absolute(_core.subtract(first, second)), allowed)
    finite = _core.isfinite(second) if type(second) is Array else bool(np.isfinite(second))
    result = _core.logical_or(_core.logical_and(near, finite), _core.equal(first, second))
    if equal_nan:
        missing: list[Any] = [_core.isnan(x) if type(x) is Array else bool(np.isnan(x)) for x in (first, second)]
        result = _core.logical_or(result, _core.logical_and(*missing))
    return result


def _number(x: Any, op_name: str, like: Array | None) -> Any:
    """A number; what else the host has follows an array."""
    if isinstance(x, SCALARS):
        return x
    if like is None:
        raise not_an_array(x, op_name)
    return on_queue(x, like.queue, op_name)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return True if two arrays have the same shape and elements, False otherwise.

    Parameters
    ----------
    a1, a2 : Array or number
        What is compared; lists and NumPy arrays are taken too where the other is an Array.
    equal_nan : bool
        Whether NaN equals NaN; of complex numbers, whether all that have a NaN are equal.

    Returns
    -------
    bool
        Whether they are equal. Waits for the elements if the shapes are.

    Raises
    ------
    TypeError
        Neither operand is an Array or a number.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    allclose, array_equiv

    Examples
    --------
    >>> import pardo as pp
    >>> pp.array_equal(pp.asarray([1, 2]), pp.asarray([1.0, 2.0]))
    True
    >>> pp.array_equal(pp.asarray([1.0, pp.nan]), pp.asarray([1.0, pp.nan]), equal_nan=True)
    True
    """
    x, y = operands([a1, a2], "array_equal")
    if x.shape != y.shape:
        return False
    same = _core.equal(x, y)
    if equal_nan and x._kind in "fc" and y._kind in "fc":
        same = _core.logical_or(same, _core.logical_and(_core.isnan(x), _core.isnan(y)))
    return bool(all_of(same))


def array_equiv(a1: Any, a2: Any) -> bool:
    """Return True if input arrays are shape consistent and all elements equal.

    Parameters
    ----------
    a1, a2 : Array or number
        What is compared; lists and NumPy arrays are taken too where the other is an Array. One may be broadcast to the shape of the other.

    Returns
    -------
    bool
        Whether they are equal. Waits for the elements if the shapes fit.

    Raises
    ------
    TypeError
        Neither operand is an Array or a number.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    array_equal, allclose

    Examples
    --------
    >>> import pardo as pp
    >>> pp.array_equiv(pp.asarray([1, 2]), pp.asarray([[1, 2], [1, 2]]))
    True
    >>> pp.array_equiv(pp.asarray([1, 2]), pp.asarray([[1, 2], [1, 3]]))
    False
    """
    x, y = operands([a1, a2], "array_equiv")
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return bool(all_of(_core.equal(x, y)))
