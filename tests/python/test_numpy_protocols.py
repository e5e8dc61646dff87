# tests/python/test_numpy_protocols.py: NumPy's functions and conversions on arrays of pardo.
from __future__ import annotations

import math
import operator
import os
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy_names import BEFORE_2_1
from support import DTYPES, check, samples

RAW = np.array([[0.25, 2.0, 3.0], [0.5, 1.0, 9.0]])
UFUNCS = {name: f for name, f in vars(np).items() if isinstance(f, np.ufunc) and f.__name__ == name and f.signature is None}


# --- universal functions ---------------------------------------------------------------------------------------------------------------


def test_universal_functions_of_scipy():
    """Those of scipy.special run as ours, wherever SciPy keeps them: with SCIPY_ARRAY_API=1 the public names are wrappers."""
    special = pytest.importorskip("scipy.special")
    for function in (special._ufuncs.erf, special.erf):
        result = function(pp.asarray(RAW))
        assert type(result) is pp.Array
        np.testing.assert_allclose(pp.asnumpy(result), special.erf(RAW), rtol=1e-14)


def test_universal_functions_that_pardo_lacks():
    """They run on the host where that reads the memory, and give arrays; each call is a fallback that is counted."""
    special = pytest.importorskip("scipy.special")
    x = pp.asarray(RAW)
    before = pp.counters()["fallbacks"]
    for mine, theirs in (
        (special._ufuncs.eval_chebyt(2, x), special._ufuncs.eval_chebyt(2, RAW)),
        (special._ufuncs.kelvin(x), special._ufuncs.kelvin(RAW)),
        (special._ufuncs.fresnel(x[0]), special._ufuncs.fresnel(RAW[0])),
    ):
        pairs = zip(mine, theirs, strict=True) if isinstance(theirs, tuple) else [(mine, theirs)]
        for got, expected in pairs:
            assert type(got) is pp.Array
            np.testing.assert_array_equal(pp.asnumpy(got), expected)
    assert pp.counters()["fallbacks"] == before + 3
    out = pp.zeros(RAW.shape)
    assert special._ufuncs.eval_chebyt(2, x, out=out) is out
    np.testing.assert_array_equal(pp.asnumpy(out), special._ufuncs.eval_chebyt(2, RAW))
    host = np.zeros(RAW.shape)
    assert special._ufuncs.eval_chebyt(2, x, out=host) is host
    np.testing.assert_array_equal(host, pp.asnumpy(out))
    out = pp.full(RAW.shape, -9.0)
    special._ufuncs.eval_chebyt(2, x, out=out, where=x > 0.5)
    np.testing.assert_array_equal(pp.asnumpy(out), np.where(RAW > 0.5, special._ufuncs.eval_chebyt(2, RAW), -9))
    with pytest.raises(pp.ExecutionPlacementError, match=r"^scipy\.special\.eval_chebyt: operands are on different queues"):
        special._ufuncs.eval_chebyt(x, pp.asarray(RAW, queue=pp.Queue("cpu")))
    with pytest.raises(TypeError, match=r"^scipy\.special\.eval_chebyt: .*on null:1.*pardo\.asnumpy\(x\)"):
        special._ufuncs.eval_chebyt(2, pp.zeros(3, dtype="float32", device="null:1"))
    with pp.allow_implicit_copies():
        far = special._ufuncs.eval_chebyt(np.float32(2), pp.zeros(3, dtype="float32", device="null:1"))
    assert far.device == pp.Device("null:1")
    np.testing.assert_array_equal(pp.asnumpy(far), [-1, -1, -1])


