# python/pardo/_kernel/byte_values.py: serial loops over bytes and other buffers of integers, whose elements are Python's integers.
from __future__ import annotations

import array
import ast
import copy
from typing import Any

import numpy as np

BUFFERS = (bytes, bytearray, memoryview, array.array)
INT = "$int"
LOAD = ast.Load()


def as_array(value: Any) -> np.ndarray[Any, Any] | None:
    """The memory of a buffer of integers in one dimension, where it is; None for others."""
    view = memoryview(value)
    if view.ndim != 1 or view.format not in tuple("bBhHiIlLqQ") or not len(view):
        return None
    return np.asarray(view)


class _Converted(ast.NodeTransformer):
    """Makes Python's integers of elements: `data[i]`, `for b in data`. `fits`: nothing else is done with the names but `len`."""

    def __init__(self, names: set[str]) -> None:
        self.names, self.fits = names, True

    def is_one(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.names

    def converted(self, node: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Call(ast.copy_location(ast.Name(INT, LOAD), node), [node], []), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        self.fits = self.fits and node.id not in self.names
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not self.is_one(node.value):
            return self.generic_visit(node)
        node.slice = self.visit(node.slice)
        plain = isinstance(node.ctx, ast.Load) and not isinstance(node.slice, (ast.Slice, ast.Tuple))
        self.fits = self.fits and plain
        return self.converted(node) if plain else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1 and self.is_one(node.args[0])
        return node if is_length else self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        if not self.is_one(node.iter):
            return self.generic_visit(node)
        whole = node.iter
        node.iter = ast.copy_location(ast.Constant(0), whole)
        self.generic_visit(node)
        node.iter = whole
        if isinstance(node.target, ast.Name):
            value = self.converted(ast.copy_location(ast.Name(node.target.id, LOAD), node.target))
            node.body.insert(0, ast.copy_location(ast.Assign([copy.deepcopy(node.target)], value), node.target))
        else:
            self.fits = False
        return node


def of_integers(loop: ast.stmt, names: set[str]) -> ast.stmt | None:
    """The loop with Python's integers for the elements of these names; None if it does something else with them."""
    made = _Converted(names)
    out: ast.stmt = made.visit(copy.deepcopy(loop))
    return out if made.fits else None
