# tests/python/test_memory_kinds.py: device, shared and host memory: of arrays, of results, and as blocks of bytes.
from __future__ import annotations

import gc

import numpy as np
import pardo as pp
import pytest
from support import check

KINDS = ["device", "shared", "host"]
BLOCKS = {"device": pp.MemoryDevice, "shared": pp.MemoryShared, "host": pp.MemoryHost}


def strongest(*kinds):
    return min(kinds, key=KINDS.index)


@pytest.mark.parametrize("kind", KINDS)
def test_creation(kind):
    host = np.arange(6.0).reshape(2, 3)
    made = {
        "asarray": (pp.asarray(host, usm_type=kind), host),
        "asarray of an array": (pp.asarray(pp.asarray(host), usm_type=kind), host),
        "asarray of pending": (pp.asarray(pp.asarray(host) + 1, usm_type=kind), host + 1),
        "array": (pp.array([1, 2], usm_type=kind, ndmin=2), np.array([[1, 2]])),
        "empty": (pp.empty((2, 0), usm_type=kind), np.empty((2, 0))),
        "zeros": (pp.zeros(3, usm_type=kind), np.zeros(3)),
        "ones": (pp.ones((), "int8", usm_type=kind), np.ones((), "int8")),
        "full": (pp.full((2, 2), 7, usm_type=kind), np.full((2, 2), 7)),
        "full of values": (pp.full((2, 3), [1, 2, 3], usm_type=kind), np.full((2, 3), [1, 2, 3])),
        "arange": (pp.arange(5, usm_type=kind), np.arange(5)),
        "linspace": (pp.linspace(0, 1, 5, usm_type=kind), np.linspace(0, 1, 5)),
        "linspace of arrays": (pp.linspace(pp.zeros(2), 1, 5, usm_type=kind), np.linspace(np.zeros(2), 1, 5)),
        "eye": (pp.eye(3, k=1, usm_type=kind), np.eye(3, k=1)),
        "identity": (pp.identity(3, usm_type=kind), np.identity(3)),
        "empty_like": (pp.empty_like(pp.zeros((0, 2)), usm_type=kind), np.zeros((0, 2))),
        "zeros_like": (pp.zeros_like(pp.ones(3), usm_type=kind), np.zeros(3)),
        "ones_like": (pp.ones_like(pp.ones(3), usm_type=kind), np.ones(3)),
        "full_like": (pp.full_like(pp.ones(3), 4, usm_type=kind), np.full(3, 4.0)),
    }
    for label, (x, expected) in made.items():
        assert x.usm_type == kind, label
        assert x.memory_kind == kind, label
        check(x, expected, label=label)


def test_wrong_kinds():
    for make in (lambda: pp.zeros(3, usm_type="fast"), lambda: pp.asarray([1], usm_type="fast"), lambda: pp.empty(3, usm_type="fast")):
        with pytest.raises(ValueError, match="usm_type is 'fast'"):
            make()
    with pytest.raises(ValueError, match="copy=False"):
        pp.asarray(np.ones(3), copy=False, usm_type="device")
    assert pp.asarray(np.ones(3), copy=False, usm_type="host").usm_type == "host"


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_kind_of_results(first, second):
    x = pp.asarray(np.arange(12.0).reshape(3, 4), usm_type=first)
    y = pp.asarray(np.ones((3, 4)), usm_type=second)
    both = strongest(first, second)
    results = {
        "add": (x + y, both),
        "scalar": (x * 2, first),
        "constant": (x + pp.ones((3, 4)), first),
        "chain": (pp.sqrt(x + 1) * y - 3, both),
        "reduce": ((x + y).sum(axis=0), both),
        "sort": (pp.sort(x), first),
        "argsort": (pp.argsort(x), first),
        "take": (pp.take(x, pp.asarray([1, 0], usm_type=second), axis=0), both),
        "matmul": (x @ y.T, both),
        "cumsum": (pp.cumulative_sum(x, axis=0), first),
        "concat": (pp.concat([x, y]), both),
        "mask": (x[pp.asarray(np.ones((3, 4), bool), usm_type=second)], both),
        "roll": (pp.roll(x, 1), first),
        "copy": (x.copy(), first),
        "view": (x[1:, ::2], first),
        "reshape": (x.T.reshape(-1), first),
        "unique": (pp.unique_values(x), first),
        "nonzero": (pp.nonzero(x)[0], first),
        "zeros_like": (pp.zeros_like(x), first),
        "empty_like": (pp.empty_like(x), first),
    }
    for label, (result, kind) in results.items():
        assert result.usm_type == kind, label
    check(results["chain"][0], np.sqrt(np.arange(12.0).reshape(3, 4) + 1) - 3, ulp=4)


