# tests/python/test_zarr.py: zarr reads to each device and writes from it: formats, orders, shards, dtypes, selections, threads, failures.
from __future__ import annotations

import concurrent.futures
import pickle
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from hypothesis import given
from hypothesis import strategies as st

zarr = pytest.importorskip("zarr", minversion="3.1.3")
import pardo.zarr as pz  # noqa: E402

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore:.*(Zarr V3|Consolidated)")]
HOST = np.random.default_rng(3).random((7, 9)).astype("f4")
LAYOUTS = [(2, "C", None), (2, "F", None), (3, "C", None), (3, "F", None), (3, "C", (4, 6)), (3, "F", (4, 6))]


@pytest.fixture(params=DEVICES, ids=str)
def device(request):
    return pp.Device(request.param)


def stored(host, layout=(3, "C", None), chunks=None, **keywords):
    form, order, shards = layout
    lies = {"order": order} if form == 2 else {"config": {"order": order}}
    host = np.asarray(host)
    z = zarr.create_array(
        {}, shape=host.shape, dtype=host.dtype, chunks=chunks or (2, 3)[: host.ndim], shards=shards, zarr_format=form, **lies, **keywords
    )
    z[...] = host
    return z


def same(made, expected, device):
    assert type(made) is pp.Array
    assert made.device == device
    assert made.dtype == expected.dtype
    assert made.shape == expected.shape
    np.testing.assert_array_equal(pp.asnumpy(made), expected)


SELECTIONS = {
    "whole": lambda z: z[:],
    "part": lambda z: z[2:5, ::2],
    "row": lambda z: z[3],
    "element": lambda z: z[3, 4],
    "nothing": lambda z: z[3:3],
    "orthogonal": lambda z: z.oindex[[1, 3], [0, 5, 7]],
    "pairs": lambda z: z.vindex[[1, 3], [0, 5]],
    "square of pairs": lambda z: z.vindex[[[0, 1], [2, 3]], [[0, 5], [1, 1]]],
    "mask": lambda z: z[HOST > 0.5],
    "block": lambda z: z.blocks[1, 1],
}


@pytest.mark.varied("layout")
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_selections(layout, device):
    z = stored(HOST, layout)
    expected = {name: np.asarray(select(z)) for name, select in SELECTIONS.items()}
    with pz.enable(device):
        for name, select in SELECTIONS.items():
            same(select(z), expected[name], device)
        assert z[:].flags.f_contiguous == (layout[1] == "F")
    assert type(z[:]) is np.ndarray


@pytest.mark.varied("layout")
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_writing(layout, device):
    z, host = stored(HOST, layout), HOST.copy()
    x = pp.asarray(HOST, device=device)
    with pz.enable(device):
        z[1:3] = x[:2] * 2
        z[:, 1] = pp.arange(7, dtype="i4", device=device)  # another dtype
        z[5] = 7
        z[6, 0] = x[0, 0]
        z.vindex[[0, 6], [0, 8]] = pp.asarray([1.5, 2.5], dtype="f4", device=device)
        z.oindex[[3, 4], [5, 6]] = x.T[:2, :2]
        with pytest.raises(ValueError, match=r"shape|broadcast|elements"):
            z[0] = x[:3, :3]
    host[1:3], host[:, 1], host[5], host[6, 0] = HOST[:2] * 2, np.arange(7), 7, HOST[0, 0]
    host[0, 0], host[6, 8], host[np.ix_([3, 4], [5, 6])] = 1.5, 2.5, HOST.T[:2, :2]
    np.testing.assert_array_equal(z[:], host)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("form", [2, 3])
def test_dtypes(dtype, form, device):
    if dtype in ("f8", "c16") and not device.has_fp64:
        pytest.skip("the device has no float64")
    host = (np.arange(30).reshape(5, 6) * (1 + 2j if dtype[0] == "c" else 1)).astype(dtype)
    z, other = stored(host, (form, "C", None)), stored(np.zeros_like(host), (form, "C", None))
    with pz.enable(device):
        x = z[:]
        same(x, host, device)
        other[:] = x
    np.testing.assert_array_equal(other[:], host)


