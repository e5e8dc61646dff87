# python/pardo/_runtime/queues.py: what queues can be told to do, and timers.
from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pardo import _core
from pardo._base.arguments import HOST, SCALARS, array, dtype_of, index, refuse_masked, too_large
from pardo._base.notebook import html_table, mimebundle, place_in_cells
from pardo._core import Array
from pardo._runtime import native as _native

if TYPE_CHECKING:
    from types import TracebackType

    from pardo._core import Event, Queue

__all__ = [
    "Timer",
]


def _not_memory(x: Any, op_name: str) -> TypeError:
    what = "a NumPy array; use pardo.asarray" if isinstance(x, np.ndarray) else type(x).__name__
    return TypeError(f"{op_name}: an array of pardo or a block of memory is expected, not {what}")


def operand(x: Any, op_name: str) -> Array:
    """An array for a copy: arrays themselves, the bytes of a block of memory, or the host's memory behind a buffer, shared."""
    if type(x) is Array:
        return x
    if isinstance(x, _core._Block):
        return x._array
    refuse_masked(x, op_name)
    try:
        host = x if isinstance(x, np.ndarray) else np.asarray(memoryview(x))
    except TypeError:
        raise TypeError(
            f"{op_name}: expected an array, a block of memory, or an object with the buffer protocol, not {type(x).__name__}"
        ) from None
    return _core._share_buffer(host, dtype_of(host.dtype, op_name), _core.Queue.of(HOST))


def _same_elements(dst: Array, src: Array, raw: bool) -> tuple[Array, Array]:
    """A block of bytes takes and gives elements of any dtype and shape, if their sizes fit."""
    if not raw or (dst.dtype == src.dtype and dst.shape == src.shape):
        return dst, src
    return tuple(_core._view_bytes(x, "uint8", [x.nbytes], 0) if x._is_contiguous() else x for x in (dst, src))  # type: ignore[return-value]


def _numbers(values: Sequence[int], lengths: tuple[int, ...], fill: int, name: str) -> list[int]:
    op_name = f"Queue.copy_rect: {name}"
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{op_name} must be a sequence of integers, not {type(values).__name__}")
    numbers = [index(v, op_name) for v in values]
    if len(numbers) not in lengths:
        raise ValueError(f"{op_name} has {len(numbers)} numbers; {' or '.join(map(str, lengths))} are expected")
    return numbers + [fill] * (lengths[-1] - len(numbers))


def _repr_html(self: Queue) -> str:
    """For notebooks: the device, the order, whether events have times, and what is unfinished."""
    rows = [("order", str(self.order)), ("profiling", str(self.profiling)), ("unfinished", _unfinished(self))]
    return html_table(("Queue", str(self.device.id)), rows, texts=2)


def _unfinished(queue: Queue) -> str:
    """How much that was submitted is unfinished, and the oldest of it."""
    for number, _, count, name, location in _core._unfinished_work():
        if number == hash(queue):
            return f"{count}, the oldest is {name}" + (f" ({place_in_cells(location) or location})" if location else "")
    return "nothing"


def _enter(self: Queue) -> Queue:
    """Give the queue itself."""
    return self


def _exit(
    self: Queue,
    kind: type[BaseException] | None,
    exception: BaseException | None,
    traceback: TracebackType | None,
) -> None:
    """Wait for everything submitted; an exception of the block is not replaced by a later failure."""
    if kind is None:
        self.wait()
    elif issubclass(kind, Exception):
        _core._wait_any([self.marker()], None, "Queue")


