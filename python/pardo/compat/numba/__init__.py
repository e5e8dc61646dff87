# python/pardo/compat/numba/__init__.py: Numba's names over pardo's compiled functions.
"""Numba's names: ``import pardo.compat.numba as numba``.

`njit` and `jit` are `pardo.jit`, `prange` is `pardo.prange`. What says how Numba compiles is passed over; types are found by pardo itself.
"""

from __future__ import annotations

import functools as _functools
from collections.abc import Callable as _Callable
from typing import Any as _Any

import pardo as _pp
from pardo.compat._names import missing as _missing
from pardo.compat.numba.core import config, errors, types
from pardo.compat.numba.core.types import NUMBERS as _NUMBERS
from pardo.compat.numba.core.types import Number as _Number
from pardo.compat.numba.core.types import Type as _Type
from pardo.compat.numba.core.types import dtype_of as _dtype_of
from pardo.compat.numba.core.types import none, typeof, void

__all__ = [
    "config",
    "core",
    "errors",
    "get_num_threads",
    "guvectorize",
    "jit",
    "literal_unroll",
    "njit",
    "none",
    "prange",
    "set_num_threads",
    "typeof",
    "types",
    "vectorize",
    "void",
]

prange = _pp.prange
globals().update(_NUMBERS)
__version__ = "0.60.0"  # whose names these are

_PASSED_OVER = frozenset(
    "cache debug error_model forceobj inline inline_threshold locals looplift no_cfunc_wrapper no_cpython_wrapper nogil nopython parallel "
    "pipeline_class release_gil no_compile target".split()
)
_INSTEAD = {
    "cuda": "kernels for GPUs are pardo.kernel; see the guide 'Coming from Numba'",
    "cfunc carray farray": "there are no callbacks for C",
    "experimental jitclass": "use pardo.struct",
    "typed": "lists and dicts stay Python; arrays are compiled",
    "stencil": "write the loops, or use pardo.ndimage",
    "objmode": "what is around loops is Python already",
    "extending": "functions that are called are compiled with the loops; there is nothing to extend",
    "gdb gdb_init gdb_breakpoint": "use PARDO_INTERPRET=1, and pdb",
    "threading_layer": "there is one",
}


def options(op_name: str, given: dict[str, _Any]) -> dict[str, _Any]:
    """Of the options of a decorator those that mean something here; TypeError for unknown ones."""
    known = {k: given.pop(k) for k in ("fastmath", "boundscheck") if k in given}
    if unknown := given.keys() - _PASSED_OVER:
        raise TypeError(f"{op_name}: unknown option {sorted(unknown)[0]!r}")
    if "fastmath" in known:
        known["fastmath"] = bool(known["fastmath"])
    return known


def is_signature(what: _Any) -> bool:
    """True for what stands for types in a decorator: a text, a type or signature, a tuple or a list of these."""
    return isinstance(what, (str, tuple, list, _Type, types.Signature))


def jit(signature_or_function: _Any = None, **given: _Any) -> _Any:
    """Compile the loops of a function, as `pardo.jit`: signatures and options of compiling are passed over.

    Parameters
    ----------
    signature_or_function : callable, or signatures
        The function, or types, which are not looked at: those of the arguments count.
    **given
        ``fastmath`` and ``boundscheck`` mean what they do in `pardo.jit`; Numba's others do nothing.

    Returns
    -------
    JitFunction or decorator
        What is called like the function.

    Examples
    --------
    >>> from pardo.compat import numba
    >>> import numpy as np
    >>> @numba.njit(parallel=True)
    ... def total(x):
    ...     s = 0.0
    ...     for i in numba.prange(x.shape[0]):
    ...         s += x[i]
    ...     return s
    >>> float(total(np.arange(4.0)))
    6.0
    """
    known = options("jit", given)
    if signature_or_function is None or is_signature(signature_or_function):
        return lambda function: _pp.jit(function, **known)
    return _pp.jit(signature_or_function, **known)


njit = jit


def _result_types(signatures: list[_Any]) -> list[_Any] | None:
    """The dtypes of results that signatures say, where they say one; types of arguments are not looked at."""
    results = [s.return_type for s in signatures if isinstance(s, types.Signature)]
    return [_dtype_of(results[0])] if len(results) == 1 == len(signatures) and isinstance(results[0], _Number) else None


class _Vectorized:
    """A function of elements, on arrays of NumPy's and pardo's and on numbers."""

    def __init__(self, function: _Callable[..., _Any], otypes: _Any, signature: str | None = None) -> None:
        _functools.update_wrapper(self, function)
        self.py_func = self._pardo_function = function
        self._call = _pp.vectorize(function, otypes=otypes, signature=signature)

    def __call__(self, *arguments: _Any, out: _Any = None) -> _Any:
        import numpy as np

        ours = [type(a) is _pp.Array for a in arguments]
        given = arguments if any(ours) else [_pp.asarray(a, device="cpu", copy=None) for a in arguments]
        made = self._call(*given)
        if out is not None:
            out[...] = made if type(out) is _pp.Array else _pp.asnumpy(made)
            return out
        if any(ours):
            return made
        results = [np.asarray(_pp.asnumpy(m))[()] for m in (made if isinstance(made, tuple) else (made,))]
        return tuple(results) if isinstance(made, tuple) else results[0]


def vectorize(ftylist_or_function: _Any = (), **given: _Any) -> _Any:
    """Make a function on arrays of a function on elements, as `pardo.vectorize`; arrays of NumPy's give arrays of NumPy's.

    Parameters
    ----------
    ftylist_or_function : callable, or list of signatures
        The function; or types: where there is one signature, its result is the dtype.
    **given
        Numba's options, which do nothing.

    Returns
    -------
    callable or decorator
        It takes arrays, numbers and ``out=``.

    Examples
    --------
    >>> from pardo.compat import numba
    >>> import numpy as np
    >>> @numba.vectorize([numba.float64(numba.float64, numba.float64)])
    ... def larger(a, b):
    ...     return a if a > b else b
    >>> larger(np.array([1.0, 5.0]), 3.0)
    array([3., 5.])
    """
    options("vectorize", {k: v for k, v in given.items() if k != "identity"})
    if callable(ftylist_or_function) and not isinstance(ftylist_or_function, (_Type, type)):
        return _Vectorized(ftylist_or_function, None)
    signatures = ftylist_or_function if isinstance(ftylist_or_function, (list, tuple)) else [ftylist_or_function]
    return lambda function: _Vectorized(function, _result_types(list(signatures)))


def literal_unroll(container: _Any) -> _Any:
    """Give the container: loops over tuples are unrolled in any case."""
    return container


def set_num_threads(n: int) -> None:
    """Raise unless it is the number of threads there are: it is set when the process begins, by the variable PARDO_NUM_THREADS."""
    if n != get_num_threads():
        raise ValueError(f"set_num_threads: the CPU device has {get_num_threads()} threads; begin the process with PARDO_NUM_THREADS={n}")


def get_num_threads() -> int:
    """Give the number of threads of the CPU device."""
    return _pp.Device("cpu").max_compute_units or 1


def __getattr__(name: str) -> _Any:
    """Say what to use in place of a name that is not here."""
    raise _missing(__name__, name, _INSTEAD, "see the guide 'Coming from Numba'")
