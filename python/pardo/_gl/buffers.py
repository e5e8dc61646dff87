# python/pardo/_gl/buffers.py: buffers of OpenGL whose elements are arrays for a while.
from __future__ import annotations

import contextlib
import ctypes
import math
import operator
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.creation import empty as empty_array
from pardo._base import arguments
from pardo._base.arguments import Shape
from pardo._base.records import made_records
from pardo._core import Array, Device, Queue
from pardo._gl import functions as gl
from pardo._gl.functions import Context
from pardo._gl.sharing import Owned, Registration, refusal, shares, sharing
from pardo._runtime.transfers import note_copy

_ACCESSES = ("update", "read", "write")
_PERSISTENT = gl.MAP_READ | gl.MAP_WRITE | gl.MAP_PERSISTENT | gl.MAP_COHERENT


def name_of(obj: Any, op_name: str, kind: str) -> int:
    """The number that OpenGL knows an object by."""
    given = getattr(obj, "glo", obj)
    if isinstance(given, bool):
        given = None
    try:
        name = operator.index(given)
    except TypeError:
        raise TypeError(f"{op_name}: expected a {kind} of moderngl or the number of one of OpenGL, not {type(obj).__name__}") from None
    if not 0 < name < 2**32:
        raise ValueError(f"{op_name}: OpenGL has no {kind} {name}")
    return name


def place_of(where: Any, op_name: str) -> Queue:
    """The queue that a mapping is for."""
    if isinstance(where, Queue):
        return where
    return arguments.queue_of(where, None, None, op_name)


@contextlib.contextmanager
def bound(context: Context, name: int) -> Iterator[int]:
    """Binds a buffer to a target that is for copies alone, and what was there again."""
    former = context.integer(gl.COPY_READ_BUFFER_BINDING)
    context.glBindBuffer(gl.COPY_READ_BUFFER, name)
    try:
        yield gl.COPY_READ_BUFFER
    finally:
        context.glBindBuffer(gl.COPY_READ_BUFFER, former)


def _number(context: Context, target: int, what: int) -> int:
    value = ctypes.c_int(0)
    context.glGetBufferParameteriv(target, what, ctypes.byref(value))
    return value.value


def _size(context: Context, target: int) -> int:
    value = ctypes.c_int64(0)
    context.glGetBufferParameteri64v(target, gl.BUFFER_SIZE, ctypes.byref(value))
    return value.value


def _asked(context: Context, name: int, what: int) -> int:
    """A number of a buffer that need not be bound where OpenGL can that: calls cost more than what they ask for."""
    if context.version < (4, 5):
        with bound(context, name) as target:
            return _size(context, target) if what == gl.BUFFER_SIZE else _number(context, target, what)
    value = ctypes.c_int64(0)
    context.glGetNamedBufferParameteri64v(name, what, ctypes.byref(value))
    return value.value


def _pointer(context: Context, target: int) -> int | None:
    value = ctypes.c_void_p(0)
    context.glGetBufferPointerv(target, gl.BUFFER_MAP_POINTER, ctypes.byref(value))
    return value.value


def memory_at(address: int, nbytes: int) -> np.ndarray[Any, Any]:
    """Bytes of the host, for as long as they are mapped."""
    memory: Any = (ctypes.c_ubyte * nbytes).from_address(address)
    return np.frombuffer(memory, np.uint8)


