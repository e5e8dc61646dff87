# python/pardo/_sparse/merging.py: functions of two sparse arrays, element by element.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pardo._array.creation import empty
from pardo._base.promotion import kind_of
from pardo._sparse import kernels
from pardo._sparse.base import promoted
from pardo._sparse.structure import Rows, cast, index_dtype, no_rows, parts_of, pointers

# What becomes of two numbers, and of two bools; None where NumPy has no such function. All give zero for two zeros.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "add": (kernels.add, kernels.either),
    "subtract": (kernels.subtract, None),
    "multiply": (kernels.multiply, kernels.both_of),
    "maximum": (kernels.greatest, kernels.either),
    "minimum": (kernels.least, kernels.both_of),
    "not_equal": (kernels.differs, kernels.differs),
    "less": (kernels.below, kernels.below),
    "greater": (kernels.above, kernels.above),
}
ORDERED = ("maximum", "minimum", "less", "greater")
COMPARISONS = ("not_equal", "less", "greater")


def merged(a: Rows, b: Rows, op_name: str) -> Rows:
    """A function of the elements of two arrays of one shape, whose rows are in order; zeros are left out of the result."""
    wide = promoted(a.value.dtype, b.value.dtype, a.queue)
    function = FUNCTIONS[op_name][wide == np.bool_]
    if function is None:
        raise TypeError(f"{op_name}: bools cannot be subtracted; use the operator != for exclusive or")
    if kind_of(wide) == "c" and op_name in ORDERED:
        raise TypeError(f"{op_name}: complex numbers have no order")
    dtype = np.dtype(np.bool_) if op_name in COMPARISONS else wide
    if a.height == 0 or a.value.size + b.value.size == 0:
        return no_rows(a.extent, dtype, a.queue, [a.column, b.column])
    zero = wide.type(0)
    both = cast(a.ptr, np.int64) + b.ptr
    most = a.value.size + b.value.size
    indices = index_dtype(*a.extent, most, like=[a.column, b.column])
    counts = empty(a.height, np.int64, queue=a.queue)
    column, value = empty(most, indices, queue=a.queue), empty(most, dtype, queue=a.queue)
    space, parts = parts_of(a.queue, a.height, most)
    kernels.sparse_merge_rows[space](*a[:3], *b[:3], function, zero, both, column, value, counts, parts)
    ptr = pointers(counts)
    number = int(ptr[-1])
    indices = index_dtype(*a.extent, number, like=[a.column, b.column])
    if number < most:
        gaps = (both, column, value)
        column, value = empty(number, indices, queue=a.queue), empty(number, dtype, queue=a.queue)
        if number:
            kernels.sparse_pack_rows[space](*gaps, ptr, column, value, parts)
    return Rows(cast(ptr, indices), cast(column, indices), value, a.extent)
