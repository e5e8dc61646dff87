# python/pardo/compat/dpnp/__init__.py: dpnp's names over arrays.
"""NumPy's names as dpnp has them: ``import pardo.compat.dpnp as dpnp``.

They are pardo's functions; those that make arrays take ``sycl_queue=`` too. Operations are recorded and fused, as in pardo.
"""

from __future__ import annotations

import importlib as _importlib
from typing import Any

import numpy as _np
import pardo as _pardo
from pardo import Array as ndarray  # noqa: N813
from pardo import signal as _signal
from pardo._extending import copying as _copying
from pardo._extending import default_on as _default_on
from pardo._extending import mode_of as _mode_of
from pardo._extending import show_module as _show_module
from pardo._extending import two_sequences as _two_sequences
from pardo._extending import word as _word
from pardo.compat import _arrays
from pardo.compat._names import placed as _placed

__all__ = ["ndarray"]

_INSTEAD = {"get_include": "use pardo.get_include(), the folder of pardo/c_api.h", "config": "there is nothing to configure"}


def default_float_type(device: Any = None, sycl_queue: Any = None) -> Any:
    """Give the dtype of floats on a device where none is named: float64, or float32 where the device has no float64.

    Parameters
    ----------
    device : Device, str, SyclQueue or Queue, optional
        Default: the default device.
    sycl_queue : SyclQueue or Queue, optional
        The same.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    TypeError
        Both are given.
    ValueError
        There is no such device.

    Examples
    --------
    >>> import pardo.compat.dpnp as dpnp
    >>> dpnp.default_float_type("cpu")
    dtype('float64')
    """
    return _default_on(_placed("default_float_type", device, sycl_queue), _np.float64)


def is_supported_array_type(a: Any) -> bool:
    """Tell whether it is an array of pardo's."""
    return type(a) is ndarray


def _by_method(op_name: str, a: Any, v: Any, mode: Any, method: Any) -> ndarray:
    how = _word(method, f"{op_name}: method", ("auto", "direct", "fft"))
    if how == "auto":
        return getattr(_pardo, op_name)(a, v, mode)  # type: ignore[no-any-return]
    kind, (x, y) = _mode_of(mode, op_name), _two_sequences(a, v, op_name)
    every: ndarray = getattr(_signal, op_name)(x, y, "full", how)
    if kind == "full":
        return every
    n, m = max(x.size, y.size), min(x.size, y.size)
    if kind == "valid":
        return every[m - 1 : n]
    first = (m - 1) // 2 if op_name == "convolve" or x.size >= y.size else m // 2
    return every[first : first + n]


@_copying
def convolve(a: Any, v: Any, mode: Any = "full", method: str = "auto") -> ndarray:
    """Return the convolution of two sequences: `pardo.convolve`.

    Parameters
    ----------
    a, v : Array
        The sequences.
    mode : {'full', 'same', 'valid'}
        Which sums.
    method : {'auto', 'direct', 'fft'}
        Sums of products, Fourier transforms, or what is faster.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        There is no such mode or method, or a sequence is empty.

    Examples
    --------
    >>> import pardo.compat.dpnp as dpnp
    >>> dpnp.convolve(dpnp.arange(3), dpnp.ones(2), method="direct")
    array([0., 1., 3., 2.])
    """
    return _by_method("convolve", a, v, mode, method)


@_copying
def correlate(a: Any, v: Any, mode: Any = "valid", method: str = "auto") -> ndarray:
    """Return the correlation of two sequences, the second conjugated: `pardo.correlate`.

    Parameters
    ----------
    a, v : Array
        The sequences.
    mode : {'valid', 'same', 'full'}
        Which sums.
    method : {'auto', 'direct', 'fft'}
        Sums of products, Fourier transforms, or what is faster.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        There is no such mode or method, or a sequence is empty.

    Examples
    --------
    >>> import pardo.compat.dpnp as dpnp
    >>> dpnp.correlate(dpnp.arange(3), dpnp.ones(2), method="direct")
    array([1., 3.])
    """
    return _by_method("correlate", a, v, mode, method)


def __getattr__(name: str) -> Any:
    """Give pardo's function of that name."""
    if name == "random":
        return _importlib.import_module("pardo.compat.dpnp.random")
    if name == "erf":
        from pardo import special

        return special.erf
    if name in (
        "dtype",
        "finfo",
        "iinfo",
        "integer",
        "floating",
        "complexfloating",
        "inexact",
        "number",
        "signedinteger",
        "unsignedinteger",
    ):
        return getattr(_np, name)
    return _arrays.served(__name__, globals(), name, _INSTEAD)


def __dir__() -> list[str]:
    """The names."""
    return _arrays.names(globals())


_show_module(globals())
