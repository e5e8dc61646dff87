# python/pardo/compat/numba/__init__.py: Numba's names over pardo's compiled functions.
"""Numba's names: ``import pardo.compat.numba as numba``.

`njit` and `jit` are `pardo.jit`, `prange` is `pardo.prange`. What says how Numba compiles is passed over; types are found by pardo itself.
"""

from __future__ import annotations

import inspect as _inspect
from typing import Any as _Any

import numpy as _np
import pardo as _pp
from pardo._extending import show_module as _show_module
from pardo.compat._names import missing as _missing
from pardo.compat.numba import ufuncs as _ufuncs
from pardo.compat.numba.core import config, errors, types
from pardo.compat.numba.core.types import NUMBERS as _NUMBERS
from pardo.compat.numba.core.types import Type as _Type
from pardo.compat.numba.core.types import from_dtype, none, typeof, void
from pardo.compat.numba.dispatcher import Dispatcher as _Dispatcher
from pardo.compat.numba.threads import (
    get_num_threads,
    get_parallel_chunksize,
    parallel_chunksize,
    set_num_threads,
    set_parallel_chunksize,
)

__all__ = [
    "config",
    "core",
    "errors",
    "from_dtype",
    "get_num_threads",
    "get_parallel_chunksize",
    "guvectorize",
    "jit",
    "literal_unroll",
    "literally",
    "njit",
    "none",
    "parallel_chunksize",
    "pndindex",
    "prange",
    "set_num_threads",
    "set_parallel_chunksize",
    "threading_layer",
    "typeof",
    "types",
    "vectorize",
    "void",
]

prange = _pp.prange
pndindex = _np.ndindex
globals().update(_NUMBERS)
__version__ = "0.60.0"  # whose names these are

_PASSED_OVER = frozenset(
    [
        "cache",
        "debug",
        "error_model",
        "forceobj",
        "inline",
        "inline_threshold",
        "locals",
        "looplift",
        "no_cfunc_wrapper",
        "no_cpython_wrapper",
        "nogil",
        "nopython",
        "parallel",
        "pipeline_class",
        "release_gil",
        "no_compile",
        "target",
    ]
)
_INSTEAD = {
    "cuda": "kernels for GPUs are pardo.kernel; see the guide 'Coming from Numba'",
    "cfunc carray farray": "there are no callbacks for C",
    "experimental jitclass": "use pardo.struct",
    "typed": "write lists and sets as Python does: those of numbers are compiled; dicts stay Python",
    "generated_jit": "a condition on a dtype or a rank is decided when a program is made: write `if`",
    "stencil": "write the loops, or use pardo.ndimage",
    "objmode": "what is around loops is Python already",
    "extending": "functions that are called are compiled with the loops; there is nothing to extend",
    "gdb gdb_init gdb_breakpoint": "use PARDO_INTERPRET=1, and pdb",
    "get_thread_id": "iterations do not know which thread runs them; write into an element of each iteration, or reduce",
}


def options(op_name: str, given: dict[str, _Any]) -> dict[str, _Any]:
    """Of the options of a decorator those that mean something here; TypeError for unknown ones."""
    known: dict[str, _Any] = {k: given.pop(k) for k in ("fastmath", "boundscheck") if k in given}
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
    Dispatcher or decorator
        What is called like the function. It has Numba's `py_func`, `inspect_types` and `parallel_diagnostics`, and what `pardo.jit` gives.
        With ``config.DISABLE_JIT = 1`` it is the function itself.

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
    if config.BOUNDSCHECK is not None:
        known["boundscheck"] = bool(config.BOUNDSCHECK)

    def decorate(function: _Any) -> _Any:
        return function if config.DISABLE_JIT else _Dispatcher.of(_pp.jit(function, **known))

    return decorate if signature_or_function is None or is_signature(signature_or_function) else decorate(signature_or_function)


njit = jit


def vectorize(ftylist_or_function: _Any = (), **given: _Any) -> _Any:
    """Make a function on arrays of a function on elements, as `pardo.vectorize`; arrays of NumPy's give arrays of NumPy's.

    Parameters
    ----------
    ftylist_or_function : callable, or list of signatures
        The function; or types, of which the first that takes the arguments without loss is used.
    **given
        Numba's options, which do nothing.

    Returns
    -------
    callable or decorator
        It takes arrays, numbers and ``out``; `reduce`, `accumulate` and `outer` are as those of NumPy's universal functions.

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
    identity = given.pop("identity", None)
    options("vectorize", given)
    if _inspect.isfunction(ftylist_or_function):
        return _ufuncs.UFunc(ftylist_or_function, [], identity)
    signatures = _ufuncs.signatures_of("vectorize", ftylist_or_function)
    return lambda function: _ufuncs.UFunc(function, signatures, identity)


def guvectorize(ftylist: _Any, signature: str | None = None, **given: _Any) -> _Any:
    """Make a function on arrays of a function on rows or blocks, which writes its results into its last arguments.

    Parameters
    ----------
    ftylist : list of signatures, optional
        Types, of which the first that takes the arguments without loss is used; they say the dtypes of results. Left out, arrays for the
        results are given.
    signature : str
        Dimensions that the function takes together: ``'(n),()->(n)'``.
    **given
        Numba's options, which do nothing.

    Returns
    -------
    decorator
        What it makes takes arrays and numbers, and, behind them or as ``out``, arrays for the results, which the function finds as they
        are.

    Examples
    --------
    >>> from pardo.compat import numba
    >>> import numpy as np
    >>> @numba.guvectorize(["void(int64[:], int64, int64[:])"], "(n),()->(n)")
    ... def plus(x, y, res):
    ...     for i in range(x.shape[0]):
    ...         res[i] = x[i] + y
    >>> plus(np.arange(6).reshape(2, 3), np.array([10, 20]))
    array([[10, 11, 12],
           [23, 24, 25]])
    """
    if given.pop("writable_args", ()):
        raise TypeError("guvectorize: arguments are read only: writable_args is not taken")
    options("guvectorize", given)
    layout, listed = (ftylist, []) if signature is None else (signature, ftylist)
    signatures = _ufuncs.signatures_of("guvectorize", listed)
    return lambda function: _ufuncs.GUFunc(function, signatures, layout)


def literal_unroll(container: _Any) -> _Any:
    """Give the container: loops over tuples are unrolled in any case."""
    return container


def literally(value: _Any) -> _Any:
    """Give the value: constants are part of programs in any case."""
    return value


def threading_layer() -> str:
    """Give the name of what starts the threads: ``'tbb'``."""
    return "tbb"


def __getattr__(name: str) -> _Any:
    """Give an exception by its name; say what to use in place of a name that is not here."""
    if name in errors.NAMES:
        return errors.NAMES[name]
    raise _missing(__name__, name, _INSTEAD, "see the guide 'Coming from Numba'")


_show_module(globals())
