# bench/on_device.py: the workloads for devices on one of pardo's devices, beside the libraries that use such a device.
import os
from collections.abc import Callable

from harness import ratio
from session import (
    HERE,
    Plan,
    Table,
    Worker,
    answers,
    installed,
    interpreter,
    print_remarks,
    run_workload,
    scaled,
    start,
    title,
    variables_for,
)
from workloads import beside, device_host, devices

PEERS = {
    "cpu": ["pardo", "numpy", "jax", "torch"],
    "opencl": ["pardo", "pyopencl", "pyopencl_array", "dpnp"],
    "cuda": ["pardo", "cupy", "torch", "jax"],
}
FIGURES_OF = "H200"  # the device that the asked figures are for
KERNEL = "pyopencl"  # the peer whose kernels are written by hand
AS_FAST = 0.95  # of a kernel written by hand
HOST_ROWS = [*device_host.COSTS, *beside.PAIRS, *device_host.FIRST_COSTS]


def environment(device: dict) -> dict[str, str]:
    """What tells each library which device is meant."""
    return {
        "XLA_PYTHON_CLIENT_MEM_FRACTION": "0.25",  # jax takes it at once, and the others are there too
        **os.environ,
        "PARDO_DEVICE": device["id"],
        "BENCH_KIND": device["backend"],
        "BENCH_OPENCL": f"{device['platform']}|{device['name']}" if device["backend"] == "opencl" else "",
    }


def find(selector: str, workloads: str = "devices") -> dict:
    """The device that pardo takes for a selection string; raises RuntimeError when there is none."""
    worker = Worker("pardo", workloads, {**os.environ, "PARDO_DEVICE": selector})
    try:
        return worker.ask("device")
    finally:
        worker.close()


def plan_for(options, whole: bool) -> Plan:
    """GPUs repeat their figures within a per cent, and no threads of one library keep another's from running."""
    if whole:
        return Plan(options.budget or 0.3, rounds=3, pause=0.01, together=True, end=options.end)
    return Plan(options.budget or 0.8, together=True, end=options.end)


def figure(workload: devices.Workload, whole: bool, seconds: float) -> str:
    """In the workload's unit."""
    if workload.unit == "ms":
        return scaled(seconds, "ms")
    rate = workload.moved(whole) / seconds / {"GB/s": 1e9, "TFLOP/s": 1e12}[workload.unit]
    return f"{rate:.3g}" if rate < 100 else f"{rate:.0f}"


def met(asked: str, fulfilled: bool | None) -> str:
    return asked + ("" if fulfilled is None else " met" if fulfilled else " NOT MET")


def verdict(workload: devices.Workload, whole: bool, device: dict, mine: dict, kernel: dict) -> tuple[str, str]:
    """pardo's share of the nominal bandwidth, and what is asked for."""
    seconds, rate = mine.get("median"), devices.nominal(device["name"])
    share = workload.moved(whole) / seconds / rate if seconds and rate and workload.unit == "GB/s" else None
    shown = "-" if share is None else f"{100 * share:.0f} %"
    if device["backend"] == "opencl" and device["type"] == "cpu":
        return shown, met("kernel", ratio(kernel, mine) >= AS_FAST) if "rounds" in mine and "rounds" in kernel else "-"
    if workload.asked is None or FIGURES_OF not in device["name"]:
        return shown, "-"
    if workload.unit == "GB/s":
        return shown, met(f"{100 * workload.asked:.0f} %", None if seconds is None else share >= workload.asked)
    return shown, met(f"{workload.asked:.3g} ms", None if seconds is None else 1e3 * seconds <= workload.asked)


def array_row(workload: devices.Workload, results: dict[str, dict], device: dict) -> list[str]:
    whole, cells = device["type"] == "gpu", []
    for r in results.values():
        wrong = "" if r.get("right", True) else " wrong"
        cells.append(figure(workload, whole, r["median"]) + wrong if "median" in r else "failed" if "error" in r else "-")
    mine = results.get("pardo") or {}
    others = {p: r["median"] for p, r in results.items() if p != "pardo" and "median" in r and r["right"]}
    fastest = min(others, key=others.get) if others else ""
    against = f"{ratio(results[fastest], mine):.2f} ({title(fastest)})" if fastest and "rounds" in mine else "-"
    kernel = results.get(KERNEL) or {}
    return [row_title(workload, whole), *cells, *verdict(workload, whole, device, mine, kernel), against]


