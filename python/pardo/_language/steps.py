# python/pardo/_language/steps.py: atomic operations as plain steps: of interpreted kernels, and outside of kernels.
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo._base import promotion
from pardo._base.promotion import kind_of

_ATOMIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "min": np.fmin,
    "max": np.fmax,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
    "exchange": lambda old, new: new,
}


def step(name: str, array: Any, index: Any, *values: Any, note: Callable[[str], None] | None = None) -> Any:
    """An operation on an element of an array of NumPy's; what was there before. `note` is told what it does: 'load', 'store', 'change'."""
    does = name if name in ("load", "store") else "change"
    name = {"load": "add", "store": "exchange"}.get(name, name)
    op_name = f"atomic.{name}"
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{op_name}: the first argument is an array, not {type(array).__name__}")
    array = array.view(np.ndarray)
    dtype = array.dtype
    if kind_of(dtype) not in "iuf" or dtype.itemsize < 4:
        raise TypeError(f"{op_name}: atomics are for int32, uint32, int64, uint64, float32 and float64; the array is {dtype}")
    if name in ("and_", "or_", "xor") and kind_of(dtype) == "f":
        raise TypeError(f"{op_name}: and, or, xor are for integers; the array is {dtype}")
    old = array[index]
    if isinstance(old, np.ndarray):
        raise TypeError(f"{op_name}: the array has {old.ndim} dimensions more; give an index for each, as a tuple")
    given = [_fitting(op_name, value, dtype) for value in values]
    if name == "compare_exchange" and old.tobytes() != given[0].tobytes():
        does = "load"
    if note is not None:
        note(does)
    if name == "compare_exchange":
        if does != "load":
            array[index] = given[1]
    else:
        array[index] = _ATOMIC[name](old, given[0])
    return old


def _fitting(op_name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    kind = promotion.result_type(value) if not isinstance(value, int) else dtype
    if not promotion.can_cast(kind, dtype, "same_kind"):
        spoken = "a Python float" if type(value) is float else f"a {kind} number"
        raise TypeError(f"{op_name}: {spoken} does not fit the {dtype} array")
    return np.asarray(value).astype(dtype)[()]
