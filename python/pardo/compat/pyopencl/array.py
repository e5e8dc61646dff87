# python/pardo/compat/pyopencl/array.py: the functions of pyopencl.array over pardo's arrays.
"""Functions by the names of ``pyopencl.array``: those that make arrays take a queue first, others ``queue=``.

Results have the dtypes of PyOpenCL: `sum`, `dot` and `cumsum` keep that of their operands, `logical_and` and its relatives give int8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pardo
from pardo import Array as _Array
from pardo import Queue
from pardo._extending import SCALARS
from pardo._extending import show_module as _show_module
from pardo.compat._names import Constructor as _Constructor
from pardo.compat._names import missing as _missing
from pardo.compat.pyopencl._methods import awaited as _awaited
from pardo.compat.pyopencl._methods import on as _on

__all__ = [
    "Array",
    "all",
    "any",
    "arange",
    "as_strided",
    "concatenate",
    "cumsum",
    "diff",
    "dot",
    "empty",
    "empty_like",
    "hstack",
    "if_positive",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "min",
    "minimum",
    "multi_take",
    "reshape",
    "stack",
    "subset_dot",
    "subset_max",
    "subset_min",
    "sum",
    "take",
    "to_device",
    "transpose",
    "vdot",
    "zeros",
    "zeros_like",
]

_NONE = object()  # nothing was given


def _queue(op_name: str, queue: Any) -> Queue:
    if not isinstance(queue, Queue):
        raise TypeError(f"{op_name}: a queue is expected first, not {type(queue).__name__}")
    return queue


def _stored(result: Any, out: Any) -> Any:
    """A result, in the array that is asked for."""
    if out is None:
        return result
    out[...] = result
    return out


class Array(metaclass=_Constructor):
    """The class of arrays; called, it makes one that is not initialised.

    Parameters
    ----------
    cq : Queue or Context
        Where it is; of a context the queue of its first device.
    shape : int or sequence of int
        The shape.
    dtype : data type, optional
        Of the elements.
    order : {'C', 'F'}, optional
        Of the axes.
    allocator : optional
        Not used: memory that is let go is kept for the next array.
    strides : sequence of int, optional
        In bytes; those of one of the two orders.

    Raises
    ------
    TypeError
        `cq` is something else.
    ValueError
        The strides are others, or the shape is negative.

    Examples
    --------
    >>> import pardo.compat.pyopencl as cl
    >>> import pardo.compat.pyopencl.array as cl_array
    >>> x = cl_array.Array(cl.CommandQueue(), (2, 3), "float32")
    >>> isinstance(x, cl_array.Array), x.shape
    (True, (2, 3))
    """

    @staticmethod
    def _make(cq: Any, shape: Any, dtype: Any = float, order: str = "C", allocator: Any = None, *, strides: Any = None) -> Any:
        queue = Queue.of(cq.devices[0]) if isinstance(cq, pardo.Context) else _queue("Array", cq)
        x = pardo.empty(shape, dtype=dtype, order=order, queue=queue)
        if strides is None or tuple(strides) == x.strides:
            return x
        x = pardo.empty(shape, dtype=dtype, order="F" if order in ("C", "c") else "C", queue=queue)
        if tuple(strides) != x.strides:
            raise ValueError(
                f"Array: strides are {tuple(strides)}; elements lie in the order of C or Fortran, so take a view of a larger array"
            )
        return x


empty = Array


def zeros(queue: Queue, shape: Any, dtype: Any = float, order: str = "C", allocator: Any = None) -> Any:
    """Make an array of zeros on a queue."""
    return pardo.zeros(shape, dtype=dtype, order=order, queue=_queue("zeros", queue))


def empty_like(ary: Any, queue: Queue | None = None, allocator: Any = None) -> Any:
    """Make an array like another that is not initialised, on its queue or another one."""
    return pardo.empty_like(ary, queue=ary.queue if queue is None else queue)


def zeros_like(ary: Any) -> Any:
    """Make an array of zeros like another."""
    return pardo.zeros_like(ary)


def to_device(queue: Queue, ary: Any, allocator: Any = None, async_: bool = False, array_queue: Any = None) -> Any:
    """Copy an array of NumPy's to a queue, or to `array_queue`.

    Parameters
    ----------
    queue : Queue
        The queue.
    ary : numpy.ndarray
        The array, which may be changed when this returns.
    allocator, async_ : optional
        Not used.
    array_queue : Queue, optional
        The queue of the array. Arrays of pardo always have one: with None it is `queue`.

    Returns
    -------
    Array

    Raises
    ------
    TypeError
        `queue` is no queue, or the dtype has no numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo.compat.pyopencl as cl
    >>> import pardo.compat.pyopencl.array as cl_array
    >>> queue = cl.CommandQueue(cl.create_some_context())
    >>> x = cl_array.to_device(queue, np.arange(4, dtype=np.float32))
    >>> (2 * x).get()
    array([0., 2., 4., 6.], dtype=float32)
    """
    return pardo.asarray(ary, queue=_queue("to_device", queue if array_queue is None else array_queue), copy=True)


def arange(queue: Queue, *args: Any, dtype: Any = None, allocator: Any = None) -> Any:
    """Make an array of numbers in equal steps: ``arange(queue, [start,] stop[, step], dtype=dtype)``, which needs the dtype."""
    if args and isinstance(args[-1], np.dtype):
        *args, dtype = args  # type: ignore[assignment]
    if dtype is None:
        raise TypeError("arange: dtype is needed")
    if not 1 <= len(args) <= 3:
        raise ValueError(f"arange: one to three numbers are expected, not {len(args)}")
    kind = np.dtype(dtype)
    bounds = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
    start, stop, step = (kind.type(x) for x in bounds)
    return pardo.arange(start, stop, step, dtype=kind, queue=_queue("arange", queue))


def as_strided(ary: Any, shape: Any = None, strides: Any = None) -> Any:
    """View an array with another shape and other strides, in bytes."""
    return pardo.lib.stride_tricks.as_strided(ary, ary.shape if shape is None else shape, ary.strides if strides is None else strides)


# --- elements that are taken, joined, rearranged ---------------------------------------------------------------------------------


def take(a: Any, indices: Any, out: Any = None, queue: Queue | None = None, wait_for: Any = None) -> Any:
    """Take elements by their places in an array, of all dimensions as of one."""
    _awaited(wait_for)
    return _stored(pardo.take(_on(queue, a, "take"), _on(queue, indices, "take")), out)


def multi_take(arrays: Sequence[Any], indices: Any, out: Sequence[Any] | None = None, queue: Queue | None = None) -> list[Any]:
    """Take elements by the same places of several arrays."""
    if out is not None and len(out) != len(arrays):
        raise ValueError(f"multi_take: {len(arrays)} arrays are given, and {len(out)} as `out`")
    return [take(a, indices, None if out is None else out[k], queue) for k, a in enumerate(arrays)]


def concatenate(arrays: Sequence[Any], axis: int = 0, queue: Queue | None = None, allocator: Any = None) -> Any:
    """Join arrays along an axis."""
    return pardo.concatenate([_on(queue, a, "concatenate") for a in arrays], axis=axis)


def hstack(arrays: Sequence[Any], queue: Queue | None = None) -> Any:
    """Join arrays along their last axis."""
    return concatenate(arrays, -1, queue)


def stack(arrays: Sequence[Any], axis: int = 0, queue: Queue | None = None) -> Any:
    """Join arrays along a new axis."""
    return pardo.stack([_on(queue, a, "stack") for a in arrays], axis=axis)


def diff(array: Any, queue: Queue | None = None, allocator: Any = None) -> Any:
    """Give the differences of neighbours in an array of one dimension."""
    if array.ndim != 1:
        raise ValueError(f"diff: an array of one dimension is expected, not of {array.ndim}")
    return pardo.diff(_on(queue, array, "diff"))


def transpose(a: Any, axes: Any = None) -> Any:
    """View an array with its axes in another order."""
    return pardo.transpose(a, axes)


def reshape(a: Any, shape: Any) -> Any:
    """Give an array another shape."""
    return pardo.reshape(a, shape)


# --- element by element ----------------------------------------------------------------------------------------------------------


def if_positive(criterion: Any, then_: Any, else_: Any, out: Any = None, queue: Queue | None = None) -> Any:
    """Take elements of one array where another is greater than 0, and of a third one elsewhere; both are of one dtype.

    Parameters
    ----------
    criterion : Array
        Decides.
    then_, else_ : Array or number
        Of the shape of `criterion`, or without dimensions.
    out : Array, optional
        Where to.
    queue : Queue, optional
        Where it is computed.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        Dtypes or shapes differ.

    Examples
    --------
    >>> import pardo as pp
    >>> import pardo.compat.pyopencl.array as cl_array
    >>> x = pp.asarray([-1.0, 0.0, 2.0])
    >>> cl_array.if_positive(x, x, 10.0)
    array([10., 10.,  2.])
    """
    sides = [side if isinstance(side, _Array) else np.asarray(side) for side in (then_, else_)]
    if sides[0].dtype != sides[1].dtype:
        raise ValueError(f"if_positive: then_ is of {sides[0].dtype}, and else_ of {sides[1].dtype}; both are to be of one dtype")
    wanted = np.shape(criterion) if not isinstance(criterion, _Array) else criterion.shape
    for name, side in zip(("then_", "else_"), sides, strict=True):
        if side.ndim > 0 and side.shape != wanted:
            raise ValueError(f"if_positive: criterion has shape {wanted}, and {name} {side.shape}")
    if not _any_array(criterion, *sides):
        return _stored(np.where(np.asarray(criterion) > 0, *sides), out)
    return _stored(pardo.where(_on(queue, criterion, "if_positive") > 0, *(_on(queue, side, "if_positive") for side in sides)), out)


def _any_array(*xs: Any) -> bool:
    return next((True for x in xs if isinstance(x, _Array)), False)


def maximum(a: Any, b: Any, out: Any = None, queue: Queue | None = None) -> Any:
    """Give the greater ones of two arrays, element by element."""
    return _stored((pardo if _any_array(a, b) else np).maximum(_on(queue, a, "maximum"), _on(queue, b, "maximum")), out)


def minimum(a: Any, b: Any, out: Any = None, queue: Queue | None = None) -> Any:
    """Give the smaller ones of two arrays, element by element."""
    return _stored((pardo if _any_array(a, b) else np).minimum(_on(queue, a, "minimum"), _on(queue, b, "minimum")), out)


def _logical(name: str, out: Any, queue: Queue | None, *xs: Any) -> Any:
    if not _any_array(*xs):
        result: Any = pardo.asarray(getattr(np, name)(*xs), dtype="int8", queue=queue)
    else:
        result = getattr(pardo, name)(*(_on(queue, x, name) for x in xs)).astype("int8")
    return _stored(result, out)


def logical_and(x1: Any, x2: Any, /, out: Any = None, queue: Queue | None = None) -> Any:
    """Tell where both are true, as int8."""
    return _logical("logical_and", out, queue, x1, x2)


def logical_or(x1: Any, x2: Any, /, out: Any = None, queue: Queue | None = None) -> Any:
    """Tell where one of both is true, as int8."""
    return _logical("logical_or", out, queue, x1, x2)


def logical_not(x: Any, /, out: Any = None, queue: Queue | None = None) -> Any:
    """Tell where it is not true, as int8."""
    return _logical("logical_not", out, queue, x)


# --- reductions and scans --------------------------------------------------------------------------------------------------------


def _flat(op_name: str, x: Any, queue: Queue | None, part: Any = None) -> Any:
    """All elements in one dimension, or a slice of these."""
    flat = pardo.ravel(_on(queue, x, op_name))
    return flat if part is None else flat[part]


def sum(a: Any, dtype: Any = None, queue: Queue | None = None, slice: Any = None, initial: Any = _NONE) -> Any:
    """Give the sum of all elements, or of a slice of these, in their dtype.

    Parameters
    ----------
    a : Array
        The array.
    dtype : data type, optional
        Of the sum. Default: that of `a`, also for small integers.
    queue : Queue, optional
        Where it is computed.
    slice : slice, optional
        Which elements, of all dimensions as of one.
    initial : number, optional
        Added.

    Returns
    -------
    Array
        Without dimensions.

    Raises
    ------
    ValueError
        `initial` is no number.

    Examples
    --------
    >>> import pardo as pp
    >>> import pardo.compat.pyopencl.array as cl_array
    >>> cl_array.sum(pp.arange(5, dtype="int32"), slice=slice(1, 4))
    array(6, dtype=int32)
    """
    if initial is not _NONE and not isinstance(initial, SCALARS):
        raise ValueError(f"sum: initial is a number, not {type(initial).__name__}")
    total = pardo.sum(_flat("sum", a, queue, slice), dtype=a.dtype if dtype is None else dtype)
    return total if initial is _NONE else total + a.dtype.type(initial)


def any(a: Any, queue: Queue | None = None, wait_for: Any = None) -> Any:
    """Tell whether an element is true."""
    _awaited(wait_for)
    return pardo.any(_on(queue, a, "any"))


def all(a: Any, queue: Queue | None = None, wait_for: Any = None) -> Any:
    """Tell whether all elements are true."""
    _awaited(wait_for)
    return pardo.all(_on(queue, a, "all"))


def _products(op_name: str, a: Any, b: Any, dtype: Any) -> Any:
    if a.shape != b.shape:
        raise ValueError(f"{op_name}: arrays of one shape are expected, not of {a.shape} and {b.shape}")
    wanted = pardo.result_type(a, b) if dtype is None else dtype
    return pardo.sum(a.astype(wanted) * b.astype(wanted), dtype=wanted)


def dot(a: Any, b: Any, dtype: Any = None, queue: Queue | None = None, slice: Any = None) -> Any:
    """Give the sum of the products of all elements of two arrays of one shape, or of a slice of these.

    Examples
    --------
    >>> import pardo as pp
    >>> import pardo.compat.pyopencl.array as cl_array
    >>> x = pp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cl_array.dot(x, x)
    array(30.)
    """
    if a.shape != b.shape:
        raise ValueError(f"dot: arrays of one shape are expected, not of {a.shape} and {b.shape}")
    return _products("dot", _flat("dot", a, queue, slice), _flat("dot", b, queue, slice), dtype)


def vdot(a: Any, b: Any, dtype: Any = None, queue: Queue | None = None, slice: Any = None) -> Any:
    """Give the same with the conjugate of the first array."""
    return dot(pardo.conj(_on(queue, a, "vdot")), b, dtype, queue, slice)


def subset_dot(subset: Any, a: Any, b: Any, dtype: Any = None, queue: Queue | None = None, slice: Any = None) -> Any:
    """Give the sum of the products of the elements at some places."""
    places = _flat("subset_dot", subset, queue, slice)
    return _products("subset_dot", _flat("subset_dot", a, queue)[places], _flat("subset_dot", b, queue)[places], dtype)


def _extreme(name: str, a: Any, queue: Queue | None, initial: Any) -> Any:
    if isinstance(a, SCALARS):
        return np.asarray(a)[()]
    if initial is not _NONE and not isinstance(initial, SCALARS):
        raise ValueError(f"{name}: initial is a number, not {type(initial).__name__}")
    return getattr(pardo, name)(_on(queue, a, name), **({} if initial is _NONE else {"initial": a.dtype.type(initial)}))


def max(a: Any, queue: Queue | None = None, initial: Any = _NONE) -> Any:
    """Give the greatest of all elements."""
    return _extreme("max", a, queue, initial)


def min(a: Any, queue: Queue | None = None, initial: Any = _NONE) -> Any:
    """Give the smallest of all elements."""
    return _extreme("min", a, queue, initial)


def subset_max(subset: Any, a: Any, queue: Queue | None = None, slice: Any = None) -> Any:
    """Give the greatest of the elements at some places."""
    return pardo.max(_flat("subset_max", a, queue)[_flat("subset_max", subset, queue, slice)])


def subset_min(subset: Any, a: Any, queue: Queue | None = None, slice: Any = None) -> Any:
    """Give the smallest of the elements at some places."""
    return pardo.min(_flat("subset_min", a, queue)[_flat("subset_min", subset, queue, slice)])


def cumsum(a: Any, output_dtype: Any = None, queue: Queue | None = None, wait_for: Any = None, *, return_event: bool = False) -> Any:
    """Give the running sums of all elements, in their dtype; with `return_event` an event before it."""
    _awaited(wait_for)
    result = pardo.cumsum(_flat("cumsum", a, queue), dtype=a.dtype if output_dtype is None else output_dtype).reshape(a.shape)
    return (result.queue.barrier(depends=result), result) if return_event else result


_INSTEAD = {
    "multi_put multi_take_put": "store with out[places] = x",
    "vec": "use structured dtypes, or a last axis of the vector's length",
    "Allocator": "see pardo.set_allocator",
}


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise _missing(__name__, name, _INSTEAD, "pardo has no such name")


_show_module(globals())
