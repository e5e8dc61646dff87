# python/pardo/_plugins/xarray_arrays.py: functions of xarray that take NumPy's arrays alone, or put operands on the default device.
"""Each takes the place of xarray's, and calls that one for all other arrays. An xarray without such a function is left as it is."""

from __future__ import annotations

import functools
import importlib
import numbers
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo._array.interop import asarray, asnumpy
from pardo._base import face
from pardo._base.promotion import kind_of
from pardo._core import Array, Queue
from pardo._plugins import xarray_interpolation as interpolation
from pardo._plugins import xarray_rows as rows


def register() -> None:
    """Put them in their places."""
    core, compat = (functools.partial(_module, package) for package in ("core", "compat"))
    adapter = getattr(core("indexing"), "ArrayApiIndexingAdapter", None)
    for name, method in (("_vindex_get", _vectorized), ("_vindex_set", _set_vectorized), ("_oindex_set", _set_outer)):
        _replace(method, adapter, name)
    _replace(_indexed, core("indexing"), "apply_indexer")
    _replace(_index_of_kept, getattr(core("indexes"), "PandasIndex", None), "isel")
    _replace(_sorted, getattr(core("dataset"), "Dataset", None), "sortby")
    _replace(_single, core("variable"), "_as_array_or_item")
    _replace(_ranked, getattr(core("variable"), "Variable", None), "rank")
    _replace(_like, compat("array_api_compat"), "to_like_array")
    _replace(_shared, core("duck_array_ops"), "as_shared_dtype")
    _replace(_where, core("duck_array_ops"), "where")
    _replace(_pushed, core("duck_array_ops"), "_push")
    _replace(_first, core("nputils"), "nanfirst")
    _replace(_last, core("nputils"), "nanlast")
    _replace(_least_squares, core("nputils"), "least_squares")
    _replace(_interpolated, core("missing"), "_interpnd")
    _replace(_filled_between, core("missing"), "apply_ufunc", everywhere=False)
    _replace(_indexers_on_host, getattr(core("dataset"), "Dataset", None), "_get_indexers_coords_and_indexes")
    _replace(_index_of_extreme, _module("computation", "computation"), "_calc_idxminmax")
    _replace(_masked, _module("coding", "variables"), "_apply_mask")


def _module(package: str, name: str) -> Any:
    try:
        return importlib.import_module(f"xarray.{package}.{name}")
    except ModuleNotFoundError:
        return None


def _replace(function: Callable[..., Any], place: Any, name: str, everywhere: bool = True) -> None:
    """In a module also where others have imported it from; in a class as a method."""
    theirs = getattr(place, name, None)
    if theirs is None:
        return

    @functools.wraps(theirs)
    def ours(*arguments: Any, **keywords: Any) -> Any:
        return function(theirs, *arguments, **keywords)

    setattr(place, name, ours)
    if everywhere and not isinstance(place, type):
        for module in [module for key, module in list(sys.modules.items()) if key.startswith("xarray.")]:
            if vars(module).get(name) is theirs:
                setattr(module, name, ours)


def _home(*xs: Any) -> Queue | None:
    return next((x.queue for x in xs if type(x) is Array), None)


def _numbers(x: Any) -> bool:
    return isinstance(x, np.ndarray) and kind_of(x.dtype) in "biufc"


# --- where operands are


def _like(theirs: Any, array: Any, like: Any) -> Any:
    """Coordinates go to the device of the data that they meet; times and texts stay."""
    if type(like) is not Array:
        return theirs(array, like)
    return asarray(array, queue=like.queue) if _numbers(array) else array


def _shared(theirs: Any, scalars_or_arrays: Any, *arguments: Any, **keywords: Any) -> Any:
    home = _home(*scalars_or_arrays)
    if home is None:
        return theirs(scalars_or_arrays, *arguments, **keywords)
    made = theirs([asarray(x, queue=home) if _numbers(x) and x.ndim else x for x in scalars_or_arrays], *arguments, **keywords)
    return [x.to_queue(home) if type(x) is Array and x.queue != home else x for x in made]


