# tests/python/test_checks_all.py: what PARDO_CHECKS=all finds besides indices, what Python's integers raise in compiled loops, and ranges
# near the limits of int64.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once


@pytest.fixture
def all_checks(monkeypatch):
    monkeypatch.setenv("PARDO_CHECKS", "all")


def raised_by(kind, kernel, space, *arguments):
    with pytest.raises(kind) as info:
        kernel[space](*arguments).wait()
    return str(info.value)


DIVISIONS = ["x[i] // y[i]", "x[i] % y[i]", "np.fmod(x[i], y[i])", "divmod(x[i], y[i])[1]", "np.floor_divide(x[i], y[i])"]
INTEGERS = ["int8", "uint8", "int32", "int64", "uint64"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("divide", DIVISIONS)
def test_division_by_zero(all_checks, device, dtype, divide, tmp_path):
    text = f"def divided(item, x, y):\n    i = item.get_id(0)\n    x[i] = {divide}\n"
    names = {"np": np}
    exec(compile(text, "<divided>", "exec"), names)
    import linecache

    linecache.cache["<divided>"] = (len(text), None, text.splitlines(keepends=True), "<divided>")
    kernel = pp.kernel(names["divided"])
    x = pp.asarray(np.arange(1, 7, dtype=dtype), device=device)
    y = np.ones(6, dtype)
    kernel[pp.Range(6)](x, pp.asarray(y, device=device)).wait()
    y[4] = 0
    message = raised_by(ZeroDivisionError, kernel, pp.Range(6), x, pp.asarray(y, device=device))
    assert "by zero" in message
    assert "divided" in message
    assert "line 3" in message
    assert "item 4" in message or "(4" in message
    pp.zeros(1, device=device).queue.wait()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "bits"), [("int8", 8), ("int32", 32), ("uint64", 64)])
@pytest.mark.parametrize("count", ["negative", "many"])
def test_shifts_by_too_much(all_checks, device, dtype, bits, count):
    @pp.kernel
    def left(item, x, n):
        i = item.get_id(0)
        x[i] = x[i] << n[i]

    @pp.kernel
    def right(item, x, n):
        i = item.get_id(0)
        x[i] = x[i] >> n[i]

    if count == "negative" and dtype == "uint64":
        pytest.skip("counts of uint64 are never negative")
    for kernel in (left, right):
        x = pp.asarray(np.arange(1, 4, dtype=dtype), device=device)
        n = np.array([0, 1, bits - 1], dtype)
        kernel[pp.Range(3)](x, pp.asarray(n, device=device)).wait()
        n[1] = bits if count == "many" else -1
        message = raised_by(ValueError, kernel, pp.Range(3), x, pp.asarray(n, device=device))
        assert f"shift count {n[1]} is not in 0 … {bits - 1}" in message


@pytest.mark.parametrize("device", DEVICES)
def test_memory_of_a_group_that_nothing_has_written(all_checks, device):
    @pp.kernel
    def shared(item: pp.NdItem, x, local, last):
        i, k = item.get_global_id(0), item.get_local_id(0)
        if k < last:
            local[k] = x[i]
        pp.group_barrier(item.get_group())
        x[i] = local[7 - k]

    x = pp.arange(16.0, device=device)
    shared[pp.NdRange(16, 8)](x, pp.LocalAccessor(8, "float64"), 8).wait()
    assert_array_equal(pp.asnumpy(x), np.arange(16.0).reshape(2, 8)[:, ::-1].ravel())
    message = raised_by(ValueError, shared, pp.NdRange(16, 8), x, pp.LocalAccessor(8, "float64"), 5)
    assert "`local` is read, and nothing has written it" in message
    assert "x[i] = local[7 - k]" in message
    x.accept()
    shared[pp.NdRange(16, 8)](x, pp.LocalAccessor(8, "float64"), 8).wait()


@pytest.mark.parametrize("device", DEVICES)
def test_each_group_and_launch_begins_without_values(all_checks, device):
    @pp.kernel
    def once(item: pp.NdItem, x):
        local = pp.local_array(4, np.int64)
        if item.get_global_id(0) < 4:
            local[item.get_local_id(0)] = 1
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = local[3 - item.get_local_id(0)]

    x = pp.zeros(8, dtype="int64", device=device)
    assert "nothing has written it" in raised_by(ValueError, once, pp.NdRange(8, 4), x)
    assert_array_equal(pp.asnumpy(x.accept())[:4], 1)
    once[pp.NdRange(4, 4)](x).wait()


@pytest.mark.parametrize("device", DEVICES)
def test_atomics_write_and_read_memory_of_a_group(all_checks, device):
    @pp.kernel
    def counted(item: pp.NdItem, x, sets):
        local = pp.local_array(1, np.int32)
        if sets > 0 and item.get_local_id(0) == 0:
            pp.AtomicRef(local, 0).store(5)
        pp.group_barrier(item.get_group())
        pp.atomic.add(local, 0, 1)
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = local[0]

    x = pp.zeros(8, dtype="int32", device=device)
    counted[pp.NdRange(8, 4)](x, 1).wait()
    assert_array_equal(pp.asnumpy(x), 9)
    assert "nothing has written it" in raised_by(ValueError, counted, pp.NdRange(8, 4), x, 0)


