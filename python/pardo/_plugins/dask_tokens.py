# python/pardo/_plugins/dask_tokens.py: what names an array in a graph of Dask's.
from __future__ import annotations

import sys
from typing import Any

from pardo._array.interop import asnumpy, host_view
from pardo._base.orders import axes_like
from pardo._core import _permute_dims
from pardo._plugins import hooks


class Tokens:
    """Is copied into `pardo.Array`."""

    __slots__ = ()

    def __dask_tokenize__(self: Any) -> tuple[Any, ...]:
        """The values, the order in which they lie, and the place: equal arrays on two devices are two."""
        hooks.met()
        axes = axes_like(self, "K")
        laid_out = self if axes is None else _permute_dims(self, list(axes))
        seen = host_view(laid_out)
        normalize: Any = sys.modules["dask.tokenize"].normalize_token
        return "pardo.Array", normalize(asnumpy(laid_out) if seen is None else seen), axes, self.device.id, self.usm_type
