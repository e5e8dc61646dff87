# python/pardo/_plugins/dask_functions.py: functions of dask.array that call NumPy or SciPy by name, whatever the chunks are.
from __future__ import annotations


def register() -> None:
    """Nothing yet."""
