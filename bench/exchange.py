# bench/exchange.py: what it costs to hand arrays to other libraries and to take theirs, beside NumPy's own, in turns, in one process.
"""python bench/exchange.py: a row a way; exits with 1 where a bound is missed. `--loose` reports alone, for machines that are busy."""

import argparse
import ctypes
import sys
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pardo as pp


class Row(NamedTuple):
    ours: Callable[[], Any]
    theirs: Callable[[], Any] | None  # of NumPy, or what the row names
    ratio: float | None  # to NumPy's time, at most
    bound: float | None = None  # in nanoseconds, at most


def c_exchange(x: Any) -> tuple[Callable[[], Any], float]:
    """One export by the table of C functions, with its deletion, by ctypes; and what two calls of ctypes alone take."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(type(x).__dlpack_c_exchange_api__, b"dlpack_exchange_api"), ctypes.POINTER(ctypes.c_void_p))
    view = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(table[5])
    tensor = ctypes.create_string_buffer(64)
    place = ctypes.addressof(tensor)
    idle = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
    capsule = type(x).__dlpack_c_exchange_api__
    return (lambda tensor=tensor: view(x, place)), least(lambda: idle(capsule, b"dlpack_exchange_api"))


def least(f: Callable[[], Any], number: int = 2000, repeats: int = 7) -> float:
    f()
    return min(timeit.repeat(f, number=number, repeat=repeats)) / number * 1e9


def rows() -> dict[str, Row]:
    n = np.arange(1000.0)
    x = pp.asarray(n)
    new = (1, 0)
    made = {
        "x.__dlpack__(max_version=(1, 0))": Row(lambda: x.__dlpack__(max_version=new), lambda: n.__dlpack__(max_version=new), 3.0, 150),
        "np.from_dlpack(x)": Row(lambda: np.from_dlpack(x), lambda: np.from_dlpack(n), 2.3, 300),
        "pp.from_dlpack(numpy)": Row(lambda: pp.from_dlpack(n), lambda: np.from_dlpack(n), None, 500),
        "pp.asarray(numpy, copy=False)": Row(lambda: pp.asarray(n, copy=False), lambda: np.from_dlpack(n), None, 500),
        "memoryview(x)": Row(lambda: memoryview(x), lambda: memoryview(n), 1.5, 120),
        "x.__array_interface__": Row(lambda: x.__array_interface__, lambda: n.__array_interface__, 1.3, 700),
        "np.asarray(x)": Row(lambda: np.asarray(x), lambda: np.asarray(memoryview(n)), None),
    }
    call, idle = c_exchange(x)
    made[f"C exchange, a view (ctypes alone {idle:.0f})"] = Row(call, None, None, 100 + idle)
    try:
        import tvm_ffi
    except ImportError:
        print("tvm-ffi is not installed: its row is left out")
    else:
        nop = tvm_ffi.get_global_func("testing.nop")
        y, z = pp.asarray(n), pp.asarray(n)
        own = tvm_ffi.from_dlpack(np.arange(1000.0))
        made["tvm-ffi, one array, beside its own tensor"] = Row(lambda: nop(x), lambda: nop(own), 1.55, 170)
        made["tvm-ffi, three arrays"] = Row(lambda: nop(x, y, z), None, None, 400)
        echo = tvm_ffi.get_global_func("testing.echo")
        made["tvm-ffi, one array there and back"] = Row(lambda: echo(x), None, None)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loose", action="store_true", help="report, and miss no bound")
    loose = parser.parse_args().loose
    print(f"{'least of many, ns':44} {'pardo':>7} {'NumPy':>7} {'ratio':>6}  at most")
    missed = 0
    for name, row in rows().items():
        samples = [(least(row.ours), least(row.theirs) if row.theirs else float("nan")) for _ in range(4)]
        ours, theirs = min(a for a, _ in samples), min(b for _, b in samples)
        ratio = ours / theirs
        late = (row.ratio is not None and ratio > row.ratio) or (row.ratio is None and row.bound is not None and ours > row.bound)
        missed += late
        bounds = [f"{row.ratio:g} x"] if row.ratio else []
        bounds += [f"{row.bound:.0f} ns"] if row.bound else []
        print(f"{name:44} {ours:7.0f} {theirs:7.0f} {ratio:6.2f}  {', '.join(bounds)}{'   MISSED' if late else ''}")
    return 1 if missed and not loose else 0


if __name__ == "__main__":
    sys.exit(main())
