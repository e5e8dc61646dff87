# python/pardo/_cython/runtime.py: what extensions made by pardo.cython call: their regions, and the contexts around these.
from __future__ import annotations

import ast
import functools
import itertools
import math
import threading
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from pardo import Device, prange
from pardo._cython import carried, functions
from pardo._extending import (
    HOST,
    KINDS,
    LEFT,
    JitFunction,
    NestedLoops,
    OffloadFunction,
    Source,
    _LateResults,
    _Region,
    build,
    checked_iterations,
    chunk_of,
    counted,
    function_tree,
    held_lock,
    mappings,
    plainly,
    renewed_lock,
    source,
    table_of,
    tables,
)

_LISTS = {**KINDS, "from_": "from_"}


_SEEN = 64  # calls with other shapes each time, after which their shapes are not kept any more


class _Memory:
    """Memory whose owner is the caller."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def _unowned(a: Any) -> np.ndarray[Any, Any]:
    """The same array; its memory is not kept alive by it."""
    x = np.asarray(a)
    if not x.dtype.names:
        return np.asarray(_Memory(x.__array_interface__))
    whole = {**x.__array_interface__, "typestr": f"|V{x.itemsize}"}  # a list of fields would name the gaps between them
    del whole["descr"]
    return np.asarray(_Memory(whole)).view(x.dtype)


def _pieces(
    dtype: np.dtype[Any], offset: int = 0, shape: tuple[int, ...] = (), strides: tuple[int, ...] = ()
) -> Iterator[tuple[np.dtype[Any], int, tuple[int, ...], tuple[int, ...]]]:
    """The numbers in an element, in the order of `structs.of_records`: dtypes, places, and the axes of fields that are arrays."""
    own: tuple[int, ...] = ()
    if dtype.subdtype is not None:
        dtype, own = dtype.subdtype
    steps = tuple(dtype.itemsize * math.prod(own[k + 1 :]) for k in range(len(own)))
    shape, strides = shape + own, strides + steps
    if not dtype.names:
        yield dtype, offset, shape, strides
        return
    assert dtype.fields is not None
    for name in dtype.names:
        yield from _pieces(dtype.fields[name][0], offset + dtype.fields[name][1], shape, strides)


class Region:
    """A parallel region of a file of Cython: a function of what it takes from around it, or several, for the types of a fused function."""

    def __init__(self, data: bytes, files: bytes) -> None:
        self._data, self._files = data, files
        self._lock = held_lock()
        self._made: dict[Any, Variant] | None = None

    def _variants(self) -> dict[Any, Variant]:
        with self._lock:
            if self._made is None:
                texts = _texts(self._files)
                every = carried.unpacked(self._data)
                self._made = {v["key"]: Variant(_function(v, texts), v["results"], v["options"]["loops"]) for v in every}
            return self._made

    def of(self, key: Any) -> Variant:
        """The one for some types."""
        try:
            return (self._made or self._variants())[key]
        except KeyError:
            raise TypeError(f"a region was not compiled for the types {key}; build the extension again") from None

    def __call__(self, key: Any, *arguments: Any) -> Any:
        return self.of(key)(*arguments)

    def again(self, words: int, numbers: tuple[Any, ...]) -> Any:
        """As of its only variant, which takes this one's place."""
        return None

    def first(self, *arguments: Any) -> Any:
        """As of its only variant."""
        variant = self.of(None)
        results = variant.first(*arguments)
        self.again = variant.again  # type: ignore[method-assign]
        return results

    @property
    def hits(self) -> int:
        """Calls that the core ran."""
        return sum(v.calls.hits for v in (self._made or {}).values() if v.calls is not None)

    def explain(self) -> str:
        """What is copied, and why."""
        return "\n".join(v.explain() for v in self._variants().values())


