# tests/python/test_bounds.py: no kernel, loop or function touches memory outside of its arrays, and each says which index would have.
import re

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

CANARY = -77


@pytest.fixture(params=DEVICES, ids=str)
def device(request):
    return request.param


def guarded(device, values):
    """An array in the middle of a larger one, and that one."""
    values = np.asarray(values)
    shape = tuple(n + 32 for n in values.shape)
    whole = pp.asarray(np.full(shape, CANARY, dtype=values.dtype), device=device)
    inner = whole[tuple(slice(16, 16 + n) for n in values.shape)]
    inner[...] = pp.asarray(values, device=device)
    return inner, whole


def outside(whole, inner_shape):
    """What is around the inner array."""
    found = pp.asnumpy(whole).copy()
    found[tuple(slice(16, 16 + n) for n in inner_shape)] = CANARY
    return found


def assert_untouched(whole, shape):
    whole.accept()
    assert (outside(whole, shape) == CANARY).all()


def raises(call, index, extent, item=None, line=None):
    text = rf"index {index} is out of bounds for an axis of size {extent}"
    if item is not None:
        text += rf" \(item {re.escape(str(item))}\)"
    if line is not None:
        text += rf"[\s\S]*{re.escape(line)}"
    with pytest.raises(IndexError, match=text):
        call()


# --- kernels


def test_a_store_beyond_the_end(device):
    @pp.kernel
    def shift(item: pp.Item, x, by):
        i = item.get_id(0)
        x[i + by] = i

    x, whole = guarded(device, np.zeros(8, "int64"))
    shift[8](x, 0).wait()
    assert_array_equal(pp.asnumpy(x), np.arange(8))
    raises(lambda: shift[8](x, 3).wait(), "(8|9|10)", 8, line="x[i + by] = i")
    assert_array_equal(pp.asnumpy(x.accept()), [0, 1, 2, 0, 1, 2, 3, 4])  # the other items have run
    assert_untouched(whole, (8,))
    shift[8](x, 0).wait()  # and it goes on
    assert_array_equal(pp.asnumpy(x), np.arange(8))
    raises(lambda: shift[9](x, 0).wait(), 8, 8, 8)
    raises(lambda: shift[1](x, 2**62).wait(), 2**62, 8, 0)
    raises(lambda: shift[1](x, -(2**62)).wait(), -(2**62), 8, 0)
    raises(lambda: shift[1](x, -9).wait(), -9, 8, 0)
    raises(lambda: shift[2](x, 2**63 - 1).wait(), rf"({2**63 - 1}|{-(2**63)})", 8)
    assert_untouched(whole, (8,))


def test_negative_indices_count_from_the_end(device):
    @pp.kernel
    def back(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i - 3]

    x = np.arange(6.0)
    for n in (3, 4, 6):
        y, whole = guarded(device, np.zeros(6))
        back[n](pp.asarray(x, device=device), y).wait()
        assert_array_equal(pp.asnumpy(y)[:n], [x[i - 3] for i in range(n)])
        assert_untouched(whole, (6,))
    y, whole = guarded(device, np.zeros(6))
    raises(lambda: back[3](pp.asarray(x[:2], device=device), y).wait(), -3, 2, 0)
    assert_array_equal(pp.asnumpy(y.accept())[:3], [0, x[0], x[1]])


def test_reads_that_fail_read_nothing(device):
    @pp.kernel
    def take(item: pp.Item, x, index, y):
        i = item.get_id(0)
        y[i] = x[index[i]]

    n = 1000
    x, _ = guarded(device, np.arange(n) + 1.0)
    index = np.arange(n)[::-1].copy()
    y, whole = guarded(device, np.zeros(n))
    take[n](x, pp.asarray(index, device=device), y).wait()
    assert_array_equal(pp.asnumpy(y), np.arange(n)[::-1] + 1.0)
    bad = index.copy()
    bad[[17, 500, 999]] = [n, -n - 1, 2**60]
    y, whole = guarded(device, np.zeros(n))
    raises(lambda: take[n](x, pp.asarray(bad, device=device), y).wait(), rf"({n}|{-n - 1}|{2**60})", n, line="y[i] = x[index[i]]")
    expected = np.arange(n)[::-1] + 1.0
    expected[[17, 500, 999]] = 0
    assert_array_equal(pp.asnumpy(y.accept()), expected)
    assert_untouched(whole, (n,))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int32", "uint64"])
