# python/pardo/_runtime/futures.py: events and results as futures and in asyncio; imported at first use, because those modules take long.
from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from pardo import _core
from pardo._base.tracebacks import leave, show_classes

if TYPE_CHECKING:
    from pardo._core import Array, Event


class _Future(concurrent.futures.Future[Any]):
    """A future that acknowledges its event's failure when it is asked for it."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self._event = event

    def _acknowledge(self) -> None:
        if self.done() and not self.cancelled():
            self._event._failure()

    def result(self, timeout: float | None = None) -> Any:
        self._check_thread()
        try:
            return super().result(timeout)
        finally:
            self._acknowledge()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._check_thread()
        try:
            return super().exception(timeout)
        finally:
            self._acknowledge()

    def _check_thread(self) -> None:
        if not self.done() and _core._in_callback():
            raise RuntimeError(
                "Future.result: called in a done-callback, on the thread that completes futures: it would never be complete; "
                "chain the work with depends= or another callback"
            )


def _settle(pair: tuple[_Future, Any]) -> None:
    """Completes a future, on the library's helper thread."""
    future, value = pair
    if not future.set_running_or_notify_cancel():
        return
    failure = future._event._failure(False)
    if failure is not None:
        future.set_exception(failure)
    else:
        future.set_result(future._event._value() if value is None else value)


def future_of(event: Event, value: Any = None) -> concurrent.futures.Future[Any]:
    """A future that resolves to `value`, by default what the work returned."""
    future = _Future(event)
    if event.done():
        _settle((future, value))
    else:
        event._notify(_settle, (future, value))
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
