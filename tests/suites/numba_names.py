# tests/suites/numba_names.py: a module `numba` for programs of others: its decorators are pardo's.
from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pardo as pp

FASTMATH: list[bool] = [True]  # whether `fastmath=True` is passed on


def jit(*given: Any, fastmath: Any = False, boundscheck: bool | None = None, **_: Any) -> Any:
    """`numba.jit`: signatures, and what says how Numba compiles, are passed over."""

    def decorate(function: Callable[..., Any]) -> Any:
        return pp.jit(function, fastmath=bool(fastmath) and FASTMATH[0], boundscheck=boundscheck)

    return decorate(given[0]) if given and callable(given[0]) and not isinstance(given[0], type) else decorate


def install() -> types.ModuleType:
    """Let `import numba` find this."""
    module = types.ModuleType("numba")
    scalars = {f"{kind}{bits}": getattr(np, f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
    scalars |= {name: getattr(np, name) for name in ("float32", "float64", "complex64", "complex128")}
    vars(module).update(scalars, boolean=np.bool_, jit=jit, njit=jit, generated_jit=jit, prange=pp.prange, literal_unroll=lambda x: x)
    module.types = types.SimpleNamespace(**scalars, boolean=np.bool_)  # type: ignore[attr-defined]
    module.config = types.SimpleNamespace(NUMBA_NUM_THREADS=2)  # type: ignore[attr-defined]
    sys.modules["numba"] = module
    return module
