# python/pardo/_plugins/joblib_arrays.py: arrays as arguments of joblib's workers: large ones go by files that are mapped, as NumPy's do.
from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._array.interop import _rebuild, asnumpy, host_view
from pardo._base.orders import axes_like
from pardo._core import Array, _permute_dims


def register() -> None:
    """Register with the pickler of joblib's processes."""
    reduction: Any = sys.modules["joblib.externals.loky.backend.reduction"]
    reduction.register(Array, _reduced)


def _reduced(x: Array) -> tuple[Any, ...]:
    """As a NumPy array, which the pickler sends as it sends others, and the place."""
    axes = axes_like(x, "K")
    y = x if axes is None else _permute_dims(x, list(axes))
    seen = host_view(y)
    host = asnumpy(y) if seen is None else seen
    return _made, (host, x.shape, x.device.id, x.usm_type, None if axes is None else tuple(axes))


def _made(host: NDArray[Any], shape: tuple[int, ...], device: str, usm_type: str, axes: tuple[int, ...] | None) -> Array:
    return _rebuild(np.ascontiguousarray(host).reshape(-1).view(np.uint8), host.dtype.str, shape, device, usm_type, axes)
