# tests/python/test_kernels.py: kernels over plain ranges: what is accepted, and that it computes what Python does.
import math

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support import launched

pytestmark = pytest.mark.once

FACTOR = 3


@pp.func
def twice(x):
    return x + x


def clipped(x, low=0, high=10):
    if x < low:
        return low
    if x > high:
        return high
    return x


@pp.kernel
def add(item: pp.Item, a, b, c):
    i = item.get_id(0)
    c[i] = a[i] + b[i]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 7, 64, 1000])
def test_addition_in_every_dtype(dtype, n):
    a = (np.arange(n) % 50).astype(dtype)
    b = (np.arange(n)[::-1] % 50).astype(dtype)
    *_, c = launched(add, n, a, b, np.zeros(n, dtype))
    assert_array_equal(c, a + b)


def test_strided_arrays_and_negative_steps():
    base = pp.asarray(np.arange(60.0).reshape(6, 10))
    a, b = base[1, ::2], base[4, ::-2]
    c = pp.zeros((5, 3))[:, 1]
    add[pp.Range(5)](a, b, c).wait()
    assert_array_equal(pp.asnumpy(c), pp.asnumpy(a) + pp.asnumpy(b))


def test_empty_range_does_nothing():
    c = pp.zeros(3)
    assert add[pp.Range(0)](c, c, c).done()


def test_two_dimensions():
    @pp.kernel
    def outer(item: pp.Item, x, y, out):
        i, j = item.get_id(0), item.get_id(1)
        out[i, j] = x[i] * y[j] + item.get_range(1)

    x, y = np.arange(5.0), np.arange(7.0)
    out = pp.zeros((5, 7))
    outer[pp.Range(5, 7)](pp.asarray(x), pp.asarray(y), out).wait()
    assert_array_equal(pp.asnumpy(out), np.outer(x, y) + 7)


def test_opencl_functions_without_an_item():
    @pp.kernel
    def index(out):
        i = pp.get_global_id(0)
        out[i] = i + pp.get_global_size(0)

    assert_array_equal(launched(index, 9, np.zeros(9, "int64"))[0], np.arange(9) + 9)


def test_python_scalars_are_weak():
    @pp.kernel
    def scale(item: pp.Item, x, a, y):
        i = item.get_id(0)
        s = 0.0
        s += a * x[i]
        y[i] = s

    x = np.linspace(0, 1, 20, dtype="float32")
    y = pp.zeros(20, dtype="float32")
    scale[pp.Range(20)](pp.asarray(x), 0.1, y).wait()
    assert_array_equal(pp.asnumpy(y), np.float32(0.1) * x)
    assert "float64" not in scale[pp.Range(20)].inspect(pp.asarray(x), 0.1, y).split("{")[1]


def test_loops_with_carried_values():
    @pp.kernel
    def powers(item: pp.Item, x, y):
        i = item.get_id(0)
        total, term = 0.0, 1.0
        for k in range(i + 1):
            total += term
            term *= x[i]
        y[i] = total

    x = np.linspace(0.1, 0.9, 23)
    assert_allclose(launched(powers, 23, x, np.zeros(23))[1], [sum(v**k for k in range(i + 1)) for i, v in enumerate(x)], rtol=1e-13)


@pytest.mark.parametrize("bounds", [(0, 10, 1), (10, 0, -1), (3, 20, 4), (5, 5, 1), (20, 3, -3)])
def test_ranges(bounds):
    start, stop, step = bounds

    @pp.kernel
    def total(item: pp.Item, out, a, b):
        s = 0
        for k in range(a, b, step):
            s = s * 3 + k
        out[item.get_id(0)] = s

    expected = 0
    for k in range(start, stop, step):
        expected = expected * 3 + k
    out = pp.zeros(5, dtype="int64")
    total[pp.Range(5)](out, start, stop).wait()
    assert_array_equal(pp.asnumpy(out), expected)


@pytest.mark.parametrize("bounds", [(0, 10, 1), (10, 0, -1), (3, 20, 4), (20, 3, -3), (0, 5, -1)])
def test_ranges_whose_steps_are_arguments(bounds):
    @pp.kernel
    def total(item: pp.Item, out, a, b, step):
        s = 0
        for k in range(a, b, step):
            s = s * 3 + k
        out[item.get_id(0)] = s

    expected = 0
    for k in range(*bounds):
        expected = expected * 3 + k
    out = pp.zeros(5, dtype="int64")
    total[pp.Range(5)](out, *bounds).wait()
    assert_array_equal(pp.asnumpy(out), expected)


