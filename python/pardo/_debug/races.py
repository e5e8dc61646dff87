# python/pardo/_debug/races.py: race_check: which items touch one element, one of them writing, with nothing between that orders them.
"""How a race is found.

The kernel runs as plain Python (`interpreter`), on arrays that note each access: by which item, of which group, how many barriers that
item had passed, and where in the program. Two accesses of one element by different items have an order only if both items are of one
group and a barrier is between, or if atomics order them; else, if one of the two writes and not both are atomics, they are a race.
Elements are told apart by their addresses, so arguments that share memory are seen too.

The items of a group run up to a barrier before one of them goes on, and groups run one after the other. So it is enough to remember, for
each element and kind of access, two items since the last barrier of the group that runs, and one of another group.

That is so until an atomic releases. From then on items know of each other (vector clocks): what an item has done and knows is left at the
element by an atomic that releases, and taken over by one that acquires and finds it there; a barrier tells all items of a group what each
of them knows. Then all accesses are remembered that are not ordered before a later one; of those that no item can come to know of, one.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo._base.public_names import publish_module
from pardo._compiler.structs import Columns, Struct
from pardo._language.index_space import _running

__all__ = ["RaceError"]

READ, WRITE, ATOMIC = range(3)
_MEETS = {READ: (WRITE, ATOMIC), WRITE: (WRITE, ATOMIC, READ), ATOMIC: (WRITE, READ)}
_DONE = ("read", "written", "changed by an atomic")
_DOES = ("reads", "writes", "changes it by an atomic")


class RaceError(RuntimeError):
    """Two items touch one element, one of them writes, and nothing says which of them is first.

    Launches of kernels, and calls of functions with parallel loops, raise it with ``race_check=True`` or ``PARDO_RACE_CHECK=1``.
    """


class _Access(NamedTuple):
    """What an item did, where it is, and which line did it."""

    item: tuple[int, ...]
    group: tuple[int, ...]  # without groups: the item, which nothing waits for
    epoch: int  # barriers that the item had passed
    kind: int
    array: _Watch
    code: types.CodeType
    instruction: int
    line: int
    clock: int  # how often the item had released something


class _Known:
    """What an item knows to be over: of items their accesses up to a clock, of groups those before a barrier."""

    __slots__ = ("groups", "items")

    def __init__(self) -> None:
        self.items: dict[tuple[int, ...], int] = {}
        self.groups: dict[tuple[int, ...], int] = {}

    def add(self, other: _Known) -> None:
        for mine, theirs in ((self.items, other.items), (self.groups, other.groups)):
            for key, until in theirs.items():
                mine[key] = max(mine.get(key, -1), until)


class Orders:
    """What atomics have ordered in a launch."""

    def __init__(self) -> None:
        self.active = False  # something has been released
        self.clocks: dict[tuple[int, ...], int] = {}
        self.epochs: dict[tuple[int, ...], int] = {}  # of groups: barriers before the last release
        self.known: dict[tuple[int, ...], _Known] = {}
        self.met: dict[tuple[tuple[int, ...], int], _Known] = {}  # at barriers of groups

    def before(self, a: _Access, b: _Access) -> bool:
        """True if `a`, which has happened, is ordered before `b`, which happens now."""
        if a.item == b.item or (a.group == b.group and a.epoch < b.epoch):
            return True
        known = self.known.get(b.item)
        return known is not None and (known.items.get(a.item, -1) >= a.clock or known.groups.get(a.group, -1) > a.epoch)

    def forgotten(self, a: _Access, running: tuple[int, ...]) -> bool:
        """True if no item can come to know of an access any more: its group is done and has not released it."""
        return a.group != running and self.clocks.get(a.item, 0) <= a.clock and self.epochs.get(a.group, -1) <= a.epoch

    def released(self, item: tuple[int, ...], group: tuple[int, ...], epoch: int) -> _Known:
        """What an item leaves to others."""
        self.active = True
        made = _Known()
        if item in self.known:
            made.add(self.known[item])
        made.items[item] = self.clocks.get(item, 0)
        made.groups[group] = epoch
        self.clocks[item] = made.items[item] + 1
        self.epochs[group] = max(self.epochs.get(group, -1), epoch)
        return made

    def acquired(self, item: tuple[int, ...], left: _Known) -> None:
        self.known.setdefault(item, _Known()).add(left)

    def arrives(self, item: tuple[int, ...], group: tuple[int, ...], epoch: int) -> None:
        """An item comes to a barrier of its group."""
        if item in self.known:
            self.met.setdefault((group, epoch), _Known()).add(self.known[item])

    def leaves(self, item: tuple[int, ...], group: tuple[int, ...], epoch: int) -> None:
        if (group, epoch) in self.met:
            self.acquired(item, self.met[group, epoch])


class _Past:
    """Accesses of one kind to one element: as many as tell whether a later one is ordered after all of them."""

    __slots__ = ("elsewhere", "every", "here")

    def __init__(self) -> None:
        self.every: list[_Access] | None = None  # once atomics order: all that count
        self.elsewhere: _Access | None = None  # of a group that ran before
        self.here: list[_Access] = []  # of the last group since its last barrier: by two items at most

    def all_that_count(self) -> list[_Access]:
        if self.every is None:
            self.every = self.here if self.elsewhere is None else [self.elsewhere, *self.here]
        return self.every

    def note(self, a: _Access, orders: Orders) -> None:
        if orders.active:
            later = [other for other in self.all_that_count() if not orders.before(other, a)]
            lost = [other for other in later if orders.forgotten(other, a.group)]
            self.every = [a, *lost[:1], *(other for other in later if other not in lost)]
            return
        if self.here and self.here[0].group != a.group:
            self.elsewhere, self.here = self.here[0], []
        elif self.here and self.here[0].epoch != a.epoch:
            self.here = []
        if len(self.here) < 2 and all(other.item != a.item for other in self.here):
            self.here.append(a)

    def meets(self, a: _Access, orders: Orders) -> _Access | None:
        """One that has no order with `a`."""
        if orders.active:
            return next((other for other in self.all_that_count() if not orders.before(other, a)), None)
        if self.here and self.here[0].group != a.group:
            return self.here[0]
        if self.elsewhere is not None:
            return self.elsewhere
        return next((other for other in self.here if other.epoch == a.epoch and other.item != a.item), None)


class Memory:
    """What was done to the elements of arrays that may share them.

    `name`: of the function; `noun`: what runs in parallel, items or iterations; `groups`: whether items have groups.
    """

    def __init__(self, name: str, noun: str, groups: bool, orders: Orders | None = None) -> None:
        self.name, self.noun, self.groups = name, noun, groups
        self.elements: dict[int, tuple[_Past, _Past, _Past]] = {}
        self.orders = orders or Orders()
        self.left: dict[int, dict[tuple[tuple[int, ...], bool], _Known]] = {}  # at elements: by whom, and whether for its group alone

    def watch(self, value: Any, label: str | None) -> Any:
        """The array as one that notes what is done to it; of tuples and structs the parts, other values as they are."""
        if type(value) is tuple:
            return tuple(self.watch(v, label and f"{label}[{k}]") for k, v in enumerate(value))
        if isinstance(value, Columns):
            return Columns(self.watch(value._values(), label))
        if isinstance(value, Struct):
            fields = iter(value._fields)
            return value._map(lambda v: self.watch(v, label and f"{label}.{next(fields)}"))
        if not isinstance(value, np.ndarray):
            return value
        made = value.view(Watched)
        made._watch = _Watch(self, value, label)
        return made

    def another(self) -> Memory:
        """For arrays that share nothing with these."""
        return Memory(self.name, self.noun, self.groups, self.orders)

    def touch(self, addresses: Iterable[int], access: _Access) -> None:
        for address in addresses:
            past = self.elements.get(address)
            if past is None:
                past = self.elements[address] = (_Past(), _Past(), _Past())
            for kind in _MEETS[access.kind]:
                other = past[kind].meets(access, self.orders)
                if other is not None:
                    raise RaceError(self.message(address, other, access))
            past[access.kind].note(access, self.orders)

    def acquire(self, address: int, scope: str) -> None:
        """The running item takes over what has been left at an element."""
        item = _running.get()
        for (group, alone), known in self.left.get(address, {}).items():
            if group == _group(item) or not (alone or scope == "work_group"):
                self.orders.acquired(item.global_id, known)

    def release(self, address: int, scope: str, anew: bool) -> None:
        """The running item leaves what it has done and knows at an element; `anew`: in place of what others have left."""
        item = _running.get()
        group = _group(item)
        left = {} if anew else self.left.get(address, {})
        left.setdefault((group, scope == "work_group"), _Known()).add(self.orders.released(item.global_id, group, item.epoch))
        self.left[address] = left

    # --- what users read

    def message(self, address: int, a: _Access, b: _Access) -> str:
        what, first = b.array.element(address), a.array.element(address)
        shared = "" if what == first else f", the same element as `{first}`,"
        by = f"by {self.described(a)} and {'' if a.kind == b.kind else _DONE[b.kind] + ' '}by {self.described(b)}"
        text = f"{self.name}: `{what}`{shared} is {_DONE[a.kind]} {by}, and nothing says which is first: {self.advice(a, b)}"
        return text + self.shown(a) + self.shown(b)

    def advice(self, a: _Access, b: _Access) -> str:
        atomic = "use pardo.atomic" + (" in both places" if ATOMIC in (a.kind, b.kind) else "")
        if self.groups and a.group == b.group:
            return f"write pardo.group_barrier() between the two, or {atomic}"
        if self.groups:
            return f"items of different groups never wait for each other; give each group elements of its own, or {atomic}"
        if self.noun == "iteration":
            return f"iterations of a parallel loop run in parallel; give each elements of its own, reduce into a name, or {atomic}"
        return f"items of a Range never wait for each other; give each elements of its own, or {atomic}"

    def described(self, a: _Access) -> str:
        return f"{self.noun} {a.item[0] if len(a.item) == 1 else a.item}"

    def shown(self, a: _Access) -> str:
        """The line of an access, with a caret under the expression."""
        file = a.code.co_filename
        text = f'\n  File "{file}", line {a.line}, in {a.code.co_name}: {self.described(a)} {_DOES[a.kind]}'
        line = linecache.getline(file, a.line).rstrip("\n")
        if not line.strip():
            return text
        text += f"\n    {line.strip()}"
        first, last, start, end = list(a.code.co_positions())[a.instruction // 2]
        if first != a.line or last != a.line or start is None or end is None or not line.isascii():
            return text
        return f"{text}\n    {' ' * (start - len(line) + len(line.lstrip()))}{'^' * (end - start)}"


class _Watch:
    """An array whose elements are watched: an argument, or memory of a group. `label`: what the user calls it; None: it is looked up."""

    __slots__ = ("array", "label", "memory", "span")

    def __init__(self, memory: Memory, array: NDArray[Any], label: str | None) -> None:
        self.memory, self.array, self.label = memory, array, label
        self.span = range(*np.lib.array_utils.byte_bounds(array))

    def touch(self, addresses: NDArray[np.int64], kind: int) -> None:
        item = _running.get()
        if item is None:
            return
        frame = _user_frame()
        if self.label is None:
            self.label = next((n for n, v in frame.f_locals.items() if isinstance(v, Watched) and v._watch is self), "local_array")
        clock = self.memory.orders.clocks.get(item.global_id, 0)
        access = _Access(item.global_id, _group(item), item.epoch, kind, self, frame.f_code, frame.f_lasti, frame.f_lineno, clock)
        self.memory.touch((a for a in addresses.ravel().tolist() if a in self.span), access)

    def element(self, address: int) -> str:
        """What the element at an address is called."""
        index = np.argwhere(_addresses(self.array) == address)
        return f"{self.label}[{', '.join(map(str, index[0]))}]" if len(index) else f"{self.label}"


def _group(item: Any) -> tuple[int, ...]:
    """The group of a running item; without groups the item itself."""
    return item.global_id if item.team is None else item.team.group_id  # type: ignore[no-any-return]


def _user_frame() -> types.FrameType:
    """The frame of the innermost function that is the user's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("numpy", "pardo"):
        frame = frame.f_back
    return frame


