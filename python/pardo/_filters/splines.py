# python/pardo/_filters/splines.py: ndimage: the coefficients of splines that go through the elements of an array.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.contexts import public
from pardo._base.arguments import axis_index, integer
from pardo._core import Array
from pardo._filters import arguments as read
from pardo._filters.arguments import Output
from pardo._filters.interpolation import GRID_CONSTANT, GRID_WRAP, MODES
from pardo._filters.lines import place_of, space_of
from pardo._filters.stencils import plain
from pardo._filters.windows import CONSTANT, MIRROR, NEAREST, REFLECT, WRAP, storing
from pardo._functions.operands import cast
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Item

__all__ = ["spline_filter", "spline_filter1d"]

# Of the recursive filters: M. Unser, A. Aldroubi, M. Eden, "Fast B-spline transforms for continuous image representation and
# interpolation", IEEE PAMI 13, 1991.
POLES = {
    2: (-0.171572875253809902396622551580603843,),
    3: (-0.267949192431122706472553658494127633,),
    4: (-0.361341225900220177092212841325675255, -0.013725429297339121360331226939128204),
    5: (-0.430575347099973791851434783493520110, -0.043096288203264653822712376822550182),
}
LINES, BLOCK = 2048, 256  # lines from which on an item takes a whole one; else it takes at least so many elements
FORGOTTEN = 1e-18  # what an element adds to another so far away is not seen

# How a line goes on, for the filter.
EDGES = {
    NEAREST: REFLECT, REFLECT: REFLECT, MIRROR: MIRROR, CONSTANT: MIRROR, WRAP: MIRROR, GRID_CONSTANT: MIRROR, GRID_WRAP: WRAP,
}  # fmt: skip


def first_of(x: Any, at: Any, n: Any, stride: Any, z: Any, reach: Any, edges: Any, wide: Any) -> Any:
    """What the recursion has at the first element of a line, whose elements go on beyond it."""
    total = wide(x[at])
    power = z
    if edges == WRAP:
        for i in range(1, min(n, reach)):
            total += power * wide(x[at + plain(n - i) * stride])
            power *= z
        return total / (1 - z**n)
    if edges == MIRROR:
        last = z ** (n - 1)
        total += last * wide(x[at + plain(n - 1) * stride])
        for i in range(1, min(n - 1, reach)):
            total += power * (wide(x[at + i * stride]) + last * wide(x[at + plain(n - 1 - i) * stride]))
            power *= z
        return total / (1 - last * last)
    last = z**n
    total += last * wide(x[at + plain(n - 1) * stride])
    for i in range(1, min(n, reach)):
        total += power * (wide(x[at + i * stride]) + last * wide(x[at + plain(n - 1 - i) * stride]))
        power *= z
    return wide(x[at]) + total * z / (1 - last * last)


@kernel(bounds_check=False)  # elements of lines
def spline_forward(
    item: Item, x: Any, extents: Any, z: Any, gain: Any, reach: Any, edges: Any, block: Any, blocks: Any, wide: Any, out: Any
) -> None:
    """y[i] = gain * x[i] + z * y[i - 1]. An item begins so far before its block that what came before is forgotten."""
    n, stride = plain(extents[0]), plain(extents[1])
    _, number, at = place_of(item, extents, blocks)
    first = plain(number) * plain(block)
    start = first - reach
    value = wide(0)
    if start <= 0:
        start = 0
        value = first_of(x, at, n, stride, z, reach, edges, wide) * gain
        if first == 0:
            out[at] = value
        start = 1
    for i in range(plain(start), min(first + block, n)):
        value = gain * wide(x[at + i * stride]) + z * value
        if i >= first:
            out[at + i * stride] = value


@kernel(bounds_check=False)  # elements of lines
def spline_backward(
    item: Item, store: Any, x: Any, extents: Any, z: Any, reach: Any, edges: Any, block: Any, blocks: Any, wide: Any, out: Any
) -> None:
    """y[i] = z * (y[i + 1] - x[i])."""
    n, stride = plain(extents[0]), plain(extents[1])
    _, number, at = place_of(item, extents, blocks)
    first = plain(number) * plain(block)
    stop = min(first + block, n)
    start = min(stop + reach, n)
    value = wide(0)
    if start >= n:
        end = at + plain(n - 1) * stride
        value = wide(x[end])
        if edges == MIRROR:
            value = (z * wide(x[at + plain(n - 2) * stride]) + value) * z / (z * z - 1)
        elif edges == WRAP:
            power = z
            for i in range(min(n - 1, reach)):
                value += power * wide(x[at + i * stride])
                power *= z
            value *= z / (z**n - 1)
        else:
            value *= z / (z - 1)
        if stop == n:
            out[end] = store(value, out.dtype)
        start = n - 1
    for k in range(start - first):
        i = plain(start - 1 - k)
        value = z * (value - wide(x[at + i * stride]))
        if i < stop:
            out[at + i * stride] = store(value, out.dtype)


