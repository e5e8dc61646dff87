# python/pardo/_compiler/liveness.py: where names of a function have values, and where these are read: by its statements as a graph.
from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

Loop = ast.For | ast.AsyncFor | ast.While
_CONSUMERS = frozenset(["any", "all", "sum", "min", "max", "list", "set", "tuple"])
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> set[str]:
    """Names that occur anywhere in these, whosever they are."""
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements that belong to a statement, in the scope of its function."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for field in ("body", "orelse", "finalbody"):
        if inner := getattr(statement, field, None):
            yield inner
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


# ---- what an expression or a simple statement does to names, in its order


class Event(NamedTuple):
    """One thing that happens to a name; 'perhaps' in what is not evaluated on every path, or runs later."""

    kind: str  # 'read', 'read perhaps', 'bind', 'bind perhaps', 'delete'
    name: str


def _perhaps(happens: Iterable[Event]) -> Iterator[Event]:
    return (e if e.kind.endswith("perhaps") else Event(f"{e.kind} perhaps", e.name) for e in happens)


def _of_arguments(arguments: ast.arguments) -> Iterator[Event]:
    """What is evaluated where a function is made: its defaults and annotations."""
    for default in (*arguments.defaults, *arguments.kw_defaults):
        yield from events(default)
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    for argument in every:
        if argument is not None:
            yield from events(argument.annotation)


def _of_comprehension(node: Any) -> Iterator[Event]:
    """The first iterable is evaluated for certain; targets are names of its own, and what `:=` binds is the function's."""
    yield from events(node.generators[0].iter)
    own = names([g.target for g in node.generators], ast.Store)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for generator in node.generators:
        parts += [generator.target, *generator.ifs, generator.iter]
    for part in parts:
        yield from (e for e in _perhaps(events(part)) if e.name not in own)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[Event]:
    yield from _of_arguments(node.args)
    if not isinstance(node, ast.Lambda):
        for decorator in node.decorator_list:
            yield from events(decorator)
        yield from events(node.returns)
    yield from (Event("read perhaps", name) for name in sorted(free(node)))
    if not isinstance(node, ast.Lambda):
        yield Event("bind", node.name)


def _of_class(node: ast.ClassDef) -> Iterator[Event]:
    for part in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
        yield from events(part)
    yield from (Event("read perhaps", name) for name in sorted(free(node)))
    yield Event("bind", node.name)


def _of_import(node: ast.Import | ast.ImportFrom) -> Iterator[Event]:
    for alias in node.names:
        yield Event("bind", alias.asname or alias.name.partition(".")[0])


def _of_pattern(node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> Iterator[Event]:
    for child in ast.iter_child_nodes(node):
        yield from events(child)
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name:
        yield Event("bind", name)


def events(node: ast.AST | None) -> Iterator[Event]:
    """What happens to names, in the order of evaluation as far as reads and bindings of one name are concerned."""
    if node is None:
        return
    if isinstance(node, ast.Name):
        kinds: dict[type[ast.expr_context], str] = {ast.Load: "read", ast.Store: "bind", ast.Del: "delete"}
        yield Event(kinds[type(node.ctx)], node.id)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        yield from _of_function(node)
    elif isinstance(node, ast.ClassDef):
        yield from _of_class(node)
    elif isinstance(node, _COMPREHENSIONS):
        yield from _of_comprehension(node)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from _of_import(node)
    elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)):
        yield from _of_pattern(node)
    elif isinstance(node, ast.Assign):
        yield from events(node.value)
        for target in node.targets:
            yield from events(target)
    elif isinstance(node, ast.AnnAssign):  # the annotation of a local name is not evaluated
        yield from events(node.value)
        if node.value is not None or not isinstance(node.target, ast.Name):
            yield from events(node.target)
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name):
            yield Event("read", node.target.id)
        else:
            yield from events(node.target)
        yield from events(node.value)
        if isinstance(node.target, ast.Name):
            yield Event("bind", node.target.id)
    elif isinstance(node, ast.NamedExpr):
        yield from events(node.value)
        yield from events(node.target)
    elif isinstance(node, (ast.BoolOp, ast.IfExp)):
        first, *rest = node.values if isinstance(node, ast.BoolOp) else (node.test, node.body, node.orelse)
        yield from events(first)
        for part in rest:
            yield from _perhaps(events(part))
    elif isinstance(node, ast.Compare):
        for part in (node.left, node.comparators[0]):
            yield from events(part)
        for part in node.comparators[1:]:
            yield from _perhaps(events(part))
    else:
        for child in ast.iter_child_nodes(node):
            yield from events(child)


