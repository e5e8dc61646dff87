# python/pardo/_kernel/regions.py: loops of a function that became programs: what they take, how they run, what they give back.
from __future__ import annotations

import ast
import copy
import functools
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pardo import _core
from pardo._compiler import frontend, liveness, structs
from pardo._compiler.liveness import Around
from pardo._compiler.names import python_function
from pardo._compiler.source import Source, problem, warn_at
from pardo._compiler.structs import Struct
from pardo._compiler.translator import Translator
from pardo._core import Array, Device
from pardo._data import present
from pardo._kernel import array_code, array_reductions, byte_values, copies, generators, list_values, registration  # noqa: F401 (tells the core)
from pardo._kernel.defining import defined
from pardo._kernel.environment import race_checking
from pardo._kernel.parallel_loops import NONE, Options, Scope, bounds_of, chunk_of, iterations_of, nested, scheduled, value_of
from pardo._language.index_space import Constant

ITERATIONS, KEY = "$iterations", "$key"
RETURNED, VALUE = "$return", "$value"  # what a serial loop tells of a `return` in it, as the compiler calls it
LEFT: Any = type("Left", (), {"__slots__": ()})()  # what a serial loop gives that Python has to run
_REFUSALS = (_core.CompileError, TypeError, ValueError, NameError, AttributeError, IndexError, OverflowError)
MOST_VARIANTS = 64  # of one loop
LARGE = ("$large",)  # of variants: for large arrays
_CONSTANTS = frozenset([types.NoneType, str])  # types of arguments that are part of a program
_CPU, _NOTHING = Device("cpu"), np.zeros(0, np.int64)
_SIMPLE = frozenset([int, float, bool, complex, types.NoneType])
_TAKEN = (Array, np.ndarray, np.generic, bool, int, float, complex)


def shortened(message: str, name: str) -> str:
    """The first line of an error about a loop, without the function's name."""
    return message.partition("\n")[0].removeprefix(f"{name}: ")


def left_to_python(scope: Scope, options: Options, loop: ast.stmt, why: str, first: bool) -> None:
    """Count that Python runs a loop, and say so once; where the user wants none of that, refuse it."""
    source = scope.source
    if options.strict:
        raise problem(_core.CompileError, source, loop, f"strict=True, and this loop would run as Python: {why}")
    text = f"{source.name}: the loop at line {loop.lineno} runs as Python: {why}"
    _core._note_fallback(text)
    if first:
        warn_at(source, loop.lineno, text)


