# tests/python/test_host_operands.py: values of the host beside arrays: they follow their queue, are copied once a call and counted; guards.
from __future__ import annotations

import array
import logging
import operator
import os
import subprocess
import sys
import threading

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import DTYPES, check, samples

OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.eq,
    operator.ne,
    operator.lt,
]
OPERATORS += [operator.le, operator.gt, operator.ge]
RAW = np.array([1.5, -2.0, 3.0, 0.25])


class Described:
    """Has `__array__` and nothing else."""

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)


class Interface:
    """Has `__array_interface__` and nothing else."""

    def __init__(self, values):
        self._values = values
        self.__array_interface__ = values.__array_interface__


def copied(call):
    """The result, how many arrays were copied, and their bytes."""
    before = pp.counters()
    result = call()
    after = pp.counters()
    return result, after["copies"] - before["copies"], after["copied_bytes"] - before["copied_bytes"]


# --- who is an operand -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a,
        lambda a: a.tolist(),
        lambda a: tuple(a.tolist()),
        lambda a: memoryview(a),
        lambda a: array.array("d", a.tolist()),
        Described,
        Interface,
        lambda a: a.astype(">f8"),
        lambda a: np.repeat(a, 2)[::2],
        lambda a: np.asfortranarray(a),
    ],
)
def test_kinds_of_operands(make):
    x = pp.asarray(RAW + 1)
    host = make(RAW)
    for f in OPERATORS:
        check(f(x, host), f(RAW + 1, RAW), ulp=2, label=f.__name__)
    if not isinstance(host, (np.ndarray, Described, Interface)):  # whose own operators come first
        for f in OPERATORS[:6]:
            check(f(host, x), f(RAW, RAW + 1), ulp=2, label=f"reflected {f.__name__}")


def test_range_is_an_operand():
    check(pp.arange(3) + range(3), np.arange(3) + range(3))


@given(
    st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.sampled_from([(), (1,), (4,), (3, 4), (0,), (2, 0, 4)]), st.sampled_from(OPERATORS)
)
def test_against_numpy(left, right, shape, f):
    rng = np.random.default_rng(3)
    a = samples(left, (4,) if 0 not in shape else shape, rng)
    b = samples(right, shape, rng)
    with np.errstate(all="ignore"):
        for ours, theirs in ((lambda: f(pp.asarray(a), b), lambda: f(a, b)), (lambda: f(b, pp.asarray(a)), lambda: f(b, a))):
            try:
                expected = theirs()
            except TypeError:
                with pytest.raises(TypeError):
                    ours()
                continue
            check(ours(), expected, ulp=8, label=f"{f.__name__} {left} {right} {shape}")


def test_numbers_of_numpy_keep_their_dtype():
    x = pp.asarray(RAW.astype("float32"))
    assert (x + 2.0).dtype == np.float32
    assert (x + np.float64(2)).dtype == np.float64
    assert (x + np.array(2.0)).dtype == np.float64
    assert copied(lambda: x + np.array(2.0))[1:] == (0, 0)  # a number is an argument of the kernel
    assert (x + np.float16(2)).dtype == np.float32
    assert (np.float64(2) * x).dtype == np.float64


def test_a_list_is_of_numpys_default_dtype():
    x = pp.asarray(np.arange(2, dtype="float32"))
    assert operator.add(x, [1.0, 2.0]).dtype == np.float64
    assert operator.add(pp.asarray(np.arange(2, dtype="int8")), [1, 2]).dtype == np.int64


# --- where they go, and when they are read -------------------------------------------------------------------------------------------


def test_they_follow_the_queue_and_are_copied_once():
    queue = pp.Queue()
    x = pp.asarray(RAW, queue=queue)
    for call in (
        lambda: x + RAW,
        lambda: RAW + x,
        lambda: pp.add(RAW, x),
        lambda: pp.where(x > 0, x, RAW),
        lambda: pp.concat([RAW, x]),
        lambda: pp.maximum(x, RAW),
        lambda: x == RAW,
        lambda: np.hypot(RAW, x),
        lambda: divmod(x, RAW)[0],
        lambda: divmod(RAW, x)[1],
        lambda: pp.where(x > 0, RAW, RAW),
        lambda: pp.concat([RAW, x, RAW]),
        lambda: pp.clip(RAW, x, RAW),
        lambda: pp.isclose(x, RAW),
    ):
        result, count, size = copied(call)
        assert result.queue == queue
        assert (count, size) == (1, RAW.nbytes)


