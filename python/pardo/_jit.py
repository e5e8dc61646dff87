# python/pardo/_jit.py: functions with parallel loops: their loops become programs, what stands between them stays Python.
from __future__ import annotations

import ast
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from pardo import _core, _syntax
from pardo._core import Array
from pardo._kernels import interpreting
from pardo._syntax import Source

__all__ = ["jit", "prange"]

REGIONS = "$regions"


def prange(*bounds: int) -> range:
    """A range whose rounds may run side by side, in functions decorated with `jit`; elsewhere it is `range`.

    Parameters
    ----------
    *bounds : int
        As for `range`: stop, or start, stop and step.

    Notes
    -----
    Rounds are independent: names that a round assigns are its own. A name from before the loop that rounds only add to, multiply, or take
    the minimum or maximum of (``s += x[i]``, ``m = max(m, x[i])``, ``ok = ok and x[i] > 0``) is a reduction, and has the total
    afterwards; its bits depend on nothing but the number of rounds and the device.
    """
    return range(*bounds)


_syntax.mark(prange, "prange")


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def _calls(loop: ast.For) -> list[ast.expr]:
    """The bounds of `for … in prange(…)`."""
    assert isinstance(loop.iter, ast.Call)
    return loop.iter.args


def _nested(function: types.FunctionType, loop: ast.For) -> list[ast.For]:
    """Parallel loops that stand directly in each other, and whose bounds do not depend on each other: one index space."""
    loops, changed = [loop], _names([loop], ast.Store)
    while len(loops) < 3 and len(loops[-1].body) == 1:
        inner = loops[-1].body[0]
        if not isinstance(inner, ast.For) or inner.orelse or not _is_prange(function, inner) or changed & _names(_calls(inner), ast.Load):
            break
        loops.append(inner)
    return loops


class _Region:
    """A loop of a function, with what goes in and out.

    `outside`: names that the rest of the function assigns; `read_outside`: those that it reads.
    """

    def __init__(
        self,
        function: types.FunctionType,
        source: Source,
        loop: ast.For | ast.While,
        parallel: bool,
        outside: set[str],
        read_outside: set[str],
    ) -> None:
        self.name = function.__name__
        assigned = _names([loop], ast.Store)
        changed = {n.target.id for n in ast.walk(loop) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
        loops = _nested(function, loop) if parallel and isinstance(loop, ast.For) else []
        counters = _names([lp.target for lp in loops], ast.Store)
        self.captured = sorted(((_names([loop], ast.Load) | changed) & outside) - counters)
        self.translation = self._translate(function, source, loop, len(loops))
        self.results = sorted(assigned & (read_outside | set(self.captured)))
        if parallel:
            self.results = _core._Loop.reductions(self.translation.function, self.captured)
            if self.results and len(loops) > 1:
                loops = loops[:1]
                self.translation = self._translate(function, source, loop, 1)
            self.refuse_last_values(source, loop, (assigned & read_outside) - set(self.results) - counters)
        self.bounds = [_calls(lp) for lp in loops]
        self.initial = [self.captured.index(n) for n in self.results] if parallel else []
        self.loop = _core._Loop(self.translation.function, len(loops), list(self.results), False, False)

    def refuse_last_values(self, source: Source, loop: ast.AST, names: set[str]) -> None:
        """Names that rounds assign are their own: nothing after the loop may ask for the last one's."""
        for node in ast.walk(loop):
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Store):
                _syntax.problem(
                    TypeError,
                    source,
                    node,
                    f"`{node.id}` is read after the parallel loop, whose rounds run side by side: which one would be the last? "
                    "Reduce into it (s += …, m = max(m, …)), or write into an array",
                )

    def _translate(self, function: types.FunctionType, source: Source, loop: ast.stmt, dimensions: int) -> _syntax.Translation:
        """The loop as a function of the names that it takes from outside, and of start and step of each dimension."""
        extra = [name for d in range(dimensions) for name in (f"$start{d}", f"$step{d}")]
        arguments = ast.arguments([], [ast.arg(n) for n in [*self.captured, *extra]], None, [], [], None, [])
        node = ast.FunctionDef(function.__name__, arguments, [loop], [], None, None)
        part = Source(source.name, source.file, source.first_line, source.lines, node)
        translator = _syntax._Translator(function, part)
        body = translator.block([loop], loop)
        made = _core._Function(
            source.name, source.file, source.first_line, source.lines, translator.parameters, [], body, translator.callees
        )
        return _syntax.Translation(made, tuple(translator.captured))

    def __call__(self, bounds: tuple[tuple[Any, ...], ...], *captured: Any) -> Any:
        ranges = [range(*(_index(b) for b in each)) for each in bounds]
        arguments = (*map(_argument, captured), *(n for r in ranges for n in (r.start, r.step)))
        initial = tuple(_plain(captured[k]) for k in self.initial)
        results = self.loop.run(arguments, [len(r) for r in ranges], initial, None, self.name)
        return results[0] if len(results) == 1 else tuple(results)


