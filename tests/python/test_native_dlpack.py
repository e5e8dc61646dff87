# tests/python/test_native_dlpack.py: arrays as tensors of DLPack and back through the table of pardo/c_api.h, without a call of Python.
from __future__ import annotations

import ctypes
import gc
import threading
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

import numpy as np
import pardo as pp
import pytest
from native_api import Api, C, NativeError

api = Api()
ARRAY, BUFFER = C["PARDO_IS_ARRAY"], C["PARDO_E_BUFFER"]


class Tensor(Structure):
    _fields_ = [
        ("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8),
        ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    ]  # fmt: skip


class Managed(Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, POINTER(Managed))
Managed._fields_ = [
    ("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", DELETER), ("flags", c_uint64), ("tensor", Tensor),
]  # fmt: skip
NAME, USED = c_char_p(b"dltensor_versioned"), c_char_p(b"used_dltensor_versioned")  # capsules keep the pointers
new_capsule, pointer_of, rename = (ctypes.pythonapi[f"PyCapsule_{name}"] for name in ("New", "GetPointer", "SetName"))
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
pointer_of.restype, pointer_of.argtypes = c_void_p, [ctypes.py_object, c_char_p]
rename.argtypes = [ctypes.py_object, c_char_p]


kept = []


class Producer:
    """What a library does with a tensor of C: it gives it to NumPy."""

    def __init__(self, managed):
        self.managed = managed

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        return new_capsule(self.managed, NAME, None)


def tensor_of(x, stream=None):
    handle, out = api.array(x), c_void_p()
    try:
        api.array_to_dlpack(handle, stream, byref(out))
    finally:
        api.release(handle)
    return out


def array_of(managed, queue=None, ready=None):
    out = c_void_p()
    api.array_from_dlpack(queue, managed, ready, byref(out))
    x = api.object(out, ARRAY)
    api.release(out)
    return x


def made(values, gone=None, **changed):
    """A tensor as native code makes it, of NumPy's memory; `gone` gets its deleter's calls."""
    values = np.asarray(values)
    m = Managed(major=1, minor=1)
    m.shape_kept = (c_int64 * values.ndim)(*values.shape)
    m.strides_kept = (c_int64 * values.ndim)(*(s // values.itemsize for s in values.strides))
    m.tensor = Tensor(
        values.ctypes.data, 1, 0, values.ndim, {"f": 2, "i": 0, "u": 1, "c": 5, "b": 6}[values.dtype.kind], 8 * values.itemsize, 1,
        m.shape_kept, m.strides_kept, 0,
    )  # fmt: skip
    m.deleter = DELETER(lambda _: gone.append(1) if gone is not None else None)
    m.kept = values
    for name, value in changed.items():
        setattr(m if name in ("major", "flags") else m.tensor, name, value)
    kept.append(m)  # its deleter may be called as long as the process lives
    return m


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "complex64", "complex128"]
)
def test_to_numpy_and_back(dtype):
    x = pp.arange(24, dtype="int32").astype(dtype).reshape(2, 3, 4)[:, ::2, 1:]
    managed = tensor_of(x)
    y = np.from_dlpack(Producer(managed.value))
    assert y.dtype == dtype
    assert np.array_equal(y, pp.asnumpy(x))
    expected = np.array(y)
    del x
    gc.collect()
    assert np.array_equal(y, expected)  # it keeps the memory
    capsule = y.__dlpack__(max_version=(1, 0))
    z = array_of(c_void_p(pointer_of(capsule, NAME)))
    rename(capsule, USED)
    assert z.dtype == dtype
    assert np.array_equal(pp.asnumpy(z), expected)
    assert np.shares_memory(np.asarray(z), y)


def test_what_is_recorded_is_computed():
    x = pp.arange(1000, dtype="float64") * 2 + 1
    y = np.from_dlpack(Producer(tensor_of(x).value))
    assert np.array_equal(y, np.arange(1000) * 2.0 + 1)
    y[3] = -5
    assert float(x[3]) == -5


def test_read_only():
    x = pp.arange(5)
    x.flags.writeable = False
    managed = tensor_of(x)
    assert ctypes.cast(managed, POINTER(Managed))[0].flags == 1
    y = np.from_dlpack(Producer(managed.value))
    assert not y.flags.writeable
    z = array_of(ctypes.pointer(made(np.arange(3.0), flags=1)))
    with pytest.raises(ValueError, match="read-only"):
        z[0] = 1


def test_the_deleter_is_called_once():
    gone = []
    m = made(np.arange(6.0).reshape(2, 3), gone)
    x = array_of(ctypes.pointer(m))
    view = x[1]
    del x
    gc.collect()
    assert not gone
    assert pp.asnumpy(view).tolist() == [3, 4, 5]
    del view
    gc.collect()
    assert gone == [1]


def test_ready_is_waited_for():
    ready, values = pp.UserEvent(), np.zeros(4)
    handle = api.handle(ready, C["PARDO_IS_EVENT"])
    x = array_of(ctypes.pointer(made(values)), None, handle)

    def finish():
        values[:] = 7
        ready.set_complete()

    later = threading.Timer(0.05, finish)
    later.start()
    assert pp.asnumpy(x + 1).tolist() == [8] * 4
    later.join()
    api.release(handle)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"major": 2}, "DLPack version 2 is not supported"),
        ({"code": 3}, "elements of DLPack type code 3 with 64 bits and 1 lanes are not supported"),
        ({"bits": 24}, "with 24 bits"),
        ({"ndim": 40}, "the tensor has 40 dimensions"),
        ({"device_type": 7}, "the tensor's memory is not readable by the host"),
        ({"data": None}, "elements, and their address is 0"),
        ({"shape": None}, "and no shape"),
    ],
)
def test_tensors_that_cannot_be(changed, text):
    gone = []
    m = made(np.arange(6.0), gone, **changed)
    with pytest.raises(NativeError, match="array_from_dlpack: .*" + text) as raised:
        array_of(ctypes.pointer(m))
    assert raised.value.status == BUFFER
    assert gone == [1]  # taken over, and deleted


