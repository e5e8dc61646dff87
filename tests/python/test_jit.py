# tests/python/test_jit.py: functions with parallel loops: what they compute, what they refuse.
import math

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_allclose, assert_array_equal

prange = pp.prange


@pp.jit
def pairwise(x, d):
    for i in pp.prange(x.shape[0]):
        for j in range(x.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                t = x[i, k] - x[j, k]
                s += t * t
            d[i, j] = math.sqrt(s)


def distances(x):
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))


def test_numpy_arrays_are_used_where_they_are():
    x = np.random.default_rng(0).random((37, 3))
    d = np.zeros((37, 37))
    pairwise(x, d)
    assert_allclose(d, distances(x), rtol=1e-14)


def test_arrays_of_pardo():
    x = np.random.default_rng(0).random((37, 3)).astype("float32")
    d = pp.zeros((37, 37), dtype="float32")
    pairwise(pp.asarray(x), d)
    assert_allclose(pp.asnumpy(d), distances(x), rtol=1e-5)


@pp.jit
def total(x):
    s = 0.0
    for i in pp.prange(len(x)):
        s += x[i]
    return s


@pytest.mark.parametrize("n", [0, 1, 5, 1000, 100_003])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_sums(n, dtype):
    x = (np.random.default_rng(1).random(n) * 10).astype(dtype)
    assert_allclose(total(x), x.sum(dtype="float64" if dtype == "int32" else dtype), rtol=1e-4)  # 0.0 + int32 is float64


def test_reductions_of_every_kind():
    @pp.jit
    def several(x, y):
        s, p, low, high, every, some, count, bits = 1.5, 1.0, 1e300, -1e300, True, False, 0, 5
        for i in prange(x.shape[0]):
            s -= x[i]
            p *= 1.0 + y[i]
            low = min(low, x[i])
            high = np.maximum(high, x[i])
            every = every and x[i] > -1
            some |= y[i] > 0.00099
            bits ^= i * i
            if x[i] > 0.5:
                count += 1
        return s, p, low, high, every, some, count, bits

    rng = np.random.default_rng(2)
    x, y = rng.random(20_000), rng.random(20_000) * 1e-3
    s, p, low, high, every, some, count, bits = several(x, y)
    assert_allclose(s, 1.5 - x.sum(), rtol=1e-12)
    assert_allclose(p, np.prod(1 + y), rtol=1e-10)
    assert (low, high, every, some, count) == (x.min(), x.max(), True, (y > 0.00099).any(), (x > 0.5).sum())
    assert bits == 5 ^ np.bitwise_xor.reduce(np.arange(20_000) ** 2)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_rounds_that_reduce_have_arrays_of_their_own(device):
    @pp.jit
    def totals(x, y):
        s, low, best = 0.0, 1e9, (1e9, 0)
        for i in prange(len(x)):
            p, q = np.zeros(3), np.empty((2, 2), np.float32)
            p[i % 3] = x[i]
            q[1, i % 2] = i
            y[i] = p[i % 3] + q[1, i % 2]
            s += p[i % 3]
            low = min(low, p[i % 3] - p[(i + 1) % 3] + p[2 - i % 3])
        for i in prange(len(x)):
            p = np.full(2, x[i])
            best = min(best, (p[1], i))
        return s, low, best

    @pp.func
    def middle(v):
        p = np.zeros(5)
        for k in range(5):
            p[k] = v * k
        return p[int(v) % 2 + 1]

    x = np.arange(100.0)[::-1] + 1
    y = pp.zeros(100, device=device)
    given = pp.asarray(x, device=device)
    expected = totals.interpret(x, np.zeros(100))
    s, low, best = totals(given, y)
    assert (s, low, best[0], best[1]) == (expected[0], expected[1], *expected[2])
    assert_array_equal(pp.asnumpy(y), x + np.arange(100))
    total = pp.reduction(middle, lambda a, b: a + b, 0.0)(given)
    assert float(total) == sum(middle(v) for v in x)


def test_sums_have_the_same_bits_whatever_the_threads():
    x = np.random.default_rng(3).random(1_000_001)
    assert len({total(x) for _ in range(5)}) == 1