def _index(bound: Any) -> int:
    return int(bound) if isinstance(bound, Array) and bound.ndim == 0 and bound.dtype.kind in "iu" else bound


def _plain(value: Any) -> Any:
    """A number for what may be an array of no dimensions."""
    return value.item() if isinstance(value, (Array, np.ndarray)) and value.ndim == 0 else value


def _argument(value: Any) -> Any:
    """NumPy's arrays are used where they are; arrays of no dimensions are numbers."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return value[()]
        return _core._share_buffer(value, value.dtype, _core.Queue.of("cpu"))
    if isinstance(value, Array) and value.ndim == 0 and value._is_scalar_value():
        return value.dtype.type(value.item())
    return value


def _is_prange(function: types.FunctionType, node: ast.For) -> bool:
    """True for `for … in prange(…)`, whatever prange is called."""
    if not isinstance(node.iter, ast.Call):
        return False
    called = node.iter.func
    path = []
    while isinstance(called, ast.Attribute):
        path.append(called.attr)
        called = called.value
    if not isinstance(called, ast.Name):
        return False
    code = function.__code__
    if called.id in code.co_freevars:
        try:
            value = (function.__closure__ or ())[code.co_freevars.index(called.id)].cell_contents
        except ValueError:
            return False
    else:
        value = function.__globals__.get(called.id)
    for name in reversed(path):
        value = getattr(value, name, None)
    return _syntax.known.get(id(value)) == "prange" or _syntax._is_foreign_prange(value)


def _touches_elements(node: ast.AST) -> bool:
    """True when a loop reads or writes single elements: then it is worth a program."""
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name):
            parts = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
            if not any(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value in (None, Ellipsis)) for p in parts):
                return True
    return False


class _Cutter:
    """Replaces a function's loops by calls of their programs."""

    def __init__(self, function: types.FunctionType, source: Source) -> None:
        self.function, self.source = function, source
        self.regions: list[_Region] = []
        node = source.node
        assert isinstance(node, ast.FunctionDef)
        self.node = node
        loops = list(self.find(node.body))
        inside = {id(n) for loop, _ in loops for n in ast.walk(loop)}
        parameters = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        self.outside = set(parameters) | {
            n.id for s in node.body for n in ast.walk(s) if id(n) not in inside and isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self.outside_loads = {
            n.id for s in node.body for n in ast.walk(s) if id(n) not in inside and isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        for loop, parallel in loops:  # what a serial part leaves behind is known to what follows
            if not parallel:
                self.outside |= _names([loop], ast.Store) & self.outside_loads

    def find(self, statements: list[ast.stmt]) -> Iterator[tuple[ast.For | ast.While, bool]]:
        for s in statements:
            if isinstance(s, ast.For) and _is_prange(self.function, s):
                yield s, True
            elif isinstance(s, (ast.For, ast.While)) and not self.holds_prange(s) and _touches_elements(s):
                yield s, False
            else:
                for part in ("body", "orelse", "finalbody"):
                    yield from self.find(getattr(s, part, []))

    def holds_prange(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.For) and _is_prange(self.function, n) for n in ast.walk(node))

    def cut(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in statements:
            parallel = isinstance(s, ast.For) and _is_prange(self.function, s)
            if parallel or (isinstance(s, (ast.For, ast.While)) and not self.holds_prange(s) and _touches_elements(s)):
                out.append(self.call(s, parallel))
                continue
            for part in ("body", "orelse", "finalbody"):
                if getattr(s, part, None):
                    setattr(s, part, self.cut(getattr(s, part)))
            out.append(s)
        return out

    def call(self, loop: Any, parallel: bool) -> ast.stmt:
        region = _Region(self.function, self.source, loop, parallel, self.outside, self.outside_loads)
        number = len(self.regions)
        self.regions.append(region)
        load = ast.Load()
        called = ast.Subscript(ast.Name(REGIONS, load), ast.Constant(number), load)
        bounds = ast.Tuple([ast.Tuple(b, load) for b in region.bounds], load)
        value = ast.Call(called, [bounds, *(ast.Name(n, load) for n in region.captured)], [])
        made: ast.stmt
        if region.results:
            targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in region.results]
            made = ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())], value)
        else:
            made = ast.Expr(value)
        return ast.copy_location(made, loop)


