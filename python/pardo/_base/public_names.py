# python/pardo/_base/public_names.py: what is public says so: `__module__` is where users find it, in help, repr and pickles.
from __future__ import annotations

import importlib
import sys
from types import FunctionType, ModuleType
from typing import Any, TypeVar

C = TypeVar("C", bound=type)

# The names that modules had while all was in one folder; those whose functions and classes may be in pickles.
# `a+b`: what b defines was in a.
FORMER = {
    "_array": "creation+ranges described:array_interface elementwise info:inspection interop joining linalg:products "
    "manipulation+broadcasting searching sets sorting statistics:reductions+cumulative",
    "_base": "dtypes",
    "_compiler": "structs:classes",
    "_generate": "generators",
    "_kernel": "jit kernels:kernel pickled:pickling program",
    "_language": "atomics groups items:index_space",
    "_random": "rng:generator rng_distributions:distributions rng_stream:stream",
    "_runtime": "devices events memory profile queues",
}


def publish(namespace: dict[str, Any]) -> None:
    """Give the public names of the package the module that they are public in."""
    for name, value in namespace.items():
        if not name.startswith("_"):
            say(value, name, "pardo")
    rebuild = namespace["_rebuild_array"]
    rebuild.__module__, rebuild.__qualname__ = "pardo", "_rebuild_array"


def publish_module(namespace: dict[str, Any], module: str | None = None) -> None:
    """The same for those of one module, at its end; for a private one say in which module they are public, however it is imported."""
    for name in namespace["__all__"]:
        say(namespace[name], name, module or namespace["__name__"])


def named_as_class(kind: C) -> C:
    """Decorate a class that inherits `__init__`: what Python says of wrong arguments names this class."""
    inherited: Any = kind.__init__  # type: ignore[misc]
    own = FunctionType(inherited.__code__, inherited.__globals__, "__init__", inherited.__defaults__, inherited.__closure__)
    own.__kwdefaults__, own.__annotations__, own.__doc__ = inherited.__kwdefaults__, inherited.__annotations__, inherited.__doc__
    own.__qualname__, own.__module__ = kind.__name__, inherited.__module__
    kind.__init__ = own  # type: ignore[misc]
    return kind


class _Unread(ModuleType):
    """In place of a module whose file is read when somebody asks for a name."""

    def __init__(self, name: str, now: str) -> None:
        super().__init__(name)
        self._now = now

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._now), name)


def answer_to_former_names() -> None:
    """Let pickles of earlier versions find what they name."""
    for package, modules in FORMER.items():
        for words in modules.split():
            old, _, new = words.partition(":")
            name, *parted = (new or old).split("+")
            former, now = f"pardo._{old.partition('+')[0]}", f"pardo.{package}.{name}"
            module = sys.modules[former] = sys.modules.get(now) or _Unread(former, now)
            for other in parted:
                later = sys.modules[f"pardo.{package}.{other}"]
                vars(module).update((public, getattr(later, public)) for public in later.__all__)


def say(value: Any, name: str, module: str) -> None:
    """Give an object its public module. Another name of the same object, and what other packages have made, stay what they are."""
    if getattr(value, "__module__", "").startswith("pardo._") and getattr(value, "__name__", None) == name:
        value.__module__ = module
