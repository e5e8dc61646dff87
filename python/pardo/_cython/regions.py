# python/pardo/_cython/regions.py: parallel sections of Cython's typed tree -> functions with loops of pardo, and what these take and give.
from __future__ import annotations

import ast
from typing import Any, NamedTuple

from Cython.Compiler import ExprNodes, Nodes
from pardo._cython.errors import refuse
from pardo._cython.expressions import LOAD, STORE, Expressions, operator_of
from pardo._cython.types import dtype_name, plain


class FoundFunction(NamedTuple):
    """A C function with its body."""

    node: Any
    directives: dict[str, Any]


class Translator(Expressions):
    """Statements of a function of C."""

    def __init__(self, functions: dict[str, FoundFunction], directives: dict[str, Any]) -> None:
        super().__init__()
        self.functions, self.directives = functions, dict(directives)
        self.made: list[ast.FunctionDef] = []  # functions that it calls, before those that call them
        self.loops = 0  # serial ones around what is translated
        self.own: dict[Any, str] = {}  # entries of its variables
        self.counters: set[Any] = set()
        self.under_way: tuple[str, ...] = ()

    def is_counter(self, node: Any) -> bool:
        return node.entry in self.counters

    # --- names

    def variable(self, entry: Any) -> str:
        """The name of one of its variables."""
        if entry not in self.own:
            self.own[entry] = str(entry.name)
        return self.own[entry]

    def name(self, node: Any) -> ast.expr:
        if node.has_constant_result() and isinstance(node.constant_result, (int, float)):
            return ast.Constant(node.constant_result)
        entry = node.entry
        if entry is not None and entry in self.own:
            return ast.Name(self.own[entry], LOAD)
        constant = getattr(entry, "enum_int_value", None)
        if constant is not None:
            return ast.Constant(int(constant))
        return self.outside(node)

    def outside(self, node: Any) -> ast.expr:
        """A variable from outside."""
        return refuse(node, f"`{getattr(node, 'name', node)}` is not a variable of this function, and is not given to it")

    # --- calls

    def call(self, node: Any, function: Any, arguments: list[Any]) -> ast.expr:
        entry = function.entry
        c_name = str(entry.cname)
        if c_name not in self.functions:
            refuse(node, f"`{entry.name}` has no body in this file: a region on a device cannot call it")
        if c_name in self.under_way:
            refuse(node, f"`{entry.name}` calls itself, which a region on a device cannot do")
        name = f"_f_{c_name}"
        if not any(f.name == name for f in self.made):
            self.callee(name, c_name, self.functions[c_name])
        made = []
        for argument, formal in zip(arguments, entry.type.args, strict=True):
            if formal.type.is_memoryviewslice:
                made.append(self.array(argument))
            else:
                made.append(self.typed(argument, formal.type))
        return ast.Call(ast.Name(name, LOAD), made, [])

    def callee(self, name: str, c_name: str, found: FoundFunction) -> None:
        """Translate a function that is called."""
        node = found.node
        inner = Callee(self.functions, found.directives)
        inner.under_way = (*self.under_way, c_name)
        inner.made = self.made
        inner.returns = node.return_type
        scope = node.local_scope
        parameters = []
        for formal in node.entry.type.args:
            entry = scope.lookup_here(formal.name)
            parameters.append(inner.variable(entry))
        arrays: list[ast.stmt] = []
        for entry in scope.entries.values():
            if entry.is_variable and entry not in inner.own and not entry.type.is_pyobject:
                inner.variable(entry)
                if entry.type.is_array and dtype_name(entry.type.base_type) is not None:
                    dtype = ast.Attribute(ast.Name("_np", LOAD), dtype_name(entry.type.base_type) or "", LOAD)
                    memory = ast.Call(ast.Attribute(ast.Name("_np", LOAD), "empty", LOAD), [ast.Constant(int(entry.type.size)), dtype], [])
                    arrays.append(ast.Assign([ast.Name(inner.variable(entry), STORE)], memory))
        body = [*arrays, *(inner.block(node.body) or [ast.Pass()])]
        self.checks = max(self.checks, inner.checks)
        arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
        made = ast.FunctionDef(name, arguments, body, [], None, None)
        self.made.append(self.at(node, made))

    # --- statements

    def block(self, node: Any) -> list[ast.stmt]:
        """Statements."""
        return self.statement(node)

    def statement(self, node: Any) -> list[ast.stmt]:
        if node is None:
            return []
        for kind in type(node).__mro__:
            method = getattr(self, "do_" + kind.__name__, None)
            if method is not None:
                made = method(node)
                made = made if isinstance(made, list) else [made]
                return [self.at(node, s) if not hasattr(s, "lineno") else s for s in made]
        return refuse(node, f"{_statement(node)} cannot be in a region on a device")

    def do_StatListNode(self, node: Any) -> Any:
        return [s for stat in node.stats for s in self.statement(stat)]

    def do_LetNode(self, node: Any) -> Any:
        reference = node.lazy_temp
        self.known[id(reference)] = self.index(reference.expression)
        return self.statement(node.body)

    def do_PassStatNode(self, node: Any) -> Any:
        return []

    def do_CVarDefNode(self, node: Any) -> Any:
        return []

    def do_CompilerDirectivesNode(self, node: Any) -> Any:
        before, self.directives = self.directives, dict(node.directives)
        made = self.statement(node.body)
        self.directives = before
        return made

    def do_GILStatNode(self, node: Any) -> Any:
        if node.state == "gil":
            refuse(node, "`with gil` cannot be in a region on a device")
        return self.statement(node.body)

    def do_ExprStatNode(self, node: Any) -> Any:
        expr = self.plain(node.expr)
        if isinstance(expr, ExprNodes.SimpleCallNode) and not expr.type.is_pyobject:
            return ast.Expr(self.at(expr, self.of_SimpleCallNode(expr)))
        if expr.is_literal or isinstance(expr, ExprNodes.NoneNode):
            return []
        return refuse(node, "an expression whose value is not used cannot be in a region on a device")

    def do_SingleAssignmentNode(self, node: Any) -> Any:
        return self.assigned(node, node.lhs, node.rhs)

    def do_CascadedAssignmentNode(self, node: Any) -> Any:
        values = getattr(node, "coerced_values", None) or [node.rhs] * len(node.lhs_list)
        return [s for lhs, rhs in zip(node.lhs_list, values, strict=True) for s in [self.assigned(node, lhs, rhs)]]

    def do_MemoryCopyNode(self, node: Any) -> Any:
        return refuse(node, "a whole part of an array cannot be assigned in a region on a device; write the loop")

    def assigned(self, node: Any, lhs: Any, rhs: Any) -> ast.stmt:
        """One assignment."""
        lhs = self.plain(lhs)
        if type(lhs).__name__.startswith("MemoryCopy") or lhs.type.is_memoryviewslice:
            refuse(node, "a memoryview, or a whole part of one, cannot be assigned in a region on a device; write the loop")
        return ast.Assign([self.target(lhs)], self.typed(rhs, lhs.type))

    def target(self, lhs: Any) -> ast.expr:
        """What is assigned."""
        if isinstance(lhs, ExprNodes.NameNode):
            self.dtype(lhs)
            if lhs.entry.is_cglobal or lhs.entry.is_pyglobal:
                refuse(lhs, f"`{lhs.name}` is a variable of the module, which a region on a device cannot change")
            return self.at(lhs, ast.Name(self.variable(lhs.entry), STORE))
        made = self.value(lhs)
        if not isinstance(made, ast.Subscript):
            refuse(lhs, "this cannot be assigned in a region on a device")
        made.ctx = STORE
        return made

    def do_InPlaceAssignmentNode(self, node: Any) -> Any:
        lhs = self.plain(node.lhs)
        if isinstance(lhs, ExprNodes.NameNode) and self.is_reduction(lhs.entry):
            value, sign = self.typed(node.rhs, lhs.type), node.operator
            if sign == "-":
                value, sign = self.at(node, ast.UnaryOp(ast.USub(), value)), "+"
            name = ast.Name(self.variable(lhs.entry), STORE)
            return ast.AugAssign(self.at(lhs, name), operator_of(sign), value)
        return ast.Assign([self.target(lhs)], self.typed(node.pardo_value, lhs.type))

    def is_reduction(self, entry: Any) -> bool:
        """Whether a name gets the sum of what iterations add to it."""
        return False

    def do_IfStatNode(self, node: Any) -> Any:
        made = self.block(node.else_clause) if node.else_clause is not None else []
        for clause in reversed(node.if_clauses):
            made = [self.at(clause, ast.If(self.truth(clause.condition), self.block(clause.body) or [ast.Pass()], made))]
        return made

    def do_WhileStatNode(self, node: Any) -> Any:
        otherwise = self.block(node.else_clause) if node.else_clause is not None else []
        test = self.truth(node.condition) if node.condition is not None else ast.Constant(True)
        self.loops += 1
        body = self.block(node.body) or [ast.Pass()]
        self.loops -= 1
        return ast.While(test, body, otherwise)

    def do_BreakStatNode(self, node: Any) -> Any:
        return ast.Break()

    def do_ContinueStatNode(self, node: Any) -> Any:
        return ast.Continue()

    def do_ReturnStatNode(self, node: Any) -> Any:
        return refuse(node, "`return` cannot be in a parallel section on a device")

    def do_ForFromStatNode(self, node: Any) -> Any:
        target = self.plain(node.target)
        if not isinstance(target, ExprNodes.NameNode):
            target = self.plain(node.loopvar_node)
        step: ast.expr | None = None if node.step is None else self.index(node.step)
        up = node.relation1[0] == "<"
        first, last = self.index(node.bound1), self.index(node.bound2)
        one = 1 if up else -1
        if len(node.relation1) == 1:
            first = _plus(first, one)
        if len(node.relation2) == 2:
            last = _plus(last, one)
        bounds = [first, last] if not (isinstance(first, ast.Constant) and first.value == 0 and step is None and up) else [last]
        if step is not None or not up:
            step = ast.Constant(1) if step is None else step
            bounds.append(step if up else ast.UnaryOp(ast.USub(), step))
        return self.counted(node, target, "range", bounds)

    def counted(self, node: Any, target: Any, over: str, bounds: list[ast.expr]) -> ast.stmt:
        """A loop over numbers."""
        self.dtype(target)
        name = self.variable(target.entry)
        self.counters.add(target.entry)
        iterations = self.at(node, ast.Call(ast.Name(over, LOAD), bounds, []))
        serial = over == "range" or not isinstance(self, Region) or self.depth > 1
        self.loops += serial
        body = self.block(node.body) or [ast.Pass()]
        self.loops -= serial
        otherwise = self.block(node.else_clause) if getattr(node, "else_clause", None) is not None else []
        return ast.For(self.at(target, ast.Name(name, STORE)), iterations, body, otherwise)

    def do_ParallelRangeNode(self, node: Any) -> Any:
        return self.counted(node, node.target, "_prange", self.bounds(node))

    def bounds(self, node: Any) -> list[ast.expr]:
        """What `prange` is over."""
        parts = [None if p is None else self.index(p) for p in (node.start, node.stop, node.step)]
        if parts[0] is None and parts[2] is None:
            return [p for p in parts if p is not None]
        start: ast.expr = parts[0] if parts[0] is not None else self.at(node, ast.Constant(0))
        assert parts[1] is not None
        return [start, parts[1], *([parts[2]] if parts[2] is not None else [])]

    def do_ParallelWithBlockNode(self, node: Any) -> Any:
        return refuse(node, "a parallel section in a region on a device")