def spline_along(x: Array, out: Array, order: int, axis: int, edges: int) -> None:
    """Stores the coefficients along one axis, of at least two elements; into integers truncated."""
    wide = read.wide_of(x, is_complex=x._kind == "c")
    n, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    lines = x.size // n
    block = n if lines >= LINES else max(BLOCK, -(-n * lines // LINES))
    blocks = -(-n // block)
    space, extents = space_of(lines, n, inner, blocks)
    between = [_core._empty([x.size], wide, x.queue) for _ in range(2)]
    source, target = (_core._reshape(a, [a.size]) for a in (x, out))
    poles = POLES[order]
    gain = math.prod((1 - z) * (1 - 1 / z) for z in poles)
    for k, z in enumerate(poles):
        reach = math.ceil(math.log(FORGOTTEN) / math.log(-z))
        last = k == len(poles) - 1
        end = target if last else between[1]
        arguments = reach, edges, block, blocks, wide.type
        spline_forward[space, x.queue](source, extents, z, gain, *arguments, between[0])
        spline_backward[space, x.queue](storing(wide, end.dtype), between[0], extents, z, *arguments, end)
        source, gain = end, 1.0


def coefficients(x: Array, order: int, edges: int) -> Array:
    """The coefficients along all axes but the first, in the dtype of sums."""
    x = cast(x, read.wide_of(x, is_complex=x._kind == "c"))
    for axis, n in enumerate(x.shape):
        if axis and n > 1:
            out = _core._empty(list(x.shape), x.dtype, x.queue)
            spline_along(x, out, order, axis, edges)
            x = out
    return x


def read_order(order: Any, least: int, op_name: str) -> int:
    degree = integer(order, f"{op_name}: order")
    if not least <= degree <= 5:
        raise RuntimeError(f"{op_name}: spline order not supported: {degree}; it must be from {least} to 5")
    return degree


def _filtered(op_name: str, input: Any, order: int, axes: Any, output: Any, mode: Any) -> Array:
    x = read.read_input(input, op_name)
    wide = read.wide_of(x, is_complex=x._kind == "c")
    where = Output(wide if output is None or output is np.float64 else output, x, op_name, is_complex=x._kind == "c")
    read.read_mode(mode, op_name)
    edges = EDGES[MODES[mode]]
    chosen = range(x.ndim) if axes is None else [axis_index(axes, x.ndim, op_name)]
    done = False
    for axis in chosen:
        if order > 1 and x.shape[axis] > 1 and x.size:
            out = where.new()
            spline_along(x, out, order, axis, edges)
            x, done = out, True
    return where.given(x if done else x._astype(where.dtype, True))


@public
def spline_filter1d(input: Any, order: int = 3, axis: int = -1, output: Any = np.float64, mode: str = "mirror") -> Array:
    """Calculate a 1-D spline filter along the given axis.

    Parameters
    ----------
    {filter_input}
    order : int
        The degree of the spline, from 0 to 5; 0 and 1 leave the elements as they are.
    {filter_axis}
    {filter_output}
    {filter_mode}

    Returns
    -------
    Array
        The coefficients of a spline that goes through the elements; float64, or complex128, if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    spline_filter, map_coordinates

    Notes
    -----
    {spline_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.spline_filter1d(pp.asarray([0.0, 6.0, 0.0]))
    array([-6., 12., -6.])
    """
    return _filtered("spline_filter1d", input, read_order(order, 0, "spline_filter1d"), axis, output, mode)


@public
def spline_filter(input: Any, order: int = 3, output: Any = np.float64, mode: str = "mirror") -> Array:
    """Multidimensional spline filter.

    Parameters
    ----------
    {filter_input}
    order : int
        The degree of the spline, from 2 to 5.
    {filter_output}
    {filter_mode}

    Returns
    -------
    Array
        The coefficients of a spline that goes through the elements; float64, or complex128, if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    spline_filter1d, map_coordinates

    Notes
    -----
    {spline_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.spline_filter(pp.asarray([[1.0, 1.0], [1.0, 1.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    return _filtered("spline_filter", input, read_order(order, 2, "spline_filter"), None, output, mode)
