# python/pardo/compat/_memory.py: dpctl's names of memory, and the memory of an array's elements.
from __future__ import annotations

from typing import Any

from pardo._extending import _view_bytes
from pardo._extending import memory as _memory
from pardo.compat._queue import SyclQueue


class Placed:
    """Where memory and arrays are, by dpctl's names."""

    __slots__ = ()

    @property
    def sycl_queue(self: Any) -> SyclQueue:
        """The queue that it was made for."""
        return SyclQueue(self.queue)

    @property
    def sycl_device(self: Any) -> Any:
        """The device whose memory it is."""
        return self.device

    @property
    def sycl_context(self: Any) -> Any:
        """The context of its queue."""
        return self.queue.context


class MemoryNames(Placed):
    """dpctl's names of memory."""

    __slots__ = ()

    def get_usm_type(self: Any, syclobj: Any = None) -> str:
        """Give 'device', 'shared' or 'host'; 'unknown' for a queue or context that does not know the device.

        Parameters
        ----------
        syclobj : SyclQueue or SyclContext, optional
            Whose view is asked for. Default: that of its own queue.

        Returns
        -------
        str
            The kind.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.dpctl
        >>> pp.MemoryHost(24, device="cpu").get_usm_type()
        'host'
        """
        context = getattr(syclobj, "sycl_context", syclobj)
        return self.usm_type if context is None or self.device.without_queue in context.devices else "unknown"

    @property
    def reference_obj(self: Any) -> None:
        """What else keeps it: nothing."""


class ArrayMemory(MemoryNames):
    """The memory of an array's elements."""

    def __init__(self, array: Any) -> None:
        if not array._is_contiguous():
            raise ValueError("usm_data: the elements are not contiguous; take pardo.ascontiguousarray(x) first")
        self._array = _view_bytes(array, "uint8", [array.nbytes], 0)
        self.queue, self.device, self.usm_type = array.queue, array.device, array.usm_type

    nbytes: Any = _memory.Memory.nbytes
    size: Any = _memory.Memory.size
    __len__: Any = _memory.Memory.__len__
    copy_to_host: Any = _memory.Memory.copy_to_host
    copy_from_host: Any = _memory.Memory.copy_from_host
    tobytes: Any = _memory.Memory.tobytes
    memset: Any = _memory.Memory.memset
    _check_size: Any = _memory.Memory._check_size

    def copy_from_device(self, source: Any) -> None:
        """Copy bytes from other memory."""
        copied(self, source)


def copied(to: Any, source: Any) -> None:
    to._check_size(source.nbytes, "copy_from_device")
    to.queue._copy(to._array, source._array, [])
