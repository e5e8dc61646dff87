# tests/python/test_placement.py: where results are: of values of the host alone, of 0-d arrays, of arrays made of arrays, and the device
# of an array, which remembers a queue of one's own.
from __future__ import annotations

import contextlib
import copy
import operator
import pickle
from typing import Any

import numpy as np
import pardo as pp
import pytest
from support import check

RAW = np.array([3.0, -1.0, 2.0, 0.5])


def copied(call):
    """The result, and how many arrays were copied."""
    before = pp.counters()["copies"]
    return call(), pp.counters()["copies"] - before


@pytest.fixture
def other() -> pp.Queue:
    """A queue that is not the default one."""
    return pp.Queue("cpu")


# --- values of the host alone ----------------------------------------------------------------------------------------------------------

ALONE = {
    "sum": lambda m, x: m.sum(x),
    "sqrt": lambda m, x: m.sqrt(m.abs(x)),
    "add": lambda m, x: m.add(x, x),
    "where": lambda m, x: m.where(x, x, 0),
    "clip": lambda m, x: m.clip(x, 0, 1),
    "sort": lambda m, x: m.sort(x),
    "cumsum": lambda m, x: m.cumsum(x),
    "argmax": lambda m, x: m.argmax(x),
    "median": lambda m, x: m.median(x),
    "percentile": lambda m, x: m.percentile(x, [25, 50]),
    "concatenate": lambda m, x: m.concatenate([x, x]),
    "stack": lambda m, x: m.stack([x, x]),
    "dot": lambda m, x: m.dot(x, x),
    "matmul": lambda m, x: m.matmul(x, x),
    "outer": lambda m, x: m.outer(x, x),
    "take": lambda m, x: m.take(x, [0, 1]),
    "unique": lambda m, x: m.unique(x),
    "histogram": lambda m, x: m.histogram(x, 3)[0],
    "pad": lambda m, x: m.pad(x, 1),
    "meshgrid": lambda m, x: m.meshgrid(x, x)[1],
    "diff": lambda m, x: m.diff(x),
    "interp": lambda m, x: m.interp(x, [0, 1, 2], [5, 6, 7]),
    "zeros_like": lambda m, x: m.zeros_like(x),
    "reshape": lambda m, x: m.reshape(x, (2, 2)),
    "isclose": lambda m, x: m.isclose(x, x),
    "norm": lambda m, x: m.linalg.norm(x),
    "fft": lambda m, x: m.fft.fft(x),
    "modf": lambda m, x: m.modf(x)[0],
    "reduce": lambda m, x: m.add.reduce(x),
    "accumulate": lambda m, x: m.multiply.accumulate(x),
    "einsum": lambda m, x: m.einsum("i,i->", x, x),
}
KINDS = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "NumPy": lambda a: a,
    "buffer": lambda a: memoryview(a),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALONE)
def test_values_alone_go_to_the_default_device(name, kind):
    call, host = ALONE[name], KINDS[kind](RAW)
    result, count = copied(lambda: call(pp, host))
    assert type(result) is pp.Array
    assert result.queue == pp.Queue.of(pp.Device())
    assert count >= 1
    check(result, np.asarray(call(np, RAW)), ulp=16, label=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALONE)
def test_values_alone_go_to_the_device_of_a_context(name, kind):
    call, host = ALONE[name], KINDS[kind](RAW)
    with pp.device_context("cpu:0/1.0"):  # another device than the default one
        result = call(pp, host)
        if kind != "NumPy":
            assert result.queue == pp.Queue.of("cpu:0/1.0")
    assert isinstance(result, pp.Array) == (kind != "NumPy")
    np.testing.assert_allclose(result if kind == "NumPy" else pp.asnumpy(result), call(np, RAW), rtol=1e-12)


