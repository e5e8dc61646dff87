# python/pardo/_compiler/names.py: names that a function does not assign: what they stand for, and whether that is another thing now.
from __future__ import annotations

import ast
import builtins
import inspect
import types
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._compiler.intrinsics import known, ours_for, written
from pardo._compiler.numba_cython import is_foreign

absent: Any = object()
_VALUES = (bool, int, float, complex, np.generic, tuple)


class Captured(NamedTuple):
    """A value from outside that became part of the program."""

    owner: Any  # a dict of globals, a cell, or an object with attributes
    name: str
    value: Any


def current(captured: Captured) -> Any:
    """What the name of a captured value stands for now."""
    if isinstance(captured.owner, types.CellType):
        try:
            return captured.owner.cell_contents
        except ValueError:
            return absent
    if isinstance(captured.owner, dict):
        return captured.owner.get(captured.name, absent)
    return getattr(captured.owner, captured.name, absent)


def python_function(called: Any) -> types.FunctionType | None:
    """The plain function behind something that can be called in a kernel; None if there is none."""
    for attribute in ("_pardo_function", "py_func"):  # pardo's own; Numba's
        inner = getattr(called, attribute, None)
        if isinstance(inner, types.FunctionType):
            return inner
    if (ours := ours_for(called)) is not None:
        return ours
    return called if isinstance(called, types.FunctionType) and id(called) not in known else None


_SUSPENDED = {
    inspect.CO_ASYNC_GENERATOR: "an async generator",
    inspect.CO_COROUTINE: "an async function",
    inspect.CO_GENERATOR: "a generator",
}


def refuse_suspended(op_name: str, function: types.FunctionType) -> None:
    """Raise for functions whose statements do not run when they are called."""
    for flag, what in _SUSPENDED.items():
        if function.__code__.co_flags & flag:
            raise TypeError(
                f"{op_name}: {function.__name__} is {what}, whose statements do not run when it is called; "
                "put the loops into a plain function, and call that"
            )


def function_with_loops(op_name: str, decorated: Any) -> types.FunctionType:
    """The plain function that a decorator is given; a TypeError where its loops could not be read or would not run."""
    function = python_function(decorated)
    if function is None:
        raise TypeError(f"{op_name}: decorates a function, not {type(decorated).__name__}")
    if function.__name__ == "<lambda>":
        raise TypeError(f"{op_name}: a lambda holds no loops; decorate a function with a name")
    refuse_suspended(op_name, function)
    return function


def path_of(node: ast.expr) -> tuple[str, ...]:
    """The parts of a name or a dotted name; nothing for other expressions."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


def _lasts(owner: Any, value: Any) -> bool:
    """True for what modules have for ever: modules, types of NumPy, functions that the compiler knows."""
    if not isinstance(owner, types.ModuleType):
        return False
    return (
        isinstance(value, types.ModuleType)
        or id(value) in known
        or id(value) in written
        or (isinstance(value, type) and value.__module__ == "numpy")
    )


class UnknownNameError(Exception):
    """A dotted name ends at a part that is not there; `kind` is what Python raises."""

    def __init__(self, kind: type[Exception], part: int, message: str) -> None:
        super().__init__(message)
        self.kind, self.part = kind, part


class Names:
    """What a function takes from outside: `captured`, to be compared before each launch, and `asked`, each dotted name and its value."""

    def __init__(self, function: types.FunctionType, given: dict[str, Any] | None = None) -> None:
        self.function = function
        self.given = given or {}  # names that stand for something else than what the function's globals and cells say
        self.captured: list[Captured] = []
        self.asked: dict[tuple[str, ...], Any] = {}

    def value(self, path: tuple[str, ...]) -> Any:
        """The object that is meant by a dotted name; `absent` for an attribute of a value, which the compiler knows."""
        value = self._first(path[0])
        for part, name in enumerate(path[1:], 1):
            owner = value
            if isinstance(owner, (*_VALUES, np.ndarray, _core.Array)):
                value = absent
                break
            try:
                value = getattr(owner, name)
            except AttributeError:
                raise UnknownNameError(AttributeError, part, f"`{'.'.join(path[:part])}` has no attribute `{name}`") from None
            if not _lasts(owner, value):
                self.captured.append(Captured(owner, name, value))
        self.asked[path] = value
        return value

    def _first(self, name: str) -> Any:
        if name in self.given:
            return self.given[name]
        code = self.function.__code__
        if name in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                value = cell.cell_contents
            except ValueError:
                raise UnknownNameError(NameError, 0, f"`{name}` has no value yet") from None
            self.captured.append(Captured(cell, name, value))
            return value
        if name in self.function.__globals__:
            value = self.function.__globals__[name]
            if not isinstance(value, types.ModuleType):
                self.captured.append(Captured(self.function.__globals__, name, value))
            return value
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise UnknownNameError(NameError, 0, f"`{name}` is not defined")


class UndescribedError(Exception):
    """More than can be said shortly depends on a value."""


def described(value: Any) -> Any:
    """What of a value the translation of a function that uses it depends on, as plain data. Raises UndescribedError."""
    if value is absent:
        return "absent"
    if value is None or type(value) in (bool, int, float, complex, str):
        return type(value).__name__, repr(value)
    if type(value) is tuple:
        return [described(part) for part in value]
    if is_foreign(value):
        raise UndescribedError
    if id(value) in known:
        return "known", known[id(value)], getattr(value, "__name__", "")
    if isinstance(value, np.dtype) and value.fields is None:
        return "dtype", value.str
    if isinstance(value, type) and value.__module__ in ("builtins", "numpy"):
        return "type", value.__module__, value.__qualname__
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "builtins":
        return "builtin", value.__name__
    if python_function(value) is not None:
        return "function"
    raise UndescribedError
