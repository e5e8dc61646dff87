# python/pardo/_random/curves.py: continuous distributions that are neither shifted nor scaled standard ones, nor made of gamma draws.
from __future__ import annotations

import math
from typing import Any

from numpy.typing import DTypeLike
from pardo._array.contexts import public
from pardo._base.arguments import DeviceLike
from pardo._core import Array, Queue, _where, expm1, minimum, sqrt, tan
from pardo._random import draws, kernels
from pardo._random.arguments import Parameters, negative, not_positive
from pardo._random.distributions import between
from pardo._random.gammas import Gammas


class Curves(Gammas):
    """Draws of distributions by their parameters."""

    @public
    def power(
        self,
        a: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples in [0, 1] from a power distribution with positive exponent a - 1.

        Parameters
        ----------
        a : number or Array
            The exponent of the distribution function; positive.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Numbers of [0, 1].

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        ``(1 - exp(-e)) ** (1 / a)``, where e is what `standard_exponential` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.power(3.0, 3)
        array([0.9846307 , 0.48513209, 0.74105547])
        """
        given = Parameters("power", {"a": a}, size, device, queue, usm_type)
        given.require("a", not_positive, "must be positive")
        e, a = self._drawn(kernels.exponential, given, dtype)
        return given.placed((-expm1(-e)) ** (1 / a))

    @public
    def standard_cauchy(
        self,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a standard Cauchy distribution with mode = 0.

        Parameters
        ----------
        {drawn_by_parameters}

        Returns
        -------
        Array
            The numbers drawn.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        The negative cotangent of ``pi * u``, where u is what `random` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.standard_cauchy(3)
        array([ 6.96317717, -2.66725004, -0.30091116])
        """
        given = Parameters("standard_cauchy", {}, size, device, queue, usm_type)
        u = between(self._drawn(kernels.uniform, given, dtype)[0])
        x = 1 / tan(minimum(u, 1 - u) * math.pi)
        return given.placed(_where(u < 0.5, -x, x))

    @public
    def triangular(
        self,
        left: Any,
        mode: Any,
        right: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from the triangular distribution over the interval ``[left, right]``.

        Parameters
        ----------
        left : number or Array
            The least number.
        mode : number or Array
            The most probable one; not below `left`.
        right : number or Array
            The greatest one; not below `mode`, and above `left`.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Numbers of [left, right].

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        By inversion of the distribution function [1]_ at what `random` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.triangular(0.0, 1.0, 4.0, 3)
        array([3.26187098, 0.67580282, 1.33232776])
        """
        given = Parameters("triangular", {"left": left, "mode": mode, "right": right}, size, device, queue, usm_type)
        least, most_probable, greatest = given.known()
        given.refuse(least > most_probable, "left is greater than mode; the order is left, mode, right")
        given.refuse(most_probable > greatest, "mode is greater than right; the order is left, mode, right")
        given.refuse(least == greatest, "left is equal to right; there is no interval")
        u, left, mode, right = self._drawn(kernels.uniform, given, dtype)
        width = right - left
        low, high = (mode - left) * width, (right - mode) * width
        return given.placed(_where(u * width <= mode - left, sqrt(u * low) + left, right - sqrt((1 - u) * high)))

    @public
    def vonmises(
        self,
        mu: Any,
        kappa: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a von Mises distribution.

        Parameters
        ----------
        mu : number or Array
            The mode, in radians.
        kappa : number or Array
            The concentration; not negative. With 0 all angles are equally likely.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Angles of [-pi, pi].

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        By rejection from a wrapped Cauchy distribution [1]_, with half-angles, so that large `kappa` lose no bits.

        References
        ----------
        .. [1] D. J. Best, N. I. Fisher, "Efficient simulation of the von Mises distribution", Applied Statistics 28, 1979.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.vonmises(0.0, 4.0, 3)
        array([-0.17232159,  0.36680116,  0.00476227])
        """
        given = Parameters("vonmises", {"mu": mu, "kappa": kappa}, size, device, queue, usm_type)
        given.require("kappa", negative, "must not be negative")
        return given.placed(self._continuous(draws.vonmises, given, dtype))

    @public
    def wald(
        self,
        mean: Any,
        scale: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Wald, or inverse Gaussian, distribution.

        Parameters
        ----------
        mean : number or Array
            The mean; positive.
        scale : number or Array
            The scale; positive.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Positive numbers.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        By a transformation with two roots [1]_, of which the smaller one is computed without a difference.

        References
        ----------
        .. [1] J. R. Michael, W. R. Schucany, R. W. Haas, "Generating random variates using transformations with multiple roots",
           The American Statistician 30, 1976.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.wald(3.0, 2.0, 3)
        array([ 2.26641214,  6.39358626, 10.9463949 ])
        """
        given = Parameters("wald", {"mean": mean, "scale": scale}, size, device, queue, usm_type)
        given.require("mean", not_positive, "must be positive")
        given.require("scale", not_positive, "must be positive")
        return given.placed(self._continuous(draws.wald, given, dtype))
