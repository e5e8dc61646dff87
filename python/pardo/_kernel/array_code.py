# python/pardo/_kernel/array_code.py: serial loops over slices: whether a program is faster than an operation at a time.
"""`for t in range(steps): b[1:-1] = (a[:-2] + a[2:]) / 2` as Python runs it makes an array for each operator. Its program makes none.

Not worth a program, as a library computes it, or all threads do: products of arrays, what the language writes as loops of its own (sorts,
solvers), parallel loops of functions that are called, and arrays of devices, or large ones of ours, whose recorded operations are parallel.
"""

from __future__ import annotations

import ast
import types
from typing import Any

from pardo._compiler import intrinsics
from pardo._compiler.names import python_function
from pardo._compiler.source import source_of
from pardo._core import Array, Device
from pardo._data.tables import HOST
from pardo._kernel.parallel_loops import Scope, called, is_prange

PRODUCTS = {"dot", "matmul", "vdot", "vecdot", "inner", "outer", "tensordot", "einsum", "kron", "convolve", "correlate"}
MOST_ELEMENTS = 1 << 16  # of one of our arrays on the CPU


def has_slices(node: ast.AST) -> bool:
    """True for `x[a:b]`, `x[:, k]` and their like."""
    return any(isinstance(n, ast.Slice) for n in ast.walk(node))


def is_array_code(scope: Scope, loop: ast.AST) -> bool:
    """True if a loop reads or writes slices, and a program does it as fast as libraries do."""
    return has_slices(loop) and not _asks_libraries(scope, loop, {scope.function.__code__})


def _asks_libraries(scope: Scope, node: ast.AST, seen: set[types.CodeType]) -> bool:
    return any(
        isinstance(n, ast.MatMult)
        or (isinstance(n, ast.For) and is_prange(scope, n))
        or (isinstance(n, ast.Call) and _asks_library(scope, n, seen))
        for n in ast.walk(node)
    )


def _asks_library(scope: Scope, call: ast.Call, seen: set[types.CodeType]) -> bool:
    if isinstance(call.func, ast.Attribute) and (call.func.attr in PRODUCTS or call.func.attr in intrinsics.written_methods):
        return True
    value = called(scope, call)
    if value is None:
        return False
    if intrinsics.ours_for(value) is not None:
        return True
    function = python_function(value)
    if function is None or function.__code__ in seen:
        return False
    seen.add(function.__code__)
    try:
        source = source_of(function)
    except Exception:  # the compiler says what is wrong with it
        return False
    return _asks_libraries(Scope(function, source, {}), source.node, seen)


def better_recorded(values: tuple[Any, ...]) -> bool:
    """True if operations on these arrays, one at a time, run in parallel, and are worth it."""
    return any(type(v) is Array and (v.size > MOST_ELEMENTS or v.device != Device(HOST)) for v in values)
