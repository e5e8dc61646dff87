# tests/python/test_interpret.py: kernels as plain Python: what items know, what they share, barriers, and what goes wrong.
import math
import threading
import traceback

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal
from pardo import exp as exponential

pytestmark = pytest.mark.once


def interpret(kernel, place, *arguments):
    kernel[place].interpret(*arguments)
    return arguments


def line_of(function, text):
    """The number of the line of a kernel that holds a text."""
    code = function._function.__code__
    with open(code.co_filename) as file:
        lines = file.read().splitlines()
    return next(n for n in range(code.co_firstlineno, len(lines) + 1) if text in lines[n - 1])


# --- what items know


@pp.kernel
def item_knows(item: pp.Item, out):
    row = out[item.get_linear_id()]
    row[0], row[1], row[2] = item.get_id(0), item.get_id(1), item.get_id(-1)
    row[3], row[4], row[5] = item.get_range(0), item.get_range(1), item.get_linear_range()
    row[6], row[7] = item[0], item[1]
    row[8], row[9] = pp.get_global_id(1), pp.get_global_size(0)


@pp.kernel
def nd_item_knows(item: pp.NdItem, out):
    row = out[item.get_global_linear_id()]
    row[0], row[1], row[2] = item.get_global_id(0), item.get_local_id(1), item.get_group_id(0)
    row[3], row[4], row[5] = item.get_global_range(1), item.get_local_range(0), item.get_group_range(1)
    row[6], row[7], row[8] = item.get_local_linear_id(), item.get_group_linear_id(), item[1]
    group = item.get_group()
    row[9], row[10], row[11] = group.get_group_id(1), group.get_local_id(0), group.get_group_range(0)
    row[12], row[13], row[14] = group.get_local_range(1), group.get_group_linear_id(), group.get_group_linear_range()
    row[15], row[16] = group.get_local_linear_id(), group.get_local_linear_range()
    row[17], row[18], row[19] = pp.get_global_id(0), pp.get_local_id(0), pp.get_group_id(1)
    row[20], row[21], row[22] = pp.get_global_size(1), pp.get_local_size(1), pp.get_num_groups(1)


@pp.kernel
def one_dimension(item: pp.NdItem, out):
    row = out[item.get_global_id()]
    row[0], row[1], row[2] = item.get_local_id(), item.get_group_id(), item.get_group().get_local_range()
    row[3], row[4], row[5] = pp.get_global_id(), pp.get_local_size(), pp.get_num_groups()


@pytest.mark.parametrize(
    ("kernel", "place", "columns"),
    [
        (item_knows, pp.Range(3, 5), 10),
        (nd_item_knows, pp.NdRange((4, 6), (2, 3)), 23),
        (one_dimension, pp.NdRange(12, 4), 6),
    ],
    ids=["Item", "NdItem", "one dimension"],
)
def test_items_know_what_compiled_ones_do(kernel, place, columns):
    items = math.prod(place if isinstance(place, pp.Range) else place.global_range)
    compiled = pp.zeros((items, columns), dtype="int64")
    kernel[place](compiled).wait()
    (plain,) = interpret(kernel, place, np.zeros((items, columns), "int64"))
    assert_array_equal(plain, pp.asnumpy(compiled))


def test_items_without_an_annotation():
    @pp.kernel
    def of_range(i, out):
        out[i.get_id(0)] = i.get_range(0)

    @pp.kernel
    def of_groups(i, out):
        out[i.get_global_id(0)] = i.get_group_id(0)

    @pp.kernel
    def none(out):
        out[pp.get_global_id(0)] += 1

    out = np.zeros(4, int)
    interpret(of_range, 4, out)
    assert out.tolist() == [4, 4, 4, 4]
    interpret(of_groups, pp.NdRange(4, 2), out)
    assert out.tolist() == [0, 0, 1, 1]
    interpret(none, 4, out)
    assert out.tolist() == [1, 1, 2, 2]


def test_objects_are_of_the_annotated_classes_and_say_where_they_are():
    seen = []

    @pp.kernel
    def look(item: pp.NdItem):
        group = item.get_group()
        seen.append((isinstance(item, pp.NdItem), isinstance(group, pp.Group), repr(item), repr(group)))

    interpret(look, pp.NdRange((2, 2), (1, 2)))
    assert seen[-1] == (True, True, "NdItem(1, 1)", "Group(1, 0)")
    assert len(seen) == 4


def test_items_run_in_order():
    seen = []

    @pp.kernel
    def note(item: pp.NdItem):
        seen.append(item.get_global_linear_id())
        pp.group_barrier(item.get_group())
        seen.append(10 + item.get_global_linear_id())

    interpret(note, pp.NdRange(6, 3))
    assert seen == [0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15]


