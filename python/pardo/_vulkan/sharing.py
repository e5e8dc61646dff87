# python/pardo/_vulkan/sharing.py: arrays in memory that Vulkan uses too: empty, from_handle, and the handles of arrays.
from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.creation import empty as empty_array
from pardo._base import arguments
from pardo._base.arguments import DeviceLike, Shape
from pardo._core import Array, Queue
from pardo._vulkan import memory

_KINDS = ("opaque_fd", "host_pointer")


class ExternalHandle:
    """Tells Vulkan where the memory of an array is; `Array.external_handle` makes one.

    Attributes
    ----------
    kind : {'opaque_fd', 'host_pointer'}
        As Vulkan's handle types `OPAQUE_FD` and `HOST_ALLOCATION_EXT`.
    fd : int or None
        A file descriptor, which is the receiver's: Vulkan takes it when it imports it; close it if it does not.
    pointer : int or None
        The address of the memory on the host. The handle keeps the memory: keep the handle until Vulkan has freed its memory object.
    nbytes : int
        Of the whole memory: what is imported (`VkMemoryAllocateInfo::allocationSize`).
    offset : int
        Where in it the first element of the array is, in bytes.
    shape : tuple of int
        Of the array.
    strides : tuple of int
        Bytes from element to element, for each axis.
    dtype : numpy.dtype
        Of the elements.

    See Also
    --------
    empty
    """

    def __init__(self, owner: memory.Memory, fd: int | None, offset: int, x: Array) -> None:
        self.kind, self.nbytes, self.offset = owner.kind, owner.nbytes, offset
        self.fd, self.pointer = fd, owner.address if fd is None else None
        self.shape, self.strides, self.dtype = tuple(x.shape), tuple(x.strides), np.dtype(x.dtype)
        self._memory = owner if fd is None else None

    def __repr__(self) -> str:
        what = f"fd {self.fd}" if self.pointer is None else f"pointer 0x{self.pointer:x}"
        return f"<vulkan.ExternalHandle {what} of {self.nbytes} bytes, {self.dtype} {self.shape} at byte {self.offset}>"

    def __reduce__(self) -> Any:
        raise TypeError("vulkan.ExternalHandle: a descriptor or address is of this process alone; send the descriptor by socket.send_fds")


def capabilities(device: DeviceLike = None) -> dict[str, tuple[str, ...]]:
    """Say what a device can have in common with Vulkan.

    Parameters
    ----------
    device : Device or str, optional
        Default: the default device.

    Returns
    -------
    dict of str to tuple of str
        'make': kinds of handles of arrays that `empty` makes. 'open': those that `from_handle` takes. 'semaphores': kinds that `Semaphore`
        opens by a descriptor.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.vulkan.capabilities("cpu")
    {'make': ('host_pointer',), 'open': ('host_pointer',), 'semaphores': ()}
    """
    target = arguments.device_of(device, "vulkan.capabilities").without_queue
    can = [use for use in ("make", "open", "timeline", "binary") if not _core._external_lack(target, use)]
    pointers = ("host_pointer",) if target._takes_host_memory else ()
    return {
        "make": pointers or tuple("opaque_fd" for use in can if use == "make"),
        "open": (*(("opaque_fd",) if "open" in can else ()), *pointers),
        "semaphores": tuple(use for use in can if use in ("timeline", "binary")),
    }


