# python/pardo/_random/device.py: random numbers in kernels, and on Python's own numbers: counter-based, the same bits on every device.
from __future__ import annotations

from typing import Any

import numpy as np

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)  # of the golden ratio and of the square root of 3: what the key grows by in each round
LOW = 0xFFFFFFFF
ROUNDS = tuple(range(10))  # loops over tuples are written out: an eighth faster


def _words(given: Any, zeros: Any) -> Any:
    """Words of 32 bits, each in a uint64: those given, then zeros."""
    words: tuple[Any, ...] = ()
    for word in given:
        words = (*words, np.uint64(word) & np.uint64(LOW))
    return words + zeros


def philox(counter: Any, key: Any) -> Any:
    """Return four random words for a counter and a key; in kernels, and on Python's own numbers.

    Parameters
    ----------
    counter : tuple of int
        One to four words of 32 bits, the lowest first; those left out are 0. For each counter there are other numbers: ``(i, step)``.
    key : tuple of int
        One or two words of 32 bits: the stream, as a seed.

    Returns
    -------
    tuple of uint32
        Four words, the same on every device.

    References
    ----------
    .. [1] J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

    Examples
    --------
    >>> import pardo as pp
    >>> [hex(w) for w in pp.random.philox((0, 0, 0, 0), (0, 0))]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    zero = np.uint64(0)
    c = _words(counter, (zero, zero, zero))
    k = _words(key, (zero,))
    c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
    k0, k1 = k[0], k[1]
    for _ in ROUNDS:
        a = c0 * np.uint64(MULTIPLIERS[0])
        b = c2 * np.uint64(MULTIPLIERS[1])
        c0 = (b >> np.uint64(32)) ^ c1 ^ k0
        c1 = b & np.uint64(LOW)
        c2 = (a >> np.uint64(32)) ^ c3 ^ k1
        c3 = a & np.uint64(LOW)
        k0 = (k0 + np.uint64(WEYL[0])) & np.uint64(LOW)
        k1 = (k1 + np.uint64(WEYL[1])) & np.uint64(LOW)
    return np.uint32(c0), np.uint32(c1), np.uint32(c2), np.uint32(c3)


def philox_uniform(counter: Any, key: Any, dtype: Any = np.float64) -> Any:
    """Return random floats in [0, 1), for a counter and a key; in kernels, and on Python's own numbers.

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
        Two numbers of float64, with 53 random bits each, or four of float32, with 24; the same bits on every device.

    See Also
    --------
    philox, philox_normal

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def draw(item: pp.Item, seed, x):
    ...     i = item.get_id(0)
    ...     first, second = pp.random.philox_uniform((i,), (seed,))
    ...     x[i] = first
    >>> x = pp.zeros(3)
    >>> draw[pp.Range(3)](7, x).wait()
    >>> x
    array([0.95459713, 0.4069604 , 0.00607513])
    """
    w0, w1, w2, w3 = philox(counter, key)
    if dtype == np.float32:
        unit = np.float32(2.0**-24)
        return (
            np.float32(w0 >> np.uint32(8)) * unit,
            np.float32(w1 >> np.uint32(8)) * unit,
            np.float32(w2 >> np.uint32(8)) * unit,
            np.float32(w3 >> np.uint32(8)) * unit,
        )
    high, low = np.float64(2.0**-27), np.float64(2.0**-53)
    return (
        np.float64(w0 >> np.uint32(5)) * high + np.float64(w1 >> np.uint32(6)) * low,
        np.float64(w2 >> np.uint32(5)) * high + np.float64(w3 >> np.uint32(6)) * low,
    )


def _pair(a: Any, b: Any, turn: Any) -> Any:
    """Two numbers of the standard normal distribution for two of [0, 1), by G. E. P. Box and M. E. Muller."""
    radius = np.sqrt(np.log(1 - a) * -2)
    return radius * np.cos(turn * b), radius * np.sin(turn * b)


def philox_normal(counter: Any, key: Any, dtype: Any = np.float64) -> Any:
    """Return numbers of the standard normal distribution, for a counter and a key; in kernels, and on Python's own numbers.

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
        Two numbers of float64 or four of float32, within the accuracy of each device's logarithm, sine and cosine.

    See Also
    --------
    philox, philox_uniform

    References
    ----------
    .. [1] G. E. P. Box, M. E. Muller, "A note on the generation of random normal deviates", 1958.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def draw(item: pp.Item, seed, x):
    ...     i = item.get_id(0)
    ...     first, second = pp.random.philox_normal((i,), (seed,))
    ...     x[i] = first
    >>> x = pp.zeros(3)
    >>> draw[pp.Range(3)](7, x).wait()
    >>> x
    array([1.87387971, 0.48231602, 0.03912291])
    """
    u = philox_uniform(counter, key, dtype)
    if dtype == np.float32:
        turn = np.float32(2 * np.pi)
        return _pair(u[0], u[1], turn) + _pair(u[2], u[3], turn)
    return _pair(u[0], u[1], np.float64(2 * np.pi))
