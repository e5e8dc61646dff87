# tests/python/test_saved_programs.py: functions that are exported do in another process what they did, for all sizes.
"""pardo.export and load_program: a sweep of functions over sizes against the functions themselves, bit by bit, bad input, and files."""

from __future__ import annotations

import ctypes
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types as types_module
from collections.abc import Callable
from typing import Any

import numpy as np
import pardo as pp
import pytest

# Sizes of the calls: those of the examples are others. Small ones, equal ones, one that threads share, one that bypasses the caches.
SIZES: list[dict[str, int]] = [
    {"n": 7, "m": 5, "k": 3},
    {"n": 100, "m": 40, "k": 9},
    {"n": 1, "m": 5, "k": 3},
    {"n": 0, "m": 5, "k": 2},
    {"n": 64, "m": 64, "k": 64},
    {"n": 2, "m": 3, "k": 2},
    {"n": 3, "m": 2, "k": 4},
    {"n": 33, "m": 1, "k": 1},
    {"n": 1025, "m": 513, "k": 4},
    {"n": 5, "m": 7, "k": 0},
    {"n": 4, "m": 1024, "k": 2},
    {"n": 300_001, "m": 4, "k": 2},
    {"n": 1_500_001, "m": 1, "k": 1},
]
EXAMPLES = {"n": 10, "m": 12, "k": 14}


def heat(x: Any) -> Any:
    y = pp.zeros_like(x)
    y[1:-1, 1:-1] = x[1:-1, 1:-1] + 0.1 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1])
    return y


def softmax(x: Any) -> Any:
    e = pp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def steps(x: Any) -> Any:
    for _ in range(3):
        x = x + 0.5 * pp.sin(x)
    return x


def assigned(x: Any) -> Any:
    y = x.copy()
    y[::2] = 0
    y[1:] += y[:-1]
    return y


def pair(x: Any, views: Callable[[Any], Any]) -> Any:
    return views(x)


OUTSIDE = np.arange(2.0)

# Name -> function and the shapes of its arguments, in letters.
FUNCTIONS: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "scale": (lambda x: 2 * x + 1, ["n"]),
    "outer": (lambda x, y: x[:, None] * y, ["n", "m"]),
    "sum": (lambda x: x.sum(), ["n"]),
    "means": (lambda x: (x.mean(), x.mean(axis=0), x.mean(axis=1)), ["nm"]),
    "var": (lambda x: x.var(), ["nm"]),
    "std": (lambda x: x.std(axis=1), ["nm"]),
    "softmax": (softmax, ["nm"]),
    "transposed": (lambda x, y: x.T + y, ["nm", "mn"]),
    "order": (lambda x: x.T * 2, ["nm"]),
    "argmax": (lambda x: (x.argmax(), pp.argmin(x)), ["n"]),
    "heat": (heat, ["nm"]),
    "steps": (steps, ["n"]),
    "several": (lambda x: (x + 1, x.sum(), x * 2), ["n"]),
    "itself": (lambda x: x, ["n"]),
    "view": (lambda x: x[1:], ["n"]),
    "reversed": (lambda x: x[::-1] * 1, ["n"]),
    "strided": (lambda x: x[::3] + 1, ["n"]),
    "halves": (lambda x: x[::2].sum() - x[1::2].sum(), ["n"]),
    "where": (lambda x: pp.where(x > 0.5, x, -x), ["n"]),
    "reshaped": (lambda x: (x.reshape(-1) * 2).reshape(x.shape).sum(axis=0), ["nm"]),
    "indices": (lambda x: x * pp.arange(x.shape[0]), ["n"]),
    "outside": (lambda x: x * pp.asarray(OUTSIDE)[:, None], ["n"]),
    "assigned": (assigned, ["n"]),
    "normalised": (lambda x, y: (x - y.mean(axis=0)) / y.std(axis=0), ["nm", "km"]),
    "three": (lambda x: x.sum(axis=1) + x[:, 0, :], ["nmk"]),
    "distances": (lambda x, y: ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2), ["nk", "mk"]),
    "joined": (lambda x: pp.concatenate([x, x * 2]), ["n"]),
    "rolled": (lambda x: pp.roll(x, 1), ["n"]),
    "padded": (lambda x: pp.pad(x, 1), ["n"]),
    "norm": (lambda x: pp.linalg.norm(x), ["n"]),
    "narrow": (lambda x: x.astype("float32").mean(), ["n"]),
    "half": (lambda x: x.astype("float16") * 2, ["n"]),
    "complex": (lambda x: (x * 1j + 1).real.sum(), ["n"]),
    "special": (lambda x: pp.special.erf(x) + pp.special.gammaln(x + 1), ["n"]),
    "spaced": (lambda x: x * pp.linspace(0, 5, x.shape[0]) + pp.fft.fftfreq(x.shape[0]), ["n"]),
    "spaced32": (lambda x: x.astype("float32") * pp.linspace(-1, 3, x.shape[0], dtype="float32"), ["n"]),
    "scaled": (lambda x: x * (1.5 * x.shape[0]), ["n"]),
    "shifted": (lambda x: pair(2 * x + 1, lambda y: (y[1:], y[:-1])), ["n"]),
    "parted": (lambda x: pair(x + 1, lambda y: (y[::2], y[1::2], y[:, 1:], y.T)), ["nm"]),
    "apart": (lambda x: pair(x * 1j, lambda y: (y.real, y.imag)), ["nm"]),
    "bools": (lambda x: (lambda b: (b.any(), b.all(axis=0), b.sum(), b.argmax(), b.argmin()))((x > 0.5) | (x < 0.1)), ["nm"]),
    "truth": (lambda x: ((x > 0.9).any(), (x > 0.9).sum()), ["n"]),
}


def places(x: Any, count: int) -> Any:
    """Positions in an axis of so many elements, as numbers in [0, 1) say."""
    return (x * count).astype("int64")


def scattered(x: Any, y: Any) -> Any:
    z = x.copy()
    z[places(y, 2)] = y.sum()
    pp.add.at(z, places(y, 2), 1.0)
    z[z > 0.5] = 0
    return z


def positive(x: Any) -> Any:
    return x @ x.T + 9 * pp.eye(x.shape[0])


