# python/pardo/_data/contexts.py: `with data(...)`: copies of host memory on a device, for as long as a block lasts.
from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._base.arguments import DeviceLike, device_of, refuse_masked
from pardo._base.public_names import publish_module
from pardo._core import Array
from pardo._data import tables
from pardo._data.tables import Entry, Layout, Table, layout_of, packed, part_of, places, table_of

__all__ = ["data", "enter_data", "exit_data", "is_present", "update_from", "update_to"]

TO, FROM = ("to", "tofrom"), ("from_", "tofrom")


class _Mapping(NamedTuple):
    """An array of the host in a list of a call."""

    array: NDArray[Any]
    kind: str
    label: str
    layout: Layout | None  # None without elements
    always: bool


class _Frame(NamedTuple):
    """What one `with` has entered."""

    owner: Any
    table: Table
    mapped: list[tuple[_Mapping, Entry | None]]
    token: Any


_frames: contextvars.ContextVar[tuple[_Frame, ...]] = contextvars.ContextVar("pardo.data_frames", default=())


# --- arguments


def _host(x: Any, what: str) -> NDArray[Any]:
    """The array of NumPy's that an argument is, or whose buffer it has."""
    refuse_masked(x, what)
    if type(x) is Array:
        raise TypeError(f"{what} is an array of pardo, which is on a device already; data maps memory of the host")
    if not isinstance(x, np.ndarray):
        try:
            x = np.asarray(memoryview(x))
        except TypeError:
            raise TypeError(f"{what} must be a NumPy array or have a buffer, not {type(x).__name__}") from None
    host: NDArray[Any] = x
    if host.dtype.hasobject:
        raise TypeError(f"{what} has elements of dtype {host.dtype}, which are no numbers")
    return host


def _mappings(op_name: str, always: Any, **lists: Any) -> list[_Mapping]:
    """The arrays of all lists, the larger ones first, which may hold the others."""
    every = always if isinstance(always, bool) else None
    chosen = set() if every is not None else {id(x) for x in _listed(always, f"{op_name}: always")}
    made = []
    for kind, listed in lists.items():
        for k, given in enumerate(_listed(listed, f"{op_name}: {kind}")):
            what = f"{op_name}: {kind}[{k}]"
            x = _host(given, what)
            label = f"{kind}[{k}], {x.dtype} of shape {x.shape}"
            if kind in FROM and not x.flags.writeable:
                raise ValueError(f"{op_name}: {label}, is read-only, and cannot be copied back into; map it by `to`")
            layout = layout_of(x) if x.size else None
            if x.size and layout is None:
                raise ValueError(f"{op_name}: {label}, has elements that share memory")
            made.append(_Mapping(x, kind, label, layout, every or id(given) in chosen))
    if chosen - {id(x) for listed in lists.values() for x in listed}:
        raise ValueError(f"{op_name}: always: an array that is in no other list")
    return sorted(made, key=lambda m: m.layout.begin - m.layout.end if m.layout else 0)


def _listed(x: Any, what: str) -> tuple[Any, ...]:
    if isinstance(x, (np.ndarray, bytearray, memoryview, Array)) or not isinstance(x, Iterable):
        raise TypeError(f"{what} must be a sequence of arrays, such as (X,), not {type(x).__name__}")
    return tuple(x)


# --- entering


def _holder(table: Table, planned: list[tuple[Layout, str]], m: _Mapping, op_name: str) -> Layout | None:
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


def _shares(table: Table) -> bool:
    return table.device._takes_host_memory


def _image(table: Table, m: _Mapping) -> Array | None:
    """The bytes of an array on the device: copied, or not yet written."""
    if _shares(table):
        return None
    assert m.layout is not None
    extents = [n for n, _ in m.layout.axes]
    if m.kind not in TO:
        return _core._empty(extents, np.uint8, table.queue)
    return _core._copy_buffer(np.ascontiguousarray(packed(m.array, m.layout)), np.dtype(np.uint8), table.queue).wait()