def mandelbrot(item: pp.Item, re, im, limit, out):
    i = item.get_id(0)
    x, y, n = 0.0, 0.0, 0
    for k in range(limit):
        if x * x + y * y > 4.0:
            break
        x, y = x * x - y * y + re[i], 2.0 * x * y + im[i]
        n += 1
    out[i] = n


def test_break_at_the_start_of_a_loop():
    rng = np.random.default_rng(0)
    re, im = rng.uniform(-2, 1, 300), rng.uniform(-1, 1, 300)

    def one(a, b):
        z, n = 0j, 0
        for _ in range(60):
            if z.real * z.real + z.imag * z.imag > 4.0:
                break
            z = complex(z.real * z.real - z.imag * z.imag + a, 2.0 * z.real * z.imag + b)
            n += 1
        return n

    out = launched(pp.kernel(mandelbrot), 300, re, im, 60, np.zeros(300, "int32"))[-1]
    assert_array_equal(out, [one(a, b) for a, b in zip(re, im, strict=True)])


def test_break_continue_and_else():
    @pp.kernel
    def search(item: pp.Item, x, wanted, out):
        i = item.get_id(0)
        seen = 0
        for k in range(x.shape[1]):
            v = x[i, k]
            if v < 0:
                continue
            seen += 1
            if v == wanted:
                out[i] = k * 100 + seen
                break
        else:
            out[i] = -seen

    rng = np.random.default_rng(1)
    x = rng.integers(-3, 9, (40, 11))
    expected = []
    for row in x:
        seen = 0
        for k, v in enumerate(row):
            if v < 0:
                continue
            seen += 1
            if v == 5:
                expected.append(k * 100 + seen)
                break
        else:
            expected.append(-seen)
    assert_array_equal(launched(search, 40, x, 5, np.zeros(40, "int64"))[-1], expected)


def test_while_and_early_return():
    @pp.kernel
    def collatz(item: pp.Item, out):
        n = item.get_id(0)
        if n == 0:
            return
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        out[item.get_id(0)] = steps

    def steps(n):
        count = 0
        while n > 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    assert_array_equal(launched(collatz, 100, np.zeros(100, "int64"))[0], [steps(n) for n in range(100)])


def test_return_inside_nested_loops():
    @pp.kernel
    def first(item: pp.Item, x, out):
        i = item.get_id(0)
        for r in range(3):
            for c in range(4):
                if x[i, r, c] == 7:
                    out[i] = r * 10 + c
                    return
        out[i] = -1

    rng = np.random.default_rng(2)
    x = rng.integers(0, 12, (30, 3, 4))
    expected = [next((r * 10 + c for r in range(3) for c in range(4) if b[r, c] == 7), -1) for b in x]
    assert_array_equal(launched(first, 30, x, np.zeros(30, "int64"))[1], expected)


