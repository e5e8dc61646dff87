# python/pardo/_compiler/numba_cython.py: what names of Numba and of Cython's pure-Python mode mean; neither is imported here.
from __future__ import annotations

from typing import Any

import numpy as np

# What is in `cython.parallel.prange(…)` and in `with cython.nogil:` says how C code runs, not what it computes.
PRANGE_KEYWORDS = {"nogil", "use_threads_if", "schedule", "chunksize", "num_threads", "simd"}
_MANAGERS = {"nogil", "gil", "parallel", "boundscheck", "wraparound", "initializedcheck", "nonecheck", "cdivision"}
_PYTHON = {bool: "bool", int: "int", float: "float", complex: "complex"}


def _is_of(what: Any, *packages: str) -> bool:
    module = getattr(what, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0].lower() in packages


def is_foreign(what: Any) -> bool:
    """Numba's and Cython's own."""
    return _is_of(what, "numba", "cython")


def is_prange(what: Any) -> bool:
    """Numba's and Cython's own names for parallel loops."""
    return getattr(what, "__name__", "") == "prange" and is_foreign(what)


def is_manager(what: Any, name: str) -> bool:
    """What is after `with` and does nothing in Python: `cython.nogil`, `cython.parallel.parallel`, `cython.boundscheck`."""
    return name in _MANAGERS and _is_of(what, "cython")


def is_declare(what: Any) -> bool:
    """`cython.declare`: with a value it converts, without one it says nothing."""
    return getattr(what, "__name__", "") == "declare" and _is_of(what, "cython")


def is_cast(what: Any) -> bool:
    """`cython.cast(type, value)`."""
    return getattr(what, "__name__", "") == "cast" and _is_of(what, "cython")


_NUMBERS = {"boolean": "bool", "byte": "uint8"}


def numpy_type(what: Any) -> type[np.generic] | None:
    """NumPy's type of a number type of Numba, as `numba.float64`; None for all else."""
    if (own := getattr(what, "_pardo_dtype", None)) is not None and not isinstance(what, type):
        return own  # type: ignore[no-any-return]
    name = getattr(what, "name", None) if _is_of(type(what), "numba") else None
    kind = np.sctypeDict.get(_NUMBERS.get(name, name)) if isinstance(name, str) else None
    return kind if isinstance(kind, type) and issubclass(kind, np.generic) else None


def conversion(what: Any) -> str:
    """What a type of Cython converts to in Python: 'int' for `cython.int`, 'float' for `cython.double`; '' for what is none."""
    while not isinstance(what, type) and _is_of(what, "cython"):
        what = getattr(what, "_basetype", None)
    return _PYTHON.get(what, "") if isinstance(what, type) else ""
