# tests/fuzz/exchange.py: hostile descriptions of memory: DLPack's capsules and the interfaces of arrays.
from __future__ import annotations

import ctypes
import math
import mmap
import random
from typing import Any

import numpy as np

PAGE = mmap.PAGESIZE
SIZE = 2 * PAGE  # of the memory that is described

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

NUMBERS = [
    0,
    1,
    2,
    3,
    7,
    8,
    100,
    -1,
    -2,
    -8,
    1 << 20,
    1 << 31,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 32,
    1 << 40,
    -(1 << 40),
    1 << 61,
    1 << 62,
    (1 << 63) - 1,
    -(1 << 63),
]


def documented() -> tuple[type[BaseException], ...]:
    import pardo as pp

    return (
        ValueError,
        TypeError,
        IndexError,
        OverflowError,
        MemoryError,
        BufferError,
        ImportError,
        pp.DeviceError,
        pp.ExecutionPlacementError,
        pp.CompileError,
    )


def guarded() -> int:
    """The address of SIZE bytes, 0, 1, 2, ..., between two pages without access."""
    start = LIBC.mmap(None, SIZE + 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    LIBC.mprotect(start, PAGE, 0)
    LIBC.mprotect(start + PAGE + SIZE, PAGE, 0)
    ctypes.memmove(start + PAGE, bytes(i % 251 for i in range(SIZE)), SIZE)
    return int(start) + PAGE


# --- DLPack ---------------------------------------------------------------------------------------------------------------------


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
KEPT: list[Any] = []  # what capsules point to lives as long as the process


class Capsule:
    """An object with `__dlpack__`."""

    def __init__(self, given: dict[str, Any], base: int) -> None:
        shape = (ctypes.c_int64 * max(1, len(given["shape"])))(*given["shape"])
        strides = (ctypes.c_int64 * max(1, len(given["strides"] or [0])))(*(given["strides"] or [0]))
        managed = (Versioned if given["versioned"] else Managed)()
        t = managed.tensor
        t.data = None if given["data"] is None else base + given["data"]
        t.device_type, t.device_id, t.ndim = given["device_type"], 0, given["ndim"]
        t.code, t.bits, t.lanes = given["dtype"]
        t.shape = None if given["no_shape"] else ctypes.addressof(shape)
        t.strides = None if given["strides"] is None else ctypes.addressof(strides)
        t.byte_offset = given["offset"]
        if given["versioned"]:
            managed.major, managed.minor, managed.flags = given["major"], 0, given["flags"]
        name = given["name"].encode()
        KEPT.extend([shape, strides, managed, name])
        self.capsule = ctypes.pythonapi.PyCapsule_New(ctypes.addressof(managed), name, None)
        self.device = given["said_device"]

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> Any:
        return tuple(self.device)


CODES = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


def true_of(shape: list[int], strides: list[int], itemsize: int, offset: int) -> bool:
    """Whether a description stays within the memory, and its bytes can be counted; strides in bytes."""
    if any(s < 0 for s in shape):
        return False
    if 0 in shape:
        return True
    if math.prod(shape) * itemsize >= 1 << 63:
        return False
    low = offset + sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
    high = offset + sum(max(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True)) + itemsize
    return low >= 0 and high <= SIZE


def wrong_by_itself(shape: list[int], strides: list[int], itemsize: int) -> bool:
    """Negative extents, or a size or an end that no memory has."""
    if any(s < 0 for s in shape):
        return True
    size = itemsize
    for s in shape:
        size *= s
    reach = sum((max(n, 1) - 1) * abs(s) for n, s in zip(shape, strides, strict=True))
    return 0 not in shape and (size >= 1 << 62 or reach >= 1 << 62)


def rows(shape: list[int], itemsize: int) -> list[int]:
    made, step = [], itemsize
    for n in reversed(shape):
        made.insert(0, step)
        step *= max(n, 1)
    return made


def check_import(what: str, take: Any, truth: np.ndarray | None) -> str | None:
    """Takes a description. `truth`: what it says, None where it is wrong and must be refused."""
    import pardo as pp

    try:
        x = take()
        got = pp.asnumpy(x)
        total = pp.asnumpy(x + x) if x.size and x.dtype.kind != "b" else None
    except documented():
        return None  # a true one may be refused too: alignment, device, dtype
    except Exception as e:
        return f"{what}: {type(e).__name__}: {e}"
    if truth is None:
        return f"{what}: accepted, as {got.dtype} of shape {got.shape}"
    if got.shape != truth.shape or got.tobytes() != truth.tobytes():
        return f"{what}: read as {got.ravel()[:5]}, it is {truth.ravel()[:5]}"
    del total
    return None


def run_dlpack(given: dict[str, Any]) -> str | None:
    import pardo as pp

    base = guarded()
    code, bits, lanes = given["dtype"]
    shape, truth = given["shape"], None
    good = given["ndim"] == len(shape) and not (given["no_shape"] and given["ndim"]) and lanes == 1
    good = (
        good
        and given["device_type"] in (1, 3)  # 3: memory of the host that CUDA has pinned
        and given["data"] is not None
        and given["name"] in ("dltensor", "dltensor_versioned")
        and code in CODES
        and bits % 8 == 0
        and bits >= 8
    )
    good = good and (given["name"] == "dltensor_versioned") == given["versioned"]
    if good:
        strides = [s * bits // 8 for s in given["strides"]] if given["strides"] is not None else rows(shape, bits // 8)
        try:
            dtype = np.dtype(f"{CODES[code]}{bits // 8}")
        except TypeError:
            dtype = None
        if dtype is not None and true_of(shape, strides, bits // 8, given["data"] + given["offset"]):
            if 0 not in shape:
                strides = [s if n > 1 else bits // 8 for n, s in zip(shape, strides, strict=True)]  # of one element: any stride is as good
                truth = np.ndarray(shape, dtype, (ctypes.c_char * SIZE).from_address(base), given["data"] + given["offset"], strides)
            elif max(shape) < 1 << 31:
                truth = np.zeros(shape, dtype)
            else:
                return None  # no elements, and extents that NumPy refuses
        elif not wrong_by_itself(shape, strides, bits // 8):
            return None  # a lie that cannot be detected
    elif 0 in shape and (given["data"] is None or given["device_type"] == 2):
        return None  # no elements, at no address or of a GPU that may be there
    capsule = Capsule(given, base)
    return check_import("from_dlpack", lambda: pp.from_dlpack(capsule), truth)


def make_dlpack(r: random.Random) -> dict[str, Any]:
    rank = r.choice([0, 1, 1, 2, 2, 3])
    shape = [r.choice([1, 2, 3, 7, 16, 0]) for _ in range(rank)]
    dtype = r.choice([[2, 64, 1], [2, 32, 1], [0, 64, 1], [0, 32, 1], [1, 8, 1], [6, 8, 1], [5, 128, 1]])
    strides = None if r.random() < 0.5 else [s // (dtype[1] // 8) for s in rows(shape, dtype[1] // 8)]
    versioned = r.random() < 0.5
    given: dict[str, Any] = {
        "kind": "dlpack", "ndim": rank, "shape": shape, "strides": strides, "dtype": dtype, "device_type": 1, "said_device": [1, 0], "data": 64 * r.randrange(8),
        "offset": r.choice([0, 0, 8, 64]), "no_shape": False, "versioned": versioned, "name": "dltensor_versioned" if versioned else "dltensor", "major": 1, "flags": 0,
    }  # fmt: skip
    for _ in range(r.choice([0, 1, 1, 2])):
        field = r.choice(["ndim", "shape", "strides", "dtype", "device", "data", "offset", "no_shape", "name", "major", "flags"])
        if field == "ndim":
            given["ndim"] = r.choice([-1, 65, 1000, (1 << 31) - 1, -(1 << 31)])
        elif field in ("shape", "strides") and rank:
            numbers = list(given[field] or rows(shape, 1))
            numbers[r.randrange(rank)] = r.choice(NUMBERS)
            given[field] = numbers
        elif field == "dtype":
            given["dtype"] = [
                r.choice([0, 1, 2, 3, 4, 5, 6, 7, 200]),
                r.choice([0, 1, 4, 7, 8, 16, 24, 64, 128, 255]),
                r.choice([0, 1, 2, 65535]),
            ]
        elif field == "device":
            given["device_type"] = r.choice([0, 2, 3, 4, 15, -1, 99])  # not 13, memory that CUDA manages: the host may read it
            if r.random() < 0.7:
                given["said_device"] = [given["device_type"], r.choice([0, -1, 5])]
        elif field == "data":
            given["data"] = r.choice([None, 1, 3, SIZE - 8])
        elif field == "offset":
            given["offset"] = r.choice([1, 3, SIZE - 64, SIZE + (1 << 62), (1 << 64) - 8])
        elif field == "no_shape":
            given["no_shape"] = True
        elif field == "name":
            given["name"] = r.choice(["used_dltensor", "", "dltensor", "dltensor_versioned", "x"])
        elif field == "major":
            given["major"] = r.choice([0, 2, 1000])
        else:
            given["flags"] = r.choice([1, 2, 3, (1 << 64) - 1])
    if given["name"] in ("dltensor", "dltensor_versioned") and (given["name"] == "dltensor_versioned") != given["versioned"]:
        given["name"] = "x"  # a capsule of one kind under the other's name: what it points to is not known to anybody
    return given


# --- array interfaces -----------------------------------------------------------------------------------------------------------


class Interface:
    def __init__(self, name: str, description: Any) -> None:
        setattr(self, name, description)


def run_interface(given: dict[str, Any]) -> str | None:
    import pardo as pp

    base = guarded()
    d = {k: v for k, v in given["interface"].items() if k not in given["missing"]}
    if isinstance(d.get("data"), list):
        d["data"] = (None if d["data"][0] is None else base + d["data"][0] if d["data"][1] != "null" else 0, d["data"][1] is True)
    for key in ("shape", "strides"):
        if isinstance(d.get(key), list):
            d[key] = tuple(d[key])
    name, truth = given["name"], None
    if name == "__array_interface__" and given["touched"] == []:
        strides = list(d["strides"]) if d.get("strides") else rows(list(d["shape"]), np.dtype(d["typestr"]).itemsize)
        if 0 in d["shape"]:
            truth = np.zeros(d["shape"], d["typestr"])
        elif true_of(list(d["shape"]), strides, np.dtype(d["typestr"]).itemsize, given["interface"]["data"][0]):
            truth = np.ndarray(d["shape"], d["typestr"], (ctypes.c_char * SIZE).from_address(base), given["interface"]["data"][0], strides)
    elif name == "__array_interface__":
        # NumPy looks through it first: what it takes is taken as it takes it.
        dtype = d.get("typestr")
        try:
            shape, itemsize = list(d["shape"]), np.dtype(dtype).itemsize
            strides = list(d["strides"]) if d.get("strides") is not None else rows(shape, itemsize)
            if (
                len(strides) == len(shape)
                and not true_of(shape, strides, itemsize, given["interface"]["data"][0])
                and not wrong_by_itself(shape, strides, itemsize)
            ):
                return None
            if wrong_by_itself(shape, strides, itemsize):
                raise ValueError  # NumPy would follow it
            with np.errstate(all="ignore"):
                truth = np.array(Interface(name, d))
                truth = truth.astype(truth.dtype.newbyteorder("="))
        except Exception:
            truth = None
    made = Interface(name, d)
    if (
        truth is None
        and isinstance(d.get("shape"), tuple)
        and 0 in d["shape"]
        and isinstance(d.get("data"), tuple)
        and d["data"][0] is None
    ):
        return None  # no elements at no address: may be taken
    if truth is not None and truth.dtype.kind not in "biufc":
        return None
    return check_import(name, lambda: pp.asarray(made, copy=given["copy"]), truth)


def make_interface(r: random.Random) -> dict[str, Any]:
    rank = r.choice([0, 1, 1, 2, 3])
    shape = [r.choice([1, 2, 3, 7, 0]) for _ in range(rank)]
    typestr = r.choice(["<f8", "<f4", "<i8", "<i4", "|u1", "|b1", "<c16"])
    d: dict[str, Any] = {"shape": shape, "typestr": typestr, "data": [64 * r.randrange(8), False], "version": 3}
    if r.random() < 0.4:
        d["strides"] = rows(shape, np.dtype(typestr).itemsize)
    given: dict[str, Any] = {"kind": "interface", "name": r.choice(["__array_interface__", "__cuda_array_interface__", "__sycl_usm_array_interface__"]), "interface": d,
                             "missing": [], "touched": [], "copy": r.choice([None, False, True])}  # fmt: skip
    for _ in range(r.choice([0, 1, 1, 2])):
        field = r.choice(["shape", "typestr", "data", "strides", "missing", "version"])
        given["touched"].append(field)
        if field == "shape":
            d["shape"] = r.choice([None, 3, "abc", [-1], [1 << 62, 4], [1.5], [None], [1 << 70], [1] * 70, [0, 1 << 62]])
        elif field == "typestr":
            # Not object dtypes: NumPy itself follows their pointers.
            d["typestr"] = r.choice(["", "<f3", ">f8", "<V8", "f", 3, None, "<U4", "<f999999999999", "\0\0"])
        elif field == "data":
            d["data"] = r.choice([[0, "null"], [None, False], None, 3, "x"])
        elif field == "strides":
            d["strides"] = r.choice([[8], [8, 8, 8, 8], [1 << 62] * max(rank, 1), "x", 7, [None], [-8] * max(rank, 1), [1 << 80]])
        elif field == "missing":
            given["missing"].append(r.choice(["shape", "typestr", "data", "version"]))
        else:
            d["version"] = r.choice([0, 1, 2, 99, None, "3"])
    return given
