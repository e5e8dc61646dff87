# python/pardo/_analysis/quantiles.py: medians, percentiles and quantiles, with NaN and without.
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.reductions import mean
from pardo._base import promotion
from pardo._base.arguments import Axis, array, default_on, store, store_reduced
from pardo._base.docstrings import filled
from pardo._base.orders import copy_by_rows
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._core import any as any_of
from pardo._functions.operands import axes_of, cast, operand, parameters_on_host, to_queue
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Item, Range

__all__ = [
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]


class _Slices:
    """The elements of a reduction: the reduced axes as one, the last, and how a result is shaped."""

    def __init__(self, a: Any, axis: Axis, op_name: str) -> None:
        x = array(a, op_name)
        self.given, self.op_name = x, op_name
        self.axes = axes_of(axis, x.ndim, op_name)
        kept = [d for d in range(x.ndim) if d not in self.axes]
        self.kept = [x.shape[d] for d in kept]
        self.order = kept + sorted(self.axes)
        self.x = self.flat(x)
        self.n = self.x.shape[-1]

    def flat(self, x: Array) -> Array:
        count = int(np.prod([self.given.shape[d] for d in self.axes], dtype=np.int64))
        return _core._reshape(_core._permute_dims(x, self.order), [*self.kept, count])

    def shaped(self, result: Array, front: list[int], keepdims: bool, out: Any) -> Array:
        """A result with the kept axes first and its own behind: those come to the front."""
        if front:
            n = len(self.kept)
            result = _core._moveaxis(result, list(range(n, result.ndim)), list(range(len(front))))
            if not self.op_name.startswith("nan") and not result._surely_row_major():  # in that order, as NumPy's
                result = copy_by_rows(result)
        if keepdims:
            result = _core._reshape(result, [*front, *(1 if d in self.axes else e for d, e in enumerate(self.given.shape))])
        # As NumPy's: the others store means, in any dtype.
        return (store if self.op_name in ("quantile", "percentile") else store_reduced)(result, out, self.op_name)


