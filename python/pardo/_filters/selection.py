# python/pardo/_filters/selection.py: the element of a given rank in a window, for kernels.
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pardo._language.index_space import private_array

MOST = 49  # elements that are sorted in private memory; more of them are counted where they are


@functools.cache
def network(count: int, rank: int) -> tuple[tuple[int, int], ...]:
    """Which pairs to put in order, one after the other, for the element of that rank to be in its place.

    The odd-even merge sort of K. E. Batcher, "Sorting networks and their applications", AFIPS 1968, without what does not lead there.
    """
    pairs = []
    step = 1
    while step < count:
        k = step
        while k >= 1:
            for j in range(k % step, count - k, 2 * k):
                for i in range(min(k, count - j - k)):
                    if (i + j) // (2 * step) == (i + j + k) // (2 * step):
                        pairs.append((i + j, i + j + k))
            k //= 2
        step *= 2
    needed = {rank}
    kept = []
    for pair in reversed(pairs):
        if needed.intersection(pair):
            needed.update(pair)
            kept.append(pair)
    return tuple(reversed(kept))


@functools.cache
def sorted_to(count: int, rank: int) -> Callable[..., Any]:
    """A fold that sorts as far as needed. A NaN makes all that it is compared with NaN, and so the result."""
    pairs = network(count, rank)

    def ranked(x: Any, at: Any, taps: Any) -> Any:
        values = private_array(count, x.dtype)
        for k, offset in enumerate(taps):
            values[k] = x[at + offset]
        for a, b in pairs:
            low, high = min(values[a], values[b]), max(values[a], values[b])
            values[a], values[b] = low, high
        return values[rank]

    return ranked


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
    low = x[at + first]
    high = low
    for offset in offsets:
        value = x[at + offset]
        low = min(low, value)
        high = max(high, value)
    while low < high:  # not so with NaN
        middle = midpoint(low, high)
        below, above = low, high
        count = 0
        for offset in offsets:
            value = x[at + offset]
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
