# tests/python/test_ufuncs.py: universal functions are objects with NumPy's attributes and methods: reduce, accumulate, reduceat, outer, at.
from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import pydoc
import warnings

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import DTYPES, check, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning", "ignore:Casting complex")

NAMES = sorted({n for n in dir(np) if isinstance(getattr(np, n), np.ufunc) and hasattr(pp, n) and n != "isnat"})
BINARY = [n for n in NAMES if (getattr(np, n).nin, getattr(np, n).nout) == (2, 1) and not getattr(np, n).signature]
FOLDED = sorted({getattr(np, n).__name__ for n in BINARY} - {"ldexp"})
UNARY = sorted({getattr(np, n).__name__ for n in NAMES if getattr(np, n).nin == 1 and getattr(np, n).nout == 1})
SHORT = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex128"]


def values(name: str, dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Elements that the function is defined for, and takes many times without an overflow that depends on the order."""
    x = samples(dtype, shape, rng)
    if name.endswith("_shift"):
        return (np.abs(x.real) % 3).astype(dtype)
    if name in ("power", "float_power"):  # powers of two are exact everywhere
        return (np.abs(x.real) % (3 if name == "power" else 2) + 1).astype(dtype)
    if name in ("multiply", "divide") and x.dtype.kind in "fc":
        return (x / 8 + 1).astype(dtype)
    return x


def outcome(call, *arguments, **keywords):
    """What a call gives, or the class of what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(*arguments, **keywords)
    except Exception as e:
        return type(e)


def agree(ours, theirs, label="", loose=1.0):
    if isinstance(theirs, type):
        assert isinstance(ours, type), f"{label}: NumPy raises {theirs.__name__}, here is {ours!r}"
        assert issubclass(ours, theirs) or issubclass(theirs, ours), f"{label}: {ours.__name__}, NumPy raises {theirs.__name__}"
        return
    assert not isinstance(ours, type), f"{label}: {ours.__name__}, NumPy gives {theirs!r}"
    theirs = np.asarray(theirs)
    got = pp.asnumpy(ours)
    assert got.dtype == theirs.dtype, f"{label}: dtype {got.dtype}, NumPy's is {theirs.dtype}"
    assert got.shape == theirs.shape, f"{label}: shape {got.shape}, NumPy's is {theirs.shape}"
    if theirs.dtype.kind in "biu":
        np.testing.assert_array_equal(got, theirs, err_msg=label)
    else:
        eps = np.finfo(theirs.dtype).eps * 200 * loose
        np.testing.assert_allclose(got, theirs, rtol=eps, atol=eps, err_msg=label)


class OneByOne:
    """reduce, accumulate and reduceat of a ufunc of NumPy, from calls of it: NumPy's own loops of vectors (2.5 on AVX-512) give other
    numbers for these methods, as np.arctan2.reduce([[1, 2, 3, 4.0]], axis=1), which leaves elements out."""

    def __init__(self, name):
        self.function = getattr(np, name)

    def __call__(self, *arguments, **keywords):
        return self.function(*arguments, **keywords)

    def __getattr__(self, name):
        return getattr(self.function, name)

    def accumulate(self, x, axis=0):
        if x.shape[axis] == 0:
            return self.function.accumulate(x, axis)
        steps = list(itertools.accumulate(np.moveaxis(x, axis, 0), self.function))
        return np.stack(steps, axis).astype(self.function.accumulate(x[:0], 0).dtype)

    def reduce(self, x, axis=0):
        if axis is None or x.shape[axis] == 0:
            return self.function.reduce(x, axis=axis)
        return self.accumulate(x, axis).take(-1, axis)

    def reduceat(self, x, at, axis=0):
        stops = [*at[1:], x.shape[axis]]
        slices = [np.take(x, range(a, max(b, a + 1)), axis) for a, b in zip(at, stops, strict=True)]
        return np.stack([self.reduce(part, axis) for part in slices], axis)


def on_device(x):
    return pp.asarray(x) if isinstance(x, np.ndarray) else x


# --- the object ---------------------------------------------------------------------------------------------------------------


@pytest.mark.once
def test_every_ufunc_of_numpy_is_one():
    assert len(NAMES) > 95
    for name in NAMES:
        assert isinstance(getattr(pp, name), pp.ufunc), name
    ours = {n for n in dir(pp) if isinstance(getattr(pp, n), pp.ufunc)}
    assert {n for n in ours if hasattr(np, n)} == set(NAMES)
    assert ours - set(NAMES) <= {"matvec", "vecmat", "vecdot", "bitwise_count"}  # newer than some NumPy


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_attributes(name):
    ours, theirs = getattr(pp, name), getattr(np, name)
    assert (ours.nin, ours.nout, ours.nargs, ours.signature) == (theirs.nin, theirs.nout, theirs.nargs, theirs.signature)
    assert ours.identity == theirs.identity
    assert type(ours.identity) is type(theirs.identity)
    assert ours.ntypes == len(ours.types) > 0
    assert repr(ours) == f"<ufunc '{ours.__name__}'>"
    assert ours.__name__ == ours.__qualname__
    assert ours.__module__ == "pardo"
    assert getattr(pp, ours.__name__) is ours
    for pickled in (pickle.loads(pickle.dumps(ours)), copy.copy(ours), copy.deepcopy(ours)):
        assert pickled is ours
    parameters = inspect.signature(ours).parameters
    assert {"out", "dtype", "casting"} <= set(parameters)
    assert sum(p.kind is p.POSITIONAL_ONLY for p in parameters.values()) == ours.nin
    assert "Parameters\n" in ours.__doc__
    assert ours.__doc__.strip().splitlines()[0] in pydoc.render_doc(ours)


@pytest.mark.once
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"matmul", "vecdot", "matvec", "vecmat", "frexp", "ldexp"}))
def test_types_are_those_of_numpy_that_pardo_has(name):
    known = {np.dtype(c).char for c in DTYPES}
    theirs = [t for t in getattr(np, name).types if set(t) - set("->") <= known]
    ours = getattr(pp, name).types
    if name not in ("floor", "ceil", "trunc"):  # of integers floats before NumPy 2.1
        kept = set(ours) if getattr(np, name).types[0][0] == "?" else {t for t in ours if t[0] != "?"}
        assert set(theirs) <= kept | {t for t in theirs if name in ("logical_and", "logical_or", "logical_xor", "logical_not")}, name
    assert all(outcome(getattr(np, name), *[np.ones(2, c) for c in t.split("->")[0]]) is not TypeError for t in ours)


