# python/pardo/_compiler/classes.py: classes of structs as the compiler takes them: their methods, static methods and properties.
from __future__ import annotations

import itertools
import threading
import types
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
from pardo import _core
from pardo._compiler.names import Captured, current, python_function

# What a kernel cannot follow if a class changes it.
FIXED = (
    "__init__", "__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__getitem__", "__setitem__", "__len__",
    "__iter__", "__contains__", "__init_subclass__", "__class_getitem__", "__array_ufunc__",
)  # fmt: skip

METHOD, STATIC, PROPERTY, REFUSED = range(4)  # include/pardo/syntax.h has the same
CONSTANT = 4  # a property that always gives one value

_numbers = itertools.count(1)
_known: weakref.WeakValueDictionary[int, type] = weakref.WeakValueDictionary()
_lock = threading.RLock()
_translated: weakref.WeakSet[Compiled] = weakref.WeakSet()


def members_of(kind: type) -> dict[str, tuple[int, Any]]:
    """The functions and constants that a class has itself, by name, and what they are."""
    found: dict[str, tuple[int, Any]] = {}
    for name, member in vars(kind).items():
        if isinstance(member, staticmethod):
            found[name] = (STATIC, member.__func__)
        elif isinstance(member, property):
            found[name] = (PROPERTY, member.fget)
        elif isinstance(member, classmethod):
            found[name] = (REFUSED, member.__func__)
        elif isinstance(member, types.FunctionType) or hasattr(member, "_pardo_function"):
            found[name] = (METHOD, member)
        elif not name.startswith("_") and _is_constant(member):
            found[name] = (CONSTANT, None)
    return found


def _is_constant(value: Any) -> bool:
    return all(map(_is_constant, value)) if type(value) is tuple else isinstance(value, (bool, int, float, complex, np.number, np.bool_))


def _giving(value: Any) -> Any:
    def constant(self: Any) -> Any:
        return value

    return constant


class Compiled:
    """A class of structs for the compiler. Its functions are translated at the first use, and anew when what they use changes."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.made = _core._Class(number := next(_numbers))
        _known[number] = kind
        self._members = members_of(kind)
        self._captured: list[Any] = []  # by its functions, from outside
        self._uses: list[Compiled] = []  # classes of which its functions make structs
        self._translations: list[tuple[str, int, Any, int, str]] | None = None
        self._state = object()
        self._under_way = False

    def current(self) -> _core._Class:
        """What stands for the class, with its functions as they are now."""
        if self._members:
            self._refresh()
        return self.made

    @property
    def state(self) -> object:
        """Another object whenever its functions have changed, or those of classes that they use."""
        if self._members:
            self._refresh()
        return self._state

    def _refresh(self) -> None:
        with _lock:
            if self._under_way:
                return
            if self._translations is None:
                self._translate()
                self._publish()
            changed = [c for c in self._reached({}) if c._changed()]
            for c in changed:
                c._translate()
            for c in list(_translated) if changed else ():  # which of them depend on what has changed is not worth knowing
                c._publish()
                c._state = object()

    def _publish(self) -> None:
        self.made._set(self._translations or [])

    def _changed(self) -> bool:
        return not self._under_way and any(current(captured) is not captured.value for captured in self._captured)

    def _reached(self, seen: dict[int, Compiled]) -> Iterable[Compiled]:
        """The class and all that its functions use."""
        if id(self) not in seen:
            seen[id(self)] = self
            for c in self._uses:
                c._reached(seen)
        return seen.values()

    def _translate(self) -> None:
        from pardo._compiler import frontend

        self._under_way = True
        outer, frontend._under_way.functions = frontend._under_way.functions, []  # one of them may be among the class's own
        try:
            captured: list[Any] = []
            members = [
                (name, PROPERTY if what == CONSTANT else what, *self._translated(name, what, f, captured))
                for name, (what, f) in self._members.items()
            ]
        finally:
            self._under_way = False
            frontend._under_way.functions = outer
        self._captured = [c for c in captured if not isinstance(c.owner, Compiled)]
        self._uses = [c.owner for c in captured if isinstance(c.owner, Compiled)]
        self._translations = members
        _translated.add(self)

    def _translated(self, name: str, what: int, function: Any, captured: list[Any]) -> tuple[Any, int, str]:
        """A function, or the code of an error and its message: other methods can be used all the same."""
        from pardo._compiler import frontend

        if what == CONSTANT:
            value = getattr(self.kind, name)
            captured.append(Captured(self.kind, name, value))
            function = _giving(value)
        plain = python_function(function)
        if what == REFUSED or plain is None:
            spoken = "a class method" if what == REFUSED else "no plain function"
            return None, 1, f"{self.kind.__name__}.{name} is {spoken}, which a kernel cannot call; write a method or a static method"
        try:
            translation = frontend.translate(plain)
        except (_core.CompileError, TypeError, NameError, AttributeError, OverflowError, ValueError, OSError) as e:
            codes = ((NameError, 12), (OverflowError, 3), (TypeError, 1), (ValueError, 0))
            return None, next((code for kind, code in codes if isinstance(e, kind)), 8), str(e)
        captured.extend(translation.captured)
        return translation.function, 0, ""


def known(number: int) -> type:
    """The class with this number."""
    return _known[number]
