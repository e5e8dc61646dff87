# python/pardo/_debug/interpreter.py: kernels as plain Python: the user's own function runs item by item: pdb, print and coverage work.
"""How an interpreted launch goes.

The items of a group run one after the other, in their order, until each has come to a barrier or returned. The first item runs in the
caller's thread; when it comes to a barrier, each of the others goes on in a thread of its own until it has come to the same barrier.
Only one of these threads runs at any time: what the items do happens in the same order in every run.
"""

from __future__ import annotations

import contextvars
import itertools
import math
import operator
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.interop import shared_view
from pardo._base import promotion
from pardo._base.arguments import given_count
from pardo._base.promotion import kind_of
from pardo._base.tracebacks import note
from pardo._compiler import structs
from pardo._core import Array
from pardo._debug import atomics, races
from pardo._debug.places import Place, Space
from pardo._debug.rewriter import Rewriter
from pardo._debug.views import ItemView, NdItemView
from pardo._language import index_space
from pardo._language.index_space import Constant, LocalAccessor, SubGroup, _running

Site = tuple[tuple[int, int], ...]  # where a kernel is: code object and instruction of each function, the innermost first


class _Stopped(BaseException):
    """Ends an item whose group has failed; not an Exception, so that kernels do not catch it."""


class _Companion:
    """A thread for one item of a group: it runs only while another thread waits in `resume`, until the item comes to a barrier or ends."""

    def __init__(self) -> None:
        self.site: Site | None = None  # of the barrier where the item waits
        self.failure: BaseException | None = None  # what ended the item
        self._task: Callable[[], None] | None = None
        self._thrown: BaseException | None = None
        self._go, self._back = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._back.acquire()
        self._thread = threading.Thread(target=self._work, name="pardo item", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while True:
            self._go.acquire()
            if self._task is None:
                return
            try:
                self._task()
            except BaseException as e:
                self.failure = e
            self._task = None
            self._back.release()

    def begin(self, task: Callable[[], None]) -> None:
        self.failure = None
        self._task = task
        self._switch()

    def resume(self, thrown: BaseException | None = None) -> None:
        self.site, self._thrown = None, thrown
        self._switch()

    def _switch(self) -> None:
        self._go.release()
        self._back.acquire()

    def wait(self, site: Site) -> None:
        """Called by the item: hands control back until it is resumed."""
        self.site = site
        self._back.release()
        self._go.acquire()
        if self._thrown is not None:
            raise self._thrown

    def close(self) -> None:
        if self._task is None:
            self._go.release()
            self._thread.join()


class _Team:
    """The items of one group while they run, and the memory that they share."""

    def __init__(self, launch: _Launch, group_id: tuple[int, ...]) -> None:
        self.launch, self.group_id = launch, group_id
        self.arrays: dict[Any, tuple[Any, Any, Any]] = {}  # extents, types of the elements, the array
        self.exchanged: dict[tuple[int, int], Any] = {}  # values of the items by sub-group and place
        self.failure: BaseException | None = None
        space = launch.space
        origin = [g * n for g, n in zip(group_id, space.local_range, strict=True)]
        local_ids = itertools.product(*map(range, space.local_range))
        self.items = [_Item(self, tuple(map(operator.add, origin, local_id)), local_id) for local_id in local_ids]
        self.begun = False  # the first item has come to a barrier: the others are in threads
        self.ended: _Item | None = None  # the item that has returned first
        self.broken = False  # the group has failed: its items end at their barriers

    def run(self) -> None:
        try:
            for item in self.items:
                self.launch.enter(item)
                self.ended = self.ended or item
                if self.begun:
                    break
            if self.begun:
                self.finish()
        except _Stopped:
            pass
        finally:
            self.broken = True
            for item in self.items:
                if item.companion is not None and item.companion.site is not None:
                    item.companion.resume(_Stopped())
        if self.failure is not None:
            raise self.failure

    def others(self) -> Iterator[tuple[_Item, _Companion]]:
        for k, item in enumerate(self.items[1:]):
            if item.companion is None:
                item.companion = self.launch.companion(k)
            yield item, item.companion

    def barrier(self, here: _Item) -> None:
        """One item has come to a barrier; returns when all have."""
        if self.broken:
            raise _Stopped
        site = _site()
        if self.ended is not None and not self.begun:
            raise self.missed(here, self.ended, site)
        if here.companion is not None:
            here.companion.wait(site)
            return
        first, self.begun = not self.begun, True
        for item, companion in self.others():
            if first:
                context = contextvars.copy_context()
                companion.begin(lambda context=context, item=item: context.run(self.launch.enter, item))  # type: ignore[misc]
            else:
                companion.resume()
            if companion.failure is not None:
                self.failure, self.broken = companion.failure, True
                raise _Stopped
            if companion.site is None:
                raise self.missed(here, item, site)
            if companion.site != site:
                self.broken = True
                raise RuntimeError(
                    f"group_barrier: {here} waits at {_line(site)}, and {item}, of the same group, at {_line(companion.site)}; "
                    "all items of a group must come to the same barriers"
                )

    def finish(self) -> None:
        """The first item has returned: so must the others, without another barrier."""
        for item, companion in self.others():
            companion.resume()
            if companion.site is not None:
                companion.resume(self.missed(item, self.items[0], companion.site))
            if companion.failure is not None:
                self.failure = companion.failure
                return

    def missed(self, waits: _Item, ended: _Item, site: Site) -> RuntimeError:
        self.broken = True
        return RuntimeError(
            f"group_barrier: {waits} waits at {_line(site)}, and {ended}, of the same group, returned without coming there; "
            "all items of a group must come to the same barriers"
        )

    def memory(self, key: Any, op_name: str, shape: Any, kind: Any, label: str | None = None) -> Any:
        """The array that all items of the group share under this key. `label`: what the kernel calls it, if that is known."""
        extents, types = _shape(op_name, shape), _types(kind)
        made = self.arrays.setdefault(key, (extents, types, None))
        if made[:2] != (extents, types):
            raise RuntimeError(f"{op_name}: another item of the group made this array as {made[1]}{list(made[0])}; it is one for all items")
        if made[2] is None:
            memory = _memory(op_name, shape, kind)
            if self.launch.watches is not None:
                memory = self.launch.watches.another().watch(memory, label)
            made = self.arrays[key] = (extents, types, memory)
        return made[2]


_CODES: dict[int, tuple[types.CodeType, list[int]]] = {}  # so that the numbers in a Site stay those of living code; and _copies


def _copies(code: types.CodeType) -> list[int]:
    """For each instruction the first that comes of the same piece of text: Python's compiler may write the end of a function twice."""
    first: dict[Any, int] = {}
    return [2 * (k if place[2] is None else first.setdefault(place, k)) for k, place in enumerate(code.co_positions())]


def _site() -> Site:
    """Where the running kernel is: its frames, up to the function that the launch called."""
    frame: types.FrameType | None = sys._getframe(2)
    site = []
    while frame is not None and frame.f_code is not _Launch.enter.__code__:
        if frame.f_globals.get("__name__") not in (__name__, index_space.__name__):
            key = id(frame.f_code)
            if key not in _CODES:
                _CODES[key] = (frame.f_code, _copies(frame.f_code))
            site.append((key, _CODES[key][1][frame.f_lasti // 2]))
        frame = frame.f_back
    return tuple(site)


def _line(site: Site) -> str:
    """The file and line of a place in a kernel, for messages."""
    key, instruction = site[0]
    code, _ = _CODES[key]
    line = next((n for first, last, n in code.co_lines() if first <= instruction < last), None)
    return f'File "{code.co_filename}", line {line or code.co_firstlineno}'


def _shape(op_name: str, shape: Any) -> tuple[int, ...]:
    extents = tuple(map(operator.index, shape)) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if not extents or min(extents) < 1:
        raise ValueError(f"{op_name}: extents are positive, not {extents}")
    return extents


def _types(kind: Any) -> Any:
    """The types of an array's elements: a dtype, a tuple of types, a struct of them. `kind` may be a value whose type is meant."""
    if isinstance(kind, type) and issubclass(kind, structs.Struct):
        return (kind, *map(_types, kind._types))
    if isinstance(kind, structs.Records):
        kind = kind._replace()
    if isinstance(kind, structs.Struct):
        return (type(kind), *map(_types, kind._values()))
    if type(kind) is tuple:
        return tuple(map(_types, kind))
    if isinstance(kind, (bool, int, float, complex)):
        return promotion.result_type(type(kind))
    return kind.dtype if isinstance(kind, np.generic) else np.dtype(kind)


def _memory(op_name: str, shape: Any, kind: Any) -> Any:
    """Memory as a kernel gets it, with values that show when they are read before they are written: NaN, or the greatest integers."""
    types = _types(kind)
    if isinstance(types, tuple):
        owner = types[0] if types and isinstance(types[0], type) else None
        parts = tuple(_memory(op_name, shape, t) for t in (types[1:] if owner else types))
        return owner(*parts) if owner else structs.Columns(parts)
    made: NDArray[Any] = np.empty(_shape(op_name, shape), types)
    made.fill(math.nan if kind_of(made.dtype) in "fc" else np.iinfo(made.dtype).max if kind_of(made.dtype) in "iu" else True)
    return made


class _Item(Place):
    """One item, and what `pardo.local_array`, barriers and their like do while it runs."""

    __slots__ = ("companion", "epoch", "team")

    def __init__(self, owner: _Team | Space, global_id: tuple[int, ...], local_id: tuple[int, ...] = ()) -> None:
        self.team = owner if isinstance(owner, _Team) else None
        if isinstance(owner, _Team):
            super().__init__(owner.launch.space, global_id, local_id, owner.group_id)
        else:
            super().__init__(owner, global_id)
        self.companion: _Companion | None = None
        self.epoch = 0  # barriers that it has passed

    def local_array(self, shape: Any, dtype: Any) -> Any:
        if self.team is None:
            raise TypeError("local_array: items share memory in groups only; launch the kernel over an NdRange")
        return self.team.memory(_site(), "local_array", shape, dtype)

    def private_array(self, shape: Any, dtype: Any) -> Any:
        return _memory("private_array", shape, dtype)

    def barrier(self) -> None:
        if self.team is None:
            raise TypeError("group_barrier: only items of a group can wait for each other; launch the kernel over an NdRange")
        watches = self.team.launch.watches
        if watches is not None:
            watches.orders.arrives(self.global_id, self.team.group_id, self.epoch)
        self.team.barrier(self)
        if watches is not None:
            watches.orders.leaves(self.global_id, self.team.group_id, self.epoch)
        self.epoch += 1

    def shuffle(self, sub_group: Any, value: Any, item: int) -> Any:
        if not isinstance(sub_group, SubGroup):
            raise TypeError(f"a SubGroup is expected, of item.get_sub_group(), not {type(sub_group).__name__}")
        self.in_group("shuffle")
        assert self.team is not None
        values, (number, place, _) = self.team.exchanged, self.sub_group()
        values[number, place] = value
        self.barrier()
        taken = values[number, int(item)]
        self.barrier()
        return taken

    def atomic(self, name: str, *arguments: Any, order: str = "relaxed", scope: str = "device") -> Any:
        return atomics.atomic(name, *arguments, order=order, scope=scope)


class _Launch:
    """One interpreted launch: the function, where it runs, the arguments as NumPy has them; `watches`: None unless it looks for races."""

    def __init__(
        self,
        function: types.FunctionType,
        name: str,
        space: Space,
        takes_item: bool,
        arguments: list[Any],
        watches: races.Memory | None,
    ) -> None:
        rewriter = Rewriter()
        self.function = rewriter.function(function)
        self.name, self.space, self.takes_item, self.watches = name, space, takes_item, watches
        self.arguments = [rewriter.given(a) for a in arguments]
        self.companions: list[_Companion] = []
        wanted = function.__code__.co_argcount - takes_item
        if len(arguments) != wanted:
            raise TypeError(f"{name}: takes {wanted} argument{'' if wanted == 1 else 's'}, but {given_count(len(arguments))}")
        self.parameters = function.__code__.co_varnames[takes_item : takes_item + wanted]
        for parameter, a in zip(self.parameters, arguments, strict=True):
            if isinstance(a, LocalAccessor) and not space.local_range:
                raise TypeError(f"{name}: `{parameter}` is memory of a group, and a plain Range has no groups; launch over an NdRange")
        if watches is not None:
            self.arguments = [watches.watch(a, parameter) for parameter, a in zip(self.parameters, self.arguments, strict=True)]

    def companion(self, k: int) -> _Companion:
        if k == len(self.companions):
            self.companions.append(_Companion())
        return self.companions[k]

    def enter(self, place: _Item) -> None:
        """Run the function for one item, in the thread that calls this."""
        arguments = self.arguments
        if place.team is not None:
            arguments = [
                place.team.memory(k, "LocalAccessor", a.shape, a.dtype, self.parameters[k]) if isinstance(a, LocalAccessor) else a
                for k, a in enumerate(arguments)
            ]
        token = _running.set(place)
        try:
            if not self.takes_item:
                self.function(*arguments)
            else:
                self.function(NdItemView(place) if place.team is not None else ItemView(place), *arguments)
        except Exception as e:
            note(e, f"in {place} of {self.name}")
            raise
        finally:
            _running.reset(token)

    def run(self) -> None:
        try:
            if not self.space.local_range:
                for index in itertools.product(*map(range, self.space.global_range)):
                    self.enter(_Item(self.space, index))
                return
            for group_id in self.space.groups():
                _Team(self, group_id).run()
        finally:
            for companion in self.companions:
                companion.close()


class _Mirror:
    """NumPy arrays for the arrays of a launch: the memory itself on the CPU, a copy that is written back elsewhere."""

    def __init__(self) -> None:
        self.copies: dict[int, tuple[Array, NDArray[Any], NDArray[Any]]] = {}  # the array, its copy, and what the copy was

    def of(self, value: Any) -> Any:
        """What an interpreted kernel gets for an argument."""
        return structs.mapped(value, self.one)

    def one(self, value: Any) -> Any:
        if isinstance(value, Constant):
            return value.value
        if type(value) is not Array:
            return value
        value.wait()
        if value.device._in_host_memory:
            return shared_view(value)
        if id(value) not in self.copies:
            copy = np.empty(value.shape, value.dtype)
            value._copy_to(copy)
            self.copies[id(value)] = (value, copy, copy.copy())
        return self.copies[id(value)][1]

    def write_back(self) -> None:
        for array, copy, before in self.copies.values():
            if copy.tobytes() != before.tobytes():
                array._assign(_core._copy_buffer(copy, copy.dtype, array.queue))


def interpret(
    function: types.FunctionType,
    name: str,
    global_range: Sequence[int],
    local_range: Sequence[int],
    sub_group_size: int,
    takes_item: bool,
    arguments: Sequence[Any],
    race_check: bool,
) -> None:
    """Run a kernel's function as plain Python for all items; what it raises comes from here."""
    space = Space(name, global_range, local_range, sub_group_size)
    mirror = _Mirror()
    watches = races.Memory(name, "item", bool(local_range)) if race_check else None
    launch = _Launch(function, name, space, takes_item, [mirror.of(a) for a in arguments], watches)
    try:
        with np.errstate(all="ignore"):  # integers wrap and divisions by zero give infinities, as in kernels
            launch.run()
    finally:
        mirror.write_back()


def check_rounds(
    function: types.FunctionType, name: str, parameters: Sequence[str], ranges: Sequence[range], arguments: Sequence[Any]
) -> Any:
    """Run a parallel loop as plain Python, and look for races between its iterations; what it returns, and what it raises, comes from here.

    The function takes the iterations, each of them a tuple of counters, and then what the parameters are given.
    """
    watches = races.Memory(name, "iteration", groups=False)
    mirror, rewriter = _Mirror(), Rewriter()
    values = [rewriter.given(mirror.of(a)) for a in arguments]
    given = [watches.watch(v, parameter) for parameter, v in zip(parameters, values, strict=True)]
    space = Space(name, [len(r) for r in ranges], ())

    def iterations() -> Iterator[tuple[int, ...]]:
        for counters in itertools.product(*ranges):
            _running.set(_Item(space, counters))
            yield counters

    before = _running.set(None)
    try:
        with np.errstate(all="ignore"):
            return rewriter.function(function)(iterations(), *given)
    finally:
        _running.reset(before)
        mirror.write_back()
