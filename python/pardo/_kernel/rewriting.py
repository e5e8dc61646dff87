# python/pardo/_kernel/rewriting.py: a function with its loops replaced by calls of their programs; what is between them stays Python.
from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pardo import _core
from pardo._base.arguments import HOST
from pardo._compiler import intrinsics, liveness, translator
from pardo._compiler.defining import defined
from pardo._compiler.refusals import refusal
from pardo._compiler.source import problem, source_of
from pardo._core import Array, Device
from pardo._kernel import array_code, array_expressions, last_values, own_arrays
from pardo._kernel.adapters import ADAPTERS
from pardo._kernel.arguments import REFUSALS
from pardo._kernel.environment import race_checking
from pardo._kernel.loop_programs import RETURNED, VALUE, Asked
from pardo._kernel.loop_runners import LEFT, LoopRunner, Reason, left_to_python, shortened
from pardo._kernel.parallel_loops import NONE, Options, Scope, called, imported, is_prange

RUNNERS, INNER, NO_PROGRAM, UNBOUND, COMPILED = "$runners", "$inner", "$left", "$unbound", "$compiled"
GIVEN, RESULT = "$given", "$result"
EXPRESSIONS = "$expressions"
PARALLEL_INSIDE = "there are parallel loops in it"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVES = (ast.Yield, ast.YieldFrom, ast.Await)


def _touches_elements(node: ast.AST) -> bool:
    """True when a loop reads or writes single elements: then it is worth a program."""
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name):
            parts = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
            if not any(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value in (None, Ellipsis)) for p in parts):
                return True
        if isinstance(n, ast.For) and any(isinstance(source, ast.Name) for source in _looped_over(n.iter)):
            return True
    return False


def _changes_lists(node: ast.AST) -> bool:
    """True when a loop appends to what may be a list of numbers, or takes out of one."""
    return any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in ("append", "pop")
        and isinstance(n.func.value, ast.Name)
        for n in ast.walk(node)
    )


def _looped_over(iterable: ast.expr) -> list[ast.expr]:
    """What `for` goes over: itself, or what `enumerate` and `zip` take."""
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id in ("enumerate", "zip"):
        return [part for argument in iterable.args for part in _looped_over(argument)]
    return [iterable]


class _Prepared(ast.NodeTransformer):
    """Puts the `else` of parallel loops after them, where it always runs, as nothing breaks such a loop, and decorates functions inside
    that have parallel loops of their own."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def visit_For(self, node: ast.For) -> Any:
        if not is_prange(self.scope, node):
            self.generic_visit(node)
            return node
        behind = ast.Module(node.orelse, [])
        node.orelse = []
        self.generic_visit(behind)
        return [node, *behind.body]

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        for s in node.body:
            self.visit(s)  # methods; what else is in it stays as it is
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        statements = [s for s in liveness.all_statements(node.body) if isinstance(s, ast.stmt)]
        if not node.decorator_list and any(is_prange(self.scope, s) for s in statements):
            node.decorator_list.append(ast.copy_location(ast.Name(COMPILED, ast.Load()), node))
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node


class _WithOurs(ast.NodeTransformer):
    """Lets our functions stand for NumPy's of large arrays."""

    def __init__(self, cutter: _Cutter) -> None:
        self.cutter = cutter

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        plain = node.args and not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
        if plain and array_expressions.has_ours(function := called(self.cutter.scope, node)):
            node.func = ast.copy_location(self.cutter.expression(array_expressions.ArrayFunction(function)), node.func)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


class NestedLoops(LoopRunner):
    """A serial loop and the parallel loops in it: one program, in which threads share these; Python launches nothing at each step.

    Where there is no such program, Python runs the outer loop, and each parallel loop is a program of its own.
    """

    on_host = True

    def serially(self, captured: tuple[Any, ...] | None) -> Any:
        if captured is not None:
            if race_checking():
                return self.left(Reason("races are looked for", chosen=True), captured)
            if any(type(c) is Array and c.queue.device != Device(HOST) for c in captured):
                return self.left(Reason("its arrays are on another device", chosen=True), captured)
        return super().serially(captured)


