# python/pardo/_cython/regions.py: parallel sections of Cython's typed tree -> functions with loops of pardo, and what these take and give.
from __future__ import annotations

import ast
import re
from typing import Any

from Cython.Compiler import ExprNodes, Nodes
from pardo._cython.errors import RefusedError, refuse
from pardo._cython.expressions import LOAD, STORE
from pardo._cython.loops import Loops
from pardo._cython.statements import FoundFunction, Place, children
from pardo._cython.types import Path, dtype_name, fields, plain, sizes, spelled


class Region(Loops):
    """A parallel section, or a loop over `prange`, as a function."""

    def __init__(
        self,
        functions: dict[str, FoundFunction],
        directives: dict[str, Any],
        node: Any,
        read_after: set[Any],
        sections: dict[str, str],
        returned: Any,
    ) -> None:
        super().__init__(functions, directives)
        self.sections = sections  # of pointers
        self.given: dict[str, str] = {}  # expressions for parameters that are no variables
        self.places_of_memory: dict[str, list[str]] = {}  # their addresses, shapes and strides
        self.node, self.returned = node, returned
        self.read_after = read_after | set(_read_outside(node))
        self.captured: dict[str, Any] = {}  # the text of what is taken from outside -> its type
        self.parameters: dict[str, str] = {}  # that text -> the name of the parameter
        self.set_before: set[Place] = set()  # what the section itself assigns, outside of its loops
        self.set_fields = _set_fields(node)
        self.is_loops = False  # parallel ones alone, that give what they reduce

    # --- names

    def outside(self, node: Any, path: Path = ()) -> ast.expr:
        text = _text_of(node)
        if not text:
            refuse(node, "this cannot be taken into a region on a device")
        text += spelled(path)
        kind = self.kind_at(node.type, path)
        if kind.is_ptr or kind.is_array:
            self.pointer(node, text, kind)
        elif not _is_array(kind):
            self.dtype(node, kind)
        if text not in self.parameters:
            self.parameters[text] = self.unique(re.sub(r"\W+", "_", text).rstrip("_"))
            self.captured[text] = kind
        return ast.Name(self.parameters[text], LOAD)

    def callee(self, name: str, c_name: str, found: FoundFunction) -> None:
        try:
            super().callee(name, c_name, found)
        except RefusedError as refused:
            why = f"{refused.message}; the region at line {self.node.pos[1]} calls `{found.node.entry.name}`"
            raise RefusedError(refused.pos, why) from None

    def pointer(self, node: Any, text: str, kind: Any) -> None:
        """Memory of C that is given as a memoryview."""
        section = self.sections.get(text, "")
        first = f"&{text}" if plain(kind).is_array else text
        shape, kind = sizes(kind)
        first += "[0]" * len(shape)
        if kind.is_ptr:
            kind = plain(kind.base_type)
        if dtype_name(kind) is None and not (kind.is_struct and fields(kind)):
            refuse(node, f"`{text}` points to `{kind}`, of which a region on a device has no arrays")
        bounds = [section] if section else [str(n) for n in shape]
        if not bounds:
            refuse(node, f"`{text}` is a pointer: say how many elements it has, device={{{text}[0:n]: 'to'}}")
        self.given[text] = f"<{kind}[{', '.join(f':{n}' for n in bounds)}]>{first}"
        steps = ["*".join([f"sizeof({kind})", *bounds[k + 1 :]]) for k in range(len(bounds))]
        self.places_of_memory[text] = [first, *bounds, *steps]

    def name(self, node: Any) -> ast.expr:
        entry = node.entry
        if entry in self.own and not node.has_constant_result() and dtype_name(entry.type) is not None:
            self.reads((entry, ()))
            if not self.depth:
                return ast.Name(self.now((entry, ())), LOAD)
        return super().name(node)

    def member_of_name(self, node: Any, path: Path) -> ast.expr:
        if not self.depth and isinstance(node, ExprNodes.NameNode) and node.entry in self.own:
            refuse(node, f"`{node.name}{spelled(path)}` is used outside of the loop that changes it, which a region on a device cannot do")
        return super().member_of_name(node, path)

    def field_of_name(self, node: Any, path: Path) -> ast.expr:
        if isinstance(node, ExprNodes.NameNode) and node.entry in self.own:
            self.reads((node.entry, path))
            if not self.depth:
                return ast.Name(self.now((node.entry, path)), LOAD)
        return super().field_of_name(node, path)

    def reads(self, place: Place) -> None:
        """A variable that iterations assign is read; outside of them it may have its value from outside."""
        if not self.depth:
            self.asks(place)

    def asks(self, place: Place) -> None:
        if place not in self.set_before:
            self.initial.add(place)

    def assigned_place(self, place: Place) -> ast.expr:
        if self.depth:
            return super().assigned_place(place)
        if self.in_else:
            self.results.setdefault(place, self.variable(*place))
        self.set_before.add(place)
        return ast.Name(self.now(place), STORE)

    def view(self, node: Any, lhs: Any, rhs: Any) -> ast.stmt:
        if isinstance(lhs, ExprNodes.NameNode) and lhs.entry in self.read_after:
            refuse(node, f"the memoryview `{lhs.name}` is used after this region on a device, which cannot change it")
        return super().view(node, lhs, rhs)

    def kind_at(self, kind: Any, path: Path) -> Any:
        """The type of a number or an array in a struct."""
        for part in path:
            kind = plain(kind)
            kind = kind.base_type if isinstance(part, int) else kind.scope.lookup_here(part).type
        return kind

    def kind_of(self, entry: Any, path: Path) -> Any:
        return self.kind_at(entry.type, path)

    # --- the whole of it

    def function(self, name: str) -> ast.FunctionDef:
        """The region as a function."""
        node = self.node
        for inner in _parallel_nodes(node):
            for entry, operation in inner.privates.items():
                self.variable(entry)
                if operation:
                    self.reductions[entry] = operation
            for entry in inner.assignments:
                self.variable(entry)
        for entry in self.set_fields:
            self.variable(entry)
        body = self.statement(node.body) if isinstance(node, Nodes.ParallelWithBlockNode) else self.statement(node)
        self.is_loops = all(map(_is_parallel, body)) and not (self.results or self.returns)
        self.results.update({(e, ()): self.variable(e) for e in self.reductions})
        before: list[ast.stmt] = []
        needed = {self.variable(*place): place for place in self.asked()}
        for text, parameter in self.parameters.items():
            if not (_is_array(self.captured[text]) or text in self.given):
                before.append(self._conversion(parameter, self.captured[text]))
        for parameter, place in needed.items():
            before.append(self._conversion(parameter, self.kind_of(*place)))
        given: list[ast.expr] = [ast.Name(name, LOAD) for name in self.results.values()]
        for early in self.returns:  # what the variables have then is not asked for
            assert early.value is not None
            early.value = ast.Tuple([*(ast.Name(self.variable(*place), LOAD) for place in self.results), early.value], LOAD)
        if self.returns:
            given.append(ast.Constant(None))
        last = ast.Return(ast.Tuple(given, LOAD)) if given else None
        names = [*self.parameters.values(), *needed]
        arguments = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
        statements = [*before, *body, *([last] if last else [])]
        made: ast.FunctionDef = self.at(node, ast.FunctionDef(name, arguments, statements or [ast.Pass()], [], None, None))
        return made

    def facts(self) -> tuple[list[str], list[str]] | None:
        """What a call depends on, beside what arrays hold: addresses, shapes and strides of arrays, and numbers. None for regions that
        return from the function around them, or have what these do not tell."""
        words: list[str] = []
        numbers: list[str] = []
        for text, kind in [*self.captured.items(), *((place_text(p), self.kind_of(*p)) for p in self.asked())]:
            if kind.is_memoryviewslice and (dtype_name(kind.dtype) is not None or plain(kind.dtype).is_struct):
                axes = range(kind.ndim)
                words += [f"<size_t>{text}._data", *(f"<size_t>{text}.{what}[{k}]" for what in ("shape", "strides") for k in axes)]
            elif text in self.places_of_memory:
                words += [f"<size_t>({word})" for word in self.places_of_memory[text]]
            elif dtype_name(plain(kind)) is None:
                return None
            else:
                numbers.append(text)
        return (words, numbers) if (words or numbers) and not self.returns else None

    def asked(self) -> list[Place]:
        """Variables of its own that are given with the values which they have outside."""
        return list(dict.fromkeys([*((e, ()) for e in self.reductions), *self.results, *sorted(self.initial, key=place_text)]))

    def _conversion(self, name: str, kind: Any) -> ast.stmt:
        return ast.Assign([ast.Name(name, STORE)], self.converted(ast.Name(name, LOAD), dtype_name(kind) or "float64"))


