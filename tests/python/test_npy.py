# tests/python/test_npy.py: .npy files go to devices and back in parts; the files are NumPy's.
from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from pardo._host import npy
from support import DTYPES, check, samples


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(npy, "PART", 100)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (25,), (7, 9)])
def test_round_trips(device, dtype, shape, tmp_path, rng):
    if not device.has_fp64 and dtype in ("float64", "complex128"):
        pytest.skip("no float64")
    host = samples(dtype, shape, rng)
    x = pp.asarray(host, device=device)
    np.save(tmp_path / "theirs.npy", host)
    pp.save(tmp_path / "ours", x)
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
    loaded = pp.load(tmp_path / "theirs.npy", device=device)
    assert loaded.device == x.device
    check(loaded, host)
    file = io.BytesIO()
    pp.save(file, x)
    pp.save(file, x)
    file.seek(0)
    check(pp.load(file, device=device), host)
    check(pp.load(file, device=device), host)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("error", [BufferError, ValueError])
def test_devices_without_memory_of_the_host(device, error, monkeypatch, rng):
    def refused(*_, **__):
        raise error("there is none")

    monkeypatch.setattr(npy, "MemoryHost", refused)
    for dtype in DTYPES:
        if device.has_fp64 or dtype not in ("float64", "complex128"):
            file, host = io.BytesIO(), samples(dtype, (7, 9), rng)
            np.save(file, host)
            file.seek(0)
            check(pp.load(file, device=device), host)


def test_orders_and_views(tmp_path, rng):
    host = samples("float32", (5, 6, 7), rng)
    np.save(tmp_path / "f.npy", np.asfortranarray(host))
    check(pp.load(str(tmp_path / "f.npy")), host)
    np.save(tmp_path / "b.npy", host.astype(">f4"))
    check(pp.load(tmp_path / "b.npy"), host)
    pp.save(str(tmp_path / "v.npy"), pp.asarray(host)[::2, ::-1].mT)
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), host[::2, ::-1].swapaxes(1, 2))
    pp.save(tmp_path / "h.npy", host)
    check(pp.load(tmp_path / "h.npy", mmap_mode="r"), host)


def test_parts_and_columns_to_files_in_memory():
    host = np.arange(24.0).reshape(4, 6)
    for h in (
        host,
        host[:, ::2],
        host[::-2],
        np.asfortranarray(host),
        host.T,
        host[:, ::2].T,
        np.zeros((0, 3)),
        np.float32(2) * np.ones(()),
    ):
        x, ours, theirs = pp.asarray(h, device="cpu"), io.BytesIO(), io.BytesIO()
        pp.save(ours, x)
        np.save(theirs, np.asarray(x))
        assert ours.getvalue() == theirs.getvalue()
        ours.seek(0)
        found = pp.load(ours)
        assert np.array_equal(pp.asnumpy(found), h)
        assert found.flags.fnc == x.flags.fnc
    for save in (pp.savez, pp.savez_compressed):
        file = io.BytesIO()
        save(file, pp.asarray(np.asfortranarray(host)), y=pp.asarray(host))
        file.seek(0)
        with np.load(file) as archive:
            assert archive["arr_0"].flags.f_contiguous
            assert archive["y"].flags.c_contiguous
            assert np.array_equal(archive["arr_0"], host)


def test_pickles(tmp_path):
    path = tmp_path / "x"
    x = pp.asarray([1.0, 2.0])
    x.dump(path)
    with pytest.raises(ValueError, match="allow_pickle"):
        pp.load(path)
    for device in (None, "cpu"):
        found = pp.load(path, allow_pickle=True, device=device)
        assert type(found) is pp.Array
        assert found.tolist() == [1, 2]
    path.write_bytes(pickle.dumps({"a": 1}))
    assert pp.load(path, allow_pickle=True) == {"a": 1}


def test_wrong_files(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(100.0))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match=r"^load: the file ends too early: expected 800 bytes of elements, got 792$"):
        pp.load(path)
    np.save(path, np.array([None, 1], object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        pp.load(path)
    np.save(path, np.array(["a"]))
    with pytest.raises(TypeError):
        pp.load(path)
    path.write_bytes(b"not an array")
    with pytest.raises(ValueError, match="pickle"):
        pp.load(path)
    path.write_bytes(b"")
    with pytest.raises(EOFError):
        pp.load(path)
    with pytest.raises(FileNotFoundError):
        pp.load(tmp_path / "nowhere.npy")
    np.save(path, np.zeros((1,) * 20))
    with pytest.raises(ValueError, match="max_header_size"):
        pp.load(path, max_header_size=10)


MEMORY = """
import sys
import pardo as pp
from own_memory import peak
x = pp.load(sys.argv[1])
print(x.nbytes)
del x
before = peak()
x = pp.load(sys.argv[1]).wait()
pp.save(sys.argv[2], x)
print(peak() - before)
"""


@pytest.mark.slow
def test_host_memory_is_bounded(tmp_path):
    """Beyond the array itself, which is the host's on the CPU, no more than a few parts."""
    np.save(tmp_path / "big.npy", np.zeros(50_000_000))
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "big.npy"), str(tmp_path / "copy.npy")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    size, extra = map(int, subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split())
    assert size == 400_000_000
    assert extra < 256 << 20
    assert (tmp_path / "copy.npy").stat().st_size == (tmp_path / "big.npy").stat().st_size


def test_shapes_that_hold_no_integers_are_refused():
    text = io.BytesIO()
    np.save(text, np.zeros(1))
    data = text.getvalue().replace(b"(1,)", b"(True,)").replace(b"   \n", b"\n")
    with pytest.raises(TypeError, match=r"load: the file's shape is \(True,\), and True is no integer"):
        pp.load(io.BytesIO(data))
