# python/pardo/_plugins/dask_budgets.py: workers of Dask's compute on as many threads as Dask gives them, and take no more memory.
from __future__ import annotations

import importlib
import os
import sys
from typing import Any

MEMORY = "PARDO_MEMORY"
SHARE = 0.8  # of a worker's memory limit: Dask pauses it there, and ends it at 0.95
_THREADS = "PARDO_NUM_THREADS"
_said: list[str] = []


def leave_threads_of_nanny() -> None:
    """In a process that Dask's nanny has started: the nanny sets OMP_NUM_THREADS=1, for libraries that many tasks call at a time. The work
    of tasks on arrays runs one after another on the threads of the device, which would be one. How many a worker has is not known yet."""
    process: Any = getattr(sys.modules.get("multiprocessing.process"), "current_process", lambda: None)()
    if getattr(process, "name", None) == "Dask Worker process (from Nanny)" and _THREADS not in os.environ:
        _say(importlib.import_module("dask.system").CPU_COUNT)


def take_threads(threads: int) -> None:
    """Those of a worker, if the environment of the program does not say it, and no more than there are cores."""
    if os.environ.get(_THREADS) in (None, *_said):
        _say(min(threads, len(os.sched_getaffinity(0))))


def _say(threads: int) -> None:
    _said.append(str(threads))
    os.environ[_THREADS] = str(threads)
