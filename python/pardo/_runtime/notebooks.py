# python/pardo/_runtime/notebooks.py: in IPython, failures that were not observed come after the cell, those of a shown value at its line.
from __future__ import annotations

import sys
from typing import Any

from pardo import _core


class Raised(dict[str, Any]):
    """What is shown of a value that has failed: it raises the exception in the display itself, so that it comes once and from the cell.

    IPython catches and prints what a method of an object raises, and then asks the next one, for another format. What it does with the
    answer it does not catch.
    """

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception

    def __bool__(self) -> bool:
        raise self.exception.with_traceback(None)


def report_after_cells() -> None:
    """Have each cell report failures that have been noticed and not observed, where IPython runs."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        shell.events.register("post_run_cell", lambda *_: _core._report_unseen_failures(False))
