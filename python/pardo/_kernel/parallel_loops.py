# python/pardo/_kernel/parallel_loops.py: `prange`, and what a loop over it says of itself: its bounds and its schedule.
from __future__ import annotations

import ast
import functools
import importlib
import types
from typing import Any, NamedTuple

import numpy as np
from pardo._base.arguments import index, integer
from pardo._compiler import intrinsics, liveness, numba_cython, translator
from pardo._compiler.names import Captured, absent, current, path_of
from pardo._compiler.source import Source, problem
from pardo._language.index_space import Constant

__all__ = ["prange"]

SCHEDULES = ("static", "dynamic")
NONE = ast.Constant(None)


class Options(NamedTuple):
    """What `jit` was told."""

    fastmath: int = 0
    bounds_check: int = 0
    race_check: bool = False
    schedule: str | None = None
    chunk: int | None = None
    strict: bool = False
    truncates: bool = False  # arrays of integers take floats, as Numba's


def prange(*bounds: int, schedule: str | None = None, chunk: int | None = None) -> range:
    """A range whose iterations may run in parallel, in functions decorated with `jit`; elsewhere it is `range`.

    Parameters
    ----------
    *bounds : int
        As for `range`: stop, or start, stop and step.
    schedule : {'static', 'dynamic'}, optional
        How iterations are divided among the threads of a CPU. 'static': equal shares. 'dynamic': a thread takes `chunk` iterations,
        and when these are done others that are left; for iterations of different lengths. GPUs ignore it. Default: that of `jit`.
    chunk : int, optional
        Iterations that a thread takes at a time, with 'dynamic'. Default: a sixteenth of an equal share.

    See Also
    --------
    jit

    Notes
    -----
    Iterations are independent: names that an iteration assigns are its own. A name from before the loop that iterations only add
    to, multiply, or take the minimum or maximum of (``s += x[i]``, ``m = max(m, x[i])``, ``ok = ok and x[i] > 0``) is a reduction,
    and has the total afterwards; its bits depend only on the number of iterations and the device.

    Examples
    --------
    >>> import pardo as pp
    >>> import numpy as np
    >>> @pp.jit
    ... def scale(x, factor):
    ...     for i in pp.prange(x.shape[0]):
    ...         x[i] *= factor
    >>> x = np.arange(4.0)
    >>> scale(x, 10.0)
    >>> x
    array([ 0., 10., 20., 30.])
    """
    chunk_of("prange", schedule, chunk)
    return iterations_of(bounds)


def iterations_of(bounds: tuple[Any, ...]) -> range:
    """The iterations of a loop over `prange`."""
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"prange: one to three bounds are expected, stop, or start, stop and step, not {len(bounds)}")
    names = ("start", "stop", "step") if bounds[1:] else ("stop",)
    numbers = [integer(b, f"prange: {name}") for b, name in zip(bounds, names, strict=False)]
    if numbers[2:] == [0]:
        raise ValueError("prange: step must not be 0")
    return range(*numbers)


def chunk_of(op_name: str, schedule: Any, chunk: Any) -> int:
    """What the runtime calls a schedule: iterations at a time; 0 for equal shares, -1 for what pays."""
    if schedule is not None and schedule not in SCHEDULES:
        raise ValueError(f"{op_name}: schedule is {' or '.join(map(repr, SCHEDULES))}, not {schedule!r}")
    if chunk is None:
        return -1 if schedule == "dynamic" else 0
    if schedule == "static":
        raise ValueError(f"{op_name}: chunk goes with schedule='dynamic'; with 'static' each thread has its equal share")
    number = index(chunk, f"{op_name}: chunk")
    if number < 1:
        raise ValueError(f"{op_name}: chunk is a positive number of iterations, not {chunk!r}")
    return number


intrinsics.mark(prange, "prange")


class Scope:
    """A function, its text, and what its own `import` statements bind."""

    def __init__(self, function: types.FunctionType, source: Source, imported: dict[str, Any]) -> None:
        self.function, self.source, self.imported = function, source, imported


def imported(function: types.FunctionType, body: list[ast.stmt]) -> dict[str, Any]:
    """Names in loops that a function binds by `import` alone, and what they stand for; those that cannot be imported are left out."""
    wanted = liveness.names([n for s in body for n in ast.walk(s) if isinstance(n, (ast.For, ast.While))], ast.Load)
    found: dict[str, Any] = {}
    other: set[str] = set()
    package = function.__globals__.get("__package__") or ""
    for s in liveness.all_statements(body):
        if not isinstance(s, (ast.Import, ast.ImportFrom)):
            other |= {e.name for e in liveness.events_of(s) if not e.kind.startswith("read")}
            continue
        for alias in s.names:
            name = alias.asname or alias.name.partition(".")[0]
            if name not in wanted:
                continue
            try:
                value = _imported(s, alias, package)
            except (ImportError, AttributeError):  # told where the statement runs
                other.add(name)
                continue
            if found.setdefault(name, value) is not value:
                other.add(name)
    return {name: value for name, value in found.items() if name not in other}


def _imported(s: ast.Import | ast.ImportFrom, alias: ast.alias, package: str) -> Any:
    if isinstance(s, ast.Import):
        module = importlib.import_module(alias.name)
        return module if alias.asname else importlib.import_module(alias.name.partition(".")[0])
    name = "." * s.level + (s.module or "")
    module = importlib.import_module(name, package)
    if not hasattr(module, alias.name):
        return importlib.import_module(f"{name}.{alias.name}" if s.module else f"{name}{alias.name}", package)
    return getattr(module, alias.name)


def bounds_of(loop: ast.For) -> list[ast.expr]:
    """The bounds of `for … in prange(…)`."""
    assert isinstance(loop.iter, ast.Call)
    return loop.iter.args


