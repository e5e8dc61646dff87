# tests/python/test_dask.py: arrays as Dask's chunks on each device: creation, functions, names, sizes, messages, spilling.
from __future__ import annotations

import importlib.metadata
import pickle
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

RNG = np.random.default_rng(5)
SQUARE = (RNG.random((8, 8)) + 8 * np.eye(8)).astype("f4")
LINE = RNG.random(8).astype("f4")
TALL = RNG.random((20, 4)).astype("f4")
WHOLE = RNG.integers(0, 5, (6, 7)).astype("i4")


@pytest.fixture(params=DEVICES, ids=str)
def device(request):
    with dask.config.set(scheduler="synchronous"):
        yield pp.Device(request.param)


def on(device, host, chunks):
    return da.from_array(pp.asarray(host, device=device), chunks=chunks)


def check(lazy, expected, device, tolerance=2e-4):
    made = lazy.compute()
    assert type(made) is type(lazy._meta) is pp.Array
    assert made.device == device
    np.testing.assert_allclose(pp.asnumpy(made), expected, rtol=tolerance, atol=tolerance)


FUNCTIONS = {
    "operators": lambda m, a: (a * 2 + 1)[1::2, ::-1],
    "reductions": lambda m, a: a.sum(axis=0) / a.max(),
    "products": lambda m, a: a @ a.T,
    "tensordot": lambda m, a: m.tensordot(a, a, axes=((0,), (0,))),
    "einsum": lambda m, a: m.einsum("ij,jk->ik", a, a),
    "concatenate": lambda m, a: m.concatenate([a, a], axis=1),
    "where": lambda m, a: m.where(a > 1, a, 0),
    "nanmean": lambda m, a: m.nanmean(a, axis=1),
    "std": lambda m, a: a.std(axis=0),
    "median": lambda m, a: m.median(a, axis=0),
    "cumsum": lambda m, a: m.cumsum(a, axis=0),
    "mask": lambda m, a: a[a > 4],
    "pad": lambda m, a: m.pad(a, 2, mode="reflect"),
    "inv": lambda m, a: m.linalg.inv(a),
    "solve": lambda m, a: m.linalg.solve(a, a[:, 0]),
    "isin": lambda m, a: m.isin(a.astype("i4"), [8, 9]),
}


@pytest.mark.varied("name")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(device, name):
    check(FUNCTIONS[name](da, on(device, SQUARE, 4)), FUNCTIONS[name](np, SQUARE), device)


def test_factorizations(device):
    a, tall = on(device, SQUARE, 4), on(device, TALL, (5, 4))
    p, lower, upper = da.linalg.lu(a)
    check(p @ lower @ upper, SQUARE, device)
    assert pp.asnumpy(p.compute()).sum() == 8
    assert np.triu(pp.asnumpy(lower.compute()), 1).max() == 0
    q, r = da.linalg.qr(tall)
    check(q @ r, TALL, device)
    u, s, v = da.linalg.svd(tall)
    check((u * s) @ v, TALL, device)
    check(da.linalg.lstsq(tall, tall[:, 0] + 1)[0], np.linalg.lstsq(TALL, TALL[:, 0] + 1, rcond=None)[0], device, 2e-3)
    check(da.linalg.cholesky(a @ a.T, lower=True), np.linalg.cholesky(SQUARE @ SQUARE.T), device, 1e-3)


def test_overlap_and_fourier(device):
    a = on(device, SQUARE, 4)
    check(a.map_overlap(lambda x: x + pp.roll(x, 1, 0), depth=1, boundary="periodic"), SQUARE + np.roll(SQUARE, 1, 0), device)
    check(da.fft.fft(a.rechunk((4, 8)), axis=1), np.fft.fft(SQUARE, axis=1), device, 1e-3)
    check(da.fft.irfft2(da.fft.rfft2(a.rechunk(8))), SQUARE, device, 1e-3)


