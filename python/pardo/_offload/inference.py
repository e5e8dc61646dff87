# python/pardo/_offload/inference.py: what a function does with its arrays, as its text shows it: which maps they need.
from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from pardo._compiler import liveness
from pardo._compiler.intrinsics import known
from pardo._compiler.names import path_of, python_function
from pardo._compiler.source import source_of
from pardo._compiler.translator import is_prange

NOTHING_READ = {"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides"}  # attributes that say nothing of elements
_EMPTY_LIKE = {"empty_like", "zeros_like", "ones_like"}
# Functions that only read their arguments, and whose results, or what loops over these give, may be parts of them.
_PARTS = {
    "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to", "diagonal",
    "enumerate", "expand_dims", "flip", "fliplr", "flipud", "imag", "moveaxis", "permute_dims", "ravel", "real", "reshape", "reversed",
    "rollaxis", "rot90", "squeeze", "swapaxes", "transpose", "zip",
}  # fmt: skip
Resolve = Callable[[ast.expr], Any]


class Round(NamedTuple):
    """A loop around a store: its counter, and how many iterations it has, as an expression; the loop itself."""

    counter: str
    stop: ast.expr
    loop: ast.For


class Store(NamedTuple):
    """A store that every iteration of its loops makes: for each axis the loop that goes along it, None for a whole axis."""

    line: int
    axes: tuple[Round | None, ...]
    others: tuple[Round, ...]  # loops around it that go along no axis: they must have iterations


class Use:
    """What happens to the elements of an array: lines where they are read and written, and stores that may cover all of them."""

    def __init__(self) -> None:
        self.reads: list[int] = []
        self.writes: list[int] = []
        self.stores: list[Store] = []


def function_tree(function: types.FunctionType) -> ast.FunctionDef:
    """The tree of a function."""
    node = source_of(function).node
    assert isinstance(node, ast.FunctionDef)
    return node