def test_the_other_byte_order(device):
    for z in (stored(HOST.astype(">f4"), (2, "C", None)), stored(HOST, serializer=zarr.codecs.BytesCodec(endian="big"))):
        with pz.enable(device):
            x = z[1:]
            same(x, HOST[1:], device)
            z[1:] = x * 2
        np.testing.assert_array_equal(z[:], np.concatenate([HOST[:1], HOST[1:] * 2]))


def test_elements_that_no_device_has(device):
    """Are NumPy's, as zarr gives them; records are structured arrays."""
    for host in (np.array(["a", "bc", "d"]), np.array([b"a", b"bc"]), np.array(["2000-01-01", "2001-01-01"], "M8[ns]")):
        z = stored(host)
        with pz.enable(device):
            assert type(z[:]) is np.ndarray
            assert type(z.vindex[[0, 1]]) is np.ndarray
            np.testing.assert_array_equal(z[:], host)
    host = np.array([(1, 2.5), (3, 4.5)], dtype="i4, f4")
    z = stored(host, (2, "C", None))
    with pz.enable(device):
        made = z[:]
        assert isinstance(made, pp.StructuredArray)
        assert made["f1"].device == device
        z[:1] = made[1:]
    assert z[:].tolist() == [(3, 4.5), (3, 4.5)]


def test_without_dimensions(device):
    for form in (2, 3):
        z = stored(np.float32(3), (form, "C", None), chunks=())
        with pz.enable(device):
            same(z[()], np.float32(3)[()], device)
            same(z[...], np.array(3, "f4"), device)
            z[()] = pp.asarray(4, dtype="f4", device=device)
            z[...] = z[...] + 1
        assert float(z[()]) == 5


def test_chunks_that_are_not_there(device):
    for form, order, shards in LAYOUTS:
        lies = {"order": order} if form == 2 else {"config": {"order": order}}
        z = zarr.create_array({}, shape=(7, 9), dtype="f4", chunks=(2, 3), shards=shards, zarr_format=form, fill_value=2.5, **lies)
        with pz.enable(device):
            same(z[:], np.full((7, 9), 2.5, "f4"), device)
            same(z[1, 1], np.array(2.5, "f4"), device)
            z[:4] = pp.full((4, 9), 2.5, dtype="f4", device=device)  # a chunk of the fill value is not written
            assert z.nchunks_initialized == 0
            z[1, 1] = 1
            assert z.nchunks_initialized == (4 if shards else 1)
            assert float(z[:].sum()) == 2.5 * 62 + 1
    z = zarr.create_array({}, shape=(3,), dtype="f4", chunks=(2,), fill_value=np.nan)
    with pz.enable(device):
        assert bool(pp.isnan(z[:]).all())


def test_of_no_size(device):
    for shape in ((0,), (0, 4), (3, 0)):
        z = zarr.create_array({}, shape=shape, dtype="i4", chunks=(1,) * len(shape))
        with pz.enable(device):
            same(z[:], np.zeros(shape, "i4"), device)
            z[:] = pp.zeros(shape, dtype="i4", device=device)


@given(st.data())
def test_random_parts(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=3)))
    chunks = tuple(data.draw(st.integers(1, 5)) for _ in shape)
    host = np.arange(np.prod(shape)).reshape(shape).astype("i4")
    parts = tuple(data.draw(st.slices(n)) for n in shape)
    parts = tuple(slice(*s.indices(n)) if (s.step or 1) > 0 else slice(None) for s, n in zip(parts, shape, strict=True))
    z = stored(host, data.draw(st.sampled_from(LAYOUTS[:4])), chunks)
    with pz.enable("cpu"):
        x = z[parts]
        np.testing.assert_array_equal(np.asarray(x), host[parts])
        z[parts] = x + 1
    host[parts] += 1
    np.testing.assert_array_equal(z[:], host)