@pytest.mark.parametrize("chunks", [3, 7])
def test_unique(device, chunks):
    results = da.unique(on(device, WHOLE, chunks), return_index=True, return_inverse=True, return_counts=True)
    expected = np.unique(WHOLE, return_index=True, return_inverse=True, return_counts=True)
    for lazy, wanted in zip(results, expected, strict=True):
        check(lazy, wanted, device)
    check(da.unique(on(device, WHOLE, chunks)), expected[0], device)
    host = da.unique(da.from_array(WHOLE, chunks=chunks), return_counts=True)
    assert type(host[1].compute()) is np.ndarray  # others are Dask's as before


def test_unique_of_nan():
    host = np.array([np.nan, 1, np.nan, 1, 2, np.nan])
    values, inverse, counts = da.unique(da.from_array(pp.asarray(host), chunks=2), return_inverse=True, return_counts=True)
    expected = np.unique(host, return_inverse=True, return_counts=True)
    for lazy, wanted in zip((values, inverse, counts), expected, strict=True):
        np.testing.assert_array_equal(pp.asnumpy(lazy.compute()), wanted)


def test_percentile(device):
    host = RNG.random(100).astype("f4")
    expected = da.percentile(da.from_array(host, chunks=25), [20, 50, 99]).compute()
    check(da.percentile(on(device, host, 25), [20, 50, 99]), expected, device)
    pickle.loads(pickle.dumps(da.percentile(on(device, host, 25), 50)))


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_backend(device, scheduler):
    with dask.config.set({"array.backend": "pardo", "scheduler": scheduler}), pp.device_context(device):
        check(da.ones((4, 4), chunks=2, dtype="f4") + 1, np.full((4, 4), 2), device)
        check(da.full((4,), 7, chunks=2, dtype="f4"), np.full(4, 7), device)
        check(da.zeros((4,), chunks=2, dtype="i4"), np.zeros(4), device)
        check(da.arange(10, chunks=3, dtype="i4"), np.arange(10), device)
        normal = da.random.default_rng(3).normal(size=(100, 100), chunks=50)
        moved = da.from_array(LINE, chunks=4)
        if device.has_fp64:
            assert abs(float(normal.mean().compute())) < 0.05
            again = da.random.default_rng(3).normal(size=(100, 100), chunks=50)
            np.testing.assert_array_equal(pp.asnumpy(normal.compute()), pp.asnumpy(again.compute()))
        check(moved.to_backend("pardo"), LINE, device)
        assert type(moved.to_backend("pardo").to_backend("numpy").compute()) is np.ndarray


def test_names_of_arrays(device):
    x = pp.asarray(SQUARE, device=device)
    name = dask.base.tokenize(x)
    assert name == dask.base.tokenize(pp.asarray(SQUARE, device=device))
    others = [x + 1, x.T, x.reshape(-1), pp.asarray(np.asfortranarray(SQUARE), device=device, order="K"), pp.asarray(SQUARE, device="null")]
    names = {dask.base.tokenize(other) for other in others}
    assert len(names | {name}) == len(others) + 1


def test_sizes():
    sizeof = pytest.importorskip("dask.sizeof").sizeof
    x = pp.zeros(1000)
    assert sizeof(x) == sizeof(x.reshape(10, 100)) == 8000
    assert sizeof(x + 1) == 8000
    assert sizeof(pp.zeros(3, dtype=[("a", "f8"), ("b", "i4")])) == 36


def test_entry_points():
    for group, name in (("dask.array.backends", "PardoBackend"), ("dask.sizeof", "register")):
        (found,) = importlib.metadata.entry_points(group=group, name="pardo")
        assert found.load().__name__ == name


@pytest.mark.slow
@pytest.mark.parametrize("first", ["import pardo as pp", "import dask", "import dask.array", "import distributed"])
def test_the_order_of_imports_does_not_matter(first):
    code = f"""
{first}
import pardo as pp, dask.array as da, dask
x = da.from_array(pp.arange(10.0), chunks=5)
print(type(da.percentile(x, [50]).compute()).__name__, type(da.unique(x)._meta).__name__)
with dask.config.set({{"array.backend": "pardo"}}):
    print(type(da.ones(3).compute()).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["Array"] * 3, done.stderr


def test_members_are_listed_where_dask_is_not():
    code = """