def test_universal_functions_that_programs_make():
    x = pp.asarray(RAW)
    made = np.frompyfunc(lambda a, b: a + b, 2, 1)
    result = made(x, 1)
    assert result.dtype == object  # which arrays of pardo do not have
    np.testing.assert_array_equal(result.astype(float), RAW + 1)
    y = pp.asarray(RAW)
    made.at(y, 0, 1)
    np.testing.assert_array_equal(pp.asnumpy(y[0]), RAW[0] + 1)
    with pytest.raises(TypeError, match=r"^<lambda> \(vectorized\): .*null"):  # not a name of NumPy's
        made(pp.zeros(3, dtype="float32", device="null:1"), 1)
    numba = pytest.importorskip("numba")
    twice, product = numba.vectorize(lambda a: a * 2), numba.vectorize(["float64(float64, float64)"])(lambda a, b: a * b)
    for got, expected in (
        (twice(x), 2 * RAW),
        (product(x, x), RAW * RAW),
        (product(RAW, x), RAW * RAW),
        (product.reduce(x), np.multiply.reduce(RAW)),
        (product.accumulate(x, axis=1), np.multiply.accumulate(RAW, axis=1)),
        (product.outer(x[0], x[1]), np.multiply.outer(RAW[0], RAW[1])),
    ):
        assert type(got) is pp.Array
        np.testing.assert_array_equal(pp.asnumpy(got), expected)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_every_universal_function(name, rng):
    """Those that pardo has give its arrays, with NumPy's values; others say what to do."""
    ufunc = UFUNCS[name]
    covered = hasattr(pp, name)
    for dtype in ("float64", "int64", "bool", "complex128"):
        if BEFORE_2_1 and name in ("ceil", "floor", "trunc") and dtype in ("int64", "bool"):
            continue  # float64 in NumPy 2.0
        operands = [samples(dtype, (7,), rng) for _ in range(ufunc.nin)]
        if name in ("left_shift", "right_shift", "power", "ldexp", "float_power"):
            operands[1] = (np.abs(operands[1]) % 5).astype("int64" if name == "ldexp" else dtype)
        with np.errstate(all="ignore"):
            try:
                expected = ufunc(*operands)
            except (TypeError, ValueError):
                continue
        if not covered:
            with pytest.raises(TypeError, match=rf"numpy\.{name}.*asnumpy"):
                ufunc(*map(pp.asarray, operands))
            continue
        for k in range(ufunc.nin):  # one operand is ours, the others are NumPy's
            mixed = [pp.asarray(o) if i == k else o for i, o in enumerate(operands)]
            got = ufunc(*mixed)
            pairs = zip(got, expected, strict=True) if ufunc.nout > 1 else [(got, expected)]
            for mine, theirs in pairs:
                assert type(mine) is pp.Array
                assert mine.dtype == theirs.dtype
                np.testing.assert_allclose(pp.asnumpy(mine), theirs, rtol=1e-12, atol=1e-12)


@given(
    st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.sampled_from([np.add, np.multiply, np.maximum, np.less, np.hypot, np.true_divide])
)
def test_operators_with_the_host_first(left, right, ufunc):
    rng = np.random.default_rng(1)
    a, b = samples(left, (5,), rng), samples(right, (3, 5), rng)
    with np.errstate(all="ignore"):
        try:
            expected = ufunc(a, b)
        except TypeError:
            with pytest.raises(TypeError):
                ufunc(a, pp.asarray(b))
            return
        check(ufunc(a, pp.asarray(b)), expected, ulp=8)
        check(ufunc(pp.asarray(a), b), expected, ulp=8)


def test_operators_of_numpy_arrays():
    x = pp.asarray(RAW)
    for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.lt, operator.eq, operator.mod):
        check(f(RAW, x), f(RAW, RAW), ulp=4, label=f.__name__)
    check(RAW * x.mean(), RAW * RAW.mean(), ulp=4)
    check(RAW @ x.T, RAW @ RAW.T, ulp=4)
    check(divmod(RAW, x)[1], divmod(RAW, RAW)[1])
    check(np.float32(2) * x, np.float32(2) * RAW)


def test_in_place_on_a_host_array():
    host, x = RAW.copy(), pp.asarray(RAW)
    same = host
    host += x
    host *= x.mean()
    assert host is same
    np.testing.assert_allclose(host, 2 * RAW * RAW.mean())
    whole = np.arange(3)
    with pytest.raises(TypeError, match="add: cannot cast the result from float64 to int64"):
        whole += pp.ones(3)
    assert whole.tolist() == [0, 1, 2]
    small = np.zeros(3)
    with pytest.raises(ValueError, match="out has shape"):
        small += pp.ones((2, 3))
    mask = np.array([True, False, True])
    mask &= pp.asarray([True, True, False])
    assert mask.tolist() == [True, False, False]


