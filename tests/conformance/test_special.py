# tests/conformance/test_special.py: special functions on every device against exact values, dtypes and layouts.
import re
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from data import COMPILE_ONLY, LAYOUTS, rng_for
from pardo import _core

TABLE = Path(__file__).resolve().parents[1] / "python" / "special_values.txt"
DRIVERS = 2.5  # how much larger errors may be where a driver's exponentials and logarithms are used


def read_table():
    """name -> (limits by dtype, rows of operands, result, scale)."""
    table = {}
    for line in TABLE.read_text().splitlines():
        if line.startswith("#"):
            continue
        if found := re.fullmatch(r"\[(.*), (\S+), (\S+)\]", line):
            rows = []
            table[found[1]] = ({"float64": float(found[2]), "float32": float(found[3])}, rows)
        else:
            *operands, result, scale = line.split()
            rows.append([*map(np.longdouble, map(float, operands)), np.longdouble(result), np.longdouble(scale)])
    return table


EXACT = read_table()


def function_of(name):
    plain = name.split()[0]
    return getattr(pp.special, plain, None) or getattr(_core, "_" + plain)


COMPLEX = {name.split()[0]: EXACT.pop(name) for name in list(EXACT) if name.endswith(" of complex numbers")}


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("name", COMPLEX)
def test_exact_values_of_complex_numbers(name, dtype, device):
    limits, rows = COMPLEX[name]
    real = "float64" if dtype == "complex128" else "float32"
    limit = limits[real] * (1.0 if device.backend == "cpu" else DRIVERS)
    info = np.finfo(real)
    rows = [r for r in rows if float(info.tiny) < r[-1] < float(info.max) and all(np.dtype(real).type(v) == v for v in r[:-3])]
    assert len(rows) > 2
    columns = [np.array([r[k] for r in rows]) for k in range(len(rows[0]))]
    operands = [(columns[k] + 1j * columns[k + 1]).astype(dtype) for k in range(0, len(columns) - 3, 2)]
    found = pp.asnumpy(function_of(name)(*[pp.asarray(z, device=device) for z in operands]))
    assert found.dtype == dtype
    if COMPILE_ONLY:
        return
    exact = columns[-3] + np.clongdouble(1j) * columns[-2]
    errors = np.abs(found.astype(np.clongdouble) - exact) / np.spacing(columns[-1].astype(real))
    worst = np.argmax(np.where(np.isnan(errors), np.inf, errors))
    assert errors[worst] <= limit, f"{[z[worst] for z in operands]}: {found[worst]!r}, exact {exact[worst]!r}: {errors[worst]:.2f} ulp"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", EXACT)
def test_exact_values(name, dtype, device):
    limits, rows = EXACT[name]
    limit = limits[dtype] * (1.0 if device.backend == "cpu" else DRIVERS)
    info = np.finfo(dtype)
    rows = [r for r in rows if float(info.tiny) < abs(r[-2]) < float(info.max) and all(np.dtype(dtype).type(v) == v for v in r[:-2])]
    assert len(rows) > 2
    columns = [np.array([r[k] for r in rows]).astype(dtype) for k in range(len(rows[0]))]
    found = pp.asnumpy(function_of(name)(*[pp.asarray(c, device=device) for c in columns[:-2]]))
    assert found.dtype == dtype
    if COMPILE_ONLY:
        return
    exact = np.array([r[-2] for r in rows])
    errors = np.abs(found.astype(np.longdouble) - exact) / np.spacing(columns[-1])
    worst = np.argmax(np.where(np.isnan(errors), np.inf, errors))
    assert errors[worst] <= limit, f"{[c[worst] for c in columns[:-2]]}: {found[worst]!r}, exact {exact[worst]!r}: {errors[worst]:.2f} ulp"