def _enter(table: Table, mappings: list[_Mapping], op_name: str) -> list[tuple[_Mapping, Entry | None]]:
    """Map arrays: all of them, or after a failure none."""
    done: list[tuple[_Mapping, Entry | None]] = []
    with table.lock:
        planned: list[tuple[Layout, str]] = []
        for m in mappings:
            if m.layout is None or m.kind in ("release", "delete"):
                continue
            if _holder(table, planned, m, op_name) is None:
                if m.kind == "present":
                    raise ValueError(f"{op_name}: {m.label}, is not present on {table.device.id}")
                planned.append((m.layout, m.label))
        try:
            for m in mappings:
                done.append((m, _entered(table, m)))  # noqa: PERF401 (what is done is undone below)
        except BaseException:
            for _, entry in reversed(done):
                if entry is not None:
                    entry.count -= 1
                    if entry.count == 0:
                        table.remove(entry)
            raise
    return done


def _entered(table: Table, m: _Mapping) -> Entry | None:
    """One array more on the device."""
    if m.layout is None:
        return None
    entry = table.at(m.layout.begin, m.layout.end)
    if m.kind in ("release", "delete"):
        return None
    if entry is None:
        entry = Entry(m.array, m.layout, _image(table, m), m.label)
        table.add(entry)
        return entry
    if m.always and m.kind in TO:
        _copy_to(table, entry, m.array)
    entry.count += 1
    return entry


def _copy_to(table: Table, entry: Entry, x: NDArray[Any]) -> None:
    """The bytes of an array to the device."""
    part = _part(table, entry, x)
    if part is not None:
        layout = layout_of(x)
        assert layout is not None
        part[...] = _core._copy_buffer(np.ascontiguousarray(packed(x, layout)), np.dtype(np.uint8), table.queue)
        part.wait()
    if layout_of(x) == entry.layout:  # all of it
        entry.broken, entry.launched = False, []


def _part(table: Table, entry: Entry, x: NDArray[Any]) -> Array | None:
    """The bytes of an array on the device, in the order of its layout; None where the device shares the host's memory."""
    if entry.image is None:
        return None
    layout = layout_of(x)
    assert layout is not None
    part = part_of(entry.image, entry.layout, packed(x, layout), np.dtype(np.uint8))
    assert part is not None
    return part


# --- leaving


def _copy_from(table: Table, entry: Entry, x: NDArray[Any]) -> None:
    """The bytes of an array back to the host: these alone are written, when all of them are there."""
    part = _part(table, entry, x)
    if part is None:
        for view in entry.views():
            view.wait()
        return
    part.wait()  # raises what work on it has failed with, before anything is written
    layout = layout_of(x)
    assert layout is not None
    target = packed(x, layout)
    if target.flags.c_contiguous:
        part._copy_to(target)
    else:
        host = np.empty(target.shape, np.uint8)
        part._copy_to(host)
        target[...] = host


def _leave(table: Table, mapped: Iterable[tuple[_Mapping, Entry | None]], failed: bool) -> BaseException | None:
    """Undo what was entered, the last first; the first failure of a copy."""
    first: BaseException | None = None
    with table.lock:
        for m, entry in mapped:
            if m.kind in ("release", "delete"):
                entry = table.at(m.layout.begin, m.layout.end) if m.layout else None
            if entry is None or entry.count == 0:
                continue
            entry.count = 0 if m.kind == "delete" else entry.count - 1
            try:
                if m.kind in FROM and (entry.count == 0 or m.always) and not (failed and entry.failed()):
                    _copy_from(table, entry, m.array)
                elif entry.count == 0 and entry.image is None:
                    for view in entry.views():
                        view.wait()
            except BaseException as error:
                first = first or error
            if entry.count == 0:
                table.remove(entry)
    return first


