# tests/conformance/test_elementwise.py: every row of ops.def, on every dtype and layout, against NumPy.
import functools
import math
import re
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from data import COMPLEX, DTYPES, FLOATS, as_on, assert_close, assert_same, float_of, layouts_for, left_out, make, rng_for, ulps, values
from numpy_names import BEFORE_2_1

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r'^OP\((\w+), +(\d), elementwise, +(\w+), +(\w+), .*?, +(\w*), +"(.*)"\)$')
ROWS = [match.groups() for line in (ROOT / "src/graph/ops.def").read_text().splitlines() if (match := ROW.match(line))]

# Correctly rounded in any precision, or no rounding at all: the same bits as NumPy.
EXACT = {
    "absolute",
    "add",
    "ceil",
    "clip",
    "conj",
    "conjugate",
    "copysign",
    "divide",
    "fabs",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "imag",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "positive",
    "real",
    "reciprocal",
    "remainder",
    "rint",
    "round",
    "sign",
    "signbit",
    "sqrt",
    "square",
    "subtract",
    "trunc",
    "where",
}
# Of 0.0 and -0.0 either is right, and which one NumPy takes depends on the layout.
EITHER_ZERO = {"fmax", "fmin", "maximum", "minimum"}
# Everything else, by back end: drivers bring math libraries of their own (docs/reference/accuracy.md shows what was measured). The C
# library's erf and erfc, with which ours are compared, have an ulp of their own.
ULPS, DRIVER_ULPS = 2.0, 4.0
MORE_ULPS = {"erf": 4.0, "erfc": 4.0}
COMPLEX_RTOL = {"complex64": 2e-6, "complex128": 4e-15}


def most_ulps(name, dtype, device):
    """float16 is computed in float32 and rounded once more; complex functions are judged by the modulus instead."""
    if dtype == "float16":
        return MORE_ULPS.get(name, 1.0)
    return MORE_ULPS.get(name, ULPS if device.backend == "cpu" else DRIVER_ULPS)


def reference_of(name: str, numpy_name: str):
    if name in ("erf", "erfc"):
        scalar = getattr(math, name)
        return lambda x: np.vectorize(lambda v: scalar(float(v)), otypes=["f8"])(x)
    if name in ("floor", "ceil", "trunc") and BEFORE_2_1:  # there integers become floats
        function = getattr(np, name)
        return lambda x: x if x.dtype.kind in "biu" else function(x)
    if name == "floor_divide":
        return floor_divide_of_the_standard
    return getattr(np, numpy_name or name, None)


def floor_divide_of_the_standard(x, y):
    """The quotient itself where one of them is infinite; NumPy has NaN and -1 there."""
    floor = np.floor_divide(x, y)
    if floor.dtype.kind != "f":
        return floor
    return np.where(np.isinf(x) | np.isinf(y), np.divide(x, y, dtype=floor.dtype), floor)


def function_of(name: str, numpy_name: str):
    return getattr(pp, numpy_name) if numpy_name else getattr(pp.special, name)


def numpy_result(function, name, arguments):
    """What NumPy gives, and the same in higher precision where that says more."""
    if name in ("erf", "erfc"):
        x = arguments[0]
        if x.dtype.kind == "c":
            raise TypeError(name)
        result = np.sqrt(x).dtype  # the float that holds x
        exact = function(x.astype("f8"))
        return exact.astype(result), exact
    result = np.asarray(function(*arguments))
    if result.dtype.kind != "f" or any(argument.dtype.kind == "c" for argument in arguments):
        return result, None
    loop = np.result_type(*[np.sqrt(argument[:0]) if argument.ndim else np.sqrt(argument) for argument in arguments])
    wide = np.longdouble if loop.itemsize > 4 else np.float64
    return result, np.asarray(function(*[argument.astype(loop).astype(wide) for argument in arguments]))