def test_out_and_where():
    x, host, ours = pp.asarray(RAW), np.zeros((2, 3)), pp.zeros((2, 3))
    assert np.sqrt(x, out=host) is host
    np.testing.assert_allclose(host, np.sqrt(RAW))
    assert np.sqrt(x, out=ours) is ours
    check(ours, np.sqrt(RAW))
    assert np.add(RAW, 1.0, out=ours) is ours
    check(ours, RAW + 1)
    np.negative(x, out=host, where=RAW > 1)
    np.testing.assert_allclose(host, np.where(RAW > 1, -RAW, np.sqrt(RAW)))
    np.negative(x, out=ours, where=x > 1)
    check(ours, np.where(RAW > 1, -RAW, RAW + 1))
    quotient, rest = np.zeros((2, 3)), np.zeros((2, 3))
    result = np.divmod(x, 2.0, out=(quotient, rest))
    assert result[0] is quotient
    np.testing.assert_allclose(rest, RAW % 2)
    integers = np.zeros((2, 3), int)
    np.add(x, 1, out=integers, casting="unsafe")
    np.testing.assert_array_equal(integers, (RAW + 1).astype(int))
    assert np.add(x, 1, dtype="float32").dtype == np.float32
    assert np.add(x, 1, order="K", subok=True).dtype == np.float64


def test_methods_of_universal_functions():
    x = pp.asarray(RAW)
    for method, call in {
        "reduce": lambda f: f.reduce(x),
        "accumulate": lambda f: f.accumulate(x),
        "outer": lambda f: f.outer(x, x),
    }.items():
        if hasattr(pp.add, method):
            assert type(call(np.add)) is pp.Array
        else:
            with pytest.raises(TypeError, match=rf"numpy\.add\.{method}: .*asnumpy"):
                call(np.add)


# --- other functions ---------------------------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "sum": lambda x: np.sum(x, axis=0),
    "sum by name": lambda x: np.sum(a=x, axis=1, keepdims=True),
    "mean": lambda x: np.mean(x, axis=0, dtype="float32"),
    "std": lambda x: np.std(x, ddof=1),
    "var": lambda x: np.var(x, axis=1),
    "concatenate": lambda x: np.concatenate([RAW, x], axis=1),
    "stack": lambda x: np.stack((x, RAW)),
    "where": lambda x: np.where(RAW > 1, x, 0.0),
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "transpose": lambda x: np.transpose(x),
    "clip": lambda x: np.clip(x, a_min=0.5, a_max=2.0),
    "sort": lambda x: np.sort(x, axis=0),
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "dot": lambda x: np.dot(RAW, x.T),
    "tensordot": lambda x: np.tensordot(RAW, x, axes=2),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, RAW),
    "linspace": lambda x: np.linspace(0.0, x[0], 3),
    "zeros_like": lambda x: np.zeros_like(x, dtype="int8"),
    "full_like": lambda x: np.full_like(x, 7.0),
    "quantile": lambda x: np.quantile(x, 0.5, axis=0),
    "median": lambda x: np.median(x),
    "unique": lambda x: np.unique(x),
    "flip": lambda x: np.flip(x, axis=0),
    "roll": lambda x: np.roll(x, 1, axis=1),
    "pad": lambda x: np.pad(x, 1),
    "tile": lambda x: np.tile(x, 2),
    "take": lambda x: np.take(x, [0, 1], axis=1),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 2, 3)),
    "expand_dims": lambda x: np.expand_dims(x, axis=0),
    "squeeze": lambda x: np.squeeze(x[:1]),
    "interp": lambda x: np.interp(RAW[0], x[1], x[0]),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "round": lambda x: np.round(x, 1),
    "trapezoid": lambda x: np.trapezoid(x, axis=1),
    "isclose": lambda x: np.isclose(x, RAW),
    "count_nonzero": lambda x: np.count_nonzero(x > 1, axis=0),
    "argmax": lambda x: np.argmax(x, axis=1),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda row: row * 2, 1, x),
    "diag": lambda x: np.diag(x[:, :2]),
    "matmul": lambda x: np.matmul(x, RAW.T),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_stay_on_the_device(name):
    queue = pp.Queue()
    expected = FUNCTIONS[name](RAW)
    got = FUNCTIONS[name](pp.asarray(RAW, queue=queue))
    assert type(got) is pp.Array
    assert got.queue == queue
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(pp.asnumpy(got), expected, rtol=1e-12)


def test_functions_that_answer_without_an_array():
    x = pp.asarray(RAW)
    assert np.shape(x) == (2, 3)
    assert np.ndim(x) == 2
    assert np.size(x) == 6
    assert np.allclose(x, RAW)
    assert np.array_equal(RAW, x)
    assert not np.iscomplexobj(x)
    assert np.result_type(x, np.float32(1)) == np.float64
    assert np.array_repr(x) == np.array_repr(RAW)
    assert np.array2string(x) == np.array2string(RAW)


