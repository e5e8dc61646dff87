# tests/python/test_special_functions.py: pardo.special: dtypes, keywords, kernels, errors. Values: tests/conformance/test_special.py.
from __future__ import annotations

import os

import numpy as np
import pardo as pp
import pytest

COMPLEX_FORMS = "erfcx erfi dawsn wofz ndtr log_ndtr gamma loggamma rgamma digamma exp1 expi xlogy xlog1py"
COMPLEX = set(COMPLEX_FORMS.split())
ROWS = [row for row in pp._core._op_table() if row[3] == "SPECIAL" or row[0] in COMPLEX]
NAMES = {row[0]: row[1] for row in ROWS}
HIDDEN = {"riemann_zeta", "sph_legendre", "zeta"}  # of which Python makes functions
inf, nan = np.inf, np.nan


def test_every_row_is_public():
    assert set(NAMES) - HIDDEN <= set(pp.special.__all__)
    assert "zeta" in pp.special.__all__
    assert dir(pp.special) == sorted(pp.special.__all__)
    for name in pp.special.__all__:
        assert callable(getattr(pp.special, name)), name
    assert pp.special.psi is pp.special.digamma
    assert pp.special.sinc is pp.sinc
    assert pp.special.log1p is pp.log1p
    with pytest.raises(AttributeError, match="no attribute 'airy'"):
        pp.special.airy


@pytest.mark.parametrize("name", sorted(set(NAMES) - COMPLEX))
def test_complex_numbers_are_refused(name):
    f = getattr(pp._core, "_" + name)
    with pytest.raises(TypeError, match=f"^{name}: .*complex128"):
        f(*[pp.ones(3, dtype="complex128")] * NAMES[name])


def test_dtypes_are_promoted():
    single, double, integers = pp.ones(3, dtype="f4"), pp.ones(3), pp.ones(3, dtype="i4")
    assert pp.special.xlogy(single, double).dtype == "f8"
    assert pp.special.xlogy(single, integers).dtype == "f8"
    assert pp.special.xlogy(single, 2).dtype == "f4"
    assert pp.special.xlogy(integers, 2).dtype == "f8"
    assert pp.special.xlogy(2.0, single).dtype == "f4"
    assert pp.special.gammaln(integers, dtype="f4").dtype == "f4"


def test_incomplete_beta_of_large_parameters():
    """Exact values by mpmath, where the distance of x from 1 decides; and parameters of any size end."""
    rows = [
        (1e6, 0.5, 0.99999, 7.7438316926187045e-6), (1e8, 0.5, 0.9999999, 7.7442126262214151e-6),
        (1e10, 0.5, 0.999999999, 7.7442186833811028e-6), (1e12, 0.5, 0.999999999999, 0.15730379857235142),
        (1e5, 2.5, 0.9999, 0.0012491096824681775), (1e8, 2.5, 0.9999999, 0.0012497299477228932), (1e-305, 2.0, 0.25, 1.0),
        (3000.0, 3000.0, 0.49354556560344465, 0.15867541731830055), (1e6, 1e3, 0.9989536359221663, 0.068449834664980909),
    ]  # fmt: skip
    a, b, x, exact = (np.array(column) for column in zip(*rows, strict=True))
    np.testing.assert_allclose(pp.asnumpy(pp.special.betainc(*map(pp.asarray, (a, b, x)))), exact, rtol=3e-14)
    np.testing.assert_allclose(pp.asnumpy(pp.special.betaincc(*map(pp.asarray, (b, a, 1 - x)))), exact, rtol=1e-6)
    for dtype, sizes in (("f8", [1e16, 3.1e17, 1.7e18, 1e300]), ("f4", [1e7, 1e12, 1e30])):
        a, x = np.meshgrid(np.array(sizes, dtype), np.array([1e-30, 0.3, 0.9, 1 - 2.0**-20, 1 - np.finfo(dtype).epsneg], dtype))
        for other in (0.5, 3.0):
            tail = pp.asnumpy(pp.special.betainc(pp.asarray(a), other, pp.asarray(x)))
            assert ((tail >= 0) & (tail <= 1)).all()


def test_faddeeva_of_real_numbers_is_complex():
    found = {d: pp.special.wofz(pp.ones(2, dtype=d)).dtype for d in ("f2", "f4", "f8", "i1", "i8", "?", "c8", "c16")}
    assert found == {"f2": "c8", "f4": "c8", "f8": "c16", "i1": "c16", "i8": "c16", "?": "c16", "c8": "c8", "c16": "c16"}
    np.testing.assert_allclose(complex(pp.special.wofz(pp.asarray(1.0))), 0.36787944117144233 + 0.6071577058413937j, rtol=1e-15)


