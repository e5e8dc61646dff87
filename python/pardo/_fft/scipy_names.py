# python/pardo/_fft/scipy_names.py: Fourier, cosine and sine transforms with SciPy's parameters: the same ones, asked for in another way.
from __future__ import annotations

import contextlib
import contextvars
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from pardo import _core
from pardo._base.arguments import DeviceLike, array, index
from pardo._base.promotion import is_narrow
from pardo._core import Array
from pardo._fft import frequencies, transforms
from pardo._fft.arguments import sequence
from pardo._fft.frequencies import fftshift, ifftshift, next_fast_len, prev_fast_len
from pardo._functions.operands import cast

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "get_workers",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "prev_fast_len",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "set_workers",
]

F = TypeVar("F", bound=Callable[..., Array])

_workers: contextvars.ContextVar[int] = contextvars.ContextVar("pardo.scipy.fft.workers", default=1)

_IN_PLACE = """overwrite_x : bool
    SciPy's; the elements stay as they are.
workers : int, optional
    SciPy's number of threads. It is checked, and has no effect: all cores take part (`PARDO_NUM_THREADS`)."""
_PLAN = """
plan : None
    SciPy's; there are no plans."""


class _OneAxis(Protocol):
    def __call__(
        self,
        x: Any,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Array: ...


class _ManyAxes(Protocol):
    def __call__(
        self,
        x: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = ...,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Array: ...


class _Real(Protocol):
    def __call__(
        self,
        x: Any,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
    ) -> Array: ...


class _RealAxes(Protocol):
    def __call__(
        self,
        x: Any,
        type: int = 2,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
    ) -> Array: ...


def _check(workers: Any, plan: Any, op_name: str) -> None:
    if plan is not None:
        raise NotImplementedError(f"{op_name}: plan must be None: plans made before are not used, as in scipy.fft")
    if workers is not None:
        _number_of_workers(workers, op_name)


def _number_of_workers(workers: Any, op_name: str) -> int:
    number, most = index(workers, f"{op_name}: workers"), os.cpu_count() or 1
    if number == 0:
        raise ValueError(f"{op_name}: workers must not be zero")
    if number < -most:
        raise ValueError(f"{op_name}: workers value out of range; got {number}, must not be less than {-most}")
    return number if number > 0 else number + 1 + most


def _operand(x: Any, op_name: str) -> Array:
    """As SciPy takes it: float16 is computed, and given, in float32."""
    a = array(x, op_name)
    return cast(a, np.dtype(np.float32)) if is_narrow(a.dtype) else a


def _along(x: Array, s: Any, axes: Any, op_name: str) -> tuple[Any, Any]:
    """By SciPy's rules: lengths alone are those of the last axes, and no axis is named twice."""
    lengths = None if s is None else sequence(s, f"{op_name}: s", one=True)
    if axes is None:
        return lengths, None if lengths is None else range(-len(lengths), 0)
    named = sequence(axes, f"{op_name}: axes", one=True)
    if len({k % x.ndim if isinstance(k, int) and x.ndim else k for k in named}) != len(named):
        raise ValueError(f"{op_name}: all axes must be unique, not {axes!r}")
    return lengths, named


def _described(f: F, name: str, document: str | None, after: str) -> F:
    """The function by its public name, with the text of NumPy's, in which SciPy's parameters stand."""
    made: Any = f
    made.__name__ = made.__qualname__ = name
    if document:
        text = re.sub(r"(?ms)^( *)out : .*?\n(?=\n)", "", document)
        text = re.sub(r"(?m)^( *)a : Array$", r"\1x : Array", text).replace("`a`", "`x`")
        pad = re.findall(r"(?m)^( *)Parameters$", text)[0]
        entries = "\n".join(pad + line if line else line for line in after.split("\n"))
        text = re.sub(r"(?ms)(^ *Parameters\n.*?)\n*(\n *Returns\n)", lambda m: f"{m[1]}\n{entries}\n{m[2]}", text, count=1)
        text = re.sub(r", or `out` is not an Array\s+or of a dtype of another kind", "", text)
        text = re.sub(r", or the shape of\s+`out`\s+does not fit", "", text)
        text = re.sub(r"\n *SciPy's `overwrite_x` and `workers` are not taken: [^\n]*", "", text)
        f.__doc__ = text.replace("pp.fft.", "pp.scipy.fft.")
    return f


def _one_axis(name: str) -> _OneAxis:
    own: Callable[..., Array] = getattr(transforms, name)

    def transform(
        x: Any,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Array:
        _check(workers, plan, name)
        return own(_operand(x, name), n, axis, norm)

    return _described(transform, name, own.__doc__, _IN_PLACE + _PLAN)


def _many_axes(name: str, function: Any = None) -> _ManyAxes:
    """Along the last two axes, if the name says so, else along all; `function` stands for what NumPy has not."""
    own: Callable[..., Array] = function or getattr(transforms, name)

    def transform(
        x: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = (-2, -1) if name.endswith("2") else None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Array:
        _check(workers, plan, name)
        a = _operand(x, name)
        return own(a, *_along(a, s, axes, name), norm)

    return _described(transform, name, own.__doc__, _IN_PLACE + _PLAN)


def _real(name: str) -> _Real:
    own: Callable[..., Array] = getattr(transforms, name)

    def transform(
        x: Any,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
    ) -> Array:
        _check(workers, None, name)
        return own(x, type, n, axis, norm, orthogonalize=orthogonalize)

    return _described(transform, name, own.__doc__, _IN_PLACE)


def _real_axes(name: str) -> _RealAxes:
    own: Callable[..., Array] = getattr(transforms, name)

    def transform(
        x: Any,
        type: int = 2,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
    ) -> Array:
        _check(workers, None, name)
        return own(x, type, s, axes, norm, orthogonalize=orthogonalize)

    return _described(transform, name, own.__doc__, _IN_PLACE)


fft: _OneAxis = _one_axis("fft")
ifft: _OneAxis = _one_axis("ifft")
rfft: _OneAxis = _one_axis("rfft")
irfft: _OneAxis = _one_axis("irfft")
hfft: _OneAxis = _one_axis("hfft")
ihfft: _OneAxis = _one_axis("ihfft")
fft2: _ManyAxes = _many_axes("fft2")
ifft2: _ManyAxes = _many_axes("ifft2")
rfft2: _ManyAxes = _many_axes("rfft2")
irfft2: _ManyAxes = _many_axes("irfft2")
fftn: _ManyAxes = _many_axes("fftn")
ifftn: _ManyAxes = _many_axes("ifftn")
rfftn: _ManyAxes = _many_axes("rfftn")
irfftn: _ManyAxes = _many_axes("irfftn")
dct: _Real = _real("dct")
idct: _Real = _real("idct")
dst: _Real = _real("dst")
idst: _Real = _real("idst")
dctn: _RealAxes = _real_axes("dctn")
idctn: _RealAxes = _real_axes("idctn")
dstn: _RealAxes = _real_axes("dstn")
idstn: _RealAxes = _real_axes("idstn")

_OTHER_WAY = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _other_way(norm: Any, op_name: str) -> str:
    """The norm of an inverse transform that does what a forward one of this norm does."""
    if norm is None or (isinstance(norm, str) and norm in _OTHER_WAY):
        return _OTHER_WAY[norm]
    raise ValueError(f'{op_name}: Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def _hermitian(name: str) -> Any:
    def own(a: Array, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
        return transforms.irfftn(_core.conjugate(a), s, axes, _other_way(norm, name))

    return _described(own, name, _HERMITIAN.replace("{name}", name), "")


def _to_hermitian(name: str) -> Any:
    def own(a: Array, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
        return _core.conjugate(transforms.rfftn(a, s, axes, _other_way(norm, name)))

    return _described(own, name, _TO_HERMITIAN.replace("{name}", name), "")


_HERMITIAN = """Compute the discrete Fourier Transform of a signal that has Hermitian symmetry, along several axes: a real spectrum.

    Parameters
    ----------
    x : Array
        Half of the signal along the last axis; the other half is its conjugate.
    s : int or sequence of int, optional
        The extents of the axes in the result. Default: those of `x`, and ``2 * (m - 1)`` for `m` points along the last axis.
    axes : int or sequence of int, optional
        The axes. Default: the last two of `hfft2`; of `hfftn` all, or the last ones if there is `s`.
    norm : {'backward', 'ortho', 'forward'}, optional
        By what the result is divided: nothing, the root of the number of points, or that number. Default: 'backward'.

    Returns
    -------
    Array
        The spectrum: float32 for float16, float32 and complex64, else float64.

    Raises
    ------
    AxisError
        `x` has no such axis; a ValueError and an IndexError.
    TypeError
        `x` is neither an Array nor a number, or lengths or axes are not integers.
    ValueError
        A length is less than one, axes are named twice, or `norm` is something else.

    See Also
    --------
    hfft, ihfftn, irfftn

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.fft.{name}(pp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    array([[10., -2.],
           [-4.,  0.]])
    """

_TO_HERMITIAN = """Compute the inverse discrete Fourier Transform of a real spectrum along several axes: half of a Hermitian signal.

    Parameters
    ----------
    x : Array
        The spectrum, real.
    s : int or sequence of int, optional
        How many points are transformed along each axis: what is longer is cut off, and what is shorter is filled up with zeros.
    axes : int or sequence of int, optional
        The axes. Default: the last two of `ihfft2`; of `ihfftn` all, or the last ones if there is `s`.
    norm : {'backward', 'ortho', 'forward'}, optional
        By what the result is divided: the number of points, the root of it, or nothing. Default: 'backward'.

    Returns
    -------
    Array
        The signal, of half the extent and one more along the last axis: complex64 for float16 and float32, else complex128.

    Raises
    ------
    AxisError
        `x` has no such axis; a ValueError and an IndexError.
    TypeError
        `x` is neither an Array nor a number, or complex; or lengths or axes are not integers.
    ValueError
        A length is less than one, axes are named twice, or `norm` is something else.

    See Also
    --------
    ihfft, hfftn, rfftn

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.fft.{name}(pp.asarray([[10.0, -2.0], [-4.0, 0.0]])).real
    array([[1., 2.],
           [3., 4.]])
    """

hfft2: _ManyAxes = _many_axes("hfft2", _hermitian("hfft2"))
hfftn: _ManyAxes = _many_axes("hfftn", _hermitian("hfftn"))
ihfft2: _ManyAxes = _many_axes("ihfft2", _to_hermitian("ihfft2"))
ihfftn: _ManyAxes = _many_axes("ihfftn", _to_hermitian("ihfftn"))


def fftfreq(n: int, d: Any = 1.0, *, xp: Any = None, device: DeviceLike = None) -> Array:
    """Return the Discrete Fourier Transform sample frequencies.

    Parameters
    ----------
    n : int
        The number of points.
    d : number
        The distance of samples.
    xp : module, optional
        SciPy's choice of a library of arrays. It has no effect.
    device : Device or str, optional
        Where the result is. Default: the default device.

    Returns
    -------
    Array of shape (n,)
        The frequencies, in the order of the results of `fft`.

    Raises
    ------
    ValueError
        `n` is not an integer, or negative.

    See Also
    --------
    rfftfreq

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    return frequencies.fftfreq(n, d, device)


def rfftfreq(n: int, d: Any = 1.0, *, xp: Any = None, device: DeviceLike = None) -> Array:
    """Return the Discrete Fourier Transform sample frequencies (for usage with rfft, irfft).

    Parameters
    ----------
    n : int
        The number of points.
    d : number
        The distance of samples.
    xp : module, optional
        SciPy's choice of a library of arrays. It has no effect.
    device : Device or str, optional
        Where the result is. Default: the default device.

    Returns
    -------
    Array of shape (n // 2 + 1,)
        The frequencies, which are not negative.

    Raises
    ------
    ValueError
        `n` is not an integer, or negative.

    See Also
    --------
    fftfreq

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    return frequencies.rfftfreq(n, d, device)


@contextlib.contextmanager
def set_workers(workers: int) -> Iterator[None]:
    """Set the number of workers that `get_workers` gives inside of a `with` block.

    Parameters
    ----------
    workers : int
        SciPy's number of threads; negative ones count from the number of processors. It has no other effect: all cores take part.

    Yields
    ------
    None
        Nothing.

    Raises
    ------
    TypeError
        `workers` is not an integer.
    ValueError
        `workers` is zero, or less than minus the number of processors.

    Examples
    --------
    >>> import pardo as pp
    >>> with pp.scipy.fft.set_workers(2):
    ...     pp.scipy.fft.get_workers()
    2
    """
    before = _workers.set(_number_of_workers(workers, "set_workers"))
    try:
        yield
    finally:
        _workers.reset(before)


def get_workers() -> int:
    """Return the number of workers that `set_workers` was given.

    Returns
    -------
    int
        That number; 1 outside of such a block.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.fft.get_workers()
    1
    """
    return _workers.get()
