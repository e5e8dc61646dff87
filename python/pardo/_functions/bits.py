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


def _shifts(bitorder: str, x: Array, inner: int) -> Array:
    """Of the bits of a byte, one after the other, for `inner` axes beside each other."""
    shifts = np.arange(8, dtype=np.uint8)
    return to_queue((shifts if bitorder == "little" else shifts[::-1]).reshape(8, *[1] * inner), x.queue)


# Along the last axis eight bytes are one word, the lowest first in memory. Bytes of 0 and 1 times the first of these numbers have in the
# highest byte what they pack to; the bit that a byte unpacks is that of the second at its place.
_PACKED = {"little": np.uint64(0x0102040810204080), "big": np.uint64(0x8040201008040201)}
_OWN_BIT = {"little": np.uint64(0x8040201008040201), "big": np.uint64(0x0102040810204080)}
_ONES, _SEVENS = np.uint64(0x0101010101010101), np.uint64(0x7F7F7F7F7F7F7F7F)


def _words(x: Array) -> Array:
    """Bytes along the last axis, each eight as one; of a copy where they do not lie one after the other, or begin between two words."""
    try:
        return x._view_as(np.dtype(np.uint64))
    except ValueError:
        return x._copy()._view_as(np.dtype(np.uint64))


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
    if x._kind not in "biu":
        raise TypeError("packbits: expected an input array of integer or boolean data type")
    if x.dtype.itemsize > 1:
        x = _core.not_equal(x, 0)
    before, n, after = x.shape[:place], x.shape[place], x.shape[place + 1 :]
    missing = -n % 8
    if missing:
        x = _core._concat([x, _core._full([*before, missing, *after], 0, x.dtype, x.queue)], place)
    count = (n + missing) // 8
    if x.size and not after:
        words = _words(x)
        some = _core.bitwise_or(_core.add(_core.bitwise_and(words, _SEVENS), _SEVENS), words)
        each = _core.bitwise_and(_core.right_shift(some, np.uint64(7)), _ONES)
        return cast(_core.right_shift(_core.multiply(each, _PACKED[bitorder]), np.uint64(56)), np.uint8)
    groups = _core._reshape(cast(_core.not_equal(x, 0), np.uint8), [*before, count, 8, *after])
    bits = _core.left_shift(groups, _shifts(bitorder, x, len(after)))
    return _core._reduce(_core._SUM, bits, [place + 1], False, np.uint8)


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
    before, n, after = x.shape[:place], x.shape[place], x.shape[place + 1 :]
    if x.size and not after:
        own = _core.bitwise_and(_core.multiply(cast(x, np.uint64), _ONES), _OWN_BIT[bitorder])
        bits = _core.bitwise_and(_core.right_shift(_core.add(own, _SEVENS), np.uint64(7)), _ONES)._view_as(np.dtype(np.uint8))
    else:
        spread = _core._reshape(x, [*before, n, 1, *after])
        bits = _core.bitwise_and(_core.right_shift(spread, _shifts(bitorder, x, len(after))), 1)
        bits = _core._reshape(bits, [*before, 8 * n, *after])
    if count is not None:
        wanted = index(count, "unpackbits: count")
        if wanted < 0:
            wanted += 8 * n
            if wanted < 0:
                raise ValueError(f"unpackbits: count {count} leaves out more than there is")
        if wanted <= 8 * n:
            bits = bits[(slice(None),) * place + (slice(wanted),)]
        else:
            bits = _core._concat([bits, _core._full([*before, wanted - 8 * n, *after], 0, np.uint8, x.queue)], place)
    return bits
