# python/pardo/_array/contexts.py: `with device_context(...)`: functions of arrays take those of NumPy inside of it.
from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from pardo import _core
from pardo._array.interop import asarray, asnumpy
from pardo._base.arguments import DeviceLike, default_queue, device_of, on_queue
from pardo._base.docstrings import filled
from pardo._base.public_names import take_numpys_names
from pardo._base.records import function_for
from pardo._base.takers import taken_over
from pardo._base.tracebacks import show_class
from pardo._core import Array, Device, ExecutionPlacementError, Queue, _may_lack_kind
from pardo._data import present

__all__ = ["device_context"]

F = TypeVar("F", bound=Callable[..., Any])

current: contextvars.ContextVar[Device | None] = contextvars.ContextVar("pardo.device_context", default=None)
_outer: contextvars.ContextVar[tuple[Device | None, ...]] = contextvars.ContextVar("pardo.outer_contexts", default=())
_entered = False  # once in this process: until then there is no need to look


class device_context(contextlib.ContextDecorator):  # noqa: N801 (used like a function)
    """Compute on a device inside of a `with` block, NumPy arrays included.

    Inside, the device is the default one; contexts nest, and each thread and each asyncio task has its own. A function of pardo that is
    given NumPy arrays copies them to the device and gives NumPy arrays back; what it stores in one (`out=`, `copyto`, `put` and their
    like) is there when it returns. Of lists, and other values of the host, it makes arrays of pardo there. If an array of pardo is among
    its arguments, the NumPy arrays go to that one's queue, and the result stays there.

    Parameters
    ----------
    device : Device or str
        The device or a selection string.

    Returns
    -------
    context manager
        Gives the device. It can be entered again, also inside of itself.

    Raises
    ------
    ValueError
        There is no such device.

    Notes
    -----
    Each call on NumPy arrays copies in and out, and computes at once. Where a result is only an intermediate one it costs less to make
    arrays of pardo first (`asarray`), which are recorded and fused as everywhere. Outside of a context NumPy arrays alone go to the
    default device, and the result stays there; beside an array of pardo they are copied to its queue everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = np.arange(4.0)
    >>> with pp.device_context("cpu"):
    ...     y = pp.sqrt(x)
    >>> y
    array([0.        , 1.        , 1.41421356, 1.73205081])
    """

    def __init__(self, device: DeviceLike) -> None:
        if device is None:
            raise TypeError("device_context: a device is needed, not None")
        self._device = device_of(device, "device_context").without_queue

    def __enter__(self) -> Device:
        global _entered
        if not _entered:
            _core._install({"context_variable": current})
            _entered = True
        _outer.set((*_outer.get(), current.get()))
        current.set(self._device)
        return self._device

    def __exit__(self, *exception: object) -> None:
        *others, device = _outer.get()
        _outer.set(tuple(others))
        current.set(device)


