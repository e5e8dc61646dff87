# tests/python/test_flags.py: flags, base, data, views as other dtypes, and arrays that must not be written.
import operator

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal
from numpy_names import BEFORE_2_1


def same(x, host):
    """Flags, strides of axes with several elements, dtype, shape and values are NumPy's."""
    assert x.shape == host.shape
    assert x.dtype == host.dtype
    assert x.flags.c_contiguous == host.flags.c_contiguous
    assert x.flags.f_contiguous == host.flags.f_contiguous
    if all(extent > 1 for extent in host.shape):
        assert x.strides == host.strides
    np.testing.assert_array_equal(pp.asnumpy(x), host)


def test_flags_are_numpys():
    for shape in ((3, 4), (4,), (), (1, 3), (3, 1), (0, 3), (2, 3, 4)):
        x, host = pp.zeros(shape), np.zeros(shape)
        for y, h in ((x, host), (x.T, host.T)):
            for name in ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "forc", "fnc", "behaved", "carray", "farray"):
                assert getattr(y.flags, name) == getattr(h.flags, name), (shape, name)
            for key in ("C_CONTIGUOUS", "F", "O", "W", "A", "X", "FNC", "FORC", "CA", "FA"):
                assert y.flags[key] == h.flags[key], (shape, key)
            assert repr(y.flags) == repr(h.flags)
            assert y.flags.num == h.flags.num
    with pytest.raises(KeyError, match="Unknown flag"):
        x.flags["D"]
    with pytest.raises(ValueError, match="ALIGNED"):
        x.flags["ALIGNED"] = False


