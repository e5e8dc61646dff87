# python/pardo/_array/array_interface.py: array interfaces, which describe memory in a dict: what they say is read once, and checked.
from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo._array import wrong_values
from pardo._base import promotion
from pardo._base.arguments import dtype_of, refuse_masked
from pardo._base.promotion import kind_of
from pardo._core import Array, _memory_range

# What NumPy reads by itself, in the order of how often it comes.
_PLAIN = (np.ndarray, np.generic, list, tuple, int, float, complex)
_OF_SYCL = "__sycl_usm_array_interface__"
_OF_NUMPY = "__array_interface__"
_OF_CUDA = "__cuda_array_interface__"


class Described(NamedTuple):
    """Memory as an array interface describes it."""

    op_name: str  # "asarray: __array_interface__", for messages
    dtype: np.dtype[Any]
    shape: list[int]
    strides: list[int]  # bytes
    data: Any  # what the entry `data` is
    entries: dict[str, Any]

    def address(self) -> tuple[int, bool]:
        """The address of the first element, and whether the memory must not be written."""
        pair = self.data
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"{self.op_name}: data must be a pair (address, read-only), not {pair!r}")
        address = 0 if pair[0] is None else _integer(pair[0], f"{self.op_name}: data", 2**64)
        if address < 0:
            raise BufferError(f"{self.op_name}: data holds the address {address}; it must not be negative")
        return address, bool(pair[1])