class Region:
    """A loop of a function, with what goes in and out."""

    def __init__(
        self,
        scope: Scope,
        loop: ast.For | ast.While,
        parallel: bool,
        around: Around,
        options: Options,
        given: dict[str, Any] | None = None,
        kept: tuple[str, ...] = (),
        of_slices: bool = False,
        later: bool = False,
        lists: tuple[list_values.Given, ...] = (),
        large: bool = False,
    ) -> None:
        self.scope, self.options, self.around = scope, options, around
        self.of_slices = of_slices and not parallel  # Python runs it too, by operations on arrays
        self.counted = not self.of_slices and not later  # where Python runs it that is slow, and not said of a loop around it
        self.later, self.lists = later, lists
        self.plans: dict[tuple[str, ...], list_values.Plan] = {}  # what it does with arguments that are lists
        self.has_products = not parallel and not large and array_code.has_products(scope, loop)
        self.has_solvers = not parallel and array_code.has_solvers(scope, loop)
        self.large = large  # two matrices are multiplied by a library
        self.given = given or {}  # names of the function whose values are part of the program
        self.variants: dict[tuple[Any, ...], Region] = {}  # for arguments that are None or texts, and names that stay the arrays they are
        self.name, self.line, self.parallel = scope.function.__name__, loop.lineno, parallel
        self.recorded: tuple[int, list[tuple[Any, ...]]] | None = None  # a thread, and what it has run with, for who asks for that
        self.python_runs: dict[str, int] = {}  # how often Python ran it in the end, by the reason
        assigned = liveness.bound([loop])
        loops = nested(scope, loop) if parallel and isinstance(loop, ast.For) else []
        schedules = [scheduled(scope, lp) for lp in loops]
        self.schedule, self.chunk = schedules[0] if schedules else (None, NONE)
        self.at_a_time = chunk_of("prange", *((self.schedule, None) if self.schedule else (options.schedule, options.chunk)))
        self.results = sorted(assigned & around.behind)
        captured = around.captured & around.outside - scope.imported.keys()
        captured |= {n for n in around.captured - around.outside if isinstance(value_of(scope, n), (Array, np.ndarray))}
        if not parallel:  # iterations may assign nothing: then a name keeps its value
            uncertain = set(self.results) - around.certain
            if unknown := sorted(uncertain - captured - around.possible):
                raise NameError(f"`{unknown[0]}` is read after it, and has no value if no iteration assigns one")
            captured |= uncertain
        self.returns = [] if parallel else _returns(loop)
        self.results = [n for n in self.results if n not in kept] + self.returns
        self.captured = sorted(captured - self.given.keys())
        if any(g.changes for g in lists):
            self.captured.append(list_values.OUT)
        changed = set() if parallel else liveness.augmented([loop]) & set(self.results)
        self.in_place = [k for k, n in enumerate(self.captured) if n in changed]  # which of them the loop changes in place
        self.certain = captured <= around.before  # that each has a value
        self.parallel_loops, self.first = loops, loop
        self.scattered: list[str] = []  # arrays that a parallel loop reduces into at computed places
        self.blocked: dict[tuple[str, ...], array_reductions.BlockedLoop] = {}
        self.loop: Any = None
        self.refused = ""  # why a serial loop cannot be translated, where that is tried when it runs first
        if not later:
            self._prepare(assigned & around.behind)

    def _prepare(self, read_behind: set[str]) -> None:
        """Make the program."""
        loops = self.parallel_loops
        self.translation = self._translated()
        self.named = {} if self.parallel or not self.results else structs.classes_of(c.value for c in self.translation.captured)
        if self.parallel:
            self.results, self.scattered = _core._Loop.reductions(self.translation.function, self.captured)
            self.results += self.scattered
            if self.results and len(loops) > 1:
                del loops[1:]
                self.translation = self._translated()
            self._refuse_last_values(read_behind - set(self.results))
        self.bounds = [bounds_of(lp) for lp in loops]
        self.fixed = [_fixed(self.scope.function, bounds) for bounds in self.bounds]
        self.initial = [self.captured.index(n) for n in self.results] if self.parallel else []
        self.loop = self._made()

    def _refuse_last_values(self, names: set[str]) -> None:
        """Names that iterations assign are their own: nothing after the loop may ask for the last one's."""
        for node in ast.walk(self.first):
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Store):
                raise problem(
                    TypeError,
                    self.scope.source,
                    node,
                    f"`{node.id}` is read after the parallel loop, whose iterations run in parallel: which one would be the last? "
                    "Reduce into it (s += …, m = max(m, …)), or write into an array",
                )

    def _translated(self) -> frontend.Translation:
        """The loop as a function of the names that it takes from outside, and of start and step of each dimension."""
        extra = [name for d in range(len(self.parallel_loops)) for name in (f"$start{d}", f"$step{d}")]
        made = self.translated(self.first, [*self.captured, *extra], self.given, set())
        self.draws = _core._Loop.draws(made.function)
        return self.translated(self.first, [*self.captured, KEY, *extra], self.given, set()) if self.draws else made

    def translated(self, loop: ast.stmt, parameters: list[str], given: dict[str, Any], own: set[str]) -> frontend.Translation:
        """A loop as a function; `given`: further names from outside; `own`: its names that the user's function does not have."""
        source = self.scope.source
        arguments = ast.arguments([], [ast.arg(n) for n in parameters], None, [], [], None, [])
        node = ast.FunctionDef(self.name, arguments, [loop], [], None, None)
        part = Source(source.name, source.file, source.first_line, source.lines, node)
        translator = Translator(self.scope.function, part, frontend.translate, {**self.scope.imported, **given})
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
        )
        return frontend.Translation(made, tuple(translator.captured))

    def _made(self) -> _core._Loop:
        return self.program(self.translation, len(self.parallel_loops), self.results)

    def program(self, translation: frontend.Translation, dimensions: int, results: list[str]) -> _core._Loop:
        o = self.options
        return _core._Loop(translation.function, dimensions, list(results), o.fastmath, o.bounds_check, list(self.lists), self.large)

    def _refresh(self) -> None:
        """Make the program again when a value from outside of the function that is part of it has changed."""
        if self.translation.captured and self.translation.changed():
            self.translation = self._translated()
            self.loop = self._made()

    def serially(self, captured: tuple[Any, ...] | None) -> Any:
        """Run a serial loop, or say that Python has to: what the language does not know means what it means in Python.

        `captured` is None where one of the names has no value, which may be an error or not.
        """
        if captured is None:
            return self._left("a name that it reads has no value before it", ())
        if self.of_slices and array_code.better_recorded(captured):
            return self._left("its operations run in parallel", captured)
        if self.has_products and array_code.better_multiplied(captured):
            return self._with_large_arrays(captured)
        if self.has_solvers and array_code.better_solved(captured):
            return self._left("its matrices are large, and a library factorizes them sooner", captured, chosen=True)
        if self.loop is None and not self.refused:
            try:
                self._prepare(set())
            except _REFUSALS as e:
                self.refused = shortened(str(e), self.name)
        if self.refused:
            return self._left(self.refused, captured)
        if (plain := None if self.in_place or present.in_use else copies.plain_arguments(captured)) is not None:
            if self.translation.captured:
                self._refresh()
            if self.draws:
                plain += self.key()
            if (refusal := self.loop.refusal(plain, self.name)) is not None:
                return self._left(shortened(refusal, self.name), captured)
            result = self._run(plain, [], ())
            return structs.with_classes(result, self.named, ()) if self.named else result
        if (variant := self.variant_for(captured)) is not None:
            if variant is LEFT:
                return LEFT
            return self.completed(variant, self._drawing(captured, variant.serially, variant.part_of(self, captured)), captured)
        if any(type(c) is list or list_values.is_long(c) for c in captured) and (given := self._with_lists(captured)) is not None:
            return given[0]
        if not all(map(_is_taken, captured)):
            if (converted := self._with_arrays(captured)) is not None:
                return converted[0].serially(converted[1])
            for name, value in zip(self.captured, captured, strict=True):
                if isinstance(value, byte_values.BUFFERS):
                    return self._left(f"`{name}` is not an array ({type(value).__name__}); pass numpy.frombuffer({name}, …)", captured)
            return self._left("it uses what is neither an array nor a number", captured)
        try:
            self._refresh()
            arguments = (*(copies.argument(c) for c in captured), *self.key())
            refusal = self.loop.refusal(arguments, self.name)
        except _REFUSALS as e:
            refusal = str(e)
        if refusal is not None:
            return self._left(shortened(refusal, self.name), captured)
        given = list(structs.records_in(captured)) if self.results else []
        try:
            named = structs.classes_of((*self.named.values(), *map(type, given)))
        except TypeError as e:
            return self._left(str(e), captured)
        return structs.with_classes(self._run(arguments, [], ()), named, given) if named else self._run(arguments, [], ())

    def _with_large_arrays(self, captured: tuple[Any, ...]) -> Any:
        """Run a loop with products of arrays that are large: those of matrices are a library's."""
        if self.of_slices:
            return self._left("its products are a library's", captured)
        found = self.variants.get(LARGE)
        if found is None:
            try:
                found = Region(self.scope, self.first, False, self.around, self.options, self.given, lists=self.lists, large=True)
            except _REFUSALS as e:
                return self._left(shortened(str(e), self.name), captured)
            found.counted, found.python_runs = self.counted, self.python_runs
            self.variants[LARGE] = found
        return found.serially(captured)

    def _with_arrays(self, captured: tuple[Any, ...]) -> tuple[Region, tuple[Any, ...]] | None:
        """The region, and its arguments, where some of them are bytes, sets or the like and the loop asks for their elements."""
        values, kinds = [], {}
        for name, value in zip(self.captured, captured, strict=True):
            if (found := byte_values.as_array(value, self.parallel)) is not None:
                value, kinds[name] = found
            elif not _is_taken(value):
                return None
            values.append(value)
        if not kinds:
            return None
        key = (*kinds.items(), None)
        if key not in self.variants:
            loop = byte_values.of_arrays(self.first, kinds)
            if loop is None or not isinstance(loop, (ast.For, ast.While)):
                return None
            known = {**self.given, **byte_values.CONVERSIONS, **byte_values.LOOKS}
            try:
                made = Region(self.scope, loop, self.parallel, self.around, self.options, known, lists=self.lists, large=self.large)
                self.variants[key] = self._like(made)
            except _REFUSALS:
                if self.parallel:
                    raise
                return None
        return self.variants[key], tuple(values)

    def _like(self, variant: Region) -> Region:
        variant.schedule, variant.chunk, variant.at_a_time = self.schedule, self.chunk, self.at_a_time  # the tree says them once
        variant.counted = self.counted
        return variant

    def _with_lists(self, captured: tuple[Any, ...]) -> tuple[Any] | None:
        """What the loop gives where some arguments are Python's lists, or tuples that are as long; None where it is for others."""
        given, others, ours = {}, False, False
        for name, value in zip(self.captured, captured, strict=True):
            kind = type(value)
            if kind is list or list_values.is_long(value):
                given[name] = value
            elif kind in _SIMPLE:
                continue
            elif isinstance(value, byte_values.OTHERS) or _is_taken(value):
                others, ours = True, ours or (kind is Array and value.device != _CPU)
            else:
                return None
        first: dict[int, str] = {}
        names = {n: first.setdefault(id(v), n) for n, v in given.items()}
        key = (*names, "", *names.values())
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = list_values.planned(self.first, names)
        if plan.too_short(given, others) or (self.later and plan.too_often(given)):
            return (LEFT,)
        if plan.refused:
            return (self._left(plan.refused, captured),)
        lists, values = [], dict(zip(self.captured, captured, strict=True))
        for name in names:
            values[name] = 0
        for name, use in plan.uses.items():
            elements: Any = _NOTHING, True
            if type(given[name]) is tuple and use != list_values.READ:
                return None
            if use != list_values.APPENDED and given[name]:
                elements = list_values.contents(given[name])
                if elements is None:
                    return (self._left(f"`{name}` is a {type(given[name]).__name__} of what are not numbers of one type", captured),)
            values[name] = elements[0]
            changes, grows = use != list_values.READ, use == list_values.GROWN
            lists.append(list_values.Given(name, bool(elements[0].size), elements[1], changes, grows))
        if ours:
            return (self._left(f"`{lists[0].name}` is a list, which only the CPU takes; pass an array", captured),)
        variant = self.variants.get((*key, *lists))
        if variant is None:
            assert isinstance(plan.loop, (ast.For, ast.While))
            try:
                variant = Region(self.scope, plan.loop, False, self.around, self.options, self.given, lists=tuple(lists), large=self.large)
            except _REFUSALS as e:
                return (self._left(shortened(str(e), self.name), captured),)
            variant.counted = False
            self.variants[(*key, *lists)] = variant
        changed = [(given[g.name], plan.uses[g.name]) for g in lists if g.changes]
        out = values[list_values.OUT] = list_values.places(len(changed))
        overflown = False
        try:
            result = variant.serially(tuple(values[n] for n in variant.captured))
        except OverflowError:
            if self.in_place or list_values.changes_others(self.scope, plan.loop, names):
                raise
            overflown = True
        finally:
            list_values.put_back(changed, out, not overflown)
        if overflown:  # nothing has been written yet
            return (self._left("a Python integer in it does not fit an int64", captured),)
        return (self._left(list(variant.python_runs)[-1], captured) if result is LEFT else self.completed(variant, result, captured),)

    def variant_for(self, captured: tuple[Any, ...]) -> Any:
        """The region for these arguments if some are None or texts, which are part of its program, or if what it changes in place is an
        array, which the name stays; None if there are no such."""
        kept = [self.captured[k] for k in self.in_place if array_reductions.is_array(captured[k])]
        if not kept and not any(map(_is_constant, map(type, captured))):
            return None
        constants = [
            (n, generators.methods_of(type(v)) if generators.is_generator(type(v)) else v)
            for n, v in zip(self.captured, captured, strict=True)
            if _is_constant(type(v))
        ]
        names = (*((n, v if type(v) in _CONSTANTS else id(v)) for n, v in constants), *kept)
        found = self.variants.get(names)
        if found is None:
            while len(self.variants) >= MOST_VARIANTS:
                self.variants.pop(next(iter(list(self.variants))), None)
            try:
                known = {**self.given, **dict(constants)}
                made = Region(
                    self.scope, self.first, self.parallel, self.around, self.options, known, tuple(kept), self.of_slices, large=self.large
                )
            except _REFUSALS as e:
                if self.parallel:
                    raise
                return self._left(shortened(str(e), self.name), captured)
            found = self.variants[names] = self._like(made)
        return found

    def _drawing(self, captured: tuple[Any, ...], run: Callable[..., Any], *arguments: Any) -> Any:
        """Run a variant, which draws random numbers from the generators among the arguments."""
        found = tuple(v for v in captured if generators.is_generator(type(v)))
        if not found:
            return run(*arguments)
        outer, generators.under_way.generators = generators.under_way.generators, found
        try:
            return run(*arguments)
        finally:
            generators.under_way.generators = outer

    def completed(self, variant: Region, given: Any, captured: tuple[Any, ...]) -> Any:
        """The results of a variant, and the arrays that it leaves to their names."""
        if given is LEFT or len(variant.results) == len(self.results):
            return given
        known = dict(zip(self.captured, captured, strict=True))
        known.update(zip(variant.results, (given,) if len(variant.results) == 1 else given, strict=True))
        return known[self.results[0]] if len(self.results) == 1 else tuple(known[n] for n in self.results)

    def part_of(self, whole: Region, captured: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of another region's arguments that are its own."""
        return tuple(v for n, v in zip(whole.captured, captured, strict=True) if n not in self.given)

    def key(self) -> tuple[Any, ...]:
        """What random numbers of this run are made of, as an argument: drawn from NumPy's, so that np.random.seed decides."""
        if not self.draws:
            return ()
        if generators.under_way.generators:
            key = generators.key(generators.under_way.generators)
            return ((np.uint32(key[0]), np.uint32(key[1])),)
        low, high = np.random.randint(0, 2**32, 2, np.uint32)  # noqa: NPY002 (the state that np.random.seed sets)
        return ((low, high),)

    def _left(self, why: str, captured: tuple[Any, ...], chosen: bool = False) -> Any:
        """`chosen`: Python runs it because that is faster."""
        first = why not in self.python_runs
        self.python_runs[why] = self.python_runs.get(why, 0) + 1
        if self.counted and not chosen and any(isinstance(c, (Array, np.ndarray, *byte_values.BUFFERS)) for c in captured):
            left_to_python(self.scope, self.options, self.first, why, first)
        return LEFT

    def described(self) -> str:
        """What became of the loop."""
        if not self.parallel:
            python = [f"; {count} of its runs were Python's: {why}" for why, count in self.python_runs.items()]
            return "a serial loop, compiled" + "".join(python)
        counters = " and ".join(f"`{ast.unparse(lp.target)}`" for lp in self.parallel_loops)
        space = ", one index space" if len(self.parallel_loops) > 1 else ""
        reduces = f"; it reduces into {', '.join(f'`{n}`' for n in self.results)}" if self.results else ""
        return f"a parallel loop over {counters}{space}{reduces}"

    def __call__(self, bounds: tuple[tuple[Any, ...], ...], chunk: Any, *captured: Any) -> Any:
        """Run a parallel loop."""
        if (variant := self.variant_for(captured)) is not None:
            return self._drawing(captured, variant, bounds, chunk, *variant.part_of(self, captured))
        if not all(map(_is_taken, captured)):
            if (converted := self._with_arrays(captured)) is not None:
                return converted[0](bounds, chunk, *converted[1])
            for name, value in zip(self.captured, captured, strict=True):
                if isinstance(value, (list, *byte_values.SETS)) and byte_values.as_array(value, lists=True) is None:
                    kind = type(value).__name__
                    text = f"`{name}`: of a {kind} a parallel loop reads elements that are numbers of one type; pass an array"
                    raise TypeError(f"{self.name}: {text}")
        ranges = [_iterations(each) for each in bounds]
        if ranges and (self.options.race_check or race_checking()):
            return self.checked(ranges, captured)
        at_a_time = self.at_a_time if chunk is None else chunk_of("prange", self.schedule, chunk)
        if arrays := [n for n, k in zip(self.results, self.initial, strict=True) if array_reductions.is_array(captured[k])]:
            key = tuple(arrays)
            if key not in self.blocked:
                self.blocked[key] = array_reductions.BlockedLoop(self, arrays)
            return self.blocked[key].run(ranges[0], captured, at_a_time)
        self._refresh()
        arguments = self._arguments(captured) + self.key()
        for r, (start, step) in zip(ranges, self.fixed, strict=True):
            arguments += _counted(r, start, step)
        before = [copies.plain(captured[k]) for k in self.initial]
        return self._run(arguments, [len(r) for r in ranges], tuple(before), at_a_time)

    def run_loop(self, loop: _core._Loop, values: tuple[Any, ...], counts: list[int], before: list[Any], at_a_time: int) -> list[Any]:
        """Run another program of it; the numbers that it reduces."""
        initial = [copies.plain(v) for v in before]
        results = loop.run(
            self._arguments(values), counts, tuple(leaf for v in initial for leaf in _numbers(v)), None, at_a_time, self.name
        )
        return [_shaped_as(v, r) for v, r in zip(initial, results, strict=True)]

    def _arguments(self, captured: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            return tuple(copies.argument(c) for c in captured)
        except TypeError:
            for name, value in zip(self.captured, captured, strict=False):
                try:
                    copies.argument(value)
                except TypeError as e:
                    if str(e).startswith("dtype "):
                        raise TypeError(f"{self.name}: `{name}`: {e}") from None
            raise

    def _run(self, arguments: tuple[Any, ...], counts: list[int], before: tuple[Any, ...], at_a_time: int = 0) -> Any:
        initial = tuple(leaf for value in before for leaf in _numbers(value))
        if self.recorded is not None and self.recorded[0] == threading.get_ident():
            self.recorded[1].append((self, arguments, counts, at_a_time))
        results = self.loop.run(arguments, counts, initial, None, at_a_time, self.name)
        for k, value in enumerate(before):
            results[k] = _shaped_as(value, results[k])
        return results[0] if len(results) == 1 else tuple(results)

    def checked(self, ranges: list[range], captured: tuple[Any, ...]) -> Any:
        """The parallel loop in plain Python, which looks for races between iterations."""
        from pardo._debug import interpreter

        arguments = [copies.plain(copies.argument(c)) if getattr(c, "ndim", None) == 0 else c for c in captured]
        return interpreter.check_rounds(self.in_plain_python(), self.name, self.captured, ranges, arguments)

    def in_plain_python(self) -> types.FunctionType:
        """The parallel loop as a function of its iterations, and of the names that it takes from outside."""
        first, last = self.parallel_loops[0], self.parallel_loops[-1]
        counters: ast.expr = ast.Tuple([lp.target for lp in self.parallel_loops], ast.Store())
        loop = ast.copy_location(ast.For(counters, ast.Name(ITERATIONS, ast.Load()), last.body, []), first)
        arguments = ast.arguments([], [ast.arg(n) for n in (ITERATIONS, *self.captured)], None, [], [], None, [])
        names: list[ast.expr] = [ast.Name(n, ast.Load()) for n in self.results]
        results = ast.Return(names[0] if len(names) == 1 else ast.Tuple(names, ast.Load()))
        node = ast.FunctionDef(self.name, arguments, [loop, results], [], None, None)
        return defined(self.scope, copy.deepcopy(ast.copy_location(node, first)))


def _returns(loop: ast.stmt) -> list[str]:
    """What a loop has to tell of `return`: whether one was met, and its value if some have one."""
    every = [s for s in liveness.all_statements([loop]) if isinstance(s, ast.Return)]
    values = [s for s in every if s.value is not None and not (isinstance(s.value, ast.Constant) and s.value.value is None)]
    if values and len(values) < len(every):
        raise TypeError("it returns a value on one path, and none on another")
    return [] if not every else [RETURNED, VALUE] if values else [RETURNED]


def _fixed(function: types.FunctionType, bounds: list[ast.expr]) -> tuple[bool, bool]:
    """Whether start and step of a loop are the same at every call."""
    code = function.__code__
    changing = {*code.co_varnames, *code.co_cellvars}
    start, step = bounds[: len(bounds) > 1], bounds[2:]
    return not liveness.names(start, ast.Load) & changing, not liveness.names(step, ast.Load) & changing


def _counted(iterations: range, fixed_start: bool, fixed_step: bool) -> tuple[Any, Any]:
    """Start and step, so that the compiler sees in neighbouring iterations neighbours, and indices that do not count from the end."""
    start, step = iterations.start, iterations.step
    known: Any = _constant(start) if fixed_start or start in (0, 1) else np.uint64(start) if start >= 0 else start
    return known, _constant(step) if fixed_step or step == 1 else step


@functools.lru_cache(256)
def _constant(number: int) -> Constant[int]:
    return Constant(number)


def _shaped_as(value: Any, result: Any) -> Any:
    """A result with the structs of the value from before the loop, for plain ones."""
    if isinstance(value, Struct):
        return type(value)(*map(_shaped_as, value._values(), result._values()))
    return tuple(map(_shaped_as, value, result)) if type(value) is tuple else result


# Whether arguments of a type are part of a program.
_is_constant: Callable[[Any], bool] = functools.cache(lambda kind: kind in _CONSTANTS or generators.is_generator(kind))


def _is_taken(value: Any) -> bool:
    kind = type(value)
    if kind is int or kind is float or kind is Array or (kind is np.ndarray and value.dtype.kind in "biufc"):
        return True
    if kind is tuple:
        return all(map(_is_taken, value))
    value = structs.as_struct(value)
    if isinstance(value, Struct):
        return all(v is None or _is_taken(v) for v in value._values())
    dtype = getattr(value, "dtype", None)
    if isinstance(value, np.ndarray) and value.dtype.names:
        return True
    known = isinstance(value, _TAKEN) and (dtype is None or dtype.kind in "biufc")
    return known or (callable(value) and python_function(value) is not None)


def _numbers(value: Any) -> Iterator[Any]:
    """A number, or those of a tuple or struct."""
    for leaf in structs.leaves(value):
        if type(leaf) is not tuple and not isinstance(leaf, Struct):
            yield leaf


def _iterations(bounds: tuple[Any, ...]) -> range:
    """The iterations of a parallel loop; numbers of iterations have 64 bits, and so have their bounds."""
    if len(bounds) == 1 and type(bounds[0]) is int and 0 <= bounds[0] < 2**63:
        return range(bounds[0])
    iterations = iterations_of(bounds)
    for bound in (
        iterations.start,
        iterations.stop,
        iterations.step,
        (iterations[-1] - iterations[0]) // iterations.step + 1 if iterations else 0,
    ):
        if not -(2**63) <= bound < 2**63:
            raise OverflowError(f"prange: {iterations} is more than 64 bits hold")
    return iterations
