# tests/python/test_functions.py: every row of ops.def against NumPy: keywords, special values, second names. For dtypes and layouts see
# tests/conformance/test_elementwise.py.
from __future__ import annotations

import inspect
import math

import numpy as np
import pardo as pp
import pytest
from numpy_names import BEFORE_2_1
from support import check, is_function, samples

ROWS = {row[0]: row for row in pp._core._op_table()}
COVERED = {name: row for name, row in ROWS.items() if row[2] and name not in ("clip", "where", "round")}
FLOAT_ULP = 4


def shifts(name, operands):
    """Shift counts must be small and not negative."""
    if name.endswith("_shift"):
        operands[1] = (np.abs(operands[1]) % 7).astype(operands[1].dtype) if operands[1].dtype.kind in "iu" else operands[1]
    return operands


@pytest.mark.parametrize("name", sorted(COVERED))
def test_keywords(name, rng):
    _, arity, numpy_name, dtypes, *_ = COVERED[name]
    theirs, ours = getattr(np, numpy_name), getattr(pp, name)
    if not isinstance(theirs, np.ufunc):
        pytest.skip("not a ufunc of NumPy")
    dtype = "int64" if dtypes in ("BITS", "INTEGER", "WHOLE") else "float64"
    operands = [np.abs(samples(dtype, (4, 5), rng)) + 1 for _ in range(arity)]
    if name in ("arcsin", "arccos", "arctanh"):
        operands = [x / 20 for x in operands]
    operands = shifts(name, operands)
    arrays = [pp.asarray(x) for x in operands]
    expected = theirs(*operands)
    out = pp.zeros((4, 5), dtype=expected.dtype)
    assert ours(*arrays, out=out) is out
    check(out, expected, ulp=FLOAT_ULP)
    out = pp.zeros((4, 5), dtype=expected.dtype)
    assert ours(*arrays, out) is out
    mask = rng.integers(0, 2, (4, 5)).astype(bool)
    out = pp.full((4, 5), 1, dtype=expected.dtype)
    ours(*arrays, out=out, where=pp.asarray(mask))
    host = np.full((4, 5), 1, dtype=expected.dtype)
    theirs(*operands, out=host, where=mask)
    check(out, host, ulp=FLOAT_ULP)
    some = ours(*arrays, where=pp.asarray(mask))
    np.testing.assert_allclose(pp.asnumpy(some)[mask], expected[mask], rtol=1e-14)


def test_dtype_keyword():
    x = pp.asarray([1, 2, 3])
    check(pp.add(x, x, dtype="float32"), np.add([1, 2, 3], [1, 2, 3], dtype="float32"))
    check(pp.sqrt(x, dtype="float32"), np.sqrt([1, 2, 3], dtype="float32"), ulp=1)
    with pytest.raises(TypeError):
        pp.add(pp.asarray([1.5]), 1, dtype="int64")
    with pytest.raises(TypeError, match="object"):
        pp.add(x, x, dtype=object)


