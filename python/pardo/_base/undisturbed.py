# python/pardo/_base/undisturbed.py: handlers of signals wait while something is made that they must not find half done.
from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # without the enumerations of `signal`, which take most of its time
import errno
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType
from typing import Any

_SIGNALS = tuple(sorted(_signal.valid_signals()))
_running = False  # a block, on the main thread


class Undisturbed:
    """A block in which Python runs no handler of a signal: handlers of signals that come meanwhile run at its end.

    A handler runs on the main thread, between two instructions. One that computes would find what the block makes half made, and cannot
    wait for it. Ctrl-C waits too, so blocks are short.
    """

    __slots__ = ("_came", "_handlers")

    def __enter__(self) -> None:
        global _running
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: dict[int, FrameType | None] = {}
        if _running or threading.get_ident() != threading.main_thread().ident:
            return
        try:
            for number in _SIGNALS:
                handler = _signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    _running = True
                    _signal.signal(number, self._note)
        except ValueError:  # a thread that Python does not let have handlers
            self._handlers.clear()
            _running = False
        except BaseException:  # of a handler that has run here
            self._end()
            raise

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came[number] = frame

    def __exit__(self, *error: object) -> None:
        if self._handlers:
            self._end()

    def _end(self) -> None:
        global _running
        failure: BaseException | None = None
        for number, handler in self._handlers.items():
            while _signal.getsignal(number) == self._note:  # a handler that runs here may have set others
                try:
                    _signal.signal(number, handler)
                except BaseException as e:
                    failure = failure or e
        _running = False
        for number, frame in self._came.items():
            try:
                self._handlers[number](number, frame)
            except BaseException as e:
                failure = failure or e
        if failure is not None:
            raise failure


class _Loader(importlib.machinery.SourceFileLoader):
    """Of a module that has been made already."""

    made: ModuleType | None = None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self.made

    def exec_module(self, module: ModuleType) -> None:
        if module is self.made:
            self.made = None
        else:
            super().exec_module(module)


class _Finder:
    """Makes the package's modules undisturbed. Python asks it before it enters a module anywhere, so it makes the module at once."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        if not name.startswith("pardo.") or target is not None:
            return None
        try:
            return _made(name, path)
        except OSError as e:
            if e.errno == errno.ENOMEM:  # where memory ends, Python says so of a folder that it cannot list
                raise MemoryError(f"no memory to read the module {name}") from None
            raise


def _made(name: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module that has run; None of what is no file of Python."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
        return None
    loader = spec.loader = _Loader(name, spec.loader.path)
    with Undisturbed():
        module = importlib.util.module_from_spec(spec)
        spec._initializing = True  # type: ignore[attr-defined]  # other threads wait for it
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        finally:
            spec._initializing = False  # type: ignore[attr-defined]
        if sys.modules.get(name) is module:
            loader.made = module
        else:  # it has put another module in its place, whose spec Python would take: it runs this one again, to the same end
            sys.modules.pop(name, None)
    return spec


def begin() -> None:
    """From now on the package's modules are made undisturbed."""
    if importlib.machinery.PathFinder in sys.meta_path:
        sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), _Finder)
