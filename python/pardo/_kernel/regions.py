# python/pardo/_kernel/regions.py: loops of a function that became programs: what they take, how they run, what they give back.
from __future__ import annotations

import ast
import copy
import functools
import itertools
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._compiler import frontend, liveness, structs, translations
from pardo._compiler.defining import defined
from pardo._compiler.liveness import Around
from pardo._compiler.source import Source, problem, warn_at
from pardo._compiler.translator import Translator
from pardo._core import Array, Device
from pardo._kernel import aligned, array_code, array_reductions, byte_values, generators, launchers, list_values  # noqa: F401 (imported for what they register)
from pardo._kernel.arguments import REFUSALS, argument, is_taken, numbers_of, plain_number, shaped_as
from pardo._kernel.environment import race_checking
from pardo._kernel.parallel_loops import (
    NONE,
    Options,
    Scope,
    bounds_of,
    checked_iterations,
    chunk_of,
    counted,
    fixed_of,
    nested,
    scheduled,
    value_of,
)

ITERATIONS, KEY = "$iterations", "$key"
RETURNED, VALUE = "$return", "$value"  # what a serial loop tells of a `return` in it, as the compiler calls it
LEFT: Any = type("Left", (), {"__slots__": ()})()  # what a serial loop gives that Python has to run
MOST_VARIANTS = 64  # of one loop
LARGE = ("$large",)  # of variants: for large arrays
_CONSTANTS = frozenset([types.NoneType, str])  # types of arguments that are part of a program
_CPU, _NOTHING = Device("cpu"), np.zeros(0, np.int64)
_SIMPLE = frozenset([int, float, bool, complex, types.NoneType])


def shortened(message: str, name: str) -> str:
    """The first line of an error about a loop, without the function's name."""
    return message.partition("\n")[0].removeprefix(f"{name}: ")


def left_to_python(scope: Scope, options: Options, loop: ast.stmt | ast.expr, why: str, first: bool) -> None:
    """Count that Python runs a loop, and say so once; where the user wants none of that, refuse it."""
    source = scope.source
    if options.strict:
        raise problem(_core.CompileError, source, loop, f"strict=True, and this loop would run as Python: {why}")
    text = f"{source.name}: the loop at line {loop.lineno} runs as Python: {why}"
    _core._note_fallback(text)
    if first:
        warn_at(source, loop.lineno, text)


class _NoProgramError(Exception):
    """There is no program for a container among the arguments of a variant."""


