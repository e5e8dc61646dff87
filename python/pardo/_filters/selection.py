# python/pardo/_filters/selection.py: the element of a given rank in a window, for kernels.
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pardo._filters.stencils import plain, written

BOTH, LESSER, GREATER = "both", "lesser", "greater"
MOST = 49  # elements that are sorted in private memory; more of them are counted where they are


@functools.cache
def network(count: int, rank: int) -> tuple[tuple[int, int, str], ...]:
    """Which pairs to put in order, one after the other, for the element of that rank to be in its place, and what is needed of each.

    The odd-even merge sort of K. E. Batcher, "Sorting networks and their applications", AFIPS 1968, without what does not lead there.
    """
    pairs: list[tuple[int, int]] = []
    step = 1
    while step < count:
        k = step
        while k >= 1:
            for j in range(k % step, count - k, 2 * k):
                places = range(j, j + min(k, count - j - k))
                pairs.extend((i, i + k) for i in places if i // (2 * step) == (i + k) // (2 * step))
            k //= 2
        step *= 2
    needed = {rank}
    kept = []
    for a, b in reversed(pairs):
        if a in needed or b in needed:
            kept.append((a, b, BOTH if a in needed and b in needed else LESSER if a in needed else GREATER))
            needed.update((a, b))
    return tuple(reversed(kept))


def lesser(a: Any, b: Any) -> Any:
    return a if a < b else b


def greater(a: Any, b: Any) -> Any:
    return b if a < b else a


def not_a_number(value: Any, found: Any) -> Any:
    return value if value != value else found


@functools.cache
def sorted_to(count: int, rank: int) -> Callable[..., Any]:
    """A fold that sorts as far as needed, each element a variable of its own. NaN has no order: it is looked for, and is the result."""
    lines = ["def written(x, at, taps):"]
    lines += [f"    v{k} = x[at + plain(taps[{k}])]" for k in range(count)]
    lines += ["    found = v0", *(f"    found = not_a_number(v{k}, found)" for k in range(1, count))]
    for a, b, what in network(count, rank):
        lines.append(f"    v{a}, v{b} = lesser(v{a}, v{b}), greater(v{a}, v{b})" if what == BOTH else
                     f"    v{a if what == LESSER else b} = {what}(v{a}, v{b})")  # fmt: skip
    lines.append(f"    return not_a_number(found, v{rank})")
    return written(f"element {rank} of {count}", lines, lesser=lesser, greater=greater, not_a_number=not_a_number)


def midpoint_of_integers(low: Any, high: Any) -> Any:
    """Without overflow; rounded down."""
    return (low & high) + ((low ^ high) >> 1)


def midpoint_of_floats(low: Any, high: Any) -> Any:
    middle = low * 0.5 + high * 0.5
    return middle if low <= middle < high else low


def midpoint_of_bools(low: Any, high: Any) -> Any:
    return low and high


def counted(x: Any, at: Any, taps: Any) -> Any:
    """A fold that halves the interval of the values in which the element lies; its ends are elements, so it ends with one of them."""
    offsets, first, rank, midpoint = taps
    low = x[at + plain(first)]
    high = low
    for offset in offsets:
        value = x[at + plain(offset)]
        low = min(low, value)
        high = max(high, value)
    while low < high:  # not so with NaN
        middle = midpoint(low, high)
        below, above = low, high
        count = 0
        for offset in offsets:
            value = x[at + plain(offset)]
            if value <= middle:
                count += 1
                below = max(below, value)
            else:
                above = min(above, value)
        if count > rank:
            high = below
        else:
            low = above
    return low
