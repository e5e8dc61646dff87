# tests/python/test_lane_loops.py: loops inside of items whose iterations become lanes, or are shared by threads, and the same text run by
# Python.
import math

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once


def neighbours_are_written_twice(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(y.shape[1] - 1):
            y[i, k] = x[i, k]
            y[i, k + 1] = 2 * x[i, k]


def both_ends(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(y.shape[1]):
            y[i, k] = x[i, k]
            y[i, y.shape[1] - 1 - k] = 2.0 + k


def two_names_of_one_row(x, y):
    for i in pp.prange(y.shape[0]):
        first = y[i, :-1]
        second = y[i, 1:]
        for k in range(second.shape[0]):
            first[k] = x[i, k]
            second[k] = 2 * x[i, k]


def rows_of_three_dimensions(x, y, cube):
    for i in pp.prange(cube.shape[0]):
        for j in range(cube.shape[1]):
            for k in range(cube.shape[2]):
                cube[i, j, k] = x[i, k] * j + y[j, k]


def sums_of_rounds(x, y):
    for i in pp.prange(y.shape[0]):
        for j in range(5):
            for k in range(y.shape[1]):
                y[i, k] += x[i, k] * j


def shifted_by_the_loop_around(x, y):
    for i in pp.prange(y.shape[0]):
        for j in range(5):
            for k in range(y.shape[1] - 5):
                y[i, k + j] = y[i, k + j] * 0.5 + x[i, k]


def begun_by_the_loop_around(x, y):
    for i in pp.prange(y.shape[0]):
        for j in range(40):
            for k in range(j, y.shape[1]):
                y[i, k] += x[i, j]


def shifted_by_a_name(x, y):
    for i in pp.prange(y.shape[0]):
        for j in range(5):
            off = j * 3
            row = y[i, off:]
            for k in range(40):
                row[k] = row[k] * 0.5 + x[i, k]


def in_a_while_loop(x, y):
    for i in pp.prange(y.shape[0]):
        t = 0
        while t < 3 or x[i, t] > 0:
            t += 1
            for k in range(y.shape[1]):
                y[i, k] = y[i, k] * 0.5 + x[i, k] + t


def last_of_the_round_before(x, y):
    for i in pp.prange(y.shape[0]):
        carried = 0.0
        for j in range(3):
            for k in range(y.shape[1]):
                y[i, k] = x[i, k] + carried
                carried = x[i, k] + j


@pp.func
def shifted(row, x, j):
    for k in range(40):
        row[k + j] = row[k + j] * 0.5 + x[k]


def by_a_function(x, y):
    for i in pp.prange(y.shape[0]):
        for j in range(5):
            shifted(y[i], x[i], j)


# What one loop writes the next one reads: threads that share the loops would have to wait for each other.
def read_by_the_next_loop(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(y.shape[1]):
            y[i, k] = 2 * x[i, k]
        for k in range(1, y.shape[1]):
            x[i, k] = y[i, k - 1] + 1


def same_elements_in_the_next_loop(x, y):
    for i in pp.prange(y.shape[0]):
        total = 0.0
        for k in range(y.shape[1]):
            y[i, k] = x[i, k] * x[i, k]
        for k in range(y.shape[1]):
            total += y[i, k]
        for k in range(y.shape[1]):
            y[i, k] = y[i, k] - total


def next_loop_begins_elsewhere(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(y.shape[1]):
            y[i, k] = x[i, k]
        for k in range(7, y.shape[1]):
            y[i, k] = y[i, k] * 2


def ends_are_written_behind(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(y.shape[1]):
            y[i, k] = x[i, k]
        y[i, 0] = 7.0
        y[i, 77] = y[i, 78]


def ends_are_written_before(x, y):
    for i in pp.prange(y.shape[0]):
        y[i, 0] = 7.0
        y[i, 77] = y[i, 78]
        for k in range(5, y.shape[1]):
            y[i, k] = x[i, k] + y[i, k]


def an_element_of_the_item(x, y):
    for i in pp.prange(y.shape[0]):
        scale = x[i, 0]
        x[i, 0] = scale * 2
        for k in range(y.shape[1]):
            y[i, k] = scale + k


# Ways to what a loop writes that are no plain element of it.
def transposed(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(1, y.shape[1]):
            y[i, k] = y.T[k - 1, i] + x[i, k]


def through_a_tuple(x, y):
    for i in pp.prange(y.shape[0]):
        t = (x, y)
        for k in range(1, y.shape[1]):
            y[i, k] = t[1][i, k - 1] + x[i, k]


def through_a_tuple_of_the_round(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(1, y.shape[1]):
            t = (x, y)
            y[i, k] = t[1][i, k - 1] + x[i, k]


def by_a_choice(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(1, y.shape[1]):
            y[i, k] = (y if y.ndim == 2 else x)[i, k - 1] + x[i, k]


def from_the_end(x, y):
    for i in pp.prange(y.shape[0]):
        row = y[i, :5]
        for k in range(-row.shape[0], row.shape[0]):
            row[k] = row[k] * 2 + x[i, k]


def far_from_the_end(x, y):
    for i in pp.prange(y.shape[0]):
        n = y.shape[1]
        for k in range(n // 10):
            y[i, k * 20 - n] = y[i, k * 20 - n] * 2 + x[i, k]


def counters_that_are_assigned(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(y.shape[1]):
            k = k // 2
            y[i, k] = y[i, k] + x[i, k] + 1


def counters_of_two_loops(x, y):
    for i in pp.prange(y.shape[0]):
        for k in range(y.shape[1]):
            for k in range(2, 5):
                y[i, k] = y[i, k] + k - x[i, k]


PROGRAMS = [
    neighbours_are_written_twice,
    both_ends,
    two_names_of_one_row,
    sums_of_rounds,
    shifted_by_the_loop_around,
    begun_by_the_loop_around,
    shifted_by_a_name,
    in_a_while_loop,
    by_a_function,
    read_by_the_next_loop,
    same_elements_in_the_next_loop,
    next_loop_begins_elsewhere,
    ends_are_written_behind,
    ends_are_written_before,
    an_element_of_the_item,
    transposed,
    through_a_tuple,
    through_a_tuple_of_the_round,
    by_a_choice,
    from_the_end,
    far_from_the_end,
    counters_that_are_assigned,
    counters_of_two_loops,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_python_runs_them(program, rng):
    x = rng.integers(-8, 8, (70, 300)).astype("float64")  # sums of which are exact
    x[:, 40:] = -np.abs(x[:, 40:])
    y = rng.integers(-8, 8, x.shape).astype("float64")
    expected_x, expected_y = x.copy(), y.copy()
    program(expected_x, expected_y)
    on_device = pp.asarray(x), pp.asarray(y)
    pp.jit(program)(*on_device)
    assert_array_equal(pp.asnumpy(on_device[0]), expected_x)
    assert_array_equal(pp.asnumpy(on_device[1]), expected_y)


def test_names_that_go_from_round_to_round(rng):
    x = rng.integers(-8, 8, (5, 300)).astype("float64")
    y, expected = pp.zeros(x.shape), np.zeros(x.shape)
    last_of_the_round_before(x, expected)
    pp.jit(last_of_the_round_before)(pp.asarray(x), y)
    assert_array_equal(pp.asnumpy(y), expected)


def rows_by_name(x, y, cube):
    for i in pp.prange(cube.shape[0]):
        row, part = y[i], cube[i]
        for k in range(cube.shape[1]):
            row[k] = x[i, k]
            part[k] = row


def rows_over_elements(x, y, cube):
    for i in pp.prange(cube.shape[0]):
        for k in range(cube.shape[1]):
            cube[i, 0, k] = x[i, k]
            cube[i, k] = 5.0


@pytest.mark.parametrize("program", [rows_by_name, rows_over_elements], ids=lambda p: p.__name__)
def test_rows_are_many_elements(program, rng):
    x, y, cube = rng.random((6, 40)), rng.random((6, 40)), np.zeros((6, 40, 40))
    on_device = [pp.asarray(each) for each in (x, y, cube)]
    program(x, y, cube)
    pp.jit(program)(*on_device)
    for mine, each in zip(on_device, (x, y, cube), strict=True):
        assert_array_equal(pp.asnumpy(mine), each)


def test_counters_of_parallel_loops_that_are_assigned():
    @pp.jit
    def f(r):
        for i in pp.prange(40):
            i = 3
            r[i] += 1

    r = pp.zeros(40)
    f(r)
    assert [r[2], r[3], r[4]] == [0, 40, 0]


def test_innermost_of_three_loops(rng):
    x, y, cube = rng.random((6, 50)), rng.random((40, 50)), np.zeros((6, 40, 50))
    rows_of_three_dimensions(x, y, cube)
    f = pp.jit(rows_of_three_dimensions)
    result = pp.zeros(cube.shape)
    f(pp.asarray(x), pp.asarray(y), result)
    assert_array_equal(pp.asnumpy(result), cube)
    if result.device.backend == "cpu":
        line = rows_of_three_dimensions.__code__.co_firstlineno + 3
        assert f"line {line}: the loop's iterations are the lanes" in f.diagnostics(), f.diagnostics()


# What is written and larger than 8 MiB bypasses the caches.
LARGE = 3_000_001


@pp.kernel
def each(item: pp.Item, x, y, z):
    i = item.get_id(0)
    y[i] = x[i]
    z[i] = x[i]


@pp.jit
def long_body(x, y):
    for i in pp.prange(x.shape[0]):
        v = x[i]
        for _ in range(12):
            v = v * v * 0.5 + v * 0.25 - 0.125
        y[i] = v


@pp.jit
def outer(x, y, out):
    for i in pp.prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i] - y[j]


@pp.kernel
def changed(item: pp.Item, x, y):
    i = item.get_id(0)
    y[i] += x[i]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("first", [0, 1, 5])
def test_large_results(dtype, first, rng):
    size = max(LARGE, (9 << 20) // np.dtype(dtype).itemsize)
    host = rng.integers(0, 2, size).astype(dtype)
    x, y, z = pp.asarray(host), pp.zeros(size + first, dtype=dtype), pp.zeros(size, dtype=dtype)
    each[pp.Range(size)](x, y[first:], z)
    assert_array_equal(pp.asnumpy(y)[first:], host)
    assert_array_equal(pp.asnumpy(y)[:first], np.zeros(first, dtype))
    assert_array_equal(pp.asnumpy(z), host)


def test_large_results_of_long_bodies(rng):
    host = rng.random(LARGE)
    expected = host.copy()
    for _ in range(12):
        expected = expected * expected * 0.5 + expected * 0.25 - 0.125
    for first in (0, 3):
        y = pp.zeros(LARGE + first)
        long_body(pp.asarray(host), y[first:])
        np.testing.assert_allclose(pp.asnumpy(y)[first:], expected, rtol=1e-14)


@pp.jit
def formula(x, y, z):
    for i in pp.prange(x.shape[0]):
        t = math.exp(-0.3 * x[i]) * math.sqrt(x[i]) + math.log(x[i]) / (x[i] + 1.0)
        y[i] = t + 0.5 * math.exp(0.1 * t) + math.exp(0.7 * t)
        z[i] = t * t + math.log(x[i] + 3.0)


@pytest.mark.parametrize("size", [LARGE, 1_200_000])
def test_large_results_of_formulas(size, rng):
    host = rng.uniform(0.5, 4, size)
    t = np.exp(-0.3 * host) * np.sqrt(host) + np.log(host) / (host + 1.0)
    wanted = t + 0.5 * np.exp(0.1 * t) + np.exp(0.7 * t), t * t + np.log(host + 3.0)
    x = pp.asarray(host)
    for first in ((0, 0), (1, 1), (3, 8), (12, 4)):
        out = [pp.zeros(size + 16) for _ in range(2)]
        formula(x, *(y[k : k + size] for y, k in zip(out, first, strict=True)))
        for y, k, expected in zip(out, first, wanted, strict=True):
            found = pp.asnumpy(y)
            np.testing.assert_allclose(found[k : k + size], expected, rtol=1e-12)
            assert not found[:k].any()
            assert not found[k + size :].any()


@pytest.mark.parametrize("columns", [1, 3, 7, 64, 1000, 4099])
def test_large_results_by_rows(columns, rng):
    rows = (1 << 21) // columns
    x, y = rng.random(rows), rng.random(columns)
    out = pp.zeros((rows, columns))
    outer(pp.asarray(x), pp.asarray(y), out)
    assert_array_equal(pp.asnumpy(out), x[:, None] - y[None, :])


def test_numpy_arrays_at_odd_places(rng):
    host = rng.random(LARGE)
    places = [np.zeros(LARGE + 8)[first : first + LARGE] for first in (1, 4)]
    with pp.device_context("cpu"):
        each[pp.Range(LARGE)](host, *places)
    for place in places:
        assert_array_equal(place, host)


def test_only_what_is_written_and_large_bypasses_caches():
    if pp.Device().backend != "cpu":
        pytest.skip("the texts of other devices leave this to their compilers")

    def bypasses(kernel, size, *arrays):
        return "!nontemporal" in kernel[pp.Range(size)].inspect(*arrays, what="llvm")

    x, y, z = (pp.zeros(LARGE) for _ in range(3))
    assert bypasses(each, LARGE, x, y, z)
    assert not bypasses(changed, LARGE, x, y)
    assert not bypasses(each, 1000, x, y, z)
    assert not bypasses(each, LARGE, x, y[::-1], z[::-1])


def distances_of_rows(x, y):
    for i in pp.prange(y.shape[0]):
        for j in pp.prange(x.shape[0]):
            s = y.dtype.type(0)
            for k in range(x.shape[1]):
                t = x[i, k] - x[j, k]
                s += t * t
            y[i, j] = s


def parts_of_rows(x, y):
    for i in pp.prange(y.shape[0]):
        for j in pp.prange(y.shape[1]):
            s = y[i, j]
            for k in range(2, x.shape[1] - 1):
                s = s * x[j, k] + x[j, k - 1] + k
            y[i, j] = s


@pytest.mark.parametrize("function", [distances_of_rows, parts_of_rows])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.varied("shape")
@pytest.mark.parametrize("shape", [(19, 37), (16, 16), (33, 8), (8, 7)])
def test_lanes_that_walk_along_rows(function, dtype, shape):
    """Pieces of rows are loaded at once: each lane still goes through its own row in order, and reads nothing else."""
    n, m = shape
    wide = np.random.default_rng(5).integers(-9, 9, (n, m + 3)).astype(dtype) / np.dtype(dtype).type(2)
    wide = wide.astype(dtype)
    for x in (wide[:, :m].copy(), wide[:, 1 : m + 1], wide[::-1, 3:]):
        y = np.ones((n, n), dtype)
        expected = y.copy()
        if function is distances_of_rows:
            expected[:] = 0
            for k in range(m):
                t = x[:, None, k] - x[None, :, k]
                expected += t * t
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                for k in range(2, m - 1):
                    expected = expected * x[:, k] + x[:, k - 1] + np.dtype(dtype).type(k)
        pp.jit(function)(x, y)
        assert_array_equal(y, expected)


def test_lanes_that_walk_along_steps():
    @pp.jit
    def sums(x, y):
        for i in pp.prange(y.shape[0]):
            s = 0.0
            for k in range(11):
                s = s / 2 + x[11 * i + k]
            y[i] = s

    x, y = np.random.default_rng(2).random(11 * 45), np.empty(45)
    sums(x, y)
    expected = np.zeros(45)
    for k in range(11):
        expected = expected / 2 + x[k::11]
    assert_array_equal(y, expected)
