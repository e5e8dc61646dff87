# python/pardo/_cython/analysis.py: files of Cython are read twice: for their regions, with types; then to be compiled with calls of these.
from __future__ import annotations

import ast
import contextlib
import linecache
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from Cython.Compiler import Errors, ExprNodes, Main, Nodes, Optimize, ParseTreeTransforms, Pipeline, PyrexTypes
from Cython.Compiler.ParseTreeTransforms import EnvTransform
from Cython.Compiler.StringEncoding import EncodedString
from pardo._cython import carried
from pardo._cython.errors import RefusedError
from pardo._cython.marks import Mark, Marks, statements
from pardo._cython.regions import Region, place_text
from pardo._cython.statements import FoundFunction, children
from pardo._cython.types import dtype_name

_RUNTIME = """
try:
    from pardo._cython import runtime as _pardo
except ImportError as error:
    raise ImportError("this module was built with pardo.cython, and needs pardo when it runs: pip install pardo") from error
"""


class Compiled(NamedTuple):
    """A region: what is to be called in its place."""

    parameters: list[str]  # texts
    results: list[str]
    returns: str  # the statement with which the function around it returns, if the region gives a value for it
    fused: bool
    declarations: dict[str, str]  # types that Cython has inferred for variables of the function around it, which are to keep them
    has_sections: bool  # of pointers, or C arrays: memory that is read to find them
    facts: tuple[list[str], list[str]] | None  # what a call depends on, beside what arrays hold, if that can be told: words, and numbers
    files: set[str]  # where it is written
    data: bytes


class _Found(NamedTuple):
    mark: Mark
    node: Any
    directives: dict[str, Any]
    function: Any
    read_after: set[Any]


class _Reader(EnvTransform):  # type: ignore[misc]
    """Goes over the typed tree: finds regions and functions with bodies, and finishes assignments in place."""

    def __init__(self, context: Any, marks: list[Mark]) -> None:
        super().__init__(context)
        self.wanted = {m.pos: m for m in marks if not m.block}
        self.found: list[_Found] = []
        self.functions: dict[str, FoundFunction] = {}
        self.inside: list[Any] = []

    def visit_FuncDefNode(self, node: Any) -> Any:
        entry = getattr(node, "entry", None)
        if isinstance(node, Nodes.CFuncDefNode) and entry is not None:
            self.functions[str(entry.cname)] = FoundFunction(node, dict(self._directives(node)))
        self.inside.append(node)
        made = super().visit_FuncDefNode(node)
        self.inside.pop()
        return made

    def cimported(self, statements: Any, scope: Any) -> None:
        """Functions with bodies of a .pxd file."""
        self.env_stack = [(statements, scope)]
        self.current_directives = dict(scope.directives or {})
        self.visit(statements)

    def _directives(self, node: Any) -> dict[str, Any]:
        own: dict[str, Any] | None = getattr(getattr(node, "local_scope", None), "directives", None)
        return own or dict(self.current_directives)

    def visit_InPlaceAssignmentNode(self, node: Any) -> Any:
        self.visitchildren(node)
        if not (node.lhs.type.is_pyobject or node.rhs.type.is_pyobject):
            value = ExprNodes.binop_node(node.pos, operator=node.operator, operand1=node.lhs, operand2=node.rhs, inplace=True)
            value.analyse_operation(self.current_env())
            node.pardo_value = value
        return node

    def _parallel(self, node: Any) -> Any:
        mark = self.wanted.get(node.pos)
        self.visitchildren(node)
        if mark is not None:
            function = self.inside[-1] if self.inside else None
            directives = dict(self.current_env().directives or self.current_directives)
            self.found.append(_Found(mark, node, directives, function, set()))
        return node

    def visit_ParallelWithBlockNode(self, node: Any) -> Any:
        return self._parallel(node)

    def visit_ParallelRangeNode(self, node: Any) -> Any:
        return self._parallel(node)


