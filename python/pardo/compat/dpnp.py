# python/pardo/compat/dpnp.py: dpnp's names over arrays.
"""NumPy's names as dpnp has them: ``import pardo.compat.dpnp as dpnp``.

They are pardo's functions; those that make arrays take ``sycl_queue=`` too. Operations are recorded and fused, as in pardo.
"""

from __future__ import annotations

from typing import Any

import numpy as _np
from pardo._base import public_names as _public_names
from pardo._core import Array as ndarray  # noqa: N813
from pardo.compat import _arrays

__all__ = ["ndarray"]

_INSTEAD = {"get_include": "use the package for C++, `pardo.h`", "config": "there is nothing to configure"}


def is_supported_array_type(a: Any) -> bool:
    """Tell whether it is an array of pardo's."""
    return type(a) is ndarray


def __getattr__(name: str) -> Any:
    """Give pardo's function of that name."""
    if name == "erf":
        from pardo import special

        return special.erf
    if name in (
        "dtype",
        "finfo",
        "iinfo",
        "integer",
        "floating",
        "complexfloating",
        "inexact",
        "number",
        "signedinteger",
        "unsignedinteger",
    ):
        return getattr(_np, name)
    return _arrays.served(__name__, globals(), name, _INSTEAD)


def __dir__() -> list[str]:
    """The names."""
    return _arrays.names(globals())


_public_names.show_module(globals())
