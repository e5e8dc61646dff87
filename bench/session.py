# bench/session.py: libraries in processes of their own that take turns, and what their figures are printed with.
import contextlib
import functools
import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness import describe_machine, summary

HERE = Path(__file__).resolve().parent
THREADS = 2
PACKAGE = {"pyopencl_array": "pyopencl", "python": "numpy"}  # what a library needs, where that is not its name
LEAST_WIDTHS = {"asked": 15, "asked, beside whom": 34, "at most": 15, "fastest peer / pardo": 22}  # of a table's columns
TITLES = {"pyopencl": "pyopencl kernel", "pyopencl_array": "pyopencl.array", "numba_cuda": "numba.cuda", "numba_dpex": "numba-dpex"}


@dataclass
class Plan:
    """How long to measure, how often to change turns, and when to begin nothing new."""

    budget: float  # seconds of samples for each function
    rounds: int = 6
    pause: float = 0.2  # seconds before each: pools of threads spin for a while after their last work
    together: bool = False  # libraries prepare at the same time; their first calls disturb each other then
    end: float | None = None  # of time.monotonic()
    left_out: list[str] = field(default_factory=list)

    def begins(self, name: str) -> bool:
        """Whether there is time for one thing more; if not, it is noted."""
        if self.end is not None and time.monotonic() >= self.end:
            self.left_out.append(name)
            return False
        return True


def library(peer: str) -> str:
    """A peer is a library, or a library at a place: "pyopencl@pocl"."""
    return peer.partition("@")[0]


def title(peer: str) -> str:
    name, _, place = peer.partition("@")
    return f"{name} {place}" if place else TITLES.get(name, name)


def environment() -> dict[str, str]:
    """Two threads for everybody, and the matrix kernels that OpenBLAS itself chooses for the processor."""
    names = ["OMP", "OPENBLAS", "MKL", "NUMBA", "PARDO"]
    fixed = {f"{name}_NUM_THREADS": str(THREADS) for name in names}
    fixed["NUMEXPR_MAX_THREADS"] = str(THREADS)
    if "DRJIT_LIBLLVM_PATH" not in os.environ and (found := sorted(glob.glob("/usr/lib/*/libLLVM-19.so*"))):
        fixed["DRJIT_LIBLLVM_PATH"] = found[0]
    kept = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    return {**kept, **fixed}


def interpreter(peer: str) -> str:
    """The Python that a library is run with: BENCH_<PEER>_PYTHON, or this one."""
    return os.environ.get(f"BENCH_{library(peer).upper()}_PYTHON") or sys.executable


def variables_for(peer: str, variables: dict[str, str]) -> dict[str, str]:
    """dpnp and numba-dpex find no device as installed: their loader is told of Intel's runtime beside them, and of no other."""
    folder = Path(interpreter(peer)).parent.parent / "lib"
    if peer not in ("dpnp", "numba_dpex") or not (folder / "libintelocl.so").exists():
        return variables
    return {
        **variables,
        "OCL_ICD_FILENAMES": str(folder / "libintelocl.so"),
        "OCL_ICD_VENDORS": f"{HERE / 'peers'}/",  # a folder without .icd files
        "LD_LIBRARY_PATH": f"{folder}:{variables.get('LD_LIBRARY_PATH', '')}",
    }


@functools.cache
def installed(peer: str) -> bool:
    name, python = library(peer), interpreter(peer)
    package = PACKAGE.get(name, name)
    if python == sys.executable:
        return importlib.util.find_spec(package) is not None
    program = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    with contextlib.suppress(OSError):
        return subprocess.run([python, "-c", program], check=False).returncode == 0
    return False


class Worker:
    """A process that runs one library on one set of workloads: "arrays", "devices" or "kernels"."""

    def __init__(self, peer: str, workloads: str, variables: dict[str, str]) -> None:
        command = [interpreter(peer), str(HERE / "worker.py"), library(peer), workloads]
        # No pipe: nobody reads it meanwhile, so that it would fill up and then stop the process.
        self.messages = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            command,
            cwd=HERE,
            env=variables_for(peer, variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.messages,
            text=True,
        )

    def send(self, method: str, *arguments) -> None:
        """Asks for a method of worker.Worker; the answer is fetched by `receive`."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps([method, *arguments]) + "\n")
            self.process.stdin.flush()

    def receive(self):
        """The answer; raises RuntimeError when the method failed or the process is gone."""
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.messages.seek(0)
            raise RuntimeError(self.messages.read().strip()[-500:] or f"the process ended with {code}")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["value"]

    def ask(self, method: str, *arguments):
        self.send(method, *arguments)
        return self.receive()

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.messages.close()


def answers(workers: dict[str, Worker], together: bool, *request) -> dict[str, dict | None]:
    """Every library's answer to one request, {"error": ...} where there is none."""
    results: dict[str, dict | None] = {}
    if together:
        for worker in workers.values():
            worker.send(*request)
    for peer, worker in workers.items():
        try:
            results[peer] = worker.receive() if together else worker.ask(*request)
        except RuntimeError as error:
            results[peer] = {"error": str(error)}
    return results


