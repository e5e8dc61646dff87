# python/pardo/_data/labels.py: what messages call an array: as the user wrote it, and at which line. Read when there is something to say.
from __future__ import annotations

import ast
import linecache
import os
import sys
from types import CodeType
from typing import Any, NamedTuple

from numpy.typing import NDArray


class Call(NamedTuple):
    """Where a call is: the code that makes it, and its instruction."""

    code: CodeType
    instruction: int

    @property
    def line(self) -> int:
        """The line where the call begins."""
        return self._place()[0] or self.code.co_firstlineno

    def _place(self) -> tuple[int | None, int | None, int | None, int | None]:
        for k, place in enumerate(self.code.co_positions()):
            if k == self.instruction // 2:
                return place
        return None, None, None, None

    def tree(self) -> ast.Call | None:
        """The call as it is written; None where the text is not there any more."""
        line, last, begin, end = self._place()
        if line is None or last is None or begin is None or end is None:
            return None
        lines = [text.encode() for text in linecache.getlines(self.code.co_filename)[line - 1 : last]]
        if len(lines) != last - line + 1:
            return None
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][begin:]
        try:
            node = ast.parse("(" + b"".join(lines).decode() + "\n)", mode="eval").body
        except (SyntaxError, UnicodeDecodeError):
            return None
        return node if isinstance(node, ast.Call) else None


def caller(depth: int) -> Call:
    """The call that is `depth` functions above the one that asks: 1 is its own caller."""
    frame = sys._getframe(depth + 1)
    return Call(frame.f_code, frame.f_lasti)


class Label:
    """What messages call an array of a list: ``to[0]``, with the user's words for it before, and the line."""

    def __init__(self, array: NDArray[Any], kind: str, place: int | None, call: Call | None, order: tuple[str, ...] = ()) -> None:
        self._shape, self._dtype = array.shape, array.dtype
        self._kind, self._place, self._call, self._order = kind, place, call, order

    def __str__(self) -> str:
        place = self._kind if self._place is None else f"{self._kind}[{self._place}]"
        written = self._written()
        if self._call is not None:
            place += f" at {os.path.basename(self._call.code.co_filename)}:{self._call.line}"
        return f"{f'`{written}`, ' if written else ''}{place}, {self._dtype} of shape {self._shape}"

    def _written(self) -> str:
        """What is written for the array in the call; nothing if that cannot be told."""
        call = self._call.tree() if self._call is not None else None
        if call is None or any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return ""
        if self._place is None:
            return ""
        if self._kind == "argument":
            return ast.unparse(call.args[self._place]) if self._place < len(call.args) else ""
        given = dict(zip(self._order, call.args, strict=False))
        given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
        node = given.get(self._kind)
        if isinstance(node, (ast.Tuple, ast.List)):
            plain = self._place < len(node.elts) and not any(isinstance(e, ast.Starred) for e in node.elts)
            return ast.unparse(node.elts[self._place]) if plain else ""
        return f"{ast.unparse(node)}[{self._place}]" if isinstance(node, (ast.Name, ast.Attribute)) else ""
