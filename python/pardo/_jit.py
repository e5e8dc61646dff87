# python/pardo/_jit.py: functions with parallel loops: their loops become programs, what stands between them stays Python.
from __future__ import annotations

import ast
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from pardo import _core, _structs, _syntax
from pardo._core import Array
from pardo._kernels import interpreting
from pardo._structs import Struct
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


def _read_first(statements: Iterable[ast.stmt], assigned: set[str]) -> set[str]:
    """Names that may be read before these statements assign them; adds to `assigned` what they certainly assign."""
    read: set[str] = set()

    def look(*nodes: ast.AST | None) -> None:
        read.update(_names([n for n in nodes if n is not None], ast.Load) - assigned)

    for s in statements:
        if isinstance(s, ast.For):
            look(s.iter)
            inner = assigned | _names([s.target], ast.Store)
            look(s.target)
            read |= _read_first(s.body, inner) | _read_first(s.orelse, set(assigned))
        elif isinstance(s, ast.While):
            look(s.test)
            read |= _read_first(s.body, set(assigned)) | _read_first(s.orelse, set(assigned))
        elif isinstance(s, ast.If):
            look(s.test)
            yes, no = set(assigned), set(assigned)
            read |= _read_first(s.body, yes) | _read_first(s.orelse, no)
            assigned |= yes & no
        else:
            if isinstance(s, ast.AugAssign):
                read |= ({s.target.id} if isinstance(s.target, ast.Name) else set()) - assigned
            look(s)
            assigned |= _names([s], ast.Store)
    return read


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


_TAKEN = (Array, np.ndarray, np.generic, bool, int, float, complex)


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
        options: tuple[bool, bool],
    ) -> None:
        self.name = function.__name__
        assigned = _names([loop], ast.Store)
        loops = _nested(function, loop) if parallel and isinstance(loop, ast.For) else []
        counters = _names([lp.target for lp in loops], ast.Store)
        self.captured = sorted(_read_first([loop], set()) & outside)
        self.translation = self._translate(function, source, loop, len(loops))
        self.results = sorted(assigned & (read_outside | set(self.captured)))
        if parallel:
            self.results = _core._Loop.reductions(self.translation.function, self.captured)
            if self.results and len(loops) > 1:
                loops = loops[:1]
                self.translation = self._translate(function, source, loop, 1)
            self.refuse_last_values(source, loop, ((assigned - counters) | (counters - outside)) & read_outside - set(self.results))
        self.bounds = [_calls(lp) for lp in loops]
        self.initial = [self.captured.index(n) for n in self.results] if parallel else []
        self.loop = _core._Loop(self.translation.function, len(loops), list(self.results), *options)

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
            source.name, source.file, source.first_line, source.lines, translator.parameters, "", [], body, translator.callees
        )
        return _syntax.Translation(made, tuple(translator.captured))

    def takes(self, *captured: Any) -> bool:
        """True when the program can have these: arrays and numbers, tuples and structs of them, functions."""
        return all(map(_is_taken, captured))

    def __call__(self, bounds: tuple[tuple[Any, ...], ...], *captured: Any) -> Any:
        ranges = [range(*(_index(b) for b in each)) for each in bounds]
        arguments = (*map(_argument, captured), *(n for r in ranges for n in (r.start, r.step)))
        before = [_plain(captured[k]) for k in self.initial]
        initial = tuple(leaf for value in before for leaf in _numbers(value))
        results = self.loop.run(arguments, [len(r) for r in ranges], initial, None, self.name)
        for k, value in enumerate(before):
            results[k] = _shaped_as(value, results[k])
        return results[0] if len(results) == 1 else tuple(results)


def _shaped_as(value: Any, result: Any) -> Any:
    """A result with the structs of the value from before the loop, for their fields in dicts."""
    if isinstance(value, Struct):
        return type(value)(*map(_shaped_as, value._values(), result.values()))
    return tuple(map(_shaped_as, value, result)) if type(value) is tuple else result


