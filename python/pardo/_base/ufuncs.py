# python/pardo/_base/ufuncs.py: Python's functions as ufuncs, and what those of vectors and matrices do with their axes.
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import arrays, axis_index, check_cast, check_casting, dtype_of, integer, same_queue, single_out, store
from pardo._core import Array

_ALL = "? b B h H i I l L e f d F D"


def ufunc(nin: int, nout: int = 1, *, types: str, signature: str | None = None) -> Callable[[Any], Any]:
    """Decorate a function on arrays that is a ufunc in NumPy. `types`: what it computes in, as `ufunc.types` has it, between spaces."""

    def decorate(function: Any) -> Any:
        made = _core._ufunc(function, nin, nout, signature)
        made._types = types.split()
        return made

    return decorate


def same_types(nin: int, characters: str = _ALL) -> str:
    """`types` of a function that gives what it takes."""
    return " ".join(f"{c * nin}->{c}" for c in characters.split())


def _dimensions(signature: str) -> tuple[list[list[str]], list[str]]:
    """Names of the dimensions of each operand and of the result."""
    operands, _, result = signature.partition("->")
    names = [re.findall(r"\w+\??", text) for text in re.findall(r"\(([^)]*)\)", f"{operands},{result}")]
    return names[:-1], names[-1]


def apply_to_vectors(
    op_name: str,
    signature: str,
    compute: Callable[..., Array],
    operands: Sequence[Any],
    out: Any,
    axes: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any,
    casting: str,
) -> Array:
    """What NumPy's ufuncs with a signature do around their loop: `compute` gets operands whose last axes are those of the signature."""
    check_casting(casting, op_name)
    xs = arrays(operands, op_name)
    for x in xs[1:]:
        same_queue(xs[0], x, op_name)
    inputs, result_names = _dimensions(signature)
    if axis is not None and axes is not None:
        raise TypeError(f"{op_name}: cannot specify both 'axis' and 'axes'")
    if keepdims and (result_names or any(names != inputs[0] for names in inputs)):
        raise TypeError(f"{op_name}: {op_name} does not support keepdims: its signature is {signature}")
    if axis is not None and (result_names or len({n for names in inputs for n in names}) != 1):
        raise TypeError(f"{op_name}: axis can only be used with a single shared core dimension, not with the signature {signature}")
    taken = [_present(names, x, op_name) for names, x in zip(inputs, xs, strict=True)]
    # A dimension that may be missing is missing in the result, too.
    missing = {n for names, here in zip(inputs, taken, strict=True) for n in names if n not in here and n.endswith("?")}
    given = [n for n in result_names if n not in missing]
    if keepdims:
        given = inputs[0]
    places = _places(op_name, taken, given, axes, axis, keepdims or not result_names)
    xs = [_to_the_end(x, place, op_name) for x, place in zip(xs, places, strict=False)]
    sizes: dict[str, int] = {}
    for k, (x, names) in enumerate(zip(xs, taken, strict=True)):
        for name, n in zip(names, x.shape[x.ndim - len(names) :], strict=True):
            if sizes.setdefault(name, n) != n:
                raise ValueError(
                    f"{op_name}: Input operand {k} has a mismatch in its core dimension {name.rstrip('?')}, with gufunc signature "
                    f"{signature} (size {n} is different from {sizes[name]})"
                )
    if dtype is not None:
        wanted_dtype = dtype_of(dtype, op_name)
        for x in xs:
            check_cast(x.dtype, wanted_dtype, casting, op_name)
        xs = [x._astype(wanted_dtype, False) for x in xs]
    result = compute(*xs)
    if keepdims:
        result = _core._reshape(result, [*result.shape, *[1] * len(given)])
    if len(places) > len(xs) and places[-1]:
        n = result.ndim
        wanted = [axis_index(p, n, op_name) for p in places[-1]]
        _unequal(wanted, op_name)
        result = _core._moveaxis(result, list(range(n - len(wanted), n)), wanted)
    return store(result, single_out(out, op_name), op_name, casting)


def _present(names: list[str], x: Array, op_name: str) -> list[str]:
    """The dimensions that an operand has of those that it may have."""
    here = list(names)
    while len(here) > x.ndim and any(n.endswith("?") for n in here):
        here.remove(next(n for n in here if n.endswith("?")))
    if len(here) > x.ndim:
        raise ValueError(f"{op_name}: an operand has {x.ndim} dimensions, at least {len(here)} are needed")
    return here


def _places(op_name: str, taken: list[list[str]], given: list[str], axes: Any, axis: Any, may_omit: bool) -> list[tuple[int, ...]]:
    """The axes of each operand, and of the result if it has any; `may_omit`: those of the result may be left out."""
    if axis is not None:
        place = integer(axis, f"{op_name}: axis")
        return [(place,)] * (len(taken) + bool(given))
    if axes is None:
        return [tuple(range(-len(names), 0)) for names in taken]
    if not isinstance(axes, list):
        raise TypeError(f"{op_name}: axes should be a list, not {type(axes).__name__}")
    wanted = [*taken, given]
    if may_omit and len(axes) == len(taken):
        axes = [*axes, -1 if given else ()]
    if len(axes) != len(wanted):
        raise ValueError(
            f"{op_name}: axes should be a list with an entry for all {len(wanted)} inputs and outputs; entries for outputs can only be "
            "omitted if none of them has core axes"
        )
    found = []
    for k, (entry, names) in enumerate(zip(axes, wanted, strict=True)):
        if not isinstance(entry, tuple):
            if len(names) != 1:
                raise np.exceptions.AxisError(f"{op_name}: operand {k} has {len(names)} core dimensions, but axes has one entry for it")
            entry = (entry,)
        if len(entry) != len(names):
            raise np.exceptions.AxisError(
                f"{op_name}: operand {k} has {len(names)} core dimensions, but {len(entry)} dimensions are specified by axes tuple."
            )
        found.append(tuple(integer(e, f"{op_name}: axes") for e in entry))
    return found


def _to_the_end(x: Array, place: tuple[int, ...], op_name: str) -> Array:
    if place == tuple(range(-len(place), 0)):
        return x
    wanted = [axis_index(p, x.ndim, op_name) for p in place]
    _unequal(wanted, op_name)
    return _core._moveaxis(x, wanted, list(range(x.ndim - len(wanted), x.ndim)))


def _unequal(axes: list[int], op_name: str) -> None:
    if len(set(axes)) != len(axes):
        raise ValueError(f"{op_name}: axes tuple {tuple(axes)} has repeated entries")
