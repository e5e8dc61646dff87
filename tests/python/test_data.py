# tests/python/test_data.py: with data(...): what is on a device, what is copied when, and what is refused.
import asyncio
import contextlib
import gc
import os
import threading
import weakref

import numpy as np
import pardo as pp
import pytest
from mapped import OWN, add_one, copied, double, entries, floats, image, increase
from pardo._data import mappings, tables

pytestmark = pytest.mark.once


# --- kinds of maps


def test_kernels_use_copies(device):
    x, y = floats(5), np.zeros(5, "float32")
    with pp.data(to=(x,), from_=(y,), device=device) as entered:
        assert entered == pp.Device(device)
        with copied(0):
            double[5](x, y)
            double[5](y=y, x=x)
    assert y.tolist() == [0, 2, 4, 6, 8]
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_launchers_that_were_ready_before():
    x, y = floats(3), np.zeros(3, "float32")
    launcher = double[pp.Range(3)]
    for _ in range(3):  # after the first it goes without Python
        launcher(pp.asarray(x), pp.zeros(3, "float32"))
    with pp.data(to=(x,), from_=(y,), device=OWN):
        launcher(x, y)
    assert y.tolist() == [0, 2, 4]
    with pytest.raises(TypeError, match="is a NumPy array"):
        launcher(x, y)
    launcher(pp.asarray(x), pp.zeros(3, "float32"))


def test_what_is_copied_when():
    t, f, tf, a = (np.full(4, k, "float32") for k in (1, 2, 3, 4))
    before = pp.counters()["copies"]
    with pp.data(to=(t,), tofrom=(tf,), from_=(f,), alloc=(a,), device=OWN):
        assert pp.counters()["copies"] - before == 2
        for x in (f, tf, a):
            double[4](t, x)
        add_one[4](t)
        assert pp.counters()["copies"] - before == 2
    assert pp.counters()["copies"] - before == 4
    assert [x[0] for x in (t, f, tf, a)] == [1, 2, 2, 4]


def test_nothing_is_copied_on_a_device_that_shares_memory():
    x, y = floats(5), np.zeros(5, "float32")
    with copied(0), pp.data(to=(x,), tofrom=(y,), device="cpu"):
        double[5](x, y)
        pp.update_to(x)
        pp.update_from(y)
    assert y[4] == 8


def test_jit_functions(device):
    x = floats(3, 4)

    @pp.jit
    def total(x, y):
        s = np.float32(0)
        for i in pp.prange(x.shape[0]):
            s += x[i]
        y[0] = s
        return float(s)

    y = np.zeros(1, "float32")
    with pp.data(tofrom=(x, y), device=device), copied(0):
        increase(x[1])
        increase(x[:, 3][::-1])
        got = total(x[1], y)
    expected = floats(3, 4)
    expected[1] += 1
    expected[:, 3] += 1
    assert np.array_equal(x, expected)
    assert got == y[0] == expected[1].sum()


def test_arrays_from_outside_of_a_jit_function(device):
    x = floats(4)

    @pp.jit
    def closed():
        for i in pp.prange(4):
            x[i] = x[i] * 3

    with pp.data(tofrom=(x,), device=device):
        closed()
    assert x.tolist() == [0, 3, 6, 9]


def test_operators_and_functions_beside_arrays(device):
    x = floats(4)
    with pp.data(to=(x,), device=device):
        x[...] = 0  # the host's; shared memory shows it
        ones = pp.ones(4, "float32", device=device)
        with copied(0):
            results = [ones + x, x - ones + 1, pp.maximum(ones, x[::-1]), pp.where(ones > 0, x, ones), pp.hypot(x, ones * 0)]
    for got in results:
        values = sorted(pp.asnumpy(got).tolist())
        assert values in ([[0, 1, 2, 3], [1, 2, 3, 4], [1, 1, 2, 3]] if device == OWN else [[0] * 4, [1] * 4, [1] * 4])


