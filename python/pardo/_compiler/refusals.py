# python/pardo/_compiler/refusals.py: syntax that needs an interpreter: what it is called, and what to write instead.
from __future__ import annotations

import ast

_REFUSED: dict[str, tuple[str, str]] = {
    "With": ("`with`", "open and close what it manages around the launch or loop"),
    "AsyncWith": ("`async with`", "wait for what it manages around the launch or loop"),
    "AsyncFor": ("`async for`", "gather what it gives in an array first"),
    "Try": ("`try`", "test with `if` for what would fail"),
    "TryStar": ("`try`", "test with `if` for what would fail"),
    "ClassDef": ("a class", "define it outside; @pp.struct makes one that kernels take"),
    "AsyncFunctionDef": ("an async function", "define a plain function"),
    "Import": ("`import`", "import at the top of the module"),
    "ImportFrom": ("`import`", "import at the top of the module"),
    "Global": ("`global`", "write the value into an array, or return it"),
    "Nonlocal": ("`nonlocal`", "write the value into an array, or return it"),
    "Delete": ("`del`", "leave the name as it is, or give it another value"),
    "Yield": ("`yield`", "write the values into an array"),
    "YieldFrom": ("`yield from`", "write the values into an array"),
    "Await": ("`await`", "wait for it in front of the launch or loop"),
    "DictComp": ("a dict comprehension", "use arrays of keys and of values, or a list that small integers index"),
    "Dict": ("a dict", "use arrays of keys and of values, or a list that small integers index"),
    "JoinedStr": ("an f-string", "kernels make no texts, but `print` takes one"),
    "Starred": ("`*`", "write the items, or loop over them"),
    "TypeAlias": ("`type`", "define it outside"),
    "Slice": ("a slice", "take parts of arrays one after the other"),
}


def refusal(node: ast.AST) -> str:
    """What is said of a piece of syntax."""
    what, remedy = _REFUSED.get(type(node).__name__, (f"`{type(node).__name__}`", "write it with the statements that are"))
    return f"{what} is not accepted in a kernel; {remedy}"
