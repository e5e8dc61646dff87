# python/pardo/_base/tracebacks.py: what an exception shows when it leaves a call of users': their frames, and the name that they called.
from __future__ import annotations

import builtins
import contextlib
import os
import re
import sys
from collections.abc import Callable
from types import FunctionType, TracebackType
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import absent
from pardo._base.arguments import warn
from pardo._base.package import FOLDER, owns, users_line

# `PARDO_TRACEBACK=full` keeps all frames, to look for a fault of the package itself.
_TRACEBACK = os.environ.get("PARDO_TRACEBACK", "")
FULL = _TRACEBACK.lower() == "full" or _core._is_debug_build
if _TRACEBACK.lower() not in ("full", ""):
    warn(f"pardo: PARDO_TRACEBACK={_TRACEBACK}: expected full", RuntimeWarning)
# Called with each function that users see, and the one inside of it.
made: list[Callable[[Any, Any], None]] = []

_LIBRARIES = (os.path.join(os.path.dirname(os.__file__), ""), os.path.join(os.path.dirname(np.__file__), ""), "<frozen ")
_INSTALLED = ("site-packages", "dist-packages")
_PREFIX = re.compile(r"([A-Za-z_][\w.]*|x\[[^\]]*\](?: = value)?)(\(\)|: )")
# Of what has failed on a device, with the line that handed it over; of a kernel's line, which it shows.
_LATE = re.compile(r" \((?:in (?:kernel|host task) .*|at (.*))\)$|\n  File \"")
_KEYWORD = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'$")
_POSITIONAL = re.compile(r"(\w+)\(\) takes 0 positional arguments but")
_RENAMED = (TypeError, ValueError, IndexError, OverflowError, NotImplementedError, MemoryError, BufferError, ZeroDivisionError)
_OF_OTHERS = (TypeError, ValueError, IndexError, OverflowError)
# Whose functions name themselves in messages; others name users' functions: kernels, files, queues.
_SPEAKING = tuple(
    os.path.join(FOLDER, folder, "")
    for folder in (
        "_analysis", "_array", "_base", "_data", "_fft", "_filters", "_functions", "_host", "_matrices", "_numpy", "_polynomials",
        "_random", "_records", "_runtime", "_sparse", "_ufunc", "lib",
    )
)  # fmt: skip
_SILENT = ("as_completed", "force", "wait", "wait_all", "wait_any")  # what they raise is of what they wait for
_put = BaseException.__setattr__  # classes of users may forbid theirs, as frozen data classes do
_faces: dict[tuple[int, str, str], Any] = {}
_swept: set[Any] = set()  # modules and classes
_names: set[str] = {"Device"}


# --- frames ---------------------------------------------------------------------------------------------------------------------


def leave(exception: BaseException, traceback: TracebackType | None, name: str | None) -> TracebackType | None:
    """What stays of the traceback of an exception that leaves a function; its message gets the name that was called."""
    kept = _without_ours(traceback)
    _shorten_chain(exception)
    if kept is None:
        _explain_keyword(exception)
        if name is not None and "_pardo_keeps_message" not in exception.__dict__:  # set by python/bind/error.cpp
            _rename(exception, name)
    return traceback if FULL else kept


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without frames of the package, and of what it called itself: Python's library, NumPy."""
    first: TracebackType | None = None
    last: TracebackType | None = None
    ours = False
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        ours = owns(file) or (ours and _is_library(file))
        if not ours:
            if first is None:
                first = traceback
            elif not FULL and last is not None and last.tb_next is not traceback:
                last.tb_next = traceback
            last = traceback
        traceback = traceback.tb_next
    if last is not None and last.tb_next is not None and not FULL:
        last.tb_next = None
    return first


def _is_library(file: str) -> bool:
    return file.startswith(_LIBRARIES) and (file.startswith(_LIBRARIES[1:]) or not any(part in file for part in _INSTALLED))


def _shorten_chain(exception: BaseException) -> None:
    """The same for the exceptions that this one has come from; those that the package has handled itself are left out."""
    if FULL:
        return
    seen = {id(exception)}
    while True:
        cause, context = exception.__cause__, exception.__context__
        while context is not None and context is not cause and id(context) not in seen and context.__traceback__ is not None:
            kept = _without_ours(context.__traceback__)
            if kept is not None:
                break
            seen.add(id(context))
            context = context.__context__
        if context is not exception.__context__:
            _put(exception, "__context__", context)
        following = cause if cause is not None else context
        if following is None or id(following) in seen:
            return
        seen.add(id(following))
        if following.__traceback__ is not None:
            following.with_traceback(_without_ours(following.__traceback__))
        exception = following


def note(exception: BaseException, text: str) -> None:
    """Add a note, unless the class of the exception forbids to set attributes: the exception matters more."""
    with contextlib.suppress(Exception):
        exception.add_note(text)


# --- names ----------------------------------------------------------------------------------------------------------------------


