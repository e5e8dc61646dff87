# python/pardo/_analysis/polynomials.py: polynomials as arrays of coefficients, the highest power first.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._analysis.differences import products_of_sequences
from pardo._base import promotion
from pardo._base.arguments import default_on, integer
from pardo._core import Array
from pardo._functions.operands import cast, on_host, operands, taken

__all__ = [
    "polyadd",
    "polyder",
    "polydiv",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
]


class Coefficients:
    """What `poly1d` is to the functions here: they take its coefficients, and give one of its type then."""

    coeffs: Any


def plain(p: Any) -> Any:
    """The coefficients of a polynomial that is an object, ours or NumPy's; anything else as it is."""
    return p.coeffs if isinstance(p, (Coefficients, np.poly1d)) else p


def _as_given(result: Array, *given: Any) -> Any:
    """The coefficients, or a `poly1d` where one was given."""
    kind: Any = next((type(p) for p in given if isinstance(p, Coefficients)), None)
    return result if kind is None else kind(result)


def _given(xs: list[Any], op_name: str) -> list[Array]:
    """Arrays of coefficients; what the host has goes to the queue of the first array, or to the default device."""
    xs = [plain(x) for x in xs]
    if not any(type(x) is Array for x in xs):
        xs = [taken(xs[0], None, op_name), *xs[1:]]
    return [_core._reshape(x, [1]) if x.ndim == 0 else x for x in operands(xs, op_name)]


def _aligned(a1: Any, a2: Any, op_name: str) -> tuple[Array, Array]:
    """Both with as many coefficients: zeros in front of the shorter."""
    x, y = _given([a1, a2], op_name)
    n = max(x.shape[0], y.shape[0])
    x, y = (
        _core._concat([_core._full([n - p.shape[0], *p.shape[1:]], 0, p.dtype, p.queue), p], 0) if p.shape[0] < n else p for p in (x, y)
    )
    return x, y


def polyadd(a1: Any, a2: Any) -> Any:
    """Find the sum of two polynomials.

    Parameters
    ----------
    a1, a2 : Array, sequence of numbers or poly1d
        The coefficients, the highest power first.

    Returns
    -------
    Array or poly1d
        The coefficients of the sum; a `poly1d` if one was given.

    Raises
    ------
    TypeError
        Coefficients are not numbers.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    polysub, polymul, polyval

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polyadd([1, 2], [9, 5, 4])
    array([9, 6, 6])
    """
    return _as_given(_core.add(*_aligned(a1, a2, "polyadd")), a1, a2)


def polysub(a1: Any, a2: Any) -> Any:
    """Difference (subtraction) of two polynomials.

    Parameters
    ----------
    a1, a2 : Array, sequence of numbers or poly1d
        The coefficients, the highest power first.

    Returns
    -------
    Array or poly1d
        The coefficients of the difference; a `poly1d` if one was given.

    Raises
    ------
    TypeError
        Coefficients are not numbers.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    polyadd, polymul, polyval

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polysub([2, 10, -2], [3, 10, -4])
    array([-1,  0,  2])
    """
    return _as_given(_core.subtract(*_aligned(a1, a2, "polysub")), a1, a2)


def trimmed(x: Array, op_name: str) -> Array:
    """Without zeros in front, one coefficient at least; waits for them."""
    places = np.flatnonzero(on_host(x, op_name))
    return x[int(places[0]) :] if places.size else x[-1:] if x.size else _core._full([1], 0, x.dtype, x.queue)


