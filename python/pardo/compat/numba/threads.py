# python/pardo/compat/numba/threads.py: Numba's settings of threads: how many run loops, how many iterations one takes at a time.
"""Numba's functions for threads. In an iteration of a parallel loop a number of threads is its own: nothing in it starts others."""

from __future__ import annotations

import ast
import contextlib
import copy
import types
from typing import Any

import numpy as np
import pardo as pp
from pardo._extending import (
    HOST,
    Scope,
    _host_chunk,
    _host_queue,
    _set_host_chunk,
    _set_host_queue,
    called,
    defined,
    imported,
    is_prange,
    publish_module,
    source,
)
from pardo.compat.numba.core import config

__all__ = ["get_num_threads", "get_parallel_chunksize", "parallel_chunksize", "set_num_threads", "set_parallel_chunksize"]

OUTSIDE, OWN = "$threads_outside", "$threads"


def set_num_threads(n: int) -> None:
    """Run loops over NumPy's arrays that this thread starts on a part of the CPU with so many cores, or on all of it.

    Parameters
    ----------
    n : int
        From 1 to ``config.NUMBA_NUM_THREADS``. In an iteration of a parallel loop it is what `get_num_threads` gives there, and nothing
        else: an iteration starts no threads.
    """
    most = config.NUMBA_NUM_THREADS
    if not isinstance(n, (int, np.integer)):
        raise TypeError("The number of threads specified must be an integer")
    if not 1 <= n <= most:
        raise ValueError(f"set_num_threads: the CPU device has {most} threads, not {n}; begin the process with PARDO_NUM_THREADS={n}")
    _set_host_queue(None if n == most else pp.Queue.of(pp.Device(HOST).create_sub_devices([int(n)])[0]))


def get_num_threads() -> int:
    """Give the number of threads that loops over NumPy's arrays run on."""
    return _host_queue().device.max_compute_units or 1


def set_parallel_chunksize(n: int) -> int:
    """Let a thread take so many iterations at a time of the parallel loops that this thread starts, where these do not say it themselves.

    Parameters
    ----------
    n : int
        0: each thread has an equal share.

    Returns
    -------
    int
        What it was before.
    """
    if not isinstance(n, (int, np.integer)):
        raise TypeError("The parallel chunksize must be an integer")
    if n < 0:
        raise ValueError("chunksize must be greater than or equal to zero")
    before = _host_chunk()
    _set_host_chunk(int(n))
    return before


class _ChunkSize:
    """Gives how many iterations a thread takes at a time; in loops, where no other loops start, that is 0, for equal shares."""

    def __call__(self) -> int:
        return _host_chunk()

    @staticmethod
    def _pardo_function() -> int:
        return 0


get_parallel_chunksize = _ChunkSize()


class parallel_chunksize(contextlib.ContextDecorator):  # noqa: N801 (used like a function)
    """`set_parallel_chunksize` for the statements in a ``with``.

    Parameters
    ----------
    n : int
        0: each thread has an equal share.
    """

    def __init__(self, n: int) -> None:
        self._chunk = n

    def __enter__(self) -> int:
        self._before = set_parallel_chunksize(self._chunk)
        return self._before

    def __exit__(self, *exception: object) -> None:
        _set_host_chunk(self._before)


def for_loops(function: types.FunctionType) -> types.FunctionType:
    """The function, with the number of threads as a variable of each iteration where its parallel loops set it or ask for it."""
    if not {"set_num_threads", "get_num_threads"} & {*function.__code__.co_names, *function.__code__.co_freevars}:
        return function
    text = source.source_of(function)
    assert isinstance(text.node, ast.FunctionDef)
    scope = Scope(function, text, imported(function, text.node.body))
    found = _InLoops(scope)
    node = found.visit(copy.deepcopy(text.node))
    if not found.loops:
        return function
    node.decorator_list, node.returns = [], None
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    made = defined(function, text.file, copy.deepcopy(node))
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    source.given[made.__code__] = lambda: text._replace(node=copy.deepcopy(node))
    return made


class _InLoops(ast.NodeTransformer):
    """Puts a variable in the place of the number of threads in parallel loops, which has the number from outside first."""

    def __init__(self, scope: Scope) -> None:
        self.scope, self.loops, self.inside = scope, 0, False

    def calls(self, node: ast.AST, function: Any) -> bool:
        return isinstance(node, ast.Call) and called(self.scope, node) is function

    def visit_For(self, node: ast.For) -> Any:
        if self.inside or not is_prange(self.scope, node):
            return self.generic_visit(node)
        gets: list[Any] = [n for n in ast.walk(node) if self.calls(n, get_num_threads)]
        if not gets and not any(self.calls(n, set_num_threads) for n in ast.walk(node)):
            return node
        first = copy.deepcopy(gets[0]) if gets else ast.Constant(0)
        outside = ast.Assign([ast.Name(OUTSIDE, ast.Store())], first)
        self.inside = True
        node = self.generic_visit(node)  # type: ignore[assignment]
        self.inside = False
        self.loops += 1
        node.body.insert(0, ast.Assign([ast.Name(OWN, ast.Store())], ast.Name(OUTSIDE, ast.Load())))
        return [ast.fix_missing_locations(ast.copy_location(s, node)) for s in (outside, node)]

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not self.inside or not self.calls(node.value, set_num_threads) or not isinstance(node.value, ast.Call):
            return self.generic_visit(node)
        number = ast.Call(ast.Name("int", ast.Load()), node.value.args, node.value.keywords)
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(OWN, ast.Store())], number), node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if self.inside and self.calls(node, get_num_threads):
            return ast.copy_location(ast.Name(OWN, ast.Load()), node)
        return self.generic_visit(node)


publish_module(globals())
