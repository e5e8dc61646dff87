# bench/session.py: libraries in processes of their own that take turns, and what their figures are printed with.
import contextlib
import glob
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from harness import summary

HERE = Path(__file__).resolve().parent
THREADS = 2
ROUNDS = 6
PAUSE = 0.2  # seconds: pools of threads spin for a while after their last work


def environment() -> dict[str, str]:
    """Two threads for everybody, and the matrix kernels that OpenBLAS itself chooses for the processor."""
    names = ["OMP", "OPENBLAS", "MKL", "NUMBA", "PARDO"]
    fixed = {f"{name}_NUM_THREADS": str(THREADS) for name in names}
    fixed["NUMEXPR_MAX_THREADS"] = str(THREADS)
    if "DRJIT_LIBLLVM_PATH" not in os.environ and (found := sorted(glob.glob("/usr/lib/*/libLLVM-19.so*"))):
        fixed["DRJIT_LIBLLVM_PATH"] = found[0]
    kept = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    return {**kept, **fixed}


class Worker:
    """A process that runs one library on one set of workloads: "arrays" or "devices"."""

    def __init__(self, peer: str, workloads: str, variables: dict[str, str]) -> None:
        command = [sys.executable, str(HERE / "worker.py"), peer, workloads]
        self.process = subprocess.Popen(
            command, cwd=HERE, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ask(self, method: str, *arguments):
        """Calls a method of worker.Worker; raises RuntimeError when it fails or the process is gone."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps([method, *arguments]) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read().strip()[-500:] or f"the process ended with {self.process.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["value"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def run_workload(workers: dict[str, Worker], budget: float, *prepare) -> dict[str, dict | None]:
    """Every library's figures for one workload, which `prepare` asks for.

    They take turns, since what a shared machine gives changes with the minute.
    """
    results: dict[str, dict | None] = {}
    rounds: dict[str, list[dict]] = {}
    for peer, worker in workers.items():
        try:
            results[peer] = worker.ask(*prepare)
            if results[peer]:
                rounds[peer] = []
        except RuntimeError as error:
            results[peer] = {"error": str(error)}
    for _ in range(ROUNDS):
        for peer in rounds:
            time.sleep(PAUSE)
            rounds[peer].append(workers[peer].ask("sample", budget / ROUNDS))
    for peer, worker in workers.items():
        if peer in rounds:
            results[peer].update(summary(rounds[peer]))
        with contextlib.suppress(RuntimeError):
            worker.ask("drop")
    return results


def scaled(seconds: float, unit: str) -> str:
    value = seconds * {"ms": 1e3, "µs": 1e6, "MB": 1e-6, "": 1}[unit]
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def table(header: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))) + " |"
        for row in [header, *rows]
    ]
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def installed(peer: str) -> bool:
    return importlib.util.find_spec(peer) is not None


def start(peers: list[str], workloads: str, variables: dict[str, str]) -> tuple[dict[str, Worker], dict[str, dict]]:
    """A worker for each library that starts, and an empty report for each of all."""
    workers, reports = {}, {}
    for peer in peers:
        reports[peer] = {"versions": {}, "results": {}}
        worker = Worker(peer, workloads, variables)
        try:
            reports[peer]["versions"] = worker.ask("versions")
            workers[peer] = worker
            print(", ".join(f"{name} {version}" for name, version in reports[peer]["versions"].items() if version), flush=True)
        except RuntimeError as error:
            print(f"{peer}: failed: {error}", flush=True)
    return workers, reports


def print_remarks(reports: dict[str, dict]) -> None:
    """What was disturbed, and what failed."""
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
