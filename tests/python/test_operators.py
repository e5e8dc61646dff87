# tests/python/test_operators.py: operators of Array: dtypes, weak numbers, reflected and in-place forms, strangers, truth.
from __future__ import annotations

import array
import operator

import numpy as np
import pardo as pp
import pytest
from support import DTYPES, check, samples

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def numpy_result(f, *args):
    """NumPy's result, or its exception."""
    with np.errstate(all="ignore"):
        try:
            return f(*args)
        except (TypeError, ValueError, OverflowError) as e:
            return type(e)


def compare(f, ours, theirs, label, ulp=2):
    expected = numpy_result(f, *theirs)
    if isinstance(expected, type):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            f(*ours).wait()
        return
    check(f(*ours), expected, ulp=ulp, label=label)


@pytest.mark.parametrize(
    ("left", "right"), [("bool", "bool"), ("int8", "uint8"), ("int64", "float32"), ("uint64", "int64"), ("float16", "complex64")]
)
def test_arrays(left, right, rng):
    """Operators are functions, whose promotion of every pair of dtypes is compared in tests/conformance/test_elementwise.py."""
    a, b = samples(left, (11,), rng), samples(right, (11,), rng)
    for f in ARITHMETIC + BITS + COMPARISONS:
        if f in (operator.lshift, operator.rshift) and b.dtype.kind in "iu":
            b = (np.abs(b) % 7).astype(right)
        compare(f, (pp.asarray(a), pp.asarray(b)), (a, b), f"{f.__name__}({left}, {right})", ulp=8)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [True, 2, -3, 2.5, 1 + 2j, np.float32(1.5), np.int16(7), np.float64(0.1)])
def test_promotion_of_numbers(dtype, number, rng):
    a = samples(dtype, (5,), rng)
    x = pp.asarray(a)
    for f in [*ARITHMETIC, *COMPARISONS]:
        compare(f, (x, number), (a, number), f"{f.__name__}({dtype}, {number!r})", ulp=8)
        compare(f, (number, x), (number, a), f"{f.__name__}({number!r}, {dtype})", ulp=8)


def test_power_and_divmod(rng):
    a = np.abs(samples("float64", (9,), rng)) + 0.5
    b = samples("float64", (9,), rng)
    check(pp.asarray(a) ** pp.asarray(b), a**b, ulp=8)
    check(2 ** pp.asarray(b), 2**b, ulp=4)
    i = samples("int64", (9,), rng)
    check(pp.asarray(i) ** 3, i**3)
    for got, expected in zip(divmod(pp.asarray(i), 7), divmod(i, 7), strict=True):
        check(got, expected)
    for got, expected in zip(divmod(100, pp.asarray(i | 1)), divmod(100, i | 1), strict=True):
        check(got, expected)
    with pytest.raises(TypeError, match="modulo"):
        pow(pp.asarray(i), 2, 5)


def test_unary(rng):
    a = samples("float64", (9,), rng)
    check(-pp.asarray(a), -a)
    check(+pp.asarray(a), +a)
    check(abs(pp.asarray(a)), abs(a))
    i = samples("int32", (9,), rng)
    check(~pp.asarray(i), ~i)
    check(~pp.asarray(i > 0), ~(i > 0))
    with pytest.raises(TypeError):
        -pp.asarray([True])


def test_broadcasting(rng):
    a, b = samples("float64", (4, 1, 3), rng), samples("float64", (5, 1), rng)
    check(pp.asarray(a) + pp.asarray(b), a + b)
    with pytest.raises(ValueError, match="broadcast"):
        pp.zeros(3) + pp.zeros(4)


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"])
def test_in_place(name, rng):
    f = getattr(operator, name)
    a = np.abs(samples("float64", (4, 3), rng)) + 1
    b = np.abs(samples("float64", (3,), rng)) + 1
    x, expected = pp.asarray(a), a.copy()
    view, same = x[1], x
    x = f(x, pp.asarray(b))
    expected = f(expected, b)
    assert x is same
    check(x, expected, ulp=4)
    check(view, expected[1], ulp=4)
    x = f(x, 2)
    check(x, f(expected, 2), ulp=4)


@pytest.mark.parametrize("name", ["iand", "ior", "ixor", "ilshift", "irshift"])
def test_in_place_bits(name, rng):
    f = getattr(operator, name)
    a, b = np.abs(samples("int32", (9,), rng)), np.abs(samples("int32", (9,), rng)) % 5
    x = pp.asarray(a)
    x = f(x, pp.asarray(b))
    check(x, f(a.copy(), b))


def test_in_place_rules():
    x = pp.zeros(3, dtype="int32")
    with pytest.raises(TypeError, match="same_kind"):
        x += 1.5
    with pytest.raises(ValueError, match="broadcast"):
        x += pp.zeros((2, 3), dtype="int32")
    x = pp.zeros(3, dtype="float32")
    x += pp.ones(3, dtype="float64")
    assert x.dtype == np.float32
    assert x.tolist() == [1, 1, 1]