@filled
def median(a: Any, axis: Axis = None, out: Array | None = None, overwrite_input: bool = False, keepdims: bool = False) -> Array:
    """Compute the median along the specified axis.

    Parameters
    ----------
    {a}
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    {out_cast}
    overwrite_input : bool
        NumPy's; the elements stay as they are.
    {keepdims}

    Returns
    -------
    Array
        The middle elements, or the means of the two in the middle: of the dtype of `mean`. NaN where one is NaN, and of no elements.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `a` is neither an Array nor a number, an axis is not an integer, or `out` is not an Array.
    ValueError
        An axis is given twice, or the shape of `out` does not fit.

    See Also
    --------
    mean, percentile, quantile, nanmedian

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[10, 7, 4], [3, 2, 1]])
    >>> pp.median(x), pp.median(x, axis=0)
    (array(3.5), array([6.5, 4.5, 2.5]))
    """
    s = _Slices(a, axis, "median")
    n, x = s.n, s.x
    if n:
        middle = [n // 2] if n % 2 else [n // 2 - 1, n // 2]
        ranks = sorted({*middle, n - 1} if x._kind in "fc" else middle)
        x = _core._ranked(x, ranks, x.ndim - 1)
    else:
        middle = []
    result = _core._mean(x[..., : len(middle)] if n else x, [x.ndim - 1], False, None, None)
    if n and x._kind in "fc":
        last = x[..., -1]
        result = _core._where(_core.isnan(last), cast(last, result.dtype), result)
    return s.shaped(result, [], keepdims, out)


@filled
def nanmedian(a: Any, axis: Axis = None, out: Array | None = None, overwrite_input: bool = False, keepdims: bool = False) -> Array:
    """Compute the median along the specified axis, while ignoring NaNs.

    Parameters
    ----------
    {a}
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    {out_cast}
    overwrite_input : bool
        NumPy's; the elements stay as they are.
    {keepdims}

    Returns
    -------
    Array
        The medians of what is not NaN; NaN where all is. No warning is given, because nothing waits for the elements.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `a` is neither an Array nor a number, an axis is not an integer, or `out` is not an Array.
    ValueError
        An axis is given twice, or the shape of `out` does not fit.

    See Also
    --------
    median, nanmean, nanquantile

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanmedian(pp.asarray([[10.0, pp.nan, 4.0], [3.0, 2.0, 1.0]]), axis=1)
    array([7., 2.])
    """
    s = _Slices(a, axis, "nanmedian")
    if s.x._kind not in "fc" or s.n == 0:
        return median(a, axis, out, overwrite_input, keepdims)
    x, count = _sorted_with_counts(s.x)
    low, high = _core.floor_divide(_core.maximum(_core.subtract(count, 1), 0), 2), _core.floor_divide(count, 2)
    low = _core._where(_core.equal(count, 0), 0, low)
    pair = _core._take_along_axis(x, _core._stack([low, _core.minimum(high, s.n - 1)], -1), x.ndim - 1)
    return s.shaped(_core._mean(pair, [pair.ndim - 1], False, None, None), [], keepdims, out)


def _sorted_with_counts(x: Array) -> tuple[Array, Array]:
    """Sorted along the last axis, NaN last, and how many are not NaN."""
    count = _core._reduce(_core._COUNT_NONZERO, _core.logical_not(_core.isnan(x)), [x.ndim - 1], False)
    return _core._sort(x, x.ndim - 1, False, True), count


@filled
def quantile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute the q-th quantile of the data along the specified axis.

    Parameters
    ----------
    {a}
    q : number, or Array or sequence of numbers
        Probabilities from 0 to 1; an Array is waited for.
    {quantile_keywords}

    Returns
    -------
    Array
        With the dimensions of `q` in front. NaN where an element is NaN.

    Raises
    ------
    {quantile_raises}

    See Also
    --------
    percentile, median, nanquantile

    Notes
    -----
    The elements around each place are selected, not sorted, where the places are few and the same for all slices; the methods
    are those of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The
    American Statistician 50 (1996), 361-365.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[10, 7, 4], [3, 2, 1]])
    >>> pp.quantile(x, 0.5), pp.quantile(x, [0.25, 1], axis=1)
    (array(3.5), array([[ 5.5,  1.5],
           [10. ,  3. ]]))
    """
    return _quantile("quantile", a, q, axis, out, method, keepdims, weights, False)


@filled
def percentile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute the q-th percentile of the data along the specified axis.

    Parameters
    ----------
    {a}
    q : number, or Array or sequence of numbers
        Percentages from 0 to 100; an Array is waited for.
    {quantile_keywords}

    Returns
    -------
    Array
        With the dimensions of `q` in front. NaN where an element is NaN.

    Raises
    ------
    {quantile_raises}

    See Also
    --------
    quantile, median, nanpercentile

    Examples
    --------
    >>> import pardo as pp
    >>> pp.percentile(pp.asarray([[10, 7, 4], [3, 2, 1]]), 50, axis=0)
    array([6.5, 4.5, 2.5])
    """
    return _quantile("percentile", a, q, axis, out, method, keepdims, weights, False)


@filled
def nanquantile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute the q-th quantile of the data along the specified axis, while ignoring NaNs.

    Parameters
    ----------
    {a}
    q : number, or Array or sequence of numbers
        Probabilities from 0 to 1; an Array is waited for.
    {quantile_keywords}

    Returns
    -------
    Array
        With the dimensions of `q` in front. NaN where all elements are; no warning is given, because nothing waits for them.

    Raises
    ------
    {quantile_raises}

    See Also
    --------
    quantile, nanpercentile, nanmedian

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanquantile(pp.asarray([[10.0, pp.nan, 4.0], [3.0, 2.0, 1.0]]), 0.5, axis=1)
    array([7., 2.])
    """
    return _quantile("nanquantile", a, q, axis, out, method, keepdims, weights, True)


@filled
def nanpercentile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute the q-th percentile of the data along the specified axis, while ignoring NaNs.

    Parameters
    ----------
    {a}
    q : number, or Array or sequence of numbers
        Percentages from 0 to 100; an Array is waited for.
    {quantile_keywords}

    Returns
    -------
    Array
        With the dimensions of `q` in front. NaN where all elements are; no warning is given, because nothing waits for them.

    Raises
    ------
    {quantile_raises}

    See Also
    --------
    percentile, nanquantile, nanmedian

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanpercentile(pp.asarray([[10.0, pp.nan, 4.0], [3.0, 2.0, 1.0]]), 50, axis=1)
    array([7., 2.])
    """
    return _quantile("nanpercentile", a, q, axis, out, method, keepdims, weights, True)


