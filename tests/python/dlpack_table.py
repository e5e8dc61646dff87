# tests/python/dlpack_table.py: the table of C functions of DLPack 1.3, as its header has it, for ctypes.
from __future__ import annotations

import ctypes

import pardo as pp


class ExchangeAPI(ctypes.Structure):
    """DLPack's table, as its header has it."""

    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
            ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
            ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
        ]  # fmt: skip

    class Managed(ctypes.Structure):
        pass

    _fields_ = [
        ("version", ctypes.c_uint32 * 2), ("previous", ctypes.c_void_p), ("allocate", ctypes.c_void_p), ("from_object", ctypes.c_void_p),
        ("to_object", ctypes.c_void_p), ("view", ctypes.c_void_p), ("stream", ctypes.c_void_p),
    ]  # fmt: skip


ExchangeAPI.Managed._fields_ = [
    ("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64),
    ("tensor", ExchangeAPI.Tensor),
]  # fmt: skip


def table():
    """That of arrays of pardo."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ExchangeAPI.from_address(get(pp.Array.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))


def call(address, *arguments):
    types = [ctypes.py_object if isinstance(a, pp.Array) else ctypes.c_void_p for a in arguments]
    return ctypes.PYFUNCTYPE(ctypes.c_int, *types)(address)(*arguments)