@pytest.mark.parametrize("name", ["get_global_id", "get_local_id", "get_num_groups", "group_barrier", "local_array", "private_array"])
def test_functions_of_kernels_still_raise_outside(name):
    interpret(item_knows, pp.Range(1, 1), np.zeros((1, 10)))
    with pytest.raises(TypeError, match=f"{name}: this is an operation of kernels"):
        getattr(pp, name)(*([3] if name.endswith("array") else []))
    with pytest.raises(TypeError, match=r"atomic\.add: this is"):
        pp.atomic.add(np.zeros(1), 0, 1)


# --- arguments


def test_numpy_arrays_change_in_place_and_views_are_shared():
    @pp.kernel
    def shift(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i] + 1

    base = np.zeros(5)
    interpret(shift, 4, base[:-1], base[1:])  # each item sees what the one before wrote
    assert base.tolist() == [0, 1, 2, 3, 4]
    on_device = pp.zeros(5)
    interpret(shift, 4, on_device[:-1], on_device[1:])
    if on_device.device.backend == "cpu":
        assert_array_equal(pp.asnumpy(on_device), base)


@pytest.mark.parametrize("device", pp.get_devices(), ids=str)
def test_arrays_of_pardo_have_the_results(device):
    if device.backend == "null":
        pytest.skip("computes nothing")

    @pp.kernel
    def scale(item: pp.Item, x, a, y):
        i = item.get_id(0)
        y[i] = a * x[i]
        x[i] = 0

    x = pp.arange(6, dtype="float32", device=device)
    before = x + 1
    base = pp.zeros(12, dtype="float32", device=device)
    interpret(scale, 6, x, 3, base[::2])
    assert_array_equal(pp.asnumpy(before), np.arange(6) + 1)
    assert_array_equal(pp.asnumpy(base)[::2], 3 * np.arange(6))
    assert_array_equal(pp.asnumpy(base)[1::2], 0)
    assert_array_equal(pp.asnumpy(x), 0)


@pytest.mark.parametrize("device", pp.get_devices(), ids=str)
def test_one_array_twice_is_one_array(device):
    if device.backend == "null":
        pytest.skip("computes nothing")

    @pp.kernel
    def both(item: pp.Item, x, y):
        i = item.get_id(0)
        x[i] += 1
        y[i] *= 2

    x = pp.arange(4, device=device)
    interpret(both, 4, x, x)
    assert pp.asnumpy(x).tolist() == [2, 4, 6, 8]


def test_constants_and_closures_are_plain_values():
    width = 3

    @pp.kernel
    def fill(item: pp.Item, out, n: pp.Const[int]):
        a = pp.private_array(n, "int32")
        for k in range(n):
            a[k] = k * width
        out[item.get_id(0)] = a[n - 1]

    (out, _) = interpret(fill, 2, np.zeros(2), 5)
    assert out.tolist() == [12, 12]


def test_arguments_that_do_not_fit():
    @pp.kernel
    def takes_two(item: pp.Item, x, y):
        x[item.get_id(0)] = y[0]

    with pytest.raises(TypeError, match="takes_two: takes 2 arguments, but 1 was given"):
        interpret(takes_two, 3, np.zeros(3))
    with pytest.raises(TypeError, match="`y` is memory of a group, and a plain Range has no groups"):
        interpret(takes_two, 3, np.zeros(3), pp.LocalAccessor(3))
    with pytest.raises(ValueError, match="is not a multiple of the local one, 4"):
        interpret(one_dimension, pp.NdRange(10, 4), np.zeros((10, 6)))
    with pytest.raises(ValueError, match=r"NdRange: the global range .* different numbers of dimensions"):
        interpret(one_dimension, pp.NdRange((8, 8), 4), np.zeros((10, 6)))


# --- what kernels call


@pp.func
def sigmoid(x):
    return 1 / (1 + pp.exp(-x))


def test_functions_of_pardo_give_numbers():
    kinds = set()

    @pp.kernel
    def mathematics(item: pp.Item, x, y):
        i = item.get_id(0)
        v = x[i]
        terms = (sigmoid(v), pp.sin(v), exponential(v), pp.special.erf(v), pp.maximum(v, 0.5), pp.atan2(v, 2.0), np.sqrt(v), math.cos(v))
        kinds.update(type(t) for t in terms)
        y[i] = terms[0]
        a = pp.zeros(2)
        a[1] = v
        y[i] += a[0] + a[1]

    x = np.linspace(0.1, 2, 5)
    _, y = interpret(mathematics, 5, x, np.zeros(5))
    assert kinds == {np.float64, float}
    assert_array_equal(y, 1 / (1 + np.exp(-x)) + x)


