# python/pardo/_kernel/array_expressions.py: expressions on large arrays of NumPy, outside of loops: one fused, parallel operation each; and
# functions of NumPy that ours compute sooner.
"""`y = a * x[1:] + np.sqrt(x[:-1])` as NumPy runs it makes an array for each operator, by one thread.

Here the arrays of NumPy are looked at as arrays of ours, without a copy; what the expression gives is an array of NumPy again. Expressions
have no effects: where ours cannot do one, NumPy does.
"""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._array import interop
from pardo._base import face
from pardo._base.arguments import HOST, SCALARS
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._kernel.parallel_loops import Scope, called, value_of

FEWEST_ELEMENTS = 1 << 15  # below, threads cost more than they save
FEWEST_OF_FUNCTIONS = 1 << 17  # the same for functions
FEWEST_OF_ONE = 1 << 20  # where there is one operator: it is bound by memory, which several threads read faster than one
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
FEWEST_ROWS = 64  # of matrices, for functions of them
_FUNCTIONS = {id(f) for f in (np.where, np.clip)}
_LEFT_TO_NUMPY = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)  # NumPy does it, or says what is wrong


class ArrayExpression:
    """An expression of a function as a function of the local names that it reads."""

    def __init__(self, function: types.FunctionType, fewest: int) -> None:
        self.function, self.fewest = function, fewest

    def __call__(self, *values: Any) -> Any:
        if _worth(values, self.fewest):
            try:
                queue = _core.Queue.of(HOST)
                shared = [_core._share_buffer(v, v.dtype, queue) if type(v) is np.ndarray else v for v in values]
                result = self.function(*shared)
                if type(result) is Array and result.size >= self.fewest:
                    return _written(result, queue)
            except _LEFT_TO_NUMPY:
                pass
        return self.function(*values)


def _is_long(x: Any, *others: Any) -> bool:
    """True for a large array of real numbers, and integers."""
    return type(x) is np.ndarray and x.size >= FEWEST_OF_FUNCTIONS and x.dtype.char in "fdilq" and all(type(v) is int for v in others)


def _are_equations(a: Any, *right: Any) -> bool:
    """True for a large matrix, and at most one right hand side of its dtype."""
    given = (a, *right)
    if len(given) > 2 or not all(type(v) is np.ndarray and v.dtype == a.dtype and 1 <= v.ndim <= 2 for v in given):
        return False
    return bool(a.ndim == 2 and a.dtype.char in "fdFD" and len({a.shape[0], a.shape[1], *(b.shape[0] for b in right)}) == 1) and (
        a.shape[0] >= FEWEST_ROWS
    )


# By NumPy's functions: the public name of ours, and for which arguments they are faster.
_OURS: dict[int, tuple[str, Callable[..., bool]]] = {
    id(np.histogram): ("histogram", _is_long),
    id(np.linalg.solve): ("linalg.solve", _are_equations),
    id(np.linalg.inv): ("linalg.inv", _are_equations),
}


class ArrayFunction:
    """A function of NumPy that ours computes as well, and by all threads where arrays are large."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.ours = function, _OURS[id(function)]

    def __call__(self, *values: Any) -> Any:
        name, suits = self.ours
        if suits(*values) and "raise" not in np.geterr().values():
            try:
                queue = _core.Queue.of(HOST)
                shared = [_core._share_buffer(v, v.dtype, queue) if type(v) is np.ndarray else v for v in values]
                results = face.public(name)(*shared)
                return tuple(_written(r, queue) for r in results) if isinstance(results, tuple) else _written(results, queue)
            except _LEFT_TO_NUMPY:
                pass
        return self.function(*values)


def has_ours(function: Any) -> bool:
    return id(function) in _OURS


def _worth(values: tuple[Any, ...], fewest: int) -> bool:
    """True if values are numbers and arrays of NumPy of which one is large, and `np.errstate` does not ask for exceptions."""
    most = 0
    for v in values:
        if type(v) is np.ndarray:
            if kind_of(v.dtype) not in "biufc" or not _in_rows(v.strides):
                return False
            most = max(most, v.size)
        elif not isinstance(v, SCALARS):
            return False
    return most >= fewest and "raise" not in np.geterr().values()


def _in_rows(strides: tuple[int, ...]) -> bool:
    """True if the last axis is the one with the shortest steps: then results are in rows, as ours are."""
    return all(abs(a) >= abs(b) for a, b in itertools.pairwise(strides)) and strides != ()


def _written(x: Array, queue: _core.Queue) -> np.ndarray[Any, Any]:
    """A recorded array, computed into memory of a new array of NumPy."""
    host = interop.host_array(x.shape, x.dtype, x.nbytes)
    target = _core._share_buffer(host, x.dtype, queue)
    target[...] = x
    target.wait()
    return host


def find(scope: Scope, node: ast.expr, once: bool) -> tuple[list[str], int] | None:
    """The local names that an expression reads, and from which size of arrays on it is worth it, if it is one that fuses; None for
    all others. `once`: it is in no loop, so that a single operator is too."""
    names: dict[str, None] = {}
    local = {*scope.function.__code__.co_varnames, *scope.function.__code__.co_cellvars}

    def operators(n: ast.expr) -> int:
        """How many operators there are; raises LookupError where one is no operator on elements."""
        match n:
            case ast.BinOp(left, op, right) if isinstance(op, _OPERATORS):
                return 1 + operators(left) + operators(right)
            case ast.UnaryOp(ast.USub() | ast.UAdd() | ast.Invert(), operand):
                return 1 + operators(operand)
            case ast.Compare(left, [op], [right]) if isinstance(op, _COMPARISONS):
                return 1 + operators(left) + operators(right)
            case ast.Call(_, arguments, []) if _of_elements(called(scope, n)):
                return 1 + sum(map(operators, arguments))
            case ast.Constant(value) if isinstance(value, (int, float, complex)):
                return 0
            case ast.Name(name):
                if name in local:
                    names[name] = None
                elif not isinstance(value_of(scope, name), SCALARS):
                    raise LookupError
                return 0
            case ast.Attribute(ast.Name(first), _) if first not in local and isinstance(called(scope, ast.Call(n, [], [])), SCALARS):
                return 0
            case ast.Subscript(ast.Name(), index):
                operators(n.value)
                for part in index.elts if isinstance(index, ast.Tuple) else [index]:
                    for bound in (part.lower, part.upper, part.step) if isinstance(part, ast.Slice) else (part,):
                        if bound is not None and not (isinstance(bound, ast.Constant) and bound.value in (None, Ellipsis)):
                            operators(bound)
                return 0
            case _:
                raise LookupError

    try:
        count = operators(node)
    except LookupError:
        return None
    if not names or count < (1 if once else 2):
        return None
    return list(names), FEWEST_ELEMENTS if count > 1 else FEWEST_OF_ONE


def _of_elements(function: Any) -> bool:
    return id(function) in _FUNCTIONS or (isinstance(function, np.ufunc) and function.nout == 1 and function.signature is None)
