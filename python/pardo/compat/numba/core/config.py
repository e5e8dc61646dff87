# python/pardo/compat/numba/core/config.py: Numba's settings.
"""Numba's settings. Those that programs assign and that say how Numba compiles may be assigned, and do nothing."""

from __future__ import annotations

import os

from pardo._core import Device

NUMBA_NUM_THREADS = NUMBA_DEFAULT_NUM_THREADS = Device("cpu").max_compute_units or os.cpu_count() or 1
# How errors are told, debugging, levels of optimisation, where generated code is kept.
CAPTURED_ERRORS = "new_style"
DEBUG = DEBUGINFO_DEFAULT = OPT = 0
CACHE_DIR = ""
THREADING_LAYER = "default"
