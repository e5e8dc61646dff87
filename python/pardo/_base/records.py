# python/pardo/_base/records.py: structured dtypes: which are supported, and where the fields of their records lie in memory.
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pardo._base import face
from pardo._core import Array

DType = np.dtype[Any]
_PLAIN = frozenset(np.dtype(t) for t in ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])


class Records:
    """What tells arrays of records from others: the base of `pardo.StructuredArray`."""

    __slots__ = ()


def made_records(how: str, *arguments: Any) -> Array:
    """What a function of the module that makes arrays of records gives: for the callers' types an array, as the others are."""
    return getattr(face.file("arrays of records"), how)(*arguments)  # type: ignore[no-any-return]


def function_for(name: str, error: TypeError, arguments: Sequence[Any]) -> Any:
    """What takes the place of a public function that has raised an error for arrays of records or a structured dtype; None for others."""
    if "records" in error.__dict__ or any(map(_holds_records, arguments)):
        return face.file("functions of records").TABLE.get(name)
    return None


def _holds_records(x: Any) -> bool:
    return isinstance(x, Records) or (isinstance(x, (list, tuple)) and any(map(_holds_records, x)))


def base_of(kind: DType) -> tuple[DType, tuple[int, ...]]:
    """The dtype of the elements of a field, and the extents of a sub-array: none for a single element."""
    return (kind, ()) if kind.subdtype is None else (kind.subdtype[0], kind.subdtype[1])


def fields_of(dtype: DType) -> Iterator[tuple[str, DType, tuple[int, ...], int]]:
    """Name, dtype of elements, extents and offset of each field."""
    for name in dtype.names or ():
        kind, offset = dtype.fields[name][:2]  # type: ignore[index]
        yield name, *base_of(kind), offset


def listed(dtype: DType) -> str:
    """The names of the fields, for messages."""
    return ", ".join(dtype.names or ()) or "no fields"


def width_of(dtype: DType) -> int:
    """Bytes of the widest number in a record."""
    if dtype.names is None:
        return dtype.itemsize
    return max((width_of(base) for _, base, _, _ in fields_of(dtype)), default=1)


def checked(dtype: DType, op_name: str) -> DType:
    """The structured dtype in the machine's byte order; a TypeError if a field holds something else than numbers."""
    if not dtype.isnative:
        dtype = dtype.newbyteorder("=")
    _check_fields(dtype, op_name, "")
    return dtype


def _check_fields(dtype: DType, op_name: str, path: str) -> None:
    for name, base, _, _ in fields_of(dtype):
        if base.names is not None:
            _check_fields(base, op_name, f"{path}{name}.")
        elif base not in _PLAIN:
            raise TypeError(f"{op_name}: field '{path}{name}' is of dtype '{base}', which is not supported; fields hold numbers or bools")


@functools.lru_cache(maxsize=1024)
def stored_dtype(dtype: DType) -> DType:
    """The dtype of records in memory: the same if each number lies at a multiple of its size there, else one with fields further apart."""
    if _is_aligned(dtype) and dtype.itemsize % width_of(dtype) == 0:
        return dtype
    if _overlaps(dtype):
        raise TypeError(f"fields of {dtype} overlap, and are not at multiples of their sizes")
    names, formats, offsets, end = [], [], [], 0
    for name, base, extents, _ in sorted(fields_of(dtype), key=lambda field: field[3]):
        element = base if base.names is None else stored_dtype(base)
        start = _rounded(end, width_of(base))
        names.append(name)
        formats.append((element, extents) if extents else element)
        offsets.append(start)
        end = start + element.itemsize * math.prod(extents)
    spread: DType = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": _rounded(end, width_of(dtype))})
    return spread[list(dtype.names or ())] if tuple(names) != dtype.names else spread


def _rounded(offset: int, width: int) -> int:
    return -(-offset // width) * width


def _is_aligned(dtype: DType) -> bool:
    for _, base, extents, offset in fields_of(dtype):
        width = width_of(base)
        if offset % width or (base.names is not None and not _is_aligned(base)) or (extents and base.itemsize % width):
            return False
    return True


def _overlaps(dtype: DType) -> bool:
    places = sorted((offset, offset + base.itemsize * math.prod(extents)) for _, base, extents, offset in fields_of(dtype))
    return any(end > start for (_, end), (start, _) in itertools.pairwise(places))


@functools.lru_cache(maxsize=1024)
def is_whole(dtype: DType) -> bool:
    """Whether every byte of a record belongs to a field, so that records are moved as bytes."""
    covered = bytearray(dtype.itemsize)
    for _, base, extents, offset in fields_of(dtype):
        count = base.itemsize * math.prod(extents)
        if base.names is None or is_whole(base):
            covered[offset : offset + count] = b"\1" * count
    return all(covered)


def word_of(dtype: DType) -> DType:
    """The widest unsigned integers that a record consists of."""
    return next(np.dtype(f"u{n}") for n in (8, 4, 2, 1) if dtype.itemsize % n == 0)


def is_described(dtype: DType) -> bool:
    """Whether the description that other libraries are given says all of a dtype."""
    try:
        return np.dtype(dtype.descr) == dtype
    except ValueError:  # fields overlap, or are out of order
        return False
