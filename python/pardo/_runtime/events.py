# python/pardo/_runtime/events.py: what events can do, and waiting for the first of several.
from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pardo import _core
from pardo._base.notebook import duration, html_table, mimebundle, shell
from pardo._runtime import native as _native

if TYPE_CHECKING:
    import concurrent.futures
    from types import FrameType

    from pardo._core import Event

__all__ = [
    "as_completed",
    "wait_all",
    "wait_any",
]


def _repr_html(self: Event) -> str:
    """For notebooks: how far it is, how long it waited and took, and with what it failed."""
    rows = [("status", str(self.status))]
    try:
        times = self.profiling if self.done() else {}
    except (ValueError, RuntimeError):  # it has none, or it failed
        times = {}
    if times:
        rows += [
            (name, duration(times[end] - times[begin])) for name, begin, end in (("waited", "queued", "start"), ("took", "start", "end"))
        ]
    failure = self._failure(acknowledge=False) if self.status == "failed" else None
    if failure is not None:
        rows.append(("failure", f"{type(failure).__name__}: {failure}"))
    return html_table(("Event", ""), rows, texts=2)


def _ipython_display(self: Event) -> None:
    """Show it for `display(event)`, and nothing at the end of a cell: a launch is a statement, and how far it is by then tells nothing."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "display" and frame.f_globals.get("__name__", "").startswith("IPython."):
            running = shell()
            if running is not None:
                running.display_pub.publish(data=mimebundle(self), metadata={})
            return
        frame = frame.f_back


def as_future(self: Event) -> concurrent.futures.Future[Any]:
    """Return a future of the work.

    Returns
    -------
    concurrent.futures.Future
        Resolves to what a host task returned or a user event was given, else to None; a failure becomes its exception,
        at each call of `result`. Cancelling it leaves the work and the event as they are.

    Examples
    --------
    >>> import pardo as pp
    >>> x = (pp.arange(3) + 1).force()
    >>> x.event.as_future().result() is None
    True
    """
    from pardo._runtime import futures

    return futures.future_of(self)


def _await(self: Event) -> Generator[Any, None, Any]:
    """Suspend the asyncio task until the work is complete."""
    from pardo._runtime import futures

    yield from futures.completion(self)
    return self._value()


class EventMethods:
    """What Event gets from Python."""

    __slots__ = ()

    _ipython_display_ = _ipython_display
    _repr_html_ = _repr_html
    _repr_mimebundle_ = mimebundle
    as_future = as_future
    __await__ = _await
    from_native = staticmethod(_native.event_from_native)
    to_native = _native.event_to_native


def wait_any(events: Iterable[Any], timeout: float | None = None) -> Any:
    """Wait for the first of several events or arrays.

    Parameters
    ----------
    events : iterable of Event and Array
        Arrays are handed over together.
    timeout : float, optional
        Seconds. Default: no limit.

    Returns
    -------
    Event or Array
        The first in the list that is complete or has failed. Its failure is not raised: ask it with ``wait()``.

    Raises
    ------
    TimeoutError
        None was complete in time; everything goes on.
    ValueError
        There are no events.
    TypeError
        Something is neither an event nor an array.

    See Also
    --------
    wait_all, as_completed

    Examples
    --------
    >>> import pardo as pp
    >>> first, second = pp.UserEvent(), pp.UserEvent()
    >>> second.set_complete()
    >>> pp.wait_any([first, second]) is second
    True
    >>> first.set_complete()
    """
    items = _listed(events, "wait_any")
    first = _core._wait_any(_all_events(items, "wait_any"), timeout, "wait_any")
    if first < 0:
        raise TimeoutError(f"wait_any: none of {len(items)} was complete in time; they go on")
    return items[first]


def wait_all(events: Iterable[Any], timeout: float | None = None) -> None:
    """Wait for several events or arrays.

    Parameters
    ----------
    events : iterable of Event and Array
        Arrays are handed over together.
    timeout : float, optional
        Seconds for all of them. Default: no limit.

    Raises
    ------
    TimeoutError
        Not all were complete in time; everything goes on.
    TypeError
        Something is neither an event nor an array.
    Exception
        The failure of the first in the list that failed, when all are complete; those of the others stay with them.

    See Also
    --------
    wait, wait_any, as_completed

    Examples
    --------
    >>> import pardo as pp
    >>> x, y = pp.arange(3) + 1, pp.arange(3) * 2
    >>> pp.wait_all([x, y], timeout=60)
    >>> x, y
    (array([1, 2, 3]), array([0, 2, 4]))
    """
    items = _all_events(_listed(events, "wait_all"), "wait_all")
    if not _core._wait_all(items, timeout):
        raise TimeoutError(f"wait_all: {sum(not e.done() for e in items)} of {len(items)} were not complete in time; they go on")
    for event in items:
        event.wait()


def as_completed(events: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
    """Iterate over events or arrays in the order in which they are complete.

    Parameters
    ----------
    events : iterable of Event and Array
        Arrays are handed over together.
    timeout : float, optional
        Seconds from now for all of them. Default: no limit.

    Returns
    -------
    iterator
        Over the same objects. Failures are not raised: ask each with ``wait()``.

    Raises
    ------
    TimeoutError
        Not all were complete in time; everything goes on.
    TypeError
        Something is neither an event nor an array.

    See Also
    --------
    wait_all, wait_any

    Examples
    --------
    >>> import pardo as pp
    >>> arrays = [pp.arange(3) + i for i in range(3)]
    >>> sum(int(x.sum()) for x in pp.as_completed(arrays))
    18
    """
    items = _listed(events, "as_completed")
    return _completed(items, _all_events(items, "as_completed"), None if timeout is None else time.monotonic() + timeout)


def _completed(items: list[Any], events: list[Event], end: float | None) -> Iterator[Any]:
    total = len(items)
    while events:
        left = None if end is None else end - time.monotonic()
        first = _core._wait_any(events, left, "as_completed")
        if first < 0:
            raise TimeoutError(f"as_completed: {len(events)} of {total} were not complete in time; they go on")
        events.pop(first)
        yield items.pop(first)


def _listed(events: Iterable[Any], op_name: str) -> list[Any]:
    if type(events) is _core.Array or not isinstance(events, Iterable):
        raise TypeError(f"{op_name}: a list of events and arrays is expected, not {type(events).__name__}")
    return list(events)


def _all_events(items: list[Any], op_name: str) -> list[Event]:
    arrays = [x for x in items if type(x) is _core.Array]
    if arrays:
        _core._force(arrays)
    return _core._events(items, op_name)