# --- methods ------------------------------------------------------------------------------------------------------------------------


class _Device:
    """NumPy's names for what the formulas need, on arrays of a device."""

    floor, ceil, rint = staticmethod(_core.floor), staticmethod(_core.ceil), staticmethod(_core.rint)
    where, minimum = staticmethod(_core._where), staticmethod(_core.minimum)
    logical_and = staticmethod(_core.logical_and)


def _continuous(alpha: float, beta: float) -> Callable[[Any, Any, Any], Any]:
    return lambda n, q, lib: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _boundary(place: Any, keep: Callable[[Any, Any, Any], Any], lib: Any) -> Any:
    """The element below a place where `keep` says so, else that above it."""
    below = lib.floor(place)
    return lib.where(keep(place - below, below, lib), below, below + 1)


_INTERPOLATED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "averaged_inverted_cdf": lambda n, q, lib: n * q - 1,
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "linear": lambda n, q, lib: (n - 1) * q,
    "median_unbiased": _continuous(1 / 3.0, 1 / 3.0),
    "normal_unbiased": _continuous(3 / 8.0, 3 / 8.0),
    "midpoint": lambda n, q, lib: 0.5 * (lib.floor((n - 1) * q) + lib.ceil((n - 1) * q)),
}
_DISCRETE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "inverted_cdf": lambda n, q, lib: _boundary(n * q - 1, lambda gamma, _, lib: gamma == 0, lib),
    "closest_observation": lambda n, q, lib: _boundary(
        n * q - 1 - 0.5, lambda gamma, below, lib: lib.logical_and(gamma == 0, below % 2 == 1), lib
    ),
    "lower": lambda n, q, lib: lib.floor((n - 1) * q),
    "higher": lambda n, q, lib: lib.ceil((n - 1) * q),
    "nearest": lambda n, q, lib: lib.rint((n - 1) * q),
}


def _weight(method: str, place: Any, below: Any, lib: Any) -> Any:
    """How far a place is on its way to the next element; at most 2, which at an end does as well as any number and float16 holds."""
    gamma = lib.minimum(place - below, 2.0)
    if method == "averaged_inverted_cdf":
        return lib.where(gamma == 0, 0.5, 1.0)
    if method == "midpoint":
        return lib.where(place % 1 == 0, 0.0, 0.5)
    return gamma


def _quantile(op_name: str, a: Any, q: Any, axis: Axis, out: Any, method: str, keepdims: bool, weights: Any, without_nan: bool) -> Array:
    x = array(a, op_name)
    if x._kind == "c":
        raise TypeError(f"{op_name}: a must be an array of real numbers")
    weak = type(q) in (int, float)
    wanted = parameters_on_host(q, op_name)
    if op_name.endswith("percentile"):
        wanted = np.asarray(np.true_divide(wanted, 100))
    if kind_of(wanted.dtype) not in "biuf":
        raise TypeError(f"{op_name}: q must be of real numbers, not {wanted.dtype}")
    if not bool(np.all((wanted >= 0) & (wanted <= 1))):
        raise ValueError(f"{op_name}: q must be in the range [0, {100 if op_name.endswith('percentile') else 1}]")
    if method not in _INTERPOLATED and method not in _DISCRETE:
        raise ValueError(f"{op_name}: {method!r} is not a valid method; use one of {sorted(_INTERPOLATED | _DISCRETE)}")
    if wanted.ndim > 2:
        raise ValueError(f"{op_name}: q must be a scalar or 1d")
    s = _Slices(x, axis, op_name)
    front = list(wanted.shape)
    flat = wanted.reshape(-1)
    if without_nan and x.size == 0:  # as NumPy's, which asks nanmean
        return mean(x, axis, None, out, keepdims)
    if s.n == 0:
        raise IndexError(f"{op_name}: there are no elements")
    if weights is not None:
        result = _weighted(s, flat, weights, axis, method, without_nan)
    elif without_nan and x._kind == "f":
        result = _of_counts(s, flat, method, weak)
    else:
        result = _of_all(s, flat, method, weak)
    return s.shaped(_core._reshape(result, [*s.kept, *front]), front, keepdims, out)


def _lerp(a: Array, b: Array, t: Any) -> Array:
    """Between two elements, from the nearer one: NumPy's way, bit for bit."""
    way = _core.subtract(b, a)
    up = _core.add(a, _core.multiply(way, t))
    down = cast(_core.subtract(b, _core.multiply(way, _core.subtract(1, t))), up.dtype)
    return _core._where(_core.greater_equal(t, 0.5), down, up)


