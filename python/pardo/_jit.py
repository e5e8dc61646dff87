# python/pardo/_jit.py: functions with parallel loops: their loops become programs, what stands between them stays Python.
from __future__ import annotations

import ast
import copy
import functools
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from pardo import _core, _flow, _foreign, _known, _names, _source, _structs, _syntax
from pardo._arguments import index
from pardo._core import Array
from pardo._items import Constant
from pardo._kernels import bounds_checking, interpreting, race_checking
from pardo._source import Source
from pardo._structs import Struct

__all__ = ["jit", "prange"]

REGIONS, ROUNDS = "$regions", "$rounds"
SCHEDULES = ("static", "dynamic")
NONE = ast.Constant(None)


class _Options(NamedTuple):
    """What `jit` was told."""

    fastmath: bool
    bounds_check: bool
    race_check: bool
    schedule: str | None
    chunk: int | None


def prange(*bounds: int, schedule: str | None = None, chunk: int | None = None) -> range:
    """A range whose rounds may run side by side, in functions decorated with `jit`; elsewhere it is `range`.

    Parameters
    ----------
    *bounds : int
        As for `range`: stop, or start, stop and step.
    schedule : {'static', 'dynamic'}, optional
        How rounds come to the threads of a CPU. 'static': each has its equal share. 'dynamic': a thread takes `chunk` rounds, and when
        these are done others that are left; for rounds that take differently long. GPUs do not look at it. Default: that of `jit`.
    chunk : int, optional
        Rounds that a thread takes at a time, with 'dynamic'. Default: a sixteenth of an equal share.

    Notes
    -----
    Rounds are independent: names that a round assigns are its own. A name from before the loop that rounds only add to, multiply, or take
    the minimum or maximum of (``s += x[i]``, ``m = max(m, x[i])``, ``ok = ok and x[i] > 0``) is a reduction, and has the total
    afterwards; its bits depend on nothing but the number of rounds and the device.
    """
    _chunk("prange", schedule, chunk)
    return range(*bounds)


def _chunk(who: str, schedule: Any, chunk: Any) -> int:
    """What the runtime calls a schedule: rounds at a time; 0 for equal shares, -1 for what pays."""
    if schedule is not None and schedule not in SCHEDULES:
        raise ValueError(f"{who}: schedule is {' or '.join(map(repr, SCHEDULES))}, not {schedule!r}")
    if chunk is None:
        return -1 if schedule == "dynamic" else 0
    if schedule == "static":
        raise ValueError(f"{who}: chunk goes with schedule='dynamic'; with 'static' each thread has its equal share")
    number = index(chunk, f"{who}: chunk")
    if number < 1:
        raise ValueError(f"{who}: chunk is a positive number of rounds, not {chunk!r}")
    return number


_known.mark(prange, "prange")


def _calls(loop: ast.For) -> list[ast.expr]:
    """The bounds of `for … in prange(…)`."""
    assert isinstance(loop.iter, ast.Call)
    return loop.iter.args


def _nested(function: types.FunctionType, loop: ast.For) -> list[ast.For]:
    """Parallel loops that stand directly in each other, and whose bounds do not depend on each other: one index space."""
    loops, changed = [loop], _flow.names([loop], ast.Store)
    while len(loops) < 3 and len(loops[-1].body) == 1:
        inner = loops[-1].body[0]
        if (
            not isinstance(inner, ast.For)
            or inner.orelse
            or not _is_prange(function, inner)
            or changed & _flow.names(_calls(inner), ast.Load)
        ):
            break
        loops.append(inner)
    return loops


def _scheduled(function: types.FunctionType, source: Source, loop: ast.For) -> tuple[str | None, ast.expr]:
    """The schedule of a parallel loop and its chunk, which are no part of the program: they are taken out of the tree."""
    assert isinstance(loop.iter, ast.Call)
    given = {k.arg: k.value for k in loop.iter.keywords}
    foreign = _foreign.is_prange(_called(function, loop.iter))
    if given.keys() - (_foreign.PRANGE_KEYWORDS if foreign else {"schedule", "chunk"}):
        return None, NONE  # the translator refuses it
    loop.iter.keywords = []
    schedule, chunk = given.get("schedule", NONE), given.get("chunksize" if foreign else "chunk", NONE)
    if not isinstance(schedule, ast.Constant):
        raise _source.problem(ValueError, source, schedule, "schedule must be a plain string: 'static' or 'dynamic'")
    if foreign:  # 'guided' and 'runtime' too are for rounds that take differently long
        return (None, NONE) if schedule.value is None else ("static", NONE) if schedule.value == "static" else ("dynamic", chunk)
    if schedule.value is not None and schedule.value not in SCHEDULES:
        raise _source.problem(ValueError, source, schedule, "schedule must be 'static' or 'dynamic'")
    return schedule.value, chunk


