# python/pardo/_sharding.given.py: what the algorithms are given: split arrays, and values that each part has whole.
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import SCALARS
from pardo._core import Array, ExecutionPlacementError
from pardo._sharding.array import ShardedArray
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout


def group_of(op_name: str, *values: Any) -> Group:
    """The group of the split arrays among values; they all have the same one."""
    groups = [x.group for x in values if isinstance(x, ShardedArray)]
    for other in groups[1:]:
        if other is not groups[0] and other.keys != groups[0].keys:
            names = [", ".join(map(g.name, range(g.size))) for g in (groups[0], other)]
            raise ExecutionPlacementError(
                f"{op_name}: operands are split over different devices, [{names[0]}] and [{names[1]}]: use s.reshard or pardo.shard"
            )
    return groups[0]


class Operand:
    """An argument of a function of several arrays: a split array, or a value that each part has whole."""

    __slots__ = ("dtype", "group", "layout", "parts", "shape")

    def __init__(self, value: Any, group: Group, op_name: str) -> None:
        self.group = group
        self.layout: Layout | None = None
        self.parts: Mapping[int, Array]
        if isinstance(value, ShardedArray):
            self.parts = value._parts
            self.layout = None if value.layout.axis is None else value.layout
        else:
            self.parts = replicas(value, group, op_name)
        any_part = self.parts[group.owned[0]]
        self.dtype = any_part.dtype
        self.shape: tuple[int, ...] = any_part.shape if self.layout is None else self.layout.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def replicas(value: Any, group: Group, op_name: str) -> dict[int, Array]:
    """A value on each owned part: an array of one of the group's devices, or a value of the host."""
    if isinstance(value, Array):
        if not any(value.queue == group.queue(p) for p in group.owned):
            names = ", ".join(map(group.name, range(group.size)))
            raise ExecutionPlacementError(
                f"{op_name}: an operand is on {value.device}, which is none of the devices [{names}]: use x.to_device"
            )
        return {p: value if value.queue == group.queue(p) else value._to_queue(group.queue(p)) for p in group.owned}
    if isinstance(value, (*SCALARS, bool, int, float, complex)):
        value = np.asarray(value)
    return {p: _core._host_operand(value, group.queue(p), op_name, False) for p in group.owned}


def whole_numbers(value: Any, op_name: str) -> Sequence[int]:
    return [int(v) for v in value]