def free(node: ast.AST) -> set[str]:
    """Names that a function, class or generator inside of another function takes from around it, or changes there."""
    if isinstance(node, ast.GeneratorExp):
        return {e.name for e in _of_comprehension(node)}
    inner = [node.body] if isinstance(node, ast.Lambda) else node.body  # type: ignore[attr-defined]
    own: set[str] = set()
    around: set[str] = set()
    used: set[str] = set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        own |= {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    for s in all_statements(inner):
        if isinstance(s, ast.Nonlocal):
            around.update(s.names)
        elif isinstance(s, ast.Global):
            own.update(s.names)
        for e in events_of(s):
            used.add(e.name)
            if e.kind.startswith("bind") and not isinstance(node, ast.ClassDef):  # a class reads what is around it before it binds its own
                own.add(e.name)
    return (used - own) | around


def all_statements(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """These and those that belong to them, in one scope."""
    for s in statements:
        yield s
        if isinstance(s, ast.stmt):
            for block in blocks(s):
                yield from all_statements(block)


def _heads(s: ast.AST) -> list[ast.AST | None]:
    """The parts of a statement that are evaluated by itself, in their order; not the statements that belong to it."""
    if isinstance(s, (ast.For, ast.AsyncFor)):
        return [s.iter, s.target]
    if isinstance(s, (ast.While, ast.If)):
        return [s.test]
    if isinstance(s, (ast.With, ast.AsyncWith)):
        return [part for item in s.items for part in (item.context_expr, item.optional_vars)]
    if isinstance(s, (ast.Try, ast.TryStar)):
        return [h.type for h in s.handlers]
    if isinstance(s, ast.Match):
        return [s.subject, *(part for c in s.cases for part in (c.pattern, c.guard))]
    return [s]


def events_of(s: ast.AST) -> Iterator[Event]:
    """What a statement does to names by itself; `except … as name` binds for as long as its block lasts."""
    for part in _heads(s):
        yield from events(part)
    if isinstance(s, (ast.Try, ast.TryStar)):
        for handler in s.handlers:
            if handler.name:
                yield Event("bind", handler.name)


def bound(statements: Iterable[ast.stmt]) -> set[str]:
    """Names that statements bind or delete in the scope of their function."""
    return {e.name for s in all_statements(statements) for e in events_of(s) if not e.kind.startswith("read")}


def augmented(statements: Iterable[ast.stmt]) -> set[str]:
    """Names that statements change in place, `s += v`, and bind in no other way."""
    found, others = set(), set()
    for s in all_statements(statements):
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            found.add(s.target.id)
        else:
            others |= {e.name for e in events_of(s) if not e.kind.startswith("read")}
    return found - others


def declared(statements: Iterable[ast.stmt]) -> set[str]:
    """Names that `global` and `nonlocal` say are not the function's own."""
    return {name for s in all_statements(statements) if isinstance(s, (ast.Global, ast.Nonlocal)) for name in s.names}


def shared(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that functions, classes and generators inside of a function take from it, and read whenever they run."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CONSUMERS:
            for child in node.args:  # a generator that is used up at once
                found |= shared(ast.iter_child_nodes(child) if isinstance(child, ast.GeneratorExp) else [child])
        else:
            found |= free(node) if isinstance(node, _NESTED) else shared(ast.iter_child_nodes(node))
    return found


# ---- the graph


class Node:
    """A statement or a part of one: its events in their order, what may follow, and where an exception in it leads."""

    __slots__ = ("certain", "events", "fails", "follows", "live", "possible", "reached")

    def __init__(self, fails: tuple[Node, ...]) -> None:
        self.events: list[Event] = []
        self.follows: list[Node] = []
        self.fails = fails
        self.live: set[str] = set()  # names whose values may be read from here on
        self.certain: set[str] | None = None  # names that have a value on every path here; None: no way is known yet
        self.possible: set[str] = set()  # names that have one on some path
        self.reached: list[Node] = []


class Ends(NamedTuple):
    """Where statements lead that do not go on to the next one."""

    broken: Node
    again: Node
    returned: Node
    fails: tuple[Node, ...] = ()
    handlers: tuple[Node, ...] = ()  # those of `fails` that the program has written: not what follows a `with`


class Places(NamedTuple):
    """Of a loop: where it begins, and what follows it."""

    before: Node
    behind: Node
    handlers: tuple[Node, ...]


class Flow:
    """The control flow of statements of one scope; `given`: names that have values at first, `kept`: that may be read at the end.

    `counts`: a range that certainly has iterations is known to have some.
    """

    def __init__(self, statements: list[ast.stmt], given: set[str], kept: set[str], counts: bool = True) -> None:
        self.counts = counts
        self.nodes: list[Node] = []
        self.loops: dict[int, Places] = {}
        self.end = self.node(())
        self.end.live = set(kept)
        ends = Ends(self.end, self.end, self.end)
        self.start = self.block(statements, self.end, ends)
        for node in self.nodes:
            for next_one in (*node.follows, *node.fails):
                next_one.reached.append(node)
        self._find_live()
        self._find_bound(given)

    # Statements are entered from the last to the first: each is given what follows it, and gives where it begins.

    def node(self, fails: tuple[Node, ...], *follows: Node) -> Node:
        made = Node(fails)
        made.follows += follows
        self.nodes.append(made)
        return made

    def one(self, parts: Iterable[ast.AST | None], next_one: Node, ends: Ends, *also: Node) -> Node:
        made = self.node(ends.fails, next_one, *also)
        for part in parts:
            made.events += events(part)
        return made

    def block(self, statements: list[ast.stmt], next_one: Node, ends: Ends) -> Node:
        for s in reversed(statements):
            rule = _FLOW.get(type(s))
            if rule is None:
                raise NotImplementedError(f"this version of pardo does not know what a statement of kind {type(s).__name__} does to names")
            next_one = rule(self, s, next_one, ends)
        return next_one

    def simple(self, s: ast.stmt, next_one: Node, ends: Ends) -> Node:
        return self.one([s], next_one, ends)

    def ignored(self, s: ast.stmt, next_one: Node, ends: Ends) -> Node:
        return next_one

    def leaves(self, s: ast.stmt, next_one: Node, ends: Ends) -> Node:
        to = {ast.Break: ends.broken, ast.Continue: ends.again, ast.Return: ends.returned}
        if isinstance(s, ast.Raise):
            made = self.node(ends.fails, *ends.fails)
            made.events += events(s)
            return made
        return self.one([s], to[type(s)], ends)

    def branch(self, s: ast.If, next_one: Node, ends: Ends) -> Node:
        return self.one([s.test], self.block(s.body, next_one, ends), ends, self.block(s.orelse, next_one, ends))

    def counted(self, s: ast.For | ast.AsyncFor, next_one: Node, ends: Ends) -> Node:
        behind = self.node(ends.fails, next_one)
        over = self.block(s.orelse, behind, ends)
        again = self.node(ends.fails, over)
        target = self.one([s.target], again, ends)  # what follows it is put right below
        target.follows[:] = [self.block(s.body, again, ends._replace(broken=behind, again=again))]
        again.follows.append(target)
        before = self.one([s.iter], target, ends, *([] if self.counts and _has_rounds(s) else [over]))
        self.loops[id(s)] = Places(before, behind, ends.handlers)
        return before

    def repeated(self, s: ast.While, next_one: Node, ends: Ends) -> Node:
        behind = self.node(ends.fails, next_one)
        forever = isinstance(s.test, ast.Constant) and bool(s.test.value)
        test = self.node(ends.fails, *([] if forever else [self.block(s.orelse, behind, ends)]))
        test.events += events(s.test)
        test.follows.append(self.block(s.body, test, ends._replace(broken=behind, again=test)))
        self.loops[id(s)] = Places(test, behind, ends.handlers)
        return test

    def managed(self, s: ast.With | ast.AsyncWith, next_one: Node, ends: Ends) -> Node:
        # A manager may swallow an exception: then what follows goes on with what had a value by then.
        inside = ends._replace(fails=(*ends.fails, next_one))
        return self.one(_heads(s), self.block(s.body, next_one, inside), ends)

    def tried(self, s: ast.Try | ast.TryStar, next_one: Node, ends: Ends) -> Node:
        if s.finalbody:  # it goes on to wherever the way that led there wanted to
            last = self.node(ends.fails, next_one)
            if _leads(s, ast.Return):
                last.follows.append(ends.returned)
            if _leads(s, ast.Break):
                last.follows.append(ends.broken)
            if _leads(s, ast.Continue):
                last.follows.append(ends.again)
            last.follows += ends.fails
            next_one = self.block(s.finalbody, last, ends)
            ends = Ends(next_one, next_one, next_one, (next_one,), (next_one, *ends.handlers))
        handlers = []
        for h in s.handlers:
            close = self.node(ends.fails, next_one)
            body = self.block(h.body, close, ends)
            opened = self.one([h.type], body, ends)
            if h.name:
                opened.events.append(Event("bind", h.name))
                close.events.append(Event("delete", h.name))
            handlers.append(opened)
        caught = ends._replace(fails=(*handlers, *ends.fails), handlers=(*handlers, *ends.handlers))
        return self.block(s.body, self.block(s.orelse, next_one, ends), caught)

    def matched(self, s: ast.Match, next_one: Node, ends: Ends) -> Node:
        otherwise = next_one
        for case in reversed(s.cases):
            always = case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            body = self.block(case.body, next_one, ends)
            guard = self.one([case.guard], body, ends, otherwise) if case.guard is not None else body
            pattern = self.one([case.pattern], guard, ends)
            # A pattern that does not fit may have bound some of its names, or none.
            otherwise = self.node(ends.fails, *([pattern] if always else [pattern, otherwise]))
        return self.one([s.subject], otherwise, ends)

    # What is known at each node.

    def _find_live(self) -> None:
        """Backwards: read before it is bound. An exception may come before a statement has bound anything."""
        work = list(self.nodes)
        while work:
            node = work.pop()
            live = set(node.live) if node is self.end else set().union(*(n.live for n in node.follows))
            for e in reversed(node.events):
                if e.kind.startswith("read"):
                    live.add(e.name)
                elif e.kind in ("bind", "delete"):
                    live.discard(e.name)
            for handler in node.fails:
                live |= handler.live
            if live != node.live:
                node.live = live
                work += node.reached

    def _find_bound(self, given: set[str]) -> None:
        """Forwards: bound on every path, and on some path. What a statement deletes has no value where it fails."""
        self.start.certain, self.start.possible = set(given), set(given)
        work = [self.start]
        while work:
            node = work.pop()
            assert node.certain is not None
            certain, at_worst, possible, at_best = set(node.certain), set(node.certain), set(node.possible), set(node.possible)
            for kind, name in node.events:
                if kind == "delete":
                    certain.discard(name)
                    at_worst.discard(name)
                    possible.discard(name)
                elif kind.startswith("bind"):
                    possible.add(name)
                    at_best.add(name)
                if kind in ("bind", "read"):  # who reads it has it, or is gone
                    certain.add(name)
            for next_ones, on_all, on_some in ((node.follows, certain, possible), (node.fails, at_worst, at_best)):
                for n in next_ones:
                    known = set(on_all) if n.certain is None else n.certain & on_all
                    if n.certain is None or known != n.certain or not on_some <= n.possible:
                        n.certain = known
                        n.possible |= on_some
                        work.append(n)


def _has_rounds(s: ast.For | ast.AsyncFor) -> bool:
    """True for a range whose bounds are constants of the program and that is not empty."""
    if not (isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Name) and s.iter.func.id == "range" and not s.iter.keywords):
        return False
    try:
        return len(range(*map(ast.literal_eval, s.iter.args))) > 0
    except (ValueError, TypeError, OverflowError):
        return False


def _leads(s: ast.Try | ast.TryStar, kind: type[ast.stmt]) -> bool:
    """True if it contains such a statement in its own scope; one that belongs to a loop inside is no harm."""
    return any(isinstance(n, kind) for n in all_statements([s]))


# Every statement of Python; one of a later version is not passed over in silence.
_FLOW: dict[type[ast.stmt], Callable[[Flow, Any, Node, Ends], Node]] = {
    **dict.fromkeys((ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Expr, ast.Assert), Flow.simple),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom), Flow.simple),
    **dict.fromkeys((ast.Pass, ast.Global, ast.Nonlocal), Flow.ignored),
    **dict.fromkeys((ast.Return, ast.Raise, ast.Break, ast.Continue), Flow.leaves),
    **dict.fromkeys((ast.For, ast.AsyncFor), Flow.counted),
    **dict.fromkeys((ast.With, ast.AsyncWith), Flow.managed),
    **dict.fromkeys((ast.Try, ast.TryStar), Flow.tried),
    ast.If: Flow.branch,
    ast.While: Flow.repeated,
    ast.Match: Flow.matched,
}
if hasattr(ast, "TypeAlias"):  # Python 3.12
    _FLOW[ast.TypeAlias] = Flow.simple


