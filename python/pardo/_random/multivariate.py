# python/pardo/_random/multivariate.py: distributions of several numbers at once, along the last axis.
from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.contexts import public
from pardo._array.interop import fetched, from_host
from pardo._base.arguments import DeviceLike, default_on, in_memory, kind_like, word
from pardo._core import Array, Queue, _broadcast_to, exp, maximum
from pardo._random import draws, kernels
from pardo._random.arguments import Parameters, array_at, extents_of, floating, negative, outside, place_of
from pardo._random.discrete import MOST_IN_URN
from pardo._random.distributions import Distributions

MOST_COLORED = 2**32  # beyond, products of counts would not fit an int64


def _factor(cov: np.ndarray[Any, Any], method: str, check_valid: str, tol: float) -> Any:
    """A matrix whose product with its own transpose is the covariance."""
    if method == "cholesky":
        return np.linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        valid = not np.any(values < -tol)
        vectors = vectors * np.sqrt(np.abs(values))
    else:
        left, values, right = np.linalg.svd(cov)
        valid = np.allclose((right.T * values) @ right, cov, rtol=tol, atol=tol)
        vectors = left * np.sqrt(values)
    if not valid and check_valid != "ignore":
        text = "multivariate_normal: cov is not symmetric positive-semidefinite"
        if check_valid == "raise":
            raise ValueError(text)
        warnings.warn(f"{text}; say check_valid='ignore', if that is meant", RuntimeWarning, stacklevel=5)
    return vectors


