# python/pardo/_kernel/registration.py: what the core is told before the first kernel or loop: classes of arguments, and how to print.
from __future__ import annotations

from typing import Any

from pardo import _core
from pardo._compiler import classes, frontend, intrinsics, structs
from pardo._language import list_functions, row_functions
from pardo._language.index_space import Constant, LocalAccessor


def _print(text: str, values: list[Any]) -> None:
    """Print what a kernel has printed."""
    print(text.format(*values), end="")


_core._set_argument_classes(LocalAccessor, Constant, structs.Struct, frontend.function_argument, classes.remade)
_core._set_printer(_print)
intrinsics.write(row_functions.FUNCTIONS, row_functions.METHODS, row_functions.VALUES, list_functions.METHODS)
