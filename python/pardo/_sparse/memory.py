# python/pardo/_sparse/memory.py: what methods of sparse arrays compute is in memory of the kind of their operands, as with other arrays.
from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from pardo._array.contexts import in_kind
from pardo._core import Array
from pardo._sparse.base import sparray

_OPERATORS = {
    "__abs__", "__add__", "__eq__", "__ge__", "__getitem__", "__gt__", "__le__", "__lt__", "__matmul__", "__mul__", "__ne__", "__neg__",
    "__pow__", "__radd__", "__rmatmul__", "__rmul__", "__rsub__", "__sub__", "__truediv__",
}  # fmt: skip
_PLACED = {"to_device", "to_queue", "to_scipy"}  # whose results are where they are asked for


def keep_kinds(*kinds: type) -> None:
    """Let methods and operators of these classes, and of those that they inherit from, keep the kind of memory."""
    for part in {part for kind in kinds for part in kind.__mro__ if part.__module__.startswith("pardo._sparse.")}:
        for name, method in list(vars(part).items()):
            if isinstance(method, FunctionType) and (name in _OPERATORS or not name.startswith("_")) and name not in _PLACED:
                setattr(part, name, _keeping(method))


def _keeping(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapper(self: Any, *arguments: Any, **keywords: Any) -> Any:
        before = _arrays_in((self, *arguments, *keywords.values())) if self.data.usm_type != "device" else []
        result = method(self, *arguments, **keywords)
        if not before:  # all results are memory of the device
            return result
        if result is None:  # it has changed itself
            vars(self).update(_parts_of(self, before))
        if not isinstance(result, sparray) or result is self:
            return in_kind(result, before, {})
        made = object.__new__(type(result))
        vars(made).update(vars(result) | _parts_of(result, before))
        return made

    return wrapper


def _arrays_in(values: tuple[Any, ...]) -> list[Array]:
    parts = [x for value in values for x in (vars(value).values() if isinstance(value, sparray) else (value,))]
    return [x for x in parts if type(x) is Array]


def _parts_of(x: sparray, operands: list[Array]) -> dict[str, Array]:
    """The arrays that a sparse array consists of, by their names, in memory of the kind of the operands."""
    return {name: in_kind(part, operands, {}) for name, part in vars(x).items() if type(part) is Array}
