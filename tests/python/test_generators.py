# tests/python/test_generators.py: elementwise, reduction and scan, and what groups do together, against plain Python.
import array
import functools
import itertools
import operator

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pardo._generate import generators

pytestmark = pytest.mark.once

SIZES = [0, 1, 7, 255, 2049, 10_007]


@pytest.fixture(autouse=True, params=["items", "groups"])
def way(request, monkeypatch):
    """Both ways, whatever the device prefers: items that go through many elements, and groups."""
    monkeypatch.setattr(generators, "group_size", lambda device: 256 if request.param == "groups" else 0)


@pp.struct
class Range:
    low: np.int64
    high: np.int64


def matrix(a):
    """2 x 2 matrices as tuples: multiplication is associative, and not commutative."""
    return (a, 1, 1, 0)


def product(a, b):
    m = 10_007
    return (
        (a[0] * b[0] + a[1] * b[2]) % m,
        (a[0] * b[1] + a[1] * b[3]) % m,
        (a[2] * b[0] + a[3] * b[2]) % m,
        (a[2] * b[1] + a[3] * b[3]) % m,
    )


# --- elementwise


def test_branches_and_loops():
    @pp.elementwise
    def steps(n):
        count = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    def plain(n):
        count = 0
        while n > 1:
            n, count = n // 2 if n % 2 == 0 else 3 * n + 1, count + 1
        return count

    x = pp.arange(1, 100)
    assert_array_equal(pp.asnumpy(steps(x)), [plain(n) for n in range(1, 100)])
    assert steps.__name__ == "steps"


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (2, 1, 3, 2)])
def test_shapes_broadcast(shape):
    f = pp.elementwise(lambda x, y, s: x * s - y)
    x = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
    y = np.arange(shape[-1] if shape else 1, dtype="float32")
    if not shape:
        y = y.reshape(())
    assert_array_equal(pp.asnumpy(f(pp.asarray(x), pp.asarray(y), 3)), x * 3 - y)
    strided = pp.asarray(np.repeat(x, 2, -1))[..., ::2] if shape else pp.asarray(x)
    assert_array_equal(pp.asnumpy(f(strided, pp.asarray(y), 3)), x * 3 - y)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes_of_results(dtype):
    x = np.array([0, 1, 2, 3]).astype(dtype)
    out = pp.elementwise(lambda a: a + a)(pp.asarray(x))
    expected = x.astype("int64") * 2 if dtype == "bool" else x + x
    assert out.dtype == expected.dtype
    assert_array_equal(pp.asnumpy(out), expected)
    assert pp.elementwise(lambda a: a == a)(pp.asarray(x)).dtype == np.bool_


