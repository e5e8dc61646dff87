# python/pardo/_array/interop.py: arrays in and out: asarray, asnumpy, DLPack, NumPy's protocols, pickle, copy.
from __future__ import annotations

import functools
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import DTypeLike, NDArray
from pardo import _core
from pardo._array.array_interface import Checked, describe, has_buffer, host_values, stream_of
from pardo._base import promotion
from pardo._base.arguments import (
    HOST,
    SCALARS,
    DeviceLike,
    copy_flag,
    default_on,
    default_queue,
    dtype_of,
    following,
    in_memory,
    index,
    not_an_array,
    number,
    on_queue,
    optional_dtype,
    queue_of,
    queue_of_pickle,
    refuse_masked,
    same_queue,
    warn_of_lost_parts,
)
from pardo._base.orders import axes_like, copied_in_order, copy_by_rows, host_in_order, is_column_major, read_order, satisfies
from pardo._base.promotion import kind_of
from pardo._base.records import Records, made_records
from pardo._core import (
    Array,
    ExecutionPlacementError,
    Queue,
    _copy_buffer,
    _dtype_of_values,
    _from_cuda_memory,
    _from_dlpack,
    _share_buffer,
    _shared_at_sight,
)
from pardo._runtime.transfers import implicit_copies_allowed

__all__ = [
    "array",
    "asarray",
    "asnumpy",
    "from_dlpack",
    "writable_buffers",
]


_DL_CUDA = 2  # DLPack's type of devices


@functools.cache
def _host_queue() -> Queue:
    """The canonical queue of the CPU; importing the package touches no device."""
    return Queue.of(HOST)


def from_host(obj: Any, dtype: DTypeLike | None, target: Queue, op_name: str, usm_type: str | None = None, order: str = "C") -> Array:
    """A copy of what NumPy makes an array of."""
    kind = "device" if usm_type is None else usm_type
    wanted = optional_dtype(dtype, op_name, any_order=True, fields=True)
    if wanted is not None and wanted.names is not None:
        refuse_masked(obj, op_name)
        return made_records("of_values", obj, wanted, target, op_name, kind, order)
    host = host_values(obj, wanted, op_name)
    if host.dtype.names is not None:
        return made_records("of_host", host, None, target, op_name, kind, order)
    host, element = _numbers(host, obj, dtype, target, op_name)
    return host_in_order(host, order, lambda h: _copy_buffer(h, element, target, kind))


def host_operand(obj: Any, target: Queue, op_name: str, follows: bool = True) -> Array:
    """A copy of values of the host on the queue of the arrays that they meet, or where nothing `follows` on the default one; the core calls
    it for all but plain arrays of NumPy."""
    home = _core._array_among(obj) if isinstance(obj, (list, tuple)) else None
    if home is not None:
        return _of_parts(obj, None, target if follows else home.queue, op_name, op_name, 2 if follows else _core._pull(home))
    if isinstance(obj, np.matrix):
        raise TypeError(f"{op_name}: a numpy.matrix has operators of its own; use numpy.asarray(m), whose * works element by element")
    try:
        host, element = _host_of(obj, None, target, op_name)
    except TypeError as error:
        if isinstance(obj, np.ndarray) and obj.dtype.names is not None:  # functions of structured arrays may take it
            error.host_operand = obj, op_name  # type: ignore[attr-defined]
        raise
    return _core._copy_operand(host, element, target, op_name, follows)


def stored_values(obj: Any, target: Queue, dtype: np.dtype[Any], op_name: str) -> Array:
    """Convert Python's values to the dtype of the array that will store them, and copy them to its queue.

    Each value is converted as NumPy converts it; one that does not fit raises. The core calls this for objects without a dtype.
    """
    if isinstance(obj, (list, tuple)) and _core._array_among(obj) is not None:
        return _of_parts(obj, dtype, target, op_name, op_name, 2)
    made: Array = _core._copy_operand(_converted(obj, dtype, op_name), dtype, target, op_name)
    return made


