# python/pardo/_polynomials/algebra.py: the public functions of a family that compute with coefficients alone, and their docstrings.
from __future__ import annotations

from typing import Any

from pardo._core import Array
from pardo._polynomials import coefficients
from pardo._polynomials.families import POLYNOMIAL, Family


def functions(f: Family) -> list[Any]:
    """The functions of a family, by their names without its prefix; {p}, {module} and {title} in docstrings are filled in later."""
    p = f.prefix

    def line(off: Any, scl: Any) -> Array:
        """{title} series whose graph is a straight line: ``off + scl*x``.

        Parameters
        ----------
        off, scl : number
            The value at 0 and the slope.

        Returns
        -------
        Array of shape (2,) or (1,)
            Its coefficients; one alone if `scl` is 0.

        Raises
        ------
        ValueError
            They are arrays with dimensions.

        See Also
        --------
        {p}val, {p}fromroots

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}line(3, 2)
        >>> pp.polynomial.{module}.{p}val(pp.asarray([0.0, 1.0, 2.0]), c)
        array([3., 5., 7.])
        """
        return coefficients.line(f, off, scl, f"{p}line")

    def add(c1: Any, c2: Any) -> Array:
        """Add one {title} series to another.

        Parameters
        ----------
        {two_series}

        Returns
        -------
        Array of shape (n,)
            The coefficients of the sum.

        Raises
        ------
        {series_raises}

        See Also
        --------
        {p}sub, {p}mul, {p}div, {p}pow

        Notes
        -----
        {trimming}

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}add([1, 2, 3], [3, 2, 1])
        array([4., 4., 4.])
        """
        return coefficients.added(c1, c2, f"{p}add")

    def sub(c1: Any, c2: Any) -> Array:
        """Subtract one {title} series from another.

        Parameters
        ----------
        {two_series}

        Returns
        -------
        Array of shape (n,)
            The coefficients of the difference.

        Raises
        ------
        {series_raises}

        See Also
        --------
        {p}add, {p}mul, {p}div, {p}pow

        Notes
        -----
        {trimming}

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}sub([1, 2, 3], [3, 2, 1])
        array([-2.,  0.,  2.])
        """
        return coefficients.added(c1, c2, f"{p}sub", True)

    def mulx(c: Any) -> Array:
        """Multiply a {title} series by x.

        Parameters
        ----------
        {one_series}

        Returns
        -------
        Array of shape (n + 1,)
            The coefficients of the product.

        Raises
        ------
        {series_raises}

        See Also
        --------
        {p}mul

        Notes
        -----
        {trimming}

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}mulx([1, 2])
        >>> pp.polynomial.{module}.{p}val(3.0, c) / pp.polynomial.{module}.{p}val(3.0, [1, 2])
        array(3.)
        """
        return coefficients.times_x(f, c, f"{p}mulx")

    def mul(c1: Any, c2: Any) -> Array:
        """Multiply one {title} series by another.

        Parameters
        ----------
        {two_series}

        Returns
        -------
        Array of shape (n,)
            The coefficients of the product.

        Raises
        ------
        {series_raises}

        See Also
        --------
        {p}add, {p}sub, {p}div, {p}pow

        Notes
        -----
        {trimming} Products of powers and of Chebyshev's polynomials are sums of products in one kernel; of others
        the products of one series with each polynomial of the family are computed, one after the other, by their recurrence.

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}mul([1, 2, 3], [3, 2])
        >>> values = [pp.polynomial.{module}.{p}val(2.0, s) for s in ([1, 2, 3], [3, 2], c)]
        >>> abs(values[0] * values[1] / values[2] - 1) < 1e-12
        array(True)
        """
        return coefficients.multiplied(f, c1, c2, f"{p}mul")

    def div(c1: Any, c2: Any) -> tuple[Array, Array]:
        """Divide one {title} series by another.

        Parameters
        ----------
        {two_series}

        Returns
        -------
        tuple of Array
            The coefficients of the quotient and of the remainder.

        Raises
        ------
        ZeroDivisionError
            All coefficients of `c2` are 0.
        {series_raises}

        See Also
        --------
        {p}add, {p}sub, {p}mul, {p}pow

        Notes
        -----
        {trimming} The quotient is found from its highest coefficient on, a step each.

        Examples
        --------
        >>> import pardo as pp
        >>> product = pp.polynomial.{module}.{p}mul([1, 2, 3], [3, 2])
        >>> quotient, remainder = pp.polynomial.{module}.{p}div(product, [3, 2])
        >>> quotient.round(6), abs(remainder) < 1e-9
        (array([1., 2., 3.]), array([ True]))
        """
        return coefficients.divided(f, c1, c2, f"{p}div")

    def pow(c: Any, pow: Any, maxpower: Any = None if f is POLYNOMIAL else 16) -> Array:
        """Raise a {title} series to a power.

        Parameters
        ----------
        {one_series}
        pow : int
            The power, not negative.
        maxpower : int, optional
            The largest power that is allowed; None for no limit.

        Returns
        -------
        Array of shape (n,)
            The coefficients of the power.

        Raises
        ------
        {series_raises}
            Or the power is negative, no integer, or too large.

        See Also
        --------
        {p}mul, {p}add

        Notes
        -----
        {trimming}

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}pow([1, 2], 3)
        >>> abs(pp.polynomial.{module}.{p}val(2.0, c) / pp.polynomial.{module}.{p}val(2.0, [1, 2]) ** 3 - 1) < 1e-12
        array(True)
        """
        return coefficients.power(f, c, pow, maxpower, f"{p}pow")

    def fromroots(roots: Any) -> Array:
        """Generate a {title} series with given roots.

        Parameters
        ----------
        roots : Array of shape (n,) or sequence of numbers
            The roots, each as often as it is one.

        Returns
        -------
        Array of shape (n + 1,)
            The coefficients of the product of ``x - r`` over all roots.

        Raises
        ------
        {series_raises}

        See Also
        --------
        {p}roots, {p}line

        Notes
        -----
        One factor after the other, in as many steps.

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}fromroots([-1, 0, 1])
        >>> pp.polynomial.{module}.{p}val(pp.asarray([0.0, 2.0]), c)
        array([0., 6.])
        """
        return coefficients.from_roots(f, roots, f"{p}fromroots")

    def trim(c: Any, tol: float = 0) -> Array:
        """Remove "small" "trailing" coefficients from a series.

        Parameters
        ----------
        {one_series}
        tol : number
            Coefficients behind the last one whose magnitude is above this are removed.

        Returns
        -------
        Array of shape (n,)
            What is left; a 0 if that is nothing.

        Raises
        ------
        {series_raises}
            Or `tol` is negative.

        See Also
        --------
        {p}add

        Notes
        -----
        The number of coefficients that are left is waited for.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}trim([0, 0, 3, 0, 5, 0, 0])
        array([0., 0., 3., 0., 5.])
        """
        return coefficients.trim(c, tol, f"{p}trim")

    def companion(c: Any) -> Array:
        """Return the companion matrix of a {title} series.

        Parameters
        ----------
        {one_series}

        Returns
        -------
        Array of shape (n - 1, n - 1)
            A matrix whose eigenvalues are the roots of the series; without its last column it is symmetric, but for series of powers.

        Raises
        ------
        {series_raises}
            Or the degree is 0.

        See Also
        --------
        {p}roots

        Notes
        -----
        {trimming}

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}companion([1, 2, 3]).shape
        (2, 2)
        """
        return coefficients.companion(f, c, f"{p}companion")

    def roots(c: Any) -> Array:
        """Compute the roots of a {title} series.

        Parameters
        ----------
        {one_series}

        Returns
        -------
        Array of shape (n - 1,)
            The roots, ascending; real if all of them are.

        Raises
        ------
        {series_raises}

        See Also
        --------
        {p}fromroots, {p}companion, linalg.eigvals

        Notes
        -----
        Eigenvalues of the companion matrix, where `linalg.eigvals` computes them; whether all are real is waited for.

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}fromroots([-1, 0, 2])
        >>> abs(pp.polynomial.{module}.{p}roots(c) - pp.asarray([-1, 0, 2])).max() < 1e-9
        array(True)
        """
        return coefficients.roots(f, c, f"{p}roots")

    made = [line, add, sub, mulx, mul, div, pow, fromroots, trim, companion, roots]
    return made if f is POLYNOMIAL else [*made, *_conversions(f)]