def test_two_arrays_on_two_queues_are_refused():
    x, y = pp.asarray(RAW, queue=pp.Queue()), pp.asarray(RAW, queue=pp.Queue())
    with pytest.raises(pp.ExecutionPlacementError):
        pp.where(x > 0, RAW, y)
    with pytest.raises(pp.ExecutionPlacementError):
        pp.concat([x, RAW, y])


def test_a_write_to_the_host_array_comes_too_late():
    host = RAW.copy()
    x = pp.asarray(RAW)
    y, z, w = x + host, pp.where(host > 0, x, host), np.add(host, x)
    host[:] = 1000
    check(y, 2 * RAW)
    check(z, RAW)
    check(w, 2 * RAW)


def test_read_only_and_unaligned_memory():
    host = RAW.copy()
    host.flags.writeable = False
    check(pp.asarray(RAW) + host, 2 * RAW)
    packed = np.zeros(4, np.dtype([("a", "i1"), ("x", "<f8")], align=False))
    packed["x"] = RAW
    check(pp.asarray(RAW) + packed["x"], 2 * RAW)
    check(pp.asarray(RAW) + np.broadcast_to(RAW[:1], (4,)), RAW + RAW[0])


def test_queues_of_threads():
    results = {}

    def work(k):
        x = pp.asarray(RAW, queue=pp.Queue())
        for _ in range(50):
            x = x + RAW
        results[k] = pp.asnumpy(x)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(4):
        np.testing.assert_allclose(results[k], 51 * RAW)


# --- in functions, methods, indices --------------------------------------------------------------------------------------------------

