# python/pardo/compat/numba/core/types.py: Numba's types, as far as they say dtypes and ranks.
"""Numba's types: of numbers, arrays, and signatures; `typeof`. Called with a number a type converts it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pardo as _pp
from pardo._extending import publish_module
from pardo.compat._names import missing

__all__ = ["Array", "Number", "Signature", "Tuple", "Type", "UniTuple", "dtype_of", "from_dtype", "typeof", "unicode_type"]


class Type:
    """What a value is; `name` says it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        """Make a signature whose result this is."""
        return Signature(self, arguments)

    def __getitem__(self, index: Any) -> Array:
        """Make the type of an array: ``float64[:, ::1]``."""
        slices = index if isinstance(index, tuple) else (index,)
        steps = [s.step for s in slices]
        layout = "C" if steps[-1] == 1 else "F" if steps[0] == 1 else "A"
        return Array(self, len(slices), layout)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


class Number(Type):
    """A number of a dtype."""

    def __init__(self, name: str, dtype: Any) -> None:
        super().__init__(name)
        self.dtype = np.dtype(dtype)
        self._pardo_dtype = self.dtype.type
        self.bitwidth = 8 * self.dtype.itemsize
        self.signed = self.dtype.kind == "i"

    def __call__(self, *arguments: Any) -> Any:
        """Convert a number; of types make a signature."""
        if len(arguments) == 1 and not isinstance(arguments[0], Type):
            return self.dtype.type(arguments[0])
        return Signature(self, arguments)


class Array(Type):
    """An array: ``Array(float64, 2, "C")``."""

    def __init__(self, dtype: Type, ndim: int, layout: str, readonly: bool = False) -> None:
        self.dtype, self.ndim, self.layout, self.mutable = dtype, ndim, layout, not readonly
        super().__init__(f"array({dtype.name}, {ndim}d, {layout})")


class Tuple(Type):
    """A tuple: ``Tuple((int64, float64))``."""

    def __init__(self, types: Iterable[Type]) -> None:
        self.types = tuple(types)
        self.count = len(self.types)
        alike = len(set(self.types)) == 1
        super().__init__(f"UniTuple({self.types[0]} x {self.count})" if alike else f"Tuple({', '.join(map(str, self.types))})")


class UniTuple(Tuple):
    """A tuple of values of one type: ``UniTuple(int64, 2)``."""

    def __init__(self, dtype: Type, count: int) -> None:
        super().__init__([dtype] * count)
        self.dtype = dtype


class Signature:
    """Types of arguments and of the result."""

    def __init__(self, return_type: Type | None, args: tuple[Any, ...]) -> None:
        self.return_type, self.args = return_type, args

    def __repr__(self) -> str:
        return f"({', '.join(map(str, self.args))}) -> {self.return_type}"


def _numbers() -> dict[str, Number]:
    kinds = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)] + ["float32", "float64", "complex64", "complex128"]
    made = {name: Number(name, name) for name in kinds} | {"boolean": Number("bool", np.bool_)}
    other = (
        "i1=int8 i2=int16 i4=int32 i8=int64 u1=uint8 u2=uint16 u4=uint32 u8=uint64 f4=float32 f8=float64 c8=complex64 c16=complex128 "
        "b1=boolean bool_=boolean byte=uint8 char=int8 uchar=uint8 short=int16 ushort=uint16 int_=int64 uint=uint64 intc=int32 "
        "uintc=uint32 intp=int64 uintp=uint64 long_=int64 ulong=uint64 longlong=int64 ulonglong=uint64 float_=float32 double=float64"
    )
    return made | {pair.partition("=")[0]: made[pair.partition("=")[2]] for pair in other.split()}


NUMBERS = _numbers()
void = none = Type("none")
unicode_type = Type("unicode_type")
globals().update(NUMBERS)
_OF_DTYPE = {kind.dtype: kind for kind in NUMBERS.values()}


def dtype_of(kind: Any) -> Any:
    """NumPy's dtype of a type of numbers or of elements."""
    return kind.dtype if isinstance(kind, Number) else dtype_of(kind.dtype)


def from_dtype(dtype: Any) -> Number:
    """Give the type of numbers of a dtype."""
    found = _OF_DTYPE.get(np.dtype(dtype))
    if found is None:
        raise TypeError(f"numbers of the dtype {np.dtype(dtype)} have no type here; there are {', '.join(sorted(map(str, _OF_DTYPE)))}")
    return found


# What classes of other modules have for types, by the class of the values.
OF_CLASS: dict[type, Any] = {}


def typeof(value: Any) -> Type:
    """Give the type of a value: a number, an array of NumPy's or pardo's, a text, None, or a tuple of these.

    Examples
    --------
    >>> from pardo.compat.numba import typeof
    >>> import numpy as np
    >>> typeof(np.ones((2, 3))), typeof(1)
    (array(float64, 2d, C), int64)
    """
    if type(value) in OF_CLASS:
        made: Type = OF_CLASS[type(value)](value)
        return made
    if isinstance(value, (bool, int, float, complex)):
        return from_dtype(type(value))
    if isinstance(value, np.generic):
        return from_dtype(value.dtype)
    if isinstance(value, (np.ndarray, _pp.Array)):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return Array(from_dtype(value.dtype), value.ndim, layout)
    if isinstance(value, tuple):
        kinds = [typeof(v) for v in value]
        return UniTuple(kinds[0], len(kinds)) if len(set(kinds)) == 1 else Tuple(kinds)
    if value is None or isinstance(value, str):
        return none if value is None else unicode_type
    raise TypeError(f"typeof: numbers, arrays, texts, None and tuples have types here, not {type(value).__name__}")


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {}, "types of numbers and arrays are here; pardo finds types by itself")


publish_module(globals())
