# tests/python/vulkan_calls.py: as much of Vulkan as the tests of pardo.vulkan need, by ctypes.
"""A device of Vulkan's with memory, fills and copies of buffers, and semaphores. With lavapipe, if it is installed, and VK_ICD_FILENAMES
names no other driver."""

from __future__ import annotations

import contextlib
import ctypes as c
import glob
import os
from collections.abc import Iterator, Sequence
from typing import Any

P, U32, U64 = c.c_void_p, c.c_uint32, c.c_uint64
HOST_ALLOCATION = 0x80  # VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
SHARES_POINTERS = b"VK_EXT_external_memory_host"
WANTED = (SHARES_POINTERS, b"VK_KHR_external_memory_fd", b"VK_KHR_external_semaphore_fd")
OPAQUE_FD = 1  # of memory and of semaphores


def loader() -> c.CDLL | None:
    """Vulkan's loader, for lavapipe where that is installed."""
    software = sorted(glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json"))
    if software and not {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"} & set(os.environ):
        os.environ["VK_ICD_FILENAMES"] = os.environ["VK_DRIVER_FILES"] = software[0]
    try:
        return c.CDLL("libvulkan.so.1")
    except OSError:
        return None


def record(kind: int, layout: Sequence[tuple[Any, Any]], following: Any = None) -> Any:
    """A structure of Vulkan's: type, pointer to the next one, and members with their values in order."""
    fields = [("type", U32), ("next", P), *((f"m{i}", t) for i, (t, _) in enumerate(layout))]
    made = type("Record", (c.Structure,), {"_fields_": fields})()
    made.type, made.next = kind, c.addressof(following) if following is not None else None
    made.kept = (following, layout)
    for i, (_, value) in enumerate(layout):
        setattr(made, f"m{i}", value)
    return made


class Vulkan:
    """One device and its queue."""

    def __init__(self, library: c.CDLL) -> None:
        self.library = library
        application = record(0, [(c.c_char_p, b"pardo"), (U32, 0), (c.c_char_p, None), (U32, 0), (U32, 1 << 22 | 2 << 12)])
        self.instance = self.make(
            "vkCreateInstance", record(1, [(U32, 0), (P, c.addressof(application)), *[(U32, 0), (P, None)] * 2]), None
        )
        count, found = U32(1), (P * 1)()
        self.library.vkEnumeratePhysicalDevices(P(self.instance), c.byref(count), found)
        self.physical = found[0]
        extensions = [name for name in WANTED if name in self.extensions()]
        self.shares_pointers = SHARES_POINTERS in extensions
        names = (c.c_char_p * len(extensions))(*extensions)
        priority = c.c_float(1)
        queue = record(2, [(U32, 0), (U32, 0), (U32, 1), (P, c.addressof(priority))])
        timeline = record(1000207000, [(U32, 1)])
        rest = [(U32, 0), (P, None), (U32, len(extensions)), (P, c.addressof(names)), (P, None)]
        self.device = self.make("vkCreateDevice", record(3, [(U32, 0), (U32, 1), (P, c.addressof(queue)), *rest], timeline), self.physical)
        held = P()
        library.vkGetDeviceQueue(P(self.device), U32(0), U32(0), c.byref(held))
        self.queue = held.value
        self.pool = self.make("vkCreateCommandPool", record(39, [(U32, 0), (U32, 0)]))

    def extensions(self) -> set[bytes]:
        count = U32(0)
        self.library.vkEnumerateDeviceExtensionProperties(P(self.physical), None, c.byref(count), None)
        found = (c.c_char * 260 * count.value)()
        self.library.vkEnumerateDeviceExtensionProperties(P(self.physical), None, c.byref(count), found)
        return {bytes(each)[:256].split(b"\0")[0] for each in found}

    def call(self, name: str, *arguments: Any) -> None:
        code = getattr(self.library, name)(*arguments)
        assert code == 0, f"{name}: {code}"

    def make(self, name: str, description: Any, parent: Any = ...) -> int:
        made = U64(0)
        first = [] if parent is None else [P(self.device if parent is ... else parent)]
        self.call(name, *first, c.byref(description), None, c.byref(made))
        return made.value

    def of_device(self, name: str) -> Any:
        self.library.vkGetDeviceProcAddr.restype = P
        address = self.library.vkGetDeviceProcAddr(P(self.device), name.encode())
        assert address, name
        return c.CFUNCTYPE(c.c_int, *[U64] * {"vkGetMemoryHostPointerPropertiesEXT": 4}.get(name, 3))(address)

    # --- memory ---

    def type_of(self, among: int, flags: int = 6) -> int:
        """A type of memory with these properties: 1 is the device's own, 6 what the host sees as the device does."""
        properties = (U32 * 130)()
        self.library.vkGetPhysicalDeviceMemoryProperties(P(self.physical), properties)
        return next(i for i in range(properties[0]) if among >> i & 1 and properties[1 + 2 * i] & flags == flags)

    def allocate(self, nbytes: int) -> tuple[int, int]:
        """Memory, and the address where it is mapped."""
        memory = self.make("vkAllocateMemory", record(5, [(U64, nbytes), (U32, self.type_of(0xFFFFFFFF))]))
        address = P()
        self.call("vkMapMemory", P(self.device), U64(memory), U64(0), U64(nbytes), U32(0), c.byref(address))
        assert address.value
        return memory, address.value

    def allocate_exported(self, nbytes: int, flags: int = 6) -> tuple[int, int]:
        """Memory, and a descriptor of it."""
        exported = record(1000072002, [(U32, OPAQUE_FD)])
        memory = self.make("vkAllocateMemory", record(5, [(U64, nbytes), (U32, self.type_of(0xFFFFFFFF, flags))], exported))
        return memory, self.descriptor("vkGetMemoryFdKHR", 1000074002, memory)

    def descriptor(self, name: str, kind: int, handle: int) -> int:
        """Another descriptor of memory or of a semaphore."""
        fd, asked = c.c_int(-1), record(kind, [(U64, handle), (U32, OPAQUE_FD)])
        assert self.of_device(name)(self.device, c.addressof(asked), c.addressof(fd)) == 0, name
        return fd.value

    def import_fd(self, fd: int, nbytes: int, flags: int = 1) -> int:
        """Memory that a descriptor names, which Vulkan takes."""
        given = record(1000074000, [(U32, OPAQUE_FD), (c.c_int, fd)])
        return self.make("vkAllocateMemory", record(5, [(U64, nbytes), (U32, self.type_of(0xFFFFFFFF, flags))], given))

    def import_pointer(self, pointer: int, nbytes: int) -> int:
        """Memory of this process as memory of Vulkan's."""
        properties = record(1000178001, [(U32, 0)])
        ask = self.of_device("vkGetMemoryHostPointerPropertiesEXT")
        assert ask(self.device, HOST_ALLOCATION, pointer, c.addressof(properties)) == 0
        given = record(1000178000, [(U32, HOST_ALLOCATION), (P, pointer)])
        return self.make("vkAllocateMemory", record(5, [(U64, nbytes), (U32, self.type_of(properties.m0))], given))

    def free(self, memory: int) -> None:
        self.library.vkFreeMemory(P(self.device), U64(memory), None)

    @contextlib.contextmanager
    def buffer(self, memory: int, nbytes: int, imported: bool, handle_type: int = HOST_ALLOCATION) -> Iterator[int]:
        external = record(1000072000, [(U32, handle_type)]) if imported else None
        made = self.make("vkCreateBuffer", record(12, [(U32, 0), (U64, nbytes), (U32, 3), (U32, 0), (U32, 0), (P, None)], external))
        self.call("vkBindBufferMemory", P(self.device), U64(made), U64(memory), U64(0))
        yield made
        self.library.vkDestroyBuffer(P(self.device), U64(made), None)

    # --- commands ---

    def submit(self, record_into: Any, wait: tuple[int, int] | None = None, signal: tuple[int, int] | None = None) -> Any:
        """Submits commands between two values of timeline semaphores; what it gives back waits for their end."""
        held = P()
        description = record(40, [(U64, self.pool), (U32, 0), (U32, 1)])
        self.call("vkAllocateCommandBuffers", P(self.device), c.byref(description), c.byref(held))
        self.call("vkBeginCommandBuffer", held, c.byref(record(42, [(U32, 1), (P, None)])))
        record_into(held)
        self.call("vkEndCommandBuffer", held)
        of = {"wait": wait, "signal": signal}
        semaphores = {key: (U64 * 1)(pair[0]) if pair else None for key, pair in of.items()}
        values = {key: (U64 * 1)(pair[1]) if pair else None for key, pair in of.items()}
        counts = {key: 1 if pair else 0 for key, pair in of.items()}
        at = {key: c.addressof(s) if s else None for key, s in semaphores.items()}
        at_values = {key: c.addressof(v) if v else None for key, v in values.items()}
        stages, buffers = (U32 * 1)(0x10000), (P * 1)(held.value)
        order = record(1000207003, [(U32, counts["wait"]), (P, at_values["wait"]), (U32, counts["signal"]), (P, at_values["signal"])])
        waits = [(U32, counts["wait"]), (P, at["wait"]), (P, c.addressof(stages))]
        work = record(4, [*waits, (U32, 1), (P, c.addressof(buffers)), (U32, counts["signal"]), (P, at["signal"])], order)
        fence = self.make("vkCreateFence", record(8, [(U32, 0)]))
        self.call("vkQueueSubmit", P(self.queue), U32(1), c.byref(work), U64(fence))

        def finish() -> None:
            self.call("vkWaitForFences", P(self.device), U32(1), c.byref(U64(fence)), U32(1), U64(2**64 - 1))
            self.library.vkDestroyFence(P(self.device), U64(fence), None)

        return finish

    def fill(self, buffer: int, offset: int, nbytes: int, word: int, **order: Any) -> Any:
        return self.submit(lambda held: self.library.vkCmdFillBuffer(held, U64(buffer), U64(offset), U64(nbytes), U32(word)), **order)

    def copy(self, source: int, target: int, nbytes: int, **order: Any) -> Any:
        region = (U64 * 3)(0, 0, nbytes)
        return self.submit(lambda held: self.library.vkCmdCopyBuffer(held, U64(source), U64(target), U32(1), region), **order)

    # --- semaphores ---

    def timeline(self, value: int = 0, exported: bool = False) -> int:
        shared = record(1000077000, [(U32, OPAQUE_FD)]) if exported else None
        return self.make("vkCreateSemaphore", record(9, [(U32, 0)], record(1000207002, [(U32, 1), (U64, value)], shared)))

    def binary(self) -> int:
        return self.make("vkCreateSemaphore", record(9, [(U32, 0)], record(1000077000, [(U32, OPAQUE_FD)])))

    def descriptor_of_semaphore(self, semaphore: int) -> int:
        return self.descriptor("vkGetSemaphoreFdKHR", 1000079001, semaphore)

    def uuid(self) -> bytes:
        """What tells the device apart, in all of its drivers."""
        ids = (c.c_char * 64)()
        c.c_uint32.from_buffer(ids).value = 1000071004
        properties = (c.c_char * 1024)()
        c.c_uint32.from_buffer(properties).value = 1000059001
        c.c_void_p.from_buffer(properties, 8).value = c.addressof(ids)
        self.library.vkGetPhysicalDeviceProperties2(P(self.physical), properties)
        return ids.raw[16:32]

    def value_of(self, semaphore: int) -> int:
        value = U64(0)
        self.call("vkGetSemaphoreCounterValue", P(self.device), U64(semaphore), c.byref(value))
        return value.value

    def set_value(self, semaphore: int, value: int) -> None:
        self.call("vkSignalSemaphore", P(self.device), c.byref(record(1000207005, [(U64, semaphore), (U64, value)])))
