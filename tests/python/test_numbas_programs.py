# tests/python/test_numbas_programs.py: what users of Numba write in loops, compiled, against the same text run by Python.
import collections
import copy
import dataclasses
import random
import types

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = pytest.mark.once

Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Model:
    weights: object
    order: int


def numbers(*shape, seed=0, low=None):
    rng = np.random.default_rng(seed)
    return rng.random(shape) if low is None else rng.integers(low, 7, shape)


def agree(function, *arguments, **options):
    """Compiled, nothing of it Python's, as Python runs it: arrays, and what is returned."""
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    given, expected = pp.jit(function, strict=True, **options)(*mine), function(*theirs)
    for a, b in zip([*mine, given], [*theirs, expected], strict=True):
        if b is None or isinstance(b, str):
            assert a == b
        elif not hasattr(b, "_fields") and not isinstance(b, Model):
            assert_allclose(a, b, rtol=1e-10, atol=1e-12)
            assert isinstance(a, type(b)) or isinstance(b, np.generic)


# ---- return in serial loops


def first_above(x, limit):
    for i in range(x.shape[0]):
        if x[i] > limit:
            return i
    return -1


def pair_above(x, limit):
    s = 0.0
    for row in x:
        for j in range(len(row)):
            s += row[j]
            if s > limit:
                return j, s
        s -= 0.5
    return -1, s


def until_zero(x):
    k = 0
    while True:
        if x[k] == 0:
            return
        x[k] = 1
        k += 1


def tells(x, limit):
    for v in x:  # noqa: SIM110 (a loop is what is tested)
        if v > limit:
            return True
    return False


@pytest.mark.parametrize("limit", [0.9, 2.0, -1.0])
def test_return_in_serial_loops(limit):
    agree(first_above, numbers(50), limit)
    agree(tells, numbers(50), limit)
    agree(pair_above, numbers(9, 9), limit * 5)
    x = numbers(20)
    x[11] = 0
    agree(until_zero, x)
    assert first_above(np.empty(0), 0.0) == pp.jit(first_above, strict=True)(np.empty(0), 0.0) == -1


def test_returns_of_several_kinds_are_pythons():
    def f(x):
        for i in range(len(x)):
            if x[i] > 2:
                return x, i
            if x[i] > 1:
                return None
        return 3

    with pytest.warns(RuntimeWarning, match="it returns a value on one path, and none on another"):
        assert pp.jit(f)(np.array([0.0, 2.0])) is None


# ---- arrays that a serial loop changes in place, under names that are read after it


def sums_of_rows(x, total, count):
    for i in range(x.shape[0]):
        total += x[i]
        if x[i, 0] > 0.5:
            count += 1
            if count > 9:
                break
    total[0] += count
    return total


def test_arrays_that_are_changed_in_place():
    x = numbers(8, 5)
    agree(sums_of_rows, x, np.ones(5), 0)
    agree(sums_of_rows, x, np.ones(5), 7)
    total = np.zeros(5)
    assert pp.jit(sums_of_rows)(x, total, 0) is total


# ---- two arrays under one name


def either(x, out):
    for i in pp.prange(x.shape[0]):
        if x[i, 0] > 0.5:
            a = x[i] * 2
        else:
            a = np.zeros(x.shape[1])
            a[0] = x[i, 1]
        if x[i, 1] > 0.5:
            a = a[::-1] + 1
        out[i] = a
        b = chosen(x[i], i)
        out[i, : len(b)] += b


def chosen(v, k):
    if k % 2:
        return v[1:] * 3
    if v[0] > 0.3:
        return np.zeros(2)
    return v + k


def changed_by_callees(x, out):
    for i in pp.prange(x.shape[0]):
        a = x[i] * 1
        halve(a, i)
        out[i] = a


def halve(v, k):
    if k % 2:
        v *= 0.5
    else:
        v[0] = 7


def test_a_name_is_one_array_or_another():
    agree(either, numbers(30, 6), np.zeros((30, 6)))
    agree(changed_by_callees, numbers(30, 6), np.zeros((30, 6)))


def replaced(v, k):
    if k % 2:
        v = v * 2
    v[0] = 5


