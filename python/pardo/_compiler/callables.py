# python/pardo/_compiler/callables.py: functions made of what else can be called: methods of objects, objects with __call__, partials.
from __future__ import annotations

import ast
import copy
import functools
import inspect
import itertools
import types
from typing import Any

from pardo._compiler import texts
from pardo._compiler.source import given, source_of

_numbers = itertools.count()  # texts have names of their own


def as_function(f: Any) -> Any:
    """A function that does what `f` does, where it is a bound method, a partial or an object of a class with `__call__`; else `f` itself.

    The object of a method is a name from outside then: its attributes are read as those of any object that a function captures.
    """
    if isinstance(f, functools.partial):
        return _of_partial(f)
    if isinstance(f, types.MethodType) and isinstance(f.__func__, types.FunctionType):
        return _of_method(f.__func__, f.__self__)
    called = getattr(type(f), "__call__", None)  # noqa: B004
    if isinstance(called, types.FunctionType) and not isinstance(f, (type, types.FunctionType)) and not hasattr(f, "__wrapped__"):
        return _of_method(called, f)
    return f


def _of_method(function: types.FunctionType, owner: Any) -> Any:
    """The function without its first parameter, which is a variable around it."""
    source = source_of(function)
    node = copy.copy(source.node)
    node.args = copy.copy(node.args)
    first = node.args.posonlyargs or node.args.args
    if not first:
        return function
    name, kept = first[0].arg, first[1:]
    if node.args.posonlyargs:
        node.args.posonlyargs = kept
    else:
        node.args.args = kept
    cells = {n: c.cell_contents for n, c in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)}
    made = _defined(node, {**cells, name: owner}, function)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__name__, made.__qualname__, made.__doc__ = function.__name__, function.__qualname__, function.__doc__
    given[made.__code__] = lambda: source._replace(node=node)
    return made


def _defined(node: ast.FunctionDef | ast.Lambda, around: dict[str, Any], function: types.FunctionType) -> Any:
    """What the tree defines, inside of a function that has these variables; it has the lines of the text."""
    inner = copy.deepcopy(node)
    for each in ast.walk(inner.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    inner.args.defaults = [ast.Constant(None) for _ in inner.args.defaults]
    inner.args.kw_defaults = [d and ast.Constant(None) for d in inner.args.kw_defaults]
    body: list[ast.stmt]
    if isinstance(inner, ast.FunctionDef):
        inner.decorator_list, inner.returns = [], None
        body = [inner, ast.Return(ast.Name(inner.name, ast.Load()))]
    else:
        body = [ast.Return(inner)]
    text = ast.parse("def around(): pass")
    outer = text.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.args.args = [ast.arg(name) for name in around]
    outer.body = body
    names: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(text), function.__code__.co_filename, "exec", dont_inherit=True), function.__globals__, names)
    return names["around"](**around)


def _of_partial(f: functools.partial[Any]) -> Any:
    """A text that gives what the partial holds."""
    function = as_function(f.func)
    held = {f"held{k}": value for k, value in enumerate(f.args)}
    parameters = [p for p in inspect.signature(f).parameters.values() if p.name not in f.keywords]
    taken = [("*" if p.kind is p.VAR_POSITIONAL else "") + p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    by_name = [f"{name}=named_{name}" for name in f.keywords]
    lines = [f"def call({', '.join(taken)}):", f"    return function({', '.join([*held, *taken, *by_name])})"]
    names = {"function": function, **held, **{f"named_{name}": value for name, value in f.keywords.items()}}
    made: Any = texts.functions_of(f"partial {next(_numbers)}", lines, names)["call"]
    made.__name__ = getattr(function, "__name__", "partial")
    return made