def test_like_makes_arrays_beside_another():
    x = pp.asarray(RAW, queue=pp.Queue())
    for made in (
        np.asarray([1.0, 2.0], like=x),
        np.zeros((2, 2), like=x),
        np.arange(3, like=x),
        np.full(2, 5.0, like=x),
        np.eye(2, like=x),
    ):
        assert type(made) is pp.Array
        assert made.queue == x.queue


def test_host_arrays_take_results():
    x, host = pp.asarray(RAW, device="cpu"), np.zeros(3)
    assert np.sum(x, axis=0, out=host) is host
    np.testing.assert_allclose(host, RAW.sum(axis=0))
    whole = np.zeros((2, 3))
    np.copyto(whole, x, where=RAW > 1)
    np.testing.assert_allclose(whole, np.where(RAW > 1, RAW, 0))
    np.copyto(x, RAW * 2)
    check(x, RAW * 2)
    whole[...] = x
    np.testing.assert_allclose(whole, RAW * 2)


@pytest.mark.parametrize("call", [lambda x: np.busday_count(x, x), lambda x: np.is_busday(x)])
def test_what_is_not_covered(call):
    with pytest.raises(TypeError, match=r"arrays of pardo have no function of that name; use numpy\..*\(pardo\.asnumpy\(x\)\)"):
        call(pp.asarray(RAW[:, :2]))


class Other:
    """An array type of somebody else, which takes its own calls."""

    def __array_function__(self, func, types, args, kwargs):
        return "mine"

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "mine"


def test_other_array_types_get_their_turn():
    x = pp.asarray(RAW)
    assert np.concatenate([x, Other()]) == "mine"
    assert np.add(x, Other()) == "mine"


def test_wrap():
    x = pp.asarray(RAW, queue=pp.Queue())
    wrapped = x.__array_wrap__(RAW + 1)
    assert wrapped.queue == x.queue
    check(wrapped, RAW + 1)
    assert x.__array_namespace__() is pp


# --- conversions -------------------------------------------------------------------------------------------------------------------------


def test_a_view_of_what_somebody_holds_is_read_only():
    x = pp.asarray(RAW, device="cpu")
    before = pp.counters()["copies"]
    view = np.asarray(x)
    assert pp.counters()["copies"] == before
    assert not view.flags.writeable
    np.testing.assert_array_equal(view, RAW)
    part = x[0]
    del x
    assert not np.asarray(part).flags.writeable


def test_a_view_of_a_value_that_nobody_holds_is_writable():
    x = pp.asarray(RAW, device="cpu")
    view = np.asarray(x + 1)
    assert view.flags.writeable
    view[...] = 0
    check(x, RAW)
    assert not np.asarray(x[0]).flags.writeable  # x holds the memory
    assert not np.asarray(x.T).flags.writeable
    whole = np.asarray(pp.asarray(RAW, device="cpu"))
    assert whole.flags.writeable
    whole += 1
    y = x + 1
    z = y * 2  # reads y, and is not computed yet
    assert not np.asarray(y).flags.writeable
    check(z, (RAW + 1) * 2)


def test_views_with_dtype_and_copy():
    x = pp.asarray(RAW, device="cpu")
    assert np.asarray(x, dtype="float32").dtype == np.float32
    copy = np.array(x)
    copy[...] = 0
    check(x, RAW)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype="float32", copy=False)


def test_implicit_copies():
    """The null device has memory that the host does not read."""
    x = pp.zeros(3, dtype="int64", device="null")  # its bytes are anything: integers always fit float32
    with pytest.raises(TypeError, match=r"pardo\.asnumpy\(x\).*allow_implicit_copies"):
        np.asarray(x)
    before = pp.counters()
    with pp.allow_implicit_copies():
        assert np.asarray(x).shape == (3,)
        assert np.asarray(x, dtype="float32").dtype == np.float32
        with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match=r"24 bytes from null:0 to the host.*asnumpy"):
            np.asarray(x)
        with pp.allow_implicit_copies(False), pytest.raises(TypeError, match="asnumpy"):
            np.asarray(x)
    after = pp.counters()
    assert after["copies"] - before["copies"] == 2
    assert after["copied_bytes"] - before["copied_bytes"] == 48
    with pytest.raises(TypeError, match="asnumpy"):
        np.asarray(x)


def test_implicit_copies_by_the_environment(monkeypatch):
    x = pp.zeros(3, device="null")
    monkeypatch.setenv("PARDO_IMPLICIT_COPIES", "1")
    assert np.asarray(x).shape == (3,)
    monkeypatch.setenv("PARDO_IMPLICIT_COPIES", "perhaps")
    with pytest.raises(ValueError, match="PARDO_IMPLICIT_COPIES=perhaps"):
        np.asarray(x)


