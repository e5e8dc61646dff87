# python/pardo/_base/dtypes.py: data types: their names, facts, promotion, casts. They are NumPy's scalar types; x.dtype is a numpy.dtype.
from __future__ import annotations

from builtins import bool as builtins_bool
from typing import Any, NamedTuple

import numpy as np
from numpy import (
    bool_ as bool,
)
from numpy import (
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from numpy.typing import DTypeLike
from pardo._base import promotion
from pardo._base.arguments import DeviceLike, array, default_on, dtype_of, optional_dtype, queue_of
from pardo._base.promotion import kind_of
from pardo._base.records import Records
from pardo._core import Array

__all__ = [
    "FloatInfo",
    "IntegerInfo",
    "astype",
    "bool",
    "bool_",
    "can_cast",
    "complex64",
    "complex128",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "promote_types",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

bool_ = bool

_SIGNED = (int8, int16, int32, int64)
_UNSIGNED = (uint8, uint16, uint32, uint64)
_REAL = (float16, float32, float64)
_COMPLEX = (complex64, complex128)
KINDS: dict[str, tuple[type[np.generic[Any]], ...]] = {
    "bool": (bool,),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _REAL,
    "complex floating": _COMPLEX,
    "numeric": _SIGNED + _UNSIGNED + _REAL + _COMPLEX,
}


def _dtype_like(x: Any) -> Any:
    return x.dtype if type(x) is Array or isinstance(x, Records) else x  # type: ignore[union-attr]


def astype(x: Array, dtype: DTypeLike, /, *, copy: builtins_bool = True, device: DeviceLike = None) -> Array:
    """Copy an array to a specified data type, as C does: floats are truncated, integers wrap.

    Parameters
    ----------
    x : Array
        The array.
    dtype : data type
        The dtype of the result.
    copy : bool
        Whether a new array is made when `x` has that dtype already.
    device : Device or str, optional
        Where the result shall be. Default: where `x` is.

    Returns
    -------
    Array
        The converted array.

    Raises
    ------
    TypeError
        `x` is complex and the dtype is not, or the dtype is not supported.
    ValueError
        No such device exists.
    """
    x = array(x, "astype")
    target = optional_dtype(dtype, "astype") or default_on(x.queue, np.float64)
    if x._kind == "c" and kind_of(target) in "iuf":
        raise TypeError(f"astype: a complex array cannot become {target}; take x.real first")
    queue = queue_of(device, None, x.queue)
    if not copy and target == x.dtype and queue == x.queue:
        return x
    return x._astype(target, builtins_bool(copy))._to_queue(queue)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the type that results from applying the NumPy type promotion rules (NEP 50) to the arguments.

    Parameters
    ----------
    *arrays_and_dtypes : Array, data type or number
        Python numbers are weak: they take the dtype of what they meet.

    Returns
    -------
    numpy.dtype
        The promoted dtype.

    Raises
    ------
    ValueError
        Nothing is given.
    TypeError
        A dtype is not one of pardo's.

    See Also
    --------
    promote_types, can_cast

    Examples
    --------
    >>> import pardo as pp
    >>> pp.result_type(pp.asarray([1, 2], dtype="int32"), pp.float32)
    dtype('float64')
    >>> pp.result_type(pp.asarray([1.5], dtype="float32"), 2.0)
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is required")
    return dtype_of(promotion.result_type(*map(_dtype_like, arrays_and_dtypes)), "result_type", fields=True)


def promote_types(type1: DTypeLike, type2: DTypeLike) -> np.dtype[Any]:
    """Return the smallest data type to which both data types may be safely cast.

    Parameters
    ----------
    type1, type2 : data type
        The dtypes.

    Returns
    -------
    numpy.dtype
        The promoted dtype; float64 where no dtype holds both, as for int64 and uint64.

    Raises
    ------
    TypeError
        A dtype is not one of pardo's.

    See Also
    --------
    result_type, can_cast

    Examples
    --------
    >>> import pardo as pp
    >>> pp.promote_types("int8", "uint8")
    dtype('int16')
    """
    return dtype_of(promotion.promote_types(type1, type2), "promote_types", fields=True)


def can_cast(from_: Any, to: DTypeLike, casting: str = "safe") -> builtins_bool:
    """Return True if a cast between data types can occur according to the casting rule.

    Parameters
    ----------
    from_ : data type or Array
        What is to be cast.
    to : data type
        The target.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts are allowed.

    Returns
    -------
    bool
        True if the cast is allowed.

    Raises
    ------
    ValueError
        There is no such rule.
    TypeError
        `from_` is a Python number, or something is not a dtype.

    See Also
    --------
    result_type, astype

    Examples
    --------
    >>> import pardo as pp
    >>> pp.can_cast("int32", "float64")
    True
    >>> pp.can_cast("float64", "int32")
    False
    """
    return promotion.can_cast(_dtype_like(from_), to, casting)


def isdtype(dtype: DTypeLike, kind: Any) -> builtins_bool:
    """Determine if a provided dtype is of a specified data type kind.

    Parameters
    ----------
    dtype : data type
        The dtype.
    kind : str, data type, or tuple of them
        'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex floating' or 'numeric'.

    Returns
    -------
    bool
        True if it is of one of the kinds.

    Raises
    ------
    ValueError
        There is no such kind.
    TypeError
        Something is not a dtype.

    See Also
    --------
    can_cast, finfo, iinfo

    Examples
    --------
    >>> import pardo as pp
    >>> pp.isdtype("float32", "real floating")
    True
    >>> pp.isdtype("int8", ("bool", "unsigned integer"))
    False
    """
    if not isinstance(dtype, (str, type, np.dtype)):
        raise TypeError(f"isdtype: dtype must be a data type, not {type(dtype).__name__}")
    if not isinstance(kind, (str, tuple, type, np.dtype)):
        raise TypeError(f"isdtype: kind must be a text, a data type or a tuple of these, not {type(kind).__name__}")
    d = promotion.host_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(d, k) for k in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype: kind is {kind!r}; known are {', '.join(map(repr, KINDS))}")
        return any(d == np.dtype(t) for t in KINDS[kind]) or (float32 in KINDS[kind] and promotion.is_bfloat16(d))
    return builtins_bool(d == promotion.host_dtype(kind))


class FloatInfo(NamedTuple):
    """What a floating-point dtype can hold; all numbers are Python's floats."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]
    tiny: float
    resolution: float
    precision: int


class IntegerInfo(NamedTuple):
    """What an integer dtype can hold."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> FloatInfo:
    """Machine limits for floating point types.

    Parameters
    ----------
    type : data type or Array
        For complex dtypes, the limits of their parts.

    Returns
    -------
    FloatInfo
        With the fields bits, eps, max, min, smallest_normal, dtype; tiny, resolution and precision as NumPy's.

    Raises
    ------
    ValueError
        The dtype is not a floating-point one.

    See Also
    --------
    iinfo, nextafter

    Examples
    --------
    >>> import pardo as pp
    >>> pp.finfo("float32").eps
    1.1920928955078125e-07
    """
    f = promotion.finfo(_dtype_like(type))
    return FloatInfo(
        bits=int(f.bits),
        eps=float(f.eps),
        max=float(f.max),
        min=float(f.min),
        smallest_normal=float(f.smallest_normal),
        dtype=np.dtype(f.dtype),
        tiny=float(f.tiny),
        resolution=float(f.resolution),
        precision=int(f.precision),
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """Machine limits for integer types.

    Parameters
    ----------
    type : data type or Array
        The dtype.

    Returns
    -------
    IntegerInfo
        With the fields bits, max, min and dtype.

    Raises
    ------
    ValueError
        The dtype is not an integer one.

    See Also
    --------
    finfo

    Examples
    --------
    >>> import pardo as pp
    >>> pp.iinfo("int8").min, pp.iinfo("int8").max
    (-128, 127)
    """
    i = np.iinfo(_dtype_like(type))
    return IntegerInfo(bits=int(i.bits), max=int(i.max), min=int(i.min), dtype=np.dtype(i.dtype))
