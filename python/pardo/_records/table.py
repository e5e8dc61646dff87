# python/pardo/_records/table.py: which functions of the package take arrays of records, and what does it in their place.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pardo._base.arguments import index
from pardo._functions import choosing
from pardo._records import functions, numbered
from pardo._records.arrays import StructuredArray
from pardo._records.functions import as_records

_WRITTEN_ONCE = (
    "append", "argsort", "argwhere", "array_equal", "array_split", "astype", "broadcast_arrays", "broadcast_to", "column_stack", "compress",
    "concatenate", "copy", "copyto", "delete", "diagonal", "dsplit", "dstack", "empty_like", "expand_dims", "flatnonzero", "flip", "fliplr",
    "flipud", "full_like", "hsplit", "hstack", "matrix_transpose", "meshgrid", "moveaxis", "nonzero", "ones_like", "repeat", "roll",
    "rollaxis", "rot90", "searchsorted", "sort", "split", "squeeze", "stack", "take", "take_along_axis", "tile", "unique", "unstack",
    "vsplit", "vstack", "where", "zeros_like",
)  # fmt: skip
_BY_NUMBERS = ("array_equiv", "block", "choose", "count_nonzero", "insert", "isin", "pad", "select", "trim_zeros")


def _as_method(name: str) -> Callable[..., Any]:
    return lambda x, /, *args, **keywords: getattr(as_records(x, name), name)(*args, **keywords)


TABLE: dict[str, Callable[..., Any]] = {
    **{name: getattr(functions, name) for name in _WRITTEN_ONCE},
    **{name: getattr(numbered, name) for name in _BY_NUMBERS},
    **{name: numbered.arranged(name) for name in ("diag", "diagflat", "resize", "tril", "triu")},
    **{name: numbered.compared(name) for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d")},
    **{name: numbered.unique_by(name) for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values")},
    **{
        name: numbered.written(name, at)
        for name, at in (("fill_diagonal", 1), ("place", 2), ("put", 2), ("put_along_axis", 2), ("putmask", 2))
    },
    **{name: numbered.of_memory(name) for name in ("may_share_memory", "shares_memory")},
    **{name: _as_method(name) for name in ("ravel", "reshape", "swapaxes", "transpose")},
    "apply_along_axis": choosing.apply_along_axis,
    "apply_over_axes": choosing.apply_over_axes,
    "argpartition": lambda x, /, kth, axis=-1, kind=None, order=None: functions.argsort(x, axis, order=order),
    "asfortranarray": lambda x, dtype=None, **place: _in_columns(
        functions.astype(x, x.dtype if dtype is None else dtype, copy=False, **place)
    ),
    "atleast_1d": lambda *items: functions.each_at_least(1, items),
    "atleast_2d": lambda *items: functions.each_at_least(2, items),
    "atleast_3d": lambda *items: functions.each_at_least(3, items),
    "concat": functions.concatenate,
    "extract": numbered.arranged("extract", 1),
    "iscomplexobj": lambda x: False,
    "isfortran": lambda a: a.flags.fnc,
    "isrealobj": lambda x: True,
    "min_scalar_type": lambda a: a.dtype,
    "ndim": lambda a: a.ndim,
    "partition": lambda x, /, kth, axis=-1, kind=None, order=None: functions.sort(x, axis, order=order),
    "permute_dims": lambda x, /, axes=None: as_records(x, "permute_dims").transpose(axes),
    "row_stack": functions.vstack,
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[index(axis, "size: axis")],
}


def _in_columns(x: StructuredArray) -> StructuredArray:
    return x if x.flags.f_contiguous else x.copy("F")
