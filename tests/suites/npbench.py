# tests/suites/npbench.py: NPBench's Numba programs under pardo's decorators, and CuPy's under its names, compared with its NumPy programs.
"""Takes a checkout of https://github.com/spcl/npbench, of which nothing is kept here:

python tests/suites/npbench.py CHECKOUT [--device opencl:cpu:0] [--variants n,np,npr,cupy] [--only adi,lu] [--size S] [--times]
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import json
import pathlib
import signal
import statistics
import sys
import time
import traceback
import types
import warnings
from typing import Any

import numpy as np
import pardo as pp
from pardo.compat import numba

# Sizes that hang together; of all others a small one is made of NPBench's "S".
SMALL: dict[str, dict[str, Any]] = {
    "azimhist": {"N": 2000, "npt": 40},
    "azimnaiv": {"N": 2000, "npt": 40},
    "coninteg": {"NR": 6, "NM": 9, "slab_per_bc": 2, "num_int_pts": 8},
    "lenet": {"N": 2, "H": 28, "W": 28},
    "mandel1": {"XN": 13, "YN": 15, "maxiter": 20},
    "mandel2": {"XN": 13, "YN": 16, "maxiter": 20},
    "nbody": {"N": 9, "tEnd": 0.3},
    "spmv": {"M": 64, "N": 64, "nnz": 200},
    "sthamfft": {"R": 2, "K": 5},
    "resnet": {"N": 2, "W": 8, "H": 8, "C1": 6, "C2": 4},
    "deriche": {"W": 20, "H": 14},
    "gramschm": {"M": 20, "N": 15},
}


def install(fastmath: bool = True) -> None:
    """Let `import numba` find pardo's names; `fastmath`: whether programs get it that ask for it."""

    def exact(*given: Any, **options: Any) -> Any:
        return numba.jit(*given, **{**options, "fastmath": False})

    names = vars(numba) if fastmath else vars(numba) | {"jit": exact, "njit": exact}
    sys.modules["numba"] = types.SimpleNamespace(**names)  # type: ignore[assignment]
    sys.modules["cupy"] = pp


def file_of(variant: str) -> str:
    """How the file of a variant ends: those of Numba are known by one or two letters."""
    return variant if variant == "cupy" else f"numba_{variant}"


def small(value: Any) -> Any:
    return value if not isinstance(value, int) or value <= 12 else 12 + value % 13


