# python/pardo/_ipc/files.py: files in memory that other processes of the same user open while this one has them open.
"""A file of `memfd_create` has no name that could stay behind, and no mount whose size bounds it; others find it as `/proc/PID/fd/N`."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import weakref
from typing import Any, TypedDict

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW  # so that no mapping of it is cut off


class Place(TypedDict):
    """Where a file is: of which start of which machine, of which processes that see each other, of which of them, and which one."""

    boot: str
    space: int
    process: int
    started: int
    file: int
    inode: int


def make(size: int) -> int:
    """A new file of so many bytes, all zero, that keeps its size; its descriptor."""
    fd = os.memfd_create("pardo", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(fd, size)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    except BaseException:
        os.close(fd)
        raise
    return fd


def place_of(fd: int) -> Place:
    """How others find a file that this process has open."""
    process = os.getpid()
    return {
        "boot": _boot(),
        "space": _space(),
        "process": process,
        "started": _started(process),
        "file": fd,
        "inode": os.fstat(fd).st_ino,
    }


def open_at(place: Place, writable: bool, size: int, op_name: str) -> int:
    """The descriptor of a file that another process has open."""
    if place["boot"] != _boot():
        raise ValueError(f"{op_name}: the handle is of another machine, or of before this one was started; send the array itself there")
    if place["space"] != _space():
        raise ValueError(
            f"{op_name}: the handle is of a process in another container; let both see each other's processes (docker run --pid)"
        )
    process = place["process"]
    gone = FileNotFoundError(
        errno.ENOENT,
        f"{op_name}: process {process}, which made the handle, has ended or let go of the array; it has to keep the array until others "
        "have opened it",
    )
    path = f"/proc/{process}/fd/{place['file']}"
    try:
        there = os.stat(path)  # what else has that number by now is not opened
        if not stat.S_ISREG(there.st_mode) or there.st_ino != place["inode"]:
            raise gone
        fd = os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, ProcessLookupError):
        raise gone from None
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM):
            raise gone from None  # another kind of file has that number by now
        raise PermissionError(
            error.errno, f"{op_name}: process {process} is of another user, or may not be looked into; both need the same user"
        ) from None
    try:
        found = os.fstat(fd)
        same = stat.S_ISREG(found.st_mode) and found.st_ino == place["inode"] and _started(process) == place["started"]
        if not same or fcntl.fcntl(fd, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
            raise gone
        if found.st_size < size:
            raise ValueError(f"{op_name}: the handle is damaged: it names {size} bytes of a file that has {found.st_size}")
    except OSError as error:
        os.close(fd)
        raise gone from (None if error is gone else error)
    except BaseException:
        os.close(fd)
        raise
    return fd


def close_with(holder: Any, fd: int) -> None:
    """Have the descriptor closed when the object goes."""
    weakref.finalize(holder, os.close, fd).atexit = False


def _boot() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _space() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _started(process: int) -> int:
    """When a process was started, so that another one with its number is not taken for it; -1 if there is none."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return -1
