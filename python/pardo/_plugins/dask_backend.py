# python/pardo/_plugins/dask_backend.py: dask.config.set({"array.backend": "pardo"}): what Dask makes by itself is made of arrays.
from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array.backends import ArrayBackendEntrypoint
from dask.utils import Dispatch
from pardo._base import face
from pardo._core import Array
from pardo._plugins import hooks

to_pardo: Any = Dispatch("to_pardo_dispatch")


def _to_pardo(data: Any, **keywords: Any) -> Any:
    return face.namespace().asarray(data, **keywords)


to_pardo.register((object, np.ndarray), _to_pardo)


def _like(keywords: dict[str, Any], name: str) -> dict[str, Any]:
    """An empty array says of which type chunks are, and is in the graph: of a dtype that each device has. Where chunks are, workers say."""
    return keywords if keywords.get(name) is not None else {**keywords, name: face.namespace().empty((), dtype="float32")}


def _made(name: str, *arguments: Any, **keywords: Any) -> Any:
    with dask.config.set({"array.backend": "numpy"}):
        return getattr(da, name)(*arguments, **keywords)


class PardoBackend(ArrayBackendEntrypoint):  # type: ignore[misc]
    """What Dask's entry point names: creation, random numbers, and the way from other chunks."""

    def __init__(self) -> None:
        hooks.met()

    @classmethod
    def to_backend_dispatch(cls) -> Any:
        """What makes an array of a chunk."""
        return to_pardo

    @classmethod
    def to_backend(cls, data: Any, **keywords: Any) -> Any:
        """The same collection, of arrays."""
        return data if isinstance(data._meta, Array) else data.map_blocks(to_pardo, **keywords)

    @property
    def RandomState(self) -> Any:  # noqa: N802
        """The class behind dask.array.random.RandomState."""
        return face.public("random.RandomState")

    @property
    def default_bit_generator(self) -> Any:
        """What dask.array.random.default_rng makes of a seed: streams for chunks are spawned of its SeedSequence."""
        philox = face.public("random.Philox")
        return lambda seed=None: philox(seed if hasattr(seed, "generate_state") else np.random.SeedSequence(seed))

    @staticmethod
    def ones(*arguments: Any, meta: Any = None, **keywords: Any) -> Any:
        """As dask.array.ones."""
        return _made("ones", *arguments, **_like({**keywords, "meta": meta}, "meta"))

    @staticmethod
    def zeros(*arguments: Any, meta: Any = None, **keywords: Any) -> Any:
        """As dask.array.zeros."""
        return _made("zeros", *arguments, **_like({**keywords, "meta": meta}, "meta"))

    @staticmethod
    def empty(*arguments: Any, meta: Any = None, **keywords: Any) -> Any:
        """As dask.array.empty."""
        return _made("empty", *arguments, **_like({**keywords, "meta": meta}, "meta"))

    @staticmethod
    def full(*arguments: Any, meta: Any = None, **keywords: Any) -> Any:
        """As dask.array.full."""
        return _made("full", *arguments, **_like({**keywords, "meta": meta}, "meta"))

    @staticmethod
    def arange(*arguments: Any, like: Any = None, **keywords: Any) -> Any:
        """As dask.array.arange."""
        return _made("arange", *arguments, **_like({**keywords, "like": like}, "like"))
