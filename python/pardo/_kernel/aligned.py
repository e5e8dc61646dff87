# python/pardo/_kernel/aligned.py: arrays of NumPy's whose elements programs cannot address: loops take aligned copies of them.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._compiler import structs
from pardo._data.tables import is_addressable
from pardo._kernel import copies
from pardo._kernel.arguments import argument

Host = NDArray[Any]


class Copies:
    """Aligned copies of some arguments of a loop. What the loop writes there is copied back when it has ended."""

    def __init__(self, op_name: str, hosts: list[Host]) -> None:
        self.op_name, self.hosts = op_name, hosts
        self.copies: dict[int, tuple[Host, Host]] = {}  # by the identity of the array: itself, and its copy
        self.apart: list[tuple[Host, Host]] = []  # those that share elements, and whose copies do not
        for group in _groups(hosts):
            if not all(map(_is_taken_as_it_is, group)):
                self._copy(group)
        text = f"{op_name}: arrays that are not aligned, or in another byte order, are copied at each call; a copy made before saves that"
        _core._note_fallback(text)

    def _copy(self, group: list[Host]) -> None:
        bounds = [np.lib.array_utils.byte_bounds(x) for x in group]
        low, high = min(b for b, _ in bounds), max(e for _, e in bounds)
        first, size = [x.__array_interface__["data"][0] - low for x in group], group[0].itemsize
        step = math.gcd(*first, *(s for x in group for s, n in zip(x.strides, x.shape, strict=True) if n > 1)) or size
        shared = None
        if len(group) > 1:
            if step >= size and len({x.dtype for x in group}) == 1:
                shared = np.empty((high - low - size) // step + 1, group[0].dtype.newbyteorder("="))
            else:
                self.apart += [(x, y) for k, x in enumerate(group) for y in group[:k] if copies.overlap(x, y)]
        device = _core._host_queue().device.id
        for x, begin in zip(group, first, strict=True):
            _core._note_transfer(self.op_name, x.nbytes, device, True)
            _core._note_copy(x.nbytes)
            if shared is None:
                copy = x.astype(x.dtype.newbyteorder("="), "K")
            else:
                strides = [s // step * size if n > 1 else size for s, n in zip(x.strides, x.shape, strict=True)]
                copy = np.ndarray(x.shape, shared.dtype, shared, begin // step * size, strides)
                copy[...] = x
            copy.flags.writeable = x.flags.writeable
            self.copies[id(x)] = x, copy

    def one(self, x: Any) -> Any:
        """The copy of an array, itself if there is none."""
        return self.copies[id(x)][1] if id(x) in self.copies else x

    def written(self, given: Sequence[Any], uses: Sequence[int]) -> list[tuple[Host, Host]]:
        """Of what a loop is given, the copies that it writes, and of what; refused where others would have to change with them."""
        leaves = [leaf for x in given for leaf in structs.leaves(x)]
        changed = {id(x) for x, use in zip(leaves, uses, strict=False) if isinstance(x, np.ndarray) and use >= copies.WRITES}
        found = {id(x) for x in self.hosts if id(self.one(x)) in changed}
        for pair in self.apart:
            if any(id(x) in found for x in pair):
                raise ValueError(
                    f"{self.op_name}: two NumPy arrays share elements of which it writes some, and are copied, because they are not "
                    "aligned; the copies would not change together: pass numpy.require(x, requirements='A'), or one of them"
                )
        return [self.copies[k] for k in found if k in self.copies]

    def put_back(self, written: list[tuple[Host, Host]]) -> None:
        """Copy what a loop has written."""
        for x, copy in written:
            _core._note_copy(x.nbytes)
            np.copyto(x, copy)


def _groups(hosts: list[Host]) -> list[list[Host]]:
    """Arrays with those that share elements with them."""
    groups: list[list[Host]] = []
    for x in hosts:
        near = [g for g in groups if any(copies.overlap(x, y) for y in g)]
        groups = [g for g in groups if not any(g is n for n in near)]
        groups.append([x, *(y for g in near for y in g)])
    return groups


class Taken(NamedTuple):
    """What a loop takes in place of its arguments."""

    given: tuple[Any, ...]
    copies: Copies


def made(op_name: str, values: tuple[Any, ...]) -> Taken | None:
    """What a loop takes in place of some values; None where it takes all arrays as they are."""
    given = tuple(v if type(v) in _PLAIN and not (type(v) is np.ndarray and v.dtype.names) else structs.mapped(v, _itself) for v in values)
    hosts: dict[int, Host] = {}
    for value in given:
        if type(value) is np.ndarray:
            hosts[id(value)] = value
        elif type(value) not in _PLAIN:
            hosts.update((id(x), x) for x in structs.leaves(value) if isinstance(x, np.ndarray))
    if all(map(_is_taken_as_it_is, hosts.values())):
        return None
    made = Copies(op_name, [x for x in hosts.values() if x.ndim])
    return Taken(tuple(structs.mapped(v, made.one) for v in given), made)


def arguments(op_name: str, names: Sequence[str], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of names as a program takes them."""
    try:
        return tuple(map(argument, values))
    except TypeError:
        for name, value in zip(names, values, strict=False):
            try:
                argument(value)
            except TypeError as e:
                if str(e).startswith("dtype "):
                    raise TypeError(f"{op_name}: `{name}`: {e}") from None
        raise


def run(
    taken: Taken | None,
    loop: _core._Loop,
    arguments: tuple[Any, ...],
    counts: list[int],
    initial: tuple[Any, ...],
    chunk: int,
    op_name: str,
) -> list[Any]:
    """Run a program; copies that it has written go back to the arrays, also where it has failed."""
    if taken is None:
        return loop.run(arguments, counts, initial, None, chunk, op_name)
    written = taken.copies.written(taken.given, loop.uses(arguments, counts, op_name))
    try:
        results = loop.run(arguments, counts, initial, None, chunk, op_name)
    except Exception:
        taken.copies.put_back(written)
        raise
    taken.copies.put_back(written)
    return results


_PLAIN = frozenset([int, float, bool, np.ndarray, _core.Array])


def _itself(x: Any) -> Any:
    return x


def _is_taken_as_it_is(x: Host) -> bool:
    return is_addressable(x) and x.dtype.isnative
