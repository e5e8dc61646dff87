# python/pardo/compat/pyopencl/_methods.py: what arrays get by PyOpenCL's names, and how its functions take queues and events.
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from pardo import Array, Event, ExecutionPlacementError, Queue
from pardo._extending import _copy_operand, attach

_get, _copy, _astype, _fill = Array.get, Array.copy, Array.astype, Array.fill


def awaited(wait_for: Iterable[Event] | None) -> None:
    """Waits for events, which need not be of the arrays."""
    for event in wait_for or ():
        event.wait()


def on(queue: Queue | None, x: Any, op_name: str) -> Any:
    """An array on a queue if one is given: a copy where it is on another one."""
    if queue is not None and not isinstance(queue, Queue):
        raise TypeError(f"{op_name}: queue must be a pardo.Queue, not {type(queue).__name__}")
    return x if queue is None or type(x) is not Array or x.queue == queue else x.to_queue(queue)


def in_place(op_name: str, queue: Queue | None, x: Array) -> Array:
    """An array that is written; only its own queue does so."""
    if queue is not None and not isinstance(queue, Queue):
        raise TypeError(f"{op_name}: queue must be a pardo.Queue, not {type(queue).__name__}")
    if queue is not None and x.queue != queue:
        raise ExecutionPlacementError(f"{op_name}: the array is on {x.queue!r}, and {queue!r} cannot write it; leave the queue away")
    return x


