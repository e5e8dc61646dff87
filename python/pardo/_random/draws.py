# python/pardo/_random/draws.py: draws of continuous distributions, in kernels: each by blocks of its own.
"""A draw has the first three words of its counter; the last one counts its attempts, from `begin` on: draws that one number is made of
begin at multiples of `NEXT`. `LIMIT` ends loops that wrong parameters would never end; that good ones reach it has a probability below
2**-300. All are functions of typed numbers: with NaN for a parameter they end, and give NaN where there is one."""

from __future__ import annotations

from typing import Any

import numpy as np
from pardo._random import device

NEXT = 1 << 16
BOOST = 1 << 15
LIMIT = 2000
SQUEEZE = 0.0331 * 2 / 3


def words(counter: Any, attempt: Any, key: Any) -> Any:
    return device.philox((*counter, attempt), key)


def wide(high: Any, low: Any, dtype: Any) -> Any:
    """A number of (0, 1), from 52 random bits or from 23: the middle of what they stand for."""
    if dtype == np.float32:
        return (np.float32(high >> np.uint32(9)) + np.float32(0.5)) * np.float32(2.0**-23)
    return (np.float64(high) * np.float64(2.0**20) + np.float64(low >> np.uint32(12)) + np.float64(0.5)) * np.float64(2.0**-52)


def narrow(word: Any, dtype: Any) -> Any:
    """A number of (0, 1), from 32 random bits or from 23."""
    if dtype == np.float32:
        return (np.float32(word >> np.uint32(9)) + np.float32(0.5)) * np.float32(2.0**-23)
    return (np.float64(word) + np.float64(0.5)) * np.float64(2.0**-32)


def normal_of(w: Any, dtype: Any) -> Any:
    """By Box and Muller, from the first three words of a block."""
    return np.sqrt(np.log(wide(w[0], w[1], dtype)) * -2) * np.cos(narrow(w[2], dtype) * (2 * np.pi))


def large_gamma(counter: Any, key: Any, dtype: Any, shape: Any, begin: Any) -> Any:
    """By Marsaglia and Tsang; of a shape below 1 that of the shape plus 1.

    Their squeeze accepts u < 1 - 0.0331 x**4 for each d from 2/3 on. That is needed for the least d alone: what is to be below it is
    1 - (1 - exp(d g)) for a negative g of x / sqrt(d), and (1 - exp(d g)) / d falls with d.
    """
    d = np.where(shape < 1, shape + 1, shape) - 1 / 3
    c, squeeze = 1 / np.sqrt(d * 9), SQUEEZE / d
    v, good, attempt = d, False, begin
    while not good and attempt < begin + LIMIT:
        w = words(counter, attempt, key)
        x = normal_of(w, dtype)
        root = x * c + 1
        v = root * root * root
        u = narrow(w[3], dtype)
        square = x * x
        good = not v <= 0 and (u < 1 - square * square * squeeze or not np.log(u) >= square / 2 + d * (1 - v + np.log(v)))
        attempt += 1
    return d * v


def log_boost(counter: Any, key: Any, dtype: Any, shape: Any, begin: Any) -> Any:
    """The logarithm of what makes the draw of a shape below 1 of that of the shape plus 1."""
    w = words(counter, begin + BOOST, key)
    return np.log(wide(w[0], w[1], dtype)) / shape


def standard_gamma(counter: Any, key: Any, dtype: Any, shape: Any, begin: Any = 0) -> Any:
    value = large_gamma(counter, key, dtype, shape, begin)
    if shape < 1:
        value = value * np.exp(log_boost(counter, key, dtype, shape, begin))
    return value


def gamma(counter: Any, key: Any, dtype: Any, shape: Any, scale: Any) -> Any:
    return standard_gamma(counter, key, dtype, shape) * scale


def chisquare(counter: Any, key: Any, dtype: Any, df: Any) -> Any:
    return standard_gamma(counter, key, dtype, df / 2) * 2


