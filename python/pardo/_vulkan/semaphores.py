# python/pardo/_vulkan/semaphores.py: semaphores of Vulkan in the order of queues.
from __future__ import annotations

import atexit
import ctypes
import os
from collections.abc import Callable
from typing import Any

from pardo import _core
from pardo._base import arguments
from pardo._base.arguments import DeviceLike
from pardo._core import Device, DeviceError, Event, Queue
from pardo._vulkan import descriptors
from pardo._vulkan.memory import refuse_lack
from pardo._vulkan.sharing import integer

_KINDS = ("timeline", "binary")
_SLICE_NS = 20_000_000  # so long a thread waits in Vulkan before it looks whether the program ends
_TIMEOUT = 2  # VK_TIMEOUT
_LOST = -4  # VK_ERROR_DEVICE_LOST
_STRUCTURE_OF_WAITS, _STRUCTURE_OF_SIGNALS = 1000207004, 1000207005  # VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, …_SIGNAL_INFO

_ending: list[bool] = []
atexit.register(_ending.append, True)


class _WaitInfo(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("count", ctypes.c_uint32),
        ("semaphores", ctypes.POINTER(ctypes.c_uint64)),
        ("values", ctypes.POINTER(ctypes.c_uint64)),
    )


class _SignalInfo(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("semaphore", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    )


class _OnHost:
    """A timeline semaphore that threads of the host wait for, by functions of its device."""

    def __init__(self, device: int, semaphore: int, op_name: str) -> None:
        self.device, self.semaphore = device, semaphore
        try:
            library = ctypes.CDLL("libvulkan.so.1")
        except OSError as error:
            raise DeviceError(f"{op_name}: Vulkan's loader is not installed ({error})") from None
        find = library.vkGetDeviceProcAddr
        find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)

        def function(name: str) -> Callable[..., int]:
            for each in (name, f"{name}KHR"):
                address = find(device, each.encode())
                if address:
                    return ctypes.CFUNCTYPE(
                        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_uint64] * (name == "vkWaitSemaphores")
                    )(address)
            raise DeviceError(f"{op_name}: the device of Vulkan's has no {name}: it needs Vulkan 1.2, or VK_KHR_timeline_semaphore")

        self._wait, self._signal = function("vkWaitSemaphores"), function("vkSignalSemaphore")

    def wait(self, queue: Queue, value: int) -> Event:
        queue.submit()

        def wait_for_semaphore() -> None:
            one, wanted = ctypes.c_uint64(self.semaphore), ctypes.c_uint64(value)
            info = _WaitInfo(_STRUCTURE_OF_WAITS, None, 0, 1, ctypes.pointer(one), ctypes.pointer(wanted))
            while True:
                code = self._wait(self.device, ctypes.addressof(info), _SLICE_NS)
                if code == 0:
                    return
                if code != _TIMEOUT:
                    raise DeviceError(f"vulkan.Semaphore.wait: vkWaitSemaphores failed: {_result(code)}")
                if _ending:
                    raise DeviceError(f"vulkan.Semaphore.wait: the semaphore had not reached {value} when the program ended")

        reached = queue.host_task(wait_for_semaphore)
        if queue.order == "out_of_order":
            queue.barrier(depends=reached)
        return reached

    def signal(self, queue: Queue, value: int) -> Event:
        before = queue.submit()

        def signal_semaphore() -> None:
            info = _SignalInfo(_STRUCTURE_OF_SIGNALS, None, self.semaphore, value)
            code = self._signal(self.device, ctypes.addressof(info))
            if code != 0:
                raise DeviceError(f"vulkan.Semaphore.signal: vkSignalSemaphore failed: {_result(code)}")

        return queue.host_task(signal_semaphore, depends=before)


def _result(code: int) -> str:
    return "VK_ERROR_DEVICE_LOST" if code == _LOST else f"VkResult {code}"