def empty(shape: Shape, dtype: DTypeLike | None = None, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return a new array whose memory Vulkan can import, without initialising entries.

    Parameters
    ----------
    shape : int or tuple of int
        Of the array.
    dtype : data type, optional
        Of its elements, also a structured one. Default: float64.
    device : Device or str, optional
        Where the array is. Default: that of the queue, or the default device.
    queue : Queue, optional
        Where operations on it run. Default: the device's queue.

    Returns
    -------
    Array
        `Array.external_handle` gives what Vulkan needs. Since Vulkan may use it at any time, operations on it run when they are
        written down; inside of `turn` they are recorded and fused as others are. Its bytes do not count in `pardo.memory_stats`.

    Raises
    ------
    DeviceError
        The device makes no such memory; `capabilities` says which do.
    MemoryError
        There is not so much memory.
    ValueError
        An extent is negative, or the device does not exist.

    See Also
    --------
    from_handle, turn

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.vulkan.empty((100, 4), "float32", device="cpu")
    >>> x[...] = 1
    >>> handle = x[10:].external_handle("host_pointer")
    >>> handle.offset, handle.nbytes
    (160, 4096)
    """
    op_name = "vulkan.empty"
    element = arguments.optional_dtype(dtype, op_name, fields=True) or np.dtype(np.float64)
    extents = arguments.shape(shape, op_name)
    target = arguments.queue_of(device, queue, None, op_name)
    nbytes = math.prod(extents) * element.itemsize
    if nbytes >= 1 << 60:
        raise MemoryError(f"{op_name}: {nbytes / 2**30:.1f} GiB are wanted, more than any device has")
    if nbytes == 0:
        capable = target.device.without_queue
        if not capable._takes_host_memory:
            memory.refuse_lack(capable, "make", op_name, "allocate the memory in Vulkan and open it here")
        return empty_array(extents, dtype=element, queue=target)
    made = memory.make(target, nbytes, op_name)
    return memory.array_over(made, 0, extents, element, target, op_name)


def from_handle(
    handle: int,
    nbytes: int,
    dtype: DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    kind: str = "opaque_fd",
    offset: int = 0,
    dedicated: bool = False,
    owner: Any = None,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Array:
    """Return an array in memory that Vulkan has allocated: the same memory, without a copy.

    Parameters
    ----------
    handle : int
        A file descriptor that `vkGetMemoryFdKHR` gave (`OPAQUE_FD`), or the address that `vkMapMemory` gave. A descriptor stays the
        caller's, who closes it.
    nbytes : int
        Of the whole memory, as it was allocated (`VkMemoryAllocateInfo::allocationSize`); of an address, bytes from there on that are
        mapped.
    dtype : data type, optional
        Of the elements, also a structured one. Default: float64.
    shape : int or tuple of int, optional
        Of the array. Default: all elements from `offset` on, in one dimension.
    kind : {'opaque_fd', 'host_pointer'}, optional
        What `handle` is.
    offset : int, optional
        Where in the memory the first element is, in bytes.
    dedicated : bool, optional
        Whether the memory was allocated for one buffer or image (`VkMemoryDedicatedAllocateInfo`).
    owner : object, optional
        Kept as long as arrays use the memory: what unmaps or frees a mapped address when it goes.
    device : Device or str, optional
        The device whose memory it is. Default: that of the queue, or the default device.
    queue : Queue, optional
        Where operations on it run. Default: the device's queue.

    Returns
    -------
    Array
        The memory of a descriptor stays open until its last array is gone, whatever Vulkan frees; a mapped address is the caller's to keep.
        Since Vulkan may use it at any time, operations on it run when they are written down; see `turn`.

    Raises
    ------
    DeviceError
        The device opens no such handles, or its driver does not open this one.
    TypeError
        `handle`, `nbytes` or `offset` is no integer, or pardo has no such dtype.
    ValueError
        The descriptor is closed or of something else, or the array does not lie in the memory.

    See Also
    --------
    empty, turn

    Examples
    --------
    An address stands here for one of `vkMapMemory`:

    >>> import numpy as np
    >>> import pardo as pp
    >>> mapped = np.zeros(16, "float32")
    >>> x = pp.vulkan.from_handle(mapped.ctypes.data, 64, "float32", (4, 4), kind="host_pointer", owner=mapped, device="cpu")
    >>> x[1] = 7
    >>> mapped[4:8].tolist()
    [7.0, 7.0, 7.0, 7.0]
    """
    op_name = "vulkan.from_handle"
    kind = arguments.word(kind, f"{op_name}: kind", _KINDS)
    number = integer(handle, f"{op_name}: handle")
    size, first = arguments.index(nbytes, f"{op_name}: nbytes"), arguments.index(offset, f"{op_name}: offset")
    element = arguments.optional_dtype(dtype, op_name, fields=True) or np.dtype(np.float64)
    dedicated = arguments.flag(dedicated, f"{op_name}: dedicated")
    target = arguments.queue_of(device, queue, None, op_name)
    extents = _fitting(size, first, element, shape, op_name)
    where = target.device.without_queue
    if kind == "host_pointer":
        opened = memory.of_pointer(where, _address(number, size, op_name), size, owner, op_name)
    else:
        if number < 0:
            raise ValueError(f"{op_name}: {number} is not an open file descriptor")
        if owner is not None:
            raise TypeError(f"{op_name}: owner is for mapped addresses; the memory of a descriptor is kept by its driver")
        opened = memory.open_fd(where, number, size, dedicated, op_name)
    if math.prod(extents) == 0:
        return empty_array(extents, dtype=element, queue=target)
    return memory.array_over(opened, first, extents, element, target, op_name)


def integer(value: Any, what: str) -> int:
    """A number that a Vulkan library gave: an integer, or ctypes' object of one."""
    given = getattr(value, "value", value)
    if isinstance(given, bool):
        given = None
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {type(value).__name__}") from None


def _address(number: int, size: int, op_name: str) -> int:
    if not 0 < number < 1 << 57 or number + size > 1 << 57:
        raise ValueError(f"{op_name}: {number} is not an address of the host")
    return number


def _fitting(size: int, offset: int, dtype: np.dtype[Any], shape: Shape | None, op_name: str) -> list[int]:
    """The extents of an array in a memory."""
    if size <= 0:
        raise ValueError(f"{op_name}: nbytes is {size}; memory of Vulkan's has at least one byte")
    if dtype.itemsize == 0:
        raise ValueError(f"{op_name}: elements of {dtype} have no bytes")
    if offset < 0 or offset % dtype.alignment:
        raise ValueError(f"{op_name}: offset is {offset}; elements of {dtype} begin at multiples of {dtype.alignment}")
    extents = [max(size - offset, 0) // dtype.itemsize] if shape is None else arguments.shape(shape, op_name)
    needed = offset + math.prod(extents) * dtype.itemsize
    if needed > size:
        raise ValueError(
            f"{op_name}: the memory has {size} bytes; an array of shape {tuple(extents)} and {dtype} from byte {offset} on needs {needed}"
        )
    return extents


def handle_of(x: Array, kind: str) -> ExternalHandle:
    """As Array.external_handle."""
    op_name = "external_handle"
    kind = arguments.word(kind, f"{op_name}: kind", _KINDS)
    x.wait()  # which raises what has failed
    if x.size == 0:
        raise ValueError(f"{op_name}: an array without elements has no memory")
    shown, offset = memory.find(x, op_name)
    owner = shown.memory
    if kind == "host_pointer":
        if owner.kind != kind:
            raise ValueError(f"{op_name}: the memory of {owner.device.id} has no address on the host; ask for 'opaque_fd'")
        return ExternalHandle(owner, None, offset, x)
    if owner.kind != kind:
        raise ValueError(f"{op_name}: memory of the host has no descriptor; ask for 'host_pointer' (VK_EXT_external_memory_host)")
    if not owner.made:
        raise ValueError(f"{op_name}: the memory is Vulkan's already; vkGetMemoryFdKHR gives another descriptor of it")
    return ExternalHandle(owner, owner.export(), offset, x)
