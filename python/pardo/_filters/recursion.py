# python/pardo/_filters/recursion.py: recursions along lines, in blocks: what a block does to its first state is known beforehand.
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._filters.lines import place_of, space_of
from pardo._filters.stencils import plain, written
from pardo._functions.operands import to_queue
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Const, Item, Range, private_array

ITEMS, BLOCK = 4096, 256  # as many items are made of few lines, if each then has as many elements
GROWTH = 1e8  # of a state in a block, above which lines stay whole


@functools.cache
def direct_form(count: int) -> Callable[..., Any]:
    """One element of a filter of so many states: the transposed direct form II, in the order of SciPy's sums."""
    states = ", ".join(f"z{k}" for k in range(count))
    lines = ["def written(v, z, coefficients):", f"    {states}, = z", "    b, a = coefficients", "    y = z0 + b[0] * v"]
    lines += [f"    z{k} = z{k + 1} + v * b[{k + 1}] - y * a[{k + 1}]" for k in range(count - 1)]
    lines += [f"    z{count - 1} = v * b[{count}] - y * a[{count}]", f"    return y, ({states},)"]
    return written(f"filter of order {count}", lines)


@functools.cache
def sections(count: int) -> Callable[..., Any]:
    """One element of so many filters of order 2, one after the other; of each the coefficients b0, b1, b2, a1, a2."""
    states = ", ".join(f"z{k}" for k in range(2 * count))
    lines = ["def written(v, z, coefficients):", f"    {states}, = z"]
    for s in range(count):
        z, c = (f"z{2 * s}", f"z{2 * s + 1}"), [f"coefficients[{s}][{k}]" for k in range(5)]
        lines.append(f"    y = {c[0]} * v + {z[0]}")
        lines.append(f"    {z[0]} = {c[1]} * v - {c[3]} * y + {z[1]}")
        lines.append(f"    {z[1]} = {c[2]} * v - {c[4]} * y")
        lines.append("    v = y")
    lines.append(f"    return v, ({states},)")
    return written(f"{count} sections", lines)


@kernel(bounds_check=False)  # elements of lines
def recursion_ends(
    item: Item, step: Any, wide: Any, coefficients: Any, x: Any, extents: Any, block: Any, blocks: Any, nothing: Any, ends: Any
) -> None:
    """The states that blocks end with, if they begin without."""
    line, k, at = place_of(item, extents, blocks)
    n, stride = plain(extents[0]), plain(extents[1])
    z: tuple[Any, ...] = ()
    for _ in nothing:
        z = (*z, wide(0))
    for i in range(k * plain(block), min((k + 1) * block, n)):
        _, z = step(wide(x[at + i * stride]), z, coefficients)
    for j, value in enumerate(z):
        ends[(line * plain(blocks) + k) * len(nothing) + j] = value


@kernel(bounds_check=False)  # all states are there
def recursion_starts(item: Item, powers: Any, blocks: Any, count: Const[int], ends: Any, states: Any) -> None:
    """The states that blocks begin with; `states` has those of lines in the place of the first block."""
    first = item.get_id(0) * plain(blocks) * count
    z = private_array(count, states.dtype)
    after = private_array(count, states.dtype)
    for j in range(count):
        z[j] = states[first + j]
    for k in range(1, blocks):
        for i in range(count):
            total = ends[first + plain(k - 1) * count + i]
            for j in range(count):
                total += powers[i * count + j] * z[j]
            after[i] = total
        for i in range(count):
            z[i] = after[i]
            states[first + k * count + i] = z[i]


@kernel(bounds_check=False)  # elements of lines
def recursion_values(
    item: Item,
    step: Any,
    wide: Any,
    coefficients: Any,
    x: Any,
    extents: Any,
    block: Any,
    blocks: Any,
    nothing: Any,
    states: Any,
    last: Any,
    out: Any,
) -> None:
    line, k, at = place_of(item, extents, blocks)
    n, stride = plain(extents[0]), plain(extents[1])
    z: tuple[Any, ...] = ()
    for j, _ in enumerate(nothing):
        z = (*z, states[(line * plain(blocks) + k) * len(nothing) + j])
    for i in range(k * plain(block), min((k + 1) * block, n)):
        y, z = step(wide(x[at + i * stride]), z, coefficients)
        out[at + i * stride] = y.astype(out.dtype)
    if k == blocks - 1:
        for j, value in enumerate(z):
            last[line * len(nothing) + j] = value


def recurse(
    x: Array, out: Array, axis: int, step: Callable[..., Any], count: int, coefficients: Any, first: Array, wide: np.dtype[Any]
) -> Array:
    """Stores in `out` what a recursion of `count` states makes of lines along an axis; `first` has their first states, line by line.

    Gives the last ones, of the shape of the first.
    """
    n, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    lines = x.size // n
    block = max(BLOCK, -(-n * lines // ITEMS))
    powers = np.linalg.matrix_power(_transition(step, count, coefficients, wide), block) if block < n else np.zeros(0)
    if block >= n or not np.isfinite(powers).all() or np.abs(powers).max(initial=0) > GROWTH:
        block = n
    blocks = -(-n // block)
    space, extents = space_of(lines, n, inner, blocks)
    flat, target = (_core._reshape(a, [a.size]) for a in (x, out))
    arguments = step, wide.type, coefficients, flat, extents, block, blocks, (0,) * count
    if blocks == 1:
        states = _core._reshape(first, [first.size])
    else:
        ends, states = (_core._empty([lines * blocks * count], wide, x.queue) for _ in range(2))
        _core._reshape(states, [lines, blocks, count])[:, 0] = _core._reshape(first, [lines, count])
        recursion_ends[space, x.queue](*arguments, ends)
        recursion_starts[Range(lines), x.queue](to_queue(powers.astype(wide).ravel(), x.queue), blocks, count, ends, states)
    last = _core._empty([lines * count], wide, x.queue)
    recursion_values[space, x.queue](*arguments, states, last, target)
    return _core._reshape(last, list(first.shape))


def _transition(step: Callable[..., Any], count: int, coefficients: Any, wide: np.dtype[Any]) -> NDArray[Any]:
    """What one element that is zero makes of a state, as a matrix."""
    columns = [step(0.0, tuple(unit), coefficients)[1] for unit in np.eye(count, dtype=wide)]
    return np.asarray(columns, wide if kind_of(wide) == "c" else np.float64).T
