# tests/python/test_draws.py: distributions of random.Generator that need attempts, against NumPy's: shapes, moments, functions, devices.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support import message_of_wrong_draw

pytestmark = pytest.mark.once

FLOATS = ["float32", "float64"] if pp.Device().has_fp64 else ["float32"]
FLOAT = np.dtype(FLOATS[-1])
make = pp.random.default_rng
drawn = pp.asnumpy

CONTINUOUS = {
    "standard_gamma": [(2.5,), (0.3,), (1.0,)],
    "gamma": [(7.0, 2.0)],
    "beta": [(2.0, 3.0), (0.2, 0.3), (0.5, 4.0)],
    "chisquare": [(4.0,), (1.0,)],
    "f": [(3.0, 8.0)],
    "standard_t": [(5.0,)],
    "noncentral_chisquare": [(3.0, 2.0), (0.5, 2.0), (1.0, 30.0)],
    "noncentral_f": [(3.0, 12.0, 2.0)],
    "power": [(3.0,), (0.5,)],
    "standard_cauchy": [()],
    "triangular": [(-1.0, 1.0, 5.0), (0.0, 0.0, 1.0), (0.0, 1.0, 1.0)],
    "vonmises": [(0.5, 4.0), (3.0, 0.1), (0.0, 0.0), (-1.0, 500.0)],
    "wald": [(3.0, 2.0), (0.5, 50.0)],
}
DISCRETE = {
    "binomial": [(10, 0.5), (1000, 0.003), (100, 0.3), (2000, 0.85), (10**7, 0.4)],
    "negative_binomial": [(3, 0.3), (0.5, 0.02)],
    "poisson": [(3.0,), (9.99,), (10.0,), (35.5,), (12345.6,)],
    "geometric": [(0.3,), (0.01,)],
    "logseries": [(0.7,), (0.99,)],
    "zipf": [(2.0,), (4.0,)],
    "hypergeometric": [(7, 5, 6), (15, 15, 15), (100, 60, 50), (40, 60, 85), (10_000, 30_000, 2_000), (3, 10**6, 4 * 10**5)],
}
CASES = [(name, p) for name, cases in (CONTINUOUS | DISCRETE).items() for p in cases]
N = 20_000


def distance(x, y):
    """The statistic of Kolmogorov and Smirnov for two samples; above 1.95 by chance once in 1000."""
    x, y = np.sort(x), np.sort(y)
    at = np.concatenate([x, y])
    gap = np.searchsorted(x, at, side="right") / x.size - np.searchsorted(y, at, side="right") / y.size
    return np.abs(gap).max() * np.sqrt(x.size * y.size / (x.size + y.size))


def chi_squared(x, y):
    """The statistic of two samples of counts, less its mean, in standard deviations."""
    edges = np.unique(np.quantile(y, np.linspace(0, 1, 40)))
    a, b = (np.histogram(v, [-np.inf, *(edges + 0.5), np.inf])[0] for v in (x, y))
    share = (a + b) / (x.size + y.size)
    some = share > 0
    expected = [share[some] * v.size for v in (x, y)]
    statistic = sum((((v[some] - e) ** 2) / e).sum() for v, e in zip((a, b), expected, strict=True))
    degrees = max(np.count_nonzero(some) - 1, 1)
    return (statistic - degrees) / np.sqrt(2 * degrees)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_distribution(name, parameters):
    for dtype in FLOATS if name in CONTINUOUS else ["int64"]:
        x = getattr(make(77), name)(*parameters, size=N, **({"dtype": dtype} if name in CONTINUOUS else {}))
        assert (x.dtype, x.shape) == (np.dtype(dtype), (N,))
        x = drawn(x).astype(float)
        y = getattr(np.random.default_rng(78), name)(*parameters, size=4 * N).astype(float)
        assert np.isfinite(x).all()
        assert distance(x, y) < 1.95
        if name in DISCRETE:
            assert chi_squared(x, y) < 4
        if name not in ("standard_cauchy", "zipf", "noncentral_f"):
            assert abs(x.mean() - y.mean()) < 4 * np.sqrt(y.var() * 1.25 / N)
            spread = ((y - y.mean()) ** 2).std() if name != "f" else np.inf
            assert abs(x.var() - y.var()) < 5 * spread * np.sqrt(1.25 / N)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_arrays_of_parameters(name):
    """Each element is drawn by its own parameters, by the words of its own place."""
    cases = (CONTINUOUS | DISCRETE)[name]
    if name == "standard_cauchy":
        return
    columns = [np.array([p[k] for p in cases]) for k in range(len(cases[0]))]
    keywords = {"dtype": FLOAT} if name in CONTINUOUS else {}
    columns = [c if c.dtype.kind == "i" else c.astype(FLOAT) for c in columns]
    arrays = [pp.asarray(np.stack([c, c[::-1]])) for c in columns]
    x = drawn(getattr(make(5), name)(*arrays, **keywords))
    assert x.shape == (2, len(cases))
    both = [*cases, *cases[::-1]]
    apart = [drawn(getattr(make(5), name)(*p, size=len(both), **keywords))[i] for i, p in enumerate(both)]
    assert_allclose(x.ravel(), apart, rtol=1e-12 if FLOAT.itemsize == 8 else 2e-5)
    views = [pp.asarray(np.stack([c, c[::-1]], axis=1))[::-1].T for c in columns]
    flipped = drawn(getattr(make(5), name)(*views, size=(3, *views[0].shape), **keywords))
    assert flipped.shape == (3, *views[0].shape)
    lists = drawn(getattr(make(5), name)(*[c.tolist() for c in columns], **keywords))
    assert_array_equal(lists, drawn(getattr(make(5), name)(*map(pp.asarray, columns), **keywords)))
    empty = getattr(make(5), name)(*(pp.zeros((0, 2), dtype=c.dtype) for c in columns), **keywords)
    assert empty.shape == (0, 2)


