# python/pardo/_random/arguments.py: how the draws of a random.Generator read their arguments: sizes, places, parameters, choices.
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.creation import _extents
from pardo._base import promotion
from pardo._base.arguments import SCALARS, DeviceLike, axis_index, default_on, dtype_of, in_memory, kind_like, queue_for
from pardo._base.promotion import kind_of
from pardo._core import Array, Queue, _array_among, _broadcast_to, _empty_in, _fail_where, _host_operand, _is_host_data

_KINDS = {bool: "b", int: "i", float: "f"}  # of what most parameters are


def extents_of(size: Any, op_name: str) -> list[int]:
    """The shape that a size means."""
    return [] if size is None else _extents(size, op_name)


def floating(dtype: DTypeLike | None, target: Queue, op_name: str) -> np.dtype[Any]:
    """The dtype of floats to be drawn."""
    wanted = default_on(target, np.float64) if dtype is None else dtype_of(dtype, op_name)
    if wanted not in (np.float64, np.float32):
        raise TypeError(f"{op_name}: dtype {wanted} cannot be drawn; draw float64 or float32, and convert by astype")
    return wanted


def place_of(op_name: str, given: Iterable[Any], device: DeviceLike, queue: Queue | None) -> Queue:
    """Where draws go: to the device or queue that is named, else to that of the arrays among the arguments, and in lists among them."""
    inside = [x if type(x) is Array else _array_among(x) if type(x) in (list, tuple) else None for x in given]
    return queue_for(op_name, device, queue, *inside)


def array_at(x: Any, target: Queue, op_name: str, name: str, others: str = "") -> Array:
    """An array, or values of the host as one, on a queue; `others` says what else the argument may be."""
    if isinstance(x, Array):
        return x.to_queue(target)
    if not isinstance(x, str) and _is_host_data(x):
        return _host_operand(x, target, op_name, False)
    kind = ValueError if isinstance(x, str) else TypeError  # as NumPy has it
    hint = "; use pardo.asarray(x)" if hasattr(x, "__array__") else ""
    raise kind(f"{op_name}: {name} must be {others}a list or a pardo.Array, not {type(x).__name__}{hint}")