@pytest.mark.parametrize("device", DEVICES)
def test_memory_of_an_item(all_checks, device):
    @pp.kernel
    def own(item, x, upto):
        i = item.get_id(0)
        for _ in range(2):
            kept = np.empty(4, np.float32)
            for k in range(upto):
                kept[k] = k
            x[i] = kept[i]
        filled = np.zeros(4, np.float32)
        x[i] += filled[i]

    x = pp.zeros(4, dtype="float32", device=device)
    own[pp.Range(4)](x, 4).wait()
    assert_array_equal(pp.asnumpy(x), np.arange(4.0))
    message = raised_by(ValueError, own, pp.Range(4), x, 3)
    assert "element 3 of the memory" in message


def test_only_where_it_is_asked_for(monkeypatch):
    def divided(item, x, y):
        x[item.get_id(0)] //= y[item.get_id(0)]

    x, y = pp.ones(3, dtype="int64"), pp.zeros(3, dtype="int64")
    monkeypatch.setenv("PARDO_CHECKS", "all")
    checked, unchecked, named = pp.kernel(divided), pp.kernel(divided, bounds_check=False), pp.kernel(divided, bounds_check=True)
    monkeypatch.setenv("PARDO_CHECKS", "on")
    plain = pp.kernel(divided)
    unchecked[pp.Range(3)](x, y).wait()
    plain[pp.Range(3)](x, y).wait()
    assert_array_equal(pp.asnumpy(x), 0)
    for kernel in (checked, named):
        assert "by zero" in raised_by(ZeroDivisionError, kernel, pp.Range(3), x, y)


def test_parallel_loops(all_checks):
    @pp.jit
    def divided(x, y):
        for i in pp.prange(x.shape[0]):
            x[i] //= y[i]

    x = np.arange(4) * 6
    divided(x, np.full(4, 3))
    assert_array_equal(x, [0, 2, 4, 6])
    with pytest.raises(ZeroDivisionError, match="by zero"):
        divided(x, np.array([1, 1, 0, 1]))


# --- Python's integers in serial loops, without any setting ------------------------------------------------------------------------


@pytest.mark.parametrize("operator", ["//", "%", "<<", ">>"])
def test_python_integers_fail_as_in_python(operator):
    text = f"def f(x, a, b):\n    for i in range(3):\n        a = (100 {operator} (b - i)) % 1000\n        x[i] = a\n    return a\n"
    import linecache

    linecache.cache["<integers>"] = (len(text), None, text.splitlines(keepends=True), "<integers>")
    names: dict = {}
    exec(compile(text, "<integers>", "exec"), names)
    f, loop = names["f"], pp.jit(names["f"])
    for b in (7, 3, 2, 1, -4):
        x, wanted = np.zeros(3), np.zeros(3)
        try:
            value, kind = f(wanted, 0, b), None
        except (ZeroDivisionError, ValueError) as e:
            value, kind = None, type(e)
        if kind is None:
            assert loop(x, 0, b) == value
            assert_array_equal(x, wanted)
        else:
            with pytest.raises(kind):
                loop(x, 0, b)


def test_elements_divide_as_numpy_does():
    @pp.jit
    def f(x, y):
        for i in range(x.shape[0]):
            x[i] = x[i] // y[i] + x[i] % y[i]

    x = np.array([4, 5])
    f(x, np.array([2, 0]))
    assert_array_equal(x, [2, 0])


# --- ranges ------------------------------------------------------------------------------------------------------------------------

NEAR = [2**63 - 1, 2**63 - 2, 2**62, 5]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("step", [2**62, 3, -3, -(2**62)])
@pytest.mark.parametrize("leaves", [False, True])
def test_ranges_near_the_limits_end(device, step, leaves):
    if leaves:

        @pp.kernel
        def count(item, out, stop):
            n = 0
            for _ in range(2 if step > 0 else -2, stop[0], step):
                n += 1
                if n == 100:
                    break
            out[0] = n

    else:

        @pp.kernel
        def count(item, out, stop):
            n = 0
            for _ in range(2 if step > 0 else -2, stop[0], step):
                n += 1
            out[0] = n

    sign = 1 if step > 0 else -1
    for stop in (5, 40, 2**62, 2**63 - 1):
        wanted = len(range(2 * sign, sign * stop, step))
        if wanted > 1000 and not leaves:
            continue
        out = pp.zeros(1, dtype="int64", device=device)
        stops = pp.asarray(np.array([sign * stop]), device=device)
        if stop > 2**63 - abs(step):
            assert "int64" in raised_by(OverflowError, count, pp.Range(1), out, stops)
            assert "its counter would wrap around" in raised_by(OverflowError, count, pp.Range(1), out, stops)
        else:
            count[pp.Range(1)](out, stops).wait()
            assert int(out[0]) == min(wanted, 100 if leaves else wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_steps_that_are_arguments(device):
    @pp.kernel
    def count(item, out, start, stop, step):
        n = 0
        for _ in range(start, stop, step):
            n += 1
        out[0] = n

    out = pp.zeros(1, dtype="int64", device=device)
    fine = [(0, 10, 3), (10, 0, -3), (0, 0, 5), (3, 1, 1), (5, -(2**62), -(2**61)), (-5, 2**62, 2**61)]
    for start, stop, step in fine:
        count[pp.Range(1)](out, start, stop, step).wait()
        assert int(out[0]) == len(range(start, stop, step))
    for start, stop, step in [(-5, 2**63 - 1, 2**61), (5, -(2**63), -(2**61)), (0, 9, 2**63 - 1)]:
        assert "wrap around" in raised_by(OverflowError, count, pp.Range(1), out, start, stop, step)
