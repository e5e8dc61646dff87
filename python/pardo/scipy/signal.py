# python/pardo/scipy/signal.py: `pardo.signal`, by the name that it has in SciPy: importing this gives that module itself.
from __future__ import annotations

import sys as _sys

from pardo import signal as _module
from pardo.signal import *  # noqa: F403 (for type checkers)

_sys.modules[__name__] = _module
