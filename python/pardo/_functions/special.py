# python/pardo/_functions/special.py: special functions that are made of several of the core's.
from __future__ import annotations

from typing import Any

from pardo import _core
from pardo._array.contexts import copying
from pardo._base.arguments import array, arrays, same_queue, single_out, store
from pardo._compiler.intrinsics import device_only
from pardo._core import Array
from pardo._functions.operands import cast

__all__ = ["polygamma", "zeta"]


@device_only("zeta")
@copying
def zeta(x: Any, q: Any = None, out: Array | None = None) -> Array:
    """Riemann or Hurwitz zeta function.

    Parameters
    ----------
    x : Array or number
        The exponent, of a real dtype; integers become float64.
    q : Array or number, optional
        What is added to the numbers whose powers are summed, broadcast against `x`. Without it the function is Riemann's.
    out : Array, optional
        Where the result is stored; of the result's shape, and of a dtype that it can be cast to within the same kind.

    Returns
    -------
    Array
        With `q` the sum of ``1 / (n + q)**x`` over n from 0 on: NaN for ``x < 1``, infinite for ``x == 1`` and where q is 0 or a negative
        integer, NaN for other negative q unless x is an integer. Without `q` Riemann's function of all real x.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number, or complex, or the result cannot be cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.

    Notes
    -----
    Hurwitz: the terms up to ``n + q > 9``, then the formula of Euler and Maclaurin. Riemann: a polynomial below 3, and by reflection below
    0, where errors grow with the size of x. Kernels may call it.

    See Also
    --------
    polygamma, gamma

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.zeta(pp.asarray([2.0, 4.0, -1.0]))
    array([ 1.64493407,  1.08232323, -0.08333333])
    >>> pp.special.zeta(2.0, pp.asarray([1.0, 2.0]))
    array([1.64493407, 0.64493407])
    """
    if q is None:
        one = array(x, "zeta")
        if one.dtype.kind == "c":
            raise TypeError("zeta: complex numbers are not supported")
        return store(_core._riemann_zeta(one), single_out(out, "zeta"), "zeta")
    return store(_core._zeta(x, q), single_out(out, "zeta"), "zeta")


@copying
def polygamma(n: Any, x: Any) -> Array:
    """Polygamma functions.

    Parameters
    ----------
    n : Array or number
        The order of the derivative of digamma: whole numbers, 0 or larger; NaN comes of others.
    x : Array or number
        Of a real dtype, broadcast against `n`; integers become float64.

    Returns
    -------
    Array
        The n-th derivative of the digamma function at x.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number, or complex.
    ValueError
        The shapes do not fit each other.

    Notes
    -----
    ``(-1)**(n + 1) * gamma(n + 1) * zeta(n + 1, x)``; digamma for ``n == 0``.

    See Also
    --------
    digamma, zeta

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.polygamma(1, pp.asarray([1.0, 2.0, 25.5]))
    array([1.64493407, 0.64493407, 0.03999467])
    """
    order, value = arrays([n, x], "polygamma")
    same_queue(order, value, "polygamma")
    up = _core.add(order, 1.0) if order.dtype.kind != "b" else cast(order, "f8") + 1.0
    odd = _core.not_equal(_core.remainder(up, 2.0), 0)
    size = _core.multiply(_core._gamma(up), _core._zeta(up, value))
    others = _core._where(odd, _core.negative(size), size)
    whole = _core.logical_and(_core.equal(up, _core.floor(up)), _core.greater_equal(up, 1))
    return _core._where(_core.equal(order, 0), _core._digamma(value), _core._where(whole, others, float("nan")))