# The same of functions that call routines of the library.
ROUTINES: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "matmul": (lambda x, y: (2 * x + 1) @ pp.exp(y) + 1, ["nm", "mk"]),
    "sorted": (lambda x: (pp.sort(x, axis=0), pp.argsort(x), x[pp.argsort(x[:, 0])]), ["nm"]),
    "filtered": (lambda x: pp.fft.irfft(pp.fft.rfft(x) * 0.5, n=x.shape[0]), ["n"]),
    "solve": (lambda x, y: pp.linalg.solve(positive(x), y), ["nm", "n"]),
    "scattered": (scattered, ["n", "k"]),
    "products": (lambda x, y: (x.T @ y, x @ y.T, x[:, 0] @ y, y @ x[0], (y.T @ x).T + 1), ["nm", "nm"]),
    "vectors": (lambda x, y: (x @ y, pp.vecdot(x, y), pp.inner(x, y)), ["n", "n"]),
    "stacks": (lambda x, y: (x @ y, pp.einsum("kij,jl->lik", x, y)), ["knm", "mn"]),
    "tensordot": (lambda x, y: pp.tensordot(x, y, axes=1), ["knm", "mk"]),
    "kron": (lambda x, y: pp.kron(x, y), ["nk", "km"]),
    "partition": (lambda x: (pp.partition(x, 1), pp.argpartition(x, 1), pp.nanmedian(x)), ["n"]),
    "top_k": (lambda x: pp.top_k(x, 2), ["n"]),
    "running": (lambda x: (x.cumsum(axis=1), pp.cumprod(x, axis=0), pp.maximum.accumulate(x)), ["nm"]),
    "fft": (lambda x: (pp.fft.fft(x), pp.fft.ifft(x), pp.fft.fft(x, norm="ortho"), pp.fft.rfft(x, norm="forward")), ["n"]),
    "fft2": (lambda x: (pp.fft.fft2(x), pp.fft.ifft2(x), pp.fft.fft2(x, norm="ortho"), pp.fft.rfft2(x)), ["nm"]),
    "fftn": (lambda x: pp.fft.fftn(x), ["nmk"]),
    "matrices": (lambda x: (pp.linalg.inv(positive(x)), pp.linalg.cholesky(positive(x)), pp.linalg.det(positive(x))), ["nm"]),
    "eigenvalues": (lambda x: (*pp.linalg.eigh(positive(x)), pp.linalg.eigvals(positive(x))), ["nm"]),
    "covariances": (lambda x: (pp.cov(x, ddof=0), pp.corrcoef(x)), ["nm"]),
    "factors": (lambda x: (*pp.linalg.svd(x, full_matrices=False), *pp.linalg.qr(x), pp.linalg.pinv(x)), ["nm"]),
    "gathered": (lambda x, y: (pp.take(x, places(y, 2)), x[places(y, 2)], x[places(y, 2), places(y, 1)]), ["nm", "k"]),
    "named": (lambda x: x[pp.asarray(np.array([0, 1, 1]))], ["nm"]),
    "along": (lambda x: pp.take_along_axis(x, pp.argsort(x, axis=1), axis=1), ["nm"]),
    "searched": (lambda x, y: pp.searchsorted(pp.sort(x), y), ["n", "m"]),
    "interpolated": (lambda x, y: pp.interp(x, pp.sort(y), y), ["n", "m"]),
    "histogram": (lambda x: pp.histogram(x, bins=8, range=(0, 1))[0], ["n"]),
}


def arrays_for(specs: list[str], sizes: dict[str, int], seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.random(tuple(sizes[c] for c in spec)) for spec in specs]


def outcome(call: Callable[[], Any]) -> Any:
    try:
        result = call()
        return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]
    except Exception as e:
        return type(e)


def assert_same_bits(a: Any, b: Any, sizes: object) -> None:
    assert (a.dtype, a.shape) == (b.dtype, b.shape), sizes
    assert a.tobytes() == b.tobytes(), sizes


def exported(name: str, folder: pathlib.Path, **options: Any) -> Any:
    function, specs = (FUNCTIONS | ROUTINES)[name]
    path = pp.export(function, *(pp.asarray(x) for x in arrays_for(specs, EXAMPLES)), path=folder / f"{name}.pardo", **options)
    return pp.load_program(path)


IN_BOUNDS = {"gathered": 2, "scattered": 2, "named": 2}  # the least n and m: failures that nobody waits for are reported
FAST = ["matmul", "sorted", "filtered", "solve", "scattered"]


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FAST else pytest.mark.slow) for n in FUNCTIONS | ROUTINES])
def test_programs_give_the_bits_of_their_functions(name: str, tmp_path: pathlib.Path) -> None:
    function, specs = (FUNCTIONS | ROUTINES)[name]
    program = exported(name, tmp_path)
    before = pp.counters()["compiled"]
    for sizes in SIZES:
        given = arrays_for(specs, sizes, 1)
        if sum(x.nbytes for x in given) > 2**26 or (name in ROUTINES and max(sizes.values()) > 2000):
            continue
        if min(sizes["n"], sizes["m"]) < IN_BOUNDS.get(name, 0):
            continue
        got = outcome(lambda given=given: program(*(pp.asarray(x) for x in given)))
        assert pp.counters()["compiled"] == before
        want = outcome(lambda given=given: function(*(pp.asarray(x) for x in given)))
        before = pp.counters()["compiled"]
        if isinstance(want, type):
            assert isinstance(got, type), f"{sizes}: the function raises {want}, the program does not"
            continue
        assert not isinstance(got, type), f"{sizes}: the program raises {got}"
        for a, b in zip(want, got, strict=True):
            assert_same_bits(a, b, sizes)


def test_arguments_of_any_layout(tmp_path: pathlib.Path) -> None:
    program = exported("softmax", tmp_path)
    x = np.random.default_rng(0).random((40, 30))
    want = np.asarray(softmax(pp.asarray(x)))
    for given in (pp.asarray(x.T.copy()).T, pp.asarray(np.repeat(x, 2, axis=0))[::2], pp.asarray(x[::-1].copy())[::-1]):
        np.testing.assert_array_equal(np.asarray(program(given)), want)
    np.testing.assert_array_equal(np.asarray(program(x)), want)  # NumPy's
    np.testing.assert_array_equal(np.asarray(program(pp.asarray(x) * 1)), want)  # recorded, not computed


