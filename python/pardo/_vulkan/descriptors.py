# python/pardo/_vulkan/descriptors.py: what a file descriptor is, before a driver is asked about it.
"""Drivers take any number for a handle, and what they do with a wrong one is theirs to decide. So descriptors are looked at first."""

from __future__ import annotations

import os
import stat

from pardo import _core

MEMORY_IN_FILES = "/memfd:"
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a disk"}
_NO_DRIVERS = (1, 4, 5, *range(136, 144))  # major numbers of /dev/null and its like, and of terminals
_OF_THE_KERNEL = ("eventfd", "eventpoll", "timerfd", "signalfd", "inotify", "io_uring")


def check(fd: int, what: str, op_name: str) -> None:
    """Raise ValueError for a descriptor that is closed, or of what no driver makes."""
    if not 0 <= fd < 1 << 31:
        raise ValueError(f"{op_name}: {fd} is not an open file descriptor")
    try:
        found, name = os.fstat(fd), os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        raise ValueError(f"{op_name}: {fd} is not an open file descriptor; Vulkan closes those that it has imported") from None
    kind = stat.S_IFMT(found.st_mode)
    wrong = _KINDS.get(kind)
    if kind == stat.S_IFREG and not name.startswith(MEMORY_IN_FILES):
        wrong = f"a plain file ({name})"
    elif kind == stat.S_IFCHR and os.major(found.st_rdev) in _NO_DRIVERS:
        wrong = f"the device {name}"
    elif name.startswith("anon_inode:") and any(word in name for word in _OF_THE_KERNEL):
        wrong = f"a file of the kernel's ({name})"
    if wrong is not None:
        raise ValueError(f"{op_name}: the descriptor {fd} is {wrong}, and not {what} of a Vulkan driver")


def size_of(fd: int) -> int | None:
    """How large its memory is, where the descriptor tells."""
    found = os.fstat(fd)
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def same(a: int, b: int) -> bool:
    """Whether two descriptors are one memory, as far as the system tells."""
    one, other = os.fstat(a), os.fstat(b)
    if stat.S_ISREG(one.st_mode) and (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino):
        return True
    return _core._same_open_file(a, b)