class Callee(Translator):
    """A function that a region calls."""

    returns: Any = None

    def do_ReturnStatNode(self, node: Any) -> Any:
        if node.value is None or self.returns.is_void:
            return ast.Return(None)
        return ast.Return(self.typed(node.value, self.returns))


class Region(Translator):
    """A parallel section, or a loop over `prange`, as a function."""

    def __init__(
        self,
        functions: dict[str, FoundFunction],
        directives: dict[str, Any],
        node: Any,
        read_after: set[Any],
        sections: dict[str, str],
    ) -> None:
        super().__init__(functions, directives)
        self.sections = sections  # of pointers
        self.given: dict[str, str] = {}  # expressions for parameters that are no variables
        self.node, self.read_after = node, read_after
        self.captured: dict[str, Any] = {}  # the text of what is taken from outside -> its node
        self.parameters: dict[str, str] = {}  # that text -> the name of the parameter
        self.reductions: dict[Any, str] = {}
        self.results: dict[Any, str] = {}  # entries that get new values, and what these are called in the function
        self.initial: dict[Any, str] = {}  # entries whose values from outside are asked for
        self.set_before: set[Any] = set()  # those that the section itself assigns, outside of its loops
        self.schedule: str | None = None
        self.depth = 0
        self.target_entry: Any = None
        self.lasting: list[Any] = []  # names that have the last iteration's values after the loop
        if directives.get("overflowcheck"):
            refuse(node, "overflowcheck=True cannot hold in a region on a device")

    def outside(self, node: Any) -> ast.expr:
        text = _text_of(node)
        if not text:
            refuse(node, "this cannot be taken into a region on a device")
        if node.type.is_ptr or node.type.is_array:
            self.pointer(node, text)
        elif not _is_array(node.type):
            self.dtype(node)
        name = self.parameters.setdefault(text, text.replace(".", "_"))
        self.captured.setdefault(text, node)
        return ast.Name(name, LOAD)

    def pointer(self, node: Any, text: str) -> None:
        """Memory of C that is given as a memoryview."""
        kind, size = plain(node.type).base_type, self.sections.get(text, "")
        if dtype_name(kind) is None:
            refuse(node, f"`{text}` points to `{kind}`, of which a region on a device has no arrays")
        if node.type.is_array and not size:
            size = str(node.type.size)
        if not size:
            refuse(node, f"`{text}` is a pointer: say how many elements it has, device={{{text}[0:n]: 'to'}}")
        first = f"&{text}[0]" if node.type.is_array else text
        self.given[text] = f"<{kind.empty_declaration_code() if kind.is_typedef else kind}[:{size}]>{first}"

    def name(self, node: Any) -> ast.expr:
        entry = node.entry
        if not self.depth and entry in self.own and entry not in self.set_before and not node.has_constant_result():
            self.initial[entry] = self.variable(entry)  # a variable that iterations assign, where it still has its value from outside
        return super().name(node)

    def target(self, lhs: Any) -> ast.expr:
        made = super().target(lhs)
        if not self.depth and isinstance(lhs, ExprNodes.NameNode):
            self.set_before.add(lhs.entry)
        return made

    def is_reduction(self, entry: Any) -> bool:
        return entry in self.reductions

    def function(self, name: str) -> ast.FunctionDef:
        """The whole of it."""
        node = self.node
        for inner in _parallel_nodes(node):
            for entry, operation in inner.privates.items():
                self.variable(entry)
                if operation:
                    self.reductions[entry] = operation
            for entry in inner.assignments:
                self.variable(entry)
        body = self.statement(node.body) if isinstance(node, Nodes.ParallelWithBlockNode) else self.statement(node)
        self.results.update({e: self.variable(e) for e in self.reductions})
        before: list[ast.stmt] = []
        needed = {self.variable(e): e for e in self.asked()}
        for text, parameter in self.parameters.items():
            kind = self.captured[text].type
            if not (_is_array(kind) or text in self.given):
                before.append(self._conversion(parameter, kind))
        for parameter, entry in needed.items():
            before.append(self._conversion(parameter, entry.type))
        given: list[ast.expr] = [ast.Name(name, LOAD) for name in self.results.values()]
        last = ast.Return(ast.Tuple(given, LOAD)) if given else None
        names = [*self.parameters.values(), *needed]
        arguments = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
        statements = [*before, *body, *([last] if last else [])]
        made: ast.FunctionDef = self.at(node, ast.FunctionDef(name, arguments, statements or [ast.Pass()], [], None, None))
        return made

    def asked(self) -> list[Any]:
        """Entries of variables of its own that are given with the values which they have outside."""
        return list(dict.fromkeys([*self.reductions, *self.results, *self.initial]))

    def _conversion(self, name: str, kind: Any) -> ast.stmt:
        return ast.Assign([ast.Name(name, STORE)], self.converted(ast.Name(name, LOAD), dtype_name(kind) or "float64"))

    def do_ParallelRangeNode(self, node: Any) -> Any:
        if self.depth:
            for inner in _own_exits(node.body):
                if isinstance(inner, Nodes.ReturnStatNode):
                    refuse(inner, "`return` cannot leave a parallel loop on a device: its iterations run in any order")
            self.depth += 1
            made = super().do_ParallelRangeNode(node)
            self.depth -= 1
            return made
        self.schedule = node.schedule or self.schedule
        self.lasting = [e for e in node.privates if not node.privates[e] and e in self.read_after and e is not node.target.entry]
        for inner in _own_exits(node.body):
            if (
                isinstance(inner, Nodes.ReturnStatNode)
                or node.else_clause is not None
                or self.lasting
                or node.target.entry in self.read_after
            ):
                refuse(inner, f"{_statement(inner)} cannot leave a parallel loop on a device: its iterations run in any order")
        self.target_entry = node.target.entry
        bounds = self.bounds(node)
        self.depth += 1
        loop = self.counted(node, node.target, "_prange", bounds)
        self.depth -= 1
        if not self.lasting and node.target.entry not in self.read_after:
            return loop
        return self._with_last_values(node, loop)

    def do_BreakStatNode(self, node: Any) -> Any:
        """Out of a parallel loop it ends an iteration: which others run is left open by Cython."""
        return ast.Break() if self.loops else ast.Continue()

    def do_ContinueStatNode(self, node: Any) -> Any:
        return [self._sums(), ast.Continue()] if self.lasting and not self.loops else ast.Continue()

    def _sums(self) -> ast.stmt:
        """In the last iteration: what names have there is added to what they have after the loop."""
        sums: list[ast.stmt] = []
        for entry in self.lasting:
            name = self.variable(entry)
            value = self.converted(ast.Name(name, LOAD), dtype_name(entry.type) or "")
            sums.append(ast.AugAssign(ast.Name(f"_last_{name}", STORE), ast.Add(), value))
        last = ast.Compare(ast.Name(self.variable(self.target_entry), LOAD), [ast.Eq()], [ast.Name("_end", LOAD)])
        return ast.If(last, sums, [])

    def _with_last_values(self, node: Any, loop: Any) -> list[ast.stmt]:
        """The loop, after which names have the values that the last iteration gives them: sums to which it alone adds."""
        rounds = ast.Call(ast.Name("range", LOAD), list(loop.iter.args), [])
        last = ast.Subscript(ast.Name("_rounds", LOAD), ast.UnaryOp(ast.USub(), ast.Constant(1)), LOAD)
        made: list[ast.stmt] = [ast.Assign([ast.Name("_rounds", STORE)], rounds)]
        found: list[ast.stmt] = []
        for entry in self.lasting:
            total = f"_last_{self.variable(entry)}"
            zero = self.converted(ast.Constant(0), self.dtype(node.target, entry.type))
            made.append(ast.Assign([ast.Name(total, STORE)], zero))
            found.append(self._after(made, entry, ast.Name(total, LOAD)))
        if self.lasting:
            made.append(ast.Assign([ast.Name("_end", STORE)], ast.IfExp(ast.Name("_rounds", LOAD), last, ast.Constant(0))))
            loop.body.append(self._sums())
        if node.target.entry in self.read_after:
            found.append(self._after(made, node.target.entry, last))
        return [*made, loop, ast.If(ast.Name("_rounds", LOAD), found, [])]

    def _after(self, before: list[ast.stmt], entry: Any, value: ast.expr) -> ast.stmt:
        """What gives a name its value behind the loop, under a name of its own."""
        name = f"_after_{self.variable(entry)}"
        before.append(ast.Assign([ast.Name(name, STORE)], ast.Name(self.variable(entry), LOAD)))
        self.results[entry] = name
        return ast.Assign([ast.Name(name, STORE)], value)


