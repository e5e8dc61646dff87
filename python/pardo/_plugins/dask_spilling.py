# python/pardo/_plugins/dask_spilling.py: what a worker of Dask's holds: on its device, then in memory of the host, then on disk.
from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from typing import Any

from distributed.spill import SpillBuffer
from pardo._base.records import Records
from pardo._core import Array
from pardo._runtime.statistics import trim_memory


def device_bytes(value: Any) -> int:
    """Bytes of a result in memory that the host does not see; results of several arrays are tuples and dicts of them."""
    if isinstance(value, (tuple, list, dict)):
        return sum(map(device_bytes, value.values() if isinstance(value, dict) else value))
    held: Any = value if isinstance(value, (Array, Records)) else None
    return 0 if held is None or held.device._in_host_memory else int(held.nbytes)


class OnHost:
    """A result that has been copied from its device; Dask writes its buffers to disk as they are."""

    def __init__(self, head: bytes, buffers: list[Any]) -> None:
        self.head, self.buffers = head, buffers

    @classmethod
    def of(cls, value: Any) -> OnHost:
        """Copy a result."""
        buffers: list[Any] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=lambda buffer: buffers.append(buffer.raw()))
        return cls(head, buffers)

    def back(self) -> Any:
        """The result, on its device."""
        return pickle.loads(self.head, buffers=self.buffers)

    def __reduce__(self) -> tuple[Any, ...]:
        return OnHost, (self.head, [pickle.PickleBuffer(buffer) for buffer in self.buffers])

    def __sizeof__(self) -> int:
        return len(self.head) + sum(memoryview(buffer).nbytes for buffer in self.buffers)


class Results(SpillBuffer):  # type: ignore[misc]
    """Dask's buffer of results in memory and on disk, with a device above: of that the results that were used last stay.

    Bytes on a device do not count for the memory of the host. `device_limit`: how many of them results may take.
    """

    def __init__(self, worker_local_directory: str, target: int, device_limit: int) -> None:
        super().__init__(os.path.join(worker_local_directory, "storage"), target=target)
        self.device_limit = device_limit
        self.on_device: OrderedDict[Any, int] = OrderedDict()  # the one that was used last is the last
        weight = self.fast.weight
        self.fast.weight = lambda key, value: 64 if device_bytes(value) else weight(key, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.on_device.pop(key, None)
        super().__setitem__(key, value)
        taken = device_bytes(value)
        if taken and key in self.fast:
            self.on_device[key] = taken
            self._leave_device(key)

    def _leave_device(self, newest: Any) -> None:
        """Copy results to the host until the others fit; the newest one is about to be used."""
        total = sum(self.on_device.values())
        for key in list(self.on_device):
            if total <= self.device_limit or key == newest:
                return
            total -= self.on_device.pop(key)
            if key in self.fast:
                super().__setitem__(key, OnHost.of(self.fast[key]))

    def __getitem__(self, key: Any) -> Any:
        value = super().__getitem__(key)
        if isinstance(value, OnHost):
            value = value.back()
            self[key] = value
        elif key in self.on_device:
            self.on_device.move_to_end(key)
        return value

    def __delitem__(self, key: Any) -> None:
        self.on_device.pop(key, None)
        super().__delitem__(key)

    def evict(self) -> int:
        """Write the result that was used least recently to disk, and give its memory back to the system, which is what Dask watches."""
        weight: int = super().evict()
        self.on_device = OrderedDict((key, taken) for key, taken in self.on_device.items() if key in self.fast)
        trim_memory()
        return weight
