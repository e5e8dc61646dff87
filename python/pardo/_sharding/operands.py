# python/pardo/_sharding/operands.py: what meets an array over several devices: how the result is split, and operands brought to its parts.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import SCALARS, is_number_of_numpy
from pardo._core import Array, ExecutionPlacementError, _is_host_data
from pardo._runtime.transfers import note_between
from pardo._sharding.array import ShardedArray
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout
from pardo._sharding.moves import relaid

Operand = dict[int, Any]  # what each owned part takes


def is_number(x: Any) -> bool:
    """Whether something is an argument of kernels, and so is the same for each part."""
    return x is None or isinstance(x, (*SCALARS, str, bytes)) or is_number_of_numpy(x)


def shape_of(x: Any) -> tuple[int, ...]:
    if type(x) is ShardedArray or type(x) is Array or isinstance(x, np.ndarray):
        return x.shape
    return () if is_number(x) else np.shape(x)


def values(x: Any, op_name: str) -> Any:
    """What the host has, as an array; arrays and numbers as they are."""
    if type(x) is ShardedArray or type(x) is Array or isinstance(x, np.ndarray) or is_number(x):
        return x
    if _core._array_among([x]) is None and _is_host_data(x):
        return np.asarray(x)
    raise TypeError(f"{op_name}: an array, a number or a sequence of numbers is expected, not {type(x).__name__}")


def group_of(xs: Iterable[Any], op_name: str) -> Group:
    """The devices of the arrays over several among the operands: all have the same."""
    group: Group | None = None
    for x in xs:
        if type(x) is ShardedArray:
            if group is None:
                group = x._group
            elif x._group is not group and x._group.keys != group.keys:
                raise ExecutionPlacementError(
                    f"{op_name}: operands are over different devices: {', '.join(map(str, group.keys))} and "
                    f"{', '.join(map(str, x._group.keys))}; copy one explicitly: x.to_device(y.device)"
                )
    assert group is not None
    return group


def layout_for(xs: Sequence[Any], group: Group, shape: tuple[int, ...]) -> Layout:
    """How a result of that shape is split: as the largest operand that is split along an axis of the result, the first of equals."""
    best, size, axis = None, -1, 0
    for x in xs:
        if type(x) is ShardedArray and x._layout.axis is not None and x.size > size:
            along = x._layout.axis + len(shape) - len(x.shape)
            if x.shape[x._layout.axis] == shape[along]:
                best, size, axis = x._layout, x.size, along
    if best is None:
        return Layout(shape, None, (), group.keys)
    if best.shape == shape:
        return best
    return Layout(shape, axis, best.bounds, group.keys)


def spread(x: Any, group: Group, layout: Layout, op_name: str) -> Any:
    """What each owned part takes of an operand, so that it broadcasts to the part of a result of that layout: a dict, or the operand itself
    where that is a number. Copies that this needs are implicit: `transfer_guard` sees them."""
    if type(x) is ShardedArray:
        return _parts_for(x, group, layout, op_name)
    if is_number(x):
        return x
    if type(x) is Array:
        return _pieces_of_array(x, group, layout, op_name)
    return {p: _core._host_operand(np.asarray(_piece(x, layout, p)), group.queue(p), op_name, False) for p in group.owned}


def _parts_for(x: ShardedArray, group: Group, layout: Layout, op_name: str) -> Operand:
    own = x._layout
    if layout.axis is None:
        return relaid(x, own.with_axis(None), op_name)
    along = layout.axis - (len(layout.shape) - len(own.shape))
    n = layout.shape[layout.axis]
    whole = along < 0 or (own.shape[along] == 1 and n != 1)
    if own.axis is None:
        if whole:
            return x._parts
        before = (slice(None),) * along
        return {p: part[(*before, layout.extent(p))] for p, part in x._parts.items()}
    if whole:
        return relaid(x, own.with_axis(None), op_name)
    return relaid(x, Layout(own.shape, along, layout.bounds, group.keys), op_name)


def _piece(x: Any, layout: Layout, part: int) -> Any:
    """What a part takes of an array of one device."""
    if layout.axis is None:
        return x
    along = layout.axis - (len(layout.shape) - len(x.shape))
    if along < 0 or (x.shape[along] == 1 and layout.shape[layout.axis] != 1):
        return x
    return x[(*(slice(None),) * along, layout.extent(part))]


def _pieces_of_array(x: Array, group: Group, layout: Layout, op_name: str) -> Operand:
    hardware = x.device.without_queue
    follows = x.ndim == 0 and x.device._in_host_memory
    if not follows and all(group.device(p).without_queue != hardware for p in group.owned):
        raise ExecutionPlacementError(
            f"{op_name}: operands are on different devices: {x.device} and {', '.join(map(str, group.keys))}; "
            "copy one explicitly: pardo.shard(x, s.device), or s.to_device(d)"
        )
    pieces = {}
    for p in group.owned:
        piece = _piece(x, layout, p)
        queue = group.queue(p)
        if x.queue != queue:
            note_between(op_name, piece.nbytes, x.device.id, group.name(p))
            piece = piece._to_queue(queue)
        pieces[p] = piece
    return pieces


def broadcast(xs: Sequence[Any], op_name: str) -> tuple[int, ...]:
    """The shape of a result."""
    try:
        return np.broadcast_shapes(*map(shape_of, xs))
    except ValueError:
        shapes = ", ".join(str(tuple(shape_of(x))) for x in xs)
        raise ValueError(f"{op_name}: operands could not be broadcast together with shapes {shapes}") from None


def fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts to another."""
    return len(shape) <= len(wanted) and all(n in (1, m) for n, m in zip(shape[::-1], wanted[::-1], strict=False))


def together(xs: Sequence[Any], op_name: str) -> tuple[Group, Layout, list[Any]]:
    """Operands that broadcast together: the devices, how the result is split, and what each part takes of each operand."""
    group = group_of(xs, op_name)
    given = [values(x, op_name) for x in xs]
    layout = layout_for(given, group, broadcast(given, op_name))
    return group, layout, [spread(x, group, layout, op_name) for x in given]
