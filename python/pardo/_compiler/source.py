# python/pardo/_compiler/source.py: where a function's text is, its syntax tree, and errors that point into it.
from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
import tokenize
import types
import warnings
from collections.abc import Callable
from typing import NamedTuple

from pardo._base.forks import held_lock
from pardo._compiler import source_search


class Source(NamedTuple):
    """Where a function is, and its syntax tree with the file's own line numbers."""

    name: str
    file: str
    first_line: int
    lines: list[str]
    node: ast.FunctionDef | ast.Lambda

    @property
    def shown_file(self) -> str:
        return shown(self.file)


def shown(file: str) -> str:
    """The path of a file in UTF-8, which messages and the core take: other bytes, which names of files may hold, as Python shows them."""
    return file.encode("utf-8", "backslashreplace").decode("utf-8")


def problem(kind: type[Exception], source: Source, node: ast.AST, message: str) -> Exception:
    """An exception with the user's line and a caret under the expression."""
    line = getattr(node, "lineno", source.first_line)
    column = getattr(node, "col_offset", 0)
    text = f'{source.name}: {message}\n  File "{source.shown_file}", line {line}, in {source.name}'
    at = line - source.first_line
    if 0 <= at < len(source.lines):
        code = source.lines[at].rstrip("\n")
        indent = len(code) - len(code.lstrip())
        end = getattr(node, "end_col_offset", column + 1) if getattr(node, "end_lineno", line) == line else len(code)
        text += f"\n    {code.lstrip()}\n    {' ' * (column - indent)}{'^' * max(1, min(end, len(code)) - column)}"
    return kind(text)


given: dict[types.CodeType, Callable[[], Source]] = {}  # of functions that no text of Python has made


def source_of(function: types.FunctionType) -> Source:
    """Find a function's text and its syntax tree."""
    code, name = function.__code__, function.__name__
    if code in given:
        return given[code]()
    if code.co_name == "<lambda>":
        return _lambda_of(code, _text_of(code, name)[0])
    first = code.co_firstlineno
    lines = _lines_with_code(function)
    node = _definition(lines, first) if lines else None
    if node is None:
        lines, first = _text_of(code, name)
        node = _definition(lines, first)
    if node is None or not _is_text_of(node, code):
        raise _changed(name, code.co_filename)
    return Source(name, code.co_filename, first, [line.rstrip("\n") for line in lines], node)


def _is_text_of(node: ast.FunctionDef, code: types.CodeType) -> bool:
    """False for the text of another function: its file has changed since it was loaded."""
    a = node.args
    parameters = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p]
    count = code.co_argcount + code.co_kwonlyargcount + bool(a.vararg) + bool(a.kwarg)
    return node.name in (code.co_name, code.co_qualname.rpartition(".")[2]) and tuple(parameters) == code.co_varnames[:count]


def _definition(lines: list[str], first: int) -> ast.FunctionDef | None:
    """The tree of a function with the file's own line numbers; nothing if these lines are not a whole definition."""
    text = "".join(lines)
    # An indented one is put into a block of its own: so its lines, comments among them, stay where they are.
    indented = text[:1].isspace()
    above = first - 1 - indented
    try:
        tree = _parsed("\n" * above + ("if 1:\n" if indented else "") + text)
    except SyntaxError:
        return None
    node = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), None)
    if node is not None and above < 0:
        ast.increment_lineno(node, above)
    return node


def _lines_with_code(function: types.FunctionType) -> list[str]:
    """The lines from a function's first to its last that has code: `inspect` reads them token by token, which takes a millisecond.

    Nothing where Python has not kept where its code is, or leaves out some (-O).
    """
    code = function.__code__
    if sys.flags.optimize or not os.path.exists(code.co_filename):
        return []
    last, codes = 0, [code]
    for c in codes:
        last = max(last, *(end or 0 for _, end, _, _ in c.co_positions()))
        codes.extend(k for k in c.co_consts if isinstance(k, types.CodeType))
    linecache.checkcache(code.co_filename)
    return linecache.getlines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 : last]


