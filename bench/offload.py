# bench/offload.py: what data contexts and regions of Cython take, beside the same work on arrays of the device, and beside OpenMP.
"""Ratios within one run.

Extensions are compiled from regions.pyx in a temporary folder. BENCH_OFFLOAD_EXTENSIONS names a folder where they are already, for machines
without a compiler: `python bench/offload.py --build FOLDER` makes them there.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pardo as pp
from session import print_machine

HERE = Path(__file__).resolve().parent
FLAGS = "-O3 -march=native -fopenmp"
DEVICE = re.compile(r", device=\{.*?\}|(?<=parallel\()device=\{.*?\}|, device\(\{.*?\}\)|\bdevice, (?=parallel)")


def stripped(folder: Path) -> Path:
    """The file without regions, which OpenMP runs."""
    path = folder / "openmp.pyx"
    path.write_text(DEVICE.sub("", (HERE / "regions.pyx").read_text()))
    return path


def build(folder: Path) -> None:
    """Make both extensions in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "regions.pyx").write_bytes((HERE / "regions.pyx").read_bytes())
    stripped(folder)
    for program in ("regions", "openmp"):
        compiled(folder, program)


def compiled(folder: Path, program: str) -> float:
    """Compile one in a process of its own: seconds."""
    whose = "pardo.cython" if program == "regions" else "Cython.Build"
    code = (
        "import sys, time; from setuptools import Extension, setup\n"
        f"from {whose} import cythonize\n"
        f"one = Extension({program!r}, [{program + '.pyx'!r}], extra_compile_args={FLAGS.split()}, extra_link_args=['-fopenmp'])\n"
        "begin = time.perf_counter()\n"
        "setup(ext_modules=cythonize([one], force=True, quiet=True), script_args=['-q', 'build_ext', '--inplace', '--force'])\n"
        "print(time.perf_counter() - begin)\n"
    )
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return float(ran.stdout.split()[-1])


