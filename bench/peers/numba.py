# bench/peers/numba.py: numba with parallel=True: NumPy's expressions where it takes them, explicit loops where it does not.
from __future__ import annotations

import math

import numba as nb
import numpy as np
from workloads import arrays

PACKAGES = ["numba"]
nb.set_num_threads(min(2, nb.config.NUMBA_NUM_THREADS))
jit = nb.njit(parallel=True)
RATE, VOLATILITY, SWEEPS = arrays.RATE, arrays.VOLATILITY, arrays.SWEEPS


@jit
def add(a, b):
    return a + b


@jit
def saxpy_sum(a, b):
    return (a * b + a).sum()


@jit
def black_scholes(price, strike, years):
    call, put = np.empty_like(price), np.empty_like(price)
    for i in nb.prange(price.size):
        width = VOLATILITY * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years[i]) / width
        d2 = d1 - width
        discounted = strike[i] * math.exp(-RATE * years[i])
        n1 = 0.5 + 0.5 * math.erf(d1 * 0.7071067811865476)
        n2 = 0.5 + 0.5 * math.erf(d2 * 0.7071067811865476)
        call[i] = price[i] * n1 - discounted * n2
        put[i] = call[i] - price[i] + discounted
    return call, put


@jit
def l2_norm(x):
    result = np.empty(x.shape[0])
    for i in nb.prange(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * x[i, j]
        result[i] = math.sqrt(s)
    return result


@jit
def pairwise(x, y):
    result = np.empty((x.shape[0], y.shape[0]))
    for i in nb.prange(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                t = x[i, k] - y[j, k]
                s += t * t
            result[i, j] = math.sqrt(s)
    return result


@jit
def softmax(x):
    result = np.empty_like(x)
    for i in nb.prange(x.shape[0]):
        largest = x[i, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            result[i, j] = math.exp(x[i, j] - largest)
            total += result[i, j]
        for j in range(x.shape[1]):
            result[i, j] /= total
    return result


@jit
def jacobi(start):
    u, v = start.copy(), start.copy()
    for _ in range(SWEEPS):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


@jit
def chain(x, y):
    t = (np.sin(x) * y + np.cos(y)) * np.exp(x) - y
    return (t * t + 1.0) * 0.5


@jit
def argmax(a):
    return a.argmax()


@nb.njit
def cumsum(a):
    return np.cumsum(a)


@nb.njit
def compress(a):
    return a[a > 0.5]


@nb.njit
def matmul(a, b):
    return a @ b


@nb.njit
def small_add(a, b):
    return a + b


@nb.njit
def small_chain(a, b):
    t = a * b + a - b
    t = ((t * t + 1.0) * 0.5 - a) * b + b
    return t * 2.0


def prepare(name, inputs):
    function = globals()[name]
    if name == "small_chain":
        return lambda: float(function(*inputs)[3])
    return lambda: function(*inputs)


def array(value):
    return value


def wait(result):
    return result


def to_numpy(result):
    return np.asarray(result)
