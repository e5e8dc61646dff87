# python/pardo/_plugins/dask_arrays.py: what Dask looks up by the type of chunks.
from __future__ import annotations

import sys
from typing import Any

from pardo._array.interop import asnumpy
from pardo._base import face
from pardo._core import Array


def register() -> None:
    """Register with the tables of dask.array."""
    dispatch: Any = sys.modules["dask.array.dispatch"]
    backends: Any = sys.modules["dask.array.backends"]
    namespace: Any = face.namespace()
    dispatch.percentile_lookup.register(Array, backends.percentile)
    dispatch.concatenate_lookup.register(Array, namespace.concatenate)
    dispatch.take_lookup.register(Array, namespace.take)
    dispatch.tensordot_lookup.register(Array, namespace.tensordot)
    dispatch.einsum_lookup.register(Array, _einsum)
    dispatch.numel_lookup.register(Array, backends._numel_arraylike)
    dispatch.nannumel_lookup.register(Array, backends._nannumel)
    dispatch.to_numpy_dispatch.register(Array, lambda data, **keywords: asnumpy(data))


def _einsum(*operands: Any, **keywords: Any) -> Any:
    keywords.pop("order", None)
    keywords.pop("casting", None)
    namespace: Any = face.namespace()
    return namespace.einsum(*operands, **keywords)