def test_functions_that_write_into_their_arguments(tmp_path: pathlib.Path) -> None:
    def update(x: Any, y: Any) -> None:
        y[...] = x * 2 + y
        x[1:] = 0

    program = pp.load_program(pp.export(update, pp.zeros(10), pp.zeros(10), path=tmp_path / "update.pardo"))
    x, y = pp.arange(5.0), pp.ones(5)
    reader = y + 1  # recorded before: it keeps the values of before
    assert program(x, y) is None
    np.testing.assert_array_equal(np.asarray(y), [1, 3, 5, 7, 9])
    np.testing.assert_array_equal(np.asarray(x), [0, 0, 0, 0, 0])
    np.testing.assert_array_equal(np.asarray(reader), 2)
    with pytest.raises(ValueError, match="row-major"):
        program(x, pp.asarray(np.zeros(10))[::2])
    with pytest.raises(ValueError, match="shares memory with"):
        program(x, x)
    fixed = pp.zeros(5)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        program(x, fixed)


def test_written_arguments_with_extents_of_one(tmp_path: pathlib.Path) -> None:
    """Strides of extents of 1 say nothing of where elements are."""

    def grow(x: Any) -> None:
        x[...] = x + 1

    program = pp.load_program(pp.export(grow, pp.zeros((5, 1)), path=tmp_path / "grow.pardo"))
    x = pp.zeros((1, 6))
    program(x.T)
    program(x[0, 2:][:, None])
    np.testing.assert_array_equal(np.asarray(x), [[1, 1, 2, 2, 2, 2]])


def test_copies_are_not_written(tmp_path: pathlib.Path) -> None:
    """What is written into a copy of NumPy's array would be lost."""

    def grow(x: Any, y: Any) -> None:
        x[...] = x + y

    program = pp.load_program(pp.export(grow, pp.zeros(5), pp.zeros(5), path=tmp_path / "grow.pardo"))
    for x in (np.zeros(5), [0.0] * 5):
        with pytest.raises(ValueError, match="argument x is written, and is read-only, as copies of lists and of NumPy's arrays are"):
            program(x, np.ones(5))
    own = pp.zeros(5)
    program(own, np.ones(5))
    np.testing.assert_array_equal(np.asarray(own), 1)


def test_functions_that_never_do_the_same_again(tmp_path: pathlib.Path) -> None:
    generator = pp.random.default_rng(3)
    with pytest.raises(ValueError, match="something else each time that it runs, as one does that draws from a generator outside"):
        pp.export(lambda x: x + generator.normal(size=x.shape), pp.zeros(5), path=tmp_path / "g.pardo")
    with pytest.raises(ValueError, match="or each time that it runs"):
        pp.export(lambda x: x + generator.normal(size=x.shape), pp.zeros(5), path=tmp_path / "g.pardo", any_size=False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_roots_of_sizes(dtype: str, tmp_path: pathlib.Path) -> None:
    def scaled(q: Any, k: Any) -> Any:
        return q @ k.T / math.sqrt(q.shape[-1]) + 1 / math.sqrt(k.shape[0])

    program = pp.load_program(pp.export(scaled, pp.zeros((5, 8), dtype=dtype), pp.zeros((6, 8), dtype=dtype), path=tmp_path / "s.pardo"))
    rng = np.random.default_rng(3)
    for n, m, d in ((2, 3, 4), (7, 5, 64), (30, 20, 33)):
        q, k = (pp.asarray(rng.normal(size=(rows, d)).astype(dtype)) for rows in (n, m))
        np.testing.assert_array_equal(np.asarray(program(q, k)), np.asarray(scaled(q, k)))


def test_written_numbers_follow_no_other_queue(tmp_path: pathlib.Path) -> None:
    """Numbers of the host are copied to the queue of the others: what is written there would be lost."""

    def total(x: Any, y: Any) -> None:
        y[...] = x.sum()

    program = pp.load_program(pp.export(total, pp.zeros(5), pp.zeros(()), path=tmp_path / "total.pardo"))
    queue = pp.Queue("cpu")
    y = pp.zeros(())
    with pytest.raises(pp.ExecutionPlacementError, match="total: argument y is written, and on another queue, of cpu:0"):
        program(pp.ones(5, queue=queue), y)
    program(pp.ones(5), y)
    assert float(y) == 5


def test_sizes_that_are_equal_in_the_examples_are_one(tmp_path: pathlib.Path) -> None:
    program = pp.load_program(pp.export(lambda x, y: x + y, pp.zeros(10), pp.zeros(10), path=tmp_path / "add.pardo"))
    assert program.signature == "program(x: float64[n], y: float64[n]) -> float64"
    with pytest.raises(ValueError, match="n is 3 already"):
        program(pp.zeros(3), pp.zeros(4))
    with pytest.raises(ValueError, match="shape"):
        program(pp.zeros((3, 3)), pp.zeros(3))
    with pytest.raises(TypeError, match="float64, got float32"):
        program(pp.zeros(3, dtype="float32"), pp.zeros(3))
    with pytest.raises(TypeError, match="takes 2 arguments, 1 were given"):
        program(pp.zeros(3))


def test_programs_run_on_queues_of_ones_own(tmp_path: pathlib.Path) -> None:
    program = pp.load_program(pp.export(lambda x, s: x * s, pp.zeros(10), pp.asarray(2.0), path=tmp_path / "p.pardo"))
    for order in ("in_order", "out_of_order"):
        queue = pp.Queue("cpu", order=order)
        x = pp.asarray(np.arange(4.0), queue=queue)
        y = program(x + 1, pp.asarray(3.0))  # a 0-d array follows
        assert y.queue == queue
        np.testing.assert_array_equal(pp.asnumpy(y), [3, 6, 9, 12])
    others = [d for d in pp.get_devices() if d.backend != "cpu"]
    if others:
        with pytest.raises(pp.DeviceError, match="code for CPUs"):
            program(pp.zeros(3, device=others[0]), pp.asarray(1.0, device=others[0]))


def test_programs_for_one_shape(tmp_path: pathlib.Path) -> None:
    path = pp.export(lambda x: x * pp.linspace(0, 1, x.shape[0]), pp.zeros(10), path=tmp_path / "one.pardo", any_size=False)
    program = pp.load_program(path)
    np.testing.assert_array_equal(np.asarray(program(pp.ones(10))), np.asarray(pp.linspace(0, 1, 10)))
    with pytest.raises(ValueError, match="extent was 10"):
        program(pp.ones(11))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x * float(x.sum()), "reads a value"),
        (lambda x: x + 1 if x.sum() > 0 else x, "reads a value"),
        (lambda x: x + 1 if x.shape[0] > 1000 else x - 1, "does something else where sizes are 1025"),
        (lambda x: x[: x.shape[0] * x.shape[0] // 7 % 5], "something else|no formula"),
        (lambda x: pp.unique(x), "unique gives as many elements as values say"),
        (lambda x: x[x > 0], r"x\[mask\] gives as many elements as values say"),
        (lambda x: pp.nonzero(x)[0], "nonzero gives as many elements as values say"),
        (lambda x: x * float(np.log(x.shape[0])), "no formula"),
    ],
)
def test_what_cannot_be_exported_is_refused(function: Callable[..., Any], message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=message):
        pp.export(function, pp.zeros(10), path=tmp_path / "no.pardo")
    assert not list(tmp_path.iterdir())