@pytest.mark.parametrize("where", ["default", "context"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALONE)
def test_a_guard_sees_them(name, kind, where):
    call, host = ALONE[name], KINDS[kind](RAW)
    place = pp.device_context("cpu") if where == "context" else contextlib.nullcontext()
    with place, pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match="would copy"):
        call(pp, host)


def test_series_of_pandas():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(RAW)
    check(pp.sort(series), np.sort(RAW))
    check(pp.sqrt(series * 0 + 4), np.full(4, 2.0))
    check(pp.concatenate([series, [1.0]]), np.append(RAW, 1.0))


def test_out_is_followed(other):
    out = pp.zeros(4, queue=other)
    assert pp.add(RAW, RAW.tolist(), out=out) is out
    check(out, RAW + RAW)
    total = pp.zeros((), queue=other)
    pp.sum(RAW.tolist(), out=total)
    assert float(total) == RAW.sum()


def test_numbers_are_computed_where_out_is(other):
    pp.set_default_device("null:1")  # whose 0-d arrays stay where they are
    try:
        out = pp.zeros(3, "float32", queue=other)
        pp.add(1, 2, out=out)
        check(out, np.full(3, 3, "float32"))
        pp.power(2.0, 3, out=out, where=True)
        check(out, np.full(3, 8, "float32"))
        pp.sqrt(pp.ones(3, "float32", queue=other), out=out, where=1)
        check(out, np.ones(3, "float32"))
    finally:
        pp.set_default_device(None)


def test_what_is_no_number_is_still_refused():
    for wrong in ("text", None, {1: 2}, object(), [None], ["a"]):
        with pytest.raises((TypeError, ValueError)):
            pp.sum(wrong)
        with pytest.raises((TypeError, ValueError)):
            pp.sqrt(wrong)


# --- 0-d arrays of the CPU ---------------------------------------------------------------------------------------------------------------

FOLLOWED = {
    "operator": lambda x, c: x + c,
    "reflected": lambda x, c: c - x,
    "comparison": lambda x, c: c < x,
    "power": lambda x, c: x**c,
    "matmul": lambda x, c: x @ (x * c),
    "where": lambda x, c: pp.where(x > c, x, c),
    "clip": lambda x, c: pp.clip(x, c, None),
    "method clip": lambda x, c: x.clip(c),
    "maximum": lambda x, c: pp.maximum(c, x),
    "stack": lambda x, c: pp.stack([x[0], c]),
    "of numbers": lambda x, c: x[0] + c,
    "where of numbers": lambda x, c: pp.where(x[0] > 1, c, x[1]),
    "mean": lambda x, c: x.sum() / c,
    "hstack": lambda x, c: pp.hstack([x, c]),
    "append": lambda x, c: pp.append(x, c),
    "full_like": lambda x, c: pp.full_like(x, c),
    "searchsorted": lambda x, c: pp.searchsorted(pp.sort(x), c),
    "isclose": lambda x, c: pp.isclose(x, c),
    "interp": lambda x, c: pp.interp(c, pp.sort(x), x),
    "dot": lambda x, c: pp.dot(x, c),
    "outer": lambda x, c: pp.outer(x, c),
    "list": lambda x, c: pp.array([x[0], c, 1.0]),
    "linspace": lambda x, c: pp.linspace(c, x, 3),
    "linspace of numbers": lambda x, c: pp.linspace(c, x.max(), 3),
    "divmod": lambda x, c: divmod(x, c)[0],
    "modf": lambda x, c: pp.fmod(x, c),
    "nan_to_num": lambda x, c: pp.nan_to_num(x * c),
}


@pytest.mark.parametrize("made", ["asarray", "computed"])
@pytest.mark.parametrize("name", FOLLOWED)
def test_0d_arrays_of_the_cpu_follow(name, made, other):
    call = FOLLOWED[name]
    x = pp.asarray(RAW, queue=other)
    c = pp.asarray(2.0) if made == "asarray" else pp.asarray([1.0, 1.0]).sum()
    assert c.queue != other
    result = call(x, c)
    assert result.queue == other
    check(result, pp.asnumpy(call(pp.asarray(RAW), pp.asarray(2.0))), label=name)
    assert c.queue != other