def submit(self: Queue, *arrays: Array, depends: Any = None) -> Event:
    """Hand over the computation of arrays of this queue; does not wait.

    Parameters
    ----------
    *arrays : Array
        Arrays of this queue. Without any: everything that is pending on it.
    depends : Event, Array, or sequence of them, optional
        What the computation waits for, in addition to the arrays that it reads.

    Returns
    -------
    Event
        Completes when the arrays are computed; without arrays, after everything submitted so far.

    Raises
    ------
    ExecutionPlacementError
        An array is of another queue.
    TypeError
        Something is not an array, or `depends` holds something that cannot be waited for.
    MemoryError
        The results do not fit into the device's memory; nothing has been computed.

    Examples
    --------
    >>> import pardo as pp
    >>> queue = pp.Queue("cpu")
    >>> x = pp.arange(3, queue=queue)
    >>> event = queue.submit(x * 2)
    >>> event.wait()
    """
    return self._submit([array(x, "Queue.submit") for x in arrays], _core._events(depends, "Queue.submit"))


def barrier(self: Queue, depends: Any = None) -> Event:
    """Let all later work wait for all earlier work.

    Parameters
    ----------
    depends : Event, Array, or sequence of them, optional
        What the barrier waits for in addition.

    Returns
    -------
    Event
        Completes after everything submitted so far and `depends`.

    Raises
    ------
    TypeError
        `depends` holds something that cannot be waited for.

    Examples
    --------
    >>> import pardo as pp
    >>> queue = pp.Queue("cpu", order="out_of_order")
    >>> x, y = pp.zeros(3, queue=queue), pp.zeros(3, queue=queue)
    >>> filled = queue.fill(x, 1.0), queue.fill(y, 2.0)
    >>> queue.barrier().wait()
    >>> x, y
    (array([1., 1., 1.]), array([2., 2., 2.]))
    """
    return self._barrier(_core._events(depends, "Queue.barrier"))


def host_task(self: Queue, f: Callable[[], Any], *, depends: Any = None) -> Event:
    """Run a Python function in the order of the queue, on a thread of the library.

    Parameters
    ----------
    f : callable
        Called without arguments. It may use the library, but not wait for what comes after it.
    depends : Event, Array, or sequence of them, optional
        What it waits for; on an in-order queue everything submitted before as well.

    Returns
    -------
    Event
        `as_future()` and `await` give what `f` returned. An exception of `f` is the event's failure.

    Raises
    ------
    TypeError
        `f` cannot be called, or `depends` holds something that cannot be waited for.

    Examples
    --------
    >>> import pardo as pp
    >>> queue = pp.Queue("cpu")
    >>> event = queue.host_task(lambda: 6 * 7)
    >>> event.as_future().result()
    42
    """
    if not callable(f):
        raise TypeError(f"Queue.host_task: a function is expected, not {type(f).__name__}")
    if inspect.iscoroutinefunction(f):
        raise TypeError("Queue.host_task: a plain function is expected, not an async one, as what it returns would not be awaited")
    name = getattr(f, "__qualname__", None) or type(f).__qualname__
    return _core._host_task(self, f, name, _core._events(depends, "Queue.host_task"))


def copy(self: Queue, dst: Any, src: Any, *, depends: Any = None) -> Event:
    """Copy elements from one place to another, on any devices.

    Parameters
    ----------
    dst, src : Array, memory of `MemoryDevice` and its like, or object with the buffer protocol
        Of one dtype and shape; either may be strided. A block of memory takes any contiguous elements of as many bytes. The
        host's own memory (NumPy arrays) is read and written before this returns; if Ctrl-C ends that wait, it still will be. While
        a `UserEvent` that it waits for has not been set, this returns at once, and that is so when the event is complete.
    depends : Event, Array, or sequence of them, optional
        What the copy waits for, in addition to the work on both arrays.

    Returns
    -------
    Event
        Completes with the copy.

    Raises
    ------
    TypeError
        The dtypes differ, something has no memory, or is a masked array of NumPy, whose mask would be lost.
    ValueError
        The shapes differ, or `dst` is read-only.
    ExecutionPlacementError
        Neither array is on the queue's device, or one is outside of its context.

    Notes
    -----
    Elements that are strided along more than two axes, in one array or the other, are copied in several parts. Where a driver refuses
    one of them, the event fails, and other parts may have been copied. Anything else is copied whole or not at all.

    Examples
    --------
    >>> import pardo as pp
    >>> queue = pp.Queue("cpu")
    >>> x = pp.zeros(3, queue=queue)
    >>> queue.copy(x, pp.arange(3.0, queue=queue)).wait()
    >>> x
    array([0., 1., 2.])
    """
    op_name = "Queue.copy"
    to, source = _same_elements(
        operand(dst, op_name), operand(src, op_name), isinstance(dst, _core._Block) or isinstance(src, _core._Block)
    )
    return self._copy(to, source, _core._events(depends, op_name))


