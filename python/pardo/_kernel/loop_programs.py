# python/pardo/_kernel/loop_programs.py: a loop of a function as a program: what it is given, what goes in and out, how it is translated.
from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._compiler import frontend, liveness, structs, translations
from pardo._compiler.defining import defined
from pardo._compiler.liveness import Around
from pardo._compiler.source import Source, problem
from pardo._compiler.translator import Translator
from pardo._core import Array
from pardo._kernel import list_values
from pardo._kernel.parallel_loops import NONE, Options, Scope, bounds_of, chunk_of, nested, scheduled, value_of

ITERATIONS, KEY = "$iterations", "$key"
RETURNED, VALUE = "$return", "$value"  # what a serial loop tells of a `return` in it, as the compiler calls it


class Asked(NamedTuple):
    """What a program is made of; a variant differs in some of it."""

    scope: Scope
    loop: ast.For | ast.While
    parallel: bool
    around: Around
    options: Options
    for_python: Callable[[Scope, Options, ast.FunctionDef], Callable[..., Any]]  # makes a function that Python runs of a loop
    adapters: tuple[Any, ...] = ()  # what tries a call of a serial loop before its program does, in their order (adapters.py)
    counted: bool = True  # it is counted, and said, where Python runs it
    of_slices: bool = False  # Python runs it too, by operations on arrays
    later: bool = False  # it is translated when it runs first: it is in a loop that Python runs
    given: dict[str, Any] = {}  # noqa: RUF012 (names of the function whose values are part of the program)
    kept: tuple[str, ...] = ()  # names that stay the arrays that they are
    lists: tuple[list_values.Given, ...] = ()
    large: bool = False  # two matrices are multiplied by a library
    schedule: tuple[str | None, ast.expr] | None = None  # where the tree does not say it any more

    def variant(self, loop: ast.For | ast.While, given: dict[str, Any], **more: Any) -> Asked:
        """The same for another tree, or other names with values; what else was particular of this one is so no more."""
        plain = {"of_slices": False, "later": False, "kept": (), "lists": ()}
        return self._replace(**{**plain, "loop": loop, "given": given, **more})


class Translated(NamedTuple):
    """A loop as the compiler takes it."""

    translation: translations.Translation
    draws: bool  # random numbers, so that it takes a key


class LoopProgram(NamedTuple):
    """A loop of a function, with what goes in and out. Nothing of it changes."""

    asked: Asked
    name: str
    line: int
    parallel_loops: list[ast.For]  # one index space
    captured: list[str]  # names that it takes, in the order of arguments
    results: list[str]
    returns: list[str]
    given_back: list[ast.expr]  # expressions that Python evaluates after the loop: the loop returns k for the k-th
    in_place: list[int]  # which arguments a serial loop changes in place
    certain: bool  # that each name has a value
    schedule: str | None
    chunk: ast.expr
    at_a_time: int
    first: Translated | None  # None where it is translated later
    scattered: list[str]  # arrays that a parallel loop reduces into at computed places
    initial: list[int]  # where the first values of what a parallel loop reduces are among its arguments

    @property
    def bounds(self) -> list[list[ast.expr]]:
        """Those of each parallel loop."""
        return [bounds_of(lp) for lp in self.parallel_loops]

    def translated(self) -> Translated:
        """The loop as a function of its arguments."""
        return translated(self.asked, self.captured, len(self.parallel_loops))

    def compiled(self, translation: translations.Translation) -> _core._Loop:
        return compiled(self.asked, translation, len(self.parallel_loops), self.results)

    def named(self, translation: translations.Translation) -> dict[Any, Any]:
        """The classes of structs that its results may be of."""
        return {} if self.asked.parallel or not self.results else structs.classes_of(c.value for c in translation.captured)

    def described(self) -> str:
        """What became of the loop, but for runs that were Python's."""
        if not self.asked.parallel:
            return "a serial loop, compiled"
        counters = " and ".join(f"`{ast.unparse(lp.target)}`" for lp in self.parallel_loops)
        space = ", one index space" if len(self.parallel_loops) > 1 else ""
        ignored = "; `simd` is ignored: all loops are vectorised" if any(getattr(lp, "ignored", "") for lp in self.parallel_loops) else ""
        reduces = f"; it reduces into {', '.join(f'`{n}`' for n in self.results)}" if self.results else ""
        return f"a parallel loop over {counters}{space}{reduces}{ignored}"

    def in_plain_python(self) -> types.FunctionType:
        """The parallel loop as a function in Python."""
        scope = self.asked.scope
        return defined(scope.function, scope.source.file, self.as_function(), scope.imported)

    def as_function(self) -> ast.FunctionDef:
        """The parallel loop as a function of its iterations, and of the names that it takes from outside."""
        first, last = self.parallel_loops[0], self.parallel_loops[-1]
        counters: ast.expr = ast.Tuple([lp.target for lp in self.parallel_loops], ast.Store())
        loop = ast.copy_location(ast.For(counters, ast.Name(ITERATIONS, ast.Load()), last.body, []), first)
        arguments = ast.arguments([], [ast.arg(n) for n in (ITERATIONS, *self.captured)], None, [], [], None, [])
        names: list[ast.expr] = [ast.Name(n, ast.Load()) for n in self.results]
        results = ast.Return(names[0] if len(names) == 1 else ast.Tuple(names, ast.Load()))
        node = ast.FunctionDef(self.name, arguments, [loop, results], [], None, None)
        return copy.deepcopy(ast.copy_location(node, first))


