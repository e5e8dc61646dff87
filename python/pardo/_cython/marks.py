# python/pardo/_cython/marks.py: `device=` in a file of Cython: found in the tree as it is parsed, taken out, or put in as calls.
from __future__ import annotations

from typing import Any, NamedTuple

from Cython.CodeWriter import ExpressionWriter
from Cython.Compiler import ExprNodes, Nodes, TreeFragment
from Cython.Compiler.Errors import warn_once
from Cython.Compiler.Visitor import VisitorTransform
from pardo._cython.errors import refuse
from pardo._cython.quiet import Quiet, quiet

KINDS = ("to", "from", "tofrom", "alloc", "present")


class Map(NamedTuple):
    """One entry of `device={…}`."""

    text: str  # the array, as it is written
    kind: str
    pos: Any
    section: str = ""  # of a pointer: how many elements, as it is written


class Mark(NamedTuple):
    """One `device=` of a parallel section or loop, or one `with device(…)`."""

    number: int
    pos: Any
    maps: list[Map]
    on: str  # an expression for the device; nothing for the default
    nogil: bool
    block: bool  # `with device(…)`


def dotted(node: Any) -> str:
    """A name, or a dotted name; nothing for other expressions."""
    parts = []
    while isinstance(node, ExprNodes.AttributeNode):
        parts.append(str(node.attribute))
        node = node.obj
    return ".".join([str(node.name), *reversed(parts)]) if isinstance(node, ExprNodes.NameNode) else ""


def maps_of(node: Any) -> list[Map]:
    """What is written in `{X: 'to'}`."""
    if not isinstance(node, ExprNodes.DictNode):
        refuse(node, "device= takes a dict in braces, such as {X: 'to'}")
    maps: list[Map] = []
    for item in node.key_value_pairs:
        kind = getattr(item.value, "value", None)
        if str(kind) not in KINDS or isinstance(item.value, (ExprNodes.IntNode, ExprNodes.NameNode)):
            refuse(item.value, f"a map is one of {', '.join(map(repr, KINDS))}")
        array, section = item.key, ""
        if isinstance(array, ExprNodes.SliceIndexNode):
            if array.start is not None and str(getattr(array.start, "value", "")) != "0":
                refuse(array, "a section of a pointer begins at its first element: p[0:n]")
            if array.stop is None:
                refuse(array, "a section of a pointer says how many elements it has: p[0:n]")
            array, section = array.base, ExpressionWriter().write(array.stop)
        text = dotted(array)
        if not text:
            refuse(item.key, "an array is named in device={…} by its name, as an attribute, or by a pointer with its section, p[0:n]")
        if any(m.text == text for m in maps):
            refuse(item.key, f"`{text}` is in device={{…}} twice")
        maps.append(Map(text, str(kind), item.key.pos, section))
    return maps