def resolver(function: types.FunctionType) -> Resolve:
    """Finds what a name, or a dotted name, from outside of a function stands for; None for others."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def resolve(node: ast.expr) -> Any:
        first, *rest = path_of(node) or ("",)
        if first in cells:
            try:
                value = cells[first].cell_contents
            except ValueError:
                return None
        elif first in function.__code__.co_varnames:
            return None
        else:
            builtins = function.__globals__.get("__builtins__", {})
            builtins = builtins if isinstance(builtins, dict) else vars(builtins)
            value = function.__globals__.get(first, builtins.get(first))
        for name in rest:
            value = getattr(value, name, None)
        return value

    return resolve


class Uses:
    """Walks statements and notes what happens to each name."""

    def __init__(self, statements: list[ast.stmt], resolve: Resolve, inside: frozenset[types.CodeType] = frozenset()) -> None:
        self.resolve, self.inside = resolve, inside
        self.of: dict[str, Use] = {}
        self.aliases: dict[str, set[str]] = {}  # names of parts of arrays, and of which ones they may be
        self.rounds: list[Round] = []
        self.certain = True  # what is walked now happens in every iteration of its loops
        self.bound = liveness.bound(statements)
        self.counters = {
            n.target.id: n for s in statements for n in ast.walk(s) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)
        }
        self._find_aliases(statements)
        for s in statements:
            self.statement(s)

    def _find_aliases(self, statements: list[ast.stmt]) -> None:
        for s in liveness.all_statements(statements):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, (ast.AnnAssign, ast.For)) else []
            for target in targets:
                self._alias(target, s.iter if isinstance(s, ast.For) else s.value)  # type: ignore[attr-defined]

    def _alias(self, target: ast.expr, value: ast.expr | None) -> None:
        """The names of a target may stand for parts of what they are given."""
        if isinstance(target, (ast.Tuple, ast.List)):
            pairs = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            for k, part in enumerate(target.elts):
                self._alias(part, value.elts[k] if pairs and isinstance(value, ast.Tuple) else value)
        elif isinstance(target, ast.Starred):
            self._alias(target.value, value)
        elif isinstance(target, ast.Name) and (bases := self._shared(value) - {target.id}):
            self.aliases.setdefault(target.id, set()).update(bases)

    def _shared(self, node: ast.expr | None) -> set[str]:
        """The arrays that the value of an expression may be a part of."""
        base = _base(node)
        if base is not None:
            return {base}
        if isinstance(node, ast.IfExp):
            return self._shared(node.body) | self._shared(node.orelse)
        parts: list[ast.expr] = []
        if isinstance(node, (ast.BoolOp, ast.Tuple, ast.List)):
            parts = node.values if isinstance(node, ast.BoolOp) else node.elts
        elif isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred, ast.NamedExpr)):
            parts = [] if isinstance(node, ast.Attribute) and node.attr in NOTHING_READ else [node.value]
        elif isinstance(node, ast.Call):
            called = self.resolve(node.func)
            if called is None and isinstance(node.func, ast.Attribute):
                parts = [node.func.value]  # a method
            if (
                called is None
                or not self._is_harmless(called)
                or getattr(called, "__name__", "") in {"enumerate", "zip", "reversed", *_PARTS}
            ):
                parts = [*parts, *node.args, *(key.value for key in node.keywords)]
        return set().union(*map(self._shared, parts))

    @staticmethod
    def _is_harmless(called: Any) -> bool:
        """Whether a function only reads its arguments, but for `out`."""
        return id(called) in known or called in (len, range, float, int, bool, complex, abs, min, max)

    def arrays(self, name: str) -> list[Use]:
        """What happens to what a name may stand for."""
        names = [name]
        for each in names:
            names += [base for base in sorted(self.aliases.get(each, ())) if base not in names]
        return [self.of.setdefault(each, Use()) for each in names]

    def note(self, name: str, line: int, *, read: bool = False, written: bool = False) -> None:
        """Note a use of an array."""
        for use in self.arrays(name):
            if read:
                use.reads.append(line)
            if written:
                use.writes.append(line)

    # --- statements

    def statement(self, s: ast.stmt) -> None:
        if isinstance(s, ast.For):
            self.loop(s)
        elif isinstance(s, ast.With):
            for item in s.items:
                self.expression(item.context_expr)
            self.block(s.body)
        elif isinstance(s, ast.Assign):
            first = s.targets[0].id if len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) else ""
            alias = _base(s.value) in self.aliases.get(first, ())
            if alias and not isinstance(s.value, ast.Name):
                self.indices(s.value)  # the part is read where its name is
            elif not alias:
                self.expression(s.value)
            for target in s.targets:
                self.target(target)
        elif isinstance(s, ast.AnnAssign):
            self.expression(s.value)
            if s.value is not None:
                self.target(s.target)
        elif isinstance(s, ast.AugAssign):
            self.expression(s.value)
            self.target(s.target, also_read=True)
        elif isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for name in liveness.free(s):
                self.anything(name, s.lineno)
        elif any(True for _ in liveness.blocks(s)):
            for part in ast.iter_child_nodes(s):
                if isinstance(part, ast.expr):
                    self.expression(part)
            for block in liveness.blocks(s):
                self.perhaps(block)
        else:
            for part in ast.iter_child_nodes(s):
                if isinstance(s, ast.Return) and isinstance(part, ast.Name):
                    continue  # what it gives back is the host's
                if isinstance(part, ast.expr):
                    self.expression(part)

    def block(self, statements: list[ast.stmt]) -> None:
        for s in statements:
            self.statement(s)

    def perhaps(self, statements: list[ast.stmt]) -> None:
        before, self.certain = self.certain, False
        self.block(statements)
        self.certain = before

    def loop(self, s: ast.For) -> None:
        count = self._count(s)
        for part in ast.iter_child_nodes(s.iter) if isinstance(s.iter, ast.Call) else [s.iter]:
            if isinstance(part, ast.expr):
                self.expression(part)
            elif isinstance(part, ast.keyword):
                self.expression(part.value)
        whole = not any(isinstance(n, (ast.Break, ast.Continue, ast.Return)) for n in ast.walk(s))
        if count is None or not whole or not isinstance(s.target, ast.Name):
            self.perhaps(s.body)
        else:
            self.rounds.append(Round(s.target.id, count, s))
            self.block(s.body)
            self.rounds.pop()
        self.perhaps(s.orelse)

    def _count(self, s: ast.For) -> ast.expr | None:
        """How many iterations a loop has that counts from zero by ones; None for others."""
        if not isinstance(s.iter, ast.Call):
            return None
        what, bounds = self.resolve(s.iter.func), s.iter.args
        if (what is not range and not is_prange(what)) or not bounds or len(bounds) > 3:
            return None
        numbers = [b.value if isinstance(b, ast.Constant) else None for b in bounds]
        if len(bounds) > 1 and (numbers[0] != 0 or numbers[2:] not in ([], [1])):
            return None
        return bounds[0] if len(bounds) == 1 else bounds[1]

    # --- what is assigned

    def target(self, node: ast.expr, also_read: bool = False) -> None:
        if isinstance(node, (ast.Tuple, ast.List)):
            for part in node.elts:
                self.target(part)
        elif isinstance(node, ast.Name):
            if also_read:  # in place, if it is an array
                self.anything(node.id, node.lineno)
        else:
            base = _base(node)
            if base is None:
                self.expression(node)
                return
            self.indices(node)
            self.note(base, node.lineno, read=also_read, written=True)
            if not also_read and isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and base not in self.aliases:
                store = self._store(node, base)
                if store is not None:
                    self.of[base].stores.append(store)

    def _store(self, node: ast.Subscript, base: str) -> Store | None:
        """A store into all elements, if the loops around it go along all axes; None for one that may leave some out."""
        if not self.certain or base in self.bound:
            return None
        left = list(self.rounds)
        axes: list[Round | None] = []
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None:
                axes.append(None)
                continue
            if not isinstance(part, ast.Name):
                return None
            found = next((r for r in left if r.counter == part.id), None)
            if found is None or self._rebound(found):
                return None
            left.remove(found)
            axes.append(found)
        return Store(node.lineno, tuple(axes), tuple(left))

    def _rebound(self, r: Round) -> bool:
        return r.counter in liveness.bound(r.loop.body) or self.counters.get(r.counter) is not r.loop

    # --- what is read

    def indices(self, node: ast.expr) -> None:
        """The indices of a part of an array."""
        while isinstance(node, (ast.Subscript, ast.Attribute)):
            if isinstance(node, ast.Subscript):
                self.expression(node.slice)
            node = node.value

    def anything(self, name: str, line: int) -> None:
        self.note(name, line, read=True, written=True)

    def expression(self, node: ast.AST | None) -> None:
        if node is None:
            return
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self.note(node.id, node.lineno, read=True)
        elif isinstance(node, ast.Attribute):
            base = _base(node.value)
            if node.attr in NOTHING_READ and base is not None:
                self.indices(node.value)
            elif base is not None and self.resolve(node) is None:
                self.indices(node.value)
                self.anything(base, node.lineno)  # `.T`, `.real`: parts under other names
            else:
                self.expression(node.value)
        elif isinstance(node, ast.Subscript) and _base(node) is not None:
            self.indices(node)
            self.note(str(_base(node)), node.lineno, read=True)
        elif isinstance(node, ast.Call):
            self.call(node)
        elif isinstance(node, (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.NamedExpr)):
            for n in ast.walk(node):
                if isinstance(n, ast.Name):
                    self.anything(n.id, n.lineno)
        else:
            for part in ast.iter_child_nodes(node):
                self.expression(part)

    def call(self, node: ast.Call) -> None:
        called = self.resolve(node.func)
        if called is None:
            self.expression(node.func)  # a method: `x.fill(0)`
        name = getattr(called, "__name__", "")
        harmless = called is not None and self._is_harmless(called)
        function = python_function(called) if called is not None else None
        inner = self._parameters(function, node) if function is not None else None
        keywords = [""] * len(node.args) + [key.arg or "" for key in node.keywords]
        for k, part in enumerate([*node.args, *(key.value for key in node.keywords)]):
            if harmless and inner is None and (keywords[k] == "out" or (k < len(node.args) and _is_out(called, k))):
                for each in self._shared(part):
                    self.anything(each, node.lineno)
            base = _base(part)
            if base is None:
                self.expression(part)
                continue
            self.indices(part)
            if called is len or (name in _EMPTY_LIKE and k == 0):
                continue
            read, written = (True, not harmless) if inner is None else inner[k]
            self.note(base, node.lineno, read=read, written=written)

    def _parameters(self, function: types.FunctionType, node: ast.Call) -> list[tuple[bool, bool]] | None:
        """Whether a function reads and writes each argument of a call; None if that cannot be told."""
        code = function.__code__
        if code in self.inside or len(self.inside) > 20:
            return None
        try:
            tree = function_tree(function)
        except Exception:
            return None
        names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
        wanted: list[str | None] = [*names[: len(node.args)], *(key.arg for key in node.keywords)]
        if len(node.args) > len(names) or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        uses = Uses(tree.body, resolver(function), self.inside | {code})
        found = [uses.of.get(name or "", Use()) for name in wanted]
        return [(bool(u.reads), bool(u.writes)) for u in found]


def _is_out(called: Any, k: int) -> bool:
    """Whether a function of NumPy's writes into its argument of a number."""
    if isinstance(called, np.ufunc):
        return k >= called.nin
    try:
        parameters = list(inspect.signature(called).parameters)
    except (TypeError, ValueError):  # functions in C may have none
        return False
    return k < len(parameters) and parameters[k] == "out"


