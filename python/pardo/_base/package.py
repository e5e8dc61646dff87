# python/pardo/_base/package.py: where the package lies, and which code is its own.
from __future__ import annotations

import os

FOLDER = os.path.dirname(os.path.dirname(__file__))
_INSIDE = os.path.join(FOLDER, "")


def owns(file: str) -> bool:
    """True for the files of this package, as code objects name them."""
    return file.startswith(_INSIDE)
