# tests/python/test_race_orders.py: race_check follows what atomics order, and nothing that they do not.
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")


def handing_over(first, second, scope="device", by="ref"):
    """A kernel whose item 0 writes an element and sets a flag; item 1 looks at the flag and reads the element."""

    @pp.kernel(race_check=True)
    def hand_over(x, flag, y):
        i = pp.get_global_id(0)
        if i == 0:
            x[0] = 5.0
            if by == "ref":
                pp.AtomicRef(flag, 0, order=first, scope=scope).store(1)
            else:
                pp.atomic.exchange(flag, 0, 1, order=first, scope=scope)
        else:
            seen = 0
            if by == "ref":
                seen = pp.AtomicRef(flag, 0, order=second, scope=scope).load()
            else:
                seen = pp.atomic.compare_exchange(flag, 0, 1, 2, order=second, scope=scope)
            if seen == 1:
                y[0] = x[0]

    return hand_over


@pytest.mark.parametrize("by", ["ref", "functions"])
@pytest.mark.parametrize("first", ORDERS)
@pytest.mark.parametrize("second", ORDERS)
def test_release_and_acquire_order(first, second, by):
    kernel = handing_over(first, second, by=by)
    arguments = pp.zeros(1), pp.zeros(1, dtype="int32"), pp.zeros(1)
    if first in ("release", "acq_rel", "seq_cst") and second in ("acquire", "acq_rel", "seq_cst"):
        kernel[pp.Range(2)](*arguments)
        assert float(arguments[2][0]) == 5
    else:
        with pytest.raises(pp.RaceError, match=r"`x\[0\]` is written by item 0 and read by item 1"):
            kernel[pp.Range(2)](*arguments)


@pytest.mark.parametrize(("scope", "group", "raises"), [("device", 1, False), ("work_group", 1, True), ("work_group", 2, False)])
def test_scopes(scope, group, raises):
    kernel = handing_over("release", "acquire", scope)
    arguments = pp.zeros(1), pp.zeros(1, dtype="int32"), pp.zeros(1)
    if raises:
        with pytest.raises(pp.RaceError):
            kernel[pp.NdRange(2, group)](*arguments)
    else:
        kernel[pp.NdRange(2, group)](*arguments)


@pp.kernel(race_check=True)
def last_adds_up(item: pp.NdItem, x, partial, done, total):
    shared = pp.local_array(1, np.int32)
    i, g = item.get_local_id(0), item.get_group_id(0)
    pp.atomic.add(partial, g, x[item.get_global_id(0)])
    pp.group_barrier()
    if i == 0:
        shared[0] = pp.atomic.add(done, 0, 1, order="acq_rel")
    pp.group_barrier()
    if shared[0] == item.get_group_range(0) - 1 and i == 1:  # the leader has acquired, and the barrier has told this one
        for k in range(item.get_group_range(0)):
            total[0] += partial[k]


def test_the_last_group_adds_up():
    x, total = pp.arange(12.0), pp.zeros(1)
    last_adds_up[pp.NdRange(12, 3)](x, pp.zeros(4), pp.zeros(1, dtype="int32"), total)
    assert float(total[0]) == 66


def test_what_was_done_behind_the_release_is_not_ordered():
    @pp.kernel(race_check=True)
    def late(item: pp.Item, x, flag):
        ref = pp.AtomicRef(flag, 0, order="acq_rel")
        if item.get_id(0) == 0:
            ref.store(1)
            x[0] = 1.0
        elif ref.load() == 1:
            x[0] = 2.0

    with pytest.raises(pp.RaceError, match=r"`x\[0\]` is written by item 0 and by item 1"):
        late[pp.Range(2)](pp.zeros(1), pp.zeros(1, dtype="int32"))


def test_orders_are_handed_on():
    @pp.kernel(race_check=True)
    def chain(item: pp.Item, x, flags):
        i = item.get_id(0)
        if i == 0 or pp.AtomicRef(flags, i - 1, order="acquire").load() == 1:
            x[0] += i
            pp.AtomicRef(flags, i, order="release").store(1)

    x = pp.zeros(1)
    chain[pp.Range(6)](x, pp.zeros(6, dtype="int32"))
    assert float(x[0]) == 15


def test_a_lock():
    @pp.kernel(race_check=True)
    def locked(item: pp.Item, x, lock):
        taken = 1
        while taken == 1:
            taken = pp.atomic.compare_exchange(lock, 0, 0, 1, order="acquire")
        x[0] += 1
        pp.AtomicRef(lock, 0, order="release").store(0)

    x = pp.zeros(1)
    locked[pp.Range(20)](x, pp.zeros(1, dtype="int32"))
    assert_array_equal(pp.asnumpy(x), [20])


def test_a_reader_that_nobody_knows_of_is_found_among_many():
    @pp.kernel(race_check=True)
    def write_when_told(item: pp.Item, x, y, flag):
        i = item.get_id(0)
        ref = pp.AtomicRef(flag, 0, order="acq_rel")
        if i < 9:
            y[i] = x[0]
            if i != 4:
                ref.fetch_add(1)
        elif ref.load() > 0:
            x[0] = 1.0

    with pytest.raises(pp.RaceError, match=r"`x\[0\]` is read by item 4 and written by item 9"):
        write_when_told[pp.Range(10)](pp.zeros(1), pp.zeros(10), pp.zeros(1, dtype="int32"))


def test_a_relaxed_store_ends_what_was_released_and_a_relaxed_change_does_not():
    def told_by(change):
        @pp.kernel(race_check=True)
        def told(item: pp.Item, x, flag):
            i = item.get_id(0)
            if i == 0:
                x[0] = 1.0
                pp.AtomicRef(flag, 0, order="release").store(1)
            elif i == 1:
                change(flag)
            elif pp.AtomicRef(flag, 0, order="acquire").load() > 0:
                x[0] = 2.0

        return told

    def stored(flag):
        pp.AtomicRef(flag, 0).store(2)

    def added(flag):
        pp.atomic.add(flag, 0, 1)

    told_by(added)[pp.Range(3)](pp.zeros(1), pp.zeros(1, dtype="int32"))
    with pytest.raises(pp.RaceError, match="is written by item 0 and by item 2"):
        told_by(stored)[pp.Range(3)](pp.zeros(1), pp.zeros(1, dtype="int32"))


def test_rounds_of_parallel_loops():
    @pp.jit(race_check=True)
    def told(x, at, flag):
        for i in pp.prange(2):
            if i == 0:
                x[at[i]] = 1.0
                pp.AtomicRef(flag, 0, order="release").store(1)
            elif pp.AtomicRef(flag, 0, order="acquire").load() == 1:
                x[at[i]] = 2.0

    x = np.zeros(1)
    told(x, np.zeros(2, "int64"), np.zeros(1, "int32"))
    assert x[0] == 2