def _base(node: ast.AST | None) -> str | None:
    """The name of the array of which an expression is a part: `x`, `x[i]`, `r["field"]`, `x[i].y`; None for others."""
    while isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr not in NOTHING_READ):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


# --- whether all elements are written


class Counts:
    """Evaluates how many iterations loops have, from names that have one value in a function."""

    def __init__(self, body: list[ast.stmt], parameters: set[str]) -> None:
        bound: dict[str, int] = {}
        for s in liveness.all_statements(body):
            for e in liveness.events_of(s):
                if not e.kind.startswith("read"):
                    bound[e.name] = bound.get(e.name, 0) + 1
        converted = {name for s in body for name, value in _assigned(s) if _converts(value, name)}  # `n = np.int32(n)`
        self.fixed = {p for p in parameters if p not in bound or (p in converted and bound[p] == 1)}
        self.defined: dict[str, ast.expr] = {}
        for s in body:  # what is assigned in blocks may not be
            for name, value in _assigned(s):
                if bound.get(name) == 1 and name not in parameters:
                    self.defined[name] = value
        self._codes: dict[int, tuple[ast.expr, types.CodeType | None]] = {}

    def value(self, node: ast.expr, names: dict[str, Any]) -> int | None:
        """The value of an expression at a call; None if it depends on more than can be told before."""
        kept = self._codes.get(id(node))
        if kept is None:
            made = self._inlined(node, 0)
            code = None if made is None else compile(ast.fix_missing_locations(ast.Expression(made)), "<count>", "eval")
            kept = self._codes[id(node)] = node, code
        if kept[1] is None:
            return None
        try:
            value = eval(kept[1], {"__builtins__": {}, "len": len, "min": min, "max": max, "int": int}, names)
            return int(value) if value == int(value) else None
        except Exception:
            return None

    def _inlined(self, node: ast.expr, depth: int) -> ast.expr | None:
        """An expression of what has one value at the beginning of a call; None if it is of something else."""
        if depth > 30:
            return None
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.Name):
            if node.id in self.defined:
                return self._inlined(self.defined[node.id], depth + 1)
            return ast.Name(node.id, ast.Load()) if node.id in self.fixed else None
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim"):
            value = self._inlined(node.value, depth + 1)
            return None if value is None else ast.Attribute(value, node.attr, ast.Load())
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            value, index = self._inlined(node.value, depth + 1), self._inlined(node.slice, depth + 1)
            return None if value is None or index is None else ast.Subscript(value, index, ast.Load())
        if isinstance(node, ast.BinOp):
            left, right = self._inlined(node.left, depth + 1), self._inlined(node.right, depth + 1)
            return None if left is None or right is None else ast.BinOp(left, node.op, right)
        if isinstance(node, ast.UnaryOp):
            operand = self._inlined(node.operand, depth + 1)
            return None if operand is None else ast.UnaryOp(node.op, operand)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("len", "min", "max", "int"):
            parts = [self._inlined(a, depth + 1) for a in node.args]
            return None if any(p is None for p in parts) else ast.Call(node.func, parts, [])  # type: ignore[arg-type]
        return None


