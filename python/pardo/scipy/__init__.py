# python/pardo/scipy/__init__.py: functions by SciPy's names, in modules of SciPy's names; each is read at its first use.
"""Functions of SciPy's that NumPy does not have, under the names of SciPy's modules."""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

__all__ = ["linalg"]

if _TYPE_CHECKING:
    from pardo.scipy import linalg as linalg


def __getattr__(name: str) -> _Any:
    """Read the module of that name."""
    if name in __all__:
        return _importlib.import_module(f"pardo.scipy.{name}")
    raise AttributeError(f"module 'pardo.scipy' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The modules."""
    return __all__
