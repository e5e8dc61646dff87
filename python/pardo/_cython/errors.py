# python/pardo/_cython/errors.py: what is refused when a file is compiled, with its line and a caret, as Cython reports errors.
from __future__ import annotations

from typing import Any, NoReturn

from Cython.Compiler.Errors import AbortError


class RefusedError(AbortError):  # type: ignore[misc]
    """A construct that a region cannot have."""

    def __init__(self, pos: Any, message: str) -> None:
        super().__init__(message)
        self.pos, self.message = pos, message


def refuse(node: Any, message: str) -> NoReturn:
    """Refuse a node of Cython's tree."""
    raise RefusedError(node.pos if hasattr(node, "pos") else node, message)