def test_they_follow_in_stores(other):
    x, c, i = pp.asarray(RAW, queue=other), pp.asarray(7.0), pp.asarray(1)
    x[0] = c
    x[1:3] = c
    x[x > 100] = c
    x += c
    np.testing.assert_array_equal(pp.asnumpy(x), [14, 14, 14, 7.5])
    assert float(x[i]) == 14
    pp.add(x, c, out=x)
    pp.copyto(x, c)
    x.fill(c)
    check(x, np.full(4, 7.0))
    x[i] = 1.0
    assert x.tolist() == [7, 1, 7, 7]


@pp.kernel
def added(item: pp.Item, x, c):
    x[item.get_id(0)] += c


@pp.kernel
def added_part(item: pp.Item, x, parts):
    x[item.get_id(0)] += parts[1][()]


@pp.kernel
def stored(item: pp.Item, x, c):
    c[()] = x[item.get_id(0)]


@pp.jit
def looped(x, c):
    for i in pp.prange(len(x)):
        x[i] += c


@pp.jit
def looped_in_order(x, c):
    for i in range(len(x)):
        x[i] += c[()]


@pp.jit
def made_beside(c, x):
    y = np.zeros(len(x))
    for i in pp.prange(len(x)):
        y[i] = x[i] + c[()]
    x[:] = y


@pp.elementwise
def elementwise_sum(x, c):
    return x + c