def test_reduction_inside_a_serial_loop():
    @pp.jit
    def weighted(a):
        s = 0.0
        for i in prange(a.shape[0]):
            for j in range(a.shape[1]):
                s += a[i, j] * (i + j)
        return s

    a = np.random.default_rng(4).random((300, 7))
    assert_allclose(weighted(a), (a * np.add.outer(np.arange(300), np.arange(7))).sum(), rtol=1e-12)


def test_bounds_change_from_call_to_call():
    @pp.jit
    def mark(x, start, stop, step):
        for i in pp.prange(start, stop, step):
            x[i] += i + 100

    for bounds in ((0, 20, 1), (1, 20, 1), (0, 20, 3), (3, 17, 1), (19, -1, -1), (4, 2, 1), (-4, 3, 1), (0, 20, 1)):
        x, expected = np.zeros(20), np.zeros(20)
        mark(x, *bounds)
        mark.interpret(expected, *bounds)
        assert_array_equal(x, expected)


def test_only_the_usual_bounds_are_part_of_programs():
    @pp.jit
    def double(x, start, step):
        for i in pp.prange(start, len(x), step):
            x[i] *= 2

    def programs():
        return pp.counters()["compiled"] + pp.counters()["from_disk"]

    double(np.ones(9), 5, 2)
    before = programs()
    double(np.ones(9), 7, 3)
    assert programs() == before


def test_two_parallel_dimensions():
    @pp.jit
    def fill(a, scale):
        for i in prange(1, a.shape[0] - 1):
            for j in prange(0, a.shape[1], 2):
                a[i, j] = i * scale + j

    a = np.zeros((9, 10))
    fill(a, 100)
    expected = np.zeros((9, 10))
    expected[1:-1, ::2] = (np.arange(9)[1:-1, None] * 100 + np.arange(10)[None])[:, ::2]
    assert_array_equal(a, expected)


def test_several_loops_and_statements_on_arrays():
    @pp.jit
    def normalised(x, y):
        mean = 0.0
        for i in prange(x.shape[0]):
            mean += x[i]
        mean /= x.shape[0]
        z = (x - mean) ** 2
        for i in prange(x.shape[0]):
            y[i] = z[i] * 2
        return z.sum()

    x = np.random.default_rng(5).random(500)
    y = np.zeros(500)
    assert_allclose(normalised(x, y), ((x - x.mean()) ** 2).sum(), rtol=1e-12)
    assert_allclose(y, 2 * (x - x.mean()) ** 2, rtol=1e-10, atol=1e-15)
    u, v = pp.asarray(x), pp.zeros(500)
    assert_allclose(float(normalised(u, v)), ((x - x.mean()) ** 2).sum(), rtol=1e-12)
    assert_allclose(pp.asnumpy(v), y, rtol=1e-12)


def test_parallel_loops_in_serial_ones():
    @pp.jit
    def jacobi(u, v, sweeps):
        for _ in range(sweeps):
            for i in prange(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            u, v = v, u
        return u

    u = np.random.default_rng(6).random((20, 30))
    expected = u.copy()
    for _ in range(6):
        w = expected.copy()
        w[1:-1, 1:-1] = 0.25 * (expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2] + expected[1:-1, 2:])
        expected = w
    assert_allclose(jacobi(u.copy(), u.copy(), 6), expected, rtol=1e-13)


def test_serial_loops_over_elements():
    @pp.jit
    def fibonacci(x):
        a, b = 0, 1
        n = 0
        while n < x.shape[0]:
            x[n] = a
            a, b = b, a + b
            n += 1
        return b

    x = np.zeros(20, "int64")
    assert fibonacci(x) == 10946
    assert_array_equal(x[:8], [0, 1, 1, 2, 3, 5, 8, 13])


def test_closures_defaults_and_keywords():
    scale = 3

    @pp.jit
    def scaled(x, *, shift=1):
        for i in prange(len(x)):
            x[i] = x[i] * scale + shift
        return x

    assert_array_equal(scaled(np.arange(5)), np.arange(5) * 3 + 1)
    assert_array_equal(scaled(np.arange(5), shift=0), np.arange(5) * 3)


def test_names_of_a_round_are_its_own():
    @pp.jit
    def squares(x, y):
        t = 100
        for i in prange(len(x)):
            u = x[i]
            y[i] = u * u + t
        return t

    y = np.zeros(6, "int64")
    assert squares(np.arange(6), y) == 100
    assert_array_equal(y, np.arange(6) ** 2 + 100)