def row_title(workload: devices.Workload, whole: bool) -> str:
    return f"{workload.title_for(whole)} [{workload.unit}]"


def measure_arrays(
    workers: dict[str, Worker], reports: dict[str, dict], names: list[str], device: dict, plan: Plan, save: Callable
) -> None:
    whole = device["type"] == "gpu"
    header = [f"on {device['id']}", *(title(peer) for peer in reports), "of nominal", "asked", "fastest peer / pardo"]
    table = Table(header, [row_title(devices.WORKLOADS[name], whole) for name in names])
    for name in names:
        if not plan.begins(name):
            continue
        row = run_workload(workers, plan, "prepare", name, whole)
        for peer, result in row.items():
            reports[peer]["results"][name] = result
        table.add(array_row(devices.WORKLOADS[name], {peer: row.get(peer) or {} for peer in reports}, device))
        save()


class Costs:
    """The rows of host costs, as they come."""

    def __init__(self, peers: list[str], device: dict) -> None:
        self.peers, self.device = peers, device
        every = [*device_host.COSTS.values(), device_host.OVER_ENQUEUE, *device_host.FIRST_COSTS.values()]
        header = [f"host cost, {device['id']}", *(title(peer) for peer in peers), "asked"]
        self.table = Table(header, [self._title(cost) for cost in every])

    def _title(self, cost: device_host.Cost) -> str:
        return f"{cost.title} [{cost.unit}]"

    def add(self, cost: device_host.Cost, values: dict[str, dict | float | None]) -> None:
        medians = {peer: value.get("median") if isinstance(value, dict) else value for peer, value in values.items()}
        cells = []
        for peer in self.peers:
            failed = isinstance(values.get(peer), dict) and "error" in values[peer]
            cells.append("failed" if failed else "-" if medians.get(peer) is None else self._shown(cost, medians[peer]))
        self.table.add([self._title(cost), *cells, self._asked(cost, medians.get("pardo"))])

    def _figure(self, cost: device_host.Cost, seconds: float) -> float:
        if cost.unit == "GB/s":
            return device_host.copied_bytes(self.device["type"] == "gpu") / seconds / 1e9
        return seconds * {"ms": 1e3, "µs": 1e6}[cost.unit]

    def _shown(self, cost: device_host.Cost, seconds: float) -> str:
        value = self._figure(cost, seconds)
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"

    def _asked(self, cost: device_host.Cost, seconds: float | None) -> str:
        if cost.asked is None or (cost.asked_of not in self.device["name"] and cost.asked_of != self.device["backend"]):
            return "-"
        if seconds is None:
            return f"{cost.asked:g}"
        value = self._figure(cost, seconds)
        return met(f"{cost.asked:g}", value >= cost.asked if cost.unit == "GB/s" else value <= cost.asked)


def measure_costs(workers: dict[str, Worker], table: Costs, names: list[str], plan: Plan, costs: dict, save: Callable) -> None:
    whole = table.device["type"] == "gpu"
    for name in filter(device_host.COSTS.get, names):
        if not plan.begins(name):
            continue
        costs[name] = run_workload(workers, plan, "prepare_cost", name, whole)
        table.add(device_host.COSTS[name], costs[name])
        save()
        mine, bare = ((costs[name].get(peer) or {}).get("median") for peer in ("pardo", KERNEL))
        if name == "launch" and mine and bare:
            costs["over_enqueue"] = {"pardo": mine - bare}
            table.add(device_host.OVER_ENQUEUE, costs["over_enqueue"])