def test_out_where_and_shapes():
    x = pp.asarray(np.linspace(0.1, 3, 24).reshape(4, 6))
    out = pp.full((4, 6), -1.0)
    mask = pp.asarray(np.arange(24).reshape(4, 6) % 2 == 0)
    assert pp.special.digamma(x, out=out, where=mask) is out
    np.testing.assert_array_equal(pp.asnumpy(out), np.where(pp.asnumpy(mask), pp.asnumpy(pp.special.digamma(x)), -1))
    whole = pp.asnumpy(pp.special.betainc(x, 2.0, 0.25))
    np.testing.assert_array_equal(pp.asnumpy(pp.special.betainc(x[::-1, ::2], 2.0, pp.full(3, 0.25))), whole[::-1, ::2])
    assert pp.special.beta(pp.ones((0, 3)), pp.ones((2, 1, 3))).shape == (2, 0, 3)
    assert pp.special.j0(pp.asarray(0.0)).shape == ()
    with pytest.raises(ValueError, match="xlogy"):
        pp.special.xlogy(pp.ones(3), pp.ones(4))
    with pytest.raises(TypeError, match="gammaln"):
        pp.special.gammaln("text")


@pytest.mark.skipif(os.environ.get("PARDO_FUSION") == "off", reason="without fusion each operation is a kernel")
def test_expressions_fuse():
    x = pp.asarray(np.linspace(0.5, 3, 1000))
    y = pp.special.gammaln(x) * 2 + pp.special.expit(-x)
    assert str(pp.explain(y)).count("kernel") <= 2
    np.testing.assert_allclose(pp.asnumpy(y), 2 * pp.asnumpy(pp.special.gammaln(x)) + pp.asnumpy(pp.special.expit(-x)), rtol=1e-14)


@pp.jit
def in_loop(x, y):
    for i in pp.prange(len(x)):
        y[i] = pp.special.gammaln(x[i]) + pp.special.xlogy(x[i], 2.0) + pp.special.betainc(x[i], 1.5, 0.25) + pp.special.zeta(x[i] + 2)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_in_kernels(dtype):
    x = pp.asarray(np.linspace(0.25, 12, 101).astype(dtype))
    y = pp.zeros_like(x)
    in_loop(x, y)
    special = pp.special
    expected = special.gammaln(x) + special.xlogy(x, 2.0) + special.betainc(x, 1.5, 0.25) + special.zeta(x + 2)
    np.testing.assert_allclose(pp.asnumpy(y), pp.asnumpy(expected), rtol=1e-6 if dtype == "f4" else 1e-14)


@pp.jit
def complex_in_loop(x, y):
    for i in pp.prange(len(x)):
        y[i] = pp.special.erfcx(x[i]) + pp.special.loggamma(x[i]) * pp.special.erf(0.5 + 1j) + pp.special.xlogy(2.0, x[i])
        y[i] += pp.special.wofz(0.5) + pp.special.wofz(x[i].real)


@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_complex_numbers_in_kernels(dtype):
    special = pp.special
    x = pp.asarray((np.linspace(-3, 3, 101) + 1j * np.linspace(-2, 5, 101)[::-1]).astype(dtype))
    y = pp.zeros_like(x)
    complex_in_loop(x, y)
    expected = special.erfcx(x) + special.loggamma(x) * complex(special.erf(pp.asarray(0.5 + 1j))) + special.xlogy(2.0, x)
    expected += complex(special.wofz(pp.asarray(0.5))) + special.wofz(x.real)
    assert expected.dtype == dtype
    np.testing.assert_allclose(pp.asnumpy(y), pp.asnumpy(expected), rtol=2e-5 if dtype == "c8" else 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["erf", *sorted(COMPLEX - {"xlogy", "xlog1py"})])
def test_complex_numbers_beside_scipy(name):
    theirs = getattr(pytest.importorskip("scipy.special"), name)
    z = np.linspace(-6, 6, 60)[:, None] * 0.9 + 1j * np.linspace(-5, 5, 41)
    z = z[abs(z) > 0.1]
    expected = theirs(z)
    z, expected = z[np.isfinite(expected)], expected[np.isfinite(expected)]
    found = pp.asnumpy(getattr(pp.special, name)(pp.asarray(z)))
    np.testing.assert_allclose(found, expected, rtol=1e-6 if name == "log_ndtr" else 1e-11)  # SciPy's loses digits on the right


