# python/pardo/_ipc/sharing.py: ipc_empty, from_ipc, and the handles of arrays.
from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.contexts import public
from pardo._array.creation import empty
from pardo._array.interop import asarray
from pardo._base.arguments import HOST, DeviceLike, Shape, device_of, optional_dtype
from pardo._base.arguments import shape as read_shape
from pardo._core import Array, Device, DeviceError
from pardo._ipc import blocks, files, memory
from pardo._ipc.handle import IpcHandle, described, facts_of, made
from pardo._runtime.devices import get_devices

__all__ = ["from_ipc", "ipc_empty"]


@public
def ipc_empty(shape: Shape, dtype: DTypeLike | None = None, *, device: DeviceLike = None) -> Array:
    """Return a new array whose memory other processes can use, without initialising entries.

    On the CPU the memory is a file in memory (`memfd_create`), which has no name and goes with the last process that uses it. On an
    NVIDIA GPU it is what `pardo.empty` gives: all device memory of arrays there can be used by others.

    Parameters
    ----------
    {shape}
    dtype : DType or dtype-like, optional
        Default: float64.
    {device}

    Returns
    -------
    Array
        The new array. On the CPU operations on it run at once, since other processes may write it at any time; its bytes do not count in
        `pardo.memory_stats`.

    Raises
    ------
    DeviceError
        Processes cannot share memory of the device.
    MemoryError
        The machine has less memory available, or the process may have no more.
    ValueError
        An extent is negative, or the device does not exist.

    See Also
    --------
    from_ipc, IpcHandle

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.ipc_empty((2, 3), "float32")
    >>> x[...] = 1
    >>> y = pp.from_ipc(x.ipc_handle())                  # usually in another process
    >>> y[0, 0] = 5
    >>> float(x[0, 0])
    5.0
    """
    target = device_of(device, "ipc_empty")
    if _memory_of(target, "ipc_empty") == "device":
        return empty(shape, dtype, device=target)
    element = optional_dtype(dtype, "ipc_empty", fields=True) or np.dtype(np.float64)
    extents = read_shape(shape, "ipc_empty")
    size = math.prod(extents) * element.itemsize
    free = target.free_memory
    if free is not None and size > free:
        raise MemoryError(f"ipc_empty: {size / 2**30:.1f} GiB are wanted, and {free / 2**30:.1f} GiB are available")
    host: Any = np.ndarray(extents, element, memory.make(size) if size else None)
    return asarray(host, copy=False, device=target)


def handle_of(x: Array) -> IpcHandle:
    """As Array.ipc_handle."""
    kind = _memory_of(x.device, "ipc_handle")
    x.wait()  # which raises what has failed
    facts: dict[str, Any] = {
        "memory": kind,
        "shape": list(x.shape),
        "strides": list(x.strides),
        "dtype": described(np.dtype(x.dtype)),
        "writable": bool(x.flags.writeable),
        "offset": 0,
        "bytes": 0,
        "place": None,
    }
    if kind == "device":
        facts["uuid"] = x.device.uuid
    if x.size == 0:
        return made(facts)
    _add_block(x, facts) if kind == "device" else _add_segment(x, facts)
    return made(facts)


def _add_segment(x: Array, facts: dict[str, Any]) -> None:
    address = x._address()
    reach = [stride * (extent - 1) for stride, extent in zip(x.strides, x.shape, strict=True)]
    low, high = address + sum(min(0, r) for r in reach), address + sum(max(0, r) for r in reach) + x.dtype.itemsize
    found = memory.find(low, high)
    if found is None:
        raise ValueError(
            "ipc_handle: the memory of this array is of this process alone: make an array by pp.ipc_empty(shape, dtype), and assign "
            "this one to it"
        )
    segment, map_ = found
    facts |= {
        "offset": address - segment.low,
        "bytes": segment.size,
        "place": files.place_of(segment.fd),
    }
    del map_  # until here it keeps the file open


def _add_block(x: Array, facts: dict[str, Any]) -> None:
    if x.usm_type != "device":
        raise ValueError(
            f"ipc_handle: memory of kind '{x.usm_type}' is of this process alone; x.to_device(x.device) copies it to memory of the GPU"
        )
    interface: Any = x.__cuda_array_interface__  # others may write it from now on
    block, offset, size = blocks.name(x, x.device, interface["data"][0])
    facts |= {
        "offset": offset,
        "bytes": size,
        "place": files.place_of(block.guard),
        "name": block.name.hex(),
    }


