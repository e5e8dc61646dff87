# python/pardo/_data/tables.py: which memory of the host has a copy on a device, and the parts of that copy that views of the host name.
"""One table a device: entries by address range. Who changes a table holds its lock and puts a new tuple in place; readers need none.
The core looks arrays of Cython's regions up in them (python/bind/kernel/present.cpp)."""

from __future__ import annotations

import contextvars
import functools
import math
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._base.arguments import HOST, DeviceLike, device_of, dtype_of
from pardo._base.promotion import kind_of
from pardo._core import Array, Device, Event, Queue, UserEvent
from pardo._data import present

KEPT = 64  # views of an entry that are remembered
_SWITCH = {"": False, "on": False, "1": False, "off": True, "0": True}


class Block(NamedTuple):
    """What a `with` has entered. The core reads the first two."""

    table: Table
    owner: Any  # who leaves it
    mapped: Any = ()  # mappings, and their entries
    sums: dict[int, int] = {}  # noqa: RUF012 (with check=True: of the bytes of each array, by its place in `mapped`)


# The blocks that this task is in, the innermost last: it says where offloaded functions run.
blocks: contextvars.ContextVar[tuple[Block, ...]] = contextvars.ContextVar("pardo.data", default=())
# What os.environ wraps: a look-up by text costs a third of entering a block.
_environment: Any = getattr(os.environ, "_data", os.environb)
_core._install(
    {
        "get_blocks": blocks.get,
        "set_blocks": blocks.set,
        "environment_of_data": _environment,
        "offload_variable": b"PARDO_OFFLOAD",
    }
)

# Whether what this task runs now is asked to be on the host: then copies on other devices take no argument's place.
on_host: contextvars.ContextVar[bool] = contextvars.ContextVar("pardo.data_on_host", default=False)


class Layout(NamedTuple):
    """The bytes of an array: the first one's address, and extents and strides of axes, the largest stride first, without gaps merged."""

    begin: int
    axes: tuple[tuple[int, int], ...]

    @property
    def end(self) -> int:
        """Behind the last byte."""
        return self.begin + sum((n - 1) * s for n, s in self.axes) + 1

    @property
    def size(self) -> int:
        """How many bytes they are."""
        return math.prod(n for n, _ in self.axes)


def _steps(x: NDArray[Any]) -> tuple[int, list[tuple[int, int, int]]]:
    """The address of the lowest element, and stride, extent and number of each axis that has several elements, the largest stride first."""
    begin, steps = x.__array_interface__["data"][0], []
    for axis, (n, s) in enumerate(zip(x.shape, x.strides, strict=True)):
        if n > 1 and s != 0:
            begin += min(0, (n - 1) * s)
            steps.append((abs(s), n, axis))
    return begin, sorted(steps, reverse=True)


def layout_of(x: NDArray[Any]) -> Layout | None:
    """Where the bytes of an array with elements are; None if elements share memory in other ways than by broadcasting."""
    begin, steps = _steps(x)
    axes = [(x.itemsize, 1)]
    span = x.itemsize
    for s, n, _ in reversed(steps):
        if s < span:
            return None
        span = (n - 1) * s + span
        m, t = axes[-1]
        if s == m * t:
            axes[-1] = (n * m, t)
        else:
            axes.append((n, s))
    return Layout(begin, tuple(reversed(axes)))


def packed(x: NDArray[Any], layout: Layout) -> NDArray[Any]:
    """The bytes of an array as its layout orders them: a view of its memory."""
    return np.lib.stride_tricks.as_strided(
        _bytes_at(x, layout), [n for n, _ in layout.axes], [s for _, s in layout.axes], writeable=x.flags.writeable
    )


def _bytes_at(x: NDArray[Any], layout: Layout) -> NDArray[Any]:
    """The first byte of a layout of the array."""

    class Owner:
        __array_interface__ = {"version": 3, "shape": (1,), "typestr": "|u1", "data": (layout.begin, not x.flags.writeable)}  # noqa: RUF012

    owner = Owner()
    owner.array = x  # type: ignore[attr-defined]
    return np.asarray(owner)


