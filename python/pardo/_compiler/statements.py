# python/pardo/_compiler/statements.py: what becomes simpler statements: `match`, `:=` in tests, comprehensions; and what is looped over.
from __future__ import annotations

import ast
import contextlib
import copy
import math
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from pardo._compiler.intrinsics import known
from pardo._compiler.source import Source, problem

LOAD, STORE = ast.Load(), ast.Store()
CERTAINLY = (
    "where it is certainly evaluated: not behind `and`, `or`, `if … else`, nor in the test of `while`; write it as a statement in front"
)


def has_named(node: ast.AST) -> bool:
    return any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))


def array_call(values: ast.expr) -> ast.Call:
    """np.array(values)"""
    return ast.copy_location(ast.Call(values, [values], []), values)


class _Renamed(ast.NodeTransformer):
    """Gives the variables of a comprehension names of their own."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(f"{node.id}'", node.ctx), node) if node.id in self.names else node


class Statements:
    """Part of the translator."""

    function: Any
    source: Source
    locals: set[str]
    before: list[tuple[Any, ...]] | None  # what comes in front of the statement that is translated; None: it is not certain to run

    make: Callable[..., tuple[Any, ...]]
    refuse: Callable[[ast.AST, str], NoReturn]
    resolve: Callable[[ast.expr], Any]
    value: Callable[[Any, ast.AST], tuple[Any, ...]]
    expression: Callable[[ast.expr], tuple[Any, ...]]
    statement: Callable[[ast.stmt], list[tuple[Any, ...]]]
    arguments: Callable[[ast.Call], list[tuple[Any, ...]]]
    callee: Callable[[types.FunctionType], int]
    of_values: Callable[[ast.Call], Any]
    with_dtypes: Callable[[Iterable[tuple[Any, ...]]], list[tuple[Any, ...]]]

    @contextlib.contextmanager
    def perhaps(self) -> Iterator[None]:
        """Around what is evaluated on some paths only."""
        outer, self.before = self.before, None
        try:
            yield
        finally:
            self.before = outer

    # ---- `:=`

    def of_NamedExpr(self, node: ast.NamedExpr) -> Any:
        if self.before is None:
            self.refuse(node, f"`:=` is accepted {CERTAINLY}")
        return self.make("Named", node, [self.make("Name", node.target, name=node.target.id), self.expression(node.value)])

    def if_named(self, node: ast.If) -> list[tuple[Any, ...]]:
        """`if a and (b := c): …`: tests inside of each other, so that each name has its value where it is read."""
        parts = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [node.test]
        return self.nested(node, parts, node.body, node.orelse)

    def while_named(self, node: ast.While) -> list[tuple[Any, ...]]:
        left = [*node.orelse, ast.copy_location(ast.Break(), node)]
        test = ast.copy_location(ast.If(node.test, node.body, left), node)
        return self.statement(ast.copy_location(ast.While(ast.copy_location(ast.Constant(True), node), [test], []), node))

    def nested(
        self, node: ast.AST, tests: Sequence[ast.expr | list[ast.stmt]], body: list[ast.stmt], otherwise: list[ast.stmt]
    ) -> list[tuple[Any, ...]]:
        """The body where all tests hold, of which those that are statements just run; else the rest."""
        place: Any = node
        missed = f"$missed{place.lineno}_{place.col_offset}"
        self.locals.add(missed)

        def noted(value: bool) -> ast.stmt:
            return ast.Assign([ast.Name(missed, STORE)], ast.Constant(value))

        asked = [t for t in tests if isinstance(t, ast.expr)]
        alone = len(asked) == 1 and tests[0] is asked[0]
        inner = body if alone or not otherwise else [noted(False), *body]
        for t in reversed(tests):
            inner = [*t, *inner] if isinstance(t, list) else [ast.If(t, inner, otherwise if alone else [])]
        if otherwise and not alone:
            inner = [noted(True), *inner, ast.If(ast.Name(missed, LOAD), otherwise, [])]
        out: list[tuple[Any, ...]] = []
        for s in inner:
            for n in ast.walk(s):
                if isinstance(n, (ast.expr, ast.stmt)) and not hasattr(n, "lineno"):
                    ast.copy_location(n, node)
            if isinstance(s, ast.If) and alone:
                test = self.expression(s.test)
                out.append(self.make("If", s, [test, self.block(s.body, s), self.block(s.orelse, s)]))
            else:
                out += self.statement(s)
        return out

    block: Callable[..., tuple[Any, ...]]

    # ---- match

    def do_Match(self, node: ast.Match) -> list[tuple[Any, ...]]:
        """A chain of tests. What is matched is evaluated once; a tuple of values, item by item."""
        out: list[tuple[Any, ...]] = []
        several = isinstance(node.subject, ast.Tuple)
        values = node.subject.elts if isinstance(node.subject, ast.Tuple) else [node.subject]
        subjects: list[ast.expr] = []
        for k, value in enumerate(values):
            name = f"$match{node.lineno}_{node.col_offset}_{k}"
            self.locals.add(name)
            out += self.statement(ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, STORE), value)], value), value))
            subjects.append(ast.copy_location(ast.Name(name, LOAD), value))
        rest: list[ast.stmt] = []
        for case in reversed(node.cases):
            tests = self.pattern(case.pattern, subjects, several)
            if case.guard is not None:
                tests.append(case.guard)
            rest = [_Case(tests, case.body, rest, case.pattern)] if any(isinstance(t, ast.expr) for t in tests) else [
                *(s for t in tests if isinstance(t, list) for s in t), *case.body
            ]  # fmt: skip
        for s in rest:
            out += self.statement(s)
        return out

    def do__Case(self, node: _Case) -> list[tuple[Any, ...]]:
        return self.nested(node, node.tests, node.body, node.orelse)

    def pattern(self, pattern: ast.pattern, subjects: list[ast.expr], several: bool) -> list[Any]:
        """The tests of a pattern, and the assignments of what it captures, in their order."""
        subject = subjects[0]
        if isinstance(pattern, ast.MatchAs):
            inner = [] if pattern.pattern is None else self.pattern(pattern.pattern, subjects, several)
            if pattern.name is None:
                return inner
            value: ast.expr = ast.Tuple(list(subjects), LOAD) if several else subject
            return [*inner, [_at(ast.Assign([ast.Name(pattern.name, STORE)], value), pattern)]]
        if several and not isinstance(pattern, (ast.MatchSequence, ast.MatchOr)):
            self.refuse(pattern, "a tuple is matched with patterns of its items in a kernel: `case (a, b):`")
        if isinstance(pattern, ast.MatchValue):
            return [_at(ast.Compare(subject, [ast.Eq()], [pattern.value]), pattern)]
        if isinstance(pattern, ast.MatchSingleton):
            if pattern.value is not None:
                self.refuse(pattern, f"`case {pattern.value}` asks for the object; write `case x if x` or `case x if not x`")
            return [_at(ast.Compare(subject, [ast.Is()], [ast.Constant(None)]), pattern)]
        if isinstance(pattern, ast.MatchOr):
            tests = [self.pattern(p, subjects, several) for p in pattern.patterns]
            if any(isinstance(t, list) for part in tests for t in part):
                self.refuse(pattern, "an alternative of `|` in a kernel captures no name; write a case for each")
            every = [_at(ast.BoolOp(ast.And(), part), pattern) if len(part) > 1 else part[0] for part in tests if part]
            return [_at(ast.BoolOp(ast.Or(), every), pattern)] if len(every) == len(tests) else []
        if isinstance(pattern, ast.MatchSequence):
            if not several:
                self.refuse(pattern, "sequences are matched in a kernel where a tuple stands after `match`: `match (a, b):`")
            if len(pattern.patterns) != len(subjects) or any(isinstance(p, ast.MatchStar) for p in pattern.patterns):
                self.refuse(pattern, f"a pattern of {len(subjects)} items is expected in a kernel, as `match` has, without `*`")
            return [t for p, s in zip(pattern.patterns, subjects, strict=True) for t in self.pattern(p, [s], False)]
        what = {ast.MatchMapping: "of dicts", ast.MatchClass: "of classes", ast.MatchStar: "with `*`"}[type(pattern)]
        raise self.refuse(pattern, f"patterns {what} are not accepted in a kernel; compare fields with `if`")

    # ---- lists

    def of_List(self, node: ast.List) -> Any:
        return self.make("List", node, map(self.expression, node.elts))

    def of_Set(self, node: ast.Set) -> Any:
        return self.make("List", node, map(self.expression, node.elts), index=1)

    def of_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        """A list that loops in front of the statement fill."""
        if self.before is None:
            self.refuse(node, f"a comprehension is accepted {CERTAINLY}")
        name = f"$made{node.lineno}_{node.col_offset}"
        self.locals.add(name)
        names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        renamed = _Renamed(names)
        self.locals |= {f"{n}'" for n in names}
        is_set = isinstance(node, ast.SetComp)
        add = ast.Attribute(ast.Name(name, LOAD), "add" if is_set else "append", LOAD)
        body: list[ast.stmt] = [ast.Expr(ast.Call(add, [renamed.visit(_copied(node.elt))], []))]
        for k, g in reversed(list(enumerate(node.generators))):
            if g.is_async:
                self.refuse(node, "an async comprehension is not accepted in a kernel")
            for test in reversed(g.ifs):
                body = [ast.If(renamed.visit(_copied(test)), body, [])]
            iterable = _copied(g.iter) if k == 0 else renamed.visit(_copied(g.iter))
            body = [ast.For(renamed.visit(_copied(g.target)), iterable, body, [])]
        self.before.append(self.make("Assign", node, [self.make("Name", node, name=name), self.make("List", node, index=int(is_set))]))
        for s in body:
            self.before += self.statement(_at(s, node))
        return self.make("Name", node, name=name)

    of_SetComp = of_ListComp  # noqa: N815
    of_GeneratorExp = of_ListComp  # noqa: N815

    def repeated(self, node: ast.BinOp, item: ast.expr) -> Any:
        """[item] * count"""
        if not isinstance(item, (ast.Constant, ast.Name)):  # it is computed once
            if self.before is None:
                self.refuse(item, "`[…] * n` repeats a constant or a name here; give the value a name first")
            name = f"$item{item.lineno}_{item.col_offset}"
            self.locals.add(name)
            self.before.append(self.make("Assign", item, [self.make("Name", item, name=name), self.expression(item)]))
            item = ast.copy_location(ast.Name(name, LOAD), item)
        times = ast.comprehension(ast.Name("$time", STORE), ast.Call(ast.Name("range", LOAD), [node.right], []), [], 0)
        return self.of_ListComp(_at(ast.copy_location(ast.ListComp(item, [times]), node), node))

    def of_builtin(self, called: Any, node: ast.Call) -> Any:
        """Calls of built-in functions that the compiler has another form for; None for other calls."""
        if called is math.log and len(node.args) == 2 and not node.keywords:
            logs = [ast.copy_location(ast.Call(node.func, [a], []), node) for a in node.args]
            return self.expression(ast.copy_location(ast.BinOp(logs[0], ast.Div(), logs[1]), node))
        if (called is float or called is int or called is complex) and len(node.args) == 1 and not node.keywords:
            text = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if type(text) is str:  # float("inf")
                try:
                    return self.value(called(text), node)
                except ValueError as error:
                    raise problem(ValueError, self.source, node, str(error)) from None
        if called is list or called is set:
            if node.keywords or len(node.args) > 1:
                self.refuse(node, f"{called.__name__} takes one iterable in a kernel")
            if not node.args:
                return self.make("List", node, index=int(called is set))
            argument = node.args[0]
            if isinstance(argument, (ast.GeneratorExp, ast.ListComp)):
                kind = ast.SetComp if called is set else ast.ListComp
                return self.of_ListComp(ast.copy_location(kind(argument.elt, argument.generators), node))
            item = _at(ast.Name("$item", LOAD), node)
            generator = ast.comprehension(_at(ast.Name("$item", STORE), node), argument, [], 0)
            return self.of_ListComp(ast.copy_location((ast.SetComp if called is set else ast.ListComp)(item, [generator]), node))
        if called is slice and 1 <= len(node.args) <= 3 and not node.keywords:
            parts: list[ast.expr | None] = [*node.args]
            if len(parts) == 1:
                parts.insert(0, None)
            parts += [None] * (3 - len(parts))
            return self.make("Slice", node, [self.make("None", node) if p is None else self.expression(p) for p in parts])
        makes_array = called is np.array or called is np.asarray
        if makes_array and node.args and not isinstance(node.args[0], (ast.List, ast.Tuple)):
            is_list = isinstance(node.args[0], (ast.ListComp, ast.GeneratorExp))
            if (called is np.asarray and not is_list) or any(k.arg not in ("dtype", "copy") for k in node.keywords) or len(node.args) > 2:
                return None
            made = self.make("Call", node, [self.expression(node.args[0])], name="copy")
            dtypes = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "dtype")]
            return self.make("Method", node, [made, *self.with_dtypes(map(self.expression, dtypes))], name="astype") if dtypes else made
        return None

    # ---- what is looped over

    def iterable(self, node: ast.expr) -> Any:
        if isinstance(node, ast.List) and not any(isinstance(e, ast.Starred) for e in node.elts):
            return self.make("Tuple", node, map(self.expression, node.elts))
        if not isinstance(node, ast.Call):
            return self.expression(node)
        what = self.resolve(node.func)
        if what is range and not node.keywords and 1 <= len(node.args) <= 3:
            bounds = [self.expression(a) for a in node.args]
            if len(bounds) == 1:
                bounds.insert(0, self.make("Number", node, number=0))
            if len(bounds) == 2:
                bounds.append(self.make("Number", node, number=1))
            return self.make("Call", node, bounds, name="range")
        if what is reversed and len(node.args) == 1 and not node.keywords:
            return self.make("Call", node, [self.iterable(node.args[0])], name="reversed")
        if what is np.ndindex and not node.keywords:
            return self.make("Call", node, map(self.expression, node.args), name="ndindex")
        if known.get(id(what)) in ("zip", "enumerate") and not any(isinstance(a, ast.Starred) for a in node.args):
            parts = [self.iterable(a) for a in node.args]
            keywords = self.arguments(ast.copy_location(ast.Call(node.func, [], node.keywords), node))
            return self.make("Call", node, [*parts, *keywords], name=known[id(what)])
        return self.expression(node)

    # ---- with

    def ignores_errors(self, item: ast.withitem) -> bool:
        """True for `np.errstate(divide="ignore")`: a kernel warns of nothing."""
        call = item.context_expr
        if not isinstance(call, ast.Call) or self.resolve(call.func) is not np.errstate:
            return False
        if call.args or any(getattr(k.value, "value", None) != "ignore" for k in call.keywords):
            self.refuse(call, "a kernel takes of np.errstate only keywords that are 'ignore'; it warns of nothing in any case")
        return True

    # ---- functions inside

    def do_FunctionDef(self, node: ast.FunctionDef) -> Any:
        first = node.decorator_list[0] if node.decorator_list else node
        codes = [c for c in self.function.__code__.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name]
        code = next((c for c in codes if c.co_firstlineno == first.lineno), None)
        if code is None or node.decorator_list:
            self.refuse(node, f"a function inside a kernel is a plain one, without decorators; define `{node.name}` outside of it")
        if not all(isinstance(d, ast.Constant) for d in (*node.args.defaults, *filter(None, node.args.kw_defaults))):
            self.refuse(node, f"a function inside a kernel has constants as defaults; define `{node.name}` outside of it")
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))
        for name in code.co_freevars:
            if name not in cells:
                self.refuse(node, f"`{node.name}` is inside a kernel and cannot use the kernel's own `{name}`; give it as an argument")
        function = types.FunctionType(code, self.function.__globals__, node.name, None, tuple(cells[n] for n in code.co_freevars))
        function.__defaults__ = tuple(d.value for d in node.args.defaults if isinstance(d, ast.Constant)) or None
        by_name = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        function.__kwdefaults__ = {a.arg: d.value for a, d in by_name if isinstance(d, ast.Constant)} or None
        name_of = self.make("Name", node, name=node.name)
        return self.make("Assign", node, [name_of, self.make("FunctionName", node, index=self.callee(function))])


class _Case(ast.stmt):
    """A case of `match` with those after it."""

    _fields = ("tests", "body", "orelse")

    def __init__(self, tests: list[Any], body: list[ast.stmt], orelse: list[ast.stmt], place: ast.AST) -> None:
        super().__init__()
        self.tests, self.body, self.orelse = tests, body, orelse
        ast.copy_location(self, place)


def _copied(node: Any) -> Any:
    """A tree that may be changed."""
    return copy.deepcopy(node)


def _at(node: Any, place: ast.AST) -> Any:
    """A new tree, where its parts have no places those of another node."""
    for n in ast.walk(node):
        if isinstance(n, (ast.expr, ast.stmt)) and not hasattr(n, "lineno"):
            ast.copy_location(n, place)
    return node
