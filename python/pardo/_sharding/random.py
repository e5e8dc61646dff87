# python/pardo/_sharding/random.py: the draws of a random.Generator over several devices: the numbers that one device would draw.
"""The blocks of an element's numbers are those that its place in the whole array, in the order of C, names. So each part draws
its elements by itself: it begins at the block of its first one. How many elements have a block together is a property of the method, of
the dtype and of the parameters' kinds; it is found by the draw of a few elements that ends where it asks for blocks.

Reference: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import SCALARS
from pardo._core import Array
from pardo._random import continuous, discrete
from pardo._random.arguments import extents_of
from pardo._random.generator import Generator
from pardo._random.philox import BLOCKS, Philox
from pardo._random.stream import Stream
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.cumulative import METHODS
from pardo._sharding.device import ShardedDevice
from pardo._sharding.functions import implements, refuse
from pardo._sharding.gather import aligned, once
from pardo._sharding.given import Operand
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout
from pardo._sharding.moves import joined
from pardo._sharding.moving import Parts, resplit, same_everywhere
from pardo._sharding.operands import group_of
from pardo._sharding.reshard import bounds_for

_STANDARD = ["random", "standard_normal", "standard_exponential", "standard_gamma", "integers"]
NAMES = frozenset([*_STANDARD, *(row.name for row in continuous.ROWS + discrete.ROWS)])
_PLACES = ("size", "dtype", "out", "device", "queue", "usm_type", "method", "endpoint")
SAMPLE = 8  # elements: a multiple of how many have a block together


class _AskedError(Exception):
    """Ends a draw where it asks for blocks."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks


class _Counting(Philox):
    """Tells how many blocks are asked for."""

    def _take(self, blocks: int) -> tuple[int, int]:
        raise _AskedError(blocks)