def test_several_results_and_out():
    divided = pp.elementwise(lambda a, b: (a // b, a % b))
    a, b = np.arange(20), np.arange(20)[::-1] + 1
    q, r = divided(pp.asarray(a), pp.asarray(b))
    assert_array_equal(pp.asnumpy(q), a // b)
    assert_array_equal(pp.asnumpy(r), a % b)
    out = (pp.zeros(40, dtype="int64")[::2], pp.zeros(20, dtype="float64"))
    given = divided(pp.asarray(a), 7, out=out)
    assert given is out
    assert_array_equal(pp.asnumpy(out[0]), a // 7)
    assert_array_equal(pp.asnumpy(out[1]), a % 7)


def test_structs_in_and_out():
    widen = pp.elementwise(lambda r, by: Range(r.low - by, r.high + by))
    given = Range(pp.arange(4), pp.arange(4) * 2)
    wide = widen(given, 10)
    assert_array_equal(pp.asnumpy(wide.low), np.arange(4) - 10)
    assert_array_equal(pp.asnumpy(wide.high), np.arange(4) * 2 + 10)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: pp.elementwise(3), TypeError, "elementwise: function: a function is expected, not int"),
        (lambda: pp.elementwise(abs, name="a b"), ValueError, "name: a Python name is expected"),
        (lambda: pp.elementwise(abs)(3), TypeError, "at least one array"),
        (lambda: pp.elementwise(abs)({3}), TypeError, "argument 0: .* not set"),
        (lambda: pp.elementwise(lambda x, y: x)(pp.zeros(3)), TypeError, "takes 2 arguments, but 1 was given"),
        (lambda: pp.elementwise(lambda x, y: x)(pp.zeros(3), pp.zeros(4)), ValueError, "broadcast"),
        (lambda: pp.elementwise(lambda x: x)(pp.zeros(3), out=pp.zeros(4)), ValueError, r"out: an array of shape \(3,\) is expected"),
        (lambda: pp.elementwise(lambda x: x)(pp.zeros(3), out=pp.zeros(3, dtype="int8")), TypeError, "which cannot take float64"),
        (lambda: pp.elementwise(lambda x: None)(pp.zeros(3)), TypeError, "must give a number"),
    ],
)
def test_wrong_calls(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_in_a_context():
    f = pp.elementwise(lambda x, y: x + 2 * y)
    x = np.arange(5.0)
    with pp.device_context(pp.Device()):
        assert_array_equal(f(x, x), 3 * x)


def test_as_plain_python(monkeypatch):
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    x = np.arange(6.0)
    assert_array_equal(pp.asnumpy(pp.elementwise(lambda v, by: v * by + 1)(pp.asarray(x), 3)), x * 3 + 1)
    assert_array_equal(pp.asnumpy(pp.scan(lambda v: v, operator.add, 0)(pp.asarray(x))), np.cumsum(x))
    assert float(pp.reduction(lambda v, by: v * by, operator.add, 0)(pp.asarray(x), 2)) == 30


# --- reductions


@pytest.mark.parametrize("n", SIZES)
def test_sums_and_extremes(n):
    x = np.random.default_rng(n).normal(size=n)
    y = np.arange(n) % 5
    a, b = pp.asarray(x), pp.asarray(y)
    dot = pp.reduction(lambda u, v: u * v, lambda s, t: s + t, 0.0)
    assert_allclose(float(dot(a, b)), x @ y, rtol=1e-11, atol=1e-11)
    assert float(pp.reduction(abs, max, 0.0)(a)) == np.abs(x).max(initial=0)
    assert int(pp.reduction(lambda v: v, operator.add, 5)(b)) == 5 + y.sum()
    assert dot(a, b).shape == ()
    assert pp.reduction(lambda v: v, operator.add, 5)(b).dtype == np.int64


@pytest.mark.parametrize("n", SIZES)
def test_order_is_kept(n):
    x = np.arange(n) % 11
    found = pp.reduction(matrix, product, (1, 0, 0, 1))(pp.asarray(x))
    expected = functools.reduce(product, [matrix(int(v)) for v in x], (1, 0, 0, 1))
    assert tuple(int(v) for v in found) == expected


def test_structs_are_reduced():
    hull = pp.reduction(lambda v: Range(v, v), lambda a, b: Range(min(a.low, b.low), max(a.high, b.high)), Range(10**9, -(10**9)))
    x = np.random.default_rng(0).integers(-1000, 1000, 5000)
    found = hull(pp.asarray(x))
    assert (int(found.low), int(found.high)) == (x.min(), x.max())


def test_strided_arrays_of_two_dimensions():
    x = np.random.default_rng(0).integers(0, 9, (30, 40))
    a = pp.asarray(x)[::2, ::-3]
    assert int(pp.reduction(lambda v: v * v, operator.add, 0)(a)) == (x[::2, ::-3] ** 2).sum()
    found = pp.reduction(matrix, product, (1, 0, 0, 1))(a)
    expected = functools.reduce(product, [matrix(int(v)) for v in x[::2, ::-3].ravel()], (1, 0, 0, 1))
    assert tuple(int(v) for v in found) == expected


def test_a_combination_that_never_settles_is_refused():
    grow = pp.reduction(lambda v: (v,), lambda a, b: a + b, (0,))
    with pytest.raises(TypeError, match="combine changes the type"):
        grow(pp.arange(3))


# --- scans


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("exclusive", [False, True])
def test_prefix_sums(n, exclusive):
    x = np.arange(n) % 7
    found = pp.asnumpy(pp.scan(lambda v: v, operator.add, 3, exclusive=exclusive)(pp.asarray(x)))
    sums = np.cumsum(x) + 3
    assert_array_equal(found, sums - x if exclusive else sums)


@pytest.mark.parametrize("n", SIZES)
def test_scans_keep_the_order(n):
    x = np.arange(n) % 11
    found = pp.scan(matrix, product, (1, 0, 0, 1))(pp.asarray(x))
    expected = list(itertools.accumulate((matrix(int(v)) for v in x), product))
    for k, part in enumerate(found):
        assert_array_equal(pp.asnumpy(part), [e[k] for e in expected])


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_segments(n, exclusive):
    rng = np.random.default_rng(n)
    x, starts = rng.integers(0, 9, n), rng.random(n) < 0.01
    scan = pp.scan(lambda v, s: v, operator.add, 100, exclusive=exclusive, segmented=lambda v, s: s)
    found = pp.asnumpy(scan(pp.asarray(x), pp.asarray(starts)))
    total, expected = 100, []
    for v, s in zip(x, starts, strict=True):
        total = 100 if s else total
        expected.append(total if exclusive else total + v)
        total += v
    assert_array_equal(found, expected)


def test_output_and_out():
    x = np.arange(1, 3001)
    share = pp.scan(lambda v, t: v, operator.add, 0, lambda prefix, v, t: (prefix / t, prefix - v))
    out = (pp.zeros(6000)[::2], pp.zeros(3000, dtype="int64"))
    assert share(pp.asarray(x), int(x.sum()), out=out) is out
    assert_allclose(pp.asnumpy(out[0]), np.cumsum(x) / x.sum())
    assert_array_equal(pp.asnumpy(out[1]), np.cumsum(x) - x)


def test_out_may_have_gaps_and_none_beside_each_other():
    x = np.arange(12).reshape(4, 3)
    both = pp.scan(lambda v: v, operator.add, 0, lambda prefix, v: (prefix, v))
    out = (pp.zeros((4, 6), dtype="int64")[:, ::2], pp.zeros((4, 3), dtype="int64"))
    assert both(pp.asarray(x), out=out) is out
    assert_array_equal(pp.asnumpy(out[0]), np.cumsum(x).reshape(4, 3))
    assert_array_equal(pp.asnumpy(out[1]), x)


def test_scans_of_strided_arrays_go_in_row_major_order():
    x = np.random.default_rng(0).integers(0, 9, (13, 40))
    a = pp.asarray(x)[:, ::2]
    found = pp.scan(lambda v: v, operator.add, 0)(a)
    assert_array_equal(pp.asnumpy(found), np.cumsum(x[:, ::2].ravel()).reshape(13, 20))


# --- made from scans


@pytest.mark.parametrize("n", SIZES)
def test_packing_and_splitting(n):
    x = np.random.default_rng(n).integers(0, 10, n)
    a = pp.asarray(x)
    even = x % 2 == 0
    assert_array_equal(pp.asnumpy(pp.algorithm.copy_if(a, lambda v: v % 2 == 0)), x[even])
    assert_array_equal(pp.asnumpy(pp.algorithm.remove_if(a, lambda v: v % 2 == 0)), x[~even])
    yes, no = pp.algorithm.partition(a, lambda v: v % 2 == 0)
    assert_array_equal(pp.asnumpy(yes), x[even])
    assert_array_equal(pp.asnumpy(no), x[~even])
    assert_array_equal(pp.asnumpy(pp.algorithm.unique(pp.asarray(np.sort(x)))), np.unique(x))
    assert_array_equal(pp.asnumpy(pp.algorithm.unique(a)), x[np.r_[True, x[1:] != x[:-1]]] if n else x)


def test_runs_by_a_function():
    x = np.array([1.0, 1.2, 5.0, 5.1, 1.0])
    assert_array_equal(pp.asnumpy(pp.algorithm.unique(pp.asarray(x), lambda a, b: abs(a - b) < 1)), [1.0, 5.0, 1.0])
    with pytest.raises(TypeError, match="copy_if: predicate: a function is expected"):
        pp.algorithm.copy_if(pp.arange(3), 3)
    with pytest.raises(TypeError, match="partition: an array, a number or a sequence of numbers is expected, not set"):
        pp.algorithm.partition({1}, abs)


@pytest.mark.parametrize("values", [[3, 1, 2], (3, 1, 2), np.array([3, 1, 2]), range(3, 0, -1), array.array("q", [3, 1, 2])], ids=type)
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (pp.elementwise(lambda v: v * 2), lambda v: v * 2),
        (pp.elementwise(lambda v, w: v - w), None),
        (pp.reduction(lambda v: v, operator.add, 0), np.sum),
        (pp.reduction(lambda v: v * v, max, 0), lambda v: (v * v).max()),
        (pp.scan(lambda v: v, operator.add, 0), np.cumsum),
        (lambda v: pp.algorithm.copy_if(v, lambda e: e > 1), lambda v: v[v > 1]),
        (lambda v: pp.algorithm.remove_if(v, lambda e: e > 1), lambda v: v[v <= 1]),
        (lambda v: pp.algorithm.partition(v, lambda e: e > 1)[0], lambda v: v[v > 1]),
        (pp.algorithm.unique, lambda v: v),
    ],
    ids=["elementwise", "of two", "reduction", "by max", "scan", "copy_if", "remove_if", "partition", "unique"],
)
def test_values_of_the_host_alone(values, call, expected):
    """They go to the default device, counted, and in a context to its device."""
    host = np.array(values)
    arguments = (values,) if expected else (values, values)
    expected = expected(host) if expected else host * 0
    before = pp.counters()["copied_bytes"]
    got = call(*arguments)
    assert pp.counters()["copied_bytes"] - before >= host.nbytes
    assert got.device == pp.Device()
    assert_array_equal(pp.asnumpy(got), expected)
    with pp.device_context("cpu"):
        assert_array_equal(pp.asnumpy(call(*arguments)), expected)
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match="would copy 24 bytes of the host"):
        call(*arguments)