def _reads_after(function: Any, region: Any) -> set[Any]:
    """Entries of variables that are read behind a region, or in a loop around it."""
    reads: list[tuple[int, Any, tuple[int, ...]]] = []
    place: dict[str, Any] = {}
    count = 0

    def walk(node: Any, loops: tuple[int, ...], inside: bool) -> None:
        nonlocal count
        count += 1
        if node is region:
            place["begin"], place["loops"] = count, loops
            inside = True
        if isinstance(node, ExprNodes.NameNode):
            if not inside and node.entry is not None:
                reads.append((count, node.entry, loops))
            return
        if isinstance(node, (Nodes.LoopNode, Nodes.ParallelRangeNode)):
            loops = (*loops, id(node))
        targets = []
        if isinstance(node, Nodes.SingleAssignmentNode):
            targets = [node.lhs]
        elif isinstance(node, Nodes.CascadedAssignmentNode):
            targets = list(node.lhs_list)
        elif isinstance(node, (Nodes.ForFromStatNode, Nodes.ParallelRangeNode)):
            targets = [node.target]
        for child in children(node):
            if not (any(child is t for t in targets) and isinstance(child, ExprNodes.NameNode)):
                walk(child, loops, inside)
        for hidden in ("arg", "args", "function", "obj", "base", "operand", "operand1", "operand2", "cascade"):
            child = getattr(node, hidden, None)
            if hidden not in (getattr(node, "child_attrs", None) or ()) and isinstance(child, ExprNodes.ExprNode):
                walk(child, loops, inside)
        if node is region:
            place["end"] = count

    walk(function.body, (), False)
    around = set(place.get("loops", ()))
    return {entry for at, entry, loops in reads if at > place.get("end", 0) or around & set(loops)}


class _Undeclared(EnvTransform):  # type: ignore[misc]
    """Finds variables of functions whose types are to be inferred."""

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.entries: set[Any] = set()

    def visit_FuncDefNode(self, node: Any) -> Any:
        self.entries.update(entry for entry in node.local_scope.entries.values() if entry.type is PyrexTypes.unspecified_type)
        return super().visit_FuncDefNode(node)


@contextlib.contextmanager
def _typed_trees(undeclared: Callable[[Any], Any]) -> Iterator[Callable[..., list[Any]]]:
    """Let Cython stop where trees have types, of files that are cimported too. `undeclared` gets trees before types are inferred."""
    original = Pipeline.create_pipeline

    def shorter(context: Any, mode: str, exclude_classes: Any = ()) -> list[Any]:
        stages = []
        for stage in original(context, mode, exclude_classes):
            if isinstance(stage, ParseTreeTransforms.AnalyseExpressionsTransform):
                stages.append(undeclared)
            stages.append(stage)
            if isinstance(stage, ParseTreeTransforms.AnalyseExpressionsTransform):
                break
        return [*stages, Pipeline.abort_on_errors, Optimize.IterationTransform(context)]

    Pipeline.create_pipeline = shorter
    try:
        yield shorter
    finally:
        Pipeline.create_pipeline = original


def regions_of(context: Any, source: Any, py: bool) -> tuple[dict[int, Compiled], set[int]]:
    """The regions of a file, by the numbers of their marks, and which blocks are quiet. What is wrong is reported as Cython does."""
    marks = Marks()

    def take_out(tree: Any) -> Any:
        return marks(tree)

    stages: list[Any] = [Pipeline.parse_stage_factory(context), take_out]
    undeclared = _Undeclared(context)
    with _typed_trees(undeclared) as create_pipeline:
        stages += create_pipeline(context, "py" if py else "pyx")
        tree = source
        for stage in stages:
            if stage is not None:
                tree = stage(tree)
    Pipeline.abort_on_errors(tree)
    reader = _Reader(context, marks.found)
    reader(tree)
    for cimported, scope in context.pxds.values():
        reader.cimported(cimported, scope)
    by_mark: dict[int, list[_Found]] = {}
    for found in reader.found:
        by_mark.setdefault(found.mark.number, []).append(found)
    regions = {}
    for number, each in by_mark.items():
        try:
            regions[number] = _compiled(each, reader.functions, str(tree.full_module_name), undeclared.entries)
        except RefusedError as refused:
            _report(refused)
    Pipeline.abort_on_errors(tree)
    scopes = {number: getattr(each[0].function, "local_scope", None) for number, each in by_mark.items() if len(each) == 1}
    calm = {n for n, region in regions.items() if not region.has_sections}
    blocks = {n for n, block in marks.quiet.items() if block is not None and block.regions <= calm and block.holds(scopes)}
    return regions, blocks


