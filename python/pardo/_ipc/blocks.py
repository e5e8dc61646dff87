# python/pardo/_ipc/blocks.py: memory of GPUs that other processes open, and how long its owner keeps it for them.
"""The driver says neither who has opened a block nor when he is done. So each block has a file in memory, its guard: those who open the
block hold a shared lock of it, which ends with their process however that ends, and the owner takes the exclusive one before it lets go."""

from __future__ import annotations

import fcntl
import os
import time
import weakref
from typing import Any

from pardo import _core
from pardo._base.forks import held_lock
from pardo._ipc import files

_lock = held_lock()
_LOOKS, _PAUSE_S = 100, 0.001  # at a guard that its owner looks at


def has_names(device: Any) -> bool:
    """Whether its driver names memory for other processes: then it takes no empty name."""
    try:
        _core._open_memory(device, b"")
    except ValueError:
        return True
    except _core.DeviceError:
        return False
    return False


class Named:
    """A block of this process that others may open, kept as long as they have it open, or an array of this process shows it."""

    def __init__(self, name: bytes, base: int) -> None:
        self.name, self.base = name, base
        self.guard = files.make(1)
        self.inode = os.fstat(self.guard).st_ino
        self.kept: dict[int, _core._HeldMemory] = {}
        self.shown: weakref.WeakSet[Any] = weakref.WeakSet()  # what this process itself has opened
        self.process = os.getpid()


_named: dict[tuple[str, int], Named] = {}  # by device and address
_opened: weakref.WeakValueDictionary[int, Opened] = weakref.WeakValueDictionary()  # by the guard's number


def name(x: Any, device: Any, address: int) -> tuple[Named, int, int]:
    """The block that holds an address of an array: it, the place in it, its size."""
    sweep()
    text, offset, size = _core._name_memory(device, address)
    held = _core._HeldMemory(getattr(x, "_memory", x))  # that of records
    with _lock:
        key = (device.id, address - offset)
        block = _named.get(key)
        if block is None or block.process != os.getpid():
            block = _named[key] = Named(text, address - offset)
        block.kept.setdefault(held.number(), held)
    return block, offset, size


def sweep() -> None:
    """Let go of memory that no array shows any more, where no other process has it open."""
    dropped = []  # after the lock
    with _lock:
        for key, block in list(_named.items()):
            used = len(block.shown) > 0 or not all(held.alone() for held in block.kept.values())
            if used or block.process != os.getpid() or not _alone(block.guard):
                continue
            dropped.append(_named.pop(key))
            os.close(block.guard)  # who opens it now finds none; who has just done so looks again when he has the lock
    del dropped


def _alone(guard: int) -> bool:
    """Whether no other process has the block open; then the guard is locked."""
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def own(inode: int) -> Named | None:
    """The block of this process whose guard has that number."""
    with _lock:
        return next((block for block in _named.values() if block.inode == inode and block.process == os.getpid()), None)


class Opened:
    """A block of another process, open here; arrays over it keep this."""

    def __init__(self, device: Any, name: bytes, guard: int) -> None:
        self.device, self.guard = device, guard
        try:
            self.address: int = _core._open_memory(device, name)
        except BaseException:
            os.close(guard)
            raise
        weakref.finalize(self, _close, device, self.address, guard, os.getpid()).atexit = False


def _close(device: Any, address: int, guard: int, process: int) -> None:
    if os.getpid() == process:  # a forked child has the descriptor too, and no device
        _core._close_memory(device, address)
        fcntl.flock(guard, fcntl.LOCK_UN)
    os.close(guard)


def open_block(device: Any, name: bytes, place: files.Place) -> Opened:
    """What a handle names, which stays open as long as the result lives."""
    with _lock:
        known = _opened.get(place["inode"])
        if known is not None:
            return known
    guard = files.open_at(place, False, 1, "from_ipc")
    try:
        for look in range(_LOOKS):
            try:
                fcntl.flock(guard, fcntl.LOCK_SH | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if look + 1 == _LOOKS:
                    raise TimeoutError("from_ipc: the process that made the handle looks at its memory all the time; try again") from None
                time.sleep(_PAUSE_S)
        os.close(files.open_at(place, False, 1, "from_ipc"))  # the owner had not let go when the lock was taken
    except BaseException:
        os.close(guard)
        raise
    opened = Opened(device, name, guard)
    with _lock:
        return _opened.setdefault(place["inode"], opened)
