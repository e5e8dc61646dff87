# python/pardo/_debug/places.py: index spaces of interpreted launches, and where one item is in them.
from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any


class Space:
    """The index space of a launch."""

    __slots__ = ("global_range", "group_range", "local_range", "rank", "sub_group_size")

    def __init__(self, name: str, global_range: Sequence[int], local_range: Sequence[int], sub_group_size: int = 0) -> None:
        self.sub_group_size = sub_group_size
        self.rank = len(global_range)
        self.global_range = tuple(global_range)
        self.local_range = tuple(local_range)
        if local_range and len(local_range) != self.rank:
            raise ValueError(f"{name}: the global range has {self.rank} dimensions, the local one {len(local_range)}")
        for d, (items, size) in enumerate(zip(global_range, local_range, strict=False)):
            if size == 0 or items % size:
                raise ValueError(
                    f"{name}: the global range, {items} items in dimension {d}, is not a multiple of the local one, {size}; round it up, "
                    "and let items beyond the end do nothing"
                )
        self.group_range = tuple(n // size for n, size in zip(global_range, local_range, strict=False))

    def groups(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*map(range, self.group_range))

    def dimension(self, op_name: str, d: Any) -> int:
        if d is None:
            if self.rank == 1:
                return 0
            raise TypeError(f"{op_name}: the range has {self.rank} dimensions; say which one, from 0")
        number = operator.index(d)
        if not -self.rank <= number < self.rank:
            plural = "" if self.rank == 1 else "s"
            raise IndexError(f"{op_name}: the range has {self.rank} dimension{plural}, there is no dimension {number}")
        return number % self.rank


class Place:
    """Where one item is; what `pardo.get_global_id` and its like ask while the item runs."""

    __slots__ = ("global_id", "group_id", "local_id", "space")

    def __init__(
        self, space: Space, global_id: tuple[int, ...], local_id: tuple[int, ...] = (), group_id: tuple[int, ...] | None = None
    ) -> None:
        self.space, self.global_id, self.local_id = space, global_id, local_id
        self.group_id = group_id  # None in a plain Range

    def __str__(self) -> str:
        return f"item {self.global_id[0] if len(self.global_id) == 1 else self.global_id}"

    def in_group(self, op_name: str) -> tuple[int, ...]:
        """The number of its group; a TypeError in a plain Range."""
        if self.group_id is None:
            raise TypeError(f"{op_name}: a plain Range has no groups; launch the kernel over an NdRange")
        return self.group_id

    def numbers(self, what: str, op_name: str) -> tuple[int, ...]:
        if what == "group_id":
            return self.in_group(op_name)
        if what in ("local_range", "group_range"):
            self.in_group(op_name)
        elif what == "local_id":
            self.in_group(op_name)
            return self.local_id
        return self.global_id if what == "global_id" else getattr(self.space, what)

    def at(self, what: str, op_name: str, dimension: int | None) -> int:
        return self.numbers(what, op_name)[self.space.dimension(op_name, dimension)]

    def linear(self, what: str, size: str, op_name: str) -> int:
        """A number in row-major order."""
        total = 0
        for n, extent in zip(self.numbers(what, op_name), self.numbers(size, op_name), strict=True):
            total = total * extent + n
        return total

    def sub_group(self) -> tuple[int, int, int]:
        """The number of the sub-group, that of the item in it, and how many items it has."""
        size, items = self.space.sub_group_size, math.prod(self.space.local_range)
        place = self.linear("local_id", "local_range", "get_sub_group")
        return place // size, place % size, min(size, items - place // size * size)
