# python/pardo/_base/orders.py: NumPy's keyword `order`: in which order the axes of a new array lie in memory.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from numpy.typing import NDArray
from pardo import _core
from pardo._core import Array


def read_order(order: Any, op_name: str, allowed: str = "CFAK", default: str = "K") -> str:
    """The keyword as one capital letter; None is the default."""
    if order is None:
        return default
    if not isinstance(order, str):
        raise TypeError(f"{op_name}: order must be str, not {type(order).__name__}")
    letter = order.upper()
    if len(letter) != 1 or letter not in allowed:
        names = [repr(a) for a in allowed]
        listed = f"{', '.join(names[:-1])} or {names[-1]}"
        raise ValueError(f"{op_name}: order is {order!r}; order must be one of {listed}")
    return letter


def is_column_major(x: Array) -> bool:
    """Whether the elements are contiguous in column-major order, and not also in row-major order."""
    rows, columns, _, _ = x._memory_flags()
    return columns and not rows


def bytes_order(x: Array, order: Any) -> Literal["C", "F"]:
    """In which order an array's bytes are given; 'A' asks how they lie in memory, 'K' is 'C'."""
    letter = read_order(order, "tobytes", default="C")
    return "F" if letter == "F" or (letter == "A" and is_column_major(x)) else "C"


def axes_like(x: Array, order: str) -> Sequence[int] | None:
    """The axes of what is made after a model, outermost in memory first; None: row-major."""
    if order == "C" or x.ndim < 2 or (order != "F" and x._surely_row_major()):
        return None
    if order == "K":
        axes = _core._axis_order([x])
        return None if list(axes) == list(range(x.ndim)) else axes
    return range(x.ndim)[::-1] if order == "F" or is_column_major(x) else None


def make_in_order(axes: Sequence[int] | None, extents: list[int], make: Callable[[list[int]], Array]) -> Array:
    """What `make` makes of extents, with its axes in an order."""
    if axes is None:
        return make(extents)
    return _core._laid_out(make([extents[a] for a in axes]), list(axes))


def columns_first(order: str, rank: int) -> Sequence[int] | None:
    """The axes for 'C' or 'F'."""
    return range(rank)[::-1] if order == "F" and rank > 1 else None


def copy_by_rows(x: Array) -> Array:
    """A copy whose memory is row-major; `_copy` keeps the order of the axes."""
    if x._surely_row_major():
        return x._copy()
    made = _core._empty_in(list(x.shape), x.dtype, x.queue, x.usm_type, "copy")
    made._assign(x)
    return made


def copied_in_order(x: Array, order: str) -> Array:
    """A copy with its axes in an order."""
    if order == "K":
        return x._copy()
    axes = axes_like(x, order)
    return copy_by_rows(x) if axes is None else _core._laid_out(copy_by_rows(_core._permute_dims(x, list(axes))), list(axes))


def satisfies(x: Array, order: str) -> bool:
    """Whether an array lies in memory as asked for; computes it."""
    if order == "K" or (order == "A" and x.ndim < 2):
        return True
    rows, columns, _, _ = x._memory_flags()
    return {"C": rows, "F": columns, "A": rows or columns}[order]


def in_order(x: Array, order: str) -> Array:
    """The array itself if it lies in memory as asked for, else a copy that does."""
    return x if satisfies(x, order) else copied_in_order(x, order)


def of_result(result: Any, order: str, operands: Sequence[Any]) -> Any:
    """What a ufunc gives with `order`: 'A' is column-major where all operands are."""
    if isinstance(result, tuple):
        return tuple(of_result(r, order, operands) for r in result)
    if order == "A":
        arrays = [x for x in operands if type(x) is Array and x.ndim > 1]
        order = "F" if arrays and not all(x._surely_row_major() for x in arrays) and all(map(is_column_major, arrays)) else "C"
    if order == "K" or result.ndim < 2 or (order == "C" and result._surely_row_major()):
        return result
    return copied_in_order(result, order)


def host_in_order(host: NDArray[Any], order: str, copy: Callable[[NDArray[Any]], Array]) -> Array:
    """A copy of an array of NumPy's with its axes in an order; `copy` makes row-major ones."""
    if host.ndim < 2 or order == "C" or (order in "KA" and host.flags.c_contiguous):
        return copy(host)
    if order == "F" or (order == "A" and host.flags.f_contiguous):
        axes = list(range(host.ndim))[::-1]
    elif order == "A":
        return copy(host)
    else:
        axes = sorted(range(host.ndim), key=lambda d: -abs(host.strides[d]))
    return _core._laid_out(copy(host.transpose(axes)), axes)


def keeping_order(x: Array, axis: int, compute: Callable[[Array, int], Array]) -> Array:
    """What a function along an axis gives, whose result has the order of the axes of its operand."""
    axes = axes_like(x, "K")
    if axes is None:
        return compute(x, axis)
    return _core._laid_out(compute(_core._permute_dims(x, list(axes)), list(axes).index(axis % x.ndim)), list(axes))
