# python/pardo/compat/numba_dpex/__init__.py: numba-dpex's names over pardo's kernels and compiled functions.
"""numba-dpex's names: ``import pardo.compat.numba_dpex as numba_dpex``.

Kernels are pardo's: `kernel` gives what `pardo.call_kernel` takes too. Arrays are pardo's, by the names of `pardo.compat.dpnp` or its own.
"""

from __future__ import annotations

import functools as _functools
import inspect as _inspect
import itertools as _itertools
import re as _re
import warnings as _warnings
from typing import Any as _Any

import pardo as _pp
from pardo._extending import KernelFunction as _KernelFunction
from pardo._extending import functions_of as _functions_of
from pardo._extending import show_module as _show_module
from pardo.compat import dpctl as _dpctl  # noqa: F401 (gives arrays dpctl's names)
from pardo.compat import numba as _numba
from pardo.compat._names import missing as _missing
from pardo.compat.numba_dpex import kernel_api
from pardo.compat.numba_dpex.core import config, exceptions, types
from pardo.compat.numba_dpex.core.types import SHORT as _SHORT
from pardo.compat.numba_dpex.core.types import DpctlSyclEvent, DpctlSyclQueue, DpnpNdArray, NdRangeType, RangeType, USMNdArray
from pardo.compat.numba_dpex.core.types.kernel_api.index_space_ids import ItemType as _ItemType
from pardo.compat.numba_dpex.kernel_api import NdRange, Range

__all__ = [
    "DpctlSyclEvent",
    "DpctlSyclQueue",
    "DpnpNdArray",
    "NdRange",
    "NdRangeType",
    "Range",
    "RangeType",
    "USMNdArray",
    "call_kernel",
    "call_kernel_async",
    "config",
    "device_func",
    "dpjit",
    "get_global_id",
    "kernel",
    "kernel_api",
    "prange",
    "types",
]

prange = _pp.prange
usm_ndarray, none, void = types.usm_ndarray, types.none, types.void
globals().update({name: getattr(types, name) for name in _SHORT})
get_global_id = _pp.get_global_id
__version__ = "0.23.0"  # whose names these are
_numbers = _itertools.count()  # texts have names of their own
_INSTEAD = {
    "atomic barrier get_local_id get_group_id local private": "older names: use numba_dpex.kernel_api, or pardo's own",
    "DpctlSyclDevice": "use pardo.Device",
}


class KernelDispatcher(_KernelFunction[...]):
    """A kernel; with signatures it takes arguments of their types only."""

    def __init__(self, function: _Any, signatures: list[_Any], fastmath: bool) -> None:
        super().__init__(function, fastmath)
        self.py_func = function
        self.overloads = {tuple(s.args if isinstance(s, _numba.types.Signature) else s): self for s in signatures}
        for types_of in self.overloads:
            for kind in types_of:
                if isinstance(kind, _numba.types.Array) and not isinstance(kind, USMNdArray):
                    raise exceptions.InvalidKernelSpecializationError(f"kernel: {kind} is an array of NumPy's; use DpnpNdArray")

    def check(self, arguments: tuple[_Any, ...]) -> None:
        """Raise TypeError if no signature is of these types."""
        if not self.overloads:
            return
        given = [_numba.typeof(a) for a in arguments]
        for types_of in self.overloads:
            wanted = [t for t in types_of if not isinstance(t, _ItemType)]
            if len(wanted) == len(given) and all(_alike(w, g) for w, g in zip(wanted, given, strict=True)):
                return
        raise TypeError(f"{self.__name__}: it has no specialisation for {', '.join(map(str, given))}")


def _alike(wanted: _Any, given: _Any) -> bool:
    if isinstance(wanted, _numba.types.Array):
        return isinstance(given, _numba.types.Array) and (wanted.dtype, wanted.ndim) == (given.dtype, given.ndim)
    return bool(wanted == given)