def test_what_rounds_carry_is_refused():
    @pp.jit
    def running(x):
        s = 0.0
        for i in prange(len(x)):
            s += x[i]
            x[i] = s

    with pytest.raises((TypeError, NameError), match=r"`s`"):
        running(np.zeros(3))


def test_elements_that_rounds_share_are_refused():
    @pp.jit
    def histogram(x, h):
        for i in prange(len(x)):
            h[x[i]] += h[0]

    with pytest.raises(TypeError, match=r"two iterations of the parallel loop may change the same element[\s\S]*h\[x\[i\]\] \+= h"):
        histogram(np.zeros(3, "int64"), np.zeros(3))

    @pp.jit
    def counted(x, h):
        for i in prange(len(x)):
            pp.atomic.add(h, x[i], 1)

    h = np.zeros(5, "int64")
    counted(np.array([1, 1, 4, 0, 1]), h)
    assert_array_equal(h, [1, 3, 0, 0, 1])


def test_values_of_the_last_iteration():
    def last(x, start, step):
        v, w, total = -1.0, 0, 0.0
        for i in prange(start, len(x), step):
            v = x[i] * 2
            total += v
            for w in range(2):
                x[i] += w
            x[i] = v
        return v, total, w

    def new(x):
        for i in prange(len(x)):
            v = x[i]
        return v + i

    for function, arguments in ((last, (0, 1)), (last, (1, 3)), (last, (9, 1)), (new, ())):
        mine, theirs = np.arange(7.0), np.arange(7.0)
        assert pp.jit(function, strict=True)(mine, *arguments) == function(theirs, *arguments)
        assert_array_equal(mine, theirs)
    with pytest.raises(UnboundLocalError):
        pp.jit(new)(np.zeros(0))


def test_a_value_of_some_iterations_is_refused():
    @pp.jit
    def some(x):
        v = 0
        for i in prange(len(x)):
            if x[i] > 0:
                v = x[i]
        return v

    with pytest.raises(TypeError, match=r"`v` is read after the parallel loop"):
        some(np.zeros(3))


def test_break_in_a_parallel_loop_is_refused():
    @pp.jit
    def stops(x):
        for i in prange(len(x)):
            if x[i] > 0:
                break
            x[i] = 1

    with pytest.raises(TypeError, match="cannot be left by break"):
        stops(np.zeros(3))


def test_prange_outside_of_jit_is_range():
    assert list(pp.prange(2, 10, 3)) == [2, 5, 8]


def test_rounds_that_certainly_meet_are_refused():
    @pp.jit
    def running(x):
        for i in prange(1, len(x)):
            x[i] = x[i - 1] + 1

    with pytest.raises(TypeError, match="another iteration of the parallel loop writes this element"):
        running(np.zeros(5))

    @pp.jit
    def last(x):
        for i in prange(len(x)):
            x[0] = i

    with pytest.raises(TypeError, match="every iteration of the parallel loop writes this element"):
        last(np.zeros(5))


def test_longer_sums_are_reductions():
    @pp.jit
    def total(x):
        s = 0.0
        for i in prange(len(x)):
            s = s + x[i] + 1.0
        return s

    assert total(np.arange(5.0)) == 15.0


def test_methods_recursion_and_loops_that_return():
    class Sum:
        @pp.jit
        def of(self, x):
            s = 0.0
            for i in prange(len(x)):
                s += x[i]
            return s

    assert Sum().of(np.arange(4.0)) == 6.0

    @pp.jit
    def halves(x, depth):
        for i in prange(len(x)):
            x[i] /= 2
        return halves(x, depth - 1) if depth > 1 else x

    assert_array_equal(halves(np.full(3, 8.0), 3), 1.0)

    @pp.jit
    def first(x, limit):
        for i in range(len(x)):
            if x[i] > limit:
                return i
        return -1

    assert first(np.arange(10.0), 3) == 4


def test_loops_over_lists_and_dicts_stay_python():
    @pp.jit
    def collect(x, out, names):
        for i in range(len(x)):
            out.append(x[i])
            names[i] = "n"
        return len(out)

    out, names = [], {}
    assert collect(np.arange(3.0), out, names) == 3
    assert names == {0: "n", 1: "n", 2: "n"}