def test_indices_of_each_dtype(device, dtype):
    @pp.kernel
    def take(item: pp.Item, x, index, y):
        i = item.get_id(0)
        y[i] = x[index[i]]

    index = np.array([0, 5, 100, 7, 3], dtype)
    y, _ = guarded(device, np.zeros(5))
    take[5](pp.arange(101.0, device=device), pp.asarray(index, device=device), y).wait()
    assert_array_equal(pp.asnumpy(y), index)
    raises(lambda: take[5](pp.arange(100.0, device=device), pp.asarray(index, device=device), y).wait(), 100, 100, 2)
    if dtype == "uint64":
        index[1] = 2**64 - 1
        with pytest.raises(IndexError):
            take[5](pp.arange(101.0, device=device), pp.asarray(index, device=device), y).wait()


def test_scatters_and_updates(device):
    @pp.kernel
    def put(item: pp.Item, x, index):
        i = item.get_id(0)
        x[index[i]] = i
        x[index[i]] += 10

    x, whole = guarded(device, np.zeros(50, "int32"))
    index = np.arange(50)
    index[[3, 44]] = [50, 10**12]
    raises(lambda: put[50](x, pp.asarray(index, device=device)).wait(), rf"(50|{10**12})", 50)
    expected = np.arange(50) + 10
    expected[[3, 44]] = 0
    assert_array_equal(pp.asnumpy(x.accept()), expected)
    assert_untouched(whole, (50,))


def test_atomics(device):
    @pp.kernel
    def count(item: pp.Item, h, bins):
        i = item.get_id(0)
        pp.atomic.add(h, bins[i], 1)

    bins = np.arange(1000) % 10
    h, whole = guarded(device, np.zeros(10, "int32"))
    count[1000](h, pp.asarray(bins, device=device)).wait()
    assert_array_equal(pp.asnumpy(h), np.full(10, 100))
    bins[7] = 10
    raises(lambda: count[1000](h, pp.asarray(bins, device=device)).wait(), 10, 10, 7)
    assert_array_equal(pp.asnumpy(h.accept()), [200, 200, 200, 200, 200, 200, 200, 199, 200, 200])
    assert_untouched(whole, (10,))


def test_atomic_references(device):
    @pp.kernel
    def largest(item: pp.Item, m, where, x):
        i = item.get_id(0)
        r = pp.AtomicRef(m, where[i])
        r.fetch_max(x[i])

    m, whole = guarded(device, np.zeros(4, "int32"))
    where, x = np.arange(40) % 4, np.arange(40, dtype="int32")
    where[39] = -5
    raises(lambda: largest[40](m, pp.asarray(where, device=device), pp.asarray(x, device=device)).wait(), -5, 4, 39)
    assert_array_equal(pp.asnumpy(m.accept()), [36, 37, 38, 35])
    assert_untouched(whole, (4,))


def test_each_dimension_is_checked(device):
    @pp.kernel
    def copy(item: pp.Item, x, y, di, dj):
        i, j = item.get_id(0), item.get_id(1)
        y[i + di, j + dj] = x[i, j]

    x = np.arange(12.0).reshape(3, 4)
    y, whole = guarded(device, np.zeros((3, 4)))
    copy[3, 4](pp.asarray(x, device=device), y, 0, 0).wait()
    assert_array_equal(pp.asnumpy(y), x)
    raises(lambda: copy[3, 4](pp.asarray(x, device=device), y, 0, 1).wait(), 4, 4)
    raises(lambda: copy[3, 4](pp.asarray(x, device=device), y, 1, 0).wait(), 3, 3)
    raises(lambda: copy[4, 4](pp.asarray(x, device=device), y, 0, 0).wait(), 3, 3)
    assert_untouched(whole, (3, 4))


def test_three_dimensions_and_strides(device):
    @pp.kernel
    def copy(item: pp.Item, x, y):
        i, j, k = item.get_id(0), item.get_id(1), item.get_id(2)
        y[k, i, j] = x[i, j, k]

    x = np.arange(60).reshape(3, 4, 5)
    given = pp.asarray(x, device=device)
    y, whole = guarded(device, np.zeros((5, 3, 4), "int64"))
    copy[3, 4, 5](given, y).wait()
    assert_array_equal(pp.asnumpy(y), x.transpose(2, 0, 1))
    raises(lambda: copy[3, 4, 5](given[:, :, ::2], y).wait(), r"(3|4)", 3)
    raises(lambda: copy[3, 4, 6](given, y).wait(), 5, 5)
    assert_untouched(whole, (5, 3, 4))


