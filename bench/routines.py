# bench/routines.py: routines of the array library beside their peers: each row in turns, a process a library, warm and first calls.
import argparse
import datetime
import fnmatch
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import on_device
from harness import ratio
from session import Plan, Table, Worker, installed, print_machine, print_remarks, run_workload, scaled, start, title
from workloads import host
from workloads.routines import ROWS, Row

PEERS = {"cpu": ["numpy", "scipy", "numba", "torch", "jax"], "cuda": ["cupy", "torch", "jax"], "opencl": ["numpy", "scipy"]}
FIRST = "first, ms"


def opencl_device() -> str | None:
    """Where the rows of OpenCL run."""
    try:
        return on_device.find("opencl", "routines")["id"]
    except RuntimeError:
        return None


def first_call(name: str, variables: dict[str, str], *rest: object) -> dict | None:
    """What a row takes in a process of pardo's own that has no caches yet: beyond the device's start and its operands."""
    with tempfile.TemporaryDirectory() as cache:
        worker = Worker("pardo", "routines", {**variables, **dict.fromkeys(host.CACHES, cache), "POCL_CACHE_DIR": cache})
        try:
            return worker.ask("prepare", name, *rest)
        except RuntimeError as error:
            return {"error": str(error)}
        finally:
            worker.close()


def cells_of(row: dict[str, dict | None], peers: list[str], first: dict | None) -> list[str]:
    def shown(result: dict | None, field: str) -> str:
        if result is None:
            return "–"
        return "failed" if "error" in result else scaled(result[field], "ms")

    mine = row.get("pardo") or {}
    others = {peer: r["median"] for peer, r in row.items() if peer != "pardo" and r and "median" in r}
    fastest = min(others, key=others.__getitem__) if others else ""
    against = f"{ratio(row[fastest] or {}, mine):.2f} ({title(fastest)})" if fastest and "rounds" in mine else "–"
    return [*(shown(row.get(peer), "median") for peer in peers), against, shown(first, "first")]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench routines", description="Routines of the array library beside their peers.")
    parser.add_argument("--device", default="cpu", help="a selection string; default: cpu")
    parser.add_argument("--rows", help="comma-separated patterns or beginnings of names, as 'sort' or '*f64'; default: all")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--size", type=float, default=1.0, help="share of the usual number of elements")
    parser.add_argument("--peers", help="comma-separated; default: all that are installed")
    parser.add_argument("--budget", type=float, default=0.4, help="seconds of samples for each row and library")
    parser.add_argument("--seconds", type=float, help="begin nothing new when so many seconds are over, and name what was left out")
    parser.add_argument("--no-first", action="store_true", help="leave first calls out, which take a process each")
    parser.add_argument("--json", type=Path, default=Path("build/bench-routines.json"), help="where all numbers are written")
    return parser.parse_args(arguments)


def chosen(patterns: str | None) -> list[str]:
    wanted = [pattern.strip() for pattern in patterns.split(",")] if patterns else ["*"]
    return [name for name in ROWS if any(fnmatch.fnmatchcase(name, p) or name.startswith(p) for p in wanted)]


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    names = chosen(options.rows)
    if options.list or not names:
        print("\n".join(ROWS) if options.list else f"no row is called so; --list shows all: {options.rows}")
        return 0 if options.list else 2
    pardo = Worker("pardo", "routines", {**os.environ, "PARDO_DEVICE": options.device})
    device = pardo.ask("device")
    whole = device["type"] == "gpu"
    opencl = opencl_device() if any(ROWS[name].opencl for name in names) else None
    variables = on_device.environment(device)
    peers = options.peers.split(",") if options.peers else PEERS["cpu" if device["backend"] == "null" else device["backend"]]
    if any(ROWS[name].opencl for name in names) and "numpy" not in peers and not options.peers:
        peers = [*peers, "numpy"]
    peers = [peer for peer in peers if peer != "pardo"]
    machine = print_machine()
    kind = "GPU" if whole else "CPU"
    version = pardo.ask("versions")["pardo"]
    where = f"{device['id']}: {device['name']}, {device['platform']} {device['driver']}"
    print(f"pardo {version} on {where}; {options.size:g} of a {kind}'s sizes")
    if missing := [peer for peer in peers if not installed(peer)]:
        print(f"not installed: {', '.join(missing)}")
    workers, reports = start([peer for peer in peers if installed(peer)], "routines", variables)
    workers, reports = {"pardo": pardo, **workers}, {"pardo": {"versions": pardo.ask("versions"), "results": {}}, **reports}
    end = None if options.seconds is None else time.monotonic() + options.seconds
    plan = Plan(options.budget, rounds=2, pause=0.01 if whole else 0.15, together=False, end=end)
    table = Table(["ms", "pardo", *map(title, peers), "best peer / pardo", FIRST], names)
    firsts: dict[str, dict | None] = {}
    report = {"machine": machine, "device": device, "routines": reports, "first": firsts}
    for name in filter(plan.begins, names):
        request = (name, options.size, whole, opencl)
        taking = {peer: worker for peer, worker in workers.items() if takes(peer, ROWS[name], whole, opencl)}
        results = run_workload(taking, plan, "prepare", *request)
        firsts[name] = first_call(name, variables, *request[1:]) if "pardo" in taking and not options.no_first else None
        for peer, result in results.items():
            reports[peer]["results"][name] = result
        table.add([name, *cells_of(results, ["pardo", *peers], firsts[name])])
        save(options.json, report)
    for worker in workers.values():
        worker.close()
    print_remarks(reports, plan)
    print(f"\nall numbers: {options.json}")
    return 0


def takes(peer: str, row: Row, whole: bool, opencl: str | None) -> bool:
    """OpenCL's rows are pardo's, beside NumPy on the host, which has no part in others on a GPU but for what is small."""
    on_host = peer in ("numpy", "scipy")
    if row.opencl:
        return on_host or (peer == "pardo" and opencl is not None)
    return not (whole and on_host and not row.whole)


def save(path: Path, report: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps({"date": datetime.datetime.now(datetime.UTC).isoformat(), **report}, indent=1))
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main())
