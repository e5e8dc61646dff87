# python/pardo/compat/dpctl/__init__.py: dpctl's names over pardo's devices, queues, events and memory.
"""dpctl's names: ``import pardo.compat.dpctl as dpctl``.

Devices, contexts and events are pardo's own classes, which get dpctl's attributes when this is imported; so do arrays. Level Zero is not a
back end: Intel's devices are those of their OpenCL drivers.
"""

from __future__ import annotations

import importlib as _importlib
import types as _types
from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

from pardo import Context as _Context
from pardo import Device as SyclDevice
from pardo import DeviceError as _DeviceError
from pardo import Event as SyclEvent
from pardo import Platform as _Platform
from pardo import __version__ as _version
from pardo import device_context as _device_context
from pardo import get_devices as _get_devices
from pardo import get_platforms as _get_platforms
from pardo import select_device as _select_device
from pardo._extending import show_module as _show_module
from pardo.compat import _attributes as _attributes  # gives devices, events and arrays dpctl's names
from pardo.compat import _selectors
from pardo.compat._names import Constructor as _Constructor
from pardo.compat._names import missing as _missing
from pardo.compat._queue import SyclQueue
from pardo.compat._words import backend_type, device_type, event_status_type

__all__ = [
    "SyclContext",
    "SyclContextCreationError",
    "SyclDevice",
    "SyclDeviceCreationError",
    "SyclEvent",
    "SyclKernelSubmitError",
    "SyclPlatform",
    "SyclQueue",
    "SyclQueueCreationError",
    "SyclSubDeviceCreationError",
    "SyclTimer",
    "backend_type",
    "device_context",
    "device_type",
    "event_status_type",
    "get_current_queue",
    "get_devices",
    "get_num_devices",
    "get_platforms",
    "has_accelerator_devices",
    "has_cpu_devices",
    "has_gpu_devices",
    "lsplatform",
    "memory",
    "program",
    "select_accelerator_device",
    "select_cpu_device",
    "select_default_device",
    "select_device_with_aspects",
    "select_gpu_device",
    "tensor",
    "utils",
]

# pardo raises ValueError where it finds no device.
SyclDeviceCreationError = SyclQueueCreationError = SyclContextCreationError = ValueError
SyclSubDeviceCreationError = (ValueError, _DeviceError)  # of what is asked for, and of a device that cannot be cut
SyclKernelSubmitError = _DeviceError
_BACKENDS = {"cpu", "cuda", "opencl"}
_MODULES = ("memory", "program", "tensor", "utils")
_INSTEAD = {
    "SyclKernelInvalidRangeError": "ValueError is raised",
    "get_include": "use pardo.get_include(), the folder of pardo/c_api.h",
    "set_global_queue nullary_nullptr": "queues are arguments: queue=",
}


def _word(value: _Any) -> str | None:
    return None if value is None else str(getattr(value, "value", value)).lower()


def get_devices(backend: _Any = "all", device_type: _Any = "all") -> list[SyclDevice]:
    """Find devices; there are none of back ends that pardo does not have."""
    words = _word(backend), _word(device_type)
    return _get_devices(*words) if words[0] in {*_BACKENDS, "all", None} else []


def get_num_devices(backend: _Any = "all", device_type: _Any = "all") -> int:
    """Count devices."""
    return len(get_devices(backend, device_type))


class SyclContext(metaclass=_Constructor):
    """The class of contexts; called, it makes one.

    Parameters
    ----------
    arg : str, SyclDevice, SyclContext or sequence of str and SyclDevice, optional
        Devices, or a context, which is given back. Default: the default device.

    Raises
    ------
    ValueError
        There is no such device, or the devices are not of one back end.

    Examples
    --------
    >>> import pardo.compat.dpctl as dpctl
    >>> dpctl.SyclContext("cpu").device_count
    1
    """

    _kind = _Context

    @staticmethod
    def _make(arg: _Any = None) -> _Context:
        return arg if isinstance(arg, _Context) else _Context(SyclDevice() if arg is None else arg)


class SyclPlatform(metaclass=_Constructor):
    """The class of platforms; called, it gives one.

    Parameters
    ----------
    arg : str or SyclPlatform, optional
        Selects a device, whose platform is meant. Default: that of the default device.

    Raises
    ------
    ValueError
        No device is selected, or `arg` is something else.

    See Also
    --------
    get_platforms

    Examples
    --------
    >>> import pardo.compat.dpctl as dpctl
    >>> dpctl.SyclPlatform("cpu") in dpctl.get_platforms()
    True
    """

    _kind = _Platform

    @staticmethod
    def _make(arg: _Any = None) -> _Platform:
        if isinstance(arg, _Platform):
            return arg
        if not isinstance(arg, (str, type(None))):
            raise ValueError(f"SyclPlatform: a selection string is expected, not {type(arg).__name__}")
        device: _Any = SyclDevice() if arg is None else SyclDevice(arg)
        return device.sycl_platform  # type: ignore[no-any-return]