def _rename(exception: BaseException, name: str) -> None:
    """Let a message speak of the function that was called: in place of one inside of it, and where it speaks of none, as those of Python's
    and NumPy's own. Late failures name what has failed, and stay as they are."""
    of_an_axis = isinstance(exception, np.exceptions.AxisError)
    if not isinstance(exception, _RENAMED) or (len(exception.args) != 1 and not of_an_axis):
        return
    text = str(exception)
    found, late = _PREFIX.match(text), _LATE.search(text)
    if found is not None and (found[1] == name or found[1].endswith(f".{name}")):
        return
    if (late is not None and late[1] != users_line()) or text.startswith("PARDO_"):  # what the environment asks for is named already
        return
    if found is not None and (found[1].removeprefix("Array.") in _known_names() or found[1].startswith("x[")):
        said = name + text[found.end(1) :]
    elif type(exception) in _OF_OTHERS and (found is None or (found[2] == "()" and hasattr(builtins, found[1]))):  # "int() argument …"
        said = f"{name}: {text}"
    else:
        return
    if of_an_axis:
        error: Any = exception
        error._msg, error.axis, error.ndim = said, None, None
    _put(exception, "args", (said,))


def _explain_keyword(exception: BaseException) -> None:
    """Let Python's message on a keyword that only others' functions have say what to write."""
    found = _KEYWORD.search(str(exception)) if isinstance(exception, TypeError) else None
    if found is not None and (told := absent.keyword(found[1], found[2])):
        _put(exception, "args", (f"{exception}: {told}",))
    found = _POSITIONAL.match(str(exception)) if isinstance(exception, TypeError) else None
    if found is not None and (told := absent.BY_PLACE.get(found[1], "")):
        _put(exception, "args", (f"{exception}: {told}",))


def _known_names() -> set[str]:
    """What messages of the package begin with."""
    if "add" not in _names:
        _names.update(row[0] for row in _core._op_table())
    return _names


# --- functions ------------------------------------------------------------------------------------------------------------------


def is_shown(value: Any) -> bool:
    """Whether users see an object around it: functions of the package."""
    return type(value) is _core._Shown or (isinstance(value, FunctionType) and owns(value.__code__.co_filename))


def shown(inner: Any, name: str, module: str | None, qualname: str = "", keep: bool = True) -> Any:
    """What users call in place of a function of the package, by a name."""
    if isinstance(inner, _core._Shown):
        if inner.__name__ == name:
            return inner
        inner = inner.__wrapped__
    key = id(inner), name, qualname or name
    found = _faces.get(key)
    if found is None:
        says = not name.startswith("__") and _speaks(inner)
        found = _core._show(inner, name, qualname or name, module, says)
        if keep:
            _faces[key] = found
        if says:
            _names.add(name)
            _names.add(inner.__name__)
        for note in made:
            note(found, inner)
    return found


def _speaks(inner: Any) -> bool:
    """Whether messages speak of the function itself, and not of one that users have written."""
    while not isinstance(inner, FunctionType) or hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    return inner.__code__.co_filename.startswith(_SPEAKING) and inner.__name__ not in _SILENT


def show_class(kind: type, again: bool = False) -> None:
    """The same for the methods and properties of a class of the package and of its bases, in place; `again` after it got more of them."""
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] == "pardo" and (base not in _swept or (again and base is kind)):
            _swept.add(base)
            _show_members(base)


def _show_members(kind: type) -> None:
    for name, value in list(vars(kind).items()):
        if name == "__class__" or (name.startswith("_") and not name.startswith(("__", "_repr_"))):
            continue  # set, it would be the class of the class; the package's own
        replaced = _shown_member(kind, name, value)
        if replaced is not value:
            setattr(kind, name, replaced)


def _shown_member(kind: type, name: str, value: Any) -> Any:
    if isinstance(value, FunctionType):
        return _method(kind, name, value)
    if isinstance(value, (staticmethod, classmethod)) and isinstance(value.__func__, FunctionType):
        return type(value)(_method(kind, name, value.__func__))
    if type(value) is property:
        getter, setter, deleter = (f if f is None else _method(kind, name, f) for f in (value.fget, value.fset, value.fdel))
        return property(getter, setter, deleter, value.__doc__)
    return value


def _method(kind: type, name: str, function: Any) -> Any:
    if not isinstance(function, FunctionType) or not owns(function.__code__.co_filename):
        return function
    return shown(function, name, function.__module__, function.__qualname__)


def show_classes(module: str) -> None:
    """Each class that a module defines: users meet instances of private ones too."""
    if module in _swept:
        return
    _swept.add(module)
    for value in list(vars(sys.modules[module]).values()):
        if isinstance(value, type) and value.__module__ in (module, "pardo") and not issubclass(value, BaseException):
            show_class(value)
            if module.startswith("pardo._sparse."):
                _names.add(value.__name__)


def _show_result(result: Any) -> Any:
    """What a call has given: a generator of the package's, or a function such as a decorator with its options."""
    if isinstance(result, FunctionType):
        return shown(result, result.__name__, result.__module__, result.__qualname__, keep=False) if is_shown(result) else result
    return _core._show_generator(result) if owns(result.gi_code.co_filename) else result


_core._install({"leave": leave, "show_result": _show_result})
