# python/pardo/_offload/offloading.py: `offload`: calls of a function whose loops run on a device, with the host's arrays mapped around it.
from __future__ import annotations

import contextvars
import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from pardo._base.arguments import HOST, DeviceLike, device_of, fast_math, optional_flag
from pardo._base.notebook import ShownText
from pardo._base.public_names import publish_module
from pardo._base.tracebacks import note
from pardo._compiler import source_search, structs
from pardo._compiler.names import function_with_loops
from pardo._compiler.source import shown
from pardo._core import Array, Device, _LoopCall
from pardo._data import mappings, tables
from pardo._data.tables import Table, table_of
from pardo._kernel import pickling
from pardo._kernel.environment import checks_of, interpreting
from pardo._kernel.jit import JitFunction
from pardo._kernel.loop_runners import LoopRunner
from pardo._kernel.parallel_loops import Options, chunk_of
from pardo._kernel.rewriting import Built, build
from pardo._offload import inference
from pardo._offload.inference import Counts, Round, Uses

__all__ = ["offload"]

KINDS = {"to": "to", "from": "from_", "tofrom": "tofrom", "alloc": "alloc", "present": "present"}
SHOWN = {kind: name for name, kind in KINDS.items()}

# Where the calls run that this thread or task is in: None on the host.
_running: contextvars.ContextVar[Table | None] = contextvars.ContextVar("pardo.offloading", default=None)


class Moved(NamedTuple):
    """What became of an array at a call."""

    name: str
    kind: str
    why: str
    to_device: int
    to_host: int


class Planned(NamedTuple):
    """An array of the host that a call maps."""

    name: str
    array: np.ndarray[Any, Any]
    kind: str
    why: str


class Around:
    """Arrays of the host on a device for as long as something runs."""

    def __init__(self, op_name: str, table: Table, planned: list[Planned]) -> None:
        self.op_name, self.table = op_name, table
        self.moved: list[Moved] = []
        made: list[mappings.Mapping] = []
        every = [mappings.mapping(op_name, p.array, p.kind, f"`{p.name}`, {p.array.dtype} of shape {p.array.shape}") for p in planned]
        for m in mappings.larger_first(every):
            _merge(made, m)
        self.given = made
        self.planned = planned
        self.entered: mappings.Mapped = []

    def __enter__(self) -> Around:
        self.entered = mappings.enter(self.table, self.given, self.op_name)
        new = {id(m.array): entry is not None and entry.count == 1 for m, entry in self.entered}
        kinds = {id(m.array): m.kind for m in self.given}
        for p in self.planned:
            moves = new.get(id(p.array), False)
            kind = kinds.get(id(p.array), p.kind)
            to, back = moves and kind in mappings.TO, moves and kind in mappings.FROM
            self.moved.append(Moved(p.name, p.kind, p.why, p.array.nbytes * to, p.array.nbytes * back))
        self._outer = tables.blocks.get()
        tables.blocks.set((*self._outer, tables.Block(self.table, self)))
        return self

    def used(self, value: Any) -> Any:
        """What takes the place of an argument."""
        return structs.mapped(value, lambda x: tables.used(self.table, x))

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        tables.blocks.set(self._outer)
        if error is not None:
            for m, entry in self.entered:
                if entry is not None and m.kind != "to":
                    entry.broken = True
        kept: list[str] = []
        failure = mappings.leave(self.table, reversed(self.entered), error is not None, kept)
        if error is None:
            if failure is not None:
                raise failure
            return
        for label in kept:
            note(error, f"{self.op_name}: {label}, stays as it was on the host")
        if failure is not None and not isinstance(failure, Exception):
            raise failure


def _merge(made: list[mappings.Mapping], m: mappings.Mapping) -> None:
    """One mapping more; a part of what is mapped already, under whatever name, adds to what that one copies."""
    for k, other in enumerate(made):
        if m.layout is None or other.layout is None or m.layout.begin < other.layout.begin or m.layout.end > other.layout.end:
            continue
        if mappings.part_is_missing(other.layout, m.array):
            continue
        whole = m.layout == other.layout
        to = other.kind in mappings.TO or m.kind in mappings.TO or (m.kind == "from_" and other.kind != "from_" and not whole)
        back = other.kind in mappings.FROM or m.kind in mappings.FROM
        if "present" not in (m.kind, other.kind):
            made[k] = other._replace(kind="tofrom" if to and back else "to" if to else "from_" if back else "alloc")
        return
    made.append(m)


