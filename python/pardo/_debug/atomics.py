# python/pardo/_debug/atomics.py: atomic operations of interpreted kernels.
from __future__ import annotations

from typing import Any

from pardo._debug import races
from pardo._language.steps import step


def atomic(name: str, array: Any, index: Any, *values: Any, order: str, scope: str) -> Any:
    """An atomic operation: items run one at a time, so it is a plain one."""
    if not isinstance(array, races.Watched):
        return step(name, array, index, *values)
    return step(name, array, index, *values, note=lambda does: array.atomic(index, does, order, scope))
