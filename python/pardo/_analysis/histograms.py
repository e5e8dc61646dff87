# python/pardo/_analysis/histograms.py: histograms of one and more dimensions. Edges are few, and made on the host; counting is not.
from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._analysis.counting import counted, counted_in_bins
from pardo._analysis.quantiles import percentile
from pardo._array.interop import asnumpy
from pardo._base import promotion
from pardo._base.arguments import SCALARS, array, default_on, not_an_array, warn
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._functions.operands import cast, element, on_host, operand, operands, parameters_on_host, to_queue

__all__ = [
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
]


def _sample(a: Any, weights: Any, op_name: str) -> tuple[Array, Array | None]:
    x = array(a, op_name)
    w = None
    if weights is not None:
        w = operand(weights, x, op_name)
        if w.shape != x.shape:
            raise ValueError(f"{op_name}: weights should have the same shape as a")
        w = _core._reshape(w, [-1])
    if x.dtype == np.bool_:
        warn(f"{op_name}: converting input from bool to uint8 for compatibility", RuntimeWarning)
        x = cast(x, np.uint8)
    return _core._reshape(x, [-1]), w


def _outer_edges(x: Array, range: Any, op_name: str) -> tuple[Any, Any]:
    """The ends of the range, or of the values, as numbers of NumPy's."""
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError(f"{op_name}: max must be larger than min in range parameter")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"{op_name}: supplied range of [{first}, {last}] is not finite")
    elif x.size == 0:
        first, last = 0, 1
    else:
        ends = [_core._reduce(op, x, None, False) for op in (_core._MIN, _core._MAX)]
        _core._force(ends)  # both in one pass
        first, last = asnumpy(_core._stack(ends, 0))
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"{op_name}: autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last


def _distance(last: Any, first: Any) -> Any:
    """Of two numbers; of integers in Python's, so that it does not wrap."""
    whole = (int, np.integer)
    return int(last) - int(first) if isinstance(last, whole) and isinstance(first, whole) else last - first


def _width(name: str, x: Array, ends: tuple[Any, Any], op_name: str) -> float:
    """How wide bins should be, by NumPy's estimators."""
    n = x.size
    low, high = (asnumpy(_core._reduce(op, x, None, False))[()] for op in (_core._MIN, _core._MAX))
    spread = float(_distance(high, low))
    if name == "sqrt":
        return spread / math.sqrt(n)
    if name == "sturges":
        return spread / (math.log2(n) + 1.0)
    if name == "rice":
        return spread / (2.0 * math.pow(n, 1.0 / 3))
    if name == "fd":
        upper, lower = asnumpy(percentile(x, [75, 25]))
        return float(2.0 * (upper - lower) * n ** (-1.0 / 3.0))
    if name == "auto":
        widest = max(_width("fd", x, ends, op_name), spread / math.sqrt(n) / 2)
        return min(widest, spread / (math.log2(n) + 1.0))
    deviation = float(_core._std(x, None, 0.0, False, None, None))
    if name == "scott":
        return math.pow(24.0 * math.pi**0.5 / n, 1.0 / 3.0) * deviation
    if name == "doane":
        if n <= 2 or deviation <= 0:
            return 0.0
        skew = math.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
        off = _core.divide(_core.subtract(x, _core._mean(x, None, False, None, None)), deviation)
        third = abs(float(_core._mean(_core.power(off, 3), None, False, None, None)))
        return spread / (1.0 + math.log2(n) + math.log2(1.0 + third / skew))
    if n <= 1 or spread == 0:  # stone
        return 0.0

    def loss(bins: int) -> float:
        h = spread / bins
        p = on_host(histogram(x, bins=bins, range=ends)[0], op_name) / n
        return float((2 - (n + 1) * p.dot(p)) / h)

    most = max(100, int(math.sqrt(n)))
    best = min(range(1, most + 1), key=loss)
    if best == most:
        warn(f"{op_name}: the number of bins estimated may be suboptimal", RuntimeWarning)
    return spread / best


_ESTIMATORS = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


