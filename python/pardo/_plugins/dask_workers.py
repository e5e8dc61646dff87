# python/pardo/_plugins/dask_workers.py: what a worker of Dask's does before its first task, and how its tasks end.
from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from typing import Any

from distributed.core import error_message
from pardo._base.arguments import HOST, receive_on_default_device
from pardo._base.records import Records
from pardo._core import Array
from pardo._plugins import dask_budgets, hooks
from pardo._runtime.statistics import set_memory_limit, wait

CORES = "PARDO_DASK_CORES"  # those of the worker, which Dask itself has no setting for


def set_up(worker: Any) -> None:
    """Run on the cores of the worker, take what is sent to its device, and end tasks when their results are there."""
    import dask.array  # noqa: F401  (its tables are wanted before a task is)

    hooks.met()
    cores = os.environ.get(CORES)
    if cores:
        for thread in os.listdir("/proc/self/task"):  # threads that begin later run where the one that begins them does
            os.sched_setaffinity(int(thread), set(map(int, cores.split(","))))
    dask_budgets.take_threads(worker.state.nthreads)
    if dask_budgets.MEMORY not in os.environ and worker.memory_manager.memory_limit:
        set_memory_limit(int(worker.memory_manager.memory_limit * dask_budgets.SHARE), HOST)
    receive_on_default_device()
    executor = worker.executors["default"]
    executor.submit = functools.partial(_submit, executor.submit)


def _submit(submit: Callable[..., Any], function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    return submit(_ended, function, *arguments, **keywords)


def _ended(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """A task, whose result is computed when Dask hears of it: what it is made of may go then, and what fails is the task's failure."""
    message = function(*arguments, **keywords)
    if isinstance(message, dict) and message.get("op") == "task-finished":
        begin = time.time()
        try:
            _wait(message["result"])
            message["stop"] += time.time() - begin
        except Exception as error:
            kept = {name: message[name] for name in ("start", "stop", "thread", "key") if name in message}
            told = {"actual_exception": error, "actual-exception": error}  # Dask has had both names
            return {**error_message(error), **told, **kept, "op": "task-erred"}
    return message


def _wait(value: Any) -> None:
    if isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            _wait(item)
    elif type(value) is Array:
        wait(value)
    elif isinstance(value, Records) and hasattr(value, "wait"):
        value.wait()
