# python/pardo/compat/_attributes.py: what arrays, devices, contexts and events get by dpctl's names when a module of these is imported.
from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from pardo import Array, Context, Device, Event, Platform, Queue, asnumpy, get_devices, get_platforms
from pardo._extending import Memory, attach
from pardo.compat._memory import ArrayMemory, MemoryNames, Placed
from pardo.compat._names import queue_of
from pardo.compat._queue import SyclQueue
from pardo.compat._words import device_type, event_status_type

# Aspects of SYCL's that are attributes of dpctl's devices, `has_aspect_<name>`.
ASPECTS = (
    "accelerator atomic64 cpu custom emulated ext_intel_device_id ext_intel_device_info_uuid ext_intel_free_memory "
    "ext_oneapi_ipc_memory fp16 fp64 gpu host_debuggable image is_component is_composite online_compiler online_linker queue_profiling "
    "usm_atomic_host_allocations usm_atomic_shared_allocations usm_device_allocations usm_host_allocations usm_shared_allocations "
    "usm_system_allocations"
)


_to_device = Array.to_device
_TYPES = tuple(str(kind.value) for kind in device_type)


def _aspect(name: str) -> property:
    def has(self: Any) -> bool:
        return name in self.aspects

    has.__doc__ = f"Whether the device has SYCL's aspect {name}."
    return property(has)


class DeviceNames:
    """dpctl's names of devices."""

    __slots__ = ()

    @property
    def filter_string(self: Any) -> str:
        """Back end, type and index among those of both, as ``'opencl:cpu:0'``."""
        number = get_devices(self.backend, self.type).index(self)
        return f"{self.backend}:{self.type}:{number}"

    def get_filter_string(self: Any, include_backend: bool = True, include_device_type: bool = True) -> str:
        """Give back end, type and index, without some of these."""
        number = get_devices(self.backend if include_backend else None, self.type if include_device_type else None).index(self)
        return ":".join([self.backend] * include_backend + [self.type] * include_device_type + [str(number)])

    @property
    def device_type(self: Any) -> device_type:
        """The type as dpctl's enumeration has it."""
        return device_type(self.type)

    @property
    def sycl_device(self: Any) -> Any:
        """The device itself."""
        return self

    @property
    def sycl_queue(self: Any) -> SyclQueue:
        """The queue that is taken where a device is named."""
        return SyclQueue(Queue.of(self))

    @property
    def sycl_context(self: Any) -> Any:
        """The context of its queue."""
        return Queue.of(self).context

    @property
    def sycl_platform(self: Any) -> Any:
        """The platform that it belongs to."""
        return next(p for p in get_platforms(self.backend) if self in p.devices)

    @property
    def parent_device(self: Any) -> Any:
        """The device that this is a part of, or None."""
        return self.parent

    def get_unpartitioned_parent_device(self: Any) -> Any:
        """Give the device that this is a part of a part of, or the device itself."""
        device = self
        while device.parent is not None:
            device = device.parent
        return device

    def get_device_id(self: Any) -> int:
        """Give its number among all devices; ValueError for a part of one."""
        listed = get_devices()
        if self.without_queue not in listed:
            raise ValueError(f"get_device_id: {self.id} is a part of a device, and has no number")
        return listed.index(self.without_queue)

    def can_access_peer(self: Any, peer: Any, value: str = "access_supported") -> bool:
        """Tell whether kernels read another device's memory: they never do, data is copied."""
        if not isinstance(peer, Device):
            raise TypeError(f"can_access_peer: a SyclDevice is expected, not {type(peer).__name__}")
        if value not in ("access_supported", "atomics_supported"):
            raise ValueError(f"can_access_peer: value is 'access_supported' or 'atomics_supported', not {value!r}")
        return False

    @property
    def composite_device(self: Any) -> None:
        """The device that this is a component of: there is none."""

    def component_devices(self: Any) -> tuple[Any, ...]:
        """Give the components of a composite device: there are none."""
        return ()

    @property
    def backend_version(self: Any) -> str | None:
        """The version of the interface to the device."""
        return self.version  # type: ignore[no-any-return]

    @property
    def max_work_item_dims(self: Any) -> int | None:
        """Dimensions of index spaces."""
        return self.max_work_item_dimensions  # type: ignore[no-any-return]

    @property
    def default_selector_score(self: Any) -> int:
        """How good a choice the device is, as `select_default_device` counts: the greatest is chosen."""
        kinds = (device_type.cpu, device_type.accelerator, device_type.gpu)
        return kinds.index(self.type) * 1_000_000 + min(self.max_compute_units or 0, 999_999)

    def print_device_info(self: Any) -> None:
        """Print name, version of the driver, vendor and identification."""
        facts = {"Name": self.name, "Driver version": self.driver_version, "Vendor": self.vendor, "Filter string": self.filter_string}
        print("\n".join(f"    {name:<15} {value}" for name, value in facts.items()))


