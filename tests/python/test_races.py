# tests/python/test_races.py: race_check: what it reports, in which words, and what it lets pass.
import importlib
import math
import re

import numpy as np
import pardo as pp
import pytest
from groups import Cases
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

prange = pp.prange


def line_of(function, text):
    """The number of the line of a kernel that holds a text."""
    code = function._function.__code__
    with open(code.co_filename) as file:
        lines = file.read().splitlines()
    return next(n for n in range(code.co_firstlineno, len(lines) + 1) if text in lines[n - 1])


def raced(kernel, place, *arguments):
    """The message of the race that a launch finds."""
    with pytest.raises(pp.RaceError) as caught:
        kernel[place](*arguments)
    return str(caught.value)


def lines(message):
    """The line and the item, or iteration, of each of the two accesses, and what it did."""
    return [
        (int(n), item, does) for n, item, does in re.findall(r"line (\d+), in \w+: (\w+ \S+|\w+ \(.*?\)) (reads|writes|changes.*)", message)
    ]


# --- the words


def test_the_message_names_both_lines_both_items_the_array_and_the_index():
    @pp.kernel(race_check=True)
    def meet(item: pp.Item, x, y):
        i = item.get_id(0)
        if i < 2:
            x[0, i] = i  # early
        else:
            y[i] = x[0, 1] + 1  # late

    early, late = line_of(meet, "# early"), line_of(meet, "# late")
    assert raced(meet, 4, np.zeros((2, 2)), np.zeros(4)) == (
        "meet: `x[0, 1]` is written by item 1 and read by item 2, and nothing says which is first: "
        "items of a Range never wait for each other; give each elements of its own, or use pardo.atomic\n"
        f'  File "{__file__}", line {early}, in meet: item 1 writes\n'
        "    x[0, i] = i  # early\n"
        "    ^^^^^^^\n"
        f'  File "{__file__}", line {late}, in meet: item 2 reads\n'
        "    y[i] = x[0, 1] + 1  # late\n"
        "           ^^^^^^^"
    )


def test_the_error_is_a_runtime_error_of_the_call():
    @pp.kernel(race_check=True)
    def meet(item: pp.Item, x):
        x[0] = item.get_id(0)

    with pytest.raises(RuntimeError, match=r"`x\[0\]` is written by item 0 and by item 1"):
        meet[3](pp.zeros(2))


def test_items_of_more_dimensions():
    @pp.kernel(race_check=True)
    def meet(item: pp.Item, x):
        x[item.get_id(1)] = item.get_id(0)

    assert "`x[0]` is written by item (0, 0) and by item (1, 0)" in raced(meet, (2, 3), np.zeros(3))


# --- items of a range


def test_elements_of_their_own_are_no_race():
    @pp.kernel(race_check=True)
    def blur(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i - 1] + x[i] + x[i + 1 - len(x)]
        y[i] += 1
        y[i] /= y[i]

    x, y = np.arange(5.0), np.zeros(5)
    blur[5](x, y)
    assert_array_equal(y, 1)


def test_what_one_reads_and_another_writes():
    @pp.kernel(race_check=True)
    def shift(item: pp.Item, x):
        i = item.get_id(0)
        x[i] = x[i + 1]

    message = raced(shift, 3, np.zeros(4))
    assert "`x[1]` is read by item 0 and written by item 1" in message
    assert [(item, does) for _, item, does in lines(message)] == [("item 0", "reads"), ("item 1", "writes")]


