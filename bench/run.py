# bench/run.py: all workloads for pardo and its peers in one run, a process each; prints tables with ratios, writes JSON.
import argparse
import contextlib
import datetime
import json
import os
import sys
from pathlib import Path

import on_device
from harness import describe_machine, ratio
from session import THREADS, environment, installed, print_remarks, run_workload, scaled, start, table
from workloads import arrays, devices, host

PEERS = ["numpy", "pardo", "numba", "numexpr", "jax", "drjit"]


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


def compare_on_cpu(options, peers: list[str], names: list[str]) -> dict:
    """The tables with NumPy's ratios: two threads for everybody, float64."""
    with contextlib.suppress(OSError):  # children inherit it: libraries that count cores see two
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    os.environ.update(environment())
    machine = print_machine()
    workers, reports = start(peers, "arrays", environment())
    for name in names:
        for peer, result in run_workload(workers, options.budget, "prepare", name).items():
            reports[peer]["results"][name] = result
    for worker in workers.values():
        worker.close()
    print("\n" + array_table(reports, names))
    costs = {}
    if not options.no_host:
        costs = host.probe_all(peers)
        print("\n" + host_table(costs, reports))
    print_remarks(reports)
    return {"machine": machine, "arrays": reports, "host": costs}


def print_machine() -> dict:
    machine = describe_machine()
    print(
        f"{machine['cpu']}, {machine['cores_used']} of {machine['cores']} cores, {machine['vector']}, {machine['memory_gib']} GiB, "
        f"Linux {machine['kernel']}, Python {machine['python']}",
        flush=True,
    )
    return machine


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument(
        "--device", help="a pardo device, as 'opencl:cpu:0' or 'cuda': the workloads for devices, beside the libraries that use such a one"
    )
    parser.add_argument("--peers", help="comma-separated; default: all that are installed")
    parser.add_argument("--workloads", help="comma-separated names of array workloads; default: all")
    parser.add_argument("--budget", type=float, default=0.8, help="seconds of samples for each workload and library")
    parser.add_argument("--no-host", action="store_true", help="leave the host costs out")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"), help="where all numbers are written")
    options = parser.parse_args()
    known = devices.WORKLOADS if options.device else arrays.WORKLOADS
    names = options.workloads.split(",") if options.workloads else list(known)
    if unknown := set(names) - set(known):
        parser.error(f"unknown workloads {sorted(unknown)}; there are {list(known)}")
    if options.device:
        print_machine()
        report = on_device.run(options, names)
        if report is None:
            return 1
    else:
        peers = options.peers.split(",") if options.peers else PEERS
        if missing := [peer for peer in peers if not installed(peer)]:
            print(f"not installed: {', '.join(missing)}")
        report = compare_on_cpu(options, [peer for peer in peers if installed(peer)], names)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"date": datetime.datetime.now(datetime.UTC).isoformat(), **report}, indent=1))
    print(f"\nall numbers: {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
