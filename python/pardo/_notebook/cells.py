# python/pardo/_notebook/cells.py: what happens around each cell of IPython: failures that nobody saw are reported, long work is shown.
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from pardo import _core
from pardo._base import notebook

_followed: weakref.WeakSet[Any] = weakref.WeakSet()  # shells
_endings: list[list[Callable[[Any], None]]] = []  # of the cells that run: one may run another
_begun = 0  # how many of these began at an event: the one that imports the package has not, if it is a cell at all


def begin() -> None:
    """Follow the cells of the shell in which the package is imported, where IPython runs."""
    running = notebook.shell()
    if running is not None:
        follow(running)


def follow(shell: Any) -> None:
    """From now on each cell of a shell shows what takes long, and reports failures that have been noticed and not observed."""
    if shell in _followed:
        return
    from pardo._notebook import progress

    def begin_any() -> None:
        _endings.append([])
        progress.begin(shell)

    def begin_cell(*_: Any) -> None:
        global _begun
        _begun += 1
        begin_any()

    def end_cell(result: Any = None) -> None:
        global _begun
        _begun = max(_begun - 1, 0)
        try:
            for ending in _endings.pop() if _endings else ():
                ending(result)
        finally:
            progress.begin(shell) if _begun else progress.end()
            _core._report_unseen_failures(False)

    _followed.add(shell)
    shell.events.register("pre_run_cell", begin_cell)
    shell.events.register("post_run_cell", end_cell)
    begin_any()  # the one that imports the package


def at_end(ending: Callable[[Any], None]) -> None:
    """Have something called, with IPython's result, once the cell that runs is over."""
    if not _endings:
        _endings.append([])
    _endings[-1].append(ending)
