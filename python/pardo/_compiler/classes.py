# python/pardo/_compiler/classes.py: classes of structs: how they are made, and what their methods and properties are for the compiler.
from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import sys
import types
import typing
import weakref
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import dtype_of
from pardo._base.forks import held_lock
from pardo._base.public_names import publish_module
from pardo._compiler import frontend, source
from pardo._compiler.names import python_function
from pardo._compiler.structs import Struct, numpy_record, record

__all__ = ["struct"]

C = TypeVar("C")

# What a kernel cannot follow if a class changes it.
FIXED = (
    "__init__", "__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__getitem__", "__setitem__", "__len__",
    "__iter__", "__contains__", "__init_subclass__", "__class_getitem__", "__array_ufunc__",
)  # fmt: skip

METHOD, STATIC, PROPERTY, REFUSED = range(4)  # include/pardo/binding/syntax.h has the same
CONSTANT = 4  # for the compiler a property that gives it

_numbers = itertools.count(1)
_records: weakref.WeakValueDictionary[int, type] = weakref.WeakValueDictionary()
_lock = held_lock()
_translated: weakref.WeakSet[Compiled] = weakref.WeakSet()


class Refusal:
    """In the place of a method that there is not: what is said where a kernel calls it."""

    def __init__(self, problem: str) -> None:
        self.problem = problem


def members_of(kind: type) -> dict[str, tuple[int, Any]]:
    """The functions and constants that a class has itself, by name, and what they are."""
    found: dict[str, tuple[int, Any]] = {}
    for name, member in list(vars(kind).items()):
        if isinstance(member, staticmethod):
            found[name] = (STATIC, member.__func__)
        elif isinstance(member, property):
            found[name] = (PROPERTY, member.fget)
        elif isinstance(member, Refusal):
            found[name] = (REFUSED, member)
        elif isinstance(member, classmethod):
            found[name] = (REFUSED, member.__func__)
        elif isinstance(member, types.FunctionType) or hasattr(member, "_pardo_function"):
            found[name] = (METHOD, member)
        elif not name.startswith("_") and _is_constant(member):
            found[name] = (CONSTANT, None)
    return found


def _is_constant(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_)) or promotion.is_number_of_bfloat16(value)


_CONSTANT = (lambda: None).__code__.replace(co_filename="<constant>")  # not the package's own: what it sees changes


def _property_of(kind: type, name: str, number: int) -> types.FunctionType:
    """What a constant of a class is for the compiler: a property that gives it as it is at each launch. `number` is that of the class."""
    node: Any = ast.parse("def constant(self): return kind.value").body[0]
    node.args.args[0].arg = "$self"  # the class may be called so
    node.body[0].value.value.id, node.body[0].value.attr = kind.__name__, name
    code = _CONSTANT.replace(co_name=name, co_firstlineno=number)
    source.given[code] = lambda: source.Source(name, code.co_filename, 1, [f"{kind.__name__}.{name}"], node)
    weakref.finalize(kind, source.given.pop, code, None)
    return types.FunctionType(code, {kind.__name__: kind})


class Compiled:
    """A class of structs for the compiler. Its functions are translated at the first use, and again when what they use changes."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.made = _core._Class(number := next(_numbers))
        _records[number] = kind
        self._members = {
            name: (PROPERTY, _property_of(kind, name, number)) if what == CONSTANT else (what, f)
            for name, (what, f) in members_of(kind).items()
        }
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
        return not self._under_way and any(captured.changed() for captured in self._captured)

    def _reached(self, seen: dict[int, Compiled]) -> Iterable[Compiled]:
        """The class and all that its functions use."""
        if id(self) not in seen:
            seen[id(self)] = self
            for c in self._uses:
                c._reached(seen)
        return seen.values()

    def _translate(self) -> None:
        self._under_way = True
        outer, frontend.under_way.functions = frontend.under_way.functions, []  # one of them may be among the class's own
        try:
            captured: list[Any] = []
            members = [(name, what, *self._translated(name, what, f, captured)) for name, (what, f) in self._members.items()]
        finally:
            self._under_way = False
            frontend.under_way.functions = outer
        self._captured = [c for c in captured if not isinstance(c.owner, Compiled)]
        self._uses = [c.owner for c in captured if isinstance(c.owner, Compiled)]
        self._translations = members
        _translated.add(self)

    def _translated(self, name: str, what: int, function: Any, captured: list[Any]) -> tuple[Any, int, str]:
        """A function, or the code of an error and its message: other methods can be used all the same."""
        if isinstance(function, Refusal):
            return None, 1, function.problem
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


def remade(number: int, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """A struct that comes from a kernel: of the class with this number, with 0 a plain one, with -1 NumPy's record."""
    if number < 0:
        return numpy_record(names, values)
    kind: Any = _records[number] if number else record(names)
    made = object.__new__(kind)
    for field, type_, value in zip(names, kind._types, values, strict=True):
        whole = isinstance(type_, np.dtype) and not isinstance(value, np.dtype)
        object.__setattr__(made, field, type_.type(value) if whole else value)
    return made