def test_functions_with_defaults_and_keywords():
    @pp.kernel
    def use(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = clipped(x[i], high=twice(FACTOR)) + clipped(x[i] - 2)

    x = np.arange(-5, 20)
    expected = [clipped(v, high=6) + clipped(v - 2) for v in x]
    assert_array_equal(launched(use, x.size, x, np.zeros(x.size, "int64"))[1], expected)


def test_lambdas_and_closures():
    shift = 4
    f = lambda v: v * v + shift

    @pp.kernel
    def use(item: pp.Item, x):
        i = item.get_id(0)
        x[i] = f(x[i])

    assert_array_equal(launched(use, 6, np.arange(6))[0], np.arange(6) ** 2 + 4)


def test_a_changed_global_recompiles():
    global FACTOR

    @pp.kernel
    def use(item: pp.Item, x):
        x[item.get_id(0)] = FACTOR

    try:
        assert_array_equal(launched(use, 3, np.zeros(3))[0], 3)
        FACTOR = 8
        assert_array_equal(launched(use, 3, np.zeros(3))[0], 8)
    finally:
        FACTOR = 3


def test_mathematics():
    @pp.kernel
    def several(item: pp.Item, x, out):
        i = item.get_id(0)
        v = x[i]
        out[i, 0] = math.sin(v) + np.cos(v) - pp.exp(-v)
        out[i, 1] = np.arctan2(v, 2) + math.hypot(v, 1.0)
        out[i, 2] = max(v, 0.5, 2 * v) - min(v, 0.25)
        out[i, 3] = v**3 + v**0.5 + abs(v - 1)
        out[i, 4] = round(10 * v) + int(7 * v) + math.floor(3 * v)

    x = np.linspace(0.01, 2, 50)
    out = launched(several, 50, x, np.zeros((50, 5)))[1]
    assert_allclose(out[:, 0], np.sin(x) + np.cos(x) - np.exp(-x), rtol=1e-12, atol=1e-15)
    assert_allclose(out[:, 1], np.arctan2(x, 2) + np.hypot(x, 1), rtol=1e-13)
    assert_allclose(out[:, 2], np.maximum(np.maximum(x, 0.5), 2 * x) - np.minimum(x, 0.25), rtol=1e-15)
    assert_allclose(out[:, 3], x**3 + x**0.5 + abs(x - 1), rtol=1e-13)
    assert_allclose(out[:, 4], np.rint(10 * x) + (7 * x).astype(int) + np.floor(3 * x))


def test_integer_division_follows_python():
    @pp.kernel
    def divide(item: pp.Item, a, b, q, r, t):
        i = item.get_id(0)
        q[i], r[i] = divmod(a[i], b[i])
        t[i] = a[i] / b[i]

    a, b = np.array([7, -7, 7, -7, 0]), np.array([2, 2, -2, -2, 5])
    *_, q, r, t = launched(divide, 5, a, b, np.zeros(5, "int64"), np.zeros(5, "int64"), np.zeros(5))
    assert_array_equal(q, a // b)
    assert_array_equal(r, a % b)
    assert_array_equal(t, a / b)


def test_negative_indices_and_views():
    @pp.kernel
    def turn(item: pp.Item, x, y):
        i = item.get_id(0)
        row = x[i]
        y[i, -1] = row[0]
        for k in range(1, x.shape[1]):
            y[i, k - 1] = row[-k]

    x = np.arange(12).reshape(3, 4)
    expected = np.concatenate([x[:, :0:-1], x[:, :1]], axis=1)
    assert_array_equal(launched(turn, 3, x, np.zeros((3, 4), "int64"))[1], expected)


def test_slices_and_assignments_of_parts():
    @pp.kernel
    def parts(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i, 1:3] = x[i, :2]
        y[i, 3:] = 9
        y[i, 0] = len(x[i, 1::2])

    x = np.arange(10).reshape(2, 5)
    expected = np.array([[2, r[0], r[1], 9, 9] for r in x])
    assert_array_equal(launched(parts, 2, x, np.zeros((2, 5), "int64"))[1], expected)


def test_tuples_enumerate_and_zip():
    weights = (1, 10, 100)

    @pp.kernel
    def weigh(item: pp.Item, x, y):
        i = item.get_id(0)
        total = 0
        for k, w in enumerate(weights):
            total += w * x[i, k]
        for a, b in zip(x[i], x[i]):
            total += a * b
        y[i] = total + weights[-1]

    x = np.arange(12).reshape(4, 3)
    assert_array_equal(launched(weigh, 4, x, np.zeros(4, "int64"))[1], x @ np.array(weights) + (x * x).sum(1) + 100)


def test_private_arrays():
    @pp.kernel
    def sort(item: pp.Item, x, y):
        i = item.get_id(0)
        a = pp.private_array(5, x.dtype)
        for k in range(5):
            a[k] = x[i, k]
        for k in range(1, 5):
            v = a[k]
            j = k
            while j > 0 and a[j - 1] > v:
                a[j] = a[j - 1]
                j -= 1
            a[j] = v
        for k in range(5):
            y[i, k] = a[k]

    x = np.random.default_rng(3).random((33, 5))
    assert_array_equal(launched(sort, 33, x, np.zeros((33, 5)))[1], np.sort(x, axis=1))


def test_atomics():
    @pp.kernel
    def count(item: pp.Item, x, bins, total):
        v = x[item.get_id(0)]
        pp.atomic.add(bins, v, 1)
        pp.atomic.add(total, 0, 0.5)
        pp.atomic.max(bins, 9, v)

    x = np.random.default_rng(4).integers(0, 9, 10_000)
    _, bins, total = launched(count, x.size, x, np.zeros(10, "int32"), np.zeros(1))
    assert_array_equal(bins[:9], np.bincount(x, minlength=9))
    assert bins[9] == 8
    assert total[0] == 5000


def test_conditional_expressions_and_chained_comparison():
    @pp.kernel
    def grade(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = 1 if 0 <= x[i] < 5 else (2 if x[i] >= 5 and x[i] != 7 else 3)

    x = np.arange(-3, 10)
    assert_array_equal(launched(grade, 13, x, np.zeros(13, "int64"))[1], [1 if 0 <= v < 5 else (2 if v >= 5 and v != 7 else 3) for v in x])


def test_constants_become_part_of_the_program():
    @pp.kernel
    def smooth(item: pp.Item, x, y, width: pp.Const[int]):
        i = item.get_id(0)
        window = pp.private_array(width, "float64") if width > 100 else x
        s = 0.0
        for k in range(width):
            s += x[i + k]
        y[i] = s / width

    x = np.arange(10.0)
    for width in (2, 3):
        y = pp.zeros(7)
        smooth[pp.Range(7)](pp.asarray(x), y, width).wait()
        assert_allclose(pp.asnumpy(y), [x[i : i + width].mean() for i in range(7)])


def test_aliased_arguments():
    @pp.kernel
    def shift(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i] * 2

    x = pp.arange(10)
    shift[pp.Range(10)](x, x).wait()
    assert_array_equal(pp.asnumpy(x), 2 * np.arange(10))


def test_launches_read_pending_values_and_order_writes():
    x = pp.arange(100, dtype="float64")
    y = x * 2
    before = y + 1
    add[pp.Range(100)](y, x, y)
    assert_array_equal(pp.asnumpy(before), 2 * np.arange(100) + 1)
    assert_array_equal(pp.asnumpy(y), 3 * np.arange(100))


def test_asserts_and_raises_arrive_at_the_wait():
    @pp.kernel
    def check(item: pp.Item, x):
        i = item.get_id(0)
        assert x[i] >= 0, "must not be negative"
        if x[i] > 100:
            raise ValueError("too large")
        x[i] += 1

    x = pp.arange(50)
    check[pp.Range(50)](x).wait()
    y = pp.asarray(np.array([1, 2, -3, 4]))
    with pytest.raises(AssertionError, match=r"must not be negative \(item 2\)[\s\S]*assert x\[i\] >= 0"):
        check[pp.Range(4)](y).wait()
    z = pp.asarray(np.array([1, 200]))
    with pytest.raises(ValueError, match=r"too large \(item 1\)"):
        check[pp.Range(2)](z).wait()
    check[pp.Range(50)](x).wait()
    assert_array_equal(pp.asnumpy(x), np.arange(50) + 2)


def test_bounds_check_names_index_and_extent():
    @pp.kernel(bounds_check=True)
    def beyond(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i + 2]

    with pytest.raises(IndexError, match=r"index 4 is out of bounds for an axis of size 4 \(item 2\)[\s\S]*y\[i\] = x\[i \+ 2\]"):
        beyond[pp.Range(3)](pp.arange(4), pp.zeros(4, dtype="int64")).wait()


def test_kernels_from_several_threads():
    from concurrent.futures import ThreadPoolExecutor

    def work(k):
        x = pp.full(1000, float(k))
        c = pp.zeros(1000)
        add[pp.Range(1000)](x, x, c).wait()
        return float(c[999])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(20))) == [2.0 * k for k in range(20)]


def test_parts_of_other_lengths_are_refused():
    @pp.kernel
    def fill(item: pp.Item, x, y):
        x[:] = y

    fill[pp.Range(1)](pp.zeros(4), pp.ones(4)).wait()
    with pytest.raises(ValueError, match="2 elements do not fill 4"):
        fill[pp.Range(1)](pp.zeros(4), pp.ones(2)).wait()


def test_rounding_is_numpy_s_or_python_s():
    @pp.kernel
    def rounded(item: pp.Item, x, y, n):
        i = item.get_id(0)
        y[i] = np.round(x[i])
        if abs(x[i]) < 1e9:
            n[i] = round(x[i])

    x = np.array([0.5, 1.5, -2.6, np.nan, np.inf, 1e300])
    _, y, n = launched(rounded, 6, x, np.zeros(6), np.zeros(6, "int64"))
    assert_array_equal(y, np.round(x))
    assert_array_equal(n[:3], [0, 2, -3])


def test_failures_reach_those_who_read_the_results():
    @pp.kernel
    def check(item: pp.Item, x):
        x[item.get_id(0)] += 1
        assert x[item.get_id(0)] < 3, "too large"

    x = pp.asarray(np.arange(4))
    with pytest.raises(AssertionError, match="too large"):  # small work is over when the launch returns
        check[pp.Range(4)](x)
        pp.asnumpy(x)
    y = pp.zeros(10_000_000)
    z = y[::2]
    with pytest.raises(AssertionError, match="too large"):
        for _ in range(3):
            check[pp.Range(z.size)](z)
        pp.asnumpy(z)


def test_steps_and_powers_that_are_wrong_only_when_they_run():
    @pp.kernel
    def steps(item: pp.Item, x, step):
        for k in range(4, 0, step):
            x[k] = 1

    with pytest.raises(ValueError, match="the step must not be zero"):
        steps[pp.Range(1)](pp.zeros(5), 0).wait()

    @pp.kernel
    def powers(item: pp.Item, x, n):
        x[item.get_id(0)] = 2**n

    with pytest.raises(ValueError, match="here is the power -1"):
        powers[pp.Range(1)](pp.zeros(1), -1).wait()


class Settings:
    K = 5


def test_a_changed_attribute_recompiles():
    @pp.kernel
    def use(item: pp.Item, x):
        x[item.get_id(0)] = Settings.K

    try:
        assert_array_equal(launched(use, 2, np.zeros(2))[0], 5)
        Settings.K = 6
        assert_array_equal(launched(use, 2, np.zeros(2))[0], 6)
    finally:
        Settings.K = 5


def test_arguments_by_name_defaults_and_numpy_arrays_in_a_context():
    @pp.kernel
    def scale(item: pp.Item, x, y, a=3.0):
        i = item.get_id(0)
        y[i] = a * x[i]

    x, y = np.arange(4.0), np.zeros(4)
    with pp.device_context("cpu"):
        scale[pp.Range(4)](x, y=y)
        assert_array_equal(y, 3 * x)
        scale[pp.Range(4)](x, y, 5.0)
        assert_array_equal(y, 5 * x)
    scale[pp.Range(4)].interpret(x, y=y)
    assert_array_equal(y, 3 * x)
    assert "x: a float64 array" in scale[pp.Range(4)].types(pp.asarray(x), pp.asarray(y))
    with pytest.raises(TypeError, match="there is no parameter `b`"):
        scale[pp.Range(4)](pp.asarray(x), b=1)
    with pytest.raises(TypeError, match="no argument for `y`"):
        scale[pp.Range(4)](pp.asarray(x), a=1.0)


def test_the_environment_asks_for_bounds(monkeypatch):
    monkeypatch.setenv("PARDO_BOUNDS_CHECK", "1")

    @pp.kernel
    def beyond(item: pp.Item, x):
        x[item.get_id(0) + 1] = 1

    @pp.jit
    def beyond_too(x):
        for i in pp.prange(len(x)):
            x[i + 1] = 1

    with pytest.raises(IndexError, match="index 3 is out of bounds for an axis of size 3"):
        beyond[pp.Range(3)](pp.zeros(3)).wait()
    with pytest.raises(IndexError, match="index 3 is out of bounds for an axis of size 3"):
        beyond_too(np.zeros(3))


def test_a_launch_over_nothing_comes_after_its_events(device):
    @pp.kernel
    def twice(item, x):
        x[item.get_id(0)] *= 2

    queue, signal, failed = pp.Queue(device, order="out_of_order"), pp.UserEvent(), pp.UserEvent()
    x = pp.zeros(4, "float32", queue=queue)
    event = twice[pp.Range(0), None, [signal]](x)
    assert not event.done()
    signal.set_complete()
    event.wait()
    event = twice[pp.Range(0), None, [failed]](x)
    failed.set_failed(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        event.wait()