def _is_array(kind: Any) -> bool:
    return bool(kind.is_memoryviewslice or kind.is_buffer)


def _text_of(node: Any) -> str:
    parts = []
    while isinstance(node, ExprNodes.AttributeNode):
        parts.append(str(node.attribute))
        node = node.obj
        while type(node).__name__ in ("NoneCheckNode", "CloneNode", "ProxyNode"):
            node = node.arg
    return ".".join([str(node.name), *reversed(parts)]) if isinstance(node, ExprNodes.NameNode) else ""


def _plus(value: ast.expr, number: int) -> ast.expr:
    if isinstance(value, ast.Constant) and isinstance(value.value, int):
        return ast.Constant(value.value + number)
    return ast.BinOp(value, ast.Add() if number > 0 else ast.Sub(), ast.Constant(1))


def children(node: Any) -> Any:
    """The nodes below a node."""
    for attribute in getattr(node, "child_attrs", None) or ():
        child = getattr(node, attribute, None)
        for each in child if isinstance(child, list) else [child]:
            if each is not None:
                yield each


def _parallel_nodes(node: Any) -> Any:
    if isinstance(node, Nodes.ParallelStatNode):
        yield node
    for child in children(node):
        yield from _parallel_nodes(child)


def _own_exits(node: Any) -> Any:
    """`break` and `return` that would leave the loop whose body this is."""
    if isinstance(node, (Nodes.ReturnStatNode, Nodes.BreakStatNode)):
        yield node
    elif isinstance(node, Nodes.LoopNode):
        yield from (n for n in _own_exits(node.body) if isinstance(n, Nodes.ReturnStatNode))
    else:
        for child in children(node):
            if isinstance(child, (Nodes.StatNode, Nodes.IfClauseNode)):
                yield from _own_exits(child)


def _statement(node: Any) -> str:
    names = {
        "TryExceptStatNode": "`try`",
        "TryFinallyStatNode": "`try`",
        "WithStatNode": "`with`",
        "RaiseStatNode": "`raise`",
        "BreakStatNode": "`break`",
        "ReturnStatNode": "`return`",
        "PrintStatNode": "`print`",
        "DelStatNode": "`del`",
        "ForInStatNode": "a loop over Python objects",
        "AssertStatNode": "`assert`",
    }
    return names.get(type(node).__name__, type(node).__name__.removesuffix("Node"))
