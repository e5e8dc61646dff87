# python/pardo/_plugins/zarr_buffers.py: buffers that zarr decodes into and encodes from, and the arrays on devices that are made of them.
from __future__ import annotations

import contextvars
import copyreg
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.creation import empty
from pardo._array.interop import asarray, asnumpy, host_view, writable_buffers
from pardo._base import face
from pardo._base.arguments import device_of
from pardo._base.promotion import is_bfloat16, kind_of
from pardo._base.records import Records
from pardo._core import Array, Device, _is_on_host
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr.registry import register_ndbuffer


def has_place(dtype: np.dtype[Any]) -> bool:
    """Whether devices have such elements. Texts, times and objects stay where zarr decodes them."""
    return kind_of(dtype) in "biufc" or (dtype.names is not None and all(has_place(dtype[name].base) for name in dtype.names))


def host_of(x: Any) -> Any:
    """The elements on the host: an array's where it lies if that can be read there, else copied once."""
    if type(x) is Array:
        seen = host_view(x)
        return asnumpy(x) if seen is None else seen
    return face.namespace().asnumpy(x) if isinstance(x, Records) else x


class _Classes(type(cpu.NDBuffer)):  # type: ignore[misc]
    """What classes of buffers are made by: pickles of those of one device say which it is."""

    device: str | None


copyreg.pickle(_Classes, lambda kind: (of_device, (kind.device,)))


class NDBuffer(cpu.NDBuffer, metaclass=_Classes):  # type: ignore[misc]
    """What zarr reads into and writes from; `pardo.zarr.buffer_prototype` and `enable` name its subclass for a device.

    Zarr's codecs see NumPy's arrays. A buffer that is made by `empty` gets what is read: it is memory of the host that is the device's own,
    or pinned for the device's copies, and is handed out as an array on the device.

    Parameters
    ----------
    array : Array or numpy.ndarray
        An array of pardo is written in place: ``z.get_basic_selection(..., out=NDBuffer(x))``.
    """

    device: str | None = None

    def __init__(self, array: Any) -> None:
        self._array: Any = array if isinstance(array, (Array, Records)) else None
        self._host: Any = array if self._array is None else None
        self._target: Device | None = None
        self._staged: Array | None = None

    @classmethod
    def empty(cls, shape: Any, dtype: DTypeLike, order: Any = "C") -> NDBuffer:
        """A buffer for what is read. Without a device of the class's own it goes to that of `device_context`, else to the default one."""
        element = np.dtype(dtype)
        if _on_host.get() or not has_place(element):
            return cls(np.empty(shape, element, order))
        target, native = device_of(cls.device), element.newbyteorder("=")
        staged = None if is_bfloat16(element) or element.names is not None else _staging(tuple(shape), native, order, target)
        made = cls(np.empty(shape, native, order) if staged is None else _writable(staged))
        made._target, made._staged = target, staged
        return made

    @classmethod
    def create(cls, *, shape: Any, dtype: DTypeLike, order: str = "C", fill_value: Any = None) -> NDBuffer:
        """A buffer of a chunk, on the host."""
        return cls(cpu.NDBuffer.create(shape=shape, dtype=dtype, order=order, fill_value=fill_value)._data)

    @classmethod
    def from_ndarray_like(cls, ndarray_like: Any) -> NDBuffer:
        """A buffer of what is written: elements on a device are copied to the host once."""
        return cls(host_of(ndarray_like))

    @classmethod
    def from_numpy_array(cls, array_like: Any) -> NDBuffer:
        """The same of all that NumPy makes an array of."""
        return cls(np.asanyarray(host_of(array_like)))

    @property
    def _data(self) -> Any:
        """The elements as codecs see them."""
        if self._host is None:
            self._host = host_of(self._array)
        return self._host

    def as_ndarray_like(self) -> Any:
        """What the buffer holds: of what has been read the array on the device, else what it was made of."""
        if self._target is not None:
            self._array, self._target, self._staged, self._host = self._handed_out(), None, None, None
        return self._host if self._array is None else self._array

    def as_scalar(self) -> Any:
        """A single element that has been read: an array without dimensions if it is on a device."""
        return super().as_scalar() if self._target is None else self.as_ndarray_like().reshape(())

    def _handed_out(self) -> Any:
        staged, target = self._staged, self._target
        if staged is None:
            return asarray(self._host, device=target)
        self._host = None  # as long as it lives, operations on the memory run at once
        if staged.usm_type == "device":
            return staged
        order = "F" if staged.flags.fnc else "C"
        return asarray(staged, usm_type="device", order=order, copy=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, cpu.NDBuffer):
            value = value._data
        if self._array is None:
            self._host[key] = value
        else:
            self._array[key] = asarray(value, device=self._array.device) if isinstance(value, np.ndarray) else value
            self._host = None


