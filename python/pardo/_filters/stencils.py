# python/pardo/_filters/stencils.py: functions of kernels that are written out element by element, as text.
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pardo._compiler.texts import functions_of


def plain(i: Any) -> Any:
    """A number that is not negative, as the compiler then knows: so that neighbours are seen to be read as vectors."""
    return max(i, 0)


def written(name: str, lines: Sequence[str], **names: Any) -> Callable[..., Any]:
    """The function `written` of a text."""
    function: Callable[..., Any] = functions_of(name, lines, {**names, "plain": plain})["written"]
    return function


@functools.cache
def rows_of(height: int, width: int, count: int) -> Callable[..., Any]:
    """A fold that makes the weighted sums of so many windows, each a row below the other. An element that several need is read once."""
    lines = ["def written(x, at, stride, taps):", "    offsets, weights, wide = taps"]
    lines += [f"    t{k} = wide(0)" for k in range(count)]
    for row in range(height + count - 1):
        for column in range(width):
            lines.append(f"    v = wide(x[at + {row} * stride + plain(offsets[{column}])])")
            lines += [f"    t{k} += weights[{(row - k) * width + column}] * v" for k in range(count) if 0 <= row - k < height]
    lines.append("    return " + ", ".join(f"t{k}" for k in range(count)))
    return written(f"{count} rows of {height} by {width}", lines)


@functools.cache
def columns_of(count: int) -> Callable[..., Any]:
    """The same for windows of one column, as many elements as there are weights, at least 2 * count; these are in memory."""
    lines = ["def written(x, at, stride, taps):", "    size, weights, wide = taps"]
    lines += [f"    t{k} = wide(0)" for k in range(count)]
    for row in range(count - 1):
        lines.append(f"    v = wide(x[at + {row} * stride])")
        lines += [f"    t{k} += weights[{row - k}] * v" for k in range(row + 1)]
    lines += [f"    for row in range({count - 1}, size):", "        v = wide(x[at + row * stride])"]
    lines += [f"        t{k} += weights[row - {k}] * v" for k in range(count)]
    for row in range(count - 1):
        lines.append(f"    v = wide(x[at + plain(size + {row}) * stride])")
        lines += [f"    t{k} += weights[plain(size + {row - k})] * v" for k in range(row + 1, count)]
    lines.append("    return " + ", ".join(f"t{k}" for k in range(count)))
    return written(f"{count} rows of one column", lines)