def _is_taken(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_taken, value))
    if isinstance(value, Struct):
        return all(map(_is_taken, value._values()))
    dtype = getattr(value, "dtype", None)
    if isinstance(value, np.ndarray) and value.dtype.names:
        return True
    known = isinstance(value, _TAKEN) and (dtype is None or dtype.kind in "biufc")
    return known or (callable(value) and _syntax.python_function(value) is not None)


def _numbers(value: Any) -> Iterator[Any]:
    """A number, or those of a tuple or struct."""
    for leaf in _structs.leaves(value):
        if type(leaf) is not tuple and not isinstance(leaf, Struct):
            yield leaf


def _index(bound: Any) -> int:
    return int(bound) if isinstance(bound, Array) and bound.ndim == 0 and bound.dtype.kind in "iu" else bound


def _plain(value: Any) -> Any:
    """A number for what may be an array of no dimensions."""
    return value.item() if isinstance(value, (Array, np.ndarray)) and value.ndim == 0 else value


def _argument(value: Any) -> Any:
    """NumPy's arrays are used where they are; arrays of no dimensions are numbers."""
    if type(value) is tuple or isinstance(value, Struct) or (isinstance(value, np.ndarray) and value.dtype.names):
        return _structs.mapped(value, _argument)
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

    def __init__(self, function: types.FunctionType, source: Source, options: tuple[bool, bool]) -> None:
        self.function, self.source, self.options = function, source, options
        self.regions: list[_Region] = []
        assert isinstance(source.node, ast.FunctionDef)
        self.node = source.node
        self.loops = {id(loop): parallel for loop, parallel in self.find(self.node.body)}
        found = [n for n in ast.walk(self.node) if id(n) in self.loops]
        self.inside = {id(loop): {id(n) for n in ast.walk(loop)} for loop in found}
        self.serial = {id(loop): _names([loop], ast.Store) for loop in found if not self.loops[id(loop)]}
        arguments = self.node.args
        self.parameters = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        self.parameters |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a}

    def names(self, context: type[ast.expr_context]) -> set[str]:
        """Names in what stays Python."""
        inside: set[int] = set().union(*self.inside.values())
        return {
            n.id
            for s in self.node.body
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, context) and id(n) not in inside
        }

    def find(self, statements: list[ast.stmt]) -> Iterator[tuple[ast.For | ast.While, bool]]:
        for s in statements:
            if isinstance(s, ast.For) and _is_prange(self.function, s):
                yield s, True
            elif isinstance(s, (ast.For, ast.While)) and not self.holds_prange(s) and _touches_elements(s) and not _leaves(s):
                yield s, False
            else:
                for part in ("body", "orelse", "finalbody"):
                    yield from self.find(getattr(s, part, []))

    def holds_prange(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.For) and _is_prange(self.function, n) for n in ast.walk(node))

    def cut(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in statements:
            if isinstance(s, (ast.For, ast.While)) and id(s) in self.loops:
                out.append(self.replaced(s))
                continue
            for part in ("body", "orelse", "finalbody"):
                if getattr(s, part, None):
                    setattr(s, part, self.cut(getattr(s, part)))
            out.append(s)
        return out

    def replaced(self, loop: ast.For | ast.While) -> ast.stmt:
        """A call of the loop's program. A serial loop stays too, for arguments that are neither arrays nor numbers."""
        parallel = self.loops[id(loop)]
        others = [names for key, names in self.serial.items() if key != id(loop)]
        outside = self.parameters.union(self.names(ast.Store), *others)
        try:
            region = _Region(self.function, self.source, loop, parallel, outside, self.names(ast.Load), self.options)
        except (_core.CompileError, TypeError, NameError, AttributeError):
            if parallel:
                raise
            return loop  # what the language does not know runs as Python does
        number = len(self.regions)
        self.regions.append(region)
        load = ast.Load()
        program = ast.Subscript(ast.Name(REGIONS, load), ast.Constant(number), load)
        captured: list[ast.expr] = [ast.Name(n, load) for n in region.captured]
        bounds = ast.Tuple([ast.Tuple(b, load) for b in region.bounds], load)
        value = ast.Call(program, [bounds, *captured], [])
        made: ast.stmt = ast.Expr(value)
        if region.results:
            targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in region.results]
            made = ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())], value)
        if not parallel:
            made = ast.If(ast.Call(ast.Attribute(program, "takes", load), captured, []), [made], [loop])
        return ast.copy_location(made, loop)