@kernel(bounds_check=False)  # places lie in the lines
def between(item: Item, ranked: Any, plan: Any, narrow: Any, out: Any) -> None:
    """`_lerp` of two elements of a line, for each column of `plan`: their places, and how far it is from the one to the other; NaN where
    the last element is NaN."""
    line, k = item.get_id(0), item.get_id(1)
    a, b, t = ranked[line, int(plan[0, k])], ranked[line, int(plan[1, k])], narrow(plan[2, k])
    way = b - a
    value = b - way * (1 - t) if t >= 0.5 else a + way * t
    last = ranked[line, ranked.shape[1] - 1]
    out[line, k] = value if last == last else last


def _for_places(q: NDArray[Any], n: int) -> NDArray[Any]:
    """Probabilities in a dtype that holds all places: their own, as NumPy's, or float64."""
    return q.astype(np.float64) if kind_of(q.dtype) == "f" and n >= 1 << promotion.finfo(q.dtype).nmant else q


@functools.lru_cache(maxsize=128)
def _plan_of(n: int, q: bytes, dtype: np.dtype[Any], method: str) -> tuple[tuple[int, ...], NDArray[Any], np.dtype[Any]]:
    """Which elements of sorted lines quantiles lie between, where each of them is among these, and how far: `between`'s plan; its dtype."""
    given = np.frombuffer(q, dtype)
    place = np.asarray(_INTERPOLATED[method](n, _for_places(given, n), np))
    below = np.floor(place)
    above = np.where(place >= n - 1, n - 1, np.where(place < 0, 0, below + 1)).astype(np.int64)
    gamma_base = np.where(place >= n - 1, -1, np.where(place < 0, 0, below))
    under = np.where(place >= n - 1, n - 1, gamma_base).astype(np.int64)
    gamma = np.asarray(_weight(method, place, gamma_base, np))
    ranks = sorted({*under.tolist(), *above.tolist(), n - 1})
    return (
        tuple(ranks),
        np.stack([*(np.searchsorted(ranks, p) for p in (under, above)), gamma]),
        (given if kind_of(given.dtype) == "f" else place).dtype,
    )


def _of_all(s: Any, q: NDArray[Any], method: str, weak: bool, ranked_of: Callable[[Any, list[int], int], Array] = _core._ranked) -> Array:
    """Quantiles of slices of one length: the places are known on the host. `ranked_of` gives the elements of sorted lines at places."""
    x, n, last = s.x, s.n, s.x.ndim - 1
    if method in _DISCRETE or (method == "linear" and kind_of(q.dtype) in "iu"):
        formula = _DISCRETE.get(method, _INTERPOLATED["linear"])
        places = np.maximum(np.asarray(formula(n, _for_places(q, n), np)).astype(np.int64), 0)
        ranks = sorted({*places.tolist(), n - 1})
        x = ranked_of(x, ranks, last)
        result = _core._take(x, to_queue(np.searchsorted(ranks, places), x.queue), last)
        if x._kind == "f":
            end = x[..., -1:]
            result = _core._where(_core.isnan(end), cast(end, result.dtype), result)
        return result
    if x.dtype == np.bool_:
        raise TypeError(f"{s.op_name}: method {method!r} takes differences, which bools do not have; cast them, or use 'inverted_cdf'")
    kept, plan, dtype = _plan_of(n, q.tobytes(), q.dtype, method)
    narrow = default_on(x.queue, x.dtype if weak and x._kind == "f" else np.float64 if weak else dtype)
    lines = x.size // n
    ranked = _core._reshape(ranked_of(x, list(kept), last), [lines, len(kept)])
    out: Array = _core._empty([lines, q.size], promotion.result_type(x.dtype, narrow), x.queue)
    if out.size:
        between[Range(lines, q.size)](ranked, to_queue(plan.astype(default_on(x.queue, np.float64)), x.queue), narrow.type, out)
    return out


