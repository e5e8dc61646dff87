# tests/python/test_rows.py: each row of reductions.def makes a function, perhaps a method, a docstring and an entry of the stub. That they
# do what NumPy's do: test_statistics.py, tests/conformance/test_reductions.py.
from __future__ import annotations

import ast
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp
import pytest
from pardo._base.rows import ROWS, Row
from pardo._fft import transforms
from pardo._random import continuous, discrete

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


@each_row
def test_function(row: Row):
    f = getattr(pp, row.name)
    assert (f.__module__, f.__name__, f.__qualname__) == ("pardo", row.name, row.name)
    assert pickle.loads(pickle.dumps(f)) is f
    with pytest.raises(TypeError, match=rf"^{row.name}\(\) got an unexpected keyword argument 'nonsense'"):
        f(pp.ones(3), nonsense=1)
    with pytest.raises(TypeError, match=rf"^{row.name}: an array, a number or a sequence of numbers is expected, not str"):
        f("ab")
    np.testing.assert_array_equal(pp.asnumpy(f([1, 2])), pp.asnumpy(f(pp.asarray([1, 2]))))


@each_row
def test_method(row: Row):
    method = getattr(pp.Array, row.name, None)
    if not row.method:
        assert method is None
        return
    method, function = inspect.unwrap(method), inspect.unwrap(getattr(pp, row.name))
    assert method.__code__.co_code == function.__code__.co_code
    assert list(inspect.signature(method).parameters)[1:] == list(inspect.signature(function).parameters)[1:]


@each_row
def test_docstring(row: Row):
    function = getattr(pp, row.name)
    text, first = inspect.getdoc(function), next(iter(inspect.signature(function).parameters))  # NumPy's name of it
    assert text.startswith(row.doc + "\n\nParameters\n")
    assert row.gives.replace("`x`", f"`{first}`") in text.split("\nReturns\n")[1].split("\nRaises\n")[0]
    assert "{" not in text


@each_row
def test_numpy_has_the_keywords(row: Row):
    theirs = getattr(np, row.name, None)
    if theirs is None:
        pytest.skip("newer than this NumPy")
    assert set(inspect.signature(getattr(pp, row.name)).parameters) - {"x"} <= set(inspect.signature(theirs).parameters)


def stub() -> tuple[dict[str, ast.FunctionDef], dict[str, ast.FunctionDef]]:
    """What the core's stub says of functions, and of methods of arrays."""
    body = ast.parse((Path(pp.__file__).parent / "_core.pyi").read_text()).body
    array = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == "Array")
    functions, methods = ({f.name: f for f in part if isinstance(f, ast.FunctionDef)} for part in (body, array.body))
    return functions, methods


def parameters(f: ast.FunctionDef) -> list[tuple[str, str, str | None]]:
    """Name, kind and default of all but the array."""
    a = f.args
    positional = [("POSITIONAL_ONLY", p) for p in a.posonlyargs] + [("POSITIONAL_OR_KEYWORD", p) for p in a.args]
    defaults = [None] * (len(positional) - len(a.defaults)) + [ast.unparse(d) for d in a.defaults]
    listed = [(p.arg, kind, default) for (kind, p), default in zip(positional, defaults, strict=True)]
    listed += [(p.arg, "KEYWORD_ONLY", d and ast.unparse(d)) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return listed[1:]


@each_row
def test_stub(row: Row):
    functions, methods = stub()
    actual = list(inspect.signature(getattr(pp, row.name)).parameters.values())[1:]
    expected = [(p.name, p.kind.name, None if p.default is p.empty else repr(p.default)) for p in actual]
    assert parameters(functions[row.name]) == expected
    assert ast.get_docstring(functions[row.name]) == row.doc
    assert (row.name in methods) == row.method
    if row.method:
        assert parameters(methods[row.name]) == expected


def test_stub_of_distributions():
    """Written from the text of the tables of distributions, it says what the methods take that are made of them."""
    body = ast.parse((Path(pp.__file__).parent / "_random/signatures.pyi").read_text()).body
    methods = [f for node in body if isinstance(node, ast.ClassDef) for f in node.body if isinstance(f, ast.FunctionDef)]
    assert [f.name for f in methods] == [row.name for row in (*continuous.ROWS, *discrete.ROWS)]
    for f in methods:
        assert parameters(f) == taken(getattr(pp.random.Generator, f.name))[1:]


def test_stub_of_transforms():
    """The same for transforms."""
    body = ast.parse((Path(pp.__file__).parent / "_fft/transforms.pyi").read_text()).body
    functions = [f for f in body if isinstance(f, ast.FunctionDef)]
    assert sorted(f.name for f in functions) == transforms.__all__
    for f in functions:
        own = getattr(pp.fft, f.name)
        assert ast.get_docstring(f) == own.__doc__.partition("\n")[0]
        f.args.args = [ast.arg("first"), *f.args.args]
        assert parameters(f) == taken(own)


def taken(f: Callable[..., Any]) -> list[tuple[str, str, str | None]]:
    """Name, kind and default of what a function takes."""
    listed = inspect.signature(f).parameters.values()
    return [(p.name, p.kind.name, None if p.default is p.empty else repr(p.default)) for p in listed]
