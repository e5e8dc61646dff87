# tests/python/test_fusion_bits.py: what docs/guide/fusion.md promises of results with fusion on and off: the same bits, but for sums and
# products of floating-point numbers, which are within the bound of pairwise summation both ways and the same from run to run.
from __future__ import annotations

import itertools
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once  # runs in both modes itself

SHAPES = [(1000,), (64, 257), (300, 7), (7, 300), (33, 7, 19), (1, 3000), (3000, 1), (5, 40_000)]
LAYOUTS = ["rows", "columns", "reversed", "steps"]
DTYPES = ["bool", "int8", "int32", "uint64", "float16", "float32", "float64", "complex64"]

Case = tuple[str, tuple[int, ...], str, str, str]


def data(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind in "bui":
        return rng.integers(0, 2 if kind == "b" else 50, shape).astype(dtype)
    values = rng.standard_normal(shape)
    if kind == "c":
        return (values + 1j * rng.standard_normal(shape)).astype(dtype)
    values.flat[::97] = 0.0
    return values.astype(dtype)


def laid_out(values: np.ndarray, layout: str) -> pp.Array:
    if layout == "columns":
        return pp.asarray(np.ascontiguousarray(values.T)).T
    if layout == "reversed":
        return pp.asarray(values[::-1].copy())[::-1]
    if layout == "steps":
        return pp.asarray(np.repeat(values, 2, axis=-1))[..., ::2]
    return pp.asarray(values)


def mixed(x: pp.Array, y: pp.Array) -> pp.Array:
    """A value that reads both, of their dtype where there is such a one."""
    if x.dtype == pp.bool:
        return pp.logical_xor(x, y)
    return x * y - y


EXACT: dict[str, Callable[[pp.Array, pp.Array, Any], pp.Array]] = {
    "elementwise": lambda x, y, axis: mixed(x, y),
    "functions": lambda x, y, axis: pp.sin(x) * pp.exp(y) + x / (y * y + 1),
    "where": lambda x, y, axis: pp.where(x == y, x, mixed(x, y)),
    "any": lambda x, y, axis: (mixed(x, y) != 0).any(axis=axis),
    "all": lambda x, y, axis: (mixed(x, y) != 0).all(axis=axis),
    "count": lambda x, y, axis: (x == y).sum(axis=axis),
}
ORDERED: dict[str, Callable[[pp.Array, pp.Array, Any], pp.Array]] = {
    "min": lambda x, y, axis: mixed(x, y).min(axis=axis),
    "max": lambda x, y, axis: (mixed(x, y) * x if x.dtype != pp.bool else mixed(x, y)).max(axis=axis),
    "argmin": lambda x, y, axis: mixed(x, y).argmin(axis=axis),
    "argmax": lambda x, y, axis: mixed(x, y).argmax(axis=axis),
}
SUMS: dict[str, Callable[[pp.Array, pp.Array, Any], pp.Array]] = {
    "sum": lambda x, y, axis: mixed(x, y).sum(axis=axis),
    "sum of functions": lambda x, y, axis: (pp.sin(x) * y).sum(axis=axis),
    "prod": lambda x, y, axis: (mixed(x, y) * 0.001 + 1.0 if x.dtype in (pp.float32, pp.float64) else mixed(x, y)).prod(axis=axis),
    "mean": lambda x, y, axis: mixed(x, y).mean(axis=axis),
}


def cases(part: int) -> Iterator[tuple[Case, Callable[[], np.ndarray]]]:
    """One of three parts of the whole: each function meets all dtypes, and with each other shape and layout."""
    number = 0
    for (name, f), dtype in itertools.product({**EXACT, **ORDERED, **SUMS}.items(), DTYPES):
        if (name in ORDERED and dtype.startswith("complex")) or (name == "functions" and dtype in ("bool", "int8")):
            continue
        for shape in SHAPES:
            number += 1
            if number % 5 != part:
                continue
            axis = [None, *range(len(shape))][number % (len(shape) + 1)]
            first, second = LAYOUTS[number % 4], LAYOUTS[number // 4 % 4]
            x, y = data(dtype, shape, 1), data(dtype, shape, 2)

            def value(f: Any = f, x: Any = x, y: Any = y, axis: Any = axis, a: str = first, b: str = second) -> np.ndarray:
                return pp.asnumpy(f(laid_out(x, a), laid_out(y, b), axis))

            yield (name, shape, dtype, f"axis {axis}", f"{first}, {second}"), value


def promised(case: Case) -> bool:
    """True if the bits are the same with fusion on and off."""
    name, _, dtype, _, _ = case
    inexact = np.dtype(dtype).kind in "fc" or name in ("mean", "sum of functions")
    return name not in SUMS or not inexact


def results(part: int) -> dict[Case, np.ndarray]:
    return {case: value() for case, value in cases(part)}


@pytest.fixture(scope="module", params=range(3))
def part(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def both(part: int, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[Case, np.ndarray]]:
    folder = tmp_path_factory.mktemp("fusion")
    found = {}
    for mode in ("on", "off"):
        path = folder / mode
        subprocess.run([sys.executable, __file__, str(path), str(part)], env={**os.environ, "PARDO_FUSION": mode}, check=True)
        found[mode] = pickle.loads(path.read_bytes())
    return found


@pytest.mark.varied("part")
def test_results_have_the_same_bits_with_fusion_on_and_off(both: dict[str, dict[Case, np.ndarray]]) -> None:
    on, off = both["on"], both["off"]
    assert on.keys() == off.keys()
    wrong = [case for case in on if promised(case) and (on[case].dtype, on[case].tobytes()) != (off[case].dtype, off[case].tobytes())]
    assert not wrong, f"{len(wrong)} of {len(on)}: {wrong[:5]}"


def test_float_sums_are_as_near_as_pairwise_ones_both_ways() -> None:
    for n, dtype in itertools.product((1000, 64 * 257, 200_001), ("float32", "float64")):
        x, y = data(dtype, (n,), 3), data(dtype, (n,), 4)
        terms = [float(t) for t in (x * y)]
        bound = np.finfo(dtype).eps * (math.log2(n) + 2) * math.fsum(abs(t) for t in terms)
        a, b = pp.asarray(x), pp.asarray(y)
        fused = float((a * b).sum())
        product = (a * b).wait()
        apart = float(product.sum())
        assert abs(fused - math.fsum(terms)) <= bound
        assert abs(apart - math.fsum(terms)) <= bound


@pytest.mark.slow
def test_the_same_program_gives_the_same_bits_again(part: int, both: dict[str, dict[Case, np.ndarray]]) -> None:
    before = both["off" if os.environ.get("PARDO_FUSION") == "off" else "on"]
    wrong = [case for case, value in results(part).items() if value.tobytes() != before[case].tobytes()]
    assert not wrong, wrong[:5]


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(pickle.dumps(results(int(sys.argv[2]))))