def test_constants_in_kernels():
    @pp.jit
    def scaled(x, y):
        for i in pp.prange(len(x)):
            y[i] = x[i] * pp.special.gamma(5.0) + pp.special.digamma(1)

    y = pp.zeros(3)
    scaled(pp.ones(3), y)
    np.testing.assert_allclose(pp.asnumpy(y), 24 - 0.5772156649015329, rtol=1e-15)


def test_zeta_of_one_and_of_two():
    x = pp.asarray([2.0, 3.0, 0.5])
    assert pp.special.zeta(x).shape == (3,)
    np.testing.assert_allclose(pp.asnumpy(pp.special.zeta(x[:2])), pp.asnumpy(pp.special.zeta(x[:2], 1.0)), rtol=1e-15)
    out = pp.zeros(3)
    assert pp.special.zeta(x, out=out) is out
    np.testing.assert_allclose(pp.asnumpy(out), [np.pi**2 / 6, 1.2020569031595942, -1.4603545088095868], rtol=1e-15)
    with pytest.raises(TypeError, match="zeta"):
        pp.special.zeta("ab")


def test_polygamma():
    x = pp.asarray([0.5, 1.0, 10.0])
    np.testing.assert_allclose(pp.asnumpy(pp.special.polygamma(0, x)), pp.asnumpy(pp.special.digamma(x)), rtol=0)
    expected = [[np.pi**2 / 2, np.pi**2 / 6, 0.10516633568168575], [-16.828796644234320, -2.4041138063191886, -0.011049834970802067]]
    np.testing.assert_allclose(pp.asnumpy(pp.special.polygamma(pp.asarray([[1], [2]]), x)), expected, rtol=1e-14)
    assert np.isnan(pp.asnumpy(pp.special.polygamma(pp.asarray([0.5, -1.0]), 1.0))).all()


def test_logsumexp_of_rare_values():
    lse = pp.special.logsumexp
    assert float(lse(pp.asarray([1000.0, 1000.0]))) == pytest.approx(1000 + np.log(2), rel=1e-15)
    assert float(lse(pp.asarray([-inf, -inf]))) == -inf
    assert float(lse(pp.asarray([inf, 1.0]))) == inf
    assert np.isnan(float(lse(pp.asarray([nan, 1.0]))))
    assert float(lse(pp.zeros(0))) == -inf
    assert lse(pp.zeros((0, 3)), axis=0).shape == (3,)
    assert lse(pp.zeros((2, 3)), axis=(0, 1), keepdims=True).shape == (1, 1)
    assert lse(pp.arange(3)).dtype == "f8"
    value, sign = lse(pp.asarray([1.0, 2.0]), b=pp.asarray([1.0, -1.0]), return_sign=True)
    assert (float(value), float(sign)) == (pytest.approx(np.log(np.e**2 - np.e), rel=1e-14), -1.0)
    assert np.isnan(float(lse(pp.asarray([1.0, 2.0]), b=[1.0, -1.0])))
    assert float(lse(pp.asarray([5.0, 1e4]), b=[1, 0])) == pytest.approx(5.0)
    assert complex(lse(pp.asarray([-inf + 1j]))) == complex(-inf)
    assert complex(lse(pp.asarray([800 + 3j, 800 + 3j]))) == pytest.approx(800 + np.log(2) + 3j, rel=1e-15)
    with pytest.raises(ValueError, match="logsumexp"):
        lse(pp.ones((2, 2)), axis=(0, 0))
    with pytest.raises(IndexError):
        lse(pp.ones(2), axis=3)


def test_softmax_of_rare_values():
    np.testing.assert_array_equal(pp.asnumpy(pp.special.softmax(pp.asarray([1e4, 0.0]))), [1, 0])
    np.testing.assert_array_equal(pp.asnumpy(pp.special.log_softmax(pp.asarray([1e4, 0.0]))), [0, -1e4])
    assert pp.special.softmax(pp.zeros((0, 2)), axis=1).shape == (0, 2)
    assert pp.special.log_softmax(pp.zeros((2, 0))).shape == (2, 0)