def describe(obj: Any, name: str, op_name: str) -> Described:
    """What `obj` says of its memory under `name`, one of the array interfaces."""
    entries, op_name = getattr(obj, name), f"{op_name}: {name}"
    if not isinstance(entries, dict):
        raise TypeError(f"{op_name} must be a dict, not {type(entries).__name__}")
    version = entries.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise TypeError(f"{op_name}: version must be a positive integer, not {version!r}")
    if entries.get("mask") is not None:
        raise TypeError(f"{op_name}: a mask is not supported; fill the masked elements first")
    dtype = _element(entries, op_name)
    shape = _integers(entries.get("shape"), f"{op_name}: shape")
    strides = entries.get("strides")
    if strides is None:  # products of any size: what they mean is checked with the rest
        steps = [_within_64_bits(dtype.itemsize * math.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    else:
        steps = _integers(strides, f"{op_name}: strides")
        if len(steps) != len(shape):
            raise TypeError(f"{op_name}: strides has {len(steps)} entries for {len(shape)} dimensions")
    return Described(op_name, dtype, shape, steps, entries.get("data"), entries)


def _element(entries: dict[str, Any], op_name: str) -> np.dtype[Any]:
    text = entries.get("typestr")
    if not isinstance(text, str) or not text:
        raise TypeError(f"{op_name}: typestr must be a string like '<f8', not {text!r}")
    try:
        dtype = np.dtype(text)
    except TypeError:
        raise TypeError(f"{op_name}: typestr {text!r} is not understood") from None
    fields = entries.get("descr")
    if fields is not None and kind_of(dtype) == "V" and op_name.endswith(_OF_CUDA):
        return _records(fields, dtype.itemsize, op_name)
    if fields is not None and (not isinstance(fields, list) or [tuple(f) for f in fields] != [("", text)]):
        raise TypeError(f"{op_name}: descr {fields!r} does not describe plain elements of {text!r}")
    return dtype


def _records(fields: Any, size: int, op_name: str) -> np.dtype[Any]:
    """The structured dtype that `descr` lists."""
    try:
        dtype: np.dtype[Any] = np.dtype(fields)
    except (TypeError, ValueError):
        raise TypeError(f"{op_name}: descr {fields!r} does not list fields") from None
    if dtype.itemsize != size or dtype.names is None:
        raise TypeError(f"{op_name}: descr {fields!r} does not describe elements of {size} bytes")
    named = [name for name in dtype.names if name not in _paddings(fields, dtype)]
    return dtype[named] if len(named) < len(dtype.names) else dtype


def _paddings(fields: list[Any], dtype: np.dtype[Any]) -> set[str]:
    """The names that NumPy has given to bytes between fields, which have none in the list."""
    return {name for name, field in zip(dtype.names or (), fields, strict=True) if not field[0]}


def _integer(value: Any, what: str, limit: int = 2**63) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: an integer is expected, not {value!r}") from None
    if not -(2**63) <= number < limit:
        raise BufferError(f"{what}: {number} does not fit into 64 bits")
    return number


def _integers(values: Any, what: str) -> list[int]:
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{what} must be a tuple of integers, not {values!r}")
    return [_integer(v, what) for v in values]


def _within_64_bits(value: int) -> int:
    return max(min(value, 2**63 - 1), -(2**63))


def stream_of(described: Described) -> int:
    """The stream on which the memory is ready; 0 for none."""
    stream = described.entries.get("stream")
    number = 0 if stream is None else _integer(stream, f"{described.op_name}: stream", 2**64)
    if number < 0:
        raise BufferError(f"{described.op_name}: stream is {number}; it must be 1, 2 or the address of a stream")
    return number


class Checked:
    """Shows NumPy what has been checked, whatever the object would say if it were asked again."""

    def __init__(self, entries: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = entries
        self._owner = owner


def _with_host_arrays(obj: Any) -> Any:
    """Nested lists with the arrays of pardo in them copied to the host."""
    if type(obj) is Array:
        host = np.empty(obj.shape, obj.dtype)
        obj._copy_to(host)
        return host
    return [_with_host_arrays(e) for e in obj] if isinstance(obj, (list, tuple)) else obj


def holds_arrays(obj: Any) -> bool:
    return type(obj) is Array or (isinstance(obj, (list, tuple)) and any(map(holds_arrays, obj)))


def host_values(obj: Any, dtype: np.dtype[Any] | None, op_name: str) -> NDArray[Any]:
    """What NumPy makes an array of; memory that `obj` only describes is checked first."""
    refuse_masked(obj, op_name)
    if dtype is not None and promotion.is_bfloat16(dtype) and not _fits_float32(obj):  # its own conversions refuse, or round twice
        return promotion.to_bfloat16(host_values(obj, np.dtype(np.float64), op_name))
    if isinstance(obj, (list, tuple)):
        try:
            host = np.asarray(obj, dtype=dtype)
            return _with_bfloat16(obj, host) if host.dtype == object else host
        except (TypeError, ValueError, OverflowError) as error:
            if type(error) is TypeError and holds_arrays(obj):
                # Those of a device whose memory the host does not see are copied, and counted, one by one.
                return np.asarray(_with_host_arrays(obj), dtype=dtype)
            if dtype is None or not (element := wrong_values.refused_element(obj, dtype)):
                raise
            raise type(error)(f"{op_name}: {element}: {error}") from None
    if not isinstance(obj, _PLAIN) and not has_buffer(obj):
        if hasattr(obj, _OF_NUMPY):
            obj = _checked(describe(obj, _OF_NUMPY, op_name), obj)
        elif hasattr(obj, _OF_SYCL) and not hasattr(obj, "__array__"):
            raise TypeError(
                f"{op_name}: {type(obj).__name__} has {_OF_SYCL} only: pardo cannot use memory of a SYCL context; "
                "copy it to the host first, or hand over an object that speaks DLPack"
            )
    return np.asarray(obj, dtype=dtype)


def _fits_float32(obj: Any) -> bool:
    return isinstance(obj, np.ndarray) and promotion.can_cast(obj.dtype, np.float32)


def _with_bfloat16(obj: Any, host: NDArray[Any]) -> NDArray[Any]:
    """Lists of numbers of which some are bfloat16, for which NumPy finds no common dtype with others."""
    kinds = {x.dtype if isinstance(x, np.generic) else np.asarray(x).dtype for x in host.flat}
    if not any(map(promotion.is_bfloat16, kinds)) or any(promotion.kind_of(t) not in "biufc" for t in kinds):
        return host
    return np.asarray(obj, dtype=promotion.result_type(*kinds))


def has_buffer(obj: Any) -> bool:
    """Whether an object has the buffer protocol."""
    try:
        memoryview(obj).release()
    except (TypeError, BufferError, ValueError):
        return False
    return True


def _checked(d: Described, obj: Any) -> Checked:
    element = dtype_of(d.dtype.newbyteorder("="), d.op_name)
    if isinstance(d.data, (tuple, list)):
        address, read_only = d.address()
    else:  # an object with the buffer protocol, and an offset into it
        try:
            view = memoryview(d.data)
        except TypeError:
            raise TypeError(f"{d.op_name}: data must be a pair (address, read-only) or have the buffer protocol, not {d.data!r}") from None
        offset = _integer(d.entries.get("offset", 0), f"{d.op_name}: offset")
        whole = np.frombuffer(view, np.uint8) if view.nbytes else np.empty(0, np.uint8)
        start, read_only, obj = whole.ctypes.data, True, (obj, whole)
        address = start + offset
        if not 0 <= offset <= view.nbytes:
            raise BufferError(f"{d.op_name}: offset {offset} is not inside of the {view.nbytes} bytes of data")
        low, size = _memory_range(d.op_name, address, element, d.shape, d.strides)
        if size and not start <= low <= start + view.nbytes - size:
            raise BufferError(f"{d.op_name}: the elements reach over {size} bytes from byte {low - start} of data, which has {view.nbytes}")
    _memory_range(d.op_name, address, element, d.shape, d.strides)
    shape, strides = tuple(d.shape), tuple(d.strides)
    if math.prod(shape) == 0:
        return Checked(np.empty(shape, d.dtype).__array_interface__, obj)
    return Checked({"version": 3, "shape": shape, "strides": strides, "typestr": d.dtype.str, "data": (address, read_only)}, obj)