def _of_generator(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The methods of generators, given arrays or a device over several devices."""
    owner, _, name = function.__qualname__.rpartition(".")
    if owner == "RandomState":
        refuse(f"random.{name}")
    if owner not in ("Generator", "Distributions"):
        return None
    if name not in NAMES:
        if name.startswith("_"):
            return None
        refuse(f"random.Generator.{name}")
    return lambda stream, *args, **kwargs: drawn(function, name, stream, args, kwargs)


METHODS.append(_of_generator)


def drawn(function: Callable[..., Any], name: str, stream: Stream, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ShardedArray:
    """A draw whose result is over several devices."""
    bound = inspect.signature(function).bind(stream, *args, **kwargs)
    named = dict(list(bound.arguments.items())[1:])
    parameters = {key: value for key, value in named.items() if key not in _PLACES}
    keywords: dict[str, Any] = {key: named[key] for key in ("dtype", "usm_type", "method", "endpoint") if key in named}
    device, out = named.get("device"), named.get("out")
    if named.get("queue") is not None:
        raise TypeError(f"{name}: queue is one queue, and the draw is over several devices; leave it away")
    if out is not None and type(out) is not ShardedArray:
        raise TypeError(f"{name}: the draw is over several devices, and out is not; leave it away")
    group = _group(name, device, out, parameters)
    shape = _shape(name, named.get("size"), out, parameters)
    n, stays = math.prod(shape), _layout(group, shape, out, parameters)
    lead = next((k for k, extent in enumerate(shape) if extent != 1), 0)
    split = stays.axis is not None
    bounds = stays.bounds if stays.axis == lead else bounds_for(shape[lead], group) if split else ()
    layout = Layout(shape, lead if split else None, bounds, group.keys)
    given = {key: _Given(value, group, layout, name) for key, value in parameters.items()}
    together = _together(name, stream, keywords, given, group) if n else 1
    first, number = stream.bit_generator._take(-(-n // together))
    inner = math.prod(shape[lead + 1 :])
    parts: Parts = {}
    for p in group.owned:
        start, stop = (bounds[p] * inner, bounds[p + 1] * inner) if split else (0, n)
        before = start % together if stop > start else 0
        bits = Philox(counter=number * BLOCKS + (first + start // together) % BLOCKS, key=stream.key)
        local = {key: value.of(p, start, stop, before) for key, value in given.items()}
        values = getattr(Generator(bits), name)(**local, size=stop - start + before, **keywords, **_on(group, p))
        parts[p] = values[before:].reshape(layout.local_shape(p))
    if split:
        made = sharded(group, layout, parts)
        made = made if stays.axis == lead else resplit(made, stays.axis or 0, stays.bounds)
    else:
        made = replicated(group, same_everywhere(group, parts))
    if out is None:
        return made
    if out.dtype != made.dtype:
        raise TypeError(f"{name}: out has dtype {out.dtype}, but {made.dtype} is drawn; say dtype={out.dtype.name!r}, if that is meant")
    for p, part in once(out._parts).items():
        part[...] = made._parts[p]
    return out


def _on(group: Group, part: int) -> dict[str, Any]:
    return {"queue": group.queue(part)}


def _group(name: str, device: Any, out: Any, parameters: dict[str, Any]) -> Group:
    arrays = [x for x in (out, *parameters.values()) if type(x) is ShardedArray]
    if arrays:
        group = group_of(arrays, name)
        if device is not None and (type(device) is not ShardedDevice or device.group.keys != group.keys):
            raise TypeError(f"{name}: device is {device}, but an array is over {', '.join(map(str, group.keys))}; leave device away")
        return group
    assert type(device) is ShardedDevice
    return device.group


def _shape(name: str, size: Any, out: Any, parameters: dict[str, Any]) -> tuple[int, ...]:
    if out is not None:
        if size is not None and tuple(extents_of(size, name)) != out.shape:
            raise ValueError(f"{name}: size is {size}, but out has shape {out.shape}; leave one of them away")
        return out.shape  # type: ignore[no-any-return]
    shapes = [x.shape if hasattr(x, "shape") else np.shape(x) for x in parameters.values() if x is not None]
    shape = np.broadcast_shapes(*shapes)
    if size is None:
        return shape
    wanted = tuple(extents_of(size, name))
    if np.broadcast_shapes(shape, wanted) != wanted:
        raise ValueError(f"{name}: parameters of shapes {', '.join(map(str, shapes))} cannot be broadcast to size {wanted}")
    return wanted


def _layout(group: Group, shape: tuple[int, ...], out: Any, parameters: dict[str, Any]) -> Layout:
    """How the result is split: as `out`, else as the first parameter whose split axis is one of the result, else along the first axis."""
    if out is not None:
        return out.layout  # type: ignore[no-any-return]
    for x in parameters.values():
        if type(x) is ShardedArray and x.layout.axis is not None:
            axis = x.layout.axis + len(shape) - x.ndim
            if x.shape[x.layout.axis] == shape[axis]:
                return Layout(shape, axis, x.layout.bounds, group.keys)
    if not shape:
        return Layout(shape, None, (), group.keys)
    return Layout(shape, 0, bounds_for(shape[0], group), group.keys)


class _Given:
    """A parameter: a number, numbers of the host, or arrays of the parts."""

    def __init__(self, value: Any, group: Group, layout: Layout, op_name: str) -> None:
        self.number, self.host, self.parts = value, None, dict[int, Array]()
        if value is None or isinstance(value, SCALARS):
            return
        if isinstance(value, (Array, ShardedArray)):
            operand = Operand(value, group, op_name)
            if operand.layout is None and not operand.shape:
                self.parts = dict(operand.parts)
                self.dtype = operand.dtype
                return
            self.parts = {p: v.reshape(-1) for p, v in aligned(operand, layout.shape, layout.axis, layout.bounds).items()}
            self.dtype = operand.dtype
            return
        host = np.asarray(value)
        self.host = np.broadcast_to(host, layout.shape).reshape(-1)

    def of(self, part: int, start: int, stop: int, before: int) -> Any:
        """What a part draws by, with some elements more in front."""
        if self.parts:
            x = self.parts[part]
            return x if not before or not x.ndim or not x.size else joined([*[x[:1]] * before, x], 0)
        return self.number if self.host is None else self.host[start - before : stop]

    def sample(self, group: Group) -> Any:
        """A few elements."""
        if self.parts:
            first = self.parts[group.owned[0]]
            return _core._full([SAMPLE] if first.ndim else [], 1, self.dtype, first.queue)
        return self.number if self.host is None else np.resize(self.host, SAMPLE)


def _together(name: str, stream: Stream, keywords: dict[str, Any], given: dict[str, _Given], group: Group) -> int:
    """How many elements have a block together."""
    first = group.owned[0]
    probe = Generator(_Counting(key=stream.key))
    try:
        getattr(probe, name)(**{key: value.sample(group) for key, value in given.items()}, size=SAMPLE, **keywords, **_on(group, first))
    except _AskedError as asked:
        return SAMPLE // asked.blocks
    raise AssertionError(f"{name}: drew no blocks")


@implements("random.Generator", splits="the numbers that one device would draw; along the first axis, or as `out` and arrays of parameters")
def generator(*args: Any, **kwargs: Any) -> Any:
    """Stands for the methods in the table."""
    return NotImplemented
