# tests/python/test_access.py: access= of kernels: what is said of arrays holds, or the program is refused with the line.
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once


def line_of(kernel, text):
    """The number of the line of a kernel that holds a text."""
    code = kernel._function.__code__
    with open(code.co_filename) as file:
        lines = file.read().splitlines()
    return next(n for n in range(code.co_firstlineno, len(lines) + 1) if text in lines[n - 1])


def refused(kernel, *arguments):
    with pytest.raises(TypeError) as caught:
        kernel[4](*arguments)
    return str(caught.value)


def test_what_holds_changes_nothing():
    @pp.kernel(access={"read_only": ["x"], "write_only": ("y",), "read_write": ["z"]})
    def add(item: pp.Item, x, factor, y, z, free):
        i = item.get_id(0)
        y[i] = factor * x[i]
        z[i] += x[i]
        free[i] = free[i] + 1

    x, y, z, free = pp.arange(4.0), pp.zeros(4), pp.ones(4), pp.zeros(4)
    add[4](x, 2.0, y, z, free).wait()
    assert_array_equal(pp.asnumpy(y), 2 * np.arange(4))
    assert_array_equal(pp.asnumpy(z), np.arange(4) + 1)


def test_without_an_item():
    @pp.kernel(access={"write_only": ["y"]})
    def fill(y):
        y[pp.get_global_id(0)] = 1

    y = pp.zeros(4)
    fill[4](y).wait()
    assert_array_equal(pp.asnumpy(y), 1)


def test_read_only():
    @pp.kernel(access={"read_only": ["x", "y"]})
    def copy(item: pp.Item, x, y):
        i = item.get_id(0)
        value = x[i]
        y[i] = value  # here

    assert refused(copy, pp.zeros(4), pp.zeros(4)) == (
        "copy: `y` is written here, but listed as read_only\n"
        f'  File "{__file__}", line {line_of(copy, "# here")}, in copy\n'
        "    y[i] = value  # here\n"
        "    ^^^^^^^^^^^^"
    )


@pytest.mark.parametrize("name", ["write_only", "read_only"])
def test_an_atomic_reads_and_writes(name):
    @pp.kernel(access={name: ["x"]})
    def count(item: pp.Item, x):
        pp.atomic.add(x, 0, 1)

    assert f"listed as {name}" in refused(count, pp.zeros(4, dtype="int32"))


def test_write_only_in_a_function_that_is_called_and_in_conditions():
    def least(a, b, k):
        return min(a[k], b[k])  # read

    @pp.kernel(access={"write_only": ["y"]})
    def called(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = 0
        y[i] = least(x, y, i)

    message = refused(called, pp.zeros(4), pp.zeros(4))
    assert "`b` is read here" in message or "`y` is read here" in message
    assert f"line {called._function.__closure__[0].cell_contents.__code__.co_firstlineno + 1}, in least" in message

    @pp.kernel(access={"write_only": ["y"]})
    def loops(item: pp.Item, x, y):
        k = 0
        while x[k] < y[k]:  # while
            x[k] += 1
            k += 1

    assert f"line {line_of(loops, '# while')}" in refused(loops, pp.zeros(4), pp.zeros(4))


@pytest.mark.parametrize(
    ("reads", "writes", "how"), [(True, False, "only read"), (False, True, "only written"), (False, False, "not used")]
)
def test_read_write_means_both(reads, writes, how):
    @pp.kernel(access={"read_write": ["y"]})
    def half(item: pp.Item, x, y):
        if reads:
            x[0] = y[0]
        if writes:
            y[item.get_id(0)] = 0

    assert refused(half, pp.zeros(4), pp.zeros(4)) == f"half: `y` is listed as read_write, but {how}"


def test_it_is_about_arrays():
    @pp.kernel(access={"read_only": ["a"]})
    def scale(item: pp.Item, x, a):
        x[item.get_id(0)] *= a

    assert refused(scale, pp.zeros(4), 3) == "scale: `a` is listed in access=, which is about arrays, and is none"


def test_all_arrays_of_a_tuple_or_struct():
    @pp.kernel(access={"read_only": ["pair"], "write_only": ["out"]})
    def copy(item: pp.Item, pair, factor, out):
        i = item.get_id(0)
        out[i] = pair[0][i] * factor
        if pair[2] > 0:
            pair[1][i] = 0  # here

    x, out = pp.ones(4), pp.zeros(4)
    message = refused(copy, (x, pp.zeros(4), 1), 2.0, out)
    assert "is written here, but listed as read_only" in message
    assert f"line {line_of(copy, '# here')}" in message

    @pp.kernel(access={"read_write": ["pair"]})
    def both(item: pp.Item, factor, pair):
        i = item.get_id(0)
        pair[0][i] += factor
        pair[1][i] = 1

    assert refused(both, 2, (x, out)) == "both: `pair[1]` is listed as read_write, but only written"


def test_wrong_words():
    def f(item: pp.Item, x, y):
        pass

    with pytest.raises(ValueError, match="f: access: 'read_only', 'write_only', 'read_write' are known, not 'read'"):
        pp.kernel(access={"read": ["x"]})(f)
    with pytest.raises(ValueError, match="f: access: there is no parameter 'z'"):
        pp.kernel(access={"read_only": ["z"]})(f)
    with pytest.raises(ValueError, match="f: access: there is no parameter 'item'"):
        pp.kernel(access={"read_only": ["item"]})(f)
    with pytest.raises(ValueError, match="f: access: 'x' is listed twice"):
        pp.kernel(access={"read_only": ["x"], "write_only": ["y", "x"]})(f)
    with pytest.raises(TypeError, match=r"f: access: a list of names is expected for 'read_only'; write \['x'\]"):
        pp.kernel(access={"read_only": "x"})(f)
