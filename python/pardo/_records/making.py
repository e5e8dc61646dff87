# python/pardo/_records/making.py: new arrays of records: full of a value, of what NumPy has, of other arrays.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import in_memory
from pardo._base.orders import host_in_order, make_in_order
from pardo._base.records import checked, stored_dtype
from pardo._core import Array, Queue
from pardo._records.arrays import StructuredArray
from pardo._records.memory import BYTES, RecordMemory, host_bytes, host_records, viewed


def new(
    op_name: str,
    value: Any,
    extents: list[int],
    dtype: np.dtype[Any],
    axes: Sequence[int] | None,
    queue: Queue,
    usm_type: str | None,
) -> StructuredArray:
    """A new array of records, its axes in an order in memory: full of a value, not initialised for None."""
    dtype = checked(dtype, op_name)
    stored = stored_dtype(dtype)
    kind = "device" if usm_type is None else usm_type

    def make(given: list[int]) -> Array:
        whole = [*given, stored.itemsize]
        if type(value) is int and value == 0:
            return in_memory(_core._full(whole, 0, BYTES, queue, op_name), usm_type, op_name)
        return _core._empty_in(whole, BYTES, queue, kind, op_name)

    memory = make_in_order(None if axes is None else [*axes, len(extents)], [*extents, stored.itemsize], lambda e: make(e[:-1]))
    made = StructuredArray._made(memory, dtype, stored)
    if isinstance(value, (list, tuple)):  # numbers, each of which goes to all fields of a record
        value = np.asarray(value)
    if value is not None and not (type(value) is int and value == 0):
        made._store(value, op_name)
    return made


def of_host(host: np.ndarray[Any, Any], dtype: np.dtype[Any] | None, queue: Queue, op_name: str, kind: str, order: str) -> StructuredArray:
    """A copy of records of the host."""
    wanted = checked(host.dtype if dtype is None else dtype, op_name)
    if host.dtype != wanted:
        host = host.astype(wanted)
    stored = stored_dtype(wanted)
    lines = host_bytes(host, stored)
    if host.ndim > 1 and order != "C":  # the order of the axes is that of the records
        spread = np.empty_like(host, stored, order="K" if order == "K" else "F" if order == "F" or host.flags.fnc else "C", subok=False)
        spread[...] = host
        lines = spread[..., None].view(BYTES)
    return StructuredArray._made(
        host_in_order(lines, "C" if order == "C" else "K", lambda h: _core._copy_buffer(h, BYTES, queue, kind)), wanted, stored
    )


def shared(host: np.ndarray[Any, Any], queue: Queue, op_name: str) -> StructuredArray:
    """Records of the host as they are, without a copy."""
    dtype = checked(host.dtype, op_name)
    if stored_dtype(dtype) != dtype or not dtype.itemsize:
        raise ValueError(f"{op_name}: copy=False is impossible: fields of {dtype} are not at multiples of their sizes")
    lines = host[..., None].view(BYTES)
    made = StructuredArray._made(_core._share_buffer(lines, BYTES, queue), dtype, dtype)
    made._check_places(f"{op_name}: copy=False is impossible")
    return made


def of_bytes(memory: Array, dtype: np.dtype[Any], op_name: str) -> StructuredArray:
    """Records in memory that another library has described, the last axis of which is one record's."""
    dtype = checked(dtype, op_name)
    if stored_dtype(dtype) != dtype:
        raise TypeError(f"{op_name}: fields of {dtype} are not at multiples of their sizes")
    made = StructuredArray._made(memory, dtype, dtype)
    made._check_places(op_name)
    return made


def of_array(op_name: str, obj: Any, dtype: np.dtype[Any] | None, order: str, copy: bool | None, queue: Queue, usm_type: str | None) -> Any:
    """Records of another array, of records or numbers; itself where nothing changes and no copy is asked for."""
    if dtype is not None and dtype.names is not None:
        dtype = checked(dtype, op_name)
    wanted = obj.dtype if dtype is None else dtype
    if isinstance(obj, RecordMemory) and wanted.names is None:
        obj = obj._only_field(wanted)._astype(wanted, True)
        return obj._to_queue(queue)
    changed = not isinstance(obj, RecordMemory) or obj._kind != wanted
    elsewhere = obj.queue != queue or (usm_type is not None and obj.usm_type != usm_type)
    if copy is False and (changed or elsewhere):
        raise ValueError(f"{op_name}: copy=False is impossible: dtype, queue or kind of memory would change")
    made: Any = of_numbers(obj, wanted) if not isinstance(obj, RecordMemory) else obj._cast(wanted) if changed else obj
    if elsewhere:
        made = made._shown(in_memory(made._memory._to_queue(queue), usm_type, op_name))
    if order in "CF" and made.ndim > 1 and not made._memory_flags()[order == "F"]:
        if copy is False:
            raise ValueError(f"{op_name}: copy=False is impossible: the records do not lie in memory as order={order!r} asks for")
        return made.copy(order)
    return made.copy("K" if order == "K" else order) if copy and made is obj else made


def of_numbers(numbers: Array, dtype: np.dtype[Any]) -> StructuredArray:
    """Records each field of which is a number."""
    return StructuredArray._new((0,), dtype, numbers.queue)._of_numbers(numbers)


def of_values(obj: Any, dtype: np.dtype[Any], queue: Queue, op_name: str, kind: str, order: str) -> StructuredArray:
    """What NumPy makes records of: lists of tuples, numbers."""
    dtype = checked(dtype, op_name)
    return of_host(host_records(obj, dtype, op_name), dtype, queue, op_name, kind, order)


def part_of(x: Array, dtype: np.dtype[Any], offset: int) -> Any:
    """The bytes from an offset on in each number, as elements of a dtype."""
    lines = _lines(x)[..., offset : offset + dtype.itemsize]
    return viewed(StructuredArray, lines, dtype, "getfield")


def _lines(x: Array) -> Array:
    """The bytes of numbers along one more axis."""
    lines = _core._reshape(x, [*x.shape, 1], False)
    return lines if x.dtype == BYTES else lines._view_as(BYTES)


def view_of(x: Array, dtype: np.dtype[Any]) -> StructuredArray:
    """The memory of an array of numbers as records."""
    return viewed(StructuredArray, _lines(x), dtype)  # type: ignore[no-any-return]
