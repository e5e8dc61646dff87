# python/pardo/_compiler/names.py: names that a function does not assign: what they stand for, and whether that is another thing now.
from __future__ import annotations

import ast
import builtins
import inspect
import types
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.package import owns
from pardo._compiler.intrinsics import known, ours_for, written
from pardo._compiler.numba_cython import is_foreign

absent: Any = object()
_VALUES = (bool, int, float, complex, np.generic, tuple)


class Captured(NamedTuple):
    """A value from outside that became part of the program, or numbers in it that launches read."""

    owner: Any  # a dict of globals, a cell, or an object with attributes
    name: str
    value: Any
    cells: Any = None  # what takes numbers of another value, as `cells_of` makes it
    rest: tuple[str, ...] = ()  # further attributes

    def changed(self) -> bool:
        """True when it is another value now; numbers that launches read are put where they do."""
        now = current(self)
        if self.cells is None:
            return now is not self.value
        return now is absent or not _core._put_outside(self.cells, now)

    def for_core(self) -> tuple[Any, ...]:
        """As the core takes it, which asks for attributes."""
        name = "cell_contents" if isinstance(self.owner, types.CellType) else self.name
        return self.owner, name, self.value, self.cells, self.rest


def current(captured: Captured) -> Any:
    """What the name of a captured value stands for now."""
    now: Any
    if isinstance(captured.owner, types.CellType):
        try:
            now = captured.owner.cell_contents
        except ValueError:
            return absent
    elif isinstance(captured.owner, dict):
        now = captured.owner.get(captured.name, absent)
    else:
        now = getattr(captured.owner, captured.name, absent)
    for name in captured.rest:
        now = getattr(now, name, absent)
    return now


# Numbers from outside that have taken a second value: launches read them, so that they are compiled once.

DEFAULTS, KEYWORD_DEFAULTS = "__defaults__", "__kwdefaults__"  # paths of what a function has for its parameters
_MOST_CODES = 1024
_Path = tuple[str, ...]


class _Numbers:
    """Of functions with one code: the numbers from outside that they have seen, and which of these change."""

    __slots__ = ("moving", "seen")

    def __init__(self) -> None:
        self.seen: dict[_Path, Any] = {}
        self.moving: frozenset[_Path] = frozenset()


_numbers_of: dict[tuple[types.CodeType, int], _Numbers] = {}


def _is_number(value: Any) -> bool:
    kind = type(value)
    if kind in (int, float, complex):
        return kind is not int or -(2**63) <= value < 2**64
    if isinstance(value, np.number):
        return not isinstance(value, (np.longdouble, np.clongdouble))
    return promotion.is_number_of_bfloat16(value)


def _parts(value: Any) -> tuple[Any, ...] | None:
    """What a tuple or a struct is made of."""
    if isinstance(value, tuple):
        return value
    return value._values() if getattr(type(value), "_pardo_struct", False) else None


def has_numbers(value: Any) -> bool:
    """True for numbers, and for tuples and structs that hold some; True and False stay what they are."""
    if _is_number(value):
        return True
    parts = _parts(value)
    return parts is not None and any(map(has_numbers, parts))


def _moved(was: Any, now: Any) -> bool:
    """True if a number is another one, also by its sign or its type."""
    if _is_number(was) and _is_number(now):
        return type(was) is not type(now) or repr(was) != repr(now)
    parts, others = _parts(was), _parts(now)
    return parts is not None and others is not None and len(parts) == len(others) and any(map(_moved, parts, others))


def cells_of(value: Any, name: str) -> Any:
    """What takes other numbers of such a value: for each an `_Outside`, for tuples and structs a pair, of the type and of what is for their
    parts, and for all else a list that holds it."""
    if _is_number(value):
        return _core._Outside(name, value)
    parts = _parts(value)
    if parts is None or not has_numbers(value):
        return [value]
    names = getattr(value, "_fields", None)
    texts = [f"{name}.{n}" for n in names] if names else [f"{name}[{k}]" for k in range(len(parts))]
    return type(value), tuple(map(cells_of, parts, texts))


def shape_of(value: Any) -> Any:
    """What of a value whose numbers change a translation depends on, as plain data."""
    if _is_number(value):
        return "number", type(value).__name__, type(value) is int and value >= 2**63
    parts = _parts(value)
    return ["numbers", type(value).__name__, *map(shape_of, parts)] if parts is not None else described(value)