def test_generated_functions(device):
    x = floats(4)
    square = pp.elementwise(lambda v: v * v)
    total = pp.reduction(lambda v: v, max, 0.0)
    with pp.data(to=(x,), device=device):
        with copied(0):
            result = square(x)
        most = total(x)
        assert result.device == most.device == pp.Device(device)
    assert pp.asnumpy(result).tolist() == [0, 1, 4, 9]
    assert float(most) == 3


def test_device_context_inside():
    x = floats(4)
    with pp.data(to=(x,), device=OWN), pp.device_context(OWN):
        assert pp.square(x).tolist() == [0, 1, 4, 9]


# --- counts


def test_nested_contexts_of_present_data_copy_nothing(device):
    x = floats(6)
    with pp.data(tofrom=(x,), device=device):
        with copied(0):
            for kind in ("to", "from_", "tofrom", "alloc", "present"):
                with pp.data(**{kind: (x[1:4],)}, device=device):
                    add_one[3](x[1:4])
                    assert pp.is_present(x, device)
        if device == OWN:
            assert x.tolist() == floats(6).tolist()
    assert x.tolist() == [0, 6, 7, 8, 4, 5]


def test_always_copies():
    x = floats(3)
    with pp.data(alloc=(x,), device=OWN):
        with copied(2), pp.data(tofrom=(x,), always=True, device=OWN):
            add_one[3](x)
        assert x.tolist() == [1, 2, 3]
        with copied(1), pp.data(to=(x,), from_=(x[:1],), always=(x,), device=OWN):
            pass
        with copied(1), pp.data(from_=(x,), always=[x], device=OWN):
            add_one[3](x)
    assert x.tolist() == [2, 3, 4]


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy 2.5
def test_a_context_that_is_entered_again_finds_what_is_there(device):
    """What it has mapped before is counted, while it is present and as it was; else it is mapped anew."""
    x, y = floats(6), floats(2)
    context = pp.data(tofrom=(x,), to=(y,), device=device)
    with pp.data(to=(x, y), device=device), copied(0):
        for _ in range(3):
            with context, context:
                increase(x)
        with context:
            pp.exit_data(delete=(y,), device=device)
        assert not pp.is_present(y, device)
    assert not pp.is_present(x, device)
    with context:
        assert pp.is_present(y, device)
    with pp.data(to=(x, y), device=device):
        with context:
            x.shape = 2, 3
        with context:
            increase(x[0])
        x.shape = (6,)


def test_entered_again_and_as_a_decorator(device):
    x = floats(3)
    context = pp.data(tofrom=(x,), device=device)
    with context, context:
        add_one[3](x)

    @context
    def once_more():
        add_one[3](x)

    once_more()
    assert x.tolist() == [2, 3, 4]
    assert not pp.is_present(x, device)


def test_enter_and_exit(device):
    x, y = floats(4), floats(4)
    pp.enter_data(to=(x,), alloc=(y,), device=device)
    pp.enter_data(to=(x,), device=device)
    double[4](x, y)
    pp.exit_data(release=(x,), from_=(y,), device=device)
    assert y.tolist() == [0, 2, 4, 6]
    assert pp.is_present(x, device)
    assert not pp.is_present(y, device)
    add_one[4](x)
    pp.exit_data(from_=(x,), device=device)
    assert x.tolist() == [1, 2, 3, 4]
    for _ in range(3):
        pp.enter_data(to=(x,), device=device)
    pp.exit_data(delete=(x,), device=device)
    assert not pp.is_present(x, device)


def test_release_and_delete_of_a_block(device):
    x = floats(4)
    pp.enter_data(to=(x,), device=device)
    pp.enter_data(to=(x,), device=device)
    with pp.data(present=(x,), release=(x,), device=device):
        pass
    assert tables.tables[pp.Device(device).id].entry_of(x).count == 1
    with pp.data(tofrom=(x,), device=device):
        add_one[4](x)
        with pp.data(delete=(x,), device=device):
            pass
        assert not pp.is_present(x, device)
    if device == OWN:
        assert x.tolist() == [0, 1, 2, 3]


