# python/pardo/_random/in_loops.py: the random functions of NumPy and of the standard module `random` in loops: draws by counters.
"""Each stands for the function of its name, `python_…` for those of the module `random`. The counter of a draw is the iteration of the
parallel loop and how many iterations of loops in it have begun, its key that of the run and the place in the program, so that draws do not
depend on the order in which iterations run."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from pardo._compiler.intrinsics import device_only
from pardo._language.row_functions import exchange
from pardo._random import counts, device, draws, in_kernels


@device_only("random.counter")
def draw_counter() -> NoReturn:
    raise TypeError("the counter of a draw is known in loops alone")


@device_only("random.key")
def draw_key() -> NoReturn:
    raise TypeError("the key of a draw is known in loops alone")


def place() -> Any:
    """Three words of the counter."""
    iteration, step = draw_counter()
    low = np.uint64(device.LOW)
    return np.uint64(iteration) & low, np.uint64(iteration) >> np.uint64(32), np.uint64(step) & low


def number() -> Any:
    """Of the dtype that floats have by default on the device."""
    return np.int64(1) * 1.0


# ---- one number


def one_uniform(low: Any, high: Any) -> Any:
    return low + (high - low) * device.philox_uniform(place(), draw_key(), number().dtype)[0]


def one_normal(loc: Any, scale: Any) -> Any:
    return loc + scale * device.philox_normal(place(), draw_key(), number().dtype)[0]


def one_lognormal(mean: Any, sigma: Any) -> Any:
    return np.exp(one_normal(mean, sigma))


def one_exponential(scale: Any, _: Any) -> Any:
    return scale * in_kernels.philox_exponential(place(), draw_key(), number().dtype)[0]


def one_gamma(shape: Any, scale: Any) -> Any:
    one = number()
    return draws.gamma(place(), draw_key(), one.dtype, one * shape, one * scale)


def one_beta(a: Any, b: Any) -> Any:
    one = number()
    return draws.beta(place(), draw_key(), one.dtype, one * a, one * b)


def one_chisquare(df: Any, _: Any) -> Any:
    one = number()
    return draws.chisquare(place(), draw_key(), one.dtype, one * df)


def one_standard_t(df: Any, _: Any) -> Any:
    one = number()
    return draws.standard_t(place(), draw_key(), one.dtype, one * df)


def one_integer(low: Any, high: Any) -> Any:
    return np.int64(in_kernels.philox_integers(place(), draw_key(), low, high))


def one_poisson(lam: Any, _: Any) -> Any:
    one = number()
    return np.int64(counts.poisson(place(), draw_key(), one.dtype, one * lam))


def one_binomial(n: Any, p: Any) -> Any:
    one = number()
    return np.int64(counts.binomial(place(), draw_key(), one.dtype, one * n, one * p))


# ---- one, or an array of them


def floats(size: Any, draw: Any, a: Any, b: Any) -> Any:
    return drawn(size, number().dtype, draw, a, b)


def integers(size: Any, draw: Any, a: Any, b: Any) -> Any:
    return drawn(size, np.int64, draw, a, b)


def drawn(size: Any, dtype: Any, draw: Any, a: Any, b: Any) -> Any:
    if size is None:
        return draw(a, b)
    out = np.empty(size, dtype)
    flat = out.ravel()
    for k in range(flat.shape[0]):
        flat[k] = draw(a, b)
    return out


def random_sample(size: Any = None) -> Any:
    return floats(size, one_uniform, 0.0, 1.0)


def rand(*shape: Any) -> Any:
    if len(shape) == 0:
        return one_uniform(0.0, 1.0)
    return floats(shape, one_uniform, 0.0, 1.0)


def randn(*shape: Any) -> Any:
    if len(shape) == 0:
        return one_normal(0.0, 1.0)
    return floats(shape, one_normal, 0.0, 1.0)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return floats(size, one_uniform, low, high)


def normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return floats(size, one_normal, loc, scale)


def standard_normal(size: Any = None) -> Any:
    return floats(size, one_normal, 0.0, 1.0)


def lognormal(mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    return floats(size, one_lognormal, mean, sigma)


def exponential(scale: Any = 1.0, size: Any = None) -> Any:
    return floats(size, one_exponential, scale, 0)


def standard_exponential(size: Any = None) -> Any:
    return floats(size, one_exponential, 1.0, 0)


def gamma(shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return floats(size, one_gamma, shape, scale)


def standard_gamma(shape: Any, size: Any = None) -> Any:
    return floats(size, one_gamma, shape, 1.0)


def beta(a: Any, b: Any, size: Any = None) -> Any:
    return floats(size, one_beta, a, b)


def chisquare(df: Any, size: Any = None) -> Any:
    return floats(size, one_chisquare, df, 0)


def standard_t(df: Any, size: Any = None) -> Any:
    return floats(size, one_standard_t, df, 0)


def poisson(lam: Any = 1.0, size: Any = None) -> Any:
    return integers(size, one_poisson, lam, 0)


def binomial(n: Any, p: Any, size: Any = None) -> Any:
    return integers(size, one_binomial, n, p)


def randint(low: Any, high: Any = None, size: Any = None) -> Any:
    if high is None:
        return integers(size, one_integer, 0, low)
    return integers(size, one_integer, low, high)


def choice(a: Any, size: Any = None) -> Any:
    if a.ndim == 0:
        return integers(size, one_integer, 0, a)
    if size is None:
        return a[one_integer(0, a.shape[0])]
    return a[integers(size, one_integer, 0, a.shape[0])]


def shuffle(x: Any) -> None:
    n = x.shape[0]
    for k in range(n - 1):
        i = n - 1 - k
        exchange(x, i, one_integer(0, i + 1))


def permutation(x: Any) -> Any:
    if x.ndim == 0:
        out = np.empty(x, np.int64)
        for k in range(x):
            out[k] = k
        shuffle(out)
        return out
    out = x.copy()
    shuffle(out)
    return out


def python_random() -> Any:
    return one_uniform(0.0, 1.0)


def python_uniform(a: Any, b: Any) -> Any:
    return one_uniform(a, b)


def python_gauss(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return one_normal(mu, sigma)


def python_expovariate(lambd: Any = 1.0) -> Any:
    return one_exponential(1.0 / lambd, 0)


def python_randint(a: Any, b: Any) -> Any:
    return one_integer(a, b + 1)


def python_randrange(start: Any, stop: Any = None) -> Any:
    if stop is None:
        return one_integer(0, start)
    return one_integer(start, stop)