def _converted(obj: Any, dtype: np.dtype[Any], op_name: str) -> NDArray[Any]:
    if isinstance(obj, (complex, np.complexfloating)) and kind_of(dtype) in "iuf":
        raise TypeError(f"{op_name}: a complex number cannot be stored in an array of {dtype}; take its real part first")
    try:
        return host_values(obj, dtype, op_name)
    except (TypeError, ValueError, OverflowError) as error:
        if str(error).startswith(f"{op_name}: "):
            raise
        kind = next(k for k in (OverflowError, ValueError, TypeError) if isinstance(error, k))
        hint = " (nan stands for what is missing)" if obj is None else ""
        raise kind(f"{op_name}: {error}{hint}") from None


def stored(values: Any, like: Array, op_name: str) -> Array:
    """What is to be stored in an array, in its dtype: arrays are cast, numbers and sequences of them have to fit."""
    if isinstance(values, SCALARS):
        return number(_converted(values, like.dtype, op_name)[()], like.dtype, like.queue, op_name)
    if type(values) is Array:
        new = following(values, like, op_name)
        same_queue(like, new, op_name)
    elif hasattr(values, "dtype") or hasattr(values, "__array__") or _has_exchange(values) or has_buffer(values):
        new = on_queue(values, like.queue, op_name) if _core._is_host_data(values) else from_host(values, None, like.queue, op_name)
    else:
        return stored_values(values, like.queue, like.dtype, op_name)
    if isinstance(new, Records):
        raise not_an_array(new, op_name)
    if new._kind == "c" and like._kind in "iuf":
        warn_of_lost_parts(op_name)
    cast: Array = new._astype(like.dtype, False)
    return cast


def _of_parts(obj: Any, dtype: Any, target: Queue, op_name: str, implicit: str | None, pull: int) -> Array:
    """Nested lists with arrays among them, put together on a queue; `implicit`: what copies the values of the host in them, if no call
    asks for that by name, which moves any array; else only those are moved that follow, because their `_pull` is less."""
    if type(obj) is Array:
        if obj.queue != target and implicit is not None and _core._pull(obj) >= pull:
            raise ExecutionPlacementError(
                f"{op_name}: operands are on different queues: {target!r} and {obj.queue!r}; copy one explicitly with to_device or to_queue"
            )
        if obj._kind == "c" and dtype is not None and kind_of(dtype) in "iuf":
            warn_of_lost_parts(op_name)
        cast = obj if dtype is None else obj._astype(dtype, False)
        return cast._to_queue(target) if implicit is None else _core._follow(cast, target, implicit)
    if not isinstance(obj, (list, tuple)) or _core._array_among(obj) is None:
        if isinstance(obj, SCALARS):
            return number(obj if dtype is None else _converted(obj, np.dtype(dtype), op_name)[()], dtype, target, op_name)
        if implicit is not None:
            made: Array = _core._copy_operand(*_host_of(obj, dtype, target, op_name), target, implicit)
            return made
        return from_host(obj, dtype, target, op_name)
    parts = [_of_parts(part, dtype, target, op_name, implicit, pull) for part in obj]
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError(
            f"{op_name}: setting an array element with a sequence: the parts of a list have different shapes, "
            f"{', '.join(map(str, dict.fromkeys(part.shape for part in parts)))}"
        )
    return _core._stack(parts, 0)


def _host_of(obj: Any, dtype: DTypeLike | None, target: Queue, op_name: str) -> tuple[NDArray[Any], np.dtype[Any]]:
    """What NumPy makes an array of, in the byte order of the machine, and the dtype that it gets on a queue."""
    return _numbers(host_values(obj, optional_dtype(dtype, op_name, any_order=True), op_name), obj, dtype, target, op_name)


def _numbers(host: NDArray[Any], obj: Any, dtype: DTypeLike | None, target: Queue, op_name: str) -> tuple[NDArray[Any], np.dtype[Any]]:
    if dtype is None and not hasattr(obj, "dtype") and not has_buffer(obj):  # Python's numbers: they take the default dtype
        host = host.astype(default_on(target, host.dtype), copy=False)
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    return host, _dtype_of_host(host, obj, op_name)


def _dtype_of_host(host: NDArray[Any], obj: Any, op_name: str) -> np.dtype[Any]:
    """The dtype of what NumPy has made of an object, if it is of numbers."""
    return dtype_of(host.dtype, op_name) if kind_of(host.dtype) in "biufc" else _dtype_of_values(op_name, obj, host)