def test_updates():
    x = floats(3, 4)
    with pp.data(to=(x,), device=OWN):
        x[...] = 100
        with copied(1):
            pp.update_to(x[1, ::2])
        assert image(x).tolist() == [[0, 1, 2, 3], [100, 5, 100, 7], [8, 9, 10, 11]]
        x[...] = -1
        pp.update_from(x[:, 3:0:-2], device=OWN)
        assert x.tolist() == [[-1, 1, -1, 3], [-1, 5, -1, 7], [-1, 9, -1, 11]]


# --- what is refused


def refused(error, message, **lists):
    before = entries()
    with copied(0), pytest.raises(error, match=message), pp.data(**lists, device=OWN):
        raise AssertionError("entered")
    assert entries() == before


def test_overlap_is_refused_before_anything_is_done():
    x, other = floats(10), floats(3)
    with pp.data(to=(x[2:6],), device=OWN):
        message = (
            r"from_\[0\] at test_data.py:\d+, float32 of shape \(4,\), overlaps, without being a part of, "
            r"what is mapped: `x\[2:6\]`, to\[0\] at test_data.py:\d+, float32 of shape \(4,\)"
        )
        refused(ValueError, message, to=(other,), from_=(x[4:8],))
        refused(ValueError, r"to\[1\] at .*, float32 of shape \(10,\), would extend what is mapped: `x\[2:6\]`, to\[0\]", to=(other, x))
    refused(ValueError, "overlaps", to=(x[:5],), alloc=(x[4:],))


def test_other_elements_of_the_same_range_are_refused():
    x = floats(4, 6)
    with pp.data(to=(x[:, ::2],), device=OWN):
        refused(ValueError, "has elements that are not mapped with what holds its memory", to=(x[:, 1:4:2],))
        refused(ValueError, "has elements that are not mapped", tofrom=(x[1:3, :3],))
        assert not pp.is_present(x[:, 1], OWN)
        assert pp.is_present(x[::-1, 2], OWN)
        with pytest.raises(TypeError, match="is a NumPy array"):
            add_one[4](x[:, 1])


def test_wrong_arguments():
    x, y = floats(4), floats(4)
    y.flags.writeable = False
    refused(ValueError, r"data: from_\[0\] at .*, float32 of shape \(4,\), is read-only", to=(x,), from_=(y,))
    refused(ValueError, r"tofrom\[0\] at .*read-only", tofrom=(b"text",))
    refused(ValueError, "elements that share memory", to=(np.lib.stride_tricks.as_strided(x, (3, 3), (4, 4)),))
    refused(ValueError, r"present\[0\] at .* is not present on null:1", present=(x,))
    refused(ValueError, "always: an array that is in no other list", to=(x,), always=(y,))
    for wrong in (np.array([None]), np.array(["a", "b"]), np.array([b"a"]), np.array(["2020-01-01"], "M8[D]"), np.array([1], "m8[s]")):
        refused(TypeError, r"to\[0\] has elements of dtype .*, which are no numbers", to=(wrong,))
    refused(TypeError, "is an array of pardo", to=(pp.ones(2),))
    refused(TypeError, r"data: to\[0\] must be a NumPy array or have a buffer, not int", to=(1,))
    refused(TypeError, "masked array", to=(np.ma.masked_array([1.0], [True]),))
    with pytest.raises(TypeError, match=r"data: to must be a sequence of arrays, such as \(X,\), not ndarray"):
        pp.data(to=x)
    with pytest.raises(ValueError, match="unknown"):
        pp.data(to=(x,), device="unknown")
    for call in (lambda: pp.update_to(x), lambda: pp.update_from(x, device=OWN), lambda: pp.exit_data(release=(x,), device=OWN)):
        with pytest.raises(ValueError, match="is not present on"):
            call()
    with pp.data(to=(y,), device=OWN), pytest.raises(ValueError, match=r"`y`, argument\[0\] at .* is read-only"):
        pp.update_from(y)
    with pp.data(to=(x,), device=OWN):
        pp.update_from(x, x)  # twice on one device is once
    with pp.data(to=(x,), device=OWN), pp.data(to=(x,), device="cpu"), pytest.raises(ValueError, match="present on several devices"):
        pp.update_from(x)


