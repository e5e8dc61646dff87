# python/pardo/_base/memory.py: attributes and methods of arrays that say how the elements lie in memory, and show it as something else.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pardo import _core
from pardo._base.arguments import dtype_of, extents_of, index
from pardo._base.attributes import attribute
from pardo._base.orders import read_order
from pardo._base.records import made_records
from pardo._core import Array, Device

_SHORT = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "O": "OWNDATA", "W": "WRITEABLE", "A": "ALIGNED", "X": "WRITEBACKIFCOPY"}


class Flags:
    """How an array lies in memory, as NumPy's `flags`: attributes in small letters, or keys in capitals.

    It belongs to the array: flags that change show here, and ``x.flags.writeable = False`` changes them there.
    """

    __slots__ = ("_array",)
    _names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are contiguous in row-major order."""
        return self._array._memory_flags()[0]

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements are contiguous in column-major order."""
        return self._array._memory_flags()[1]

    @property
    def owndata(self) -> bool:
        """Whether the memory was made for this array: it is no view, and not another library's."""
        return self._array._memory_flags()[2]

    @property
    def writeable(self) -> bool:
        """Whether the elements can be written; may be set."""
        return self._array.writeable

    @writeable.setter
    def writeable(self, value: Any) -> None:
        self._array._set_writeable(bool(value))

    @property
    def aligned(self) -> bool:
        """True: elements are at multiples of their size."""
        return True

    @property
    def writebackifcopy(self) -> bool:
        """False: there are no such copies."""
        return False

    @property
    def num(self) -> int:
        """The flags as NumPy's number."""
        bits = (1, 2, 4, 0x400, 0x100, 0x2000)
        return sum(bit for name, bit in zip(self._names, bits, strict=True) if self[name])

    @property
    def contiguous(self) -> bool:
        """The same as `c_contiguous`."""
        return self.c_contiguous

    @property
    def fortran(self) -> bool:
        """The same as `fnc`."""
        return self.fnc

    @property
    def fnc(self) -> bool:
        """Column-major and not row-major."""
        rows, columns, _, _ = self._array._memory_flags()
        return columns and not rows

    @property
    def forc(self) -> bool:
        """Row-major or column-major."""
        rows, columns, _, _ = self._array._memory_flags()
        return rows or columns

    @property
    def behaved(self) -> bool:
        """Aligned and writeable."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """Row-major and writeable."""
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        """Column-major, not row-major, and writeable."""
        return self.writeable and self.fnc

    def __getitem__(self, key: Any) -> bool:
        if isinstance(key, str):
            name = _SHORT.get(key, key)
            if name in self._names:
                return getattr(self, name.lower())  # type: ignore[no-any-return]
            if name in ("CONTIGUOUS", "FORTRAN", "FNC", "FORC", "B", "BEHAVED", "CA", "CARRAY", "FA", "FARRAY"):
                return getattr(self, {"B": "behaved", "CA": "carray", "FA": "farray"}.get(name, name.lower()))  # type: ignore[no-any-return]
        raise KeyError("Unknown flag")

    def __setitem__(self, key: Any, value: Any) -> None:
        if key in ("W", "WRITEABLE"):
            self.writeable = value
        elif self[key] is not bool(value):
            raise ValueError(f"flags: {key} cannot be set; WRITEABLE can")

    def __eq__(self, other: object) -> Any:
        return self.num == other.num if isinstance(other, Flags) else NotImplemented

    def __repr__(self) -> str:
        return "".join(f"  {name} : {self[name]}\n" for name in self._names)


class MemoryPointer:
    """Where the elements of an array begin in the memory of its device: `x.data`. It keeps the memory.

    Where the host can read the memory, `numpy.asarray` makes an array of it without a copy.
    """

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def ptr(self) -> int:
        """The address of the first element, as kernels of the device see it."""
        return self._array._address()

    @property
    def size(self) -> int:
        """Bytes of the elements."""
        return self._array.nbytes

    @property
    def device(self) -> Device:
        """Where the memory is."""
        return self._array.device

    def __int__(self) -> int:
        return self.ptr

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return self._array.__array__(dtype, copy=copy)

    def __repr__(self) -> str:
        return f"<MemoryPointer 0x{self.ptr:x} of {self.size} bytes on {self.device}>"


def flags(self: Array) -> Flags:
    """How the array lies in memory, and whether it can be written, as NumPy's; computes the array where it has to."""
    return Flags(self)