def check_fits(values: Array, shape: Sequence[int], op_name: str) -> None:
    """That values can be stored in an array of a shape: they are broadcast, and may have more dimensions of extent 1 in front."""
    front = max(values.ndim - len(shape), 0)
    ends = zip(reversed(values.shape), reversed([1] * front + list(shape)), strict=False)
    if any(n not in (1, extent) for n, extent in ends):
        raise ValueError(f"{op_name}: values of shape {values.shape} cannot be broadcast to shape {tuple(shape)}")


def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Convert the input to an array: anything that NumPy makes one of.

    Parameters
    ----------
    a : object
        Numbers, nested lists (of numbers, NumPy arrays or arrays of pardo), NumPy arrays, objects with the buffer
        protocol, ``__dlpack__``, ``__cuda_array_interface__`` or ``__array__``, and arrays.
    dtype : data type, optional
        Default: the dtype of `a`; NumPy's default for Python numbers.
    order : {'K', 'C', 'F', 'A'}, optional
        How the elements lie in memory: 'C' row-major, 'F' column-major, 'A' column-major if those of `a` do, 'K' with the
        axes in the order of those of `a`. Default: 'K'.
    device : Device or str, optional
        Where the array is made. Default: where `a` is if it is an array of pardo or on a GPU, else the default device.
    copy : bool, optional
        True always copies. False shares the memory of `a`, which must have an address that the device can read. Default:
        arrays of pardo are returned as they are when dtype and device fit, everything else is copied.
    queue : Queue, optional
        A queue of the device, in place of `device`.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory. Default: that of `a` if it is an array on the device, else 'device'; with `copy=False` it is
        'host'.

    Returns
    -------
    Array
        Memory that is shared with `copy=False` may be written by its owner at any time: operations on it run at once.

    Raises
    ------
    ValueError
        `copy=False` is impossible, the nested lists are ragged, the order or the kind of memory does not exist, or no such
        device exists.
    TypeError
        `a` holds something else than numbers of at most 64 bits, or the dtype is not supported.
    """
    if copy is False and type(a) is ndarray and dtype is None and order is None and device is None and queue is None and usm_type is None:
        shared: Array | None = _shared_at_sight(a)
        if shared is not None:
            return shared
    return _made("asarray", a, dtype, order, device, copy, queue, usm_type)


def _made(
    op_name: str,
    obj: Any,
    dtype: DTypeLike | None,
    order: str | None,
    device: DeviceLike,
    copy: bool | None,
    queue: Queue | None,
    usm_type: str | None,
) -> Array:
    wanted_order = "K" if order is None or order == "K" else read_order(order, op_name)
    refuse_masked(obj, op_name)
    copy = copy_flag(copy, op_name)
    if isinstance(obj, Records) or (type(obj) is Array and dtype is not None and dtype_of(dtype, op_name, fields=True).names is not None):
        element = optional_dtype(dtype, op_name, fields=True)
        return made_records("of_array", op_name, obj, element, wanted_order, copy, queue_of(device, queue, obj.queue), usm_type)  # type: ignore[union-attr]
    if type(obj) is Array:
        late = None if copy and wanted_order != "K" else copy  # one copy, in that order
        made = _of_kind(_as_array_of_array(obj, dtype, queue_of(device, queue, obj.queue), late, op_name), usm_type, copy, op_name)
        if wanted_order == "A" and (copy or made is not obj):
            wanted_order = "F" if not obj._surely_row_major() and is_column_major(obj) else "C"
        return copied_in_order(made, wanted_order) if copy and made is obj and late is None else _ordered(made, wanted_order, copy, op_name)
    home = _core._array_among(obj) if type(obj) in (list, tuple) and copy is not False else None
    if home is not None:
        named = device is not None or queue is not None
        element = optional_dtype(dtype, op_name)
        where = queue_of(device, queue, home.queue)
        made = _of_parts(obj, element, where, op_name, None if named else op_name, _core._pull(home))
        return _ordered(_of_kind(made, usm_type, copy, op_name), "C" if wanted_order in "KA" else wanted_order, copy, op_name)
    target = queue_of(device, queue)
    if not isinstance(obj, (np.ndarray, np.generic)) and _has_exchange(obj) and not has_buffer(obj):
        wanted = None if device is None and queue is None and _on_cuda(obj) else target
        imported = _import(obj, wanted, copy is not False, op_name)
        made = imported if dtype is None else _as_array_of_array(imported, dtype, imported.queue, False if copy is False else None, op_name)
        return _ordered(_of_kind(made, usm_type, copy, op_name), wanted_order, copy, op_name)
    if copy is False:
        return _ordered(_of_kind(_share(obj, dtype, target, op_name), usm_type, copy, op_name), wanted_order, copy, op_name)
    return from_host(obj, dtype, target, op_name, usm_type, wanted_order)


def _ordered(x: Array, order: str, copy: bool | None, op_name: str) -> Array:
    if order in "KA" or satisfies(x, order):
        return x
    if copy is False:
        raise ValueError(f"{op_name}: copy=False is impossible: the elements do not lie in memory as order={order!r} asks for")
    return copied_in_order(x, order)


def _of_kind(x: Array, usm_type: str | None, copy: bool | None, op_name: str) -> Array:
    if copy is False and usm_type is not None and x.usm_type != usm_type:
        raise ValueError(f"{op_name}: copy=False is impossible: the memory is of kind '{x.usm_type}', not '{usm_type}'")
    return in_memory(x, usm_type, op_name)


def _as_array_of_array(x: Array, dtype: DTypeLike | None, target: Queue, copy: bool | None, op_name: str) -> Array:
    wanted = optional_dtype(dtype, op_name) or x.dtype
    same_dtype = wanted == x.dtype
    same_queue = x.queue == target
    if same_dtype and same_queue:
        return x._copy() if copy else x
    if copy is False:
        reason = f"the dtype would change from {x.dtype} to {wanted}" if not same_dtype else "it is on another queue"
        raise ValueError(f"{op_name}: copy=False is impossible: {reason}")
    if x._kind == "c" and kind_of(wanted) in "iuf":
        warn_of_lost_parts(op_name)
    y = x if same_dtype else x._astype(wanted, True)
    return y if same_queue else y._to_queue(target)


def _has_exchange(obj: Any) -> bool:
    return hasattr(obj, "__dlpack__") or hasattr(obj, "__cuda_array_interface__")


def _on_cuda(obj: Any) -> bool:
    """Whether another library's memory is on a GPU: it stays there unless a device is named."""
    if hasattr(obj, "__dlpack_device__"):
        return int(obj.__dlpack_device__()[0]) == _DL_CUDA
    return True