ARGUMENTS = {
    "kernel": lambda x, c: added[x.shape](x, c),
    "part of a tuple": lambda x, c: added_part[x.shape](x, (1.0, c)),
    "queue of the launch": lambda x, c: added[x.shape, x.queue](x, c),
    "loop": looped,
    "serial loop": looped_in_order,
    "arrays of its own": lambda x, c: made_beside(c, x),
    "elementwise": lambda x, c: pp.copyto(x, elementwise_sum(c, x)),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_they_follow_as_arguments_of_kernels_and_loops(name, other):
    call = ARGUMENTS[name]
    for c in (pp.asarray(2.0), pp.asarray([1.0, 1.0]).sum(), pp.asarray([1.0, 2.0])[1:].reshape(())):
        x = pp.asarray(RAW, queue=other)
        _, count = copied(lambda x=x, c=c: call(x, c))
        assert count == 1 or (count == 0 and c._is_scalar_value())  # which jit functions read as numbers
        check(x, RAW + 2, label=name)
        assert c.queue != x.queue == other


def test_a_numpy_array_beside_an_array_of_a_device_is_named():
    @pp.jit
    def add(x, y):
        for i in pp.prange(x.shape[0]):
            x[i] += y[i]

    there = pp.ones(3, device="null:1")
    for arguments, host, away in (((there, np.ones(3)), "y", "x"), ((np.ones(3), there), "x", "y")):
        text = f"add: `{host}` is a NumPy array, .* and `{away}` is on null:1; pass pardo.asarray[(]{host}, device={away}.device[)]"
        with pytest.raises(pp.ExecutionPlacementError, match=text):
            add(*arguments)
    with pytest.raises(pp.ExecutionPlacementError, match=r"on another queue of cpu:0, .*; copy one explicitly: x.to_queue\(queue\) or"):
        add(pp.ones(3), pp.ones(3, queue=pp.Queue("cpu")))


def test_what_a_kernel_writes_does_not_follow(other):
    x, c = pp.asarray(RAW, queue=other), pp.asarray(7.0)
    with pytest.raises(pp.ExecutionPlacementError, match=r"^stored: `c` is on another queue of cpu:0 and written, `x` is on"):
        stored[1](x, c)
    with pytest.raises(pp.ExecutionPlacementError, match=r"^added: `x` is on another queue of cpu:0, `c` is on a queue of cpu:0"):
        added[4, c.queue](x, c)
    with pytest.raises(pp.ExecutionPlacementError, match=r"^added: `c` is on another queue of cpu:0, `x` is on a queue of cpu:0"):
        added[4](x, c[None])
    check(x, RAW)
    assert float(c) == 7


def test_numpys_arrays_without_dimensions_are_numbers_in_kernels():
    @pp.kernel
    def scaled(item: pp.Item, x, c):
        x[item.get_id(0)] *= c

    x = pp.asarray(RAW)
    scaled[4](x, np.asarray(2.0))
    check(x, RAW * 2)
    with pytest.raises(TypeError, match="is a NumPy array, and data does not move by itself"):
        scaled[4](x, np.ones(1))


@pytest.mark.parametrize("name", [n for n in (*FOLLOWED, *ARGUMENTS) if n != "linspace of numbers"])  # which reads them
def test_a_guard_sees_what_follows(name, other):
    x, c = pp.asarray(RAW, queue=other), pp.asarray(2.0)
    call = FOLLOWED.get(name) or ARGUMENTS[name]
    with (
        pp.transfer_guard("disallow"),
        pytest.raises(pp.ExecutionPlacementError, match=r": would copy 8 bytes of the host to cpu:0, at .*test_placement"),
    ):
        call(x, c)
    check(x, RAW)
    with pp.transfer_guard("disallow"):
        call(x, pp.asarray(2.0, queue=other))


def test_what_is_written_does_not_follow(other):
    x, total = pp.asarray(RAW, queue=other), pp.asarray(0.0)
    assert pp.sum(x, out=total) is total  # the result is such an array too, and follows
    assert float(total) == RAW.sum()
    pp.add.reduce(x, out=total)
    assert float(total) == RAW.sum()
    assert total.queue != other
    line = pp.zeros(4)
    for call in (lambda: pp.sqrt(x, out=line), lambda: pp.cumsum(x, out=line), lambda: pp.add(x, 1, out=line)):
        with pytest.raises(pp.ExecutionPlacementError):
            call()
    check(line, np.zeros(4))


def test_those_on_a_canonical_queue_follow_those_on_a_queue_of_ones_own(other):
    a, b = pp.asarray(1.0), pp.asarray(2.0, queue=other)
    calls = (lambda: a + b, lambda: pp.add(b, a), lambda: pp.stack([a, b]), lambda: pp.array([a, b]), lambda: pp.linspace(a, b, 3))
    for call in calls:
        assert call().queue == other


def test_two_of_them_on_queues_of_ones_own_are_refused(other):
    a, b = pp.asarray(1.0, queue=pp.Queue("cpu")), pp.asarray(2.0, queue=other)
    calls = (lambda: a + b, lambda: pp.add(a, b), lambda: pp.stack([a, b]), lambda: pp.array([a, b]), lambda: pp.linspace(a, b, 3))
    for call in calls:
        with pytest.raises(pp.ExecutionPlacementError, match="different queues"):
            call()


def test_lines_are_never_moved(other):
    x, y = pp.asarray(RAW), pp.asarray(RAW, queue=other)
    calls = (
        lambda: x + y,
        lambda: pp.concatenate([x, y]),
        lambda: pp.array([x, y]),
        lambda: pp.linspace(x, y, 3),
        lambda: pp.logspace(x, y, 3),
        lambda: pp.geomspace(abs(x), abs(y), 3),
        lambda: x.__setitem__(..., y),
    )
    for call in calls:
        with pytest.raises(pp.ExecutionPlacementError, match="different queues"):
            call()
    check(x, RAW)


def test_a_failure_of_what_follows_is_told(other):
    def wrong():
        raise ZeroDivisionError("of the task")

    c = pp.asarray(1.0)
    c.queue.host_task(wrong, depends=c)
    # A task that writes: what is stored after it never is.
    c2 = pp.zeros(())
    failed = c2.queue.host_task(wrong)
    c2.queue.fill(c2, 3.0, depends=failed)
    y = pp.asarray(RAW, queue=other) + c2
    with pytest.raises(ZeroDivisionError):
        y.wait()
    with pytest.raises(ZeroDivisionError):
        c2.queue.wait()


# --- arrays made of arrays ---------------------------------------------------------------------------------------------------------------


def test_grids_and_broadcasts_are_where_the_others_are(other):
    x, c = pp.asarray(RAW, queue=other), pp.asarray(2.0)
    for made in (pp.broadcast_arrays(c, x), pp.meshgrid(c, x), pp.meshgrid(x, 3.0, c)):
        assert {y.queue for y in made} == {other}
    line = pp.zeros(1)
    assert [y.queue == other for y in pp.broadcast_arrays(line, c, x)] == [False, False, True]  # the first that does not follow decides


MADE = {
    "linspace": lambda x: pp.linspace(x.min(), x.max(), 4),
    "linspace of one": lambda x: pp.linspace(0, x.max(), 4),
    "linspace of lines": lambda x: pp.linspace(x, 9.0, 4),
    "logspace": lambda x: pp.logspace(0.0, x.max(), 4),
    "logspace of lists": lambda x: pp.logspace([x.min(), 1.0], [x.max(), x[1]], 4),
    "logspace of bases": lambda x: pp.logspace(0.0, 1.0, 4, base=abs(x)),
    "geomspace": lambda x: pp.geomspace(1.0, x.max(), 4),
    "arange": lambda x: pp.arange(x[3], x[0]),
    "arange of a step": lambda x: pp.arange(0, 4, x[2]),
    "array": lambda x: pp.array([x.min(), x.max()]),
    "asarray": lambda x: pp.asarray([x, [1.0, 2.0, 3.0, 4.0]]),
    "asarray of a tuple": lambda x: pp.asarray((x[0], 3)),
    "nested": lambda x: pp.asarray([[[x[0], 1.0]], [[2, x[1]]]]),
    "full": lambda x: pp.full(3, x[0]),
    "full of a line": lambda x: pp.full((2, 4), x),
    "full of a list": lambda x: pp.full((3, 2), [x[0], 1.0]),
    "meshgrid": lambda x: pp.meshgrid(x, [1.0, 2.0])[1],
    "r_": lambda x: pp.r_[0:1:0.5, x, 3.0],
    "r_ of a slice": lambda x: pp.r_[0 : x[0] : 3j],
    "c_": lambda x: pp.c_[x, [1.0, 2.0, 3.0, 4.0]],
    "mgrid": lambda x: pp.mgrid[0 : x[0], 0:2][0],
    "ogrid": lambda x: pp.ogrid[0:2, 0 : x[0]][0],
    "ix_": lambda x: pp.ix_([0, 1], x > 0)[0],
    "block": lambda x: pp.block([[x], [np.ones(4)]]),
    "fftfreq": lambda x: pp.fft.fftfreq(4, x[0]),
    "rfftfreq": lambda x: pp.fft.rfftfreq(4, x[0]),
    "kaiser": lambda x: pp.kaiser(4, x[0]),
    "vander": lambda x: pp.vander(x, 2),
    "diag": lambda x: pp.diag(x),
    "stack": lambda x: pp.stack([x, RAW]),
    "sum of a list": lambda x: pp.sum([x[0], x[1], 2.0]),
    "operand in a list": lambda x: operator.add(x, [x[0], 1.0, 2.0, 3.0]),
    "select": lambda x: pp.select([x > 0, x < 0], [x, 1.0], 2.0),
    "histogram_bin_edges": lambda x: pp.histogram_bin_edges(x, 3),
    "piecewise": lambda x: pp.piecewise(x, [x > 0], [1.0, 2.0]),
    "like": lambda x: np.asarray([1.0, 2.0], like=x),
    "zeros by the device": lambda x: pp.zeros(3, device=x.device),
    "eye by the device": lambda x: pp.eye(3, device=x.device),
    "to_device": lambda x: pp.zeros(3).to_device(x.device),
    "asarray by the device": lambda x: pp.asarray(RAW, device=x.device),
    "from_dlpack": lambda x: pp.from_dlpack(x, device=x.device),
    "astype": lambda x: pp.astype(x, "float32", device=x.device),
    "indices": lambda x: pp.indices((2, 2), device=x.device),
    "hanning": lambda x: pp.hanning(4, device=x.device),
}


@pytest.mark.parametrize("name", MADE)
def test_arrays_made_of_arrays_are_where_these_are(name, other):
    x = pp.asarray(RAW, queue=other)
    result = MADE[name](x)
    assert result.queue == other, name
    check(result, pp.asnumpy(MADE[name](pp.asarray(RAW))), label=name)


def test_a_recycled_block_is_no_copy_of_the_host():
    x = pp.asarray(RAW, usm_type="host")
    for _ in range(20):
        assert (x + RAW).usm_type == "host"
        assert pp.concat([x, RAW]).usm_type == "host"
        assert pp.asarray(RAW).usm_type == (pp.asarray(RAW) + RAW).usm_type == "device"
        assert (pp.asarray(RAW) + x).usm_type == "device"


def test_a_list_with_arrays_keeps_numpys_dtypes():
    x = pp.asarray(RAW.astype("float32"))
    small = [pp.asarray(1, dtype="int8"), pp.asarray(2, dtype="uint8")]
    cases: list[Any] = [[x[0], x[1]], [x[0], 1.0], [x[0], 1], [x > 0, x > 1], small]
    for case in cases:
        host = [np.asarray(pp.asnumpy(v))[()] if isinstance(v, pp.Array) else v for v in case]
        check(pp.asarray(case), np.asarray(host))
        check(pp.asarray(case, dtype="int16"), np.asarray(host, "int16"))
    with pytest.raises(ValueError, match="different shapes"):
        pp.asarray([x, x[:2]])
    big = 2**53 + 1
    assert int(pp.array([pp.asarray(1.0), big], dtype="int64")[1]) == big


def test_other_places_are_as_named(other):
    x = pp.asarray(RAW, queue=other)
    third = pp.Queue("cpu")
    assert pp.array([x[0], x[1]], queue=third).queue == third
    assert pp.linspace(x.min(), x.max(), 3, device="cpu").queue == pp.Queue.of("cpu")
    assert pp.full(3, x[0], device=x.device).queue == other
    assert pp.zeros_like(x, device="cpu").queue == pp.Queue.of("cpu")


# --- the device of an array ------------------------------------------------------------------------------------------------------------


def test_a_device_remembers_the_queue(other):
    x, cpu = pp.asarray(RAW, queue=other), pp.Device("cpu")
    d = x.device
    assert pp.Queue.of(d) == other
    assert d != cpu
    assert d == pp.zeros(1, queue=other).device == (x + 1).device
    assert hash(d) == hash(pp.zeros(1, queue=other).device)
    assert d != pp.zeros(1, queue=pp.Queue("cpu")).device
    assert d.without_queue == cpu == other.device == cpu.without_queue
    assert hash(d.without_queue) == hash(cpu)
    assert len({d, cpu, pp.zeros(1).device}) == 2
    assert pp.Device(d) == d
    assert str(d) == d.id == "cpu:0"
    assert "cpu:0" in repr(d)
    assert repr(d) != repr(cpu)
    assert hex(other_address(other)) in repr(d)
    assert isinstance(d, pp.Device)
    assert d.name == cpu.name


def other_address(queue: pp.Queue) -> int:
    return int(repr(queue).split()[1], 16)


def test_canonical_queues_are_not_remembered():
    assert pp.zeros(1).device == pp.Device("cpu") == pp.get_devices("cpu")[0]
    assert repr(pp.zeros(1).device) == repr(pp.Device("cpu"))


def test_a_device_by_name_means_the_canonical_queue(other):
    x = pp.asarray(RAW, queue=other)
    for named in ("cpu", pp.Device("cpu"), pp.get_devices("cpu")[0], x.device.without_queue):
        assert x.to_device(named).queue == pp.Queue.of("cpu")
        assert pp.asarray(x, device=named).queue == pp.Queue.of("cpu")
    assert x.to_device(x.device) is x or x.to_device(x.device).queue == other


def test_pickles_drop_the_queue(other):
    x = pp.asarray(RAW, queue=other)
    assert pickle.loads(pickle.dumps(x.device)) == pp.Device("cpu")
    assert pickle.loads(pickle.dumps(x)).queue == pp.Queue.of("cpu")


def test_copies_of_a_device_keep_the_queue(other):
    """The modules copy and dataclasses (asdict) must not move what follows to another queue."""
    device = pp.asarray(RAW, queue=other).device
    for same in (copy.copy(device), copy.deepcopy([device])[0]):
        assert same == device
        assert pp.zeros(3, device=same).queue == other


def test_device_and_queue_must_fit(other):
    x = pp.asarray(RAW, queue=other)
    assert pp.zeros(3, device=x.device, queue=other).queue == other
    assert pp.zeros(3, device="cpu", queue=other).queue == other
    with pytest.raises(ValueError, match="give one of them"):
        pp.zeros(3, device=x.device, queue=pp.Queue("cpu"))


def test_choices_of_a_default_never_own_a_queue(other):
    d = pp.asarray(RAW, queue=other).device
    with pp.device_context(d):
        assert pp.zeros(1).queue == pp.Queue.of("cpu")
    pp.set_default_device(d)
    try:
        assert pp.zeros(1).queue == pp.Queue.of("cpu")
    finally:
        pp.set_default_device(None)


def test_contexts_and_limits_know_the_hardware(other):
    d = pp.asarray(RAW, queue=other).device
    context = pp.Context([d])
    assert context == pp.Context(["cpu"])
    assert list(context.devices) == [pp.Device("cpu")]
    assert pp.Queue(d, context=context).device == pp.Device("cpu")
    assert pp.memory_stats(d) is not None
    assert pp.Program is not None


def test_the_queue_lives_as_long_as_the_device():
    d = pp.zeros(3, queue=pp.Queue("cpu")).device
    x = pp.zeros(3, device=d)
    assert (x + pp.ones(3, device=d)).tolist() == [1, 1, 1]


# --- NumPy's functions that store in its own arrays --------------------------------------------------------------------------------------

STORES = {
    "putmask": lambda a, v: np.putmask(a, a > 0, v),
    "putmask by names": lambda a, v: np.putmask(a, mask=v > 0, values=v),
    "place": lambda a, v: np.place(a, a > 0, v),
    "put": lambda a, v: np.put(a, [0, 2], v),
    "put by indices": lambda a, v: np.put(a, (v > 0) * 1, [5.0, 6.0]),
    "put_along_axis": lambda a, v: np.put_along_axis(a, np.array([0, 1, 2, 3]), v, 0),
    "copyto": lambda a, v: np.copyto(a, v),
    "copyto where": lambda a, v: np.copyto(a, 1.0, where=v > 0),
    "fill_diagonal": lambda a, v: np.fill_diagonal(a.reshape(2, 2), v),
}


@pytest.mark.parametrize("name", STORES)
def test_numpys_arrays_take_our_values(name):
    ours, theirs, values = RAW.copy(), RAW.copy(), np.array([9.0, -8.0, 7.0, 6.0])
    STORES[name](theirs, values)
    STORES[name](ours, pp.asarray(values))
    np.testing.assert_array_equal(ours, theirs)


def test_a_guard_sees_what_is_fetched():
    far = pp.asarray(RAW.astype("float32"), device="null:1")
    host = RAW.astype("float32")
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError):
        np.putmask(host, host > 0, far)
