# python/pardo/_host/npy.py: `.npy` files straight to a device and back, a part at a time: the host never holds a whole array.
from __future__ import annotations

import os
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import asnumpy, host_view
from pardo._base import promotion
from pardo._base.arguments import DeviceLike, dtype_of, queue_of
from pardo._base.orders import is_column_major
from pardo._core import Array, Event
from pardo._runtime.memory import MemoryHost

PART = 8 << 20  # bytes of the host that a file goes through; to a GPU 4 and 16 MiB are a tenth slower
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read(file: Any, max_header_size: int, device: DeviceLike) -> Array | None:
    """The array of a file; None for a file that holds something else or cannot be read in parts, which is left as it was."""
    if isinstance(file, (str, bytes, os.PathLike)):
        with open(file, "rb", buffering=0) as opened:
            return read(opened, max_header_size, device)
    if not all(hasattr(file, name) for name in ("readinto", "seek", "tell")):
        return None
    start = file.tell()
    header = _header(file, max_header_size)
    dtype = None if header is None else np.dtype(header[2])
    if header is None or dtype is None or dtype.kind not in "biufc" or not dtype.isnative or dtype.itemsize > 16 or dtype.char in "gG":
        file.seek(start)
        return None
    shape, by_columns, _ = header
    if wrong := [n for n in shape if isinstance(n, bool)]:  # NumPy's reader takes it for an integer
        raise TypeError(f"load: the file's shape is {shape}, and {wrong[0]} is no integer")
    x = _core._empty(
        [int(n) for n in (shape[::-1] if by_columns else shape)], dtype_of(dtype, "load"), queue_of(device, None, op_name="load")
    )
    _fill(file, x)
    return x.T if by_columns else x


def _header(file: Any, max_header_size: int) -> tuple[tuple[int, ...], bool, Any] | None:
    try:
        version = np.lib.format.read_magic(file)
    except ValueError:
        return None
    reader = _HEADERS.get(version)
    return None if reader is None else reader(file, max_header_size)


def _fill(file: Any, x: Array) -> None:
    """All elements in row-major order, from where the file stands. One part is read while the one before is copied."""
    flat = _core._reshape(x, [-1])
    step = max(PART // x.itemsize, 1)
    room = min(step, x.size)
    buffers = [_buffer(room, x) for _ in range(min(2, x.size))]
    copies: list[Event | None] = [None, None]
    try:
        for number, first in enumerate(range(0, x.size, step)):
            part = flat[first : first + step]
            if (copied := copies[number % 2]) is not None:
                copied.wait()
            buffer, view = buffers[number % len(buffers)] if part.size == room else _buffer(part.size, x)
            have = 0
            while have < part.nbytes:
                count = file.readinto(view[have:])
                if not count:
                    expected, got = x.nbytes, first * x.itemsize + have
                    raise ValueError(f"load: the file ends too early: expected {expected} bytes of elements, got {got}")
                have += count
            copies[number % 2] = x.queue.copy(part, buffer)
    finally:
        for copied in copies:
            if copied is not None:
                copied.wait()


def _buffer(count: int, x: Array) -> tuple[Any, memoryview]:
    """Memory of the host for some elements of an array, from which the device copies fastest, and its bytes."""
    try:
        block: Any = MemoryHost(count * x.itemsize, queue=x.queue)
        return block, memoryview(block).cast("B")
    except (BufferError, TypeError, ValueError, RuntimeError):  # it has none
        elements: Any = np.empty(count, x.dtype)
        return elements, memoryview(elements.view(np.uint8))


def check_dtype(dtype: np.dtype[Any]) -> None:
    """TypeError for what a file would not say: NumPy writes bytes of no type."""
    if promotion.is_bfloat16(dtype):
        raise TypeError("save: NumPy's files have no bfloat16: save x.astype('float32'), or x.view('uint16') and view what is loaded")


def write(file: Any, x: Array) -> None:
    """The file that `numpy.save` makes of the array."""
    if isinstance(file, (str, bytes, os.PathLike)):
        path = os.fspath(file)
        ending: Any = b".npy" if isinstance(path, bytes) else ".npy"
        with open(path if path.endswith(ending) else path + ending, "wb") as opened:
            return write(opened, x)
    by_columns = is_column_major(x.wait())
    check_dtype(x.dtype)
    described = {"descr": np.lib.format.dtype_to_descr(x.dtype), "fortran_order": by_columns, "shape": x.shape}
    np.lib.format.write_array_header_1_0(file, described)
    flat = _core._reshape(x.T if by_columns else x, [-1])
    seen = host_view(flat)
    step = max(x.size, 1) if seen is not None and seen.flags.c_contiguous else max(PART // x.itemsize, 1)
    for first in range(0, x.size, step):
        part: Any = asnumpy(flat[first : first + step]) if seen is None else np.ascontiguousarray(seen[first : first + step])
        file.write(memoryview(part).cast("B"))
    return None