def _report(refused: RefusedError) -> None:
    Errors.error(refused.pos, EncodedString(refused.message))


def _compiled(found: list[_Found], functions: dict[str, FoundFunction], module: str, undeclared: set[Any]) -> Compiled:
    variants, returns = [], ""
    declarations: dict[str, str] = {}
    first: tuple[list[str], list[str]] | None = None
    facts: list[Any] = []
    for each in found:
        function = each.function
        name = str(getattr(function, "name", "") or function.entry.name) if function is not None else module
        after = _reads_after(function, each.node) if function is not None else set()
        sections = {m.text: m.section for m in each.mark.maps if m.section}
        region = Region(functions, each.directives, each.node, after, sections, _returned(function))
        tree = region.function(f"{name}_region{each.mark.number}")
        maps = _maps(each.mark, region)
        if function is not None:
            _refuse_overlaps(each.mark, function)
        texts = [
            *(region.given.get(p, p) for p in region.parameters),
            *map(place_text, region.asked()),
        ]
        results = list(map(place_text, region.results))
        own = getattr(function, "local_scope", None)
        for entry in {place[0] for place in (*region.results, *region.asked())} & undeclared:
            if len(found) == 1 and own is not None and own.lookup_here(entry.name) is entry and dtype_name(entry.type) is not None:
                declarations[str(entry.name)] = str(entry.type)
        if region.returns:
            nothing = region.returned is not None and region.returned.is_void
            returns = "return" if nothing else "return _pardo_left[0]"
        if first is not None and first != (texts, results):
            raise RefusedError(each.node.pos, "this region uses other variables for other types of a fused function")
        first = texts, results
        facts.append(region.facts())
        entries = [*region.captured.values(), *(region.kind_of(*place) for place in region.asked())]
        fused = len(found) > 1
        key = tuple(str(kind) for kind in entries) if fused else None
        file = str(each.mark.pos[0].filename)
        variants.append(
            {
                "key": key,
                "name": name,
                "module": module,
                "file": file,
                "functions": [*region.made, tree],
                "maps": maps,
                "on": _device(each.mark),
                "results": list(region.results.values()),
                "options": {
                    "checks": region.checks,
                    "schedule": "dynamic" if region.schedule in ("dynamic", "guided") else None,
                    "chunk": region.chunk,
                    "returns": bool(region.returns),
                    "loops": region.is_loops,
                },
            }
        )
    assert first is not None
    has_sections, same = bool(region.given), facts[0] if all(f == facts[0] for f in facts) else None
    files = {str(variant["file"]) for variant in variants}
    return Compiled(first[0], first[1], returns, len(found) > 1, declarations, has_sections, same, files, carried.packed(*variants))


def _returned(function: Any) -> Any:
    """What a function returns; None for Python's."""
    return getattr(function, "return_type", None) if isinstance(function, Nodes.CFuncDefNode) else None


def _device(mark: Mark) -> str | None:
    """What on= says."""
    if not mark.on:
        return None
    if mark.on[0] not in "'\"":
        raise RefusedError(mark.pos, "on= of a region takes a text such as 'cuda:0'; a name can be given to `with device({…}, on=name)`")
    return str(ast.literal_eval(mark.on))


def _maps(mark: Mark, region: Region) -> dict[str, str]:
    maps = {}
    for m in mark.maps:
        if m.text not in region.parameters:
            raise RefusedError(m.pos, f"`{m.text}` is in device={{…}}, but the region does not use it")
        maps[region.parameters[m.text]] = m.kind
    return maps


def _refuse_overlaps(mark: Mark, function: Any) -> None:
    """Refuse maps of an array and of what the function only ever makes a part of it."""
    made: dict[str, list[str]] = {}

    def walk(node: Any) -> None:
        if isinstance(node, Nodes.SingleAssignmentNode) and isinstance(node.lhs, ExprNodes.NameNode):
            made.setdefault(str(node.lhs.name), []).append(_root(node.rhs))
        for child in children(node):
            walk(child)

    walk(function.body)
    mapped = {m.text for m in mark.maps}
    for m in mark.maps:
        whole = set(made.get(m.text, ()))
        if len(whole) == 1 and (whole := whole & mapped - {m.text}):
            raise RefusedError(m.pos, f"`{m.text}` is a part of `{whole.pop()}`, which is in device={{…}} too: name one of them")


