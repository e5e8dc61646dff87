# python/pardo/_kernel/pickling.py: how decorated functions are pickled: by their names, or whole by cloudpickle where they have none.
from __future__ import annotations

import linecache
import os
import pickle
import sys
import types
from collections.abc import Callable
from typing import Any

from pardo._compiler.source import whole_text


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


def remade(kind: Any, function: bytes, file: str, lines: list[str] | None, options: dict[str, Any]) -> Any:
    """A decorated function from what `reduced` gave."""
    if lines is not None and file not in linecache.cache:
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    return kind(pickle.loads(function), **options)
