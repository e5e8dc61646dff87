# python/pardo/_host/texts.py: what NumPy says of dtypes and objects, and how it prints: its own functions, where they suit as they are.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import (
    base_repr,
    binary_repr,
    format_float_positional,
    format_float_scientific,
    get_printoptions,
    isscalar,
    issubdtype,
    iterable,
    printoptions,
    set_printoptions,
    typename,
)
from numpy.typing import NDArray
from pardo._array.interop import asnumpy
from pardo._array.printing import shown
from pardo._base import promotion
from pardo._base.arguments import array
from pardo._base.records import Records
from pardo._core import Array

__all__ = [
    "array2string",
    "array_repr",
    "array_str",
    "base_repr",
    "binary_repr",
    "common_type",
    "format_float_positional",
    "format_float_scientific",
    "get_printoptions",
    "isscalar",
    "issubdtype",
    "iterable",
    "min_scalar_type",
    "mintypecode",
    "printoptions",
    "set_printoptions",
    "typename",
]


def _shown(x: Any, op_name: str, edgeitems: int | None = None, threshold: int | None = None) -> NDArray[Any]:
    """The array on the host, as far as it is printed."""
    return asnumpy(x) if isinstance(x, Records) else shown(array(x, op_name), edgeitems, threshold)


def array2string(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: dict[str, Callable[[Any], str]] | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sign: Any = None,
    floatmode: Any = None,
    suffix: str = "",
    legacy: Any = None,
) -> str:
    """Return a string representation of an array.

    Parameters
    ----------
    a : Array
        The array; waited for.
    max_line_width, precision, suppress_small, separator, prefix, formatter, threshold, edgeitems : optional
        As for `numpy.array2string`.
    sign, floatmode, suffix, legacy : optional
        As for `numpy.array2string`.

    Returns
    -------
    str
        What NumPy says of the same values.

    Raises
    ------
    TypeError
        `a` is neither an Array nor a number, or an option is of a wrong type.
    ValueError
        An option is something else.

    See Also
    --------
    array_str, array_repr, set_printoptions

    Examples
    --------
    >>> import pardo as pp
    >>> pp.array2string(pp.asarray([1e-16, 1, 2]), precision=2, separator=",", suppress_small=True)
    '[0.,1.,2.]'
    """
    options: dict[str, Any] = {"formatter": formatter, "threshold": threshold, "edgeitems": edgeitems, "sign": sign, "floatmode": floatmode}
    host = _shown(a, "array2string", edgeitems, threshold)
    return np.array2string(host, max_line_width, precision, suppress_small, separator, prefix, suffix=suffix, legacy=legacy, **options)


def array_repr(arr: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None) -> str:
    """Return the string representation of an array.

    Parameters
    ----------
    arr : Array
        The array; waited for.
    max_line_width, precision, suppress_small : optional
        As for `numpy.array_repr`.

    Returns
    -------
    str
        What NumPy says of the same values.

    Raises
    ------
    TypeError
        `arr` is neither an Array nor a number, or an option is of a wrong type.

    See Also
    --------
    array_str, array2string, set_printoptions

    Examples
    --------
    >>> import pardo as pp
    >>> pp.array_repr(pp.asarray([1, 2]))
    'array([1, 2])'
    """
    return np.array_repr(_shown(arr, "array_repr"), max_line_width, precision, suppress_small)


def array_str(a: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None) -> str:
    """Return a string representation of the data in an array.

    Parameters
    ----------
    a : Array
        The array; waited for.
    max_line_width, precision, suppress_small : optional
        As for `numpy.array_str`.

    Returns
    -------
    str
        What NumPy says of the same values.

    Raises
    ------
    TypeError
        `a` is neither an Array nor a number, or an option is of a wrong type.

    See Also
    --------
    array_repr, array2string, set_printoptions

    Examples
    --------
    >>> import pardo as pp
    >>> pp.array_str(pp.asarray([1, 2]))
    '[1 2]'
    """
    return np.array_str(_shown(a, "array_str"), max_line_width, precision, suppress_small)


def _stand_in(a: Array) -> Any:
    """An array of NumPy's of the same dtype and no elements."""
    return np.empty((0,) * max(a.ndim, 1), a.dtype)


def common_type(*arrays: Any) -> Any:
    """Return a scalar type which is common to the input arrays: an inexact one that all can be cast to.

    Parameters
    ----------
    *arrays : Array
        The arrays; only their dtypes are looked at.

    Returns
    -------
    type
        A floating or complex type of NumPy's.

    Raises
    ------
    TypeError
        An array is not of numbers: bools are none.

    See Also
    --------
    result_type, mintypecode

    Examples
    --------
    >>> import pardo as pp
    >>> pp.common_type(pp.zeros(2, dtype="float32"), pp.zeros(2, dtype="complex64")).__name__
    'complex64'
    """
    given = [_stand_in(a) if type(a) is Array else a for a in arrays]
    others = [a for a in given if not promotion.is_bfloat16(getattr(a, "dtype", np.dtype(bool)))]
    if len(others) == len(given):
        return np.common_type(*given)
    return promotion.result_type(promotion.bfloat16(), *([np.common_type(*others)] if others else [])).type


def min_scalar_type(a: Any, /) -> np.dtype[Any]:
    """For scalar `a`, return the dtype with the smallest size and smallest scalar kind which can hold its value.

    Parameters
    ----------
    a : number or Array
        The value, of an array without dimensions waited for; of another array only the dtype counts.

    Returns
    -------
    dtype
        The smallest dtype; that of an array with dimensions.

    See Also
    --------
    result_type, promote_types

    Examples
    --------
    >>> import pardo as pp
    >>> pp.min_scalar_type(-260), pp.min_scalar_type(pp.zeros(3))
    (dtype('int16'), dtype('float64'))
    """
    if type(a) is not Array:
        return np.min_scalar_type(a)
    return a.dtype if a.ndim else np.min_scalar_type(a.dtype.type(a.item()))


def mintypecode(typechars: Any, typeset: Any = "GDFgdf", default: str = "d") -> str:
    """Return the character for the minimum-size type to which given types can be safely cast.

    Parameters
    ----------
    typechars : sequence of str or Array
        Characters of dtypes, or arrays.
    typeset : sequence of str
        The characters to choose from.
    default : str
        Given if none of `typechars` is in `typeset`.

    Returns
    -------
    str
        The character.

    See Also
    --------
    common_type, result_type

    Examples
    --------
    >>> import pardo as pp
    >>> pp.mintypecode(["d", "f", "S"])
    'd'
    """
    chars = [t.dtype.char if type(t) is Array else t for t in typechars]
    return np.mintypecode(chars, typeset, default)