class Region(_core._LoopCall):
    """A loop of a function, with what goes in and out."""

    on_host = False  # with arrays that are elsewhere it is Python's

    def __init__(
        self,
        scope: Scope,
        loop: ast.For | ast.While,
        parallel: bool,
        around: Around,
        options: Options,
        for_python: Callable[[Scope, Options, ast.FunctionDef], Callable[..., Any]],
        given: dict[str, Any] | None = None,
        kept: tuple[str, ...] = (),
        of_slices: bool = False,
        later: bool = False,
        lists: tuple[list_values.Given, ...] = (),
        large: bool = False,
    ) -> None:
        super().__init__()
        self.scope, self.options, self.around = scope, options, around
        self.for_python = for_python  # makes a function that Python runs of a loop
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
        self.python_runs: dict[str, int] = {}  # how often Python ran it in the end, by the reason
        self.python_loop: Callable[..., Any] | None = None  # what does that, for a parallel loop
        self.given_back = [] if parallel else _left_to_return(loop)
        assigned = liveness.bound([loop])
        loops = nested(scope, loop) if parallel and isinstance(loop, ast.For) else []
        schedules = [scheduled(scope, lp) for lp in loops]
        self.schedule, self.chunk = schedules[0] if schedules else (None, NONE)
        self.at_a_time = chunk_of("prange", *((self.schedule, None) if self.schedule else (options.schedule, options.chunk)))
        self.results = sorted(assigned & around.behind)
        captured = around.captured & around.outside - scope.imported.keys()
        if self.given_back:
            captured &= liveness.names([loop], ast.Load) | assigned
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
        self.of_bytes: tuple[int, Region] | None = None  # which argument is bytes, and its variant
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
        self.fixed = [fixed_of(self.scope.function, bounds) for bounds in self.bounds]
        self.first_bounds: list[tuple[int, int]] = []  # start and step in the first run
        self.initial = [self.captured.index(n) for n in self.results] if self.parallel else []
        self._programs: translations.Variants[_core._Loop] = translations.Variants()
        self.loop = self._programs.current(lambda: (self.translation, self._made()))[1]
        self._let_core_run()

    def _let_core_run(self) -> None:
        """Install the fast path in C++ for arrays and numbers; it looks at captured names again on each call."""
        asks = self.of_slices or self.has_products or self.has_solvers or self.draws or self.named or self.options.race_check
        captured = self.translation.for_core()
        places = self.initial if self.parallel else self.in_place
        loop, dimensions = None if asks else self.loop, len(self.parallel_loops)
        self._prepare_call(loop, dimensions, len(self.captured), places, self.at_a_time, self.on_host, captured)

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

    def _translated(self) -> translations.Translation:
        """The loop as a function of the names that it takes from outside, and of start and step of each dimension."""
        extra = [name for d in range(len(self.parallel_loops)) for name in (f"$start{d}", f"$step{d}")]
        made = self.translated(self.first, [*self.captured, *extra], self.given, set())
        self.draws = _core._Loop.draws(made.function)
        return self.translated(self.first, [*self.captured, KEY, *extra], self.given, set()) if self.draws else made

    def translated(self, loop: ast.stmt, parameters: list[str], given: dict[str, Any], own: set[str]) -> translations.Translation:
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
            False,
            translator.outside,
        )
        return translations.Translation(made, tuple(translator.captured))

    def _made(self) -> _core._Loop:
        return self.program(self.translation, len(self.parallel_loops), self.results)

    def program(self, translation: translations.Translation, dimensions: int, results: list[str]) -> _core._Loop:
        o = self.options
        return _core._Loop(
            translation.function, dimensions, list(results), o.fastmath, o.bounds_check, list(self.lists), self.large, o.truncates
        )

    def _refresh(self) -> None:
        """Make the program again when a value from outside of the function that is part of it has changed."""
        if self.translation.captured and self.translation.changed():
            translation, self.loop = self._programs.current(self._made_again)
            self.translation = translation  # last: until then other threads refresh it too
            self._let_core_run()

    def _made_again(self) -> tuple[translations.Translation, _core._Loop]:
        translation = self._translated()
        return translation, self.program(translation, len(self.parallel_loops), self.results)

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
            except REFUSALS as e:
                self.refused = shortened(str(e), self.name)
        if self.refused:
            return self._left(self.refused, captured)
        if self.of_bytes is not None and type(data := captured[self.of_bytes[0]]) is bytes and data:  # as in the call before
            at, variant = self.of_bytes
            return variant((*captured[:at], np.frombuffer(data, np.uint8), *captured[at + 1 :]))
        if (variant := self.variant_for(captured)) is not None:
            if variant is LEFT:
                return LEFT
            return self.completed(variant, self._drawing(captured, variant, variant.part_of(self, captured)), captured)
        if any(type(c) is list or list_values.is_long(c) for c in captured) and (made := self._with_lists(captured)) is not None:
            return made[0]
        if not all(map(is_taken, captured)):
            if (converted := self._with_arrays(captured)) is not None:
                return converted[0](converted[1])
            for name, value in zip(self.captured, captured, strict=True):
                if isinstance(value, byte_values.BUFFERS):
                    return self._left(f"`{name}` is not an array ({type(value).__name__}); pass numpy.frombuffer({name}, …)", captured)
            return self._left("it uses what is neither an array nor a number", captured)
        named, given = self.named, list[Any]()
        if self.results and any(map(structs.may_hold_records, map(type, captured))):
            given = list(structs.records_in(captured))
            try:
                named = structs.classes_of((*named.values(), *map(type, given)))
            except TypeError as e:
                return self._left(str(e), captured)
        try:
            self._refresh()
            taken = aligned.made(self.name, captured)
            arguments = (*map(argument, taken.given if taken else captured), *self.key())
            refusal = self.loop.refusal(arguments, self.name)
        except REFUSALS as e:
            refusal = str(e)
        if refusal is not None:
            return self._left(shortened(refusal, self.name), captured)
        result = self._run(arguments, [], (), taken=taken)
        return structs.with_classes(result, named, given) if named else result

    def _with_large_arrays(self, captured: tuple[Any, ...]) -> Any:
        """Run a loop with products of arrays that are large: those of matrices are a library's."""
        if self.of_slices and array_code.better_threaded(captured):
            return self._left("its products are a library's", captured)
        found = self.variants.get(LARGE)
        if found is None:
            try:
                found = self._variant(self.first, self.given, lists=self.lists, large=True)
            except REFUSALS as e:
                return self._left(shortened(str(e), self.name), captured)
            found.counted, found.python_runs = self.counted, self.python_runs
            self.variants[LARGE] = found
        return found(captured)

    def _with_arrays(self, captured: tuple[Any, ...]) -> tuple[Region, tuple[Any, ...]] | None:
        """The region, and its arguments, where some of them are bytes, sets or the like and the loop asks for their elements."""
        values, kinds = [], {}
        for name, value in zip(self.captured, captured, strict=True):
            if (found := byte_values.as_array(value, self.parallel)) is not None:
                value, kinds[name] = found
            elif not is_taken(value):
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
                self.variants[key] = self._like(self._variant(loop, known, lists=self.lists))
            except REFUSALS:
                if self.parallel:
                    raise
                return None
        converted = [k for k, v in enumerate(captured) if values[k] is not v]
        if not self.parallel and len(converted) == 1 and type(captured[converted[0]]) is bytes:
            self.of_bytes = converted[0], self.variants[key]
        return self.variants[key], tuple(values)

    def _variant(self, loop: ast.For | ast.While, given: dict[str, Any], **more: Any) -> Region:
        return Region(self.scope, loop, self.parallel, self.around, self.options, self.for_python, given, **{"large": self.large, **more})

    def _like(self, variant: Region) -> Region:
        variant.schedule, variant.chunk, variant.at_a_time = self.schedule, self.chunk, self.at_a_time  # the tree says them once
        variant.counted = self.counted
        if variant.loop is not None:
            variant._let_core_run()
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
            elif isinstance(value, byte_values.OTHERS) or is_taken(value):
                others, ours = True, ours or (kind is Array and value.queue.device != _CPU)
            else:
                return None
        first: dict[int, str] = {}
        names = {n: first.setdefault(id(v), n) for n, v in given.items()}
        key = (*names, "", *names.values())
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = list_values.planned(self.first, names)
        if plan.too_short(given, others) or (self.later and plan.too_often(given)):
            return (self._left("Python is faster with lists that are as short, or that are handed over as often", captured, chosen=True),)
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
                variant = self._variant(plan.loop, self.given, lists=tuple(lists))
            except REFUSALS as e:
                return (self._left(shortened(str(e), self.name), captured),)
            variant.counted = False
            self.variants[(*key, *lists)] = variant
        changed = [(given[g.name], plan.uses[g.name]) for g in lists if g.changes]
        out = values[list_values.OUT] = list_values.places(len(changed))
        overflown = False
        try:
            result = variant(tuple(values[n] for n in variant.captured))
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
                made = self._variant(self.first, known, kept=tuple(kept), of_slices=self.of_slices)
            except REFUSALS as e:
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

    def told(self, tell: Callable[[Any], str]) -> str:
        """What is told of its programs, those of its variants among them."""
        own = tell(self.loop) if self.loop is not None else ""
        return "\n".join(filter(None, (own, *(v.told(tell) for v in list(self.variants.values()) if v is not LEFT))))

    def described(self) -> str:
        """What became of the loop."""
        python = "".join(f"; {count} of its runs were Python's: {why}" for why, count in self.python_runs.items())
        if not self.parallel:
            return "a serial loop, compiled" + python
        counters = " and ".join(f"`{ast.unparse(lp.target)}`" for lp in self.parallel_loops)
        space = ", one index space" if len(self.parallel_loops) > 1 else ""
        ignored = "; `simd` is ignored: all loops are vectorised" if any(getattr(lp, "ignored", "") for lp in self.parallel_loops) else ""
        reduces = f"; it reduces into {', '.join(f'`{n}`' for n in self.results)}" if self.results else ""
        return f"a parallel loop over {counters}{space}{reduces}{ignored}{python}"

    def in_parallel(self, bounds: tuple[tuple[Any, ...], ...], chunk: Any, *captured: Any) -> Any:
        """Run a parallel loop."""
        if (variant := self.variant_for(captured)) is not None:
            try:
                return self._drawing(captured, variant, bounds, chunk, *variant.part_of(self, captured))
            except _NoProgramError as e:
                why = str(e)
            return self._run_by_python(bounds, captured, why)
        if not all(map(is_taken, captured)):
            if (converted := self._with_arrays(captured)) is not None:
                return converted[0](bounds, chunk, *converted[1])
            if why := byte_values.container_in(self.captured, captured):
                return self._run_by_python(bounds, captured, why)
        ranges = [checked_iterations(each) for each in bounds]
        if ranges and (self.options.race_check or race_checking()):
            return self.checked(ranges, captured)
        at_a_time = (self.at_a_time or _core._host_chunk()) if chunk is None else chunk_of("prange", self.schedule, chunk)
        if arrays := [n for n, k in zip(self.results, self.initial, strict=True) if array_reductions.is_array(captured[k])]:
            key = tuple(arrays)
            if key not in self.blocked:
                self.blocked[key] = array_reductions.BlockedLoop(self, arrays)
            return self.blocked[key].run(ranges[0], captured, at_a_time)
        self._refresh()
        taken = aligned.made(self.name, captured)
        arguments = self._arguments(taken.given if taken else captured) + self.key()
        for r, (start, step) in zip(ranges, self._fixed_in(ranges), strict=True):
            arguments += counted(r, start, step)
        before = [plain_number(captured[k]) for k in self.initial]
        try:
            return self._run(arguments, [len(r) for r in ranges], tuple(before), at_a_time, taken)
        except NameError as e:  # found when it is typed: nothing has run
            if "may have no value" not in (why := str(e)):
                raise
        return self._run_by_python(bounds, captured, shortened(why, self.name))

    def _fixed_in(self, ranges: list[range]) -> list[tuple[bool, bool]]:
        """Which bounds are part of the program: those that names from outside give, until they change."""
        now = [(r.start, r.step) for r in ranges]
        first = self.first_bounds = self.first_bounds or now
        if now != first:
            pairs = zip(self.fixed, now, first, strict=True)
            self.fixed = [(a and x[0] == y[0], b and x[1] == y[1]) for (a, b), x, y in pairs]
        return self.fixed

    def _run_by_python(self, bounds: tuple[tuple[Any, ...], ...], captured: tuple[Any, ...], why: str) -> Any:
        """The parallel loop as Python runs it; serial loops in it are programs."""
        if self.given:
            raise _NoProgramError(why)  # the region that this one is a variant of has all names
        if self.options.race_check or race_checking():
            raise TypeError(f"{self.name}: races are looked for in arrays that loops take by their names: {why}")
        ranges = [checked_iterations(each) for each in bounds]
        first = why not in self.python_runs
        self.python_runs[why] = self.python_runs.get(why, 0) + 1
        left_to_python(self.scope, self.options, self.first, why, first)
        if self.python_loop is None:
            self.python_loop = self.for_python(self.scope, self.options, self.as_function())
        return self.python_loop(itertools.product(*ranges), *captured)

    def run_loop(self, loop: _core._Loop, values: tuple[Any, ...], counts: list[int], before: list[Any], at_a_time: int) -> list[Any]:
        """Run another program of it; the numbers that it reduces."""
        initial = [plain_number(v) for v in before]
        taken = aligned.made(self.name, values)
        arguments = self._arguments(taken.given if taken else values)
        numbers = tuple(leaf for v in initial for leaf in numbers_of(v))
        results = aligned.run(taken, loop, arguments, counts, numbers, at_a_time, self.name)
        return [shaped_as(v, r) for v, r in zip(initial, results, strict=True)]

    def _arguments(self, captured: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            return tuple(argument(c) for c in captured)
        except TypeError:
            for name, value in zip(self.captured, captured, strict=False):
                try:
                    argument(value)
                except TypeError as e:
                    if str(e).startswith("dtype "):
                        raise TypeError(f"{self.name}: `{name}`: {e}") from None
            raise

    def _run(
        self,
        arguments: tuple[Any, ...],
        counts: list[int],
        before: tuple[Any, ...],
        at_a_time: int = 0,
        taken: aligned.Taken | None = None,
    ) -> Any:
        initial = tuple(leaf for value in before for leaf in numbers_of(value))
        if self.recorded is not None and self.recorded[0] == threading.get_ident():
            self.recorded[1].append((self, arguments, counts, at_a_time))
        results = aligned.run(taken, self.loop, arguments, counts, initial, at_a_time, self.name)
        for k, value in enumerate(before):
            results[k] = shaped_as(value, results[k])
        return results[0] if len(results) == 1 else tuple(results)

    def checked(self, ranges: list[range], captured: tuple[Any, ...]) -> Any:
        """The parallel loop in plain Python, which looks for races between iterations."""
        from pardo._debug import interpreter

        arguments = [plain_number(argument(c)) if getattr(c, "ndim", None) == 0 else c for c in captured]
        return interpreter.check_rounds(self.in_plain_python(), self.name, self.captured, ranges, arguments)

    def in_plain_python(self) -> types.FunctionType:
        """The parallel loop as a function in Python."""
        return defined(self.scope.function, self.scope.source.file, self.as_function(), self.scope.imported)

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


def _left_to_return(loop: ast.stmt) -> list[ast.expr]:
    """What a loop returns, where that depends on nothing that it assigns, so that Python makes it when the loop has ended: a number for
    each stands in its place. Nothing if that is not so."""
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


# Whether arguments of a type are part of a program.
_is_constant: Callable[[Any], bool] = functools.cache(lambda kind: kind in _CONSTANTS or generators.is_generator(kind))