_TAKEN = (Array, np.ndarray, np.generic, bool, int, float, complex)


class _Region:
    """A loop of a function, with what goes in and out.

    `outside`: names that the rest of the function assigns; `before`: those of them that certainly have a value where the loop begins;
    `behind`: those that are read behind it.
    """

    def __init__(
        self,
        function: types.FunctionType,
        source: Source,
        loop: ast.For | ast.While,
        parallel: bool,
        outside: set[str],
        before: set[str],
        behind: set[str],
        options: _Options,
    ) -> None:
        self.name = function.__name__
        self.function, self.source, self.options = function, source, options
        self.line, self.parallel, self.stayed_python = loop.lineno, parallel, 0
        assigned = _flow.names([loop], ast.Store)
        loops = _nested(function, loop) if parallel and isinstance(loop, ast.For) else []
        schedules = [_scheduled(function, source, lp) for lp in loops]
        self.schedule, self.chunk = schedules[0] if schedules else (None, NONE)
        self.at_a_time = _chunk("prange", *((self.schedule, None) if self.schedule else (options.schedule, options.chunk)))
        self.results = sorted(assigned & behind)
        captured = _flow.read_first([loop], set()) & outside
        if not parallel:  # rounds may assign nothing: then a name keeps its value
            uncertain = set(self.results) - _flow.always_assigned(loop)
            if unknown := sorted(uncertain - captured - before):
                raise NameError(f"`{unknown[0]}` is read after it, and has no value where no round assigns one")
            captured |= uncertain
        self.captured = sorted(captured)
        self.translation = self._translate(function, source, loop, len(loops))
        if parallel:
            self.results = _core._Loop.reductions(self.translation.function, self.captured)
            if self.results and len(loops) > 1:
                loops = loops[:1]
                self.translation = self._translate(function, source, loop, 1)
            self.refuse_last_values(source, loop, assigned & behind - set(self.results))
        self.parallel_loops = loops
        self.bounds = [_calls(lp) for lp in loops]
        self.fixed = [_fixed(function, bounds) for bounds in self.bounds]
        self.initial = [self.captured.index(n) for n in self.results] if parallel else []
        self.loop = _core._Loop(self.translation.function, len(loops), list(self.results), options.fastmath, options.bounds_check)

    def refuse_last_values(self, source: Source, loop: ast.AST, names: set[str]) -> None:
        """Names that rounds assign are their own: nothing after the loop may ask for the last one's."""
        for node in ast.walk(loop):
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Store):
                raise _source.problem(
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
            source.name,
            source.file,
            source.first_line,
            source.lines,
            translator.parameters,
            "",
            [],
            body,
            translator.callees,
            translator.classes,
        )
        return _syntax.Translation(made, tuple(translator.captured))

    def takes(self, *captured: Any) -> bool:
        """True when the program can have these: arrays and numbers, tuples and structs of them, functions."""
        taken = all(map(_is_taken, captured))
        self.stayed_python += not taken
        return taken

    def described(self) -> str:
        """What became of the loop."""
        if not self.parallel:
            python = f"; {self.stayed_python} of its runs were Python's, for what is neither an array nor a number"
            return "a serial loop, compiled" + (python if self.stayed_python else "")
        counters = " and ".join(f"`{ast.unparse(lp.target)}`" for lp in self.parallel_loops)
        space = ", one index space" if len(self.parallel_loops) > 1 else ""
        reduces = f"; it reduces into {', '.join(f'`{n}`' for n in self.results)}" if self.results else ""
        return f"a parallel loop over {counters}{space}{reduces}"

    def __call__(self, bounds: tuple[tuple[Any, ...], ...], chunk: Any, *captured: Any) -> Any:
        ranges = [range(*(_index(b) for b in each)) for each in bounds]
        if ranges and (self.options.race_check or race_checking()):
            return self.checked(ranges, captured)
        arguments = [_argument(c) for c in captured]
        for r, (start, step) in zip(ranges, self.fixed, strict=True):
            arguments += _counted(r, start, step)
        before = [_plain(captured[k]) for k in self.initial]
        initial = tuple(leaf for value in before for leaf in _numbers(value))
        at_a_time = self.at_a_time if chunk is None else _chunk("prange", self.schedule, chunk)
        results = self.loop.run(tuple(arguments), [len(r) for r in ranges], initial, None, at_a_time, self.name)
        for k, value in enumerate(before):
            results[k] = _shaped_as(value, results[k])
        return results[0] if len(results) == 1 else tuple(results)

    def checked(self, ranges: list[range], captured: tuple[Any, ...]) -> Any:
        """The parallel loop in plain Python, which looks for races between rounds."""
        from pardo import _interpret

        arguments = [_plain(_argument(c)) if getattr(c, "ndim", None) == 0 else c for c in captured]
        return _interpret.check_rounds(self.in_plain_python(), self.name, self.captured, ranges, arguments)

    def in_plain_python(self) -> types.FunctionType:
        """The parallel loop as a function of its rounds, and of the names that it takes from outside."""
        first, last = self.parallel_loops[0], self.parallel_loops[-1]
        counters: ast.expr = ast.Tuple([lp.target for lp in self.parallel_loops], ast.Store())
        loop = ast.copy_location(ast.For(counters, ast.Name(ROUNDS, ast.Load()), last.body, []), first)
        arguments = ast.arguments([], [ast.arg(n) for n in (ROUNDS, *self.captured)], None, [], [], None, [])
        names: list[ast.expr] = [ast.Name(n, ast.Load()) for n in self.results]
        results = ast.Return(names[0] if len(names) == 1 else ast.Tuple(names, ast.Load()))
        node = ast.FunctionDef(self.name, arguments, [loop, results], [], None, None)
        return _defined(self.function, self.source, copy.deepcopy(ast.copy_location(node, first)))