def _addresses(array: NDArray[Any]) -> NDArray[np.int64]:
    """Where each element begins."""
    out = np.asarray(array.__array_interface__["data"][0], np.int64)
    for extent, stride in zip(array.shape, array.strides, strict=True):
        out = out[..., None] + stride * np.arange(extent)
    return out


def _is_basic(index: Any) -> bool:
    """True for indices that give elements and views, not copies."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        p is None or p is Ellipsis or (isinstance(p, (int, np.integer, slice)) and not isinstance(p, (bool, np.bool_))) for p in parts
    )


class Watched(np.ndarray[Any, Any]):
    """NumPy's array as kernels see it with race_check: it notes which elements are read and written."""

    _watch: _Watch | None

    def __array_finalize__(self, made_from: Any) -> None:
        self._watch = getattr(made_from, "_watch", None)

    def _unwatched(self) -> NDArray[Any]:
        return self.view(np.ndarray)

    def touch(self, index: Any, kind: int) -> None:
        """Note an access to what an index names."""
        if self._watch is None:
            return
        plain = self.view(np.ndarray)
        if _is_basic(index):
            parts = index if isinstance(index, tuple) else (index,)
            whole = any(p is Ellipsis for p in parts)
            self._watch.touch(_addresses(plain[index if whole else (*parts, Ellipsis)]), kind)
        else:
            self._watch.touch(_addresses(plain)[index], kind)

    def atomic(self, index: Any, does: str, order: str, scope: str) -> None:
        """Note an atomic, and what it orders. `does`: load, store, or change."""
        if self._watch is None or _running.get() is None:
            self.touch(index, ATOMIC)
            return
        memory, parts = self._watch.memory, index if isinstance(index, tuple) else (index,)
        address = int(_addresses(self.view(np.ndarray)[(*parts, Ellipsis)]))
        if does != "store" and order in ("acquire", "acq_rel", "seq_cst"):
            memory.acquire(address, scope)
        self.touch(index, ATOMIC)
        if does != "load" and order in ("release", "acq_rel", "seq_cst"):
            memory.release(address, scope, anew=does == "store")
        elif does == "store":
            memory.left.pop(address, None)

    def __getitem__(self, index: Any) -> Any:
        found = self.view(np.ndarray)[index]
        if isinstance(found, np.ndarray) and _is_basic(index):
            part = found.view(Watched)
            part._watch = self._watch
            return part  # nothing is touched yet
        self.touch(index, READ)
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        value = _read(value)
        self.touch(index, WRITE)
        self.view(np.ndarray)[index] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **keywords: Any) -> Any:
        """Whole arrays: all elements of what goes in are read, all of `out` are written; results are new."""
        given = [_read(value) for value in inputs]
        options = {name: _read(value) for name, value in keywords.items()}
        if not out:
            return getattr(ufunc, method)(*given, **options)
        for o in out:
            if isinstance(o, Watched):
                o.touch(Ellipsis, WRITE)
        getattr(ufunc, method)(*given, out=tuple(o.view(np.ndarray) if isinstance(o, Watched) else o for o in out), **options)
        return out[0] if len(out) == 1 else out


def _read(value: Any) -> Any:
    """A value that is used; all elements of a watched array are read."""
    if not isinstance(value, Watched):
        return value
    value.touch(Ellipsis, READ)
    return value.view(np.ndarray)


publish_module(globals(), "pardo")