def test_empty_arrays(device):
    @pp.kernel
    def fill(item: pp.Item, x):
        x[item.get_id(0)] = 1

    @pp.kernel
    def take(item: pp.Item, x, index, y):
        i = item.get_id(0)
        y[i] = x[index[i]]

    empty = pp.zeros(0, device=device)
    fill[0](empty).wait()
    raises(lambda: fill[1](empty).wait(), 0, 0, 0)
    y, whole = guarded(device, np.zeros(3))
    raises(lambda: take[3](empty, pp.zeros(3, dtype="int64", device=device), y).wait(), 0, 0)
    assert_untouched(whole, (3,))
    raises(lambda: fill[2](pp.zeros((2, 0), device=device)[0]).wait(), 0, 0)


def test_conditions_protect(device):
    @pp.kernel
    def blur(item: pp.Item, x, y):
        i = item.get_id(0)
        if i >= x.shape[0]:
            return
        y[i] = x[i]
        if 0 < i < x.shape[0] - 1:
            y[i] = (x[i - 1] + x[i + 1]) / 2

    x = np.arange(10.0) ** 2
    y, whole = guarded(device, np.zeros(10))
    blur[64](pp.asarray(x, device=device), y).wait()
    expected = x.copy()
    expected[1:-1] = (x[:-2] + x[2:]) / 2
    assert_array_equal(pp.asnumpy(y), expected)
    assert_untouched(whole, (10,))
    raises(lambda: blur[64](pp.asarray(x, device=device), y[:9]).wait(), 9, 9, 9)


def test_conditions_on_data_protect(device):
    @pp.kernel
    def take(item: pp.Item, x, index, y):
        i = item.get_id(0)
        k = index[i]
        if 0 <= k < len(x):
            y[i] = x[k]

    index = np.array([0, -1, 2, 100, 2**40, -(2**40)])
    y, _ = guarded(device, np.zeros(6))
    take[6](pp.arange(3.0, device=device) + 1, pp.asarray(index, device=device), y).wait()
    assert_array_equal(pp.asnumpy(y), [1, 0, 3, 0, 0, 0])


def test_a_loop_that_goes_out_in_its_last_round(device):
    @pp.kernel
    def sums(item: pp.Item, x, y, n):
        i = item.get_id(0)
        s = 0.0
        for k in range(n):
            s += x[i, k]
        y[i] = s

    x, y = pp.ones((5, 7), device=device), pp.zeros(5, device=device)
    for n in (0, 3, 7):
        sums[5](x, y, n).wait()
        assert_array_equal(pp.asnumpy(y), np.full(5, float(n)))
    raises(lambda: sums[5](x, y, 8).wait(), 7, 7, line="s += x[i, k]")
    sums[5](x, y, -4).wait()
    raises(lambda: sums[6](x, y, 7).wait(), 5, 5, 5)


def test_loops_of_other_steps(device):
    @pp.kernel
    def strided(item: pp.Item, x, y, start, stop, step):
        i = item.get_id(0)
        for k in range(start, stop, step):
            y[i, k] = x[k]

    def run(*bounds):
        y, whole = guarded(device, np.zeros((3, 10)))
        try:
            strided[3](pp.arange(10.0, device=device) + 1, y, *bounds).wait()
        finally:
            assert_untouched(whole, (3, 10))
        expected = np.zeros(10)
        expected[list(range(*bounds))] = np.array(range(*bounds)) + 1
        assert_array_equal(pp.asnumpy(y), np.tile(expected, (3, 1)))

    run(0, 10, 3)
    run(9, -1, -1)
    run(9, -1, -4)
    run(0, 12, 9)
    run(5, 5, 1)
    raises(lambda: run(0, 11, 5), 10, 10)
    raises(lambda: run(12, 3, -3), 12, 10)
    raises(lambda: run(0, 2**62, 2**61), 2**61, 10)


