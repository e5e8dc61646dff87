# python/pardo/_base/promotion.py: what dtypes are and become, also bfloat16, whose dtype is not one of NumPy's own.
from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core

_ORDER = "cfiub"  # NumPy promotes to the widest kind first: int8 and uint8 beside a float16 do not become int16


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Whether it is the dtype bfloat16 of ml_dtypes. The question does not import that package."""
    return dtype.kind == "V" and dtype.type.__name__ == "bfloat16" and dtype.isnative


def kind_of(dtype: np.dtype[Any]) -> str:
    """NumPy's letter of its kind; 'f' for bfloat16, whose own says 'V'. Of an array, `x._kind` is faster."""
    kind = dtype.kind
    return "f" if kind == "V" and is_bfloat16(dtype) else kind


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether it is a float that is computed in float32, and rounded where it is stored."""
    return dtype.itemsize == 2 and kind_of(dtype) == "f"


@functools.cache
def bfloat16() -> np.dtype[Any]:
    """The dtype; ImportError without ml_dtypes."""
    try:
        package = importlib.import_module("ml_dtypes")
    except ModuleNotFoundError:
        raise ImportError("bfloat16 is a dtype of the package ml_dtypes, which is not installed: pip install ml_dtypes") from None
    dtype: np.dtype[Any] = np.dtype(package.bfloat16)
    return dtype


def host_dtype(dtype: Any) -> np.dtype[Any]:
    """What NumPy makes of it, and of the text 'bfloat16', which NumPy knows once ml_dtypes is imported."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        if not (isinstance(dtype, str) and dtype == "bfloat16"):
            raise
        found = bfloat16()
    return found


def to_bfloat16(values: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Numbers of float64 rounded once. Those of ml_dtypes go by float32, so here its last bit tells that something is missing."""
    with np.errstate(all="ignore"):
        nearest = values.astype(np.float32)
    bits, back = nearest.view(np.uint32), np.abs(nearest.astype(np.float64))
    even = (bits & 1) == 0
    bits[even & (back < np.abs(values))] += 1
    bits[even & (back > np.abs(values))] -= 1
    rounded: np.ndarray[Any, np.dtype[Any]] = nearest.astype(bfloat16())
    return rounded


def is_number_of_bfloat16(x: Any) -> bool:
    """Whether it is a scalar of that type, which is a `numpy.generic` and no `numpy.number`."""
    return isinstance(x, np.generic) and is_bfloat16(x.dtype)


def _promoted(first: np.dtype[Any], second: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(_core._promote(first, second))


def _strong(x: Any) -> np.dtype[Any] | None:
    """The dtype of an argument; None for Python's numbers, which take that of what they meet."""
    if isinstance(x, np.dtype):
        return x
    if isinstance(x, (_core.Array, np.ndarray, np.generic)):
        dtype: np.dtype[Any] = x.dtype
        return dtype
    return None if isinstance(x, (bool, int, float, complex)) else host_dtype(x)


def _may_name_bfloat16(*values: Any) -> bool:
    """False where bfloat16 cannot be among the arguments: its package has not been imported, and no text asks for that."""
    return "ml_dtypes" in sys.modules or any(isinstance(x, str) and x == "bfloat16" for x in values)


def result_type(*values: Any) -> np.dtype[Any]:
    """As `numpy.result_type`, with bfloat16 by the rules of the core."""
    if not _may_name_bfloat16(*values):
        return np.result_type(*values)
    strong = [t for t in map(_strong, values) if t is not None]
    if "V" not in [t.kind for t in strong] or not any(map(is_bfloat16, strong)):
        return np.result_type(*values)
    dtype = functools.reduce(_promoted, sorted(strong, key=lambda t: _ORDER.find(kind_of(t))))
    weak = [x for x in values if _strong(x) is None]
    if not is_bfloat16(dtype):
        return np.result_type(dtype, *weak)
    return np.dtype(np.complex64) if any(isinstance(x, complex) for x in weak) else dtype


def promote_types(type1: DTypeLike, type2: DTypeLike) -> np.dtype[Any]:
    """As `numpy.promote_types`, with bfloat16 by the rules of the core."""
    first, second = host_dtype(type1), host_dtype(type2)
    return _promoted(first, second) if is_bfloat16(first) or is_bfloat16(second) else np.promote_types(first, second)


def can_cast(source: Any, target: DTypeLike, casting: str = "safe") -> bool:
    """As `numpy.can_cast`, with bfloat16 by the rules of the core."""
    if not _may_name_bfloat16(source, target):
        return np.can_cast(source, target, casting)  # type: ignore[arg-type]
    first, second = _strong(source), target if isinstance(target, np.dtype) else host_dtype(target)
    if first is None or not (is_bfloat16(first) or is_bfloat16(second)) or casting not in ("no", "equiv", "safe", "same_kind"):
        return np.can_cast(source, second, casting)  # type: ignore[arg-type]
    if first == second:
        return True
    if casting in ("no", "equiv") or first.names is not None or second.names is not None:
        return False
    return bool((_core._can_cast_safe if casting == "safe" else _core._can_cast_same_kind)(first, second))


def finfo(dtype: Any) -> Any:
    """As `numpy.finfo`; of bfloat16 the one of ml_dtypes."""
    found = dtype if isinstance(dtype, np.dtype) else host_dtype(dtype)
    return importlib.import_module("ml_dtypes").finfo(found) if is_bfloat16(found) else np.finfo(found)
