# bench/kernels/article.py: c[i] = a[i] + b[i] over 10⁸ elements, beside the loop that Python itself runs over NumPy's arrays.
import numpy as np
from workloads.kernels import Problem

MEASURED = 1_000_000  # rounds of Python's own loop; its time is scaled to all of them


def problem(rng, n):
    a, b = rng.random(n), rng.random(n)
    return Problem((a, b, np.zeros(n)), {2: a + b})


def on_python(a, b, c):
    """The share of the work that the function does stands beside it."""

    def add(a, b, c, n):
        for i in range(n):
            c[i] = a[i] + b[i]

    return (lambda: add(a, b, c, MEASURED)), MEASURED / len(c)


def on_pardo(a, b, c):
    import pardo as pp

    @pp.jit
    def add(a, b, c):
        for i in pp.prange(len(c)):
            c[i] = a[i] + b[i]

    def run():
        add(a, b, c)
        return c

    return run


def on_numba(a, b, c):
    import numba as nb

    @nb.njit(parallel=True)
    def add(a, b, c):
        for i in nb.prange(len(c)):
            c[i] = a[i] + b[i]

    return lambda: add(a, b, c)
