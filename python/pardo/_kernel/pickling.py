# python/pardo/_kernel/pickling.py: how decorated functions are pickled: by their names, or whole by cloudpickle where they have none.
from __future__ import annotations

import linecache
import os
import pickle
import sys
import types
from collections.abc import Callable
from typing import Any

from pardo._base.package import owns
from pardo._compiler.source import whole_text


class Unchanging:
    """What nobody can change: a copy of it is the thing itself, also where it cannot be pickled."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def _by_name(module: str, path: str) -> Any:
    """What stands at a dotted name in a module that is loaded; None if nothing does."""
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _whole_pickler() -> Callable[[Any], bytes] | None:
    """That of cloudpickle, if somebody here uses it: joblib and dask do."""
    for name in ("cloudpickle", "joblib.externals.cloudpickle"):
        if (module := sys.modules.get(name)) is not None:
            dumps: Callable[[Any], bytes] = module.dumps
            return dumps
    return None


def reduced(decorated: Any, function: types.FunctionType, options: dict[str, Any]) -> str | tuple[Any, ...]:
    """What `__reduce__` gives: the name, which says enough wherever the module can be imported.

    Workers that `spawn` starts import the main program too, under its name; those of joblib and dask do not, so they get the function
    itself, with its text if no file has it.
    """
    module, path = function.__module__, function.__qualname__
    named = _by_name(module, path) is decorated
    dumps = _whole_pickler()
    if named and (module != "__main__" or dumps is None):
        return path
    if dumps is None:
        raise pickle.PicklingError(
            f"{function.__name__}: a kernel or jit function is pickled by its name, and `{path}` of the module {module!r} is something "
            "else; define it at the module's top level, or import cloudpickle, which takes functions from everywhere"
        )
    code = function.__code__
    lines = None if os.path.exists(code.co_filename) else whole_text(code, function.__name__)
    return remade, (type(decorated), dumps(function), code.co_filename, lines, options)


def using_module() -> str:
    """The module that called into this package."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and owns(frame.f_code.co_filename):
        frame = frame.f_back
    return "__main__" if frame is None else str(frame.f_globals.get("__name__", "__main__"))


def reduced_parts(made: Any, arguments: tuple[Any, ...]) -> str | tuple[Any, ...]:
    """As `reduced`, for what is made of several functions and numbers: `made.__module__` is where it was made, and it may have any name."""
    module = made.__module__
    path = getattr(arguments[0], "__qualname__", "")
    if _by_name(module, path) is not made:
        path = next((name for name, value in [*vars(sys.modules.get(module, object)).items()] if value is made), "")
    dumps = _whole_pickler()
    if path and (module != "__main__" or dumps is None):
        return path
    if dumps is None:
        raise pickle.PicklingError(
            f"{made.__name__}: what elementwise, reduction and scan make is pickled by its name, and none at the top level of the module "
            f"{module!r} stands for this one; give it a name there, or import cloudpickle, which takes functions from everywhere"
        )
    codes = [(f.__code__, f.__name__) for f in arguments if isinstance(f, types.FunctionType)]
    texts = {code.co_filename: whole_text(code, name) for code, name in codes if not os.path.exists(code.co_filename)}
    return remade_of_parts, (type(made), dumps(arguments), texts)


def remade_of_parts(kind: Any, arguments: bytes, texts: dict[str, list[str]]) -> Any:
    """What `reduced_parts` took apart."""
    for file, lines in texts.items():
        _keep_text(file, lines)
    return kind(*pickle.loads(arguments))


def _keep_text(file: str, lines: list[str]) -> None:
    """Keep the text of functions that no file has here."""
    if file not in linecache.cache:
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)


def remade(kind: Any, function: bytes, file: str, lines: list[str] | None, options: dict[str, Any]) -> Any:
    """A decorated function from what `reduced` gave."""
    if lines is not None:
        _keep_text(file, lines)
    return kind(pickle.loads(function), **options)