@pytest.mark.skipif(pp.Device().backend == "cpu" or not pp.Device().has_fp64, reason="compares another device with the CPU")
@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_devices_draw_alike(name):
    parameters = (CONTINUOUS | DISCRETE)[name][0]
    x, expected = (drawn(getattr(make(3), name)(*parameters, size=41, device=device)) for device in (None, "cpu"))
    assert_allclose(x, expected, rtol=1e-9)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
@pytest.mark.skipif(pp.Device().backend != "cpu", reason="compares with the CPU")
def test_without_float64(name):
    """The twin of the null back end has none, and interprets kernels."""
    parameters = (CONTINUOUS | DISCRETE)[name][0]
    x = getattr(make(3), name)(*parameters, size=24, device="null:1")
    if name in CONTINUOUS:
        expected = drawn(getattr(make(3), name)(*parameters, size=24, dtype="float32", device="cpu"))
        assert x.dtype == np.float32
        assert_allclose(drawn(x), expected, rtol=2e-3, atol=1e-5)
    else:
        x, mean = drawn(x), drawn(getattr(make(3), name)(*parameters, size=N, device="cpu")).mean()
        assert x.dtype == np.int64
        assert mean / 3 < x.mean() < mean * 3


def test_extreme_parameters():
    g = make(8)
    for name, parameters, expected in [
        ("standard_gamma", (0.0,), 0), ("gamma", (3.0, 0.0), 0), ("poisson", (0.0,), 0), ("binomial", (0, 0.3), 0),
        ("binomial", (9, 0.0), 0), ("binomial", (9, 1.0), 9), ("binomial", (2**40, 1.0), 2**40), ("geometric", (1.0,), 1),
        ("logseries", (0.0,), 1), ("zipf", (2000.0,), 1), ("hypergeometric", (0, 8, 5), 0), ("hypergeometric", (8, 0, 5), 5),
        ("hypergeometric", (8, 4, 12), 8), ("hypergeometric", (0, 0, 0), 0), ("negative_binomial", (5.0, 1.0), 0),
    ]:  # fmt: skip
        assert set(drawn(getattr(g, name)(*parameters, size=300)).tolist()) == {expected}, (name, parameters)
    for name, parameters in [("beta", (1e-3, 1e-3)), ("beta", (1e-300, 1e-300)), ("beta", (1e-200, 3.0)), ("standard_gamma", (1e-300,))]:
        if FLOAT.itemsize == 8:
            x = drawn(getattr(g, name)(*parameters, size=300))
            assert ((x >= 0) & (x <= 1)).all(), (name, parameters)
    for name, parameters, mean, sd in [
        ("poisson", (1e15,), 1e15, 1e15**0.5), ("poisson", (9e18,), 9e18, 9e18**0.5), ("binomial", (2**62, 0.5), 2.0**61, 2.0**30),
        ("binomial", (10**15, 1e-12), 1e3, 1e3**0.5), ("geometric", (1e-12,), 1e12, 1e12),
        ("hypergeometric", (10**9 - 1, 10**9 - 1, 10**6), 5e5, 499.9),
        ("vonmises", (0.0, 1e12), 0, 1e-6), ("standard_gamma", (1e12,), 1e12, 1e6),
    ]:  # fmt: skip
        if pp.Device().has_fp64:
            x = drawn(getattr(g, name)(*parameters, size=N)).astype(float) - mean
            assert abs(x.mean()) < 5 * sd / N**0.5, (name, parameters)
            assert abs(x.std() / sd - 1) < 0.05, (name, parameters)
    assert (drawn(g.geometric(1e-30, 100)) > 2**62).all()
    assert (drawn(g.zipf(1.0001, 100)) >= 1).all()
    x = drawn(g.vonmises(40.0, 2.0, 1000))
    assert (abs(x) <= np.pi + 1e-6).all()


