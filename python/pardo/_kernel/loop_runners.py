# python/pardo/_kernel/loop_runners.py: loops of a function that became programs: how they run, and what runs in their place.
from __future__ import annotations

import ast
import functools
import itertools
import threading
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._compiler import structs, translations
from pardo._compiler.source import problem, warn_at
from pardo._core import Array
from pardo._kernel import aligned, array_reductions, byte_values, generators, launchers  # noqa: F401 (imported for what they register)
from pardo._kernel.arguments import REFUSALS, argument, is_taken, numbers_of, plain_number, shaped_as
from pardo._kernel.environment import race_checking
from pardo._kernel.loop_programs import Asked, LoopProgram, Translated, loop_program
from pardo._kernel.parallel_loops import Options, Scope, checked_iterations, chunk_of, counted, fixed_of

LEFT: Any = type("Left", (), {"__slots__": ()})()  # what a serial loop gives that Python has to run
MOST_VARIANTS = 64  # of one loop
_CONSTANTS = frozenset([types.NoneType, str])  # types of arguments that are part of a program
_PLAIN = frozenset([Array, np.ndarray, int, float, bool, complex])  # types of most arguments


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


class Reason(NamedTuple):
    """Why Python runs a serial loop."""

    why: str
    chosen: bool = False  # because that is faster


class _NoProgramError(Exception):
    """There is no program for a container among the arguments of a variant."""


class Variants(dict[tuple[Any, ...], "LoopRunner"]):
    """The programs of a loop for arguments that are part of them: None, texts, lists, arrays that a name stays. The oldest go."""

    def keep(self, key: tuple[Any, ...], runner: LoopRunner) -> LoopRunner:
        while len(self) >= MOST_VARIANTS:
            self.pop(next(iter(list(self))), None)
        self[key] = runner
        return runner