@public
def from_ipc(handle: IpcHandle, *, device: DeviceLike = None) -> Array:
    """Return the array of another process that a handle names: the same memory, without a copy.

    What one process writes the others read. No events go between processes: they say to each other when values are ready (by a message,
    a barrier), after `x.wait()`. The process that made the handle has to keep its array until this function has returned. On the CPU
    the memory lives as long as some process has it open; on a GPU it ends with the process that allocated it.

    Parameters
    ----------
    handle : IpcHandle or bytes-like
        What `Array.ipc_handle` gave, or its bytes.
    device : Device or str, optional
        On the CPU, the device that the array is on. On GPUs there is one choice only, the default. Default: 'cpu', or the GPU whose
        memory it is.

    Returns
    -------
    Array
        With the shape, strides and dtype of the other process's; read-only where that is. Operations on it run at once, since
        other processes may write it at any time.

    Raises
    ------
    DeviceError
        The driver does not open the memory.
    FileNotFoundError
        The process that made the handle has ended, or let go of its array.
    PermissionError
        It is of another user.
    TypeError
        This is no handle.
    ValueError
        The handle is of another machine or container, or damaged; the GPU is not visible here, or `device` is another one.

    See Also
    --------
    ipc_empty, IpcHandle

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.ipc_empty(4)
    >>> x[...] = 2
    >>> float(pp.from_ipc(bytes(x.ipc_handle())).sum())
    8.0
    """
    if not isinstance(handle, IpcHandle):
        if not isinstance(handle, (bytes, bytearray, memoryview)):
            raise TypeError(f"from_ipc: expected what x.ipc_handle() gives, or its bytes, not {type(handle).__name__}")
        handle = IpcHandle.from_bytes(handle)
    facts = facts_of(handle)
    if facts["memory"] == "device":
        return _from_block(handle, facts, _gpu(facts, device))
    target = device_of(HOST if device is None else device, "from_ipc")
    if not _is_host(target):
        raise ValueError(
            f"from_ipc: the handle is of memory of the CPU, and {target} is not; copy the array there: pp.from_ipc(h).to_device(...)"
        )
    if facts["place"] is None:
        return asarray(np.ndarray(facts["shape"], handle.dtype), copy=False, device=target)
    map_ = memory.open_segment(facts["place"], facts["bytes"])
    return asarray(memory.elements(map_, facts, handle.dtype), copy=False, device=target)


def _gpu(facts: dict[str, Any], device: DeviceLike) -> Device:
    """The GPU whose memory it is."""
    here = next((d for d in get_devices() if d.uuid == facts["uuid"] and blocks.has_names(d)), None)
    if here is None:
        raise ValueError(
            f"from_ipc: the handle is of memory of the GPU {facts['uuid']}, which this process does not see; CUDA_VISIBLE_DEVICES may "
            "hide it"
        )
    if device is not None and device_of(device, "from_ipc").without_queue != here:
        raise ValueError(
            f"from_ipc: the handle is of memory of {here}, not of {device_of(device)}; copy the array: pp.from_ipc(h).to_device(...)"
        )
    return here


class _Shown:
    """Memory of a GPU as `__cuda_array_interface__` tells it; arrays over it keep this, and what it is in."""

    def __init__(self, owner: Any, address: int, shape: list[int], strides: list[int], text: str, writable: bool) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": tuple(shape),
            "strides": tuple(strides),
            "typestr": text,
            "data": (address, not writable),
        }


def _from_block(handle: IpcHandle, facts: dict[str, Any], device: Device) -> Array:
    if facts["place"] is None:
        return empty(handle.shape, handle.dtype, device=device)
    blocks.sweep()
    own = blocks.own(facts["place"]["inode"]) if facts["place"]["process"] == os.getpid() else None
    owner: Any
    if own is not None:
        address, owner = own.base, dict(own.kept)  # these keep it, whatever arrays go
    else:
        owner = blocks.open_block(device, bytes.fromhex(facts["name"]), facts["place"])
        address = owner.address
    dtype, shape, strides = handle.dtype, facts["shape"], facts["strides"]
    plain = dtype.kind != "V"
    # bfloat16 and records have no letters there: bytes of each element, seen as one.
    text, bytes_of_each = (dtype.str, ()) if plain else ("|u1", (dtype.itemsize,))
    shown = _Shown(
        owner, address + facts["offset"], [*shape, *bytes_of_each], [*strides, *(1 for _ in bytes_of_each)], text, facts["writable"]
    )
    if own is not None:
        own.shown.add(shown)
    made_of_it = asarray(shown, copy=False, device=device)
    return made_of_it if plain else made_of_it.view(dtype)[..., 0]


def _is_host(device: Device) -> bool:
    """The CPU itself, or a part of it."""
    return device.platform == Device(HOST).platform


def _memory_of(device: Device, op_name: str) -> str:
    """Whose memory processes share there."""
    if _is_host(device):
        return "host"
    if not blocks.has_names(device):
        raise DeviceError(
            f"{op_name}: processes cannot share memory of {device.id}; they share arrays of 'cpu' that pp.ipc_empty has made, and of 'cuda'"
        )
    return "device"
