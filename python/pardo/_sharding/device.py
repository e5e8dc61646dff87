# python/pardo/_sharding/device.py: what `x.device` of an array over several devices is, and what `device=` accepts.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pardo._base.public_names import publish_module
from pardo._sharding.group import Group

__all__ = ["ShardedDevice"]


class ShardedDevice:
    """Several devices, in an order, over which arrays are split.

    ``x.device`` of a `ShardedArray` is one. Functions that make arrays take it as `device`. Two are equal if they have the same devices in
    the same order, and the same weights.

    Attributes
    ----------
    devices : tuple of Device
        The devices, in the order of the parts.
    weights : tuple of float or None
        The shares of the parts, or None where all are equal.

    See Also
    --------
    shard, ShardedArray

    Examples
    --------
    >>> import pardo as pp
    >>> s = pp.shard([1.0, 2.0], ["cpu"])
    >>> s.device
    ShardedDevice(['cpu:0'])
    >>> pp.zeros(2, device=s.device) + s
    ShardedArray([1., 2.])
    """

    __slots__ = ("__weakref__", "_group")

    def __init__(self, group: Group) -> None:
        self._group = group

    @property
    def group(self) -> Group:
        """The parts' places, and what is exchanged between them."""
        return self._group

    @property
    def devices(self) -> tuple[Any, ...]:
        """The devices, in the order of the parts."""
        return self._group.keys

    @property
    def weights(self) -> tuple[float, ...] | None:
        """The shares of the parts, or None where all are equal."""
        return self._group.weights

    @property
    def names(self) -> tuple[str, ...]:
        """The ids of the devices."""
        return tuple(map(self._group.name, range(self._group.size)))

    @property
    def id(self) -> str:
        """The ids of the devices, with commas between them."""
        return ",".join(self.names)

    def __len__(self) -> int:
        return self._group.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self._group.keys)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShardedDevice):
            return NotImplemented
        return self._group is other._group or (self._group.keys == other._group.keys and self._group.weights == other._group.weights)

    def __hash__(self) -> int:
        return hash((self._group.keys, self._group.weights))

    def __repr__(self) -> str:
        weights = f", weights={list(self.weights)}" if self.weights is not None else ""
        return f"ShardedDevice([{', '.join(map(repr, self.names))}]{weights})"

    def __str__(self) -> str:
        return self.id


publish_module(globals(), "pardo")