inf, nan, big = np.inf, np.nan, 1e30
# Arguments and results, as SciPy has them: ends of intervals, poles, zeros, infinities.
ENDS = {
    "erfcx": [(0.0, 1.0), (inf, 0.0), (-inf, inf), (-30.0, inf), (nan, nan)],
    "erfi": [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf), (30.0, inf), (nan, nan)],
    "dawsn": [(0.0, 0.0), (-0.0, -0.0), (inf, 0.0), (-inf, -0.0), (nan, nan)],
    "erfinv": [(0.0, 0.0), (-0.0, -0.0), (1.0, inf), (-1.0, -inf), (1.5, nan), (-2.0, nan), (nan, nan)],
    "erfcinv": [(1.0, 0.0), (0.0, inf), (2.0, -inf), (-0.5, nan), (2.5, nan), (nan, nan)],
    "ndtr": [(0.0, 0.5), (inf, 1.0), (-inf, 0.0), (nan, nan), (50.0, 1.0), (-50.0, 0.0)],
    "log_ndtr": [(inf, 0.0), (-inf, -inf), (nan, nan), (50.0, 0.0)],
    "ndtri": [(0.5, 0.0), (0.0, -inf), (1.0, inf), (-0.5, nan), (1.5, nan), (nan, nan)],
    "gamma": [
        (1.0, 1.0), (5.0, 24.0), (0.0, inf), (-0.0, -inf), (-1.0, nan), (-2.0, nan), (inf, inf), (-inf, nan), (nan, nan), (200.0, inf),
    ],
    "gammaln": [(1.0, 0.0), (2.0, 0.0), (0.0, inf), (-1.0, inf), (-2.0, inf), (inf, inf), (nan, nan)],
    "rgamma": [(0.0, 0.0), (-1.0, 0.0), (-20.0, 0.0), (1.0, 1.0), (inf, 0.0), (nan, nan)],
    "gammasgn": [(0.0, 1.0), (-0.0, -1.0), (2.5, 1.0), (-0.5, -1.0), (-1.5, 1.0), (-2.0, nan), (inf, 1.0), (nan, nan)],
    "digamma": [(0.0, -inf), (-0.0, inf), (-1.0, nan), (-2.0, nan), (inf, inf), (nan, nan)],
    "gammainc": [
        (0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, nan), (-1.0, 1.0, nan), (1.0, -1.0, nan), (inf, 1.0, 0.0), (1.0, inf, 1.0),
        (inf, inf, nan), (nan, 1.0, nan), (1.0, nan, nan), (1.0, 1000.0, 1.0),
    ],
    "gammaincc": [
        (0.0, 1.0, 0.0), (1.0, 0.0, 1.0), (0.0, 0.0, nan), (-1.0, 1.0, nan), (1.0, -1.0, nan), (inf, 1.0, 1.0), (1.0, inf, 0.0),
        (inf, inf, nan), (nan, 1.0, nan), (1.0, nan, nan), (1.0, 1000.0, 0.0),
    ],
    "beta": [(1.0, 1.0, 1.0), (0.0, 1.0, inf), (nan, 1.0, nan), (1.0, nan, nan), (-1.0, 1.0, -1.0)],
    "betaln": [(1.0, 1.0, 0.0), (0.0, 1.0, inf), (nan, 1.0, nan), (-1.0, 1.0, 0.0)],
    "betainc": [
        (1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0), (1.0, 1.0, -0.5, nan), (1.0, 1.0, 1.5, nan), (-1.0, 1.0, 0.5, nan),
        (nan, 1.0, 0.5, nan),
    ],
    "betaincc": [
        (1.0, 1.0, 0.0, 1.0), (1.0, 1.0, 1.0, 0.0), (1.0, 1.0, -0.5, nan), (1.0, 1.0, 1.5, nan), (-1.0, 1.0, 0.5, nan),
        (nan, 1.0, 0.5, nan),
    ],
    "zeta": [(1.0, 2.0, inf), (0.5, 2.0, nan), (2.0, 0.0, inf), (2.0, -1.0, inf), (2.5, -1.5, nan), (nan, 1.0, nan), (2.0, nan, nan)],
    "riemann_zeta": [(1.0, inf), (0.0, -0.5), (-2.0, 0.0), (-4.0, 0.0), (nan, nan), (inf, 1.0), (100.0, 1.0)],
    "j0": [(0.0, 1.0), (inf, 0.0), (-inf, 0.0), (nan, nan)],
    "j1": [(0.0, 0.0), (inf, 0.0), (-inf, 0.0), (nan, nan)],
    "y0": [(0.0, -inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "y1": [(0.0, -inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "i0": [(0.0, 1.0), (inf, inf), (-inf, inf), (nan, nan)],
    "i0e": [(0.0, 1.0), (inf, 0.0), (-inf, 0.0), (nan, nan)],
    "i1": [(0.0, 0.0), (inf, inf), (-inf, -inf), (nan, nan)],
    "i1e": [(0.0, 0.0), (inf, 0.0), (-inf, 0.0), (nan, nan)],
    "k0": [(0.0, inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "k0e": [(0.0, inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "k1": [(0.0, inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "k1e": [(0.0, inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "exp1": [(0.0, inf), (inf, 0.0), (-1.0, nan), (nan, nan)],
    "ellipk": [(1.0, inf), (1.5, nan), (-inf, 0.0), (nan, nan)],
    "ellipkm1": [(0.0, inf), (-0.5, nan), (inf, 0.0), (nan, nan)],
    "ellipe": [(1.0, 1.0), (1.5, nan), (-inf, inf), (nan, nan)],
    "loggamma": [(1.0, 0.0), (2.0, 0.0), (0.0, inf), (-0.5, nan), (inf, inf), (nan, nan)],
    "gammaincinv": [
        (1.0, 0.0, 0.0), (1.0, 1.0, inf), (1.0, -0.5, nan), (1.0, 1.5, nan), (-1.0, 0.5, nan), (nan, 0.5, nan), (1.0, nan, nan),
    ],
    "gammainccinv": [
        (1.0, 1.0, 0.0), (1.0, 0.0, inf), (1.0, -0.5, nan), (1.0, 1.5, nan), (-1.0, 0.5, nan), (nan, 0.5, nan), (1.0, nan, nan),
    ],
    "betaincinv": [
        (1.0, 2.0, 0.0, 0.0), (1.0, 2.0, 1.0, 1.0), (1.0, 2.0, -0.5, nan), (1.0, 2.0, 1.5, nan), (-1.0, 2.0, 0.5, nan),
        (nan, 1.0, 0.5, nan),
    ],
    "betainccinv": [
        (1.0, 2.0, 1.0, 0.0), (1.0, 2.0, 0.0, 1.0), (1.0, 2.0, -0.5, nan), (1.0, 2.0, 1.5, nan), (-1.0, 2.0, 0.5, nan),
        (nan, 1.0, 0.5, nan),
    ],
    "poch": [(1.0, 4.0, 24.0), (2.5, 0.0, 1.0), (3.0, -1.0, 0.5), (-2.0, 0.5, 0.0), (0.5, -0.5, inf), (nan, 1.0, nan), (1.0, nan, nan)],
    "binom": [
        (5.0, 2.0, 10.0), (10.0, 10.0, 1.0), (4.0, 6.0, 0.0), (4.0, -1.0, 0.0), (-2.0, 1.0, nan), (-0.5, 1.0, -0.5), (nan, 1.0, nan),
        (1.0, nan, nan),
    ],
    "jn": [(0.0, 0.0, 1.0), (3.0, 0.0, 0.0), (2.0, inf, 0.0), (0.5, 1.0, nan), (nan, 1.0, nan), (1.0, nan, nan)],
    "yn": [(0.0, 0.0, -inf), (3.0, 0.0, -inf), (2.0, -1.0, nan), (2.0, inf, 0.0), (0.5, 1.0, nan), (nan, 1.0, nan), (1.0, nan, nan)],
    "expi": [(0.0, -inf), (inf, inf), (-inf, 0.0), (nan, nan)],
    "expn": [
        (2.0, 0.0, 1.0), (1.0, 0.0, inf), (0.0, 0.0, inf), (3.0, inf, 0.0), (3.0, -1.0, nan), (-1.0, 1.0, nan), (0.5, 1.0, nan),
        (nan, 1.0, nan), (1.0, nan, nan),
    ],
    "ellipkinc": [(0.0, 0.5, 0.0), (1.0, 1.5, nan), (inf, 0.5, inf), (1.0, -inf, 0.0), (nan, 0.5, nan), (1.0, nan, nan)],
    "ellipeinc": [(0.0, 0.5, 0.0), (1.0, 1.5, nan), (inf, 0.5, inf), (1.0, -inf, inf), (nan, 0.5, nan), (1.0, nan, nan)],
    "expit": [(0.0, 0.5), (inf, 1.0), (-inf, 0.0), (nan, nan)],
    "logit": [(0.5, 0.0), (0.0, -inf), (1.0, inf), (-0.5, nan), (1.5, nan), (nan, nan)],
    "log_expit": [(inf, 0.0), (-inf, -inf), (nan, nan)],
    "exprel": [(0.0, 1.0), (inf, inf), (-inf, 0.0), (nan, nan)],
    "cosm1": [(0.0, 0.0), (inf, nan), (nan, nan)],
    "exp10": [(0.0, 1.0), (2.0, 100.0), (inf, inf), (-inf, 0.0), (nan, nan)],
    "xlogy": [(0.0, 0.0, 0.0), (0.0, inf, 0.0), (0.0, nan, nan), (1.0, 0.0, -inf), (1.0, -1.0, nan), (nan, 1.0, nan)],
    "xlog1py": [(0.0, -1.0, 0.0), (0.0, inf, 0.0), (0.0, nan, nan), (1.0, -1.0, -inf), (1.0, -2.0, nan), (nan, 0.0, nan)],
    "entr": [(0.0, 0.0), (1.0, 0.0), (-1.0, -inf), (inf, -inf), (nan, nan)],
    "rel_entr": [(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, inf), (-1.0, 1.0, inf), (1.0, -1.0, inf), (nan, 1.0, nan), (1.0, nan, nan)],
    "kl_div": [(0.0, 0.0, 0.0), (0.0, 1.5, 1.5), (1.0, 0.0, inf), (-1.0, 1.0, inf), (1.0, -1.0, inf), (nan, 1.0, nan), (1.0, nan, nan)],
    "huber": [(-1.0, 1.0, inf), (0.0, 1.0, 0.0), (1.0, 0.5, 0.125), (1.0, 2.0, 1.5), (1.0, nan, nan)],
    "pseudo_huber": [(-1.0, 1.0, inf), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (1.0, nan, nan)],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", ENDS)
def test_ends(name, dtype, device):
    rows = ENDS[name] * 4  # all lanes of a vector
    columns = [np.array(c, dtype) for c in zip(*rows, strict=True)]
    found = pp.asnumpy(function_of(name)(*[pp.asarray(c, device=device) for c in columns[:-1]]))
    np.testing.assert_allclose(found, columns[-1], rtol=4 * np.finfo(dtype).eps, atol=0)


C = complex
# The same of complex numbers.
COMPLEX_ENDS = {
    "erf": [
        (C(0, 0), C(0, 0)), (C(-0.0, 0), C(-0.0, 0)), (C(inf, 0), C(1, 0)), (C(-inf, -0.0), C(-1, -0.0)), (C(inf, 2), C(1, 0)),
        (C(0, inf), C(0, inf)), (C(0, -50), C(0, -inf)), (C(nan, 1), C(nan, nan)),
    ],
    "erfc": [
        (C(0, 0), C(1, -0.0)), (C(inf, 0), C(0, -0.0)), (C(-inf, 0), C(2, -0.0)), (C(0, inf), C(1, -inf)), (C(-30, 1), C(2, 0)),
        (C(1, nan), C(nan, nan)),
    ],
    "erfcx": [(C(0, 0), C(1, -0.0)), (C(inf, 1), C(0, 0)), (C(0, inf), C(0, 0)), (C(-50, 0), C(inf, -0.0)), (C(nan, nan), C(nan, nan))],
    "erfi": [(C(0, 0), C(0, 0)), (C(inf, 0), C(inf, 0)), (C(0, inf), C(0, 1)), (C(1, nan), C(nan, nan))],
    "dawsn": [(C(0, 0), C(0, 0)), (C(-0.0, -0.0), C(-0.0, -0.0)), (C(inf, 0), C(0, 0)), (C(0, 50), C(0, inf)), (C(nan, 1), C(nan, nan))],
    "wofz": [(C(0, 0), C(1, 0)), (C(inf, 0), C(0, 0)), (C(0, inf), C(0, 0)), (C(0, -50), C(inf, 0)), (C(nan, 1), C(nan, nan))],
    "ndtr": [(C(0, 0), C(0.5, 0)), (C(inf, 0), C(1, 0)), (C(-inf, 0), C(0, 0)), (C(0, inf), C(0.5, inf)), (C(nan, 1), C(nan, nan))],
    "log_ndtr": [(C(inf, 0), C(0, 0)), (C(50, 0), C(0, 0)), (C(nan, 1), C(nan, nan))],
    "gamma": [
        (C(1, 0), C(1, 0)), (C(0, 0), C(nan, nan)), (C(-2, 0), C(nan, nan)), (C(inf, 0), C(inf, 0)), (C(0, inf), C(0, 0)),
        (C(200, 0), C(inf, 0)), (C(nan, 1), C(nan, nan)),
    ],
    "loggamma": [
        (C(1, 0), C(0, 0)), (C(2, -0.0), C(0, -0.0)), (C(0, 0), C(nan, nan)), (C(-1, -0.0), C(nan, nan)), (C(inf, 0), C(inf, 0)),
        (C(-0.5, 0), C(1.2655121234846454, -np.pi)), (C(-0.5, -0.0), C(1.2655121234846454, np.pi)), (C(nan, 1), C(nan, nan)),
    ],
    "rgamma": [(C(0, 0), C(0, 0)), (C(-3, -0.0), C(0, 0)), (C(1, 0), C(1, 0)), (C(inf, 0), C(0, 0)), (C(nan, 1), C(nan, nan))],
    "digamma": [
        (C(0, 0), C(nan, nan)), (C(-1, 0), C(nan, nan)), (C(inf, 0), C(inf, 0)), (C(1, inf), C(inf, np.pi / 2)), (C(1, nan), C(nan, nan)),
    ],
    "exp1": [
        (C(inf, 0), C(0, -0.0)), (C(-1, 0), C(-1.8951178163559368, -np.pi)), (C(-1, -0.0), C(-1.8951178163559368, np.pi)),
        (C(-40, 0), C(-6039718263611241.6, -np.pi)), (C(nan, 1), C(nan, nan)),
    ],
    "expi": [
        (C(1, 0), C(1.8951178163559368, 0)), (C(-1, 0), C(-0.21938393439552028, 0)), (C(-50, 1), C(0, np.pi)), (C(-50, -1), C(0, -np.pi)),
        (C(1, nan), C(nan, nan)),
    ],
    "xlogy": [(C(0, 0), C(0, 0), C(0, 0)), (C(0, 0), C(nan, 0), C(nan, nan)), (C(1, 0), C(-1, 0), C(0, np.pi))],
    "xlog1py": [(C(0, 0), C(-1, 0), C(0, 0)), (C(0, 0), C(0, nan), C(nan, nan)), (C(1, 0), C(-2, -0.0), C(0, -np.pi))],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("name", COMPLEX_ENDS)
def test_ends_of_complex_numbers(name, dtype, device):
    rows = COMPLEX_ENDS[name] * 4
    columns = [np.array(c, dtype) for c in zip(*rows, strict=True)]
    found = pp.asnumpy(function_of(name)(*[pp.asarray(c, device=device) for c in columns[:-1]]))
    assert found.dtype == dtype
    if COMPILE_ONLY:
        return
    for got, expected in ((found.real, columns[-1].real), (found.imag, columns[-1].imag)):
        np.testing.assert_allclose(got, expected, rtol=8 * np.finfo(dtype).eps, atol=1e-22)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_layouts(layout, device):
    host = rng_for(layout.name).random(layout.base).astype("f4")
    x, y = pp.asarray(host, device=device), layout.view(np, host).astype("f8")
    got = pp.asnumpy(pp.special.expit(pp.special.xlogy(layout.view(pp, x), layout.view(pp, x))))
    np.testing.assert_allclose(got, 1 / (1 + np.exp(-y * np.log(y))), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64"])
def test_integers_become_float64(dtype, device):
    x = pp.asarray(np.array([0, 1, 1, 0], dtype), device=device)
    wide = "f8" if device.has_fp64 else "f4"
    assert pp.special.expit(x).dtype == wide
    np.testing.assert_allclose(pp.asnumpy(pp.special.i0(x)), [1, 1.2660658777520084, 1.2660658777520084, 1], rtol=1e-6)


@pytest.mark.parametrize("name", ["gammaln", "j0", "ndtri", "gammainc", "k1", "logit"])
def test_float16_is_computed_in_float32(name, device):
    host = np.linspace(0.05, 0.95, 19).astype("f2")
    columns = [host] * (2 if name == "gammainc" else 1)
    f = function_of(name)
    half = pp.asnumpy(f(*[pp.asarray(c, device=device) for c in columns]))
    single = pp.asnumpy(f(*[pp.asarray(c.astype("f4"), device=device) for c in columns]))
    assert half.dtype == np.float16
    np.testing.assert_array_equal(half, single.astype("f2"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
def test_sums_of_exponentials(axis, dtype, device):
    host = rng_for("logsumexp", axis).normal(size=(3, 5, 4)).astype(dtype) * 3
    x, wide = pp.asarray(host, device=device), host.astype("f8")
    total = np.exp(wide).sum(axis, keepdims=True)
    tolerance = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}[dtype]
    for got, expected in [
        (pp.special.logsumexp(x, axis, keepdims=True), np.log(total)),
        (pp.special.logsumexp(x, axis), np.log(np.exp(wide).sum(axis))),
        (pp.special.softmax(x, axis), np.exp(wide) / total),
        (pp.special.log_softmax(x, axis), wide - np.log(total)),
    ]:
        found = pp.asnumpy(got)
        assert found.dtype == dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sums_of_complex_exponentials(dtype, device):
    axis, rng = 1, rng_for("logsumexp", dtype)
    host = (rng.normal(size=(3, 5)) * 3 + 1j * rng.normal(size=(3, 5))).astype(dtype)
    x, wide = pp.asarray(host, device=device), host.astype("c16")
    total = np.exp(wide).sum(axis, keepdims=True)
    tolerance = 4e-6 if dtype == "complex64" else 2e-14
    value, sign = pp.special.logsumexp(x, axis, keepdims=True, return_sign=True)
    for got, expected in [
        (pp.special.logsumexp(x, axis, keepdims=True), np.log(total)),
        (pp.special.logsumexp(x + 1000, axis, b=np.array([1j], dtype)), np.log(1j * total[:, 0]) + 1000),
        (value, np.log(abs(total))),
        (sign, total / abs(total)),
        (pp.special.softmax(x, axis), np.exp(wide) / total),
        (pp.exp(pp.special.log_softmax(x, axis)), np.exp(wide) / total),
    ]:
        found = pp.asnumpy(got)
        assert found.dtype == (dtype if expected.dtype == "c16" else host.real.dtype)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