def check(name, mine, reference, exact, dtype, what, limit, largest=1.0):
    if reference.dtype.kind in "biu" or (name in EXACT and np.dtype(dtype).kind != "c"):
        return assert_same(mine, reference, what, signs_of_zero=name not in EITHER_ZERO)
    got = pp.asnumpy(mine)
    assert got.dtype == reference.dtype, f"{what}: dtype {got.dtype}, NumPy has {reference.dtype}"
    assert got.shape == reference.shape, f"{what}: shape {got.shape}, NumPy has {reference.shape}"
    if reference.dtype.kind == "c" or exact is None:
        finite = np.isfinite(reference)
        assert (np.isfinite(got) == finite).all(), f"{what}: finite in one of both only"
        tiny = np.finfo(reference.dtype).tiny
        modulus = np.abs(reference[finite]) * np.broadcast_to(largest, reference.shape)[finite] + tiny
        distance = np.maximum(np.abs(got[finite] - reference[finite]) - 4 * tiny, 0) / modulus
        assert not (distance > COMPLEX_RTOL[dtype]).any(), f"{what}: off by {distance.max():.3g} of the modulus"
        return None
    distance = ulps(got, exact)
    if name in ("logaddexp", "logaddexp2"):  # near zero the result is a difference of its operands: judged by them
        distance = np.where(np.isfinite(distance) & np.isfinite(largest), distance * np.abs(exact.astype(float)) / largest, distance)
    if distance.size:
        worst = np.unravel_index(distance.argmax(), distance.shape)
        assert distance.max() <= limit(got.dtype), f"{what}: {distance.max():.3g} ulp: {got[worst]!r}, exact {exact[worst]!r}"
    return None


def condition(name, arguments):
    """How much larger than the result the numbers are from which it has to be computed."""
    if name.startswith("logaddexp"):
        return np.maximum.reduce([np.abs(a.astype(float)) for a in arguments]) + 1
    if name in ("power", "float_power") and arguments[0].dtype.kind == "c":
        exponent = np.abs(arguments[1] * np.log(arguments[0]))
        return 1 + np.where(np.isfinite(exponent), exponent, 0)
    if name == "log1p" and arguments[0].dtype.kind == "c":  # NumPy's own adds the 1 and loses what is small next to it
        return 1 + 1 / np.maximum(np.abs(np.log1p(arguments[0])), np.finfo(arguments[0].dtype).tiny)
    return 1.0


def tame(name, arguments):
    """Keeps complex arguments finite and moderate: NumPy's own special values there differ between versions."""
    return [np.where(np.isfinite(a) & (np.abs(a) < 50), a, a.dtype.type(0.5 - 0.25j)) if a.dtype.kind == "c" else a for a in arguments]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_operation(row, dtype, device):
    name, arity, *_, numpy_name, _ = row
    arity = int(arity)
    reference, function = reference_of(name, numpy_name), function_of(name, numpy_name)
    assert reference is not None, f"NumPy has no {numpy_name or name}: add a reference"
    for layout in layouts_for(device, name, dtype):
        what = f"{name}, {dtype}, {layout.name}"
        operands = []
        for i in range(arity):
            kind = "bool" if name == "where" and i == 0 else dtype
            operands.append(make(layout, kind, rng_for(name, dtype, layout.name, i), device))
        theirs, ours = [a for a, _ in operands], [b for _, b in operands]
        if np.dtype(dtype).kind == "c":
            theirs = tame(name, theirs)
            ours = [pp.asarray(a, device=device) for a in theirs]
        if name in ("left_shift", "right_shift", "power") and np.dtype(dtype).kind in "iu":
            theirs[1] = np.abs(theirs[1] % 7).astype(dtype)  # NumPy refuses negative powers
            ours[1] = pp.asarray(theirs[1], device=device)
        try:
            expected, exact = numpy_result(reference, name, theirs)
        except TypeError:
            if name in ("erf", "erfc"):  # values of complex numbers: test_special.py
                assert function(*ours).dtype == dtype
                return
            with pytest.raises(TypeError):
                function(*ours)
            return
        limit = functools.partial(most_ulps, name, device=device)
        computed = dtype
        if as_on(device, expected).dtype != expected.dtype:  # integers become float32 there, before all else
            computed = "complex64" if expected.dtype.kind == "c" else "float32"
            theirs = [a.astype(computed) for a in theirs]
            expected, exact = numpy_result(np.power if name == "float_power" else reference, name, theirs)
        check(name, function(*ours), expected, exact, computed, what, limit, condition(name, theirs))


BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "remainder",
    "left_shift",
    "maximum",
    "equal",
    "less",
    "floor_divide",
    "power",
    "bitwise_xor",
    "hypot",
    "logical_and",
]


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_promotion_of_every_pair(name, left, device):
    if not device.supports(left):
        pytest.skip("the device has no such dtype")
    for right in DTYPES:
        if left_out(device, name, left, right, share=0.5) or not device.supports(right):
            continue  # dtypes of results are found before any device is asked
        a = np.abs(values(left, 5, rng_for(left), special=False, small=True)).astype(left)
        b = np.abs(values(right, 5, rng_for(right), special=False, small=True)).astype(right)
        x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
        try:
            expected = getattr(np, name)(a, b)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(pp, name)(x, y)
            continue
        got, expected = pp.asnumpy(getattr(pp, name)(x, y)), as_on(device, expected)
        assert got.dtype == expected.dtype, f"{name} of {left} and {right}: {got.dtype}, NumPy has {expected.dtype}"
        np.testing.assert_allclose(got, expected, rtol=2e-3 if expected.dtype == np.float16 else 1e-6, err_msg=f"{name}, {left}, {right}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scalar", [True, 3, 2.5, 1 + 2j, np.float32(1.5), np.int8(3), np.float64(0.25), np.uint16(7)], ids=repr)
def test_python_scalars_are_weak(scalar, dtype, device):
    a = np.abs(values(dtype, 9, rng_for(dtype), special=False, small=True)).astype(dtype)
    x = pp.asarray(a, device=device)
    for operation in (np.add, np.multiply, np.true_divide):
        ours = {np.add: pp.add, np.multiply: pp.multiply, np.true_divide: pp.divide}[operation]
        for swap in (False, True):
            expected = as_on(device, operation(scalar, a) if swap else operation(a, scalar))
            got = pp.asnumpy(ours(scalar, x) if swap else ours(x, scalar))
            assert got.dtype == expected.dtype, f"{operation.__name__} of {dtype} and {scalar!r}"
            np.testing.assert_allclose(got, expected, rtol=2e-3 if expected.dtype == np.float16 else 1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_integers_that_do_not_fit_raise(dtype, device):
    x = pp.ones(3, dtype=dtype, device=device)
    with pytest.raises(OverflowError):
        x + (np.iinfo(dtype).max + 1)
    if dtype.startswith("u"):
        with pytest.raises(OverflowError):
            x + -1


SHAPES = [((3, 1), (1, 4)), ((5,), (2, 3, 5)), ((), (4,)), ((1,), (0,)), ((7, 1, 3), (1, 5, 1)), ((2, 1), (2, 1))]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_broadcasting(shapes, device):
    a, b = (values(float_of(device), int(np.prod(shape)), rng_for(shape), special=False).reshape(shape) for shape in shapes)
    x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
    assert_same(x - y, a - b)
    assert_same(pp.where(x > y, x, y), np.where(a > b, a, b))


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + ["int32"])
def test_out_and_where(dtype, device):
    a, b = (values(dtype, 21, rng_for(dtype, i), special=False, small=True).reshape(3, 7) for i in (0, 1))
    x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
    target, mirror = np.zeros((3, 7), dtype), pp.zeros((3, 7), dtype=dtype, device=device)
    mask = (np.arange(21) % 3 == 0).reshape(3, 7)
    np.add(a, b, out=target, where=mask)
    result = pp.add(x, y, out=mirror, where=pp.asarray(mask, device=device))
    assert result is mirror
    assert_same(mirror, target)
    np.multiply(target.T, 2, out=target.T)
    pp.multiply(mirror.T, 2, out=mirror.T)
    assert_same(mirror, target)