def test_numbers():
    x, n = pp.asarray([2.5, 4.0]), pp.asarray([3, 5], device="cpu")
    assert float(x[0]) == 2.5
    assert int(x[0]) == 2
    assert bool(n[0])
    assert operator.index(n[1]) == 5
    assert [10, 20, 30, 40, 50, 60][n[1]] == 60
    assert math.sqrt(x[1]) == 2.0
    assert math.floor(x[0]) == 2
    assert round(x[0]) == 2
    assert round(x[0], 1).item() == 2.5
    assert divmod(7, n)[1].tolist() == [1, 2]
    assert divmod(n, 2)[0].tolist() == [1, 2]
    assert complex(x[0]) == 2.5
    assert f"{x[0]:.3f}" == "2.500"
    assert [float(v) for v in x] == [2.5, 4.0]
    assert 4.0 in x
    assert list(range(n[0])) == [0, 1, 2]
    assert np.arange(10)[n].tolist() == [3, 5]
    for convert in (float, int, operator.index):
        with pytest.raises(TypeError):
            convert(x)


def test_arrays_index_host_arrays():
    host = np.arange(10.0)
    mask = pp.asarray(host, device="cpu") > 6
    assert host[np.asarray(mask)].tolist() == [7, 8, 9]
    assert host[mask].tolist() == [7, 8, 9]
    host[mask] = 0
    assert host.sum() == 21
    host[pp.asarray([1, 2], device="cpu")] += 1
    assert host[1:3].tolist() == [2, 3]


def test_at_of_an_array_of_the_host():
    host, wanted = np.zeros((2, 3)), np.zeros((2, 3))
    rows, columns, values = np.array([0, 1, 1]), np.array([2, 0, 0]), np.array([1.0, 2.0, 3.0])
    np.add.at(host, (pp.asarray(rows), columns), pp.asarray(values))
    np.add.at(wanted, (rows, columns), values)
    np.testing.assert_array_equal(host, wanted)
    np.negative.at(host, pp.asarray([0]))
    np.testing.assert_array_equal(host[0], -wanted[0])


@pytest.mark.parametrize("name", ["polynomial.polyval", "chebyshev.chebval", "legendre.legval", "hermite.hermval", "laguerre.lagval"])
def test_numpys_polynomials_compute_on_arrays(name):
    value = operator.attrgetter(name)(np.polynomial)
    points, coefficients = np.linspace(-1, 1, 7), np.array([1.0, 2, 3, 4])
    for c in (coefficients, pp.asarray(coefficients)):
        made = value(pp.asarray(points), c)
        assert type(made) is pp.Array
        np.testing.assert_allclose(pp.asnumpy(made), value(points, coefficients), rtol=1e-13)


def test_processors_with_memory_of_their_own_are_copied_from():
    """`np.asarray` where the CPU's memory is treated as a device's: no attribute offers memory that the host does not see."""
    program = """
import numpy as np, pardo as pp
x = pp.arange(3.0)
assert not hasattr(x, "__array_interface__") and not hasattr(x, "__array_struct__")
assert np.asarray(x).tolist() == [0, 1, 2] and np.asarray(x, "int8").tolist() == [0, 1, 2]
assert pp.counters()["copied_bytes"] > 0
with pp.allow_implicit_copies(False):
    try:
        np.asarray(x)
    except TypeError as e:
        assert "pardo.asnumpy(x)" in str(e)
    else:
        raise AssertionError
"""
    environment = {**os.environ, "PARDO_CPU_DISCRETE": "1", "PARDO_IMPLICIT_COPIES": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("device", ["cpu", "null:1"])
def test_clip_as_a_method_of_the_hosts_arrays(device):
    """NumPy's method calls a universal function that has no public name."""
    host, low = np.arange(3, dtype="f4"), pp.asarray(np.array([1, 1, 1], "f4"), device=device)
    before = pp.counters()["fallbacks"]
    got = host.clip(low, 1.5)
    assert type(got) is pp.Array
    assert got.device == pp.Device(device)
    assert got.tolist() == [1, 1, 1.5]
    out = np.zeros(3, "f4")
    assert host.clip(low, 1.5, out=out) is out
    assert out.tolist() == [1, 1, 1.5]
    assert pp.counters()["fallbacks"] == before