def offload(function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A call inside of a context: NumPy arrays are copied in, and results out if no array of pardo is among the arguments."""
    everything = [*positional, *keywords.values()]
    if not any(_holds(x, np.ndarray) for x in everything):
        return in_kind(_called(function, positional, keywords), positional, keywords)
    home, op_name = _home_in(everything), getattr(function, "__name__", "device_context")
    target = Queue.of(Device()) if home is None else home.queue
    copies: dict[int, Array] = {}

    def copied(x: Any) -> Any:
        return copied_in(x, target, copies, op_name)

    places, names = list(map(copied, positional)), {k: copied(x) for k, x in keywords.items()}
    stored = {id(x): x for x in _stored_in(function, positional, keywords)}
    for key, copy in copies.items():
        if key not in stored and type(copy) is Array and not present.in_use:
            copy._set_writeable(False)  # what would be written there would be lost
    result = in_kind(_called(function, places, names), positional, keywords)
    for key, x in stored.items():
        np.copyto(x, on_host(copies[key], op_name))
    return _handed_out(result, {id(copies[key]): x for key, x in stored.items()}, home is None, op_name)


# Functions that store in their first argument.
IN_PLACE = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}


def _stored_in(function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any], kind: type = np.ndarray) -> list[Any]:
    """The arrays, NumPy's if nothing else is said, that a call stores in."""
    given = dict(zip(_parameters(function)[0], positional, strict=False)) | keywords
    found = [given.get("out"), given.get("output"), *positional[getattr(function, "nin", len(positional)) :]]
    name = getattr(function, "__name__", "")
    if name in IN_PLACE or (name == "nan_to_num" and not given.get("copy", True)):
        found += [*positional, *keywords.values()][:1]
    if name == "at":  # of a universal function, which comes first
        found += positional[1:2]
    parts = [part for x in found for part in (x if isinstance(x, (tuple, list)) else (x,))]
    return [x for x in parts if isinstance(x, kind)]


def _holds(x: Any, kind: type) -> bool:
    return isinstance(x, kind) or (isinstance(x, (list, tuple)) and any(_holds(item, kind) for item in x))


def _home_in(arguments: Iterable[Any]) -> Array | None:
    """The array among arguments, and in lists and tuples among them, whose queue others follow."""
    return _core._array_among(tuple(arguments))


def copied_in(x: Any, target: Queue, copies: dict[int, Array], op_name: str | None = None) -> Any:
    """The argument with device arrays in place of NumPy's, the same one for the same; with a name `transfer_guard` sees the copies."""
    if isinstance(x, np.ndarray):
        if isinstance(x, np.ma.MaskedArray):
            raise TypeError("device_context: masked arrays are not supported: what the mask hides would be computed with; pass x.filled(…)")
        if id(x) not in copies:
            found = present.view_on(x, target) if present.in_use else None
            if found is None:
                found = asarray(x, queue=target) if op_name is None or x.dtype.names else _core._host_operand(x, target, op_name, False)
            copies[id(x)] = found
        return copies[id(x)]
    if type(x) in (list, tuple) and _holds(x, np.ndarray):
        return type(x)(copied_in(item, target, copies, op_name) for item in x)
    return x


def on_host(x: Any, op_name: str | None = None) -> Any:
    if op_name is not None and type(x) is Array:
        _core._note_transfer(op_name, x.nbytes, x.device.id, False)
    return asnumpy(x)


def _handed_out(result: Any, stored: dict[int, np.ndarray[Any, Any]], copied: bool, op_name: str) -> Any:
    """The result with the caller's arrays in place of their copies; if `copied`, also with NumPy's arrays in place of others, and NumPy's
    scalars for arrays of no dimension, as NumPy's own functions give them."""
    if type(result) is Array:
        if id(result) in stored:
            return stored[id(result)]
        return on_host(result, op_name)[()] if copied else result
    if isinstance(result, (list, tuple)):
        parts = [_handed_out(item, stored, copied, op_name) for item in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


# Functions whose results are recorded beside memory of the device, such as numbers that the host has computed: where there are several
# kinds of memory, they are computed to tell.
_BESIDE_OTHERS = {
    "convolve", "correlate", "diag_indices_from", "digitize", "histogram2d", "histogramdd", "lexsort", "nanpercentile", "nanquantile",
    "packbits", "poly", "polymul", "polyval", "resize",
}  # fmt: skip


def copying(function: Callable[..., Any]) -> Callable[..., Any]:
    lacks: Callable[[Any], bool] = (lambda _: True) if function.__name__ in _BESIDE_OTHERS else _may_lack_kind

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if _entered and current.get() is not None:
            return offload(function, args, kwargs)
        try:
            result = function(*args, **kwargs)
        except (TypeError, ExecutionPlacementError) as error:
            found, again = _another_call(function, args, kwargs, error)
            if found is None:
                raise
        else:
            return in_kind(result, args, kwargs) if lacks(result) else result
        return found(*again[0], **again[1])

    return wrapper


def in_kind(result: Any, positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Results in memory of the kind of the operands, where a function has made them in memory of the device, and nothing else was asked."""
    everything = (tuple(positional), tuple(keywords.values()))
    kind = _core._kind_among(everything)
    if kind is None or keywords.get("usm_type") is not None:
        return result
    device = cast("Array", _home_in(everything)).queue.device

    def moved(x: Any) -> Any:
        if type(x) is Array:
            wrong = x.usm_type == "device" and x.queue.device == device
            return _core._in_memory(x, kind, "in_memory") if wrong and not _is_in(x, everything) else x
        if type(x) in (list, tuple):
            return type(x)(map(moved, x))
        return type(x)(*map(moved, x)) if hasattr(x, "_fields") else x

    return moved(result)


def _called(function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """The call, and those that take its place where values of the host, and 0-d arrays of the CPU, are to follow its arrays."""
    try:
        return function(*positional, **keywords)
    except (TypeError, ExecutionPlacementError) as error:
        found, again = _another_call(function, positional, keywords, error)
        if found is None:
            raise
    return found(*again[0], **again[1])


def _another_call(
    function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any], error: Exception
) -> tuple[Callable[..., Any] | None, tuple[Sequence[Any], dict[str, Any]]]:
    """What is called, and with which arguments, in place of a call that an error says was not possible; None if there is nothing."""
    if not isinstance(error, TypeError):
        again = _with_followers(function, positional, keywords)
        return (None, (positional, keywords)) if again is None else (copying(function), again)
    taker = taken_over(function, (*positional, *keywords.values()))
    if taker is not None:
        return taker, (positional, keywords)
    again = _with_host_operands(positional, keywords, error) or _by_numpys_names(function, positional, keywords)
    if again is not None:
        return copying(function), again
    return function_for(function.__name__, error, (*positional, *keywords.values())), (positional, keywords)


def serve_methods(kind: type, names: Iterable[str]) -> None:
    """Lets methods of a class take values of the host as functions do."""
    for name in names:
        method = getattr(kind, name)
        setattr(kind, name, copying(getattr(method, "__wrapped__", method)))
    show_class(kind, again=True)


def public(function: F) -> F:
    """A function with its docstring filled, which takes NumPy's arrays inside of `device_context`."""
    return cast("F", copying(filled(function)))


def _with_host_operands(
    positional: Sequence[Any], keywords: dict[str, Any], error: TypeError
) -> tuple[Sequence[Any], dict[str, Any]] | None:
    """The arguments, with a copy in place of the values of the host that a function has met, on the queue of the arrays among them, or on
    the default one; None for other errors."""
    if "host_operand" not in error.__dict__:
        return None
    everything = [*positional, *keywords.values()]
    operand, op_name = error.host_operand  # type: ignore[attr-defined]
    if not any(map(functools.partial(_is_in, operand), everything)):
        return None
    home = _home_in(everything)
    queue = default_queue() if home is None else home.queue
    if isinstance(operand, np.ndarray) and operand.dtype.names:
        _core._note_transfer(op_name, operand.nbytes, queue.device.id, True)
        copy = asarray(operand, queue=queue)
    elif home is None:
        copy = _core._host_operand(operand, queue, op_name, False)
    else:
        copy = on_queue(operand, queue, op_name)
    put = functools.partial(_replaced, operand, copy)
    return list(map(put, positional)), {name: put(x) for name, x in keywords.items()}


def _with_followers(
    function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]] | None:
    """The arguments with 0-d arrays of the CPU on the queue of the others; None where there are none, or a call stores in one."""
    everything = [*positional, *keywords.values()]
    home = _home_in(everything)
    if home is None:
        return None
    queue, most, copies = home.queue, _core._pull(home), dict[int, Array]()
    stored = set(map(id, _stored_in(function, positional, keywords, Array)))

    def put(x: Any) -> Any:
        if type(x) in (list, tuple):
            return type(x)(map(put, x))
        if type(x) is not Array or x.ndim > 0 or x.queue == queue or id(x) in stored or _core._pull(x) >= most:
            return x
        if id(x) not in copies:
            copies[id(x)] = _core._follow(x, queue, function.__name__)
        return copies[id(x)]

    again = list(map(put, positional)), {name: put(x) for name, x in keywords.items()}
    return again if copies else None


def _by_numpys_names(
    function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]] | None:
    """Arguments of a call that has given one by a name that only NumPy's function has, `a` for an array: that one by its position."""
    theirs = getattr(np, function.__name__, None)
    given, named = list(positional), dict(keywords)
    return (given, named) if callable(theirs) and place_by_numpys_names(theirs, function, given, named) else None


def place_by_numpys_names(theirs: Callable[..., Any], ours: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]) -> bool:
    """Moves what a function of NumPy's takes by a name, and ours by position alone, to the positional arguments; whether there was any."""
    names, (own, count), before = _parameters(theirs)[0], _parameters(ours), len(positional)
    for i in range(before, min(count, len(names))):
        if names[i] not in keywords or names[i] in own[count:]:
            break
        positional.append(keywords.pop(names[i]))
    return len(positional) > before


