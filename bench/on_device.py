# bench/on_device.py: the workloads for devices on one of pardo's devices, beside the libraries that use such a device.
import os
import tempfile
from pathlib import Path

from harness import ratio
from session import HERE, Worker, installed, print_remarks, run_workload, scaled, start, table
from workloads import device_host, devices

PEERS = {
    "cpu": ["pardo", "numpy", "jax", "torch"],
    "opencl": ["pardo", "pyopencl"],
    "cuda": ["pardo", "cupy", "torch", "jax"],
}
FIGURES_OF = "H200"  # the device that the asked figures are for


def environment(device: dict) -> dict[str, str]:
    """What tells each library which device is meant."""
    return {
        **os.environ,
        "PARDO_DEVICE": device["id"],
        "BENCH_KIND": device["backend"],
        "BENCH_OPENCL": f"{device['platform']}|{device['name']}" if device["backend"] == "opencl" else "",
    }


def find(selector: str) -> dict:
    """The device that pardo takes for a selection string; raises RuntimeError when there is none."""
    worker = Worker("pardo", "devices", {**os.environ, "PARDO_DEVICE": selector})
    try:
        return worker.ask("device")
    finally:
        worker.close()


def figure(workload: devices.Workload, whole: bool, seconds: float) -> str:
    """In the workload's unit."""
    if workload.unit == "ms":
        return scaled(seconds, "ms")
    rate = workload.moved(whole) / seconds / {"GB/s": 1e9, "TFLOP/s": 1e12}[workload.unit]
    return f"{rate:.3g}" if rate < 100 else f"{rate:.0f}"


def verdict(workload: devices.Workload, whole: bool, device: dict, seconds: float | None) -> tuple[str, str]:
    """pardo's share of the nominal bandwidth, and what is asked for."""
    rate = devices.nominal(device["name"])
    share = workload.moved(whole) / seconds / rate if seconds and rate and workload.unit == "GB/s" else None
    shown = "-" if share is None else f"{100 * share:.0f} %"
    if workload.asked is None or FIGURES_OF not in device["name"]:
        return shown, "-"
    if workload.unit == "GB/s":
        asked, met = f"{100 * workload.asked:.0f} %", share is not None and share >= workload.asked
    else:
        asked, met = f"{workload.asked:.3g} ms", seconds is not None and 1e3 * seconds <= workload.asked
    return shown, asked + ("" if seconds is None else " met" if met else " NOT MET")


def array_table(reports: dict[str, dict], names: list[str], device: dict) -> str:
    peers, whole, rows = list(reports), device["type"] == "gpu", []
    for name in names:
        workload = devices.WORKLOADS[name]
        results = {peer: reports[peer]["results"].get(name) or {} for peer in peers}
        cells = []
        for r in results.values():
            wrong = "" if r.get("right", True) else " wrong"
            cells.append(figure(workload, whole, r["median"]) + wrong if "median" in r else "failed" if "error" in r else "-")
        mine = results.get("pardo") or {}
        others = {p: r["median"] for p, r in results.items() if p != "pardo" and "median" in r and r["right"]}
        fastest = min(others, key=others.get) if others else ""
        against = f"{ratio(results[fastest], mine):.2f} ({fastest})" if fastest and "rounds" in mine else "-"
        title = f"{workload.title_for(whole)} [{workload.unit}]"
        rows.append([title, *cells, *verdict(workload, whole, device, mine.get("median")), against])
    return table([f"on {device['id']}", *peers, "of nominal", "asked", "fastest peer / pardo"], rows)


def cost_table(costs: dict[str, dict], peers: list[str], device: dict) -> str:
    whole, rows = device["type"] == "gpu", []
    for name, cost in {**device_host.COSTS, **device_host.FIRST_COSTS}.items():
        values = {}
        for peer in peers:
            value = costs[name].get(peer)
            seconds = value.get("median") if isinstance(value, dict) else value
            values[peer] = seconds if not isinstance(value, dict) or "error" not in value else "failed"
        cells = []
        for value in values.values():
            if not isinstance(value, int | float):
                cells.append("-" if value is None else "failed")
            elif cost.unit == "GB/s":
                cells.append(f"{device_host.copied_bytes(whole) / value / 1e9:.3g}")
            else:
                cells.append(scaled(value, cost.unit))
        asked = f"{cost.asked:g}" if cost.asked is not None and FIGURES_OF in device["name"] else "-"
        rows.append([f"{cost.title} [{cost.unit}]", *cells, asked])
    return table([f"host cost, {device['id']}", *peers, "asked"], rows)


def run(options, names: list[str]) -> dict | None:
    """Prints the tables; None when there is no such device."""
    try:
        device = find(options.device)
    except RuntimeError as error:
        print(f"--device {options.device}: {error}")
        return None
    print(f"{device['id']}: {device['name']}, {device['platform']}, {device['driver']}")
    wanted = options.peers.split(",") if options.peers else PEERS[device["backend"]]
    if missing := [peer for peer in wanted if not installed(peer)]:
        print(f"not installed: {', '.join(missing)}")
    variables, whole = environment(device), device["type"] == "gpu"
    os.environ.update(variables)
    workers, reports = start([peer for peer in wanted if installed(peer)], "devices", variables)
    costs: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for peer, result in run_workload(workers, options.budget, "prepare", name, whole, folder).items():
                reports[peer]["results"][name] = result
            (Path(folder) / f"{name}.npz").unlink(missing_ok=True)
    print("\n" + array_table(reports, names, device), flush=True)
    if not options.no_host:
        for name in device_host.COSTS:
            costs[name] = run_workload(workers, options.budget, "prepare_cost", name, whole)
    for worker in workers.values():
        worker.close()
    if not options.no_host:
        costs.update(device_host.first_results(list(workers), str(HERE)))
        print("\n" + cost_table(costs, list(workers), device))
        print_failures(costs)
    print_remarks(reports)
    return {"device": device, "arrays": reports, "host": costs}


def print_failures(costs: dict[str, dict]) -> None:
    for name, row in costs.items():
        for peer, value in row.items():
            reason = value.get("error") if isinstance(value, dict) else value if isinstance(value, str) else None
            if reason:
                print(f"{peer}, {name}: {reason}")
