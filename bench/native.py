# bench/native.py: what a call of a native extension costs with three arrays and a queue, beside the same with three NumPy arrays; and
# what functions of the table cost.
"""python bench/native.py: a row a binding, and a row a function; exits with 1 where a bound is missed. `--loose` reports alone, for those
machines that are busy, `--short` takes few samples.

`exchanged`: arrays of pardo given to the function that is written for NumPy's, by DLPack or a buffer."""

import argparse
import ctypes
import importlib
import subprocess
import sys
import sysconfig
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp

SOURCES = Path(__file__).parent / "native"
ABOVE = {"nanobind": 150, "pybind11": 300, "cython": 150}  # nanoseconds above NumPy's, at most
SPLIT_NANOBIND = ["-DNB_BACKEND_MODULE=nanobind_backend", "-DNB_BACKEND_PYPI=nanobind-backend", "-DPy_LIMITED_API=0x030B0000"]


def built(binding: str, folder: Path) -> Any:
    """The module of a binding."""
    name = f"calls_{binding}"
    source, flags = SOURCES / f"{name}.cpp", []
    if binding == "cython":
        source = folder / f"{name}.cpp"
        command = [sys.executable, "-m", "cython", "-3", "--cplus", "-X", "boundscheck=False", str(SOURCES / f"{name}.pyx")]
        subprocess.run([*command, "-o", str(source)], check=True)
    elif binding == "nanobind":
        import nanobind

        flags = [*SPLIT_NANOBIND, "-fno-strict-aliasing", f"-I{nanobind.include_dir()}"]
    else:
        import pybind11

        flags = [f"-I{pybind11.get_include()}"]
    out = folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = [f"-I{pp.get_include()}", f"-I{sysconfig.get_paths()['include']}"]
    options = ["-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run(["c++", *options, *includes, *flags, str(source), "-o", str(out)], check=True)
    return importlib.import_module(name)


def timed(f: Any, queue: pp.Queue, a: Any, number: int) -> float:
    return timeit.timeit("f(q, a, a, a)", globals={"f": f, "q": queue, "a": a}, number=number) / number * 1e9


def rows_of_the_table(folder: Path, queue: pp.Queue, x: pp.Array) -> dict[str, tuple[Callable[[int], float], float | None]]:
    """Nanoseconds of so many calls, and what they are to take at most."""
    out = folder / "table.so"
    includes = [f"-I{pp.get_include()}"]
    subprocess.run(["cc", "-std=gnu99", "-O2", "-shared", "-fPIC", *includes, str(SOURCES / "table.c"), "-o", str(out)], check=True)
    library = ctypes.PyDLL(str(out))
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    table = ctypes.c_void_p(get(pp._C_API, b"pardo._C_API"))
    o = ctypes.py_object
    for name in ("handle", "facts", "submitted"):
        getattr(library, name).restype = ctypes.c_double

    def submitted(arrays: int, cost: float) -> Callable[[int], float]:
        return lambda n: library.submitted(table, o(queue), o(x), arrays, ctypes.c_double(cost), n)

    return {
        "a handle of an array made and released": (lambda n: library.handle(table, o(x), n), None),
        "array_info": (lambda n: library.facts(table, o(x), n), None),
        "submit of nothing, at once": (submitted(0, 100), 500),
        "submit of nothing, at once, with three arrays": (submitted(3, 100), None),
        "submit of nothing, on a worker": (submitted(0, 0), 3000),
        "submit of nothing, on a GPU": (submitted(0, 0), 2000),
    }


def product_beside_cupy(folder: Path, queue: pp.Queue, number: int) -> tuple[float, float] | None:
    """Nanoseconds of one of many products of a 16 x 16 matrix and a vector that are handed over in a row, until all are done: by
    examples/native/gemv_c, and by CuPy's `a @ x`. None without CuPy."""
    try:
        import cupy
    except ImportError:
        return None
    sources = Path(__file__).parents[1] / "examples" / "native" / "gemv_c"
    out = folder / "_gemv_c.so"
    options = ["-O2", "-shared", "-fPIC", f"-I{pp.get_include()}"]
    subprocess.run(["cc", *options, str(sources / "gemv_c.c"), "-o", str(out)], check=True)
    (folder / "gemv_c.py").write_text((sources / "gemv_c.py").read_text())
    gemv = importlib.import_module("gemv_c").gemv
    host = np.random.default_rng(0).random((16, 17))
    a, x, y = (pp.asarray(v, queue=queue).wait() for v in (host[:, :16].copy(), host[:, 16].copy(), np.zeros(16)))
    b, z = cupy.asarray(host[:, :16].copy()), cupy.asarray(host[:, 16].copy())
    gemv(queue, a, x, y).wait()
    np.testing.assert_allclose(pp.asnumpy(y), host[:, :16] @ host[:, 16])

    def ours() -> None:
        for _ in range(number):
            gemv(queue, a, x, y)
        queue.wait()

    def theirs() -> None:
        for _ in range(number):
            b @ z
        cupy.cuda.get_current_stream().synchronize()

    samples = [(timeit.timeit(ours, number=1), timeit.timeit(theirs, number=1)) for _ in range(9)]
    least = [min(s) / number * 1e9 for s in zip(*samples, strict=True)]
    return least[0], least[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loose", action="store_true", help="report, and miss no bound")
    parser.add_argument("--short", action="store_true", help="few samples: whether it runs")
    parser.add_argument("--device", default="cpu", help="where queue and arrays are; on a GPU the rows of the table alone")
    options = parser.parse_args()
    samples_each, number = (2, 200) if options.short else (15, 20000)
    queue = pp.Queue(options.device)
    on_cpu = queue.device.backend == "cpu"
    n = np.arange(1000.0)
    x = pp.asarray(n, queue=queue).wait()
    print(f"{'least of many, ns':24} {'pardo':>7} {'NumPy':>7} {'above':>7} {'exchanged':>9}  at most above")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for binding, bound in ABOVE.items() if on_cpu else ():
            try:
                module = built(binding, Path(folder))
            except (ImportError, subprocess.CalledProcessError) as e:
                print(f"{binding}: left out: {e}")
                continue
            calls = [(module.pardo, x), (module.numpy, n), (module.numpy, x)]
            samples = [[timed(f, queue, a, number) for f, a in calls] for _ in range(samples_each)]
            ours, theirs, exchanged = map(min, zip(*samples, strict=True))
            late = ours - theirs > bound
            missed += late
            print(f"{binding:24} {ours:7.0f} {theirs:7.0f} {ours - theirs:7.0f} {exchanged:9.0f}  {bound} ns{'   MISSED' if late else ''}")
        if not on_cpu and (pair := product_beside_cupy(Path(folder), queue, number // 10)):
            late = pair[0] > pair[1]
            missed += late
            print(f"gemv of 16 x 16 {pair[0]:.0f} ns, CuPy's {pair[1]:.0f} ns{'   MISSED' if late else ''}")
        for name, (call, most) in rows_of_the_table(Path(folder), queue, x).items():
            if name.startswith("submit") and name.endswith("on a GPU") == on_cpu:
                continue
            least = min(call(number) for _ in range(samples_each))
            if least < 0:
                raise RuntimeError(f"{name}: failed")
            late = most is not None and least > most
            missed += late
            print(f"{name:46} {least:7.0f} ns{f', at most {most:.0f}' if most else ''}{'   MISSED' if late else ''}")
    return 1 if missed and not options.loose else 0


if __name__ == "__main__":
    sys.exit(main())
