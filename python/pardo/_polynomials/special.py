# python/pardo/_polynomials/special.py: the public functions that only some families have, and their docstrings.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pardo._core import Array
from pardo._polynomials import values
from pardo._polynomials.families import CHEBYSHEV, POLYNOMIAL, Family


def functions(f: Family) -> list[Any]:
    """The functions of a family, by their names without its prefix; {p}, {module} and {title} in docstrings are filled in later."""
    return (_of_powers(f) if f is POLYNOMIAL else _of_weights(f)) + (_of_chebyshev(f) if f is CHEBYSHEV else [])


def _of_powers(f: Family) -> list[Any]:
    p = f.prefix

    def valfromroots(x: Any, r: Any, tensor: bool = True) -> Array:
        """Evaluate a polynomial specified by its roots at points x.

        Parameters
        ----------
        x : Array or number
            The points. Lists and NumPy arrays are taken too.
        r : Array of shape (n, ...) or sequence of numbers
            The roots along the first axis; others are of different polynomials.
        tensor : bool
            Whether each polynomial is evaluated at each point; otherwise points are broadcast with the polynomials.

        Returns
        -------
        Array
            Of shape ``r.shape[1:] + x.shape``, or of that which these broadcast to.

        Raises
        ------
        TypeError
            Roots or points are not numbers.
        ValueError
            `x` has as many dimensions as `r`, and `tensor` is false.

        See Also
        --------
        polyroots, polyfromroots, polyval

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.polynomial.polyvalfromroots(pp.asarray([0.0, 3.0]), [1, 2])
        array([2., 2.])
        """
        return values.values_from_roots(x, r, tensor, f"{p}valfromroots")

    return [valfromroots]


def _of_weights(f: Family) -> list[Any]:
    p = f.prefix

    def gauss(deg: int) -> tuple[Array, Array]:
        """Gauss-{title} quadrature: points and weights.

        Parameters
        ----------
        deg : int
            The number of points.

        Returns
        -------
        tuple of Array of shape (deg,)
            The points and the weights, on the default device.

        Raises
        ------
        TypeError
            `deg` is not an integer.
        ValueError
            `deg` is not positive.

        See Also
        --------
        {p}weight

        Notes
        -----
        NumPy computes them on the host; the copies are counted (`transfer_guard`, `counters`).

        Examples
        --------
        >>> import pardo as pp
        >>> x, w = pp.polynomial.{module}.{p}gauss(3)
        >>> x.shape, w.shape
        ((3,), (3,))
        """
        return values.gauss(f, deg, f"{p}gauss")

    def weight(x: Any) -> Array:
        """Weight function of the {title} polynomials.

        Parameters
        ----------
        x : Array or number
            The points. Lists and NumPy arrays are taken too.

        Returns
        -------
        Array
            Of the shape of `x`.

        Raises
        ------
        TypeError
            Points are not numbers.

        See Also
        --------
        {p}gauss

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}weight(pp.asarray([0.0]))
        array([1.])
        """
        return values.weight(f, x, f"{p}weight")

    return [gauss, weight]


def _of_chebyshev(f: Family) -> list[Any]:
    p = f.prefix

    def interpolate(func: Any, deg: int, args: Sequence[Any] = ()) -> Array:
        """Interpolate a function at the Chebyshev points of the first kind.

        Parameters
        ----------
        func : callable
            Gets an Array of points, and `args`.
        deg : int
            The degree of the series.
        args : sequence
            Further arguments of `func`.

        Returns
        -------
        Array of shape (deg + 1, ...)
            The coefficients.

        Raises
        ------
        TypeError
            `deg` is not an integer.
        ValueError
            `deg` is negative.

        See Also
        --------
        chebpts1, chebfit

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.chebyshev.chebinterpolate(lambda x: 1 + 2 * x, 1).round(6)
        array([1., 2.])
        """
        return values.interpolated(f, func, deg, args, f"{p}interpolate")

    def pts1(npts: int) -> Array:
        """Chebyshev points of the first kind.

        Parameters
        ----------
        npts : int
            How many.

        Returns
        -------
        Array of shape (npts,)
            The roots of T_npts, ascending, on the default device.

        Raises
        ------
        ValueError
            `npts` is less than 1, or no integer.

        See Also
        --------
        chebpts2, chebinterpolate

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.chebyshev.chebpts1(2).round(4)
        array([-0.7071,  0.7071])
        """
        return values.points(npts, 1, f"{p}pts1")

    def pts2(npts: int) -> Array:
        """Chebyshev points of the second kind.

        Parameters
        ----------
        npts : int
            How many.

        Returns
        -------
        Array of shape (npts,)
            Where T_(npts - 1) has its extrema, ascending, on the default device.

        Raises
        ------
        ValueError
            `npts` is less than 2, or no integer.

        See Also
        --------
        chebpts1

        Examples
        --------
        >>> import pardo as pp
        >>> abs(pp.polynomial.chebyshev.chebpts2(3) - pp.asarray([-1, 0, 1])).max() < 1e-15
        array(True)
        """
        return values.points(npts, 2, f"{p}pts2")

    return [interpolate, pts1, pts2]