def _import(obj: Any, queue: Queue | None, copy: bool | None, op_name: str) -> Array:
    if hasattr(obj, "__dlpack__"):
        return _from_dlpack(obj, queue, copy)
    return _from_cuda(obj, queue, copy, op_name)


def _from_cuda(obj: Any, queue: Queue | None, copy: bool | None, op_name: str) -> Array:
    """An object with `__cuda_array_interface__`, versions 2 and 3."""
    d = describe(obj, "__cuda_array_interface__", op_name)
    if not d.dtype.isnative:
        raise TypeError(f"{op_name}: the byte order of {d.dtype.str} is not the machine's")
    address, read_only = d.address()
    if d.dtype.names is not None:
        size = d.dtype.itemsize
        lines = _from_cuda_memory(address, np.dtype("u1"), [*d.shape, size], [*d.strides, 1], read_only, stream_of(d), obj, queue, copy)
        return made_records("of_bytes", lines, d.dtype, op_name)
    return _from_cuda_memory(address, dtype_of(d.dtype, op_name), d.shape, d.strides, read_only, stream_of(d), obj, queue, copy)


def _share(obj: Any, dtype: DTypeLike | None, target: Queue, op_name: str) -> Array:
    wanted = optional_dtype(dtype, op_name, fields=True)
    if not isinstance(obj, np.ndarray) and not has_buffer(obj):
        raise ValueError(f"{op_name}: copy=False is impossible: {type(obj).__name__} has no memory that can be shared")
    host = np.asarray(obj)
    if not host.dtype.isnative:
        raise ValueError(f"{op_name}: copy=False is impossible: the byte order would change")
    if wanted is not None and wanted != host.dtype:
        raise ValueError(f"{op_name}: copy=False is impossible: the dtype would change from {host.dtype} to {wanted}")
    device = target.device
    if not device._takes_host_memory:
        raise ValueError(f"{op_name}: copy=False is impossible: {target.device} does not share the host's memory")
    if not host.flags.aligned:
        raise ValueError(f"{op_name}: copy=False is impossible: the memory is not aligned for its dtype")
    if host.dtype.names is not None:
        return made_records("shared", host, target, op_name)
    return _share_buffer(host, _dtype_of_host(host, obj, op_name), target)


