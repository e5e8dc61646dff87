# python/pardo/_sharding/layout.py: how an array is split: along which axis, at which bounds, over how many parts.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Layout:
    """Which part of an array of a shape each device has.

    Attributes
    ----------
    shape : tuple of int
        Of the whole array.
    axis : int or None
        The axis that is split; None: each part has the whole array.
    bounds : tuple of int
        One more than there are parts, and not decreasing: part p has the indices ``bounds[p]`` to ``bounds[p + 1]`` of the axis. Empty if
        `axis` is None.
    devices : tuple
        What tells the parts' places apart, one a part: `Group.keys`.
    """

    __slots__ = ("_hash", "axis", "bounds", "devices", "shape")
    shape: tuple[int, ...]
    axis: int | None
    bounds: tuple[int, ...]
    devices: tuple[Any, ...]
    _hash: int | None

    def __init__(self, shape: Sequence[int], axis: int | None, bounds: Sequence[int], devices: Sequence[Any]) -> None:
        put = object.__setattr__
        put(self, "shape", tuple(shape))
        put(self, "axis", axis)
        put(self, "bounds", tuple(bounds) if axis is not None else ())
        put(self, "devices", devices if type(devices) is tuple else tuple(devices))
        put(self, "_hash", None)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Layout: {name} cannot be set; make another one")

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.devices)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def replicated(self) -> bool:
        """Whether each part has the whole array."""
        return self.axis is None

    def extent(self, part: int) -> slice:
        """The indices of the split axis that a part has; all where nothing is split."""
        return slice(None) if self.axis is None else slice(self.bounds[part], self.bounds[part + 1])

    def piece(self, x: Any, part: int) -> Any:
        """What a part has of the whole array: a view, or the array itself where nothing is split."""
        return x if self.axis is None else x[along(self.axis, self.bounds[part], self.bounds[part + 1])]

    def length(self, part: int) -> int:
        """How many indices of the split axis a part has."""
        if self.axis is None:
            raise ValueError("Layout: nothing is split")
        return self.bounds[part + 1] - self.bounds[part]

    def local_shape(self, part: int) -> tuple[int, ...]:
        """The shape of a part."""
        if self.axis is None:
            return self.shape
        return (*self.shape[: self.axis], self.bounds[part + 1] - self.bounds[part], *self.shape[self.axis + 1 :])

    def owner(self, index: int) -> int:
        """The part that has an index of the split axis."""
        if self.axis is None:
            return 0
        return int(np.searchsorted(self.bounds, index, side="right")) - 1

    def with_axis(self, axis: int | None, bounds: Sequence[int] | None = None) -> Layout:
        """The same array split along another axis, at bounds that are balanced if none are given."""
        if axis is None:
            return Layout(self.shape, None, (), self.devices)
        given = balanced_bounds(self.shape[axis], [1] * self.parts) if bounds is None else bounds
        return Layout(self.shape, axis, given, self.devices)

    def with_shape(self, shape: Sequence[int]) -> Layout:
        """The same split of an array of another shape, whose split axis is as long."""
        return Layout(shape, self.axis, self.bounds, self.devices)

    def same_split(self, other: Layout) -> bool:
        """Whether the same indices of the same axis are on the same devices, whatever the other extents are."""
        return self is other or (self.axis == other.axis and self.bounds == other.bounds and self.devices == other.devices)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Layout):
            return NotImplemented
        return self.shape == other.shape and self.same_split(other)

    def __hash__(self) -> int:
        if self._hash is not None:
            return self._hash
        made = hash((self.shape, self.axis, self.bounds, self.devices))
        object.__setattr__(self, "_hash", made)
        return made

    def __repr__(self) -> str:
        return f"Layout({self.shape}, axis={self.axis}, bounds={self.bounds}, devices=({', '.join(map(str, self.devices))}))"


def along(axis: int, start: int, stop: int) -> tuple[slice, ...]:
    """The index of some indices of an axis."""
    return (*(slice(None),) * axis, slice(start, stop))


def balanced_bounds(n: int, weights: Sequence[float]) -> tuple[int, ...]:
    """The bounds at which `n` indices are split by weights: each part has its share, rounded; the same weights give the same bounds."""
    total = sum(weights)
    sums, bounds = 0.0, [0]
    exact = all(float(w).is_integer() for w in weights)
    whole, so_far = int(total) if exact else 0, 0
    for w in weights:
        if exact:  # in integers: no rounding where n is large
            so_far += int(w)
            bounds.append((n * so_far + whole // 2) // whole)
        else:
            sums += w
            bounds.append(round(n * (sums / total)))
    bounds[-1] = n
    return tuple(bounds)
