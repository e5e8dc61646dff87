# python/pardo/_base/takers.py: which classes of arguments let something else answer the calls that they are given to.
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

# By the class of an argument: what gives the function to call in place of another one, or None where that is none of its.
TAKERS: dict[type, Callable[[Callable[..., Any]], Callable[..., Any] | None]] = {}


def taken_over(function: Callable[..., Any], arguments: Iterable[Any]) -> Callable[..., Any] | None:
    """What is called in place of a function, because of one of the arguments; None where there is nothing."""
    if TAKERS:
        for x in arguments:
            taker = TAKERS.get(type(x))
            if taker is not None:
                return taker(function)
    return None
