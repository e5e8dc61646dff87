# cmake/make_ops.py: writes the functions of include/pardo/ops.h that rows of src/graph/ops.def and reductions.def make, between the marks.
# `ninja ops_header` runs it; with --check it only says whether the header is as the rows are (tests/python/test_headers.py).
from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = ROOT / "include/pardo/ops.h"
WIDTH = 140  # .clang-format
MARK = "// Made by cmake/make_ops.py of "

OP = re.compile(r'^OP\((\w+),\s*(\d),\s*(\w+),.*,\s*"([^"]*)"\)$', re.MULTILINE)
REDUCTION = re.compile(r'^REDUCTION\((\w+),\s*(\w+),.*?,\s*"([^"]*)",\s*"([^"]*)"\)$', re.MULTILINE)
POSITION = re.compile(r'^POSITION\((\w+),.*?,\s*"([^"]*)",\s*"([^"]*)"\)$', re.MULTILINE)
SCAN = re.compile(r'^SCAN\((\w+),\s*(\w+),.*?,\s*"([^"]*)"\)$', re.MULTILINE)


def documented(doc: str, declaration: str) -> str:
    lines = textwrap.wrap(doc.replace("``", "`"), WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "".join(f"/// {line}\n" for line in lines) + wrapped(declaration) + "\n"


def wrapped(declaration: str) -> str:
    """Parameters that leave the line continue below the first one, as clang-format has them."""
    if len(declaration) <= WIDTH:
        return declaration
    cut = declaration.rindex(", ", 0, WIDTH) + 1
    return declaration[:cut] + "\n" + " " * (declaration.index("(") + 1) + declaration[cut + 1 :]


def operations(text: str, kinds: set[str]) -> str:
    made = ""
    for name, arity, kind, doc in OP.findall(text):
        if kind in kinds:
            names = ["x"] if arity == "1" else [f"x{k + 1}" for k in range(int(arity))]
            operands = ", ".join(f"const Operand& {operand}" for operand in names)
            made += documented(doc, f"PARDO_API Array {name}({operands});")
    return made


def reductions(text: str) -> str:
    rows = REDUCTION.findall(text)
    made = "/// Which reduction: of reduce and cumulative.\n"
    made += f"enum class Reduction : std::uint8_t {{ {', '.join(row[0] for row in rows)} }};\n"
    axis = "std::optional<std::int64_t> axis = {}"
    for _, name, doc, gives in rows:
        made += documented(f"{doc} {gives}", f"PARDO_API Array {name}(const Array& x, const Axes& axes = {{}}, bool keepdims = false);")
    for name, doc, gives in POSITION.findall(text):
        made += documented(f"{doc} {gives}", f"PARDO_API Array {name}(const Array& x, {axis}, bool keepdims = false);")
    for _, name, doc in SCAN.findall(text):
        parameters = f"const Array& x, {axis}, std::optional<DType> dtype = {{}}, bool include_initial = false"
        made += documented(doc, f"PARDO_API Array {name}({parameters});")
    return made


def main() -> int:
    rows, folds = ((ROOT / "src/graph" / f"{table}.def").read_text() for table in ("ops", "reductions"))
    parts = {
        "ops.def, elementwise": operations(rows, {"elementwise"}),
        "ops.def, special": operations(rows, {"special"}),
        "reductions.def": reductions(folds),
    }
    before = after = HEADER.read_text()
    for source, made in parts.items():
        begin, end = f"{MARK}{source}.\n", f"// End of {source}.\n"
        head, rest = after.split(begin)
        after = head + begin + made + end + rest.split(end)[1]
    if "--check" in sys.argv:
        if after != before:
            print(f"{HEADER}: not as the rows are; `ninja -C build/release ops_header`, or `python3 cmake/make_ops.py`, makes it anew")
        return int(after != before)
    if after != before:
        HEADER.write_text(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
