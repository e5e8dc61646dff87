# tests/fuzz/results.py: whether what a function gave and made of its arguments is what plain Python gave and made.
from __future__ import annotations

from typing import Any

import numpy as np


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [v for part in value for v in flat(part)]
    return [] if value is None else [value]


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return np.shape(a) == np.shape(b) and bool(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind == "f"))


def difference(names: list[str], given: list[Any], after: list[Any], got: list[Any], want: list[Any]) -> str | None:
    for name, a, b in zip(names, given, after, strict=True):
        if not alike(a, b):
            return f"{name} is {np.asarray(a).tolist()}, Python makes {np.asarray(b).tolist()}"
    if len(got) != len(want) or not all(map(alike, got, want)):
        return f"returns {got}, Python {want}"
    return None
