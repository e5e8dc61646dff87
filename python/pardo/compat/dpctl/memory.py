# python/pardo/compat/dpctl/memory.py: dpctl's names of memory.
"""Memory by dpctl's names: `MemoryUSMDevice`, `MemoryUSMShared`, `MemoryUSMHost`."""

from __future__ import annotations

from typing import Any

from pardo import Array
from pardo._extending import memory as _memory
from pardo._extending import publish_module
from pardo.compat import _attributes  # noqa: F401 (gives memory dpctl's names)
from pardo.compat._memory import ArrayMemory, copied
from pardo.compat._names import missing, queue_of

__all__ = ["MemoryUSMDevice", "MemoryUSMHost", "MemoryUSMShared", "USMAllocationError", "as_usm_memory"]

USMAllocationError = MemoryError


class _Of(_memory.Memory):
    """What the three kinds have in common."""

    def __init__(self, nbytes: Any, *, alignment: int = 0, queue: Any = None, copy: bool = False) -> None:
        other = nbytes if isinstance(nbytes, (_memory.Memory, ArrayMemory)) else None
        if other is not None:
            queue = other.queue if queue is None else queue
            if not copy and other.usm_type != self._kind:
                raise ValueError(f"{type(self).__name__}: the memory is of the kind {other.usm_type!r}; copy=True makes another")
        super().__init__(nbytes if other is None else other.nbytes, alignment=alignment, queue=queue_of(queue))
        if other is not None:
            copied(self, other)

    def copy_from_device(self, source: Any) -> None:
        """Copy bytes from other memory."""
        copied(self, source)


class MemoryUSMDevice(_Of):
    """Memory of a device: ``MemoryUSMDevice(nbytes, alignment=0, queue=None, copy=False)``.

    Examples
    --------
    >>> from pardo.compat.dpctl.memory import MemoryUSMDevice
    >>> memory = MemoryUSMDevice(24)
    >>> memory.nbytes, memory.get_usm_type()
    (24, 'device')
    """

    _kind = "device"


class MemoryUSMShared(_Of):
    """Memory that host and device share: ``MemoryUSMShared(nbytes, alignment=0, queue=None, copy=False)``.

    Examples
    --------
    >>> from pardo.compat.dpctl.memory import MemoryUSMShared
    >>> MemoryUSMShared(24).get_usm_type()
    'shared'
    """

    _kind = "shared"


class MemoryUSMHost(_Of):
    """Memory of the host that the device reaches: ``MemoryUSMHost(nbytes, alignment=0, queue=None, copy=False)``.

    Examples
    --------
    >>> from pardo.compat.dpctl.memory import MemoryUSMHost
    >>> MemoryUSMHost(24).get_usm_type()
    'host'
    """

    _kind = "host"


def as_usm_memory(obj: Any) -> ArrayMemory | _memory.Memory:
    """Give the memory of an array; memory itself as it is."""
    if isinstance(obj, (ArrayMemory, _memory.Memory)):
        return obj
    if type(obj) is not Array:
        raise TypeError(f"as_usm_memory: an array or memory is expected, not {type(obj).__name__}")
    return ArrayMemory(obj)


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {}, "see pardo.MemoryDevice and its like")


publish_module(globals())
