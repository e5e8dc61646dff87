# python/pardo/_notebook/progress.py: a line below a cell that takes long: what is compiled, or which work is unfinished, and for how long.
from __future__ import annotations

import contextvars
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from pardo import _core
from pardo._base.forks import renewed_lock
from pardo._base.notebook import place_in_cells
from pardo._base.undisturbed import Undisturbed

VARIABLE = "PARDO_PROGRESS"
DEFAULT = 2.0  # seconds
_PERIOD = 0.25  # seconds between two looks
_GAP = 1.0  # seconds without anything after which the line goes, and time counts from the start again
_REST = 0.9  # seconds that a line stays before the next one
_LONGEST = 60  # letters of a kernel's name


def _of_environment() -> float | None:
    """Seconds after which something is shown; None: never."""
    text = os.environ.get(VARIABLE)
    if text is None:
        return DEFAULT
    try:
        return seconds_of(text)
    except ValueError as error:
        warnings.warn(f"{VARIABLE}={text}: {error}", RuntimeWarning, stacklevel=2)
        return DEFAULT


def seconds_of(text: str) -> float | None:
    """What a setting says."""
    if text in ("off", "0"):
        return None
    if text == "on":
        return DEFAULT
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e6:
        raise ValueError("expected seconds, on, or off")
    return seconds


class Setting:
    """After how many seconds cells show something; None: never."""

    delay: float | None = None
    _read = False

    def get(self) -> float | None:
        if not self._read:
            self.set(_of_environment())
        return self.delay

    def set(self, delay: float | None) -> None:
        self.delay, self._read = delay, True


setting = Setting()


def under_way() -> tuple[str, float | None] | None:
    """What takes time at this moment, and for how many seconds if that is known; None: nothing."""
    compilations = _core._compilations()
    if compilations:
        name, device, seconds = compilations[0]
        more = f" and {len(compilations) - 1} more" if len(compilations) > 1 else ""
        return f"compiling {name[:_LONGEST]}{more}" + (f" for {device}" if device else ""), seconds
    work = _core._unfinished_work()
    if not work:
        return None
    _, device, _, name, location = work[0]
    others = sum(count for _, _, count, _, _ in work) - 1
    text = f"{name[:_LONGEST] or 'work'} on {device}" + (f" ({place_in_cells(location) or os.path.basename(location)})" if location else "")
    return text + (f" and {others} more" if others else ""), None


class _Notebook:
    """Shows a line by updates of one display."""

    says_compilations = True

    def __init__(self, shell: Any) -> None:
        self._publish = shell.display_pub.publish  # this one, also where a cell captures its output later
        self._transient = {"display_id": f"pardo-progress-{os.urandom(8).hex()}"}
        self._shown = False

    def show(self, line: str) -> None:
        with Undisturbed():
            import html
        texts = {"text/plain": line, "text/html": f"<em>{html.escape(line)}</em>"} if line else {"text/plain": "", "text/html": ""}
        self._publish(data=texts, metadata={}, transient=self._transient, update=self._shown)
        self._shown = True


class _Terminal:
    """Shows a line that is written over. What is compiled the library tells a terminal itself."""

    says_compilations = False

    def show(self, line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{'pardo: ' if line else ''}{line}")
        sys.stderr.flush()


def _way_of(shell: Any) -> Any:
    """How a shell shows a line that changes; None where it cannot."""
    if hasattr(shell, "kernel"):
        return _Notebook(shell)
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    return None


class _Watch:
    """Looks at what is under way, on a thread of its own, for as long as a cell runs."""

    def __init__(self, way: Any, delay: float, look: Callable[[], tuple[str, float | None] | None] = under_way) -> None:
        self._way, self._delay, self._look = way, delay, look
        self._over = threading.Event()
        context = contextvars.copy_context()  # displays belong to the cell by it
        self._thread = threading.Thread(target=context.run, args=(self._run,), name="pardo progress", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        start: float | None = None  # since then something has been under way
        seen = told = 0.0
        shown = ""
        try:
            while not self._over.wait(min(_PERIOD, self._delay)):
                now = time.monotonic()
                found = self._look()
                if found is not None:
                    start, seen = now if start is None else start, now
                elif now - seen > _GAP:
                    start = None
                if found is None or start is None:
                    line = shown if start is not None else ""
                else:
                    line = self._line(*found, now - start)
                if line != shown and (not line or not shown or now - told >= _REST):
                    self._way.show(line)
                    shown, told = line, now
            if shown:
                self._way.show("")
        except Exception:  # the notebook has gone, or the terminal: progress is no reason to end anything
            return

    def _line(self, text: str, seconds: float | None, busy: float) -> str:
        """What is shown of work that is under way, or nothing: too early, or told by others. `seconds`: it alone; `busy`: all."""
        if max(busy, seconds or 0.0) < self._delay or (seconds is not None and not self._way.says_compilations):
            return ""
        return f"{text} … {busy if seconds is None else seconds:.0f} s"


_watch: _Watch | None = None
_lock = renewed_lock()


def begin(shell: Any) -> None:
    """A cell begins."""
    global _watch
    end()
    delay = setting.get()
    way = _way_of(shell) if delay is not None else None
    if way is not None and delay is not None:
        with _lock:
            _watch = _Watch(way, delay)


def end() -> None:
    """The cell is over: what is shown goes."""
    global _watch
    with _lock:
        watch, _watch = _watch, None
    if watch is not None:
        watch.end()
