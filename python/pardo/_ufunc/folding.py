# python/pardo/_ufunc/folding.py: reduce, accumulate and reduceat.
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import SCALARS, array, axis_index, default_on, dtype_of, mask, same_queue, store
from pardo._base.promotion import kind_of
from pardo._base.rows import ROWS
from pardo._core import Array

if TYPE_CHECKING:
    from pardo._core import ufunc

# The functions that a row of reductions.def folds by: those rows compute faster than one step after the other.
_FUNCTION_OF_FOLD = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum", "any": "logical_or", "all": "logical_and"}
_REDUCTIONS = {_FUNCTION_OF_FOLD[row.fold]: row.id for row in ROWS if row.kind == "REDUCTION" and row.name == row.fold}
_SCANS = ("add", "multiply", "minimum", "maximum")


def _start(f: ufunc, given: Any, method: str) -> tuple[Array, str]:
    """The array, and what errors call the function."""
    op_name = f"{f.__name__}.{method}"
    if f.signature is not None:
        raise RuntimeError(f"{op_name}: Reduction not defined on ufunc with signature {f.signature}")
    if f.nin != 2:
        raise ValueError(f"{op_name}: {method} only supported for binary functions")
    if f.nout != 1:
        raise ValueError(f"{op_name}: {method} only supported for functions returning a single value")
    return array(given, op_name), op_name


def _result(out: Any, op_name: str) -> Array | None:
    """`out` as an array: NumPy's functions take a tuple of one, too."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"{op_name}: the 'out' tuple must have exactly one entry")
        (out,) = out
    if out is not None and type(out) is not Array:
        raise TypeError(f"{op_name}: out must be a pardo.Array, not {type(out).__name__}")
    return out


def _refuse_dtypes(f: ufunc, op_name: str, types: tuple[Any, ...]) -> NoReturn:
    raise TypeError(
        f"{op_name}: the function does not give the dtype that it takes: it computes in {types[0]} and gives {types[1]}; "
        "cast the elements with astype, or name another dtype"
    )


def _cast(f: ufunc, x: Array, dtype: Any, out: Array | None, op_name: str) -> Array:
    """The elements in the dtype that is computed in, by NumPy's rules for reductions."""
    if f._row < 0:
        raise TypeError(f"{op_name}: the function takes operands of different dtypes; it cannot take its own results")
    if dtype is not None:
        wanted = dtype_of(dtype, op_name)
        types = _core._loop_of(f._row, [wanted, wanted], wanted)
    else:
        first = x.dtype if out is None else out.dtype
        if out is None and f.__name__ in ("add", "multiply") and kind_of(first) in "biu":
            first = np.dtype(np.uint64 if kind_of(first) == "u" else np.int64)
        types = _core._loop_of(f._row, [first, x.dtype])
    if types[0] != types[1]:
        _refuse_dtypes(f, op_name, types)
    return x._astype(types[0] if dtype is not None else default_on(x.queue, types[0]), False)


def _store(result: Array, out: Array | None, op_name: str) -> Array:
    """The result, or `out` with it, whatever its kind: NumPy's reductions cast as astype does."""
    if out is None:
        return result._copy() if result.ndim == 0 and not result._is_scalar_value() else result
    if out.dtype != result.dtype and out.shape == result.shape:
        result = result._astype(out.dtype)
    return store(result, out, op_name)


def _number(value: Any, x: Array, op_name: str) -> Any:
    """`initial` as a number of the dtype that is computed in."""
    if promotion.is_number_of_bfloat16(value) or (type(value) is Array and value.ndim == 0):
        value = value.item()
    if not isinstance(value, SCALARS):
        raise TypeError(f"{op_name}: initial must be a number, not {type(value).__name__}")
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and x._kind in "iu":
        info = np.iinfo(x.dtype)
        if not info.min <= value <= info.max:
            raise OverflowError(f"{op_name}: Python integer {value} out of bounds for {x.dtype}")
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(x.dtype).item()


def _identity(f: ufunc, x: Array) -> Any:
    value = f.identity
    return None if value is None else np.asarray(value).astype(x.dtype).item()


def _filled(shape: list[int], value: Any, x: Array) -> Array:
    return _core._full(shape, value, x.dtype, x.queue)


def _axes(axis: Any, x: Array, op_name: str) -> list[int]:
    if axis is None:
        return list(range(x.ndim))
    if isinstance(axis, (tuple, list)):
        axes = [axis_index(a, x.ndim, op_name) for a in axis]
        if len(set(axes)) != len(axes):
            raise ValueError(f"{op_name}: duplicate value in 'axis': {tuple(axis)}")
        return sorted(axes)
    if x.ndim == 0:
        axis_index(axis, 1, op_name)
        return []
    return [axis_index(axis, x.ndim, op_name)]


