# tests/python/test_exchange.py: DLPack and the buffer protocol, with all keywords, both ways; and memory that lives long enough.
from __future__ import annotations

import ctypes
import gc
import sys
import weakref

import numpy as np
import pardo as pp
import pytest
from dlpack_table import ExchangeAPI, call, table
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
    """A producer on a device that pardo does not have, Metal's, which can copy to the host."""

    def __dlpack_device__(self):
        return (8, 0)

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


@pytest.mark.parametrize("share", [lambda h: pp.asarray(h, copy=False), pp.from_dlpack])
def test_shared_memory_is_given_back_with_the_last_array(share):
    host = np.zeros(100)
    held = sys.getrefcount(host)
    x = share(host)
    assert sys.getrefcount(host) > held
    del x
    assert sys.getrefcount(host) == held
    with pytest.raises(ZeroDivisionError):  # also while an exception is on its way
        share(host), 1 // 0
    assert sys.getrefcount(host) == held


def test_memory_that_is_shared_over_and_over_is_given_back():
    """Each array holds the one before: they go one after the other, however many they are."""
    host = np.zeros(4)
    held = sys.getrefcount(host)
    x = host
    for _ in range(20_000):
        x = np.asarray(pp.asarray(x, copy=False))[:]
    del x
    assert sys.getrefcount(host) == held


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


def test_sizes_are_those_of_owned_memory():
    """What Dask spills by, and where it sends tasks."""
    x = pp.zeros(1000)
    empty = sys.getsizeof(pp.zeros(0))
    assert sys.getsizeof(x) == empty + 8000
    assert sys.getsizeof(x[1:]) == sys.getsizeof(x.reshape(10, 100)) == empty  # NumPy's views own nothing either
    assert sys.getsizeof(x + 1) == empty + 8000
    assert sys.getsizeof((x + 1)[1:]) == empty
    assert sys.getsizeof(pp.asarray(np.zeros(1000), copy=False)) == empty
    assert sys.getsizeof(pp.broadcast_to(pp.zeros(1), (1000,))) == empty


def test_memory_that_others_may_write_has_writable_buffers():
    host = np.zeros(4)
    x = pp.asarray(host, copy=False)
    np.asarray(x)[1] = 5
    np.asarray(x[2:])[0] = 6
    assert host.tolist() == [0, 5, 6, 0]
    host.flags.writeable = False
    assert not np.asarray(pp.asarray(host, copy=False)).flags.writeable
    x.flags.writeable = False
    assert not np.asarray(x).flags.writeable


def test_writable_buffers():
    x, y = pp.arange(4.0), pp.zeros(3)
    assert not np.asarray(x).flags.writeable
    later = x + 1  # reads what is there now
    with pp.writable_buffers(x, y) as both:
        assert both == (x, y)
        view = np.asarray(x)
        view[0] = 7
        memoryview(y)[1] = 2.0
        result = x * 2
        assert not result.pending
        view[0] = 8
    assert later.tolist() == [1, 2, 3, 4]
    assert result.tolist() == [14, 2, 4, 6]
    assert y.tolist() == [0, 2, 0]
    assert not (x + 1).pending  # the view lives
    view[1] = 9
    assert x.tolist() == [8, 9, 2, 3]
    del view
    assert (x + 1).pending
    assert not np.asarray(x).flags.writeable
    block = pp.writable_buffers(x)
    with block as same, block:
        assert same is x
    assert not np.asarray(x).flags.writeable
    with pytest.raises(TypeError, match=r"writable_buffers: .*ndarray"):
        pp.writable_buffers(np.zeros(3))
    with pytest.raises(ValueError, match="writable_buffers: the array is read-only"):
        pp.writable_buffers(pp.broadcast_to(x[:1], (3,)))
    with pytest.raises(BufferError, match="writable_buffers"):
        pp.writable_buffers(pp.zeros(3, dtype="float32", device="null"))


def test_exports_end():
    """An array that nobody else writes any more is recorded again."""
    x = pp.arange(4.0)
    view = np.from_dlpack(x)
    capsule = x.__dlpack__(max_version=(1, 0))
    assert not (x + 1).pending
    del view
    assert not (x + 1).pending
    del capsule
    assert (x + 1).pending
    interface = x.__array_interface__  # whoever reads that says nothing when he is done
    del interface
    gc.collect()
    assert not (x + 1).pending


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.T, lambda x: x[::2], lambda x: x[:, 1:2], lambda x: x[1, 1], lambda x: x[:0]])
def test_array_interface_is_that_of_numpy(dtype, view, rng):
    host = samples(dtype, (4, 3), rng)
    x = view(pp.asarray(host))
    mine, numpys = x.__array_interface__, np.asarray(x).__array_interface__
    assert mine.keys() == numpys.keys()
    for key in mine.keys() - {"data"}:
        assert mine[key] == numpys[key], key
    assert mine["data"][1] is False
    assert mine["data"][0] == numpys["data"][0] == x.ctypes.data or not x.size
    assert x.__array_struct__ is not None


