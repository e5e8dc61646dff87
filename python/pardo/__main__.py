# python/pardo/__main__.py: `python -m pardo`: what pardo found on this machine, and whether it works.
"""Shows devices, versions and the cache, and tests each device."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pardo as pp
from pardo import _core


def _bytes(n: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1024
    raise AssertionError


def _table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())


def _openblas() -> str:
    try:
        from importlib.metadata import version

        return version("scipy-openblas32")
    except ImportError:
        return "not installed (pip install scipy-openblas32); needed by matmul and its relatives"


def _print_versions(backends: Sequence[dict[str, Any]]) -> None:
    print("Versions")
    rows = [
        ("pardo", pp.__version__),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("OpenBLAS", _openblas()),
    ]
    rows += [(f"back end {b['name']}", b["versions"]) for b in backends if b["versions"]]
    _table(rows)


def _print_devices(backends: Sequence[dict[str, Any]], verbose: bool) -> None:
    print("Devices")
    try:
        default: pp.Device | None = pp.Device()
    except Exception as e:
        default = None
        print(f"  no default device: {e}")
    rows = [("", "id", "type", "name", "platform", "units", "memory", "driver")]
    for b in backends:
        for d in b["devices"]:
            star = "*" if d == default else ""
            rows.append((star, d.id, d.type, d.name, d.platform, str(d.max_compute_units), _bytes(d.global_mem_size), d.driver_version))
    if len(rows) > 1:
        _table(rows)
    print("  * is the default; PARDO_DEVICE chooses another, PARDO_DEVICES hides some")
    for b in backends:
        if b["unavailable"]:
            print(f"  no device of back end {b['name']}: {b['unavailable']}")
    if verbose:
        for b in backends:
            for d in b["devices"]:
                _print_facts(d)


def _print_facts(d: pp.Device) -> None:
    print(f"Device {d.id}")
    names = (
        "vendor", "max_work_group_size", "local_mem_size", "max_mem_alloc_size", "global_mem_cache_size",
        "max_clock_frequency", "native_vector_bytes", "has_fp64", "has_fp16",
    )  # fmt: skip
    _table([(name, str(getattr(d, name))) for name in names])


def _print_cache() -> None:
    print("Cache of compiled kernels")
    c = _core._cache_info()
    rows = [("folder", c["path"] or "none")]
    if c["enabled"]:
        rows.append(("holds", f"{c['files']} files, {_bytes(c['bytes'])} of {_bytes(c['limit'])}"))
    else:
        rows.append(("not used", c["reason"]))
    _table(rows)


def _seconds(f: Callable[[], object]) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def _self_test(device: pp.Device) -> bool:
    """A fused chain, a reduction, a sort and a product, against NumPy; then the bandwidth of a copy.

    The product needs OpenBLAS, and is skipped without.
    """
    skipped = ""
    rng = np.random.default_rng(1)
    host = rng.standard_normal((300, 70))
    try:
        x = pp.asarray(host, device=device)
        root, expected_root = pp.where(x > 0, pp.sqrt(pp.abs(x)), 0.0), np.where(host > 0, np.sqrt(np.abs(host)), 0.0)
        pairs = {
            "elementwise": (pp.exp(-x * x) + root, np.exp(-host * host) + expected_root),
            "reduction": (pp.mean(x, axis=1), host.mean(axis=1)),
            "sort": (pp.sort(x, axis=0), np.sort(host, axis=0)),
        }
        try:
            pairs["product"] = (x.T @ x, host.T @ host)
        except ImportError as e:
            skipped = f"; product skipped: {e}"
        wrong = [name for name, (a, b) in pairs.items() if not np.allclose(pp.asnumpy(a), b, rtol=1e-10, atol=1e-12)]
    except Exception as e:
        print(f"  {device.id}: FAILED: {type(e).__name__}: {e}")
        return False
    if wrong:
        print(f"  {device.id}: FAILED: other results than NumPy for {', '.join(wrong)}")
        return False
    n = 1 << 24
    source = pp.ones(n, device=device).wait()
    copies = [_seconds(lambda: source.copy().wait()) for _ in range(6)]
    print(f"  {device.id}: works; copies {2 * 8 * n / min(copies[1:]) / 1e9:.1f} GB/s (bytes read and written, 128 MiB){skipped}")
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m pardo", description=__doc__)
    parser.add_argument("-l", "--list", action="store_true", help="only list the devices")
    parser.add_argument("-s", "--self-test", action="store_true", help="only test the devices")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all facts about the devices")
    parser.add_argument("--clear-cache", action="store_true", help="delete the compiled kernels of this version and exit")
    options = parser.parse_args(arguments)
    if options.clear_cache:
        _core._clear_cache()
        return 0
    backends = _core._get_backends()
    everything = not options.list and not options.self_test
    if everything:
        _print_versions(backends)
    if everything or options.list:
        _print_devices(backends, options.verbose)
    if everything:
        _print_cache()
    if options.list and not options.self_test:
        return 0
    print("Self-test")
    results = [_self_test(d) for b in backends for d in b["devices"]]
    if not results:
        print("  no device to test")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