@pytest.mark.parametrize("writer", [0, 1, 7])
def test_a_writer_among_many_readers(writer):
    @pp.kernel(race_check=True)
    def broadcast(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[0]
        if i == writer:
            x[0] = 1

    assert "`x[0]` is" in raced(broadcast, 8, np.zeros(1), np.zeros(8))


def test_an_item_may_write_what_it_alone_reads():
    @pp.kernel(race_check=True)
    def count(item: pp.Item, x):
        i = item.get_id(0)
        for _ in range(3):
            x[i] = x[i] + 1
        pp.atomic.add(x, i, 1)
        x[i] *= 2

    x = np.zeros(4)
    count[4](x)
    assert x.tolist() == [8] * 4


def test_atomics_do_not_race_with_atomics():
    @pp.kernel(race_check=True)
    def histogram(item: pp.Item, x, bins):
        pp.atomic.add(bins, x[item.get_id(0)], 1)

    bins = np.zeros((2, 3), "int32")
    histogram[6](np.array([0, 1, 1, 0, 1, 1]), bins[1])
    assert bins.tolist() == [[0, 0, 0], [2, 4, 0]]


@pytest.mark.parametrize("first", ["atomic", "plain"])
@pytest.mark.parametrize("writes", [True, False])
def test_an_atomic_races_with_what_is_none(first, writes):
    @pp.kernel(race_check=True)
    def mixed(item: pp.Item, x, y):
        if (item.get_id(0) == 0) == (first == "atomic"):
            pp.atomic.max(x, 1, 5)
        elif writes:
            x[1] = 3
        else:
            y[0] = x[1]

    message = raced(mixed, 2, np.zeros(2, "int32"), np.zeros(1))
    assert "`x[1]` is" in message
    assert "changed by an atomic by item" in message
    assert "changes it by an atomic" in message
    assert "use pardo.atomic in both places" in message


@pytest.mark.parametrize(
    ("body", "element"),
    [
        (lambda x, y, i: y.__setitem__(slice(i, i + 2), 7), "y[1, 0]"),
        (lambda x, y, i: y.__setitem__(slice(i, i + 2), x[:2]), "y[1, 0]"),
        (lambda x, y, i: x.__setitem__(slice(i, i + 1), x[i + 1 : i + 2]), "x[1, 0]"),
        (lambda x, y, i: x.__setitem__(slice(None), 0), "x[0, 0]"),
        (lambda x, y, i: x.T.__setitem__((1, -1 - i), x[-1, 1]), "x[3, 1]"),
        (lambda x, y, i: x[0].__setitem__(-1, i), "x[0, 2]"),
        (lambda x, y, i: [row.__setitem__(1, i) for row in x], "x[0, 1]"),
    ],
    ids=["filled", "copied", "read", "whole", "transposed", "row", "loop"],
)
def test_parts_of_arrays_count_element_by_element(body, element):
    @pp.kernel(race_check=True)
    def parts(item: pp.Item, x, y):
        body(x, y, item.get_id(0))

    assert f"`{element}` is" in raced(parts, 3, np.zeros((4, 3)), np.zeros((4, 3)))


def test_parts_that_do_not_meet():
    @pp.kernel(race_check=True)
    def rows(item: pp.Item, x, y):
        i = item.get_id(0)
        y[2 * i : 2 * i + 2] = x[i]
        row = y[2 * i]
        first, *_ = row
        row[1:] = first + x[0, 0]
        y.T[2, 2 * i + 1] += 1

    x, y = np.arange(9.0).reshape(3, 3) + 1, np.zeros((6, 3))
    rows[3](x, y)
    assert_array_equal(y[::2], np.stack([x[:, 0], x[:, 0] + 1, x[:, 0] + 1], -1))


def test_arguments_that_share_memory():
    @pp.kernel(race_check=True)
    def shift(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i]

    base = np.zeros(5)
    message = raced(shift, 4, base[:-1], base[1:])
    assert "`x[1]`, the same element as `y[0]`, is written by item 0 and read by item 1" in message
    shift[4](base[:-1], np.zeros(4))
    shift[4](base[:-1], base[:-1])
    every_second = np.zeros(8)
    shift[4](every_second[::2], every_second[1::2])


def test_memory_of_an_item_is_its_own():
    @pp.kernel(race_check=True)
    def sort(item: pp.Item, x):
        i = item.get_id(0)
        own, more = pp.private_array(2), np.zeros(2)
        own[0], own[1] = x[i, 1], x[i, 0]
        more[:] = own
        x[i] = more

    x = np.arange(6.0).reshape(3, 2)
    sort[3](x)
    assert x.tolist() == [[1, 0], [3, 2], [5, 4]]


@pp.struct
class Point:
    x: np.float64
    y: np.float64


def test_parts_of_structs_and_tuples_have_their_names():
    @pp.kernel(race_check=True)
    def swap(item: pp.Item, points, pair):
        i = item.get_id(0)
        p = points[i]
        points[i] = Point(p.y, p.x)
        pair[1][i] = pair[0][0]
        if i == 2:
            points.y[1] = 0

    points = Point(np.arange(3.0), np.zeros(3))
    assert "swap: `points.y[1]` is written by item 1 and by item 2" in raced(swap, 3, points, (np.zeros(3), np.zeros(3)))
    assert points.y.tolist() == [0, 1, 2]

    @pp.kernel(race_check=True)
    def fill(item: pp.Item, pair):
        pair[1][0] = item.get_id(0)

    assert "`pair[1][0]` is written" in raced(fill, 2, (np.zeros(3), np.zeros(3)))


def test_records_are_watched_field_by_field():
    @pp.jit(race_check=True)
    def step(r, places):
        for i in prange(len(r)):
            r["x"][i] += r[i]["v"]
        for i in prange(len(r)):
            r["v"][places[i]] = i

    r = np.zeros(4, np.dtype([("x", "f8"), ("v", "f8")]))
    r["v"] = np.arange(4)
    step(r, np.arange(4))
    assert r["x"].tolist() == [0, 1, 2, 3]
    with pytest.raises(pp.RaceError, match=r"step: `r\.v\[3\]` is written by iteration 1 and by iteration 3"):
        step(r, np.array([0, 3, 1, 3]))


def test_local_memory_of_structs():
    @pp.kernel(race_check=True)
    def share(item: pp.NdItem, out):
        both = pp.local_array(2, Point)
        k = item.get_local_id(0)
        both[k] = Point(k, -k)
        pp.group_barrier(item.get_group())
        out[item.get_global_id(0)] = both[1 - k].x
        both[0] = Point(0, 0)

    message = raced(share, pp.NdRange(4, 2), np.zeros(4))
    assert "is written by item 0 and read by item 1" in message
    assert "both[0] = Point(0, 0)" in message


def deep(array, k):
    array[k] += 1  # inside


def test_functions_that_kernels_call():
    @pp.kernel(race_check=True)
    def calls(item: pp.Item, x):
        deep(x, 3)

    message = raced(calls, 2, np.zeros(4))
    assert "calls: `x[3]` is written by item 0 and read by item 1" in message
    inside = deep.__code__.co_firstlineno + 1
    assert lines(message) == [(inside, "item 0", "writes"), (inside, "item 1", "reads")]
    assert "in deep:" in message


# --- groups


def reversed_groups(barriers):
    @pp.kernel(race_check=True)
    def turn(item: pp.NdItem, x, y):
        shared = pp.local_array(4, "float64")
        k, i = item.get_local_id(0), item.get_global_id(0)
        for _ in range(2):
            shared[k] = x[i]  # store
            if barriers > 0:
                pp.group_barrier(item.get_group())
            y[i] = shared[3 - k]  # load
            if barriers > 1:
                pp.group_barrier(item.get_group())

    return turn


def test_barriers_order_the_items_of_a_group():
    x, y = np.arange(8.0), np.zeros(8)
    reversed_groups(2)[pp.NdRange(8, 4)](x, y)
    assert y.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]