class data(contextlib.ContextDecorator):  # noqa: N801 (used like a function)
    """Keep copies of NumPy arrays on a device inside of a `with` block.

    Kernels, jit functions, and functions and operators with an array of pardo beside them, take the copy in place of the array, and
    move nothing. So do they for views of the array.

    Parameters
    ----------
    to : sequence of arrays
        Copied to the device when the block is entered. NumPy arrays of any layout, or objects with a buffer.
    from_ : sequence of arrays
        Copied back when the block is left; undefined on the device before they are written there.
    tofrom : sequence of arrays
        Both.
    alloc : sequence of arrays
        Never copied.
    present : sequence of arrays
        Must be on the device already; never copied.
    release, delete : sequence of arrays
        As for `exit_data`, when the block is left.
    always : bool or sequence of arrays
        Which arrays are copied although they are on the device already, or stay there: all or none, or some of those in the lists.
    device : Device or str, optional
        The device. Default: the default device.

    Returns
    -------
    context manager
        Gives the device. It can be entered again, also inside of itself, and decorates functions.

    Raises
    ------
    ValueError
        Before anything is done: memory overlaps mapped memory of which it is no part, or extends it; a part has elements that the
        mapped array does not have; what is to be copied back is read-only, or elements share memory; an array of `present` is not there;
        there is no such device.
    TypeError
        Something is not a sequence, or has no buffer of numbers.

    See Also
    --------
    enter_data, exit_data, update_to, update_from, is_present

    Notes
    -----
    Each device has one table for the process, by address ranges, with counts, as OpenMP has it for `target data`. What is in a range of the
    table is only counted: nothing is copied, whatever list names it, unless by `always`; it is copied back when the last block that has it
    is left, if that names it in `from_` or `tofrom`. Blocks belong to a thread or a task of asyncio, the table to all of them. On a device
    that shares the memory of the host nothing is copied.

    The block waits for the copies. When it is left by an exception, arrays are copied back that no failed work has written; the others stay
    as they were on the host. A failure that no wait has raised yet is raised at the end of the block.

    While an array is mapped, NumPy's functions and `asarray` see the host's values, which are those of the device after `update_from`.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> @pp.kernel
    ... def double(item: pp.Item, x, y):
    ...     i = item.get_id(0)
    ...     y[i] = 2 * x[i]
    >>> x, y = np.arange(3.0), np.zeros(3)
    >>> with pp.data(to=(x,), from_=(y,)):
    ...     event = double[pp.Range(3)](x, y)
    >>> y
    array([0., 2., 4.])
    """

    def __init__(
        self,
        to: Any = (),
        from_: Any = (),
        tofrom: Any = (),
        alloc: Any = (),
        *,
        present: Any = (),
        release: Any = (),
        delete: Any = (),
        always: Any = False,
        device: DeviceLike = None,
    ) -> None:
        self._lists = {"to": to, "from_": from_, "tofrom": tofrom, "alloc": alloc, "present": present, "release": release, "delete": delete}
        self._lists = {kind: _listed(x, f"data: {kind}") for kind, x in self._lists.items()}
        self._always = always
        self._device = None if device is None else device_of(device, "data")

    def __enter__(self) -> Any:
        mappings = _mappings("data", self._always, **self._lists)
        table = table_of(device_of(None) if self._device is None else self._device)
        mapped = _enter(table, mappings, "data")
        token = tables.devices.set((*tables.devices.get(), table.device.id))
        _frames.set((*_frames.get(), _Frame(self, table, mapped, token)))
        return table.device

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        frames = _frames.get()
        at = next(k for k in reversed(range(len(frames))) if frames[k].owner is self)
        frame = frames[at]
        _frames.set((*frames[:at], *frames[at + 1 :]))
        tables.devices.set(tables.devices.get()[:-1])
        failure = _leave(frame.table, reversed(frame.mapped), error is not None)
        if failure is None:
            return
        if error is None or not isinstance(failure, Exception):
            raise failure
        error.add_note(f"data: an array could not be copied back: {failure}")


def enter_data(to: Any = (), alloc: Any = (), *, always: Any = False, device: DeviceLike = None) -> None:
    """Map arrays to a device until `exit_data` ends it.

    Parameters
    ----------
    to, alloc : sequence of arrays
        As for `data`.
    always : bool or sequence of arrays
        As for `data`.
    device : Device or str, optional
        The device. Default: the default device.

    Raises
    ------
    ValueError, TypeError
        As `data`.

    See Also
    --------
    data, exit_data

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = np.arange(3.0)
    >>> pp.enter_data(to=(x,))
    >>> pp.is_present(x)
    True
    >>> pp.exit_data(release=(x,))
    """
    table = table_of(device_of(device, "enter_data"))
    _enter(table, _mappings("enter_data", always, to=to, alloc=alloc), "enter_data")


def exit_data(from_: Any = (), release: Any = (), delete: Any = (), *, always: Any = False, device: DeviceLike = None) -> None:
    """End mappings of arrays to a device.

    Parameters
    ----------
    from_ : sequence of arrays
        Counted down, and copied back when no other mapping is left.
    release : sequence of arrays
        Counted down.
    delete : sequence of arrays
        Forgotten, whatever the count is.
    always : bool or sequence of arrays
        Which of `from_` are copied back although other mappings are left.
    device : Device or str, optional
        The device. Default: the default device.

    Raises
    ------
    ValueError
        An array is not on the device, or what is to be copied back is read-only.
    TypeError
        Something is not a sequence, or has no buffer of numbers.

    See Also
    --------
    data, enter_data

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = np.arange(3.0)
    >>> pp.enter_data(to=(x,))
    >>> pp.exit_data(from_=(x,))
    >>> pp.is_present(x)
    False
    """
    table = table_of(device_of(device, "exit_data"))
    mappings = _mappings("exit_data", always, from_=from_, release=release, delete=delete)
    with table.lock:
        failure = _leave(table, [(m, _there(table, m.array, m.label, "exit_data")) for m in mappings], False)
    if failure is not None:
        raise failure


