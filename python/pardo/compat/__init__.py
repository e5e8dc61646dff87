# python/pardo/compat/__init__.py: modules by the names of other libraries, over pardo's names; each is read at its first use.
"""Modules by the names of other libraries, so that programs written for these run with another import.

``import pardo.compat.numba_dpex as numba_dpex``, ``import pardo.compat.numba as numba``, ``import pardo.compat.dpctl as dpctl``,
``import pardo.compat.dpnp as dpnp`` and ``import pardo.compat.pyopencl as cl``. They hold names over what pardo has; a name that is missing
says what to use.
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from pardo._extending import answer as _answer
from pardo._extending import missing as _missing

__all__ = ["dpctl", "dpnp", "numba", "numba_dpex", "pyopencl"]

if _TYPE_CHECKING:
    from pardo.compat import dpctl as dpctl
    from pardo.compat import dpnp as dpnp
    from pardo.compat import numba as numba
    from pardo.compat import numba_dpex as numba_dpex
    from pardo.compat import pyopencl as pyopencl


def __getattr__(name: str) -> _Any:
    """Read the module of that name."""
    if name in __all__:
        return _importlib.import_module(f"pardo.compat.{name}")
    raise _missing(__name__, name)


def __dir__() -> list[str]:
    """The modules."""
    return __all__


_answer(globals())