@pytest.mark.parametrize("name", CONTINUOUS)
def test_nan_ends(name):
    first = CONTINUOUS[name][0]
    for parameters in {(np.nan,) * len(first), (*first[:-1], np.nan)} if first else ():
        assert np.isnan(drawn(getattr(make(1), name)(*parameters, size=3))).all()


# --- several numbers at once


def test_dirichlet():
    alpha = np.array([0.5, 2.0, 7.5])
    for dtype in FLOATS:
        x = make(4).dirichlet(alpha.tolist(), 20_000, dtype=dtype)
        assert (x.dtype, x.shape) == (np.dtype(dtype), (20_000, 3))
        x = drawn(x).astype(float)
        assert_allclose(x.sum(axis=1), 1, rtol=1e-5)
        assert_allclose(x.mean(axis=0), alpha / 10, atol=0.005)
        assert_allclose(x.var(axis=0), alpha * (10 - alpha) / 1100, rtol=0.06)
    assert make(4).dirichlet(pp.asarray(alpha), (2, 0)).shape == (2, 0, 3)
    small = drawn(make(4).dirichlet([0.001, 0.001], 100))
    assert_allclose(small.sum(axis=1), 1, rtol=1e-5)
    assert drawn(make(4).dirichlet([0.0, 1.0], 2))[:, 0].tolist() == [0, 0]
    assert make(4).dirichlet([2.0]).tolist() == [1.0]


def test_multinomial():
    p = [0.1, 0.2, 0.3, 0.4]
    x = drawn(make(4).multinomial(50, p, 10_000))
    assert (x.dtype, x.shape) == (np.int64, (10_000, 4))
    assert (x.sum(axis=1) == 50).all()
    assert_allclose(x.mean(axis=0), np.multiply(p, 50), rtol=0.02)
    y = np.random.default_rng(1).multinomial(50, p, 10_000)
    assert_allclose(np.cov(x.T), np.cov(y.T), rtol=0.12, atol=0.4)
    n = pp.asarray([[10], [200], [0]])
    x = drawn(make(4).multinomial(n, pp.asarray([p, p[::-1]], dtype=FLOAT), size=(5, 3, 2)))
    assert x.shape == (5, 3, 2, 4)
    assert (x.sum(axis=-1) == [[10], [200], [0]]).all()
    assert make(4).multinomial(3, [0.2, 0.8]).shape == (2,)
    assert make(4).multinomial([3, 4], [1.0]).tolist() == [[3], [4]]
    assert make(4).multinomial(3, p, (0, 2)).shape == (0, 2, 4)
    assert drawn(make(4).multinomial(1000, [0.2, 0.3])).sum() == 1000