def test_no_barrier():
    kernel = reversed_groups(0)
    message = raced(kernel, pp.NdRange(8, 4), np.arange(8.0), np.zeros(8))
    assert "turn: `shared[2]` is read by item 1 and written by item 2" in message
    assert "write pardo.group_barrier() between the two, or use pardo.atomic" in message
    assert lines(message) == [(line_of(kernel, "# load"), "item 1", "reads"), (line_of(kernel, "# store"), "item 2", "writes")]


def test_a_barrier_is_missing_before_memory_is_used_again():
    message = raced(reversed_groups(1), pp.NdRange(8, 4), np.arange(8.0), np.zeros(8))
    assert re.search(r"`shared\[\d\]` is (read|written) by item \d and (written|read) by item \d", message)


def test_memory_that_the_caller_gives_has_the_name_of_the_parameter():
    @pp.kernel(race_check=True)
    def share(item: pp.NdItem, scratch):
        scratch[0, 1] = item.get_local_id(0)

    assert "`scratch[0, 1]` is written by item 0 and by item 1" in raced(share, pp.NdRange(4, 2), pp.LocalAccessor((2, 2)))


def test_barriers_do_not_order_groups():
    @pp.kernel(race_check=True)
    def total(item: pp.NdItem, x, out):
        pp.group_barrier(item.get_group())
        pp.group_barrier(item.get_group())
        if item.get_local_id(0) == item.get_group_id(0):
            out[0] += x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())

    message = raced(total, pp.NdRange(4, 2), np.zeros(4), np.zeros(1))
    assert "`out[0]` is written by item 0 and read by item 3" in message
    assert "items of different groups never wait for each other" in message


