# python/pardo/_cython/loops.py: loops over prange: how they are left, and what variables have after them.
from __future__ import annotations

import ast
import copy
from typing import Any

from Cython.Compiler import ExprNodes, Nodes
from pardo._cython.errors import refuse
from pardo._cython.expressions import LOAD, STORE
from pardo._cython.statements import Place, Translator, children
from pardo._cython.types import Path, dtype_name, plain
from pardo._extending import liveness

_NEVER = 2**63 - 1  # where no iteration leaves a loop


class Loops(Translator):
    """Parallel loops. The first iteration that leaves one, and what it has then, are least values that iterations reduce into."""

    read_after: set[Any]  # entries of variables that are read behind the region
    returned: Any = None  # the type of the function around the region

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.reductions: dict[Any, str] = {}  # entries, and their operators
        self.results: dict[Place, str] = {}  # variables that get new values, and what these are called in the function
        self.initial: set[Place] = set()  # those whose values from outside are asked for
        self.returns: list[ast.Return] = []  # out of the region, before its end
        self.schedule: str | None = None
        self.chunk: int | None = None
        self.loop: Any = None  # the outermost one
        self.order: Any = None  # of its iterations, as an expression
        self.lasting: list[Place] = []  # what has the last iteration's values after it
        self.in_else = False  # of a loop: what is assigned there is asked for behind the region
        self.ordered = False  # whether it is left by `break`, and what is lasting has the values of that iteration

    def is_reduction(self, entry: Any) -> bool:
        return entry in self.reductions

    def lasts(self, entry: Any) -> bool:
        """Whether the value of a variable is asked for behind a loop."""
        return bool(entry in self.read_after or entry.in_closure or entry.from_closure)

    def now(self, place: Place) -> str:
        """The name of a variable outside of loops: behind one that gives it a value it is another one."""
        return self.results.get(place) or self.variable(*place)

    # --- the outermost loop

    def do_ParallelRangeNode(self, node: Any) -> Any:
        if self.depth:
            self.depth += 1
            leaves = any(True for _ in exits(node.body)) or node.else_clause is not None
            made = self.counted(node, node.target, "range" if leaves else "_prange", self.bounds(node))
            self.depth -= 1
            return made
        self._hints(node)
        self.loop = node
        every = [e for e in node.privates if not node.privates[e] and e is not node.target.entry]
        self.lasting = [place for e in dict.fromkeys([*every, *self.set_fields]) if self.lasts(e) for place in self.places(e)]
        leaving = list(exits(node.body))
        breaks = any(isinstance(n, Nodes.BreakStatNode) for n in leaving)
        returns = any(isinstance(n, Nodes.ReturnStatNode) for n in leaving)
        target_lasts = self.lasts(node.target.entry)
        self.ordered = breaks and bool(self.lasting or target_lasts or node.else_clause is not None or returns)
        bounds = self.bounds(node)
        else_clause, node.else_clause = node.else_clause, None
        before = self._order(node, bounds) if self.ordered or returns else []
        self.depth += 1
        loop = self.counted(node, node.target, "_prange", bounds)
        self.depth -= 1
        node.else_clause = else_clause
        loop.body = [*self._first(before, loop.body), *loop.body, *self._at_end()]
        if any(isinstance(n, ast.Name) and n.id == "_gone" for s in loop.body for n in ast.walk(s)):
            loop.body.insert(0, _assigned("_gone", ast.Constant(False)))
        if returns:
            before.append(_assigned("_returned", self._least(self._return_kind(), node)))
        if self.ordered:
            before.append(_assigned("_broke", self.converted(ast.Constant(_NEVER), "int64")))
        after: list[ast.stmt] = [self._return_if(breaks and self.ordered)] if returns else []
        if self.lasting or target_lasts:
            after += self._last_values(node, before, bounds, target_lasts)
        if else_clause is not None:
            self.in_else = True
            otherwise = self.block(else_clause)
            self.in_else = False
            after += [ast.If(_equal("_broke", ast.Constant(_NEVER)), otherwise or [ast.Pass()], [])] if self.ordered else otherwise
        self.lasting, self.ordered = [], False
        return [*before, loop, *after]

    def _hints(self, node: Any) -> None:
        self.schedule = node.schedule or self.schedule
        size = self.plain(node.chunksize) if node.chunksize is not None else None
        if size is not None and size.has_constant_result() and node.schedule == "dynamic":
            self.chunk = int(size.constant_result)

    def _order(self, node: Any, bounds: list[ast.expr]) -> list[ast.stmt]:
        """Numbers that grow from one iteration to the next."""
        counter = self.converted(ast.Name(self.variable(node.target.entry), LOAD), "int64")
        step = bounds[2] if len(bounds) == 3 else ast.Constant(1)
        if isinstance(step, ast.Constant) and isinstance(step.value, int):
            self.order = counter if step.value > 0 else ast.UnaryOp(ast.USub(), counter)
            self.sign: ast.expr = ast.Constant(1 if step.value > 0 else -1)
            return []
        self.sign = ast.Name("_sign", LOAD)
        self.order = ast.BinOp(counter, ast.Mult(), self.sign)
        up = ast.Compare(step, [ast.Gt()], [ast.Constant(0)])
        return [_assigned("_sign", self.converted(ast.IfExp(up, ast.Constant(1), ast.Constant(-1)), "int64"))]

    def _first(self, before: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt]:
        """What iterations may read before they assign it has at first the value from before the loop."""
        names = {self.variable(*place): place for e in self.own if e not in self.reductions for place in self.places(e)}
        body = [*body, *self._at_end()]
        apart = ElementsByName(self).applied(body)
        in_structs = {name for name, (_, path) in names.items() if path}  # of which some fields may not be assigned
        read = liveness.Flow(apart, set(), set(), counts=False).start.live & (liveness.bound(apart) | in_structs)
        made: list[ast.stmt] = []
        for name in sorted(read & names.keys()):
            entry, path = names[name]
            if dtype_name(self.kind_of(entry, path)) is None or entry is self.loop.target.entry:
                continue
            self.asks((entry, path))
            before.append(_assigned(f"_first_{name}", ast.Name(self.now((entry, path)), LOAD)))
            made.append(ast.Assign([self.current((entry, path), STORE)], ast.Name(f"_first_{name}", LOAD)))
        used = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)}
        return [*self.made_members(used), *made]

    # --- leaving it

    def _least(self, kind: Any, node: Any) -> ast.expr:
        """What a place in the order of iterations, with a number if there is one, begins with."""
        never = self.converted(ast.Constant(_NEVER), "int64")
        return never if kind is None else ast.Tuple([never, self.converted(ast.Constant(0), self._ordered_dtype(kind, node))], LOAD)

    def _ordered_dtype(self, kind: Any, node: Any) -> str:
        dtype = self.dtype(node, kind)
        if dtype.startswith("complex"):
            refuse(node, "a parallel loop on a device that is left early gives integers and floating numbers, not complex ones")
        return "int64" if dtype == "bool_" else dtype

    def _reduce(self, name: str, kind: Any, value: ast.expr | None) -> ast.stmt:
        place: ast.expr = self.order
        if value is not None:
            place = ast.Tuple([place, self.converted(value, self._ordered_dtype(kind, self.loop))], LOAD)
        return _assigned(name, ast.Call(ast.Name("min", LOAD), [ast.Name(name, LOAD), place], []))

    def _return_kind(self) -> Any:
        """The type of what `return` gives; None if that is nothing."""
        values = [n.value for n in exits(self.loop.body) if isinstance(n, Nodes.ReturnStatNode)]
        if all(v is None for v in values) or (self.returned is not None and self.returned.is_void):
            return None
        if self.returned is not None and not self.returned.is_pyobject:
            return self.returned
        kinds = [self.plain(v).type for v in values if v is not None]
        if len({str(kind) for kind in kinds}) > 1 or len(kinds) < len(values):
            refuse(self.loop, "the values that `return` gives in this loop have several types")
        return kinds[0]

    def do_ReturnStatNode(self, node: Any) -> Any:
        if not self.depth:
            value = None if node.value is None else self.plain(node.value)
            kind = value.type if value is not None and (self.returned is None or self.returned.is_pyobject) else self.returned
            return self._leaving(None if value is None or plain(kind).is_void else self.typed(value, kind))
        kind = self._return_kind()
        if kind is not None and node.value is None:
            refuse(node, "`return` without a value, in a function that returns one")
        made = [self._reduce("_returned", kind, None if kind is None else self.typed(node.value, kind))]
        return [*made, *([_assigned("_gone", ast.Constant(True)), ast.Break()] if self.loops else [ast.Continue()])]

    def _leaving(self, value: ast.expr | None) -> ast.Return:
        made = ast.Return(ast.Tuple([ast.Constant(0) if value is None else value], LOAD))
        self.returns.append(made)
        return made

    def _return_if(self, breaks: bool) -> ast.stmt:
        whole = ast.Name("_returned", LOAD)
        with_value = self._return_kind() is not None
        place = ast.Subscript(whole, ast.Constant(0), LOAD) if with_value else whole
        first = ast.Name("_broke", LOAD) if breaks else ast.Constant(_NEVER)
        return ast.If(
            ast.Compare(place, [ast.Lt()], [first]),
            [self._leaving(ast.Subscript(whole, ast.Constant(1), LOAD) if with_value else None)],
            [],
        )

    def do_BreakStatNode(self, node: Any) -> Any:
        """Out of a parallel loop it ends an iteration: which others run is left open by Cython."""
        if self.loops:
            return ast.Break()
        made = [self._reduce("_broke", None, None)] if self.ordered else []
        return [*made, *(self._kept() if self.ordered else []), ast.Continue()]

    def do_ContinueStatNode(self, node: Any) -> Any:
        return ast.Continue() if self.loops else [*self._at_end(), ast.Continue()]

    def statement(self, node: Any) -> list[ast.stmt]:
        made = super().statement(node)
        is_inner_loop = self.depth and isinstance(node, (Nodes.LoopNode, Nodes.ParallelRangeNode)) and node is not self.loop
        if is_inner_loop and any(isinstance(n, Nodes.ReturnStatNode) for n in exits(node.body)):
            made.append(self.at(node, ast.If(ast.Name("_gone", LOAD), [ast.Break() if self.loops else ast.Continue()], [])))
        return made

    # --- values of the last iteration

    def _kept(self) -> list[ast.stmt]:
        return [self._reduce(f"_at_{self.variable(*p)}", self.kind_of(*p), self.current(p)) for p in self.lasting]

    def _at_end(self) -> list[ast.stmt]:
        """In the last iteration: what names have there is added to what they have after the loop."""
        if not self.lasting:
            return []
        kept: list[ast.stmt] = self._kept() if self.ordered else []
        for place in [] if self.ordered else self.lasting:
            name = self.variable(*place)
            value = self.converted(self.current(place), dtype_name(self.kind_of(*place)) or "")
            joins = ast.BitOr() if dtype_name(self.kind_of(*place)) == "bool_" else ast.Add()
            kept.append(ast.AugAssign(ast.Name(f"_last_{name}", STORE), joins, value))
        last = ast.Compare(ast.Name(self.variable(self.loop.target.entry), LOAD), [ast.Eq()], [ast.Name("_end", LOAD)])
        return [ast.If(last, kept, [])]

    def _last_values(self, node: Any, before: list[ast.stmt], bounds: list[ast.expr], target_lasts: bool) -> list[ast.stmt]:
        """What gives names the values that the last iteration gives them, or the first one that leaves the loop."""
        before.append(_assigned("_rounds", ast.Call(ast.Name("range", LOAD), list(bounds), [])))
        last: ast.expr = ast.Subscript(ast.Name("_rounds", LOAD), ast.UnaryOp(ast.USub(), ast.Constant(1)), LOAD)
        found: list[ast.stmt] = []
        for place in self.lasting:
            name, kind = self.variable(*place), self.kind_of(*place)
            total: ast.expr
            if self.ordered:
                before.append(_assigned(f"_at_{name}", self._least(kind, node)))
                total = ast.Subscript(ast.Name(f"_at_{name}", LOAD), ast.Constant(1), LOAD)
            else:
                before.append(_assigned(f"_last_{name}", self.converted(ast.Constant(0), self.dtype(node.target, kind))))
                total = ast.Name(f"_last_{name}", LOAD)
            found.append(self._after(before, place, total))
        if self.lasting:
            before.append(_assigned("_end", ast.IfExp(ast.Name("_rounds", LOAD), last, ast.Constant(0))))
        if target_lasts:
            if self.ordered:
                left = ast.BinOp(ast.Name("_broke", LOAD), ast.Mult(), self.sign)
                last = ast.IfExp(_equal("_broke", ast.Constant(_NEVER)), last, left)
            found.append(self._after(before, (node.target.entry, ()), last))
        return [ast.If(ast.Name("_rounds", LOAD), found, [])]

    def _after(self, before: list[ast.stmt], place: Place, value: ast.expr) -> ast.stmt:
        """What gives a name its value behind the loop, under a name of its own."""
        name = self.results.get(place)
        if name is None:
            name = self.results[place] = self.unique(f"_after_{self.variable(*place)}")
            before.append(_assigned(name, ast.Name(self.variable(*place), LOAD)))
        return _assigned(name, value)

    # --- for the region

    set_fields: list[Any]  # entries of structs of which the region assigns fields

    def kind_of(self, entry: Any, path: Path) -> Any:
        """The type of a variable, or of a number in it."""
        raise NotImplementedError

    def asks(self, place: Place) -> None:
        """A variable of its own is read where it has the value from outside."""
        raise NotImplementedError


