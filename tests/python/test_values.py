# tests/python/test_values.py: 0-d results behave as NumPy's scalars; views and names behave as NumPy's arrays.
from __future__ import annotations

import numpy as np
import pardo as pp
from support import check


def test_swap_by_a_temporary():
    x = pp.asarray([1.0, 2.0])
    t = x[0]
    x[0] = x[1]
    x[1] = t
    assert x.tolist() == [2.0, 1.0]


def test_totals_kept_in_a_list():
    total, kept = pp.asarray([1.0, 2.0]).sum(), []
    for _ in range(3):
        kept.append(total)
        total += 1
    assert [k.item() for k in kept] == [3, 4, 5]


def test_element_in_place_leaves_the_array_alone():
    x = pp.asarray([1.0, 2.0])
    t = x[0]
    t += 5
    assert t.item() == 6
    assert x.tolist() == [1, 2]


def test_0d_array_in_place():
    x = pp.asarray(5.0)
    same = x
    x += 1
    assert same.item() == 6
    y = pp.zeros(())
    y[...] = 3
    assert y.item() == 3


def test_names_share_arrays():
    x = pp.zeros(3)
    y = x
    x += 1
    assert y.tolist() == [1, 1, 1]
    x = x + 1
    assert y.tolist() == [1, 1, 1]


def test_views_see_writes_in_place():
    x = pp.arange(6.0)
    row = x.reshape(2, 3)[1]
    x *= 10
    assert row.tolist() == [30, 40, 50]
    row += 1
    assert x.tolist() == [0, 10, 20, 31, 41, 51]


def test_views_of_filled_arrays():
    for make in (lambda: pp.zeros((3, 4)), lambda: pp.arange(12.0).reshape(3, 4), lambda: pp.ones((3, 4)) * 2):
        x, host = make(), np.array(make())
        x[1][1:3][...] = -1
        host[1][1:3] = -1
        for row, expected in zip(x, host, strict=True):
            row[0] = 7
            expected[0] = 7
        check(x, host)
        column, whole = x[:, 2], x.T
        str(column)
        column += 1
        host[:, 2] += 1
        check(whole, host.T)
        whole[...] = 5
        check(x, np.full((3, 4), 5.0))


def test_pending_results_do_not_see_later_writes():
    x = pp.arange(3.0)
    y = x + 1
    x += 100
    assert y.tolist() == [1, 2, 3]
    z = x * 2
    x[0] = 0
    assert z.tolist() == [200, 202, 204]


def test_loop_keeps_memory_and_kernels_constant():
    x, a, b = pp.ones(1000), pp.full(1000, 0.5), pp.ones(1000)
    for _ in range(200):
        x = x * a + b
    x.wait()
    before, used = pp.counters()["compiled"], pp.memory_stats().in_use
    for _ in range(3000):
        x = x * a + b
    x.wait()
    assert pp.counters()["compiled"] <= before + 2  # the last piece of the chain may be shorter
    assert pp.memory_stats().in_use <= used + 64 * 1000 * 8
    check(x, np.full(1000, 2.0), ulp=4)


def test_numbers_are_not_part_of_a_kernel():
    x = pp.ones(1000)
    (x * 2.5 + 1).wait()
    before = pp.counters()["compiled"] + pp.counters()["from_disk"]
    for k in range(10):
        (x * (2.5 + k) + k).wait()
    assert pp.counters()["compiled"] + pp.counters()["from_disk"] == before
