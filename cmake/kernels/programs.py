# cmake/kernels/programs.py: the calls whose kernels are compiled when the wheel is built, on the device that the command line names.
#
# For CUDA they run on a driver without a GPU that computes nothing: arrays are zero and numbers that the host reads are 1, so calls may
# fail by their values, and what a value decides has to be asked for. On the CPU they run as they are.
#
# Chosen is what a compiler takes longest for and programs use most. NVRTC takes 0.03 s for a kernel of one line, and all of these a minute
# for each target; LLVM takes a tenth of that, so that the list for the CPU is longer (cpu_programs.py; docs/design/first-calls.md). Kernels
# depend on how large arrays are, but beyond some 10^6 elements they are the same.
from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pardo as pp

DEVICE = sys.argv[1]
LINE, LINES, SHORT = (10**7, 10**4, 1000) if DEVICE == "cuda" else (10**6, 1000, 1000)
SIDE = 4096 if DEVICE == "cuda" else 500
REAL = ("float32", "float64")
INTEGERS = ("int32", "int64")

Call = Callable[[], Any]


def zeros(shape: Any, dtype: str = "float32") -> pp.Array:
    return pp.zeros(shape, dtype=dtype, device=DEVICE).wait()


def weights(shape: tuple[int, ...], dtype: str) -> pp.Array:
    return pp.asarray(np.random.default_rng(1).random(shape).astype(dtype), device=DEVICE)


def ordering(dtype: str) -> Iterator[Call]:
    x, short = zeros(LINE, dtype), zeros(SHORT, dtype)
    for function in (pp.sort, pp.argsort):
        yield lambda function=function: function(x)
        yield lambda function=function: function(short)
    yield lambda: pp.unique(x)
    yield lambda: pp.searchsorted(short, x)


def selecting(dtype: str) -> Iterator[Call]:
    x, places = zeros(LINE, dtype), zeros(LINE, "int64")
    yield lambda: pp.median(x)
    yield lambda: pp.percentile(x, [5, 50, 95])
    yield lambda: pp.histogram(zeros(10 * LINE, dtype), 100)
    yield lambda: pp.histogram(x, 100, range=(0, 1))
    yield lambda: x[x != 0]
    yield lambda: x[places]
    for target in (zeros(SHORT, dtype), zeros(LINE, dtype)):
        yield lambda target=target: (pp.add.at(target, places, x), target)[1]


def counting(dtype: str) -> Iterator[Call]:
    places, square = zeros(LINE, dtype), zeros((1024, 1024), dtype)
    yield lambda: pp.bincount(zeros(10 * LINE, dtype))
    yield lambda: square @ square
    yield lambda: pp.bincount(places, minlength=SHORT)
    yield lambda: pp.bincount(places, zeros(LINE, "float64"), minlength=SHORT)


def reducing(dtype: str) -> Iterator[Call]:
    x, rows = zeros(LINE, dtype), zeros((LINES, LINES), dtype)
    for function in (pp.sum, pp.max, pp.argmax, pp.std, pp.cumsum):
        yield lambda function=function: function(x)
    yield lambda: pp.var(rows, axis=0)
    yield lambda: pp.mean(rows, axis=1)
    yield lambda: pp.cumsum(rows, axis=0)
    yield lambda: pp.special.logsumexp(zeros((LINES, SHORT), dtype), axis=1)


def products(dtype: str) -> Iterator[Call]:
    wide, stack, cube = zeros((2048, 2048), dtype), zeros((LINES, 16, 16), dtype), zeros((128, 128, 128), dtype)
    square = zeros((256, 256), dtype)
    yield lambda: wide @ wide
    yield lambda: wide @ wide[0]
    for edge in (4, 8, 16):
        yield lambda edge=edge: stack[:, :edge, :edge] @ stack[:, :edge, :edge]
    yield lambda: pp.einsum("bij,bjk->bik", cube, cube)
    yield lambda: pp.einsum("ij,jk,kl->il", square, square, square)
    yield lambda: pp.tensordot(cube, cube, 2)


def small_systems(dtype: str) -> Iterator[Call]:
    la, a = pp.linalg, zeros((LINES, 16, 16), dtype)
    for function in (la.cholesky, la.det, la.inv):
        yield lambda function=function: function(a)
    yield lambda: la.solve(a, a[..., :1])


