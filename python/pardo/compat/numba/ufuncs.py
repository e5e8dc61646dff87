# python/pardo/compat/numba/ufuncs.py: Numba's `vectorize` and `guvectorize`: functions of elements and of rows, with signatures.
"""Functions on arrays made of functions of elements and of rows, as Numba's."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pardo as pp
from pardo import _core
from pardo._base.public_names import publish_module
from pardo._core import Array
from pardo._generate import templates
from pardo._generate.vectorize import _flattened, _parsed
from pardo.compat.numba.core import types

__all__ = ["GUFunc", "UFunc", "signatures_of"]


def signatures_of(given: Any) -> list[types.Signature]:
    """The signatures of a decorator: types, or texts such as ``"void(int64[:], int64)"``."""
    listed = given if isinstance(given, (list, tuple)) else [given]
    names = {**types.NUMBERS, "void": types.void, "none": types.none, "__builtins__": {}}
    return [eval(s, names) if isinstance(s, str) else s for s in listed]


def _chosen(op_name: str, signatures: Sequence[types.Signature], arguments: Sequence[Any]) -> types.Signature | None:
    """The first signature whose types take the arguments without loss; None if there is none at all."""
    if not signatures:
        return None
    for signature in signatures:
        wanted = [types.dtype_of(t) for t in signature.args[: len(arguments)]]
        if all(_fits(a, t) for a, t in zip(arguments, wanted, strict=True)):
            return signature
    given = ", ".join(str(a.dtype) if hasattr(a, "dtype") else type(a).__name__ for a in arguments)
    raise TypeError(f"{op_name}: no signature takes {given}; there are {', '.join(map(str, signatures))}")


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    if isinstance(value, (bool, int, float, complex)):
        return bool(np.can_cast(np.min_scalar_type(value), dtype, "same_kind"))
    return bool(np.can_cast(value.dtype, dtype, "safe"))


class UFunc:
    """A function of elements, on arrays of NumPy's and pardo's and on numbers; arrays of NumPy's give arrays of NumPy's."""

    __name__: str

    def __init__(self, function: Callable[..., Any], signatures: Sequence[types.Signature]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = self._pardo_function = function
        self._signatures = signatures
        self._made: dict[Any, Any] = {}

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Call the function for all elements."""
        given = [a if isinstance(a, (Array, bool, int, float, complex, np.generic)) else np.asarray(a) for a in arguments]
        signature = _chosen(self.__name__, self._signatures, given)
        if signature is not None:
            given = [_in_dtype(a, types.dtype_of(t)) for a, t in zip(given, signature.args, strict=True)]
        result = None if signature is None else signature.return_type
        if result not in self._made:
            self._made[result] = pp.vectorize(self.py_func, otypes=None if result is None else [types.dtype_of(result)])
        return _answered(self._made[result](*_on_device(given)), given, out)

    def __repr__(self) -> str:
        return f"<vectorized {self.__name__}>"


def each_row(item: pp.Item, f: Any, inputs: Any, outputs: Any) -> None:
    """What one item does: the function with its part of each array; it writes its part of the results."""
    i = item.get_id(0)
    f(*templates.take(inputs, i), *templates.take(outputs, i))


class GUFunc:
    """A function of rows and blocks that writes its results into its last arguments, on arrays of NumPy's and pardo's."""

    __name__: str

    def __init__(self, function: Callable[..., Any], signatures: Sequence[types.Signature], layout: str) -> None:
        functools.update_wrapper(self, function)
        self.py_func = self._pardo_function = function
        self.signature, self._signatures = layout, signatures
        self._inputs, self._results = _parsed(layout)
        self._kernel = pp.kernel(each_row)
        if not signatures:
            raise TypeError("guvectorize: signatures are needed: they say the dtypes of results")

    def __call__(self, *arguments: Any) -> Any:
        """Call the function for all rows; results may be given behind the arguments."""
        op_name, count = self.__name__, len(self._inputs)
        if len(arguments) not in (count, count + len(self._results)):
            raise TypeError(f"{op_name}: takes {count} arguments, here are {len(arguments)}")
        given = [a if isinstance(a, (Array, bool, int, float, complex, np.generic)) else np.asarray(a) for a in arguments[:count]]
        signature = _chosen(op_name, self._signatures, given)
        assert signature is not None
        given = [_in_dtype(a, types.dtype_of(t)) for a, t in zip(given, signature.args, strict=False)]
        shape, sizes, inputs = _flattened(_on_device(given), self._inputs, op_name)
        queue, items = next(x.queue for x in inputs if type(x) is Array), math.prod(shape)
        dtypes = [types.dtype_of(t) for t in signature.args[count:]]
        cores = [[sizes[n] for n in part] for part in self._results]
        outputs = tuple(_core._empty([items, *(core or [1])], t, queue) for t, core in zip(dtypes, cores, strict=True))
        if items:
            self._kernel[pp.Range(items)](self.py_func, tuple(inputs), outputs)
        made = tuple(_core._reshape(x, [*shape, *core]) for x, core in zip(outputs, cores, strict=True))
        places = arguments[count:] or (None,) * len(made)
        answers = tuple(_answered(m, given, place) for m, place in zip(made, places, strict=True))
        return answers[0] if len(answers) == 1 else answers

    def __repr__(self) -> str:
        return f"<generalized {self.__name__} {self.signature}>"


def _in_dtype(value: Any, dtype: np.dtype[Any]) -> Any:
    return dtype.type(value) if isinstance(value, (bool, int, float, complex, np.generic)) else value.astype(dtype, copy=False)


def _on_device(given: Iterable[Any]) -> list[Any]:
    """Arrays of pardo: those of NumPy's on the CPU, where they are; numbers alone become arrays."""
    listed = list(given)
    ours = any(type(a) is Array for a in listed)
    on = [pp.asarray(a, device="cpu") if isinstance(a, np.ndarray) else a for a in listed]
    if ours and any(isinstance(a, np.ndarray) for a in listed):
        raise TypeError("arrays of NumPy's and of pardo's are given together: make all of one kind with pardo.asarray or pardo.asnumpy")
    return on if any(type(a) is Array for a in on) else [pp.asarray(on[0], device="cpu"), *on[1:]]


def _answered(made: Any, given: Sequence[Any], out: Any) -> Any:
    """Results as the arguments are: of pardo, of NumPy's, or numbers; or in `out`."""
    if isinstance(made, tuple):
        return tuple(_answered(m, given, out) for m in made)
    if out is not None:
        out[...] = made if type(out) is Array else pp.asnumpy(made)
        return out
    return made if any(type(a) is Array for a in given) else np.asarray(pp.asnumpy(made))[()]


publish_module(globals())