def loaded(path: pathlib.Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Program:
    """One of NPBench's programs: what it is given, and what NumPy makes of that."""

    def __init__(self, info: dict[str, Any], folder: pathlib.Path, size: str) -> None:
        self.info, self.name = info, info["short_name"]
        self.folder = folder / "npbench" / "benchmarks" / info["relative_path"]
        parameters = dict(info["parameters"][size or "S"])
        if not size:
            parameters = {k: small(v) for k, v in parameters.items()} | SMALL.get(self.name, {})
        self.data: dict[str, Any] = parameters
        np.random.seed(1)
        if init := info.get("init"):
            made = getattr(loaded(self.folder / f"{info['module_name']}.py"), init["func_name"])(
                *(parameters[a] for a in init["input_args"])
            )
            self.data |= dict(zip(init["output_args"], made if len(init["output_args"]) > 1 else [made], strict=True))
        self.tolerance = info.get("norm_error") or 1e-5
        self.expected: list[Any] = []

    def run(self, variant: str, device: str = "") -> tuple[list[list[Any]], Any, list[Any]]:
        """The arrays after a variant has run, and what it gives; the function, and arguments for it."""
        path = self.folder / f"{self.info['module_name']}_{variant}.py"
        module = loaded(path)
        own = [v for v in vars(module).values() if getattr(v, "__module__", "") == module.__name__]
        function = getattr(module, self.info["func_name"], own[-1])  # one file of NPBench's calls it `nopython_mode`
        arguments = copy.deepcopy([self.data[a] for a in self.info["input_args"]])
        if device:
            arguments = [pp.asarray(a, device=device) if isinstance(a, np.ndarray) else a for a in arguments]
        given = [a.copy() if isinstance(a, (np.ndarray, pp.Array)) else a for a in arguments]
        results = function(*arguments)
        returned = [] if results is None else list(results) if isinstance(results, tuple) else [results]
        arrays = [a for a in arguments if isinstance(a, (np.ndarray, pp.Array))]
        return [[on_host(x) for x in arrays], [on_host(x) for x in returned]], function, given

    def check(self, got: list[list[Any]]) -> str:
        """What differs from NumPy's; nothing if nothing does. Some programs return an argument in one variant and nothing in another."""
        if not self.expected:
            self.expected = self.run("numpy")[0]
        returned = list(zip(got[1], self.expected[1], strict=bool(got[1] and self.expected[1])))
        for k, (x, wanted) in enumerate([*zip(got[0], self.expected[0], strict=True), *returned]):
            if np.shape(x) != np.shape(wanted):
                return f"result {k} has the shape {np.shape(x)}, NumPy's {np.shape(wanted)}"
            if not np.array_equal(np.isnan(x), np.isnan(wanted)):
                return f"result {k}: other elements are NaN"
            difference = np.linalg.norm(np.nan_to_num(np.subtract(x, wanted, dtype=complex)).ravel())
            scale = np.linalg.norm(np.nan_to_num(np.asarray(wanted, complex)).ravel())
            if difference > self.tolerance * max(scale, 1e-30):
                return f"result {k} differs by {difference / max(scale, 1e-30):.2e}"
        return ""


def on_host(x: Any) -> Any:
    return pp.asnumpy(x) if isinstance(x, pp.Array) else x


def programs(folder: pathlib.Path, only: str, size: str) -> list[Program]:
    infos = [json.loads(path.read_text())["benchmark"] for path in sorted((folder / "bench_info").glob("*.json"))]
    wanted = only.split(",") if only else []
    return [Program(i, folder, size) for i in infos if not wanted or i["short_name"] in wanted or i["module_name"] in wanted]


def stopped(*_: Any) -> None:
    raise TimeoutError("it took too long")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--device", default="", help="where arrays are put; NumPy's are used where they are without it")
    parser.add_argument("--variants", default="n,np,npr")
    parser.add_argument("--only", default="")
    parser.add_argument("--size", default="", help="S, M, L or paper; small ones without it")
    parser.add_argument("--times", action="store_true", help="the processor's time of the first call beyond the second's: compiling")
    parser.add_argument("--seconds", type=int, default=300, help="for one variant")
    parser.add_argument("--traceback", action="store_true")
    parser.add_argument("--fastmath", action="store_true", help="as the programs ask: then an element at a bound may count to either side")
    asked = parser.parse_args()
    install(asked.fastmath)
    signal.signal(signal.SIGALRM, stopped)
    failed = 0
    compiling: list[float] = []
    every = programs(asked.checkout, asked.only, asked.size)
    for variant in asked.variants.split(","):
        right = tried = slow = 0
        for program in every:
            if not (program.folder / f"{program.info['module_name']}_{file_of(variant)}.py").exists():
                continue
            tried += 1
            signal.alarm(asked.seconds)
            before = pp.counters()["fallbacks"]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    begun = time.process_time()
                    got, function, arguments = program.run(
                        file_of(variant), asked.device or (str(pp.zeros(0).device) if variant == "cupy" else "")
                    )
                    first = time.process_time() - begun
                    wrong = program.check(got)
                    if asked.times and not wrong:
                        begun = time.process_time()
                        function(*arguments)
                        for a in arguments:
                            if isinstance(a, pp.Array):
                                a.wait()
                        compiling.append(1e3 * (first - (time.process_time() - begun)))
                except Exception as e:
                    if asked.traceback:
                        traceback.print_exc()
                    lines = str(e).strip().splitlines() or [""]
                    wrong = f"{type(e).__name__}: {lines[0]}"
                finally:
                    signal.alarm(0)
            python = sorted({str(w.message) for w in caught if "runs as Python" in str(w.message)})
            slow += bool(python) and not wrong
            right += not wrong
            took = f" {compiling[-1]:8.1f} ms" if asked.times and not wrong else ""
            print(f"{variant:4}{program.name:10}{'right' if not wrong else 'WRONG ' + wrong}{took}", flush=True)
            for text in python:
                print(f"      {text}")
            if more := pp.counters()["fallbacks"] - before - len(python):
                print(f"      {more} more fallbacks")
        failed += tried - right
        print(f"{variant}: {right} of {tried} right, {slow} of them with loops that Python runs")
    if compiling:
        print(f"compiling: median {statistics.median(compiling):.1f} ms, most {max(compiling):.1f} ms")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
