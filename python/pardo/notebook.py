# python/pardo/notebook.py: what notebooks show beside the cells: a panel of devices.
"""Widgets for notebooks. ``pip install pardo[notebook]`` installs what they need; ``%load_ext pardo`` needs IPython alone."""

from __future__ import annotations

import math as _math
from collections.abc import Iterable as _Iterable
from typing import Any as _Any

from pardo._base import public_names as _public_names
from pardo._base.arguments import DeviceLike as _DeviceLike
from pardo._base.arguments import device_of as _device_of
from pardo._runtime.devices import get_devices as _get_devices

__all__ = ["panel"]


def panel(devices: _DeviceLike | _Iterable[_DeviceLike] = None, *, interval: float = 1.0) -> _Any:
    """Make a panel of devices: their memory, how busy they are, and the unfinished work of their queues.

    Parameters
    ----------
    devices : Device, str, or iterable of these, optional
        Which; a string may be any selection string of one device. Default: all that are visible, whose drivers are loaded for that, and
        all that come into use, such as parts of a processor.
    interval : float
        Seconds between two looks; at least 0.1.

    Returns
    -------
    ipywidgets.VBox
        A widget, which a cell shows where it is the last line. Its `close` ends the looks, as its last reference does.

    Raises
    ------
    ImportError
        ipywidgets is not installed.
    TypeError
        `devices` are no devices, or `interval` is not a number.
    ValueError
        There is no such device, or `interval` is less than 0.1 or not finite.

    See Also
    --------
    pardo.memory_stats, pardo.profile

    Notes
    -----
    The load is the share of the last twenty looks at which a queue of the device had unfinished work. It says nothing of how many cores are
    busy. Devices that nothing has used are not asked for their memory.

    Examples
    --------
    >>> import pardo as pp                         # doctest: +SKIP
    >>> pp.notebook.panel("cpu", interval=0.5)     # doctest: +SKIP
    """
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        raise TypeError(f"panel: interval is a number of seconds, not {type(interval).__name__}")
    if not 0.1 <= interval < _math.inf:
        raise ValueError(f"panel: interval is {interval}; it must be at least 0.1 seconds")
    try:
        from pardo._notebook.panel import DevicePanel
    except ImportError as error:
        raise ImportError(f"pardo.notebook.panel needs ipywidgets: pip install 'pardo[notebook]' ({error})") from None
    if devices is None:
        chosen = _get_devices()
    elif isinstance(devices, _Iterable) and not isinstance(devices, str):
        chosen = [_device_of(d, "panel") for d in devices]
    else:
        chosen = [_device_of(devices, "panel")]
    return DevicePanel([d.without_queue for d in chosen], devices is None, float(interval))


_public_names.publish_module(globals())
