# python/pardo/_kernel/array_reductions.py: parallel loops that reduce into arrays, `r += x[i]`: in blocks, each with an array of its own.
from __future__ import annotations

import ast
import builtins
import copy
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.promotion import kind_of
from pardo._compiler import intrinsics, translations
from pardo._compiler.source import problem
from pardo._core import Array
from pardo._kernel import aligned
from pardo._kernel.arguments import numbers_of, plain_number, shaped_as
from pardo._kernel.generators import key_of
from pardo._kernel.loop_programs import KEY, LoopProgram, as_translation, compiled
from pardo._kernel.parallel_loops import Scope, called, prange

MOST_BLOCKS, MOST_ELEMENTS = 64, 1 << 24  # of all blocks' arrays together
WORTH = 4  # elements of a block's array, at most, for each iteration
BLOCK, BLOCKS, ROUND, LOW = "$block", "$blocks", "$round", "$low"
PART = "$part_"  # of all blocks' arrays, before the name
COUNT, PER, FIRST, STEP = "$count", "$per", "$first", "$step"
_OPERATORS: dict[type[ast.operator], np.ufunc] = {
    ast.Add: np.add,
    ast.Sub: np.add,
    ast.Mult: np.multiply,
    ast.Div: np.multiply,
    ast.BitAnd: np.bitwise_and,
    ast.BitOr: np.bitwise_or,
    ast.BitXor: np.bitwise_xor,
}
_EXTREMES = {"min": np.minimum, "minimum": np.minimum, "max": np.maximum, "maximum": np.maximum}


def is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, Array)) and value.ndim > 0


def _base(target: ast.expr) -> str:
    """The name of what a target changes: itself, or the array of which it is an element."""
    if isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _combining(scope: Scope, loop: ast.stmt, name: str) -> np.ufunc:
    """How the loop's statements reduce into a name: the compiler has seen that they all do it in one way."""
    for s in ast.walk(loop):
        if isinstance(s, ast.AugAssign) and _base(s.target) == name:
            return _OPERATORS[type(s.op)]
        if isinstance(s, ast.Assign) and _base(s.targets[0]) == name:
            if isinstance(s.value, ast.BinOp):
                return _OPERATORS[type(s.value.op)]
            function = called(scope, s.value) if isinstance(s.value, ast.Call) else None
            if function is None and isinstance(s.value, ast.Call) and isinstance(s.value.func, ast.Name):
                function = getattr(builtins, s.value.func.id, None)
            known = intrinsics.known.get(id(function))
            if known in _EXTREMES:
                return _EXTREMES[str(known)]
    raise problem(TypeError, scope.source, loop, f"`{name}` is an array, which is reduced by +, *, &, |, ^, np.minimum and np.maximum")


def _identity(combine: np.ufunc, dtype: np.dtype[Any]) -> Any:
    """What changes nothing."""
    if combine is np.bitwise_and:
        return dtype.type(True) if kind_of(dtype) == "b" else ~dtype.type(0)
    if combine not in (np.minimum, np.maximum):
        return dtype.type(1 if combine is np.multiply else 0)
    least = combine is np.maximum
    if kind_of(dtype) == "b":
        return dtype.type(not least)
    if kind_of(dtype) in "iu":
        return np.iinfo(dtype).min if least else np.iinfo(dtype).max
    return dtype.type(-np.inf if least else np.inf)