class Multivariate(Distributions):
    """Draws of vectors."""

    @public
    def dirichlet(
        self,
        alpha: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from the Dirichlet distribution.

        Parameters
        ----------
        alpha : Array or list of float
            The parameters, of one dimension; not negative.
        size : int or sequence of int, optional
            How many are drawn; their components come as the last axis. Default: one.
        dtype : {float64, float32}, optional
            Default: float64; float32 on a device that has no float64.
        device : Device or str, optional
            Default: that of `alpha` if it is an Array, else the default device.
        {queue_and_memory}

        Returns
        -------
        Array
            Numbers of [0, 1], whose sum along the last axis is 1.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        What `standard_gamma` draws for each parameter, divided by the sum; from logarithms, so that small parameters leave no ``0 / 0``.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter XI.4.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.dirichlet([1.0, 2.0, 3.0])
        array([0.10296647, 0.30973201, 0.58730152])
        """
        target = place_of("dirichlet", [alpha], device, queue)
        parameters = array_at(alpha, target, "dirichlet", "alpha")
        if parameters.ndim != 1:
            raise ValueError(f"dirichlet: alpha must have one dimension, but has shape {parameters.shape}")
        shape = (*extents_of(size, "dirichlet"), parameters.shape[0])
        given = Parameters("dirichlet", {"alpha": alpha}, shape, None, target, usm_type)
        given.require("alpha", negative, "must not be negative")
        x = self._continuous(draws.log_gamma, given, dtype)
        if x.size == 0:
            return given.placed(x)
        x = exp(x - maximum(x.max(axis=-1, keepdims=True), -1e30))  # where all are 0 they stay so
        return given.placed(x / maximum(x.sum(axis=-1, keepdims=True), 1e-30))

    @public
    def multinomial(
        self,
        n: Any,
        pvals: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a multinomial distribution.

        Parameters
        ----------
        n : int or Array of int
            How many are distributed; not negative.
        pvals : Array or list of float
            The probability of each category, along the last axis; not negative. The last one is taken for what is missing to a sum of 1.
        size : int or sequence of int, optional
            How many are drawn; the counts come as the last axis. Default: the shape of `n`, broadcast against
            `pvals` without its last axis.
        device : Device or str, optional
            Default: that of the parameters if they are arrays, else the default device.
        {queue_and_memory}

        Returns
        -------
        Array of int64
            The counts, whose sum along the last axis is `n`.

        Raises
        ------
        {counted_raises}

        Notes
        -----
        Each count is what `binomial` draws, of what the categories before have left.

        References
        ----------
        .. [1] L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter XI.1.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.multinomial(20, [0.25, 0.25, 0.5], 2)
        array([[ 8,  4,  8],
               [ 4,  4, 12]])
        """
        target = place_of("multinomial", [n, pvals], device, queue)
        weights = array_at(pvals, target, "multinomial", "pvals")
        if weights.ndim == 0 or weights.shape[-1] == 0:
            raise ValueError(f"multinomial: pvals must have one category at least along its last axis, but has shape {weights.shape}")
        categories = weights.shape[-1]
        some = weights[..., 0]
        trials = Parameters("multinomial", {"n": n, "pvals": some}, size, None, target, usm_type, integral=("n",))
        trials.require("n", negative, "must not be negative")
        p = np.asarray(pvals) if isinstance(pvals, (list, tuple)) else weights
        trials.refuse(outside(p), "pvals must be from 0 to 1" + ("" if type(p) is Array else f"; they are {pvals}"))
        total = p[..., :-1].sum(axis=-1)
        trials.refuse(total > 1 + 1e-12, "pvals have a sum above 1, even without the last one")
        real = default_on(target, np.float64)
        rows = weights._astype(real, False)
        rows = rows.reshape(1, -1) if weights.ndim == 1 else _broadcast_to(rows, (*trials.shape, categories)).reshape(-1, categories)
        count = trials.values["n"]
        count = trials.flat(count) if type(count) is Array else np.int64(count)
        out = self._rows(kernels.random_multinomial, "multinomial", target, (*trials.shape, categories), count, rows)
        return trials.placed(trials.watch(out))

    @public
    def multivariate_hypergeometric(
        self,
        colors: Any,
        nsample: int,
        size: Any = None,
        method: str = "marginals",
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Generate variates from a multivariate hypergeometric distribution.

        Parameters
        ----------
        colors : Array or list of int
            How many there are of each colour, of one dimension; not negative.
        nsample : int
            How many are drawn; from 0 to the sum of `colors`.
        size : int or sequence of int, optional
            How often is drawn; the counts come as the last axis. Default: once.
        method : {'marginals', 'count'}
            NumPy's choice of algorithm; both give the same result. With 'marginals' the sum of `colors` must be below 10**9, with 'count'
            below 2**32.
        device : Device or str, optional
            Default: that of `colors` if it is an Array, else the default device.
        {queue_and_memory}

        Returns
        -------
        Array of int64
            The counts, whose sum along the last axis is `nsample`.

        Raises
        ------
        ValueError
            `colors` has not one dimension, is negative, too large or not of integers, `nsample` is not an integer, negative or above the
            sum of `colors`, or `method` is something else. An Array of colours is looked at, and waited for.
        TypeError
            `colors` is neither an array nor a list, or `size` is neither an integer nor a sequence of integers.

        Notes
        -----
        Each count is what `hypergeometric` draws, of what the colours before have left.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.multivariate_hypergeometric([10, 20, 30], 12, 2)
        array([[0, 6, 6],
               [3, 4, 5]])
        """
        name = "multivariate_hypergeometric"
        word(method, f"{name}: method", ("marginals", "count"))
        try:
            sample = operator.index(nsample)
        except TypeError:
            raise ValueError(f"{name}: nsample must be an integer, not {nsample!r}") from None
        target = place_of(name, [colors], device, queue)
        urn = array_at(colors, target, name, "colors")
        if urn.ndim != 1:
            raise ValueError(f"{name}: colors must have one dimension, but has shape {urn.shape}")
        if urn._kind not in "iub" and urn.size:
            raise ValueError(f"{name}: colors must be integers, but are {urn.dtype}")
        known = np.asarray(fetched(colors, name, unless_readable=True))
        total = sum(map(int, known))
        most = MOST_IN_URN if method == "marginals" else MOST_COLORED
        if np.any(known < 0):
            raise ValueError(f"{name}: colors must not be negative; they are {known}")
        if total >= most:
            raise ValueError(f"{name}: the sum of colors is {total}; it must be below {most} with method {method!r}")
        if not 0 <= sample <= total:
            raise ValueError(f"{name}: nsample must be from 0 to the sum of colors, {total}, but is {sample}")
        shape = (*extents_of(size, name), urn.shape[0])
        urn = urn._astype(np.dtype(np.int64), False).reshape(-1)
        return in_memory(self._rows(kernels.random_urn, name, target, shape, urn, np.int64(total), np.int64(sample)), usm_type, name)

    @public
    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw random samples from a multivariate normal distribution.

        Parameters
        ----------
        mean : Array or list of float
            The means, of one dimension.
        cov : Array or list of list of float
            The covariances: a symmetric matrix of as many rows and columns, without negative eigenvalues.
        size : int or sequence of int, optional
            How many are drawn; their components come as the last axis. Default: one.
        check_valid : {'warn', 'raise', 'ignore'}
            What happens if `cov` is no such matrix. 'cholesky' always raises.
        tol : float
            How far singular values or eigenvalues may be from those of such a matrix.
        method : {'svd', 'eigh', 'cholesky'}
            How `cov` is factored: on the host by NumPy, of a copy, which is waited for.
        dtype : {float64, float32}, optional
            Default: float64; float32 on a device that has no float64.
        device : Device or str, optional
            Default: that of the parameters if they are arrays, else the default device.
        {queue_and_memory}

        Returns
        -------
        Array
            The numbers drawn.

        Raises
        ------
        ValueError
            The shapes of `mean` and `cov` do not fit each other, `method` or `check_valid` is something else, or `cov` is not valid and
            that is to be raised.
        LinAlgError
            `cov` is not positive definite, with 'cholesky'.
        TypeError
            A parameter is of another type or complex, the dtype is neither float64 nor float32, or `size` is neither an integer nor a
            sequence of integers.

        Notes
        -----
        ``mean + z @ factor.T``, where z is what `standard_normal` draws and ``factor @ factor.T`` is `cov`.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.multivariate_normal([0.0, 10.0], [[1.0, 0.5], [0.5, 2.0]], 2)
        array([[ 2.41033503, 12.01487645],
               [ 1.01568536, 10.35487187]])
        """
        name = "multivariate_normal"
        word(method, f"{name}: method", ("eigh", "svd", "cholesky"))
        word(check_valid, f"{name}: check_valid", ("warn", "raise", "ignore"))
        target = place_of(name, [mean, cov], device, queue)
        middle, matrix = array_at(mean, target, name, "mean"), array_at(cov, target, name, "cov")
        if middle.ndim != 1 or matrix.shape != 2 * middle.shape:
            raise ValueError(
                f"{name}: mean must have one dimension, and cov as many rows and columns; the shapes are {middle.shape} and {matrix.shape}"
            )
        for what, x in (("mean", middle), ("cov", matrix)):
            if x._kind == "c":
                raise TypeError(f"{name}: {what} must be real, but is complex")
        wanted = floating(dtype, target, name)
        shape = [*extents_of(size, name), middle.shape[0]]
        known = np.asarray(fetched(cov, name, unless_readable=True), np.float64)
        factor = np.ascontiguousarray(_factor(known, method, check_valid, tol).T, wanted)
        z = self._standard(name, kernels.normal, shape, wanted, None, target, None, None)
        x = (z.reshape(-1, middle.shape[0]) @ from_host(factor, None, target, name)).reshape(shape)
        return in_memory(x + middle._astype(wanted, False), kind_like(target, mean, cov) if usm_type is None else usm_type, name)
