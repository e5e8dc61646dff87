# python/pardo/lib/stride_tricks.py: views in which elements come several times, by the names of numpy.lib.stride_tricks.
"""Views of arrays with other strides, by the names of `numpy.lib.stride_tricks`."""

from __future__ import annotations

from typing import Any as _Any

from pardo import _core
from pardo._array.contexts import public as _public
from pardo._base import public_names as _public_names
from pardo._base.arguments import Axis as _Axis
from pardo._base.arguments import Shape as _Shape
from pardo._base.arguments import array as _array
from pardo._base.arguments import axis_index as _axis_index
from pardo._base.arguments import flag as _flag
from pardo._base.arguments import integers as _integers
from pardo._base.arguments import shape as _read_shape
from pardo._core import Array as _Array

__all__ = ["as_strided", "sliding_window_view"]


def _refuse_subclasses(subok: _Any, op_name: str) -> None:
    if _flag(subok, f"{op_name}: subok"):
        raise TypeError(f"{op_name}: subok must be False: pardo's arrays have no subclasses")


@_public
def sliding_window_view(x: _Any, window_shape: _Shape, axis: _Axis = None, *, subok: bool = False, writeable: bool = False) -> _Array:
    """Create a sliding window view into the array with the given window shape.

    Parameters
    ----------
    x : Array
        The elements.
    window_shape : int or tuple of int
        How many elements a window has along each of the axes.
    axis : int or tuple of int, optional
        The axes along which it slides. Default: all.
    subok : bool
        NumPy's; must be False.
    writeable : bool
        NumPy's; must be False, because elements belong to several windows.

    Returns
    -------
    Array
        A read-only view: the places of the window, then the elements in it.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number, or extents and axes are not integers.
    ValueError
        There are not as many extents as axes, a window is larger than the array, or `writeable`.
    AxisError
        There is no such axis.

    See Also
    --------
    as_strided, pardo.convolve

    Notes
    -----
    `x` is computed, and what is made of the windows is fused: each element of the memory is read as often as it is in a window. For long
    windows a running sum (`pardo.cumsum`) or `pardo.ndimage` does less work.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(5)
    >>> pp.lib.stride_tricks.sliding_window_view(x, 3)
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]])
    """
    x = _array(x, "sliding_window_view")
    _refuse_subclasses(subok, "sliding_window_view")
    if _flag(writeable, "sliding_window_view: writeable"):
        raise ValueError("sliding_window_view: writeable must be False: elements belong to several windows; write to the array itself")
    window = _integers(window_shape, "sliding_window_view: window_shape")
    places = list(range(x.ndim)) if axis is None else _integers(axis, "sliding_window_view: axis")
    if len(window) != len(places):
        raise ValueError(
            f"sliding_window_view: Must provide matching length window_shape and axis; got {len(window)} window_shape elements and "
            f"{len(places)} axes"
        )
    return _core._sliding_windows(x, window, [_axis_index(a, x.ndim, "sliding_window_view") for a in places])


@_public
def as_strided(x: _Any, shape: _Shape | None = None, strides: _Any = None, subok: bool = False, writeable: bool = True) -> _Array:
    """Create a view into the array with the given shape and strides.

    Parameters
    ----------
    x : Array
        The array whose memory is shown, from its first element on.
    shape : int or tuple of int, optional
        Default: that of `x`.
    strides : tuple of int, optional
        Bytes between neighbours along each dimension, multiples of the size of an element. Default: those of `x`.
    subok : bool
        NumPy's; must be False.
    writeable : bool
        Whether the view may be written, if `x` may be and no element comes twice along an axis.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number, or extents and strides are not integers.
    ValueError
        There are not as many strides as extents, one is no multiple of the element's size, or elements would lie outside of the array's
        memory, which NumPy does not look at.

    See Also
    --------
    sliding_window_view, pardo.reshape, pardo.broadcast_to

    Notes
    -----
    Two places of a view may show the same element. In which order they are written is not defined.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(6)
    >>> pp.lib.stride_tricks.as_strided(x, (3, 2), (16, 8))
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    x = _array(x, "as_strided")
    _refuse_subclasses(subok, "as_strided")
    extents = list(x.shape) if shape is None else _read_shape(shape, "as_strided")
    steps = list(x.strides) if strides is None else _integers(strides, "as_strided: strides")
    if len(extents) != len(steps):
        raise ValueError(f"as_strided: there are {len(steps)} strides for {len(extents)} dimensions")
    if any(step % x.itemsize for step in steps):
        raise ValueError(f"as_strided: strides must be multiples of the {x.itemsize} bytes of an element: {tuple(steps)}")
    view = _core._as_strided(x, extents, [step // x.itemsize for step in steps])
    if not _flag(writeable, "as_strided: writeable"):
        view._set_writeable(False)
    return view


_public_names.publish_module(globals())
