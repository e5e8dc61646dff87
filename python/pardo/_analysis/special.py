# python/pardo/_analysis/special.py: special functions that are made of several of the core's.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.contexts import copying
from pardo._base import promotion
from pardo._base.arguments import array, arrays, flag, index, same_queue, single_out, store, word
from pardo._compiler.intrinsics import device_only
from pardo._core import Array
from pardo._functions.operands import cast, double_of

__all__ = ["comb", "factorial", "polygamma", "sph_harm_y", "zeta"]


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

    See Also
    --------
    polygamma, gamma

    Notes
    -----
    Hurwitz: the terms up to ``n + q > 9``, then the formula of Euler and Maclaurin. Riemann: polynomials, and by reflection below
    -1, where errors grow with the size of x. Kernels may call it.

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
        if one._kind == "c":
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

    See Also
    --------
    digamma, zeta

    Notes
    -----
    ``(-1)**(n + 1) * gamma(n + 1) * zeta(n + 1, x)``; digamma for ``n == 0``.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.polygamma(1, pp.asarray([1.0, 2.0, 25.5]))
    array([1.64493407, 0.64493407, 0.03999467])
    """
    order, value = arrays([n, x], "polygamma")
    same_queue(order, value, "polygamma")
    up = _core.add(order, 1.0) if order._kind != "b" else cast(order, "f8") + 1.0
    odd = _core.not_equal(_core.remainder(up, 2.0), 0)
    size = _core.multiply(_core._gamma(up), _core._zeta(up, value))
    others = _core._where(odd, _core.negative(size), size)
    whole = _core.logical_and(_core.equal(up, _core.floor(up)), _core.greater_equal(up, 1))
    return _core._where(_core.equal(order, 0), _core._digamma(value), _core._where(whole, others, float("nan")))


def _reals(xs: list[Any], op_name: str) -> list[Array]:
    """Arrays on one queue, of real dtypes."""
    made = arrays(xs, op_name)
    for x in made:
        same_queue(made[0], x, op_name)
        if x._kind == "c":
            raise TypeError(f"{op_name}: complex numbers are not supported")
    return made


@copying
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """The number of combinations of N things taken k at a time.

    Parameters
    ----------
    N : Array or number
        The number of things.
    k : Array or number
        How many are taken, broadcast against `N`.
    exact : bool
        Whether the result is a Python integer without rounding; only of Python integers.
    repetition : bool
        Whether a thing may be taken more than once.

    Returns
    -------
    Array or int
        The numbers, of the floating dtype that `binom` gives; 0 where `N` or `k` is negative or `k` is above `N`.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number, or complex; with `exact`, not a Python integer.
    ValueError
        The shapes do not fit each other.

    See Also
    --------
    binom, factorial

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.comb(pp.asarray([10, 4, 2]), 3)
    array([120.,   4.,   0.])
    >>> pp.special.comb(100, 50, exact=True)
    100891344545564193334812497256
    """
    repeated = flag(repetition, "comb: repetition")
    if flag(exact, "comb: exact"):
        things, taken = index(N, "comb: N"), index(k, "comb: k")
        if things < 0 or taken < 0:
            return 0
        return math.comb(things + taken - 1, taken) if repeated and taken else math.comb(things, taken)
    n, m = _reals([N, k], "comb")
    if repeated:
        n = _core.subtract(_core.add(cast(n, double_of(n)), m), 1)
        n = _core._where(_core.equal(m, 0), 0, n)
    possible = _core.logical_and(_core.less_equal(m, n), _core.logical_and(_core.greater_equal(n, 0), _core.greater_equal(m, 0)))
    return _core._where(possible, _core._binom(n, m), 0.0)


@copying
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """The factorial of a number or array of numbers.

    Parameters
    ----------
    n : Array or number
        Of a real dtype, with `extend` also complex; what is not whole gives ``gamma(n + 1)``.
    exact : bool
        Whether the result is a Python integer without rounding; only of a Python integer.
    extend : {'zero', 'complex'}
        What negative numbers give: 0, or ``gamma(n + 1)``, which is NaN where they are whole.

    Returns
    -------
    Array or int
        ``n!``, of the dtype of `n` if that is floating or complex, else of float64.

    Raises
    ------
    TypeError
        `n` is neither an Array nor a number, or complex without ``extend='complex'``; with `exact`, not a Python integer.
    ValueError
        `extend` is something else, or 'complex' together with `exact`.

    See Also
    --------
    gamma, comb

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.factorial(pp.asarray([0, 3, 5]))
    array([  1.,   6., 120.])
    >>> pp.special.factorial(25, exact=True)
    15511210043330985984000000
    """
    gamma_of_all = word(extend, "factorial: extend", ("zero", "complex")) == "complex"
    if flag(exact, "factorial: exact"):
        if gamma_of_all:
            raise ValueError("factorial: Incompatible options: `exact=True` and `extend='complex'`")
        whole = index(n, "factorial: n")
        return math.factorial(whole) if whole >= 0 else 0
    if gamma_of_all:
        x = array(n, "factorial")
        x = x if x._kind == "c" else cast(x, double_of(x))
        return _core._where(_core.equal(x, -1), math.nan, _core._gamma(_core.add(x, 1.0)))
    (x,) = _reals([n], "factorial")
    x = cast(x, double_of(x))
    return _core._where(_core.less(x, 0), 0.0, _core._gamma(_core.add(x, 1.0)))


@copying
def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any) -> Array:
    """Spherical harmonics.

    Parameters
    ----------
    n : Array or number
        The degree, a whole number; NaN comes of others, of negative ones and of those from 10**6 on.
    m : Array or number
        The order, a whole number; 0 comes of those above `n`.
    theta : Array or number
        The polar angle, from 0 to pi.
    phi : Array or number
        The azimuthal angle.

    Returns
    -------
    Array
        The harmonics, of complex64 if all that are arrays of floats have 32 bits at most, else of complex128; all operands are broadcast.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number, or complex.
    ValueError
        The shapes do not fit each other.

    See Also
    --------
    jn, polygamma

    Notes
    -----
    With the phase of Condon and Shortley; the integral of the square of the absolute value over the sphere is 1. Legendre functions by
    steps of the order, then of the degree.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.sph_harm_y(1, pp.asarray([0, 1]), 0.5, 0.25)
    array([ 0.42878904+0.j        , -0.16048941-0.04097967j])
    """
    degree, order, polar, azimuth = _reals([n, m, theta, phi], "sph_harm_y")
    size = _core._sph_legendre(degree, order, polar)
    angle = _core.multiply(order, azimuth)
    dtype = promotion.result_type(size.dtype, angle.dtype, np.float32)
    size, angle = (cast(x, dtype) for x in (size, angle))
    turned = _core.multiply(angle, 1j)
    return _core.multiply(size, _core.exp(turned))
