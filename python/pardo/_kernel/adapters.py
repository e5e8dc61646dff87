# python/pardo/_kernel/adapters.py: what tries a call of a serial loop before its own program does: lists, bytes, None and texts, libraries.
"""Each kind of adapter says for which loops it is needed, and is asked before every call of these, in the order of `ADAPTERS`: it gives
what runs the loop, a reason for which Python has to, or None where the call is none of its own. Nothing runs before there is an answer."""

from __future__ import annotations

import abc
import ast
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo._base.arguments import HOST
from pardo._core import Array, Device
from pardo._kernel import array_code, byte_values, generators, list_values
from pardo._kernel.arguments import REFUSALS, is_taken
from pardo._kernel.loop_programs import LoopProgram
from pardo._kernel.loop_runners import LEFT, LoopRunner, Reason, is_constant, shortened

Captured = tuple[Any, ...]
Call = tuple[Callable[[Any], Any], Any]  # what runs the loop, and its argument
Answer = Call | Reason | None
LARGE = ("$large",)  # of variants: for large arrays
_CPU, _NOTHING = Device(HOST), np.zeros(0, np.int64)
_SIMPLE = frozenset([int, float, bool, complex, types.NoneType])


class Adapter(abc.ABC):
    """What tries calls of one loop."""

    precedes_core = False  # it is asked before the core's fast path too
    takes_others = False  # than arrays and numbers, and is asked only where there are others

    def __init__(self, runner: LoopRunner) -> None:
        self.runner, self.program = runner, runner.program

    @classmethod
    def suits(cls, program: LoopProgram) -> bool:
        """Whether it is needed for a loop."""
        return not program.asked.parallel

    @abc.abstractmethod
    def try_(self, captured: Captured) -> Answer:
        """What runs the loop with these arguments, if this adapter does."""


class RecordedOperations(Adapter):
    """Operations on slices of large arrays, which run in parallel one by one."""

    precedes_core = True

    @classmethod
    def suits(cls, program: LoopProgram) -> bool:
        return program.asked.of_slices and not program.asked.parallel

    def try_(self, captured: Captured) -> Answer:
        return Reason("its operations run in parallel") if array_code.better_recorded(captured) else None


class LargeProducts(Adapter):
    """Products of large arrays: those of matrices are a library's."""

    precedes_core = True

    @classmethod
    def suits(cls, program: LoopProgram) -> bool:
        asked = program.asked
        return not asked.parallel and not asked.large and array_code.has_products(asked.scope, asked.loop)

    def try_(self, captured: Captured) -> Answer:
        if not array_code.better_multiplied(captured):
            return None
        asked = self.program.asked
        if asked.of_slices and array_code.better_threaded(captured):
            return Reason("its products are a library's")
        found = self.runner.variants.get(LARGE)
        if found is None:
            try:
                variant = asked.variant(asked.loop, asked.given, lists=asked.lists, large=True)
                found = self.runner.variants.keep(LARGE, LoopRunner(variant, self.runner.python_runs))
            except REFUSALS as e:
                return Reason(shortened(str(e), self.program.name))
        return found, captured


class Solvers(Adapter):
    """Large matrices, which a library factorizes sooner."""

    precedes_core = True

    @classmethod
    def suits(cls, program: LoopProgram) -> bool:
        return not program.asked.parallel and array_code.has_solvers(program.asked.scope, program.asked.loop)

    def try_(self, captured: Captured) -> Answer:
        if array_code.better_solved(captured):
            return Reason("its matrices are large, and a library factorizes them sooner", chosen=True)
        return None


class TranslatedLater(Adapter):
    """A loop that is translated when it runs first: there may be no program."""

    def __init__(self, runner: LoopRunner) -> None:
        super().__init__(runner)
        self.refused: Reason | None = None

    @classmethod
    def suits(cls, program: LoopProgram) -> bool:
        return program.asked.later

    def try_(self, captured: Captured) -> Answer:
        if self.runner.loop is None and self.refused is None:
            try:
                self.runner.prepare(self.program.translated())
            except REFUSALS as e:
                self.refused = Reason(shortened(str(e), self.program.name))
        return self.refused


class Constants(Adapter):
    """None and texts, which are part of a program, generators of random numbers, and names that stay the arrays they are."""

    def __init__(self, runner: LoopRunner) -> None:
        super().__init__(runner)
        self.takes_others = not self.program.in_place

    def try_(self, captured: Captured) -> Answer:
        if self.takes_others and not any(map(is_constant, map(type, captured))):
            return None
        found = self.runner.with_constants(captured)
        if not isinstance(found, LoopRunner):
            return found
        if found.stands_alone:
            return found, found.part_of(self.runner, captured)
        return self._run, (found, captured)

    def _run(self, given: tuple[LoopRunner, Captured]) -> Any:
        variant, captured = given
        return self.runner.completed(variant, generators.drawing(captured, variant, variant.part_of(self.runner, captured)), captured)