# --- groups


@pytest.mark.parametrize("size", [1, 7, 64, 256])
def test_what_groups_do_together(size):
    @pp.kernel
    def together(item: pp.NdItem, x, out):
        g = item.get_group()
        i = item.get_global_id(0)
        v = x[i]
        out[0, i] = pp.reduce_over_group(g, v, operator.add)
        out[1, i] = pp.inclusive_scan_over_group(g, v, operator.add)
        out[2, i] = pp.exclusive_scan_over_group(g, v, operator.add, 5)
        out[3, i] = pp.group_broadcast(g, v)
        out[4, i] = pp.group_broadcast(g, v, size - 1)
        out[5, i] = pp.any_of_group(g, v == 3)
        out[6, i] = pp.all_of_group(g, v >= 0)
        out[7, i] = pp.none_of_group(g, v > 100)
        out[8, i] = pp.reduce_over_group(g, (v, i), max)[1]
        out[9, i] = pp.reduce_over_group(g, Range(v, v), lower).low

    def expected(x):
        low = x.min()
        best = max((v, i) for i, v in enumerate(x))[1]
        sums = np.cumsum(x)
        ones = np.ones_like(x)
        return [
            ones * x.sum(), sums, sums - x + 5, ones * x[0], ones * x[-1], ones * (x == 3).any(), ones * (x >= 0).all(),
            ones * (x <= 100).all(), ones * best, ones * low,
        ]  # fmt: skip

    x = np.random.default_rng(size).integers(0, 10, 3 * size)
    out = pp.zeros((10, 3 * size), dtype="int64")
    together[pp.NdRange(3 * size, size)](pp.asarray(x), out).wait()
    wanted = np.concatenate([np.array(expected(part)) for part in x.reshape(3, size)], axis=1)
    wanted[8] += np.repeat(np.arange(3) * size, size)
    assert_array_equal(pp.asnumpy(out), wanted)
    again = pp.zeros((10, 3 * size), dtype="int64")
    if size <= 64:
        together[pp.NdRange(3 * size, size)].interpret(pp.asarray(x), again)
        assert_array_equal(pp.asnumpy(again), wanted)


def lower(a, b):
    return Range(min(a.low, b.low), max(a.high, b.high))


def test_group_functions_outside_of_kernels_say_so():
    with pytest.raises(TypeError, match="this is an operation of kernels"):
        pp.group_broadcast(None, 3)
