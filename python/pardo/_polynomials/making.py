# python/pardo/_polynomials/making.py: makes the module of a family: functions with names and docstrings, class and constants.
from __future__ import annotations

import inspect
import textwrap
from typing import Any

import numpy as np
from pardo._array.contexts import copying
from pardo._polynomials import algebra, analysis, special
from pardo._polynomials.families import Family

_TEXTS = {
    "one_series": """\
c : Array of shape (n,) or sequence of numbers
    The coefficients, the lowest degree first.""",
    "two_series": """\
c1, c2 : Array of shape (n,) or sequence of numbers
    The coefficients, the lowest degree first.""",
    "series_raises": """\
TypeError
    What is given are not numbers.
ExecutionPlacementError
    The arrays are on different queues.
ValueError
    An array is empty, has more than one dimension, or is of bools.""",
    "trimming": "Zeros behind the last coefficient that is none are left out: how many there are is waited for.",
}


def _described(doc: str, f: Family) -> str:
    lines = []
    for line in inspect.cleandoc(doc).split("\n"):
        word, _, rest = line.strip().partition("}")
        text = _TEXTS.get(word[1:]) if word.startswith("{") else None
        lines.append(line if text is None else textwrap.indent(text, line[: len(line) - len(line.lstrip())]) + rest)
    text = "\n".join(lines)
    for name, word in (("p", f.prefix), ("module", f.module), ("title", f.title)):
        text = text.replace(f"{{{name}}}", word)
    return text


def module_of(f: Family, kind: type[Any]) -> dict[str, Any]:
    """What the module of a family has, under NumPy's names."""
    numpys = getattr(np.polynomial, f.module)
    names: dict[str, Any] = {f"{f.prefix}{name}": getattr(numpys, f"{f.prefix}{name}") for name in ("domain", "zero", "one", "x")}
    for function in [*algebra.functions(f), *analysis.functions(f), *special.functions(f)]:
        word = function.__name__.rstrip("_")
        name = {"poly2": f"poly2{f.prefix}", "to_poly": f"{f.prefix}2poly"}.get(word, f.prefix + word)
        function.__name__ = function.__qualname__ = name
        function.__module__ = f"pardo.polynomial.{f.module}"
        if function.__doc__:  # python -OO has none
            function.__doc__ = _described(function.__doc__, f)
        names[name] = copying(function)
    names[f.kind] = kind
    return names
