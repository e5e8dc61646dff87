# python/pardo/_runtime/futures.py: events and results as futures and in asyncio; imported at first use, because those modules take long.
from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from pardo import _core
from pardo._base.tracebacks import leave, show_classes

if TYPE_CHECKING:
    from pardo._core import Array, Event


SLICE = 0.05  # seconds, after which a thread that waits for a future sees that it was cancelled


class _Future(concurrent.futures.Future[Any]):
    """A future that acknowledges its event's failure when it is asked for it."""

    def __init__(self, event: Event, value: Any) -> None:
        super().__init__()
        self._event, self._value = event, value
        self._turns = itertools.count()  # whose is the first one completes it

    def _settle(self) -> None:
        """Complete it, by whichever thread comes first: the helper thread, or one that asks."""
        if next(self._turns) > 0 or not self.set_running_or_notify_cancel():
            return
        failure = self._event._failure(False)
        if failure is not None:
            self.set_exception(failure)
        else:
            self.set_result(self._event._value() if self._value is None else self._value)

    def _wait(self, timeout: float | None) -> float | None:
        """Wait for the event, and give what is left of the time.

        The handler of a signal may come here while this thread holds the lock of another future below, for which the helper thread waits.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self.done() and not self._event.done():
            left = SLICE if end is None else min(end - time.monotonic(), SLICE)
            if left <= 0:
                return 0
            _core._wait_any([self._event], left, "Future.result")
        if self._event.done():
            self._settle()
        return None if end is None else max(end - time.monotonic(), 0)

    def _acknowledge(self) -> None:
        if self.done() and not self.cancelled():
            self._event._failure()

    def result(self, timeout: float | None = None) -> Any:
        self._check_thread()
        try:
            return super().result(self._wait(timeout))
        finally:
            self._acknowledge()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._check_thread()
        try:
            return super().exception(self._wait(timeout))
        finally:
            self._acknowledge()

    def _check_thread(self) -> None:
        if not self.done() and _core._in_callback():
            raise RuntimeError(
                "Future.result: called in a done-callback, on the thread that completes futures: it would never be complete; "
                "chain the work with depends= or another callback"
            )


def _settle(future: _Future) -> None:
    future._settle()


def future_of(event: Event, value: Any = None) -> concurrent.futures.Future[Any]:
    """A future that resolves to `value`, by default what the work returned."""
    future = _Future(event, value)
    if event.done():
        future._settle()
    else:
        event._notify(_settle, future)
    return future


def _resume(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def completion(event: Event) -> Generator[Any, None, None]:
    """Suspends the running task until the event is complete, and raises its failure."""
    if not event._done_soon():
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        token = event._notify_loop(loop.call_soon_threadsafe, _resume, future)
        try:
            yield from future
        finally:
            event._forget(token)
    failure = event._failure()
    if failure is not None:
        raise failure


def await_array(x: Array) -> Generator[Any, None, Array]:
    """`await x`: computes without blocking the loop."""
    x.force()
    yield from completion(x.event)
    return x.wait()


def future_of_array(x: Array) -> concurrent.futures.Future[Array]:
    """`x.as_future()`: what fails at once is in the future too."""
    try:
        x.force()
        event = x.event
    except Exception as failure:
        failed: concurrent.futures.Future[Array] = concurrent.futures.Future()
        failed.set_exception(failure.with_traceback(leave(failure, failure.__traceback__, None)))
        return failed
    return future_of(event, x)


show_classes(__name__)