def loop_program(asked: Asked) -> LoopProgram:
    """What is known of a loop before it runs; raises what refuses it."""
    scope, loop, around = asked.scope, asked.loop, asked.around
    given_back = [] if asked.parallel else _left_to_return(loop)
    assigned = liveness.bound([loop])
    loops = nested(scope, loop) if asked.parallel and isinstance(loop, ast.For) else []
    schedules = [scheduled(scope, lp) for lp in loops]
    schedule, chunk = asked.schedule or (schedules[0] if schedules else (None, NONE))
    options = asked.options
    at_a_time = chunk_of("prange", *((schedule, None) if schedule else (options.schedule, options.chunk)))
    results = sorted(assigned & around.behind)
    captured = around.captured & around.outside - scope.imported.keys()
    if given_back:
        captured &= liveness.names([loop], ast.Load) | assigned
    captured |= {n for n in around.captured - around.outside if isinstance(value_of(scope, n), (Array, np.ndarray))}
    if not asked.parallel:  # iterations may assign nothing: then a name keeps its value
        uncertain = set(results) - around.certain
        if unknown := sorted(uncertain - captured - around.possible):
            raise NameError(f"`{unknown[0]}` is read after it, and has no value if no iteration assigns one")
        captured |= uncertain
    returns = [] if asked.parallel else _returns(loop)
    results = [n for n in results if n not in asked.kept] + returns
    arguments = sorted(captured - asked.given.keys())
    if any(g.changes for g in asked.lists):
        arguments.append(list_values.OUT)
    changed = set() if asked.parallel else liveness.augmented([loop]) & set(results)
    first, scattered = None, list[str]()
    if not asked.later:
        first = translated(asked, arguments, len(loops))
    if first is not None and asked.parallel:
        results, scattered = _core._Loop.reductions(first.translation.function, arguments)
        results += scattered
        if results and len(loops) > 1:
            del loops[1:]
            first = translated(asked, arguments, len(loops))
        _refuse_last_values(asked, (assigned & around.behind) - set(results))
    return LoopProgram(
        asked,
        scope.function.__name__,
        loop.lineno,
        loops,
        arguments,
        results,
        returns,
        given_back,
        [k for k, n in enumerate(arguments) if n in changed],
        captured <= around.before,
        schedule,
        chunk,
        at_a_time,
        first,
        scattered,
        [arguments.index(n) for n in results] if asked.parallel else [],
    )


def translated(asked: Asked, captured: Sequence[str], dimensions: int) -> Translated:
    """The loop as a function of the names that it takes from outside, and of start and step of each dimension."""
    extra = [name for d in range(dimensions) for name in (f"$start{d}", f"$step{d}")]
    made = as_translation(asked, asked.loop, [*captured, *extra], asked.given, set())
    draws = _core._Loop.draws(made.function)
    return Translated(as_translation(asked, asked.loop, [*captured, KEY, *extra], asked.given, set()) if draws else made, draws)


def as_translation(asked: Asked, loop: ast.stmt, parameters: list[str], given: dict[str, Any], own: set[str]) -> translations.Translation:
    """A loop as a function; `given`: further names from outside; `own`: its names that the user's function does not have."""
    scope = asked.scope
    source = scope.source
    arguments = ast.arguments([], [ast.arg(n) for n in parameters], None, [], [], None, [])
    node = ast.FunctionDef(scope.function.__name__, arguments, [loop], [], None, None)
    part = Source(source.name, source.file, source.first_line, source.lines, node)
    translator = Translator(scope.function, part, frontend.translate, {**scope.imported, **given})
    translator.locals |= own
    body = translator.block([loop], loop)
    made = _core._Function(
        source.name,
        source.shown_file,
        source.first_line,
        source.lines,
        translator.parameters,
        "",
        [],
        body,
        translator.callees,
        translator.classes,
        False,
        translator.outside,
    )
    return translations.Translation(made, tuple(translator.captured))


def compiled(asked: Asked, translation: translations.Translation, dimensions: int, results: list[str]) -> _core._Loop:
    o = asked.options
    return _core._Loop(
        translation.function, dimensions, list(results), o.fastmath, o.bounds_check, list(asked.lists), asked.large, o.truncates
    )


def _refuse_last_values(asked: Asked, names: set[str]) -> None:
    """Names that iterations assign are their own: nothing after the loop may ask for the last one's."""
    for node in ast.walk(asked.loop):
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Store):
            raise problem(
                TypeError,
                asked.scope.source,
                node,
                f"`{node.id}` is read after the parallel loop, whose iterations run in parallel: which one would be the last? "
                "Reduce into it (s += …, m = max(m, …)), or write into an array",
            )


def _left_to_return(loop: ast.stmt) -> list[ast.expr]:
    """The expressions that a loop returns, if none depends on what the loop assigns: Python evaluates them after the loop, which returns
    their numbers. An empty list otherwise."""
    if (known := getattr(loop, "given_back", None)) is not None:
        return known  # type: ignore[no-any-return]
    every = [s for s in liveness.all_statements([loop]) if isinstance(s, ast.Return)]
    values = [s.value or ast.copy_location(ast.Constant(None), s) for s in every]
    if liveness.names(values, ast.Load) & liveness.bound([loop]):
        return []
    for k, s in enumerate(every):
        s.value = ast.copy_location(ast.Constant(k), s)
    loop.given_back = values  # type: ignore[attr-defined]
    return values


def _returns(loop: ast.stmt) -> list[str]:
    """What a loop has to tell of `return`: whether one was met, and its value if some have one."""
    every = [s for s in liveness.all_statements([loop]) if isinstance(s, ast.Return)]
    values = [s for s in every if s.value is not None and not (isinstance(s.value, ast.Constant) and s.value.value is None)]
    if values and len(values) < len(every):
        raise TypeError("it returns a value on one path, and none on another")
    return [] if not every else [RETURNED, VALUE] if values else [RETURNED]