class ArrayNames:
    """PyOpenCL's names of arrays; methods that pardo has too take both forms."""

    __slots__ = ()

    @property
    def context(self: Any) -> Any:
        """The context of its queue."""
        return self.queue.context

    @property
    def events(self: Any) -> list[Event]:
        """What its elements wait for: an event that completes with all work on its queue so far."""
        return [self.queue.barrier(depends=self)]

    def add_event(self: Any, evt: Event) -> None:
        """Let later work on its queue wait for an event."""
        if not isinstance(evt, Event):
            raise TypeError(f"add_event: an event is expected, not {type(evt).__name__}")
        self.queue.barrier(depends=evt)

    def finish(self: Any) -> None:
        """Wait for its elements."""
        self.wait()

    def with_queue(self: Any, queue: Queue | None) -> Any:
        """Give the array on a queue: itself on its own one and for None, else a copy, which is read-only.

        Parameters
        ----------
        queue : Queue or None
            The queue. Arrays of pardo always have one.

        Returns
        -------
        Array
            The array, or its values as they are now: PyOpenCL's would share their memory, so writing to a copy is refused.

        Raises
        ------
        TypeError
            `queue` is no queue.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> x, other = pp.arange(3), pp.Queue("cpu")
        >>> x.with_queue(None) is x, x.with_queue(other).queue == other
        (True, True)
        """
        moved = on(queue, self, "with_queue")
        if moved is self:
            return self
        moved._set_writeable(False)
        return moved

    def set(self: Any, ary: Any, queue: Queue | None = None, async_: bool = False) -> None:
        """Copy an array of NumPy's into this one.

        Parameters
        ----------
        ary : numpy.ndarray
            Of the same dtype and as many elements.
        queue : Queue, optional
            That of the array.
        async_ : bool, optional
            Not used: `ary` may be changed when this returns.

        Raises
        ------
        TypeError
            `ary` is no array of NumPy's, or of another dtype.
        ValueError
            It has another number of elements.

        Examples
        --------
        >>> import numpy as np
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> x = pp.zeros(2)
        >>> x.set(np.ones(2))
        >>> x
        array([1., 1.])
        """
        target = in_place("set", queue, self)
        if not isinstance(ary, np.ndarray) or ary.dtype != self.dtype:
            given = f"of {ary.dtype}" if isinstance(ary, np.ndarray) else type(ary).__name__
            raise TypeError(f"set: an array of NumPy's of {self.dtype} is expected, not {given}")
        if ary.size != self.size:
            raise ValueError(f"set: the array has {self.size} elements, and `ary` {ary.size}")
        target[...] = _copy_operand(ary.reshape(self.shape), ary.dtype, self.queue, "set")

    def get(self: Any, queue: Queue | None = None, ary: Any = None, *, order: str = "C", out: Any = None) -> Any:
        """Copy to an array of NumPy's.

        Parameters
        ----------
        queue : Queue, optional
            PyOpenCL's; the copy waits for the array on whatever queue it is.
        ary : numpy.ndarray, optional
            Where to, PyOpenCL's name.
        order : {'C', 'F', 'A'}, optional
            Of a new array.
        out : numpy.ndarray, optional
            Where to.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        TypeError
            The target is of another dtype.
        ValueError
            It is of another shape.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> x = pp.arange(3)
        >>> x.get(x.queue)
        array([0, 1, 2])
        """
        return _get(self, order=order, out=out if ary is None else ary)

    def get_async(self: Any, queue: Queue | None = None, ary: Any = None) -> tuple[Any, Event]:
        """Copy to an array of NumPy's, and give an event, which is complete already.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> host, event = pp.arange(3).get_async()
        >>> event.wait()
        >>> host
        array([0, 1, 2])
        """
        if ary is not None and not (isinstance(ary, np.ndarray) and (ary.shape, ary.dtype) == (self.shape, self.dtype)):
            raise TypeError(f"get_async: ary must be an array of NumPy's of shape {self.shape} and {self.dtype}")
        return _get(self, out=ary), Event()

    def copy(self: Any, order: Any = "C", *, queue: Queue | None = None) -> Any:
        """Return an array copy of the given object, on its queue or on another one.

        Parameters
        ----------
        order : {'C', 'F', 'A', 'K'} or Queue, optional
            Of the axes; or the queue, PyOpenCL's first argument.
        queue : Queue, optional
            The queue.

        Returns
        -------
        Array

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> x, queue = pp.arange(3), pp.Queue("cpu")
        >>> x.copy(queue).queue == queue
        True
        """
        if order is None or isinstance(order, Queue):
            order, queue = "K", order
        return _copy(on(queue, self, "copy"), order)

    def astype(self: Any, dtype: Any, order: Any = "K", casting: str = "unsafe", **keywords: Any) -> Any:
        """Copy, cast to a dtype; `queue`, PyOpenCL's second argument, may take the place of `order`.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> x = pp.arange(3)
        >>> x.astype("float32", x.queue).dtype
        dtype('float32')
        """
        queue = keywords.pop("queue", None)
        if order is None or isinstance(order, Queue):
            order, queue = "K", order
        return _astype(on(queue, self, "astype"), dtype, order, casting, **keywords)

    def fill(self: Any, value: Any, queue: Queue | None = None, wait_for: Any = None) -> None:
        """Store a number in all elements. As NumPy's, it gives nothing; PyOpenCL's gives the array.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> x = pp.zeros(2)
        >>> x.fill(3, x.queue)
        >>> x
        array([3., 3.])
        """
        awaited(wait_for)
        _fill(in_place("fill", queue, self), value)

    def mul_add(self: Any, selffac: Any, other: Any, otherfac: Any, queue: Queue | None = None) -> Any:
        """Give ``selffac * self + otherfac * other``.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> pp.arange(3).mul_add(2, pp.ones(3), 10)
        array([10., 12., 14.])
        """
        return selffac * on(queue, self, "mul_add") + otherfac * on(queue, other, "mul_add")

    def reverse(self: Any, queue: Queue | None = None) -> Any:
        """Give the elements in reversed order, of all dimensions as of one.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> pp.arange(3).reverse()
        array([2, 1, 0])
        """
        return _copy(on(queue, self, "reverse").ravel()[::-1].reshape(self.shape))

    def setitem(self: Any, subscript: Any, value: Any, queue: Queue | None = None, wait_for: Any = None) -> None:
        """Store elements, as ``self[subscript] = value``.

        Examples
        --------
        >>> import pardo as pp
        >>> import pardo.compat.pyopencl.array
        >>> x = pp.zeros(3)
        >>> x.setitem(slice(1, None), 2)
        >>> x
        array([0., 2., 2.])
        """
        awaited(wait_for)
        target = in_place("setitem", queue, self)
        try:
            target[subscript] = value
        except (IndexError, TypeError, ValueError) as e:
            raise type(e)(f"setitem: {e}") from None


attach(ArrayNames, Array)