def test_loops_whose_bounds_are_data(device):
    @pp.kernel
    def rows(item: pp.Item, start, stop, column, value, x, y):
        i = item.get_id(0)
        s = 0.0
        for k in range(start[i], stop[i]):
            s += value[k] * x[column[k]]
        y[i] = s

    value, column, x = np.arange(20.0), np.arange(20) % 7, np.arange(7.0) + 1
    on = [pp.asarray(a, device=device) for a in (column, value, x)]

    def run(start, stop):
        y, whole = guarded(device, np.zeros(len(start)))
        try:
            rows[len(start)](pp.asarray(np.array(start), device=device), pp.asarray(np.array(stop), device=device), *on, y).wait()
        finally:
            assert_untouched(whole, (len(start),))
            expected = [
                sum(value[k] * x[column[k]] for k in range(a, b) if b - a < 30) for a, b in zip(start, stop, strict=True) if b <= 20
            ]
            assert_array_equal(pp.asnumpy(y)[: len(expected)], expected)

    run([0, 5, 20, 3, 7], [5, 20, 20, 3, 2])
    run([0, -20, -3, -5], [5, 0, 4, -2])  # they count from the end
    run([25, 30], [25, 20])  # nothing runs
    raises(lambda: run([0, 5, 15], [5, 20, 21]), 20, 20, 2, "s += value[k] * x[column[k]]")
    raises(lambda: run([0, 5, 40], [5, 20, 2**62]), 40, 20, 2)
    with pytest.raises(IndexError, match="index -21 is out of bounds for an axis of size 20"):
        rows[1](
            pp.asarray(np.array([-21]), device=device), pp.asarray(np.array([3]), device=device), *on, pp.zeros(1, device=device)
        ).wait()


def test_while_loops_end_where_they_fail(device):
    @pp.kernel
    def find(item: pp.Item, x, y):
        i = item.get_id(0)
        k = i
        while x[k] == 0:
            k += 1
        y[i] = k

    y = pp.zeros(3, dtype="int64", device=device)
    find[3](pp.asarray(np.array([0, 0, 0, 5]), device=device), y).wait()
    assert_array_equal(pp.asnumpy(y), [3, 3, 3])
    raises(lambda: find[3](pp.zeros(4, dtype="int64", device=device), y).wait(), 4, 4)


