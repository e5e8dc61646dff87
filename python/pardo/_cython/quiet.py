# python/pardo/_cython/quiet.py: blocks of `with device(…)` between whose regions the host reads and writes no memory, calls nothing.
"""Results of regions in such a block may stay on the device until its end, as no statement reads them before."""

from __future__ import annotations

from typing import Any, NamedTuple

from Cython.Compiler import ExprNodes, Nodes

_OPERATIONS = (
    ExprNodes.NumBinopNode,
    ExprNodes.UnopNode,
    ExprNodes.PrimaryCmpNode,
    ExprNodes.CascadedCmpNode,
    ExprNodes.BoolBinopNode,
    ExprNodes.NotNode,
    ExprNodes.CondExprNode,
    ExprNodes.SliceNode,
    ExprNodes.TupleNode,
)
_NOTHING = (Nodes.PassStatNode, Nodes.BreakStatNode, Nodes.ContinueStatNode)


class NotQuietError(Exception):
    """A statement may read or write memory, or call something."""


class Quiet(NamedTuple):
    """A block that is quiet if names in it have these types."""

    numbers: frozenset[str]
    views: frozenset[str]
    regions: frozenset[int]  # numbers of their marks

    def holds(self, scopes: dict[int, Any]) -> bool:
        """Whether they have: by the scopes of the functions that regions are in."""
        if not self.regions or not self.regions <= scopes.keys():
            return False
        for scope in {scopes[r] for r in self.regions}:
            kinds: dict[str, Any] = {
                name: getattr(scope.lookup_here(name) if scope else None, "type", None) for name in self.numbers | self.views
            }
            numbers = all(kinds[n] is not None and (kinds[n].is_numeric or kinds[n].is_enum) for n in self.numbers)
            if not numbers or not all(kinds[n] is not None and kinds[n].is_memoryviewslice for n in self.views):
                return False
        return True


def quiet(body: Any) -> Quiet | None:
    """What has to hold for a block to be quiet; None if it is not. Its regions have their numbers as `pardo_region`."""
    rebound: set[str] = set()
    try:
        for _ in range(2):  # first, to learn which names are bound again
            walk = _Walk(rebound)
            walk.statement(body)
            rebound = walk.bound_ever
    except NotQuietError:
        return None
    return Quiet(frozenset(walk.numbers), frozenset(walk.views), frozenset(walk.regions))


def _names(node: Any) -> set[str]:
    found = {str(node.name)} if isinstance(node, ExprNodes.NameNode) else set()
    for attribute in node.child_attrs or ():
        child = getattr(node, attribute, None)
        for each in child if isinstance(child, list) else [child]:
            if isinstance(each, Nodes.Node):
                found |= _names(each)
    return found


class _Walk:
    """A name that is bound again may be the only one that keeps its former memory: regions use it after that alone. Then its memory is that
    of a name which stays."""

    def __init__(self, rebound: set[str]) -> None:
        self.rebound = rebound
        self.bound: set[str] = set()  # so far, whatever branches were taken
        self.bound_ever: set[str] = set()
        self.numbers: set[str] = set()
        self.views: set[str] = set()
        self.regions: set[int] = set()

    def statement(self, node: Any) -> None:
        region = getattr(node, "pardo_region", None)
        if region is not None:
            self.regions.add(region)
            if _names(node) & self.rebound - self.bound:
                raise NotQuietError
        elif isinstance(node, Nodes.StatListNode):
            for each in node.stats:
                self.statement(each)
        elif isinstance(node, Nodes.GILStatNode) and node.state == "nogil":
            self.statement(node.body)
        elif isinstance(node, Nodes.ForInStatNode) and node.else_clause is None:
            call = node.iterator.sequence
            if not isinstance(call, ExprNodes.SimpleCallNode) or getattr(call.function, "name", "") != "range":
                raise NotQuietError
            self.expression(node.target)
            for argument in call.args:
                self.expression(argument)
            self.perhaps(node.body)
        elif isinstance(node, Nodes.IfStatNode):
            for clause in node.if_clauses:
                self.expression(clause.condition)
                self.perhaps(clause.body)
            if node.else_clause is not None:
                self.perhaps(node.else_clause)
        elif isinstance(node, Nodes.WhileStatNode) and node.else_clause is None:
            self.expression(node.condition)
            self.perhaps(node.body)
        elif isinstance(node, Nodes.SingleAssignmentNode) and isinstance(node.lhs, ExprNodes.NameNode):
            self.assignment(node.lhs, node.rhs)
        elif isinstance(node, Nodes.InPlaceAssignmentNode) and isinstance(node.lhs, ExprNodes.NameNode):
            self.expression(node.lhs)
            self.expression(node.rhs)
        elif not isinstance(node, _NOTHING):
            raise NotQuietError

    def perhaps(self, body: Any) -> None:
        before = set(self.bound)
        self.statement(body)
        self.bound = before

    def assignment(self, lhs: Any, rhs: Any) -> None:
        """A number, or a part of a memoryview, which reads none of its elements."""
        if isinstance(rhs, (ExprNodes.IndexNode, ExprNodes.SliceIndexNode)) and isinstance(rhs.base, ExprNodes.NameNode):
            self.views |= {str(lhs.name), str(rhs.base.name)}
            for part in (rhs.index,) if isinstance(rhs, ExprNodes.IndexNode) else (rhs.start, rhs.stop):
                self.expression(part)
            if str(rhs.base.name) in self.rebound - self.bound:
                raise NotQuietError
            self.bound.add(str(lhs.name))
            self.bound_ever.add(str(lhs.name))
        else:
            self.expression(lhs)
            self.expression(rhs)

    def expression(self, node: Any) -> None:
        if node is None or isinstance(node, (ExprNodes.ConstNode, ExprNodes.NoneNode)):
            return
        if isinstance(node, ExprNodes.NameNode):
            self.numbers.add(str(node.name))
        elif isinstance(node, _OPERATIONS):
            for attribute in node.subexprs:
                child = getattr(node, attribute, None)
                for each in child if isinstance(child, list) else [child]:
                    self.expression(each)
        elif isinstance(node, ExprNodes.IndexNode) and isinstance(node.base, ExprNodes.AttributeNode):
            if str(node.base.attribute) != "shape" or not isinstance(node.base.obj, ExprNodes.NameNode):
                raise NotQuietError
            self.views.add(str(node.base.obj.name))
            self.expression(node.index)
        else:
            raise NotQuietError
