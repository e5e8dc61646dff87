# python/pardo/_runtime/devices.py: finding and choosing devices.
from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable
from typing import NamedTuple

from pardo import _core
from pardo._base.arguments import DeviceLike
from pardo._base.notebook import html_table, mimebundle
from pardo._base.package import FOLDER
from pardo._core import Device
from pardo._runtime import native as _native

__all__ = [
    "Platform",
    "get_devices",
    "get_num_devices",
    "get_platforms",
    "select_device",
    "set_default_device",
]


def package_folders() -> list[str]:
    """Where packages are installed: next to this one, and those of Python's own folders that are searched.

    Not every entry of `sys.path`: there is the folder that `python -m` was called in, and its files may come from anywhere.
    """
    user = [site.USER_SITE] if site.ENABLE_USER_SITE and site.USER_SITE else []
    searched = {os.path.abspath(folder) for folder in sys.path if folder}
    beside = os.path.dirname(os.path.abspath(FOLDER))
    return list(dict.fromkeys([beside, *(f for f in map(os.path.abspath, [*site.getsitepackages(), *user]) if f in searched)]))


def _repr_html(self: Device) -> str:
    """For notebooks: a table of what one chooses a device by."""
    names = ("id", "type", "name", "platform", "max_compute_units", "global_mem_size", "has_fp64", "driver_version")
    rows = [(name, str(getattr(self, name))) for name in names if getattr(self, name) is not None]
    return html_table(("Device", str(self.id)), rows[1:], texts=2)


class DeviceMethods:
    """What Device gets from Python."""

    __slots__ = ()

    _repr_html_ = _repr_html
    _repr_mimebundle_ = mimebundle
    native = property(_native.device_native)


class Platform(NamedTuple):
    """Devices that are reached through one vendor's implementation.

    Attributes
    ----------
    backend : str
        ``'cpu'``, ``'opencl'`` or ``'cuda'``.
    name, vendor, version : str
        What the implementation calls itself.
    devices : tuple of Device
        The visible ones.
    """

    backend: str
    name: str
    vendor: str
    version: str
    devices: tuple[Device, ...]


_GROUP = 256  # items of a group at most


def largest_group(device: Device) -> int:
    """Items of a group, a power of two, where the device has many items."""
    return 1 << (min(_GROUP, device.max_work_group_size or _GROUP).bit_length() - 1)


def group_size(device: Device) -> int:
    """Items of a group, a power of two; 0 where the device wants few items that go through many elements each, as processors do."""
    return 0 if device.type == "cpu" else largest_group(device)


def get_devices(backend: str | None = None, device_type: str | None = None) -> list[Device]:
    """Find devices.

    Parameters
    ----------
    backend : str, optional
        Those of one back end: ``'cpu'``, ``'opencl'``, ``'cuda'``. The libraries of others are not loaded. Default, and ``'all'``: of all.
    device_type : str, optional
        Those of one type: ``'cpu'``, ``'gpu'``, ``'accelerator'``. Default, and ``'all'``: of all.

    Returns
    -------
    list of Device
        The visible ones: the environment variable PARDO_DEVICES filters them. Empty when there is none.

    Raises
    ------
    ValueError
        There is no such back end or type.

    See Also
    --------
    get_platforms, select_device

    Examples
    --------
    >>> import pardo as pp
    >>> [d.id for d in pp.get_devices("cpu")]
    ['cpu:0']
    """
    return _find_devices(backend, device_type, "get_devices")


def _word(text: str | None, op_name: str, name: str, example: str) -> str:
    if not isinstance(text, str | None):
        raise TypeError(f"{op_name}: {name} is a string such as {example!r}, not {type(text).__name__}")
    return (text or "").lower()


def _find_devices(backend: str | None, device_type: str | None, op_name: str) -> list[Device]:
    return _core._get_devices(_word(backend, op_name, "backend", "opencl"), _word(device_type, op_name, "device_type", "gpu"))


def get_num_devices(backend: str | None = None, device_type: str | None = None) -> int:
    """Count devices.

    Parameters
    ----------
    backend, device_type : str, optional
        As for `get_devices`.

    Returns
    -------
    int
        How many of these are visible.

    Raises
    ------
    ValueError
        There is no such back end or type.

    See Also
    --------
    get_devices

    Examples
    --------
    >>> import pardo as pp
    >>> pp.get_num_devices("cpu")
    1
    """
    return len(_find_devices(backend, device_type, "get_num_devices"))


def get_platforms(backend: str | None = None) -> list[Platform]:
    """Find platforms: the implementations through which devices are reached.

    Parameters
    ----------
    backend : str, optional
        Those of one back end. Default, and ``'all'``: of all.

    Returns
    -------
    list of Platform
        Those that have visible devices.

    Raises
    ------
    ValueError
        There is no such back end.

    See Also
    --------
    get_devices

    Examples
    --------
    >>> import pardo as pp
    >>> [(p.name, len(p.devices)) for p in pp.get_platforms("cpu")]
    [('pardo CPU', 1)]
    """
    return [Platform(*facts) for facts in _core._get_platforms(_word(backend, "get_platforms", "backend", "opencl"))]


def select_device(*, required: str | Iterable[str] = (), excluded: str | Iterable[str] = ()) -> Device:
    """Choose the best device that can do what is needed.

    Parameters
    ----------
    required : str or list of str
        Aspects that it must have, by their SYCL names: ``'fp64'``, ``'gpu'``, ``'usm_shared_allocations'``; `Device.aspects` lists
        those of a device.
    excluded : str or list of str
        Aspects that it must not have.

    Returns
    -------
    Device
        GPUs before accelerators before CPUs, then the one with most compute units.

    Raises
    ------
    ValueError
        A name is not an aspect.
    DeviceNotFoundError
        No visible device will do; the message says of each what it lacks.

    See Also
    --------
    get_devices

    Examples
    --------
    >>> import pardo as pp
    >>> pp.select_device(required=["cpu", "fp64"], excluded="gpu").type
    'cpu'
    """
    return _core._select_device(_names(required, "required"), _names(excluded, "excluded"))


def _names(names: str | Iterable[str], what: str) -> list[str]:
    if not isinstance(names, Iterable):
        raise TypeError(f"select_device: {what} must be names of aspects such as 'fp64', not {type(names).__name__}")
    listed = [names] if isinstance(names, str) else list(names)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f"select_device: {what} must be names of aspects such as 'fp64', not {type(name).__name__}")
    return listed


def set_default_device(device: DeviceLike) -> None:
    """Set the device that is taken where none is named, for the whole process.

    Parameters
    ----------
    device : Device, str or None
        The device or a selection string; None goes back to what the process began with: PARDO_DEVICE, else the CPU.

    Raises
    ------
    ValueError
        There is no such device.

    See Also
    --------
    device_context : The same for a part of the program, and for one thread or task only.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.set_default_device("cpu")
    >>> pp.zeros(3).device.id
    'cpu:0'
    >>> pp.set_default_device(None)
    """
    _core._set_default_device(device)