def _root(node: Any) -> str:
    """The array that an expression is a part of, or an address in; nothing for other values."""
    while not isinstance(node, ExprNodes.NameNode):
        inner = [getattr(node, name, None) for name in ("arg", "base", "operand", "obj", "operand1")]
        node = next((n for n in inner if isinstance(n, ExprNodes.ExprNode)), None)
        if node is None:
            return ""
    return str(node.name) if node.type.is_memoryviewslice or node.type.is_ptr or node.type.is_array or node.type.is_buffer else ""


# --- the second reading


def _in_gil(mark: Mark, text: str) -> str:
    if not mark.nogil:
        return text
    return "with gil:\n" + "\n".join("    " + line for line in text.splitlines())


class _Placed:
    """Puts calls in the place of regions."""

    def __init__(self, regions: dict[int, Compiled], quiet: set[int], name: str) -> None:
        self.regions, self.quiet, self.file = regions, quiet, name
        self.declared: dict[str, str] = {}  # for the function that is read now, or the module

    def function(self, node: Any, read: Callable[[], None]) -> None:
        """Read a function, and declare what its regions ask for."""
        outer, self.declared = self.declared, {}
        read()
        if self.declared:
            made = statements("\n".join(f"cdef {kind} {name}" for name, kind in self.declared.items()), node.pos)
            node.body = Nodes.StatListNode(node.body.pos, stats=[*made, node.body])
        self.declared = outer

    def __call__(self, mark: Mark, body: Any) -> Any:
        if mark.block:
            return self.block(mark, body)
        region = self.regions[mark.number]
        self.declared.update(region.declarations)
        name, left = f"_pardo_region_{mark.number}", f"_pardo_left_{mark.number}"
        results = "".join(f"{r}, " for r in [*region.results, *([left] if region.returns else [])])
        if region.facts is not None:
            words, numbers = region.facts
            calls, text, where = name, "", "0"
            if words:  # an array of C: they become no objects
                where = f"_pardo_words_{mark.number}"
                self.declared[where] = f"size_t[{len(words)}]"
                text = f"{where} = [{', '.join(words)}]\n"
                where = f"<size_t>&{where}[0]"
            if region.fused:
                calls = f"_pardo_calls_{mark.number}"
                text += f"{calls} = {name}.of(PARDO_KEY)\n"
            called = f"{where}, ({''.join(f'{n}, ' for n in numbers)})"
            text += f"{left} = {calls}.again({called})\nif {left} is None:\n    {left} = {calls}.first({', '.join(region.parameters)})"
            text += f"\n({results}) = {left}" if results else ""
        else:
            call = f"{name}({', '.join(['PARDO_KEY', *region.parameters])})"
            text = f"({results}) = {call}" if results else call
        if region.returns:
            text += f"\nif {left} is not None:\n    {region.returns.replace('_pardo_left', left)}"
        made = statements(_in_gil(mark, text), mark.pos)
        key: Any = ExprNodes.NoneNode(mark.pos)
        if region.fused:
            names = [statements(text, mark.pos)[0].expr for text in region.parameters]
            key = ExprNodes.TupleNode(mark.pos, args=[ExprNodes.TypeofNode(mark.pos, operand=n) for n in names])
        node = Nodes.StatListNode(mark.pos, stats=made)
        return _replaced(node, "PARDO_KEY", key)

    def block(self, mark: Mark, body: Any) -> Any:
        place = f"{self.file}:{mark.pos[1]}"
        for m in mark.maps:
            if m.section:
                raise RefusedError(m.pos, "a section of a pointer can be given to parallel(device={…}) alone")
        kinds, names = tuple(m.kind for m in mark.maps), tuple(m.text for m in mark.maps)
        arguments = "".join(f", {n}" for n in names)
        enter = _in_gil(mark, f"_pardo.enter({place!r}, {kinds!r}, {names!r}, {mark.on or None}, {mark.number in self.quiet}{arguments})")
        leave = _in_gil(mark, "_pardo.leave()")
        lines = ["try:", "    pass", "finally:", *("    " + line for line in leave.splitlines())]
        made = statements(enter, mark.pos) + statements("\n".join(lines), mark.pos)
        made[-1].body = body
        return Nodes.StatListNode(mark.pos, stats=made)


