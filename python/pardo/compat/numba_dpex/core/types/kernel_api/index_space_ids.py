# python/pardo/compat/numba_dpex/core/types/kernel_api/index_space_ids.py: types of items, for signatures.
"""Types of items and groups, for the signatures that specialise kernels."""

from __future__ import annotations

from pardo._extending import publish_module
from pardo.compat.numba.core.types import Type

__all__ = ["GroupType", "ItemType", "NdItemType"]


class ItemType(Type):
    """The type of an `Item`."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(f"{type(self).__name__.removesuffix('Type')}<{ndim}>")


class NdItemType(ItemType):
    """The type of an `NdItem`."""


class GroupType(ItemType):
    """The type of a `Group`."""


publish_module(globals())
