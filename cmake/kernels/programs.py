# cmake/kernels/programs.py: the calls whose kernels for CUDA are compiled when the wheel is built. They run on a driver without a GPU, which
# computes nothing: all values are zero, so calls may fail by their values, and what a value decides has to be asked for.
#
# Kernels are chosen by how large arrays are: a size for each.
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pardo as pp

LINE, LINES, SHORT = 10**7, 10**4, 1000
REAL = ("float32", "float64")
INTEGERS = ("int32", "int64")
ALL = (*REAL, *INTEGERS, "bool", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16", "complex64", "complex128")

Call = Callable[[], Any]


def zeros(shape: Any, dtype: str = "float32") -> pp.Array:
    return pp.zeros(shape, dtype=dtype, device="cuda").wait()


def weights(shape: tuple[int, ...], dtype: str) -> pp.Array:
    return pp.asarray(np.random.default_rng(1).random(shape).astype(dtype), device="cuda")


def ordering(dtype: str) -> Iterator[Call]:
    """Sorting, selecting, searching, counting."""
    x, short, rows = zeros(LINE, dtype), zeros(SHORT, dtype), zeros((LINES, SHORT), dtype)
    yield lambda: pp.sort(x)
    yield lambda: pp.argsort(x)
    for few in (short, rows):
        yield lambda few=few: pp.sort(few)
        yield lambda few=few: pp.argsort(few)
    yield lambda: pp.unique(x)
    yield lambda: pp.unique(x, return_index=True, return_inverse=True, return_counts=True)
    if np.dtype(dtype).kind != "c":
        yield lambda: pp.partition(x, LINE // 2)
        yield lambda: pp.argpartition(x, LINE // 2)
        yield lambda: pp.top_k(x, 10)
    if np.dtype(dtype).kind in "iuf":
        yield lambda: pp.median(x)
        yield lambda: pp.percentile(x, [5, 50, 95])
        yield lambda: pp.median(rows, axis=1)
        yield lambda: pp.histogram(x, 100, range=(0, 1))
    yield lambda: pp.searchsorted(short, x)
    yield lambda: pp.isin(x, short)


def indexing(dtype: str) -> Iterator[Call]:
    """Gathering, scattering, masks."""
    x, rows, places = zeros(LINE, dtype), zeros((LINES, SHORT), dtype), zeros(LINE, "int64")
    some = zeros(100, "int64")
    yield lambda: x[x != 0]
    yield lambda: pp.nonzero(x)
    yield lambda: x[places]
    yield lambda: rows[some]
    yield lambda: rows[:, some]
    yield lambda: pp.take_along_axis(rows, zeros((LINES, 10), "int64"), axis=1)

    def put() -> None:
        x[places] = 1
        rows[some] = 2
        rows[rows != 0] = 3
        x.wait()
        rows.wait()

    yield put
    target, small = zeros(SHORT, dtype), zeros(10, dtype)
    yield lambda: (pp.add.at(target, places, x), target)[1]
    yield lambda: (pp.add.at(small, places, x), small)[1]
    yield lambda: pp.cumsum(x)
    yield lambda: pp.cumsum(rows, axis=0)
    yield lambda: pp.cumsum(rows, axis=1)


def counting() -> Iterator[Call]:
    for dtype in INTEGERS:
        places = zeros(LINE, dtype)
        yield lambda places=places: pp.bincount(places)
        yield lambda places=places: pp.bincount(places, minlength=SHORT)
        yield lambda places=places: pp.bincount(places, zeros(LINE, "float64"), minlength=SHORT)
        yield lambda places=places: pp.unique(places)
    for dtype in REAL:
        yield lambda dtype=dtype: pp.histogram(zeros(10 * LINE, dtype), 100)


def reducing(dtype: str) -> Iterator[Call]:
    """Reductions of all and along an axis."""
    rows = zeros((LINES, LINES), dtype)
    for function in (pp.sum, pp.mean, pp.max, pp.argmax):
        for axis in (None, 0, 1):
            yield lambda function=function, axis=axis: function(rows, axis=axis)
    yield lambda: pp.var(rows, axis=0)
    yield lambda: pp.std(rows)
    yield lambda: pp.special.logsumexp(zeros((LINES, SHORT), dtype), axis=1)
    yield lambda: pp.special.softmax(zeros((LINES, SHORT), dtype), axis=1)


def products(dtype: str) -> Iterator[Call]:
    wide, stack, cube = zeros((2048, 2048), dtype), zeros((LINES, 16, 16), dtype), zeros((128, 128, 128), dtype)
    large, square = zeros((256, 128, 128), dtype), zeros((256, 256), dtype)
    yield lambda: wide @ wide
    yield lambda: wide @ wide.T
    yield lambda: wide.T @ wide
    yield lambda: wide @ wide[0]
    yield lambda: stack @ stack
    yield lambda: pp.einsum("bij,bjk->bik", large, large)
    yield lambda: pp.einsum("ij,jk,kl->il", square, square, square)
    yield lambda: pp.tensordot(cube, cube, 2)
    yield lambda: pp.vdot(wide, wide)


def factorizations(dtype: str) -> Iterator[Call]:
    la = pp.linalg
    for n in (16, 64):
        a, b = zeros((LINES if n == 16 else 1000, n, n), dtype), zeros((LINES if n == 16 else 1000, n, 1), dtype)
        for function in (la.cholesky, la.det, la.slogdet, la.inv, la.qr, la.svd, la.eigh, la.eigvalsh):
            yield lambda function=function, a=a: function(a)
        yield lambda a=a, b=b: la.solve(a, b)
    a = zeros((512, 512), dtype)
    for function in (la.cholesky, la.det, la.inv, la.qr, la.svd, la.eigh, la.eigvals):
        yield lambda function=function: function(a)
    yield lambda: la.solve(a, a)
    yield lambda: la.solve(a, a[0])


def transforms(dtype: str) -> Iterator[Call]:
    x, line = zeros((SHORT, SHORT), dtype), zeros(1 << 20, dtype)
    if np.dtype(dtype).kind == "c":
        for function in (pp.fft.fft, pp.fft.ifft, pp.fft.fft2, pp.fft.ifft2):
            yield lambda function=function: function(x)
        yield lambda: pp.fft.irfft(line)
    else:
        for function in (pp.fft.rfft, pp.fft.rfft2):
            yield lambda function=function: function(x)
        yield lambda: pp.convolve(line, line)


def filters(dtype: str) -> Iterator[Call]:
    image = zeros((4096, 4096), dtype)
    yield lambda: pp.ndimage.convolve(image, weights((5, 5), dtype))
    yield lambda: pp.ndimage.correlate(image, weights((3, 3), dtype))
    yield lambda: pp.ndimage.gaussian_filter(image, 2.0)
    yield lambda: pp.ndimage.uniform_filter(image, 5)
    yield lambda: pp.ndimage.median_filter(image, 3)
    yield lambda: pp.ndimage.maximum_filter(image, 3)
    yield lambda: pp.ndimage.sobel(image)
    yield lambda: pp.signal.convolve2d(image, weights((5, 5), dtype))
    yield lambda: pp.signal.lfilter([1.0, 0.5], [1.0, -0.3], zeros(LINE, dtype))
    yield lambda: pp.signal.sosfilt([[1.0, 0.5, 0.2, 1.0, -0.3, 0.1]], zeros(LINE, dtype))


def sparse(dtype: str) -> Iterator[Call]:
    host = np.eye(SHORT, dtype=dtype)
    a = pp.sparse.csr_array(pp.asarray(host, device="cuda"))
    yield lambda: a @ zeros(SHORT, dtype)
    yield lambda: a @ zeros((SHORT, 8), dtype)
    yield lambda: a @ a
    yield lambda: a + a
    yield lambda: a.T.tocsr()
    yield lambda: a.toarray()


def special(dtype: str) -> Iterator[Call]:
    x, s = zeros(LINE, dtype), pp.special
    for name in ("gammaln", "j0", "j1", "y0", "i0", "k0", "erf", "erfinv", "digamma", "gamma", "ndtri", "expit"):
        yield lambda name=name: getattr(s, name)(x)
    yield lambda: s.gammainc(x, x)
    yield lambda: s.beta(x, x)


def draws(dtype: str) -> Iterator[Call]:
    """What generators have in two dtypes."""
    rng = pp.random.default_rng(1)
    for n in (SHORT, 10 * LINE):
        for name in ("random", "standard_normal", "standard_exponential"):
            yield lambda n=n, name=name: getattr(rng, name)(n, dtype=dtype, device="cuda")
    yield lambda: rng.standard_gamma(2.0, size=LINE, dtype=dtype, device="cuda")


def distributions(names: str) -> Iterator[Call]:
    rng = pp.random.default_rng(1)
    arguments: dict[str, tuple[Any, ...]] = {
        "integers": (0, 1000),
        "uniform": (0.0, 2.0),
        "normal": (1.0, 2.0),
        "gamma": (2.0,),
        "poisson": (10.0,),
        "binomial": (10, 0.5),
        "beta": (2.0, 3.0),
        "exponential": (2.0,),
        "geometric": (0.5,),
        "chisquare": (3.0,),
        "standard_t": (3.0,),
        "laplace": (),
        "logistic": (),
        "lognormal": (),
        "pareto": (2.0,),
        "weibull": (2.0,),
        "negative_binomial": (5, 0.5),
        "hypergeometric": (10, 10, 5),
    }
    for name in names.split():
        yield lambda name=name: getattr(rng, name)(*arguments[name], size=LINE, device="cuda")
        if name == "poisson":
            yield lambda: rng.poisson(1.0, size=LINE, device="cuda")
    yield lambda: rng.permutation(pp.arange(LINE, device="cuda"))
    yield lambda: rng.permutation(pp.arange(SHORT, device="cuda"))
    yield lambda: rng.choice(10**6, 8, replace=False, device="cuda")
    yield lambda: rng.choice(SHORT, LINE, device="cuda")


def usual() -> Iterator[Call]:
    for dtype in (*REAL, *INTEGERS):
        yield from ordering(dtype)
    for dtype in REAL:
        for part in (indexing, reducing, products, factorizations, transforms, filters, special, draws):
            yield from part(dtype)
    yield from transforms("complex64")
    yield from counting()
    yield from distributions("integers uniform normal gamma poisson binomial")


def everything() -> Iterator[Call]:
    yield from usual()


def main() -> None:
    for call in {"usual": usual, "all": everything}[sys.argv[1]]():
        try:
            result = call()
            for part in result if isinstance(result, tuple) else (result,):
                getattr(part, "wait", int)()
        except (ValueError, IndexError, ArithmeticError):  # of values
            pass


main()