def place_text(place: Place) -> str:
    """A variable, or a number in it, as the file writes it."""
    return str(place[0].name) + spelled(place[1])


def _is_parallel(statement: ast.stmt) -> bool:
    """Whether it is a parallel loop."""
    over = statement.iter.func if isinstance(statement, ast.For) and isinstance(statement.iter, ast.Call) else None
    return isinstance(over, ast.Name) and over.id == "_prange"


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


def _parallel_nodes(node: Any) -> Any:
    if isinstance(node, Nodes.ParallelStatNode):
        yield node
    for child in children(node):
        yield from _parallel_nodes(child)


def _read_outside(node: Any) -> Any:
    """Entries of variables that a section reads outside of its parallel loops: behind them, or before."""
    if isinstance(node, ExprNodes.NameNode):
        yield node.entry
    elif isinstance(node, Nodes.ParallelRangeNode):
        for part in (node.start, node.stop, node.step, node.else_clause):
            if part is not None:
                yield from _read_outside(part)
    else:
        for child in children(node):
            yield from _read_outside(child)


def _set_fields(node: Any) -> list[Any]:
    """Entries of structs of which fields are assigned somewhere below a node."""
    found = []
    if isinstance(node, (Nodes.SingleAssignmentNode, Nodes.InPlaceAssignmentNode)):
        base = node.lhs
        while isinstance(base, ExprNodes.AttributeNode) and plain(base.obj.type).is_struct_or_union:
            base = base.obj
        if base is not node.lhs and isinstance(base, ExprNodes.NameNode) and not base.entry.is_cglobal:
            found.append(base.entry)
    return list(dict.fromkeys([*found, *(entry for child in children(node) for entry in _set_fields(child))]))
