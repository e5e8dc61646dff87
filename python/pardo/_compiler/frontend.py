# python/pardo/_compiler/frontend.py: functions as the compiler takes them: translated once, and kept until what they captured changes.
from __future__ import annotations

import ast
import functools
import inspect
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.package import owns
from pardo._base.undisturbed import Undisturbed
from pardo._compiler import translation_cache
from pardo._compiler.intrinsics import fill, known
from pardo._compiler.names import Captured, current, python_function
from pardo._compiler.source import problem, source_of
from pardo._compiler.translations import MOST_VARIANTS, Translation
from pardo._compiler.translator import Translator

# The youngest ones: kernels keep their own besides, and functions that are not referenced elsewhere are not kept alive by thousands.
_translations: dict[types.CodeType, tuple[tuple[types.FunctionType, Translation], ...]] = {}
MOST_TRANSLATIONS = 256
MOST_CALLS = 64  # of functions in each other


class _UnderWay(threading.local):
    """The functions that a thread is translating, each called by the one before."""

    def __init__(self) -> None:
        self.functions: list[types.FunctionType] = []


under_way = _UnderWay()


def translate(function: types.FunctionType) -> Translation:
    """The function as the compiler takes it; kept until a value that it captured changes."""
    fill()
    kept = _translations.get(function.__code__, ())
    for former, translation in kept:
        if former is function:
            if not translation.changed():
                return translation
        elif not translation.changed() and _alike(former, function) and not translation.has_own_numbers(former):
            return translation.moved(former, function)
    if not under_way.functions:
        with Undisturbed():
            return _translation(function)
    return _translation(function)


def _translation(function: types.FunctionType) -> Translation:
    if function in under_way.functions:
        source = source_of(function)
        raise problem(
            _core.CompileError,
            source,
            source.node,
            f"`{function.__name__}` calls itself; kernels have no recursion: write a loop",
        )
    if len(under_way.functions) >= MOST_CALLS:
        source = source_of(function)
        text = (
            f"functions that call each other are accepted {MOST_CALLS} deep, and `{under_way.functions[0].__name__}` is the first of more"
        )
        raise problem(_core.CompileError, source, source.node, text)
    under_way.functions.append(function)
    try:
        place = translation_cache.place_of(function)
        found = translation_cache.load(place, function, translate) if place else None
        made, captured = found or _translated(function, place)
        if owns(function.__code__.co_filename):  # what these see stays what it is
            names = function.__globals__
            spaces = [v for v in list(names.values()) if isinstance(v, (types.ModuleType, types.SimpleNamespace))]
            lasting = set(map(id, (names, *spaces, *(function.__closure__ or ()), function, function.__kwdefaults__)))
            captured = tuple(c for c in captured if id(c.owner) not in lasting)
        translation = Translation(made, captured)
    finally:
        under_way.functions.pop()
    kept = _translations.pop(function.__code__, ())
    while len(_translations) >= MOST_TRANSLATIONS:
        _translations.pop(next(iter(list(_translations))), None)  # other threads change it too
    _translations[function.__code__] = ((function, translation), *kept[: MOST_VARIANTS - 1])
    return translation


def _translated(function: types.FunctionType, place: translation_cache.Place | None) -> tuple[_core._Function, tuple[Captured, ...]]:
    """The function's translation from its text; it is kept at its place on disk."""
    source = source_of(function)
    translator = Translator(function, source, translate)
    node = source.node
    lines = [ast.copy_location(ast.Return(node.body), node.body)] if isinstance(node, ast.Lambda) else node.body
    body = translator.block(lines, node)
    defaults = _defaults(translator, function, node)
    library = owns(source.file)
    text = (source.name, source.shown_file, source.first_line, source.lines, translator.parameters, translator.rest, defaults, body)
    if place and not translator.classes:
        translation_cache.store(place, translator.names, translator.called, text, library, translator.outside)
    made = _core._Function(*text, translator.callees, translator.classes, library, translator.outside)
    return made, (*translator.captured, *translator.names.captured_defaults())


def _defaults(translator: Translator, function: types.FunctionType, node: Any) -> list[Any]:
    """Defaults of the last parameters; of those that are given by name only what a keyword holds, which is nothing where there is none."""
    found = translator.names.defaults()
    made = [translator.value(value, node, cells) for name, value, cells in found if not name]
    by_name = {name: translator.value(value, node, cells) for name, value, cells in found if name}
    keywords = [a.arg for a in node.args.kwonlyargs]
    return made + [translator.make("Keyword", node, [by_name[n]] if n in by_name else [], name=n) for n in keywords]


def check_parameters(function: types.FunctionType) -> None:
    """Kernels have no `*args`; functions that they call may."""
    if function.__code__.co_flags & inspect.CO_VARARGS:
        source = source_of(function)
        node = source.node.args.vararg or source.node
        raise problem(_core.CompileError, source, node, "kernels take a fixed number of arguments, not *args")


def _alike(a: types.FunctionType, b: types.FunctionType) -> bool:
    """True if two functions of the same code see the same values, so that one translation serves both."""

    def same(x: Any, y: Any) -> bool:
        return x is y or (type(x) is type(y) and isinstance(x, (bool, int, float, complex, str, np.generic)) and repr(x) == repr(y))

    def contents(f: types.FunctionType) -> list[Any]:
        cells = [current(Captured(cell, "", None)) for cell in f.__closure__ or ()]
        return [*cells, *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]

    x, y = contents(a), contents(b)
    return a.__globals__ is b.__globals__ and len(x) == len(y) and all(map(same, x, y))


_own_arguments: dict[int, tuple[Any, Any]] = {}  # by id: the function, which is held, and what a launch makes of it for ever


def function_argument(value: Any) -> Any:
    """What a launch makes of an argument that is a function: its translation, or the name of one that the language knows; else None."""
    own = _own_arguments.get(id(value))
    if own is not None:
        return own[1]
    fill()
    if id(value) in known:
        return known[id(value)]
    called = _conversion(np.dtype(value)) if isinstance(value, type) and issubclass(value, np.generic) else value
    function = python_function(called)
    if function is None:
        return None
    translation = translate(function)
    if owns(function.__code__.co_filename) and not translation.captured and len(_own_arguments) < MOST_TRANSLATIONS:
        _own_arguments[id(value)] = value, translation.function
    return translation.function


@functools.cache
def _conversion(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    kind = dtype.type

    def convert(x: Any) -> Any:
        return kind(x)

    return convert