def nested(scope: Scope, loop: ast.For) -> list[ast.For]:
    """Directly nested parallel loops whose bounds do not depend on each other: one index space."""
    loops, changed = [loop], liveness.bound([loop])
    while len(loops) < 3 and len(loops[-1].body) == 1:
        inner = loops[-1].body[0]
        if (
            not isinstance(inner, ast.For)
            or inner.orelse
            or not is_prange(scope, inner)
            or changed & liveness.names(bounds_of(inner), ast.Load)
        ):
            break
        loops.append(inner)
    return loops[: _distinct(loops)]


def _distinct(loops: list[ast.For]) -> int:
    """How many of nested loops each element that is written differs by: iterations of others follow each other, as they did in Python."""
    body = loops[-1].body
    own = liveness.bound(body)
    made_of: dict[str, set[str]] = {}  # of names that the body assigns, those in what they are given
    new: set[str] = set()  # arrays that the body makes
    for n in (n for s in body for n in ast.walk(s)):
        if isinstance(n, (ast.Assign, ast.AugAssign, ast.For, ast.NamedExpr)):
            value = n.iter if isinstance(n, ast.For) else n.value
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            assigned = liveness.names(targets, ast.Store)
            for name in assigned:
                made_of.setdefault(name, set()).update(liveness.names([value], ast.Load))
            if isinstance(value, ast.Call):
                new |= assigned
    for _ in range(len(made_of)):
        for parts in made_of.values():
            for name in tuple(parts & made_of.keys()):
                parts |= made_of[name]
    nodes = [n for s in body for n in ast.walk(s)]
    stores: list[ast.expr] = [n for n in nodes if isinstance(n, (ast.Subscript, ast.Attribute)) and isinstance(n.ctx, ast.Store)]
    stores += [n.value for n in nodes if isinstance(n, ast.keyword) and n.arg == "out"]
    kept = len(loops)
    for place in stores:
        base: ast.expr = place
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base = base.value
        if isinstance(base, ast.Name) and base.id in own & new:
            continue
        said = liveness.names([place], ast.Load)
        for name in tuple(said):
            said |= made_of.get(name, set())
        for k, loop in enumerate(loops[1:kept], 1):
            if not liveness.names([loop.target], ast.Store) & said:
                kept = k
                break
    return kept


def scheduled(scope: Scope, loop: ast.For) -> tuple[str | None, ast.expr]:
    """The schedule of a parallel loop and its chunk, which are not part of the program: they are taken out of the tree."""
    assert isinstance(loop.iter, ast.Call)
    given = {k.arg: k.value for k in loop.iter.keywords}
    foreign = numba_cython.is_prange(called(scope, loop.iter))
    if given.keys() - (numba_cython.PRANGE_KEYWORDS if foreign else {"schedule", "chunk"}):
        return None, NONE  # the translator refuses it
    loop.iter.keywords = []
    loop.ignored = "simd" if "simd" in given else ""  # type: ignore[attr-defined]
    schedule, chunk = given.get("schedule", NONE), given.get("chunksize" if foreign else "chunk", NONE)
    if not isinstance(schedule, ast.Constant):
        raise problem(ValueError, scope.source, schedule, "schedule must be a plain string: 'static' or 'dynamic'")
    if foreign:  # 'guided' and 'runtime' too are for iterations that take differently long
        return (None, NONE) if schedule.value is None else ("static", NONE) if schedule.value == "static" else ("dynamic", chunk)
    if schedule.value is not None and schedule.value not in SCHEDULES:
        raise problem(ValueError, scope.source, schedule, "schedule must be 'static' or 'dynamic'")
    return schedule.value, chunk


def is_prange(scope: Scope, node: ast.stmt) -> bool:
    """True for `for … in prange(…)`, whatever prange is called."""
    return isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and translator.is_prange(called(scope, node.iter))


def called(scope: Scope, call: ast.Call) -> Any:
    """What a call by a name, or a dotted name, from outside the function calls; None for other calls."""
    first, *path = path_of(call.func) or ("",)
    value = value_of(scope, first)
    for name in path:
        value = getattr(value, name, None)
    return value


def value_of(scope: Scope, name: str) -> Any:
    """What a name from outside of the function, or of one of its imports, stands for now; None for others."""
    function, code = scope.function, scope.function.__code__
    if name in scope.imported:
        return scope.imported[name]
    if name in code.co_freevars:
        value = current(Captured((function.__closure__ or ())[code.co_freevars.index(name)], name, None))
        return None if value is absent else value
    return None if name in code.co_varnames or name in code.co_cellvars else function.__globals__.get(name)


def fixed_of(function: types.FunctionType, bounds: list[ast.expr]) -> tuple[bool, bool]:
    """Whether start and step of a loop are the same at every call."""
    code = function.__code__
    changing = {*code.co_varnames, *code.co_cellvars}
    start, step = bounds[: len(bounds) > 1], bounds[2:]
    return not liveness.names(start, ast.Load) & changing, not liveness.names(step, ast.Load) & changing


def counted(iterations: range, fixed_start: bool, fixed_step: bool) -> tuple[Any, Any]:
    """Start and step, so that the compiler sees in neighbouring iterations neighbours, and indices that do not count from the end."""
    start, step = iterations.start, iterations.step
    known: Any = _constant(start) if fixed_start or start in (0, 1) else np.uint64(start) if start >= 0 else start
    return known, _constant(step) if fixed_step or step == 1 else step


@functools.lru_cache(256)
def _constant(number: int) -> Constant[int]:
    return Constant(number)


def checked_iterations(bounds: tuple[Any, ...]) -> range:
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
