# python/pardo/_functions/casting.py: calls of universal functions with a rule of casting that is not 'same_kind'.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import arrays, check_cast, check_casting, check_out, dtype_of, mask, single_out
from pardo._core import Array
from pardo._functions.operands import check_where, placed


def call(row: int, op_name: str, positional: Sequence[Any], keywords: dict[str, Any]) -> Array:
    """What the core calls: operands are cast to the dtype of the loop, and the result to that of `out`, as the rule allows."""
    casting, dtype, where = keywords["casting"], keywords.get("dtype"), keywords.get("where", True)
    check_casting(casting, op_name)
    nin = getattr(_core, op_name).nin
    given, out = positional[:nin], positional[nin] if len(positional) > nin else keywords.get("out")
    xs = arrays(given, op_name)
    *_, dtypes, gives, _, _ = _core._op_table()[row]
    wanted = None if dtype is None else dtype_of(dtype, op_name)
    loop, result_dtype = _core._loop_of(row, [x.dtype if wanted is None or gives == "BOOL" else wanted for x in xs])
    if wanted is not None and wanted != result_dtype:
        raise TypeError(f"{op_name}: there is no loop that gives {wanted}; {op_name}.types lists those that there are")
    if dtypes != "TRUTH":  # which has a loop for each dtype
        for x, what in zip(xs, given, strict=True):
            if type(what) not in (int, float, complex):
                check_cast(x.dtype, loop, casting, op_name)
        xs = [x._astype(loop, False) for x in xs]
    target, some = single_out(out, op_name), mask(where, xs[0], op_name)
    shape = _core._broadcast_arrays(xs, op_name)[0].shape
    if some is not None:  # all is checked before the exponents of powers are looked at
        check_where(shape, some, op_name)
        shape = np.broadcast_shapes(shape, some.shape)
    if type(target) is Array:
        check_out(shape, target, op_name)
        check_cast(result_dtype, target.dtype, casting, op_name)
    return placed(getattr(_core, op_name)(*xs), target, some, op_name, casting)
