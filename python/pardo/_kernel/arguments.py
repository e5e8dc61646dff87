# python/pardo/_kernel/arguments.py: what loops are given by name: which values they take, and what these are for a program.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import refuse_masked
from pardo._base.promotion import is_bfloat16, kind_of
from pardo._compiler import structs
from pardo._compiler.names import python_function
from pardo._compiler.structs import Struct
from pardo._core import Array
from pardo._data import present
from pardo._kernel import copies

REFUSALS = (_core.CompileError, TypeError, ValueError, NameError, AttributeError, IndexError, OverflowError)
_TAKEN = (Array, np.ndarray, np.generic, bool, int, float, complex)
_NUMBERS = frozenset([int, float, *(np.dtype(c).type for c in "?bhilqBHILQefdFD")])  # types of numbers that programs take as they are


def is_taken(value: Any) -> bool:
    kind = type(value)
    if kind is int or kind is float or kind is Array:
        return True
    if kind is np.ndarray and (value.dtype.kind in "biufc" or is_bfloat16(value.dtype)):
        return True
    if kind is tuple:
        return all(map(is_taken, value))
    value = structs.as_struct(value)
    if isinstance(value, Struct):
        return all(v is None or is_taken(v) for v in value._values())
    dtype = getattr(value, "dtype", None)
    if isinstance(value, np.ndarray) and value.dtype.names:
        return True
    known = isinstance(value, _TAKEN) and (dtype is None or kind_of(dtype) in "biufc")
    return known or (callable(value) and python_function(value) is not None)


def numbers_of(value: Any) -> Iterator[Any]:
    """A number, or those of a tuple or struct."""
    for leaf in structs.leaves(value):
        if type(leaf) is not tuple and not isinstance(leaf, Struct):
            yield leaf


def plain_number(value: Any) -> Any:
    """A number for what may be an array of no dimensions."""
    return value.item() if isinstance(value, (Array, np.ndarray)) and value.ndim == 0 else value


def argument(value: Any) -> Any:
    """NumPy's arrays are used where they are, or their copies (`data`); arrays of no dimensions are numbers."""
    kind = type(value)
    if not present.in_use:  # most calls are of these
        if kind in _NUMBERS or (kind is Array and value.ndim):
            return value
        if kind is np.ndarray and value.ndim and (dtype := value.dtype).names is None:
            return _core._share_buffer(value, dtype, _core._host_queue())
    of_parts = type(value) is tuple or isinstance(value, Struct) or (isinstance(value, np.ndarray) and value.dtype.names)
    if present.in_use and not of_parts:
        value = copies.one(value)
    if type(value) is Array:
        return value.dtype.type(value.item()) if value.ndim == 0 and value._is_scalar_value() else value
    if isinstance(value, np.ndarray) and not value.dtype.names:
        if type(value) is not np.ndarray:
            refuse_masked(value, "jit")
        if value.ndim == 0:
            return value[()]
        return _core._share_buffer(value, value.dtype, _core._host_queue())
    value = structs.as_struct(value)
    return structs.mapped(value, argument) if type(value) is tuple or isinstance(value, (Struct, np.ndarray)) else value


def shaped_as(value: Any, result: Any) -> Any:
    """A result with the structs of the value from before the loop, for plain ones."""
    if isinstance(value, Struct):
        return type(value)(*map(shaped_as, value._values(), result._values()))
    return tuple(map(shaped_as, value, result)) if type(value) is tuple else result
