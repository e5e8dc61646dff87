# python/pardo/_kernel/array_code.py: serial loops over slices: whether a program is faster than an operation at a time.
"""`for t in range(steps): b[1:-1] = (a[:-2] + a[2:]) / 2` as Python runs it makes an array for each operator. Its program makes none.

Not worth a program, as a library computes it, or all threads do: products of large arrays, what the language writes as loops of its own
(sorts, solvers), parallel loops of functions that are called, and arrays of devices, or large ones of ours, whose recorded operations are
parallel.
"""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from pardo._base.arguments import HOST
from pardo._compiler import intrinsics
from pardo._compiler.names import python_function
from pardo._compiler.source import source_of
from pardo._core import Array, Device
from pardo._kernel.parallel_loops import Scope, called, is_prange

PRODUCTS = {"dot", "matmul", "vdot", "vecdot", "inner", "outer", "tensordot", "einsum", "kron", "convolve", "correlate"}
MOST_ELEMENTS = 1 << 16  # of one of our arrays on the CPU
FEWEST_ROWS = 64  # of matrices that a library factorizes
MOST_OF_ONE_THREAD = 1 << 17  # of a matrix that a vector is multiplied by, while it stays in the caches
MOST_OF_PRODUCTS = 1 << 14  # of an array where there are products: those of larger ones are a library's


def has_slices(node: ast.AST) -> bool:
    """True for `x[a:b]`, `x[:, k]` and their like."""
    return any(isinstance(n, ast.Slice) for n in ast.walk(node))


def is_array_code(scope: Scope, loop: ast.AST) -> bool:
    """True if a loop reads or writes slices, and a program does it as fast as libraries do."""
    return has_slices(loop) and not _asks_libraries(scope, loop)


def has_products(scope: Scope, loop: ast.AST) -> bool:
    """True if there are products of arrays in a loop, or in what it calls."""
    return any(_is_product(n) for _, n in _nodes(scope, loop, {scope.function.__code__}))


def _is_product(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in PRODUCTS
    return isinstance(node, ast.MatMult)


def _asks_libraries(scope: Scope, loop: ast.AST) -> bool:
    return any(
        (isinstance(n, ast.For) and is_prange(s, n)) or (isinstance(n, ast.Call) and not _is_product(n) and asks_library(s, n))
        for s, n in _nodes(scope, loop, {scope.function.__code__})
    )


def asks_library(scope: Scope, call: ast.Call) -> bool:
    """True for calls of what a library computes sooner than our loops."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in intrinsics.written_methods:
        return True
    value = called(scope, call)
    return value is not None and intrinsics.ours_for(value) is not None


def _nodes(scope: Scope, node: ast.AST, seen: set[types.CodeType]) -> Iterator[tuple[Scope, ast.AST]]:
    """All that is in a tree, and in the functions that it calls."""
    for n in ast.walk(node):
        yield scope, n
        function = python_function(called(scope, n)) if isinstance(n, ast.Call) else None
        if function is None or function.__code__ in seen:
            continue
        seen.add(function.__code__)
        try:
            source = source_of(function)
        except Exception:  # the compiler says what is wrong with it
            continue
        yield from _nodes(Scope(function, source, {}), source.node, seen)


def has_solvers(scope: Scope, loop: ast.AST) -> bool:
    """True if a loop, or what it calls, solves equations, or inverts matrices."""
    solvers = {id(f) for f in (np.linalg.solve, np.linalg.inv, np.linalg.det)}
    return any(isinstance(n, ast.Call) and id(called(s, n)) in solvers for s, n in _nodes(scope, loop, {scope.function.__code__}))


def better_solved(values: tuple[Any, ...]) -> bool:
    """True if there are matrices among these arrays that a library factorizes sooner."""
    return any(isinstance(v, (Array, np.ndarray)) and v.ndim > 1 and min(v.shape[-2:]) >= FEWEST_ROWS for v in values)


def better_multiplied(values: tuple[Any, ...]) -> bool:
    """True if products of these arrays are worth a library."""
    return any(isinstance(v, (Array, np.ndarray)) and v.size > MOST_OF_PRODUCTS for v in values)


def better_threaded(values: tuple[Any, ...]) -> bool:
    """True if products of these arrays with vectors are worth the threads of a library."""
    return any(isinstance(v, (Array, np.ndarray)) and v.ndim > 1 and math.prod(v.shape[-2:]) > MOST_OF_ONE_THREAD for v in values)


def better_recorded(values: tuple[Any, ...]) -> bool:
    """True if operations on these arrays, one at a time, run in parallel, and are worth it."""
    return any(type(v) is Array and (v.size > MOST_ELEMENTS or v.queue.device != Device(HOST)) for v in values)