def test_a_copy_is_not_taken_for_an_array_of_others():
    @pp.jit
    def f(x, out):
        for i in pp.prange(x.shape[0]):
            a = x[i] * 1
            replaced(a, i)
            out[i] = a

    with pytest.raises(TypeError, match="`v` is one array on one path"):
        f(numbers(4, 4), np.zeros((4, 4)))


# ---- arguments


def weighted(x, weights=None, mode="plain"):
    s = 0.0
    for i in pp.prange(x.shape[0]):
        v = x[i] if mode == "plain" else -x[i]
        if weights is not None:
            v *= weights[i]
        s += v
    return s


def scaled(x, mode):
    for i in range(x.shape[0]):
        if mode == "double":
            x[i] *= 2
        elif mode is None:
            x[i] = 0


def of_a_pair(p, out):
    for i in pp.prange(out.shape[0]):
        out[i] = p.a[i] * p[1] + p[0][0]


def of_a_model(m, out):
    for i in range(out.shape[0]):
        out[i] = m.weights[i] ** m.order


def makes_pairs(x, out):
    for i in pp.prange(out.shape[0]):
        q = Pair(x[i], 2.0)
        out[i] = q.a + q.b


def test_none_texts_and_named_values():
    x, w = numbers(30), numbers(30, seed=1)
    agree(weighted, x)
    agree(weighted, x, w)
    agree(weighted, x, None, "negative")
    for mode in ("double", "other", None):
        agree(scaled, x, mode)
    agree(of_a_pair, Pair(x, 2.0), np.zeros(30))
    agree(of_a_model, Model(x, 2), np.zeros(30))
    agree(makes_pairs, x, np.zeros(30))


def test_schedules_hold_for_each_kind_of_argument():
    @pp.jit
    def f(x, w, chunk):
        for i in pp.prange(x.shape[0], schedule="dynamic", chunk=chunk):
            x[i] += 1 if w is None else 2

    x = np.zeros(9)
    f(x, None, 2)
    f(x, 1.0, 3)
    assert (x == 3).all()


# ---- elements that iterations reduce into


def counts(labels, h):
    for i in pp.prange(len(labels)):
        h[labels[i]] += 1


def weights_of(labels, w, h):
    for i in pp.prange(len(labels)):
        if w[i] > 0.1:
            h[labels[i], 1] += w[i]


def extremes_of(labels, w, low, high):
    for i in pp.prange(len(labels)):
        low[labels[i]] = min(low[labels[i]], w[i])
        high[labels[i]] = np.maximum(w[i], high[labels[i]])


def one_total(x, out):
    s = 0.0
    for i in pp.prange(len(x)):
        out[0] += x[i]
        s += x[i]
    return s


@pytest.mark.parametrize("n", [0, 1, 5000])
def test_histograms(n):
    labels, w = numbers(n, low=0), numbers(n)
    agree(counts, labels, np.ones(7, int))
    agree(weights_of, labels, w, np.zeros((7, 2)))
    agree(extremes_of, labels, w, np.ones(7), np.zeros(7))
    agree(one_total, w, np.ones(1))


@pytest.mark.parametrize("device", [*DEVICES, pp.Device("null:1")], ids=str)
def test_histograms_on_devices(device):
    labels = numbers(300, low=0).astype("int32")
    h = pp.zeros(7, dtype="int32", device=device)
    pp.jit(counts)(pp.asarray(labels, device=device), h)
    assert_array_equal(pp.asnumpy(h), np.bincount(labels, minlength=7))


def test_floats_are_added_in_one_order():
    labels, w = numbers(20_000, low=0), numbers(20_000)
    results = []
    for _ in range(3):
        h = np.zeros((7, 2))
        pp.jit(weights_of)(labels, w, h)
        results.append(h)
    assert_array_equal(results[0], results[1])
    assert_array_equal(results[0], results[2])


# ---- functions of small arrays


def linear(x, b, out):
    for i in pp.prange(len(x)):
        out[i] = np.linalg.inv(x[i])
        out[i, 0] = np.linalg.solve(x[i], b[i])
        out[i, 1, 0] = np.linalg.det(x[i])


