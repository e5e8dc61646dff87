# python/pardo/_cython/statements.py: typed statements of Cython, and functions that are called -> those of pardo's loops.
from __future__ import annotations

import ast
import inspect
from typing import Any, NamedTuple

from Cython.Compiler import ExprNodes, Nodes
from pardo._cython.errors import refuse
from pardo._cython.expressions import LOAD, STORE, Expressions, operator_of, tuple_of
from pardo._cython.functions import FAILING, TABLE
from pardo._cython.types import Path, dtype_name, fields, plain, sizes
from pardo._extending import liveness

_RESERVED = {*TABLE, "_np", "_prange", "abs", "bool", "complex", "len", "max", "min", "range"}
Place = tuple[Any, Path]  # the entry of a variable; if it is a struct, what leads to a number in it


class FoundFunction(NamedTuple):
    """A C function with its body."""

    node: Any
    directives: dict[str, Any]


class Translator(Expressions):
    """Statements of a function of C."""

    depth = 0  # of parallel loops

    def __init__(self, functions: dict[str, FoundFunction], directives: dict[str, Any]) -> None:
        super().__init__()
        self.functions, self.directives = functions, dict(directives)
        self.made: list[ast.FunctionDef] = []  # functions that it calls, before those that call them
        self.loops = 0  # serial ones around what is translated
        self.own: dict[Any, str] = {}  # entries of its variables
        self.parts: dict[Place, str] = {}  # numbers of those that are structs
        self.members: dict[Place, str] = {}  # arrays in those
        self.taken = set(_RESERVED)
        self.counters: set[Any] = set()
        self.under_way: tuple[str, ...] = ()
        self.roots: dict[str, str] = {}  # of memoryviews of its own, the arrays that they are parts of

    def is_counter(self, node: Any) -> bool:
        return node.entry in self.counters

    # --- names

    def variable(self, entry: Any, path: Path = ()) -> str:
        """The name of one of its variables, or of a number in one."""
        if entry not in self.own:
            self.own[entry] = self.unique(str(entry.name))
        if not path:
            return self.own[entry]
        if (entry, path) not in self.parts:
            self.parts[entry, path] = self.unique("_".join(map(str, (entry.name, *path))))
        return self.parts[entry, path]

    def member_of_name(self, node: Any, path: Path) -> ast.expr:
        if isinstance(node, ExprNodes.NameNode) and node.entry in self.own:
            return ast.Name(self.own_member((node.entry, path)), LOAD)
        return self.outside(node, path)

    def own_member(self, place: Place) -> str:
        """The name of an array in one of its variables."""
        if place not in self.members:
            self.members[place] = self.unique("_".join(map(str, (place[0].name, *place[1]))))
        return self.members[place]

    def current(self, place: Place, context: ast.expr_context = LOAD) -> ast.expr:
        """A variable of its own, or a number in one, which an array may hold."""
        entry, path = place
        indices = [part for part in path if isinstance(part, int)]
        if not indices:
            return ast.Name(self.variable(entry, path), context)
        array = ast.Name(self.own_member((entry, path[: len(path) - len(indices)])), LOAD)
        return ast.Subscript(array, tuple_of([ast.Constant(k) for k in indices]), context)

    def made_members(self, names: set[str]) -> list[ast.stmt]:
        """Memory for arrays in variables of its own, of those that are named."""
        return [self.empty(name, *sizes(member(*place))) for place, name in self.members.items() if name in names]

    def unique(self, name: str) -> str:
        """A name that nothing else has."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def places(self, entry: Any) -> list[Place]:
        """The numbers that a variable consists of."""
        return [(entry, path) for path, _ in fields(entry.type) or ()] if plain(entry.type).is_struct else [(entry, ())]

    def field_of_name(self, node: Any, path: Path) -> ast.expr:
        if isinstance(node, ExprNodes.NameNode) and node.entry in self.own:
            return self.current((node.entry, path))
        return self.outside(node, path)

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

    def outside(self, node: Any, path: Path = ()) -> ast.expr:
        """A variable from outside, or a number or an array in it."""
        name = getattr(node, "name", None) or getattr(node, "attribute", "this")
        return refuse(node, f"`{name}` is not a variable of this function, and is not given to it")

    # --- calls

    def call(self, node: Any, function: Any, arguments: list[Any]) -> ast.expr:
        entry = function.entry
        c_name = str(entry.cname)
        if isinstance(function, ExprNodes.AttributeNode) and function.obj.type.is_extension_type:
            refuse(node, f"`{entry.name}` is a method, of which a subclass may have another one: a region on a device cannot call it")
        if c_name not in self.functions:
            refuse(node, f"`{entry.name}` has no body in this file or in a .pxd that it cimports: a region on a device cannot call it")
        if c_name in self.under_way:
            refuse(node, f"`{entry.name}` calls itself, which a region on a device cannot do")
        name = f"_f_{c_name}"
        if not any(f.name == name for f in self.made):
            self.callee(name, c_name, self.functions[c_name])
        made: list[ast.expr] = []
        for argument, formal in zip(arguments, entry.type.args, strict=False):
            kind = plain(formal.type)
            if kind.is_memoryviewslice or kind.is_ptr or kind.is_array:
                made.append(self.array(argument))
            elif kind.is_struct_or_union:
                made += self.struct(argument)
            else:
                made.append(self.typed(argument, formal.type))
        for formal, written in list(zip(entry.type.args, self.functions[c_name].node.args, strict=False))[len(arguments) :]:
            if written.default is None or not self.plain(written.default).has_constant_result():
                refuse(node, f"`{entry.name}` is called without `{formal.name}`, whose default is no constant")
            made.append(self.converted(ast.Constant(self.plain(written.default).constant_result), self.dtype(node, formal.type)))
        return ast.Call(ast.Name(name, LOAD), made, [])

    def failing(self, name: str, node: Any) -> str:
        made_name = f"{name}_{node.pos[1]}_{node.pos[2]}"
        if not any(f.name == made_name for f in self.made):
            (made,) = ast.parse(inspect.getsource(FAILING[name])).body
            assert isinstance(made, ast.FunctionDef)
            made.name = made_name
            for part in ast.walk(made):
                for attribute in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
                    if hasattr(part, attribute):
                        delattr(part, attribute)
            self.made.append(self.at(node, made))
        return made_name

    def struct(self, node: Any) -> list[ast.expr]:
        """The numbers of a struct."""
        node = self.plain(node)
        paths = self.fields_of(node)
        if isinstance(node, ExprNodes.SimpleCallNode):
            return [ast.Starred(self.value(node), LOAD)]
        return [self.at(node, self.field(node, path)) for path in paths]

    def callee(self, name: str, c_name: str, found: FoundFunction) -> None:
        """Translate a function that is called."""
        node = found.node
        inner = Callee(self.functions, found.directives)
        inner.under_way = (*self.under_way, c_name)
        inner.made = self.made
        inner.returns = node.return_type
        scope = node.local_scope
        given: list[Place] = []
        for formal in node.entry.type.args:
            given += inner.places(scope.lookup_here(formal.name))
        parameters = [inner.variable(*place) for place in given]
        arrays: list[ast.stmt] = []
        for entry in scope.entries.values():
            if entry.is_variable and not entry.type.is_pyobject:
                inner.variable(entry)
                if entry.type.is_array and entry.name not in [formal.name for formal in node.entry.type.args]:
                    arrays += inner.memory(entry)
        body = inner.block(node.body) or [ast.Pass()]
        filled = [(place, inner.current(place, STORE)) for place in given]
        parts = [ast.Assign([to], ast.Name(inner.variable(*place), LOAD)) for place, to in filled if isinstance(to, ast.Subscript)]
        body = [*arrays, *inner.made_members(set(inner.members.values())), *parts, *body]
        body = [*inner.first_values(body, set(parameters)), *body]
        self.checks = max(self.checks, inner.checks)
        arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
        made = ast.FunctionDef(name, arguments, body, [], None, None)
        self.made.append(self.at(node, made))

    def memory(self, entry: Any) -> list[ast.stmt]:
        """An array of C that belongs to the function."""
        shape, kind = sizes(entry.type)
        return [] if dtype_name(kind) is None else [self.empty(self.variable(entry), shape, kind)]  # refused where it is used

    def empty(self, name: str, shape: list[int], kind: Any) -> ast.stmt:
        """Memory under a name."""
        dtype = ast.Attribute(ast.Name("_np", LOAD), dtype_name(kind) or "", LOAD)
        size = tuple_of([ast.Constant(n) for n in shape])
        return ast.Assign([ast.Name(name, STORE)], ast.Call(ast.Attribute(ast.Name("_np", LOAD), "empty", LOAD), [size, dtype], []))

    def first_values(self, body: list[ast.stmt], given: set[str]) -> list[ast.stmt]:
        """Values for variables that some path reads before it assigns them: C leaves open which ones they have."""
        read = liveness.Flow(body, set(), set(), counts=False).start.live & liveness.bound(body) - given
        kinds = {name: entry.type for entry, name in self.own.items()}
        for (entry, path), name in self.parts.items():
            kinds[name] = dict(fields(entry.type) or ())[path]
        typed = [(name, dtype_name(kinds[name])) for name in sorted(read & kinds.keys())]
        return [ast.Assign([ast.Name(n, STORE)], self.converted(ast.Constant(0), dtype)) for n, dtype in typed if dtype is not None]

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
        rhs = self.plain(node.rhs)
        if plain(rhs.type).is_struct_or_union or rhs.is_literal:
            return [self.assigned(node, lhs, rhs) for lhs in node.lhs_list]
        name = self.unique("_value")  # there before the first one is assigned
        self.known[id(rhs)] = ast.Name(name, LOAD)
        made: list[ast.stmt] = [ast.Assign([ast.Name(name, STORE)], self._without(rhs))]
        return made + [self.assigned(node, lhs, rhs) for lhs in node.lhs_list]

    def _without(self, node: Any) -> ast.expr:
        """The value of a node that a name stands for from here on."""
        name = self.known.pop(id(node))
        value = self.typed(node)
        self.known[id(node)] = name
        return value

    def do_ParallelAssignmentNode(self, node: Any) -> Any:
        """All values are there before the first one is assigned."""
        stats = [stat for stat in node.stats if isinstance(stat, Nodes.SingleAssignmentNode)]
        plain_ones = [self.plain(stat.lhs) for stat in stats]
        if len(stats) != len(node.stats) or any(lhs.type.is_memoryviewslice for lhs in plain_ones):
            refuse(node, "these cannot be assigned at once in a region on a device; write one assignment for each")
        values = [v for stat, lhs in zip(stats, plain_ones, strict=True) for v in self.values(stat.rhs, lhs)]
        targets = [t for lhs in plain_ones for t in self.targets(lhs)]
        return ast.Assign([ast.Tuple(targets, STORE)], ast.Tuple(values, LOAD))

    def assigned(self, node: Any, lhs: Any, rhs: Any) -> ast.stmt:
        """One assignment."""
        lhs = self.plain(lhs)
        if isinstance(lhs, ExprNodes.MemoryCopyNode):
            return self._copied(lhs, rhs)
        if lhs.type.is_memoryviewslice:
            return self.view(node, lhs, rhs)
        if lhs.type.is_array:
            refuse(node, "an array of C is assigned element by element in a region on a device")
        if isinstance(lhs, ExprNodes.AttributeNode) and plain(lhs.obj.type).is_complex and lhs.attribute in ("real", "imag"):
            return self._part(lhs, rhs)
        targets = self.targets(lhs)
        if len(targets) == 1 and not plain(lhs.type).is_struct_or_union:
            return ast.Assign([targets[0]], self.values(rhs, lhs)[0])
        rhs = self.plain(rhs)
        value = self.value(rhs) if isinstance(rhs, ExprNodes.SimpleCallNode) else ast.Tuple(self.struct(rhs), LOAD)
        return ast.Assign([ast.Tuple(targets, STORE)], value)

    def _part(self, lhs: Any, rhs: Any) -> ast.stmt:
        """The real or the imaginary part of a complex number."""
        whole, value = self.plain(lhs.obj), self.typed(rhs, lhs.type)
        other = ast.Attribute(self.value(whole), "imag" if lhs.attribute == "real" else "real", LOAD)
        parts = [value, other] if lhs.attribute == "real" else [other, value]
        return ast.Assign([self.target(whole)], self.converted(ast.Call(ast.Name("complex", LOAD), parts, []), self.dtype(whole)))

    def values(self, rhs: Any, lhs: Any) -> list[ast.expr]:
        """The numbers that are assigned."""
        return self.struct(rhs) if plain(lhs.type).is_struct_or_union else [self.typed(rhs, lhs.type)]

    def targets(self, lhs: Any) -> list[ast.expr]:
        """The numbers that an assignment changes."""
        lhs = self.plain(lhs)
        return [self.target(lhs, path) for path in self.fields_of(lhs)] if plain(lhs.type).is_struct_or_union else [self.target(lhs)]

    def _copied(self, lhs: Any, rhs: Any) -> ast.stmt:
        """Elements of a whole part of an array."""
        part = self.value(lhs.dst)
        if not isinstance(part, ast.Subscript):
            part = ast.Subscript(part, ast.Constant(...), STORE)
        part.ctx = STORE
        return ast.Assign([part], self.array(rhs) if lhs.is_memview_copy_assignment else self.typed(rhs, lhs.type))

    def view(self, node: Any, lhs: Any, rhs: Any) -> ast.stmt:
        """A memoryview of the function's own is a part of another one."""
        if not isinstance(lhs, ExprNodes.NameNode) or lhs.entry.is_cglobal:
            refuse(node, "this memoryview cannot be assigned in a region on a device")
        name, part = self.variable(lhs.entry), self.array(rhs)
        self.roots[name] = self._root(part)
        return ast.Assign([ast.Name(name, STORE)], part)

    def _root(self, part: ast.expr) -> str:
        """The array that another one is a part of."""
        while isinstance(part, (ast.Subscript, ast.Attribute)):
            part = part.value
        name = part.id if isinstance(part, ast.Name) else ""
        return self.roots.get(name, name)

    def target(self, lhs: Any, path: Path = ()) -> ast.expr:
        """What is assigned: a number, or one of a struct."""
        base = lhs
        while isinstance(base, ExprNodes.AttributeNode) and plain(base.obj.type).is_struct_or_union:
            path, base = (str(base.attribute), *path), self.plain(base.obj)
        if isinstance(base, ExprNodes.NameNode):
            if not path:
                self.dtype(base)
            if base.entry.is_cglobal or base.entry.is_pyglobal:
                refuse(base, f"`{base.name}` is a variable of the module, which a region on a device cannot change")
            return self.at(base, self.assigned_place((base.entry, path)))
        made = self.field(base, path) if path else self.value(base)
        if not isinstance(made, ast.Subscript):
            refuse(lhs, "this cannot be assigned in a region on a device")
        made.ctx = STORE
        return made

    def assigned_place(self, place: Place) -> ast.expr:
        """A variable of its own, or a number in one, that is assigned."""
        return self.current(place, STORE)

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
        before, after = self.roots, []

        def branch(body: Any) -> list[ast.stmt]:
            self.roots = dict(before)
            made = self.block(body) if body is not None else []
            if not (made and isinstance(made[-1], (ast.Return, ast.Continue, ast.Break))):
                after.append(self.roots)
            return made

        made = branch(node.else_clause)
        for clause in reversed(node.if_clauses):
            made = [self.at(clause, ast.If(self.truth(clause.condition), branch(clause.body) or [ast.Pass()], made))]
        self.roots = {name: root for roots in after for name, root in roots.items()}
        for name, root in self.roots.items():
            if other := {roots[name] for roots in after if name in roots} - {root}:
                why = "a region on a device cannot choose among arrays"
                refuse(node, f"`{name}` is a part of `{root}` on one path and of `{other.pop()}` on another: {why}")
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

    def counted(self, node: Any, target: Any, over: str, bounds: list[ast.expr]) -> ast.For:
        """A loop over numbers."""
        self.dtype(target)
        name = self.variable(target.entry)
        self.counters.add(target.entry)
        iterations = self.at(node, ast.Call(ast.Name(over, LOAD), bounds, []))
        serial = over == "range" or self.depth != 1
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
        if plain(self.returns).is_struct_or_union:
            value = self.plain(node.value)
            return ast.Return(self.value(value) if isinstance(value, ExprNodes.SimpleCallNode) else ast.Tuple(self.struct(value), LOAD))
        return ast.Return(self.typed(node.value, self.returns))


def member(entry: Any, path: Path) -> Any:
    """The type of an array in a variable."""
    kind = plain(entry.type)
    for part in path:
        kind = plain(kind.scope.lookup_here(part).type)
    return kind


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
