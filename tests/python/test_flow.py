# tests/python/test_flow.py: names that loops assign on every path to their breaks have a value after them.
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

VALUES = np.array([0.0, -1, 2, 0.5, -4, 5, 70, 9, 9])


def behind_continue(x, k):
    while True:
        k += 1
        if x[k] < 0:
            continue
        v = x[k]
        if v > 3:
            break
    return v + k


def at_each_break(x, k):
    while True:
        k += 1
        if x[k] < 0:
            continue
        if x[k] > 50:
            w = k * 2
            v = 1.0
            break
        v = x[k]
        if v < 1:
            continue
        w = k
        if v > 3:
            break
    return v * 100 + w


def in_inner_loops(x, k):
    while True:
        k += 1
        if x[k] < 0:
            continue
        while True:
            if x[k] > 60:
                w = 5
                break
            if x[k] < 1:
                k += 1
                continue
            w = 7
            break
        if w == 5:
            u = 0
            break
        for j in range(2):
            if x[k] > 8 + j:
                break
        else:
            if x[k] > 3:
                u = k
                break
            continue
        u = k + 1
        break
    return w * 100 + k * 10 + u


@pytest.mark.parametrize("function", [behind_continue, at_each_break, in_inner_loops], ids=lambda f: f.__name__)
@pytest.mark.parametrize("device", pp.get_devices(), ids=str)
def test_names_behind_continue(function, device):
    loop = pp.jit(function)
    for start in range(5):
        assert loop(VALUES, start) == function(VALUES, start)
    assert "a serial loop, compiled" in loop.diagnostics()

    @pp.kernel
    def each(item: pp.Item, x, out):
        out[item.get_id(0)] = function(x, item.get_id(0))

    out = pp.zeros(5, device=device)
    each[pp.Range(5)](pp.asarray(VALUES, device=device), out).wait()
    assert_array_equal(pp.asnumpy(out), [function(VALUES, start) for start in range(5)])


def test_names_without_a_value_at_one_break_are_refused():
    @pp.kernel
    def at_one(item: pp.Item, x):
        k = 0
        while True:
            k += 1
            if x[k] < 0:
                break
            v = x[k]
            if v > 3:
                break
        x[0] = v

    @pp.kernel
    def a_round_before(item: pp.Item, x):
        k = 0
        while True:
            k += 1
            if x[k] < 0:
                continue
            if k > 2:
                x[0] = v  # noqa: F821
            v = x[k]
            if v > 3:
                break

    for kernel in (at_one, a_round_before):
        with pytest.raises(NameError, match=r"`v` (may have|has) no value here"):
            kernel[pp.Range(1)](pp.asarray(VALUES))


def test_what_a_handler_breaks_out_of_counts():
    @pp.jit
    def caught(x):
        k = 0
        while True:
            k += 1
            try:
                if x[k] > 3:
                    break
            except IndexError:
                break
            w = x[k]
        return w

    assert caught(VALUES) == -4
    with pytest.raises(UnboundLocalError):
        caught(np.full(3, 7.0))