def test_in_place_overlap():
    x = pp.arange(10.0)
    x[1:] += x[:-1]
    expected = np.arange(10.0)
    expected[1:] += expected[:-1].copy()
    check(x, expected)
    y = pp.arange(6.0)
    y += y[::-1]
    assert y.tolist() == [5] * 6


def test_strangers():
    class Stranger:
        def __radd__(self, other):
            return "mine"

    x = pp.zeros(2)
    assert x + Stranger() == "mine"
    for bad in ("text", None, {1: 2}, object()):
        with pytest.raises(TypeError):
            x + bad
        with pytest.raises(TypeError):
            bad - x
    assert (x == object()) is False
    assert (x != object()) is True


@pytest.mark.parametrize("data", [[0.0, 1.0], (0.0, 1.0), range(2), array.array("d", [0.0, 1.0]), np.zeros(2)])
def test_comparison_with_host_data(data):
    """Not implemented would mean one bool for the whole array, by identity."""
    x = pp.asarray([0.0, 2.0])
    for f in (operator.eq, operator.ne):
        check(f(x, data), f(np.array([0.0, 2.0]), np.asarray(data)))
        check(f(data, x), f(np.asarray(data), np.array([0.0, 2.0])))


@pytest.mark.parametrize("other", [None, "text", b"bytes"])
def test_comparison_with_what_is_no_number(other):
    for host in (np.zeros((2, 3)), np.zeros(0), np.asarray(1)):
        x = pp.asarray(host)
        check(x == other, np.zeros(host.shape, bool))
        check(other != x, np.ones(host.shape, bool))


BIG = [2**63, 2**64 - 1, 2**64, 2**70, -(2**63) - 1, -(2**70)]


@pytest.mark.parametrize("big", BIG)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64", "float32", "float64"])
def test_integers_beyond_64_bits_are_floats_where_the_result_is(dtype, big):
    host = np.arange(3).astype(dtype)
    x = pp.asarray(host)
    with np.errstate(all="ignore"):
        check(x / big, host / big)
        check(big / x, big / host)
        check(pp.hypot(x, big), np.hypot(host, big), ulp=2)
        for f in (operator.eq, operator.lt, operator.ge):
            check(f(x, big), f(host, big))
        check(pp.equal(x, big), np.equal(host, big))
        if host.dtype.kind == "f":
            check(pp.where(x > 0, big, x), np.where(host > 0, host.dtype.type(big), host))
            check(x == host.dtype.type(big), host == host.dtype.type(big))
    check(pp.where(big, x, x + 1), host)
    if host.dtype.kind in "iu" and abs(big) >= 2**64:
        with pytest.raises(OverflowError):
            x + big


def test_integers_that_do_not_fit():
    with pytest.raises(OverflowError):
        pp.zeros(2, dtype="uint8") + 300
    with pytest.raises(OverflowError):
        pp.zeros(2, dtype="int64") + 10**30
    check(pp.zeros(2) + 10**30, np.zeros(2) + 1e30)
    for value in (300, -1, 10**30, -(10**30), 2**63):
        for f in COMPARISONS:
            check(f(pp.asarray([1, 2], dtype="uint8"), value), f(np.asarray([1, 2], np.uint8), value), label=f"{f} {value}")
            check(f(pp.asarray([1, -2]), value), f(np.asarray([1, -2]), value), label=f"{f} {value}")


def test_truth():
    assert pp.asarray(1.0)
    assert not pp.asarray([0])
    with pytest.raises(ValueError, match=r"more than one element is ambiguous. Use a.any\(\) or a.all\(\)"):
        bool(pp.zeros(2))
    with pytest.raises(ValueError, match="empty array"):
        bool(pp.zeros(0))
    for f in (int, float, complex):
        for x in (pp.zeros(2), pp.zeros(1), pp.zeros((1, 1)), pp.zeros(0)):
            with pytest.raises(TypeError, match="only 0-dimensional arrays can be converted to Python scalars"):
                f(x)
    with pytest.raises(TypeError):
        operator.index(pp.asarray(1.0))
    with pytest.raises(TypeError):
        operator.index(pp.asarray([1]))
    with pytest.raises(TypeError):
        float(pp.asarray(1j))
    with pytest.raises(ValueError, match="NaN"):
        int(pp.asarray(float("nan")))
    with pytest.raises(OverflowError):
        int(pp.asarray(float("inf")))


def test_containers():
    x = pp.arange(6.0).reshape(2, 3)
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]
    assert 4 in x
    assert 9 not in x
    with pytest.raises(TypeError, match="unsized"):
        len(pp.asarray(1))
    with pytest.raises(TypeError, match="0-d"):
        iter(pp.asarray(1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_matmul(rng):
    a, b = samples("float64", (3, 4), rng), samples("float64", (4, 5), rng)
    check(pp.asarray(a) @ pp.asarray(b), a @ b, ulp=16)
    x = pp.asarray(a[:, :3])
    x @= pp.asarray(b[:3, :3])
    check(x, a[:, :3] @ b[:3, :3], ulp=16)
    with pytest.raises(ValueError):
        pp.asarray(a) @ pp.asarray(a)
    with pytest.raises(ValueError, match="scalar"):
        pp.asarray(a) @ 2
