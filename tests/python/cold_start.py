# tests/python/cold_start.py: what test_cold_starts.py runs: examples of docstrings, each in eight threads at once, before anything else.
from __future__ import annotations

import faulthandler
import io
import json
import linecache
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

THREADS = 8
REPEATED = 400  # seconds after which it hangs

cases = json.loads(Path(sys.argv[1]).read_text())
together = threading.Barrier(THREADS)
wrong: list[str] = []


def compiled(name: str, number: int, source: str) -> tuple[Any, bool]:
    """A statement, and whether it has a value."""
    file = f"<example {number} of {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        return compile(source, file, "eval", dont_inherit=True), True
    except SyntaxError:
        return compile(source, file, "exec", dont_inherit=True), False


def run(name: str, statements: list[tuple[Any, bool, str]]) -> None:
    """As doctest does, in a namespace of its own."""
    said = io.StringIO()
    names: dict[str, Any] = {"__name__": "__main__", "print": lambda *a, **k: print(*a, **{"file": said, **k})}
    for code, has_value, want in statements:
        said.seek(0)
        said.truncate()
        value = eval(code, names)
        if has_value and value is not None:
            said.write(f"{value!r}\n")
        got = said.getvalue().replace("\n\n", "\n<BLANKLINE>\n")
        if has_value and want and got and got != want:
            raise AssertionError(f"{code.co_filename}: {got} is not {want}")


def work() -> None:
    for name, statements in programs:
        together.wait()
        try:
            run(name, statements)
        except BaseException:
            wrong.append(f"{name}: {traceback.format_exc()}")


faulthandler.dump_traceback_later(REPEATED, exit=True)
programs = [(name, [(*compiled(name, k, source), want) for k, (source, want) in enumerate(parts)]) for name, parts in cases]
sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=work) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("\n".join(wrong))
sys.exit(bool(wrong))
