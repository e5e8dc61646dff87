# python/pardo/_filters/transforms.py: ndimage: arrays seen at other places: by coordinates, moved, scaled, rotated.
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.contexts import public
from pardo._base.arguments import integer, warn
from pardo._base.arguments import shape as read_shape
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._filters import arguments as read
from pardo._filters import interpolation, splines
from pardo._filters.arguments import Output
from pardo._filters.linear import check_cval
from pardo._filters.splines import read_order
from pardo._filters.windows import NEAREST
from pardo._functions.operands import cast, on_host, operand
from pardo._functions.padding import pad

__all__ = ["affine_transform", "map_coordinates", "rotate", "shift", "zoom"]

AROUND = 12  # elements that are put around an array whose coefficients have no formula at the edges, as SciPy does


class _Spline:
    """What all of these share: the array, the degree of the spline, and how the array goes on beyond its edges."""

    def __init__(self, op_name: str, input: Any, order: Any, mode: Any, cval: Any, prefilter: Any) -> None:
        self.op_name = op_name
        self.x = read.read_input(input, op_name)
        self.order = read_order(order, 0, op_name)
        if self.x.ndim < 1:
            raise RuntimeError(f"{op_name}: input and output rank must be > 0")
        read.read_mode(mode, op_name)
        self.mode_name, self.mode = mode, interpolation.MODES[mode]
        check_cval(self.x, cval, op_name)
        self.cval, self.prefilter = cval, bool(prefilter)
        self.is_complex = self.x._kind == "c"

    def output(self, output: Any, shape: Sequence[int]) -> Output:
        return Output(output, self.x, self.op_name, is_complex=self.is_complex, shape=tuple(shape))

    def stored(self, where: Output, place: Callable[..., Any], coordinates: Any) -> Array:
        """The values at coordinates."""
        out = where.new()
        self.sample(_core._expand_dims(self.x, [0]), _core._expand_dims(out, [0]), place, coordinates)
        return where.given(out)

    def sample(self, x: Array, out: Array, place: Callable[..., Any], coordinates: Any) -> None:
        """Stores the values at coordinates in arrays along the first axis, each in one by itself."""
        moved, wide = 0, read.wide_of(x, is_complex=self.is_complex)
        if x.size == 0:
            out._fill(out.dtype.type(self.cval))
            return
        if self.prefilter and self.order > 1:
            if self.mode in (NEAREST, interpolation.GRID_CONSTANT):
                moved = AROUND
                widths = [(0, 0)] + [(AROUND, AROUND)] * (x.ndim - 1)
                keywords = {} if self.mode == NEAREST else {"constant_values": self.cval}
                x = pad(cast(x, wide), widths, "edge" if self.mode == NEAREST else "constant", **keywords)
            x = splines.coefficients(x, self.order, splines.EDGES[self.mode])
        interpolation.sample(x, out, self.order, self.mode, self.cval, place, coordinates, moved, wide)


@public
def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True
) -> Array:
    """Map the input array to new coordinates by interpolation.

    Parameters
    ----------
    {filter_input}
    coordinates : array_like
        Real, of shape (input.ndim, ...): for each axis of `input` the coordinates at which it is evaluated.
    {spline_output}
    {spline_keywords}

    Returns
    -------
    Array
        Of shape ``coordinates.shape[1:]``, and of the dtype of `input` if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    affine_transform, spline_filter

    Notes
    -----
    {interpolation_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.reshape(pp.arange(12.0), (4, 3))
    >>> pp.ndimage.map_coordinates(x, [[0.5, 2], [0.5, 1]], order=1)
    array([2., 7.])
    """
    spline = _Spline("map_coordinates", input, order, mode, cval, prefilter)
    at = operand(coordinates, spline.x, "map_coordinates")
    if at._kind == "c":
        raise TypeError("map_coordinates: complex type not supported: coordinates are complex")
    if at.ndim < 2:
        raise RuntimeError("map_coordinates: input and output rank must be > 0")
    if at.shape[0] != spline.x.ndim:
        raise RuntimeError(f"map_coordinates: invalid shape for coordinate array: {at.shape}; {spline.x.ndim} rows are expected")
    where = spline.output(output, at.shape[1:])
    count = math.prod(at.shape[1:])
    flat = _core._reshape(at, [at.size])
    return spline.stored(where, interpolation.listed, (flat, tuple(count * d for d in range(spline.x.ndim))))