def _build(function: types.FunctionType) -> tuple[types.FunctionType, list[_Region]]:
    """The function with its loops replaced."""
    _syntax._fill()
    source = _syntax.source_of(function)
    cutter = _Cutter(function, source)
    node = cutter.node
    body = cutter.cut(node.body)
    free = function.__code__.co_freevars
    inner = ast.FunctionDef(node.name, node.args, body, [], None, None)
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    factory_arguments = ast.arguments([], [ast.arg(n) for n in (REGIONS, *free)], None, [], [], None, [])
    factory = ast.FunctionDef("$factory", factory_arguments, [inner, ast.Return(ast.Name(node.name, ast.Load()))], [], None, None)
    module = ast.fix_missing_locations(ast.copy_location(ast.Module([factory], []), node))
    code = compile(module, source.file, "exec")
    outer = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    made = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name)
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    cells[REGIONS] = types.CellType(cutter.regions)
    result = types.FunctionType(
        made, function.__globals__, function.__name__, function.__defaults__, tuple(cells[n] for n in made.co_freevars)
    )
    result.__kwdefaults__ = function.__kwdefaults__
    return result, cutter.regions


class JitFunction:
    """A function with parallel loops; made by `jit`."""

    __name__: str

    def __init__(self, function: types.FunctionType) -> None:
        functools.update_wrapper(self, function)
        self._function = self._pardo_function = function
        self._built: types.FunctionType | None = None
        self._regions: list[_Region] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if interpreting():
            return self._function(*arguments, **keywords)
        built = self._built
        if built is None or any(r.translation.changed() for r in self._regions):
            built, self._regions = _build(self._function)
            self._built = built
        return built(*arguments, **keywords)

    def interpret(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function as it was written, in plain Python, where `prange` is `range`: print, pdb and coverage work in it.

        The environment variable ``PARDO_INTERPRET=1`` makes every call do this. Numbers are then those of Python and NumPy.
        """
        return self._function(*arguments, **keywords)

    def __repr__(self) -> str:
        return f"<function {self.__name__} with {len(self._regions)} compiled parts>"


def jit(function: Any = None) -> Any:
    """Compile the loops of a function.

    Loops over `prange` run side by side on the device of the arrays that they use; serial loops over elements become programs too. What
    stands between them stays Python, so that statements on whole arrays are recorded and fused as elsewhere.

    Parameters
    ----------
    function : callable
        A plain function, or one that Numba has decorated.

    Returns
    -------
    JitFunction
        Called like the function. NumPy arrays are used where they are, on the CPU, without a copy.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> @pp.jit
    ... def norm(x):
    ...     total = 0.0
    ...     for i in pp.prange(x.shape[0]):
    ...         total += x[i] * x[i]
    ...     return total
    >>> norm(np.arange(4.0))
    14.0
    """
    if function is None:
        return jit
    plain = _syntax.python_function(function)
    if plain is None or plain.__name__ == "<lambda>":
        raise TypeError(f"jit: decorates a function with a name, not {type(function).__name__}")
    return JitFunction(plain)
