# python/pardo/_polynomials/analysis.py: the public functions of a family that have to do with values at points, and their docstrings.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pardo._core import Array
from pardo._polynomials import calculus, values
from pardo._polynomials.families import Family


def functions(f: Family) -> list[Any]:
    """The functions of a family, by their names without its prefix; {p}, {module} and {title} in docstrings are filled in later."""
    p = f.prefix

    def val(x: Any, c: Any, tensor: bool = True) -> Array:
        """Evaluate a {title} series at points x.

        Parameters
        ----------
        x : Array or number
            The points. Lists and NumPy arrays are taken too.
        c : Array of shape (n, ...) or sequence of numbers
            The coefficients along the first axis; others are of different series.
        tensor : bool
            Whether each series is evaluated at each point; otherwise points are broadcast with the series.

        Returns
        -------
        Array
            Of shape ``c.shape[1:] + x.shape``, or of that which these broadcast to.

        Raises
        ------
        TypeError
            Coefficients or points are not numbers.
        IndexError
            There are no coefficients.
        ValueError
            Shapes cannot be broadcast.

        See Also
        --------
        {p}val2d, {p}grid2d, {p}vander

        Notes
        -----
        Clenshaw's algorithm: all steps are one kernel.

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}line(1, 2)
        >>> pp.polynomial.{module}.{p}val(pp.asarray([0.0, 1.5]), c)
        array([1., 4.])
        """
        return values.values(f, x, c, tensor, f"{p}val")

    def val2d(x: Any, y: Any, c: Any) -> Array:
        """Evaluate a two-dimensional {title} series at points (x, y).

        Parameters
        ----------
        x, y : Array
            The points, of one shape. Lists and NumPy arrays are taken too.
        c : Array of shape (n, m, ...)
            The coefficient of P_i(x) P_j(y) at ``[i, j]``; further axes are of different series.

        Returns
        -------
        Array
            Of shape ``c.shape[2:] + x.shape``.

        Raises
        ------
        TypeError
            Coefficients or points are not numbers.
        ValueError
            `x` and `y` have different shapes.

        See Also
        --------
        {p}val, {p}grid2d, {p}val3d

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}val2d([1.0, 2.0], [3.0, 4.0], [[5.0]])
        array([5., 5.])
        """
        return values.values_at(f, c, [x, y], f"{p}val2d")

    def val3d(x: Any, y: Any, z: Any, c: Any) -> Array:
        """Evaluate a three-dimensional {title} series at points (x, y, z).

        Parameters
        ----------
        x, y, z : Array
            The points, of one shape. Lists and NumPy arrays are taken too.
        c : Array of shape (n, m, l, ...)
            The coefficient of P_i(x) P_j(y) P_k(z) at ``[i, j, k]``; further axes are of different series.

        Returns
        -------
        Array
            Of shape ``c.shape[3:] + x.shape``.

        Raises
        ------
        TypeError
            Coefficients or points are not numbers.
        ValueError
            `x`, `y` and `z` have different shapes.

        See Also
        --------
        {p}val, {p}grid3d, {p}val2d

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}val3d([1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [[[7.0]]])
        array([7., 7.])
        """
        return values.values_at(f, c, [x, y, z], f"{p}val3d")

    def valnd(pts: Any, c: Any) -> Array:
        """Evaluate a {title} series of any number of dimensions at points.

        Parameters
        ----------
        pts : sequence of Array, or Array of shape (n, ...)
            The coordinates of the points, all of one shape.
        c : Array
            The coefficient of P_i(pts[0]) P_j(pts[1]) ... at ``[i, j, ...]``; further axes are of different series.

        Returns
        -------
        Array
            Of shape ``c.shape[len(pts):] + pts[0].shape``.

        Raises
        ------
        TypeError
            Coefficients or points are not numbers, or `pts` is no sequence.
        ValueError
            The coordinates have different shapes, or there are none.

        See Also
        --------
        {p}val, {p}val2d, {p}val3d

        Notes
        -----
        As in NumPy 2.5.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}valnd([[1.0, 2.0], [3.0, 4.0]], [[5.0]])
        array([5., 5.])
        """
        return values.values_at(f, c, values.coordinates(pts, f"{p}valnd"), f"{p}valnd")

    def grid2d(x: Any, y: Any, c: Any) -> Array:
        """Evaluate a two-dimensional {title} series on the Cartesian product of x and y.

        Parameters
        ----------
        x, y : Array
            Points along both axes. Lists and NumPy arrays are taken too.
        c : Array of shape (n, m, ...)
            The coefficient of P_i(x) P_j(y) at ``[i, j]``; further axes are of different series.

        Returns
        -------
        Array
            Of shape ``c.shape[2:] + x.shape + y.shape``.

        Raises
        ------
        TypeError
            Coefficients or points are not numbers.

        See Also
        --------
        {p}val2d, {p}grid3d

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}grid2d([1.0, 2.0], [3.0, 4.0, 5.0], [[6.0]])
        array([[6., 6., 6.],
               [6., 6., 6.]])
        """
        return values.values_on_grid(f, c, [x, y], f"{p}grid2d")

    def grid3d(x: Any, y: Any, z: Any, c: Any) -> Array:
        """Evaluate a three-dimensional {title} series on the Cartesian product of x, y and z.

        Parameters
        ----------
        x, y, z : Array
            Points along the axes. Lists and NumPy arrays are taken too.
        c : Array of shape (n, m, l, ...)
            The coefficient of P_i(x) P_j(y) P_k(z) at ``[i, j, k]``; further axes are of different series.

        Returns
        -------
        Array
            Of shape ``c.shape[3:] + x.shape + y.shape + z.shape``.

        Raises
        ------
        TypeError
            Coefficients or points are not numbers.

        See Also
        --------
        {p}val3d, {p}grid2d

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}grid3d([1.0, 2.0], [3.0], [4.0], [[[5.0]]])
        array([[[5.]],
        <BLANKLINE>
               [[5.]]])
        """
        return values.values_on_grid(f, c, [x, y, z], f"{p}grid3d")

    def vander(x: Any, deg: Any) -> Array:
        """Pseudo-Vandermonde matrix of given degree: the values of all polynomials of the family.

        Parameters
        ----------
        x : Array or sequence of numbers
            The points.
        deg : int
            The highest degree.

        Returns
        -------
        Array of shape (..., deg + 1)
            P_k(x) at ``[..., k]``.

        Raises
        ------
        TypeError
            Points are not numbers, or `deg` is not an integer.
        ValueError
            `deg` is negative.

        See Also
        --------
        {p}val, {p}vander2d, {p}fit

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}vander(pp.asarray([2.0, 3.0]), 0)
        array([[1.],
               [1.]])
        """
        return values.vandermonde(f, x, deg, f"{p}vander")

    def vander2d(x: Any, y: Any, deg: Sequence[int]) -> Array:
        """Pseudo-Vandermonde matrix of given degrees in two variables.

        Parameters
        ----------
        x, y : Array
            The points, of one shape. Lists and NumPy arrays are taken too.
        deg : sequence of int
            The highest degrees in `x` and `y`.

        Returns
        -------
        Array of shape (..., n)
            All products P_i(x) P_j(y), at ``[..., (deg[1] + 1) * i + j]``.

        Raises
        ------
        TypeError
            Points are not numbers, or degrees are not integers.
        ValueError
            A degree is negative, there are not two of them, or `x` and `y` have different shapes.

        See Also
        --------
        {p}vander, {p}val2d

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}vander2d([2.0, 3.0], [4.0, 5.0], [1, 2]).shape
        (2, 6)
        """
        return values.vandermonde_at(f, [x, y], deg, f"{p}vander2d")

    def vander3d(x: Any, y: Any, z: Any, deg: Sequence[int]) -> Array:
        """Pseudo-Vandermonde matrix of given degrees in three variables.

        Parameters
        ----------
        x, y, z : Array
            The points, of one shape. Lists and NumPy arrays are taken too.
        deg : sequence of int
            The highest degrees in `x`, `y` and `z`.

        Returns
        -------
        Array of shape (..., n)
            All products P_i(x) P_j(y) P_k(z), those of the last degree next to each other.

        Raises
        ------
        TypeError
            Points are not numbers, or degrees are not integers.
        ValueError
            A degree is negative, there are not three of them, or the points have different shapes.

        See Also
        --------
        {p}vander, {p}val3d

        Examples
        --------
        >>> import pardo as pp
        >>> pp.polynomial.{module}.{p}vander3d([2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [1, 2, 1]).shape
        (2, 12)
        """
        return values.vandermonde_at(f, [x, y, z], deg, f"{p}vander3d")

    def der(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Array:
        """Differentiate a {title} series.

        Parameters
        ----------
        c : Array or sequence of numbers
            The coefficients, the lowest degree first.
        m : int
            How often.
        scl : number
            Each derivative is multiplied by this: the factor of a linear change of variable.
        axis : int
            The axis of the coefficients.

        Returns
        -------
        Array
            The coefficients of the derivative.

        Raises
        ------
        AxisError
            There is no such axis; a ValueError and an IndexError.
        TypeError
            Coefficients are not numbers, or `m` or `axis` is not an integer.
        ValueError
            `m` is negative.

        See Also
        --------
        {p}int

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}line(1, 2)
        >>> pp.polynomial.{module}.{p}der(c)
        array([2.])
        """
        return calculus.derivative(f, c, m, scl, axis, f"{p}der")

    def int_(c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Array:
        """Integrate a {title} series.

        Parameters
        ----------
        c : Array or sequence of numbers
            The coefficients, the lowest degree first.
        m : int
            How often.
        k : number or sequence of numbers
            The constants of integration, the first for the first integral. Default: zeros.
        lbnd : number
            Where the integrals have the value of their constants.
        scl : number
            The series is multiplied by this before each integral: the factor of a linear change of variable.
        axis : int
            The axis of the coefficients.

        Returns
        -------
        Array
            The coefficients of the integral.

        Raises
        ------
        AxisError
            There is no such axis; a ValueError and an IndexError.
        TypeError
            Coefficients are not numbers, or `m` or `axis` is not an integer.
        ValueError
            `m` is negative, there are more constants than integrals, or `lbnd` or `scl` is not a number.

        See Also
        --------
        {p}der

        Notes
        -----
        Of a series of degree 0 it is waited for whether it is 0, whose integral has degree 0 too.

        Examples
        --------
        >>> import pardo as pp
        >>> c = pp.polynomial.{module}.{p}int([1.0, 2.0, 3.0], k=1)
        >>> pp.polynomial.{module}.{p}der(c).round(6)
        array([1., 2., 3.])
        """
        return calculus.integral(f, c, m, k, lbnd, scl, axis, f"{p}int")

    def fit(x: Any, y: Any, deg: Any, rcond: float | None = None, full: bool = False, w: Any = None) -> Any:
        """Least squares fit of {title} series to data.

        Parameters
        ----------
        x : Array of shape (M,)
            Where the points lie. Lists and NumPy arrays are taken too.
        y : Array of shape (M,) or (M, K)
            Their values; of K fits at once.
        deg : int or sequence of int
            The highest degree, or all degrees that take part.
        rcond : float, optional
            Singular values below this share of the largest one count as zero. Default: M times the precision of the dtype.
        full : bool
            Whether diagnostics are returned.
        w : Array of shape (M,), optional
            A weight for each point.

        Returns
        -------
        Array of shape (n,) or (n, K), or tuple
            The coefficients. With `full` a tuple of these and a list: the sums of squared residuals, the rank, the singular values, and
            `rcond`.

        Raises
        ------
        TypeError
            The dimensions or lengths do not fit, there are no points, or `deg` is not of integers.
        ValueError
            A degree is negative.

        See Also
        --------
        {p}val, {p}vander, linalg.lstsq

        Notes
        -----
        The matrix of `{p}vander`, its columns scaled to length 1, and `linalg.lstsq`, on the device of the points. Without `full` the rank
        is waited for, and if it is less than the number of coefficients, a RankWarning says so.

        Examples
        --------
        >>> import pardo as pp
        >>> x = pp.linspace(-1, 1, 21)
        >>> c = pp.polynomial.{module}.{p}fit(x, 3 + 2 * x, 1)
        >>> pp.polynomial.{module}.{p}val(pp.asarray([0.0, 2.0]), c).round(6)
        array([3., 7.])
        """
        return values.fit(f, x, y, deg, rcond, full, w, f"{p}fit")

    return [val, val2d, val3d, valnd, grid2d, grid3d, vander, vander2d, vander3d, der, int_, fit]