def copy_rect(
    self: Queue,
    dst: Any,
    src: Any,
    *,
    region: Sequence[int],
    dst_origin: Sequence[int] = (0, 0, 0),
    src_origin: Sequence[int] = (0, 0, 0),
    dst_pitches: Sequence[int] = (0, 0),
    src_pitches: Sequence[int] = (0, 0),
    depends: Any = None,
) -> Event:
    """Copy a two- or three-dimensional region of bytes between two blocks.

    Parameters
    ----------
    dst, src : Array, memory of `MemoryDevice` and its like, or object with the buffer protocol
        Contiguous; taken as blocks of bytes. They do not overlap.
    region : sequence of int
        Bytes of a row, rows, and, in three dimensions, planes.
    dst_origin, src_origin : sequence of int
        Where the region begins: bytes, rows, planes.
    dst_pitches, src_pitches : sequence of int
        Bytes from row to row and, for a three-dimensional region, from plane to plane; 0 where they are contiguous.
    depends : Event, Array, or sequence of them, optional
        What the copy waits for, in addition to the work on both blocks.

    Returns
    -------
    Event
        Completes with the copy.

    Raises
    ------
    ValueError
        The region does not lie in both blocks, they overlap, a pitch is too small, or an array is not contiguous.
    TypeError
        Something has no memory, is a masked array of NumPy, or is not a sequence of integers.
    ExecutionPlacementError
        Neither array is on the queue's device, or one is outside of its context.

    Examples
    --------
    >>> import pardo as pp
    >>> queue = pp.Queue("cpu")
    >>> x = pp.arange(12, dtype="uint8", queue=queue).reshape(3, 4)
    >>> part = pp.zeros((2, 2), dtype="uint8", queue=queue)
    >>> queue.copy_rect(part, x, region=(2, 2), src_origin=(1, 1), src_pitches=(4,)).wait()
    >>> part
    array([[ 5,  6],
           [ 9, 10]], dtype=uint8)
    """
    op_name = "Queue.copy_rect"
    numbers = _numbers(region, (2, 3), 1, "region")
    numbers += _numbers(dst_origin, (2, 3), 0, "dst_origin") + _numbers(src_origin, (2, 3), 0, "src_origin")
    numbers += _numbers(dst_pitches, (1, 2), 0, "dst_pitches") + _numbers(src_pitches, (1, 2), 0, "src_pitches")
    return self._copy_rect(operand(dst, op_name), operand(src, op_name), numbers, _core._events(depends, op_name))


def fill(self: Queue, dst: Any, value: Any, *, depends: Any = None) -> Event:
    """Store one value in all elements.

    Parameters
    ----------
    dst : Array or memory of `MemoryDevice` and its like
        On this queue's device; may be strided.
    value : number
        Converted to the dtype; for a block of memory a byte.
    depends : Event, Array, or sequence of them, optional
        What the fill waits for, in addition to the work on `dst`.

    Returns
    -------
    Event
        Completes with the fill.

    Raises
    ------
    TypeError
        `dst` is not an array, or `value` not a number, or a complex one where the dtype is not.
    ValueError
        `value` is NaN, and the dtype is of integers.
    OverflowError
        `value` does not fit the dtype.
    ExecutionPlacementError
        `dst` is on another device.

    Examples
    --------
    >>> import pardo as pp
    >>> queue = pp.Queue("cpu")
    >>> x = pp.empty(3, queue=queue)
    >>> queue.fill(x, 7.0).wait()
    >>> x
    array([7., 7., 7.])
    """
    op_name = "Queue.fill"
    if not isinstance(value, SCALARS):
        raise TypeError(f"{op_name}: value must be a number, not {type(value).__name__}")
    if type(dst) is not Array and not isinstance(dst, _core._Block):
        raise _not_memory(dst, op_name)
    target, events = operand(dst, op_name), _core._events(depends, op_name)
    try:
        return self._fill(target, value, events)
    except OverflowError as e:
        raise too_large(e, op_name) from None