def _where(theirs: Any, condition: Any, x: Any, y: Any) -> Any:
    home = _home(condition, x, y)
    return theirs(asarray(condition, queue=home) if home is not None and _numbers(condition) else condition, x, y)


def _single(theirs: Any, data: Any) -> Any:
    """`float(x)` and `bool(x)` of what has one element, as such arrays give themselves."""
    return theirs(asnumpy(data) if type(data) is Array and data.ndim == 0 else data)


# --- indexing


def _on_host(x: Any) -> Any:
    return asnumpy(x) if type(x) is Array else x


def _indexed(theirs: Any, indexable: Any, indexer: Any) -> Any:
    """What is on the host, such as an index, is indexed on the host."""
    if any(type(k) is Array for k in indexer.tuple) and type(getattr(indexable, "array", None)) is not Array:
        indexer = type(indexer)(tuple(map(_on_host, indexer.tuple)))
    return theirs(indexable, indexer)


def _labelled_on_host(x: Any) -> Any:
    """The same of variables and arrays with names."""
    if type(x) is Array:
        return asnumpy(x)
    return x.as_numpy() if type(getattr(getattr(x, "variable", x), "_data", None)) is Array else x


def _index_of_kept(theirs: Any, self: Any, indexers: Any) -> Any:
    return theirs(self, {name: _labelled_on_host(x) for name, x in indexers.items()})


def _indexers_on_host(theirs: Any, self: Any, indexers: Any) -> Any:
    """How many elements are kept is known on the host alone."""
    kinds = {name: getattr(getattr(x, "dtype", None), "kind", "") for name, x in indexers.items()}
    return theirs(self, {name: _labelled_on_host(x) if kinds[name] == "b" else x for name, x in indexers.items()})


def _sorted(theirs: Any, self: Any, variables: Any, *ascending: Any, **keywords: Any) -> Any:
    """An order is of the indexes too, which are on the host."""
    if callable(variables):
        variables = variables(self)
    keys = [_labelled_on_host(x) for x in variables] if isinstance(variables, list) else _labelled_on_host(variables)
    return theirs(self, keys, *ascending, **keywords)


def _positions(key: Any) -> tuple[list[int], list[int]]:
    """Where NumPy's rules put the axes of index arrays, and where xarray wants them: in front."""
    places = [i for i, k in enumerate(key) if not isinstance(k, slice)]
    count = len(np.broadcast_shapes(*(np.shape(key[i]) for i in places)))
    together = places and places == list(range(places[0], places[-1] + 1))
    return (list(range(places[0], places[0] + count)), list(range(count))) if together else ([], [])


def _vectorized(theirs: Any, self: Any, indexer: Any) -> Any:
    if type(self.array) is not Array:
        return theirs(self, indexer)
    there, front = _positions(indexer.tuple)
    return face.namespace().moveaxis(self.array[indexer.tuple], there, front)


def _set_vectorized(theirs: Any, self: Any, indexer: Any, value: Any) -> Any:
    if type(self.array) is not Array:
        return theirs(self, indexer, value)
    there, front = _positions(indexer.tuple)
    if type(value) is Array:
        value = face.namespace().moveaxis(value, front, there)
    self.array[indexer.tuple] = np.moveaxis(value, front, there) if isinstance(value, np.ndarray) else value
    return None


def _set_outer(theirs: Any, self: Any, indexer: Any, value: Any) -> Any:
    """xarray takes index arrays of several axes for one index there."""
    key = indexer.tuple
    if type(self.array) is not Array or sum(np.ndim(k) > 0 for k in key if not isinstance(k, slice)) < 2:
        return theirs(self, indexer, value)
    indexer = type(indexer)(tuple(map(_on_host, key)))
    self.array[_module("core", "indexing")._outer_to_numpy_indexer(indexer, self.array.shape)] = value
    return None


