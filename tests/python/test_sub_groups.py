# tests/python/test_sub_groups.py: sub-groups and the exchange of values in them on every device, each compared with plain Python.
import operator

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES, Cases, ints, launch, zeros

pytestmark = pytest.mark.once

case = Cases()


@case(1, 7, 32, 48, 64, 100, 256, (4, 16), (3, 5), (2, 4, 8), (5, 7, 2))
def where_items_stand(size):
    @pp.kernel
    def kernel(item: pp.NdItem, out):
        group, at = item.get_sub_group(), item.get_global_linear_id()
        out[at, 0], out[at, 1] = group.get_local_id(), group.get_local_linear_id()
        out[at, 2], out[at, 3] = group.get_local_range(), group.get_local_linear_range()
        out[at, 4], out[at, 5] = group.get_group_id(), group.get_group_linear_id()
        out[at, 6], out[at, 7] = group.get_group_range(), group.get_group_linear_range()
        out[at, 8], out[at, 9] = group.get_max_local_range(), group.leader()
        out[at, 10] = item.get_group().leader()

    local = size if isinstance(size, tuple) else (size,)
    whole = (3 * local[0], *local[1:])
    return kernel, pp.NdRange(whole, local), zeros((int(np.prod(whole)), 11))


@case(1, 7, 32, 48, 64, 100, (4, 16), (3, 5), (2, 4, 8))
def functions_of_sub_groups(size):
    local = size if isinstance(size, tuple) else (size,)
    whole = (2 * local[0], *local[1:])

    @pp.kernel
    def kernel(item: pp.NdItem, x, out):
        group, at = item.get_sub_group(), item.get_local_linear_id() + item.get_group_linear_id() * len(out) // 2
        v = x[at]
        out[at, 0] = pp.reduce_over_group(group, v, operator.add)
        out[at, 1] = pp.reduce_over_group(group, v, min)
        out[at, 2] = pp.inclusive_scan_over_group(group, v, operator.add)
        out[at, 3] = pp.exclusive_scan_over_group(group, v, max, -5)
        out[at, 4] = pp.group_broadcast(group, v)
        out[at, 5] = pp.group_broadcast(group, v, group.get_local_range() - 1)
        out[at, 6] = pp.any_of_group(group, v > 90)
        out[at, 7] = pp.all_of_group(group, v > -15)
        out[at, 8] = pp.none_of_group(group, v > 95)
        out[at, 9] = pp.reduce_over_group(group, v, lambda a, b: 2 * a - b)  # the order is kept where it matters

    n = 2 * int(np.prod(local))
    return kernel, pp.NdRange(whole, local), ints(n), zeros((n, 10))


@case(7, 32, 64, 100, 8, 96)
def exchanges(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, out):
        group, at = item.get_sub_group(), item.get_global_id(0)
        v = x[at]
        out[at, 0], out[at, 1] = pp.shift_group_left(group, v), pp.shift_group_right(group, v)
        out[at, 2], out[at, 3] = pp.shift_group_left(group, v, 5), pp.shift_group_right(group, v, at % 40)
        out[at, 4], out[at, 5] = pp.permute_group_by_xor(group, v, 1), pp.permute_group_by_xor(group, v, 22)
        out[at, 6] = pp.select_from_group(group, v, (at * 7) % 40 - 3)
        out[at, 7] = pp.select_from_group(group, v, group.get_local_range() - 1 - group.get_local_id())

    return kernel, pp.NdRange(3 * size, size), ints(3 * size), zeros((3 * size, 8))


@case(1, 2, 4, 8, 16, 32, 64)
def sizes_that_kernels_ask_for(size):
    @pp.kernel(sub_group_size=size)
    def kernel(item: pp.NdItem, x, out):
        group, at = item.get_sub_group(), item.get_global_id(0)
        out[at, 0] = pp.reduce_over_group(group, x[at], operator.add)
        out[at, 1] = pp.inclusive_scan_over_group(group, x[at], operator.add)
        out[at, 2] = group.get_group_range() * 100 + group.get_max_local_range()

    return kernel, pp.NdRange(384, 128), ints(384), zeros((384, 3))