def run_workload(workers: dict[str, Worker], plan: Plan, *prepare) -> dict[str, dict | None]:
    """Every library's figures for one workload, which `prepare` asks for.

    They take turns, since what a shared machine gives changes with the minute.
    """
    results = answers(workers, plan.together, *prepare)
    rounds: dict[str, list[dict]] = {peer: [] for peer, result in results.items() if result and "error" not in result}
    for _ in range(plan.rounds):
        for peer in list(rounds):
            time.sleep(plan.pause)
            try:
                rounds[peer].append(workers[peer].ask("sample", plan.budget / plan.rounds))
            except RuntimeError as error:
                results[peer] = {"error": str(error)}
                del rounds[peer]
    for peer, each in rounds.items():
        results[peer].update(summary(each))
    answers(workers, True, "drop")
    return results


def scaled(seconds: float, unit: str) -> str:
    value = seconds * {"ms": 1e3, "µs": 1e6, "MB": 1e-6, "": 1}[unit]
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


class Table:
    """A table that grows on the screen: each row is seen as soon as it is known."""

    def __init__(self, header: list[str], titles: list[str]) -> None:
        """`titles`: those of all rows that may come."""
        self.header: list[str] | None = header
        self.widths = [max(map(len, [header[0], *titles])), *(max(len(cell), LEAST_WIDTHS.get(cell, 10)) for cell in header[1:])]

    def add(self, row: list[str]) -> None:
        if self.header:
            print()
            self._print(self.header)
            print("|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(self.widths)) + "|")
            self.header = None
        self._print(row)

    def _print(self, row: list[str]) -> None:
        cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, self.widths, strict=True))]
        print("| " + " | ".join(cells) + " |", flush=True)


def start(
    peers: list[str], workloads: str, variables: dict[str, str], own: dict[str, dict[str, str]] | None = None
) -> tuple[dict[str, Worker], dict[str, dict]]:
    """A worker for each library that starts, all at once, and an empty report for each of all. `own`: variables of single ones."""
    workers = {peer: Worker(peer, workloads, {**variables, **(own or {}).get(peer, {})}) for peer in peers}
    reports = {}
    for peer, found in answers(workers, True, "versions").items():
        failure = found.pop("error", None)
        reports[peer] = {"versions": found, "results": {}}
        if failure:
            workers.pop(peer).close()
        told = f"failed: {failure}" if failure else ", ".join(f"{name} {version}" for name, version in found.items() if version)
        print(f"{title(peer)}: {told}", flush=True)
    return workers, reports


def print_machine() -> dict:
    machine = describe_machine()
    print(
        f"{machine['cpu']}, {machine['cores_used']} of {machine['cores']} cores, {machine['vector']}, {machine['memory_gib']} GiB, "
        f"Linux {machine['kernel']}, Python {machine['python']}",
        flush=True,
    )
    return machine


def print_remarks(reports: dict[str, dict], plan: Plan) -> None:
    """What was disturbed, what failed, and what there was no time for."""
    shares = {
        f"{name} of {peer}": r["others_cpu"]
        for peer, report in reports.items()
        for name, r in report["results"].items()
        if r and "median" in r
    }
    disturbed = {name: share for name, share in shares.items() if share > 0.05}
    if disturbed:
        worst = max(disturbed, key=disturbed.get)
        few = f": {', '.join(disturbed)}" if len(disturbed) <= 8 else ""
        print(
            f"\nDisturbed: other processes used more than 5 % of the machine during {len(disturbed)} of {len(shares)} measurements, "
            f"at most {100 * disturbed[worst]:.0f} % ({worst}){few}"
        )
    for peer, report in reports.items():
        for name, result in report["results"].items():
            if result and "error" in result:
                print(f"{peer}, {name}: {result['error']}")
    if plan.left_out:
        print(f"Left out, because the time of --seconds was over: {', '.join(plan.left_out)}")
