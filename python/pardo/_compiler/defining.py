# python/pardo/_compiler/defining.py: functions from trees, with the globals and the cells of other functions.
from __future__ import annotations

import ast
import types
from typing import Any


class _Mangled(ast.NodeTransformer):
    """Gives private names of a method, as `self.__x`, the form that Python gives them inside of the class."""

    def __init__(self, function: types.FunctionType) -> None:
        owners = function.__qualname__.split(".")
        self.owner = owners[-2].lstrip("_") if len(owners) > 1 and owners[-2] != "<locals>" else ""

    def mangled(self, name: str) -> str:
        return f"_{self.owner}{name}" if self.owner and name.startswith("__") and not name.endswith("__") else name

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self.mangled(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.mangled(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.mangled(node.arg)
        return node


def defined(function: types.FunctionType, file: str, node: ast.FunctionDef, given: dict[str, Any] | None = None) -> types.FunctionType:
    """A function from a tree, with the globals and the cells of another one, and more names that are given."""
    free, name = function.__code__.co_freevars, node.name
    _Mangled(function).visit(node)
    node.name = "$" + name  # its own name stays that of the global or of the cell
    cells = {n: types.CellType(value) for n, value in (given or {}).items()}
    cells.update(zip(free, function.__closure__ or (), strict=True))
    factory_arguments = ast.arguments([], [ast.arg(n) for n in cells], None, [], [], None, [])
    factory = ast.FunctionDef("$factory", factory_arguments, [node], [], None, None)
    module = ast.fix_missing_locations(ast.copy_location(ast.Module([factory], []), node))
    code = compile(module, file, "exec")
    outer = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    made = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name)
    made = made.replace(co_name=function.__name__, co_qualname=function.__qualname__)
    return types.FunctionType(made, function.__globals__, function.__name__, None, tuple(cells[n] for n in made.co_freevars))
