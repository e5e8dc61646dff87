# python/pardo/_data/contexts.py: `with data(...)`: copies of host memory on a device, for as long as a block lasts.
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray
from pardo import _core
from pardo._base.arguments import DeviceLike, device_of, flag, queue_of
from pardo._base.public_names import publish_module
from pardo._base.tracebacks import note
from pardo._core import Device, Event, Queue
from pardo._data import labels, tables
from pardo._data.labels import Call, Label
from pardo._data.mappings import KINDS, checksum, copy_from, copy_to, enter, host, leave, listed, mappings, part_is_missing
from pardo._data.tables import Block, Copies, Entry, Table, blocks, table_of

__all__ = ["data", "enter_data", "exit_data", "is_present", "update_from", "update_to"]


class data(_core._DataBlock):  # noqa: N801 (used like a function)
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
    queue : Queue, optional
        Copies to the device are submitted to this queue, and the block begins at once; the first use of an array waits for its copy.
        Their event is the attribute `event`. With `device`, one of its queues. Default: the block waits for the copies.
    after : Event, Array, or sequence of these, optional
        With `queue`: what the copies wait for.
    check : bool, optional
        Raise RuntimeError at the end of the block if the host has written an array while it was mapped, which a device with memory of its
        own does not see. Arrays are read twice for that. Default: False.

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
        queue: Queue | None = None,
        after: Any = None,
        check: bool = False,
    ) -> None:
        super().__init__()
        self._lists = {"to": to, "from_": from_, "tofrom": tofrom, "alloc": alloc, "present": present, "release": release, "delete": delete}
        self._lists = {kind: listed(x, f"data: {kind}") for kind, x in self._lists.items()}
        self._always = always
        self._queue = None if queue is None else queue_of(device, queue, op_name="data")
        self._device = queue.device if queue is not None else None if device is None else device_of(device, "data")
        if after is not None and queue is None:
            raise TypeError("data: after= goes with queue=: without a queue the block waits for its copies")
        self._after, self._check = after, flag(check, "data: check")
        self._call = labels.caller(1)
        self.event = Event()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Run each call of a function in the block."""

        @functools.wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:
            with self:
                return function(*arguments, **keywords)

        return called

    # Where all is present still and is what it was, the core enters and leaves the block (python/bind/kernel/data_block.cpp).

    def _enter(self) -> Device:
        given = mappings("data", self._always, self._call, **self._lists)
        table = table_of(tables.target(self._device))
        later = None if self._queue is None or table.shares else Copies(self._queue, self._after, "data")
        try:
            mapped = enter(table, given, "data", later)
        finally:  # after a failure too: another thread may have found an entry
            if later is not None:
                later.begin()
                self.event = later.event
        # A device that shares the host's memory sees what the host writes, and the host what the device writes.
        checked = self._check and not table.shares
        sums = {k: checksum(m.array) for k, (m, _) in enumerate(mapped) if m.kind in KINDS} if checked else {}
        block = Block(table, self, mapped, sums)
        blocks.set((*blocks.get(), block))
        if self._device is not None and later is None and not checked:
            self._keep(block)
        return table.device

    def _keep(self, block: Block) -> None:
        """What the next time may begin with; not where anything is copied although it is present."""
        mapped = block.mapped
        entries = tuple(entry for m, entry in mapped if entry is not None and m.kind in (*KINDS, "present") and not m.always)
        if len(entries) == len(mapped):
            arrays = tuple((m.array, m.array.shape, m.array.strides) for m, _ in mapped)
            self._set_kept(block, block.table.device, entries, arrays)

    def _exit(self, error: BaseException | None) -> None:
        entered = blocks.get()
        at = len(entered) - 1
        while at >= 0 and entered[at].owner is not self:
            at -= 1
        if at < 0:
            raise RuntimeError("data: the block is left, but this thread or task has not entered it, or has left it already")
        frame = entered[at]
        blocks.set(entered[:at] + entered[at + 1 :])
        written = (
            [str(frame.mapped[k][0].label) for k in frame.sums if checksum(frame.mapped[k][0].array) != frame.sums[k]] if frame.sums else []
        )
        unchanged: list[str] = []
        failure = leave(frame.table, reversed(frame.mapped), error is not None, unchanged)
        if failure is None and written and error is None:
            raise RuntimeError(
                f"data: the host has written what was mapped to {frame.table.device.id}, which has not seen it: {'; '.join(written)}. "
                "Call update_to after such a write"
            )
        if error is None:
            if failure is not None:
                raise failure
            return
        for label in unchanged:
            note(error, f"data: {label}, stays as it was on the host: what writes it failed")
        if failure is not None:
            if not isinstance(failure, Exception):
                raise failure
            note(error, f"data: an array could not be copied back: {failure}")


def _seen() -> None:
    """What the host has written is known from here on: contexts that check compare with what is there now."""
    for frame in blocks.get():
        for k in frame.sums:
            frame.sums[k] = checksum(frame.mapped[k][0].array)


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
    table = table_of(tables.target(device, "enter_data"))
    enter(table, mappings("enter_data", always, labels.caller(1), to=to, alloc=alloc), "enter_data")


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
    table = table_of(tables.target(device, "exit_data"))
    given = mappings("exit_data", always, labels.caller(1), from_=from_, release=release, delete=delete)
    with table.lock:
        failure = leave(table, [(m, _there(table, m.array, m.label, "exit_data")) for m in given], False)
    if failure is not None:
        raise failure


def _there(table: Table, x: NDArray[Any], label: Label | str, op_name: str) -> Entry | None:
    """The entry that holds an array; None if it has no elements."""
    if x.size == 0:
        return None
    entry = table.entry_of(x)
    if entry is None or part_is_missing(entry.layout, x):
        raise ValueError(f"{op_name}: {label}, is not present on {table.device.id}")
    return entry


class _Update(NamedTuple):
    """One array of an update, on one device."""

    table: Table
    entry: Entry
    array: NDArray[Any]
    label: Label


def _each(op_name: str, arrays: tuple[Any, ...], device: DeviceLike, queue: Queue | None, after: Any, call: Call) -> list[_Update]:
    """Tables, entries and arrays that updates are for: of a device, or of each one where an array is."""
    if after is not None and queue is None:
        raise TypeError(f"{op_name}: after= goes with queue=: without a queue it waits for the copies")
    if queue is not None:
        device = queue_of(device, queue, op_name=op_name).device
    wanted = None if device is None else table_of(tables.target(device, op_name))
    updates = []
    for k, given in enumerate(arrays):
        x = host(given, f"{op_name}: argument {k}")
        label = Label(x, "argument", k, call)
        found = [wanted] if wanted is not None else [t for t in tables.tables.values() if x.size and t.entry_of(x) is not None]
        if x.size and not found:
            raise ValueError(f"{op_name}: {label}, is not present on any device")
        for table in found:
            entry = _there(table, x, label, op_name)
            if entry is not None:
                updates.append(_Update(table, entry, x, label))
    return updates


def _copied(op_name: str, updates: list[_Update], queue: Queue | None, after: Any, copy: Callable[[_Update], None]) -> Event:
    """Copy arrays now, or on a queue after something else."""

    def run() -> None:
        for update in updates:
            copy(update)

    if queue is not None:
        event = tables.submitted(queue, _core._events(after, op_name), run)
        for update in updates:
            update.entry.submitted(event)
        return event
    for update in updates:
        update.entry.settle()
        with update.table.lock:
            copy(update)
    _seen()
    return Event()


def update_to(*arrays: Any, device: DeviceLike = None, queue: Queue | None = None, after: Any = None) -> Event:
    """Copy arrays of the host to their copies on a device.

    Parameters
    ----------
    *arrays : numpy.ndarray
        Mapped arrays, or views of them.
    device : Device or str, optional
        The device. Default: each one where they are mapped.
    queue : Queue, optional
        The copies are submitted to this queue, and not waited for: the arrays are not to be written before they are complete. Who uses
        the copies next waits for them. Default: they are complete when this returns.
    after : Event, Array, or sequence of these, optional
        With `queue`: what the copies wait for.

    Returns
    -------
    Event
        Completes with the copies.

    Raises
    ------
    ValueError
        An array is not mapped.
    TypeError
        An argument has no buffer of numbers, or `after` is given without `queue`.

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
    ...     event = pp.update_to(x[1:2])
    """
    updates = _each("update_to", arrays, device, queue, after, labels.caller(1))
    return _copied("update_to", updates, queue, after, lambda u: copy_to(u.table, u.entry, u.array, queue))


def update_from(*arrays: Any, device: DeviceLike = None, queue: Queue | None = None, after: Any = None) -> Event:
    """Copy what a device has for arrays of the host back to them.

    Parameters
    ----------
    *arrays : numpy.ndarray
        Mapped arrays, or views of them.
    device : Device or str, optional
        The device. Default: the one where they are mapped.
    queue : Queue, optional
        The copies are submitted to this queue, and not waited for: the arrays have their values when the event is complete. Who uses the
        copies on the device next waits. Default: they are complete when this returns.
    after : Event, Array, or sequence of these, optional
        With `queue`: what the copies wait for.

    Returns
    -------
    Event
        Completes with the copies.

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
    ...     event = pp.update_from(x)
    """
    updates = _each("update_from", arrays, device, queue, after, labels.caller(1))
    where: dict[int, Table] = {}
    for u in updates:
        if not u.array.flags.writeable:
            raise ValueError(f"update_from: {u.label}, is read-only")
        if where.setdefault(id(u.array), u.table) is not u.table:
            raise ValueError(f"update_from: {u.label}, is present on several devices; say which: device=")
    return _copied("update_from", updates, queue, after, lambda u: copy_from(u.entry, u.array, queue))


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
    found = host(x, "is_present: x")
    table = table_of(tables.target(device, "is_present"))
    if found.size == 0:
        return True
    entry = table.entry_of(found)
    return entry is not None and not part_is_missing(entry.layout, found)


publish_module(globals(), "pardo")
