# python/pardo/_ipc/memory.py: memory of the host that processes share: what this process has made or opened, by address.
from __future__ import annotations

import mmap
import os
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._base.forks import held_lock
from pardo._ipc import files

_lock = held_lock()


class Segment:
    """A file in memory that is mapped here. Arrays over it keep `map`, and with it the file open."""

    def __init__(self, map_: mmap.mmap, fd: int, size: int, inode: int) -> None:
        self.map = weakref.ref(map_, lambda _: _forget(self))
        self.fd, self.size, self.inode = fd, size, inode
        self.low = bytes_of(map_).__array_interface__["data"][0]


# By the file's number. One memory is one mapping, also of those who may not write it: which arrays share elements is known by addresses.
_segments: dict[int, Segment] = {}


def _forget(segment: Segment) -> None:
    with _lock:
        if _segments.get(segment.inode) is segment:
            del _segments[segment.inode]


def bytes_of(map_: mmap.mmap) -> NDArray[np.uint8]:
    """The bytes of a mapping, as an array that keeps it."""
    return np.frombuffer(map_, np.uint8)


def _mapped(fd: int, size: int) -> mmap.mmap:
    """The mapping of a file, known from now on; the descriptor goes with it."""
    try:
        map_ = mmap.mmap(fd, size)
        segment = Segment(map_, fd, size, files.place_of(fd)["inode"])
        files.close_with(map_, fd)
    except BaseException:
        os.close(fd)
        raise
    with _lock:
        known = _segments.get(segment.inode)
        other = known.map() if known is not None else None
        if other is not None:  # another thread was first
            return other
        _segments[segment.inode] = segment
    return map_


def make(size: int) -> mmap.mmap:
    """Memory of at least so many bytes, for this process and others."""
    size = max(1, -(-size // mmap.PAGESIZE)) * mmap.PAGESIZE
    return _mapped(files.make(size), size)


def find(low: int, high: int) -> tuple[Segment, mmap.mmap] | None:
    """What holds a range of addresses; nothing for memory of this process alone."""
    with _lock:
        for segment in _segments.values():
            map_ = segment.map()
            if map_ is not None and segment.low <= low and high <= segment.low + segment.size:
                return segment, map_
    return None


def open_segment(place: files.Place, size: int) -> mmap.mmap:
    """What a handle names: mapped already, or from now on."""
    with _lock:
        known = _segments.get(place["inode"])
        map_ = known.map() if known is not None else None
    if known is not None and map_ is not None and place["boot"] == files.place_of(known.fd)["boot"] and size <= known.size:
        return map_
    fd = files.open_at(place, True, size, "from_ipc")
    return _mapped(fd, os.fstat(fd).st_size)


def elements(map_: mmap.mmap, facts: dict[str, Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The elements of a handle in the memory that it names."""
    found: NDArray[Any] = np.ndarray(facts["shape"], dtype, map_, facts["offset"], facts["strides"])
    found.flags.writeable = facts["writable"]
    return found
