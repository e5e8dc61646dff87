# python/pardo/_vulkan/memory.py: pieces of memory that a device and Vulkan have in common, and who keeps them.
from __future__ import annotations

import mmap
import os
import weakref
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.forks import held_lock
from pardo._base.records import made_records
from pardo._core import Array, Device, DeviceError, Queue
from pardo._vulkan import descriptors

_lock = held_lock()


class Memory:
    """A piece of memory, open as long as an array, work or a handle keeps it."""

    def __init__(self, device: Device, address: int, nbytes: int, kind: str, owner: Any = None) -> None:
        self.device, self.address, self.nbytes, self.kind = device, address, nbytes, kind
        self.owner = owner  # of memory of the host
        self.made = False  # whether others may open it by a descriptor of ours
        self.fd = -1  # a descriptor that it is known by
        self.process = os.getpid()

    def export(self) -> int:
        """A descriptor of memory that was made here, for the caller to close."""
        with _lock:
            if self.fd < 0:
                _keep(self, _core._export_external(self.device, self.address))
            return os.dup(self.fd)


class Shown:
    """What the buffer behind arrays keeps: a part of a memory."""

    def __init__(self, memory: Memory, low: int, high: int) -> None:
        self.memory, self.low, self.high = memory, low, high


_memories: weakref.WeakSet[Memory] = weakref.WeakSet()
_shown: weakref.WeakSet[Shown] = weakref.WeakSet()


def _close(device: Device, address: int, process: int) -> None:
    if os.getpid() == process:  # a forked child has no device of a driver
        _core._close_external(device, address)


def _keep(memory: Memory, fd: int) -> None:
    memory.fd = fd
    weakref.finalize(memory, os.close, fd).atexit = False


def make(queue: Queue, nbytes: int, op_name: str) -> Memory:
    """New memory for a device and Vulkan."""
    device = queue.device.without_queue
    if device._takes_host_memory:
        size = -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        free = device.free_memory
        if free is not None and size > free:
            raise MemoryError(f"{op_name}: {size / 2**30:.1f} GiB are wanted, and {free / 2**30:.1f} GiB are available")
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory = Memory(device, np.frombuffer(pages, np.uint8).__array_interface__["data"][0], size, "host_pointer", pages)
    else:
        refuse_lack(device, "make", op_name, "allocate the memory in Vulkan and open it here: pp.vulkan.from_handle(fd, nbytes, ...)")
        try:
            address, size = _core._make_external(device, nbytes)
        except MemoryError as error:
            free = device.free_memory
            known = f"; {free / 2**30:.1f} GiB are available" if free is not None else ""
            raise MemoryError(f"{op_name}: {nbytes / 2**30:.1f} GiB are wanted on {device.id}{known} ({error})") from None
        memory = _closing(Memory(device, address, size, "opaque_fd"))
        memory.made = True
    with _lock:
        _memories.add(memory)
    return memory


def _closing(memory: Memory) -> Memory:
    weakref.finalize(memory, _close, memory.device, memory.address, memory.process).atexit = False
    return memory


def refuse_lack(device: Device, use: str, op_name: str, instead: str) -> None:
    """Raise DeviceError where a device lacks what is needed."""
    lack = _core._external_lack(device, use)
    if lack:
        raise DeviceError(f"{op_name}: {device.id} {lack}; {instead}")


def open_fd(device: Device, fd: int, nbytes: int, dedicated: bool, op_name: str) -> Memory:
    """Memory of Vulkan's behind a descriptor, which stays the caller's; open already, or from now on."""
    if device._takes_host_memory and _core._external_lack(device, "open"):
        raise DeviceError(
            f"{op_name}: {device.id} {_core._external_lack(device, 'open')}; it uses memory of the host in place: map the memory by "
            "vkMapMemory and give the address with kind='host_pointer'"
        )
    refuse_lack(device, "open", op_name, "copy through an array of 'cpu' that is memory of Vulkan's")
    descriptors.check(fd, "memory", op_name)
    size = descriptors.size_of(fd)
    if size is not None and size < nbytes:
        raise ValueError(f"{op_name}: the descriptor is of {size} bytes, and nbytes is {nbytes}")
    with _lock:
        for known in _memories:
            if known.device == device and known.fd >= 0 and known.process == os.getpid() and descriptors.same(known.fd, fd):
                if known.nbytes < nbytes:
                    raise ValueError(f"{op_name}: nbytes is {nbytes}, and the memory is known to have {known.nbytes} bytes")
                return known
        kept = os.dup(fd)
        try:
            address = _core._open_external(device, fd, nbytes, dedicated)
        except DeviceError as error:
            os.close(kept)
            raise DeviceError(
                f"{op_name}: {device.id} does not open the descriptor {fd} as {nbytes} bytes of memory ({error}): it is of another device "
                "or driver, nbytes is not what was allocated, or the allocation is a dedicated one (dedicated=True)"
            ) from None
        except BaseException:
            os.close(kept)
            raise
        memory = _closing(Memory(device, address, nbytes, "opaque_fd"))
        _keep(memory, kept)
        _memories.add(memory)
        return memory


def of_pointer(device: Device, address: int, nbytes: int, owner: Any, op_name: str) -> Memory:
    """Memory of Vulkan's that is mapped at an address of the host."""
    if not device._takes_host_memory:
        raise DeviceError(f"{op_name}: {device.id} does not use memory of the host in place; export the memory, and give its descriptor")
    return Memory(device, address, nbytes, "host_pointer", owner)


def array_over(memory: Memory, offset: int, shape: list[int], dtype: np.dtype[Any], queue: Queue, op_name: str) -> Array:
    """An array in a memory; other code may use it at any time until a turn takes it."""
    records = dtype.names is not None
    extents, element = ([*shape, dtype.itemsize], np.dtype(np.uint8)) if records else (shape, dtype)
    low = memory.address + offset
    shown = Shown(memory, low, low + int(np.prod(extents, dtype=np.int64)) * element.itemsize)
    x = _core._borrow(op_name, low, element, extents, False, shown, queue)
    _core._leave_memory(x)
    with _lock:
        _shown.add(shown)
    return made_records("of_bytes", x, dtype, op_name) if records else x


def find(x: Array, op_name: str) -> tuple[Shown, int]:
    """The part of a memory that an array shows, and where in the memory its first element is."""
    x = getattr(x, "_memory", x)  # of records
    low, high = span(x)
    device = x.device.without_queue
    with _lock:
        for shown in _shown:
            memory = shown.memory
            if memory.device == device and memory.process == os.getpid() and shown.low <= low and high <= shown.high:
                return shown, x._address() - memory.address
    raise ValueError(
        f"{op_name}: Vulkan cannot use the memory of this array: make one by pp.vulkan.empty(shape, dtype), and assign this one to it"
    )


def span(x: Array) -> tuple[int, int]:
    """The addresses that the elements of an array are between."""
    address = x._address()
    reach = [stride * (extent - 1) for stride, extent in zip(x.strides, x.shape, strict=True)]
    return address + sum(min(0, r) for r in reach), address + sum(max(0, r) for r in reach) + x.dtype.itemsize


def shown_elsewhere(shown: Shown) -> bool:
    """Whether arrays that another call has made show elements of the same memory."""
    with _lock:
        device = shown.memory.device
        return any(s is not shown and s.memory.device == device and s.low < shown.high and shown.low < s.high for s in _shown)