class _Cutter:
    """Replaces a function's loops by calls of their programs."""

    def __init__(self, scope: Scope, options: Options, inside: bool = False) -> None:
        self.scope, self.options = scope, options
        self.runners: list[LoopRunner] = []
        self.inner: list[LoopRunner] = []  # loops inside of loops, for the runs that Python gets of those around them
        self.inside = self.looping = inside  # of a loop that Python runs
        self.expressions: list[Callable[..., Any]] = []
        self.left: list[tuple[int, str]] = []  # loops that Python runs: their lines, and why
        assert isinstance(scope.source.node, ast.FunctionDef)
        self.node = scope.source.node
        _Prepared(scope).generic_visit(self.node)
        arguments = self.node.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
        body = self.node.body
        self.around = last_values.put_behind(scope, body, {a.arg for a in every if a})
        self.lasting = liveness.declared(body)
        self.shared = liveness.shared(body)
        self.loops = {id(loop): parallel for loop, parallel in self.find(body)}

    def find(self, statements: list[ast.stmt]) -> Iterator[tuple[ast.For | ast.While, bool]]:
        for s in statements:
            if isinstance(s, ast.For) and is_prange(self.scope, s) and not self.inside:
                self.check(s)
                yield s, True
            elif isinstance(s, (ast.For, ast.While)) and not (why := self.stays_python(s)):
                yield s, False
            else:
                if isinstance(s, (ast.For, ast.While)):
                    self.leave(s, why)
                for block in liveness.blocks(s):
                    yield from self.find(block)

    def leave(self, loop: ast.For | ast.While, why: str) -> None:
        """Note that Python runs a loop, and count it where that is slow."""
        if self.inside:
            return  # the loop around it is noted
        self.left.append((loop.lineno, why))
        if _touches_elements(loop) and not self.has_parallel(loop):
            left_to_python(self.scope, self.options, loop, why, first=True)

    def has_parallel(self, loop: ast.AST) -> bool:
        return any(is_prange(self.scope, n) for n in ast.walk(loop) if isinstance(n, ast.For))

    def not_its_own(self, loop: ast.For | ast.While) -> str:
        """Why what a loop assigns has to be seen by others while it runs; nothing if it need not."""
        assigned = liveness.bound([loop])
        if names := sorted(assigned & self.lasting):
            return f"it assigns `{names[0]}`, which is global or belongs to the function around this one"
        if names := sorted(assigned & self.shared):
            return f"it assigns `{names[0]}`, which a function inside of this one uses"
        return ""

    def check(self, loop: ast.For) -> None:
        """Refuse a parallel loop that Python alone could run."""
        if why := self.not_its_own(loop):
            raise problem(TypeError, self.scope.source, loop.target, f"{why}; that cannot be in a parallel loop")

    def stays_python(self, loop: ast.For | ast.While) -> str:
        """Why a serial loop is not compiled; nothing if it is."""
        if self.has_parallel(loop):
            return PARALLEL_INSIDE
        return self.cannot_be_program(loop)

    def cannot_be_program(self, loop: ast.For | ast.While, worth: bool = False) -> str:
        """Why a loop cannot be a program, or is not worth it; `worth`: it is."""
        if any(isinstance(n, _LEAVES) for n in ast.walk(loop)):
            return "it waits for what is outside of the function"
        worth = worth or _touches_elements(loop) or _changes_lists(loop) or array_code.is_array_code(self.scope, loop)
        if not worth:
            return "it reads and writes no single elements"
        if caught := sorted(liveness.bound([loop]) & self.around[id(loop)].caught):
            return f"it assigns `{caught[0]}`, which is read where its exceptions are handled"
        return self.not_its_own(loop)

    def cut(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in statements:
            if isinstance(s, (ast.For, ast.While)) and id(s) in self.loops:
                out += self.replaced(s)
                continue
            whole = copy.deepcopy(s) if isinstance(s, (ast.For, ast.While)) and self.around_parallel(s) else None
            first = len(self.runners)
            outer, self.looping = self.looping, self.looping or isinstance(s, (ast.For, ast.While, *_FUNCTIONS, ast.ClassDef))
            for block in liveness.blocks(s):
                block[:] = self.cut(block)
            self.looping = outer
            if isinstance(whole, (ast.For, ast.While)):
                out += self.nested(s, whole, [r for r in self.runners[first:] if r.program.asked.parallel])
                continue
            if isinstance(s, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)) and s.value is not None:
                s.value = self.fused(s.value)
            out.append(s)
        return out

    def around_parallel(self, loop: ast.For | ast.While) -> bool:
        """Whether a loop that is around parallel ones may be one program with them."""
        return self.has_parallel(loop) and not is_prange(self.scope, loop) and not self.cannot_be_program(loop, worth=True)

    def fits(self, loop: ast.For | ast.While, parallel: list[LoopRunner]) -> bool:
        """True if a loop may be one program with these parallel loops, all that are in it: if they reduce into numbers alone and draw none,
        and a schedule is not asked for."""
        if self.options.race_check or self.options.schedule is not None or self.options.chunk is not None:
            return False
        if any(
            r.program.scattered or r.translated.draws or r.program.schedule is not None or r.program.chunk is not NONE for r in parallel
        ):
            return False
        outside: list[ast.AST] = [loop]
        while outside:  # what a library computes for the outer loop is faster there
            for n in ast.iter_child_nodes(outside.pop()):
                if isinstance(n, ast.Call) and array_code.asks_library(self.scope, n):
                    return False
                if not (isinstance(n, ast.For) and is_prange(self.scope, n)):
                    outside.append(n)
        return True

    def nested(self, loop: ast.stmt, whole: ast.For | ast.While, parallel: list[LoopRunner]) -> list[ast.stmt]:
        """A call of the program of a loop and the parallel loops in it, and, where there is none, the loop with these as programs."""
        if not self.fits(whole, parallel):
            return [loop]
        try:
            runner = NestedLoops(
                self.asked(whole, False, self.around[id(loop)])._replace(counted=False)
            )  # parallel loops are compiled in any case
        except REFUSALS:
            return [loop]
        self.left = [left for left in self.left if left != (loop.lineno, PARALLEL_INSIDE)]
        self.runners.append(runner)
        load = ast.Load()
        program = ast.Subscript(ast.Name(RUNNERS, load), ast.Constant(len(self.runners) - 1), load)
        captured: list[ast.expr] = [ast.Name(n, load) for n in runner.program.captured]
        made = self.serial(runner, program, captured, loop)
        return [ast.copy_location(s, loop) for s in made]

    def asked(self, loop: ast.For | ast.While, parallel: bool, around: liveness.Around) -> Asked:
        return Asked(self.scope, loop, parallel, around, self.options, python_loop, ADAPTERS)

    def fused(self, value: ast.expr) -> ast.expr:
        """An expression on arrays as a call of what fuses it, and functions of NumPy in it as ours; others as they are."""
        value = _WithOurs(self).visit(value)
        if (found := array_expressions.find(self.scope, value, not self.looping)) is None:
            return value
        names, fewest = found
        load = ast.Load()
        arguments = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
        body = ast.copy_location(ast.Return(value), value)
        made = ast.copy_location(ast.FunctionDef(self.node.name, arguments, [body], [], None, None), value)
        function = self.expression(array_expressions.ArrayExpression(defined(self.scope.function, self.scope.source.file, made), fewest))
        return ast.copy_location(ast.Call(function, [ast.Name(n, load) for n in names], []), value)

    def expression(self, made: Callable[..., Any]) -> ast.expr:
        """What calls a function of arrays that is made here."""
        self.expressions.append(made)
        load = ast.Load()
        return ast.Subscript(ast.Name(EXPRESSIONS, load), ast.Constant(len(self.expressions) - 1), load)

    def replaced(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """A call of the loop's program. A serial loop stays too, for what the language does not know."""
        parallel = self.loops[id(loop)]
        if parallel and (dicts := [n for n in ast.walk(loop) if isinstance(n, (ast.Dict, ast.DictComp))]):
            self.left.append((loop.lineno, why := refusal(dicts[0])))
            left_to_python(self.scope, self.options, loop, why, first=True)
            return [self.with_inner(loop)]
        try:
            of_slices = not parallel and not _touches_elements(loop)
            asked = self.asked(loop if parallel else copy.deepcopy(loop), parallel, self.around[id(loop)])
            # Where Python runs operations on arrays that is not slow, and a loop inside of one that Python runs is not said.
            runner = LoopRunner(asked._replace(of_slices=of_slices, later=self.inside, counted=not of_slices and not self.inside))
        except (_core.CompileError, TypeError, NameError, AttributeError, OverflowError) as e:
            if parallel:
                raise
            self.leave(loop, shortened(str(e), self.scope.source.name))
            return [self.with_inner(loop)]  # what the language does not know runs as Python does
        owner, owners = (self.inner, INNER) if self.inside else (self.runners, RUNNERS)
        number = len(owner)
        owner.append(runner)
        load = ast.Load()
        program = ast.Subscript(ast.Name(owners, load), ast.Constant(number), load)
        captured: list[ast.expr] = [ast.Name(n, load) for n in runner.program.captured]
        made: list[ast.stmt]
        if parallel:
            bounds = ast.Tuple([ast.Tuple(b, load) for b in runner.program.bounds], load)
            made = [_assigned(runner.program.results, ast.Call(program, [bounds, runner.program.chunk, *captured], []))]
        else:
            made = self.serial(runner, program, captured, self.with_inner(loop))
        return [ast.copy_location(s, loop) for s in made]

    def with_inner(self, loop: ast.For | ast.While) -> ast.stmt:
        """A loop that Python runs, with the loops inside of it as programs, which are made when they run first."""
        before, self.inside = self.inside, True
        looping, self.looping = self.looping, True
        self.loops.update({id(inner): parallel for inner, parallel in self.find(loop.body)})
        loop.body[:] = self.cut(loop.body)
        self.inside, self.looping = before, looping
        return loop

    def serial(self, runner: LoopRunner, run: ast.expr, captured: list[ast.expr], loop: ast.stmt) -> list[ast.stmt]:
        """`$result = $runners[k]((x, s))`, then the loop if that is what it says, else the assignment of its results."""
        load = ast.Load()
        given: ast.expr = ast.Tuple(captured, load)
        made: list[ast.stmt] = []
        if not runner.program.certain:  # a name without a value may be one that no iteration asks for
            values = ast.Assign([ast.Name(GIVEN, ast.Store())], given)
            nothing = ast.Assign([ast.Name(GIVEN, ast.Store())], ast.Constant(None))
            made.append(ast.Try([values], [ast.ExceptHandler(ast.Name(UNBOUND, load), None, [nothing])], [], []))
            given = ast.Name(GIVEN, load)
        made.append(ast.Assign([ast.Name(RESULT, ast.Store())], ast.Call(run, [given], [])))
        if not runner.program.certain:  # what it holds is not to outlive the loop
            made.append(ast.Assign([ast.Name(GIVEN, ast.Store())], ast.Constant(None)))
        left = ast.Compare(ast.Name(RESULT, load), [ast.Is()], [ast.Name(NO_PROGRAM, load)])
        assigned: list[ast.stmt] = [_assigned(runner.program.results, ast.Name(RESULT, load))] if runner.program.results else []
        if runner.program.returns:
            value = ast.Name(VALUE, load) if VALUE in runner.program.returns else None
            ends: list[ast.stmt] = [ast.Return(value)]
            for k, given in reversed(list(enumerate(runner.program.given_back))):
                here = ast.Compare(ast.Name(VALUE, load), [ast.Eq()], [ast.Constant(k)])
                ends = [ast.copy_location(ast.If(here, [ast.copy_location(ast.Return(given), given)], ends), given)]
            assigned.append(ast.If(ast.Name(RETURNED, load), ends, []))
        made.append(ast.If(left, [loop], assigned))
        return made


def _assigned(names: list[str], value: ast.expr) -> ast.stmt:
    if not names:
        return ast.Expr(value)
    targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in names]
    return ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())], value)


