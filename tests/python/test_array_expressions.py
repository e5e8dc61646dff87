# tests/python/test_array_expressions.py: expressions of jit functions on large arrays of NumPy: what NumPy gives, in one operation.
import re

import numpy as np
import pardo as pp
import pytest

N = 1 << 16
SCALE = 0.25


def arithmetic(x, y):
    return x * 2 + y[::-1] / 3 - SCALE


def slices(x, y):
    z = 4 * x[1:-1] - (x[2:] + x[:-2])
    y[1:-1] = z * z + y[1:-1]
    return z


def integers(x, y):
    return (x // 3 + y % 7) ^ (x & 5) | -y


def masks(x, y):
    return np.where((x > y) & (x < 3 * y), np.maximum(x, y) + 1, 0)


def functions(x, y):
    y += np.sqrt(np.abs(x)) * np.clip(y, 0, 2) + np.pi
    return y


def powers(x, y):
    small = np.float32(0.5) * x[:4] + y[:4]
    return (x * x - y**2) * small[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("function", [arithmetic, slices, integers, masks, functions, powers], ids=lambda f: f.__name__)
def test_expressions_give_what_numpy_gives(function, dtype):
    if function is integers and dtype[0] == "f":
        pytest.skip("has no bits")
    rng = np.random.default_rng(1)
    x, y = (rng.integers(1, 100, N).astype(dtype) for _ in range(2))
    if function is functions and dtype not in ("float32", "float64"):
        y = y.astype("float64")
    mine, other = y.copy(), y.copy()
    compiled = pp.jit(function)
    recorded = pp.counters()["recorded"]
    got, expected = compiled(x, mine), function(x, other)
    assert pp.counters()["recorded"] > recorded
    assert type(got) is np.ndarray
    assert got.dtype == expected.dtype
    assert got.flags.writeable
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(mine, other)


def test_a_single_operator_is_worth_it_on_very_large_arrays():
    @pp.jit
    def shifted(x, by):
        for _ in range(by):
            x = x - 1
        return x + by

    x = np.arange(1 << 20, dtype="f4")
    before = pp.counters()["recorded"]
    np.testing.assert_array_equal(shifted(x[1:], 0), x[1:])
    assert pp.counters()["recorded"] == before
    np.testing.assert_array_equal(shifted(x, 2), x)
    assert pp.counters()["recorded"] > before


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_histograms_are_numpys(dtype, rng):
    @pp.jit
    def counts(x, bins):
        return np.histogram(x, bins), np.histogram(x)[0] / np.histogram(x[::2], bins, density=False)[0].sum()

    for values in (rng.normal(0, 100, 300_001), np.linspace(0, 50, 200_000), np.zeros(200_000), rng.integers(0, 9, 70_000)):
        x = values.astype(dtype)
        recorded = pp.counters()["recorded"]
        (got, edges), share = counts(x, 37)
        assert (pp.counters()["recorded"] > recorded) == (x.size > 100_000)
        expected = np.histogram(x, 37)
        for mine, numpys in zip((got, edges, share), (*expected, np.histogram(x)[0] / np.histogram(x[::2], 37)[0].sum()), strict=True):
            assert type(mine) is np.ndarray
            assert mine.dtype == numpys.dtype
            np.testing.assert_array_equal(mine, numpys)
    for bad, bins in ((np.full(200_000, np.nan), 10), (x.astype("f8").repeat(3), -1)):
        with pytest.raises(ValueError) as numpys:
            np.histogram(bad, bins)
        with pytest.raises(ValueError, match="^" + re.escape(str(numpys.value)) + "$"):
            counts(bad, bins)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_equations_with_large_matrices_are_solved_by_all_threads(dtype, rng):
    @pp.jit
    def solved(a, b, times):
        for _ in range(times):
            x = np.linalg.solve(a, b)
            i = np.linalg.inv(a)
        return x, i

    for n, ours in ((100, True), (20, False)):
        a, b = (rng.normal(size=shape) + (1j if dtype[0] == "c" else 0) for shape in ((n, n), (n, 3)))
        a, b = (a + n * np.eye(n)).astype(dtype), b.astype(dtype)
        for right in (b, b[:, 0], b[:, ::-1]):
            recorded = pp.counters()["recorded"]
            x, i = solved(a, right, 2)
            assert (pp.counters()["recorded"] > recorded) == ours
            for got, expected in ((x, np.linalg.solve(a, right)), (i, np.linalg.inv(a))):
                assert (type(got), got.dtype) == (np.ndarray, expected.dtype)
                np.testing.assert_allclose(got, expected, rtol=0, atol=1e3 * np.finfo(dtype).eps * np.abs(expected).max())
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        solved(np.zeros((100, 100), dtype), np.ones((100, 1), dtype), 1)
    with pytest.raises(np.linalg.LinAlgError):
        solved(np.zeros((100, 90), dtype), np.ones((100, 1), dtype), 1)


def test_order_and_strides_are_numpys():
    def mixed(x, y):
        return x * 2 + y

    compiled = pp.jit(mixed)
    x = np.asfortranarray(np.arange(N * 2.0).reshape(512, -1))
    for a, b in ((x, x), (x.T, x.T), (x, x.copy("C")), (x[::2], x[1::2]), (x[::-1], x)):
        got, expected = compiled(a, b), mixed(a, b)
        np.testing.assert_array_equal(got, expected)
        assert got.strides == expected.strides


def test_what_numpy_refuses_it_refuses():
    def wrong(x, y):
        return x * 2 + y[1:]

    def kinds(x, y):
        return ~x + y

    compiled = pp.jit(wrong)
    with pytest.raises(ValueError, match="operands could not be broadcast together"):
        compiled(np.ones(N), np.ones(N))
    with pytest.raises(TypeError, match="ufunc 'invert' not supported"):
        pp.jit(kinds)(np.ones(N), np.ones(N))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        pp.jit(arithmetic_of_zero)(np.zeros(N), np.ones(N))


def arithmetic_of_zero(x, y):
    return y / x + 1


def test_small_arrays_and_other_kinds_stay_numpys():
    compiled = pp.jit(arithmetic)
    recorded = pp.counters()["recorded"]
    compiled(np.ones(10), np.ones(10))
    compiled(np.ones((N, 2), "f4").view("c8")[:, 0].astype(object), np.ones(N, object))
    assert pp.counters()["recorded"] == recorded
    x = pp.ones(10)
    assert isinstance(compiled(x, x), pp.Array)
