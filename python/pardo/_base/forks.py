# python/pardo/_base/forks.py: Python locks that are free in a forked child.
from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Any

from pardo import _core

_held: weakref.WeakSet[Any] = weakref.WeakSet()
_renewed: weakref.WeakSet[Any] = weakref.WeakSet()
_taken: list[Any] = []


def held_lock() -> Any:
    """Return a lock that a fork waits for, so that the child finds whole what it guards: no thread waits for another while it has it."""
    lock = threading.RLock()
    _held.add(lock)
    return lock


def renewed_lock() -> Any:
    """Return a lock that is free in a child, whoever had it: users' code runs under it, for which a fork cannot wait."""
    lock = threading.RLock()
    _renewed.add(lock)
    return lock


def _take() -> None:
    """All or none: a thread that has one of them may be waiting for another. Who prints may need one."""
    _core._hold_prints()
    while not all(_taken_now(lock) for lock in list(_held)):
        _let_go()
        time.sleep(0.0001)


def _taken_now(lock: Any) -> bool:
    taken: bool = lock.acquire(blocking=False)
    if taken:
        _taken.append(lock)
    return taken


def _let_go() -> None:
    while _taken:
        _taken.pop().release()


def _go_on() -> None:
    _let_go()
    _core._release_prints()


def _begin() -> None:
    _go_on()
    for lock in list(_renewed):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_go_on, after_in_child=_begin)