def test_in_place_operators_write_through_views(device):
    a = np.arange(24, dtype=float_of(device)).reshape(4, 6)
    x = pp.asarray(a, device=device)
    a[::2, 1:] *= 3
    x[::2, 1:] *= 3
    a[1] += a[0]
    x[1] += x[0]
    a[:, 1:] -= a[:, :-1].copy()
    x[:, 1:] -= x[:, :-1]
    assert_same(x, a)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 15, 16, 17, 31, 63, 64, 65, 127, 1000, 4099, 70_001])
def test_every_tail_of_a_vector(size, device):
    for dtype in ("int8", "int16", "float32", float_of(device), "complex64"):
        a = values(dtype, size, rng_for(size, dtype), special=False, small=True)
        x = pp.asarray(a, device=device)
        assert_same(x + x * x, a + a * a, f"{dtype}, {size}") if np.dtype(dtype).kind == "i" else None
        np.testing.assert_allclose(pp.asnumpy(x + x * x), a + a * a, rtol=1e-5, atol=1e-6)
        assert_same(x[1:] - x[:-1], a[1:] - a[:-1], f"{dtype}, {size}")


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_of_two_zeros_float16_takes_the_first(name, device):
    a = np.tile(np.array([0.0, -0.0, 0.0, -0.0], "f2"), 9)
    b = np.tile(np.array([0.0, -0.0, -0.0, 0.0], "f2"), 9)
    x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
    assert_same(pp.signbit(getattr(pp, name)(x, y)), np.signbit(getattr(np, name)(a, b)), name)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_expm1_of_infinities(dtype, device):
    parts = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -2.5]
    a = np.array([complex(re, im) for re in parts for im in parts], dtype)
    with np.errstate(all="ignore"):
        expected = np.exp(a) - 1  # as the array API standard has it; NumPy's expm1 has other signs and NaN
    special = ~np.isfinite(a)
    got = pp.asnumpy(pp.expm1(pp.asarray(a, device=device)))
    assert_close(got[special], expected[special], COMPLEX_RTOL[dtype], what="the subtraction is off by an ulp")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_mantissas_and_exponents(dtype, device):
    """Bit for bit; all numbers of float16, and bits of any kind of the others: subnormal ones, infinities, NaN."""
    rng = rng_for("frexp", dtype)
    bits = np.dtype(f"uint{np.finfo(dtype).bits}")
    some = np.arange(1 << 16) if dtype == "float16" else rng.integers(0, np.iinfo(bits).max, 20_000, dtype=bits, endpoint=True)
    info = np.finfo(dtype)
    ends = [0.0, 1.0, info.tiny, info.smallest_subnormal, info.max, np.inf, np.nan]
    subnormal = (info.tiny * rng.random(2000)).astype(dtype)
    host = np.concatenate([some.astype(bits).view(dtype), np.array(ends, dtype), -np.array(ends, dtype), subnormal])
    x = pp.asarray(host, device=device)
    if x.dtype != dtype:
        pytest.skip(f"the device has no {dtype}")
    mantissa, exponent = np.frexp(host)
    got = pp.frexp(x)
    flushed = ~pp.asnumpy(pp.equal(x * 1.0, x) | pp.isnan(x)) | ((host != 0) & (pp.asnumpy(x * 1.0) == 0))  # by the device
    assert_same(pp.where(pp.asarray(flushed, device=device), 0, got[0]), np.where(flushed, 0, mantissa).astype(dtype), "mantissa")
    finite = np.isfinite(host) & ~flushed
    np.testing.assert_array_equal(pp.asnumpy(got[1])[finite], exponent[finite])
    powers = rng.integers(-80, 80, host.size).astype("int32")
    expected = np.ldexp(host, powers)
    same = ~flushed & ~((expected != 0) & (np.abs(expected) < info.tiny))  # results that are subnormal may be flushed
    mine = pp.asnumpy(pp.ldexp(x, pp.asarray(powers, device=device)))
    assert_same(np.where(same, mine, 0), np.where(same, expected, 0).astype(dtype), "ldexp")