class OffloadedRunner(_LoopCall):
    """A loop of an offloaded function: arrays of the host that the function has made, or found outside, are mapped around it."""

    def __init__(self, runner: LoopRunner, owner: OffloadFunction) -> None:
        super().__init__()
        self.runner, self.owner = runner, owner
        self.line, self.loop, self.described = runner.line, runner.loop, runner.described
        self._uses = Uses([runner.program.asked.loop], inference.resolver(owner._function))
        self._counts = Counts([runner.program.asked.loop], set(runner.program.captured))

    def serially(self, captured: tuple[Any, ...] | None) -> Any:
        """Run a serial loop where its arrays are: on the device if some of them are there."""
        table = _running.get()
        if table is None or table.shares or captured is None or not any(type(x) is Array for c in captured for x in structs.leaves(c)):
            return self.runner(captured)
        return self._mapped(table, None, captured, self.runner)

    def in_parallel(self, bounds: tuple[tuple[Any, ...], ...], chunk: Any, *captured: Any) -> Any:
        """Run a parallel loop."""
        table = _running.get()
        if table is None or table.shares:
            return self.runner(bounds, chunk, *captured)
        return self._mapped(table, bounds, captured, lambda given: self.runner(bounds, chunk, *given))

    def _mapped(self, table: Table, bounds: Any, captured: tuple[Any, ...], run: Callable[[tuple[Any, ...]], Any]) -> Any:
        names = dict(zip(self.runner.program.captured, captured, strict=True))
        planned = []
        for name, value in names.items():
            for x in structs.leaves(value):
                host = tables.host_array(x)
                if host is None or (host.ndim == 0 and not host.dtype.names):
                    continue
                kind, why = self.owner._maps.get(name, ""), "given"
                if not kind:
                    kind, why = inference.kind_of(self._uses.of.get(name), host.shape, lambda r: self._count(r, bounds, names))
                planned.append(Planned(name, host, _fitting(kind, host), why))
        if not planned:
            return run(captured)
        with Around(self.owner.__name__, table, planned) as call:
            result = run(tuple(call.used(c) for c in captured))
            for _, entry in call.entered:
                for view in entry.views() if entry is not None else ():
                    view.wait()
        self.owner._note(call.moved, self.line)
        return result

    def _count(self, r: Round, bounds: Any, names: dict[str, Any]) -> int | None:
        for k, loop in enumerate(self.runner.program.parallel_loops):
            if loop is r.loop and bounds is not None:
                return len(range(*(int(b) for b in bounds[k])))
        return self._counts.value(r.stop, names)


def _fitting(kind: str, x: np.ndarray[Any, Any]) -> str:
    """Records are written field by field: then others stay what they were."""
    return "tofrom" if kind == "from_" and x.dtype.names else kind


@functools.cache
def _host() -> Device:
    return Device(HOST)


