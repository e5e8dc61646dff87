# python/pardo/_devices.py: finding and choosing devices, and `with device_context(...)`.
from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import site
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._arguments import DeviceLike, device_of
from pardo._core import Array, Device, Queue

__all__ = [
    "Platform",
    "device_context",
    "get_devices",
    "get_num_devices",
    "get_platforms",
    "select_device",
    "set_default_device",
]


def package_folders() -> list[str]:
    """Where packages are installed: beside this one, and those of Python's own folders that are searched.

    Not every entry of `sys.path`: there is the folder that `python -m` was called in, and what lies there may be anybody's.
    """
    user = [site.USER_SITE] if site.ENABLE_USER_SITE and site.USER_SITE else []
    searched = {os.path.abspath(folder) for folder in sys.path if folder}
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return list(dict.fromkeys([beside, *(f for f in map(os.path.abspath, [*site.getsitepackages(), *user]) if f in searched)]))


class Platform(NamedTuple):
    """Devices that are reached through one vendor's implementation.

    Attributes
    ----------
    backend : str
        ``'cpu'``, ``'opencl'`` or ``'cuda'``.
    name, vendor, version : str
        What the implementation calls itself.
    devices : tuple of Device
        The visible ones.
    """

    backend: str
    name: str
    vendor: str
    version: str
    devices: tuple[Device, ...]


def get_devices(backend: str | None = None, device_type: str | None = None) -> list[Device]:
    """Find devices.

    Parameters
    ----------
    backend : str, optional
        Those of one back end: ``'cpu'``, ``'opencl'``, ``'cuda'``. The libraries of others are not loaded. Default, and ``'all'``: of all.
    device_type : str, optional
        Those of one type: ``'cpu'``, ``'gpu'``, ``'accelerator'``. Default, and ``'all'``: of all.

    Returns
    -------
    list of Device
        The visible ones: the environment variable PARDO_DEVICES filters them. Empty when there is none.

    Raises
    ------
    ValueError
        There is no such back end or type.
    """
    return _find_devices(backend, device_type, "get_devices")


def _find_devices(backend: str | None, device_type: str | None, who: str) -> list[Device]:
    for name, text in (("backend", backend), ("device_type", device_type)):
        if not isinstance(text, str | None):
            raise TypeError(f"{who}: {name} is a string such as {'opencl' if name == 'backend' else 'gpu'!r}, not {type(text).__name__}")
    return _core._get_devices((backend or "").lower(), (device_type or "").lower())


def get_num_devices(backend: str | None = None, device_type: str | None = None) -> int:
    """Count devices.

    Parameters
    ----------
    backend, device_type : str, optional
        As for `get_devices`.

    Returns
    -------
    int
        How many of these are visible.

    Raises
    ------
    ValueError
        There is no such back end or type.
    """
    return len(_find_devices(backend, device_type, "get_num_devices"))


def get_platforms(backend: str | None = None) -> list[Platform]:
    """Find platforms: the implementations through which devices are reached.

    Parameters
    ----------
    backend : str, optional
        Those of one back end. Default, and ``'all'``: of all.

    Returns
    -------
    list of Platform
        Those that have visible devices.

    Raises
    ------
    ValueError
        There is no such back end.
    """
    return [Platform(*facts) for facts in _core._get_platforms(backend or "")]


def select_device(*, required: str | Iterable[str] = (), excluded: str | Iterable[str] = ()) -> Device:
    """Choose the best device that can do what is needed.

    Parameters
    ----------
    required : str or list of str
        Aspects that it must have, by their SYCL names: ``'fp64'``, ``'gpu'``, ``'usm_shared_allocations'``; `Device.aspects` lists
        those of a device.
    excluded : str or list of str
        Aspects that it must not have.

    Returns
    -------
    Device
        GPUs before accelerators before CPUs, then the one with most compute units.

    Raises
    ------
    ValueError
        A name is no aspect.
    DeviceError
        No visible device will do; the message says of each what it lacks.
    """
    return _core._select_device(_names(required, "required"), _names(excluded, "excluded"))


def _names(names: str | Iterable[str], what: str) -> list[str]:
    if not isinstance(names, Iterable):
        raise TypeError(f"select_device: {what} must be names of aspects such as 'fp64', not {type(names).__name__}")
    listed = [names] if isinstance(names, str) else list(names)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f"select_device: {what} must be names of aspects such as 'fp64', not {type(name).__name__}")
    return listed


def set_default_device(device: DeviceLike) -> None:
    """Set the device that is taken where none is named, for the whole process.

    Parameters
    ----------
    device : Device, str or None
        The device or a selection string; None goes back to what the process began with: PARDO_DEVICE, else the CPU.

    Raises
    ------
    ValueError
        There is no such device.

    See Also
    --------
    device_context : The same for a part of the program, and for one thread or task only.
    """
    _core._set_default_device(device)


