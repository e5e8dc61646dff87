# python/pardo/_array/printing.py: how arrays look: as NumPy's do. Only what is shown is brought to the host.
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._array.interop import asnumpy, host_view
from pardo._base import face
from pardo._base.notebook import ShownValues, bundle, is_image
from pardo._base.sizes import with_bytes
from pardo._core import Array


def shown(x: Array, edgeitems: int | None = None, threshold: int | None = None) -> NDArray[Any]:
    """The array on the host; of large ones on other devices, the edges that NumPy prints, in memory that is never touched between."""
    seen = host_view(x)
    if seen is not None:
        return seen
    options = np.get_printoptions()
    edge = int(options["edgeitems"] if edgeitems is None else edgeitems)
    if x.size <= (options["threshold"] if threshold is None else threshold):
        return asnumpy(x)
    host = np.zeros(x.shape, x.dtype)
    ends = [[slice(None)] if n <= 2 * edge else [slice(0, edge), slice(n - edge, n)] for n in x.shape]
    for corner in itertools.product(*ends):
        host[corner] = asnumpy(x[corner])
    return host


def array_repr(x: Array) -> str:
    """As NumPy shows the same values: ``array([1., 2.])``."""
    return np.array_repr(shown(x))


def array_str(x: Array) -> str:
    """As NumPy prints the same values: ``[1. 2.]``."""
    return np.array_str(shown(x))


def _shown_values(x: Array) -> ShownValues:
    """What a notebook shows of it."""
    pending = x.pending
    facts = (f"shape {x.shape}", str(x.dtype), with_bytes(x.nbytes), x.device.id)
    return ShownValues("Array", facts, pending, x.nbytes, lambda: array_repr(x), lambda: f"{x.memory_kind} memory")


def _picture(x: Array) -> str:
    """A small picture of an image whose values have been shown."""
    return face.file("pictures in notebooks").of_array(x) if is_image(x.shape, x.dtype) else ""


def array_html(x: Array) -> str:
    """For notebooks: a line of facts and a picture of what is an image, above the values."""
    return _shown_values(x).html(lambda: _picture(x))


def array_mimebundle(x: Array, include: Any = None, exclude: Any = None) -> dict[str, Any]:
    """For notebooks: all formats at once, so that a failure comes once."""
    return bundle(lambda: _shown_values(x), lambda: _picture(x))


def array_format(x: Array, spec: str, /) -> str:
    """A 0-d array is formatted as its number is."""
    if x.ndim == 0:
        return format(x.item(), spec)
    if spec:
        raise TypeError("unsupported format string passed to pardo.Array.__format__")
    return array_str(x)