def test_misaligned_memory_is_copied():
    gone = []
    raw = np.zeros(33, "u1")
    raw[1:].view("u1")[:] = np.frombuffer(np.arange(4.0).tobytes(), "u1")
    m = made(np.arange(4.0), gone, data=raw.ctypes.data + 1)
    x = array_of(ctypes.pointer(m))
    assert pp.asnumpy(x).tolist() == [0, 1, 2, 3]
    assert gone == [1]


def test_a_failed_ready_of_memory_that_is_copied():
    gone, ready, raw = [], pp.UserEvent(), np.zeros(33, "u1")
    ready.set_failed(ValueError("not written"))
    handle = api.handle(ready, C["PARDO_IS_EVENT"])
    with pytest.raises(NativeError, match="not written"):
        array_of(ctypes.pointer(made(np.arange(4.0), gone, data=raw.ctypes.data + 1)), None, handle)
    assert gone == [1]
    api.release(handle)


def test_bad_arguments():
    x = pp.arange(3)
    with pytest.raises(NativeError, match="array_to_dlpack: stream is to be NULL for an array on cpu:0"):
        tensor_of(x, c_void_p(8))
    with pytest.raises(NativeError, match="array_from_dlpack: managed is NULL"):
        array_of(None)
    with pytest.raises(NativeError, match="array_to_dlpack: array is NULL"):
        api.array_to_dlpack(None, None, byref(c_void_p()))
    handle, gone = api.array(x), []
    with pytest.raises(NativeError, match="array_from_dlpack: queue is to be a queue, and is an array"):
        array_of(ctypes.pointer(made(np.arange(3.0), gone)), handle)
    assert gone == [1]
    api.release(handle)
