# python/pardo/_compiler/source_search.py: the text of functions that have no file: of `python -c`, standard input, the prompt, `exec`.
from __future__ import annotations
import __future__

import functools
import linecache
import operator
import os
import stat
import sys
import types
from collections.abc import Iterable, Iterator

MOST_TEXTS = 32  # of one file name, the last that were found
MOST_FRAMES = 16  # above the one that decorates
MOST_LINES = 2000  # of a statement at the prompt
EXEC = "<string>"  # what Python calls each text that is run by `exec` or by `python -c`
_FUTURES = functools.reduce(operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))
_found: dict[str, list[str]] = {}


def text_of(code: types.CodeType) -> list[str] | None:
    """The lines of the text that a function without a file comes from, up to its end; None if nothing refers to it any more.

    What might be the text is compiled, and counts only if this code comes out of it.
    """
    known = _found.setdefault(code.co_filename, [])
    for text in known:
        if _makes(text, code):
            return text.splitlines(keepends=True)
    for text in _candidates():
        if _makes(text, code):
            known.insert(0, text)
            del known[MOST_TEXTS:]
            return text.splitlines(keepends=True)
    return None


def remember(function: types.FunctionType) -> None:
    """Find the text of a function without a file while those who run it still hold it."""
    code = function.__code__
    if kept_lines(code) is None and not os.path.exists(code.co_filename):
        text_of(code)


def kept_lines(code: types.CodeType) -> list[str] | None:
    """What Python's cache of lines has of a function without a file. From 3.13 on it has what `python -c` runs, under the name EXEC."""
    kept = linecache.cache.get(code.co_filename, ())
    if len(kept) != 4 or (code.co_filename == EXEC and not _makes("".join(kept[2]), code)):
        return None
    return list(kept[2])


def _candidates() -> Iterator[str]:
    yield from sys.orig_argv[1:]
    yield from _of_standard_input()
    yield from _of_frames()
    yield from _of_the_prompt()


def _of_standard_input() -> Iterator[str]:
    """A file that the program is read from, as in ``python < program.py``; what came through a pipe is gone."""
    try:
        if stat.S_ISREG(os.fstat(0).st_mode):
            with open("/proc/self/fd/0", encoding="utf-8") as file:
                yield file.read()
    except (OSError, UnicodeDecodeError):
        return


def _of_frames() -> Iterator[str]:
    """Texts that callers hold: one of them may be in the middle of `exec(text)`."""
    frame: types.FrameType | None = sys._getframe()
    seen = 0
    while frame is not None and seen < MOST_FRAMES:
        if frame.f_globals.get("__name__", "").partition(".")[0] != "pardo":
            seen += 1
            yield from _strings(frame.f_code.co_consts)
            yield from _strings(list(frame.f_locals.values()))
            yield from _strings(list(frame.f_globals.values()))
        frame = frame.f_back


def _strings(values: Iterable[object]) -> Iterator[str]:
    return (v for v in values if type(v) is str)


def _of_the_prompt() -> Iterator[str]:
    """Statements typed at the prompt, the last one first, by the history of the line editor; it leaves out empty lines."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    lines: list[str] = []
    k = readline.get_current_history_length()
    while k > 0 and len(lines) < MOST_LINES:
        line = readline.get_history_item(k) or ""
        k -= 1
        lines.insert(0, line)
        if not line[:1].strip() or line.startswith((")", "]", "}")):
            continue  # it belongs to one above
        while (above := readline.get_history_item(k) or "").startswith("@"):
            lines.insert(0, above)
            k -= 1
        yield "\n".join(lines) + "\n"
        lines = []


def _makes(text: str, code: types.CodeType) -> bool:
    """True if compiling the text gives the code."""
    if len(text) < 3 or (code.co_name not in text and code.co_name != "<lambda>"):
        return False
    try:
        made = compile(text, code.co_filename, "exec", flags=code.co_flags & _FUTURES, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    codes = [made]
    for c in codes:
        if c.co_firstlineno == code.co_firstlineno and same(c, code):
            return True
        codes.extend(k for k in c.co_consts if isinstance(k, types.CodeType))
    return False


def same(a: types.CodeType, b: types.CodeType) -> bool:
    """True if two codes do the same, wherever they are."""
    return (
        (a.co_name, a.co_code, a.co_names, a.co_varnames, a.co_freevars, a.co_cellvars, a.co_argcount, a.co_kwonlyargcount)
        == (b.co_name, b.co_code, b.co_names, b.co_varnames, b.co_freevars, b.co_cellvars, b.co_argcount, b.co_kwonlyargcount)
    ) and _same_constants(a.co_consts, b.co_consts)


def _same_constants(a: tuple[object, ...], b: tuple[object, ...]) -> bool:
    return len(a) == len(b) and all(
        same(x, y) if isinstance(x, types.CodeType) and isinstance(y, types.CodeType) else (type(x), repr(x)) == (type(y), repr(y))
        for x, y in zip(a, b, strict=True)
    )
