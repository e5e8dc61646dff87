# python/pardo/_functions/copies.py: arrays made of others with demands: a copy, a layout, only finite numbers.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.interop import array, asarray
from pardo._base.arguments import DeviceLike
from pardo._base.orders import copied_in_order, in_order, read_order, satisfies
from pardo._core import Array, Queue
from pardo._core import all as all_of

__all__ = [
    "asanyarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "require",
]


def copy(a: Any, order: str = "K", subok: bool = False) -> Array:
    """Return an array copy of the given object.

    Parameters
    ----------
    a : object
        Anything that `asarray` takes.
    order : {'K', 'C', 'A', 'F'}
        How the copy lies in memory: 'C' row-major, 'F' column-major, 'A' column-major if `a` does, 'K' with the axes in
        the order of those of `a`.
    subok : bool
        NumPy's; there are no subclasses.

    Returns
    -------
    Array
        A new array, on the device of `a` if that is an Array.

    Raises
    ------
    TypeError
        `a` holds something else than numbers.
    ValueError
        `order` is something else.

    See Also
    --------
    asarray, ascontiguousarray

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([1, 2, 3])
    >>> y = pp.copy(x)
    >>> x[0] = 10
    >>> y
    array([1, 2, 3])
    """
    order = read_order(order, "copy")
    return copied_in_order(a, order) if type(a) is Array else array(a, order=order)


def asanyarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Convert the input to an array: `asarray`, as there are no subclasses to pass through.

    Parameters
    ----------
    a : object
        Anything that `asarray` takes.
    dtype, order, device, copy, queue, usm_type : optional
        As for `asarray`.

    Returns
    -------
    Array
        As `asarray` returns it.

    Raises
    ------
    ValueError, TypeError
        As `asarray`.

    See Also
    --------
    asarray, array

    Examples
    --------
    >>> import pardo as pp
    >>> pp.asanyarray([1, 2])
    array([1, 2])
    """
    return asarray(a, dtype, order, device=device, copy=copy, queue=queue, usm_type=usm_type)


def ascontiguousarray(a: Any, dtype: DTypeLike | None = None, *, device: DeviceLike = None) -> Array:
    """Return a contiguous array (ndim >= 1) in memory, row by row.

    Parameters
    ----------
    a : object
        Anything that `asarray` takes.
    dtype : data type, optional
        Default: that of `a`.
    device : Device or str, optional
        Default: that of `a` if it is an Array, else the default device.

    Returns
    -------
    Array
        `a` itself if it is one and lies so already, else a copy; of one dimension at least.

    Raises
    ------
    ValueError, TypeError
        As `asarray`.

    See Also
    --------
    asarray, asfortranarray, require

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[1, 2], [3, 4], [5, 6]]).T
    >>> x.strides, pp.ascontiguousarray(x).strides
    ((8, 16), (24, 8))
    """
    x = asarray(a, dtype, device=device)
    if x.ndim == 0:
        return _core._reshape(x, [1])
    x.force()
    return in_order(x, "C")


def asfortranarray(a: Any, dtype: DTypeLike | None = None, *, device: DeviceLike = None) -> Array:
    """Return an array (ndim >= 1) laid out column by column in memory.

    Parameters
    ----------
    a : object
        Anything that `asarray` takes.
    dtype : data type, optional
        Default: that of `a`.
    device : Device or str, optional
        Default: that of `a` if it is an Array, else the default device.

    Returns
    -------
    Array
        `a` itself if it is one and lies so already, else a copy; of one dimension at least.

    Raises
    ------
    ValueError, TypeError
        As `asarray`.

    See Also
    --------
    ascontiguousarray, isfortran, require

    Examples
    --------
    >>> import pardo as pp
    >>> pp.asfortranarray(pp.zeros((2, 3))).strides
    (8, 16)
    """
    x = asarray(a, dtype, device=device)
    if x.ndim == 0:
        return _core._reshape(x, [1])
    x.force()
    return in_order(x, "F")


def asarray_chkfinite(a: Any, dtype: DTypeLike | None = None, order: str | None = None, *, device: DeviceLike = None) -> Array:
    """Convert the input to an array, checking for NaNs or Infs.

    Parameters
    ----------
    a : object
        Anything that `asarray` takes.
    dtype, order, device : optional
        As for `asarray`.

    Returns
    -------
    Array
        As `asarray` returns it. Waits for floating and complex elements.

    Raises
    ------
    ValueError
        An element is NaN or an infinity; or as `asarray`.
    TypeError
        As `asarray`.

    See Also
    --------
    asarray, isfinite

    Examples
    --------
    >>> import pardo as pp
    >>> pp.asarray_chkfinite([1, 2], dtype=float)
    array([1., 2.])
    """
    x = asarray(a, dtype, order, device=device)
    if x._kind in "fc" and not bool(all_of(_core.isfinite(x))):
        raise ValueError("asarray_chkfinite: array must not contain infs or NaNs")
    return x


_FLAGS = {
    "C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F", "FORTRAN": "F", "A": "A", "ALIGNED": "A",
    "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
}  # fmt: skip


def require(a: Any, dtype: DTypeLike | None = None, requirements: str | Sequence[str] | None = None, *, device: DeviceLike = None) -> Array:
    """Return an array of the provided type that satisfies requirements.

    Parameters
    ----------
    a : object
        Anything that `asarray` takes.
    dtype : data type, optional
        Default: that of `a`.
    requirements : str or sequence of str, optional
        'C' or 'F': laid out row by row or column by column; 'W': writeable; 'O': with memory of its own; 'A' (aligned) and 'E' (no
        subclass) hold always. NumPy's long names are taken too.
    device : Device or str, optional
        Default: that of `a` if it is an Array, else the default device.

    Returns
    -------
    Array
        `a` itself if it is one and satisfies all, else a copy. 'O' always copies an Array, as any may share its memory.

    Raises
    ------
    KeyError
        A requirement is unknown.
    ValueError
        Both 'C' and 'F' are required; or as `asarray`.
    TypeError
        As `asarray`.

    See Also
    --------
    asarray, ascontiguousarray, asfortranarray

    Examples
    --------
    >>> import pardo as pp
    >>> pp.require(pp.zeros((2, 3)), dtype="float32", requirements=["F", "W"]).strides
    (4, 8)
    """
    wanted = {_FLAGS[r.upper()] for r in requirements or ()}
    if wanted >= {"C", "F"}:
        raise ValueError('require: cannot specify both "C" and "F" order')
    x = asarray(a, dtype, device=device)
    fits = {"C": lambda: satisfies(x, "C"), "F": lambda: satisfies(x, "F"), "W": lambda: x.writeable}
    if ("O" in wanted and x is a) or not all(fits[r]() for r in wanted if r in fits):
        return copied_in_order(x, "F" if "F" in wanted else "C" if "C" in wanted else "A")
    return x
