# python/pardo/_data/present.py: whether any memory of the host has copies on devices, which is asked where arguments are converted.
"""It is read by `import pardo`; the tables are read when a context is entered (tables.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pardo._core import Array, Queue

in_use = False  # whether a table has an entry


def _nothing(x: Any, queue: Queue) -> Array | None:
    return None


view_on: Callable[[Any, Queue], Array | None] = _nothing  # what a queue's device has for an array of the host


def begin(find: Callable[[Any, Queue], Array | None]) -> None:
    """Say what finds copies: the tables, once they are read."""
    global view_on
    view_on = find


def note(now: bool) -> None:
    """Say whether there are copies."""
    global in_use
    in_use = now
