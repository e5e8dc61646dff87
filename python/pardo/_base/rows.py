# python/pardo/_base/rows.py: a function for each row of src/graph/reductions.def.
from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from pardo import _core
from pardo._base.docstrings import filled
from pardo._base.public_names import as_method


class Row(NamedTuple):
    """A row, as reductions.def describes it."""

    kind: str
    name: str
    id: int
    keywords: str
    method: bool
    fold: str
    doc: str
    gives: str


ROWS = [Row._make(row) for row in _core._reduction_table()]

# What docstrings say of a fold: what it makes, what happens to elements, and what it starts with.
_WORDS = {
    "sum": {"total": "sum", "done": "added", "first": "zero"},
    "prod": {"total": "product", "done": "multiplied", "first": "one"},
}


def functions_of(kind: str, families: dict[str, Callable[[Row], Any]]) -> dict[str, FunctionType]:
    """What the rows of a kind become: each is made by the family for its keywords. Methods are attached; the core's stub has all."""
    made = {}
    for row in ROWS:
        if row.kind == kind:
            f = families[row.keywords](row)
            f.__name__ = f.__qualname__ = row.name
            f.__code__ = f.__code__.replace(co_name=row.name, co_qualname=row.name)  # for tracebacks
            if f.__doc__ and f.__doc__.endswith("\n        "):  # as deep as other docstrings; since Python 3.13 the compiler dedents
                f.__doc__ = f.__doc__.replace("\n    ", "\n")
            made[row.name] = filled(f, {"doc": row.doc, "gives": row.gives, **_WORDS.get(row.fold, {})})
            setattr(_core, row.name, f)
            if row.method:
                setattr(_core.Array, row.name, as_method(made[row.name], "Array", row.name))
    return made