def prefetch(self: Queue, x: Any, *, depends: Any = None) -> Event:
    """Tell that this queue's device reads an array next: shared memory may move there.

    Parameters
    ----------
    x : Array or memory of `MemoryDevice` and its like
        On this queue's device. Nothing changes but where its memory is.
    depends : Event, Array, or sequence of them, optional
        What to wait for before.

    Returns
    -------
    Event
        Completes when what there is to move has moved.

    Raises
    ------
    TypeError
        `x` is not an array.
    ExecutionPlacementError
        `x` is on another device.

    Examples
    --------
    >>> import pardo as pp
    >>> queue = pp.Queue("cpu")
    >>> x = pp.ones(3, queue=queue, usm_type="shared")
    >>> queue.prefetch(x).wait()
    """
    op_name = "Queue.prefetch"
    if type(x) is not Array and not isinstance(x, _core._Block):
        raise _not_memory(x, op_name)
    return self._prefetch(operand(x, op_name), _core._events(depends, op_name))


class QueueMethods:
    """What Queue gets from Python."""

    __slots__ = ()

    _repr_html_ = _repr_html
    _repr_mimebundle_ = mimebundle
    __enter__ = _enter
    __exit__ = _exit
    submit = submit
    barrier = barrier
    host_task = host_task
    copy = copy
    copy_rect = copy_rect
    fill = fill
    prefetch = prefetch
    from_native = staticmethod(_native.queue_from_native)
    native = property(_native.queue_native)


class Timer:
    """Host and device time of the blocks that it is used around; times of several blocks add up.

    Parameters
    ----------
    queue : Queue
        Made with ``profiling=True``. What is recorded on it is handed over at both ends of a block.
    host_timer : callable
        Gives seconds. Default: `time.perf_counter`.

    Examples
    --------
    >>> import pardo as pp
    >>> queue = pp.Queue(profiling=True)
    >>> x = pp.ones(1000, queue=queue)
    >>> with pp.Timer(queue) as timer:
    ...     y = (x * 2).force()
    >>> timer.host_time >= 0 and timer.device_time >= 0
    True
    """

    def __init__(self, queue: Queue, host_timer: Callable[[], float] = time.perf_counter) -> None:
        if not isinstance(queue, _core.Queue):
            raise TypeError(f"Timer: a queue is expected, not {type(queue).__name__}")
        if not queue.profiling:
            raise ValueError("Timer: the queue has no times; make it with pp.Queue(device, profiling=True)")
        self.queue = queue
        self._host_timer = host_timer
        self._blocks: list[tuple[Event, Event]] = []
        self._open: list[tuple[float, Event]] = []
        self._host_time = 0.0
        self._device_time = 0.0

    def __enter__(self) -> Timer:
        """Start."""
        self.queue.submit()
        first = self.queue.barrier()
        self._open.append((self._host_timer(), first))
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, without waiting for the device."""
        self.queue.submit()
        start, first = self._open.pop()
        self._host_time += self._host_timer() - start
        self._blocks.append((first, self.queue.barrier()))

    @property
    def host_time(self) -> float:
        """Seconds that the blocks took on the host."""
        return self._host_time

    @property
    def device_time(self) -> float:
        """Seconds from the end of the work before the blocks to the end of theirs; waits for it."""
        while self._blocks:
            first, last = self._blocks[0]
            _core._wait_any([last], None, "Timer")
            self._device_time += max(last.profiling["start"] - first.profiling["end"], 0) / 1e9
            self._blocks.pop(0)
        return self._device_time

    @property
    def dt(self) -> tuple[float, float]:
        """Both times: host, device."""
        return self.host_time, self.device_time