class OffloadFunction(pickling.Unchanging):
    """A function whose loops run on a device; made by `offload`."""

    __name__: str

    def __init__(
        self,
        function: types.FunctionType,
        device: dict[str, str] | None = None,
        on: DeviceLike = None,
        fastmath: int = 0,
        bounds_check: bool | int | None = None,
        schedule: str | None = None,
        chunk: int | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = self._pardo_function = function
        source_search.remember(function)
        self._given = {
            "device": device,
            "on": on,
            "fastmath": fastmath,
            "bounds_check": bounds_check,
            "schedule": schedule,
            "chunk": chunk,
        }
        self._on = on
        self._options = Options(fastmath, checks_of(bounds_check), False, schedule, chunk)
        tree = inference.function_tree(function)
        self._signature = inspect.signature(function)
        self._parameters = list(self._signature.parameters)
        self._positional = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in self._signature.parameters.values())
        self._uses = Uses(tree.body, inference.resolver(function))
        self._counts = Counts(tree.body, set(self._parameters))
        self._maps = self._given_maps({} if device is None else device)
        self._built: Built | None = None
        self._last: tuple[str, list[Moved]] | None = None
        self._of_loops: dict[int, list[Moved]] = {}

    def _given_maps(self, device: Any) -> dict[str, str]:
        """What is given by hand: names, and the lists of `data` that they are for."""
        name = self.__name__
        if not isinstance(device, Mapping):
            raise TypeError(f"{name}: device must be a dict such as {{'X': 'to'}}, not {type(device).__name__}")
        maps = {}
        for array, kind in device.items():
            if not isinstance(array, str):
                raise TypeError(f"{name}: device: names of arrays are expected as texts, not {type(array).__name__}")
            if kind not in KINDS:
                raise ValueError(f"{name}: device: {array!r}: {', '.join(map(repr, KINDS))} are known, not {kind!r}")
            if array not in self._uses.of and array not in self._parameters:
                raise ValueError(f"{name}: device: the function has no array `{array}`")
            maps[array] = KINDS[kind]
        return maps

    def _current(self) -> Built:
        """The function with its loops replaced by those that map their arrays."""
        if self._built is None:
            built = build(self._function, self._options, lambda f: JitFunction(f, *self._options), placed=False)
            runners: list[Any] = built.runners  # the function looks into this list
            runners[:] = [OffloadedRunner(r, self) for r in runners]
            self._built = built
        return self._built

    def _target(self) -> Device:
        """Where a call runs: as `on` says, or where the innermost block of `data` is, or on the default device."""
        if tables.offload_is_off():
            return Device(HOST)
        if self._on is not None:
            return device_of(self._on, self.__name__)
        entered = tables.blocks.get()
        return entered[-1].table.device if entered else Device()

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if interpreting():
            return self._function(*arguments, **keywords)
        function = self._current().function
        device = self._target()
        if device == _host():
            token, host = _running.set(None), tables.on_host.set(True)
            try:
                return function(*arguments, **keywords)
            finally:
                tables.on_host.reset(host)
                _running.reset(token)
        table = table_of(device)
        names, values = self._bound(arguments, keywords)
        call = Around(self.__name__, table, self._planned(names, values))
        token, host = _running.set(table), tables.on_host.set(False)
        try:
            with call:
                given = [call.used(v) for v in values]
                result = function(*given[: len(arguments)], **dict(zip(keywords, given[len(arguments) :], strict=True)))
                result = self._back(result, values, given)
        finally:
            tables.on_host.reset(host)
            _running.reset(token)
        self._last = device.id, call.moved
        return result

    def _bound(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[list[str], list[Any]]:
        """The name of the parameter that each argument is for."""
        values = [*arguments, *keywords.values()]
        if self._positional and len(arguments) <= len(self._parameters):
            return [*self._parameters[: len(arguments)], *keywords], values
        bound = self._signature.bind(*arguments, **keywords)
        of: dict[int, str] = {}
        for name, value in bound.arguments.items():
            kind = self._signature.parameters[name].kind
            parts = value if kind is inspect.Parameter.VAR_POSITIONAL else (value,)
            of.update((id(part), name) for part in parts)
        return [of.get(id(v), "") for v in values], values

    def _planned(self, names: list[str], values: list[Any]) -> list[Planned]:
        """The arrays of the host among the arguments, and how they are mapped."""
        env = dict(zip(names, values, strict=True))
        planned = []
        for name, value in env.items():
            for x in structs.leaves(value):
                host = tables.host_array(x)
                if host is None:
                    continue
                kind, why = self._maps.get(name, ""), "given"
                if not kind:
                    kind, why = inference.kind_of(self._uses.of.get(name), host.shape, lambda r: self._counts.value(r.stop, env))
                host = mappings.host(host, f"{self.__name__}: `{name}`")
                planned.append(Planned(name, host, _fitting(kind, host), why))
        return planned

    def _back(self, result: Any, values: list[Any], given: list[Any]) -> Any:
        """What the function gives, as the host has it: its own arrays, and NumPy's for those that were made on the device."""
        if type(result) is tuple:
            return tuple(self._back(r, values, given) for r in result)
        for value, there in zip(values, given, strict=True):
            if result is there:
                return value
        if type(result) is not Array or any(type(v) is Array for v in values):
            return result
        if result.ndim == 0:
            return result.dtype.type(result.item())
        host = np.empty(result.shape, result.dtype)
        result._copy_to(host)
        return host

    def _note(self, moved: list[Moved], line: int) -> None:
        self._of_loops[line] = moved

    def inspect(self, what: str = "ir") -> str:
        """Show what the loops become, for each program made so far: as `jit` functions do."""
        return ShownText("\n".join(filter(None, (r.loop.inspect_so_far(what) for r in self._current().runners if r.loop is not None))))

    def explain(self) -> str:
        """Show what is copied, and why.

        Returns
        -------
        str
            A line for each array: its map, whether that was given or what of the text it was inferred from, and the bytes that the last
            call moved to the device and back; arrays that the function itself makes are listed by the loop that they are mapped around.
            Then what became of each loop.
        """
        built = self._current()
        on = f"last call on {self._last[0]}" if self._last else "not called yet on a device with memory of its own"
        lines = [f"{self.__name__}  ({shown(self._function.__code__.co_filename)}): {on}"]
        moved = {m.name: m for m in self._last[1]} if self._last else {}
        for name in dict.fromkeys([*self._parameters, *self._maps]):
            if name in moved:
                lines.append(_line(moved[name]))
            elif name in self._maps:
                lines.append(f"  {name}: {SHOWN[self._maps[name]]}, given")
            elif name in self._uses.of and not moved:
                kind, why = inference.kind_of(self._uses.of[name], (), lambda _: None)
                certain = (
                    f", or from, if {name} is as large as the loops" if self._uses.of[name].stores and not self._uses.of[name].reads else ""
                )
                lines.append(f"  {name}: {SHOWN[kind]}{certain}: {why}, if it is an array")
        for line, of_loop in sorted(self._of_loops.items()):
            lines += [f"{_line(m)}, around the loop at line {line}" for m in of_loop]
        loops = [(line, f"left to Python: {why}") for line, why in built.left] + [(r.line, r.described()) for r in built.runners]
        lines += [f"  line {line}: {what}" for line, what in sorted(loops)]
        return ShownText("\n".join(lines) + "\n")

    def interpret(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function as it was written, in plain Python."""
        return self._function(*arguments, **keywords)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return pickling.reduced(self, self._function, self._given)

    def __repr__(self) -> str:
        return f"<function {self.__name__}, offloaded>"


def _line(m: Moved) -> str:
    return f"  {m.name}: {SHOWN[m.kind]}, {m.why}; {m.to_device} bytes to the device, {m.to_host} back"


@overload
def offload(
    function: Callable[..., Any],
    *,
    device: dict[str, str] | None = ...,
    on: DeviceLike = ...,
    fastmath: bool | Literal["estimates"] = ...,
    bounds_check: bool | None = ...,
    schedule: str | None = ...,
    chunk: int | None = ...,
) -> OffloadFunction: ...
@overload
def offload(
    function: None = None,
    *,
    device: dict[str, str] | None = ...,
    on: DeviceLike = ...,
    fastmath: bool | Literal["estimates"] = ...,
    bounds_check: bool | None = ...,
    schedule: str | None = ...,
    chunk: int | None = ...,
) -> Callable[[Callable[..., Any]], OffloadFunction]: ...
def offload(
    function: Any = None,
    *,
    device: dict[str, str] | None = None,
    on: DeviceLike = None,
    fastmath: bool | Literal["estimates"] = False,
    bounds_check: bool | None = None,
    schedule: str | None = None,
    chunk: int | None = None,
) -> Any:
    """Run the loops of a function on a device, with NumPy arrays that are copied there and back.

    Loops are compiled as by `jit`. Arrays of NumPy among the arguments get copies on the device for the duration of a call, those that
    the function makes or finds outside for the duration of a parallel loop; inside `data` what is present is used, and nothing is copied.

    Parameters
    ----------
    function : callable
        A plain function, one that Numba has decorated, or one that `jit` has made.
    device : dict of str to {'to', 'from', 'tofrom', 'alloc', 'present'}, optional
        What is copied of arrays: by the names of parameters, of arrays that the function makes, or of arrays from outside. Maps of others
        are inferred: those that are only read ``'to'``; those that are written, none of whose elements is read, and every element of which
        is certainly written, ``'from'``; others that are written ``'tofrom'``; those of which no element is used ``'alloc'``.
        Default: all are inferred.
    on : Device or str, optional
        Where it runs. Default: on the device of the innermost block of `data` that this thread or task is in, else on the default device:
        that of `device_context`, or PARDO_DEVICE.
    fastmath, bounds_check, schedule, chunk : optional
        As for `jit`.

    Returns
    -------
    OffloadFunction
        Called like the function. Its results are numbers and NumPy's arrays. Its method ``explain()`` shows what is copied, and why.

    Raises
    ------
    ValueError
        `device` names no array of the function, or no such map.

    See Also
    --------
    data, jit

    Notes
    -----
    With the environment variable ``PARDO_OFFLOAD=off`` calls, and blocks of `data`, stay on the host: loops run on its threads. So do they
    on a device that shares the host's memory: nothing is copied.

    When a call fails, arrays that it writes stay as they were on the host, where the device has a memory of its own; notes of the exception
    name them. What is between loops works on the arrays of the device: statements on whole arrays are recorded and fused.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> @pp.offload(device={"x": "to"})
    ... def square(x, y):
    ...     for i in pp.prange(len(x)):
    ...         y[i] = x[i] * x[i]
    >>> x, y = np.arange(4.0), np.empty(4)
    >>> square(x, y)
    >>> y
    array([0., 1., 4., 9.])
    """
    if function is None:
        return lambda f: offload(f, device=device, on=on, fastmath=fastmath, bounds_check=bounds_check, schedule=schedule, chunk=chunk)
    plain = function_with_loops("offload", function)
    level, bounds_check = fast_math(fastmath, "offload: fastmath"), optional_flag(bounds_check, "offload: bounds_check")
    chunk_of("offload", schedule, chunk)
    if on is not None:
        device_of(on, "offload: on")
    return OffloadFunction(plain, device, on, level, bounds_check, schedule, chunk)


publish_module(globals(), "pardo")
