# bench/workloads/routines.py: the table of library routines: what each row computes, and on what.
"""Sizes are those of a whole GPU; on CPUs, and where less is asked for, a share of their elements."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Size:
    """How much of the whole sizes is taken."""

    def __init__(self, share: float) -> None:
        self.share = share

    def count(self, whole: int) -> int:
        """Of elements, lines or matrices."""
        return max(2, round(whole * self.share))

    def side(self, whole: int) -> int:
        """Of a square whose elements shrink."""
        return max(2, round(whole * self.share**0.5))

    def cube(self, whole: int) -> int:
        return max(2, round(whole * self.share ** (1 / 3)))

    def power(self, exponent: int) -> int:
        """Of two."""
        return 1 << max(1, round(exponent + np.log2(self.share)))


class Draw:
    """Inputs; the same in each process."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(7)

    def f64(self, *shape: int) -> np.ndarray:
        return self.rng.random(shape)

    def f32(self, *shape: int) -> np.ndarray:
        return self.rng.random(shape, dtype=np.float32)

    def c64(self, *shape: int) -> np.ndarray:
        return self.f32(*shape, 2).view(np.complex64)[..., 0]

    def integers(self, high: int, count: int, dtype: str = "int64") -> np.ndarray:
        return self.rng.integers(0, high, count, dtype=dtype)

    def zeros_among(self, count: int, each: int) -> np.ndarray:
        """f32, of both signs; every so-many-th is a zero, of the sign that it had."""
        x = self.f32(count) - np.float32(0.5)
        x[::each] *= np.float32(0)
        return x

    def symmetric(self, *shape: int) -> np.ndarray:
        a = self.f64(*shape, shape[-1])
        return a + a.swapaxes(-1, -2)

    def definite(self, *shape: int) -> np.ndarray:
        return self.symmetric(*shape) + 2 * shape[-1] * np.eye(shape[-1])


class Row(NamedTuple):
    operation: str  # of peers/routines.py
    inputs: Callable[[Draw, Size], tuple[Any, ...]]
    opencl: bool = False  # by pardo on an OpenCL device, beside NumPy on the host; all sizes are whole
    whole: bool = False  # at its whole size on CPUs too; alone there


def small(operation: str, kind: str, columns: int = 0) -> Row:
    return Row(operation, lambda d, s: (getattr(d, kind)(s.count(10_000), 16), *([d.f64(s.count(10_000), 16, columns)] if columns else [])))


def named_by(whole: int, operation: str) -> Row:
    """Numbers of elements alone are the input."""
    return Row(operation, lambda d, s: (s.count(whole),))


def scatter(places: int) -> Row:
    def inputs(d: Draw, s: Size) -> tuple[Any, ...]:
        n, count = min(places, s.count(10**7)), s.count(10**7)
        return np.zeros(n, np.float32), d.integers(n, count), d.f32(count)

    return Row("scatter_add", inputs)


def square(d: Draw, s: Size, whole: int) -> np.ndarray:
    return d.f64(s.side(whole), s.side(whole))


def lattice(d: Draw, s: Size, whole: int) -> tuple[np.ndarray, np.ndarray]:
    """Real and imaginary parts of points."""
    n = s.side(whole)
    return np.linspace(-2.0, 0.5, n)[None, :], np.linspace(-1.25, 1.25, n)[:, None]