@pytest.fixture
def api():
    return table()


def test_c_exchange(api):
    assert tuple(api.version) == (1, 3)
    assert not api.previous
    x = pp.reshape(pp.arange(6.0), (2, 3)).T
    managed = ctypes.POINTER(ExchangeAPI.Managed)()
    assert call(api.from_object, x, ctypes.addressof(managed)) == 0
    m = managed.contents
    assert tuple(m.version) == (1, 3)
    t = m.tensor
    assert (tuple(t.device), t.ndim, t.code, t.bits, t.lanes, t.offset, m.flags) == ((1, 0), 2, 2, 64, 1, 0, 0)
    assert (t.shape[:2], t.strides[:2]) == ([3, 2], [1, 3])
    assert not (x + 1).pending  # it may be written
    ctypes.cast(t.data, ctypes.POINTER(ctypes.c_double))[1] = 10
    back = ctypes.py_object()
    assert call(api.to_object, ctypes.addressof(m), ctypes.addressof(back)) == 0
    y = back.value
    ctypes.pythonapi.Py_DecRef(back)  # the reference of the function's
    assert y.tolist() == x.tolist() == [[0, 3], [10, 4], [2, 5]]
    y[0, 0] = -1
    assert x[0, 0].item() == -1
    del y, back
    gc.collect()
    assert (x + 1).pending


@pytest.mark.parametrize("shape", [(), (0,), (4, 0), (3,), (2, 3, 4), (2, 1, 2, 3), (2, 2, 1, 2, 3), (1,) * 9])
def test_tensors_of_complete_and_of_recorded_arrays_are_the_same(api, shape):
    def described(x):
        managed = ctypes.POINTER(ExchangeAPI.Managed)()
        assert call(api.from_object, x, ctypes.addressof(managed)) == 0
        m = managed.contents
        t = m.tensor
        assert bool(t.data) == (x.size > 0)
        strides = t.strides[: t.ndim] if x.size > 0 else None  # of no elements they are any
        facts = (tuple(t.device), t.ndim, t.code, t.bits, m.flags, t.shape[: t.ndim], strides)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(m.deleter)(ctypes.addressof(m))
        return facts

    x = pp.asarray(np.ones(shape, dtype="float32"))
    facts = described(x.wait())
    assert facts == described(x + 0)
    assert facts[:6] == ((1, 0), len(shape), 2, 32, 0, list(x.shape))
    assert x.size == 0 or facts[6] == [s // 4 for s in x.strides]
    assert (x + 1).pending  # the tensor has gone
    for view in (x.T, x[..., ::-1] if shape else x, pp.broadcast_to(x, (2, *shape))):
        assert described(view)[4] == (not view.writeable)


def test_a_complete_array_that_is_read_later_is_read_before_others_write(api):
    x = pp.arange(4.0).wait()
    later = x + 1
    managed = ctypes.POINTER(ExchangeAPI.Managed)()
    assert call(api.from_object, x, ctypes.addressof(managed)) == 0
    assert not later.pending
    ctypes.cast(managed.contents.tensor.data, ctypes.POINTER(ctypes.c_double))[0] = 5
    assert (later.tolist(), x.tolist()) == ([1, 2, 3, 4], [5, 1, 2, 3])
    kept = managed.contents
    x = None  # the tensor keeps the memory
    assert ctypes.cast(kept.tensor.data, ctypes.POINTER(ctypes.c_double))[:4] == [5, 1, 2, 3]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(kept.deleter)(ctypes.addressof(kept))


def test_c_exchange_of_views_of_the_moment(api):
    x = pp.arange(4.0)
    later = x + 1
    t = ExchangeAPI.Tensor()
    assert call(api.view, x, ctypes.addressof(t)) == 0
    ctypes.cast(t.data, ctypes.POINTER(ctypes.c_double))[0] = 5
    assert (later.tolist(), x.tolist()) == ([1, 2, 3, 4], [5, 1, 2, 3])
    assert (x + 1).pending
    with pytest.raises(BufferError, match="read-only"):
        call(api.view, pp.broadcast_to(x[:1], (3,)), ctypes.addressof(t))
    stream = ctypes.c_void_p(1)
    assert call(api.stream, 1, 0, ctypes.addressof(stream)) == 0
    assert not stream.value


def test_c_exchange_of_read_only_and_failed_arrays(api):
    managed = ctypes.POINTER(ExchangeAPI.Managed)()
    host = np.arange(3.0)
    host.flags.writeable = False
    assert call(api.from_object, pp.asarray(host, copy=False), ctypes.addressof(managed)) == 0
    assert managed.contents.flags == 1
    back = ctypes.py_object()
    assert call(api.to_object, ctypes.addressof(managed.contents), ctypes.addressof(back)) == 0
    assert not back.value.writeable
    with pytest.raises(BufferError):
        call(api.from_object, pp.zeros(3, dtype="float32", device="null"), ctypes.addressof(managed))
    assert call(api.from_object, pp.zeros(1), ctypes.addressof(managed)) == 0
    managed.contents.version[0] = 2
    with pytest.raises(BufferError, match=r"2\.3|version 2"):
        call(api.to_object, ctypes.addressof(managed.contents), ctypes.addressof(back))


def test_c_exchange_allocates(api):
    prototype, shape = ExchangeAPI.Tensor(), (ctypes.c_int64 * 2)(2, 3)
    prototype.device[0], prototype.ndim, prototype.code, prototype.bits, prototype.lanes = 1, 2, 2, 32, 1
    prototype.shape = shape
    managed = ctypes.POINTER(ExchangeAPI.Managed)()
    told = []
    report = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)(lambda _, kind, text: told.append((kind, text)))
    fail = ctypes.cast(report, ctypes.c_void_p).value
    assert call(api.allocate, ctypes.addressof(prototype), ctypes.addressof(managed), None, fail) == 0
    back = ctypes.py_object()
    assert call(api.to_object, ctypes.addressof(managed.contents), ctypes.addressof(back)) == 0
    assert (back.value.shape, back.value.dtype) == ((2, 3), np.float32)
    back.value[...] = 1
    assert back.value.sum() == 6
    prototype.bits = 3
    assert call(api.allocate, ctypes.addressof(prototype), ctypes.addressof(managed), None, fail) == -1
    assert told[0][0] == b"BufferError"