def loaded(folder: Path, program: str) -> ModuleType:
    """An extension as a module."""
    (path,) = folder.glob(f"{program}.*.so")
    spec = importlib.util.spec_from_file_location(program, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(*calls: Callable[[], Any], budget: float = 2.0) -> list[float]:
    """Median seconds of calls that take turns, the first turn left out."""
    samples: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + budget
    while len(samples[0]) < 4 or time.perf_counter() < end:
        for call, of_call in zip(calls, samples, strict=True):
            begin = time.perf_counter()
            call()
            of_call.append(time.perf_counter() - begin)
    return [statistics.median(s[1:]) for s in samples]


def timed_apart(*calls: Callable[[], Any], budget: float = 4.0) -> list[float]:
    """As `timed`, three calls of each in a row after a pause: threads of OpenMP spin for milliseconds after their work, on all cores."""
    samples: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + budget
    while len(samples[0]) < 8 or time.perf_counter() < end:
        for call, of_call in zip(calls, samples, strict=True):
            time.sleep(0.05)
            for k in range(4):
                begin = time.perf_counter()
                call()
                if k:
                    of_call.append(time.perf_counter() - begin)
    return [statistics.median(s) for s in samples]


def row(name: str, value: str, asked: str, met: bool | None) -> None:
    """A line of the table."""
    verdict = "" if met is None else "  met" if met else "  NOT MET"
    print(f"{name:66}{value:>26}   {asked}{verdict}", flush=True)


@pp.jit
def on_arrays_of_the_device(X, D, i):
    for j in pp.prange(X.shape[0]):
        d = 0.0
        for k in range(X.shape[1]):
            t = X[i, k] - X[j, k]
            d = d + t * t
        D[i, j] = np.sqrt(d)


def at_cache_line(x: Any) -> Any:
    """The same values in memory that begins at a cache line."""
    bytes_of = np.empty(x.nbytes + 64, np.uint8)
    start = -bytes_of.ctypes.data % 64
    made = bytes_of[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    made[...] = x
    return made


def rows(regions: ModuleType, device: str, count: int) -> None:
    """Listings 3 and 4: rows, against the same loop on arrays of the device."""
    X, D = np.random.default_rng(0).random((4000, 64)), np.empty((count, 4000))
    there, result = pp.asarray(X, device=device).wait(), pp.empty(D.shape, device=device).wait()

    def native(x: pp.Array = there, out: pp.Array = result, waits: bool = False) -> None:
        for i in range(count):
            on_arrays_of_the_device(x, out, i)
            if waits:
                out.wait()
        out.wait()

    # NumPy's arrays begin 16 bytes behind a cache line; what others see is waited for at each call, but for regions in a quiet block.
    controls: dict[str, Callable[[], Any]] = {}
    if pp.Device(device)._takes_host_memory:
        at_line, shared = at_cache_line(X), [pp.asarray(a, device=device, copy=False) for a in (X, D)]
        controls = {
            "  listing 4 with X at a cache line": lambda: regions.rows_in_a_context(at_line, D, count),
            "  the loop on arrays of the device, waiting for each row": lambda: native(waits=True),
            "  the loop on arrays that share NumPy's memory, which waits": lambda: native(*shared),
        }

    def counted(call: Callable[..., None]) -> int:
        before = pp.counters()["copied_bytes"]
        call(X, D, count)
        return pp.counters()["copied_bytes"] - before

    with pp.device_context(device):
        native()
        alone, inside = counted(regions.rows_alone), counted(regions.rows_in_a_context)
        right = np.allclose(D, pp.asnumpy(result))
        own, context, each, *others = timed(
            native,
            lambda: regions.rows_in_a_context(X, D, count),
            lambda: regions.rows_alone(X, D, count),
            *controls.values(),
            budget=8.0,
        )
    row(
        f"{count} rows of listing 4 / on arrays of the device" + ("" if right else " WRONG"),
        f"{context / own:.2f}",
        "<= 1.10",
        context / own <= 1.1,
    )
    for name, seconds in zip(controls, others, strict=True):
        row(name, f"{seconds / own:.2f}", "", None)
    once = inside == 0 or inside == X.nbytes + D.nbytes
    row("  bytes copied by it: X once, and the rows", f"{inside / 1e6:.1f} MB", "X once", once)
    row("  listing 3, without the context: bytes, time / listing 4's", f"{alone / 1e6:.1f} MB, {each / context:.2f}", "", None)


def contexts(device: str) -> None:
    """Entering and leaving a block whose array is present."""
    x = np.zeros(1000)
    context = pp.data(to=(x,), device=device)

    def many() -> None:
        for _ in range(1000):
            with context:
                pass

    with pp.data(to=(x,), device=device):
        (seconds,) = timed(many)
    row("entering and leaving data of one present array", f"{seconds * 1e3:.2f} µs", "<= 2 µs", seconds <= 2e-3)


def calls(regions: ModuleType, device: str, limit: float) -> None:
    """A region with eight memoryviews that are present, and no work."""
    arrays = [np.zeros(10) for _ in range(8)]
    with pp.device_context(device), pp.data(tofrom=arrays, device=device):
        (seconds,) = timed(lambda: regions.eight(*arrays, 1000))
    row("a call of a region with eight memoryviews", f"{seconds * 1e3:.2f} µs", f"<= {limit:g} µs", seconds * 1e3 <= limit)


def beside_openmp(regions: ModuleType, openmp: ModuleType) -> None:
    """Listing 1 on the CPU against Cython with OpenMP."""
    for columns, asked in ((3, 1.5), (128, 1.2)):
        X, D, E = np.random.default_rng(0).random((2000, columns)), np.empty((2000, 2000)), np.empty((2000, 2000))
        with pp.device_context("cpu"):
            mine, theirs = timed_apart(lambda X=X, D=D: regions.distances(X, D), lambda X=X, E=E: openmp.distances(X, E))
        right = "" if np.allclose(D, E) else " WRONG"
        row(
            f"listing 1, 2000 x {columns}: OpenMP / pardo{right}",
            f"{theirs / mine:.2f} ({mine * 1e3:.1f} ms)",
            f">= {asked}",
            theirs / mine >= asked,
        )


def building() -> None:
    """Building listing 1 beyond what Cython and the C compiler take."""
    text = (HERE / "regions.pyx").read_text()
    alone = text[: text.index("def rows_alone")]
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        (folder / "regions.pyx").write_text(alone)
        (folder / "openmp.pyx").write_text(DEVICE.sub("", alone))
        differences = [compiled(folder, "regions") - compiled(folder, "openmp") for _ in range(6)][1:]
    beyond = statistics.median(differences)
    row("building listing 1 beyond Cython and the C compiler", f"{beyond * 1e3:.0f} ms", "<= 300 ms", beyond <= 0.3)


def copies(device: str) -> None:
    """Pageable memory by maps, to a device and back."""
    x = np.ones(2**27)  # 1 GiB
    for name, lists in (("to", {"to": (x,)}), ("from", {"from_": (x,)})):

        def once(lists: dict[str, Any] = lists) -> None:
            with pp.data(**lists, device=device):
                pass

        (seconds,) = timed(once, budget=3.0)
        row(f"1 GiB of pageable memory, mapped {name}", f"{x.nbytes / seconds / 1e9:.1f} GB/s", ">= 35 GB/s", x.nbytes / seconds >= 35e9)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench offload", description="Data contexts and regions of Cython.")
    parser.add_argument("--device", default="cpu", help="a selection string; default: cpu")
    parser.add_argument("--rows", type=int, help="rows of listings 3 and 4; default: 200, on GPUs 4000")
    parser.add_argument("--build", type=Path, help="only build the extensions, in this folder")
    options = parser.parse_args(arguments)
    if options.build is not None:
        build(options.build)
        return 0
    print_machine()
    device = pp.Device(options.device)
    prebuilt = os.environ.get("BENCH_OFFLOAD_EXTENSIONS")
    with tempfile.TemporaryDirectory() as work:
        folder = Path(prebuilt or work)
        if prebuilt is None:
            import Cython

            compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
            print(f"Cython {Cython.__version__}, {compiler}, {FLAGS}")
            build(folder)
        print(f"Python {platform.python_version()}, NumPy {np.__version__}, pardo {pp.__version__}, on {device.id}: {device.name}\n")
        regions = loaded(folder, "regions")
        gpu = device.device_type == "gpu" if hasattr(device, "device_type") else device.backend == "cuda"
        rows(regions, options.device, options.rows or (4000 if gpu else 200))
        contexts(options.device)
        calls(regions, options.device, 3 if device.backend == "cpu" else 8)
        if not device._takes_host_memory and gpu:
            copies(options.device)
        if device.backend == "cpu":
            beside_openmp(regions, loaded(folder, "openmp"))
            if prebuilt is None:
                building()
    return 0


if __name__ == "__main__":
    sys.exit(main())
