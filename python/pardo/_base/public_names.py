# python/pardo/_base/public_names.py: what is public says so: `__module__` is where users find it, in help, repr and pickles.
from __future__ import annotations

import re
import sys
import types
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

from pardo._base import tracebacks
from pardo._base.tracebacks import show_classes as show_classes

C = TypeVar("C", bound=type)


def publish(namespace: dict[str, Any], shown: tuple[str, ...]) -> None:
    """Give the public names of the package the module that they are public in. `shown`: of modules whose classes users meet, public or not,
    what their names begin with."""
    for name, value in list(namespace.items()):
        if not name.startswith("_"):
            namespace[name] = say(value, name, "pardo")
    for name in list(sys.modules):
        if name.startswith(shown):
            tracebacks.show_classes(name)
    rebuild = namespace["_rebuild_array"]
    rebuild.__module__, rebuild.__qualname__ = "pardo", "_rebuild_array"


def publish_module(namespace: dict[str, Any], module: str | None = None) -> None:
    """The same for those of one module, at its end; for a private one say in which module they are public, however it is imported."""
    for name in namespace["__all__"]:
        namespace[name] = say(namespace[name], name, module or namespace["__name__"])
    tracebacks.show_classes(namespace["__name__"])
    if "._" not in namespace["__name__"]:
        answer(namespace)


def show_module(namespace: dict[str, Any]) -> None:
    """What a public module that has no list of its names defines, and what it says of names that it does not have."""
    for name, value in list(namespace.items()):
        if not name.startswith("_"):
            namespace[name] = say(value, name, namespace["__name__"])
    tracebacks.show_classes(namespace["__name__"])
    answer(namespace)


def answer(namespace: dict[str, Any]) -> None:
    """Let a public module say of names that it does not have what to use; one that answers itself does so without its frame."""
    name = namespace["__name__"]
    own = namespace.get("__getattr__")

    def __getattr__(attribute: str) -> Any:  # noqa: N807
        from pardo._base import absent

        raise absent.missing(name, attribute)

    namespace["__getattr__"] = tracebacks.shown(own or __getattr__, "__getattr__", name)


class Annotation(str):
    """What an annotation says, without quotes in `help`."""

    __slots__ = ()
    __repr__ = str.__str__


def renamed(function: FunctionType, names: tuple[str, ...], by_position: int = 0) -> tuple[types.CodeType, str | None, dict[str, Any]]:
    """Code, text and annotations of a function whose first parameters have other names, and so many are taken by position alone."""
    code, count = function.__code__, len(names)
    other = dict(zip(code.co_varnames[:count], names, strict=True))
    text = function.__doc__
    for old, new in other.items():
        if text and old != new:
            text = re.sub(rf"(?m)^( *(?:\w+, )*){old}(?=(?:, \w+)* : )", rf"\g<1>{new}", text).replace(f"`{old}`", f"`{new}`")
    annotations = {other.get(name, name): value for name, value in function.__annotations__.items()}
    cells = tuple(other.get(name, name) for name in code.co_cellvars)
    varnames = (*names, *code.co_varnames[count:])
    return code.replace(co_varnames=varnames, co_cellvars=cells, co_posonlyargcount=by_position), text, annotations


def as_method(function: FunctionType, kind: str, name: str) -> FunctionType:
    """A method made of a function of arrays: its first parameter is `self`, and its text does not list that."""
    first = function.__code__.co_varnames[0]
    code, text, annotations = renamed(function, ("self",), 1)
    code = code.replace(co_name=name, co_qualname=f"{kind}.{name}")
    method = FunctionType(code, function.__globals__, name, function.__defaults__, function.__closure__)
    method.__kwdefaults__, method.__module__, method.__qualname__ = function.__kwdefaults__, function.__module__, f"{kind}.{name}"
    method.__annotations__ = annotations
    if text:
        text = re.sub(r"(?m)^( *)self : [^\n]*\n(?:\1 +[^\n]*\n)*", "", text)
        text = re.sub(r"(?m)^ *Parameters\n *-+\n *\n", "", text)
        text = re.sub(r"(?m)^( *)`self`", r"\1The array", text)
        method.__doc__ = text.replace("`self`", "the array").replace(f"`{first}`", "the array")
    return method


def take_numpys_names(function: FunctionType, theirs: Any) -> None:
    """Let a function take what it takes by position alone also by the names that NumPy's function has for it; its signature says so."""
    code = getattr(getattr(theirs, "_implementation", theirs), "__code__", None)
    own, count = function.__code__, function.__code__.co_posonlyargcount
    if code is None or count == 0 or code.co_posonlyargcount:
        return
    names = code.co_varnames[: code.co_argcount][:count]
    later = own.co_varnames[count : own.co_argcount + own.co_kwonlyargcount]
    if len(names) == count and not set(names) & set(later):
        function.__code__, function.__doc__, function.__annotations__ = renamed(function, names)


def named_as_class(kind: C) -> C:
    """Decorate a class that inherits `__init__`: what Python says of wrong arguments names this class."""
    inherited: Any = kind.__init__  # type: ignore[misc]
    own = FunctionType(inherited.__code__, inherited.__globals__, "__init__", inherited.__defaults__, inherited.__closure__)
    own.__kwdefaults__, own.__annotations__, own.__doc__ = inherited.__kwdefaults__, inherited.__annotations__, inherited.__doc__
    own.__qualname__, own.__module__ = kind.__name__, inherited.__module__
    kind.__init__ = own  # type: ignore[misc]
    return kind


def unquote(value: Any) -> None:
    """Annotations are texts, which `help` shows in quotes: these show themselves without."""
    parts = list(vars(value).values()) if isinstance(value, type) else (value,)
    for part in parts:
        function = getattr(part, "__wrapped__", part)
        if isinstance(function, FunctionType):
            for name, text in function.__annotations__.items():
                if type(text) is str:
                    function.__annotations__[name] = Annotation(text)


def say(value: Any, name: str, module: str) -> Any:
    """Give an object its public module, and return it. Another name of the same object, and what other packages have made, stay what they
    are. A function is shown by an object around it, which has that name, and is found where pickles of earlier versions look for it."""
    if isinstance(value, ModuleType):
        return value
    home = getattr(value, "__module__", None) or ""
    own_name = home.startswith("pardo._") and getattr(value, "__name__", None) == name and not isinstance(value, MethodType)
    if isinstance(value, type) and home.partition(".")[0] == "pardo":
        tracebacks.show_class(value)
        if home in sys.modules:
            tracebacks.show_classes(home)
    if own_name:
        value.__module__ = module
        unquote(value)
    if isinstance(value, SimpleNamespace):
        for each, function in vars(value).items():
            setattr(value, each, say(function, each, module))
    if not tracebacks.is_shown(value):
        return value
    shown = tracebacks.shown(value, name, module)
    if own_name and getattr(sys.modules.get(home), name, None) is value:
        setattr(sys.modules[home], name, shown)
    return shown