def _conversions(f: Family) -> list[Any]:
    p = f.prefix

    def poly2(pol: Any) -> Array:
        """Convert a polynomial to a {title} series.

        Parameters
        ----------
        pol : Array of shape (n,) or sequence of numbers
            The coefficients of powers, the lowest first.

        Returns
        -------
        Array of shape (n,)
            The coefficients of the {title} series.

        Raises
        ------
        {series_raises}

        See Also
        --------
        {p}2poly

        Notes
        -----
        {trimming}

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.poly2{p}([1, 2, 3])
        >>> pp.polynomial.{module}.{p}2poly(c).round(6)
        array([1., 2., 3.])
        """
        return coefficients.converted(pol, POLYNOMIAL, f, f"poly2{p}")

    def to_poly(c: Any) -> Array:
        """Convert a {title} series to a polynomial.

        Parameters
        ----------
        {one_series}

        Returns
        -------
        Array of shape (n,)
            The coefficients of powers, the lowest first.

        Raises
        ------
        {series_raises}

        See Also
        --------
        poly2{p}

        Notes
        -----
        {trimming}

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.poly2{p}([1, 2, 3])
        >>> pp.polynomial.{module}.{p}2poly(c).round(6)
        array([1., 2., 3.])
        """
        return coefficients.converted(c, f, POLYNOMIAL, f"{p}2poly")

    return [poly2, to_poly]
