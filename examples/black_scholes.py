# examples/black_scholes.py: prices of a million European options by a parallel loop that calls a function.
"""The formulas of Black and Scholes (1973), written for one option; checked by NumPy, and by the parity of calls and puts."""

import math
import time

import numpy as np
import pardo as pp

OPTIONS, RATE, VOLATILITY = 1_000_000, 0.02, 0.3


@pp.func
def normal(d):
    """The cumulative normal distribution."""
    return 0.5 + 0.5 * math.erf(d * math.sqrt(0.5))


@pp.jit
def black_scholes(price, strike, years, call, put):
    for i in pp.prange(price.shape[0]):
        width = VOLATILITY * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (RATE + 0.5 * VOLATILITY**2) * years[i]) / width
        discounted = strike[i] * math.exp(-RATE * years[i])
        call[i] = price[i] * normal(d1) - discounted * normal(d1 - width)
        put[i] = discounted * normal(width - d1) - price[i] * normal(-d1)


def with_pardo(*arrays):
    black_scholes(*arrays)
    return [pp.asnumpy(a) for a in arrays[3:]]


def with_numpy(price, strike, years):
    erf = np.vectorize(math.erf, otypes=[float])  # NumPy has none of its own

    def normal(d):
        return 0.5 + 0.5 * erf(d / np.sqrt(2.0))

    width = VOLATILITY * np.sqrt(years)
    d1 = (np.log(price / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / width
    discounted = strike * np.exp(-RATE * years)
    call = price * normal(d1) - discounted * normal(d1 - width)
    return call, call - price + discounted


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    rng = np.random.default_rng(0)
    given = [rng.uniform(low, high, OPTIONS) for low, high in ((5, 30), (1, 100), (0.25, 10))]
    arrays = [*(pp.asarray(x) for x in given), pp.zeros(OPTIONS), pp.zeros(OPTIONS)]
    with_pardo(*arrays)  # compiles
    pardo_time, result = seconds(with_pardo, *arrays)
    numpy_time, expected = seconds(with_numpy, *given)
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)
    print(f"{OPTIONS} options on {arrays[0].device}: calls cost {result[0].mean():.4f} on average, puts {result[1].mean():.4f}")
    print(f"NumPy with math.erf {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
