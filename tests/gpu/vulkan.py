# tests/gpu/vulkan.py: memory and semaphores between pardo and Vulkan on a GPU: values in both directions; not a test of pytest's.
"""Usage: VK_ICD_FILENAMES=…/nvidia_icd.json python tests/gpu/vulkan.py [DEVICE], default cuda:0. Prints a line for each check, and ends
with an error at the first that fails. Needs the Vulkan loader, and a Vulkan device that is the same GPU."""

import gc
import os
import sys
from pathlib import Path

import numpy as np
import pardo as pp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import vulkan_calls
from vulkan_calls import OPAQUE_FD

SIZE = 4 << 20
COUNT = SIZE // 4


class Memory:
    """A buffer of Vulkan's over memory, and one that the host reads."""

    def __init__(self, vk: vulkan_calls.Vulkan, memory: int, size: int) -> None:
        self.vk, self.size = vk, size
        self.opened = vk.buffer(memory, size, True, OPAQUE_FD)
        self.buffer = self.opened.__enter__()
        self.host_memory, address = vk.allocate(size)
        self.opened_host = vk.buffer(self.host_memory, size, False)
        self.host_buffer = self.opened_host.__enter__()
        self.host = np.frombuffer((vulkan_calls.c.c_ubyte * size).from_address(address), np.int32)

    def read(self) -> np.ndarray:
        """What Vulkan sees."""
        self.vk.copy(self.buffer, self.host_buffer, self.size)()
        return self.host.copy()

    def close(self) -> None:
        for opened in (self.opened, self.opened_host):
            opened.__exit__(None, None, None)
        self.vk.free(self.host_memory)


def ours(vk: vulkan_calls.Vulkan, device: str) -> None:
    x = pp.vulkan.empty(COUNT, "int32", device=device)
    x[...] = 3 * pp.arange(COUNT, dtype="int32", device=device)
    handle = x.external_handle()
    memory = vk.import_fd(handle.fd, handle.nbytes)
    seen = Memory(vk, memory, SIZE)
    np.testing.assert_array_equal(seen.read(), 3 * np.arange(COUNT))
    vk.fill(seen.buffer, 4096, 4096, 7)()
    expected = 3 * np.arange(COUNT)
    expected[1024:2048] = 7
    np.testing.assert_array_equal(pp.asnumpy(x + 1), expected + 1)
    del x
    gc.collect()
    np.testing.assert_array_equal(seen.read(), expected)  # Vulkan keeps it
    seen.close()
    vk.free(memory)


def vulkans(vk: vulkan_calls.Vulkan, device: str) -> None:
    memory, fd = vk.allocate_exported(SIZE, 1)
    seen = Memory(vk, memory, SIZE)
    vk.fill(seen.buffer, 0, SIZE, 5)()
    x = pp.vulkan.from_handle(fd, SIZE, "int32", device=device)
    part = pp.vulkan.from_handle(fd, SIZE, "int32", (16, 16), offset=4096, device=device)
    os.close(fd)
    assert pp.shares_memory(x, part)
    assert int(x.sum()) == 5 * COUNT
    part[...] = pp.arange(256, dtype="int32", device=device).reshape(16, 16)
    expected = np.full(COUNT, 5)
    expected[1024:1280] = np.arange(256)
    np.testing.assert_array_equal(seen.read(), expected)
    seen.close()
    vk.free(memory)
    np.testing.assert_array_equal(pp.asnumpy(x), expected)  # the arrays keep it


def timelines(vk: vulkan_calls.Vulkan, device: str) -> None:
    x = pp.vulkan.empty(COUNT, "int32", device=device)
    x[...] = 0
    handle = x.external_handle()
    memory, timeline = vk.import_fd(handle.fd, handle.nbytes), vk.timeline(exported=True)
    fd = vk.descriptor_of_semaphore(timeline)
    semaphore = pp.vulkan.Semaphore(fd, device=device)
    os.close(fd)
    seen = Memory(vk, memory, SIZE)
    ends, sums = [], []
    for i in range(100):
        with pp.vulkan.turn(x, wait=(semaphore, 2 * i), signal=(semaphore, 2 * i + 1)):
            sums.append(x.sum())
            x[...] = x + i
        ends.append(vk.fill(seen.buffer, 0, SIZE // 2, i + 1, wait=(timeline, 2 * i + 1), signal=(timeline, 2 * i + 2)))
    for end in ends:
        end()
    upper = [i * (i - 1) // 2 for i in range(100)]
    assert [int(s) for s in sums] == [COUNT // 2 * (i + upper[i]) for i in range(100)]
    assert vk.value_of(timeline) == 200
    seen.close()
    vk.free(memory)


def binaries(vk: vulkan_calls.Vulkan, device: str) -> None:
    semaphore = vk.binary()
    fd = vk.descriptor_of_semaphore(semaphore)
    opened = pp.vulkan.Semaphore(fd, "binary", device=device)
    os.close(fd)
    queue = pp.Queue(device)
    for _ in range(3):
        opened.signal(where=queue)
        opened.wait(where=queue).wait()


def refusals(vk: vulkan_calls.Vulkan, device: str) -> None:
    memory, fd = vk.allocate_exported(SIZE, 1)
    for given, size in ((fd, 1 << 45), (os.memfd_create("another driver's"), 0)):
        if size == 0:
            os.ftruncate(given, SIZE)
        try:
            pp.vulkan.from_handle(given, size or SIZE, "int32", device=device)
        except (pp.DeviceError, ValueError, MemoryError) as error:
            print(f"    refused: {type(error).__name__}: {error}")
        else:
            raise AssertionError(f"{given} was opened")
    os.close(fd)
    vk.free(memory)
    assert float(pp.ones(10, device=device).sum()) == 10  # the context is as it was


def main(device: str) -> None:
    library = vulkan_calls.loader()
    if library is None:
        sys.exit("the Vulkan loader (libvulkan.so.1) is not installed")
    vk = vulkan_calls.Vulkan(library)
    print("Vulkan's device", vk.uuid().hex(), "·", device, pp.Device(device).uuid, pp.vulkan.capabilities(device))
    for check in (ours, vulkans, timelines, binaries, refusals):
        check(vk, device)
        print("right:", check.__name__)


if __name__ == "__main__":
    main(*sys.argv[1:] or ["cuda:0"])
