# tests/python/test_sharded_algorithms.py: products, orders, indices, transforms, matrices, draws over several devices, against NumPy.
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pardo as pp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pardo._sharding import functions, sorting, transforms
from sharding_cases import KINDS, device, gathered, numbers, same, split

pytestmark = pytest.mark.once
DTYPES = ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


SHAPES = [
    ((4, 5), (5, 6)),
    ((3, 4, 5), (1, 5, 2)),
    ((1, 4, 5), (3, 5, 2)),
    ((5,), (5, 6)),
    ((5,), (5,)),
    ((0, 5), (5, 3)),
    ((4, 0), (0, 3)),
]


@pytest.fixture(params=KINDS)
def kind(request: Any) -> str:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=["everywhere", "samples"])
def short_rows(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short rows are sorted and transformed by each part; here also as long ones are."""
    if request.param == "samples":
        monkeypatch.setattr(sorting, "SMALL", 0)
        monkeypatch.setattr(transforms, "SMALL", 0)


# --- products ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_products_of_matrices(kind: str, first: Any, second: Any, rng: np.random.Generator) -> None:
    a, b = rng.random(first), rng.random(second)
    for along, across in itertools.product([None, *range(a.ndim)], [None, *range(b.ndim)]):
        same(split(a, kind, along) @ split(b, kind, across), a @ b, 1e-13)
    same(split(a, kind) @ b, a @ b, 1e-13)
    same(a @ split(b, kind), a @ b, 1e-13)


@pytest.mark.parametrize("text", ["ii->i", "ii", "ij,jk->ik", "ij,jk", "ij,kj->ik", "...i,...i", "ij,jk,kl->il", "i...->..."])
def test_sums_of_einstein(kind: str, text: str, rng: np.random.Generator) -> None:
    count = text.partition("->")[0].count(",") + 1
    x = [rng.random((5, 5)) for _ in range(count)]
    for axes in itertools.product([None, 0, 1], repeat=count):
        same(pp.einsum(text, *(split(v, kind, k) for v, k in zip(x, axes, strict=True))), np.einsum(text, *x), 1e-13)


def test_other_products(kind: str, rng: np.random.Generator) -> None:
    x, y = rng.random((5, 5)), rng.random((5, 5, 4))
    for k, m in itertools.product([None, 0, 1], [None, 0, 1, 2]):
        s, t = split(x, kind, k), split(y, kind, m)
        same(pp.tensordot(s, t, axes=1), np.tensordot(x, y, 1), 1e-13)
        same(pp.tensordot(s, t, axes=([0, 1], [1, 0])), np.tensordot(x, y, ([0, 1], [1, 0])), 1e-13)
        same(pp.dot(s, t), np.dot(x, y), 1e-13)
        z = split(x, kind, None if m is None else min(m, 1))
        same(pp.inner(s, z), np.inner(x, x), 1e-13)
        same(pp.vdot(s, z), np.vdot(x, x), 1e-13)
        same(pp.outer(s, z), np.outer(x, x))
        same(pp.vecdot(s, z, axis=0), np.vecdot(x.T, x.T), 1e-13)
        same(pp.matvec(z, s[0]), np.matvec(x, x[0]), 1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_all_dtypes(kind: str, dtype: str, rng: np.random.Generator) -> None:
    x = rng.integers(0, 2, (12, 7)).astype(dtype)
    same(pp.matmul(split(x.T.copy(), kind, 1), split(x, kind, 0)), pp.asnumpy(pp.matmul(pp.asarray(x.T.copy()), pp.asarray(x))), 1e-3)


def test_partial_sums_are_added_in_order(rng: np.random.Generator) -> None:
    x = rng.random((1000, 3))
    s = split(x, "halves")
    first, second = s.shards[0], s.shards[-1].to_device(s.shards[0].device)
    if len(s.shards) == 2:
        assert (pp.asnumpy(first.T @ first + second.T @ second) == gathered(s.T @ s)).all()
    assert gathered(s.T @ s).tobytes() == gathered(s.T @ s).tobytes()


def test_shapes_that_do_not_fit(kind: str) -> None:
    s = split(np.ones((4, 5)), kind)
    with pytest.raises(ValueError, match="matmul: "):
        s @ s
    with pytest.raises(ValueError, match="tensordot: "):
        pp.tensordot(s, s, axes=1)
    with pytest.raises(TypeError, match=r"to_device"):
        pp.matmul(s, s.T, out=s)


# --- orders ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short_rows")
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts(kind: str, dtype: str, rng: np.random.Generator) -> None:
    for n in (0, 1, 3, 500):
        x = numbers(rng, dtype, n)
        s, one = split(x, kind), pp.asarray(x)
        same(pp.sort(s), np.sort(x))
        same(np.argsort(s), np.argsort(x, stable=True))
        same(pp.sort(s, descending=True), pp.asnumpy(pp.sort(one, descending=True)))
        same(pp.argsort(s, descending=True), pp.asnumpy(pp.argsort(one, descending=True)))
        assert pp.sort(s).layout == s.layout
        s.sort()
        same(s, np.sort(x))


@pytest.mark.usefixtures("short_rows")
@pytest.mark.parametrize("shape", [(6, 5), (0, 3), (3, 0), (4, 2, 3), (30, 2)])
def test_sorts_along_axes(kind: str, shape: Any, rng: np.random.Generator) -> None:
    x = rng.integers(0, 9, shape)
    for k in [None, *range(len(shape))]:
        s = split(x, kind, k)
        for axis in [None, *range(-1, len(shape))]:
            same(pp.sort(s, axis=axis), np.sort(x, axis=axis))
            same(pp.argsort(s, axis=axis), np.argsort(x, axis=axis, stable=True))


def test_sorts_of_many_equal_and_of_sorted_elements(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "SMALL", 0)
    for x in (np.zeros(3000), np.arange(3000.0), np.arange(3000.0)[::-1].copy(), np.repeat([1.0, 0.0], 1500)):
        s = split(x, "uneven")
        same(pp.sort(s), np.sort(x))
        same(pp.argsort(s), np.argsort(x, stable=True))


@pytest.mark.usefixtures("short_rows")
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "complex128"])
def test_distinct_elements(kind: str, dtype: str, rng: np.random.Generator) -> None:
    for n, equal in itertools.product((0, 1, 300), (True, False)):
        x = numbers(rng, dtype, n)
        s, one = split(x, kind), pp.asarray(x)
        expected = pp.unique(one, True, True, True, equal_nan=equal)
        for found, wanted in zip(pp.unique(s, True, True, True, equal_nan=equal), expected, strict=True):
            same(found, pp.asnumpy(wanted))
        same(pp.unique(s, equal_nan=equal), pp.asnumpy(expected[0]))
    y = numbers(rng, dtype, (6, 5))
    for k in (None, 0, 1):
        for found, wanted in zip(pp.unique_all(split(y, kind, k)), pp.unique_all(pp.asarray(y)), strict=True):
            same(found, pp.asnumpy(wanted))
        same(pp.isin(split(y, kind, k), [1, 2]), np.isin(y, [1, 2]))


def test_places_in_sorted_rows(kind: str, rng: np.random.Generator) -> None:
    x, v = np.sort(rng.integers(0, 9, 40)), rng.integers(-1, 10, 7)
    for a, b in itertools.product((None, 0), repeat=2):
        for side in ("left", "right"):
            same(pp.searchsorted(split(x, kind, a), split(v, kind, b), side=side), np.searchsorted(x, v, side=side))
    same(pp.searchsorted(split(x, kind), v), np.searchsorted(x, v))
    same(pp.digitize(split(v, kind), x), np.digitize(v, x))


@pytest.mark.usefixtures("short_rows")
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_quantiles(kind: str, dtype: str, rng: np.random.Generator) -> None:
    for x in (rng.integers(0, 50, 101).astype(dtype), numbers(rng, dtype, 40)):
        s, one = split(x, kind), pp.asarray(x)
        same(pp.median(s), pp.asnumpy(pp.median(one)))
        for q, method in itertools.product((0.3, [0.1, 0.9], 1), ("linear", "lower", "hazen")):
            same(pp.quantile(s, q, method=method), pp.asnumpy(pp.quantile(one, q, method=method)))
        best, expected = pp.top_k(s, 3), pp.top_k(one, 3)
        same(best.values, pp.asnumpy(expected.values))
        same(best.indices, pp.asnumpy(expected.indices))
    y = rng.random((6, 5))
    for k, axis in itertools.product((None, 0, 1), (None, 0, 1)):
        same(pp.median(split(y, kind, k), axis=axis, keepdims=True), np.median(y, axis=axis, keepdims=True))
        same(pp.percentile(split(y, kind, k), [10, 50], axis=axis), np.percentile(y, [10, 50], axis=axis), 1e-15)
        if axis is not None:
            same(pp.partition(split(y, kind, k), 1, axis=axis)[(slice(None),) * axis + (1,)], np.sort(y, axis=axis).take(1, axis))
    assert np.isnan(gathered(pp.median(split(np.zeros(0), kind))))
    with pytest.raises(ValueError, match="kth is 9"):
        pp.partition(split(np.arange(5), kind), 9)


# --- sums of all before ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_running_sums(kind: str, dtype: str, rng: np.random.Generator) -> None:
    for shape in ((7,), (4, 3), (0, 3)):
        x = rng.integers(0, 3, shape).astype(dtype)
        for k, axis in itertools.product([None, *range(len(shape))], [None, *range(len(shape))]):
            s, one = split(x, kind, k), pp.asarray(x)
            for name in ("cumsum", "cumprod", "nancumsum"):
                same(getattr(pp, name)(s, axis=axis), pp.asnumpy(getattr(pp, name)(one, axis=axis)))
            if axis is not None:
                expected = pp.cumulative_sum(one, axis=axis, include_initial=True)
                same(pp.cumulative_sum(s, axis=axis, include_initial=True), pp.asnumpy(expected))
                if not dtype.startswith("c"):
                    same(np.maximum.accumulate(s, axis=axis), np.maximum.accumulate(x, axis=axis))


def test_folds_of_universal_functions(kind: str) -> None:
    x = np.arange(12).reshape(4, 3)
    for k in (None, 0, 1):
        s = split(x, kind, k)
        for axis in (0, 1):
            same(pp.maximum.reduce(s, axis=axis), np.maximum.reduce(x, axis=axis))
            same(np.bitwise_or.reduce(s, axis=axis, keepdims=True), np.bitwise_or.reduce(x, axis=axis, keepdims=True))
    with pytest.raises(TypeError, match=r"to_device"):
        pp.subtract.accumulate(split(x, kind, 0), axis=0)


# --- indices and masks -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(7,), (5, 3), (1, 7), (2, 5, 3)])
def test_indices(kind: str, shape: Any, rng: np.random.Generator) -> None:
    x = rng.integers(-9, 9, shape).astype("float64")
    for k in [None, *range(len(shape))]:
        s = split(x, kind, k)
        for axis in [None, *range(len(shape))]:
            n = x.size if axis is None else shape[axis]
            for extents in ((4,), (2, 3), (), (0,)):
                i = rng.integers(-n, n, extents)
                for where in (i, split(i, kind, None), split(i, kind, 0)):
                    same(pp.take(s, where, axis=axis), np.take(x, i, axis=axis))
            same(pp.take(s, [100, -50], axis=axis, mode="wrap"), np.take(x, [100, -50], axis=axis, mode="wrap"))
            if axis is not None:
                order = np.argsort(x, axis=axis, kind="stable")
                same(pp.take_along_axis(s, split(order, kind, k), axis=axis), np.take_along_axis(x, order, axis=axis))
        for r in range(1, len(shape) + 1):
            where = tuple(rng.integers(-shape[d], shape[d], (3, 2)) for d in range(r))
            values = rng.random((3, 2, *shape[r:]))
            stored = x.copy()
            stored[where] = values
            for form in (lambda i: i, lambda i: split(i, kind, None), lambda i: split(i, kind, 0)):
                key = tuple(map(form, where))
                same(s[key], x[where])
                t = split(x, kind, k)
                t[key] = form(values)
                same(t, stored)


@pytest.mark.parametrize("shape", [(7,), (5, 3), (1, 7), (7, 0)])
def test_masks(kind: str, shape: Any, rng: np.random.Generator) -> None:
    x = rng.integers(-9, 9, shape)
    mask = rng.random(shape) < 0.5
    values = rng.integers(0, 9, int(mask.sum()))
    for k, m in itertools.product([None, *range(len(shape))], repeat=2):
        s, where = split(x, kind, k), split(mask, kind, m)
        same(s[where], x[mask])
        same(s[mask], x[mask])
        for value in (7, values):
            stored = x.copy()
            stored[mask] = value
            t = split(x, kind, k)
            t[where] = value
            same(t, stored)
        for found, wanted in zip(pp.nonzero(s), np.nonzero(x), strict=True):
            same(found, wanted)
    row = mask[:, 0] if len(shape) > 1 and shape[1] else np.ones(shape[0], bool)
    same(split(x, kind)[row], x[row])
    same(pp.compress(row, split(x, kind), axis=0), np.compress(row, x, axis=0))
    same(pp.argwhere(split(x, kind)), np.argwhere(x))


def test_stores_by_indices(kind: str, rng: np.random.Generator) -> None:
    x = rng.random((5, 3))
    for k in (None, 0, 1):
        s, y = split(x, kind, k), x.copy()
        pp.put(s, [0, -1, 7], [1, 2])
        np.put(y, [0, -1, 7], [1, 2])
        same(s, y)
        np.add.at(s, ([0, 0, 4], [1, 1, 2]), [1, 2, 3])
        np.add.at(y, ([0, 0, 4], [1, 1, 2]), [1, 2, 3])
        same(s, y, 1e-15)


def test_wrong_indices_are_told_at_the_call(kind: str) -> None:
    s = split(np.arange(7), kind)
    for where in ([7], [-8], pp.asarray([0, 9], device=s.shards[0].device), split([1, 2, 8], kind)):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 7"):
            pp.take(s, where)
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 7"):
            s[where] = 1
    same(s, np.arange(7))
    with pytest.raises(IndexError, match="integers"):
        s[np.asarray([0.5])]
    with pytest.raises(IndexError, match="does not fit"):
        s[np.ones(6, bool)]
    with pytest.raises(ValueError, match="do not fit"):
        s[[1, 2]] = [1, 2, 3]


def test_counts(kind: str, rng: np.random.Generator) -> None:
    n, w = rng.integers(0, 6, 50), rng.integers(0, 9, 50).astype("float64")
    same(pp.bincount(split(n, kind)), np.bincount(n))
    same(pp.bincount(split(n, kind), split(w, kind), minlength=9), np.bincount(n, w, minlength=9))
    for found, wanted in zip(pp.histogram(split(w, kind), 7), np.histogram(w, 7), strict=True):
        same(found, wanted)


# --- transforms --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short_rows")
@pytest.mark.parametrize("n", [1, 2, 36, 101])
def test_transforms_of_rows(kind: str, n: int, rng: np.random.Generator) -> None:
    x = rng.random(n)
    s = split(x, kind)
    for name in ("fft", "ifft", "rfft", "ihfft", "irfft", "hfft"):
        for m in (None, n + 5, max(2, n - 3)):
            if m is None and n == 1 and name in ("irfft", "hfft"):
                continue
            same(getattr(pp.fft, name)(s, n=m), getattr(np.fft, name)(x, n=m), 1e-11)
    for norm in ("ortho", "forward"):
        same(np.fft.fft(s, norm=norm), np.fft.fft(x, norm=norm), 1e-11)
        same(pp.fft.irfft(s, 12, norm=norm), np.fft.irfft(x, 12, norm=norm), 1e-11)
    assert pp.fft.fft(s).layout == s.layout
    assert pp.fft.fft(s.astype("float32")).dtype == np.complex64


@pytest.mark.parametrize("shape", [(6, 5), (2, 3, 6), (1, 8)])
def test_transforms_along_axes(kind: str, shape: Any, rng: np.random.Generator) -> None:
    x = rng.random(shape)
    for k in [None, *range(len(shape))]:
        s = split(x, kind, k)
        for axis in range(len(shape)):
            for name in ("fft", "rfft", "irfft"):
                same(getattr(pp.fft, name)(s, n=7, axis=axis), getattr(np.fft, name)(x, n=7, axis=axis), 1e-12)
            same(pp.fft.dct(s, axis=axis), pp.asnumpy(pp.fft.dct(pp.asarray(x), axis=axis)), 1e-12)
        for name in ("fft2", "ifftn", "rfftn", "irfft2"):
            same(getattr(pp.fft, name)(s), getattr(np.fft, name)(x), 1e-12)
            same(getattr(pp.fft, name)(s, s=(4, 6), axes=(0, 1)), getattr(np.fft, name)(x, s=(4, 6), axes=(0, 1)), 1e-12)


# --- matrices ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(12, 3), (3, 12), (4, 4), (2, 12, 3), (0, 3)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_factors(kind: str, shape: Any, dtype: str, rng: np.random.Generator) -> None:
    x = (rng.random(shape) + (1j * rng.random(shape) if dtype == "complex128" else 0)).astype(dtype)
    for k in [None, *range(len(shape))]:
        s = split(x, kind, k)
        if k != len(shape) - 1:
            q, r = map(gathered, pp.linalg.qr(s))
            np.testing.assert_allclose(q @ r, x, atol=1e-12)
            unit = np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *r.shape[-2:-1] * 2))
            np.testing.assert_allclose(np.swapaxes(q.conj(), -1, -2) @ q, unit, atol=1e-12)
        u, values, vh = map(gathered, pp.linalg.svd(s, full_matrices=False))
        np.testing.assert_allclose((u * values[..., None, :]) @ vh, x, atol=1e-12)
        np.testing.assert_allclose(values, np.linalg.svd(x, compute_uv=False), atol=1e-12)
        if x.size:
            same(pp.linalg.pinv(s), np.linalg.pinv(x), 1e-9)
            same(pp.linalg.cond(s), np.linalg.cond(x), 1e-9)
            same(pp.linalg.matrix_rank(s), np.linalg.matrix_rank(x))


def test_systems(kind: str, rng: np.random.Generator) -> None:
    x, a, stack = rng.random((12, 3)), rng.random((4, 4)), rng.random((5, 4, 4))
    for y in (rng.random(12), rng.random((12, 2))):
        for right in (y, split(y, kind)):
            for found, wanted in zip(pp.linalg.lstsq(split(x, kind), right), np.linalg.lstsq(x, y, rcond=None), strict=True):
                same(found, np.asarray(wanted), 1e-10)
    b = rng.random((4, 6))
    for k in (None, 0, 1):
        same(pp.linalg.solve(a, split(b, kind, k)), np.linalg.solve(a, b), 1e-9)
    for k in (None, 0):
        s = split(stack, kind, k)
        same(pp.linalg.inv(s), np.linalg.inv(stack), 1e-9)
        same(pp.linalg.det(s), np.linalg.det(stack), 1e-9)
        same(pp.linalg.solve(s, split(b, kind, 1)), np.linalg.solve(stack, b), 1e-9)
    for name in ("inv", "det", "cholesky", "eigh"):
        with pytest.raises(TypeError, match=r"to_device"):
            getattr(pp.linalg, name)(split(a, kind))
    same(pp.linalg.matrix_power(split(a, kind), 3), np.linalg.matrix_power(a, 3), 1e-12)
    same(pp.linalg.multi_dot([split(a, kind), a, b]), a @ a @ b, 1e-12)


def test_norms_and_diagonals(kind: str, rng: np.random.Generator) -> None:
    x = rng.random((5, 4)) - 0.5
    for k in (None, 0, 1):
        s = split(x, kind, k)
        for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            same(pp.linalg.norm(s, ord=order, keepdims=True), np.linalg.norm(x, ord=order, keepdims=True), 1e-13)
        for order, axis in itertools.product((None, 0, 1, 3, -1, np.inf, -np.inf), (0, 1)):
            same(np.linalg.norm(s, ord=order, axis=axis), np.linalg.norm(x, ord=order, axis=axis), 1e-13)
        same(pp.linalg.vector_norm(s, ord=3), np.linalg.vector_norm(x, ord=3), 1e-13)
        for offset, axes in itertools.product((-9, -2, 0, 1, 3, 9), ((0, 1), (1, 0))):
            same(pp.trace(s, offset, *axes), np.trace(x, offset, *axes), 1e-13)
            same(pp.diagonal(s, offset, *axes), np.diagonal(x, offset, *axes))
    with pytest.raises(ValueError, match="Invalid norm order"):
        pp.linalg.norm(split(x, kind), ord=7)


# --- draws -------------------------------------------------------------------------------------------------------------------------------

DRAWS: dict[str, tuple[Any, ...]] = {
    "random": (), "standard_normal": (), "integers": (0, 10), "uniform": (1.0, 3.0), "gamma": (2.0, 3.0), "binomial": (10, 0.3),
    "weibull": (2.0,),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_those_of_one_device(name: str) -> None:
    for kind, size in itertools.product(["one", "halves", "uneven"], ((), (7,), (3, 5), (0,), (1, 6))):
        here, there = pp.random.default_rng(3), pp.random.default_rng(3)
        same(getattr(there, name)(*DRAWS[name], size=size, device=device(kind)), pp.asnumpy(getattr(here, name)(*DRAWS[name], size=size)))
        assert here.counter == there.counter


def test_draws_by_arrays(rng: np.random.Generator) -> None:
    means = np.arange(12.0).reshape(4, 3)
    for kind, k in itertools.product(["halves", "uneven"], (None, 0, 1)):
        here, there = pp.random.default_rng(3), pp.random.default_rng(3)
        same(there.normal(split(means, kind, k), 1.0), pp.asnumpy(here.normal(pp.asarray(means), 1.0)))
        same(there.integers(split(means.astype(int), kind, k), 99), pp.asnumpy(here.integers(pp.asarray(means.astype(int)), 99)))
        same(there.poisson([1.0, 2.0, 3.0], (4, 3), device=device(kind)), pp.asnumpy(here.poisson([1.0, 2.0, 3.0], (4, 3))))
        out = split(means, kind, k)
        assert there.random(out=out) is out
        same(out, pp.asnumpy(here.random((4, 3))))
    with pytest.raises(ValueError, match="scale must not be negative"):
        pp.random.default_rng(1).normal(0.0, -1.0, 4, device=device("halves"))
    with pytest.raises(TypeError, match=r"to_device"):
        pp.random.default_rng(1).permutation(5, device=device("halves"))


# --- all together ------------------------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    data=st.data(),
    dtype=st.sampled_from(["int32", "float32", "float64"]),
    shape=st.lists(st.integers(0, 6), min_size=1, max_size=3),
    kind=st.sampled_from(KINDS),
)
def test_random_arrays(data: Any, dtype: str, shape: list[int], kind: str) -> None:
    x = np.arange(int(np.prod(shape))).reshape(shape)[..., ::-1].copy().astype(dtype) % 7
    axis = data.draw(st.one_of(st.none(), st.integers(0, len(shape) - 1)))
    along = data.draw(st.integers(0, len(shape) - 1))
    s = split(x, kind, axis)
    same(pp.sort(s, axis=along), np.sort(x, axis=along))
    same(pp.cumsum(s, axis=along), np.cumsum(x, axis=along))
    same(s[s > 2], x[x > 2])
    same(pp.unique(s), np.unique(x))
    same(pp.tensordot(s, s, axes=len(shape)), np.asarray(np.tensordot(x, x, axes=len(shape))))
    if shape[along]:
        where = data.draw(st.lists(st.integers(-shape[along], shape[along] - 1), max_size=5))
        same(pp.take(s, where, axis=along), np.take(x, np.asarray(where, int), axis=along))


def test_devices_of_several_kinds(rng: np.random.Generator) -> None:
    """Parts of the processor, and another back end between them."""
    x = rng.integers(0, 9, (7, 4)).astype("float64")
    s, row = split(x, "mixed"), split(x[:, 0].copy(), "mixed")
    same(s.T @ s, x.T @ x, 1e-13)
    same(pp.sort(row), np.sort(x[:, 0]))
    same(pp.cumsum(s, axis=0), np.cumsum(x, axis=0))
    same(pp.take(s, [6, 0, -2, 3], axis=0), x[[6, 0, -2, 3]])
    same(s[s > 3], x[x > 3])
    same(pp.fft.fft(s, axis=0), np.fft.fft(x, axis=0), 1e-12)
    same(pp.linalg.norm(s), np.linalg.norm(x), 1e-13)
    q, r = map(gathered, pp.linalg.qr(s))
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    same(pp.random.default_rng(1).integers(0, 9, (7, 2), device=s.device), pp.asnumpy(pp.random.default_rng(1).integers(0, 9, (7, 2))))


def test_copies_of_algorithms_are_not_implicit(rng: np.random.Generator) -> None:
    """What a function by its nature exchanges is no copy that `transfer_guard` forbids; values of the host, and other splits, are."""
    x = rng.random((40, 4))
    s, row, other = split(x, "halves"), split(rng.random(20000), "halves"), split(x, "halves", 1)
    place = pp.argsort(row)
    with pp.transfer_guard("disallow"):
        for f in (pp.sort, pp.unique, pp.median, pp.nonzero, pp.fft.fft, pp.cumsum, pp.histogram):
            f(row)
        row[row > 0.5], pp.take(row, place)
        for f in (pp.linalg.qr, pp.linalg.norm, pp.fft.fft2, lambda v: v.T @ v, lambda v: v @ v.T, lambda v: pp.sort(v, axis=0)):
            f(s)
        calls = [lambda: pp.take(row, [1, 2]), lambda: row[np.ones(20000, bool)], lambda: row.__setitem__([1], 3.0)]
        if len(s.shards) > 1:
            calls.append(lambda: pp.einsum("ij,ij->i", s, other))
        for call in calls:
            with pytest.raises(pp.ExecutionPlacementError, match="would copy"):
                call()


def test_failures_name_the_part() -> None:
    @pp.kernel
    def beyond(item: pp.Item, x: Any, y: Any) -> None:
        i = item.get_id(0)
        y[i + 100 * x[i]] = x[i]

    def run(part: Any) -> Any:
        made = pp.zeros(part.shape, dtype=part.dtype, queue=part.queue)
        beyond[pp.Range(part.size)](part, made)
        return made

    for f in (lambda s: s[s > 2], pp.unique, pp.nonzero, pp.cumsum):
        failed = pp.shard(np.asarray([0, 0, 0, 1]), [pp.Queue("cpu"), pp.Queue("cpu")]).map_shards(run)
        with pytest.raises(IndexError, match=r"part 1 on cpu:0: .*out of bounds"):
            pp.asnumpy(f(failed)[0] if f is pp.nonzero else f(failed))


def test_layouts_depend_on_layouts_alone(kind: str, rng: np.random.Generator) -> None:
    first, second = rng.random((9, 4)), rng.random((9, 4))
    for f in (
        pp.sort, pp.argsort, pp.cumsum, pp.fft.fft, lambda s: s @ s.T, lambda s: pp.linalg.qr(s).Q, lambda s: pp.take(s, [1, 2, 3], axis=0)
    ):  # fmt: skip
        assert f(split(first, kind)).layout == f(split(second, kind)).layout


def test_rows_of_the_table_say_how() -> None:
    functions.read_all()
    assert all(row.splits for name, row in functions.TABLE.items() if row.function.__module__.endswith(("sorting", "linear", "gather")))