def measure_first_costs(peers: list[str], table: Costs, names: list[str], variables: dict[str, str], plan: Plan, costs: dict) -> None:
    """Each row when all libraries have it: a library's rows come from the same processes."""
    wanted = [name for name in device_host.FIRST_COSTS if name in names]
    if not wanted:
        return
    device = table.device["backend"], int(table.device["id"].split(":")[1].split("/")[0])
    for peer in filter(device_host.PROGRAMS.get, peers):
        if not plan.begins(f"first a + b of {peer}"):
            continue
        try:
            rows = device_host.first_result(peer, str(HERE), device, interpreter(peer), variables_for(peer, variables))
        except RuntimeError as error:
            rows = {name: {"error": str(error)[:300]} for name in wanted}
        context = rows.pop("context", None)
        if peer == "pardo":
            costs["context"] = {peer: context or None}
        for name, value in rows.items():
            costs.setdefault(name, {}).setdefault(peer, value)
    for name in wanted:
        if any(value is not None for value in costs.get(name, {}).values()):
            table.add(device_host.FIRST_COSTS[name], costs[name])


def measure_beside(worker: Worker, device: dict, names: list[str], plan: Plan, save: Callable) -> dict:
    """What runs side by side, in milliseconds."""
    wanted, report = [name for name in beside.PAIRS if name in names], {}
    if not wanted:
        return report
    rows = [f"{beside.PAIRS[name].title}: {part}" for name in wanted for part in (*beside.PAIRS[name].parts, beside.PAIRS[name].share)]
    table = Table([f"side by side, {device['id']}", "ms", "share", "asked"], rows)
    for name in filter(plan.begins, wanted):
        pair = beside.PAIRS[name]
        report[name] = result = answers({"pardo": worker}, False, "beside", name, device["type"] == "gpu", plan.budget)["pardo"]
        if not result or "error" in result:
            table.add([f"{pair.title}: {pair.share}", "-", "failed" if result else "no two parts", "-"])
            continue
        for part, seconds in zip(pair.parts, result["times"], strict=True):
            table.add([f"{pair.title}: {part}", scaled(seconds, "ms"), "", ""])
        asked = met(f"{100 * pair.asked:.0f} %", result["share"] >= pair.asked) if device["type"] in pair.asked_of else "-"
        table.add([f"{pair.title}: {pair.share}", "", f"{100 * result['share']:.0f} %", asked])
        save()
    return report


def peers_for(options, device: dict) -> list[str]:
    """Those that are wanted and installed."""
    wanted = options.peers.split(",") if options.peers else PEERS[device["backend"]]
    if not options.peers and "dpnp" in wanted and device["type"] != "cpu":
        wanted = [peer for peer in wanted if peer != "dpnp"]
    if missing := [peer for peer in wanted if not installed(peer)]:
        print(f"not installed: {', '.join(missing)}")
    return [peer for peer in wanted if installed(peer)]


def run(options, names: list[str], save: Callable[[dict], None]) -> bool:
    """Prints the tables; False when there is no such device."""
    try:
        device = find(options.device)
    except RuntimeError as error:
        print(f"--device {options.device}: {error}")
        return False
    print(f"{device['id']}: {device['name']}, {device['platform']}, {device['driver']}", flush=True)
    variables, plan = environment(device), plan_for(options, device["type"] == "gpu")
    workers, reports = start(peers_for(options, device), "devices", variables)
    costs: dict[str, dict] = {}
    report = {"device": device, "arrays": reports, "host": costs, "beside": {}}

    def keep() -> None:
        save(report)

    if names:
        measure_arrays(workers, reports, names, device, plan, keep)
    host_rows = [] if options.no_host else options.host.split(",") if options.host else HOST_ROWS
    if "pardo" in workers:
        report["beside"] = measure_beside(workers["pardo"], device, host_rows, plan, keep)
    if any(name in device_host.COSTS or name in device_host.FIRST_COSTS for name in host_rows):
        table = Costs(list(workers), device)
        measure_costs(workers, table, host_rows, plan, costs, keep)
    for worker in workers.values():
        worker.close()
    if any(name in device_host.FIRST_COSTS for name in host_rows):
        measure_first_costs(list(workers), table, host_rows, variables, plan, costs)
    keep()
    print_failures({**costs, **{name: {"pardo": row} for name, row in report["beside"].items()}})
    print_remarks(reports, plan)
    return True


def print_failures(costs: dict[str, dict]) -> None:
    for name, row in costs.items():
        for peer, value in row.items():
            if isinstance(value, dict) and "error" in value:
                print(f"{peer}, {name}: {value['error']}")
