# cmake/kernels/cpu_programs.py: more calls whose kernels are compiled for CPUs when the wheel is built (programs.py runs them). Numbers are
# random ones, so that no call fails by its values.
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pardo as pp

# Results of 8 MiB and more are written past the caches, by other kernels; of draws by what an item makes, up to four numbers of four bytes.
LINE, LONG, LONGEST, SHORT = 10**6, 22 * 10**5, 9 * 10**6, 1000
REAL = ("float64", "float32")
NUMBERS = (*REAL, "int64", "int32")

Call = Callable[[], Any]
draw = np.random.default_rng(1)


def values(shape: Any, dtype: str = "float64") -> pp.Array:
    """Between 0 and 1, and whole ones below 100."""
    host = draw.integers(0, 100, shape) if np.dtype(dtype).kind in "iub" else draw.random(shape)
    return pp.asarray(host.astype(dtype)).wait()


def each(functions: Any, *operands: Any) -> Iterator[Call]:
    """A call of each, whose other arguments may stand beside it."""
    for function, *rest in (f if isinstance(f, tuple) else (f,) for f in functions):
        yield lambda function=function, rest=rest: function(*operands, *rest)


def with_axes(functions: Any, dtype: str, axes: Any = (None, 0, 1)) -> Iterator[Call]:
    line, rows = values(LINE, dtype), values((SHORT, SHORT), dtype)
    for function in functions:
        yield lambda function=function: function(line)
        for axis in axes:
            yield lambda function=function, axis=axis: function(rows, axis=axis)


