# python/pardo/_plugins/joblib_arrays.py: arrays as arguments of joblib's workers: large ones go by files that are mapped, as NumPy's do.
from __future__ import annotations

import sys
import threading
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._array.interop import _rebuild, asnumpy, host_view, shared_as_lying
from pardo._base.arguments import HOST
from pardo._base.orders import axes_like
from pardo._core import Array, Device, _permute_dims


def register() -> None:
    """Register with the pickler of joblib's processes."""
    reduction: Any = sys.modules["joblib.externals.loky.backend.reduction"]
    reduction.register(Array, _reduced)


_views: dict[int, tuple[NDArray[Any], tuple[int, ...] | None]] = {}  # by the address of an array that lives
_lock = threading.RLock()


def _reduced(x: Array) -> tuple[Any, ...]:
    """As a NumPy array, which the pickler sends as it sends others, and the place."""
    with _lock:
        host, axes = _seen(x)
    return _made, (host, x.shape, x.device.id, x.usm_type, axes)


def _seen(x: Array) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """The same object each time: joblib writes what it has written for another task not once more, and knows arrays by that."""
    found = _views.get(id(x))
    if found is None:
        axes = axes_like(x, "K")
        y = x[...] if axes is None else _permute_dims(x, list(axes))  # another one, since a view keeps what it is of
        seen = host_view(y)
        found = asnumpy(y) if seen is None else seen, None if axes is None else tuple(axes)
        if seen is not None:
            _views[id(x)] = found
            weakref.finalize(x, _views.pop, id(x), None).atexit = False
    return found


def _made(host: NDArray[Any], shape: tuple[int, ...], device: str, usm_type: str, axes: tuple[int, ...] | None) -> Array:
    """In the memory of the file where joblib has mapped one, as NumPy's arrays are; read-only as they are."""
    if isinstance(host, np.memmap) and device == Device(HOST).id and Device(HOST)._in_host_memory:
        return shared_as_lying(np.asarray(host), axes)
    return _rebuild(np.ascontiguousarray(host).reshape(-1).view(np.uint8), host.dtype.str, shape, device, usm_type, axes)
