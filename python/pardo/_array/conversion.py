# python/pardo/_array/conversion.py: methods that give an array's elements as numbers, lists or bytes, in another dtype or place.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pardo import _core
from pardo._array import interop
from pardo._base import promotion
from pardo._base.arguments import DeviceLike, default_on, index, optional_dtype, queue_of, warn_of_lost_parts
from pardo._base.memory import Memory
from pardo._base.orders import bytes_order, copied_in_order, in_order, is_column_major, read_order
from pardo._base.records import made_records
from pardo._core import Array


def item(self: Array, *args: Any) -> Any:
    """Copy an element of an array to a standard Python scalar and return it. Waits for it.

    Parameters
    ----------
    *args : int or tuple of int
        Which: an index into the flattened array, or one for each axis. Not needed for arrays of one element.

    Returns
    -------
    bool, int, float or complex
        The element.

    Raises
    ------
    IndexError
        An index is out of bounds.
    TypeError
        An index is not an integer.
    ValueError
        The array has not one element, or there is not one index for each axis.
    """
    if not args:
        if self.size != 1:
            raise ValueError(f"item: can only convert an array of size 1 to a Python scalar, and it has {self.size}; say which: item(i)")
        return self._item()
    place = args[0] if len(args) == 1 else args
    if isinstance(place, tuple):
        if len(place) != self.ndim:
            raise ValueError(f"item: there are {len(place)} indices for {self.ndim} dimensions")
        for i, extent in zip(place, self.shape, strict=True):
            if not -extent <= _place(i) < extent:
                raise IndexError(f"item: index {i} is out of bounds for an axis of size {extent}")
        return self[tuple(_place(i) for i in place)]._item()
    i = _place(place)
    if not -self.size <= i < self.size:
        raise IndexError(f"item: index {i} is out of bounds for size {self.size}")
    return self[tuple(int(k) for k in np.unravel_index(i % self.size, self.shape))]._item()


def tolist(self: Array) -> Any:
    """Return the array as nested lists of Python scalars, one level a dimension. Waits for them.

    Returns
    -------
    list, or a number
        As deep as the array has dimensions; the number itself for an array without dimensions.
    """
    return interop.asnumpy(self).tolist()


def tobytes(self: Array, order: str = "C") -> bytes:
    """Construct Python bytes containing the raw data bytes in the array. Waits for them.

    Parameters
    ----------
    order : {'C', 'F', 'A', 'K'}
        Whether they come in C order or in Fortran order; with 'A' in Fortran order if they lie so in memory. 'K' is 'C', as in NumPy.

    Returns
    -------
    bytes
        ``nbytes`` of them, in the byte order of the machine.

    Raises
    ------
    ValueError
        `order` is something else.
    """
    x = self if bytes_order(self, order) == "C" else _core._permute_dims(self, range(self.ndim)[::-1])
    return x._to_bytes()


def astype(
    self: Array, dtype: DTypeLike, order: str = "K", casting: str = "unsafe", *, copy: bool = True, device: DeviceLike = None
) -> Array:
    """Copy of the array, cast to a specified type, as C does: floats are truncated, integers wrap.

    Parameters
    ----------
    dtype : data type
        The dtype of the result; None means float64, as in NumPy (float32 on a device that has no float64).
    order : {'K', 'C', 'F', 'A'}
        How a new array lies in memory: 'C' row-major, 'F' column-major, 'A' column-major if this array does, 'K' with
        the axes in the order of this array's.
    casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}
        Which conversions are allowed; the default allows all.
    copy : bool
        Whether a new array is made when this one has that dtype already.
    device : Device or str, optional
        Where the result shall be.

    Returns
    -------
    Array
        The converted array.

    Raises
    ------
    TypeError
        `casting` does not allow the conversion, or pardo has no such dtype.
    ValueError
        `order` or `casting` is something else, or there is no such device.

    Warns
    -----
    ComplexWarning
        Complex numbers become real ones: their imaginary parts are lost.
    """
    if order != "K":
        order = read_order(order, "astype")
    target = optional_dtype(dtype, "astype", fields=True) or default_on(self.queue, np.float64)
    if casting != "unsafe":
        if casting not in ("same_kind", "safe", "equiv", "no"):
            raise ValueError(f"astype: casting is {casting!r}; it must be 'unsafe', 'same_kind', 'safe', 'equiv' or 'no'")
        if not promotion.can_cast(self.dtype, target, casting):
            raise TypeError(f"astype: cannot cast from {self.dtype} to {target} with casting rule {casting!r}")
    if target.names is not None:
        return made_records("of_array", "astype", self, target, order, None, queue_of(device, None, self.queue), None)
    if order == "K" or (order == "C" and self._surely_row_major()):
        r = self if not copy and target == self.dtype else self._astype(target, copy)
    else:
        order = "F" if order == "A" and is_column_major(self) else "C" if order == "A" else order
        r = copied_in_order(self._astype(target, False), order) if copy or target != self.dtype else in_order(self, order)
    if self._kind == "c" and r._kind in "iuf":
        warn_of_lost_parts("astype")
    return r if device is None else r._to_queue(queue_of(device, None, self.queue, "astype"))