def test_combinations_and_factorials():
    special = pp.special
    np.testing.assert_array_equal(pp.asnumpy(special.comb(pp.asarray([10, 5, 2, -1]), pp.asarray([3, 0, 3, 1]))), [120, 1, 0, 0])
    np.testing.assert_array_equal(pp.asnumpy(special.comb(pp.asarray([3, 0, 3]), pp.asarray([2, 2, 0]), repetition=True)), [6, 0, 1])
    assert special.comb(60, 30, exact=True) == 118264581564861424
    assert special.comb(3, 2, exact=True, repetition=True) == 6
    assert special.comb(2, 3, exact=True) == special.comb(-2, 1, exact=True) == 0
    np.testing.assert_allclose(
        pp.asnumpy(special.factorial(pp.asarray([0, 1, 5, 20, -3, 0.5]))), [1, 1, 120, 2432902008176640000, 0, 0.886226925452758]
    )
    assert special.factorial(pp.asarray([3], dtype="i4")).dtype == "f8"
    assert special.factorial(30, exact=True) == 265252859812191058636308480000000
    assert special.factorial(-1, exact=True) == 0
    for call in (lambda: special.factorial(pp.ones(2), exact=True), lambda: special.comb(2.5, 1, exact=True), lambda: special.comb(1j, 1)):
        with pytest.raises(TypeError):
            call()


def test_spherical_harmonics():
    theta, phi = np.linspace(0.1, 3, 7), np.linspace(-3, 3, 7)
    for n, m, expected in [
        (0, 0, np.full(7, 0.5 / np.sqrt(np.pi))),
        (1, 0, 0.5 * np.sqrt(3 / np.pi) * np.cos(theta)),
        (1, 1, -0.5 * np.sqrt(1.5 / np.pi) * np.sin(theta) * np.exp(1j * phi)),
        (1, -1, 0.5 * np.sqrt(1.5 / np.pi) * np.sin(theta) * np.exp(-1j * phi)),
        (3, 2, 0.25 * np.sqrt(105 / (2 * np.pi)) * np.sin(theta) ** 2 * np.cos(theta) * np.exp(2j * phi)),
        (2, 3, np.zeros(7)),
    ]:
        got = pp.special.sph_harm_y(n, m, pp.asarray(theta), pp.asarray(phi))
        assert got.dtype == "c16"
        np.testing.assert_allclose(pp.asnumpy(got), expected, atol=1e-15)
    assert pp.special.sph_harm_y(pp.asarray([[2], [3]]), pp.asarray([0, 1, 2]), 0.5, 0.5).shape == (2, 3)
    assert np.isnan(pp.asnumpy(pp.special.sph_harm_y(pp.asarray([0.5, -1.0]), 0, 0.5, 0.5))).all()


def test_interpreted_kernels():
    @pp.kernel
    def mixed(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = pp.special.gammaln(x[i]) + pp.special.xlogy(x[i], 2.0) + pp.special.zeta(x[i] + 1, 2.0)

    x = np.linspace(0.5, 4, 5)
    y = np.zeros(5)
    mixed[5].interpret(x, y)
    z = pp.zeros(5)
    mixed[5](pp.asarray(x), z)
    np.testing.assert_allclose(y, pp.asnumpy(z), rtol=1e-14)
    np.testing.assert_allclose(
        y, [pp.special.gammaln(v).item() + v * np.log(2) + pp.special.zeta(v + 1, 2.0).item() for v in x], rtol=1e-14
    )


def test_numpy_arrays_in_a_context():
    with pp.device_context("cpu"):
        found = pp.special.digamma(np.array([1.0, 2.0]))
        assert type(found) is np.ndarray
        np.testing.assert_allclose(found, [-0.5772156649015329, 0.42278433509846714], rtol=1e-15)
        assert type(pp.special.logsumexp(np.zeros(3))) in (np.ndarray, np.float64)
        np.testing.assert_allclose(pp.special.zeta(np.array([2.0])), [np.pi**2 / 6])


@pytest.mark.parametrize(
    ("name", "dtype", "operands", "exact"),
    [
        ("jn", "float64", (7, 1e-300), 0.0),
        ("jn", "float64", (20, 1e-30), 0.0),
        ("jn", "float32", (3, 1e-30), 0.0),
        ("yn", "float64", (4, 1e-300), -np.inf),
        ("yn", "float32", (9, 1e-20), -np.inf),
        ("zeta", "float64", (2, -1e-8), 10000000000000001.645),
        ("zeta", "float64", (3, -1e-8), -1e24),
        ("binom", "float32", (-0.5, 100), 0.056348479009256),
        ("binom", "float32", (0.3, 100), -0.000581671187),
        ("beta", "float32", (-35.5, 36), 0.296436456),
        ("beta", "float64", (-199.5, 201), 50.163908107),
        ("poch", "float64", (-2, 1e-20), 0.0),
    ],
)
def test_beside_poles_and_beyond_the_largest_number(name, dtype, operands, exact):
    found = getattr(pp.special, name)(*(pp.asarray([v], dtype=dtype) for v in operands))
    assert float(found[0]) == pytest.approx(exact, rel=1e-5 if dtype == "float32" else 1e-9, abs=0)
