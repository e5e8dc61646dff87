# tests/python/cython_standin.py: as much of Cython's pure-Python mode as programs for pp.jit use, where the package is not installed.
from __future__ import annotations

import types
from typing import Any


class Type:
    """A C type: called it converts, indexed it is a memory view."""

    def __init__(self, kind: Any) -> None:
        self._basetype = kind

    def __call__(self, value: Any) -> Any:
        return self._basetype(value)

    def __getitem__(self, item: Any) -> Type:
        return self


class Manager:
    """A decorator and context that does nothing."""

    def __call__(self, function: Any) -> Any:
        return function if callable(function) else self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> bool:
        return raised[0] is None


def declare(kind: Any = None, value: Any = None, **names: Any) -> Any:
    return None if value is None else kind(value)


def cast(kind: Any, value: Any, **options: Any) -> Any:
    return kind(value)


def directive(value: Any) -> Manager:
    return Manager()


class Parallel:
    def prange(self, start: int = 0, stop: Any = None, step: int = 1, **options: Any) -> range:
        return range(start) if stop is None else range(start, stop, step)

    def parallel(self, num_threads: Any = None) -> Manager:
        return Manager()


def modules() -> dict[str, Any]:
    """What goes into sys.modules."""
    for named in (Type, Manager, Parallel, declare, cast, directive):
        named.__module__ = "cython"
    for function in vars(Parallel).values():
        if isinstance(function, types.FunctionType):
            function.__module__ = "cython"
    cython, parallel = types.ModuleType("cython"), types.ModuleType("cython.parallel")
    cython.parallel = parallel  # type: ignore[attr-defined]
    parallel.__dict__.update(prange=Parallel().prange, parallel=Parallel().parallel)
    integer, real = Type(int), Type(Type(float))
    names = {"int": integer, "Py_ssize_t": integer, "double": real, "float": real, "bint": Type(bool), "compiled": False}
    directives = dict.fromkeys(("boundscheck", "wraparound", "cdivision", "returns"), directive)
    cython.__dict__.update(
        names, **directives, declare=declare, cast=cast, nogil=Manager(), cfunc=Manager(), locals=lambda **_: lambda f: f
    )
    return {"cython": cython, "cython.parallel": parallel}
