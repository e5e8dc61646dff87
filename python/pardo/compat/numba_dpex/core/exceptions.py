# python/pardo/compat/numba_dpex/core/exceptions.py: numba-dpex's exceptions, as those that pardo raises.
"""numba-dpex's exceptions: each is the class that pardo raises in its place."""

from __future__ import annotations

from typing import Any

from pardo import ExecutionPlacementError
from pardo._extending import show_module as _show_module
from pardo.compat._names import missing

__all__ = [
    "ExecutionQueueInferenceError",
    "IllegalIntEnumLiteralValueError",
    "InvalidKernelSpecializationError",
    "KernelHasReturnValueError",
]

ExecutionQueueInferenceError = ExecutionPlacementError
KernelHasReturnValueError = InvalidKernelSpecializationError = MissingSpecializationError = TypeError
InvalidKernelLaunchArgsError = UnsupportedKernelArgumentError = TypeError
IllegalRangeValueError = UnsupportedNumberOfRangeDimsError = UnmatchedNumberOfRangeDimsError = ValueError
UnsupportedWorkItemSizeError = UnsupportedGroupWorkItemSizeError = IllegalIntEnumLiteralValueError = ValueError


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {}, "pardo raises TypeError, ValueError, CompileError and ExecutionPlacementError")


_show_module(globals())