@pytest.mark.once
def test_the_class():
    assert repr(pp.ufunc) == "<class 'pardo.ufunc'>"
    assert pp.ufunc.__doc__.startswith("Functions that operate")
    with pytest.raises(TypeError, match="cannot create"):
        pp.ufunc()
    assert {"reduce", "accumulate", "reduceat", "outer", "at", "nin", "types", "identity"} <= set(dir(pp.add))
    assert str(inspect.signature(pp.add.reduce)).startswith("(array: Any, /, axis")
    assert not isinstance(pp.sum, pp.ufunc)
    assert not isinstance(pp.clip, pp.ufunc)


@pytest.mark.once
def test_calls_of_all_forms():
    x = pp.arange(3.0)
    arguments, keywords = (x, 1), {"dtype": "float32"}
    assert pp.add(*arguments, **keywords).dtype == np.float32
    assert pp.add.__call__(x, 1).dtype == np.float64
    assert list(map(pp.negative, [x, x]))[1].shape == (3,)
    with pytest.raises(TypeError, match="positional argument"):
        pp.add(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        pp.add(x, x, axis=0)
    with pytest.raises(AttributeError):
        pp.add.nin = 3


# --- reduce, accumulate, reduceat -----------------------------------------------------------------------------------------------


@pytest.mark.varied("dtype")
@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("name", FOLDED)
def test_methods_on_every_dtype(name, dtype, rng):
    ours, theirs = getattr(pp, name), OneByOne(name) if name in ("arctan2", "power", "float_power") else getattr(np, name)
    host = values(name, dtype, (3, 4), rng)
    x = pp.asarray(host)
    for axis in (0, 1, -1):
        agree(outcome(ours.reduce, x, axis=axis), outcome(theirs.reduce, host, axis=axis), f"{name}.reduce {axis}")
        agree(outcome(ours.accumulate, x, axis), outcome(theirs.accumulate, host, axis), f"{name}.accumulate {axis}")
        at = [2, 0, 1]
        agree(outcome(ours.reduceat, x, at, axis), outcome(theirs.reduceat, host, at, axis), f"{name}.reduceat {axis}")
    agree(outcome(ours.outer, x[0], x), outcome(theirs.outer, host[0], host), f"{name}.outer")
    agree(outcome(ours.reduce, x, axis=None), outcome(theirs.reduce, host, axis=None), f"{name}.reduce of all")
    empty = host[:, :0]
    agree(outcome(ours.reduce, pp.asarray(empty), axis=1), outcome(theirs.reduce, empty, axis=1), f"{name}.reduce of nothing")
    agree(outcome(ours.accumulate, pp.asarray(empty), 1), outcome(theirs.accumulate, empty, 1), f"{name}.accumulate of nothing")


KEYWORDS = st.fixed_dictionaries(
    {},
    optional={
        "axis": st.sampled_from([None, 0, 1, -1, 2, 5, (0, 1), (0,), (), (1, -1), (0, 0)]),
        "keepdims": st.booleans(),
        "dtype": st.sampled_from(["float64", "float32", "int64", "int8", "bool", "complex128"]),
        "initial": st.sampled_from([0, 1, 5, None]),
    },
)


@pytest.mark.parametrize("name", FOLDED)
@given(data=st.data())
def test_reduce(name, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    dtype = data.draw(st.sampled_from(SHORT))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    host = values(name, dtype, shape, rng)
    keywords = data.draw(KEYWORDS)
    label = f"{name}.reduce({dtype}{shape}, {keywords}"
    ours, theirs = dict(keywords), dict(keywords)
    if data.draw(st.booleans()):
        theirs["where"] = rng.integers(0, 2, shape).astype(bool)
        ours["where"] = pp.asarray(theirs["where"])
        label += ", where"
    if name == "bitwise_count" or (keywords.get("dtype") == "complex128" and name in ("maximum", "minimum", "fmax", "fmin")):
        return
    expected = outcome(getattr(np, name).reduce, host, **theirs)
    if name in ("arctan2", "power", "float_power") and not isinstance(expected, type) and expected.dtype.kind == "f":
        wide = outcome(getattr(np, name).reduce, host.astype(np.longdouble), **{**theirs, "dtype": None})  # not by vectors: see OneByOne
        expected = wide if isinstance(wide, type) else wide.astype(expected.dtype)
    got = outcome(getattr(pp, name).reduce, pp.asarray(host), **ours)
    # Infinities are divided as the array API says: see the guide's "differences".
    if name == "floor_divide" and not isinstance(got, type) and not isinstance(expected, type):
        expected = np.where(np.isnan(expected) & np.isinf(pp.asnumpy(got)), pp.asnumpy(got), expected)
    agree(got, expected, label)


@pytest.mark.parametrize("name", FOLDED)
def test_out(name, rng):
    host = values(name, "int64" if "bit" in name or "shift" in name or name in ("gcd", "lcm") else "float64", (3, 4), rng)
    for dtype in ("float64", "float32"):
        for method, shape, more in (("reduce", (4,), ()), ("accumulate", (3, 4), ()), ("reduceat", (2, 4), ([0, 2],))):
            mine, theirs = pp.zeros(shape, dtype=dtype), np.zeros(shape, dtype)
            result = outcome(getattr(getattr(pp, name), method), pp.asarray(host), *more, out=mine)
            expected = outcome(getattr(getattr(np, name), method), host, *more, out=theirs)
            assert isinstance(expected, type) or result is mine
            agree(result, expected, f"{name}.{method} into {dtype}")


LARGE = ["add", "subtract", "multiply", "maximum", "fmax", "bitwise_xor", "hypot", "logaddexp", "gcd", "logical_xor", "copysign", "divide"]


@pytest.mark.parametrize("shape", [(100_003,), (2, 5000), (5000, 2), (3, 700, 11)])
@pytest.mark.parametrize("name", LARGE)
def test_many_elements(name, shape, rng):
    """In several blocks."""
    dtype = "int64" if name in ("bitwise_xor", "gcd") else "float64"
    host = (rng.random(shape) / 1000 + 1).astype(dtype) if dtype == "float64" else rng.integers(0, 1 << 40, shape) * 12
    if name == "divide":
        host = host[..., :300] if host.shape[-1] > 300 else host[:300]
    axis = int(np.argmax(host.shape))
    x, ours, theirs = pp.asarray(host), getattr(pp, name), getattr(np, name)
    agree(ours.reduce(x, axis), theirs.reduce(host, axis), "reduce", 500)
    agree(ours.accumulate(x, axis), theirs.accumulate(host, axis), "accumulate", 500)
    at = np.sort(rng.integers(0, host.shape[axis], 40))
    agree(ours.reduceat(x, at, axis), theirs.reduceat(host, at, axis), "reduceat", 500)
    agree(ours.reduceat(x, pp.asarray(at), axis), theirs.reduceat(host, at, axis), "reduceat", 500)


@given(data=st.data())
def test_reduceat(data):
    n = data.draw(st.integers(0, 6))
    indices = data.draw(st.lists(st.integers(-1, 6), max_size=5))
    name = data.draw(st.sampled_from(["add", "subtract", "maximum", "logical_or"]))
    host = np.random.default_rng(n).integers(-9, 9, (n, 2))
    expected = outcome(getattr(np, name).reduceat, host, indices)
    agree(outcome(getattr(pp, name).reduceat, pp.asarray(host), indices), expected, f"{name} {n} {indices}")
    on_device = pp.asarray(np.asarray(indices, np.int64))
    agree(outcome(lambda: getattr(pp, name).reduceat(pp.asarray(host), on_device).wait()), expected, f"{name} {n} {indices} on the device")


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_reduceat_of_long_slices(dtype, name, rng):
    """Those of a contiguous axis may be taken together in vectors."""
    host = samples(dtype, (2, 3000), rng)
    if host.dtype.kind in "fc":
        host = host / 4 if name == "add" else 1 + host / 1000 if name == "multiply" else host
        if name in ("maximum", "minimum"):
            host[0, 700] = np.nan
    places = np.array([0, 1, 30, 29, 400, 2999, 1500])
    for x, h, axis in ((pp.asarray(host), host, 1), (pp.asarray(host[:, ::-1]), host[:, ::-1], 1), (pp.asarray(host.T), host.T, 0)):
        check(getattr(pp, name).reduceat(x, places, axis), getattr(np, name).reduceat(h, places, axis), ulp=2000)
        check(getattr(pp, name).reduceat(x, pp.asarray(places), axis), getattr(np, name).reduceat(h, places, axis), ulp=2000)
    with pytest.raises(IndexError, match="3000"):
        getattr(pp, name).reduceat(pp.asarray(host), pp.asarray([5, 3000]), 1).wait()


@pytest.mark.parametrize("shape", [(0, 1, 1), (1, 1, 0), (2, 0, 3)])
def test_no_results(shape):
    for name in ("bitwise_and", "fmin", "add", "gcd"):
        for axis in ((0, 1), (1, 2), 0, 2, None):
            host = np.zeros(shape, np.int32)
            label = f"{name} {axis}"
            agree(outcome(getattr(pp, name).reduce, pp.asarray(host), axis), outcome(getattr(np, name).reduce, host, axis), label)


def test_one_element_meets_the_identity():
    host = np.array([[-3.0, -0.0]])
    for name in ("hypot", "logaddexp", "add", "fmax", "subtract"):
        for axis in (0, ()):
            agree(getattr(pp, name).reduce(pp.asarray(host), axis=axis), getattr(np, name).reduce(host, axis=axis), name)
    agree(pp.gcd.reduce(pp.asarray([-4])), np.gcd.reduce([-4]))
    agree(pp.hypot.reduce(pp.asarray([-4.0]), initial=None), np.hypot.reduce([-4.0], initial=None))


def test_results_are_recorded_and_fuse():
    x = pp.arange(8.0)
    total = pp.fmax.reduce(x * 2) + 1
    assert float(total) == 15.0
    y = pp.add.reduce(x)
    before = y
    y += 1
    assert float(before) == 28.0
    assert float(y) == 29.0


# --- outer and at ----------------------------------------------------------------------------------------------------------------


def test_outer(rng):
    a, b = rng.integers(1, 9, (2, 3)), rng.integers(1, 9, (4,))
    for name in ("add", "power", "less", "divmod", "gcd"):
        ours, theirs = getattr(pp, name).outer(pp.asarray(a), pp.asarray(b)), getattr(np, name).outer(a, b)
        for mine, its in zip(ours if isinstance(ours, tuple) else [ours], theirs if isinstance(theirs, tuple) else [theirs], strict=True):
            agree(mine, its, name)
    agree(pp.add.outer(pp.asarray(a), 1, dtype="float32"), np.add.outer(a, 1, dtype="float32"))
    agree(pp.add.outer(1, pp.asarray(a)), np.add.outer(1, a))
    agree(pp.add.outer([1, 2], pp.asarray(a)), np.add.outer([1, 2], a))
    agree(pp.multiply.outer(pp.asarray(a), b), np.multiply.outer(a, b))
    out = pp.zeros((4, 4))
    assert pp.multiply.outer(pp.asarray(b), pp.asarray(b), out=out) is out
    agree(out, np.multiply.outer(b, b).astype(float))


@pytest.mark.varied("dtype")
@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("name", sorted({*FOLDED, "ldexp"}))
def test_at_with_duplicates(name, dtype, rng):
    host = values(name, dtype, (7,), rng)
    second = values(name, "int32" if name == "ldexp" else dtype, (30,), rng)
    if name in ("power", "float_power", "multiply", "left_shift"):
        second = second[:12]
    if name == "float_power":
        second = second[:7]
    if name == "ldexp":
        second = second % 3
    indices = rng.integers(-7, 7, second.size)
    mine, theirs = pp.asarray(host), host.copy()
    expected = outcome(getattr(np, name).at, theirs, indices, second)
    got = outcome(getattr(pp, name).at, mine, pp.asarray(indices), pp.asarray(second))
    if isinstance(expected, type):
        assert isinstance(got, type), f"NumPy raises {expected.__name__}"
        assert issubclass(got, expected) or issubclass(expected, got)
        return
    assert got is None
    agree(mine, theirs, name, 10)


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint8", "float32", "complex64"])
@pytest.mark.parametrize("name", UNARY)
def test_at_of_one_operand(name, dtype, rng):
    host = samples(dtype, (5,), rng)
    indices = np.array([0, 0, 3, -1, 0])
    mine, theirs = pp.asarray(host), host.copy()
    expected = outcome(getattr(np, name).at, theirs, indices)
    got = outcome(getattr(pp, name).at, mine, pp.asarray(indices))
    if isinstance(expected, type):
        assert isinstance(got, type), f"NumPy raises {expected.__name__}"
        return
    assert got is None
    finite = np.isfinite(theirs)
    if np.dtype(dtype).kind in "iu":  # floats that the dtype does not hold become any numbers
        wide = host.astype(float)
        if not isinstance(outcome(getattr(np, name).at, wide, indices), type):
            finite = (np.abs(wide) < 127) & ((wide >= 0) | (dtype != "uint8"))
    agree(mine[pp.asarray(np.flatnonzero(finite))], theirs[finite], name, 100)


PARTS = st.one_of(
    st.integers(-4, 3),
    st.builds(slice, st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([None, 1, 2, -1])),
    st.just(Ellipsis),
    st.none(),
    hnp.arrays(np.int64, st.integers(1, 4).map(lambda n: (n,)), elements=st.integers(-3, 2)),
    hnp.arrays(np.bool_, (3,)),
    st.lists(st.integers(-3, 2), min_size=1, max_size=4),
)


@given(
    index=st.one_of(PARTS, st.tuples(PARTS, PARTS), st.tuples(PARTS, PARTS, PARTS)), name=st.sampled_from(["add", "subtract", "maximum"])
)
def test_at_with_any_index(index, name):
    host = np.arange(27.0).reshape(3, 3, 3)
    mine, theirs = pp.asarray(host), host.copy()
    ours = tuple(map(on_device, index)) if isinstance(index, tuple) else on_device(index)
    expected = outcome(getattr(np, name).at, theirs, index, 2.5)
    got = outcome(lambda: (getattr(pp, name).at(mine, ours, 2.5), mine.wait()))
    if isinstance(expected, type):
        assert isinstance(got, type), f"NumPy raises {expected.__name__} for {index}"
    else:
        assert not isinstance(got, type), f"{got} for {index}"
        agree(mine, theirs, f"{name} {index}")


def test_at_writes_through_views(rng):
    host = np.arange(24.0).reshape(4, 6)
    x = pp.asarray(host)
    pp.add.at(x[::2, 1:].T, (pp.asarray([0, 0, 2]), pp.asarray([1, 1, 0])), pp.asarray([1.0, 10.0, 100.0]))
    np.add.at(host[::2, 1:].T, ([0, 0, 2], [1, 1, 0]), [1.0, 10.0, 100.0])
    agree(x, host)
    y = pp.zeros(1000)
    where = rng.integers(0, 1000, 50_000)
    what = rng.integers(0, 9, 50_000).astype(float)
    pp.add.at(y, pp.asarray(where), pp.asarray(what))
    agree(y, np.bincount(where, what, 1000))
    pp.subtract.at(y, pp.asarray(where), y[pp.asarray(where)] * 0 + 1)
    agree(y, np.bincount(where, what, 1000) - np.bincount(where, minlength=1000))


def test_wrong_calls():
    x = pp.arange(6.0).reshape(2, 3)
    with pytest.raises(ValueError, match=r"^sqrt.reduce: reduce only supported for binary functions"):
        pp.sqrt.reduce(x)
    with pytest.raises(ValueError, match="returning a single value"):
        pp.divmod.accumulate(x)
    with pytest.raises(RuntimeError, match="Reduction not defined"):
        pp.matmul.reduce(x)
    with pytest.raises(ValueError, match="not reorderable"):
        pp.subtract.reduce(x, axis=None)
    with pytest.raises(ValueError, match="zero-size array to reduction operation fmax which has no identity"):
        pp.fmax.reduce(x[:0])
    with pytest.raises(np.exceptions.AxisError, match=r"^add.reduce: axis 2"):
        pp.add.reduce(x, axis=2)
    with pytest.raises(TypeError, match=r"an array, a number or a sequence of numbers is expected, not str"):
        pp.add.reduce("ab")
    with pytest.raises(TypeError, match="initial must be a number"):
        pp.add.reduce(x, initial="1")
    with pytest.raises(TypeError, match="does not give the dtype that it takes"):
        pp.less.reduce(x)
    with pytest.raises(TypeError, match="cannot accumulate on a scalar"):
        pp.add.accumulate(pp.asarray(1))
    with pytest.raises(IndexError, match=r"index 3 out-of-bounds in add.reduceat \[0, 3\)"):
        pp.add.reduceat(x, [0, 3], axis=1)
    with pytest.raises(TypeError, match="indices must be integers"):
        pp.add.reduceat(x, [0.5])
    with pytest.raises(ValueError, match="one dimension"):
        pp.add.reduceat(x, [[0]])
    with pytest.raises(ValueError, match="outer product only supported"):
        pp.sqrt.outer(x, x)
    with pytest.raises(TypeError, match="non-trivial signature"):
        pp.matmul.outer(x, x)
    with pytest.raises(ValueError, match="second operand needed"):
        pp.add.at(x, 0)
    with pytest.raises(ValueError, match="second operand provided"):
        pp.sqrt.at(x, 0, 1)
    with pytest.raises(TypeError, match=r"first operand must be a pardo\.Array"):
        pp.add.at(np.zeros(3), 0, 1)
    with pytest.raises(ValueError, match="does not broadcast to what the index names"):
        pp.add.at(x, pp.asarray([0, 0]), pp.zeros(5))
    for wrong in (pp.zeros(9), (pp.zeros(3), pp.zeros(3))):
        with pytest.raises(ValueError, match=r"^add.reduce: "):
            pp.add.reduce(x, out=wrong)
    with pytest.raises(ValueError, match="read-only"):
        pp.add.at(pp.broadcast_to(pp.asarray(1.0), (3,)), 0, 1)
    with pytest.raises(ValueError, match="negative integer powers"):
        pp.power.reduce(pp.asarray([2, -3])).wait()
    y = pp.asarray([[-2, 2], [-3, 1]])
    agree(pp.power.reduceat(y, [0, 1, 0], 1), np.power.reduceat([[-2, 2], [-3, 1]], [0, 1, 0], 1))
    with pytest.raises(ValueError, match="negative integer powers"):
        pp.power.reduceat(y, [0], 0).wait()
    z = pp.asarray([2, 3])
    with pytest.raises(ValueError, match="negative integer powers"):
        (pp.power.at(z, pp.asarray([0, 0]), -1), z.wait())


# --- products ---------------------------------------------------------------------------------------------------------------------

PRODUCTS = [n for n in ("matmul", "vecdot", "matvec", "vecmat") if hasattr(np, n)]
AXES = st.one_of(st.integers(-3, 2), st.tuples(st.integers(-3, 2)), st.tuples(st.integers(-3, 2), st.integers(-3, 2)), st.just(()))


@pytest.mark.parametrize("name", PRODUCTS)
@given(data=st.data())
def test_axes_of_products(name, data):
    sides = st.integers(1, 3)
    a, b = (
        np.arange(1.0, 1 + np.prod(s)).reshape(s) for s in data.draw(st.tuples(*[st.lists(sides, min_size=1, max_size=3).map(tuple)] * 2))
    )
    keywords = {}
    which = data.draw(st.sampled_from(["nothing", "axes", "axis", "keepdims"]))
    if which == "axes":
        keywords["axes"] = data.draw(st.lists(AXES, min_size=2, max_size=3))
    elif which == "axis":
        keywords["axis"] = data.draw(st.integers(-3, 2))
    if which == "keepdims" or (which == "axis" and data.draw(st.booleans())):
        keywords["keepdims"] = True
    label = f"{name} {a.shape} {b.shape} {keywords}"
    agree(outcome(getattr(pp, name), pp.asarray(a), pp.asarray(b), **keywords), outcome(getattr(np, name), a, b, **keywords), label)


def test_products_by_name():
    a, b = pp.arange(6.0).reshape(2, 3), pp.arange(6.0).reshape(2, 3)
    assert pp.matmul(a, b, axes=[(0, 1), (1, 0), (0, 1)]).shape == (2, 2)
    assert pp.vecdot(a, b, axis=0).shape == (3,)
    assert pp.vecdot(a, b, keepdims=True).shape == (2, 1)
    assert pp.matvec(a, b[0]).shape == (2,)
    assert pp.vecmat(a[0], b.T).shape == (2,)
    assert pp.matvec(a, b, axes=[(1, 0), (0,), (0,)]).shape == (3, 3)
    out = pp.zeros((2, 2))
    assert pp.matmul(a, b.T, out=out) is out


A, B = np.arange(3, dtype="i4"), np.arange(3, dtype="f4")
SIGNED = [
    *(("add", x, s) for x in ((A, B), (A, A), (B, B)) for s in (
        "ff->f", "dd->d", "f", "ii->i", "ff->d", "fd->d", "->", "d->d", "zz->z", b"ff->f", ("f4", "f4", "f4"), ("f4", None, None),
        (None, None, "f4"), (None, "f4", None), ("f4",), (None,), ("f4", "f8", None), (np.float32, float, None), [1], 3, None,
        ("f4", "f4"), ("i4", "i4", "f4"), "df->d",
    )),
    ("equal", (A, B), "ff->?"), ("equal", (A, A), ("f8", "f8", bool)), ("equal", (A, A), (None, None, bool)), ("equal", (A, A), "f8"),
    ("sqrt", (A,), "f->f"), ("sqrt", (A,), (None, "f4")), ("sqrt", (A,), ("f4", None)), ("sqrt", (A,), "d"), ("sqrt", (3,), "f->f"),
    ("frexp", (B,), "d->di"), ("ldexp", (B, A), "di->d"), ("divmod", (A, A + 1), "dd->dd"), ("modf", (A,), ("f4", None, None)),
    ("matmul", (A, B), "dd->d"), ("add", (1, 2), "ff->f"), ("add", (1, 2.5), "ii->i"), ("add", (A, 1), (None, None, "i2")),
    ("divide", (A, A + 1), "ff->f"), ("isnan", (A,), "f->?"), ("left_shift", (A, A), "ll->l"), ("absolute", (A,), "D->d"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(SIGNED)))
def test_signature(case):
    name, operands, signature = SIGNED[case]
    ours = [pp.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]
    for casting in ("same_kind", "unsafe", "safe"):
        keywords = {"casting": casting, "signature": signature}
        try:
            wanted = getattr(np, name)(*operands, **keywords)
        except (TypeError, ValueError) as error:
            with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError, match=f"^{name}: "):
                getattr(pp, name)(*ours, **keywords)
            continue
        found = [getattr(pp, name)(*ours, **keywords), getattr(pp, name)(*ours, sig=signature, casting=casting)]
        if any(isinstance(x, np.ndarray) for x in operands):
            found.append(getattr(np, name)(*ours, **keywords))
        for result in found:
            for x, y in zip(result, wanted, strict=True) if isinstance(wanted, tuple) else [(result, wanted)]:
                assert isinstance(x, pp.Array)
                assert x.dtype == y.dtype
                np.testing.assert_allclose(pp.asnumpy(x), y, rtol=1e-6)


def test_signature_beside_other_keywords():
    x, y = pp.asarray(A), pp.asarray(B)
    out = pp.zeros(3, dtype="f4")
    assert pp.add(x, y, signature="dd->d", out=out, where=pp.asarray([True, False, True])) is out
    assert out.tolist() == [0, 0, 4]
    assert pp.add(x, y, out, signature="dd->d") is out
    f = pp.add(pp.ones((2, 3)), pp.ones((2, 3)), signature="ff->f", order="F", casting="unsafe")
    assert f.flags.f_contiguous
    assert f.dtype == "f4"
    assert pp.add(x, [1, 2, 3], signature="ff->f").dtype == "f4"
    assert pp.multiply.outer(x, y, signature="dd->d").dtype == "f8"
    for keywords in ({"sig": "dd->d", "signature": "dd->d"}, {"sig": "dd->d", "dtype": "d"}, {"signature": "dd->d", "bogus": 1}):
        with pytest.raises(TypeError):
            pp.add(x, y, **keywords)
    with pytest.raises(TypeError):
        pp.add(x, y, signature="dd->d", out=pp.zeros(3, dtype="i4"))
    with pytest.raises(TypeError):
        pp.add(x, signature="dd->d")
    with pp.device_context("cpu"):
        assert np.asarray(pp.add(A, B, signature="dd->d")).dtype == "f8"


@pytest.mark.parametrize("name", sorted({getattr(np, n).__name__ for n in NAMES if not getattr(np, n).signature} - {"ldexp"}))
def test_dtype_names_a_loop(name):
    """What there is no loop for is refused, whatever may be cast: ldexp's loops, of two dtypes, NumPy's rules choose among otherwise."""
    theirs, ours = getattr(np, name), getattr(pp, name)

    def dtypes(f, dtype, casting, *operands):
        results = f(*operands, dtype=dtype, casting=casting)
        return [r.dtype for r in results] if f.nout > 1 else [results.dtype]

    for source, dtype, casting in itertools.product("?ldD", "?bBlefdFD", ("same_kind", "unsafe")):
        x = np.ones(2, source)
        expected = outcome(dtypes, theirs, dtype, casting, *[x] * theirs.nin)
        got = outcome(dtypes, ours, dtype, casting, *[pp.asarray(x)] * ours.nin)
        if isinstance(expected, type):  # a subclass of TypeError
            expected = TypeError
        assert got == expected, (source, dtype, casting)


def test_casting_of_truth_values():
    """Functions of truth values have a loop for each dtype: operands are not cast."""
    x, out = np.array([1.5, 0.0]), np.zeros(2, "i1")
    for name in ("logical_and", "logical_not"):
        f, g = getattr(np, name), getattr(pp, name)
        for casting in ("no", "safe"):
            np.testing.assert_array_equal(pp.asnumpy(g(*[pp.asarray(x)] * g.nin, casting=casting)), f(*[x] * f.nin, casting=casting))
        made = pp.asarray(out)
        assert g(*[pp.asarray(x)] * g.nin, out=made, casting="safe") is made
        np.testing.assert_array_equal(pp.asnumpy(made), f(*[x] * f.nin))
    less = [f(*map(to, ([1.5, 2.5], [1.7, 2.4])), dtype=bool, casting="unsafe") for f, to in ((pp.less, pp.asarray), (np.less, np.asarray))]
    np.testing.assert_array_equal(pp.asnumpy(less[0]), less[1])


@pytest.mark.parametrize("name", ["modf", "frexp", "divmod"])
def test_places_of_two_results_by_position(name):
    theirs, ours = getattr(np, name), getattr(pp, name)
    x = [np.array([1.5, -2.25]), np.array([2.0, 0.5])][: theirs.nin]
    y = [pp.asarray(v) for v in x]
    for wanted in ((True, True), (True, False), (False, True), (True,), (False, False)):
        outs = [pp.zeros(2, dtype="i4" if (name, k) == ("frexp", 1) else "f8") if there else None for k, there in enumerate(wanted)]
        for got, expected, out in itertools.zip_longest(ours(*y, *outs), theirs(*x), outs):
            check(got, expected)
            assert out is None or got is out
    place = pp.zeros(2)
    with pytest.raises(TypeError, match=rf"^{name}"):
        ours(*y, place, place, place)
    with pytest.raises(TypeError, match=rf"^{name}"):
        ours(*y, place, out=(place, place))


def test_integers_beyond_64_bits_beside_bools_become_floats():
    for name in ("divide", "arctan2", "hypot", "copysign"):
        for number in (2**63, 2**64 - 1, -(2**63), 3):
            x = np.array([True, False])
            check(getattr(pp, name)(pp.asarray(x), number), getattr(np, name)(x, number))
            check(getattr(pp, name)(number, pp.asarray(x)), getattr(np, name)(number, x))


def test_wrong_places_name_the_function():
    def at(name, x):
        getattr(pp, name).at(x, pp.asarray([7]), 1.0)
        x.wait()

    for name in ("add", "subtract", "maximum"):
        with pytest.raises(IndexError, match=rf"^{name}: index 7 is out of bounds for axis 0 with size 3"):
            at(name, pp.zeros(3))