class Marks(VisitorTransform):  # type: ignore[misc]
    """Takes every `device=` out of a tree. What `made` gives for one takes the place of the statement that has it; its method `function`
    is given functions, and what reads them."""

    def __init__(self, made: Any = None) -> None:
        super().__init__()
        self.made = made
        self.found: list[Mark] = []
        self.names = {"cython.parallel.device": "device", "cython.parallel.parallel": "parallel", "cython.parallel.prange": "prange"}
        self.modules = {"cython"}
        self.device_functions: list[Any] = []
        self.quiet: dict[int, Quiet | None] = {}  # of blocks
        self.nogil = False
        self.in_region = False
        self.simd = False  # whether that was taken out

    def visit_Node(self, node: Any) -> Any:
        self.visitchildren(node)
        return node

    # --- names

    def visit_FromCImportStatNode(self, node: Any) -> Any:
        if str(node.module_name) == "cython.parallel":
            kept = []
            for item in node.imported_names:
                name, as_name = str(item[1]), str(item[2] or item[1])
                self.names[as_name] = name
                if name != "device":
                    kept.append(item)
            if not kept:
                return Nodes.PassStatNode(node.pos)
            node.imported_names = kept
        return node

    def visit_FromImportStatNode(self, node: Any) -> Any:
        module = getattr(node.module, "module_name", None)
        if module is not None and str(getattr(module, "value", "")) == "cython.parallel":
            kept = []
            for name, target in node.items:
                self.names[str(target.name)] = str(name)
                if str(name) != "device":
                    kept.append((name, target))
            if not kept:
                return Nodes.PassStatNode(node.pos)
            node.items = kept
            if getattr(node.module, "imported_names", None):
                node.module.imported_names = [n for n in node.module.imported_names if str(getattr(n, "value", n)) != "device"]
        return node

    def meaning(self, node: Any) -> str:
        """'device', 'parallel' or 'prange' for what names one of these."""
        text = dotted(node)
        first, _, rest = text.partition(".")
        if first in self.modules and rest == "parallel.device":
            return "device"
        return self.names.get(text, "")

    # --- functions

    def _decorated(self, node: Any) -> None:
        for decorator in list(getattr(node, "decorators", None) or []):
            if dotted(decorator.decorator) == "cython.device":
                node.decorators.remove(decorator)
                self.device_functions.append(node)
        if not getattr(node, "decorators", True):
            node.decorators = None

    def _function(self, node: Any, nogil: bool) -> Any:
        self._decorated(node)
        before, self.nogil = self.nogil, nogil
        if self.made is None:
            self.visitchildren(node)
        else:
            self.made.function(node, lambda: self.visitchildren(node))
        self.nogil = before
        return node

    def visit_CFuncDefNode(self, node: Any) -> Any:
        declarator, nogil = node.declarator, False
        while declarator is not None:
            nogil = nogil or bool(getattr(declarator, "nogil", False))
            declarator = getattr(declarator, "base", None)
        return self._function(node, nogil)

    def visit_DefNode(self, node: Any) -> Any:
        names = [dotted(d.decorator if not hasattr(d.decorator, "function") else d.decorator.function) for d in node.decorators or []]
        return self._function(node, "cython.nogil" in names)

    def visit_GILStatNode(self, node: Any) -> Any:
        return self._within(node, node.state == "nogil")

    def _within(self, node: Any, nogil: bool) -> Any:
        before, self.nogil = self.nogil, nogil
        self.visitchildren(node)
        self.nogil = before
        return node

    # --- statements

    def _marked(self, node: Any, maps: list[Map], on: str, block: bool) -> Mark:
        mark = Mark(len(self.found), node.pos, maps, on, self.nogil, block)
        self.found.append(mark)
        return mark

    def visit_WithStatNode(self, node: Any) -> Any:
        manager = node.manager
        if dotted(manager) in ("cython.nogil", "cython.gil"):
            return self._within(node, dotted(manager) == "cython.nogil")
        function = getattr(manager, "function", None)
        what = self.meaning(function) if function is not None else self.meaning(manager)
        if what == "device" and self.in_region:
            refuse(node, "`with device(…)` in a region on a device; it goes around regions")
        if what == "device":
            arguments, keywords = _arguments(manager)
            on = keywords.pop("on", None)
            if len(arguments) != 1 or keywords or node.target is not None:
                refuse(node, "`with device({X: 'to'}):` takes one dict in braces, and on=")
            mark = self._marked(node, maps_of(arguments[0]), _text(on), True)
            body = self.visit(node.body)
            node.body = body
            if self.made is None:
                self.quiet[mark.number] = quiet(body)
            return body if self.made is None else self.made(mark, body)
        return self._section(node, manager, what == "parallel")

    def visit_ForInStatNode(self, node: Any) -> Any:
        call = node.iterator.sequence
        function = getattr(call, "function", None)
        return self._section(node, call, function is not None and self.meaning(function) == "prange")

    def _section(self, node: Any, call: Any, is_parallel: bool) -> Any:
        """A node that is a region if the call that opens it is given a device."""
        if is_parallel and isinstance(call, ExprNodes.GeneralCallNode):
            self._without_simd(call)
        taken = _taken(call) if is_parallel and isinstance(call, ExprNodes.GeneralCallNode) else None
        if taken is None:
            self.visitchildren(node)
            return node
        if self.in_region:
            refuse(call, "device= in a region that has one already: loops in it are a part of it")
        mark = self._marked(call, maps_of(taken[0]), _text(taken[1]), False)
        self.in_region = True
        self.visitchildren(node)
        self.in_region = False
        node.pardo_region = mark.number
        return node if self.made is None else self.made(mark, node)

    def _without_simd(self, call: Any) -> None:
        """Take `simd=` out, which Cython itself does not know in all versions."""
        pairs = call.keyword_args.key_value_pairs if call.keyword_args else []
        for pair in [k for k in pairs if str(k.key.value) == "simd"]:
            pairs.remove(pair)
            self.simd = True
            if self.made is None:
                warn_once(pair.key.pos, "simd= of prange is ignored: loops on devices are vectorised, others as C compilers do", 1)

    def visit_SimpleCallNode(self, node: Any) -> Any:
        if self.meaning(node.function) == "device":
            refuse(node, "device(…) is for `with device({X: 'to'}):`")
        self.visitchildren(node)
        return node


def _arguments(node: Any) -> tuple[list[Any], dict[str, Any]]:
    if isinstance(node, ExprNodes.GeneralCallNode):
        pairs = node.keyword_args.key_value_pairs if node.keyword_args else []
        return list(node.positional_args.args), {str(k.key.value): k.value for k in pairs}
    return list(getattr(node, "args", [])), {}


def _taken(call: Any) -> tuple[Any, Any] | None:
    """`device=` and `on=` of a call, which lose their places there."""
    pairs = call.keyword_args.key_value_pairs
    found = {str(k.key.value): k for k in pairs}
    if "device" not in found:
        return None
    call.keyword_args.key_value_pairs = [k for k in pairs if str(k.key.value) not in ("device", "on")]
    return found["device"].value, found["on"].value if "on" in found else None


def _text(node: Any) -> str:
    if node is None:
        return ""
    value = getattr(node, "value", None)
    if isinstance(value, str) and not isinstance(node, ExprNodes.IntNode):
        return repr(str(value))
    text = dotted(node)
    if not text:
        refuse(node, "on= takes a text such as 'cuda:0', or a name")
    return text


def statements(text: str, pos: Any) -> list[Any]:
    """Statements of Cython at a position."""
    root = TreeFragment.TreeFragment(text, level="function").root
    _placed(root, pos, set())
    return list(root.stats)


def _placed(node: Any, pos: Any, seen: set[int]) -> None:
    """Give a node, and all that belong to it, types that are written in it too, a position."""
    if id(node) in seen:
        return
    seen.add(id(node))
    node.pos = pos
    for value in list(vars(node).values()):
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(each, Nodes.Node):
                _placed(each, pos, seen)
