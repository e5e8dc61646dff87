# python/pardo/_cython/runtime.py: what extensions made by pardo.cython call: their regions, and the contexts around these.
from __future__ import annotations

import ast
import contextvars
import threading
import types
from typing import Any, NamedTuple

import numpy as np
from pardo._base.arguments import device_of
from pardo._compiler import source
from pardo._compiler.intrinsics import known
from pardo._compiler.source import Source
from pardo._cython import carried, functions
from pardo._data import mappings, present, tables
from pardo._data.tables import Table, table_of
from pardo._kernel.environment import plainly
from pardo._kernel.parallel_loops import prange
from pardo._offload.offloading import KINDS, OffloadFunction

assert known is not None
_LISTS = {**KINDS, "from_": "from_"}


_KEPT = 32


class _Kept(NamedTuple):
    """What a loop ran with."""

    function: OffloadFunction
    loop: Any
    arguments: tuple[Any, ...]
    counts: list[int]
    at_a_time: int


class _Memory:
    """Memory whose owner is the caller."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def _unowned(a: Any) -> np.ndarray[Any, Any]:
    """The same array; its memory is not kept alive by it."""
    return np.asarray(_Memory(np.asarray(a).__array_interface__))


class Region:
    """A parallel region of a file of Cython: a function of what it takes from around it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._lock = threading.Lock()
        self._made: dict[Any, Any] | None = None
        self._kept: dict[tuple[int, ...], _Kept] = {}
        self._hits = self._misses = 0

    def _functions(self) -> dict[Any, Any]:
        with self._lock:
            if self._made is None:
                self._made = {variant["key"]: _function(variant) for variant in carried.unpacked(self._data)}
            return self._made

    def __call__(self, key: Any, *arguments: Any) -> Any:
        made = self._made or self._functions()
        try:
            function = made[key]
        except KeyError:
            raise TypeError(f"a region was not compiled for the types {key}; build the extension again") from None
        return function(*[np.asarray(a) if hasattr(a, "strides") and not isinstance(a, np.generic) else a for a in arguments])

    # A region of one loop on the host, with memory and integers that it has had before, is run again as it was. Facts are addresses,
    # shapes and strides of arrays, and numbers. Nothing here keeps memory alive: who calls has it.

    def again(self, facts: tuple[int, ...]) -> bool:
        """Run it as it ran with these facts, if that is known and would be the same."""
        kept = self._kept.get(facts)
        if kept is None or plainly() or present.elsewhere or not kept.function.is_on_host():
            return False
        self._hits += 1
        kept.loop.run(kept.arguments, kept.counts, (), None, kept.at_a_time, kept.function.__name__)
        return True

    def first(self, facts: tuple[int, ...], *arguments: Any) -> None:
        """Run it, and keep what a call with the same facts needs. Where facts seldom come again, nothing is kept any more."""
        (function,) = (self._made or self._functions()).values()
        self._misses += 1
        if self._misses > 4 * self._hits + 2 * _KEPT or plainly() or present.elsewhere or not function.is_on_host():
            self(None, *arguments)
            return
        given = [_unowned(a) if hasattr(a, "strides") else a for a in arguments]
        (region,) = function._current().regions
        with self._lock:
            runs: list[tuple[Any, ...]] = []
            region.region.recorded = threading.get_ident(), runs
            try:
                function(*given)
            finally:
                region.region.recorded = None
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        (run,) = runs
        self._kept[facts] = _Kept(function, region.region.loop, *run)

    def explain(self) -> str:
        """What is copied, and why."""
        return "\n".join(f.explain() for f in self._functions().values())


def _function(variant: dict[str, Any]) -> Any:
    """The function of one variant of a region: with the numbers of lines of its file."""
    namespace: dict[str, Any] = {"_np": np, "_prange": prange, **functions.TABLE, "__name__": variant["module"]}
    for node in variant["functions"]:
        made = _defined(node, variant, namespace)
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


def _defined(node: ast.FunctionDef, variant: dict[str, Any], namespace: dict[str, Any]) -> types.FunctionType:
    stored = carried.packed(node)
    tree = ast.fix_missing_locations(ast.Module([node], []))
    code = compile(tree, variant["file"], "exec")
    made = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    function = types.FunctionType(made, namespace, node.name)
    function.__qualname__ = node.name
    function.__module__ = variant["module"]
    shown_name, first, lines = variant["name"], variant["first"], variant["lines"]

    def text() -> Source:
        (again,) = carried.unpacked(stored)
        return Source(shown_name, variant["file"], first, lines, ast.fix_missing_locations(again))

    source.given[made] = text
    return function


class _Entered:
    """Arrays that a `with device(...)` block has mapped."""

    def __init__(self, table: Table | None, mapped: mappings.Mapped, outer: tuple[str, ...]) -> None:
        self.table, self.mapped, self.outer = table, mapped, outer


_stack: contextvars.ContextVar[tuple[_Entered, ...]] = contextvars.ContextVar("pardo.cython_blocks", default=())


def enter(place: str, kinds: tuple[str, ...], names: tuple[str, ...], on: Any, *arrays: Any) -> None:
    """Enter a `with device(...)` block of a file of Cython."""
    table = table_of(tables.target(on))
    made: list[mappings.Mapping] = []
    if not table.shares:
        for kind, name, given in zip(kinds, names, arrays, strict=True):
            x = np.asarray(given)
            made.append(mappings.mapping("device", x, _LISTS[kind], f"`{name}` at {place}, {x.dtype} of shape {x.shape}"))
    mapped = mappings.enter(table, mappings.larger_first(made), "device")
    outer = tables.devices.get()
    tables.devices.set((*outer, table.device.id))
    _stack.set((*_stack.get(), _Entered(table, mapped, outer)))


def leave() -> None:
    """Leave the block that was entered last; what completed is copied back."""
    *others, last = _stack.get()
    _stack.set(tuple(others))
    tables.devices.set(last.outer)
    if last.table is not None:
        failure = mappings.leave(last.table, reversed(last.mapped), True)
        if failure is not None:
            raise failure


def check_device(on: Any) -> None:
    """Refuse a device that does not exist."""
    device_of(on, "device")