def test_contents_that_depend_on_sizes_are_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"takes from the host .* has other values or another shape where sizes are 3"):
        pp.export(lambda x: x + pp.asarray(np.arange(x.shape[0]) / 7), pp.zeros(10), path=tmp_path / "no.pardo")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three", "distances"])
def test_all_choices_of_three_sizes_have_a_plan(name: str, tmp_path: pathlib.Path) -> None:
    program = exported(name, tmp_path)
    rng = np.random.default_rng(3)
    for sizes in (2 ** rng.uniform(0, 15, (2000, 3))).astype(int).tolist():
        if np.prod(sizes) < 2e6:
            given = arrays_for(FUNCTIONS[name][1], dict(zip("nmk", sizes, strict=True)))
            program(*(pp.asarray(x) for x in given))


def outside_of_the_samples(x: Any) -> Any:
    x[20] = 1e300
    return x.sum()


@pytest.mark.parametrize(
    ("function", "specs", "sizes"),
    [
        (lambda x: x[:20] * 2, ["n"], [{"n": n} for n in (2, 17, 18, 19, 20, 21, 31, 40)]),
        (lambda x: x[20:50].sum(), ["n"], [{"n": n} for n in (19, 20, 21, 33, 34, 40, 50, 51, 64)]),
        (lambda x: x[6] + x, ["nm"], [{"n": n, "m": 4} for n in (5, 6, 7, 8)]),
        (lambda x: x[:7].sum(axis=0), ["nm"], [{"n": n, "m": 5} for n in (2, 5, 6, 7, 8, 9, 12)]),
        (lambda x: x + x.T, ["nn"], [{"n": n} for n in (0, 1, 2, 3, 64, 257)]),
        (lambda x: x[:, None] * x, ["n"], [{"n": n} for n in (0, 1, 2, 3, 64, 257)]),
        (lambda x: x * (-x.shape[0]) + x.shape[0] ** 2, ["n"], [{"n": n} for n in (1, 2, 3, 100)]),
        (lambda x: (x * (1 + 2j)).mean(), ["n"], [{"n": n} for n in (1, 2, 3, 100)]),
    ],
)
def test_sizes_between_samples(function: Callable[..., Any], specs: list[str], sizes: list[dict[str, int]], tmp_path: pathlib.Path) -> None:
    program = pp.load_program(pp.export(function, *(pp.asarray(x) for x in arrays_for(specs, EXAMPLES)), path=tmp_path / "p.pardo"))
    for one in sizes:
        given = arrays_for(specs, one, 2)
        got = outcome(lambda given=given: program(*(pp.asarray(x) for x in given)))
        want = outcome(lambda given=given: function(*(pp.asarray(x) for x in given)))
        assert isinstance(got, type) == isinstance(want, type), one
        for a, b in zip(want, got, strict=True) if isinstance(want, list) else ():
            assert_same_bits(a, b, one)


def test_nothing_outside_of_an_argument_is_written(tmp_path: pathlib.Path) -> None:
    program = pp.load_program(pp.export(outside_of_the_samples, pp.zeros(30), path=tmp_path / "p.pardo"))
    for n in (5, 18, 19, 20):
        b = pp.asarray(np.zeros(32))
        with pytest.raises(ValueError, match="out of bounds"):
            program(b[:n])
        assert not np.asarray(b).any()
    b = pp.asarray(np.zeros(32))
    assert float(program(b[:21])) == 1e300
    assert float(b[20]) == 1e300


def test_arrays_of_the_host_are_each_their_own(tmp_path: pathlib.Path) -> None:
    def two(x: Any) -> Any:
        a, b = pp.asarray(np.zeros(3)), pp.asarray(np.zeros(3))
        a += x.sum()
        return a, b

    program = pp.load_program(pp.export(two, pp.zeros(10), path=tmp_path / "two.pardo"))
    for _ in range(2):
        a, b = program(pp.ones(4))
        np.testing.assert_array_equal(np.asarray(a), 4)
        np.testing.assert_array_equal(np.asarray(b), 0)
    program = pp.load_program(
        pp.export(lambda x: (x.sum() + pp.asarray(np.arange(3.0)), pp.asarray(np.arange(3.0))), pp.zeros(10), path=tmp_path / "c.pardo")
    )
    given = program(pp.zeros(2))[1]
    given += 100
    np.testing.assert_array_equal(np.asarray(program(pp.zeros(2))[0]), [0, 1, 2])


def test_arrays_of_earlier_runs_are_refused(tmp_path: pathlib.Path) -> None:
    kept: list[Any] = []

    def remembers(x: Any) -> Any:
        if not kept:
            kept.append(pp.asarray(np.arange(3.0)))
        return x.sum() + kept[0]

    with pytest.raises(ValueError, match="kept from an earlier run"):
        pp.export(remembers, pp.zeros(10), path=tmp_path / "no.pardo")
    with pytest.raises(ValueError, match="kept from an earlier run"):
        pp.export(lambda x: x.sum() + kept[0], pp.zeros(10), path=tmp_path / "no.pardo")


def test_arrays_of_other_queues_are_read_when_they_are_met(tmp_path: pathlib.Path) -> None:
    def adds(x: Any) -> Any:
        other, total = pp.zeros(3, device="cpu"), x.sum()
        for k in range(3):
            other[...] = k
            total = total + other
        return total

    program = pp.load_program(pp.export(adds, pp.zeros(10), path=tmp_path / "p.pardo"))
    np.testing.assert_array_equal(np.asarray(program(pp.ones(4))), 7)


def test_commands_of_queues_are_refused(tmp_path: pathlib.Path) -> None:
    def fills(x: Any) -> Any:
        y = pp.zeros(4)
        y.queue.fill(y, 3.0)
        return y + x.sum()

    def fills_an_argument(x: Any) -> None:
        x.queue.fill(x, 3.0)

    for function in (fills, fills_an_argument):
        with pytest.raises(ValueError, match="in use"):
            pp.export(function, pp.zeros(10), path=tmp_path / "no.pardo")


