# tests/python/test_no_fp64.py: a device without float64 (the CPU pretends to be one): its defaults, and what it refuses.
from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import numpy as np, pardo as pp

info = pp.__array_namespace_info__()
assert not pp.Device().has_fp64 and not pp.Device().has_aspect("fp64") and pp.Device().double_fp_config == ()
assert "float64" not in info.dtypes() and "complex128" not in info.dtypes() and "float32" in info.dtypes()
defaults = info.default_dtypes()
assert (defaults["real floating"], defaults["complex floating"]) == (np.float32, np.complex64)
assert not pp.Device().supports("float64")

n, k = pp.arange(6), pp.asarray(np.arange(6, dtype=np.uint64))
f = pp.ones(6, dtype="float32")
singles = {
    "zeros": pp.zeros(3), "ones": pp.ones(3), "empty": pp.empty(3), "eye": pp.eye(3), "identity": pp.identity(3),
    "full": pp.full(3, 1.5), "linspace": pp.linspace(0, 1, 5), "linspace of arrays": pp.linspace(n, n + 1, 3),
    "arange": pp.arange(0.0, 1.0, 0.25), "asarray": pp.asarray([1.5, 2.5]), "a number": pp.asarray(1.5), "scalar": pp.sqrt(2.0),
    "divide": n / 2, "divide arrays": n / n, "times float": n * 1.5, "int64 and float32": n + f, "int64 and uint64": n + k,
    "sqrt": pp.sqrt(n), "hypot": pp.hypot(n, k), "mean": pp.mean(n), "std": pp.std(n), "var": pp.var(n, correction=1),
    "var of a mean": pp.var(n, mean=pp.mean(n, keepdims=True)), "astype(None)": n.astype(None), "concat": pp.concat([n, f]),
    "where": pp.where(n > 2, n, 0.5), "power": n ** 0.5, "matmul": n @ f, "median-like": pp.mean(n, where=n > 2), "angle": pp.angle(n > 2),
    "in place": f.copy().__itruediv__(2), "float32 sum": f.sum(), "clip": pp.clip(n, 0.5, 2.5), "full_like": pp.full_like(f, 2),
    "rounded": pp.round(f, 1), "meshgrid": pp.meshgrid(pp.linspace(0, 1, 3), pp.arange(2.0))[0], "expm1": pp.expm1(n),
}
for name, x in singles.items():
    assert x.dtype == np.float32, (name, x.dtype)
    np.asarray(x)
np.testing.assert_allclose(np.asarray(n / 4), np.arange(6) / 4)
np.testing.assert_allclose(np.asarray(pp.std(n)), np.std(np.arange(6)), rtol=1e-6)
np.testing.assert_allclose(np.asarray(pp.linspace(0, 1, 7)), np.linspace(0, 1, 7), rtol=1e-6)
assert (1 // n[1:]).dtype == np.int64 and pp.round(n, -1).dtype == np.int64
assert np.asarray(pp.reciprocal(n[1:])).tolist() == [1, 0, 0, 0, 0]
assert np.asarray(n < k + 1).all() and np.asarray(n == n * 1.0).all()
for x in (n * 1j, f * 1j, pp.full(3, 1j), pp.asarray([1j]), pp.linspace(0, 1j, 3), pp.sqrt(1j)):
    assert x.dtype == np.complex64, x.dtype

wide = np.ones(3)
for name, call in {
    "asarray of NumPy": lambda: pp.asarray(wide), "dtype": lambda: pp.zeros(3, dtype="float64"),
    "astype": lambda: n.astype("float64"), "complex": lambda: pp.ones(3, dtype="complex128"),
    "shared": lambda: pp.asarray(wide, copy=False), "sum": lambda: pp.sum(f, dtype="float64"),
    "mean": lambda: pp.mean(n, dtype="float64"), "NumPy's scalar": lambda: f * np.float64(2),
    "keyword": lambda: pp.add(f, f, dtype="float64"), "linspace": lambda: pp.linspace(0, 1, 3, dtype="float64"),
    "arange": lambda: pp.arange(3, dtype="float64"), "dlpack": lambda: pp.from_dlpack(wide),
    "eye": lambda: pp.eye(3, dtype="float64"), "full": lambda: pp.full(3, np.float64(1)),
}.items():
    try:
        x = call()
    except TypeError as e:
        assert "64 is not supported by device cpu:0" in str(e) or "complex128 is not supported by device cpu:0" in str(e), (name, e)
        assert "which has no fp64: ask for" in str(e), (name, e)
    else:
        raise AssertionError(f"{name}: {x!r}")
assert pp.asarray(wide, dtype="float32").dtype == np.float32
other = pp.ones(3, device="null")
assert other.dtype == np.float64
try:
    other.to_device("cpu")
except TypeError as e:
    assert "float64 is not supported" in str(e)
else:
    raise AssertionError("to_device")
print(pp.ones(3), "fine")
"""


def run(**environment):
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, env={**os.environ, **environment})


def test_defaults_and_refusals():
    done = run(PARDO_CPU_FP64="0", PARDO_DEVICE="cpu")
    assert done.returncode == 0, done.stderr


def test_the_switch_is_checked():
    done = run(PARDO_CPU_FP64="perhaps")
    assert "PARDO_CPU_FP64" in done.stderr
