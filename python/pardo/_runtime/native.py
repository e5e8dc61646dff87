# python/pardo/_runtime/native.py: queues, events and devices as their drivers call them, for other libraries and from them.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pardo import _core

if TYPE_CHECKING:
    from pardo._core import Device, Event, Queue

# Where libraries keep the address: torch, CuPy, PyOpenCL.
_STREAMS = ("cuda_stream", "ptr", "int_ptr")
_EVENTS = ("cuda_event", "ptr", "int_ptr")


class NativeHandles(NamedTuple):
    """What a driver calls a device, as integers.

    Attributes
    ----------
    device : int
        The number of the CUdevice, or the address of the cl_device_id.
    context : int
        The CUcontext, which is the primary one, or cl_context.
    platform : int
        The cl_platform_id; 0 with CUDA.
    """

    device: int
    context: int
    platform: int


def _address(o: Any, names: tuple[str, ...], op_name: str, what: str) -> int:
    if isinstance(o, int) and not isinstance(o, bool):
        address = o
    elif what == "stream" and hasattr(o, "__cuda_stream__"):
        address = o.__cuda_stream__()[1]
    else:
        found = [value for name in names if isinstance(value := getattr(o, name, None), int)]
        if not found:
            raise TypeError(
                f"{op_name}: {what} is the address of one, or an object that has it ({', '.join(names)}), not {type(o).__name__}"
            )
        address = found[0]
    if not 0 <= address < 1 << 63:
        raise ValueError(f"{op_name}: {what} is {address}, which is no address")
    return address


def queue_from_native(stream: Any, device: Device | str) -> Queue:
    """Make a queue on a stream of another library: work of both is in order.

    Parameters
    ----------
    stream : int or object
        A ``CUstream`` (0: the legacy default stream), or a ``cl_command_queue`` of the context that `Device.native` gives. The address, or
        an object that has it: ``torch.cuda.Stream``, ``cupy.cuda.Stream``, ``pyopencl.CommandQueue``, or what has ``__cuda_stream__``.
        An object is kept until the last work is over; a stream of which only the address is given must live as long.
    device : Device or str
        Its device.

    Returns
    -------
    Queue
        In the order that the stream has.

    Raises
    ------
    DeviceError
        The device has no driver with streams.
    ValueError
        The stream is of another device or context.
    TypeError
        `stream` is neither an address nor has one.

    See Also
    --------
    Queue.native, Event.from_native

    Examples
    --------
    With torch the stream would be ``torch.cuda.current_stream()``: its kernels and ours follow each other there.

    >>> import pardo as pp
    >>> for device in pp.get_devices("cuda"):
    ...     queue = pp.Queue.from_native(0, device)
    """
    address = _address(stream, _STREAMS, "Queue.from_native", "stream")
    return _core._adopt_queue(device, address, None if isinstance(stream, int) else stream)


def queue_native(self: Queue) -> int | None:
    """The address of its ``CUstream`` or ``cl_command_queue``; None on the CPU, and where it has several streams.

    What other libraries enqueue there comes after work that the driver has, and not after work that still waits on the host
    (`Event.to_native` gives what to wait for).
    """
    return _core._native_queue(self) or None


def event_from_native(event: Any, device: Device | str) -> Event:
    """Make an event that is complete when a driver's is.

    Parameters
    ----------
    event : int or object
        A ``CUevent`` that has been recorded, or a ``cl_event`` of the context that `Device.native` gives. The address, or an object that
        has it: ``torch.cuda.Event``, ``cupy.cuda.Event``, ``pyopencl.Event``. It may go when this returns.
    device : Device or str
        Its device.

    Returns
    -------
    Event
        For ``depends=``, and to wait for.

    Raises
    ------
    DeviceError
        The device has no driver with events.
    ValueError
        The event is of another context.
    TypeError
        `event` is neither an address nor has one.

    See Also
    --------
    Event.to_native, Queue.from_native

    Examples
    --------
    >>> import pardo as pp
    >>> for device in pp.get_devices("cuda"):
    ...     again = pp.Event.from_native(pp.Event().to_native(device), device)
    """
    address = _address(event, _EVENTS, "Event.from_native", "event")
    if address == 0:
        raise ValueError("Event.from_native: event is 0, which is no address; torch makes its events when they are recorded")
    return _core._adopt_event(device, address)


def event_to_native(self: Event, device: Device | str) -> int:
    """Make an event of a driver that is complete when this one is.

    Parameters
    ----------
    device : Device or str
        Whose driver's.

    Returns
    -------
    int
        The address of a new ``CUevent`` or ``cl_event``, which the caller destroys: ``pyopencl.Event.from_int_ptr(address, retain=False)``
        does. Work that still waits on the host is waited for.

    Raises
    ------
    DeviceError
        The device has no driver with events.
    Exception
        The event has failed.

    See Also
    --------
    Event.from_native
    """
    return _core._native_event(self, device)


def device_native(self: Device) -> NativeHandles:
    """What the driver calls it: ``device``, ``context`` and ``platform``, as integers. Raises DeviceError on the CPU."""
    return NativeHandles(*_core._native_handles(self))
