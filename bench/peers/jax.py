# bench/peers/jax.py: jax with jit and float64.
from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf
from workloads import arrays

PACKAGES = ["jax", "jaxlib"]
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


def jacobi(xp, u):
    def sweep(_, pair):
        u, v = pair
        v = v.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))
        return v, u

    return jax.lax.fori_loop(0, arrays.SWEEPS, sweep, (u, u))[0]


def small_chain(xp, a, b):
    t = a * b + a - b
    return ((((t * t + 1.0) * 0.5 - a) * b + b) * 2.0)[3]


def prepare(name, inputs):
    function = {"jacobi": jacobi, "small_chain": small_chain}.get(name, arrays.ALL[name])
    if name == "black_scholes":
        function = functools.partial(function, erf=erf)
    compiled = functools.partial(function, jnp)
    if name not in (
        "compress",
        "small_add",
    ):  # one has a shape that depends on data, the other asks for one operation's cost
        compiled = jax.jit(compiled)
    values = tuple(jnp.asarray(value) for value in inputs)
    if name == "small_chain":
        return lambda: float(compiled(*values))
    return lambda: compiled(*values)


def wait(result):
    return jax.block_until_ready(result)


def to_numpy(result):
    return np.asarray(result)
