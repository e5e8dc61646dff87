# python/pardo/_array/broadcasting.py: arrays and shapes broadcast to each other, and copies into the broadcast.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import check_fits
from pardo._base.arguments import Shape, array, arrays, check_cast, mask, number, on_queue, together, warn_of_lost_parts
from pardo._base.arguments import shape as read_shape
from pardo._core import Array

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "copyto",
]


def broadcast_to(x: Any, /, shape: Shape) -> Array:
    """Broadcast an array to a new shape.

    Parameters
    ----------
    x : Array
        The array.
    shape : int or tuple of int
        The shape.

    Returns
    -------
    Array
        A read-only view; elements share memory.

    Raises
    ------
    ValueError
        The array cannot be broadcast to the shape.
    TypeError
        `x` is not an array, or `shape` holds something else than integers.
    """
    shown = _core._broadcast_to(array(x, "broadcast_to"), read_shape(shape, "broadcast_to"))
    shown._set_writeable(False)
    return shown


def broadcast_arrays(*arrays_: Any) -> tuple[Array, ...]:
    """Broadcast any number of arrays against each other.

    Parameters
    ----------
    *arrays_ : Array
        The arrays.

    Returns
    -------
    tuple of Array
        Views of the same shape, each on the queue of its array; 0-d arrays of the CPU follow the others.

    Raises
    ------
    ValueError
        The shapes do not fit.
    TypeError
        Something is not an array.
    """
    items = together(arrays(arrays_, "broadcast_arrays", own_dtypes=True), "broadcast_arrays")
    return tuple(_core._broadcast_arrays(items, "broadcast_arrays")) if items else ()


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """Broadcast the input shapes into a single shape.

    Parameters
    ----------
    *shapes : tuple of int
        The shapes.

    Returns
    -------
    tuple of int
        The broadcast shape.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    known = [read_shape(s, "broadcast_shapes") for s in shapes]
    ndim = max((len(s) for s in known), default=0)
    result = [1] * ndim
    for s in known:
        for d, extent in enumerate(s, ndim - len(s)):
            if extent != 1 and result[d] not in (1, extent):
                listed = " ".join(str(tuple(k)) for k in known)
                raise ValueError(f"broadcast_shapes: shapes do not fit each other: {listed}")
            if extent != 1:
                result[d] = extent
    return tuple(result)


def copyto(dst: Array, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copy values from one array to another, broadcasting as necessary.

    Parameters
    ----------
    dst : Array
        The target.
    src : Array, number, NumPy array or nested lists of numbers
        What is copied; broadcast to `dst`.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts are allowed.
    where : Array of bool, optional
        The elements that are copied.

    Raises
    ------
    TypeError
        `dst` is not an array, or the rule does not allow the cast.
    ValueError
        There is no such rule, or the shapes do not fit.
    OverflowError
        An integer is out of bounds for the dtype of `dst`.
    """
    if type(dst) is not Array:
        raise TypeError(f"copyto: the target must be a pardo.Array, not {type(dst).__name__}")
    if type(src) is not Array and not isinstance(src, (bool, int, float, complex, np.generic)):
        src = on_queue(src, dst.queue, "copyto")
    check_cast(_kind_of(src, dst), dst.dtype, casting, "copyto")
    if type(src) is Array:
        check_fits(src, dst.shape, "copyto")
    if dst._kind in "iuf" and (src._kind == "c" if type(src) is Array else isinstance(src, (complex, np.complexfloating))):
        warn_of_lost_parts("copyto")
        src = src._astype(dst.dtype, False) if type(src) is Array else src.real
    chosen = mask(where, dst, "copyto")
    if chosen is None:
        dst[...] = src
        return
    if isinstance(src, np.generic):  # cast, as without a mask, and not computed with
        src = number(src, None, dst.queue, "copyto")
    dst._assign(_core._where(chosen, src if type(src) is not Array else src._astype(dst.dtype, False), dst))


def _kind_of(src: Any, dst: Array) -> Any:
    """The dtype that something is cast from: for Python scalars that of `dst`, if it holds their kind."""
    if type(src) is Array or isinstance(src, np.generic):
        return src.dtype
    kinds = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
    own = next(t for t in kinds if isinstance(src, t))
    return dst.dtype if dst._kind in kinds[own] else np.dtype(own)
