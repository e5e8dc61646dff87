# python/pardo/_base/face.py: what modules ask of those above them: the public names, and files read at first use. The package lists them.
"""Modules import what is to their left. What users may replace, takes records too, or is read late, they ask for here."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

_namespaces: list[ModuleType] = []
_files: dict[str, str] = {}


def fill(namespace: ModuleType, files: dict[str, str]) -> None:
    """Say what the package is, and by which words which of its files are asked for."""
    _namespaces[:] = [namespace]
    _files.update(files)


def namespace() -> Any:
    """The package as users have it."""
    return _namespaces[0]


def public(path: str) -> Any:
    """What has a public name, as "linalg.solve"."""
    found = namespace()
    for name in path.split("."):
        found = getattr(found, name)
    return found


def file(word: str) -> Any:
    """The module that the package has listed by a word; it is read at the first use."""
    return importlib.import_module(_files[word])