@functools.cache
def _parameters(function: Callable[..., Any]) -> tuple[list[str], int]:
    """The names of a function's parameters, and how many of them are taken by position alone."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return [], 0
    return list(parameters), sum(p.kind is p.POSITIONAL_ONLY for p in parameters.values())


def _is_in(operand: Any, x: Any) -> bool:
    return x is operand or (type(x) in (list, tuple) and any(_is_in(operand, item) for item in x))


def _replaced(operand: Any, value: Array, x: Any) -> Any:
    """The argument with a value in the place of an operand, also inside of lists and tuples."""
    if x is operand:
        return value
    return type(x)(_replaced(operand, value, item) for item in x) if type(x) in (list, tuple) and _is_in(operand, x) else x


# These make arrays of nothing but numbers, or tell about dtypes: they take NumPy's arrays as they are.
_AS_THEY_ARE = {
    "arange", "can_cast", "empty", "eye", "finfo", "full", "identity", "iinfo", "isdtype", "ones", "promote_types", "result_type", "zeros",
}  # fmt: skip


def serve_contexts(namespace: dict[str, Any], modules: Iterable[types.ModuleType]) -> None:
    """Lets the public Python functions of modules take NumPy arrays inside of a context; those in C++ do so by themselves."""
    wrappers: dict[types.FunctionType, Callable[..., Any]] = {}  # second names stay names of the same function
    top = namespace["__name__"] == "pardo"
    for module in modules:
        for name in module.__all__:
            function = getattr(module, name)
            if isinstance(function, types.FunctionType) and name not in _AS_THEY_ARE:
                if top and function not in wrappers:
                    take_numpys_names(function, getattr(np, function.__name__, None))
                namespace[name] = wrappers.setdefault(function, copying(function))
                setattr(module, name, namespace[name])  # where pickle looks for it
