# python/pardo/_random/gammas.py: distributions that gamma draws make: each element by attempts of its own.
from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike
from pardo._array.contexts import public
from pardo._base.arguments import DeviceLike
from pardo._core import Array, Queue
from pardo._random import counts, draws
from pardo._random.arguments import Parameters, negative, not_positive
from pardo._random.distributions import Distributions


class Gammas(Distributions):
    """Draws of the gamma distribution and of what is made of it."""

    @public
    def standard_gamma(
        self,
        shape: Any,
        size: Any = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a standard Gamma distribution.

        Parameters
        ----------
        shape : number or Array
            The shape parameter; not negative. With 0 all numbers are 0.
        {drawn_by_parameters}
        {draw_out}

        Returns
        -------
        Array
            Numbers from 0 on.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        By rejection from a normal draw; for shapes below 1, the draw of ``shape + 1`` times ``u ** (1 / shape)`` [1]_.

        References
        ----------
        .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software
           26, 2000.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.standard_gamma(2.5, 3)
        array([2.52268153, 3.23773618, 4.29706183])
        """
        if out is not None:
            out = self._checked("standard_gamma", out, size, dtype, device, queue, usm_type)
            size, device, queue = out.shape, None, out.queue
        given = Parameters("standard_gamma", {"shape": shape}, size, device, queue, usm_type)
        given.require("shape", negative, "must not be negative")
        return given.placed(self._continuous(draws.standard_gamma, given, dtype, out))

    @public
    def gamma(
        self,
        shape: Any,
        scale: Any = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Gamma distribution.

        Parameters
        ----------
        shape : number or Array
            The shape parameter; not negative.
        scale : number or Array, optional
            What the draw of scale 1 is multiplied by; not negative.
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
        ``scale * g``, where g is what `standard_gamma` draws [1]_.

        References
        ----------
        .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software
           26, 2000.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.gamma(2.5, 2.0, 3)
        array([5.04536305, 6.47547237, 8.59412365])
        """
        given = Parameters("gamma", {"shape": shape, "scale": scale}, size, device, queue, usm_type)
        given.require("shape", negative, "must not be negative")
        given.require("scale", negative, "must not be negative")
        return given.placed(self._continuous(draws.gamma, given, dtype))

    @public
    def beta(
        self,
        a: Any,
        b: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a Beta distribution.

        Parameters
        ----------
        a : number or Array
            The first shape parameter; positive.
        b : number or Array
            The second one; positive.
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
        ``x / (x + y)``, where x and y are what `standard_gamma` draws for `a` and `b` [1]_; where both are below 1, without numbers
        that are too small.

        References
        ----------
        .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software
           26, 2000.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.beta(2.0, 3.0, 3)
        array([0.41996138, 0.41007991, 0.76326937])
        """
        given = Parameters("beta", {"a": a, "b": b}, size, device, queue, usm_type)
        given.require("a", not_positive, "must be positive")
        given.require("b", not_positive, "must be positive")
        return given.placed(self._continuous(draws.beta, given, dtype))

    @public
    def chisquare(
        self,
        df: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a chi-square distribution.

        Parameters
        ----------
        df : number or Array
            The degrees of freedom; positive.
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
        ``2 * g``, where g is what `standard_gamma` draws for ``df / 2`` [1]_.

        References
        ----------
        .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software
           26, 2000.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.chisquare(4, 3)
        array([3.96230996, 5.248274  , 7.19457832])
        """
        given = Parameters("chisquare", {"df": df}, size, device, queue, usm_type)
        given.require("df", not_positive, "must be positive")
        return given.placed(self._continuous(draws.chisquare, given, dtype))

    @public
    def f(
        self,
        dfnum: Any,
        dfden: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from an F distribution.

        Parameters
        ----------
        dfnum : number or Array
            The degrees of freedom of the numerator; positive.
        dfden : number or Array
            Those of the denominator; positive.
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
        The quotient of two draws of `chisquare`, each divided by its degrees of freedom [1]_.

        References
        ----------
        .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software
           26, 2000.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.f(3, 8, 3)
        array([1.01934912, 1.07454742, 4.30932169])
        """
        given = Parameters("f", {"dfnum": dfnum, "dfden": dfden}, size, device, queue, usm_type)
        given.require("dfnum", not_positive, "must be positive")
        given.require("dfden", not_positive, "must be positive")
        return given.placed(self._continuous(draws.f_ratio, given, dtype))

    @public
    def standard_t(
        self,
        df: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a standard Student's t distribution with `df` degrees of freedom.

        Parameters
        ----------
        df : number or Array
            The degrees of freedom; positive.
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
        ``z * sqrt(df / (2 * g))``, where z is a normal draw and g what `standard_gamma` draws for ``df / 2`` [1]_.

        References
        ----------
        .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software
           26, 2000.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.standard_t(5, 3)
        array([ 0.04209385,  0.52876258, -0.94191263])
        """
        given = Parameters("standard_t", {"df": df}, size, device, queue, usm_type)
        given.require("df", not_positive, "must be positive")
        return given.placed(self._continuous(draws.standard_t, given, dtype))

    @public
    def noncentral_chisquare(
        self,
        df: Any,
        nonc: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a noncentral chi-square distribution.

        Parameters
        ----------
        df : number or Array
            The degrees of freedom; positive.
        nonc : number or Array
            The non-centrality; not negative.
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
        With more than one degree of freedom: ``(z + sqrt(nonc)) ** 2``, where z is a normal draw, and a draw of `chisquare` for ``df - 1``.
        Otherwise a draw of `chisquare` for ``df + 2 * k``, where k is what `poisson` draws for ``nonc / 2`` [1]_.

        References
        ----------
        .. [1] N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate Distributions", volume 2, Wiley 1995, chapter 29.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.noncentral_chisquare(3, 2.0, 3)
        array([3.86610826, 6.72039585, 4.20066706])
        """
        given = Parameters("noncentral_chisquare", {"df": df, "nonc": nonc}, size, device, queue, usm_type)
        given.require("df", not_positive, "must be positive")
        given.require("nonc", negative, "must not be negative")
        return given.placed(self._continuous(counts.noncentral_chisquare, given, dtype))

    @public
    def noncentral_f(
        self,
        dfnum: Any,
        dfden: Any,
        nonc: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from the noncentral F distribution.

        Parameters
        ----------
        dfnum : number or Array
            The degrees of freedom of the numerator; positive.
        dfden : number or Array
            Those of the denominator; positive.
        nonc : number or Array
            The non-centrality of the numerator; not negative.
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
        The quotient of a draw of `noncentral_chisquare` and one of `chisquare`, each divided by its degrees of freedom.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.noncentral_f(3, 8, 2.0, 3)
        array([1.73060483, 2.37420675, 1.65238811])
        """
        given = Parameters("noncentral_f", {"dfnum": dfnum, "dfden": dfden, "nonc": nonc}, size, device, queue, usm_type)
        given.require("dfnum", not_positive, "must be positive")
        given.require("dfden", not_positive, "must be positive")
        given.require("nonc", negative, "must not be negative")
        return given.placed(self._continuous(counts.noncentral_f, given, dtype))
