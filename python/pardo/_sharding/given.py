# python/pardo/_sharding/given.py: operands of the algorithms: split arrays, and values that each part has whole.
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from pardo import _core
from pardo._core import Array
from pardo._sharding.array import ShardedArray
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout
from pardo._sharding.operands import is_number, spread, values


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
        made: dict[int, Array] = spread(value, group, Layout(value.shape, None, (), group.keys), op_name)
        return made
    host = np.asarray(value if is_number(value) else values(value, op_name))
    return {p: _core._host_operand(host, group.queue(p), op_name, False) for p in group.owned}