def _of_counts(s: _Slices, q: NDArray[Any], method: str, weak: bool) -> Array:
    """Quantiles of what is not NaN: each slice has its own count, and its places are found on the device."""
    x, count = _sorted_with_counts(s.x)
    last = x.ndim - 1
    exact = _for_places(q, s.n)
    double = default_on(x.queue, exact.dtype if kind_of(exact.dtype) == "f" else np.float64)
    n: Any = cast(count, double)[..., None]
    p: Any = to_queue(exact.astype(double), x.queue)
    end = _core.maximum(n - 1, 0)
    if method in _DISCRETE:
        places = cast(_core.minimum(_core.maximum(_DISCRETE[method](n, p, _Device), 0.0), end), np.int64)
        result = _core._take_along_axis(x, places, last)
    else:
        place = _INTERPOLATED[method](n, p, _Device)
        below = _core.floor(place)
        beyond, before = place >= n - 1, place < 0
        above = _core._where(beyond, end, _core._where(before, 0.0, below + 1))
        base = _core._where(beyond, -1.0, _core._where(before, 0.0, below))
        under = _core._where(beyond, end, base)
        gamma = _weight(method, place, base, _Device)
        low, high = (_core._take_along_axis(x, cast(p, np.int64), last) for p in (under, above))
        narrow = x.dtype if weak else default_on(x.queue, q.dtype if kind_of(q.dtype) == "f" else np.float64)
        result = _lerp(low, high, cast(gamma, narrow))
    return _core._where(_core.equal(n, 0), float("nan"), result)


def _weighted(s: _Slices, q: NDArray[Any], weights: Any, axis: Axis, method: str, without_nan: bool) -> Array:
    """The first element whose share of the weights, with those before it, is not below the probability."""
    op_name, x = s.op_name, s.given
    if method != "inverted_cdf":
        raise ValueError(f"{op_name}: only method 'inverted_cdf' supports weights, not {method!r}")
    w = fitting_weights(operand(weights, x, op_name), x, axis, op_name)
    if bool(any_of(_core.less(w, 0))):
        raise ValueError(f"{op_name}: weights must be non-negative")
    w = s.flat(_core._broadcast_to(cast(w, default_on(x.queue, np.float64)), list(x.shape)))
    last = s.x.ndim - 1
    if without_nan and s.x._kind == "f":
        w = _core._where(_core.isnan(s.x), 0.0, w)
    order = _core._argsort(s.x, last, False, True)
    values, w = _core._take_along_axis(s.x, order, last), _core._take_along_axis(w, order, last)
    share = _core._cumulative(_core._SUM, w, last, None, False)
    share = _core.divide(share, share[..., s.n - 1 : s.n])
    nothing = _core.isnan(share[..., s.n - 1])
    if without_nan and s.x._kind == "f":  # what has no elements needs no weights
        nothing = _core.logical_and(nothing, _core.logical_not(_core._reduce(_core._ALL, _core.isnan(s.x), [last], False)))
    if bool(any_of(nothing)):
        raise ValueError(f"{op_name}: weights included NaN, inf or were all zero")
    probability = q if kind_of(q.dtype) == "f" else q.astype(np.float64)
    share = cast(share, default_on(x.queue, probability.dtype))
    share = _core._where(_core.equal(share, 0), -1.0, share)
    less = _core.less(share[..., None, :], to_queue(probability.astype(share.dtype), x.queue)[:, None])
    places = _core._reduce(_core._COUNT_NONZERO, less, [last + 1], False)
    result = _core._take_along_axis(values, _core.minimum(places, s.n - 1), last)
    if s.x._kind == "f":
        end = values[..., s.n - 1 : s.n]
        if without_nan:
            missing = _core._reduce(_core._ALL, _core.isnan(values), [last], True)
            return _core._where(missing, float("nan"), result)
        result = _core._where(_core.isnan(end), end, result)
    return result


def fitting_weights(w: Array, x: Array, axis: Axis, op_name: str) -> Array:
    """Weights of the shape of the elements, or of the extents of the reduced axes, ready to be broadcast."""
    if w.shape == x.shape:
        return w
    if axis is None:
        raise TypeError(f"{op_name}: axis must be specified when shapes of a and weights differ")
    places = axes_of(axis, x.ndim, op_name)
    if w.shape != tuple(x.shape[d] for d in places):
        raise ValueError(f"{op_name}: shape of weights must be consistent with shape of a along specified axis")
    w = _core._permute_dims(w, [int(k) for k in np.argsort(places)])
    return _core._reshape(w, [e if d in places else 1 for d, e in enumerate(x.shape)])