class Parameters:
    """Numbers and arrays that a distribution depends on, and the shape and place of what is drawn by them."""

    def __init__(
        self,
        op_name: str,
        given: dict[str, Any],
        size: Any,
        device: DeviceLike,
        queue: Queue | None,
        usm_type: str | None,
        *,
        integral: tuple[str, ...] = (),
    ) -> None:
        self.op_name, self.integral = op_name, integral
        self.queue = place_of(op_name, given.values(), device, queue)
        self.usm_type = kind_like(self.queue, *given.values()) if usm_type is None else usm_type
        self.lists: dict[str, np.ndarray[Any, Any]] = {}
        self.values = {name: x if type(x) is float and name not in integral else self._read(name, x) for name, x in given.items()}
        self.late: list[tuple[Array, str, bool]] = []
        self.shape = self._shape(size)

    def _read(self, name: str, x: Any) -> Any:
        if promotion.is_number_of_bfloat16(x):
            x = x.item()
        value = x if isinstance(x, SCALARS) else array_at(x, self.queue, self.op_name, name, "a number, ")
        if type(value) is Array and type(x) is not Array and not (isinstance(x, (list, tuple)) and _array_among(x) is not None):
            self.lists[name] = np.asarray(x)
        kind = _KINDS.get(type(value)) or kind_of(promotion.result_type(value.dtype if type(value) is Array else value))
        if kind == "c":
            raise TypeError(f"{self.op_name}: {name} must be real, but is complex")
        if name in self.integral:
            value = self._integer(name, value, kind)
        return value

    def _integer(self, name: str, value: Any, kind: str) -> Any:
        """An integer of int64; a float that is one, as NumPy takes it."""
        if kind not in "iub" and not (isinstance(value, (float, np.floating)) and float(value).is_integer()):
            what = value.dtype if type(value) is Array else value
            raise TypeError(f"{self.op_name}: {name} must be an integer, not {what}; convert it, as by int() or astype('int64')")
        if type(value) is Array:
            if value.dtype == np.uint64:
                raise TypeError(f"{self.op_name}: {name} has dtype uint64, which an int64 does not hold; use {name}.astype('int64')")
            return value._astype(np.dtype(np.int64), False)
        if not -(2**63) <= int(value) < 2**63:
            raise OverflowError(f"{self.op_name}: {name} does not fit an int64: {value}")
        return int(value)

    def _shape(self, size: Any) -> tuple[int, ...]:
        extents = None if size is None else tuple(extents_of(size, self.op_name))
        shapes = [x.shape for x in self.values.values() if type(x) is Array]
        if not shapes:
            return extents or ()
        try:
            shape: tuple[int, ...] = np.broadcast_shapes(*shapes)
            fits = extents is None or np.broadcast_shapes(extents, shape) == extents
        except ValueError:
            fits = False
        if not fits:
            wanted = "each other" if extents is None else f"size {extents}"
            raise ValueError(f"{self.op_name}: parameters of shapes {', '.join(map(str, shapes))} cannot be broadcast to {wanted}")
        return shape if extents is None else extents

    def of(self, dtype: np.dtype[Any]) -> list[Any]:
        """Python scalars, which are weak, and arrays of the dtype."""
        return [x._astype(dtype, False) if type(x) is Array else float(x) for x in self.values.values()]

    def typed(self, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        """What a kernel takes: numbers of the dtype, of int64 for integers, and flat arrays of it."""
        types = {name: np.dtype(np.int64) if name in self.integral else dtype for name in self.values}
        with np.errstate(over="ignore"):
            return tuple(
                self.flat(x._astype(types[name], False)) if type(x) is Array else types[name].type(x) for name, x in self.values.items()
            )

    def known(self, *names: str) -> list[Any]:
        """What conditions are made of: numbers, values of the host for lists, arrays."""
        return [self.lists.get(name, self.values[name]) for name in names or self.values]

    def require(self, name: str, wrong: Callable[[Any], Any], rule: str) -> None:
        """ValueError where a parameter is wrong; late where only an array tells."""
        x = self.lists.get(name, self.values[name])
        found = wrong(x)
        if found is not False:
            told = f"; it is {x}" if isinstance(x, SCALARS) else ", which is not true of all elements"
            self.refuse(found, f"{name} {rule}{told}")

    def refuse(self, wrong: Any, message: str, *, overflow: bool = False) -> None:
        """ValueError (OverflowError) if a condition holds anywhere; an array's is told to what is drawn (`watch`)."""
        if wrong is False:
            return
        text = f"{self.op_name}: {message}"
        if type(wrong) is Array:
            self.late.append((wrong, text, overflow))
        elif np.any(wrong):
            raise (OverflowError if overflow else ValueError)(text)

    def watch(self, drawn: Array) -> Array:
        """What is drawn; reading it fails where a condition on arrays holds."""
        for wrong, text, overflow in self.late:
            _fail_where(drawn, wrong, text, overflow)
        return drawn

    def empty(self, dtype: np.dtype[Any]) -> Array:
        return _empty_in(list(self.shape), dtype, self.queue, "device", self.op_name)

    def flat(self, x: Any) -> Any:
        """One value for each element, or a number."""
        return _broadcast_to(x, self.shape).reshape(-1) if type(x) is Array else x

    def placed(self, x: Array) -> Array:
        return in_memory(x, self.usm_type, self.op_name)


# --- conditions on parameters; nan is no reason to refuse, except where NumPy refuses it


def negative(x: Any) -> Any:
    return x < 0


def not_positive(x: Any) -> Any:
    return x <= 0


def no_positive_number(x: Any) -> Any:
    return (x <= 0) | (x != x)


def outside(x: Any) -> Any:
    return (x < 0) | (x > 1) | (x != x)


def range_of(given: Parameters, dtype: np.dtype[Any], endpoint: bool) -> tuple[Any, Any]:
    """The first integer, in 64 bits, and the distance of the last one: two numbers, or at least one array."""
    least, greatest = (0, 1) if kind_of(dtype) == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    beyond = 0 if endpoint else 1
    for name, x in given.values.items():
        if type(x) is not Array or x.ndim == 0:
            given.values[name] = int(x)
    low, high = given.known()
    for name, x, wrong in (("low", low, low < least), ("high", high, high > greatest + beyond)):
        if wrong is False:  # of a number
            continue
        which = "some elements" if type(x) is Array else x
        bad = wrong | (x != x) if kind_of(getattr(x, "dtype", dtype)) == "f" else wrong
        given.refuse(bad, f"{name} is out of bounds for {dtype}: {which}; integers are drawn from {least} to {greatest}")
    crossed = f"low is {'greater than' if endpoint else 'not less than'} high; no integer lies between them"
    given.refuse(low > greatest, crossed)
    given.refuse(high < least + beyond, crossed)
    wide = np.dtype(np.int64 if least else np.uint64)
    first, last = (x._astype(wide, False) if type(x) is Array else x for x in given.values.values())
    last = last - beyond
    if type(low) in (int, Array) and type(high) in (int, Array):
        given.refuse(first > last, crossed)
    else:  # exactly, whatever their dtypes
        given.refuse(np.asarray(low, object) > np.asarray(high, object) - beyond, crossed)
    return _unsigned(first), _unsigned(last - first)


def _unsigned(x: Any) -> Any:
    return x._astype(np.uint64, False) if type(x) is Array else x % 2**64


def pool_of(a: Any, axis: int, target: Queue) -> tuple[Array | None, int, int]:
    """What is chosen from, if it is an array, its axis, and how many there are."""
    if not isinstance(a, (list, tuple)) and getattr(a, "ndim", 0) == 0:
        try:
            return None, 0, operator.index(a)
        except TypeError:
            raise ValueError(f"choice: a must be an integer, a list or a pardo.Array, not {type(a).__name__}") from None
    pool = array_at(a, target, "choice", "a", "an integer, ")
    along = axis_index(axis, pool.ndim, "choice")
    return pool, along, pool.shape[along]


def probabilities(p: Any, n: int, k: int, replace: bool, target: Queue) -> Array:
    """The probabilities, after all checks."""
    given = array_at(p, target, "choice", "p")
    if given.ndim != 1 or given.size != n:
        raise ValueError(f"choice: p has shape {given.shape}; one probability is expected for each of {n} elements")
    q = given._astype(default_on(target, np.float64), False)
    if n:
        total, least = float(q.sum()), float(q.min())
        accurate = given.dtype if given._kind == "f" and given.dtype.itemsize < q.dtype.itemsize else q.dtype
        if math.isnan(total):
            raise ValueError("choice: p contains nan")
        if least < 0:
            raise ValueError(f"choice: p must not be negative, but contains {least}")
        if abs(total - 1) > math.sqrt(promotion.finfo(accurate).eps):
            raise ValueError(f"choice: p must have the sum 1, but has {total}; divide it by its sum")
    if not replace and k > int((q > 0).sum()):
        raise ValueError(f"choice: {k} elements cannot be drawn without replacement: fewer have a probability above 0")
    return q