def python_function(called: Any) -> types.FunctionType | None:
    """The plain function behind something that can be called in a kernel; None if there is none."""
    if type(called) is _core._Shown and id(called) not in known:  # of those that users see
        called = called.__wrapped__
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
        self.asked: dict[_Path, Any] = {}
        self.cells: dict[_Path, Any] = {}  # of those whose numbers change
        self._numbers = _Numbers()
        if not owns(function.__code__.co_filename):
            key = (function.__code__, id(function.__globals__))
            self._numbers = _numbers_of.pop(key, self._numbers)
            while len(_numbers_of) >= _MOST_CODES:
                _numbers_of.pop(next(iter(list(_numbers_of))), None)
            _numbers_of[key] = self._numbers
        moved = {path for path, was in list(self._numbers.seen.items()) if _moved(was, self._now(path))}
        self.moving = self._numbers.moving = self._numbers.moving | moved

    def _now(self, path: _Path) -> Any:
        """What a dotted name stands for, or the defaults of the function; `absent` if there is nothing."""
        f = self.function
        if path[0] == DEFAULTS:
            return f.__defaults__
        if path[0] == KEYWORD_DEFAULTS:
            return (f.__kwdefaults__ or {}).get(path[1], absent)
        owner: Any = f.__globals__
        if path[0] in f.__code__.co_freevars:
            owner = (f.__closure__ or ())[f.__code__.co_freevars.index(path[0])]
        return current(Captured(owner, path[0], None, None, path[1:]))

    def _saw(self, path: _Path, value: Any) -> bool:
        """Remember numbers; True for those that change, which have cells then."""
        if not has_numbers(value):
            return False
        self._numbers.seen[path] = value
        if path in self.moving and path not in self.cells:
            self.cells[path] = cells_of(value, ".".join(p for p in path if p != KEYWORD_DEFAULTS))
        return path in self.cells

    def value(self, path: _Path) -> Any:
        """The object that is meant by a dotted name; `absent` for an attribute of a value, which the compiler knows."""
        mark = len(self.captured)
        value = self._first(path[0])
        for part, name in enumerate(path[1:], 1):
            owner = value
            if isinstance(owner, (*_VALUES, np.ndarray, _core.Array)):
                value = absent
                break
            try:
                value = getattr(owner, name)
            except AttributeError as error:
                install = str(error).partition("no attribute 'bfloat16'")[2]
                raise UnknownNameError(AttributeError, part, f"`{'.'.join(path[:part])}` has no attribute `{name}`{install}") from None
            if not _lasts(owner, value):
                self.captured.append(Captured(owner, name, value))
        self.asked[path] = value
        if path[0] not in self.given and self._saw(path, value) and len(self.captured) > mark:
            first = self.captured[mark]
            rest = path[1:] if first.name == path[0] else path[path.index(first.name) + 1 :]  # of a module nothing is captured
            del self.captured[mark:]
            self.captured.append(first._replace(value=value, cells=self.cells[path], rest=rest))
        return value

    def defaults(self) -> list[tuple[str, Any, Any]]:
        """The defaults of the function: for each the name of its parameter if that is given by name only, its value, and its cells."""
        f = self.function
        by_place, by_name = f.__defaults__ or (), f.__kwdefaults__ or {}
        cells = self.cells[(DEFAULTS,)][1] if self._saw((DEFAULTS,), by_place) else [None] * len(by_place)
        found = [("", value, cell) for value, cell in zip(by_place, cells, strict=True)]
        for name, value in by_name.items():
            found.append((name, value, self.cells[(KEYWORD_DEFAULTS, name)] if self._saw((KEYWORD_DEFAULTS, name), value) else None))
        return found

    def captured_defaults(self) -> list[Captured]:
        """The same as what may be replaced, as globals may."""
        f = self.function
        by_name = f.__kwdefaults__ or {}
        found = [Captured(f, DEFAULTS, f.__defaults__, self.cells.get((DEFAULTS,)))] if f.__defaults__ else []
        return [*found, *(Captured(by_name, n, v, self.cells.get((KEYWORD_DEFAULTS, n))) for n, v in by_name.items())]

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