MATRIX = np.arange(6.0).reshape(2, 3)
CALLS = {
    "add": lambda m, x, h: m.add(x, h),
    "reflected add": lambda m, x, h: m.add(h, x),
    "where mask": lambda m, x, h: m.where(h > 2, x, h),
    "concatenate": lambda m, x, h: m.concatenate([h, x, h]),
    "stack": lambda m, x, h: m.stack([x, h]),
    "vstack": lambda m, x, h: m.vstack((h, x)),
    "hstack": lambda m, x, h: m.hstack([x, h]),
    "append": lambda m, x, h: m.append(h, x),
    "matmul": lambda m, x, h: m.matmul(h.T, x),
    "dot": lambda m, x, h: m.dot(x, h.T),
    "dot of the host": lambda m, x, h: m.dot(h, x.T),
    "tensordot": lambda m, x, h: m.tensordot(h, x, 2),
    "outer": lambda m, x, h: m.outer(h, x),
    "inner": lambda m, x, h: m.inner(h, x),
    "kron": lambda m, x, h: m.kron(h, x),
    "einsum": lambda m, x, h: m.einsum("ij,kj->ik", h, x),
    "clip": lambda m, x, h: m.clip(x, h - 1, 3.0),
    "clip of the host": lambda m, x, h: m.clip(h, x - 1, 3.0),
    "sum where": lambda m, x, h: m.sum(x, where=h > 2),
    "searchsorted": lambda m, x, h: m.searchsorted(x.ravel(), h.ravel()),
    "searchsorted in the host": lambda m, x, h: m.searchsorted(h.ravel(), x.ravel()),
    "isin": lambda m, x, h: m.isin(x, h[0]),
    "isin of the host": lambda m, x, h: m.isin(h, x[0]),
    "interp": lambda m, x, h: m.interp(h.ravel(), x.ravel(), x.ravel() * 2),
    "allclose": lambda m, x, h: m.allclose(h, x),
    "isclose": lambda m, x, h: m.isclose(x, h),
    "array_equal": lambda m, x, h: m.array_equal(h, x),
    "select": lambda m, x, h: m.select([x > 3, h > 1], [x, h], 0.0),
    "choose": lambda m, x, h: m.choose((h > 2).astype(int), [x, h]),
    "take": lambda m, x, h: m.take(x, [0, 1], axis=1),
    "digitize": lambda m, x, h: m.digitize(h.ravel(), x.ravel()),
    "convolve": lambda m, x, h: m.convolve(h.ravel(), x.ravel()),
    "cross": lambda m, x, h: m.cross(h, x),
    "union1d": lambda m, x, h: m.union1d(h, x),
    "intersect1d": lambda m, x, h: m.intersect1d(h, x),
    "setdiff1d": lambda m, x, h: m.setdiff1d(h, x[0]),
    "average": lambda m, x, h: m.average(x, weights=h + 1),
    "average of the host": lambda m, x, h: m.average(h, weights=x + 1),
    "broadcast_arrays": lambda m, x, h: m.broadcast_arrays(h[0], x)[0],
    "block": lambda m, x, h: m.block([[h, x], [x, h]]),
    "logaddexp2": lambda m, x, h: m.logaddexp2(h, x),
    "divmod": lambda m, x, h: m.divmod(h, x + 1)[1],
    "ldexp": lambda m, x, h: m.ldexp(x, h.astype(int)),
    "trapezoid": lambda m, x, h: m.trapezoid(h, x),
    "diff": lambda m, x, h: m.diff(x, prepend=h[:, :1]),
    "full_like": lambda m, x, h: m.full_like(x, h),
    "piecewise": lambda m, x, h: m.piecewise(x, [h > 2], [1.0, 2.0]),
    "linspace": lambda m, x, h: m.linspace(h[0], x[1], 4),
    "geomspace": lambda m, x, h: m.geomspace(h[0] + 1, x[1] + 1, 4),
    "polyval": lambda m, x, h: m.polyval(h[0], x),
    "histogram": lambda m, x, h: m.histogram(x, bins=h.ravel())[0],
    "quantile": lambda m, x, h: m.quantile(x, [0.25, 0.5]),
    "insert": lambda m, x, h: m.insert(x, 1, h[:, 0], axis=1),
    "cov": lambda m, x, h: m.cov(h, x),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_take_them(name):
    x = pp.asarray(MATRIX, queue=pp.Queue())
    expected = CALLS[name](np, MATRIX, MATRIX)
    got = CALLS[name](pp, x, MATRIX)
    if isinstance(expected, (bool, np.bool_)) and not isinstance(got, pp.Array):
        assert got == expected
        return
    assert got.queue == x.queue
    np.testing.assert_allclose(pp.asnumpy(got), expected, rtol=1e-12)
    assert got.dtype == expected.dtype


def test_methods_take_them():
    x = pp.asarray(MATRIX)
    np.testing.assert_allclose(pp.asnumpy(x.dot(MATRIX.T)), MATRIX.dot(MATRIX.T))
    np.testing.assert_allclose(pp.asnumpy(x.clip(MATRIX[0], MATRIX[1])), MATRIX.clip(MATRIX[0], MATRIX[1]))
    check(x[0].searchsorted(MATRIX[0]), MATRIX[0].searchsorted(MATRIX[0]))
    check(x.sum(where=MATRIX > 2), MATRIX.sum(where=MATRIX > 2))
    assert 3.0 in x
    assert 7.0 not in x


def test_matrix_products():
    x = pp.asarray(MATRIX)
    check(x @ MATRIX.T, MATRIX @ MATRIX.T, ulp=4)
    check(MATRIX.T @ x, MATRIX.T @ MATRIX, ulp=4)
    check(x @ MATRIX.T.tolist(), MATRIX @ MATRIX.T, ulp=4)
    check(MATRIX.T.tolist() @ x, MATRIX.T @ MATRIX, ulp=4)
    square = pp.asarray(np.eye(3))
    square @= np.full((3, 3), 2.0)
    check(square, np.full((3, 3), 2.0))


def test_in_place_and_assignment():
    x = pp.asarray(MATRIX)
    y = x
    x += MATRIX
    x *= [1.0, 2.0, 3.0]
    assert y is x
    check(x, MATRIX * 2 * [1.0, 2.0, 3.0])
    x[0] = [7, 8, 9]
    x[:, 1] = np.array([1, 2])
    x[x > 8] = np.array([0.5])[0]
    x[np.array([1]), [2]] = (4.0,)
    expected = MATRIX * 2 * [1.0, 2.0, 3.0]
    expected[0] = [7, 8, 9]
    expected[:, 1] = [1, 2]
    expected[expected > 8] = 0.5
    expected[[1], [2]] = 4.0
    check(x, expected)
    with pytest.raises(TypeError, match="cast"):
        pp.arange(3).__iadd__(np.ones(3))


def test_out_and_where():
    out = pp.zeros(4)
    assert pp.add(RAW, RAW, out=out) is out  # follow where the result goes
    check(out, 2 * RAW)
    x = pp.asarray(RAW)
    assert pp.sqrt(x, out=out, where=RAW > 1) is out
    check(out, np.sqrt(RAW, where=RAW > 1, out=2 * RAW))
    with pytest.raises(TypeError, match="where must be a bool array, not float64"):
        pp.sqrt(x, where=RAW)


# --- what is refused -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        np.array(["a", "b", "c", "d"]),
        np.array([1, None, 2, 3], object),
        np.array(["2020-01-01"] * 4, "M8[D]"),
        np.zeros(4, "m8[s]"),
        np.zeros(4, np.longdouble),
        np.zeros(4, [("a", "i4")]),
        ["a", "b", "c", "d"],
        [None, 1, 2, 3],
    ],
    ids=lambda w: str(getattr(w, "dtype", w)),
)
def test_elements_that_are_no_numbers(wrong):
    x = pp.asarray(RAW)
    for call in (
        lambda: x + wrong,
        lambda: pp.add(wrong, x),
        lambda: np.multiply(x, wrong),
        lambda: pp.where(x > 0, x, wrong),
        lambda: x == wrong,
    ):
        with pytest.raises(TypeError, match=r"supported|cannot make an array of|an array of records is expected"):
            call()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_masked_arrays_and_matrices():
    x = pp.asarray(RAW)
    for call in (lambda a: x + a, lambda a: pp.add(a, x), lambda a: pp.concat([x, a])):
        with pytest.raises(TypeError, match="filled"):
            call(np.ma.masked_array(RAW, RAW > 0))
        with pytest.raises(TypeError, match=r"numpy\.asarray\(m\)"):
            call(np.matrix([RAW]))