def test_arguments_on_no_common_device():
    x, y = floats(3), floats(3)
    with pp.data(to=(x,), device=OWN), pytest.raises(TypeError, match="`y` is a NumPy array"):
        double[3](x, y)


# --- failures


def test_a_copy_that_fails_leaves_no_entry(monkeypatch):
    x, y = floats(3), floats(4)
    copy = mappings._new_entry

    def failing(table, m, later):
        if m.array.size == 3:
            raise MemoryError("none left")
        return copy(table, m, later)

    monkeypatch.setattr(mappings, "_new_entry", failing)
    with pytest.raises(MemoryError), pp.data(to=(y, x), device=OWN):
        raise AssertionError("entered")
    assert not pp.is_present(y, OWN)
    monkeypatch.undo()
    with pp.data(to=(y, x), device=OWN):
        assert pp.is_present(x, OWN)


@pp.kernel
def failing(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = 7
    assert i < 1, "too far"


@pytest.mark.parametrize("waits", [True, False])
def test_what_did_not_complete_stays(waits):
    good, bad = floats(3), floats(3)

    @pp.data(tofrom=(good,), device=OWN)
    @pp.data(tofrom=(bad,), device=OWN)
    def block():
        add_one[3](good)
        event = failing[3](bad)
        if waits:
            event.wait()

    with pytest.raises(AssertionError, match="too far"):
        block()
    assert good.tolist() == [1, 2, 3]
    assert bad.tolist() == [0, 1, 2]


def test_a_jit_function_that_fails():
    good, bad = floats(3), floats(3)

    @pp.jit
    def wrong(x):
        for i in pp.prange(3):
            x[i] = 9
            assert i < 1

    @pp.data(tofrom=(good, bad), device=OWN)
    def block():
        increase(good)
        wrong(bad)

    with pytest.raises(AssertionError):
        block()
    assert good.tolist() == [1, 2, 3]
    assert bad.tolist() == [0, 1, 2]


def test_other_exceptions_copy_back(device):
    x = floats(3)

    @pp.data(tofrom=(x,), device=device)
    def block():
        add_one[3](x)
        raise KeyError

    with pytest.raises(KeyError):
        block()
    assert x.tolist() == [1, 2, 3]


# --- threads and tasks


def test_threads_share_the_table():
    x = floats(1000)
    started = threading.Barrier(4)
    failures = []

    def work():
        try:
            started.wait(10)
            for _ in range(20):
                with pp.data(to=(x,), device=OWN):
                    assert pp.is_present(x[10:], OWN)
                    assert image(x)[999] == 999
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


def test_contexts_belong_to_tasks():
    x, y = floats(3), floats(3)
    both = pp.data(tofrom=(x,), device=OWN)

    async def one(wait):
        with both:
            await asyncio.sleep(wait)
            add_one[3](x)
        return pp.is_present(x, OWN)

    async def main():
        return await asyncio.gather(one(0.02), one(0.0))

    with pp.data(to=(y,), device=OWN):
        assert asyncio.run(main()) == [False, True]
        assert [b.table.device.id for b in tables.blocks.get()] == [pp.Device(OWN).id]
    assert x.tolist() == [2, 3, 4]


@pytest.mark.filterwarnings("ignore")
def test_a_forked_child_has_a_table_of_its_own(device):
    x, y = floats(3), floats(3)
    with pp.data(tofrom=(x,), device=device):
        add_one[3](x)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                with pp.data(tofrom=(y,), device=device):
                    add_one[3](y)
                pp.exit_data(delete=(x,), device=device)
                os._exit(0 if y.tolist() == [1, 2, 3] and not pp.is_present(x, device) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert pp.is_present(x, device)
    assert x.tolist() == [1, 2, 3]


def test_mapped_memory_is_kept_alive(device):
    x = floats(3)
    known = weakref.ref(x)
    with pp.data(to=(x,), device=device):
        del x
        assert known() is not None
    gc.collect()
    assert known() is None
