# python/pardo/scipy/ndimage.py: `pardo.ndimage`, by the name that it has in SciPy: importing this gives that module itself.
from __future__ import annotations

import sys as _sys

from pardo import ndimage as _module
from pardo.ndimage import *  # noqa: F403 (for type checkers)

_sys.modules[__name__] = _module
