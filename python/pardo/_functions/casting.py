# python/pardo/_functions/casting.py: calls of universal functions with a rule of casting that is not 'same_kind'.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pardo import _core
from pardo._base.arguments import arrays, check_cast, check_casting, dtype_of, mask, single_out
from pardo._core import Array
from pardo._functions.operands import placed


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
    result = getattr(_core, op_name)(*xs)
    return placed(result, single_out(out, op_name), mask(where, result, op_name), op_name, casting)
