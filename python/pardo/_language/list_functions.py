# python/pardo/_language/list_functions.py: methods of lists and sets of numbers as kernels and loops run them, in the kernel language.
from __future__ import annotations

from collections.abc import Callable
from typing import Any


def copy(values: Any) -> Any:
    return [v for v in values]  # noqa: C416 (the compiler knows this form)


def extend(values: Any, more: Any) -> None:
    for v in more:
        values.append(v)


def update(values: Any, more: Any) -> None:
    for v in more:
        values.add(v)


def insert(values: Any, i: Any, value: Any) -> None:
    n = len(values)
    at = max(i + n, 0) if i < 0 else min(i, n)
    values.append(value)
    for k in range(n, at, -1):
        values[k] = values[k - 1]
    values[at] = value


def pop(values: Any, i: Any) -> Any:
    value = values[i]
    at = i + len(values) if i < 0 else i
    for k in range(at, len(values) - 1):
        values[k] = values[k + 1]
    values._shorten()
    return value


def index(values: Any, value: Any) -> Any:
    for k in range(len(values)):
        if values[k] == value:
            return k
    raise ValueError("the value is not in the list")


def count(values: Any, value: Any) -> Any:
    n = 0
    for v in values:
        if v == value:
            n += 1
    return n


def taken_out(elements: Any, value: Any) -> Any:
    """Whether a value is among the elements; the first one that is leaves its place to those after it."""
    found = False
    for k in range(len(elements)):
        if found:
            elements[k - 1] = elements[k]
        elif elements[k] == value:
            found = True
    return found


def remove(values: Any, value: Any) -> None:
    if taken_out(values._elements, value):
        values._shorten()
    else:
        raise ValueError("the value to be removed is not there")


def discard(values: Any, value: Any) -> None:
    if taken_out(values._elements, value):
        values._shorten()


def reverse(values: Any) -> None:
    n = len(values)
    for k in range(n // 2):
        low, high = values[k], values[n - 1 - k]
        values[k], values[n - 1 - k] = high, low


METHODS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (copy, extend, update, insert, pop, index, count, remove, discard, reverse)
}
