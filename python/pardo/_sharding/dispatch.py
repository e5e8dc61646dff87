# python/pardo/_sharding/dispatch.py: how functions of the package, and NumPy's, come to arrays over several devices.
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import face
from pardo._core import Array
from pardo._numpy import protocols
from pardo._sharding import functions
from pardo._sharding.array import ShardedArray
from pardo._sharding.device import ShardedDevice
from pardo._sharding.elementwise import ufunc
from pardo._sharding.functions import TABLE, implements, refuse


def take_over(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the core calls in place of a public function when an array over several devices, or their `device`, is among its arguments."""
    if type(function) is _core.ufunc:
        row = TABLE.get(function.__name__) or functions.row_of(function)
        result = row.function(*args, **kwargs)
        if result is NotImplemented:
            refuse(function.__name__)
        return result
    if isinstance(function, str):
        return functions.call(function, args, kwargs) if function in TABLE else _special(function, args, kwargs)
    return functions.call(_path_of(function), args, kwargs)


class _Special:
    """A function of `pardo.special`, with what universal functions tell of themselves."""

    nout, signature = 1, None

    def __init__(self, name: str) -> None:
        self.__name__, self.nin = name, next(row[1] for row in _core._op_table() if row[0] == name)
        self._function = getattr(face.public("special"), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


@functools.cache
def _special_named(name: str) -> _Special:
    return _Special(name)


def _special(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return ufunc(_special_named(name), args, kwargs)


def _path_of(function: Any) -> str:
    """The public name: "sort", "linalg.norm"."""
    module = function.__module__ or "pardo"
    return function.__name__ if module == "pardo" else f"{module.removeprefix('pardo.')}.{function.__name__}"


@implements("numpy's ufunc", splits="")
def numpys_ufunc(theirs: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's universal functions called on arrays over several devices."""
    if any(_computes_itself(x) for x in inputs):
        return NotImplemented
    if method not in ("__call__", "accumulate", "at", "reduce"):
        refuse(f"{theirs.__name__}.{method}")
    module = face.namespace() if getattr(np, theirs.__name__, None) is theirs else face.public("special")
    ours = getattr(module, theirs.__name__, None)
    if ours is None:
        refuse(theirs.__name__)
    keywords = {name: value for name, value in kwargs.items() if value is not np._NoValue}
    outs = keywords.get("out")
    if isinstance(outs, tuple) and any(x is not None and type(x) is not ShardedArray for x in outs):
        raise TypeError(f"{theirs.__name__}: the result is over several devices, and out is not; use pardo.asnumpy(s)")
    return (ours if method == "__call__" else getattr(ours, method))(*inputs, **keywords)


def _computes_itself(x: Any) -> bool:
    kind = type(x)
    if kind in (Array, ShardedArray, np.ndarray) or isinstance(x, np.generic) or not hasattr(kind, "__array_ufunc__"):
        return False
    return not _core._is_host_data(x)


@implements("numpy's function", splits="")
def numpys_function(x: ShardedArray, func: Any, types: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """NumPy's functions called on arrays over several devices: those of pardo of the same names."""
    if not all(issubclass(t, (ShardedArray, Array, np.ndarray)) or not hasattr(t, "__array_function__") for t in types):
        return NotImplemented
    name = func.__name__
    ours = protocols.function_like(func)
    if ours is None:
        raise TypeError(f"{name}: arrays of pardo have no function of that name; use pardo.asnumpy(s)")
    if name in protocols.MAKERS and not _holds(args) and not _holds(tuple(kwargs.values())):
        return ours(*args, **kwargs, device=x.device)
    positional, named = protocols.arguments(func, ours, args, kwargs)
    return ours(*positional, **named)


def _holds(xs: Any) -> bool:
    return any(type(x) is ShardedArray or (isinstance(x, (list, tuple)) and _holds(x)) for x in xs)


_core._install({"take_over": (take_over, ShardedArray, ShardedDevice)})
