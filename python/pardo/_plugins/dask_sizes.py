# python/pardo/_plugins/dask_sizes.py: how large arrays are, which Dask spills and places by: views count as NumPy's do there.
from __future__ import annotations

import sys
from typing import Any

from pardo._base.records import Records
from pardo._core import Array
from pardo._plugins import hooks


def register(sizeof: Any = None) -> None:
    """Register with `dask.sizeof`, which calls this by its entry point while it is imported itself."""
    sizes: Any = sys.modules["dask.sizeof"].sizeof if sizeof is None else sizeof
    sizes.register(Array, _size)
    sizes.register(Records, _size)


def _size(x: Any) -> int:
    hooks.met()
    return int(x.nbytes)
