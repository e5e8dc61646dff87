# python/pardo/_fft/cosines.py: cosine and sine transforms.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pardo import _core
from pardo._base.arguments import array, axis_index, flag, index
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._fft.arguments import COSINE, SINE, checked_points, factor, sequence

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "idct",
    "idctn",
    "idst",
    "idstn",
]

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _transform(
    x: Array, kind: int, lengths: list[int], axes: list[int], type: Any, norm: Any, orthogonalize: Any, forward: bool, op_name: str
) -> Array:
    which = index(type, f"{op_name}: type")
    if which not in _INVERSE:
        raise ValueError(f"{op_name}: type is {which}; it must be 1, 2, 3 or 4")
    if kind == COSINE and which == 1 and min(lengths) < 2:
        raise ValueError(f"{op_name}: the transform of type 1 is not defined for fewer than two points")
    more = 0 if which != 1 else -1 if kind == COSINE else 1
    scale = factor(norm, [2 * (n + more) for n in lengths], forward, op_name)
    orthogonal = norm == "ortho" if orthogonalize is None else flag(orthogonalize, f"{op_name}: orthogonalize")
    which = which if forward else _INVERSE[which]

    def real(part: Array) -> Array:
        return _core._fft(part, kind, forward, scale, which, orthogonal, lengths, axes, op_name)

    if x.dtype.kind != "c":
        return real(x)
    parts = [real(_core._part(x, 0)), real(_core._part(x, 1))]
    result = _core._empty(list(parts[0].shape), x.dtype, x.queue)
    for place, part in enumerate(parts):
        _core._part(result, place)._assign(part)
    return result


def _along_one(x: Any, kind: int, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any, forward: bool, op_name: str) -> Array:
    x = array(x, op_name)
    at = axis_index(axis, x.ndim, op_name)
    points = checked_points(x.shape[at] if n is None else n, op_name)
    return _transform(x, kind, [points], [at], type, norm, orthogonalize, forward, op_name)


def _along_many(x: Any, kind: int, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any, forward: bool, op_name: str) -> Array:
    signal: Array = array(x, op_name)
    given = None if s is None else sequence(s, f"{op_name}: s", one=True)
    if axes is not None:
        named = sequence(axes, f"{op_name}: axes", one=True)
    else:
        named = list(range(-(signal.ndim if given is None else len(given)), 0))
    along = [axis_index(axis, signal.ndim, op_name) for axis in named]
    if len(set(along)) != len(along):
        raise ValueError(f"{op_name}: all axes must be unique, not {axes!r}")
    if given is not None and len(given) != len(along):
        raise ValueError(f"{op_name}: when given, axes and s have to be of the same length, not {len(along)} and {len(given)}")
    wanted = [-1] * len(along) if given is None else [index(n, f"{op_name}: s") for n in given]
    lengths = [checked_points(signal.shape[axis] if n == -1 else n, op_name) for n, axis in zip(wanted, along, strict=True)]
    if not along:
        return signal
    return _transform(signal, kind, lengths, along, type, norm, orthogonalize, forward, op_name)


