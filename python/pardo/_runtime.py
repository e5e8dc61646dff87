# python/pardo/_runtime.py: what the library does and has done: plans, counters, memory.
from __future__ import annotations

from typing import Any, NamedTuple

from pardo import _core
from pardo._arguments import DeviceLike, array
from pardo._core import Array, Device, Queue

__all__ = [
    "MemoryStats",
    "counters",
    "explain",
    "force",
    "memory_stats",
    "reset_memory_peak",
    "set_memory_limit",
    "trim_memory",
    "wait",
]


def explain(*arrays: Array) -> str:
    """Show how arrays would be computed: groups, kernels, bytes read and written, and why each cut was made.

    Parameters
    ----------
    *arrays : Array
        The arrays, as if they were computed together.

    Returns
    -------
    str
        The plan. Nothing is computed.
    """
    return _core._explain([array(x, "explain") for x in arrays])


def force(*arrays: Array) -> None:
    """Hand over the computation of several arrays together, so that what they share is done once; does not wait.

    Parameters
    ----------
    *arrays : Array
        The arrays.
    """
    _core._force([array(x, "force") for x in arrays])


def wait(*arrays: Array) -> None:
    """Compute several arrays together and wait for them.

    Parameters
    ----------
    *arrays : Array
        The arrays. Without any: waits for everything on the canonical queues of all visible devices.
    """
    if not arrays:
        for device in _core.get_devices():
            Queue.of(device).wait()
        return
    force(*arrays)
    for x in arrays:
        x.wait()


def counters() -> dict[str, int]:
    """Return what this process has done so far.

    Returns
    -------
    dict
        recorded (operations), forced (times that values were needed), flushed (times that too much was pending), launched
        (kernels and library routines), compiled (kernels), from_disk (kernels loaded from the cache), bytes_read, bytes_written,
        copies (of whole arrays), fallbacks (slow paths taken in place of the fast one).
    """
    return _core._counters()


class MemoryStats(NamedTuple):
    """Bytes of a device's caching allocator."""

    in_use: int
    cached: int
    peak: int
    limit: int


def memory_stats(device: DeviceLike = None) -> MemoryStats:
    """Return how much memory of a device is in use.

    Parameters
    ----------
    device : Device or str, optional
        Default: the default device.

    Returns
    -------
    MemoryStats
        Bytes: in_use (handed out now), cached (freed and kept for reuse), peak (largest in_use so far), limit (0: none).
    """
    return MemoryStats(**_core._memory_stats(_device(device)))


def trim_memory(device: DeviceLike = None) -> None:
    """Give cached blocks back to the system.

    Parameters
    ----------
    device : Device or str, optional
        Default: the default device.
    """
    _core._trim_memory(_device(device))


def set_memory_limit(limit: int, device: DeviceLike = None) -> None:
    """Bound what is in use and cached on a device.

    Parameters
    ----------
    limit : int
        Bytes; 0 removes the bound.
    device : Device or str, optional
        Default: the default device.
    """
    if limit < 0:
        raise ValueError(f"set_memory_limit: limit is {limit}; it must not be negative")
    _core._set_memory_limit(_device(device), limit)


def reset_memory_peak(device: DeviceLike = None) -> None:
    """Let `memory_stats().peak` start again from what is in use.

    Parameters
    ----------
    device : Device or str, optional
        Default: the default device.
    """
    _core._reset_memory_peak(_device(device))


def _device(device: Any) -> Device:
    return Device() if device is None else Device(device)
