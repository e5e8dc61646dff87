# python/pardo/_kernel/pickling.py: how decorated functions are pickled: by their names, or whole by cloudpickle where they have none.
from __future__ import annotations

import contextlib
import functools
import io
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
    """What cannot change: a copy of it is the thing itself, also where it cannot be pickled."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def _by_name(module: str, path: str) -> Any:
    """What is at a dotted name in a module that is loaded; None if nothing does."""
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _cloudpickle() -> Any:
    """The module, if it is imported here: joblib and dask do."""
    return sys.modules.get("cloudpickle") or sys.modules.get("joblib.externals.cloudpickle")


@functools.cache
def _pickler(base: Any) -> Any:
    """A pickler of cloudpickle that keeps where functions are, which newer ones leave out, and takes along the text that no file has."""

    class Pickler(base):  # type: ignore[misc]
        def __init__(self, file: Any) -> None:
            super().__init__(file)
            self.texts: dict[str, list[str]] = {}

        def reducer_override(self, value: Any) -> Any:
            if not isinstance(value, types.CodeType):
                return super().reducer_override(value)
            file = value.co_filename
            if file not in self.texts and not os.path.exists(file):
                with contextlib.suppress(TypeError):  # of what dataclasses and named tuples are made of; no kernel calls it
                    self.texts[file] = whole_text(value, value.co_name)
            made, arguments = self.dispatch_table[types.CodeType](value)[:2]
            return _code_of_file, (file, made, arguments)

    return Pickler


def _code_of_file(file: str, made: Callable[..., types.CodeType], arguments: tuple[Any, ...]) -> types.CodeType:
    """Code with the file that it had."""
    return made(*arguments).replace(co_filename=file)


def _whole(cloudpickle: Any, kind: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """What `__reduce__` gives for something that goes as a whole, with the text of its functions if no file has it."""
    texts = {}
    for f in arguments:
        if isinstance(f, types.FunctionType) and not os.path.exists(f.__code__.co_filename):
            texts[f.__code__.co_filename] = whole_text(f.__code__, f.__name__)
    stored = io.BytesIO()
    pickler = _pickler(cloudpickle.CloudPickler)(stored)
    pickler.texts |= texts
    pickler.dump((arguments, options))
    return remade, (kind, stored.getvalue(), pickler.texts)


def remade(kind: Any, stored: bytes, texts: dict[str, list[str]]) -> Any:
    """What `_whole` took apart."""
    for file, lines in texts.items():
        if file not in linecache.cache:
            linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    arguments, options = pickle.loads(stored)
    return kind(*arguments, **options)


def reduced(decorated: Any, function: types.FunctionType, options: dict[str, Any]) -> str | tuple[Any, ...]:
    """What `__reduce__` gives: the name, which says enough wherever the module can be imported.

    Workers that `spawn` starts import the main program too, under its name; those of joblib and dask do not, so they get the function
    itself, with its text if no file has it.
    """
    module, path = function.__module__, function.__qualname__
    named = _by_name(module, path) is decorated
    cloudpickle = _cloudpickle()
    if named and (module != "__main__" or cloudpickle is None):
        return path
    if cloudpickle is None:
        raise pickle.PicklingError(
            f"{function.__name__}: a kernel or jit function is pickled by its name, and `{path}` of the module {module!r} is something "
            "else; define it at the module's top level, or import cloudpickle, which takes functions from everywhere"
        )
    return _whole(cloudpickle, type(decorated), (function,), options)


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
    cloudpickle = _cloudpickle()
    if path and (module != "__main__" or cloudpickle is None):
        return path
    if cloudpickle is None:
        raise pickle.PicklingError(
            f"{made.__name__}: what elementwise, reduction and scan make is pickled by name, and no name at the top level of the module "
            f"{module!r} refers to this one; give it a name there, or import cloudpickle, which takes functions from everywhere"
        )
    return _whole(cloudpickle, type(made), arguments, {})