class Lists(Adapter):
    """Python's lists, and tuples that are as long."""

    takes_others = True

    def __init__(self, runner: LoopRunner) -> None:
        super().__init__(runner)
        self.plans: dict[tuple[str, ...], list_values.Plan] = {}  # what the loop does with arguments that are lists

    def try_(self, captured: Captured) -> Answer:
        given, others, ours = {}, False, False
        for name, value in zip(self.program.captured, captured, strict=True):
            kind = type(value)
            if kind is list or list_values.is_long(value):
                given[name] = value
            elif kind in _SIMPLE:
                continue
            elif isinstance(value, byte_values.OTHERS) or is_taken(value):
                others, ours = True, ours or (kind is Array and value.queue.device != _CPU)
            else:
                return None
        if not given:
            return None
        first: dict[int, str] = {}
        names = {n: first.setdefault(id(v), n) for n, v in given.items()}
        key = (*names, "", *names.values())
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = list_values.planned(self.program.asked.loop, names)
        if plan.too_short(given, others) or (self.program.asked.later and plan.too_often(given)):
            return Reason("Python is faster with lists that are as short, or that are handed over as often", chosen=True)
        if plan.refused:
            return Reason(plan.refused)
        lists, values = [], dict(zip(self.program.captured, captured, strict=True))
        for name in names:
            values[name] = 0
        for name, use in plan.uses.items():
            elements: Any = _NOTHING, True
            if type(given[name]) is tuple and use != list_values.READ:
                return None
            if use != list_values.APPENDED and given[name]:
                elements = list_values.contents(given[name])
                if elements is None:
                    return Reason(f"`{name}` is a {type(given[name]).__name__} of what are not numbers of one type")
            values[name] = elements[0]
            changes, grows = use != list_values.READ, use == list_values.GROWN
            lists.append(list_values.Given(name, bool(elements[0].size), elements[1], changes, grows))
        if ours:
            return Reason(f"`{lists[0].name}` is a list, which only the CPU takes; pass an array")
        variant = self.runner.variants.get((*key, *lists))
        if variant is None:
            assert isinstance(plan.loop, (ast.For, ast.While))
            asked = self.program.asked
            try:
                made = LoopRunner(asked.variant(plan.loop, asked.given, lists=tuple(lists), counted=False))
            except REFUSALS as e:
                return Reason(shortened(str(e), self.program.name))
            variant = self.runner.variants.keep((*key, *lists), made)
        changed = [(given[g.name], plan.uses[g.name]) for g in lists if g.changes]
        return self._run, (variant, plan, names, changed, values, captured)

    def _run(
        self,
        given: tuple[LoopRunner, list_values.Plan, dict[str, str], list[tuple[list[Any], str]], dict[str, Any], Captured],
    ) -> Any:
        variant, plan, names, changed, values, captured = given
        out = values[list_values.OUT] = list_values.places(len(changed))
        overflown = False
        try:
            result = variant(tuple(values[n] for n in variant.program.captured))
        except OverflowError:
            if self.program.in_place or list_values.changes_others(self.program.asked.scope, plan.loop, names):
                raise
            overflown = True
        finally:
            list_values.put_back(changed, out, not overflown)
        if overflown:  # nothing has been written yet
            return self.runner.left(Reason("a Python integer in it does not fit an int64"), captured)
        if result is LEFT:
            return self.runner.left(Reason(list(variant.python_runs)[-1]), captured)
        return self.runner.completed(variant, result, captured)


class Containers(Adapter):
    """Bytes, other buffers of integers and sets, where the loop asks for their elements; with what is no argument it is Python's."""

    def try_(self, captured: Captured) -> Answer:
        if all(map(is_taken, captured)):
            return None
        runner, names = self.runner, self.program.captured
        if (converted := runner.with_arrays(captured)) is not None:
            variant, values = converted
            changed = [k for k, v in enumerate(captured) if values[k] is not v]
            if len(changed) == 1 and type(captured[changed[0]]) is bytes:
                runner.ask_before(Constants, _bytes_again(changed[0], variant))
            return variant, values
        for name, value in zip(names, captured, strict=True):
            if isinstance(value, byte_values.BUFFERS):
                return Reason(f"`{name}` is not an array ({type(value).__name__}); pass numpy.frombuffer({name}, …)")
        return Reason("it uses what is neither an array nor a number")


def _bytes_again(at: int, variant: LoopRunner) -> Callable[[Captured], Answer]:
    """What asks for bytes where the call before had some."""

    def try_(captured: Captured) -> Answer:
        data = captured[at]
        if type(data) is not bytes or not data:
            return None
        elements = np.frombuffer(data, np.uint8)
        return variant, (elements,) if len(captured) == 1 else (*captured[:at], elements, *captured[at + 1 :])

    return try_


ADAPTERS: tuple[type[Adapter], ...] = (
    RecordedOperations,
    LargeProducts,
    Solvers,
    TranslatedLater,
    Constants,
    Lists,
    Containers,
)