def _index_of_extreme(theirs: Any, *, array: Any, func: Any, dim: Any = None, skipna: Any = None, **keywords: Any) -> Any:
    """`idxmin`, `idxmax`: times and texts are looked up on the host."""
    if dim is None and array.ndim == 1:
        dim = array.dims[0]
    coordinate = array.coords.get(dim) if dim in array.dims else None
    if type(array._variable._data) is not Array or coordinate is None or kind_of(coordinate.dtype) in "biufc":
        return theirs(array=array, func=func, dim=dim, skipna=skipna, **keywords)
    skips = skipna or (skipna is None and array._variable._data._kind in "fc")
    missing = array.isnull().all(dim)
    chosen = array.where(~missing, 0) if skips else array
    index = func(chosen, dim=dim, axis=None, keep_attrs=keywords.get("keep_attrs"), skipna=skipna).as_numpy()
    found = index._replace(coordinate._variable.to_base_variable()[(index.variable,)]).rename(dim)
    if skips and bool(missing.any()):
        given = keywords.get("fill_value")
        found = found.where(~missing.as_numpy(), *(() if given is _module("core", "dtypes").NA else (given,)))
    found.attrs = index.attrs
    return found


# --- along an axis


def _masked(theirs: Any, data: Any, encoded_fill_values: Any, decoded_fill_value: Any, dtype: Any) -> Any:
    """What a file says is missing becomes `decoded_fill_value`, in another dtype."""
    if type(data) is not Array:
        return theirs(data, encoded_fill_values, decoded_fill_value, dtype)
    namespace: Any = face.namespace()
    made = data.astype(dtype)
    missing = [made == value for value in encoded_fill_values]
    return namespace.where(functools.reduce(namespace.logical_or, missing), decoded_fill_value, made) if missing else made


def _pushed(theirs: Any, array: Any, n: int | None = None, axis: int = -1) -> Any:
    return rows.pushed(array, n, axis) if type(array) is Array else theirs(array, n, axis)


def _ranked(theirs: Any, self: Any, dim: Any, pct: bool = False) -> Any:
    if type(self._data) is not Array:
        return theirs(self, dim, pct=pct)
    ranked = self.copy(data=rows.ranked(self._data, self.get_axis_num(dim)))
    return ranked / self.notnull().sum(dim) if pct else ranked


def _first(theirs: Any, values: Any, axis: Any, keepdims: bool = False) -> Any:
    return rows.first(values, axis, keepdims) if type(values) is Array else theirs(values, axis, keepdims)


def _last(theirs: Any, values: Any, axis: Any, keepdims: bool = False) -> Any:
    if type(values) is not Array:
        return theirs(values, axis, keepdims)
    (place,) = axis if isinstance(axis, tuple) else (axis,)
    return rows.first(face.namespace().flip(values, axis=place), place, keepdims)


def _least_squares(theirs: Any, lhs: Any, rhs: Any, rcond: Any = None, skipna: bool = False) -> Any:
    if type(rhs) is not Array or not skipna:
        return theirs(lhs, rhs, rcond=rcond, skipna=skipna)
    return rows.least_squares(asarray(lhs, queue=rhs.queue), rhs, rcond)


def _filled_between(theirs: Any, function: Any, *arguments: Any, **keywords: Any) -> Any:
    """The linear and nearest methods of `interpolate_na`, which calls SciPy for each row."""
    given = getattr(function, "keywords", {})
    if (
        getattr(getattr(function, "func", None), "__name__", "") == "func_interpolate_na"
        and type(getattr(getattr(arguments[0], "variable", None), "_data", None)) is Array
        and given.get("method") in ("linear", "nearest")
        and set(given) <= {"method", "fill_value"}
        and (given.get("fill_value") is None or isinstance(given["fill_value"], numbers.Number))
    ):
        function, keywords["vectorize"] = functools.partial(rows.filled_between, **given), False
    return theirs(function, *arguments, **keywords)


def _interpolated(theirs: Any, data: Any, *coords: Any, **keywords: Any) -> Any:
    given, names = keywords.get("interp_kwargs"), keywords.get("result_coord_core_dims")
    if type(data) is Array and given is not None and names is not None and interpolation.knows(given, coords):
        return interpolation.interpolated(data, coords, given, names)
    return theirs(data, *coords, **keywords)