class Buffer(Owned):
    """A buffer of OpenGL, whose elements are an array between two commands of OpenGL's: `map`.

    Parameters
    ----------
    buffer : moderngl.Buffer or int
        The buffer, or the number (name) that OpenGL knows it by, as PyOpenGL and pyglet have it. Its context is current.
    dtype : data type, optional
        Of its elements, also a structured one: a vertex with its attributes. Default: float32.
    shape : int or tuple of int, optional
        Of the array. Default: all elements, in one dimension.
    offset : int, optional
        Where in the buffer the first element is, in bytes.

    Attributes
    ----------
    glo : int
        The number that OpenGL knows it by.
    dtype : numpy.dtype
        Of the elements.
    shape : tuple of int
        Of the array.
    offset : int
        In bytes.
    nbytes : int
        Bytes of the array.

    Raises
    ------
    RuntimeError
        No context is current in this thread.
    TypeError
        `buffer` is no buffer, or pardo has no such dtype.
    ValueError
        There is no such buffer, it is smaller than the array, or the elements would not be aligned.

    See Also
    --------
    empty, Image

    Notes
    -----
    OpenGL's state is left as it was. What is created in OpenGL is its creator's: a `Buffer` deletes nothing when it goes. A GPU that has
    the memory of the context registers the buffer at the first `map` there, for as long as there is a `Buffer` of it: delete that before
    the buffer, or before the buffer gets other memory (``orphan``, ``glBufferData``).
    """

    _what = "buffer"

    def __init__(self, buffer: Any, dtype: DTypeLike = np.float32, shape: Shape | None = None, *, offset: int = 0) -> None:
        op_name = "gl.Buffer"
        self.glo = name_of(buffer, op_name, "buffer")
        self.dtype = arguments.dtype_of(dtype, op_name, fields=True)
        self.offset = arguments.index(offset, f"{op_name}: offset")
        self._context = gl.current(op_name)
        self._lasts = False  # whether it is mapped until another device needs it
        self._persistent: int | None = None  # where it is then
        self._registrations = {}
        self._deleted = False
        size = self._checked_size(self._context, op_name)
        if self.offset < 0 or self.offset % self.dtype.alignment:
            raise ValueError(f"{op_name}: offset is {self.offset}; elements of {self.dtype} begin at multiples of {self.dtype.alignment}")
        if self.dtype.itemsize == 0:
            raise ValueError(f"{op_name}: elements of {self.dtype} have no bytes")
        if shape is None:
            left = size - self.offset
            if left < 0 or left % self.dtype.itemsize:
                raise ValueError(
                    f"{op_name}: the buffer has {size} bytes, of which elements of {self.dtype} from byte {self.offset} on do not take up "
                    "all; say the shape"
                )
            self.shape: tuple[int, ...] = (left // self.dtype.itemsize,)
        else:
            self.shape = tuple(arguments.shape(shape, op_name))
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        self._check_fit(size, op_name)

    def _exists(self, context: Context) -> bool:
        return not self._deleted and bool(context.glIsBuffer(self.glo))

    def _checked_size(self, context: Context, op_name: str) -> int:
        if not self._exists(context):
            self._registrations.clear()
            raise ValueError(f"{op_name}: OpenGL has no buffer {self.glo} in this context; it was deleted, or has never been bound")
        if self._persistent is not None:
            with bound(context, self.glo) as target:
                if _pointer(context, target) != self._persistent:
                    raise ValueError(f"{op_name}: the buffer {self.glo} was deleted, and another one has its number")
        return _asked(context, self.glo, gl.BUFFER_SIZE)

    def _check_fit(self, size: int, op_name: str) -> None:
        if self.offset + self.nbytes > size:
            raise ValueError(
                f"{op_name}: the buffer has {size} bytes; an array of shape {self.shape} and {self.dtype} from byte {self.offset} on needs "
                f"{self.offset + self.nbytes}"
            )

    def map(self, where: Device | Queue | str | None = None, *, access: str = "update", part: slice | None = None) -> BufferMap:
        """Make the elements an array for the time of a `with` block.

        Parameters
        ----------
        where : Queue, Device or str, optional
            Of the array. Default: the default device.
        access : {'update', 'read', 'write'}, optional
            'read' changes nothing. 'write' does not care for what was there: all elements are written, or what they hold is not known.
        part : slice, optional
            Rows of the first axis, one after the other. Default: all.

        Returns
        -------
        BufferMap
            A context manager, which gives an `Array`, or a `StructuredArray`. Its work comes after OpenGL's commands before the block, and
            before those after it. At the end of the block pending work with it is computed; arrays of that memory raise ValueError then.

        Raises
        ------
        RuntimeError
            When the block begins: the context is not current in this thread, or the buffer is mapped already.
        ValueError
            The buffer was deleted or is smaller than it was; or `part` is not a part of it.

        Notes
        -----
        Failures of kernels in the block are raised at its end. Views of NumPy's of that memory must not be used after it.
        """
        op_name = "gl.Buffer.map"
        queue = place_of(where, op_name)
        access = arguments.word(access, f"{op_name}: access", _ACCESSES)
        first, shape = 0, self.shape
        if part is not None:
            if not isinstance(part, slice):
                raise TypeError(f"{op_name}: part must be a slice, not {type(part).__name__}")
            if not self.shape:
                raise ValueError(f"{op_name}: an array without dimensions has no parts")
            begin, end, step = part.indices(self.shape[0])
            if step != 1:
                raise ValueError(f"{op_name}: part has the step {step}; rows follow each other")
            rows = max(end - begin, 0)
            first, shape = begin * (self.nbytes // self.shape[0] if self.shape[0] else 0), (rows, *self.shape[1:])
        return BufferMap(self, queue, access, self.offset + first, shape)

    def explain(self, where: Device | Queue | str | None = None) -> str:
        """Say in which way the elements get to a device.

        Parameters
        ----------
        where : Queue, Device or str, optional
            As of `map`.

        Returns
        -------
        str
            One line.
        """
        op_name = "gl.Buffer.explain"
        queue = place_of(where, op_name)
        context = self._current(op_name)
        self._checked_size(context, op_name)
        if not queue.device._takes_host_memory and (devices := sharing(context, queue.device)):
            if queue.device not in devices:
                return refusal(context, queue.device)
            return (
                f"{queue.device.id} uses the memory of OpenGL's ({context.renderer}) in place: registered with its driver once, and mapped "
                "in the order of the queue for the time of the block; no copy"
            )
        if self._lasts:
            way = "a coherent mapping that lasts as long as the buffer, after a fence"
        else:
            way = "glMapBufferRange for the time of the block"
        if queue.device._takes_host_memory:
            return f"{queue.device.id} uses the memory of OpenGL's ({context.renderer}) in place: {way}; no copy"
        return f"{queue.device.id} works on a copy, which is made from and to the memory of OpenGL's ({context.renderer}): {way}; counted"

    def release(self) -> None:
        """Delete the buffer in OpenGL; it must not be mapped."""
        op_name = "gl.Buffer.release"
        if self._deleted:
            return
        context = self._current(op_name)
        if self._key in context.mapped:
            raise RuntimeError(f"{op_name}: the buffer is mapped; end the block first")
        self._checked_size(context, op_name)
        self._registrations.clear()
        context.glDeleteBuffers(1, ctypes.byref(ctypes.c_uint(self.glo)))
        self._deleted, self._persistent = True, None

    def _leave_mapping(self, context: Context, op_name: str) -> None:
        """OpenGL has it mapped for nothing when a device's driver uses it."""
        if self._persistent is not None:
            self._persistent = None
            with bound(context, self.glo) as target:
                context.glUnmapBuffer(target)
        elif _asked(context, self.glo, gl.BUFFER_MAPPED):
            raise RuntimeError(f"{op_name}: the buffer {self.glo} is mapped already, by other code")

    def _keep_mapped(self, context: Context, op_name: str) -> int:
        """Where it is mapped until a device needs it that has the memory itself."""
        if self._persistent is None:
            with bound(context, self.glo) as target:
                size = _size(context, target)
                address = context.glMapBufferRange(target, 0, size, _PERSISTENT)
            if not address:
                context.check(op_name)
                raise MemoryError(f"{op_name}: OpenGL ({context.renderer}) does not map {size} bytes")
            self._persistent = int(address)
        return self._persistent

    def __repr__(self) -> str:
        return f"<gl.Buffer {self.glo} of shape {self.shape}, {self.dtype}>"


class BufferMap:
    """The time of a `with` block in which the elements of a `Buffer` are an array; made by `Buffer.map`."""

    def __init__(self, buffer: Buffer, queue: Queue, access: str, offset: int, shape: tuple[int, ...]) -> None:
        self._buffer, self._queue, self._access, self._offset, self._shape = buffer, queue, access, offset, shape
        dtype = buffer.dtype
        self._records = dtype.names is not None
        self._extents = [*shape, dtype.itemsize] if self._records else list(shape)
        self._element: np.dtype[Any] = np.dtype(np.uint8) if self._records else dtype
        self._nbytes = math.prod(shape) * dtype.itemsize
        self._memory: Array | None = None
        self._copied = not queue.device._takes_host_memory
        self._shared: Registration | None = None  # what is mapped until the end, by the device's driver
        self._in_place = False  # whether OpenGL has it mapped for us until the end

    def __enter__(self) -> Any:
        op_name = "gl.Buffer.map"
        buffer, name = self._buffer, self._buffer.glo
        context = buffer._current(op_name)
        if self._memory is not None:
            raise RuntimeError(f"{op_name}: the block has begun already; each needs a call of map")
        buffer._check_fit(buffer._checked_size(context, op_name), op_name)
        if buffer._key in context.mapped:
            raise RuntimeError(f"{op_name}: the buffer {name} is mapped already; end that block first")
        device = self._queue.device
        if self._nbytes == 0:
            memory = empty_array(self._extents, dtype=self._element, queue=self._queue)
        elif not device._takes_host_memory and shares(op_name, context, device):
            self._copied = False
            buffer._leave_mapping(context, op_name)
            shared = buffer._registered(op_name, context, device)
            memory = shared.object.map(op_name, self._offset, self._element, self._extents, self._access == "read", buffer, self._queue)
            self._shared = shared
        elif self._copied:
            memory = self._copy_in(context, op_name)
        else:
            address = self._map(context, op_name, self._access)
            try:
                memory = _core._borrow(op_name, address, self._element, self._extents, self._access == "read", buffer, self._queue)
            except BaseException:
                self._unmap(context, op_name)
                raise
        try:
            shown = made_records("of_bytes", memory, buffer.dtype, op_name) if self._records else memory
        except BaseException:
            if self._shared is not None:
                self._shared.object.unmap(op_name, memory, "the block of gl.Buffer.map has not begun")
            self._unmap(context, op_name)
            raise
        self._memory = memory
        context.mapped.add(buffer._key)
        return shown

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None) -> None:
        op_name = "gl.Buffer.map"
        memory, buffer = self._memory, self._buffer
        if memory is None:
            raise RuntimeError(f"{op_name}: the block has not begun")
        self._memory = None
        message = f"the array is memory of OpenGL's buffer {buffer.glo}, and the block of gl.Buffer.map in which it could be used has ended"
        shared, self._shared = self._shared, None
        if shared is not None:
            unmap, retire = shared.object.unmap, _core._retire
            buffer._end_shared(op_name, shared, lambda: unmap(op_name, memory, message), lambda: retire(memory, message))
            return
        host: np.ndarray[Any, Any] | None = None
        try:
            if self._copied and self._access != "read" and self._nbytes:
                host = np.empty(self._extents, self._element)
                note_copy(op_name, self._nbytes, self._queue.device.id, False)
                memory._copy_to(host)
        finally:
            try:
                _core._retire(memory, message)
            finally:
                self._give_back(op_name)
        if host is not None:
            context = buffer._current(op_name)
            address = self._map(context, op_name, "write")
            try:
                memory_at(address, self._nbytes)[...] = host.reshape(-1).view(np.uint8)
            finally:
                self._unmap(context, op_name)

    def _give_back(self, op_name: str) -> None:
        """Another thread cannot end OpenGL's mapping: the buffer then stays mapped."""
        buffer = self._buffer
        if self._in_place:
            self._unmap(buffer._current(op_name), op_name)
        buffer._context.mapped.discard(buffer._key)

    def _copy_in(self, context: Context, op_name: str) -> Array:
        """What is in the buffer now, on the device."""
        if self._access == "write":
            return empty_array(self._extents, dtype=self._element, queue=self._queue)
        address = self._map(context, op_name, "read")
        try:
            host = memory_at(address, self._nbytes).view(self._element).reshape(self._extents)
            copy = _core._copy_operand(host, self._element, self._queue, op_name)
        finally:
            self._unmap(context, op_name)
        if self._access == "read":
            copy._set_writeable(False)
        return copy

    def _map(self, context: Context, op_name: str, access: str) -> int:
        """The address of the first element on the host, after OpenGL's commands so far."""
        buffer = self._buffer
        if buffer._lasts:
            address = buffer._keep_mapped(context, op_name)
            context.wait(op_name)
            return address + self._offset
        flags = {"read": gl.MAP_READ, "write": gl.MAP_WRITE | gl.MAP_INVALIDATE_RANGE, "update": gl.MAP_READ | gl.MAP_WRITE}[access]
        with bound(context, buffer.glo) as target:
            if _number(context, target, gl.BUFFER_MAPPED):
                raise RuntimeError(f"{op_name}: the buffer {buffer.glo} is mapped already, by other code")
            if context.has_storage and _number(context, target, gl.BUFFER_IMMUTABLE_STORAGE):
                may = _number(context, target, gl.BUFFER_STORAGE_FLAGS)
                if flags & (gl.MAP_READ | gl.MAP_WRITE) & ~may:
                    raise RuntimeError(
                        f"{op_name}: the storage of the buffer {buffer.glo} was made without MAP_READ or MAP_WRITE, which "
                        f"access={access!r} needs"
                    )
            address = context.glMapBufferRange(target, self._offset, self._nbytes, flags)
        if not address:
            context.check(op_name)
            raise RuntimeError(f"{op_name}: OpenGL ({context.renderer}) does not map the buffer {buffer.glo}")
        self._in_place = True
        return int(address)

    def _unmap(self, context: Context, op_name: str) -> None:
        if not self._in_place:
            return
        self._in_place = False
        name = self._buffer.glo
        if not context.glIsBuffer(name):
            raise RuntimeError(f"{op_name}: the buffer {name} was deleted while it was mapped")
        with bound(context, name) as target:
            whole = context.glUnmapBuffer(target)
        if not whole:
            raise RuntimeError(f"{op_name}: OpenGL has lost what was in the buffer {name} (the display's mode has changed)")


def empty(shape: Shape, dtype: DTypeLike = np.float32, *, device: Device | Queue | str | None = None) -> Buffer:
    """Make a buffer in OpenGL, with memory that suits a device.

    Parameters
    ----------
    shape : int or tuple of int
        Of the array.
    dtype : data type, optional
        Of its elements, also a structured one. Default: float32.
    device : Device, Queue or str, optional
        What it will mostly be mapped for; others can map it too. For the CPU, and devices that work on copies, it is mapped as long as it
        exists, where OpenGL can that: the CPU then works in it without a call. For a GPU that has the memory of the context it is memory of
        that GPU. Default: the default device.

    Returns
    -------
    Buffer
        Its elements are not initialised. `Buffer.glo` is its number, which moderngl takes by ``ctx.external_buffer(b.glo, b.nbytes)``;
        `Buffer.release` deletes it.

    Raises
    ------
    RuntimeError
        No context is current in this thread.
    ValueError
        Another GPU than `device` has the memory of the context; the message names it.
    MemoryError
        OpenGL has not enough memory.
    """
    op_name = "gl.empty"
    extents = arguments.shape(shape, op_name)
    element = arguments.dtype_of(dtype, op_name, fields=True)
    nbytes = math.prod(extents) * element.itemsize
    if nbytes >= 2**63:
        raise MemoryError(f"{op_name}: {nbytes} bytes are more than can be addressed")
    context = gl.current(op_name)
    mostly = place_of(device, op_name).device
    in_place = not mostly._takes_host_memory and shares(op_name, context, mostly)
    lasts = context.has_storage and not in_place
    name = ctypes.c_uint(0)
    context.glGenBuffers(1, ctypes.byref(name))
    made = max(nbytes, 16)  # OpenGL has no storage without bytes
    try:
        with bound(context, name.value) as target:
            if lasts:
                context.glBufferStorage(target, made, None, _PERSISTENT | gl.DYNAMIC_STORAGE)
            else:
                context.glBufferData(target, made, None, gl.DYNAMIC_COPY if in_place else gl.DYNAMIC_DRAW)
            if _size(context, target) != made:
                context.check(op_name)
                raise MemoryError(f"{op_name}: OpenGL ({context.renderer}) makes no buffer of {made} bytes")
        buffer = Buffer(name.value, element, extents)
        buffer._lasts = lasts
        if lasts:
            buffer._keep_mapped(context, op_name)
    except BaseException:
        context.glDeleteBuffers(1, ctypes.byref(name))
        raise
    return buffer