_current: contextvars.ContextVar[Device | None] = contextvars.ContextVar("pardo.device_context", default=None)
_outer: contextvars.ContextVar[tuple[Device | None, ...]] = contextvars.ContextVar("pardo.outer_contexts", default=())
_entered = False  # once in this process: until then nobody needs to look


class device_context(contextlib.ContextDecorator):  # noqa: N801 (used like a function)
    """Compute on a device inside of a `with` block, NumPy arrays included.

    Inside, the device is the default one; contexts nest, and each thread and each asyncio task has its own. A function of pardo that is
    given NumPy arrays copies them to the device and gives NumPy arrays back; `out=` may be one too. If an array of pardo is among its
    arguments, the NumPy arrays go to that one's queue, and the result stays there.

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
    arrays of pardo first (`asarray`), which are recorded and fused as everywhere. Outside of a context NumPy arrays are refused:
    nothing is copied by itself.

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
            _core._set_context_variable(_current)
            _entered = True
        _outer.set((*_outer.get(), _current.get()))
        _current.set(self._device)
        return self._device

    def __exit__(self, *exception: object) -> None:
        *others, device = _outer.get()
        _outer.set(tuple(others))
        _current.set(device)


def _offload(function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A call inside of a context: NumPy arrays are copied in, and results out if no array of pardo is among the arguments."""
    everything = [*positional, *keywords.values()]
    if not any(_holds(x, np.ndarray) for x in everything):
        return function(*positional, **keywords)
    home = next(filter(None, map(_queue_in, everything)), None)
    target = Queue.of(Device()) if home is None else home
    copies: dict[int, Array] = {}
    out = keywords.get("out")
    result = function(
        *(_copied_in(x, target, copies) for x in positional), **{name: _copied_in(x, target, copies) for name, x in keywords.items()}
    )
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if isinstance(out, np.ndarray):
        np.copyto(out, _on_host(copies[id(out)]))
        return out
    return result if home is not None else _copied_out(result)


def _holds(x: Any, kind: type) -> bool:
    return isinstance(x, kind) or (isinstance(x, (list, tuple)) and any(_holds(item, kind) for item in x))


def _queue_in(x: Any) -> Queue | None:
    if type(x) is Array:
        return x.queue
    return next(filter(None, map(_queue_in, x)), None) if isinstance(x, (list, tuple)) else None


def _copied_in(x: Any, target: Queue, copies: dict[int, Array]) -> Any:
    """The argument with device arrays in place of NumPy's, the same one for the same."""
    if isinstance(x, np.ndarray):
        if isinstance(x, np.ma.MaskedArray):
            raise TypeError("device_context: masked arrays are not supported: what the mask hides would be computed with; pass x.filled(…)")
        if id(x) not in copies:
            from pardo._interop import asarray

            copies[id(x)] = asarray(x, queue=target)
        return copies[id(x)]
    if type(x) in (list, tuple) and _holds(x, np.ndarray):
        return type(x)(_copied_in(item, target, copies) for item in x)
    return x


def _on_host(x: Array) -> Any:
    from pardo._interop import asnumpy

    return asnumpy(x)


def _copied_out(result: Any) -> Any:
    """The result with NumPy's arrays, and NumPy's scalars for arrays of no dimension, as NumPy's own functions give them."""
    if type(result) is Array:
        return _on_host(result)[()]
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(_copied_out(item) for item in result))
    if isinstance(result, (list, tuple)):
        return type(result)(_copied_out(item) for item in result)
    return result


def _copying(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if _entered and _current.get() is not None:
            return _offload(function, args, kwargs)
        return function(*args, **kwargs)

    return wrapper


# These make arrays of nothing but numbers, or tell about dtypes: they take NumPy's arrays as they are.
_AS_THEY_ARE = {
    "arange", "can_cast", "empty", "eye", "finfo", "full", "identity", "iinfo", "isdtype", "ones", "promote_types", "result_type", "zeros",
}  # fmt: skip


def serve_contexts(namespace: dict[str, Any], modules: Iterable[types.ModuleType]) -> None:
    """Lets the public Python functions of modules take NumPy arrays inside of a context; those in C++ do so by themselves."""
    wrappers: dict[types.FunctionType, Callable[..., Any]] = {}  # second names stay names of the same function
    for module in modules:
        for name in module.__all__:
            function = getattr(module, name)
            if isinstance(function, types.FunctionType) and name not in _AS_THEY_ARE:
                namespace[name] = wrappers.setdefault(function, _copying(function))
                setattr(module, name, namespace[name])  # where pickle looks for it
