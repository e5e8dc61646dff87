# python/pardo/lib/__init__.py: what NumPy has in numpy.lib and arrays need: views with strides.
"""Functions by the names of `numpy.lib`."""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from pardo._base import absent as _absent
from pardo._base import public_names as _public_names

__all__ = ["stride_tricks"]

if _TYPE_CHECKING:
    from pardo.lib import stride_tricks as stride_tricks


def __getattr__(name: str) -> _Any:
    """Read the module of that name."""
    if name in __all__:
        return _importlib.import_module(f"pardo.lib.{name}")
    raise _absent.missing(__name__, name)


def __dir__() -> list[str]:
    """The modules."""
    return __all__


_public_names.answer(globals())