def test_multivariate_hypergeometric():
    colors = [5, 30, 0, 15]
    for method in ("marginals", "count"):
        x = drawn(make(4).multivariate_hypergeometric(colors, 12, 10_000, method=method))
        assert (x.dtype, x.shape) == (np.int64, (10_000, 4))
        assert (x.sum(axis=1) == 12).all()
        assert (x <= colors).all()
        assert_allclose(x.mean(axis=0), np.multiply(colors, 12 / 50), rtol=0.03)
    y = np.random.default_rng(1).multivariate_hypergeometric(colors, 12, 10_000)
    assert_allclose(np.cov(x.T), np.cov(y.T), rtol=0.15, atol=0.1)
    assert make(4).multivariate_hypergeometric(pp.asarray(colors), 50).tolist() == colors
    assert make(4).multivariate_hypergeometric([3], 2, (2, 3)).shape == (2, 3, 1)


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    mean, cov = [1.0, -2.0, 5.0], np.array([[2.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 0.5]])
    x = make(4).multivariate_normal(mean, cov.tolist(), (100, 200), method=method)
    assert (x.dtype, x.shape) == (FLOAT, (100, 200, 3))
    x = drawn(x).reshape(-1, 3)
    assert_allclose(x.mean(axis=0), mean, atol=0.05)
    assert_allclose(np.cov(x.T), cov, atol=0.05)
    assert make(4).multivariate_normal(pp.asarray(mean), pp.asarray(cov, dtype=FLOAT), method=method, dtype="float32").dtype == np.float32
    assert make(4).multivariate_normal(mean, cov.tolist(), method=method).shape == (3,)


def test_covariances_that_are_none():
    wrong = [[1.0, 2.0], [2.0, 1.0]]
    with pytest.warns(RuntimeWarning, match="cov is not symmetric positive-semidefinite"):
        make(1).multivariate_normal([0, 1], wrong)
    make(1).multivariate_normal([0, 1], wrong, check_valid="ignore")
    for method in ("svd", "eigh", "cholesky"):
        with pytest.raises(ValueError, match="ositive"):  # LinAlgError is one
            make(1).multivariate_normal([0, 1], wrong, check_valid="raise", method=method)


# --- wrong parameters: at the call, or late where only an array on the device tells

WRONG = [
    "standard_gamma(-1)", "gamma(-1)", "gamma(1, -1)", "gamma([1, -1])", "beta(0, 1)", "beta(1, [2, 0])", "chisquare(0)", "f(0, 1)",
    "f(1, 0)", "standard_t(0)", "noncentral_chisquare(0, 1)", "noncentral_chisquare(1, -1)", "noncentral_f(0, 1, 1)",
    "noncentral_f(1, 0, 1)", "noncentral_f(1, 1, -1)", "power(0)", "triangular(2, 1, 3)", "triangular(0, 4, 3)", "triangular(1, 1, 1)",
    "vonmises(0, -1)", "wald(0, 1)", "wald(1, 0)", "binomial(-1, 0.5)", "binomial(1, 1.5)", "binomial(1, -0.5)",
    "binomial(1, float('nan'))", "negative_binomial(0, 0.5)", "negative_binomial(1, 0)", "negative_binomial(1, 1.1)",
    "negative_binomial(1e18, 1e-9)", "poisson(-1)", "poisson(float('nan'))", "poisson(1e19)", "poisson([1, -1])", "geometric(0)",
    "geometric(1.1)", "logseries(1)", "logseries(-0.1)", "zipf(1)", "zipf(float('nan'))", "hypergeometric(-1, 5, 2)",
    "hypergeometric(5, -1, 2)", "hypergeometric(5, 5, -2)", "hypergeometric(5, 5, 11)", "hypergeometric(10**9, 5, 2)",
    "hypergeometric([5, 5], 5, [2, 11])", "dirichlet([1, -1])", "multinomial(-1, [0.5, 0.5])", "multinomial(3, [0.5, 0.6, 0.1])",
    "multinomial(3, [-0.5, 1.5])", "multinomial(3, [])", "multinomial([1, 2, 3], [0.5, 0.5], size=2)",
    "multivariate_hypergeometric([2, 3], 6)", "multivariate_hypergeometric([2, 3], -1)", "multivariate_hypergeometric([2, -3], 1)",
    "multivariate_hypergeometric([2, 3], 1, method='x')", "multivariate_hypergeometric([[2, 3]], 1)",
    "multivariate_hypergeometric([2.5, 3], 1)", "multivariate_hypergeometric([10**9, 3], 1)", "multivariate_normal([0], [[1, 2]])",
    "multivariate_normal([0, 1], [1, 2])", "multivariate_normal([0, 1], [[1, 0], [0, 1]], method='x')",
    "multivariate_normal([0, 1], [[1, 0], [0, 1]], check_valid='x')", "standard_gamma([1, 2], (3, 1))", "beta([1, 2], [1, 2, 3])",
    "gamma('a')", "gamma(1j)", "standard_gamma(1, dtype='int32')", "permuted([[1, 2]], axis=2)", "poisson(2, size=-1)",
    "poisson(2, 1.5)",
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG)
def test_wrong_arguments_raise_what_numpy_raises(call):
    message = message_of_wrong_draw(call)
    assert message.startswith(call.partition("(")[0]) or "axis" in call


