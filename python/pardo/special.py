# python/pardo/special.py: special functions, by SciPy's names. Most are rows of src/graph/ops.def.
"""Special functions, by the names of `scipy.special`."""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from typing import Any as _Any

from pardo._base import public_names as _public_names
from pardo._core import _digamma as digamma

psi = digamma

# Functions of arrays in Python, by the file that defines them, which is read at the first use of a name.
_FILES = {
    "_analysis.log_sums": "log_softmax logsumexp softmax",
    "_functions.special": "polygamma zeta",
}
_FILE_OF = {name: file for file, names in _FILES.items() for name in names.split()}

__all__ = sorted(["sinc", *_FILE_OF, *(name for name in globals() if not name.startswith("_") and name != "annotations")])


def __getattr__(name: str) -> _Any:
    if name == "sinc":
        return globals().setdefault(name, _sys.modules["pardo"].sinc)
    if name not in _FILE_OF:
        raise AttributeError(f"module 'pardo.special' has no attribute '{name}'")
    value = getattr(_importlib.import_module(f"pardo.{_FILE_OF[name]}"), name)
    _public_names.say(value, name, "pardo.special")
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return __all__