ROWS = {
    "fft of 2**24 c64": Row("fft", lambda d, s: (d.c64(s.power(24)),)),
    "fft of rows 4096² c64": Row("fft", lambda d, s: (d.c64(s.count(4096), 4096),)),
    "fft2 of 4096² c64": Row("fft2", lambda d, s: (d.c64(s.count(4096), 4096),)),
    "rfft of rows 4096² f64": Row("rfft", lambda d, s: (d.f64(s.count(4096), 4096),)),
    "fftn of 256³ c64": Row("fftn", lambda d, s: (d.c64(s.cube(256), s.cube(256), s.cube(256)),)),
    "fft of 1000 rows of 10007 c64": Row("fft", lambda d, s: (d.c64(s.count(1000), 10007),)),
    "fft of (100000, 64) c64": Row("fft", lambda d, s: (d.c64(s.count(100_000), 64),)),
    "solve 2048 f64": Row("solve", lambda d, s: (square(d, s, 2048), d.f64(s.side(2048)))),
    "cholesky 4096 f64": Row("cholesky", lambda d, s: (d.definite(s.side(4096)),)),
    "inv 2048 f64": Row("inv", lambda d, s: (square(d, s, 2048),)),
    "qr 2048 f64": Row("qr", lambda d, s: (square(d, s, 2048),)),
    "svd 1024 f64": Row("svd", lambda d, s: (square(d, s, 1024),)),
    "eigh 2048 f64": Row("eigh", lambda d, s: (d.symmetric(s.side(2048)),)),
    "eigvals 512 f64": Row("eigvals", lambda d, s: (square(d, s, 512),)),
    "solve 10⁴ of 16² f64": small("solve", "definite", 1),
    "cholesky 10⁴ of 16² f64": small("cholesky", "definite"),
    "det 10⁴ of 16² f64": small("det", "definite"),
    "matmul 2048² f64": Row("matmul", lambda d, s: (square(d, s, 2048), square(d, s, 2048))),
    "matmul 2**16 of 16² f32": Row("matmul", lambda d, s: (d.f32(s.count(65_536), 16, 16), d.f32(s.count(65_536), 16, 16))),
    "matvec 8192² f32": Row("matmul", lambda d, s: (d.f32(s.side(8192), s.side(8192)), d.f32(s.side(8192)))),
    "matmul 1024² f64 whole": Row("matmul", lambda d, s: (square(d, s, 1024), square(d, s, 1024)), whole=True),
    "einsum of 256 × 128³ f32": Row("einsum", lambda d, s: (d.f32(s.count(256), 128, 128), d.f32(s.count(256), 128, 128))),
    "einsum of three 1024² f64": Row("chain", lambda d, s: tuple(square(d, s, 1024) for _ in range(3))),
    "tensordot (256, 64, 64) f64": Row("tensordot", lambda d, s: (d.f64(s.side(256), 64, 64), d.f64(64, 64, s.side(256)))),
    "uniform 10⁸ f64": named_by(10**8, "uniform"),
    "normal 10⁸ f32": named_by(10**8, "normal_f32"),
    "normal 10⁷ f64": named_by(10**7, "normal"),
    "integers 10⁸": named_by(10**8, "integers"),
    "gamma 10⁷": named_by(10**7, "gamma"),
    "poisson 10⁷": named_by(10**7, "poisson"),
    "permutation 10⁷": named_by(10**7, "permutation"),
    "sort 10⁸ f32": Row("sort", lambda d, s: (d.f32(s.count(10**8)),)),
    "sort 10⁸ f32, every 1000th ±0": Row("sort", lambda d, s: (d.zeros_among(s.count(10**8), 1000),)),
    "sort 10⁸ f32, every 2nd ±0": Row("sort", lambda d, s: (d.zeros_among(s.count(10**8), 2),)),
    "sort 10⁸ i32": Row("sort", lambda d, s: (d.integers(2**31 - 1, s.count(10**8), "int32"),)),
    "argsort 10⁷ f32": Row("argsort", lambda d, s: (d.f32(s.count(10**7)),)),
    "sort 2**28 f32": Row("sort", lambda d, s: (d.f32(s.power(28)),)),
    "unique of 1000 10⁷": Row("unique", lambda d, s: (d.integers(1000, s.count(10**7)),)),
    "partition 10⁷ f32": Row("partition", lambda d, s: (d.f32(s.count(10**7)),)),
    "median 10⁷ f32": Row("median", lambda d, s: (d.f32(s.count(10**7)),)),
    "three percentiles 10⁷ f32": Row("percentile", lambda d, s: (d.f32(s.count(10**7)),)),
    "histogram 10⁸ f32": Row("histogram", lambda d, s: (d.f32(s.count(10**8)),)),
    "bincount 10⁸": Row("bincount", lambda d, s: (d.integers(1000, s.count(10**8)),)),
    "scatter add 10⁷ onto 1000 f32": scatter(1000),
    "scatter add 10⁷ onto 10⁷ f32": scatter(10**7),
    "var axis 0 10⁴ × 10⁴ f32": Row("var", lambda d, s: (d.f32(s.count(10**4), 10**4),)),
    "mean axis 1 10⁴ × 10⁴ f32": Row("mean", lambda d, s: (d.f32(s.count(10**4), 10**4),)),
    "cumsum axis 0 10⁴ × 10⁴ f32": Row("cumsum", lambda d, s: (d.f32(s.count(10**4), 10**4),)),
    "gammaln 10⁷ f64": Row("gammaln", lambda d, s: (20 * d.f64(s.count(10**7)) + 0.1,)),
    "j0 10⁷ f64": Row("j0", lambda d, s: (20 * d.f64(s.count(10**7)),)),
    "logsumexp (10⁴, 10³) f32": Row("logsumexp", lambda d, s: (d.f32(s.count(10**4), 10**3),)),
    "convolution 5 × 5 of 4096² f32": Row("convolution", lambda d, s: (d.f32(s.side(4096), s.side(4096)), d.f32(5, 5))),
    "choice(10⁶, 8, replace=False)": Row("choice", lambda d, s: (10**6,), whole=True),
    "Mandelbrot 1000² 200 steps": Row("mandelbrot", lambda d, s: lattice(d, s, 1000), whole=True),
    "OpenCL: (273280, 3) @ (3,)": Row("matmul", lambda d, s: (d.f64(s.count(273_280), 3), d.f64(3)), True),
    "OpenCL: matmul 500³": Row("matmul", lambda d, s: (square(d, s, 500), square(d, s, 500)), True),
    "OpenCL: sort 10⁶": Row("sort", lambda d, s: (d.f64(s.count(10**6)),), True),
    "OpenCL: solve 512": Row("solve", lambda d, s: (square(d, s, 512), d.f64(s.side(512))), True),
    "OpenCL: cholesky 512": Row("cholesky", lambda d, s: (d.definite(s.side(512)),), True),
    "OpenCL: inv 512": Row("inv", lambda d, s: (square(d, s, 512),), True),
    "OpenCL: qr 512": Row("qr", lambda d, s: (square(d, s, 512),), True),
    "OpenCL: svd 128": Row("svd", lambda d, s: (square(d, s, 128),), True),
    "OpenCL: eigh 128": Row("eigh", lambda d, s: (d.symmetric(s.side(128)),), True),
    "OpenCL: solve 1000 of 16²": Row("solve", lambda d, s: (d.definite(s.count(1000), 16), d.f64(s.count(1000), 16, 1)), True),
}
CPU_SHARE = 1 / 8


def inputs_of(row: Row, size: float, whole: bool) -> tuple[Any, ...]:
    """`whole`: for a GPU."""
    share = size if whole or row.opencl or row.whole else size * CPU_SHARE
    return row.inputs(Draw(), Size(share))