def test_searches_by_halving(device):
    @pp.kernel
    def search(item: pp.Item, x, wanted, found):
        i = item.get_id(0)
        low, high = 0, x.shape[0]
        while low < high:
            middle = (low + high) // 2
            if x[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low

    x, wanted = np.sort(np.random.default_rng(0).random(1000)), np.random.default_rng(1).random(300)
    found = pp.zeros(300, dtype="int64", device=device)
    search[300](pp.asarray(x, device=device), pp.asarray(wanted, device=device), found).wait()
    assert_array_equal(pp.asnumpy(found), np.searchsorted(x, wanted))


def test_parts_of_arrays(device):
    @pp.kernel
    def rows(item: pp.Item, x, y, which):
        i = item.get_id(0)
        row = x[which[i]]
        part = row[1:4]
        y[i, 0], y[i, 1] = row[2], part[2]

    x = np.arange(20.0).reshape(4, 5)
    which = np.array([3, 0, -1])
    y, whole = guarded(device, np.zeros((3, 2)))
    rows[3](pp.asarray(x, device=device), y, pp.asarray(which, device=device)).wait()
    assert_array_equal(pp.asnumpy(y), np.stack([x[which, 2], x[which, 3]], 1))
    which[1] = 4
    raises(lambda: rows[3](pp.asarray(x, device=device), y, pp.asarray(which, device=device)).wait(), 4, 4, 1, "row = x[which[i]]")
    raises(lambda: rows[2](pp.asarray(x[:, :3], device=device), y, pp.asarray(which * 0, device=device)).wait(), 2, 2)
    assert_untouched(whole, (3, 2))


def test_a_part_that_nobody_reads_is_checked_too(device):
    @pp.kernel
    def nothing(item: pp.Item, x):
        row = x[item.get_id(0)]  # noqa: F841

    raises(lambda: nothing[3](pp.zeros((2, 2), device=device)).wait(), 2, 2, 2)


def test_whole_rows_are_assigned(device):
    @pp.kernel
    def fill(item: pp.Item, x, which):
        i = item.get_id(0)
        x[which[i]] = 5

    x, whole = guarded(device, np.zeros((3, 20)))
    raises(lambda: fill[3](x, pp.asarray(np.array([0, 3, 2]), device=device)).wait(), 3, 3, 1)
    assert_array_equal(pp.asnumpy(x.accept()), np.repeat([[5.0], [0], [5]], 20, 1))
    assert_untouched(whole, (3, 20))


@pp.func
def element_of(x, k):
    return x[k] * 2


@pp.func
def set_element(x, k, value):
    x[k] = value


def test_functions_that_a_kernel_calls(device):
    @pp.kernel
    def called(item: pp.Item, x, y, by):
        i = item.get_id(0)
        set_element(y, i, element_of(x, i + by))

    x, y = pp.arange(5.0, device=device), pp.zeros(5, device=device)
    called[5](x, y, 0).wait()
    assert_array_equal(pp.asnumpy(y), np.arange(5.0) * 2)
    raises(lambda: called[5](x, y, 1).wait(), 5, 5, 4, "return x[k] * 2")
    raises(lambda: called[6](pp.arange(6.0, device=device), y, 0).wait(), 5, 5, 5, "x[k] = value")


@pp.struct
class Points:
    x: float
    y: float


def test_structs_of_arrays(device):
    @pp.kernel
    def swap(item: pp.Item, p, index):
        i = item.get_id(0)
        p[index[i]] = Points(p[i].y, p[i].x)

    x, whole = guarded(device, np.zeros(4))
    index = np.array([0, 1, 7, 3])
    points = Points(x, pp.arange(4.0, device=device) + 1)
    raises(lambda: swap[4](points, pp.asarray(index, device=device)).wait(), 7, 4, 2)
    assert_array_equal(pp.asnumpy(x.accept()), [1, 2, 0, 4])
    assert_untouched(whole, (4,))


def test_groups_local_memory_and_barriers(device):
    @pp.kernel
    def reverse(item: pp.NdItem, x, y, tile, by):
        i, k = item.get_global_id(0), item.get_local_id(0)
        tile[k] = x[i]
        pp.group_barrier(item.get_group())
        y[i] = tile[7 - k + by]

    def run(by, n=32):
        y, whole = guarded(device, np.zeros(32))
        tile = pp.LocalAccessor(8, "float64")
        try:
            reverse[pp.NdRange(n, 8)](pp.arange(32.0, device=device), y, tile, by).wait()
        finally:
            assert_untouched(whole, (32,))
        return pp.asnumpy(y)

    assert_array_equal(run(0), np.arange(32.0).reshape(4, 8)[:, ::-1].ravel())
    raises(lambda: run(1), 8, 8, line="tile[7 - k + by]")
    raises(lambda: run(0, 40), r"3\d", 32)


def test_private_arrays(device):
    @pp.kernel
    def sort(item: pp.Item, x, y, n):
        i = item.get_id(0)
        own = pp.private_array(4, "int64")
        for k in range(n):
            own[k] = x[i, k]
        y[i] = own[0] + own[n - 1]

    x = np.arange(12).reshape(3, 4)
    y, whole = guarded(device, np.zeros(3, "int64"))
    sort[3](pp.asarray(x, device=device), y, 4).wait()
    assert_array_equal(pp.asnumpy(y), x[:, 0] + x[:, 3])
    raises(lambda: sort[3](pp.asarray(np.zeros((3, 9), "int64"), device=device), y, 9).wait(), 4, 4)
    assert_untouched(whole, (3,))


def test_complex_elements(device):
    @pp.kernel
    def take(item: pp.Item, x, index, y):
        i = item.get_id(0)
        y[i] = x[index[i]]

    x = np.arange(6) + 1j
    index = np.array([5, 6, 0, -1])
    y = pp.zeros(4, dtype="complex128", device=device)
    raises(lambda: take[4](pp.asarray(x, device=device), pp.asarray(index, device=device), y).wait(), 6, 6, 1)
    assert_array_equal(pp.asnumpy(y.accept()), [x[5], 0, x[0], x[5]])


# --- one kernel, several launches


def test_launches_are_judged_each_by_itself(device):
    @pp.kernel
    def shift(item: pp.Item, x, y, by):
        i = item.get_id(0)
        y[i] = x[i + by]

    x, y = pp.arange(10.0, device=device), pp.zeros(10, device=device)
    for by, n in [(0, 10), (1, 10), (0, 10), (1, 9), (-1, 10), (-11, 1), (0, 10), (3, 7), (3, 8), (-10, 10)]:
        inside = [-10 <= i + by < 10 for i in range(n)]
        if all(inside):
            shift[n](x, y, by).wait()
            assert_array_equal(pp.asnumpy(y.accept())[:n], np.arange(10.0)[np.arange(n) + by])
        else:
            raises(lambda by=by, n=n: shift[n](x, y, by).wait(), ".*", 10, inside.index(False))


def test_a_device_goes_on_after_a_failure(device):
    @pp.kernel
    def shift(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i + 1]

    x, y = pp.arange(4.0, device=device), pp.zeros(4, device=device)
    with pytest.raises(IndexError, match="shift"):
        shift[4](x, y).wait()
    shift[3](x, y).wait()
    assert_array_equal(pp.asnumpy(y.accept())[:3], [1, 2, 3])