class Entry(_core._PresentEntry):
    """Memory of the host that a device has: a copy of its bytes, or on a device that shares the host's memory the memory itself, if
    elements are aligned."""

    def __init__(self, x: NDArray[Any], layout: Layout, image: Array | None, label: Any) -> None:
        super().__init__(layout.begin, layout.end, image if len(layout.axes) == 1 else None)
        self.array, self.layout, self.image, self.label = x, layout, image, label
        self.nbytes = layout.size
        self.copying: list[Event] = []  # copies of it that were submitted and not waited for
        self.failure: Exception | None = None  # of one of these
        self.launched: list[Event] = []  # what writes it, unless it is complete
        self._views: dict[Any, Array] = {}

    def view(self, x: NDArray[Any], queue: Queue) -> Array | None:
        """What the device has for a part of the memory; None if the part has elements that the entry does not."""
        if self.copying or self.failure is not None:
            self.settle()
        key = (x.__array_interface__["data"][0], x.shape, x.strides, x.dtype)
        found = self._views.get(key)
        if found is None:
            dtype = dtype_of(x.dtype, "data")
            if self.image is None:
                found = _core._share_buffer(x, dtype, queue)
            elif (
                any(s % x.itemsize and n > 1 for s, n in zip(x.strides, x.shape, strict=True))
                and offset_in(self.layout, x) is None
                and len(self.layout.axes) == 1
            ):
                raise ValueError(
                    f"data: {self.label} is mapped as it lies in memory, where elements of {dtype} are not at multiples of their size; "
                    "map the field itself, x['name'], or make the dtype of the records with align=True"
                )
            else:
                found = part_of(self.image, self.layout, x, dtype)
            if found is not None:
                if len(self._views) >= KEPT:
                    for view in self.views():
                        view.wait()
                    self._views.clear()
                self._views[key] = found
        return found

    def views(self) -> list[Array]:
        """What was given for parts of it, unless that was much."""
        return list(self._views.values())

    def settle(self) -> None:
        """Wait for copies that were submitted."""
        while copying := self.copying:
            for event in copying:
                try:
                    event.wait()
                except Exception as error:
                    self.failure = error
                    self.broken = True
            self.copying = [e for e in self.copying if e not in copying]  # another thread may have waited for these too
        if self.failure is not None:
            raise self.failure
        self.ready = True

    def submitted(self, copy: Event) -> None:
        """Remember a copy of it."""
        self.ready = False
        self.copying = [*self.copying, copy]

    def failed(self) -> bool:
        """Whether work that writes it is known to have failed."""
        return self.broken or any(_has_failed(event) for event in self.launched)

    def note(self, event: Event) -> None:
        """Remember a launch that writes it."""
        if len(self.launched) >= KEPT:
            self.launched = [e for e in self.launched if not e.done() or _has_failed(e)][:KEPT]
        self.launched.append(event)


def _has_failed(event: Event) -> bool:
    return event.done() and event._failure(False) is not None


class _Lock:
    """The lock of a table. While a thread holds it, the core does not change the counts of the entries."""

    def __init__(self, table: Table) -> None:
        self._table, self._lock = table, threading.RLock()
        table.held = 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._table.held += 1

    def __exit__(self, *error: object) -> None:
        self._table.held -= 1
        self._lock.release()


class Table(_core._PresentTable):
    """The entries of a device, by their addresses."""

    entries: tuple[Entry, ...]

    def __init__(self, device: Device) -> None:
        self.queue = Queue.of(device)
        super().__init__(self.queue, device._takes_host_memory)
        self.device = device
        self.lock = _Lock(self)

    def put(self, entries: Iterable[Entry]) -> None:
        """Replace the entries."""
        with _tables_lock:
            self._replace(tuple(sorted(entries, key=lambda e: e.layout.begin)))
            now = any(t.entries for t in tables.values())
            if now != present.in_use:
                present.note(now)
                _core._install({"mapped_data": view_on if now else None})

    def add(self, entry: Entry) -> None:
        """One entry more."""
        self.put((*self.entries, entry))

    def remove(self, entry: Entry) -> None:
        """Forget an entry."""
        self.put(e for e in self.entries if e is not entry)

    def view(self, x: NDArray[Any]) -> Array | None:
        """What the device has for an array of the host; None if it is not there."""
        if x.size == 0:
            return _core._empty(list(x.shape), dtype_of(x.dtype, "data"), self.queue)
        entry = self.entry_of(x)
        return None if entry is None else entry.view(x, self.queue)

    def entry_of(self, x: NDArray[Any]) -> Entry | None:
        """The entry whose range holds that of an array with elements."""
        begin, steps = _steps(x)
        found: Entry | None = self.at(begin, begin + sum((n - 1) * s for s, n, _ in steps) + x.itemsize)
        return found


