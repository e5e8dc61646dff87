# python/pardo/_functions/bits.py: bits packed into bytes, and unpacked.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import array, axis_index, index, word
from pardo._core import Array
from pardo._functions.operands import cast, to_queue

__all__ = ["packbits", "unpackbits"]


def _prepared(a: Any, axis: Any, bitorder: Any, op_name: str) -> tuple[Array, int]:
    x = array(a, op_name)
    word(bitorder, f"{op_name}: bitorder", ("little", "big"))
    if axis is None:
        return _core._reshape(x, [-1]), 0
    return x, axis_index(axis, x.ndim, op_name)


def _shifts(bitorder: str, x: Array) -> Array:
    shifts = np.arange(8, dtype=np.uint8)
    return to_queue(shifts if bitorder == "little" else shifts[::-1].copy(), x.queue)


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Pack the elements of a binary-valued array into bits in a uint8 array.

    Parameters
    ----------
    a : Array
        Of integers or bools; what is not zero is a 1.
    axis : int, optional
        The axis. Default: the array is flattened.
    bitorder : {'big', 'little'}
        Whether the first element becomes the highest bit of a byte or the lowest.

    Returns
    -------
    Array
        Of uint8: an eighth of the elements along the axis; the last byte is filled with zeros.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `a` is not an Array, or not of integers or bools.
    ValueError
        `bitorder` is something else.

    See Also
    --------
    unpackbits, bitwise_count

    Examples
    --------
    >>> import pardo as pp
    >>> pp.packbits(pp.asarray([[1, 0, 1], [0, 1, 0]]), axis=-1)
    array([[160],
           [ 64]], dtype=uint8)
    """
    x, place = _prepared(a, axis, bitorder, "packbits")
    if x.dtype.kind not in "biu":
        raise TypeError("packbits: expected an input array of integer or boolean data type")
    x = cast(_core.not_equal(_core._moveaxis(x, [place], [x.ndim - 1]), 0), np.uint8)
    *outer, n = x.shape
    missing = -n % 8
    if missing:
        x = _core._concat([x, _core._full([*outer, missing], 0, np.uint8, x.queue)], x.ndim - 1)
    groups = _core._reshape(x, [*outer, (n + missing) // 8, 8])
    packed = _core._reduce(_core._SUM, _core.left_shift(groups, _shifts(bitorder, x)), [groups.ndim - 1], False, np.uint8)
    return _core._moveaxis(packed, [packed.ndim - 1], [place])


def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """Unpack elements of a uint8 array into a binary-valued output array.

    Parameters
    ----------
    a : Array of uint8
        The bytes.
    axis : int, optional
        The axis. Default: the array is flattened.
    count : int, optional
        How many bits; more than there are are zeros, a negative number leaves so many out at the end. Default: all.
    bitorder : {'big', 'little'}
        Whether the highest bit of a byte comes first or the lowest.

    Returns
    -------
    Array
        Of uint8, zeros and ones.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `a` is not of uint8, or `count` is not an integer.
    ValueError
        `bitorder` is something else, or `count` leaves out more than there is.

    See Also
    --------
    packbits

    Examples
    --------
    >>> import pardo as pp
    >>> pp.unpackbits(pp.asarray([2, 7], dtype="uint8"), count=12)
    array([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], dtype=uint8)
    """
    x, place = _prepared(a, axis, bitorder, "unpackbits")
    if x.dtype != np.uint8:
        raise TypeError("unpackbits: expected an input array of unsigned byte data type")
    x = _core._moveaxis(x, [place], [x.ndim - 1])
    *outer, n = x.shape
    bits = _core.bitwise_and(_core.right_shift(x[..., None], _shifts(bitorder, x)), 1)
    bits = _core._reshape(bits, [*outer, 8 * n])
    if count is not None:
        wanted = index(count, "unpackbits: count")
        if wanted < 0:
            wanted += 8 * n
            if wanted < 0:
                raise ValueError(f"unpackbits: count {count} leaves out more than there is")
        if wanted <= 8 * n:
            bits = bits[..., :wanted]
        else:
            bits = _core._concat([bits, _core._full([*outer, wanted - 8 * n], 0, np.uint8, x.queue)], bits.ndim - 1)
    return _core._moveaxis(bits, [bits.ndim - 1], [place])
