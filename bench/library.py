# bench/library.py: functions of the array library beside NumPy's: each program with both, in turns, in one process.
import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pardo as pp


class Row(NamedTuple):
    program: Callable[[Any, Any], Any]  # of the namespace and the arrays
    asked: float | None = None  # NumPy's time divided by pardo's, at least


def named_often(xp: Any, a: Any, count: int, places: Any, values: Any) -> Any:
    sums = xp.zeros(count)
    xp.add.at(sums, places, values)
    return sums


def regression(xp: Any, a: Any) -> Any:
    """300 steps of a logistic regression on (1797, 64)."""
    x, wanted = a.features, a.labels
    w = xp.zeros(64)
    for _ in range(300):
        p = 1.0 / (1.0 + xp.exp(-(x @ w)))
        w = w - 0.1 * (x.T @ (p - wanted) / 1797)
    return w


ROWS = {
    "add.at, 1000 places": Row(lambda xp, a: named_often(xp, a, 1000, a.few, a.y), 1.5),
    "add.at, as many places": Row(lambda xp, a: named_often(xp, a, a.n, a.many, a.y), 1.5),
    "fmax.reduce": Row(lambda xp, a: xp.fmax.reduce(a.x), 1.0),
    "bincount, 1000 places": Row(lambda xp, a: xp.bincount(a.few), 1.5),
    "bincount, weights": Row(lambda xp, a: xp.bincount(a.few, weights=a.y), 1.5),
    "bincount, as many places": Row(lambda xp, a: xp.bincount(a.many), 1.5),
    "histogram, 100 bins": Row(lambda xp, a: xp.histogram(a.x, bins=100)[0], 1.5),
    "histogram, weights": Row(lambda xp, a: xp.histogram(a.x, bins=100, weights=a.y)[0], 1.5),
    "histogram, edges": Row(lambda xp, a: xp.histogram(a.x, bins=a.edges)[0], 1.5),
    "digitize, 65 edges": Row(lambda xp, a: xp.digitize(a.x, a.edges), 1.5),
    "median": Row(lambda xp, a: xp.median(a.x), 1.5),
    "median of rows of 1000": Row(lambda xp, a: xp.median(a.rows, axis=1), 1.5),
    "percentile, three": Row(lambda xp, a: xp.percentile(a.x, [5, 50, 95]), 1.5),
    "nanmean": Row(lambda xp, a: xp.nanmean(a.holes), 1.5),
    "pad, constant": Row(lambda xp, a: xp.pad(a.rows, 3), 1.5),
    "pad, reflect": Row(lambda xp, a: xp.pad(a.rows, 3, mode="reflect"), 1.5),
    "pad, edge, one dimension": Row(lambda xp, a: xp.pad(a.x, 100, mode="edge"), 1.5),
    "interp, 1000 points": Row(lambda xp, a: xp.interp(a.x, a.points, a.heights), 1.5),
    "einsum ij,j->i": Row(lambda xp, a: xp.einsum("ij,j->i", a.rows, a.points), 1.5),
    "einsum i,i->": Row(lambda xp, a: xp.einsum("i,i->", a.x, a.y), 1.5),
    "einsum ij,ij->i": Row(lambda xp, a: xp.einsum("ij,ij->i", a.rows, a.rows), 1.5),
    "einsum ij,jk->ik": Row(lambda xp, a: xp.einsum("ij,jk->ik", a.rows, a.columns), 1.5),
    "einsum bij,bjk->bik": Row(lambda xp, a: xp.einsum("bij,bjk->bik", a.blocks, a.blocks), 1.5),
    "fft": Row(lambda xp, a: xp.fft.fft(a.x), 1.0),
    "rfft of rows of 1000": Row(lambda xp, a: xp.fft.rfft(a.rows), 1.0),
    "fft2": Row(lambda xp, a: xp.fft.fft2(a.rows), 1.0),
    "convolve, 66 weights": Row(lambda xp, a: xp.convolve(a.x, a.weights), 1.0),
    "convolve, 66 of 5000": Row(lambda xp, a: xp.convolve(a.x[:5000], a.weights), 1.0),
    "convolve, 1000 points": Row(lambda xp, a: xp.convolve(a.x, a.points), 1.0),
    "regression, 300 steps": Row(regression, 1.0),
}


