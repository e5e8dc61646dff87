# python/pardo/_vulkan/turns.py: the time in which pardo alone uses memory that is Vulkan's too.
from __future__ import annotations

from types import TracebackType
from typing import Any

from pardo import _core
from pardo._core import Array, ExecutionPlacementError, Queue
from pardo._vulkan import memory
from pardo._vulkan.semaphores import pairs

_taken: set[int] = set()  # identities of what is shown in a turn


class turn:  # noqa: N801
    """The time of a `with` block in which pardo alone uses arrays whose memory is Vulkan's too.

    Elsewhere an operation on such an array runs, and is waited for, when it is written down. In the block work with them is recorded,
    fused and submitted as with other arrays. At its end what is pending is submitted. It is waited for, or, where semaphores are to be
    signalled, those are, when it is complete.

    Parameters
    ----------
    *arrays : Array
        That `empty` or `from_handle` made, and views of them, all of one queue.
    wait : (Semaphore, int), Semaphore, or list of them, optional
        What the queue waits for when the block begins: timeline semaphores with values, binary ones alone. Python does not wait.
    signal : (Semaphore, int), Semaphore, or list of them, optional
        What is signalled after the work of the block. Where an exception leaves the block, nothing is signalled, and work is waited for.

    Raises
    ------
    ExecutionPlacementError
        The arrays are of several queues.
    RuntimeError
        When the block begins: an array is in another block, or the block has begun already.
    TypeError
        No array is given, or something else; or as of `Semaphore.wait`.
    ValueError
        The memory of an array is not Vulkan's too; or arrays of two calls of `from_handle` are the same memory; or as of `Semaphore.wait`.

    See Also
    --------
    Semaphore

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.vulkan.empty(1000, device="cpu")
    >>> with pp.vulkan.turn(x):
    ...     x[...] = pp.sqrt(pp.arange(1000.0) + 1)
    >>> float(x[3])
    2.0
    """

    def __init__(self, *arrays: Array, wait: Any = (), signal: Any = ()) -> None:
        op_name = "vulkan.turn"
        if not arrays:
            raise TypeError(f"{op_name}: expected arrays of pp.vulkan.empty or pp.vulkan.from_handle")
        self._parts: dict[int, tuple[Array, memory.Shown]] = {}
        for x in arrays:
            plain: Any = getattr(x, "_memory", x)
            if not isinstance(plain, Array):
                raise TypeError(f"{op_name}: expected arrays, not {type(x).__name__}")
            if x.queue != arrays[0].queue:
                raise ExecutionPlacementError(f"{op_name}: the arrays are on {arrays[0].queue!r} and {x.queue!r}; a block is of one queue")
            if x.size == 0:
                continue
            shown, _ = memory.find(plain, op_name)
            self._parts.setdefault(id(shown), (plain, shown))
        self._queue: Queue = arrays[0].queue
        self._waits, self._signals = pairs(wait, "wait"), pairs(signal, "signal")
        self._inside = False

    def __enter__(self) -> None:
        op_name = "vulkan.turn"
        if self._inside or any(key in _taken for key in self._parts):
            raise RuntimeError(f"{op_name}: an array is in another block already; end that first")
        if any(memory.shown_elsewhere(shown) for _, shown in self._parts.values()):
            raise ValueError(f"{op_name}: arrays of another call are the same memory; keep one of them, and take views of it")
        for semaphores, verb in ((self._waits, "wait"), (self._signals, "signal")):
            for semaphore, value in semaphores:
                semaphore._checked(verb, value, self._queue)
        for semaphore, value in self._waits:
            semaphore.wait(value, self._queue)
        _taken.update(self._parts)
        self._inside = True
        for x, _ in self._parts.values():
            _core._take_memory(x)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None) -> None:
        if not self._inside:
            raise RuntimeError("vulkan.turn: the block has not begun")
        self._inside = False
        try:
            for x, _ in self._parts.values():
                _core._leave_memory(x)
        finally:
            _taken.difference_update(self._parts)
        if error is None and self._signals:
            for semaphore, value in self._signals:
                semaphore.signal(value, self._queue)
            return
        for x, _ in self._parts.values():
            _core._finish_memory(x)