def _replaced(node: Any, name: str, by: Any) -> Any:
    """A tree with a node in place of a name."""
    for attribute in node.child_attrs or ():
        child = getattr(node, attribute)
        if isinstance(child, list):
            setattr(node, attribute, [by if _is_name(c, name) else _replaced(c, name, by) for c in child])
        elif _is_name(child, name):
            setattr(node, attribute, by)
        elif child is not None:
            _replaced(child, name, by)
    return node


def _is_name(node: Any, name: str) -> bool:
    return isinstance(node, ExprNodes.NameNode) and str(node.name) == name


def _begins(tree: Any, regions: dict[int, Compiled], declared: dict[str, str]) -> None:
    """What the module does first."""
    pos = tree.body.pos
    files = carried.packed({file: "".join(linecache.getlines(file)) for region in regions.values() for file in region.files})
    lines = [_RUNTIME, f"_pardo_files = {files!r}"]
    lines += [f"_pardo_region_{number} = _pardo.Region({region.data!r}, _pardo_files)" for number, region in regions.items()]
    lines += [f"cdef {kind} {name}" for name, kind in declared.items()]
    made = statements("\n".join(lines), pos)
    tree.body = Nodes.StatListNode(pos, stats=[*made, tree.body])


def _has_marks(source: Any) -> bool:
    """Whether a file may have regions, itself or in files that it includes."""
    with contextlib.suppress(OSError), open(source.filename, encoding="utf-8", errors="replace") as file:
        text = file.read()
        return re.search(r"device|\bsimd\b|^\s*include\b", text, re.MULTILINE) is not None
    return False


def _parse_stage(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def factory(context: Any) -> Any:
        parse = original(context)

        def parse_with_devices(compilation: Any) -> Any:
            if not _has_marks(compilation.source_desc):
                return parse(compilation)
            marked = Marks()
            try:
                plain = parse(compilation)
                if Errors.get_errors_count():
                    return plain
                marked(plain)
                if not marked.found and not marked.device_functions:
                    return plain if marked.simd else parse(compilation)
                py = str(compilation.source_desc.filename).endswith(".py")
                fresh = Main.Context.from_options(context.options)
                fresh.cython_scope = fresh.modules["cython"] = context.cython_scope  # loading it takes longer than all else
                with _original(original):
                    regions, quiet = regions_of(fresh, compilation, py)
                if "libc" in fresh.modules:  # declarations of C alone
                    context.modules["libc"] = fresh.modules["libc"]
                tree = parse(compilation)
                placed = _Placed(regions, quiet, str(compilation.source_desc.get_description()))
                tree = Marks(placed)(tree)
                _begins(tree, regions, placed.declared)
            except RefusedError as refused:
                _report(refused)
                raise Errors.AbortError("pardo.cython") from None
            return tree

        return parse_with_devices

    return factory


@contextlib.contextmanager
def _original(factory: Any) -> Iterator[None]:
    now = Pipeline.parse_stage_factory
    Pipeline.parse_stage_factory = factory
    try:
        yield
    finally:
        Pipeline.parse_stage_factory = now


def _parse_cimported(original: Callable[..., Any]) -> Callable[..., Any]:
    """Functions of .pxd files may be marked by `@cython.device`; regions are not there."""

    def parse(context: Any, source: Any, scope: Any, pxd: Any, full_module_name: Any) -> Any:
        tree = original(context, source, scope, pxd, full_module_name)
        if pxd and _has_marks(source):
            marks = Marks()
            try:
                tree = marks(tree)
                if marks.found:
                    raise RefusedError(marks.found[0].pos, "device= is for .pyx files; a .pxd file has functions that regions call")
            except RefusedError as refused:
                _report(refused)
        return tree

    return parse


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Let Cython take out what is for devices, in whatever it compiles meanwhile."""
    original, parse = Pipeline.parse_stage_factory, Main.Context.parse
    Main.Context.parse = _parse_cimported(parse)
    try:
        with _original(_parse_stage(original)):
            yield
    finally:
        Main.Context.parse = parse