class LoopRunner(_core._LoopCall):
    """Runs a loop of a function: by its program, by one of its variants, or by Python."""

    on_host = False  # with arrays that are elsewhere it is Python's
    stands_alone = False  # as a variant it gives what the loop gives, and draws from no generators

    def __init__(self, asked: Asked, python_runs: dict[str, int] | None = None) -> None:
        super().__init__()
        self.program: LoopProgram = loop_program(asked)
        self.variants = Variants()
        self.python_runs = {} if python_runs is None else python_runs  # how often Python ran it in the end, by the reason
        self.python_loop: Callable[..., Any] | None = None  # what does that, for a parallel loop
        self.blocked: dict[tuple[str, ...], array_reductions.BlockedLoop] = {}
        self.loop: _core._Loop | None = None
        self.fixed = [fixed_of(asked.scope.function, bounds) for bounds in self.program.bounds]
        self.first_bounds: list[tuple[int, int]] = []  # start and step in the first run
        self._adapters = [kind(self) for kind in asked.adapters if kind.suits(self.program)]
        self._tries: list[Callable[[tuple[Any, ...]], Any]] = [each.try_ for each in self._adapters]
        self._plain_tries = [each.try_ for each in self._adapters if not each.takes_others]
        # All, where the call before had other arguments than arrays and numbers: then these are not looked at first.
        self._tries_of_others: list[Callable[[tuple[Any, ...]], Any]] | None = None
        self._precedes_core = any(each.precedes_core for each in self._adapters)
        if self.program.first is not None:
            self.prepare(self.program.first)

    @property
    def line(self) -> int:
        """Where the loop is in the user's file."""
        return self.program.line

    def prepare(self, made: Translated) -> None:
        """Make the program that it runs by."""
        self.translated = made
        self.named = self.program.named(made.translation)
        self._programs: translations.Variants[_core._Loop] = translations.Variants()
        self.loop = self._programs.current(lambda: (made.translation, self.program.compiled(made.translation)))[1]
        self._let_core_run()

    def _let_core_run(self) -> None:
        """Install the fast path in C++ for arrays and numbers; it looks at captured names again on each call."""
        program = self.program
        asks = self._precedes_core or self.translated.draws or bool(self.named) or program.asked.options.race_check
        places = program.initial if program.asked.parallel else program.in_place
        self._prepare_call(
            None if asks else self.loop,
            len(program.parallel_loops),
            len(program.captured),
            places,
            program.at_a_time,
            self.on_host,
            self.translated.translation.for_core(),
        )

    def _refresh(self) -> None:
        """Make the program again when a value from outside of the function that is part of it has changed."""
        if self.translated.translation.captured and self.translated.translation.changed():
            translation, self.loop = self._programs.current(self._made_again)
            self.translated = Translated(
                translation, _core._Loop.draws(translation.function)
            )  # last: until then other threads refresh it too
            self._let_core_run()

    def _made_again(self) -> tuple[translations.Translation, _core._Loop]:
        translation = self.program.translated().translation
        return translation, self.program.compiled(translation)

    # --- serial loops

    def serially(self, captured: tuple[Any, ...] | None) -> Any:
        """Run a serial loop, or say that Python has to: what the language does not know means what it means in Python.

        `captured` is None where one of the names has no value, which may be an error or not.
        """
        if captured is None:
            return self.left(Reason("a name that it reads has no value before it"), ())
        tries = self._tries_of_others
        if tries is None:
            if _PLAIN.issuperset(map(type, captured)):
                tries = self._plain_tries
            else:
                tries = self._tries_of_others = self._tries
        for try_ in tries:
            found = try_(captured)
            if found is not None:
                if type(found) is Reason:
                    return self.left(found, captured)
                run, given = found
                return run(given)
        self._tries_of_others = None
        return self._by_program(captured)

    def ask_before(self, kind: type[Any], try_: Callable[..., Any]) -> None:
        """Ask a function too, in front of the adapter of a kind; one that was asked there before is so no more."""
        tries: list[Callable[[tuple[Any, ...]], Any]] = []
        for each in self._adapters:
            tries += [try_, each.try_] if type(each) is kind else [each.try_]
        self._tries = self._tries_of_others = tries

    def _by_program(self, captured: tuple[Any, ...]) -> Any:
        named, given = self.named, list[Any]()
        if self.program.results and any(map(structs.may_hold_records, map(type, captured))):
            given = list(structs.records_in(captured))
            try:
                named = structs.classes_of((*named.values(), *map(type, given)))
            except TypeError as e:
                return self.left(Reason(str(e)), captured)
        name = self.program.name
        assert self.loop is not None
        try:
            self._refresh()
            taken = aligned.made(name, captured)
            arguments = (*map(argument, taken.given if taken else captured), *generators.key_of(self.translated.draws))
            refusal = self.loop.refusal(arguments, name)
        except REFUSALS as e:
            refusal = str(e)
        if refusal is not None:
            return self.left(Reason(shortened(refusal, name)), captured)
        result = self._run(arguments, [], (), taken=taken)
        return structs.with_classes(result, named, given) if named else result

    def left(self, reason: Reason, captured: tuple[Any, ...]) -> Any:
        """Leave it to Python, which is counted, and said where that is slow."""
        why = reason.why
        first = why not in self.python_runs
        self.python_runs[why] = self.python_runs.get(why, 0) + 1
        asked = self.program.asked
        if asked.counted and not reason.chosen and any(isinstance(c, (Array, np.ndarray, *byte_values.BUFFERS)) for c in captured):
            left_to_python(asked.scope, asked.options, asked.loop, why, first)
        return LEFT

    # --- variants

    def like(self, loop: ast.For | ast.While, given: dict[str, Any], **more: Any) -> LoopRunner:
        """The runner of a variant, which says what this one says."""
        program = self.program
        return LoopRunner(
            program.asked.variant(loop, given, schedule=(program.schedule, program.chunk) if program.asked.parallel else None, **more)
        )

    def with_constants(self, captured: tuple[Any, ...]) -> LoopRunner | Reason | None:
        """The variant for these arguments if some are None or texts, which are part of its program, or if what it changes in place is an
        array, which the name stays; None if there are no such."""
        program = self.program
        kept = [program.captured[k] for k in program.in_place if array_reductions.is_array(captured[k])]
        if not kept and not any(map(is_constant, map(type, captured))):
            return None
        constants = [
            (n, generators.methods_of(type(v)) if generators.is_generator(type(v)) else v)
            for n, v in zip(program.captured, captured, strict=True)
            if is_constant(type(v))
        ]
        names = (*((n, v if type(v) in _CONSTANTS else id(v)) for n, v in constants), *kept)
        found = self.variants.get(names)
        if found is not None:
            return found
        asked = program.asked
        try:
            made = self.like(asked.loop, {**asked.given, **dict(constants)}, kept=tuple(kept), of_slices=asked.of_slices)
        except REFUSALS as e:
            if asked.parallel:
                raise
            return Reason(shortened(str(e), program.name))
        made.stands_alone = len(made.program.results) == len(program.results) and not any(map(generators.is_generator, map(type, captured)))
        return self.variants.keep(names, made)

    def with_arrays(self, captured: tuple[Any, ...]) -> tuple[LoopRunner, tuple[Any, ...]] | None:
        """The variant, and its arguments, where some of them are bytes, sets or the like and the loop asks for their elements."""
        asked = self.program.asked
        values, kinds = [], {}
        for name, value in zip(self.program.captured, captured, strict=True):
            if (found := byte_values.as_array(value, asked.parallel)) is not None:
                value, kinds[name] = found
            elif not is_taken(value):
                return None
            values.append(value)
        if not kinds:
            return None
        key = (*kinds.items(), None)
        variant = self.variants.get(key)
        if variant is None:
            loop = byte_values.of_arrays(asked.loop, kinds)
            if loop is None or not isinstance(loop, (ast.For, ast.While)):
                return None
            known = {**asked.given, **byte_values.CONVERSIONS, **byte_values.LOOKS}
            try:
                variant = self.variants.keep(key, self.like(loop, known, lists=asked.lists))
            except REFUSALS:
                if asked.parallel:
                    raise
                return None
        return variant, tuple(values)

    def completed(self, variant: LoopRunner, given: Any, captured: tuple[Any, ...]) -> Any:
        """The results of a variant, and the arrays that it leaves to their names."""
        names, results = variant.program.results, self.program.results
        if given is LEFT or len(names) == len(results):
            return given
        known = dict(zip(self.program.captured, captured, strict=True))
        known.update(zip(names, (given,) if len(names) == 1 else given, strict=True))
        return known[results[0]] if len(results) == 1 else tuple(known[n] for n in results)

    def part_of(self, whole: LoopRunner, captured: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of another runner's arguments that are its own."""
        given = self.program.asked.given
        return tuple(v for n, v in zip(whole.program.captured, captured, strict=True) if n not in given)

    # --- what is told

    def told(self, tell: Callable[[Any], str]) -> str:
        """What is told of its programs, those of its variants among them."""
        own = tell(self.loop) if self.loop is not None else ""
        return "\n".join(filter(None, (own, *(v.told(tell) for v in list(self.variants.values())))))

    def described(self) -> str:
        """What became of the loop."""
        python = "".join(f"; {count} of its runs were Python's: {why}" for why, count in self.python_runs.items())
        return self.program.described() + python

    # --- parallel loops

    def in_parallel(self, bounds: tuple[tuple[Any, ...], ...], chunk: Any, *captured: Any) -> Any:
        """Run a parallel loop."""
        program = self.program
        if (variant := self.with_constants(captured)) is not None:
            assert isinstance(variant, LoopRunner)
            try:
                return generators.drawing(captured, variant, bounds, chunk, *variant.part_of(self, captured))
            except _NoProgramError as e:
                why = str(e)
            return self._run_by_python(bounds, captured, why)
        if not all(map(is_taken, captured)):
            if (converted := self.with_arrays(captured)) is not None:
                return converted[0](bounds, chunk, *converted[1])
            if why := byte_values.container_in(program.captured, captured):
                return self._run_by_python(bounds, captured, why)
        ranges = [checked_iterations(each) for each in bounds]
        if ranges and (program.asked.options.race_check or race_checking()):
            return self.checked(ranges, captured)
        at_a_time = (program.at_a_time or _core._host_chunk()) if chunk is None else chunk_of("prange", program.schedule, chunk)
        if arrays := [n for n, k in zip(program.results, program.initial, strict=True) if array_reductions.is_array(captured[k])]:
            key = tuple(arrays)
            if key not in self.blocked:
                self.blocked[key] = array_reductions.BlockedLoop(program, arrays)
            return self.blocked[key].run(ranges[0], captured, at_a_time)
        self._refresh()
        taken = aligned.made(program.name, captured)
        arguments = aligned.arguments(program.name, program.captured, taken.given if taken else captured)
        arguments += generators.key_of(self.translated.draws)
        for r, (start, step) in zip(ranges, self._fixed_in(ranges), strict=True):
            arguments += counted(r, start, step)
        before = [plain_number(captured[k]) for k in program.initial]
        try:
            return self._run(arguments, [len(r) for r in ranges], tuple(before), at_a_time, taken)
        except NameError as e:  # found when it is typed: nothing has run
            if "may have no value" not in (why := str(e)):
                raise
        return self._run_by_python(bounds, captured, shortened(why, program.name))

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
        asked, name = self.program.asked, self.program.name
        if asked.given:
            raise _NoProgramError(why)  # the runner that this one is a variant of has all names
        if asked.options.race_check or race_checking():
            raise TypeError(f"{name}: races are looked for in arrays that loops take by their names: {why}")
        ranges = [checked_iterations(each) for each in bounds]
        first = why not in self.python_runs
        self.python_runs[why] = self.python_runs.get(why, 0) + 1
        left_to_python(asked.scope, asked.options, asked.loop, why, first)
        if self.python_loop is None:
            self.python_loop = asked.for_python(asked.scope, asked.options, self.program.as_function())
        return self.python_loop(itertools.product(*ranges), *captured)

    def _run(
        self,
        arguments: tuple[Any, ...],
        counts: list[int],
        before: tuple[Any, ...],
        at_a_time: int = 0,
        taken: aligned.Taken | None = None,
    ) -> Any:
        assert self.loop is not None
        initial = tuple(leaf for value in before for leaf in numbers_of(value))
        if self.recorded is not None and self.recorded[0] == threading.get_ident():
            self.recorded[1].append((self, arguments, counts, at_a_time))
        results = aligned.run(taken, self.loop, arguments, counts, initial, at_a_time, self.program.name)
        for k, value in enumerate(before):
            results[k] = shaped_as(value, results[k])
        return results[0] if len(results) == 1 else tuple(results)

    def checked(self, ranges: list[range], captured: tuple[Any, ...]) -> Any:
        """The parallel loop in plain Python, which looks for races between iterations."""
        from pardo._debug import interpreter

        arguments = [plain_number(argument(c)) if getattr(c, "ndim", None) == 0 else c for c in captured]
        return interpreter.check_rounds(self.program.in_plain_python(), self.program.name, self.program.captured, ranges, arguments)


# Whether arguments of a type are part of a program.
is_constant: Callable[[Any], bool] = functools.cache(lambda kind: kind in _CONSTANTS or generators.is_generator(kind))
