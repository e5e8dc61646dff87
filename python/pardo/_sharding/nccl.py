# python/pardo/_sharding/nccl.py: data between the GPUs of several processes by NVIDIA's NCCL, where it is installed.
"""Reference: NVIDIA, "NCCL User Guide", point-to-point communication. It is not asked for sums: its rings
add in another order than that of the parts."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pardo._core import Array, DeviceError, Queue, _empty
from pardo._runtime.native import device_native, queue_native

LEAST = 64 << 10  # bytes of an array that is worth a call; smaller ones go with MPI's other messages
_FILE, _PACKAGE = "libnccl.so.2", "nvidia.nccl"
_BYTES = 1  # ncclUint8
_CUDA = 2  # of DLPack


class _UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_char * 128),)


@functools.cache
def library() -> Any:
    """NCCL; None where it is not installed, or ``PARDO_NCCL=off``. ``PARDO_NCCL`` may name its file."""
    named = os.environ.get("PARDO_NCCL", "")
    if named in ("off", "0") or os.environ.get("PARDO_CUDA_DRIVER"):  # of another driver than the system's it knows nothing
        return None
    names = [named] if named else [_FILE, *_installed()]
    for name in names:
        try:
            found = ctypes.CDLL(name)
        except OSError:
            continue
        found.ncclGetErrorString.restype = ctypes.c_char_p
        found.ncclCommInitRank.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, _UniqueId, ctypes.c_int]
        for call in (found.ncclSend, found.ncclRecv):
            call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        return found
    if named:
        raise DeviceError(f"PARDO_NCCL is {named!r}, which is no library that can be loaded; give the path of {_FILE}, or 'off'")
    return None


def _installed() -> list[str]:
    """Where NVIDIA's package has it."""
    try:
        spec = importlib.util.find_spec(_PACKAGE)
    except (ImportError, ValueError):
        return []
    return [str(Path(folder) / "lib" / _FILE) for folder in (spec.submodule_search_locations or ())] if spec else []


def gpu_of(queues: Sequence[Queue]) -> str | None:
    """What tells the GPU of a process's only part from others; None where NCCL does not serve."""
    if len(queues) != 1 or not _of_cuda(queues[0]) or not queue_native(queues[0]) or library() is None:
        return None
    return str(queues[0].device.uuid)


def _of_cuda(queue: Queue) -> bool:
    try:
        return _empty([1], None, queue).__dlpack_device__()[0] == _CUDA
    except BufferError:  # memory without addresses
        return False


class Wires:
    """A communicator of NCCL. Making one is a collective call.

    Parameters
    ----------
    queue : Queue
        Of this process's GPU: transfers come after what its driver has.
    size, rank : int
        How many processes there are, and which this one is.
    unique_id : bytes
        What `new_id` has given in one of them.
    """

    def __init__(self, queue: Queue, size: int, rank: int, unique_id: bytes) -> None:
        self._queue = queue
        self._comm = ctypes.c_void_p()
        self._library = library()
        with _current(queue):
            self._call("ncclCommInitRank", ctypes.byref(self._comm), size, _UniqueId.from_buffer_copy(unique_id), rank)

    def move(self, sends: Sequence[tuple[Array, int]], receives: Sequence[tuple[Array, int]]) -> None:
        """Send arrays to ranks and fill others with what comes from ranks; all are contiguous, computed, and on this GPU. The arrays that
        go from one rank to another are in the same order in both. Returns when all has arrived."""
        if not (sends or receives):
            return
        stream = queue_native(self._queue)
        with _current(self._queue) as driver:
            self._call("ncclGroupStart")
            try:
                for call, pairs in (("ncclSend", sends), ("ncclRecv", receives)):
                    for x, rank in pairs:
                        self._call(call, x._address(), x.nbytes, _BYTES, rank, self._comm, stream)
            finally:
                self._call("ncclGroupEnd")
            if status := driver.cuStreamSynchronize(ctypes.c_void_p(stream)):
                raise DeviceError(f"arrays of other processes did not come to {self._queue.device.id}: CUDA's error {status}")

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self._library, name)(*args)
        if status:
            words = self._library.ncclGetErrorString(status).decode()
            raise DeviceError(f"{name} of NCCL failed on {self._queue.device.id}: {words}; PARDO_NCCL=off has MPI carry the data")


@functools.cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


@contextlib.contextmanager
def _current(queue: Queue) -> Iterator[Any]:
    """The driver, with the context of a queue's GPU current on this thread."""
    driver = _driver()
    driver.cuCtxPushCurrent_v2(ctypes.c_void_p(device_native(queue.device).context))
    try:
        yield driver
    finally:
        driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


def new_id() -> bytes:
    """What the processes of one communicator have in common."""
    made = _UniqueId()
    status = library().ncclGetUniqueId(ctypes.byref(made))
    if status:
        raise DeviceError(f"ncclGetUniqueId of NCCL failed: {library().ncclGetErrorString(status).decode()}")
    return bytes(made)