def test_kernels_and_compiled_functions_are_called_as_they_were_written():
    @pp.jit
    def total(x):
        s = 0.0
        for k in pp.prange(len(x)):
            s += x[k]
        return s

    @pp.kernel
    def inner(x, i):
        x[i] += total(x)

    @pp.kernel
    def outer(item: pp.Item, x):
        inner(x, item.get_id(0))

    (x,) = interpret(outer, 3, np.ones(3))
    assert x.tolist() == [4, 7, 13]


def test_integers_and_divisions_do_not_warn():
    @pp.kernel
    def wrap(item: pp.NdItem, x, y):
        pp.group_barrier()
        i = item.get_global_id(0)
        x[i] = x[i] * x[i] + np.uint32(7)
        y[i] = np.float32(1) / y[i]

    x, y = interpret(wrap, pp.NdRange(4, 2), np.full(4, 2**31 + 3, "uint32"), np.zeros(4, "float32"))
    assert x[0] == ((2**31 + 3) ** 2 + 7) % 2**32
    assert np.isinf(y).all()


# --- atomics

OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "min": min,
    "max": max,
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exchange": lambda a, b: b,
}


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_atomics(name, dtype):
    operation = getattr(pp.atomic, name)

    @pp.kernel
    def apply(item: pp.Item, x, values, before):
        i = item.get_id(0)
        before[i] = operation(x, (0, -1), values[i])

    values = np.array([3, 1, 4, 1, 5, 9, 2, 6], dtype)
    x, before = np.full((2, 3), 7, dtype), np.zeros(8, dtype)
    if name in ("and_", "or_", "xor") and "float" in dtype:
        with pytest.raises(TypeError, match=f"atomic.{name}: and, or, xor are for integers"):
            interpret(apply, 8, x, values, before)
        return
    interpret(apply, 8, x, values, before)
    expected = [np.array(7, dtype)[()]]
    with np.errstate(over="ignore"):
        for v in values:
            expected.append(OPERATIONS[name](expected[-1], v))
    assert before.tolist() == expected[:-1]
    assert x.tolist() == [[7, 7, expected[-1]], [7, 7, 7]]


def test_compare_exchange():
    @pp.kernel
    def swap(item: pp.Item, x, out):
        i = item.get_id(0)
        out[i] = pp.atomic.compare_exchange(x, 0, i, i + 2)

    x, out = interpret(swap, 4, np.zeros(1, "int32"), np.zeros(4, int))
    assert out.tolist() == [0, 2, 2, 4]
    assert x[0] == 4


@pytest.mark.parametrize(
    ("array", "index", "value", "message"),
    [
        (np.zeros(3, "int16"), 0, 1, r"atomic.add: atomics are for int32.* the array is int16"),
        (np.zeros((3, 3)), 0, 1, r"atomic.add: the array has 1 dimensions more; give an index for each, as a tuple"),
        (np.zeros(3, "int32"), 0, 1.5, r"atomic.add: a Python float does not fit the int32 array"),
        (3, 0, 1, r"atomic.add: the first argument is an array, not int"),
    ],
)
def test_atomics_that_kernels_do_not_have(array, index, value, message):
    @pp.kernel
    def apply(a):
        pp.atomic.add(array, index, value)

    with pytest.raises(TypeError, match=message):
        interpret(apply, 1, 0)


# --- memory of groups and items


def test_local_arrays_are_one_for_each_group_and_each_place():
    def other(n):
        return pp.local_array(n, "int32")

    @pp.kernel
    def share(item: pp.NdItem, out):
        i = item.get_local_id(0)
        a, b, c = pp.local_array(4, "int32"), other(4), other(4)
        for _ in range(2):
            d = pp.local_array(4, "int32")  # the same memory in each iteration
            d[i] = 1 if d[i] > 100 else d[i] + 1
        a[i], b[i], c[i] = i, 10 * i, 100 * i
        pp.group_barrier(item.get_group())
        out[item.get_global_id(0)] = a[3 - i] + b[3 - i] + c[3 - i] + 1000 * d[3 - i] + 10000 * item.get_group_id(0)

    (out,) = interpret(share, pp.NdRange(8, 4), np.zeros(8, int))
    assert out.tolist() == [2333, 2222, 2111, 2000, 12333, 12222, 12111, 12000]