class Variant:
    """A region for the types of its arguments.

    A region of loops alone, with shapes and bounds that it has had before, is run by the core with the programs that it had then
    (python/bind/kernel/region.cpp). It is given addresses, shapes and strides of arrays, as numbers of C, and the numbers. Of other regions
    the core finds the arrays, and Python runs the statements beside the loops. Nothing here keeps memory alive: who calls has it.
    """

    def __init__(self, function: Any, results: list[str], loops: bool) -> None:
        self._function, self._results, self._loops = function, results, loops
        self._statements: Any = True  # a function with loops of the core; True before that was tried, False if there can be none
        self._lock = renewed_lock()
        self.calls: _Region | None = None
        self._misses = 0

    def __call__(self, *arguments: Any) -> Any:
        _finish_late_results()
        return self._function(*[np.asarray(a) if hasattr(a, "strides") and not isinstance(a, np.generic) else a for a in arguments])

    def again(self, words: int, numbers: tuple[Any, ...]) -> Any:
        """Its results, if programs for such arguments are known. Once there are some, the core's method takes this one's place."""
        return None

    def first(self, *arguments: Any) -> Any:
        """Run it, and keep what a call with the same shapes needs. Where these seldom come again, nothing is kept any more."""
        hits = 0
        if self.calls is not None:
            self.calls.forget()
            hits = self.calls.hits
        self._misses += 1
        if self._misses > 4 * hits + _SEEN or plainly():
            return self(*arguments)
        _finish_late_results()
        given = [_unowned(a) if hasattr(a, "strides") and not isinstance(a, np.generic) else a for a in arguments]
        runners = [r.runner for r in self._function._current().runners]
        with self._lock:
            runs: list[tuple[Any, ...]] = []
            for runner in runners:
                runner.recorded = threading.get_ident(), runs
            try:
                results = self._function(*given)
            finally:
                for runner in runners:
                    runner.recorded = None
        if self._loops and _bounds(runners) & {name for r in runners for name in r.program.results}:
            self._loops = False  # how often a loop runs is what one before has computed
        firsts = {id(run[0]): run for run in reversed(runs)}
        if self._loops and [r for r, *_ in runs] == runners:
            self._keep(arguments, runs, runners)
        elif not self._loops and all(id(r) in firsts for r in runners if r.program.asked.parallel):
            self._keep(arguments, [firsts[id(r)] for r in runners if r.program.asked.parallel], runners)
        return results

    def _with_statements(self, arrays: dict[str, np.ndarray[Any, Any]], runners: list[Any], on_host: bool) -> Any:
        """The region as a function of its numbers, whose loops are the core's; None if its statements need elements of arrays, and where
        threads share the loops inside of others, which are one program then."""
        function, calls = self._function, self.calls
        if on_host and not all(r.program.asked.parallel for r in runners):
            return None
        if self._statements is True:
            self._statements = False
            options = function._options
            built = build(function._function, options, lambda f: JitFunction(f, *options), placed=False)
            same = len(built.runners) == len(runners) and all(
                isinstance(r, NestedLoops) or (r.program.asked.parallel and not r.translated.draws) for r in runners
            )
            if same and _stay_in_loops(function_tree(function._function), set(arrays)):
                loops: list[Any] = built.runners  # the function looks into this list
                numbers = itertools.count()
                loops[:] = [_Loop(r, next(numbers), calls) if r.program.asked.parallel else _Around() for r in runners]
                self._statements = built.function
        if self._statements is False:
            return None
        statements: Any = self._statements
        values = [_Shaped(arrays[name].shape) if name in arrays else None for name in function._parameters]

        def run(numbers: tuple[Any, ...]) -> Any:
            left = iter(numbers)
            return statements(*[next(left) if v is None else v for v in values])

        return run

    def _keep(self, arguments: tuple[Any, ...], runs: list[tuple[Any, ...]], runners: list[Any]) -> None:
        function = self._function
        names = function._parameters
        counting, statements = _bounds([r for r, *_ in runs]) if self._loops else set(), None
        arrays = [np.asarray(a) if hasattr(a, "strides") and not isinstance(a, np.generic) else None for a in arguments]
        if any(piece[0].kind not in "biufc" for a in arrays if a is not None for piece in _pieces(a.dtype)):
            return
        if self.calls is None:
            parameters = [
                (name, -1, name in counting, 0, ()) if a is None else (name, a.ndim, False, a.itemsize, tuple(_pieces(a.dtype)))
                for name, a in zip(names, arrays, strict=True)
            ]
            self.calls = _Region(parameters, function._on is not None, table_of(Device(HOST)))
        table = table_of(function._target())
        if not self._loops:
            given = {name: a for name, a in zip(names, arrays, strict=True) if a is not None}
            statements = self._with_statements(given, runners, table.shares)
            if statements is None:
                return
        moved = None if table.shares or function._last is None else function._last
        kinds = {} if moved is None else {m.name: m.kind for m in moved[1]}
        # Where the value of a name is: a parameter, or behind these a result. Statements give numbers themselves.
        of = {name: k for k, name in enumerate(names) if self._loops or arrays[k] is not None}
        loops, results = [], 0
        for runner, loop_arguments, counts, chunk in runs:
            places = [of.get(name, -1) for name in runner.program.captured]
            loops.append((runner.loop, loop_arguments, counts, chunk, places, runner.program.initial))
            if self._loops:
                of.update({name: len(names) + results + k for k, name in enumerate(runner.program.results)})
                results += len(runner.program.results)
        returned = [of[name] - len(names) for name in self._results] if self._loops else []
        words = [w for a in arrays if a is not None for w in (a.__array_interface__["data"][0], *a.shape, *a.strides)]
        numbers = tuple(n for n, a in zip(arguments, arrays, strict=True) if a is None)
        maps = [kinds.get(name, "") for name in names]
        self.calls.keep(words, numbers, table, loops, function.__name__, maps, returned, moved, statements)
        self.again = self.calls.again  # type: ignore[method-assign]

    def explain(self) -> str:
        """What is copied, and why."""
        if self.calls is not None and self.calls.moved is not None:
            self._function._last = self.calls.moved
        explained: str = self._function.explain()
        return explained


