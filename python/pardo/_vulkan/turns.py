# python/pardo/_vulkan/turns.py: the time in which pardo alone uses memory that is Vulkan's too.
from __future__ import annotations

import threading
import weakref
from types import TracebackType
from typing import Any

from pardo import _core
from pardo._core import Array, Event, ExecutionPlacementError, Queue
from pardo._vulkan import memory
from pardo._vulkan.semaphores import pairs

_taken: dict[int, weakref.ref[turn]] = {}  # by the identity of what is shown: the block that it is in
_lock = threading.Lock()


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
        self._inside = self._has_memory = False

    def __enter__(self) -> None:
        op_name = "vulkan.turn"
        if any(memory.shown_elsewhere(shown) for _, shown in self._parts.values()):
            raise ValueError(f"{op_name}: arrays of another call are the same memory; keep one of them, and take views of it")
        for semaphores, verb in ((self._waits, "wait"), (self._signals, "signal")):
            last: dict[int, int] = {}
            for semaphore, value in semaphores:
                _, number = semaphore._checked(verb, value, self._queue)
                if verb == "signal" and id(semaphore) in last and (semaphore.kind == "binary" or number <= last[id(semaphore)]):
                    raise ValueError(
                        f"{op_name}: a semaphore is to be signalled twice, with {last[id(semaphore)]} and {number}; values grow"
                    )
                last[id(semaphore)] = number
        with _lock:
            if self._inside or any(owner() is not None for key in self._parts if (owner := _taken.get(key))):
                raise RuntimeError(f"{op_name}: an array is in another block already; end that first")
            _taken.update(dict.fromkeys(self._parts, weakref.ref(self)))
            self._inside = True
        since: list[Event] = []
        try:
            for semaphore, value in self._waits:
                since.append(semaphore.wait(value, self._queue))
        except BaseException:
            self._leave()
            raise
        for x, _ in self._parts.values():
            _core._take_memory(x, since)
        self._has_memory = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None) -> None:
        if not self._inside:
            raise RuntimeError("vulkan.turn: the block has not begun")
        self._has_memory = False
        try:
            for x, _ in self._parts.values():
                _core._leave_memory(x)
        finally:
            self._leave()
        if error is not None or not self._signals:
            self._finish()
            return
        # Other queues and devices may use the memory too: the signals come after all.
        uses = [event for x, _ in self._parts.values() for event in _core._uses_of_memory(x)]
        if uses:
            self._queue.barrier(depends=uses)
        try:
            for semaphore, value in self._signals:
                semaphore.signal(value, self._queue)
        except BaseException:
            self._finish()
            raise

    def _leave(self) -> None:
        with _lock:
            self._inside = False
            for key in self._parts:
                _taken.pop(key, None)

    def _finish(self) -> None:
        for x, _ in self._parts.values():
            _core._finish_memory(x)

    def __del__(self) -> None:
        if getattr(self, "_has_memory", False):  # a block that was begun by hand, and dropped
            self.__exit__(GeneratorExit, GeneratorExit(), None)
