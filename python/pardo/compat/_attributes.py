# python/pardo/compat/_attributes.py: what arrays, devices, contexts and events get by dpctl's names when a module of these is imported.
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pardo import _core
from pardo._array.interop import asnumpy
from pardo._array.methods import attach
from pardo._runtime.devices import get_devices, get_platforms
from pardo._runtime.memory import Memory
from pardo.compat._memory import ArrayMemory, MemoryNames, Placed
from pardo.compat._queue import SyclQueue
from pardo.compat._words import device_type, event_status_type

# Aspects of SYCL's that are attributes of dpctl's devices, `has_aspect_<name>`.
ASPECTS = (
    "accelerator atomic64 cpu custom emulated ext_intel_device_id ext_intel_device_info_uuid ext_intel_free_memory fp16 fp64 gpu "
    "host_debuggable image online_compiler online_linker queue_profiling usm_atomic_host_allocations usm_atomic_shared_allocations "
    "usm_device_allocations usm_host_allocations usm_shared_allocations usm_system_allocations"
)


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
        return SyclQueue(_core.Queue.of(self))

    @property
    def sycl_context(self: Any) -> Any:
        """The context of its queue."""
        return _core.Queue.of(self).context

    @property
    def sycl_platform(self: Any) -> Any:
        """The platform that it belongs to."""
        return next(p for p in get_platforms(self.backend) if self in p.devices)

    @property
    def parent_device(self: Any) -> Any:
        """The device that this is a part of, or None."""
        return self.parent

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
            if not isinstance(event, _core.Event):
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


for _name in ("cpu", "gpu", "accelerator"):
    setattr(DeviceNames, f"is_{_name}", _of_type(_name))
for _name in ASPECTS.split():
    setattr(DeviceNames, f"has_aspect_{_name}", _aspect(_name))
attach(DeviceNames, _core.Device)
attach(ContextNames, _core.Context)
attach(EventNames, _core.Event)
attach(Placed, _core.Array)
attach(ArrayNames, _core.Array)
attach(Placed, Memory)
attach(MemoryNames, Memory)
