# python/pardo/compat/dpctl/tensor.py: dpctl.tensor's names over arrays.
"""Arrays by dpctl's names: those of the array API standard, with ``sycl_queue=``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pardo
from pardo import Array
from pardo._extending import Memory as _Memory
from pardo._extending import _strided, _view_bytes
from pardo._extending import axis_index as _axis_index
from pardo._extending import default_on as _default_on
from pardo._extending import default_queue as _default_queue
from pardo._extending import dtype_of as _dtype_of
from pardo._extending import index as _index
from pardo._extending import shape as _read_shape
from pardo._extending import show_module as _show_module
from pardo.compat import _arrays
from pardo.compat._names import Constructor, queue_of


class usm_ndarray(metaclass=Constructor):  # noqa: N801 (dpctl's name)
    """The class of arrays; called, it makes one that is not initialised, or a view of memory that is there.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : data type, optional
        Default: float64, or float32 where the device has no float64.
    strides : sequence of int, optional
        In elements. Default: those of `order`.
    buffer : {'device', 'shared', 'host'}, memory of dpctl.memory, or array, optional
        The kind of memory that is made, or the memory that is shown; of an array its elements, which are contiguous.
    offset : int, optional
        Of the element with index zero in the memory, in elements.
    order : {'C', 'F'}, optional
        Of the axes, without strides.
    buffer_ctor_kwargs : dict, optional
        ``{'queue': queue}``, where memory is made.
    array_namespace : module, optional
        Not used.

    Raises
    ------
    TypeError
        `buffer` is something else, or an argument is not made of integers.
    ValueError
        Elements lie outside of the memory, or there are not as many strides as extents.
    """

    @staticmethod
    def _make(
        shape: Any,
        dtype: Any = None,
        strides: Any = None,
        buffer: Any = "device",
        offset: int = 0,
        order: str = "C",
        buffer_ctor_kwargs: Any = None,
        array_namespace: Any = None,
    ) -> Any:
        queue = queue_of((buffer_ctor_kwargs or {}).get("queue"))
        if isinstance(buffer, str):
            if strides is None and offset == 0:
                return _arrays.namespace("empty")(shape, dtype=dtype, order=order, usm_type=buffer, queue=queue)
        elif isinstance(buffer, (Array, _Memory)):
            queue = buffer.queue
        else:
            given = type(buffer).__name__
            raise TypeError(
                f"usm_ndarray: buffer is 'device', 'shared' or 'host', memory, or an array, not {given}; use asarray for values"
            )
        queue = queue if queue is not None else _default_queue()
        element = _default_on(queue, np.float64) if dtype is None else _dtype_of(dtype, "usm_ndarray")
        extents, first = _read_shape(shape, "usm_ndarray"), _index(offset, "usm_ndarray: offset")
        if order not in ("C", "F"):
            raise ValueError(f"usm_ndarray: order is 'C' or 'F', not {order!r}")
        steps = _steps(strides, extents, order)
        spans = [step * (n - 1) for step, n in zip(steps, extents, strict=True)]
        last = first + sum(s for s in spans if s > 0) if all(extents) else -1
        if isinstance(buffer, str):
            memory = pardo.empty(max(last + 1, 0) * element.itemsize, dtype=np.uint8, usm_type=buffer, queue=queue)
        elif isinstance(buffer, _Memory):
            memory = buffer.array()
        elif buffer._is_contiguous():
            memory = _view_bytes(buffer, np.dtype(np.uint8), [buffer.nbytes], 0)
        else:
            raise ValueError("usm_ndarray: the elements of buffer are not contiguous; give buffer.copy()")
        have = memory.size // element.itemsize
        if last >= have or (all(extents) and first + sum(s for s in spans if s < 0) < 0):
            raise ValueError(f"usm_ndarray: elements would lie outside of the memory, which has room for {have} of {element}")
        begin = first if all(extents) else 0
        return _strided(memory, element, extents, [step * element.itemsize for step in steps], begin * element.itemsize)


def _steps(strides: Any, extents: list[int], order: str) -> list[int]:
    """Strides in elements: those that are given, or of contiguous elements."""
    if strides is not None:
        steps = [_index(step, "usm_ndarray: strides") for step in (strides if isinstance(strides, Iterable) else (strides,))]
        if len(steps) != len(extents):
            raise ValueError(f"usm_ndarray: {len(steps)} strides are given for {len(extents)} dimensions")
        return steps
    steps, step = [0] * len(extents), 1
    for d in range(len(extents)) if order == "F" else reversed(range(len(extents))):
        steps[d] = step
        step *= extents[d]
    return steps


def put(x: Any, indices: Any, vals: Any, /, *, axis: int | None = None, mode: str = "wrap") -> None:
    """Store values at places along an axis, which arrays of one dimension do not need to be told.

    Parameters
    ----------
    x : Array
        Written in place.
    indices : Array
        Of integers, one dimension.
    vals : Array or number
        Broadcast to the places.
    axis : int, optional
        The axis.
    mode : {'wrap', 'clip'}
        Places beyond the ends are those at the ends; negative ones count from the end, with 'clip' they are the first.

    Raises
    ------
    ValueError
        `axis` is needed, `mode` is something else, `indices` has not one dimension, or the values do not fit.
    TypeError
        `x` is not an array.
    """
    if type(x) is not Array:
        raise TypeError(f"put: an array is expected, not {type(x).__name__}")
    if mode not in ("wrap", "clip"):
        raise ValueError(f"put: mode is 'wrap' or 'clip', not {mode!r}")
    if axis is None and x.ndim != 1:
        raise ValueError(f"put: axis is needed for an array of {x.ndim} dimensions")
    places = pardo.asarray(indices)
    if places.ndim != 1:
        raise ValueError(f"put: indices have one dimension, not {places.ndim}")
    along = _axis_index(0 if axis is None else axis, x.ndim, "put")
    n = x.shape[along]
    places = pardo.clip(places, -n if mode == "wrap" else 0, n - 1)
    x[(slice(None),) * along + (places,)] = vals


dtype = np.dtype


def _finished(result: Any, out: Any, dtype: Any) -> Any:
    """A result in the dtype and the array that are asked for."""
    if dtype is not None:
        result = result.astype(dtype)
    if out is None:
        return result
    out[...] = result
    return out


def _as_float(x: Any) -> Any:
    return x if x.dtype.kind in "fc" else x.astype(_arrays.namespace("result_type")(x.dtype, 1.0))


def rsqrt(x: Any, /, out: Any = None, order: str = "K") -> Any:
    """Give one divided by the square root of each element."""
    return _finished(1 / pardo.sqrt(x), out, None)


def logsumexp(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False, out: Any = None) -> Any:
    """Give the logarithm of the sum of the exponentials along axes, without undue overflow."""
    return _finished(pardo.special.logsumexp(_as_float(x), axis=axis, keepdims=keepdims), out, dtype)


def cumulative_logsumexp(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False, out: Any = None) -> Any:
    """Give the logarithms of running sums of exponentials along an axis, which arrays of one dimension do not need to be told."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"cumulative_logsumexp: axis is needed for an array of {x.ndim} dimensions")
    along = 0 if axis is None else axis
    y = _as_float(x)
    result = pardo.logaddexp.accumulate(y, axis=along)
    if include_initial:
        shape = list(x.shape)
        shape[along] = 1
        result = pardo.concat([pardo.full(shape, -pardo.inf, dtype=y.dtype, queue=y.queue), result], axis=along)
    return _finished(result, out, dtype)


