# python/pardo/_plugins/dask_functions.py: functions of dask.array that call NumPy or SciPy by name, and have no table to register with.
"""Each takes the place of Dask's, and calls that one for chunks of others. A Dask without such a function is left as it is."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo._array.contexts import device_context
from pardo._array.interop import asnumpy
from pardo._base import face
from pardo._core import Array


def register() -> None:
    """Put them in their places."""
    array: Any = sys.modules["dask.array"]
    routines, linalg, utils = (sys.modules[f"dask.array.{name}"] for name in ("routines", "linalg", "utils"))
    _replace(_unique, routines, "unique", array)
    _replace(_lu, linalg, "lu")
    _replace(_scipy_linalg, utils, "scipy_linalg_safe")
    for name in _FOURIER:
        _replace(_typed, sys.modules["dask.array.fft"], name)
    _replace(_masked, sys.modules["dask.array.slicing"], "slice_with_bool_dask_array", sys.modules["dask.array.core"])
    percentiles: Any = sys.modules["dask.array.percentile"]
    _replace(_percentile, percentiles, "percentile", array)
    if hasattr(percentiles, "merge_percentiles"):
        _THEIRS.append(percentiles.merge_percentiles)
        percentiles.merge_percentiles = merge_percentiles


def _replace(function: Callable[..., Any], module: Any, name: str, *others: Any) -> None:
    theirs = getattr(module, name, None)
    if theirs is None:
        return
    ours = functools.wraps(theirs)(functools.partial(function, theirs))
    for place in (module, *(other for other in others if getattr(other, name, None) is theirs)):
        setattr(place, name, ours)


def _scipy_linalg(theirs: Any, name: str, *operands: Any, **keywords: Any) -> Any:
    """A function of scipy.linalg on blocks: `solve_triangular`."""
    if any(type(x) is Array for x in operands):
        return getattr(face.public("scipy.linalg"), name)(*operands, **keywords)
    return theirs(name, *operands, **keywords)


# --- what Dask takes for NumPy's arrays until they are computed

_FOURIER = [f"{inverse}{kind}{axes}" for kind in ("fft", "rfft", "hfft") for inverse in ("", "i") for axes in ("", "2", "n")]


def _typed(theirs: Any, a: Any, *arguments: Any, **keywords: Any) -> Any:
    """A function that Dask tries on no elements, of which there is no transform; so it does not know of which type the chunks will be."""
    return _of_type(theirs(a, *arguments, **keywords), a)


def _masked(theirs: Any, x: Any, index: Any) -> Any:
    made, rest = theirs(x, index)
    return _of_type(made, x), rest


def _of_type(made: Any, source: Any) -> Any:
    known = getattr(source, "_meta", None)
    if type(known) is Array and type(getattr(made, "_meta", None)) is np.ndarray:
        made._meta = face.namespace().empty((0,) * made.ndim, dtype=made.dtype, device=known.device)
    return made


# --- percentile

_THEIRS: list[Callable[..., Any]] = []


def _percentile(theirs: Any, a: Any, *arguments: Any, **keywords: Any) -> Any:
    """Dask puts the percentiles themselves into an array like the chunks, and others that it makes of no array beside them."""
    if type(getattr(a, "_meta", None)) is not Array:
        return theirs(a, *arguments, **keywords)
    with device_context(a._meta.device):
        return theirs(a, *arguments, **keywords)


def merge_percentiles(finalq: Any, qs: Any, *arguments: Any, **keywords: Any) -> Any:
    """Those of chunks; what is not of their size is computed on the host. It is in graphs, and so found by its name."""
    theirs = _THEIRS[0] if _THEIRS else sys.modules["dask.array.percentile"].merge_percentiles
    if type(finalq) is Array:
        finalq, qs = asnumpy(finalq), [asnumpy(q) for q in qs]
    return theirs(finalq, qs, *arguments, **keywords)


# --- unique

_RESULTS = ("return_index", "return_inverse", "return_counts")


def _unique(theirs: Any, ar: Any, *flags: Any, **keywords: Any) -> Any:
    """Those of each chunk, and of these together; NumPy's are found one by one there."""
    if type(getattr(ar, "_meta", None)) is not Array:
        return theirs(ar, *flags, **keywords)
    wanted = dict.fromkeys(_RESULTS, False) | dict(zip(_RESULTS, flags, strict=False)) | keywords
    return _unique_of_arrays(ar, **wanted)


def _unique_of_arrays(ar: Any, return_index: bool, return_inverse: bool, return_counts: bool) -> Any:
    import dask
    import dask.array as da

    flat, counter = ar.ravel(), ar._meta.ravel()[:0].astype(np.intp)
    parts = [dask.delayed(_unique_in_chunk, pure=True)(chunk) for chunk in flat.to_delayed()]
    merged = dask.delayed(_unique_in_all, pure=True)(parts)

    def part(index: int, meta: Any) -> Any:
        return da.from_delayed(merged[index], (np.nan,), meta=meta)

    values = part(0, flat._meta)
    results = [values]
    if return_index:
        results.append(part(1, counter))
    if return_inverse:
        results.append(flat.map_blocks(_places, merged, dtype=np.intp, meta=counter).reshape(ar.shape))
    if return_counts:
        results.append(part(2, counter))
    return values if len(results) == 1 else tuple(results)


def _unique_in_chunk(chunk: Any) -> tuple[Any, ...]:
    """Values, where each is first, how often it is there; and the length of the chunk."""
    values, index, counts = face.namespace().unique(chunk, return_index=True, return_counts=True)
    return values, index, counts, chunk.size


def _unique_in_all(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    namespace = face.namespace()
    starts = np.cumsum([0] + [size for *_, size in parts[:-1]])
    joined = namespace.concatenate([values for values, *_ in parts])
    places = namespace.concatenate([index + int(start) for (_, index, *_), start in zip(parts, starts, strict=True)])
    counts = namespace.concatenate([count for _, _, count, _ in parts])
    values, first, inverse = namespace.unique(joined, return_index=True, return_inverse=True)
    totals = namespace.zeros_like(counts, shape=values.shape)
    namespace.add.at(totals, inverse, counts)
    return values, places[first].astype(np.intp), totals.astype(np.intp)


def _places(chunk: Any, merged: tuple[Any, ...]) -> Any:
    return face.namespace().searchsorted(merged[0], chunk).astype(np.intp)


# --- lu


def _lu(theirs: Any, a: Any) -> Any:
    """Dask's graph of blocks, in which a block is factored where it is, and blocks of zeros are there too."""
    made = theirs(a)
    if type(getattr(a, "_meta", None)) is not Array:
        return made
    for factor in made:
        tasks = factor.dask.layers[factor.name].mapping
        for key, task in list(tasks.items()):
            if type(task) is tuple and getattr(task[0], "__name__", "") == "lu":
                tasks[key] = (_lu_of_block, *task[1:])
            elif type(task) is tuple and task[0] is np.zeros:
                tasks[key] = (_zeros_like, (a.name, *key[1:]))
    return made


def _lu_of_block(block: Any) -> tuple[Any, ...]:
    factors: tuple[Any, ...] = face.public("scipy.linalg").lu(block)
    return factors


def _zeros_like(block: Any) -> Any:
    namespace = face.namespace()
    return namespace.zeros_like(block, dtype=namespace.result_type(block.dtype, "float32"))
