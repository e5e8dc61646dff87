# python/pardo/compat/numba/ufuncs.py: Numba's `vectorize` and `guvectorize`: functions of elements and of rows, with signatures.
"""Functions on arrays made of functions of elements and of rows, as Numba's."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pardo as pp
from pardo import Array
from pardo._extending import _empty, _reshape, publish_module
from pardo._extending import flattened_inputs as _flattened_inputs
from pardo._extending import parsed_signature as _parsed_signature
from pardo._extending import take as _take
from pardo.compat.numba.core import types

__all__ = ["GUFunc", "UFunc", "signatures_of"]


def signatures_of(op_name: str, given: Any) -> list[types.Signature]:
    """The signatures of a decorator: types, texts such as ``"void(int64[:], int64)"``, tuples of types."""
    listed = given if isinstance(given, list) or (isinstance(given, tuple) and not _are_types(given)) else [given]
    return [_signature(op_name, s) for s in listed]


def _are_types(given: Any) -> bool:
    return bool(given) and all(isinstance(t, types.Type) for t in given)


def _read(text: str) -> Any:
    """What a text of a signature names; None for other texts."""
    names = {**types.NUMBERS, "void": types.void, "none": types.none, "__builtins__": {}}
    try:
        return eval(text.strip(), names)
    except (SyntaxError, NameError, TypeError, AttributeError, ValueError):  # what eval raises for a text that is no signature
        return None


def _signature(op_name: str, given: Any) -> types.Signature:
    made = _read(given) if isinstance(given, str) else given
    if isinstance(made, tuple) and _are_types(made):
        made = types.Signature(types.void, made)
    if not isinstance(made, types.Signature) or not all(isinstance(t, types.Type) for t in made.args):
        raise TypeError(f"{op_name}: {given!r} is no signature; write float64(float64, float64), as types or as a text")
    return made


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


def each_fold(item: pp.Item, f: Any, x: Any, out: Any) -> None:
    """What one item does: it combines the elements of a row, one after the other."""
    i = item.get_id(0)
    out[i] = x[i, 0]
    for j in range(1, x.shape[1]):
        out[i] = f(out[i], x[i, j])


def each_run(item: pp.Item, f: Any, x: Any, out: Any) -> None:
    """As `each_fold`, and keeps what was there after each element."""
    i = item.get_id(0)
    out[i, 0] = x[i, 0]
    for j in range(1, x.shape[1]):
        out[i, j] = f(out[i, j - 1], x[i, j])


class UFunc:
    """A function of elements, on arrays of NumPy's and pardo's and on numbers; arrays of NumPy's give arrays of NumPy's."""

    __name__: str

    def __init__(self, function: Callable[..., Any], signatures: Sequence[types.Signature], identity: Any = None) -> None:
        functools.update_wrapper(self, function)
        self.py_func = self._pardo_function = function
        self.identity, self.nout, self.nin = identity, 1, len(inspect.signature(function).parameters)
        for s in signatures:
            if len(s.args) != self.nin:
                raise TypeError(f"vectorize: {self.__name__} takes {self.nin} arguments, the signature {s} is of {len(s.args)}")
        self._signatures = signatures
        self._made: dict[Any, Any] = {}

    @property
    def nargs(self) -> int:
        """How many arguments and results there are."""
        return self.nin + self.nout

    @property
    def types(self) -> list[str]:
        """Dtypes of arguments and result of each signature: ``'dd->d'``."""
        return [
            "".join(types.dtype_of(t).char for t in s.args) + "->" + types.dtype_of(s.return_type).char
            for s in self._signatures
            if s.return_type not in (None, types.void)
        ]

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Call the function for all elements; the result may go into an array, given as `out` or behind the arguments."""
        if len(arguments) == self.nargs and out is None:
            *arguments, out = arguments  # type: ignore[assignment]
        if len(arguments) != self.nin:
            raise TypeError(
                f"{self.__name__}: takes {self.nin} arguments, but {len(arguments)} {'was' if len(arguments) == 1 else 'were'} given"
            )
        given = _given(arguments)
        signature = _chosen(self.__name__, self._signatures, given)
        if signature is not None:
            given = [_in_dtype(a, types.dtype_of(t)) for a, t in zip(given, signature.args, strict=True)]
        result = None if signature is None or signature.return_type == types.void else signature.return_type
        if result not in self._made:
            self._made[result] = pp.vectorize(self.py_func, otypes=None if result is None else [types.dtype_of(result)])
        return _answered(self.__name__, self._made[result](*_on_device(given)), given, _single(out))

    def _rows(self, op_name: str, array: Any, axis: int) -> tuple[Any, Any, Any]:
        """Of what is folded along an axis: as it was given, as rows in the dtype of the result, and the shape of the others."""
        if self.nin != 2:
            raise ValueError(f"{self.__name__}.{op_name}: only functions of two arguments combine elements; this one takes {self.nin}")
        (given,) = _given([array])
        if not getattr(given, "ndim", 0):
            raise TypeError(f"{self.__name__}.{op_name}: an array with at least one dimension is expected")
        one = np.zeros(1, given.dtype)
        dtype = self(one, one).dtype
        (x,) = _on_device([given])
        moved = pp.moveaxis(x, axis, -1)
        return given, moved.reshape(-1, moved.shape[-1]).astype(dtype) if moved.size else moved, moved.shape[:-1]

    def reduce(self, array: Any, axis: int = 0, out: Any = None, keepdims: bool = False) -> Any:
        """Combine the elements along an axis, one after the other, as `numpy.ufunc.reduce`."""
        given, rows, shape = self._rows("reduce", array, axis)
        if not rows.shape[-1] and self.identity is None:
            raise ValueError(f"{self.__name__}.reduce: there are no elements, and the function has no identity")
        if rows.size:
            made = pp.empty(rows.shape[0], rows.dtype, queue=rows.queue)
            self._kernel(each_fold)[pp.Range(rows.shape[0])](self.py_func, rows, made)
        else:
            made = pp.full(math.prod(shape), self.identity, rows.dtype, queue=rows.queue)
        made = made.reshape(shape)
        return _answered(self.__name__, pp.expand_dims(made, axis) if keepdims else made, [given], _single(out))

    def accumulate(self, array: Any, axis: int = 0, out: Any = None) -> Any:
        """Combine the elements along an axis, and keep each step, as `numpy.ufunc.accumulate`."""
        given, rows, shape = self._rows("accumulate", array, axis)
        made = pp.empty(rows.shape, rows.dtype, queue=rows.queue)
        if rows.size:
            self._kernel(each_run)[pp.Range(rows.shape[0])](self.py_func, rows, made)
        made = pp.moveaxis(made.reshape(*shape, rows.shape[-1]), -1, axis)
        return _answered(self.__name__, made, [given], _single(out))

    def outer(self, a: Any, b: Any) -> Any:
        """Call the function for all pairs of elements, as `numpy.ufunc.outer`."""
        first, second = (x if type(x) is Array else np.asarray(x) for x in (a, b))
        return self(first.reshape(first.shape + (1,) * second.ndim), second)

    def _kernel(self, body: Any) -> Any:
        return self._made.setdefault(body, pp.kernel(body))

    def __repr__(self) -> str:
        return f"<vectorized {self.__name__}>"


