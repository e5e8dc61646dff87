# python/pardo/_published.py: what is public says so: `__module__` is where users find it, in help, repr and pickles, wherever the code is.
from __future__ import annotations

from types import ModuleType
from typing import Any


def publish(namespace: dict[str, Any], modules: dict[str, ModuleType]) -> None:
    """Give the public names of the package, and those of its public modules, the module that they are public in."""
    for name, value in namespace.items():
        if not name.startswith("_"):
            _say(value, name, "pardo")
    for module in modules.values():
        for name in module.__all__:
            _say(getattr(module, name), name, module.__name__)
    rebuild = namespace["_rebuild_array"]
    rebuild.__module__, rebuild.__qualname__ = "pardo", "_rebuild_array"


def _say(value: Any, name: str, module: str) -> None:
    """Another name of the same object, and what other packages have made, stay what they are."""
    if getattr(value, "__module__", "").startswith("pardo._") and getattr(value, "__name__", None) == name:
        value.__module__ = module
