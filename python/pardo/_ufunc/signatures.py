# python/pardo/_ufunc/signatures.py: what a call of a universal function computes in, dtype by dtype: its keyword `signature`, and
# `dtype` of those that are written in Python.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo._array import contexts
from pardo._base import promotion
from pardo._base.arguments import array, arrays, check_cast, check_casting, dtype_of
from pardo._core import ufunc

_Types = list[np.dtype[Any] | None]
_NUMBERS = (bool, int, float, complex)


@contexts.copying
def call(f: ufunc, positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A call with the keywords: operands are cast to the dtypes of the loop that is found, as `casting` allows."""
    name, rest = f.__name__, dict(keywords)
    if "sig" in rest and "signature" in rest:
        raise TypeError(f"{name}: cannot specify both 'sig' and 'signature'")
    if "sig" in rest or "signature" in rest:
        if "dtype" in rest:
            raise TypeError(f"{name}: cannot specify both 'signature' and 'dtype'")
        wanted = _read(f, rest.pop("sig") if "sig" in rest else rest.pop("signature"), name)
    else:
        dtype = rest.pop("dtype")
        if dtype is None:
            return f(*positional, **rest)
        wanted = [*[None] * f.nin, *[dtype_of(dtype, name)] * f.nout]
    casting = rest.get("casting", "same_kind")
    check_casting(casting, name)
    given = positional[: f.nin]
    if len(given) < f.nin:
        return f(*positional, **rest)  # which says what is missing
    xs = arrays(given, name)
    weak = [f.nin > 1 and type(g) in _NUMBERS for g in given]  # Python's numbers beside others become anything, as in NumPy
    loop = _loop(f, wanted, [None if any_kind else x.dtype for any_kind, x in zip(weak, xs, strict=True)], name)
    operands = []
    for x, what, any_kind, dtype in zip(xs, given, weak, loop, strict=True):
        if any_kind:
            x = array(np.asarray(what).astype(dtype)[()], name)._to_queue(x.queue)
        else:
            check_cast(x.dtype, dtype, casting, name)
        operands.append(x._astype(dtype, False))
    return f(*operands, *positional[f.nin :], **rest)


def _read(f: ufunc, signature: Any, name: str) -> _Types:
    """One dtype for each operand and result, or None where any will do."""
    count = f.nin + f.nout
    if isinstance(signature, tuple):
        if len(signature) == 1 and count != 1:
            if signature[0] is None:
                raise TypeError(f"{name}: a single item type tuple cannot contain None.")
            raise TypeError(f"{name}: signature is one dtype for {count} operands and results: use dtype=, or fill the tuple with None")
        if len(signature) != count:
            raise ValueError(f"{name}: signature must be a tuple of {count} dtypes, not of {len(signature)}")
        return [None if t is None else dtype_of(t, name) for t in signature]
    if isinstance(signature, bytes):
        signature = signature.decode("latin-1")
    if not isinstance(signature, str):
        raise TypeError(f"{name}: signature must be a string or a tuple, not {type(signature).__name__}")
    if len(signature) == 1:
        raise TypeError(f"{name}: signature is one dtype for {count} operands and results: use dtype=, or a tuple filled with None")
    operands, arrow, results = signature.partition("->")
    if not arrow or len(operands) != f.nin or len(results) != f.nout:
        raise ValueError(f"{name}: signature {signature!r} must have {f.nin} typecodes before and {f.nout} after the -> sign")
    try:
        for letter in operands + results:
            np.dtype(letter)
    except TypeError:
        raise ValueError(f"{name}: signature {signature!r} has a typecode that is none") from None
    return [dtype_of(letter, name) for letter in operands + results]


def _loop(f: ufunc, wanted: _Types, dtypes: Sequence[np.dtype[Any] | None], name: str) -> list[np.dtype[Any]]:
    """The dtypes of the operands of the first loop that fits what is wanted; operands of which nothing is said fit without loss."""
    free = all(t is None for t in wanted[: f.nin])  # only results are wanted, as by dtype=
    loops = [[np.dtype(c) for c in text.replace("->", "")] for text in f.types]
    if any(t is not None and promotion.is_bfloat16(t) for t in wanted):  # it is computed in wherever float16 is
        loops = [[promotion.bfloat16() if t == np.float16 else t for t in loop] for loop in loops]
    for anything in [False, True] if free else [False]:
        for loop in loops:
            if all(t is None or t == have for t, have in zip(wanted, loop, strict=True)) and all(
                anything or t is not None or have is None or promotion.can_cast(have, into, "safe")
                for t, have, into in zip(wanted, dtypes, loop, strict=False)
            ):
                return loop[: f.nin]
    said = ", ".join("None" if t is None else t.name for t in wanted)
    raise TypeError(f"{name}: no loop matches the signature ({said}) for operands of {', '.join(str(t) for t in dtypes)}; see {name}.types")
