# python/pardo/_array/inspection.py: what the array API asks a namespace about itself, for each device.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo._base.arguments import DeviceLike
from pardo._base.dtypes import isdtype
from pardo._core import Device
from pardo._runtime.devices import get_devices

__all__ = [
    "__array_namespace_info__",
]

_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


class NamespaceInfo:
    """The object that is meant by `__array_namespace_info__()`."""

    def capabilities(self) -> dict[str, Any]:
        """Return what this namespace can do beyond the minimum.

        Returns
        -------
        dict
            'boolean indexing', 'data-dependent shapes', 'max dimensions'.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Device:
        """Return the device of arrays that say nothing about it.

        Returns
        -------
        Device
            That of `device_context` or `set_default_device`, of PARDO_DEVICE, else the CPU.
        """
        return Device()

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, np.dtype[Any]]:
        """Return the default dtypes.

        Parameters
        ----------
        device : Device or str, optional
            The device; those without float64 have float32 and complex64. Default: the default device.

        Returns
        -------
        dict
            'real floating', 'complex floating', 'integral', 'indexing'.
        """
        double = Device(device).has_fp64
        return {
            "real floating": np.dtype("float64" if double else "float32"),
            "complex floating": np.dtype("complex128" if double else "complex64"),
            "integral": np.dtype("int64"),
            "indexing": np.dtype("int64"),
        }

    def dtypes(self, *, device: DeviceLike = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of the standard that a device supports.

        Parameters
        ----------
        device : Device or str, optional
            The device. Default: the default device.
        kind : str or tuple of str, optional
            Those of some kinds, as `isdtype` names them.

        Returns
        -------
        dict
            Names and dtypes.
        """
        d = Device(device)
        all_dtypes = {name: np.dtype(name) for name in _NAMES if d.supports(np.dtype(name))}
        if kind is None:
            return all_dtypes
        return {name: t for name, t in all_dtypes.items() if isdtype(t, kind)}

    def devices(self) -> tuple[Device, ...]:
        """Return the visible devices.

        Returns
        -------
        tuple of Device
            After PARDO_DEVICES.
        """
        return tuple(get_devices())


_info = NamespaceInfo()


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807
    """Return an object that tells about devices, dtypes and capabilities, as the array API standard asks.

    Returns
    -------
    NamespaceInfo
        With the methods capabilities, default_device, default_dtypes, devices, dtypes.
    """
    return _info