def test_tvm_ffi():
    """A consumer of the C exchange: arguments and results are arrays, without a copy."""
    tvm_ffi = pytest.importorskip("tvm_ffi")
    echo = tvm_ffi.get_global_func("testing.echo")
    x = pp.arange(4.0)
    y = echo(x)
    assert type(y) is pp.Array
    y[0] = 7
    assert x.tolist() == [7, 1, 2, 3]
    tensor = tvm_ffi.from_dlpack(x)
    assert np.from_dlpack(tensor).tolist() == [7, 1, 2, 3]
    assert pp.from_dlpack(tensor).tolist() == [7, 1, 2, 3]


FAR = [d.id for d in pp.get_devices() if d.backend == "opencl"]


@pytest.mark.parametrize("device", FAR)
def test_every_door_gives_one_answer(device):
    """Memory of the kind 'device' is not the host's, also where a driver would let it be read: no door is a way past the others."""
    x = pp.arange(4, dtype="float32", device=device)
    doors = {
        "np.asarray": (lambda: np.asarray(x), TypeError),
        "memoryview": (lambda: memoryview(x), BufferError),
        "np.from_dlpack": (lambda: np.from_dlpack(x), BufferError),
        "__dlpack__": (lambda: x.__dlpack__(max_version=(1, 0)), BufferError),
        "copy=False": (lambda: x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False), BufferError),
        "__dlpack_device__": (x.__dlpack_device__, BufferError),
        "__array_interface__": (lambda: x.__array_interface__, AttributeError),
        "__array_struct__": (lambda: x.__array_struct__, AttributeError),
        "ctypes": (lambda: x.ctypes, AttributeError),
        "writable_buffers": (lambda: pp.writable_buffers(x), BufferError),
    }
    for name, (door, error) in doors.items():
        with pytest.raises(error, match=r"host|shared with other libraries|copied to|asnumpy"):
            print(name, door())
    # A copy is made where it is asked for, and guards see it.
    capsule = x.__dlpack__(max_version=(1, 0), dl_device=(1, 0))
    assert "dltensor_versioned" in repr(capsule)
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match="__dlpack__: would copy 16 bytes"):
        x.__dlpack__(max_version=(1, 0), dl_device=(1, 0))


@pytest.mark.parametrize("device", FAR)
@pytest.mark.parametrize("kind", ["shared", "host"])
def test_memory_that_the_host_reads_is_shown_by_every_door(device, kind):
    try:
        x = pp.zeros(4, dtype="float32", device=device, usm_type=kind)
    except (ValueError, TypeError, RuntimeError):
        pytest.skip("the device has no such memory")
    view = np.from_dlpack(x)
    view[0] = 5
    assert x.__dlpack_device__() == (1, 0)
    address = view.__array_interface__["data"][0]
    assert x.__array_interface__["data"] == (address, False)
    assert x.ctypes.data == np.asarray(x).ctypes.data == address
    assert np.asarray(x).tolist() == memoryview(x).tolist() == [5, 0, 0, 0]
    with pp.writable_buffers(x):
        np.asarray(x)[1] = 6
    assert x.tolist() == [5, 6, 0, 0]
