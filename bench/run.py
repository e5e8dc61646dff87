# bench/run.py: all workloads for pardo and its peers in one run, a process each; prints tables with ratios, writes JSON.
import argparse
import contextlib
import datetime
import glob
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from harness import describe_machine, ratio, summary
from workloads import arrays, host

HERE = Path(__file__).resolve().parent
PEERS = ["numpy", "pardo", "numba", "numexpr", "jax", "drjit"]
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
    """A process that runs one library."""

    def __init__(self, peer: str) -> None:
        command = [sys.executable, str(HERE / "worker.py"), peer]
        self.process = subprocess.Popen(
            command, cwd=HERE, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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


def run_workload(workers: dict[str, Worker], name: str, budget: float) -> dict[str, dict | None]:
    """Every library's figures for one workload. They take turns, since what a shared machine gives changes with the minute."""
    results: dict[str, dict | None] = {}
    rounds: dict[str, list[dict]] = {}
    for peer, worker in workers.items():
        try:
            results[peer] = worker.ask("prepare", name)
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


def array_table(reports: dict[str, dict], names: list[str]) -> str:
    peers = list(reports)
    rows = []
    for name in names:
        workload = arrays.WORKLOADS[name]
        results = {peer: reports[peer]["results"].get(name) or {} for peer in peers}
        cells = []
        for peer in peers:
            median = results[peer].get("median")
            wrong = "" if results[peer].get("right", True) else " wrong"
            cells.append(scaled(median, workload.unit) + wrong if median else ("failed" if "error" in results[peer] else "-"))
        mine = results.get("pardo") or {}
        others = {p: r["median"] for p, r in results.items() if p not in ("pardo", "numpy") and r.get("median") and r.get("right")}
        numpy = results.get("numpy") or {}
        gain = ratio(numpy, mine) if "rounds" in numpy and "rounds" in mine else None
        verdict = "-" if gain is None else f"{gain:.2f}"
        bar = (
            "-" if workload.bar is None else f"{workload.bar:g}" + ("" if gain is None else " met" if gain >= workload.bar else " NOT MET")
        )
        fastest = min(others, key=others.get) if others else ""
        against = f"{ratio(results[fastest], mine):.2f} ({fastest})" if fastest and "rounds" in mine else "-"
        rows.append([f"{workload.title} [{workload.unit}]", *cells, verdict, bar, against])
    return table(["workload", *peers, "NumPy / pardo", "asked", "fastest peer / pardo"], rows)


def host_table(report: dict, reports: dict[str, dict]) -> str:
    peers = list(reports)
    for name in ("small_add", "small_chain"):  # measured among the arrays
        for peer in peers:
            if median := (reports[peer]["results"].get(name) or {}).get("median"):
                report[name][peer] = median
    rows = []
    for name, (limit, unit) in host.LIMITS.items():
        cells = [report[name].get(peer) for peer in peers]
        shown = ["-" if cell is None else "failed" if isinstance(cell, str) else scaled(cell, unit) for cell in cells]
        mine = report[name].get("pardo")
        verdict = "" if not isinstance(mine, int | float) else " met" if mine <= limit else " NOT MET"
        rows.append([f"{host.TITLES[name]}" + (f" [{unit}]" if unit else ""), *shown, scaled(limit, unit) + verdict])
    return table(["host cost", *peers, "at most"], rows)


def installed(peer: str) -> bool:
    return importlib.util.find_spec(peer) is not None


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--peers", default=",".join(PEERS), help="comma-separated; default: all that are installed")
    parser.add_argument("--workloads", default=",".join(arrays.WORKLOADS), help="comma-separated names of array workloads")
    parser.add_argument("--budget", type=float, default=0.8, help="seconds of samples for each workload and library")
    parser.add_argument("--no-host", action="store_true", help="leave the host costs out")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"), help="where all numbers are written")
    options = parser.parse_args()
    names = options.workloads.split(",")
    if unknown := set(names) - set(arrays.WORKLOADS):
        parser.error(f"unknown workloads {sorted(unknown)}; there are {list(arrays.WORKLOADS)}")
    peers = [peer for peer in options.peers.split(",") if installed(peer)]

    with contextlib.suppress(OSError):  # children inherit it: libraries that count cores see two
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    os.environ.update(environment())
    machine = describe_machine()
    print(
        f"{machine['cpu']}, {machine['cores_used']} of {machine['cores']} cores, {machine['vector']}, {machine['memory_gib']} GiB, "
        f"Linux {machine['kernel']}, Python {machine['python']}",
        flush=True,
    )

    workers, reports = {}, {}
    for peer in peers:
        reports[peer] = {"versions": {}, "results": {}}
        worker = Worker(peer)
        try:
            reports[peer]["versions"] = worker.ask("versions")
            workers[peer] = worker
            print(", ".join(f"{name} {version}" for name, version in reports[peer]["versions"].items()), flush=True)
        except RuntimeError as error:
            print(f"{peer}: failed: {error}", flush=True)
    for name in names:
        for peer, result in run_workload(workers, name, options.budget).items():
            reports[peer]["results"][name] = result
    for worker in workers.values():
        worker.close()
    print("\n" + array_table(reports, names))
    costs = {}
    if not options.no_host:
        costs = host.probe_all(peers)
        print("\n" + host_table(costs, reports))

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
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(
        json.dumps(
            {
                "date": datetime.datetime.now(datetime.UTC).isoformat(),
                "machine": machine,
                "arrays": reports,
                "host": costs,
            },
            indent=1,
        )
    )
    print(f"\nall numbers: {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
