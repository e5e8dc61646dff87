# python/pardo/_sharding/group.py: the places of the parts, and all that goes from one part to another.
from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pardo._core import Array, Device, Queue, _empty, _reached_in_place

T = TypeVar("T")
Combine = Callable[[Array, Array], Array]
Pair = tuple[int, int]
Index = tuple[slice, ...]
Described = tuple[tuple[int, ...], Any]  # shape and dtype of what arrives


SHORT_ROWS = 2048  # bytes: drivers copy shorter ones slowly, so they are packed first
FEW = 4  # parts, up to which each gets the partial results of all others
BESIDE = 1 << 20  # bytes of a copy that is worth a queue of its own


class Group(abc.ABC):
    """The parts' places. An algorithm touches the parts that are `owned`, those of this process, and nothing else; what it needs of others
    it asks the group for. All processes of a group call its methods in the same order.

    Attributes
    ----------
    size : int
        How many parts there are.
    owned : tuple of int
        The parts of this process, in ascending order.
    keys : tuple
        What tells the places apart: hashable, the same in all processes.
    weights : tuple of float, or None
        The parts' shares where bounds are not given; None: all are equal.
    """

    size: int
    owned: tuple[int, ...]
    keys: tuple[Any, ...]
    weights: tuple[float, ...] | None
    _alike: bool | None = None  # as `alike`, where it is known

    @abc.abstractmethod
    def queue(self, part: int) -> Queue:
        """The queue of an owned part."""

    @abc.abstractmethod
    def device(self, part: int) -> Device:
        """The device of an owned part; it remembers the queue if that is not the canonical one."""

    @abc.abstractmethod
    def name(self, part: int) -> str:
        """What messages call the place of any part: 'cuda:1'."""

    @abc.abstractmethod
    def exchange(self, pieces: Mapping[Pair, Array], shapes: Mapping[Pair, Described]) -> dict[Pair, Array]:
        """Send arrays from parts to others.

        `pieces` has those of owned sources, by (source, destination); `shapes` tells what arrives at owned destinations, by the same pairs:
        a shape and a dtype. What arrives at owned destinations is returned, on their queues. Nothing is copied from a part to itself.
        """

    def lend(self, pieces: Mapping[Pair, Array], shapes: Mapping[Pair, Described]) -> dict[Pair, Array]:
        """As `exchange`, for library routines that read each piece once: those that they reach where they are may stay there, on the queue
        of the source. Nobody writes to the pieces afterwards."""
        return self.exchange(pieces, shapes)

    def place(
        self, pieces: Mapping[Pair, Array], where: Mapping[Pair, Index], shapes: Mapping[Pair, Described], wholes: Mapping[int, Described]
    ) -> dict[int, Array]:
        """Send arrays as `exchange` does, and put what arrives where it belongs: an array a destination, of the shape and dtype that
        `wholes` says. `where` has the indices of what arrives at owned destinations; together they cover each array."""
        arrived = self.exchange(pieces, shapes)
        made = {q: _empty(list(shape), dtype, self.queue(q)) for q, (shape, dtype) in wholes.items()}
        for pair, index in where.items():
            made[pair[1]][index] = arrived[pair]
        return made

    @abc.abstractmethod
    def all_gather(self, values: Mapping[int, Any]) -> list[Any]:
        """Small values of the host, one a part, in the order of the parts: numbers, texts, dtypes, errors."""

    @abc.abstractmethod
    def all_gather_arrays(self, parts: Mapping[int, Array]) -> dict[int, list[Array]]:
        """The arrays of all parts, in their order, on the queue of each owned part. They may have different shapes."""

    @abc.abstractmethod
    def all_reduce(self, parts: Mapping[int, Array], combine: Combine) -> dict[int, Array]:
        """``combine(combine(part 0, part 1), part 2)`` and so on, with the same bits on the queue of each owned part."""

    @abc.abstractmethod
    def broadcast(self, value: Array | None, root: int, described: Described) -> dict[int, Array]:
        """The array of part `root` on the queue of each owned part; `value` is None where that part is not owned."""

    def fold(
        self, parts: Mapping[int, tuple[Array, ...]], combine: Callable[[Any, Any], Any], among: Sequence[int]
    ) -> dict[int, tuple[Array, ...]]:
        """As `all_reduce`, of tuples of arrays, and only of the parts `among` all, which are in ascending order; the others take the result
        alone, and give arrays that are not looked at. `combine` takes two tuples and gives one."""
        columns = [self.all_gather_arrays({p: values[i] for p, values in parts.items()}) for i in range(len(parts[self.owned[0]]))]
        results = {}
        for p in self.owned:
            total = tuple(column[p][among[0]] for column in columns)
            for q in among[1:]:
                total = combine(total, tuple(column[p][q] for column in columns))
            results[p] = total
        return results

    def _combined(
        self, parts: Mapping[int, tuple[Array, ...]], combine: Callable[[Any, Any], Any], among: Sequence[int], there: int
    ) -> tuple[Array, ...]:
        """What a part combines of arrays of this process, in the order of `among`."""
        total = tuple(self._on(x, there) for x in parts[among[0]])
        for p in among[1:]:
            total = combine(total, tuple(self._on(x, there) for x in parts[p]))
        return total

    def _on(self, x: Array, part: int) -> Array:
        """The array on the queue of an owned part."""
        queue = self.queue(part)
        return x if x.queue == queue else x._to_queue(queue)

    @property
    def alike(self) -> bool:
        """Whether the devices of all parts round alike: those of one name and driver, and parts of one device."""
        if self._alike is None:  # no cached_property: before Python 3.12 all groups would wait for one that asks others
            self._alike = len(set(self.all_gather({p: facts_of(self.device(p)) for p in self.owned}))) == 1
        return self._alike

    def together(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives in this process. If it fails in one of several, it fails in all."""
        return make()

    def gather(self, parts: Mapping[int, Array], queue: Queue) -> list[Array] | None:
        """The arrays of all parts, in their order, on one queue of this process."""
        everywhere = self.all_gather_arrays(parts)
        return [x._to_queue(queue) if x.queue != queue else x for x in everywhere[self.owned[0]]]


class LocalGroup(Group):
    """All parts are in this process: copies are recorded, device to device."""

    def __init__(self, queues: Sequence[Queue], weights: Sequence[float] | None = None) -> None:
        self.queues = tuple(queues)
        self.size = len(self.queues)
        self.owned = tuple(range(self.size))
        self.keys = tuple(_device_of(q) for q in self.queues)
        self.weights = None if weights is None else tuple(weights)
        self._couriers: dict[int, Queue] = {}

    def queue(self, part: int) -> Queue:
        return self.queues[part]

    def device(self, part: int) -> Device:
        return self.keys[part]  # type: ignore[no-any-return]

    def name(self, part: int) -> str:
        return str(self.keys[part].id)

    def exchange(self, pieces: Mapping[Pair, Array], shapes: Mapping[Pair, Described]) -> dict[Pair, Array]:
        return {pair: self._on(x, pair[1]) for pair, x in pieces.items()}

    def lend(self, pieces: Mapping[Pair, Array], shapes: Mapping[Pair, Described]) -> dict[Pair, Array]:
        return {(p, q): x if _reached_in_place(x, self.queues[q]) else self._on(x, q) for (p, q), x in pieces.items()}

    def place(
        self, pieces: Mapping[Pair, Array], where: Mapping[Pair, Index], shapes: Mapping[Pair, Described], wholes: Mapping[int, Described]
    ) -> dict[int, Array]:
        made = {q: _empty(list(shape), dtype, self.queues[q]) for q, (shape, dtype) in wholes.items()}
        for (p, q), index in where.items():
            x, room = pieces[p, q], made[q][index]
            if self.queues[p] == self.queues[q]:
                room[...] = x
            elif x.size and x.shape[-1] * x.itemsize >= SHORT_ROWS:
                self._courier(p, q, x.nbytes).copy(room, x)  # straight to where it belongs
            else:
                room[...] = x._to_queue(self.queues[q])
        return made

    def _courier(self, p: int, q: int, size: int) -> Queue:
        """The queue of a copy from part p to part q: one beside q's own if the devices differ, so that large copies and work overlap."""
        if size < BESIDE or self.keys[p].without_queue == self.keys[q].without_queue:
            return self.queues[q]
        if q not in self._couriers:
            self._couriers[q] = Queue(self.queues[q].device)
        return self._couriers[q]

    def all_gather(self, values: Mapping[int, Any]) -> list[Any]:
        return [values[p] for p in self.owned]

    def all_gather_arrays(self, parts: Mapping[int, Array]) -> dict[int, list[Array]]:
        return {p: [self._on(parts[q], p) for q in self.owned] for p in self.owned}

    def all_reduce(self, parts: Mapping[int, Array], combine: Combine) -> dict[int, Array]:
        totals = self.fold({p: (x,) for p, x in parts.items()}, lambda a, b: (combine(a[0], b[0]),), self.owned)
        return {p: total for p, (total,) in totals.items()}

    def fold(
        self, parts: Mapping[int, tuple[Array, ...]], combine: Callable[[Any, Any], Any], among: Sequence[int]
    ) -> dict[int, tuple[Array, ...]]:
        if self._combine_everywhere:
            return {p: self._combined(parts, combine, among, p) for p in self.owned}
        total = self._combined(parts, combine, among, among[0])
        return {p: tuple(self._on(x, p) for x in total) for p in self.owned}

    @functools.cached_property
    def _combine_everywhere(self) -> bool:
        """Whether each part combines for itself: copies go all at once then, and devices that round alike give the same bits. Parts of the
        host's processor would wake each other's threads once more."""
        several = 1 < self.size <= FEW and len({d.without_queue for d in self.keys}) == self.size
        return several and self.keys[0].type == "gpu" and self.alike

    def broadcast(self, value: Array | None, root: int, described: Described) -> dict[int, Array]:
        assert value is not None
        return {p: self._on(value, p) for p in self.owned}

    def gather(self, parts: Mapping[int, Array], queue: Queue) -> list[Array] | None:
        return [parts[p] if self.queues[p] == queue else parts[p]._to_queue(queue) for p in self.owned]


def facts_of(device: Device) -> tuple[str, str, str]:
    """Devices for which these are the same round alike."""
    return str(device.platform), device.backend, device.name


def _device_of(queue: Queue) -> Device:
    """The device as arrays on that queue have it."""
    return _empty([0], None, queue).device
