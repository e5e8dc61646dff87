# python/pardo/compat/dpctl/tensor.py: dpctl.tensor's names over arrays.
"""Arrays by dpctl's names: those of the array API standard, with ``sycl_queue=``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pardo
from pardo._base.public_names import show_module as _show_module
from pardo.compat import _arrays


class usm_ndarray(metaclass=_arrays.Constructor):  # noqa: N801 (dpctl's name)
    """The class of arrays; called, it makes one that is not initialised: ``usm_ndarray(shape, dtype=None, buffer="device")``."""

    @staticmethod
    def _make(shape: Any, dtype: Any = None, buffer: Any = "device", order: str = "C", buffer_ctor_kwargs: Any = None) -> Any:
        keywords = {k: v for k, v in (buffer_ctor_kwargs or {}).items() if k == "queue"}
        if not isinstance(buffer, str):
            raise TypeError("usm_ndarray: buffer is 'device', 'shared' or 'host'; for memory that is there use its method array()")
        return _arrays.namespace("empty")(shape, dtype=dtype, order=order, usm_type=buffer, sycl_queue=keywords.get("queue"))


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