def test_wrong_calls():
    x = pp.zeros(3)
    with pytest.raises(TypeError, match="positional argument"):
        pp.add(x)
    with pytest.raises(TypeError, match="positional argument"):
        pp.sin(x, x, x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        pp.sin(x, axis=0)
    with pytest.raises(TypeError, match="a number or a sequence of numbers is expected"):
        pp.sin("text")
    with pytest.raises(TypeError, match="out must be a"):
        pp.sin(x, out=np.zeros(3))
    with pytest.raises(ValueError, match="shape"):
        pp.sin(x, out=pp.zeros(4))
    with pytest.raises(TypeError, match="same_kind"):
        pp.sin(x, out=pp.zeros(3, dtype="int64"))
    with pytest.raises(TypeError, match="bool"):
        pp.sin(x, where=pp.zeros(3))
    with pytest.raises(ValueError, match="casting"):
        pp.sin(x, casting="any")


def test_numbers_alone():
    check(pp.sin(1.0), np.asarray(np.sin(1.0)), ulp=2)
    check(pp.add(1, 2), np.asarray(3))
    check(pp.maximum(np.float32(2), 1), np.asarray(np.float32(2)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", sorted(n for n, r in COVERED.items() if r[1] == 1 and r[3] in ("INEXACT", "FLOAT", "ANY", "REALS", "NUMERIC"))
)
def test_special_values(name, dtype):
    info = np.finfo(dtype)
    host = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, info.max, info.min, info.smallest_normal], dtype)
    got = pp.asnumpy(getattr(pp, name)(pp.asarray(host)))
    expected = getattr(np, name)(host)
    np.testing.assert_allclose(got, expected, rtol=8 * info.eps)
    zero = expected == 0
    if expected.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name", sorted(n for n, r in COVERED.items() if r[1] == 2 and r[3] in ("FLOAT", "ANY", "QUOTIENT", "DIVISION", "NUMBER"))
)
def test_special_pairs(name):
    values = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2.5, -2.5])
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    got, expected = pp.asnumpy(getattr(pp, name)(pp.asarray(a), pp.asarray(b))), getattr(np, name)(a, b)
    if name == "floor_divide":  # of infinities the array API standard has the quotient
        expected = np.where(np.isinf(a) | np.isinf(b), a / b, expected)
    np.testing.assert_allclose(got, expected, rtol=1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_integer_division_by_zero(dtype):
    info = np.iinfo(dtype)
    a = np.array([0, 1, info.max, info.min, info.min, 7], dtype)
    b = np.array([0, 0, 0, 0, -1 if info.min else 1, 2]).astype(dtype)
    for name in ("floor_divide", "remainder", "fmod", "divide"):
        check(getattr(pp, name)(pp.asarray(a), pp.asarray(b)), getattr(np, name)(a, b), label=name)


def test_erf():
    host = np.linspace(-6, 6, 101)
    np.testing.assert_allclose(pp.asnumpy(pp.special.erf(pp.asarray(host))), [math.erf(v) for v in host], rtol=1e-15, atol=1e-300)
    np.testing.assert_allclose(pp.asnumpy(pp.special.erfc(pp.asarray(host))), [math.erfc(v) for v in host], rtol=4e-15)


def test_clip(rng):
    host = samples("float64", (4, 5), rng)
    x = pp.asarray(host)
    check(pp.clip(x, -1, 1), np.clip(host, -1, 1))
    check(pp.clip(x, min=0), np.clip(host, 0, None))
    check(pp.clip(x, max=0), np.clip(host, None, 0))
    check(pp.clip(x), host)
    check(x.clip(-1, pp.asarray(host[0])), host.clip(-1, host[0]))
    out = pp.zeros((4, 5))
    assert pp.clip(x, -1, 1, out=out) is out
    check(out, np.clip(host, -1, 1))
    check(pp.clip(pp.asarray([1, 200], dtype="uint8"), -5, 1000), np.asarray([1, 200], np.uint8))


@pytest.mark.skipif(BEFORE_2_1, reason="NumPy 2.0 refuses limits that no element is beyond")
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_clip_beyond_the_dtype(dtype):
    """As NumPy: an integer that no element is beyond limits nothing, others are promoted with the elements, or do not fit the dtype."""
    host = np.array([0, 1, 100], dtype)
    x = pp.asarray(host)
    wide = np.array([300, 400, 500])
    for low, high in [(-(2**63) - 1, 5), (3, 2**64), (-(2**70), 2**70), (-5, None), (None, 2**64), (-300, wide), (wide, 2**64)]:
        mine = [pp.asarray(limit) if limit is wide else limit for limit in (low, high)]
        if (isinstance(low, int) and low < np.iinfo(dtype).min) or (isinstance(high, int) and high > np.iinfo(dtype).max):
            check(pp.clip(x, *mine), np.clip(host, low, high))
    for low, high in [(2**64, None), (None, -(2**63) - 1), (2**64, 5), (2**64, 2**65), (3, -(2**64))]:
        with pytest.raises(OverflowError):
            np.clip(host, low, high)
        with pytest.raises(OverflowError, match=rf"^clip: Python integer .* out of bounds for {dtype}"):
            pp.clip(x, low, high)
    if np.dtype(dtype).itemsize == 1:
        check(pp.clip(x, 300, np.int64(1000)), np.clip(host, 300, np.int64(1000)))
        check(pp.clip(x, min=300, max=pp.asarray(wide)), np.clip(host, 300, wide))


def test_round(rng):
    host = samples("float64", (50,), rng) * 100
    for n in (0, 1, 2, -1):
        check(pp.round(pp.asarray(host), n), np.round(host, n), ulp=2)
    ints = samples("int64", (20,), rng) * 7
    check(pp.round(pp.asarray(ints)), ints)
    check(pp.round(pp.asarray(ints), -1), np.round(ints, -1))
    assert round(pp.asarray(2.6)) == 3


def test_where(rng):
    a, b = samples("float64", (4, 5), rng), samples("int32", (5,), rng)
    check(pp.where(pp.asarray(a > 0), pp.asarray(a), pp.asarray(b)), np.where(a > 0, a, b))
    check(pp.where(pp.asarray(a > 0), 1, 0), np.where(a > 0, 1, 0))
    check(pp.where(pp.asarray(a > 0), pp.asarray(a.astype("f4")), 0.5), np.where(a > 0, a.astype("f4"), 0.5).astype("f4"))
    for got, expected in zip(pp.where(pp.asarray(a > 0)), np.where(a > 0), strict=True):
        check(got, expected)
    with pytest.raises(ValueError, match="both or neither"):
        pp.where(pp.asarray(a), 1)


def test_second_names():
    pairs = {
        "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
        "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift",
        "bitwise_right_shift": "right_shift", "conj": "conjugate", "mod": "remainder", "pow": "power", "true_divide": "divide",
        "concatenate": "concat", "transpose": "permute_dims", "amax": "max", "amin": "min", "degrees": "rad2deg",
        "radians": "deg2rad", "ndarray": "Array", "around": "round",
    }  # fmt: skip
    for name, other in pairs.items():
        first, second = getattr(pp, name), getattr(pp, other)
        # Functions in Python are shown by each name, of which their messages speak.
        assert (first.__wrapped__ is second.__wrapped__) if is_function(first) else (first is second), name


WITH_OUT = [
    n for n in sorted(dir(pp)) if callable(f := getattr(pp, n)) and not isinstance(f, type) and "\nout : Array" in (f.__doc__ or "")
]


@pytest.mark.parametrize("name", WITH_OUT)
def test_documentation_of_out_says_what_it_takes(name):
    """A result of floats into integers: whatever the dtype, or within the same kind alone."""
    f, x = getattr(pp, name), pp.asarray([[1.25, 1.5], [2.5, 3.0]])
    given = {"take": (x, pp.asarray([0, 1])), "clip": (x, 1.3, 2.0), "compress": (pp.asarray([True, False]), x)}
    for operands in (given[name],) if name in given else ((x,), (x, x), (x, 0.5)):
        try:
            result = f(*operands)
            break
        except (TypeError, ValueError):
            continue
    else:
        pytest.skip("takes other operands")
    if type(result) is not pp.Array or result.dtype.kind != "f":
        pytest.skip("no floats")
    says = f.__doc__.split("\nout : Array")[1].split("\n    ")[1]
    try:
        f(*operands, out=pp.zeros(result.shape, dtype="int64"))
        takes_all = True
    except TypeError:
        takes_all = False
    assert ("whatever that is" in says) == takes_all
    if takes_all and hasattr(np, name):
        getattr(np, name)(*map(np.asarray, operands), out=np.zeros(result.shape, dtype="int64"))


def test_documentation_of_rows():
    for name, row in ROWS.items():
        f = getattr(pp._core, f"_{name}", None) or getattr(pp, name)
        assert row[5].split(",")[0][:20] in f.__doc__ or name in ("clip", "where", "round")
        assert inspect.signature(f).parameters
        assert "Parameters" in f.__doc__


GENERATED = [row[0] for row in pp._core._op_table() if hasattr(pp, row[0]) and row[0] not in ("clip", "round", "where")]


@pytest.mark.parametrize("name", GENERATED)
def test_documentation_says_dtypes_and_errors(name):
    doc = getattr(pp, name).__doc__
    for part in (" dtype", "Returns\n", "Raises\n", "TypeError\n"):
        assert part in doc, part
    if name in ("sin", "cos", "tan", "arcsin", "arctan2", "deg2rad"):
        assert "radians" in doc.split("\n")[0]


def test_round_takes_complex_numbers_by_parts():
    for value in (complex(np.nan, 1.234), complex(np.inf, 1.236), complex(-0.0, -0.001), complex(1.25, -np.inf)):
        host = np.array([value, 1 - 2.345j])
        for decimals in (-1, 0, 1, 2):
            check(pp.round(pp.asarray(host), decimals), np.round(host, decimals), label=f"{value} {decimals}")
    host = np.arange(12.0).reshape(3, 4).T * (1.234 + 5.678j)
    check(pp.round(pp.asarray(host), 1, out=pp.zeros((4, 3), "complex64")), np.round(host, 1).astype("complex64"))


WIDER = ["sum", "prod", "cumsum", "cumprod", "trace", "nansum", "nanprod", "nancumsum", "nancumprod", "cumulative_sum", "mean", "nanmean"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", WIDER)
def test_out_of_a_wider_dtype_widens_the_loop(name):
    # NumPy reduces in what the elements and out promote to, where dtype is not given.
    hosts = [
        np.full((2, 2), 2**31 - 1, "int32"), np.full((2, 2), 100, "int8"), np.full((2, 2), 2**62), np.full((2, 2), 2**63, "uint64"),
        np.ones((2, 2), "bool"), np.array([[300.0, 60000.0], [200.0, 60000.0]], "float16"), np.array([[3e38, 3e38], [1, 3e38]], "float32"),
    ]  # fmt: skip
    for host in hosts:
        for dtype in ("float64", "float32", "complex128", "int64", "uint64"):
            if np.dtype(dtype).kind in "iu" and (host.dtype.kind not in "bi" or "mean" in name):
                continue  # casts beyond the range of integers, and means that NumPy divides in the dtype of out

            def reduced(m, x, dtype=dtype):
                out = m.zeros(4 if "cum" in name else (), dtype)
                given = x.reshape(4) if name == "cumulative_sum" else x
                getattr(m, name)(given, out=out)
                return out

            check(reduced(pp, pp.asarray(host)), reduced(np, host), ulp=2, label=f"{name} {host.dtype} {dtype}")


def test_out_of_another_kind():
    host = np.array([[1.5, 2.25], [3.0, -4.0]])
    for name in ("sum", "prod", "max", "min", "mean", "cumsum", "nanmax", "nansum", "trace"):
        outs = [m.zeros(4 if name == "cumsum" else (), "int64") for m in (pp, np)]
        getattr(pp, name)(pp.asarray(host), out=outs[0])
        getattr(np, name)(host, out=outs[1])
        check(outs[0], outs[1], label=name)
    with pytest.warns(np.exceptions.ComplexWarning, match="sum: the imaginary parts are discarded"):
        pp.sum(pp.asarray(host + 1j), out=pp.zeros(()))


def test_ptp_into_a_wider_out():
    host = np.array([100, -100], "int8")
    outs = pp.zeros((), "int64"), np.zeros((), "int64")
    pp.ptp(pp.asarray(host), out=outs[0])
    np.ptp(host, out=outs[1])
    check(*outs)
