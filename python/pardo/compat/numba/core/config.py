# python/pardo/compat/numba/core/config.py: Numba's settings.
"""Numba's settings. Those that programs assign and that say how Numba compiles may be assigned, and do nothing."""

from __future__ import annotations

import os

from pardo import Device

NUMBA_NUM_THREADS = NUMBA_DEFAULT_NUM_THREADS = Device("cpu").max_compute_units or os.cpu_count() or 1
# How errors are told, debugging, levels of optimisation, where generated code is kept.
CAPTURED_ERRORS = "new_style"
DEBUG = DEBUGINFO_DEFAULT = OPT = 0
CACHE_DIR = ""


def _number(variable: str) -> int | None:
    """What a variable of the environment says; None where it is not set."""
    return int(os.environ[variable]) if os.environ.get(variable) else None


# These two are read when a function is decorated: 1 leaves functions as they are; 0 and 1 turn checks of indices off and on.
DISABLE_JIT = _number("NUMBA_DISABLE_JIT") or 0
BOUNDSCHECK = _number("NUMBA_BOUNDSCHECK")
THREADING_LAYER = "default"