import inspect, sys
sys.modules["distributed"] = None
import pardo as pp
inspect.getmembers(pp)
try:
    pp.dask
except ImportError as error:
    print("pardo[dask]" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr


# --- distributed


@pytest.mark.parametrize("order", ["C", "F"])
def test_messages(device, order):
    protocol = pytest.importorskip("distributed.protocol")
    x = pp.asarray(np.asarray(SQUARE, order=order), device=device, order="K")
    for value in (x, x.T, x[::2], x[:0], x + 1):
        header, frames = protocol.serialize(value)
        made = protocol.deserialize(header, frames)
        assert type(made) is pp.Array
        assert made.device == device
        assert made.dtype == value.dtype
        np.testing.assert_array_equal(pp.asnumpy(made), pp.asnumpy(value))
    assert protocol.deserialize(*protocol.serialize(x)).strides == x.strides


def test_messages_are_sent_from_where_arrays_lie():
    protocol = pytest.importorskip("distributed.protocol")
    x = pp.zeros((1000, 300)).T + 1
    pp.wait(x)
    _, frames = protocol.serialize(x)
    largest = max(frames, key=lambda frame: memoryview(frame).nbytes)
    assert np.shares_memory(np.frombuffer(largest, dtype="f8"), np.asarray(x))


@pytest.mark.parametrize("dtype", ["f4", "i1", "c8", "?"])
def test_frames(device, dtype):
    """What goes from GPU to GPU is made of bytes again, in the same order."""
    frames = pytest.importorskip("pardo._plugins.dask_frames")
    x = pp.asarray((SQUARE > 8.5 if dtype == "?" else SQUARE).astype(dtype), device=device)
    for value in (x, x.T, x[::2, 1:], x[:0], x[0, 0], x.reshape(2, 4, 8).transpose(1, 2, 0)):
        header, frame = frames.parts(value)
        made = frames.deserialize(header, [frame])
        assert made.dtype == value.dtype
        np.testing.assert_array_equal(pp.asnumpy(made), pp.asnumpy(value))
    assert frames.deserialize(*[part if i == 0 else [part] for i, part in enumerate(frames.parts(x.T))]).strides == x.T.strides


def test_frames_of_other_devices_are_refused():
    frames = pytest.importorskip("pardo._plugins.dask_frames")
    with pytest.raises(NotImplementedError, match="CUDA"):
        frames.serialize(pp.zeros(3))


def test_spilling(device, tmp_path):
    """Results that were not used last leave the device for the host, and the host for the disk."""
    pytest.importorskip("distributed")
    from pardo._plugins.dask_spilling import OnHost, Results, device_bytes

    one = np.arange(1000, dtype="f4")
    results = Results(str(tmp_path), target=9000, device_limit=9000)
    for i in range(6):
        results[f"x{i}"] = pp.asarray(one + i, device=device)
    assert device_bytes({"n": 5, "total": results["x5"]}) == (0 if device._in_host_memory else 4000)
    results["both"] = (pp.asarray(one, device=device), 5)
    kinds = {key: type(results.fast.get(key)) for key in results}
    if device._in_host_memory:
        assert len(results.disk) == 5
        assert not results.on_device
    else:
        assert kinds["both"] is tuple
        assert kinds["x5"] is pp.Array
        assert sum(kind is OnHost for kind in kinds.values()) == 2
        assert len(results.disk) == 3
    for i in range(6):
        made = results[f"x{i}"]
        assert type(made) is pp.Array
        assert made.device == device
        np.testing.assert_array_equal(pp.asnumpy(made), one + i)
    assert pp.asnumpy(results["both"][0]).tolist() == one.tolist()
    assert sum(results.on_device.values()) <= 9000
    while results.fast:
        assert results.evict() >= 0
    assert not results.on_device
    assert len(results.disk) == 7
    del results["x0"]
    assert len(results) == 6