def test_what_is_copied(device):
    """On the CPU chunks are decoded into the array itself; no copy is implicit anywhere."""
    z = stored(HOST)
    with pz.enable(device), pp.transfer_guard("disallow"):
        before = pp.counters()["copied_bytes"]
        x = z[:]
        z[:] = x
        if device._in_host_memory:
            assert pp.counters()["copied_bytes"] == before
    y = x + 1  # recorded, as operations on memory that nobody else writes are
    np.testing.assert_array_equal(pp.asnumpy(y), HOST + 1)
    x[0] = 5
    assert float(x[0, 0]) == 5
    np.testing.assert_array_equal(z[:], HOST)


def test_an_array_that_is_there_is_filled(device):
    z = stored(HOST)
    x = pp.zeros((2, 9), dtype="f4", device=device)
    assert z.get_basic_selection(slice(1, 3), out=pz.NDBuffer(x)) is x
    np.testing.assert_array_equal(pp.asnumpy(x), HOST[1:3])
    with pytest.raises(ValueError, match="shape"):
        z.get_basic_selection(slice(1, 2), out=pz.NDBuffer(x))


def test_the_device():
    z, far = stored(HOST), DEVICES[-1]
    with pz.enable():
        assert z[:].device == pp.Device()
        with pp.device_context(far):
            assert z[:].device == pp.Device(far)
            same(z.vindex[[0], [1]], HOST[[0], [1]], pp.Device(far))
    for prototype, expected in (
        (pz.buffer_prototype(far), far),
        (pz.buffer_prototype(pp.Device("cpu")), "cpu"),
        (pz.buffer_prototype(), "cpu"),
    ):
        assert pickle.loads(pickle.dumps(prototype)) == prototype
        same(z.get_basic_selection(slice(2), prototype=prototype), HOST[:2], pp.Device(expected))
        same(z.get_coordinate_selection(([1], [2]), prototype=prototype), HOST[[1], [2]], pp.Device(expected))
    assert type(z[:]) is np.ndarray
    with pytest.raises(ValueError, match=r"^enable: .*no_such"):
        pz.enable("no_such")
    with pytest.raises(TypeError, match=r"^buffer_prototype: device must be"):
        pz.buffer_prototype(3)
    before = zarr.config.get("ndbuffer")
    pz.enable("cpu")  # without a block it stays
    try:
        assert type(z[:]) is pp.Array
    finally:
        zarr.config.set({"ndbuffer": before})
    assert type(z[:]) is np.ndarray


def test_threads():
    """Each reads to its own device, at once with others that read for NumPy."""
    z = stored(np.arange(4096, dtype="i4").reshape(64, 64), (3, "C", (32, 32)), (8, 8))

    def read(i):
        device = DEVICES[i % len(DEVICES)]
        with pp.device_context(device):
            x = z[i : i + 20]
        assert x.device == pp.Device(device)
        return int(x.sum())

    with pz.enable(), concurrent.futures.ThreadPoolExecutor(6) as pool:
        sums = list(pool.map(read, range(36)))
    assert sums == [int(z[i : i + 20].sum()) for i in range(36)]


def test_a_chunk_that_is_damaged(device, tmp_path):
    z = zarr.create_array(tmp_path / "a.zarr", data=HOST, chunks=(4, 9))
    (tmp_path / "a.zarr" / "c" / "1" / "0").write_bytes(b"nothing of the kind")
    with pz.enable(device):
        for _ in range(2):
            with pytest.raises((RuntimeError, ValueError)):
                z[:]
        same(z[:4], HOST[:4], device)


