# bench/workloads/split.py: programs of arrays that are split over several devices, or on one, and what their values are compared by.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pardo as pp

Run = Callable[[], Any]


def even(x: float) -> int:
    """A size that is not tiny and can be halved often."""
    return max(64, int(x) // 64 * 64)


BLOCKS = 8  # of bodies whose forces are added up apart, so that a GPU has enough to do with half of them


@pp.jit
def near_forces(own, all_places, out):
    for k in pp.prange(BLOCKS * own.shape[0]):
        b, i = k // own.shape[0], k % own.shape[0]
        first, last = b * all_places.shape[0] // BLOCKS, (b + 1) * all_places.shape[0] // BLOCKS
        ax = ay = az = np.float32(0)
        for j in range(first, last):
            dx = all_places[j, 0] - own[i, 0]
            dy = all_places[j, 1] - own[i, 1]
            dz = all_places[j, 2] - own[i, 2]
            d = dx * dx + dy * dy + dz * dz + np.float32(1e-3)
            w = np.float32(1) / (d * np.sqrt(d))
            ax += w * dx
            ay += w * dy
            az += w * dz
        out[b, i, 0] = ax
        out[b, i, 1] = ay
        out[b, i, 2] = az


def black_scholes(price: Any, strike: Any, years: Any) -> Any:
    rate, vol = 0.02, 0.3
    root = vol * pp.sqrt(years)
    d1 = (pp.log(price / strike) + (rate + 0.5 * vol * vol) * years) / root
    half = 0.5 * pp.scipy.special.erfc(-d1 * 0.7071067811865476)
    other = 0.5 * pp.scipy.special.erfc(-(d1 - root) * 0.7071067811865476)
    return price * half - strike * pp.exp(-rate * years) * other


def k_means(x: Any, centers: Any, rounds: int) -> Any:
    """Centers of (k, d), which each device has."""
    k = centers.shape[0]
    numbers = pp.arange(k, device=x.device)
    for _ in range(rounds):
        far = (centers * centers).sum(axis=1) - 2 * (x @ centers.T)
        member = (pp.argmin(far, axis=1)[:, None] == numbers).astype("float32")
        centers = (member.T @ x) / pp.maximum(member.sum(axis=0), 1)[:, None]
    return centers


def relaxed(u: Any) -> Any:
    """A sweep of Jacobi's method with the rows of the neighbours; ends of the array stay."""
    v = pp.empty_like(u)
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    rows, columns = slice(None, None, u.shape[0] - 1), slice(None, None, u.shape[1] - 1)  # the first and the last
    v[rows], v[:, columns] = u[rows], u[:, columns]
    return v


def jacobi(u: Any, sweeps: int) -> Any:
    for _ in range(sweeps):
        u = u.map_shards(relaxed, halo=1) if isinstance(u, pp.ShardedArray) else relaxed(u)
    return u


def n_body(places: Any) -> Any:
    def part(own: Any, whole: Any) -> Any:
        out = pp.empty((BLOCKS, *own.shape), dtype=own.dtype, queue=own.queue)
        near_forces(own, whole, out)
        return out.sum(axis=0)

    if isinstance(places, pp.ShardedArray):
        return places.map_shards(part, places.reshard(None))
    return part(places, places)


class Problem:
    """A program on one device and on several, of the same data."""

    def __init__(self, name: str, make: Callable[[np.random.Generator], dict[str, Any]], run: Callable[..., Any], whole: str = "",
                 rtol: float = 1e-5, axis: int = 0) -> None:  # fmt: skip
        self.name, self.make, self.run, self.whole, self.rtol, self.axis = name, make, run, whole.split(), rtol, axis

    def on_one(self, data: dict[str, Any], device: Any) -> Run:
        given = {k: pp.asarray(v, device=device) if isinstance(v, np.ndarray) else v for k, v in data.items()}
        [x.wait() for x in given.values() if isinstance(x, pp.Array)]
        return lambda: self.run(**given)

    def on_several(self, data: dict[str, Any], devices: list[Any]) -> Run:
        given = {}
        for k, v in data.items():
            if not isinstance(v, np.ndarray):
                given[k] = v
            else:
                given[k] = pp.shard(v, devices, axis=None if k in self.whole else self.axis)
                given[k].wait()
        return lambda: self.run(**given)


def finished(x: Any) -> None:
    for one in x if isinstance(x, tuple) else (x,):
        one.wait()


def values(x: Any) -> list[np.ndarray]:
    return [pp.asnumpy(one) for one in (x if isinstance(x, tuple) else (x,))]


def problems(scale: float, names: list[str]) -> list[Problem]:
    def f(*shape: int, dtype: str = "float32", low: float = 0.0) -> Callable[[np.random.Generator], Any]:
        return lambda rng: (rng.random(shape, dtype=dtype if dtype in ("float32", "float64") else "float64") + low).astype(dtype)

    n, side, half = even(2**29 * scale), even(16384 * scale**0.5), even(16384 * scale ** (1 / 3))
    rows, bodies, tall, lines = even(1e7 * scale), even(2**18 * scale**0.5), even(1e7 * scale), even(1e9 * scale)

    def drawn(**what: Any) -> Callable[[np.random.Generator], dict[str, Any]]:
        return lambda rng: {k: v(rng) if callable(v) else v for k, v in what.items()}

    def qr(x: Any) -> Any:
        q, r = pp.linalg.qr(x)
        return pp.abs(r), pp.abs(q[:2])

    def sorted_(x: Any) -> Any:
        return pp.sort(x)

    def fft2(x: Any) -> Any:
        if isinstance(x, pp.ShardedArray):  # the result stays split along the other axis
            return pp.fft.fft(pp.fft.fft(x, axis=1).reshard(1), axis=0)
        return pp.fft.fft2(x)

    centers = f(64, 16)
    found = [
        Problem("Black-Scholes", drawn(price=f(n, dtype="float64", low=10), strike=f(n, dtype="float64", low=10),
                                       years=f(n, dtype="float64", low=1)), black_scholes, rtol=1e-12),
        Problem("k-means", drawn(x=f(rows, 16), centers=centers, rounds=20), k_means, "centers", rtol=3e-2),
        Problem("Jacobi", drawn(u=f(side, side, dtype="float64"), sweeps=100 if scale >= 0.5 else 20), jacobi, rtol=0),
        Problem("n-body", drawn(places=f(bodies, 3)), n_body, rtol=1e-3),
        Problem("matmul", drawn(a=f(half, half), b=f(half, half)), lambda a, b: a @ b, "b", rtol=1e-4),
        Problem("sort", drawn(x=f(lines)), sorted_, rtol=0),
        Problem("fft2", drawn(x=f(side, side, dtype="complex64")), fft2, rtol=1e-2),
        Problem("TSQR", drawn(x=f(tall, 64, low=-0.5)), qr, rtol=1e-2),
    ]  # fmt: skip
    return [p for p in found if not names or p.name in names]


def close(got: list[np.ndarray], wanted: list[np.ndarray], rtol: float) -> str:
    """Empty where all is as wanted."""
    for a, b in zip(got, wanted, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype} {a.shape} in place of {b.dtype} {b.shape}"
        if rtol == 0:
            if not np.array_equal(a, b):
                return "other values"
        else:
            scale = float(np.max(np.abs(b))) or 1.0
            off = float(np.max(np.abs(a - b))) / scale
            if not off <= rtol:
                return f"off by {off:.2g} of the largest value"
    return ""