def _leaves(loop: ast.AST) -> bool:
    """True when a loop returns from the function: then it stays Python."""
    return any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)) for n in ast.walk(loop))


def _build(function: types.FunctionType, options: tuple[bool, bool]) -> tuple[types.FunctionType, list[_Region]]:
    """The function with its loops replaced."""
    _syntax._fill()
    source = _syntax.source_of(function)
    cutter = _Cutter(function, source, options)
    node = cutter.node
    body = cutter.cut(node.body)
    free = function.__code__.co_freevars
    hidden = "$" + node.name  # its own name stays that of the global or of the cell
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    inner = ast.FunctionDef(hidden, node.args, body, [], None, None)
    factory_arguments = ast.arguments([], [ast.arg(n) for n in (REGIONS, *free)], None, [], [], None, [])
    factory = ast.FunctionDef("$factory", factory_arguments, [inner], [], None, None)
    module = ast.fix_missing_locations(ast.copy_location(ast.Module([factory], []), node))
    code = compile(module, source.file, "exec")
    outer = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    made = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == hidden)
    made = made.replace(co_name=function.__name__, co_qualname=function.__qualname__)
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    cells[REGIONS] = types.CellType(cutter.regions)
    closure = tuple(cells[n] for n in made.co_freevars)
    result = types.FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    result.__kwdefaults__ = function.__kwdefaults__
    return result, cutter.regions


class JitFunction:
    """A function with parallel loops; made by `jit`."""

    __name__: str

    def __init__(self, function: types.FunctionType, fastmath: bool, bounds_check: bool) -> None:
        functools.update_wrapper(self, function)
        self._function = self._pardo_function = function
        self._options = (fastmath, bounds_check)
        self._built: types.FunctionType | None = None
        self._regions: list[_Region] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if interpreting():
            return self._function(*arguments, **keywords)
        built = self._built
        if built is None or any(r.translation.changed() for r in self._regions):
            built, self._regions = _build(self._function, self._options)
            self._built = built
        return built(*arguments, **keywords)

    def interpret(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function as it was written, in plain Python, where `prange` is `range`: print, pdb and coverage work in it.

        The environment variable ``PARDO_INTERPRET=1`` makes every call do this. Numbers are then those of Python and NumPy.
        """
        return self._function(*arguments, **keywords)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    def __repr__(self) -> str:
        return f"<function {self.__name__} with {len(self._regions)} compiled parts>"


def jit(function: Any = None, *, fastmath: bool = False, bounds_check: bool = False) -> Any:
    """Compile the loops of a function.

    Loops over `prange` run side by side on the device of the arrays that they use. Serial loops over elements of arrays become programs
    too; those that return from the function, or use what kernels do not know (lists, dicts, methods), stay Python. So does what stands
    between loops: statements on whole arrays are recorded and fused as elsewhere.

    Parameters
    ----------
    function : callable
        A plain function, or one that Numba has decorated.
    fastmath : bool, optional
        Sums may be reordered, and products contracted into them. Default: False.
    bounds_check : bool, optional
        An index out of range raises IndexError, with the line, the index and the round. Default: False.

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
        return lambda f: jit(f, fastmath=fastmath, bounds_check=bounds_check)
    plain = _syntax.python_function(function)
    if plain is None:
        raise TypeError(f"jit: decorates a function, not {type(function).__name__}")
    if plain.__name__ == "<lambda>":
        raise TypeError("jit: a lambda holds no loops; decorate a function with a name")
    return JitFunction(plain, fastmath, bounds_check)