def test_filters_and_groups(device):
    z = stored(
        HOST.astype("i4"),
        filters=[zarr.codecs.TransposeCodec(order=(1, 0))],
        compressors=[zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()],
    )
    group = zarr.group({})
    with pz.enable(device):
        z[:] = pp.asarray(np.arange(63).reshape(7, 9), dtype="i4", device=device)
        same(z[:], np.arange(63).reshape(7, 9).astype("i4"), device)
        made = group.create_array("x", data=pp.asarray(HOST, device=device))
        same(made[:], HOST, device)
        same(group["x"][1:], HOST[1:], device)
    np.testing.assert_array_equal(group["x"][:], HOST)


def test_without_zarr():
    code = "import sys; sys.modules['zarr'] = None; import pardo; import pardo.zarr"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: pardo.zarr needs zarr 3.1.3 or later: pip install 'pardo[zarr]'" in done.stderr
    code = "import pardo, sys; assert 'zarr' not in sys.modules; pardo.zarr.enable; assert 'zarr' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- xarray

TIME = np.arange("2000-01-01", "2000-03-01", dtype="M8[D]").astype("M8[ns]")


@pytest.fixture
def dataset(tmp_path):
    xr = pytest.importorskip("xarray")
    raw = np.random.default_rng(0).random((60, 8)).astype("f4")
    raw[3, 4] = np.nan
    made = xr.Dataset(
        {
            "u": (("time", "x"), raw),
            "packed": (("time", "x"), raw * 100),
            "on": ("x", np.arange(8) % 2 == 0),
            "name": ("x", np.array(list("abcdefgh"))),
        },
        coords={"time": TIME, "x": np.arange(8, dtype="f4"), "lon": ("x", np.arange(8, dtype="f4") * 2), "when": ("x", TIME[:8])},
    )
    codes = {
        "packed": {"dtype": "int16", "scale_factor": np.float32(0.01), "add_offset": np.float32(1), "_FillValue": -999},
        "u": {"chunks": (7, 3)},
    }
    made.to_zarr(tmp_path / "a.zarr", encoding=codes, consolidated=False)
    return tmp_path / "a.zarr"


def test_xarray_reads_and_writes(dataset, device, tmp_path):
    xr = pytest.importorskip("xarray")
    options = {"chunks": None, "consolidated": False}
    expected = xr.open_zarr(dataset, **options).load()
    with pz.enable(device):
        lazy = xr.open_zarr(dataset, **options)
        part = lazy.u.isel(time=xr.DataArray([1, 3], dims="k"), x=xr.DataArray([1, 4], dims="k")).load()
        same(part.data, expected.u.values[[1, 3], [1, 4]], device)
        same(lazy.u.sel(x=[1, 3]).load().data, expected.u.values[:, [1, 3]], device)
        made = lazy.load()
    for name in ("u", "packed", "on", "lon"):
        same(made[name].data, expected[name].values, device)
    for name in ("name", "when"):
        assert type(made[name].data) is np.ndarray
    assert made.indexes["time"].equals(expected.indexes["time"])
    mean = made.u.groupby("time.month").mean()
    assert type(mean.data) is pp.Array
    np.testing.assert_allclose(pp.asnumpy(mean.data), expected.u.groupby("time.month").mean(), rtol=1e-6)
    with pz.enable():
        made.to_zarr(tmp_path / "b.zarr", consolidated=False)
    xr.testing.assert_equal(xr.open_zarr(tmp_path / "b.zarr", **options).load(), expected)


def test_dask_reads(dataset, device):
    xr, da = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    z = zarr.open_array(dataset / "u", mode="r")
    with pz.enable(device):
        lazy = da.from_array(z, chunks=(20, 8), meta=pp.empty((0, 0), dtype="f4"))
        made = lazy[5:].compute(scheduler="threads")
    same(made, z[5:], device)
    with pp.device_context(device):  # xarray makes NumPy's chunks of what Dask reads
        chunked = xr.open_zarr(dataset, consolidated=False, chunks={}).u
        moved = chunked.copy(data=chunked.data.to_backend("pardo")) * 2
        made = moved.compute(scheduler="synchronous")
    same(made.data, 2 * chunked.values, device)