def test_serial_loops_share_names():
    @pp.jit
    def twice(x):
        for i in range(len(x)):
            t = x[i] * 2
            x[i] = t
        for i in range(len(x)):
            t = x[i] + 1
            x[i] = t
        return x

    assert_array_equal(twice(np.arange(4.0)), np.arange(4.0) * 2 + 1)


def test_bounds_are_checked_when_asked_for():
    @pp.jit(bounds_check=True)
    def shifted(x, y):
        for i in prange(len(x)):
            y[i] = x[i + 1]

    with pytest.raises(IndexError, match="index 3 is out of bounds for an axis of size 3"):
        shifted(np.zeros(3), np.zeros(3))


def test_else_of_a_parallel_loop_runs_after_it():
    @pp.jit
    def signed(x):
        s, t = 0.0, 0
        for i in prange(len(x)):
            s += x[i]
        else:
            s = -s
            for k in range(2):
                for i in prange(len(x)):
                    x[i] += 1
                else:
                    t += k + 1
        return s, t

    x = np.arange(5.0)
    assert signed(x) == (-10, 3)
    assert_array_equal(x, np.arange(5) + 2)


def test_a_counter_has_the_last_value():
    def counter(x):
        i = 5
        for i in prange(len(x)):
            x[i] += 1
        return i

    def in_a_loop(x):
        i = 2
        for _ in range(2):
            x[i] = 7
            for i in prange(len(x)):
                x[i] += 1
        return i

    @pp.jit
    def handled(x):
        i = 5
        try:
            for i in prange(len(x)):
                x[i] += 1
            i = 3
        finally:
            print(i)

    for function in (counter, in_a_loop):
        mine, theirs = np.zeros(3), np.zeros(3)
        assert pp.jit(function)(mine) == function(theirs)
        assert_array_equal(mine, theirs)
    with pytest.raises(TypeError, match=r"`i` is read after the parallel loop"):
        handled(np.zeros(3))


def test_serial_loops_leave_what_python_leaves():
    @pp.jit
    def last(x):
        v, k = 0.5, 9
        for i in range(len(x)):
            v = x[i]
            x[i] = v + 1
            if v > 2:
                k = i
        return v, k

    for n in (0, 1, 5):
        assert last(np.arange(float(n))) == last.interpret(np.arange(float(n)))
    assert "stay" not in last.diagnostics()

    @pp.jit
    def unbound(x):
        for i in range(len(x)):
            v = x[i]
            x[i] = v + 1
        return v

    assert unbound(np.arange(5.0)) == 4
    with pytest.raises(UnboundLocalError):
        unbound(np.zeros(0))

    @pp.jit
    def handed_on(x, y):
        v = 0.0
        for i in range(len(x)):
            v = x[i]
        for i in prange(len(y)):
            y[i] = v
        for k in range(3):
            y[k] += 1
        while True:
            k += 1
            w = y[k]
            if w == v:
                break
        return k, w

    y = np.zeros(6)
    assert handed_on(np.arange(5.0), y) == (3, 4)
    assert_array_equal(y, [5, 5, 5, 4, 4, 4])
    assert handed_on.diagnostics().count("a serial loop, compiled") == 3


def test_nested_parallel_loops_that_write_one_element_follow_each_other():
    """An element that only the outer loops tell apart: its inner loop is in order, as Python has it."""

    @pp.jit
    def sums(x, y, last):
        for i in pp.prange(x.shape[0]):
            for j in pp.prange(x.shape[1]):
                y[i] += x[i, j]
        for i in pp.prange(x.shape[0]):
            for j in pp.prange(x.shape[1]):
                row = last[i]
                row[0] = x[i, j]

    x = np.arange(4000.0).reshape(4, 1000)
    y, last = np.zeros(4), np.zeros((4, 1))
    sums(x, y, last)
    np.testing.assert_array_equal(y, x.sum(1))
    np.testing.assert_array_equal(last[:, 0], x[:, -1])

    @pp.jit
    def squares(x, out):
        for i in pp.prange(x.shape[0]):
            for j in pp.prange(x.shape[1]):
                k = i * x.shape[1] + j
                own = np.zeros(2)
                own[0] = x[i, j]
                out[k] = own[0] * own[0]

    out = np.zeros(4000)
    squares(x, out)
    np.testing.assert_array_equal(out, x.ravel() ** 2)
    assert "over `i` and `j`, one index space" in squares.diagnostics()
