# python/pardo/_compiler/intrinsics.py: the functions that the compiler knows, and what it calls them.
from __future__ import annotations

import builtins
import math
import operator
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import face, tracebacks

# Names of NumPy, math and pardo that kernels know, by what the compiler calls them.
SAME = [
    "sqrt",
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "hypot",
    "copysign",
    "nextafter",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "minimum",
    "maximum",
    "fmin",
    "fmax",
    "clip",
    "sign",
    "where",
    "fmod",
    "square",
    "reciprocal",
    "isnan",
    "isinf",
    "isfinite",
    "conj",
    "real",
    "imag",
    "degrees",
    "radians",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "power",
    "left_shift",
    "right_shift",
    "logaddexp",
    "logaddexp2",
    "negative",
    "positive",
    "bitwise_invert",
    "empty",
    "zeros",
    "ones",
    "full",
    "empty_like",
    "zeros_like",
    "ones_like",
    "full_like",
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "any",
    "all",
    "argmin",
    "argmax",
    "count_nonzero",
    "dot",
    "vdot",
    "inner",
    "outer",
    "matmul",
    "copy",
    "transpose",
    "triu",
    "tril",
    "reshape",
    "ravel",
]
OTHERS = {
    "asin": "arcsin asin",
    "acos": "arccos acos",
    "atan": "arctan atan",
    "asinh": "arcsinh asinh",
    "acosh": "arccosh acosh",
    "atanh": "arctanh atanh",
    "atan2": "arctan2 atan2",
    "abs": "abs absolute",
    "fabs": "fabs",
    "remainder": "mod",
    "divide": "true_divide",
    "power": "pow",
    "bitwise_and": "bitwise_and",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "conj": "conjugate",
    "degrees": "rad2deg",
    "radians": "deg2rad",
    "trunc": "fix",
    "around": "round around",
    "bitwise_invert": "invert bitwise_not",
    "amin": "min amin",
    "amax": "max amax",
}
OF_MATH = {
    "math.floor": "floor",
    "math.ceil": "ceil",
    "math.trunc": "trunc",
    "sqrt": "sqrt",
    "cbrt": "cbrt",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "asinh": "asinh",
    "acosh": "acosh",
    "atanh": "atanh",
    "atan2": "atan2",
    "hypot": "hypot",
    "copysign": "copysign",
    "nextafter": "nextafter",
    "fmod": "fmod",
    "erf": "erf",
    "erfc": "erfc",
    "gamma": "gamma",
    "lgamma": "lgamma",
    "isnan": "isnan",
    "isinf": "isinf",
    "isfinite": "isfinite",
    "math.fabs": "fabs",
    "power": "pow",
    "degrees": "degrees",
    "radians": "radians",
    "fma": "fma",
}
OF_OPERATOR = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "left_shift": "lshift",
    "right_shift": "rshift",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "logical_not": "not_",
    "negative": "neg",
    "positive": "pos",
    "bitwise_invert": "invert",
    "abs": "abs",
    "matmul": "matmul",
}
PYTHON = ["abs", "min", "max", "round", "divmod", "len", "int", "float", "bool", "complex", "enumerate", "zip"]

# Random functions of NumPy and of the standard module `random`; "a=b": the function b computes a.
OF_NUMPYS_RANDOM = (
    "rand randn random=random_sample random_sample ranf=random_sample sample=random_sample uniform normal standard_normal lognormal "
    "exponential standard_exponential gamma standard_gamma beta chisquare standard_t poisson binomial randint choice shuffle permutation"
)
OF_PYTHONS_RANDOM = "random uniform gauss normalvariate=gauss expovariate randint randrange"

known: dict[int, str] = {}  # id of a function -> what the compiler calls it; filled at first use, and by what marks its own
# id of a function of others -> what computes the same, in the kernel language, or where that is found: module and name
written: dict[int, types.FunctionType | str] = {}
written_methods: dict[str, types.FunctionType] = {}  # the same for methods of arrays, which come first among the arguments
list_methods: dict[str, types.FunctionType] = {}  # the same for methods of lists and sets of numbers
of_values: list[types.FunctionType] = []  # what makes an array of the values in a tuple, and of those in a tuple of tuples
_random_modules: set[str] = set()  # whose functions are known
_keep: list[Any] = []
_namespaces: list[types.ModuleType] = [np]
_filled = False


def mark(function: Any, name: str) -> Any:
    """Make a function of pardo's one that kernels know."""
    known[id(function)] = name
    _keep.append(function)
    return function


def _mark_shown(shown: Any, inner: Any) -> None:
    if id(inner) in known:
        mark(shown, known[id(inner)])


tracebacks.made.append(_mark_shown)


def write(functions: Iterable[tuple[Any, Any]], methods: dict[str, Any], values: Iterable[Any], of_lists: dict[str, Any]) -> None:
    """Let functions in the kernel language stand for functions of others, methods of arrays and of lists, and `np.array` of values."""
    list_methods.update(of_lists)
    of_values.extend(values)
    for function, ours in functions:
        written[id(function)] = ours
        _keep.append(function)
    written_methods.update(methods)


def _write_random() -> None:
    """Enter the random functions of modules that the program has imported."""
    for module, prefix, names in (("numpy.random", "", OF_NUMPYS_RANDOM), ("random", "python_", OF_PYTHONS_RANDOM)):
        if module in _random_modules or (imported := sys.modules.get(module)) is None:
            continue
        for spelled in names.split():
            name, _, other = spelled.partition("=")
            if (function := getattr(imported, name, None)) is not None:
                _keep.append(function)
                written.setdefault(id(function), prefix + (other or name))
        _random_modules.add(module)


def ours_for(function: Any) -> types.FunctionType | None:
    """What is written in the kernel language for a function of others."""
    if len(_random_modules) < 2:
        _write_random()
    found = written.get(id(function))
    if isinstance(found, str):
        made: types.FunctionType = getattr(face.file("random numbers in loops"), found)
        found = written[id(function)] = made
    return found


def serve(*namespaces: types.ModuleType) -> None:
    """Take the public names of pardo, which are in layers above this file, for names of what kernels know."""
    _namespaces.extend(namespaces)


def fill() -> None:
    """Enter the functions of NumPy, pardo, Python and its modules; not before the first kernel."""
    global _filled
    if _filled:
        return
    for module in _namespaces:
        for name in SAME:
            if hasattr(module, name):
                mark(getattr(module, name), name)
        for name, spelled in OTHERS.items():
            for spelling in spelled.split():
                if hasattr(module, spelling):
                    mark(getattr(module, spelling), name)
    for name, *_ in _core._op_table():  # special functions, which are in a module of their own
        function = getattr(_core, f"_{name}", None)
        if getattr(function, "__module__", None) == "pardo.special":
            mark(function, name)
    for name, spelling in OF_MATH.items():
        if hasattr(math, spelling):
            mark(getattr(math, spelling), name)
    for name, spelling in OF_OPERATOR.items():
        mark(getattr(operator, spelling), name)
    for name in PYTHON:
        mark(getattr(builtins, name), name)
    mark(pow, "power")
    mark(np.linalg.norm, "norm")
    for function in (sum, any, all):
        mark(function, f"python.{function.__name__}")
    _filled = True


def device_only(name: str) -> Callable[[Any], Any]:
    """Decorate what is an operation of kernels: called outside of one it says so."""

    def decorate(function: Any) -> Any:
        return mark(function, name)

    return decorate