def _staging(shape: tuple[int, ...], dtype: np.dtype[Any], order: str, target: Device) -> Array | None:
    """The array itself where the host sees the memory of a device, else one in pinned memory, else nothing."""
    kinds = ["device"] if target._in_host_memory else []
    if "usm_host_allocations" in target.aspects:
        kinds.append("host")
    for kind in kinds:
        made = empty(shape, dtype, order, device=target, usm_type=kind)
        if _is_on_host(made):
            return made
    return None


def _writable(x: Array) -> Any:
    with writable_buffers(x):
        return np.asarray(x)


# --- a class for each device

_lock = threading.Lock()
_made: dict[str, type[NDBuffer]] = {}


def qualified_name(kind: type[NDBuffer]) -> str:
    """What zarr's configuration calls a class."""
    return "pardo.zarr.NDBuffer" if kind.device is None else f"pardo.zarr.NDBuffer[{kind.device}]"


def of_device(device: str | None) -> type[NDBuffer]:
    """The class of buffers whose arrays are on a device, known to zarr; None: on the default device where something is read."""
    with _lock:
        if device is None:
            kind = NDBuffer
        elif device in _made:
            kind = _made[device]
        else:
            kind = _Classes("NDBuffer", (NDBuffer,), {"device": device, "__module__": __name__, "__doc__": NDBuffer.__doc__})
            _made[device] = kind
        register_ndbuffer(kind, qualname=qualified_name(kind))
        return kind


# --- selections of single elements, of which zarr makes NumPy's arrays whatever the buffers are

# Set by a caller; zarr's thread runs in a copy of the caller's context.
_on_host: contextvars.ContextVar[bool] = contextvars.ContextVar("pardo.zarr_on_host", default=False)


def register() -> None:
    """Put in the place of zarr's functions what calls them on the host, and copies results to the device once."""
    module: Any = sys.modules["zarr.core.array"]
    _replace(module.Array, "get_coordinate_selection", _selected)
    _replace(module.Array, "set_coordinate_selection", _stored)
    _replace(module.AsyncArray, "get_coordinate_selection", _selected_later)


def _replace(place: Any, name: str, function: Callable[..., Any]) -> None:
    theirs = getattr(place, name, None)
    if theirs is None or getattr(theirs, "__module__", "") == __name__:
        return

    @functools.wraps(theirs)
    def ours(*arguments: Any, **keywords: Any) -> Any:
        return function(theirs, *arguments, **keywords)

    ours.__module__ = __name__
    setattr(place, name, ours)


def _home(prototype: Any, out: Any) -> Device | None:
    """Where the result is to be, if it is one of ours."""
    kind = default_buffer_prototype().nd_buffer if prototype is None else prototype.nd_buffer
    return device_of(kind.device) if out is None and issubclass(kind, NDBuffer) else None


def _on_device(result: Any, device: Device) -> Any:
    return asarray(result, device=device) if hasattr(result, "dtype") and has_place(result.dtype) else result


def _selected(theirs: Any, *arguments: Any, **keywords: Any) -> Any:
    device = _home(keywords.get("prototype"), keywords.get("out"))
    if device is None:
        return theirs(*arguments, **keywords)
    token = _on_host.set(True)
    try:
        result = theirs(*arguments, **keywords)
    finally:
        _on_host.reset(token)
    return _on_device(result, device)


async def _selected_later(theirs: Any, *arguments: Any, **keywords: Any) -> Any:
    device = _home(keywords.get("prototype"), keywords.get("out"))
    if device is None:
        return await theirs(*arguments, **keywords)
    token = _on_host.set(True)
    try:
        result = await theirs(*arguments, **keywords)
    finally:
        _on_host.reset(token)
    return _on_device(result, device)


def _stored(theirs: Any, array: Any, selection: Any, value: Any, **keywords: Any) -> Any:
    return theirs(array, selection, host_of(value), **keywords)