def log_gamma(counter: Any, key: Any, dtype: Any, shape: Any, begin: Any = 0) -> Any:
    """The logarithm of a draw, which small shapes need: the draw itself may be 0."""
    value = np.log(large_gamma(counter, key, dtype, shape, begin))
    if shape < 1:
        value = value + log_boost(counter, key, dtype, shape, begin)
    return value


def beta(counter: Any, key: Any, dtype: Any, a: Any, b: Any) -> Any:
    """The share of the first of two gamma draws, both divided by the boost of one, so that small shapes leave no 0 / 0."""
    s, t = a * 0, b * 0
    if a < 1:
        s = log_boost(counter, key, dtype, a, 0)
    if b < 1:
        t = log_boost(counter, key, dtype, b, NEXT)
    most = np.maximum(s, t)
    x = large_gamma(counter, key, dtype, a, 0) * np.exp(s - most)
    value = x / (x + large_gamma(counter, key, dtype, b, NEXT) * np.exp(t - most))
    if a < 2.0**-100 and b < 2.0**-100:
        w = words(counter, BOOST, key)
        value = np.where((a + b) * wide(w[0], w[1], dtype) < a, a * 0 + 1, a * 0)
    return value


def f_ratio(counter: Any, key: Any, dtype: Any, dfnum: Any, dfden: Any) -> Any:
    over = standard_gamma(counter, key, dtype, dfnum / 2)
    return over * dfden / (standard_gamma(counter, key, dtype, dfden / 2, NEXT) * dfnum)


def standard_t(counter: Any, key: Any, dtype: Any, df: Any) -> Any:
    z = normal_of(words(counter, NEXT, key), dtype)
    return z * np.sqrt(df / 2 / standard_gamma(counter, key, dtype, df / 2))


def wald(counter: Any, key: Any, dtype: Any, mean: Any, scale: Any) -> Any:
    """By Michael, Schucany and Haas, the smaller root without a difference."""
    w = words(counter, 0, key)
    z = normal_of(w, dtype)
    y = mean * z * z
    root = np.sqrt(y) + np.sqrt(y + 4 * scale)
    x = mean * 4 * scale / (root * root)
    return np.where(narrow(w[3], dtype) * (mean + x) <= mean, x, mean * (mean / x))


def vonmises(counter: Any, key: Any, dtype: Any, mu: Any, kappa: Any) -> Any:
    """By Best and Fisher, with angles by half-angles, so that none is lost where they are small."""
    angle = kappa
    if kappa < 1e-8:
        w = words(counter, 0, key)
        angle = (wide(w[0], w[1], dtype) * 2 - 1) * np.pi
    else:
        k = np.where(kappa > 1e18, kappa * 0 + 1e18, kappa)
        far = np.hypot(k * 2, k * 0 + 1)
        tau = 1 + far
        both = np.sqrt(tau) * (np.sqrt(tau) + np.sqrt(k * 0 + 2))
        rho = k * 2 / both
        rest = (1 + 1 / (far + k * 2) + np.sqrt(tau * 2)) / both  # 1 - rho
        s = rest * rest / (rho * 2)  # Best and Fisher's r, less 1
        below, sign, good, attempt = k, k, False, 0
        while not good and attempt < LIMIT:
            w = words(counter, attempt, key)
            half = np.sin(wide(w[0], w[1], dtype) * (np.pi / 2))
            z = half * half * 2  # 1 less the cosine
            below = s * z / (s + 2 - z)  # 1 less the cosine of the angle
            y = k * (s + below)
            v = narrow(w[2], dtype)
            good = y * (2 - y) - v > 0 or not np.log(y / v) + 1 - y < 0
            sign = np.where(w[3] < np.uint32(0x80000000), k * 0 - 1, k * 0 + 1)
            attempt += 1
        angle = sign * 2 * np.arcsin(np.sqrt(np.minimum(below / 2, 1)))
    turned = angle + mu
    return turned - np.floor((turned + np.pi) / (2 * np.pi)) * (2 * np.pi)