class Arrays:
    """Inputs by name, as NumPy's arrays or pardo's."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(1)
        self.n = n
        self.x, self.y = rng.standard_normal(n), rng.random(n)
        self.holes = np.where(rng.random(n) < 0.1, np.nan, self.x)
        self.few, self.many = rng.integers(0, 1000, n), rng.integers(0, n, n)
        self.edges = np.linspace(-3, 3, 65)
        self.points, self.weights = np.linspace(-4, 4, 1000), rng.random(66)
        self.heights = np.sin(self.points)
        self.rows, self.columns = self.x.reshape(-1, 1000), rng.random((1000, 64))
        self.blocks = self.x.reshape(-1, 10, 10)
        self.features, self.labels = rng.random((1797, 64)), rng.integers(0, 2, 1797).astype(float)

    def on(self, device: str | None) -> "Arrays":
        other = object.__new__(Arrays)
        vars(other).update({k: pp.asarray(v, device=device).wait() if isinstance(v, np.ndarray) else v for k, v in vars(self).items()})
        return other


def measured(ours: Callable[[], Any], theirs: Callable[[], Any], budget: float) -> tuple[float, float]:
    """Best seconds of both, called in turns."""
    best = [float("inf"), float("inf")]
    end, rounds = time.perf_counter() + budget, 0
    while time.perf_counter() < end or rounds < 3:
        rounds += 1
        for k, call in enumerate((ours, theirs)):
            begin = time.perf_counter()
            call()
            best[k] = min(best[k], time.perf_counter() - begin)
    return best[0], best[1]


def arrays(options: argparse.Namespace) -> None:
    host = Arrays(options.n)
    here = host.on(options.device)
    print(f"{'':26}{'pardo, ms':>11}{'NumPy, ms':>11}{'NumPy / pardo':>15}{'asked':>7}")
    for name, row in ROWS.items():
        if options.rows and not any(name.startswith(r) for r in options.rows.split(",")):
            continue
        right = np.allclose(pp.asnumpy(row.program(pp, here)), row.program(np, host), equal_nan=True)
        mine, theirs = measured(lambda row=row: row.program(pp, here).wait(), lambda row=row: row.program(np, host), options.budget)
        verdict = ("" if theirs / mine >= (row.asked or 0) else "  NOT MET") + ("" if right else "  wrong")
        print(f"{name:26}{mine * 1e3:11.2f}{theirs * 1e3:11.2f}{theirs / mine:15.2f}{row.asked or 0:7.1f}{verdict}", flush=True)


# Methods of generators, and their arguments; n draws where the size is not among them.
DRAWS: list[tuple[str, tuple[Any, ...]]] = [
    ("integers", (1000,)), ("random", ()), ("standard_normal", ()), ("standard_gamma", (2.5,)), ("standard_gamma", (0.5,)),
    ("beta", (2.0, 3.0)), ("poisson", (3.0,)), ("poisson", (100.0,)), ("binomial", (10, 0.5)), ("binomial", (100, 0.3)),
    ("hypergeometric", (100, 60, 50)), ("vonmises", (0.0, 4.0)), ("zipf", (2.0,)),
]  # fmt: skip


def draws(options: argparse.Namespace) -> None:
    """Random numbers, which differ from NumPy's."""
    ours, theirs = pp.random.default_rng(1), np.random.default_rng(1)
    n, place = options.n, {"device": options.device}
    programs = {
        f"{name}({', '.join(map(str, given))})": (
            lambda name=name, given=given: getattr(ours, name)(*given, size=n, **place).wait(),
            lambda name=name, given=given: getattr(theirs, name)(*given, size=n),
        )
        for name, given in DRAWS
    }
    programs["permutation"] = (lambda: ours.permutation(n, **place).wait(), lambda: theirs.permutation(n))
    programs["choice(n, 8, replace=False)"] = (
        lambda: ours.choice(n, 8, replace=False, **place).wait(),
        lambda: theirs.choice(n, 8, replace=False),
    )
    print(f"\n{'':30}{'pardo, ms':>11}{'NumPy, ms':>11}{'NumPy / pardo':>15}")
    for text, (mine, other) in programs.items():
        best = measured(mine, other, options.budget)
        print(f"{text:30}{best[0] * 1e3:11.3f}{best[1] * 1e3:11.3f}{best[1] / best[0]:15.2f}", flush=True)


def repeated(call: Callable[[], Any], count: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            call()

    return run


def single(options: argparse.Namespace) -> None:
    """What single elements and small arrays of the host cost, in µs."""
    host, small = np.random.default_rng(1).random((100, 3)), np.random.default_rng(1).random(16)
    x, y = pp.asarray(host, device=options.device).wait(), pp.asarray(small, device=options.device).wait()
    queue = y.queue
    pairs = {
        "float(x[5, 0])": (lambda: float(x[5, 0]), lambda: float(host[5, 0])),
        "x[5, 0] = 2.5": (lambda: x.__setitem__((5, 0), 2.5), lambda: host.__setitem__((5, 0), 2.5)),
        "x + X against x + asarray(X)": (lambda: (y + small).wait(), lambda: (y + pp.asarray(small, queue=queue)).wait()),
    }
    print(f"\n{'':32}{'pardo, µs':>11}{'other, µs':>11}{'other / pardo':>15}")
    for name, (ours, theirs) in pairs.items():
        mine, other = measured(repeated(ours, 2000), repeated(theirs, 2000), options.budget)
        print(f"{name:32}{mine / 2000 * 1e6:11.3f}{other / 2000 * 1e6:11.3f}{other / mine:15.2f}", flush=True)


def imports() -> None:
    """Processes that import NumPy, and NumPy and pardo."""

    def seconds(program: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)
        return time.perf_counter() - begin

    programs = ["import numpy", "import numpy, pardo"]
    samples = [[seconds(program) for program in programs] for _ in range(15)][1:]
    alone, both = (statistics.median(column) for column in zip(*samples, strict=True))
    print(f"\nimport: NumPy {alone * 1e3:.0f} ms, pardo beyond it {(both - alone) * 1e3:.0f} ms; asked: 45")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench library", description="Functions of the array library beside NumPy's.")
    parser.add_argument("--device", help="a selection string; default: the default device")
    parser.add_argument("--n", type=lambda text: int(float(text)), default=10_000_000, help="number of elements, a multiple of 1000")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of samples each")
    parser.add_argument("--rows", help="comma-separated beginnings of names; 'none' for the host's costs alone")
    parser.add_argument("--no-draws", action="store_true", help="leave random numbers out")
    parser.add_argument("--no-host", action="store_true", help="leave single elements and the import out")
    options = parser.parse_args(arguments)
    arrays(options)
    if not options.no_draws:
        draws(options)
    if not options.no_host:
        single(options)
        imports()
    return 0


if __name__ == "__main__":
    sys.exit(main())
