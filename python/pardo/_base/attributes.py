# python/pardo/_base/attributes.py: properties made of functions, whose types type checkers see where the functions name the object's class.
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Never, TypeVar, overload

S = TypeVar("S")
T = TypeVar("T")

if TYPE_CHECKING:

    class attribute(Generic[S, T]):  # noqa: N801 (used like a function)
        """A property of objects S, which cannot be set."""

        def __init__(self, get: Callable[[S], T], set: Callable[[S, Any], None] | None = None) -> None: ...
        @overload
        def __get__(self, x: None, kind: Any, /) -> attribute[Any, T]: ...
        @overload
        def __get__(self, x: S, kind: Any = None, /) -> T: ...
        def __get__(self, x: Any, kind: Any = None, /) -> Any: ...
        def __set__(self, x: S, value: Never, /) -> None: ...

    class changeable(attribute[S, T]):  # noqa: N801
        """One that can be set."""

        def __set__(self, x: S, value: Any, /) -> None: ...

else:
    attribute = changeable = property
