# python/pardo/compat/dpctl/utils.py: dpctl.utils' names.
"""What follows from queues and kinds of memory of several arrays, by dpctl's names."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from pardo import Device, Event, ExecutionPlacementError
from pardo._extending import publish_module
from pardo.compat._names import missing

__all__ = [
    "ExecutionPlacementError",
    "SequentialOrderManager",
    "get_coerced_usm_type",
    "get_execution_queue",
    "intel_device_info",
    "validate_usm_type",
]

_KINDS = ("device", "shared", "host")  # the first one that an operand has is the result's


def get_execution_queue(qs: Sequence[Any]) -> Any:
    """Give the queue that all are, or None where they differ.

    Examples
    --------
    >>> import pardo.compat.dpctl as dpctl
    >>> queue = dpctl.SyclQueue()
    >>> dpctl.utils.get_execution_queue([queue, queue]) == queue
    True
    """
    return qs[0] if qs and all(q == qs[0] for q in qs) else None


def get_coerced_usm_type(usm_types: Iterable[str]) -> str | None:
    """Give the kind of memory of a result, of those of its operands."""
    given = list(usm_types)
    return next((kind for kind in _KINDS if kind in given), None)


def intel_device_info(dev: Device, /) -> dict[str, int]:
    """Give details of a GPU of Intel's by their names; empty for other devices.

    Parameters
    ----------
    dev : SyclDevice
        The device.

    Returns
    -------
    dict
        What the driver of OpenCL tells: ``'free_memory'`` in bytes. Level Zero's other entries are left out, as dpctl leaves out what a
        device does not know.

    Raises
    ------
    TypeError
        `dev` is not a device.

    Examples
    --------
    >>> import pardo.compat.dpctl as dpctl
    >>> dpctl.utils.intel_device_info(dpctl.SyclDevice("cpu"))
    {}
    """
    if not isinstance(dev, Device):
        raise TypeError(f"intel_device_info: a SyclDevice is expected, not {type(dev).__name__}")
    free = dev.free_memory if dev.type == "gpu" and "Intel" in (dev.vendor or "") else None
    return {} if free is None else {"free_memory": free}


def validate_usm_type(usm_type: Any, /, *, allow_none: bool = True) -> None:
    """Raise unless it is a kind of memory."""
    if usm_type is None and allow_none:
        return
    if not isinstance(usm_type, str):
        raise TypeError(f"usm_type: a text is expected, not {type(usm_type).__name__}")
    if usm_type not in _KINDS:
        raise ValueError(f"usm_type is of {', '.join(map(repr, _KINDS))}, not {usm_type!r}")


class _OrderManager:
    """The events of a queue's work that one thread has put into an order."""

    def __init__(self) -> None:
        self.clear()

    def add_event_pair(self, host_task_ev: Event, comp_ev: Event) -> None:
        """Note work: the event after which its arguments may go, and its own."""
        self._host_tasks.append(host_task_ev)
        self._submitted.append(comp_ev)

    @property
    def submitted_events(self) -> list[Event]:
        """The events that later work is to wait for."""
        return list(self._submitted)

    @property
    def host_task_events(self) -> list[Event]:
        """The events after which arguments may go."""
        return list(self._host_tasks)

    @property
    def num_submitted_events(self) -> int:
        """How many events later work is to wait for."""
        return len(self._submitted)

    @property
    def num_host_task_events(self) -> int:
        """How many events there are after which arguments may go."""
        return len(self._host_tasks)

    def wait(self) -> None:
        """Wait for all of them, and forget them."""
        for event in [*self._submitted, *self._host_tasks]:
            event.wait()
        self.clear()

    def clear(self) -> None:
        """Forget all of them."""
        self._submitted: list[Event] = []
        self._host_tasks: list[Event] = []


class _Managers(threading.local):
    """One manager a queue and thread: ``SequentialOrderManager[queue]``."""

    def __init__(self) -> None:
        self._of: dict[Any, _OrderManager] = {}

    def __getitem__(self, queue: Any) -> _OrderManager:
        return self._of.setdefault(queue, _OrderManager())

    def clear(self) -> None:
        """Forget all managers of this thread."""
        self._of.clear()


SequentialOrderManager = _Managers()


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {}, "pardo has no such name")


publish_module(globals())