tables: dict[str, Table] = {}
_tables_lock = threading.RLock()


def table_of(device: Device) -> Table:
    """The table of a device; a new one without entries if it has none."""
    with _tables_lock:
        table = tables.get(device.id)
        if table is None:
            table = tables[device.id] = Table(device)
        return table


def offload_is_off() -> bool:
    """Whether the environment variable PARDO_OFFLOAD says that what is for devices runs on the host."""
    if b"PARDO_OFFLOAD" not in _environment:
        return False
    word = os.environ.get("PARDO_OFFLOAD", "").lower()
    if word not in _SWITCH:
        raise ValueError(f"PARDO_OFFLOAD={word}: expected on, 1, off or 0")
    return _SWITCH[word]


def target(device: DeviceLike, op_name: str = "") -> Device:
    """The device that data goes to: as asked, or the default one, or the host where PARDO_OFFLOAD says so."""
    wanted = device_of(device, op_name)
    return Device(HOST) if offload_is_off() else wanted.without_queue


# Who runs the copies of a queue, in their order: each copy keeps it, so that it lasts as long as there are some.
_workers: weakref.WeakValueDictionary[Queue, Queue] = weakref.WeakValueDictionary()


def submitted(queue: Queue, after: list[Event], copy: Callable[[], None]) -> Event:
    """Copy when something else is complete, without waiting for it: who uses the entries next is to wait."""
    with _tables_lock:
        worker = _workers.get(queue)
        if worker is None:
            worker = _workers[queue] = Queue(HOST)
    return worker.host_task(functools.partial(_run, copy, worker), depends=after)


def _run(copy: Callable[[], None], worker: Queue) -> None:
    copy()


class Copies:
    """Copies to a device that a queue makes after something else. Entries of the table wait for them from the first moment on."""

    def __init__(self, queue: Queue, after: Any, op_name: str) -> None:
        self._queue, self._after = queue, _core._events(after, op_name)
        self._copies: list[Callable[[Queue], None]] = []
        self._all_there = UserEvent()
        self.event = Event()

    def add(self, entry: Entry, copy: Callable[[Queue], None]) -> None:
        """Copy the bytes of a new entry."""
        if not self._copies:
            self.event = submitted(self._queue, [*self._after, self._all_there], self._run)
        self._copies.append(copy)
        entry.submitted(self.event)

    def begin(self) -> None:
        """Nothing is added any more."""
        self._all_there.set_complete()

    def _run(self) -> None:
        for copy in self._copies:
            copy(self._queue)


def _after_fork() -> None:
    """The child has locks of its own; who held them is in the parent."""
    global _tables_lock
    _tables_lock = threading.RLock()
    _workers.clear()
    for table in tables.values():
        table.lock = _Lock(table)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# --- parts of an image


def is_addressable(x: NDArray[Any]) -> bool:
    """Whether elements begin at multiples of their size, seen from each other too: those of fields of packed records do not."""
    if x.dtype.names is not None:
        return all(is_addressable(x[name]) for name in x.dtype.names)
    size = x.itemsize
    return x.flags.aligned and not any(s % size and n > 1 for s, n in zip(x.strides, x.shape, strict=True))


def places(layout: Layout, x: NDArray[Any]) -> list[tuple[int, list[tuple[int, int, int]]]] | None:
    """For each axis of a layout where a part of it begins, and its axes along this one: step, extent, number; None if it is no part."""
    begin, steps = _steps(x)
    rest = begin - layout.begin
    found: list[tuple[int, list[tuple[int, int, int]]]] = []
    for n, s in layout.axes:
        start, rest = divmod(rest, s)
        if start >= n:
            return None
        found.append((start, []))
    for stride, extent, axis in (*steps, (1, x.itemsize, -1)):
        k = next((k for k, (_, s) in enumerate(layout.axes) if s <= stride), -1)
        step, left = divmod(stride, layout.axes[k][1])
        if left:
            return None
        found[k][1].append((step, extent, axis))
    for (start, parts), (n, _) in zip(found, layout.axes, strict=True):
        if start + sum((extent - 1) * step for step, extent, _ in parts) >= n:
            return None
    return found