def test_a_writer_after_readers_of_several_groups():
    @pp.kernel(race_check=True)
    def last(item: pp.NdItem, x, y):
        y[item.get_global_id(0)] = x[0]
        pp.group_barrier(item.get_group())
        if item.get_global_id(0) == 5:
            x[0] = 1

    assert "`x[0]` is read by item" in raced(last, pp.NdRange(6, 2), np.zeros(1), np.zeros(6))


def test_global_memory_between_barriers_of_one_group():
    @pp.kernel(race_check=True)
    def tree(item: pp.NdItem, x):
        k, n = item.get_local_id(0), item.get_local_range(0)
        base = item.get_group_id(0) * n
        width = n // 2
        while width > 0:
            if k < width:
                x[base + k] += x[base + k + width]
            pp.group_barrier(item.get_group())
            width //= 2

    x = np.ones(16)
    tree[pp.NdRange(16, 8)](x)
    assert x[0] == x[8] == 8


def test_groups_have_memory_of_their_own():
    @pp.kernel(race_check=True)
    def each(item: pp.NdItem, out):
        shared = pp.local_array(1, "int64")
        if item.get_local_id(0) == 0:
            shared[0] = item.get_group_id(0)
        pp.group_barrier(item.get_group())
        out[item.get_global_id(0)] = shared[0]

    out = np.zeros(6, int)
    each[pp.NdRange(6, 2)](out)
    assert out.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("module", ["test_groups", "test_group_tiles", "test_barriers"])
def test_kernels_that_every_device_runs_alike_have_no_races(module, monkeypatch):
    monkeypatch.setenv("PARDO_RACE_CHECK", "1")
    cases = next(v for v in vars(importlib.import_module(module)).values() if isinstance(v, Cases))
    for make, _ in cases.values():
        kernel, place, *arguments = make()
        if math.prod(place.global_range) <= 128:
            kernel[place].interpret(*arguments)


# --- where it is asked for


def test_the_environment_variable_is_read_at_each_launch(monkeypatch):
    @pp.kernel
    def meet(item: pp.Item, x):
        x[0] = 1

    @pp.jit
    def loop(x, places):
        for i in prange(len(places)):
            x[places[i]] = 1

    x, places = pp.zeros(1), np.zeros(3, int)
    meet[4](x).wait()
    loop(np.zeros(1), places)
    for value in ("0", ""):
        monkeypatch.setenv("PARDO_RACE_CHECK", value)
        meet[4](x).wait()
    monkeypatch.setenv("PARDO_RACE_CHECK", "1")
    with pytest.raises(pp.RaceError, match="meet: "):
        meet[4](x)
    with pytest.raises(pp.RaceError, match="loop: "):
        loop(np.zeros(1), places)
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    with pytest.raises(pp.RaceError, match="loop: "):
        loop(np.zeros(1), places)


@pytest.mark.parametrize("device", pp.get_devices(), ids=str)
def test_arrays_of_every_device_have_the_results(device):
    if device.backend == "null":
        pytest.skip("computes nothing")

    @pp.kernel(race_check=True)
    def scale(item: pp.Item, x, a, y):
        i = item.get_id(0)
        y[i] = a * x[i]

    x, y = pp.arange(6, dtype="float32", device=device), pp.zeros(6, dtype="float32", device=device)
    event = scale[6](x, 3, y)
    assert isinstance(event, pp.Event)
    assert_array_equal(pp.asnumpy(y), 3 * np.arange(6))
    assert "`y[0]`" in raced(pp.kernel(race_check=True)(_fills), 2, y)


def _fills(item: pp.Item, y):
    y[0] = item.get_id(0)


# --- parallel loops


def test_rounds_of_a_loop():
    @pp.jit(race_check=True)
    def scatter(x, places):
        for i in prange(len(places)):
            x[places[i]] = i  # here

    x = np.zeros(5)
    scatter(x, np.array([4, 2, 0]))
    assert x.tolist() == [2, 0, 1, 0, 0]
    with pytest.raises(pp.RaceError) as caught:
        scatter(x, np.array([4, 2, 4]))
    here = line_of(scatter, "# here")
    assert str(caught.value) == (
        "scatter: `x[4]` is written by iteration 0 and by iteration 2, and nothing says which is first: "
        "iterations of a parallel loop run in parallel; give each elements of its own, reduce into a name, or use pardo.atomic\n"
        f'  File "{__file__}", line {here}, in scatter: iteration 0 writes\n'
        "    x[places[i]] = i  # here\n"
        "    ^^^^^^^^^^^^\n"
        f'  File "{__file__}", line {here}, in scatter: iteration 2 writes\n'
        "    x[places[i]] = i  # here\n"
        "    ^^^^^^^^^^^^"
    )