def factorizations(dtype: str) -> Iterator[Call]:
    la = pp.linalg
    for a in (zeros((SHORT, 64, 64), dtype), zeros((512, 512), dtype)):
        for function in (la.cholesky, la.det, la.inv, la.qr, la.svd, la.eigh):
            yield lambda function=function, a=a: function(a)
        yield lambda a=a: la.solve(a, a)
    yield lambda: la.eigvals(zeros((512, 512), dtype))


def transforms(dtype: str) -> Iterator[Call]:
    x, line = zeros((SHORT, SHORT), dtype), zeros(1 << 20, dtype)
    names = ("fft", "ifft", "fft2") if dtype.startswith("complex") else ("rfft", "rfft2")
    for name in names:
        yield lambda name=name: getattr(pp.fft, name)(x)
    yield lambda: pp.convolve(line, line)


def filters(dtype: str) -> Iterator[Call]:
    image, filter_of = zeros((SIDE, SIDE), dtype), pp.ndimage
    yield lambda: filter_of.convolve(image, weights((5, 5), dtype))
    yield lambda: filter_of.convolve(image, weights((5, 5), dtype), mode="constant")
    yield lambda: filter_of.correlate(image, weights((3, 3), dtype))
    yield lambda: filter_of.gaussian_filter(image, 2.0)
    yield lambda: filter_of.median_filter(image, 3)
    yield lambda: pp.signal.convolve2d(image, weights((5, 5), dtype))


def sparse(dtype: str) -> Iterator[Call]:
    a = pp.sparse.csr_array(pp.asarray(np.eye(SHORT, dtype=dtype), device=DEVICE))
    yield lambda: a @ zeros(SHORT, dtype)
    yield lambda: a @ zeros((SHORT, 8), dtype)
    yield lambda: a.T @ zeros(SHORT, dtype)


def special(dtype: str) -> Iterator[Call]:
    for name in ("gammaln", "j0"):
        yield lambda name=name: getattr(pp.special, name)(zeros(LINE, dtype))


def draws(dtype: str) -> Iterator[Call]:
    rng = pp.random.default_rng(1)
    for name in ("random", "standard_normal"):
        for n in (SHORT, 10 * LINE):
            yield lambda name=name, n=n: getattr(rng, name)(n, dtype=dtype, device=DEVICE)


def distributions() -> Iterator[Call]:
    rng = pp.random.default_rng(1)
    calls = ("integers", 0, 1000), ("uniform", 0, 2), ("normal", 1, 2), ("gamma", 2), ("standard_gamma", 2.5), ("poisson", 10)
    for name, *arguments in calls:
        yield lambda name=name, arguments=arguments: getattr(rng, name)(*arguments, size=LINE, device=DEVICE)
    yield lambda: rng.permutation(pp.arange(LINE, device=DEVICE))
    yield lambda: rng.choice(10**6, 8, replace=False, device=DEVICE)


def programs() -> Iterator[Call]:
    for dtype in (*REAL, *INTEGERS):
        yield from ordering(dtype)
    for dtype in REAL:
        for part in (selecting, reducing, products, small_systems, transforms, special, draws):
            yield from part(dtype)
    for dtype in INTEGERS:
        yield from counting(dtype)
    yield lambda: pp.partition(zeros(LINE), LINE // 2)
    yield from factorizations("float64")
    yield from transforms("complex64")
    yield from filters("float32")
    yield from sparse("float64")
    yield from distributions()


def main() -> None:
    calls = programs()
    if DEVICE == "cpu":
        from cpu_programs import programs as more

        calls = itertools.chain(calls, more())
    for call in calls:
        try:
            result = call()
            for part in result if isinstance(result, (tuple, list)) else (result,):
                getattr(part, "wait", int)()
        except (ValueError, IndexError, ArithmeticError):  # of values
            pass
        except Exception as e:  # its kernels are not in the pack; tests/python/test_kernel_pack.py finds that
            where = call.__code__
            place = f"line {where.co_firstlineno} of {where.co_filename.rpartition('/')[2]}"
            print(f"kernels: {place}: {type(e).__name__}: {e}", file=sys.stderr)


main()
