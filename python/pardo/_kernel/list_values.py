# python/pardo/_kernel/list_values.py: Python's lists of numbers in serial loops: what is done with them, what goes in, what comes back.
"""A list from before a loop goes in as an array of its elements, and what the loop has made of it comes back into the same list. One that
is only appended to goes in empty: what is in it already stays, whatever it is."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.promotion import kind_of
from pardo._compiler import liveness
from pardo._compiler.names import python_function
from pardo._kernel.parallel_loops import Scope, called

OUT = "$lists"  # the argument that tells where elements are (kernel.h)
READ, APPENDED, GROWN, CHANGED = "read", "appended to", "read and appended to", "changed"
LEAST_AGAIN, MOST_AGAIN = 256, 4096  # elements that pay to be copied for each run of a loop inside of one that Python runs
LONG = 16  # tuples that are not longer are part of a program; of lists Python goes through so few as fast
_READERS = frozenset(["len", "zip", "enumerate", "reversed", "sum", "min", "max", "any", "all"])
_REDUCERS = frozenset(["array", "asarray", "sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax", "var", "std", "median"])
_READ: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64}  # Python's numbers that the core reads
_FACTS = 3  # words for each list: address, count, type


class _Renamed(ast.NodeTransformer):
    """Gives two names of one list the first one's, and writes `v += more` as `v.extend(more)`."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name) and node.target.id in self.names.values()):
            return node
        load = ast.Load()
        called = ast.Attribute(ast.Name(node.target.id, load), "extend", load)
        made = ast.copy_location(ast.Expr(ast.Call(called, [node.value], [])), node)
        for n in ast.walk(made):
            if isinstance(n, ast.expr) and not hasattr(n, "lineno"):
                ast.copy_location(n, node)
        return made


class _Uses(ast.NodeVisitor):
    """What a loop does with names of lists."""

    def __init__(self, names: Iterable[str]) -> None:
        self.found: dict[str, set[str]] = {n: set() for n in names}

    def note(self, node: ast.AST, use: str) -> bool:
        """True for a name of a list, whose use is noted."""
        if not isinstance(node, ast.Name) or node.id not in self.found:
            return False
        self.found[node.id].add(use)
        return True

    def visit_each(self, nodes: Iterable[ast.AST]) -> None:
        for n in nodes:
            self.visit(n)

    def visit_Name(self, node: ast.Name) -> None:
        self.note(node, CHANGED)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(f := call.func, ast.Attribute)
            and f.attr in ("append", "extend")
            and self.note(f.value, APPENDED)
        ):
            self.visit_each(call.args)
        else:
            self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        reads = isinstance(node.ctx, ast.Load)
        if self.note(node.value, READ if reads else CHANGED):
            self.visit(node.slice)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        f = node.func
        of_numpy = isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id not in self.found and f.attr in _REDUCERS
        if of_numpy or (isinstance(f, ast.Name) and f.id in _READERS):
            self.visit_each(n for n in (*node.args, *node.keywords) if not self.note(n, READ))
        else:
            self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self.visit_each(n for n in ast.iter_child_nodes(node) if n is not node.iter or not self.note(n, READ))

    def visit_Compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        looks = [isinstance(op, (ast.In, ast.NotIn)) for op in node.ops]
        self.visit_each(c for c, in_it in zip(node.comparators, looks, strict=True) if not (in_it and self.note(c, READ)))


class Plan(NamedTuple):
    """A loop, and the lists that it uses; if it cannot be compiled with them, why."""

    loop: ast.stmt
    uses: dict[str, str]
    over: frozenset[str]  # those that loops go over
    straight: bool  # each element of one is looked at once
    refused: str = ""

    def too_short(self, given: dict[str, Any], others: bool) -> bool:
        """Whether Python is as fast; `others`: it uses arrays too."""
        return self.straight and not others and all(len(given[n]) <= LONG for n in self.over)

    def too_often(self, given: dict[str, Any]) -> bool:
        """Whether it does not pay inside of a loop that Python runs."""
        copied = [(n, len(given[n])) for n, use in self.uses.items() if use != APPENDED]
        return max((length for _, length in copied), default=0) < LEAST_AGAIN or any(
            length > MOST_AGAIN and n not in self.over for n, length in copied
        )