def test_reductions_and_names_of_a_round():
    shift = 2

    @pp.jit(race_check=True)
    def statistics(x, y, *, scale=1.0):
        total, most, some = 0.0, -np.inf, False
        for i in prange(1, len(x), 2):
            t = x[i] * scale
            total += t + shift
            most = max(most, t)
            some = some or t > 3
            y[i] = pp.sqrt(t)
        return total, most, some

    x, y = np.arange(8.0), np.zeros(8)
    assert statistics(x, y, scale=2.0) == (2 * 16 + 8, 14, True)
    assert_array_equal(y[1::2], np.sqrt(2 * x[1::2]))
    assert statistics(x[:0], y) == (0, -np.inf, False)


def test_two_dimensions_are_one_space():
    @pp.jit(race_check=True)
    def transpose(x, y, places):
        for i in prange(x.shape[0]):
            for j in prange(x.shape[1]):
                y[places[j], i] = x[i, j]

    x, y = np.arange(6).reshape(2, 3), np.zeros((3, 2), int)
    transpose(x, y, np.arange(3))
    assert_array_equal(y, x.T)
    with pytest.raises(pp.RaceError, match=r"`y\[1, 0\]` is written by iteration \(0, 1\) and by iteration \(0, 2\)"):
        transpose(x, y, np.array([0, 1, 1]))


def test_loops_inside_of_a_round_are_serial():
    @pp.jit(race_check=True)
    def sums(x, y):
        for i in prange(x.shape[0]):
            y[i] = 0
            for j in prange(x.shape[1]):
                y[i] += x[i, j]

    x, y = np.arange(6.0).reshape(2, 3), np.zeros(2)
    sums(x, y)
    assert_array_equal(y, x.sum(1))


def test_atomics_in_loops():
    @pp.jit(race_check=True)
    def histogram(x, bins):
        for i in prange(len(x)):
            pp.atomic.add(bins, x[i], 1)

    bins = np.zeros(3, "int64")
    histogram(np.array([1, 1, 2]), bins)
    assert bins.tolist() == [0, 2, 1]


def test_one_loop_after_the_other_and_what_stands_between():
    @pp.jit(race_check=True)
    def smooth(x):
        y = np.zeros(len(x))
        for _ in range(3):
            for i in prange(1, len(x) - 1):
                y[i] = (x[i - 1] + x[i + 1]) / 2
            for i in prange(1, len(x) - 1):
                x[i] = y[i]
        total = 0.0
        for i in range(1, len(x)):
            total += x[i] - x[i - 1]
        x[0] = total
        return (x + y).sum()

    x = np.arange(6.0)
    assert smooth(x) == 15 + 10 + 5
    assert x[0] == 5


def test_arrays_that_the_function_makes_are_watched_too():
    @pp.jit(race_check=True)
    def counts(x):
        out = np.zeros(4, int)
        for i in prange(len(x)):
            out[x[i]] = out[x[i] - 1] + 1
        return out

    with pytest.raises(pp.RaceError, match=r"`out\[2\]` is written by iteration 0 and read by iteration 1"):
        counts(np.array([2, 3]))


@pytest.mark.parametrize("device", pp.get_devices(), ids=str)
def test_loops_over_arrays_of_every_device(device):
    if device.backend == "null":
        pytest.skip("computes nothing")

    @pp.jit(race_check=True)
    def double(x, places):
        y = x * 2
        for i in prange(len(x)):
            x[places[i]] = y[i]
        return x

    x, places = pp.arange(4, dtype="float32", device=device), pp.asarray(np.array([3, 1, 0, 2]), device=device)
    assert pp.asnumpy(double(x, places)).tolist() == [4, 2, 6, 0]
    with pytest.raises(pp.RaceError, match=r"`x\[1\]` is written by iteration 0 and by iteration 2"):
        double(x, pp.asarray(np.array([1, 2, 1, 0]), device=device))