def _parted(op_name: str, what: _Any) -> tuple[_Any, list[_Any]]:
    """The function of a decorator, or None, and signatures."""
    signatures = what if isinstance(what, list) else [what] if isinstance(what, (tuple, str, _numba.types.Signature)) else []
    if any(isinstance(s, str) for s in signatures):
        raise NotImplementedError(f"{op_name}: signatures are types, not texts")
    if what is not None and not signatures and not _inspect.isfunction(what):
        raise ValueError(f"{op_name}: a function or signatures are expected, not {type(what).__name__}")
    return (None, signatures) if signatures or what is None else (what, [])


def kernel(function_or_signature: _Any = None, **options: _Any) -> _Any:
    """Make a kernel of a function, as `pardo.kernel`.

    Parameters
    ----------
    function_or_signature : callable, signature, or list of signatures
        The function; or types: then arguments of others raise TypeError.
    **options
        ``fastmath``; numba-dpex's others say how it compiles, and do nothing.

    Returns
    -------
    KernelDispatcher or decorator
        Launch it with `call_kernel` or `call_kernel_async`, or as pardo's kernels.

    Examples
    --------
    >>> import pardo.compat.numba_dpex as dpex
    >>> import pardo.compat.dpnp as dpnp
    >>> from pardo.compat.numba_dpex import kernel_api as kapi
    >>> @dpex.kernel
    ... def add(item: kapi.Item, a, b, c):
    ...     i = item.get_id(0)
    ...     c[i] = a[i] + b[i]
    >>> a = dpnp.arange(3)
    >>> c = dpnp.empty_like(a)
    >>> dpex.call_kernel(add, dpex.Range(3), a, a, c)
    >>> c
    array([0, 2, 4])
    """
    if "_compilation_mode" in options:
        _warnings.warn("_compilation_mode is numba-dpex's own, and does nothing", UserWarning, stacklevel=2)
        del options["_compilation_mode"]
    known = _numba.options("kernel", options)
    function, signatures = _parted("kernel", function_or_signature)

    def decorate(f: _Any) -> KernelDispatcher:
        return KernelDispatcher(f, signatures, known.get("fastmath", False))

    return decorate if function is None else decorate(function)


def device_func(function_or_signature: _Any = None, **options: _Any) -> _Any:
    """Mark a function that kernels call, as `pardo.func`.

    Parameters
    ----------
    function_or_signature : callable, signature, or list of signatures
        The function; or types: with one signature, arguments are converted to its types, and the result to its.
    **options
        numba-dpex's, which do nothing.

    Returns
    -------
    callable or decorator
        The function.

    Examples
    --------
    >>> import pardo.compat.numba_dpex as dpex
    >>> @dpex.device_func
    ... def twice(x):
    ...     return 2 * x
    >>> twice(4)
    8
    """
    _numba.options("device_func", options)
    function, signatures = _parted("device_func", function_or_signature)
    if function is not None:
        return _pp.func(function)
    if len(signatures) != 1:
        return _pp.func
    signature = signatures[0]
    converts = tuple(signature.args if isinstance(signature, _numba.types.Signature) else signature)
    result = getattr(signature, "return_type", None)
    return _functools.partial(_converting, tuple(map(_convert, converts)), _convert(result))


def _convert(kind: _Any) -> _Any:
    """What converts to a type: its own call for numbers; nothing for others."""
    return kind._pardo_dtype if isinstance(kind, _numba.types.Number) else None


def _converting(converts: tuple[_Any, ...], result: _Any, function: _Any) -> _Any:
    """A function whose arguments and result are converted, where something converts them."""
    known = {"function": function, "result": result}
    given = []
    for k, convert in enumerate(converts):
        given.append(f"x{k}" if convert is None else f"c{k}(x{k})")
        known[f"c{k}"] = convert
    head = f"def call({', '.join(f'x{k}' for k in range(len(converts)))}):"
    lines = [head, f"    return result(function({', '.join(given)}))" if result else f"    return function({', '.join(given)})"]
    return _pp.func(_functions_of(f"device_func {next(_numbers)}", lines, known)["call"])


