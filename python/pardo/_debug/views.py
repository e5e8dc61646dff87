# python/pardo/_debug/views.py: items, groups and sub-groups as interpreted kernels get them.
from __future__ import annotations

import math
from typing import Any

from pardo._debug.places import Place
from pardo._language.index_space import Group, Item, NdItem, SubGroup


def _id(what: str, op_name: str) -> Any:
    """The method that gives numbers of one kind in one dimension."""

    def get(self: Any, dimension: int | None = None) -> int:
        return self._place.at(what, op_name, dimension)  # type: ignore[no-any-return]

    get.__name__ = op_name
    return get


def _linear(what: str, size: str, op_name: str) -> Any:
    """The method that gives a number in row-major order."""

    def get(self: Any) -> int:
        return self._place.linear(what, size, op_name)  # type: ignore[no-any-return]

    get.__name__ = op_name
    return get


def _product(size: str, op_name: str) -> Any:
    """The method that gives how many there are in all dimensions."""

    def get(self: Any) -> int:
        return math.prod(self._place.numbers(size, op_name))

    get.__name__ = op_name
    return get


class _View:
    """What an item knows: the beginning of the objects that kernels get."""

    __slots__ = ("_place",)

    def __init__(self, place: Place) -> None:
        self._place = place

    @property
    def dimensions(self) -> int:
        return self._place.space.rank


class ItemView(_View, Item):
    get_id = _id("global_id", "get_id")
    get_range = _id("global_range", "get_range")
    get_linear_id = _linear("global_id", "global_range", "get_linear_id")
    get_linear_range = _product("global_range", "get_linear_range")

    def __getitem__(self, dimension: int) -> int:
        return self.get_id(dimension)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Item{self._place.global_id}"


class NdItemView(_View, NdItem):
    get_global_id = _id("global_id", "get_global_id")
    get_local_id = _id("local_id", "get_local_id")
    get_group_id = _id("group_id", "get_group_id")
    get_global_range = _id("global_range", "get_global_range")
    get_local_range = _id("local_range", "get_local_range")
    get_group_range = _id("group_range", "get_group_range")
    get_global_linear_id = _linear("global_id", "global_range", "get_global_linear_id")
    get_local_linear_id = _linear("local_id", "local_range", "get_local_linear_id")
    get_group_linear_id = _linear("group_id", "group_range", "get_group_linear_id")
    get_global_linear_range = _product("global_range", "get_global_linear_range")
    get_local_linear_range = _product("local_range", "get_local_linear_range")
    get_group_linear_range = _product("group_range", "get_group_linear_range")
    get_id, get_range, get_linear_id, get_linear_range = (
        ItemView.get_id,
        ItemView.get_range,
        ItemView.get_linear_id,
        ItemView.get_linear_range,
    )

    def get_group(self) -> Group:
        return _GroupView(self._place)

    def get_sub_group(self) -> SubGroup:
        self._place.in_group("get_sub_group")
        return _SubGroupView(self._place)

    def __getitem__(self, dimension: int) -> int:
        return self.get_global_id(dimension)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"NdItem{self._place.global_id}"


class _GroupView(_View, Group):
    get_group_id = _id("group_id", "get_group_id")
    get_local_id = _id("local_id", "get_local_id")
    get_group_range = _id("group_range", "get_group_range")
    get_local_range = _id("local_range", "get_local_range")
    get_group_linear_id = _linear("group_id", "group_range", "get_group_linear_id")
    get_group_linear_range = _product("group_range", "get_group_linear_range")
    get_local_linear_id = _linear("local_id", "local_range", "get_local_linear_id")
    get_local_linear_range = _product("local_range", "get_local_linear_range")

    def leader(self) -> bool:
        return not any(self._place.local_id)

    def __repr__(self) -> str:
        return f"Group{self._place.in_group('Group')}"


class _SubGroupView(_View, SubGroup):
    @property
    def dimensions(self) -> int:
        return 1

    def get_local_id(self) -> int:
        return self._place.sub_group()[1]

    def get_local_range(self) -> int:
        return self._place.sub_group()[2]

    def get_max_local_range(self) -> int:
        return min(self._place.space.sub_group_size, math.prod(self._place.space.local_range))

    def get_group_id(self) -> int:
        return self._place.sub_group()[0]

    def get_group_range(self) -> int:
        return -(-math.prod(self._place.space.local_range) // self._place.space.sub_group_size)

    def leader(self) -> bool:
        return self.get_local_id() == 0

    get_local_linear_id, get_local_linear_range = get_local_id, get_local_range
    get_group_linear_id, get_group_linear_range = get_group_id, get_group_range

    def __repr__(self) -> str:
        return f"SubGroup({self.get_group_id()})"
