# python/pardo/scipy/__init__.py: functions by SciPy's names, in modules of SciPy's names; each is read at its first use.
"""Functions by SciPy's names, with its parameters, in modules of SciPy's names.

`ndimage`, `signal`, `sparse` and `special` are the modules of these names in `pardo`; `fft` and `linalg` are others than `pardo.fft` and
`pardo.linalg`, which are NumPy's.
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from pardo._base import absent as _absent
from pardo._base import public_names as _public_names

__all__ = ["fft", "linalg", "ndimage", "signal", "sparse", "special"]

if _TYPE_CHECKING:
    from pardo import ndimage as ndimage
    from pardo import signal as signal
    from pardo import sparse as sparse
    from pardo import special as special
    from pardo.scipy import fft as fft
    from pardo.scipy import linalg as linalg


def __getattr__(name: str) -> _Any:
    """Read the module of that name."""
    if name in __all__:
        return _importlib.import_module(f"pardo.scipy.{name}")
    raise _absent.missing(__name__, name)


def __dir__() -> list[str]:
    """The modules."""
    return __all__


_public_names.answer(globals())
