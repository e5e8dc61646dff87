# bench/kernels/black_scholes.py: prices of European options (Black and Scholes 1973), one option a round.
import math

import numpy as np
from workloads import arrays
from workloads.kernels import Problem

RATE, VOLATILITY, ROOT_HALF = arrays.RATE, arrays.VOLATILITY, 0.7071067811865476


def problem(rng, n, dtype):
    from scipy.special import erf

    # A block of random numbers again and again: neither they nor NumPy's prices take the time of a run.
    block = min(n, 1 << 22)
    parts = [rng.uniform(low, high, block).astype(dtype) for low, high in ((10, 100), (10, 100), (0.1, 3))]
    priced = arrays.black_scholes(np, *(part.astype("float64") for part in parts), erf=erf)
    whole = [np.resize(part, n) for part in parts]
    tolerance = 1e-8 if dtype == "float64" else 2e-3
    written = {k: np.resize(value, n) for k, value in enumerate(priced, start=3)}
    return Problem((*whole, np.zeros(n, dtype), np.zeros(n, dtype)), written, rtol=tolerance, atol=tolerance)


def on_pardo(price, strike, years, call, put, kernel):
    import pardo as pp

    @pp.func
    def option(price, strike, years):
        width = VOLATILITY * math.sqrt(years)
        d1 = (math.log(price / strike) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / width
        d2 = d1 - width
        discounted = strike * math.exp(-RATE * years)
        value = price * (0.5 + 0.5 * math.erf(d1 * ROOT_HALF)) - discounted * (0.5 + 0.5 * math.erf(d2 * ROOT_HALF))
        return value, value - price + discounted

    @pp.kernel
    def one(item: pp.Item, price, strike, years, call, put):
        i = item.get_id(0)
        call[i], put[i] = option(price[i], strike[i], years[i])

    @pp.jit
    def all_of_them(price, strike, years, call, put):
        for i in pp.prange(price.shape[0]):
            call[i], put[i] = option(price[i], strike[i], years[i])

    if kernel:
        launch = one[pp.Range(price.size)]
        return lambda: launch(price, strike, years, call, put)

    def run():
        all_of_them(price, strike, years, call, put)
        return call, put

    return run


def on_numba(price, strike, years, call, put, kernel):
    import numba as nb

    @nb.njit(parallel=True)
    def black_scholes(price, strike, years, call, put):
        for i in nb.prange(price.shape[0]):
            width = VOLATILITY * math.sqrt(years[i])
            d1 = (math.log(price[i] / strike[i]) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years[i]) / width
            d2 = d1 - width
            discounted = strike[i] * math.exp(-RATE * years[i])
            value = price[i] * (0.5 + 0.5 * math.erf(d1 * ROOT_HALF)) - discounted * (0.5 + 0.5 * math.erf(d2 * ROOT_HALF))
            call[i] = value
            put[i] = value - price[i] + discounted

    return lambda: black_scholes(price, strike, years, call, put)


def on_numba_dpex(price, strike, years, call, put, kernel):
    import numba_dpex as dpex
    from numba_dpex import kernel_api as api

    @dpex.kernel
    def black_scholes(item: api.Item, price, strike, years, call, put):
        i = item.get_id(0)
        width = VOLATILITY * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years[i]) / width
        d2 = d1 - width
        discounted = strike[i] * math.exp(-RATE * years[i])
        value = price[i] * (0.5 + 0.5 * math.erf(d1 * ROOT_HALF)) - discounted * (0.5 + 0.5 * math.erf(d2 * ROOT_HALF))
        call[i] = value
        put[i] = value - price[i] + discounted

    return lambda: dpex.call_kernel(black_scholes, dpex.Range(price.size), price, strike, years, call, put)


def on_warp(price, strike, years, call, put, kernel):
    import warp as wp

    Values = wp.array(dtype=wp.float64)

    @wp.kernel
    def black_scholes(price: Values, strike: Values, years: Values, call: Values, put: Values):
        i = wp.tid()
        rate, volatility = wp.float64(RATE), wp.float64(VOLATILITY)
        half, root_half = wp.float64(0.5), wp.float64(ROOT_HALF)
        width = volatility * wp.sqrt(years[i])
        d1 = (wp.log(price[i] / strike[i]) + (rate + half * volatility * volatility) * years[i]) / width
        d2 = d1 - width
        discounted = strike[i] * wp.exp(-rate * years[i])
        value = price[i] * (half + half * wp.erf(d1 * root_half)) - discounted * (half + half * wp.erf(d2 * root_half))
        call[i] = value
        put[i] = value - price[i] + discounted

    return lambda: wp.launch(black_scholes, dim=price.size, inputs=[price, strike, years, call, put], device="cpu")


def on_drjit(price, strike, years, call, put, kernel):
    import drjit as dr

    return lambda: arrays.black_scholes(dr, price, strike, years, erf=dr.erf)


CUDA = """
extern "C" __global__ void black_scholes(const T* price, const T* strike, const T* years, T* call, T* put, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T rate = RATE, volatility = VOLATILITY, half = 0.5, root_half = ROOT_HALF;
    T p = price[i], k = strike[i], y = years[i], width = volatility * sqrt(y);
    T d1 = (log(p / k) + (rate + half * volatility * volatility) * y) / width, d2 = d1 - width;
    T discounted = k * exp(-rate * y);
    T value = p * (half + half * erf(d1 * root_half)) - discounted * (half + half * erf(d2 * root_half));
    call[i] = value;
    put[i] = value - p + discounted;
}
"""


def on_cupy(price, strike, years, call, put, kernel):
    import cupy

    constants = {"T": "double" if price.dtype == "float64" else "float", "RATE": RATE, "VOLATILITY": VOLATILITY, "ROOT_HALF": ROOT_HALF}
    prices = cupy.RawKernel(CUDA, "black_scholes", tuple(f"-D{name}={value}" for name, value in constants.items()))
    n = price.size
    return lambda: prices(((n + 255) // 256,), (256,), (price, strike, years, call, put, np.int32(n)))


OPENCL = """
kernel void black_scholes(
    global const double* price, global const double* strike, global const double* years, global double* call, global double* put) {
    size_t i = get_global_id(0);
    double p = price[i], y = years[i], width = VOLATILITY * sqrt(y);
    double d1 = (log(p / strike[i]) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * y) / width, d2 = d1 - width;
    double discounted = strike[i] * exp(-RATE * y);
    double value = p * (0.5 + 0.5 * erf(d1 * ROOT_HALF)) - discounted * (0.5 + 0.5 * erf(d2 * ROOT_HALF));
    call[i] = value;
    put[i] = value - p + discounted;
}
"""


def on_pyopencl(price, strike, years, call, put, kernel):
    from peers.pyopencl import launcher

    constants = {"RATE": RATE, "VOLATILITY": VOLATILITY, "ROOT_HALF": ROOT_HALF}
    return launcher(OPENCL, "black_scholes", (price.size,), None, price, strike, years, call, put, **constants)
