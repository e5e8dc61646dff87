# python/pardo/_records/memory.py: records in the memory of a device: bytes in an array of uint8, fields as views of them.
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from pardo import _core
from pardo._array.interop import asnumpy
from pardo._base.arguments import same_queue, warn
from pardo._base.orders import copy_by_rows
from pardo._base.promotion import kind_of
from pardo._base.records import Records, base_of, checked, is_whole, listed, stored_dtype, word_of
from pardo._compiler.structs import Struct, records_class
from pardo._core import Array, Queue

BYTES: np.dtype[Any] = np.dtype("u1")
S = TypeVar("S", bound="RecordMemory")


def host_records(value: Any, dtype: np.dtype[Any], op_name: str) -> np.ndarray[Any, Any]:
    """What NumPy makes records of: tuples, numbers, records of another dtype, nested lists of these."""
    return np.array(value, dtype, copy=None)


def host_bytes(host: np.ndarray[Any, Any], stored: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The bytes of records as they lie in memory of devices, along one more axis."""
    if host.dtype != stored or not host.flags.c_contiguous:
        spread = np.zeros(host.shape, stored)
        spread[...] = host
        host = spread
    return (
        np.frombuffer(host, BYTES).reshape(*host.shape, stored.itemsize) if host.nbytes else np.empty((*host.shape, stored.itemsize), "u1")
    )


def uploaded(host: np.ndarray[Any, Any], queue: Queue, op_name: str, kind: str | None = None) -> tuple[Array, Any, Any]:
    """Records of the host copied to a queue: the memory there, their dtype, and that of records there. With a kind of memory the copy is
    one that was asked for."""
    dtype = checked(host.dtype, op_name)
    stored = stored_dtype(dtype)
    lines = host_bytes(host, stored)
    if kind is None:
        return _core._copy_operand(lines, BYTES, queue, op_name), dtype, stored
    return _core._copy_buffer(lines, BYTES, queue, kind), dtype, stored


def as_bytes(words: Array) -> Array:
    """An array of words, the last axis of which makes up a record, as one of bytes on the same memory."""
    if words.dtype == BYTES:
        return words
    try:
        return words._view_as(BYTES)
    except ValueError:  # what has computed them has laid the axes in another order
        return copy_by_rows(words)._view_as(BYTES)


def put(target: Any, value: Any, casting_op: str) -> None:
    """Store numbers or records in a field, as NumPy does: cast whatever the dtypes are."""
    if isinstance(target, RecordMemory):
        target._store(value if isinstance(value, RecordMemory) else target._of_numbers(value))
        return
    if isinstance(value, RecordMemory):
        value = value._only_field(target.dtype)
    if kind_of(value.dtype) == "c" and kind_of(target.dtype) not in "cb":
        warn(f"{casting_op}: the imaginary parts are discarded", np.exceptions.ComplexWarning)
    target[...] = value if value.dtype == target.dtype else value._astype(target.dtype, True)


class _Absent:
    """In place of methods of structs that mean nothing here."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(f"arrays of records have no attribute {self._name!r}")


class RecordMemory(Struct, Records):
    """What `pardo.StructuredArray` is made of."""

    __slots__ = ("__weakref__", "_element", "_kind", "_memory", "_parts", "_stored")

    _memory: Array  # of uint8: the bytes of a record along one more axis
    _kind: np.dtype[Any]  # what the user has asked for
    _stored: np.dtype[Any]  # the same fields at multiples of their sizes
    _element: bool  # one record that an index has taken out: it is indexed as NumPy's scalars of records are
    _parts: tuple[Any, ...] | None

    zeros = from_numpy = to_numpy = _Absent()
    __setattr__ = object.__setattr__  # type: ignore[assignment]

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        raise TypeError("StructuredArray: make one with pardo.zeros(shape, dtype=[…]), or pardo.asarray of records")

    @classmethod
    def _made(cls: type[S], memory: Array, dtype: np.dtype[Any], stored: np.dtype[Any], element: bool = False) -> S:
        made = object.__new__(cls)
        made._memory, made._kind, made._stored, made._element, made._parts = memory, dtype, stored, element, None
        return made

    def _shown(self: S, memory: Array) -> S:
        """The same kind of records in other memory."""
        return self._made(memory, self._kind, self._stored)

    @classmethod
    def _new(cls: type[S], shape: Any, dtype: np.dtype[Any], queue: Queue, stored: np.dtype[Any] | None = None) -> S:
        """Records that have to be written; what lies between their fields is zero."""
        stored = stored_dtype(dtype) if stored is None else stored
        extents = [*shape, stored.itemsize]
        memory = _core._empty(extents, BYTES, queue) if is_whole(stored) else _core._full(extents, 0, BYTES, queue)
        return cls._made(memory, dtype, stored)

    # --- facts

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each dimension. Setting it reshapes the array in place, which strides have to be able to express."""
        return self._memory.shape[:-1]

    @shape.setter
    def shape(self, shape: Any) -> None:
        extents = list(shape) if hasattr(shape, "__iter__") else [shape]
        if -1 in extents and self.size:
            known = int(np.prod([n for n in extents if n != -1]))
            extents[extents.index(-1)] = self.size // max(known, 1)
        view = _core._reshape(self._memory, list(self._memory.shape))
        view.shape = (*extents, self._stored.itemsize)
        self._memory, self._parts = view, None

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._memory.ndim - 1

    @property
    def queue(self) -> Queue:
        """Where work on this array is submitted."""
        return self._memory.queue

    # --- what kernels ask of structs

    @property
    def _fields(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._kind.names or ()

    @property
    def _dimensions(self) -> int:  # type: ignore[override]
        return self.ndim

    def _values(self) -> tuple[Any, ...]:
        """The fields, as views."""
        if self._parts is None:
            self._parts = tuple(map(self._field, self._fields))
        return self._parts

    def _map(self, change: Callable[[Any], Any], kind: type[Any] | None = None) -> Any:
        return records_class(self._fields)(tuple(map(change, self._values())), self.ndim)

    # --- fields

    def _field(self, name: str) -> Any:
        """A field as a view: an array, or one of records."""
        kind, offset = self._stored.fields[name][:2]  # type: ignore[index]
        base, extents = base_of(kind)
        part = self._memory[..., offset : offset + kind.itemsize]
        if base.names is None:
            part = part if base == BYTES else part._view_as(base)
            return _core._reshape(part, [*self.shape, *extents])
        if extents:
            part = _core._reshape(part, [*self.shape, *extents, base.itemsize])
        return self._made(part, base_of(self._kind.fields[name][0])[0], base)  # type: ignore[index]

    def _name_of(self, key: str) -> str:
        """The name of a field that is asked for by it or by its title."""
        if key in self._fields:
            return key
        found = None if self._kind.fields is None else self._kind.fields.get(key)
        for name in self._fields if found is not None else ():
            if self._kind.fields[name] == found:  # type: ignore[index]
                return name
        raise ValueError(f"no field of name {key}: the records have {listed(self._kind)}")

    def _several(self: S, names: list[str]) -> S:
        """Some of the fields, as a view."""
        try:
            found = list(map(self._name_of, names))
        except ValueError as e:  # NumPy's dtypes say it so
            raise KeyError(str(e)) from None
        if len(set(found)) != len(found):
            raise ValueError(f"duplicate field of name {next(n for n in found if found.count(n) > 1)!r}")
        return self._made(self._memory, self._kind[found], self._stored[found], self._element)

    def _only_field(self, wanted: np.dtype[Any]) -> Any:
        if len(self._fields) != 1:
            raise TypeError(f"records of {listed(self._kind)} cannot become {wanted}: only those of a single field can; take a field")
        part = self._field(self._fields[0])
        return part._only_field(wanted) if isinstance(part, RecordMemory) else part

    def _leaves(self) -> Iterator[tuple[Array, int]]:
        """The arrays of numbers that the records consist of, each with the number of its axes beyond those of this array."""
        for name in self._fields:
            part = self._field(name)
            if isinstance(part, RecordMemory):
                inner = part.ndim - self.ndim
                yield from ((leaf, more + inner) for leaf, more in part._leaves())
            else:
                yield part, part.ndim - self.ndim

    def _check_places(self, op_name: str) -> None:
        """That the fields lie where devices can read them, in memory that was not made here."""
        try:
            for _ in self._leaves():
                pass
        except ValueError as e:
            raise ValueError(f"{op_name}: fields of {self._kind} would not lie at multiples of their sizes in this memory: {e}") from None

    def _check_as_described(self, op_name: str) -> None:
        """That the fields lie where the dtype says."""
        if self._stored != self._kind:
            raise ValueError(f"{op_name}: fields of {self._kind} are not at multiples of their sizes, and lie further apart in memory")

    def _viewed(self, wanted: np.dtype[Any]) -> Any:
        """The same memory as records or numbers of another dtype."""
        if wanted == self._kind:
            return self._made(_core._reshape(self._memory, list(self._memory.shape)), wanted, self._stored)
        self._check_as_described("view")
        return viewed(type(self), self._memory, wanted)

    # --- copies

    def _words(self, word: np.dtype[Any] | None = None) -> Array:
        """The memory in the widest words that the records consist of and lie at multiples of."""
        word = word_of(self._stored) if word is None else word
        if word == BYTES or self._stored.itemsize == 0:
            return self._memory
        try:
            return self._memory._view_as(word)
        except ValueError:  # records inside of others
            return self._memory

    def _moved(self: S, change: Callable[[Array], Array]) -> S:
        """New records by a change of the memory that takes the last axis as a whole."""
        return self._moved_from(change(self._words()))

    def _moved_from(self: S, words: Array) -> S:
        """Records of this dtype in words that have been computed of some of them."""
        return self._shown(as_bytes(words))

    def _copied(self: S) -> S:
        return self._moved(lambda m: m._copy())

    def _cast(self: S, dtype: np.dtype[Any], stored: np.dtype[Any] | None = None, op_name: str = "astype") -> S:
        """New records of another dtype: fields by their positions, as NumPy casts."""
        made = self._new(self.shape, dtype, self.queue, stored)
        if len(made._fields) != len(self._fields):
            raise TypeError(f"{op_name}: records of {listed(self._kind)} cannot become records of {listed(dtype)}: the numbers differ")
        for source, target in zip(self._fields, made._fields, strict=True):
            made._put_field(target, self._field(source), op_name)
        return made

    def _of_numbers(self: S, numbers: Array) -> S:
        """Records of this dtype, each field of which is a number."""
        made = self._new(numbers.shape, self._kind, self.queue, self._stored)
        for name in made._fields:
            made._put_field(name, numbers, "astype")
        return made

    def _put_field(self, name: str, value: Any, op_name: str) -> None:
        """Store values of this shape, which are repeated along a sub-array that they have not got."""
        target = self._field(name)
        missing = target.ndim - value.ndim
        if missing > 0:
            value = value[(Ellipsis, *(None,) * missing)]
        put(target, value, op_name)

    # --- assignment

    def _given(self: S, value: Any, op_name: str) -> S:
        """Records of the same dtype, on the same queue, of what is to be stored."""
        if isinstance(value, RecordMemory):
            same_queue(self._memory, value._memory, op_name)
            return value if value._stored == self._stored else value._cast(self._kind, self._stored, op_name)  # type: ignore[return-value]
        if type(value) is Array:
            same_queue(self._memory, value, op_name)
            return self._of_numbers(value)
        host = host_records(value, self._kind, op_name)
        return self._shown(_core._copy_operand(host_bytes(host, self._stored), BYTES, self.queue, op_name))

    def _store(self, value: Any, op_name: str = "x[...] = value") -> None:
        """Store records, which are broadcast."""
        given = self._given(value, op_name)
        extra = given.ndim - self.ndim
        if extra > 0 and all(n == 1 for n in given.shape[:extra]):
            given = given._shown(given._memory[(0,) * extra])
        try:
            fits = np.broadcast_shapes(given.shape, self.shape) == self.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"{op_name}: could not broadcast records of shape {given.shape} to shape {self.shape}")
        self._store_at((Ellipsis,), given)

    def _store_at(self, place: tuple[Any, ...], given: RecordMemory) -> None:
        """Store records of the same dtype at an index that has an ellipsis. Bytes between fields stay: other fields may be there."""
        if is_whole(self._stored):
            words = self._words()
            source = given._words(words.dtype)
            if source.dtype != words.dtype:
                words, source = self._memory, given._memory
            words[(*place, slice(None))] = source
            return
        copies = [leaf._copy() for leaf, _ in given._leaves()]  # recorded before anything is written
        for (leaf, more), values in zip(self._leaves(), copies, strict=True):
            leaf[(*place, *(slice(None),) * more)] = values

    # --- comparison

    def _equals(self, other: RecordMemory) -> Array:
        """Where all fields are equal."""
        found: Array | None = None
        for name in self._fields:
            mine, theirs = self._field(name), other._field(name)
            same = mine._equals(theirs) if isinstance(mine, RecordMemory) else _core.equal(mine, theirs)
            more = mine.ndim - self.ndim
            if more:
                same = _core._reduce(_core._ALL, same, list(range(same.ndim - more, same.ndim)), False)
            found = same if found is None else _core.bitwise_and(found, same)
        if found is None:
            return _core._full(list(np.broadcast_shapes(self.shape, other.shape)), True, np.bool_, self.queue)
        return found

    def _some(self) -> Array:
        """Where a field is not zero."""
        found = _core._full(list(self.shape), False, np.bool_, self.queue)
        for leaf, more in self._leaves():
            some = _core.not_equal(leaf, 0)
            if more:
                some = _core._reduce(_core._ANY, some, list(range(some.ndim - more, some.ndim)), False)
            found = _core.bitwise_or(found, some)
        return found

    # --- the host

    def _to_host(self) -> np.ndarray[Any, Any]:
        """A copy of the records, as an array of NumPy's."""
        if self._stored.itemsize == 0:
            return np.empty(self.shape, self._kind)
        host = asnumpy(self._memory).view(self._stored).reshape(self.shape)
        return host if self._stored == self._kind else host.astype(self._kind)


def viewed(kind: type[RecordMemory], memory: Array, wanted: np.dtype[Any], op_name: str = "view") -> Any:
    """The bytes of an array, the last axis of which is one element's, as elements of a dtype: of another size along the axis before."""
    size, width = memory.shape[-1], wanted.itemsize
    if size != width:
        if memory.ndim < 2:
            raise ValueError(f"{op_name}: Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
        total = memory.shape[-2] * size
        if width == 0 or total % width:
            raise ValueError(
                f"{op_name}: When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis."
            )
        if memory.shape[-2] != 1 and memory.size and memory.strides[-2] != size:
            raise ValueError(f"{op_name}: To change to a dtype of a different size, the last axis must be contiguous")
        memory = _core._reshape(memory, [*memory.shape[:-2], total // width, width], False)
    if wanted.names is None:
        return _core._reshape(memory._view_as(wanted), list(memory.shape[:-1]))
    if stored_dtype(wanted) != wanted:
        raise ValueError(f"{op_name}: fields of {wanted} are not at multiples of their sizes; make them so with align=True, or use astype")
    made = kind._made(memory, wanted, wanted)
    made._check_places(op_name)
    return made