@filled
def dct(
    x: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Array:
    """Return the Discrete Cosine Transform of arbitrary type sequence x.

    Parameters
    ----------
    x : Array
        The signal. Of complex numbers the real and the imaginary parts are transformed.
    type : {1, 2, 3, 4}
        The kind of transform, as SciPy counts them.
    {fft_n}
    {fft_axis}
    {cosine_norm}
    {orthogonalize}

    Returns
    -------
    Array
        The transform, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128.

    Raises
    ------
    {cosine_raises}

    See Also
    --------
    idct, dctn, dst, fft

    Notes
    -----
    {cosine_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.dct(pp.asarray([1.0, 1.0, 1.0, 1.0]))
    array([8., 0., 0., 0.])
    """
    return _along_one(x, COSINE, type, n, axis, norm, orthogonalize, True, "dct")


@filled
def idct(
    x: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Array:
    """Return the Inverse Discrete Cosine Transform of an arbitrary type sequence.

    Parameters
    ----------
    x : Array
        The transform. Of complex numbers the real and the imaginary parts are transformed.
    type : {1, 2, 3, 4}
        The kind of the transform that is undone, as SciPy counts them.
    {fft_n}
    {fft_axis}
    {cosine_norm}
    {orthogonalize}

    Returns
    -------
    Array
        The signal, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128.

    Raises
    ------
    {cosine_raises}

    See Also
    --------
    dct, idctn

    Notes
    -----
    {cosine_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.idct(pp.asarray([8.0, 0.0, 0.0, 0.0]))
    array([1., 1., 1., 1.])
    """
    return _along_one(x, COSINE, type, n, axis, norm, orthogonalize, False, "idct")


@filled
def dst(
    x: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Array:
    """Return the Discrete Sine Transform of arbitrary type sequence x.

    Parameters
    ----------
    x : Array
        The signal. Of complex numbers the real and the imaginary parts are transformed.
    type : {1, 2, 3, 4}
        The kind of transform, as SciPy counts them.
    {fft_n}
    {fft_axis}
    {cosine_norm}
    {orthogonalize}

    Returns
    -------
    Array
        The transform, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128.

    Raises
    ------
    {cosine_raises}

    See Also
    --------
    idst, dstn, dct, fft

    Notes
    -----
    {cosine_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.dst(pp.asarray([1.0, 0.0, 0.0])).round(3)
    array([1.   , 1.732, 2.   ])
    """
    return _along_one(x, SINE, type, n, axis, norm, orthogonalize, True, "dst")


@filled
def idst(
    x: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Array:
    """Return the Inverse Discrete Sine Transform of an arbitrary type sequence.

    Parameters
    ----------
    x : Array
        The transform. Of complex numbers the real and the imaginary parts are transformed.
    type : {1, 2, 3, 4}
        The kind of the transform that is undone, as SciPy counts them.
    {fft_n}
    {fft_axis}
    {cosine_norm}
    {orthogonalize}

    Returns
    -------
    Array
        The signal, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128.

    Raises
    ------
    {cosine_raises}

    See Also
    --------
    dst, idstn

    Notes
    -----
    {cosine_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([1.0, -2.0, 4.0])
    >>> pp.allclose(pp.fft.idst(pp.fft.dst(x)), x)
    True
    """
    return _along_one(x, SINE, type, n, axis, norm, orthogonalize, False, "idst")


@filled
def dctn(
    x: Any,
    type: int = 2,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Array:
    """Return multidimensional Discrete Cosine Transform along the specified axes.

    Parameters
    ----------
    x : Array
        The signal. Of complex numbers the real and the imaginary parts are transformed.
    type : {1, 2, 3, 4}
        The kind of transform, as SciPy counts them.
    {cosine_s}
    {cosine_axes}
    {cosine_norm}
    {orthogonalize}

    Returns
    -------
    Array
        The transform, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128.

    Raises
    ------
    {cosine_n_raises}

    See Also
    --------
    idctn, dct, dstn

    Notes
    -----
    {cosine_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.dctn(pp.ones((2, 2)))
    array([[16.,  0.],
           [ 0.,  0.]])
    """
    return _along_many(x, COSINE, type, s, axes, norm, orthogonalize, True, "dctn")


@filled
def idctn(
    x: Any,
    type: int = 2,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Array:
    """Return multidimensional Inverse Discrete Cosine Transform along the specified axes.

    Parameters
    ----------
    x : Array
        The transform. Of complex numbers the real and the imaginary parts are transformed.
    type : {1, 2, 3, 4}
        The kind of the transform that is undone, as SciPy counts them.
    {cosine_s}
    {cosine_axes}
    {cosine_norm}
    {orthogonalize}

    Returns
    -------
    Array
        The signal, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128.

    Raises
    ------
    {cosine_n_raises}

    See Also
    --------
    dctn, idct

    Notes
    -----
    {cosine_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.idctn(pp.asarray([[16.0, 0.0], [0.0, 0.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    return _along_many(x, COSINE, type, s, axes, norm, orthogonalize, False, "idctn")


@filled
def dstn(
    x: Any,
    type: int = 2,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Array:
    """Return multidimensional Discrete Sine Transform along the specified axes.

    Parameters
    ----------
    x : Array
        The signal. Of complex numbers the real and the imaginary parts are transformed.
    type : {1, 2, 3, 4}
        The kind of transform, as SciPy counts them.
    {cosine_s}
    {cosine_axes}
    {cosine_norm}
    {orthogonalize}

    Returns
    -------
    Array
        The transform, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128.

    Raises
    ------
    {cosine_n_raises}

    See Also
    --------
    idstn, dst, dctn

    Notes
    -----
    {cosine_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.dstn(pp.ones((2, 3)), axes=[1]).round(6)
    array([[4., 0., 2.],
           [4., 0., 2.]])
    """
    return _along_many(x, SINE, type, s, axes, norm, orthogonalize, True, "dstn")


@filled
def idstn(
    x: Any,
    type: int = 2,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Array:
    """Return multidimensional Inverse Discrete Sine Transform along the specified axes.

    Parameters
    ----------
    x : Array
        The transform. Of complex numbers the real and the imaginary parts are transformed.
    type : {1, 2, 3, 4}
        The kind of the transform that is undone, as SciPy counts them.
    {cosine_s}
    {cosine_axes}
    {cosine_norm}
    {orthogonalize}

    Returns
    -------
    Array
        The signal, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128.

    Raises
    ------
    {cosine_n_raises}

    See Also
    --------
    dstn, idst

    Notes
    -----
    {cosine_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[1.0, -2.0], [4.0, 3.0]])
    >>> pp.allclose(pp.fft.idstn(pp.fft.dstn(x)), x)
    True
    """
    return _along_many(x, SINE, type, s, axes, norm, orthogonalize, False, "idstn")
