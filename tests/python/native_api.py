# tests/python/native_api.py: pardo/c_api.h as ctypes sees it: the table's functions by their names, structs, and what handles stand for.
from __future__ import annotations

import ctypes
import itertools
import re
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_void_p
from pathlib import Path

import pardo as pp

HEADER = next(
    path
    for path in (Path(pp.__file__).parent / "include/pardo/c_api.h", Path(__file__).parents[2] / "include/pardo/c_api.h")
    if path.exists()
).read_text()
CODE = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)


def _constants():
    """The names of all enumerations, and of the macros that are numbers."""
    found = {name: int(value) for name, value in re.findall(r"#define (PARDO_\w+) \(?(-?\d+)\)?", CODE)}
    for body in re.findall(r"enum \{(.*?)\}", CODE, re.DOTALL):
        following = itertools.count()
        for item in filter(None, map(str.strip, body.split(","))):
            name, _, value = map(str.strip, item.partition("="))
            if value:
                following = itertools.count(int(value))
            found[name] = next(following)
    return found


C = _constants()
globals().update({name.removeprefix("PARDO_"): value for name, value in C.items()})
TABLE = re.findall(
    r"\(\*(\w+)\)\(",
    CODE[CODE.index("typedef struct pardo_api") :]
    .split("} pardo_api;")[0]
    .replace("void (*f)(", "")
    .replace("void (*destroy)(", "")
    .replace("int (*make)(", ""),
)


class Info(Structure):
    _fields_ = [
        ("size", c_uint32), ("dtype", c_int32), ("ndim", c_int32), ("flags", c_uint32), ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)), ("count", c_int64), ("nbytes", c_int64), ("itemsize", c_int64), ("backend", c_int32),
        ("memory_kind", c_int32), ("device", c_void_p), ("queue", c_void_p),
    ]  # fmt: skip


class Memory(Structure):
    _fields_ = [("size", c_uint32), ("address", c_void_p), ("object", c_void_p), ("offset", c_int64)]


class NativeDevice(Structure):
    _fields_ = [("size", c_uint32), ("backend", c_int32), ("device", c_void_p), ("context", c_void_p), ("platform", c_void_p)]


class Use(Structure):
    _fields_ = [("array", c_void_p), ("access", c_uint32)]


class Work(Structure):
    _fields_ = [
        ("size", c_uint32), ("backend", c_int32), ("queue", c_void_p), ("device", c_void_p), ("stream", c_void_p),
        ("wait", POINTER(c_void_p)), ("n_wait", c_uint32), ("n", c_uint32),
        ("info", POINTER(Info)), ("memory", POINTER(Memory)), ("native", NativeDevice),
    ]  # fmt: skip


DESTROY = ctypes.CFUNCTYPE(None, c_void_p)
WORK = ctypes.CFUNCTYPE(ctypes.c_int, POINTER(Work), c_void_p, POINTER(c_void_p))
THEN = ctypes.CFUNCTYPE(None, c_int32, c_void_p)
PART = ctypes.CFUNCTYPE(None, c_int64, c_int64, c_void_p)


class Options(Structure):
    _fields_ = [
        ("size", c_uint32), ("name", c_char_p), ("cost_ns", c_double), ("after", POINTER(c_void_p)), ("n_after", c_size_t),
        ("scratch_bytes", c_size_t), ("destroy", DESTROY),
    ]  # fmt: skip


class Result(Structure):
    _fields_ = [("dtype", c_int32), ("ndim", c_int32), ("shape", c_int64 * C["PARDO_MAX_NDIM"])]


SHAPE = ctypes.CFUNCTYPE(c_int32, POINTER(Info), c_size_t, POINTER(Result), c_size_t, c_void_p)


class _Head(Structure):
    _fields_ = [("size", c_uint32), ("major", c_uint16), ("minor", c_uint16), ("version", c_char_p)]


class NativeError(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Api:
    """The table. `api.name(…)` raises NativeError with the status; numbers are int64, texts and handles pointers."""

    def __init__(self):
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = c_void_p, [ctypes.py_object, c_char_p]
        self.address = get(pp._C_API, b"pardo._C_API")
        self.head = _Head.from_address(self.address)
        self.functions = (c_void_p * len(TABLE)).from_address(self.address + ctypes.sizeof(_Head))

    def pointer(self, name, result, *types, gil=False):
        make = ctypes.PYFUNCTYPE if gil else ctypes.CFUNCTYPE
        return make(result, *types)(self.functions[TABLE.index(name)])

    def text(self):
        text = c_char_p()
        status = self.pointer("last_error", c_int32, POINTER(c_char_p))(byref(text))
        return status, text.value.decode()

    def __getattr__(self, name):
        if name not in TABLE:
            raise AttributeError(name)

        def call(*arguments):
            given = [a if not isinstance(a, int) or isinstance(a, bool) else _integer(a) for a in arguments]
            function = self.pointer(name, c_int32)
            status = function(*given)
            if status != 0:
                raise NativeError(*self.text())

        return call

    def handle(self, o, kind):
        out = c_void_p()
        from_py = self.pointer("from_py", c_int32, ctypes.py_object, c_int32, POINTER(c_void_p), gil=True)
        if from_py(o, kind, byref(out)) != 0:
            raise NativeError(*self.text())
        return out

    def array(self, x):
        return self.handle(x, C["PARDO_IS_ARRAY"])

    def queue(self, q):
        return self.handle(q, C["PARDO_IS_QUEUE"])

    def object(self, handle, kind):
        return self.pointer("to_py", ctypes.py_object, c_void_p, c_int32, gil=True)(handle, kind)

    def release(self, *handles):
        release = self.pointer("release", None, c_void_p)
        for handle in handles:
            release(handle)

    def status_of(self, event):
        return self.pointer("event_status", c_int32, c_void_p)(event)


def _integer(a):
    return c_int64(a)


def options(**values):
    return Options(size=ctypes.sizeof(Options), **values)


def uses(*pairs):
    """Pairs of a handle and an access."""
    return (Use * len(pairs))(*[Use(handle.value, access) for handle, access in pairs])
