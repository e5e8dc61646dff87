# docs/make_sharding.py: the table of docs/guide/sharding.md: which functions split, and how, from the table that dispatches them.
"""python docs/make_sharding.py [--write]: prints the table, or puts it into the page. Needs pardo, and no device."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pardo._sharding import functions

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guide" / "sharding.md"
UNIVERSAL = "universal functions (`add`, `sin`, …) and those of `special`, with `out=` and `where=`; operators"


def table() -> str:
    """A row for each way to split, in the order of its first function."""
    functions.read_all()
    ways: dict[str, list[str]] = {"each part by itself": [UNIVERSAL]}
    for name, row in sorted(functions.TABLE.items()):
        if (row.splits and " " not in name and not row.universal) or (row.splits and name.startswith("x[")):
            ways.setdefault(row.splits, []).append(f"`{name}`")
    rows = [f"| {', '.join(names)} | {how} |" for how, names in ways.items()]
    return "\n".join(["| functions | how |", "|---|---|", *rows])


def filled(text: str) -> str:
    return re.sub(r"(?<=<!-- make_sharding.py -->\n).*?(?=<!-- end -->)", lambda _: f"\n{table()}\n\n", text, flags=re.DOTALL)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(filled(PAGE.read_text()))
    else:
        print(table())
