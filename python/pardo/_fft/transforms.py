# python/pardo/_fft/transforms.py: Fourier, cosine and sine transforms: a row each of names, kind, direction and texts.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from pardo._base.docstrings import document, filled
from pardo._core import Array
from pardo._fft import cosines
from pardo._fft.arguments import COMPLEX, COSINE, FROM_HALF, SINE, TO_HALF, many_axes, one_axis

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftn",
    "hfft",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftn",
]

F = TypeVar("F", bound=Callable[..., Array])


class OneAxis(Protocol):
    """A Fourier transform along one axis."""

    def __call__(self, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Array: ...


class ManyAxes(Protocol):
    """A Fourier transform along several axes."""

    def __call__(
        self,
        a: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = ...,
        norm: str | None = None,
        out: Array | None = None,
    ) -> Array: ...


class Real(Protocol):
    """A cosine or sine transform along one axis."""

    def __call__(
        self,
        x: Any,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Array: ...


class RealAxes(Protocol):
    """A cosine or sine transform along several axes."""

    def __call__(
        self,
        x: Any,
        type: int = 2,
        s: int | Sequence[int] | None = None,
        axes: int | Sequence[int] | None = None,
        norm: str | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Array: ...


def _described(f: F, name: str, summary: str, parameters: str, gives: str, family: str, see: str, example: str) -> F:
    """A function that has been made, by its name, with its text; `family` is of those that raise the same, for the same reasons."""
    made: Any = f
    made.__name__ = made.__qualname__ = name
    made.__code__ = made.__code__.replace(co_name=name, co_qualname=name)  # for tracebacks
    sections = {
        "Parameters": parameters,
        "Returns": f"Array\n    {gives}",
        "Raises": f"{{{family}_raises}}",
        "See Also": see,
        "Notes": f"{{{family.partition('_')[0].rstrip('n')}_notes}}",
        "Examples": f">>> import pardo as pp\n{example}",
    }
    f.__doc__ = document(summary, sections, 4)
    return filled(f)


def _one_axis(name: str, kind: int, forward: bool, summary: str, operand: str, *, gives: str, see: str, example: str) -> OneAxis:
    def transform(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Array:
        return one_axis(a, n, axis, norm, out, kind, forward, name)

    points = "fft_half_n" if kind == FROM_HALF else "fft_n"
    parameters = f"a : Array\n    {operand}\n{{{points}}}\n{{fft_axis}}\n{{fft_norm}}\n{{out}}"
    return _described(transform, name, summary, parameters, gives, "fft", see, example)


def _many_axes(name: str, kind: int, forward: bool, summary: str, operand: str, *, gives: str, see: str, example: str) -> ManyAxes:
    """Along the last two axes, if the name says so, else along all."""
    two = name.endswith("2")

    def transform(
        a: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = (-2, -1) if two else None,
        norm: str | None = None,
        out: Array | None = None,
    ) -> Array:
        return many_axes(a, s, axes, norm, out, kind, forward, name)

    if two:
        transform.__annotations__["axes"] = "Sequence[int]"
    points, axes = "fft_half_s" if kind == FROM_HALF else "fft_s", "fft_two_axes" if two else "fft_axes"
    parameters = f"a : Array\n    {operand}\n{{{points}}}\n{{{axes}}}\n{{fft_norm}}\n{{out}}"
    return _described(transform, name, summary, parameters, gives, "fftn", see, example)


def _described_real(f: F, name: str, forward: bool, summary: str, points: str, family: str, see: str, example: str) -> F:
    operand, gives, which = ("signal", "transform", "transform") if forward else ("transform", "signal", "the transform that is undone")
    parameters = (
        f"x : Array\n    The {operand}. Of complex numbers the real and the imaginary parts are transformed.\n"
        f"type : {{1, 2, 3, 4}}\n    The kind of {which}, as SciPy counts them.\n{points}\n{{cosine_norm}}\n{{orthogonalize}}"
    )
    gives = f"The {gives}, in float32 or complex64 for float16, float32 and complex64, else in float64 or complex128."
    return _described(f, name, summary, parameters, gives, family, see, example)


def _real(name: str, kind: int, forward: bool, summary: str, *, see: str, example: str) -> Real:
    def transform(
        x: Any,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Array:
        return cosines.along_one(x, kind, type, n, axis, norm, orthogonalize, forward, name)

    return _described_real(transform, name, forward, summary, "{fft_n}\n{fft_axis}", "cosine", see, example)


def _real_axes(name: str, kind: int, forward: bool, summary: str, *, see: str, example: str) -> RealAxes:
    def transform(
        x: Any,
        type: int = 2,
        s: int | Sequence[int] | None = None,
        axes: int | Sequence[int] | None = None,
        norm: str | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Array:
        return cosines.along_many(x, kind, type, s, axes, norm, orthogonalize, forward, name)

    return _described_real(transform, name, forward, summary, "{cosine_s}\n{cosine_axes}", "cosine_n", see, example)


# --- Fourier transforms

fft: OneAxis = _one_axis(
    "fft",
    COMPLEX,
    True,
    "Compute the one-dimensional discrete Fourier Transform.",
    "The signal, real or complex.",
    gives="The spectrum: complex64 for float16, float32 and complex64, else complex128. Frequencies are in the order of `fftfreq`.",
    see="ifft, rfft, fftn, fftfreq, next_fast_len",
    example=">>> pp.fft.fft(pp.asarray([1.0, 2.0, 0.0, 0.0]))\narray([ 3.+0.j,  1.-2.j, -1.+0.j,  1.+2.j])",
)
ifft: OneAxis = _one_axis(
    "ifft",
    COMPLEX,
    False,
    "Compute the one-dimensional inverse discrete Fourier Transform.",
    "The spectrum, with frequencies in the order of `fftfreq`.",
    gives="The signal: complex64 for float16, float32 and complex64, else complex128.",
    see="fft, irfft, ifftn",
    example=">>> pp.fft.ifft(pp.asarray([0.0, 4.0, 0.0, 0.0]))\narray([ 1.+0.j,  0.+1.j, -1.+0.j,  0.-1.j])",
)
rfft: OneAxis = _one_axis(
    "rfft",
    TO_HALF,
    True,
    "Compute the one-dimensional discrete Fourier Transform for real input.",
    "The signal, real.",
    gives="The frequencies that are not negative: the axis has length ``n // 2 + 1``. complex64 for float16 and float32, else complex128.",
    see="irfft, fft, rfftn, rfftfreq",
    example=">>> pp.fft.rfft(pp.asarray([1.0, 2.0, 0.0, 0.0]))\narray([ 3.+0.j,  1.-2.j, -1.+0.j])",
)
irfft: OneAxis = _one_axis(
    "irfft",
    FROM_HALF,
    False,
    "Compute the inverse of `rfft`.",
    "The frequencies that are not negative. The imaginary parts of the first, and of the last for an even `n`, are not looked at.",
    gives="The signal: float32 for float32 and complex64, float16 for float16, else float64.",
    see="rfft, ifft, irfftn",
    example=">>> pp.fft.irfft(pp.asarray([3.0, 1 - 2j, -1.0]))\narray([1., 2., 0., 0.])",
)
hfft: OneAxis = _one_axis(
    "hfft",
    FROM_HALF,
    True,
    "Compute the FFT of a signal that has Hermitian symmetry, i.e., a real spectrum.",
    "The half of the signal that begins at time zero.",
    gives="The spectrum, real: float32 for float32 and complex64, float16 for float16, else float64.",
    see="ihfft, irfft",
    example=">>> pp.fft.hfft(pp.asarray([1.0, 2.0, 3.0]))\narray([ 8., -2.,  0., -2.])",
)
ihfft: OneAxis = _one_axis(
    "ihfft",
    TO_HALF,
    False,
    "Compute the inverse FFT of a signal that has Hermitian symmetry.",
    "The spectrum, real.",
    gives="The half of the signal that begins at time zero: the axis has length ``n // 2 + 1``. complex64 for float16 and"
    " float32, else\n"
    "    complex128.",
    see="hfft, rfft",
    example=">>> pp.fft.ihfft(pp.asarray([8.0, -2.0, 0.0, -2.0])).real\narray([1., 2., 3.])",
)
fft2: ManyAxes = _many_axes(
    "fft2",
    COMPLEX,
    True,
    "Compute the 2-dimensional discrete Fourier Transform.",
    "The signal, real or complex.",
    gives="The spectrum: complex64 for float16, float32 and complex64, else complex128.",
    see="ifft2, fftn, fft",
    example=">>> pp.fft.fft2(pp.asarray([[1.0, 2.0], [3.0, 4.0]]))\narray([[10.+0.j, -2.+0.j],\n       [-4.+0.j,  0.+0.j]])",
)
ifft2: ManyAxes = _many_axes(
    "ifft2",
    COMPLEX,
    False,
    "Compute the 2-dimensional inverse discrete Fourier Transform.",
    "The spectrum, with frequencies in the order of `fftfreq`.",
    gives="The signal: complex64 for float16, float32 and complex64, else complex128.",
    see="fft2, ifftn, ifft",
    example=">>> pp.fft.ifft2(pp.asarray([[10.0, -2.0], [-4.0, 0.0]])).real\narray([[1., 2.],\n       [3., 4.]])",
)
fftn: ManyAxes = _many_axes(
    "fftn",
    COMPLEX,
    True,
    "Compute the N-dimensional discrete Fourier Transform.",
    "The signal, real or complex.",
    gives="The spectrum: complex64 for float16, float32 and complex64, else complex128. Without any axis it is `a`.",
    see="ifftn, fft, rfftn, fftshift",
    example=">>> pp.fft.fftn(pp.ones((2, 2, 2)), axes=(0, 2))[:, 0]\narray([[4.+0.j, 0.+0.j],\n       [0.+0.j, 0.+0.j]])",
)
ifftn: ManyAxes = _many_axes(
    "ifftn",
    COMPLEX,
    False,
    "Compute the N-dimensional inverse discrete Fourier Transform.",
    "The spectrum, with frequencies in the order of `fftfreq`.",
    gives="The signal: complex64 for float16, float32 and complex64, else complex128. Without any axis it is `a`.",
    see="fftn, ifft, irfftn",
    example=">>> pp.fft.ifftn(pp.asarray([[4.0, 0.0], [0.0, 0.0]])).real\narray([[1., 1.],\n       [1., 1.]])",
)
rfft2: ManyAxes = _many_axes(
    "rfft2",
    TO_HALF,
    True,
    "Compute the 2-dimensional FFT of a real array.",
    "The signal, real.",
    gives="The spectrum, of the last axis the half that `rfft` gives. complex64 for float16 and float32, else complex128.",
    see="irfft2, rfftn, fft2",
    example=">>> pp.fft.rfft2(pp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).shape\n(2, 2)",
)
irfft2: ManyAxes = _many_axes(
    "irfft2",
    FROM_HALF,
    False,
    "Compute the inverse FFT of `rfft2`.",
    "The spectrum, of the last axis the half that `rfft` gives.",
    gives="The signal: float32 for float16, float32 and complex64, else float64.",
    see="rfft2, irfftn, ifft2",
    example=">>> x = pp.asarray([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])\n>>> pp.allclose(pp.fft.irfft2(pp.fft.rfft2(x)), x)\nTrue",
)
rfftn: ManyAxes = _many_axes(
    "rfftn",
    TO_HALF,
    True,
    "Compute the N-dimensional discrete Fourier Transform for real input.",
    "The signal, real.",
    gives="The spectrum, of the last of the axes the half that `rfft` gives. complex64 for float16 and float32, else complex128.",
    see="irfftn, rfft, fftn",
    example=">>> pp.fft.rfftn(pp.ones((2, 4)))\narray([[8.+0.j, 0.+0.j, 0.+0.j],\n       [0.+0.j, 0.+0.j, 0.+0.j]])",
)
irfftn: ManyAxes = _many_axes(
    "irfftn",
    FROM_HALF,
    False,
    "Compute the inverse of `rfftn`.",
    "The spectrum, of the last of the axes the half that `rfft` gives.",
    gives="The signal: float32 for float16, float32 and complex64, else float64.",
    see="rfftn, irfft, ifftn",
    example=">>> pp.fft.irfftn(pp.asarray([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))\narray([[1., 1., 1., 1.],\n       [1., 1., 1., 1.]])",
)

# --- cosine and sine transforms

dct: Real = _real(
    "dct",
    COSINE,
    True,
    "Return the Discrete Cosine Transform of arbitrary type sequence x.",
    see="idct, dctn, dst, fft",
    example=">>> pp.fft.dct(pp.asarray([1.0, 1.0, 1.0, 1.0]))\narray([8., 0., 0., 0.])",
)
idct: Real = _real(
    "idct",
    COSINE,
    False,
    "Return the Inverse Discrete Cosine Transform of an arbitrary type sequence.",
    see="dct, idctn",
    example=">>> pp.fft.idct(pp.asarray([8.0, 0.0, 0.0, 0.0]))\narray([1., 1., 1., 1.])",
)
dst: Real = _real(
    "dst",
    SINE,
    True,
    "Return the Discrete Sine Transform of arbitrary type sequence x.",
    see="idst, dstn, dct, fft",
    example=">>> pp.fft.dst(pp.asarray([1.0, 0.0, 0.0])).round(3)\narray([1.   , 1.732, 2.   ])",
)
idst: Real = _real(
    "idst",
    SINE,
    False,
    "Return the Inverse Discrete Sine Transform of an arbitrary type sequence.",
    see="dst, idstn",
    example=">>> x = pp.asarray([1.0, -2.0, 4.0])\n>>> pp.allclose(pp.fft.idst(pp.fft.dst(x)), x)\nTrue",
)
dctn: RealAxes = _real_axes(
    "dctn",
    COSINE,
    True,
    "Return multidimensional Discrete Cosine Transform along the specified axes.",
    see="idctn, dct, dstn",
    example=">>> pp.fft.dctn(pp.ones((2, 2)))\narray([[16.,  0.],\n       [ 0.,  0.]])",
)
idctn: RealAxes = _real_axes(
    "idctn",
    COSINE,
    False,
    "Return multidimensional Inverse Discrete Cosine Transform along the specified axes.",
    see="dctn, idct",
    example=">>> pp.fft.idctn(pp.asarray([[16.0, 0.0], [0.0, 0.0]]))\narray([[1., 1.],\n       [1., 1.]])",
)
dstn: RealAxes = _real_axes(
    "dstn",
    SINE,
    True,
    "Return multidimensional Discrete Sine Transform along the specified axes.",
    see="idstn, dst, dctn",
    example=">>> pp.fft.dstn(pp.ones((2, 3)), axes=[1]).round(6)\narray([[4., 0., 2.],\n       [4., 0., 2.]])",
)
idstn: RealAxes = _real_axes(
    "idstn",
    SINE,
    False,
    "Return multidimensional Inverse Discrete Sine Transform along the specified axes.",
    see="dstn, idst",
    example=">>> x = pp.asarray([[1.0, -2.0], [4.0, 3.0]])\n>>> pp.allclose(pp.fft.idstn(pp.fft.dstn(x)), x)\nTrue",
)