def large_reductions(dtype: str) -> Iterator[Call]:
    rows = values((SHORT, LINE // 100), dtype)
    for function in (pp.sum, pp.mean, pp.std, pp.var, pp.min, pp.max, pp.cumsum):
        for axis in (0, 1):
            yield lambda function=function, axis=axis: function(rows, axis=axis)


def draws() -> Iterator[Call]:
    rng = pp.random.default_rng(1)
    usual = [
        ("random",), ("standard_normal",), ("standard_exponential",), ("standard_cauchy",), ("standard_t", 3), ("standard_gamma", 2.5),
        ("standard_gamma", 0.5), ("uniform", -1, 1), ("normal", 1, 2), ("lognormal", 0, 1), ("exponential", 2), ("laplace", 0, 1),
        ("logistic", 0, 1), ("gumbel", 0, 1), ("rayleigh", 1), ("weibull", 2), ("pareto", 3), ("power", 2), ("triangular", 0, 1, 2),
        ("vonmises", 0, 2), ("wald", 1, 1), ("gamma", 2), ("gamma", 2, 3), ("gamma", 0.5), ("beta", 2, 3), ("beta", 0.5, 0.5),
        ("chisquare", 3), ("f", 3, 4), ("noncentral_chisquare", 3, 1), ("binomial", 10, 0.5), ("binomial", 1000, 0.3),
        ("negative_binomial", 5, 0.5), ("poisson", 2), ("poisson", 10), ("poisson", 1000), ("geometric", 0.3), ("logseries", 0.5),
        ("zipf", 2), ("hypergeometric", 10, 20, 15), ("integers", 10), ("integers", 0, 1000), ("integers", -5, 5),
    ]  # fmt: skip
    sizes = dict.fromkeys(("random", "standard_normal", "standard_exponential", "uniform", "normal", "integers"), (LONGEST,))
    sizes |= dict.fromkeys(("exponential", "lognormal", "gamma", "standard_gamma", "poisson", "binomial"), (LONG,))
    for name, *arguments in usual:
        for size in (LINE, *sizes.get(name, ())):
            yield lambda name=name, arguments=arguments, size=size: getattr(rng, name)(*arguments, size=size)
    for name in ("random", "standard_normal", "standard_exponential"):
        for size in (LINE, LONGEST):
            yield lambda name=name, size=size: getattr(rng, name)(size, dtype="float32")
    for dtype in ("int32", "uint8", "int8", "int16", "uint16", "uint32", "uint64", "bool"):
        yield lambda dtype=dtype: rng.integers(0, 2, LINE, dtype=dtype)
        yield lambda dtype=dtype: rng.integers(0, 100, LINE, dtype=dtype)
    x, rows = values(LINE), values((SHORT, 10))
    yield from each([rng.permutation, rng.shuffle, rng.permuted], x)
    yield from each([rng.permutation, rng.shuffle], rows)
    yield lambda: rng.permutation(LINE)
    yield lambda: rng.permutation(LONGEST)
    yield lambda: rng.permutation(pp.arange(LONGEST))
    yield lambda: rng.choice(LINE, SHORT)
    yield lambda: rng.choice(LINE, SHORT, replace=False)
    yield lambda: rng.choice(x, SHORT)
    yield lambda: rng.choice(x, SHORT, replace=False)
    yield lambda: rng.choice(4, SHORT, p=[0.1, 0.2, 0.3, 0.4])
    yield lambda: rng.multivariate_normal([0.0, 1.0], pp.eye(2), SHORT)
    yield lambda: rng.multinomial(100, [0.2, 0.3, 0.5], SHORT)
    yield lambda: rng.dirichlet([1.0, 2.0, 3.0], SHORT)
    old = pp.random
    yield from each([old.rand, old.randn, old.random_sample], LINE)
    yield lambda: old.randint(0, 100, LINE)


def orders(dtype: str) -> Iterator[Call]:
    line, short, rows, other = (values(shape, dtype) for shape in (LINE, SHORT, (SHORT, SHORT), SHORT))
    for x in (line, short):
        yield from each([pp.sort, pp.argsort, pp.unique, pp.median, (pp.partition, 100), (pp.argpartition, 100), (pp.percentile, 30)], x)
        yield from each([(pp.percentile, [5, 50, 95]), (pp.quantile, 0.3), (pp.quantile, [0.1, 0.9]), (pp.histogram, 100), pp.histogram], x)
        yield from each([(pp.top_k, 10), pp.nonzero, pp.argwhere, pp.flatnonzero, pp.count_nonzero], x)
        yield lambda x=x: pp.unique(x, return_counts=True)
        yield lambda x=x: pp.unique(x, return_inverse=True)
        yield lambda x=x: pp.histogram(x, 50, range=(0, 1))
        yield lambda x=x: x[x > 0]
        yield lambda x=x: pp.searchsorted(pp.sort(short).wait(), x)
        yield lambda x=x: pp.digitize(x, pp.sort(short).wait())
        yield lambda x=x: pp.isin(x, other)
        yield lambda x=x: pp.lexsort((x, x))
    yield from each([pp.intersect1d, pp.union1d, pp.setdiff1d, pp.setxor1d], short, other)
    for function in (pp.sort, pp.argsort, pp.median):
        for axis in (0, 1):
            yield lambda function=function, axis=axis: function(rows, axis=axis)
    yield lambda: pp.percentile(rows, 30, axis=0)
    yield lambda: pp.percentile(rows, 30, axis=1)
    yield lambda: pp.histogram2d(line, line, 20)
    yield lambda: pp.unique(rows[:, :2], axis=0)


def counts(dtype: str) -> Iterator[Call]:
    x = values(LINE, dtype)
    yield lambda: pp.bincount(x)
    yield lambda: pp.bincount(x, minlength=SHORT)
    yield lambda: pp.bincount(x, weights=values(LINE))
    yield from each([pp.gcd, pp.lcm, pp.floor_divide, pp.remainder, pp.divmod, pp.power], x, values(LINE, dtype) + 1)


def reductions(dtype: str) -> Iterator[Call]:
    plain = [pp.sum, pp.mean, pp.std, pp.var, pp.min, pp.max, pp.argmax, pp.argmin, pp.prod, pp.ptp, pp.any, pp.all]
    yield from with_axes(plain, dtype)
    yield from with_axes([pp.cumsum, pp.cumprod], dtype, axes=(0, 1))
    yield from with_axes([pp.diff], dtype, axes=(0, 1))
    if dtype in REAL:
        yield from with_axes([pp.nansum, pp.nanmean, pp.nanstd, pp.nanmax, pp.nanmin, pp.nanargmax, pp.nanmedian], dtype)
        yield from with_axes([pp.special.logsumexp, pp.special.softmax, pp.special.log_softmax, pp.linalg.norm], dtype)
        yield from with_axes([pp.gradient, pp.trapezoid, pp.average], dtype, axes=(0, 1))


def elementwise(dtype: str, size: int) -> Iterator[Call]:
    x, y = values(size, dtype), values(size, dtype)
    one = "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt square"
    one += " reciprocal abs sign floor ceil trunc rint sinc i0 deg2rad isnan isfinite nan_to_num frexp modf spacing unwrap"
    two = "add subtract multiply divide power arctan2 hypot fmod remainder floor_divide divmod logaddexp logaddexp2 copysign"
    two += " nextafter heaviside isclose allclose maximum fmax float_power"
    yield from each([getattr(pp, name) for name in one.split()], x)
    yield from each([getattr(pp, name) for name in two.split()], x, y)
    yield lambda: pp.where(x > y, x, y)
    yield lambda: pp.clip(x, 0.2, 0.8)
    yield lambda: pp.interp(x, np.linspace(0, 1, 50), np.linspace(0, 1, 50))
    yield lambda: pp.round(x, 2)
    yield lambda: pp.polyval([1.0, 2.0, 3.0], x)


def special(dtype: str, size: int) -> Iterator[Call]:
    x, y = values(size, dtype), values(size, dtype)
    of = pp.special
    one = "gammaln gamma digamma erf erfc erfinv erfcinv ndtr ndtri expit logit exp1 j0 j1 y0 y1 i0 i0e i1 k0 k1 ellipk ellipe entr sinc"
    yield from each([getattr(of, name) for name in one.split()], x)
    yield from each([of.xlogy, of.xlog1py, of.rel_entr, of.kl_div], x, y)


def rarer_special(dtype: str) -> Iterator[Call]:
    x, y, z = values(LINE, dtype), values(LINE, dtype), values(LINE, dtype)
    of = pp.special
    one = "rgamma gammasgn erfcx erfi dawsn log_ndtr log_expit expi exprel i1e k0e k1e ellipkm1 cosm1 exp10 factorial"
    two = "beta betaln gammainc gammaincc ellipeinc ellipkinc huber pseudo_huber"
    yield from each([getattr(of, name) for name in one.split()], x)
    yield from each([getattr(of, name) for name in two.split()], x, y)
    for name in ("jn", "yn", "expn", "polygamma"):
        yield lambda name=name: getattr(of, name)(2, x)
    yield lambda: of.zeta(x + 1.5, 1.0)
    yield from each([of.betainc, of.betaincc], x, y, z)


def filters(dtype: str) -> Iterator[Call]:
    image, of = values((500, 500), dtype), pp.ndimage
    for size in (3, 5, 7):
        weights = draw.random((size, size)).astype(dtype if dtype in REAL else "float32")
        yield from each([(of.convolve, weights), (of.correlate, weights), (of.uniform_filter, size)], image)
        yield from each([(of.median_filter, size), (of.maximum_filter, size), (of.minimum_filter, size)], image)
        yield lambda weights=weights: of.convolve(image, weights, mode="constant")
        yield lambda weights=weights: of.convolve(image, weights, mode="nearest")
    yield from each([of.gaussian_filter, of.gaussian_laplace, of.gaussian_gradient_magnitude], image, 1.0)
    yield from each(
        [(of.gaussian_filter, 2.0), (of.gaussian_filter1d, 1.0), of.sobel, of.laplace, of.prewitt, (of.percentile_filter, 30, 3)], image
    )
    for order in (1, 3):
        yield lambda order=order: of.zoom(image, 1.5, order=order)
        yield lambda order=order: of.rotate(image, 30.0, order=order)
        yield lambda order=order: of.shift(image, (1.5, 2.5), order=order)
        yield lambda order=order: of.affine_transform(image, np.eye(2) * 1.1, order=order)
        yield lambda order=order: of.map_coordinates(image, draw.random((2, SHORT)) * 400, order=order)


def signals(dtype: str) -> Iterator[Call]:
    line, short, image = values(LINE, dtype), values(15, dtype), values((500, 500), dtype)
    yield from each([pp.convolve, pp.correlate, pp.signal.convolve, pp.signal.correlate, pp.signal.fftconvolve], line, short)
    yield lambda: pp.convolve(line, line)
    for function in (pp.signal.convolve2d, pp.signal.correlate2d):
        for size in (3, 5):
            yield lambda function=function, size=size: function(image, values((size, size), dtype), mode="same")
            yield lambda function=function, size=size: function(image, values((size, size), dtype))
    yield lambda: pp.signal.lfilter([0.1, 0.2, 0.1], [1.0, -0.5, 0.2], line)
    yield lambda: pp.signal.sosfilt([[0.1, 0.2, 0.1, 1.0, -0.5, 0.2]] * 2, line)


def matrices(dtype: str) -> Iterator[Call]:
    la = pp.linalg
    eye = np.eye
    for shape in ((16, 16), (SHORT, 4, 4), (SHORT, 3, 3), (200, 200)):
        n = shape[-1]
        a = pp.asarray((draw.random(shape) + n * eye(n)).astype(dtype)).wait()
        symmetric = (a + pp.matrix_transpose(a)).wait()
        yield from each([la.det, la.slogdet, la.inv, la.qr, la.svd, la.svdvals, la.pinv, la.cond, la.matrix_rank, la.matrix_norm], a)
        yield from each([la.eig, la.eigvals, pp.trace, (la.matrix_power, 3)], a)
        yield from each([la.cholesky, la.eigh, la.eigvalsh], symmetric)
        yield from each([la.solve, pp.matmul, pp.linalg.tensordot, pp.vecdot], a, a)
        yield lambda a=a: la.solve(a, a[..., :1])
        yield lambda a=a: a @ a[..., 0, :]
    wide, line = values((500, 300), dtype), values(500, dtype)
    yield lambda: la.lstsq(wide, line)
    yield from each([pp.cov, pp.corrcoef, pp.tril, pp.triu, la.norm], wide)
    yield from each([pp.dot, pp.inner, pp.outer, pp.vdot, pp.kron], line, line)
    yield lambda: pp.cross(values((SHORT, 3), dtype), values((SHORT, 3), dtype))
    yield lambda: pp.einsum("ij,ij->i", wide, wide)
    yield lambda: pp.einsum("ij,j->i", wide, wide[0])
    yield lambda: pp.einsum("ij,kj->ik", wide, wide)
    yield lambda: pp.polyfit(line, line, 3)
    yield lambda: pp.vander(line, 4)


def rearranging(dtype: str) -> Iterator[Call]:
    line, rows, places = values(LINE, dtype), values((SHORT, SHORT), dtype), values(LINE, "int64")
    yield from each([(pp.roll, 5), (pp.repeat, 3), (pp.tile, 3), (pp.pad, 5), (pp.take, places), pp.flip], line)
    yield from each([(pp.roll, 5, 0), (pp.repeat, 3), (pp.tile, (2, 2)), (pp.pad, 5), pp.transpose, pp.diag, pp.rot90], rows)
    for mode in ("edge", "reflect", "wrap", "symmetric"):
        yield lambda mode=mode: pp.pad(line, 5, mode=mode)
        yield lambda mode=mode: pp.pad(rows, 5, mode=mode)
    yield lambda: pp.concatenate([line, line])
    yield lambda: pp.stack([line, line], axis=1)
    yield lambda: line[places]
    yield lambda: rows[places[:SHORT]]
    yield lambda: rows[places, places]
    yield lambda: rows[:, places[:SHORT]]
    yield lambda: pp.take_along_axis(rows, pp.argsort(rows, axis=1), 1)
    yield lambda: pp.delete(line, places[:10])
    for target in (values(SHORT, dtype), values(LINE, dtype)):
        yield lambda target=target: (pp.add.at(target, places, line), target)[1]


def sparse(dtype: str) -> Iterator[Call]:
    a = pp.sparse.csr_array(pp.asarray(np.eye(SHORT, dtype=dtype) + np.eye(SHORT, k=3, dtype=dtype)))
    yield lambda: a @ values(SHORT, dtype)
    yield lambda: a @ values((SHORT, 8), dtype)
    yield lambda: a.T @ values(SHORT, dtype)
    yield lambda: a @ a
    yield lambda: a + a
    yield lambda: a.toarray()
    yield lambda: a.tocsc()
    yield lambda: a.tocoo()


def transforms() -> Iterator[Call]:
    of, x, rows = pp.fft, values(1 << 16), values((256, 256))
    yield from each([of.fft, of.rfft, of.fftshift], x)
    yield from each([of.fft2, of.rfft2, of.fftshift, of.ifft2], rows)
    yield lambda: of.fftfreq(SHORT)
    yield lambda: pp.abs(of.fft(x).wait()) ** 2


def programs() -> Iterator[Call]:
    yield from draws()
    for dtype in NUMBERS:
        for part in (orders, reductions, rearranging):
            yield from part(dtype)
    for dtype in ("int64", "int32", "uint8"):
        yield from counts(dtype)
    for dtype in REAL:
        for part in (large_reductions, signals, matrices, sparse):
            yield from part(dtype)
        for size in (LINE, LONG):
            yield from elementwise(dtype, size)
            yield from special(dtype, size)
    yield from rarer_special("float64")
    for dtype in (*REAL, "uint8"):
        yield from filters(dtype)
    yield from transforms()