class Built(NamedTuple):
    """A function with its loops replaced."""

    function: types.FunctionType
    runners: list[LoopRunner]
    inner: list[LoopRunner]  # those inside of others, which run if Python has to run these
    left: list[tuple[int, str]]


def build(function: types.FunctionType, options: Options, decorate: Callable[[types.FunctionType], Any], placed: bool = True) -> Built:
    """Replace the loops of a function. `decorate`: does the same with functions inside of it that have parallel loops; `placed`: arrays
    that it makes lie where its arguments do."""
    intrinsics.fill()
    source = source_of(function)
    assert isinstance(source.node, ast.FunctionDef)
    scope = Scope(function, source, imported(function, source.node.body))
    _note_other_uses(scope, options)
    cutter = _Cutter(scope, options)
    node = cutter.node
    body = cutter.cut(node.body)
    own = own_arrays.OwnArrays(scope, cutter.loops, COMPILED)
    if placed:
        body = own.put_into(body, node.args, function.__name__)
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    inner = ast.copy_location(ast.FunctionDef(node.name, node.args, body, [], None, None), node)
    more = {own_arrays.QUEUE_OF: own_arrays.queue_of, own_arrays.MADE_ON: own_arrays.made_on} if own.found else {}
    result = defined(function, scope.source.file, inner, _given(cutter, decorate) | more)
    result.__defaults__, result.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return Built(result, cutter.runners, cutter.inner, cutter.left)


