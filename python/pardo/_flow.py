# python/pardo/_flow.py: where the names of a function have values, and where these are read.
from __future__ import annotations

import ast
from collections.abc import Iterable


def names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def read_first(statements: Iterable[ast.stmt], assigned: set[str]) -> set[str]:
    """Names that may be read before these statements assign them; adds to `assigned` what they certainly assign."""
    read: set[str] = set()

    def look(*nodes: ast.AST | None) -> None:
        read.update(names([n for n in nodes if n is not None], ast.Load) - assigned)

    for s in statements:
        if isinstance(s, ast.For):
            look(s.iter)
            inner = assigned | names([s.target], ast.Store)
            look(s.target)
            read |= read_first(s.body, inner) | read_first(s.orelse, set(assigned))
        elif isinstance(s, ast.While):
            look(s.test)
            read |= read_first(s.body, set(assigned)) | read_first(s.orelse, set(assigned))
        elif isinstance(s, ast.If):
            look(s.test)
            yes, no = set(assigned), set(assigned)
            read |= read_first(s.body, yes) | read_first(s.orelse, no)
            assigned |= yes & no
        else:
            if isinstance(s, ast.AugAssign):
                read |= ({s.target.id} if isinstance(s.target, ast.Name) else set()) - assigned
            look(s)
            if not isinstance(s, (ast.Try, ast.TryStar, ast.Match)):
                assigned |= own_names(s, ast.Store)
    return read


_FUNCTIONS = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_names(node: ast.AST | None, context: type[ast.expr_context]) -> set[str]:
    """As `names`, without those that belong to comprehensions and functions inside."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, context) else set()
    own: set[str] = set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and context is ast.Store:
        return {node.name}
    if isinstance(node, _FUNCTIONS):
        own = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    elif isinstance(node, _COMPREHENSIONS):
        own = names(node.generators, ast.Store)
    changed = {node.target.id} if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else set()
    return changed | set().union(*(own_names(n, context) for n in ast.iter_child_nodes(node))) - own if node else set()


class Behind:
    """Names that may be read behind each loop of a function before something else assigns them: one walk from the end to the front."""

    def __init__(self, body: list[ast.stmt]) -> None:
        self.loops: dict[int, set[str]] = {}
        # What nested functions read, they read whenever they are called; what handlers read, wherever something fails.
        self.always = set().union(*(own_names(n, ast.Load) for s in body for n in ast.walk(s) if isinstance(n, _FUNCTIONS)))
        self.before(body, self.always, self.always, self.always)

    def before(self, statements: list[ast.stmt], behind: set[str], broken: set[str], again: set[str]) -> set[str]:
        """Names that are read from here on; `broken`, `again`: where `break` and `continue` lead."""
        for s in reversed(statements):
            behind = self.before_one(s, behind, broken, again) | self.always
        return behind

    def before_one(self, s: ast.stmt, behind: set[str], broken: set[str], again: set[str]) -> set[str]:
        if isinstance(s, (ast.For, ast.AsyncFor)):
            return self.before_loop(s, behind, s.target, self.before(s.orelse, behind, broken, again)) | own_names(s.iter, ast.Load)
        if isinstance(s, ast.While):
            return self.before_loop(s, behind, s.test, self.before(s.orelse, behind, broken, again))
        if isinstance(s, ast.If):
            return own_names(s.test, ast.Load) | self.before(s.body, behind, broken, again) | self.before(s.orelse, behind, broken, again)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            inside = self.before(s.body, behind, broken, again)
            return set().union(*(own_names(i, ast.Load) for i in s.items)) | inside - names(s.items, ast.Store)
        if isinstance(s, (ast.Try, ast.TryStar)):
            last = self.before(s.finalbody, behind, broken, again)
            ends = last, last | broken, last | again
            handled = set().union(*(self.before(h.body, *ends) | own_names(h.type, ast.Load) for h in s.handlers))
            outer, self.always = self.always, self.always | handled | last
            tried = self.before(s.body, self.before(s.orelse, *ends), *ends[1:])
            self.always = outer
            return tried
        if isinstance(s, ast.Match):
            cases = (own_names(c.guard, ast.Load) | self.before(c.body, behind, broken, again) for c in s.cases)
            return behind | own_names(s.subject, ast.Load).union(*cases)
        if isinstance(s, (ast.Return, ast.Raise)):
            return own_names(s, ast.Load)
        ends_here = {ast.Break: broken, ast.Continue: again}
        return ends_here[type(s)] if type(s) in ends_here else behind - own_names(s, ast.Store) | own_names(s, ast.Load)

    def before_loop(self, s: ast.For | ast.AsyncFor | ast.While, behind: set[str], asked: ast.expr, ended: set[str]) -> set[str]:
        """As `before`; `asked`: the test or the target, `ended`: what is read when the loop has ended by itself."""
        self.loops[id(s)] = self.loops.get(id(s), set()) | behind
        head = ended | own_names(asked, ast.Load)
        for _ in range(2):  # the second time with what the next round reads
            head |= self.before(s.body, head, behind, head) - names([asked], ast.Store)
        return head


def assigned_before(statements: list[ast.stmt], loop: ast.AST, assigned: set[str]) -> bool:
    """Adds to `assigned` the names that certainly have a value where the loop begins; False if it does not stand in there."""
    for s in statements:
        if s is loop:
            return True
        for name in ("body", "orelse", "finalbody"):
            inner = set(assigned)
            if name == "body" and isinstance(s, ast.For):
                inner |= names([s.target], ast.Store)
            if assigned_before(getattr(s, name, []), loop, inner):
                assigned |= inner
                return True
        read_first([s], assigned)
        assigned -= names([s], ast.Del)
    return False


def assigned_at_breaks(body: list[ast.stmt]) -> set[str]:
    """Names that have a value wherever a `break` leaves the loop with this body."""
    left: list[set[str]] = []

    def walk(statements: list[ast.stmt], assigned: set[str]) -> set[str] | None:
        """What has a value at the end of the statements; None if control does not come there."""
        now: set[str] | None = assigned
        for s in statements:
            if now is None:
                return None
            if isinstance(s, ast.Break):
                left.append(now)
            if isinstance(s, (ast.Break, ast.Continue, ast.Return, ast.Raise)):
                return None
            if isinstance(s, ast.If):
                yes, no = walk(s.body, now), walk(s.orelse, now)
                now = no if yes is None else yes if no is None else yes & no
            elif isinstance(s, (ast.For, ast.While)):  # its own breaks are its own; its else belongs to the loop around
                now = now | always_assigned(s)
                walk(s.orelse, now)
            elif isinstance(s, ast.With):
                now = walk(s.body, now)
            else:
                if any(isinstance(n, ast.Break) for n in ast.walk(s)):
                    left.append(now)
                now = set(now)
                read_first([s], now)
        return now

    walk(body, set())
    return set.intersection(*left) if left else set()


def always_assigned(loop: ast.For | ast.While) -> set[str]:
    """Names that have a value behind a loop in any case: the counter of a range known to have rounds, what stands before a break."""
    certain: set[str] = set()
    if isinstance(loop, ast.While):
        if isinstance(loop.test, ast.Constant) and loop.test.value:
            certain = assigned_at_breaks(loop.body)
    elif isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "range":
        try:
            rounds = range(*map(ast.literal_eval, loop.iter.args))
        except (ValueError, TypeError):
            return certain
        if rounds:
            certain.add(loop.target.id)
    return certain