def _edges(x: Array, bins: Any, range: Any, weights: Any, op_name: str) -> NDArray[Any]:
    """The edges of the bins, on the host."""
    if isinstance(bins, str):
        if bins not in _ESTIMATORS:
            raise ValueError(f"{op_name}: {bins!r} is not a valid estimator for `bins`")
        if weights is not None:
            raise TypeError(f"{op_name}: automated estimation of the number of bins is not supported for weighted data")
        first, last = _outer_edges(x, range, op_name)
        if range is not None:
            (inside,) = _core._nonzero(_core.logical_and(_core.greater_equal(x, first), _core.less_equal(x, last)))
            x = _core._take(x, inside, 0)
        width = _width(bins, x, (first, last), op_name) if x.size else 0
        if width and x._kind in "iu" and width < 1:
            width = 1
        count = math.ceil(_distance(last, first) / width) if width else 1
    elif np.ndim(bins) == 0:
        try:
            count = operator.index(bins)
        except TypeError:
            raise TypeError(f"{op_name}: `bins` must be an integer, a string, or an array") from None
        if count < 1:
            raise ValueError(f"{op_name}: `bins` must be positive, when an integer")
        first, last = _outer_edges(x, range, op_name)
    else:
        given = parameters_on_host(bins, op_name)
        if given.ndim != 1:
            raise ValueError(f"{op_name}: `bins` must be 1d, when an array")
        if bool(np.any(given[:-1] > given[1:])):
            raise ValueError(f"{op_name}: `bins` must increase monotonically, when an array")
        return given
    kind = promotion.result_type(first, last, x.dtype)
    made = np.linspace(
        first,
        last,
        count + 1,
        endpoint=True,
        dtype=default_on(x.queue, promotion.result_type(kind, float) if kind_of(kind) in "iu" else kind),
    )
    if (made[:-1] >= made[1:]).any():
        raise ValueError(f"{op_name}: too many bins for data range; cannot create {count} finite-sized bins")
    return made


def _places(x: Array, edges: NDArray[Any]) -> Array:
    """The bin of each value; one more than there are for what lies outside."""
    n = edges.size - 1
    line = to_queue(edges, x.queue)
    place = _core.subtract(_core._searchsorted(line, x, True, None), 1)
    place = _core._where(_core.equal(x, element(line, n)), n - 1, place)
    inside = _core.logical_and(_core.greater_equal(x, element(line, 0)), _core.less_equal(x, element(line, n)))
    return _core._where(inside, place, n)


def _of_line(x: Array, edges: NDArray[Any], line: Array, w: Array | None, n: int, even: bool) -> Array:
    """Counts or sums of `n` bins: of what is below an edge; what is equal to the last edge belongs to the last bin.

    `line`: the edges again; `even`: bins of one width.
    """
    if even and w is None:
        counts = counted_in_bins(x, edges, line)
        if counts is not None:
            return counts
    sums = _sums(_core._searchsorted(line, x, True, None), w, n + 2)[1 : n + 1]
    equal = _core.equal(x, element(line, n))
    if w is None:
        at_end = _core._reduce(_core._COUNT_NONZERO, equal, None, False)
    else:
        at_end = _core._reduce(_core._SUM, _core._where(equal, w, _core._full([], 0, w.dtype, x.queue)), None, False, w.dtype)
    sums[n - 1] = _core.add(element(sums, n - 1), at_end)
    return sums


