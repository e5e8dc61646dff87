# python/pardo/_runtime/memory.py: blocks of memory of a kind, and the user's own allocator.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._base.arguments import HOST, DeviceLike, Shape, dtype_of, index, queue_of, queue_of_pickle, refuse_masked
from pardo._base.arguments import shape as read_shape
from pardo._base.public_names import named_as_class, publish_module
from pardo._core import Array, Device, Queue

__all__ = [
    "MemoryDevice",
    "MemoryHost",
    "MemoryShared",
    "set_allocator",
]


class Memory(_core._Block):
    """What the three kinds have in common."""

    _kind = ""

    def __init__(self, nbytes: int, *, alignment: int = 0, queue: Queue | None = None, device: DeviceLike = None) -> None:
        op_name = type(self).__name__
        super().__init__(
            index(nbytes, f"{op_name}: nbytes"),
            self._kind,
            index(alignment, f"{op_name}: alignment"),
            queue_of(device, queue, op_name=op_name),
            op_name,
        )

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self._array.nbytes

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self._array.nbytes

    def __len__(self) -> int:
        """Return the number of bytes."""
        return self._array.nbytes

    @property
    def usm_type(self) -> str:
        """'device', 'shared' or 'host'."""
        return self._kind

    @property
    def device(self) -> Device:
        """Whose memory it is."""
        return self._array.device

    @property
    def queue(self) -> Queue:
        """The queue that it was made for."""
        return self._array.queue

    def __repr__(self) -> str:
        """Return kind, size and device."""
        return f"<{type(self).__name__} of {self.nbytes} bytes on {self.device.id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._from_bytes, (self.tobytes(), self.device.id)

    @classmethod
    def _from_bytes(cls, contents: bytes, device: str) -> Memory:
        """Memory of a pickle, on the device that it came from if this process has it, else on the default device."""
        queue = queue_of_pickle(device) or queue_of(None, None, op_name=cls.__name__)
        made = cls(len(contents), queue=queue)
        made.copy_from_host(contents)
        return made

    def array(self, dtype: DTypeLike = np.uint8, shape: Shape | None = None, offset: int = 0) -> Array:
        """Return an array on this memory, without a copy.

        Parameters
        ----------
        dtype : data type
            Of the elements.
        shape : int or sequence of int, optional
            Default: one dimension of all elements that there is room for.
        offset : int
            Bytes before the first element; a multiple of the element size.

        Returns
        -------
        Array
            Keeps the memory alive.

        Raises
        ------
        ValueError
            The memory is too small, or the offset is impossible.
        TypeError
            The dtype is not supported, or the shape is not a sequence of integers.

        Examples
        --------
        >>> import pardo as pp
        >>> memory = pp.MemoryHost(24, device="cpu")
        >>> memory.array("int32", (2, 3)).shape
        (2, 3)
        """
        op_name = f"{type(self).__name__}.array"
        skip, element = index(offset, f"{op_name}: offset"), dtype_of(dtype, op_name)
        extents = [max(self.nbytes - skip, 0) // element.itemsize] if shape is None else read_shape(shape, "array")
        return _core._view_bytes(self._array, element, extents, skip)

    def copy_to_host(self, obj: Any = None) -> Any:
        """Copy all bytes into host memory.

        Parameters
        ----------
        obj : object, optional
            A writable, contiguous buffer of `nbytes` bytes. Default: a new NumPy array of bytes.

        Returns
        -------
        object
            `obj`, or the new array.

        Raises
        ------
        ValueError
            `obj` has another size.
        TypeError
            `obj` has no buffer, or is a masked array of NumPy, whose mask would be lost.
        BufferError
            Its buffer is read-only or not contiguous.

        Examples
        --------
        >>> import pardo as pp
        >>> memory = pp.MemoryDevice(3, device="cpu")
        >>> memory.memset(1)
        >>> memory.copy_to_host()
        array([1, 1, 1], dtype=uint8)
        """
        refuse_masked(obj, f"{type(self).__name__}.copy_to_host")
        host = np.empty(self.nbytes, np.uint8) if obj is None else obj
        self._array._copy_to(host)
        return host

    def tobytes(self) -> bytes:
        """Copy all bytes.

        Returns
        -------
        bytes
            The contents.

        Examples
        --------
        >>> import pardo as pp
        >>> memory = pp.MemoryDevice(3, device="cpu")
        >>> memory.memset(65)
        >>> memory.tobytes()
        b'AAA'
        """
        return self.copy_to_host().tobytes()  # type: ignore[no-any-return]

    def copy_from_host(self, obj: Any) -> None:
        """Copy bytes from host memory.

        Parameters
        ----------
        obj : object
            A contiguous buffer of `nbytes` bytes.

        Raises
        ------
        ValueError
            `obj` has another size.
        TypeError
            `obj` has no buffer, or is a masked array of NumPy, whose mask would be lost.
        BufferError
            Its buffer is not contiguous.

        Examples
        --------
        >>> import pardo as pp
        >>> memory = pp.MemoryDevice(3, device="cpu")
        >>> memory.copy_from_host(b"abc")
        >>> memory.tobytes()
        b'abc'
        """
        refuse_masked(obj, f"{type(self).__name__}.copy_from_host")
        view = memoryview(obj)
        if not view.c_contiguous:
            raise BufferError(f"{type(self).__name__}.copy_from_host: the buffer is not contiguous")
        self._check_size(view.nbytes, "copy_from_host")
        host = np.frombuffer(view, np.uint8)
        # Waits: the host's memory is the caller's.
        self.queue._copy(self._array, _core._share_buffer(host, host.dtype, Queue.of(HOST)), [])

    def copy_from_device(self, source: Memory) -> None:
        """Copy bytes from other memory, of any device and kind.

        Parameters
        ----------
        source : MemoryDevice, MemoryShared or MemoryHost
            Of `nbytes` bytes.

        Raises
        ------
        ValueError
            `source` has another size.
        TypeError
            `source` is something else.

        Examples
        --------
        >>> import pardo as pp
        >>> source, memory = pp.MemoryDevice(3, device="cpu"), pp.MemoryHost(3, device="cpu")
        >>> source.memset(65)
        >>> memory.copy_from_device(source)
        >>> memory.tobytes()
        b'AAA'
        """
        if not isinstance(source, Memory):
            raise TypeError(f"{type(self).__name__}.copy_from_device: memory is expected, not {type(source).__name__}")
        self._check_size(source.nbytes, "copy_from_device")
        self.queue._copy(self._array, source._array, [])

    def memset(self, value: int = 0) -> None:
        """Store one byte everywhere.

        Parameters
        ----------
        value : int
            From 0 to 255.

        Raises
        ------
        ValueError
            `value` is not a byte.
        TypeError
            `value` is not an integer.

        Examples
        --------
        >>> import pardo as pp
        >>> memory = pp.MemoryHost(3, device="cpu")
        >>> memory.memset(65)
        >>> memory.tobytes()
        b'AAA'
        """
        byte = index(value, f"{type(self).__name__}.memset: value")
        if not 0 <= byte <= 255:
            raise ValueError(f"{type(self).__name__}.memset: value is {byte}; it must be from 0 to 255")
        self.queue._fill(self._array, byte, [])

    def _check_size(self, nbytes: int, name: str) -> None:
        if nbytes != self.nbytes:
            raise ValueError(f"{type(self).__name__}.{name}: the source has {nbytes} bytes, the memory {self.nbytes}")


def _documentation(name: str, summary: str) -> str:
    return f"""{summary}

    Parameters
    ----------
    nbytes : int
        Number of bytes; more than 0.
    alignment : int
        The address is a multiple of it: a power of two, or 0 for the device's own (at least 64).
    queue : Queue, optional
        The queue that orders work on it. Default: the canonical one of `device`.
    device : Device or str, optional
        Default: the default device.

    Raises
    ------
    ValueError
        `nbytes` or `alignment` is impossible, or no such device exists.
    MemoryError
        There is not so much memory, or the device has none of this kind.

    Examples
    --------
    >>> import pardo as pp
    >>> memory = pp.{name}(24, device="cpu")
    >>> memory
    <{name} of 24 bytes on cpu:0>
    >>> x = memory.array("float64")
    >>> x[:] = 1.5
    >>> x
    array([1.5, 1.5, 1.5])
    """


@named_as_class
class MemoryDevice(Memory):
    __doc__ = _documentation("MemoryDevice", "Memory of a device, which the host reaches by copies only.")
    _kind = "device"


@named_as_class
class MemoryShared(Memory):
    __doc__ = _documentation(
        "MemoryShared", "Memory that host and device share and that moves between them; the host reads and writes its buffer."
    )
    _kind = "shared"


@named_as_class
class MemoryHost(Memory):
    __doc__ = _documentation("MemoryHost", "Memory of the host that the device reaches in place; the host reads and writes its buffer.")
    _kind = "host"


def set_allocator(
    device: DeviceLike,
    allocate: Callable[[int, str], int | None] | int | None,
    free: Callable[[int, int], object] | int | None = None,
) -> None:
    """Take the memory of a device's arrays from somewhere else.

    Parameters
    ----------
    device : Device or str
        The device; None is the default device.
    allocate : callable, int or None
        ``allocate(nbytes, usm_type)`` returns an address that kernels of the device may use, aligned for every dtype, or None where
        there is no memory. An int is the address of a C function ``void *(size_t nbytes, int kind)``, kind 0 for device, 1 for
        shared and 2 for host. None brings the caching allocator of pardo back.
    free : callable or int
        ``free(address, nbytes)`` is called once for each block when the last use of it is over, also after another allocator was
        set. An int is the address of a C function ``void (void *, size_t)``, which may be called on any thread.

    Raises
    ------
    TypeError
        Something is neither a function nor an address.
    ValueError
        No such device exists.

    See Also
    --------
    memory_stats

    Notes
    -----
    `memory_stats` and the limit count the blocks of the caching allocator only.

    Examples
    --------
    >>> import pardo as pp
    >>> import numpy as np
    >>> blocks = {}
    >>> def allocate(nbytes, usm_type):
    ...     block = np.empty(nbytes + 64, np.uint8)
    ...     address = -(-block.ctypes.data // 64) * 64
    ...     blocks[address] = block
    ...     return address
    >>> def free(address, nbytes):
    ...     del blocks[address]
    >>> pp.set_allocator("cpu", allocate, free)
    >>> x = pp.ones(1000).wait()
    >>> len(blocks)
    1
    >>> del x
    >>> len(blocks)
    0
    >>> pp.set_allocator("cpu", None)
    """
    _core._set_allocator(Device(device), allocate, free)


publish_module(globals(), "pardo")
