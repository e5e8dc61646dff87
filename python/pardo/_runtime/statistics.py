# python/pardo/_runtime/statistics.py: what the library does and has done: plans, counters, memory.
from __future__ import annotations

from typing import NamedTuple

from pardo import _core
from pardo._base.arguments import DeviceLike, array, index
from pardo._base.public_names import publish_module
from pardo._core import Array, Device, Queue
from pardo._runtime.plan import Plan
from pardo._runtime.transfers import copies_between

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
        The plan, which a prompt shows as `print` does, and a notebook as a picture. Nothing is computed. It says so where nothing is
        pending.

    Raises
    ------
    TypeError
        Something is neither an array nor a number.

    See Also
    --------
    force, profile

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([1.0, 2.0, 3.0])
    >>> print(pp.explain(pp.sqrt(x) + 1).strip())
    1 group, 1 kernel; reads 24 B, writes 24 B
    group 1: index space (3,)
      kernel  sqrt_add_f64: elementwise, range (3,); reads 24 B, writes 24 B
      loops   lanes(0)
      in      array float64 (3,), 24 B
      out     add float64 (3,), 24 B: asked for
    """
    text, *rest = _core._explain([array(x, "explain") for x in arrays])
    return Plan(text or "nothing is pending\n", *rest)


def force(*arrays: Array) -> None:
    """Hand over the computation of several arrays together, so that what they share is done once; does not wait.

    Parameters
    ----------
    *arrays : Array
        The arrays.

    Raises
    ------
    TypeError
        Something is neither an array nor a number.
    MemoryError
        The results do not fit into the device's memory; nothing has been computed.

    See Also
    --------
    wait, explain

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(4.0)
    >>> y, z = x + 1, x * 2
    >>> pp.force(y, z)
    >>> y, z
    (array([1., 2., 3., 4.]), array([0., 2., 4., 6.]))
    """
    _core._force([array(x, "force") for x in arrays])


def wait(*arrays: Array) -> None:
    """Compute several arrays together and wait for them.

    Parameters
    ----------
    *arrays : Array
        The arrays. Without any: waits for everything on the canonical queues of all devices that have been used.

    Raises
    ------
    TypeError
        Something is neither an array nor a number.
    Exception
        What failed since the last wait, with the line that submitted it.

    See Also
    --------
    force, wait_all

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(4.0)
    >>> y, z = x + 1, x * 2
    >>> pp.wait(y, z)
    >>> y.event.done()
    True
    """
    if not arrays:
        for device in _core._get_devices_in_use():
            Queue.of(device).wait()
        return
    wanted = [array(x, "wait") for x in arrays]
    _core._force(wanted)
    for x in wanted:
        x.wait()


def counters() -> dict[str, int]:
    """Return what this process has done so far.

    Returns
    -------
    dict
        recorded (operations), forced (times that values were needed), planned (programs of arrays that a device had not seen), flushed
        (times that too much was pending), launched (kernels and library routines), compiled (kernels), from_disk (kernels loaded from
        the cache), from_pack (kernels that the wheel brought), bytes_read, bytes_written, copies (of whole arrays), copied_bytes
        (by these), fallbacks (slow paths taken in place of the fast one), handles (references that native code was given, as
        ``pardo/c_api.h`` says), handles_back (those that it has given back) and unasked_between_devices (pieces that operations on
        arrays over several devices have copied from one to another without being told to; `transfer_guard` sees them).

    See Also
    --------
    explain, profile, memory_stats

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(4.0).wait()
    >>> before = pp.counters()["recorded"]
    >>> y = (x + 1) * 2
    >>> pp.counters()["recorded"] - before
    2
    """
    return {**_core._counters(), "unasked_between_devices": copies_between()}


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

    Raises
    ------
    ValueError
        No such device exists.

    See Also
    --------
    set_memory_limit, trim_memory

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.zeros(1000).wait()
    >>> pp.memory_stats("cpu").in_use >= x.nbytes
    True
    """
    return MemoryStats(**_core._memory_stats(Device(device)))


def trim_memory(device: DeviceLike = None) -> None:
    """Release cached blocks to the system.

    Parameters
    ----------
    device : Device or str, optional
        Default: the default device.

    Raises
    ------
    ValueError
        No such device exists.

    See Also
    --------
    memory_stats, set_memory_limit

    Examples
    --------
    >>> import pardo as pp
    >>> before = pp.memory_stats("cpu").cached
    >>> pp.trim_memory("cpu")
    >>> pp.memory_stats("cpu").cached <= before
    True
    """
    _core._trim_memory(Device(device))


def set_memory_limit(limit: int, device: DeviceLike = None) -> None:
    """Bound what is in use and cached on a device.

    Parameters
    ----------
    limit : int
        Bytes; 0 removes the bound.
    device : Device or str, optional
        Default: the default device.

    Raises
    ------
    TypeError
        `limit` is not an integer.
    ValueError
        `limit` is negative, or no such device exists.

    See Also
    --------
    memory_stats, trim_memory

    Examples
    --------
    >>> import pardo as pp
    >>> pp.set_memory_limit(2**30, "cpu")
    >>> pp.memory_stats("cpu").limit
    1073741824
    >>> pp.set_memory_limit(0, "cpu")
    """
    count = index(limit, "set_memory_limit: limit")
    if count < 0:
        raise ValueError(f"set_memory_limit: limit is {count}; it must not be negative")
    _core._set_memory_limit(Device(device), count)


def reset_memory_peak(device: DeviceLike = None) -> None:
    """Let `memory_stats().peak` start again from what is in use.

    Parameters
    ----------
    device : Device or str, optional
        Default: the default device.

    Raises
    ------
    ValueError
        No such device exists.

    See Also
    --------
    memory_stats

    Examples
    --------
    >>> import pardo as pp
    >>> pp.reset_memory_peak("cpu")
    >>> stats = pp.memory_stats("cpu")
    >>> stats.peak == stats.in_use
    True
    """
    _core._reset_memory_peak(Device(device))


publish_module(globals(), "pardo")
