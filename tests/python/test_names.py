# tests/python/test_names.py: the namespace is complete: the array API's names and keywords, documentation, methods.
from __future__ import annotations

import inspect

import numpy as np
import pardo as pp
import pytest
from pardo._array import broadcasting, creation, interop, joining, manipulation, ranges
from pardo._base import dtypes
from pardo._runtime import events, memory, profile, queues, statistics
from support import is_function


def words(text: str) -> list[str]:
    return text.split()


STANDARD = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
    "astype",
    "can_cast",
    "finfo",
    "iinfo",
    "isdtype",
    "result_type",
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_invert",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "square",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "take",
    "take_along_axis",
    "argmax",
    "argmin",
    "count_nonzero",
    "nonzero",
    "searchsorted",
    "where",
    "matmul",
    "matrix_transpose",
    "tensordot",
    "vecdot",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
    "isin",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "argsort",
    "sort",
    "all",
    "any",
    "diff",
    "cumulative_sum",
    "cumulative_prod",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
    "__array_namespace_info__",
]

ATTRIBUTES = [
    "dtype",
    "device",
    "mT",
    "ndim",
    "shape",
    "size",
    "T",
    "__abs__",
    "__add__",
    "__and__",
    "__array_namespace__",
    "__bool__",
    "__complex__",
    "__dlpack__",
    "__dlpack_device__",
    "__eq__",
    "__float__",
    "__floordiv__",
    "__ge__",
    "__getitem__",
    "__gt__",
    "__index__",
    "__int__",
    "__invert__",
    "__le__",
    "__lshift__",
    "__lt__",
    "__matmul__",
    "__mod__",
    "__mul__",
    "__ne__",
    "__neg__",
    "__or__",
    "__pos__",
    "__pow__",
    "__rshift__",
    "__setitem__",
    "__sub__",
    "__truediv__",
    "__xor__",
    "to_device",
    "__iadd__",
    "__radd__",
    "__imatmul__",
    "__rmatmul__",
    "__ipow__",
    "__rpow__",
]

METHODS = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "astype",
    "clip",
    "conj",
    "conjugate",
    "copy",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "fill",
    "flatten",
    "imag",
    "item",
    "itemsize",
    "max",
    "mean",
    "min",
    "nbytes",
    "nonzero",
    "partition",
    "prod",
    "ravel",
    "real",
    "repeat",
    "reshape",
    "round",
    "searchsorted",
    "sort",
    "squeeze",
    "std",
    "strides",
    "sum",
    "swapaxes",
    "take",
    "tobytes",
    "tolist",
    "trace",
    "transpose",
    "var",
    "wait",
    "queue",
    "event",
]

PUBLIC = [
    n
    for n in dir(pp)
    if not n.startswith("_") and callable(getattr(pp, n)) and getattr(getattr(pp, n), "__module__", "").startswith("pardo")
]


def test_standard_names():
    assert len(STANDARD) == 136
    assert [name for name in STANDARD if not hasattr(pp, name)] == []
    for name in ("e", "inf", "nan", "pi"):
        assert getattr(pp, name) is getattr(np, name) or np.isnan(getattr(pp, name))
    assert pp.newaxis is None
    assert pp.__array_api_version__ == "2025.12"


def test_attributes_and_methods():
    x = pp.zeros((2, 2))
    assert [name for name in ATTRIBUTES + METHODS if not hasattr(x, name)] == []


KEYWORDS = {
    "asarray": "dtype device copy", "arange": "stop step dtype device", "linspace": "dtype device endpoint", "eye": "k dtype device",
    "from_dlpack": "device copy", "meshgrid": "indexing", "astype": "copy device", "sum": "axis dtype keepdims",
    "std": "axis correction keepdims", "max": "axis keepdims", "argmax": "axis keepdims", "sort": "axis descending stable",
    "argsort": "axis descending stable", "searchsorted": "side sorter", "concat": "axis", "repeat": "axis", "roll": "axis",
    "reshape": "copy", "cumulative_sum": "axis dtype include_initial", "diff": "axis n prepend append", "isin": "invert",
    "take_along_axis": "axis", "tensordot": "axes", "vecdot": "axis", "clip": "min max", "full": "dtype device", "tril": "k",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(KEYWORDS))
def test_standard_keywords(name):
    assert set(KEYWORDS[name].split()) <= set(inspect.signature(getattr(pp, name)).parameters)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_documentation(name):
    f = getattr(pp, name)
    assert f.__doc__
    assert f.__doc__.strip()
    if is_function(f):
        parameters = [p for p in inspect.signature(f).parameters.values() if p.name != "self"]
        if parameters:
            assert "Parameters\n" in f.__doc__
            for p in parameters:
                assert p.name.rstrip("_") in f.__doc__, f"{name}: {p.name} is not documented"


MINE = (broadcasting, creation, dtypes, events, interop, joining, manipulation, memory, profile, queues, ranges, statistics)
CANNOT_FAIL = ("counters", "broadcast_shapes")


@pytest.mark.parametrize("name", sorted(n for module in MINE for n in module.__all__ if callable(getattr(pp, n))))
def test_errors_are_documented(name):
    f = getattr(pp, name)
    if is_function(f) and name not in CANNOT_FAIL:
        assert "Raises\n------\n" in inspect.getdoc(f)  # dedents; from 3.13 on the compiler does


def test_every_public_name_of_the_core_is_in_the_namespace():
    for name in dir(pp._core):
        if not name.startswith("_"):
            assert hasattr(pp, name)
