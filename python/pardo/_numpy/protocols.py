# python/pardo/_numpy/protocols.py: NumPy's functions on arrays of pardo: they run as those of pardo of the same names, on the device.
from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.array_interface import Checked
from pardo._array.contexts import IN_PLACE, place_by_numpys_names
from pardo._array.interop import asnumpy, fetched, host_operand
from pardo._base import face, promotion
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._runtime.transfers import implicit_copies_allowed

# Functions of NumPy's that take `like=`: they make arrays, here on the queue of that one.
MAKERS = {
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "eye", "frombuffer", "fromfile",
    "fromfunction", "fromiter", "fromstring", "full", "genfromtxt", "identity", "loadtxt", "ones", "require", "tri", "zeros",
}  # fmt: skip
_DESTINATIONS = ("a", "arr", "dst")  # what those of IN_PLACE call their first argument
_table: dict[np.ufunc, Callable[..., Any]] = {}  # what the core looks into for plain calls


class Protocols:
    """Is copied into `pardo.Array`."""

    __slots__ = ()

    # NumPy's own binary operators ask `__array_ufunc__`, which the core has.
    __array_priority__ = 1000.0

    def __array_function__(self: Any, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run a function of NumPy's as that of pardo of the same name."""
        if not all(map(_is_known, types)):
            return NotImplemented
        name = func.__name__
        ours = function_like(func)
        if ours is None:
            full = f"{(func.__module__ or 'numpy').removeprefix('numpy._core.')}.{name}"
            raise TypeError(
                f"{full}: arrays of pardo have no function of that name; use {full}(pardo.asnumpy(x)), or what pardo has: see dir(pardo)"
            )
        if name in MAKERS and not _holds_array((args, kwargs)):
            return ours(*args, **kwargs, **_place(ours, self))
        if name in IN_PLACE and isinstance(args[0] if args else next((kwargs[n] for n in _DESTINATIONS if n in kwargs), None), np.ndarray):
            return _stored(func, args, kwargs)
        if name == "broadcast_arrays" and any(x is None or isinstance(x, str) for x in args):
            return _broadcast_each(args)
        args, kwargs = arguments(func, ours, args, kwargs)
        out = kwargs.get("out")
        if isinstance(out, np.ndarray):
            del kwargs["out"]
            result = ours(*args, **kwargs)
            return _into(name, (result,), (out,), kwargs.get("casting", "same_kind"), True)
        return ours(*args, **kwargs)

    @property
    def __array_struct__(self: Any) -> Any:
        """`__array_interface__` for libraries written in C: a capsule with NumPy's `PyArrayInterface`."""
        return _memory_of(self, "__array_struct__").__array_struct__

    @property
    def ctypes(self: Any) -> Any:
        """NumPy's object for calls by the module `ctypes`: ``data``, ``data_as``, ``shape_as``, ``strides_as``; only where the memory is
        the host's. It may be written, so operations on it run at once from now on."""
        return _memory_of(self, "ctypes").ctypes

    def __array_wrap__(self: Any, array: Any, context: Any = None, return_scalar: bool = False, /) -> Any:
        """Bring what a function of NumPy's has computed to the queue of this array."""
        return array if type(array) is Array else host_operand(array, self.queue, "__array_wrap__")


def _memory_of(x: Any, name: str) -> NDArray[Any]:
    """NumPy's view of memory that others may write from now on."""
    if _core._was_interrupted(x):  # NumPy asked for the buffer first, and has swallowed that
        raise KeyboardInterrupt
    if not _core._is_on_host(x):
        raise AttributeError(f"{name}: the host cannot read the memory of an array on {x.device}: use pardo.asnumpy(x)")
    interface = x.__array_interface__  # from now on others may write
    return np.asarray(Checked(interface, x))


def call_ufunc(ufunc: np.ufunc, method: str, /, *inputs: Any, **keywords: Any) -> Any:
    """A universal function of NumPy's on arrays of pardo, with keywords, or by one of its methods."""
    outs = keywords.pop("out", ())
    outs = outs if isinstance(outs, tuple) else (outs,)
    if any(_computes_itself(x) for x in (*inputs, *outs)):
        return NotImplemented
    name = ufunc.__name__
    if method == "at" and isinstance(inputs[0], np.ndarray):  # the host's array takes the result
        return ufunc.at(inputs[0], *(_on_host(x, f"{name}.at") for x in inputs[1:]))
    home = _home(ufunc)
    ours, full = _ufunc_like(ufunc), f"{home}.{name}" if home else name  # those that programs make have no module
    if ours is None:
        return _on_host_views(ufunc, method, full, inputs, outs, keywords)
    if method != "__call__":
        function = getattr(ours, method, None)
        if function is None:
            raise TypeError(f"{full}.{method}: functions of pardo have no such method; use {full}.{method} on pardo.asnumpy(x)")
        ours, name = function, f"{name}.{method}"
    _without_defaults(keywords)
    if not any(isinstance(o, np.ndarray) for o in outs):
        if any(o is not None for o in outs):
            keywords["out"] = outs[0] if len(outs) == 1 else outs
        return ours(*inputs, **keywords)
    casting, where = keywords.pop("casting", "same_kind"), keywords.pop("where", True)
    result = ours(*inputs, **keywords)
    results = result if isinstance(result, tuple) else (result,)
    return _into(name, results, outs, casting, where)


def _on_host_views(
    ufunc: np.ufunc, method: str, full: str, inputs: tuple[Any, ...], outs: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """A universal function that pardo does not have: it runs on the host where that reads the memory, which is counted."""
    called = full if method == "__call__" else f"{full}.{method}"
    casting, where = keywords.pop("casting", "same_kind"), keywords.pop("where", True)
    arrays = [x for x in (*inputs, *outs, where) if type(x) is Array]
    queue = arrays[0].queue
    for x in arrays:
        if x.queue != queue:
            raise _core.ExecutionPlacementError(f"{called}: operands are on different queues, {queue} and {x.queue}: use x.to_device")
        if not (_core._is_on_host(x) or implicit_copies_allowed()):
            raise TypeError(
                f"{called}: pardo has no such function, and the host cannot read the memory of an array on {x.device} to run it: "
                "call it with pardo.asnumpy(x)"
            )
    _core._note_fallback(f"{called}: pardo has no such function; the host runs it")
    hosts = [np.asarray(x) if type(x) is Array else x for x in inputs]
    if method == "at":
        target = asnumpy(inputs[0])
        ufunc.at(target, *hosts[1:])
        inputs[0][...] = target
        return None
    here = np.asarray(where) if type(where) is Array else where
    chosen: dict[str, Any] = {} if where is True or any(o is not None for o in outs) else {"where": here}
    if casting != "same_kind":  # those of Numba do not take it
        chosen["casting"] = casting
    results = getattr(ufunc, method)(*hosts, **keywords, **chosen)
    made = tuple(_on_queue(r, queue) for r in (results if isinstance(results, tuple) else (results,)))
    if outs:
        return _into(called, made, outs, casting, where)
    return made if isinstance(results, tuple) else made[0]


def _on_queue(x: Any, queue: Any) -> Any:
    """A result of the host's on a queue; elements that arrays do not have stay NumPy's."""
    host = np.asarray(x)
    if kind_of(host.dtype) not in "biufc" or host.dtype.itemsize > (16 if kind_of(host.dtype) == "c" else 8):
        return x
    return host_operand(host, queue, "__array_ufunc__")


def _broadcast_each(args: Sequence[Any]) -> tuple[Any, ...]:
    """NumPy's `broadcast_arrays` of what are not all numbers: each one stays where it is."""
    items = [x if type(x) is Array else np.asarray(x) for x in args]
    shape = np.broadcast_shapes(*(x.shape for x in items))
    return tuple(_core._broadcast_to(x, list(shape)) if type(x) is Array else np.broadcast_to(x, shape) for x in items)


def _without_defaults(keywords: dict[str, Any]) -> None:
    """Leaves out what NumPy's functions take and means nothing here, if it is as they have it."""
    if keywords.get("order") == "K":
        del keywords["order"]
    keywords.pop("subok", None)
    for name in [name for name, value in keywords.items() if value is np._NoValue]:
        del keywords[name]


def _into(name: str, results: Sequence[Any], outs: Sequence[Any], casting: Any, where: Any) -> Any:
    """Results stored where they are wanted, in arrays of NumPy's too; these are returned."""
    stored = []
    for result, out in zip(results, outs, strict=True):
        if out is None:
            stored.append(result)
            continue
        if not promotion.can_cast(result.dtype, out.dtype, casting):
            raise TypeError(f"{name}: cannot cast the result from {result.dtype} to {out.dtype} of out with casting rule {casting!r}")
        if type(out) is Array:
            _core_copyto(out, result, casting, where)
        else:
            _fits(name, result.shape, out.shape)
            _copyto(out, result, casting, where, name)
        stored.append(out)
    return stored[0] if len(stored) == 1 else tuple(stored)


def _fits(name: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    try:
        ok = np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        ok = False
    if not ok:
        raise ValueError(f"{name}: out has shape {wanted}, but the result has shape {shape}")


def _core_copyto(out: Array, result: Any, casting: Any, where: Any) -> None:
    face.namespace().copyto(out, result, casting=casting, where=where)


def _copyto(dst: NDArray[Any], src: Any, casting: Any = "same_kind", where: Any = True, op_name: str = "copyto") -> None:
    """NumPy's `copyto` with a target on the host."""
    values, chosen = (fetched(x, op_name, unless_readable=True) for x in (src, where))
    np.copyto(dst, values, casting=casting, where=chosen)


def _stored(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """A function of NumPy's that stores in its first argument, an array of the host: what it stores is fetched."""
    given, named = [_on_host(x, func.__name__) for x in args], {name: _on_host(x, func.__name__) for name, x in kwargs.items()}
    func(*given, **named)


def _on_host(x: Any, op_name: str) -> Any:
    return tuple(_on_host(part, op_name) for part in x) if isinstance(x, tuple) else fetched(x, op_name, unless_readable=True)


def _is_known(kind: type) -> bool:
    return issubclass(kind, (Array, np.ndarray)) or not hasattr(kind, "__array_function__")


def _computes_itself(x: Any) -> bool:
    kind = type(x)
    if kind is Array or kind is np.ndarray or isinstance(x, np.generic) or not hasattr(kind, "__array_ufunc__"):
        return False
    return not _core._is_host_data(x)


def _holds_array(x: Any) -> bool:
    if isinstance(x, dict):
        return any(map(_holds_array, x.values()))
    return type(x) is Array or (isinstance(x, (list, tuple)) and any(map(_holds_array, x)))


def _place(ours: Callable[..., Any], like: Array) -> dict[str, Any]:
    names = inspect.signature(ours).parameters
    return {"queue": like.queue} if "queue" in names else {"device": like.device} if "device" in names else {}


def _ufunc_like(ufunc: np.ufunc) -> Callable[..., Any] | None:
    """Ours of the same name, for universal functions of NumPy and of scipy.special."""
    found = _table.get(ufunc)
    if found is None:
        found = _own(ufunc)
        if found is not None:
            _table[ufunc] = found
    return found


def _own(ufunc: np.ufunc) -> Callable[..., Any] | None:
    home = _home(ufunc)
    if home is None:
        return None
    return getattr(face.public("special") if home == "scipy.special" else face.namespace(), ufunc.__name__, None)


def _home(ufunc: np.ufunc) -> str | None:
    """The public module of a universal function; with SCIPY_ARRAY_API=1 those of scipy.special lie behind wrappers, and that of `clip`,
    which methods of NumPy's arrays call, does so always."""
    for module in ("numpy", "scipy.special", "numpy._core.umath", "scipy.special._ufuncs"):
        if getattr(sys.modules.get(module), ufunc.__name__, None) is ufunc:
            return module.removesuffix("._ufuncs").removesuffix("._core.umath")
    return None


@functools.cache
def function_like(func: Callable[..., Any]) -> Callable[..., Any] | None:
    """Ours of the same name in the module of the same name: numpy.linalg.norm is pardo.linalg.norm, if there is one."""
    module: Any = face.namespace()
    for part in (func.__module__ or "numpy").removeprefix("numpy.").split("."):
        if part.startswith("_") or part in ("numpy", "core") or (part == "lib" and func.__module__ != "numpy.lib.stride_tricks"):
            continue
        module = getattr(module, part, None)
    found = getattr(module, func.__name__, None)
    return found if callable(found) and not isinstance(found, type) else None


def arguments(
    func: Callable[..., Any], ours: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as ours takes them: by position what NumPy takes by a name that ours does not have."""
    positional, named = list(args), dict(kwargs)
    _without_defaults(named)
    place_by_numpys_names(func, ours, positional, named)
    return positional, named


def begin(namespace: dict[str, Any]) -> None:
    """Gives the core the table of functions whose names it looks up; those of files that are read later are added when they come."""
    for value in list(vars(np).values()):
        if isinstance(value, np.ufunc) and value.__name__ in namespace:
            _table[value] = namespace[value.__name__]
    _core._install({"ufuncs": _table, "call_ufunc": call_ufunc})