class ElementsByName(ast.NodeTransformer):
    """Names for the elements of arrays in structs, to see which are read before they are assigned; any other use reads all of them."""

    def __init__(self, loops: Loops) -> None:
        self.elements: dict[str, dict[tuple[Any, ...], str]] = {}
        for (entry, path), name in loops.members.items():
            parts = [p for _, p in loops.places(entry) if p[: len(path)] == path]
            self.elements[name] = {p[len(path) :]: loops.variable(entry, p) for p in parts}

    def applied(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements with these names."""
        return [self.visit(copy.deepcopy(s)) for s in body] if self.elements else body

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in self.elements:
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            indices = tuple(p.value if isinstance(p, ast.Constant) else None for p in parts)
            if indices in self.elements[node.value.id]:
                return ast.Name(self.elements[node.value.id][indices], node.ctx)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        elements = self.elements.get(node.id)
        return node if elements is None else ast.Tuple([ast.Name(e, LOAD) for e in elements.values()], LOAD)


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, STORE)], value)


def _equal(name: str, value: ast.expr) -> ast.expr:
    return ast.Compare(ast.Name(name, LOAD), [ast.Eq()], [value])


def exits(node: Any) -> Any:
    """`break` and `return` that leave the loop whose body this is."""
    if isinstance(node, (Nodes.ReturnStatNode, Nodes.BreakStatNode)):
        yield node
    elif isinstance(node, (Nodes.LoopNode, Nodes.ParallelRangeNode)):
        yield from (n for n in exits(node.body) if isinstance(n, Nodes.ReturnStatNode))
        if node.else_clause is not None:
            yield from exits(node.else_clause)
    else:
        for child in children(node):
            if not isinstance(child, ExprNodes.ExprNode):
                yield from exits(child)
