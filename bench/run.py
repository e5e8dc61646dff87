# bench/run.py: all workloads for pardo and its peers in one run, a process each; prints tables with ratios, writes JSON.
import argparse
import contextlib
import datetime
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chart
import checks
import library
import offload
import on_device
import routines
import run_kernels
from harness import ratio
from session import THREADS, Plan, Table, environment, installed, print_machine, print_remarks, run_workload, scaled, start
from workloads import arrays, devices, host, kernels

PEERS = ["numpy", "pardo", "numba", "numexpr", "jax", "drjit"]


def array_row(name: str, row: dict[str, dict | None], peers: list[str]) -> list[str]:
    workload = arrays.WORKLOADS[name]
    results = {peer: row.get(peer) or {} for peer in peers}
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
    bar = "-" if workload.bar is None else f"{workload.bar:g}" + ("" if gain is None else " met" if gain >= workload.bar else " NOT MET")
    fastest = min(others, key=others.get) if others else ""
    against = f"{ratio(results[fastest], mine):.2f} ({fastest})" if fastest and "rounds" in mine else "-"
    return [row_title(name), *cells, verdict, bar, against]


def row_title(name: str) -> str:
    return f"{arrays.WORKLOADS[name].title} [{arrays.WORKLOADS[name].unit}]"


def print_host_table(report: dict, reports: dict[str, dict]) -> None:
    peers = list(reports)
    for name in ("small_add", "small_chain"):  # measured among the arrays
        for peer in peers:
            if median := (reports[peer]["results"].get(name) or {}).get("median"):
                report[name][peer] = median
    titles = {name: host.TITLES[name] + (f" [{unit}]" if unit else "") for name, (_, unit) in host.LIMITS.items()}
    table = Table(["host cost", *peers, "at most"], list(titles.values()))
    for name, (limit, unit) in host.LIMITS.items():
        cells = [report[name].get(peer) for peer in peers]
        shown = ["-" if cell is None else "failed" if isinstance(cell, str) else scaled(cell, unit) for cell in cells]
        mine = report[name].get("pardo")
        verdict = "" if not isinstance(mine, int | float) else " met" if mine <= limit else " NOT MET"
        table.add([titles[name], *shown, scaled(limit, unit) + verdict])


def compare_on_cpu(options, peers: list[str], names: list[str], save: Callable[[dict], None]) -> None:
    """The tables with NumPy's ratios: two threads for everybody, float64."""
    with contextlib.suppress(OSError):  # children inherit it: libraries that count cores see two
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    os.environ.update(environment())
    machine = print_machine()
    workers, reports = start(peers, "arrays", environment())
    plan, report = Plan(options.budget or 0.8, end=options.end), {"machine": machine, "arrays": reports, "host": {}}
    if names:
        table = Table(["workload", *reports, "NumPy / pardo", "asked", "fastest peer / pardo"], [row_title(name) for name in names])
    for name in filter(plan.begins, names):
        row = run_workload(workers, plan, "prepare", name)
        for peer, result in row.items():
            reports[peer]["results"][name] = result
        table.add(array_row(name, row, list(reports)))
        save(report)
    for worker in workers.values():
        worker.close()
    if not options.no_host and plan.begins("host costs"):
        report["host"] = host.probe_all(peers)
        print_host_table(report["host"], reports)
        save(report)
    print_remarks(reports, plan)


def parse() -> tuple[argparse.Namespace, list[str]]:
    """The options, and the names of the workloads that they mean."""
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    sets = ["arrays", "kernels"]
    parser.add_argument("what", nargs="?", choices=sets, default="arrays", help="NumPy-style programs, or kernels of the user")
    parser.add_argument(
        "--device",
        action="append",
        help="a pardo device, as 'opencl:cpu:0' or 'cuda': the workloads for devices, beside the libraries that use such a one; "
        "for kernels: pardo has a column for each --device",
    )
    parser.add_argument("--peers", help="comma-separated; default: all that are installed")
    parser.add_argument("--workloads", help="comma-separated names of workloads, or 'none'; default: all")
    parser.add_argument("--budget", type=float, help="seconds of samples for each workload and library; default: 0.8, on GPUs 0.3")
    parser.add_argument("--seconds", type=float, help="begin nothing new when so many seconds are over, and name what was left out")
    parser.add_argument(
        "--host", help=f"with --device: comma-separated rows of host costs; default: all of {', '.join(on_device.HOST_ROWS)}"
    )
    parser.add_argument("--no-host", action="store_true", help="leave the host costs out; of kernels: the time of compiling")
    parser.add_argument("--json", type=Path, help="where all numbers are written; default: build/bench.json, build/bench-kernels.json")
    parser.add_argument(
        "--chart", type=Path, help="of array programs on the CPU: an SVG file, which shows how many times as fast as NumPy each is"
    )
    options = parser.parse_args()
    if options.chart and (options.what == "kernels" or options.device):
        parser.error("--chart shows the array programs beside NumPy: without kernels and --device")
    options.json = options.json or Path("build/bench.json" if options.what == "arrays" else "build/bench-kernels.json")
    options.end = None if options.seconds is None else time.monotonic() + options.seconds
    if options.what == "kernels":
        known = {**kernels.CPU, **kernels.GPU}
    else:
        known = devices.WORKLOADS if options.device else arrays.WORKLOADS
        if options.device and len(options.device) > 1:
            parser.error("one --device, but for kernels")
        options.device = options.device[0] if options.device else None
    names = [] if options.workloads == "none" else options.workloads.split(",") if options.workloads else list(known)
    if unknown := set(names) - set(known):
        parser.error(f"unknown workloads {sorted(unknown)}; there are {list(known)}")
    if options.host and (unknown := set(options.host.split(",")) - set(on_device.HOST_ROWS)):
        parser.error(f"unknown rows {sorted(unknown)}; there are {on_device.HOST_ROWS}")
    return options, names


def main() -> int:
    if sys.argv[1:2] == ["checks"]:
        return checks.main(sys.argv[2:])
    if sys.argv[1:2] == ["library"]:
        return library.main(sys.argv[2:])
    if sys.argv[1:2] == ["offload"]:
        return offload.main(sys.argv[2:])
    if sys.argv[1:2] == ["routines"]:
        return routines.main(sys.argv[2:])
    options, names = parse()

    def save(report: dict) -> None:
        """After each workload: a run that is ended leaves its numbers."""
        options.json.parent.mkdir(parents=True, exist_ok=True)
        partial = options.json.with_suffix(".part")
        report = {"date": datetime.datetime.now(datetime.UTC).isoformat(), **report}
        partial.write_text(json.dumps(report, indent=1))
        partial.replace(options.json)
        if options.chart:
            options.chart.write_text(chart.draw(report))

    if options.what == "kernels":
        if not run_kernels.run(options, names, save):
            return 1
    elif options.device:
        machine = print_machine()
        if not on_device.run(options, names, lambda report: save({"machine": machine, **report})):
            return 1
    else:
        peers = options.peers.split(",") if options.peers else PEERS
        if missing := [peer for peer in peers if not installed(peer)]:
            print(f"not installed: {', '.join(missing)}")
        compare_on_cpu(options, [peer for peer in peers if installed(peer)], names, save)
    print(f"\nall numbers: {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