def _given(cutter: _Cutter, decorate: Callable[[types.FunctionType], Any]) -> dict[str, Any]:
    """What calls of programs need."""
    return {
        RUNNERS: cutter.runners,
        INNER: cutter.inner,
        NO_PROGRAM: LEFT,
        UNBOUND: NameError,
        COMPILED: decorate,
        EXPRESSIONS: cutter.expressions,
        last_values.PARTS: last_values.parts,
    }


def python_loop(scope: Scope, options: Options, node: ast.FunctionDef) -> types.FunctionType:
    """A function that is a loop, which Python runs, with the serial loops in it as programs."""
    cutter = _Cutter(Scope(scope.function, scope.source._replace(node=node), scope.imported), options, inside=True)
    loop, *results = node.body
    assert isinstance(loop, ast.For)
    node.body = [cutter.with_inner(loop), *results]
    return defined(scope.function, scope.source.file, node, scope.imported | _given(cutter, lambda f: f))


def _note_other_uses(scope: Scope, options: Options) -> None:
    """Tell that `prange` is a slow `range` where no loop of statements is over it; in a parallel loop it is what it is there."""
    loops = [n for n in ast.walk(scope.source.node) if isinstance(n, ast.For) and is_prange(scope, n)]
    inside = {id(n) for loop in loops for n in ast.walk(loop)}
    for node in ast.walk(scope.source.node):
        for generator in getattr(node, "generators", ()):
            called_by = called(scope, generator.iter) if isinstance(generator.iter, ast.Call) else None
            if id(node) not in inside and translator.is_prange(called_by):
                why = "a comprehension makes no parallel loop; write `for … in prange(…)` as a statement, into an array"
                left_to_python(scope, options, generator.iter, why, first=True)