@public
def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Array:
    """Apply an affine transformation.

    Parameters
    ----------
    {filter_input}
    matrix : array_like
        Of shape (input.ndim, output.ndim): the element at index o of the result is that of the input at ``matrix @ o + offset``. Of shape
        (input.ndim,): its diagonal. Of shape (input.ndim, input.ndim + 1), or one row more: homogeneous, with the offset in the last
        column.
    offset : number or sequence of number
        For all axes of the input, or each; without effect beside a homogeneous matrix.
    output_shape : sequence of int, optional
        Default: that of `output` if that is an array, else that of the input.
    {spline_output}
    {spline_keywords}

    Returns
    -------
    Array
        Of the dtype of `input` if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    map_coordinates, rotate, shift, zoom

    Notes
    -----
    {interpolation_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.reshape(pp.arange(9.0), (3, 3))
    >>> pp.ndimage.affine_transform(x, [[0, 1], [1, 0]], order=1)
    array([[0., 3., 6.],
           [1., 4., 7.],
           [2., 5., 8.]])
    """
    spline = _Spline("affine_transform", input, order, mode, cval, prefilter)
    return _affine(spline, matrix, offset, output_shape, output)


def _affine(spline: _Spline, matrix: Any, offset: Any, output_shape: Any, output: Any) -> Array:
    op_name, ndim = spline.op_name, spline.x.ndim
    if output_shape is None:
        output_shape = output.shape if type(output) is Array else spline.x.shape
    shape = read_shape(output_shape, op_name)
    if not shape:
        raise RuntimeError(f"{op_name}: input and output rank must be > 0")
    where = spline.output(output, shape)
    factors = on_host(matrix, op_name)
    if kind_of(factors.dtype) not in "biuf":
        raise TypeError(f"{op_name}: matrix must be of real numbers, not of dtype {factors.dtype}")
    factors = factors.astype(np.float64)
    if factors.ndim not in (1, 2) or len(factors) < 1:
        raise RuntimeError(f"{op_name}: no proper affine matrix provided: it has shape {factors.shape}")
    if factors.ndim == 2 and factors.shape[1] == ndim + 1 and len(factors) in (ndim, ndim + 1):
        if len(factors) == ndim + 1 and factors[-1].tolist() != [0.0] * ndim + [1.0]:
            raise ValueError(f"{op_name}: the last row of a homogeneous matrix must be {[0] * ndim + [1]}, not {factors[-1].tolist()}")
        offset = factors[:ndim, ndim]
        factors = factors[:ndim, :ndim]
    if len(factors) != ndim:
        raise RuntimeError(f"{op_name}: affine matrix has wrong number of rows: {len(factors)}; {ndim} are expected")
    if factors.ndim == 2 and factors.shape[1] != len(shape):
        raise RuntimeError(f"{op_name}: affine matrix has wrong number of columns: {factors.shape[1]}; {len(shape)} are expected")
    if factors.ndim == 1 and len(shape) != ndim:
        raise RuntimeError(f"{op_name}: output_shape has {len(shape)} entries; {ndim} are expected")
    moves = _numbers(offset, ndim, f"{op_name}: offset")
    if factors.ndim == 2:
        rows = tuple((tuple(row), move) for row, move in zip(factors.tolist(), moves, strict=True))
        return spline.stored(where, interpolation.affine, rows)
    with np.errstate(all="ignore"):
        before = np.asarray(moves) / factors
    return spline.stored(where, interpolation.scaled, tuple(zip(before.tolist(), factors.tolist(), [0.0] * ndim, strict=True)))


def _numbers(value: Any, count: int, what: str) -> list[float]:
    try:
        return [float(v) for v in read.each(value, count, what)]
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a number, or one for each axis, not {value!r}") from None


@public
def shift(
    input: Any, shift: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True
) -> Array:
    """Shift an array.

    Parameters
    ----------
    {filter_input}
    shift : number or sequence of number
        How far the elements move to higher indices, along all axes or each.
    {spline_output}
    {spline_keywords}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    affine_transform, zoom, rotate

    Notes
    -----
    {interpolation_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.shift(pp.asarray([1.0, 2.0, 4.0, 8.0]), 0.5, order=1, mode="nearest")
    array([1. , 1.5, 3. , 6. ])
    """
    spline = _Spline("shift", input, order, mode, cval, prefilter)
    where = spline.output(output, spline.x.shape)
    moves = _numbers(shift, spline.x.ndim, "shift: shift")
    return spline.stored(where, interpolation.scaled, tuple((-move, 1.0, 0.0) for move in moves))


