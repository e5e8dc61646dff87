# python/pardo/_random/distributions.py: distributions with parameters: array expressions on the standard ones.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.contexts import public
from pardo._base.arguments import DeviceLike
from pardo._core import Array, Queue, _where, exp, expm1, log, maximum, sqrt
from pardo._random import kernels
from pardo._random.arguments import Parameters, floating, negative, not_positive
from pardo._random.stream import Stream


def located(z: Array, loc: Any, scale: Any) -> Array:
    """z * scale + loc, without the operations that change nothing."""
    if type(scale) is Array or scale != 1:
        z = z * scale
    return z + loc if type(loc) is Array or loc != 0 else z


def between(u: Array) -> Array:
    """Numbers of (0, 1) for those of [0, 1): the middle of what 0 stands for."""
    return maximum(u, 2.0**-54 if u.dtype.itemsize == 8 else 2.0**-25)


class Distributions(Stream):
    """Draws of distributions by their parameters."""

    def _drawn(self, draw: Callable[..., Any], given: Parameters, dtype: DTypeLike | None) -> tuple[Any, ...]:
        """Standard draws, and the parameters for them."""
        wanted = floating(dtype, given.queue, given.op_name)
        values = given.of(wanted)
        return (given.watch(self._fill(draw, given.empty(wanted))), *values)

    @public
    def uniform(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a uniform distribution.

        Parameters
        ----------
        low, high : number or Array, optional
            The bounds of the interval; `high` does not belong to it, but rounding may give it.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Numbers of [low, high).

        Raises
        ------
        {drawn_raises}
        OverflowError
            ``high - low`` is infinite or nan.

        Notes
        -----
        ``low + (high - low) * u``, where u is what `random` draws.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.uniform(-1.0, 1.0, 3)
        array([ 0.90919426, -0.77164528, -0.18607919])
        """
        given = Parameters("uniform", {"low": low, "high": high}, size, device, queue, usm_type)
        low, high = given.of(floating(dtype, given.queue, given.op_name))
        width = high - low
        ends = [x if isinstance(x, (Array, np.ndarray)) else float(x) for x in given.known()]
        with np.errstate(over="ignore", invalid="ignore"):
            distance = ends[1] - ends[0]
        given.refuse(~np.isfinite(distance), "high - low is not a finite number; draw from a smaller interval", overflow=True)
        given.refuse(distance < 0, "high is less than low; exchange them")
        return given.placed(located(self._drawn(kernels.uniform, given, dtype)[0], low, width))

    @public
    def normal(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw random samples from a normal (Gaussian) distribution.

        Parameters
        ----------
        loc : number or Array, optional
            The mean.
        scale : number or Array, optional
            The standard deviation; not negative.
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
        ``loc + scale * z``, where z is what `standard_normal` draws.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.normal(10.0, 2.0, 3)
        array([13.74775941, 13.26982244, 10.96463204])
        """
        given = Parameters("normal", {"loc": loc, "scale": scale}, size, device, queue, usm_type)
        given.require("scale", negative, "must not be negative")
        z, loc, scale = self._drawn(kernels.normal, given, dtype)
        return given.placed(located(z, loc, scale))

    @public
    def lognormal(
        self,
        mean: Any = 0.0,
        sigma: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a log-normal distribution.

        Parameters
        ----------
        mean : number or Array, optional
            The mean of the logarithm.
        sigma : number or Array, optional
            The standard deviation of the logarithm; not negative.
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
        ``exp(mean + sigma * z)``, where z is what `standard_normal` draws.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.lognormal(0.0, 0.5, 3)
        array([2.55215947, 2.26473015, 1.27272212])
        """
        given = Parameters("lognormal", {"mean": mean, "sigma": sigma}, size, device, queue, usm_type)
        given.require("sigma", negative, "must not be negative")
        z, mean, sigma = self._drawn(kernels.normal, given, dtype)
        return given.placed(exp(located(z, mean, sigma)))

    @public
    def exponential(
        self,
        scale: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from an exponential distribution.

        Parameters
        ----------
        scale : number or Array, optional
            The mean; not negative.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Numbers from 0 on.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        ``scale * e``, where e is what `standard_exponential` draws.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.exponential(2.0, 3)
        array([6.18435986, 0.24247706, 1.04498822])
        """
        given = Parameters("exponential", {"scale": scale}, size, device, queue, usm_type)
        given.require("scale", negative, "must not be negative")
        e, scale = self._drawn(kernels.exponential, given, dtype)
        return given.placed(located(e, 0.0, scale))

    @public
    def laplace(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from the Laplace or double exponential distribution with specified location and scale.

        Parameters
        ----------
        loc : number or Array, optional
            The mean.
        scale : number or Array, optional
            The mean distance from it; not negative.
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
        ``log(2 u)`` below 1/2 and ``-log(2 - 2 u)`` from there on, where u is what `random` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.laplace(0.0, 1.0, 3)
        array([ 2.39903275, -1.47685505, -0.20589221])
        """
        given = Parameters("laplace", {"loc": loc, "scale": scale}, size, device, queue, usm_type)
        given.require("scale", negative, "must not be negative")
        u, loc, scale = self._drawn(kernels.uniform, given, dtype)
        u = between(u)
        return given.placed(located(_where(u < 0.5, log(u + u), -log(2 - u - u)), loc, scale))

    @public
    def logistic(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a logistic distribution.

        Parameters
        ----------
        loc : number or Array, optional
            The mean.
        scale : number or Array, optional
            The width; not negative.
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
        ``loc + scale * log(u / (1 - u))``, where u is what `random` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.logistic(0.0, 1.0, 3)
        array([ 3.04571405, -2.0487637 , -0.37654528])
        """
        given = Parameters("logistic", {"loc": loc, "scale": scale}, size, device, queue, usm_type)
        given.require("scale", negative, "must not be negative")
        u, loc, scale = self._drawn(kernels.uniform, given, dtype)
        u = between(u)
        return given.placed(located(log(u / (1 - u)), loc, scale))

    @public
    def gumbel(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Gumbel distribution.

        Parameters
        ----------
        loc : number or Array, optional
            The mode.
        scale : number or Array, optional
            The width; not negative.
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
        ``loc - scale * log(e)``, where e is what `standard_exponential` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.gumbel(0.0, 1.0, 3)
        array([-1.12887632,  2.10999534,  0.64914157])
        """
        given = Parameters("gumbel", {"loc": loc, "scale": scale}, size, device, queue, usm_type)
        given.require("scale", negative, "must not be negative")
        e, loc, scale = self._drawn(kernels.exponential, given, dtype)
        return given.placed(located(-log(between(e)), loc, scale))

    @public
    def rayleigh(
        self,
        scale: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Rayleigh distribution: lengths of vectors of two normally distributed numbers.

        Parameters
        ----------
        scale : number or Array, optional
            The standard deviation of these two; not negative.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Numbers from 0 on.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        ``scale * sqrt(2 e)``, where e is what `standard_exponential` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.rayleigh(1.0, 3)
        array([2.48683732, 0.4924196 , 1.02224665])
        """
        given = Parameters("rayleigh", {"scale": scale}, size, device, queue, usm_type)
        given.require("scale", negative, "must not be negative")
        e, scale = self._drawn(kernels.exponential, given, dtype)
        return given.placed(located(sqrt(e * 2), 0.0, scale))

    @public
    def weibull(
        self,
        a: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Weibull distribution of scale 1.

        Parameters
        ----------
        a : number or Array
            The shape parameter; not negative. With 0 all numbers are 0.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Numbers from 0 on.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        ``e ** (1 / a)``, where e is what `standard_exponential` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.weibull(1.5, 3)
        array([2.12247787, 0.24495921, 0.64871549])
        """
        given = Parameters("weibull", {"a": a}, size, device, queue, usm_type)
        given.require("a", negative, "must not be negative")
        e, a = self._drawn(kernels.exponential, given, dtype)
        if type(a) is Array:
            return given.placed(_where(a == 0, 0, e ** (1 / a)))
        return given.placed(e ** (1 / a) if a else e * 0)

    @public
    def pareto(
        self,
        a: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Pareto II (Lomax) distribution with specified shape: the classical one minus 1.

        Parameters
        ----------
        a : number or Array
            The shape parameter; positive.
        {drawn_by_parameters}

        Returns
        -------
        Array
            Numbers from 0 on.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        ``exp(e / a) - 1``, where e is what `standard_exponential` draws.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter II.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.pareto(3.0, 3)
        array([1.80310195, 0.04124056, 0.19025159])
        """
        given = Parameters("pareto", {"a": a}, size, device, queue, usm_type)
        given.require("a", not_positive, "must be positive")
        e, a = self._drawn(kernels.exponential, given, dtype)
        return given.placed(expm1(e / a))
