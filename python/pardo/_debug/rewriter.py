# python/pardo/_debug/rewriter.py: the user's function with NumPy's functions where it names those of pardo, for the interpreter.
from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo._array.interop import asnumpy
from pardo._base import promotion
from pardo._compiler import classes, intrinsics, structs
from pardo._compiler.names import python_function

_ERROR_FUNCTIONS: dict[str, Callable[[float], float]] = {"erf": math.erf, "erfc": math.erfc}


def _of_math(function: Callable[[float], float]) -> Callable[[Any], Any]:
    def one(x: Any) -> Any:
        dtype = np.asarray(x).dtype
        return (dtype if promotion.is_bfloat16(dtype) else promotion.result_type(x, np.float16)).type(function(x))

    return one


def _special(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `pardo.special` on numbers, of which it makes arrays."""

    def of_numbers(*xs: Any) -> Any:
        return asnumpy(function(*xs))[()]

    return of_numbers


class _Namespace:
    """A module of pardo as interpreted kernels see it: functions of arrays are NumPy's, which give numbers for numbers."""

    def __init__(self, module: types.ModuleType, change: Callable[[Any], Any]) -> None:
        self._module, self._change = module, change

    def __getattr__(self, name: str) -> Any:
        return self._change(getattr(self._module, name))

    def __repr__(self) -> str:
        return repr(self._module)


class Rewriter:
    """Makes a function that runs the same code with other values behind its names; the functions that it calls too."""

    def __init__(self) -> None:
        intrinsics.fill()
        self.made: dict[types.FunctionType, types.FunctionType] = {}
        self.classes: dict[type, type] = {}

    def value(self, value: Any) -> Any:
        """What stands for a value in an interpreted kernel; the value itself in most cases."""
        if isinstance(value, type) and issubclass(value, structs.Struct):
            return self.structure(value)
        if isinstance(value, types.ModuleType):
            return _Namespace(value, self.value) if value.__name__.partition(".")[0] == "pardo" else value
        if isinstance(value, structs.Struct):
            return self.given(value)
        known = intrinsics.known.get(id(value))
        if known in _ERROR_FUNCTIONS:
            return _of_math(_ERROR_FUNCTIONS[known])
        if known is not None and getattr(value, "__module__", None) in ("pardo.special", "pardo._analysis.special"):
            return _special(value)
        if known is not None:
            mine = (getattr(value, "__module__", None) or "").partition(".")[0] == "pardo"
            return getattr(np, known, value) if mine else value
        function = python_function(value)
        mine = function is None or (function.__module__ or "").partition(".")[0] == "pardo"
        return value if mine else self.function(function)  # type: ignore[arg-type]

    def structure(self, kind: type[structs.Struct]) -> type[structs.Struct]:
        """The class with such functions in place of its own; the class itself if it has none."""
        made = self.classes.get(kind)
        if made is not None or kind._class is None:
            return made or kind
        members = classes.members_of(kind)
        types_ = tuple(self.structure(k) if isinstance(k, type) else k for k in kind._types)
        self.classes[kind] = kind
        if not members and types_ == kind._types:
            return kind
        body = {k: v for k, v in vars(kind).items() if k not in kind._fields} | {"_types": types_}
        made = self.classes[kind] = type(kind.__name__, (structs.Struct,), body)
        for name, (what, function) in members.items():
            plain = python_function(function)
            if plain is not None and what != classes.REFUSED:
                wrap: Any = {classes.STATIC: staticmethod, classes.PROPERTY: property}.get(what, lambda f: f)
                setattr(made, name, wrap(self.function(plain)))
        return made

    def given(self, value: Any) -> Any:
        """An argument: functions and structs as above."""
        if type(value) is tuple:
            return tuple(map(self.given, value))
        if isinstance(value, structs.Struct):
            return value._map(self.given, self.structure(type(value)))
        return self.value(value) if callable(value) else value

    def function(self, function: types.FunctionType) -> types.FunctionType:
        made = self.made.get(function)
        if made is not None:
            return made
        code, own = function.__code__, dict(function.__globals__)
        cells = [types.CellType() for _ in code.co_freevars]
        made = self.made[function] = types.FunctionType(code, own, function.__name__, function.__defaults__, tuple(cells))
        made.__kwdefaults__ = function.__kwdefaults__
        for name in code.co_names:
            if name in own:
                own[name] = self.value(own[name])
        for cell, old in zip(cells, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.value(old.cell_contents)
            except ValueError:
                continue  # not bound yet: it stays so
        return made
