# python/pardo/_kernel/environment.py: what variables of the environment ask of kernels and loops: checks, plain Python, a search for races.
from __future__ import annotations

import os
from typing import Any

from pardo import _core

_environment: Any = getattr(os.environ, "_data", os.environ)  # what os.environ wraps: a tenth of its time at each launch
_INTERPRET: Any = "PARDO_INTERPRET" if _environment is os.environ else os.environ.encodekey("PARDO_INTERPRET")
_RACE_CHECK: Any = "PARDO_RACE_CHECK" if _environment is os.environ else os.environ.encodekey("PARDO_RACE_CHECK")
_NO = (None, b"", b"0", "", "0")
if type(_environment) is dict:
    _core._install({"environment": _environment, "interpret_variable": _INTERPRET, "race_check_variable": _RACE_CHECK})


def interpreting() -> bool:
    """True when the environment variable PARDO_INTERPRET asks for plain Python."""
    return _environment.get(_INTERPRET) not in _NO


CHECKS = {"off": 0, "0": 0, "on": 1, "1": 1, "all": 2}  # by the numbers of pardo::Checks, include/pardo/binding/kernel.h


def checks_of(asked: bool | int | None = None) -> int:
    """What is decorated now checks nothing, indices, or all: as asked, else as PARDO_CHECKS or PARDO_BOUNDS_CHECK say, else indices."""
    checks = os.environ.get("PARDO_CHECKS", "")
    if checks and checks not in CHECKS:
        raise ValueError(f"PARDO_CHECKS: 'on', 'off' or 'all' is expected, not {checks!r}")
    if asked is None:
        return CHECKS.get(checks or os.environ.get("PARDO_BOUNDS_CHECK", ""), 1)
    return CHECKS["all"] if asked and checks == "all" else int(asked)


def race_checking() -> bool:
    """True when the environment variable PARDO_RACE_CHECK asks for plain Python that looks for races."""
    return _environment.get(_RACE_CHECK) not in _NO


def plainly() -> bool:
    """True when the environment asks for one or the other."""
    get = _environment.get
    return get(_INTERPRET) not in _NO or get(_RACE_CHECK) not in _NO
