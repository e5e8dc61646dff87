# python/pardo/_array/wrong_values.py: which element it is that no array can be made of.
from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pardo._base.promotion import is_number_of_bfloat16, kind_of
from pardo._core import Array

LONGEST = 40  # of what is shown of a value
_NUMBERS = (bool, int, float, complex, np.number, np.bool_, numbers.Number)


def wrong_element(obj: Any) -> str:
    """ "element [1] is None; …" of what holds something else than numbers; empty where that is not found."""
    try:
        table = getattr(obj, "dtypes", None)
        if hasattr(obj, "columns") and table is not None:
            return _wrong_column(obj)
        return _said(_first(obj, lambda x: _is_number(x) and not _too_large(x)))
    except Exception:  # of an object of others, which is being described only
        return ""


def refused_element(obj: Any, dtype: np.dtype[Any]) -> str:
    """The same of an element that NumPy does not convert to a dtype."""
    try:
        return _said(_first(obj, lambda x: _converts(x, dtype)), dtype)
    except Exception:
        return ""


def _wrong_column(frame: Any) -> str:
    for name in frame.columns:
        dtype = np.asarray(frame[name]).dtype
        if kind_of(dtype) not in "biufc":
            values = np.asarray(frame[name]).reshape(-1)
            held = next((f", and holds {_shown(v)}" for v in values if not _is_number(v)), "")
            return f"column {name!r} has dtype {dtype}{held} (frame.select_dtypes('number') chooses columns of numbers)"
    return ""


def _first(obj: Any, fits: Callable[[Any], bool]) -> tuple[tuple[int, ...], Any] | None:
    return next((found for found in _leaves(obj, ()) if not fits(found[1])), None)


def _leaves(obj: Any, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Each element of nested lists, with where it is; arrays of numbers are one."""
    if isinstance(obj, np.ndarray) and obj.ndim and kind_of(obj.dtype) not in "biufc":
        for at in np.ndindex(obj.shape):
            yield (*place, *at), obj[at]
    elif isinstance(obj, (list, tuple)):
        for i, item in enumerate(obj):
            yield from _leaves(item, (*place, i))
    elif not isinstance(obj, (Array, np.ndarray, str, bytes, *_NUMBERS)) and hasattr(obj, "__array__"):
        inner = np.asarray(obj)
        if inner.ndim:
            yield from _leaves(inner, place)
        else:
            yield place, inner[()]
    else:
        yield place, obj


def _is_number(x: Any) -> bool:
    return isinstance(x, (Array, *_NUMBERS)) or is_number_of_bfloat16(x) or (isinstance(x, np.ndarray) and kind_of(x.dtype) in "biufc")


def _too_large(x: Any) -> bool:
    return type(x) is int and not -(2**63) <= x < 2**64


def _converts(x: Any, dtype: np.dtype[Any]) -> bool:
    try:
        np.asarray(x, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _shown(x: Any) -> str:
    text = repr(str(x) if isinstance(x, str) else x)  # NumPy's texts show their class
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    if isinstance(x, str):
        return f"the text {text}"
    kind = type(x).__name__
    return text if x is None or isinstance(x, _NUMBERS) else f"{text}, {'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def _said(found: tuple[tuple[int, ...], Any] | None, dtype: np.dtype[Any] | None = None) -> str:
    if found is None or not found[0]:
        return ""
    place, x = found
    where = f"element [{', '.join(map(str, place))}] is {_shown(x)}"
    if type(x) is int:
        return f"{where}, which {dtype or '64 bits'} cannot hold" + ("" if dtype else " (dtype='float64' rounds it)")
    if x is None:
        return f"{where} (nan stands for what is missing)"
    if isinstance(x, str) and dtype is None and _converts(x, np.dtype(np.float64)):
        return f"{where} (dtype='float64' reads numbers out of texts)"
    return where