def each_row(item: pp.Item, f: Any, inputs: Any, outputs: Any) -> None:
    """What one item does: the function with its part of each array; it writes its part of the results."""
    i = item.get_id(0)
    f(*_take(inputs, i), *_take(outputs, i))


class GUFunc:
    """A function of rows and blocks that writes its results into its last arguments, on arrays of NumPy's and pardo's."""

    __name__: str

    def __init__(self, function: Callable[..., Any], signatures: Sequence[types.Signature], layout: str) -> None:
        functools.update_wrapper(self, function)
        self.py_func = self._pardo_function = function
        self.signature, self._signatures = layout, signatures
        self._inputs, self._results = _parsed_signature(layout, "guvectorize")
        self._kernel = pp.kernel(each_row)
        self.nin, self.nout = len(self._inputs), len(self._results)
        takes = len(inspect.signature(function).parameters)
        for s in (*(s.args for s in signatures), range(takes)):
            if len(s) != self.nin + self.nout:
                raise TypeError(f"guvectorize: {layout} is of {self.nin + self.nout} arguments and results, {self.__name__} of {len(s)}")

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Call the function for all rows; results may be given behind the arguments, or as `out`."""
        op_name, count = self.__name__, self.nin
        if out is not None:
            arguments += out if isinstance(out, tuple) else (out,)
        if len(arguments) not in (count, count + self.nout):
            number = f"{len(arguments)} {'was' if len(arguments) == 1 else 'were'} given"
            raise TypeError(f"{op_name}: takes {count} arguments, but {number}")
        given, places = _given(arguments[:count]), arguments[count:]
        signature = _chosen(op_name, self._signatures, given)
        if signature is None and not places:
            raise TypeError(f"{op_name}: it has no signatures, which say the dtypes of results; give arrays for them behind the arguments")
        if signature is not None:
            given = [_in_dtype(a, types.dtype_of(t)) for a, t in zip(given, signature.args, strict=False)]
        shape, sizes, inputs = _flattened_inputs(_on_device(given), self._inputs, op_name)
        queue, items = next(x.queue for x in inputs if type(x) is Array), math.prod(shape)
        dtypes = [p.dtype for p in places] if signature is None else [types.dtype_of(t) for t in signature.args[count:]]
        cores = [[sizes[n] for n in part] for part in self._results]
        outputs = tuple(_empty([items, *(core or [1])], t, queue) for t, core in zip(dtypes, cores, strict=True))
        for place, output, core in zip(places, outputs, cores, strict=False):
            _check_place(op_name, place, (*shape, *core))
            output[...] = pp.asarray(place, queue=queue).reshape(output.shape)
        if items:
            self._kernel[pp.Range(items)](self.py_func, tuple(inputs), outputs)
        made = tuple(_reshape(x, [*shape, *core]) for x, core in zip(outputs, cores, strict=True))
        answers = tuple(_answered(op_name, m, given, place) for m, place in zip(made, places or (None,) * len(made), strict=True))
        return answers[0] if len(answers) == 1 else answers

    def __repr__(self) -> str:
        return f"<generalized {self.__name__} {self.signature}>"


def _given(arguments: Iterable[Any]) -> list[Any]:
    return [a if isinstance(a, (Array, bool, int, float, complex, np.generic)) else np.asarray(a) for a in arguments]


def _single(out: Any) -> Any:
    """The array of ``out=x`` and ``out=(x,)``."""
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def _check_place(op_name: str, place: Any, shape: tuple[int, ...]) -> None:
    if not isinstance(place, (Array, np.ndarray)):
        raise TypeError(f"{op_name}: results go into arrays, not {type(place).__name__}")
    if tuple(place.shape) != shape:
        raise ValueError(f"{op_name}: the result has the shape {shape}, the array for it {tuple(place.shape)}")


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


def _answered(op_name: str, made: Any, given: Sequence[Any], out: Any) -> Any:
    """Results as the arguments are: of pardo, of NumPy's, or numbers; or in `out`."""
    if isinstance(made, tuple):
        return tuple(_answered(op_name, m, given, out) for m in made)
    if out is not None:
        _check_place(op_name, out, tuple(made.shape))
        if type(out) is not Array:
            np.copyto(out, pp.asnumpy(made), casting="same_kind")
        else:
            out[...] = made if type(made) is Array else pp.asarray(made, queue=out.queue)
        return out
    return made if any(type(a) is Array for a in given) else np.asarray(pp.asnumpy(made))[()]


publish_module(globals())