def reduce_hypot(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False, out: Any = None) -> Any:
    """Give the square root of the sum of squares along axes, without undue overflow."""
    y = pardo.abs(_as_float(x))
    most = pardo.max(y, axis=axis, keepdims=True) if y.size else pardo.zeros((1,) * y.ndim, dtype=y.dtype, queue=y.queue)
    scale = pardo.where((most > 0) & pardo.isfinite(most), most, 1)
    total = pardo.sqrt(pardo.sum((y / scale) ** 2, axis=axis, keepdims=keepdims))
    return _finished(total * (scale if keepdims else pardo.reshape(scale, total.shape)), out, dtype)


def top_k(x: Any, k: int, /, *, axis: int | None = None, mode: str = "largest") -> Any:
    """Give the `k` largest or smallest elements along an axis, of all where none is given, and their places."""
    if mode not in ("largest", "smallest"):
        raise ValueError(f"top_k: mode is 'largest' or 'smallest', not {mode!r}")
    return pardo.top_k(pardo.reshape(x, (-1,)) if axis is None else x, k, axis=-1 if axis is None else axis, largest=mode == "largest")


def set_print_options(**options: Any) -> None:
    """Set how arrays are printed: those of `set_printoptions`; a `numpy` that is true does nothing more, because NumPy's are these."""
    options.pop("numpy", None)
    pardo.set_printoptions(**options)


def get_print_options() -> dict[str, Any]:
    """Give how arrays are printed."""
    return dict(pardo.get_printoptions())


def print_options(**options: Any) -> Any:
    """Set how arrays are printed inside of a `with` block."""
    return pardo.printoptions(**options)


def usm_ndarray_repr(x: Any, **options: Any) -> str:
    """Give ``repr(x)``, with other options for printing."""
    with pardo.printoptions(**{k: v for k, v in options.items() if k != "prefix"}):
        return repr(x)


def usm_ndarray_str(x: Any, **options: Any) -> str:
    """Give ``str(x)``, with other options for printing."""
    with pardo.printoptions(**{k: v for k, v in options.items() if k != "prefix"}):
        return str(x)


_INSTEAD = {"to_numpy": "", "dldevice_to_sycl_device sycl_device_to_dldevice DLDeviceType": "use from_dlpack and __dlpack__"}


def __getattr__(name: str) -> Any:
    """Give pardo's function of that name."""
    return _arrays.served(__name__, globals(), name, _INSTEAD)


def __dir__() -> list[str]:
    """The names."""
    return _arrays.names(globals())


_show_module(globals())