def test_more_sizes_than_plans_can_be_made_for(tmp_path: pathlib.Path) -> None:
    examples = [pp.zeros(10 + k) for k in range(5)]
    with pytest.raises(ValueError, match="5 different extents, of 4 at most"):
        pp.export(lambda *a: sum(x.sum() for x in a), *examples, path=tmp_path / "no.pardo")
    path = pp.export(lambda *a: sum(x.sum() for x in a), *examples, path=tmp_path / "p.pardo", any_size=False)
    assert float(pp.load_program(path)(*(x + 1 for x in examples))) == 60


def test_errors_of_the_function_are_its_own(tmp_path: pathlib.Path) -> None:
    class OwnError(Exception):
        pass

    def fails(x: Any) -> Any:
        raise OwnError("so")

    with pytest.raises(OwnError, match="so"):
        pp.export(fails, pp.zeros(3), path=tmp_path / "no.pardo")
    with pytest.raises(TypeError, match="gives arrays, not int"):
        pp.export(lambda x: 3, pp.zeros(3), path=tmp_path / "no.pardo")
    with pytest.raises(ValueError, match='no target "z80"'):
        pp.export(lambda x: x, pp.zeros(3), path=tmp_path / "no.pardo", targets=["z80"])
    with pytest.raises(ValueError, match="cannot write"):
        pp.export(lambda x: x, pp.zeros(3), path=tmp_path / "nowhere" / "no.pardo")
    with pytest.raises(TypeError, match="an example is needed"):
        pp.export(lambda: pp.zeros(3), path=tmp_path / "no.pardo")


OPENCL = [d for d in pp.get_devices() if d.backend == "opencl"]


def test_targets_of_devices_take_their_compiler(tmp_path: pathlib.Path) -> None:
    for name in ("sm_1", "sm_90x", "compute_90", "OpenCL"):
        with pytest.raises(ValueError, match=rf'no target "{name}"; there are "x86-64-v3", .*"opencl" and "sm_80"'):
            pp.export(lambda x: x, pp.zeros(3), path=tmp_path / "no.pardo", targets=[name])
    script = "import pardo as pp\npp.export(lambda x: x + 1, pp.zeros(10), path='no.pardo', targets=['x86-64-v3', 'sm_80'])\n"
    environment = os.environ | {"PARDO_NVRTC": "/nowhere/libnvrtc.so"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert 'ImportError: export: target "sm_80": needs NVIDIA\'s run-time compiler: `pip install pardo' in done.stderr
    assert not list(tmp_path.iterdir())


def test_devices_that_a_file_is_not_for_are_refused(tmp_path: pathlib.Path) -> None:
    path = pp.export(lambda x: x + 1, pp.zeros(10), path=tmp_path / "texts.pardo", targets=["opencl"])
    with pytest.raises(pp.DeviceError, match='program: has code for opencl; cpu:0 runs none of these: export it with "x86-64-v3" among'):
        pp.load_program(path, device="cpu")
    for device in OPENCL:
        program = pp.load_program(path)  # without a choice: the first device that it is for
        assert (program.device.backend, program.target, program.targets) == ("opencl", "opencl", ["opencl"])
        with pytest.raises(pp.DeviceError, match="cpu:0 runs none of these"):
            program(pp.zeros(4))
        np.testing.assert_array_equal(pp.asnumpy(program(pp.zeros(4, device=device))), 1)
    path = pp.export(lambda x: x + 1, pp.zeros(10), path=tmp_path / "code.pardo")
    for device in OPENCL:
        with pytest.raises(pp.DeviceError, match=rf'has code for CPUs \(x86-64-v3.*\); {device.id} runs none.*"opencl" among the targets'):
            pp.load_program(path, device=device)
    with pytest.raises(TypeError, match="load_program: device must be"):
        pp.load_program(path, device=3)  # type: ignore[arg-type]


@pytest.mark.skipif(not OPENCL, reason="no OpenCL device")
def test_drivers_compile_texts_once_a_machine(tmp_path: pathlib.Path) -> None:
    path = pp.export(softmax, pp.zeros((10, 12), dtype="float32"), path=tmp_path / "softmax.pardo", targets=["opencl"])
    script = (
        "import sys, numpy as np, pardo as pp\n"
        "x = np.random.default_rng(0).random((100, 30), 'float32')\n"
        "y = pp.load_program(sys.argv[1], device=sys.argv[2])(x)\n"
        "assert y.device.id == sys.argv[2]\n"
        "print(pp.counters()['compiled'], pp.asnumpy(y).tobytes().hex())\n"
    )
    environment = os.environ | {"PARDO_CACHE_DIR": str(tmp_path / "cache"), "PARDO_CACHE": "on"}
    command = [sys.executable, "-c", script, path, OPENCL[0].id]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split() for _ in range(2))
    assert int(first[0]) > 0
    assert (second[0], second[1]) == ("0", first[1])


def test_interruptions_end_an_export(tmp_path: pathlib.Path) -> None:
    calls = []

    def interrupted(x: Any) -> Any:
        calls.append(x.shape)
        if x.shape == (0,):  # of a regime where errors are kept for later
            raise KeyboardInterrupt
        return x + 1

    with pytest.raises(KeyboardInterrupt):
        pp.export(interrupted, pp.zeros(3), path=tmp_path / "no.pardo")
    assert calls
    pp.export(lambda x: x + 1, pp.zeros(3), path=tmp_path / "yes.pardo")  # the next one is not disturbed


def test_exports_inside_of_exports_are_refused(tmp_path: pathlib.Path) -> None:
    def nested(x: Any) -> Any:
        pp.export(lambda y: y, pp.zeros(3), path=tmp_path / "inner.pardo")
        return x

    with pytest.raises(ValueError, match="exports another one"):
        pp.export(nested, pp.zeros(3), path=tmp_path / "no.pardo")


def test_errors_for_some_sizes_are_raised_for_these(tmp_path: pathlib.Path) -> None:
    def least(x: Any) -> Any:
        if x.shape[0] == 0:
            raise ZeroDivisionError("no elements")
        return x.min()

    program = pp.load_program(pp.export(least, pp.zeros(3), path=tmp_path / "least.pardo"))
    assert float(program([3.0, 1.0])) == 1
    with pytest.raises(ValueError, match="least: for n = 0: ZeroDivisionError: no elements"):
        program(np.zeros(0))


def test_arrays_outlive_no_export(tmp_path: pathlib.Path) -> None:
    kept = []

    def keeps(x: Any) -> Any:
        kept.append(x)
        return x + 1

    pp.export(keeps, pp.zeros(10), path=tmp_path / "kept.pardo")
    with pytest.raises(ValueError, match="export"):
        pp.asnumpy(kept[0] * 2)