def array(
    object: Any,
    dtype: DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    ndmax: int = 64,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Create an array: `asarray` that copies by default, as NumPy's.

    Parameters
    ----------
    object : object
        Anything that `asarray` takes.
    dtype : data type, optional
        Default: its own.
    copy : bool, optional
        As for `asarray`.
    order : {'K', 'C', 'F', 'A'}
        As for `asarray`.
    ndmin : int
        Dimensions of extent 1 are put in front until there are so many.
    ndmax : int
        How deep lists may be nested.
    device, queue, usm_type : optional
        As for `asarray`.

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    ValueError, TypeError
        As `asarray`; TypeError also if `ndmin` or `ndmax` is not an integer, ValueError if lists are nested deeper than `ndmax`, which
        is not between 0 and 64.
    """
    most = index(ndmax, "array: ndmax")
    if not 0 <= most <= 64:
        raise ValueError(f"array: ndmax is {most}; it must be between 0 and 64")
    x = _made("array", object, dtype, order, device, copy, queue, usm_type)
    if isinstance(object, (list, tuple)) and x.ndim > most:
        raise ValueError(f"array: the lists are nested {x.ndim} deep, but ndmax is {most}")
    missing = index(ndmin, "array: ndmin") - x.ndim
    return x[(None,) * missing] if missing > 0 else x


def asnumpy(x: Any, /) -> NDArray[Any]:
    """Copy an array from any device to a new NumPy array.

    Parameters
    ----------
    x : Array
        Anything else goes through `numpy.array`.

    Returns
    -------
    numpy.ndarray
        A writable, contiguous copy.

    Raises
    ------
    RuntimeError
        The computation of the array failed.
    TypeError
        `x` is a masked array of NumPy, which would lose its mask.

    Notes
    -----
    Copies of 4 MiB and more lie in memory of the CPU device (`memory_stats`), which is used again when they are gone (`trim_memory`).
    """
    if type(x) is not Array:
        if isinstance(x, Records):
            return x._to_host()  # type: ignore[attr-defined, no-any-return]
        refuse_masked(x, "asnumpy")
        return np.array(x)
    host = host_array(x.shape, x.dtype, x.nbytes)
    x._copy_to(host)
    return host


_POOLED = 4 << 20  # bytes: above, the system clears pages for every array, which takes longer than to copy


def host_array(shape: Sequence[int], dtype: np.dtype[Any], nbytes: int) -> NDArray[Any]:
    """An array of NumPy's, not initialised; a large one in memory of the CPU device, whose blocks are used again."""
    if nbytes < _POOLED:
        return np.empty(shape, dtype)
    block: Any = _core._Block(nbytes, "host", 0, Queue.of(HOST), "asnumpy")
    return np.frombuffer(block, dtype).reshape(shape)


def from_dlpack(x: Any, /, *, device: DeviceLike = None, copy: bool | None = None) -> Array:
    """Create an array from an object that speaks DLPack: arrays of NumPy, PyTorch, JAX, CuPy and others.

    Parameters
    ----------
    x : object
        With ``__dlpack__`` and ``__dlpack_device__``.
    device : Device or str, optional
        Where the array is wanted. Default: where `x` is if that is a device of pardo, else the CPU.
    copy : bool, optional
        True copies, False refuses to; by default memory is shared when that is possible.

    Returns
    -------
    Array
        Read-only if the producer says so, or cannot say (DLPack before version 1.0).

    Raises
    ------
    ValueError
        `copy=False` is impossible.
    BufferError
        The producer cannot export its data, or the elements are of a type that pardo does not have.
    TypeError
        `x` does not speak DLPack.
    """
    if type(x) is ndarray and device is None and not copy:
        shared: Array | None = _shared_at_sight(x, _host_queue())
        if shared is not None:
            return shared
    if type(x) is Array:
        return _as_array_of_array(x, None, queue_of(device, None, x.queue), copy, "from_dlpack")
    refuse_masked(x, "from_dlpack")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__ method")
    return _from_dlpack(x, None if device is None else queue_of(device, None), copy)


class writable_buffers:  # noqa: N801 (used like a function)
    """Let other libraries write arrays inside of a `with` block: buffers that they take of them, and `numpy.asarray`, are writable.

    A buffer of an array is read-only as long as the program holds the array, because operations that are recorded may read its memory
    later. Inside of the block operations on these arrays run at once, as on memory that is shared by ``asarray(copy=False)``.

    Parameters
    ----------
    *arrays : Array
        Arrays whose memory the host reads: on the CPU, or of the kinds 'host' and 'shared'. Views of the same memory are writable too.

    Returns
    -------
    context manager
        Gives the array, or a tuple of several.

    Raises
    ------
    TypeError
        Something else than an array of pardo is given.
    BufferError
        The host cannot read the memory of an array.
    ValueError
        An array is read-only.

    Notes
    -----
    What has been taken inside may be written as long as it lives, also after the block, and operations on the array run at once as long. It
    is the memory that is shared, so other threads see the same.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = pp.arange(4.0)
    >>> with pp.writable_buffers(x):
    ...     np.asarray(x)[1] = 10
    >>> x
    array([ 0., 10.,  2.,  3.])
    """

    def __init__(self, *arrays: Array) -> None:
        for x in arrays:
            if type(x) is not Array:
                raise TypeError(
                    f"writable_buffers: arrays of pardo are expected, not {type(x).__name__}; those of NumPy can be written anyway"
                )
            if not _core._is_on_host(x):
                raise BufferError(
                    f"writable_buffers: the host cannot read the memory of an array on {x.device}; use pardo.asnumpy(x), and x[...] = host"
                )
            if not x.writeable:
                raise ValueError("writable_buffers: the array is read-only")
        self._arrays = arrays
        self._shared: list[Any] = []

    def __enter__(self) -> Any:
        self._shared.append(_core._WritableBuffers(self._arrays))
        return self._arrays[0] if len(self._arrays) == 1 else self._arrays

    def __exit__(self, *exception: object) -> None:
        self._shared.pop().close()


_BITS = np.dtype("u2")


def host_view(x: Array, /) -> NDArray[Any] | None:
    """NumPy's read-only view of an array, or nothing where the host does not see its memory: on GPUs, and most OpenCL devices."""
    if x.itemsize == 2 and promotion.is_bfloat16(x.dtype):  # neither buffers nor NumPy's DLPack know it
        host = host_view(x._view_as(_BITS))
        return None if host is None else host.view(x.dtype)
    try:
        return np.asarray(memoryview(x))
    except BufferError:
        return None


_NUMPY_ASKS_FOR_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def shared_view(x: Array, /) -> NDArray[Any]:
    """NumPy's view of an array on the CPU, writable if the array is; what is recorded and still wants to read it is computed first."""
    if x.itemsize == 2 and promotion.is_bfloat16(x.dtype):
        return shared_view(x._view_as(_BITS)).view(x.dtype)
    if _NUMPY_ASKS_FOR_VERSIONS:
        return np.from_dlpack(x)
    try:
        view = np.from_dlpack(x)  # NumPy 2.0 knows no flags of DLPack: it takes every tensor for read-only,
    except BufferError:
        return np.asarray(x)  # and is refused one that is.
    return np.asarray(Checked({**view.__array_interface__, "data": (view.ctypes.data, False)}, view))


def to_array(x: Array, /, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
    """NumPy's view of an array whose memory the host sees: read-only and without a copy, unless `dtype` or `copy` ask for one."""
    if _core._was_interrupted(x):  # NumPy asked for the buffer first, and has swallowed that
        raise KeyboardInterrupt
    host = host_view(x)
    if host is None:
        host = _implicit_copy(x, copy)
    if copy:
        return asnumpy(x) if dtype is None else asnumpy(x).astype(dtype, copy=False)
    if dtype is None or promotion.host_dtype(dtype) == host.dtype:
        return host
    if copy is False:
        raise ValueError(f"__array__: a conversion from {host.dtype} to {np.dtype(dtype)} needs a copy")
    return host.astype(dtype)


def _implicit_copy(x: Array, copy: bool | None) -> NDArray[Any]:
    """A copy of an array on a device whose memory the host cannot read, where that is allowed."""
    if copy is False:
        raise ValueError(f"__array__: the host cannot read the memory of an array on {x.device} without a copy")
    if not implicit_copies_allowed():
        raise TypeError(
            f"implicit conversion to a NumPy array is not possible for an array on {x.device}: use pardo.asnumpy(x); "
            "pardo.allow_implicit_copies() lets other libraries copy"
        )
    _core._note_transfer("__array__", x.nbytes, x.device.id, False)
    return asnumpy(x)


def arrow(x: Array, /) -> tuple[Any, Any]:
    """The capsules of Arrow's C data interface."""
    if x.ndim != 1:
        raise ValueError(
            f"__arrow_c_array__: arrays of Arrow have one dimension, this one has shape {x.shape}: export x.ravel() or columns"
        )
    if not _core._is_on_host(x):
        if not implicit_copies_allowed():
            raise TypeError(f"__arrow_c_array__: the host cannot read the memory of an array on {x.device}: pass pardo.asnumpy(x)")
        _core._note_transfer("__arrow_c_array__", x.nbytes, x.device.id, False)
        x = x._to_queue(_host_queue())
    if x._kind == "b":
        bits = from_host(np.packbits(np.asarray(x), bitorder="little"), None, _host_queue(), "__arrow_c_array__")
        return _core._arrow(bits, x.dtype, x.size)
    return _core._arrow(x if x._is_contiguous() else copy_by_rows(x), x.dtype, x.size)


def fetched(x: Any, op_name: str, *, unless_readable: bool = False) -> Any:
    """Values on the host, for what computes there: the copy of an array is counted, and guards see it, `unless_readable` only where
    the host cannot read the memory. Everything else is given as it is."""
    if type(x) is not Array:
        return x
    if not (unless_readable and x.device._in_host_memory):
        _core._note_transfer(op_name, x.nbytes, x.device.id, False)
    return asnumpy(x)


def reduce_ex(x: Array, protocol: Any, /) -> tuple[Any, ...]:
    """Pickle: the bytes (out of band from protocol 5 on), dtype, shape, device and kind of memory."""
    axes = axes_like(x, "K")
    y = x if axes is None else _core._permute_dims(x, list(axes))
    seen = host_view(y)
    host = np.ascontiguousarray(asnumpy(y) if seen is None else seen).reshape(-1).view(np.uint8)
    data = pickle.PickleBuffer(host.data) if int(protocol) >= 5 else host.tobytes()
    order = () if axes is None else (tuple(axes),)
    return _rebuild, (data, "bfloat16" if promotion.is_bfloat16(x.dtype) else x.dtype.str, x.shape, x.device.id, x.usm_type, *order)


# Libraries whose shared memory is never written again: Ray's object store.
_READ_ONLY = frozenset(["ray._raylet"])


def shared_as_lying(host: NDArray[Any], axes: tuple[int, ...] | None) -> Array:
    """A read-only array on the CPU, in the memory of another; `axes`: as in `reduce_ex`."""
    lying = host if axes is None else host.transpose(np.argsort(axes))
    lying = lying.view()
    lying.flags.writeable = False
    return asarray(lying, device=HOST, copy=False)


def _rebuild(
    data: Any, dtype: str, shape: tuple[int, ...], device: str, usm_type: str = "device", axes: tuple[int, ...] | None = None
) -> Array:
    """A pickled array, on the device it came from if this process has it, else on the default device. `axes`: as they lay in memory, the
    one with the longest steps first."""
    queue = queue_of_pickle(device)
    if queue is None:
        queue, usm_type = default_queue(), "device"
    host = np.frombuffer(data, dtype=promotion.host_dtype(dtype)).reshape(shape if axes is None else [shape[a] for a in axes])
    if type(data).__module__ in _READ_ONLY and queue == _host_queue() and queue.device._in_host_memory:
        return shared_as_lying(host, axes)
    made = _copy_buffer(host, host.dtype, queue, usm_type)
    return made if axes is None else _core._laid_out(made, list(axes))


def copy_array(x: Array, /) -> Array:
    """A new array with the same elements."""
    return x._copy()


def deepcopy_array(x: Array, memo: dict[int, Any], /) -> Array:
    """A new array with the same elements."""
    memo[id(x)] = y = x._copy()
    return y
