# python/pardo/_records/facts.py: attributes of arrays of records: dtype, place and layout of the memory; and their shapes.
from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._base.arguments import axis_index, dtype_of, integers
from pardo._base.memory import Flags, MemoryPointer
from pardo._base.orders import read_order
from pardo._core import Array, Device, Event
from pardo._records.memory import RecordMemory, as_bytes

F = TypeVar("F", bound="Facts")


class Facts(RecordMemory):
    """What `pardo.StructuredArray` is made of."""

    __slots__ = ()

    # --- facts

    @property
    def dtype(self) -> np.dtype[Any]:
        """The structured dtype. Setting it shows the same memory with another one, as `view` does."""
        return self._kind

    @dtype.setter
    def dtype(self, dtype: DTypeLike) -> None:
        view = self._viewed(dtype_of(dtype, "dtype", fields=True))
        if not isinstance(view, Facts):
            raise TypeError(f"dtype: an array of records cannot become one of {view.dtype} in place; use x.view(…)")
        self._memory, self._kind, self._stored, self._parts = view._memory, view._kind, view._stored, None

    @property
    def size(self) -> int:
        """Number of records."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """Bytes of one record, by its dtype."""
        return self._kind.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all records, by their dtype."""
        return self.size * self._kind.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between neighbours along each dimension, in the memory of the device."""
        return self._memory.strides[:-1]

    @property
    def device(self) -> Device:
        """Where the records are."""
        return self._memory.device

    @property
    def event(self) -> Event:
        """Event of the last write to this array's memory."""
        return self._memory.event

    @property
    def pending(self) -> bool:
        """True while records are recorded and not computed."""
        return self._memory.pending

    @property
    def writeable(self) -> bool:
        """Whether the records can be written."""
        return self._memory.writeable

    @property
    def usm_type(self) -> str:
        """The kind of its memory: 'device', 'shared' or 'host'."""
        return self._memory.usm_type

    memory_kind = usm_type

    @property
    def flags(self) -> Flags:
        """How the records lie in memory, and whether they can be written, as NumPy's; computes them where it has to."""
        return Flags(self)  # type: ignore[arg-type]

    @property
    def base(self) -> Facts | Array | None:
        """The array whose memory this one shows, as a new object of the same dtype or of bytes; None if the memory is its own."""
        base = self._memory._base()
        return self._shown(base) if base is not None and base.shape[-1:] == self._memory.shape[-1:] else base

    @property
    def data(self) -> MemoryPointer:
        """Where the records begin in the device's memory: `ptr`, `size` and `device`."""
        return MemoryPointer(self)  # type: ignore[arg-type]

    @property
    def T(self: F) -> F:  # noqa: N802
        """The array with its axes reversed."""
        return self.transpose()

    def _memory_flags(self) -> tuple[bool, bool, bool, bool]:
        rows, _, owns, writeable = self._memory._memory_flags()
        columns = _core._permute_dims(self._memory, [self.ndim, *range(self.ndim)])._memory_flags()[1]
        return rows, columns, owns, writeable

    def _set_writeable(self, writeable: bool) -> None:
        self._memory._set_writeable(writeable)
        self._parts = None

    def setflags(self, write: Any = None) -> None:
        """Set whether the records can be written; views that are made from now on inherit that."""
        if write is not None:
            self._set_writeable(bool(write))

    def _address(self) -> int:
        return self._memory._address()

    def _surely_row_major(self) -> bool:
        return self._memory._surely_row_major()

    def force(self: F) -> F:
        """Hand the computation over, if that has not happened, and return the array; does not wait."""
        self._memory.force()
        return self

    def wait(self: F) -> F:
        """Compute the array, wait, raise late failures, and return the array."""
        self._memory.wait()
        return self

    def failure(self) -> BaseException | None:
        """Wait, and return the exception that reading the records raises, or None; see `Array.failure`."""
        return self._memory.failure()

    def accept(self: F) -> F:
        """Make failed fields of the records readable as they are, and return the array; see `Array.accept`."""
        self._memory.accept()
        return self

    # --- shape

    def reshape(self: F, *shape: Any, order: str = "C", copy: bool | None = None) -> F:
        """Return an array containing the same records with a new shape; see `pardo.reshape`."""
        extents = integers(shape[0] if len(shape) == 1 else shape, "reshape: shape")
        order = read_order(order, "reshape", "CFA", "C")
        if order == "F" or (order == "A" and self.flags.fnc):
            return self.transpose().reshape(extents[::-1], copy=copy).transpose()
        if extents.count(-1) == 1:
            known = int(np.prod([n for n in extents if n != -1], dtype=object))
            if known == 0 or self.size % known:
                raise ValueError(f"reshape: cannot reshape array of size {self.size} into shape {tuple(extents)}")
            extents[extents.index(-1)] = self.size // known
        if int(np.prod(extents, dtype=object)) != self.size or any(n < 0 for n in extents):
            raise ValueError(f"reshape: cannot reshape array of size {self.size} into shape {tuple(extents)}")
        return self._shown(as_bytes(_core._reshape(self._words(), [*extents, self._words().shape[-1]], copy)))

    def ravel(self: F, order: str = "C") -> F:
        """Return the records in one dimension, as a view if that is possible; see `pardo.ravel`."""
        order = read_order(order, "ravel", "CFAK", "C")
        return self.reshape(-1, order="A" if order == "K" else order)

    def flatten(self: F, order: str = "C") -> F:
        """Return a copy of the array collapsed into one dimension; see `Array.flatten`."""
        return self.ravel(order)._copied()

    def transpose(self: F, *axes: Any) -> F:
        """Return a view of the array with axes transposed; see `pardo.permute_dims`."""
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        order = range(self.ndim)[::-1] if given is None else [axis_index(a, self.ndim, "transpose") for a in given]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"transpose: axes {tuple(order)} do not name each of {self.ndim} dimensions once")
        return self._shown(_core._permute_dims(self._memory, [*order, self.ndim]))

    def swapaxes(self: F, axis1: int, axis2: int) -> F:
        """Return a view of the array with two axes interchanged."""
        order, a, b = list(range(self.ndim)), axis_index(axis1, self.ndim, "swapaxes"), axis_index(axis2, self.ndim, "swapaxes")
        order[a], order[b] = order[b], order[a]
        return self.transpose(order)
