# python/pardo/_kernel/byte_values.py: arrays for bytes and other buffers of integers, for lists, and for sets that are looked into.
"""Elements are Python's numbers: `data[i]` becomes `int(data[i])`. Sets become tables, or sorted arrays, in which `in` searches."""

from __future__ import annotations

import array
import ast
import copy
from collections.abc import Iterable
from typing import Any

import numpy as np
from pardo._base.promotion import kind_of
from pardo._kernel import list_values

BUFFERS = (bytes, bytearray, memoryview, array.array)
SETS = (set, frozenset)
OTHERS = BUFFERS + SETS
CONVERSIONS = {"$int": int, "$float": float, "$complex": complex, "$bool": bool}
TABLE, SORTED = "$in_table", "$in_sorted"  # what looks into a set: an array, the least element, the number of elements
NUMBER = ""  # elements are NumPy's numbers
LOAD = ast.Load()


def in_table(values: Any, item: Any) -> Any:
    """Whether a number is one of integers that lie near together, which have a flag each."""
    flags, least, _ = values
    k = item - least
    return k >= 0 and k < len(flags) and int(k) == k and flags[int(k)] != 0


def in_sorted(values: Any, item: Any) -> Any:
    """Whether a number is in a sorted array."""
    elements, low, n = values
    while n > 1:
        half = n // 2
        low = low + half if elements[low + half - 1] < item else low
        n -= half
    return n > 0 and elements[low] == item


LOOKS = {TABLE: in_table, SORTED: in_sorted}


def of_set(values: set[Any] | frozenset[Any]) -> tuple[Any, str] | None:
    """A set as what is looked into, and by which function; None if it does not hold numbers of one type that have an order."""
    if not values:
        return (np.zeros(0, np.uint8), 0, 0), TABLE
    found = list_values.contents(list(values))
    if found is None or kind_of(found[0].dtype) not in "iuf":
        return None
    elements = found[0]
    if kind_of(elements.dtype) == "f":
        return None if np.isnan(elements).any() else ((np.sort(elements), 0, len(elements)), SORTED)
    low, high = int(elements.min()), int(elements.max())
    if high - low > 8 * len(elements) + 4096 or high >= 2**62 or low <= -(2**62):
        return (np.sort(elements), 0, len(elements)), SORTED
    flags = np.zeros(high - low + 1, np.uint8)
    flags[elements - elements.dtype.type(low)] = 1
    return (flags, low, len(elements)), TABLE


def as_array(value: Any, lists: bool) -> tuple[Any, str] | None:
    """An array for a value, and what its elements are made of it; None for others. `lists`: lists and long tuples too."""
    if isinstance(value, BUFFERS):
        view = memoryview(value)
        fits = view.ndim == 1 and len(view.format) == 1 and view.format in "bBhHiIlLqQ"
        return (np.asarray(view) if len(view) else np.zeros(0, view.format), "$int") if fits else None
    if isinstance(value, SETS):
        return of_set(value)
    if lists and (type(value) is list or list_values.is_long(value)):
        found = list_values.contents(value) if value else (np.zeros(0), True)
        if found is None:
            return None
        kinds = {"i": "$int", "f": "$float", "c": "$complex", "b": "$bool"}
        return found[0], kinds[kind_of(found[0].dtype)] if found[1] else NUMBER
    return None


def container_in(names: Iterable[str], values: Iterable[Any]) -> str:
    """Why no program of a parallel loop takes these values: one is a list, a set, a dict or a tuple of these. Empty if none is."""
    written = ""
    for name, value in zip(names, values, strict=True):
        kind = type(value).__name__
        if isinstance(value, (list, *SETS)):
            if as_array(value, lists=True) is None:
                return f"`{name}` is a {kind} of what are not numbers of one type; pass an array"
            written = written or f"`{name}` is a {kind}, which parallel loops only read; write into an array"
        elif isinstance(value, dict):
            return f"`{name}` is a {kind}; pass arrays of keys and of values, or a list that small integers index"
        elif isinstance(value, tuple) and any(isinstance(v, (list, dict, *SETS)) for v in value):
            return f"`{name}` is a {kind} with lists, sets or dicts in it; pass arrays"
    return written


class _Converted(ast.NodeTransformer):
    """Makes Python's numbers of elements: `data[i]`, `for b in data`. `fits`: nothing else is done with the names but `len` and `in`."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names, self.fits = names, True

    def made_of(self, node: ast.expr) -> str | None:
        """What is made of elements, for a name; None for others."""
        return self.names.get(node.id) if isinstance(node, ast.Name) else None

    def converted(self, node: ast.expr, conversion: str) -> ast.expr:
        if conversion == NUMBER:
            return node
        return ast.copy_location(ast.Call(ast.copy_location(ast.Name(conversion, LOAD), node), [node], []), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        self.fits = self.fits and node.id not in self.names
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        conversion = self.made_of(node.value)
        if conversion is None:
            return self.generic_visit(node)
        node.slice = self.visit(node.slice)
        plain = conversion not in LOOKS and isinstance(node.ctx, ast.Load) and not isinstance(node.slice, (ast.Slice, ast.Tuple))
        self.fits = self.fits and plain
        return self.converted(node, conversion) if plain else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
        if not is_length or (conversion := self.made_of(node.args[0])) is None:
            return self.generic_visit(node)
        return (
            ast.copy_location(ast.Subscript(node.args[0], ast.copy_location(ast.Constant(2), node), LOAD), node)
            if conversion in LOOKS
            else node
        )

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.left = self.visit(node.left)
        kept = [
            isinstance(op, (ast.In, ast.NotIn)) and self.made_of(c) is not None for op, c in zip(node.ops, node.comparators, strict=True)
        ]
        node.comparators = [c if keep else self.visit(c) for keep, c in zip(kept, node.comparators, strict=True)]
        looks = [self.made_of(c) for keep, c in zip(kept, node.comparators, strict=True) if keep and self.made_of(c) in LOOKS]
        if not looks or len(node.ops) > 1:
            self.fits = self.fits and not looks
            return node
        function = ast.copy_location(ast.Name(looks[0] or "", LOAD), node)
        found: ast.expr = ast.copy_location(ast.Call(function, [node.comparators[0], node.left], []), node)
        return found if isinstance(node.ops[0], ast.In) else ast.copy_location(ast.UnaryOp(ast.Not(), found), node)

    def visit_For(self, node: ast.For) -> ast.AST:
        conversion = self.made_of(node.iter)
        if conversion is None:
            return self.generic_visit(node)
        whole = node.iter
        node.iter = ast.copy_location(ast.Constant(0), whole)
        self.generic_visit(node)
        node.iter = whole
        if isinstance(node.target, ast.Name) and conversion not in LOOKS:
            value = self.converted(ast.copy_location(ast.Name(node.target.id, LOAD), node.target), conversion)
            node.body.insert(0, ast.copy_location(ast.Assign([copy.deepcopy(node.target)], value), node.target))
        else:
            self.fits = False
        return node


def of_arrays(loop: ast.stmt, names: dict[str, str]) -> ast.stmt | None:
    """The loop with Python's numbers for the elements of these names; None if it does something else with them."""
    made = _Converted(names)
    out: ast.stmt = made.visit(copy.deepcopy(loop))
    return out if made.fits else None