def _fixed(function: types.FunctionType, bounds: list[ast.expr]) -> tuple[bool, bool]:
    """Whether start and step of a loop are the same at every call."""
    code = function.__code__
    changing = {*code.co_varnames, *code.co_cellvars}
    start, step = bounds[: len(bounds) > 1], bounds[2:]
    return not _flow.names(start, ast.Load) & changing, not _flow.names(step, ast.Load) & changing


def _counted(rounds: range, fixed_start: bool, fixed_step: bool) -> tuple[Any, Any]:
    """Start and step, so that the compiler sees in neighbouring rounds neighbours, and indices that do not count from the end."""
    start, step = rounds.start, rounds.step
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


def _is_taken(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_taken, value))
    if isinstance(value, Struct):
        return all(map(_is_taken, value._values()))
    dtype = getattr(value, "dtype", None)
    if isinstance(value, np.ndarray) and value.dtype.names:
        return True
    known = isinstance(value, _TAKEN) and (dtype is None or dtype.kind in "biufc")
    return known or (callable(value) and _names.python_function(value) is not None)


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
    return isinstance(node.iter, ast.Call) and _syntax.is_prange(_called(function, node.iter))


def _called(function: types.FunctionType, call: ast.Call) -> Any:
    """What a call by a name, or a dotted name, from outside the function calls; None for other calls."""
    called = call.func
    path = []
    while isinstance(called, ast.Attribute):
        path.append(called.attr)
        called = called.value
    if not isinstance(called, ast.Name):
        return None
    code = function.__code__
    if called.id in code.co_freevars:
        try:
            value = (function.__closure__ or ())[code.co_freevars.index(called.id)].cell_contents
        except ValueError:
            return None
    else:
        value = function.__globals__.get(called.id)
    for name in reversed(path):
        value = getattr(value, name, None)
    return value


def _touches_elements(node: ast.AST) -> bool:
    """True when a loop reads or writes single elements: then it is worth a program."""
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name):
            parts = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
            if not any(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value in (None, Ellipsis)) for p in parts):
                return True
    return False