class _Shaped:
    """What statements see of an array."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0]


class _Loop:
    """A parallel loop of a region whose arrays the core has found."""

    def __init__(self, runner: Any, number: int, calls: Any) -> None:
        self.runner, self.number, self.calls = runner, number, calls

    def __call__(self, bounds: tuple[tuple[Any, ...], ...], chunk: Any, *captured: Any) -> Any:
        """Run it."""
        runner, counts = self.runner, []
        for bound, (start, step) in zip(bounds, runner.fixed, strict=True):
            iterations = checked_iterations(bound)
            captured += counted(iterations, start, step)
            counts.append(len(iterations))
        at_a_time = runner.program.at_a_time if chunk is None else chunk_of("prange", runner.program.schedule, chunk)
        results = self.calls.run_loop(self.number, captured, counts, at_a_time)
        return results[0] if len(results) == 1 else tuple(results)


class _Around:
    """A serial loop around parallel ones."""

    def __call__(self, captured: Any) -> Any:
        """Leave it to Python."""
        return LEFT


def _bounds(runners: list[Any]) -> set[str]:
    """Names that say which iterations loops have."""
    return {n.id for r in runners for loop in r.program.parallel_loops for n in ast.walk(loop.iter) if isinstance(n, ast.Name)}


def _stay_in_loops(node: ast.AST, arrays: set[str]) -> bool:
    """Whether statements beside parallel loops ask arrays for their shapes alone."""
    if isinstance(node, ast.Name):
        return node.id not in arrays
    if isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return all(isinstance(a, ast.Name) or _stay_in_loops(a, arrays) for a in node.args)
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "_prange":
        return all(_stay_in_loops(part, arrays) for part in (node.iter, *node.orelse))
    return all(_stay_in_loops(child, arrays) for child in ast.iter_child_nodes(node))


@functools.lru_cache(16)
def _texts(files: bytes) -> dict[str, list[str]]:
    """The lines of the files of an extension."""
    (texts,) = carried.unpacked(files)
    return {file: text.splitlines() for file, text in texts.items()}


def _function(variant: dict[str, Any], texts: dict[str, list[str]]) -> Any:
    """The function of one variant of a region: with the numbers of lines of its file."""
    namespace: dict[str, Any] = {"_np": np, "_prange": prange, **functions.TABLE, "__name__": variant["module"]}
    for node in variant["functions"]:
        made = _defined(node, variant, texts[variant["file"]], namespace)
        namespace[node.name] = made
    options = variant["options"]
    function: types.FunctionType = namespace[variant["functions"][-1].name]
    offloaded = OffloadFunction(
        function,
        variant["maps"],
        variant["on"],
        bounds_check=options["checks"],
        schedule=options["schedule"],
        chunk=options["chunk"],
    )
    if not options["returns"]:
        return offloaded
    return lambda *arguments: _plain(offloaded(*arguments))


def _plain(results: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a region returns to its function's caller, as Python's number."""
    *others, left = results
    return (*others, None if left is None else (left[0].item() if isinstance(left[0], np.generic) else left[0],))


def _defined(node: ast.FunctionDef, variant: dict[str, Any], lines: list[str], namespace: dict[str, Any]) -> types.FunctionType:
    stored = carried.packed(node)
    tree = ast.fix_missing_locations(ast.Module([node], []))
    code = compile(tree, variant["file"], "exec")
    made = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    function = types.FunctionType(made, namespace, node.name)
    function.__qualname__ = node.name
    function.__module__ = variant["module"]
    shown_name = variant["name"]

    def text() -> Source:
        (again,) = carried.unpacked(stored)
        return Source(shown_name, variant["file"], 1, lines, ast.fix_missing_locations(again))

    source.given[made] = text
    return function


def _finish_late_results() -> None:
    """Copy to the host what regions of the innermost block have left on a device."""
    entered = tables.blocks.get()
    if entered and type(entered[-1].owner) is _LateResults:
        entered[-1].owner.finish()


def enter(place: str, kinds: tuple[str, ...], names: tuple[str, ...], on: Any, quiet: bool, *arrays: Any) -> None:
    """Enter a `with device(...)` block of a file of Cython. `quiet`: between its regions nothing reads or writes memory."""
    table = table_of(tables.target(on))
    made: list[mappings.Mapping] = []
    if not table.shares:
        for kind, name, given in zip(kinds, names, arrays, strict=True):
            x = np.asarray(given)
            made.append(mappings.mapping("device", x, _LISTS[kind], f"`{name}` at {place}, {x.dtype} of shape {x.shape}"))
    mapped = mappings.enter(table, mappings.larger_first(made), "device")
    owner = _LateResults() if quiet else None
    tables.blocks.set((*tables.blocks.get(), tables.Block(table, owner, mapped)))


def leave() -> None:
    """Leave the block that was entered last; what completed is copied back."""
    *outer, last = tables.blocks.get()
    failure: BaseException | None = None
    try:
        _finish_late_results()
    except BaseException as error:
        failure = error
    tables.blocks.set(tuple(outer))
    later = mappings.leave(last.table, reversed(last.mapped), True)
    if failure is not None or later is not None:
        raise failure or later  # type: ignore[misc]