def reduce(f: ufunc, given: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> Array:
    """See `pardo.ufunc.reduce`."""
    x, op_name = _start(f, given, "reduce")
    out = _result(out, op_name)
    axes = _axes(axis, x, op_name)
    some = mask(where, x, op_name)
    x = _cast(f, x, dtype, out, op_name)
    if len(axes) > 1 and not f._reorderable:
        raise ValueError(f"{op_name}: reduction operation '{f.__name__}' is not reorderable, so at most one axis may be specified")
    if some is not None:
        some = _fitting(some, x, op_name)
    first = None if initial is np._NoValue or initial is None else _number(initial, x, op_name)
    if some is not None and first is None and (f.identity is None or initial is None):
        raise ValueError(
            f"{op_name}: reduction operation '{f.__name__}' does not have an identity, so to use a where mask one has to specify 'initial'"
        )
    if first is None and initial is np._NoValue and math.prod(x.shape[a] for a in axes) == 1 and f.__name__ not in _REDUCTIONS:
        first = _identity(f, x)  # of one element, too, NumPy's result is the function's: hypot(0, x)
    kept = [1 if d in axes else n for d, n in enumerate(x.shape)]
    shape = kept if keepdims else [n for d, n in enumerate(x.shape) if d not in axes]
    if not axes:
        result = _alone(f, x, some, first)
    elif math.prod(x.shape[a] for a in axes) == 0:
        start = first if first is not None else None if initial is None else _identity(f, x)
        if start is None:
            raise ValueError(f"{op_name}: zero-size array to reduction operation {f.__name__} which has no identity")
        result = _filled(shape, start, x)
    elif f.__name__ in ("fmax", "fmin") and x._kind != "c":
        result = _extreme_numbers(f.__name__, x, axes, bool(keepdims), some, first)
    elif f.__name__ in _REDUCTIONS:
        result = _core._reduce(_REDUCTIONS[f.__name__], x, axes, bool(keepdims), x.dtype, some, first)
    else:
        result = _core._reshape(_folded(f, x, axes, some, first), shape)
    return _store(result, out, op_name)


def _extreme_numbers(name: str, x: Array, axes: list[int], keepdims: bool, some: Array | None, first: Any) -> Array:
    """The greatest or least of what is not NaN, by the rows of maximum and minimum; NaN where all is."""
    row = _REDUCTIONS["maximum" if name == "fmax" else "minimum"]
    if x._kind != "f":
        return _core._reduce(row, x, axes, keepdims, x.dtype, some, first)
    last = -np.inf if name == "fmax" else np.inf
    missing = _core.isnan(x)
    numbers = _core._where(missing, _filled([], last, x), x)
    if first is not None and first == first:
        return _core._reduce(row, numbers, axes, keepdims, x.dtype, some, first)
    if some is not None:
        missing = _core.logical_or(missing, _core.logical_not(some))
    found = _core._reduce(row, numbers, axes, keepdims, x.dtype, some, last if some is not None else None)
    return _core._where(_core._reduce(_core._ALL, missing, axes, keepdims), _filled([], np.nan, x), found)


def _fitting(some: Array, x: Array, op_name: str) -> Array:
    """The mask in the shape of the elements."""
    try:
        return _core._broadcast_to(some, x.shape)
    except ValueError:
        raise ValueError(f"{op_name}: where of shape {some.shape} does not broadcast to the array's shape {x.shape}") from None


def _alone(f: ufunc, x: Array, some: Array | None, first: Any) -> Array:
    """Nothing is reduced: elements as they are, or with what comes first."""
    start = first if first is not None else _identity(f, x)
    result = x if first is None else f(_filled([], first, x), x)
    return result._copy() if some is None else _core._where(some, result, start)


def _folded(f: ufunc, x: Array, axes: list[int], some: Array | None, first: Any) -> Array:
    """The elements along the axes taken together, one step after the other; with one axis of extent 1 at the end in their place."""

    def lines(y: Array) -> Array:
        if len(axes) > 1:  # the others first
            moved = _core._moveaxis(y, axes, list(range(y.ndim - len(axes), y.ndim)))
            return _core._reshape(moved, [*moved.shape[: y.ndim - len(axes)], math.prod(moved.shape[y.ndim - len(axes) :])])
        return y

    along = axes[0] if len(axes) == 1 else x.ndim - len(axes)
    if f._reorderable:
        if some is not None:
            x = _core._where(some, x, _filled([], _identity(f, x) if f.identity is not None else first, x))
        result = _core._fold(f._row, lines(x), along, None, None)
        return result if first is None else f(_filled([], first, x), result)
    return _core._fold(f._row, lines(x), along, None if first is None else _filled([], first, x), None if some is None else lines(some))


def _line(f: ufunc, given: Any, axis: Any, dtype: Any, out: Any, method: str) -> tuple[Array, int, Array | None, str]:
    """The elements in the dtype that is computed in, and the one axis."""
    x, op_name = _start(f, given, method)
    out = _result(out, op_name)
    if x.ndim == 0:
        raise TypeError(f"{op_name}: cannot {method} on a scalar")
    axes = _axes(axis, x, op_name)
    if len(axes) != 1:
        raise ValueError(f"{op_name}: {method} does not allow multiple axes")
    return _cast(f, x, dtype, out, op_name), axes[0], out, op_name


def accumulate(f: ufunc, given: Any, axis: Any, dtype: Any, out: Any) -> Array:
    """See `pardo.ufunc.accumulate`."""
    x, along, out, op_name = _line(f, given, axis, dtype, out, "accumulate")
    if x.size == 0:
        result = x._copy()
    elif f.__name__ in _SCANS and x._kind != "b" and (x._kind != "c" or f.__name__ in _SCANS[:2]):
        result = _core._cumulative(_REDUCTIONS[f.__name__], x, along, x.dtype, False)
    else:
        result = _core._fold_steps(f._row, x, along)
    return _store(result, out, op_name)


def reduceat(f: ufunc, given: Any, indices: Any, axis: Any, dtype: Any, out: Any) -> Array:
    """See `pardo.ufunc.reduceat`."""
    x, along, out, op_name = _line(f, given, axis, dtype, out, "reduceat")
    extent = x.shape[along]
    starts, stops = (_slices_on_device if type(indices) is Array else _slices)(indices, x, extent, op_name)
    shape = [starts.size if d == along else n for d, n in enumerate(x.shape)]
    if f.__name__ == "power" and x._kind == "i" and 0 not in shape:
        x = _without_negative_exponents(x, along, starts, stops)
    result = _core._fold_segments(f._row, x, along, starts, stops) if 0 not in shape else _core._empty(shape, x.dtype, x.queue)
    return _store(result, out, op_name)


def _without_negative_exponents(x: Array, along: int, starts: Array, stops: Array) -> Array:
    """The elements; a ValueError, at the call or later, where one that is an exponent in some slice is negative."""
    extent = x.shape[along]
    edges: Any = _core._full([extent + 1], 0, np.int64, x.queue)
    _core.add.at(edges, _core.add(starts, 1), 1)
    _core.add.at(edges, stops, -1)
    inside = _core.greater(_core._cumulative(_REDUCTIONS["add"], edges, 0, None, False)[:extent], 0)
    exponents = _core._where(_core._reshape(inside, [-1, *[1] * (x.ndim - along - 1)]), x, 0)
    return _core.multiply(x, _core.power(_core._full([], 1, x.dtype, x.queue), exponents))


def _slices(indices: Any, x: Array, extent: int, op_name: str) -> tuple[Array, Array]:
    """Starts and stops of slices, from indices of the host."""
    host: Any = np.asarray(indices)
    if host.size == 0:
        host = host.astype(np.int64)
    if kind_of(host.dtype) not in "iub" or host.dtype == np.uint64:
        raise TypeError(f"{op_name}: indices must be integers, not {host.dtype}")
    if host.ndim != 1:
        raise ValueError(f"{op_name}: indices must have one dimension, not {host.ndim}")
    starts = host.astype(np.int64)
    wrong = starts[(starts < 0) | (starts >= extent)]
    if wrong.size:
        raise IndexError(f"index {wrong[0]} out-of-bounds in {op_name} [0, {extent})")
    after = np.append(starts[1:], extent)[: starts.size]
    stops = np.where(after > starts, after, starts + 1)
    return tuple(_core._copy_operand(np.ascontiguousarray(a), a.dtype, x.queue, op_name) for a in (starts, stops))  # type: ignore[return-value]


def _slices_on_device(indices: Array, x: Array, extent: int, op_name: str) -> tuple[Array, Array]:
    """The same of indices on the device, which are looked through there."""
    same_queue(x, indices, op_name)
    if indices._kind not in "iub" or indices.dtype == np.uint64:
        raise TypeError(f"{op_name}: indices must be integers, not {indices.dtype}")
    if indices.ndim != 1:
        raise ValueError(f"{op_name}: indices must have one dimension, not {indices.ndim}")
    given = indices._astype(np.int64, False)
    # None counts from the end: what is negative is out of bounds in any case. What is taken is zero for each that is not.
    checked = _core._where(_core.less(given, 0), _core.subtract(given, extent), given)
    zeros = _core._broadcast_to(_core._full([], 0, np.int64, x.queue), [extent])
    starts = _core.add(given, _core._take(zeros, checked, 0))
    if starts.size == 0:
        return starts, starts
    after = _core._concat([starts[1:], _core._full([1], extent, np.int64, x.queue)], 0)
    return starts, _core._where(_core.greater(after, starts), after, _core.add(starts, 1))
