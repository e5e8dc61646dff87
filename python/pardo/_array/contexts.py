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
from pardo._base.arguments import DeviceLike, device_of, on_queue
from pardo._base.docstrings import filled
from pardo._base.public_names import take_numpys_names
from pardo._base.records import function_for
from pardo._core import Array, Device, Queue
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
    like) is there when it returns. If an array of pardo is among its arguments, the NumPy arrays go to that one's queue, and the result
    stays there.

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
    arrays of pardo first (`asarray`), which are recorded and fused as everywhere. Outside of a context NumPy arrays alone are
    refused; beside an array of pardo they are copied to its queue everywhere.

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
        self._device = device_of(device, "device_context")

    def __enter__(self) -> Device:
        global _entered
        if not _entered:
            _core._set_context_variable(current)
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
        return function(*positional, **keywords)
    home = next(filter(None, map(_queue_in, everything)), None)
    target = Queue.of(Device()) if home is None else home
    copies: dict[int, Array] = {}
    places, names = [copied_in(x, target, copies) for x in positional], {k: copied_in(x, target, copies) for k, x in keywords.items()}
    stored = {id(x): x for x in _stored_in(function, positional, keywords)}
    for key, copy in copies.items():
        if key not in stored and type(copy) is Array and not present.in_use:
            copy._set_writeable(False)  # what would be written there would be lost
    result = function(*places, **names)
    for key, x in stored.items():
        np.copyto(x, on_host(copies[key]))
    return _handed_out(result, {id(copies[key]): x for key, x in stored.items()}, home is None)


# Functions that store in their first argument.
_IN_PLACE = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}


def _stored_in(function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays of NumPy's that a call stores in."""
    given = dict(zip(_parameters(function)[0], positional, strict=False)) | keywords
    found = [given.get("out"), given.get("output"), *positional[getattr(function, "nin", len(positional)) :]]
    name = getattr(function, "__name__", "")
    if name in _IN_PLACE or (name == "nan_to_num" and not given.get("copy", True)):
        found += [*positional, *keywords.values()][:1]
    parts = [part for x in found for part in (x if isinstance(x, (tuple, list)) else (x,))]
    return [x for x in parts if isinstance(x, np.ndarray)]


def _holds(x: Any, kind: type) -> bool:
    return isinstance(x, kind) or (isinstance(x, (list, tuple)) and any(_holds(item, kind) for item in x))


def _queue_in(x: Any) -> Queue | None:
    if type(x) is Array:
        return x.queue
    return next(filter(None, map(_queue_in, x)), None) if isinstance(x, (list, tuple)) else None


def copied_in(x: Any, target: Queue, copies: dict[int, Array]) -> Any:
    """The argument with device arrays in place of NumPy's, the same one for the same."""
    if isinstance(x, np.ndarray):
        if isinstance(x, np.ma.MaskedArray):
            raise TypeError("device_context: masked arrays are not supported: what the mask hides would be computed with; pass x.filled(…)")
        if id(x) not in copies:
            found = present.view_on(x, target) if present.in_use else None
            copies[id(x)] = asarray(x, queue=target) if found is None else found
        return copies[id(x)]
    if type(x) in (list, tuple) and _holds(x, np.ndarray):
        return type(x)(copied_in(item, target, copies) for item in x)
    return x


def on_host(x: Array) -> Any:
    return asnumpy(x)


def _handed_out(result: Any, stored: dict[int, np.ndarray[Any, Any]], copied: bool) -> Any:
    """The result with the caller's arrays in place of their copies; if `copied`, also with NumPy's arrays in place of others, and NumPy's
    scalars for arrays of no dimension, as NumPy's own functions give them."""
    if type(result) is Array:
        if id(result) in stored:
            return stored[id(result)]
        return on_host(result)[()] if copied else result
    if isinstance(result, (list, tuple)):
        parts = [_handed_out(item, stored, copied) for item in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def copying(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if _entered and current.get() is not None:
            return offload(function, args, kwargs)
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            again = _with_host_operands(args, kwargs, error) or _by_numpys_names(function, args, kwargs)
            if again is None:
                found = function_for(function.__name__, error, (*args, *kwargs.values()))
                if found is None:
                    raise
                again = args, kwargs
            else:
                found = wrapper
        return found(*again[0], **again[1])

    return wrapper


def public(function: F) -> F:
    """A function with its docstring filled, which takes NumPy's arrays inside of `device_context`."""
    return cast("F", copying(filled(function)))


def _with_host_operands(
    positional: Sequence[Any], keywords: dict[str, Any], error: TypeError
) -> tuple[Sequence[Any], dict[str, Any]] | None:
    """The arguments, with a copy on the queue of the first array among them in place of the values of the host that a function has met;
    None for other errors, and where no argument is an array."""
    if "host_operand" not in error.__dict__:
        return None
    home = next(filter(None, map(_queue_in, [*positional, *keywords.values()])), None)
    operand, op_name = error.host_operand  # type: ignore[attr-defined]
    if home is None or not any(map(functools.partial(_is_in, operand), [*positional, *keywords.values()])):
        return None
    put = functools.partial(_replaced, operand, on_queue(operand, home, op_name))
    return list(map(put, positional)), {name: put(x) for name, x in keywords.items()}


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