def planned(loop: ast.stmt, names: dict[str, str]) -> Plan:
    """What a loop does with lists; `names`: for each name of one the first name of the same list."""
    made = _Renamed(names).visit(copy.deepcopy(loop))
    loops = [n for n in ast.walk(made) if isinstance(n, (ast.For, ast.While, ast.comprehension))]
    over = {n.id for lp in loops if not isinstance(lp, ast.While) for n in ast.walk(lp.iter) if isinstance(n, ast.Name)} & set(names)
    straight = len(loops) == 1 and bool(over)
    if assigned := sorted(liveness.bound([made]) & set(names)):
        why = f"`{assigned[0]}` is a list, and another one in some iterations; clear it rather than make a new one"
        return Plan(made, {}, frozenset(over), straight, why)
    finder = _Uses(names.values())
    finder.visit(made)
    return Plan(made, {n: _use_of(uses) for n, uses in finder.found.items()}, frozenset(over), straight)


def _use_of(uses: set[str]) -> str:
    return CHANGED if CHANGED in uses else GROWN if len(uses) > 1 else next(iter(uses), READ)


class Given(NamedTuple):
    """A list as the compiler takes it."""

    name: str
    filled: bool
    weak: bool
    changes: bool
    grows: bool


def contents(values: Sequence[Any]) -> tuple[np.ndarray[Any, Any], bool] | None:
    """The elements as an array, and whether they are Python's numbers; None if they are not numbers of one type."""
    kind = type(values[0])
    if (dtype := _READ.get(kind)) is not None:
        elements = np.empty(len(values), dtype)
        return (elements, True) if _core._numbers_of(values, elements) else None
    if (kind is not complex and not issubclass(kind, np.generic)) or len(set(map(type, values))) > 1:
        return None
    found = np.array(values, kind)
    return (found, kind is complex) if kind_of(found.dtype) in "biufc" else None


def changes_others(scope: Scope, loop: ast.stmt, names: Container[str]) -> bool:
    """Whether a loop may change or tell what is not in these lists, so that it cannot be run again."""
    return any(_changes_other(scope, n, names) for n in ast.walk(loop))


def _changes_other(scope: Scope, node: ast.AST, names: Container[str]) -> bool:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id in names:
            return False
        value = called(scope, node)
        if value is None and isinstance(node.func, ast.Name):
            value = vars(builtins).get(node.func.id)
        return value is print or value is None or python_function(value) is not None or any(k.arg == "out" for k in node.keywords)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return False  # of arrays it is refused where they are names of the function around
    stored = isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load)
    return stored and not (isinstance(node.value, ast.Name) and node.value.id in names)  # type: ignore[attr-defined]


def is_long(value: Any) -> bool:
    """True for tuples of numbers that are passed as arrays rather than one number after the other."""
    return type(value) is tuple and len(value) > LONG and type(value[0]) in _READ


@functools.cache
def _dtypes() -> dict[int, np.dtype[Any]]:
    return {_core._dtype_number(d): d for d in map(np.dtype, "?bhilBHILefdFD")}


def put_back(lists: Iterable[tuple[list[Any], str]], out: np.ndarray[Any, Any], keep: bool) -> None:
    """Put what a loop has made of lists into them, if it is to be kept; `out`: what it has told of each."""
    for k, (values, use) in enumerate(lists):
        address, count, code = map(int, out[_FACTS * k : _FACTS * (k + 1)])
        if not address:
            continue
        dtype = _dtypes().get(code // 2) or promotion.bfloat16()
        memory = _core._taken_memory(address, count * dtype.itemsize)
        if not keep:
            continue
        elements = np.frombuffer(memory, dtype)[len(values) if use == GROWN else 0 :]
        made = elements.tolist() if code % 2 or kind_of(dtype) == "b" else list(elements)
        if use == CHANGED:
            values[:] = made
        else:
            values.extend(made)


def places(count: int) -> np.ndarray[Any, Any]:
    """What a loop writes to tell of so many lists."""
    return np.zeros(_FACTS * count, np.int64)