class _IntoArrays(ast.NodeTransformer):
    """Lets `r = r + …` write into the array that r is."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.names:
            node.targets = [ast.Subscript(ast.Name(target.id, ast.Load()), ast.Constant(Ellipsis), ast.Store())]
        return node


class BlockedLoop:
    """A parallel loop as one over blocks of its iterations."""

    def __init__(self, program: LoopProgram, names: list[str]) -> None:
        assert program.first is not None
        self.program, self.names, self.draws = program, names, program.first.draws
        asked, first = program.asked, program.asked.loop
        assert isinstance(first, ast.For)
        self.combines = [_combining(asked.scope, first, n) for n in names]
        self.numbers = [n for n in program.results if n not in names]
        load = ast.Load()

        def name(n: str) -> ast.Name:
            return ast.Name(n, load)

        def of(left: ast.expr, op: ast.operator, right: ast.expr) -> ast.expr:
            return ast.BinOp(left, op, right)

        def assigned(n: str, value: ast.expr) -> ast.stmt:
            return ast.Assign([ast.Name(n, ast.Store())], value)

        own = copy.deepcopy(first)
        counter = of(name(FIRST), ast.Add(), of(name(ROUND), ast.Mult(), name(STEP)))
        body = [ast.Assign([own.target], counter), *(_IntoArrays(set(names)).visit(s) for s in own.body)]
        high = ast.Call(name("$min"), [of(name(LOW), ast.Add(), name(PER)), name(COUNT)], [])
        rounds = ast.For(ast.Name(ROUND, ast.Store()), ast.Call(name("$range"), [name(LOW), high], []), body, [])
        parts = [assigned(n, ast.Subscript(name(f"{PART}{n}"), name(BLOCK), load)) for n in names]
        low = assigned(LOW, of(name(BLOCK), ast.Mult(), name(PER)))
        loop = ast.For(ast.Name(BLOCK, ast.Store()), ast.Call(name("$prange"), [name(BLOCKS)], []), [*parts, low, rounds], [])
        for node in ast.walk(loop):
            if "lineno" not in getattr(node, "__dict__", {}):
                ast.copy_location(node, first)
        self.loop_node = ast.fix_missing_locations(ast.copy_location(loop, first))
        captured = [f"{PART}{n}" if n in names else n for n in program.captured]
        self.parameters = [*captured, *([KEY] if self.draws else []), BLOCKS, COUNT, PER, FIRST, STEP, "$start0", "$step0"]
        self.programs: translations.Variants[_core._Loop] = translations.Variants()
        self.translation, self.loop = self.programs.current(self._made)

    def _made(self) -> tuple[translations.Translation, _core._Loop]:
        asked = self.program.asked
        given = {**asked.given, "$min": min, "$range": range, "$prange": prange}
        own = {BLOCK, ROUND, LOW, *self.names}
        translation = as_translation(asked, self.loop_node, self.parameters, given, own)
        return translation, compiled(asked, translation, 1, self.numbers)

    def run(self, iterations: range, captured: tuple[Any, ...], at_a_time: int) -> Any:
        """The results: numbers that are reduced, and the arrays, which are changed in place."""
        program = self.program
        if self.translation.captured and self.translation.changed():
            self.translation, self.loop = self.programs.current(self._made)
        values = dict(zip(program.captured, captured, strict=True))
        count = len(iterations)
        size = sum(values[n].size for n in self.names)
        most = MOST_ELEMENTS // max(1, size)
        if program.scattered:  # iterations change few elements each, and all of an array are set and added up for each block
            most = min(most, WORTH * count // max(1, size))
        per = max(1, -(-count // max(1, min(MOST_BLOCKS, most))))
        blocks = -(-count // per)
        parts = []
        for n, combine in zip(self.names, self.combines, strict=True):
            r = values[n]
            parts.append(np.full_like(r, _identity(combine, r.dtype), shape=(blocks, *r.shape), order="C"))
        given = dict(zip(self.names, parts, strict=True))
        numbers = (blocks, count, per, iterations.start, iterations.step, 0, 1)
        arguments = (*(given.get(n, values[n]) for n in program.captured), *key_of(self.draws), *numbers)
        before = [plain_number(values[n]) for n in self.numbers]
        found = self._run(arguments, [blocks], before, at_a_time)
        results = dict(zip(self.numbers, found, strict=True))
        for n, combine, part in zip(self.names, self.combines, parts, strict=True):
            if count:
                values[n][...] = combine(values[n], combine.reduce(part, axis=0))
            results[n] = values[n]
        ordered = [results[n] for n in program.results]
        return ordered[0] if len(ordered) == 1 else tuple(ordered)

    def _run(self, values: tuple[Any, ...], counts: list[int], before: list[Any], at_a_time: int) -> list[Any]:
        """Run the program; the numbers that it reduces."""
        name = self.program.name
        taken = aligned.made(name, values)
        arguments = aligned.arguments(name, self.program.captured, taken.given if taken else values)
        numbers = tuple(leaf for v in before for leaf in numbers_of(v))
        results = aligned.run(taken, self.loop, arguments, counts, numbers, at_a_time, name)
        return [shaped_as(v, r) for v, r in zip(before, results, strict=True)]
