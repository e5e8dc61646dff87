# python/pardo/_filters/lines.py: the index space of kernels whose items take blocks of lines along one axis.
from __future__ import annotations

from typing import Any

from pardo._filters.stencils import plain
from pardo._language.index_space import Range


def space_of(lines: int, n: int, stride: int, blocks: int) -> tuple[Range, tuple[int, ...]]:
    """The index space for `lines` lines of n elements with the given stride, each in `blocks` parts, and the extents for `place_of`."""
    if stride > 1:
        return Range(lines // stride, blocks, stride), (n, stride)
    return Range(1, 1, lines * blocks), (n, 1, 1)


def place_of(item: Any, extents: Any, blocks: Any) -> Any:
    """The number of an item's line, that of its block, and where the line begins."""
    n, stride = plain(extents[0]), plain(extents[1])
    if len(extents) == 3:  # lines are one behind the other
        number = item.get_id(2)
        line = number // blocks
        return line, number - line * blocks, line * n
    outer, inner = item.get_id(0), item.get_id(2)
    return outer * stride + inner, item.get_id(1), outer * n * stride + inner