def dpjit(function: _Any = None, **options: _Any) -> _Any:
    """Compile the loops of a function, as `pardo.jit`; what is between them is recorded and fused.

    Parameters
    ----------
    function : callable, optional
        The function. Left out, a decorator is made.
    **options
        ``fastmath`` and ``boundscheck``; Numba's others do nothing.

    Returns
    -------
    JitFunction or decorator
        What is called like the function.

    Examples
    --------
    >>> import pardo.compat.numba_dpex as dpex
    >>> import pardo.compat.dpnp as dpnp
    >>> @dpex.dpjit
    ... def total(a):
    ...     s = a.dtype.type(0)
    ...     for i in dpex.prange(a.shape[0]):
    ...         s += a[i]
    ...     return s
    >>> int(total(dpnp.arange(4)))
    6
    """
    return _numba.jit(function, **options)


def _launched(kernel_fn: _Any, index_space: _Any, arguments: tuple[_Any, ...], depends: _Any) -> _Any:
    if not isinstance(kernel_fn, _KernelFunction):
        raise TypeError(f"call_kernel: a kernel is expected, not {type(kernel_fn).__name__}; decorate the function with @kernel")
    if not any(type(a) is _pp.Array for a in arguments):
        raise exceptions.ExecutionQueueInferenceError(
            f"{kernel_fn.__name__}: no argument is an array, so nothing says on which queue it runs"
            if not any(hasattr(a, "__array__") for a in arguments)
            else f"{kernel_fn.__name__}: arrays of NumPy's are on no queue; use dpnp.asarray"
        )
    if isinstance(kernel_fn, KernelDispatcher):
        kernel_fn.check(arguments)
    if config.INLINE_THRESHOLD is not None and config.INLINE_THRESHOLD < 0:
        _warnings.warn("INLINE_THRESHOLD is negative; it does nothing", UserWarning, stacklevel=3)
    return kernel_fn[index_space, None, depends](*arguments)


def call_kernel(kernel_fn: _Any, index_space: _Any, *kernel_args: _Any) -> None:
    """Launch a kernel and wait for it.

    Parameters
    ----------
    kernel_fn : KernelDispatcher
        What `kernel` made.
    index_space : Range or NdRange
        The items.
    *kernel_args
        Of the kernel; at least one is an array.

    See Also
    --------
    kernel
    """
    _launched(kernel_fn, index_space, kernel_args, None).wait()


def call_kernel_async(kernel_fn: _Any, index_space: _Any, dependent_events: _Any, *kernel_args: _Any) -> tuple[_Any, _Any]:
    """Launch a kernel and do not wait.

    Parameters
    ----------
    kernel_fn : KernelDispatcher
        What `kernel` made.
    index_space : Range or NdRange
        The items.
    dependent_events : tuple of SyclEvent
        The kernel begins after these.
    *kernel_args
        Of the kernel; at least one is an array.

    Returns
    -------
    tuple of SyclEvent
        Of what keeps the arguments, and of the kernel: here one event, twice.

    See Also
    --------
    kernel
    """
    if not isinstance(dependent_events, tuple):
        raise TypeError(f"call_kernel_async: dependent events must be passed as a tuple, not {type(dependent_events).__name__}")
    event = _launched(kernel_fn, index_space, kernel_args, list(dependent_events))
    return event, event


def parse_sem_version(version_string: str) -> tuple[int, ...]:
    """Give the three numbers of a version."""
    found = _re.match(r"(\d+)\.(\d+)\.(\d+)", version_string)
    if found is None:
        raise ValueError(f"parse_sem_version: three numbers are expected, not {version_string!r}")
    return tuple(map(int, found.groups()))


def __getattr__(name: str) -> _Any:
    """Say what to use in place of a name that is not here."""
    raise _missing(__name__, name, _INSTEAD, "see the guide 'From numba-dpex' for pardo's names")


_show_module(globals())
