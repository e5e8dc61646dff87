# python/pardo/compat/numba_dpex/core/types/__init__.py: numba-dpex's types, for signatures of kernels.
"""numba-dpex's types: of arrays on devices, queues and events, for the signatures that specialise kernels."""

from __future__ import annotations

import enum
from typing import Any

import pardo as _pp
from pardo._extending import publish_module
from pardo.compat._names import missing
from pardo.compat._queue import SyclQueue
from pardo.compat.numba.core import types as _types
from pardo.compat.numba_dpex.core.exceptions import IllegalIntEnumLiteralValueError

__all__ = ["DpctlSyclEvent", "DpctlSyclQueue", "DpnpNdArray", "IntEnumLiteral", "NdRangeType", "RangeType", "USMNdArray", "usm_ndarray"]
SHORT = [
    "boolean",
    "bool_",
    "uint32",
    "uint64",
    "int32",
    "int64",
    "float32",
    "float64",
    "b1",
    "i4",
    "i8",
    "u4",
    "u8",
    "f4",
    "f8",
    "float_",
    "double",
]
globals().update({name: _types.NUMBERS[name] for name in SHORT})
none, void = _types.none, _types.void


class DpctlSyclQueue(_types.Type):
    """The type of a queue."""

    def __init__(self, sycl_queue: SyclQueue) -> None:
        self._queue = sycl_queue
        device: Any = sycl_queue.sycl_device
        self.sycl_device: str = device.filter_string
        super().__init__(f"DpctlSyclQueue on {self.sycl_device}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DpctlSyclQueue) and self._queue == other._queue

    def __hash__(self) -> int:
        return hash(self._queue)


class DpctlSyclEvent(_types.Type):
    """The type of an event."""

    def __init__(self) -> None:
        super().__init__("DpctlSyclEvent")


class USMNdArray(_types.Array):
    """The type of an array on a device: ``USMNdArray(ndim, layout="C", dtype=None, usm_type="device", device=None, queue=None)``."""

    addrspace = 1

    def __init__(
        self,
        ndim: int,
        layout: str = "C",
        dtype: Any = None,
        usm_type: str = "device",
        device: str | None = None,
        queue: DpctlSyclQueue | None = None,
        readonly: bool = False,
    ) -> None:
        if device is not None and queue is not None:
            raise TypeError("USMNdArray: `device` and `sycl_queue` are exclusive keywords")
        if device is not None and not isinstance(device, str):
            raise TypeError(f"USMNdArray: device is a filter string, not {type(device).__name__}")
        if queue is not None and not isinstance(queue, DpctlSyclQueue):
            raise TypeError(f"USMNdArray: queue is a DpctlSyclQueue, not {type(queue).__name__}")
        super().__init__(_types.NUMBERS["float64"] if dtype is None else dtype, ndim, layout, readonly)
        self.queue = DpctlSyclQueue(SyclQueue._of(_pp.Device(device))) if queue is None else queue
        self.device, self.usm_type = self.queue.sycl_device, usm_type


class DpnpNdArray(USMNdArray):
    """The type of an array of dpnp's: as `USMNdArray`."""


class RangeType(_types.Type):
    """The type of a `Range`."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(f"Range<{ndim}>")


class NdRangeType(_types.Type):
    """The type of an `NdRange`."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(f"NdRange<{ndim}>")


class IntEnumLiteral(_types.Type):
    """The type of the members of a `FlagEnum`."""

    def __init__(self, value: type[enum.IntEnum]) -> None:
        from pardo.compat.numba_dpex.kernel_api.flag_enum import FlagEnum

        if not issubclass(value, FlagEnum):
            raise IllegalIntEnumLiteralValueError(f"IntEnumLiteral: a subclass of FlagEnum is expected, not {value.__name__}")
        super().__init__(f"Literal[IntEnum]({value.__name__})")


usm_ndarray = USMNdArray


def _of_array(x: Any) -> DpnpNdArray:
    found = _types.Array(_types._OF_DTYPE[x.dtype], x.ndim, "C" if x.flags.c_contiguous else "F" if x.flags.f_contiguous else "A")
    return DpnpNdArray(x.ndim, found.layout, found.dtype, x.usm_type, queue=DpctlSyclQueue(SyclQueue(x.queue)))


_types.OF_CLASS[_pp.Array] = _of_array


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {}, "pardo finds types by itself")


publish_module(globals())