class Semaphore:
    """A semaphore of Vulkan's, which queues wait for and signal in their order.

    Parameters
    ----------
    fd : int
        A descriptor that `vkGetSemaphoreFdKHR` gave (`OPAQUE_FD`). It stays the caller's, who closes it.
    kind : {'timeline', 'binary'}, optional
        As it was created (`VkSemaphoreTypeCreateInfo`).
    device : Device or str, optional
        Whose queues wait for it. Default: the default device.

    Raises
    ------
    DeviceError
        The device opens no such semaphores, or its driver does not open this one.
    TypeError
        `fd` is no integer.
    ValueError
        The descriptor is closed or of something else, or there is no such kind or device.

    See Also
    --------
    turn

    Notes
    -----
    `Semaphore.of_device` makes one for every device, which threads of the host wait for.
    """

    def __init__(self, fd: int, kind: str = "timeline", *, device: DeviceLike = None) -> None:
        op_name = "vulkan.Semaphore"
        number = integer(fd, f"{op_name}: fd")
        self.kind = arguments.word(kind, f"{op_name}: kind", _KINDS)
        self.device: Device | None = arguments.device_of(device, op_name).without_queue
        instead = "pp.vulkan.Semaphore.of_device(vk_device, vk_semaphore) has a thread of the host wait for a timeline semaphore"
        refuse_lack(self.device, self.kind, op_name, instead)
        if number < 0:
            raise ValueError(f"{op_name}: {number} is not an open file descriptor")
        descriptors.check(number, "a semaphore", op_name)
        try:
            self._way: Any = _core._ExternalSemaphore(self.device, number, self.kind == "timeline")
        except DeviceError as error:
            raise DeviceError(
                f"{op_name}: {self.device.id} does not open the descriptor {number} as a {self.kind} semaphore ({error}): it is of another "
                "device or driver, or of another kind"
            ) from None
        self._start()

    def _start(self) -> None:
        self._last = -1  # the greatest value that was signalled here
        self._process = os.getpid()

    @classmethod
    def of_device(cls, vk_device: int, vk_semaphore: int) -> Semaphore:
        """Return a timeline semaphore that threads of the host wait for and signal, for queues of every device.

        Parameters
        ----------
        vk_device, vk_semaphore : int
            The handles `VkDevice` and `VkSemaphore` as numbers. Both are to live until the events of its waits and signals are complete.

        Returns
        -------
        Semaphore
            It waits by `vkWaitSemaphores` and signals by `vkSignalSemaphore`, in host tasks of the queue.

        Raises
        ------
        DeviceError
            There is no loader of Vulkan's, or the device has no timeline semaphores.
        TypeError
            A handle is no integer.
        ValueError
            A handle is null.
        """
        op_name = "vulkan.Semaphore.of_device"
        handles = integer(vk_device, f"{op_name}: vk_device"), integer(vk_semaphore, f"{op_name}: vk_semaphore")
        for handle, what in zip(handles, ("vk_device", "vk_semaphore"), strict=True):
            if not 0 < handle < 1 << 64:
                raise ValueError(f"{op_name}: {what} is {handle}, which is no handle")
        made = cls.__new__(cls)
        made.kind, made.device, made._way = "timeline", None, _OnHost(*handles, op_name)
        made._start()
        return made

    def wait(self, value: int | None = None, where: Queue | Device | str | None = None) -> Event:
        """Have a queue wait: what is submitted to it from now on runs when the semaphore has the value, or a greater one.

        Parameters
        ----------
        value : int, optional
            Of a timeline semaphore. A binary one has none: it is waited for and then not signalled any more.
        where : Queue, Device or str, optional
            Default: the queue of the semaphore's device; else the default device's.

        Returns
        -------
        Event
            Complete when the value is reached. What was recorded before this call is submitted before the wait.

        Raises
        ------
        TypeError
            The value is missing or no integer, or a binary semaphore has one.
        ValueError
            The value is out of range, or the queue is of another device.
        """
        queue, number = self._checked("wait", value, where)
        event: Event = self._way.wait(queue, number)
        return event

    def signal(self, value: int | None = None, where: Queue | Device | str | None = None) -> Event:
        """Signal the semaphore when all that has been recorded and submitted on a queue is complete, failed or not.

        Parameters
        ----------
        value : int, optional
            Of a timeline semaphore: greater than all before. A binary one has none.
        where : Queue, Device or str, optional
            Default: the queue of the semaphore's device; else the default device's.

        Returns
        -------
        Event
            Complete when it is signalled.

        Raises
        ------
        TypeError
            The value is missing or no integer, or a binary semaphore has one.
        ValueError
            The value is out of range, or not greater than the last one; or the queue is of another device.
        """
        queue, number = self._checked("signal", value, where)
        event: Event = self._way.signal(queue, number)
        self._last = number
        return event

    def _checked(self, name: str, value: Any, where: Any) -> tuple[Queue, int]:
        op_name = f"vulkan.Semaphore.{name}"
        number = self._checked_value(op_name, value)
        if isinstance(where, Queue):
            queue = where
        else:
            queue = Queue.of(self.device) if where is None and self.device else arguments.queue_of(where, None, None, op_name)
        if self.device is not None and queue.device.without_queue != self.device:
            raise ValueError(f"{op_name}: the semaphore was opened for {self.device.id}, and the queue is of {queue.device.id}")
        return queue, number

    def _checked_value(self, op_name: str, value: Any) -> int:
        """Everything that is known to be wrong before a device is touched."""
        if os.getpid() != self._process:
            raise DeviceError(f"{op_name}: the semaphore was opened by the process that this one was forked from")
        if self.kind == "binary":
            if value is not None:
                raise TypeError(f"{op_name}: a binary semaphore has no values")
            return 0
        if value is None:
            raise TypeError(f"{op_name}: a timeline semaphore needs a value")
        number = integer(value, f"{op_name}: value")
        if not 0 <= number < 1 << 64:
            raise ValueError(f"{op_name}: value is {number}; values are of 64 bits, without sign")
        if op_name.endswith("signal") and number <= self._last:
            raise ValueError(f"{op_name}: value is {number}, and {self._last} was signalled before; values grow")
        return number

    def __repr__(self) -> str:
        return f"<vulkan.Semaphore {self.kind}, {self.device.id if self.device else 'by the host'}>"


def pairs(given: Any, what: str) -> list[tuple[Semaphore, int | None]]:
    """Semaphores with values, as callers write them: one, one with its value, or a list of these."""
    op_name = f"vulkan.turn: {what}"
    one = isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Semaphore) and not isinstance(given[1], (Semaphore, tuple))
    if one or isinstance(given, Semaphore):
        given = [given]
    elif not isinstance(given, (list, tuple)):
        raise TypeError(f"{op_name} must be semaphores, alone or as (semaphore, value), not {type(given).__name__}")
    made: list[tuple[Semaphore, int | None]] = []
    for each in given:
        semaphore, value = each if isinstance(each, tuple) and len(each) == 2 else (each, None)
        if not isinstance(semaphore, Semaphore):
            raise TypeError(f"{op_name} must be semaphores, alone or as (semaphore, value), not {type(semaphore).__name__}")
        made.append((semaphore, value))
    return made
