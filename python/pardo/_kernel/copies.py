# python/pardo/_kernel/copies.py: arguments as programs take them: arrays of the host where they are; those that have copies on a device
# (pardo.data) are replaced by these.
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import refuse_masked
from pardo._compiler import structs
from pardo._compiler.structs import Struct
from pardo._core import Array, Event, Queue
from pardo._data import present, tables
from pardo._data.tables import Entry

WRITES = 2  # of ArgumentUse in include/pardo/kernel.h
Parts = list[tuple[Entry, Array]]  # what has taken the place of arguments, and whose parts they are


def on_device(arguments: tuple[Any, ...], queue: Queue | None = None) -> tuple[tuple[Any, ...], Parts]:
    """The arguments of a call with copies in place of what the host has; all are on one device."""
    parts: Parts = []
    table = tables.chosen_table([leaf for a in arguments for leaf in structs.leaves(a)], queue)
    if table is None:
        return arguments, parts
    return tuple(structs.mapped(a, lambda x: tables.used(table, x, parts)) for a in arguments), parts


def one(value: Any) -> Any:
    """The copy of a single value; itself if it has none."""
    table = tables.chosen_table((value,), None)
    return value if table is None else tables.used(table, value)


def launched(launch: Callable[[], Event], parts: Parts, uses: Callable[[], Iterable[tuple[Any, int]]]) -> Event:
    """Launch with copies. What it writes is remembered: a copy of what has failed is not to go back to the host."""

    def written() -> list[Entry]:
        leaves = [leaf for leaf, use in uses() if use >= WRITES]
        return [entry for entry, part in parts if any(leaf is part for leaf in leaves)]

    try:
        event = launch()
    except BaseException:
        with contextlib.suppress(Exception):  # what it says of wrong arguments it has said
            for entry in written():
                entry.broken = True
        raise
    for entry in written():
        entry.note(event)
    return event


def plain(value: Any) -> Any:
    """A number for what may be an array of no dimensions."""
    return value.item() if isinstance(value, (Array, np.ndarray)) and value.ndim == 0 else value


def plain_arguments(captured: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments of a program where all are arrays with dimensions and Python's numbers, which need nothing more; else None."""
    out = []
    for value in captured:
        kind = type(value)
        if kind is np.ndarray and value.ndim and (dtype := value.dtype).kind in "biufc":
            try:
                value = _core._share_buffer(value, dtype, _core.Queue.of(tables.HOST))
            except (TypeError, ValueError):
                return None
        elif not (kind is int or kind is float or (kind is Array and value.ndim)):
            return None
        out.append(value)
    return tuple(out)


def argument(value: Any) -> Any:
    """NumPy's arrays are used where they are, or their copies (`data`); arrays of no dimensions are numbers."""
    kind = type(value)
    if not present.in_use:  # most calls are of these
        if kind is int or kind is float or (kind is Array and value.ndim):
            return value
        if kind is np.ndarray and value.ndim and (dtype := value.dtype).names is None:
            return _core._share_buffer(value, dtype, _core.Queue.of(tables.HOST))
    if present.in_use and not (type(value) is tuple or isinstance(value, Struct)):
        value = one(value)
    if type(value) is Array:
        return value.dtype.type(value.item()) if value.ndim == 0 and value._is_scalar_value() else value
    if isinstance(value, np.ndarray) and not value.dtype.names:
        if type(value) is not np.ndarray:
            refuse_masked(value, "jit")
        if value.ndim == 0:
            return value[()]
        return _core._share_buffer(value, value.dtype, _core.Queue.of(tables.HOST))
    value = structs.as_struct(value)
    return structs.mapped(value, argument) if type(value) is tuple or isinstance(value, (Struct, np.ndarray)) else value
