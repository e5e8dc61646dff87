# bench/run_kernels.py: the kernels of kernels/ by pardo, on one device or several, and by the libraries that have kernels of the user's.
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import on_device
from harness import ratio
from kernels import compiling
from session import (
    THREADS,
    Plan,
    Table,
    Worker,
    environment,
    installed,
    print_machine,
    print_remarks,
    run_workload,
    scaled,
    start,
    title,
)
from workloads import kernels
from workloads.kernels import Row

PEERS = {"cpu": ["python", "numba", "numba_dpex", "warp", "drjit"], "cuda": ["cupy", "numba_cuda", "triton"], "opencl": []}
PLATFORMS = {"Portable Computing Language": "pocl", "Intel(R) OpenCL": "intel", "NVIDIA CUDA": "nvidia"}  # of OpenCL, as columns name them


@dataclass
class Columns:
    """Who takes part: the first column is the one that is compared with others."""

    variables: dict[str, dict[str, str]] = field(default_factory=dict)  # what tells each library which device is meant
    enqueue: dict[str, str] = field(default_factory=dict)  # pardo's column on an OpenCL device -> PyOpenCL's on the same one

    def add_pardo(self, device: dict) -> None:
        place = "" if device["backend"] == "cpu" else f"@{device['id']}"
        self.variables[f"pardo{place}"] = {"PARDO_DEVICE": device["id"]}

    def add_pyopencl(self, device: dict) -> None:
        name = f"pyopencl@{PLATFORMS.get(device['platform'], device['id'])}"
        self.variables[name] = {"BENCH_OPENCL": f"{device['platform']}|{device['name']}"}
        if f"pardo@{device['id']}" in self.variables:
            self.enqueue[f"pardo@{device['id']}"] = name


def columns_for(devices: list[dict], every: list[dict], wanted: list[str] | None) -> Columns:
    """`every`: all devices that pardo sees: PyOpenCL has a column for each OpenCL device of the kind."""
    made, whole = Columns(), devices[0]["type"] == "gpu"
    for device in devices:
        made.add_pardo(device)
    for peer in PEERS["cpu" if not whole else devices[0]["backend"]]:
        made.variables[peer] = {}
    for device in every:
        if device["backend"] == "opencl" and (device["type"] == "gpu") == whole:
            made.add_pyopencl(device)
    if wanted is not None:
        made.variables = {peer: own for peer, own in made.variables.items() if peer in wanted or peer.partition("@")[0] in wanted}
    if missing := [peer for peer in made.variables if not installed(peer)]:
        print(f"not installed: {', '.join(map(title, missing))}")
    made.variables = {peer: own for peer, own in made.variables.items() if installed(peer)}
    return made


def all_devices() -> list[dict]:
    worker = Worker("pardo", "kernels", dict(os.environ))
    try:
        return worker.ask("devices")
    finally:
        worker.close()


def shown(row: Row, seconds: float) -> str:
    if row.unit not in kernels.RATES:
        return scaled(seconds, row.unit)
    return f"{row.work / seconds / kernels.RATES[row.unit]:.3g}"


def asked_of_peers(row: Row, results: dict[str, dict], mine: dict) -> str:
    """How many times as fast as the fastest of those that the row names, and what is asked for."""
    named = {peer: results[peer] for peer in row.than if usable(results.get(peer))}
    if not named:
        return f"{row.times:g}"
    fastest = min(named, key=lambda peer: named[peer]["median"])
    gain = ratio(named[fastest], mine)
    return f"{row.times:g}: {gain:.3g} ({title(fastest)}) {'met' if gain >= row.times else 'NOT MET'}"


def asked_of_time(row: Row, mine: dict, device: dict) -> str:
    if row.limit is None or (row.of not in device["name"] and row.of != device["backend"]):
        return "-"
    rate = kernels.RATES.get(row.unit)
    wanted = row.work / (row.limit * rate) if rate else row.limit * {"ms": 1e-3, "µs": 1e-6}[row.unit]
    return f"{row.limit:g} {row.unit} {'met' if mine['median'] <= wanted else 'NOT MET'}"


def usable(result: dict | None) -> bool:
    return bool(result) and "median" in result and result["right"]


def cell(row: Row, result: dict) -> str:
    if "median" not in result:
        return "failed" if "error" in result else "-"
    return shown(row, result["median"]) + ("" if result["right"] else " wrong")


def cells(row: Row, results: dict[str, dict], device: dict) -> list[str]:
    first, *others = results
    mine = results[first]
    rivals = {p: results[p] for p in others if not p.startswith("pardo") and usable(results[p])}
    fastest = min(rivals, key=lambda peer: rivals[peer]["median"]) if rivals else ""
    against, asked = "-", "-"
    if usable(mine):
        against = f"{ratio(rivals[fastest], mine):.3g} ({title(fastest)})" if fastest else "-"
        beside_peers = row.times and device["backend"] == "cpu"
        asked = asked_of_peers(row, results, mine) if beside_peers else asked_of_time(row, mine, device)
    return [f"{row.title} [{row.unit}]", *(cell(row, result) for result in results.values()), against, asked]


