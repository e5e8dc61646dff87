# bench/peers/numexpr.py: numexpr for what it can say (no erf, no slices on the left, sums over one axis).
from __future__ import annotations

import numexpr as ne
import numpy as np
from workloads import arrays

PACKAGES = ["numexpr"]
ne.set_num_threads(2)

FORMS = {
    "add": ("a + b", "ab"),
    "saxpy_sum": ("sum(a * b + a)", "ab"),
    "chain": ("(((sin(x) * y + cos(y)) * exp(x) - y) ** 2 + 1.0) * 0.5", "xy"),
    "small_add": ("a + b", "ab"),
}


def prepare(name, inputs):
    if name in FORMS:
        text, names = FORMS[name]
        values = dict(zip(names, inputs, strict=True))
        return lambda: ne.evaluate(text, values)
    if name == "small_chain":
        a, b = inputs
        text = "((((((a * b + a - b) ** 2) + 1.0) * 0.5 - a) * b) + b) * 2.0"
        return lambda: float(ne.evaluate(text, {"a": a, "b": b})[3])
    if name == "l2_norm":
        (x,) = inputs
        return lambda: np.sqrt(ne.evaluate("sum(x * x, axis=1)", {"x": x}))
    if name == "pairwise":
        x, y = inputs[0][:, None, :], inputs[1][None, :, :]
        return lambda: np.sqrt(ne.evaluate("sum((x - y) ** 2, axis=2)", {"x": x, "y": y}))
    if name == "softmax":
        (x,) = inputs

        def softmax():
            e = ne.evaluate("exp(x - m)", {"x": x, "m": x.max(axis=1, keepdims=True)})
            return ne.evaluate("e / s", {"e": e, "s": e.sum(axis=1, keepdims=True)})

        return softmax
    if name == "jacobi":

        def jacobi():
            u, v = inputs[0].copy(), inputs[0].copy()
            for _ in range(arrays.SWEEPS):
                parts = {"a": u[:-2, 1:-1], "b": u[2:, 1:-1], "c": u[1:-1, :-2], "d": u[1:-1, 2:]}
                ne.evaluate("0.25 * (a + b + c + d)", parts, out=v[1:-1, 1:-1])
                u, v = v, u
            return u

        return jacobi
    return None


def wait(result):
    return result


def to_numpy(result):
    return np.asarray(result)