_ALLOWED = "write a dtype (np.float32, 'float32'), int, float, complex, bool, another struct, or typing.Any for what is not converted"
_REFUSED = (str, bytes, bytearray, list, dict, set, frozenset)


def _names_around(cls: type, caller: types.FrameType) -> tuple[dict[str, Any], dict[str, Any]]:
    """Global and local names of a class: those of where it is decorated, if that is in its module."""
    if caller.f_globals.get("__name__", "builtins") == cls.__module__:
        return caller.f_globals, {**caller.f_locals, **vars(cls)}
    return vars(sys.modules.get(cls.__module__, builtins)), dict(vars(cls))


def _kind_of(annotation: Any, cls: type, name: str, names: tuple[dict[str, Any], dict[str, Any]]) -> Any:
    """What a field holds: a dtype, a struct, or None for values that are not converted. A string is what it says in the class, where that
    is made or in its module, and else a dtype's name."""
    field = f"struct: the field `{name}` of {cls.__name__}"
    if isinstance(annotation, str):
        text = annotation
        try:
            annotation = eval(text, *names)
        except Exception as e:
            try:
                annotation = promotion.host_dtype(text)
            except TypeError:
                wrong = NameError if isinstance(e, NameError) else TypeError
                raise wrong(f"{field} is annotated with {text!r}, which is no dtype and means nothing here ({e}); {_ALLOWED}") from None
        if isinstance(annotation, str):  # "'float32'", which annotations that are kept as text make of 'float32'
            return _kind_of(annotation, cls, name, names)
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, (np.generic, bool, int, float, complex)):
        annotation = np.dtype(annotation)
    if isinstance(annotation, np.dtype):
        return dtype_of(annotation, field)
    kind = typing.get_origin(annotation) or annotation
    if isinstance(kind, type) and issubclass(kind, _REFUSED):
        raise TypeError(f"{field} is {kind.__name__}, which kernels do not take; {_ALLOWED}")
    return None


def struct(cls: type[C]) -> type[C]:
    """Make a struct of a class with annotated fields: several values that kernels take, return and keep under one name.

    Parameters
    ----------
    cls : type
        A class whose annotations are dtypes (``x: np.float32``), other structs, or anything else for fields that are not converted. Values
        in the class are defaults.

    Returns
    -------
    type
        Made with ``P(1, y=2)``, in kernels too. Where its fields are arrays, ``p[i]`` is the struct of their elements and ``p[i] = q`` sets
        them all: memory holds one array for each field, which is what all devices read fastest. Fields of one struct do not change;
        ``p._replace(x=1)`` makes another. Kernels call the methods, properties and operators of the class.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> @pp.struct
    ... class Point:
    ...     x: np.float64
    ...     y: np.float64 = 0.0
    >>> @pp.kernel
    ... def flip(item: pp.Item, points):
    ...     i = item.get_id(0)
    ...     p = points[i]
    ...     points[i] = Point(p.y, p.x)
    >>> points = Point(pp.arange(3.0), pp.zeros(3))
    >>> flip[pp.Range(3)](points).wait()
    >>> points.y
    array([0., 1., 2.])
    """
    if not isinstance(cls, type):
        raise TypeError(f"struct: decorates a class, not {type(cls).__name__}")
    annotations = {n: a for n, a in inspect.get_annotations(cls).items() if not n.startswith("_")}
    if not annotations:
        raise TypeError(f"struct: {cls.__name__} has no annotated fields; write `x: np.float32`")
    names = _names_around(cls, sys._getframe(1)) if any(isinstance(a, str) for a in annotations.values()) else ({}, {})
    kinds: list[Any] = []
    for name, annotation in annotations.items():
        if name in ("shape", "ndim", "size"):
            raise TypeError(f"struct: a field cannot be called `{name}`, which is that of arrays of structs")
        kinds.append(_kind_of(annotation, cls, name, names))
    skipped = {"__dict__", "__weakref__", "__annotations__", *annotations}
    body = {k: v for k, v in vars(cls).items() if k not in skipped}
    defaults = {n: vars(cls)[n] for n in annotations if n in vars(cls)}
    body |= {"__slots__": tuple(annotations), "_fields": tuple(annotations), "_types": tuple(kinds), "_defaults": defaults}
    body["__qualname__"] = cls.__qualname__  # by which values of classes inside of others are pickled
    for name in FIXED:
        if name in vars(cls):
            raise TypeError(f"struct: {cls.__name__} defines {name}, which kernels cannot follow; write a function that makes the struct")
    made = type(cls.__name__, (Struct,), body)
    made._class = Compiled(made)  # type: ignore[attr-defined]
    return made


publish_module(globals(), "pardo")
