# docs/correspondence.py: tables of other libraries' names, read from docs/names: which are here, which are called otherwise, which are absent.
from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "names"


def read(name: str) -> list[tuple[str, list[str], list[tuple[str, str, str]]]]:
    """The sections of a file: title, names that are looked up here, and triples of a name, ``=>`` or ``--``, and what takes its place."""
    sections: list[tuple[str, list[str], list[tuple[str, str, str]]]] = []
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        title = re.fullmatch(r"\[(.*)\]", line)
        pair = re.fullmatch(r"(.*?) (=>|--) (.*)", line)
        if title:
            sections.append((title[1], [], []))
        elif pair:
            sections[-1][2].append((pair[1], pair[2], pair[3]))
        else:
            sections[-1][1].extend(line.split())
    return sections


def _code(text: str) -> str:
    """Code, but for the words that join or explain."""
    if re.match(r"(nothing|methods) ?", text):
        return re.sub(r"pp\.[\w.]+(\([^)]*\))?", lambda m: f"`{m[0]}`", text)
    return " or ".join(", ".join(f"`{p}`" for p in re.split(r", (?![^(]*\))", part)) for part in re.split(r",? or ", text)).replace("|", "\\|")


def tables(name: str, library: str) -> str:
    """The sections as Markdown."""
    import pardo
    from pardo._base import absent

    lines: list[str] = []
    for title, names, others in read(name):
        lines += [f"## {title}", ""]
        here = [n for n in names if hasattr(pardo, n)]
        if names:
            listed = ", ".join(f"`{n}`" for n in here)
            lines += [f"Of {len(names)} functions {len(here)} are here under the same name: {listed}.", ""]
        rows = [(f"`{n}`", absent.reason(n).replace("pardo.", "pp.") or "not here") for n in names if not hasattr(pardo, n)]
        rows += [(_code(n), _code(to) if sign == "=>" else re.sub(r"pp\.\w+(\([^)]*\))?", lambda m: f"`{m[0]}`", to)) for n, sign, to in others]
        if rows:
            lines += [f"| {library} | here |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows), ""]
    return "\n".join(lines)