def test_another_process_runs_it_without_compiling(tmp_path: pathlib.Path) -> None:
    path = pp.export(FUNCTIONS["softmax"][0], pp.zeros((10, 12)), path=tmp_path / "softmax.pardo")
    script = (
        "import sys, numpy as np, pardo as pp\n"
        "x = np.random.default_rng(0).random((100, 30))\n"
        "y = np.asarray(pp.load_program(sys.argv[1])(pp.asarray(x)))\n"
        "print(pp.counters()['compiled'], pp.counters()['from_pack'], y.tobytes().hex())\n"
    )
    environment = os.environ | {"PARDO_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True, env=environment)
    compiled, packed, bits = done.stdout.split()
    assert (compiled, packed) == ("0", "0")
    x = np.random.default_rng(0).random((100, 30))
    assert bytes.fromhex(bits) == np.asarray(softmax(pp.asarray(x))).tobytes()


def test_files_that_are_no_programs(tmp_path: pathlib.Path) -> None:
    path = pathlib.Path(pp.export(lambda x: x + 1, pp.zeros(10), path=tmp_path / "add.pardo"))
    assert re.fullmatch(r"add-[0-9a-f]{16}\.pardo", path.name)
    good = path.read_bytes()
    other = tmp_path / "other"
    with pytest.raises(FileNotFoundError):
        pp.load_program(tmp_path / "none")
    for at in (30, 60, 200):  # code for other targets is not looked at
        other.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        with pytest.raises(ValueError, match="damaged"):
            pp.load_program(other)
        other.write_bytes(good[:at])
        with pytest.raises(ValueError, match=r"damaged|no program"):
            pp.load_program(other)
    other.write_bytes(b"not a program")
    with pytest.raises(ValueError, match="no program"):
        pp.load_program(other)
    other.write_bytes(good[:8] + b"\x63\0\0\0" + good[12:])
    with pytest.raises(ValueError, match="format 99"):
        pp.load_program(other)
    with pytest.raises(ValueError, match="load_program"):
        pp.load(path)


def test_the_same_export_is_the_same_file(tmp_path: pathlib.Path) -> None:
    first = pp.export(FUNCTIONS["means"][0], pp.zeros((10, 12)), path=tmp_path / "a.pardo")
    second = pp.export(FUNCTIONS["means"][0], pp.ones((10, 12)), path=tmp_path / "b.pardo")
    assert pathlib.Path(first).read_bytes() == pathlib.Path(second).read_bytes()


def test_threads_run_one_program(tmp_path: pathlib.Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    program = exported("softmax", tmp_path)
    x = np.random.default_rng(0).random((200, 30))
    want = np.asarray(softmax(pp.asarray(x)))
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: np.asarray(program(pp.asarray(x))), range(64)):
            np.testing.assert_array_equal(got, want)


def test_exports_run_in_threads(tmp_path: pathlib.Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def one(k: int) -> Any:
        return pp.load_program(pp.export(lambda x: pp.cumsum(x * k) + x.sum(), pp.zeros(10), path=tmp_path / f"{k}.pardo"))(pp.ones(4))

    with ThreadPoolExecutor(4) as pool:
        for k, got in enumerate(pool.map(one, range(8))):
            np.testing.assert_array_equal(np.asarray(got), k * np.arange(1, 5) + 4.0)


def test_a_function_waits_for_a_thread_that_exports(tmp_path: pathlib.Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    paths: list[str] = []

    def waits(x: Any) -> Any:
        if not paths:
            with ThreadPoolExecutor(1) as pool:
                paths.append(pool.submit(lambda: pp.export(lambda y: y + 1, pp.zeros(3), path=tmp_path / "inner.pardo")).result())
        return x * 2

    program = pp.load_program(pp.export(waits, pp.zeros(3), path=tmp_path / "outer.pardo"))
    np.testing.assert_array_equal(np.asarray(program(pp.ones(2))), 2)
    np.testing.assert_array_equal(np.asarray(pp.load_program(paths[0])(pp.ones(2))), 2)


def test_refusals_name_their_line(tmp_path: pathlib.Path) -> None:
    @pp.jit
    def total(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
        return s

    def number(x: Any) -> Any:
        return x * total(x)

    def folded(x: Any) -> Any:
        y = pp.logaddexp.reduce(x)
        return y + 1

    def read(x: Any) -> Any:
        return x * float(x.sum())

    cases = {number: "total gives numbers to Python.*out.0. .= x.i", folded: "launches logaddexp", read: "reads a value"}
    for function, message in cases.items():
        line = r"\(at .*test_saved_programs.py:" + (r"\d+" if function is number else str(function.__code__.co_firstlineno + 1)) + r"\)"
        with pytest.raises(ValueError, match=rf"(?s){message}.*") as caught:
            pp.export(function, pp.zeros(10), path=tmp_path / "no.pardo")
        assert re.search(line, str(caught.value)), caught.value


def test_loops_keep_numbers_in_arrays(tmp_path: pathlib.Path) -> None:
    @pp.jit
    def total(x, out):
        for i in range(x.shape[0]):
            out[0] += x[i]

    def scaled(x: Any) -> Any:
        out = pp.zeros(1)
        total(x, out)
        return x * out[0]

    program = pp.load_program(pp.export(scaled, pp.zeros(10), path=tmp_path / "scaled.pardo"))
    np.testing.assert_array_equal(np.asarray(program(np.arange(4.0))), 6 * np.arange(4.0))


@pp.kernel
def weighted(item, x, w, y):
    i = item.get_id(0)
    total = 0.0
    for k in range(w.shape[0]):
        total += w[k] * x[(i + k) % x.shape[0]]
    y[i] = total


@pp.jit
def halved(x, y):
    for i in pp.prange(x.shape[0]):
        y[i] = x[i] / 2 if x[i] > 0.5 else x[i]


def both(x: Any, w: Any) -> Any:
    y = pp.empty_like(x)
    weighted[x.shape[0]](x + 1, w, y)
    z = pp.empty_like(x)
    halved(y, z)
    return z.sum() + z


def test_kernels_and_loops_are_part_of_programs(tmp_path: pathlib.Path) -> None:
    program = pp.load_program(pp.export(both, pp.zeros(10), pp.zeros(12), path=tmp_path / "both.pardo"))
    for n, m in ((1, 1), (2, 3), (10, 4), (1000, 7), (100_001, 5)):
        x, w = np.random.default_rng(0).random(n), np.random.default_rng(1).random(m)
        got, want = np.asarray(program(x, w)), np.asarray(both(pp.asarray(x), pp.asarray(w)))
        np.testing.assert_array_equal(got, want)


def test_failures_of_kernels_name_their_line(tmp_path: pathlib.Path) -> None:
    @pp.kernel
    def gather(item, x, i, y):
        y[item.get_id(0)] = x[i[item.get_id(0)]]

    def at(x: Any, i: Any) -> Any:
        y = pp.empty_like(x)
        gather[x.shape[0]](x, i, y)
        return y

    program = pp.load_program(pp.export(at, pp.zeros(10), pp.zeros(10, dtype="int64"), path=tmp_path / "at.pardo"))
    np.testing.assert_array_equal(np.asarray(program(np.arange(3.0), np.array([2, 0, -1]))), [2, 0, 2])
    with pytest.raises(IndexError, match=r"gather: .*index 5(.|\n)*\(item 1\)(.|\n)*test_saved_programs.py") as caught:
        np.asarray(program(np.arange(3.0), np.array([2, 5, 1])))
    assert "y[item.get_id(0)] = x[i[item.get_id(0)]]" in str(caught.value)


def test_failures_of_routines_name_their_line(tmp_path: pathlib.Path) -> None:
    def inverse(x: Any) -> Any:
        return pp.linalg.inv(x)

    def picked(x: Any, i: Any) -> Any:
        return x[i]

    program = pp.load_program(pp.export(inverse, pp.zeros((10, 10)), path=tmp_path / "inverse.pardo"))
    np.testing.assert_array_equal(np.asarray(program(2 * np.eye(3))), np.eye(3) / 2)
    with pytest.raises(np.linalg.LinAlgError, match=r"inv: Singular matrix \(at .*test_saved_programs.py"):
        np.asarray(program(np.zeros((3, 3))))
    program = pp.load_program(pp.export(picked, pp.zeros(10), pp.zeros(12, dtype="int64"), path=tmp_path / "at.pardo"))
    line = picked.__code__.co_firstlineno + 1
    with pytest.raises(IndexError, match=rf"index 3 is out of bounds for axis 0 with size 3 \(.*test_saved_programs.py:{line}\)"):
        np.asarray(program(np.zeros(3), np.full(4, 3)))


def test_routines_write_what_they_are_given(tmp_path: pathlib.Path) -> None:
    def put(x: Any, i: Any) -> None:
        x[i] = 1.0

    program = pp.load_program(pp.export(put, pp.zeros(10), pp.zeros(12, dtype="int64"), path=tmp_path / "put.pardo"))
    x = pp.zeros(4)
    reader = x + 1
    assert program(x, np.array([1, -1])) is None
    np.testing.assert_array_equal(np.asarray(x), [0, 1, 0, 1])
    np.testing.assert_array_equal(np.asarray(reader), 1)
    fixed = pp.zeros(5)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        program(fixed, np.array([1]))


# --- the C library -----------------------------------------------------------------------------------------------------------------------


class RunArray(ctypes.Structure):
    """pardo_run_array."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 64),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]
PACKAGE = pathlib.Path(pp.__file__).parent
ARCHIVE = PACKAGE / "lib" / "libpardo_run.a"
NEEDS_THE_LIBRARY = pytest.mark.skipif(
    not ARCHIVE.exists() or not shutil.which("cc"), reason="needs the installed package and a C compiler"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """libpardo_run.a as a shared library, so that ctypes can call it."""
    made = tmp_path_factory.mktemp("run") / "run.so"
    names = ["load", "unload", "run_error", "program_outputs", "run", "run_shapes", "run_free"]
    source = made.with_suffix(".c")  # the library shows its functions to those who link it alone
    table = ", ".join(f"(void*)pardo_{name}" for name in names)
    source.write_text(f"#include <pardo/c_api.h>\n#include <pardo/run.h>\nvoid* functions[] = {{{table}}};\n")
    flags = ["-shared", "-fPIC", f"-I{PACKAGE / 'include'}", str(source), str(ARCHIVE), "-lstdc++", "-lm", "-ldl", "-lpthread"]
    subprocess.run(["cc", "-o", str(made), *flags], check=True)
    handle = ctypes.CDLL(str(made))
    addresses = (ctypes.c_void_p * len(names)).in_dll(handle, "functions")
    array = ctypes.POINTER(RunArray)
    run = [ctypes.c_void_p, array, ctypes.c_int32, array, ctypes.c_int32]
    types = {
        "load": (ctypes.c_void_p, [ctypes.c_char_p]),
        "unload": (None, [ctypes.c_void_p]),
        "run_error": (ctypes.c_char_p, []),
        "program_outputs": (ctypes.c_int32, [ctypes.c_void_p]),
        "run": (ctypes.c_int32, run),
        "run_shapes": (ctypes.c_int32, run),
        "run_free": (None, [ctypes.c_void_p]),
    }
    functions = {f"pardo_{name}": ctypes.CFUNCTYPE(types[name][0], *types[name][1])(at) for name, at in zip(names, addresses, strict=True)}
    return types_module.SimpleNamespace(handle=handle, **functions)


def described(x: Any) -> RunArray:
    strides = (ctypes.c_int64 * max(x.ndim, 1))(*(s // x.itemsize for s in x.strides))
    shape = (ctypes.c_int64 * 64)(*x.shape)
    return RunArray(x.ctypes.data, DTYPES.index(x.dtype.name) + 1, x.ndim, shape, ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)))


def run_in_c(library: Any, program: Any, arguments: list[Any], outputs: int) -> Any:
    given = (RunArray * len(arguments))(*(described(x) for x in arguments))
    results = (RunArray * outputs)()
    if library.pardo_run(program, given, len(arguments), results, outputs) != 0:
        return library.pardo_run_error().decode()
    arrays = []
    for r in results:
        shape = tuple(r.shape[: r.ndim])
        dtype = np.dtype(DTYPES[r.dtype - 1])
        count = int(np.prod(shape))
        arrays.append(np.frombuffer(ctypes.string_at(r.data, count * dtype.itemsize), dtype).reshape(shape))
        library.pardo_run_free(r.data)
    return arrays


@NEEDS_THE_LIBRARY
@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_c_gives_the_same_bits(name: str, library: Any, tmp_path: pathlib.Path) -> None:
    function, specs = FUNCTIONS[name]
    path = pp.export(function, *(pp.asarray(x) for x in arrays_for(specs, EXAMPLES)), path=tmp_path / f"{name}.pardo")
    program, loaded = pp.load_program(path), library.pardo_load(path.encode())
    assert loaded, library.pardo_run_error()
    for sizes in SIZES:
        given = arrays_for(specs, sizes, 1)
        if sum(x.nbytes for x in given) > 2**26:
            continue
        want = outcome(lambda given=given: program(*(pp.asarray(x) for x in given)))
        got = run_in_c(library, loaded, given, library.pardo_program_outputs(loaded))
        if isinstance(want, type):
            assert isinstance(got, str)
            continue
        for a, b in zip(want, got, strict=True):
            assert_same_bits(a, b, sizes)
    library.pardo_unload(loaded)


@NEEDS_THE_LIBRARY
def test_c_refuses_programs_with_routines(library: Any, tmp_path: pathlib.Path) -> None:
    path = pp.export(lambda x: pp.sort(x) + pp.cumsum(x), pp.zeros(10), path=tmp_path / "s.pardo")
    assert not library.pardo_load(path.encode())
    assert b"calls routines of the whole library (sort, cumulative)" in library.pardo_run_error()


@NEEDS_THE_LIBRARY
def test_c_runs_the_code_of_processors_alone(library: Any, tmp_path: pathlib.Path) -> None:
    path = pp.export(lambda x: x + 1, pp.zeros(10), path=tmp_path / "both.pardo", targets=["opencl", "x86-64-v3"])
    loaded = library.pardo_load(path.encode())
    np.testing.assert_array_equal(run_in_c(library, loaded, [np.zeros(3)], 1)[0], 1)
    library.pardo_unload(loaded)
    path = pp.export(lambda x: x + 1, pp.zeros(10), path=tmp_path / "texts.pardo", targets=["opencl"])
    assert not library.pardo_load(path.encode())
    assert b"it has code for opencl, and this library runs code of CPUs" in library.pardo_run_error()
    assert b"pardo.load_program" in library.pardo_run_error()


@NEEDS_THE_LIBRARY
def test_c_takes_strides_and_gives_into_memory(library: Any, tmp_path: pathlib.Path) -> None:
    path = pp.export(lambda x: (x * 2, x[1:]), pp.zeros(10), path=tmp_path / "v.pardo")
    loaded = library.pardo_load(path.encode())
    shared = np.ones(5)
    both = (RunArray * 2)(described(shared), RunArray())
    assert library.pardo_run(loaded, described(shared), 1, both, 2) == -1
    assert b"lies in the memory of argument" in library.pardo_run_error()
    library.pardo_unload(loaded)
    path = pp.export(lambda x: x.T * 2, pp.zeros((10, 12)), path=tmp_path / "t.pardo")
    loaded = library.pardo_load(path.encode())
    x = np.random.default_rng(0).random((9, 8))
    for given in (x, x.T.copy().T, x[::-1], x[::2, 1::3], np.broadcast_to(x[:1], (5, 8))):
        np.testing.assert_array_equal(run_in_c(library, loaded, [given], 1)[0], given.T * 2)
    into = np.zeros((8, 18))[:, ::2]
    assert library.pardo_run(loaded, described(x), 1, described(into), 1) == 0
    np.testing.assert_array_equal(into, x.T * 2)
    wrong = np.zeros((9, 8))
    assert library.pardo_run(loaded, described(x), 1, described(wrong), 1) == -1
    assert b"another dtype or shape" in library.pardo_run_error()
    shapes = (RunArray * 1)()
    assert library.pardo_run_shapes(loaded, described(x), 1, shapes, 1) == 0
    assert (tuple(shapes[0].shape[:2]), shapes[0].dtype, shapes[0].data) == ((8, 9), 12, None)
    assert library.pardo_run(loaded, described(x.astype("float32")), 1, shapes, 1) == -1
    assert b"float64, got dtype 11" in library.pardo_run_error()
    assert library.pardo_run(loaded, None, 0, shapes, 1) == -1
    assert library.pardo_run(None, described(x), 1, shapes, 1) == -1
    assert not library.pardo_load(b"/nowhere")
    assert b"cannot load /nowhere" in library.pardo_run_error()
    assert not library.pardo_load(None)
    library.pardo_unload(loaded)
    library.pardo_unload(None)


@NEEDS_THE_LIBRARY
def test_c_runs_in_many_threads_and_after_fork(library: Any, tmp_path: pathlib.Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    path = pp.export(softmax, pp.zeros((10, 12)), path=tmp_path / "softmax.pardo")
    loaded = library.pardo_load(path.encode())
    x = np.random.default_rng(0).random((3000, 40))
    want = run_in_c(library, loaded, [x], 1)[0]
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: run_in_c(library, loaded, [x], 1)[0], range(64)):
            np.testing.assert_array_equal(got, want)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(run_in_c(library, loaded, [x], 1)[0], want) else 1)
    assert os.waitpid(child, 0)[1] == 0


@NEEDS_THE_LIBRARY
def test_the_example_in_c(tmp_path: pathlib.Path) -> None:
    folder = pathlib.Path(__file__).resolve().parents[2] / "examples" / "exported"
    if not folder.exists():
        pytest.skip("not in a source tree")
    done = subprocess.run(
        [sys.executable, str(folder / "export.py"), str(tmp_path / "s.pardo")], capture_output=True, text=True, check=True
    )
    program = tmp_path / "smooth"
    flags = [f"-I{PACKAGE / 'include'}", "-std=c99", "-Wall", "-Wextra", "-Werror", str(folder / "smooth.c"), str(ARCHIVE)]
    subprocess.run(["cc", *flags, "-o", str(program), "-lstdc++", "-lm", "-ldl", "-lpthread"], check=True)
    printed = subprocess.run([str(program), done.stdout.strip()], capture_output=True, text=True, check=True).stdout.splitlines()
    assert printed[0].startswith("smooth(x: float32[n, m]) -> float32, x86-64-v")
    x = np.arange(1, 25, dtype="float32").reshape(6, 4)
    inner = (x[2:] + 2 * x[1:-1] + x[:-2]) / 4
    np.testing.assert_allclose([[float(v) for v in line.split()] for line in printed[1:]], inner / inner.max(axis=1, keepdims=True), 1e-5)
    undefined = subprocess.run(["nm", "-u", str(ARCHIVE)], capture_output=True, text=True, check=True).stdout
    assert not [line for line in undefined.splitlines() if line.startswith(" ") and any(n in line for n in ("pardo", "llvm", "tbb"))]
    assert ARCHIVE.stat().st_size < 2**21