class _Unfolded(ast.NodeTransformer):
    """Puts what stands in the `else` of parallel loops behind them, where it always runs: nothing breaks such a loop."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function

    def visit_For(self, node: ast.For) -> Any:
        if not _is_prange(self.function, node):
            return self.generic_visit(node)
        behind = ast.Module(node.orelse, [])
        node.orelse = []
        self.generic_visit(behind)
        return [node, *behind.body]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node  # what stands in there is Python's


class _Cutter:
    """Replaces a function's loops by calls of their programs."""

    def __init__(self, function: types.FunctionType, source: Source, options: _Options) -> None:
        self.function, self.source, self.options = function, source, options
        self.regions: list[_Region] = []
        self.left: list[tuple[int, str]] = []  # loops that Python runs: their lines, and why
        assert isinstance(source.node, ast.FunctionDef)
        self.node = source.node
        _Unfolded(function).generic_visit(self.node)
        self.loops = {id(loop): parallel for loop, parallel in self.find(self.node.body)}
        self.behind = _flow.Behind(self.node.body).loops
        found = [n for n in ast.walk(self.node) if id(n) in self.loops]
        self.inside = {id(loop): {id(n) for n in ast.walk(loop)} for loop in found}
        self.serial = {id(loop): _flow.names([loop], ast.Store) for loop in found if not self.loops[id(loop)]}
        arguments = self.node.args
        self.parameters = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        self.parameters |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a}
        self.before = {id(loop): set(self.parameters) for loop in found}
        for loop in found:
            _flow.assigned_before(self.node.body, loop, self.before[id(loop)])

    def stored(self) -> set[str]:
        """Names that are assigned in what stays Python."""
        inside: set[int] = set().union(*self.inside.values())
        return {
            n.id
            for s in self.node.body
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in inside
        }

    def find(self, statements: list[ast.stmt]) -> Iterator[tuple[ast.For | ast.While, bool]]:
        for s in statements:
            if isinstance(s, ast.For) and _is_prange(self.function, s):
                yield s, True
            elif isinstance(s, (ast.For, ast.While)) and not (why := self.stays_python(s)):
                yield s, False
            else:
                if isinstance(s, (ast.For, ast.While)):
                    self.left.append((s.lineno, why))
                for part in ("body", "orelse", "finalbody"):
                    yield from self.find(getattr(s, part, []))

    def stays_python(self, loop: ast.For | ast.While) -> str:
        """Why a serial loop is not compiled; nothing if it is."""
        if any(isinstance(n, ast.For) and _is_prange(self.function, n) for n in ast.walk(loop)):
            return "parallel loops stand in it"
        if _leaves(loop):
            return "it returns from the function, or waits in it"
        return "" if _touches_elements(loop) else "it reads and writes no single elements"

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
        outside = self.parameters.union(self.stored(), *others)
        try:
            region = _Region(
                self.function, self.source, loop, parallel, outside, self.before[id(loop)], self.behind[id(loop)], self.options
            )
        except (_core.CompileError, TypeError, NameError, AttributeError) as e:
            if parallel:
                raise
            self.left.append((loop.lineno, str(e).partition("\n")[0].removeprefix(f"{self.source.name}: ")))
            return loop  # what the language does not know runs as Python does
        number = len(self.regions)
        self.regions.append(region)
        load = ast.Load()
        program = ast.Subscript(ast.Name(REGIONS, load), ast.Constant(number), load)
        captured: list[ast.expr] = [ast.Name(n, load) for n in region.captured]
        bounds = ast.Tuple([ast.Tuple(b, load) for b in region.bounds], load)
        value = ast.Call(program, [bounds, region.chunk, *captured], [])
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


def _defined(
    function: types.FunctionType, source: Source, node: ast.FunctionDef, given: dict[str, Any] | None = None
) -> types.FunctionType:
    """A function from a tree, with the globals and the cells of another one, and more names that are given."""
    free, name = function.__code__.co_freevars, node.name
    node.name = "$" + name  # its own name stays that of the global or of the cell
    cells = {n: types.CellType(value) for n, value in (given or {}).items()}
    cells.update(zip(free, function.__closure__ or (), strict=True))
    factory_arguments = ast.arguments([], [ast.arg(n) for n in cells], None, [], [], None, [])
    factory = ast.FunctionDef("$factory", factory_arguments, [node], [], None, None)
    module = ast.fix_missing_locations(ast.copy_location(ast.Module([factory], []), node))
    code = compile(module, source.file, "exec")
    outer = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    made = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name)
    made = made.replace(co_name=function.__name__, co_qualname=function.__qualname__)
    return types.FunctionType(made, function.__globals__, function.__name__, None, tuple(cells[n] for n in made.co_freevars))


class _Built(NamedTuple):
    """A function with its loops replaced."""

    function: types.FunctionType
    regions: list[_Region]
    left: list[tuple[int, str]]


def _build(function: types.FunctionType, options: _Options) -> _Built:
    """Replace the loops of a function."""
    _known.fill()
    source = _source.source_of(function)
    cutter = _Cutter(function, source, options)
    node = cutter.node
    body = cutter.cut(node.body)
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    inner = ast.copy_location(ast.FunctionDef(node.name, node.args, body, [], None, None), node)
    result = _defined(function, source, inner, {REGIONS: cutter.regions})
    result.__defaults__, result.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return _Built(result, cutter.regions, cutter.left)