@case(*"?bBhHiIlLefdFD")
def dtypes(code):
    @pp.kernel
    def kernel(item: pp.NdItem, x, left, turned):
        group, at = item.get_sub_group(), item.get_global_id(0)
        left[at] = pp.shift_group_left(group, x[at])
        turned[at] = pp.permute_group_by_xor(group, x[at], 3)

    x = ints(192, low=0).astype(code)
    return kernel, pp.NdRange(192, 96), x, np.zeros_like(x), np.zeros_like(x)


@case(64, 48)
def tuples_in_loops_and_branches(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, rounds, out):
        group, at = item.get_sub_group(), item.get_global_id(0)
        best = (x[at], at)
        step = 1
        while step < group.get_max_local_range():
            best = max(best, pp.permute_group_by_xor(group, best, step))
            step *= 2
        total = 0
        for k in range(rounds):
            if rounds > 2:
                total += pp.shift_group_right(group, x[at] + k, k)
        out[at, 0], out[at, 1], out[at, 2] = best[0], best[1], total

    return kernel, pp.NdRange(2 * size, size), ints(2 * size), 3, zeros((2 * size, 3))


@case(128, 1024)
def sums_of_groups_by_sub_groups(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, out):
        group, sub_group = item.get_group(), item.get_sub_group()
        partial = pp.local_array(32, "int64")
        total = pp.reduce_over_group(sub_group, x[item.get_global_id(0)], operator.add)
        if sub_group.leader():
            partial[sub_group.get_group_id()] = total
        pp.group_barrier(group)
        place = sub_group.get_local_id()
        total = pp.reduce_over_group(sub_group, partial[place] if place < sub_group.get_group_range() else 0, operator.add)
        if group.leader():
            out[item.get_group_id(0)] = total

    return kernel, pp.NdRange(4 * size, size), ints(4 * size), zeros(4)


@pytest.mark.varied("name")
@pytest.mark.parametrize("device", DEVICES, ids=lambda d: d.id)
@pytest.mark.parametrize("name", case.names())
def test_devices_give_what_python_does(name, device):
    if device.max_work_group_size is not None and device.max_work_group_size < case[name][0]()[1].local_range[0]:
        pytest.skip("groups are too large for the device")
    case.check(name, device)


@pytest.mark.parametrize("device", DEVICES, ids=lambda d: d.id)
def test_exchanges_that_some_items_miss_are_refused(device):
    @pp.kernel
    def divided(item: pp.NdItem, x):
        group = item.get_sub_group()
        if group.get_group_id() == 0:
            x[item.get_global_id(0)] = pp.shift_group_left(group, x[item.get_global_id(0)])

    with pytest.raises(pp.CompileError, match="items of one group may take different branches"):
        launch(divided, pp.NdRange(64, 64), [ints(64)], device)


def test_what_is_no_sub_group():
    @pp.kernel
    def of_a_group(item: pp.NdItem, x):
        x[0] = pp.shift_group_left(item.get_group(), x[0])

    @pp.kernel
    def of_a_number(item: pp.NdItem, x):
        x[0] = pp.reduce_over_group(3, x[0], operator.add)

    @pp.kernel
    def of_a_range(item: pp.Item, x):
        x[0] = item.get_sub_group().get_local_id()

    x = pp.zeros(32, dtype="int64")
    with pytest.raises(TypeError, match=r"shift_group_left: a SubGroup is expected, of item.get_sub_group\(\), not a Group"):
        of_a_group[pp.NdRange(32, 32)](x)
    with pytest.raises(
        TypeError, match=r"reduce_over_group: a group is expected, of item.get_group\(\) or item.get_sub_group\(\)"
    ) as caught:
        of_a_number[pp.NdRange(32, 32)](x)
    assert "x[0] = pp.reduce_over_group(3" in str(caught.value)  # the user's line
    with pytest.raises(TypeError, match="has no method `get_sub_group`"):
        of_a_range[pp.Range(32)](x)
    for wrong in (0, 3, -8, 48):
        with pytest.raises(ValueError, match="sub_group_size is a power of two"):
            pp.kernel(sub_group_size=wrong)(lambda x: None)