class PlatformNames:
    """dpctl's names of platforms."""

    __slots__ = ()

    @property
    def default_context(self: Any) -> Any:
        """The context of its first device."""
        return Queue.of(self.devices[0]).context

    def get_devices(self: Any, device_type: Any = "all") -> list[Any]:
        """Give its devices, all or those of one type."""
        wanted = str(getattr(device_type, "value", device_type)).lower()
        if wanted not in _TYPES:
            raise ValueError(f"get_devices: device_type is of {', '.join(map(repr, _TYPES))}, not {device_type!r}")
        return [d for d in self.devices if wanted in ("all", d.type)]

    def print_platform_info(self: Any, verbosity: int = 0) -> None:
        """Print its name; with verbosity 1 and 2 version, vendor, back end, and its devices too."""
        if verbosity not in (0, 1, 2):
            warnings.warn("print_platform_info: verbosity is 0, 1 or 2; it is taken for 0", stacklevel=2)
            verbosity = 0
        print(f"Platform: {self.name}")
        if verbosity:
            facts = {"Version": self.version, "Vendor": self.vendor, "Backend": self.backend, "Num Devices": len(self.devices)}
            print("\n".join(f"    {name:<12} {value}" for name, value in facts.items()))
        for number, device in enumerate(self.devices if verbosity == 2 else ()):
            print(f"    # {number}")
            device.print_device_info()


class ContextNames:
    """dpctl's names of contexts."""

    __slots__ = ()

    def get_devices(self: Any) -> list[Any]:
        """Give its devices."""
        return list(self.devices)

    @property
    def device_count(self: Any) -> int:
        """How many devices it has."""
        return len(self.devices)


class EventNames:
    """dpctl's names of events."""

    __slots__ = ()

    @property
    def execution_status(self: Any) -> event_status_type:
        """How far the work is."""
        return event_status_type(self.status if self.status in list(event_status_type) else "submitted")

    @property
    def profiling_info_submit(self: Any) -> int:
        """Nanoseconds when it was submitted."""
        return self.profiling["submitted"]  # type: ignore[no-any-return]

    @property
    def profiling_info_start(self: Any) -> int:
        """Nanoseconds when it began."""
        return self.profiling["start"]  # type: ignore[no-any-return]

    @property
    def profiling_info_end(self: Any) -> int:
        """Nanoseconds when it ended."""
        return self.profiling["end"]  # type: ignore[no-any-return]

    @staticmethod
    def wait_for(events: Any) -> None:
        """Wait for one event or several."""
        listed = list(events) if isinstance(events, Iterable) else [events]
        for event in listed:
            if not isinstance(event, Event):
                raise TypeError(f"SyclEvent.wait_for: events are expected, not {type(event).__name__}")
        for event in listed:
            event.wait()


class ArrayNames:
    """dpctl's and dpnp's names of arrays."""

    __slots__ = ()

    @property
    def usm_data(self: Any) -> Any:
        """The memory of the array's elements, which are contiguous."""
        return ArrayMemory(self)

    @property
    def _array_obj(self: Any) -> Any:
        """The array itself, which dpnp's arrays hold."""
        return self

    def get_array(self: Any) -> Any:
        """Give the array itself.

        Examples
        --------
        >>> import pardo.compat.dpnp as dpnp
        >>> x = dpnp.arange(3)
        >>> x.get_array() is x
        True
        """
        return self

    def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
        """Copy the array to a device, as `Array.to_device` does, or to a queue.

        Parameters
        ----------
        device : Device, str, SyclQueue or Queue
            The target.
        stream : None
            Queues of pardo order the copy; nothing else is supported.

        Returns
        -------
        Array
            On the same memory when it is there already, else a copy.

        Raises
        ------
        TypeError
            `device` is something else.
        ValueError
            There is no such device, or `stream` is not None.

        Examples
        --------
        >>> import pardo.compat.dpctl as dpctl
        >>> queue = dpctl.SyclQueue("cpu")
        >>> dpctl.tensor.zeros(3).to_device(queue).sycl_queue == queue
        True
        """
        queue = queue_of(device)
        return self.to_queue(queue) if isinstance(queue, Queue) and stream is None else _to_device(self, device, stream=stream)

    def asnumpy(self: Any) -> Any:
        """Copy to an array of NumPy's.

        Examples
        --------
        >>> import pardo.compat.dpnp as dpnp
        >>> type(dpnp.arange(3).asnumpy())
        <class 'numpy.ndarray'>
        """
        return asnumpy(self)


def _of_type(name: str) -> property:
    def has(self: Any) -> bool:
        return bool(self.type == name)

    has.__doc__ = f"Whether it is of the type {name!r}."
    return property(has)


def _sizes(dimensions: int) -> property:
    def sizes(self: Any) -> tuple[int, ...] | None:
        known = self.max_work_item_sizes
        return None if known is None else tuple(known[:dimensions])

    sizes.__doc__ = f"Items of a work-group along each of {dimensions} dimensions, at most."
    return property(sizes)


for _name in ("cpu", "gpu", "accelerator"):
    setattr(DeviceNames, f"is_{_name}", _of_type(_name))
for _name in ASPECTS.split():
    setattr(DeviceNames, f"has_aspect_{_name}", _aspect(_name))
for _number in (1, 2, 3):
    setattr(DeviceNames, f"max_work_item_sizes{_number}d", _sizes(_number))
attach(DeviceNames, Device)
attach(PlatformNames, Platform)
attach(ContextNames, Context)
attach(EventNames, Event)
attach(Placed, Array)
attach(ArrayNames, Array)
attach(Placed, Memory)
attach(MemoryNames, Memory)
