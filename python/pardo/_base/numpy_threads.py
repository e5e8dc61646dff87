# python/pardo/_base/numpy_threads.py: imports NumPy so that the idle threads of its OpenBLAS sleep, instead of taking the processors.
"""Each OpenBLAS keeps threads, which after a product look for the next one during 0.1 s without sleeping. In a program that also
computes in another way, with this library or any other, these take the processors from it. ``OPENBLAS_THREAD_TIMEOUT`` is that time, as a
power of two of cycles; OpenBLAS reads it once, while it is loaded. A user's own value is left alone.

NumPy's large products take as long as before (docs/design/performance.md has what others pay).
"""

import os
import sys

from pardo import _core

VARIABLE = "OPENBLAS_THREAD_TIMEOUT"


def _only_thread() -> bool:
    """Tell whether no other thread of Python runs, which could be in one of NumPy's products."""
    threading = sys.modules.get("threading")
    return threading is None or threading.active_count() == 1


def _import_numpy() -> None:
    if VARIABLE in os.environ:
        return
    if "numpy" in sys.modules:
        if _only_thread():
            _core._shorten_openblas_timeouts()
        return
    os.environ[VARIABLE] = _core._openblas_thread_timeout
    try:
        import numpy  # noqa: F401
    finally:
        os.environ.pop(VARIABLE, None)


_import_numpy()
_core._use_openblas_of_numpy()
