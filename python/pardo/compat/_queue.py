# python/pardo/compat/_queue.py: dpctl's queues: other keywords, and copies and launches that wait.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pardo import Context, Device, Event, NdRange, Queue, Range
from pardo._extending import _view_bytes, operand, publish_module
from pardo.compat._words import backend_type

__all__ = ["SyclQueue"]

PROPERTIES = ("default", "enable_profiling", "in_order")


class SyclQueue:
    """A queue with dpctl's names.

    Parameters
    ----------
    *where : str, Device, Queue, or Context and Device
        A filter string, a device, a queue whose work it shares, or a context and a device of it. Default: the default device.
    property : str or tuple of str, optional
        ``'in_order'``, ``'enable_profiling'``. Default: out of order, without times; results of pardo's own operations on arrays are
        ordered by what they read in any case.

    See Also
    --------
    Queue

    Examples
    --------
    >>> import pardo.compat.dpctl as dpctl
    >>> queue = dpctl.SyclQueue("cpu", property=("in_order", "enable_profiling"))
    >>> queue.is_in_order, queue.has_enable_profiling
    (True, True)
    """

    __slots__ = ("_queue",)

    def __init__(self, *where: Any, property: str | Iterable[str] = ()) -> None:
        words = {property} if isinstance(property, str) else set(property or ())
        if unknown := words - set(PROPERTIES):
            raise ValueError(f"SyclQueue: property is of {', '.join(map(repr, PROPERTIES))}, not {sorted(unknown)[0]!r}")
        first = where[0] if where else None
        if isinstance(first, (Queue, SyclQueue)):
            self._queue: Queue = first._queue if isinstance(first, SyclQueue) else first
            return
        context = first if isinstance(first, Context) else None
        device = where[1] if context is not None and len(where) > 1 else first if context is None else context.devices[0]
        order = "in_order" if "in_order" in words else "out_of_order"
        self._queue = Queue(device, order=order, profiling="enable_profiling" in words, context=context)

    @classmethod
    def _of(cls, device: Any) -> SyclQueue:
        """The queue that is taken where a device is named."""
        return cls(Queue.of(Device(device)))

    @property
    def sycl_device(self) -> Device:
        """The device."""
        return self._queue.device

    @property
    def sycl_context(self) -> Context:
        """The context."""
        return self._queue.context

    def get_sycl_device(self) -> Device:
        """Give its device."""
        return self.sycl_device

    def get_sycl_context(self) -> Context:
        """Give its context."""
        return self.sycl_context

    def get_sycl_backend(self) -> Any:
        """Give the back end of its device."""
        return self.backend

    @property
    def backend(self) -> Any:
        """The back end, as dpctl's enumeration has it."""
        return backend_type(self._queue.device.backend)

    @property
    def name(self) -> str:
        """The device's name."""
        return self._queue.device.name

    @property
    def driver_version(self) -> str | None:
        """The version of the device's driver."""
        return self._queue.device.driver_version

    @property
    def is_in_order(self) -> bool:
        """Whether work runs in the order of its submission."""
        return bool(self._queue.order == "in_order")

    @property
    def has_enable_profiling(self) -> bool:
        """Whether events have times."""
        return self._queue.profiling

    def wait(self) -> None:
        """Wait for all work."""
        self._queue.wait()

    def submit_barrier(self, dependent_events: Sequence[Event] = ()) -> Event:
        """Let later work wait for earlier work and for events."""
        return self._queue.barrier(depends=list(dependent_events))

    def memcpy(self, dest: Any, src: Any, count: int) -> None:
        """Copy bytes, and wait: `memcpy_async`."""
        self.memcpy_async(dest, src, count).wait()

    def memcpy_async(self, dest: Any, src: Any, count: int, dEvents: Sequence[Event] = ()) -> Event:
        """Copy bytes.

        Parameters
        ----------
        dest, src : memory of `dpctl.memory`, or object with the buffer protocol
            Contiguous.
        count : int
            Bytes, from the beginnings.
        dEvents : sequence of Event, optional
            What the copy waits for.

        Returns
        -------
        Event
            Completes with the copy.
        """
        to, source = (_view_bytes(x, "uint8", [count], 0) for x in (operand(getattr(m, "_array", m), "memcpy") for m in (dest, src)))
        return self._queue.copy(to, source, depends=list(dEvents))

    def memset(self, mem: Any, val: int = 0, count: int = -1) -> None:
        """Store one byte everywhere, and wait: `memset_async`."""
        self.memset_async(mem, val, count).wait()

    def memset_async(self, mem: Any, val: int = 0, count: int = -1, dEvents: Sequence[Event] = ()) -> Event:
        """Store one byte in the first `count` bytes of memory; in all if it is negative."""
        whole = operand(getattr(mem, "_array", mem), "memset")
        to = _view_bytes(whole, "uint8", [whole.nbytes if count < 0 else count], 0)
        return self._queue.fill(to, val, depends=list(dEvents))

    def print_device_info(self) -> None:
        """Print what the device is."""
        device: Any = self._queue.device
        device.print_device_info()

    def _submit_keep_args_alive(self, args: Any, events: Sequence[Event] = ()) -> Event:
        """The event after which the arguments may go: pardo keeps what is in use in any case."""
        return self._queue.barrier(depends=list(events))

    def prefetch(self, ptr: Any, count: int = 0) -> None:
        """Tell that memory is read on the device next."""
        self._queue.prefetch(ptr).wait()

    def submit(
        self,
        kernel: Any,
        args: Sequence[Any],
        gS: Sequence[int],
        lS: Sequence[int] | None = None,
        dEvents: Sequence[Event] = (),
    ) -> Event:
        """Launch a kernel of `dpctl.program`, and wait: `submit_async`."""
        event = self.submit_async(kernel, args, gS, lS, dEvents)
        event.wait()
        return event

    def submit_async(
        self,
        kernel: Any,
        args: Sequence[Any],
        gS: Sequence[int],
        lS: Sequence[int] | None = None,
        dEvents: Sequence[Event] = (),
    ) -> Event:
        """Launch a kernel of `dpctl.program`.

        Parameters
        ----------
        kernel : SyclKernel
            What to launch.
        args : sequence
            Memory of `dpctl.memory`, arrays, `ctypes` numbers, NumPy's scalars, `LocalAccessor`.
        gS, lS : sequence of int
            Items, and those of a group; as in SYCL the last dimension is the one whose neighbours are adjacent.
        dEvents : sequence of Event, optional
            What the launch waits for.

        Returns
        -------
        Event
            Completes when all items have run.
        """
        space: Any = Range(*reversed(gS)) if lS is None else NdRange(Range(*reversed(gS)), Range(*reversed(lS)))
        return kernel._kernel[space, self._queue, list(dEvents)](*kernel._arguments(args))  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        return self._queue == getattr(other, "_queue", other)

    def __hash__(self) -> int:
        return hash(self._queue)

    def __repr__(self) -> str:
        return f"SyclQueue({self._queue!r})"


publish_module(globals(), "pardo.compat.dpctl")
