# tests/python/test_elementwise_compositions.py: elementwise functions that are made of several operations, and tests of arrays, against
# NumPy's.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import DTYPES, check, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FLOATS = ["float16", "float32", "float64"]
INTEGERS = [t for t in DTYPES if np.dtype(t).kind in "iu"]
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
UNARY = ["fabs", "modf", "frexp", "spacing", "bitwise_count"]
PAIRS = ["float_power", "divmod", "gcd", "lcm", "ldexp"]


def outcome(f, *args, **keywords):
    """What a call gives, as a tuple; or the type of what it raises."""
    try:
        result = f(*args, **keywords)
    except Exception as e:
        return type(e)
    return result if isinstance(result, tuple) else (result,)


def agree(ours, theirs, ulp=0, label=""):
    """Both raise the same, or give the same."""
    if isinstance(theirs, type):
        assert isinstance(ours, type), f"{label}: NumPy raises {theirs.__name__}"
        assert issubclass(ours, theirs) or issubclass(theirs, ours), f"{label}: {ours.__name__}, NumPy's is {theirs.__name__}"
        return
    assert not isinstance(ours, type), f"{label}: {ours}"
    for a, b in zip(ours, theirs, strict=True):
        check(a, b, ulp=ulp, label=label)


def layouts(host):
    """The same values with other strides."""
    wide = np.repeat(host, 2, axis=-1) if host.ndim else host
    x = pp.asarray(wide)
    yield pp.asarray(host)
    if host.ndim:
        yield x[..., ::2]
        yield pp.asarray(host[..., ::-1].copy())[..., ::-1]
        yield pp.asarray(np.ascontiguousarray(host.T)).T


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype, rng):
    host = samples(dtype, (3, 4), rng)
    theirs = outcome(getattr(np, name), host)
    for x in layouts(host):
        agree(outcome(getattr(pp, name), x), theirs, label=name)
    agree(outcome(getattr(pp, name), pp.asarray(host[0, 0])), outcome(getattr(np, name), host[0, 0]))
    agree(outcome(getattr(pp, name), pp.zeros((0, 2), dtype=dtype)), outcome(getattr(np, name), np.zeros((0, 2), dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name, dtype, rng):
    a, b = samples(dtype, (3, 4), rng), samples("int16" if name == "ldexp" else dtype, (4,), rng)
    theirs = outcome(getattr(np, name), a, b)
    ulp = 8 if name == "float_power" else 0
    for x, y in zip(layouts(a), [pp.asarray(b)] * 4, strict=True):
        agree(outcome(getattr(pp, name), x, y), theirs, ulp, name)
    number = 3
    agree(outcome(getattr(pp, name), pp.asarray(a), number), outcome(getattr(np, name), a, number), ulp, name)


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_parts_of_any_float(dtype, data):
    """Bit for bit, subnormal numbers and infinities too."""
    host = data.draw(hnp.arrays(dtype, SHAPES, elements=hnp.from_dtype(np.dtype(dtype))))
    x = pp.asarray(host)
    for name in ("fabs", "modf", "frexp", "spacing"):
        agree(outcome(getattr(pp, name), x), outcome(getattr(np, name), host), label=name)
    n = data.draw(hnp.arrays(np.int32, host.shape, elements=st.integers(-2200, 2200) | st.integers(-30, 30)))
    check(pp.ldexp(x, pp.asarray(n)), np.ldexp(host, n))


@pytest.mark.parametrize("dtype", INTEGERS)
@given(data=st.data())
def test_integers(dtype, data):
    shape = data.draw(SHAPES)
    a, b = (data.draw(hnp.arrays(dtype, shape)) for _ in range(2))
    check(pp.bitwise_count(pp.asarray(a)), np.bitwise_count(a))
    check(pp.gcd(pp.asarray(a), pp.asarray(b)), np.gcd(a, b))
    check(pp.lcm(pp.asarray(a), pp.asarray(b)), np.lcm(a, b))


@pytest.mark.parametrize("name", UNARY + PAIRS)
def test_keywords_of_compositions(name, rng):
    dtype = "int64" if name in ("bitwise_count", "gcd", "lcm") else "float64"
    host = [samples(dtype, (4, 5), rng) for _ in range(2 if name in PAIRS else 1)]
    if name == "ldexp":
        host[1] = samples("int64", (4, 5), rng)
    ours, theirs = getattr(pp, name), getattr(np, name)
    expected = outcome(theirs, *host)
    arrays = [pp.asarray(x) for x in host]
    out = tuple(pp.zeros((4, 5), dtype=e.dtype) for e in expected)
    given_out = out if len(out) > 1 else out[0]
    result = ours(*arrays, out=given_out)
    for o, r, e in zip(out, result if len(out) > 1 else [result], expected, strict=True):
        assert r is o
        check(o, e, ulp=8 if name == "float_power" else 0)
    mask = rng.integers(0, 2, (4, 5)).astype(bool)
    out = tuple(pp.ones((4, 5), dtype=e.dtype) for e in expected)
    ours(*arrays, out=out if len(out) > 1 else out[0], where=pp.asarray(mask))
    for o, e in zip(out, expected, strict=True):
        check(o, np.where(mask, e, np.ones((), e.dtype)), ulp=8 if name == "float_power" else 0)
    with pytest.raises(ValueError, match=f"^{name}: casting"):
        ours(*arrays, casting="bogus")
    with pytest.raises(TypeError, match=f"^{name}: .*a number or a sequence of numbers is expected"):
        ours(*["ab"] * len(arrays))
    if dtype == "float64" and name not in ("float_power", "frexp", "ldexp"):
        for a, b in zip(
            ours(*arrays, dtype="float32") if len(out) > 1 else [ours(*arrays, dtype="float32")],
            outcome(theirs, *host, **({"dtype": "float32"} if name != "ldexp" else {})),
            strict=True,
        ):
            assert a.dtype == (np.float32 if a.dtype.kind == "f" else b.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sinc(dtype, rng):
    host = samples(dtype, (3, 4), rng)
    check(pp.sinc(pp.asarray(host)), np.sinc(host), ulp=16)
    check(pp.sinc(pp.asarray(np.array([0.0, 1.0, np.nan, np.inf]))), np.sinc(np.array([0.0, 1.0, np.nan, np.inf])), ulp=4)


# --- what arrays are -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_kinds(dtype, rng):
    host = samples(dtype, (3, 4), rng)
    if host.dtype.kind == "c":
        host[0] = host[0].real
    for x in layouts(host):
        for name in ("isreal", "iscomplex"):
            check(getattr(pp, name)(x), getattr(np, name)(host))
        for name in ("isrealobj", "iscomplexobj", "ndim", "shape", "size"):
            assert getattr(pp, name)(x) == getattr(np, name)(host)
    x = pp.asarray(host)
    assert pp.size(x, 1) == pp.size(x, -1) == 4
    assert pp.size(x, (0, 1)) == 12
    assert (pp.ndim([1]), pp.shape([[1]]), pp.size(3.0)) == (1, (1, 1), 1)
    assert pp.isfortran(x.T)
    assert not pp.isfortran(x)
    with pytest.raises(np.exceptions.AxisError):
        pp.size(x, 2)
    with pytest.raises(ValueError, match="repeated"):
        pp.size(x, (0, 0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("keywords", [{}, {"nan": 3.0}, {"nan": 1.5, "posinf": 9, "neginf": -9.5}, {"nan": [1, 2, 3]}])
def test_nan_to_num(dtype, keywords):
    host = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    if host.dtype.kind in "fc":
        host[0] = [np.nan, np.inf, -np.inf]
    if host.dtype.kind == "c":
        host.imag[1] = [-np.inf, np.nan, 1]
    theirs = outcome(np.nan_to_num, host, **keywords)
    for x in layouts(host):
        agree(outcome(pp.nan_to_num, x, **keywords), theirs)
    x = pp.asarray(host)
    y = x[:, ::2]
    assert pp.nan_to_num(y, copy=False, **({"nan": 7.0} if "nan" in keywords else {})) is y
    np.nan_to_num(host[:, ::2], copy=False, **({"nan": 7.0} if "nan" in keywords else {}))
    check(x, host)


def test_nan_to_num_of_other_kinds():
    for value in (1j, "a"):
        agree(outcome(pp.nan_to_num, pp.ones(2), nan=value), outcome(np.nan_to_num, np.ones(2), nan=value))
    check(pp.nan_to_num(pp.asarray(np.float32([np.nan])), nan=0.1), np.nan_to_num(np.float32([np.nan]), nan=0.1))


def test_real_if_close():
    for host in ([2.1 + 4e-14j, 5.2 + 3e-15j], [2.1 + 4e-13j, 5.2], [1.0, 2.0], np.zeros(0, complex)):
        for tol in (100, 1000, 1e-13):
            check(pp.real_if_close(pp.asarray(host), tol), np.real_if_close(host, tol))


NEAR = st.one_of(st.floats(-2, 2), st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1.0, 1.0 + 1e-6, 1.0 + 1e-4, 1e-9]))


@given(st.data())
def test_closeness(data):
    shape = data.draw(SHAPES)
    a, b = (
        data.draw(hnp.arrays(data.draw(st.sampled_from(["float32", "float64"])), shape, elements=NEAR.map(np.float32).map(float)))
        for _ in range(2)
    )
    if data.draw(st.booleans()):
        b = a.copy()
    x, y = pp.asarray(a), pp.asarray(b)
    for equal_nan in (False, True):
        check(pp.isclose(x, y, equal_nan=equal_nan), np.isclose(a, b, equal_nan=equal_nan))
        assert pp.allclose(x, y, equal_nan=equal_nan) is np.allclose(a, b, equal_nan=equal_nan)
        assert pp.array_equal(x, y, equal_nan) is np.array_equal(a, b, equal_nan)
    assert pp.array_equiv(x, y) is np.array_equiv(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", DTYPES)
def test_closeness_of_dtypes(dtype, other, rng):
    a, b = samples(dtype, (3, 4), rng), samples(other, (4,), rng)
    a[0] = b if a.dtype.kind == "c" or b.dtype.kind != "c" else b.real
    check(pp.isclose(pp.asarray(a), pp.asarray(b), rtol=0.1), np.isclose(a, b, rtol=0.1))
    assert pp.array_equal(pp.asarray(a[0]), pp.asarray(b)) is np.array_equal(a[0], b)


def test_closeness_of_others():
    x = pp.asarray([1.0, 2.0])
    check(pp.isclose(x, 1), np.isclose([1.0, 2.0], 1))
    check(pp.isclose(1, x), np.isclose(1, [1.0, 2.0]))
    check(pp.isclose(pp.asarray([1], dtype="i1"), 300), np.isclose(np.int8([1]), 300))
    check(pp.isclose(x, x + 0.5, rtol=pp.asarray([1.0, 0.0])), np.isclose([1.0, 2.0], [1.5, 2.5], rtol=[1.0, 0.0]))
    assert pp.array_equal(x, [1.0, 2.0])
    assert not pp.array_equal(pp.asarray([1], dtype="i1"), [300])
    assert not pp.array_equal(x, pp.zeros(3))
    assert not pp.array_equiv(x, pp.zeros(3))
    assert pp.array_equiv(x, np.array([[1, 2], [1, 2]]))
    with pytest.warns(RuntimeWarning, match=r"^isclose: rtol and atol"):
        pp.isclose(x, x, rtol=np.inf)
    with pytest.raises(TypeError, match=r"^allclose: an array, a number or a sequence of numbers is expected"):
        pp.allclose("a", [1.0])
    assert pp.allclose([1.0], [1.0])
    with pytest.raises(ValueError, match="broadcast"):
        pp.isclose(x, pp.zeros(3)).wait()
    with pytest.raises(pp.ExecutionPlacementError, match=r"^isclose: "):
        pp.isclose(x, x.to_queue(pp.Queue(x.device)))


# --- copies ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_copies_and_layouts(order, rng):
    host = rng.standard_normal((3, 4))
    for a, x in ((host, pp.asarray(host)), (host.T, pp.asarray(host).T)):
        y = pp.copy(x, order)
        check(y, a)
        assert y.strides == np.copy(a, order).strides
        y[0, 0] = 7.0
        check(x, a)
        for name in ("ascontiguousarray", "asfortranarray"):
            y = getattr(pp, name)(x)
            check(y, a)
            assert y.strides == getattr(np, name)(a).strides
            assert (y is x) == (getattr(np, name)(a) is a)
        for requirements in (None, "C", "F", ["F", "W"], ["A", "O"], "E"):
            y = pp.require(x, "float32", requirements)
            check(y, a.astype("float32"))
            if requirements in ("C", "F"):
                assert y.strides == np.require(a, "float32", requirements).strides
    assert pp.require(x, requirements="O") is not x
    assert pp.require(x, requirements="W") is x
    with pytest.raises(KeyError):
        pp.require(x, requirements="Q")
    with pytest.raises(ValueError, match="both"):
        pp.require(x, requirements="CF")
    with pytest.raises(ValueError, match=r"^copy: order"):
        pp.copy(x, "Q")


def test_conversions_of_host_values():
    check(pp.ascontiguousarray(2.0), np.ascontiguousarray(2.0))
    check(pp.asfortranarray([[1, 2]], dtype="f4"), np.asfortranarray([[1, 2]], dtype="f4"))
    check(pp.asanyarray([1, 2], dtype="f4"), np.float32([1, 2]))
    check(pp.copy([1, 2]), np.array([1, 2]))
    check(pp.asarray_chkfinite([1, 2]), np.array([1, 2]))
    for wrong in ([1.0, np.nan], [np.inf], [1j * np.inf]):
        with pytest.raises(ValueError, match=r"^asarray_chkfinite: "):
            pp.asarray_chkfinite(wrong)
