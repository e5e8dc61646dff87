# tests/python/test_kernel_semantics.py: kernels give what plain Python gives, where its rules are not those of C.
import math

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_allclose, assert_array_equal
from support import launched

pytestmark = pytest.mark.once


def on(device, kernel, n, *arguments):
    """As `launched`, on a device."""
    with pp.device_context(device):
        return launched(kernel, n, *arguments)


def interpreted(kernel, n, *arguments):
    """What plain Python makes of copies of the arrays."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[pp.Range(n)].interpret(*copies)
    return [a for a in copies if isinstance(a, np.ndarray)]


def same_as_python(device, kernel, n, *arguments):
    for found, expected in zip(on(device, kernel, n, *arguments), interpreted(kernel, n, *arguments), strict=True):
        assert_array_equal(found, expected)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_names_that_are_those_of_the_devices_languages(device):
    @pp.kernel
    def named(item: pp.Item, get_x, M_PI, INT_MAX, half_y):
        i = item.get_id(0)
        half_y[i] = get_x[i] + M_PI[i] * INT_MAX

    same_as_python(device, named, 3, np.arange(3), np.ones(3, int), 7, np.zeros(3, int))


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_arrays_without_dimensions_are_their_numbers(device):
    @pp.kernel
    def uses(item: pp.Item, x, c, n, flag, out, total):
        i = item.get_id(0)
        y = x[i] * c - (-c) + math.sqrt(c) + abs(c) + max(c, x[i]) + np.maximum(x[i], c) + float(c)
        for j in range(n):
            y += j
        if c > 1 and c != 3 and flag:
            y += c if i > 1 else x[i]
        y += x[n] + x[:n][0] + c[()]
        out[i] = y
        if i == 0:
            total += c

    x = np.arange(4.0)
    same_as_python(device, uses, 4, x, np.asarray(2.0), np.asarray(3), np.asarray(True), np.zeros(4), np.asarray(1.0))


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_numbers_of_numpy_have_an_empty_index(device):
    @pp.jit
    def scaled(x, c):
        for i in pp.prange(len(x)):
            x[i] = x[i] * c[()] + c

    for c in (pp.asarray(2.0), pp.asarray([1.0, 1.0]).sum(), np.float64(2), np.asarray(2.0)):
        x = pp.arange(4.0, device=device)
        scaled(x, c)
        assert x.tolist() == [2, 4, 6, 8]
    with pytest.raises(TypeError, match="cannot be indexed"):
        scaled(x, 2.0)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_names_of_a_loop_that_a_test_ends(device):
    @pp.kernel
    def last(item: pp.Item, x, y):
        i = item.get_id(0)
        k, w, j, u, m, c = -1, np.float64(-1), -1, np.float64(-1), -1, 99
        for k in range(len(x)):
            if x[k] > i:
                break
            y[i, 0] = k
        for w in x:
            if w > i:
                break
        for j, u in enumerate(x):
            if u > i:
                break
            if j > 3:
                break
        for m in range(2, len(x)):
            if m > 100:
                break
            if x[m] == i:
                break
            y[i, 1] += 1
            if x[m] > 2 * i:
                break
        for c in range(len(x) - 1, -1, -1):
            if x[c] < i:
                break
        y[i, 2], y[i, 3], y[i, 4], y[i, 5], y[i, 6], y[i, 7] = k, w, j, u, m, c

    same_as_python(device, last, 40, np.array([0.0, 1, 2, 3, 5, 8, 30]), np.zeros((40, 8)))


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_else_of_loops_that_are_left(device):
    @pp.kernel
    def left(item: pp.Item, x, y):
        i = item.get_id(0)
        for k in range(len(x)):
            if x[k] == i:
                y[i, 1] = 100 + k
                return
            if x[k] > i + 2:
                break
        else:
            y[i, 2] = 1
        k = 0
        while k < 3:
            k += 1
            if k == i:
                return
        else:
            y[i, 3] = 1
        for v in (1, 2, 3):
            if v + 1 == i:
                return
            y[i, 4] += v
        else:
            y[i, 4] += 10

    same_as_python(device, left, 12, np.array([0.0, 7, 3, 9]), np.zeros((12, 5)))


def test_else_does_not_run_after_a_failure():
    @pp.kernel
    def checked(item: pp.Item, x):
        for k in range(3):
            assert x[k] < 5, "too large"
        else:
            x[3] = 1

    x = pp.asarray(np.array([1.0, 7, 1, 0]))
    with pytest.raises(AssertionError, match="too large"):
        checked[1](x).wait()
    x.accept()
    assert x[3] == 0


def doubled(y, i):
    y[i] = y[i] * 2 + 1
    return y[i]


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_the_old_element_is_read_first(device):
    @pp.kernel
    def added(item: pp.Item, y, z):
        i = item.get_id(0)
        y[i] += doubled(y, i)
        z[i] = doubled(y, i) - z[i] * doubled(y, i)
        z[i] -= 1 if doubled(z, i) > 3 else doubled(y, i)

    same_as_python(device, added, 9, np.arange(9.0), np.arange(9.0)[::-1].copy())


@pp.func
def counted(counts, value):
    counts[0] += 1
    return value


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_chains_stop_where_they_are_decided(device):
    @pp.kernel
    def chained(item: pp.Item, k, x, y):
        i = item.get_id(0)
        calls = np.zeros(1)
        y[i, 0] = 0 <= k[i] < x[k[i]] < 5 if i < 6 else k[i] < 3 < counted(calls, 4) < 5 != counted(calls, i)
        if 0 < k[i] <= counted(calls, 3) < counted(calls, 5):
            y[i, 1] = 1
        y[i, 2] = calls[0]
        y[i, 3] = 1 < 0 < x[k[i]]
        j = k[i]
        y[i, 4] = 3 > j >= 0 != x[j]

    k = np.array([0, 1, 2, 3, 1, 0, -5, 3, 1, 7])
    same_as_python(device, chained, 10, k, np.array([0.0, 4, 7, 2, 9, 9, 9, 9]), np.zeros((10, 5)))


def test_chains_read_only_what_decides():
    @pp.kernel(bounds_check=True)
    def inside(item: pp.Item, k, x, y):
        i = item.get_id(0)
        y[i] = 0 <= k[i] < len(x) != x[k[i]] > 1

    y = pp.zeros(4, dtype="bool")
    inside[4](pp.asarray(np.array([-100, 2, 100, 0])), pp.arange(3.0), y).wait()
    assert list(pp.asnumpy(y)) == [False, True, False, False]


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_uint64_is_compared_exactly(device):
    @pp.kernel
    def compare(item: pp.Item, a, b, c, y):
        i = item.get_id(0)
        y[i, 0], y[i, 1], y[i, 2] = a[i] < b[i], a[i] <= b[i], a[i] == b[i]
        y[i, 3], y[i, 4], y[i, 5] = a[i] != b[i], a[i] > b[i], a[i] >= b[i]
        y[i, 6], y[i, 7], y[i, 8] = b[i] < a[i], b[i] >= a[i], b[i] == a[i]
        y[i, 9], y[i, 10] = (1, a[i]) < (1, b[i]), (b[i], 2) == (a[i], 2)
        y[i, 11], y[i, 12] = c[i] < b[i], b[i] > c[i]

    a = np.array([2**53, 2**53 + 1, -1, -(2**63), 2**63 - 1, 2**63 - 1, 0, 5])
    b = np.array([2**53 + 1, 2**53, 2**64 - 1, 2**63, 2**63 - 1, 2**63, 0, 5], "uint64")
    c = np.array([-1, 1, -128, 127, 0, 5, 0, -5], "int8")
    y = on(device, compare, 8, a, b, c, np.zeros((8, 13), bool))[3]
    for row, x, u, small in zip(y, a.tolist(), b.tolist(), c.tolist(), strict=True):
        assert list(row[:6]) == [x < u, x <= u, x == u, x != u, x > u, x >= u]
        assert list(row[6:]) == [u < x, u >= x, u == x, x < u, u == x, small < u, u > small]


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "uint64"])
def test_integers_are_rounded_to_tens(device, dtype):
    @pp.kernel
    def tens(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i, 0], y[i, 1], y[i, 2], y[i, 3] = round(x[i], -1), np.round(x[i], -2), round(x[i], 2), np.around(x[i], -19)
        y[i, 4] = round(i - 7, -1)
        y[i, 5] = round(2345, -1)

    x = np.array([0, 5, 15, 25, 35, 14, 16, 104, 107, 120, -5, -15, -16, -104, -120]).astype(dtype)
    x = x[np.abs(x.astype(float)) < 121]
    y = on(device, tens, len(x), x, np.zeros((len(x), 6)))[1]
    expected = [[round(v, -1), round(v, -2), v, 0, round(i - 7, -1), 2340] for i, v in enumerate(x.tolist())]
    assert_array_equal(y, expected)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float32", "float64"])
def test_signs_and_reciprocals_have_the_dtypes_of_numpy(device, dtype):
    @pp.kernel
    def several(item: pp.Item, x, y):
        i = item.get_id(0)
        a, r = np.fabs(x[i]), np.reciprocal(x[i])
        y[i, 0], y[i, 1], y[i, 2], y[i, 3] = a, a.dtype.itemsize, r, r.dtype.itemsize
        y[i, 4] = math.fabs(x[i])
        if x.dtype != np.bool_:
            y[i, 5] = math.copysign(1.0, float(np.sign(x[i])))

    x = np.array([1, 2, -1, -2, 3, 1] if dtype[0] in "if" else [1, 2, 1, 3], dtype)
    if dtype[0] == "f":
        x[4] = -0.0
    y = on(device, several, len(x), x, np.zeros((len(x), 6)))[1]
    with np.errstate(all="ignore"):
        assert_allclose(y[:, 0], np.fabs(x))
        assert_allclose(y[:, 2], np.reciprocal(x), rtol=1e-6)
        assert_array_equal(y[:, 4], np.abs(x.astype(float)))
        assert set(y[:, 1]) == {np.fabs(x).itemsize}
        assert set(y[:, 3]) == {np.reciprocal(x).itemsize}
        if dtype != "bool":
            assert_array_equal(y[:, 5], np.copysign(1, np.sign(x).astype(float)))


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_extremes_of_bools(device):
    @pp.kernel
    def extremes(item: pp.Item, a, b, y):
        i = item.get_id(0)
        y[i, 0], y[i, 1], y[i, 2] = np.fmax(a[i], b[i]), np.fmin(a[i], b[i]), np.fmod(a[i], b[i])
        y[i, 3] = np.fmod(a[i], b[i]).dtype.itemsize

    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    y = on(device, extremes, 4, a, b, np.zeros((4, 4)))[2]
    with np.errstate(all="ignore"):
        assert_array_equal(y, np.stack([np.fmax(a, b), np.fmin(a, b), np.fmod(a, b), np.ones(4)], 1))


@pp.func
def found_at(x, limit):
    for k in range(len(x)):
        if x[k] > limit:
            return k
    else:
        limit = 0
    return limit - 1


@pp.func
def by_cases(x, i):
    if i > 2:
        if x[i] > 3:
            return 1.5
        if x[i] > 2:
            for k in (0, 1, 2):
                if x[k] == i:
                    return x[k] + 100
                for j in range(3):
                    if x[j] + k == i:
                        return x[j] - 100
        else:
            return -1
    elif i == 1:
        return 7
    return x[0]


@pp.func
def pair_of(x, i):
    while True:
        i += 1
        if i >= len(x):
            return i, 0.5
        if x[i] > 3:
            return -i, x[i]


@pp.func
def set_if_low(x, y, i):
    for k in range(len(x)):
        if x[k] > i:
            y[i, 4] = k
            return
        if x[k] == 2:
            return
    y[i, 4] = -1


@pp.func
def row_of(y, i):
    if i > 3:
        return y[i]
    for k in range(3):
        if k == i:
            return y[k, :]
    return y[3]


@pp.func
def until(x, limit):
    while True:
        limit += 1
        at = limit % len(x)
        if x[at] > 3:
            break
        seen = at
    return at


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_functions_that_return_early(device):
    @pp.kernel
    def early(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i, 0] = found_at(x, i)
        y[i, 1] = by_cases(x, i)
        y[i, 2], y[i, 3] = pair_of(x, i)
        set_if_low(x, y, i)
        row_of(y, i)[5] = 3 + i
        y[i, 6] = until(x, i)

    x = np.array([0.0, 2, 3, 1, 5, 2.5, 3, 9])
    same_as_python(device, early, 8, x, np.zeros((8, 7)))


def test_functions_that_do_not_return_on_every_way():
    @pp.func  # noqa: RET503
    def maybe(x):
        for v in x:
            if v > 1:
                return v

    @pp.kernel
    def use(item: pp.Item, x):
        x[0] = maybe(x)

    with pytest.raises(TypeError, match="returned here, but not on every path"):
        use[1](pp.zeros(3))

    @pp.func
    def mixed(x):
        for v in x:
            if v > 1:
                return v
        return True

    @pp.kernel
    def use_mixed(item: pp.Item, x):
        x[0] = mixed(x)

    with pytest.raises(TypeError, match=r"the value returned is float64 on one path \(line \d+\) and a Python bool on another"):
        use_mixed[1](pp.zeros(3))


def test_bools_are_called_bools():
    @pp.kernel
    def choose(item: pp.Item, y):
        if y[1] > 3:
            v = True
        else:
            v = 0
        y[0] = v

    with pytest.raises(TypeError, match=r"is a Python bool on one path \(line \d+\) and a Python int on another"):
        choose[1](pp.zeros(3))


LARGE = 0xFFFFFFFFFFFFFFFF


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_integers_beyond_int64(device):
    @pp.kernel
    def mixed(item: pp.Item, x, y, seen):
        i = item.get_id(0)
        y[i, 0] = np.uint64(i) * np.uint64(0x9E3779B97F4A7C15)
        y[i, 1] = x[i] ^ 0xFFFFFFFFFFFFFFFF
        y[i, 2] = LARGE
        y[i, 3] = x[i] + (1 << 63)
        h = 0xCBF29CE484222325
        for k in range(3):
            h = (h ^ x[k]) * 0x100000001B3
        y[i, 4] = h
        y[i, 5] = 2**63 + 5 if i < 0 else LARGE // 3 * 2 + LARGE % 7
        seen[i] = x[i] < LARGE and i < LARGE and i - 2 < LARGE != x[i] and not i - 3 >= LARGE

    x = np.array([0, 5, 2**63, 2**64 - 2], "uint64")
    _, y, seen = on(device, mixed, 4, x, np.zeros((4, 6), "uint64"), np.zeros(4, bool))
    assert seen.all()
    h = 0xCBF29CE484222325
    for v in x[:3].tolist():
        h = ((h ^ v) * 0x100000001B3) % 2**64
    for i, v in enumerate(x.tolist()):
        expected = [i * 0x9E3779B97F4A7C15, v ^ LARGE, LARGE, v + 2**63, h, LARGE // 3 * 2 + LARGE % 7]
        assert [int(n) for n in y[i]] == [n % 2**64 for n in expected]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, i: x[i] + 0xFFFFFFFFFFFFFFFF,
        lambda x, i: i * 0x9E3779B97F4A7C15,
        lambda x, i: -0xFFFFFFFFFFFFFFFF,
        lambda x, i: 0xFFFFFFFFFFFFFFFF,
        lambda x, i: x[0xFFFFFFFFFFFFFFFF],
        lambda x, i: 0xFFFFFFFFFFFFFFFF + 1,
    ],
)
def test_integers_beyond_int64_where_they_do_not_fit(wrong):
    @pp.kernel
    def stored(item: pp.Item, f, x):
        i = item.get_id(0)
        x[i] = f(x, i)

    with pytest.raises(OverflowError, match=r"int64"):
        stored[1](wrong, pp.zeros(3, dtype="int64"))


def test_tests_at_the_head_of_a_loop_are_asked_in_order():
    @pp.kernel(bounds_check=True)
    def last_low(item: pp.Item, x, y):
        i = item.get_id(0)
        k = -1
        for k in range(10):
            if k >= len(x):
                break
            if x[k] > i:
                break
        y[i] = k

    y = pp.zeros(6)
    last_low[6](pp.arange(4.0), y).wait()
    assert list(pp.asnumpy(y)) == [1, 2, 3, 4, 4, 4]


def test_memory_of_groups_that_no_machine_has():
    for shape in (1 << 64, 1 << 61, (1 << 40, 1 << 40)):
        with pytest.raises(ValueError, match=r"LocalAccessor: .* are more than any memory holds"):
            pp.LocalAccessor(shape, "float64")
    with pytest.raises(TypeError, match="LocalAccessor: dtype"):
        pp.LocalAccessor(3, "foo")

    @pp.struct
    class Pair:
        x: np.float64
        y: np.int64

    with pytest.raises(TypeError, match=r"Pair is a struct; make memory of structs in the kernel, by pardo.local_array"):
        pp.LocalAccessor(3, Pair)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_estimates(device):
    @pp.kernel(fastmath="estimates")
    def roots(item: pp.Item, x, out):
        i = item.get_id(0)
        out[i] = 1 / math.sqrt(x[i])

    @pp.jit(fastmath="estimates")
    def loops(x, out):
        for i in pp.prange(len(x)):
            out[i] = 1 / math.sqrt(x[i])

    x = (10 ** np.random.default_rng(0).uniform(-30, 30, 1000)).astype("float32")
    one, other = (pp.zeros(1000, dtype="float32", device=device) for _ in range(2))
    roots[1000](pp.asarray(x, device=device), one)
    loops(pp.asarray(x, device=device), other)
    assert_allclose(pp.asnumpy(one), 1 / np.sqrt(x.astype("float64")), rtol=2.0**-14)
    assert_array_equal(pp.asnumpy(one), pp.asnumpy(other))
    assert " estimates" in roots.inspect()
    if device.backend == "cpu":
        ends = np.array([0, np.inf, np.nan, -1] * 16, "float32")
        roots[64](pp.asarray(ends, device=device), one)
        with np.errstate(all="ignore"):
            assert_allclose(pp.asnumpy(one)[:64], 1 / np.sqrt(ends), rtol=1e-4)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_fast_roots_are_close(device):
    @pp.kernel(fastmath=True)
    def roots(item: pp.Item, x, one, some):
        i = item.get_id(0)
        one[i] = 1 / math.sqrt(x[i])
        some[i] = 3 * x[i] / np.sqrt(x[i] + 1)

    x = (10 ** np.random.default_rng(0).uniform(-30, 30, 1000)).astype("float32")
    one, some = (pp.zeros(1000, dtype="float32", device=device) for _ in range(2))
    roots[1000](pp.asarray(x, device=device), one, some)
    exact = x.astype("float64")
    assert_allclose(pp.asnumpy(one), 1 / np.sqrt(exact), rtol=4 * np.finfo("float32").eps)
    assert_allclose(pp.asnumpy(some), 3 * exact / np.sqrt(exact + 1), rtol=6 * np.finfo("float32").eps)
    if device.backend == "cpu":  # compilers of OpenCL and CUDA may take numbers for finite
        ends = np.array([0, np.inf, np.nan, -1, 1e-40, -0.0, 3.4e38] * 20, "float32")
        roots[140](pp.asarray(ends, device=device), one, some)
        with np.errstate(all="ignore"):
            assert_allclose(pp.asnumpy(one)[:140], 1 / np.sqrt(ends), rtol=1e-6)
        every = np.arange(0x3F800000, 0x40800000, 7, dtype="uint32").view("float32")  # from 1 to 4: all others are these, scaled
        one = pp.zeros(every.size, dtype="float32", device=device)
        roots[every.size](pp.asarray(every, device=device), one, pp.zeros_like(one))
        exact = 1 / np.sqrt(every.astype("float64"))
        assert np.max(np.abs(pp.asnumpy(one) - exact) / np.spacing(exact.astype("float32"))) <= 2


@pytest.mark.parametrize("shape", [(8, 32), (33, 70), (7, 100), (100, 31), (64, 1), (3, 9, 40), (2, 40, 33)], ids=str)
@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_items_that_take_as_long_as_they_want(device, shape):
    @pp.kernel
    def collatz(item: pp.Item, x, steps):
        i = item.get_linear_id()
        n, k = x[i], 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            k += 1
        steps[i] += k

    def steps_of(n):
        k = 0
        while n != 1:
            n, k = n // 2 if n % 2 == 0 else 3 * n + 1, k + 1
        return k

    x = np.arange(1, math.prod(shape) + 1)
    steps = pp.zeros(len(x), dtype="int64", device=device)
    collatz[pp.Range(*shape)](pp.asarray(x, device=device), steps)
    assert_array_equal(pp.asnumpy(steps), [steps_of(int(n)) for n in x])


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_what_a_test_has_said_ends_with_the_value(device):
    @pp.kernel
    def backwards(item: pp.Item, a, out, k):
        step = item.get_id(0)
        if k >= step:
            for j in range(3):
                out[j] = a[k - step]  # k is not always that large
                k -= 1

    out = pp.zeros(3, dtype="int64", device=device)
    backwards[1](pp.arange(10, dtype="int64", device=device), out, 0)
    assert list(pp.asnumpy(out)) == [0, 9, 8]


def test_and_or_of_numbers_are_refused_as_values():
    @pp.kernel
    def either(item: pp.Item, x):
        i = item.get_id(0)
        if x[i] and i:
            x[i] = x[i] or 1.0

    with pytest.raises(TypeError, match=r"`or` of .* is not accepted here: it gives one of its operands in Python"):
        either[pp.Range(2)](pp.zeros(2))


def test_functions_have_the_defaults_of_now():
    def shifted(v, a=1, *, b=0):
        return v + a + 10 * b

    @pp.kernel
    def use(item: pp.Item, x):
        x[item.get_id(0)] = shifted(0)

    @pp.jit
    def loop(x):
        for i in pp.prange(len(x)):
            x[i] = shifted(0)

    x, y = pp.zeros(3), np.zeros(3)
    for a, b in ((1, 0), (5, 0), (5, 2), (5, 2.5)):
        shifted.__defaults__ = (a,)
        shifted.__kwdefaults__["b"] = b
        use[3](x).wait()
        loop(y)
        assert x.tolist() == y.tolist() == [shifted(0)] * 3