def test_local_accessors_are_one_array_a_group():
    seen = []

    @pp.kernel
    def reverse(item: pp.NdItem, x, a, b):
        seen.append((a.shape, a.dtype, b.shape))
        i, n = item.get_local_id(0), item.get_local_range(0)
        a[i] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = a[n - 1 - i]

    x, *_ = interpret(reverse, pp.NdRange(6, 3), np.arange(6.0), pp.LocalAccessor(3, "float32"), pp.LocalAccessor((2, 5)))
    assert x.tolist() == [2, 1, 0, 5, 4, 3]
    assert seen[0] == ((3,), np.float32, (2, 5))


def test_memory_that_nobody_wrote_shows():
    @pp.kernel
    def read(item: pp.NdItem, x, y):
        i = item.get_global_id(0)
        x[i] = pp.local_array(2, "float32")[0] + pp.private_array((2, 2))[1, 1]
        y[i] = pp.private_array(3, "uint8")[2]

    x, y = interpret(read, pp.NdRange(2, 1), np.zeros(2), np.zeros(2, int))
    assert np.isnan(x).all()
    assert y.tolist() == [255, 255]


def test_local_arrays_of_another_shape_for_another_item_raise():
    @pp.kernel
    def wrong(item: pp.NdItem):
        pp.local_array(item.get_local_id(0) + 1)

    with pytest.raises(RuntimeError, match=r"local_array: another item of the group made this array as float64\[1\]"):
        interpret(wrong, pp.NdRange(2, 2))


# --- exceptions


@pytest.mark.parametrize("which", [0, 1, 3])
@pytest.mark.parametrize("barriers", [0, 1, 2])
def test_exceptions_come_with_their_line_and_item(which, barriers):
    ended = []

    @pp.kernel
    def fails(item: pp.NdItem, x, which):
        try:
            for _ in range(barriers):
                pp.group_barrier(item.get_group())
            if item.get_local_id(0) == which:
                x[99] = 1  # beyond
            pp.group_barrier(item.get_group())
        finally:
            ended.append(item.get_global_id(0))

    before = threading.active_count()
    with pytest.raises(IndexError, match="index 99 is out of bounds") as caught:
        interpret(fails, pp.NdRange(8, 4), np.zeros(8), which)
    assert caught.value.__notes__ == [f"in item {which} of fails"]
    assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno == line_of(fails, "# beyond")
    assert threading.active_count() == before
    assert sorted(ended) == list(range(4 if barriers else which + 1))


def test_arrays_have_what_was_written_before_an_exception():
    @pp.kernel
    def fails(item: pp.Item, x):
        i = item.get_id(0)
        assert i < 2, "far enough"
        x[i] = 1

    for device in pp.get_devices():
        if device.backend != "null":
            x = pp.zeros(4, device=device)
            with pytest.raises(AssertionError, match="far enough"):
                interpret(fails, 4, x)
            assert pp.asnumpy(x).tolist() == [1, 1, 0, 0]


# --- PARDO_INTERPRET, and functions with loops


def test_the_environment_variable_is_read_at_each_launch(monkeypatch):
    seen = []

    @pp.kernel
    def note(item: pp.Item, x):
        seen.append(item.get_id(0))  # nothing that can be compiled
        x[item.get_id(0)] += 1

    x = pp.zeros(3)
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    event = note[3](x)
    assert isinstance(event, pp.Event)
    assert event.done()
    pp.call_kernel(note, 3, x)
    pp.call_kernel_async(note, pp.Range(3), None, x).wait()
    assert seen == [0, 1, 2] * 3
    assert pp.asnumpy(x).tolist() == [3, 3, 3]
    for value in ("0", "", None):
        if value is None:
            monkeypatch.delenv("PARDO_INTERPRET")
        else:
            monkeypatch.setenv("PARDO_INTERPRET", value)
        with pytest.raises(pp.CompileError, match="cannot be called in a kernel"):
            note[3](x)


def test_launches_come_after_what_they_depend_on(monkeypatch):
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    gate = pp.UserEvent()
    seen = []

    @pp.kernel
    def note(item: pp.Item):
        seen.append(gate.done())

    timer = threading.Timer(0.02, gate.set_complete)
    timer.start()
    note[pp.Range(1), None, gate]()
    timer.join()
    assert seen == [True]


def test_functions_with_loops(monkeypatch):
    seen = []

    @pp.jit
    def norm(x, power=2):
        s = 0.0
        for i in pp.prange(len(x)):
            seen.append(i)
            s += x[i] ** power
        return s

    assert norm.interpret(np.arange(3.0)) == 5
    assert norm.interpret(pp.asarray(np.arange(3.0)), power=1) == 3
    assert seen == [0, 1, 2] * 2
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    assert norm(np.arange(3.0), power=3) == 9