def _converts(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Call) and len(value.args) == 1 and isinstance(value.args[0], ast.Name) and value.args[0].id == name


def _assigned(s: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """What a statement gives to names: also `M, N = X.shape`."""
    targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, ast.AnnAssign) and s.value is not None else []
    value: Any = getattr(s, "value", None)
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple):
            for k, part in enumerate(target.elts):
                if isinstance(part, ast.Name) and isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
                    yield part.id, value.elts[k]
                elif isinstance(part, ast.Name) and isinstance(value, ast.Attribute) and value.attr == "shape":
                    yield part.id, ast.Subscript(value, ast.Constant(k), ast.Load())


def covers(store: Store, shape: tuple[int, ...], count: Callable[[Round], int | None]) -> bool:
    """Whether a store writes all elements of an array of a shape."""
    if len(store.axes) > len(shape) or any((count(r) or 0) < 1 for r in store.others):
        return False
    return all(r is None or (count(r) or 0) >= n for r, n in zip(store.axes, shape, strict=False))


def kind_of(use: Use | None, shape: tuple[int, ...], count: Callable[[Round], int | None]) -> tuple[str, str]:
    """The map that an array needs, and why."""
    if use is None or not (use.reads or use.writes):
        return "alloc", "its elements are neither read nor written"
    if not use.writes:
        return "to", f"read at line {use.reads[0]}, never written"
    if use.reads:
        return "tofrom", f"written at line {use.writes[0]}, read at line {use.reads[0]}"
    store = next((s for s in use.stores if covers(s, shape, count)), None)
    if store is not None:
        return "from_", f"line {store.line} writes every element, and none is read"
    return "tofrom", f"written at line {use.writes[0]}, maybe not every element"
