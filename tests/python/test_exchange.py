# tests/python/test_exchange.py: DLPack and the buffer protocol, with all keywords, both ways; and memory that lives long enough.
from __future__ import annotations

import gc
import weakref

import numpy as np
import pardo as pp
import pytest
from numpy_names import BEFORE_2_1
from support import DTYPES, check, samples

versioned = pytest.mark.skipif(BEFORE_2_1, reason="NumPy 2.0 has DLPack without versions: nothing writable, no keywords")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4)])
def test_round_trip_by_dlpack(dtype, shape, rng):
    host = samples(dtype, shape, rng)
    x = pp.asarray(host)
    np.testing.assert_array_equal(np.from_dlpack(x), host)
    assert np.from_dlpack(x).dtype == host.dtype
    check(pp.from_dlpack(host), host)
    check(pp.from_dlpack(x), host)


@versioned
def test_memory_is_shared():
    x = pp.zeros(4)
    host = np.from_dlpack(x)
    host[1] = 7
    assert x[1].item() == 7
    source = np.zeros(4)
    y = pp.from_dlpack(source)
    source[2] = 5
    assert y.tolist() == [0, 0, 5, 0]
    y[0] = 1
    y.wait()
    assert source[0] == 1


@versioned
def test_foreign_writes_are_never_seen_late():
    x = pp.arange(4.0)
    host = np.from_dlpack(x)
    y = x * 2
    host[:] = -1
    assert y.tolist() == [0, 2, 4, 6]


def test_foreign_writes_are_not_seen_by_large_work():
    # Large enough that the work would still be under way when the foreign write comes.
    host = np.zeros(4_000_000)
    x = pp.asarray(host, copy=False)
    y, z, copy = x + 1, pp.concat([x]), x.copy()
    host[:] = 5
    assert (np.asarray(y) == 1).all()
    assert (np.asarray(z) == 0).all()
    assert (np.asarray(copy) == 0).all()
    x[...] = 1
    assert (host == 1).all()
    x += 1
    assert (host == 2).all()


@versioned
def test_an_export_waits_for_readers():
    x = pp.asarray(np.zeros(4_000_000))
    pending, submitted = x + 1, (x + 2).force()
    host = np.from_dlpack(x)
    host[:] = -1
    assert (np.asarray(pending) == 1).all()
    assert (np.asarray(submitted) == 2).all()


def test_strides_and_views():
    x = pp.reshape(pp.arange(12.0), (3, 4))
    np.testing.assert_array_equal(np.from_dlpack(x[::-1, 1::2]), np.asarray(x)[::-1, 1::2])
    host = np.arange(12.0).reshape(3, 4)
    check(pp.from_dlpack(host[:, ::2].T), host[:, ::2].T)
    check(pp.from_dlpack(host[::-1]), host[::-1])


@versioned
def test_copy_keyword():
    x = pp.zeros(4)
    host = np.from_dlpack(x, copy=True)
    host[0] = 1
    assert x[0].item() == 0
    source = np.zeros(4)
    y = pp.from_dlpack(source, copy=True)
    source[0] = 1
    assert y[0].item() == 0
    check(pp.from_dlpack(source, copy=False), source)


def test_producer_keywords():
    x = pp.zeros(4)
    assert x.__dlpack_device__() == (1, 0)
    assert 'dltensor"' in repr(x.__dlpack__())
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert 'dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    x.__dlpack__(dl_device=(1, 0), copy=False, max_version=(1, 1), stream=None)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(TypeError):
        pp.from_dlpack([1, 2])


@versioned
def test_read_only():
    source = np.arange(3.0)
    source.flags.writeable = False
    x = pp.from_dlpack(source)
    assert not x.writeable
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    assert not np.from_dlpack(x).flags.writeable


class Legacy:
    """A producer that knows no keywords."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_legacy_producer():
    host = np.arange(5.0)
    check(pp.from_dlpack(Legacy(host)), host)
    check(pp.asarray(Legacy(host)), host)
    with pytest.raises(ValueError, match="copy=False"):
        pp.from_dlpack(Elsewhere(), copy=False)


class Elsewhere:
    """A producer on another device, which can copy to the host."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert dl_device == (1, 0)
        return np.arange(3.0).__dlpack__(max_version=max_version)


@versioned
def test_producer_on_another_device():
    check(pp.from_dlpack(Elsewhere()), np.arange(3.0))


def test_capsules_that_nobody_takes():
    x = pp.zeros(1000)
    for _ in range(100):
        x.__dlpack__(max_version=(1, 0))
        x.__dlpack__()
    gc.collect()
    check(x + 1, np.ones(1000))


class Tracked(np.ndarray):
    """An array that a weak reference can watch."""


def test_shared_memory_is_given_back():
    for share in (lambda h: pp.asarray(h, copy=False), pp.from_dlpack):
        host = np.zeros(100).view(Tracked)
        alive = weakref.ref(host)
        x = share(host)
        y = x + 1
        del host, x
        y.wait()
        del y
        for _ in range(3):
            gc.collect()
        assert alive() is None


def test_exports_keep_memory_alive():
    views = [np.from_dlpack(pp.full(1000, float(i)) + 0) for i in range(20)]
    gc.collect()
    for i, view in enumerate(views):
        assert (view == i).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_buffer_protocol(dtype, rng):
    host = samples(dtype, (3, 4), rng)
    view = memoryview(pp.asarray(host))
    assert view.readonly
    assert view.shape == (3, 4)
    assert view.itemsize == host.itemsize
    assert view.nbytes == host.nbytes
    assert view.c_contiguous
    np.testing.assert_array_equal(np.asarray(view), host)
    assert np.asarray(view).dtype == host.dtype
    assert bytes(pp.asarray(host)[:, ::2]) == host[:, ::2].tobytes()


def test_strides_are_in_bytes():
    x = pp.reshape(pp.arange(12, dtype="int16"), (3, 4))
    assert x.strides == (8, 2)
    assert x.T.strides == (2, 8)
    assert x[::-1, ::2].strides == (-8, 4)
    assert (x.itemsize, x.nbytes, x.size, x.ndim) == (2, 24, 12, 2)


def test_array_protocol():
    x = pp.arange(3.0)
    assert x.__array__().dtype == np.float64
    assert x.__array__("float32").dtype == np.float32
    assert x.__array__(copy=True).flags.writeable
    with pytest.raises(ValueError, match="copy"):
        x.__array__("float32", copy=False)
    assert x.__array_namespace__() is pp
    assert x.__array_namespace__(api_version="2025.12") is pp
    with pytest.raises(ValueError, match="version"):
        x.__array_namespace__(api_version="1999.1")


def test_large_copies_to_numpy_use_their_memory_again():
    bytes_each = 8 << 20
    x = pp.arange(bytes_each // 8).wait()
    gc.collect()
    before = pp.memory_stats("cpu").in_use
    host = pp.asnumpy(x)
    assert host.flags.writeable
    assert host.flags.c_contiguous
    assert pp.memory_stats("cpu").in_use == before + bytes_each
    address, kept = host.ctypes.data, host[5:7]
    host[5] = -1
    del host
    pp.trim_memory("cpu")
    assert kept.tolist() == [-1, 6]  # the memory lives as long as a view of it
    assert x[5].item() == 5
    del kept
    gc.collect()
    assert pp.memory_stats("cpu").in_use == before
    again = pp.asnumpy(x.reshape(2, -1))
    assert again.ctypes.data == address
    np.testing.assert_array_equal(again, np.arange(bytes_each // 8).reshape(2, -1))
