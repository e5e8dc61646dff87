# docs/make_accuracy.py: measures the largest error of each function on each device, and prints the table of docs/reference/accuracy.md.
"""python docs/make_accuracy.py [DEVICE ...] [--size N] [--write]: all devices of the machine unless some are named.

`--write` puts the columns into docs/reference/accuracy.md and keeps those of devices that this machine lacks.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
import pardo as pp

PAGE = Path(__file__).resolve().parent / "reference" / "accuracy.md"
DTYPES = ("float32", "float64")
# By name: intervals from which arguments are drawn, those of all operands.
WIDE = [(-1e-3, 1e-3), (-1, 1), (-20, 20), (-700, 700), (-1e6, 1e6)]
POSITIVE = [(0, 1e-3), (0.5, 2), (0, 100), (0, 1e30)]
UNIT = [(-1e-3, 1e-3), (-1, 1), (0.9, 1), (-1, -0.9)]
FUNCTIONS = {
    "exp": [(-1, 1), (-80, 80), (-1e-3, 1e-3)],
    "exp2": [(-1, 1), (-120, 120)],
    "expm1": [(-1, 1), (-80, 80), (-1e-3, 1e-3)],
    "log": POSITIVE,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "log1p": [(-0.9, 1), (-1e-3, 1e-3), (0, 1e30)],
    "sin": WIDE,
    "cos": WIDE,
    "tan": WIDE,
    "arcsin": UNIT,
    "arccos": UNIT,
    "arctan": WIDE,
    "sinh": [(-1e-3, 1e-3), (-1, 1), (-80, 80)],
    "cosh": [(-1e-3, 1e-3), (-1, 1), (-80, 80)],
    "tanh": [(-1e-3, 1e-3), (-1, 1), (-20, 20)],
    "arcsinh": WIDE,
    "arccosh": [(1, 1.01), (1, 10), (1, 1e30)],
    "arctanh": UNIT,
    "sqrt": POSITIVE,
    "cbrt": WIDE,
    "hypot": [(-1, 1), (-1e15, 1e15)],
    "arctan2": [(-1, 1), (-1e15, 1e15)],
    "power": [(0.5, 2), (0, 10)],
    "logaddexp": [(0, 1), (-50, 50)],
    "logaddexp2": [(0, 1), (-50, 50)],
}
BINARY = {"hypot", "arctan2", "power", "logaddexp", "logaddexp2"}


def arguments(name: str, dtype: str, size: int) -> list[np.ndarray]:
    """The same for every device: uniform over each interval, and for wide ones over the magnitudes."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(2 if name in BINARY else 1):
        parts = []
        for low, high in FUNCTIONS[name]:
            parts.append(rng.uniform(low, high, size))
            if high >= 1e6:
                parts.append(10.0 ** rng.uniform(-6, np.log10(high), size) * (rng.choice([-1, 1], size) if low < 0 else 1))
        made.append(np.clip(np.concatenate(parts).astype(dtype), min(a for a, _ in FUNCTIONS[name]), max(b for _, b in FUNCTIONS[name])))
    return made


def largest_error(name: str, dtype: str, device: pp.Device, size: int) -> float:
    """In units of the last place of the exact result; of logaddexp, whose result may cancel, of the larger of result and operands."""
    operands = arguments(name, dtype, size)
    wide = np.float64 if dtype == "float32" else np.longdouble
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(*[a.astype(wide) for a in operands])
    found = pp.asnumpy(getattr(pp, name)(*[pp.asarray(a, device=device) for a in operands]))
    scale = np.abs(exact)
    if name.startswith("logaddexp"):
        scale = np.maximum.reduce([scale, *[np.abs(a.astype(wide)) for a in operands]])
    info = np.finfo(dtype)
    unit = np.spacing(np.clip(scale, info.tiny, info.max).astype(dtype)).astype(wide)
    usual = np.isfinite(exact) & (np.abs(exact) < info.max) & (np.abs(exact) > info.tiny)  # a driver may flush what is smaller
    return float(np.max(np.abs(found[usual].astype(wide) - exact[usual]) / unit[usual]))


def column_name(device: pp.Device) -> str:
    if device.backend == "cpu":
        return "CPU"
    if device.backend == "cuda":
        return f"CUDA, {device.name}"
    return f"OpenCL, {device.platform}"


def measure(devices: list[pp.Device], size: int) -> dict[str, dict[str, dict[str, float]]]:
    """dtype -> column -> function -> error."""
    found: dict[str, dict[str, dict[str, float]]] = {dtype: {} for dtype in DTYPES}
    for device in devices:
        for dtype in DTYPES:
            if np.dtype(dtype) in [np.dtype(d) for d in pp.__array_namespace_info__().dtypes(device=device).values()]:
                found[dtype][column_name(device)] = {name: largest_error(name, dtype, device, size) for name in FUNCTIONS}
    return found


def table(columns: dict[str, dict[str, str]]) -> str:
    lines = ["| function | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    lines += [f"| {name} | " + " | ".join(column.get(name, "") for column in columns.values()) + " |" for name in FUNCTIONS]
    return "\n".join(lines)


def section(text: str, dtype: str) -> tuple[int, int]:
    """Where the table of a dtype is in the page."""
    found = re.search(rf"^## {dtype}\n\n((?:\|.*\n)*)", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"make_accuracy: {PAGE} has no heading '## {dtype}'")
    return found.span(1)


def columns_of(text: str) -> dict[str, dict[str, str]]:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()]
    return {name: {row[0]: row[i] for row in rows[2:]} for i, name in enumerate(rows[0]) if i} if rows else {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("devices", nargs="*", metavar="DEVICE")
    parser.add_argument("--size", type=int, default=1_000_000, help="arguments an interval")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    named = [pp.Device(name) for name in options.devices]
    devices = named or [device for device in pp.get_devices() if device.backend != "null"]
    if np.finfo(np.longdouble).nmant < 63:
        raise SystemExit("make_accuracy: the reference needs long double to be wider than double")
    page = PAGE.read_text() if options.write else ""
    for dtype, columns in measure(devices, options.size).items():
        shown = {name: {function: f"{error:.2f}" for function, error in column.items()} for name, column in columns.items()}
        if options.write:
            begin, end = section(page, dtype)
            page = page[:begin] + table(columns_of(page[begin:end]) | shown) + "\n" + page[end:]
        else:
            print(f"## {dtype}\n\n{table(shown)}\n")
    if options.write:
        PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