def _there(table: Table, x: NDArray[Any], label: str, op_name: str) -> Entry | None:
    """The entry that holds an array; None if it has no elements."""
    if x.size == 0:
        return None
    entry = table.entry_of(x)
    if entry is None or part_is_missing(entry.layout, x):
        raise ValueError(f"{op_name}: {label}, is not present on {table.device.id}")
    return entry


def _each(op_name: str, arrays: tuple[Any, ...], device: DeviceLike) -> Any:
    """Tables, entries and arrays that updates are for: of a device, or of each one where an array is."""
    wanted = None if device is None else table_of(device_of(device, op_name))
    for k, given in enumerate(arrays):
        x = _host(given, f"{op_name}: argument {k}")
        label = f"argument {k}, {x.dtype} of shape {x.shape}"
        found = [wanted] if wanted is not None else [t for t in tables.tables.values() if x.size and t.entry_of(x) is not None]
        if x.size and not found:
            raise ValueError(f"{op_name}: {label}, is not present on any device")
        for table in found:
            entry = _there(table, x, label, op_name)
            if entry is not None:
                yield table, entry, x, label


def update_to(*arrays: Any, device: DeviceLike = None) -> None:
    """Copy arrays of the host to their copies on a device.

    Parameters
    ----------
    *arrays : numpy.ndarray
        Mapped arrays, or views of them.
    device : Device or str, optional
        The device. Default: each one where they are mapped.

    Raises
    ------
    ValueError
        An array is not mapped.
    TypeError
        An argument has no buffer of numbers.

    See Also
    --------
    update_from, data

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = np.zeros(3)
    >>> with pp.data(to=(x,)):
    ...     x[1] = 5
    ...     pp.update_to(x[1:2])
    """
    for table, entry, x, _ in list(_each("update_to", arrays, device)):
        with table.lock:
            _copy_to(table, entry, x)


def update_from(*arrays: Any, device: DeviceLike = None) -> None:
    """Copy what a device has for arrays of the host back to them.

    Parameters
    ----------
    *arrays : numpy.ndarray
        Mapped arrays, or views of them.
    device : Device or str, optional
        The device. Default: the one where they are mapped.

    Raises
    ------
    ValueError
        An array is not mapped, mapped on several devices, or read-only.
    TypeError
        An argument has no buffer of numbers.

    See Also
    --------
    update_to, data

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = np.zeros(3)
    >>> with pp.data(to=(x,)):
    ...     pp.update_from(x)
    """
    found = list(_each("update_from", arrays, device))
    seen: set[int] = set()
    for _, _, x, label in found:
        if not x.flags.writeable:
            raise ValueError(f"update_from: {label}, is read-only")
        if id(x) in seen:
            raise ValueError(f"update_from: {label}, is present on several devices; say which: device=")
        seen.add(id(x))
    for table, entry, x, _ in found:
        with table.lock:
            _copy_from(table, entry, x)


def is_present(x: Any, device: DeviceLike = None) -> bool:
    """Whether a device has a copy of an array of the host, or shares its memory, by `data`.

    Parameters
    ----------
    x : numpy.ndarray
        An array, or a view of one; or an object with a buffer.
    device : Device or str, optional
        The device. Default: the default device.

    Returns
    -------
    bool
        True if all of its elements are mapped; those of an array without elements always are.

    Raises
    ------
    TypeError
        `x` has no buffer of numbers.
    ValueError
        There is no such device.

    See Also
    --------
    data

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = np.zeros(3)
    >>> with pp.data(to=(x,)):
    ...     print(pp.is_present(x[1:]))
    True
    """
    host = _host(x, "is_present: x")
    table = table_of(device_of(device, "is_present"))
    if host.size == 0:
        return True
    entry = table.entry_of(host)
    return entry is not None and not part_is_missing(entry.layout, host)


publish_module(globals(), "pardo")
