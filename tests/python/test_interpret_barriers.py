# tests/python/test_interpret_barriers.py: barriers of kernels that run as plain Python: threads, and what goes wrong.
import re
import threading
import traceback

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal
from test_interpret import interpret, line_of

pytestmark = pytest.mark.once


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_barriers(size):
    @pp.kernel
    def scan(item: pp.NdItem, x, n):
        i, first = item.get_local_id(0), item.get_group_id(0) * n
        step = 1
        while step < n:
            v = x[first + i - step] if i >= step else 0
            pp.group_barrier(item.get_group())
            x[first + i] += v
            pp.group_barrier(item.get_group())
            step *= 2

    x, _ = interpret(scan, pp.NdRange(3 * size, size), np.ones(3 * size, int), size)
    assert_array_equal(x.reshape(3, size), np.arange(1, size + 1) + np.zeros((3, 1), int))


def test_threads_end_with_the_launch():
    @pp.kernel
    def wait(item: pp.NdItem):
        pp.group_barrier()

    before = threading.active_count()
    interpret(wait, pp.NdRange(32, 16))
    assert threading.active_count() == before


def test_items_without_barriers_run_in_the_calling_thread():
    seen = set()

    @pp.kernel
    def note(item: pp.NdItem):
        seen.add(threading.current_thread())

    interpret(note, pp.NdRange(32, 16))
    assert seen == {threading.current_thread()}


def with_condition(test):
    @pp.kernel
    def divergent(item: pp.NdItem):
        i = item.get_local_id(0)
        if test(i):
            pp.group_barrier(item.get_group())  # the one

    return divergent


@pytest.mark.parametrize(
    ("test", "waits", "ended"),
    [
        (lambda i: i < 3, 0, 3),
        (lambda i: i != 0, 1, 0),
        (lambda i: i == 2, 2, 0),
        (lambda i: i == 0, 0, 1),
    ],
    ids=["some", "all but the first", "one", "the first alone"],
)
def test_divergent_barriers_raise(test, waits, ended):
    kernel = with_condition(test)
    before = threading.active_count()
    message = f'group_barrier: item {waits} waits at File "{re.escape(__file__)}", line {line_of(kernel, "# the one")}, and item {ended}, '
    with pytest.raises(RuntimeError, match=message + "of the same group, returned without coming there") as caught:
        interpret(kernel, pp.NdRange(8, 4))
    assert threading.active_count() == before
    assert "# the one" in "".join(traceback.format_exception(caught.value))


def test_an_item_that_goes_on_to_another_barrier_raises():
    @pp.kernel
    def more(item: pp.NdItem):
        pp.group_barrier()
        if item.get_local_id(0) == 2:
            pp.group_barrier()  # too many

    with pytest.raises(RuntimeError, match=f"item 2 waits at File .*, line {line_of(more, '# too many')}, and item 0, .* returned"):
        interpret(more, pp.NdRange(4, 4))


def test_different_barriers_raise():
    @pp.kernel
    def fork(item: pp.NdItem):
        if item.get_local_id(0) < 3:
            pp.group_barrier()  # left
        else:
            pp.group_barrier()  # right

    message = f"item 0 waits at .*, line {line_of(fork, '# left')}, and item 3, of the same group, at .*, line {line_of(fork, '# right')};"
    with pytest.raises(RuntimeError, match=message):
        interpret(fork, pp.NdRange(4, 4))


def test_barriers_and_memory_of_groups_need_groups():
    @pp.kernel
    def barrier(item: pp.Item):
        pp.group_barrier()

    @pp.kernel
    def memory(item: pp.Item):
        pp.local_array(3)

    @pp.kernel
    def local(x):
        pp.get_local_id(0)

    @pp.kernel
    def dimension(item: pp.Item):
        item.get_id()

    @pp.kernel
    def third(item: pp.Item):
        item.get_id(2)

    with pytest.raises(TypeError, match="group_barrier: only items of a group can wait for each other"):
        interpret(barrier, 3)
    with pytest.raises(TypeError, match="local_array: items share memory in groups only"):
        interpret(memory, 3)
    with pytest.raises(TypeError, match="get_local_id: a plain Range has no groups"):
        interpret(local, 3, 0)
    with pytest.raises(TypeError, match="get_id: the range has 2 dimensions; say which one, from 0"):
        interpret(dimension, (3, 3))
    with pytest.raises(IndexError, match="get_id: the range has 2 dimensions, there is no dimension 2"):
        interpret(third, (3, 3))