def ordered(x, out):
    for i in pp.prange(len(x)):
        out[i, 0] = np.sort(x[i])
        out[i, 1] = np.argsort(x[i], kind="stable")
        out[i, 2, 0] = np.median(x[i])
        out[i, 2, 1] = np.searchsorted(np.sort(x[i]), 0.5)
        x[i].sort()


def moved(x, out):
    for i in pp.prange(len(x)):
        out[i, 0] = np.flip(x[i])
        out[i, 1] = np.roll(x[i], 2)
        out[i, 2] = np.hstack((x[i, :2], x[i, 2:]))
        out[i, 3] = np.concatenate((x[i, 3:], x[i, :3]))
        out[i, 4] = np.cumsum(x[i]) + x[i].cumprod()
        out[i, 5, 1:] = np.diff(x[i])
        out[i, 6, :6] = np.repeat(x[i, :3], 2)
        out[i, 7:9, :] = np.vstack((x[i], x[i] * 2))


def made(x, out):
    for i in pp.prange(len(x)):
        v, m = np.array([x[i], 1.0, 2]), np.array([[x[i], 0], [0, 2.0]])
        a, b, c = np.arange(5), np.linspace(0.0, 1.0, 5), np.eye(3)
        out[i] = v.sum() + m[1, 1] * v[1] + (a * b).sum() * x[i] + c.sum() + np.trace(c) + np.interp(x[i], b, a * 1.0)
        out[i] += np.diag(m).sum() + np.cross(v, v + 1)[0] + x.dtype.type(2) * np.identity(2)[1, 1] + np.arange(1.0, 4.0)[1]


def test_functions_of_small_arrays():
    x, b = numbers(6, 4, 4), numbers(6, 4)
    agree(linear, x, b, np.zeros((6, 4, 4)))
    agree(linear, x + 1j * x[::-1], b + 1j, np.zeros((6, 4, 4), complex))
    y = numbers(6, 37)
    y[2, 5], y[3, :7] = np.nan, 0.25
    agree(ordered, y, np.zeros((6, 3, 37)))
    agree(moved, numbers(6, 6), np.zeros((6, 9, 6)))
    agree(made, numbers(6), np.zeros(6))


def middles(x, out):
    for i in pp.prange(len(x)):
        out[i] = np.median(x[i])


def between(x, places, values, out):
    for i in pp.prange(len(x)):
        out[i] = np.interp(x[i], places, values)


def of_axes(x, out):
    for i in pp.prange(len(x)):
        out[i, 0] = np.flip(x[i], 0)
        out[i, 1] = np.flip(x[i], 1)
        out[i, 2] = np.flip(x[i], -1)
        out[i, 3] = np.flip(x[i], -2)
        out[i, 4] = np.flip(x[i])
        out[i, 5, :, :, 1:] = np.diff(x[i])


def joined(x, y, out):
    for i in pp.prange(len(x)):
        out[i, 0, :6] = np.hstack((x[i], y[i]))
        out[i, 1, :6] = np.concatenate((x[i], y[i]), axis=-1)
        out[i, 2:, :3] = np.vstack((x[i], y[i]))


def rolled(x, out):
    for i in pp.prange(1):
        out[i:] = np.roll(x, 1)


def test_extreme_values_and_dtypes_of_small_arrays():
    inf, nan = np.inf, np.nan
    agree(middles, np.array([[1, 2, inf], [-inf, inf, 0], [1e308, 1.5e308, 1.6e308], [1, nan, 2], [inf, inf, 1]]), np.zeros(5))
    agree(middles, np.array([[1.0, 2, 4, 9], [-inf, inf, 0, 0], [1, 2, inf, inf], [nan, 1, 2, 3]]), np.zeros(4))
    agree(middles, np.array([[200, 250], [255, 255]], "uint8"), np.zeros(2))
    agree(between, np.array([-1.0, 0, 0.5, 2, 3, nan, inf]), np.array([0.0, 1, 2]), np.array([0.5, 2.5, 1.25]), np.zeros(7))
    agree(of_axes, numbers(2, 2, 3, 4), np.zeros((2, 6, 2, 3, 4)))
    x = numbers(4, 3) / 3
    for first, second in (("float32", "float64"), ("int8", "float64"), ("bool", "int16"), ("float64", "int64"), ("uint8", "int8")):
        agree(joined, (4 * x).astype(first), (9 * x).astype(second), np.zeros((4, 4, 6)))
    with pytest.raises(TypeError, match="an element of `empty` is a number"):
        pp.jit(rolled)(numbers(2, 3), np.zeros((2, 3)))


