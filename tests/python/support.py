# tests/python/support.py: data for tests, and comparison with NumPy.
from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pardo as pp
import pytest

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def is_function(value: Any) -> bool:
    """A function that is written in Python: users see an object around those of the package."""
    return inspect.isfunction(value) or type(value) is type(pp.mean)


def samples(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Values of a dtype: small for integers, both signs, with zeros."""
    kind = np.dtype(dtype).kind
    if kind in "bui":
        low, high = {"b": (0, 2), "u": (0, 100), "i": (-50, 50)}[kind]
        return np.asarray(rng.integers(low, high, shape)).astype(dtype)
    values = np.asarray(rng.standard_normal(shape)) * 3
    if kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values).astype(dtype)


def check(actual: pp.Array, expected: np.ndarray, ulp: int = 0, label: str = "") -> None:
    """Same dtype and shape, and the same values up to so many units in the last place."""
    assert isinstance(actual, pp.Array), label
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{label}: dtype {actual.dtype}, NumPy's is {expected.dtype}"
    assert actual.shape == expected.shape, f"{label}: shape {actual.shape}, NumPy's is {expected.shape}"
    got = pp.asnumpy(actual)
    if ulp == 0 or expected.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected, err_msg=label)
        if expected.dtype.kind in "fc":  # -0.0 equals 0.0: comparisons of values do not tell them apart
            for mine, theirs in ((got.real, expected.real), (got.imag, expected.imag)):
                np.testing.assert_array_equal(
                    np.signbit(mine[theirs == 0]), np.signbit(theirs[theirs == 0]), err_msg=f"{label}: signs of zeros"
                )
    else:
        eps = np.finfo(expected.dtype).eps
        np.testing.assert_allclose(got, expected, rtol=ulp * eps, atol=ulp * eps, err_msg=label)


def message_of_wrong_draw(call: str) -> str:
    """What a call of a generator's method says that NumPy refuses: by an exception of NumPy's type, before anything is drawn."""
    with pytest.raises(Exception) as expected:
        eval(f"g.{call}", {"g": np.random.default_rng(0)})
    g = pp.random.default_rng(0)
    with pytest.raises(expected.type) as found:
        eval(f"g.{call}", {"g": g})
    assert len(str(found.value)) > 20
    assert g.counter == (0, 0, 0, 0), "nothing is drawn by a call that fails"
    return str(found.value)


def launched(kernel: Any, n: int, *arguments: Any) -> list[np.ndarray]:
    """Launch over n items, on copies of NumPy arrays; the arrays afterwards."""
    given = [pp.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[pp.Range(n)](*given).wait()
    return [pp.asnumpy(a) for a in given if isinstance(a, pp.ndarray)]
