# python/pardo/_sharding/group.py: the places of the parts, and all that goes from one part to another.
from __future__ import annotations

import abc
import collections
import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pardo._core import Array, Device, Event, Queue, _empty

T = TypeVar("T")
Combine = Callable[[Array, Array], Array]
Pair = tuple[int, int]
Described = tuple[tuple[int, ...], Any]  # shape and dtype of what arrives


_AHEAD = 2  # steps of a loop that are handed over before one is waited for


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

    def pace(self, parts: Mapping[int, Array]) -> None:
        """Hand over what computes the owned parts, and wait for what was handed over some calls ago: so a loop that exchanges pieces at
        each step is not recorded far ahead, with memory for all its steps. Failures are raised where values are used."""
        begun = []
        for x in parts.values():
            try:
                x.force()
                begun.append(x.event)
            except Exception:
                continue
        self._begun.append(begun)
        if len(self._begun) > _AHEAD:
            for event in self._begun.popleft():
                with contextlib.suppress(Exception):
                    event.wait()

    @functools.cached_property
    def _begun(self) -> collections.deque[list[Event]]:
        return collections.deque()

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

    def queue(self, part: int) -> Queue:
        return self.queues[part]

    def device(self, part: int) -> Device:
        return self.keys[part]  # type: ignore[no-any-return]

    def name(self, part: int) -> str:
        return str(self.keys[part].id)

    def exchange(self, pieces: Mapping[Pair, Array], shapes: Mapping[Pair, Described]) -> dict[Pair, Array]:
        return {pair: self._on(x, pair[1]) for pair, x in pieces.items()}

    def all_gather(self, values: Mapping[int, Any]) -> list[Any]:
        return [values[p] for p in self.owned]

    def all_gather_arrays(self, parts: Mapping[int, Array]) -> dict[int, list[Array]]:
        return {p: [self._on(parts[q], p) for q in self.owned] for p in self.owned}

    def all_reduce(self, parts: Mapping[int, Array], combine: Combine) -> dict[int, Array]:
        total = parts[0]
        for p in self.owned[1:]:
            total = combine(total, self._on(parts[p], 0))
        return {p: self._on(total, p) for p in self.owned}

    def fold(
        self, parts: Mapping[int, tuple[Array, ...]], combine: Callable[[Any, Any], Any], among: Sequence[int]
    ) -> dict[int, tuple[Array, ...]]:
        root = among[0]
        total = parts[root]
        for p in among[1:]:
            total = combine(total, tuple(self._on(x, root) for x in parts[p]))
        return {p: tuple(self._on(x, p) for x in total) for p in self.owned}

    def broadcast(self, value: Array | None, root: int, described: Described) -> dict[int, Array]:
        assert value is not None
        return {p: self._on(value, p) for p in self.owned}

    def gather(self, parts: Mapping[int, Array], queue: Queue) -> list[Array] | None:
        return [parts[p] if self.queues[p] == queue else parts[p]._to_queue(queue) for p in self.owned]

    def _on(self, x: Array, part: int) -> Array:
        queue = self.queues[part]
        return x if x.queue == queue else x._to_queue(queue)


def _device_of(queue: Queue) -> Device:
    """The device as arrays on that queue have it."""
    return _empty([0], None, queue).device
