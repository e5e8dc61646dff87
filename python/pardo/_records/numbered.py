# python/pardo/_records/numbered.py: functions of the package on arrays of records by way of numbers, which the functions themselves move.
"""Records are numbered, a function puts the numbers where it would put the records, and the records are gathered in that order. So
functions that arrange elements, and those that compare nothing but whole elements, need no second version."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import face
from pardo._base.arguments import array
from pardo._core import Array
from pardo._records.arrays import StructuredArray
from pardo._records.functions import alike, as_records, concatenate, unique


class _Row:
    """Records of several arrays in one row, and the number of each in the place of the record. The first one, 0, is a record of zeros."""

    def __init__(self, items: Sequence[StructuredArray]) -> None:
        self.row = concatenate([np.zeros(1, items[0].dtype), *(x.ravel() for x in items)])
        self.numbers: list[Array] = []
        start = 1
        for x in items:
            numbers = _core._arange(start, start + x.size, 1, np.int64, x.queue)
            self.numbers.append(_core._reshape(numbers, list(x.shape)))
            start += x.size

    def records(self, numbers: Array) -> StructuredArray:
        return self.row[numbers]  # type: ignore[no-any-return]


def public(name: str) -> Callable[..., Any]:
    return face.public(name)  # type: ignore[no-any-return]


def _bound(name: str, args: Sequence[Any], keywords: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments by position."""
    return inspect.signature(public(name)).bind(*args, **keywords).args


def arranged(name: str, place: int = 0) -> Callable[..., Any]:
    """A function that arranges the elements of its argument at `place`."""

    def function(*args: Any, **keywords: Any) -> Any:
        given = _bound(name, args, keywords)
        row = _Row([as_records(given[place], name)])
        return row.records(public(name)(*given[:place], row.numbers[0], *given[place + 1 :]))

    return function


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> StructuredArray:
    """As `pardo.insert`."""
    x = as_records(arr, "insert")
    row = _Row([x, x._given(values, "insert")])
    return row.records(public("insert")(row.numbers[0], obj, row.numbers[1], axis))


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> StructuredArray:
    """As `pardo.choose`."""
    row = _Row(alike([choices[k] for k in range(len(choices))], "choose"))
    made = row.records(public("choose")(_beside(a, row, "choose"), row.numbers, None, mode))
    return made if out is None else _stored(made, out, "choose")


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> StructuredArray:
    """As `pardo.select`."""
    choices = alike(choicelist, "select")
    fallback = choices[0]._given(default, "select")
    row = _Row([*choices, fallback])
    return row.records(public("select")([_beside(c, row, "select") for c in condlist], row.numbers[:-1], row.numbers[-1]))


def _beside(x: Any, row: _Row, op_name: str) -> Array:
    return x if type(x) is Array else _core._host_operand(np.asarray(x), row.row.queue, op_name)


def _stored(made: StructuredArray, out: Any, op_name: str) -> Any:
    target = as_records(out, f"{op_name}: out")
    if target.shape != made.shape:
        raise ValueError(f"{op_name}: out has shape {target.shape}, but the result has shape {made.shape}")
    target[...] = made
    return target


def block(arrays: Any) -> StructuredArray:
    """As `pardo.block`."""
    found: list[Any] = []

    def collected(item: Any) -> Any:
        if isinstance(item, list):
            return [collected(part) for part in item]
        found.append(item)
        return len(found) - 1

    tree = collected(arrays)
    row = _Row(alike(found, "block"))

    def numbered(item: Any) -> Any:
        return [numbered(part) for part in item] if isinstance(item, list) else row.numbers[item]

    return row.records(public("block")(numbered(tree)))


def pad(array: Any, pad_width: Any, mode: Any = "constant", **keywords: Any) -> StructuredArray:
    """As `pardo.pad`, in the modes that repeat elements; ``constant_values`` is one value for all sides."""
    x = as_records(array, "pad")
    if mode not in ("constant", "edge", "empty", "reflect", "symmetric", "wrap") or keywords.get("reflect_type", "even") != "even":
        raise TypeError(f"pad: mode {mode!r} computes with elements, which records cannot be; pad the fields")
    row = _Row([x])
    if mode == "constant":
        row.row[0] = keywords.pop("constant_values", 0)
    return row.records(public("pad")(row.numbers[0], pad_width, mode, **keywords))


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> StructuredArray:
    """As `pardo.trim_zeros`."""
    x = as_records(filt, "trim_zeros")
    row = _Row([x])
    return row.records(public("trim_zeros")(_core._where(x._some(), row.numbers[0], 0), trim, axis))


def written(name: str, values_at: int) -> Callable[..., None]:
    """A function that changes its first argument: to elements of the one at `values_at`."""

    def function(*args: Any, **keywords: Any) -> None:
        x, *given = _bound(name, args, keywords)
        x, at = as_records(x, name), values_at - 1
        if not x.writeable:
            raise ValueError(f"{name}: assignment destination is read-only")
        row = _Row([x, x._given(given[at], name)])
        public(name)(row.numbers[0], *given[:at], row.numbers[1], *given[at + 1 :])
        x[...] = row.records(row.numbers[0])

    return function


def _ranks(items: Sequence[Any], op_name: str) -> tuple[StructuredArray, list[Array]]:
    """The different records of some arrays in order, and for each record of the arrays which one it is."""
    found = alike(items, op_name)
    values, places = unique(concatenate([x.ravel() for x in found]), return_inverse=True)
    parts, start = [], 0
    for x in found:
        parts.append(_core._reshape(places[start : start + x.size], list(x.shape)))
        start += x.size
    return values, parts


def compared(name: str) -> Callable[..., Any]:
    """A function of sets, of two arrays: its first result, or its only one, holds elements."""

    def function(ar1: Any, ar2: Any, *args: Any, **keywords: Any) -> Any:
        values, ranks = _ranks([ar1, ar2], name)
        made = public(name)(*ranks, *args, **keywords)
        return (values[made[0]], *made[1:]) if isinstance(made, tuple) else values[made]

    return function


def isin(x1: Any, /, test_elements: Any, *args: Any, **keywords: Any) -> Array:
    """As `pardo.isin`."""
    return public("isin")(*_ranks([x1, test_elements], "isin")[1], *args, **keywords)  # type: ignore[no-any-return]


def unique_by(name: str) -> Callable[..., Any]:
    """One of the four functions of the array API."""

    def function(x: Any, /) -> Any:
        values, (ranks,) = _ranks([x], name)
        made = public(name)(ranks)
        return type(made)(values, *made[1:]) if isinstance(made, tuple) else values

    return function


def array_equiv(a1: Any, a2: Any) -> bool:
    """As `pardo.array_equiv`."""
    a, b = (x if isinstance(x, Array) else array(x, "array_equiv") for x in alike([a1, a2], "array_equiv"))
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return bool(_core.all(a == b))


def count_nonzero(x: Any, /, *args: Any, **keywords: Any) -> Any:
    """As `pardo.count_nonzero`."""
    return public("count_nonzero")(as_records(x, "count_nonzero")._some(), *args, **keywords)


def of_memory(name: str) -> Callable[..., Any]:
    def function(*args: Any, **keywords: Any) -> Any:
        return public(name)(*(x._memory if isinstance(x, StructuredArray) else x for x in args), **keywords)

    return function