@pytest.mark.parametrize("kind", KINDS)
def test_positions_of_the_host_do_not_count(kind):
    """Lists and NumPy's arrays that say which elements: the result has the kind of the array."""
    host = np.arange(12.0).reshape(3, 4)
    x = pp.asarray(host, usm_type=kind)
    mask = [True, False, True]
    calls = {
        "a list": lambda x: x[[0, 2]],
        "an array": lambda x: x[np.array([0, 2])],
        "behind a slice": lambda x: x[:, [1, 1]],
        "several": lambda x: x[[0, 1], [2, 3]],
        "one and a new axis": lambda x: x[[-1], None],
        "a mask": lambda x: x[mask],
        "a mask of all": lambda x: x[host > 4],
        "take": lambda x: x.take([1, 2], axis=1),
        "compress": lambda x: x.compress(mask, axis=0),
        "repeat": lambda x: x.repeat([1, 2, 0], axis=0),
        "flat": lambda x: x.flat[[0, 5]],
    }
    for label, call in calls.items():
        found = call(x)
        assert found.usm_type == kind, label
        check(found, call(host), label=label)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_constants_do_not_count(kind):
    x, end = pp.asarray(np.arange(5.0), usm_type=kind), pp.asarray(0.5, usm_type=kind)
    ones = pp.ones(5)
    pp.wait(ones)
    found = {
        "searchsorted": pp.searchsorted(x, 2.5),
        "method": x.searchsorted(2),
        "linspace": pp.linspace(end, 1, 5),
        "linspace to": pp.linspace(0, end, 5),
        "isin": pp.isin(x, 2.0),
        "polyadd": pp.polyadd(x, 1),
        "fftconvolve": pp.signal.fftconvolve(x, [1.0, 2.0]),
        "correlate": pp.correlate([1, 2], x),
        "a constant computed before": x + ones,
        "joined": pp.concat([ones, x]),
    }
    for label, result in found.items():
        assert result.usm_type == kind, label
    assert ones.usm_type == "device"


def test_kinds_of_several_results_of_one_force():
    x = pp.asarray(np.arange(4.0), usm_type="host")
    y = pp.asarray(np.arange(4.0), usm_type="shared")
    z = pp.asarray(np.arange(4.0))
    results = [x + 1, x + y, x + y + z, pp.arange(4) * 2]
    pp.wait(*results)
    assert [r.usm_type for r in results] == ["host", "shared", "device", "device"]


def test_kind_survives_a_change_of_queue():
    x = pp.asarray(np.arange(4.0), usm_type="shared")
    y = x.to_queue(pp.Queue(x.device))
    assert y.usm_type == "shared"
    check(y, np.arange(4.0))


@pytest.mark.parametrize("device", ["cpu", "null"])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks(kind, device):
    memory = BLOCKS[kind](100, device=device)
    assert len(memory) == memory.nbytes == memory.size == 100
    assert memory.usm_type == kind
    assert memory.device == pp.Device(device)
    assert memory.queue == pp.Queue.of(device)
    assert memory._pointer % 64 == 0
    assert "100 bytes" in repr(memory)
    data = bytes(range(100))
    memory.copy_from_host(data)
    assert memory.tobytes() == data
    target = bytearray(100)
    assert memory.copy_to_host(target) is target
    assert target == data
    other = pp.MemoryDevice(100, device="cpu")
    other.copy_from_device(memory)
    assert other.tobytes() == data
    memory.memset(7)
    np.testing.assert_array_equal(memory.copy_to_host(), np.full(100, 7, np.uint8))
    queue = pp.Queue(device)
    queue.copy(memory, np.arange(25, dtype=np.int32)).wait()
    assert memory.tobytes() == np.arange(25, dtype=np.int32).tobytes()
    queue.fill(memory, 3).wait()
    queue.prefetch(memory).wait()
    assert memory.tobytes() == bytes([3]) * 100


@pytest.mark.parametrize("kind", ["shared", "host"])
def test_buffer_of_a_block(kind):
    memory = BLOCKS[kind](16)
    memory.memset(1)
    view = memoryview(memory)
    assert (view.format, view.nbytes, view.readonly) == ("B", 16, False)
    view[3] = 9
    host = np.asarray(memory)
    host[4] = 8
    x = memory.array()
    assert int(x[3]) == 9
    y = x + 1
    host[3] = 0
    assert int(y[3]) == 10  # recorded before the write
    del memory, view
    gc.collect()
    assert int(x[4]) == 8
    with pytest.raises(BufferError, match="copy_to_host"):
        memoryview(pp.MemoryDevice(16))