def whole_work(result: dict) -> dict:
    """Figures of a part of the work, scaled to all of it."""
    done = result.get("done", 1.0)
    if done == 1.0 or "median" not in result:
        return result
    scaled_up = {key: result[key] / done for key in ("median", "best")}
    return {**result, **scaled_up, "rounds": [each / done for each in result["rounds"]]}


class Report:
    """The table, and all numbers."""

    def __init__(self, columns: list[str], reports: dict[str, dict], device: dict, rows: dict[str, Row], save: Callable[[], None]) -> None:
        header = [f"on {device['id']}", *map(title, columns), "fastest peer / pardo", "asked, beside whom"]
        titles = [f"{row.title} [{row.unit}]" for row in rows.values()]
        self.table = Table(header, [*titles, *(f"{cost.title} [ms]" for cost in compiling.COSTS.values())])
        self.columns, self.reports, self.device, self.save = columns, reports, device, save

    def add(self, name: str, row: Row, results: dict[str, dict | None]) -> None:
        known = {peer: whole_work(results.get(peer) or {}) for peer in self.columns}
        for peer, result in known.items():
            self.reports[peer]["results"][name] = result or None
        self.table.add(cells(row, known, self.device))
        self.save()

    def add_cost(self, cost: compiling.Cost, seconds: float | dict[str, str]) -> None:
        others = ["-"] * (len(self.columns) - 1)
        if isinstance(seconds, dict):
            self.table.add([f"{cost.title} [ms]", "failed", *others, "-", "-"])
            print(seconds["error"])
            return
        verdict = "met" if seconds <= cost.limit else "NOT MET"
        self.table.add([f"{cost.title} [ms]", scaled(seconds, "ms"), *others, "-", f"{1e3 * cost.limit:g} ms {verdict}"])


def print_over_enqueue(results: dict[str, dict], enqueue: dict[str, str]) -> None:
    """What pardo's launch takes beyond the bare enqueue of a built kernel with its arguments: at most 1 µs is asked for."""
    for mine, bare in enqueue.items():
        if usable(results.get(mine)) and usable(results.get(bare)):
            beyond = results[mine]["median"] - results[bare]["median"]
            verdict = "met" if beyond <= 1e-6 else "NOT MET"
            print(f"{title(mine)}: a launch takes {scaled(beyond, 'µs')} µs over the bare enqueue; asked: 1 µs {verdict}")


def measure(workers: dict[str, Worker], rows: dict[str, Row], whole: bool, plan: Plan, report: Report) -> dict[str, dict[str, dict]]:
    results: dict[str, dict[str, dict]] = {}
    for name, row in rows.items():
        if not plan.begins(name):
            continue
        taking_part = {peer: worker for peer, worker in workers.items() if row.only in peer}
        results[name] = {peer: r or {} for peer, r in run_workload(taking_part, plan, "prepare", name, whole).items()}
        report.add(name, row, results[name])
    return results


def run(options, names: list[str], save: Callable[[dict], None]) -> bool:
    """Prints the table; False when there is no such device."""
    try:
        devices = [on_device.find(selector) for selector in options.device or ["cpu"]]
    except RuntimeError as error:
        print(f"--device {' '.join(options.device or [])}: {error}")
        return False
    whole = devices[0]["type"] == "gpu"
    if any((device["type"] == "gpu") != whole for device in devices):
        print("--device: GPUs and CPUs have different rows; one kind in a run")
        return False
    rows = {name: row for name, row in kernels.rows(whole).items() if name in names}
    if options.workloads and (missing := set(names) - set(rows)):
        print(f"--workloads: no rows {sorted(missing)} for such a device; there are {list(kernels.rows(whole))}")
        return False
    if not whole:
        with contextlib.suppress(OSError):  # children inherit it
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
        os.environ.update(environment(), POCL_MAX_PTHREAD_COUNT=str(THREADS), DPCPP_CPU_NUM_CUS=str(THREADS))
    machine, every = print_machine(), all_devices()
    for device in every:
        print(f"{device['id']}: {device['name']}, {device['platform']}, {device['driver']}", flush=True)
    columns = columns_for(devices, every, options.peers.split(",") if options.peers else None)
    workers, reports = start(list(columns.variables), "kernels", dict(os.environ), columns.variables)
    costs: dict[str, float | dict[str, str]] = {}
    plan = on_device.plan_for(options, whole)
    plan.together = False  # what they prepare is large, and compilers take all cores
    saved = {"machine": machine, "devices": every, "kernels": reports, "compile": costs}
    report = Report(list(reports), reports, devices[0], rows, lambda: save(saved))
    results = measure(workers, rows, whole, plan, report)
    for worker in workers.values():
        worker.close()
    if devices[0]["backend"] == "cpu" and not options.no_host and plan.begins("compile"):
        costs.update(compiling.measure(dict(os.environ)))
        for name, cost in compiling.COSTS.items():
            report.add_cost(cost, costs[name])
    save(saved)
    print_over_enqueue(results.get("enqueue", {}), columns.enqueue)
    print_remarks(reports, plan)
    return True