def whole_text(code: types.CodeType, name: str) -> list[str]:
    """All lines of the file that a function is in, or of what it has in place of one."""
    file = code.co_filename
    if os.path.exists(file):
        lines = _found_by_inspect(code)
    else:
        lines = source_search.kept_lines(code)  # Python drops it unless it comes from a loader; it may be the only text there is
        lines = lines or (None if file == source_search.EXEC else _found_by_inspect(code)) or source_search.text_of(code)
    if lines is None:
        raise TypeError(f"{name}: the text of this function cannot be found, and kernels are made from it; {_advice(file)}")
    return lines


def _found_by_inspect(code: types.CodeType) -> list[str] | None:
    try:
        return inspect.findsource(code)[0]
    except (OSError, TypeError, IndexError):
        return None


def _advice(file: str) -> str:
    """What to do where Python has not kept the text of a function."""
    if file == "<stdin>":
        return "Python does not keep the text of a program that comes through a pipe: save it into a file, and run `python file.py`"
    if file == "<dynamic-code>":  # cloudpickle's: joblib and Dask send functions by it
        return (
            "cloudpickle, by which joblib and Dask send functions to other processes, drops the texts of functions inside of the one that "
            "is sent: decorate it outside of that function, in a module or at the top of the program; then its text is sent with it"
        )
    if getattr(sys, "frozen", False):  # PyInstaller's
        return (
            "a frozen program has no texts unless it is told to: define the function in a module, and write "
            "module_collection_mode={'module': 'pyz+py'} into the call of Analysis in the .spec file"
        )
    return (
        "define it in a file or a cell of a notebook. The text of what exec made is gone when nothing refers to it any more: write it to a "
        f"file, or put it into linecache.cache[{file!r}]"
    )


def _text_of(code: types.CodeType, name: str) -> tuple[list[str], int]:
    """The lines of a function, and the number of the first; of a lambda, all lines of its file."""
    lines = whole_text(code, name)
    if code.co_name == "<lambda>":
        return lines, 1
    try:
        return inspect.getblock(lines[code.co_firstlineno - 1 :]), code.co_firstlineno
    except (tokenize.TokenError, IndentationError, IndexError):
        raise _changed(name, code.co_filename) from None


def _changed(name: str, file: str) -> TypeError:
    return TypeError(f"{name}: what {file} holds now is not the text that this function was made from; load it again")


_parsing = held_lock()


def _parsed(text: str) -> ast.Module:
    """The tree of a text. CPython before 3.11.5 counts its depth for all threads together, and raises SystemError when they meet."""
    with _parsing:
        return ast.parse(text)


def _lambda_of(code: types.CodeType, lines: list[str]) -> Source:
    """The one of a file's lambdas whose code this is."""
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    places = [p for p in code.co_positions() if None not in p and p[3] != 0]
    found = [
        n
        for n in ast.walk(_parsed("".join(lines)))
        if isinstance(n, ast.Lambda)
        and n.lineno == code.co_firstlineno
        and tuple(a.arg for a in (*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs)) == arguments
        and all(
            (n.body.lineno, n.body.col_offset) <= (p[0], p[2]) and (p[1], p[3]) <= (n.body.end_lineno, n.body.end_col_offset)
            for p in places
        )
    ]
    if not found or (len(found) > 1 and not places):
        raise TypeError("the text of this lambda cannot be found; define a function with a name")
    best = min(found, key=lambda n: len(ast.unparse(n)))
    return Source("<lambda>", code.co_filename, 1, [line.rstrip("\n") for line in lines], best)


def lambda_inside(function: types.FunctionType, node: ast.Lambda) -> types.CodeType | None:
    """The code of a lambda in a function; None where it cannot be told from others of its line."""
    for code in function.__code__.co_consts:
        if not isinstance(code, types.CodeType) or code.co_name != "<lambda>" or code.co_firstlineno != node.lineno:
            continue
        found = _lambda_of(code, _text_of(code, "<lambda>")[0]).node
        if (found.lineno, found.col_offset) == (node.lineno, node.col_offset):
            return code
    return None


def warn_at(source: Source, line: int, message: str) -> None:
    """A RuntimeWarning at a line of the user's function."""
    warnings.warn_explicit(message, RuntimeWarning, source.shown_file, line)
