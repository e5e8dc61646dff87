# python/pardo/_compiler/translation_cache.py: translations on disk, next to their programs: text and tree of functions as they were.
from __future__ import annotations

import functools
import marshal
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pardo import _core
from pardo._compiler.names import Names, UndescribedError, UnknownNameError, described, python_function, shape_of

# Those that make translations.
MODULES = [
    "forms",
    "frontend",
    "intrinsics",
    "names",
    "numba_cython",
    "source",
    "source_search",
    "translation_cache",
    "translations",
    "translator",
]

# Name, file, first line, lines, parameters, rest, defaults, body.
Text = tuple[str, str, int, list[str], list[str], str, list[Any], tuple[Any, ...]]


class Translation(NamedTuple):
    """What is on disk of a function: all of it plain data."""

    file: tuple[int, int]  # when it was changed, and its size
    asked: dict[tuple[str, ...], Any]  # dotted names from outside, and what of their values the rest depends on
    called: list[list[tuple[str, ...]]]  # those that stand for each function which it calls, in the order of their numbers
    given: list[Any]  # what of its defaults the rest depends on
    function: Text  # what _core._Function takes, up to the callees
    library: bool
    outside: list[tuple[tuple[str, ...], tuple[int, ...]]]  # numbers that launches read: of which name, and which part of its value


@functools.cache
def _translator() -> tuple[Any, ...]:
    """Tells one translator from another of the same version: Python's, and a developer's who changes this one."""
    paths = [os.path.join(os.path.dirname(__file__), f"{name}.py") for name in MODULES]
    return sys.implementation.cache_tag, [os.stat(path).st_mtime_ns for path in paths if os.path.exists(path)]


class Place(NamedTuple):
    """Where a function's translation is kept, and what its file was before its text was read."""

    key: bytes
    file: tuple[int, int]  # when it was changed, and its size


def place_of(function: types.FunctionType) -> Place | None:
    """By the function's code; those that one `def` makes with different numbers are all kept.

    None if there is no file, or a line may hold several functions.
    """
    code = function.__code__
    try:
        file = os.stat(code.co_filename)
    except OSError:
        return None
    if code.co_name == "<lambda>":
        return None
    moving = Names(function).moving
    cells = [_described(cell, (name,) in moving) for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)]
    key = marshal.dumps((_translator(), function.__name__, _without_slices(code), cells, sorted(moving)), 2)
    return Place(key, (file.st_mtime_ns, file.st_size))


def _without_slices(value: Any) -> Any:
    """Code, or one of its constants: slices, which compilers from Python 3.14 on make constants of, as tuples.

    The second format of `marshal` knows no slices, and in later ones the bytes depend on who else refers to a constant.
    """
    if isinstance(value, slice):
        return "slice", value.start, value.stop, value.step
    if isinstance(value, tuple):
        return tuple(_without_slices(v) for v in value)
    if isinstance(value, types.CodeType):
        return value.replace(co_consts=_without_slices(value.co_consts))
    return value


def _described(cell: types.CellType, moves: bool) -> Any:
    try:
        return shape_of(cell.cell_contents) if moves else described(cell.cell_contents)
    except (ValueError, UndescribedError):
        return None


def _leaves(cells: Any, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """What takes numbers, and where it is in a value."""
    if isinstance(cells, tuple):
        for k, part in enumerate(cells[1]):
            yield from _leaves(part, (*place, k))
    elif not isinstance(cells, list):
        yield place, cells


def _told(names: Names, path: tuple[str, ...], value: Any) -> Any:
    return shape_of(value) if path in names.cells else described(value)


def _given(names: Names) -> list[Any]:
    """What of its defaults a translation depends on."""
    return [(name, described(value) if cells is None else shape_of(value)) for name, value, cells in names.defaults()]


def load(place: Place, function: types.FunctionType, translate: Callable[[types.FunctionType], Any]) -> tuple[Any, ...] | None:
    """The function as the compiler takes it, and what it captures; None if its file or what it uses from outside is another now."""
    data = _core._cached_translation(place.key)
    if data is None:
        return None
    stored = Translation(*marshal.loads(data))
    names = Names(function)
    try:
        if place.file != stored.file or _given(names) != stored.given:
            return None
        for path, was in stored.asked.items():
            if _told(names, path, names.value(path)) != was:
                return None
    except (UnknownNameError, UndescribedError):
        return None
    called = [[python_function(names.asked[path]) for path in paths] for paths in stored.called]
    if any(f is not functions[0] for functions in called for f in functions):
        return None
    callees = []
    for callee, *_ in called:
        assert callee is not None
        translation = translate(callee)
        callees.append(translation.function)
        names.captured.extend(translation.captured)
    outside = [dict(_leaves(names.cells[path]))[part] for path, part in stored.outside]
    made = _core._Function(*stored.function, callees, [], stored.library, outside)
    return made, (*names.captured, *names.captured_defaults())


def store(place: Place, names: Names, callees: list[types.FunctionType], made: Text, library: bool, outside: list[_core._Outside]) -> None:
    """Keep a translation, unless it depends on what cannot be compared, such as classes of structs."""
    functions = {path: python_function(value) for path, value in names.asked.items()}
    try:
        called = [[path for path, f in functions.items() if f is callee] for callee in callees]
        if not all(called):
            return
        asked = {path: _told(names, path, v) for path, v in names.asked.items()}
        known = {id(cell): (path, part) for path, cells in names.cells.items() for part, cell in _leaves(cells)}
        numbers = [known[id(cell)] for cell in outside]
        data = marshal.dumps(tuple(Translation(place.file, asked, called, _given(names), made, library, numbers)))
    except (UndescribedError, ValueError):
        return
    _core._cache_translation(place.key, data)
