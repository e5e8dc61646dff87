# python/pardo/_base/package.py: where the package lies, and which code is its own.
from __future__ import annotations

import os
import sys

FOLDER = os.path.dirname(os.path.dirname(__file__))
_INSIDE = os.path.join(FOLDER, "")


def owns(file: str) -> bool:
    """True for the files of this package, as code objects name them, and for texts that it writes (_compiler/texts.py)."""
    return file.startswith((_INSIDE, "<pardo: "))


def users_line() -> str:
    """ "file.py:42" of the innermost frame outside of this package; empty without one."""
    frame = sys._getframe(1)
    while frame is not None:
        if not owns(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""
