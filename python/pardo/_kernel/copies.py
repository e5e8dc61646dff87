# python/pardo/_kernel/copies.py: arguments of the host that have copies on a device (pardo.data): these take their place.
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._compiler import structs
from pardo._core import Array, Event, Queue
from pardo._data import tables
from pardo._data.tables import Entry

WRITES = 2  # of ArgumentUse in include/pardo/kernel.h
Parts = list[tuple[Entry, Array]]  # what has taken the place of arguments, and whose parts they are


def on_device(arguments: tuple[Any, ...], queue: Queue | None = None, kept: tuple[type, ...] = ()) -> tuple[tuple[Any, ...], Parts]:
    """The arguments of a call with copies in place of what the host has; all are on one device. Those of the types `kept` stay."""
    parts: Parts = []
    table = tables.chosen_table([leaf for a in arguments if not isinstance(a, kept) for leaf in structs.leaves(a)], queue)
    if table is None:
        return arguments, parts
    return tuple(a if isinstance(a, kept) else structs.mapped(a, lambda x: tables.used(table, x, parts)) for a in arguments), parts


def one(value: Any) -> Any:
    """The copy of a single value; itself if it has none."""
    table = tables.chosen_table((value,), None)
    return value if table is None else tables.used(table, value)


def written(op_name: str, arguments: Iterable[Any], uses: Iterable[int]) -> list[NDArray[Any]]:
    """NumPy's arrays that a launch writes by copies. Those that overlap are refused: what is written to one would be lost by the other."""
    found: list[NDArray[Any]] = []
    for x, use in zip(arguments, uses, strict=True):
        if not isinstance(x, np.ndarray) or use < WRITES or any(x is other for other in found):
            continue
        if any(overlap(x, other) for other in found):
            raise ValueError(
                f"{op_name}: two of the NumPy arrays that it writes overlap; each is copied to the device by itself, so what is written to "
                "one would be lost: pass parts of one pardo array, or one NumPy array"
            )
        found.append(x)
    return found


def overlap(x: NDArray[Any], y: NDArray[Any]) -> bool:
    """Whether two arrays share an element, as far as that is found soon."""
    try:
        return np.shares_memory(x, y, max_work=1 << 16)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def launched(launch: Callable[[], Event], parts: Parts, uses: Callable[[], Iterable[tuple[Any, int]]]) -> Event:
    """Launch with copies. What it writes is remembered: a copy of what has failed is not to go back to the host."""

    def entries() -> list[Entry]:
        leaves = [leaf for leaf, use in uses() if use >= WRITES]
        return [entry for entry, part in parts if any(leaf is part for leaf in leaves)]

    try:
        event = launch()
    except BaseException:
        with contextlib.suppress(Exception):  # what it says of wrong arguments it has said
            for entry in entries():
                entry.broken = True
        raise
    for entry in entries():
        entry.note(event)
    return event
