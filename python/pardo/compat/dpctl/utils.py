# python/pardo/compat/dpctl/utils.py: dpctl.utils' names.
"""What follows from queues and kinds of memory of several arrays, by dpctl's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pardo._base.public_names import publish_module
from pardo._core import ExecutionPlacementError
from pardo.compat._names import missing

__all__ = ["ExecutionPlacementError", "get_coerced_usm_type", "get_execution_queue", "validate_usm_type"]

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


def validate_usm_type(usm_type: Any, /, *, allow_none: bool = True) -> None:
    """Raise unless it is a kind of memory."""
    if usm_type is None and allow_none:
        return
    if not isinstance(usm_type, str):
        raise TypeError(f"usm_type: a text is expected, not {type(usm_type).__name__}")
    if usm_type not in _KINDS:
        raise ValueError(f"usm_type is of {', '.join(map(repr, _KINDS))}, not {usm_type!r}")


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    table = {
        "SequentialOrderManager": "queues order work by what it reads and writes; use events",
        "intel_device_info": "see the attributes of pardo.Device",
    }
    raise missing(__name__, name, table, "pardo has no such name")


publish_module(globals())
