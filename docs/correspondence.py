# docs/correspondence.py: tables of other libraries' names, read from docs/names: what is here, what has another name, what is not here.
from __future__ import annotations

import inspect
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
    """Names as code, commas between them as text; commas in brackets belong to the names."""
    if re.match(r"(nothing|methods)\b", text):
        return _prose(text)
    pieces, depth = [""], 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0 and text[i + 1 : i + 2] == " ":
            pieces.append("")
        else:
            pieces[-1] += c
    words = [re.fullmatch(r" ?(or )?(.*)", piece) for piece in pieces]
    return ", ".join(f"{w[1] or ''}`{w[2]}`" for w in words if w).replace("|", "\\|")


def _prose(text: str) -> str:
    """A sentence, with what is of this package as code."""
    return re.sub(r"\b(pp|np)\.\w+(\([^)]*\))?", lambda m: f"`{m[0]}`", text)


def _listed(names: list[str], here: list[str]) -> str:
    return f"Of {len(names)} functions {len(here)} are here under the same name: {', '.join(f'`{n}`' for n in here)}."


def tables(name: str, library: str) -> str:
    """The sections as Markdown."""
    import pardo
    from pardo._base import absent

    lines: list[str] = []
    for title, names, others in read(name):
        here = [n for n in names if hasattr(pardo, n)]
        lines += [f"## {title}", ""]
        if names:
            lines += [_listed(names, here), ""]
        rows = [(f"`{n}`", _prose(absent.reason(n).replace("pardo.", "pp."))) for n in names if n not in here]
        rows += [(_code(theirs), _code(ours) if sign == "=>" else _prose(ours)) for theirs, sign, ours in others]
        if rows:
            lines += [f"| {library} | here |", "|---|---|", *(f"| {theirs} | {ours} |" for theirs, ours in rows), ""]
    return "\n".join(lines)


def of_numpy() -> str:
    """NumPy's main namespace: what is here, and what takes the place of the rest."""
    import numpy
    import pardo
    from pardo._base import absent

    names = [n for n in dir(numpy) if not n.startswith("_") and callable(getattr(numpy, n)) and not inspect.isclass(getattr(numpy, n))]
    rows = [(n, absent.reason(n)) for n in sorted(absent.REASONS) if hasattr(numpy, n) and not hasattr(pardo, n)]
    lines = ["## Functions", "", _listed(names, [n for n in names if hasattr(pardo, n)]), ""]
    lines += ["## What is not here, and what takes its place", "", "| NumPy | here |", "|---|---|"]
    lines += [f"| `{n}` | {_prose(why.replace('pardo.', 'pp.'))} |" for n, why in rows]
    return "\n".join([*lines, ""])


def of_compat(module: str) -> str:
    """The names of a module of `pardo.compat`: which of pardo's each is, or what its docstring says."""
    import importlib

    import pardo

    found = importlib.import_module(f"pardo.compat.{module}")
    lines = [f"| `{module}` | is |", "|---|---|"]
    for name in sorted(found.__all__, key=str.lower):
        value = getattr(found, name)
        ours = next((n for n in dir(pardo) if not n.startswith("_") and getattr(pardo, n) is value), "")
        text = f"`pp.{ours}`" if ours else (inspect.getdoc(value) or "").partition("\n")[0]
        lines.append(f"| `{name}` | {text.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def of_refused_tests(name: str = "numba_dpex_refused") -> str:
    """Tests of another library that are not expected to pass, each kind with its reason, as a file of tests/suites says them."""
    names: dict[str, list[str]] = {}
    why = ""
    for line in (FOLDER.parents[1] / "tests" / "suites" / f"{name}.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, _, said = line.partition(": ")
            why = why if said == "the same" else said
            names.setdefault(why, []).append(f"`{pattern.lstrip('!')}`")
    lines = ["| tests | why not |", "|---|---|", *(f"| {', '.join(tests)} | {why} |" for why, tests in names.items())]
    return "\n".join(lines) + "\n"