def to_device(self: Array, device: DeviceLike, /, *, stream: Any = None) -> Array:
    """Copy the array to a device.

    Parameters
    ----------
    device : Device or str
        The target.
    stream : None
        Queues of pardo order the copy; nothing else is supported.

    Returns
    -------
    Array
        On the same memory when it is there already, else a copy on the canonical queue of the device. It is recorded if
        the array is not computed yet: errors of the copy are raised where it is used.

    Raises
    ------
    TypeError
        `device` is neither a Device nor a string.
    ValueError
        There is no such device, or `stream` is not None.
    """
    if stream is not None:
        raise ValueError("to_device: stream must be None; pardo orders the copy itself")
    if device is None:
        raise TypeError("to_device: a device is needed, not None")
    return self._to_queue(queue_of(device, None, self.queue, "to_device"))


def to_queue(self: Array, queue: _core.Queue, /) -> Array:
    """Copy the array to a queue.

    Parameters
    ----------
    queue : Queue
        The target.

    Returns
    -------
    Array
        On the same memory when it is there already, else a copy. It is recorded if the array is not computed yet: errors
        of the copy are raised where it is used.

    Raises
    ------
    TypeError
        `queue` is not a Queue.
    """
    if queue is None:
        raise TypeError("to_queue: a queue is needed, not None")
    return self._to_queue(queue_of(None, queue, op_name="to_queue"))


def copy(self: Array, order: str = "C") -> Array:
    """Return a copy of the array.

    Parameters
    ----------
    order : {'C', 'F', 'A', 'K'}
        How the copy lies in memory: 'C' row-major, 'F' column-major, 'A' column-major if this array does, 'K' with the
        axes in the order of this array's.

    Returns
    -------
    Array
        Of the same shape and dtype, on the same queue.

    Raises
    ------
    ValueError
        `order` is something else.
    """
    return copied_in_order(self, read_order(order, "copy"))


def to_numpy(self: Array) -> NDArray[Any]:
    """Copy the array, from any device, to a new NumPy array: `asnumpy` by the name that Matplotlib, xarray and pandas ask for.

    Returns
    -------
    numpy.ndarray
        A writable, contiguous copy.
    """
    return interop.asnumpy(self)


def _arrow_c_array(self: Array, requested_schema: Any = None) -> tuple[Any, Any]:
    """Export the array to polars, pyarrow and other libraries that read Arrow's C data interface.

    Parameters
    ----------
    requested_schema : PyCapsule, optional
        The type that the caller would like; it gets that of the array.

    Returns
    -------
    tuple of PyCapsule
        Schema and array. They share the memory if the elements are contiguous and not truth values, which are bits in Arrow.

    Raises
    ------
    ValueError
        The array has not one dimension.
    TypeError
        The elements are complex, or the host cannot read the memory.
    """
    return interop.arrow(self)


if TYPE_CHECKING:  # the core's

    def _dlpack(
        self: Array,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...


class Conversions(Memory):
    """Is copied into `pardo.Array`; type checkers see it as a base class of `Methods`."""

    __slots__ = ()

    item = item
    tolist = tolist
    tobytes = tobytes
    astype = astype
    to_device = to_device
    to_queue = to_queue
    copy = copy
    to_numpy = to_numpy
    __arrow_c_array__ = _arrow_c_array
    if TYPE_CHECKING:
        __dlpack__ = _dlpack


def _place(i: Any) -> int:
    """An index of `item`; a bool is none, though Python takes it for an integer."""
    if isinstance(i, bool):
        raise TypeError("item: index must be an integer, not bool")
    return index(i, "item: index")
