# bench/peers/drjit.py: Dr.Jit's LLVM back end; its arrays are lazy, so each result is evaluated and waited for.
from __future__ import annotations

import drjit as dr
import numpy as np
from drjit.llvm import Float64, Int32, TensorXf64
from workloads import arrays

PACKAGES = ["drjit"]
RETURNS = True  # its programs give new arrays instead of writing into those that are there
dr.set_thread_count(2)


def black_scholes(price, strike, years):
    return arrays.black_scholes(dr, price, strike, years, erf=dr.erf)


def l2_norm(x):
    return dr.sqrt(dr.sum(x * x, axis=1))


def pairwise(x, y):
    return dr.sqrt(dr.sum(dr.square(x[:, None, :] - y[None, :, :]), axis=2))


def softmax(x):
    e = dr.exp(x - dr.max(x, axis=1)[:, None])
    return e / dr.sum(e, axis=1)[:, None]


def jacobi(start):
    u, v = TensorXf64(start), TensorXf64(start)
    for _ in range(arrays.SWEEPS):
        mean = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        v[1:-1, 1:-1] = mean.array
        dr.eval(v)
        u, v = v, u
    return u


def small_chain(a, b):
    t = a * b + a - b
    return (((t * t + 1.0) * 0.5 - a) * b + b) * 2.0


FORMS = {
    "add": lambda a, b: a + b,
    "saxpy_sum": lambda a, b: dr.sum(a * b + a),
    "black_scholes": black_scholes,
    "l2_norm": l2_norm,
    "pairwise": pairwise,
    "softmax": softmax,
    "jacobi": jacobi,
    "chain": lambda x, y: arrays.chain(dr, x, y),
    "argmax": lambda a: dr.compress(a == dr.max(a)),
    "cumsum": dr.cumsum,
    "compress": lambda a: dr.gather(Float64, a, dr.compress(a > 0.5)),
    "matmul": lambda a, b: a @ b,
    "small_add": lambda a, b: a + b,
}


def prepare(name, inputs):
    values = tuple(Float64(value) if value.ndim == 1 else TensorXf64(value) for value in inputs)
    dr.eval(*values)
    if name == "small_chain":
        return lambda: float(small_chain(*values)[3])
    function = FORMS[name]
    return lambda: function(*values)


def array(value):
    return {"float64": Float64, "int32": Int32}[str(value.dtype)](value.ravel())


def wait(result):
    if not isinstance(result, float):
        dr.eval(result)
        dr.sync_thread()
    return result


def to_numpy(result):
    array = np.asarray(result)
    return array[0] if array.size == 1 and array.ndim else array