class JitFunction:
    """A function with parallel loops; made by `jit`."""

    __name__: str

    def __init__(
        self,
        function: types.FunctionType,
        fastmath: bool = False,
        bounds_check: bool = False,
        race_check: bool = False,
        schedule: str | None = None,
        chunk: int | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = self._pardo_function = function
        self._options = _Options(fastmath, bounds_check, race_check, schedule, chunk)
        self._built: _Built | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if interpreting() and not (self._options.race_check or race_checking()):
            return self._function(*arguments, **keywords)
        return self._current().function(*arguments, **keywords)

    def _current(self) -> _Built:
        """The function with its loops replaced, anew when a value that it captured has changed."""
        built = self._built
        if built is None or any(r.translation.changed() for r in built.regions):
            built = self._built = _build(self._function, self._options)
        return built

    def inspect(self, what: str = "ir") -> str:
        """Show what the loops become, for each program made so far.

        Parameters
        ----------
        what : str
            ``'ir'``: pardo's own form. The CPU has ``'llvm'`` and ``'asm'``, OpenCL devices ``'opencl'``, CUDA ``'cuda'`` and ``'ptx'``.

        Returns
        -------
        str
            Programs with the types of their arguments, each followed by its text.

        Raises
        ------
        ValueError
            If the device of a program has no such text.
        """
        return "\n".join(filter(None, (r.loop.inspect_so_far(what) for r in self._current().regions)))

    def types(self) -> str:
        """Show the types that the compiler has found in loops: their text, and what is assigned at each line, for each program so far.

        Returns
        -------
        str
            The text. "A Python int" or "a Python float" takes the dtype of what it is combined with.
        """
        return "\n".join(r.loop.types_so_far() for r in self._current().regions)

    def diagnostics(self) -> str:
        """Show what became of each loop: parallel, compiled, or left to Python and why; and what its programs run side by side.

        Statements on whole arrays, which stand between loops, are not part of it: `explain` shows how those are fused.

        Returns
        -------
        str
            A line for each loop; below it, for each program made so far, the types of what it uses, and remarks with line numbers.
        """
        built = self._current()
        loops = [(line, f"left to Python: {why}", "") for line, why in built.left]
        loops += [(r.line, r.described(), r.loop.diagnostics()) for r in built.regions]
        lines = [f"{self.__name__}  ({self._function.__code__.co_filename})"]
        for line, what, programs in sorted(loops):
            lines.append(f"line {line}: {what}")
            lines += [f"  {text}" for text in programs.splitlines()]
        return "\n".join(lines) + "\n"

    def interpret(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function as it was written, in plain Python, where `prange` is `range`: print, pdb and coverage work in it.

        The environment variable ``PARDO_INTERPRET=1`` makes every call do this. Numbers are then those of Python and NumPy.
        """
        return self._function(*arguments, **keywords)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    def __repr__(self) -> str:
        return f"<function {self.__name__} with {len(self._built.regions) if self._built else 0} compiled parts>"


def jit(
    function: Any = None,
    *,
    fastmath: bool = False,
    bounds_check: bool = False,
    race_check: bool = False,
    schedule: str | None = None,
    chunk: int | None = None,
) -> Any:
    """Compile the loops of a function.

    Loops over `prange` run side by side on the device of the arrays that they use. Serial loops over elements of arrays become programs
    too; those that return from the function, give a name its only value, or use what kernels do not know (lists, dicts, methods), stay
    Python. So does what stands between loops: statements on whole arrays are recorded and fused as elsewhere.

    Parameters
    ----------
    function : callable
        A plain function, or one that Numba has decorated.
    fastmath : bool, optional
        Sums may be reordered, products contracted into them, and reciprocals of float32 roots estimated, within 2 ulp. Default: False.
    bounds_check : bool, optional
        An index out of range raises IndexError, with the line, the index and the round. The environment variable
        ``PARDO_BOUNDS_CHECK=1`` does the same for all that is decorated while it is set. Default: False.
    race_check : bool, optional
        Parallel loops run as plain Python, one round at a time, and raise `RaceError` where two rounds touch one element, one of them
        writes, and not both are atomics. For small arrays: an access takes some ten microseconds. The environment variable
        ``PARDO_RACE_CHECK=1`` does the same for all functions. Default: False.
    schedule : {'static', 'dynamic'}, optional
        Of loops over `prange` that do not say it themselves. Default: 'static'.
    chunk : int, optional
        The same for the number of rounds that a thread takes at a time.

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
        return lambda f: jit(f, fastmath=fastmath, bounds_check=bounds_check, race_check=race_check, schedule=schedule, chunk=chunk)
    plain = _names.python_function(function)
    if plain is None:
        raise TypeError(f"jit: decorates a function, not {type(function).__name__}")
    if plain.__name__ == "<lambda>":
        raise TypeError("jit: a lambda holds no loops; decorate a function with a name")
    _chunk("jit", schedule, chunk)
    return JitFunction(plain, fastmath, bounds_check or bounds_checking(), race_check, schedule, chunk)