def _sums(places: Array, weights: Array | None, n: int) -> Array:
    """Counts, or sums of weights in their dtype; summed in double precision, as NumPy does."""
    if weights is None:
        return counted(places, None, n)
    double = default_on(places.queue, np.float64)
    if weights._kind == "c":
        made = _core._empty([n], weights.dtype, places.queue)
        for k, part in enumerate((_core.real(weights), _core.imag(weights))):
            _core._part(made, k)._assign(counted(places, cast(part, double), n))
        return made
    return cast(counted(places, cast(weights, double), n), weights.dtype)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """Calculate only the edges of the bins used by the `histogram` function.

    Parameters
    ----------
    a : Array
        The values, flattened.
    bins : int, str, or Array
        The number of bins, the edges themselves, or how their number is estimated: 'auto', 'fd', 'doane', 'scott', 'stone', 'rice',
        'sturges', 'sqrt'. Lists and NumPy arrays are taken too.
    range : pair of numbers, optional
        Where bins begin and end. Default: the least and the largest value, which are waited for.
    weights : Array, optional
        Only checked.

    Returns
    -------
    Array
        The edges, one more than bins.

    Raises
    ------
    TypeError
        `a` is neither an Array nor a number, or `bins` is none of these.
    ValueError
        `bins` or `range` is out of order, or the values are not finite.

    See Also
    --------
    histogram

    Examples
    --------
    >>> import pardo as pp
    >>> pp.histogram_bin_edges(pp.asarray([0, 1, 2, 4]), bins=4)
    array([0., 1., 2., 3., 4.])
    """
    x, w = _sample(a, weights, "histogram_bin_edges")
    return to_queue(_edges(x, bins, range, w, "histogram_bin_edges"), x.queue)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None) -> tuple[Array, Array]:
    """Compute the histogram of a dataset.

    Parameters
    ----------
    a : Array
        The values, flattened.
    bins : int, str, or Array
        The number of bins, the edges themselves, or how their number is estimated: as for `histogram_bin_edges`.
    range : pair of numbers, optional
        Where bins begin and end; values outside are left out. Default: the least and the largest value, which are waited for.
    density : bool, optional
        Whether the result is divided by its sum and the widths of the bins.
    weights : Array, optional
        How much each value counts. Lists and NumPy arrays are taken too.

    Returns
    -------
    tuple of Array
        The counts, of int64 or the dtype of the weights, and the edges. A bin holds its left edge, the last one its right edge too.

    Raises
    ------
    TypeError
        `a` is neither an Array nor a number, or `bins` is none of these.
    ValueError
        `bins` or `range` is out of order, the values are not finite, or the shape of the weights differs.

    See Also
    --------
    histogram_bin_edges, histogram2d, histogramdd, bincount, digitize

    Notes
    -----
    The bin of a value is found among the edges, and counted by `bincount`'s kernels.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.histogram(pp.asarray([1, 2, 1]), bins=[0, 1, 2, 3])
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    x, w = _sample(a, weights, "histogram")
    edges = _edges(x, bins, range, w, "histogram")
    n = max(edges.size - 1, 0)
    line = to_queue(edges, x.queue)
    if n == 0:
        counts = _core._full([0], 0, np.int64 if w is None else w.dtype, x.queue)
    else:
        counts = _of_line(x, edges, line, w, n, np.ndim(bins) == 0)
    if not density:
        return counts, line
    widths = to_queue(np.diff(edges).astype(default_on(x.queue, np.float64)), x.queue)
    return _core.divide(_core.divide(counts, widths), _core._reduce(_core._SUM, counts, None, False)), line


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, list[Array]]:
    """Compute the multidimensional histogram of some data.

    Parameters
    ----------
    sample : Array, or sequence of Array
        Points in rows, one column a coordinate; or one array a coordinate.
    bins : int, or sequence of int or Array
        The number of bins, of each coordinate, or their edges.
    range : sequence of pairs, optional
        Where bins begin and end, for each coordinate; None for the least and the largest value, which are waited for.
    density : bool, optional
        Whether the result is divided by its sum and the volumes of the bins.
    weights : Array, optional
        How much each point counts. Lists and NumPy arrays are taken too.

    Returns
    -------
    tuple
        The counts, of float64, one dimension a coordinate; and a list of the edges of each.

    Raises
    ------
    TypeError
        The sample is not an Array, or `bins` is none of these.
    ValueError
        `bins` or `range` is out of order or not of one entry a coordinate, or the values are not finite.

    See Also
    --------
    histogram, histogram2d

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    >>> pp.histogramdd(x, bins=2)[0]
    array([[1., 0.],
           [1., 1.]])
    """
    return _of_points(_columns(sample, "histogramdd"), bins, range, density, weights, "histogramdd")


def _columns(sample: Any, op_name: str) -> list[Array]:
    if type(sample) is Array:
        if sample.ndim == 2:
            return [sample[:, d] for d in np.arange(sample.shape[1]).tolist()]
        if sample.ndim > 2:
            raise ValueError(f"{op_name}: the sample has {sample.ndim} dimensions; points in rows are expected")
        return [_core._reshape(sample, [-1])]
    if isinstance(sample, np.ndarray) or all(isinstance(c, SCALARS) for c in sample):
        raise not_an_array(sample, op_name)  # which is copied whole: points in rows, or one coordinate
    columns = operands(list(sample), op_name)
    if any(c.ndim != 1 for c in columns) or len({c.size for c in columns}) > 1:
        raise ValueError(f"{op_name}: the coordinates must be arrays of one dimension and the same length")
    return columns


def _of_points(columns: list[Array], bins: Any, range: Any, density: bool | None, weights: Any, op_name: str) -> tuple[Array, list[Array]]:
    count, queue = len(columns), columns[0].queue
    common = default_on(queue, promotion.result_type(*(c.dtype for c in columns)))
    columns = [cast(c, common) for c in columns]
    if isinstance(bins, Sequence) or (np.ndim(bins) > 0):
        if len(bins) != count:
            raise ValueError(f"{op_name}: the dimension of bins must be equal to the dimension of the sample x")
        per_axis = [bins[d] for d in np.arange(count).tolist()]
    else:
        per_axis = [bins] * count
    ranges = [None] * count if range is None else list(range)
    if len(ranges) != count:
        raise ValueError(f"{op_name}: range argument must have one entry per dimension")
    edges: list[NDArray[Any]] = []
    double = default_on(queue, np.float64)
    for d, (x, b, r) in enumerate(zip(columns, per_axis, ranges, strict=True)):
        if np.ndim(b) == 0:
            if b < 1:
                raise ValueError(f"{op_name}: `bins[{d}]` must be positive, when an integer")
            first, last = _outer_edges(x, r, op_name)
            try:
                n = operator.index(b)
            except TypeError:
                raise TypeError(f"{op_name}: `bins[{d}]` must be an integer, when a scalar") from None
            made = np.linspace(first, last, n + 1)
            edges.append(made.astype(default_on(queue, made.dtype)))
        elif np.ndim(b) == 1:
            edges.append(on_host(b, op_name))
            if bool(np.any(edges[d][:-1] > edges[d][1:])):
                raise ValueError(f"{op_name}: `bins[{d}]` must be monotonically increasing, when an array")
        else:
            raise ValueError(f"{op_name}: `bins[{d}]` must be a scalar or 1d array")
    extents = [max(e.size - 1, 0) for e in edges]
    total: Array | None = None
    outside: Array | None = None
    for x, e, n in zip(columns, edges, extents, strict=True):
        place = _places(x, e) if n else _core._full([x.size], 0, np.int64, queue)
        out = _core.equal(place, n)
        total = place if total is None else _core.add(_core.multiply(total, n), place)
        outside = out if outside is None else _core.logical_or(outside, out)
    assert total is not None
    assert outside is not None
    size = math.prod(extents)
    w = None if weights is None else operand(weights, columns[0], op_name)
    if w is not None and w._kind == "c":
        raise TypeError(f"{op_name}: weights must be real")
    if w is not None and w.shape != columns[0].shape:
        raise ValueError(f"{op_name}: the weights and list don't have the same length")
    sums = _sums(_core._where(outside, size, total), None if w is None else cast(w, double), size + 1)[:size]
    result = cast(_core._reshape(sums, extents), double)
    if density:
        whole = _core._reduce(_core._SUM, result, None, False)
        for d, e in enumerate(edges):
            widths = np.diff(e).astype(double).reshape([-1 if k == d else 1 for k in np.arange(count).tolist()])
            result = _core.divide(result, to_queue(widths, queue))
        result = _core.divide(result, whole)
    return result, [to_queue(e, queue) for e in edges]


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array, Array]:
    """Compute the bi-dimensional histogram of two data samples.

    Parameters
    ----------
    x, y : Array
        The coordinates of points; one may be a list or a NumPy array.
    bins : int, Array, or pair of them
        The number of bins or their edges, for both coordinates or for each.
    range : pair of pairs, optional
        Where bins begin and end, for each coordinate.
    density : bool, optional
        Whether the result is divided by its sum and the areas of the bins.
    weights : Array, optional
        How much each point counts. Lists and NumPy arrays are taken too.

    Returns
    -------
    tuple of Array
        The counts, of float64 (`x` along the first axis), the edges of `x` and those of `y`.

    Raises
    ------
    TypeError
        Neither is an Array, or `bins` is none of these.
    ValueError
        The lengths differ, `bins` or `range` is out of order, or the values are not finite.

    See Also
    --------
    histogram, histogramdd

    Examples
    --------
    >>> import pardo as pp
    >>> counts, xs, ys = pp.histogram2d(pp.asarray([0.0, 1.0, 1.0]), [0.0, 1.0, 0.0], bins=2)
    >>> counts
    array([[1., 0.],
           [1., 1.]])
    """
    columns = operands([x, y], "histogram2d")
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        raise ValueError("histogram2d: x and y must have the same length, and one dimension")
    entries = len(bins) if isinstance(bins, (list, tuple)) or np.ndim(bins) else 1
    if entries not in (1, 2):
        bins = [bins, bins]
    counts, edges = _of_points(columns, bins, range, density, weights, "histogram2d")
    return counts, edges[0], edges[1]