class Around(NamedTuple):
    """What a function does around one of its loops."""

    captured: set[str]  # names that the loop may read before it binds them
    certain: set[str]  # names that it certainly binds, as the compiler sees it
    before: set[str]  # names that certainly have a value where it begins
    possible: set[str]  # names that may have one there
    behind: set[str]  # names that may be read behind it
    outside: set[str]  # names that the rest of the function binds
    caught: set[str]  # names that a handler of its exceptions may read


def around(body: list[ast.stmt], parameters: set[str]) -> dict[int, Around]:
    """All of that, for each loop of a function that is in its own scope."""
    lasting = declared(body)
    flow = Flow(body, parameters, lasting)
    out = {}
    for s in all_statements(body):
        if isinstance(s, (ast.For, ast.AsyncFor, ast.While)):
            places, inside = flow.loops[id(s)], Flow([s], set(), set(), counts=False)
            counter = {s.target.id} if not isinstance(s, ast.While) and isinstance(s.target, ast.Name) and _has_rounds(s) else set()
            rest = {id(n) for n in all_statements([s])}
            others = {e.name for o in all_statements(body) if id(o) not in rest for e in events_of(o) if not e.kind.startswith("read")}
            out[id(s)] = Around(
                captured=inside.start.live,
                certain=(inside.end.certain or set()) & bound([s]) | counter,
                before=places.before.certain or set(),
                possible=places.before.possible,
                behind=places.behind.live,
                outside=parameters | others,
                caught=set().union(*(n.live for n in places.handlers)),
            )
    return out
