# python/pardo/__main__.py: `python -m pardo`: what pardo found on this machine, and whether it works.
"""Shows devices, versions and the cache, and tests each device."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pardo as pp
from pardo import _core
from pardo._base.package import FOLDER
from pardo._base.sizes import size_text
from pardo._runtime.config import versions


def _table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())


_CUDA = "cuda"
# What to do about a back end that finds nothing; the back end itself says what it looked for.
_REMEDIES = {
    "opencl": "pip install pardo[opencl] brings Intel's OpenCL for processors; or install another driver's (Debian, Ubuntu: apt install "
    "pocl-opencl-icd, intel-opencl-icd, nvidia-opencl-icd); a folder of .icd files may be named by OCL_ICD_VENDORS",
}
_PARTS_OF_CUDA = {
    "driver": "install NVIDIA's driver",
    "compiler": "pip install pardo[cuda], which brings NVIDIA's run-time compiler",
}


def _remedy(backend: dict[str, Any]) -> str:
    """What to do to have a device of a back end; of what CUDA needs only what is not there."""
    if backend["name"] != _CUDA:
        return _REMEDIES.get(backend["name"], "")
    there = {"driver": "driver" in backend["versions"], "compiler": "NVRTC" in backend["versions"]}
    return ", and ".join(text for what, text in _PARTS_OF_CUDA.items() if not there[what])


class _Default(NamedTuple):
    device: pp.Device | None
    problem: str  # why there is none
    status: int  # of the command then


def _default() -> _Default:
    """The default device."""
    try:
        return _Default(pp.Device(), "", 0)
    except ValueError as e:  # the environment asks for nonsense
        return _Default(None, str(e), 2)
    except pp.DeviceError as e:
        return _Default(None, str(e), 1)


def _print_devices(backends: Sequence[dict[str, Any]], verbose: bool) -> None:
    print("Devices")
    default, problem, _ = _default()
    rows = [("", "id", "type", "name", "platform", "units", "memory", "free", "fp64", "driver")]
    for b in backends:
        for d in b["devices"]:
            free = d.free_memory
            star, units = "*" if d == default else "", str(d.max_compute_units or "?")
            sizes = size_text(d.global_mem_size or 0), "?" if free is None else size_text(free)
            fp64 = "yes" if d.has_fp64 else "no"
            rows.append((star, d.id, d.type, d.name, d.platform or "?", units, *sizes, fp64, d.driver_version or "?"))
    if len(rows) > 1:
        _table(rows)
    print("  * is the default; PARDO_DEVICE chooses another, PARDO_DEVICES hides some")
    if problem:
        print(f"  no default device: {problem}")
    for b in backends:
        if not b["unavailable"]:
            continue
        if b["devices"]:
            print(f"  left out of back end {b['name']}: {b['unavailable']}")
            continue
        print(f"  no device of back end {b['name']}: {b['unavailable']}")
        untold = [part for part in _remedy(b).split(", and ") if part and part not in b["unavailable"]]
        if untold and not b["unavailable"].startswith("hidden"):
            print(f"    to have one: {', and '.join(untold)}")
    for b in backends:
        for problem in _problems(b):
            print(f"  not used by back end {b['name']}: {problem}")
    if verbose:
        for b in backends:
            for d in b["devices"]:
                print(f"Device {d.id}")
                _table([(name, _text(value)) for name, value in _facts(d).items() if value is not None])


def _problems(backend: dict[str, Any]) -> list[str]:
    """Of libraries that its devices would use and that are not there: what was found, what to install, where they were looked for."""
    return _core._missing_libraries(backend["devices"][0]) if backend["devices"] else []


def _facts(d: pp.Device) -> dict[str, Any]:
    """All properties of a device, by name; None where the back end cannot tell."""
    facts: dict[str, Any] = {"id": d.id, "type": d.type}
    facts.update((name, getattr(d, name)) for name in (*_core._device_info_names(), "free_memory", "aspects"))
    return facts


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)


def _print_json(backends: Sequence[dict[str, Any]]) -> None:
    default, problem, _ = _default()
    report = {
        "pardo": pp.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "default_device": None if default is None else default.id,
        "problem": problem or None,
        "cache": _core._cache_info(),
        "kernel_pack": _core._kernel_pack_info(),
        "backends": [
            {
                "name": b["name"],
                "versions": b["versions"] or None,
                "unavailable": b["unavailable"] or None,
                "remedy": _REMEDIES.get(b["name"]) if b["unavailable"] else None,
                "not_used": _problems(b),
                "devices": [_facts(d) for d in b["devices"]],
            }
            for b in backends
        ],
    }
    print(json.dumps(report, indent=2))


def _print_cache() -> None:
    print("Cache of compiled kernels")
    c = _core._cache_info()
    rows = [("folder", c["path"] or "none")]
    if c["enabled"]:
        rows.append(("holds", f"{c['files']} files, {size_text(c['bytes'])} of {size_text(c['limit'])}"))
    else:
        rows.append(("not used", c["reason"]))
    p = _core._kernel_pack_info()
    if p["targets"]:
        rows.append(("ready-made", f"{p['kernels']} kernels for {', '.join(p['targets'])}, {size_text(p['bytes'])}"))
    _table(rows)


def _checks(device: pp.Device) -> Iterator[tuple[str, Any, Any]]:
    """Small computations on a device, and what NumPy says to each."""
    real = pp.__array_namespace_info__().default_dtypes(device=device)["real floating"]
    host = np.random.default_rng(1).standard_normal((300, 70)).astype(real)
    whole = np.arange(-5000, 5000, dtype=np.int32).reshape(100, 100)
    x, n = pp.asarray(host, device=device), pp.asarray(whole, device=device)
    yield "copy in and out", x, host
    yield "integers", (n * 3 + 1) // 7, (whole * 3 + 1) // 7
    root = np.where(host > 0, np.sqrt(np.abs(host)), 0)
    yield "compiled chain", pp.exp(-x * x) + pp.where(x > 0, pp.sqrt(pp.abs(x)), 0.0), np.exp(-host * host) + root
    yield "reduction", pp.mean(x, axis=1), host.mean(axis=1)
    yield "sum of integers", pp.sum(n, axis=0), whole.sum(axis=0)
    yield "view", x[::-3, 5:], host[::-3, 5:]
    yield "sort", pp.sort(x, axis=0), np.sort(host, axis=0)
    try:
        product = x.T @ x
    except ImportError as e:  # the CPU's needs OpenBLAS
        yield f"product skipped: {e}", None, None
    else:
        yield "product", product, host.T @ host


def _self_test(device: pp.Device) -> bool:
    """Small computations, against NumPy; prints PASSED or FAILED."""
    problems, skipped, name, count = [], "", "setting up", 0
    rough = 1e-10 if device.has_fp64 else 1e-3
    try:
        for name, result, expected in _checks(device):
            if result is None:
                skipped += "; " + name
                continue
            count += 1
            if not np.allclose(pp.asnumpy(result), expected, rtol=rough, atol=rough):
                problems.append(f"{name}: other results than NumPy's")
    except Exception as e:
        problems.append(f"{name}: {type(e).__name__}: {e}")
    if problems:
        print(f"  {device.id}: FAILED: {'; '.join(problems)}")
    else:
        print(f"  {device.id}: PASSED ({count} checks){skipped}")
    return not problems


def _seconds(f: Callable[[], object]) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def _rate(moved: int, f: Callable[[], object]) -> str:
    """GB/s of the best of some runs; the first one compiles."""
    f()
    return f"{moved / min(_seconds(f) for _ in range(5)) / 1e9:.1f}"


def _rates(d: pp.Device, size: int) -> list[str]:
    host = np.ones(size // 4, np.float32)
    x, y = pp.asarray(host, device=d).wait(), pp.asarray(host, device=d).wait()
    z = pp.empty_like(x)
    return [
        _rate(2 * size, lambda: x.copy().wait()),
        _rate(3 * size, lambda: pp.add(x, y, out=z).wait()),
        _rate(size, lambda: pp.asarray(host, device=d).wait()),
        _rate(size, lambda: pp.asnumpy(x)),
    ]


def _print_bandwidth(devices: Sequence[pp.Device]) -> bool:
    """Bytes read and written per second, by arrays that no cache holds."""
    print("Bandwidth in GB/s (bytes read and written)")
    rows = [["id", "array", "copy", "add", "host to device", "device to host"]]
    good = True
    for d in devices:
        free = d.free_memory or d.global_mem_size or 1 << 30
        size = min(256 << 20, free // 8, d.max_mem_alloc_size or free) // 4 * 4
        try:
            rates = _rates(d, size)
        except Exception as e:
            good = False
            rates = [f"failed: {type(e).__name__}: {e}", "", "", ""]
        rows.append([d.id, size_text(size), *rates])
    _table(rows)
    return good


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status: 0, 1 when a device fails, 2 when the environment asks for nonsense."""
    parser = argparse.ArgumentParser(prog="python -m pardo", description=__doc__)
    parser.add_argument("-l", "--list", action="store_true", help="list the devices, and why back ends have none")
    parser.add_argument("-j", "--json", action="store_true", help="print all there is to know about the devices as JSON")
    parser.add_argument("-s", "--self-test", action="store_true", help="test each device against NumPy")
    parser.add_argument("-b", "--bandwidth", action="store_true", help="measure each device's memory")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all facts about the devices")
    parser.add_argument("--clear-cache", action="store_true", help="delete the compiled kernels of this version and exit")
    parser.add_argument("--includes", action="store_true", help="print the compiler's option for native extensions and exit")
    parser.add_argument("--cmakedir", action="store_true", help="print the folder of the CMake package for native extensions and exit")
    parser.add_argument("--pkgconfigdir", action="store_true", help="print the folder of pardo.pc, for PKG_CONFIG_PATH, and exit")
    parser.add_argument("--version", action="version", version=f"pardo {pp.__version__}")
    options = parser.parse_args(arguments)
    for asked, text in (
        (options.includes, f"-I{pp.get_include()}"),
        (options.cmakedir, os.path.join(FOLDER, "share", "cmake", "pardo")),
        (options.pkgconfigdir, os.path.join(FOLDER, "share", "pkgconfig")),
    ):
        if asked:
            print(text)
            return 0
    if options.clear_cache:
        before = _core._cache_info()
        _core._clear_cache()
        count = before["files"] - _core._cache_info()["files"] if before["enabled"] else 0
        print(f"{count} {'file' if count == 1 else 'files'} deleted" + (f" in {before['path']}" if before["path"] else ""))
        return 0
    try:
        backends = _core._get_backends()
    except (ValueError, pp.DeviceError) as e:
        print(f"pardo: {e}", file=sys.stderr)
        return 2
    if options.json:
        _print_json(backends)
        return _default().status
    everything = not (options.list or options.self_test or options.bandwidth)
    if everything:
        print("Versions")
        _table(versions(backends))
    if everything or options.list:
        _print_devices(backends, options.verbose)
    if everything:
        _print_cache()
    devices = [d for b in backends for d in b["devices"]]
    good = True
    if everything or options.self_test:
        print("Self-test")
        results = [_self_test(d) for d in devices]
        good = bool(results) and all(results)
        if not results:
            print("  no device to test")
    if options.bandwidth:
        good = _print_bandwidth(devices) and good
    default = _default()
    if default.problem:
        print(f"pardo: {default.problem}", file=sys.stderr)
    return default.status or (0 if good else 1)


def _run() -> int:
    """`main` for a shell: the reader may stop (``python -m pardo | head``), which ends it without a word, as other commands."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


if __name__ == "__main__":
    sys.exit(_run())
