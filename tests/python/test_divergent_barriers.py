# tests/python/test_divergent_barriers.py: barriers that not all items of a group reach are refused, with the line.
import os
import re

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES

pytestmark = pytest.mark.once


@pp.kernel
def under_a_condition(item: pp.NdItem, x):
    if item.get_local_id(0) < 3:  # here
        pp.group_barrier(item.get_group())  # here
    x[item.get_global_id(0)] += 1


@pp.kernel
def under_a_loaded_condition(item: pp.NdItem, x):
    if x[item.get_global_id(0)] > 3:  # here
        x[item.get_global_id(0)] += 1
        pp.group_barrier(item.get_group())  # here


@pp.kernel
def in_an_else(item: pp.NdItem, x):
    if item.get_global_id(0) % 2 == 0:  # here
        x[item.get_global_id(0)] += 1
    else:
        pp.group_barrier(item.get_group())  # here


@pp.kernel
def in_a_loop_of_each_item(item: pp.NdItem, x):
    for k in range(item.get_local_id(0)):  # here
        pp.group_barrier(item.get_group())  # here
        x[item.get_global_id(0)] += k


@pp.kernel
def in_a_loop_until_an_item_has_enough(item: pp.NdItem, x):
    while x[item.get_global_id(0)] < 5:  # here
        x[item.get_global_id(0)] += 1
        pp.group_barrier(item.get_group())  # here


@pp.kernel
def after_some_have_returned(item: pp.NdItem, x):
    if item.get_local_id(0) == 0:  # here
        return  # here
    pp.group_barrier(item.get_group())  # here
    x[item.get_global_id(0)] += 1


@pp.kernel
def after_some_have_left_the_loop(item: pp.NdItem, x):
    for k in range(4):  # here
        if x[item.get_global_id(0)] == k:  # here
            break  # here
        pp.group_barrier(item.get_group())  # here


@pp.func
def waits(item):
    pp.group_barrier(item.get_group())  # here


@pp.kernel
def in_a_called_function(item: pp.NdItem, x):
    if item.get_local_id(0) > 3:  # here
        waits(item)  # here
    x[item.get_global_id(0)] += 1


DIVERGENT = [
    under_a_condition,
    under_a_loaded_condition,
    in_an_else,
    in_a_loop_of_each_item,
    in_a_loop_until_an_item_has_enough,
    after_some_have_returned,
    after_some_have_left_the_loop,
    in_a_called_function,
]


def lines_of(kernel):
    """The numbers of the lines that a message may name."""
    code = kernel._function.__code__
    with open(code.co_filename) as file:
        lines = file.read().splitlines()
    names = {n for n, text in enumerate(lines, 1) if "# here" in text}
    last = max(line for *_, line in code.co_lines() if line is not None)
    inner = waits.__code__.co_firstlineno
    return {n for n in names if code.co_firstlineno <= n <= last or (kernel is in_a_called_function and inner <= n <= inner + 2)}


@pytest.mark.varied("kernel")
@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("kernel", DIVERGENT, ids=lambda k: k.__name__)
def test_divergent_barriers_are_refused(kernel, device):
    with pytest.raises(pp.CompileError) as caught:
        kernel[pp.NdRange(16, 8)](pp.arange(16, device=device)).wait()
    numbers = {int(n) for n in re.findall(rf"{re.escape(os.path.basename(__file__))}\W+(?:line )?(\d+)", str(caught.value))}
    assert numbers & lines_of(kernel), str(caught.value)


@pytest.mark.parametrize("kernel", DIVERGENT, ids=lambda k: k.__name__)
def test_divergent_barriers_are_refused_in_plain_python(kernel):
    with pytest.raises(RuntimeError, match="all items of a group must come to the same barriers"):
        kernel[pp.NdRange(16, 8)].interpret(np.arange(16))