def setflags(self: Array, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Set whether the array can be written.

    Parameters
    ----------
    write : bool, optional
        Whether it can. Views that are made from now on inherit that.
    align, uic : bool, optional
        NumPy's; elements are always aligned, and there are no copies that are written back.

    Raises
    ------
    ValueError
        The memory cannot be written: it is read-only, elements share memory, or the array that it belongs to is read-only; or
        another flag cannot be set so.
    """
    if align is not None and not align:
        raise ValueError("setflags: cannot set ALIGNED to False: elements are always aligned")
    if uic:
        raise ValueError("setflags: cannot set WRITEBACKIFCOPY flag to True")
    if write is not None:
        self._set_writeable(bool(write))


def base(self: Array) -> Array | None:
    """The array whose memory this one shows, as a new object; None if the memory is its own. Computes the array."""
    return self._base()


def data(self: Array) -> MemoryPointer:
    """Where the elements begin in the device's memory: `ptr`, `size` and `device`."""
    return MemoryPointer(self)


def view(self: Array, dtype: DTypeLike | None = None, type: Any = None) -> Array:
    """Return a new view of the same memory, as elements of another dtype.

    Parameters
    ----------
    dtype : data type, optional
        What the bytes are read as. Default: the array's own dtype.
    type : None
        NumPy's; there are no subclasses.

    Returns
    -------
    Array
        Shares the memory. With a dtype of another size the last axis has another extent.

    Raises
    ------
    TypeError
        The dtype is not supported, or `type` is given.
    ValueError
        The sizes differ, and the array has no dimensions, its last axis is not contiguous, or its bytes cannot be divided so.
    """
    if type is not None:
        raise TypeError("view: type must be None: pardo.Array has no subclasses")
    wanted = self.dtype if dtype is None else dtype_of(dtype, "view", fields=True)
    return self._view_as(wanted) if wanted.names is None else made_records("view_of", self, wanted)


def getfield(self: Array, dtype: DTypeLike, offset: int = 0) -> Array:
    """Return a part of each element as elements of another dtype: a view of the same memory.

    Parameters
    ----------
    dtype : data type
        What the bytes are read as; not wider than the elements.
    offset : int
        Bytes from the beginning of an element.

    Returns
    -------
    Array
        Of the same shape; shares the memory.

    Raises
    ------
    TypeError
        The dtype is not supported.
    ValueError
        The part is not inside of the elements, or not at multiples of its size.
    """
    wanted, start = dtype_of(dtype, "getfield", fields=True), index(offset, "getfield: offset")
    most = self.itemsize - wanted.itemsize
    if not 0 <= start <= most:
        raise ValueError(f"getfield: Need 0 <= offset <= {most} for requested type but received offset = {start}")
    return made_records("part_of", self, wanted, start)


def setfield(self: Array, val: Any, dtype: DTypeLike, offset: int = 0) -> None:
    """Put a value into a part of each element, which `getfield` gives.

    Parameters
    ----------
    val : Array or number
        The value, broadcast.
    dtype : data type
        What is stored there.
    offset : int
        Bytes from the beginning of an element.

    Raises
    ------
    TypeError
        The dtype is not supported, or cannot hold the value.
    ValueError
        The part is not inside of the elements, or not at multiples of its size; or the array is read-only.
    """
    self.getfield(dtype, offset)[...] = val


def byteswap(self: Array, inplace: bool = False) -> Array:
    """Swap the bytes of the array elements.

    Parameters
    ----------
    inplace : bool
        Whether the array itself is changed, and returned.

    Returns
    -------
    Array
        Elements whose bytes are in the opposite order; the parts of complex numbers each by itself.

    Raises
    ------
    ValueError
        `inplace`, and the array is read-only.
    """
    target = self if inplace else self._copy()
    parts = [_core._part(target, 0), _core._part(target, 1)] if self._kind == "c" else [target]
    for part in parts:
        width = part.dtype.itemsize
        bits = part._view_as(np.dtype(f"u{width}"))
        if width == 1:
            bits[...] = bits  # refuses what is read-only
            continue
        line = _core._reshape(bits._copy(), [bits.size])
        turned = _core._flip(_core._reshape(line._view_as(np.dtype("u1")), [bits.size, width]), [1])._copy()
        swapped = _core._reshape(turned, [bits.size * width])._view_as(bits.dtype)
        bits[...] = _core._reshape(swapped, list(bits.shape))
    return target


def resize(self: Array, *new_shape: Any, refcheck: bool = True) -> None:
    """Change the shape and the size of the array in place; what is new is zero.

    Parameters
    ----------
    *new_shape : int or tuple of int
        The new shape.
    refcheck : bool
        Whether it is an error that views of the array exist. Without the check they keep the elements that they show.

    Raises
    ------
    TypeError
        An extent is not an integer.
    ValueError
        The array is a view, others refer to its memory, or an extent is negative.
    """
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    if shape is None or not new_shape:
        return
    extents = extents_of(shape, "resize: shape")
    if any(e < 0 for e in extents):
        raise ValueError("resize: all elements of 'new_shape' must be non-negative")
    rows, columns, owns, writeable = self._memory_flags()
    size = int(np.prod(extents, dtype=object))
    if size == self.size and rows:
        self.shape = tuple(extents)
        return
    if not owns:
        raise ValueError("resize: cannot resize this array: it does not own its data")
    if not (rows or columns):
        raise ValueError("resize: only works on single-segment arrays")
    if not writeable:
        raise ValueError("resize: assignment destination is read-only")
    if refcheck and not self._unreferenced():
        raise ValueError(
            "resize: cannot resize an array that references or is referenced by another array in this way. "
            "Use the np.resize function or refcheck=False"
        )
    source = self if rows else self.T
    line = _core._full([size], 0, self.dtype, self.queue, "resize").force()
    kept = min(size, self.size)
    if kept:
        line[:kept] = _core._reshape(source, [self.size])[:kept]
    if columns and not rows:
        axes = list(range(len(extents)))[::-1]
        self._become(_core._laid_out(_core._reshape(line, extents[::-1]), axes))
    else:
        line.shape = tuple(extents)
        self._become(line)


def get(self: Array, *, order: str = "C", out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Copy the array to the host, as a NumPy array. Waits for it.

    Parameters
    ----------
    order : {'C', 'F', 'A'}
        How it lies in memory; 'A' means Fortran order if this array lies so.
    out : numpy.ndarray, optional
        Receives the elements and is returned; of this dtype and shape.

    Returns
    -------
    numpy.ndarray
        `out`, or a new array.

    Raises
    ------
    TypeError
        `out` is no NumPy array or of another dtype.
    ValueError
        `order` is something else, or `out` has another shape.
    """
    order = read_order(order, "get", "CFA")
    fnc = order == "F" or (order == "A" and Flags(self).fnc)
    if out is None:
        out = np.empty(self.shape, self.dtype, "F" if fnc else "C")
    elif not isinstance(out, np.ndarray) or out.dtype != self.dtype:
        raise TypeError(f"get: out must be a NumPy array of {self.dtype}")
    elif out.shape != self.shape:
        raise ValueError(f"get: out has the shape {out.shape}, and the array {self.shape}")
    if out.flags.c_contiguous:
        self._copy_to(out)
    elif out.flags.f_contiguous:
        self.T._copy_to(out.T)
    else:
        host = np.empty(self.shape, self.dtype)
        self._copy_to(host)
        out[...] = host
    return out


class Memory:
    """Is copied into `pardo.Array`; type checkers see it as a base class of `Conversions`."""

    __slots__ = ()

    flags = attribute(flags)
    setflags = setflags
    base = attribute(base)
    data = attribute(data)
    view = view
    getfield = getfield
    setfield = setfield
    byteswap = byteswap
    resize = resize
    get = get