def offset_in(layout: Layout, x: NDArray[Any]) -> int | None:
    """Where an array begins in an image without gaps, in which steps of whole elements lead to all of it; None if it is otherwise."""
    offset: int = x.__array_interface__["data"][0] - layout.begin
    otherwise = len(layout.axes) > 1 or offset % x.itemsize or any(s == 0 or s % x.itemsize for s in x.strides)
    return None if otherwise else offset


def part_of(image: Array, layout: Layout, x: NDArray[Any], dtype: np.dtype[Any]) -> Array | None:
    """The part of an image of a layout that an array of the host names, as a view of the same shape."""
    if (offset := offset_in(layout, x)) is not None:
        return _core._strided(image, dtype, x.shape, x.strides, offset)
    found = places(layout, x)
    if found is None:
        return None
    y = image
    axes: list[int] = []
    for start, parts in found:
        cut = _cut(y, len(axes), start, parts or [(1, 1, -2)])
        if cut is None:
            return None
        y, axes = cut, [*axes, *(axis for _, _, axis in parts or [(1, 1, -2)])]
    y = y._view_as(dtype)  # the last axis is that of the bytes of an element; now it has one
    axes = [axis if axis >= 0 else x.ndim - axis for axis in axes]
    y = _core._permute_dims(y, sorted(range(len(axes)), key=axes.__getitem__))
    axes = sorted(axis for axis in axes if axis < x.ndim)
    if axes:
        y = y[tuple(slice(None, None, -1) if x.strides[axis] < 0 else slice(None) for axis in axes)]
    shape = [n if axis in axes else 1 for axis, n in enumerate(x.shape)]
    y = _core._reshape(y, shape, False)
    return y if y.shape == x.shape else _core._broadcast_to(y, list(x.shape))


def _cut(y: Array, at: int, start: int, parts: list[tuple[int, int, int]]) -> Array | None:
    """Axis `at` of an array made into the axes that steps and extents say, the largest step first."""
    (step, extent, _), *inner = parts
    before = (slice(None),) * at
    if not inner:
        return y[(*before, slice(start, start + (extent - 1) * step + 1, step))]
    span = sum((n - 1) * s for s, n, _ in inner) + 1
    back = max(0, start + extent * step - y.shape[at])  # rows may begin earlier, so that the last one is whole
    if start < back or back + span > step:
        return None
    y = y[(*before, slice(start - back, start - back + extent * step))]
    y = _core._reshape(y, [*y.shape[:at], extent, step, *y.shape[at + 1 :]], False)
    return _cut(y, at + 1, back, inner)


# --- arguments


def host_array(x: Any) -> NDArray[Any] | None:
    """An array of NumPy's of what has a buffer; None for everything else."""
    if isinstance(x, np.ndarray):
        return x
    has_buffer = isinstance(x, (bytearray, memoryview)) or (type(x).__name__ == "array" and hasattr(x, "buffer_info"))
    return np.asarray(x) if has_buffer else None


def view_on(x: Any, queue: Queue) -> Array | None:
    """What the core asks for operands beside an array: the copy on its device."""
    table = tables.get(queue.device.id)
    host = host_array(x)
    found = table.view(host) if table is not None and table.queue == queue and host is not None and kind_of(host.dtype) in "biufc" else None
    return found if host is None or host.size else None


def chosen_table(values: Any, queue: Queue | None) -> Table | None:
    """The table of a call: of its queue, of the arrays among its arguments, or where the first array of the host is that is anywhere:
    on the device of the innermost context of this task, or else on another."""
    queue = queue or next((x.queue for x in values if type(x) is Array), None)
    if queue is not None:
        return tables.get(queue.device.id)
    known = [t for t in tables.values() if not on_host.get() or t.device == Device(HOST)]
    order = [b.table for b in reversed(blocks.get()) if b.table in known] + known
    hosts = [host for host in map(host_array, values) if host is not None and host.size]
    return next((t for host in hosts for t in order if t.entry_of(host) is not None), None)


def used(table: Table, x: Any, entries: list[tuple[Entry, Array]] | None = None) -> Any:
    """What takes the place of an argument: the part of a copy that an array of the host names, or the argument itself."""
    host = host_array(x)
    if host is None:
        return x
    found = table.view(host)
    if found is not None and entries is not None and host.size:
        entry = table.entry_of(host)
        if entry is not None:
            entries.append((entry, found))
    return x if found is None else found


present.begin(view_on)