def polymul(a1: Any, a2: Any) -> Any:
    """Find the product of two polynomials.

    Parameters
    ----------
    a1, a2 : Array, sequence of numbers or poly1d
        The coefficients, the highest power first. Zeros in front are left out, for which they are waited for.

    Returns
    -------
    Array or poly1d
        The coefficients of the product; a `poly1d` if one was given.

    Raises
    ------
    TypeError
        Coefficients are not numbers.
    ValueError
        Coefficients have more than one dimension.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    polydiv, convolve, polyval

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polymul([1, 2, 3], [9, 5, 1])
    array([ 9, 23, 38, 17,  3])
    """
    x, y = _given([a1, a2], "polymul")
    if x.ndim > 1 or y.ndim > 1:
        raise ValueError("polymul: polynomial must be 1d only")
    x, y = trimmed(x, "polymul"), trimmed(y, "polymul")
    common = default_on(x.queue, promotion.result_type(x.dtype, y.dtype))
    return _as_given(products_of_sequences(cast(x, common), cast(y, common)), a1, a2)


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Return the quotient and remainder of polynomial division.

    Parameters
    ----------
    u, v : Array, sequence of numbers or poly1d
        The coefficients of dividend and divisor, the highest power first.

    Returns
    -------
    tuple of Array or of poly1d
        The coefficients of the quotient and of the remainder; each a `poly1d` if one was given. Waits: zeros in front of the remainder
        are left out.

    Raises
    ------
    TypeError
        Coefficients are not numbers.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    polymul, polyval

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    (array([1.5 , 1.75]), array([0.25]))
    """
    x, y = (_core.add(p, 0.0) for p in _given([u, v], "polydiv"))
    common = default_on(x.queue, promotion.result_type(x.dtype, y.dtype))
    m, n = x.shape[0] - 1, y.shape[0] - 1
    scale = _core.divide(1.0, y[0])
    rest = cast(x, common)._copy()
    quotient = _core._full([max(m - n + 1, 1)], 0, common, x.queue)
    for k in range(m - n + 1):
        d = _core.multiply(scale, rest[k])
        quotient[k] = d
        rest[k : k + n + 1] = _core.subtract(rest[k : k + n + 1], _core.multiply(d, y))
    host = on_host(rest, "polydiv")
    first = 0
    while first < host.size - 1 and np.allclose(host[first], 0, rtol=1e-14):
        first += 1
    return _as_given(quotient, u, v), _as_given(rest[first:], u, v)


def polyval(p: Any, x: Any) -> Any:
    """Evaluate a polynomial at specific values.

    Parameters
    ----------
    p : Array, sequence of numbers or poly1d
        The coefficients, the highest power first.
    x : Array, number or poly1d
        The values. Lists and NumPy arrays are taken too; of a `poly1d` the result is the composition, a `poly1d`.

    Returns
    -------
    Array
        Of the shape of `x`.

    Raises
    ------
    TypeError
        Coefficients or values are not numbers.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    polyadd, polyder, polyint

    Notes
    -----
    Horner's scheme: all steps are one kernel.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polyval([3, 0, 1], pp.asarray([5.0, 1.0]))
    array([76.,  4.])
    """
    p = plain(p)
    if isinstance(x, Coefficients):
        factors = _coefficients(p, "polyval")
        composed = _as_given(_core._full([1], 0, factors.dtype, factors.queue), x)
        for k in range(factors.shape[0]):
            composed = polyadd(polymul(composed, x), factors[k])
        return composed
    given = [p, x] if type(p) is Array or type(x) is Array else [taken(p, None, "polyval"), x]
    factors, values = operands(given, "polyval")
    if factors.ndim == 0:
        raise TypeError("polyval: a sequence of coefficients is expected, not a single number")
    y = _core._full(list(values.shape), 0, values.dtype, values.queue)
    for k in range(factors.shape[0]):
        y = _core.add(_core.multiply(y, values), factors[k])
    return y


def _coefficients(p: Any, op_name: str) -> Array:
    x = taken(plain(p), None, op_name)
    if x.ndim == 0:
        raise TypeError(f"{op_name}: a sequence of coefficients is expected, not a single number")
    return x


def polyder(p: Any, m: int = 1) -> Any:
    """Return the derivative of the specified order of a polynomial.

    Parameters
    ----------
    p : Array, sequence of numbers or poly1d
        The coefficients, the highest power first.
    m : int
        The order.

    Returns
    -------
    Array or poly1d
        The coefficients of the derivative; a `poly1d` if `p` is one.

    Raises
    ------
    TypeError
        Coefficients are not numbers.
    ValueError
        The order is negative.

    See Also
    --------
    polyint, polyval

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polyder([1, 1, 1, 1])
    array([3, 2, 1])
    """
    order = int(m)
    if order < 0:
        raise ValueError("polyder: order of derivative must be positive (see polyint)")
    x = _coefficients(p, "polyder")
    for _ in range(order):
        n = x.shape[0] - 1
        x = _core.multiply(x[:-1], _core._arange(n, 0, -1, np.int64, x.queue))
    return _as_given(x, p)


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return an antiderivative (indefinite integral) of a polynomial.

    Parameters
    ----------
    p : Array, sequence of numbers or poly1d
        The coefficients, the highest power first.
    m : int
        The order.
    k : number, or sequence of them, optional
        The constants of integration, the first for the first integral. Default: zeros.

    Returns
    -------
    Array or poly1d
        The coefficients of the integral; a `poly1d` if `p` is one.

    Raises
    ------
    TypeError
        Coefficients are not numbers.
    ValueError
        The order is negative, or there are too few constants.

    See Also
    --------
    polyder, polyval

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polyint([3, 2, 1], k=5)
    array([1., 1., 1., 5.])
    """
    order = int(m)
    if order < 0:
        raise ValueError("polyint: order of integral must be positive (see polyder)")
    x = _coefficients(p, "polyint")
    constants = np.atleast_1d(np.zeros(order) if k is None else on_host(k, "polyint"))
    if constants.size == 1 and order > 1:
        constants = constants[0] * np.ones(order)
    if constants.size < order:
        raise ValueError("polyint: k must be a scalar or a rank-1 array of length 1 or >m")
    for i in range(integer(order, "polyint: m")):
        n = x.shape[0]
        parts = operands([_core.divide(x, _core._arange(n, 0, -1, np.int64, x.queue)), constants[i : i + 1]], "polyint")
        common = default_on(x.queue, promotion.result_type(*(q.dtype for q in parts)))
        x = _core._concat([cast(q, common) for q in parts], 0)
    return _as_given(x, p)