def test_without_an_array_of_pardo():
    for call in (
        lambda: pp.sqrt(RAW),
        lambda: pp.add(RAW, RAW),
        lambda: pp.concat([RAW, RAW]),
        lambda: pp.matmul(RAW, RAW),
        lambda: pp.sum([1, 2]),
    ):
        result, count, _ = copied(call)
        assert result.queue == pp.Queue.of(pp.Device())
        assert count >= 1
    assert copied(lambda: pp.add(RAW, RAW))[1] == copied(lambda: pp.sum([1, 2]))[1] == 1


def test_shapes_that_do_not_fit_and_ragged_lists():
    x = pp.asarray(RAW)
    with pytest.raises(ValueError, match="broadcast"):
        x + np.ones(3)
    with pytest.raises(ValueError, match="inhomogeneous"):
        operator.add(x, [[1.0], [1.0, 2.0]])


def test_strings_and_none_are_equal_to_no_number():
    x = pp.asarray(RAW)
    assert not (x == "abc").any()
    assert (x != None).all()  # noqa: E711
    with pytest.raises(TypeError):
        x + "abc"


class Subclass(np.ndarray):
    pass


class Overriding(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "mine"


class Foreign:
    """Computes itself, as arrays of Dask do."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return f"{ufunc.__name__} is mine"

    def __array__(self, dtype=None, copy=None):
        raise AssertionError

    def __radd__(self, other):
        return "mine"


def test_subclasses_and_objects_that_compute_themselves():
    x = pp.asarray(RAW)
    check(x + RAW.view(Subclass), 2 * RAW)
    check(np.add(RAW.view(Subclass), x), 2 * RAW)
    assert np.add(RAW.view(Overriding), x) == "mine"
    assert x + Foreign() == "mine"
    assert np.add(x, Foreign()) == "add is mine"
    with pytest.raises(TypeError):
        pp.add(x, Foreign())


# --- guards ----------------------------------------------------------------------------------------------------------------------------


def test_disallow_names_line_bytes_and_remedy():
    x = pp.asarray(RAW)
    with pp.transfer_guard("disallow"):
        for name, call in (
            ("add", lambda: x + RAW),
            ("add", lambda: RAW.tolist() + x),
            ("concat", lambda: pp.concat([x, RAW])),
            (r"x\[\.\.\.\] = value", lambda: x.__setitem__(slice(0, 4), RAW)),
            ("multiply", lambda: np.multiply(RAW, x)),
            ("matmul", lambda: x @ RAW),
            ("dot", lambda: pp.dot(RAW, x)),
        ):
            with pytest.raises(pp.ExecutionPlacementError, match=rf"^{name}: .*32 bytes.*test_host_operands\.py:\d+.*pardo\.asarray\(X"):
                call()
        check(x + 2.0, RAW + 2)  # numbers are no copies
        check(x + np.float64(2.0), RAW + 2)
        check(x + pp.asarray(RAW), 2 * RAW)  # by name
        assert pp.asnumpy(x).tolist() == RAW.tolist()
    check(x + RAW, 2 * RAW)


def test_log(caplog):
    x = pp.asarray(RAW)
    with caplog.at_level(logging.INFO, logger="pardo"), pp.transfer_guard("log"):
        y = x + RAW
    check(y, 2 * RAW)
    (record,) = caplog.records
    assert record.name == "pardo"
    text = record.getMessage()
    assert text.startswith(f"add: copies 32 bytes of the host to {x.device.id}, at ")
    assert "test_host_operands.py:" in text


def test_guards_nest_and_belong_to_threads():
    x = pp.asarray(RAW)
    with pp.transfer_guard("disallow"):
        with pp.transfer_guard("allow"):
            check(x + RAW, 2 * RAW)
        with pytest.raises(pp.ExecutionPlacementError):
            x + RAW
        seen = []
        thread = threading.Thread(target=lambda: seen.append(pp.asnumpy(x + RAW)))
        thread.start()
        thread.join()
        assert seen[0].tolist() == (2 * RAW).tolist()
    guard = pp.transfer_guard("disallow")
    with guard, guard, pytest.raises(pp.ExecutionPlacementError):
        x + RAW

    @pp.transfer_guard("disallow")
    def f():
        return x + RAW

    with pytest.raises(pp.ExecutionPlacementError):
        f()


def test_wrong_modes():
    with pytest.raises(ValueError, match="transfer_guard: mode is 'never'"):
        pp.transfer_guard("never")
    with pytest.raises(TypeError, match="transfer_guard: mode"):
        pp.transfer_guard(None)
    with pytest.raises(TypeError, match="allow_implicit_copies: allowed"):
        pp.allow_implicit_copies(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "said"), [("disallow", "ExecutionPlacementError"), ("log", "add: copies 24 bytes"), ("never", "PARDO_TRANSFER_GUARD=never")]
)
def test_environment(mode, said):
    code = "import numpy as np, pardo as pp; print((pp.arange(3.0) + np.ones(3)).tolist())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PARDO_TRANSFER_GUARD": mode}, capture_output=True, text=True, check=False
    )
    assert said in done.stderr
    assert (done.returncode == 0) == (mode == "log")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_fork():
    x = pp.asarray(RAW).wait()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = pp.asnumpy(pp.asarray(RAW) + RAW).tolist() != (2 * RAW).tolist()
        except pp.DeviceError as e:  # drivers do not live in a forked child
            status = x.device.backend == "cpu" or "fork" not in str(e)
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    check(x + RAW, 2 * RAW)


@pytest.mark.parametrize("dtype", ["f4", "i1", "f2", "u8"])
def test_numbers_in_functions_that_make_arrays_of_them(dtype):
    """Functions that begin with asarray in NumPy take Python's numbers for arrays of float64 or int64; operators take them as weak."""
    host = np.array([1, 2, 100]).astype(dtype)
    x = pp.asarray(host)
    for call in (
        lambda m, a, n: m.dot(a, n), lambda m, a, n: m.dot(n, a), lambda m, a, n: m.outer(a, n), lambda m, a, n: m.inner(n, a),
        lambda m, a, n: m.kron(a, n), lambda m, a, n: m.append(a, n), lambda m, a, n: m.hstack([a, n]),
        lambda m, a, n: m.broadcast_arrays(a, n)[1], lambda m, a, n: m.union1d(a, n), lambda m, a, n: m.concatenate([a, n], axis=None),
        lambda m, a, n: m.where(a > 1, a, n), lambda m, a, n: a + n, lambda m, a, n: m.vstack([a[:1], n]),
        lambda m, a, n: m.dstack([a[:1], n]), lambda m, a, n: m.diff(a, prepend=n),
    ):  # fmt: skip
        for number in (3, 2.5) if dtype[0] == "f" else (3,):
            ours, theirs = call(pp, x, number), call(np, host, number)
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(pp.asnumpy(ours), theirs, rtol=1e-3 if dtype == "f2" else 1e-6)
