# python/pardo/_plugins/dask_arrays.py: what Dask looks up by the type of chunks, and `array.backend="pardo"`.
from __future__ import annotations

import sys
from typing import Any

from pardo._array.interop import asnumpy
from pardo._base import face
from pardo._core import Array
from pardo._plugins import dask_functions


def register() -> None:
    """Register with the tables of dask.array."""
    from pardo._plugins.dask_backend import PardoBackend

    dispatch: Any = sys.modules["dask.array.dispatch"]
    backends: Any = sys.modules["dask.array.backends"]
    namespace: Any = face.namespace()
    sys.modules["dask.array.chunk_types"].register_chunk_type(Array)
    dispatch.percentile_lookup.register(Array, backends.percentile)
    dispatch.concatenate_lookup.register(Array, namespace.concatenate)
    dispatch.take_lookup.register(Array, namespace.take)
    dispatch.tensordot_lookup.register(Array, namespace.tensordot)
    dispatch.einsum_lookup.register(Array, _einsum)
    dispatch.empty_lookup.register(Array, namespace.empty)
    dispatch.numel_lookup.register(Array, backends._numel_arraylike)
    dispatch.nannumel_lookup.register(Array, backends._nannumel)
    dispatch.to_numpy_dispatch.register(Array, lambda data, **keywords: asnumpy(data))
    backends.array_creation_dispatch.register_backend("pardo", PardoBackend())
    dask_functions.register()


def _einsum(*operands: Any, **keywords: Any) -> Any:
    keywords.pop("order", None)
    keywords.pop("casting", None)
    namespace: Any = face.namespace()
    return namespace.einsum(*operands, **keywords)
