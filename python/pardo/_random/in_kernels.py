# python/pardo/_random/in_kernels.py: what kernels draw with, beside device.py: one number of a distribution for a counter and a key.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo._random import counts, device, draws, kernels


def _place(counter: Any) -> Any:
    """Three words of a counter."""
    words: tuple[Any, ...] = ()
    for word in counter:
        words = (*words, np.uint64(word) & np.uint64(device.LOW))
    words = (*words, np.uint64(0), np.uint64(0))
    return words[0], words[1], words[2]


def philox_exponential(counter: Any, key: Any, dtype: Any = np.float64) -> Any:
    """Return numbers of the standard exponential distribution, for a counter and a key; in kernels, and on Python's own numbers.

    Parameters
    ----------
    counter : tuple of int
        As for `philox`.
    key : tuple of int
        As for `philox`.
    dtype : {float64, float32}, optional
        Default: float64.

    Returns
    -------
    tuple of float
        Two numbers of float64 or four of float32, within the accuracy of each device's logarithm.

    See Also
    --------
    philox, philox_uniform, Generator

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def draw(item: pp.Item, seed, x):
    ...     i = item.get_id(0)
    ...     first, second = pp.random.philox_exponential((i,), (seed,))
    ...     x[i] = first
    >>> x = pp.zeros(3)
    >>> draw[pp.Range(3)](7, x).wait()
    >>> x
    array([3.09217993, 0.52249411, 0.00609366])
    """
    return kernels.exponential(counter, key, dtype)


def philox_integers(counter: Any, key: Any, low: Any, high: Any) -> Any:
    """Return a random integer of [low, high), for a counter and a key; in kernels, and on Python's own numbers.

    Parameters
    ----------
    counter : tuple of int
        One to three words of 32 bits, the lowest first. The fourth one counts what is drawn again.
    key : tuple of int
        As for `philox`.
    low, high : int
        The least one, and the end, which is above it; of int64.

    Returns
    -------
    int64
        The integer; all are equally likely.

    See Also
    --------
    philox, Generator

    References
    ----------
    .. [1] D. Lemire, "Fast random integer generation in an interval", ACM Transactions on Modeling and Computer Simulation 29, 2019.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def roll(item: pp.Item, seed, x):
    ...     i = item.get_id(0)
    ...     x[i] = pp.random.philox_integers((i,), (seed,), 1, 7)
    >>> x = pp.zeros(5, dtype="int64")
    >>> roll[pp.Range(5)](7, x).wait()
    >>> x
    array([5, 5, 1, 2, 6])
    """
    place = _place(counter)
    sign = np.uint64(1 << 63)  # changed, all are in the order of unsigned ones, whose differences do not overflow
    first = np.int64(low).astype(np.uint64) ^ sign
    last = (np.int64(high).astype(np.uint64) ^ sign) - first - np.uint64(1)
    value, good, attempt = np.uint64(0), False, 0
    while not good:
        w = draws.words(place, attempt, key)
        value, good = kernels.scaled(kernels.joined(w[0], w[1]), last)
        attempt += 1
    return ((first + value) ^ sign).astype(np.int64)


def philox_gamma(counter: Any, key: Any, shape: Any, dtype: Any = np.float64) -> Any:
    """Return a number of the standard gamma distribution, for a counter and a key; in kernels, and on Python's own numbers.

    Parameters
    ----------
    counter : tuple of int
        One to three words of 32 bits, the lowest first. The fourth one counts the attempts.
    key : tuple of int
        As for `philox`.
    shape : float
        The shape parameter; not negative.
    dtype : {float64, float32}, optional
        Default: float64.

    Returns
    -------
    float
        What `Generator.standard_gamma` draws for the element whose block it is.

    See Also
    --------
    philox, Generator

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def draw(item: pp.Item, seed, x):
    ...     i = item.get_id(0)
    ...     x[i] = pp.random.philox_gamma((i,), (seed,), 2.5)
    >>> x = pp.zeros(3)
    >>> draw[pp.Range(3)](7, x).wait()
    >>> x
    array([2.52268153, 3.23773618, 4.29706183])
    """
    return draws.standard_gamma(_place(counter), key, dtype, dtype(shape))


def philox_poisson(counter: Any, key: Any, lam: Any, dtype: Any = np.float64) -> Any:
    """Return a number of the Poisson distribution, for a counter and a key; in kernels, and on Python's own numbers.

    Parameters
    ----------
    counter : tuple of int
        One to three words of 32 bits, the lowest first. The fourth one counts the attempts.
    key : tuple of int
        As for `philox`.
    lam : float
        The mean; not negative.
    dtype : {float64, float32}, optional
        What it is computed in. Default: float64.

    Returns
    -------
    int64
        What `Generator.poisson` draws for the element whose block it is.

    See Also
    --------
    philox, Generator

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def draw(item: pp.Item, seed, x):
    ...     i = item.get_id(0)
    ...     x[i] = pp.random.philox_poisson((i,), (seed,), 4.0)
    >>> x = pp.zeros(5, dtype="int64")
    >>> draw[pp.Range(5)](7, x).wait()
    >>> x
    array([8, 3, 0, 3, 3])
    """
    return counts.poisson(_place(counter), key, dtype, dtype(lam))


def philox_binomial(counter: Any, key: Any, n: Any, p: Any, dtype: Any = np.float64) -> Any:
    """Return a number of the binomial distribution, for a counter and a key; in kernels, and on Python's own numbers.

    Parameters
    ----------
    counter : tuple of int
        One to three words of 32 bits, the lowest first. The fourth one counts the attempts.
    key : tuple of int
        As for `philox`.
    n : int
        How often is tried; not negative.
    p : float
        The probability of a success; of [0, 1].
    dtype : {float64, float32}, optional
        What it is computed in. Default: float64.

    Returns
    -------
    int64
        What `Generator.binomial` draws for the element whose block it is.

    See Also
    --------
    philox, Generator

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def draw(item: pp.Item, seed, x):
    ...     i = item.get_id(0)
    ...     x[i] = pp.random.philox_binomial((i,), (seed,), 10, 0.5)
    >>> x = pp.zeros(5, dtype="int64")
    >>> draw[pp.Range(5)](7, x).wait()
    >>> x
    array([8, 5, 1, 5, 4])
    """
    return counts.binomial(_place(counter), key, dtype, np.int64(n), dtype(p))
