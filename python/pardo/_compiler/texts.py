# python/pardo/_compiler/texts.py: functions that are written by the package itself, as text.
from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any


def functions_of(name: str, lines: Sequence[str], names: dict[str, Any]) -> dict[str, Any]:
    """What a text defines, in which these names are known; it stays where tracebacks and the compiler look for it."""
    text = "\n".join(lines) + "\n"
    file = f"<pardo: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(names)
    exec(compile(text, file, "exec"), names)
    return names
