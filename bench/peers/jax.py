# bench/peers/jax.py: jax with jit and float64; BENCH_KIND chooses the device.
from __future__ import annotations

import functools
import os

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf
from workloads import arrays, device_host, devices

PACKAGES = ["jax", "jaxlib"]
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cuda" if os.environ.get("BENCH_KIND") == "cuda" else "cpu")


def jacobi(xp, u, sweeps=arrays.SWEEPS):
    def sweep(_, pair):
        u, v = pair
        v = v.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))
        return v, u

    return jax.lax.fori_loop(0, sweeps, sweep, (u, u))[0]


def small_chain(xp, a, b):
    t = a * b + a - b
    return ((((t * t + 1.0) * 0.5 - a) * b + b) * 2.0)[3]


def prepare(name, inputs):
    if name == "add_into":  # its arrays cannot be written
        return None
    function = {"jacobi": jacobi, "jacobi_20": functools.partial(jacobi, sweeps=devices.SWEEPS), "small_chain": small_chain}.get(
        name, devices.ALL[name]
    )
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


def cost(name, whole):
    """As that of peers/pardo.py."""
    if name in ("launch", "launch_wait"):
        a, b = jnp.ones(16, "float32"), jnp.ones(16, "float32")
        add = jax.jit(jnp.add)
        return (lambda: add(a, b), wait) if name == "launch" else (lambda: wait(add(a, b)), None)
    if name == "to_device":
        values = np.ones(device_host.copied_bytes(whole) // 4, dtype="float32")
        return lambda: wait(jnp.array(values)), None
    if name == "from_device" and jax.default_backend() != "cpu":
        x = jnp.ones(device_host.copied_bytes(whole) // 4, "float32")
        # An array keeps its copy on the host: each time a new one.
        return lambda: np.asarray(x + 0), None
    return None