@public
def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Array:
    """Zoom an array.

    Parameters
    ----------
    {filter_input}
    zoom : number or sequence of number
        The factor by which the array grows, along all axes or each.
    {spline_output}
    {spline_keywords}
    grid_mode : bool
        Whether elements are intervals, whose ends stay where they are; by default the centres of the outermost elements do.

    Returns
    -------
    Array
        Of shape ``round(extent * zoom)`` along each axis, and of the dtype of `input` if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    affine_transform, shift, rotate

    Notes
    -----
    {interpolation_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.zoom(pp.asarray([1.0, 3.0, 7.0]), 2, order=1)
    array([1. , 1.8, 2.6, 3.8, 5.4, 7. ])
    """
    spline = _Spline("zoom", input, order, mode, cval, prefilter)
    shape = spline.x.shape
    factors = _numbers(zoom, len(shape), "zoom: zoom")
    extents = [round(n * factor) for n, factor in zip(shape, factors, strict=True)]
    where = spline.output(output, read_shape(extents, "zoom"))
    if all(factor == 1 for factor in factors) and spline.prefilter:
        return where.given(spline.x._astype(where.dtype, True))
    if grid_mode and spline.mode_name in ("constant", "wrap"):
        warn(f"zoom: with grid_mode=True, mode 'grid-{spline.mode_name}' is meant rather than '{spline.mode_name}'", UserWarning)
    less = 0 if grid_mode else 1
    half = 0.5 if grid_mode else 0.0
    steps = [(n - less) / (m - less) if m != less else 1.0 for n, m in zip(shape, extents, strict=True)]
    return spline.stored(where, interpolation.scaled, tuple((half, step, -half) for step in steps))


@public
def rotate(
    input: Any,
    angle: float,
    axes: Any = (1, 0),
    reshape: bool = True,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Array:
    """Rotate an array.

    Parameters
    ----------
    {filter_input}
    angle : number
        In degrees.
    axes : pair of int
        The plane of the rotation.
    reshape : bool
        Whether the result is as large as it has to be to hold all of the array.
    {spline_output}
    {spline_keywords}

    Returns
    -------
    Array
        Of the dtype of `input` if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    affine_transform, shift, zoom

    Notes
    -----
    {interpolation_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.rotate(pp.asarray([[1.0, 2.0], [3.0, 4.0]]), 90, order=1)
    array([[2., 4.],
           [1., 3.]])
    """
    spline = _Spline("rotate", input, order, mode, cval, prefilter)
    x = spline.x
    if x.ndim < 2:
        raise ValueError(f"rotate: input array should be at least 2D: it has {x.ndim} dimensions")
    pair = [integer(axis, "rotate: axes") for axis in axes]
    if len(pair) != 2:
        raise ValueError(f"rotate: axes should contain exactly two values: {tuple(pair)}")
    plane = sorted(axis + x.ndim if axis < 0 else axis for axis in pair)
    if not 0 <= plane[0] < plane[1] < x.ndim:
        raise ValueError(f"rotate: invalid rotation plane specified: axes are {tuple(pair)}")
    turn = _numbers(angle, 1, "rotate: angle")[0]
    c, s = _cosine(turn), _cosine(turn - 90.0)
    rotation = np.array([[c, s], [-s, c]])
    extents = np.array([x.shape[d] for d in plane])
    shape = list(x.shape)
    if reshape:
        rows, columns = extents
        corners = rotation @ [[0, 0, rows, rows], [0, columns, 0, columns]]
        for d, extent in zip(plane, (np.ptp(corners, axis=1) + 0.5).astype(int).tolist(), strict=True):
            shape[d] = extent
    centre = (extents - 1) / 2 - rotation @ ((np.array([shape[d] for d in plane]) - 1) / 2)
    where = spline.output(output, shape)
    # Planes one after the other in memory, whatever their axes are in the array.
    planes = _core._moveaxis(x, plane, [-2, -1])
    planes = _core._reshape(planes, [-1 if x.size else 0, *planes.shape[-2:]])
    others = [extent for d, extent in enumerate(shape) if d not in plane]
    turned: Array = _core._empty([math.prod(others), *(shape[d] for d in plane)], where.dtype, x.queue)
    rows = tuple((tuple(row), move) for row, move in zip(rotation.tolist(), centre.tolist(), strict=True))
    spline.sample(planes, turned, interpolation.affine, rows)
    return where.given(_core._moveaxis(_core._reshape(turned, [*others, *turned.shape[1:]]), [-2, -1], plane))


def _cosine(degrees: float) -> float:
    """Exact for multiples of 90."""
    rest = math.fmod(abs(degrees), 360.0)
    if rest > 180.0:
        rest = 360.0 - rest
    return -math.cos(math.radians(180.0 - rest)) if rest > 90.0 else 0.0 if rest == 90.0 else math.cos(math.radians(rest))
