# python/pardo/_random/discrete.py: distributions of counts: each element by attempts of its own.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo._array.contexts import public
from pardo._base.arguments import DeviceLike
from pardo._core import Array, Queue
from pardo._random import counts
from pardo._random.arguments import Parameters, negative, no_positive_number, outside
from pardo._random.curves import Curves

MOST = 2.0**63
MOST_EVENTS = float(2**63 - 1 - 10 * 3037000500)  # ten standard deviations more are below 2**63
MOST_IN_URN = 10**9  # NumPy's limit


class Discrete(Curves):
    """Draws of integers by the parameters of distributions."""

    @public
    def binomial(
        self,
        n: Any,
        p: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a binomial distribution.

        Parameters
        ----------
        n : int or Array of int
            How often is tried; not negative.
        p : number or Array
            The probability of a success; of [0, 1].
        {counted_by_parameters}

        Returns
        -------
        Array of int64
            How many successes there are.

        Raises
        ------
        {counted_raises}

        Notes
        -----
        Of ``min(p, 1 - p)``: by search where the mean is below 10, otherwise by transformed rejection (BTRS) [1]_.

        References
        ----------
        .. [1] W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation and Simulation 46, 1993.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.binomial(10, 0.5, 5)
        array([8, 5, 1, 5, 4])
        """
        given = Parameters("binomial", {"n": n, "p": p}, size, device, queue, usm_type, integral=("n",))
        given.require("n", negative, "must not be negative")
        given.require("p", outside, "must be from 0 to 1")
        return self._counts(counts.binomial, given)

    @public
    def negative_binomial(
        self,
        n: Any,
        p: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a negative binomial distribution.

        Parameters
        ----------
        n : number or Array
            How many successes end the trials; positive. It need not be an integer.
        p : number or Array
            The probability of a success; of (0, 1].
        {counted_by_parameters}

        Returns
        -------
        Array of int64
            How many failures there are.

        Raises
        ------
        {counted_raises}

        Notes
        -----
        What `poisson` draws for a mean that `gamma` draws, of shape `n` and scale ``(1 - p) / p`` [1]_.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter X.4.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.negative_binomial(3, 0.3, 5)
        array([14, 10, 11, 13,  4])
        """
        given = Parameters("negative_binomial", {"n": n, "p": p}, size, device, queue, usm_type)
        given.require("n", no_positive_number, "must be positive")
        given.require("p", lambda p: outside(p) | (p == 0), "must be from above 0 to 1")
        n, p = (x if isinstance(x, (Array, np.ndarray)) else np.float64(x) for x in given.known())
        given.refuse((1 - p) * (n + 10 * np.sqrt(n)) > MOST * p, "n is too large or p too small; the mean must be below 2**63")
        return self._counts(counts.negative_binomial, given)

    @public
    def poisson(
        self,
        lam: Any = 1.0,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Poisson distribution.

        Parameters
        ----------
        lam : number or Array, optional
            The mean; not negative.
        {counted_by_parameters}

        Returns
        -------
        Array of int64
            How many events there are.

        Raises
        ------
        {counted_raises}

        Notes
        -----
        By search where the mean is below 10, otherwise by transformed rejection with squeeze (PTRS) [1]_.

        References
        ----------
        .. [1] W. Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance: Mathematics and
           Economics 12, 1993.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.poisson(4.0, 5)
        array([8, 3, 0, 3, 3])
        """
        given = Parameters("poisson", {"lam": lam}, size, device, queue, usm_type)
        given.require("lam", lambda lam: (lam < 0) | (lam != lam), "must not be negative or nan")
        given.require("lam", lambda lam: lam > MOST_EVENTS, "is too large; counts must be below 2**63")
        return self._counts(counts.poisson, given)

    @public
    def geometric(
        self,
        p: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from the geometric distribution.

        Parameters
        ----------
        p : number or Array
            The probability of a success; of (0, 1].
        {counted_by_parameters}

        Returns
        -------
        Array of int64
            How many trials there are up to the first success, at most ``2**63 - 1``.

        Raises
        ------
        {counted_raises}

        Notes
        -----
        ``ceil(log(u) / log(1 - p))`` [1]_.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter X.2: by inversion of the distribution function.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.geometric(0.3, 5)
        array([ 1,  3, 15,  3,  4])
        """
        given = Parameters("geometric", {"p": p}, size, device, queue, usm_type)
        given.require("p", lambda p: outside(p) | (p == 0), "must be from above 0 to 1")
        return self._counts(counts.geometric, given)

    @public
    def logseries(
        self,
        p: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a logarithmic series distribution.

        Parameters
        ----------
        p : number or Array
            The parameter; of [0, 1).
        {counted_by_parameters}

        Returns
        -------
        Array of int64
            Positive integers, at most ``2**63 - 1``.

        Raises
        ------
        {counted_raises}

        Notes
        -----
        By Kemp's algorithm LK [1]_.

        References
        ----------
        .. [1] A. W. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables", Applied Statistics 30, 1981.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.logseries(0.7, 5)
        array([ 1,  1, 11,  1,  3])
        """
        given = Parameters("logseries", {"p": p}, size, device, queue, usm_type)
        given.require("p", lambda p: outside(p) | (p == 1), "must be from 0 to below 1")
        return self._counts(counts.logseries, given)

    @public
    def zipf(
        self,
        a: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Zipf distribution.

        Parameters
        ----------
        a : number or Array
            The exponent; above 1.
        {counted_by_parameters}

        Returns
        -------
        Array of int64
            Positive integers. Those that an int64 does not hold are not drawn.

        Raises
        ------
        {counted_raises}

        Notes
        -----
        By rejection [1]_.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter X.6.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.zipf(2.0, 5)
        array([22,  1,  1,  1,  1])
        """
        given = Parameters("zipf", {"a": a}, size, device, queue, usm_type)
        given.require("a", lambda a: (a <= 1) | (a != a), "must be above 1")
        return self._counts(counts.zipf, given)

    @public
    def hypergeometric(
        self,
        ngood: Any,
        nbad: Any,
        nsample: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Hypergeometric distribution.

        Parameters
        ----------
        ngood : int or Array of int
            How many good ones there are; not negative, and below 10**9.
        nbad : int or Array of int
            How many bad ones there are; not negative, and below 10**9.
        nsample : int or Array of int
            How many are drawn; from 0 to ``ngood + nbad``.
        {counted_by_parameters}

        Returns
        -------
        Array of int64
            How many good ones are among those that are drawn.

        Raises
        ------
        {counted_raises}

        Notes
        -----
        One by one where at most 10 are drawn or left; by search from the mode on where the variance is small; otherwise by a ratio of
        uniforms (HRUA) [1]_.

        References
        ----------
        .. [1] E. Stadlober, "The ratio of uniforms approach for generating discrete random variates", Journal of Computational and Applied
           Mathematics 31, 1990.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.hypergeometric(7, 5, 6, 5)
        array([4, 2, 3, 2, 3])
        """
        names = ("ngood", "nbad", "nsample")
        given = Parameters(
            "hypergeometric", {"ngood": ngood, "nbad": nbad, "nsample": nsample}, size, device, queue, usm_type, integral=names
        )
        for name in names:
            given.require(name, negative, "must not be negative")
        for name in names[:2]:
            given.require(name, lambda n: n >= MOST_IN_URN, "must be below 10**9")
        good, bad, sample = given.known()
        given.refuse(good + bad < sample, "nsample is greater than ngood + nbad; draw fewer")
        return self._counts(counts.hypergeometric, given)
