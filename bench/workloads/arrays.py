# bench/workloads/arrays.py: the array programs: what goes in, what NumPy says comes out, and the ratio to NumPy that must hold.
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SWEEPS = 50


@dataclass(frozen=True)
class Workload:
    title: str
    inputs: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    bar: float | None  # NumPy's time divided by pardo's: at least this
    rtol: float = 1e-9
    atol: float = 1e-9
    unit: str = "ms"


N = 10_000_000


def uniform(*shapes, low=0.0, high=1.0):
    return lambda rng: tuple(rng.uniform(low, high, shape) for shape in shapes)


WORKLOADS = {
    "add": Workload("a + b", uniform(N, N), 2.5),
    "saxpy_sum": Workload("(a * b + a).sum()", uniform(N, N), 4.5),
    "black_scholes": Workload(
        "Black-Scholes call and put, 4·10⁶, erf",
        lambda rng: (rng.uniform(10, 100, 4_000_000), rng.uniform(10, 100, 4_000_000), rng.uniform(0.1, 3, 4_000_000)),
        12,
        rtol=1e-8,
    ),
    "l2_norm": Workload("sqrt((x * x).sum(axis=1)), (2·10⁶, 3)", uniform((2_000_000, 3)), 12),
    "pairwise": Workload("pairwise distance by broadcasting, (3000, 3) twice", uniform((3000, 3), (3000, 3)), 25),
    "softmax": Workload("softmax of rows, (4096, 1024)", uniform((4096, 1024), low=-5, high=5), 4),
    "jacobi": Workload("Jacobi by slices, 1000², 50 sweeps", uniform((1000, 1000)), 8),
    "chain": Workload("ten elementwise operations with sin, cos, exp, 10⁶", uniform(1_000_000, 1_000_000), 10),
    "argmax": Workload("argmax", uniform(N), 1.3),
    "cumsum": Workload("cumsum", uniform(N), 6.5, rtol=1e-8),
    "compress": Workload("a[a > 0.5]", uniform(N), 2),
    "matmul": Workload("matmul 1024", uniform((1024, 1024), (1024, 1024)), 1.0),
    # Host cost: 16 elements, so that only the way there and back counts.
    "small_add": Workload("a + b on 16 elements, each forced", uniform(16, 16), None, unit="µs"),
    "small_chain": Workload("ten operations on 16 elements, one value read", uniform(16, 16), None, unit="µs"),
}


# Written once for every library that has NumPy's names; the others say the same in their own way.
def add(xp, a, b):
    return a + b


def saxpy_sum(xp, a, b):
    return (a * b + a).sum()


RATE, VOLATILITY = 0.02, 0.3


def black_scholes(xp, price, strike, years, *, erf):
    width = VOLATILITY * xp.sqrt(years)
    d1 = (xp.log(price / strike) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / width
    d2 = d1 - width
    discounted = strike * xp.exp(-RATE * years)
    call = price * (0.5 + 0.5 * erf(d1 * 0.7071067811865476)) - discounted * (0.5 + 0.5 * erf(d2 * 0.7071067811865476))
    return call, call - price + discounted


def l2_norm(xp, x):
    return xp.sqrt((x * x).sum(axis=1))


def pairwise(xp, x, y):
    return xp.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=-1))


def softmax(xp, x):
    e = xp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def jacobi(xp, u):
    u, v = u.copy(), u.copy()
    for _ in range(SWEEPS):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


def chain(xp, x, y):
    t = xp.sin(x) * y
    t = t + xp.cos(y)
    t = t * xp.exp(x) - y
    t = t * t
    return (t + 1.0) * 0.5


def argmax(xp, a):
    return xp.argmax(a)


def cumsum(xp, a):
    return xp.cumsum(a)


def compress(xp, a):
    return a[a > 0.5]


def matmul(xp, a, b):
    return a @ b


def small_add(xp, a, b):
    return a + b


def small_chain(xp, a, b):
    t = a * b
    t = t + a
    t = t - b
    t = t * t
    t = t + 1.0
    t = t * 0.5
    t = t - a
    t = t * b
    t = t + b
    t = t * 2.0
    return float(t[3])


ALL = {name: globals()[name] for name in WORKLOADS}
