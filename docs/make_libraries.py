# docs/make_libraries.py: the table of docs/reference/libraries.md: which code computes what on which device, from what registers itself.
"""python docs/make_libraries.py [--write]: prints the table, or puts it into the page. Needs the sources, and no device."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "libraries.md"
REGISTERED = re.compile(r'Registered \w+\(\s*routines::(\w+),\s*\{\s*"([^"]+)", DeviceKinds::(\w+)(.*?)\}\);', re.DOTALL)
COST = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])")
COLUMNS = {"CPU": {"Host", "Processor"}, "CUDA": {"Text"}, "OpenCL": {"Text", "HostProcessor"}}  # and the kinds of devices that they are

# Routines, and the functions that are made of them.
ROWS = {
    "matmul": "products: `matmul`, `dot`, `tensordot`, `einsum`, `convolve` of short sequences",
    "solve": "`linalg.solve`, `tensorsolve`",
    "inv": "`linalg.inv`, `tensorinv`, `matrix_power`, `cond` of norms but 2",
    "det": "`linalg.det`, `slogdet`",
    "cholesky": "`linalg.cholesky`, `scipy.linalg.cho_factor`",
    "qr": "`linalg.qr`",
    "svd": "`linalg.svd`, `svdvals`, `pinv`, `matrix_rank`, `cond`, `norm` of 2 and nuc",
    "eigh": "`linalg.eigh`, `eigvalsh`, `scipy.linalg.eigh`",
    "eig": "`linalg.eig`, `eigvals`",
    "lstsq": "`linalg.lstsq` of small matrices, and of less than full rank",
    "lu_factor": "`scipy.linalg.lu`, `lu_factor`",
    "lu_solve": "`scipy.linalg.lu_solve`",
    "triangular_solve": "`scipy.linalg.solve_triangular`, `cho_solve`",
    "banded_solve": "`scipy.linalg.solve_banded`",
    "banded_cholesky_solve": "`scipy.linalg.solveh_banded`",
    "toeplitz_solve": "`scipy.linalg.solve_toeplitz`",
    "fft": "`fft`; `convolve` and `correlate` of long sequences",
    "sort": "`sort`, `argsort`, `unique`, sets",
    "partition": "`partition`, `argpartition`",
    "top_k": "the first of a sorted axis: `top_k`",
    "searchsorted": "`searchsorted`, `digitize`, `histogram`",
    "cumulative": "`cumsum` and the like of floats",
    "nonzero": "`nonzero`, `argwhere`",
    "compress": "`x[mask]`",
    "put_mask": "`x[mask] = v`",
    "gather": "`x[places]`, `take`",
    "scatter": "`x[places] = v`, `put`",
    "take_along_axis": "`take_along_axis`",
}
# Parts of others, and what devices have other ways for.
INNER = {
    "accumulate_at",
    "count_mask",
    "count_runs",
    "cut_runs",
    "fft_in_parts",
    "fft_wants_lines",
    "fill_runs",
    "look_through",
    "mark_values",
    "matmul_ready",
    "matmul_takes",
    "matrices_ready",
    "merge_runs",
    "ranked",
}


LANGUAGE = re.compile(r'"(cuda|opencl)"')


def registered() -> dict[str, list[tuple[float, str, str, str]]]:
    """Of each routine: cost, name, place, and the column that alone has it, in small letters."""
    found: dict[str, list[tuple[float, str, str, str]]] = {}
    for path in sorted((ROOT / "src" / "routines").rglob("*.cpp")):
        for routine, name, place, rest in REGISTERED.findall(path.read_text()):
            cost = COST.search(rest.split("}")[-1])
            language = LANGUAGE.search(rest)
            found.setdefault(routine, []).append((float(cost[1]) if cost else 1.0, name, place, language[1] if language else ""))
    return found


def table() -> str:
    lines = ["| what | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    found = registered()
    for routine, what in ROWS.items():
        cells = []
        for column, kinds in COLUMNS.items():
            own = column.lower()
            rows = sorted(row for row in found[routine] if row[3] == own or (row[2] in kinds and not row[3]))
            cells.append(", ".join(dict.fromkeys(row[1] for row in rows)) or "on the host")
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def page_with(text: str, rows: str) -> str:
    return re.sub(r"(?<=<!-- make_libraries.py -->\n).*?(?=<!-- end -->)", lambda _: f"\n{rows}\n", text, flags=re.DOTALL)


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page_with(PAGE.read_text(), table()))
    else:
        print(table(), end="")