class device_context:  # noqa: N801 (used like a function)
    """Make a device the default one for a block: ``with dpctl.device_context("opencl:gpu") as queue:``, of dpctl before 0.12.

    Parameters
    ----------
    arg : str, SyclDevice or SyclQueue
        A selection string, a device, or a queue, whose device is meant.

    Returns
    -------
    context manager
        Gives the queue, or a queue of the device.

    Raises
    ------
    ValueError
        There is no such device.

    See Also
    --------
    pardo.device_context
    """

    def __init__(self, arg: _Any) -> None:
        self._queue = arg if isinstance(arg, SyclQueue) else SyclQueue(arg)
        self._context = _device_context(self._queue.sycl_device)

    def __enter__(self) -> SyclQueue:
        self._context.__enter__()
        return self._queue

    def __exit__(self, *exception: object) -> None:
        self._context.__exit__(*exception)


def get_current_queue() -> SyclQueue:
    """Give a queue of the default device, which `device_context` says."""
    return SyclQueue(SyclDevice())


def get_platforms() -> list[_Platform]:
    """Find platforms."""
    return _get_platforms()


def lsplatform(verbosity: int = 0) -> None:
    """Print platforms; with verbosity their devices too."""
    for number, platform in enumerate(get_platforms()):
        print(f"Platform {number}: {platform.name}, {platform.version}")
        devices: _Any = platform.devices if verbosity else ()
        for device in devices:
            print(f"  {device.filter_string}: {device.name}")


def has_cpu_devices() -> bool:
    """Tell whether there are CPUs."""
    return get_num_devices(device_type="cpu") > 0


def has_gpu_devices() -> bool:
    """Tell whether there are GPUs."""
    return get_num_devices(device_type="gpu") > 0


def has_accelerator_devices() -> bool:
    """Tell whether there are accelerators."""
    return get_num_devices(device_type="accelerator") > 0


def select_default_device() -> SyclDevice:
    """Give the device that is taken where none is named."""
    return SyclDevice()


def select_cpu_device() -> SyclDevice:
    """Give a CPU."""
    return SyclDevice("cpu")


def select_gpu_device() -> SyclDevice:
    """Give a GPU; ValueError if there is none."""
    return SyclDevice("gpu")


def select_accelerator_device() -> SyclDevice:
    """Give an accelerator; ValueError if there is none."""
    return SyclDevice("accelerator")


def select_device_with_aspects(required_aspects: _Any, excluded_aspects: _Any = ()) -> SyclDevice:
    """Give the best device that has some aspects and lacks others; ValueError if there is none."""
    try:
        return _select_device(required=required_aspects, excluded=excluded_aspects)
    except _DeviceError as e:
        raise ValueError(str(e)) from None


# What programs take of dpctl's inside: the queue of a device that is taken where the device is named.
_sycl_queue_manager = _types.SimpleNamespace(get_device_cached_queue=lambda device: SyclQueue._of(getattr(device, "_queue", device)))


class HostDeviceDuration(_NamedTuple):
    """Times of the host and of the device."""

    host_dt: float
    device_dt: float


class SyclTimer:
    """Times of blocks on a queue: ``timer = SyclTimer()``, ``with timer(queue): …``, ``timer.dt.host_dt``, ``timer.dt.device_dt``.

    Parameters
    ----------
    host_timer : callable, optional
        Gives seconds.
    device_timer : {'queue_barrier', 'order_manager'}, optional
        How dpctl finds the device's times; here they are those of barriers of the queue in any case.
    time_scale : float, optional
        What seconds are multiplied with. Default: 1.

    See Also
    --------
    Timer

    Examples
    --------
    >>> import pardo.compat.dpctl as dpctl
    >>> timer = dpctl.SyclTimer()
    >>> with timer(dpctl.SyclQueue(property="enable_profiling")):
    ...     pass
    >>> timer.dt.host_dt >= 0
    True
    """

    def __init__(self, host_timer: _Any = None, device_timer: str | None = None, time_scale: float = 1.0) -> None:
        if device_timer not in (None, "queue_barrier", "order_manager"):
            raise ValueError(f"SyclTimer: device_timer is 'queue_barrier' or 'order_manager', not {device_timer!r}")
        self._given, self._scale, self._timers = ({} if host_timer is None else {"host_timer": host_timer}), time_scale, {}  # type: ignore[var-annotated]

    def __call__(self, queue: SyclQueue) -> _Any:
        """Give what times a block with work of that queue."""
        from pardo import Timer

        if queue not in self._timers:
            self._timers[queue] = Timer(queue._queue, **self._given)
        return self._timers[queue]

    @property
    def dt(self) -> _Any:
        """Times of all blocks: `host_dt` and `device_dt`."""
        totals = [sum(getattr(t, name) for t in self._timers.values()) * self._scale for name in ("host_time", "device_time")]
        return HostDeviceDuration(*totals)


def __getattr__(name: str) -> _Any:
    """Read a module; say what to use in place of a name that is not here."""
    if name in _MODULES:
        return _importlib.import_module(f"pardo.compat.dpctl.{name}")
    if name == "__version__":
        return _version
    raise _missing(__name__, name, _INSTEAD, "see the guide 'From dpnp and dpctl' for pardo's names")


_selectors.read()
_show_module(globals())
