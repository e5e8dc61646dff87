# bench/npbench.py: NPBench's programs as Numba's users wrote them, compiled by Numba and by pardo; or as CuPy's, on a GPU by both.
"""Takes a checkout of https://github.com/spcl/npbench: python bench/npbench.py CHECKOUT [--size M] [--threads 2] [--jobs 1] [--only adi,lu]
[--peer numba]. With --peer cupy the programs of CuPy's users run on arrays of the GPU, by CuPy and by pardo on PARDO_DEVICE (cuda).

Each program has up to three variants (n: serial, np: parallel array expressions, npr: prange). Each runs in a process of its own,
on as many processors as it has threads; the table has the fastest variant of each library. Results are compared by tests/suites/npbench.py.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import copy
import importlib
import json
import math
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "suites"))
VARIANTS = ["n", "np", "npr"]
VARIABLES = ["NUMBA_NUM_THREADS", "PARDO_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"]


class OnDevice:
    """How arrays of the host come to a device, and how its work is waited for."""

    def __init__(self, library: str, variant: str) -> None:
        self.asarray, self.wait = (lambda a: a), (lambda arrays: None)
        if variant == "cupy" and library == "cupy":
            import cupy

            self.asarray, self.wait = cupy.asarray, lambda arrays: cupy.cuda.Device().synchronize()
        elif library == "pardo":
            import pardo as pp

            if variant == "cupy":
                self.asarray = pp.asarray
            self.wait = lambda arrays: [a.wait() for a in arrays if isinstance(a, pp.Array)]


def measure(program: Any, library: str, variant: str, seconds: float) -> dict[str, Any]:
    """The first call, and the median of later ones, in milliseconds."""
    import numpy as np

    place = OnDevice(library, variant)

    def call() -> float:
        arguments = copy.deepcopy([program.data[a] for a in program.info["input_args"]])
        arguments = [place.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
        place.wait(arguments)
        begun = time.perf_counter()
        results = function(*arguments)
        place.wait([*arguments, *(results if isinstance(results, tuple) else [results])])
        return 1e3 * (time.perf_counter() - begun)

    from npbench import file_of, loaded

    np.seterr(all="ignore")
    function = getattr(loaded(program.folder / f"{program.info['module_name']}_{file_of(variant)}.py"), program.info["func_name"])
    first, begun = call(), time.monotonic()
    times: list[float] = []
    while len(times) < 3 or (len(times) < 200 and time.monotonic() - begun < seconds):
        times.append(call())
    return {"first": first, "median": statistics.median(times)}


def child(asked: argparse.Namespace) -> None:
    """One variant of one program by one library."""
    import npbench

    if asked.library == "pardo":
        npbench.install()
    (program,) = npbench.programs(asked.checkout, asked.only, asked.size)
    print(json.dumps(measure(program, asked.library, asked.variants, asked.seconds)))


def run(asked: argparse.Namespace, name: str, library: str, variant: str, cpus: list[int]) -> dict[str, Any]:
    command = [
        sys.executable, __file__, str(asked.checkout), "--library", library, "--variants", variant, "--only", name, "--size", asked.size,
        "--seconds", str(asked.seconds),
    ]  # fmt: skip
    environment = os.environ | dict.fromkeys(VARIABLES, str(asked.threads))
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=asked.limit, check=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"more than {asked.limit} s"}
    except subprocess.CalledProcessError as e:
        return {"error": (e.stderr.strip().splitlines() or ["?"])[-1]}
    return dict(json.loads(ended.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--peer", default="numba", choices=["numba", "cupy"])
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--only", default="")
    parser.add_argument("--size", default="M", help="S, M, L or paper")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time, each on processors of its own")
    parser.add_argument("--seconds", type=float, default=1.0, help="for later calls of a variant")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a variant")
    parser.add_argument("--library", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.library:
        child(asked)
        return
    if asked.peer == "cupy":
        asked.variants = "cupy"
    infos = [json.loads(path.read_text())["benchmark"] for path in sorted((asked.checkout / "bench_info").glob("*.json"))]
    wanted = asked.only.split(",") if asked.only else [info["short_name"] for info in infos]
    free: queue.Queue[list[int]] = queue.Queue()
    all_cpus = sorted(os.sched_getaffinity(0))
    for job in range(asked.jobs):
        free.put(all_cpus[job * asked.threads : (job + 1) * asked.threads])

    def program(info: dict[str, Any]) -> tuple[str, dict[tuple[str, str], dict[str, Any]]]:
        folder = asked.checkout / "npbench" / "benchmarks" / info["relative_path"]
        cpus = free.get()
        found = {
            (library, variant): run(asked, info["short_name"], library, variant, cpus)
            for variant in asked.variants.split(",")
            if (folder / f"{info['module_name']}_{file_of(variant)}.py").exists()
            for library in (asked.peer, "pardo")
        }
        free.put(cpus)
        return info["short_name"], found

    import pardo as pp
    from npbench import file_of

    device = pp.Device("cpu" if asked.peer == "numba" else None)
    machine = f"{device.name}; {asked.peer} {importlib.import_module(asked.peer).__version__}, pardo {pp.__version__}"
    print(f"NPBench, size {asked.size}, {asked.threads} threads; {machine}")
    print(f"{'ms':10}{asked.peer:>16}{'pardo':>16}  ratio   first calls")
    ratios = {}
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for name, found in pool.map(program, [info for info in infos if info["short_name"] in wanted]):
            best = {}
            for library in (asked.peer, "pardo"):
                timed = [(r["median"], r["first"], v) for (owner, v), r in found.items() if owner == library and "median" in r]
                best[library] = min(timed, default=(math.nan, math.nan, "-"))
            ratios[name] = best[asked.peer][0] / best["pardo"][0]
            columns = "".join(f"{best[x][0]:11.3f} {best[x][2]:>4}" for x in best)
            print(f"{name:10}{columns}  {ratios[name]:5.2f}   {best[asked.peer][1]:8.0f} {best['pardo'][1]:8.0f}")
            for (library, variant), r in found.items():
                if "error" in r:
                    print(f"          {library} {variant}: {r['error'][:150]}")
            sys.stdout.flush()
    known = [r for r in ratios.values() if not math.isnan(r)]
    print(f"{len(known)} programs: geometric mean {statistics.geometric_mean(known):.2f}, worst {min(known):.2f}")


if __name__ == "__main__":
    main()