def test_a_singular_matrix():
    with pytest.raises(ValueError, match="Singular matrix"):
        pp.jit(linear)(np.zeros((2, 4, 4)), np.zeros((2, 4)), np.zeros((2, 4, 4)))


# ---- random numbers


@pp.jit(strict=True)
def pi(n):
    inside = 0
    for _ in pp.prange(n):
        x, y = np.random.rand(), random.random()
        if x * x + y * y < 1:
            inside += 1
    return 4 * inside / n


@pp.jit(strict=True)
def drawn(out, whole):
    for i in pp.prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.random.normal(1.0, 2.0)
        whole[i, 0], whole[i, 1], whole[i, 2] = np.random.randint(3, 9), np.random.poisson(4.0), np.random.binomial(10, 0.5)
        whole[i, 3:8] = np.random.permutation(5)
        whole[i, 8] = random.randint(1, 2) + np.random.choice(3)
        v = np.random.uniform(-1, 1, 4)
        whole[i, 9] = (v > -1).sum() + (v < 1).sum()


@pp.jit(strict=True)
def serial(out, n):
    s = 0.0
    for _ in range(n):
        if np.random.random() < 0.5:
            s += np.random.exponential(2.0)
        out[np.random.randint(6)] += 1
    return s


def test_random_numbers():
    np.random.seed(7)
    first = pi(100_000)
    np.random.seed(7)
    assert pi(100_000) == first != pi(100_000)
    assert abs(first - np.pi) < 0.03
    out, whole = np.zeros((500, 40)), np.zeros((500, 10), int)
    drawn(out, whole)
    assert len(np.unique(out)) == out.size
    assert abs(out.mean() - 1) < 0.06
    assert abs(out.std() - 2) < 0.06
    assert set(whole[:, 0]) == set(range(3, 9))
    assert abs(whole[:, 1].mean() - 4) < 0.5
    assert abs(whole[:, 2].mean() - 5) < 0.5
    assert (np.sort(whole[:, 3:8]) == np.arange(5)).all()
    assert set(whole[:, 8]) == {1, 2, 3, 4}
    assert (whole[:, 9] == 8).all()
    h = np.zeros(6, int)
    s = serial(h, 30_000)
    assert h.sum() == 30_000
    assert (abs(h - 5000) < 400).all()
    assert abs(s - 30_000) < 1500


def test_random_numbers_are_the_same_on_every_device():
    @pp.jit
    def uniform(x):
        for i in pp.prange(len(x)):
            x[i] = np.random.uniform(1.0, 2.0)

    results = []
    for device in (d for d in DEVICES if d.has_fp64):
        np.random.seed(3)
        x = pp.zeros(100, device=device)
        uniform(x)
        results.append(pp.asnumpy(x))
    assert all((r == results[0]).all() for r in results)


def test_kernels_have_no_state_of_random_numbers():
    @pp.kernel
    def k(item: pp.Item, x):
        x[item.get_id(0)] = np.random.rand()

    with pytest.raises(TypeError, match="random numbers without a key are for loops of jit functions"):
        k[3](pp.zeros(3))


# ---- Numba's names


def test_types_of_numba():
    numba = types.ModuleType("numba")

    class Number:
        def __init__(self, name):
            self.name = name

    Number.__module__ = "numba.core.types"
    numba.int32, numba.float64 = Number("int32"), Number("float64")

    @pp.jit(strict=True)
    def f(x):
        for i in range(len(x)):
            x[i] = numba.float64(numba.int32(x[i]) / 2)

    x = np.array([3.5, 4.5])
    f(x)
    assert list(x) == [1.5, 2.0]