def test_arrays_on_a_block():
    memory = pp.MemoryShared(80)
    x = memory.array("float64")
    assert x.shape == (10,)
    assert x.usm_type == "shared"
    x[...] = pp.arange(10.0)
    y = memory.array("float64", (2, 2), offset=16)
    check(y, np.array([[2.0, 3.0], [4.0, 5.0]]))
    y[0, 0] = -1
    assert float(x[2]) == -1
    for wrong, match in (
        ({"offset": 3}, "offset"),
        ({"shape": 11}, "88 bytes"),
        ({"offset": -8}, "offset"),
        ({"shape": 10, "offset": 8}, "72 are"),
    ):
        with pytest.raises(ValueError, match=match):
            memory.array("float64", **wrong)
    assert memory.array("int8", 0, offset=80).shape == (0,)


@pytest.mark.parametrize("alignment", [0, 1, 64, 256, 4096, 1 << 16])
def test_alignment(alignment):
    for nbytes in (1, 100, 5000):
        memory = pp.MemoryHost(nbytes, alignment=alignment)
        assert memory._pointer % max(alignment, 1) == 0
        memory.memset(5)
        assert memory.tobytes() == bytes([5]) * nbytes
        check(memory.array("uint8") + 1, np.full(nbytes, 6, np.uint8))


def test_wrong_blocks():
    for wrong, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), ("x", TypeError)):
        with pytest.raises(error, match="MemoryHost"):
            pp.MemoryHost(wrong)
    for alignment, error in ((3, ValueError), (-64, ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="alignment"):
            pp.MemoryHost(10, alignment=alignment)
    with pytest.raises(MemoryError):
        pp.MemoryHost(1 << 60)
    memory = pp.MemoryHost(10)
    for wrong in (b"123", np.zeros(20, np.uint8)):
        with pytest.raises(ValueError, match="10"):
            memory.copy_from_host(wrong)
    with pytest.raises(ValueError, match="size"):
        memory.copy_to_host(bytearray(3))
    with pytest.raises(BufferError):
        memory.copy_from_host(np.zeros(20, np.uint8)[::2])
    with pytest.raises(TypeError):
        memory.copy_from_host("text")
    with pytest.raises(TypeError, match="memory"):
        memory.copy_from_device(b"x")
    with pytest.raises(ValueError, match="5 bytes"):
        memory.copy_from_device(pp.MemoryHost(5))
    for value, error in ((256, ValueError), (-1, ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="memset"):
            memory.memset(value)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_by_arrays_keep_their_kind(kind):
    """On the CPU a draw is memory of its own, which an elementwise function meets with that of the parameters."""
    x, rng = pp.asarray([1.0, 2.0, 4.0], usm_type=kind), pp.random.default_rng(0)
    given = {"uniform": (0.0, x), "beta": (x, x), "triangular": (x, x + 1, x + 2)}
    for name in ("normal", "uniform", "exponential", "logistic", "gamma", "beta", "poisson", "dirichlet", "standard_t", "triangular"):
        values = given.get(name, (x,))
        assert getattr(rng, name)(*values).usm_type == kind, name
        assert getattr(rng, name)(*values, usm_type="device").usm_type == "device", name
    assert rng.multivariate_normal(x, pp.diag(x)).usm_type == kind
    assert rng.normal(0.0, 1.0, 3).usm_type == "device"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_arrays_keep_their_kind(kind, form):
    x = pp.asarray([3.0, 1.0, 2.0, 5.0], usm_type=kind)
    square = pp.outer(x, x) * (pp.outer(x, x) > 5)
    m = pp.sparse.csr_array(square).asformat(form)
    host = pp.asnumpy(square)
    dense = {
        "m @ x": (m @ x, host @ pp.asnumpy(x)),
        "x @ m": (x @ m, pp.asnumpy(x) @ host),
        "m @ matrix": (m @ square, host @ host),
        "m.T @ x": (m.T @ x, host.T @ pp.asnumpy(x)),
        "dot": (m.dot(x), host @ pp.asnumpy(x)),
        "sum": (m.sum(0), host.sum(0)),
        "mean": (m.mean(1), host.mean(1)),
        "toarray": (m.toarray(), host),
        "diagonal": (m.diagonal(), host.diagonal()),
        "max": (m.max(axis=0), host.max(0)),
        "element": (m[0, 1], host[0, 1]),
    }
    for label, (got, expected) in dense.items():
        assert got.usm_type == kind, label
        check(got, expected, label=label)
    sparse = {"m + m": m + m, "m @ m": m @ m, "m * x": m * x, "-m": -m, "rows": m.tocsr()[1:3], "tocsc": m.tocsc(), "tocoo": m.tocoo()}
    sparse |= {"m > 9": m > 9, "multiply": m.multiply(m), "power": m.power(2), "astype": m.astype("float32"), "copy": m.copy()}
    for label, got in sparse.items():
        assert {part.usm_type for part in vars(got).values() if type(part) is pp.Array} == {kind}, label
    check((m + m).toarray(), host + host)
    check((m @ m).toarray(), host @ host)
    assert m.asformat(form) is m
