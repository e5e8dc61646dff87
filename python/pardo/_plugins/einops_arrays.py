# python/pardo/_plugins/einops_arrays.py: einops.rearrange, reduce, repeat, pack and einsum of arrays.
from __future__ import annotations

import sys
from typing import Any

from pardo._base import face
from pardo._base.promotion import kind_of


def register() -> None:
    """Define a back end of einops, which finds those that are defined."""
    backends: Any = sys.modules["einops._backends"]

    class PardoBackend(backends.AbstractBackend):  # type: ignore[misc]
        framework_name = "pardo"

        def __init__(self) -> None:
            self.pp: Any = face.namespace()

        def is_appropriate_type(self, tensor: Any) -> bool:
            return type(tensor) is self.pp.Array

        def from_numpy(self, x: Any) -> Any:
            return self.pp.asarray(x)

        def to_numpy(self, x: Any) -> Any:
            return self.pp.asnumpy(x)

        def arange(self, start: int, stop: int) -> Any:
            return self.pp.arange(start, stop)

        def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
            return self.pp.stack(tensors)

        def add_axis(self, x: Any, new_position: int) -> Any:
            return self.pp.expand_dims(x, new_position)

        def tile(self, x: Any, repeats: Any) -> Any:
            return self.pp.tile(x, repeats)

        def concat(self, tensors: list[Any], axis: int) -> Any:
            return self.pp.concatenate(tensors, axis=axis)

        def is_float_type(self, x: Any) -> bool:
            return bool(kind_of(x.dtype) == "f")

        def einsum(self, pattern: str, *x: Any) -> Any:
            return self.pp.einsum(pattern, *x)

    backends.PardoBackend = PardoBackend  # classes are found as long as they are referenced
