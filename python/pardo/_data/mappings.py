# python/pardo/_data/mappings.py: arrays of the host enter the table of a device and leave it: what is refused, and what is copied.
from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._base.arguments import refuse_masked
from pardo._base.promotion import kind_of
from pardo._base.sizes import with_bytes
from pardo._core import Array, Queue
from pardo._data.labels import Call, Label
from pardo._data.tables import Copies, Entry, Layout, Table, is_addressable, layout_of, offset_in, packed, part_of, places

TO, FROM = ("to", "tofrom"), ("from_", "tofrom")
KINDS = ("to", "from_", "tofrom", "alloc")  # lists of what is mapped; `release` and `delete` end mappings, `present` asks for one
_BYTES: np.dtype[Any] = np.dtype(np.uint8)


class Mapping(NamedTuple):
    """An array of the host in a list of a call."""

    array: NDArray[Any]
    kind: str
    label: Label | str
    layout: Layout | None  # None without elements
    always: bool


Mapped = list[tuple[Mapping, Entry | None]]

# --- arguments


def host(x: Any, what: str) -> NDArray[Any]:
    """The array of NumPy's that an argument is, or whose buffer it has."""
    refuse_masked(x, what)
    if type(x) is Array:
        raise TypeError(f"{what} is an array of pardo, which is on a device already; data maps memory of the host")
    if not isinstance(x, np.ndarray):
        try:
            x = np.asarray(memoryview(x))
        except TypeError:
            raise TypeError(f"{what} must be a NumPy array or have a buffer, not {type(x).__name__}") from None
    found: NDArray[Any] = x
    if found.dtype.hasobject or (found.dtype.names is None and kind_of(found.dtype) not in "biufc"):
        raise TypeError(f"{what} has elements of dtype {found.dtype}, which are no numbers")
    return found


def mapping(op_name: str, x: NDArray[Any], kind: str, label: Label | str, always: bool = False) -> Mapping:
    """What a call says of one array."""
    if kind in FROM and not x.flags.writeable:
        raise ValueError(f"{op_name}: {label}, is read-only, and cannot be copied back into; map it by `to`")
    layout = layout_of(x) if x.size else None
    if x.size and layout is None:
        raise ValueError(f"{op_name}: {label}, has elements that share memory")
    return Mapping(x, kind, label, layout, always)


def mappings(op_name: str, always: Any, call: Call | None, **lists: Any) -> list[Mapping]:
    """The arrays of all lists, the larger ones first, which may hold the others."""
    every = always if isinstance(always, bool) else None
    chosen = set() if every is not None else {id(x) for x in listed(always, f"{op_name}: always")}
    made = []
    for kind, given in lists.items():
        for k, one in enumerate(listed(given, f"{op_name}: {kind}")):
            x = host(one, f"{op_name}: {kind}[{k}]")
            label = Label(x, kind, k, call, tuple(lists))
            made.append(mapping(op_name, x, kind, label, every or id(one) in chosen))
    if chosen - {id(x) for given in lists.values() for x in given}:
        raise ValueError(f"{op_name}: always: an array that is in no other list")
    return larger_first(made)


def larger_first(made: list[Mapping]) -> list[Mapping]:
    """Arrays in an order in which those that hold others come before them."""
    return sorted(made, key=lambda m: m.layout.begin - m.layout.end if m.layout else 0)


def listed(x: Any, what: str) -> tuple[Any, ...]:
    """The arrays of a list."""
    if isinstance(x, (np.ndarray, bytearray, memoryview, Array)) or not isinstance(x, Iterable):
        raise TypeError(f"{what} must be a sequence of arrays, such as (X,), not {type(x).__name__}")
    return tuple(x)


# --- entering


def _holder(table: Table, planned: list[tuple[Layout, Label | str]], m: Mapping, op_name: str) -> Layout | None:
    """What holds the bytes of an array: an entry of the table, or what the same call has mapped before; None if it is new."""
    assert m.layout is not None
    for layout, label in [*((e.layout, e.label) for e in table.entries), *planned]:
        if m.layout.end <= layout.begin or layout.end <= m.layout.begin:
            continue
        if m.layout.begin < layout.begin or m.layout.end > layout.end:
            within = layout.begin >= m.layout.begin and layout.end <= m.layout.end
            why = "would extend" if within else "overlaps, without being a part of,"
            raise ValueError(f"{op_name}: {m.label}, {why} what is mapped: {label}")
        if part_is_missing(layout, m.array):
            raise ValueError(f"{op_name}: {m.label}, has elements that are not mapped with what holds its memory: {label}")
        return layout
    return None


def part_is_missing(layout: Layout, x: NDArray[Any]) -> bool:
    """Whether an array inside the range of a layout has bytes that are not of it."""
    if offset_in(layout, x) is not None:
        return False
    found = places(layout, x)
    if found is None:
        return True
    # Rows of a part that has several axes along one must be whole: what part_of() finds, tried with an image of nothing.
    return not _is_part(layout, found)


def _is_part(layout: Layout, found: list[tuple[int, list[tuple[int, int, int]]]]) -> bool:
    for (start, parts), (n, _) in zip(found, layout.axes, strict=True):
        for k in range(len(parts) - 1):
            (step, extent, _), inner = parts[k], parts[k + 1 :]
            back = max(0, start + extent * step - n)
            if start < back or back + sum((e - 1) * s for s, e, _ in inner) + 1 > step:
                return False
            start, n = back, step
    return True


def bytes_of(x: NDArray[Any], layout: Layout) -> NDArray[Any]:
    """The bytes of an array in the order of its layout, adjacent."""
    return np.ascontiguousarray(packed(x, layout))


