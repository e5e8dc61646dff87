# python/pardo/_plugins/dask_sizes.py: how large arrays are, which Dask spills and places by: views count as NumPy's do there.
from __future__ import annotations

import sys
from typing import Any

from pardo._core import Array


def register() -> None:
    """Register with dask.sizeof."""
    sizeof: Any = sys.modules["dask.sizeof"].sizeof
    sizeof.register(Array, lambda x: int(x.nbytes))
