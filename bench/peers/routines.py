# bench/peers/routines.py: how each library says the rows of workloads/routines.py: a class a library, a method a row.
"""The classes begin with NumPy's names, and say what is called otherwise. None: the library has no such thing."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

STEPS = 200


def mandelbrot(xp: Any, real: Any, imaginary: Any) -> Any:
    """By whole arrays: how many steps each point takes to leave the circle."""
    x = xp.zeros_like(real + imaginary)
    y, steps = x, xp.zeros_like(x)
    for _ in range(STEPS):
        xx, yy = x * x, y * y
        inside = xx + yy <= 4.0
        steps = steps + inside
        x, y = xp.where(inside, xx - yy + real, x), xp.where(inside, 2.0 * x * y + imaginary, y)
    return steps


class Names:
    """NumPy's names, and SciPy's in `special` and `ndimage` where there are such modules."""

    special: Any = None
    ndimage: Any = None

    def __init__(self, xp: Any) -> None:
        self.xp, self.linalg, self.fourier = xp, xp.linalg, xp.fft
        self.rng = self.generator()

    def has(self, operation: str) -> bool:
        needs = {"gammaln": self.special, "j0": self.special, "logsumexp": self.special, "convolution": self.ndimage}
        return getattr(self, operation) is not None and needs.get(operation, self) is not None

    def generator(self) -> Any:
        return self.xp.random.default_rng(1)

    def place(self, x: np.ndarray) -> Any:
        """An array of the library where the row runs."""
        return self.xp.asarray(x)

    def prepared(self, operation: str) -> Any:
        return getattr(self, operation)

    def fft(self, x: Any) -> Any:
        return self.fourier.fft(x)

    def fft2(self, x: Any) -> Any:
        return self.fourier.fft2(x)

    def rfft(self, x: Any) -> Any:
        return self.fourier.rfft(x)

    def fftn(self, x: Any) -> Any:
        return self.fourier.fftn(x)

    def solve(self, a: Any, b: Any) -> Any:
        return self.linalg.solve(a, b)

    def cholesky(self, a: Any) -> Any:
        return self.linalg.cholesky(a)

    def inv(self, a: Any) -> Any:
        return self.linalg.inv(a)

    def qr(self, a: Any) -> Any:
        return self.linalg.qr(a)

    def svd(self, a: Any) -> Any:
        return self.linalg.svd(a)

    def eigh(self, a: Any) -> Any:
        return self.linalg.eigh(a)

    def eigvals(self, a: Any) -> Any:
        return self.linalg.eigvals(a)

    def det(self, a: Any) -> Any:
        return self.linalg.det(a)

    def matmul(self, a: Any, b: Any) -> Any:
        return a @ b

    def einsum(self, a: Any, b: Any) -> Any:
        return self.xp.einsum("bij,bjk->bik", a, b)

    def chain(self, a: Any, b: Any, c: Any) -> Any:
        return self.xp.einsum("ij,jk,kl->il", a, b, c, optimize=True)

    def tensordot(self, a: Any, b: Any) -> Any:
        return self.xp.tensordot(a, b, 2)

    def uniform(self, n: int) -> Any:
        return self.rng.random(n)

    def normal(self, n: int) -> Any:
        return self.rng.standard_normal(n)

    def normal_f32(self, n: int) -> Any:
        return self.rng.standard_normal(n, dtype=np.float32)

    def integers(self, n: int) -> Any:
        return self.rng.integers(0, 1000, n)

    def gamma(self, n: int) -> Any:
        return self.rng.standard_gamma(2.5, n)

    def poisson(self, n: int) -> Any:
        return self.rng.poisson(5.0, n)

    def permutation(self, n: int) -> Any:
        return self.rng.permutation(n)

    def choice(self, n: int) -> Any:
        return self.rng.choice(n, 8, replace=False)

    def sort(self, x: Any) -> Any:
        return self.xp.sort(x)

    def argsort(self, x: Any) -> Any:
        return self.xp.argsort(x)

    def unique(self, x: Any) -> Any:
        return self.xp.unique(x)

    def partition(self, x: Any) -> Any:
        return self.xp.partition(x, x.size // 2)

    def median(self, x: Any) -> Any:
        return self.xp.median(x)

    def percentile(self, x: Any) -> Any:
        return self.xp.percentile(x, self.xp.asarray([5.0, 50.0, 95.0]))

    def histogram(self, x: Any) -> Any:
        return self.xp.histogram(x, bins=100)[0]

    def bincount(self, x: Any) -> Any:
        return self.xp.bincount(x)

    def scatter_add(self, target: Any, places: Any, values: Any) -> Any:
        self.xp.add.at(target, places, values)
        return target

    def var(self, x: Any) -> Any:
        return self.xp.var(x, axis=0)

    def mean(self, x: Any) -> Any:
        return self.xp.mean(x, axis=1)

    def cumsum(self, x: Any) -> Any:
        return self.xp.cumsum(x, axis=0)

    def gammaln(self, x: Any) -> Any:
        return self.special.gammaln(x)

    def j0(self, x: Any) -> Any:
        return self.special.j0(x)

    def logsumexp(self, x: Any) -> Any:
        return self.special.logsumexp(x, axis=1)

    def convolution(self, x: Any, weights: Any) -> Any:
        return self.ndimage.convolve(x, weights, mode="constant")

    def mandelbrot(self, real: Any, imaginary: Any) -> Any:
        return mandelbrot(self.xp, real, imaginary)


class NumPy(Names):
    def __init__(self) -> None:
        super().__init__(np)

    def chain(self, a: Any, b: Any, c: Any) -> Any:
        return np.linalg.multi_dot([a, b, c])


class SciPy(NumPy):
    """What SciPy has beside NumPy; transforms by all cores."""

    def __init__(self) -> None:
        super().__init__()
        import scipy.fft
        import scipy.linalg
        import scipy.ndimage
        import scipy.special

        self.linalg, self.special, self.ndimage = scipy.linalg, scipy.special, scipy.ndimage
        cores = len(os.sched_getaffinity(0))
        self.fourier = type(
            "Transforms",
            (),
            {name: staticmethod(functools.partial(getattr(scipy.fft, name), workers=cores)) for name in ("fft", "fft2", "rfft", "fftn")},
        )
        self.own = {
            "fft", "fft2", "rfft", "fftn", "solve", "cholesky", "inv", "qr", "svd", "eigh", "eigvals", "det", "gammaln", "j0", "logsumexp",
            "convolution",
        }  # fmt: skip

    def has(self, operation: str) -> bool:
        return operation in self.own


class Pardo(Names):
    def __init__(self, device: str | None = None) -> None:
        import pardo as pp

        self.device = device
        super().__init__(pp)
        self.special, self.ndimage = pp.special, pp.ndimage

    def place(self, x: np.ndarray) -> Any:
        return self.xp.asarray(x, device=self.device).wait()


class CuPy(Names):
    def __init__(self) -> None:
        import cupy
        import cupyx.scipy.ndimage
        import cupyx.scipy.special

        super().__init__(cupy)
        self.special, self.ndimage = cupyx.scipy.special, cupyx.scipy.ndimage

    def permutation(self, n: int) -> Any:
        return self.xp.random.permutation(n)

    def choice(self, n: int) -> Any:
        return self.xp.random.choice(n, 8, replace=False)


class Torch(Names):
    def __init__(self) -> None:
        import torch
        from peers.torch import DEVICE

        self.torch, self.where = torch, {"device": DEVICE}
        super().__init__(torch)
        self.special, self.ndimage = torch.special, torch.nn.functional

    def generator(self) -> Any:
        return None

    def place(self, x: np.ndarray) -> Any:
        return self.torch.from_numpy(x).to(**self.where)

    partition = choice = None  # type: ignore[assignment]

    def prepared(self, operation: str) -> Any:
        return self.torch.compile(self.mandelbrot) if operation == "mandelbrot" else getattr(self, operation)

    def chain(self, a: Any, b: Any, c: Any) -> Any:
        return self.torch.einsum("ij,jk,kl->il", a, b, c)

    def uniform(self, n: int) -> Any:
        return self.torch.rand(n, dtype=self.torch.float64, **self.where)

    def normal(self, n: int) -> Any:
        return self.torch.randn(n, dtype=self.torch.float64, **self.where)

    def normal_f32(self, n: int) -> Any:
        return self.torch.randn(n, **self.where)

    def integers(self, n: int) -> Any:
        return self.torch.randint(0, 1000, (n,), **self.where)

    def gamma(self, n: int) -> Any:
        return self.torch._standard_gamma(self.torch.full((n,), 2.5, dtype=self.torch.float64, **self.where))

    def poisson(self, n: int) -> Any:
        return self.torch.poisson(self.torch.full((n,), 5.0, dtype=self.torch.float64, **self.where))

    def permutation(self, n: int) -> Any:
        return self.torch.randperm(n, **self.where)

    def sort(self, x: Any) -> Any:
        return self.torch.sort(x).values

    def median(self, x: Any) -> Any:
        return x.median()

    def percentile(self, x: Any) -> Any:
        return self.torch.quantile(x, self.torch.tensor([0.05, 0.5, 0.95], **self.where))

    def histogram(self, x: Any) -> Any:
        return self.torch.histc(x, 100)

    def scatter_add(self, target: Any, places: Any, values: Any) -> Any:
        return target.index_add_(0, places, values)

    def var(self, x: Any) -> Any:
        return x.var(dim=0, correction=0)

    def mean(self, x: Any) -> Any:
        return x.mean(dim=1)

    def cumsum(self, x: Any) -> Any:
        return x.cumsum(0)

    def j0(self, x: Any) -> Any:
        return self.special.bessel_j0(x)

    def logsumexp(self, x: Any) -> Any:
        return x.logsumexp(1)

    def convolution(self, x: Any, weights: Any) -> Any:
        return self.ndimage.conv2d(x[None, None], weights[None, None], padding=2)


class Jax(Names):
    """Everything under jit; keys of random numbers are given."""

    def __init__(self) -> None:
        import jax
        import peers.jax  # noqa: F401 (float64, and the device)

        self.jax = jax
        super().__init__(jax.numpy)
        self.special, self.ndimage = jax.scipy.special, jax.scipy.signal

    def generator(self) -> Any:
        return self.jax.random.key(1)

    j0 = choice = None  # type: ignore[assignment]

    def prepared(self, operation: str) -> Any:
        if operation in ("unique", "bincount"):  # results' shapes are data
            return getattr(self, operation)
        named = ("uniform", "normal", "normal_f32", "integers", "gamma", "poisson", "permutation")
        static = {"static_argnums": 0} if operation in named else {}
        return self.jax.jit(getattr(self, operation), **static)

    def uniform(self, n: int) -> Any:
        return self.jax.random.uniform(self.rng, (n,), "float64")

    def normal(self, n: int) -> Any:
        return self.jax.random.normal(self.rng, (n,), "float64")

    def normal_f32(self, n: int) -> Any:
        return self.jax.random.normal(self.rng, (n,), "float32")

    def integers(self, n: int) -> Any:
        return self.jax.random.randint(self.rng, (n,), 0, 1000)

    def gamma(self, n: int) -> Any:
        return self.jax.random.gamma(self.rng, 2.5, (n,))

    def poisson(self, n: int) -> Any:
        return self.jax.random.poisson(self.rng, 5.0, (n,))

    def permutation(self, n: int) -> Any:
        return self.jax.random.permutation(self.rng, n)

    def scatter_add(self, target: Any, places: Any, values: Any) -> Any:
        return target.at[places].add(values)

    def convolution(self, x: Any, weights: Any) -> Any:
        return self.ndimage.convolve2d(x, weights, mode="same")

    def mandelbrot(self, real: Any, imaginary: Any) -> Any:
        xp = self.xp
        x = xp.zeros_like(real + imaginary)

        def step(_: Any, state: Any) -> Any:
            x, y, steps = state
            xx, yy = x * x, y * y
            inside = xx + yy <= 4.0
            return xp.where(inside, xx - yy + real, x), xp.where(inside, 2.0 * x * y + imaginary, y), steps + inside

        return self.jax.lax.fori_loop(0, STEPS, step, (x, x, x))[2]


class Numba:
    """Loops, as its users write them, in parallel where their results allow it."""

    def __init__(self) -> None:
        import numba as nb

        jit, prange = nb.njit(parallel=True), nb.prange

        @jit
        def var(x):
            out = np.empty(x.shape[1], x.dtype)
            for j in prange(x.shape[1]):
                total, squares = 0.0, 0.0
                for i in range(x.shape[0]):
                    total += x[i, j]
                for i in range(x.shape[0]):
                    squares += (x[i, j] - total / x.shape[0]) ** 2
                out[j] = squares / x.shape[0]
            return out

        @jit
        def mean(x):
            out = np.empty(x.shape[0], x.dtype)
            for i in prange(x.shape[0]):
                out[i] = x[i].mean()
            return out

        @jit
        def histogram(x):
            low, high = x.min(), x.max()
            parts = nb.get_num_threads()
            counts = np.zeros((parts, 100), np.int64)
            for part in prange(parts):
                for i in range(part * x.size // parts, (part + 1) * x.size // parts):
                    counts[part, min(99, int((x[i] - low) / (high - low) * 100))] += 1
            return counts.sum(axis=0)

        @jit
        def bincount(x):
            parts = nb.get_num_threads()
            counts = np.zeros((parts, x.max() + 1), np.int64)
            for part in prange(parts):
                for i in range(part * x.size // parts, (part + 1) * x.size // parts):
                    counts[part, x[i]] += 1
            return counts.sum(axis=0)

        @nb.njit
        def scatter_add(target, places, values):
            for i in range(places.size):
                target[places[i]] += values[i]
            return target

        @jit
        def convolution(x, weights):
            out = np.zeros_like(x)
            for i in prange(2, x.shape[0] - 2):
                for j in range(2, x.shape[1] - 2):
                    total = np.float32(0)
                    for k in range(5):
                        for m in range(5):
                            total += weights[4 - k, 4 - m] * x[i + k - 2, j + m - 2]
                    out[i, j] = total
            return out

        @jit
        def mandelbrot(real, imaginary):
            out = np.zeros((imaginary.size, real.size))
            for i in prange(imaginary.size):
                for j in range(real.size):
                    x, y, n = 0.0, 0.0, 0
                    while n < STEPS and x * x + y * y <= 4.0:
                        x, y = x * x - y * y + real[0, j], 2.0 * x * y + imaginary[i, 0]
                        n += 1
                    out[i, j] = n
            return out

        self.functions = {f.__name__: f for f in (var, mean, histogram, bincount, scatter_add, convolution, mandelbrot)}

    def has(self, operation: str) -> bool:
        return operation in self.functions

    def prepared(self, operation: str) -> Any:
        return self.functions[operation]

    def place(self, x: np.ndarray) -> Any:
        return x


CLASSES: dict[str, Any] = {"numpy": NumPy, "scipy": SciPy, "numba": Numba, "pardo": Pardo, "cupy": CuPy, "torch": Torch, "jax": Jax}
