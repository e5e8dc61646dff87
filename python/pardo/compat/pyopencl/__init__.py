# python/pardo/compat/pyopencl/__init__.py: PyOpenCL's names for arrays and their queues.
"""PyOpenCL's arrays: ``import pardo.compat.pyopencl as cl``, ``import pardo.compat.pyopencl.array as cl_array``.

Arrays are pardo's, which get PyOpenCL's methods when `array` is imported. Queues, contexts and events are pardo's own classes, on any
device: the CPU and GPUs of CUDA too. Programs in OpenCL C and buffers are `pardo.Program` and `pardo.MemoryDevice`.
"""

from __future__ import annotations

import enum as _enum
import importlib as _importlib
from collections.abc import Iterable as _Iterable
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from pardo import Context, Event, Queue, get_platforms
from pardo import Device as _Device
from pardo._extending import show_module as _show_module
from pardo.compat._names import Constructor as _Constructor
from pardo.compat._names import missing as _missing

if _TYPE_CHECKING:
    from pardo.compat.pyopencl import array as array
    from pardo.compat.pyopencl import clmath as clmath
    from pardo.compat.pyopencl import clrandom as clrandom

__all__ = [
    "CommandQueue",
    "Context",
    "Event",
    "array",
    "clmath",
    "clrandom",
    "command_queue_properties",
    "create_some_context",
    "get_platforms",
    "wait_for_events",
]

_MODULES = ("array", "clmath", "clrandom")
_INSTEAD = {
    "Program Kernel": "use pardo.Program(device, text), whose kernels are launched as program.f[range](…)",
    "Buffer mem_flags SVM svm_empty": "use arrays, or pardo.MemoryDevice, MemoryShared and MemoryHost",
    "Image Sampler image_from_array": "use pardo.Image and pardo.Sampler",
    "LocalMemory": "use pardo.LocalAccessor(n, dtype)",
    "enqueue_copy enqueue_copy_buffer": "use queue.copy(to, from_)",
    "enqueue_nd_range_kernel": "use program.f[range](…)",
    "enqueue_barrier enqueue_marker": "use queue.barrier()",
    "enqueue_fill_buffer": "use queue.fill(x, value)",
    "device_type": "devices have `type`, 'cpu', 'gpu' or 'accelerator'",
    "elementwise reduction scan algorithm": "use pardo.elementwise, pardo.reduction, pardo.scan and pardo.algorithm",
    "tools": "memory that is let go is kept for the next array, without a pool of one's own",
}


class command_queue_properties(_enum.IntFlag):  # noqa: N801 (PyOpenCL's name)
    """What a queue does besides."""

    OUT_OF_ORDER_EXEC_MODE_ENABLE = 1
    PROFILING_ENABLE = 2


class CommandQueue(metaclass=_Constructor):
    """The class of queues; called, it makes one.

    Parameters
    ----------
    context : Context, optional
        Default: that of the default device.
    device : Device, optional
        One of the context's. Default: the first.
    properties : command_queue_properties or int, optional
        Without any, work runs in order and is not timed.

    Raises
    ------
    TypeError
        An argument is of another type.
    ValueError
        The device is not one of the context's.

    Examples
    --------
    >>> import pardo.compat.pyopencl as cl
    >>> queue = cl.CommandQueue(cl.create_some_context())
    >>> isinstance(queue, cl.CommandQueue)
    True
    """

    _kind = Queue

    @staticmethod
    def _make(context: _Any = None, device: _Any = None, properties: _Any = 0) -> Queue:
        if context is None:
            context = create_some_context()
        for name, value, kind in (("context", context, Context), ("device", device, (_Device, type(None)))):
            if not isinstance(value, kind):
                raise TypeError(f"CommandQueue: {name} is of the type {type(value).__name__}, where a pardo.{name.title()} is expected")
        devices = list(context.devices)
        if device is not None and device not in devices:
            raise ValueError(f"CommandQueue: {device.id} is none of the context's devices, {', '.join(d.id for d in devices)}")
        wanted = command_queue_properties(0 if properties is None else properties)
        order = "out_of_order" if wanted & command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE else "in_order"
        profiling = bool(wanted & command_queue_properties.PROFILING_ENABLE)
        return Queue(devices[0] if device is None else device, order=order, profiling=profiling)


def create_some_context(interactive: bool | None = None, answers: _Any = None) -> Context:
    """Give the context of the default device, which ``PARDO_DEVICE`` chooses."""
    return Queue.of(_Device()).context


def wait_for_events(events: _Iterable[Event]) -> None:
    """Wait for events."""
    for event in list(events):
        event.wait()


def __getattr__(name: str) -> _Any:
    """Read a module; say what to use in place of a name that is not here."""
    if name in _MODULES:
        return _importlib.import_module(f"pardo.compat.pyopencl.{name}")
    raise _missing(__name__, name, _INSTEAD, "see the guide 'Coming from Numba, PyOpenCL, CUDA' for pardo's names")


_show_module(globals())