def checksum(x: NDArray[Any]) -> int:
    """Of the bytes of an array."""
    layout = layout_of(x) if x.size else None
    return 0 if layout is None else zlib.crc32(bytes_of(x, layout).data)


def _new_entry(table: Table, m: Mapping, later: Copies | None) -> Entry:
    """The bytes of an array on the device: copied, or not yet written."""
    assert m.layout is not None
    layout, x = m.layout, m.array
    if table.shares and is_addressable(x):
        return Entry(x, layout, None, m.label)
    if m.kind in TO and later is None:
        return Entry(x, layout, _core._copy_buffer(bytes_of(x, layout), _BYTES, table.queue).wait(), m.label)
    image = _core._empty([n for n, _ in layout.axes], _BYTES, table.queue).wait()
    entry = Entry(x, layout, image, m.label)
    if m.kind in TO and later is not None:
        later.add(entry, lambda queue: queue.copy(image, bytes_of(x, layout)).wait())
    return entry


def enter(table: Table, given: list[Mapping], op_name: str, later: Copies | None = None) -> Mapped:
    """Map arrays: all of them, or after a failure none. `later` gets the copies that are not to be waited for."""
    done: Mapped = []
    with table.lock:
        planned: list[tuple[Layout, Label | str]] = []
        for m in given:
            if m.layout is None or m.kind in ("release", "delete"):
                continue
            if _holder(table, planned, m, op_name) is None:
                if m.kind == "present":
                    raise ValueError(f"{op_name}: {m.label}, is not present on {table.device.id}")
                planned.append((m.layout, m.label))
        try:
            for m in given:
                done.append((m, _entered(table, m, later)))
        except BaseException as error:
            for _, entry in reversed(done):
                if entry is not None:
                    entry.count -= 1
                    if entry.count == 0:
                        table.remove(entry)
            if isinstance(error, MemoryError):
                raise _does_not_fit(table, given[len(done)], op_name, error) from None
            raise
    return done


def _does_not_fit(table: Table, m: Mapping, op_name: str, error: MemoryError) -> MemoryError:
    present = "; ".join(f"{e.label} ({with_bytes(e.nbytes)})" for e in table.entries) or "nothing"
    asked = 0 if m.layout is None else m.layout.size
    return MemoryError(f"{op_name}: {m.label}, needs {with_bytes(asked)} on {table.device.id}: {error}. Present there: {present}")


def _entered(table: Table, m: Mapping, later: Copies | None) -> Entry | None:
    """One array more on the device."""
    if m.layout is None:
        return None
    entry: Entry | None = table.at(m.layout.begin, m.layout.end)
    if m.kind in ("release", "delete"):
        return None
    if entry is None:
        entry = _new_entry(table, m, later)
        table.add(entry)
        return entry
    if m.always and m.kind in TO:
        copy_to(table, entry, m.array)
    entry.count += 1
    return entry


def copy_to(table: Table, entry: Entry, x: NDArray[Any], queue: Queue | None = None) -> None:
    """The bytes of an array to the device."""
    part = _part(entry, x)
    layout = layout_of(x)
    assert layout is not None
    if part is not None and queue is not None:
        queue.copy(part, bytes_of(x, layout)).wait()
    elif part is not None:
        part[...] = _core._copy_buffer(bytes_of(x, layout), _BYTES, table.queue)
        part.wait()
    if layout == entry.layout:  # all of it
        entry.broken, entry.launched = False, []


def _part(entry: Entry, x: NDArray[Any]) -> Array | None:
    """The bytes of an array on the device, in the order of its layout; None where the device shares the host's memory."""
    if entry.image is None:
        return None
    layout = layout_of(x)
    assert layout is not None
    part = part_of(entry.image, entry.layout, packed(x, layout), _BYTES)
    assert part is not None
    return part


# --- leaving


def copy_from(entry: Entry, x: NDArray[Any], queue: Queue | None = None) -> None:
    """The bytes of an array back to the host: these alone are written, when all of them are there."""
    part = _part(entry, x)
    if part is None:
        for view in entry.views():
            view.wait()
        return
    part.wait()  # raises what work on it has failed with, before anything is written
    layout = layout_of(x)
    assert layout is not None
    target = packed(x, layout)
    direct = target.flags.c_contiguous
    to = target if direct else np.empty(target.shape, np.uint8)
    if queue is None:
        part._copy_to(to)
    else:
        queue.copy(to, part).wait()
    if not direct:
        target[...] = to


def leave(
    table: Table, mapped: Iterable[tuple[Mapping, Entry | None]], failed: bool, kept: list[str] | None = None
) -> BaseException | None:
    """Undo what was entered, the last first; the first failure of a copy. `kept` gets what is not copied back, because work failed."""
    first: BaseException | None = None
    with table.lock:
        for m, entry in mapped:
            if entry is not None and entry.count > 1 and m.kind != "delete" and not (m.always or entry.copying or entry.failure):
                entry.count -= 1  # it stays
                continue
            if m.kind in ("release", "delete"):
                entry = table.at(m.layout.begin, m.layout.end) if m.layout else None
            if entry is None or entry.count == 0:
                continue
            entry.count = 0 if m.kind == "delete" else entry.count - 1
            try:
                entry.settle()
                if m.kind in FROM and (entry.count == 0 or m.always):
                    if not (failed and entry.failed()):
                        copy_from(entry, m.array)
                    elif kept is not None:
                        kept.append(str(m.label))
                elif entry.count == 0 and entry.image is None:
                    for view in entry.views():
                        view.wait()
            except BaseException as error:
                first = first or error
            if entry.count == 0:
                table.remove(entry)
    return first