LATE = [
    "integers(pp.asarray([0, 300]), 256, dtype='uint8')", "integers(0, pp.asarray([3, 0]))",
    "integers(pp.asarray([5, 2]), pp.asarray([9, 2]))", "integers(pp.asarray([1, 2], dtype='int8'), -5)",
    "integers(0, pp.asarray([3, 400]), dtype='int8')", "integers(pp.asarray([2**63 + 5], dtype='uint64'), 9)",
    "integers(pp.asarray([1.0, np.nan]), 9)", "normal(0, pp.asarray([1.0, -1.0]))", "uniform(pp.asarray([0.0, 2.0]), 1.0)",
    "exponential(pp.asarray([-1.0]))", "pareto(pp.asarray([1.0, 0.0]))", "gamma(pp.asarray([1.0, -1.0]))",
    "beta(1.0, pp.asarray([0.0, 1.0]))", "binomial(5, pp.asarray([0.5, 1.5]))", "binomial(pp.asarray([5, -5]), 0.5)",
    "poisson(pp.asarray([2.0, -2.0]))", "triangular(0.0, pp.asarray([1.0, 9.0]), 2.0)", "hypergeometric(pp.asarray([5, 50]), 10, 20)",
    "zipf(pp.asarray([2.0, 0.5]))", "dirichlet(pp.asarray([1.0, -1.0]))", "multinomial(4, pp.asarray([[0.5, 0.5], [1.5, -0.5]]))",
    "negative_binomial(pp.asarray([1.0, 0.0]), 0.5)",
]  # fmt: skip


@pytest.mark.parametrize("call", LATE)
def test_arrays_tell_late(call):
    """Perhaps at the call, if the device is as fast as that."""
    with pytest.raises(
        ValueError, match=rf"^{call.partition('(')[0]}: .* \(at .*<string>:1\)(\nThe values depend on work that failed.*)?$"
    ):
        eval(f"(make(0).{call} + 1).wait()", {"make": make, "np": np, "pp": pp})


def test_late_failures_name_the_line_and_spare_others():
    g = make(0)
    scale = pp.asarray([1.0, -1.0], dtype=FLOAT)
    z = g.normal(0.0, abs(scale))
    with pytest.raises(ValueError, match=r"scale must not be negative, which is not true of all elements .*test_draws\.py:\d+\)"):
        drawn(g.normal(0.0, scale))
    assert np.isfinite(drawn(z)).all()
    assert np.isfinite(drawn(scale + 1)).all()
    assert np.isfinite(drawn(g.normal(0.0, abs(scale)))).all()
    with pytest.raises(OverflowError, match="finite"):
        drawn(make(0).uniform(0.0, pp.asarray([1.0, np.inf], dtype=FLOAT)))


def test_integers_may_be_floats_that_are_some():
    assert_array_equal(drawn(make(3).binomial(1e3, 0.5, 9)), drawn(make(3).binomial(1000, 0.5, 9)))
    for n in (1.5, [2.0], pp.ones(2)):
        with pytest.raises(TypeError, match="n must be an integer, not"):
            make(3).binomial(n, 0.5)


def test_standard_gamma_out():
    for dtype in FLOATS:
        expected = drawn(make(9).standard_gamma(2.0, (3, 5), dtype))
        out = pp.zeros((3, 5), dtype=dtype)
        assert make(9).standard_gamma(2.0, dtype=dtype, out=out) is out
        assert_array_equal(drawn(out), expected)
        wide = pp.zeros((3, 10), dtype=dtype)
        make(9).standard_gamma(2.0, (3, 5), dtype, out=wide[:, ::2])
        assert_array_equal(drawn(wide)[:, ::2], expected)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        make(9).standard_gamma(pp.asarray([1, 2]), dtype=FLOAT, out=pp.zeros(3, dtype=FLOAT))
    with pytest.raises(TypeError, match="out has dtype"):
        make(9).standard_gamma(1.0, dtype=FLOAT, out=pp.zeros(3, dtype="int32"))