WRITES = {
    "setitem": lambda x: operator.setitem(x, 0, 1.0),
    "everywhere": lambda x: operator.setitem(x, ..., 1.0),
    "mask": lambda x: operator.setitem(x, x > 0, 1.0),
    "indices": lambda x: operator.setitem(x, pp.asarray([0, 1]), 1.0),
    "in place": lambda x: operator.iadd(x, 1.0),
    "out": lambda x: pp.add(x, 1.0, out=x),
    "out of a sum": lambda x: pp.sum(x[None], axis=0, out=x),
    "copyto": lambda x: pp.copyto(x, 1.0),
    "fill": lambda x: x.fill(1.0),
    "put": lambda x: x.put([0], 1.0),
    "sort": lambda x: x.sort(),
    "at": lambda x: pp.add.at(x, pp.asarray([0]), 1.0),
    "flat": lambda x: operator.setitem(x.flat, 0, 1.0),
    "queue.fill": lambda x: x.queue.fill(x, 1.0),
    "byteswap": lambda x: x.byteswap(inplace=True),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("state", ["computed", "pending", "view"])
def test_read_only_arrays_refuse_writes(write, state):
    x = pp.arange(6.0) + 1 if state != "computed" else pp.asarray(np.arange(6.0))
    x.flags.writeable = False
    before = pp.asnumpy(x).tolist() if state == "computed" else None
    y = x[1:] if state == "view" else x
    with pytest.raises(ValueError, match="read-only"):
        write(y)
    assert not y.flags.writeable
    assert before is None or x.tolist() == before


def test_kernels_and_exports_respect_read_only():
    @pp.jit
    def double(x):
        for i in pp.prange(x.shape[0]):
            x[i] *= 2

    x = pp.arange(4.0, device="cpu")
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        double(x)
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    if not BEFORE_2_1:  # NumPy 2.0 has DLPack without versions, which cannot say it
        assert not np.from_dlpack(x).flags.writeable
    assert not np.asarray(x).flags.writeable
    x.setflags(write=True)
    double(x)
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_broadcasts_are_read_only():
    x = pp.arange(6.0)
    for view in (pp.broadcast_to(x, (2, 6)), pp.broadcast_to(x, (6,)), pp.broadcast_to(x + 1, (2, 6)), pp.broadcast_to(x, (2, 6)).T):
        assert not view.flags.writeable
        assert not view[..., :1].flags.writeable
        assert not view[:1].flags.writeable
        assert not view.reshape(-1, *view.shape).flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            view[..., 0] = 1.0
        assert view.copy().flags.writeable
        assert (view + 1).flags.writeable
    row = pp.broadcast_to(x, (2, 6))[0]
    with pytest.raises(ValueError, match="read-only"):
        row += 1
    assert x.tolist() == list(range(6))
    assert x.flags.writeable


def test_setting_writeable():
    x = pp.arange(4.0)
    view = x[1:]
    x.flags.writeable = False
    assert not x.flags.writeable
    later = x[2:]
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
        later.flags.writeable = True
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
        pp.broadcast_to(x, (2, 4)).setflags(write=True)
    with pytest.raises(ValueError, match="ALIGNED"):
        x.setflags(align=False)
    with pytest.raises(ValueError, match="WRITEBACKIFCOPY"):
        x.setflags(uic=True)
    x.flags["WRITEABLE"] = True
    view[0] = 7
    x[3] = 8
    assert x.tolist() == [0, 7, 2, 8]
    host = np.arange(3.0)
    host.flags.writeable = False
    shared = pp.asarray(host, copy=False, device="cpu")
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
        shared.flags.writeable = True
    assert not pp.asarray([1.0, 2.0]).imag.flags.writeable


def test_the_flag_belongs_to_one_array():
    x = pp.arange(6.0).wait()
    same_memory = x.reshape(6)
    same_memory.flags.writeable = False
    x[0] = 5
    assert same_memory[0] == 5
    assert x.flags.writeable
    assert not same_memory.flags.writeable


def test_base():
    x = pp.arange(6.0)
    assert x.base is None
    assert x.flags.owndata
    for view in (x[1:], x.reshape(2, 3), x.reshape(2, 3).T[0], x.view("i8"), (x + 1).wait()[2:]):
        assert view.base is not None
        assert not view.flags.owndata
    assert pp.may_share_memory(x[1:].base, x) if hasattr(pp, "may_share_memory") else True
    x[1:].base[0] = 9
    assert x[0] == 9
    host = np.arange(3.0)
    shared = pp.asarray(host, copy=False, device="cpu")
    assert not shared.flags.owndata
    assert shared.base is not None
    for order in "CF":
        assert pp.zeros((2, 3), order=order).flags.owndata
        assert pp.ones((2, 3)).copy(order).flags.owndata


def test_memory_of_blocks():
    block = pp.MemoryHost(24, device="cpu")
    x = block.array("int32")
    assert not x.flags.owndata
    assert x.base is not None
    frozen = pp.zeros(3, device="cpu")
    frozen.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        frozen.queue.copy(frozen, block)


@pytest.mark.parametrize(("dtype", "offset"), [("f8", 0), ("f8", 8), ("i4", 4), ("u1", 3), ("c16", 0), ("f2", 14), ("u1", 16), ("f8", 9)])
def test_getfield(dtype, offset):
    host = np.arange(12).reshape(3, 4) + 2.5j
    x = pp.asarray(host)
    try:
        expected = host.getfield(dtype, offset)
    except ValueError:
        with pytest.raises(ValueError, match="Need 0 <= offset"):
            x.getfield(dtype, offset)
        return
    assert_array_equal(pp.asnumpy(x.getfield(dtype, offset)), expected)
    assert_array_equal(pp.asnumpy(x.T[1:].getfield(dtype, offset)), host.T[1:].getfield(dtype, offset))
    x[::2].setfield(1, dtype, offset)
    host[::2].setfield(1, dtype, offset)
    assert_array_equal(pp.asnumpy(x), host)


def test_data():
    x = pp.arange(6.0, device="cpu")
    assert x.data.ptr == np.asarray(x).ctypes.data == int(x.data)
    assert x.data.size == 48
    assert x.data.device == x.device
    assert x[2:].data.ptr == x.data.ptr + 16
    assert np.asarray(x.data).tolist() == x.tolist()
    assert "48 bytes on cpu" in repr(x.data)


DTYPES = ["i1", "u2", "i4", "i8", "f4", "f8", "c8", "c16", "?"]


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_views_as_other_dtypes(source, target):
    whole = (np.arange(64, dtype="u1") % 2).view(source)
    parts = {
        "rows": lambda m: m.reshape(-1, min(4, whole.size)),
        "columns": lambda m: m.reshape(-1, min(4, whole.size)).T,
        "steps": lambda m: m[::2],
        "one": lambda m: m[:1],
        "none": lambda m: m[:0],
        "backwards": lambda m: m[::-1],
        "no axes": lambda m: m[:1].reshape(()),
    }
    x = pp.asarray(whole).wait()
    for name, part in parts.items():
        try:
            expected = part(whole).view(target)
        except ValueError:
            with pytest.raises(ValueError, match=r"^view: "):
                part(x).view(target)
            continue
        got = part(x).view(target)
        assert got.dtype == expected.dtype, name
        assert got.shape == expected.shape, name
        assert pp.asnumpy(got).tobytes() == expected.tobytes(), name


def test_views_share_memory():
    x = pp.asarray([1.0, 2.0, 3.0])
    bits = x.view("u8")
    bits[0] = 0
    assert x.tolist() == [0.0, 2.0, 3.0]
    assert x.view().base is not None
    assert (x + 1).view("i8").dtype == np.int64
    with pytest.raises(TypeError, match="view: type"):
        x.view(type=np.ndarray)
    with pytest.raises(ValueError, match="no multiple"):
        pp.arange(5, dtype="f4").wait()[1:].view("f8")
    z = pp.asarray([1 + 2j, 3 + 4j])
    z.imag = [5, 6]
    z.real[0] = 9
    assert z.tolist() == [9 + 5j, 3 + 6j]
    assert z.view("f8").tolist() == [9, 5, 3, 6]


def test_shape_and_dtype_can_be_set():
    x = pp.arange(6)
    x.shape = (2, 3)
    assert x.shape == (2, 3)
    assert x.flags.owndata
    x.shape = -1
    assert x.tolist() == list(range(6))
    with pytest.raises(ValueError, match="cannot reshape array of size 6"):
        x.shape = (4,)
    with pytest.raises(TypeError, match="shape"):
        x.shape = "ab"
    y = x.reshape(2, 3).T
    with pytest.raises(AttributeError, match="Incompatible shape for in-place modification"):
        y.shape = (6,)
    x.dtype = "i4"
    assert x.shape == (12,)
    assert x.dtype == np.int32
    assert x.flags.owndata
    pending = pp.arange(6.0) * 2
    pending.shape = (3, 2)
    assert pending.tolist() == [[0, 2], [4, 6], [8, 10]]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_byteswap(dtype):
    host = np.arange(12).astype(dtype).reshape(3, 4)
    x = pp.asarray(host)
    for y, h in ((x, host), (x.T, host.T), (x[:, ::2], host[:, ::2]), (x[1, 1], host[1, 1])):
        assert pp.asnumpy(y.byteswap()).tobytes() == h.byteswap().tobytes()
    assert x.byteswap(inplace=True) is x
    assert pp.asnumpy(x).tobytes() == host.byteswap().tobytes()


def test_resize():
    for shape, new in (((2, 3), (3, 4)), ((6,), (2,)), ((2, 3), (6,)), ((3,), (0,)), ((0,), (2, 2))):
        host, x = np.arange(int(np.prod(shape))).reshape(shape).copy(), pp.arange(int(np.prod(shape))).reshape(shape).copy()
        host.resize(new, refcheck=False)
        assert x.resize(new) is None
        same(x, host)
        assert x.flags.owndata
    f = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    x = pp.asarray(f)
    f.resize((3, 4), refcheck=False)
    x.resize(3, 4)
    same(x, f)
    x = pp.arange(6.0)
    view = x[1:]
    with pytest.raises(ValueError, match="referenced by another array"):
        x.resize(8)
    with pytest.raises(ValueError, match="does not own its data"):
        view.resize(8)
    x.resize(8, refcheck=False)
    assert x.shape == (8,)
    assert view.shape == (5,)
    with pytest.raises(ValueError, match="non-negative"):
        x.resize(-1)


def test_get():
    x = pp.arange(6.0).reshape(2, 3)
    assert type(x.get()) is np.ndarray
    assert x.get().flags.c_contiguous
    assert x.get(order="F").flags.f_contiguous
    assert x.T.get(order="A").flags.f_contiguous
    for out in (np.empty((2, 3)), np.empty((2, 3), order="F"), np.empty((2, 6))[:, ::2]):
        assert x.get(out=out) is out
        assert out.tolist() == x.tolist()
    with pytest.raises(ValueError, match="get: out has the shape"):
        x.get(out=np.empty(6))
    with pytest.raises(TypeError, match="get: out must be"):
        x.get(out=np.empty((2, 3), "f4"))


def test_views_of_other_sizes_do_not_depend_on_names():
    """What a view reads has the same strides whether a name holds it or not."""
    host, x = np.ones((2, 3)), pp.ones((2, 3))
    for make in (lambda a: a.T, lambda a: (a * 2).T, lambda a: (a * 2)[:, ::2], lambda a: (a * 2).T[1:]):
        for array in (host, x, x + 0):
            with pytest.raises(ValueError, match="last axis must be contiguous"):
                make(array).view("f4")
    for make in (lambda a: a * 2, lambda a: (a * 2)[1], lambda a: (a * 2).T.T, lambda a: a.reshape(3, 2)):
        np.testing.assert_array_equal(make(x + 0).view("u4"), make(host).view("u4"))
    with pytest.raises(ValueError):
        pp.ones((2, 3)).T.view("f4")
